/* Contact rows of the event-driven scheme, y = H q + b, on systems whose M is constant:
 *
 *     A = H M⁻¹ Hᵀ                                                             once
 *     held      ÿ = 0 on the held rows:  A_hh λ = −H_h v̇_free,  v̇ = v̇_free + M⁻¹ H_hᵀ λ
 *     impact    w = A P + H v⁻ + e min(0, H v⁻),   0 ≤ w ⊥ P ≥ 0,   v⁺ = v⁻ + M⁻¹ Hᵀ P
 *     closed    w = A λ + H v̇_free,   0 ≤ w ⊥ λ ≥ 0: which rows are held from here on
 *
 * over the rows that touch; P in N s, λ in N; rows under an Equality have w = 0 in both problems.
 * An approach that would rebound no faster than the speed of rest has e = 0.
 * owner: one stepper, one thread. Nothing is allocated after init. */
#pragma once

#include "solver/step/rates.h"
#include "solver/vi/vi.h"

enum {
    /* rows of all interactions; A alone is 8 MB then */
    MECH_EVENT_ROWS_MOST = 1024,
    /* numbers in the kept columns of M⁻¹Hᵀ (32 MB) */
    MECH_EVENT_COLUMNS_MOST = 1 << 22,
    MECH_EVENT_SOLVERS = 3,
    /* evaluations of v̇ in one step of the underlying scheme, and the one before it */
    MECH_EVENT_STAGES = 8
};

/* What a row does between events. RESTS: it touches, and follows from rows that are held. One that
 * is suspended is OPEN, whatever its gap. */
enum { MECH_ROW_OPEN, MECH_ROW_HELD, MECH_ROW_RESTS };

struct mech_event_rows {
    const struct mech_contact_rows *rows;
    struct mech_vi_settings settings;
    struct mech_interrupt *interrupt;
    int32_t nv;
    double rest;          /* m/s */
    double *memory;       /* of what follows */
    double *A;            /* [rows × rows] */
    double *columns;      /* [rows × nv] M⁻¹Hᵀ, or NULL: M is diagonal */
    double *inverse;      /* [nv] 1/M_ii, or NULL */
    double *part;         /* [rows × rows] A of some rows */
    double *L;            /* [rows × rows] of A_hh = L D Lᵀ by rows, 1/D on the diagonal */
    double *flags;        /* [rows] of which L is */
    double *r, *P, *best; /* [rows] of some rows */
    double *lambda;       /* [rows] of the last v̇ */
    double *size;         /* [rows] Σ |H_row| |v̇_free| of those that touch, of the last v̇ */
    double *log;          /* [MECH_EVENT_STAGES × rows] λ of each v̇ since calls was 0 */
    int32_t *list, *held; /* [rows] */
    struct mech_set *sets;
    int32_t held_count, calls;
    const struct mech_vi_type *type[MECH_EVENT_SOLVERS]; /* in their order; NULL: none */
    void *solver[MECH_EVENT_SOLVERS];
};

/* Vectors of M⁻¹Hᵀ by the factors in `rates`. 0; MECH_UNSUPPORTED (too many numbers, or a solver
 * that does not take the laws); others as mech_lsol_solve. fini accepts a zeroed struct. */
int mech_event_rows_init(struct mech_event_rows *c, const struct mech_model *m,
                         struct mech_rates *rates);
void mech_event_rows_fini(struct mech_event_rows *c);
/* True for a row under an Equality. */
bool mech_event_rows_bilateral(const struct mech_event_rows *c, int32_t row);
/* True for a row of an interaction that is not active. */
bool mech_event_rows_suspended(const struct mech_event_rows *c, int32_t row);
/* H_row x, and Σ |H_row| |x|. */
double mech_event_rows_dot(const struct mech_event_rows *c, int32_t row, const double *x);
double mech_event_rows_size(const struct mech_event_rows *c, int32_t row, const double *x);
/* Hold the rows whose flag says so; flags [rows]. */
void mech_event_rows_hold(struct mech_event_rows *c, const double *flags);
/* v̇ [nv] of the held rows from the free one, in place; λ is logged. mech_rates_vdot does it where
 * `held` of its rates is set. */
void mech_event_rows_apply(struct mech_event_rows *c, double *vdot);
/* v [nv] without the speeds of the held rows, in place. */
void mech_event_rows_project(struct mech_event_rows *c, double *v);
/* The impact of rows with touch[row]: v [nv] and P [rows] are added to. 0; MECH_VI_NOT_CONVERGED
 * (not when failures are accepted). */
int mech_event_rows_impact(struct mech_event_rows *c, const bool *touch, double *v, double *P,
                           struct mech_step_result *result);
/* Flags [rows] of all rows from the free v̇ of those that touch; then they are held. Same returns.
 */
int mech_event_rows_close(struct mech_event_rows *c, const bool *touch, const double *vdot,
                          double *flags, struct mech_step_result *result);
