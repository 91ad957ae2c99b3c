/* The binary of an FMU that connects to a server, without one: what it takes of its resources, and
 * what it does before it is connected. */
#include "protocol/fmi/package.h"
#include "protocol/fmi/settings.h"
#include "protocol/fmi/table.h"
#include "tests/unit/clients/fmu/importer.h"

static const char model[] =
    "{\"mechd\":1,\"parameters\":{\"m\":2},\"nodes\":[{\"name\":\"x\",\"type\":\"Node1D\"}],"
    "\"objects\":[{\"name\":\"mass\",\"type\":\"Mass1D\",\"node\":\"x\",\"physicsMass\":\"=m\"}],"
    "\"markers\":[{\"name\":\"at\",\"type\":\"MarkerNodeCoordinate\",\"node\":\"x\"}],"
    "\"loads\":[{\"name\":\"F\",\"type\":\"LoadCoordinate\",\"marker\":\"at\",\"load\":0}],"
    "\"inputs\":[{\"name\":\"force\",\"load\":\"F\"}]}";

/* Of mechd-proxy.so, with the table of the model in its resources. */
static struct imported import_proxy(struct mechp_text *table)
{
    char path[4096];
    struct imported f = import_text(model);
    const struct mechp_fmi_proxy proxy = {"", NULL};
    const struct mechp_fmi_content content = {.version = MECHP_FMI_3,
                                              .document = model,
                                              .document_size = strlen(model),
                                              .sim = f.sim,
                                              .proxy = &proxy};

    dlclose(f.library);
    const ssize_t n = readlink("/proc/self/exe", path, sizeof path - 64);
    CU_ASSERT_FATAL(n > 0);
    path[n] = '\0';
    strcpy(strrchr(path, '/'), "/../clients/fmu/mechd-proxy.so");
    f.library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    CU_ASSERT_PTR_NOT_NULL_FATAL(f.library);
    for (const struct mechp_fmi_symbol *s = mechp_fmi3_symbols; s->name; s++) {
        void *const function = dlsym(f.library, s->name);
        CU_ASSERT_PTR_NOT_NULL_FATAL(function);
        memcpy((char *)&f.fmi3 + s->offset, &function, sizeof function);
    }
    CU_ASSERT_EQUAL_FATAL(mechp_fmi_package_token(&content, f.token), 0);
    mechp_text_init(table, NULL, 0);
    CU_ASSERT_EQUAL_FATAL(mechp_fmi_table(&f.layout, f.sim, f.token, "", table), 0);
    return f;
}

static void write_table(const struct imported *f, const char *text, size_t size)
{
    char path[128];

    snprintf(path, sizeof path, "%s/proxy.json", f->folder);
    FILE *const file = fopen(path, "wb");
    CU_ASSERT_PTR_NOT_NULL_FATAL(file);
    CU_ASSERT_EQUAL(fwrite(text, 1, size, file), size);
    fclose(file);
}

static void forget_proxy(struct imported *f, struct mechp_text *table)
{
    char path[128];

    snprintf(path, sizeof path, "%s/proxy.json", f->folder);
    unlink(path);
    mechp_text_fini(table);
    forget_import(f);
}

static void *try_to_instantiate(struct imported *f)
{
    char folder[80];

    snprintf(folder, sizeof folder, "%s/", f->folder);
    f->text[0] = '\0';
    return f->fmi3.InstantiateCoSimulation("one", f->token, folder, false, true, false, false, NULL,
                                           0, f, take_message, NULL);
}

/* Cut anywhere, or with another character anywhere, a table is refused with a message or one of
 * some model; nothing else comes of it. */
static void a_damaged_table_is_refused(void)
{
    struct mechp_text table;
    struct imported f = import_proxy(&table);
    char *const copy = malloc(table.length);

    CU_ASSERT_PTR_NOT_NULL_FATAL(copy);
    for (size_t n = 0; n < table.length; n++) {
        write_table(&f, table.bytes, n);
        CU_ASSERT_PTR_NULL(try_to_instantiate(&f));
        CU_ASSERT(f.text[0] != '\0');
    }
    for (size_t n = 0; n < table.length; n++) {
        static const char others[] = "9-\"}";

        for (size_t k = 0; others[k]; k++) {
            memcpy(copy, table.bytes, table.length);
            copy[n] = others[k];
            write_table(&f, copy, table.length);
            void *const i = try_to_instantiate(&f);
            CU_ASSERT(i != NULL || f.text[0] != '\0');
            f.fmi3.FreeInstance(i);
        }
    }
    free(copy);
    forget_proxy(&f, &table);
}

static void what_is_set_before_the_initialization_is_kept(void)
{
    static const uint32_t server = MECHP_FMI_SETTING_REFERENCE + MECHP_FMI_SETTING_SERVER;
    static const char *const none = "unix:/no/such/socket";
    struct mechp_text table;
    struct imported f = import_proxy(&table);
    const char *text = NULL;
    void *state = NULL;
    size_t size = 0;

    write_table(&f, table.bytes, table.length);
    void *const i = try_to_instantiate(&f);
    CU_ASSERT_PTR_NOT_NULL_FATAL(i);
    CU_ASSERT_EQUAL(get_one(&f, i, "m"), 2.);
    CU_ASSERT_EQUAL(get_one(&f, i, "force"), 0.);
    CU_ASSERT_EQUAL(set_one(&f, i, "m", 3.), MECHP_FMI3_OK);
    CU_ASSERT_EQUAL(set_one(&f, i, "force", 5.), MECHP_FMI3_OK);
    CU_ASSERT_EQUAL(set_one(&f, i, "force", (double)NAN), MECHP_FMI3_DISCARD);
    CU_ASSERT_EQUAL(get_one(&f, i, "m"), 3.);
    CU_ASSERT_EQUAL(get_one(&f, i, "force"), 5.);
    /* a state of what is set, also as bytes */
    CU_ASSERT_EQUAL(f.fmi3.GetFMUState(i, &state), MECHP_FMI3_OK);
    CU_ASSERT_EQUAL(f.fmi3.SerializedFMUStateSize(i, state, &size), MECHP_FMI3_OK);
    uint8_t *const bytes = malloc(size);
    CU_ASSERT_PTR_NOT_NULL_FATAL(bytes);
    CU_ASSERT_EQUAL(f.fmi3.SerializeFMUState(i, state, bytes, size), MECHP_FMI3_OK);
    CU_ASSERT_EQUAL(f.fmi3.FreeFMUState(i, &state), MECHP_FMI3_OK);
    CU_ASSERT_EQUAL(f.fmi3.DeserializeFMUState(i, bytes, size - 1, &state), MECHP_FMI3_ERROR);
    CU_ASSERT_EQUAL(f.fmi3.DeserializeFMUState(i, bytes, size, &state), MECHP_FMI3_OK);
    CU_ASSERT_EQUAL(f.fmi3.SetFMUState(i, state), MECHP_FMI3_OK);
    CU_ASSERT_EQUAL(f.fmi3.FreeFMUState(i, &state), MECHP_FMI3_OK);
    free(bytes);
    /* without a server the initialization is refused, and can be tried again */
    for (int k = 0; k < 2; k++) {
        CU_ASSERT_EQUAL(f.fmi3.SetString(i, &server, 1, &none, 1), MECHP_FMI3_OK);
        CU_ASSERT_EQUAL(f.fmi3.GetString(i, &server, 1, &text, 1), MECHP_FMI3_OK);
        CU_ASSERT_STRING_EQUAL(text, none);
        CU_ASSERT_EQUAL(f.fmi3.EnterInitializationMode(i, false, 0., 0., false, 0.),
                        MECHP_FMI3_ERROR);
        CU_ASSERT_PTR_NOT_NULL(strstr(f.text, none));
    }
    f.fmi3.FreeInstance(i);
    forget_proxy(&f, &table);
}

UNIT_TESTS(UNIT_TEST(a_damaged_table_is_refused),
           UNIT_TEST(what_is_set_before_the_initialization_is_kept))
