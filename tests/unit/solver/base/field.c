/* Field tables: look-up and defaults of every kind. */
#include "solver/base/field.h"

#include "tests/unit/unit.h"

struct inner {
    double depth;
};

struct sample {
    bool active;
    int32_t count;
    double mass;
    double position[3];
    double gravity[3];
    int32_t mode;
    struct mech_ref node;
    struct inner inner;
    struct mech_values load;
};

static const struct mech_field inner_fields[] = {
    {.name = "depth", .kind = MECH_REAL, .offset = offsetof(struct inner, depth), .preset = 2.5},
};

static const struct mech_table inner_table = {
    .name = "inner", .size = sizeof(struct inner), MECH_FIELDS(inner_fields)};

static const double down[] = {0., 0., -9.81};
static const char *const modes[] = {"off", "soft", "hard", NULL};

static const struct mech_field fields[] = {
    {.name = "active", .kind = MECH_BOOL, .offset = offsetof(struct sample, active), .preset = 1.},
    {.name = "count", .kind = MECH_INT, .offset = offsetof(struct sample, count), .preset = -7.},
    {.name = "mass", .kind = MECH_REAL, .offset = offsetof(struct sample, mass), .preset = 1.5},
    {.name = "position",
     .kind = MECH_REALS,
     .offset = offsetof(struct sample, position),
     .count = 3},
    {.name = "gravity",
     .kind = MECH_REALS,
     .offset = offsetof(struct sample, gravity),
     .count = 3,
     .presets = down},
    {.name = "mode",
     .kind = MECH_CHOICE,
     .offset = offsetof(struct sample, mode),
     .choices = modes,
     .preset = 2.},
    {.name = "node", .kind = MECH_REF, .offset = offsetof(struct sample, node)},
    {.name = "inner",
     .kind = MECH_STRUCT,
     .offset = offsetof(struct sample, inner),
     .table = &inner_table},
    {.name = "load", .kind = MECH_VALUES, .offset = offsetof(struct sample, load), .count = 3},
};

static const struct mech_table table = {
    .name = "sample", .size = sizeof(struct sample), MECH_FIELDS(fields)};

static void a_field_is_found_by_its_whole_name(void)
{
    CU_ASSERT_PTR_EQUAL(mech_table_find(&table, "mass"), &fields[2]);
    CU_ASSERT_PTR_NULL(mech_table_find(&table, "mas"));
    CU_ASSERT_PTR_NULL(mech_table_find(&table, "mass "));
    CU_ASSERT_PTR_NULL(mech_table_find(&table, ""));
}

static void defaults_of_every_kind_are_written(void)
{
    struct sample s = {.count = 0};
    mech_table_defaults(&table, &s);
    CU_ASSERT(s.active);
    CU_ASSERT_EQUAL(s.count, -7);
    CU_ASSERT(s.mass == 1.5);
    CU_ASSERT(s.position[2] == 0.);
    CU_ASSERT(s.gravity[2] == -9.81);
    CU_ASSERT_EQUAL(s.mode, 2);
    CU_ASSERT_EQUAL(s.node.index, -1);
    CU_ASSERT_PTR_NULL(s.node.name);
    CU_ASSERT(s.inner.depth == 2.5);
    CU_ASSERT_PTR_NULL(s.load.number);
}

static void ranges_hold_with_and_without_their_ends(void)
{
    const struct mech_field closed = {.min = 0., .max = 1.};
    const struct mech_field open = {.min = 0., .max = 1., .flags = MECH_ABOVE_MIN | MECH_BELOW_MAX};
    const struct mech_field none = {.name = "no range"};
    const struct mech_field half = {MECH_NOT_NEGATIVE};
    CU_ASSERT(mech_field_admits(&closed, 0.) && mech_field_admits(&closed, 1.));
    CU_ASSERT(!mech_field_admits(&closed, -1e-300) && !mech_field_admits(&closed, 1.0000001));
    CU_ASSERT(!mech_field_admits(&open, 0.) && !mech_field_admits(&open, 1.));
    CU_ASSERT(mech_field_admits(&open, 0.5));
    CU_ASSERT(mech_field_admits(&none, -1e300) && !mech_field_has_range(&none));
    CU_ASSERT(mech_field_admits(&half, 1e300) && !mech_field_admits(&half, -1.));
    // what is not finite is in no range
    CU_ASSERT(!mech_field_admits(&none, NAN) && !mech_field_admits(&half, HUGE_VAL));
}

UNIT_TESTS(UNIT_TEST(ranges_hold_with_and_without_their_ends),
           UNIT_TEST(a_field_is_found_by_its_whole_name),
           UNIT_TEST(defaults_of_every_kind_are_written))
