/* Newton's method of a step: closed forms of the θ rule at θ = ½, with springs, joints and a
 * contact. */
#include "tests/unit/solver/step/moreau_jean/bodies.h"

static const double h = 0.01, g = 10.;

static void solve(struct bodies *b, const char *text)
{
    bodies_open(b, text, h);
    CU_ASSERT_EQUAL_FATAL(mech_moreau_bodies_solve(b->s, &b->c.state, h, &b->result), 0);
}

/* a point of 2 kg at 0.25 m on a spring of 800 N/m from the origin, along x, at 3 m/s; `more`:
 * objects */
#define ON_A_SPRING(objects)                                                                       \
    "{'mechd': 1, 'gravity': [0, 0, -10], 'nodes': [{'name': 'n', 'type': 'NodePoint', "           \
    "'referenceCoordinates': [0.25, 0, 0.1], 'initialVelocities': [3, 0, 0]}, {'name': 'g', "      \
    "'type': 'NodePointGround', 'referenceCoordinates': [0, 0, 0.1]}], 'objects': [{'name': 'b',"  \
    "'type': 'MassPoint', 'node': 'n', 'physicsMass': 2, 'geometry': [{'shape': 'Sphere', "        \
    "'radius': 0.1, 'material': {'friction': 0}}]}, " objects                                      \
    "{'name': 's', 'type': 'CartesianSpringDamper', 'markers': ['o', 'm'], 'stiffness': "          \
    "[800, 0, 0]}], 'markers': [{'name': 'o', 'type': 'MarkerNodePosition', 'node': 'g'}, "        \
    "{'name': 'm', 'type': 'MarkerNodePosition', 'node': 'n'}], 'solver': {'integrator': "         \
    "'MoreauJean'}}"

/* m (v₁ − v₀) = −h k (u₀ + h (v₀ + v₁)/4) */
static double spring_speed(void)
{
    const double m = 2., k = 800., u = 0.25, v = 3.;

    return (m * v - h * k * (u + 0.25 * h * v)) / (m + 0.25 * h * h * k);
}

static void a_spring_acts_in_the_middle_of_the_step(void)
{
    struct bodies b;

    solve(&b, ON_A_SPRING(""));
    CHECK_NEAR(b.c.state.v[0], spring_speed(), 1e-13);
    CHECK_NEAR(b.c.state.v[2], -g * h, 1e-14);
    CHECK_NEAR(b.c.state.q[0] - b.s->q0[0], 0.5 * h * (3. + spring_speed()), 1e-15);
    CHECK_NEAR(b.c.state.vdot[0], (spring_speed() - 3.) / h, 1e-10);
    bodies_close(&b);
}

/* the same on a plane that carries it */
static void a_plane_carries_what_a_spring_moves(void)
{
    struct bodies b;

    solve(&b, ON_A_SPRING("{'name': 'plane', 'type': 'Ground', 'geometry': [{'shape': 'Plane', "
                          "'material': {'friction': 0}}]},"));
    CHECK_NEAR(b.c.state.v[0], spring_speed(), 1e-12);
    CHECK_NEAR(b.c.state.v[2], 0., 1e-13);
    CU_ASSERT_EQUAL_FATAL(b.c.state.at->touched, 1);
    CHECK_NEAR(fabs(b.c.state.touched[0].impulse[2]), 2. * g * h, 1e-12);
    bodies_close(&b);
}

/* e = ½ at 2 m/s, by Newton's method in place of sweeps */
static void what_falls_rebounds_as_by_sweeps(void)
{
    static const char text[] =
        BODIES_MODEL("[0, 0, -10]", "0.6", BODIES_NODE("n", "[0, 0, 0.1]", "[0, 0, -2]"),
                     BODIES_PLANE("{'restitution': 0.5}") "," BODIES_BALL("ball", "n", "4",
                                                                          "{'restitution': 0.5}"));
    struct bodies b;

    solve(&b, text);
    CHECK_NEAR(b.c.state.v[2], 1., 1e-13);
    CHECK_NEAR(fabs(b.c.state.touched[0].impulse[2]), 4. * (3. + g * h), 1e-12);
    CHECK_NEAR(b.c.state.q[2] - b.s->q0[2], 0., 1e-9 * h);
    bodies_close(&b);
}

/* a point on a rod of 5 m, at rest at (3, −4): the end of the step is on the circle, its velocity
 * along it, and the rod carries g h and what bends the way */
static void a_rod_is_as_long_at_the_end(void)
{
    static const char text[] =
        "{'mechd': 1, 'gravity': [0, -10, 0], 'nodes': [{'name': 'n', 'type': 'NodePoint2D', "
        "'referenceCoordinates': [3, -4]}, {'name': 'g', 'type': 'NodePointGround'}], 'objects': "
        "[{'name': 'b', 'type': 'MassPoint2D', 'node': 'n', 'physicsMass': 2}, {'name': 'r', "
        "'type': 'DistanceConstraint', 'markers': ['o', 'm'], 'distance': 5}], 'markers': "
        "[{'name': 'o', 'type': 'MarkerNodePosition', 'node': 'g'}, {'name': 'm', 'type': "
        "'MarkerNodePosition', 'node': 'n'}], 'solver': {'integrator': 'MoreauJean'}}";
    struct bodies b;

    solve(&b, text);
    const double x = 3. + b.c.state.q[0] - b.s->q0[0], y = -4. + b.c.state.q[1] - b.s->q0[1];
    const double vx = b.c.state.v[0], vy = b.c.state.v[1];
    CHECK_NEAR(hypot(x, y), 5., 1e-11);
    CHECK_NEAR((x * vx + y * vy) / 5., 0., 1e-8);
    /* g h 3/5 along the circle at first order */
    CHECK_NEAR(hypot(vx, vy), g * h * 0.6, 1e-4);
    CU_ASSERT(vx < 0. && vy < 0.);
    bodies_close(&b);
}

static void what_is_not_finite_is_reported(void)
{
    struct bodies b;

    bodies_open(&b, ON_A_SPRING(""), h);
    b.s->v0[0] = b.c.state.v[0] = 1e308;
    b.c.state.v[1] = 1e308;
    CU_ASSERT_EQUAL(mech_moreau_bodies_solve(b.s, &b.c.state, h, &b.result), MECH_NOT_FINITE);
    CU_ASSERT(b.result.reason[0] != '\0');
    bodies_close(&b);
}

UNIT_TESTS(UNIT_TEST(a_spring_acts_in_the_middle_of_the_step),
           UNIT_TEST(a_plane_carries_what_a_spring_moves),
           UNIT_TEST(what_falls_rebounds_as_by_sweeps), UNIT_TEST(a_rod_is_as_long_at_the_end),
           UNIT_TEST(what_is_not_finite_is_reported))
