/* Every complementarity solver on problems with friction: published ones, closed forms, random
 * piles, redundant contacts. What a solver calls solved meets the tolerance for the law that was
 * asked for, and solvers that converge agree on velocities (reactions need not be unique). */
#include "solver/base/err.h"
#include "solver/vi/vi.h"
#include "tests/unit/alloc_count.h"
#include "tests/unit/unit.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 1600, SETS = 520 };

struct pile {
    struct mech_arena arena;
    struct mech_mat N;
    struct mech_set sets[SETS];
    double r[MOST];
    struct mech_problem problem;
};

struct solved {
    int code;
    struct mech_vi_result result;
    double l[MOST], c[MOST];
};

static double norm(const double *x, int32_t n)
{
    double sum = 0.;

    for (int32_t i = 0; i < n; i++) {
        sum += x[i] * x[i];
    }
    return sqrt(sum);
}

/* the problem gets its N from triplets; freed with the arena */
static void pose(struct pile *p, int32_t m, int32_t count, struct mech_triplet *t, size_t entries)
{
    struct mech_mat leanest;

    CU_ASSERT_EQUAL_FATAL(mech_mat_from_triplets(&p->arena, m, m, t, entries, &leanest), 0);
    CU_ASSERT_EQUAL_FATAL(
        mech_mat_convert(&p->arena, &leanest, m > 200 ? MECH_MAT_CSC : MECH_MAT_DENSE, &p->N), 0);
    p->problem = (struct mech_problem){
        .m = m, .N = &p->N, .r = p->r, .sets = p->sets, .count = count, .friction = MECH_COULOMB};
}

static FILE *open_golden(const char *name)
{
    char path[512];
    int c;

    snprintf(path, sizeof path, "%s/golden/friction/%s.txt", MECH_TESTS_FOLDER, name);
    FILE *const f = fopen(path, "r");
    CU_ASSERT_PTR_NOT_NULL_FATAL(f);
    /* comments come first */
    while ((c = fgetc(f)) == '#') {
        while ((c = fgetc(f)) != '\n' && c != EOF) {
        }
    }
    ungetc(c, f);
    return f;
}

static double number(FILE *f)
{
    double x = NAN;

    CU_ASSERT_EQUAL_FATAL(fscanf(f, "%lf", &x), 1);
    return x;
}

static void read_pile(const char *name, struct pile *p)
{
    FILE *const f = open_golden(name);
    const int32_t rows = (int32_t)number(f), contacts = (int32_t)number(f), m = rows * contacts;
    const size_t entries = (size_t)number(f);

    mech_arena_init(&p->arena, 0);
    struct mech_triplet *const t = mech_arena_alloc(&p->arena, entries, sizeof *t);

    CU_ASSERT_FATAL(m <= MOST && contacts <= SETS && t);
    for (size_t k = 0; k < entries; k++) {
        t[k].row = (int32_t)number(f);
        t[k].col = (int32_t)number(f);
        t[k].value = number(f);
    }
    for (int32_t i = 0; i < m; i++) {
        p->r[i] = number(f);
    }
    for (int32_t i = 0; i < contacts; i++) {
        p->sets[i] = (struct mech_set){.kind = MECH_SET_CONE, .rows = rows, .mu = number(f)};
    }
    fclose(f);
    pose(p, m, contacts, t, entries);
}

static void run(const struct mech_vi_type *t, const struct mech_problem *p, double tolerance,
                int32_t most, struct solved *s)
{
    const struct mech_vi_limits limits = {.tolerance = tolerance, .max_iterations = most};
    void *self = NULL;

    memset(s, 0, sizeof *s);
    CU_ASSERT_EQUAL_FATAL(t->create(p->m, &self), 0);
    alloc_count_start();
    s->code = t->solve(self, p, &limits, s->l, &s->result);
    CU_ASSERT_EQUAL(alloc_count_stop(), 0);
    t->destroy(self);
    mech_problem_speed(p, s->l, s->c);
    for (int32_t i = 0; i < p->m; i++) {
        CU_ASSERT(isfinite(s->l[i]));
    }
    /* whatever it says, it says the truth */
    if (s->code == 0) {
        CU_ASSERT(mech_problem_residual(p, s->l, s->c) <= tolerance);
        CU_ASSERT_STRING_EQUAL(s->result.solver, t->name);
    } else {
        CU_ASSERT(s->code == MECH_VI_NOT_CONVERGED || s->code == MECH_SINGULAR ||
                  s->code == MECH_UNSUPPORTED);
    }
    if (getenv("MECHD_TESTS_VERBOSE")) {
        printf("  %-10s m %4d  code %d  iterations %6d  residual %.2e\n", t->name, p->m, s->code,
               s->result.iterations, s->result.residual);
    }
}

static void the_published_problems_come_out_as_published(void)
{
    static const struct {
        const char *name, *solver;
        double l, u; /* norms of the solution, 0: not published */
        int32_t iterations;
    } facts[] = {
        {"rover", "nsgs", 54.379377, 0., 40},           {"rover", "semismooth", 54.379377, 0., 100},
        {"confeti", "nsgs", 0., 34.1944, 200},          {"confeti", "semismooth", 0., 34.1944, 200},
        {"one_object", "semismooth", 0., 1.30701, 200}, {"spheres", "nsgs", 0., 0., 2000},
        {"three_contacts", "nsgs", 0., 0., 100}};
    static struct pile p;
    static struct solved s;

    for (size_t k = 0; k < sizeof facts / sizeof *facts; k++) {
        read_pile(facts[k].name, &p);
        run(mech_vi_find(facts[k].solver), &p.problem, 1e-10, facts[k].iterations, &s);
        CU_ASSERT_EQUAL(s.code, 0);
        if (facts[k].l > 0.) {
            CHECK_NEAR(norm(s.l, p.problem.m), facts[k].l, 1e-6); /* published to that */
        }
        if (facts[k].u > 0.) {
            CHECK_NEAR(norm(s.c, p.problem.m), facts[k].u, 6e-5 * facts[k].u);
        }
        mech_arena_fini(&p.arena);
    }
}

/* every member on every published problem, both laws: velocities agree within a law */
static void solvers_that_converge_agree_on_velocities(void)
{
    static const char *const names[] = {"rover", "confeti", "one_object", "spheres",
                                        "three_contacts"};
    static struct pile p;
    static struct solved s, first;

    for (size_t k = 0; k < 2 * sizeof names / sizeof *names; k++) {
        bool found = false;

        read_pile(names[k / 2], &p);
        p.problem.friction = k % 2 ? MECH_ASSOCIATED : MECH_COULOMB;
        for (const struct mech_vi_type *const *t = mech_vi_types; *t; t++) {
            run(*t, &p.problem, 1e-10, 3000, &s);
            if (s.code != 0) {
                continue;
            }
            first = found ? first : s;
            found = true;
            for (int32_t i = 0; i < p.problem.m; i++) {
                CHECK_NEAR(s.c[i], first.c[i], 1e-5 * norm(first.c, p.problem.m) + 1e-9);
            }
        }
        CU_ASSERT(found);
        mech_arena_fini(&p.arena);
    }
}

/* one sphere slides, a step of 5 ms: m = 1, r = 0.5, J = 0.4 m r², v0 = 1, μ = 0.4, g = 9.81 */
static void sphere(struct pile *p)
{
    const double h = 0.005, g = 9.81, lever = 0.25 / (0.4 * 0.25);
    struct mech_triplet t[3] = {{0, 0, 1.}, {1, 1, 1. + lever}, {2, 2, 1. + lever}};

    mech_arena_init(&p->arena, 0);
    p->sets[0] = (struct mech_set){.kind = MECH_SET_CONE, .rows = 3, .mu = 0.4};
    p->r[0] = -g * h;
    p->r[1] = 1.;
    p->r[2] = 0.;
    pose(p, 3, 1, t, 3);
}

static void a_sliding_sphere_follows_its_law(void)
{
    static struct pile p;
    static struct solved s;

    sphere(&p);
    for (const struct mech_vi_type *const *t = mech_vi_types; *t; t++) {
        if (!((*t)->kinds & 1u << MECH_SET_CONE)) {
            continue;
        }
        p.problem.friction = MECH_ASSOCIATED;
        run(*t, &p.problem, 1e-12, 20000, &s);
        CU_ASSERT_EQUAL(s.code, 0);
        CHECK_NEAR(s.l[0], 0.287853, 5e-7);
        CHECK_NEAR(1. + s.l[1], 0.884859, 5e-7);      /* v_x */
        CHECK_NEAR(s.l[0] - 0.04905, 0.238803, 5e-7); /* v_z: it rises */
        p.problem.friction = MECH_COULOMB;
        run(*t, &p.problem, 1e-13, 20000, &s);
        CU_ASSERT_EQUAL(s.code, 0);
        CHECK_NEAR(1. + s.l[1], 0.980380, 1e-12);
        CHECK_NEAR(s.c[0], 0., 1e-12);
        CHECK_NEAR(-s.l[1] / 0.4, 0.04905, 1e-12); /* ω r */
    }
    mech_arena_fini(&p.arena);
}

/* uniform in −1 … 1, xorshift */
static double uniform(uint64_t *seed)
{
    *seed ^= *seed << 13;
    *seed ^= *seed >> 7;
    *seed ^= *seed << 17;
    return (double)(*seed >> 11) / 4503599627370496. - 1.;
}

/* contacts between random pairs of `bodies` points in space and the ground, N = G Gᵀ with random
 * frames; weights pull down */
static void random_pile(struct pile *p, int32_t contacts, int32_t bodies, uint64_t seed)
{
    static double G[SETS][3][2][3]; /* rows, one of two bodies, direction */
    static double fall[SETS][3];    /* free velocities of the bodies */
    static int32_t body[SETS][2];
    size_t entries = 0;

    mech_arena_init(&p->arena, 0);
    struct mech_triplet *const t =
        mech_arena_alloc(&p->arena, (size_t)contacts * (size_t)contacts * 9, sizeof *t);
    CU_ASSERT_PTR_NOT_NULL_FATAL(t);
    for (int32_t i = 0; i < bodies; i++) {
        for (int k = 0; k < 3; k++) {
            fall[i][k] = 0.3 * uniform(&seed) - (k == 2 ? 1. : 0.);
        }
    }
    for (int32_t i = 0; i < contacts; i++) {
        body[i][0] = i % bodies;
        body[i][1] = (int32_t)(0.5 * (uniform(&seed) + 1.) * bodies);
        body[i][1] = i < bodies || body[i][1] == body[i][0] ? -1 : body[i][1];
        p->sets[i] = (struct mech_set){
            .kind = MECH_SET_CONE, .rows = 3, .mu = 0.2 + 0.3 * fabs(uniform(&seed))};
        double a = 3.14 * uniform(&seed), z = body[i][1] < 0 ? 1. : uniform(&seed);
        const double s = sqrt(1. - z * z), n[3] = {s * cos(a), s * sin(a), z};
        const double u[3] = {-sin(a), cos(a), 0.};
        const double w[3] = {n[1] * u[2] - n[2] * u[1], n[2] * u[0] - n[0] * u[2],
                             n[0] * u[1] - n[1] * u[0]};
        for (int k = 0; k < 3; k++) {
            const double row[3] = {n[k], u[k], w[k]};

            for (int r = 0; r < 3; r++) {
                G[i][r][0][k] = row[r];
                G[i][r][1][k] = -row[r];
            }
        }
        for (int r = 0; r < 3; r++) {
            p->r[3 * i + r] = 0.;
            for (int k = 0; k < 6; k++) {
                const int32_t b = body[i][k / 3];

                p->r[3 * i + r] += b < 0 ? 0. : G[i][r][k / 3][k % 3] * fall[b][k % 3];
            }
        }
    }
    for (int32_t i = 0; i < contacts; i++) {
        for (int32_t j = 0; j < contacts; j++) {
            for (int k = 0; k < 9; k++) {
                double sum = 0.;
                bool meet = false;

                for (int a = 0; a < 4; a++) {
                    const int32_t b = body[i][a / 2];

                    if (b >= 0 && b == body[j][a % 2]) {
                        meet = true;
                        for (int d = 0; d < 3; d++) {
                            sum += G[i][k / 3][a / 2][d] * G[j][k % 3][a % 2][d];
                        }
                    }
                }
                if (meet) {
                    t[entries++] = (struct mech_triplet){3 * i + k / 3, 3 * j + k % 3, sum};
                }
            }
        }
    }
    pose(p, 3 * contacts, contacts, t, entries);
}

/* More rows than velocities. Under Coulomb's law such a pile may have several solutions; under the
 * associated one velocities are unique, and an error of the energy of residual × ‖l‖ leaves an
 * error of the velocities of the order of its root. */
static void check_pile(struct pile *p, double tolerance)
{
    static struct solved s, first;
    int32_t good = 0;

    for (const struct mech_vi_type *const *t = mech_vi_types; *t; t++) {
        const bool dense = strcmp((*t)->name, "semismooth") == 0 || strcmp((*t)->name, "admm") == 0;

        if (p->problem.m > 1000 && dense) {
            continue; /* their factors take seconds there */
        }
        run(*t, &p->problem, tolerance, 6000, &s);
        if (s.code != 0) {
            continue;
        }
        first = good++ == 0 ? s : first;
        for (int32_t i = 0; i < p->problem.m && p->problem.friction == MECH_ASSOCIATED; i++) {
            CHECK_NEAR(s.c[i], first.c[i], sqrt(tolerance) * norm(p->r, p->problem.m));
        }
    }
    CU_ASSERT(good >= 3);
}

static void piles_are_solved_or_said_to_fail(void)
{
    static struct pile p;
    static const struct {
        int32_t contacts, bodies;
        double tolerance;
    } piles[] = {{4, 3, 1e-9}, {30, 12, 1e-8}, {60, 25, 1e-7}, {500, 250, 1e-4}};

    for (size_t k = 0; k < sizeof piles / sizeof *piles && unit_case((int)k); k++) {
        random_pile(&p, piles[k].contacts, piles[k].bodies, 4242 + k);
        p.problem.friction = MECH_COULOMB;
        check_pile(&p, piles[k].tolerance);
        p.problem.friction = MECH_ASSOCIATED;
        check_pile(&p, piles[k].tolerance);
        mech_arena_fini(&p.arena);
    }
}

/* two contacts at one place share a load that one would carry */
static void a_contact_that_stands_twice_is_solved(void)
{
    static struct pile p;
    static struct solved s;
    struct mech_triplet t[12];
    size_t n = 0;

    mech_arena_init(&p.arena, 0);
    for (int32_t k = 0; k < 12; k++) {
        const int32_t row = k / 4 + 3 * (k % 2), col = k / 4 + 3 * (k / 2 % 2);

        t[n++] = (struct mech_triplet){row, col, 2.};
    }
    for (int32_t i = 0; i < 2; i++) {
        p.sets[i] = (struct mech_set){.kind = MECH_SET_CONE, .rows = 3, .mu = 0.5};
        p.r[3 * i] = -1.;
        p.r[3 * i + 1] = 2.;
        p.r[3 * i + 2] = 0.;
    }
    pose(&p, 6, 2, t, n);
    for (const struct mech_vi_type *const *type = mech_vi_types; *type; type++) {
        if (!((*type)->kinds & 1u << MECH_SET_CONE)) {
            continue;
        }
        run(*type, &p.problem, 1e-10, 20000, &s);
        CU_ASSERT_EQUAL(s.code, 0);
        CHECK_NEAR(s.l[0] + s.l[3], 0.5, 1e-9);
        CHECK_NEAR(s.c[1], 2. - 0.5, 1e-8); /* friction μ N = 0.25 on 2 */
        CHECK_NEAR(s.c[0], 0., 1e-9);
    }
    mech_arena_fini(&p.arena);
}

/* a mixed problem with its system: five spheres, the associated law; w is unique */
static void a_stack_comes_out_as_published(void)
{
    static double H[64], G[64][64], b[64], f[64], w[64];
    static struct pile p;
    static struct solved s;
    static struct mech_triplet t[64 * 64];
    FILE *const file = open_golden("stack");
    const int32_t n = (int32_t)number(file), m = (int32_t)number(file);
    const int32_t entries = (int32_t)number(file);
    size_t count = 0;

    for (int32_t i = 0; i < n; i++) {
        H[i] = number(file);
    }
    for (int32_t k = 0; k < entries; k++) {
        const int32_t row = (int32_t)number(file), col = (int32_t)number(file);

        G[row][col] = number(file);
    }
    for (int32_t i = 0; i < n; i++) {
        f[i] = number(file);
    }
    for (int32_t i = 0; i < m; i++) {
        b[i] = number(file);
    }
    for (int32_t i = 0; i < m / 3; i++) {
        p.sets[i] = (struct mech_set){.kind = MECH_SET_CONE, .rows = 3, .mu = number(file)};
    }
    for (int32_t i = 0; i < n; i++) {
        w[i] = number(file);
    }
    fclose(file);
    mech_arena_init(&p.arena, 0);
    for (int32_t i = 0; i < m; i++) {
        p.r[i] = b[i];
        for (int32_t k = 0; k < n; k++) {
            p.r[i] += G[i][k] * f[k] / H[k];
        }
        for (int32_t j = 0; j < m; j++) {
            double sum = 0.;

            for (int32_t k = 0; k < n; k++) {
                sum += G[i][k] * G[j][k] / H[k];
            }
            t[count++] = (struct mech_triplet){i, j, sum};
        }
    }
    pose(&p, m, m / 3, t, count);
    p.problem.friction = MECH_ASSOCIATED;
    for (const struct mech_vi_type *const *type = mech_vi_types; *type; type++) {
        run(*type, &p.problem, 1e-11, 50000, &s);
        if (!((*type)->kinds & 1u << MECH_SET_CONE)) {
            CU_ASSERT_EQUAL(s.code, MECH_UNSUPPORTED);
            continue;
        }
        CU_ASSERT_EQUAL(s.code, 0);
        for (int32_t k = 0; k < n && s.code == 0; k++) {
            double v = f[k];

            for (int32_t i = 0; i < m; i++) {
                v += G[i][k] * s.l[i];
            }
            CHECK_NEAR(v / H[k], w[k], 1e-9);
        }
    }
    mech_arena_fini(&p.arena);
}

UNIT_TESTS(UNIT_TEST(the_published_problems_come_out_as_published),
           UNIT_TEST(solvers_that_converge_agree_on_velocities),
           UNIT_TEST(a_sliding_sphere_follows_its_law), UNIT_TEST(piles_are_solved_or_said_to_fail),
           UNIT_TEST(a_contact_that_stands_twice_is_solved),
           UNIT_TEST(a_stack_comes_out_as_published))
