/* Which variables of an FMU an instance shows, how they are packed, what they take, and their
 * elements on the wire. */
#include "server/engine/fmu_channels.h"

#include "tests/unit/unit.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* A description of 3.0 with these variables; it is the caller's. */
static struct mechd_fmu_description described(const char *variables)
{
    char xml[2048];
    struct mechd_fmu_description d;
    struct mech_diag diag;
    mech_diag_init(&diag);
    (void)snprintf(xml, sizeof xml,
                   "<fmiModelDescription fmiVersion=\"3.0\" modelName=\"M\" "
                   "instantiationToken=\"t\"><CoSimulation modelIdentifier=\"m\"/>"
                   "<ModelVariables>%s</ModelVariables></fmiModelDescription>",
                   variables);
    CU_ASSERT_EQUAL_FATAL(mechd_fmu_description_read(xml, strlen(xml), &d, &diag), 0);
    mech_diag_fini(&diag);
    return d;
}

static void numbers_are_packed_in_the_order_of_the_description(void)
{
    struct mechd_fmu_description d = described(
        "<UInt64 name=\"n\" valueReference=\"1\" causality=\"structuralParameter\" start=\"2\"/>"
        "<Float64 name=\"a\" valueReference=\"2\" causality=\"input\" start=\"1 2 3 4 5 6\">"
        "<Dimension valueReference=\"1\"/><Dimension start=\"3\"/></Float64>"
        "<Float64 name=\"b\" valueReference=\"3\" causality=\"input\" start=\"7\">"
        "<Dimension valueReference=\"1\"/></Float64>"
        "<Boolean name=\"on\" valueReference=\"4\" causality=\"input\" start=\"true\"/>"
        "<String name=\"s\" valueReference=\"5\" causality=\"input\"/>"
        "<Float64 name=\"x\" valueReference=\"6\" causality=\"output\"/>"
        "<Float64 name=\"inner\" valueReference=\"7\"/>"
        "<Float64 name=\"k\" valueReference=\"8\" causality=\"parameter\" start=\"9\"/>"
        "<Float64 name=\"list\" valueReference=\"9\" causality=\"parameter\" start=\"9\">"
        "<Dimension start=\"2\"/></Float64>");
    struct mechd_fmu_channels c;
    struct mech_diag diag;
    double start[16] = {0.};
    mech_diag_init(&diag);
    CU_ASSERT_EQUAL_FATAL(mechd_fmu_channels_make(&d, &c, &diag), 0);
    CU_ASSERT_EQUAL(c.count[MECH_INPUT], 3);
    CU_ASSERT_EQUAL(c.size[MECH_INPUT], 9);
    CU_ASSERT_EQUAL(c.at[MECH_INPUT][1].v.offset, 6);
    CU_ASSERT_EQUAL(c.at[MECH_INPUT][1].v.size, 2);
    CU_ASSERT_FALSE(c.at[MECH_INPUT][1].v.scalar);
    CU_ASSERT_EQUAL(mechd_fmu_channels_find(&c, MECH_INPUT, "on"), 2);
    CU_ASSERT_EQUAL(mechd_fmu_channels_find(&c, MECH_INPUT, "s"), -1);
    CU_ASSERT_EQUAL(c.count[MECH_OUTPUT_VARIABLE], 1);
    // an array is no parameter that can be set
    CU_ASSERT_EQUAL(c.count[MECH_PARAMETER], 1);
    CU_ASSERT_FALSE(c.at[MECH_PARAMETER][0].v.tunable);
    for (size_t k = 0; k < d.variable_count; k++) {
        const char *const name = d.variables[k].name;
        const bool shown = strcmp(name, "n") != 0 && strcmp(name, "s") != 0 &&
                           strcmp(name, "inner") != 0 && strcmp(name, "list") != 0;
        CU_ASSERT_EQUAL(mechd_fmu_variable_shown(&d.variables[k]), shown);
    }
    // one start value stands for all elements
    mechd_fmu_channels_start(&c, MECH_INPUT, start);
    for (int k = 0; k < 6; k++) {
        CU_ASSERT_EQUAL(start[k], k + 1.);
    }
    CU_ASSERT_EQUAL(start[6], 7.);
    CU_ASSERT_EQUAL(start[7], 7.);
    CU_ASSERT_EQUAL(start[8], 1.);
    mechd_fmu_channels_fini(&c);
    mechd_fmu_description_fini(&d);
    mech_diag_fini(&diag);
}

static void arrays_without_a_size_or_too_large_are_refused_by_name(void)
{
    static const char *const bad[] = {
        "<UInt64 name=\"n\" valueReference=\"1\" causality=\"structuralParameter\" start=\"0\"/>"
        "<Float64 name=\"bad\" valueReference=\"2\" causality=\"input\">"
        "<Dimension valueReference=\"1\"/></Float64>",
        "<UInt64 name=\"n\" valueReference=\"1\" causality=\"structuralParameter\"/>"
        "<Float64 name=\"bad\" valueReference=\"2\" causality=\"input\">"
        "<Dimension valueReference=\"1\"/></Float64>",
        "<UInt64 name=\"n\" valueReference=\"1\" causality=\"structuralParameter\" "
        "start=\"1048576\"/><Float64 name=\"bad\" valueReference=\"2\" causality=\"output\">"
        "<Dimension valueReference=\"1\"/><Dimension start=\"2\"/></Float64>",
        "<Float64 name=\"good\" valueReference=\"1\" causality=\"input\">"
        "<Dimension start=\"1048576\"/></Float64>"
        "<Float64 name=\"bad\" valueReference=\"2\" causality=\"input\"/>"};
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
        struct mechd_fmu_description d = described(bad[k]);
        struct mechd_fmu_channels c;
        struct mech_diag diag;
        mech_diag_init(&diag);
        CU_ASSERT_EQUAL(mechd_fmu_channels_make(&d, &c, &diag), MECH_UNSUPPORTED);
        CU_ASSERT_EQUAL_FATAL(diag.count, 1);
        CU_ASSERT_STRING_EQUAL(diag.entries[0].path, "/modelDescription.xml");
        CU_ASSERT_PTR_NOT_NULL(strstr(diag.entries[0].text, "variable bad: "));
        CU_ASSERT_PTR_NULL(c.at[MECH_INPUT]);
        mechd_fmu_description_fini(&d);
        mech_diag_fini(&diag);
    }
}

static void values_that_a_type_does_not_have_are_refused_with_their_place(void)
{
    static const struct {
        const char *type;
        double value;
        const char *part; /* of the fault; NULL: it is taken */
    } cases[] = {
        {"Float64", NAN, "must be finite"},
        {"Float64", INFINITY, "must be finite"},
        {"Float64", -DBL_MAX, NULL},
        {"Float32", -3.5e38, "of type Float32"},
        {"Float32", -3.4e38, NULL},
        {"Int8", -129., "of type Int8: -129 is outside"},
        {"Int8", -128., NULL},
        {"UInt16", 0.5, "a whole number"},
        {"UInt64", 0x1p63, "of type UInt64: 9.2233720368547758e+18 is outside"},
        {"UInt64", 0x1p62, NULL},
        {"Boolean", 2., "of type Boolean: 2 is outside"},
        {"Boolean", 1., NULL},
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        char xml[128];
        struct mechd_fmu_channels c;
        struct mech_diag diag;
        mech_diag_init(&diag);
        (void)snprintf(xml, sizeof xml, "<%s name=\"x\" valueReference=\"1\" causality=\"input\"/>",
                       cases[k].type);
        struct mechd_fmu_description d = described(xml);
        CU_ASSERT_EQUAL_FATAL(mechd_fmu_channels_make(&d, &c, &diag), 0);
        const bool takes =
            mechd_fmu_channel_takes(&c.at[MECH_INPUT][0], cases[k].value, "/start/x", &diag);
        CU_ASSERT_EQUAL(takes, cases[k].part == NULL);
        if (cases[k].part != NULL) {
            CU_ASSERT_EQUAL_FATAL(diag.count, 1);
            CU_ASSERT_STRING_EQUAL(diag.entries[0].path, "/start/x");
            CU_ASSERT_PTR_NOT_NULL(strstr(diag.entries[0].text, cases[k].part));
        }
        mechd_fmu_channels_fini(&c);
        mechd_fmu_description_fini(&d);
        mech_diag_fini(&diag);
    }
}

static void numbers_go_to_the_wire_and_back(void)
{
    for (enum mechd_fmu_type type = 0; type < MECHD_FMU_TYPES; type++) {
        const size_t size = mechd_fmu_element(type);
        const double in[] = {1., 0., 1.};
        double out[] = {7., 7., 7.};
        char bytes[32];
        memset(bytes, 0x55, sizeof bytes);
        // at any address
        mechd_fmu_encode(type, in, 3, bytes + 1);
        CU_ASSERT_EQUAL(bytes[0], 0x55);
        CU_ASSERT_EQUAL(bytes[1 + 3 * size], 0x55);
        mechd_fmu_decode(type, bytes + 1, 3, out);
        for (int k = 0; k < 3; k++) {
            CU_ASSERT_EQUAL(out[k], size > 0 ? in[k] : 7.);
        }
    }
    // the process may send any byte for a boolean
    double both[] = {7., 7.};
    mechd_fmu_decode(MECHD_FMU_BOOLEAN, "\x80", 2, both);
    CU_ASSERT_EQUAL(both[0], 1.);
    CU_ASSERT_EQUAL(both[1], 0.);
}

UNIT_TESTS(UNIT_TEST(numbers_are_packed_in_the_order_of_the_description),
           UNIT_TEST(arrays_without_a_size_or_too_large_are_refused_by_name),
           UNIT_TEST(values_that_a_type_does_not_have_are_refused_with_their_place),
           UNIT_TEST(numbers_go_to_the_wire_and_back))
