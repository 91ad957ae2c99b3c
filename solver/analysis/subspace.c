/* Subspace iteration with p = max(2 count, count + 8) vectors: Y from
 *
 *     [ K + σM  Gᵀ ] [ Y ]   [ M X ]
 *     [ G       0  ] [ · ] = [ 0   ]
 *
 * then Rayleigh and Ritz in the span of Y, where G Y = 0. The shift σ is 0, or as small as lets
 * the matrix be factored. An eigenvalue converges by (λ_i/λ_{p+1})² an iteration. Cost of one: p
 * solves, 4 n p² flops. */
#include "solver/analysis/subspace.h"

#include "solver/base/err.h"
#include "solver/base/text.h"
#include "solver/linalg/eig.h"
#include "solver/lsol/lsol.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MOST_ITERATIONS = 300, TOGETHER = 32 /* vectors between two questions */ };
static const double tolerance = 1e-13;      /* of an eigenvalue from one iteration to the next */
static const size_t most_values = 20000000; /* n × p: 160 MB each of three arrays */

struct subspace {
    const struct mech_mat *K, *M;
    struct mech_arena arena;
    struct mech_lsol *solver; /* of the matrix above */
    double shift;
    int32_t n, p, count, rows;
    double *X, *MX, *Y;     /* [n × p] */
    double *column;         /* [n + rows] */
    double *k, *m, *lambda; /* [p × p], [p × p], [p] of the small problem */
    double *before;         /* [p] */
    const struct mech_subspace_problem *problem;
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

/* The matrix above for a shift, and its solver. */
static int form(struct subspace *s, double shift, struct mech_mat *A)
{
    const struct mech_mat *const terms[] = {s->K, s->M};
    struct mech_triplet *t = NULL, *g = NULL;
    size_t count = 0, rows = 0;

    MECH_TRY(mech_mat_sum(&s->arena, 2, (const double[]){1., shift}, terms, A));
    if (s->rows) {
        MECH_TRY(mech_mat_triplets(&s->arena, A, &t, &count));
        MECH_TRY(mech_mat_triplets(&s->arena, s->problem->G, &g, &rows));
        struct mech_triplet *const all =
            mech_arena_alloc(&s->arena, count + 2 * rows + (size_t)s->rows, sizeof *all);
        if (!all) {
            return MECH_NO_MEMORY;
        }
        memcpy(all, t, count * sizeof *all);
        for (size_t k = 0; k < rows; k++) {
            all[count++] = (struct mech_triplet){s->n + g[k].row, g[k].col, g[k].value};
            all[count++] = (struct mech_triplet){g[k].col, s->n + g[k].row, g[k].value};
        }
        /* a row without entries is no condition */
        struct mech_triplet *const corner = all + count;
        for (int32_t r = 0; r < s->rows; r++) {
            corner[r] = (struct mech_triplet){s->n + r, s->n + r, 1.};
        }
        for (size_t k = 0; k < rows; k++) {
            corner[g[k].row].value = 0.;
        }
        count += (size_t)s->rows;
        MECH_TRY(mech_mat_from_triplets(&s->arena, s->n + s->rows, s->n + s->rows, all, count, A));
    }
    MECH_TRY(mech_lsol_create(NULL, A, &s->solver));
    mech_lsol_listen(s->solver, s->problem->interrupt);
    return 0;
}

/* Factors with the smallest shift that lets it be. */
static int factor(struct subspace *s)
{
    const double mean = scale(s);
    int code = 0;

    for (double shift = 0.;; shift = shift > 0. ? 100. * shift : 1e-10 * mean) {
        struct mech_mat A;

        mech_lsol_destroy(s->solver);
        s->solver = NULL;
        code = form(s, shift, &A);
        code = code ? code : mech_lsol_factor(s->solver, &A);
        s->shift = shift;
        /* not definite is UNSUPPORTED to solvers that need that */
        if ((code != MECH_SINGULAR && code != MECH_UNSUPPORTED) || shift > 1e-3 * mean) {
            break;
        }
    }
    if (code > 0 && code != MECH_CANCELLED) {
        mech_text_format(s->problem->reason, 160, "the stiffness cannot be factored");
    }
    return code;
}

/* x [n × count] := what the matrix makes of it */
static int solve(struct subspace *s, double *x, int32_t count)
{
    const size_t n = (size_t)s->n;

    for (int32_t j = 0; j < count && !s->rows; j += TOGETHER) {
        const int32_t some = count - j < TOGETHER ? count - j : TOGETHER;

        MECH_TRY(mech_lsol_solve(s->solver, x + (size_t)j * n, some));
        if (mech_interrupted(s->problem->interrupt)) {
            return MECH_CANCELLED;
        }
    }
    for (int32_t j = 0; j < count && s->rows; j++) {
        if (mech_interrupted(s->problem->interrupt)) {
            return MECH_CANCELLED;
        }
        memcpy(s->column, x + (size_t)j * n, n * sizeof *x);
        memset(s->column + n, 0, (size_t)s->rows * sizeof *x);
        MECH_TRY(mech_lsol_solve(s->solver, s->column, 1));
        memcpy(x + (size_t)j * n, s->column, n * sizeof *x);
    }
    return 0;
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

static int times_mass(const struct subspace *s, const double *from, double *to)
{
    for (int32_t j = 0; j < s->p; j++) {
        const size_t at = (size_t)j * (size_t)s->n;

        mech_mat_mul(s->M, 1., from + at, 0., to + at);
        if (j % TOGETHER == 0 && mech_interrupted(s->problem->interrupt)) {
            return MECH_CANCELLED;
        }
    }
    return 0;
}

/* out [p × p] = Aᵀ B */
static int gram(const struct subspace *s, const double *A, const double *B, double *out)
{
    for (int32_t j = 0; j < s->p; j += TOGETHER) {
        const int32_t some = s->p - j < TOGETHER ? s->p - j : TOGETHER;

        mech_eig_gram(s->n, s->p, some, A, B + (size_t)j * (size_t)s->n,
                      out + (size_t)j * (size_t)s->p);
        if (mech_interrupted(s->problem->interrupt)) {
            return MECH_CANCELLED;
        }
    }
    return 0;
}

/* out [n × p] = A Q, Q [p × p] */
static int rotate(const struct subspace *s, const double *A, const double *Q, double *out)
{
    for (int32_t j = 0; j < s->p; j += TOGETHER) {
        const int32_t some = s->p - j < TOGETHER ? s->p - j : TOGETHER;

        mech_eig_rotate(s->n, s->p, some, A, Q + (size_t)j * (size_t)s->p,
                        out + (size_t)j * (size_t)s->n);
        if (mech_interrupted(s->problem->interrupt)) {
            return MECH_CANCELLED;
        }
    }
    return 0;
}

/* One iteration: X and λ + σ become better. */
static int iterate(struct subspace *s)
{
    const size_t values = (size_t)s->n * (size_t)s->p;

    MECH_TRY(times_mass(s, s->X, s->MX));
    memcpy(s->Y, s->MX, values * sizeof *s->Y);
    MECH_TRY(solve(s, s->Y, s->p));
    /* Yᵀ (K + σM) Y = Yᵀ M X */
    MECH_TRY(gram(s, s->Y, s->MX, s->k));
    MECH_TRY(times_mass(s, s->Y, s->MX));
    MECH_TRY(gram(s, s->Y, s->MX, s->m));
    MECH_TRY(mech_eig_symmetric(s->p, s->k, s->m, s->lambda));
    return rotate(s, s->Y, s->k, s->X);
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
    mech_text_format(s->problem->reason, 160,
                     "the modes did not converge in %d subspace iterations", MOST_ITERATIONS);
    return MECH_NOT_CONVERGED;
}

static int allocate(struct subspace *s)
{
    const size_t values = (size_t)s->n * (size_t)s->p, small = (size_t)s->p * (size_t)s->p;

    if (values > most_values) {
        mech_text_format(s->problem->reason, 160, "%d vectors of %d coordinates are too many",
                         (int)s->p, (int)s->n);
        return MECH_UNSUPPORTED;
    }
    const size_t column = (size_t)s->n + (size_t)s->rows;
    double *at =
        mech_arena_alloc(&s->arena, 3 * values + 2 * small + 2 * (size_t)s->p + column, sizeof *at);
    if (!at) {
        return MECH_NO_MEMORY;
    }
    s->X = at, at += values;
    s->MX = at, at += values;
    s->Y = at, at += values;
    s->k = at, at += small;
    s->m = at, at += small;
    s->lambda = at, at += s->p;
    s->before = at, at += s->p;
    s->column = at;
    return 0;
}

/* x · y */
static double dot(const struct subspace *s, const double *x, const double *y)
{
    double sum = 0.;

    for (int32_t i = 0; i < s->n; i++) {
        sum += x[i] * y[i];
    }
    return sum;
}

/* The root of a xᵀ A x, 0 of what rounding leaves of it; NaN stays. */
static double root_of(double square)
{
    return square <= 0. ? 0. : sqrt(square);
}

/* √(xᵀ M x); MX is overwritten */
static double length_of(const struct subspace *s, const double *x)
{
    mech_mat_mul(s->M, 1., x, 0., s->MX);
    return root_of(dot(s, x, s->MX));
}

/* ‖φ − (λ + σ) A⁻¹ M φ‖ in the norm of M, φ of unit length in it */
static int residuals(struct subspace *s, double *residual)
{
    const size_t n = (size_t)s->n;

    MECH_TRY(times_mass(s, s->X, s->MX));
    memcpy(s->Y, s->MX, n * (size_t)s->count * sizeof *s->Y);
    MECH_TRY(solve(s, s->Y, s->count));
    for (int32_t j = 0; j < s->count; j++) {
        const size_t at = (size_t)j * n;

        for (size_t i = 0; i < n; i++) {
            s->column[i] = s->X[at + i] - s->lambda[j] * s->Y[at + i];
        }
        residual[j] = length_of(s, s->column);
    }
    return 0;
}

static int refuse(const struct subspace *s, const char *name)
{
    mech_text_format(s->problem->reason, 160,
                     "the %s is not symmetric, and complex modes are computed up to %d coordinates",
                     name, s->problem->dense);
    return MECH_UNSUPPORTED;
}

static int check_mass(struct subspace *s)
{
    static const double to[] = {MECH_SYMMETRIC_TO, MECH_SYMMETRIC_TO};
    bool symmetric;

    MECH_TRY(mech_symmetric(&s->arena, s->M, to, &symmetric));
    return symmetric ? 0 : refuse(s, "mass matrix");
}

/* x −= Σ_j part_j y_j, j < count */
static void leave_out(const struct subspace *s, const double *part, const double *y, int32_t count,
                      double *x)
{
    const size_t n = (size_t)s->n;

    for (size_t j = 0; j < (size_t)count; j++) {
        for (size_t i = 0; i < n; i++) {
            x[i] -= part[j] * y[j * n + i];
        }
    }
}

/* y of a mode, as in symmetry.h: √(yᵀ A y), and ‖y‖ without its parts along all that are known, 0
 * where those that are not are farther than twice its eigenvalue. */
struct rest {
    double root, length;
};

/* Of mode i; y loses these parts; work [n]. */
static struct rest rest_of(const struct subspace *s, int32_t i, double *y, double *work)
{
    mech_mat_mul(s->K, 1., y, 0., work);
    mech_mat_mul(s->M, s->shift, y, 1., work);
    const double root = root_of(dot(s, y, work));

    if (s->lambda[s->p - 1] >= 2. * s->lambda[i]) {
        return (struct rest){.root = root};
    }
    for (int32_t j = 0; j < s->p; j++) {
        const size_t at = (size_t)j * (size_t)s->n;
        const double part = dot(s, s->MX + at, y);

        leave_out(s, &part, s->X + at, 1, y);
    }
    mech_mat_mul(s->M, 1., y, 0., work);
    return (struct rest){root, root_of(dot(s, y, work))};
}

/* Whether mode i moves by no more than it may, with modes that are not known. */
static bool stays(const struct subspace *s, int32_t i, const struct rest *rest,
                  const struct mech_symmetry_mode *mode)
{
    const double last = s->lambda[s->count - 1], farthest = s->lambda[s->p - 1];
    const double root = rest->root - mode->known_to / sqrt(last);
    const double length = rest->length - mode->known_to / farthest;
    const double far = root <= 0. ? 0. : 2. * root * root;
    const double near = length <= 0. ? 0. : 2. * s->lambda[i] * length;

    return mode->moves + far + near <= mode->allowed;
}

/* Whether K and ½ (K + Kᵀ) have the same modes. 0; MECH_UNSUPPORTED with the reason; negative. */
static int check_symmetric(struct subspace *s)
{
    const struct mech_symmetry *const symmetry = s->problem->symmetry;
    const struct mech_symmetry_modes of = {
        .n = s->n, .p = s->p, .shapes = s->X, .lambda = s->lambda, .shift = s->shift};
    const size_t n = (size_t)s->n;
    double *const work = mech_arena_alloc(&s->arena, 2 * n, sizeof *work);
    bool all = true;

    if (!work) {
        return MECH_NO_MEMORY;
    }
    MECH_TRY(times_mass(s, s->X, s->MX));
    for (int32_t j = 0; j < s->p; j++) {
        mech_mat_mul(&symmetry->odd, 1., s->X + (size_t)j * n, 0., s->Y + (size_t)j * n);
    }
    MECH_TRY(gram(s, s->X, s->Y, s->k));
    for (int32_t i = 0; i < s->count; i++) {
        leave_out(s, s->k + (size_t)i * (size_t)s->p, s->MX, s->count, s->Y + (size_t)i * n);
    }
    MECH_TRY(solve(s, s->Y, s->count));
    for (int32_t i = 0; i < s->count && all; i++) {
        const double *const b = s->k + (size_t)i * (size_t)s->p;
        const struct rest rest = rest_of(s, i, s->Y + (size_t)i * n, work);
        struct mech_symmetry_mode mode;

        if (mech_interrupted(s->problem->interrupt)) {
            return MECH_CANCELLED;
        }
        mech_symmetry_glance(&of, i, b, &mode);
        if (!stays(s, i, &rest, &mode)) {
            mech_symmetry_look(symmetry, &of, i, b, work, &mode);
            all = stays(s, i, &rest, &mode);
        }
    }
    return all ? 0 : refuse(s, "stiffness");
}

int mech_subspace(const struct mech_subspace_problem *p, double *lambda, double *shapes,
                  double *residual)
{
    const int32_t count = p->count, n = p->K->rows;
    const int32_t wanted = 2 * count > count + 8 ? 2 * count : count + 8;
    const int32_t rows = p->G->kind == MECH_MAT_ZERO ? 0 : p->G->rows;
    struct subspace s = {.K = p->K,
                         .M = p->M,
                         .n = n,
                         .rows = rows,
                         .p = wanted < n - rows ? wanted : n - rows,
                         .count = count,
                         .problem = p};

    mech_arena_init(&s.arena, 0);
    int code = check_mass(&s);
    code = code ? code : allocate(&s);
    code = code ? code : factor(&s);
    if (code == 0) {
        snprintf(p->linear, 32, "%s", mech_lsol_name(s.solver));
        code = run(&s);
    }
    for (int32_t i = 0; i < count && code == 0; i++) {
        lambda[i] = s.lambda[i] - s.shift;
    }
    if (code == 0) {
        memcpy(shapes, s.X, (size_t)count * (size_t)s.n * sizeof *shapes);
        code = residuals(&s, residual);
        code = code || p->symmetry->odd.kind == MECH_MAT_ZERO ? code : check_symmetric(&s);
    }
    mech_lsol_destroy(s.solver);
    mech_arena_fini(&s.arena);
    return code;
}
