/* A certificate is returned where a problem has no solution, never where it has one. */
#include "solver/vi/certificate.h"

#include "tests/unit/unit.h"

#include <math.h>
#include <string.h>

enum { MOST = 24 };
static const double tolerance = 1e-10;

struct posed {
    double N[MOST * MOST], r[MOST];
    struct mech_set sets[MOST];
    struct mech_mat matrix;
    struct mech_problem problem;
};

static void pose(struct posed *p, int32_t m, struct mech_set set, enum mech_friction friction)
{
    p->matrix = (struct mech_mat){
        .kind = MECH_MAT_DENSE, .rows = m, .cols = m, .symmetric = true, .values = p->N};
    for (int32_t i = 0; i < m / set.rows; i++) {
        p->sets[i] = set;
    }
    p->problem = (struct mech_problem){.m = m,
                                       .N = &p->matrix,
                                       .r = p->r,
                                       .sets = p->sets,
                                       .count = m / set.rows,
                                       .friction = friction};
}

static const struct mech_set row = {.kind = MECH_SET_UNILATERAL, .rows = 1};
static const struct mech_set even = {.kind = MECH_SET_BILATERAL, .rows = 1};
static const struct mech_set rough = {.kind = MECH_SET_CONE, .rows = 3, .mu = 0.4};

static double uniform(uint64_t *seed)
{
    *seed ^= *seed << 13;
    *seed ^= *seed >> 7;
    *seed ^= *seed << 17;
    return (double)(*seed >> 11) / 4503599627370496. - 1.;
}

/* By the definition: what Nᵀ d lacks of −K* beside −r·d, for rows without friction. */
static void check(const struct posed *p, const double *d)
{
    const size_t m = (size_t)p->problem.m;
    double fall = 0., lacks = 0.;

    for (size_t j = 0; j < m; j++) {
        double u = 0.;

        for (size_t i = 0; i < m; i++) {
            u += p->N[j * m + i] * d[i];
        }
        fall += p->r[j] * d[j];
        if (p->sets[0].kind == MECH_SET_BILATERAL) {
            lacks = fmax(lacks, fabs(u));
        } else if (p->sets[0].kind == MECH_SET_UNILATERAL) {
            lacks = fmax(lacks, u);
            CU_ASSERT(d[j] >= 0.);
        }
    }
    CU_ASSERT(fall < 0.);
    CU_ASSERT(lacks <= 1e-5 * -fall);
}

/* a body of mass 1 between two walls that close, and one that nothing touches */
static void closing_walls_are_named(void)
{
    static struct posed p;
    double l[3] = {0.}, d[3];

    memset(&p, 0, sizeof p);
    pose(&p, 3, row, MECH_COULOMB);
    p.N[0] = p.N[4] = p.N[8] = 1.;
    p.N[1] = p.N[3] = -1.;
    p.r[0] = -0.5;
    p.r[1] = 0.2;
    p.r[2] = -3.;
    CU_ASSERT_EQUAL_FATAL(mech_certificate_find(&p.problem, tolerance, NULL, l, d), 1);
    check(&p, d);
    CHECK_NEAR(d[0], 1., 1e-5);
    CHECK_NEAR(d[1], 1., 1e-5);
    CHECK_NEAR(d[2], 0., 0.);
    /* they open as fast as they close */
    p.r[1] = 0.5;
    CU_ASSERT_EQUAL(mech_certificate_find(&p.problem, tolerance, NULL, l, d), 0);
}

/* as before, of a matrix by its columns without the zeros */
static void a_sparse_matrix_has_the_same_certificate(void)
{
    static struct posed p;
    double values[] = {1., -1., -1., 1., 1.}, l[3] = {0.}, d[3];
    int32_t colptr[] = {0, 2, 4, 5}, rowind[] = {0, 1, 0, 1, 2};

    memset(&p, 0, sizeof p);
    pose(&p, 3, row, MECH_COULOMB);
    p.matrix.kind = MECH_MAT_CSC;
    p.matrix.values = values;
    p.matrix.colptr = colptr;
    p.matrix.rowind = rowind;
    p.r[0] = -0.5;
    p.r[1] = 0.2;
    p.r[2] = -3.;
    CU_ASSERT_EQUAL_FATAL(mech_certificate_find(&p.problem, tolerance, NULL, l, d), 1);
    p.N[0] = p.N[4] = p.N[8] = 1.;
    p.N[1] = p.N[3] = -1.;
    check(&p, d);
    p.r[1] = 0.5;
    CU_ASSERT_EQUAL(mech_certificate_find(&p.problem, tolerance, NULL, l, d), 0);
}

/* the same with friction, by both laws, from a start that lies in a tangent */
static void friction_does_not_hold_walls_back(void)
{
    for (int friction = 0; friction < 2; friction++) {
        static struct posed p;
        double l[6] = {0., 7., -2., 1., 3., 0.}, d[6];

        memset(&p, 0, sizeof p);
        pose(&p, 6, rough, (enum mech_friction)friction);
        for (size_t k = 0; k < 6; k++) {
            p.N[k * 6 + k] = k % 3 ? 3.5 : 1.;
        }
        p.N[3] = p.N[18] = -1.;
        p.r[0] = p.r[3] = -0.1;
        p.r[1] = 0.3;
        CU_ASSERT_EQUAL_FATAL(mech_certificate_find(&p.problem, tolerance, NULL, l, d), 1);
        CHECK_NEAR(d[0], 1., 1e-4);
        CHECK_NEAR(d[3], 1., 1e-4);
        CHECK_NEAR(d[1], 0., 1e-4);
    }
}

/* Walls at an angle of 2^-20 leave a body between them a way out, by forces of 2^41 while it slides
 * at 1e12: a solution if r is exact, and rounding of the slide if it is not. */
static void the_rounding_decides_what_large_forces_part(void)
{
    static const struct mech_set plane = {.kind = MECH_SET_CONE, .rows = 2, .mu = 0.125};

    for (int rounded = 0; rounded < 2; rounded++) {
        static struct posed p;
        double l[4] = {1., 0., 1., 0.}, d[4];

        memset(&p, 0, sizeof p);
        pose(&p, 4, plane, MECH_COULOMB);
        p.problem.rounding = rounded ? MECH_PROBLEM_ROUNDING : 0.;
        p.N[0] = 1.;
        p.N[10] = 1. + 0x1p-40;
        p.N[2] = p.N[8] = -1.;
        p.N[5] = p.N[7] = p.N[13] = p.N[15] = 1.;
        p.r[0] = p.r[2] = -1.;
        p.r[1] = p.r[3] = 1e12;
        CU_ASSERT_EQUAL(mech_certificate_find(&p.problem, tolerance, NULL, l, d), rounded);
    }
}

/* A body of 1 between the floor and one of `mass`, which gravity pulls at 0.05 m/s, or a lid that
 * closes at 1e-7 m/s: what speaks against impulses of any size speaks against those of the lid. */
static void a_certificate_refutes_what_does_not_meet_it(void)
{
    static const double masses[] = {1e6, 1e9, 1e12, INFINITY};

    for (int k = 0; k < 4; k++) {
        static struct posed p;
        const double mass = masses[k], fall = 0.05, most = isfinite(mass) ? fall * mass : 1e9;
        const double l[2] = {most + fall, most}, d[2] = {1., 1.};
        const double less[2] = {0.9 * most, 0.9 * most};

        memset(&p, 0, sizeof p);
        pose(&p, 2, row, MECH_COULOMB);
        p.N[0] = 1.;
        p.N[1] = p.N[2] = -1.;
        p.N[3] = 1. + 1. / mass;
        p.r[0] = isfinite(mass) ? -fall : -1e-7;
        CU_ASSERT_EQUAL(mech_certificate_refutes(&p.problem, d, l), !isfinite(mass));
        CU_ASSERT(mech_certificate_refutes(&p.problem, d, less));
        CU_ASSERT_EQUAL(mech_certificate_refutes(&p.problem, d, NULL), !isfinite(mass));
    }
}

/* two rows that ask one velocity for two values */
static void rows_that_contradict_each_other_are_named(void)
{
    static struct posed p;
    double l[4] = {0.}, d[4];

    memset(&p, 0, sizeof p);
    pose(&p, 4, even, MECH_COULOMB);
    p.N[0] = p.N[1] = p.N[4] = p.N[5] = 2.;
    p.N[10] = p.N[15] = 1.;
    p.r[0] = 1.;
    p.r[1] = -1.;
    CU_ASSERT_EQUAL_FATAL(mech_certificate_find(&p.problem, tolerance, NULL, l, d), 1);
    check(&p, d);
    CHECK_NEAR(fabs(d[0]), 1., 1e-5);
    CHECK_NEAR(d[0] + d[1], 0., 1e-5);
    p.r[1] = 1.;
    CU_ASSERT_EQUAL(mech_certificate_find(&p.problem, tolerance, NULL, l, d), 0);
}

/* N = Gᵀ G of more rows than velocities, and r within its reach plus, or minus, what N never
 * gives: solvable by r = N l* + c*, and not by r·d < 0 of d ≥ 0 with N d = 0 */
static void random_problems_are_distinguished(void)
{
    for (uint64_t seed = 1; seed <= 60; seed++) {
        static struct posed p;
        uint64_t s = seed * 2654435761u;
        const int32_t m = 4 + (int32_t)(seed % 9) * 2, n = m / 2;
        double G[MOST][MOST] = {{0.}}, l[MOST] = {0.}, d[MOST], weight[MOST];
        const bool solvable = seed % 2;

        memset(&p, 0, sizeof p);
        pose(&p, m, row, MECH_COULOMB);
        for (int32_t i = 0; i < m; i++) {
            weight[i] = 1. + uniform(&s) * 0.5;
            for (int32_t k = 0; k < n; k++) {
                G[i][k] = uniform(&s);
            }
        }
        /* the last row balances all: Σ w_i G_i = 0 */
        for (int32_t k = 0; k < n; k++) {
            double sum = 0.;

            for (int32_t i = 0; i + 1 < m; i++) {
                sum += weight[i] * G[i][k];
            }
            G[m - 1][k] = -sum / weight[m - 1];
        }
        for (int32_t i = 0; i < m; i++) {
            p.r[i] = solvable && i % 2 ? fabs(uniform(&s)) : solvable ? 0. : -fabs(uniform(&s));
            for (int32_t j = 0; j < m; j++) {
                for (int32_t k = 0; k < n; k++) {
                    p.N[j * m + i] += G[i][k] * G[j][k];
                }
            }
        }
        for (int32_t j = 0; solvable && j < m; j += 2) {
            const double push = fabs(uniform(&s));

            for (int32_t i = 0; i < m; i++) {
                p.r[i] -= p.N[j * m + i] * push;
            }
        }
        CU_ASSERT_EQUAL(mech_certificate_find(&p.problem, tolerance, NULL, l, d), solvable ? 0 : 1);
        if (!solvable) {
            check(&p, d);
        }
    }
}

UNIT_TESTS(UNIT_TEST(closing_walls_are_named), UNIT_TEST(a_sparse_matrix_has_the_same_certificate),
           UNIT_TEST(friction_does_not_hold_walls_back),
           UNIT_TEST(a_certificate_refutes_what_does_not_meet_it),
           UNIT_TEST(the_rounding_decides_what_large_forces_part),
           UNIT_TEST(rows_that_contradict_each_other_are_named),
           UNIT_TEST(random_problems_are_distinguished))
