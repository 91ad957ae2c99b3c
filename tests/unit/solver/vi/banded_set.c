/* Principal pivoting of narrow bands against pivoting of the same matrix, dense. */
#include "solver/vi/banded_set.h"
#include "solver/base/err.h"
#include "tests/unit/alloc_count.h"
#include "tests/unit/unit.h"

#include <math.h>
#include <string.h>

enum { MOST = 120, WIDEST = MECH_BANDED_SET_WIDTH };

/* uniform in −1 … 1, xorshift */
static double uniform(uint64_t *seed)
{
    *seed ^= *seed << 13;
    *seed ^= *seed >> 7;
    *seed ^= *seed << 17;
    return (double)(*seed >> 11) / 4503599627370496. - 1.;
}

/* the same matrix in both forms; every third row bilateral when asked */
struct both {
    double full[MOST * MOST], values[MOST * (2 * WIDEST + 1)], r[MOST];
    int32_t colptr[MOST + 1], rowind[MOST * (2 * WIDEST + 1)];
    struct mech_set sets[MOST];
    struct mech_mat dense, sparse;
    struct mech_problem problem;
};

struct recipe {
    int32_t m, width;
    double shift, mean; /* of the diagonal; of r */
    bool bilateral;
};

/* L Lᵀ of a band of random numbers, shifted */
static void make(struct both *b, const struct recipe *recipe, uint64_t seed)
{
    const int32_t m = recipe->m, width = recipe->width;
    static double L[MOST][MOST];
    int32_t entries = 0;

    memset(b, 0, sizeof *b);
    memset(L, 0, sizeof L);
    for (int32_t i = 0; i < m; i++) {
        for (int32_t j = i < width ? 0 : i - width; j <= i; j++) {
            L[i][j] = uniform(&seed);
        }
        b->r[i] = uniform(&seed) + recipe->mean;
        b->sets[i] = (struct mech_set){
            .kind = recipe->bilateral && i % 3 == 0 ? MECH_SET_BILATERAL : MECH_SET_UNILATERAL,
            .rows = 1};
    }
    for (int32_t j = 0; j < m; j++) {
        b->colptr[j] = entries;
        for (int32_t i = 0; i < m; i++) {
            double sum = i == j ? recipe->shift : 0.;

            for (int32_t k = 0; k < m; k++) {
                sum += L[i][k] * L[j][k];
            }
            b->full[j * m + i] = sum;
            if (i - j <= width && j - i <= width) {
                b->rowind[entries] = i;
                b->values[entries++] = sum;
            }
        }
    }
    b->colptr[m] = entries;
    b->dense = (struct mech_mat){
        .kind = MECH_MAT_DENSE, .rows = m, .cols = m, .symmetric = true, .values = b->full};
    b->sparse = (struct mech_mat){.kind = MECH_MAT_CSC,
                                  .rows = m,
                                  .cols = m,
                                  .symmetric = true,
                                  .colptr = b->colptr,
                                  .rowind = b->rowind,
                                  .values = b->values};
    b->problem = (struct mech_problem){
        .m = m, .r = b->r, .sets = recipe->bilateral ? b->sets : NULL, .count = m};
}

static bool run(struct both *b, const double *start, double *z, int32_t *rounds)
{
    static double memory[MOST * (WIDEST + 4)];
    static int32_t set[MOST], place[MOST];
    const struct mech_banded_set s = {.factors = memory + 3 * MOST,
                                      .z = memory,
                                      .w = memory + MOST,
                                      .rhs = memory + 2 * MOST,
                                      .set = set,
                                      .place = place};

    b->problem.N = &b->sparse;
    memcpy(z, start, (size_t)b->problem.m * sizeof *z);
    alloc_count_start();
    const int32_t width = mech_banded_set_width(&b->problem);
    const bool found = mech_banded_set_solve(&s, &b->problem, width, 1000, z, rounds);
    CU_ASSERT_EQUAL(alloc_count_stop(), 0);
    return found;
}

static double residual(const struct both *b, const double *z)
{
    double w[MOST];

    mech_problem_speed(&b->problem, z, w);
    return mech_problem_residual(&b->problem, z, w);
}

static void a_band_has_the_solution_of_the_whole_matrix(void)
{
    static struct both b;
    const double zeros[MOST] = {0};
    double z[MOST], exact[MOST];

    for (int32_t width = 0; width <= WIDEST; width++) {
        for (int k = 0; k < 8; k++) {
            const int32_t m = 5 + 16 * k;
            const struct mech_vi_limits limits = {.tolerance = 1e-11, .max_iterations = 1000};
            struct mech_vi_result result;
            void *lemke = NULL;
            int32_t rounds = 0;

            const struct recipe recipe = {m, width, 0.3, k % 3 - 1., k % 2 == 1};

            make(&b, &recipe, (uint64_t)(977 * width + k + 1));
            CU_ASSERT(run(&b, zeros, z, &rounds));
            CU_ASSERT(rounds >= 1 && rounds < 60);
            CU_ASSERT(residual(&b, z) < 1e-14);
            memcpy(exact, zeros, sizeof exact);
            b.problem.N = &b.dense;
            CU_ASSERT_EQUAL_FATAL(mech_vi_lemke.create(m, &lemke), 0);
            CU_ASSERT_EQUAL(mech_vi_lemke.solve(lemke, &b.problem, &limits, exact, &result), 0);
            mech_vi_lemke.destroy(lemke);
            for (int32_t i = 0; i < m; i++) {
                /* λ_min ≥ 0.3 and ‖r‖ ≤ 2 √m */
                CHECK_NEAR(z[i], exact[i], 1e-11);
            }
        }
    }
}

static void a_start_from_the_solution_takes_one_round(void)
{
    static struct both b;
    const double zeros[MOST] = {0};
    double z[MOST], again[MOST];
    int32_t first = 0, second = 0;

    make(&b, &(struct recipe){100, 1, 0.1, -0.3, false}, 31337);
    CU_ASSERT(run(&b, zeros, z, &first));
    CU_ASSERT(run(&b, z, again, &second));
    CU_ASSERT(first > 1);
    CU_ASSERT_EQUAL(second, 1);
    CU_ASSERT_EQUAL(memcmp(z, again, 100 * sizeof *z), 0);
}

static void a_matrix_that_is_not_definite_is_left_alone(void)
{
    static struct both b;
    double start[MOST] = {0}, z[MOST];
    int32_t rounds = 0;

    make(&b, &(struct recipe){20, 2, 0.1, -1., false}, 4242);
    start[7] = 0.5;
    b.values[b.colptr[7] + 2] = 0.; /* the diagonal of row 7 */
    CU_ASSERT_FALSE(run(&b, start, z, &rounds));
    CU_ASSERT_EQUAL(memcmp(z, start, 20 * sizeof *z), 0);
}

static void only_narrow_symmetric_bands_count(void)
{
    static struct both b;

    make(&b, &(struct recipe){30, 3, 0.1, 0., false}, 1);
    b.problem.N = &b.sparse;
    CU_ASSERT_EQUAL(mech_banded_set_width(&b.problem), 3);
    b.sparse.symmetric = false;
    CU_ASSERT_EQUAL(mech_banded_set_width(&b.problem), -1);
    b.sparse.symmetric = true;
    b.rowind[b.colptr[1] - 1] = 29; /* the last entry of the first column */
    CU_ASSERT_EQUAL(mech_banded_set_width(&b.problem), -1);
    b.problem.N = &b.dense;
    CU_ASSERT_EQUAL(mech_banded_set_width(&b.problem), -1);
}

/* What is sparse and no narrow band is pivoted whole, as the same matrix that comes dense. */
static void what_is_no_band_has_the_digits_of_the_whole_matrix(void)
{
    static struct both b;
    const struct mech_vi_limits limits = {.tolerance = 1e-11, .max_iterations = 1000};
    double z[2][MOST] = {{0.}};
    void *lemke = NULL;

    make(&b, &(struct recipe){30, 3, 0.3, -0.5, false}, 77);
    b.sparse.symmetric = false;
    for (int k = 0; k < 2; k++) {
        struct mech_vi_result result;

        b.problem.N = k ? &b.dense : &b.sparse;
        CU_ASSERT_EQUAL_FATAL(mech_vi_lemke.create(30, &lemke), 0);
        CU_ASSERT_EQUAL(mech_vi_lemke.solve(lemke, &b.problem, &limits, z[k], &result), 0);
        CU_ASSERT(residual(&b, z[k]) < 1e-13);
        mech_vi_lemke.destroy(lemke);
    }
    CU_ASSERT_EQUAL(memcmp(z[0], z[1], sizeof z[0]), 0);
}

UNIT_TESTS(UNIT_TEST(a_band_has_the_solution_of_the_whole_matrix),
           UNIT_TEST(a_start_from_the_solution_takes_one_round),
           UNIT_TEST(a_matrix_that_is_not_definite_is_left_alone),
           UNIT_TEST(only_narrow_symmetric_bands_count),
           UNIT_TEST(what_is_no_band_has_the_digits_of_the_whole_matrix))
