/* An instance of an FMU: its committed point, the end of a step, and where its process is.
 *
 * Functions return 0, MECH_NO_MEMORY or, as those of a session, an outcome of fmu_process.h, which
 * mechd_fmu_lost turns into one of the engine. owner: the engine (fmu_engine.h). */
#pragma once

#include "server/engine/fmu_engine.h"
#include "server/engine/fmu_point.h"
#include "server/engine/fmu_session.h"
#include "solver/base/name.h"

/* Where the process is. A trial is there as long as the process is where it has ended. */
enum mechd_fmu_place {
    MECHD_FMU_AT_POINT, /* at the committed point */
    MECHD_FMU_AT_TRIAL, /* at the end of a trial, which can be committed */
    MECHD_FMU_MOVED,    /* elsewhere: it is restored before it is used */
    MECHD_FMU_RENEWED,  /* there is none; it can be made anew at the committed point */
    MECHD_FMU_ENDED     /* there is none, for the reason `ended` */
};

enum { MECHD_FMU_ROWS_MOST = 16 /* coefficients of a polynomial */ };

struct mechd_fmu_instance {
    struct mechd_fmu_package *package; /* a reference */
    struct mechd_fmu_channels channels;
    struct mechd_fmu_session session;
    struct mechd_fmu_places *places; /* or NULL */
    bool placed;                     /* it has one of them */
    bool full;                       /* there was none when it was to begin */
    char name[MECH_NAME_MAX + 1];    /* of the instance in the server */
    double h;                        /* communication step, s */
    bool saves;                      /* states */
    size_t state_most;               /* bytes; 0: not known yet */
    enum mechd_fmu_place place;
    struct mechd_fmu_point first, now, end; /* the start, the committed one, the end of a step */
    /* [inputs] scratch; [inputs], [parameters]: what the process has; not known: all are sent; of
     * each input [count] the derivatives that are not zero in it (2.0) */
    double *given, *sent, *sent_parameters, *rated;
    bool sent_known;
    bool held_logged; /* that an input with derivatives holds its value over steps */
    char refusal[MECH_DIAG_TEXT], ended[MECH_DIAG_TEXT];

    /* the command in progress */
    struct mech_step_report *report;
    struct mech_event_log *events;   /* or NULL */
    struct mech_trace *trace;        /* or NULL */
    struct mechd_fmu_traced *traced; /* of each output of the trace */
    bool trial, early;
    double from, goal, size;           /* s */
    uint64_t count, done;              /* steps */
    struct mech_input_signal *signals; /* of each input; n 0: it has none */
    struct mechd_fmu_course *courses;  /* of each input, scratch */
    double *coefficients;              /* [MECHD_FMU_ROWS_MOST × inputs] scratch */
};

/* After a call that came to nothing: notes where that leaves the process, and its reason in
 * f->refusal. Returns MECH_ENGINE_FAILED, MECH_CANCELLED (a stop) or the fatal code.
 */
int mechd_fmu_lost(struct mechd_fmu_instance *f, int rc);
/* Ends the process for this reason. */
void mechd_fmu_end(struct mechd_fmu_instance *f, const char *reason);
/* A process in `session` that is at a point: from its start, or with the point's state. The first
 * takes a place; FULL: there is none. */
int mechd_fmu_begin_at(struct mechd_fmu_instance *f, struct mechd_fmu_session *session,
                       const struct mechd_fmu_point *p);
/* Before it is freed: its place is for others. */
void mechd_fmu_leave_place(struct mechd_fmu_instance *f);
/* Before anything changes: a trial can no longer be committed. */
void mechd_fmu_drop_trial(struct mechd_fmu_instance *f);
/* Brings the process, which is at no trial, to the committed point. 0 or an outcome of the engine.
 */
int mechd_fmu_settle(struct mechd_fmu_instance *f);

/* The process has what a point that was restored has held. What it has already is not sent again:
 * to some FMUs that is an event. */
void mechd_fmu_holds(struct mechd_fmu_instance *f, const double *held);

/* Inputs of a point at a time, and tunable parameters, as far as the process has others. */
int mechd_fmu_send(struct mechd_fmu_instance *f, const struct mechd_fmu_point *p, double time);
/* Whether that would send any. */
bool mechd_fmu_pends(struct mechd_fmu_instance *f, const struct mechd_fmu_point *p, double time);
/* Outputs, their derivatives and state of the process as those of a point. */
int mechd_fmu_receive(struct mechd_fmu_instance *f, struct mechd_fmu_point *p);

/* Inputs of a point from its time on. 0; MECH_INVALID (diag): nothing changed. */
int mechd_fmu_put_inputs(const struct mechd_fmu_instance *f, const struct mech_input_change *inputs,
                         size_t count, struct mechd_fmu_point *p, struct mech_diag *diag);
