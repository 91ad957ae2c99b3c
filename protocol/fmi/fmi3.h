/* The binary interface of FMI 3.0 (Functional Mock-up Interface 3.0.2, sections 2.2, 2.3 and 4.2):
 * what a shared library of an FMU exports and what an importer calls. The names that begin with
 * fmi3, the order of arguments and the values of enumerations are the standard's; the types are
 * plain C:
 *
 *     fmi3Float64 double, fmi3Float32 float, fmi3Int8 int8_t, … · fmi3Boolean, fmi3Clock bool
 *     fmi3String const char * · fmi3Binary const uint8_t * · fmi3Byte uint8_t
 *     fmi3ValueReference uint32_t · fmi3Instance, fmi3FMUState, fmi3InstanceEnvironment void *
 *
 * The functions are listed in fmi3.def, each with the states in which co-simulation may call it.
 * An exporter declares them by MECHP_FMI3 with the prefix fmi3; an importer uses struct mechp_fmi3
 * and fills it by name with mechp_fmi3_symbols (symbols.h).
 * Source: FMI 3.0.2, specification of the Modelica Association.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum mechp_fmi3_status {
    MECHP_FMI3_OK = 0,
    MECHP_FMI3_WARNING = 1, /* done, with a remark in the log */
    MECHP_FMI3_DISCARD = 2, /* not done, the instance is as before */
    MECHP_FMI3_ERROR = 3,   /* this instance is lost until reset, set to a saved state or freed */
    MECHP_FMI3_FATAL = 4    /* all instances of the FMU are lost; nothing may be called */
};

enum mechp_fmi3_dependency {
    MECHP_FMI3_INDEPENDENT = 0,
    MECHP_FMI3_CONSTANT = 1,
    MECHP_FMI3_FIXED = 2,     /* the factor is constant after initialization */
    MECHP_FMI3_TUNABLE = 3,   /* the same until a tunable parameter changes */
    MECHP_FMI3_AT_EVENTS = 4, /* discrete: constant between events */
    MECHP_FMI3_DEPENDENT = 5  /* nonlinear, or nothing is known */
};

enum mechp_fmi3_interval {
    MECHP_FMI3_NOT_YET_KNOWN = 0,
    MECHP_FMI3_UNCHANGED = 1,
    MECHP_FMI3_CHANGED = 2
};

/* States of an instance for co-simulation, as bits: fmi3.def has a set of them for each function
 * (sections 2.3 and 4.2). "Not there" is the state before Instantiate… and after FreeInstance. */
enum mechp_fmi3_state {
    MECHP_FMI3_NOT_THERE = 1,
    MECHP_FMI3_INSTANTIATED = 2,
    MECHP_FMI3_CONFIGURATION = 4,  /* structural parameters are set */
    MECHP_FMI3_INITIALIZATION = 8, /* between EnterInitializationMode and its exit */
    MECHP_FMI3_EVENT_MODE = 16,
    MECHP_FMI3_STEP_MODE = 32,
    MECHP_FMI3_INTERMEDIATE = 64, /* within the importer's intermediate update */
    MECHP_FMI3_RECONFIGURATION = 128,
    MECHP_FMI3_TERMINATED = 256,
    MECHP_FMI3_ERROR_STATE = 512,
    MECHP_FMI3_FATAL_STATE = 1024,

    /* sets that several functions share */
    MECHP_FMI3_ALWAYS = 2047,
    /* there, and not within a call */
    MECHP_FMI3_AT_REST = 2 | 4 | 8 | 16 | 32 | 128 | 256 | 512,
    /* before the initialization: starts, or what has been set */
    MECHP_FMI3_HAS_VALUES = 2 | 8 | 16 | 32 | 64 | 256,
    MECHP_FMI3_HAS_SLOPES = 8 | 16 | 32 | 256,
    /* some variables can be set, which of them depends on causality and variability */
    MECHP_FMI3_SETS = 2 | 4 | 8 | 16 | 32 | 64 | 128,
    MECHP_FMI3_INITIALIZED = 16 | 32,
    MECHP_FMI3_DISCRETE = 8 | 16,
    MECHP_FMI3_AFTER_STEP = 32 | 64 | 256
};

/* Of the importer; `environment` is handed back as it came. The message is text, no format. */
typedef void mechp_fmi3_log(void *environment, enum mechp_fmi3_status status, const char *category,
                            const char *message);

/* Called within a step at an intermediate time, s; the importer writes *early and *early_time when
 * it wants the step to end there or later, and may_return allows it. */
typedef void mechp_fmi3_intermediate(void *environment, double time, bool wants_set, bool may_get,
                                     bool step_finished, bool may_return, bool *early,
                                     double *early_time);

/* The functions of one FMU, as an importer has them; NULL: the library does not export it. */
struct mechp_fmi3 {
#define MECHP_FMI3(group, states, type, name, arguments) type(*name) arguments;
#include "protocol/fmi/fmi3.def"
#undef MECHP_FMI3
};
