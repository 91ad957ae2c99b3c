/* Problems without a model; see problem.h. A system H, G becomes c = N l + r in one of three ways:
 *
 *     H diagonal, G sparse     N = G H⁻¹ Gᵀ + E as sparse as its pattern
 *     H and G sparse, large    N is not formed: products through a factor of H (vi/schur.h), for
 *                              members that take that, from 40 rows on when one is named, from 200
 *                              on otherwise
 *     else                     N dense
 *
 * For masses in a row on springs that press a floor (tests/bench/friction.c), products through
 * factors take 0.5 of the time of N at 90 rows, 0.3 at 270 (apgd; 0.4 and 0.1 of admm), and as much
 * at 30. When the chain of members for N that is not formed fails, N is formed after all. */
#include "solver/sim/problem.h"

#include "solver/base/err.h"
#include "solver/linalg/mat_walk.h"
#include "solver/lsol/lsol.h"
#include "solver/vi/certificate.h"
#include "solver/vi/chain.h"
#include "solver/vi/schur.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { DENSE_ROWS_MOST = 4096, IMPLICIT_ROWS = 200, IMPLICIT_ROWS_NAMED = 40 };

/* iterations × entries of N that one request may ask for: a minute or two */
static const double work_most = 1e11;
/* entries of an N that is formed sparse: 300 MB on the way */
static const double sparse_most = 1e7;

/* --- the contents of a request ---------------------------------------------------------------- */

enum lone_kind { BILATERAL, BOX, CONE, PLANE_CONE, ROLLING, UNILATERAL };
static const char *const kind_names[] = {"bilateral", "box",        "cone", "planeCone",
                                         "rolling",   "unilateral", NULL};
static const char *const friction_names[] = {"coulomb", "associated", NULL};

struct lone_set {
    int32_t kind; /* enum lone_kind */
    double mu, spinning, rolling, lower, upper;
};

static const struct mech_field set_fields[] = {
    {.name = "kind",
     .kind = MECH_CHOICE,
     .offset = offsetof(struct lone_set, kind),
     .flags = MECH_REQUIRED,
     .choices = kind_names,
     .doc = "bilateral, box, unilateral: one row; cone: (N, U, V); planeCone: (N, T); rolling: (N, "
            "U, V, spin, roll, roll)"},
    {.name = "lower",
     .kind = MECH_REAL,
     .offset = offsetof(struct lone_set, lower),
     .preset = -1e300,
     MECH_ANY_REAL,
     .doc = "smallest l of a box"},
    {.name = "mu",
     .kind = MECH_REAL,
     .offset = offsetof(struct lone_set, mu),
     .unit = "",
     MECH_NOT_NEGATIVE,
     .doc = "coefficient of friction"},
    {.name = "rolling",
     .kind = MECH_REAL,
     .offset = offsetof(struct lone_set, rolling),
     .unit = "m",
     MECH_NOT_NEGATIVE,
     .doc = "bound of the rolling torque over the normal force"},
    {.name = "spinning",
     .kind = MECH_REAL,
     .offset = offsetof(struct lone_set, spinning),
     .unit = "m",
     MECH_NOT_NEGATIVE,
     .doc = "bound of the spinning torque over the normal force"},
    {.name = "upper",
     .kind = MECH_REAL,
     .offset = offsetof(struct lone_set, upper),
     .preset = 1e300,
     MECH_ANY_REAL,
     .doc = "largest l of a box"},
};
static const struct mech_table set_table = {
    .name = "LoneSet",
    .doc = "Rows of a problem that belong together, and their bounds.",
    .size = sizeof(struct lone_set),
    MECH_FIELDS(set_fields)};

#define MATRIX(key, member, text)                                                                  \
    {                                                                                              \
        .name = key, .kind = MECH_MATRIX, .offset = offsetof(struct mech_lone_problem, member),    \
        .doc = text                                                                                \
    }
#define VECTOR(key, member, text)                                                                  \
    {                                                                                              \
        .name = key, .kind = MECH_VECTOR, .offset = offsetof(struct mech_lone_problem, member),    \
        MECH_ANY_REAL, .doc = text                                                                 \
    }

static const struct mech_field problem_fields[] = {
    MATRIX("G", G, "Jacobian of the rows, [rows × velocities]"),
    MATRIX("H", H, "matrix of the velocities; with G, f and b instead of N and r"),
    MATRIX("N", N, "matrix of the rows: c = N l + r"),
    VECTOR("b", b, "known terms of the rows of a system"),
    {.name = "cfm",
     .kind = MECH_VECTOR,
     .offset = offsetof(struct mech_lone_problem, cfm),
     MECH_NOT_NEGATIVE,
     .doc = "compliance of the rows of a system (default none)"},
    {.name = "dimension",
     .kind = MECH_INT,
     .offset = offsetof(struct mech_lone_problem, dimension),
     .preset = 3.,
     .min = 2.,
     .max = 3.,
     .doc = "with `mu`: number of rows of each cone"},
    VECTOR("f", f, "known terms of the velocities of a system"),
    {.name = "friction",
     .kind = MECH_CHOICE,
     .offset = offsetof(struct mech_lone_problem, friction),
     .choices = friction_names,
     .doc = "Coulomb's law, or the associated one in which sliding opens the contact"},
    VECTOR("l", l, "start vector (default 0)"),
    {.name = "mu",
     .kind = MECH_VECTOR,
     .offset = offsetof(struct mech_lone_problem, mu),
     .unit = "",
     MECH_NOT_NEGATIVE,
     .doc = "coefficient of friction of each contact; all rows are cones then"},
    VECTOR("r", r, "known terms of the rows"),
    {.name = "sets",
     .kind = MECH_STRUCTS,
     .offset = offsetof(struct mech_lone_problem, sets),
     .table = &set_table,
     .doc = "sets of the rows, in order; without it and without `mu` all rows are unilateral"},
    {.name = "solver",
     .kind = MECH_STRUCT,
     .offset = offsetof(struct mech_lone_problem, vi),
     .table = &mech_vi_table,
     .doc = "solver and its settings; without a type, solvers are tried one after the other"},
};
const struct mech_table mech_lone_problem_table = {
    .name = "LoneProblem",
    .doc = "A complementarity, friction or mixed problem without a model.",
    .size = sizeof(struct mech_lone_problem),
    MECH_FIELDS(problem_fields)};

/* --- from the request to the solver ----------------------------------------------------------- */

struct lone {
    const struct mech_lone_problem *request;
    struct mech_arena *arena;
    struct mech_diag *diag;
    struct mech_schur_system *system; /* with H, or NULL */
    struct mech_mat N;
    struct mech_problem problem;
    double *r, *l, *c;
};

static bool given(const struct mech_mat *a)
{
    return a->kind != MECH_MAT_ZERO || a->rows > 0;
}

static void expect(struct lone *s, const char *path, size_t found, size_t wanted)
{
    if (found != wanted) {
        mech_diag_add(s->diag, path, "expected %zu numbers, found %zu", wanted, found);
    }
}

static struct mech_set set_of(const struct lone_set *from)
{
    static const enum mech_set_kind kinds[] = {
        [BILATERAL] = MECH_SET_BILATERAL, [BOX] = MECH_SET_BOX,
        [CONE] = MECH_SET_CONE,           [PLANE_CONE] = MECH_SET_CONE,
        [ROLLING] = MECH_SET_ROLLING,     [UNILATERAL] = MECH_SET_UNILATERAL};
    static const int32_t rows[] = {
        [BILATERAL] = 1, [BOX] = 1, [CONE] = 3, [PLANE_CONE] = 2, [ROLLING] = 6, [UNILATERAL] = 1};

    return (struct mech_set){.kind = kinds[from->kind],
                             .rows = rows[from->kind],
                             .mu = from->mu,
                             .spinning = from->spinning,
                             .rolling = from->rolling,
                             .lower = from->lower,
                             .upper = from->upper};
}

/* sets of the problem; their rows must be m */
static int take_sets(struct lone *s, size_t m)
{
    const struct mech_lone_problem *const q = s->request;
    const size_t count = q->sets.n ? q->sets.n : q->mu.n;
    struct mech_set *const sets = mech_arena_alloc(s->arena, count, sizeof *sets);
    const struct lone_set *const from = q->sets.at;

    if (!sets) {
        return MECH_NO_MEMORY;
    }
    if (q->sets.n && q->mu.n) {
        mech_diag_add(s->diag, "/mu", "not allowed together with sets, which have their own");
    }
    for (size_t i = 0; i < count; i++) {
        sets[i] =
            q->sets.n
                ? set_of(&from[i])
                : (struct mech_set){.kind = MECH_SET_CONE, .rows = q->dimension, .mu = q->mu.x[i]};
        if (sets[i].lower > sets[i].upper) {
            char path[64];

            snprintf(path, sizeof path, "/sets/%zu/lower", i);
            mech_diag_add(s->diag, path, "is above upper");
        }
    }
    s->problem.sets = count ? sets : NULL;
    s->problem.count = (int32_t)count;
    const int32_t rows = mech_sets_rows(sets, (int32_t)count);

    if (count && (size_t)rows != m) {
        mech_diag_add(s->diag, q->sets.n ? "/sets" : "/mu", "have %d rows; the problem has %zu",
                      (int)rows, m);
    }
    return 0;
}

enum form { SPARSE, IMPLICIT, DENSE };

/* entries that a product with the N of a system reads when it is not formed: G twice, and factors
 * of H that may hold twice its pattern, forth and back */
static double implicit_entries(const struct mech_lone_problem *q)
{
    return 2. * (double)mech_mat_stored(&q->G) + 4. * (double)mech_mat_stored(&q->H);
}

/* entries that the columns of G make in an N with a diagonal H, each as often as it is made */
static double sparse_entries(const struct mech_mat *G)
{
    double sum = G->rows;

    for (int32_t j = 0; j < G->cols; j++) {
        const double rows = G->colptr[j + 1] - G->colptr[j];

        sum += rows * rows;
    }
    return sum;
}

static enum form form_of(const struct mech_lone_problem *q)
{
    const double m = q->G.rows;
    const struct mech_vi_type *const type = q->vi.type ? mech_vi_find(q->vi.type) : NULL;
    const bool takes = !q->vi.type || (type && type->create_implicit);
    const double least = q->vi.type ? IMPLICIT_ROWS_NAMED : IMPLICIT_ROWS;

    if (q->H.kind == MECH_MAT_DIAG && q->G.kind == MECH_MAT_CSC &&
        sparse_entries(&q->G) < 0.25 * m * m && sparse_entries(&q->G) < sparse_most) {
        return SPARSE;
    }
    return takes && m >= least && implicit_entries(q) < 0.5 * m * m ? IMPLICIT : DENSE;
}

/* entries that a product with N reads, or may read */
static double product_entries(const struct mech_lone_problem *q)
{
    const double m = q->G.rows;

    switch (form_of(q)) {
    case SPARSE:
        return sparse_entries(&q->G);
    case IMPLICIT:
        return implicit_entries(q);
    case DENSE:
        break;
    }
    return m * m;
}

/* sizes of everything; rows in *m */
static int check(struct lone *s, size_t *m)
{
    const struct mech_lone_problem *const q = s->request;
    const bool system = given(&q->H) || given(&q->G) || q->f.n || q->b.n;

    if (system == given(&q->N)) {
        mech_diag_add(s->diag, "", "either N and r, or H, f, G and b are needed");
        return 0;
    }
    const struct mech_mat *const rows = system ? &q->G : &q->N;

    *m = (size_t)rows->rows;
    const bool dense = system && form_of(q) == DENSE;

    if (*m == 0 || *m > MECH_LONE_ROWS_MOST || (dense && *m > DENSE_ROWS_MOST)) {
        mech_diag_add(s->diag, system ? "/G" : "/N", "must have 1 to %d rows",
                      dense ? DENSE_ROWS_MOST : MECH_LONE_ROWS_MOST);
        return 0;
    }
    if (system) {
        if (q->H.rows != q->H.cols || q->H.rows != q->G.cols) {
            mech_diag_add(s->diag, "/H",
                          "is %d × %d; must be square, with as many rows as G has columns: %d",
                          (int)q->H.rows, (int)q->H.cols, (int)q->G.cols);
        }
        expect(s, "/f", q->f.n, (size_t)q->G.cols);
        expect(s, "/b", q->b.n, *m);
        expect(s, "/cfm", q->cfm.n ? q->cfm.n : *m, *m);
    } else {
        if (q->N.rows != q->N.cols) {
            mech_diag_add(s->diag, "/N", "is %d × %d; must be square", (int)q->N.rows,
                          (int)q->N.cols);
        }
        expect(s, "/r", q->r.n, *m);
    }
    expect(s, "/l", q->l.n ? q->l.n : *m, *m);
    const double entries = system ? product_entries(q) : (double)mech_mat_stored(&q->N);

    if (entries * q->vi.max_iterations > work_most) {
        mech_diag_add(s->diag, "/solver/maxIterations",
                      "must be at most %.0f for a problem of this size",
                      floor(work_most / entries));
    }
    return take_sets(s, *m);
}

/* N of a system, dense by columns */
static int form_dense(struct lone *s)
{
    const struct mech_lone_problem *const q = s->request;
    const int32_t m = q->G.rows, n = q->G.cols;
    double *const unit = mech_arena_alloc(s->arena, (size_t)m, sizeof *unit);
    double *const x = mech_arena_alloc(s->arena, (size_t)n, sizeof *x);
    double *const N = mech_arena_alloc(s->arena, (size_t)m * (size_t)m, sizeof *N);

    if (!unit || !x || !N) {
        return MECH_NO_MEMORY;
    }
    for (int32_t j = 0; j < m; j++) {
        unit[j] = 1.;
        mech_mat_mul_transposed(&q->G, 1., unit, 0., x);
        unit[j] = 0.;
        MECH_TRY(mech_schur_divide_by_H(s->system, x));
        mech_mat_mul(&q->G, 1., x, 0., N + (size_t)j * (size_t)m);
        N[(size_t)j * (size_t)m + (size_t)j] += q->cfm.n ? q->cfm.x[j] : 0.;
    }
    s->N = (struct mech_mat){.kind = MECH_MAT_DENSE, .rows = m, .cols = m, .values = N};
    return 0;
}

/* N of a system with a diagonal H: columns of G couple the rows that they touch */
static int form_sparse(struct lone *s)
{
    const struct mech_lone_problem *const q = s->request;
    const int32_t m = q->G.rows;
    struct mech_triplet *g = NULL, *t = NULL;
    struct mech_mat leanest;
    size_t in_g = 0, count = 0;

    MECH_TRY(mech_mat_triplets(s->arena, &q->G, &g, &in_g));
    for (size_t from = 0, to = 0; from < in_g; from = to) {
        for (to = from; to < in_g && g[to].col == g[from].col; to++) {
        }
        count += (to - from) * (to - from);
    }
    t = mech_arena_alloc(s->arena, count + (size_t)m, sizeof *t);
    if (!t) {
        return MECH_NO_MEMORY;
    }
    count = 0;
    for (size_t from = 0, to = 0; from < in_g; from = to) {
        for (to = from; to < in_g && g[to].col == g[from].col; to++) {
        }
        for (size_t i = from; i < to; i++) {
            for (size_t j = from; j < to; j++) {
                t[count++] = (struct mech_triplet){g[i].row, g[j].row,
                                                   g[i].value * g[j].value / q->H.values[g[i].col]};
            }
        }
    }
    for (int32_t i = 0; i < m; i++) {
        t[count++] = (struct mech_triplet){i, i, q->cfm.n ? q->cfm.x[i] : 0.};
    }
    MECH_TRY(mech_mat_from_triplets(s->arena, m, m, t, count, &leanest));
    return mech_mat_convert(s->arena, &leanest, m <= IMPLICIT_ROWS ? MECH_MAT_DENSE : MECH_MAT_CSC,
                            &s->N);
}

/* N and r of a system */
static int reduce(struct lone *s)
{
    const struct mech_lone_problem *const q = s->request;
    const size_t n = (size_t)q->G.cols;
    double *const x = mech_arena_alloc(s->arena, n, sizeof *x);

    if (!x) {
        return MECH_NO_MEMORY;
    }
    s->problem.rounding = MECH_PROBLEM_ROUNDING;
    MECH_TRY(mech_schur_create(&q->H, &q->G, q->cfm.n ? q->cfm.x : NULL, &s->system));
    memcpy(x, q->f.x, n * sizeof *x);
    MECH_TRY(mech_schur_divide_by_H(s->system, x));
    memcpy(s->r, q->b.x, (size_t)q->G.rows * sizeof *s->r);
    mech_mat_mul(&q->G, 1., x, 1., s->r);
    switch (form_of(q)) {
    case SPARSE:
        return form_sparse(s);
    case IMPLICIT:
        s->problem.schur = mech_schur_of(s->system);
        return 0;
    case DENSE:
        break;
    }
    return form_dense(s);
}

/* w = H⁻¹ (f + Gᵀ l) */
static int velocities(struct lone *s, struct mech_lone_solution *out)
{
    const struct mech_lone_problem *const q = s->request;
    const size_t n = (size_t)q->G.cols;

    out->w = mech_arena_alloc(s->arena, n, sizeof *out->w);
    if (!out->w) {
        return MECH_NO_MEMORY;
    }
    out->velocities = (int32_t)n;
    memcpy(out->w, q->f.x, n * sizeof *out->w);
    mech_mat_mul_transposed(&q->G, 1., s->l, 1., out->w);
    return mech_schur_divide_by_H(s->system, out->w);
}

static int pose(struct lone *s, size_t m)
{
    const struct mech_lone_problem *const q = s->request;

    s->r = mech_arena_alloc(s->arena, m, sizeof *s->r);
    s->l = mech_arena_alloc(s->arena, m, sizeof *s->l);
    s->c = mech_arena_alloc(s->arena, m, sizeof *s->c);
    if (!s->r || !s->l || !s->c) {
        return MECH_NO_MEMORY;
    }
    if (q->l.n) {
        memcpy(s->l, q->l.x, m * sizeof *s->l);
    }
    if (given(&q->H)) {
        MECH_TRY(reduce(s));
    } else {
        const bool small = m <= 200 || q->N.kind == MECH_MAT_DENSE;

        memcpy(s->r, q->r.x, m * sizeof *s->r);
        MECH_TRY(mech_mat_convert(s->arena, &q->N, small ? MECH_MAT_DENSE : MECH_MAT_CSC, &s->N));
    }
    s->problem.m = (int32_t)m;
    s->problem.N = s->problem.schur ? NULL : &s->N;
    s->problem.r = s->r;
    s->problem.friction = (enum mech_friction)q->friction;
    return 0;
}

/* Finite data can overflow into c and w. */
static bool is_finite(const struct mech_lone_solution *s)
{
    double sum = 0.;

    for (int32_t i = 0; i < s->rows; i++) {
        sum += 0. * s->l[i] + 0. * s->c[i];
    }
    for (int32_t j = 0; j < s->velocities; j++) {
        sum += 0. * s->w[j];
    }
    return sum == 0.;
}

/* Whether there is a solution at all; not asked of an N that is not formed. 0; MECH_CANCELLED; no
 * memory. */
static int explain(struct lone *s, size_t m, struct mech_interrupt *interrupt,
                   struct mech_lone_solution *out)
{
    double *const d = mech_arena_alloc(s->arena, m, sizeof *d);

    if (!d) {
        return MECH_NO_MEMORY;
    }
    const int found = s->problem.N ? mech_certificate_find(&s->problem, s->request->vi.tolerance,
                                                           interrupt, s->l, d)
                                   : 0;

    out->certificate = found > 0 ? d : NULL;
    out->rows = (int32_t)m;
    return found < 0 ? found : interrupt && interrupt->came ? MECH_CANCELLED : 0;
}

static int solve(struct lone *s, size_t m, struct mech_interrupt *interrupt,
                 struct mech_lone_solution *out)
{
    const struct mech_vi_settings *const vi = &s->request->vi;
    const struct mech_vi_limits limits = {
        .tolerance = vi->tolerance, .max_iterations = vi->max_iterations, .interrupt = interrupt};
    struct mech_vi_result result;

    MECH_TRY(pose(s, m));
    int code = mech_vi_solve(vi->type, &s->problem, &limits, s->l, &result);

    if (mech_interrupted(interrupt)) {
        return MECH_CANCELLED;
    }
    if (code == MECH_VI_NOT_CONVERGED && s->problem.schur && !vi->type && m <= DENSE_ROWS_MOST) {
        const int32_t before = result.iterations;

        s->problem.schur = NULL;
        s->problem.N = &s->N;
        MECH_TRY(form_dense(s));
        code = mech_vi_solve(NULL, &s->problem, &limits, s->l, &result);
        result.iterations += before;
        if (interrupt && interrupt->came) {
            return MECH_CANCELLED;
        }
    }
    if (code == MECH_NOT_FOUND) {
        mech_diag_add(s->diag, "/solver/type", "there is no complementarity solver \"%s\"",
                      vi->type);
        return MECH_INVALID;
    }
    if (code == MECH_UNSUPPORTED && vi->type) {
        mech_diag_add(s->diag, "/solver/type", "\"%s\" does not support this problem: %s", vi->type,
                      mech_vi_find(vi->type)->doc);
        return MECH_INVALID;
    }
    if (code == MECH_SINGULAR) {
        /* a member that cannot divide has nothing to accept, but there may be no solution at all */
        MECH_TRY(explain(s, m, interrupt, out));
        return out->certificate ? MECH_VI_NOT_CONVERGED : code;
    }
    if (code != 0 && code != MECH_VI_NOT_CONVERGED) {
        return code;
    }
    mech_problem_speed(&s->problem, s->l, s->c);
    *out = (struct mech_lone_solution){.rows = (int32_t)m,
                                       .l = s->l,
                                       .c = s->c,
                                       .iterations = result.iterations,
                                       .residual = result.residual,
                                       .acceptance = result.acceptance,
                                       .solver = result.solver,
                                       .converged = code == 0};
    if (code) {
        MECH_TRY(explain(s, m, interrupt, out));
    }
    if (s->system) {
        MECH_TRY(velocities(s, out));
    }
    if (code && vi->on_failure != MECH_ON_FAILURE_ACCEPT) {
        return code;
    }
    return is_finite(out) ? 0 : MECH_NOT_FINITE;
}

int mech_lone_problem_solve(const struct mech_lone_problem *p, struct mech_arena *arena,
                            struct mech_interrupt *interrupt, struct mech_diag *diag,
                            struct mech_lone_solution *out)
{
    struct lone s = {.request = p, .arena = arena, .diag = diag};
    size_t m = 0;
    int code = check(&s, &m);

    code = code ? code : diag->count ? MECH_INVALID : solve(&s, m, interrupt, out);
    mech_schur_destroy(s.system);
    return code;
}
