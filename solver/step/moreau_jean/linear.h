/* The numerics of the Moreau–Jean scheme (solver/README.md) for linear systems with contact
 * rows, on nothing but matrices and vectors; linear.c makes an integrator of it.
 *
 *     W = M + hθC + h²θ²K,   A = H W⁻¹ Hᵀ                             once per h
 *     active  { α : y_k + γ h ẏ_k ≤ threshold }
 *     free    r = h C v_k + h K (q_k − q_ref + hθ v_k) − h F;   v_free = v_k − W⁻¹ r
 *     solve   w = A P + H v_free + e ẏ_k,   0 ≤ w ⊥ P ≥ 0,  or the law of its contact: friction
 *             on the rows behind a normal one, w = 0 (equality), h lower ≤ P ≤ h upper (relay)
 *             compliant contacts:  w = (A + E) P + H v_free + [y_k + (1 − θ)(hθ + s d) ẏ_k]/α,
 *             α = θ (hθ + s d),  E = s/(h α): the spring 1/s and the damper d of the contact, taken
 *             at v_θ and at the q_θ of K
 *     update  v_{k+1} = v_free + W⁻¹ Hᵀ P;   q_{k+1} = q_k + h [θ v_{k+1} + (1 − θ) v_k]
 *
 * with F = (1 − θ) F(t_k) + θ F(t_{k+1}), N, and impulses P, N s. One K product per step.
 * owner: one stepper, one thread. Steps allocate nothing.
 */
#pragma once

#include "solver/lsol/lsol.h"
#include "solver/model/model.h"
#include "solver/step/stepper.h"
#include "solver/vi/banded_set.h"
#include "solver/vi/vi.h"

enum {
    /* rows of all interactions; A alone is 8 MB then */
    MECH_CONTACT_ROWS_MOST = 1024,
    /* numbers in the kept columns of W⁻¹Hᵀ (8 MB); beyond, one more solve per step with impulses */
    MECH_CONTACT_COLUMNS_MOST = 1 << 20,
    MECH_IMPACT_SOLVERS = 3,
};

struct mech_moreau_jean_settings {
    double theta, gamma, threshold;
    const char *linear;               /* linear solver, or NULL */
    struct mech_vi_settings vi;       /* type NULL: chosen by the number of active rows */
    struct mech_interrupt *interrupt; /* or NULL */
    const struct mech_model *model;   /* names the rows; or NULL */
    const bool *held; /* [nv] coordinates that no impulse moves, or NULL: there are none */
};

/* Free motion: W and v_free. */
struct mech_free_motion {
    const struct mech_linear_part *part;
    struct mech_arena arena; /* of W and the vectors */
    struct mech_mat W;
    struct mech_lsol *solver;
    double *inverse; /* [nv] 1/W_ii when W is diagonal, or NULL */
    double *u;       /* [nv] q − q_ref (+ hθ v) */
    bool merged;     /* C is read as a part of W; see linear_free.c */
    double h, theta; /* W is factored for this h; 0: not yet */
};

/* Memory and pattern of W; 0, MECH_UNSUPPORTED (the linear solver named does not suit),
 * MECH_SINGULAR, negative. fini accepts a zeroed struct. */
int mech_free_motion_init(struct mech_free_motion *f, const struct mech_linear_part *part,
                          double theta, double h, const char *linear);
void mech_free_motion_fini(struct mech_free_motion *f);
/* W for this h. 0; MECH_SINGULAR with the coordinate in *where. */
int mech_free_motion_factor(struct mech_free_motion *f, double h, int32_t *where);
/* x := W⁻¹ x, x [nv]. Returns as mech_lsol_solve. */
int mech_free_motion_solve(const struct mech_free_motion *f, double *x);
/* dv [nv] = v_free − v_k = −W⁻¹ r. Returns as mech_lsol_solve. */
int mech_free_motion_velocity(const struct mech_free_motion *f, const double *q, const double *v,
                              const double *force, double *dv);

/* Contact rows: active set, A, impulses. */
struct mech_impacts {
    const struct mech_contact_rows *rows;
    const struct mech_free_motion *motion;
    struct mech_moreau_jean_settings settings;
    double *memory;  /* of the vectors and matrices below */
    double *A;       /* [count × count] H W⁻¹ Hᵀ + E by columns */
    double *columns; /* [count × nv] W⁻¹Hᵀ, or NULL: W is diagonal, or too large */
    double *part;    /* [count × count] A of the active rows, or their band by columns */
    bool symmetric;  /* A, up to rounding: M, C and K are */
    int32_t width;   /* diagonals of A below the main one when it is a narrow band, or -1 */
    int32_t *colptr, *rowind; /* of that band: [count + 1], [count × (2 width + 1)] */
    double *work;             /* [nv] */
    double *gap, *speed;      /* [count] y_k and ẏ_k of the active rows */
    double *b, *P, *best;     /* [count] of the active rows */
    int32_t *active;          /* [count] row numbers, ascending */
    int32_t count;            /* active rows */
    bool *held;            /* [count] rows of held coordinates alone, without compliance; or NULL */
    struct mech_set *sets; /* [contacts] of the active ones, or NULL: unilateral rows alone */
    int32_t contacts;
    const struct mech_vi_type *type[MECH_IMPACT_SOLVERS]; /* in their order; NULL: none */
    void *solver[MECH_IMPACT_SOLVERS];
};

/* rows may be NULL or empty. 0; MECH_UNSUPPORTED (more rows than MECH_CONTACT_ROWS_MOST, a law or a
 * solver that is not known); negative. fini accepts a zeroed struct. */
int mech_impacts_init(struct mech_impacts *c, const struct mech_contact_rows *rows,
                      const struct mech_free_motion *motion,
                      const struct mech_moreau_jean_settings *settings);
void mech_impacts_fini(struct mech_impacts *c);
/* A for the W that the free motion has now. Returns as mech_lsol_solve. */
int mech_impacts_factor(struct mech_impacts *c);
/* Active rows at (q, v), none of them suspended. */
void mech_impacts_find(struct mech_impacts *c, const double *q, const double *v);
/* P from v and the free change of velocity; added to dv [nv] as W⁻¹HᵀP and written to impulse
 * [count of all rows]; 0 on rows of held coordinates, where no P helps. 0; MECH_VI_NOT_CONVERGED
 * (not when failures are accepted), with the reason where there is no P. */
int mech_impacts_solve(struct mech_impacts *c, const double *v, double *dv, double *impulse,
                       struct mech_step_result *result);
/* Name of the solver preferred for all rows active; "" without rows. */
const char *mech_impacts_solver(const struct mech_impacts *c);

/* Both together: one system. */
struct mech_moreau_jean {
    struct mech_free_motion motion;
    struct mech_impacts impacts;
    double *dv; /* [nv] change of velocity of the last step */
};

int mech_moreau_jean_init(struct mech_moreau_jean *s, const struct mech_linear_part *part,
                          const struct mech_contact_rows *rows,
                          const struct mech_moreau_jean_settings *settings, double h);
void mech_moreau_jean_fini(struct mech_moreau_jean *s);
/* W and A for this h, unless they are. 0; MECH_SINGULAR with the coordinate in *where. */
int mech_moreau_jean_factor(struct mech_moreau_jean *s, double h, int32_t *where);
/* One step of the size last factored, in place; force [nv] is F above. Of the state: q, v, vdot
 * (the mean acceleration), impulse [rows]. 0; MECH_VI_NOT_CONVERGED with a reason; then q and v are
 * of no use. Whether the numbers are finite is for the caller to see, once a step for all
 * schemes. */
int mech_moreau_jean_step(struct mech_moreau_jean *s, const double *force, struct mech_state *state,
                          struct mech_step_result *result);
