/* The simulation inside. owner: one thread at a time. */
#pragma once

#include "solver/sim/mech.h"
#include "solver/step/rates.h"
#include "solver/step/stepper.h"

/* A command between begin and finish. */
struct mech_command {
    enum mech_step_kind kind;
    bool running, trial, forced;
    bool rebuilt; /* parameters among its inputs: the model is the command's while it runs */
    struct mech_step_plan plan; /* its count falls to `done` where it ends at an event */
    bool early;                 /* ends at an event */
    uint64_t done;
    struct mech_step_report *report;
    double *moments;            /* of the request, or NULL */
    struct mech_event_log *log; /* NULL: events are not looked for */
};

/* The state of the outputs in `shown`. */
enum mech_shows { MECH_SHOWS_NONE, MECH_SHOWS_NOW, MECH_SHOWS_NEXT };

/* What of a state is not finite. */
struct mech_unshown {
    const char *place; /* in the document */
    char what[100];    /* the output "tip" */
};

struct mech_sim {
    struct mech_document *document;
    struct mech_model *model;
    const struct mech_stepper_type *type;
    void *stepper;
    struct mech_state_sizes sizes;
    double *memory;          /* of the three blocks and `extra` */
    struct mech_state now;   /* committed */
    struct mech_state next;  /* of the command, or the trial's end state */
    struct mech_state point; /* of mech_sim_evaluate */
    double *extra;           /* [v + 1] forces of the command */
    double *wrench;          /* [6 × markers] forces of the command on markers that move */
    double *shown;           /* [outputs] of the state that `shows` says */
    enum mech_shows shows;
    struct mech_rates rates;     /* of mech_sim_evaluate; made when first needed */
    double *trial_outputs;       /* of a trial with other parameters; made when first needed */
    double trial_energy;         /* of a trial with other parameters, J */
    struct mech_signal *signals; /* [inputs] of the command; made when first needed */
    struct mech_event_watch *compared; /* of commands that ask for events; made when first needed */
    struct mech_event_switches *switched; /* the same, of their expressions */
    bool has_rates, has_trial, differenced;
    double *joint_scratch; /* [4 × rows + entries of G]; mech_sim_drift begins it with |g|, |ġ| */
    bool *dropped; /* [sizes.lambda] rows of joints that repeat others where the model starts */
    int32_t dropped_count;
    bool redropped; /* they were chosen elsewhere than at the start */
    double *taken;  /* [sizes.lambda] impulses of the last activation of joints; or NULL */
    bool *took;     /* [sizes.lambda] which rows those were; or NULL */
    bool beside; /* a derivation by parameters has made its own model, and will put this one back */
    bool astray; /* no memory to build the model of `now` again: tried with the next command */
    struct mech_interrupt interrupt; /* of the model, and of those that come after it */
    struct mech_command command;
    struct mech_names names[3]; /* inputs, outputs, parameters */
    struct mech_arena arena;    /* of the names */
    uint64_t layout;
    char blas[96];     /* name of the BLAS, of every snapshot's header */
    char refusal[160]; /* why the last change was refused as not finite */
};

/* A model, with everything that steps it. */
struct mech_machine {
    struct mech_model *model;
    const struct mech_stepper_type *type;
    void *stepper;
};

/* build.c: compile with these parameters (NULL: the document's) and make the stepper; faults go to
 * diag. `of` NULL, or whose dropped rows are left out. 0; MECH_INVALID; negative. */
int mech_machine_build(struct mech_document *document, const struct mech_interrupt *ask,
                       const double *parameters, const struct mech_sim *of, struct mech_diag *diag,
                       struct mech_machine *out);
/* The stepper of a machine whose model stands. Same returns. */
int mech_machine_step(struct mech_machine *machine, struct mech_diag *diag);
void mech_machine_fini(struct mech_machine *machine);
/* Take over a machine of the same document: the old one is destroyed, the state stays. */
void mech_sim_take(struct mech_sim *s, const struct mech_machine *machine);
/* What iterates with this model calls the caller's interrupt anew from here on; whether that came
 * since then, in this model or one before it. */
void mech_sim_watch(const struct mech_sim *s);
bool mech_sim_interrupted(const struct mech_sim *s);
/* Rebuild with other parameters; on a fault nothing changes. Same returns as build. */
int mech_sim_rebuild(struct mech_sim *s, const double *parameters, struct mech_diag *diag);

/* How joints are activated by a change of the model. */
struct mech_taking {
    const double *parameters; /* of the changed model */
    bool closed;              /* the state's positions are brought to them; else they must suit */
};
/* joints.c: rebuild for a state whose document or parameters have changed: it suits the model then,
 * with the impact of activated joints (s->taken). MECH_INVALID (diag says why); negative:
 * then the state is as it was, the model is any, and mech_sim_model_back follows, with the document
 * as it was. */
int mech_sim_change_model(struct mech_sim *s, struct mech_state *state,
                          const struct mech_taking *how, struct mech_diag *diag);
/* Whether the last change took up a joint. */
bool mech_sim_took(const struct mech_sim *s);
/* A change begins, which takes up none so far. */
void mech_sim_forget_taken(struct mech_sim *s);
/* Whether the model lets go and leaves out the rows that the state says. */
bool mech_sim_rows_suit(const struct mech_sim *s, const struct mech_state *state);
/* The joint that acts and that the state's positions miss by most, and by more than 1e-6 m or rad;
 * or NULL. */
const char *mech_sim_missed_joint(const struct mech_sim *s, const struct mech_state *state);
/* Whether a state leaves out a row as redundant. */
bool mech_sim_row_repeats(const struct mech_sim *s, const struct mech_state *state, int32_t row);
/* Rows to be left out by the next model: those that a state leaves out, NULL: none. Negative. */
int mech_sim_drop_rows(struct mech_sim *s, const struct mech_state *state);
/* The model of a state: its parameters, and the joints that it has let go, in the document too.
 * 0; MECH_INVALID; MECH_MISMATCH: a parameter says otherwise; negative: mech_sim_model_back
 * follows. */
int mech_sim_model_of(struct mech_sim *s, const struct mech_state *state, struct mech_diag *diag);
/* That of the committed state, after another. MECH_NO_MEMORY: the model is `astray`. */
int mech_sim_model_back(struct mech_sim *s);

/* channels.c: why these inputs cannot be set, or 0, in a step or (step false) for good; and set
 * them in a state, parameters included (the model is not touched), signals to their first value. */
int mech_sim_check_inputs(const struct mech_sim *s, const struct mech_input_change *inputs,
                          size_t count, bool step, const char **reason);
void mech_sim_put_inputs(const struct mech_sim *s, const struct mech_input_change *inputs,
                         size_t count, struct mech_state *to);
/* One component of a signal of so many. */
static inline struct mech_signal mech_sim_signal_of(const struct mech_input_signal *g, int32_t size,
                                                    int32_t component)
{
    return (struct mech_signal){g->start, g->n, size, g->tau, g->values + component};
}
/* signals.c: the signals of a command act in s->next from here on; 0, MECH_NO_MEMORY. At its end
 * the inputs hold their last values. */
int mech_sim_signals_begin(struct mech_sim *s, const struct mech_input_change *inputs,
                           size_t count);
void mech_sim_signals_end(struct mech_sim *s);
/* True when both have the same parameters. */
bool mech_sim_same_parameters(const struct mech_sim *s, const struct mech_state *a,
                              const struct mech_state *b);

/* events.c: events that no scheme locates, of a command with a log. begin, once s->next is where
 * the command starts: what acts there, by the state. step, before each internal step: what it
 * starts from is kept. look, after it: its events into the log. 0; MECH_NOT_FINITE: a body has no
 * place; MECH_NO_MEMORY. */
int mech_sim_events_begin(struct mech_sim *s);
void mech_sim_events_step(struct mech_sim *s);
int mech_sim_events_look(struct mech_sim *s);
/* The state before the last internal step. */
const struct mech_state *mech_sim_events_before(const struct mech_sim *s);
void mech_sim_events_fini(struct mech_sim *s);

/* event_switches.c: those of expressions. begin and look as above; `event` has since and time. */
int mech_sim_switches_begin(struct mech_sim *s);
void mech_sim_switches_look(struct mech_sim *s, struct mech_logged event);
void mech_sim_switches_fini(struct mech_sim *s);

/* active.c: what acts in the step that has led to a state, as a number, and as a list. */
struct mech_active_set;
uint64_t mech_sim_acting(const struct mech_sim *s, const struct mech_state *state);
void mech_sim_list_active(const struct mech_sim *s, const struct mech_state *state,
                          struct mech_active_set *set);

/* drift.c: how far the joints are off in a state. */
void mech_sim_drift(const struct mech_sim *s, const struct mech_state *state,
                    struct mech_drift *out);

/* failure.c: the reason of a step that failed into the report, with the time, and with the steps
 * that an explicit scheme can take from the committed state; report->failed_time is set. */
void mech_sim_tell_failure(struct mech_sim *s, int code, const struct mech_step_result *result,
                           struct mech_step_report *report);

/* contacts.c: a fault for each pair of shapes that overlaps at the start, where the model refuses
 * that. 0; MECH_INVALID; negative. */
int mech_sim_check_overlaps(struct mech_sim *s, struct mech_diag *diag);

/* shown.c: all outputs in a state of the simulation's model. */
void mech_sim_outputs_of(const struct mech_sim *s, const struct mech_state *state, double *values);

/* shown.c: whether all outputs of a state are finite, or all of its numbers, too; then the outputs
 * are kept as `as`. 0; MECH_NOT_FINITE and why. */
int mech_sim_outputs_fit(struct mech_sim *s, const struct mech_state *state, enum mech_shows as,
                         struct mech_unshown *why);
int mech_sim_state_fits(struct mech_sim *s, const struct mech_state *state, enum mech_shows as,
                        struct mech_unshown *why);
/* Keep why a change is refused; returns MECH_NOT_FINITE. */
int mech_sim_refuse(struct mech_sim *s, const struct mech_unshown *why);

/* evaluate.c: the point into s->point. MECH_NOT_FINITE. */
int mech_sim_place_point(struct mech_sim *s, const struct mech_point *at);
/* s->rates, made when first needed. Returns as mech_rates_init. */
int mech_sim_need_rates(struct mech_sim *s, struct mech_step_result *result);

/* rhs_jacobian.c: the Jacobian of [q̇; v̇; ẋ] at s->point into out [ld × ld] by rows, which is
 * zero, ld = nq + nv + nx, but for the block of x; s->rates stands, and no shapes push by
 * penalties. MECH_CANCELLED, MECH_SINGULAR and the like with a reason; negative. */
int mech_sim_rhs_jacobian(struct mech_sim *s, double *out, struct mech_step_result *result);

/* snapshot.c: the layout's hash and what a header says of the libraries; once the state stands. */
void mech_sim_snapshot_init(struct mech_sim *s);
/* A snapshot of this layout, checked, into s->point; the model stays. MECH_MISMATCH. */
int mech_sim_snapshot_open(struct mech_sim *s, const void *bytes, size_t size);

/* joints.c: whether the row that made a start singular may be left out; and leave it out from now
 * on, with a stepper made anew. 0; MECH_INVALID; negative. */
bool mech_sim_may_drop(const struct mech_sim *s, const struct mech_step_result *result);
int mech_sim_drop_row(struct mech_sim *s, int32_t row, struct mech_diag *diag);
