/* The sources in an FMU: those of the tree, and a build description by FMI 3.0.2, section
 * 2.4.10. */
#include "protocol/fmi/sources.h"

#include "server/engine/fmu_load.h"
#include "tests/unit/protocol/fmi/xml_read.h"
#include "tests/verify/example.h"

#include <stdio.h>

static const struct mechp_fmi_source *source_of(const char *path)
{
    for (size_t i = 0; i < mechp_fmi_source_count; i++) {
        if (strcmp(mechp_fmi_sources[i].path, path) == 0) {
            return &mechp_fmi_sources[i];
        }
    }
    return NULL;
}

static bool is_a(const struct xml_element *e, const char *name)
{
    return strcmp(e->name, name) == 0;
}

/* Elements of that name with this attribute. */
static size_t count(const struct xml *x, const char *name, const char *value)
{
    size_t n = 0;
    for (size_t i = 0; i < x->n; i++) {
        n += is_a(&x->at[i], name) && strcmp(xml_get(&x->at[i], "name"), value) == 0;
    }
    return n;
}

static struct xml description_of(const char *identifier)
{
    struct mechp_text w;
    mechp_text_init(&w, NULL, 0);
    CU_ASSERT_EQUAL_FATAL(mechp_fmi_build_description(identifier, &w), 0);
    const struct xml x = xml_of(w.bytes, w.length);
    mechp_text_fini(&w);
    return x;
}

static void each_file_that_is_compiled_is_described_once(void)
{
    struct xml x = description_of("crank");
    size_t compiled = 0;
    for (const char *const *path = mechp_fmi_compiled; *path; path++) {
        CU_ASSERT_PTR_NOT_NULL(source_of(*path));
        CU_ASSERT_EQUAL(count(&x, "SourceFile", *path), 1);
        compiled++;
    }
    CU_ASSERT(compiled > 300);
    for (size_t i = 0; i < x.n; i++) {
        compiled -= is_a(&x.at[i], "SourceFile");
    }
    CU_ASSERT_EQUAL(compiled, 0);
    xml_fini(&x);
}

/* the schema: a configuration has its sets, then its libraries; a set its files, then definitions,
 * then folders */
static void elements_are_in_the_order_of_the_schema(void)
{
    static const char *const order[] = {"SourceFile", "PreprocessorDefinition", "IncludeDirectory"};
    struct xml x = description_of("crank");
    size_t sets = 0, libraries = 0, at = 0;
    CU_ASSERT_FATAL(x.n > 2);
    CU_ASSERT(is_a(&x.at[0], "fmiBuildDescription") && is_a(&x.at[1], "BuildConfiguration"));
    CU_ASSERT_STRING_EQUAL(xml_get(&x.at[0], "fmiVersion"), "3.0");
    CU_ASSERT_STRING_EQUAL(xml_get(&x.at[1], "modelIdentifier"), "crank");
    for (size_t i = 2; i < x.n; i++) {
        const struct xml_element *const e = &x.at[i];
        if (e->depth == 2) {
            libraries += is_a(e, "Library");
            sets += is_a(e, "SourceFileSet");
            CU_ASSERT(is_a(e, libraries > 0 ? "Library" : "SourceFileSet"));
            at = 0;
            continue;
        }
        CU_ASSERT_STRING_EQUAL(e->parent, "SourceFileSet");
        for (; at < 3 && !is_a(e, order[at]); at++) {
        }
        CU_ASSERT(at < 3);
    }
    CU_ASSERT_EQUAL(sets, 2);
    CU_ASSERT(libraries > 0);
    CU_ASSERT_EQUAL(count(&x, "IncludeDirectory", "."), sets);
    CU_ASSERT_EQUAL(count(&x, "PreprocessorDefinition", "MECHD_VERSION"), sets);
    xml_fini(&x);
}

static void compare(const struct mechd_archive *a, const struct mechp_fmi_source *s)
{
    char path[1024], *bytes = NULL;
    struct mech_diag diag;
    size_t size = 0;
    mech_diag_init(&diag);
    snprintf(path, sizeof path, "sources/%s", s->path);
    CU_ASSERT_EQUAL_FATAL(mechd_archive_read(a, path, 1 << 20, &bytes, &size, &diag), 0);
    snprintf(path, sizeof path, "%s/../%s", MECH_TESTS_FOLDER, s->path);
    char *const own = example_text(path);
    CU_ASSERT_EQUAL_FATAL(size, s->size);
    CU_ASSERT_EQUAL_FATAL(strlen(own), size);
    CU_ASSERT_EQUAL(memcmp(own, bytes, size), 0);
    free(own);
    free(bytes);
    mech_diag_fini(&diag);
}

static void the_files_are_those_of_the_tree(void)
{
    static struct mechp_zip zip;
    struct mechd_archive *a = NULL;
    struct mech_diag diag;
    struct mechp_text w;
    mech_diag_init(&diag);
    mechp_text_init(&w, NULL, 0);
    zip = (struct mechp_zip){.w = &w};
    CU_ASSERT_EQUAL_FATAL(mechp_fmi_add_sources("crank", &zip), 0);
    CU_ASSERT_EQUAL_FATAL(mechp_zip_end(&zip), 0);
    CU_ASSERT_EQUAL_FATAL(mechd_archive_open(w.bytes, w.length, mechd_archive_limits(), &a, &diag),
                          0);
    CU_ASSERT_EQUAL(mechd_archive_count(a), mechp_fmi_source_count + 1);
    for (size_t i = 0; i < mechp_fmi_source_count; i++) {
        compare(a, &mechp_fmi_sources[i]);
        CU_ASSERT(i == 0 || strcmp(mechp_fmi_sources[i - 1].path, mechp_fmi_sources[i].path) < 0);
    }
    mechd_archive_close(a);
    mechp_text_fini(&w);
    mech_diag_fini(&diag);
}

UNIT_TESTS(UNIT_TEST(each_file_that_is_compiled_is_described_once),
           UNIT_TEST(elements_are_in_the_order_of_the_schema),
           UNIT_TEST(the_files_are_those_of_the_tree))
