/* The binary interface of FMI 2.0 (Functional Mock-up Interface 2.0.5, sections 2.1 and 4.2): what
 * a shared library of an FMU exports and what an importer calls. The names that begin with fmi2,
 * the order of arguments and the values of enumerations are the standard's; the types are plain C:
 *
 *     fmi2Real double · fmi2Integer, fmi2Boolean int (0 or 1) · fmi2String const char *
 *     fmi2ValueReference unsigned · fmi2Byte char · fmi2Component, fmi2FMUstate void *
 *
 * The functions are listed in fmi2.def, each with the states in which co-simulation may call it.
 * An exporter declares them by MECHP_FMI2 with the prefix fmi2; an importer uses struct mechp_fmi2
 * and fills it by name with mechp_fmi2_symbols (symbols.h).
 * Source: FMI 2.0.5, specification of the Modelica Association.
 */
#pragma once

#include <stddef.h>

enum mechp_fmi2_status {
    MECHP_FMI2_OK = 0,
    MECHP_FMI2_WARNING = 1, /* done, with a remark in the log */
    MECHP_FMI2_DISCARD = 2, /* not done: try another step size, or take the values as unknown */
    MECHP_FMI2_ERROR = 3,   /* this component is lost until reset, set to a saved state or freed */
    MECHP_FMI2_FATAL = 4,   /* all components of the FMU are lost; nothing may be called */
    MECHP_FMI2_PENDING = 5  /* DoStep works on in the background */
};

enum mechp_fmi2_kind { MECHP_FMI2_MODEL_EXCHANGE = 0, MECHP_FMI2_CO_SIMULATION = 1 };

/* What GetStatus, GetRealStatus, … are asked for. */
enum mechp_fmi2_status_kind {
    MECHP_FMI2_DO_STEP_STATUS = 0,       /* a status */
    MECHP_FMI2_PENDING_STATUS = 1,       /* a string */
    MECHP_FMI2_LAST_SUCCESSFUL_TIME = 2, /* a real, s */
    MECHP_FMI2_TERMINATED = 3            /* a boolean: the component wants the end */
};

/* States of a component for co-simulation, as bits: fmi2.def has a set of them for each function
 * (section 4.2.4). "Not there" is the state before Instantiate and after FreeInstance. */
enum mechp_fmi2_state {
    MECHP_FMI2_NOT_THERE = 1,
    MECHP_FMI2_INSTANTIATED = 2,
    MECHP_FMI2_INITIALIZATION = 4, /* between EnterInitializationMode and its exit */
    MECHP_FMI2_STEP_COMPLETE = 8,
    MECHP_FMI2_STEP_IN_PROGRESS = 16,
    MECHP_FMI2_STEP_FAILED = 32,
    MECHP_FMI2_STEP_CANCELED = 64,
    MECHP_FMI2_TERMINATED_STATE = 128,
    MECHP_FMI2_ERROR_STATE = 256,
    MECHP_FMI2_FATAL_STATE = 512,

    /* sets that several functions share */
    MECHP_FMI2_ALWAYS = 511, /* but after a fatal error */
    /* there, at rest, with values */
    MECHP_FMI2_HAS_VALUES = 4 | 8 | 32 | 64 | 128 | 256,
    MECHP_FMI2_AT_REST = 2 | MECHP_FMI2_HAS_VALUES,
    /* inputs and parameters can be set */
    MECHP_FMI2_SETS = 2 | 4 | 8,
    /* a step has been tried */
    MECHP_FMI2_AFTER_STEP = 8 | 32 | 64 | 128 | 256,
    MECHP_FMI2_ASKED_FOR_STATUS = 8 | 16 | 32 | 128
};

/* Functions of the importer; the struct and what it points to outlive the component. `environment`
 * is handed back as it came. logger: the message is a format of printf with its arguments; in it
 * "#r3#" stands for the name of the real variable 3. allocate: zeroed memory or NULL. */
struct mechp_fmi2_callbacks {
    void (*logger)(void *environment, const char *name, enum mechp_fmi2_status status,
                   const char *category, const char *message, ...);
    void *(*allocate)(size_t count, size_t size);
    void (*release)(void *memory);
    void (*step_finished)(void *environment, enum mechp_fmi2_status status); /* may be NULL */
    void *environment;
};

/* Of NewDiscreteStates (model exchange). */
struct mechp_fmi2_event_info {
    int new_discrete_states_needed;
    int terminate_simulation;
    int nominals_of_continuous_states_changed;
    int values_of_continuous_states_changed;
    int next_event_time_defined;
    double next_event_time; /* s */
};

/* The functions of one FMU, as an importer has them; NULL: the library does not export it. */
struct mechp_fmi2 {
#define MECHP_FMI2(group, states, type, name, arguments) type(*name) arguments;
#include "protocol/fmi/fmi2.def"
#undef MECHP_FMI2
};
