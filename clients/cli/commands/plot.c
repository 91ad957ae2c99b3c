/* mechctl plot: the recorded outputs of a run as graphs over time. */
#include "clients/cli/plot.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LEAST_LINES = 2, MOST_LINES = 200, LINES = 6 };

/* Columns of the results, with the unit of each output of an instance. MECHCTL_DONE or another exit
 * code. */
static int read_names(struct mechctl *m, const char *path, struct mechctl_plot *p)
{
    char shorter[MECHC_PATH + 600];
    struct mechc_json reply, columns, variables, unit;
    struct mechc_reply r;
    snprintf(shorter, sizeof shorter, "%s", path);
    mechctl_query(shorter, sizeof shorter, "limit", "1");
    int code = mechctl_request(m, &(struct mechc_request){.method = "GET", .path = shorter}, &r);
    if (code != MECHCTL_DONE) {
        return code;
    }
    if (!mechc_json_open(r.body, r.size, &reply) ||
        !mechc_json_member(reply, "columns", &columns)) {
        return MECHCTL_FAILED;
    }
    const size_t n = mechc_json_count(columns);
    p->curves = calloc(n > 0 ? n : 1, sizeof *p->curves);
    if (!p->curves || n == 0) {
        return MECHCTL_FAILED;
    }
    bool first = true; // the time
    for (struct mechc_json_walk w = mechc_json_walk(columns); mechc_json_next(&w); first = false) {
        if (!first) {
            p->curves[p->count].name = mechctl_text(w.value, "");
            if (!p->curves[p->count++].name) {
                return MECHCTL_FAILED;
            }
        }
    }
    if (mechctl_option(m, "coupling")) {
        return MECHCTL_DONE;
    }
    code =
        mechctl_get(m, MECHCTL_PATH("v1", "instances", m->arguments[0], "variables"), &variables);
    if (code != MECHCTL_DONE || !mechc_json_member(variables, "items", &variables)) {
        return code;
    }
    for (struct mechctl_curve *c = p->curves; c < p->curves + p->count; c++) {
        // "name[2]" is a component of "name", or a name
        char *const name = mechc_copy(c->name);
        bool has = name && mechctl_unit(variables, name, &unit);
        if (name && !has) {
            name[strcspn(name, "[")] = '\0';
            has = mechctl_unit(variables, name, &unit);
        }
        if (has) {
            mechc_json_text(unit, c->unit, sizeof c->unit);
        }
        free(name);
    }
    return MECHCTL_DONE;
}

/* The rows as float64: *rows is what p points into, the caller's to free. */
static int read_rows(struct mechctl *m, const char *path, struct mechctl_plot *p, double **rows)
{
    char binary[MECHC_PATH + 600];
    struct mechc_reply r;
    snprintf(binary, sizeof binary, "%s", path);
    mechctl_query(binary, sizeof binary, "format", "f64");
    const int code =
        mechctl_request(m, &(struct mechc_request){.method = "GET", .path = binary}, &r);
    if (code != MECHCTL_DONE) {
        return code;
    }
    p->stride = p->count + 1;
    p->rows = r.size / sizeof(double) / p->stride;
    *rows = malloc(r.size + 1);
    if (!*rows) {
        return MECHCTL_FAILED;
    }
    memcpy(*rows, r.body, r.size);
    p->time = *rows;
    for (size_t i = 0; i < p->count; i++) {
        p->curves[i].at = *rows + 1 + i;
    }
    return MECHCTL_DONE;
}

static const char *ending_of(const char *file)
{
    const char *const dot = strrchr(file, '.');
    return dot ? dot : "";
}

/* As a file, in the format of its ending. */
static int save(struct mechctl *m, const struct mechctl_plot *p, const char *file)
{
    struct mechc_bytes out = {0};
    if (strcmp(ending_of(file), ".svg") == 0) {
        mechctl_plot_svg(p, &out);
    } else {
        mechctl_plot_png(p, &out);
    }
    int code = MECHCTL_FAILED;
    if (out.failed) {
        fputs("mechctl: out of memory\n", stderr);
    } else {
        code = mechctl_save(m, file, out.at, out.length);
    }
    mechc_bytes_fini(&out);
    return code;
}

static int run(struct mechctl *m)
{
    const char *const to[] = {
        "v1", mechctl_kind(m), m->arguments[0], "runs", m->arguments[1], "results", NULL};
    const char *const file = mechctl_option(m, "save");
    double lines = LINES, *rows = NULL;
    int code = mechctl_number(m, "lines", &lines);
    if (code == MECHCTL_DONE && !(lines >= LEAST_LINES && lines <= MOST_LINES)) {
        code = mechctl_usage("--lines takes a number from %d to %d", LEAST_LINES, MOST_LINES);
    }
    if (file && strcmp(ending_of(file), ".svg") != 0 && strcmp(ending_of(file), ".png") != 0) {
        code = mechctl_usage("--save %s: its name ends with .svg or .png", file);
    }
    char path[MECHC_PATH + 512];
    if (code == MECHCTL_DONE) {
        code = mechctl_result(m, mechc_path(m->c, to, path));
    }
    code = code == MECHCTL_DONE ? mechctl_query_keys(m, path, sizeof path) : code;
    struct mechctl_plot p = {0};
    if (code == MECHCTL_DONE) {
        code = read_names(m, path, &p);
    }
    if (code == MECHCTL_DONE) {
        code = read_rows(m, path, &p, &rows);
    }
    if (code == MECHCTL_DONE && file) {
        code = save(m, &p, file);
    } else if (code == MECHCTL_DONE) {
        mechctl_plot_text(m, &p, (int)lines);
    }
    free(rows);
    for (size_t k = 0; k < p.count; k++) {
        free(p.curves[k].name);
    }
    free(p.curves);
    return code;
}

static const struct mechctl_option options[] = {
    {.key = "outputs", .argument = "A,B"},
    MECHCTL_OPTION("lines", "N", "height of each graph on the terminal (6)"),
    MECHCTL_OPTION("save", "FILE.svg", "write a picture: its name ends with .svg or .png"),
    MECHCTL_OF_COUPLING,
    {0},
};

const struct mechctl_command mechctl_plot = {
    .name = "plot",
    .group = MECHCTL_RUNS,
    .arguments = "ID RUN",
    .summary = "draw the recorded outputs of a run, on the terminal or as a picture",
    .details = "  mechctl plot i-1 r-1 --outputs x,v\n"
               "  mechctl plot i-1 r-1 --save out.png\n"
               "In a picture, outputs with the same unit share a graph.",
    .query = &mechp_row_RESULTS,
    .without = "format limit",
    .options = options,
    .synonyms = "draw graph chart",
    .least = 2,
    .most = 2,
    .run = run,
};
