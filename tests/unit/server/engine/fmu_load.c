/* An .fmu as it is uploaded: what of it comes to the folder, and why another one does not. */
#include "server/engine/fmu_load.h"

#include "tests/unit/server/zip.h"
#include "tests/unit/unit.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char description[] =
    "<fmiModelDescription fmiVersion=\"3.0\" modelName=\"M\" instantiationToken=\"t\">"
    "<CoSimulation modelIdentifier=\"m\"/>"
    "<ModelVariables><Float64 name=\"y\" valueReference=\"1\" "
    "causality=\"output\"/></ModelVariables>"
    "</fmiModelDescription>";

/* An FMU with these texts for its description and the name of its binary's folder. */
static struct zip *fmu(const char *xml, const char *platform)
{
    static struct zip z;
    char path[64];
    memset(&z, 0, sizeof z);
    zip_add(&z, (struct zip_file){.path = "modelDescription.xml", .bytes = xml, .deflate = true});
    (void)snprintf(path, sizeof path, "binaries/%s/m.so", platform);
    zip_add(&z, (struct zip_file){.path = path, .bytes = "library"});
    zip_add(&z, (struct zip_file){.path = "binaries/win64/m.dll", .bytes = "other"});
    zip_add(&z, (struct zip_file){.path = "resources/a/b.txt", .bytes = "hello"});
    zip_add(&z, (struct zip_file){.path = "documentation/index.html", .bytes = "<p>"});
    zip_end(&z);
    return &z;
}

static void what_it_needs_is_unpacked(void)
{
    char folder[] = "/tmp/mechd-load-XXXXXX", path[64];
    CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(folder));
    const int at = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    const char *const platform = mechd_fmu_platform(MECHD_FMI_3);
    const struct zip *const z = fmu(description, platform);
    struct mechd_fmu_description d;
    struct mech_diag diag;
    struct stat s;
    mech_diag_init(&diag);
    CU_ASSERT_EQUAL(mechd_fmu_load(z->bytes, z->size, at, &d, &diag), 0);
    CU_ASSERT_STRING_EQUAL(d.name, "M");
    CU_ASSERT_EQUAL(d.variable_count, 1);
    (void)snprintf(path, sizeof path, "binaries/%s/m.so", platform);
    CU_ASSERT_EQUAL(fstatat(at, path, &s, 0), 0);
    CU_ASSERT_EQUAL(s.st_size, 7);
    CU_ASSERT_EQUAL(fstatat(at, "resources/a/b.txt", &s, 0), 0);
    CU_ASSERT_EQUAL(fstatat(at, "documentation", &s, 0), -1);
    CU_ASSERT_EQUAL(fstatat(at, "binaries/win64", &s, 0), -1);
    mechd_fmu_description_fini(&d);
    // into the same folder again: nothing is written over
    CU_ASSERT_EQUAL(mechd_fmu_load(z->bytes, z->size, at, &d, &diag), MECHD_FMU_NO_STORAGE);
    CU_ASSERT_EQUAL(d.variable_count, 0);
    mech_diag_fini(&diag);
    (void)unlinkat(at, path, 0);
    *strrchr(path, '/') = 0;
    (void)unlinkat(at, path, AT_REMOVEDIR);
    (void)unlinkat(at, "binaries", AT_REMOVEDIR);
    (void)unlinkat(at, "resources/a/b.txt", 0);
    (void)unlinkat(at, "resources/a", AT_REMOVEDIR);
    (void)unlinkat(at, "resources", AT_REMOVEDIR);
    (void)close(at);
    CU_ASSERT_EQUAL(rmdir(folder), 0);
}

static void expect(const struct zip *z, int expected, const char *part)
{
    struct mechd_fmu_description d;
    struct mech_diag diag;
    mech_diag_init(&diag);
    CU_ASSERT_EQUAL(mechd_fmu_load(z->bytes, z->size, -1, &d, &diag), expected);
    CU_ASSERT_EQUAL_FATAL(diag.count, 1);
    CU_ASSERT_PTR_NOT_NULL(strstr(diag.entries[0].text, part));
    CU_ASSERT_PTR_NULL(d.variables);
    mechd_fmu_description_fini(&d);
    mech_diag_fini(&diag);
}

static void what_cannot_run_is_refused_by_its_reason(void)
{
    static struct zip z;
    const char *const platform = mechd_fmu_platform(MECHD_FMI_3);
    expect(fmu(description, "darwin64"), MECHD_FMU_NO_BINARY, "no binaries/");
    expect(fmu("<a/>", platform), MECHD_FMU_BAD_DESCRIPTION, "fmiModelDescription");
    expect(fmu("<!DOCTYPE a><a/>", platform), MECHD_FMU_BAD_DESCRIPTION, "document type");
    memset(&z, 0, sizeof z);
    zip_add(&z, (struct zip_file){.path = "a", .bytes = "x"});
    zip_end(&z);
    expect(&z, MECHD_FMU_BAD_ARCHIVE, "not in the archive");
    memset(&z, 0, sizeof z);
    zip_add(&z, (struct zip_file){.path = "modelDescription.xml", .zeros = 1 << 20});
    zip_end(&z);
    expect(&z, MECHD_FMU_TOO_LARGE, "expand");
    z.size = 10;
    expect(&z, MECHD_FMU_BAD_ARCHIVE, "end record");
}

UNIT_TESTS(UNIT_TEST(what_it_needs_is_unpacked),
           UNIT_TEST(what_cannot_run_is_refused_by_its_reason))
