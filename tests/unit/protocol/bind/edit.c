/* Fields of a live model: set, refused, and put back, with and without expressions. */
#include "protocol/bind/bind.h"

#include "tests/unit/model.h"
#include "tests/unit/protocol/bind/documents.h"

#define MODEL(mass, stiffness)                                                                     \
    "{'mechd': 1, 'parameters': {'k': 40}, 'nodes': [{'name': 'n', 'type': 'Node1D'}],"            \
    "'objects': [{'name': 'm', 'type': 'Mass1D', 'node': 'n', 'physicsMass': " mass "},"           \
    "{'name': 's', 'type': 'CoordinateSpringDamper', 'markers': ['g', 'x'], "                      \
    "'stiffness': " stiffness                                                                      \
    "}], 'markers': [{'name': 'x', 'type': 'MarkerNodeCoordinate', 'node': 'n', 'coordinate': 0}," \
    "{'name': 'g', 'type': 'MarkerGroundCoordinate'}]}"

static const char *const models[] = {MODEL("2", "40"), MODEL("2", "'=k'")};

enum { MODELS = sizeof models / sizeof *models };

/* Sets a field of an object to a value, which is given as JSON text. */
static int set(struct mech_sim *s, const char *name, const char *field, const char *value,
               struct mechp_edited **before)
{
    struct mech_diag diag;
    json_t *const json = json_loads(value, JSON_DECODE_ANY, NULL);
    const struct mechp_edit_query query = {
        .category = MECH_OBJECT, .name = name, .field = field, .value = json};

    mech_diag_init(&diag);
    const int code = mechp_bind_edit(s, &query, &diag, before);
    CU_ASSERT(code != MECH_INVALID || diag.total > 0);
    mech_diag_fini(&diag);
    json_decref(json);
    return code;
}

static bool is_written(const struct mech_sim *s, const char *expected)
{
    char *const text = write_text(mech_sim_document(s));
    const bool same = strcmp(text, expected) == 0;

    if (!same) {
        fprintf(stderr, "%s\n", text);
    }
    free(text);
    return same;
}

static void a_refused_edit_changes_nothing(void)
{
    for (int k = 0; k < MODELS; k++) {
        struct mech_sim *const s = model_of(models[k]);
        char *const text = write_text(mech_sim_document(s));

        CU_ASSERT_EQUAL(set(s, "m", "physicsMass", "\"much\"", NULL), MECH_INVALID);
        CU_ASSERT_EQUAL(set(s, "m", "physicsMass", "-1", NULL), MECH_INVALID);
        CU_ASSERT_EQUAL(set(s, "s", "stiffness", "[1]", NULL), MECH_INVALID);
        CU_ASSERT_EQUAL(set(s, "s", "stiffness", "\"=none\"", NULL), MECH_INVALID);
        CU_ASSERT_EQUAL(set(s, "m", "node", "\"other\"", NULL), MECH_INVALID);
        CU_ASSERT_EQUAL(set(s, "m", "weight", "1", NULL), MECH_NOT_FOUND);
        CU_ASSERT_EQUAL(set(s, "none", "physicsMass", "1", NULL), MECH_NOT_FOUND);
        CU_ASSERT(is_written(s, text));
        CU_ASSERT_EQUAL(model_steps(s, 2), 0);
        free(text);
        mech_sim_destroy(s);
    }
}

/* A number in the place of an expression, and of another number. */
static void an_edit_is_put_back(void)
{
    for (int k = 0; k < MODELS; k++) {
        struct mech_sim *const s = model_of(models[k]);
        struct mechp_edited *before = NULL;
        char *const text = write_text(mech_sim_document(s));
        const size_t size = mech_sim_snapshot_size(s);
        char *const bytes = malloc(size);
        bool reproducible = false;

        mech_sim_snapshot_write(s, bytes);
        CU_ASSERT_EQUAL_FATAL(set(s, "s", "stiffness", "50", &before), 0);
        struct mech_sim *const other = model_of(MODEL("2", "50"));
        char *const edited = write_text(mech_sim_document(other));
        CU_ASSERT(is_written(s, edited));
        mechp_bind_edit_undo(s, before);
        CU_ASSERT_EQUAL(mech_sim_snapshot_read(s, bytes, size, &reproducible), 0);
        CU_ASSERT(is_written(s, text));
        CU_ASSERT_EQUAL(model_steps(s, 2), 0);
        mechp_edited_destroy(before);
        free(edited);
        free(bytes);
        free(text);
        mech_sim_destroy(other);
        mech_sim_destroy(s);
    }
}

UNIT_TESTS(UNIT_TEST(a_refused_edit_changes_nothing), UNIT_TEST(an_edit_is_put_back))
