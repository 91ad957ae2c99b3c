/* Every linear solver of the registry keeps the contract of lsol.h on every matrix that suits it.
 * */
#include "solver/lsol/lsol.h"

#include "solver/base/err.h"
#include "solver/linalg/mat_walk.h"
#include "tests/conformance/lsol_matrices.h"
#include "tests/unit/alloc_count.h"
#include "tests/unit/unit.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct mech_lsol_type *type_of(const struct mech_lsol *s)
{
    return mech_lsol_find(mech_lsol_name(s));
}

/* Positive definite, as dense Cholesky finds. */
static bool is_definite(const struct mech_mat *a)
{
    struct mech_arena arena;
    struct mech_mat l;
    mech_arena_init(&arena, 0);
    CU_ASSERT_EQUAL_FATAL(mech_mat_convert(&arena, a, MECH_MAT_DENSE, &l), 0);
    const int32_t n = a->rows;
    bool definite = a->symmetric;
    for (int32_t j = 0; j < n && definite; j++) {
        double *const at = l.values + (size_t)j * (size_t)n;
        for (int32_t k = 0; k < j; k++) {
            const double *const before = l.values + (size_t)k * (size_t)n;
            for (int32_t i = j; i < n; i++) {
                at[i] -= before[i] * before[j];
            }
        }
        definite = at[j] > 0.;
        const double root = sqrt(fabs(at[j]));
        for (int32_t i = j; i < n; i++) {
            at[i] /= root;
        }
    }
    mech_arena_fini(&arena);
    return definite;
}

/* Factor, and check that it succeeded: what did not must not be solved. A member for positive
 * definite matrices refuses others: then, or when it first iterates. */
static bool factors(struct mech_lsol *s, const struct mech_mat *a)
{
    const int code = mech_lsol_factor(s, a);
    if (type_of(s)->definite && !is_definite(a)) {
        CU_ASSERT(code == MECH_UNSUPPORTED || (type_of(s)->iterative && code == 0));
        CU_ASSERT(code == 0 || mech_lsol_where(s) >= 0);
        return false;
    }
    CU_ASSERT_EQUAL(code, 0);
    return code == 0;
}

/* Solve, and check that it succeeded. Iterations may come to nothing, but not where the diagonal
 * dominates, and not without saying so. */
static bool solves(struct mech_lsol *s, const struct shape *shape, double *x, int32_t count)
{
    const int code = mech_lsol_solve(s, x, count);
    if (type_of(s)->iterative && !shape->dominant) {
        CU_ASSERT(code == 0 || code == MECH_NOT_CONVERGED);
    } else {
        CU_ASSERT_EQUAL(code, 0);
    }
    return code == 0;
}

static bool suits(const struct mech_lsol_type *type, const struct mech_mat *a)
{
    return type->cost(a) >= 0.;
}

/* Run a check for every member and every shape that suits it. */
static void for_each(void (*check)(const struct mech_lsol_type *type, const struct shape *s,
                                   struct mech_mat *a, struct mech_lsol *solver))
{
    for (size_t m = 0; mech_lsol_types[m] != NULL; m++) {
        size_t tried = 0;
        for (size_t k = 0; k < SHAPES; k++) {
            struct mech_arena arena;
            mech_arena_init(&arena, 0);
            struct mech_mat a = make(&arena, &shapes[k]);
            if (suits(mech_lsol_types[m], &a)) {
                const int before = (int)CU_get_number_of_failures();
                struct mech_lsol *solver = NULL;
                CU_ASSERT_EQUAL_FATAL(mech_lsol_create(mech_lsol_types[m]->name, &a, &solver), 0);
                check(mech_lsol_types[m], &shapes[k], &a, solver);
                mech_lsol_destroy(solver);
                tried++;
                if ((int)CU_get_number_of_failures() > before) {
                    fprintf(stderr, "    %s on shape %zu (n = %d)\n", mech_lsol_types[m]->name, k,
                            (int)shapes[k].n);
                }
            }
            mech_arena_fini(&arena);
        }
        // a member that suits nothing here is not tested at all
        CU_ASSERT(tried >= 5);
    }
}

static void check_residual(const struct mech_lsol_type *type, const struct shape *s,
                           struct mech_mat *a, struct mech_lsol *solver)
{
    static double b[3 * MOST], x[3 * MOST], r[MOST];
    const size_t n = (size_t)s->n;
    for (size_t i = 0; i < 3 * n; i++) {
        b[i] = uniform();
    }
    memcpy(x, b, sizeof b);
    if (!factors(solver, a)) {
        return;
    }
    CU_ASSERT_EQUAL(mech_lsol_where(solver), -1);
    // three right-hand sides at once, or one
    const bool solved = solves(solver, s, x, 3);
    for (size_t k = 0; k < 3 && solved; k++) {
        memcpy(r, b + k * n, n * sizeof *r);
        mech_mat_mul(a, -1., x + k * n, 1., r);
        CHECK_NEAR(largest(n, r), 0., residual_bound(a, largest(n, x + k * n)));
    }
    memcpy(x, b, sizeof b);
    if (!solves(solver, s, x, 1)) {
        CU_ASSERT(memcmp(x, b, 3 * n * sizeof *x) == 0);
        return;
    }
    CU_ASSERT(memcmp(x + n, b + n, 2 * n * sizeof *x) == 0);
    memcpy(r, b, n * sizeof *r);
    mech_mat_mul(a, -1., x, 1., r);
    CHECK_NEAR(largest(n, r), 0., residual_bound(a, largest(n, x)));
}

static void every_member_solves_what_suits_it(void)
{
    for_each(check_residual);
}

static void check_against_lu(const struct mech_lsol_type *type, const struct shape *s,
                             struct mech_mat *a, struct mech_lsol *solver)
{
    if (!s->dominant) {
        return;
    }
    static double x[MOST], y[MOST];
    const size_t n = (size_t)s->n;
    struct mech_lsol *lu = NULL;
    CU_ASSERT_EQUAL_FATAL(mech_lsol_create("dense_lu", a, &lu), 0);
    if (!factors(lu, a) || !factors(solver, a)) {
        mech_lsol_destroy(lu);
        return;
    }
    for (size_t i = 0; i < n; i++) {
        x[i] = y[i] = uniform();
    }
    CU_ASSERT_EQUAL(mech_lsol_solve(lu, x, 1), 0);
    CU_ASSERT_EQUAL(mech_lsol_solve(solver, y, 1), 0);
    // a dominant matrix has ‖A⁻¹‖ ≤ 1 / min(|a_ii| − Σ |a_ij|), here at least 0.5
    const double bound = 2. * 2. * residual_bound(a, largest(n, x));
    for (size_t i = 0; i < n; i++) {
        y[i] -= x[i];
    }
    CHECK_NEAR(largest(n, y), 0., bound);
    mech_lsol_destroy(lu);
}

static void every_member_agrees_with_dense_lu(void)
{
    for_each(check_against_lu);
}

/* Set column j, and row j of a symmetric matrix, to 0. */
static void clear(struct mech_mat *a, int32_t j)
{
    struct mech_mat *const m = a;
    for (int32_t i = 0; i < a->rows; i++) {
        const int32_t places[2][2] = {{i, j}, {j, i}};
        for (int k = 0; k < (a->symmetric ? 2 : 1); k++) {
            const int32_t row = places[k][0], col = places[k][1];
            switch (m->kind) {
            case MECH_MAT_DIAG:
                m->values[j] = 0.;
                break;
            case MECH_MAT_BAND:
                if (col - row <= m->upper && row - col <= m->lower) {
                    m->values[(col - row + m->lower) * m->rows + row] = 0.;
                }
                break;
            case MECH_MAT_DENSE:
                m->values[col * m->rows + row] = 0.;
                break;
            case MECH_MAT_CSC:
                for (int32_t p = m->colptr[col]; p < m->colptr[col + 1]; p++) {
                    m->values[p] = m->rowind[p] == row ? 0. : m->values[p];
                }
                break;
            case MECH_MAT_ZERO:
                break;
            }
        }
    }
}

static void check_zero_column(const struct mech_lsol_type *type, const struct shape *s,
                              struct mech_mat *a, struct mech_lsol *solver)
{
    const int32_t columns[] = {0, s->n / 2, s->n - 1};
    struct mech_arena arena;
    mech_arena_init(&arena, 0);
    for (int k = 0; k < 3; k++) {
        struct mech_mat b;
        CU_ASSERT_EQUAL_FATAL(mech_mat_copy(&arena, a, &b), 0);
        clear(&b, columns[k]);
        const int code = mech_lsol_factor(solver, &b);
        if (type->definite && code == MECH_UNSUPPORTED) {
            // the rest of it is indefinite, too
            CU_ASSERT(!s->dominant);
            continue;
        }
        CU_ASSERT_EQUAL(code, MECH_SINGULAR);
        // a zero column of a triangular band may leave the columns before it without pivots
        if (s->pattern == FULL || s->dominant) {
            CU_ASSERT_EQUAL(mech_lsol_where(solver), columns[k]);
        } else {
            CU_ASSERT(mech_lsol_where(solver) >= 0 && mech_lsol_where(solver) < s->n);
        }
    }
    // and the next good matrix is good
    (void)factors(solver, a);
    mech_arena_fini(&arena);
}

static void a_zero_column_is_singular_and_named(void)
{
    for_each(check_zero_column);
}

static void check_not_finite(const struct mech_lsol_type *type, const struct shape *s,
                             struct mech_mat *a, struct mech_lsol *solver)
{
    static const double bad[] = {NAN, HUGE_VAL, -HUGE_VAL};
    // the middle of the main diagonal, or of all values
    const size_t middle = (size_t)s->n / 2;
    const size_t n = (size_t)s->n;
    const size_t at = a->kind == MECH_MAT_BAND    ? (size_t)a->lower * n + middle
                      : a->kind == MECH_MAT_DENSE ? middle * n + middle
                      : a->kind == MECH_MAT_CSC   ? (size_t)a->colptr[middle]
                                                  : middle;
    const double good = a->values[at];
    for (int k = 0; k < 3; k++) {
        a->values[at] = bad[k];
        CU_ASSERT_EQUAL(mech_lsol_factor(solver, a), MECH_SINGULAR);
        CU_ASSERT_EQUAL(mech_lsol_where(solver), (int32_t)middle);
    }
    a->values[at] = good;
    (void)factors(solver, a);
}

static void values_that_are_not_finite_are_singular_and_named(void)
{
    for_each(check_not_finite);
}

static void check_bits(const struct mech_lsol_type *type, const struct shape *s, struct mech_mat *a,
                       struct mech_lsol *solver)
{
    static double first[MOST], second[MOST], b[MOST];
    const size_t n = (size_t)s->n;
    struct mech_arena arena;
    mech_arena_init(&arena, 0);
    const struct mech_mat other = make(&arena, s);
    struct mech_mat indefinite, singular;
    CU_ASSERT_EQUAL_FATAL(mech_mat_copy(&arena, a, &indefinite), 0);
    CU_ASSERT_EQUAL_FATAL(mech_mat_copy(&arena, a, &singular), 0);
    clear(&singular, 0);
    const size_t stored = mech_mat_stored(a);
    for (size_t k = 0; k < stored; k++) {
        indefinite.values[k] = -indefinite.values[k];
    }
    for (size_t i = 0; i < n; i++) {
        b[i] = uniform();
    }
    memcpy(first, b, sizeof b);
    if (!factors(solver, a)) {
        mech_arena_fini(&arena);
        return;
    }
    if (!solves(solver, s, first, 1)) {
        mech_arena_fini(&arena);
        return;
    }
    // whatever came between, the same matrix gives the same bits
    const struct mech_mat *const between[] = {a, &other, &indefinite, &singular};
    for (int k = 0; k < 4; k++) {
        (void)mech_lsol_factor(solver, between[k]);
        if (!factors(solver, a)) {
            break;
        }
        memcpy(second, b, sizeof b);
        CU_ASSERT_EQUAL(mech_lsol_solve(solver, second, 1), 0);
        CU_ASSERT(memcmp(first, second, n * sizeof *first) == 0);
    }
    // and so does a solver that met another matrix first, with a diagonal that asks for no choice
    for (int32_t i = 0; i < s->n; i++) {
        double *const x = mech_mat_place(&indefinite, i, i);
        if (x != NULL) {
            *x += 1e4;
        }
    }
    struct mech_lsol *fresh = NULL;
    CU_ASSERT_EQUAL_FATAL(mech_lsol_create(type->name, a, &fresh), 0);
    (void)mech_lsol_factor(fresh, &indefinite);
    if (factors(fresh, a)) {
        memcpy(second, b, sizeof b);
        CU_ASSERT_EQUAL(mech_lsol_solve(fresh, second, 1), 0);
        CU_ASSERT(memcmp(first, second, n * sizeof *first) == 0);
    }
    mech_lsol_destroy(fresh);
    mech_arena_fini(&arena);
}

static void the_same_matrix_gives_the_same_bits_whatever_came_before(void)
{
    for_each(check_bits);
}

static void check_allocations(const struct mech_lsol_type *type, const struct shape *s,
                              struct mech_mat *a, struct mech_lsol *solver)
{
    static double x[2 * MOST];
    if (!factors(solver, a)) {
        return;
    }
    for (size_t i = 0; i < 2 * MOST; i++) {
        x[i] = uniform();
    }
    (void)mech_lsol_solve(solver, x, 2);
    alloc_count_start();
    (void)mech_lsol_solve(solver, x, 1);
    (void)mech_lsol_solve(solver, x, 2);
    CU_ASSERT_EQUAL(alloc_count_stop(), 0);
    alloc_count_start();
    CU_ASSERT_EQUAL(mech_lsol_factor(solver, a), 0);
    const long factor = alloc_count_stop();
    // klu may allocate where pivots from the diagonal are not enough (klu.c)
    if (strcmp(type->name, "klu") != 0 || s->dominant || s->pattern == MULTIPLIERS) {
        CU_ASSERT_EQUAL(factor, 0);
    }
}

static void factor_and_solve_do_not_allocate(void)
{
    for_each(check_allocations);
}

/* Elimination finds the pivot; iterations end without a solution. */
static void check_free_chain(const struct mech_lsol_type *type, struct mech_lsol *s,
                             const struct mech_mat *a)
{
    static double x[600];
    const int code = mech_lsol_factor(s, a);
    if (!type->iterative || code != 0) {
        // a block factorisation that breaks down does not report by how much
        CU_ASSERT(code == MECH_SINGULAR || (type->definite && code == MECH_UNSUPPORTED));
        CU_ASSERT(mech_lsol_where(s) >= 0 && mech_lsol_where(s) < a->rows);
        return;
    }
    for (int32_t i = 0; i < a->rows; i++) {
        x[i] = i == 0 ? 1. : 0.;
    }
    if (mech_mat_stored(a) < 10000) {
        CU_ASSERT(mech_lsol_solve(s, x, 1) > 0);
        CU_ASSERT_EQUAL(x[0], 1.);
    }
}

static void a_free_chain_is_singular_and_a_tiny_mass_makes_it_regular(void)
{
    static double same[600], mixed[600];
    for (int i = 0; i < 600; i++) {
        same[i] = 1.;
        mixed[i] = ldexp(1., i * 37 % 41 - 20);
    }
    static const enum mech_mat_kind kinds[] = {MECH_MAT_BAND, MECH_MAT_DENSE, MECH_MAT_CSC};
    static const int32_t orders[] = {2, 3, 4, 5, 6, 7, 8, 30, 599};
    for (size_t m = 0; mech_lsol_types[m] != NULL; m++) {
        for (size_t k = 0; k < 27; k++) {
            if (!unit_case((int)k)) {
                continue;
            }
            const int32_t n = orders[k / 3];
            for (int u = 0; u < 2; u++) {
                struct mech_arena arena;
                mech_arena_init(&arena, 0);
                const double *const units = u == 0 ? same : mixed;
                const struct mech_mat a = free_chain(&arena, n, 0., units, kinds[k % 3]);
                const struct mech_mat b = free_chain(&arena, n, 1e-9, units, kinds[k % 3]);
                struct mech_lsol *s = NULL;
                if (suits(mech_lsol_types[m], &a)) {
                    const char *const name = mech_lsol_types[m]->name;
                    CU_ASSERT_EQUAL_FATAL(mech_lsol_create(name, &a, &s), 0);
                    check_free_chain(mech_lsol_types[m], s, &a);
                    CU_ASSERT_EQUAL(mech_lsol_factor(s, &b), 0);
                    if (mech_lsol_where(s) >= 0) {
                        fprintf(stderr, "    %s, n = %d, units %d\n", name, (int)n, u);
                    }
                    mech_lsol_destroy(s);
                }
                mech_arena_fini(&arena);
            }
        }
    }
}

/* Diagonals that a free choice of pivots would pass over, though they serve. */
static void pivots_do_not_depend_on_what_was_factored_before(void)
{
    static double first[100], second[100];
    struct mech_arena arena;
    mech_arena_init(&arena, 0);
    const struct shape grid = {GRID, false, true, 100, 0, 0, MECH_MAT_CSC};
    const struct mech_mat strong = make(&arena, &grid);
    struct mech_mat mild;
    CU_ASSERT_EQUAL_FATAL(mech_mat_copy(&arena, &strong, &mild), 0);
    for (int32_t i = 0; i < mild.rows; i++) {
        *mech_mat_place(&mild, i, i) = 0.4;
    }
    for (size_t m = 0; mech_lsol_types[m] != NULL; m++) {
        struct mech_lsol *s = NULL, *fresh = NULL;
        if (suits(mech_lsol_types[m], &mild)) {
            CU_ASSERT_EQUAL_FATAL(mech_lsol_create(mech_lsol_types[m]->name, &mild, &s), 0);
            CU_ASSERT_EQUAL_FATAL(mech_lsol_create(mech_lsol_types[m]->name, &mild, &fresh), 0);
            for (int i = 0; i < 100; i++) {
                first[i] = second[i] = uniform();
            }
            if (factors(s, &strong) && factors(s, &mild) && factors(fresh, &mild)) {
                CU_ASSERT_EQUAL(mech_lsol_solve(s, first, 1), mech_lsol_solve(fresh, second, 1));
                CU_ASSERT(memcmp(first, second, sizeof first) == 0);
            }
            mech_lsol_destroy(s);
            mech_lsol_destroy(fresh);
        }
    }
    mech_arena_fini(&arena);
}

static void a_system_without_unknowns_is_solved(void)
{
    const struct mech_mat none = {.kind = MECH_MAT_ZERO, .symmetric = true};
    for (size_t m = 0; mech_lsol_types[m] != NULL; m++) {
        struct mech_lsol *s = NULL;
        if (suits(mech_lsol_types[m], &none)) {
            CU_ASSERT_EQUAL(mech_lsol_create(mech_lsol_types[m]->name, &none, &s), 0);
            CU_ASSERT_EQUAL(mech_lsol_factor(s, &none), 0);
            double x = 5.;
            CU_ASSERT_EQUAL(mech_lsol_solve(s, &x, 1), 0);
            CU_ASSERT(x == 5.);
            mech_lsol_destroy(s);
        }
    }
}

/* Condition about 4e4, beyond what a wrong recurrence or preconditioner gets through. */
static void iterations_get_through_a_stiff_chain(void)
{
    enum { N = 300 };
    static double units[N], b[N], x[N], r[N];
    struct mech_arena arena;
    mech_arena_init(&arena, 0);
    for (int i = 0; i < N; i++) {
        units[i] = 1.;
        b[i] = uniform();
    }
    const struct mech_mat a = free_chain(&arena, N, 1e-5, units, MECH_MAT_CSC);
    for (size_t m = 0; mech_lsol_types[m] != NULL; m++) {
        struct mech_lsol *s = NULL;
        if (!suits(mech_lsol_types[m], &a)) {
            continue;
        }
        CU_ASSERT_EQUAL_FATAL(mech_lsol_create(mech_lsol_types[m]->name, &a, &s), 0);
        memcpy(x, b, sizeof x);
        if (factors(s, &a)) {
            CU_ASSERT_EQUAL(mech_lsol_solve(s, x, 1), 0);
            memcpy(r, b, sizeof r);
            mech_mat_mul(&a, -1., x, 1., r);
            CHECK_NEAR(largest(N, r), 0., residual_bound(&a, largest(N, x)));
        }
        mech_lsol_destroy(s);
    }
    mech_arena_fini(&arena);
}

static void members_for_definite_matrices_refuse_others(void)
{
    // eigenvalues 3 and −1, or a negative diagonal
    double saddle[] = {1., 2., 2., 1.}, negative[] = {1., 2., 2., -1.};
    struct mech_mat a = {
        .kind = MECH_MAT_DENSE, .rows = 2, .cols = 2, .symmetric = true, .values = saddle};
    for (size_t m = 0; mech_lsol_types[m] != NULL; m++) {
        struct mech_lsol *s = NULL;
        if (mech_lsol_types[m]->definite) {
            a.values = saddle;
            CU_ASSERT_EQUAL_FATAL(mech_lsol_create(mech_lsol_types[m]->name, &a, &s), 0);
            int code = mech_lsol_factor(s, &a);
            double x[] = {1., -1.};
            if (code == 0) {
                code = mech_lsol_solve(s, x, 1);
            }
            CU_ASSERT_EQUAL(code, MECH_UNSUPPORTED);
            CU_ASSERT(x[0] == 1. && x[1] == -1.);
            a.values = negative;
            CU_ASSERT_EQUAL(mech_lsol_factor(s, &a), MECH_UNSUPPORTED);
            CU_ASSERT_EQUAL(mech_lsol_where(s), 1);
            mech_lsol_destroy(s);
        }
    }
}

UNIT_TESTS(UNIT_TEST(every_member_solves_what_suits_it),
           UNIT_TEST(every_member_agrees_with_dense_lu),
           UNIT_TEST(a_zero_column_is_singular_and_named),
           UNIT_TEST(values_that_are_not_finite_are_singular_and_named),
           UNIT_TEST(the_same_matrix_gives_the_same_bits_whatever_came_before),
           UNIT_TEST(pivots_do_not_depend_on_what_was_factored_before),
           UNIT_TEST(factor_and_solve_do_not_allocate),
           UNIT_TEST(a_free_chain_is_singular_and_a_tiny_mass_makes_it_regular),
           UNIT_TEST(iterations_get_through_a_stiff_chain),
           UNIT_TEST(members_for_definite_matrices_refuse_others),
           UNIT_TEST(a_system_without_unknowns_is_solved))
