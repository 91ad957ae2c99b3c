/* FMI 2.0 for co-simulation: the functions that the library exports. Each asks the list of
 * functions whether its state allows it; model exchange is not exported, variables of types that
 * models do not have are refused. A step is done when its call returns. */
#include "clients/fmu/component.h"

#include "protocol/fmi/symbols.h"

#include <stdlib.h>
#include <string.h>

#define EXPORT_COMMON MECHFMU_EXPORT
#define EXPORT_COSIM MECHFMU_EXPORT
#define EXPORT_EXCHANGE extern
#define MECHP_FMI2(group, states, type, name, arguments) EXPORT_##group type fmi2##name arguments;
#include "protocol/fmi/fmi2.def"
#undef MECHP_FMI2

/* places in mechp_fmi2_symbols */
enum function {
#define MECHP_FMI2(group, states, type, name, arguments) F_##name,
#include "protocol/fmi/fmi2.def"
#undef MECHP_FMI2
};

/* the statuses of both versions have the same numbers */
_Static_assert((int)MECHP_FMI2_ERROR == (int)MECHP_FMI3_ERROR &&
                   (int)MECHP_FMI2_DISCARD == (int)MECHP_FMI3_DISCARD,
               "statuses");
static enum mechp_fmi2_status as_2(enum mechp_fmi3_status status)
{
    return (enum mechp_fmi2_status)status;
}

static bool may(const struct mechfmu *m, enum function f)
{
    return mechfmu_may(m, mechp_fmi2_symbols[f].states, mechp_fmi2_symbols[f].name);
}

static enum mechp_fmi2_status none(const struct mechfmu *m, enum function f, size_t n)
{
    if (!may(m, f)) {
        return MECHP_FMI2_ERROR;
    }
    return n == 0 ? MECHP_FMI2_OK
                  : as_2(mechfmu_say(m, MECHP_FMI3_ERROR, "%s: there is no such variable",
                                     mechp_fmi2_symbols[f].name));
}

static void write_log(const struct mechfmu *m, enum mechp_fmi3_status status, const char *category,
                      const char *text)
{
    const struct mechp_fmi2_callbacks *callbacks;

    memcpy(&callbacks, m->log.importer, sizeof callbacks);
    callbacks->logger(m->log.environment, m->name ? m->name : "", as_2(status), category, "%s",
                      text);
}

/* --- life ------------------------------------------------------------------------------------- */

const char *fmi2GetTypesPlatform(void)
{
    return "default";
}

const char *fmi2GetVersion(void)
{
    return "2.0";
}

enum mechp_fmi2_status fmi2SetDebugLogging(void *c, int on, size_t n,
                                           const char *const categories[])
{
    return may(c, F_SetDebugLogging) ? as_2(mechfmu_choose(c, on != 0, n, categories))
                                     : MECHP_FMI2_ERROR;
}

static int digit(char c)
{
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
}

/* The path of a URI of scheme file without a foreign host (RFC 8089), malloc'd; NULL: no such. */
static char *path_of(const char *uri)
{
    static const char *const heads[] = {"file://localhost/", "file:///", "file:/"};
    const char *from = NULL;

    for (size_t i = 0; uri && !from && i < sizeof heads / sizeof *heads; i++) {
        const size_t n = strlen(heads[i]);

        from = strncmp(uri, heads[i], n) == 0 ? uri + n - 1 : NULL;
    }
    char *const path = from ? malloc(strlen(from) + 1) : NULL;
    char *to = path;
    while (path && *from) {
        if (*from == '%' && digit(from[1]) >= 0 && digit(from[2]) >= 0) {
            *to = (char)(16 * digit(from[1]) + digit(from[2]));
            if (*to++ == '\0') {
                free(path);
                return NULL;
            }
            from += 3;
        } else {
            *to++ = *from++;
        }
    }
    if (path) {
        *to = '\0';
#ifdef _WIN32
        /* "/C:/folder" */
        if (path[0] && path[1] && path[2] == ':') {
            memmove(path, path + 1, strlen(path));
        }
#endif
    }
    return path;
}

void *fmi2Instantiate(const char *name, enum mechp_fmi2_kind kind, const char *guid,
                      const char *resources, const struct mechp_fmi2_callbacks *callbacks,
                      int visible, int logging)
{
    const bool may_log = callbacks && callbacks->logger;
    struct mechfmu_log to = {.write = may_log ? write_log : NULL,
                             .environment = callbacks ? callbacks->environment : NULL,
                             .on = logging != 0};
    struct mechfmu *m = NULL;
    char *const path = kind == MECHP_FMI2_CO_SIMULATION ? path_of(resources) : NULL;

    memcpy(to.importer, &callbacks, sizeof callbacks);
    if (!path) {
        if (may_log) {
            callbacks->logger(callbacks->environment, name ? name : "", MECHP_FMI2_ERROR,
                              "logStatusError", "%s",
                              kind == MECHP_FMI2_CO_SIMULATION
                                  ? "the location of the resources is not the URI of a file"
                                  : "this FMU is for co-simulation only");
        }
        return NULL;
    }
    const int code = mechfmu_create(MECHP_FMI_2, name, guid, path, &to, &m);
    free(path);
    if (code) {
        return NULL;
    }
    m->starting = MECHP_FMI2_INSTANTIATED | MECHP_FMI2_INITIALIZATION;
    m->reached = m->starting | MECHP_FMI2_STEP_COMPLETE | MECHP_FMI2_STEP_FAILED |
                 MECHP_FMI2_TERMINATED_STATE;
    m->broken = MECHP_FMI2_ERROR_STATE;
    m->state = MECHP_FMI2_INSTANTIATED;
    return m;
}

void fmi2FreeInstance(void *c)
{
    mechfmu_destroy(c);
}

enum mechp_fmi2_status fmi2SetupExperiment(void *c, int has_tolerance, double tolerance,
                                           double start, int has_stop, double stop)
{
    return may(c, F_SetupExperiment) ? as_2(mechfmu_start(c, start, has_stop != 0, stop))
                                     : MECHP_FMI2_ERROR;
}

enum mechp_fmi2_status fmi2EnterInitializationMode(void *c)
{
    struct mechfmu *const m = c;

    if (!may(m, F_EnterInitializationMode)) {
        return MECHP_FMI2_ERROR;
    }
    const enum mechp_fmi3_status status = mechfmu_enter(m);
    m->state = status == MECHP_FMI3_OK ? MECHP_FMI2_INITIALIZATION : m->state;
    return as_2(status);
}

enum mechp_fmi2_status fmi2ExitInitializationMode(void *c)
{
    struct mechfmu *const m = c;

    if (!may(m, F_ExitInitializationMode)) {
        return MECHP_FMI2_ERROR;
    }
    m->state = MECHP_FMI2_STEP_COMPLETE;
    return MECHP_FMI2_OK;
}

enum mechp_fmi2_status fmi2Terminate(void *c)
{
    struct mechfmu *const m = c;

    if (!may(m, F_Terminate)) {
        return MECHP_FMI2_ERROR;
    }
    m->state = MECHP_FMI2_TERMINATED_STATE;
    return MECHP_FMI2_OK;
}

enum mechp_fmi2_status fmi2Reset(void *c)
{
    struct mechfmu *const m = c;

    if (!may(m, F_Reset)) {
        return MECHP_FMI2_ERROR;
    }
    const enum mechp_fmi3_status status = mechfmu_reset(m);
    m->state = status == MECHP_FMI3_OK ? MECHP_FMI2_INSTANTIATED : m->state;
    return as_2(status);
}

/* --- variables -------------------------------------------------------------------------------- */

enum mechp_fmi2_status fmi2GetReal(void *c, const unsigned vr[], size_t n, double values[])
{
    return may(c, F_GetReal) ? as_2(mechfmu_get(c, vr, n, values, n)) : MECHP_FMI2_ERROR;
}

enum mechp_fmi2_status fmi2SetReal(void *c, const unsigned vr[], size_t n, const double values[])
{
    return may(c, F_SetReal) ? as_2(mechfmu_set(c, vr, n, values, n)) : MECHP_FMI2_ERROR;
}

enum mechp_fmi2_status fmi2GetInteger(void *c, const unsigned vr[], size_t n, int values[])
{
    return none(c, F_GetInteger, n);
}

enum mechp_fmi2_status fmi2GetBoolean(void *c, const unsigned vr[], size_t n, int values[])
{
    return none(c, F_GetBoolean, n);
}

enum mechp_fmi2_status fmi2GetString(void *c, const unsigned vr[], size_t n, const char *values[])
{
    return may(c, F_GetString) ? as_2(mechfmu_get_texts(c, vr, n, values)) : MECHP_FMI2_ERROR;
}

enum mechp_fmi2_status fmi2SetInteger(void *c, const unsigned vr[], size_t n, const int values[])
{
    return none(c, F_SetInteger, n);
}

enum mechp_fmi2_status fmi2SetBoolean(void *c, const unsigned vr[], size_t n, const int values[])
{
    return none(c, F_SetBoolean, n);
}

enum mechp_fmi2_status fmi2SetString(void *c, const unsigned vr[], size_t n,
                                     const char *const values[])
{
    return may(c, F_SetString) ? as_2(mechfmu_set_texts(c, vr, n, values)) : MECHP_FMI2_ERROR;
}

enum mechp_fmi2_status fmi2SetRealInputDerivatives(void *c, const unsigned vr[], size_t n,
                                                   const int orders[], const double values[])
{
    return may(c, F_SetRealInputDerivatives) ? as_2(mechfmu_set_rates(c, vr, n, orders, values))
                                             : MECHP_FMI2_ERROR;
}

enum mechp_fmi2_status fmi2GetRealOutputDerivatives(void *c, const unsigned vr[], size_t n,
                                                    const int orders[], double values[])
{
    return may(c, F_GetRealOutputDerivatives)
               ? as_2(mechfmu_output_rates(c, vr, n, orders, values, n))
               : MECHP_FMI2_ERROR;
}

enum mechp_fmi2_status fmi2GetDirectionalDerivative(void *c, const unsigned unknown[],
                                                    size_t n_unknown, const unsigned known[],
                                                    size_t n_known, const double seed[],
                                                    double out[])
{
    const struct mechfmu_slope q = {unknown, known, n_unknown, n_known, seed,
                                    n_known, out,   n_unknown, false};

    return may(c, F_GetDirectionalDerivative) ? as_2(mechfmu_slope(c, &q)) : MECHP_FMI2_ERROR;
}

/* --- states ----------------------------------------------------------------------------------- */

enum mechp_fmi2_status fmi2GetFMUstate(void *c, void **state)
{
    return may(c, F_GetFMUstate) ? as_2(mechfmu_save(c, state)) : MECHP_FMI2_ERROR;
}

enum mechp_fmi2_status fmi2SetFMUstate(void *c, void *state)
{
    return may(c, F_SetFMUstate) ? as_2(mechfmu_restore(c, state)) : MECHP_FMI2_ERROR;
}

enum mechp_fmi2_status fmi2FreeFMUstate(void *c, void **state)
{
    if (!may(c, F_FreeFMUstate)) {
        return MECHP_FMI2_ERROR;
    }
    if (state) {
        mechfmu_forget(state);
    }
    return MECHP_FMI2_OK;
}

enum mechp_fmi2_status fmi2SerializedFMUstateSize(void *c, void *state, size_t *size)
{
    return may(c, F_SerializedFMUstateSize) ? as_2(mechfmu_bytes_size(c, state, size))
                                            : MECHP_FMI2_ERROR;
}

enum mechp_fmi2_status fmi2SerializeFMUstate(void *c, void *state, char bytes[], size_t size)
{
    return may(c, F_SerializeFMUstate) ? as_2(mechfmu_to_bytes(c, state, bytes, size))
                                       : MECHP_FMI2_ERROR;
}

enum mechp_fmi2_status fmi2DeSerializeFMUstate(void *c, const char bytes[], size_t size,
                                               void **state)
{
    return may(c, F_DeSerializeFMUstate) ? as_2(mechfmu_from_bytes(c, bytes, size, state))
                                         : MECHP_FMI2_ERROR;
}

/* --- steps ------------------------------------------------------------------------------------ */

enum mechp_fmi2_status fmi2DoStep(void *c, double time, double size, int no_set_before)
{
    struct mechfmu *const m = c;
    bool early;

    if (!may(m, F_DoStep)) {
        return MECHP_FMI2_ERROR;
    }
    const enum mechp_fmi3_status status = mechfmu_step(m, time, size, &early);
    m->state = status == MECHP_FMI3_DISCARD ? MECHP_FMI2_STEP_FAILED : m->state;
    return as_2(status);
}

enum mechp_fmi2_status fmi2CancelStep(void *c)
{
    return may(c, F_CancelStep) ? MECHP_FMI2_OK : MECHP_FMI2_ERROR;
}

/* Of questions about a step that works on in the background: there is none. */
static enum mechp_fmi2_status not_pending(const struct mechfmu *m, enum function f)
{
    return may(m, f) ? as_2(mechfmu_say(m, MECHP_FMI3_DISCARD, "%s: no step is in progress",
                                        mechp_fmi2_symbols[f].name))
                     : MECHP_FMI2_ERROR;
}

enum mechp_fmi2_status fmi2GetStatus(void *c, enum mechp_fmi2_status_kind kind,
                                     enum mechp_fmi2_status *value)
{
    return not_pending(c, F_GetStatus);
}

enum mechp_fmi2_status fmi2GetRealStatus(void *c, enum mechp_fmi2_status_kind kind, double *value)
{
    const struct mechfmu *const m = c;

    if (kind != MECHP_FMI2_LAST_SUCCESSFUL_TIME || !may(m, F_GetRealStatus)) {
        return not_pending(m, F_GetRealStatus);
    }
    *value = mechfmu_time(m);
    return MECHP_FMI2_OK;
}

enum mechp_fmi2_status fmi2GetIntegerStatus(void *c, enum mechp_fmi2_status_kind kind, int *value)
{
    return not_pending(c, F_GetIntegerStatus);
}

enum mechp_fmi2_status fmi2GetBooleanStatus(void *c, enum mechp_fmi2_status_kind kind, int *value)
{
    if (kind != MECHP_FMI2_TERMINATED || !may(c, F_GetBooleanStatus)) {
        return not_pending(c, F_GetBooleanStatus);
    }
    *value = 0;
    return MECHP_FMI2_OK;
}

enum mechp_fmi2_status fmi2GetStringStatus(void *c, enum mechp_fmi2_status_kind kind,
                                           const char **value)
{
    return not_pending(c, F_GetStringStatus);
}
