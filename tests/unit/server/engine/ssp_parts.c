/* System structures with values, units and connectors that mean nothing: each is refused at its
 * place. The documents are ours, written from System Structure and Parameterization 1.0.1. */
#include "server/engine/ssp.h"
#include "server/engine/ssp_xml.h"

#include "tests/unit/unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAMESPACES                                                                                 \
    " xmlns:ssd=\"http://ssp-standard.org/SSP1/SystemStructureDescription\""                       \
    " xmlns:ssc=\"http://ssp-standard.org/SSP1/SystemStructureCommon\""                            \
    " xmlns:ssv=\"http://ssp-standard.org/SSP1/SystemStructureParameterValues\""                   \
    " xmlns:ssm=\"http://ssp-standard.org/SSP1/SystemStructureParameterMapping\""                  \
    " xmlns:ssb=\"http://ssp-standard.org/SSP1/SystemStructureSignalDictionary\""
#define FMU(name, inside)                                                                          \
    "<ssd:Component name=\"" name "\" source=\"a.fmu\">" inside "</ssd:Component>"
#define ELEMENTS(inside) "<ssd:Elements>" inside "</ssd:Elements>"
#define A ELEMENTS(FMU("a", ""))
#define PORTS(inside) "<ssd:Connectors>" inside "</ssd:Connectors>"
#define PORT(name, kind, inside)                                                                   \
    "<ssd:Connector name=\"" name "\" kind=\"" kind "\">" inside "</ssd:Connector>"
#define REAL(unit) "<ssc:Real unit=\"" unit "\"/>"
#define BIND(inside)                                                                               \
    "<ssd:ParameterBindings><ssd:ParameterBinding" inside                                          \
    "</ssd:ParameterBinding></ssd:ParameterBindings>"
#define SET(inside)                                                                                \
    "<ssd:ParameterValues><ssv:ParameterSet version=\"1.0\" name=\"s\"><ssv:Parameters>" inside    \
    "</ssv:Parameters></ssv:ParameterSet></ssd:ParameterValues>"
#define VALUE(name, inside) "<ssv:Parameter name=\"" name "\">" inside "</ssv:Parameter>"
#define NUMBER(name, value) VALUE(name, "<ssv:Real value=\"" value "\"/>")
#define MAPPED(inside) "<ssd:ParameterMapping>" inside "</ssd:ParameterMapping>"
#define MAPPING(inside)                                                                            \
    MAPPED("<ssm:ParameterMapping version=\"1.0\">" inside "</ssm:ParameterMapping>")
#define UNIT(name, base) "<ssc:Unit name=\"" name "\"><ssc:BaseUnit " base "/></ssc:Unit>"
#define METRES UNIT("m", "m=\"1\"") UNIT("mm", "m=\"1\" factor=\"0.001\"") UNIT("s", "s=\"1\"")
#define LINK(inside)                                                                               \
    "<ssd:Connections><ssd:Connection startElement=\"a\" startConnector=\"y\" endElement=\"b\" "   \
    "endConnector=\"u\">" inside "</ssd:Connection></ssd:Connections>"
#define LINEAR(factor, offset)                                                                     \
    "<ssc:LinearTransformation factor=\"" factor "\" offset=\"" offset "\"/>"
#define BUS(name, dictionary, inside)                                                              \
    "<ssd:SignalDictionaryReference name=\"" name "\" dictionary=\"" dictionary "\">" inside       \
    "</ssd:SignalDictionaryReference>"
#define DICTIONARY(inside)                                                                         \
    "<ssd:SignalDictionaries><ssd:SignalDictionary name=\"d\">" inside                             \
    "</ssd:SignalDictionary></ssd:SignalDictionaries>"

/* With an input u, an output y, both in m, and a parameter k. */
static const char fmu[] =
    "<fmiModelDescription fmiVersion=\"2.0\" modelName=\"M\" guid=\"{1}\">"
    "<CoSimulation modelIdentifier=\"m\"/><UnitDefinitions><Unit name=\"m\"><BaseUnit m=\"1\"/>"
    "</Unit></UnitDefinitions><ModelVariables>"
    "<ScalarVariable name=\"u\" valueReference=\"1\" causality=\"input\">"
    "<Real unit=\"m\" start=\"0\"/></ScalarVariable>"
    "<ScalarVariable name=\"y\" valueReference=\"2\" causality=\"output\"><Real unit=\"m\"/>"
    "</ScalarVariable>"
    "<ScalarVariable name=\"k\" valueReference=\"3\" causality=\"parameter\" variability=\"fixed\">"
    "<Real start=\"1\"/></ScalarVariable></ModelVariables></fmiModelDescription>";

static int read_text(void *of, const char *path, char **text, size_t *size, struct mech_diag *diag)
{
    (void)path;
    (void)diag;
    *text = strdup(of);
    *size = strlen(of);
    return *text != NULL ? 0 : 1;
}

/* A system with these contents and units is refused with one text that has `part`. */
static void expect(const char *inside, const char *units, const char *part)
{
    static char text[MECHD_SSP_TEXT_MOST + 4096];
    struct mechd_ssp s;
    struct mechd_fmu_description description;
    const struct mechd_fmu_description *all[MECHD_SSP_COMPONENTS_MOST];
    struct mech_diag diag;
    mech_diag_init(&diag);
    (void)snprintf(text, sizeof text,
                   "<ssd:SystemStructureDescription version=\"1.0\" name=\"n\"%s>"
                   "<ssd:System name=\"root\">%s</ssd:System><ssd:Units>%s</ssd:Units>"
                   "</ssd:SystemStructureDescription>",
                   NAMESPACES, inside, units);
    CU_ASSERT_EQUAL(mechd_fmu_description_read(fmu, strlen(fmu), &description, &diag), 0);
    for (size_t k = 0; k < MECHD_SSP_COMPONENTS_MOST; k++) {
        all[k] = &description;
    }
    const struct mechd_ssp_files files = {.read = read_text, .of = text};
    int outcome = mechd_ssp_read(&files, &s, &diag);
    outcome = outcome == 0 ? mechd_ssp_join(&s, all, &diag) : outcome;
    const char *const said = diag.count > 0 ? diag.entries[0].text : "nothing";
    if (diag.count != 1 || strstr(said, part) == NULL) {
        (void)fprintf(stderr, "%zu faults: %s (not: %s)\n", diag.total, said, part);
    }
    CU_ASSERT_EQUAL(outcome, MECHD_SSP_REFUSED);
    CU_ASSERT_EQUAL(diag.total, 1);
    CU_ASSERT_PTR_NOT_NULL(strstr(said, part));
    mechd_ssp_fini(&s);
    mechd_fmu_description_fini(&description);
    mech_diag_fini(&diag);
}

static void connectors_that_mean_nothing_are_refused(void)
{
    expect(ELEMENTS(FMU("a", PORTS(PORT("u", "sideways", "")))), "",
           "kind: \"sideways\" is not the kind of a connector");
    expect(ELEMENTS(FMU("a", PORTS("<ssd:Connector name=\"u\"/>"))), "",
           "Connector: the attribute kind is missing");
    expect(ELEMENTS(FMU("a", PORTS("<ssd:Connector name=\"\" kind=\"input\"/>"))), "",
           "Connector: the attribute name is missing");
    expect(ELEMENTS(FMU("a", PORTS(PORT("u", "input", "") PORT("u", "input", "")))), "",
           "the name u occurs twice");
    // kinds of version 2.0 that no connection of 1.0 has are passed over
    expect(PORTS(PORT("p", "constant", "")) A "<ssd:Connections><ssd:Connection "
                                              "startConnector=\"p\" endElement=\"a\" "
                                              "endConnector=\"u\"/></ssd:Connections>",
           "", "a has no connector u");
}

static void elements_that_mean_nothing_are_refused(void)
{
    char name[128] = "", text[1024];
    expect(ELEMENTS(FMU("a", "") "<ssd:Motor/>"), "", "Motor is not an element of a system");
    memset(name, 'n', sizeof name - 1);
    (void)snprintf(text, sizeof text, ELEMENTS(FMU("%s", "")), name);
    expect(text, "", "characters with the systems around it");
    // both become the participant a_b
    expect(ELEMENTS(FMU("a b", "") FMU("a!b", "")), "", "the name a_b occurs twice");
    expect(A DICTIONARY("<ssv:ParameterSet version=\"1.0\"/>"), "",
           "ParameterSet is not a signal dictionary");
    expect(A DICTIONARY(""), "", "SignalDictionary has neither a source nor content");
    expect(ELEMENTS(FMU("a", "") "<ssd:SignalDictionaryReference name=\"r\"/>"), "",
           "SignalDictionaryReference: the attribute dictionary is missing");
}

static void values_that_mean_nothing_are_refused(void)
{
    expect(A BIND(">" SET(NUMBER("a.k", "one"))), "", "value: \"one\" is not a finite number");
    expect(A BIND(">" SET(NUMBER("a.k", "inf"))), "", "value: \"inf\" is not a finite number");
    expect(A BIND(">" SET(VALUE("a.k", "<ssv:Boolean value=\"maybe\"/>"))), "",
           "value: \"maybe\" is not true or false");
    expect(A BIND(">" SET(VALUE("a.k", "<ssv:Real/>"))), "",
           "Real: the attribute value is missing");
    expect(A BIND(">" SET(VALUE("a.k", ""))), "", "parameter a.k has no value");
    expect(A BIND(">" SET("<ssv:Parameter><ssv:Real value=\"1\"/></ssv:Parameter>")), "",
           "Parameter: the attribute name is missing");
    expect(A BIND(">" SET(VALUE("a.u", "<ssv:Real value=\"1\" unit=\"s\"/>"))), METRES,
           "a.u is in s, and takes m");
    expect(A BIND(">" SET(NUMBER("a.k", "1e300"))
                      MAPPING("<ssm:MappingEntry source=\"a.k\" target=\"a.k\">" LINEAR(
                          "1e300", "0") "</ssm:MappingEntry>")),
           "", "a.k is beyond the range of numbers");
    expect(A BIND(">" SET(NUMBER("a.k", "1"))
                      MAPPING("<ssm:MappingEntry source=\"a.k\" target=\"a.k\" "
                              "suppressUnitConversion=\"perhaps\"/>")),
           "", "suppressUnitConversion: \"perhaps\" is not true or false");
}

static void bindings_that_mean_nothing_are_refused(void)
{
    expect(A BIND(" type=\"text/csv\" source=\"a.csv\">"), "",
           "parameters of this type are not supported: text/csv");
    expect(A BIND("><ssd:ParameterValues><ssv:Parameters/></ssd:ParameterValues>"), "",
           "Parameters is not a parameter set");
    expect(A BIND(">"), "", "ParameterBinding has neither a source nor content");
    expect(A BIND(">" SET("") MAPPED("<ssv:ParameterSet version=\"1.0\"/>")), "",
           "ParameterSet is not a parameter mapping");
}

static void units_that_mean_nothing_are_refused(void)
{
    expect(A, UNIT("m", "m=\"0.5\""), "m: an exponent must be a whole number up to");
    expect(A, UNIT("m", "m=\"1e9\""), "m: an exponent must be a whole number up to");
    expect(A, UNIT("m", "m=\"one\""), "m: \"one\" is not a finite number");
    expect(A, UNIT("m", "m=\"1\" factor=\"0\""), "factor: the factor of a unit must not be 0");
    expect(A, "<ssc:Unit/>", "Unit: the attribute name is missing");
}

static void connections_beyond_all_numbers_are_refused(void)
{
    expect(ELEMENTS(FMU("a", PORTS(PORT("y", "output", REAL("m"))))
                        FMU("b", PORTS(PORT("u", "input", REAL("mm"))))) LINK(LINEAR("1e308", "0")),
           METRES, "u: its factor is beyond the range of numbers");
    expect(PORTS(PORT("v", "input", "")) BIND(">" SET(NUMBER("v", "1e300"))) ELEMENTS(FMU(
               "a",
               PORTS(PORT(
                   "u", "input",
                   "")))) "<ssd:Connections><ssd:Connection startConnector=\"v\" endElement=\"a\" "
                          "endConnector=\"u\">" LINEAR("1e300",
                                                       "0") "</ssd:Connection></ssd:Connections>",
           "", "u: its value is beyond the range of numbers");
    expect(
        ELEMENTS(BUS("r", "d", PORTS(PORT("y", "inout", REAL("mm")))) FMU(
            "b",
            PORTS(PORT(
                "u", "input",
                "")))) "<ssd:Connections><ssd:Connection startElement=\"r\" startConnector=\"y\" "
                       "endElement=\"b\" endConnector=\"u\"/></ssd:Connections>" DICTIONARY(
                           "<ssb:SignalDictionary version=\"1.0\"><ssb:DictionaryEntry "
                           "name=\"y\">" REAL("m") "</ssb:DictionaryEntry></ssb:SignalDictionary>"),
        METRES, "y is in mm, in its dictionary in m");
}

static void more_components_than_may_be_are_refused(void)
{
    char inside[(MECHD_SSP_COMPONENTS_MOST + 2) * sizeof FMU("a000", "")] = "<ssd:Elements>";
    for (int k = 0; k <= MECHD_SSP_COMPONENTS_MOST; k++) {
        const size_t n = strlen(inside);
        (void)snprintf(inside + n, sizeof inside - n, FMU("a%03d", ""), k);
    }
    strcat(inside, "</ssd:Elements>");
    expect(inside, "", "more than 64 of this kind: Component");
}

/* What is read is bounded before any memory is taken for it. */
static void attributes_that_are_too_long_are_refused(void)
{
    static char inside[MECHD_SSP_TEXT_MOST + 1024], name[MECHD_SSP_TEXT_MOST + 2];
    memset(name, 'n', sizeof name - 1);
    (void)snprintf(inside, sizeof inside, ELEMENTS(FMU("%s", "")), name);
    expect(inside, "", "an attribute is longer than is allowed");
}

UNIT_TESTS(UNIT_TEST(connectors_that_mean_nothing_are_refused),
           UNIT_TEST(elements_that_mean_nothing_are_refused),
           UNIT_TEST(values_that_mean_nothing_are_refused),
           UNIT_TEST(bindings_that_mean_nothing_are_refused),
           UNIT_TEST(units_that_mean_nothing_are_refused),
           UNIT_TEST(connections_beyond_all_numbers_are_refused),
           UNIT_TEST(more_components_than_may_be_are_refused),
           UNIT_TEST(attributes_that_are_too_long_are_refused))
