/* Every complementarity solver, and the chain, on contacts that couple each other, with masses and
 * speeds far apart, beside the solution: it is found, or nothing is called solved. */
#include "solver/vi/chain.h"
#include "tests/unit/unit.h"

#include <math.h>
#include <string.h>

enum { ROWS = 6 };

/* Problems of contacts that couple each other, with their solutions. */
struct known {
    const char *name;
    int32_t m, count;
    struct mech_set sets[ROWS];
    double N[ROWS * ROWS]; /* by rows */
    double r[ROWS], l[ROWS];
    enum mech_friction friction;
    int solved; /* members at least that find it, and the chain */
    double off; /* at most, of the largest l */
};

#define PLANE(MU)                                                                                  \
    {                                                                                              \
        .kind = MECH_SET_CONE, .rows = 2, .mu = (MU)                                               \
    }
static const struct known knowns[] = {
    {"a light contact beside a heavy one that opens",
     4,
     2,
     {PLANE(0.5), PLANE(0.5)},
     {1e-11, 0., -6e-5, 0., 0., 1e-11, 0., 0., -6e-5, 0., 5e3, 0., 0., 0., 0., 5e3},
     {-0.016, 0., 7e5, 3e5},
     {1.6e9},
     MECH_COULOMB,
     5,
     2e-10},
    {"a light contact beside a heavy one that opens, associated law",
     4,
     2,
     {PLANE(0.5), PLANE(0.5)},
     {1e-11, 0., -6e-5, 0., 0., 1e-11, 0., 0., -6e-5, 0., 5e3, 0., 0., 0., 0., 5e3},
     {-0.016, 0., 7e5, 3e5},
     {1.6e9},
     MECH_ASSOCIATED,
     5,
     2e-10},
    {"a light contact beside a heavy box that is held at 0",
     3,
     2,
     {PLANE(0.5), {.kind = MECH_SET_BOX, .rows = 1, .upper = 1e30}},
     {1e-11, 0., -6e-5, 0., 1e-11, 0., -6e-5, 0., 5e3},
     {-0.016, 0., 7e5},
     {1.6e9},
     MECH_COULOMB,
     5,
     2e-10},
    {"a contact that another one presses and that slides at 1e10",
     4,
     2,
     {PLANE(0.5), PLANE(0.5)},
     {1., 0., -0.5, 0., 0., 1., 0., 0., -0.5, 0., 1., 0., 0., 0., 0., 1.},
     {0.49, 1e10, -1., 0.},
     {0.01 / 0.75, -0.005 / 0.75, 1. + 0.005 / 0.75},
     MECH_COULOMB,
     3,
     2e-10},
    {"a contact that another one presses and that slides at 1e13",
     4,
     2,
     {PLANE(0.5), PLANE(0.5)},
     {1., 0., -0.5, 0., 0., 1., 0., 0., -0.5, 0., 1., 0., 0., 0., 0., 1.},
     {0.49, 1e13, -1., 0.},
     {0.01 / 0.75, -0.005 / 0.75, 1. + 0.005 / 0.75},
     MECH_COULOMB,
     3,
     2e-10},
    {"contacts that press 1e-16 times as fast as one slides",
     4,
     2,
     {PLANE(0.5), PLANE(0.5)},
     {1., 0., -0.5, 0., 0., 1., 0., 0., -0.5, 0., 1., 0., 0., 0., 0., 1.},
     {1e-11, 1e6, -1e-10, 0.},
     {4e-11 / 0.75, -2e-11 / 0.75, 1e-10 + 2e-11 / 0.75},
     MECH_COULOMB,
     3,
     2e-10},
    {"a contact without friction that slides, associated law",
     3,
     1,
     {{.kind = MECH_SET_CONE, .rows = 3}},
     {1., 0., 0., 0., 1., 0., 0., 0., 1.},
     {-1., 1e15, 0.},
     {1.},
     MECH_ASSOCIATED,
     5,
     2e-10},
    {"a contact that presses and slides at 1e12",
     3,
     1,
     {{.kind = MECH_SET_CONE, .rows = 3, .mu = 0.5}},
     {1., 0., 0., 0., 1., 0., 0., 0., 1.},
     {-1., 1e12, 0.},
     {1., -0.5},
     MECH_COULOMB,
     3,
     2e-10},
    {"a contact without friction that presses and slides",
     3,
     1,
     {{.kind = MECH_SET_CONE, .rows = 3}},
     {1., 0., 0., 0., 1., 0., 0., 0., 1.},
     {-1., 1e12, 0.},
     {1.},
     MECH_COULOMB,
     5,
     2e-10},
    {"a contact that hardly presses and slides, beside one that presses more",
     4,
     2,
     {PLANE(0.5), PLANE(0.5)},
     {1., 0., 0.1, 0., 0., 1., 0., 0., 0.1, 0., 1., 0., 0., 0., 0., 1.},
     {-1e-30, 1e6, -1e-5, 0.},
     {0., 0., 1e-5},
     MECH_COULOMB,
     5,
     2e-10},
    {"contacts that press and slide, beside one that sticks",
     6,
     3,
     {PLANE(0.5), PLANE(0.5), PLANE(0.5)},
     {1., 0., 0.1, 0., 0., 0., 0., 1., 0., 0., 0., 0., 0.1, 0., 1., 0., 0., 0.,
      0., 0., 0.,  1., 0., 0., 0., 0., 0., 0., 1., 0., 0.,  0., 0., 0., 0., 1.},
     {-1.1, 1e10, -1.1, -1e8, -1., 0.25},
     {1., -0.5, 1., 0.5, 1., -0.25},
     MECH_COULOMB,
     3,
     2e-10},
    /* the fixed point of De Saxcé's shift does not settle; l_N by the miss over 13 − 10 */
    {"a contact with much friction that slides",
     2,
     1,
     {PLANE(10.)},
     {13., 1., 1., 5.},
     {-3., 53.},
     {1., -10.},
     MECH_COULOMB,
     8,
     2e-9},
};
#undef PLANE
/* Two rows of different masses or speeds, the solution, and the iterations that admm may take. */
static const struct {
    double N[4], r[2], l[2];
    int32_t iterations;
} uneven[] = {
    {{1e6, 100., 100., 1.}, {1e3, -1.}, {0., 1.}, 1000},
    {{1., 0.1, 0.1, 1.}, {-1., 1e6}, {1., 0.}, 100},
    {{1., 0.1, 0.1, 1.}, {-1., 1e12}, {1., 0.}, 100},
};

/* a light contact beside a heavy one that opens, and contacts that open fast */
static void alternating_directions_settle_on_a_step_length(void)
{
    for (size_t k = 0; k < sizeof uneven / sizeof *uneven; k++) {
        double values[4], l[2] = {0.};
        const struct mech_mat N = {
            .kind = MECH_MAT_DENSE, .rows = 2, .cols = 2, .symmetric = true, .values = values};
        const struct mech_set set = {.kind = MECH_SET_UNILATERAL, .rows = 1};
        const struct mech_set sets[2] = {set, set};
        const struct mech_problem p = {.m = 2, .N = &N, .r = uneven[k].r, .sets = sets, .count = 2};
        const struct mech_vi_limits limits = {.tolerance = 1e-10,
                                              .max_iterations = uneven[k].iterations};
        struct mech_vi_result result;

        memcpy(values, uneven[k].N, sizeof values);
        CU_ASSERT_EQUAL(mech_vi_solve("admm", &p, &limits, l, &result), 0);
        CHECK_NEAR(l[0], uneven[k].l[0], 2e-10);
        CHECK_NEAR(l[1], uneven[k].l[1], 2e-10);
    }
}

static void check_known(const struct known *k, const char *name, int *solved)
{
    double values[ROWS * ROWS], l[ROWS] = {0.}, most = 0.;
    const struct mech_mat N = {
        .kind = MECH_MAT_DENSE, .rows = k->m, .cols = k->m, .symmetric = true, .values = values};
    const struct mech_problem p = {
        .m = k->m, .N = &N, .r = k->r, .sets = k->sets, .count = k->count, .friction = k->friction};
    const struct mech_vi_limits limits = {.tolerance = 1e-10, .max_iterations = 20000};
    struct mech_vi_result result;

    memcpy(values, k->N, sizeof values); /* of a symmetric N, rows are columns */
    for (int32_t i = 0; i < k->m; i++) {
        most = fmax(most, fabs(k->l[i]));
    }
    if (mech_vi_solve(name, &p, &limits, l, &result) != 0) {
        return;
    }
    ++*solved;
    for (int32_t i = 0; i < k->m; i++) {
        const double off = fabs(l[i] - k->l[i]);

        if (!(off <= k->off * most)) {
            fprintf(stderr, "%s: %s, l[%d] = %.17g\n", k->name, result.solver, i, l[i]);
        }
        CU_ASSERT(off <= k->off * most);
    }
}

static void known_solutions_are_found_or_nothing_is(void)
{
    for (size_t k = 0; k < sizeof knowns / sizeof *knowns; k++) {
        int solved = 0;

        check_known(&knowns[k], NULL, &solved);
        if (solved != 1) {
            fprintf(stderr, "%s: not by the chain\n", knowns[k].name);
        }
        CU_ASSERT(solved == 1);
        for (const struct mech_vi_type *const *t = mech_vi_types; *t; t++) {
            check_known(&knowns[k], (*t)->name, &solved);
        }
        if (solved < knowns[k].solved) {
            fprintf(stderr, "%s: %d solved\n", knowns[k].name, solved);
        }
        CU_ASSERT(solved >= knowns[k].solved);
    }
}

UNIT_TESTS(UNIT_TEST(alternating_directions_settle_on_a_step_length),
           UNIT_TEST(known_solutions_are_found_or_nothing_is))
