/* What is said of velocities at the start that joints do not allow, and what becomes of them. */
#include "tests/unit/model.h"

/* A mass point on a rod or rope of length 1 at the place (1, 0); %s: the type's further fields, the
 * velocity, settings of the solver. */
static const char pendulum[] =
    "{'mechd': 1, 'nodes': [{'name': 'n', 'type': 'NodePoint2D', 'referenceCoordinates': [1, "
    "0]%s}],"
    "'objects': [{'name': 'g', 'type': 'Ground'}, {'name': 'm', 'type': 'MassPoint2D', 'node': 'n',"
    "'physicsMass': 2}, {'name': 'rod', 'type': 'DistanceConstraint', 'markers': ['a', 'b'],"
    "'distance': 1%s}], 'markers': [{'name': 'a', 'type': 'MarkerBodyPosition', 'object': 'g'},"
    "{'name': 'b', 'type': 'MarkerBodyPosition', 'object': 'm'}],"
    "'solver': {'stepSize': 0.01%s}}";

/* The warning of a document with these fields contains these words; NULL: there is none. */
static void says(const char *velocity, const char *rope, const char *solver, const char *words)
{
    struct mech_sim *s = NULL;
    struct mech_diag diag;
    char text[2048];

    mech_diag_init(&diag);
    snprintf(text, sizeof text, pendulum, velocity, rope, solver);
    CU_ASSERT_EQUAL(model_read(text, &diag, &s), 0);
    const char *const said = diag.warning_count ? diag.warnings[0].text : NULL;
    const bool good = words ? said && strstr(said, words) && strstr(said, "\"rod\"") : !said;

    CU_ASSERT(good);
    if (!good) {
        fprintf(stderr, "%s%s%s: %s\n", velocity, rope, solver, said ? said : "no warning");
    }
    mech_diag_fini(&diag);
    mech_sim_destroy(s);
}

#define OUTWARD ", 'initialVelocities': [2, 1]"
#define INWARD ", 'initialVelocities': [-2, 1]"
#define ACROSS ", 'initialVelocities': [0, 1]"
#define ROPE ", 'unilateral': true"
#define PROJECTION ", 'velocityProjection': true"

static void a_speed_against_a_rod_is_reported(void)
{
    says(OUTWARD, "", "", "by 2: give consistent velocities");
    says(INWARD, "", "", "by 2: give consistent velocities");
    says(OUTWARD, "", PROJECTION, "by 2: they are replaced");
    says(ACROSS, "", "", NULL);
    says(ACROSS, "", PROJECTION, NULL);
    says("", "", PROJECTION, NULL);
}

static void a_speed_against_a_taut_rope_is_reported(void)
{
    says(OUTWARD, ROPE, "", "by 2: the first step");
    says(OUTWARD, ROPE, PROJECTION, "by 2: the ");
    says(INWARD, ROPE, "", NULL);
    says(ACROSS, ROPE, "", NULL);
    says("", ROPE, "", NULL);
}

/* and it is true: what is left after a step fits */
static void the_first_step_takes_it_away(void)
{
    char text[2048];

    snprintf(text, sizeof text, pendulum, OUTWARD, ROPE, "");
    struct mech_sim *const s = model_of(text);
    const struct mech_step_request r = {.kind = MECH_STEP_COUNT, .count = 1};
    struct mech_step_report report;

    CU_ASSERT_EQUAL(mech_sim_step(s, &r, &report), 0);
    CHECK_NEAR(report.drift.velocity, 0., 1e-6);
    CHECK_NEAR(model_state(s).v[0], 0., 0.02);
    CHECK_NEAR(model_state(s).v[1], 1., 1e-3);
    mech_sim_destroy(s);
}

/* The force between two points that meet has no direction, and its sensor no value; nothing moves,
 * so that no step would say so. */
static void a_start_that_is_not_finite_is_refused(void)
{
    CU_ASSERT(model_refused(
        "{'mechd': 1, 'nodes': [{'name': 'g', 'type': 'NodePointGround'}], 'objects': [{'name': "
        "'s',"
        "'type': 'SpringDamper', 'markers': ['a', 'b'], 'force': 2}], 'markers': [{'name': 'a',"
        "'type': 'MarkerNodePosition', 'node': 'g'}, {'name': 'b', 'type': 'MarkerNodePosition',"
        "'node': 'g'}], 'sensors': [{'name': 'f', 'type': 'SensorObject', 'object': 's',"
        "'outputVariable': 'ForceLocal'}]}",
        "/outputs", "\"f\" is not finite"));
    CU_ASSERT(model_refused(
        "{'mechd': 1, 'gravity': [0, 1e299, 0], 'nodes': [{'name': 'n', 'type': 'NodePoint2D'}],"
        "'objects': [{'name': 'm', 'type': 'MassPoint2D', 'node': 'n', 'physicsMass': 1.7e308}]}",
        "/objects", "acceleration is not finite"));
    CU_ASSERT(model_refused(
        "{'mechd': 1, 'nodes': [{'name': 'n', 'type': 'NodeRigidBodyRotVecLG',"
        "'initialCoordinates': [0, 0, 0, 1e200, 0, 0]}], 'objects': [{'name': 'b', 'type':"
        "'RigidBody', 'node': 'n', 'physicsMass': 1, 'physicsInertia': [1, 1, 1, 0, 0, 0]}]}",
        "/nodes", "coordinate is not finite"));
}

static void the_integrator_is_named_where_the_document_leaves_it_open(void)
{
    char text[2048];

    snprintf(text, sizeof text, pendulum, "", "", "");
    struct mech_sim *const s = model_of(text);

    CU_ASSERT_PTR_NULL(mech_sim_document(s)->solver.integrator);
    CU_ASSERT(strlen(mech_sim_integrator(s)) > 0);
    mech_sim_destroy(s);
}

UNIT_TESTS(UNIT_TEST(a_start_that_is_not_finite_is_refused),
           UNIT_TEST(a_speed_against_a_rod_is_reported),
           UNIT_TEST(a_speed_against_a_taut_rope_is_reported),
           UNIT_TEST(the_integrator_is_named_where_the_document_leaves_it_open),
           UNIT_TEST(the_first_step_takes_it_away))
