/* Linear solvers on one pattern whose diagonal is 0 here and there: rows of joints. */
#include "solver/lsol/lsol.h"

#include "solver/linalg/mat_walk.h"
#include "tests/conformance/lsol_matrices.h"
#include "tests/unit/alloc_count.h"
#include "tests/unit/unit.h"

#include <string.h>

/* Rows of joints come and go: every third diagonal entry, all, or none is 0 though it is stored.
 * Whichever set of zeros a solver met first: the same bits, a small residual, and no allocation for
 * every third. */
static void zeros_on_the_diagonal_do_not_depend_on_those_before(void)
{
    enum { N = 100, SETS = 4 };
    static const int32_t steps[SETS] = {0, 3, 1, 2};
    static double b[N], x[N], r[N], first[SETS][N];
    struct mech_arena arena;
    struct mech_mat a[SETS];
    const struct shape grid = {GRID, true, true, N, 0, 0, MECH_MAT_CSC};

    mech_arena_init(&arena, 0);
    for (int i = 0; i < N; i++) {
        b[i] = uniform();
    }
    a[0] = make(&arena, &grid);
    for (int k = 1; k < SETS; k++) {
        CU_ASSERT_EQUAL_FATAL(mech_mat_copy(&arena, &a[0], &a[k]), 0);
        for (int32_t i = 0; i < N; i += steps[k]) {
            *mech_mat_place(&a[k], i, i) = 0.;
        }
    }
    for (size_t m = 0; mech_lsol_types[m] != NULL; m++) {
        const struct mech_lsol_type *const type = mech_lsol_types[m];

        for (int k = 0;
             k < SETS * SETS && type->cost(a) >= 0. && !type->definite && !type->iterative; k++) {
            const int before = k / SETS, at = k % SETS;
            struct mech_lsol *s = NULL;

            CU_ASSERT_EQUAL_FATAL(mech_lsol_create(type->name, &a[0], &s), 0);
            CU_ASSERT_EQUAL(mech_lsol_factor(s, &a[before]), 0);
            CU_ASSERT_EQUAL(mech_lsol_factor(s, &a[at]), 0);
            memcpy(x, b, sizeof x);
            CU_ASSERT_EQUAL(mech_lsol_solve(s, x, 1), 0);
            if (before == 0) {
                memcpy(first[at], x, sizeof x);
                memcpy(r, b, sizeof r);
                mech_mat_mul(&a[at], -1., x, 1., r);
                CHECK_NEAR(largest(N, r), 0., residual_bound(&a[at], largest(N, x)));
            }
            CU_ASSERT(memcmp(first[at], x, sizeof x) == 0);
            // a third of the rows waits until its neighbours have filled its diagonal
            alloc_count_start();
            CU_ASSERT_EQUAL(mech_lsol_factor(s, &a[at]), 0);
            const long allocations = alloc_count_stop();
            CU_ASSERT(allocations == 0 || at > 1);
            mech_lsol_destroy(s);
        }
    }
    mech_arena_fini(&arena);
}

UNIT_TESTS(UNIT_TEST(zeros_on_the_diagonal_do_not_depend_on_those_before))
