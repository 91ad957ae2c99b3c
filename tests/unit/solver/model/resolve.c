/* Faults of documents that single fields and names have, each at its JSON pointer. */
#include "tests/unit/model.h"

#define NODE "{'name': 'n', 'type': 'Node1D'}"
#define MASS "{'name': 'm', 'type': 'Mass1D', 'node': 'n', 'physicsMass': 1}"

static void dangling_names_are_named(void)
{
    CU_ASSERT(model_refused("{'mechd': 1, 'objects': [{'name': 'm', 'type': 'Mass1D',"
                            "'node': 'nowhere', 'physicsMass': 1}]}",
                            "/objects/0/node", "nowhere"));
    CU_ASSERT(model_refused("{'mechd': 1, 'nodes': [" NODE "], 'objects': [" MASS ","
                            "{'name': 's', 'type': 'CoordinateSpringDamper',"
                            "'markers': ['x', 'y']}], 'markers': [{'name': 'x',"
                            "'type': 'MarkerGroundCoordinate'}]}",
                            "/objects/1/markers/1", "y"));
    CU_ASSERT(model_refused("{'mechd': 1, 'nodes': [" NODE "], 'objects': [" MASS "],"
                            "'outputs': [{'name': 'o', 'sensor': 'none'}]}",
                            "/outputs/0/sensor", "none"));
    CU_ASSERT(model_refused("{'mechd': 1, 'nodes': [" NODE "], 'objects': [" MASS "],"
                            "'inputs': [{'name': 'i', 'parameter': 'none'}]}",
                            "/inputs/0/parameter", "none"));
}

static void numbers_from_expressions_keep_their_range(void)
{
    static const char model[] = "{'mechd': 1, 'parameters': {'m': %s}, 'nodes': [" NODE "],"
                                "'objects': [{'name': 'm', 'type': 'Mass1D', 'node': 'n',"
                                "'physicsMass': '=%s'}]}";
    char text[512];

    snprintf(text, sizeof text, model, "-2", "m");
    CU_ASSERT(model_refused(text, "/objects/0/physicsMass", "out of range"));
    snprintf(text, sizeof text, model, "0", "1/m");
    CU_ASSERT(model_refused(text, "/objects/0/physicsMass", "the expression"));
    snprintf(text, sizeof text, model, "0", "mass");
    CU_ASSERT(model_refused(text, "/objects/0/physicsMass", ""));
    snprintf(text, sizeof text, model, "3", "m^2");
    struct mech_sim *const s = model_of(text);
    double mass;

    CU_ASSERT_EQUAL(mech_sim_evaluate(s, &(struct mech_point){.time = NAN}, MECH_WANT_MASS, &mass),
                    0);
    CU_ASSERT_EQUAL(mass, 9.);
    mech_sim_destroy(s);
}

/* the number that it should have given is not judged on top */
static void a_fault_in_an_expression_is_reported_once(void)
{
    char text[] = "{'mechd': 1, 'nodes': [" NODE "], 'objects': [{'name': 'm', 'type': 'Mass1D',"
                  "'node': 'n', 'physicsMass': '=nothing'}]}";
    struct mech_diag diag;
    struct mech_sim *s = NULL;

    mech_diag_init(&diag);
    CU_ASSERT_EQUAL(model_read(text, &diag, &s), MECH_INVALID);
    CU_ASSERT_EQUAL(diag.total, 1);
    mech_diag_fini(&diag);
}

static void parameters_have_names_that_expressions_can_use(void)
{
    const char *const bad[] = {"t", "u", "v", "pi", "e", "a-b", "a.b", "1a"};

    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        char text[256], path[64];

        snprintf(text, sizeof text, "{'mechd': 1, 'parameters': {'%s': 1}}", bad[i]);
        snprintf(path, sizeof path, "/parameters/%s", bad[i]);
        CU_ASSERT(model_refused(text, path, ""));
    }
}

static void a_frame_must_be_a_rotation(void)
{
    CU_ASSERT(model_refused("{'mechd': 1, 'nodes': [" NODE "], 'objects': [{'name': 'm',"
                            "'type': 'Mass1D', 'node': 'n', 'physicsMass': 1,"
                            "'referenceRotation': [[1, 0, 0], [0, 1, 0], [0, 0, -1]]}]}",
                            "/objects/0/referenceRotation", "rotation"));
}

/* A document that was not read by the protocol: two masses of one name on a node that is not there,
 * all found by the solver itself. Fields are written through the type's own table. */
static void documents_built_by_hand_are_checked_too(void)
{
    const struct mech_item_type *const type = mech_item_type_find(MECH_OBJECT, "Mass1D");
    struct mech_item items[2];
    struct mech_ref node = {.name = "nowhere"};
    struct mech_document *document = NULL;
    struct mech_diag diag;

    CU_ASSERT_EQUAL_FATAL(mech_document_create(0, &document), 0);
    for (int i = 0; i < 2; i++) {
        char *const at = mech_arena_alloc(&document->arena, 1, type->table.size);

        mech_table_defaults(&type->table, at);
        memcpy(at + mech_table_find(&type->table, "node")->offset, &node, sizeof node);
        items[i] = (struct mech_item){type, "same", at};
    }
    document->version = 1;
    document->objects = (struct mech_items){items, 2};
    mech_diag_init(&diag);
    CU_ASSERT_EQUAL(mech_sim_check(document, &diag), MECH_INVALID);

    const char *const paths[] = {"/objects/0/node", "/objects/1/node", "/objects/1/name",
                                 "/objects/0/physicsMass"};
    for (size_t k = 0; k < sizeof paths / sizeof *paths; k++) {
        bool found = false;

        for (size_t i = 0; i < diag.count; i++) {
            found = found || strcmp(diag.entries[i].path, paths[k]) == 0;
        }
        CU_ASSERT(found);
    }
    mech_diag_fini(&diag);
    mech_document_destroy(document);
}

UNIT_TESTS(UNIT_TEST(documents_built_by_hand_are_checked_too), UNIT_TEST(dangling_names_are_named),

           UNIT_TEST(numbers_from_expressions_keep_their_range),
           UNIT_TEST(a_fault_in_an_expression_is_reported_once),
           UNIT_TEST(parameters_have_names_that_expressions_can_use),
           UNIT_TEST(a_frame_must_be_a_rotation))
