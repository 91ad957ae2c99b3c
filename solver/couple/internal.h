/* A coupling's inside, shared only by the files of this folder. Pointers marked "room" are numbers
 * that saving copies. */
#pragma once

#include "solver/base/arena.h"
#include "solver/couple/couple.h"
#include "solver/couple/scheme.h"
#include "solver/couple/track.h"

enum { MECH_COUPLE_NODES = MECH_COUPLE_HOLD_MOST + 1 };

/* An output, or an effort, that enters an input. */
struct couple_link {
    int32_t input;
    int32_t from;   /* participant, or −1: an effort */
    int32_t output; /* of it, or number of the effort */
    double factor;
};

struct couple_side {
    struct mech_couple_participant is;
    int32_t turn;  /* in the order */
    int32_t group; /* of a sweep */
    struct couple_link *links;
    int32_t link_count;
    double *offset;  /* [inputs] */
    double *moments; /* [NODES × inputs] of the last trial, where flows are measured */
    int32_t *number; /* [outputs] among the unknowns of this side, or −1 */
    int32_t unknowns;
    int32_t *start_number; /* the same for loops at the start */
    int32_t start_unknowns;
    bool read;                  /* some output enters an input */
    bool summed;                /* a bond sums its velocities */
    bool sampled;               /* its samples are requested */
    bool tried;                 /* it has a trial */
    int32_t at;                 /* first of its unknowns in z */
    double step;                /* of the difference quotient under way */
    double *now;                /* room [outputs] at the window's start */
    double *past;               /* room [HOLD_MOST × outputs] at earlier ends, newest first */
    double *end;                /* room [outputs] iterate of this window's end */
    double *got;                /* room [outputs] of the last evaluation */
    double *other;              /* room [outputs] of difference quotients */
    double *ahead;              /* room [outputs] extrapolated end */
    double *sum;                /* room [outputs] ∫y dt over the window, if summed */
    double *nodes, *next_nodes; /* room [HOLD_MOST × outputs] rehearsed */
    double *polynomial;         /* room [NODES × inputs] */
    double *jacobian, *slopes, *sum_slopes; /* room [outputs × inputs] as given; ∂y/∂u; ∂∫y/∂u */
    int32_t *kept;                          /* room [1] slopes hold */
    struct mech_track guess, made;          /* room: iterate and evaluation through substeps */
};

/* An unknown F: r = alpha + beta[0] Δx_first + beta[1] Δx_second − self F. */
struct couple_effort {
    int32_t bond;
    int32_t end; /* 0, 1; −1: of both */
    double alpha, beta[2], self;
};

enum couple_clock {
    CLOCK_TIME,
    CLOCK_BASE,    /* time from which windows have been of the same size */
    CLOCK_SAME,    /* their number */
    CLOCK_SIZE,    /* and size */
    CLOCK_WINDOWS, /* since the start */
    CLOCK_KNOWN,   /* earlier ends that are known */
    CLOCK_NEXT,    /* size that error control proposes, 0: none yet */
    CLOCK_KEY,     /* size and shape that the slopes hold for */
    CLOCK_PAST = CLOCK_KEY + 1 + MECH_COUPLE_NODES, /* how long ago the earlier ends are, s */
    CLOCK_COUNT = CLOCK_PAST + MECH_COUPLE_HOLD_MOST
};

enum couple_phase {
    COUPLE_NEW,  /* not started */
    COUPLE_IDLE, /* between windows */
    COUPLE_STARTING,
    COUPLE_REHEARSING, /* rehearse.c: group is the node, column the pass */
    COUPLE_SWEEPING,
    COUPLE_PERTURBING,
    COUPLE_COMMITTING,
    COUPLE_DISCARDING
};

/* Groups of the start. */
enum { START_OUTPUTS, START_LOOPS, START_JUDGED, START_SETTLED };

/* What views of tasks point at. */
struct mech_couple_view {
    const struct mech_couple *couple;
    int32_t side;
};

struct mech_couple {
    struct mech_arena arena;
    struct mech_couple_options options;
    const struct mech_scheme_type *type;
    void *self;
    void *start_self; /* IQN-ILS, of loops at the start */
    struct couple_side *sides;
    int32_t side_count;
    struct mech_couple_connection *connections;
    int32_t connection_count;
    struct mech_couple_bond *bonds;
    int32_t bond_count;
    struct couple_effort *efforts;
    int32_t effort_count;
    int32_t most, start_most; /* unknowns */
    int32_t groups;           /* of a sweep */
    bool in_turn, adaptive;
    bool measured;                               /* flows are; no part of what is saved: */
    struct mech_couple_work *flows;              /* [connections + bonds] */
    struct mech_couple_bond_state *bonds_before; /* [bonds] at the start of the window */

    enum couple_phase phase;
    enum couple_phase after; /* when the window in progress has been discarded */
    int32_t group, iteration, column;
    struct mech_couple_task *tasks;
    struct mech_couple_view *views;
    int32_t handed;
    bool abandoned;                                     /* results of the batch are ignored */
    double size, asked;                                 /* of this window */
    double whole;                                       /* of the window that is rehearsed */
    int32_t degree;                                     /* of the polynomials of this window */
    double basis[MECH_COUPLE_NODES][MECH_COUPLE_NODES]; /* [node][power of τ] */
    double last_residual;
    bool matrix_same;
    int32_t n;
    struct mech_couple_report report;

    char *bytes; /* the room */
    size_t bytes_size;
    double *clock;                  /* room [CLOCK_COUNT] */
    double *z, *z_next, *r, *scale; /* room [most] */
    double *matrix;                 /* room [most²] of schemes that need it */
    double *effort;                 /* room [efforts] iterate */
    double *bond_numbers;           /* room [bonds × BOND_COUNT] bonds.c */
    double *waves;                  /* room [bonds × waves_most × 3] */
};

/* couple.c: all numbers from the room, twice */
void couple_lay(struct mech_couple *c, struct mech_room *room);

/* signal.c */
void couple_set_basis(struct mech_couple *c);
/* Coefficients [node][power] of Lagrange's polynomials of degree d through d + 1 nodes. */
void couple_lagrange(const double *nodes, int32_t d,
                     double basis[MECH_COUPLE_NODES][MECH_COUPLE_NODES]);
/* Weights [degree + 1] with which values at nodes 1 to degree + 1 give the one at node 0. */
void couple_ahead(const double *nodes, int32_t degree, double *weight);
void couple_extrapolate(struct mech_couple *c);
void couple_set_polynomial(const struct mech_couple *c, struct couple_side *s);
/* ∫y dt of an output over the window, by the trapezoidal rule through the samples. */
double couple_summed(const struct couple_side *s, int32_t output);
/* The iterate of an output at τ. */
double couple_guessed(const struct mech_couple *c, const struct couple_side *s, int32_t output,
                      double at);
/* Coefficient k of an output's polynomial as participant `to` sees it in this evaluation. */
double couple_coefficient(const struct mech_couple *c, const struct couple_link *link, int32_t to,
                          int32_t k);
bool couple_seen_early(const struct mech_couple *c, int32_t from, int32_t to);

/* slopes.c */
void couple_slopes_begin(struct mech_couple *c);
bool couple_slopes_wanted(const struct mech_couple *c, const struct couple_side *s);
bool couple_slopes_differenced(const struct couple_side *s);
void couple_slopes_take(struct mech_couple *c, struct couple_side *s);
void couple_slopes_perturb(const struct mech_couple *c, struct couple_side *s);
void couple_slopes_take_column(struct mech_couple *c, struct couple_side *s);
void couple_slopes_assemble(struct mech_couple *c);

/* bonds.c */
enum { COUPLE_BOND_NUMBERS = 12, COUPLE_WAVES_MOST = 1024, COUPLE_WAVE = 3 };
/* 0; MECH_INVALID, MECH_UNSUPPORTED with the report's reason */
int couple_bonds_begin(struct mech_couple *c);
void couple_bonds_start(struct mech_couple *c);
double couple_bonds_residual(const struct mech_couple *c, int32_t effort, double *tolerance);
void couple_bonds_end(struct mech_couple *c);
/* Whether their numbers may become those of the copy: the waves are within the room, and what the
 * next window reads is finite. */
bool couple_bonds_accept(const struct mech_couple *c, const struct mech_room_copy *copy);

/* window.c: `side` −1: no participant's fault; reason NULL: the outcome's text */
void couple_open(struct mech_couple *c);
void couple_hand_all(struct mech_couple *c, enum mech_couple_action action);
void couple_fail(struct mech_couple *c, int32_t side, int outcome, const char *reason);

/* finish.c */
void couple_accept(struct mech_couple *c);
void couple_finish_window(struct mech_couple *c);
void couple_finish_start(struct mech_couple *c);

/* flow.c: none up to the present; flows of the window that has been committed, before and after its
 * end is the present */
void couple_flow_begin(struct mech_couple *c);
void couple_flow_connections(struct mech_couple *c);
void couple_flow_bonds(struct mech_couple *c);

/* rehearse.c: whether the first window is rehearsed; begin; the next node, false: all is known */
bool couple_rehearses(const struct mech_couple *c);
void couple_rehearse(struct mech_couple *c);
bool couple_rehearse_on(struct mech_couple *c);
