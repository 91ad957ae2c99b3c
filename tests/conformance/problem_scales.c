/* Every complementarity solver on one problem in other units: impulses times a mass, arms of
 * torques times a length. What is solved in one is solved in all, with the same speeds. */
#include "solver/base/err.h"
#include "solver/vi/chain.h"
#include "tests/unit/unit.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SETS = 12, MOST = 6 * SETS };

/* the members of a family of problems */
enum family { INTERVALS, CONES, ROLLING };

static double random_of(uint32_t *seed)
{
    *seed = *seed * 1664525u + 1013904223u;
    return (double)(*seed >> 8) / 8388608. - 1.;
}

struct posed {
    double N[MOST * MOST], r[MOST];
    struct mech_set sets[SETS];
    struct mech_mat mat;
    struct mech_problem problem;
};

static struct mech_set set_of(enum family family, int32_t i, double mass, double length)
{
    static const enum mech_set_kind intervals[] = {MECH_SET_UNILATERAL, MECH_SET_BILATERAL,
                                                   MECH_SET_BOX};

    if (family == INTERVALS) {
        return (struct mech_set){
            .kind = intervals[i % 3], .rows = 1, .lower = -0.3 * mass, .upper = 0.2 * mass};
    }
    return family == CONES ? (struct mech_set){.kind = MECH_SET_CONE, .rows = 3, .mu = 0.3}
                           : (struct mech_set){.kind = MECH_SET_ROLLING,
                                               .rows = 6,
                                               .mu = 0.3,
                                               .spinning = 0.05 * length,
                                               .rolling = 0.1 * length};
}

/* N = A Aᵀ + ½ of random A, impulses in `mass` as many units, lengths in `length` as many */
static void pose(struct posed *p, enum family family, enum mech_friction friction, double mass,
                 double length)
{
    double A[MOST][MOST], by[MOST];
    uint32_t seed = 7;
    int32_t m = 0;

    memset(p, 0, sizeof *p);
    for (int32_t i = 0; i < SETS; i++) {
        p->sets[i] = set_of(family, i, mass, length);
        for (int32_t k = 0; k < p->sets[i].rows; k++) {
            by[m++] = k < 3 ? 1. : 1. / length;
        }
    }
    for (int32_t i = 0; i < m; i++) {
        p->r[i] = random_of(&seed) * by[i];
        for (int32_t j = 0; j < m; j++) {
            A[i][j] = random_of(&seed);
        }
    }
    for (int32_t i = 0; i < m; i++) {
        for (int32_t j = 0; j < m; j++) {
            double sum = i == j ? 0.5 : 0.;

            for (int32_t k = 0; k < m; k++) {
                sum += A[i][k] * A[j][k] / m;
            }
            p->N[j * m + i] = sum * by[i] * by[j] / mass;
        }
    }
    p->mat = (struct mech_mat){
        .kind = MECH_MAT_DENSE, .rows = m, .cols = m, .symmetric = true, .values = p->N};
    p->problem = (struct mech_problem){
        .m = m, .N = &p->mat, .r = p->r, .sets = p->sets, .count = SETS, .friction = friction};
}

static int solved(const struct posed *p, const char *name, double *c, struct mech_vi_result *out)
{
    const struct mech_vi_limits limits = {.tolerance = 1e-10, .max_iterations = 20000};
    double l[MOST] = {0.};
    const int code = mech_vi_solve(name, &p->problem, &limits, l, out);

    mech_problem_speed(&p->problem, l, c);
    return code;
}

/* Speeds of `name` in other units beside those in the first. */
static void compare(const char *name, enum family family, enum mech_friction friction)
{
    static const double scales[][2] = {{1e-12, 1.}, {1e-9, 1.}, {1e9, 1.},   {1e12, 1.},
                                       {1., 1e-9},  {1., 1e9},  {1e9, 1e-9}, {1e-9, 1e9}};
    static struct posed p;
    struct mech_vi_result result;
    double here[MOST], there[MOST];

    pose(&p, family, friction, 1., 1.);
    const int code = solved(&p, name, here, &result);

    if (code == MECH_UNSUPPORTED) {
        return;
    }
    for (size_t k = 0; k < sizeof scales / sizeof *scales; k++) {
        if (!unit_case((int)k)) {
            continue;
        }
        const double mass = scales[k][0], length = scales[k][1];
        /* the others take one step for forces and torques: they may say that this does not do */
        const bool may_refuse = length != 1. && name && strcmp(name, "psor") != 0;
        double off = 0.;
        int32_t row = 0;

        pose(&p, family, friction, mass, length);
        const int other = solved(&p, name, there, &result);

        for (int32_t i = 0; i < SETS; row += p.sets[i].rows, i++) {
            for (int32_t j = 0; j < p.sets[i].rows; j++) {
                const double by = j < 3 ? 1. : length;

                off = fmax(off, fabs(there[row + j] * by - here[row + j]));
            }
        }
        const bool solved = code == 0 && other == 0;
        const bool same = solved ? off <= 1e-8 : code == other || (code == 0 && may_refuse);

        CU_ASSERT(same);
        if (!same) {
            fprintf(stderr, "%s, family %d, law %d, mass %g, length %g: codes %d %d, off by %.3g\n",
                    name ? name : "default", (int)family, (int)friction, mass, length, code, other,
                    off);
        }
    }
}

static void problems_have_the_same_speeds_in_all_units(void)
{
    for (int family = INTERVALS; family <= ROLLING; family++) {
        for (int law = MECH_COULOMB; law <= MECH_ASSOCIATED; law++) {
            compare(NULL, (enum family)family, (enum mech_friction)law);
            for (int i = 0; mech_vi_types[i]; i++) {
                compare(mech_vi_types[i]->name, (enum family)family, (enum mech_friction)law);
            }
        }
    }
}

UNIT_TESTS(UNIT_TEST(problems_have_the_same_speeds_in_all_units))
