/* Model descriptions of both versions into one struct, and what is refused. The documents are ours,
 * written from FMI 2.0.5, section 2.2, and FMI 3.0.2, section 2.4. */
#include "server/engine/fmu_description.h"
#include "server/engine/xml.h"

#include "solver/base/err.h"
#include "tests/unit/alloc_count.h"
#include "tests/unit/unit.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HEAD_2 "<fmiModelDescription fmiVersion=\"2.0\" modelName=\"M\" guid=\"{1}\">"
#define BASE_UNIT(base)                                                                            \
    "</ModelVariables><UnitDefinitions><Unit name=\"u\"><BaseUnit m=\"1\" " base                   \
    "/></Unit></UnitDefinitions><ModelVariables>"
#define COSIM "<CoSimulation modelIdentifier=\"m\"/>"
#define TAIL "</ModelVariables></fmiModelDescription>"
#define HEAD_3 "<fmiModelDescription fmiVersion=\"3.0\" modelName=\"M\" instantiationToken=\"{1}\">"

static const char second[] =
    "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
    "<fmiModelDescription fmiVersion=\"2.0\" modelName=\"Drive\" guid=\"{ab}\" description=\"a "
    "&lt;drive&gt;\""
    " generationTool=\"by hand\" numberOfEventIndicators=\"0\">\n"
    "<CoSimulation modelIdentifier=\"drive\" canHandleVariableCommunicationStepSize=\"true\""
    " canGetAndSetFMUstate=\"1\" canSerializeFMUstate=\"false\" maxOutputDerivativeOrder=\"2\"/>\n"
    "<UnitDefinitions><Unit name=\"rpm\"><BaseUnit s=\"-1\" rad=\"1\" "
    "factor=\"0.10471975511965977\"/>"
    "<DisplayUnit name=\"rps\"/></Unit><Unit name=\"N\"><BaseUnit kg=\"1\" m=\"1\" "
    "s=\"-2\"/></Unit></UnitDefinitions>\n"
    "<TypeDefinitions><SimpleType name=\"Speed\"><Real unit=\"rpm\" min=\"-100\" "
    "relativeQuantity=\"true\" max=\"100\"/></SimpleType>"
    "</TypeDefinitions>\n"
    "<VendorAnnotations><Tool "
    "name=\"x\"><ModelVariables><ScalarVariable/></ModelVariables></Tool></VendorAnnotations>\n"
    "<DefaultExperiment startTime=\"0\" stopTime=\"1e1\" stepSize=\"0.01\"/>\n"
    "<ModelVariables>\n"
    "<ScalarVariable name=\"u\" valueReference=\"7\" causality=\"input\"><Real start=\"1.5\" "
    "declaredType=\"Speed\""
    " max=\"50\"/></ScalarVariable>\n"
    "<ScalarVariable name=\"y\" valueReference=\"8\" causality=\"output\"><Real "
    "unit=\"N\"/></ScalarVariable>\n"
    "<ScalarVariable name=\"n\" valueReference=\"7\" causality=\"parameter\" "
    "variability=\"tunable\" initial=\"exact\">"
    "<Integer start=\"-3\"/></ScalarVariable>\n"
    "<ScalarVariable name=\"on\" valueReference=\"0\" causality=\"parameter\" "
    "variability=\"fixed\">"
    "<Boolean start=\"true\"/></ScalarVariable>\n"
    "<ScalarVariable name=\"path\" valueReference=\"0\" causality=\"parameter\" "
    "variability=\"fixed\">"
    "<String start=\"a b\"/></ScalarVariable>\n"
    "</ModelVariables>\n"
    "<ModelStructure><Outputs><Unknown index=\"2\" dependencies=\"1 "
    "3\"/></Outputs></ModelStructure>\n"
    "</fmiModelDescription>\n";

static const char third[] =
    "<fmiModelDescription fmiVersion=\"3.0\" modelName=\"Plant\" instantiationToken=\"t\">\n"
    "<CoSimulation modelIdentifier=\"plant_1\" canGetAndSetFMUState=\"true\" "
    "canSerializeFMUState=\"true\""
    " providesDirectionalDerivatives=\"true\" hasEventMode=\"true\" "
    "fixedInternalStepSize=\"1e-3\"/>\n"
    "<TypeDefinitions><Float64Type name=\"Length\" unit=\"m\" nominal=\"2\" "
    "relativeQuantity=\"1\"/></TypeDefinitions>\n"
    "<ModelVariables>\n"
    "<Float64 name=\"time\" valueReference=\"0\" causality=\"independent\"/>\n"
    "<UInt64 name=\"n\" valueReference=\"1\" causality=\"structuralParameter\" start=\"2\"/>\n"
    "<Float64 name=\"u\" valueReference=\"2\" causality=\"input\" start=\"1 2 3 4 5 6\" "
    "declaredType=\"Length\" relativeQuantity=\"false\" intermediateUpdate=\"true\">"
    "<Dimension start=\"2\"/><Dimension start=\"3\"/></Float64>\n"
    "<Float32 name=\"y\" valueReference=\"9\" causality=\"output\" relativeQuantity=\"true\">"
    "<Dimension "
    "valueReference=\"1\"/></Float32>\n"
    "<Int8 name=\"k\" valueReference=\"4\" start=\"-128\"/>\n"
    "<String name=\"s\" valueReference=\"5\" causality=\"parameter\"><Start "
    "value=\"one\"/></String>\n"
    "</ModelVariables>\n"
    "<ModelStructure><Output valueReference=\"9\" dependencies=\"\"/></ModelStructure>\n"
    "</fmiModelDescription>\n";

/* Reads the text; the outcome, and the text of the fault. */
static int outcome(const char *xml, size_t size, char text[MECH_DIAG_TEXT])
{
    struct mechd_fmu_description d;
    struct mech_diag diag;
    mech_diag_init(&diag);
    const int rc = mechd_fmu_description_read(xml, size, &d, &diag);
    CU_ASSERT_EQUAL(diag.total, rc == 0 ? 0 : 1);
    mech_text_copy(text, MECH_DIAG_TEXT, diag.count > 0 ? diag.entries[0].text : "");
    mechd_fmu_description_fini(&d);
    mech_diag_fini(&diag);
    return rc;
}

static void expect(const char *xml, int expected, const char *part)
{
    char text[MECH_DIAG_TEXT];
    const int rc = outcome(xml, strlen(xml), text);
    if (rc != expected || strstr(text, part) == NULL) {
        (void)fprintf(stderr, "%d (not %d): %s (not %s)\n", rc, expected, text, part);
    }
    CU_ASSERT_EQUAL(rc, expected);
    CU_ASSERT_PTR_NOT_NULL(strstr(text, part));
}

static void a_description_of_version_2_is_read(void)
{
    struct mechd_fmu_description d;
    struct mech_diag diag;
    mech_diag_init(&diag);
    CU_ASSERT_EQUAL_FATAL(mechd_fmu_description_read(second, sizeof second - 1, &d, &diag), 0);
    CU_ASSERT_EQUAL(d.version, MECHD_FMI_2);
    CU_ASSERT_STRING_EQUAL(d.name, "Drive");
    CU_ASSERT_STRING_EQUAL(d.identifier, "drive");
    CU_ASSERT_STRING_EQUAL(d.token, "{ab}");
    CU_ASSERT_STRING_EQUAL(d.description, "a <drive>");
    CU_ASSERT_EQUAL(d.can, MECHD_FMU_VARIABLE_STEP | MECHD_FMU_STATE);
    CU_ASSERT_EQUAL(d.derivative_order, 2);
    CU_ASSERT_EQUAL(d.stop_time, 10.);
    CU_ASSERT_EQUAL(d.step_size, 0.01);
    CU_ASSERT(isnan(d.tolerance));
    CU_ASSERT_EQUAL_FATAL(d.unit_count, 2);
    CU_ASSERT_STRING_EQUAL(d.units[1].name, "rpm");
    CU_ASSERT_EQUAL(d.units[1].exponents[2], -1);
    CU_ASSERT_EQUAL(d.units[1].exponents[7], 1);
    CU_ASSERT_EQUAL(d.units[1].factor, 0.10471975511965977);
    CU_ASSERT_EQUAL_FATAL(d.variable_count, 5);
    const struct mechd_fmu_variable *const v = d.variables;
    CU_ASSERT_STRING_EQUAL(v[0].unit, "rpm");
    CU_ASSERT_EQUAL(v[0].quantity, MECHD_FMU_RELATIVE);
    CU_ASSERT_EQUAL(v[1].quantity, MECHD_FMU_ABSOLUTE);
    CU_ASSERT_EQUAL(v[0].minimum, -100.);
    CU_ASSERT_EQUAL(v[0].maximum, 50.);
    CU_ASSERT_EQUAL(v[0].start[0], 1.5);
    CU_ASSERT_EQUAL(v[0].causality, MECHD_FMU_INPUT);
    CU_ASSERT_EQUAL(v[0].variability, MECHD_FMU_CONTINUOUS);
    CU_ASSERT_EQUAL(v[1].dependence, MECHD_FMU_DEPENDS_ON);
    CU_ASSERT_EQUAL_FATAL(v[1].dependency_count, 2);
    CU_ASSERT_EQUAL(v[1].dependencies[0], 0);
    CU_ASSERT_EQUAL(v[1].dependencies[1], 2);
    CU_ASSERT_EQUAL(v[2].type, MECHD_FMU_INT32);
    CU_ASSERT_EQUAL(v[2].start[0], -3.);
    CU_ASSERT_EQUAL(v[2].initial, MECHD_FMU_EXACT);
    CU_ASSERT_EQUAL(v[3].start[0], 1.);
    CU_ASSERT_STRING_EQUAL(v[4].start_text, "a b");
    CU_ASSERT_PTR_NULL(v[4].start);
    mechd_fmu_description_fini(&d);
    mech_diag_fini(&diag);
}

static void a_description_of_version_3_is_read(void)
{
    struct mechd_fmu_description d;
    struct mech_diag diag;
    mech_diag_init(&diag);
    CU_ASSERT_EQUAL_FATAL(mechd_fmu_description_read(third, sizeof third - 1, &d, &diag), 0);
    CU_ASSERT_EQUAL(d.version, MECHD_FMI_3);
    CU_ASSERT_STRING_EQUAL(d.token, "t");
    CU_ASSERT_EQUAL(d.can, MECHD_FMU_STATE | MECHD_FMU_SERIALIZE | MECHD_FMU_DIRECTIONAL |
                               MECHD_FMU_EVENTS);
    CU_ASSERT_EQUAL(d.fixed_step, 1e-3);
    CU_ASSERT_EQUAL_FATAL(d.variable_count, 6);
    const struct mechd_fmu_variable *const v = d.variables;
    CU_ASSERT_EQUAL(v[0].causality, MECHD_FMU_INDEPENDENT);
    CU_ASSERT_EQUAL(v[2].dimension_count, 2);
    CU_ASSERT_EQUAL(v[2].dimensions[1].size, 3);
    CU_ASSERT_EQUAL(v[2].start_count, 6);
    CU_ASSERT_EQUAL(v[2].start[5], 6.);
    CU_ASSERT_STRING_EQUAL(v[2].unit, "m");
    CU_ASSERT_EQUAL(v[2].nominal, 2.);
    CU_ASSERT_EQUAL(v[2].quantity, MECHD_FMU_ABSOLUTE);
    CU_ASSERT(v[2].within && !v[3].within);
    CU_ASSERT_EQUAL(v[3].quantity, MECHD_FMU_RELATIVE);
    CU_ASSERT_EQUAL(v[3].type, MECHD_FMU_FLOAT32);
    CU_ASSERT_EQUAL(v[3].dimensions[0].variable, 1);
    CU_ASSERT_EQUAL(v[3].dependence, MECHD_FMU_DEPENDS_ON);
    CU_ASSERT_EQUAL(v[3].dependency_count, 0);
    CU_ASSERT_EQUAL(v[4].variability, MECHD_FMU_DISCRETE);
    CU_ASSERT_STRING_EQUAL(v[5].start_text, "one");
    CU_ASSERT_STRING_EQUAL(mechd_fmu_type_name(v[1].type), "UInt64");
    mechd_fmu_description_fini(&d);
    mech_diag_fini(&diag);
}

/* As XML Schema writes them. */
static void start_values_may_be_infinite(void)
{
    static const char xml[] =
        HEAD_3 COSIM "<ModelVariables><Float64 name=\"a\" valueReference=\"1\" "
                     "start=\"INF +INF -INF NaN\"><Dimension start=\"4\"/></Float64>" TAIL;
    struct mechd_fmu_description d;
    struct mech_diag diag;
    mech_diag_init(&diag);
    CU_ASSERT_EQUAL_FATAL(mechd_fmu_description_read(xml, sizeof xml - 1, &d, &diag), 0);
    CU_ASSERT_EQUAL_FATAL(d.variables[0].start_count, 4);
    CU_ASSERT_EQUAL(d.variables[0].start[0], INFINITY);
    CU_ASSERT_EQUAL(d.variables[0].start[1], INFINITY);
    CU_ASSERT_EQUAL(d.variables[0].start[2], -INFINITY);
    CU_ASSERT(isnan(d.variables[0].start[3]));
    mechd_fmu_description_fini(&d);
    mech_diag_fini(&diag);
}

static void document_types_and_entities_are_refused(void)
{
    expect("<!DOCTYPE a [<!ENTITY x \"y\">]>" HEAD_2 COSIM "<ModelVariables>" TAIL,
           MECHD_DESCRIPTION_FORBIDDEN, "line 1: a document type");
    expect("<!DOCTYPE a SYSTEM \"file:///etc/passwd\"><a/>", MECHD_DESCRIPTION_FORBIDDEN, "");
    expect(HEAD_2 "&x;</fmiModelDescription>", MECHD_DESCRIPTION_XML, "undefined entity");
}

static void what_is_no_xml_is_refused(void)
{
    expect("", MECHD_DESCRIPTION_XML, "the document is empty");
    expect(HEAD_2 COSIM, MECHD_DESCRIPTION_XML, "");
    expect("<a/>", MECHD_DESCRIPTION_CONTENT, "not an fmiModelDescription");
    expect(HEAD_2 "\xff</fmiModelDescription>", MECHD_DESCRIPTION_XML, "");
}

static void versions_and_kinds_that_cannot_run_are_refused(void)
{
    expect("<fmiModelDescription fmiVersion=\"1.0\"/>", MECHD_DESCRIPTION_VERSION, "\"1.0\"");
    expect("<fmiModelDescription/>", MECHD_DESCRIPTION_VERSION, "");
    expect(HEAD_2 "<ModelExchange modelIdentifier=\"m\"/><ModelVariables>" TAIL,
           MECHD_DESCRIPTION_KIND, "co-simulation");
    expect(HEAD_2
           "<CoSimulation modelIdentifier=\"m\" needsExecutionTool=\"true\"/><ModelVariables>" TAIL,
           MECHD_DESCRIPTION_KIND, "tool");
    expect(HEAD_2 "<CoSimulation modelIdentifier=\"../m\"/><ModelVariables>" TAIL,
           MECHD_DESCRIPTION_CONTENT, "not a C identifier");
    expect(HEAD_2 "<CoSimulation modelIdentifier=\"\"/><ModelVariables>" TAIL,
           MECHD_DESCRIPTION_CONTENT, "not a C identifier");
}

static void variables_that_contradict_the_standard_are_refused(void)
{
    static const struct {
        const char *variables, *part;
    } bad[] = {
        {"<Float64 valueReference=\"1\"/>", "name is missing"},
        {"<Float64 name=\"a\"/>", "valueReference is missing"},
        {"<Float64 name=\"a\" valueReference=\"-1\"/>", "whole number"},
        {"<Float64 name=\"a\" valueReference=\"4294967296\"/>", "whole number"},
        {"<Float64 name=\"a\" valueReference=\"1\" causality=\"inward\"/>",
         "causality: \"inward\""},
        {"<Float64 name=\"a\" valueReference=\"1\"/><Float64 name=\"a\" valueReference=\"2\"/>",
         "two variables"},
        {"<Float64 name=\"a\" valueReference=\"1\"/><Int8 name=\"b\" valueReference=\"1\"/>",
         "value reference of another"},
        {"<Float64 name=\"a\" valueReference=\"1\" start=\"x\"/>", "not a value of its type"},
        {"<Float64 name=\"a\" valueReference=\"1\" start=\"1 2\"/>", "another size"},
        {"<Float64 name=\"a\" valueReference=\"1\" start=\"0x10\"/>", "not a value of its type"},
        {"<Float64 name=\"a\" valueReference=\"1\" start=\"1e999\"/>", "not a value of its type"},
        {"<Int8 name=\"a\" valueReference=\"1\" start=\"128\"/>", "not a value of its type"},
        {"<UInt8 name=\"a\" valueReference=\"1\" start=\"0.5\"/>", "not a value of its type"},
        {"<Boolean name=\"a\" valueReference=\"1\" start=\"yes\"/>", "not a value of its type"},
        {"<Float64 name=\"a\" valueReference=\"1\" min=\"2\" max=\"1\"/>", "min above its max"},
        {"<Float64 name=\"a\" valueReference=\"1\" declaredType=\"T\"/>", "type definitions"},
        {"<Float64 name=\"a\" valueReference=\"1\"><Dimension valueReference=\"2\"/></Float64>",
         "structural parameter"},
        {"<Float64 name=\"a\" valueReference=\"1\"><Dimension valueReference=\"1\"/></Float64>",
         "structural parameter"},
        {"<Float64 name=\"a\" valueReference=\"1\"><Dimension/></Float64>", "either"},
        {"</ModelVariables><UnitDefinitions><Unit name=\"u\"><BaseUnit m=\"0.5\"/></Unit>"
         "</UnitDefinitions><ModelVariables>",
         "m: an exponent must be a whole number"},
        {BASE_UNIT("factor=\"0\""), "unit u: its factor and offset must be finite"},
        {BASE_UNIT("factor=\"INF\""), "its factor not 0"},
        {BASE_UNIT("offset=\"NaN\""), "unit u: its factor and offset must be finite"},
        {"<Float64 name=\"a\" valueReference=\"1\" relativeQuantity=\"yes\"/>",
         "relativeQuantity: \"yes\""},
        {"<Float64 name=\"a\" valueReference=\"1\" intermediateUpdate=\"yes\"/>",
         "intermediateUpdate: \"yes\""},
        {"</ModelVariables>" COSIM "<ModelVariables>", "CoSimulation occurs twice"},
    };
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
        char xml[1024];
        (void)snprintf(xml, sizeof xml, HEAD_3 COSIM "<ModelVariables>%s" TAIL, bad[k].variables);
        expect(xml, MECHD_DESCRIPTION_CONTENT, bad[k].part);
    }
    expect(HEAD_2 COSIM "<ModelVariables>\n<ScalarVariable name=\"a\" valueReference=\"1\"/>" TAIL,
           MECHD_DESCRIPTION_CONTENT, "line 2: a variable without a type");
    expect(HEAD_2 COSIM "<ModelVariables><ScalarVariable name=\"a\" valueReference=\"1\">"
                        "<Real/><Integer/></ScalarVariable>" TAIL,
           MECHD_DESCRIPTION_CONTENT, "a variable with two types");
    expect(HEAD_2 COSIM "</fmiModelDescription>", MECHD_DESCRIPTION_CONTENT,
           "ModelVariables is missing");
}

static void dependencies_on_nothing_are_refused(void)
{
    static const char *const bad[] = {"<Output valueReference=\"2\"/>",
                                      "<Output valueReference=\"1\" dependencies=\"2\"/>",
                                      "<Output valueReference=\"1\" dependencies=\"0.5\"/>",
                                      "<Output valueReference=\"1\" dependencies=\"a\"/>"};
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
        char xml[1024];
        (void)snprintf(
            xml, sizeof xml,
            HEAD_3 COSIM
            "<ModelVariables><Float64 name=\"y\" valueReference=\"1\" causality=\"output\"/>"
            "</ModelVariables><ModelStructure>%s</ModelStructure></fmiModelDescription>",
            bad[k]);
        expect(xml, MECHD_DESCRIPTION_CONTENT, "");
    }
}

/* `count` times `part` between `before` and `after`. */
static char *repeated(const char *before, const char *part, size_t count, const char *after)
{
    const size_t length = strlen(part);
    char *const out = malloc(strlen(before) + count * length + strlen(after) + 1);
    if (out != NULL) {
        strcpy(out, before);
        char *at = out + strlen(before);
        for (size_t k = 0; k < count; k++, at += length) {
            memcpy(at, part, length);
        }
        strcpy(at, after);
    }
    return out;
}

static void more_of_a_kind_than_may_be_are_refused(void)
{
    static const char *const kinds[][2] = {
        {HEAD_2 "<UnitDefinitions>", "<Unit name=\"\"/>"},
        {HEAD_2 "<TypeDefinitions>", "<SimpleType name=\"\"><Real/></SimpleType>"},
        {HEAD_3 COSIM "<ModelVariables>", "<Int8 name=\"\" valueReference=\"1\"/>"},
        {HEAD_2 COSIM "<ModelVariables/><ModelStructure><Outputs>", "<Unknown index=\"1\"/>"}};
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        char *const xml = repeated(kinds[k][0], kinds[k][1], MECHD_DESCRIPTION_COUNT_MOST + 1, "");
        expect(xml, MECHD_DESCRIPTION_LIMIT, "more than 100000");
        free(xml);
    }
}

static void what_is_too_large_is_refused(void)
{
    char text[MECH_DIAG_TEXT];
    char *xml = repeated(HEAD_2, "<a>", MECHD_XML_DEPTH_MOST, "");
    expect(xml, MECHD_DESCRIPTION_LIMIT, "32 deep");
    free(xml);
    xml = repeated(HEAD_2 "<UnitDefinitions><Unit name=\"", "x", 5000, "\"/>");
    expect(xml, MECHD_DESCRIPTION_LIMIT, "4096 bytes");
    free(xml);
    expect(HEAD_3 COSIM "<ModelVariables><Float64 name=\"a\" valueReference=\"1\">"
                        "<Dimension start=\"65536\"/><Dimension start=\"65536\"/></Float64>" TAIL,
           MECHD_DESCRIPTION_LIMIT, "elements");
    xml = repeated(HEAD_3 COSIM "<ModelVariables><Float64 name=\"a\" valueReference=\"1\">",
                   "<Dimension start=\"1\"/>", MECHD_DESCRIPTION_DIMENSIONS_MOST + 1,
                   "</Float64>" TAIL);
    expect(xml, MECHD_DESCRIPTION_LIMIT, "more than 8 dimensions");
    free(xml);
    xml = repeated("", " ", MECHD_DESCRIPTION_SIZE_MOST, " ");
    CU_ASSERT_EQUAL(outcome(xml, MECHD_DESCRIPTION_SIZE_MOST + 1, text), MECHD_DESCRIPTION_LIMIT);
    free(xml);
}

/* Every cut of both documents is refused; every changed byte is refused or read. */
static void cuts_and_changes_do_no_harm(void)
{
    static const char *const documents[] = {second, third};
    char text[MECH_DIAG_TEXT];
    for (size_t k = 0; k < 2; k++) {
        char copy[sizeof second + sizeof third];
        const size_t size = strlen(documents[k]);
        for (size_t cut = 0; cut + 1 < size; cut++) {
            CU_ASSERT_EQUAL(outcome(documents[k], cut, text), MECHD_DESCRIPTION_XML);
        }
        memcpy(copy, documents[k], size);
        for (size_t at = 0; at < size; at++) {
            copy[at] ^= 0x11;
            CU_ASSERT(outcome(copy, size, text) >= 0);
            copy[at] ^= 0x11;
        }
    }
}

/* Behind descriptions of all lengths, so that each part is once the one for which a block of the
 * arena is too small. What has been read remains of none. */
static void whichever_allocation_fails_it_is_refused(void)
{
    enum { MOST = 4096, STEP = 64 /* an arena's lines */ };
#define EIGHT "1 2 3 4 5 6 7 8 "
#define TWO "<Dimension start=\"2\"/>"
    static const char body[] =
        "\"><CoSimulation modelIdentifier=\"m\"/><UnitDefinitions><Unit name=\"N\"/>"
        "</UnitDefinitions><TypeDefinitions><Float64Type name=\"F\" unit=\"N\"/></TypeDefinitions>"
        "<ModelVariables><Float64 name=\"u\" valueReference=\"1\" causality=\"input\" "
        "declaredType=\"F\" start=\"" EIGHT EIGHT EIGHT EIGHT "\">" TWO TWO TWO TWO TWO "</Float64>"
        "<Float64 name=\"y\" valueReference=\"2\" causality=\"output\"/></ModelVariables>"
        "<ModelStructure><Output valueReference=\"2\" dependencies=\"1\"/></ModelStructure>"
        "</fmiModelDescription>";
#undef EIGHT
#undef TWO
    int astray = 0, starved = 0, limited = 0;
    for (size_t length = 0; length < MOST; length += STEP) {
        char *const xml = repeated("<fmiModelDescription fmiVersion=\"3.0\" modelName=\"M\" "
                                   "instantiationToken=\"t\" description=\"",
                                   "d", length, body);
        CU_ASSERT_PTR_NOT_NULL_FATAL(xml);
        bool any = true;
        for (long n = 0; any; n++) {
            struct mechd_fmu_description d;
            struct mech_diag diag;
            mech_diag_init(&diag);
            alloc_refuse_start(n, false);
            const int rc = mechd_fmu_description_read(xml, strlen(xml), &d, &diag);
            any = alloc_refuse_stop() > 0;
            starved += rc == MECH_NO_MEMORY;
            limited += rc == MECHD_DESCRIPTION_LIMIT;
            astray += any != (rc == MECH_NO_MEMORY || rc == MECHD_DESCRIPTION_LIMIT) ||
                      (rc == 0) != (d.variable_count == 2) || (rc == 0) != (d.arena.top != NULL);
            mechd_fmu_description_fini(&d);
            mech_diag_fini(&diag);
        }
        free(xml);
    }
    CU_ASSERT_EQUAL(astray, 0);
    CU_ASSERT(starved > 0 && limited > 0);
}

UNIT_TESTS(UNIT_TEST(a_description_of_version_2_is_read),
           UNIT_TEST(a_description_of_version_3_is_read), UNIT_TEST(start_values_may_be_infinite),
           UNIT_TEST(document_types_and_entities_are_refused), UNIT_TEST(what_is_no_xml_is_refused),
           UNIT_TEST(versions_and_kinds_that_cannot_run_are_refused),
           UNIT_TEST(variables_that_contradict_the_standard_are_refused),
           UNIT_TEST(dependencies_on_nothing_are_refused),
           UNIT_TEST(more_of_a_kind_than_may_be_are_refused),
           UNIT_TEST(what_is_too_large_is_refused),
           UNIT_TEST(whichever_allocation_fails_it_is_refused),
           UNIT_TEST(cuts_and_changes_do_no_harm))
