/* Loading, life and states; steps are in fmu_steps.c, values in fmu_values.c. */
#include "server/engine/fmu_binary.h"
#include "solver/base/diag.h"

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
    MECHD_BINARY_NEED(b, b->two.Instantiate, "fmi2Instantiate");
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
    MECHD_BINARY_NEED(b, b->three.InstantiateCoSimulation, "fmi3InstantiateCoSimulation");
    (void)snprintf(resources, sizeof resources, "%s/resources/", folder);
    // where it returns early the rest of the step has another size
    const bool varies = (b->can & MECHD_FMU_VARIABLE_STEP) != 0;
    const bool returns = varies && (b->can & MECHD_FMU_RETURNS) != 0;
    b->events = (b->can & MECHD_FMU_EVENTS) != 0;
    b->early = returns || (varies && (b->can & MECHD_FMU_EARLY_RETURN) != 0);
    b->component = b->three.InstantiateCoSimulation(
        name, token, resources, false, logging, b->events, b->early, b->required, b->required_count,
        b, log_three, returns || b->required_count > 0 ? mechd_binary_update : NULL);
    return 0;
}

int mechd_binary_open(struct mechd_binary *b, const char *path, const char *name, const char *token,
                      const char *folder, bool logging)
{
    b->next_event = NAN;
    b->library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (b->library == NULL) {
        const char *const why = dlerror();
        return mechd_binary_fault(b, MECHD_FMU_NOT_LOADED, 0, why != NULL ? why : "");
    }
    look_up(b);
    const int rc = b->version == MECHD_FMI_2 ? instantiate_two(b, name, token, folder, logging)
                                             : instantiate_three(b, name, token, folder, logging);
    if (rc == 0 && b->component == NULL) {
        return mechd_binary_fault(b, MECHD_FMU_NOT_LOADED, 0, "it cannot be instantiated");
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
    b->start = from;
    if (b->version == MECHD_FMI_3) {
        MECHD_BINARY_NEED(b, b->three.EnterInitializationMode, "fmi3EnterInitializationMode");
        return mechd_binary_judge(
            b,
            (int)b->three.EnterInitializationMode(c, tolerated, tolerated ? tolerance : 0., from,
                                                  stops, stops ? stop : 0.),
            "fmi3EnterInitializationMode");
    }
    MECHD_BINARY_NEED(b, b->two.SetupExperiment, "fmi2SetupExperiment");
    MECHD_BINARY_NEED(b, b->two.EnterInitializationMode, "fmi2EnterInitializationMode");
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
        MECHD_BINARY_NEED(b, b->three.ExitInitializationMode, "fmi3ExitInitializationMode");
        const int rc = mechd_binary_judge(b, (int)b->three.ExitInitializationMode(b->component),
                                          "fmi3ExitInitializationMode");
        return rc == 0 && b->events ? mechd_binary_leave_event(b) : rc;
    }
    MECHD_BINARY_NEED(b, b->two.ExitInitializationMode, "fmi2ExitInitializationMode");
    return mechd_binary_judge(b, (int)b->two.ExitInitializationMode(b->component),
                              "fmi2ExitInitializationMode");
}

int mechd_binary_reset(struct mechd_binary *b)
{
    b->ends = false;
    if (b->version == MECHD_FMI_3) {
        MECHD_BINARY_NEED(b, b->three.Reset, "fmi3Reset");
        return mechd_binary_judge(b, (int)b->three.Reset(b->component), "fmi3Reset");
    }
    MECHD_BINARY_NEED(b, b->two.Reset, "fmi2Reset");
    return mechd_binary_judge(b, (int)b->two.Reset(b->component), "fmi2Reset");
}

/* --- states ----------------------------------------------------------------------------------- */

static int save_two(struct mechd_binary *b, void *state, char **bytes, size_t *size)
{
    MECHD_BINARY_NEED(b, b->two.SerializedFMUstateSize, "fmi2SerializedFMUstateSize");
    MECHD_BINARY_NEED(b, b->two.SerializeFMUstate, "fmi2SerializeFMUstate");
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
    MECHD_BINARY_NEED(b, b->three.SerializedFMUStateSize, "fmi3SerializedFMUStateSize");
    MECHD_BINARY_NEED(b, b->three.SerializeFMUState, "fmi3SerializeFMUState");
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
        MECHD_BINARY_NEED(b, b->two.GetFMUstate, "fmi2GetFMUstate");
        MECHD_BINARY_NEED(b, b->two.FreeFMUstate, "fmi2FreeFMUstate");
        rc =
            mechd_binary_judge(b, (int)b->two.GetFMUstate(b->component, &state), "fmi2GetFMUstate");
        rc = rc == 0 ? save_two(b, state, bytes, size) : rc;
        (void)(state != NULL && b->two.FreeFMUstate(b->component, &state));
    } else {
        MECHD_BINARY_NEED(b, b->three.GetFMUState, "fmi3GetFMUState");
        MECHD_BINARY_NEED(b, b->three.FreeFMUState, "fmi3FreeFMUState");
        rc = mechd_binary_judge(b, (int)b->three.GetFMUState(b->component, &state),
                                "fmi3GetFMUState");
        rc = rc == 0 ? save_three(b, state, bytes, size) : rc;
        (void)(state != NULL && b->three.FreeFMUState(b->component, &state));
    }
    if (rc == 0 && b->events) {
        // what the last event has foreseen is no part of the FMU's own state
        char *const longer = realloc(*bytes, *size + sizeof b->next_event);
        rc = longer != NULL ? 0
                            : mechd_binary_fault(b, MECHD_FMU_REFUSED, 0, "no memory for a state");
        *bytes = longer != NULL ? longer : *bytes;
    }
    if (rc == 0 && b->events) {
        memcpy(*bytes + *size, &b->next_event, sizeof b->next_event);
        *size += sizeof b->next_event;
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
    if (b->events && size < sizeof b->next_event) {
        return mechd_binary_fault(b, MECHD_FMU_NO_QUESTION, 0, "a state without its next event");
    }
    size -= b->events ? sizeof b->next_event : 0;
    if (b->version == MECHD_FMI_2) {
        MECHD_BINARY_NEED(b, b->two.DeSerializeFMUstate, "fmi2DeSerializeFMUstate");
        MECHD_BINARY_NEED(b, b->two.SetFMUstate, "fmi2SetFMUstate");
        MECHD_BINARY_NEED(b, b->two.FreeFMUstate, "fmi2FreeFMUstate");
        rc = mechd_binary_judge(b,
                                (int)b->two.DeSerializeFMUstate(b->component, bytes, size, &state),
                                "fmi2DeSerializeFMUstate");
        rc = rc == 0 ? mechd_binary_judge(b, (int)b->two.SetFMUstate(b->component, state),
                                          "fmi2SetFMUstate")
                     : rc;
        (void)(state != NULL && b->two.FreeFMUstate(b->component, &state));
        return rc;
    }
    MECHD_BINARY_NEED(b, b->three.DeserializeFMUState, "fmi3DeserializeFMUState");
    MECHD_BINARY_NEED(b, b->three.SetFMUState, "fmi3SetFMUState");
    MECHD_BINARY_NEED(b, b->three.FreeFMUState, "fmi3FreeFMUState");
    rc = mechd_binary_judge(
        b, (int)b->three.DeserializeFMUState(b->component, (const uint8_t *)bytes, size, &state),
        "fmi3DeserializeFMUState");
    rc = rc == 0 ? mechd_binary_judge(b, (int)b->three.SetFMUState(b->component, state),
                                      "fmi3SetFMUState")
                 : rc;
    (void)(state != NULL && b->three.FreeFMUState(b->component, &state));
    if (rc == 0 && b->events) {
        memcpy(&b->next_event, bytes + size, sizeof b->next_event);
    }
    b->ends = b->ends && rc != 0;
    return rc;
}
