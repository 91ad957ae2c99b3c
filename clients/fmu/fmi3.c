/* FMI 3.0 for co-simulation: the functions that the library exports. Each asks the list of
 * functions whether its state allows it; those of other kinds of FMU, clocks, structural
 * parameters and variables of types that models do not have are refused. */
#include "clients/fmu/component.h"

#include "protocol/fmi/symbols.h"

#include <string.h>

#define MECHP_FMI3(group, states, type, name, arguments) MECHFMU_EXPORT type fmi3##name arguments;
#include "protocol/fmi/fmi3.def"
#undef MECHP_FMI3

/* places in mechp_fmi3_symbols */
enum function {
#define MECHP_FMI3(group, states, type, name, arguments) F_##name,
#include "protocol/fmi/fmi3.def"
#undef MECHP_FMI3
};

#define ERROR MECHP_FMI3_ERROR

static bool may(const struct mechfmu *m, enum function f)
{
    return mechfmu_may(m, mechp_fmi3_symbols[f].states, mechp_fmi3_symbols[f].name);
}

/* Of what models do not have: nothing can be asked of none. */
static enum mechp_fmi3_status none(const struct mechfmu *m, enum function f, size_t n)
{
    if (!may(m, f)) {
        return ERROR;
    }
    return n == 0
               ? MECHP_FMI3_OK
               : mechfmu_say(m, ERROR, "%s: there is no such variable", mechp_fmi3_symbols[f].name);
}

/* What the description does not promise. */
static enum mechp_fmi3_status unsupported(const struct mechfmu *m, enum function f)
{
    const unsigned states = mechp_fmi3_symbols[f].states;

    return m && (states == 0 || may(m, f))
               ? mechfmu_say(m, ERROR, "%s is not supported", mechp_fmi3_symbols[f].name)
               : ERROR;
}

static void write_log(const struct mechfmu *m, enum mechp_fmi3_status status, const char *category,
                      const char *text)
{
    mechp_fmi3_log *write;

    memcpy(&write, m->log.importer, sizeof write);
    write(m->log.environment, status, category, text);
}

/* --- life ------------------------------------------------------------------------------------- */

const char *fmi3GetVersion(void)
{
    return "3.0";
}

enum mechp_fmi3_status fmi3SetDebugLogging(void *i, bool on, size_t n,
                                           const char *const categories[])
{
    return may(i, F_SetDebugLogging) ? mechfmu_choose(i, on, n, categories) : ERROR;
}

void *fmi3InstantiateCoSimulation(const char *name, const char *token, const char *resources,
                                  bool visible, bool logging, bool event_mode, bool early_return,
                                  const uint32_t intermediate[], size_t n_intermediate,
                                  void *environment, mechp_fmi3_log *log,
                                  mechp_fmi3_intermediate *update)
{
    struct mechfmu_log to = {
        .write = log ? write_log : NULL, .environment = environment, .on = logging};
    struct mechfmu *m;

    memcpy(to.importer, &log, sizeof log);
    if (mechfmu_create(MECHP_FMI_3, name, token, resources, &to, &m)) {
        return NULL;
    }
    if (mechfmu_watch(m, update, intermediate, n_intermediate) != MECHP_FMI3_OK) {
        mechfmu_destroy(m);
        return NULL;
    }
    m->event_mode = event_mode;
    m->early_return = early_return;
    m->starting = MECHP_FMI3_INSTANTIATED | MECHP_FMI3_INITIALIZATION;
    m->reached = m->starting | MECHP_FMI3_EVENT_MODE | MECHP_FMI3_STEP_MODE | MECHP_FMI3_TERMINATED;
    m->broken = MECHP_FMI3_ERROR_STATE;
    m->state = MECHP_FMI3_INSTANTIATED;
    return m;
}

void *fmi3InstantiateModelExchange(const char *name, const char *token, const char *resources,
                                   bool visible, bool logging, void *environment,
                                   mechp_fmi3_log *log)
{
    if (log) {
        log(environment, ERROR, "logStatusError", "this FMU is for co-simulation only");
    }
    return NULL;
}

void *fmi3InstantiateScheduledExecution(const char *name, const char *token, const char *resources,
                                        bool visible, bool logging, void *environment,
                                        mechp_fmi3_log *log, void (*clock)(void *environment),
                                        void (*lock)(void), void (*unlock)(void))
{
    return fmi3InstantiateModelExchange(name, token, resources, visible, logging, environment, log);
}

void fmi3FreeInstance(void *i)
{
    if (may(i, F_FreeInstance)) {
        mechfmu_destroy(i);
    }
}

enum mechp_fmi3_status fmi3EnterInitializationMode(void *i, bool has_tolerance, double tolerance,
                                                   double start, bool has_stop, double stop)
{
    struct mechfmu *const m = i;

    if (!may(m, F_EnterInitializationMode)) {
        return ERROR;
    }
    enum mechp_fmi3_status status = mechfmu_start(m, start, has_stop, stop);
    status = status == MECHP_FMI3_OK ? mechfmu_enter(m) : status;
    m->state = status == MECHP_FMI3_OK ? MECHP_FMI3_INITIALIZATION : m->state;
    return status;
}

enum mechp_fmi3_status fmi3ExitInitializationMode(void *i)
{
    struct mechfmu *const m = i;

    if (!may(m, F_ExitInitializationMode)) {
        return ERROR;
    }
    m->state = m->event_mode ? MECHP_FMI3_EVENT_MODE : MECHP_FMI3_STEP_MODE;
    return MECHP_FMI3_OK;
}

enum mechp_fmi3_status fmi3EnterEventMode(void *i)
{
    struct mechfmu *const m = i;

    if (!may(m, F_EnterEventMode)) {
        return ERROR;
    }
    if (!m->event_mode) {
        return mechfmu_say(m, ERROR, "the instance was made without event mode");
    }
    m->state = MECHP_FMI3_EVENT_MODE;
    return MECHP_FMI3_OK;
}

enum mechp_fmi3_status fmi3EnterStepMode(void *i)
{
    struct mechfmu *const m = i;

    if (!may(m, F_EnterStepMode)) {
        return ERROR;
    }
    m->state = MECHP_FMI3_STEP_MODE;
    return MECHP_FMI3_OK;
}

enum mechp_fmi3_status fmi3Terminate(void *i)
{
    struct mechfmu *const m = i;

    if (!may(m, F_Terminate)) {
        return ERROR;
    }
    m->state = MECHP_FMI3_TERMINATED;
    return MECHP_FMI3_OK;
}

enum mechp_fmi3_status fmi3Reset(void *i)
{
    struct mechfmu *const m = i;

    if (!may(m, F_Reset)) {
        return ERROR;
    }
    const enum mechp_fmi3_status status = mechfmu_reset(m);
    m->state = status == MECHP_FMI3_OK ? MECHP_FMI3_INSTANTIATED : m->state;
    return status;
}

/* --- variables -------------------------------------------------------------------------------- */

enum mechp_fmi3_status fmi3GetFloat64(void *i, const uint32_t vr[], size_t n, double values[],
                                      size_t n_values)
{
    return may(i, F_GetFloat64) && mechfmu_may_use(i, vr, n)
               ? mechfmu_get(i, vr, n, values, n_values)
               : ERROR;
}

/* With an event mode, what is not continuous changes there alone (3.0.2, 4.2.3). */
static bool is_early(const struct mechfmu *m, const uint32_t vr[], size_t n)
{
    for (size_t k = 0; m->event_mode && m->state == MECHP_FMI3_STEP_MODE && k < n; k++) {
        const struct mechp_fmi_variable *const v = mechp_fmi_layout_find(&m->layout, vr[k]);

        if (v && v->variability != MECHP_FMI_CONTINUOUS) {
            mechfmu_say(m, ERROR, "\"%s\" can be set in event mode only", v->name);
            return true;
        }
    }
    return false;
}

enum mechp_fmi3_status fmi3SetFloat64(void *i, const uint32_t vr[], size_t n, const double values[],
                                      size_t n_values)
{
    return may(i, F_SetFloat64) && !is_early(i, vr, n) && mechfmu_may_use(i, vr, n)
               ? mechfmu_set(i, vr, n, values, n_values)
               : ERROR;
}

#define NO_VARIABLES(kind, type)                                                                   \
    enum mechp_fmi3_status fmi3Get##kind(void *i, const uint32_t vr[], size_t n, type values[],    \
                                         size_t n_values)                                          \
    {                                                                                              \
        return none(i, F_Get##kind, n);                                                            \
    }                                                                                              \
    enum mechp_fmi3_status fmi3Set##kind(void *i, const uint32_t vr[], size_t n,                   \
                                         const type values[], size_t n_values)                     \
    {                                                                                              \
        return none(i, F_Set##kind, n);                                                            \
    }
NO_VARIABLES(Float32, float)
NO_VARIABLES(Int8, int8_t)
NO_VARIABLES(UInt8, uint8_t)
NO_VARIABLES(Int16, int16_t)
NO_VARIABLES(UInt16, uint16_t)
NO_VARIABLES(Int32, int32_t)
NO_VARIABLES(UInt32, uint32_t)
NO_VARIABLES(Int64, int64_t)
NO_VARIABLES(UInt64, uint64_t)
NO_VARIABLES(Boolean, bool)

enum mechp_fmi3_status fmi3GetString(void *i, const uint32_t vr[], size_t n, const char *values[],
                                     size_t n_values)
{
    return may(i, F_GetString) ? mechfmu_get_texts(i, vr, n, values) : ERROR;
}

enum mechp_fmi3_status fmi3SetString(void *i, const uint32_t vr[], size_t n,
                                     const char *const values[], size_t n_values)
{
    return may(i, F_SetString) ? mechfmu_set_texts(i, vr, n, values) : ERROR;
}

enum mechp_fmi3_status fmi3GetBinary(void *i, const uint32_t vr[], size_t n, size_t sizes[],
                                     const uint8_t *values[], size_t n_values)
{
    return none(i, F_GetBinary, n);
}

enum mechp_fmi3_status fmi3SetBinary(void *i, const uint32_t vr[], size_t n, const size_t sizes[],
                                     const uint8_t *const values[], size_t n_values)
{
    return none(i, F_SetBinary, n);
}

enum mechp_fmi3_status fmi3GetOutputDerivatives(void *i, const uint32_t vr[], size_t n,
                                                const int32_t orders[], double values[],
                                                size_t n_values)
{
    return may(i, F_GetOutputDerivatives) && mechfmu_may_use(i, vr, n)
               ? mechfmu_output_rates(i, vr, n, orders, values, n_values)
               : ERROR;
}

enum mechp_fmi3_status fmi3GetDirectionalDerivative(void *i, const uint32_t unknowns[],
                                                    size_t n_unknowns, const uint32_t knowns[],
                                                    size_t n_knowns, const double seed[],
                                                    size_t n_seed, double out[], size_t n_out)
{
    const struct mechfmu_slope q = {unknowns, knowns, n_unknowns, n_knowns, seed,
                                    n_seed,   out,    n_out,      false};

    return may(i, F_GetDirectionalDerivative) ? mechfmu_slope(i, &q) : ERROR;
}

enum mechp_fmi3_status fmi3GetAdjointDerivative(void *i, const uint32_t unknowns[],
                                                size_t n_unknowns, const uint32_t knowns[],
                                                size_t n_knowns, const double seed[], size_t n_seed,
                                                double out[], size_t n_out)
{
    const struct mechfmu_slope q = {unknowns, knowns, n_unknowns, n_knowns, seed,
                                    n_seed,   out,    n_out,      true};

    return may(i, F_GetAdjointDerivative) ? mechfmu_slope(i, &q) : ERROR;
}

/* --- states ----------------------------------------------------------------------------------- */

enum mechp_fmi3_status fmi3GetFMUState(void *i, void **state)
{
    return may(i, F_GetFMUState) ? mechfmu_save(i, state) : ERROR;
}

enum mechp_fmi3_status fmi3SetFMUState(void *i, void *state)
{
    return may(i, F_SetFMUState) ? mechfmu_restore(i, state) : ERROR;
}

enum mechp_fmi3_status fmi3FreeFMUState(void *i, void **state)
{
    if (!may(i, F_FreeFMUState)) {
        return ERROR;
    }
    if (state) {
        mechfmu_forget(state);
    }
    return MECHP_FMI3_OK;
}

enum mechp_fmi3_status fmi3SerializedFMUStateSize(void *i, void *state, size_t *size)
{
    return may(i, F_SerializedFMUStateSize) ? mechfmu_bytes_size(i, state, size) : ERROR;
}

enum mechp_fmi3_status fmi3SerializeFMUState(void *i, void *state, uint8_t bytes[], size_t size)
{
    return may(i, F_SerializeFMUState) ? mechfmu_to_bytes(i, state, bytes, size) : ERROR;
}

enum mechp_fmi3_status fmi3DeserializeFMUState(void *i, const uint8_t bytes[], size_t size,
                                               void **state)
{
    return may(i, F_DeserializeFMUState) ? mechfmu_from_bytes(i, bytes, size, state) : ERROR;
}

/* --- steps and events ------------------------------------------------------------------------- */

enum mechp_fmi3_status fmi3DoStep(void *i, double time, double size, bool no_set_before,
                                  bool *event, bool *terminate, bool *early, double *last)
{
    struct mechfmu *const m = i;

    if (!may(m, F_DoStep)) {
        return ERROR;
    }
    const enum mechp_fmi3_status status = mechfmu_step(m, time, size, early);
    *event = m->event_mode && m->events > 0;
    *terminate = false;
    *last = mechfmu_time(m);
    return status;
}

/* Events are handled within a step: there is nothing left to iterate, no event is foreseen. */
enum mechp_fmi3_status fmi3UpdateDiscreteStates(void *i, bool *needs_update, bool *terminate,
                                                bool *nominals_changed, bool *values_changed,
                                                bool *has_next_event, double *next_event)
{
    if (!may(i, F_UpdateDiscreteStates)) {
        return ERROR;
    }
    *needs_update = *terminate = *nominals_changed = *values_changed = *has_next_event = false;
    *next_event = 0.;
    return MECHP_FMI3_OK;
}

enum mechp_fmi3_status fmi3EvaluateDiscreteStates(void *i)
{
    return may(i, F_EvaluateDiscreteStates) ? MECHP_FMI3_OK : ERROR;
}

/* --- what models do not have ------------------------------------------------------------------ */

enum mechp_fmi3_status fmi3EnterConfigurationMode(void *i)
{
    return unsupported(i, F_EnterConfigurationMode);
}

enum mechp_fmi3_status fmi3ExitConfigurationMode(void *i)
{
    return unsupported(i, F_ExitConfigurationMode);
}

enum mechp_fmi3_status fmi3GetNumberOfVariableDependencies(void *i, uint32_t vr, size_t *n)
{
    return unsupported(i, F_GetNumberOfVariableDependencies);
}

enum mechp_fmi3_status fmi3GetVariableDependencies(void *i, uint32_t dependent, size_t elements[],
                                                   uint32_t independents[], size_t their_elements[],
                                                   enum mechp_fmi3_dependency kinds[], size_t n)
{
    return unsupported(i, F_GetVariableDependencies);
}

enum mechp_fmi3_status fmi3GetClock(void *i, const uint32_t vr[], size_t n, bool values[])
{
    return none(i, F_GetClock, n);
}

enum mechp_fmi3_status fmi3SetClock(void *i, const uint32_t vr[], size_t n, const bool values[])
{
    return none(i, F_SetClock, n);
}

enum mechp_fmi3_status fmi3GetIntervalDecimal(void *i, const uint32_t vr[], size_t n,
                                              double intervals[],
                                              enum mechp_fmi3_interval qualifiers[])
{
    return none(i, F_GetIntervalDecimal, n);
}

enum mechp_fmi3_status fmi3GetIntervalFraction(void *i, const uint32_t vr[], size_t n,
                                               uint64_t counters[], uint64_t resolutions[],
                                               enum mechp_fmi3_interval qualifiers[])
{
    return none(i, F_GetIntervalFraction, n);
}

enum mechp_fmi3_status fmi3GetShiftDecimal(void *i, const uint32_t vr[], size_t n, double shifts[])
{
    return none(i, F_GetShiftDecimal, n);
}

enum mechp_fmi3_status fmi3GetShiftFraction(void *i, const uint32_t vr[], size_t n,
                                            uint64_t counters[], uint64_t resolutions[])
{
    return none(i, F_GetShiftFraction, n);
}

enum mechp_fmi3_status fmi3SetIntervalDecimal(void *i, const uint32_t vr[], size_t n,
                                              const double intervals[])
{
    return none(i, F_SetIntervalDecimal, n);
}

enum mechp_fmi3_status fmi3SetIntervalFraction(void *i, const uint32_t vr[], size_t n,
                                               const uint64_t counters[],
                                               const uint64_t resolutions[])
{
    return none(i, F_SetIntervalFraction, n);
}

enum mechp_fmi3_status fmi3SetShiftDecimal(void *i, const uint32_t vr[], size_t n,
                                           const double shifts[])
{
    return none(i, F_SetShiftDecimal, n);
}

enum mechp_fmi3_status fmi3SetShiftFraction(void *i, const uint32_t vr[], size_t n,
                                            const uint64_t counters[], const uint64_t resolutions[])
{
    return none(i, F_SetShiftFraction, n);
}

enum mechp_fmi3_status fmi3EnterContinuousTimeMode(void *i)
{
    return unsupported(i, F_EnterContinuousTimeMode);
}

enum mechp_fmi3_status fmi3CompletedIntegratorStep(void *i, bool no_set_before,
                                                   bool *enter_event_mode, bool *terminate)
{
    return unsupported(i, F_CompletedIntegratorStep);
}

enum mechp_fmi3_status fmi3SetTime(void *i, double time)
{
    return unsupported(i, F_SetTime);
}

enum mechp_fmi3_status fmi3SetContinuousStates(void *i, const double x[], size_t n)
{
    return unsupported(i, F_SetContinuousStates);
}

enum mechp_fmi3_status fmi3GetContinuousStateDerivatives(void *i, double out[], size_t n)
{
    return unsupported(i, F_GetContinuousStateDerivatives);
}

enum mechp_fmi3_status fmi3GetEventIndicators(void *i, double out[], size_t n)
{
    return unsupported(i, F_GetEventIndicators);
}

enum mechp_fmi3_status fmi3GetContinuousStates(void *i, double out[], size_t n)
{
    return unsupported(i, F_GetContinuousStates);
}

enum mechp_fmi3_status fmi3GetNominalsOfContinuousStates(void *i, double out[], size_t n)
{
    return unsupported(i, F_GetNominalsOfContinuousStates);
}

enum mechp_fmi3_status fmi3GetNumberOfEventIndicators(void *i, size_t *n)
{
    return unsupported(i, F_GetNumberOfEventIndicators);
}

enum mechp_fmi3_status fmi3GetNumberOfContinuousStates(void *i, size_t *n)
{
    return unsupported(i, F_GetNumberOfContinuousStates);
}

enum mechp_fmi3_status fmi3ActivateModelPartition(void *i, uint32_t clock, double time)
{
    return unsupported(i, F_ActivateModelPartition);
}
