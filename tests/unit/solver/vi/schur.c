/* N that is not formed against the same N, formed: its products, its shifted solves, and what
 * members that take it find. H = 1 + a band of springs, contacts with friction between neighbours,
 * E > 0 on every fourth row. */
#include "solver/vi/schur.h"
#include "solver/base/err.h"
#include "solver/vi/chain.h"
#include "tests/unit/unit.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { BODIES = 24, N = 3 * BODIES, CONTACTS = BODIES - 1, M = 3 * CONTACTS };

struct fixture {
    struct mech_arena arena;
    struct mech_mat H, G, full;
    struct mech_set sets[CONTACTS];
    double r[M], cfm[M];
    struct mech_schur_system *system;
    struct mech_problem formed, implicit;
};

static double uniform(uint64_t *seed)
{
    *seed ^= *seed << 13;
    *seed ^= *seed >> 7;
    *seed ^= *seed << 17;
    return (double)(*seed >> 11) / 4503599627370496. - 1.;
}

static void begin(struct fixture *f, enum mech_friction friction, bool bilateral)
{
    struct mech_triplet t[16 * N];
    uint64_t seed = 271828;
    size_t n = 0;

    memset(f, 0, sizeof *f);
    mech_arena_init(&f->arena, 0);
    for (int32_t i = 0; i < N; i++) {
        t[n++] = (struct mech_triplet){i, i, 1. + (i < N - 3 ? 8. : 0.) + (i < 3 ? 0. : 8.)};
        if (i < N - 3) {
            t[n++] = (struct mech_triplet){i, i + 3, -8.};
            t[n++] = (struct mech_triplet){i + 3, i, -8.};
        }
    }
    CU_ASSERT_EQUAL_FATAL(mech_mat_from_triplets(&f->arena, N, N, t, n, &f->H), 0);
    n = 0;
    for (int32_t i = 0; i < M; i++) {
        for (int32_t k = 0; k < 6; k++) {
            t[n++] = (struct mech_triplet){i, i / 3 * 3 + k, uniform(&seed)};
        }
        f->r[i] = uniform(&seed) - (i % 3 == 0 ? 0.5 : 0.);
        f->cfm[i] = i % 4 == 0 ? 0.3 : 0.;
    }
    for (int32_t i = 0; i < CONTACTS; i++) {
        f->sets[i] = (struct mech_set){.kind = MECH_SET_CONE, .rows = 3, .mu = 0.4};
    }
    CU_ASSERT_EQUAL_FATAL(mech_mat_from_triplets(&f->arena, M, N, t, n, &f->G), 0);
    CU_ASSERT_EQUAL_FATAL(mech_schur_create(&f->H, &f->G, f->cfm, &f->system), 0);
    f->implicit = (struct mech_problem){.m = M,
                                        .schur = mech_schur_of(f->system),
                                        .r = f->r,
                                        .sets = f->sets,
                                        .count = CONTACTS,
                                        .friction = friction};
    static struct mech_set rows[M];
    for (int32_t i = 0; i < M; i++) {
        rows[i] = (struct mech_set){.kind = MECH_SET_BILATERAL, .rows = 1};
    }
    if (bilateral) {
        f->implicit.sets = rows;
        f->implicit.count = M;
    }

    /* the same by H⁻¹ column by column */
    f->full = (struct mech_mat){.kind = MECH_MAT_DENSE, .rows = M, .cols = M};
    f->full.values = mech_arena_alloc(&f->arena, M * M, sizeof(double));
    for (int32_t j = 0; j < M; j++) {
        double unit[M] = {0.}, x[N];

        unit[j] = 1.;
        mech_mat_mul_transposed(&f->G, 1., unit, 0., x);
        CU_ASSERT_EQUAL_FATAL(mech_schur_divide_by_H(f->system, x), 0);
        mech_mat_mul(&f->G, 1., x, 0., f->full.values + j * M);
        f->full.values[j * M + j] += f->cfm[j];
    }
    f->formed = f->implicit;
    f->formed.schur = NULL;
    f->formed.N = &f->full;
}

static void end(struct fixture *f)
{
    mech_schur_destroy(f->system);
    mech_arena_fini(&f->arena);
}

static void products_are_those_of_the_matrix(void)
{
    static struct fixture f;
    uint64_t seed = 5;
    double l[M], a[M], b[M];

    begin(&f, MECH_COULOMB, false);
    for (int32_t i = 0; i < M; i++) {
        l[i] = uniform(&seed);
    }
    mech_problem_product(&f.implicit, l, a);
    mech_problem_product(&f.formed, l, b);
    for (int32_t i = 0; i < M; i++) {
        CHECK_NEAR(a[i], b[i], 1e-13);
    }
    mech_problem_speed(&f.implicit, l, a);
    mech_problem_speed(&f.formed, l, b);
    for (int32_t i = 0; i < M; i++) {
        CHECK_NEAR(a[i], b[i], 1e-13);
    }
    CU_ASSERT(mech_problem_is_finite(&f.implicit));
    end(&f);
}

static void shifted_solves_undo_shifted_products(void)
{
    static struct fixture f;
    static const double shifts[] = {1e-3, 1., 50.};
    uint64_t seed = 6;
    double l[M], x[M];

    begin(&f, MECH_COULOMB, false);
    for (size_t k = 0; k < 3; k++) {
        for (int32_t i = 0; i < M; i++) {
            l[i] = uniform(&seed);
        }
        mech_problem_product(&f.implicit, l, x);
        for (int32_t i = 0; i < M; i++) {
            x[i] += shifts[k] * l[i];
        }
        CU_ASSERT_EQUAL(f.implicit.schur->shift(f.implicit.schur->self, shifts[k]), 0);
        CU_ASSERT_EQUAL(f.implicit.schur->divide(f.implicit.schur->self, x), 0);
        for (int32_t i = 0; i < M; i++) {
            CHECK_NEAR(x[i], l[i], 1e-11);
        }
    }
    end(&f);
}

/* both problems by one member: c agrees, N being positive definite */
static void compare(struct fixture *f, const struct mech_vi_type *t)
{
    const struct mech_vi_limits limits = {.tolerance = 1e-11, .max_iterations = 200000};
    struct mech_vi_result result;
    double l[2][M] = {{0.}}, c[2][M];

    for (int k = 0; k < 2; k++) {
        const struct mech_problem *const p = k ? &f->implicit : &f->formed;

        CU_ASSERT_EQUAL(mech_vi_solve(t->name, p, &limits, l[k], &result), 0);
        CU_ASSERT(result.residual <= limits.tolerance);
        mech_problem_speed(&f->formed, l[k], c[k]);
        CU_ASSERT(mech_problem_residual(&f->formed, l[k], c[k]) <= 1.01 * limits.tolerance);
    }
    for (int32_t i = 0; i < M; i++) {
        CHECK_NEAR(c[0][i], c[1][i], 1e-8);
    }
}

static void members_find_the_same_without_the_matrix(void)
{
    static struct fixture f;
    int32_t taken = 0;

    for (const struct mech_vi_type *const *t = mech_vi_types; *t; t++) {
        for (int k = 0; k < 3; k++) {
            begin(&f, k == 1 ? MECH_ASSOCIATED : MECH_COULOMB, k == 2);
            if ((*t)->create_implicit && !(mech_problem_kinds(&f.implicit) & ~(*t)->kinds)) {
                compare(&f, *t);
                taken++;
            }
            if (!(*t)->create_implicit) {
                const struct mech_vi_limits limits = {.tolerance = 1e-8, .max_iterations = 10};
                struct mech_vi_result result;
                double l[M] = {0.};

                CU_ASSERT_EQUAL(mech_vi_solve((*t)->name, &f.implicit, &limits, l, &result),
                                MECH_UNSUPPORTED);
            }
            end(&f);
        }
    }
    CU_ASSERT(taken >= 10); /* apgd, barzilai, admm thrice, minres once */
}

static void the_chain_solves_what_is_not_formed(void)
{
    static struct fixture f;
    const struct mech_vi_limits limits = {.tolerance = 1e-9, .max_iterations = 20000};

    for (int k = 0; k < 3; k++) {
        struct mech_vi_result result;
        double l[M] = {0.};

        begin(&f, k == 1 ? MECH_ASSOCIATED : MECH_COULOMB, k == 2);
        CU_ASSERT_EQUAL(mech_vi_solve(NULL, &f.implicit, &limits, l, &result), 0);
        CU_ASSERT_STRING_EQUAL(result.solver, k == 2 ? "minres" : "apgd");
        end(&f);
    }
}

static void what_cannot_be_divided_is_singular(void)
{
    static struct fixture f;
    struct mech_schur_system *s = NULL;
    struct mech_triplet t[] = {{0, 0, 1.}, {1, 1, 0.}};
    struct mech_mat H, G;

    begin(&f, MECH_COULOMB, false);
    CU_ASSERT_EQUAL_FATAL(mech_mat_from_triplets(&f.arena, 2, 2, t, 2, &H), 0);
    CU_ASSERT_EQUAL_FATAL(mech_mat_from_triplets(&f.arena, 1, 2, t, 1, &G), 0);
    CU_ASSERT_EQUAL(mech_schur_create(&H, &G, NULL, &s), MECH_SINGULAR);
    CU_ASSERT_PTR_NULL(s);
    f.G.values[3] = NAN;
    CU_ASSERT_EQUAL_FATAL(mech_schur_create(&f.H, &f.G, NULL, &s), 0);
    struct mech_problem p = f.implicit;
    p.schur = mech_schur_of(s);
    CU_ASSERT_FALSE(mech_problem_is_finite(&p));
    mech_schur_destroy(s);
    end(&f);
}

UNIT_TESTS(UNIT_TEST(products_are_those_of_the_matrix),
           UNIT_TEST(shifted_solves_undo_shifted_products),
           UNIT_TEST(members_find_the_same_without_the_matrix),
           UNIT_TEST(the_chain_solves_what_is_not_formed),
           UNIT_TEST(what_cannot_be_divided_is_singular))
