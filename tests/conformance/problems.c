/* Every complementarity solver on one set of problems: small ones with known solutions, zero
 * diagonals, hyperstatic and redundant contacts, 500 contacts. Each meets its tolerance or says
 * that it does not; nothing is NaN; velocities agree across those that converge, within one law of
 * friction; members that do without N are run with and without it.
 *
 * With MECHD_TESTS_VERBOSE set, the outcomes are printed as a table. */
#include "solver/base/err.h"
#include "solver/vi/chain.h"
#include "solver/vi/schur.h"
#include "tests/conformance/accepted.h"
#include "tests/unit/unit.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS = 1100, VELOCITIES = 900, SOLVERS = 32 };

/* c = G H⁻¹ Gᵀ l + r with a diagonal H, or, without velocities, a given N */
struct posed {
    struct mech_arena arena;
    int32_t m, n;
    double h[VELOCITIES], r[ROWS];
    struct mech_triplet t[8 * ROWS]; /* G, or N */
    size_t entries;
    struct mech_set sets[ROWS];
    int32_t count;
    struct mech_mat H, G, N;
    struct mech_schur_system *system;
};

static void entry(struct posed *p, int32_t row, int32_t col, double value)
{
    p->t[p->entries++] = (struct mech_triplet){row, col, value};
}

static void rows_of(struct posed *p, enum mech_set_kind kind, int32_t count, int32_t rows,
                    double mu)
{
    for (int32_t i = 0; i < count; i++) {
        p->sets[p->count++] = (struct mech_set){.kind = kind, .rows = rows, .mu = mu};
        p->m += rows;
    }
}

/* --- the problems ----------------------------------------------------------------------------- */

static void matrix_of_two(struct posed *p, const double N[4], double r0, double r1)
{
    for (int32_t k = 0; k < 4; k++) {
        entry(p, k / 2, k % 2, N[k]);
    }
    p->r[0] = r0;
    p->r[1] = r1;
    rows_of(p, MECH_SET_UNILATERAL, 2, 1, 0.);
}

static void exact(struct posed *p)
{
    matrix_of_two(p, (double[]){2., 1., 1., 2.}, -4., -5.); /* l = (1, 2) */
}

static void skew(struct posed *p)
{
    matrix_of_two(p, (double[]){0., 1., -1., 0.}, -1., 1.); /* l = (1, 1) */
}

static void zero_diagonal(struct posed *p)
{
    matrix_of_two(p, (double[]){0., 1., 1., 0.}, -1., -2.); /* l = (2, 1) */
}

/* a rigid table of 10 kg on four legs, 1 m apart: z and two turns carry four normal forces */
static void leg(struct posed *p, int32_t row, int32_t k)
{
    entry(p, row, 0, 1.);
    entry(p, row, 1, k / 2 ? 0.5 : -0.5);
    entry(p, row, 2, k % 2 ? -0.5 : 0.5);
}

static void four_legs(struct posed *p)
{
    p->n = 3;
    p->h[0] = 10.;
    p->h[1] = p->h[2] = 2.;
    for (int32_t k = 0; k < 4; k++) {
        leg(p, k, k);
        p->r[k] = -0.05 + 0.01 * k;
    }
    rows_of(p, MECH_SET_UNILATERAL, 4, 1, 0.);
}

/* the same with friction, shifted and turned: six velocities, twelve rows. Where the legs
 * slide in different directions, how they share the load decides the turn under Coulomb's law, and
 * they may share it in many ways. */
static void four_legs_with_friction(struct posed *p)
{
    p->n = 6;
    for (int32_t i = 0; i < 6; i++) {
        p->h[i] = i == 0 || i > 2 ? 10. : 2.;
    }
    p->h[5] = 3.; /* about the vertical */
    for (int32_t k = 0; k < 4; k++) {
        leg(p, 3 * k, k);
        for (int32_t j = 0; j < 2; j++) {
            /* the feet are 0.7 m below the centre */
            entry(p, 3 * k + 1 + j, 3 + j, 1.);
            entry(p, 3 * k + 1 + j, 2 - j, j ? 0.7 : -0.7);
            entry(p, 3 * k + 1 + j, 5, j ? (k % 2 ? 0.5 : -0.5) : (k / 2 ? -0.5 : 0.5));
        }
        p->r[3 * k] = -0.05;
        p->r[3 * k + 1] = 0.03 + (k / 2 ? 0.002 : -0.002);
        p->r[3 * k + 2] = k % 2 ? -0.002 : 0.002;
    }
    rows_of(p, MECH_SET_CONE, 4, 3, 0.4);
}

/* one body, one contact, three times over */
static void thrice(struct posed *p)
{
    p->n = 3;
    for (int32_t i = 0; i < 3; i++) {
        p->h[i] = 2.;
        for (int32_t k = 0; k < 3; k++) {
            entry(p, 3 * k + i, i, 1.);
            p->r[3 * k + i] = (const double[]){-0.05, 0.2, -0.1}[i];
        }
    }
    rows_of(p, MECH_SET_CONE, 3, 3, 0.5);
}

/* a chain of rods, and one more from end to end */
static void ring_of_rods(struct posed *p)
{
    p->n = 12;
    for (int32_t i = 0; i < p->n; i++) {
        p->h[i] = 1. + 0.1 * i;
    }
    for (int32_t i = 0; i < p->n; i++) {
        entry(p, i, i, 1.);
        entry(p, i, (i + 1) % p->n, -1.);
        p->r[i] += i + 1 < p->n ? 0.1 * (i % 3) : 0.;
        p->r[p->n - 1] -= i + 1 < p->n ? p->r[i] : 0.;
    }
    rows_of(p, MECH_SET_BILATERAL, p->n, 1, 0.);
}

static void broken_ring(struct posed *p)
{
    ring_of_rods(p);
    p->r[3] += 1.; /* the speeds around it do not add up to 0 */
}

static void chain_of_rods(struct posed *p)
{
    ring_of_rods(p);
    p->entries -= 2; /* without the last */
    p->m--;
    p->count--;
}

/* 16 × 16 discs of 0.1 m that touch below and beside: 496 contacts between, and 4 at one side;
 * three velocities each. They fall, and the upper half slides. */
static void wall(struct posed *p)
{
    enum { WIDE = 16, DISCS = WIDE * WIDE };
    int32_t row = 0;

    p->n = 3 * DISCS;
    for (int32_t i = 0; i < p->n; i++) {
        p->h[i] = i % 3 == 2 ? 0.5 * 0.01 : 1.;
    }
    for (int32_t i = 0; i < DISCS; i++) {
        const double slide = i / WIDE >= WIDE / 2 ? 0.01 * (i / WIDE) : 0.;

        for (int32_t side = 0; side < 2; side++) {
            const int32_t other = side ? i - 1 : i - WIDE;
            const bool alone = side ? i % WIDE == 0 : i < WIDE;
            const double there = !alone && other / WIDE >= WIDE / 2 ? 0.01 * (other / WIDE) : 0.;

            if (side && alone && i / WIDE >= 4) {
                continue;
            }
            /* normal x beside, y below; a turn of 1 rad/s moves the place of contact by 0.1 m/s */
            entry(p, row, 3 * i + !side, 1.);
            entry(p, row + 1, 3 * i + side, 1.);
            entry(p, row + 1, 3 * i + 2, side ? -0.1 : 0.1);
            if (!alone) {
                entry(p, row, 3 * other + !side, -1.);
                entry(p, row + 1, 3 * other + side, -1.);
                entry(p, row + 1, 3 * other + 2, side ? -0.1 : 0.1);
            }
            p->r[row] = side ? slide - there : alone ? -0.05 : 0.;
            p->r[row + 1] = side ? (alone ? -0.05 : 0.) : slide - there;
            row += 2;
        }
    }
    rows_of(p, MECH_SET_CONE, row / 2, 2, 0.3);
    CU_ASSERT_EQUAL(p->count, 500);
}

/* --- all of them ------------------------------------------------------------------------------ */

struct problem {
    const char *name;
    void (*fill)(struct posed *p);
    double tolerance;
    int32_t most;
    const char *must; /* members that have to solve it, under both laws; NULL: none can */
    bool many;        /* under Coulomb's law velocities need not be unique */
};

static const struct problem problems[] = {
    {"two rows", exact, 1e-12, 2000, "admm apgd barzilai jacobi lemke nsgs psor semismooth", false},
    {"skew matrix", skew, 1e-12, 2000, "lemke semismooth", false},
    {"zero diagonal", zero_diagonal, 1e-12, 2000, "semismooth", false},
    {"four legs", four_legs, 1e-12, 20000, "admm apgd barzilai jacobi lemke nsgs psor semismooth",
     false},
    {"four legs, friction", four_legs_with_friction, 1e-12, 50000,
     "admm apgd barzilai nsgs psor semismooth", true},
    {"one contact thrice", thrice, 1e-12, 50000, "admm apgd barzilai jacobi nsgs psor semismooth",
     false},
    {"chain of rods", chain_of_rods, 1e-12, 20000,
     "admm apgd barzilai bilateral lemke minres semismooth", false},
    {"ring of rods", ring_of_rods, 1e-12, 20000, "admm apgd barzilai minres", false},
    {"broken ring", broken_ring, 1e-12, 500, NULL, false},
    {"500 contacts", wall, 1e-4, 12000, "apgd nsgs", true},
};
enum { PROBLEMS = sizeof problems / sizeof *problems };

static void pose(struct posed *p, const struct problem *from)
{
    struct mech_mat leanest;

    memset(p, 0, sizeof *p);
    mech_arena_init(&p->arena, 0);
    from->fill(p);
    if (p->n == 0) {
        CU_ASSERT_EQUAL_FATAL(
            mech_mat_from_triplets(&p->arena, p->m, p->m, p->t, p->entries, &leanest), 0);
    } else {
        struct mech_triplet *const t = mech_arena_alloc(&p->arena, 64 * ROWS, sizeof *t);
        size_t count = 0;

        CU_ASSERT_PTR_NOT_NULL_FATAL(t);
        for (size_t i = 0; i < p->entries; i++) {
            for (size_t j = 0; j < p->entries; j++) {
                if (p->t[i].col == p->t[j].col) {
                    t[count++] =
                        (struct mech_triplet){p->t[i].row, p->t[j].row,
                                              p->t[i].value * p->t[j].value / p->h[p->t[i].col]};
                }
            }
        }
        CU_ASSERT_FATAL(count <= 64 * ROWS);
        CU_ASSERT_EQUAL_FATAL(mech_mat_from_triplets(&p->arena, p->m, p->m, t, count, &leanest), 0);
        CU_ASSERT_EQUAL_FATAL(
            mech_mat_from_triplets(&p->arena, p->m, p->n, p->t, p->entries, &p->G), 0);
        p->H = (struct mech_mat){
            .kind = MECH_MAT_DIAG, .rows = p->n, .cols = p->n, .symmetric = true, .values = p->h};
        CU_ASSERT_EQUAL_FATAL(mech_schur_create(&p->H, &p->G, NULL, &p->system), 0);
    }
    CU_ASSERT_EQUAL_FATAL(
        mech_mat_convert(&p->arena, &leanest, p->m > 200 ? MECH_MAT_CSC : MECH_MAT_DENSE, &p->N),
        0);
}

static void unpose(struct posed *p)
{
    mech_schur_destroy(p->system);
    mech_arena_fini(&p->arena);
}

static struct mech_problem formed(const struct posed *p, enum mech_friction friction)
{
    return (struct mech_problem){
        .m = p->m, .N = &p->N, .r = p->r, .sets = p->sets, .count = p->count, .friction = friction};
}

static double norm(const double *x, int32_t n)
{
    double sum = 0.;

    for (int32_t i = 0; i < n; i++) {
        sum += x[i] * x[i];
    }
    return sqrt(sum);
}

static bool in_words(const char *words, const char *name)
{
    const char *const at = strstr(words, name);

    return at && (at == words || at[-1] == ' ');
}

static const char *word_of(int code)
{
    return code == 0                       ? "solved"
           : code == MECH_VI_NOT_CONVERGED ? "not converged"
           : code == MECH_SINGULAR         ? "singular"
           : code == MECH_UNSUPPORTED      ? "not taken"
                                           : "other";
}

struct found {
    int code;
    const char *name; /* of the member, or of that of the chain which solved it */
    double l[ROWS], c[ROWS];
};

/* One member, or the chain. */
static void run(const struct posed *p, const struct problem *from, const char *name,
                enum mech_friction friction, bool implicit, struct found *out)
{
    double *const l = out->l, *const c = out->c;
    const struct mech_vi_limits limits = {.tolerance = from->tolerance,
                                          .max_iterations = from->most};
    struct mech_vi_result result;
    const struct mech_problem whole = formed(p, friction);
    struct mech_problem asked = whole;

    if (implicit) {
        asked.N = NULL;
        asked.schur = mech_schur_of(p->system);
    }
    memset(l, 0, sizeof out->l);
    const int code = mech_vi_solve(name, &asked, &limits, l, &result);

    /* whatever it says, it says the truth */
    mech_problem_speed(&whole, l, c);
    for (int32_t i = 0; i < p->m; i++) {
        CU_ASSERT(isfinite(l[i]) && isfinite(c[i]));
    }
    const double residual = mech_problem_residual(&whole, l, c);
    CU_ASSERT(code != 0 || residual <= from->tolerance * (1. + 1e-3) + 1e-16);
    CU_ASSERT(code == 0 || code == MECH_VI_NOT_CONVERGED || code == MECH_SINGULAR ||
              code == MECH_UNSUPPORTED);
    if (!implicit && whole.N) {
        const double off = accepted(&whole, l, limits.tolerance);

        CU_ASSERT(code != 0 || off <= from->tolerance * (1. + 1e-3) + 1e-16);
        CU_ASSERT(code != MECH_VI_NOT_CONVERGED || off > 0.99 * from->tolerance);
    }
    /* what it leaves is no worse than the start */
    static const double zeros[ROWS];
    CU_ASSERT(residual <= mech_problem_residual(&whole, zeros, p->r) * (1. + 1e-12));
    if (getenv("MECHD_TESTS_VERBOSE")) {
        printf("%-20s %-10s %-10s %-8s %-14s %6d  %.1e\n", from->name,
               friction == MECH_COULOMB ? "coulomb" : "associated", name ? name : "(chain)",
               implicit ? "implicit" : "", word_of(code), (int)result.iterations, residual);
    }
    out->code = code;
    out->name = name ? name : result.solver;
}

/* Under the associated law and without friction, ½ lᵀ N l + rᵀ l is off by at most δ (2 ‖l‖ + ‖c‖)
 * for a natural map of length δ = tolerance × max(‖r‖, ‖l‖, ‖c‖), and ½ ‖Δc‖² ≤ λ times that, λ the
 * largest eigenvalue of N, which is at most the root of the sum of its squares. */
static double allowed(const struct posed *p, const struct problem *from, double l, double c)
{
    const double size = fmax(norm(p->r, p->m), fmax(l, c));

    return 2. * sqrt(2. * norm(p->N.values, (int32_t)mech_mat_stored(&p->N)) * from->tolerance *
                     size * (2. * l + c));
}

static void compare(const struct posed *p, const struct problem *from, const struct found *a,
                    const struct found *b)
{
    double off = 0.;

    for (int32_t i = 0; i < p->m; i++) {
        off = fmax(off, fabs(a->c[i] - b->c[i]));
    }
    if (!(off <= allowed(p, from, norm(a->l, p->m), norm(a->c, p->m)))) {
        fprintf(stderr, "%s: %s is off by %g\n", from->name, a->name, off);
    }
    CHECK_NEAR(off, 0., allowed(p, from, norm(a->l, p->m), norm(a->c, p->m)));
}

static void check(const struct posed *p, const struct problem *from, enum mech_friction friction)
{
    static struct found now, first;
    const bool unique = friction == MECH_ASSOCIATED || !from->many;
    int32_t solved = 0;

    for (const struct mech_vi_type *const *t = mech_vi_types; *t; t++) {
        for (int implicit = 0; implicit < 2; implicit++) {
            /* factors of a thousand rows take seconds */
            const bool slow = p->m > 500 && (in_words("semismooth", (*t)->name) ||
                                             (in_words("admm", (*t)->name) && !implicit));

            if ((implicit && !(p->system && (*t)->create_implicit)) || slow) {
                continue;
            }
            run(p, from, (*t)->name, friction, implicit, &now);
            if (from->must && in_words(from->must, (*t)->name) && now.code != 0) {
                fprintf(stderr, "%s: %s has not solved it\n", from->name, (*t)->name);
                CU_ASSERT_EQUAL(now.code, 0);
            }
            if (now.code == 0 && solved++ == 0) {
                first = now;
            } else if (now.code == 0 && unique) {
                compare(p, from, &now, &first);
            }
        }
    }
    run(p, from, NULL, friction, false, &now);
    CU_ASSERT_EQUAL(now.code == 0, from->must != NULL);
    CU_ASSERT_EQUAL(solved > 0, from->must != NULL);
    if (now.code == 0 && unique) {
        compare(p, from, &now, &first);
    }
}

static void every_solver_meets_its_tolerance_or_says_that_it_does_not(void)
{
    static struct posed p;

    for (int k = 0; k < PROBLEMS && unit_case(k); k++) {
        pose(&p, &problems[k]);
        check(&p, &problems[k], MECH_COULOMB);
        if (p.sets[0].kind == MECH_SET_CONE) {
            check(&p, &problems[k], MECH_ASSOCIATED);
        }
        unpose(&p);
    }
}

UNIT_TESTS(UNIT_TEST(every_solver_meets_its_tolerance_or_says_that_it_does_not))
