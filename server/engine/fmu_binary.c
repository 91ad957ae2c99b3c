/* Loading, life and steps; values are in fmu_values.c. Event mode and early return of 3.0 are not
 * asked for, so that an FMU handles its events within DoStep. */
#include "server/engine/fmu_binary.h"
#include "solver/base/diag.h"
#include "solver/base/times.h"

#include <dlfcn.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* statuses of both versions up to fatal have the same numbers */
enum { OK = MECHP_FMI3_OK, WARNING = MECHP_FMI3_WARNING };

int mechd_binary_fault(struct mechd_binary *b, int failure, int status, const char *text)
{
    b->status = status;
    mech_text_copy(b->fault, sizeof b->fault, text);
    return failure;
}

int mechd_binary_judge(struct mechd_binary *b, int status, const char *function)
{
    return status == OK || status == WARNING
               ? 0
               : mechd_binary_fault(b, MECHD_FMU_REFUSED, status, function);
}

/* Whether the function of that place is there: `have` is a pointer in two or three. */
#define NEED(b, have, name)                                                                        \
    do {                                                                                           \
        if ((have) == NULL) {                                                                      \
            return mechd_binary_fault((b), MECHD_FMU_LACKS, 0, (name));                            \
        }                                                                                          \
    } while (0)

static void look_up(struct mechd_binary *b)
{
    const bool two = b->version == MECHD_FMI_2;
    char *const base = two ? (char *)&b->two : (char *)&b->three;
    for (const struct mechp_fmi_symbol *s = two ? mechp_fmi2_symbols : mechp_fmi3_symbols;
         s->name != NULL; s++) {
        void *const f = dlsym(b->library, s->name);
        memcpy(base + s->offset, &f, sizeof f);
    }
}

__attribute__((format(printf, 5, 6))) static void log_two(void *context, const char *name,
                                                          enum mechp_fmi2_status status,
                                                          const char *category, const char *message,
                                                          ...)
{
    const struct mechd_binary *const b = context;
    char text[MECHD_FMU_LOG_MOST] = "";
    va_list list;
    (void)name;
    va_start(list, message);
    if (message != NULL) {
        (void)vsnprintf(text, sizeof text, message, list);
    }
    va_end(list);
    b->log(b->log_context, (int)status, category != NULL ? category : "", text);
}

static void log_three(void *context, enum mechp_fmi3_status status, const char *category,
                      const char *message)
{
    const struct mechd_binary *const b = context;
    b->log(b->log_context, (int)status, category != NULL ? category : "",
           message != NULL ? message : "");
}

static int instantiate_two(struct mechd_binary *b, const char *name, const char *token,
                           const char *folder, bool logging)
{
    char resources[1024];
    NEED(b, b->two.Instantiate, "fmi2Instantiate");
    b->callbacks = (struct mechp_fmi2_callbacks){
        .logger = log_two, .allocate = calloc, .release = free, .environment = b};
    (void)snprintf(resources, sizeof resources, "file://%s/resources", folder);
    b->component = b->two.Instantiate(name, MECHP_FMI2_CO_SIMULATION, token, resources,
                                      &b->callbacks, 0, logging ? 1 : 0);
    return 0;
}

static int instantiate_three(struct mechd_binary *b, const char *name, const char *token,
                             const char *folder, bool logging)
{
    char resources[1024];
    NEED(b, b->three.InstantiateCoSimulation, "fmi3InstantiateCoSimulation");
    (void)snprintf(resources, sizeof resources, "%s/resources/", folder);
    b->component = b->three.InstantiateCoSimulation(name, token, resources, false, logging, false,
                                                    false, NULL, 0, b, log_three, NULL);
    return 0;
}

int mechd_binary_open(struct mechd_binary *b, const char *path, const char *name, const char *token,
                      const char *folder, bool logging)
{
    b->library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (b->library == NULL) {
        const char *const why = dlerror();
        return mechd_binary_fault(b, MECHD_FMU_NOT_LOADED, 0, why != NULL ? why : "");
    }
    look_up(b);
    const int rc = b->version == MECHD_FMI_2 ? instantiate_two(b, name, token, folder, logging)
                                             : instantiate_three(b, name, token, folder, logging);
    if (rc == 0 && b->component == NULL) {
        return mechd_binary_fault(b, MECHD_FMU_NOT_LOADED, 0, "it makes no instance");
    }
    return rc;
}

void mechd_binary_close(struct mechd_binary *b)
{
    if (b->component != NULL && b->two.FreeInstance != NULL) {
        b->two.FreeInstance(b->component);
    }
    if (b->component != NULL && b->three.FreeInstance != NULL) {
        b->three.FreeInstance(b->component);
    }
    b->component = NULL;
}

int mechd_binary_enter(struct mechd_binary *b, double tolerance, double start, double stop)
{
    void *const c = b->component;
    const bool tolerated = !isnan(tolerance), stops = !isnan(stop);
    const double from = isnan(start) ? 0. : start;
    if (b->version == MECHD_FMI_3) {
        NEED(b, b->three.EnterInitializationMode, "fmi3EnterInitializationMode");
        return mechd_binary_judge(
            b,
            (int)b->three.EnterInitializationMode(c, tolerated, tolerated ? tolerance : 0., from,
                                                  stops, stops ? stop : 0.),
            "fmi3EnterInitializationMode");
    }
    NEED(b, b->two.SetupExperiment, "fmi2SetupExperiment");
    NEED(b, b->two.EnterInitializationMode, "fmi2EnterInitializationMode");
    const int rc =
        mechd_binary_judge(b,
                           (int)b->two.SetupExperiment(c, tolerated, tolerated ? tolerance : 0.,
                                                       from, stops, stops ? stop : 0.),
                           "fmi2SetupExperiment");
    return rc != 0 ? rc
                   : mechd_binary_judge(b, (int)b->two.EnterInitializationMode(c),
                                        "fmi2EnterInitializationMode");
}

int mechd_binary_exit(struct mechd_binary *b)
{
    if (b->version == MECHD_FMI_3) {
        NEED(b, b->three.ExitInitializationMode, "fmi3ExitInitializationMode");
        return mechd_binary_judge(b, (int)b->three.ExitInitializationMode(b->component),
                                  "fmi3ExitInitializationMode");
    }
    NEED(b, b->two.ExitInitializationMode, "fmi2ExitInitializationMode");
    return mechd_binary_judge(b, (int)b->two.ExitInitializationMode(b->component),
                              "fmi2ExitInitializationMode");
}

int mechd_binary_reset(struct mechd_binary *b)
{
    if (b->version == MECHD_FMI_3) {
        NEED(b, b->three.Reset, "fmi3Reset");
        return mechd_binary_judge(b, (int)b->three.Reset(b->component), "fmi3Reset");
    }
    NEED(b, b->two.Reset, "fmi2Reset");
    return mechd_binary_judge(b, (int)b->two.Reset(b->component), "fmi2Reset");
}

/* 2.0 reports by a discarded step that the FMU wants to end, and how far it came. */
static int step_two(struct mechd_binary *b, double time, double size, struct mechd_binary_step *out)
{
    NEED(b, b->two.DoStep, "fmi2DoStep");
    const int status = (int)b->two.DoStep(b->component, time, size, 0);
    *out = (struct mechd_binary_step){time + size, false};
    if (status == MECHP_FMI2_DISCARD && b->two.GetBooleanStatus != NULL &&
        b->two.GetRealStatus != NULL) {
        int terminated = 0;
        double reached = NAN;
        if (b->two.GetBooleanStatus(b->component, MECHP_FMI2_TERMINATED, &terminated) <=
                MECHP_FMI2_WARNING &&
            terminated != 0 &&
            b->two.GetRealStatus(b->component, MECHP_FMI2_LAST_SUCCESSFUL_TIME, &reached) <=
                MECHP_FMI2_WARNING &&
            reached >= time && !mech_time_before(time + size, reached, size)) {
            *out = (struct mechd_binary_step){reached, true};
            return 0;
        }
    }
    return mechd_binary_judge(b, status, "fmi2DoStep");
}

int mechd_binary_step(struct mechd_binary *b, double time, double size,
                      struct mechd_binary_step *out)
{
    if (b->version == MECHD_FMI_2) {
        return step_two(b, time, size, out);
    }
    bool event = false, terminate = false, early = false;
    double reached = time + size;
    NEED(b, b->three.DoStep, "fmi3DoStep");
    const int status =
        (int)b->three.DoStep(b->component, time, size, false, &event, &terminate, &early, &reached);
    // an FMU that was not asked to return early is at the end, whatever it writes
    *out = (struct mechd_binary_step){early || terminate ? reached : time + size, terminate};
    return mechd_binary_judge(b, status, "fmi3DoStep");
}

/* --- states ----------------------------------------------------------------------------------- */

static int save_two(struct mechd_binary *b, void *state, char **bytes, size_t *size)
{
    NEED(b, b->two.SerializedFMUstateSize, "fmi2SerializedFMUstateSize");
    NEED(b, b->two.SerializeFMUstate, "fmi2SerializeFMUstate");
    int status = (int)b->two.SerializedFMUstateSize(b->component, state, size);
    *bytes = status <= WARNING ? malloc(*size + 1) : NULL;
    if (*bytes != NULL) {
        status = (int)b->two.SerializeFMUstate(b->component, state, *bytes, *size);
    }
    return *bytes == NULL && status <= WARNING
               ? mechd_binary_fault(b, MECHD_FMU_REFUSED, status, "no memory for a state")
               : mechd_binary_judge(b, status, "fmi2SerializeFMUstate");
}

static int save_three(struct mechd_binary *b, void *state, char **bytes, size_t *size)
{
    NEED(b, b->three.SerializedFMUStateSize, "fmi3SerializedFMUStateSize");
    NEED(b, b->three.SerializeFMUState, "fmi3SerializeFMUState");
    int status = (int)b->three.SerializedFMUStateSize(b->component, state, size);
    *bytes = status <= WARNING ? malloc(*size + 1) : NULL;
    if (*bytes != NULL) {
        status = (int)b->three.SerializeFMUState(b->component, state, (uint8_t *)*bytes, *size);
    }
    return *bytes == NULL && status <= WARNING
               ? mechd_binary_fault(b, MECHD_FMU_REFUSED, status, "no memory for a state")
               : mechd_binary_judge(b, status, "fmi3SerializeFMUState");
}

int mechd_binary_save(struct mechd_binary *b, char **bytes, size_t *size)
{
    void *state = NULL;
    int rc;
    *bytes = NULL;
    *size = 0;
    if (b->version == MECHD_FMI_2) {
        NEED(b, b->two.GetFMUstate, "fmi2GetFMUstate");
        NEED(b, b->two.FreeFMUstate, "fmi2FreeFMUstate");
        rc =
            mechd_binary_judge(b, (int)b->two.GetFMUstate(b->component, &state), "fmi2GetFMUstate");
        rc = rc == 0 ? save_two(b, state, bytes, size) : rc;
        (void)(state != NULL && b->two.FreeFMUstate(b->component, &state));
    } else {
        NEED(b, b->three.GetFMUState, "fmi3GetFMUState");
        NEED(b, b->three.FreeFMUState, "fmi3FreeFMUState");
        rc = mechd_binary_judge(b, (int)b->three.GetFMUState(b->component, &state),
                                "fmi3GetFMUState");
        rc = rc == 0 ? save_three(b, state, bytes, size) : rc;
        (void)(state != NULL && b->three.FreeFMUState(b->component, &state));
    }
    if (rc != 0) {
        free(*bytes);
        *bytes = NULL;
    }
    return rc;
}

int mechd_binary_restore(struct mechd_binary *b, const char *bytes, size_t size)
{
    void *state = NULL;
    int rc;
    if (b->version == MECHD_FMI_2) {
        NEED(b, b->two.DeSerializeFMUstate, "fmi2DeSerializeFMUstate");
        NEED(b, b->two.SetFMUstate, "fmi2SetFMUstate");
        NEED(b, b->two.FreeFMUstate, "fmi2FreeFMUstate");
        rc = mechd_binary_judge(b,
                                (int)b->two.DeSerializeFMUstate(b->component, bytes, size, &state),
                                "fmi2DeSerializeFMUstate");
        rc = rc == 0 ? mechd_binary_judge(b, (int)b->two.SetFMUstate(b->component, state),
                                          "fmi2SetFMUstate")
                     : rc;
        (void)(state != NULL && b->two.FreeFMUstate(b->component, &state));
        return rc;
    }
    NEED(b, b->three.DeserializeFMUState, "fmi3DeserializeFMUState");
    NEED(b, b->three.SetFMUState, "fmi3SetFMUState");
    NEED(b, b->three.FreeFMUState, "fmi3FreeFMUState");
    rc = mechd_binary_judge(
        b, (int)b->three.DeserializeFMUState(b->component, (const uint8_t *)bytes, size, &state),
        "fmi3DeserializeFMUState");
    rc = rc == 0 ? mechd_binary_judge(b, (int)b->three.SetFMUState(b->component, state),
                                      "fmi3SetFMUState")
                 : rc;
    (void)(state != NULL && b->three.FreeFMUState(b->component, &state));
    return rc;
}
