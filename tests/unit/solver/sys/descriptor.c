/* A descriptor with every kind of mass, frozen variables, constraints of one to three halves and a
 * stiffness block, against the same system as dense matrices; its matrices, text and bytes. */
#include "solver/base/err.h"
#include "solver/sys/archive.h"
#include "solver/sys/assemble.h"
#include "solver/sys/dump.h"
#include "tests/unit/alloc_count.h"
#include "tests/unit/unit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { W = 64, L = 32 };

/* the same system by whole matrices; frozen variables have no place in them */
struct dense {
    int32_t w, l;
    double H[W][W], G[L][W], E[L], f[W], b[L];
};

/* uniform in −1 … 1, xorshift */
static double uniform(uint64_t *seed)
{
    *seed ^= *seed << 13;
    *seed ^= *seed >> 7;
    *seed ^= *seed << 17;
    return (double)(*seed >> 11) / 4503599627370496. - 1.;
}

struct built {
    struct mech_descriptor *d;
    struct dense dense;
    int32_t mass[5], variables[7], constraint[5], block;
    int32_t n[7], at[7]; /* velocities of each variables block; where they are, −1: frozen */
};

static void add_masses(struct built *s)
{
    static const double d[] = {2., 3., 4., 5.}, M[] = {4., 1., 1., 3.};
    const struct mech_mass masses[] = {
        {.kind = MECH_MASS_BODY, .m = 2., .J = {3., .5, .1, .5, 4., .2, .1, .2, 5.}},
        {.kind = MECH_MASS_NODE, .m = 1.5},
        {.kind = MECH_MASS_SHAFT, .m = 0.7},
        {.kind = MECH_MASS_DIAGONAL, .n = 4, .values = d},
        {.kind = MECH_MASS_DENSE, .n = 2, .values = M}};

    for (int k = 0; k < 5; k++) {
        CU_ASSERT_EQUAL_FATAL(mech_descriptor_add_mass(s->d, &masses[k], &s->mass[k]), 0);
    }
}

/* bodies 0 and 5 share a mass; 2 and 5 are frozen */
static void add_variables(struct built *s, uint64_t *seed)
{
    static const int32_t kind[] = {0, 1, 1, 2, 3, 0, 4}, size[] = {6, 3, 3, 1, 4, 6, 2};

    for (int k = 0; k < 7; k++) {
        double w[6], f[6];
        struct mech_variables v = {.mass = s->mass[kind[k]], .w = w, .f = f};

        v.frozen = k == 2 || k == 5;
        s->n[k] = size[k];
        s->at[k] = v.frozen ? -1 : s->dense.w;
        for (int i = 0; i < size[k]; i++) {
            w[i] = uniform(seed);
            f[i] = uniform(seed);
            if (!v.frozen) {
                s->dense.f[s->dense.w + i] = f[i];
            }
        }
        s->dense.w += v.frozen ? 0 : size[k];
        CU_ASSERT_EQUAL_FATAL(mech_descriptor_add_variables(s->d, &v, &s->variables[k]), 0);
    }
}

/* M of the blocks by their definition, not by the functions under test */
static void fill_masses(struct built *s, double a)
{
    static const double J[] = {3., .5, .1, .5, 4., .2, .1, .2, 5.};

    for (int i = 0; i < 3; i++) {
        s->dense.H[i][i] = a * 2.;
        for (int j = 0; j < 3; j++) {
            s->dense.H[3 + i][3 + j] = a * J[3 * i + j];
        }
        s->dense.H[s->at[1] + i][s->at[1] + i] = a * 1.5;
    }
    s->dense.H[s->at[3]][s->at[3]] = a * 0.7;
    for (int i = 0; i < 4; i++) {
        s->dense.H[s->at[4] + i][s->at[4] + i] = a * (2. + i);
    }
    s->dense.H[s->at[6]][s->at[6]] = a * 4.;
    s->dense.H[s->at[6] + 1][s->at[6] + 1] = a * 3.;
    s->dense.H[s->at[6]][s->at[6] + 1] = s->dense.H[s->at[6] + 1][s->at[6]] = a;
}

static void add_constraint(struct built *s, int which, struct mech_set set, const int32_t *on,
                           int32_t count, uint64_t *seed)
{
    double jacobian[3][36], b[6], cfm[6];
    struct mech_constraint_half halves[3];
    const uint32_t flags = which == 3 ? MECH_CONSTRAINT_BROKEN : 0;

    for (int32_t k = 0; k < count; k++) {
        halves[k] = (struct mech_constraint_half){.variables = s->variables[on[k]],
                                                  .jacobian = jacobian[k]};
        for (int32_t e = 0; e < set.rows * s->n[on[k]]; e++) {
            jacobian[k][e] = uniform(seed);
            if (!flags && s->at[on[k]] >= 0) {
                s->dense.G[s->dense.l + e / s->n[on[k]]][s->at[on[k]] + e % s->n[on[k]]] =
                    jacobian[k][e];
            }
        }
    }
    for (int32_t r = 0; r < set.rows; r++) {
        b[r] = uniform(seed);
        cfm[r] = which == 1 ? 0. : 0.1 + 0.1 * r;
        if (!flags) {
            s->dense.b[s->dense.l + r] = b[r];
            s->dense.E[s->dense.l + r] = cfm[r];
        }
    }
    const struct mech_constraint spec = {
        .set = set, .halves = halves, .count = count, .b = b, .cfm = cfm, .flags = flags};

    CU_ASSERT_EQUAL_FATAL(mech_descriptor_add_constraint(s->d, &spec, &s->constraint[which]), 0);
    s->dense.l += flags ? 0 : set.rows;
}

static struct built build(bool stiff)
{
    struct built s = {.block = -1};
    uint64_t seed = 77;

    CU_ASSERT_EQUAL_FATAL(mech_descriptor_create(&s.d), 0);
    add_masses(&s);
    add_variables(&s, &seed);
    mech_descriptor_mass_factor(s.d, 1.7);
    fill_masses(&s, 1.7);
    add_constraint(&s, 0, (struct mech_set){.kind = MECH_SET_BILATERAL, .rows = 1},
                   (const int32_t[]){0, 1}, 2, &seed);
    add_constraint(&s, 1, (struct mech_set){.kind = MECH_SET_CONE, .rows = 3, .mu = 0.4},
                   (const int32_t[]){1, 2}, 2, &seed);
    add_constraint(&s, 2, (struct mech_set){.kind = MECH_SET_UNILATERAL, .rows = 1},
                   (const int32_t[]){3, 4, 6}, 3, &seed);
    add_constraint(&s, 3, (struct mech_set){.kind = MECH_SET_BILATERAL, .rows = 1},
                   (const int32_t[]){0}, 1, &seed);
    add_constraint(&s, 4,
                   (struct mech_set){.kind = MECH_SET_BOX, .rows = 1, .lower = -1., .upper = 1.},
                   (const int32_t[]){4}, 1, &seed);
    if (stiff) {
        /* between a body, a frozen node and a shaft */
        static const int32_t on[] = {0, 2, 3};
        double K[100], R[100], M[100];
        const struct mech_stiffness spec = {.variables = on, .count = 3, .K = K, .R = R, .M = M};
        int32_t place[10], p = 0;

        for (int k = 0; k < 3; k++) {
            for (int i = 0; i < s.n[on[k]]; i++) {
                place[p++] = s.at[on[k]] < 0 ? -1 : s.at[on[k]] + i;
            }
        }
        for (int e = 0; e < 100; e++) {
            K[e] = uniform(&seed);
            R[e] = uniform(&seed);
            M[e] = uniform(&seed);
            if (place[e % 10] >= 0 && place[e / 10] >= 0) {
                s.dense.H[place[e % 10]][place[e / 10]] += 2. * K[e] + 3. * R[e] + 0.5 * M[e];
            }
        }
        CU_ASSERT_EQUAL_FATAL(mech_descriptor_add_stiffness(s.d, &spec, &s.block), 0);
        mech_descriptor_stiffness_factors(s.d, 2., 3., 0.5);
    }
    mech_descriptor_close(s.d);
    return s;
}

static void counts_and_offsets_skip_what_is_not_active(void)
{
    struct built s = build(true);
    const struct mech_descriptor_size size = mech_descriptor_sizes(s.d);

    CU_ASSERT_EQUAL(size.velocities, 16);
    CU_ASSERT_EQUAL(size.rows, 6);
    CU_ASSERT_EQUAL(size.frozen, 2);
    CU_ASSERT_EQUAL(mech_descriptor_variables_offset(s.d, s.variables[2]), -1);
    CU_ASSERT_EQUAL(mech_descriptor_variables_offset(s.d, s.variables[3]), 9);
    CU_ASSERT_EQUAL(mech_descriptor_constraint_offset(s.d, s.constraint[3]), -1);
    CU_ASSERT_EQUAL(mech_descriptor_constraint_offset(s.d, s.constraint[4]), 5);
    mech_descriptor_freeze(s.d, s.variables[2], false);
    mech_descriptor_flag(s.d, s.constraint[3], 0);
    mech_descriptor_flag(s.d, s.constraint[1], MECH_CONSTRAINT_DISABLED);
    const struct mech_descriptor_size after = mech_descriptor_close(s.d);
    CU_ASSERT_EQUAL(after.velocities, 19);
    CU_ASSERT_EQUAL(after.rows, 4);
    CU_ASSERT_EQUAL(mech_descriptor_variables_offset(s.d, s.variables[3]), 12);
    mech_descriptor_destroy(s.d);
}

static void vectors_are_packed_and_unpacked(void)
{
    struct built s = build(true);
    double f[W], b[L], d[W + L], x[W + L], y[W + L], diagonal[W + L];

    mech_descriptor_f(s.d, f);
    mech_descriptor_b(s.d, b);
    mech_descriptor_d(s.d, d);
    mech_descriptor_diagonal(s.d, diagonal);
    for (int32_t i = 0; i < s.dense.w; i++) {
        CHECK_NEAR(f[i], s.dense.f[i], 0.);
        CHECK_NEAR(d[i], s.dense.f[i], 0.);
        CHECK_NEAR(diagonal[i], s.dense.H[i][i], 1e-15);
    }
    for (int32_t i = 0; i < s.dense.l; i++) {
        CHECK_NEAR(b[i], s.dense.b[i], 0.);
        CHECK_NEAR(d[s.dense.w + i], -s.dense.b[i], 0.);
        CHECK_NEAR(diagonal[s.dense.w + i], s.dense.E[i], 0.);
    }
    for (int32_t i = 0; i < s.dense.w + s.dense.l; i++) {
        x[i] = 0.5 + i;
    }
    mech_descriptor_set_unknowns(s.d, x);
    mech_descriptor_get_unknowns(s.d, y);
    CU_ASSERT_EQUAL(memcmp(x, y, (size_t)(s.dense.w + s.dense.l) * sizeof *x), 0);
    // w and l also each alone
    mech_descriptor_set_w(s.d, d);
    mech_descriptor_get_unknowns(s.d, y);
    CU_ASSERT_EQUAL(memcmp(y, d, (size_t)s.dense.w * sizeof *x), 0);
    CU_ASSERT_EQUAL(memcmp(y + s.dense.w, x + s.dense.w, (size_t)s.dense.l * sizeof *x), 0);
    mech_descriptor_set_l(s.d, b);
    mech_descriptor_get_l(s.d, y);
    CU_ASSERT_EQUAL(memcmp(y, b, (size_t)s.dense.l * sizeof *x), 0);
    mech_descriptor_mass_factor(s.d, 0.25);
    CHECK_NEAR(mech_descriptor_get_mass_factor(s.d), 0.25, 0.);
    mech_descriptor_destroy(s.d);
}

static void the_product_is_that_of_the_whole_matrix(void)
{
    struct built s = build(true);
    const int32_t w = s.dense.w, l = s.dense.l;
    double x[W + L], out[W + L];
    uint64_t seed = 5;

    for (int32_t i = 0; i < w + l; i++) {
        x[i] = uniform(&seed);
    }
    alloc_count_start();
    mech_descriptor_product(s.d, x, out);
    CU_ASSERT_EQUAL(alloc_count_stop(), 0);
    for (int32_t i = 0; i < w; i++) {
        double sum = 0.;

        for (int32_t j = 0; j < w; j++) {
            sum += s.dense.H[i][j] * x[j];
        }
        for (int32_t r = 0; r < l; r++) {
            sum -= s.dense.G[r][i] * x[w + r];
        }
        CHECK_NEAR(out[i], sum, 1e-13);
    }
    for (int32_t r = 0; r < l; r++) {
        double sum = s.dense.E[r] * x[w + r];

        for (int32_t j = 0; j < w; j++) {
            sum += s.dense.G[r][j] * x[j];
        }
        CHECK_NEAR(out[w + r], sum, 1e-13);
    }
    mech_descriptor_Gt(s.d, x + w, out);
    for (int32_t i = 0; i < w; i++) {
        double sum = 0.;

        for (int32_t r = 0; r < l; r++) {
            sum += s.dense.G[r][i] * x[w + r];
        }
        CHECK_NEAR(out[i], sum, 1e-13);
    }
    mech_descriptor_destroy(s.d);
}

/* x := A⁻¹ x by elimination, A [n × n] destroyed */
static void eliminate(int32_t n, double A[W][W], double *x)
{
    for (int32_t k = 0; k < n; k++) {
        int32_t best = k;

        for (int32_t i = k + 1; i < n; i++) {
            best = fabs(A[i][k]) > fabs(A[best][k]) ? i : best;
        }
        for (int32_t j = 0; j < n; j++) {
            const double t = A[k][j];

            A[k][j] = A[best][j];
            A[best][j] = t;
        }
        const double t = x[k];

        x[k] = x[best];
        x[best] = t;
        for (int32_t i = k + 1; i < n; i++) {
            const double factor = A[i][k] / A[k][k];

            for (int32_t j = k; j < n; j++) {
                A[i][j] -= factor * A[k][j];
            }
            x[i] -= factor * x[k];
        }
    }
    for (int32_t k = n - 1; k >= 0; k--) {
        for (int32_t j = k + 1; j < n; j++) {
            x[k] -= A[k][j] * x[j];
        }
        x[k] /= A[k][k];
    }
}

static int solve_dense(void *self, double *x)
{
    const struct dense *const dense = self;
    double A[W][W];

    memcpy(A, dense->H, sizeof A);
    eliminate(dense->w, A, x);
    return 0;
}

static void check_schur(struct built *s, const struct mech_inverse *inverse, const bool *enabled)
{
    const int32_t w = s->dense.w, rows = s->dense.l;
    double l[L] = {0.}, work[W], out[L];
    uint64_t seed = 9;

    for (int32_t r = 0; r < rows; r++) {
        l[r] = uniform(&seed);
    }
    CU_ASSERT_EQUAL(mech_descriptor_schur(s->d, inverse, enabled, l, work, out), 0);
    double x[W] = {0.};

    for (int32_t r = 0; r < rows; r++) {
        for (int32_t i = 0; i < w && (!enabled || enabled[r]); i++) {
            x[i] += s->dense.G[r][i] * l[r];
        }
    }
    solve_dense(&s->dense, x);
    for (int32_t r = 0; r < rows; r++) {
        double sum = s->dense.E[r] * l[r];

        for (int32_t i = 0; i < w; i++) {
            sum += s->dense.G[r][i] * x[i];
        }
        CHECK_NEAR(out[r], enabled && !enabled[r] ? 0. : sum, 1e-12);
    }
}

static void the_schur_product_needs_no_matrix(void)
{
    struct built masses = build(false), stiff = build(true);
    const struct mech_inverse inverse = {solve_dense, &stiff.dense};
    const bool enabled[] = {true, false, true, true, false, true};
    double l[L] = {0.}, work[W], out[L];

    check_schur(&masses, NULL, NULL);
    check_schur(&masses, NULL, enabled);
    check_schur(&stiff, &inverse, NULL);
    check_schur(&stiff, &inverse, enabled);
    CU_ASSERT_EQUAL(mech_descriptor_schur(stiff.d, NULL, NULL, l, work, out), MECH_UNSUPPORTED);
    mech_descriptor_destroy(masses.d);
    mech_descriptor_destroy(stiff.d);
}

static void check_matrix(const struct built *s, enum mech_system_matrix which, bool bilateral)
{
    static double expected[W + L][W + L];
    const struct dense *const a = &s->dense;
    const int32_t w = a->w;
    struct mech_arena arena;
    struct mech_mat out;
    int32_t row[L], rows = 0;

    /* the only active bilateral row is the first */
    for (int32_t r = 0; r < a->l && (!bilateral || r == 0); r++) {
        row[rows++] = r;
    }
    memset(expected, 0, sizeof expected);
    for (int32_t i = 0; i < w; i++) {
        for (int32_t j = 0; j < w; j++) {
            expected[i][j] = a->H[i][j];
        }
        for (int32_t r = 0; r < rows; r++) {
            expected[w + r][i] = expected[i][w + r] = a->G[row[r]][i];
            expected[w + r][w + r] = -a->E[row[r]];
        }
    }
    mech_arena_init(&arena, 0);
    CU_ASSERT_EQUAL_FATAL(mech_descriptor_matrix(s->d, which, bilateral, &arena, &out), 0);
    const bool of_rows = which == MECH_SYSTEM_G || which == MECH_SYSTEM_E;
    const bool of_columns = which == MECH_SYSTEM_GT || which == MECH_SYSTEM_E;
    const int32_t all = which == MECH_SYSTEM_Z ? w + rows : w;
    const double sign = which == MECH_SYSTEM_E ? -1. : 1.;

    CU_ASSERT_EQUAL(out.rows, of_rows ? rows : all);
    CU_ASSERT_EQUAL(out.cols, of_columns ? rows : all);
    for (int32_t i = 0; i < out.rows; i++) {
        for (int32_t j = 0; j < out.cols; j++) {
            CHECK_NEAR(mech_mat_get(&out, i, j),
                       sign * expected[i + (of_rows ? w : 0)][j + (of_columns ? w : 0)], 1e-14);
        }
    }
    mech_arena_fini(&arena);
}

static void matrices_hold_the_blocks(void)
{
    struct built s = build(true);

    for (int bilateral = 0; bilateral < 2; bilateral++) {
        check_matrix(&s, MECH_SYSTEM_H, bilateral);
        check_matrix(&s, MECH_SYSTEM_G, bilateral);
        check_matrix(&s, MECH_SYSTEM_GT, bilateral);
        check_matrix(&s, MECH_SYSTEM_E, bilateral);
        check_matrix(&s, MECH_SYSTEM_Z, bilateral);
    }
    double right[W + L];

    CU_ASSERT_EQUAL(mech_descriptor_right_side(s.d, true, right), 1);
    CHECK_NEAR(right[s.dense.w], -s.dense.b[0], 0.);
    CHECK_NEAR(right[3], s.dense.f[3], 0.);
    mech_descriptor_destroy(s.d);
}

static void the_matrix_of_the_schur_product_is_its_columns(void)
{
    struct built s = build(false);
    struct mech_arena arena;
    struct mech_mat N;
    double l[L], work[W], out[L];

    mech_arena_init(&arena, 0);
    CU_ASSERT_EQUAL_FATAL(mech_descriptor_matrix(s.d, MECH_SYSTEM_N, false, &arena, &N), 0);
    for (int32_t j = 0; j < s.dense.l; j++) {
        memset(l, 0, sizeof l);
        l[j] = 1.;
        CU_ASSERT_EQUAL(mech_descriptor_schur(s.d, NULL, NULL, l, work, out), 0);
        for (int32_t i = 0; i < s.dense.l; i++) {
            CHECK_NEAR(mech_mat_get(&N, i, j), out[i], 1e-14);
        }
    }
    mech_arena_fini(&arena);
    mech_descriptor_destroy(s.d);
}

static void multipliers_are_projected_in_their_sets(void)
{
    struct built s = build(true);
    double x[W + L] = {0.}, *const l = x + s.dense.w;
    const double from[] = {-3., -1., 1., 0., -2., 5.};
    const bool enabled[] = {true, false, false, false, true, true};

    memcpy(l, from, sizeof from);
    mech_descriptor_project(s.d, enabled, l);
    CHECK_NEAR(l[0], -3., 0.); /* bilateral */
    CHECK_NEAR(l[1], -1., 0.); /* masked */
    CHECK_NEAR(l[4], 0., 0.);
    CHECK_NEAR(l[5], 1., 0.);
    mech_descriptor_project_unknowns(s.d, x);
    CHECK_NEAR(l[1], 0., 0.); /* μ = 0.4: 0.4 · 1 ≤ 1, polar */
    mech_descriptor_destroy(s.d);
}

static void feasibility_is_that_of_the_kept_unknowns(void)
{
    struct built s = build(true);
    double x[W + L] = {0.}, work[W + L];

    x[s.dense.w + 4] = 2.; /* c of the unilateral row: 0.1 · 2 + b */
    mech_descriptor_set_unknowns(s.d, x);
    const struct mech_feasibility at = mech_descriptor_feasibility(s.d, work);
    double violation = fabs(s.dense.b[0]);

    violation = fmax(violation, -s.dense.b[1]);
    violation = fmax(violation, -(s.dense.b[4] + 0.2));
    violation = fmax(violation, fabs(s.dense.b[5])); /* l = 0 between −1 and 1 */
    CHECK_NEAR(at.violation, violation, 1e-15);
    CHECK_NEAR(at.complementarity, fabs(2. * (s.dense.b[4] + 0.2)), 1e-15);
    mech_descriptor_destroy(s.d);
}

static void bytes_give_the_same_descriptor(void)
{
    struct built s = build(true);
    struct mech_descriptor *copy = NULL;
    const size_t size = mech_descriptor_bytes(s.d);
    unsigned char *const bytes = malloc(size);
    double a[W + L], b[W + L], x[W + L];

    CU_ASSERT_PTR_NOT_NULL_FATAL(bytes);
    mech_descriptor_save(s.d, bytes);
    CU_ASSERT_EQUAL_FATAL(mech_descriptor_load(bytes, size, &copy), 0);
    for (int32_t i = 0; i < s.dense.w + s.dense.l; i++) {
        x[i] = 1. / (1. + i);
    }
    mech_descriptor_product(s.d, x, a);
    mech_descriptor_product(copy, x, b);
    CU_ASSERT_EQUAL(memcmp(a, b, (size_t)(s.dense.w + s.dense.l) * sizeof *a), 0);
    mech_descriptor_get_unknowns(s.d, a);
    mech_descriptor_get_unknowns(copy, b);
    CU_ASSERT_EQUAL(memcmp(a, b, (size_t)(s.dense.w + s.dense.l) * sizeof *a), 0);
    /* written again it is the same to the byte */
    unsigned char *const again = calloc(1, size);

    CU_ASSERT_EQUAL_FATAL(mech_descriptor_bytes(copy), size);
    mech_descriptor_save(copy, again);
    CU_ASSERT_EQUAL(memcmp(bytes, again, size), 0);
    free(again);
    mech_descriptor_destroy(copy);
    /* every cut and every flipped byte is refused */
    for (size_t k = 0; k < size; k += 7) {
        CU_ASSERT_EQUAL(mech_descriptor_load(bytes, k, &copy), MECH_MISMATCH);
        bytes[k] ^= 0x10;
        CU_ASSERT_EQUAL(mech_descriptor_load(bytes, size, &copy), MECH_MISMATCH);
        bytes[k] ^= 0x10;
    }
    free(bytes);
    mech_descriptor_destroy(s.d);
}

static void text_is_matrix_market_or_coordinates(void)
{
    struct mech_arena arena;
    struct mech_mat a;
    struct mech_triplet t[] = {{0, 0, 0.1}, {2, 1, -3.}};
    char *text = NULL;

    mech_arena_init(&arena, 0);
    CU_ASSERT_EQUAL_FATAL(mech_mat_from_triplets(&arena, 3, 2, t, 2, &a), 0);
    CU_ASSERT_EQUAL_FATAL(mech_dump_matrix(&a, MECH_DUMP_MATRIX_MARKET, &text), 0);
    CU_ASSERT_STRING_EQUAL(text, "%%MatrixMarket matrix coordinate real general\n3 2 2\n"
                                 "1 1 0.10000000000000001\n3 2 -3\n");
    free(text);
    t[1] = (struct mech_triplet){1, 0, 2.};
    CU_ASSERT_EQUAL_FATAL(mech_mat_from_triplets(&arena, 3, 2, t, 2, &a), 0);
    CU_ASSERT_EQUAL_FATAL(mech_dump_matrix(&a, MECH_DUMP_COORDINATES, &text), 0);
    CU_ASSERT_STRING_EQUAL(text, "1 1 0.10000000000000001\n2 1 2\n3 2 0\n");
    free(text);
    CU_ASSERT_EQUAL_FATAL(
        mech_dump_vector((const double[]){1., 0.5}, 2, MECH_DUMP_COORDINATES, &text), 0);
    CU_ASSERT_STRING_EQUAL(text, "1\n0.5\n");
    free(text);
    mech_arena_fini(&arena);
}

static void what_cannot_be_is_refused(void)
{
    struct mech_descriptor *d = NULL;
    int32_t at;
    static const double indefinite[] = {1., 2., 2., 1.};
    const struct mech_mass no_mass = {.kind = MECH_MASS_NODE, .m = 0.};
    const struct mech_mass flat = {.kind = MECH_MASS_BODY, .m = 1., .J = {1., 0, 0, 0, 1., 0, 0}};
    const struct mech_mass saddle = {.kind = MECH_MASS_DENSE, .n = 2, .values = indefinite};
    const struct mech_mass band = {.kind = MECH_MASS_BAND,
                                   .n = 2,
                                   .half = 1,
                                   .values = (const double[]){0., 2., 1., 1., 2., 0.}};
    const struct mech_variables nowhere = {.mass = 3};

    CU_ASSERT_EQUAL_FATAL(mech_descriptor_create(&d), 0);
    CU_ASSERT_EQUAL(mech_descriptor_add_mass(d, &no_mass, &at), MECH_SINGULAR);
    CU_ASSERT_EQUAL(mech_descriptor_add_mass(d, &flat, &at), MECH_SINGULAR);
    CU_ASSERT_EQUAL(mech_descriptor_add_mass(d, &saddle, &at), MECH_SINGULAR);
    CU_ASSERT_EQUAL(mech_descriptor_add_mass(d, &band, &at), MECH_SINGULAR);
    CU_ASSERT_EQUAL(mech_descriptor_add_variables(d, &nowhere, &at), MECH_INVALID);
    mech_descriptor_destroy(d);
}

UNIT_TESTS(UNIT_TEST(counts_and_offsets_skip_what_is_not_active),
           UNIT_TEST(vectors_are_packed_and_unpacked),
           UNIT_TEST(the_product_is_that_of_the_whole_matrix),
           UNIT_TEST(the_schur_product_needs_no_matrix), UNIT_TEST(matrices_hold_the_blocks),
           UNIT_TEST(the_matrix_of_the_schur_product_is_its_columns),
           UNIT_TEST(multipliers_are_projected_in_their_sets),
           UNIT_TEST(feasibility_is_that_of_the_kept_unknowns),
           UNIT_TEST(bytes_give_the_same_descriptor),
           UNIT_TEST(text_is_matrix_market_or_coordinates), UNIT_TEST(what_cannot_be_is_refused))
