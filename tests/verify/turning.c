/* Contacts whose rows turn while they last, under Moreau–Jean (step/moreau_jean/bodies_turn.c):
 * what rolls, tips and slides on curved and driven bodies, to the order of the scheme at θ = ½. */
#include "solver/linalg/v3.h"
#include "tests/unit/model.h"

enum { MOST = 32 };

/* What a scene comes to: coordinates, velocities and energy. */
struct reached {
    double x[MOST];
    int n;
};

/* A scene, which ends amid its solver's settings, with steps of h. */
static struct mech_sim *begin(const char *scene, double h)
{
    char text[6000];

    snprintf(text, sizeof text, "%s 'stepSize': %.17g}}", scene, h);
    return model_of(text);
}

static struct reached reached(const char *scene, double h, double until)
{
    struct mech_sim *const s = begin(scene, h);
    struct reached out = {.n = 0};

    CU_ASSERT_EQUAL_FATAL(model_steps(s, (uint64_t)(until / h + 0.5)), 0);
    const struct mech_state_view now = model_state(s);
    const struct mech_sizes sizes = mech_sim_sizes(s);

    CU_ASSERT_FATAL(sizes.q + sizes.v < MOST);
    memcpy(out.x, now.q, (size_t)sizes.q * sizeof *now.q);
    memcpy(out.x + sizes.q, now.v, (size_t)sizes.v * sizeof *now.v);
    out.n = sizes.q + sizes.v;
    out.x[out.n++] = mech_sim_energy(s);
    mech_sim_destroy(s);
    return out;
}

/* The order that three runs with steps h, h/2, h/4 show, in all that they come to. */
static double order(const char *scene, double h, double until)
{
    struct reached at[3];

    for (int i = 0; i < 3; i++) {
        at[i] = reached(scene, h / (1 << i), until);
    }
    return log2(model_distance(at[0].x, at[1].x, at[0].n) /
                model_distance(at[1].x, at[2].x, at[0].n));
}

/* A ball of 1 kg and 0.1 m whose centre of mass is 0.015 m below its middle rolls at 10 rad/s;
 * its node is at the centre of mass, at the middle of the ball or 0.04 m beside that, where
 * gravity is a load that turns. J = 0.004 about the centre. */
#define BALL(z, center, inertia, sphere, speed)                                                    \
    "{'mechd': 1, 'gravity': [0, 0, -9.81], 'nodes': [{'name': 'n', 'type': 'NodeRigidBodyEP',"    \
    "'referenceCoordinates': [0, 0, " z ", 1, 0, 0, 0], 'initialVelocities': [" speed              \
    ", 0, 0, 5, 0]}], 'objects': [{'name': 'floor', 'type': 'Ground', 'geometry': ["               \
    "{'shape': 'Plane', 'material': {'friction': 0.9}}]}, {'name': 'b', 'type': 'RigidBody',"      \
    "'node': 'n', 'physicsMass': 1, 'physicsInertia': [" inertia                                   \
    "], 'physicsCenterOfMass': [" center                                                           \
    "], 'geometry': [{'shape': 'Sphere', 'radius': 0.1, 'position': [" sphere                      \
    "], 'material': {'friction': 0.9}}]}], 'solver': {'integrator': 'MoreauJean', 'theta': 0.5,"
static const char *const rolling[3] = {
    BALL("0.085", "0, 0, 0", "0.004, 0.004, 0.004, 0, 0, 0", "0, 0, 0.015", "0.85, 0, 0"),
    BALL("0.1", "0, 0, -0.015", "0.004225, 0.004225, 0.004, 0, 0, 0", "0, 0, 0", "1, 0, 0"),
    BALL("0.1", "-0.04, 0, -0.015", "0.004225, 0.005825, 0.0056, 0, -0.0006, 0", "-0.04, 0, 0",
         "1, 0, -0.4"),
};

/* The largest change of the energy beside that of the motion in 10 s at 1 ms, with the node at the
 * centre of mass: 1.5e-6; 6.5e-4 where rows do not turn. With the node at the middle of the ball no
 * row turns, and the scheme's own error is 2.4e-6. */
static void what_rolls_keeps_its_energy(void)
{
    struct mech_sim *const s = begin(rolling[0], 1e-3);
    double most = 0.;
    const double first = mech_sim_energy(s), kinetic = 0.5 * 0.85 * 0.85 + 0.5 * 0.004 * 100.;

    for (int i = 0; i < 1000; i++) {
        CU_ASSERT_EQUAL_FATAL(model_steps(s, 10), 0);
        most = fmax(most, fabs(mech_sim_energy(s) - first) / kinetic);
    }
    CU_ASSERT(most <= 2e-6);
    mech_sim_destroy(s);
}

/* order 1 where rows do not turn */
static void what_rolls_moves_to_second_order(void)
{
    CHECK_ORDER("rolling, node at the centre of mass", order(rolling[0], 2e-3, 1.), 2., 0.1);
    CHECK_ORDER("rolling, node beside it", order(rolling[2], 2e-3, 1.), 2., 0.1);
}

/* where the middle of the ball is after 1 s */
static void middle(int k, double h, double x[3])
{
    const double local[3] = {k == 2 ? -0.04 : 0., 0., k ? 0. : 0.015};
    const struct mech_item_query query = {MECH_OBJECT, "b", MECH_OUTPUT_POSITION, MECH_CURRENT,
                                          local};
    struct mech_sim *const s = begin(rolling[k], h);
    size_t count = 0;

    CU_ASSERT_EQUAL_FATAL(model_steps(s, (uint64_t)(1. / h + 0.5)), 0);
    CU_ASSERT_EQUAL(mech_sim_item_output(s, &query, 3, x, &count), 0);
    x[0] -= local[0];
    mech_sim_destroy(s);
}

/* Places of the node are descriptions of one ball: two differ by the order of the scheme, 3.5e-7 m
 * (the third from the others 2.4e-6 m) and a quarter at half the step; where rows do not turn by
 * 3.6e-5 m and a half. */
static void the_place_of_the_node_does_not_matter(void)
{
    double at[2][3][3];

    for (int i = 0; i < 2; i++) {
        for (int k = 0; k < 3; k++) {
            middle(k, i ? 5e-4 : 1e-3, at[i][k]);
        }
    }
    for (int k = 0; k < 3; k++) {
        const int other = (k + 1) % 3;
        const double apart = model_distance(at[0][k], at[0][other], 3);

        CU_ASSERT(apart < (k == 0 ? 1e-6 : 3e-6));
        CU_ASSERT(model_distance(at[1][k], at[1][other], 3) < 0.3 * apart);
    }
}

/* A slab of 0.2 m by 0.1 m by 0.04 m let go from 1 rad turns about its edge at x = 0. */
#define SLAB                                                                                       \
    "{'mechd': 1, 'gravity': [0, 0, -9.81], 'nodes': [{'name': 'n', 'type': 'NodeRigidBodyEP',"    \
    "'referenceCoordinates': [0.03720081089065605, 0, 0.09495314459815246, 0.87758256189037276, "  \
    "0,"                                                                                           \
    "-0.47942553860420301, 0]}], 'objects': [{'name': 'floor', 'type': 'Ground', 'geometry': ["    \
    "{'shape': 'Plane', 'material': {'friction': 2}}]}, {'name': 'b', 'type': 'RigidBody',"        \
    "'node': 'n', 'physicsMass': 3, 'physicsInertia': [0.0029, 0.0104, 0.0125, 0, 0, 0],"          \
    "'geometry': [{'shape': 'Box', 'size': [0.2, 0.1, 0.04], 'material': {'friction': 2}}]}],"     \
    "'solver': {'integrator': 'MoreauJean', 'theta': 0.5,"

/* how far the edge has come after 0.12 s */
static double creep(double h)
{
    static const double edge[3] = {-0.1, 0., -0.02};
    struct mech_sim *const s = begin(SLAB, h);
    double x[3];
    size_t count = 0;
    const struct mech_item_query query = {MECH_OBJECT, "b", MECH_OUTPUT_POSITION, MECH_CURRENT,
                                          edge};

    CU_ASSERT_EQUAL_FATAL(model_steps(s, (uint64_t)(0.12 / h + 0.5)), 0);
    CU_ASSERT_EQUAL(mech_sim_item_output(s, &query, 3, x, &count), 0);
    mech_sim_destroy(s);
    return mech_v3_norm(x);
}

static void an_edge_that_a_slab_tips_over_does_not_creep(void)
{
    const double coarse = creep(1e-3), fine = creep(5e-4);

    CU_ASSERT(coarse < 2e-6);
    CU_ASSERT(fine < 0.3 * coarse);
    CHECK_ORDER("tipping", order(SLAB, 1e-3, 0.12), 2., 0.1);
}

/* A ball of 0.1 m on a ball of 1 m, 0.3 rad beside its top, its centre of mass 0.02 m below its
 * middle. Order: node of the large one, its object, what drives it and closes the objects,
 * friction. */
#define ON_BALL(nodes, large, more, friction)                                                      \
    "{'mechd': 1, 'gravity': [0, 0, -9.81], 'nodes': [" nodes "{'name': 'n', 'type':"              \
    "'NodeRigidBodyEP', 'referenceCoordinates': [0.32507222732747354, 0, 1.0308701380381666, 1, "  \
    "0, 0,"                                                                                        \
    "0]}], 'objects': [" large "'geometry': [{'shape': 'Sphere', 'radius': 1, 'material':"         \
    "{'friction': " friction "}}]}, {'name': 'b', 'type': 'RigidBody', 'node': 'n',"               \
    "'physicsMass': 1, 'physicsInertia': [0.004, 0.004, 0.004, 0, 0, 0], 'geometry': [{'shape':"   \
    "'Sphere', 'radius': 0.1, 'position': [0, 0, 0.02], 'material': {'friction': " friction        \
    "}}]}" more ", 'solver': {'integrator': 'MoreauJean', 'theta': 0.5,"
#define FIXED "", "{'name': 'g', 'type': 'Ground', ", "]"
#define DRIVEN                                                                                     \
    "{'name': 'o', 'type': 'NodePoint'}, {'name': 'z', 'type': 'NodePointGround'}, ",              \
        "{'name': 'g', 'type': 'MassPoint', 'node': 'o', 'physicsMass': 5, ",                      \
        ", {'name': 'd', 'type': 'CoordinateVectorConstraint', 'markers': ['mz', 'mo'],"           \
        "'scalingMarker1': [[1, 0, 0], [0, 1, 0], [0, 0, 1]], 'offset':"                           \
        "['=0.02*(1 - cos(8*t))', 0, '=0.005*(1 - cos(10*t))']}], 'markers': [{'name': 'mz',"      \
        "'type': 'MarkerNodeCoordinates', 'node': 'z'}, {'name': 'mo', 'type':"                    \
        "'MarkerNodeCoordinates', 'node': 'o'}]"
#define ON(place, friction) ON_BALL_OF(place, friction)
#define ON_BALL_OF(nodes, large, more, friction) ON_BALL(nodes, large, more, friction)

/* While it stays on it: 0.83 rad at 0.5 s. Of order 1 where rows do not turn; without friction of
 * order 2 there too, which rows that turn must not spoil. */
static void what_slides_on_a_curve_moves_to_second_order(void)
{
    CHECK_ORDER("friction 0", order(ON(FIXED, "0"), 2e-3, 0.4), 2., 0.1);
    CHECK_ORDER("friction 0.05", order(ON(FIXED, "0.05"), 2e-3, 0.4), 2., 0.1);
    CHECK_ORDER("friction 0.9", order(ON(FIXED, "0.9"), 2e-3, 0.4), 2., 0.1);
}

static void what_a_driven_body_carries_moves_to_second_order(void)
{
    CHECK_ORDER("friction 0", order(ON(DRIVEN, "0"), 2e-3, 0.3), 2., 0.1);
    CHECK_ORDER("friction 0.9", order(ON(DRIVEN, "0.9"), 2e-3, 0.3), 2., 0.1);
}

/* A rod of 1 m on a ball joint, with a ball of 0.1 m at its end. Printed into it: place, Euler
 * parameters e₀ and e₂, velocity and the rates of these; the floor's geometry; inertia about the
 * node twice, the centre of mass, the ball and the joint along the rod, θ. */
#define HINGED                                                                                     \
    "{'mechd': 1, 'gravity': [0, 0, -9.81], 'nodes': [{'name': 'n', 'type': 'NodeRigidBodyEP',"    \
    "'referenceCoordinates': [%.17g, 0, %.17g, %.17g, 0, %.17g, 0], 'initialVelocities':"          \
    "[%.17g, 0, %.17g, %.17g, 0, %.17g, 0]}], 'objects': [{'name': 'g', 'type': 'Ground'%s},"      \
    "{'name': 'b', 'type': 'RigidBody', 'node': 'n', 'physicsMass': 1, 'physicsInertia':"          \
    "[%g, %g, 0.002, 0, 0, 0], 'physicsCenterOfMass': [0, 0, %g], 'geometry': [{'shape':"          \
    "'Sphere', 'radius': 0.1, 'position': [0, 0, %g], 'material': {'friction': 0}}]}, {'name':"    \
    "'j', 'type': 'SphericalJoint', 'markers': ['m0', 'm1']}], 'markers': [{'name': 'm0', 'type':" \
    "'MarkerBodyRigid', 'object': 'g'}, {'name': 'm1', 'type': 'MarkerBodyRigid', 'object': 'b',"  \
    "'localPosition': [0, 0, %g]}], 'solver': {'integrator': 'MoreauJean', 'theta': %g,"           \
    "'stepSize': 1e-3}}"

/* From the angle a it swings past its lowest point, where the ball just touches the floor: rad/s
 * after 0.1 s. Its node is `arm` below the joint. */
static double past(double theta, double arm, double a, bool floor)
{
    const double rate = 4., c = cos(0.5 * a), s = sin(0.5 * a), J = 0.083 + (0.5 - arm) * 0.5;
    char text[4096];

    snprintf(text, sizeof text, HINGED, -arm * sin(a), -arm * cos(a), c, s, -arm * rate * cos(a),
             arm * rate * sin(a), -0.5 * rate * s, 0.5 * rate * c,
             floor ? ", 'geometry': [{'shape': 'Plane', 'position': [0, 0, -1.1], 'material':"
                     "{'friction': 0}}]"
                   : "",
             J, J, arm - 0.5, arm - 1., arm, theta);
    struct mech_sim *const sim = model_of(text);

    CU_ASSERT_EQUAL_FATAL(model_steps(sim, 100), 0);
    const double out = model_state(sim).v[4];

    mech_sim_destroy(sim);
    return out;
}

static void a_hinged_body_passes_what_it_only_touches(void)
{
    for (int i = 0; i < 64; i++) {
        const double theta = i % 2 ? 1. : 0.5, arm = i / 2 % 2 ? 0. : 0.5;
        const double a = -0.2 - 0.0000625 * i, free = past(theta, arm, a, false);

        CU_ASSERT(free > 3.);
        /* an impulse there has an arm of ω h at most */
        CHECK_NEAR(past(theta, arm, a, true), free, 4. * 1e-3 * free);
    }
}

/* A bar of 1 m spins past a post, which its corners pass at `apart`: no touch, no torque. */
static void the_ends_of_a_bar_that_spins_pass_a_post(void)
{
    static const char *const bars[] = {
        "'shape': 'Box', 'size': [1, 0.02, 0.02]",
        "'shape': 'Cylinder', 'radius': 0.01, 'length': 1, 'rotation': [0, 1.5707963267948966, 0]"};
    static const double apart[] = {1e-5, 1e-4, 1e-3}, rates[] = {1., 10., 60., 200.};

    for (int k = 0; k < 24; k++) {
        const double omega = rates[k % 4], h = 0.005;
        char scene[2000];

        snprintf(scene, sizeof scene,
                 "{'mechd': 1, 'nodes': [{'name': 'n', 'type': 'NodeRigidBodyEP',"
                 "'referenceCoordinates': [0, 0, 0, %.17g, 0, 0, %.17g], 'initialVelocities':"
                 "[0, 0, 0, %.17g, 0, 0, %.17g]}], 'objects': [{'name': 'g', 'type': 'Ground',"
                 "'geometry': [{'shape': 'Box', 'size': [0.1, 0.1, 1], 'position': [%.17g, 0, 0]}]"
                 "}, {'name': 'b', 'type': 'RigidBody', 'node': 'n', 'physicsMass': 1,"
                 "'physicsInertia': [0.1, 0.1, 0.1, 0, 0, 0], 'geometry': [{%s}]}], 'solver': {"
                 "'integrator': 'MoreauJean',",
                 cos(0.6), sin(0.6), -0.5 * omega * sin(0.6), 0.5 * omega * cos(0.6),
                 hypot(0.5, 0.01) + apart[k % 3] + 0.05, bars[k / 12]);
        struct mech_sim *const s = begin(scene, h);

        CU_ASSERT_EQUAL_FATAL(model_steps(s, (uint64_t)(3. / omega / h) + 20), 0);
        const double *const v = model_state(s).v, free[6] = {0., 0., 0., 0., 0., omega};

        CHECK_NEAR(model_distance(v, free, 6) / omega, 0., 1e-9);
        mech_sim_destroy(s);
    }
}

UNIT_TESTS(UNIT_TEST(what_rolls_keeps_its_energy), UNIT_TEST(what_rolls_moves_to_second_order),
           UNIT_TEST(the_place_of_the_node_does_not_matter),
           UNIT_TEST(an_edge_that_a_slab_tips_over_does_not_creep),
           UNIT_TEST(what_slides_on_a_curve_moves_to_second_order),
           UNIT_TEST(what_a_driven_body_carries_moves_to_second_order),
           UNIT_TEST(a_hinged_body_passes_what_it_only_touches),
           UNIT_TEST(the_ends_of_a_bar_that_spins_pass_a_post))
