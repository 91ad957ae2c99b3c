/* Temperatures and differences of them: of a difference the offset of its unit does not count. */
#include "server/engine/ssp.h"

#include "tests/unit/unit.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAMESPACES                                                                                 \
    " xmlns:ssd=\"http://ssp-standard.org/SSP1/SystemStructureDescription\""                       \
    " xmlns:ssc=\"http://ssp-standard.org/SSP1/SystemStructureCommon\""                            \
    " xmlns:ssv=\"http://ssp-standard.org/SSP1/SystemStructureParameterValues\""
#define UNITS                                                                                      \
    "<ssc:Unit name=\"degC\"><ssc:BaseUnit K=\"1\" offset=\"256\"/></ssc:Unit>"                    \
    "<ssc:Unit name=\"K\"><ssc:BaseUnit K=\"1\"/></ssc:Unit>"
#define PORT(name, kind) "<ssd:Connector name=\"" name "\" kind=\"" kind "\"/>"
#define UNIT_PORT(name, kind, unit)                                                                \
    "<ssd:Connector name=\"" name "\" kind=\"" kind "\"><ssc:Real unit=\"" unit                    \
    "\"/></ssd:Connector>"
#define COMPONENT(name, ports)                                                                     \
    "<ssd:Component name=\"" name "\" source=\"a.fmu\"><ssd:Connectors>" ports                     \
    "</ssd:Connectors></ssd:Component>"
#define LINK(from, y, to, u)                                                                       \
    "<ssd:Connection startElement=\"" from "\" startConnector=\"" y "\" endElement=\"" to          \
    "\" endConnector=\"" u "\"/>"
#define OUTER_LINK(y, to, u)                                                                       \
    "<ssd:Connection startConnector=\"" y "\" endElement=\"" to "\" endConnector=\"" u "\"/>"
#define IN_K(name)                                                                                 \
    "<ssv:Parameter name=\"" name "\"><ssv:Real value=\"5\" unit=\"K\"/></ssv:Parameter>"
#define ROOT(before, elements, links)                                                              \
    "<ssd:SystemStructureDescription version=\"1.0\" name=\"d\"" NAMESPACES                        \
    "><ssd:System name=\"r\">" before "<ssd:Elements>" elements                                    \
    "</ssd:Elements><ssd:Connections>" links "</ssd:Connections></ssd:System><ssd:Units>" UNITS    \
    "</ssd:Units></ssd:SystemStructureDescription>"

static const char fmu[] =
    "<fmiModelDescription fmiVersion=\"2.0\" modelName=\"M\" guid=\"{1}\">"
    "<CoSimulation modelIdentifier=\"m\"/><UnitDefinitions>"
    "<Unit name=\"degC\"><BaseUnit K=\"1\" offset=\"256\"/></Unit>"
    "<Unit name=\"K\"><BaseUnit K=\"1\"/></Unit></UnitDefinitions>"
    "<TypeDefinitions><SimpleType name=\"Rise\"><Real unit=\"degC\" relativeQuantity=\"true\"/>"
    "</SimpleType></TypeDefinitions><ModelVariables>"
    "<ScalarVariable name=\"heat\" valueReference=\"1\" causality=\"output\">"
    "<Real unit=\"degC\"/></ScalarVariable>"
    "<ScalarVariable name=\"rise\" valueReference=\"2\" causality=\"output\">"
    "<Real declaredType=\"Rise\"/></ScalarVariable>"
    "<ScalarVariable name=\"warmth\" valueReference=\"3\" causality=\"input\">"
    "<Real unit=\"degC\" start=\"0\"/></ScalarVariable>"
    "<ScalarVariable name=\"gap\" valueReference=\"4\" causality=\"input\">"
    "<Real unit=\"K\" start=\"0\" relativeQuantity=\"true\"/></ScalarVariable>"
    "</ModelVariables></fmiModelDescription>";

static int read_file(void *of, const char *path, char **text, size_t *size, struct mech_diag *diag)
{
    (void)path;
    (void)diag;
    *text = strdup(of);
    *size = strlen(of);
    return 0;
}

struct joined {
    struct mechd_fmu_description description;
    struct mechd_ssp s;
    char said[512]; /* the first fault */
    int outcome;
};

static void join(char *text, struct joined *out)
{
    struct mech_diag diag;
    const struct mechd_fmu_description *const all[] = {&out->description};
    const struct mechd_ssp_files files = {.read = read_file, .of = text};
    mech_diag_init(&diag);
    CU_ASSERT_EQUAL_FATAL(mechd_fmu_description_read(fmu, strlen(fmu), &out->description, &diag),
                          0);
    out->outcome = mechd_ssp_read(&files, &out->s, &diag);
    if (out->outcome == 0) {
        out->outcome = mechd_ssp_join(&out->s, all, &diag);
    }
    (void)snprintf(out->said, sizeof out->said, "%s", diag.count > 0 ? diag.entries[0].text : "");
    mech_diag_fini(&diag);
}

static void end(struct joined *j)
{
    mechd_ssp_fini(&j->s);
    mechd_fmu_description_fini(&j->description);
}

/* The link that drives an input. */
static void check_link(const struct joined *j, const char *component, const char *input,
                       double factor, double offset)
{
    size_t k = 0;
    while (k < j->s.link_count && (strcmp(j->s.components[j->s.links[k].to].name, component) != 0 ||
                                   strcmp(j->s.links[k].input, input) != 0)) {
        k++;
    }
    CU_ASSERT_FATAL(k < j->s.link_count);
    CU_ASSERT_EQUAL(j->s.links[k].factor, factor);
    CU_ASSERT_EQUAL(j->s.links[k].offset, offset);
}

static double start(const struct joined *j, const char *component, const char *variable)
{
    for (size_t k = 0; k < j->s.start_count; k++) {
        const struct mechd_ssp_start *const s = &j->s.starts[k];
        if (strcmp(j->s.components[s->component].name, component) == 0 &&
            strcmp(s->variable->name, variable) == 0) {
            return s->values[0];
        }
    }
    return NAN;
}

/* Values of two connectors of the outermost system, in K. */
#define VALUES                                                                                     \
    "<ssd:Connectors>" UNIT_PORT("v", "input", "degC")                                             \
        UNIT_PORT("w", "input", "degC") "</ssd:Connectors><ssd:ParameterBindings>" SET             \
                                        "</ssd:ParameterBindings>"
#define SET                                                                                        \
    "<ssd:ParameterBinding><ssd:ParameterValues><ssv:ParameterSet version=\"1.0\" name=\"s\">"     \
    "<ssv:Parameters>" IN_K("v") IN_K("w") "</ssv:Parameters><ssv:Units>" UNITS                    \
                                           "</ssv:Units></ssv:ParameterSet>"                       \
                                           "</ssd:ParameterValues></ssd:ParameterBinding>"
#define BOTH PORT("gap", "input") PORT("warmth", "input")
#define BOTH_OTHERS UNIT_PORT("gap", "input", "degC") UNIT_PORT("warmth", "input", "K")
#define IN_LINK OUTER_LINK("p", "e", "gap")
#define IN_PORT UNIT_PORT("p", "input", "degC")
#define IN_PART COMPONENT("e", PORT("gap", "input"))
#define INNER                                                                                      \
    "<ssd:System name=\"in\"><ssd:Connectors>" IN_PORT "</ssd:Connectors><ssd:Elements>" IN_PART   \
    "</ssd:Elements><ssd:Connections>" IN_LINK "</ssd:Connections></ssd:System>"

static void differences_are_converted_without_offsets(void)
{
#define A COMPONENT("a", PORT("heat", "output") PORT("rise", "output"))
#define COMPONENTS A COMPONENT("b", BOTH) COMPONENT("c", BOTH_OTHERS) COMPONENT("d", BOTH) INNER
#define TO(b) LINK("a", "rise", b, "gap") LINK("a", "heat", b, "warmth")
#define FROM_OUTER OUTER_LINK("v", "d", "gap") OUTER_LINK("w", "d", "warmth")
    static char text[] =
        ROOT(VALUES, COMPONENTS, TO("b") TO("c") FROM_OUTER LINK("a", "rise", "in", "p"));
    struct joined j;
    join(text, &j);
    CU_ASSERT_STRING_EQUAL(j.said, "");
    CU_ASSERT_EQUAL_FATAL(j.outcome, 0);
    check_link(&j, "b", "gap", 1., 0.);
    check_link(&j, "b", "warmth", 1., 0.);
    check_link(&j, "c", "gap", 1., 0.);
    // to K of the connector and back
    check_link(&j, "c", "warmth", 1., 0.);
    check_link(&j, "in.e", "gap", 1., 0.);
    // 5 K are a difference of 5 degC, or a temperature of -251 degC
    CU_ASSERT_EQUAL(start(&j, "d", "gap"), 5.);
    CU_ASSERT_EQUAL(start(&j, "d", "warmth"), -251.);
    end(&j);
}

static void a_temperature_is_no_difference(void)
{
#define ALONE(from, to)                                                                            \
    ROOT("", COMPONENT("a", PORT(from, "output")) COMPONENT("b", PORT(to, "input")),               \
         LINK("a", from, "b", to))
    static char texts[][4096] = {
        ALONE("heat", "gap"), ALONE("rise", "warmth"),
        // its connector has the unit of the temperature
        ROOT("", COMPONENT("a", PORT("heat", "output")) COMPONENT("b", BOTH_OTHERS),
             LINK("a", "heat", "b", "gap"))};
    static const char *const expected[] = {
        "heat is in degC, gap in K: one is a difference, the other one is not",
        "rise is in degC, warmth in degC: one is a difference, the other one is not",
        "heat is in degC, gap in degC: one is a difference, the other one is not"};
    for (size_t k = 0; k < sizeof texts / sizeof *texts; k++) {
        struct joined j;
        join(texts[k], &j);
        CU_ASSERT_EQUAL(j.outcome, MECHD_SSP_REFUSED);
        CU_ASSERT_PTR_NOT_NULL(strstr(j.said, expected[k]));
        end(&j);
    }
}

UNIT_TESTS(UNIT_TEST(differences_are_converted_without_offsets),
           UNIT_TEST(a_temperature_is_no_difference))
