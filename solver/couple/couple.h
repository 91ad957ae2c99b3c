/* Coupling: participants that exchange outputs and inputs step together, window by window.
 *
 * This folder handles only interface vectors. It never calls a participant: mech_couple_next
 * returns tasks (trial, commit, …) that the caller performs, those of one batch in any order and in
 * parallel, and reads their results. drive.h performs them one after the other with tables of
 * functions.
 *
 *   struct mech_couple *c;
 *   MECH_TRY(mech_couple_create(&setup, reason, &c));
 *   mech_couple_start(c, 0.);                       // or mech_couple_begin(c, H): one window
 *   struct mech_couple_batch b;
 *   while (mech_couple_next(c, &b) == 0 && b.count > 0) {
 *       for (int32_t i = 0; i < b.count; i++) { … perform b.tasks[i] … }
 *   }
 *   … mech_couple_report(c)->outcome …
 *
 * A window is done by all participants or by none: commits are handed out when all trials have
 * succeeded, and after any fault each participant with a trial has to discard it.
 * Inputs over a window are polynomials in τ = t − t_n of order `hold`, through the ends of the last
 * windows and the end of this one (extrapolated, or iterated), or with `waveform` B-splines through
 * what the participants report at their substeps. With a hold of 1 to 3 the first window is
 * rehearsed (rehearse.c) by trials of parts of it, where all participants can roll back and windows
 * are not chosen by error control; these trials are of smaller sizes, and never committed.
 *
 * Sources: M. Arnold, C. Clauß, T. Schierz, Arch. Mech. Eng. 60 (2013) (holds, error control);
 * J. Degroote, K.-J. Bathe, J. Vierendeels, Comput. Struct. 87 (2009) (IQN-ILS); U. Küttler,
 * W. Wall, Comput. Mech. 43 (2008) (Aitken). owner: one thread; nothing allocates after create.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    MECH_COUPLE_HOLD_MOST = 3,
    MECH_COUPLE_REASON = 160,
    MECH_COUPLE_UNKNOWNS_MOST = 100000,
    MECH_COUPLE_NEWTON_MOST = 2000 /* unknowns of schemes that factor a dense matrix */
};

enum mech_couple_ability {
    MECH_COUPLE_ROLLBACK = 1u << 0,    /* a trial may be run again from the window's start */
    MECH_COUPLE_JACOBIAN = 1u << 1,    /* fills `jacobian` of a task that requests it */
    MECH_COUPLE_LINEAR = 1u << 2,      /* ∂y/∂u depends on the size of the window alone */
    MECH_COUPLE_FEEDTHROUGH = 1u << 3, /* outputs depend on inputs of the same instant */
};

/* What takes part. Its inputs are those that the coupling drives, all of them. */
struct mech_couple_participant {
    const char *name; /* for reasons */
    int32_t inputs, outputs;
    int32_t samples;    /* most substeps that it reports in a window; 0 and 1: its end alone */
    uint32_t abilities; /* enum mech_couple_ability */
};

/* input += factor · output + offset; several may drive one input. */
struct mech_couple_connection {
    int32_t from, output; /* participant, and its output */
    int32_t to, input;
    double factor, offset;
};

enum mech_couple_law {
    MECH_COUPLE_SPRING, /* F = stiffness · (g − rest) + damping · g' */
    MECH_COUPLE_RIGID,  /* g = rest at each window's end */
    MECH_COUPLE_LINE    /* TransmissionLine: delay, impedance */
};

enum mech_couple_flow {
    MECH_COUPLE_DISPLACEMENT, /* the outputs are displacements */
    MECH_COUPLE_VELOCITY      /* velocities; displaced by the trapezoidal sum of the samples */
};

/* Two participants joined by an effort F: −F enters the first one, +F the second one, and its work
 * is by the displacements x: g = x_first − x_second. Held over the window. Schemes Energy (spring,
 * rigid) and TransmissionLine (line) take bonds, others do not.
 * A line gives F_a = F_b' − Z v_b' + Z v_a and F_b = F_a' + Z v_a' − Z v_b with ' one delay ago and
 * means over windows: a rod of stiffness Z/delay and mass Z · delay. */
struct mech_couple_bond {
    const char *name;
    int32_t participant[2];
    int32_t effort[2]; /* inputs */
    int32_t flow[2];   /* outputs */
    enum mech_couple_flow kind;
    enum mech_couple_law law;
    double stiffness, damping; /* N/m, N s/m; not negative */
    double rest;               /* m */
    double gap;                /* of velocities: g at the start, m */
    double delay, impedance;   /* of a line: s, N s/m; positive */
};

struct mech_couple_options {
    const char *scheme;        /* of schemes.def, by its name in documents */
    double relative_tolerance; /* of each unknown, of its largest value in the window, ≥ 0 */
    double absolute_tolerance; /* > 0 where the scheme iterates */
    int32_t max_iterations;    /* evaluations of a window, > 0 where the scheme iterates */
    double relaxation;         /* in (0, 2]: constant, or of the first iteration */
    int32_t reuse;             /* IQN-ILS: windows whose columns are kept, ≥ 0 */
    double filter;             /* IQN-ILS: columns that shrink below that part of themselves when
                                  made orthogonal are dropped, in [0, 1) */
    const int32_t *order; /* [participants] turns of Gauss–Seidel; NULL: as listed. Aitken and
                                  IQN-ILS take turns when it is given, else all at once */
    int32_t hold;         /* 0 to 3 */
    int32_t waveform;     /* degree of the splines through substeps, 1 to 3; 0: none */
    /* windows by an estimated error of the inputs; adaptive_relative 0 and adaptive_absolute 0: of
     * the size asked for */
    double adaptive_relative, adaptive_absolute;
    double minimum, maximum; /* s */
};

struct mech_couple_setup {
    const struct mech_couple_participant *participants;
    int32_t participant_count;
    const struct mech_couple_connection *connections;
    int32_t connection_count;
    const struct mech_couple_bond *bonds;
    int32_t bond_count;
    struct mech_couple_options options;
};

enum mech_couple_action {
    MECH_COUPLE_OUTPUTS, /* y(t) with the inputs given, no step */
    MECH_COUPLE_TRIAL,   /* from the committed state over the window; replaces an earlier trial */
    MECH_COUPLE_COMMIT,  /* the last trial becomes the state */
    MECH_COUPLE_DISCARD  /* the last trial is dropped */
};

struct mech_couple_view;

/* One task. The caller writes the members below the line; the others are read. */
struct mech_couple_task {
    int32_t participant;
    enum mech_couple_action action;
    uint64_t window;   /* number of the window, from 0 */
    int32_t iteration; /* of the window, from 0 */
    double time, size; /* of its start; its length, s */
    /* u(τ) = Σ polynomial[k · inputs + i] τ^k, k ≤ order, or NULL: see mech_couple_input */
    const double *polynomial;
    int32_t order;
    /* jacobian is ∂y(t + size)/∂w, where w adds w_i Σ shape[k] τ^k to input i, k ≤ order */
    const double *shape;
    bool want_jacobian;
    bool want_samples;
    bool want_moments;
    const struct mech_couple_view *view; /* what mech_couple_input reads */
    /* ------------------------------------------------------------------ */
    int code;                        /* 0, or an outcome, or negative */
    char reason[MECH_COUPLE_REASON]; /* when it is not 0 */
    double *outputs;                 /* [outputs] at the end; of OUTPUTS: now */
    int32_t samples;  /* of substeps, the last one at the end; 0: none are reported */
    double *times;    /* [samples] τ of each, rising, the last one is `size` */
    double *values;   /* [samples × outputs] */
    double *jacobian; /* [outputs × inputs] by rows */
    /* [(HOLD_MOST + 1) × inputs], r = 0 first: ∫ τ^r w_i dτ over the window, with w_i the velocity
     * conjugate to input i: u_i w_i is the power of the input */
    double *moments;
};

struct mech_couple_batch {
    struct mech_couple_task *tasks;
    int32_t count;
};

struct mech_couple_report {
    int outcome;                     /* 0, an enum mech_outcome, or negative */
    char reason[MECH_COUPLE_REASON]; /* when it is not 0 */
    int32_t participant;             /* whose fault it is, or −1 */
    double time, size;               /* of the window that was done, or failed */
    double next_size;                /* with error control: proposed */
    double error;                    /* with error control: estimated, relative to the tolerance */
    int32_t iterations;              /* evaluations of all participants in this window */
    int32_t evaluations; /* trials of single participants, difference quotients included */
    int32_t refused;     /* windows tried with a larger size */
    double residual;     /* largest, relative to the tolerance */
};

/* Work of a bond up to now. */
struct mech_couple_bond_state {
    double effort[2];  /* F of both ends in the last window, N */
    double gap;        /* m */
    double work[2];    /* done on each participant since the start, J */
    double stored;     /* in the spring, J; of a line: in the waves under way */
    double dissipated; /* by the damping since the start, J */
};

/* What has gone through a connection or a bond. */
struct mech_couple_work {
    double power;  /* W, mean over the last window */
    double energy; /* J, work of the connection, or of both ends of the bond, on the participants */
    /* J, of a connection: the part of it that the mean of the output at both ends of each window
     * would not have done: what its hold has added. If outputs are displacements and the inputs
     * that they drive linear springs, this is how their energy with that of the participants has
     * grown. Of a bond: work and what it has stored and dissipated: 0 but for rounding */
    double balance;
};

struct mech_couple;

/* 0; MECH_INVALID, MECH_NOT_FOUND (no such scheme), MECH_UNSUPPORTED (a participant, a hold or a
 * law that the scheme cannot take), with `reason` [MECH_COUPLE_REASON]; MECH_NO_MEMORY. The setup
 * is copied, names included. */
int mech_couple_create(const struct mech_couple_setup *setup, char *reason,
                       struct mech_couple **out);
void mech_couple_destroy(struct mech_couple *c); /* accepts NULL */

/* Outputs of all participants at that time, loops of those with feedthrough solved: the coupling
 * starts again from any state. Participants without feedthrough are evaluated twice: for their
 * outputs, when inputs are not known yet (0), and with the inputs of that time. Before the
 * first window. 0; MECH_INVALID. */
int mech_couple_start(struct mech_couple *c, double time);
/* One window of that size, or with error control of at most that size. 0; MECH_INVALID (not
 * positive and finite, not started, or one is in progress). */
int mech_couple_begin(struct mech_couple *c, double size);
/* Take the results of the last batch and return the next one; count 0: the window is over, and the
 * report has the result. Tasks behind a trial, or outputs, that failed need not be performed. A
 * commit that fails ends the coupling: it has to be started again.
 * 0; MECH_INVALID (no window is in progress). */
int mech_couple_next(struct mech_couple *c, struct mech_couple_batch *out);
/* End the window in progress with this outcome (> 0, or negative), when no thread works at the
 * batch any more: its results are ignored, the next batch discards. 0; MECH_INVALID (no window is
 * in progress, or commits have been returned). */
int mech_couple_abandon(struct mech_couple *c, int outcome, const char *reason);
/* The same of a window whose commits are the last batch, none of which is performed: all trials are
 * discarded instead. 0; MECH_INVALID (the last batch are no commits). */
int mech_couple_withdraw(struct mech_couple *c, int outcome, const char *reason);

/* Whether a participant fills Jacobians, as MECH_COUPLE_JACOBIAN says, from the next window on.
 * Between windows; it is no part of what is saved. */
void mech_couple_set_jacobian(struct mech_couple *c, int32_t participant, bool fills);

const struct mech_couple_report *mech_couple_report(const struct mech_couple *c);
double mech_couple_time(const struct mech_couple *c);
uint64_t mech_couple_windows(const struct mech_couple *c); /* done since the start */
/* Outputs at the current time [outputs]. */
const double *mech_couple_outputs(const struct mech_couple *c, int32_t participant);
/* Difference of the last two iterates of a connection's output, for reports. */
double mech_couple_residual(const struct mech_couple *c, int32_t connection);
void mech_couple_bond_state(const struct mech_couple *c, int32_t bond,
                            struct mech_couple_bond_state *out);

/* Measure flows from here on, or no more; those of before are forgotten. Flows are no part of what
 * is saved: they begin anew, at 0, where the coupling starts or is restored, and are measured as
 * before. Windows then want moments of all participants. Between windows. 0; MECH_INVALID;
 * MECH_UNSUPPORTED (waveforms: their inputs are no polynomials). */
int mech_couple_measure(struct mech_couple *c, bool on);
void mech_couple_connection_flow(const struct mech_couple *c, int32_t connection,
                                 struct mech_couple_work *out);
void mech_couple_bond_flow(const struct mech_couple *c, int32_t bond, struct mech_couple_work *out);

/* Inputs of a task at τ in [0, size]: u[r · inputs + i], the r-th derivative of input i, r ≤ order
 * ≤ 3. Any thread while the batch is out. */
void mech_couple_input(const struct mech_couple_task *task, double at, int32_t order, double *u);

/* What the next window reads, as bytes, for a coupling of the same setup on machines of the same
 * byte order; between windows. Restore: 0; MECH_MISMATCH (another size, counts and places among
 * them that no coupling writes, or numbers that the next window reads and that are not finite:
 * bytes from outside lead out of no memory and into no window); MECH_INVALID (a window is under
 * way). What fails changes nothing. */
size_t mech_couple_saved_size(const struct mech_couple *c);
void mech_couple_save(const struct mech_couple *c, void *bytes);
int mech_couple_restore(struct mech_couple *c, const void *bytes, size_t size);
