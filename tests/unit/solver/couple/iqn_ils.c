/* IQN-ILS on vectors alone. */
#include "solver/couple/scheme.h"
#include "tests/unit/unit.h"

#include <math.h>
#include <stdlib.h>

/* Size of the step after two differences of residuals that are parallel but for 1e-9, behind so
 * many windows. */
static double step_of(double filter, int32_t windows)
{
    const struct mech_scheme_type *const type = mech_scheme_find("IQN-ILS");
    const struct mech_scheme_space space = {
        .n = 2, .max_iterations = 9, .relaxation = 0.5, .filter = filter};
    static const double z[3][2] = {{0., 0.}, {1., 0.}, {1.5, 0.7}};
    static const double r[3][2] = {{3., 1.}, {2., 1. - 1e-9}, {1., 1. - 1e-9}};
    static const double scale[2] = {1., 1.};
    void *const self = calloc(1, type->size);
    struct mech_room room = {.base = NULL};
    type->lay(self, &space, &room);
    char *const bytes = calloc(1, room.used);
    room = (struct mech_room){.base = bytes};
    type->lay(self, &space, &room);
    // columns, unknowns of the last iteration, their length, windows
    ((int32_t *)(void *)bytes)[3] = windows;
    type->begin(self);
    double next[2] = {0.};
    for (int32_t i = 0; i < 3; i++) {
        const struct mech_scheme_iterate at = {
            .n = 2, .iteration = i, .z = z[i], .r = r[i], .scale = scale};
        CU_ASSERT_EQUAL(type->correct(self, &at, next), 0);
    }
    free(bytes);
    free(self);
    return hypot(next[0] - z[2][0], next[1] - z[2][1]);
}

static void columns_that_depend_on_others_are_filtered(void)
{
    CU_ASSERT(step_of(0., 0) > 1e6);
    CU_ASSERT(step_of(1e-6, 0) < 10.);
}

/* As many come in hours. */
static void windows_beyond_2_to_the_31_keep_their_columns(void)
{
    CHECK_NEAR(step_of(1e-6, INT32_MAX), step_of(1e-6, 0), 0.);
    CHECK_NEAR(step_of(1e-6, -1), step_of(1e-6, 0), 0.);
}

UNIT_TESTS(UNIT_TEST(columns_that_depend_on_others_are_filtered),
           UNIT_TEST(windows_beyond_2_to_the_31_keep_their_columns))
