/* Subspace iteration with p = max(2 count, count + 8) vectors: Y = (K + σM)⁻¹ M X, then Rayleigh
 * and Ritz in the span of Y. The shift σ is 0, or as small as makes K + σM positive definite. An
 * eigenvalue converges by (λ_i/λ_{p+1})² an iteration. Cost of one: p solves, 4 n p² flops. */
#include "solver/analysis/subspace.h"

#include "solver/base/err.h"
#include "solver/linalg/eig.h"
#include "solver/lsol/lsol.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MOST_ITERATIONS = 300 };
static const double tolerance = 1e-13;      /* of an eigenvalue from one iteration to the next */
static const size_t most_values = 20000000; /* n × p: 160 MB each of three arrays */

struct subspace {
    const struct mech_mat *K, *M;
    struct mech_arena arena;
    struct mech_lsol *solver; /* K + σ M */
    double shift;
    int32_t n, p, count;
    double *X, *MX, *Y;     /* [n × p] */
    double *k, *m, *lambda; /* [p × p], [p × p], [p] of the small problem */
    double *before;         /* [p] */
    const struct mech_subspace_report *report;
};

/* Mean eigenvalue, for the shift. */
static double scale(const struct subspace *s)
{
    double k = 0., m = 0.;

    for (int32_t i = 0; i < s->n; i++) {
        k += fabs(mech_mat_get(s->K, i, i));
        m += fabs(mech_mat_get(s->M, i, i));
    }
    return m > 0. && k > 0. ? k / m : 1.;
}

/* Factors of K + σ M with the smallest shift that lets it be. */
static int factor(struct subspace *s)
{
    const struct mech_mat *const terms[] = {s->K, s->M};
    const double mean = scale(s);
    struct mech_mat A;
    int code = mech_mat_sum(&s->arena, 2, (const double[]){1., 0.}, terms, &A);

    code = code ? code : mech_lsol_create(NULL, &A, &s->solver);
    for (double shift = 0.; code == 0; shift = shift > 0. ? 100. * shift : 1e-10 * mean) {
        mech_mat_sum_again(2, (const double[]){1., shift}, terms, &A);
        code = mech_lsol_factor(s->solver, &A);
        /* not definite is UNSUPPORTED to solvers that need that */
        if ((code != MECH_SINGULAR && code != MECH_UNSUPPORTED) || shift > 1e-3 * mean) {
            s->shift = shift;
            break;
        }
        code = 0;
    }
    if (code > 0) {
        snprintf(s->report->reason, 160, "the stiffness cannot be factored");
    }
    return code;
}

/* A fixed start that no eigenvector is orthogonal to: a generator's numbers (D. Knuth's MMIX). */
static void start(struct subspace *s)
{
    uint64_t seed = 1;

    for (size_t i = 0; i < (size_t)s->n * (size_t)s->p; i++) {
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        s->X[i] = (double)(seed >> 11) * 0x1p-53 - 0.5;
    }
}

static void times_mass(const struct subspace *s, const double *from, double *to)
{
    for (int32_t j = 0; j < s->p; j++) {
        const size_t at = (size_t)j * (size_t)s->n;

        mech_mat_mul(s->M, 1., from + at, 0., to + at);
    }
}

/* One iteration: X and λ + σ become better. */
static int iterate(struct subspace *s)
{
    const size_t values = (size_t)s->n * (size_t)s->p;

    times_mass(s, s->X, s->MX);
    memcpy(s->Y, s->MX, values * sizeof *s->Y);
    MECH_TRY(mech_lsol_solve(s->solver, s->Y, s->p));
    /* Yᵀ (K + σM) Y = Yᵀ M X */
    mech_eig_gram(s->n, s->p, s->Y, s->MX, s->k);
    times_mass(s, s->Y, s->MX);
    mech_eig_gram(s->n, s->p, s->Y, s->MX, s->m);
    MECH_TRY(mech_eig_symmetric(s->p, s->k, s->m, s->lambda));
    mech_eig_rotate(s->n, s->p, s->Y, s->k, s->X);
    return 0;
}

static bool converged(const struct subspace *s)
{
    for (int32_t i = 0; i < s->count; i++) {
        /* an eigenvalue at 0 is that of the shift alone, known to the rounding of the others */
        const double size = fabs(s->lambda[i]) + 1e-3 * fabs(s->lambda[s->count - 1] - s->shift);

        if (!(fabs(s->lambda[i] - s->before[i]) <= tolerance * size * sqrt((double)s->n))) {
            return false;
        }
    }
    return true;
}

static int run(struct subspace *s)
{
    start(s);
    for (int k = 0; k < MOST_ITERATIONS; k++) {
        MECH_TRY(iterate(s));
        if (k > 2 && converged(s)) {
            return 0;
        }
        memcpy(s->before, s->lambda, (size_t)s->p * sizeof *s->lambda);
    }
    snprintf(s->report->reason, 160, "the modes did not converge in %d subspace iterations",
             MOST_ITERATIONS);
    return MECH_NOT_CONVERGED;
}

static int allocate(struct subspace *s)
{
    const size_t values = (size_t)s->n * (size_t)s->p, small = (size_t)s->p * (size_t)s->p;

    if (values > most_values) {
        snprintf(s->report->reason, 160, "%d vectors of %d coordinates are too many", (int)s->p,
                 (int)s->n);
        return MECH_UNSUPPORTED;
    }
    double *at = mech_arena_alloc(&s->arena, 3 * values + 2 * small + 2 * (size_t)s->p, sizeof *at);
    if (!at) {
        return MECH_NO_MEMORY;
    }
    s->X = at, at += values;
    s->MX = at, at += values;
    s->Y = at, at += values;
    s->k = at, at += small;
    s->m = at, at += small;
    s->lambda = at, at += s->p;
    s->before = at;
    return 0;
}

int mech_subspace(const struct mech_mat *K, const struct mech_mat *M, int32_t count, double *lambda,
                  double *shapes, const struct mech_subspace_report *report)
{
    const int32_t wanted = 2 * count > count + 8 ? 2 * count : count + 8;
    struct subspace s = {.K = K,
                         .M = M,
                         .n = K->rows,
                         .p = wanted < K->rows ? wanted : K->rows,
                         .count = count,
                         .report = report};

    mech_arena_init(&s.arena, 0);
    int code = allocate(&s);
    code = code ? code : factor(&s);
    if (code == 0) {
        snprintf(report->linear, 32, "%s", mech_lsol_name(s.solver));
        code = run(&s);
    }
    for (int32_t i = 0; i < count && code == 0; i++) {
        lambda[i] = s.lambda[i] - s.shift;
    }
    if (code == 0) {
        memcpy(shapes, s.X, (size_t)count * (size_t)s.n * sizeof *shapes);
    }
    mech_lsol_destroy(s.solver);
    mech_arena_fini(&s.arena);
    return code;
}
