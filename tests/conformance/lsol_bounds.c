/* What no linear solver does without end: direct ones refuse factors that would take hours, and
 * what takes long ends on request (solver/base/interrupt.h). */
#include "solver/lsol/lsol.h"

#include "solver/base/err.h"
#include "tests/unit/unit.h"

#include <stdlib.h>
#include <string.h>

/* 200,000 entries spread at random, symmetric: the factors would fill, and take an hour */
static void direct_members_refuse_what_would_fill_without_bound(void)
{
    enum { N = 20000, PAIRS = 5 * N };
    static const char *const names[] = {"klu", "cholmod"};
    struct mech_arena arena;
    struct mech_mat a;
    uint32_t random = 1;

    mech_arena_init(&arena, 0);
    struct mech_triplet *const t = mech_arena_alloc(&arena, N + 2 * PAIRS, sizeof *t);
    for (int32_t i = 0; i < N; i++) {
        t[i] = (struct mech_triplet){i, i, 1.};
    }
    for (int32_t i = 0; i < PAIRS; i++) {
        int32_t at[2];

        for (int k = 0; k < 2; k++) {
            random = random * 1664525u + 1013904223u;
            at[k] = (int32_t)((random >> 8) % N);
        }
        t[N + 2 * i] = (struct mech_triplet){at[0], at[1], 1e-3};
        t[N + 2 * i + 1] = (struct mech_triplet){at[1], at[0], 1e-3};
    }
    CU_ASSERT_EQUAL(mech_mat_from_triplets(&arena, N, N, t, N + 2 * PAIRS, &a), 0);
    a.symmetric = true;
    for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
        struct mech_lsol *s = NULL;

        CU_ASSERT_EQUAL(mech_lsol_create(names[k], &a, &s), MECH_UNSUPPORTED);
        mech_lsol_destroy(s);
    }
    mech_arena_fini(&arena);
}

static bool always(void *context)
{
    (void)context;
    return true;
}

/* Long work ends on request, with x as it was, and succeeds when it is repeated. */
static void members_that_take_an_interrupt_end_when_it_comes(void)
{
    enum { N = 600 };
    struct mech_interrupt end = {.wanted = always};
    struct mech_arena arena;
    int listening = 0;

    mech_arena_init(&arena, 0);
    double *const values = mech_arena_alloc(&arena, N * N, sizeof *values);
    double *const x = mech_arena_alloc(&arena, 2 * N, sizeof *x), *const b = x + N;
    for (int32_t i = 0; i < N * N; i++) {
        values[i] = i % (N + 1) == 0 ? 4. : abs(i % N - i / N) == 1 ? -1. : 1e-4;
    }
    const struct mech_mat a = {
        .kind = MECH_MAT_DENSE, .rows = N, .cols = N, .symmetric = true, .values = values};
    for (size_t m = 0; mech_lsol_types[m] != NULL; m++) {
        struct mech_lsol *s = NULL;

        if (mech_lsol_types[m]->listen == NULL || mech_lsol_types[m]->cost(&a) < 0.) {
            continue;
        }
        for (int i = 0; i < N; i++) {
            x[i] = b[i] = i % 7 - 3.;
        }
        CU_ASSERT_EQUAL_FATAL(mech_lsol_create(mech_lsol_types[m]->name, &a, &s), 0);
        end.came = false;
        mech_lsol_listen(s, &end);
        int code = mech_lsol_factor(s, &a);
        code = code ? code : mech_lsol_solve(s, x, 1);
        CU_ASSERT_EQUAL(code, MECH_CANCELLED);
        CU_ASSERT(memcmp(x, b, N * sizeof *x) == 0);
        mech_lsol_listen(s, NULL);
        CU_ASSERT_EQUAL(mech_lsol_factor(s, &a), 0);
        CU_ASSERT_EQUAL(mech_lsol_solve(s, x, 1), 0);
        mech_lsol_destroy(s);
        listening++;
    }
    CU_ASSERT(listening >= 5);
    mech_arena_fini(&arena);
}

UNIT_TESTS(UNIT_TEST(direct_members_refuse_what_would_fill_without_bound),
           UNIT_TEST(members_that_take_an_interrupt_end_when_it_comes))
