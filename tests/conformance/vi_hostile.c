/* Every complementarity solver, and the chain, on problems with hostile numbers: rows
 * of zeros, 1e16 beside nothing, 1e-300, products that overflow, indefinite and skew matrices. Each
 * solve ends within its count of iterations, returns finite multipliers, and is called solved only
 * with a residual within the tolerance; an interrupt that is wanted ends it.
 *
 * A solve that does not end is killed by an alarm: it cannot be counted. */
#include "solver/base/err.h"
#include "solver/vi/certificate.h"
#include "solver/vi/chain.h"
#include "tests/conformance/accepted.h"
#include "tests/unit/unit.h"

#include <math.h>
#include <string.h>
#include <unistd.h>

enum { ROWS = 6, ITERATIONS = 400, SECONDS = 300, ASKED_MOST = 4, MANY = 600 };
static const double tolerance = 1e-10;

struct hostile {
    const char *name;
    int32_t m;
    double N[ROWS * ROWS]; /* by rows */
    double r[ROWS];
};

static const struct hostile hostiles[] = {
    {"one entry off the diagonal", 3, {0., 0., 1e16}, {-2., 1., -0.5}},
    {"zeros", 3, {0.}, {-1., 0., 0.}},
    {"a row of zeros", 3, {1., 0., 0., 0., 0., 0., 0., 0., 1.}, {-1., -1., 0.5}},
    {"tiny", 3, {1e-300, 0., 0., 0., 1e-300, 0., 0., 0., 1e-300}, {-1., 0.2, 0.1}},
    {"subnormal", 3, {0., 5e-324, 0., 5e-324, 0., 0., 0., 0., 5e-324}, {-1., 0.2, 0.1}},
    {"subnormal diagonal", 3, {5e-324, 1., 0., 1., 0., 0., 0., 0., 5e-324}, {-1., 0.2, -0.1}},
    {"huge", 3, {1e300, 1e300, 0., 1e300, 1e300, 0., 0., 0., 1e300}, {-1e300, 1e300, -1e300}},
    {"scales apart", 3, {1e16, 1., 0., 1., 1e-16, 0., 0., 0., 1.}, {-1., -1e-8, 1.}},
    {"indefinite", 3, {1., 5., 0., 5., 1., 0., 0., 0., -1.}, {-1., -1., -1.}},
    {"negative", 3, {-1., 0., 0., 0., -1., 0., 0., 0., -1.}, {-1., 2., -1.}},
    {"skew", 3, {0., 1., -2., -1., 0., 3., 2., -3., 0.}, {-1., 0.5, -0.2}},
    {"two contacts, one without mass",
     6,
     {1., 0., 0., 0., 0., 0., 0., 1., 0., 0., 0., 0., 0., 0., 1.},
     {-1., 0.5, 0., -1., 0.1, 0.2}},
};
enum { HOSTILES = sizeof hostiles / sizeof *hostiles };

struct clock {
    int32_t asked, after;
};

static bool wanted(void *context)
{
    struct clock *const c = context;

    return ++c->asked > c->after;
}

static struct mech_set set_of(enum mech_set_kind kind, int32_t rows)
{
    return (struct mech_set){
        .kind = kind, .rows = rows, .mu = 0.5, .lower = -1., .upper = HUGE_VAL};
}

/* One member on one problem with one kind of set; name NULL: the chain. */
static void check(const struct hostile *h, const char *name, struct mech_set set,
                  enum mech_friction friction)
{
    double values[ROWS * ROWS], l[ROWS] = {0.}, c[ROWS];
    struct mech_set sets[ROWS];
    const int32_t m = h->m;
    const struct mech_mat N = {.kind = MECH_MAT_DENSE, .rows = m, .cols = m, .values = values};
    const struct mech_problem p = {
        .m = m, .N = &N, .r = h->r, .sets = sets, .count = m / set.rows, .friction = friction};
    const struct mech_vi_limits limits = {.tolerance = tolerance, .max_iterations = ITERATIONS};
    struct mech_vi_result result;

    for (int32_t i = 0; i < m; i++) {
        sets[i] = set;
        for (int32_t j = 0; j < m; j++) {
            values[j * m + i] = h->N[i * m + j];
        }
    }
    const int code = mech_vi_solve(name, &p, &limits, l, &result);

    mech_problem_speed(&p, l, c);
    for (int32_t i = 0; i < m; i++) {
        CU_ASSERT(isfinite(l[i]));
    }
    CU_ASSERT(code == 0 || code == MECH_VI_NOT_CONVERGED || code == MECH_SINGULAR ||
              code == MECH_UNSUPPORTED);
    /* a chain has three members, and the rounds of desaxce.h count one more each */
    CU_ASSERT(result.iterations <= 4 * ITERATIONS);
    if (code == 0) {
        CU_ASSERT(mech_problem_residual(&p, l, c) <= tolerance * (1. + 1e-3));
        CU_ASSERT(accepted(&p, l, tolerance) <= tolerance * (1. + 1e-3));
        for (int32_t i = 0; i < m; i++) {
            CU_ASSERT(isfinite(c[i]));
        }
    }
}

static void check_all(const struct hostile *h, const char *name)
{
    static const enum mech_set_kind singles[] = {MECH_SET_BILATERAL, MECH_SET_UNILATERAL,
                                                 MECH_SET_BOX};

    for (size_t k = 0; k < sizeof singles / sizeof *singles; k++) {
        check(h, name, set_of(singles[k], 1), MECH_COULOMB);
    }
    check(h, name, set_of(MECH_SET_CONE, 3), MECH_COULOMB);
    check(h, name, set_of(MECH_SET_CONE, 3), MECH_ASSOCIATED);
}

static void hostile_problems_end_with_the_truth(void)
{
    alarm(SECONDS);
    for (int k = 0; k < HOSTILES; k++) {
        for (const struct mech_vi_type *const *t = mech_vi_types; *t; t++) {
            check_all(&hostiles[k], (*t)->name);
        }
        check_all(&hostiles[k], NULL);
    }
    alarm(0);
}

/* a tridiagonal problem of many rows, with a limit that would take years */
static void an_interrupt_ends_every_member(void)
{
    static double values[(size_t)MANY * MANY], r[MANY], l[MANY];
    static struct mech_set sets[MANY];
    const struct mech_mat N = {
        .kind = MECH_MAT_DENSE, .rows = MANY, .cols = MANY, .symmetric = true, .values = values};
    const enum mech_set_kind kinds[] = {MECH_SET_BILATERAL, MECH_SET_UNILATERAL, MECH_SET_CONE};

    for (int32_t i = 0; i < MANY; i++) {
        r[i] = i % 3 ? 0.1 : -1.;
        for (int32_t j = 0; j < MANY; j++) {
            values[(size_t)i * MANY + (size_t)j] = i == j                     ? 2.
                                                   : i - j == 3 || j - i == 3 ? -1.
                                                                              : 0.;
        }
    }
    alarm(SECONDS);
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        const int32_t rows = kinds[k] == MECH_SET_CONE ? 3 : 1;
        const struct mech_problem p = {
            .m = MANY, .N = &N, .r = r, .sets = sets, .count = MANY / rows};

        for (int32_t i = 0; i < MANY; i++) {
            sets[i] = set_of(kinds[k], rows);
        }
        for (size_t t = 0; t == 0 || mech_vi_types[t - 1]; t++) {
            struct clock clock = {.after = 1};
            struct mech_interrupt interrupt = {.wanted = wanted, .context = &clock};
            /* smaller than rounding: nothing is solved before it is asked */
            const struct mech_vi_limits limits = {1e-300, INT32_MAX, &interrupt};
            struct mech_vi_result result;

            memset(l, 0, sizeof l);
            const int code =
                mech_vi_solve(t == 0 ? NULL : mech_vi_types[t - 1]->name, &p, &limits, l, &result);

            CU_ASSERT(code >= 0);
            CU_ASSERT(clock.asked <= ASKED_MOST);
            CU_ASSERT(result.iterations <= 64);
            for (int32_t i = 0; i < MANY; i++) {
                CU_ASSERT(isfinite(l[i]));
            }
        }
    }
    alarm(0);
}

/* Problems without a solution, one row or one contact after the other. */
struct hopeless {
    const char *name;
    int32_t m;
    double N[ROWS * ROWS]; /* by rows */
    double r[ROWS];
    bool friction; /* cones of 3 rows; else unilateral rows */
};

static const struct hopeless hopeless[] = {
    {"nothing moves, and it should", 3, {0.}, {-1., 0., 0.}, true},
    {"nothing moves, and it should, without friction", 1, {0.}, {-1.}, false},
    {"walls that close", 2, {1., -1., -1., 1.}, {-1., -1.}, false},
    {"walls that close, heavy", 2, {1e-9, -1e-9, -1e-9, 1e-9}, {-1., -1.}, false},
    {"walls that close, with friction",
     6,
     {1.,  0., 0., -1., 0., 0., 0., 3.5, 0., 0., 0.,  0., 0., 0., 3.5, 0., 0., 0.,
      -1., 0., 0., 1.,  0., 0., 0., 0.,  0., 0., 3.5, 0., 0., 0., 0.,  0., 0., 3.5},
     {-1., 0.3, 0., -0.5, 0., 0.2},
     true},
    {"a row that nothing reaches",
     6,
     {0., -3.875, 0., 0., 0., 0., 1e-8, 0.,   1e-300, 0., 0., 0., 2., 3.875, 0., 0., 0., 0.,
      0., 0.,     0., 0., 0., 0., 0.,   0.25, -2.625, 0., 0., 0., 0., 2.375, 0., 2., 0., 2.875},
     {0.5, 0.125, -3.375, -0.375, 2.625, 0.875},
     true},
};

static void what_has_no_solution_is_never_solved(void)
{
    for (size_t k = 0; k < sizeof hopeless / sizeof *hopeless; k++) {
        const struct hopeless *const h = &hopeless[k];
        double values[ROWS * ROWS];
        struct mech_set sets[ROWS];
        const struct mech_mat N = {
            .kind = MECH_MAT_DENSE, .rows = h->m, .cols = h->m, .values = values};

        for (int32_t i = 0; i < h->m; i++) {
            sets[i] =
                set_of(h->friction ? MECH_SET_CONE : MECH_SET_UNILATERAL, h->friction ? 3 : 1);
            for (int32_t j = 0; j < h->m; j++) {
                values[j * h->m + i] = h->N[i * h->m + j];
            }
        }
        for (int law = 0; law < 2; law++) {
            const struct mech_problem p = {.m = h->m,
                                           .N = &N,
                                           .r = h->r,
                                           .sets = sets,
                                           .count = h->friction ? h->m / 3 : h->m,
                                           .friction = (enum mech_friction)law};
            const struct mech_vi_limits limits = {.tolerance = 1e-10, .max_iterations = 10000};
            double d[ROWS], l[ROWS] = {0.};

            for (int member = -1; member < 0 || mech_vi_types[member]; member++) {
                struct mech_vi_result result;

                memset(l, 0, sizeof l);
                const int code = mech_vi_solve(member < 0 ? NULL : mech_vi_types[member]->name, &p,
                                               &limits, l, &result);

                if (code == 0) {
                    fprintf(stderr, "%s: %s\n", h->name, result.solver);
                }
                CU_ASSERT(code != 0);
            }
            CU_ASSERT_EQUAL(mech_certificate_find(&p, 1e-10, NULL, l, d), 1);
        }
    }
}

/* The search for what a solvable problem does not have: each of its rounds factors all rows. */
static void tell_to_end_a_search(int32_t after, struct clock *clock, bool *came)
{
    static double values[(size_t)MANY * MANY], r[MANY], l[MANY], d[MANY];
    static struct mech_set sets[MANY];
    const struct mech_mat N = {
        .kind = MECH_MAT_DENSE, .rows = MANY, .cols = MANY, .symmetric = true, .values = values};
    const struct mech_problem p = {.m = MANY, .N = &N, .r = r, .sets = sets, .count = MANY};
    struct mech_interrupt interrupt = {.wanted = wanted, .context = clock};

    for (int32_t i = 0; i < MANY; i++) {
        sets[i] = set_of(MECH_SET_BILATERAL, 1);
        r[i] = i % 3 ? 0.1 : -1.;
        l[i] = 1.;
        for (int32_t j = 0; j < MANY; j++) {
            values[(size_t)i * MANY + (size_t)j] = i == j                     ? 2.
                                                   : i - j == 1 || j - i == 1 ? -1.
                                                                              : 0.;
        }
    }
    *clock = (struct clock){.after = after};
    CU_ASSERT_EQUAL(mech_certificate_find(&p, 1e-10, &interrupt, l, d), 0);
    *came = interrupt.came;
}

/* The search for a certificate calls the interrupt, and not once more after that has come. */
static void an_interrupt_ends_the_search_for_a_certificate(void)
{
    struct clock clock;
    bool came = false;

    tell_to_end_a_search(INT32_MAX, &clock, &came);
    CU_ASSERT(!came);
    const int32_t all = clock.asked;

    CU_ASSERT(all >
              300); /* at a quarter of its products; factors alone ask less than a hundred times */
    for (int32_t after = 0; after < all; after += 1 + all / 7) {
        tell_to_end_a_search(after, &clock, &came);
        CU_ASSERT(came);
        CU_ASSERT_EQUAL(clock.asked, after + 1);
    }
}

/* What a row of two contacts is to be: `by` times it within `off`; by 0: it may be anything. */
struct expected {
    double by, value, off;
};

/* The number of members that solve the six rows of two contacts; each solution is checked. */
static int solved_as(const double N[36], const double r[6], const struct mech_set *sets,
                     int32_t count, const struct expected rows[6])
{
    struct mech_mat matrix = {.kind = MECH_MAT_DENSE, .rows = 6, .cols = 6, .symmetric = true};
    const struct mech_problem p = {.m = 6, .N = &matrix, .r = r, .sets = sets, .count = count};
    const struct mech_vi_limits limits = {.tolerance = 1e-10, .max_iterations = 20000};
    int solved = 0;

    memcpy(&matrix.values, &N, sizeof matrix.values); /* it is only read */
    for (const struct mech_vi_type *const *t = mech_vi_types; *t; t++) {
        double l[6] = {0.};
        struct mech_vi_result result;

        if (mech_vi_solve((*t)->name, &p, &limits, l, &result) != 0) {
            continue;
        }
        solved++;
        for (int i = 0; i < 6; i++) {
            if (rows[i].by != 0.) {
                CHECK_NEAR(rows[i].by * l[i], rows[i].value, rows[i].off);
            }
        }
    }
    return solved;
}

/* a contact beside one 1e8 times heavier is as exact as alone, with any solver */
static void light_contacts_meet_their_own_tolerance(void)
{
    static const double N[36] = {1., 0, 0, 0,    0, 0, 0, 1., 0, 0, 0,    0, 0, 0, 1., 0, 0, 0,
                                 0,  0, 0, 1e-8, 0, 0, 0, 0,  0, 0, 1e-8, 0, 0, 0, 0,  0, 0, 1e-8};
    static const double r[6] = {-1., 0.1, 0., -1., 0.1, 0.};
    static const struct expected rows[6] = {{1., 1., 2e-10},   {1., -0.1, 2e-10},   {0., 0., 0.},
                                            {1e-8, 1., 2e-10}, {1e-8, -0.1, 2e-10}, {0., 0., 0.}};
    const struct mech_set sets[] = {set_of(MECH_SET_CONE, 3), set_of(MECH_SET_CONE, 3)};

    CU_ASSERT(solved_as(N, r, sets, 2, rows) >= 5);
}

/* a contact beside one that opens 1e12 times as fast is as exact as alone */
static void contacts_that_open_hide_no_others(void)
{
    static const double N[36] = {1.,  0, 0, 0.1, 0, 0, 0, 1., 0, 0, 0,  0, 0, 0, 1., 0, 0, 0,
                                 0.1, 0, 0, 1.,  0, 0, 0, 0,  0, 0, 1., 0, 0, 0, 0,  0, 0, 1.};
    static const double r[6] = {-1., 0.1, 0., 1e12, 0., 0.};
    static const struct expected rows[6] = {{1., 1., 2e-10}, {1., -0.1, 2e-10}, {0., 0., 0.},
                                            {1., 0., 0.},    {0., 0., 0.},      {0., 0., 0.}};

    for (int normals = 0; normals < 2; normals++) {
        struct mech_set sets[6];
        const enum mech_set_kind kind = normals ? MECH_SET_UNILATERAL : MECH_SET_CONE;
        const int32_t each = normals ? 1 : 3;

        for (int i = 0; i < 6; i++) {
            sets[i] = set_of(normals && i % 3 != 0 ? MECH_SET_BILATERAL : kind, each);
        }
        CU_ASSERT(solved_as(N, r, sets, 6 / each, rows) >= (normals ? 8 : 7));
    }
}

/* Two sets, their normal rows coupled by 0.1, or −0.1 where the other one is pressed, and numbers
 * in r that ask for no force, or are next to nothing beside others of their contact. */
struct hiding {
    const char *name;
    struct mech_set sets[2];
    double r[2][MECH_SET_ROWS], l[2][MECH_SET_ROWS]; /* data; the solution */
    enum mech_friction friction;
    int solved; /* members at least that find it, and the chain */
    double off; /* of l at most, of a tolerance of 1e-10 */
};

#define CONE(n)                                                                                    \
    {                                                                                              \
        .kind = MECH_SET_CONE, .rows = (n), .mu = 0.3                                              \
    }
#define TURNING                                                                                    \
    {                                                                                              \
        .kind = MECH_SET_ROLLING, .rows = 6, .mu = 0.3, .spinning = 0.1, .rolling = 0.1            \
    }
static const struct hiding hidings[] = {
    {"a contact that opens and slides",
     {CONE(2), CONE(2)},
     {{-1., 0.}, {1., 1e10}},
     {{1.}, {0.}},
     MECH_COULOMB,
     8,
     3e-10},
    {"a contact that touches and slides",
     {CONE(3), CONE(3)},
     {{-1., 0.}, {0., 1e10, -1e10}},
     {{1.}, {0.}},
     MECH_COULOMB,
     8,
     3e-10},
    {"a contact that is pressed by another and slides",
     {CONE(2), CONE(2)},
     {{-1., 0.}, {0.0505, 1e4}},
     {{1.005}, {0.05, -0.015}},
     MECH_COULOMB,
     8,
     3e-10},
    {"a contact that is pressed and slides so fast that rounding counts",
     {CONE(2), CONE(2)},
     {{-1., 0.}, {0.0505, 1e10}},
     {{1.005}, {0.05, -0.015}},
     MECH_COULOMB,
     8,
     3e-10},
    {"contacts that press, one of which slides fast",
     {CONE(3), CONE(3)},
     {{-1.1, 1e12, 0.}, {-1.1, 0.}},
     {{1., -0.3}, {1., 0.}},
     MECH_COULOMB,
     3,
     3e-10},
    {"a contact that slides and rolls fast beside one that presses",
     {TURNING, TURNING},
     {{-1e-30, 1e6, 0., 0., 1e6}, {-1e-5, 0.}},
     {{0.}, {1e-5}},
     MECH_COULOMB,
     3,
     3e-15},
    {"contacts that slide and press by rounding",
     {CONE(3), CONE(3)},
     {{-1e-17, 1.}, {-1e-17, 0., -2.}},
     {{0.}, {0.}},
     MECH_COULOMB,
     8,
     1e-15},
    {"contacts of the associated law that open by rounding",
     {CONE(3), CONE(3)},
     {{0.3 * 0.7, 0.7}, {0.3 * 1.1, 0., -1.1}},
     {{0.}, {0.}},
     MECH_ASSOCIATED,
     8,
     1e-15},
    {"rolling contacts that press by rounding",
     {TURNING, TURNING},
     {{-1e-17, 1., 0., 0.1, 1.}, {-1e-17, 0., -2., 0., 0., 0.7}},
     {{0.}, {0.}},
     MECH_COULOMB,
     6,
     1e-15},
    {"a contact of the associated law that opens and slides",
     {CONE(3), CONE(3)},
     {{-1., 0.}, {4e9, 1e10, 2e9}},
     {{1.}, {0.}},
     MECH_ASSOCIATED,
     8,
     3e-10},
    {"a contact that opens, slides and rolls",
     {TURNING, TURNING},
     {{-1., 0.}, {1., 1e10, -1e10, 1e10, 1e10, 0.}},
     {{1.}, {0.}},
     MECH_COULOMB,
     6,
     3e-10},
    {"a rolling contact of the associated law that opens",
     {TURNING, TURNING},
     {{-1., 0.}, {1e10, 1e10, -1e10, 1e10, 1e10, 0.}},
     {{1.}, {0.}},
     MECH_ASSOCIATED,
     6,
     3e-10},
    {"a contact that rolls fast and presses",
     {TURNING, TURNING},
     {{-1., 0., 0., 0., 1e11, 0.}, {1., 0.}},
     {{1., 0., 0., 0., -0.1}, {0.}},
     MECH_COULOMB,
     6,
     3e-10},
    {"a box that opens",
     {{.kind = MECH_SET_UNILATERAL, .rows = 1}, {.kind = MECH_SET_BOX, .rows = 1, .upper = 1e30}},
     {{-1.}, {1e10}},
     {{1.}, {0.}},
     MECH_COULOMB,
     8,
     3e-10},
    {"a box that is held at its bound",
     {{.kind = MECH_SET_UNILATERAL, .rows = 1},
      {.kind = MECH_SET_BOX, .rows = 1, .lower = -2., .upper = 3.}},
     {{-1.}, {-1e10}},
     {{0.7}, {3.}},
     MECH_COULOMB,
     8,
     3e-10},
};
#undef CONE
#undef TURNING

static void check_hiding(const struct hiding *h, struct mech_mat *N)
{
    const int32_t rows = h->sets[0].rows, m = 2 * rows;
    double r[2 * MECH_SET_ROWS], l[2 * MECH_SET_ROWS];
    const struct mech_problem p = {
        .m = m, .N = N, .r = r, .sets = h->sets, .count = 2, .friction = h->friction};
    const struct mech_vi_limits limits = {.tolerance = 1e-10, .max_iterations = 20000};
    int solved = 0;

    N->rows = N->cols = m;
    memset(N->values, 0, (size_t)m * (size_t)m * sizeof *N->values);
    for (int32_t i = 0; i < m; i++) {
        N->values[i * m + i] = 1.;
        r[i] = h->r[i / rows][i % rows];
    }
    N->values[rows] = N->values[rows * m] = h->l[1][0] > 0. && h->l[1][1] != 0. ? -0.1 : 0.1;
    for (int member = -1; member < 0 || mech_vi_types[member]; member++) {
        struct mech_vi_result result;

        memset(l, 0, sizeof l);
        if (mech_vi_solve(member < 0 ? NULL : mech_vi_types[member]->name, &p, &limits, l,
                          &result) != 0) {
            continue;
        }
        solved++;
        for (int32_t i = 0; i < m; i++) {
            const double off = fabs(l[i] - h->l[i / rows][i % rows]);

            if (!(off <= h->off)) {
                fprintf(stderr, "%s: %s, l[%d] = %.17g\n", h->name, result.solver, i, l[i]);
            }
            CU_ASSERT(off <= h->off);
        }
    }
    if (solved < h->solved) {
        fprintf(stderr, "%s: %d solved\n", h->name, solved);
    }
    CU_ASSERT(solved >= h->solved);
}

static void what_asks_for_no_force_hides_no_others(void)
{
    double values[4 * MECH_SET_ROWS * MECH_SET_ROWS];
    struct mech_mat N = {.kind = MECH_MAT_DENSE, .symmetric = true, .values = values};

    for (size_t k = 0; k < sizeof hidings / sizeof *hidings; k++) {
        check_hiding(&hidings[k], &N);
    }
}

UNIT_TESTS(UNIT_TEST(hostile_problems_end_with_the_truth),
           UNIT_TEST(contacts_that_open_hide_no_others),
           UNIT_TEST(what_asks_for_no_force_hides_no_others),
           UNIT_TEST(what_has_no_solution_is_never_solved),
           UNIT_TEST(light_contacts_meet_their_own_tolerance),
           UNIT_TEST(an_interrupt_ends_every_member),
           UNIT_TEST(an_interrupt_ends_the_search_for_a_certificate))
