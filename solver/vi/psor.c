/* Projected Gauss–Seidel (successive over-relaxation with factor 1) for w = A z + q, 0 ≤ w ⊥ z ≥ 0.
 *
 *     z_i ← max(0, z_i − w_i / A_ii)      row by row, w kept up to date by columns of A
 *
 * Bilateral rows are not projected. Converges for symmetric positive definite A (O. Mangasarian,
 * J. Optim. Theory Appl. 22, 1977) and for strictly diagonally dominant A; each sweep costs one
 * column of A per entry that moves. Stops on the natural-map residual, of a freshly computed w.
 */
#include "solver/base/err.h"
#include "solver/vi/vi.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct psor {
    double *w;    /* [most] A z + q, updated as z moves */
    double *best; /* [most] z of the smallest residual so far */
};

static int create(int32_t most, void **self)
{
    struct psor *s = calloc(1, sizeof *s);
    if (s == NULL) {
        return MECH_NO_MEMORY;
    }
    const size_t n = most > 0 ? (size_t)most : 1;
    s->w = malloc(n * sizeof *s->w);
    s->best = malloc(n * sizeof *s->best);
    if (s->w == NULL || s->best == NULL) {
        free(s->w);
        free(s->best);
        free(s);
        return MECH_NO_MEMORY;
    }
    *self = s;
    return 0;
}

static void destroy(void *self)
{
    struct psor *s = self;
    if (s != NULL) {
        free(s->w);
        free(s->best);
        free(s);
    }
}

static bool is_bilateral(const struct mech_lcp *p, int32_t i)
{
    return p->bilateral != NULL && p->bilateral[i];
}

/* w = A z + q */
static void compute_w(const struct mech_lcp *p, const double *z, double *w)
{
    memcpy(w, p->q, (size_t)p->n * sizeof *w);
    for (int32_t j = 0; j < p->n; j++) {
        if (z[j] != 0.) {
            const double *const a = p->A + (size_t)j * (size_t)p->lda;
            for (int32_t i = 0; i < p->n; i++) {
                w[i] += a[i] * z[j];
            }
        }
    }
}

/* natural map with a w at hand */
static double residual_of(const struct mech_lcp *p, const double *z, const double *w, double scale)
{
    double map = 0.;
    for (int32_t i = 0; i < p->n; i++) {
        const double next = z[i] - w[i];
        const double d = is_bilateral(p, i) ? w[i] : z[i] - (next < 0. ? 0. : next);
        map += d * d;
    }
    return map == 0. ? 0. : sqrt(map) / scale;
}

static void sweep(const struct mech_lcp *p, double *z, double *w)
{
    for (int32_t i = 0; i < p->n; i++) {
        const double *const a = p->A + (size_t)i * (size_t)p->lda;
        double next = z[i] - w[i] / a[i];
        if (next < 0. && !is_bilateral(p, i)) {
            next = 0.;
        }
        const double move = next - z[i];
        if (move != 0.) {
            z[i] = next;
            for (int32_t k = 0; k < p->n; k++) {
                w[k] += a[k] * move;
            }
        }
    }
}

/* A diagonal that cannot be divided by: not positive (unilateral rows), zero, or not a number. */
static bool refuses(const struct mech_lcp *p)
{
    for (int32_t i = 0; i < p->n; i++) {
        const double d = p->A[(size_t)i * (size_t)p->lda + (size_t)i];
        const bool fine = is_bilateral(p, i) ? d != 0. : d > 0.;
        if (!fine || !isfinite(d) || !isfinite(1. / d)) {
            return true;
        }
    }
    return false;
}

static int solve(void *self, const struct mech_lcp *p, double tolerance, int32_t max_iterations,
                 double *z, struct mech_vi_result *result)
{
    struct psor *const s = self;
    const size_t bytes = (size_t)p->n * sizeof *z;
    *result = (struct mech_vi_result){.iterations = 0, .residual = 0.};
    if (refuses(p)) {
        return MECH_SINGULAR;
    }
    double scale = 0.;
    for (int32_t i = 0; i < p->n; i++) {
        scale += p->q[i] * p->q[i];
        if (!isfinite(z[i]) || (z[i] < 0. && !is_bilateral(p, i))) {
            z[i] = 0.;
        }
    }
    if (scale == 0.) {
        memset(z, 0, bytes);
        return 0;
    }
    scale = sqrt(scale);
    if (!isfinite(scale)) {
        result->residual = NAN;
        return MECH_VI_NOT_CONVERGED;
    }

    compute_w(p, z, s->w);
    double best = residual_of(p, z, s->w, scale);
    memcpy(s->best, z, bytes);
    if (!(best > tolerance)) {
        // a NaN here comes from the data: no z can mend it
        result->residual = best;
        return isnan(best) ? MECH_VI_NOT_CONVERGED : 0;
    }
    for (int32_t k = 1; k <= max_iterations; k++) {
        sweep(p, z, s->w);
        double now = residual_of(p, z, s->w, scale);
        if (!(now > tolerance) || k % 64 == 0 || k == max_iterations) {
            // rounding gathers in the updated w: judge by a fresh one
            compute_w(p, z, s->w);
            now = residual_of(p, z, s->w, scale);
        }
        result->iterations = k;
        if (!isfinite(now)) {
            break;
        }
        if (now < best) {
            best = now;
            memcpy(s->best, z, bytes);
        }
        if (now <= tolerance) {
            result->residual = now;
            return 0;
        }
    }
    memcpy(z, s->best, bytes);
    result->residual = best;
    return MECH_VI_NOT_CONVERGED;
}

const struct mech_vi_type mech_vi_psor = {
    .name = "psor",
    .doc = "projected Gauss–Seidel; many contacts, symmetric positive definite problems",
    .create = create,
    .solve = solve,
    .destroy = destroy,
};
