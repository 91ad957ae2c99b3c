/* Documents printed from the tables: the committed copies are what the tables print, and the
 * references inside them hold. To renew a copy: mechd --print openapi > protocol/openapi.json, and
 * --print schema > protocol/schema/model.schema.json. */
#include "protocol/bind/bind.h"

#include "protocol/wire/routes.h"
#include "solver/base/err.h"
#include "tests/unit/protocol/bind/documents.h"
#include "tests/unit/unit.h"

/* The printed document, closed by NUL (malloc'd). */
static char *printed(const char *what)
{
    struct mechp_text w;
    size_t length;
    mechp_text_init(&w, NULL, 0);
    CU_ASSERT_EQUAL(mechp_bind_print(what, &w), 0);
    char *const bytes = mechp_text_take(&w, &length);
    char *const text = malloc(length + 1);
    CU_ASSERT_PTR_NOT_NULL_FATAL(bytes);
    CU_ASSERT_PTR_NOT_NULL_FATAL(text);
    memcpy(text, bytes, length);
    text[length] = '\0';
    free(bytes);
    return text;
}

/* A file of the tree, closed by NUL (malloc'd). */
static char *file_text(const char *path)
{
    char whole[1024];
    snprintf(whole, sizeof whole, "%s/../%s", MECH_TESTS_FOLDER, path);
    FILE *const f = fopen(whole, "rb");
    const size_t most = (size_t)4 << 20;
    char *const text = calloc(1, most + 1);
    CU_ASSERT_PTR_NOT_NULL_FATAL(f);
    CU_ASSERT_PTR_NOT_NULL_FATAL(text);
    const size_t n = fread(text, 1, most, f);
    CU_ASSERT(n > 0 && n < most);
    fclose(f);
    return text;
}

static void same_as_file(const char *what, const char *path)
{
    char *const now = printed(what);
    char *const committed = file_text(path);
    CU_ASSERT_STRING_EQUAL(now, committed);
    free(now);
    free(committed);
}

static void committed_copies_are_what_the_tables_print(void)
{
    same_as_file("openapi", "protocol/openapi.json");
    same_as_file("schema", "protocol/schema/model.schema.json");
}

static void the_readme_holds_the_table_of_errors(void)
{
    char *const table = printed("errors");
    char *const readme = file_text("protocol/README.md");
    CU_ASSERT(strlen(table) > 1000);
    CU_ASSERT_PTR_NOT_NULL(strstr(readme, table));
    free(table);
    free(readme);
}

/* Every "$ref" in a tree points at something in `root`. */
static int broken_references(const json_t *root, const json_t *value, int *seen)
{
    int broken = 0;
    const char *key;
    json_t *member;
    size_t i;
    json_array_foreach(value, i, member)
    {
        broken += broken_references(root, member, seen);
    }
    json_object_foreach((json_t *)(uintptr_t)value, key, member)
    {
        broken += broken_references(root, member, seen);
        if (strcmp(key, "$ref") != 0) {
            continue;
        }
        // walk "#/a/b"
        const json_t *at = root;
        char path[256];
        snprintf(path, sizeof path, "%s", json_string_value(member));
        for (char *part = strtok(path + 2, "/"); part != NULL; part = strtok(NULL, "/")) {
            at = json_object_get(at, part);
        }
        broken += at == NULL;
        *seen += 1;
    }
    return broken;
}

static void references_hold_and_no_name_is_given_twice(void)
{
    static const char *const documents[] = {"openapi", "schema", "types"};
    static const int least[] = {100, 20, 0};
    for (size_t i = 0; i < 3; i++) {
        struct mechp_json_fault fault;
        json_t *root;
        int seen = 0;
        char *const text = printed(documents[i]);
        // duplicate keys are refused by the parser
        CU_ASSERT_EQUAL_FATAL(mechp_json_parse(text, strlen(text), NULL, &fault, &root), 0);
        CU_ASSERT_EQUAL(broken_references(root, root, &seen), 0);
        CU_ASSERT(seen >= least[i]);
        json_decref(root);
        free(text);
    }
    struct mechp_text w;
    mechp_text_init(&w, NULL, 0);
    CU_ASSERT_EQUAL(mechp_bind_print("nothing", &w), MECH_NOT_FOUND);
    mechp_text_fini(&w);
}

static void every_route_is_in_openapi_with_its_parameters(void)
{
    struct mechp_json_fault fault;
    json_t *root;
    char *const text = printed("openapi");
    CU_ASSERT_EQUAL_FATAL(mechp_json_parse(text, strlen(text), NULL, &fault, &root), 0);
    for (int i = 0; mechp_route_at(i) != NULL; i++) {
        const struct mechp_route *const r = mechp_route_at(i);
        char method[16] = "";
        for (size_t k = 0; r->method[k] != '\0'; k++) {
            method[k] = (char)(r->method[k] | 0x20);
        }
        const json_t *const operation =
            json_object_get(json_object_get(json_object_get(root, "paths"), r->path), method);
        CU_ASSERT(json_is_object(operation));
        CU_ASSERT(json_object_size(json_object_get(operation, "responses")) >= 3);
        // one path parameter for each brace
        size_t braces = 0;
        size_t parameters = 0;
        for (const char *c = r->path; *c != '\0'; c++) {
            braces += *c == '{';
        }
        size_t k;
        json_t *parameter;
        json_array_foreach(json_object_get(operation, "parameters"), k, parameter)
        {
            parameters += json_is_true(json_object_get(parameter, "required"));
        }
        CU_ASSERT_EQUAL(braces, parameters);
    }
    json_decref(root);
    free(text);
}

static void types_are_found_by_name(void)
{
    static const char *const names[] = {"Mass1D", "NewtonImpact", "Solver", "GeneralizedAlpha"};
    struct mech_guess g;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct mechp_text w;
        char head[64];
        mechp_text_init(&w, NULL, 0);
        CU_ASSERT_EQUAL(mechp_bind_type(names[i], &g, &w), 0);
        snprintf(head, sizeof head, "{\"type\":\"%s\",", names[i]);
        CU_ASSERT(w.length > strlen(head) && memcmp(w.bytes, head, strlen(head)) == 0);
        mechp_text_fini(&w);
    }
    struct mechp_text w;
    mechp_text_init(&w, NULL, 0);
    CU_ASSERT_EQUAL(mechp_bind_type("Mass2D", &g, &w), MECH_NOT_FOUND);
    CU_ASSERT_EQUAL(w.length, 0);
    CU_ASSERT_STRING_EQUAL(mech_guess_result(&g), "Mass1D");
    mechp_text_fini(&w);
}

UNIT_TESTS(UNIT_TEST(committed_copies_are_what_the_tables_print),
           UNIT_TEST(the_readme_holds_the_table_of_errors),
           UNIT_TEST(references_hold_and_no_name_is_given_twice),
           UNIT_TEST(every_route_is_in_openapi_with_its_parameters),
           UNIT_TEST(types_are_found_by_name))
