/* Modes of small models by LAPACK; see modes.h. Larger ones: subspace.c. */
#include "solver/analysis/modes.h"

#include "solver/analysis/linearize.h"
#include "solver/analysis/shapes.h"
#include "solver/analysis/subspace.h"
#include "solver/analysis/symmetry.h"
#include "solver/analysis/tangents.h"
#include "solver/base/err.h"
#include "solver/base/text.h"
#include "solver/linalg/eig.h"

#include <math.h>
#include <string.h>

static const double pi = 3.14159265358979323846;

/* What is symmetric up to rounding becomes so to the bit. */
static void symmetrize(size_t n, double *A)
{
    for (size_t j = 0; j < n; j++) {
        for (size_t i = 0; i < j; i++) {
            double *const a = &A[j * n + i], *const b = &A[i * n + j];

            *a = *b = 0.5 * (*a + *b);
        }
    }
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

/* ‖A x − λ B x‖₂ / (‖A‖ + |λ| ‖B‖) ‖x‖₂ for x [n], with the largest entries as norms times n */
static double residual_of(size_t n, const double *A, const double *B, double lambda,
                          const double *x)
{
    double sum = 0., size = 0., a = 0., b = 0.;

    for (size_t i = 0; i < n; i++) {
        double r = 0.;

        for (size_t j = 0; j < n; j++) {
            r += (A[j * n + i] - lambda * B[j * n + i]) * x[j];
            a = fmax(a, fabs(A[j * n + i]));
            b = fmax(b, fabs(B[j * n + i]));
        }
        sum += r * r;
        size += x[i] * x[i];
    }
    const double scale = (a + fabs(lambda) * b) * sqrt(size);
    return scale > 0. ? sqrt(sum) / scale : 0.;
}

/* Scratch of dense modes: `p` of `n` coordinates. */
struct dense {
    struct mech_arena *arena;
    const struct mech_symmetry *symmetry;
    struct mech_interrupt *interrupt;
    size_t n, p;
    const double *Z; /* [p × n] the free motions, or NULL: all coordinates */
    double *k, *mass, *square;
};

/* out [n × p] = B Φ */
static void times_odd(const struct mech_mat *B, const struct mech_symmetry_modes *of, double *out)
{
    const size_t n = (size_t)of->n;

    if (B->kind == MECH_MAT_DENSE) {
        mech_eig_rotate(of->n, of->n, of->p, B->values, of->shapes, out);
        return;
    }
    for (size_t i = 0; i < (size_t)of->p; i++) {
        mech_mat_mul(B, 1., of->shapes + i * n, 0., out + i * n);
    }
}

/* Whether K and ½ (K + Kᵀ) have the same modes, all of which are in d->k. 0; MECH_UNSUPPORTED with
 * the reason; negative. */
static int check_symmetric(const struct dense *d, struct mech_modes *out)
{
    const struct mech_symmetry *const y = d->symmetry;
    const size_t n = d->n, p = d->p;

    if (y->odd.kind == MECH_MAT_ZERO || p == 0) {
        return 0;
    }
    double *const x = mech_arena_alloc(d->arena, 2 * n * (p + 1) + p * p, sizeof *x);
    if (!x) {
        return MECH_NO_MEMORY;
    }
    double *const work = x + n * p, *const b = work + n * (p + 2);
    const struct mech_symmetry_modes of = {
        .n = (int32_t)n, .p = (int32_t)p, .shapes = d->Z ? x : d->k, .lambda = d->square};

    if (d->Z) {
        mech_eig_rotate(of.n, of.p, of.p, d->Z, d->k, x);
    }
    times_odd(&y->odd, &of, work);
    mech_eig_gram(of.n, of.p, of.p, of.shapes, work, b);
    for (int32_t i = 0; i < of.p; i++) {
        struct mech_symmetry_mode mode;

        if (mech_interrupted(d->interrupt)) {
            return MECH_CANCELLED;
        }
        mech_symmetry_glance(&of, i, b + (size_t)i * p, &mode);
        if (!(mode.moves <= mode.allowed)) {
            mech_symmetry_look(y, &of, i, b + (size_t)i * p, work, &mode);
        }
        if (!(mode.moves <= mode.allowed)) {
            mech_text_format(out->reason, sizeof out->reason,
                             "the stiffness is not symmetric; use complex modes");
            return MECH_UNSUPPORTED;
        }
    }
    return 0;
}

/* Modes of d->k and d->mass, in which they are overwritten. */
static int solve_undamped(struct dense *d, struct mech_modes *out)
{
    const size_t n = d->n, p = d->p;
    double *const A = mech_arena_alloc(d->arena, p * p + 1, sizeof *A);
    double *const B = mech_arena_alloc(d->arena, p * p + 1, sizeof *B);

    d->square = mech_arena_alloc(d->arena, p + 1, sizeof *d->square);
    if (!d->square || !A || !B) {
        return MECH_NO_MEMORY;
    }
    symmetrize(p, d->k);
    symmetrize(p, d->mass);
    memcpy(A, d->k, p * p * sizeof *A);
    memcpy(B, d->mass, p * p * sizeof *B);
    MECH_TRY(mech_eig_symmetric((int32_t)p, d->k, d->mass, d->square));
    out->count = out->count < (int32_t)p ? out->count : (int32_t)p;
    for (int32_t i = 0; i < out->count; i++) {
        double *const shape = out->shapes + (size_t)i * n;
        const double *const own = d->k + (size_t)i * p;

        set_undamped(&out->modes[i], d->square[i]);
        out->modes[i].residual = residual_of(p, A, B, d->square[i], own);
        if (!d->Z) {
            memcpy(shape, own, n * sizeof *shape);
        }
        for (size_t j = 0; d->Z && j < p; j++) {
            for (size_t r = 0; r < n; r++) {
                shape[r] += d->Z[j * n + r] * own[j];
            }
        }
    }
    return check_symmetric(d, out);
}

static int check_mass(struct mech_arena *arena, const struct mech_mat *M, struct mech_modes *out)
{
    static const double to[] = {MECH_SYMMETRIC_TO, MECH_SYMMETRIC_TO};
    bool symmetric;

    MECH_TRY(mech_symmetric(arena, M, to, &symmetric));
    if (!symmetric) {
        mech_text_format(out->reason, sizeof out->reason,
                         "the mass matrix is not symmetric; use complex modes");
    }
    return symmetric ? 0 : MECH_UNSUPPORTED;
}

static int undamped(const struct mech_model *m, const struct mech_state *s,
                    const struct mech_mat *M, const struct mech_symmetry *symmetry,
                    struct mech_arena *arena, struct mech_modes *out)
{
    const size_t n = (size_t)out->n;
    double *const k = mech_arena_alloc(arena, n * n, sizeof *k);
    double *const mass = mech_arena_alloc(arena, n * n, sizeof *mass);
    struct dense d = {.arena = arena,
                      .symmetry = symmetry,
                      .interrupt = mech_model_interrupt(m),
                      .n = n,
                      .p = n,
                      .k = k,
                      .mass = mass};
    struct mech_motions b;

    if (!k || !mass) {
        return MECH_NO_MEMORY;
    }
    MECH_TRY(check_mass(arena, M, out));
    MECH_TRY(mech_symmetry_spread(arena, &symmetry->even, k));
    MECH_TRY(mech_symmetry_spread(arena, M, mass));
    if (mech_model_joints(m)->count == 0) {
        return solve_undamped(&d, out);
    }
    double *const T = mech_arena_alloc(arena, n * n, sizeof *T);
    if (!T) {
        return MECH_NO_MEMORY;
    }
    int code = mech_motions_init(&b, m, s, true);
    if (code == 0 && b.positions != b.velocities) {
        mech_text_format(
            out->reason, sizeof out->reason,
            "the model has nonholonomic constraints, so that a stiffness does not define its "
            "modes; use complex modes");
        code = MECH_UNSUPPORTED;
    }
    if (code == 0) {
        d.p = (size_t)b.positions;
        d.Z = b.Q;
        mech_symmetry_project(n, d.p, b.Q, k, T);
        mech_symmetry_project(n, d.p, b.Q, mass, T);
        code = solve_undamped(&d, out);
    }
    mech_motions_fini(&b);
    return code;
}

/* φ [n] = Q ξ; a basis NULL: 1 */
static void expand(const struct mech_motions *b, const double *xi, double *shape)
{
    const size_t n = (size_t)b->n;

    memset(shape, 0, n * sizeof *shape);
    for (size_t j = 0; j < (size_t)b->positions; j++) {
        for (size_t i = 0; i < n && b->Q; i++) {
            shape[i] += b->Q[j * n + i] * xi[j];
        }
        shape[j] += b->Q ? 0. : xi[j];
    }
}

/* Mode i of the result from its eigenvalue; its shape is in shapes and imaginary and is divided
 * by its largest entry. `pair`: a complex one. */
static void set_damped(struct mech_modes *out, int32_t i, const double lambda[2], bool pair)
{
    const size_t n = (size_t)out->n;
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
        y[k] = pair ? y[k] : 0.;
        const double s = hypot(x[k], y[k]);

        if (s > largest * (1. + 1e-9)) {
            largest = s;
            a = x[k];
            b = y[k];
        }
    }
    const double d = a * a + b * b;
    for (size_t k = 0; k < n && d > 0.; k++) {
        const double re = x[k], im = y[k];

        x[k] = (re * a + im * b) / d;
        y[k] = (im * a - re * b) / d;
    }
}

/* ‖A x − λ x‖ / (largest |A| + |λ|) ‖x‖ of x = re + i im */
static double residual_of_pair(size_t n, const double *A, const double lambda[2], const double *re,
                               const double *im)
{
    double sum = 0., size = 0., most = 0.;

    for (size_t i = 0; i < n; i++) {
        double r = lambda[1] * im[i] - lambda[0] * re[i];
        double c = -lambda[1] * re[i] - lambda[0] * im[i];

        for (size_t j = 0; j < n; j++) {
            r += A[j * n + i] * re[j];
            c += A[j * n + i] * im[j];
            most = fmax(most, fabs(A[j * n + i]));
        }
        sum += r * r + c * c;
        size += re[i] * re[i] + im[i] * im[i];
    }
    const double scale = (most + hypot(lambda[0], lambda[1])) * sqrt(size);
    return scale > 0. ? sqrt(sum) / scale : 0.;
}

/* The motions' part of the linearization's A, by columns, twice: [ld × ld] */
static int motions_of(const struct mech_model *m, const struct mech_state *s,
                      const struct mech_state_sizes *sizes, struct mech_linearization *l,
                      struct mech_modes *out, double **A)
{
    struct mech_step_result result = {.iterations = 0};
    const size_t states = (size_t)l->states;
    const size_t ld = states - (size_t)sizes->x;

    l->A = mech_arena_alloc(&out->arena, states * states, sizeof *l->A);
    *A = mech_arena_alloc(&out->arena, 2 * ld * ld, sizeof **A);
    if (!l->A || !*A) {
        return MECH_NO_MEMORY;
    }
    const int code = mech_linearize(l, m, s, sizes, &result);
    if (code) {
        memcpy(out->reason, result.reason, sizeof out->reason);
        return code;
    }
    for (size_t i = 0; i < ld; i++) {
        for (size_t j = 0; j < ld; j++) {
            (*A)[j * ld + i] = (*A)[ld * ld + j * ld + i] = l->A[i * states + j];
        }
    }
    return 0;
}

/* The modes of A [ld × ld], which is overwritten; `kept` is the same matrix. */
static int solve_damped(const struct mech_motions *b, size_t ld, double *A, const double *kept,
                        struct mech_modes *out)
{
    const size_t n = (size_t)out->n;
    double *const vectors = mech_arena_alloc(&out->arena, ld * ld, sizeof *vectors);
    double *const re = mech_arena_alloc(&out->arena, 3 * ld, sizeof *re);
    bool *const used = mech_arena_alloc(&out->arena, ld, sizeof *used);

    if (!vectors || !re || !used) {
        return MECH_NO_MEMORY;
    }
    double *const im = re + ld;
    const double *const none = im + ld;

    MECH_TRY(mech_eig_general((int32_t)ld, A, re, im, vectors));

    /* by ascending |λ|; of a pair the one with positive imaginary part is first */
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
        const double lambda[2] = {re[best], im[best]};
        const bool pair = im[best] > 0.;
        const double *const x = vectors + best * ld, *const y = pair ? x + ld : none;

        used[best] = true;
        expand(b, x, out->shapes + (size_t)found * n);
        expand(b, y, out->imaginary + (size_t)found * n);
        set_damped(out, found, lambda, pair);
        out->modes[found].residual = residual_of_pair(ld, kept, lambda, x, y);
    }
    out->count = found;
    return 0;
}

static int damped_modes(const struct mech_model *m, const struct mech_state *s,
                        const struct mech_state_sizes *sizes, struct mech_modes *out)
{
    struct mech_linearization l;
    double *A = NULL;
    int code = mech_linearize_init(&l, m, s, true);
    const size_t ld = (size_t)(l.states - sizes->x);

    code = code ? code : motions_of(m, s, sizes, &l, out, &A);
    code = code ? code : solve_damped(&l.motions, ld, A, A + ld * ld, out);
    mech_linearize_fini(&l);
    return code;
}

static int allocate(struct mech_modes *out, bool damped)
{
    const size_t values = (size_t)out->n * (size_t)out->count;

    out->modes = mech_arena_alloc(&out->arena, (size_t)out->count, sizeof *out->modes);
    out->shapes = mech_arena_alloc(&out->arena, values, sizeof *out->shapes);
    out->imaginary = damped ? mech_arena_alloc(&out->arena, values, sizeof(double)) : NULL;
    return out->modes && out->shapes && (out->imaginary || !damped) ? 0 : MECH_NO_MEMORY;
}

const char *mech_modes_rows(const struct mech_model *m)
{
    const double rows = mech_model_joints(m)->count, n = mech_model_sizes(m)->v;

    return rows * n > MECH_ROWS_MOST
               ? "the joints have too many equations for this number of coordinates"
               : NULL;
}

/* Why these modes are not to be had, or NULL. */
static const char *refuse(const struct mech_model *m, bool damped)
{
    const bool large = mech_model_sizes(m)->v > MECH_MODES_DENSE;

    return damped && large ? "complex modes are computed up to 500 coordinates"
           : !large        ? mech_modes_rows(m)
                           : NULL;
}

/* G without the rows that are empty, as they do not act. */
static int without_empty(struct mech_arena *arena, struct mech_mat *G)
{
    struct mech_triplet *t = NULL;
    size_t count = 0;

    MECH_TRY(mech_mat_triplets(arena, G, &t, &count));
    int32_t *const to = mech_arena_alloc(arena, (size_t)G->rows + 1, sizeof *to);
    int32_t rows = 0;

    if (!to) {
        return MECH_NO_MEMORY;
    }
    for (size_t k = 0; k < count; k++) {
        to[t[k].row] = 1;
    }
    for (int32_t r = 0; r < G->rows; r++) {
        rows += to[r];
        to[r] = rows - 1;
    }
    for (size_t k = 0; k < count; k++) {
        t[k].row = to[t[k].row];
    }
    return rows < G->rows ? mech_mat_from_triplets(arena, rows, G->cols, t, count, G) : 0;
}

/* The lowest modes of many coordinates. */
static int large_modes(const struct mech_model *m, const struct mech_state *s,
                       const struct mech_mat *M, const struct mech_symmetry *symmetry,
                       struct mech_arena *arena, struct mech_modes *out)
{
    double *const square = mech_arena_alloc(arena, 2 * (size_t)out->count + 1, sizeof *square);
    struct mech_mat G = {.kind = MECH_MAT_ZERO};

    if (!square) {
        return MECH_NO_MEMORY;
    }
    if (mech_model_joints(m)->count > 0) {
        MECH_TRY(mech_tangent_rows(m, s, arena, &G));
        MECH_TRY(without_empty(arena, &G));
        const int32_t left = out->n - G.rows;
        out->count = out->count < left ? out->count : left > 0 ? left : 0;
    }
    const size_t count = (size_t)out->count;
    const struct mech_subspace_problem p = {.K = &symmetry->even,
                                            .M = M,
                                            .G = &G,
                                            .count = out->count,
                                            .dense = MECH_MODES_DENSE,
                                            .linear = out->linear,
                                            .reason = out->reason,
                                            .interrupt = mech_model_interrupt(m),
                                            .symmetry = symmetry};
    MECH_TRY(mech_subspace(&p, square, out->shapes, square + count));
    for (size_t i = 0; i < count; i++) {
        set_undamped(&out->modes[i], square[i]);
        out->modes[i].residual = square[count + i];
    }
    return 0;
}

static double largest(const double *x, int32_t n)
{
    double most = 0.;

    for (int32_t i = 0; i < n; i++) {
        most = fmax(most, fabs(x[i]));
    }
    return most;
}

/* Squares, residuals and shapes of finite matrices may still leave the range of doubles. */
static int check_finite(struct mech_modes *out)
{
    bool finite = true;

    for (int32_t i = 0; i < out->count; i++) {
        const struct mech_mode *const mode = &out->modes[i];
        const size_t at = (size_t)i * (size_t)out->n;
        const double *const shape = out->shapes + at;
        const double *const turn = out->imaginary ? out->imaginary + at : NULL;

        finite = finite && isfinite(mode->square) && isfinite(mode->re) && isfinite(mode->im) &&
                 isfinite(mode->residual);
        for (int32_t k = 0; k < out->n; k++) {
            finite = finite && isfinite(shape[k]) && (!turn || isfinite(turn[k]));
        }
    }
    return finite ? 0 : MECH_NOT_FINITE;
}

/* Undamped modes; the arena is scratch. */
static int without_damping(const struct mech_model *m, const struct mech_state *s,
                           struct mech_arena *arena, struct mech_modes *out)
{
    struct mech_symmetry symmetry = {.reason = ""};
    struct mech_mat M, K;

    if (mech_interrupted(mech_model_interrupt(m))) {
        return MECH_CANCELLED;
    }
    MECH_TRY(mech_tangent_mass(m, s, arena, &M));
    MECH_TRY(mech_tangents(m, s, false, arena, &K));
    const int code = mech_symmetry(m, s, &M, &K, arena, &symmetry);
    if (code) {
        memcpy(out->reason, symmetry.reason, sizeof out->reason);
        return code;
    }
    MECH_TRY(out->n <= MECH_MODES_DENSE ? undamped(m, s, &M, &symmetry, arena, out)
                                        : large_modes(m, s, &M, &symmetry, arena, out));
    for (int32_t i = 0; i < out->count; i++) {
        orient(out->shapes + (size_t)i * (size_t)out->n, (size_t)out->n);
    }
    return 0;
}

static int compute(const struct mech_model *m, const struct mech_state *s,
                   const struct mech_state_sizes *sizes, bool damped, struct mech_modes *out)
{
    struct mech_arena scratch;

    if (damped) {
        return damped_modes(m, s, sizes, out);
    }
    mech_arena_init(&scratch, 0);
    const int code = without_damping(m, s, &scratch, out);

    mech_arena_fini(&scratch);
    return code;
}

int mech_modes(const struct mech_model *m, const struct mech_state *s,
               const struct mech_state_sizes *sizes, int32_t count, bool damped,
               struct mech_modes *out)
{
    const char *const refused = refuse(m, damped);
    const char *const obstacle = refused ? refused : mech_analysis_pressed(m, s);

    *out = (struct mech_modes){.n = mech_model_sizes(m)->v};
    mech_arena_init(&out->arena, 0);
    out->speed = largest(s->v, out->n);
    out->acceleration = largest(s->vdot, out->n);
    if (obstacle) {
        mech_text_format(out->reason, sizeof out->reason, "%s", obstacle);
        return MECH_UNSUPPORTED;
    }
    /* all 2n eigenvalues may be real */
    const int32_t most = damped ? 2 * out->n : out->n;
    out->count = count < most ? count : most;
    MECH_TRY(mech_analysis_touches(m, s, out->reason));
    MECH_TRY(allocate(out, damped));
    if (out->n == 0) {
        return 0;
    }
    const int code = compute(m, s, sizes, damped, out);
    return code ? code : check_finite(out);
}

void mech_modes_fini(struct mech_modes *modes)
{
    mech_arena_fini(&modes->arena);
}
