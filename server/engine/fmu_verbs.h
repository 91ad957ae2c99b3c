/* What the daemon asks of a process that hosts an FMU, and what that answers: one answer to each
 * question, and in front of it any number of log messages. Values of variables are elements in the
 * types of FMI 3.0, booleans one byte; those of 2.0 are converted in the process.
 *
 *     REQUIRE     before OPEN: u32 n, references of variables that courses or traces will be of
 *                 (3.0)
 *     OPEN        u32 version, u32 abilities (enum mechd_fmu_can), u32 MiB of memory (0: no limit),
 *                 u32 logging, texts: folder, identifier, token, name of the instance
 *     ENTER       f64 tolerance, start, stop (NaN: none): initialization begins
 *     EXIT        initialization is over
 *     SET         u32 type, n, size of an element, count of elements, n references, elements
 *     GET         u32 type, n, size of an element, count of elements, n references
 *     RATES       u32 n, count of elements, n references of outputs, after a step
 *     DERIVE      u32 n unknowns, their elements, n knowns, their elements; references of unknowns,
 *                 of knowns; f64 elements of a direction of the knowns
 *     ADJOIN      the same, with elements of a seed of the unknowns (3.0)
 *     COURSES     of inputs over the next step (fmu_course.h): u32 an FMU of 3.0 that asks
 *                 for none of them refuses the step, u32 n, each u32 reference, type,
 *                 elements, rows, they are samples; f64 start, rows of times of samples, rows ×
 *                 elements of values
 *     TRACE       of outputs over the next step (fmu_trace.h, 3.0): u32 room for so many rows,
 *                 u32 n, each u32 reference, type, elements
 *     STEP        f64 time, size
 *     WATCHED     a step whose events are wanted: as STEP, u32 it may end early
 *     EVENT       event mode begins (3.0, an FMU that has it)
 *     RESUME      and is over, after all updates of discrete states
 *     SAVE        RESTORE bytes      RESET
 *     RETURN      the step in progress ends early, as far as the FMU can (3.0): it has no answer of
 *                 its own, and comes to nothing when that step is over
 *     CLOSE       ends the process without an answer
 *
 *     DONE        GET: elements; DERIVE: f64 elements of the unknowns; ADJOIN: of the knowns;
 *                 RATES: f64 elements, of the first derivatives by time; STEP: f64 time reached,
 *                 u32 the FMU wants to end; WATCHED: the same, u32 an event has been, u32 number
 *                 of events, of which as many as there is room for follow, at most
 *                 MECHD_FMU_EVENTS_MOST: u32 kind, f64 since, time each; both, after TRACE: u32
 *                 number of rows, u32 of those that follow, of each f64 time, elements; SAVE: bytes
 *     FAILED      u32 enum mechd_fmu_failure, u32 status of FMI, text
 *     LOG         u32 status of FMI, texts: category, message */
#pragma once

#include "solver/base/times.h"
#include "solver/sim/mech.h"

#include <stdbool.h>

enum mechd_fmu_verb {
    MECHD_FMU_OPEN = 1,
    MECHD_FMU_ENTER,
    MECHD_FMU_EXIT,
    MECHD_FMU_SET,
    MECHD_FMU_GET,
    MECHD_FMU_STEP,
    MECHD_FMU_EVENT,
    MECHD_FMU_RESUME,
    MECHD_FMU_SAVE,
    MECHD_FMU_RESTORE,
    MECHD_FMU_RESET,
    MECHD_FMU_CLOSE,
    MECHD_FMU_DERIVE,
    MECHD_FMU_WATCHED,
    MECHD_FMU_REQUIRE,
    MECHD_FMU_COURSES,
    MECHD_FMU_RATES,
    MECHD_FMU_ADJOIN,
    MECHD_FMU_TRACE,
    MECHD_FMU_RETURN,

    MECHD_FMU_DONE = 100,
    MECHD_FMU_FAILED,
    MECHD_FMU_LOG
};

/* Category of messages that are the host's own, among those of the FMU. */
#define MECHD_FMU_HOST_CATEGORY "mechd"

enum mechd_fmu_failure {
    MECHD_FMU_REFUSED = 1, /* a status of FMI above warning; text: the function */
    MECHD_FMU_LACKS,       /* the library does not export what this needs; text: the name */
    MECHD_FMU_NOT_LOADED,  /* the library cannot be loaded, or makes no instance; text: why */
    MECHD_FMU_NOT_JAILED,  /* the process cannot be confined; text: why */
    MECHD_FMU_NO_QUESTION  /* the message is none of the above, or comes at the wrong time */
};

enum {
    MECHD_FMU_LOG_MOST = 1024,  /* bytes of a text of a log message */
    MECHD_FMU_EVENTS_MOST = 256 /* of one step that are reported, the others are counted */
};

/* A step as it is asked for. */
struct mechd_fmu_span {
    double time, size;             /* s, from `time` on */
    double start;                  /* s, of the first step */
    bool early;                    /* it ends with its first event, as far as the FMU can */
    struct mech_event_log *events; /* its events are added, without a name; NULL: not wanted */
    struct mech_trace *trace;      /* rows of it are added, after TRACE; NULL: not wanted */
};

/* The h by which times of a part of a step are compared (base/times.h), of that size, s. */
static inline double mechd_fmu_scale(const struct mechd_fmu_span *span, double size)
{
    return mech_time_scale(span->time, span->start, size);
}

/* Where it has ended. */
struct mechd_fmu_reached {
    double time;    /* s */
    bool terminate; /* the FMU wants the simulation to end */
    bool event;     /* there was an event; of a step that may end early, it ends there */
};
