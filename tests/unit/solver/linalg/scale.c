/* Scaling: any units are undone, in every form, without rounding. */
#include "solver/linalg/scale.h"

#include "tests/unit/unit.h"

#include <math.h>

enum { N = 40 };

/* A tridiagonal matrix in rows and columns of wild units; row 7 and column 9 are zeros. */
static struct mech_mat wild(struct mech_arena *arena, bool symmetric, enum mech_mat_kind kind)
{
    struct mech_triplet t[3 * N];
    size_t count = 0;
    for (int32_t i = 0; i < N; i++) {
        for (int32_t j = i - 1; j <= i + 1; j++) {
            if (j >= 0 && j < N) {
                const int units = i * 37 % 101 + (symmetric ? j * 37 % 101 : j * 53 % 89) - 100;
                const double x = ldexp(1. + (i + j) % 5 * 0.2, units);
                const bool zero = !symmetric && (i == 7 || j == 9);
                t[count++] = (struct mech_triplet){i, j, zero ? 0. : x};
            }
        }
    }
    struct mech_mat leanest, out;
    CU_ASSERT_EQUAL_FATAL(mech_mat_from_triplets(arena, N, N, t, count, &leanest), 0);
    CU_ASSERT_EQUAL_FATAL(mech_mat_convert(arena, &leanest, kind, &out), 0);
    CU_ASSERT_EQUAL(out.symmetric, symmetric);
    return out;
}

static void rows_and_columns_come_to_size_one(void)
{
    static const enum mech_mat_kind kinds[] = {MECH_MAT_BAND, MECH_MAT_DENSE, MECH_MAT_CSC};
    double before_row[N], before_col[N];
    for (int k = 0; k < 6; k++) {
        const bool symmetric = k >= 3;
        struct mech_arena arena;
        mech_arena_init(&arena, 0);
        const struct mech_mat a = wild(&arena, symmetric, kinds[k % 3]);
        double row[N], col[N], work[2 * N];
        mech_scale_find(&a, row, col, work);
        for (int32_t p = 0; p < N; p++) {
            double of_row = 0., of_col = 0.;
            for (int32_t q = 0; q < N; q++) {
                of_row = fmax(of_row, fabs(row[p] * mech_mat_get(&a, p, q) * col[q]));
                of_col = fmax(of_col, fabs(row[q] * mech_mat_get(&a, q, p) * col[p]));
            }
            CU_ASSERT(!symmetric && p == 7 ? of_row == 0. : of_row >= 0.25 && of_row < 4.);
            CU_ASSERT(!symmetric && p == 9 ? of_col == 0. : of_col >= 0.25 && of_col < 4.);
            CHECK_NEAR(work[p], of_col, 0);
            // powers of two, the same on both sides of a symmetric matrix
            int e = 0;
            CHECK_NEAR(frexp(row[p], &e), 0.5, 0);
            CHECK_NEAR(frexp(col[p], &e), 0.5, 0);
            CU_ASSERT(!symmetric || row[p] == col[p]);
            // and the same in every form
            if (k % 3 == 0) {
                before_row[p] = row[p];
                before_col[p] = col[p];
            }
            CU_ASSERT(row[p] == before_row[p] && col[p] == before_col[p]);
        }
        mech_arena_fini(&arena);
    }
}

static void extreme_entries_keep_their_scales_normal(void)
{
    struct mech_arena arena;
    mech_arena_init(&arena, 0);
    struct mech_triplet t[] = {{0, 0, 5e-324}, {0, 1, 1e308}, {1, 0, 1e-308}, {1, 1, 1e300}};
    struct mech_mat a;
    CU_ASSERT_EQUAL(mech_mat_from_triplets(&arena, 2, 2, t, 4, &a), 0);
    double row[2], col[2], work[4];
    mech_scale_find(&a, row, col, work);
    for (int i = 0; i < 2; i++) {
        CU_ASSERT(isnormal(row[i]) && isnormal(1. / row[i]));
        CU_ASSERT(isnormal(col[i]) && isnormal(1. / col[i]));
    }
    mech_arena_fini(&arena);
}

UNIT_TESTS(UNIT_TEST(rows_and_columns_come_to_size_one),
           UNIT_TEST(extreme_entries_keep_their_scales_normal))
