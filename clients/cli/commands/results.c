/* mechctl results: the recorded outputs of a run. */
#include "clients/cli/cli.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

const char *const mechctl_forms[] = {"json", "ndjson", "csv", "npy", "f64", NULL};

/* The format of a file by its extension, in any case; NULL: it has none. False: of another kind. */
static bool form_of(const char *file, const char **out)
{
    const char *const slash = strrchr(file, '/'), *const name = slash ? slash + 1 : file;
    const char *const dot = strrchr(name, '.');
    *out = NULL;
    for (const char *const *form = mechctl_forms; dot && dot > name && *form; form++) {
        if (strcasecmp(dot + 1, *form) == 0) {
            *out = *form;
        }
    }
    return *out || !dot || dot == name;
}

/* The cells of a row, or the names of the columns: as wide as any of them (print false), or printed
 * at these widths. */
static void lay_out(struct mechc_json cells, int *widths, size_t count, bool print)
{
    struct mechc_bytes text = {0};
    size_t k = 0;
    for (struct mechc_json_walk w = mechc_json_walk(cells); mechc_json_next(&w) && k < count; k++) {
        mechc_bytes_clear(&text);
        mechctl_inline(w.value, &text);
        const char *const shown = text.failed ? "" : text.at;
        const int have = mechctl_width(shown);
        widths[k] = have > widths[k] ? have : widths[k];
        if (print) {
            printf("%*s%s", widths[k] - have + (k > 0 ? 2 : 0), "", shown);
        }
    }
    mechc_bytes_fini(&text);
}

/* The rows in aligned columns. */
static int print_table(struct mechctl *m, const char *path)
{
    struct mechc_reply r;
    struct mechc_json reply, columns, rows, next;
    const int code = mechctl_request(m, &(struct mechc_request){.method = "GET", .path = path}, &r);
    if (code != MECHCTL_DONE) {
        return code;
    }
    if (!mechc_json_open(r.body, r.size, &reply) ||
        !mechc_json_member(reply, "columns", &columns) ||
        !mechc_json_member(reply, "rows", &rows)) {
        return MECHCTL_FAILED;
    }
    const size_t count = mechc_json_count(columns);
    int *const widths = calloc(count > 0 ? count : 1, sizeof *widths);
    if (!widths) {
        return MECHCTL_FAILED;
    }
    lay_out(columns, widths, count, false);
    for (struct mechc_json_walk w = mechc_json_walk(rows); mechc_json_next(&w);) {
        lay_out(w.value, widths, count, false);
    }
    fputs(mechctl_ink(m, MECHCTL_BOLD), stdout);
    lay_out(columns, widths, count, true);
    printf("%s\n", mechctl_ink_off(m));
    for (struct mechc_json_walk w = mechc_json_walk(rows); mechc_json_next(&w);) {
        lay_out(w.value, widths, count, true);
        putchar('\n');
    }
    free(widths);
    if (mechc_json_member(reply, "next", &next) && mechc_json_kind(next) == '0') {
        fprintf(stderr, "there are more rows: --from %.*s\n", (int)(next.end - next.at), next.at);
    }
    return MECHCTL_DONE;
}

static int run(struct mechctl *m)
{
    static const char *const parts[] = {"from", "to", "limit", "outputs"};
    const char *const to[] = {
        "v1", mechctl_kind(m), m->arguments[0], "runs", m->arguments[1], "results", NULL};
    const char *const file = mechctl_option(m, "save");
    const char *form = mechctl_option(m, "format");
    char path[MECHC_PATH + 512];
    struct mechc_json reply;
    if (mechctl_option(m, "delete")) {
        return mechctl_send(m, "DELETE", to, NULL, &reply);
    }
    if (file && !form && !form_of(file, &form)) {
        return mechctl_usage("%s: the name of the file ends with none of .json, .ndjson, .csv, "
                             ".npy and .f64: give --format",
                             file);
    }
    const int result = mechc_path(m->c, to, path);
    if (result != MECHC_OK) {
        return mechctl_result(m, result);
    }
    mechctl_query(path, sizeof path, "format", form);
    for (size_t k = 0; k < sizeof parts / sizeof *parts; k++) {
        mechctl_query(path, sizeof path, parts[k], mechctl_option(m, parts[k]));
    }
    if (*path == 0) {
        return mechctl_usage("the options are too long");
    }
    if (!file && !form && !m->json) {
        return print_table(m, path);
    }
    return file ? mechctl_download(m, path, file) : mechctl_print_path(m, path);
}

static const struct mechctl_option options[] = {
    MECHCTL_OF_COUPLING,
    {"format", "FORMAT", "format of the rows (default a table, or that of the file name)"},
    {"from", "T", "rows from this time on, in seconds"},
    {"to", "T", "rows up to this time"},
    {"limit", "N", "at most N rows"},
    {"outputs", "A,B", "these outputs only"},
    {"save", "FILE", "write the rows to a file"},
    {"delete", NULL, "delete the recorded rows"},
    {0},
};

static const struct mechctl_words words[] = {{"FORMAT", mechctl_forms}, {0}};

const struct mechctl_command mechctl_results = {
    .name = "results",
    .group = MECHCTL_RUNS,
    .arguments = "ID RUN",
    .summary = "print the recorded outputs of a run, or save them to a file",
    .details = "  mechctl results i-1 r-1 --format csv >out.csv\n"
               "  mechctl results i-1 r-1 --save out.npy",
    .options = options,
    .words = words,
    .synonyms = "download record records",
    .least = 2,
    .most = 2,
    .run = run,
};
