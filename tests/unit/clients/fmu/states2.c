/* Every function of FMI 2.0 in every state that co-simulation reaches: those that the list allows
 * there are taken, all others are refused with a message and change nothing. */
#include "tests/unit/clients/fmu/importer_2.h"
#include "tests/unit/clients/fmu/walk.h"

/* room for whatever a function writes */
struct room {
    void *state;
    const char *text;
    double number;
    size_t size;
    int flag;
    enum mechp_fmi2_status status;
    char bytes[8];
};

#define NONE NULL, 0
/* name, arguments: of none of the variables where there are lists */
#define CALLS(CALL)                                                                                \
    CALL(SetDebugLogging, (c, 1, 0, NULL))                                                         \
    CALL(SetupExperiment, (c, 0, 0., 0., 0, 0.))                                                   \
    CALL(EnterInitializationMode, (c))                                                             \
    CALL(ExitInitializationMode, (c))                                                              \
    CALL(Terminate, (c))                                                                           \
    CALL(Reset, (c))                                                                               \
    CALL(GetReal, (c, NONE, NULL))                                                                 \
    CALL(GetInteger, (c, NONE, NULL))                                                              \
    CALL(GetBoolean, (c, NONE, NULL))                                                              \
    CALL(GetString, (c, NONE, NULL))                                                               \
    CALL(SetReal, (c, NONE, NULL))                                                                 \
    CALL(SetInteger, (c, NONE, NULL))                                                              \
    CALL(SetBoolean, (c, NONE, NULL))                                                              \
    CALL(SetString, (c, NONE, NULL))                                                               \
    CALL(GetFMUstate, (c, &r->state))                                                              \
    CALL(SetFMUstate, (c, NULL))                                                                   \
    CALL(FreeFMUstate, (c, &r->state))                                                             \
    CALL(SerializedFMUstateSize, (c, NULL, &r->size))                                              \
    CALL(SerializeFMUstate, (c, NULL, NULL, 0))                                                    \
    CALL(DeSerializeFMUstate, (c, r->bytes, sizeof r->bytes, &r->state))                           \
    CALL(GetDirectionalDerivative, (c, NONE, NONE, NULL, NULL))                                    \
    CALL(SetRealInputDerivatives, (c, NONE, NULL, NULL))                                           \
    CALL(GetRealOutputDerivatives, (c, NONE, NULL, NULL))                                          \
    CALL(DoStep, (c, 0., 0.01, 1))                                                                 \
    CALL(CancelStep, (c))                                                                          \
    CALL(GetStatus, (c, MECHP_FMI2_DO_STEP_STATUS, &r->status))                                    \
    CALL(GetRealStatus, (c, MECHP_FMI2_LAST_SUCCESSFUL_TIME, &r->number))                          \
    CALL(GetIntegerStatus, (c, MECHP_FMI2_DO_STEP_STATUS, &r->flag))                               \
    CALL(GetBooleanStatus, (c, MECHP_FMI2_TERMINATED, &r->flag))                                   \
    CALL(GetStringStatus, (c, MECHP_FMI2_PENDING_STATUS, &r->text))

#define CALL(name, arguments)                                                                      \
    static enum mechp_fmi2_status call_##name(const struct mechp_fmi2 *f, void *c, struct room *r) \
    {                                                                                              \
        (void)r;                                                                                   \
        return f->name arguments;                                                                  \
    }
CALLS(CALL)
#undef CALL

static const struct {
    const char *name;
    enum mechp_fmi2_status (*call)(const struct mechp_fmi2 *f, void *c, struct room *r);
} calls[] = {
#define CALL(name, arguments) {"fmi2" #name, call_##name},
    CALLS(CALL)
#undef CALL
};
enum { CALL_COUNT = sizeof calls / sizeof *calls };

/* A new component in that state. */
static void *in_state(struct imported_2 *f, enum mechp_fmi2_state state)
{
    void *const c = instantiate_2(f);

    if (state != MECHP_FMI2_INSTANTIATED) {
        CU_ASSERT_EQUAL(f->fmi2.SetupExperiment(c, 0, 0., 0., 0, 0.), MECHP_FMI2_OK);
        CU_ASSERT_EQUAL(f->fmi2.EnterInitializationMode(c), MECHP_FMI2_OK);
    }
    if (state != MECHP_FMI2_INSTANTIATED && state != MECHP_FMI2_INITIALIZATION) {
        CU_ASSERT_EQUAL(f->fmi2.ExitInitializationMode(c), MECHP_FMI2_OK);
    }
    if (state == MECHP_FMI2_STEP_FAILED) {
        /* of more internal steps than a step may have */
        CU_ASSERT_EQUAL(f->fmi2.DoStep(c, 0., 1e15, 1), MECHP_FMI2_DISCARD);
    }
    if (state == MECHP_FMI2_TERMINATED_STATE) {
        CU_ASSERT_EQUAL(f->fmi2.Terminate(c), MECHP_FMI2_OK);
    }
    return c;
}

static void every_function_of_co_simulation_is_walked(void)
{
    static const char *const apart[] = {"fmi2GetTypesPlatform", "fmi2GetVersion", "fmi2Instantiate",
                                        "fmi2FreeInstance"};
    CU_ASSERT_EQUAL(walk_count(mechp_fmi2_symbols), CALL_COUNT + sizeof apart / sizeof *apart);
}

static void each_state_takes_what_the_list_allows_alone(void)
{
    static const enum mechp_fmi2_state states[] = {
        MECHP_FMI2_INSTANTIATED, MECHP_FMI2_INITIALIZATION, MECHP_FMI2_STEP_COMPLETE,
        MECHP_FMI2_STEP_FAILED, MECHP_FMI2_TERMINATED_STATE};
    struct imported_2 f;

    import_2(&f, "mass1d");
    for (size_t k = 0; k < sizeof states / sizeof *states; k++) {
        for (size_t i = 0; i < CALL_COUNT; i++) {
            struct room r = {.number = 0.};
            void *const c = in_state(&f, states[k]);
            f.base.text[0] = '\0';
            const enum mechp_fmi2_status status = calls[i].call(&f.fmi2, c, &r);
            walk_check(&f.base, mechp_fmi2_symbols, calls[i].name, (unsigned)states[k],
                       (int)status);
            CU_ASSERT_EQUAL(f.fmi2.FreeFMUstate(c, &r.state), MECHP_FMI2_OK);
            f.fmi2.FreeInstance(c);
        }
    }
    forget_import(&f.base);
}

UNIT_TESTS(UNIT_TEST(every_function_of_co_simulation_is_walked),
           UNIT_TEST(each_state_takes_what_the_list_allows_alone))
