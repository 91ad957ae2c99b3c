/* System structures into links and start values, and what is refused. The documents are ours,
 * written from System Structure and Parameterization 1.0.1, sections 5 to 8. */
#include "server/engine/ssp.h"

#include "tests/unit/unit.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAMESPACES                                                                                 \
    " xmlns:ssd=\"http://ssp-standard.org/SSP1/SystemStructureDescription\""                       \
    " xmlns:ssc=\"http://ssp-standard.org/SSP1/SystemStructureCommon\""                            \
    " xmlns:ssv=\"http://ssp-standard.org/SSP1/SystemStructureParameterValues\""                   \
    " xmlns:ssm=\"http://ssp-standard.org/SSP1/SystemStructureParameterMapping\""                  \
    " xmlns:ssb=\"http://ssp-standard.org/SSP1/SystemStructureSignalDictionary\""
#define HEAD "<ssd:SystemStructureDescription version=\"1.0\" name=\"drive\"" NAMESPACES ">"
#define TAIL "</ssd:SystemStructureDescription>"
#define SYSTEM(inside) HEAD "<ssd:System name=\"root\">" inside "</ssd:System>" UNITS TAIL
#define UNIT(name, base) "<ssc:Unit name=\"" name "\"><ssc:BaseUnit " base "/></ssc:Unit>"
#define UNITS                                                                                      \
    "<ssd:Units>" UNIT("rpm", "s=\"-1\" rad=\"1\" factor=\"0.125\"") UNIT(                         \
        "rad/s", "s=\"-1\" rad=\"1\"") UNIT("m", "m=\"1\"") UNIT("degC", "K=\"1\" offset=\"256\"") \
        UNIT("K", "K=\"1\"") "<ssc:Unit name=\"left\"/><ssc:Unit name=\"right\"/></ssd:Units>"
#define PORT(name, kind) "<ssd:Connector name=\"" name "\" kind=\"" kind "\"/>"
#define UNIT_PORT(name, kind, unit)                                                                \
    "<ssd:Connector name=\"" name "\" kind=\"" kind "\"><ssc:Real unit=\"" unit                    \
    "\"/></ssd:Connector>"
#define PORTS(inside) "<ssd:Connectors>" inside "</ssd:Connectors>"
#define COMPONENT(name, inside)                                                                    \
    "<ssd:Component name=\"" name "\" source=\"resources/a.fmu\">" inside "</ssd:Component>"
#define BLOCK(name) COMPONENT(name, PORTS(PORT("u", "input") PORT("y", "output")))
#define LINK_WITH(from, y, to, u, inside)                                                          \
    "<ssd:Connection startElement=\"" from "\" startConnector=\"" y "\" endElement=\"" to          \
    "\" endConnector=\"" u "\">" inside "</ssd:Connection>"
#define LINK(from, y, to, u) LINK_WITH(from, y, to, u, "")
#define ELEMENTS(inside) "<ssd:Elements>" inside "</ssd:Elements>"
#define LINKS(inside) "<ssd:Connections>" inside "</ssd:Connections>"
#define SET(inside)                                                                                \
    "<ssv:ParameterSet version=\"1.0\" name=\"s\"" NAMESPACES "><ssv:Parameters>" inside           \
    "</ssv:Parameters></ssv:ParameterSet>"
#define REAL(name, value)                                                                          \
    "<ssv:Parameter name=\"" name "\"><ssv:Real value=\"" value "\"/></ssv:Parameter>"
#define INLINE(inside)                                                                             \
    "<ssd:ParameterBinding><ssd:ParameterValues>" SET(inside) "</ssd:ParameterValues>"             \
                                                              "</ssd:ParameterBinding>"
#define BINDINGS(inside) "<ssd:ParameterBindings>" inside "</ssd:ParameterBindings>"
#define LINEAR(factor, offset)                                                                     \
    "<ssc:LinearTransformation factor=\"" factor "\" offset=\"" offset "\"/>"

/* An FMU with all that is connected here. */
static const char fmu[] =
    "<fmiModelDescription fmiVersion=\"2.0\" modelName=\"M\" guid=\"{1}\">"
    "<CoSimulation modelIdentifier=\"m\"/><UnitDefinitions>"
    "<Unit name=\"rad/s\"><BaseUnit s=\"-1\" rad=\"1\"/></Unit></UnitDefinitions><ModelVariables>"
    "<ScalarVariable name=\"u\" valueReference=\"1\" causality=\"input\"><Real start=\"0\"/>"
    "</ScalarVariable>"
    "<ScalarVariable name=\"y\" valueReference=\"2\" causality=\"output\"><Real/></ScalarVariable>"
    "<ScalarVariable name=\"speed\" valueReference=\"3\" causality=\"input\">"
    "<Real unit=\"rad/s\" start=\"0\"/></ScalarVariable>"
    "<ScalarVariable name=\"turn\" valueReference=\"4\" causality=\"output\">"
    "<Real unit=\"rad/s\"/></ScalarVariable>"
    "<ScalarVariable name=\"k\" valueReference=\"5\" causality=\"parameter\" variability=\"fixed\">"
    "<Real start=\"1\"/></ScalarVariable>"
    "<ScalarVariable name=\"a.b\" valueReference=\"6\" causality=\"parameter\" "
    "variability=\"fixed\"><Real start=\"1\"/></ScalarVariable>"
    "<ScalarVariable name=\"on\" valueReference=\"7\" causality=\"parameter\" "
    "variability=\"fixed\"><Boolean start=\"false\"/></ScalarVariable>"
    "<ScalarVariable name=\"path\" valueReference=\"8\" causality=\"parameter\" "
    "variability=\"fixed\"><String start=\"\"/></ScalarVariable>"
    "<ScalarVariable name=\"c\" valueReference=\"9\" causality=\"calculatedParameter\" "
    "variability=\"fixed\"><Real/></ScalarVariable>"
    "</ModelVariables></fmiModelDescription>";

struct file {
    const char *path, *text;
};

/* --- a package of texts ----------------------------------------------------------------------- */

enum { FILES = 4 };

static int read_file(void *of, const char *path, char **text, size_t *size, struct mech_diag *diag)
{
    const struct file *const files = of;
    for (size_t k = 0; k < FILES && files[k].path != NULL; k++) {
        if (strcmp(files[k].path, path) == 0) {
            *size = strlen(files[k].text);
            *text = malloc(*size + 1);
            memcpy(*text, files[k].text, *size + 1);
            return 0;
        }
    }
    mech_diag_add(diag, path, "is not in the archive");
    return 1;
}

struct joined {
    struct mechd_ssp s;
    struct mechd_fmu_description description;
    char said[4096]; /* all faults */
    int outcome;
};

static struct joined *join_files(struct file *files)
{
    static struct joined j;
    struct mech_diag diag;
    const struct mechd_fmu_description *all[MECHD_SSP_COMPONENTS_MOST];
    memset(&j, 0, sizeof j);
    mech_diag_init(&diag);
    CU_ASSERT_EQUAL(mechd_fmu_description_read(fmu, strlen(fmu), &j.description, &diag), 0);
    for (size_t k = 0; k < MECHD_SSP_COMPONENTS_MOST; k++) {
        all[k] = &j.description;
    }
    const struct mechd_ssp_files from = {.read = read_file, .of = files};
    j.outcome = mechd_ssp_read(&from, &j.s, &diag);
    if (j.outcome == 0) {
        j.outcome = mechd_ssp_join(&j.s, all, &diag);
    }
    CU_ASSERT_EQUAL(j.outcome == 0, diag.total == 0);
    for (size_t k = 0; k < diag.count; k++) {
        const size_t n = strlen(j.said);
        (void)snprintf(j.said + n, sizeof j.said - n, "%s %s\n", diag.entries[k].path,
                       diag.entries[k].text);
    }
    mech_diag_fini(&diag);
    return &j;
}

static struct joined *join(const char *ssd)
{
    struct file files[FILES] = {{"SystemStructure.ssd", ssd}};
    return join_files(files);
}

static void end(struct joined *j)
{
    mechd_ssp_fini(&j->s);
    mechd_fmu_description_fini(&j->description);
}

static bool good(const struct joined *j)
{
    if (j->outcome != 0) {
        (void)fprintf(stderr, "%s", j->said);
    }
    CU_ASSERT_EQUAL(j->outcome, 0);
    return j->outcome == 0;
}

static bool is_end(const struct joined *j, uint32_t component, const char *variable,
                   const char *expected)
{
    char text[256];
    (void)snprintf(text, sizeof text, "%s.%s", j->s.components[component].name, variable);
    return strcmp(text, expected) == 0;
}

static void check_link(const struct joined *j, const char *from, const char *to, double factor,
                       double offset)
{
    size_t k = 0;
    while (k < j->s.link_count && !is_end(j, j->s.links[k].to, j->s.links[k].input, to)) {
        k++;
    }
    CU_ASSERT_FATAL(k < j->s.link_count);
    CU_ASSERT(is_end(j, j->s.links[k].from, j->s.links[k].output, from));
    CU_ASSERT_EQUAL(j->s.links[k].factor, factor);
    CU_ASSERT_EQUAL(j->s.links[k].offset, offset);
}

/* The start value, or NaN. */
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

/* --- connections ------------------------------------------------------------------------------ */

static void signals_go_from_outputs_to_inputs_whichever_is_the_start(void)
{
    struct joined *const j = join(SYSTEM(ELEMENTS(BLOCK("a") BLOCK("b")) LINKS(
        LINK("a", "y", "b", "u") LINK_WITH("a", "u", "b", "y", LINEAR("-2", "0.5")))));
    if (good(j)) {
        CU_ASSERT_EQUAL(j->s.component_count, 2);
        CU_ASSERT_EQUAL(j->s.source_count, 1);
        CU_ASSERT_STRING_EQUAL(j->s.sources[0], "resources/a.fmu");
        CU_ASSERT_STRING_EQUAL(j->s.name, "drive");
        CU_ASSERT_EQUAL(j->s.link_count, 2);
        check_link(j, "a.y", "b.u", 1, 0);
        check_link(j, "b.y", "a.u", -2, 0.5);
    }
    end(j);
}

/* Units of a connector, else of the variable of its FMU; the transformation comes behind the
 * conversion, and in its place where that is suppressed. */
static void units_are_converted_before_the_linear_transformation(void)
{
    struct joined *const j = join(SYSTEM(
        ELEMENTS(COMPONENT("a", PORTS(UNIT_PORT("y", "output", "rpm") PORT("turn", "output")))
                     COMPONENT("b", PORTS(PORT("speed", "input") PORT("u", "input"))) COMPONENT(
                         "c", PORTS(PORT("speed", "input") UNIT_PORT("u", "input", "rpm")))
                         COMPONENT("d", PORTS(PORT("speed", "input"))))
            LINKS(LINK_WITH("a", "y", "b", "speed", LINEAR("3", "1")) LINK("a", "turn", "b", "u")
                      LINK("a", "turn", "c", "speed") LINK(
                          "a", "turn", "c",
                          "u") "<ssd:Connection startElement=\"a\" startConnector=\"y\" "
                               "endElement=\"d\" "
                               "endConnector=\"speed\" suppressUnitConversion=\"true\">" LINEAR(
                                   "3", "1") "</ssd:Connection>")));
    if (good(j)) {
        check_link(j, "a.y", "b.speed", 3 * 0.125, 1);
        // an input without a unit takes what comes
        check_link(j, "a.turn", "b.u", 1, 0);
        check_link(j, "a.turn", "c.speed", 1, 0);
        check_link(j, "a.turn", "c.u", 8, 0);
        check_link(j, "a.y", "d.speed", 3, 1);
    }
    end(j);
}

/* The FMU counts in rad/s, its connectors in rpm: links and values pass both. */
static void units_of_connectors_are_converted_to_those_of_their_fmus(void)
{
    struct joined *const j = join(SYSTEM(
        PORTS(UNIT_PORT("v", "input", "rad/s")) BINDINGS(INLINE(REAL("v", "3")))
            ELEMENTS(COMPONENT("a", PORTS(UNIT_PORT("turn", "output", "rpm")))
                         COMPONENT("b", PORTS(UNIT_PORT("speed", "input", "rpm")))
                             COMPONENT("c", PORTS(PORT("speed", "input") PORT("u", "input")))
                                 COMPONENT("d", PORTS(UNIT_PORT("speed", "input", "rpm"))
                                                    BINDINGS(INLINE(REAL("speed", "16"))))
                                     COMPONENT("e", PORTS(UNIT_PORT("speed", "input", "rpm"))))
                LINKS(LINK_WITH("a", "turn", "b", "speed", LINEAR("1", "16"))
                          LINK("a", "turn", "c", "speed")
                              LINK("a", "turn", "c",
                                   "u") "<ssd:Connection startConnector=\"v\" endElement=\"e\" "
                                        "endConnector=\"speed\"/>")));
    if (good(j)) {
        check_link(j, "a.turn", "b.speed", 1, 2);
        check_link(j, "a.turn", "c.speed", 1, 0);
        check_link(j, "a.turn", "c.u", 8, 0);
        // a value without a unit is in that of the connector
        CU_ASSERT_EQUAL(start(j, "d", "speed"), 2);
        CU_ASSERT_EQUAL(start(j, "e", "speed"), 3);
    }
    end(j);
}

static void offsets_of_units_are_converted(void)
{
    struct joined *const j =
        join(SYSTEM(ELEMENTS(COMPONENT("a", PORTS(UNIT_PORT("y", "output", "degC"))) COMPONENT(
            "b", PORTS(UNIT_PORT("u", "input", "K")))) LINKS(LINK("a", "y", "b", "u"))));
    if (good(j)) {
        check_link(j, "a.y", "b.u", 1, 256);
    }
    end(j);
}

/* inner: u → 4 u + 1 → b.u, b.y → −1 b.y → y; outer: a.y → 2 a.y + 3 → u. */
static void nested_systems_are_flattened_with_all_that_is_on_the_way(void)
{
    static const char inner[] = "<ssd:System name=\"in\">" PORTS(
        PORT("u", "input") PORT("y", "output")) ELEMENTS(BLOCK("b"))
        LINKS("<ssd:Connection startConnector=\"u\" endElement=\"b\" endConnector=\"u\">" LINEAR(
            "4", "1") "</ssd:Connection><ssd:Connection startElement=\"b\" startConnector=\"y\" "
                      "endConnector=\"y\">" LINEAR("-1", "0") "</ssd:Connection>") "</ssd:System>";
    char text[8192];
    (void)snprintf(
        text, sizeof text, "%s%s%s", HEAD "<ssd:System name=\"root\"><ssd:Elements>", inner,
        BLOCK("a") "</ssd:Elements>" LINKS(LINK_WITH("a", "y", "in", "u", LINEAR("2", "3")) LINK(
            "in", "y", "a", "u")) "</ssd:System>" UNITS TAIL);
    struct joined *const j = join(text);
    if (good(j)) {
        CU_ASSERT_STRING_EQUAL(j->s.components[0].name, "a");
        CU_ASSERT_STRING_EQUAL(j->s.components[1].name, "in.b");
        check_link(j, "a.y", "in.b.u", 8, 13);
        check_link(j, "in.b.y", "a.u", -1, 0);
    }
    end(j);
}

/* A bus of the outer system, which a system within it refers to. */
static void signals_go_through_dictionaries(void)
{
    static const char bus[] =
        "<ssd:SignalDictionaryReference name=\"bus\" dictionary=\"signals\">" PORTS(
            PORT("force", "inout")) "</ssd:SignalDictionaryReference>";
    char text[8192];
    (void)snprintf(
        text, sizeof text, "%s%s%s%s%s%s%s", HEAD "<ssd:System name=\"root\"><ssd:Elements>", bus,
        BLOCK("a") "<ssd:System name=\"in\"><ssd:Elements>", bus,
        BLOCK("b") "</ssd:Elements>" LINKS(LINK("bus", "force", "b", "u")) "</ssd:System>",
        "</ssd:Elements>" LINKS(LINK_WITH("a", "y", "bus", "force", LINEAR("2", "0"))),
        "<ssd:SignalDictionaries><ssd:SignalDictionary name=\"signals\" source=\"bus.ssb\"/>"
        "</ssd:SignalDictionaries></ssd:System>" UNITS TAIL);
    struct file files[FILES] = {
        {"SystemStructure.ssd", text},
        {"bus.ssb", "<ssb:SignalDictionary version=\"1.0\"" NAMESPACES
                    "><ssb:DictionaryEntry name=\"force\"><ssc:Real/></ssb:DictionaryEntry>"
                    "</ssb:SignalDictionary>"}};
    struct joined *const j = join_files(files);
    if (good(j)) {
        check_link(j, "a.y", "in.b.u", 2, 0);
    }
    end(j);
}

/* --- values ----------------------------------------------------------------------------------- */

static void values_of_outer_systems_take_precedence_and_later_ones(void)
{
    struct joined *const j = join(SYSTEM(
        BINDINGS(INLINE(REAL("in.a.k", "5") REAL("nothing", "1") REAL("in.none", "1")))
            ELEMENTS("<ssd:System name=\"in\">" BINDINGS(INLINE(REAL("a.k", "3") REAL("b.k", "3"))
                                                             INLINE(REAL("b.k", "4")))
                         ELEMENTS(COMPONENT("a", BINDINGS(INLINE(REAL("k", "2") REAL("a.b", "7"))))
                                      COMPONENT("b", "")) "</ssd:System>")));
    if (good(j)) {
        CU_ASSERT_EQUAL(start(j, "in.a", "k"), 5);
        CU_ASSERT_EQUAL(start(j, "in.a", "a.b"), 7);
        CU_ASSERT_EQUAL(start(j, "in.b", "k"), 4);
        CU_ASSERT_EQUAL(j->s.start_count, 3);
    }
    end(j);
}

static void parameter_sets_are_files_with_prefixes_and_mappings(void)
{
    static const char ssd[] = SYSTEM(
        BINDINGS("<ssd:ParameterBinding source=\"resources/v%61lues.ssv\" prefix=\"a.\"/>"
                 "<ssd:ParameterBinding source=\"./resources/values.ssv\"><ssd:ParameterMapping "
                 "source=\"m.ssm\"/></ssd:ParameterBinding>")
            ELEMENTS(COMPONENT("a", "") COMPONENT("b", "")));
    struct file files[FILES] = {
        {"SystemStructure.ssd", ssd},
        {"resources/values.ssv", SET(REAL("k", "2") "<ssv:Parameter name=\"on\"><ssv:Boolean "
                                                    "value=\"true\"/></ssv:Parameter>"
                                                    "<ssv:Parameter name=\"text\"><ssv:String "
                                                    "value=\"x\"/></ssv:Parameter>")},
        {"m.ssm",
         "<ssm:ParameterMapping version=\"1.0\"" NAMESPACES "><ssm:MappingEntry source=\"k\" "
         "target=\"b.k\">" LINEAR("10", "1") "</ssm:MappingEntry></ssm:ParameterMapping>"}};
    struct joined *const j = join_files(files);
    if (good(j)) {
        CU_ASSERT_EQUAL(start(j, "a", "k"), 2);
        CU_ASSERT_EQUAL(start(j, "a", "on"), 1);
        CU_ASSERT_EQUAL(start(j, "b", "k"), 21);
        // only what is mapped
        CU_ASSERT(isnan(start(j, "b", "on")));
        CU_ASSERT_EQUAL(j->s.start_count, 3);
    }
    end(j);
}

static void values_are_converted_to_the_units_that_they_meet(void)
{
    struct joined *const j = join(SYSTEM(BINDINGS(
        "<ssd:ParameterBinding><ssd:ParameterValues><ssv:ParameterSet version=\"1.0\" "
        "name=\"s\"><ssv:Parameters><ssv:Parameter name=\"a.speed\"><ssv:Real "
        "value=\"80\" unit=\"rpm\"/></ssv:Parameter></ssv:Parameters>"
        "<ssv:Units>" UNIT(
            "rpm",
            "s=\"-1\" rad=\"1\" factor=\"0.125\"") "</ssv:Units></ssv:ParameterSet></"
                                                   "ssd:ParameterValues></ssd:ParameterBinding>")
                                             ELEMENTS(COMPONENT("a", ""))));
    if (good(j)) {
        CU_ASSERT_EQUAL(start(j, "a", "speed"), 10);
    }
    end(j);
}

static void a_value_of_a_connector_reaches_what_it_drives(void)
{
    struct joined *const j = join(SYSTEM(
        PORTS(PORT("gain", "parameter") PORT("free", "input")) BINDINGS(INLINE(REAL("gain", "3")))
            ELEMENTS(COMPONENT("a", PORTS(PORT("k", "parameter") PORT("u", "input"))))
                LINKS("<ssd:Connection startConnector=\"gain\" endElement=\"a\" "
                      "endConnector=\"k\">" LINEAR(
                          "2", "0") "</ssd:Connection>"
                                    "<ssd:Connection startConnector=\"free\" endElement=\"a\" "
                                    "endConnector=\"u\"/>")));
    if (good(j)) {
        CU_ASSERT_EQUAL(start(j, "a", "k"), 6);
        CU_ASSERT_EQUAL(j->s.start_count, 1);
        CU_ASSERT_EQUAL(j->s.link_count, 0);
    }
    end(j);
}

/* root.x → ·2 → s.p → ·4 → s.a.u; values of x, which drives p, take precedence. */
static struct joined *join_two(const char *outer, const char *inner)
{
    static const char p_to_u[] = LINKS("<ssd:Connection startConnector=\"p\" endElement=\"a\" "
                                       "endConnector=\"u\">" LINEAR("4", "0") "</ssd:Connection>");
    static const char x_to_p[] = LINKS("<ssd:Connection startConnector=\"x\" endElement=\"s\" "
                                       "endConnector=\"p\">" LINEAR("2", "0") "</ssd:Connection>");
    char text[8192];
    (void)snprintf(text, sizeof text, "%s%s%s%s%s%s%s%s",
                   HEAD "<ssd:System name=\"root\">" PORTS(PORT("x", "input")), outer,
                   "<ssd:Elements><ssd:System name=\"s\">" PORTS(PORT("p", "input")), inner,
                   ELEMENTS(BLOCK("a")), p_to_u, "</ssd:System></ssd:Elements>", x_to_p);
    strcat(text, "</ssd:System>" UNITS TAIL);
    return join(text);
}

static void a_value_of_an_inner_connector_remains_where_those_outside_have_none(void)
{
    struct joined *j = join_two("", BINDINGS(INLINE(REAL("p", "3"))));
    if (good(j)) {
        CU_ASSERT_EQUAL(start(j, "s.a", "u"), 12);
    }
    end(j);
    j = join_two(BINDINGS(INLINE(REAL("x", "5"))), BINDINGS(INLINE(REAL("p", "3"))));
    if (good(j)) {
        CU_ASSERT_EQUAL(start(j, "s.a", "u"), 40);
        CU_ASSERT_EQUAL(j->s.start_count, 1);
    }
    end(j);
}

/* --- the rest --------------------------------------------------------------------------------- */

static void names_that_are_none_of_participants_are_replaced(void)
{
    struct joined *const j = join(SYSTEM(ELEMENTS(BLOCK("my motor (left)"))));
    if (good(j)) {
        CU_ASSERT_STRING_EQUAL(j->s.components[0].name, "my_motor__left_");
    }
    end(j);
}

static void what_this_server_adds_is_found_and_what_others_add_is_passed_over(void)
{
    struct joined *const j = join(HEAD "<ssd:System name=\"root\">" ELEMENTS(BLOCK(
        "a")) "<ssd:Annotations><ssc:Annotation type=\"x\"><x:a xmlns:x=\"urn:x\"><ssd:System "
              "name=\"no\"/></x:a></ssc:Annotation></ssd:Annotations></ssd:System>"
              "<ssd:Annotations><ssc:Annotation type=\"y\"/><ssc:Annotation type=\"mechd\">"
              "<m:Coupling xmlns:m=\"urn:mechd:coupling\" settings=\"{&quot;hold&quot;:1}\"/>"
              "</ssc:Annotation></ssd:Annotations>" TAIL);
    if (good(j)) {
        CU_ASSERT_PTR_NOT_NULL(j->s.settings);
        CU_ASSERT_STRING_EQUAL(j->s.settings, "{\"hold\":1}");
    }
    end(j);
}

static void expect(const char *ssd, const char *part)
{
    struct joined *const j = join(ssd);
    if (j->outcome != MECHD_SSP_REFUSED || strstr(j->said, part) == NULL) {
        (void)fprintf(stderr, "%d: %s (not %s)\n", j->outcome, j->said, part);
    }
    CU_ASSERT_EQUAL(j->outcome, MECHD_SSP_REFUSED);
    CU_ASSERT_PTR_NOT_NULL(strstr(j->said, part));
    end(j);
}

static void documents_that_are_none_are_refused(void)
{
    expect("<", "SystemStructure.ssd line 1:");
    expect("<!DOCTYPE a [<!ENTITY b \"c\">]>" SYSTEM(ELEMENTS(BLOCK("a"))),
           "a document type is not allowed");
    expect("<a/>", "not a SystemStructureDescription");
    expect("<ssd:SystemStructureDescription version=\"3.0\" name=\"d\"" NAMESPACES "/>", "version");
    expect(HEAD TAIL, "has no System");
    expect(SYSTEM(""), "no components");
    char deep[4096] = HEAD;
    for (int k = 0; k < 40; k++) {
        strcat(deep, "<ssd:System name=\"s\">");
    }
    expect(deep, "32 deep");
    struct file none[FILES] = {{NULL, NULL}};
    struct joined *const j = join_files(none);
    CU_ASSERT_EQUAL(j->outcome, MECHD_SSP_REFUSED);
    end(j);
}

static void what_is_not_supported_is_refused_by_name(void)
{
    expect(SYSTEM(ELEMENTS("<ssd:Component name=\"deep\" source=\"b.ssp\" "
                           "type=\"application/x-ssp-package\"/>")),
           "component deep: type application/x-ssp-package");
    expect(SYSTEM(ELEMENTS("<ssd:Component name=\"me\" source=\"b.fmu\" "
                           "implementation=\"ModelExchange\"/>")),
           "component me: only FMUs for co-simulation");
    expect(SYSTEM(ELEMENTS(BLOCK("a") BLOCK("b")) LINKS(
               LINK_WITH("a", "y", "b", "u",
                         "<ssc:BooleanMappingTransformation><ssc:MapEntry source=\"true\" "
                         "target=\"false\"/></ssc:BooleanMappingTransformation>"))),
           "BooleanMappingTransformation");
    expect(SYSTEM(ELEMENTS(COMPONENT("a", PORTS(PORT("c", "calculatedParameter"))) COMPONENT(
               "b", PORTS(PORT("k", "parameter")))) LINKS(LINK("a", "c", "b", "k"))),
           "k of b follows c");
    expect(SYSTEM(BINDINGS("<ssd:ParameterBinding source=\"a.ssv\" sourceBase=\"component\"/>")
                      ELEMENTS(BLOCK("a"))),
           "within a component");
    expect(SYSTEM(ELEMENTS(COMPONENT(
               "a", BINDINGS(INLINE("<ssv:Parameter name=\"path\"><ssv:String value=\"x\"/>"
                                    "</ssv:Parameter>"))))),
           "path: only numbers");
    expect(SYSTEM(ELEMENTS(COMPONENT("a", BINDINGS(INLINE(REAL("y", "1")))))),
           "y of a: only inputs and parameters");
}

static void sources_stay_within_the_package(void)
{
    static const char *const paths[] = {"../a.fmu",       "/a.fmu",   "file:///a.fmu", "r/../../a",
                                        "r/%2e%2e/a.fmu", "a%00.fmu", "http://h/a",    "a%2",
                                        "r\\a.fmu"};
    for (size_t k = 0; k < sizeof paths / sizeof *paths; k++) {
        char text[4096];
        (void)snprintf(text, sizeof text,
                       HEAD "<ssd:System name=\"r\"><ssd:Elements><ssd:Component name=\"a\" "
                            "source=\"%s\"/></ssd:Elements></ssd:System>" TAIL,
                       paths[k]);
        expect(text, "is not a file of the package");
    }
}

static void connections_that_mean_nothing_are_refused(void)
{
    expect(SYSTEM(ELEMENTS(BLOCK("a")) LINKS(LINK("a", "y", "b", "u"))), "no element b");
    expect(SYSTEM(ELEMENTS(BLOCK("a") BLOCK("b")) LINKS(LINK("a", "z", "b", "u"))),
           "a has no connector z");
    expect(SYSTEM(ELEMENTS(BLOCK("a") BLOCK("b")) LINKS(LINK("a", "y", "b", "y"))),
           "the kinds of y and y cannot be connected");
    expect(SYSTEM(ELEMENTS(BLOCK("a") BLOCK("b"))
                      LINKS(LINK("a", "y", "b", "u") LINK("b", "y", "b", "u"))),
           "u is driven by two connections");
    expect(SYSTEM(ELEMENTS(COMPONENT("a", PORTS(UNIT_PORT("y", "output", "m"))) COMPONENT(
               "b", PORTS(PORT("speed", "input")))) LINKS(LINK("a", "y", "b", "speed"))),
           "y is in m, speed in rad/s");
    // only their names are known
    expect(SYSTEM(ELEMENTS(COMPONENT("a", PORTS(UNIT_PORT("y", "output", "left"))) COMPONENT(
               "b", PORTS(UNIT_PORT("u", "input", "right")))) LINKS(LINK("a", "y", "b", "u"))),
           "y is in left, u in right: the conversion");
    expect(SYSTEM(ELEMENTS(COMPONENT("b", PORTS(UNIT_PORT("speed", "input", "m"))))),
           "speed of b is in m, in its FMU in rad/s");
    expect(SYSTEM(ELEMENTS(BLOCK("a") BLOCK("a"))), "the name a occurs twice");
    expect(SYSTEM(ELEMENTS(COMPONENT("a", PORTS(PORT("nil", "input"))))),
           "the FMU of a has no variable nil");
    expect(SYSTEM(ELEMENTS(COMPONENT("a", PORTS(PORT("u", "output"))))), "another causality");
    // round through a dictionary
    expect(
        SYSTEM(
            ELEMENTS("<ssd:SignalDictionaryReference name=\"r\" dictionary=\"d\">" PORTS(PORT(
                "p", "inout") PORT("q", "inout")) "</ssd:SignalDictionaryReference>" BLOCK("a"))
                LINKS(LINK("r", "p", "r", "q") LINK("r", "q", "r", "p") LINK(
                    "r", "p", "a",
                    "u")) "<ssd:SignalDictionaries><ssd:SignalDictionary name=\"d\">"
                          "<ssb:SignalDictionary version=\"1.0\"><ssb:DictionaryEntry name=\"p\"/>"
                          "<ssb:DictionaryEntry name=\"q\"/></ssb:SignalDictionary>"
                          "</ssd:SignalDictionary></ssd:SignalDictionaries>"),
        "forms a loop");
    expect(
        SYSTEM(ELEMENTS("<ssd:SignalDictionaryReference name=\"r\" dictionary=\"d\"/>" BLOCK("a"))),
        "no signal dictionary d");
}

static void faults_are_reported_together_each_with_its_line(void)
{
    struct joined *const j = join(SYSTEM(
        ELEMENTS(BLOCK("a")) LINKS("\n" LINK("a", "y", "b", "u") "\n" LINK("a", "y", "c", "u"))));
    CU_ASSERT_PTR_NOT_NULL(strstr(j->said, "/SystemStructure.ssd line 2:"));
    CU_ASSERT_PTR_NOT_NULL(strstr(j->said, "/SystemStructure.ssd line 3:"));
    end(j);
}

UNIT_TESTS(UNIT_TEST(signals_go_from_outputs_to_inputs_whichever_is_the_start),
           UNIT_TEST(units_are_converted_before_the_linear_transformation),
           UNIT_TEST(units_of_connectors_are_converted_to_those_of_their_fmus),
           UNIT_TEST(offsets_of_units_are_converted),
           UNIT_TEST(nested_systems_are_flattened_with_all_that_is_on_the_way),
           UNIT_TEST(signals_go_through_dictionaries),
           UNIT_TEST(values_of_outer_systems_take_precedence_and_later_ones),
           UNIT_TEST(parameter_sets_are_files_with_prefixes_and_mappings),
           UNIT_TEST(values_are_converted_to_the_units_that_they_meet),
           UNIT_TEST(a_value_of_a_connector_reaches_what_it_drives),
           UNIT_TEST(a_value_of_an_inner_connector_remains_where_those_outside_have_none),
           UNIT_TEST(names_that_are_none_of_participants_are_replaced),
           UNIT_TEST(what_this_server_adds_is_found_and_what_others_add_is_passed_over),
           UNIT_TEST(documents_that_are_none_are_refused),
           UNIT_TEST(what_is_not_supported_is_refused_by_name),
           UNIT_TEST(sources_stay_within_the_package),
           UNIT_TEST(connections_that_mean_nothing_are_refused),
           UNIT_TEST(faults_are_reported_together_each_with_its_line))
