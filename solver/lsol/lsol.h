/* Linear solvers behind one interface: factor once, solve often.
 *
 * A member (one file, one line in lsols.def) states which matrices suit it; mech_lsol_create takes
 * the requested one, or the cheapest that suits; those for only positive definite matrices and
 * iterative ones are never taken unless requested. owner: one thread.
 *
 *   struct mech_lsol *s;
 *   MECH_TRY(mech_lsol_create(NULL, &w, &s));   // symbolic analysis and all memory
 *   MECH_TRY(mech_lsol_factor(s, &w));          // no allocation; again when the values change
 *   MECH_TRY(mech_lsol_solve(s, x, 1));         // x := W⁻¹ x
 */
#pragma once

#include "solver/base/interrupt.h"
#include "solver/linalg/mat.h"

struct mech_lsol;

struct mech_lsol_type {
    const char *name; /* as the model's solver.linear names it */
    const char *doc;
    bool definite;  /* only for symmetric positive definite matrices, which values decide */
    bool iterative; /* has no factor: solve may fail, and a singular matrix may show only there */
    /* Estimated flops of factor + 10 solves for this pattern, or a negative number: does not suit.
     * */
    double (*cost)(const struct mech_mat *a);
    /* 0, MECH_SINGULAR (structurally), or negative. Reads the pattern of a only, of which
     * `symmetric` is a part. */
    int (*create)(const struct mech_mat *a, void **self);
    /* 0; MECH_SINGULAR, or MECH_UNSUPPORTED (`definite`: not positive definite), with the column in
     * *where. Copies what it needs of a, whose values are
     * finite and whose pattern is the one of create. The result depends on a alone, not on what was
     * factored before. No allocation (klu, cholmod: see there). */
    int (*factor)(void *self, const struct mech_mat *a, int32_t *where);
    /* x [n × count] by columns, in place. Cannot fail after a factor that returned 0, but for
     * `iterative` members: MECH_NOT_CONVERGED, MECH_UNSUPPORTED (not positive definite),
     * MECH_CANCELLED; then the column that failed and those behind it are not changed. No
     * allocation. */
    int (*solve)(void *self, double *x, int32_t count);
    void (*destroy)(void *self); /* accepts NULL */
    /* Factors, or iterations, ask this now and then, and end with MECH_CANCELLED; NULL: members
     * that do not ask, whose work is bounded (1e11 flops). */
    void (*listen)(void *self, struct mech_interrupt *interrupt);
};

#define MECH_LSOL(name) extern const struct mech_lsol_type mech_lsol_##name;
#include "solver/lsol/lsols.def"
#undef MECH_LSOL

/* Registry, sorted by name, closed by NULL. */
extern const struct mech_lsol_type *const mech_lsol_types[];
const struct mech_lsol_type *mech_lsol_find(const char *name);

/* name: a member, or NULL to choose. 0; MECH_NOT_FOUND; MECH_UNSUPPORTED (does not suit);
 * MECH_SINGULAR; negative. */
int mech_lsol_create(const char *name, const struct mech_mat *a, struct mech_lsol **out);
void mech_lsol_destroy(struct mech_lsol *s);
/* From now on long factorizations and iterations poll `interrupt`, which outlives the solver;
 * NULL: none. */
void mech_lsol_listen(struct mech_lsol *s, struct mech_interrupt *interrupt);
const char *mech_lsol_name(const struct mech_lsol *s);
/* 0; MECH_SINGULAR (also for a value that is not finite); MECH_UNSUPPORTED: the requested member is
 * for positive definite matrices; MECH_CANCELLED: it was interrupted; negative: the pattern is
 * another one, or (klu, cholmod) no memory. After anything but 0 the solver needs a new factor
 * before it can solve. */
int mech_lsol_factor(struct mech_lsol *s, const struct mech_mat *a);
/* Column of the zero pivot (see linalg/pivot.h), or of the first value that is not finite, after
 * mech_lsol_factor returned MECH_SINGULAR or MECH_UNSUPPORTED. */
int32_t mech_lsol_where(const struct mech_lsol *s);
/* x := A⁻¹ x for count columns [n]. 0; of members that iterate MECH_NOT_CONVERGED,
 * MECH_UNSUPPORTED and MECH_CANCELLED, as above. */
int mech_lsol_solve(struct mech_lsol *s, double *x, int32_t count);
