/* Bindings of parameters end: each is work, however often it names the same files. */
#include "server/engine/ssp.h"

#include "tests/unit/unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAMESPACES                                                                                 \
    " xmlns:ssd=\"http://ssp-standard.org/SSP1/SystemStructureDescription\""                       \
    " xmlns:ssv=\"http://ssp-standard.org/SSP1/SystemStructureParameterValues\""                   \
    " xmlns:ssm=\"http://ssp-standard.org/SSP1/SystemStructureParameterMapping\""
#define BINDING                                                                                    \
    "<ssd:ParameterBinding source=\"a.ssv\"><ssd:ParameterMapping source=\"a.ssm\"/>"              \
    "</ssd:ParameterBinding>"

enum { TEXT_MOST = 1 << 21 };

/* "before", the piece so often, "after". */
static char *repeat(const char *before, const char *piece, size_t count, const char *after)
{
    char *const text = malloc(TEXT_MOST);
    CU_ASSERT_FATAL(text != NULL);
    char *at = stpcpy(text, before);
    CU_ASSERT_FATAL(strlen(before) + count * strlen(piece) + strlen(after) < TEXT_MOST);
    for (size_t k = 0; k < count; k++) {
        at = stpcpy(at, piece);
    }
    (void)stpcpy(at, after);
    return text;
}

/* How often it binds a set of one parameter with how many numbers (0: an empty set), by how many
 * entries of a mapping. */
struct package {
    size_t bindings, numbers, entries;
};

static int read_file(void *of, const char *path, char **text, size_t *size, struct mech_diag *diag)
{
    const struct package *const p = of;
    (void)diag;
    if (strcmp(path, "a.ssv") == 0 && p->numbers == 0) {
        *text = repeat("<ssv:ParameterSet version=\"1.0\" name=\"s\"" NAMESPACES "/>", "", 0, "");
    } else if (strcmp(path, "a.ssv") == 0) {
        *text =
            repeat("<ssv:ParameterSet version=\"1.0\" name=\"s\"" NAMESPACES
                   "><ssv:Parameters><ssv:Parameter name=\"k\"><ssv:Real value=\"",
                   "1 ", p->numbers, "\"/></ssv:Parameter></ssv:Parameters></ssv:ParameterSet>");
    } else if (strcmp(path, "a.ssm") == 0) {
        *text = repeat("<ssm:ParameterMapping version=\"1.0\"" NAMESPACES ">",
                       "<ssm:MappingEntry source=\"n\" target=\"n\"/>", p->entries,
                       "</ssm:ParameterMapping>");
    } else {
        *text = repeat("<ssd:SystemStructureDescription version=\"1.0\" name=\"d\"" NAMESPACES
                       "><ssd:System name=\"r\"><ssd:Elements><ssd:Component name=\"a\" "
                       "source=\"a.fmu\"/></ssd:Elements><ssd:ParameterBindings>",
                       BINDING, p->bindings,
                       "</ssd:ParameterBindings></ssd:System></ssd:SystemStructureDescription>");
    }
    *size = strlen(*text);
    return 0;
}

/* Outcome; the number of faults, and the first one. */
static int join(struct package p, size_t *faults, char *said, size_t size)
{
    static const char fmu[] =
        "<fmiModelDescription fmiVersion=\"2.0\" modelName=\"M\" guid=\"{1}\">"
        "<CoSimulation modelIdentifier=\"m\"/><ModelVariables><ScalarVariable name=\"u\" "
        "valueReference=\"1\" causality=\"input\"><Real start=\"0\"/></ScalarVariable>"
        "</ModelVariables></fmiModelDescription>";
    struct mechd_fmu_description d;
    struct mechd_ssp s;
    struct mech_diag diag;
    const struct mechd_fmu_description *const all[] = {&d};
    const struct mechd_ssp_files files = {.read = read_file, .of = &p};
    mech_diag_init(&diag);
    CU_ASSERT_EQUAL_FATAL(mechd_fmu_description_read(fmu, strlen(fmu), &d, &diag), 0);
    int outcome = mechd_ssp_read(&files, &s, &diag);
    if (outcome == 0) {
        outcome = mechd_ssp_join(&s, all, &diag);
    }
    *faults = diag.total;
    (void)snprintf(said, size, "%s", diag.count > 0 ? diag.entries[0].text : "");
    mechd_ssp_fini(&s);
    mechd_fmu_description_fini(&d);
    mech_diag_fini(&diag);
    return outcome;
}

static void expect(struct package p, const char *part)
{
    char said[MECH_DIAG_TEXT];
    size_t faults = 0;
    CU_ASSERT_EQUAL(join(p, &faults, said, sizeof said), MECHD_SSP_REFUSED);
    CU_ASSERT_EQUAL(faults, 1);
    CU_ASSERT_PTR_NOT_NULL(strstr(said, part));
    if (faults != 1 || strstr(said, part) == NULL) {
        (void)fprintf(stderr, "%zu: %s (not %s)\n", faults, said, part);
    }
}

static void sets_that_are_bound_often_are_good(void)
{
    char said[MECH_DIAG_TEXT];
    size_t faults = 0;
    const struct package p = {.bindings = 100, .numbers = 100, .entries = 100};
    CU_ASSERT_EQUAL(join(p, &faults, said, sizeof said), 0);
    CU_ASSERT_EQUAL(faults, 0);
    const struct package most = {.bindings = 1, .numbers = 65536};
    CU_ASSERT_EQUAL(join(most, &faults, said, sizeof said), 0);
}

static void the_first_fault_of_a_binding_ends_them(void)
{
    const struct package p = {.bindings = 100, .numbers = 65537};
    expect(p, "more than 65536 numbers");
}

static void entries_of_mappings_are_work(void)
{
    const struct package p = {.bindings = 2600, .entries = 20000};
    expect(p, "takes more work than is allowed");
}

UNIT_TESTS(UNIT_TEST(sets_that_are_bound_often_are_good),
           UNIT_TEST(the_first_fault_of_a_binding_ends_them),
           UNIT_TEST(entries_of_mappings_are_work))
