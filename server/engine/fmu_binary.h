/* The binary of an FMU for co-simulation, 2.0 or 3.0, behind one set of calls: loaded by dlopen,
 * with one instance. It runs in a process of its own, which is confined before (fmu_jail.h).
 *
 * Calls return 0, or what went wrong of enum mechd_fmu_failure with its words in b->fault and the
 * status of FMI in b->status; a warning of FMI is no fault. owner: one thread, the one that has
 * opened it. Source: FMI 2.0.5, section 4.2; FMI 3.0.2, section 4.2. */
#pragma once

#include "protocol/fmi/symbols.h"
#include "server/engine/fmu_description.h"
#include "server/engine/fmu_verbs.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct mechd_fmu_course;
struct mechd_fmu_trace;

typedef void mechd_binary_log(void *context, int status, const char *category, const char *message);

struct mechd_binary {
    enum mechd_fmi_version version;
    void *library, *component;
    struct mechp_fmi2 two;
    struct mechp_fmi3 three;
    struct mechp_fmi2_callbacks callbacks;
    mechd_binary_log *log;
    void *log_context;
    unsigned can;      /* abilities of the description, enum mechd_fmu_can */
    bool events;       /* it was made with event mode (3.0) */
    bool early;        /* it may return early (3.0) */
    bool returning;    /* it has been asked to, in this step */
    bool ends;         /* an event has asked to end the simulation */
    double next_event; /* s, that the FMU foresees; NaN: none */
    double start;      /* s, of its first step */
    /* variables that will be set or read within steps (3.0), named when it is opened;
     * [required_count] */
    const uint32_t *required;
    size_t required_count;
    /* how inputs go over the next step; [course_count], with room for the elements of each */
    const struct mechd_fmu_course *courses;
    size_t course_count;
    double *course_scratch;
    bool courses_needed; /* a step of 3.0 that asks for none of them is refused … */
    bool quiet_logged;   /* … or else logged, once */
    bool update_asked;   /* it has */
    int update_failed;   /* what setting them, or reading outputs, within the step has come to */
    struct mechd_fmu_trace *trace; /* of the next step; NULL: none is wanted */
    /* asked in intermediate updates whether it is to return early from its step; or NULL */
    bool (*wanted)(void *context);
    void *wanted_context;
    int status;
    char fault[256];
};

/* Loads the library of this path and makes an instance, with event mode where it has that.
 * b->version, can, log and log_context are set. */
int mechd_binary_open(struct mechd_binary *b, const char *path, const char *name, const char *token,
                      const char *folder, bool logging);
void mechd_binary_close(struct mechd_binary *b);

/* Times in s; NaN: not given (the start is 0 then). */
int mechd_binary_enter(struct mechd_binary *b, double tolerance, double start, double stop);
int mechd_binary_exit(struct mechd_binary *b);
/* An FMU that returns early, or foresees an event within the step, has its events there and goes
 * on: the step ends where it should, unless it may end early, or the FMU was asked to return. A
 * step of 2.0 that may end early and is discarded is done anew up to where it came, from a state
 * that was taken before. */
int mechd_binary_step(struct mechd_binary *b, const struct mechd_fmu_span *span,
                      struct mechd_fmu_reached *out);
int mechd_binary_reset(struct mechd_binary *b);

/* Before DoStep of 2.0: derivatives of the inputs that have courses, at the start of the step; and
 * the intermediate update of 3.0, which reads outputs, sets those inputs, and asks the FMU to
 * return early if b->wanted says so (fmu_updates.c). */
int mechd_binary_rates(struct mechd_binary *b, double time);
mechp_fmi3_intermediate mechd_binary_update;

/* Event mode, between steps, in which values that are not continuous are set; and back, with as
 * many updates of discrete states as the FMU asks for. b->events must be true. */
int mechd_binary_enter_event(struct mechd_binary *b);
int mechd_binary_leave_event(struct mechd_binary *b);

/* Bytes of one element of a type on the wire; 0: it has no numbers. */
size_t mechd_binary_element(enum mechd_fmu_type type);

/* Values of n variables with `count` elements in all, of the type's elements on the wire. */
struct mechd_binary_values {
    enum mechd_fmu_type type;
    const uint32_t *references; /* [n] */
    size_t n;
    void *elements; /* [count]; setting reads them */
    size_t count;
};
int mechd_binary_get(struct mechd_binary *b, const struct mechd_binary_values *v);
int mechd_binary_set(struct mechd_binary *b, const struct mechd_binary_values *v);

/* Real variables of which one is derived by the other, and a direction. In 2.0 each has one
 * element. */
struct mechd_binary_direction {
    const uint32_t *unknowns, *knowns; /* [n_unknowns], [n_knowns] references */
    size_t n_unknowns, n_knowns;
    const double *seed; /* [seed_count] elements of all knowns; adjoint: of all unknowns */
    size_t seed_count;
    double *out; /* [out_count] elements of all unknowns; adjoint: of all knowns */
    size_t out_count;
};
/* out = ∂unknowns/∂knowns · seed at the present time, with the state held; adjoint (3.0): out =
 * seed · ∂unknowns/∂knowns. */
int mechd_binary_derive(struct mechd_binary *b, const struct mechd_binary_direction *d);
int mechd_binary_adjoin(struct mechd_binary *b, const struct mechd_binary_direction *d);

/* First derivatives by time of n real outputs with `count` elements in all, where the last step has
 * ended. */
int mechd_binary_output_rates(struct mechd_binary *b, const uint32_t *references, size_t n,
                              double *out, size_t count);

/* The state as bytes, malloc'ed, the caller's; and back. */
int mechd_binary_save(struct mechd_binary *b, char **bytes, size_t *size);
int mechd_binary_restore(struct mechd_binary *b, const char *bytes, size_t size);

/* Whether the function of that place is there: `have` is a pointer in two or three. */
#define MECHD_BINARY_NEED(b, have, name)                                                           \
    do {                                                                                           \
        if ((have) == NULL) {                                                                      \
            return mechd_binary_fault((b), MECHD_FMU_LACKS, 0, (name));                            \
        }                                                                                          \
    } while (0)

/* Keep what went wrong; returns `failure`. And so of a status above warning; 0: it is none. */
int mechd_binary_fault(struct mechd_binary *b, int failure, int status, const char *text);
int mechd_binary_judge(struct mechd_binary *b, int status, const char *function);
