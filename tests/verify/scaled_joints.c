/* The same model in other units gives the same digits, continued: ropes that are slack or tight
 * where they begin, far and near ones, joints that repeat others or contradict them. */
#include "tests/verify/scaled.h"

enum { STEPS = 20 };

/* By its own scheme and by another; statics; modes. JSON with ' for ". */
static void check(const char *name, const char *text, const char *other)
{
    char *const json = strdup(text);

    for (char *c = json; *c; c++) {
        *c = *c == '\'' ? '"' : *c;
    }
    struct scaling si = {.kg = 1., .m = 1., .s = 1.};
    struct mech_sim *const s = scaled_sim(json, &si, NULL);

    CU_ASSERT_FATAL(s != NULL);
    mech_sim_destroy(s);
    scaled_compare(&(struct scaled_case){.name = name, .text = json, .steps = STEPS});
    scaled_compare(
        &(struct scaled_case){.name = name, .text = json, .steps = STEPS, .integrator = other});
    scaled_rest(name, json);
    scaled_vibrate(name, json);
    free(json);
}

/* Two masses of 1 and 3 kg on a rope of 1 m, `apart` m from each other, thrown apart; `far` m away
 * from the origin a pendulum. */
#define ROPE(apart, speed, far)                                                                    \
    "{'mechd': 1, 'gravity': [0, -9.81, 0], 'nodes': [{'name': 'n0', 'type': 'NodePoint'},"        \
    "{'name': 'n1', 'type': 'NodePoint', 'referenceCoordinates': [" apart ", 0, 0],"               \
    "'initialVelocities': [" speed ", 0, 0]}, {'name': 'n2', 'type': 'NodePoint2D',"               \
    "'referenceCoordinates': [" far ", 0]}, {'name': 'g', 'type': 'NodePointGround',"              \
    "'referenceCoordinates': [" far ", 1, 0]}], 'objects': [{'name': 'b0', 'type': 'MassPoint',"   \
    "'node': 'n0', 'physicsMass': 1}, {'name': 'b1', 'type': 'MassPoint', 'node': 'n1',"           \
    "'physicsMass': 3}, {'name': 'b2', 'type': 'MassPoint2D', 'node': 'n2', 'physicsMass': 2},"    \
    "{'name': 'rope', 'type': 'DistanceConstraint', 'markers': ['m0', 'm1'], 'distance': 1,"       \
    "'unilateral': true}, {'name': 'rod', 'type': 'DistanceConstraint', 'markers': ['mg', 'm2'],"  \
    "'distance': 1}], 'markers': [{'name': 'm0', 'type': 'MarkerNodePosition', 'node': 'n0'},"     \
    "{'name': 'm1', 'type': 'MarkerNodePosition', 'node': 'n1'}, {'name': 'm2', 'type':"           \
    "'MarkerNodePosition', 'node': 'n2'}, {'name': 'mg', 'type': 'MarkerNodePosition', 'node':"    \
    "'g'}], 'solver': {'stepSize': 0.01}}"

static void ropes_that_are_slack_stay_slack_in_all_units(void)
{
    check("a slack rope", ROPE("0.5", "0", "3"), "HHT");
    check("a rope that is caught", ROPE("0.5", "4", "3"), "ImplicitEuler");
    check("a tight rope", ROPE("1", "0", "3"), "Newmark");
}

/* A rope with 5 mm of slack beside a pendulum 1 km away is slack, in any units. */
static void a_rope_is_as_slack_beside_a_far_pendulum(void)
{
    char text[] = ROPE("0.995", "0", "1000");

    for (char *c = text; *c; c++) {
        *c = *c == '\'' ? '"' : *c;
    }
    for (size_t k = 0; k < SCALED_UNITS; k++) {
        struct scaling by = {
            .kg = scaled_units[k].kg, .m = scaled_units[k].m, .s = scaled_units[k].s};
        struct mech_sim *const s = scaled_sim(text, &by, NULL);

        CU_ASSERT_FATAL(s != NULL);
        CU_ASSERT_EQUAL(model_steps(s, 5), 0);
        CHECK_NEAR(model_value(s, MECH_OBJECT, "rope", MECH_OUTPUT_FORCE), 0., 0.);
        CHECK_NEAR(model_value(s, MECH_OBJECT, "rope", MECH_OUTPUT_DISTANCE), 0.995 * by.m,
                   1e-12 * by.m);
        mech_sim_destroy(s);
    }
}

/* A mass between two ropes of 5 m, `drop` m below their ends, which are 6 m apart. */
#define BETWEEN(drop)                                                                              \
    "{'mechd': 1, 'gravity': [0, -10, 0], 'nodes': [{'name': 'n', 'type': 'NodePoint2D',"          \
    "'referenceCoordinates': [0, -" drop "]}, {'name': 'g0', 'type': 'NodePointGround',"           \
    "'referenceCoordinates': [-3, 0, 0]}, {'name': 'g1', 'type': 'NodePointGround',"               \
    "'referenceCoordinates': [3, 0, 0]}], 'objects': [{'name': 'b', 'type': 'MassPoint2D',"        \
    "'node': 'n', 'physicsMass': 2}, {'name': 'r0', 'type': 'DistanceConstraint', 'markers':"      \
    "['m0', 'm'], 'distance': 5, 'unilateral': true}, {'name': 'r1', 'type':"                      \
    "'DistanceConstraint', 'markers': ['m1', 'm'], 'distance': 5, 'unilateral': true}],"           \
    "'markers': [{'name': 'm0', 'type': 'MarkerNodePosition', 'node': 'g0'}, {'name': 'm1',"       \
    "'type': 'MarkerNodePosition', 'node': 'g1'}, {'name': 'm', 'type': 'MarkerNodePosition',"     \
    "'node': 'n'}], 'solver': {'stepSize': 0.01}}"

static void ropes_catch_together_in_all_units(void)
{
    check("two slack ropes", BETWEEN("0"), "HHT");
    check("two tight ropes", BETWEEN("4"), "TrapezoidalIndex2");
}

/* A universal joint between two shafts at 0.5 rad, one of which is driven: three of its equations
 * repeat others, whatever the masses and lengths are. */
static const char shafts[] =
    "{'mechd': 1, 'nodes': [{'name': 'n0', 'type': 'NodeRigidBodyEP', 'initialVelocities':"
    "[0, 0, 0, 0, 0, 0, 1]}, {'name': 'n1', 'type': 'NodeRigidBodyEP', 'referenceCoordinates':"
    "[0, 0, 0, 0.96891242171064473, 0, 0.24740395925452294, 0], 'initialVelocities': [0, 0, 0, 0,"
    "0.21711740038440563, 0, 0.85030064529223282]}], 'objects': [{'name': 'g', 'type': 'Ground'},"
    "{'name': 'b0', 'type': 'RigidBody', 'node': 'n0', 'physicsMass': 1, 'physicsInertia':"
    "[0.1, 0.1, 0.2, 0, 0, 0]}, {'name': 'b1', 'type': 'RigidBody', 'node': 'n1', 'physicsMass': 1,"
    "'physicsInertia': [0.1, 0.1, 0.2, 0, 0, 0]}, {'name': 'in', 'type': 'RevoluteJointZ',"
    "'markers': ['mg', 'm0']}, {'name': 'out', 'type': 'RevoluteJointZ', 'markers': ['mg', 'm1'],"
    "'rotationMarker0': [[0.87758256189037276, 0, 0.47942553860420301], [0, 1, 0],"
    "[-0.47942553860420301, 0, 0.87758256189037276]]}, {'name': 'cross', 'type': 'GenericJoint',"
    "'markers': ['m0', 'm1'], 'constrainedAxes': [1, 1, 1, 0, 0, 1]}, {'name': 'drive', 'type':"
    "'CoordinateConstraint', 'markers': ['ground', 'axle'], 'offsetUserFunction': '=2*t'}],"
    "'markers': [{'name': 'mg', 'type': 'MarkerBodyRigid', 'object': 'g'}, {'name': 'm0', 'type':"
    "'MarkerBodyRigid', 'object': 'b0'}, {'name': 'm1', 'type': 'MarkerBodyRigid', 'object': 'b1'},"
    "{'name': 'ground', 'type': 'MarkerGroundCoordinate'}, {'name': 'axle', 'type':"
    "'MarkerNodeRotationCoordinate', 'node': 'n0', 'rotationCoordinate': 2}],"
    "'solver': {'stepSize': 0.001}}";

static void rows_that_repeat_others_are_the_same_in_all_units(void)
{
    check("a universal joint", shafts, "ImplicitEuler");
}

/* A rod on a hinge, with another one held to it in `axes`: beside rows that are 1, inertias are
 * small where the unit of lengths is large. */
#define HELD(axes, linear)                                                                         \
    "{'mechd': 1, 'gravity': [3, 2, -9.81], 'nodes': [{'name': 'n0', 'type': 'NodeRigidBodyEP',"   \
    "'referenceCoordinates': [0, 0, -0.5, 1, 0, 0, 0]}, {'name': 'n1', 'type': 'NodeRigidBodyEP'," \
    "'referenceCoordinates': [0, 0, -1.5, 1, 0, 0, 0]}], 'objects': [{'name': 'g', 'type':"        \
    "'Ground'}, {'name': 'b0', 'type': 'RigidBody', 'node': 'n0', 'physicsMass': 1,"               \
    "'physicsInertia': [0.01, 0.02, 0.03, 0, 0, 0]}, {'name': 'b1', 'type': 'RigidBody', 'node':"  \
    "'n1', 'physicsMass': 2, 'physicsInertia': [0.01, 0.02, 0.03, 0, 0, 0]}, {'name': 'hinge',"    \
    "'type': 'GenericJoint', 'markers': ['mg', 'm0'], 'constrainedAxes': [1, 1, 1, 1, 0, 1]},"     \
    "{'name': 'held', 'type': 'GenericJoint', 'markers': ['m1', 'm2'], 'constrainedAxes': " axes   \
    "}], 'markers': [{'name': 'mg', 'type': 'MarkerBodyRigid', 'object': 'g'}, {'name': 'm0',"     \
    "'type': 'MarkerBodyRigid', 'object': 'b0', 'localPosition': [0, 0, 0.5]}, {'name': 'm1',"     \
    "'type': 'MarkerBodyRigid', 'object': 'b0', 'localPosition': [0, 0, -0.5]}, {'name': 'm2',"    \
    "'type': 'MarkerBodyRigid', 'object': 'b1', 'localPosition': [0, 0, 0.5]}], 'solver': "        \
    "{" linear "'stepSize': 0.002}}"

static void bodies_that_are_held_turn_the_same_in_all_units(void)
{
    static const char *const texts[] = {HELD("[1, 1, 1, 1, 1, 1]", ""),
                                        HELD("[1, 1, 1, 1, 0, 1]", ""),
                                        HELD("[1, 1, 1, 1, 1, 1]", "'linear': 'dense_lu', "),
                                        HELD("[1, 1, 1, 1, 0, 1]", "'linear': 'klu', ")};
    static const char *const by[] = {"GeneralizedAlpha", "ImplicitEuler", "MoreauJean"};

    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        for (size_t k = 0; k < sizeof by / sizeof *by; k++) {
            check("a rod that is held", texts[i], by[k]);
        }
    }
}

/* One coordinate, driven twice. */
#define DRIVEN(second) DRIVEN_TWICE("1", "sin(t)", second)
#define DRIVEN_TWICE(speed, first, second)                                                         \
    "{\"mechd\": 1, \"nodes\": [{\"name\": \"n\", \"type\": \"Node1D\", \"initialVelocities\": "   \
    "[" speed "]}],"                                                                               \
    "\"objects\": [{\"name\": \"b\", \"type\": \"Mass1D\", \"node\": \"n\", \"physicsMass\": 2},"  \
    "{\"name\": \"one\", \"type\": \"CoordinateConstraint\", \"markers\": [\"g\", \"x\"],"         \
    "\"offsetUserFunction\": \"=" first "\"}, {\"name\": \"two\", \"type\": "                      \
    "\"CoordinateConstraint\","                                                                    \
    "\"markers\": [\"g\", \"x\"], \"offsetUserFunction\": \"=" second "\"}], \"markers\": ["       \
    "{\"name\": \"g\", \"type\": \"MarkerGroundCoordinate\"}, {\"name\": \"x\","                   \
    "\"type\": \"MarkerNodeCoordinate\", \"node\": \"n\"}], \"solver\": {\"stepSize\": 0.01}}"

static void drives_contradict_or_repeat_in_all_units(void)
{
    static const struct {
        const char *text;
        bool made;
    } cases[] = {{DRIVEN("sin(t)"), true},
                 {DRIVEN("sin(1.001*t)"), false},
                 {DRIVEN("sin(t)+0.5*t^2"), false},
                 /* they turn: speeds of 0 and 6e-17 m/s are the same */
                 {DRIVEN_TWICE("0", "cos(t)-1", "sin(t+1.5707963267948966)-1"), true},
                 {DRIVEN_TWICE("0", "sin(t+1.5707963267948966)-1", "cos(t)-1"), true},
                 {DRIVEN_TWICE("0", "cos(t)-1", "cos(1.1*t)-1"), false},
                 {DRIVEN_TWICE("0", "sin(t+1.5707963267948966)-1", "cos(1.1*t)-1"), false},
                 {DRIVEN_TWICE("0", "cos(1.1*t)-1", "sin(t+1.5707963267948966)-1"), false},
                 {DRIVEN_TWICE("0", "0*t", "sin(3.14159*t)*t"), false},
                 {DRIVEN_TWICE("0", "cos(t)-1", "cos(t)-1+1e-3*t"), false}};

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        for (size_t k = 0; k < SCALED_UNITS; k++) {
            struct scaling by = {
                .kg = scaled_units[k].kg, .m = scaled_units[k].m, .s = scaled_units[k].s};
            struct mech_sim *const s = scaled_sim(cases[i].text, &by, NULL);

            CU_ASSERT_EQUAL(s != NULL, cases[i].made);
            if ((s != NULL) != cases[i].made) {
                fprintf(stderr, "case %zu, %s\n", i, scaled_units[k].name);
            }
            mech_sim_destroy(s);
        }
    }
}

/* A point in a nonlinear cushion, and a body in a bushing with cubic laws. */
static const char cushion[] =
    "{'mechd': 1, 'gravity': [0, -9.81, 2], 'nodes': [{'name': 'n', 'type': 'NodePoint',"
    "'initialVelocities': [1, 2, 3]}, {'name': 'g', 'type': 'NodePointGround'}], 'objects': ["
    "{'name': 'b', 'type': 'MassPoint', 'node': 'n', 'physicsMass': 2}, {'name': 's', 'type':"
    "'CartesianSpringDamper', 'markers': ['m0', 'm1'], 'stiffness': [4000, 5000, 6000], 'damping':"
    "[10, 0, 20], 'springForceUserFunction': ['=f0 + 1e6*u0^3 + 50*u0*u1^2', '=f1*(1 + u0^2)',"
    "'=f2 + 1e7*u2^3']}], 'markers': [{'name': 'm0', 'type': 'MarkerNodePosition', 'node': 'g'},"
    "{'name': 'm1', 'type': 'MarkerNodePosition', 'node': 'n'}], 'solver': {'stepSize': 0.001}}";
static const char bushing[] =
    "{'mechd': 1, 'gravity': [0, -9.81, 0], 'nodes': [{'name': 'n', 'type': 'NodeRigidBodyEP',"
    "'initialVelocities': [1, 0, 2, 0, 0.3, 0.2, 0.1]}], 'objects': [{'name': 'g', 'type':"
    "'Ground'}, {'name': 'b', 'type': 'RigidBody', 'node': 'n', 'physicsMass': 1,"
    "'physicsInertia': [1, 2, 1.5, 0, 0, 0]}, {'name': 's', 'type': 'RigidBodySpringDamper',"
    "'markers': ['x', 'y'], 'springForceTorqueUserFunction': ['=5e3*u0 + 1e7*u0^3', '=5e3*u1',"
    "'=4e3*u2 + 3*v2', '=300*u3 + 1e4*u3^3', '=200*u4', '=100*u5 + v5']}], 'markers': [{'name':"
    "'x', 'type': 'MarkerBodyRigid', 'object': 'g'}, {'name': 'y', 'type': 'MarkerBodyRigid',"
    "'object': 'b'}], 'solver': {'stepSize': 0.001}}";

static void laws_of_several_stretches_are_the_same_in_all_units(void)
{
    check("a cushion", cushion, "HHT");
    check("a bushing", bushing, "ImplicitEuler");
}

/* Two masses that a rope of 1 m catches; another pair 1e7 m away. */
#define PAIR(k, far, ahead)                                                                        \
    "{\"name\": \"n" k "\", \"type\": \"NodePoint\", \"referenceCoordinates\": [" far ", 0, 0]},"  \
    "{\"name\": \"o" k "\", \"type\": \"NodePoint\", \"referenceCoordinates\": [" ahead ", 0, 0]," \
    "\"initialVelocities\": [3, 0.5, 0]}"
static double caught(const char *more_nodes, const char *more_objects, const char *more_markers)
{
    char text[4000];

    snprintf(text, sizeof text,
             "{\"mechd\": 1, \"nodes\": [" PAIR(
                 "0", "0", "0.5") "%s], \"objects\": ["
                                  "{\"name\": \"a\", \"type\": \"MassPoint\", \"node\": \"n0\", "
                                  "\"physicsMass\": 1}, {\"name\":"
                                  "\"b\", \"type\": \"MassPoint\", \"node\": \"o0\", "
                                  "\"physicsMass\": 2}, {\"name\": \"r\", \"type\":"
                                  "\"DistanceConstraint\", \"markers\": [\"m0\", \"m1\"], "
                                  "\"distance\": 1, \"unilateral\": true}"
                                  "%s], \"markers\": [{\"name\": \"m0\", \"type\": "
                                  "\"MarkerNodePosition\", \"node\": \"n0\"},"
                                  "{\"name\": \"m1\", \"type\": \"MarkerNodePosition\", \"node\": "
                                  "\"o0\"}%s], \"solver\":"
                                  "{\"stepSize\": 0.01}}",
             more_nodes, more_objects, more_markers);
    struct scaling si = {.kg = 1., .m = 1., .s = 1.};
    struct mech_sim *const s = scaled_sim(text, &si, NULL);

    CU_ASSERT_FATAL(s != NULL);
    CU_ASSERT_EQUAL(model_steps(s, 40), 0);
    const double x = model_state(s).q[0];
    mech_sim_destroy(s);
    return x;
}

static void a_far_rope_leaves_a_near_one_as_exact(void)
{
    const double alone = caught("", "", "");
    const double beside = caught("," PAIR("1", "1e7", "10000000.9"),
                                 ", {\"name\": \"c\", \"type\": \"MassPoint\", \"node\": \"n1\", "
                                 "\"physicsMass\": 1}, {\"name\":"
                                 "\"d\", \"type\": \"MassPoint\", \"node\": \"o1\", "
                                 "\"physicsMass\": 2}, {\"name\": \"s\", \"type\":"
                                 "\"DistanceConstraint\", \"markers\": [\"k0\", \"k1\"], "
                                 "\"distance\": 3, \"unilateral\": true}",
                                 ", {\"name\": \"k0\", \"type\": \"MarkerNodePosition\", \"node\": "
                                 "\"n1\"}, {\"name\": \"k1\","
                                 "\"type\": \"MarkerNodePosition\", \"node\": \"o1\"}");

    CHECK_NEAR(beside, alone, 1e-10);
}

/* A mass of 2 kg on a tight rope of 1 m, along which it moves towards the other end with this
 * speed, m/s; damped by so many N s/m. */
static struct mech_sim *hung(double speed, double damping, const char *integrator,
                             struct scaling *by)
{
    char text[2000];

    snprintf(
        text, sizeof text,
        "{'mechd': 1, 'gravity': [0, -10, 0], 'nodes': [{'name': 'n', 'type': 'NodePoint2D',"
        "'referenceCoordinates': [0.6, -0.8], 'initialVelocities': [%.17g, %.17g]}, {'name': 'g',"
        "'type': 'NodePointGround'}], 'objects': [{'name': 'b', 'type': 'MassPoint2D', 'node': 'n',"
        "'physicsMass': 2}, {'name': 'rope', 'type': 'DistanceConstraint', 'markers': ['m0', 'm1'],"
        "'distance': 1, 'unilateral': true}, {'name': 'd', 'type': 'CartesianSpringDamper',"
        "'markers': ['m0', 'm1'], 'stiffness': [0, 0, 0], 'damping': [%.17g, %.17g, 0]}],"
        "'markers': [{'name': 'm0', 'type': 'MarkerNodePosition', 'node': 'g'}, {'name': 'm1',"
        "'type': 'MarkerNodePosition', 'node': 'n'}], 'solver': {'stepSize': 0.01}}",
        -0.6 * speed, 0.8 * speed, damping, damping);
    for (char *c = text; *c; c++) {
        *c = *c == '\'' ? '"' : *c;
    }
    return scaled_sim(text, by, integrator);
}

static const char *const hung_by[] = {"GeneralizedAlpha", "TrapezoidalIndex2"};

/* Of the rope, N in SI */
static double pull(const struct mech_sim *s, const struct scaling *by)
{
    return model_value(s, MECH_OBJECT, "rope", MECH_OUTPUT_FORCE) * by->s * by->s /
           (by->kg * by->m);
}

/* A speed that is rounding does not open it: 16 N at the start, no impact. */
static void check_tight(double speed, const char *integrator, struct scaling *by)
{
    const struct mech_step_request step = {.kind = MECH_STEP_COUNT, .count = 3};
    struct mech_sim *const s = hung(speed, 0., integrator, by);
    struct mech_step_report report = {.iterations = 0};
    struct mech_event_log log = {.total = 0};
    struct mech_step_request asked = step;

    asked.events = &log;
    CU_ASSERT_FATAL(s != NULL);
    CHECK_NEAR(pull(s, by), 16., 1e-9);
    CU_ASSERT_EQUAL(mech_sim_step(s, &asked, &report), 0);
    CU_ASSERT_EQUAL(log.total, 0);
    CHECK_NEAR(model_value(s, MECH_OBJECT, "rope", MECH_OUTPUT_DISTANCE) / by->m, 1., 1e-6);
    mech_sim_destroy(s);
}

static void a_tight_rope_is_tight_whatever_rounding_its_speed_has(void)
{
    static const double speeds[] = {-1e-16, 0., 1e-16, 1e-12, -1e-12};

    for (size_t k = 0; k < SCALED_UNITS; k++) {
        struct scaling by = {
            .kg = scaled_units[k].kg, .m = scaled_units[k].m, .s = scaled_units[k].s};

        for (size_t i = 0; i < 2 * sizeof speeds / sizeof *speeds; i++) {
            check_tight(speeds[i / 2], hung_by[i % 2], &by);
        }
    }
}

/* A mass that leaves the limit is back at it soon, within its rounding or above: the rope holds it
 * from then on. */
static void a_rope_holds_after_the_least_of_hops(void)
{
    static const double speeds[] = {1e-11, 1e-9, 1e-7, 1e-5, 1e-3};

    for (size_t k = 0; k < SCALED_UNITS; k++) {
        struct scaling by = {
            .kg = scaled_units[k].kg, .m = scaled_units[k].m, .s = scaled_units[k].s};

        for (size_t i = 0; i < 2 * sizeof speeds / sizeof *speeds; i++) {
            struct mech_sim *const s = hung(speeds[i / 2], 0., hung_by[i % 2], &by);

            CU_ASSERT_FATAL(s != NULL);
            CU_ASSERT_EQUAL(model_steps(s, 1), 0);
            CU_ASSERT(pull(s, &by) > 15.);
            CU_ASSERT_EQUAL(model_steps(s, 5), 0);
            CHECK_NEAR(model_value(s, MECH_OBJECT, "rope", MECH_OUTPUT_DISTANCE) / by.m, 1., 1e-5);
            mech_sim_destroy(s);
        }
    }
}

/* What a pendulum that comes to rest has for its state is tight when it is put back. */
static void a_state_of_a_tight_rope_put_back_is_tight(void)
{
    for (size_t k = 0; k < SCALED_UNITS; k++) {
        struct scaling by = {
            .kg = scaled_units[k].kg, .m = scaled_units[k].m, .s = scaled_units[k].s};

        for (size_t i = 0; i < 2; i++) {
            struct mech_sim *const s = hung(0., 8., hung_by[i], &by);

            CU_ASSERT_FATAL(s != NULL);
            for (int part = 0; part < 12; part++) {
                CU_ASSERT_EQUAL(model_steps(s, 100), 0);
                const struct mech_state_view now = model_state(s);
                const double q[2] = {now.q[0], now.q[1]}, v[2] = {now.v[0], now.v[1]};
                const double before = pull(s, &by);

                CU_ASSERT_EQUAL(
                    mech_sim_set_state(s, &(struct mech_state_view){.time = NAN, .q = q, .v = v}),
                    0);
                CU_ASSERT_EQUAL(model_steps(s, 1), 0);
                CU_ASSERT(fabs(pull(s, &by) - before) < 0.5);
            }
            CHECK_NEAR(pull(s, &by), 20., 0.01);
            mech_sim_destroy(s);
        }
    }
}

/* Two masses that part fly along far faster: the rope between them is as slack as at rest. */
static void ropes_do_not_feel_what_their_ends_share(void)
{
    static const char flying[] =
        "{\"mechd\": 1, \"nodes\": [{\"name\": \"n0\", \"type\": \"NodePoint\", "
        "\"initialVelocities\": [100, 0, 0]}, {\"name\": \"n1\", \"type\": \"NodePoint\", "
        "\"referenceCoordinates\": [1, 0, 0], \"initialVelocities\": [99.9998, 0, 0]}], "
        "\"objects\": [{\"name\": \"b0\", \"type\": \"MassPoint\", \"node\": \"n0\", "
        "\"physicsMass\": 1}, {\"name\": \"b1\", \"type\": \"MassPoint\", \"node\": \"n1\", "
        "\"physicsMass\": 1}, {\"name\": \"rope\", \"type\": \"DistanceConstraint\", "
        "\"markers\": [\"m0\", \"m1\"], \"distance\": 1, \"unilateral\": true}], \"markers\": "
        "[{\"name\": \"m0\", \"type\": \"MarkerNodePosition\", \"node\": \"n0\"}, "
        "{\"name\": \"m1\", \"type\": \"MarkerNodePosition\", \"node\": \"n1\"}], "
        "\"solver\": {\"stepSize\": 0.01}}";

    for (size_t k = 0; k < SCALED_UNITS; k++) {
        struct scaling by = {
            .kg = scaled_units[k].kg, .m = scaled_units[k].m, .s = scaled_units[k].s};

        for (size_t i = 0; i < 2; i++) {
            struct mech_sim *const s = scaled_sim(flying, &by, hung_by[i]);

            CU_ASSERT_FATAL(s != NULL);
            for (int step = 1; step <= 3; step++) {
                CU_ASSERT_EQUAL(model_steps(s, 1), 0);
                CHECK_NEAR(pull(s, &by), 0., 0.);
                CHECK_NEAR(model_value(s, MECH_OBJECT, "rope", MECH_OUTPUT_DISTANCE) / by.m,
                           1. - 2e-6 * step, 1e-12);
            }
            mech_sim_destroy(s);
        }
    }
}

UNIT_TESTS(UNIT_TEST(bodies_that_are_held_turn_the_same_in_all_units),
           UNIT_TEST(ropes_do_not_feel_what_their_ends_share),
           UNIT_TEST(a_tight_rope_is_tight_whatever_rounding_its_speed_has),
           UNIT_TEST(a_rope_holds_after_the_least_of_hops),
           UNIT_TEST(a_state_of_a_tight_rope_put_back_is_tight),
           UNIT_TEST(a_far_rope_leaves_a_near_one_as_exact),
           UNIT_TEST(laws_of_several_stretches_are_the_same_in_all_units),
           UNIT_TEST(drives_contradict_or_repeat_in_all_units),
           UNIT_TEST(rows_that_repeat_others_are_the_same_in_all_units),
           UNIT_TEST(ropes_that_are_slack_stay_slack_in_all_units),
           UNIT_TEST(a_rope_is_as_slack_beside_a_far_pendulum),
           UNIT_TEST(ropes_catch_together_in_all_units))
