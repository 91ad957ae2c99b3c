/* The registry of linear solvers: which member is chosen, and what is refused. */
#include "solver/lsol/lsol.h"

#include "solver/base/err.h"
#include "tests/conformance/lsol_matrices.h"
#include "tests/unit/unit.h"

#include <string.h>

static void the_registry_is_sorted_and_complete(void)
{
    size_t count = 0;
    for (; mech_lsol_types[count] != NULL; count++) {
        const struct mech_lsol_type *const t = mech_lsol_types[count];
        CU_ASSERT_PTR_EQUAL(mech_lsol_find(t->name), t);
        CU_ASSERT(t->doc != NULL && t->doc[0] != '\0');
        CU_ASSERT(count == 0 || strcmp(mech_lsol_types[count - 1]->name, t->name) < 0);
        t->destroy(NULL);
    }
    CU_ASSERT(count >= 8);
    CU_ASSERT_PTR_NULL(mech_lsol_find("no such solver"));
}

static void the_cheapest_member_that_suits_is_chosen(void)
{
    for (size_t k = 0; k < SHAPES; k++) {
        struct mech_arena arena;
        mech_arena_init(&arena, 0);
        const struct mech_mat a = make(&arena, &shapes[k]);
        struct mech_lsol *s = NULL;
        CU_ASSERT_EQUAL_FATAL(mech_lsol_create(NULL, &a, &s), 0);
        const char *const expected = a.kind == MECH_MAT_CSC     ? "klu"
                                     : a.kind != MECH_MAT_DENSE ? "banded"
                                     : a.symmetric              ? "dense_ldlt"
                                                                : "dense_lu";
        // where a band is full, or nearly, the choice is free
        if (shapes[k].n > 8) {
            CU_ASSERT_STRING_EQUAL(mech_lsol_name(s), expected);
        }
        mech_lsol_destroy(s);
        mech_arena_fini(&arena);
    }
}

static void what_does_not_fit_is_refused(void)
{
    struct mech_arena arena;
    mech_arena_init(&arena, 0);
    struct mech_mat a = make(&arena, &shapes[7]);
    struct mech_mat sparse, dense;
    CU_ASSERT_EQUAL(mech_mat_convert(&arena, &a, MECH_MAT_CSC, &sparse), 0);
    CU_ASSERT_EQUAL(mech_mat_convert(&arena, &a, MECH_MAT_DENSE, &dense), 0);
    struct mech_lsol *s = NULL;
    CU_ASSERT_EQUAL(mech_lsol_create("no such solver", &a, &s), MECH_NOT_FOUND);
    CU_ASSERT_EQUAL(mech_lsol_create("banded", &sparse, &s), MECH_UNSUPPORTED);
    CU_ASSERT_PTR_NULL(s);
    const struct mech_mat zero = {.kind = MECH_MAT_ZERO, .rows = 3, .cols = 3, .symmetric = true};
    CU_ASSERT_EQUAL(mech_lsol_create(NULL, &zero, &s), MECH_SINGULAR);
    const struct mech_mat flat = {.kind = MECH_MAT_ZERO, .rows = 3, .cols = 4};
    CU_ASSERT_EQUAL(mech_lsol_create(NULL, &flat, &s), MECH_UNSUPPORTED);
    // a structural hole: column 1 has no place
    struct mech_triplet t[40];
    for (int32_t k = 0; k < 40; k++) {
        t[k] = (struct mech_triplet){.row = k, .col = k == 1 ? 30 : k, .value = 1.};
    }
    struct mech_mat hole;
    CU_ASSERT_EQUAL(mech_mat_from_triplets(&arena, 40, 40, t, 40, &hole), 0);
    CU_ASSERT_EQUAL_FATAL(hole.kind, MECH_MAT_CSC);
    CU_ASSERT_EQUAL(mech_lsol_create("klu", &hole, &s), MECH_SINGULAR);
    CU_ASSERT_PTR_NULL(s);
    // a factor of another pattern
    CU_ASSERT_EQUAL_FATAL(mech_lsol_create(NULL, &a, &s), 0);
    CU_ASSERT_EQUAL(mech_lsol_factor(s, &dense), MECH_INTERNAL);
    a.symmetric = false;
    CU_ASSERT_EQUAL(mech_lsol_factor(s, &a), MECH_INTERNAL);
    mech_lsol_destroy(s);
    mech_lsol_destroy(NULL);
    mech_arena_fini(&arena);
}

UNIT_TESTS(UNIT_TEST(the_registry_is_sorted_and_complete),
           UNIT_TEST(the_cheapest_member_that_suits_is_chosen),
           UNIT_TEST(what_does_not_fit_is_refused))
