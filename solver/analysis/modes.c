/* Modes of small models by LAPACK; see modes.h. Larger ones: subspace.c. */
#include "solver/analysis/modes.h"

#include "solver/analysis/subspace.h"
#include "solver/analysis/tangents.h"
#include "solver/base/err.h"
#include "solver/linalg/eig.h"
#include "solver/lsol/lsol.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const double pi = 3.14159265358979323846;

/* A by columns into out [n × n] */
static int spread(struct mech_arena *arena, const struct mech_mat *A, double *out)
{
    struct mech_triplet *t = NULL;
    size_t count = 0;

    if (A->kind == MECH_MAT_ZERO) {
        return 0;
    }
    MECH_TRY(mech_mat_triplets(arena, A, &t, &count));
    for (size_t k = 0; k < count; k++) {
        out[(size_t)t[k].col * (size_t)A->rows + (size_t)t[k].row] = t[k].value;
    }
    return 0;
}

/* Symmetric up to rounding; then made so to the bit. */
static bool symmetrize(size_t n, double *A)
{
    double largest = 0., difference = 0.;

    for (size_t j = 0; j < n; j++) {
        for (size_t i = 0; i < j; i++) {
            double *const a = &A[j * n + i], *const b = &A[i * n + j];

            largest = fmax(largest, fmax(fabs(*a), fabs(*b)));
            difference = fmax(difference, fabs(*a - *b));
            *a = *b = 0.5 * (*a + *b);
        }
    }
    return difference <= 1e-9 * largest;
}

/* the largest entry of a real shape becomes positive */
static void orient(double *shape, size_t n)
{
    size_t largest = 0;

    for (size_t i = 0; i < n; i++) {
        /* of nearly equal ones the first */
        largest = fabs(shape[i]) > fabs(shape[largest]) * (1. + 1e-9) ? i : largest;
    }
    const double sign = shape[largest] < 0. ? -1. : 1.;
    for (size_t i = 0; i < n; i++) {
        shape[i] *= sign;
    }
}

static void set_undamped(struct mech_mode *mode, double square)
{
    *mode = (struct mech_mode){.square = square,
                               .re = square < 0. ? sqrt(-square) : 0.,
                               .im = square > 0. ? sqrt(square) : 0.};
    mode->frequency = mode->im / (2. * pi);
    mode->damping = square < 0. ? -1. : 0.;
}

/* Basis Z [n × n] of the motions that the joints allow, in its first `free` columns. */
static int allowed(const struct mech_model *m, const struct mech_state *s, struct mech_modes *out,
                   double *Z, int32_t *free_count)
{
    const struct mech_joint_rows *const rows = mech_model_joints(m);
    const struct mech_eval e = mech_model_point(m, s, s->at->time, s->q, s->v);
    const size_t n = (size_t)out->n, count = (size_t)rows->count;
    double *const G = mech_arena_alloc(&out->arena, count * n, sizeof *G);
    double *const values =
        mech_arena_alloc(&out->arena, (size_t)rows->start[count], sizeof *values);

    if (!G || !values) {
        return MECH_NO_MEMORY;
    }
    mech_model_pose(m, &e);
    mech_model_joint_jacobian(m, values);
    for (size_t r = 0; r < count; r++) {
        for (int32_t k = rows->start[r]; k < rows->start[r + 1]; k++) {
            if (rows->column[k] < out->n && s->open[r] == 0.) {
                G[(size_t)rows->column[k] * count + r] += values[k];
            }
        }
    }
    return mech_eig_null(rows->count, out->n, G, Z, free_count);
}

/* A := Zᵀ A Z, its leading part [free × free]; T [n × n] is scratch */
static void project(size_t n, size_t free_count, const double *Z, double *A, double *T)
{
    mech_eig_rotate((int32_t)n, (int32_t)n, A, Z, T);
    mech_eig_gram((int32_t)n, (int32_t)n, Z, T, A);
    for (size_t j = 0; j < free_count; j++) {
        memmove(A + j * free_count, A + j * n, free_count * sizeof *A);
    }
}

/* Modes of K and M [free × free]; `Z` NULL: of all coordinates. */
static int solve_undamped(struct mech_modes *out, int32_t free_count, const double *Z, double *k,
                          double *mass)
{
    const size_t n = (size_t)out->n, p = (size_t)free_count;
    double *const square = mech_arena_alloc(&out->arena, p + 1, sizeof *square);

    if (!square) {
        return MECH_NO_MEMORY;
    }
    if (!symmetrize(p, k) || !symmetrize(p, mass)) {
        snprintf(out->reason, sizeof out->reason,
                 "the stiffness or the mass matrix is not symmetric; ask for complex modes");
        return MECH_UNSUPPORTED;
    }
    MECH_TRY(mech_eig_symmetric(free_count, k, mass, square));
    out->count = out->count < free_count ? out->count : free_count;
    for (int32_t i = 0; i < out->count; i++) {
        double *const shape = out->shapes + (size_t)i * n;

        set_undamped(&out->modes[i], square[i]);
        if (!Z) {
            memcpy(shape, k + (size_t)i * n, n * sizeof *k);
        }
        for (size_t j = 0; Z && j < p; j++) {
            for (size_t r = 0; r < n; r++) {
                shape[r] += Z[j * n + r] * k[(size_t)i * p + j];
            }
        }
    }
    return 0;
}

static int undamped(const struct mech_model *m, const struct mech_state *s,
                    const struct mech_mat *M, const struct mech_mat *K, struct mech_modes *out)
{
    const size_t n = (size_t)out->n;
    double *const k = mech_arena_alloc(&out->arena, n * n, sizeof *k);
    double *const mass = mech_arena_alloc(&out->arena, n * n, sizeof *mass);
    int32_t free_count = out->n;

    if (!k || !mass) {
        return MECH_NO_MEMORY;
    }
    MECH_TRY(spread(&out->arena, K, k));
    MECH_TRY(spread(&out->arena, M, mass));
    if (mech_model_joints(m)->count == 0) {
        return solve_undamped(out, free_count, NULL, k, mass);
    }
    double *const Z = mech_arena_alloc(&out->arena, n * n, sizeof *Z);
    double *const T = mech_arena_alloc(&out->arena, n * n, sizeof *T);
    if (!Z || !T) {
        return MECH_NO_MEMORY;
    }
    MECH_TRY(allowed(m, s, out, Z, &free_count));
    project(n, (size_t)free_count, Z, k, T);
    project(n, (size_t)free_count, Z, mass, T);
    return solve_undamped(out, free_count, Z, k, mass);
}

/* [0 1; −M⁻¹K −M⁻¹C] by columns into A [2n × 2n] */
static int companion(const struct mech_mat *M, const struct mech_mat *K, const struct mech_mat *C,
                     struct mech_modes *out, double *A)
{
    const size_t n = (size_t)out->n, ld = 2 * n;
    double *const block = mech_arena_alloc(&out->arena, n * n, sizeof *block);
    const struct mech_mat *const parts[] = {K, C};
    struct mech_lsol *mass = NULL;

    if (!block) {
        return MECH_NO_MEMORY;
    }
    int code = mech_lsol_create(NULL, M, &mass);
    code = code ? code : mech_lsol_factor(mass, M);
    for (size_t p = 0; p < 2 && code == 0; p++) {
        memset(block, 0, n * n * sizeof *block);
        code = spread(&out->arena, parts[p], block);
        code = code ? code : mech_lsol_solve(mass, block, out->n);
        for (size_t j = 0; j < n && code == 0; j++) {
            for (size_t i = 0; i < n; i++) {
                A[(p * n + j) * ld + n + i] = -block[j * n + i];
            }
            A[(n + j) * ld + j] = 1.;
        }
    }
    mech_lsol_destroy(mass);
    return code;
}

/* Mode i of the result from column j of the vectors [2n × 2n]; `pair`: a complex one. */
static void set_damped(struct mech_modes *out, int32_t i, const double lambda[2],
                       const double *column, bool pair)
{
    const size_t n = (size_t)out->n;
    const double *const re = column, *const im = column + 2 * n;
    double *const x = out->shapes + (size_t)i * n, *const y = out->imaginary + (size_t)i * n;
    const double size = hypot(lambda[0], lambda[1]);
    double largest = 0., a = 1., b = 0.;

    out->modes[i] = (struct mech_mode){.re = lambda[0],
                                       .im = lambda[1],
                                       .square = size * size,
                                       .frequency = lambda[1] / (2. * pi),
                                       .damping = size > 0. ? -lambda[0] / size : 0.};
    /* divide by the largest entry a + i b */
    for (size_t k = 0; k < n; k++) {
        const double s = pair ? hypot(re[k], im[k]) : fabs(re[k]);

        if (s > largest * (1. + 1e-9)) {
            largest = s;
            a = re[k];
            b = pair ? im[k] : 0.;
        }
    }
    const double d = a * a + b * b;
    for (size_t k = 0; k < n && d > 0.; k++) {
        const double c = pair ? im[k] : 0.;

        x[k] = (re[k] * a + c * b) / d;
        y[k] = (c * a - re[k] * b) / d;
    }
}

static int damped_modes(const struct mech_mat *M, const struct mech_mat *K,
                        const struct mech_mat *C, struct mech_modes *out)
{
    const size_t n = (size_t)out->n, ld = 2 * n;
    double *const A = mech_arena_alloc(&out->arena, ld * ld, sizeof *A);
    double *const vectors = mech_arena_alloc(&out->arena, ld * ld, sizeof *vectors);
    double *const re = mech_arena_alloc(&out->arena, 2 * ld, sizeof *re), *const im = re + ld;
    bool *const used = mech_arena_alloc(&out->arena, ld, sizeof *used);

    if (!A || !vectors || !re || !used) {
        return MECH_NO_MEMORY;
    }
    MECH_TRY(companion(M, K, C, out, A));
    MECH_TRY(mech_eig_general((int32_t)ld, A, re, im, vectors));

    /* by ascending |λ|; of a pair the one with positive imaginary part stands first */
    int32_t found = 0;
    for (; found < out->count; found++) {
        size_t best = ld;

        for (size_t j = 0; j < ld; j++) {
            if (!used[j] && im[j] >= 0. &&
                (best == ld || hypot(re[j], im[j]) < hypot(re[best], im[best]))) {
                best = j;
            }
        }
        if (best == ld) {
            break;
        }
        used[best] = true;
        set_damped(out, found, (const double[]){re[best], im[best]}, vectors + best * ld,
                   im[best] > 0.);
    }
    out->count = found;
    return 0;
}

static int allocate(struct mech_modes *out, bool damped)
{
    const size_t values = (size_t)out->n * (size_t)out->count;

    out->modes = mech_arena_alloc(&out->arena, (size_t)out->count, sizeof *out->modes);
    out->shapes = mech_arena_alloc(&out->arena, values, sizeof *out->shapes);
    out->imaginary = damped ? mech_arena_alloc(&out->arena, values, sizeof(double)) : NULL;
    return out->modes && out->shapes && (out->imaginary || !damped) ? 0 : MECH_NO_MEMORY;
}

/* Why these modes are not to be had, or NULL. */
static const char *refuse(const struct mech_model *m, const struct mech_state *s, bool damped)
{
    const bool large = mech_model_sizes(m)->v > MECH_MODES_DENSE;

    return damped && large ? "complex modes are computed up to 500 coordinates"
           : damped        ? mech_analysis_obstacle(m, s)
           : large && mech_model_joints(m)->count > 0
               ? "modes of models with joints are computed up to 500 coordinates"
               : mech_analysis_pressed(m, s);
}

int mech_modes(const struct mech_model *m, const struct mech_state *s, int32_t count, bool damped,
               struct mech_modes *out)
{
    const char *const obstacle = refuse(m, s, damped);
    struct mech_mat M, K, C;

    *out = (struct mech_modes){.n = mech_model_sizes(m)->v};
    mech_arena_init(&out->arena, 0);
    if (obstacle) {
        snprintf(out->reason, sizeof out->reason, "%s", obstacle);
        return MECH_UNSUPPORTED;
    }
    /* all 2n eigenvalues may be real */
    const int32_t most = damped ? 2 * out->n : out->n;
    out->count = count < most ? count : most;
    MECH_TRY(allocate(out, damped));
    MECH_TRY(mech_tangent_mass(m, s, &out->arena, &M));
    MECH_TRY(mech_tangents(m, s, false, &out->arena, &K));
    if (out->n == 0) {
        return 0;
    }
    if (damped) {
        MECH_TRY(mech_tangents(m, s, true, &out->arena, &C));
        return damped_modes(&M, &K, &C, out);
    }
    if (out->n <= MECH_MODES_DENSE) {
        MECH_TRY(undamped(m, s, &M, &K, out));
    } else {
        double *const square =
            mech_arena_alloc(&out->arena, (size_t)out->count + 1, sizeof *square);

        if (!square) {
            return MECH_NO_MEMORY;
        }
        MECH_TRY(mech_subspace(&K, &M, out->count, square, out->shapes,
                               &(struct mech_subspace_report){out->linear, out->reason}));
        for (int32_t i = 0; i < out->count; i++) {
            set_undamped(&out->modes[i], square[i]);
        }
    }
    for (int32_t i = 0; i < out->count; i++) {
        orient(out->shapes + (size_t)i * (size_t)out->n, (size_t)out->n);
    }
    return 0;
}

void mech_modes_fini(struct mech_modes *modes)
{
    mech_arena_fini(&modes->arena);
}
