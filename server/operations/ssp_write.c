/* GET /v1/couplings/{cid}/ssp: the participants' FMUs, one for equal models, the values of their
 * parameters and of the inputs that nothing drives, and the connections. What is sent is a list of
 * pieces: most of them are the binary that the FMUs of models share, and files of hosted ones. */
#include "server/operations/ssp.h"

#include "protocol/fmi/system.h"
#include "protocol/wire/bodies_coupling.h"
#include "protocol/wire/json.h"
#include "server/call/service.h"
#include "server/engine/fmu_engine.h"
#include "server/operations/ssp_models.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PIECE = 1 << 16 /* bytes sent at a time */, PIECES = 4 * MECHD_COUPLING_PARTS + 2 };

/* A value of a participant: what the connector of the same index stands for. */
struct value {
    enum mech_causality causality;
    int32_t index, component;
};

struct part {
    size_t model;
    struct mechp_system_connector *connectors; /* [count] */
    struct value *values;                      /* [count] */
    size_t count;
};

/* Bytes in memory, or of the archive of a hosted FMU from `from` on. */
struct piece {
    const char *bytes;
    const struct mechd_fmu_package *package;
    uint64_t from;
    size_t size;
};

struct package {
    struct mechd_coupling_command *k; /* the call's work before this */
    struct mechd_ssp_models models;
    struct part parts[MECHD_COUPLING_PARTS];
    struct mechp_system_component components[MECHD_COUPLING_PARTS];
    struct mechp_system_connection *connections; /* [connection_count] */
    size_t connection_count;
    struct mechp_text settings;
    struct mechp_zip zip;    /* of the package */
    struct mechp_text frame; /* what is between the FMUs */
    struct piece pieces[PIECES];
    size_t piece_count, at;
};

static void free_package(struct mechd_call *c)
{
    struct package *const x = c->work;
    mechd_ssp_models_fini(&x->models);
    for (size_t n = 0; n < MECHD_COUPLING_PARTS; n++) {
        free(x->parts[n].connectors);
        free(x->parts[n].values);
    }
    free(x->connections);
    mechp_text_fini(&x->settings);
    mechp_text_fini(&x->frame);
    free(x->k);
    free(x);
}

/* --- participants ----------------------------------------------------------------------------- */

static enum mechp_system_port port_of(enum mech_causality causality)
{
    return causality == MECH_INPUT             ? MECHP_SYSTEM_INPUT
           : causality == MECH_OUTPUT_VARIABLE ? MECHP_SYSTEM_OUTPUT
                                               : MECHP_SYSTEM_PARAMETER;
}

/* The present value of an input's component, or of a parameter. */
static double present(const struct mechd_engine *e, const struct value *v, double *scratch)
{
    if (v->causality == MECH_PARAMETER) {
        return mechd_engine_get_parameter(e, v->index);
    }
    mechd_engine_get_input(e, v->index, scratch);
    return scratch[v->component];
}

/* Most numbers of an input, at least 1. */
static size_t widest_input(const struct mechd_engine *e)
{
    size_t most = 1;
    for (size_t k = 0; k < mechd_engine_variable_count(e, MECH_INPUT); k++) {
        struct mech_variable v;
        mechd_engine_variable(e, MECH_INPUT, k, &v);
        most = (size_t)v.size > most ? (size_t)v.size : most;
    }
    return most;
}

/* Room for connectors. False: no memory. */
static bool make_room(struct part *p, size_t count)
{
    p->connectors = calloc(count + 1, sizeof *p->connectors);
    p->values = calloc(count + 1, sizeof *p->values);
    return p->connectors != NULL && p->values != NULL;
}

static void add_connector(struct part *p, const struct mechd_engine *e, const char *name,
                          enum mechp_system_type type, struct value value, double *scratch)
{
    const bool given = value.causality != MECH_OUTPUT_VARIABLE;
    p->values[p->count] = value;
    p->connectors[p->count++] =
        (struct mechp_system_connector){.name = name,
                                        .port = port_of(value.causality),
                                        .type = type,
                                        .has_value = given,
                                        .value = given ? present(e, &value, scratch) : 0.};
}

/* All variables of the FMU of a model but time. False: no memory. */
static bool connect_model(struct part *p, const struct mechd_engine *e,
                          const struct mechp_fmi_layout *l, double *scratch)
{
    if (!make_room(p, l->n)) {
        return false;
    }
    for (size_t k = 0; k < l->n; k++) {
        const struct mechp_fmi_variable *const v = &l->at[k];
        if (v->causality != MECH_INDEPENDENT) {
            add_connector(p, e, v->name, MECHP_SYSTEM_REAL,
                          (struct value){v->causality, v->channel, v->first}, scratch);
        }
    }
    return true;
}

static enum mechp_system_type type_of(const struct mechd_fmu_description *d, const char *name)
{
    for (size_t k = 0; k < d->variable_count; k++) {
        if (strcmp(d->variables[k].name, name) == 0) {
            const enum mechd_fmu_type type = d->variables[k].type;
            return type == MECHD_FMU_BOOLEAN                                ? MECHP_SYSTEM_BOOLEAN
                   : type == MECHD_FMU_FLOAT64 || type == MECHD_FMU_FLOAT32 ? MECHP_SYSTEM_REAL
                                                                            : MECHP_SYSTEM_INTEGER;
        }
    }
    return MECHP_SYSTEM_REAL;
}

/* The same of a hosted one: what its instance shows. False: refused. */
static bool connect_hosted(struct mechd_call *c, struct part *p, const struct mechd_part *from,
                           const struct mechd_fmu_description *d, double *scratch)
{
    const struct mechd_engine *const e = &from->instance->engine;
    if (!make_room(p, d->variable_count)) {
        mechd_fail_outcome(c, MECH_NO_MEMORY);
        return false;
    }
    for (int k = MECH_INPUT; k <= MECH_PARAMETER; k++) {
        const enum mech_causality causality = (enum mech_causality)k;
        for (size_t i = 0; i < mechd_engine_variable_count(e, causality); i++) {
            struct mech_variable v;
            mechd_engine_variable(e, causality, i, &v);
            if (!v.scalar) {
                mechd_fail(c, MECHP_INVALID_REQUEST,
                           "%.64s of participant %.64s is an array: SSP 1.0 has single values",
                           v.name, from->name);
                return false;
            }
            add_connector(p, e, v.name, type_of(d, v.name),
                          (struct value){causality, (int32_t)i, 0}, scratch);
        }
    }
    return true;
}

/* As owner of the instances. False: refused. */
static bool add_part(struct mechd_call *c, struct package *x, const struct mechd_coupling *g,
                     int32_t n)
{
    const struct mechd_part *const from = &g->parts[n];
    struct part *const p = &x->parts[n];
    if (from->outside != NULL) {
        mechd_fail(c, MECHP_INVALID_REQUEST,
                   "participant %.64s is an external program, of which there is no FMU",
                   from->name);
        return false;
    }
    if (!mechd_ssp_model_add(c, &x->models, from->instance, &p->model)) {
        return false;
    }
    const struct mechd_ssp_model *const m = &x->models.at[p->model];
    double *const scratch = calloc(widest_input(&from->instance->engine), sizeof *scratch);
    bool good = scratch != NULL;
    if (good && m->package != NULL) {
        good = connect_hosted(c, p, from, &m->package->description, scratch);
    } else if (good) {
        good = connect_model(p, &from->instance->engine, &m->layout, scratch);
    }
    free(scratch);
    if (!good && c->code == MECHP_OK) {
        mechd_fail_outcome(c, MECH_NO_MEMORY);
    }
    x->components[n] = (struct mechp_system_component){.name = from->name,
                                                       .source = m->file,
                                                       .connectors = p->connectors,
                                                       .connector_count = p->count};
    return good;
}

/* --- connections ------------------------------------------------------------------------------ */

/* One end of a connection, by its text in the document. */
struct end {
    size_t part;
    int32_t index, component, size;
};

/* The document is that of a coupling that was made: all names are known. */
static bool find_end(const struct mechd_coupling *g, const char *text,
                     enum mech_causality causality, struct end *out)
{
    for (int32_t n = 0; n < g->count; n++) {
        const struct mechd_engine *const e = &g->parts[n].instance->engine;
        const size_t length = strlen(g->parts[n].name);
        int component = -1;
        if (strncmp(text, g->parts[n].name, length) != 0 || text[length] != '.') {
            continue;
        }
        int32_t index = mechd_engine_variable_find(e, causality, text + length + 1);
        const char *const bracket = strrchr(text + length, '[');
        if (index < 0 && bracket != NULL && sscanf(bracket, "[%9d]", &component) == 1) {
            char *const name = strndup(text + length + 1, (size_t)(bracket - text) - length - 1);
            index = name != NULL ? mechd_engine_variable_find(e, causality, name) : -1;
            free(name);
        }
        if (index >= 0) {
            struct mech_variable v;
            mechd_engine_variable(e, causality, (size_t)index, &v);
            *out = (struct end){(size_t)n, index, component < 0 ? 0 : component,
                                component < 0 ? v.size : 1};
            return true;
        }
    }
    return false;
}

/* The connector of the k-th number of an end. */
static struct mechp_system_connector *connector_of(struct package *x, const struct end *e,
                                                   enum mech_causality causality, int32_t k)
{
    struct part *const p = &x->parts[e->part];
    for (size_t i = 0; i < p->count; i++) {
        if (p->values[i].causality == causality && p->values[i].index == e->index &&
            p->values[i].component == e->component + k) {
            return &p->connectors[i];
        }
    }
    return NULL;
}

/* Whether an earlier connection drives it. */
static bool is_driven(const struct package *x, size_t part, const char *input)
{
    for (size_t k = 0; k < x->connection_count; k++) {
        if (x->connections[k].to == part && x->connections[k].input == input) {
            return true;
        }
    }
    return false;
}

/* A connection, number by number. False: refused. */
static bool add_connection(struct mechd_call *c, struct package *x, const struct mechd_coupling *g,
                           const json_t *item)
{
    struct mechp_body_coupling_connection in;
    struct end a, b;
    MECHP_READ(coupling_connection, item, &c->diag, &in);
    const char *const from = json_string_value(in.from), *const to = json_string_value(in.to);
    if (!find_end(g, from, MECH_OUTPUT_VARIABLE, &a) || !find_end(g, to, MECH_INPUT, &b)) {
        mechd_fail(c, MECHP_INTERNAL, "%.100s -> %.100s is not found", from, to);
        return false;
    }
    for (int32_t k = 0; k < a.size; k++) {
        const struct mechp_system_connector *const output =
            connector_of(x, &a, MECH_OUTPUT_VARIABLE, k);
        struct mechp_system_connector *const input = connector_of(x, &b, MECH_INPUT, k);
        if (output == NULL || input == NULL) {
            mechd_fail(c, MECHP_INTERNAL, "%.100s -> %.100s: a variable is in no FMU", from, to);
            return false;
        }
        if (is_driven(x, b.part, input->name)) {
            mechd_fail(c, MECHP_INVALID_REQUEST,
                       "%.100s is the sum of two connections, which a system structure does not "
                       "have",
                       to);
            return false;
        }
        input->has_value = false;
        x->connections[x->connection_count++] =
            (struct mechp_system_connection){.from = a.part,
                                             .to = b.part,
                                             .output = output->name,
                                             .input = input->name,
                                             .factor = isnan(in.factor) ? 1. : in.factor,
                                             .offset = isnan(in.offset) ? 0. : in.offset};
    }
    return true;
}

/* What the coupling was made from. False: refused. */
static bool read_document(struct mechd_call *c, struct package *x, const struct mechd_coupling *g)
{
    struct mechp_json_fault fault;
    json_t *document = NULL;
    if (mechp_json_parse(g->document, g->document_size, NULL, &fault, &document) != 0) {
        mechd_fail(c, fault.code, "%s", fault.text);
        return false;
    }
    struct mechp_body_couple_request in;
    MECHP_PEEK(couple_request, document, &in);
    bool good = true;
    for (size_t k = 0; k < json_array_size(in.connections.of) && good; k++) {
        good = add_connection(c, x, g, json_array_get(in.connections.of, k));
    }
    // what the structure says itself is not repeated
    (void)json_object_del(document, "name");
    (void)json_object_del(document, "participants");
    (void)json_object_del(document, "connections");
    mechp_json_write(document, &x->settings);
    mechp_text_plain(&x->settings, "", 1); // a string
    json_decref(document);
    return good;
}

/* --- the package ------------------------------------------------------------------------------ */

static bool fail_size(struct mechd_call *c, int code)
{
    if (code != 0) {
        mechd_fail(c, code < 0 ? MECHP_OUT_OF_MEMORY : MECHP_INVALID_REQUEST, "%s",
                   code < 0 ? "no memory for the package" : "the package is larger than 4 GiB");
    }
    return code == 0;
}

static int add_text(struct package *x, const char *path, const struct mechp_system *s,
                    void (*write)(const struct mechp_system *s, struct mechp_text *w))
{
    struct mechp_text w;
    mechp_text_init(&w, NULL, 0);
    write(s, &w);
    const int code = w.failed ? MECH_NO_MEMORY : mechp_zip_add(&x->zip, path, w.bytes, w.length);
    mechp_text_fini(&w);
    return code;
}

static void add_bytes(struct package *x, const void *bytes, size_t size)
{
    x->pieces[x->piece_count++] = (struct piece){.bytes = bytes, .size = size};
}

/* The frame up to here, and then the FMU. The frame may still move: where its pieces are is set
 * when it is complete. */
static int add_fmu(struct package *x, const struct mechd_ssp_model *m, size_t *done)
{
    const int code = mechp_zip_head(&x->zip, m->file, &m->stored);
    x->zip.past += m->stored.stored;
    add_bytes(x, NULL, x->frame.length - *done);
    *done = x->frame.length;
    if (m->package != NULL) {
        x->pieces[x->piece_count++] =
            (struct piece){.package = m->package, .size = m->stored.stored};
        return code;
    }
    add_bytes(x, m->text.bytes, m->head);
    add_bytes(x, x->models.binary->bytes, x->models.binary->stored);
    add_bytes(x, m->text.bytes + m->head, m->text.length - m->head);
    return code;
}

/* False: refused. */
static bool pack(struct mechd_call *c, struct package *x, const struct mechd_coupling *g)
{
    const struct mechp_system s = {.name = g->name[0] != '\0' ? g->name : "coupling",
                                   .settings = x->settings.bytes,
                                   .start_time = x->models.at[0].start,
                                   .components = x->components,
                                   .component_count = (size_t)g->count,
                                   .connections = x->connections,
                                   .connection_count = x->connection_count};
    size_t done = 0;
    x->zip.w = &x->frame;
    int code = x->settings.failed ? MECH_NO_MEMORY : 0;
    code = code != 0 ? code : add_text(x, MECHP_SYSTEM_DESCRIPTION, &s, mechp_system_description);
    code = code != 0 ? code : add_text(x, MECHP_SYSTEM_VALUES, &s, mechp_system_values);
    for (size_t k = 0; k < x->models.count && code == 0; k++) {
        code = add_fmu(x, &x->models.at[k], &done);
    }
    code = code != 0 ? code : mechp_zip_end(&x->zip);
    if (!fail_size(c, code)) {
        return false;
    }
    add_bytes(x, NULL, x->frame.length - done);
    done = 0;
    for (size_t k = 0; k < x->piece_count; k++) {
        struct piece *const p = &x->pieces[k];
        if (p->bytes == NULL && p->package == NULL) {
            p->bytes = x->frame.bytes + done;
            done += p->size;
        }
    }
    return true;
}

/* The next bytes of a piece into the text. False: they cannot be read. */
static bool send_some(struct piece *p, size_t n, struct mechp_text *w)
{
    char read[16384];
    if (p->package == NULL) {
        mechp_text_plain(w, p->bytes, n);
        p->bytes += n;
        return true;
    }
    for (size_t done = 0; done < n;) {
        const size_t some = n - done < sizeof read ? n - done : sizeof read;
        if (!mechd_fmu_package_read(p->package, p->from, read, some)) {
            return false;
        }
        mechp_text_plain(w, read, some);
        p->from += some;
        done += some;
    }
    return true;
}

/* More of the pieces, or the end. */
static enum mechd_piece produce(struct mechd_call *c)
{
    struct package *const x = c->work;
    size_t left = PIECE;
    if (x->at == x->piece_count) {
        return MECHD_PIECE_LAST;
    }
    while (x->at < x->piece_count && left > 0) {
        struct piece *const p = &x->pieces[x->at];
        const size_t n = p->size < left ? p->size : left;
        if (!send_some(p, n, &c->text)) {
            return MECHD_PIECE_FAILED;
        }
        p->size -= n;
        left -= n;
        x->at += p->size == 0;
    }
    return c->text.failed ? MECHD_PIECE_FAILED : MECHD_PIECE_MORE;
}

/* False: refused. */
static bool write_all(struct mechd_call *c, struct package *x, struct mechd_coupling *g)
{
    if (g->bond_count > 0) {
        mechd_fail(c, MECHP_INVALID_REQUEST, "bond %.64s: a system structure has no bonds",
                   g->bonds[0]);
        return false;
    }
    x->connections = calloc((size_t)g->connection_count + 1, sizeof *x->connections);
    x->models.at = calloc((size_t)g->count + 1, sizeof *x->models.at);
    if (x->connections == NULL || x->models.at == NULL) {
        mechd_fail_outcome(c, MECH_NO_MEMORY);
        return false;
    }
    for (int32_t n = 0; n < g->count; n++) {
        if (!add_part(c, x, g, n)) {
            return false;
        }
    }
    return read_document(c, x, g) && pack(c, x, g);
}

/* Letters, digits, '-' and '_' of the name of the coupling. */
static void name_package(const struct mechd_coupling *g, char *out, size_t size)
{
    size_t n = 0;
    for (const char *c = g->name; *c != '\0' && n + 1 < size; c++) {
        const bool plain = (*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z') ||
                           (*c >= '0' && *c <= '9') || *c == '-';
        out[n++] = plain ? *c : '_';
    }
    out[n] = '\0';
}

void mechd_ssp_write(struct mechd_coupling_command *k)
{
    struct mechd_call *const c = k->call;
    struct package *const x = calloc(1, sizeof *x);
    if (x == NULL) {
        mechd_coupling_refuse(k, MECHP_OUT_OF_MEMORY, "no memory for the package");
        return;
    }
    x->k = k;
    c->work = x;
    c->work_free = free_package;
    mechp_text_init(&x->settings, NULL, 0);
    mechp_text_init(&x->frame, NULL, 0);
    if (!write_all(c, x, k->coupling)) {
        (void)mechd_call_faulty(c);
        mechd_coupling_refuse(k, c->code, c->detail);
        return;
    }
    char name[64];
    name_package(k->coupling, name, sizeof name);
    (void)snprintf(c->file, sizeof c->file, "%s.ssp", name[0] != '\0' ? name : "coupling");
    c->content_type = "application/x-ssp-package";
    c->produce = produce;
    (void)produce(c);
}
