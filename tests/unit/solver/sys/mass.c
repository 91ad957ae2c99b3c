/* Blocks in their leanest form (banded masses, rows that name some velocities, stiffness by its
 * pattern, variables without a mass) against the same with every place written out. */
#include "solver/base/err.h"
#include "solver/sys/archive.h"
#include "solver/sys/assemble.h"
#include "tests/unit/unit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A banded mass, a row that names two of its velocities, and a stiffness by its pattern; or the
 * same with every place written out. Behind it variables without a mass of their own. */
static struct mech_descriptor *build_lean(bool lean, struct mech_arena *arena)
{
    enum { N = 5, ALL = N + 2 };
    static const double by_diagonals[3 * N] = {0., 1., 1., 1., 1., 4., 5., 6.,
                                               7., 8., 1., 1., 1., 1., 0.};
    static const int32_t list[] = {3, 1}, on[] = {0, 1};
    static const double listed[] = {2., -1.}, spread[N] = {0., -1., 0., 2., 0.}, tail[] = {1., 3.};
    double dense[N * N] = {0.}, K[ALL * ALL] = {0.}, M[ALL * ALL] = {0.};
    const double w[N] = {1., 2., 3., 4., 5.}, b = 0.5, cfm = 0.25;
    struct mech_triplet k[] = {{0, 5, -2.}, {5, 0, -2.}, {4, 4, 3.}, {2, 1, 0.5}};
    struct mech_triplet m[] = {{5, 5, 2.}, {6, 6, 3.}};
    struct mech_descriptor *d = NULL;
    struct mech_mat K_mat, M_mat;
    int32_t at;

    for (int i = 0; i < N; i++) {
        for (int j = i > 0 ? i - 1 : 0; j <= i + 1 && j < N; j++) {
            dense[j * N + i] = i == j ? 4. + i : 1.;
        }
    }
    for (int e = 0; e < 4; e++) {
        K[k[e].col * ALL + k[e].row] = k[e].value;
    }
    M[5 * ALL + 5] = 2.;
    M[6 * ALL + 6] = 3.;
    CU_ASSERT_EQUAL_FATAL(mech_mat_from_triplets(arena, ALL, ALL, k, 4, &K_mat), 0);
    CU_ASSERT_EQUAL_FATAL(mech_mat_from_triplets(arena, ALL, ALL, m, 2, &M_mat), 0);
    CU_ASSERT_EQUAL_FATAL(mech_descriptor_create(&d), 0);
    const struct mech_mass masses[] = {{.kind = lean ? MECH_MASS_BAND : MECH_MASS_DENSE,
                                        .n = N,
                                        .half = 1,
                                        .values = lean ? by_diagonals : dense},
                                       {.kind = MECH_MASS_NONE, .n = 2}};

    for (int i = 0; i < 2; i++) {
        const struct mech_variables v = {.mass = i, .w = w, .f = w};

        CU_ASSERT_EQUAL_FATAL(mech_descriptor_add_mass(d, &masses[i], &at), 0);
        CU_ASSERT_EQUAL_FATAL(mech_descriptor_add_variables(d, &v, &at), 0);
    }
    const struct mech_constraint_half halves[] = {{.variables = 0,
                                                   .jacobian = lean ? listed : spread,
                                                   .list = lean ? list : NULL,
                                                   .listed = lean ? 2 : 0},
                                                  {.variables = 1, .jacobian = tail}};
    const struct mech_constraint row = {
        .set = {.rows = 1}, .halves = halves, .count = 2, .b = &b, .cfm = &cfm};
    const struct mech_stiffness stiffness = {.variables = on,
                                             .count = 2,
                                             .K = lean ? NULL : K,
                                             .M = lean ? NULL : M,
                                             .K_mat = &K_mat,
                                             .M_mat = &M_mat};

    CU_ASSERT_EQUAL_FATAL(mech_descriptor_add_constraint(d, &row, &at), 0);
    CU_ASSERT_EQUAL_FATAL(mech_descriptor_add_stiffness(d, &stiffness, &at), 0);
    mech_descriptor_mass_factor(d, 1.5);
    mech_descriptor_stiffness_factors(d, 0.5, 0., 2.);
    mech_descriptor_close(d);
    return d;
}

static void same_matrices(const struct mech_descriptor *a, const struct mech_descriptor *b)
{
    for (int which = 0; which < MECH_SYSTEM_N; which++) {
        struct mech_arena arena;
        struct mech_mat x, y;

        mech_arena_init(&arena, 0);
        CU_ASSERT_EQUAL_FATAL(
            mech_descriptor_matrix(a, (enum mech_system_matrix)which, false, &arena, &x), 0);
        CU_ASSERT_EQUAL_FATAL(
            mech_descriptor_matrix(b, (enum mech_system_matrix)which, false, &arena, &y), 0);
        CU_ASSERT_EQUAL_FATAL(x.rows, y.rows);
        for (int32_t i = 0; i < x.rows * x.cols; i++) {
            CHECK_NEAR(mech_mat_get(&x, i / x.cols, i % x.cols),
                       mech_mat_get(&y, i / x.cols, i % x.cols), 0.);
        }
        mech_arena_fini(&arena);
    }
}

static void lean_blocks_are_the_full_ones(void)
{
    struct mech_arena arena;
    struct mech_descriptor *copy = NULL;

    mech_arena_init(&arena, 0);
    struct mech_descriptor *const full = build_lean(false, &arena);
    struct mech_descriptor *const lean = build_lean(true, &arena);
    double x[8], a[8], b[8], l = 2., work[8];

    same_matrices(full, lean);
    for (int i = 0; i < 8; i++) {
        x[i] = 1. / (1. + i);
    }
    mech_descriptor_product(full, x, a);
    mech_descriptor_product(lean, x, b);
    for (int i = 0; i < 8; i++) {
        CHECK_NEAR(a[i], b[i], 1e-15 * fabs(a[i]));
    }
    mech_descriptor_diagonal(full, a);
    mech_descriptor_diagonal(lean, b);
    CU_ASSERT_EQUAL(memcmp(a, b, sizeof a), 0);
    CHECK_NEAR(b[4], 1.5 * 8. + 0.5 * 3., 0.);
    CHECK_NEAR(b[6], 2. * 3., 0.);

    /* bytes keep the lean form */
    const size_t size = mech_descriptor_bytes(lean);
    unsigned char *const bytes = malloc(size);

    CU_ASSERT_PTR_NOT_NULL_FATAL(bytes);
    mech_descriptor_save(lean, bytes);
    CU_ASSERT_EQUAL_FATAL(mech_descriptor_load(bytes, size, &copy), 0);
    same_matrices(lean, copy);
    CU_ASSERT_EQUAL(mech_descriptor_bytes(copy), size);
    free(bytes);

    /* without a mass there is no product by masses alone, but when they are frozen */
    mech_descriptor_stiffness_factors(lean, 0., 1., 0.);
    CU_ASSERT_EQUAL(mech_descriptor_schur(lean, NULL, NULL, &l, work, b), MECH_UNSUPPORTED);
    mech_descriptor_stiffness_factors(full, 0., 1., 0.);
    mech_descriptor_freeze(lean, 1, true);
    mech_descriptor_freeze(full, 1, true);
    mech_descriptor_close(lean);
    mech_descriptor_close(full);
    CU_ASSERT_EQUAL(mech_descriptor_schur(lean, NULL, NULL, &l, work, b), 0);
    CU_ASSERT_EQUAL(mech_descriptor_schur(full, NULL, NULL, &l, work, a), 0);
    CHECK_NEAR(b[0], a[0], 1e-15 * fabs(a[0]));
    mech_descriptor_destroy(copy);
    mech_descriptor_destroy(full);
    mech_descriptor_destroy(lean);
    mech_arena_fini(&arena);
}

static const double diagonal[] = {2., 3.}, full[] = {4., 1., 1., 3.};
static const double by_diagonals[] = {0., 1., 1., 4., 5., 6., 1., 1., 0.};
static const struct mech_mass kinds[] = {
    {.kind = MECH_MASS_BODY, .m = 2., .J = {3., .5, .1, .5, 4., .2, .1, .2, 5.}},
    {.kind = MECH_MASS_NODE, .m = 1.5},
    {.kind = MECH_MASS_SHAFT, .m = 0.7},
    {.kind = MECH_MASS_DIAGONAL, .n = 2, .values = diagonal},
    {.kind = MECH_MASS_DENSE, .n = 2, .values = full},
    {.kind = MECH_MASS_BAND, .n = 3, .half = 1, .values = by_diagonals}};

/* y += a M x is that of the entries, x = M⁻¹ (M x), nothing stands beyond the reach */
static void every_mass_multiplies_and_divides(void)
{
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        struct mech_mass mass = kinds[k];
        double x[6], y[6], expected[6];
        struct mech_arena arena;

        mech_arena_init(&arena, 0);
        CU_ASSERT_EQUAL_FATAL(mech_mass_init(&arena, &mass), 0);
        for (int32_t i = 0; i < mass.n; i++) {
            x[i] = 1. / (1. + i);
            y[i] = expected[i] = 0.25 * i;
        }
        for (int32_t i = 0; i < mass.n; i++) {
            for (int32_t j = 0; j < mass.n; j++) {
                const double entry = mech_mass_entry(&mass, i, j);

                CHECK_NEAR(entry, mech_mass_entry(&mass, j, i), 0.);
                CU_ASSERT(entry == 0. || abs(i - j) <= mech_mass_reach(&mass));
                CU_ASSERT(i != j || entry > 0.);
                expected[i] += 2. * entry * x[j];
            }
        }
        mech_mass_add(&mass, 2., x, y);
        for (int32_t i = 0; i < mass.n; i++) {
            CHECK_NEAR(y[i], expected[i], 1e-15 * fabs(expected[i]));
            y[i] = 0.;
        }
        mech_mass_add(&mass, 1., x, y);
        mech_mass_solve(&mass, y, y);
        for (int32_t i = 0; i < mass.n; i++) {
            CHECK_NEAR(y[i], x[i], 4e-16);
        }
        mech_arena_fini(&arena);
    }
}

UNIT_TESTS(UNIT_TEST(every_mass_multiplies_and_divides), UNIT_TEST(lean_blocks_are_the_full_ones))
