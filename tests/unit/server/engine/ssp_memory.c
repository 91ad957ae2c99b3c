/* A package with all that may stand in one: additions of others are passed over, and whichever
 * allocation fails, it is refused or read whole. The documents are ours. */
#include "server/engine/ssp.h"
#include "server/engine/ssp_xml.h"

#include "solver/base/err.h"
#include "tests/unit/alloc_count.h"
#include "tests/unit/unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAMESPACES                                                                                 \
    " xmlns:ssd=\"http://ssp-standard.org/SSP1/SystemStructureDescription\""                       \
    " xmlns:ssc=\"http://ssp-standard.org/SSP1/SystemStructureCommon\""                            \
    " xmlns:ssv=\"http://ssp-standard.org/SSP1/SystemStructureParameterValues\""                   \
    " xmlns:ssm=\"http://ssp-standard.org/SSP1/SystemStructureParameterMapping\" "                 \
    "xmlns:x=\"urn:x\""
#define NOTE "<ssc:Annotations><ssc:Annotation type=\"x\"/></ssc:Annotations>"

/* %s: a name, of any length */
static const char description[] =
    "<ssd:SystemStructureDescription version=\"1.0\" name=\"%s\"" NAMESPACES ">"
    "<ssd:System name=\"root\"><ssd:ParameterBindings><ssd:ParameterBinding source=\"v.ssv\" "
    "prefix=\"a.\"><ssd:ParameterMapping source=\"m.ssm\"/></ssd:ParameterBinding>"
    "</ssd:ParameterBindings><ssd:Elements>"
    "<ssd:Component name=\"a\" source=\"m.fmu\" x:shade=\"red\"><ssd:Connectors>"
    "<ssd:Connector name=\"u\" kind=\"input\"/><ssd:Connector name=\"y\" kind=\"output\"/>"
    "</ssd:Connectors></ssd:Component>"
    "<ssd:Component name=\"b\" source=\"m.fmu\"><ssd:Connectors><ssd:Connector name=\"u\" "
    "kind=\"input\"/></ssd:Connectors></ssd:Component></ssd:Elements><ssd:Connections>"
    "<ssd:Connection startElement=\"a\" startConnector=\"y\" endElement=\"b\" endConnector=\"u\">"
    "<ssd:ConnectionGeometry/><ssc:LinearTransformation factor=\"3\" offset=\"0.5\"/>"
    "</ssd:Connection></ssd:Connections></ssd:System></ssd:SystemStructureDescription>";
static const char values[] =
    "<ssv:ParameterSet version=\"1.0\" name=\"s\"" NAMESPACES ">" NOTE "<ssv:Parameters>" NOTE
    "<ssv:Parameter name=\"k\">" NOTE
    "<ssv:Real value=\"2\"/></ssv:Parameter></ssv:Parameters></ssv:ParameterSet>";
static const char mapping[] = "<ssm:ParameterMapping version=\"1.0\"" NAMESPACES ">" NOTE
                              "<ssm:MappingEntry source=\"a.k\" target=\"b.k\"/>"
                              "</ssm:ParameterMapping>";
static const char fmu[] =
    "<fmiModelDescription fmiVersion=\"2.0\" modelName=\"M\" guid=\"{1}\">"
    "<CoSimulation modelIdentifier=\"m\"/><ModelVariables>"
    "<ScalarVariable name=\"u\" valueReference=\"1\" causality=\"input\"><Real start=\"0\"/>"
    "</ScalarVariable>"
    "<ScalarVariable name=\"y\" valueReference=\"2\" causality=\"output\"><Real/></ScalarVariable>"
    "<ScalarVariable name=\"k\" valueReference=\"3\" causality=\"parameter\" variability=\"fixed\">"
    "<Real start=\"1\"/></ScalarVariable></ModelVariables></fmiModelDescription>";

enum { NAME_MOST = 8192, NAME_STEP = 64 /* an arena's lines */ };

/* The files of the package; what the test itself takes is not refused. */
static int read_file(void *of, const char *path, char **text, size_t *size, struct mech_diag *diag)
{
    const char *const from = strcmp(path, "v.ssv") == 0   ? values
                             : strcmp(path, "m.ssm") == 0 ? mapping
                                                          : of;
    (void)diag;
    alloc_exempt(true);
    *text = strdup(from);
    alloc_exempt(false);
    *size = strlen(from);
    return *text != NULL ? 0 : 1;
}

struct read {
    struct mechd_ssp s;
    struct mech_diag diag;
    int outcome;
};

static void read_package(const char *text, const struct mechd_fmu_description *d, struct read *out)
{
    const struct mechd_fmu_description *const all[] = {d};
    union {
        const char *in;
        void *of;
    } names = {.in = text};
    const struct mechd_ssp_files files = {.read = read_file, .of = names.of};
    mech_diag_init(&out->diag);
    out->outcome = mechd_ssp_read(&files, &out->s, &out->diag);
    if (out->outcome == 0) {
        out->outcome = mechd_ssp_join(&out->s, all, &out->diag);
    }
}

static void end(struct read *r)
{
    mechd_ssp_fini(&r->s);
    mech_diag_fini(&r->diag);
}

static void read_fmu(struct mechd_fmu_description *d)
{
    struct mech_diag diag;
    mech_diag_init(&diag);
    CU_ASSERT_EQUAL_FATAL(mechd_fmu_description_read(fmu, sizeof fmu - 1, d, &diag), 0);
    mech_diag_fini(&diag);
}

/* What the documents say. */
static bool is_whole(const struct mechd_ssp *s)
{
    return s->link_count == 1 && s->links[0].factor == 3. && s->links[0].offset == 0.5 &&
           s->start_count == 1 && s->starts[0].values[0] == 2. &&
           strcmp(s->components[s->starts[0].component].name, "b") == 0 &&
           strcmp(s->starts[0].variable->name, "k") == 0;
}

static void additions_of_others_are_passed_over(void)
{
    char text[sizeof description + NAME_MOST];
    struct mechd_fmu_description d;
    struct read r;
    read_fmu(&d);
    (void)snprintf(text, sizeof text, description, "drive");
    read_package(text, &d, &r);
    CU_ASSERT(r.outcome == 0 && is_whole(&r.s));
    end(&r);
    mechd_fmu_description_fini(&d);
}

/* With names of all lengths, so that each part is once the one for which a block is too small. */
static void whichever_allocation_fails_it_is_refused_or_whole(void)
{
    struct mechd_fmu_description d;
    char text[sizeof description + NAME_MOST], name[NAME_MOST + 1] = "";
    int astray = 0, starved = 0, refused = 0;
    read_fmu(&d);
    for (size_t length = 0; length < NAME_MOST; length += NAME_STEP) {
        memset(name, 'n', length);
        name[length] = '\0';
        (void)snprintf(text, sizeof text, description, name);
        bool any = true;
        for (long n = 0; any; n++) {
            struct read r;
            alloc_refuse_start(n, false);
            read_package(text, &d, &r);
            any = alloc_refuse_stop() > 0;
            starved += r.outcome == MECH_NO_MEMORY;
            refused += r.outcome == MECHD_SSP_REFUSED;
            const bool short_of = r.outcome == MECH_NO_MEMORY || r.outcome == MECHD_SSP_REFUSED;
            // sorting does without the memory that it asks for
            astray += short_of ? !any : r.outcome != 0 || !is_whole(&r.s);
            end(&r);
        }
    }
    CU_ASSERT_EQUAL(astray, 0);
    CU_ASSERT(starved > 0 && refused > 0);
    mechd_fmu_description_fini(&d);
}

static void a_document_that_is_too_large_is_not_read(void)
{
    struct mech_arena arena;
    struct mech_diag diag;
    int outcome = 0;
    mech_arena_init(&arena, 0);
    mech_diag_init(&diag);
    // one byte is there
    CU_ASSERT_PTR_NULL(
        mechd_ssp_parse("<", MECHD_SSP_SIZE_MOST + 1, "a.ssd", &arena, &diag, &outcome));
    CU_ASSERT(outcome > 0);
    CU_ASSERT_EQUAL_FATAL(diag.count, 1);
    CU_ASSERT_PTR_NOT_NULL(strstr(diag.entries[0].text, "larger than is allowed"));
    mech_diag_fini(&diag);
    mech_arena_fini(&arena);
}

UNIT_TESTS(UNIT_TEST(additions_of_others_are_passed_over),
           UNIT_TEST(whichever_allocation_fails_it_is_refused_or_whole),
           UNIT_TEST(a_document_that_is_too_large_is_not_read))
