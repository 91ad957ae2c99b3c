/* What the iterative members share: the scaled matrix, and the loop of corrections around a method.
 *
 * The matrix is scaled first (linalg/scale.h), so that units do not matter. Then, from x = 0,
 *
 *   r = b − A x,   d ≈ A⁻¹ r by the method (a reduction by 1e-8 is enough),   x += d
 *
 * until ‖r‖ ≤ 4 ε (‖A‖ ‖x‖ + ‖b‖), the backward error that elimination leaves as well (N. J.
 * Higham, Accuracy and Stability, 2002, section 7.1): the solution is as good as a direct solver's,
 * and r is the true residual, not the one that a recurrence carries along. ‖A‖ is bounded by
 * √(‖A‖₁ ‖A‖∞). Starting from 0, the result depends on A and b alone.
 *
 * Cost of a product: 2 flops per stored place. At most 20 n + 200 products, and 20,000, are made
 * for one right-hand side. */
#pragma once

#include "solver/base/interrupt.h"
#include "solver/linalg/mat.h"

enum { MECH_KRYLOV_PACE = 1 << 16 /* entries of vectors between two questions */ };

struct mech_krylov {
    struct mech_arena arena; /* of the method's vectors, too */
    int32_t n;
    struct mech_mat a; /* CSC, scaled */
    double *row, *col; /* [n] scales */
    double *size;      /* [2 n] largest entry of each scaled column; scratch behind */
    double norm;       /* bound of ‖A‖₂ */
    double *b;         /* [n] scaled right-hand side */
    double *x, *r;     /* [n] */
    double *d;         /* [n] correction */
    int32_t products, most;
    struct mech_interrupt *interrupt; /* asked about every millisecond, or NULL */
};

/* Shall the iterations end? Asked by methods at each product. */
static inline bool mech_krylov_ends(const struct mech_krylov *k)
{
    const int32_t pace = 1 + MECH_KRYLOV_PACE / (k->n + 1);
    return k->products % pace == 0 && mech_interrupted(k->interrupt);
}

/* One correction: d from r, with ‖r − A d‖ ≤ target if that can be had in a reasonable number of
 * products, which it counts. d is 0 at first; r may be overwritten. 0; MECH_UNSUPPORTED: not
 * positive definite; MECH_CANCELLED. */
typedef int mech_krylov_method(void *self, struct mech_krylov *k, double target);

/* Memory; 0 or negative. fini accepts a zeroed struct. */
int mech_krylov_init(struct mech_krylov *k, const struct mech_mat *a);
void mech_krylov_fini(struct mech_krylov *k);

/* Values of a, scaled. 0, or MECH_SINGULAR: column *where is zero. */
int mech_krylov_load(struct mech_krylov *k, const struct mech_mat *a, int32_t *where);

/* x := A⁻¹ x. 0; MECH_NOT_CONVERGED: too many products, no progress, or ‖A‖ ‖x‖ so large that A
 * cannot be distinguished from a singular matrix (linalg/pivot.h); the method's own code. x is not
 * changed then. */
int mech_krylov_solve(struct mech_krylov *k, mech_krylov_method *method, void *self, double *x);

double mech_krylov_dot(int32_t n, const double *x, const double *y);
double mech_krylov_length(int32_t n, const double *x);
/* y += s x */
void mech_krylov_add(int32_t n, double s, const double *x, double *y);
