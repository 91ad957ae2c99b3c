/* Every function of FMI 3.0 in every state that co-simulation reaches: those that the list allows
 * there are taken, all others are refused with a message and change nothing. */
#include "tests/unit/clients/fmu/importer.h"
#include "tests/unit/clients/fmu/walk.h"

/* room for whatever a function writes */
struct room {
    void *state;
    bool flags[6];
    double number;
    size_t size;
    uint32_t reference;
    uint8_t bytes[8];
};

#define NONE NULL, 0
/* name, arguments: of none of the variables where there are lists */
#define CALLS(CALL)                                                                                \
    CALL(SetDebugLogging, (i, true, 0, NULL))                                                      \
    CALL(EnterInitializationMode, (i, false, 0., 0., false, 0.))                                   \
    CALL(ExitInitializationMode, (i))                                                              \
    CALL(EnterEventMode, (i))                                                                      \
    CALL(Terminate, (i))                                                                           \
    CALL(Reset, (i))                                                                               \
    CALL(GetFloat32, (i, NONE, NONE))                                                              \
    CALL(GetFloat64, (i, NONE, NONE))                                                              \
    CALL(GetInt8, (i, NONE, NONE))                                                                 \
    CALL(GetUInt8, (i, NONE, NONE))                                                                \
    CALL(GetInt16, (i, NONE, NONE))                                                                \
    CALL(GetUInt16, (i, NONE, NONE))                                                               \
    CALL(GetInt32, (i, NONE, NONE))                                                                \
    CALL(GetUInt32, (i, NONE, NONE))                                                               \
    CALL(GetInt64, (i, NONE, NONE))                                                                \
    CALL(GetUInt64, (i, NONE, NONE))                                                               \
    CALL(GetBoolean, (i, NONE, NONE))                                                              \
    CALL(GetString, (i, NONE, NONE))                                                               \
    CALL(GetBinary, (i, NONE, NULL, NONE))                                                         \
    CALL(GetClock, (i, NONE, NULL))                                                                \
    CALL(SetFloat32, (i, NONE, NONE))                                                              \
    CALL(SetFloat64, (i, NONE, NONE))                                                              \
    CALL(SetInt8, (i, NONE, NONE))                                                                 \
    CALL(SetUInt8, (i, NONE, NONE))                                                                \
    CALL(SetInt16, (i, NONE, NONE))                                                                \
    CALL(SetUInt16, (i, NONE, NONE))                                                               \
    CALL(SetInt32, (i, NONE, NONE))                                                                \
    CALL(SetUInt32, (i, NONE, NONE))                                                               \
    CALL(SetInt64, (i, NONE, NONE))                                                                \
    CALL(SetUInt64, (i, NONE, NONE))                                                               \
    CALL(SetBoolean, (i, NONE, NONE))                                                              \
    CALL(SetString, (i, NONE, NONE))                                                               \
    CALL(SetBinary, (i, NONE, NULL, NONE))                                                         \
    CALL(SetClock, (i, NONE, NULL))                                                                \
    CALL(GetNumberOfVariableDependencies, (i, 0, &r->size))                                        \
    CALL(GetVariableDependencies, (i, 0, NULL, NULL, NULL, NULL, 0))                               \
    CALL(GetFMUState, (i, &r->state))                                                              \
    CALL(SetFMUState, (i, NULL))                                                                   \
    CALL(FreeFMUState, (i, &r->state))                                                             \
    CALL(SerializedFMUStateSize, (i, NULL, &r->size))                                              \
    CALL(SerializeFMUState, (i, NULL, NONE))                                                       \
    CALL(DeserializeFMUState, (i, r->bytes, 8, &r->state))                                         \
    CALL(GetDirectionalDerivative, (i, NONE, NONE, NONE, NONE))                                    \
    CALL(GetAdjointDerivative, (i, NONE, NONE, NONE, NONE))                                        \
    CALL(EnterConfigurationMode, (i))                                                              \
    CALL(ExitConfigurationMode, (i))                                                               \
    CALL(GetIntervalDecimal, (i, NONE, NULL, NULL))                                                \
    CALL(GetIntervalFraction, (i, NONE, NULL, NULL, NULL))                                         \
    CALL(GetShiftDecimal, (i, NONE, NULL))                                                         \
    CALL(GetShiftFraction, (i, NONE, NULL, NULL))                                                  \
    CALL(SetIntervalDecimal, (i, NONE, NULL))                                                      \
    CALL(SetIntervalFraction, (i, NONE, NULL, NULL))                                               \
    CALL(SetShiftDecimal, (i, NONE, NULL))                                                         \
    CALL(SetShiftFraction, (i, NONE, NULL, NULL))                                                  \
    CALL(EvaluateDiscreteStates, (i))                                                              \
    CALL(UpdateDiscreteStates,                                                                     \
         (i, &r->flags[0], &r->flags[1], &r->flags[2], &r->flags[3], &r->flags[4], &r->number))    \
    CALL(EnterStepMode, (i))                                                                       \
    CALL(GetOutputDerivatives, (i, NONE, NULL, NONE))                                              \
    CALL(DoStep, (i, 0., 0.01, false, &r->flags[0], &r->flags[1], &r->flags[2], &r->number))

#define CALL(name, arguments)                                                                      \
    static enum mechp_fmi3_status call_##name(const struct mechp_fmi3 *f, void *i, struct room *r) \
    {                                                                                              \
        (void)r;                                                                                   \
        return f->name arguments;                                                                  \
    }
CALLS(CALL)
#undef CALL

static const struct {
    const char *name;
    enum mechp_fmi3_status (*call)(const struct mechp_fmi3 *f, void *i, struct room *r);
} calls[] = {
#define CALL(name, arguments) {"fmi3" #name, call_##name},
    CALLS(CALL)
#undef CALL
};
enum { CALL_COUNT = sizeof calls / sizeof *calls };

/* A new instance in that state, with an event mode. */
static void *in_state(struct imported *f, enum mechp_fmi3_state state)
{
    void *const i = instantiate(f, true, true);
    enum mechp_fmi3_status status = MECHP_FMI3_OK;

    if (state != MECHP_FMI3_INSTANTIATED) {
        status |= f->fmi3.EnterInitializationMode(i, false, 0., 0., false, 0.);
    }
    if (state != MECHP_FMI3_INSTANTIATED && state != MECHP_FMI3_INITIALIZATION) {
        status |= f->fmi3.ExitInitializationMode(i);
    }
    if (state == MECHP_FMI3_STEP_MODE) {
        status |= f->fmi3.EnterStepMode(i);
    }
    if (state == MECHP_FMI3_TERMINATED) {
        status |= f->fmi3.Terminate(i);
    }
    CU_ASSERT_EQUAL_FATAL(status, MECHP_FMI3_OK);
    return i;
}

static void every_function_of_co_simulation_is_walked(void)
{
    static const char *const apart[] = {
        "fmi3GetVersion", "fmi3FreeInstance", "fmi3InstantiateModelExchange",
        "fmi3InstantiateCoSimulation", "fmi3InstantiateScheduledExecution"};
    CU_ASSERT_EQUAL(walk_count(mechp_fmi3_symbols), CALL_COUNT + sizeof apart / sizeof *apart);
}

static void each_state_takes_what_the_list_allows_alone(void)
{
    static const enum mechp_fmi3_state states[] = {MECHP_FMI3_INSTANTIATED,
                                                   MECHP_FMI3_INITIALIZATION, MECHP_FMI3_EVENT_MODE,
                                                   MECHP_FMI3_STEP_MODE, MECHP_FMI3_TERMINATED};
    struct imported f = import_example("mass1d");

    for (size_t k = 0; k < sizeof states / sizeof *states; k++) {
        for (size_t c = 0; c < CALL_COUNT; c++) {
            struct room r = {.number = 0.};
            void *const i = in_state(&f, states[k]);
            f.text[0] = '\0';
            const enum mechp_fmi3_status status = calls[c].call(&f.fmi3, i, &r);
            walk_check(&f, mechp_fmi3_symbols, calls[c].name, (unsigned)states[k], (int)status);
            CU_ASSERT_EQUAL(f.fmi3.FreeFMUState(i, &r.state), MECHP_FMI3_OK);
            f.fmi3.FreeInstance(i);
        }
    }
    forget_import(&f);
}

/* The state within a step: one function is called by the importer's update. */
struct within {
    struct imported *f;
    void *instance;
    size_t call;
    int calls;
};

static void log_message(void *environment, enum mechp_fmi3_status status, const char *category,
                        const char *message)
{
    const struct within *const w = environment;
    take_message(w->f, status, category, message);
}

static void take_update(void *environment, double time, bool wants_set, bool may_get,
                        bool step_finished, bool may_return, bool *early, double *early_time)
{
    struct within *const w = environment;
    struct room r = {.number = 0.};
    (void)time;
    (void)early;
    (void)early_time;
    CU_ASSERT(may_get && step_finished && !may_return);
    w->calls++;
    if (wants_set) {
        w->f->text[0] = '\0';
        const enum mechp_fmi3_status status = calls[w->call].call(&w->f->fmi3, w->instance, &r);
        walk_check(w->f, mechp_fmi3_symbols, calls[w->call].name, MECHP_FMI3_INTERMEDIATE,
                   (int)status);
    }
}

static void an_update_takes_what_the_list_allows_alone(void)
{
    struct imported f = import_example("mass1d");
    const uint32_t x = variable(&f, "x")->reference;
    const double h = mech_sim_step_size(f.sim);
    char folder[80];

    snprintf(folder, sizeof folder, "%s/", f.folder);
    for (size_t c = 0; c < CALL_COUNT; c++) {
        struct within w = {.f = &f, .call = c};
        double last = NAN;
        w.instance = f.fmi3.InstantiateCoSimulation("one", f.token, folder, false, true, false,
                                                    false, &x, 1, &w, log_message, take_update);
        CU_ASSERT_PTR_NOT_NULL_FATAL(w.instance);
        initialize(&f, w.instance);
        CU_ASSERT_EQUAL(do_step(&f, w.instance, 0., 2. * h, &last), MECHP_FMI3_OK);
        CU_ASSERT_EQUAL(w.calls, 2);
        f.fmi3.FreeInstance(w.instance);
    }
    forget_import(&f);
}

UNIT_TESTS(UNIT_TEST(every_function_of_co_simulation_is_walked),
           UNIT_TEST(an_update_takes_what_the_list_allows_alone),
           UNIT_TEST(each_state_takes_what_the_list_allows_alone))
