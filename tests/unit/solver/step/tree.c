/* Elimination along trees against dense LU, on trees of many shapes with blocks of all sizes; and
 * what does not suit. */
#include "solver/step/tree.h"

#include "solver/base/err.h"
#include "solver/lsol/lsol.h"
#include "tests/unit/unit.h"

#include <math.h>
#include <stdlib.h>

enum { BODIES = 12, SIZE = 6 * BODIES, N = 2 * SIZE };

/* A matrix with its blocks. */
struct system {
    int32_t blocks, nv, rows, block_of[SIZE], first[BODIES + 1];
    double a[N][N];
    bool has[N][N];
};

static uint64_t seed;

/* uniform in −1 … 1 */
static double number(void)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (double)(int64_t)(seed >> 11) / 4503599627370496. - 1.;
}

static int32_t below(int32_t n)
{
    return (int32_t)((number() + 1.) / 2. * n) % n;
}

static void put(struct system *s, int32_t row, int32_t col, double value)
{
    s->a[row][col] = value;
    s->has[row][col] = true;
}

static void bodies(struct system *s, int32_t blocks, int32_t smallest, int32_t largest)
{
    *s = (struct system){.blocks = blocks};
    for (int32_t b = 0; b < blocks; b++) {
        const int32_t m = smallest + below(largest - smallest + 1);

        s->first[b] = s->nv;
        for (int32_t i = 0; i < m; i++) {
            s->block_of[s->nv++] = b;
        }
    }
    s->first[blocks] = s->nv;
    for (int32_t b = 0; b < blocks; b++) {
        for (int32_t i = s->first[b]; i < s->first[b + 1]; i++) {
            for (int32_t j = s->first[b]; j < s->first[b + 1]; j++) {
                put(s, i, j, (i == j ? 4. : 0.) + 0.3 * number());
            }
        }
    }
}

/* a row on one body, or on two (b < 0: one) */
static void row(struct system *s, int32_t a, int32_t b)
{
    const int32_t both[2] = {a, b}, r = s->nv + s->rows++;

    for (int k = 0; k < 2 && both[k] >= 0; k++) {
        for (int32_t i = s->first[both[k]]; i < s->first[both[k] + 1]; i++) {
            const double g = number();

            put(s, r, i, g);
            put(s, i, r, g);
        }
    }
    put(s, r, r, 0.);
}

static void couple(struct system *s, int32_t a, int32_t b)
{
    for (int32_t i = s->first[a]; i < s->first[a + 1]; i++) {
        for (int32_t j = s->first[b]; j < s->first[b + 1]; j++) {
            put(s, i, j, 0.2 * number());
            put(s, j, i, 0.2 * number());
        }
    }
}

static int32_t size_of(const struct system *s, int32_t b)
{
    return s->first[b + 1] - s->first[b];
}

/* all entries, in the order of rows */
static size_t entries(const struct system *s, struct mech_triplet *t)
{
    size_t count = 0;

    for (int32_t i = 0; i < s->nv + s->rows; i++) {
        for (int32_t j = 0; j < s->nv + s->rows; j++) {
            if (s->has[i][j]) {
                t[count++] = (struct mech_triplet){i, j, s->a[i][j]};
            }
        }
    }
    return count;
}

static int make(const struct system *s, struct mech_triplet *t, struct mech_tree **out)
{
    const struct mech_tree_pattern pattern = {.nv = s->nv,
                                              .rows = s->rows,
                                              .blocks = s->blocks,
                                              .block_of = s->block_of,
                                              .entry = t,
                                              .count = entries(s, t)};

    return mech_tree_create(&pattern, out);
}

static int factor(const struct system *s, struct mech_tree *t, double *values)
{
    for (int32_t i = 0; i < s->nv + s->rows; i++) {
        for (int32_t j = 0; j < s->nv; j++) {
            if (s->has[i][j]) {
                values[mech_tree_place(t, i, j)] = s->a[i][j];
            }
        }
    }
    return mech_tree_factor(t, values);
}

/* largest difference between the tree's solution and that of dense LU, relative */
static double difference(const struct system *s)
{
    const int32_t n = s->nv + s->rows;
    struct mech_triplet *const t = calloc(N * N, sizeof *t);
    struct mech_tree *tree = NULL;
    struct mech_lsol *dense = NULL;
    struct mech_mat A = {.kind = MECH_MAT_DENSE, .rows = n, .cols = n};
    double x[N], y[N], worst = 0., largest = 0.;

    CU_ASSERT_EQUAL_FATAL(make(s, t, &tree), 0);
    double *const values = calloc(mech_tree_stored(tree), sizeof *values);
    A.values = calloc((size_t)(n * n), sizeof *A.values);
    CU_ASSERT_EQUAL(factor(s, tree, values), 0);
    for (int32_t i = 0; i < n; i++) {
        x[i] = y[i] = number();
        for (int32_t j = 0; j < n; j++) {
            A.values[j * n + i] = s->a[i][j];
        }
    }
    mech_tree_solve(tree, x);
    CU_ASSERT_EQUAL(mech_lsol_create("dense_lu", &A, &dense), 0);
    CU_ASSERT_EQUAL(mech_lsol_factor(dense, &A), 0);
    CU_ASSERT_EQUAL(mech_lsol_solve(dense, y, 1), 0);
    for (int32_t i = 0; i < n; i++) {
        worst = fmax(worst, fabs(x[i] - y[i]));
        largest = fmax(largest, fabs(y[i]));
    }
    mech_tree_destroy(tree);
    mech_lsol_destroy(dense);
    free(values);
    free(A.values);
    free(t);
    return worst / largest;
}

/* random parents, rows up to the size of a body, some to the ground, couplings on some edges; the
 * condition of such matrices is below 1e5, of which rounding takes 1e-16 each */
static void trees_agree_with_dense_lu(void)
{
    for (seed = 1; seed < 400; seed++) {
        static struct system s;
        const uint64_t kept = seed;

        bodies(&s, 1 + below(BODIES), 1, 6);
        for (int32_t b = 0; b < s.blocks; b++) {
            const int32_t up = b ? below(b) : -1, k = below(size_of(&s, b) + 1);

            for (int32_t i = 0; i < k; i++) {
                row(&s, b, up);
            }
            if (up >= 0 && (k == 0 || below(2))) {
                couple(&s, b, up);
            }
            if (up >= 0 && k < size_of(&s, b) && size_of(&s, 0) == 6 && below(4) == 0) {
                row(&s, b, -1);
            }
        }
        CHECK_NEAR(difference(&s), 0., 1e-9);
        seed = kept;
    }
}

/* the sizes that have kernels of their own: hinges in the plane, in space, balls */
static void kernels_agree_with_dense_lu(void)
{
    static const int32_t sizes[][2] = {{3, 2}, {6, 5}, {6, 3}};

    for (int i = 0; i < 3; i++) {
        static struct system s;

        seed = 77;
        bodies(&s, BODIES, sizes[i][0], sizes[i][0]);
        for (int32_t b = 0; b < s.blocks; b++) {
            for (int32_t k = 0; k < sizes[i][1]; k++) {
                row(&s, b, b - 1);
            }
            if (b % 2) {
                couple(&s, b, b - 1);
            }
        }
        CHECK_NEAR(difference(&s), 0., 1e-9);
    }
}

static void only_trees_suit(void)
{
    static struct system s;
    struct mech_triplet *const t = calloc(N * N, sizeof *t);
    struct mech_tree *tree = NULL;

    seed = 5;
    /* a loop of three */
    bodies(&s, 3, 3, 3);
    row(&s, 0, 1);
    row(&s, 1, 2);
    CU_ASSERT_EQUAL(make(&s, t, &tree), 0);
    mech_tree_destroy(tree);
    couple(&s, 0, 2);
    CU_ASSERT_EQUAL(make(&s, t, &tree), MECH_UNSUPPORTED);
    /* more rows than velocities */
    bodies(&s, 1, 2, 2);
    row(&s, 0, -1);
    row(&s, 0, -1);
    row(&s, 0, -1);
    CU_ASSERT_EQUAL(make(&s, t, &tree), MECH_UNSUPPORTED);
    /* a row on three bodies */
    bodies(&s, 3, 3, 3);
    row(&s, 0, 1);
    put(&s, s.nv, s.first[2], 1.);
    CU_ASSERT_EQUAL(make(&s, t, &tree), MECH_UNSUPPORTED);
    CU_ASSERT_PTR_NULL(tree);
    free(t);
}

/* rows that depend on each other, and a free direction without inertia */
static void what_cannot_be_eliminated_is_said(void)
{
    static struct system s;
    struct mech_triplet *const t = calloc(N * N, sizeof *t);
    struct mech_tree *tree = NULL;
    double values[200] = {0.};

    seed = 9;
    bodies(&s, 1, 3, 3);
    row(&s, 0, -1);
    row(&s, 0, -1);
    for (int32_t j = 0; j < 3; j++) {
        put(&s, 4, j, 3. * s.a[3][j]);
    }
    CU_ASSERT_EQUAL_FATAL(make(&s, t, &tree), 0);
    CU_ASSERT_EQUAL(factor(&s, tree, values), MECH_SINGULAR);
    for (int32_t j = 0; j < 3; j++) {
        put(&s, 4, j, j == 2 ? NAN : s.a[3][2 - j]);
    }
    CU_ASSERT_EQUAL(factor(&s, tree, values), MECH_SINGULAR);
    mech_tree_destroy(tree);

    bodies(&s, 1, 2, 2);
    row(&s, 0, -1);
    for (int32_t j = 0; j < 2; j++) {
        put(&s, 2, j, 1.);
    }
    put(&s, 0, 0, 1.);
    put(&s, 0, 1, 0.);
    put(&s, 1, 0, 0.);
    put(&s, 1, 1, -1.);
    CU_ASSERT_EQUAL_FATAL(make(&s, t, &tree), 0);
    CU_ASSERT_EQUAL(factor(&s, tree, values), MECH_SINGULAR);
    mech_tree_destroy(tree);
    free(t);
}

UNIT_TESTS(UNIT_TEST(trees_agree_with_dense_lu), UNIT_TEST(kernels_agree_with_dense_lu),
           UNIT_TEST(only_trees_suit), UNIT_TEST(what_cannot_be_eliminated_is_said))
