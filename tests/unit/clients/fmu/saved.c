/* States of a component: those of another model, and bytes that no component has written. */
#include "tests/unit/clients/fmu/importer.h"

#include "solver/base/hash.h"

/* of saved.c */
enum { AT_MAGIC = 0, AT_STATE = 16, AT_STOP = 32, AT_GIVEN = 48 };

/* An instance that is initialized and has done a step. */
static void *stepped(struct imported *f)
{
    void *const i = instantiate(f, false, false);
    double last = 0.;
    initialize(f, i);
    CU_ASSERT_EQUAL(do_step(f, i, 0., mech_sim_step_size(f->sim), &last), MECHP_FMI3_OK);
    return i;
}

/* The state of a small model is handed to a large one, and the other way round. */
static void a_state_of_another_model_is_refused(void)
{
    struct imported small = import_example("mass1d"), large = import_example("box-stack");
    void *const a = stepped(&small), *const b = stepped(&large);
    void *state = NULL, *big = NULL;
    size_t size = 0;

    CU_ASSERT_EQUAL(small.fmi3.GetFMUState(a, &state), MECHP_FMI3_OK);
    CU_ASSERT_EQUAL(large.fmi3.GetFMUState(b, &big), MECHP_FMI3_OK);
    void *given = state;
    CU_ASSERT_EQUAL(large.fmi3.GetFMUState(b, &given), MECHP_FMI3_ERROR);
    CU_ASSERT_STRING_EQUAL(large.text, "the state is not one of this model");
    CU_ASSERT_PTR_EQUAL(given, state);
    CU_ASSERT_EQUAL(large.fmi3.SetFMUState(b, state), MECHP_FMI3_ERROR);
    given = big;
    CU_ASSERT_EQUAL(small.fmi3.GetFMUState(a, &given), MECHP_FMI3_ERROR);
    CU_ASSERT_EQUAL(small.fmi3.SetFMUState(a, big), MECHP_FMI3_ERROR);
    CU_ASSERT_EQUAL(large.fmi3.SerializedFMUStateSize(b, big, &size), MECHP_FMI3_OK);
    uint8_t *const bytes = malloc(size);
    CU_ASSERT_PTR_NOT_NULL_FATAL(bytes);
    CU_ASSERT_EQUAL(large.fmi3.SerializeFMUState(b, state, bytes, size), MECHP_FMI3_ERROR);
    CU_ASSERT_EQUAL(large.fmi3.SerializeFMUState(b, big, bytes, size), MECHP_FMI3_OK);
    CU_ASSERT_EQUAL(small.fmi3.DeserializeFMUState(a, bytes, size, &state), MECHP_FMI3_ERROR);
    free(bytes);
    /* both are as they were */
    CU_ASSERT_EQUAL(small.fmi3.SetFMUState(a, state), MECHP_FMI3_OK);
    CU_ASSERT_EQUAL(small.fmi3.GetFMUState(a, &state), MECHP_FMI3_OK);
    CU_ASSERT_EQUAL(large.fmi3.SetFMUState(b, big), MECHP_FMI3_OK);
    CU_ASSERT_EQUAL(small.fmi3.FreeFMUState(a, &state), MECHP_FMI3_OK);
    CU_ASSERT_EQUAL(large.fmi3.FreeFMUState(b, &big), MECHP_FMI3_OK);
    small.fmi3.FreeInstance(a);
    large.fmi3.FreeInstance(b);
    forget_import(&small);
    forget_import(&large);
}

struct bytes {
    uint8_t *at;
    size_t size;
};

/* These bytes with eight of them changed and the hash made anew are refused, or not. */
static void altered(const struct imported *f, void *i, const struct bytes *b, size_t at,
                    const void *eight, enum mechp_fmi3_status want)
{
    uint8_t *const copy = malloc(b->size);
    uint64_t magic;
    void *state = NULL;

    CU_ASSERT_PTR_NOT_NULL_FATAL(copy);
    memcpy(copy, b->at, b->size);
    memcpy(copy + at, eight, 8);
    memcpy(&magic, b->at + AT_MAGIC, sizeof magic);
    const uint64_t sum = mech_hash(copy, b->size - sizeof sum, magic);
    memcpy(copy + b->size - sizeof sum, &sum, sizeof sum);
    CU_ASSERT_EQUAL(f->fmi3.DeserializeFMUState(i, copy, b->size, &state), want);
    CU_ASSERT_EQUAL(state != NULL, want == MECHP_FMI3_OK);
    CU_ASSERT_EQUAL(f->fmi3.FreeFMUState(i, &state), MECHP_FMI3_OK);
    free(copy);
}

static void bytes_that_no_component_writes_are_refused(void)
{
    struct imported f = import_example("driven-oscillator");
    void *const i = stepped(&f);
    static const uint64_t none[] = {0,
                                    MECHP_FMI3_NOT_THERE,
                                    MECHP_FMI3_INTERMEDIATE,
                                    MECHP_FMI3_STEP_MODE | MECHP_FMI3_EVENT_MODE,
                                    MECHP_FMI3_FATAL_STATE,
                                    1ull << 32 | MECHP_FMI3_STEP_MODE};
    static const double odd[] = {(double)NAN, (double)INFINITY, 0.5};
    const uint64_t terminated = MECHP_FMI3_TERMINATED;
    const double stop = 7., set = 1., nan = (double)NAN;
    struct bytes b;
    void *state = NULL;

    CU_ASSERT_EQUAL(f.fmi3.GetFMUState(i, &state), MECHP_FMI3_OK);
    CU_ASSERT_EQUAL(f.fmi3.SerializedFMUStateSize(i, state, &b.size), MECHP_FMI3_OK);
    b.at = malloc(b.size);
    CU_ASSERT_PTR_NOT_NULL_FATAL(b.at);
    CU_ASSERT_EQUAL(f.fmi3.SerializeFMUState(i, state, b.at, b.size), MECHP_FMI3_OK);
    for (size_t k = 0; k < sizeof none / sizeof *none; k++) {
        altered(&f, i, &b, AT_STATE, &none[k], MECHP_FMI3_ERROR);
    }
    for (size_t k = 0; k < sizeof odd / sizeof *odd; k++) {
        altered(&f, i, &b, AT_GIVEN, &odd[k], MECHP_FMI3_ERROR);
    }
    altered(&f, i, &b, AT_STOP, &nan, MECHP_FMI3_ERROR);
    altered(&f, i, &b, AT_STATE, &terminated, MECHP_FMI3_OK);
    altered(&f, i, &b, AT_STOP, &stop, MECHP_FMI3_OK);
    altered(&f, i, &b, AT_GIVEN, &set, MECHP_FMI3_OK);
    free(b.at);
    CU_ASSERT_EQUAL(f.fmi3.FreeFMUState(i, &state), MECHP_FMI3_OK);
    f.fmi3.FreeInstance(i);
    forget_import(&f);
}

UNIT_TESTS(UNIT_TEST(a_state_of_another_model_is_refused),
           UNIT_TEST(bytes_that_no_component_writes_are_refused))
