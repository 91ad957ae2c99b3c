/* Units of the solver as base units. */
#include "protocol/fmi/unit.h"

#include "solver/items/item.h"
#include "tests/unit/unit.h"

#include <string.h>

static bool gives(const char *text, const int want[MECHP_FMI_BASE_UNITS])
{
    int got[MECHP_FMI_BASE_UNITS];
    return mechp_fmi_unit(text, strlen(text), got) && memcmp(got, want, sizeof got) == 0;
}

static void units_are_products_of_base_units(void)
{
    CU_ASSERT(gives("N m", (const int[]){1, 2, -2, 0, 0, 0, 0, 0}));
    CU_ASSERT(gives("rad/s^2", (const int[]){0, 0, -2, 0, 0, 0, 0, 1}));
    CU_ASSERT(gives("1/m", (const int[]){0, -1, 0, 0, 0, 0, 0, 0}));
    CU_ASSERT(gives("N/m s", (const int[]){1, 0, -3, 0, 0, 0, 0, 0}));
    CU_ASSERT(gives("", (const int[]){0, 0, 0, 0, 0, 0, 0, 0}));
}

static void what_is_no_unit_is_refused(void)
{
    static const char *const bad[] = {"ft", "N  m", "N/", "/s", "N/s/s", "m^", "m^12", "m^-1", " "};
    int got[MECHP_FMI_BASE_UNITS];
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        CU_ASSERT_FALSE(mechp_fmi_unit(bad[i], strlen(bad[i]), got));
    }
}

static void every_unit_of_an_output_is_known(void)
{
    int got[MECHP_FMI_BASE_UNITS], seen = 0;
    for (int v = 0; v < MECH_OUTPUT_COUNT; v++) {
        const char *const unit = mech_output_unit((enum mech_output)v);
        seen += unit != NULL && *unit != '\0';
        CU_ASSERT(!unit || mechp_fmi_unit(unit, strlen(unit), got));
    }
    CU_ASSERT(seen > 10);
}

UNIT_TESTS(UNIT_TEST(units_are_products_of_base_units), UNIT_TEST(what_is_no_unit_is_refused),
           UNIT_TEST(every_unit_of_an_output_is_known))
