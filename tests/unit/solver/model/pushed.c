/* What may do work on bodies beside the generalized forces: loads that turn, springs that are not
 * slack. */
#include "solver/model/model.h"
#include "tests/unit/model.h"

/* A body of 2 kg at 4 m from the origin, on a spring of 4 m or another, its centre of mass at its
 * node or beside it. */
#define BODY(gravity, center, length, more)                                                        \
    "{'mechd': 1, 'gravity': [0, 0, " gravity "], 'nodes': [{'name': 'n', 'type':"                 \
    "'NodeRigidBodyEP', 'referenceCoordinates': [4, 0, 0, 1, 0, 0, 0]}], 'objects': [{'name':"     \
    "'g', 'type': 'Ground'}, {'name': 'b', 'type': 'RigidBody', 'node': 'n', 'physicsMass': 2,"    \
    "'physicsInertia': [3, 3, 3, 0, 0, 0], 'physicsCenterOfMass': [" center "]}, {'name': 's',"    \
    "'type': 'SpringDamper', 'markers': ['o', 'p'], 'referenceLength': " length                    \
    ", 'stiffness': 100" more "}], 'markers': [{'name': 'o', 'type': 'MarkerBodyPosition',"        \
    "'object': 'g'}, {'name': 'p', 'type': 'MarkerBodyPosition', 'object': 'b'}]}"

static struct mech_document *read_document(const char *text)
{
    char *const json = strdup(text);
    struct mech_document *document = NULL;
    struct mech_diag diag;

    for (char *c = json; *c; c++) {
        *c = *c == '\'' ? '"' : *c;
    }
    json_t *const value = json_loads(json, 0, NULL);
    free(json);
    CU_ASSERT_PTR_NOT_NULL_FATAL(value);
    mech_diag_init(&diag);
    CU_ASSERT_EQUAL_FATAL(mechp_bind_read(value, "", &diag, &document), 0);
    mech_diag_fini(&diag);
    json_decref(value);
    return document;
}

static bool pushed(const char *text)
{
    struct mech_document *const document = read_document(text);
    struct mech_model *m = NULL;
    struct mech_state s = {.block = NULL};
    struct mech_diag diag;

    mech_diag_init(&diag);
    CU_ASSERT_EQUAL_FATAL(mech_model_compile(document, NULL, &diag, &m), 0);
    const struct mech_state_sizes *const n = mech_model_sizes(m);
    double *const block = calloc(1, mech_state_bytes(n));
    mech_state_place(n, block, &s);
    mech_model_initial(m, &s);
    const struct mech_eval e = mech_model_point(m, &s, 0., s.q, s.v);
    mech_model_pose(m, &e);
    const bool found = mech_model_pushed(m, &s, 0.);
    free(block);
    mech_model_destroy(m);
    mech_diag_fini(&diag);
    mech_document_destroy(document);
    return found;
}

static void slack_springs_push_nothing(void)
{
    CU_ASSERT(!pushed(BODY("0", "0, 0, 0", "4", "")));
    CU_ASSERT(pushed(BODY("0", "0, 0, 0", "4.5", "")));
    CU_ASSERT(pushed(BODY("0", "0, 0, 0", "4", ", 'force': 1")));
    CU_ASSERT(!pushed(BODY("0", "0, 0, 0", "4.5", ", 'active': false")));
}

static void gravity_beside_the_node_pushes(void)
{
    CU_ASSERT(!pushed(BODY("-9.81", "0, 0, 0", "4", "")));
    CU_ASSERT(pushed(BODY("-9.81", "0.1, 0, 0", "4", "")));
}

UNIT_TESTS(UNIT_TEST(slack_springs_push_nothing), UNIT_TEST(gravity_beside_the_node_pushes))
