/* Units are the same where their base units are, whatever they are called. */
#include "server/engine/units.h"

#include "tests/unit/server/engine/hosting.h"

static const char units[] =
    "<fmiModelDescription fmiVersion=\"3.0\" modelName=\"c\" instantiationToken=\"t\">"
    "<CoSimulation modelIdentifier=\"controller\"/><UnitDefinitions>"
    "<Unit name=\"J\"><BaseUnit kg=\"1\" m=\"2\" s=\"-2\"/></Unit>"
    "<Unit name=\"N.m\"><BaseUnit kg=\"1\" m=\"2\" s=\"-2\"/></Unit>"
    "<Unit name=\"kN.m\"><BaseUnit kg=\"1\" m=\"2\" s=\"-2\" factor=\"1000\"/></Unit>"
    "<Unit name=\"Nm/rad\"><BaseUnit kg=\"1\" m=\"2\" s=\"-2\" rad=\"-1\"/></Unit>"
    "<Unit name=\"K\"><BaseUnit K=\"1\"/></Unit>"
    "<Unit name=\"degC\"><BaseUnit K=\"1\" offset=\"273.15\"/></Unit>"
    "<Unit name=\"degF\"><BaseUnit K=\"1\" factor=\"0.5\" offset=\"255\"/></Unit>"
    "<Unit name=\"deg\"><BaseUnit rad=\"1\" factor=\"0.01745329252\"/></Unit>"
    "<Unit name=\"grad\"><BaseUnit rad=\"1\" factor=\"0.0174532925199432958\"/></Unit>"
    "<Unit name=\"knot\"><BaseUnit m=\"1\" s=\"-1\" factor=\"0.514444\"/></Unit>"
    "<Unit name=\"1\"><BaseUnit/></Unit><Unit name=\"-\"><BaseUnit/></Unit>"
    "<Unit name=\"m2/rad\"><BaseUnit m=\"2\" rad=\"-1\"/></Unit>"
    "<Unit name=\"N\"/><Unit name=\"rad.m/s\"/>"
    "</UnitDefinitions><ModelVariables>"
    "<Float64 name=\"value\" valueReference=\"1\" causality=\"input\" start=\"0\"/>"
    "<Float64 name=\"difference\" valueReference=\"2\" causality=\"input\" start=\"0\" "
    "relativeQuantity=\"true\"/></ModelVariables></fmiModelDescription>";

enum { VALUE, DIFFERENCE }; /* inputs */

static struct mechd_engine fmu(void)
{
    struct mechd_fmu_package *const p = package_of(MECHD_FMI_3, units);
    const struct mechd_engine e = made(p, 0);
    mechd_fmu_package_unref(p);
    return e;
}

/* Of no FMU: nothing of it is asked but what it is. */
static struct mechd_engine other(void)
{
    size_t k = 0;
    while (strcmp(mechd_engine_at(k)->name, "fmu") == 0) {
        k++;
    }
    return (struct mechd_engine){mechd_engine_at(k), NULL};
}

/* What the text is of an input. */
static struct mechd_unit unit_of(const struct mechd_engine *e, int32_t input, const char *text)
{
    const struct mech_variable v = {.causality = MECH_INPUT, .index = input};
    return mechd_unit_of(e, &v, text);
}

static enum mechd_units match(const struct mechd_engine *a, const char *from,
                              const struct mechd_engine *b, const char *to, double by[2])
{
    const struct mechd_unit u = unit_of(a, VALUE, from), v = unit_of(b, VALUE, to);
    return mechd_units_match(&u, &v, &by[0], &by[1]);
}

static void what_base_units_say_counts_before_names(void)
{
    const struct mechd_engine a = fmu(), b = other();
    static const struct {
        const char *from, *to;
        enum mechd_units match;
        double factor, offset;
    } cases[] = {{"J", "N.m", MECHD_UNITS_SAME, 1., 0.},
                 {"", "N.m", MECHD_UNITS_SAME, 1., 0.},
                 {"kN.m", "J", MECHD_UNITS_SCALED, 1000., 0.},
                 {"Nm/rad", "J", MECHD_UNITS_OTHER, 1., 0.},
                 {"degC", "K", MECHD_UNITS_SCALED, 1., 273.15},
                 {"K", "degC", MECHD_UNITS_SCALED, 1., -273.15},
                 {"deg", "grad", MECHD_UNITS_SAME, 1., 0.},
                 {"1", "-", MECHD_UNITS_SAME, 1., 0.},
                 {"1", "J", MECHD_UNITS_OTHER, 1., 0.},
                 // only their names are known
                 {"N", "N", MECHD_UNITS_SAME, 1., 0.},
                 {"rad.m/s", "rad m/s", MECHD_UNITS_SAME, 1., 0.},
                 {"N", "J", MECHD_UNITS_UNKNOWN, 1., 0.}};
    double by[2];
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        CU_ASSERT_EQUAL(match(&a, cases[k].from, &a, cases[k].to, by), cases[k].match);
        CU_ASSERT_EQUAL(by[0], cases[k].factor);
        CU_ASSERT_EQUAL(by[1], cases[k].offset);
    }
    // with a model, whose units are known by their names
    CU_ASSERT_EQUAL(match(&a, "J", &b, "N m", by), MECHD_UNITS_SAME);
    CU_ASSERT_EQUAL(match(&b, "N m", &a, "kN.m", by), MECHD_UNITS_SCALED);
    CHECK_NEAR(by[0], 1e-3, 1e-18);
    CU_ASSERT_EQUAL(match(&b, "N", &a, "N", by), MECHD_UNITS_SAME);
    CU_ASSERT_EQUAL(match(&b, "N, N m", &a, "J", by), MECHD_UNITS_UNKNOWN);
    CU_ASSERT_EQUAL(match(&b, "N, N m", &b, "N, N m", by), MECHD_UNITS_SAME);
    mechd_engine_destroy(&a);
}

/* A difference of 10 degC is one of 10 K, and no temperature. */
static void of_differences_no_offset_counts(void)
{
    const struct mechd_engine a = fmu();
    static const struct {
        int32_t input;
        const char *from;
        int32_t other;
        const char *to;
        enum mechd_units match;
        double factor;
    } cases[] = {{DIFFERENCE, "degC", DIFFERENCE, "K", MECHD_UNITS_SAME, 1.},
                 {DIFFERENCE, "K", DIFFERENCE, "degC", MECHD_UNITS_SAME, 1.},
                 {DIFFERENCE, "degC", DIFFERENCE, "degF", MECHD_UNITS_SCALED, 2.},
                 {DIFFERENCE, "degF", VALUE, "K", MECHD_UNITS_SCALED, 0.5},
                 {VALUE, "J", DIFFERENCE, "N.m", MECHD_UNITS_SAME, 1.},
                 {VALUE, "degC", DIFFERENCE, "K", MECHD_UNITS_APART, 1.},
                 {DIFFERENCE, "K", VALUE, "degC", MECHD_UNITS_APART, 1.},
                 {DIFFERENCE, "degC", VALUE, "degC", MECHD_UNITS_APART, 1.},
                 {DIFFERENCE, "degC", VALUE, "J", MECHD_UNITS_OTHER, 1.}};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        const struct mechd_unit from = unit_of(&a, cases[k].input, cases[k].from);
        const struct mechd_unit to = unit_of(&a, cases[k].other, cases[k].to);
        double factor = 0., offset = 1.;
        CU_ASSERT_EQUAL(mechd_units_match(&from, &to, &factor, &offset), cases[k].match);
        CU_ASSERT_EQUAL(factor, cases[k].factor);
        CU_ASSERT_EQUAL(offset, 0.);
    }
    mechd_engine_destroy(&a);
}

static void displacements_and_velocities_are_known_by_base_units(void)
{
    const struct mechd_engine a = fmu(), b = other();
    static const struct {
        bool hosted;
        const char *text;
        enum mech_kinematic kind;
    } cases[] = {
        {true, "deg", MECH_KINEMATIC_DISPLACEMENT}, {true, "knot", MECH_KINEMATIC_VELOCITY},
        {true, "J", MECH_KINEMATIC_NONE},           {true, "m2/rad", MECH_KINEMATIC_NONE},
        {true, "1", MECH_KINEMATIC_NONE},           {true, "rad.m/s", MECH_KINEMATIC_NONE},
        {false, "m", MECH_KINEMATIC_DISPLACEMENT},  {false, "rad/s", MECH_KINEMATIC_VELOCITY},
        {false, "m/s^2", MECH_KINEMATIC_NONE},      {false, "", MECH_KINEMATIC_NONE}};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        const struct mechd_unit u = unit_of(cases[k].hosted ? &a : &b, VALUE, cases[k].text);
        CU_ASSERT_EQUAL(mechd_unit_kinematic(&u), cases[k].kind);
    }
    mechd_engine_destroy(&a);
}

UNIT_TESTS(UNIT_TEST(what_base_units_say_counts_before_names),
           UNIT_TEST(of_differences_no_offset_counts),
           UNIT_TEST(displacements_and_velocities_are_known_by_base_units))
