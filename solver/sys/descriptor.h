/* The system descriptor: a mixed problem as blocks, never as one matrix unless it is asked for.
 *
 *     [ H  −Gᵀ ] [ w ]   [  f ]   [ 0 ]      H = a M + Σ (k K + r R + m M') of the stiffness blocks
 *     [ G   E  ] [ l ] − [ −b ] = [ c ]      E = diag(cfm) ≥ 0,  l and c bound by sets (sets.h)
 *
 * Variables carry a mass block (mass.h) and may be frozen: then they have no offset and drop out of
 * every product. Constraints act on any number of variables; a half on a frozen one drops out. A
 * constraint is active when it is valid and not disabled, redundant, broken or free.
 *
 *   mech_descriptor_create(&d);
 *   mech_descriptor_add_mass(d, &mass, &at);  mech_descriptor_add_variables(d, &spec, &v);  …
 *   mech_descriptor_close(d);                 // counts and offsets; again after any flag changed
 *
 * All system vectors have mech_descriptor_size entries: w [velocities], l [rows] of the active
 * ones, in the order of insertion. owner: one thread. Nothing but the add functions and the
 * matrices allocates. */
#pragma once

#include "solver/linalg/mat.h"
#include "solver/sys/mass.h"
#include "solver/sys/sets.h"

#include <stddef.h>

struct mech_descriptor;

struct mech_descriptor_size {
    int32_t velocities, rows;    /* active scalar ones */
    int32_t variables, frozen;   /* blocks inserted; how many of them are frozen */
    int32_t constraints, blocks; /* inserted constraints, stiffness blocks */
};

int mech_descriptor_create(struct mech_descriptor **out);
void mech_descriptor_destroy(struct mech_descriptor *d);

/* --- insertion: 0, and the index of the new one in *at; MECH_INVALID: an index or size is wrong;
 * what the mass says; negative: no memory ------------------------------------------------------ */

int mech_descriptor_add_mass(struct mech_descriptor *d, const struct mech_mass *mass, int32_t *at);

struct mech_variables {
    int32_t mass;
    const double *w, *f; /* [n] start values and known terms, or NULL: zeros */
    bool frozen;
};
int mech_descriptor_add_variables(struct mech_descriptor *d, const struct mech_variables *spec,
                                  int32_t *at);

enum mech_constraint_flag {
    MECH_CONSTRAINT_INVALID = 1,
    MECH_CONSTRAINT_DISABLED = 2,
    MECH_CONSTRAINT_REDUNDANT = 4,
    MECH_CONSTRAINT_BROKEN = 8,
    MECH_CONSTRAINT_FREE = 16
};

struct mech_constraint_half {
    int32_t variables;
    const double *jacobian; /* [rows × n] by rows; [rows × listed] with a list */
    /* the velocities of the block that jacobian is about, when it is not about all of them */
    const int32_t *list;
    int32_t listed;
};
struct mech_constraint {
    struct mech_set set;
    const struct mech_constraint_half *halves; /* [count] */
    int32_t count;
    const double *b, *cfm, *l; /* [set.rows], or NULL: zeros */
    uint32_t flags;            /* enum mech_constraint_flag */
};
int mech_descriptor_add_constraint(struct mech_descriptor *d, const struct mech_constraint *spec,
                                   int32_t *at);

/* A stiffness block over several variables: K, R, M' [n × n] by columns over their velocities one
 * after the other, or as matrices of any form; NULL: zeros. A large block costs what its pattern
 * costs. */
struct mech_stiffness {
    const int32_t *variables; /* [count] */
    int32_t count;
    const double *K, *R, *M;
    const struct mech_mat *K_mat, *R_mat, *M_mat; /* read where K, R, M are NULL */
};
int mech_descriptor_add_stiffness(struct mech_descriptor *d, const struct mech_stiffness *spec,
                                  int32_t *at);

/* --- changes; then close again ---------------------------------------------------------------- */

void mech_descriptor_freeze(struct mech_descriptor *d, int32_t variables, bool frozen);
void mech_descriptor_flag(struct mech_descriptor *d, int32_t constraint, uint32_t flags);
/* a of a M; k, r, m of all stiffness blocks. Defaults 1; 1, 0, 0. */
void mech_descriptor_mass_factor(struct mech_descriptor *d, double a);
void mech_descriptor_stiffness_factors(struct mech_descriptor *d, double k, double r, double m);
double mech_descriptor_get_mass_factor(const struct mech_descriptor *d);
/* True when H is a M of the mass blocks alone: no stiffness block counts with the present factors,
 * and all variables that are not frozen have a mass. */
bool mech_descriptor_lumped(const struct mech_descriptor *d);

struct mech_descriptor_size mech_descriptor_close(struct mech_descriptor *d);
struct mech_descriptor_size mech_descriptor_sizes(const struct mech_descriptor *d);
/* Offsets in w and l; −1: frozen, not active. */
int32_t mech_descriptor_variables_offset(const struct mech_descriptor *d, int32_t variables);
int32_t mech_descriptor_constraint_offset(const struct mech_descriptor *d, int32_t constraint);

/* --- vectors ---------------------------------------------------------------------------------- */

void mech_descriptor_f(const struct mech_descriptor *d, double *f);              /* [w] */
void mech_descriptor_b(const struct mech_descriptor *d, double *b);              /* [l] */
void mech_descriptor_d(const struct mech_descriptor *d, double *out);            /* {f; −b} */
void mech_descriptor_diagonal(const struct mech_descriptor *d, double *out);     /* {H; E} */
void mech_descriptor_get_w(const struct mech_descriptor *d, double *w);          /* [w] */
void mech_descriptor_get_l(const struct mech_descriptor *d, double *l);          /* [l] */
void mech_descriptor_get_unknowns(const struct mech_descriptor *d, double *out); /* {w; l} */
void mech_descriptor_set_w(struct mech_descriptor *d, const double *w);
void mech_descriptor_set_l(struct mech_descriptor *d, const double *l);
void mech_descriptor_set_unknowns(struct mech_descriptor *d, const double *x);
/* Sets of the active rows in order into out, which has room for all constraints; returns how many.
 */
int32_t mech_descriptor_sets(const struct mech_descriptor *d, struct mech_set *out);

/* --- products --------------------------------------------------------------------------------- */

/* out {w; l} = [H −Gᵀ; G E] {w; l}; x and out do not overlap */
void mech_descriptor_product(const struct mech_descriptor *d, const double *x, double *out);
/* out [w] = H w, G w [l], Gᵀ l [w] */
void mech_descriptor_H(const struct mech_descriptor *d, const double *w, double *out);
void mech_descriptor_G(const struct mech_descriptor *d, const double *w, double *out);
void mech_descriptor_Gt(const struct mech_descriptor *d, const double *l, double *out);

/* x [w] := H⁻¹ x by the code that factored H; 0 or an outcome. */
struct mech_inverse {
    int (*solve)(void *self, double *x);
    void *self;
};
/* out [l] = (G H⁻¹ Gᵀ + E) l; work [w]. inverse NULL: by the mass blocks alone, MECH_UNSUPPORTED
 * when H is not lumped, MECH_SINGULAR when their factor is 0. enabled [l] masks rows: those that
 * are off neither push nor are written (0); NULL: all. */
int mech_descriptor_schur(const struct mech_descriptor *d, const struct mech_inverse *inverse,
                          const bool *enabled, const double *l, double *work, double *out);
/* l [l] and the l part of {w; l} into their sets. */
void mech_descriptor_project(const struct mech_descriptor *d, const bool *enabled, double *l);
void mech_descriptor_project_unknowns(const struct mech_descriptor *d, double *x);

/* Of the (w, l) kept: the largest violation of c (|c| of bilateral rows and between the bounds of a
 * box, at a bound its wrong sign, −c of normal rows), and the largest |l c| of normal rows. work
 * [w + l]. */
struct mech_feasibility {
    double violation, complementarity;
};
struct mech_feasibility mech_descriptor_feasibility(const struct mech_descriptor *d, double *work);
