/* mechctl results: the recorded outputs of a run. */
#include "clients/cli/cli.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FORM = 16 };

/* The format of a file by its extension, in any case, in `form`; "": it has none. False: of another
 * kind. */
static bool form_of(const char *file, char form[FORM])
{
    const char *const slash = strrchr(file, '/'), *const name = slash ? slash + 1 : file;
    const char *const dot = strrchr(name, '.');
    form[0] = '\0';
    if (!dot || dot == name) {
        return true;
    }
    const size_t n = strlen(dot + 1);
    for (size_t k = 0; n < FORM && k <= n; k++) {
        form[k] = (char)tolower((unsigned char)dot[1 + k]);
    }
    return n < FORM && mechp_type_word(mechp_key_type(&mechp_row_RESULTS, "format"), form) >= 0;
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
    const char *const to[] = {
        "v1", mechctl_kind(m), m->arguments[0], "runs", m->arguments[1], "results", NULL};
    const char *const file = mechctl_option(m, "save");
    const char *form = mechctl_option(m, "format");
    char by_name[FORM] = "";
    char path[MECHC_PATH + 512];
    struct mechc_json reply;
    if (mechctl_option(m, "delete")) {
        return mechctl_send(m, "DELETE", to, NULL, &reply);
    }
    if (file && !form && !form_of(file, by_name)) {
        char words[64];
        const char *const type = mechp_key_type(&mechp_row_RESULTS, "format");
        return mechctl_usage("%s: the extension of the file is not %s: give --format", file,
                             mechp_type_words(type, words, sizeof words));
    }
    form = form ? form : *by_name ? by_name : NULL;
    const int result = mechc_path(m->c, to, path);
    if (result != MECHC_OK) {
        return mechctl_result(m, result);
    }
    mechctl_query(path, sizeof path, "format", form);
    const int code = mechctl_query_keys(m, path, sizeof path);
    if (code != MECHCTL_DONE) {
        return code;
    }
    if (!file && !form && !m->json) {
        return print_table(m, path);
    }
    return file ? mechctl_download(m, path, file) : mechctl_print_path(m, path);
}

static const struct mechctl_option options[] = {
    {.key = "format",
     .apart = true,
     .argument = "FORMAT",
     .doc = "format of the rows (default a table, or that of the file name)"},
    {.key = "outputs", .argument = "A,B"},
    MECHCTL_OPTION("save", "FILE", "write the rows to a file"),
    MECHCTL_OPTION("delete", NULL, "delete the recorded rows"),
    MECHCTL_OF_COUPLING,
    {0},
};

const struct mechctl_command mechctl_results = {
    .name = "results",
    .group = MECHCTL_RUNS,
    .arguments = "ID RUN",
    .summary = "print the recorded outputs of a run, or save them to a file",
    .details = "  mechctl results i-1 r-1 --format csv >out.csv\n"
               "  mechctl results i-1 r-1 --save out.npy",
    .query = &mechp_row_RESULTS,
    .options = options,
    .synonyms = "download record records",
    .least = 2,
    .most = 2,
    .run = run,
};
