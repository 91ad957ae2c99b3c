/* Friction of what slides while its direction turns in the plane of contact, under Moreau–Jean
 * (step/moreau_jean/bodies_slide.c): of order 2 at θ = ½, by sweeps and by Newton's method, on
 * fixed, curved and moving bodies, alone and in groups, whatever else is in the model; of order 1
 * where the README says so. What slides comes to rest, and loses energy. */
#include "solver/linalg/v3.h"
#include "tests/unit/model.h"

#include <stdlib.h>

enum { MOST = 64, TEXT = 16384 };

/* what makes a step Newton's, elsewhere, by what connects it with the ground */
#define LINKED                                                                                     \
    ", {'name': 'm', 'type': 'Mass1D', 'node': 'm', 'physicsMass': 1}, {'name': 's', 'markers':"   \
    "['0', 'm'], 'type': %s}], 'markers': [{'name': '0', 'type': 'MarkerGroundCoordinate'},"       \
    "{'name': 'm', 'type': 'MarkerNodeCoordinate', 'node': 'm', 'coordinate': 0}"
static const char *const spring = "'CoordinateSpringDamper', 'stiffness': 1";
static const char *const joint = "'CoordinateConstraint'";

struct scene {
    const char *name, *floor, *shape; /* geometry */
    double p[3], v[3], omega[3], gravity[3];
    double center[3]; /* of mass, from the node */
    double until;
    const char *law, *more; /* of contacts; of the body's material */
};

#define PLANE "{'shape': 'Plane', 'material': {'friction': 0.3, 'restitution': 0.5}}"
#define RESISTS ", 'spinningFriction': 0.002, 'rollingFriction': 0.004"
#define RESISTING "{'shape': 'Plane', 'material': {'friction': 0.3, 'restitution': 0.5" RESISTS "}}"
#define FEET                                                                                       \
    "'shape': 'ConvexHull', 'points': [[0.1, 0, -0.01], [-0.05, 0.0866, -0.01], [-0.05, -0.0866,"  \
    "-0.01], [0.1, 0, 0.01], [-0.05, 0.0866, 0.01], [-0.05, -0.0866, 0.01]]"
static const struct scene scenes[] = {
    {"a box pulled across",
     PLANE,
     "'shape': 'Box', 'size': [0.2, 0.2, 0.02]",
     {0., 0., 0.01},
     {3., 0., 0.},
     {0.},
     {0., 2., -9.81},
     {0.},
     0.2,
     "coulomb",
     ""},
    {"a ball that spins",
     PLANE,
     "'shape': 'Sphere', 'radius': 0.1",
     {0., 0., 0.1},
     {2., 0., 0.},
     {10., 5., 30.},
     {0., 0., -9.81},
     {0.},
     0.1,
     "coulomb",
     ""},
    {"a ball with its node beside its centre of mass",
     PLANE,
     "'shape': 'Sphere', 'radius': 0.1",
     {0., 0., 0.1},
     {2., 0., 0.},
     {10., 5., 5.},
     {0., 0., -9.81},
     {0.01, 0.02, 0.015},
     0.1,
     "coulomb",
     ""},
    /* the pressures of its feet follow from the motion */
    {"a plate on three feet that spins",
     PLANE,
     FEET,
     {0., 0., 0.01},
     {1., 0., 0.},
     {0., 0., 20.},
     {0., 0., -9.81},
     {0.},
     0.1,
     "coulomb",
     ""},
    {"a ball on a ball",
     "{'shape': 'Sphere', 'radius': 2, 'position': [0, 0, -2], 'material': {'friction': 0.2}}",
     "'shape': 'Sphere', 'radius': 0.1",
     {0., 0., 0.1},
     {1.5, 0., 0.},
     {15., 0., 10.},
     {0., 0.5, -9.81},
     {0.},
     0.2,
     "coulomb",
     ""},
    {"a box pulled across that resists spinning",
     RESISTING,
     "'shape': 'Box', 'size': [0.2, 0.2, 0.02]",
     {0., 0., 0.01},
     {3., 0., 0.},
     {0.},
     {0., 2., -9.81},
     {0.},
     0.2,
     "coulomb",
     RESISTS},
    {"a ball that rolls, pulled across, and resists that",
     RESISTING,
     "'shape': 'Sphere', 'radius': 0.1",
     {0., 0., 0.1},
     {1., 0., 0.},
     {0., 10., 0.},
     {0., 1., -9.81},
     {0.},
     0.2,
     "coulomb",
     RESISTS},
    {"a ball that spins and slides, and resists that",
     RESISTING,
     "'shape': 'Sphere', 'radius': 0.1",
     {0., 0., 0.1},
     {2., 0., 0.},
     {10., 5., 30.},
     {0., 0., -9.81},
     {0.},
     0.1,
     "coulomb",
     RESISTS},
};
/* as the first of those */
static const struct scene of_order_one[] = {
    {"a box pulled across, by the associated law",
     PLANE,
     "'shape': 'Box', 'size': [0.2, 0.2, 0.02]",
     {0., 0., 0.01},
     {3., 0., 0.},
     {0.},
     {0., 2., -9.81},
     {0.},
     0.1,
     "associated",
     ""},
};

/* `others` balls that fall beside it, and rebound */
static struct mech_sim *begin(const struct scene *c, double h, const char *link, int others)
{
    static char text[TEXT];
    const double *const a = c->center;
    const double J[] = {0.005 + 1.3 * (a[1] * a[1] + a[2] * a[2]),
                        0.006 + 1.3 * (a[0] * a[0] + a[2] * a[2]),
                        0.007 + 1.3 * (a[0] * a[0] + a[1] * a[1]),
                        -1.3 * a[1] * a[2],
                        -1.3 * a[0] * a[2],
                        -1.3 * a[0] * a[1]};
    char *at = text;

    at += sprintf(at,
                  "{'mechd': 1, 'gravity': [%.17g, %.17g, %.17g], 'contact': {'friction': '%s'},"
                  "'nodes': [{'name': 'n',"
                  "'type': 'NodeRigidBodyEP', 'referenceCoordinates': [%.17g, %.17g, %.17g, 1,"
                  "0, 0, 0], 'initialVelocities': [%.17g, %.17g, %.17g, 0, %.17g, %.17g, %.17g]"
                  "}%s",
                  c->gravity[0], c->gravity[1], c->gravity[2], c->law, c->p[0], c->p[1], c->p[2],
                  c->v[0], c->v[1], c->v[2], 0.5 * c->omega[0], 0.5 * c->omega[1],
                  0.5 * c->omega[2], link ? ", {'name': 'm', 'type': 'Node1D'}" : "");
    for (int i = 0; i < others; i++) {
        at += sprintf(at,
                      ", {'name': 'n%d', 'type': 'NodePoint', 'referenceCoordinates': [%d, 9,"
                      "%.17g]}",
                      i, i, 0.1 + 0.003 * i);
    }
    at +=
        sprintf(at,
                "], 'objects': [{'name': 'g', 'type': 'Ground', 'geometry': [%s]}, {'name':"
                "'b', 'type': 'RigidBody', 'node': 'n', 'physicsMass': 1.3, 'physicsInertia':"
                "[%.17g, %.17g, %.17g, %.17g, %.17g, %.17g], 'physicsCenterOfMass': [%.17g,"
                "%.17g, %.17g], 'geometry': [{%s, 'material': {'friction': 0.3%s}}]}",
                c->floor, J[0], J[1], J[2], J[3], J[4], J[5], a[0], a[1], a[2], c->shape, c->more);
    for (int i = 0; i < others; i++) {
        at += sprintf(at,
                      ", {'name': 'b%d', 'type': 'MassPoint', 'node': 'n%d', 'physicsMass': 1,"
                      "'geometry': [{'shape': 'Sphere', 'radius': 0.1, 'material': {'restitution':"
                      "0.5}}]}",
                      i, i);
    }
    at += link ? sprintf(at, LINKED, link) : 0;
    sprintf(at, "], 'solver': {'integrator': 'MoreauJean', 'theta': 0.5, 'stepSize': %.17g}}", h);
    return model_of(text);
}

/* q and v after that time; their number. */
static int reached(struct mech_sim *s, double h, double until, double x[MOST])
{
    const struct mech_sizes sizes = mech_sim_sizes(s);

    CU_ASSERT_EQUAL_FATAL(model_steps(s, (uint64_t)(until / h + 0.5)), 0);
    CU_ASSERT_FATAL(sizes.q + sizes.v <= MOST);
    memcpy(x, model_state(s).q, (size_t)sizes.q * sizeof *x);
    memcpy(x + sizes.q, model_state(s).v, (size_t)sizes.v * sizeof *x);
    mech_sim_destroy(s);
    return sizes.q + sizes.v;
}

static double shown(double x[3][MOST], int n)
{
    return log2(model_distance(x[0], x[1], n) / model_distance(x[1], x[2], n));
}

static double order(const struct scene *c, const char *link)
{
    double x[3][MOST];
    int n = 0;

    for (int i = 0; i < 3; i++) {
        const double h = 2e-3 / (1 << i);

        n = reached(begin(c, h, link, 0), h, c->until, x[i]);
    }
    return shown(x, n);
}

static void what_slides_and_turns_moves_to_second_order(void)
{
    for (size_t k = 0; k < sizeof scenes / sizeof *scenes; k++) {
        char name[100];

        CHECK_ORDER(scenes[k].name, order(&scenes[k], NULL), 2., 0.15);
        snprintf(name, sizeof name, "%s, by Newton's method", scenes[k].name);
        CHECK_ORDER(name, order(&scenes[k], spring), 2., 0.15);
    }
}

static void other_laws_are_of_first_order(void)
{
    for (size_t k = 0; k < sizeof of_order_one / sizeof *of_order_one; k++) {
        CHECK_ORDER(of_order_one[k].name, order(&of_order_one[k], NULL), 1., 0.15);
    }
}

/* What comes and goes elsewhere does not change how a body slides. */
static void others_do_not_matter(void)
{
    const char *const links[] = {NULL, spring, joint};

    for (int k = 0; k < 3; k++) {
        double alone[MOST], beside[MOST];

        (void)reached(begin(&scenes[0], 2e-3, links[k], 0), 2e-3, 0.2, alone);
        struct mech_sim *const s = begin(&scenes[0], 2e-3, links[k], 12);
        const int32_t first = links[k] ? 1 : 0; /* v of what is linked */

        CU_ASSERT_EQUAL_FATAL(model_steps(s, 100), 0);
        memcpy(beside, model_state(s).q, 7 * sizeof *beside);
        memcpy(beside + 7, model_state(s).v, 6 * sizeof *beside);
        memmove(alone + 7, alone + 7 + first, 6 * sizeof *alone);
        mech_sim_destroy(s);
        CHECK_NEAR(model_distance(alone, beside, 13), 0., 1e-8);
    }
}

/* v' = a − μ g v/|v| by Runge and Kutta's method in 4000 steps */
static void a_box_that_is_pulled_across_slides_as_its_equation_says(void)
{
    const struct scene *const c = &scenes[0];
    const double h = c->until / 4000.;
    double v[2] = {3., 0.}, x[MOST];

    for (int i = 0; i < 4000; i++) {
        double k[5][2] = {{0.}};

        for (int j = 0; j < 4; j++) {
            const double part = j == 0 ? 0. : j == 3 ? 1. : 0.5;
            const double u[2] = {v[0] + part * h * k[j][0], v[1] + part * h * k[j][1]};
            const double speed = hypot(u[0], u[1]);

            k[j + 1][0] = -0.3 * 9.81 * u[0] / speed;
            k[j + 1][1] = 2. - 0.3 * 9.81 * u[1] / speed;
        }
        for (int r = 0; r < 2; r++) {
            v[r] += h / 6. * (k[1][r] + 2. * k[2][r] + 2. * k[3][r] + k[4][r]);
        }
    }
    (void)reached(begin(c, 1e-3, NULL, 0), 1e-3, c->until, x);
    /* 1.9e-4 m/s where friction opposes the speed at the end */
    CHECK_NEAR(x[7], v[0], 1e-6);
    CHECK_NEAR(x[8], v[1], 1e-6);
}

static void what_slides_comes_to_rest_and_loses_energy(void)
{
    for (size_t k = 0; k < sizeof scenes / sizeof *scenes; k++) {
        struct scene c = scenes[k];
        const bool flat = strstr(c.shape, "Sphere") == NULL;

        c.gravity[1] = 0.;
        struct mech_sim *const s = begin(&c, 1e-3, NULL, 0);
        double before = mech_sim_energy(s);

        for (int i = 0; i < (flat ? 1500 : 150); i++) {
            CU_ASSERT_EQUAL_FATAL(model_steps(s, 1), 0);
            const double now = mech_sim_energy(s);

            CU_ASSERT(now <= before + 1e-9);
            before = now;
        }
        if (flat) {
            CHECK_NEAR(model_distance(model_state(s).v, (const double[6]){0.}, 6), 0., 1e-9);
        }
        mech_sim_destroy(s);
    }
}

/* --- several bodies --------------------------------------------------------------------------- */

struct box {
    const char *name;
    double place[3], velocity[3], spin; /* spin: about z, rad/s */
    double mass, size[3];
};
/* Boxes; what else the document has; friction of all. */
struct boxes {
    const char *name;
    struct box box[2];
    int count;
    double across; /* of gravity, m/s² */
    double friction, until;
    const char *nodes, *objects, *markers;
};

static const struct boxes several[] = {
    /* driven on a circle of 0.1 m at 8 rad/s */
    {.name = "a box on a driven plate",
     .box = {{"b", {0., 0., 0.02}, {0.}, 0., 1.2, {0.2, 0.1, 0.04}}},
     .count = 1,
     .friction = 0.1,
     .until = 0.3,
     .nodes = ", {'name': 'z', 'type': 'NodePointGround'}, {'name': 'o', 'type': 'NodePoint',"
              "'referenceCoordinates': [0, 0, -0.05], 'initialVelocities': [0, 0.8, 0]}",
     .objects = ", {'name': 'p', 'type': 'MassPoint', 'node': 'o', 'physicsMass': 5, 'geometry':"
                "[{'shape': 'Box', 'size': [4, 4, 0.1], 'material': 'm'}]}, {'name': 'd', 'type':"
                "'CoordinateVectorConstraint', 'markers': ['mz', 'mo'], 'scalingMarker1': [[1, 0,"
                "0], [0, 1, 0], [0, 0, 1]], 'offset': ['=0.1*(1 - cos(8*t))', '=0.1*sin(8*t)',"
                "-0.05]}",
     .markers = "{'name': 'mz', 'type': 'MarkerNodeCoordinates', 'node': 'z'}, {'name': 'mo',"
                "'type': 'MarkerNodeCoordinates', 'node': 'o'}"},
    {.name = "a box on a plate that turns on a hinge",
     .box = {{"p", {0., 0., -0.05}, {0.}, 5., 8., {2., 2., 0.1}},
             {"b", {0.3, 0., 0.02}, {0.}, 0., 1.2, {0.2, 0.1, 0.04}}},
     .count = 2,
     .friction = 0.1,
     .until = 0.3,
     .nodes = "",
     .objects = ", {'name': 'j', 'type': 'RevoluteJointZ', 'markers': ['mg', 'mp']}",
     .markers = "{'name': 'mg', 'type': 'MarkerBodyRigid', 'object': 'g', 'localPosition': [0, 0,"
                "-0.05]}, {'name': 'mp', 'type': 'MarkerBodyRigid', 'object': 'p'}"},
    /* the upper one sticks to the lower one; as none turns, it does not matter how corners press */
    {.name = "two boxes that slide together",
     .box = {{"a", {0., 0., 0.05}, {2., 0., 0.}, 0., 2., {0.3, 0.3, 0.1}},
             {"b", {0., 0., 0.12}, {2., 0., 0.}, 0., 0.5, {0.14, 0.14, 0.04}}},
     .count = 2,
     .across = 1.,
     .friction = 0.5,
     .until = 0.2,
     .nodes = "",
     .objects = ", {'name': 'f', 'type': 'Ground', 'geometry': [{'shape': 'Plane', 'material':"
                "{'friction': 0.1}}]}",
     .markers = ""},
};

static struct mech_sim *begin_boxes(const struct boxes *c, double h)
{
    static char text[TEXT];
    char *at = text;

    at += sprintf(at,
                  "{'mechd': 1, 'gravity': [0, %.17g, -9.81], 'materials': [{'name': 'm',"
                  "'friction': %.17g}], 'markers': [%s], 'solver': {'integrator': 'MoreauJean',"
                  "'theta': 0.5, 'stepSize': %.17g}, 'nodes': [",
                  c->across, c->friction, c->markers, h);
    for (int i = 0; i < c->count; i++) {
        const struct box *const b = &c->box[i];

        at += sprintf(at,
                      "%s{'name': '%s', 'type': 'NodeRigidBodyEP', 'referenceCoordinates':"
                      "[%.17g, %.17g, %.17g, 1, 0, 0, 0], 'initialVelocities': [%.17g, %.17g,"
                      "%.17g, 0, 0, 0, %.17g]}",
                      i ? ", " : "", b->name, b->place[0], b->place[1], b->place[2], b->velocity[0],
                      b->velocity[1], b->velocity[2], 0.5 * b->spin);
    }
    at += sprintf(at, "%s], 'objects': [{'name': 'g', 'type': 'Ground'}%s", c->nodes, c->objects);
    for (int i = 0; i < c->count; i++) {
        const struct box *const b = &c->box[i];
        const double *const d = b->size, share = b->mass / 12.;

        at += sprintf(at,
                      ", {'name': '%s', 'type': 'RigidBody', 'node': '%s', 'physicsMass': %.17g,"
                      "'physicsInertia': [%.17g, %.17g, %.17g, 0, 0, 0], 'geometry': [{'shape':"
                      "'Box', 'size': [%.17g, %.17g, %.17g], 'material': 'm'}]}",
                      b->name, b->name, b->mass, share * (d[1] * d[1] + d[2] * d[2]),
                      share * (d[0] * d[0] + d[2] * d[2]), share * (d[0] * d[0] + d[1] * d[1]),
                      d[0], d[1], d[2]);
    }
    sprintf(at, "]}");
    return model_of(text);
}

static void what_slides_on_moving_bodies_moves_to_second_order(void)
{
    for (size_t k = 0; k < sizeof several / sizeof *several; k++) {
        double x[3][MOST];
        int n = 0;

        for (int i = 0; i < 3; i++) {
            const double h = 2e-3 / (1 << i);

            n = reached(begin_boxes(&several[k], h), h, several[k].until, x[i]);
        }
        CHECK_ORDER(several[k].name, shown(x, n), 2., 0.15);
    }
}

UNIT_TESTS(UNIT_TEST(what_slides_and_turns_moves_to_second_order),
           UNIT_TEST(what_slides_on_moving_bodies_moves_to_second_order),
           UNIT_TEST(other_laws_are_of_first_order), UNIT_TEST(others_do_not_matter),
           UNIT_TEST(a_box_that_is_pulled_across_slides_as_its_equation_says),
           UNIT_TEST(what_slides_comes_to_rest_and_loses_energy))
