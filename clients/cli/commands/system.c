/* mechctl system: the system descriptor of an instance, its blocks, a matrix or a vector. */
#include "clients/cli/cli.h"

#include <stdio.h>
#include <string.h>

enum { QUERY = 600 };

/* --factors a,k,c */
static int add_factors(const struct mechctl *m, char *path, size_t size)
{
    static const char *const keys[] = {"massFactor", "stiffnessFactor", "dampingFactor"};
    const char *at = mechctl_option(m, "factors");
    for (int k = 0; at; k++) {
        char number[64];
        const size_t n = strcspn(at, ",");
        if (k == 3 || n >= sizeof number) {
            return mechctl_usage("--factors: expected a,k,c");
        }
        snprintf(number, sizeof number, "%.*s", (int)n, at);
        mechctl_query(path, size, keys[k], number);
        at = at[n] ? at + n + 1 : NULL;
    }
    return MECHCTL_DONE;
}

static int make_path(struct mechctl *m, char path[MECHC_PATH + QUERY])
{
    const char *const id = m->arguments[0];
    const int result =
        m->count > 1
            ? mechc_path(m->c, MECHCTL_PATH("v1", "instances", id, "system", m->arguments[1]), path)
            : mechc_path(m->c, MECHCTL_PATH("v1", "instances", id, "system"), path);
    const size_t size = MECHC_PATH + QUERY;
    if (result != MECHC_OK) {
        return mechctl_result(m, result);
    }
    mechctl_query(path, size, "contacts", mechctl_option(m, "all-contacts") ? "all" : NULL);
    mechctl_query(path, size, "bilateral", mechctl_option(m, "bilateral") ? "only" : NULL);
    const int code = add_factors(m, path, size);
    return code == MECHCTL_DONE ? mechctl_query_keys(m, path, size) : code;
}

/* --- for people ------------------------------------------------------------------------------- */

static void print_summary(const struct mechctl *m, struct mechc_json reply)
{
    static const struct mechctl_column columns[] = {
        {"name", "PART", false}, {"shape", "SHAPE", false}, {"doc", "DESCRIPTION", false}, {0}};
    struct mechc_bytes text = {0};
    struct mechc_json value;
    char name[32];
    for (struct mechc_json_walk w = mechc_json_walk(reply); mechc_json_next(&w);) {
        const char kind = mechc_json_kind(w.value);
        mechc_json_text(w.key, name, sizeof name);
        for (struct mechc_json_walk v = mechc_json_walk(w.value);
             kind == '{' && mechc_json_next(&v);) {
            char key[32];
            mechc_json_text(v.key, key, sizeof key);
            mechc_bytes_clear(&text);
            mechctl_inline(v.value, &text);
            printf("%-9s %-11s %s\n", name, key, text.failed ? "" : text.at);
            name[0] = '\0';
        }
        if (kind != '{' && kind != '[') {
            mechc_bytes_clear(&text);
            mechctl_inline(w.value, &text);
            printf("%-9s %s\n", name, text.failed ? "" : text.at);
        }
    }
    mechc_bytes_fini(&text);
    putchar('\n');
    if (mechc_json_member(reply, "parts", &value)) {
        mechctl_print_table(m, value, columns, "nothing");
    }
}

static void print_blocks(const struct mechctl *m, struct mechc_json reply)
{
    static const struct mechctl_column variables[] = {
        {"name", "VARIABLES", false}, {"mass", "MASS", false}, {"massNumber", "SHARED", true},
        {"dof", "DOF", true},         {"offset", "AT", true},  {0}};
    static const struct mechctl_column constraints[] = {
        {"name", "CONSTRAINT", false},  {"kind", "KIND", false},
        {"rows", "ROWS", true},         {"offset", "AT", true},
        {"position", "POSITION", true}, {"mu", "MU", true},
        {"flags", "FLAGS", false},      {0}};
    static const struct mechctl_column blocks[] = {
        {"variables", "COUPLED", false}, {"K", "K", true}, {"C", "C", true}, {"M", "M", true}, {0}};
    const struct {
        const char *key;
        const struct mechctl_column *columns;
        const char *none;
    } tables[] = {{"variables", variables, "no variables"},
                  {"constraints", constraints, "no constraints"},
                  {"blocks", blocks, "no stiffness"}};
    struct mechc_json rows;
    for (size_t k = 0; k < sizeof tables / sizeof *tables; k++) {
        if (mechc_json_member(reply, tables[k].key, &rows)) {
            fputs(k > 0 ? "\n" : "", stdout);
            mechctl_print_table(m, rows, tables[k].columns, tables[k].none);
        }
    }
}

/* A number of a row or a column, right-aligned. */
static void print_number(struct mechc_json value)
{
    char text[32];
    double x = 0.;
    mechc_json_number(value, &x);
    printf("%15s", mechctl_human(x, text));
}

/* Rows of numbers, entries, or one number a line. */
static void print_part(struct mechc_json reply)
{
    struct mechc_json list;
    if (mechc_json_member(reply, "values", &list)) {
        for (struct mechc_json_walk w = mechc_json_walk(list); mechc_json_next(&w);) {
            print_number(w.value);
            putchar('\n');
        }
        return;
    }
    if (mechc_json_member(reply, "rows", &list) || mechc_json_member(reply, "coo", &list)) {
        for (struct mechc_json_walk w = mechc_json_walk(list); mechc_json_next(&w);) {
            for (struct mechc_json_walk v = mechc_json_walk(w.value); mechc_json_next(&v);) {
                print_number(v.value);
            }
            putchar('\n');
        }
    }
}

/* A product, a projection or a residual: the vectors come from a file. */
static int post(struct mechctl *m, const char *input)
{
    if (m->count < 2) {
        return mechctl_usage(
            "system: --input is for product, schur-product, project and feasibility");
    }
    m->file = input;
    const int code = mechctl_read_json(input, &m->body);
    return code != MECHCTL_DONE
               ? code
               : mechctl_print_reply(
                     m, "POST",
                     MECHCTL_PATH("v1", "instances", m->arguments[0], "system", m->arguments[1]),
                     &m->body);
}

static int run(struct mechctl *m)
{
    const char *const input = mechctl_option(m, "input");
    if (input) {
        return post(m, input);
    }
    char path[MECHC_PATH + QUERY];
    struct mechc_json reply;
    struct mechc_reply r;
    int code = make_path(m, path);
    if (code != MECHCTL_DONE) {
        return code;
    }
    code = mechctl_request(m, &(struct mechc_request){.method = "GET", .path = path}, &r);
    if (code != MECHCTL_DONE) {
        return code;
    }
    const char *const format = mechctl_option(m, "format");
    const char *const file = mechctl_option(m, "output");
    if (file || (format && strcmp(format, "json") != 0)) {
        return mechctl_write_file(file ? file : "-", r.body, r.size);
    }
    if (!mechc_json_open(r.body, r.size, &reply)) {
        fputs("mechctl: the reply is not JSON\n", stderr);
        return MECHCTL_FAILED;
    }
    if (m->json) {
        return mechctl_print_raw(reply);
    }
    if (m->count < 2) {
        print_summary(m, reply);
    } else if (strcmp(m->arguments[1], "blocks") == 0) {
        print_blocks(m, reply);
    } else {
        print_part(reply);
    }
    return MECHCTL_DONE;
}

static const struct mechctl_option options[] = {
    MECHCTL_OPTION("factors", "a,k,c",
                   "factors of mass, stiffness and damping: H = a M + k K + c C"),
    {.name = "all-contacts",
     .key = "contacts",
     .apart = true,
     .doc = "include open contacts of interactions"},
    {.key = "bilateral", .apart = true, .doc = "only rows of bilateral constraints"},
    {.key = "format",
     .also = &mechp_row_SYSTEM,
     .doc = "format of a part (json), or of the whole descriptor"},
    {.key = "frozen", .argument = "NAMES"},
    MECHCTL_OPTION("input", "FILE",
                   "with product, schur-product, project, feasibility: the request, - for stdin"),
    MECHCTL_OPTION("output", "FILE", "write the reply to a file"),
    {0},
};

const struct mechctl_command mechctl_system = {
    .name = "system",
    .group = MECHCTL_ANALYSES,
    .arguments = "ID [blocks | PART]",
    .summary = "show the system descriptor, its blocks, a matrix or a vector",
    .details = "  mechctl system i-1\n"
               "  mechctl system i-1 blocks\n"
               "  mechctl system i-1 Cq --level velocity\n"
               "  mechctl system i-1 Z --format mtx --output Z.mtx\n"
               "  echo '{\"x\": [1, 0]}' | mechctl system i-1 product --input -",
    .query = &mechp_row_SYSTEM_PART,
    .without = "massFactor stiffnessFactor dampingFactor",
    .options = options,
    .least = 1,
    .most = 2,
    .run = run,
};
