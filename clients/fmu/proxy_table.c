/* The resources of an FMU that connects to a server (protocol/fmi/table.h). */
#include "clients/fmu/proxy.h"

#include "solver/base/err.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FILE_MOST = 64 << 20, COUNT_MOST = 1 << 20 };

static int refuse(const struct mechfmu *m, const char *why)
{
    mechfmu_say(m, MECHP_FMI3_ERROR, "proxy.json: %s", why);
    return MECH_INVALID;
}

/* A file of the resources, malloc'd; NULL with a message. */
static char *read_file(const struct mechfmu *m, const char *resources, const char *name,
                       size_t *size)
{
    char path[4096];
    const size_t n = strlen(resources);
    const bool closed = n > 0 && (resources[n - 1] == '/' || resources[n - 1] == '\\');

    if (n == 0 || (size_t)snprintf(path, sizeof path, "%s%s%s", resources, closed ? "" : "/",
                                   name) >= sizeof path) {
        mechfmu_say(m, MECHP_FMI3_ERROR,
                    n == 0 ? "there are no resources" : "the path of the resources is too long");
        return NULL;
    }
    FILE *const file = fopen(path, "rb");
    struct mechc_bytes bytes = {.at = NULL};
    char piece[1 << 14];
    for (size_t got = 1; file && got > 0 && bytes.length < FILE_MOST;) {
        got = fread(piece, 1, sizeof piece, file);
        mechc_bytes_add(&bytes, piece, got);
    }
    if (file) {
        fclose(file);
    }
    *size = bytes.length;
    if (bytes.failed || bytes.length == 0 || bytes.length >= FILE_MOST) {
        mechfmu_say(m, MECHP_FMI3_ERROR, "\"%.400s\" cannot be read", path);
        mechc_bytes_fini(&bytes);
        return NULL;
    }
    return bytes.at;
}

/* --- members ---------------------------------------------------------------------------------- */

static bool integer_of(struct mechc_json object, const char *key, int32_t least, int32_t most,
                       int32_t *out)
{
    struct mechc_json v;
    uint64_t n = 0;

    if (!mechc_json_member(object, key, &v) || !mechc_json_unsigned(v, &n) || n > (uint64_t)most ||
        n < (uint64_t)least) {
        return false;
    }
    *out = (int32_t)n;
    return true;
}

/* A text of an object, malloc'd; NULL: it has none. */
static char *text_of(struct mechc_json object, const char *key)
{
    struct mechc_json v;

    if (!mechc_json_member(object, key, &v) || mechc_json_kind(v) != '"') {
        return NULL;
    }
    const size_t n = mechc_json_text(v, NULL, 0) + 1;
    char *const text = malloc(n);
    if (text) {
        mechc_json_text(v, text, n);
    }
    return text;
}

static bool is_true(struct mechc_json object, const char *key)
{
    struct mechc_json v;
    return mechc_json_member(object, key, &v) && mechc_json_kind(v) == 't';
}

/* --- channels --------------------------------------------------------------------------------- */

/* Channels of that key; *packed: their values in all. 0; MECH_INVALID; MECH_NO_MEMORY. */
static int read_channels(struct mechc_json table, const char *key, struct mechfmu_named **out,
                         size_t *n, size_t *packed)
{
    struct mechc_json list, v;
    int32_t offset = 0;

    if (!mechc_json_member(table, key, &list) || mechc_json_count(list) > COUNT_MOST) {
        return MECH_INVALID;
    }
    *out = calloc(mechc_json_count(list) + 1, sizeof **out);
    if (!*out) {
        return MECH_NO_MEMORY;
    }
    for (struct mechc_json_walk w = mechc_json_walk(list); mechc_json_next(&w);) {
        struct mechfmu_named *const c = &(*out)[*n];

        c->name = text_of(w.value, "name");
        c->size = 1;
        c->offset = offset;
        const bool parameter = !mechc_json_member(w.value, "size", &v);
        c->scalar = parameter || is_true(w.value, "scalar");
        ++*n;
        if (!c->name || (!parameter && !integer_of(w.value, "size", 0, COUNT_MOST, &c->size)) ||
            offset > COUNT_MOST) {
            return MECH_INVALID;
        }
        offset += c->size;
    }
    *packed = (size_t)offset;
    return 0;
}

/* Their values at the start, [packed]. NULL: they have others, or no memory. */
static double *read_starts(struct mechc_json table, const char *key,
                           const struct mechfmu_named *channels, size_t packed)
{
    double *const values = calloc(packed + 1, sizeof *values);
    const struct mechfmu_named *c = channels;
    struct mechc_json list = {.at = "", .end = ""}, start;
    bool good = values && mechc_json_member(table, key, &list);

    for (struct mechc_json_walk w = mechc_json_walk(list); good && mechc_json_next(&w); c++) {
        struct mechc_json_walk each = {.at = NULL};
        int32_t k = 0;

        good = mechc_json_member(w.value, "start", &start);
        each = good ? mechc_json_walk(start) : each;
        for (; good && mechc_json_next(&each); k++) {
            good = k < c->size && mechc_json_number(each.value, values + c->offset + k);
        }
        good = good && k == c->size;
    }
    if (!good) {
        free(values);
    }
    return good ? values : NULL;
}

static void free_channels(struct mechfmu_named *channels, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        free(channels[i].name);
    }
    free(channels);
}

/* --- variables -------------------------------------------------------------------------------- */

/* The channel that a variable belongs to; NULL: there is none. */
static const struct mechfmu_named *channel_of(const struct mechfmu_engine *e,
                                              const struct mechp_fmi_variable *v)
{
    const struct mechfmu_named *const all[] = {e->inputs, e->outputs, e->parameters};
    const size_t n[] = {e->n_inputs, e->n_outputs, e->n_parameters};

    return v->causality < MECH_INDEPENDENT && (size_t)v->channel < n[v->causality]
               ? &all[v->causality][v->channel]
               : NULL;
}

/* 0; MECH_INVALID. */
static int read_variable(struct mechfmu *m, struct mechc_json from, struct mechp_fmi_variable *v)
{
    int32_t causality = 0, variability = 0, reference = 0;

    if (!integer_of(from, "reference", 0, INT32_MAX, &reference) ||
        !integer_of(from, "causality", 0, MECH_INDEPENDENT, &causality) ||
        !integer_of(from, "variability", 0, MECHP_FMI_TUNABLE, &variability) ||
        !integer_of(from, "channel", 0, COUNT_MOST, &v->channel) ||
        !integer_of(from, "first", 0, COUNT_MOST, &v->first) ||
        !integer_of(from, "size", 1, COUNT_MOST, &v->size)) {
        return MECH_INVALID;
    }
    v->causality = (enum mech_causality)causality;
    v->variability = (enum mechp_fmi_variability)variability;
    v->reference = (uint32_t)reference;
    v->scalar = is_true(from, "scalar");
    const struct mechfmu_named *const c = channel_of(m->engine, v);
    if (v->causality != MECH_INDEPENDENT && (!c || v->first + v->size > c->size)) {
        return MECH_INVALID;
    }
    v->offset = c ? c->offset + v->first : 0;
    v->name = text_of(from, "name");
    return v->name ? 0 : MECH_INVALID;
}

/* By reference, ascending. */
static int read_variables(struct mechfmu *m, struct mechc_json table)
{
    struct mechc_json list;

    if (!mechc_json_member(table, "variables", &list) || mechc_json_count(list) > COUNT_MOST) {
        return MECH_INVALID;
    }
    m->layout.at = calloc(mechc_json_count(list) + 1, sizeof *m->layout.at);
    if (!m->layout.at) {
        return MECH_NO_MEMORY;
    }
    for (struct mechc_json_walk w = mechc_json_walk(list); mechc_json_next(&w);) {
        struct mechp_fmi_variable *const v = &m->layout.at[m->layout.n];

        MECH_TRY(read_variable(m, w.value, v));
        m->layout.n++; /* its name is freed */
        if (m->layout.n > 1 && v->reference <= v[-1].reference) {
            return MECH_INVALID;
        }
    }
    return 0;
}

/* --- the table -------------------------------------------------------------------------------- */

static int make_channels(struct mechfmu *m, struct mechc_json table)
{
    struct mechfmu_engine *const e = m->engine;

    m->inputs = e->n_inputs;
    m->parameters = e->n_parameters;
    m->channels = calloc(m->inputs + 1, sizeof *m->channels);
    e->output = calloc(m->measured + 1, sizeof *e->output);
    e->input = calloc(m->packed + 1, sizeof *e->input);
    if (!m->channels || !e->output || !e->input) {
        return MECH_NO_MEMORY;
    }
    e->input_start = read_starts(table, "inputs", e->inputs, m->packed);
    e->output_start = read_starts(table, "outputs", e->outputs, m->measured);
    e->parameter_start = read_starts(table, "parameters", e->parameters, m->parameters);
    if (!e->input_start || !e->output_start || !e->parameter_start) {
        return MECH_INVALID;
    }
    for (size_t i = 0; i < m->inputs; i++) {
        m->channels[i] = (struct mechfmu_channel){e->inputs[i].offset, e->inputs[i].size};
    }
    return 0;
}

static int make_settings(struct mechfmu *m, struct mechc_json table)
{
    for (size_t k = 0; k < MECHP_FMI_SETTINGS; k++) {
        m->settings[k] = k == MECHP_FMI_SETTING_SERVER ? text_of(table, "server")
                                                       : mechc_copy(mechp_fmi_settings[k].start);
        if (!m->settings[k]) {
            return MECH_NO_MEMORY;
        }
    }
    return 0;
}

static int read_table(struct mechfmu *m, struct mechc_json table, char token[MECHP_FMI_TOKEN])
{
    struct mechfmu_engine *const e = m->engine;
    struct mechc_json v;
    int32_t version = 0;
    size_t values = 0;

    if (!integer_of(table, "version", MECHP_FMI_2, MECHP_FMI_3, &version) ||
        version != (int32_t)m->version) {
        return refuse(m, "it is of another version of FMI");
    }
    if (!mechc_json_member(table, "stepSize", &v) || !mechc_json_number(v, &e->step_size) ||
        !(e->step_size > 0.)) {
        return refuse(m, "it has no step size");
    }
    if (!mechc_json_member(table, "token", &v) ||
        mechc_json_text(v, token, MECHP_FMI_TOKEN) >= MECHP_FMI_TOKEN) {
        return refuse(m, "it has no token");
    }
    int code = read_channels(table, "inputs", &e->inputs, &e->n_inputs, &m->packed);
    code = code ? code : read_channels(table, "outputs", &e->outputs, &e->n_outputs, &m->measured);
    code =
        code ? code : read_channels(table, "parameters", &e->parameters, &e->n_parameters, &values);
    code = code ? code : read_variables(m, table);
    code = code ? code : make_channels(m, table);
    code = code ? code : make_settings(m, table);
    return code > 0 ? refuse(m, "its variables are not those of a model") : code;
}

int mechfmu_table_read(struct mechfmu *m, const char *resources, char token[MECHP_FMI_TOKEN])
{
    struct mechfmu_engine *const e = m->engine;
    struct mechc_json table;
    size_t size = 0;

    m->layout.version = m->version;
    e->document = read_file(m, resources, "model.json", &e->document_size);
    char *const text = e->document ? read_file(m, resources, "proxy.json", &size) : NULL;
    if (!text) {
        return MECH_INVALID;
    }
    const int code = mechc_json_open(text, size, &table) ? read_table(m, table, token)
                                                         : refuse(m, "it is not JSON");
    free(text);
    return code;
}

void mechfmu_table_fini(struct mechfmu *m)
{
    struct mechfmu_engine *const e = m->engine;

    free_channels(e->inputs, e->n_inputs);
    free_channels(e->outputs, e->n_outputs);
    free_channels(e->parameters, e->n_parameters);
    for (size_t i = 0; i < m->layout.n; i++) {
        free((void *)(uintptr_t)m->layout.at[i].name);
    }
    free(m->layout.at);
    free(e->output);
    free(e->input);
    free(e->output_start);
    free(e->input_start);
    free(e->parameter_start);
    free(e->document);
}
