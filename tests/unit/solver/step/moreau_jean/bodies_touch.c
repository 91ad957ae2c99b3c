/* What contacts of a step find again of those of the last one. */
#include "solver/step/moreau_jean/bodies.h"

#include "tests/unit/unit.h"

static void kept_contacts_are_found_in_any_order(void)
{
    struct mech_touched kept[] = {{.id = 3}, {.id = 5}, {.id = 8}, {.id = 13}};
    struct mech_state_counters counters = {.touched = 4};
    const struct mech_state state = {.at = &counters, .touched = kept};
    /* ids, and the places where they are; 4: nowhere */
    static const uint64_t ids[] = {5, 6, 13, 3, 8, 2, 13, 14, 5, 4, 3};
    static const size_t places[] = {1, 4, 3, 0, 2, 4, 3, 4, 1, 4, 0};
    size_t at = 0;

    for (size_t i = 0; i < sizeof ids / sizeof *ids; i++) {
        const struct mech_touched *const found = mech_moreau_bodies_kept(&state, ids[i], &at);

        CU_ASSERT_PTR_EQUAL(found, places[i] < 4 ? &kept[places[i]] : NULL);
    }
}

UNIT_TESTS(UNIT_TEST(kept_contacts_are_found_in_any_order))
