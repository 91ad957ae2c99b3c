/* Complementarity solvers behind one interface.
 *
 *     w = A z + q,   per row 0 ≤ w ⊥ z ≥ 0   (unilateral)   or   w = 0 (bilateral)
 *
 * A is dense by columns [n × n], leading dimension lda. Residual (solver/README.md):
 * ‖z − max(0, z − w)‖₂ / ‖q‖₂ (the bilateral rows count with |w|). owner: one thread; no allocation
 * in solve for n up to the `most` of create.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct mech_lcp {
    int32_t n;
    const double *A; /* [n × n] by columns */
    int32_t lda;
    const double *q;       /* [n] */
    const bool *bilateral; /* [n], or NULL: none */
};

struct mech_vi_result {
    int32_t iterations; /* pivots or sweeps */
    double residual;
};

struct mech_vi_type {
    const char *name; /* as solver.vi.type */
    const char *doc;
    int (*create)(int32_t most, void **self); /* negative: no memory */
    /* z [n]: warm start in, solution out. tolerance > 0. 0 only when the residual is at most the
     * tolerance; MECH_VI_NOT_CONVERGED (z: best so far, finite); MECH_SINGULAR (a zero pivot or
     * diagonal that this method cannot take; z as it came). */
    int (*solve)(void *self, const struct mech_lcp *p, double tolerance, int32_t max_iterations,
                 double *z, struct mech_vi_result *result);
    void (*destroy)(void *self);
};

extern const struct mech_vi_type *const mech_vi_types[]; /* sorted, closed by NULL */
const struct mech_vi_type *mech_vi_find(const char *name);

/* The residual above, for any z (w = A z + q is computed). 0 / 0 counts as 0. */
double mech_lcp_residual(const struct mech_lcp *p, const double *z);
