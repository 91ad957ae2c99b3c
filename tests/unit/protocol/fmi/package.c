/* Archives of FMUs as the reader of uploads has them, which trusts nothing. */
#include "protocol/fmi/package.h"

#include "server/engine/fmu_load.h"
#include "tests/verify/example.h"

/* in place of the binary */
static const char library[] = "not a library, but of some length, of some length, of some length";

static const char results[] = "time,x\n0,1\n";

static void pack_as(const char *name, enum mechp_fmi_version version, const char *picture,
                    const struct mechp_fmi_proxy *proxy, struct mechp_text *w)
{
    static struct mechp_zip zip;
    char path[1024];
    struct mechp_packed binary;

    snprintf(path, sizeof path, "%s/../server/examples/%s.json", MECH_TESTS_FOLDER, name);
    char *const document = example_text(path);
    struct mech_sim *const sim = example_of(name);
    CU_ASSERT_EQUAL_FATAL(mechp_pack(library, sizeof library, &binary), 0);
    const struct mechp_fmi_content content = {.version = version,
                                              .document = document,
                                              .document_size = strlen(document),
                                              .sim = sim,
                                              .picture = picture,
                                              .results = results,
                                              .results_size = strlen(results),
                                              .binary = &binary,
                                              .proxy = proxy};
    zip = (struct mechp_zip){.w = w};
    CU_ASSERT_EQUAL_FATAL(mechp_fmi_package(&content, &zip), 0);
    mechp_text_plain(w, (const char *)binary.bytes, binary.stored);
    CU_ASSERT_EQUAL_FATAL(mechp_zip_end(&zip), 0);
    mechp_packed_fini(&binary);
    mech_sim_destroy(sim);
    free(document);
}

/* With the solver. */
static void pack_example(const char *name, enum mechp_fmi_version version, const char *picture,
                         struct mechp_text *w)
{
    pack_as(name, version, picture, NULL, w);
}

static const char *const examples[] = {"mass1d", "slider-crank", "bouncing-ball", "robot-arm"};
enum { EXAMPLES = sizeof examples / sizeof *examples };

static void the_reader_of_uploads_takes_it(void)
{
    static const char *const identifiers[EXAMPLES] = {"mass_with_one_coordinate", "slider_crank",
                                                      "bouncing_ball_of_radius_0_1_m", "robot_arm"};
    for (int k = 0; k < 2 * EXAMPLES; k++) {
        const bool two = k % 2 == 0;
        struct mechd_fmu_description d;
        struct mech_diag diag;
        struct mechp_text w;

        mechp_text_init(&w, NULL, 0);
        mech_diag_init(&diag);
        pack_example(examples[k / 2], two ? MECHP_FMI_2 : MECHP_FMI_3, NULL, &w);
        const int code = mechd_fmu_load(w.bytes, w.length, -1, &d, &diag);
        if (code) {
            fprintf(stderr, "%s: %s\n", diag.entries[0].path, diag.entries[0].text);
        }
        CU_ASSERT_EQUAL_FATAL(code, 0);
        CU_ASSERT_EQUAL(d.version, two ? MECHD_FMI_2 : MECHD_FMI_3);
        CU_ASSERT_STRING_EQUAL(d.identifier, identifiers[k / 2]);
        mechd_fmu_description_fini(&d);
        mech_diag_fini(&diag);
        mechp_text_fini(&w);
    }
}

/* A file of the archive, closed by NUL. */
static char *file_of(const struct mechp_text *w, const char *path)
{
    struct mechd_archive *a = NULL;
    struct mech_diag diag;
    char *bytes = NULL;
    size_t size = 0;

    mech_diag_init(&diag);
    CU_ASSERT_EQUAL_FATAL(
        mechd_archive_open(w->bytes, w->length, mechd_archive_limits(), &a, &diag), 0);
    CU_ASSERT_EQUAL_FATAL(mechd_archive_read(a, path, 1 << 24, &bytes, &size, &diag), 0);
    char *const text = calloc(1, size + 1);
    CU_ASSERT_FATAL(text != NULL);
    memcpy(text, bytes, size);
    free(bytes);
    mechd_archive_close(a);
    mech_diag_fini(&diag);
    return text;
}

static void all_files_are_there(void)
{
    static const char picture[] = "<svg xmlns=\"http://www.w3.org/2000/svg\"/>";
    static const struct {
        const char *path, *part;
    } files[] = {{"modelDescription.xml", "<fmiModelDescription"},
                 {"terminalsAndIcons/terminalsAndIcons.xml", "<Terminal name=\"crank\""},
                 {"resources/model.json", "\"mechd\""},
                 {"documentation/index.html", "<img src=\"picture.svg\""},
                 {"documentation/picture.svg", picture},
                 {"documentation/licenses/LICENSE.txt", "MIT License"},
                 {"documentation/licenses/libraries.txt", "OpenBLAS"},
                 {"extra/org.fmi-standard.fmi-ls-ref/fmi-ls-manifest.xml", "results.csv"},
                 {"extra/org.fmi-standard.fmi-ls-ref/results.csv", results},
                 {"documentation/index.html", "-llapacke -lopenblas"},
                 {"sources/buildDescription.xml", "modelIdentifier=\"slider_crank\""},
                 {"sources/clients/fmu/component.c", "mechfmu_create"},
                 {"binaries/x86_64-linux/slider_crank.so", "not a library"}};
    struct mechp_text w;

    mechp_text_init(&w, NULL, 0);
    pack_example("slider-crank", MECHP_FMI_3, picture, &w);
    for (size_t k = 0; k < sizeof files / sizeof *files; k++) {
        char *const text = file_of(&w, files[k].path);
        CU_ASSERT_PTR_NOT_NULL(strstr(text, files[k].part));
        free(text);
    }
    mechp_text_fini(&w);
}

static void two_archives_have_the_same_bytes(void)
{
    struct mechp_text a, b;

    mechp_text_init(&a, NULL, 0);
    mechp_text_init(&b, NULL, 0);
    pack_example("slider-crank", MECHP_FMI_2, NULL, &a);
    pack_example("slider-crank", MECHP_FMI_2, NULL, &b);
    CU_ASSERT_EQUAL_FATAL(a.length, b.length);
    CU_ASSERT_EQUAL(memcmp(a.bytes, b.bytes, a.length), 0);
    mechp_text_fini(&a);
    mechp_text_fini(&b);
}

/* Names of models are any text, identifiers are C's. */
static void identifiers_are_words(void)
{
    static const char *const names[][2] = {{"two  masses!", "two_masses"},
                                           {"3 bodies", "_3_bodies"},
                                           {"\xc3\xa4\xc3\xb6", "model"},
                                           {"", "model"}};
    for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
        char text[400], identifier[MECHP_FMI_IDENTIFIER];
        struct mech_diag diag;
        struct mech_sim *sim = NULL;

        snprintf(text, sizeof text,
                 "{\"mechd\":1,\"name\":\"%s\",\"nodes\":[{\"name\":\"n\",\"type\":\"Node1D\"}],"
                 "\"objects\":[{\"name\":\"b\",\"type\":\"Mass1D\",\"node\":\"n\","
                 "\"physicsMass\":1}]}",
                 names[k][0]);
        mech_diag_init(&diag);
        CU_ASSERT_EQUAL_FATAL(model_read(text, &diag, &sim), 0);
        mechp_fmi_identifier(sim, identifier);
        CU_ASSERT_STRING_EQUAL(identifier, names[k][1]);
        mech_sim_destroy(sim);
        mech_diag_fini(&diag);
    }
}

/* The value of that attribute in a description, up to its end. */
static const char *after(const char *text, const char *attribute)
{
    const char *const at = strstr(text, attribute);

    CU_ASSERT_PTR_NOT_NULL_FATAL(at);
    return at + strlen(attribute);
}

/* One that connects to a server: settings behind the model's variables, a table for its binary, the
 * library for Windows where there is one; another token than that of the FMU with the solver. */
static void one_for_a_server_has_settings_and_a_table(void)
{
    static const char dll[] = "no program either";
    struct mechp_packed windows;
    CU_ASSERT_EQUAL_FATAL(mechp_pack(dll, sizeof dll, &windows), 0);
    const struct mechp_fmi_proxy proxy = {"tcp://127.0.0.1:5558", &windows};

    for (enum mechp_fmi_version version = MECHP_FMI_2; version <= MECHP_FMI_3; version++) {
        const bool two = version == MECHP_FMI_2;
        struct mechd_fmu_description d;
        struct mech_diag diag;
        struct mechp_text w, alone;

        mechp_text_init(&w, NULL, 0);
        mechp_text_init(&alone, NULL, 0);
        mech_diag_init(&diag);
        pack_as("slider-crank", version, NULL, &proxy, &w);
        pack_example("slider-crank", version, NULL, &alone);
        CU_ASSERT_EQUAL_FATAL(mechd_fmu_load(w.bytes, w.length, -1, &d, &diag), 0);
        mechd_fmu_description_fini(&d);
        mech_diag_fini(&diag);
        char *const mine = file_of(&w, "modelDescription.xml");
        char *const other = file_of(&alone, "modelDescription.xml");
        char *const table = file_of(&w, "resources/proxy.json");
        char *const page = file_of(&w, "documentation/index.html");
        char *const other_dll = file_of(&w, two ? "binaries/win64/slider_crank.dll"
                                                : "binaries/x86_64-windows/slider_crank.dll");
        const char *const key = two ? "guid=\"" : "instantiationToken=\"";
        CU_ASSERT_STRING_EQUAL(other_dll, dll);
        CU_ASSERT_PTR_NOT_NULL(strstr(mine, "name=\"proxy:token\" valueReference=\"1073741828\""));
        CU_ASSERT_PTR_NOT_NULL(strstr(mine, "\"tcp://127.0.0.1:5558\""));
        CU_ASSERT_PTR_NULL(strstr(other, "proxy"));
        CU_ASSERT_NOT_EQUAL(strncmp(after(mine, key), after(other, key), MECHP_FMI_TOKEN - 1), 0);
        CU_ASSERT_EQUAL(
            strncmp(after(mine, key), after(table, "\"token\":\""), MECHP_FMI_TOKEN - 1), 0);
        CU_ASSERT_PTR_NOT_NULL(strstr(page, "proxy:tokenFile"));
        CU_ASSERT_PTR_NULL(strstr(page, "libraries.txt"));
        free(mine);
        free(other);
        free(table);
        free(page);
        free(other_dll);
        mechp_text_fini(&w);
        mechp_text_fini(&alone);
    }
    mechp_packed_fini(&windows);
}

UNIT_TESTS(UNIT_TEST(the_reader_of_uploads_takes_it), UNIT_TEST(all_files_are_there),
           UNIT_TEST(one_for_a_server_has_settings_and_a_table),
           UNIT_TEST(two_archives_have_the_same_bytes), UNIT_TEST(identifiers_are_words))
