/* IQN-ILS on vectors alone. */
#include "solver/couple/scheme.h"
#include "tests/unit/unit.h"

#include <math.h>
#include <stdlib.h>

struct iqn {
    const struct mech_scheme_type *type;
    void *self;
    char *bytes;
};

static struct iqn make(const struct mech_scheme_space *space)
{
    struct iqn s = {.type = mech_scheme_find("IQN-ILS")};
    s.self = calloc(1, s.type->size);
    struct mech_room room = {.base = NULL};
    s.type->lay(s.self, space, &room);
    s.bytes = calloc(1, room.used);
    room = (struct mech_room){.base = s.bytes};
    s.type->lay(s.self, space, &room);
    return s;
}

static void end(struct iqn *s)
{
    free(s->bytes);
    free(s->self);
}

/* Size of the step after two differences of residuals that are parallel but for 1e-9, behind so
 * many windows. */
static double step_of(double filter, int32_t windows)
{
    const struct mech_scheme_space space = {
        .n = 2, .max_iterations = 9, .relaxation = 0.5, .filter = filter};
    static const double z[3][2] = {{0., 0.}, {1., 0.}, {1.5, 0.7}};
    static const double r[3][2] = {{3., 1.}, {2., 1. - 1e-9}, {1., 1. - 1e-9}};
    static const double scale[2] = {1., 1.};
    struct iqn s = make(&space);
    // columns, unknowns of the last iteration, their length, windows
    ((int32_t *)(void *)s.bytes)[3] = windows;
    s.type->begin(s.self);
    double next[2] = {0.};
    for (int32_t i = 0; i < 3; i++) {
        const struct mech_scheme_iterate at = {
            .n = 2, .iteration = i, .z = z[i], .r = r[i], .scale = scale};
        CU_ASSERT_EQUAL(s.type->correct(s.self, &at, next), 0);
    }
    end(&s);
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

/* The first window makes the column of g(z) = 3, whose step is all of r; a step without columns is
 * half of it. */
static void columns_of_the_last_windows_are_used_and_no_older_ones(void)
{
    for (int32_t reuse = 0; reuse < 4; reuse++) {
        const struct mech_scheme_space space = {
            .n = 1, .max_iterations = 9, .relaxation = 0.5, .reuse = reuse};
        static const double zero = 0., one = 1., scale = 1.;
        struct iqn s = make(&space);
        for (int32_t window = 0; window < 6; window++) {
            double next = 0.;
            s.type->begin(s.self);
            for (int32_t i = 0; i < (window == 0 ? 2 : 1); i++) {
                const double r = 3. - i;
                const struct mech_scheme_iterate at = {
                    .n = 1, .iteration = i, .z = i == 0 ? &zero : &one, .r = &r, .scale = &scale};
                CU_ASSERT_EQUAL(s.type->correct(s.self, &at, &next), 0);
            }
            CHECK_NEAR(next, window <= reuse ? 3. : 1.5, 1e-14);
            s.type->end(s.self, true);
        }
        end(&s);
    }
}

UNIT_TESTS(UNIT_TEST(columns_that_depend_on_others_are_filtered),
           UNIT_TEST(windows_beyond_2_to_the_31_keep_their_columns),
           UNIT_TEST(columns_of_the_last_windows_are_used_and_no_older_ones))
