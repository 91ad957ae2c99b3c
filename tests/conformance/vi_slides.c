/* Every complementarity solver, and the chain, on contacts that slide much faster than they press,
 * under Coulomb's law: what presses decides, and counts as if alone. */
#include "solver/vi/certificate.h"
#include "solver/vi/chain.h"
#include "tests/unit/unit.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum { ROWS = 6, MEMBERS = 16 };

static const struct mech_set plane = {.kind = MECH_SET_CONE, .rows = 2, .mu = 0.5};
static const struct mech_set cone = {.kind = MECH_SET_CONE, .rows = 3, .mu = 0.5};
static const struct mech_set turning = {
    .kind = MECH_SET_ROLLING, .rows = 6, .mu = 0.5, .spinning = 0.01, .rolling = 0.02};

/* One set with N = 1, by a member or by the chain, NULL, r exact or rounded. Its iterations, or −1:
 * not solved. */
static int32_t alone(const char *name, const struct mech_set *set, const double *r, double rounding,
                     double *l)
{
    double values[ROWS * ROWS] = {0.};
    const int32_t m = set->rows;
    const struct mech_mat N = {
        .kind = MECH_MAT_DENSE, .rows = m, .cols = m, .symmetric = true, .values = values};
    const struct mech_problem p = {
        .m = m, .N = &N, .r = r, .sets = set, .count = 1, .rounding = rounding};
    const struct mech_vi_limits limits = {.tolerance = 1e-10, .max_iterations = 3000};
    struct mech_vi_result result;

    for (int32_t i = 0; i < m; i++) {
        values[i * m + i] = 1.;
        l[i] = 0.;
    }
    return mech_vi_solve(name, &p, &limits, l, &result) == 0 ? result.iterations : -1;
}

/* The members that take sets of a kind, after NULL for the chain; returns their number. */
static int members(enum mech_set_kind kind, const char *names[MEMBERS])
{
    int n = 0;

    names[n++] = NULL;
    for (const struct mech_vi_type *const *t = mech_vi_types; *t && n < MEMBERS; t++) {
        if ((*t)->kinds & 1u << kind) {
            names[n++] = (*t)->name;
        }
    }
    CU_ASSERT(n < MEMBERS);
    return n;
}

static void check(const struct mech_set *set, const char *name, const double *r, int32_t most)
{
    const double share[] = {set->mu, set->spinning, set->rolling};
    double l[ROWS];
    const int32_t used = alone(name, set, r, 0., l), rows = set->rows;

    if (!(used >= 0 && used <= most)) {
        fprintf(stderr, "%s: %d iterations, r = %g %g\n", name ? name : "chain", used, r[0], r[1]);
    }
    CU_ASSERT(used >= 0 && used <= most);
    CHECK_NEAR(l[0] / -r[0], 1., 1e-9);
    for (int32_t k = 1; k < rows; k++) {
        const int part = k < 3 ? 0 : k < 4 ? 1 : 2;
        double fast = 0.;

        for (int32_t i = part == 2 ? 4 : part == 1 ? 3 : 1; i < (part ? 2 + 2 * part : 3); i++) {
            fast = i < rows ? hypot(fast, r[i]) : fast;
        }
        CHECK_NEAR(l[k] / -r[0], fast > 0. ? -share[part] * r[k] / fast : 0., 1e-9);
    }
}

/* De Saxcé's shift rounds r_N to 1e-11 of it, and more */
static void ordinary_slides_take_few_iterations(void)
{
    static const double sliding[] = {-1e-4, 30., 9.}, rolling[] = {-1e-6, 30., 21., 0., 0., 0.};
    const char *names[MEMBERS];

    for (int k = 0, n = members(MECH_SET_CONE, names); k < n; k++) {
        check(&cone, names[k], sliding, 10);
    }
    for (int k = 0, n = members(MECH_SET_ROLLING, names); k < n; k++) {
        check(&turning, names[k], rolling, 10);
    }
}

/* Where −r_N is under some ε of a slide too, but not where r may have made that of the slide. */
static void what_presses_is_stopped_however_fast_it_slides(void)
{
    const char *names[MEMBERS];

    for (double fast = 10.; fast < 1e100; fast *= fast < 1e18 ? 7. : 1e9) {
        const double slides[] = {-1., 0.6 * fast, -0.8 * fast};
        const double turns[] = {-1., 0.6 * fast, -0.8 * fast, -fast, 0., fast};
        const double rolls[] = {-1., 0., 0., 0., 0.8 * fast, 0.6 * fast};

        for (int k = 0, n = members(MECH_SET_CONE, names); k < n; k++) {
            check(&plane, names[k], (double[]){-1., fast}, 1000);
            check(&cone, names[k], slides, 1000);
        }
        for (int k = 0, n = members(MECH_SET_ROLLING, names); k < n; k++) {
            check(&turning, names[k], turns, 1000);
            check(&turning, names[k], rolls, 1000);
        }
    }
    for (int k = 0, n = members(MECH_SET_CONE, names); k < n; k++) {
        double l[ROWS];

        CU_ASSERT_EQUAL(
            alone(names[k], &cone, (double[]){-1e-17, 1., 0.}, MECH_PROBLEM_ROUNDING, l), 0);
        CHECK_NEAR(l[0], 0., 0.);
    }
}

/* N = 1 of so many rows that is not formed, shifted. */
struct ones {
    int32_t m;
    double rho;
};

static void product(void *self, const double *l, double *out)
{
    memcpy(out, l, (size_t)((struct ones *)self)->m * sizeof *out);
}

static int shift(void *self, double rho)
{
    ((struct ones *)self)->rho = rho;
    return 0;
}

static int divide(void *self, double *x)
{
    const struct ones *const s = self;

    for (int32_t i = 0; i < s->m; i++) {
        x[i] /= 1. + s->rho;
    }
    return 0;
}

static void check_unformed(const struct mech_vi_type *type, const struct mech_set *set, double fast)
{
    struct ones ones = {.m = set->rows};
    const double r[ROWS] = {-1., 0.6 * fast, -0.8 * fast};
    const struct mech_schur schur = {
        .self = &ones, .finite = true, .product = product, .shift = shift, .divide = divide};
    const struct mech_problem p = {
        .m = set->rows, .schur = &schur, .r = r, .sets = set, .count = 1};
    const struct mech_vi_limits limits = {.tolerance = 1e-10, .max_iterations = 30000};
    struct mech_vi_result result;
    double l[ROWS] = {0.};

    if (mech_vi_solve(type->name, &p, &limits, l, &result) == 0) {
        CHECK_NEAR(l[0], 1., 1e-9);
        CHECK_NEAR(l[1], -0.3, 1e-9);
        CHECK_NEAR(l[2], 0.4, 1e-9);
        return;
    }
    /* admm may not settle on l at all */
    const bool ends = result.iterations <= 3000 || strcmp(type->name, "admm") == 0;

    if (fast < 1e4 || !ends) {
        fprintf(stderr, "%s: %d iterations, r_T = %g\n", type->name, result.iterations, fast);
    }
    CU_ASSERT(fast > 1e4);
    CU_ASSERT(ends);
}

/* Sweeps need N: without, nothing else is called solved, and what gets no closer ends. */
static void without_a_matrix_it_is_solved_or_refused(void)
{
    for (double fast = 10.; fast < 1e15; fast *= 7.) {
        for (const struct mech_vi_type *const *t = mech_vi_types; *t; t++) {
            if ((*t)->create_implicit && (*t)->kinds & 1u << MECH_SET_CONE) {
                check_unformed(*t, &cone, fast);
            }
            if ((*t)->create_implicit && (*t)->kinds & 1u << MECH_SET_ROLLING) {
                check_unformed(*t, &turning, fast);
            }
        }
    }
}

/* One contact in the plane by a member, or by the chain, from l. */
static int in_the_plane(const char *name, const double N[4], double mu, double fast, double *l)
{
    double values[4];
    const struct mech_mat matrix = {
        .kind = MECH_MAT_DENSE, .rows = 2, .cols = 2, .symmetric = true, .values = values};
    struct mech_set set = plane;
    const struct mech_problem p = {
        .m = 2, .N = &matrix, .r = (double[]){-1., fast}, .sets = &set, .count = 1};
    const struct mech_vi_limits limits = {.tolerance = 1e-10, .max_iterations = 3000};
    struct mech_vi_result result;

    memcpy(values, N, sizeof values);
    set.mu = mu;
    return mech_vi_solve(name, &p, &limits, l, &result);
}

/* Friction turns the contact into itself: the faster it slides, the larger the force that stops it.
 * Where doubles cannot balance what presses with that, nothing else is called solved. */
static void a_slide_that_jams_is_stopped_or_refused(void)
{
    static const double N[] = {1., 0.75, 0.75, 1.};
    const char *names[MEMBERS];
    const int n = members(MECH_SET_CONE, names);

    for (double fast = 10.; fast < 1e30; fast *= 7.) {
        const double jammed[] = {(1. + 0.75 * fast) / 0.4375, -(0.75 + fast) / 0.4375};

        for (int k = 0; k < n; k++) {
            double l[2] = {0.};
            const int code = in_the_plane(names[k], N, 2., fast, l);

            CU_ASSERT(code == 0 || names[k] || fast > 1e8);
            if (code == 0) {
                CHECK_NEAR(l[0] / jammed[0], 1., 1e-8);
                CHECK_NEAR(l[1] / jammed[1], 1., 1e-8);
            }
        }
    }
}

/* c_N = −1 for all l that slide, c_T > 0 for all that press: friction alone, no wall, leaves no
 * solution, and a large l balances what presses but for what rounding hides of it. */
static void where_friction_leaves_no_solution_none_is_found(void)
{
    static const double N[] = {0.0625, 0.25, 0.25, 1.};
    const char *names[MEMBERS];
    const int n = members(MECH_SET_CONE, names);
    int at = 0;

    for (double fast = 10.; fast < 1e30; fast *= 7.) {
        for (double from = 1.; from < 1e40; from *= 1e6) {
            for (int k = 0; k < n && unit_case(at); k++) {
                double l[] = {from > 1. ? from : 0., from > 1. ? -0.25 * from : 0.};
                const int code = in_the_plane(names[k], N, 0.25, fast, l);

                if (code == 0) {
                    fprintf(stderr, "%s: l = %g %g, r_T = %g\n", names[k] ? names[k] : "chain",
                            l[0], l[1], fast);
                }
                CU_ASSERT(code > 0);
            }
            at++;
        }
    }
}

/* A slide is what l is measured by where bodies are wedged; a body between walls that close has no
 * solution all the same, and its l diverges up to the slide. */
static void walls_that_close_on_what_slides_have_no_solution(void)
{
    static const double mu[] = {1e-6, 0.1, 1.}, fast[] = {0., 1e6, 1e12, 1e14};
    const char *names[MEMBERS];
    const int n = members(MECH_SET_CONE, names);

    for (int at = 0; at < 12 * n; at++) {
        double values[] = {1., 0., -1., 0., 0., 1., 0., 0., -1., 0., 1., 0., 0., 0., 0., 1.};
        const double f = fast[at / 3 % 4];
        const struct mech_mat N = {
            .kind = MECH_MAT_DENSE, .rows = 4, .cols = 4, .symmetric = true, .values = values};
        struct mech_set sets[] = {plane, plane};
        const struct mech_problem p = {
            .m = 4, .N = &N, .r = (double[]){-1., f, -1., f}, .sets = sets, .count = 2};
        const struct mech_vi_limits limits = {.tolerance = 1e-10, .max_iterations = 3000};
        struct mech_vi_result result;
        double l[4] = {0.}, d[4];

        sets[0].mu = sets[1].mu = mu[at % 3];
        CU_ASSERT(mech_vi_solve(names[at / 12], &p, &limits, l, &result) > 0);
        CU_ASSERT_EQUAL_FATAL(mech_certificate_find(&p, limits.tolerance, NULL, l, d), 1);
        CHECK_NEAR(d[0], 1., 1e-6);
        CHECK_NEAR(d[2], 1., 1e-6);
    }
}

UNIT_TESTS(UNIT_TEST(ordinary_slides_take_few_iterations),
           UNIT_TEST(what_presses_is_stopped_however_fast_it_slides),
           UNIT_TEST(without_a_matrix_it_is_solved_or_refused),
           UNIT_TEST(a_slide_that_jams_is_stopped_or_refused),
           UNIT_TEST(where_friction_leaves_no_solution_none_is_found),
           UNIT_TEST(walls_that_close_on_what_slides_have_no_solution))
