/* Every complementarity solver keeps the contract of solver/vi/vi.h: it solves or says so, what it
 * calls solved meets the tolerance, nothing is ever NaN, the same problem gives the same bits, and
 * nothing is allocated by solve.
 */
#include "solver/vi/vi.h"
#include "solver/base/err.h"
#include "tests/conformance/accepted.h"
#include "tests/unit/alloc_count.h"
#include "tests/unit/unit.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "tests/conformance/lcp_problems.inc"

enum { MOST = 60 };
static const double tolerance = 1e-10; /* the published problems are known to 1e-8 */

/* w = A z + q, 0 ≤ w ⊥ z ≥ 0, or w = 0 where bilateral; A [n × n] by columns */
struct lcp {
    int32_t n;
    const double *A, *q;
    const bool *bilateral; /* [n], or NULL: none */
};

struct posed {
    struct mech_mat N;
    struct mech_set sets[MOST];
    struct mech_problem problem;
};

/* p as the solvers see it; *out must stay where it is */
static const struct mech_problem *pose(const struct lcp *p, struct posed *out)
{
    out->N = (struct mech_mat){.kind = MECH_MAT_DENSE, .rows = p->n, .cols = p->n};
    memcpy(&out->N.values, &p->A, sizeof p->A); /* it is only read */
    out->N.symmetric = true;
    for (int32_t i = 0; i < p->n; i++) {
        out->sets[i] = (struct mech_set){
            .kind = p->bilateral && p->bilateral[i] ? MECH_SET_BILATERAL : MECH_SET_UNILATERAL,
            .rows = 1};
        for (int32_t j = 0; j < i; j++) {
            out->N.symmetric &= p->A[i * p->n + j] == p->A[j * p->n + i];
        }
    }
    out->problem = (struct mech_problem){
        .m = p->n, .N = &out->N, .r = p->q, .sets = p->bilateral ? out->sets : NULL, .count = p->n};
    return &out->problem;
}

/* whether a member takes problems of this kind at all */
static bool takes(const struct mech_vi_type *t, const struct lcp *p)
{
    struct posed posed;
    const struct mech_problem *const problem = pose(p, &posed);

    return !(mech_problem_kinds(problem) & ~t->kinds);
}

static double residual(const struct lcp *p, const double *z)
{
    struct posed posed;
    double w[MOST];

    mech_problem_speed(pose(p, &posed), z, w);
    return mech_problem_residual(&posed.problem, z, w);
}

struct solved {
    int code;
    struct mech_vi_result result;
    double z[MOST];
};

static struct solved run(const struct mech_vi_type *t, const struct lcp *p, const double *start,
                         int32_t max_iterations)
{
    struct solved s = {.code = 0};
    struct posed posed;
    const struct mech_vi_limits limits = {.tolerance = tolerance, .max_iterations = max_iterations};
    void *self = NULL;
    CU_ASSERT_EQUAL_FATAL(t->create(MOST, &self), 0);
    if (start != NULL) {
        memcpy(s.z, start, (size_t)p->n * sizeof *start);
    }
    s.code = t->solve(self, pose(p, &posed), &limits, s.z, &s.result);
    t->destroy(self);

    // whatever it says, it says the truth
    for (int32_t i = 0; i < p->n; i++) {
        CU_ASSERT(isfinite(s.z[i]));
    }
    if (s.code == 0) {
        struct posed own;

        CU_ASSERT(residual(p, s.z) <= tolerance);
        CU_ASSERT(accepted(pose(p, &own), s.z, tolerance) <= tolerance * (1. + 1e-6));
        CHECK_NEAR(s.result.residual, residual(p, s.z), tolerance);
        for (int32_t i = 0; i < p->n; i++) {
            CU_ASSERT(s.z[i] >= 0. || (p->bilateral != NULL && p->bilateral[i]));
        }
    } else {
        CU_ASSERT(s.code == MECH_VI_NOT_CONVERGED || s.code == MECH_SINGULAR ||
                  (s.code == MECH_UNSUPPORTED && !takes(t, p)));
    }
    return s;
}

static struct lcp published(const double *data, int32_t n)
{
    return (struct lcp){.n = n, .A = data, .q = data + (ptrdiff_t)n * n};
}

/* uniform in −1 … 1, xorshift */
static double uniform(uint64_t *seed)
{
    *seed ^= *seed << 13;
    *seed ^= *seed >> 7;
    *seed ^= *seed << 17;
    return (double)(*seed >> 11) / 4503599627370496. - 1.;
}

/* A = B Bᵀ + shift I with B [n × rank], q random; A and q into the arrays */
static struct lcp random_problem(int32_t n, int32_t rank, double shift, uint64_t seed, double *a,
                                 double *q)
{
    double b[MOST * MOST];
    for (int32_t i = 0; i < n * rank; i++) {
        b[i] = uniform(&seed);
    }
    for (int32_t i = 0; i < n; i++) {
        q[i] = uniform(&seed);
        for (int32_t j = 0; j < n; j++) {
            double sum = i == j ? shift : 0.;
            for (int32_t k = 0; k < rank; k++) {
                sum += b[i * rank + k] * b[j * rank + k];
            }
            a[j * n + i] = sum;
        }
    }
    return (struct lcp){.n = n, .A = a, .q = q};
}

static double norm(const double *z, int32_t n)
{
    double sum = 0.;
    for (int32_t i = 0; i < n; i++) {
        sum += z[i] * z[i];
    }
    return sqrt(sum);
}

static const struct {
    const char *name;
    const double *data;
    int32_t n;
    double norm;   /* ‖z‖₂ of the solution, 0: not published */
    bool pivoting; /* only a pivoting method can solve it */
} problems[] = {
    {"cps_2", lcp_cps_2, 3, 0., true},
    {"deudeu", lcp_deudeu, 2, 2.687419249432848, false}, // (4/3, 7/3)
    {"exp_murty2", lcp_exp_murty2, 6, 64., false},       // (0, 0, 0, 0, 0, 64)
    {"mmc", lcp_mmc, 26, 3.9016049e-04, false},
    {"ortiz", lcp_ortiz, 4, 0.7453559924999299, false}, // (2/3, 0, 1/3, 0)
    {"tobenna", lcp_tobenna, 40, 1167.2177435827, true},
};
enum { PROBLEMS = sizeof problems / sizeof *problems };

static void published_problems_are_solved_or_refused(void)
{
    for (size_t k = 0; k < PROBLEMS; k++) {
        const struct lcp p = published(problems[k].data, problems[k].n);
        for (const struct mech_vi_type *const *t = mech_vi_types; *t != NULL; t++) {
            if (!takes(*t, &p)) {
                continue;
            }
            const struct solved s = run(*t, &p, NULL, 5000);
            if (s.code == 0 && problems[k].norm > 0.) {
                // published to 8 digits or more; a residual of 1e-10 leaves as much
                CHECK_NEAR(norm(s.z, p.n), problems[k].norm, 2e-8 * problems[k].norm);
            }
            if (!problems[k].pivoting && k != 2) {
                CU_ASSERT_EQUAL(s.code, 0);
            }
        }
    }
}

static void lemke_solves_every_published_problem(void)
{
    for (size_t k = 0; k < PROBLEMS; k++) {
        const struct lcp p = published(problems[k].data, problems[k].n);
        CU_ASSERT_EQUAL(run(mech_vi_find("lemke"), &p, NULL, 500).code, 0);
    }
    const struct lcp murty = published(lcp_exp_murty2, 6);
    CU_ASSERT_EQUAL(run(mech_vi_find("lemke"), &murty, NULL, 500).result.iterations, 63);
    const struct lcp mmc = published(lcp_mmc, 26);
    const struct solved contact = run(mech_vi_find("lemke"), &mmc, NULL, 500);
    CU_ASSERT_EQUAL(contact.result.iterations, 22);
    // the final set is solved anew: no error of 22 pivots is left
    CU_ASSERT(contact.result.residual < 1e-14);
    // degenerate; in rational arithmetic it takes as many
    const struct lcp tobenna = published(lcp_tobenna, 40);
    CU_ASSERT_EQUAL(run(mech_vi_find("lemke"), &tobenna, NULL, 500).result.iterations, 126);
}

static void psor_refuses_a_zero_diagonal_and_leaves_z(void)
{
    const struct lcp p = published(lcp_tobenna, 40);
    double start[40];
    for (int32_t i = 0; i < 40; i++) {
        start[i] = 0.5 + i;
    }
    const struct solved s = run(mech_vi_find("psor"), &p, start, 100);
    CU_ASSERT_EQUAL(s.code, MECH_SINGULAR);
    CU_ASSERT_EQUAL(memcmp(s.z, start, sizeof start), 0);
}

static void all_agree_on_positive_definite_problems(void)
{
    static double a[MOST * MOST], q[MOST];
    for (int32_t n = 1; n <= MOST; n = n < 8 ? n + 1 : n * 2 - 3) {
        for (uint64_t seed = 1; seed <= 5; seed++) {
            const struct lcp p = random_problem(n, n, 1., seed * 7919, a, q);
            const struct solved exact = run(mech_vi_find("lemke"), &p, NULL, 1000);
            CU_ASSERT_EQUAL(exact.code, 0);
            for (const struct mech_vi_type *const *t = mech_vi_types; *t != NULL; t++) {
                if (!takes(*t, &p)) {
                    continue;
                }
                const struct solved s = run(*t, &p, NULL, 20000);
                CU_ASSERT_EQUAL(s.code, 0);
                for (int32_t i = 0; i < n; i++) {
                    // ‖Δz‖ ≤ (1 + ‖A‖)/λ_min × residual × ‖q‖ with λ_min = 1 and ‖A‖ < n²
                    CHECK_NEAR(s.z[i], exact.z[i], (1. + n * n) * tolerance * norm(q, n));
                }
            }
        }
    }
}

static void dependent_rows_are_solved_or_said_to_fail(void)
{
    static double a[MOST * MOST], q[MOST];
    for (uint64_t seed = 1; seed <= 20; seed++) {
        // q = A s, s ≥ 0 with sign flips: feasible because q + A z ≥ 0 for large z of one sign
        const int32_t n = 12;
        struct lcp p = random_problem(n, 5, 0., seed * 104729, a, q);
        for (int32_t i = 0; i < n; i++) {
            q[i] = 0.;
            for (int32_t j = 0; j < n; j++) {
                q[i] -= a[j * n + i] * (j % 3 == 0 ? 1. : 0.);
            }
        }
        p.q = q;
        for (const struct mech_vi_type *const *t = mech_vi_types; *t != NULL; t++) {
            if (!takes(*t, &p)) {
                continue;
            }
            const struct solved s = run(*t, &p, NULL, 50000);
            // z = Σ of the subtracted columns is a solution with w = 0, and A is semidefinite
            CU_ASSERT_EQUAL(s.code, 0);
        }
    }
}

static void pivoting_leaves_no_error_of_its_pivots(void)
{
    // the final set is solved anew: without that the residual of these is 2e-15 to 7e-15
    static double a[MOST * MOST], q[MOST];
    double worst = 0.;
    for (uint64_t seed = 1; seed <= 30; seed++) {
        const int32_t n = 50;
        const struct lcp p = random_problem(n, 25, 1e-13, seed * 6700417, a, q);
        for (int32_t i = 0; i < n; i++) {
            q[i] = 0.1 * (i % 3);
            for (int32_t j = 1; j < n; j += 2) {
                q[i] -= 0.3 * a[j * n + i];
            }
        }
        const struct solved s = run(mech_vi_find("lemke"), &p, NULL, 1000);
        CU_ASSERT_EQUAL(s.code, 0);
        worst = fmax(worst, s.result.residual);
    }
    CHECK_NEAR(worst, 0., 1e-15);
}

static void bilateral_rows_have_no_residual_velocity(void)
{
    static double a[MOST * MOST], q[MOST];
    for (int32_t n = 1; n <= 24; n += n < 4 ? 1 : 5) {
        struct lcp p = random_problem(n, n, 0.5, (uint64_t)n * 31337, a, q);
        bool bilateral[MOST];
        for (int32_t i = 0; i < n; i++) {
            bilateral[i] = i % 2 == 0;
        }
        p.bilateral = bilateral;
        for (const struct mech_vi_type *const *t = mech_vi_types; *t != NULL; t++) {
            if (!takes(*t, &p)) {
                continue;
            }
            const struct solved s = run(*t, &p, NULL, 20000);
            CU_ASSERT_EQUAL(s.code, 0);
            for (int32_t i = 0; i < n; i += 2) {
                double w = q[i];
                for (int32_t j = 0; j < n; j++) {
                    w += a[j * n + i] * s.z[j];
                }
                CHECK_NEAR(w, 0., tolerance * norm(q, n));
            }
        }
    }
}

static void bilateral_rows_that_contradict_each_other_are_refused(void)
{
    const double a[] = {1., 1., 0., 1., 1., 0., 0., 0., 1.}, q[] = {-1., -2., 1.};
    const bool bilateral[] = {true, true, false};
    const struct lcp p = {.n = 3, .A = a, .q = q, .bilateral = bilateral};
    for (const struct mech_vi_type *const *t = mech_vi_types; *t != NULL; t++) {
        if (!takes(*t, &p)) {
            continue;
        }
        const double start[] = {0.25, 0.5, 0.75};
        const struct solved s = run(*t, &p, start, 1000);
        CU_ASSERT_NOT_EQUAL(s.code, 0);
        if (s.code == MECH_SINGULAR) {
            CU_ASSERT_EQUAL(memcmp(s.z, start, sizeof start), 0);
        }
    }
}

static void what_does_not_converge_leaves_the_best_that_was_seen(void)
{
    // Gauss–Seidel on these two rows multiplies its error by 4 each sweep
    const double a[] = {1., 2., 2., 1.}, q[] = {-1., -1.};
    const bool bilateral[] = {true, true};
    const struct lcp p = {.n = 2, .A = a, .q = q, .bilateral = bilateral};
    const double start[] = {0.3, 0.3};
    for (const struct mech_vi_type *const *t = mech_vi_types; *t != NULL; t++) {
        if (!takes(*t, &p)) {
            continue;
        }
        const struct solved s = run(*t, &p, start, 2000);
        CU_ASSERT(s.code == 0 || residual(&p, s.z) <= residual(&p, start));
        CU_ASSERT(s.code == 0 || s.code == MECH_VI_NOT_CONVERGED);
        CHECK_NEAR(s.result.residual, residual(&p, s.z), 1e-15);
    }
}

static void a_problem_without_solution_is_said_to_fail(void)
{
    // w_0 = −1 whatever z is
    const double a[] = {0., 0., 0., 0., 1., 0., 0., 0., 1.}, q[] = {-1., -1., 1.};
    for (int32_t n = 1; n <= 3; n += 2) {
        const struct lcp p = {.n = n, .A = a, .q = q};
        for (const struct mech_vi_type *const *t = mech_vi_types; *t != NULL; t++) {
            if (!takes(*t, &p)) {
                continue;
            }
            CU_ASSERT_NOT_EQUAL(run(*t, &p, NULL, 1000).code, 0);
        }
    }
}

static void values_that_are_not_finite_are_never_solved(void)
{
    static double a[MOST * MOST], q[MOST];
    const double poison[] = {NAN, INFINITY, -INFINITY};
    for (int32_t n = 1; n <= 5; n++) {
        for (size_t k = 0; k < 3; k++) {
            struct lcp p = random_problem(n, n, 1., 99, a, q);
            for (int32_t i = 0; i < n; i++) {
                q[i] = -1.;
            }
            q[n - 1] = poison[k];
            for (const struct mech_vi_type *const *t = mech_vi_types; *t != NULL; t++) {
                if (!takes(*t, &p)) {
                    continue;
                }
                CU_ASSERT_NOT_EQUAL(run(*t, &p, NULL, 100).code, 0);
            }
            p = random_problem(n, n, 1., 99, a, q);
            q[0] = -1.;
            a[0] = poison[k];
            for (const struct mech_vi_type *const *t = mech_vi_types; *t != NULL; t++) {
                if (!takes(*t, &p)) {
                    continue;
                }
                CU_ASSERT_NOT_EQUAL(run(*t, &p, NULL, 100).code, 0);
            }
        }
    }
}

static void a_start_from_the_solution_keeps_it(void)
{
    static double a[MOST * MOST], q[MOST];
    for (int32_t n = 1; n <= 40; n += 13) {
        const struct lcp p = random_problem(n, n, 1., (uint64_t)n * 15485863, a, q);
        for (const struct mech_vi_type *const *t = mech_vi_types; *t != NULL; t++) {
            if (!takes(*t, &p)) {
                continue;
            }
            const struct solved cold = run(*t, &p, NULL, 20000);
            const struct solved warm = run(*t, &p, cold.z, 20000);
            CU_ASSERT_EQUAL(warm.code, 0);
            CU_ASSERT(warm.result.iterations <= 1);
            for (int32_t i = 0; i < n; i++) {
                CHECK_NEAR(warm.z[i], cold.z[i], (1. + n * n) * tolerance * norm(q, n));
            }
        }
    }
}

static void no_force_needs_no_impulse(void)
{
    const double a[] = {2., -1., 0., -1., 2., -1., 0., -1., 2.}, q[] = {0., 0., 0.};
    const double start[] = {1., 2., 3.};
    const struct lcp p = {.n = 3, .A = a, .q = q};
    for (const struct mech_vi_type *const *t = mech_vi_types; *t != NULL; t++) {
        if (!takes(*t, &p)) {
            continue;
        }
        const struct solved s = run(*t, &p, start, 100);
        CU_ASSERT_EQUAL(s.code, 0);
        CU_ASSERT_EQUAL(norm(s.z, 3), 0.);
    }
}

static void solve_allocates_nothing_and_repeats_its_bits(void)
{
    static double a[MOST * MOST], q[MOST];
    const struct lcp p = random_problem(40, 40, 1., 4242, a, q);
    const struct mech_vi_limits limits = {.tolerance = tolerance, .max_iterations = 10000};
    struct posed posed;
    const struct mech_problem *const problem = pose(&p, &posed);
    for (const struct mech_vi_type *const *t = mech_vi_types; *t != NULL; t++) {
        if (!takes(*t, &p)) {
            continue;
        }
        void *self = NULL;
        CU_ASSERT_EQUAL_FATAL((*t)->create(MOST, &self), 0);
        double first[MOST] = {0}, again[MOST] = {0};
        struct mech_vi_result r;
        alloc_count_start();
        (void)(*t)->solve(self, problem, &limits, first, &r);
        (void)(*t)->solve(self, problem, &limits, again, &r);
        CU_ASSERT_EQUAL(alloc_count_stop(), 0);
        CU_ASSERT_EQUAL(memcmp(first, again, sizeof first), 0);
        (*t)->destroy(self);
    }
}

/* Wanted at the third time it is asked. */
static bool third_time(void *asked)
{
    return ++*(int *)asked >= 3;
}

static void all_end_when_an_interrupt_comes(void)
{
    // w_1 + w_2 = −2: no member gets there
    const double a[] = {1., -1., -1., 1.}, q[] = {-1., -1.};
    const struct lcp p = {.n = 2, .A = a, .q = q};
    for (const struct mech_vi_type *const *t = mech_vi_types; *t != NULL; t++) {
        if (!takes(*t, &p)) {
            continue;
        }
        int asked = 0;
        struct mech_interrupt interrupt = {.wanted = third_time, .context = &asked};
        const struct mech_vi_limits limits = {
            .tolerance = 1e-9, .max_iterations = 1000000, .interrupt = &interrupt};
        struct posed posed;
        struct mech_vi_result result = {.iterations = 0};
        double z[MOST] = {0.};
        void *self = NULL;
        CU_ASSERT_EQUAL_FATAL((*t)->create(MOST, &self), 0);
        CU_ASSERT_EQUAL((*t)->solve(self, pose(&p, &posed), &limits, z, &result),
                        MECH_VI_NOT_CONVERGED);
        (*t)->destroy(self);
        CU_ASSERT(result.iterations < 2000);
        CU_ASSERT(asked <= 3);
        CU_ASSERT(isfinite(z[0]) && isfinite(z[1]));
    }
}

static void the_registry_is_sorted_and_described(void)
{
    for (const struct mech_vi_type *const *t = mech_vi_types; *t != NULL; t++) {
        CU_ASSERT_PTR_EQUAL(mech_vi_find((*t)->name), *t);
        CU_ASSERT((*t)->doc[0] != '\0');
        CU_ASSERT(t[1] == NULL || strcmp((*t)->name, t[1]->name) < 0);
        (*t)->destroy(NULL);
    }
    CU_ASSERT_PTR_NULL(mech_vi_find("no such solver"));
}

/* Matrices of which methods make their lengths and shifts: nothing on the diagonal, nothing at all,
 * entries near both ends of the numbers. Ending is the point; `run` checks what is claimed. */
static void all_end_on_matrices_that_give_them_no_length(void)
{
    static const double entries[] = {0., 1e-300, 1e-16, 1., 1e16, 1e150, -1., -1e16};
    enum { N = 3, ENTRIES = sizeof entries / sizeof *entries };
    static const double r[][N] = {{-2., 1., -0.5}, {-1., -1., -1.}, {1e-300, -1e16, 1.}};

    for (const struct mech_vi_type *const *t = mech_vi_types; *t != NULL; t++) {
        for (int i = 0; i < ENTRIES * N * N * 3; i++) {
            double A[N * N] = {0.};
            const struct lcp p = {.n = N, .A = A, .q = r[i % 3]};

            A[i / 3 % (N * N)] = entries[i / (3 * N * N)];
            const struct solved s = run(*t, &p, NULL, 2000);

            // a limit on Newton steps holds for proximal points too
            CU_ASSERT(!(*t)->factors || s.result.iterations <= 2000);
        }
    }
}

UNIT_TESTS(UNIT_TEST(published_problems_are_solved_or_refused),
           UNIT_TEST(all_end_on_matrices_that_give_them_no_length),
           UNIT_TEST(lemke_solves_every_published_problem),
           UNIT_TEST(all_end_when_an_interrupt_comes),
           UNIT_TEST(psor_refuses_a_zero_diagonal_and_leaves_z),
           UNIT_TEST(all_agree_on_positive_definite_problems),
           UNIT_TEST(dependent_rows_are_solved_or_said_to_fail),
           UNIT_TEST(pivoting_leaves_no_error_of_its_pivots),
           UNIT_TEST(bilateral_rows_have_no_residual_velocity),
           UNIT_TEST(bilateral_rows_that_contradict_each_other_are_refused),
           UNIT_TEST(what_does_not_converge_leaves_the_best_that_was_seen),
           UNIT_TEST(a_problem_without_solution_is_said_to_fail),
           UNIT_TEST(values_that_are_not_finite_are_never_solved),
           UNIT_TEST(a_start_from_the_solution_keeps_it), UNIT_TEST(no_force_needs_no_impulse),
           UNIT_TEST(solve_allocates_nothing_and_repeats_its_bits),
           UNIT_TEST(the_registry_is_sorted_and_described))
