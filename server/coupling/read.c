/* A coupling from a request: participants, what connects them, the scheme. All faults are reported
 * together, each with its place. */
#include "server/coupling/face.h"
#include "server/coupling/outside.h"

#include "protocol/wire/json.h"
#include "server/call/service.h"
#include "server/call/shapes.h"
#include "server/instance/durable.h"
#include "server/instance/host.h"
#include "solver/base/err.h"
#include "solver/base/name.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PATH = 64 };

void mechd_reading_fault(const struct mechd_reading *r, const char *path, const char *format, ...)
{
    char text[200];
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    mech_diag_add(&r->c->diag, path, "%s", text);
}

/* A number of an object that has a range; the preset where it is absent. */
double mechd_reading_number(const struct mechd_reading *r, const json_t *object, const char *key,
                            const char *path, double preset)
{
    const json_t *const value = json_object_get(object, key);
    if (value != NULL && !json_is_number(value)) {
        mechd_reading_fault(r, path, "%s must be a number", key);
        return preset;
    }
    return value != NULL ? json_number_value(value) : preset;
}

/* --- participants ----------------------------------------------------------------------------- */

/* The instance, its lease, and room for the exchange. */
static void take_instance(struct mechd_reading *r, struct mechd_part *p, const char *path,
                          const char *id)
{
    struct mechd_instance *const i = mechd_table_find(&r->c->service->host.table, id);
    if (i == NULL) {
        mechd_reading_fault(r, path, "there is no instance %.64s", id);
        return;
    }
    for (int32_t n = 0; n < r->g->count; n++) {
        if (r->g->parts[n].instance == i) {
            mechd_reading_fault(r, path, "instance %.64s takes part twice", id);
            mechd_instance_unref(i);
            return;
        }
    }
    p->instance = i;
    if (i->durable.settings.mode == MECHD_DURABLE_EVERY_STEP) {
        mechd_reading_fault(
            r, path, "instance %.64s stores every step, which a coupling does not support", id);
        return;
    }
    if (atomic_load(&i->running)) {
        mechd_fail(r->c, MECHP_RUN_IN_PROGRESS, "instance %.64s is stepped by a run; stop it first",
                   id);
        return;
    }
    const struct mechd_lease_wish wish = {.role = MECHD_ROLE_OWNER, .of = MECHD_LEASE_OF_COUPLING};
    struct mechd_holder holder;
    const int outcome = mechd_leases_take(&i->leases, &wish, &p->lease, &holder);
    if (outcome == MECH_INVALID) {
        mechd_fail_lease(r->c, i, &holder);
    } else if (outcome != 0) {
        mechd_reading_fault(r, path, "instance %.64s takes no more leases", id);
    }
}

static bool make_room(struct mechd_part *p)
{
    const struct mechd_engine *const e = &p->instance->engine;
    size_t numbers = 0;
    for (size_t k = 0; k < mechd_engine_variable_count(e, MECH_INPUT); k++) {
        struct mech_variable v;
        mechd_engine_variable(e, MECH_INPUT, k, &v);
        numbers += 3 * (size_t)v.size;
    }
    p->numbers = calloc(numbers + 1, sizeof *p->numbers);
    p->outputs = calloc(mechd_engine_output_size(e) + 1, sizeof *p->outputs);
    p->moments = calloc(MECH_FLOW_MOMENTS * numbers / 3 + 1, sizeof *p->moments);
    return p->numbers != NULL && p->outputs != NULL && p->moments != NULL;
}

/* Names have points: outputs "b.c" of a participant a and "c" of a.b would both be "a.b.c". */
static void refuse_shared_names(struct mechd_reading *r)
{
    const struct mechd_coupling *const g = r->g;
    for (int32_t n = 0; n < g->count * g->count; n++) {
        const struct mechd_part *const p = &g->parts[n / g->count], *const q =
                                                                        &g->parts[n % g->count];
        const size_t size = strlen(p->name);
        if (p->instance == NULL || q->instance == NULL || strncmp(p->name, q->name, size) != 0 ||
            q->name[size] != '.') {
            continue;
        }
        const struct mechd_engine *const e = &q->instance->engine;
        for (size_t k = 0; k < mechd_engine_variable_count(e, MECH_OUTPUT_VARIABLE); k++) {
            char name[2 * MECH_NAME_MAX + 2], path[PATH];
            struct mech_variable v;
            mechd_engine_variable(e, MECH_OUTPUT_VARIABLE, k, &v);
            snprintf(name, sizeof name, "%s.%s", q->name + size + 1, v.name);
            if (mechd_engine_variable_find(&p->instance->engine, MECH_OUTPUT_VARIABLE, name) >= 0) {
                snprintf(path, sizeof path, "/participants/%d", (int)(n % g->count));
                mechd_reading_fault(r, path, "%.64s.%.64s is an output of %.64s too", q->name,
                                    v.name, p->name);
            }
        }
    }
}

static void read_participants(struct mechd_reading *r)
{
    struct mechd_coupling *const g = r->g;
    const json_t *list = NULL;
    if (!mechp_json_array(r->c->body, "participants", &r->c->diag, &list)) {
        mechd_reading_fault(r, "/participants", "a list of {\"name\", \"instance\"} is needed");
        return;
    }
    const size_t count = json_array_size(list);
    if (count < 1 || count > MECHD_COUPLING_PARTS) {
        mechd_reading_fault(r, "/participants", "1 to %d participants", MECHD_COUPLING_PARTS);
        return;
    }
    g->parts = calloc(count, sizeof *g->parts);
    g->order = calloc(count, sizeof *g->order);
    if (g->parts == NULL || g->order == NULL) {
        mechd_fail(r->c, MECHP_OUT_OF_MEMORY, "no memory for the participants");
        return;
    }
    for (size_t k = 0; k < count; k++) {
        const json_t *const item = json_array_get(list, k);
        const char *name = json_string_value(json_object_get(item, "name"));
        const char *const id = json_string_value(json_object_get(item, "instance"));
        struct mechd_part *const p = &g->parts[g->count];
        char path[PATH];
        snprintf(path, sizeof path, "/participants/%zu", k);
        mechp_shape_only(item, path, mechp_shape_named("@CouplingParticipant"), &r->c->diag);
        name = name == NULL ? id : name;
        p->coupling = g;
        const json_t *const partner = json_object_get(item, "partner");
        if ((id == NULL) == (partner == NULL) || (partner != NULL && !json_is_object(partner))) {
            mechd_reading_fault(r, path, "the id of an instance, or a partner, is needed");
            continue;
        }
        if (name == NULL || !mech_name_valid(name)) {
            mechd_reading_fault(r, path, "not a name: %.64s", name != NULL ? name : "it has none");
            continue;
        }
        for (int32_t n = 0; n < g->count; n++) {
            if (strcmp(g->parts[n].name, name) == 0) {
                mechd_reading_fault(r, path, "there is already a participant %.64s", name);
            }
        }
        mech_text_copy(p->name, sizeof p->name, name);
        if (partner != NULL) {
            mechd_outside_read(r, p, partner, path);
        } else {
            take_instance(r, p, path, id);
        }
        g->count++;
    }
    refuse_shared_names(r);
}

/* Of capture: by serial. */
static void sort_parts(struct mechd_coupling *g)
{
    for (int32_t n = 0; n < g->count; n++) {
        int32_t at = n;
        for (; at > 0 && g->parts[g->order[at - 1]].instance->serial > g->parts[n].instance->serial;
             at--) {
            g->order[at] = g->order[at - 1];
        }
        g->order[at] = n;
    }
}

/* --- the scheme ------------------------------------------------------------------------------- */

static void read_order(struct mechd_reading *r, const json_t *list)
{
    const struct mechd_coupling *const g = r->g;
    if (json_array_size(list) != (size_t)g->count) {
        mechd_reading_fault(r, "/scheme/order", "each of the %d participants must be listed once",
                            g->count);
        return;
    }
    for (int32_t k = 0; k < g->count; k++) {
        const char *const name = json_string_value(json_array_get(list, (size_t)k));
        int32_t n = 0;
        while (n < g->count && (name == NULL || strcmp(g->parts[n].name, name) != 0)) {
            n++;
        }
        for (int32_t before = 0; before < k; before++) {
            n = r->turns[before] == n ? g->count : n;
        }
        if (n == g->count) {
            mechd_reading_fault(r, "/scheme/order",
                                "each of the %d participants must be listed once", g->count);
            return;
        }
        r->turns[k] = n;
    }
    r->options.order = r->turns;
}

static void read_waveform(struct mechd_reading *r)
{
    const json_t *waveform = NULL;
    int64_t degree = 1;
    bool substeps = true;
    if (!mechp_json_object(r->c->body, "waveform", &r->c->diag, &waveform)) {
        return;
    }
    mechp_shape_only(waveform, "/waveform", mechp_shape_named("@CouplingWaveform"), &r->c->diag);
    (void)mechp_json_integer(waveform, "degree", &r->c->diag, 1, 3, &degree);
    (void)mechp_json_bool(waveform, "substeps", &r->c->diag, &substeps);
    if (!substeps) {
        mechd_reading_fault(r, "/waveform", "waveforms are through substeps");
    }
    r->options.waveform = (int32_t)degree;
}

static void read_scheme(struct mechd_reading *r)
{
    struct mech_couple_options *const o = &r->options;
    const json_t *scheme = NULL, *adaptive = NULL;
    int64_t most = 50, reuse = 0, hold = 0;
    *o = (struct mech_couple_options){.relative_tolerance = 1e-9, .absolute_tolerance = 1e-12};
    if (!mechp_json_object(r->c->body, "scheme", &r->c->diag, &scheme)) {
        mechd_reading_fault(r, "/scheme", "an object with \"type\" is needed");
        return;
    }
    mechp_shape_only(scheme, "/scheme", mechp_shape_named("@CouplingScheme"), &r->c->diag);
    o->scheme = json_string_value(json_object_get(scheme, "type"));
    if (o->scheme == NULL) {
        mechd_reading_fault(r, "/scheme/type", "the name of a scheme is needed");
        return;
    }
    o->relaxation = 1.;
    (void)mechp_json_number(scheme, "relativeTolerance", &r->c->diag, &o->relative_tolerance);
    (void)mechp_json_number(scheme, "absoluteTolerance", &r->c->diag, &o->absolute_tolerance);
    (void)mechp_json_number(scheme, "relaxation", &r->c->diag, &o->relaxation);
    (void)mechp_json_number(scheme, "filter", &r->c->diag, &o->filter);
    (void)mechp_json_integer(scheme, "maxIterations", &r->c->diag, 1, 10000, &most);
    (void)mechp_json_integer(scheme, "reuse", &r->c->diag, 0, 1000, &reuse);
    (void)mechp_json_integer(r->c->body, "hold", &r->c->diag, 0, 3, &hold);
    o->max_iterations = (int32_t)most;
    o->reuse = (int32_t)reuse;
    o->hold = (int32_t)hold;
    read_waveform(r);
    if (json_object_get(scheme, "order") != NULL) {
        read_order(r, json_object_get(scheme, "order"));
    }
    if (mechp_json_object(r->c->body, "adaptive", &r->c->diag, &adaptive)) {
        mechp_shape_only(adaptive, "/adaptive", mechp_shape_named("@CouplingAdaptive"),
                         &r->c->diag);
        o->adaptive_relative =
            mechd_reading_number(r, adaptive, "relativeTolerance", "/adaptive", 1e-4);
        o->adaptive_absolute =
            mechd_reading_number(r, adaptive, "absoluteTolerance", "/adaptive", 1e-9);
        o->minimum = mechd_reading_number(r, adaptive, "minimum", "/adaptive", 1e-9);
        o->maximum = mechd_reading_number(r, adaptive, "maximum", "/adaptive", 1e9);
    }
}

static uint32_t abilities_of(const struct mechd_part *p)
{
    return p->outside == NULL     ? MECH_COUPLE_ROLLBACK | MECH_COUPLE_FEEDTHROUGH
           : p->outside->rollback ? MECH_COUPLE_ROLLBACK
                                  : 0u;
}

/* The coupling of the solver. */
static void make_couple(struct mechd_reading *r)
{
    struct mechd_coupling *const g = r->g;
    struct mech_couple_participant *const parts = calloc((size_t)g->count + 1, sizeof *parts);
    struct mech_couple_connection *const links = calloc((size_t)r->count + 1, sizeof *links);
    char reason[MECH_COUPLE_REASON] = "";
    int code = parts != NULL && links != NULL && mechd_make_ports(r) ? 0 : MECH_NO_MEMORY;
    for (int32_t n = 0; n < g->count && code == 0; n++) {
        struct mechd_part *const p = &g->parts[n];
        uint32_t exact = 0;
        if (g->in_pieces && !mechd_pieces_prepare(p, g->step_size)) {
            snprintf(reason, sizeof reason,
                     "participant %.60s: a window has more than %d internal steps", p->name,
                     MECHD_COUPLING_PIECES);
            code = MECH_UNSUPPORTED;
            break;
        }
        if (g->in_pieces && !mechd_pieces_room(p)) {
            code = MECH_NO_MEMORY;
            break;
        }
        if (r->options.hold == 0 && p->outside == NULL) {
            p->jacobian = mechd_part_jacobian_room(p, g->step_size);
            exact = p->jacobian != NULL ? MECH_COUPLE_JACOBIAN : 0;
        }
        parts[n] =
            (struct mech_couple_participant){.name = p->name,
                                             .inputs = p->in_count,
                                             .outputs = p->out_count,
                                             .samples = r->options.waveform > 0 ? p->pieces : 0,
                                             .abilities = abilities_of(p) | exact};
    }
    for (int32_t k = 0; k < r->count && code == 0; k++) {
        const struct mechd_link *const l = &r->links[k];
        const struct mechd_part *const from = &g->parts[l->from.part];
        const struct mechd_part *const to = &g->parts[l->to.part];
        links[k] = (struct mech_couple_connection){
            l->from.part, mechd_port_place(from->out, from->out_count, &l->from),
            l->to.part,   mechd_port_place(to->in, to->in_count, &l->to),
            l->factor,    l->offset};
    }
    for (int32_t k = 0; k < 2 * r->bond_count && code == 0; k++) {
        const struct mechd_link *const l = &r->bond_links[k];
        const struct mechd_part *const p = &g->parts[l->from.part];
        r->bonds[k / 2].flow[k % 2] = mechd_port_place(p->out, p->out_count, &l->from);
        r->bonds[k / 2].effort[k % 2] = mechd_port_place(p->in, p->in_count, &l->to);
    }
    const struct mech_couple_setup setup = {.participants = parts,
                                            .participant_count = g->count,
                                            .connections = links,
                                            .connection_count = r->count,
                                            .bonds = r->bonds,
                                            .bond_count = r->bond_count,
                                            .options = r->options};
    code = code != 0 ? code : mech_couple_create(&setup, reason, &g->couple);
    free(parts);
    free(links);
    if (code < 0) {
        mechd_fail_outcome(r->c, code);
    } else if (code != 0) {
        mechd_reading_fault(r, "/scheme", "%s", reason[0] != '\0' ? reason : mech_err_text(code));
    }
}

/* The states that it holds, to the accounts of its instances: where windows are in pieces, one of
 * each; and its own, to the first one's. */
static void charge(struct mechd_coupling *g, struct mechd_call *c)
{
    for (int32_t n = 0; n < g->count; n++) {
        struct mechd_part *const p = &g->parts[n];
        const size_t start =
            p->start != NULL ? mechd_engine_snapshot_size(&p->instance->engine) : 0;
        const size_t bytes = start + (n == 0 ? mech_couple_saved_size(g->couple) : 0);
        struct mechd_excess excess;
        if (!mechd_instance_charge(p->instance, MECHD_QUOTA_MEMORY, bytes, &excess)) {
            mechd_fail_quota(c, &excess);
            return;
        }
        p->charged = bytes;
    }
}

struct mechd_coupling *mechd_coupling_open(struct mechd_call *c)
{
    struct mechd_coupling *const g = calloc(1, sizeof *g);
    struct mechd_reading r = {.c = c, .g = g};
    const char *name = "";
    if (g == NULL) {
        mechd_fail_outcome(c, MECH_NO_MEMORY);
        return NULL;
    }
    pthread_mutex_init(&g->m, NULL);
    pthread_mutex_init(&g->nap_m, NULL);
    atomic_init(&g->refs, 1);
    g->service = c->service;
    (void)mechp_json_string(c->body, "name", &c->diag, &name);
    g->name = strdup(name);
    if (g->name == NULL) {
        mechd_fail(c, MECHP_OUT_OF_MEMORY, "no memory for the name");
    }
    read_participants(&r);
    if (!mechp_json_number(c->body, "stepSize", &c->diag, &g->step_size) || !(g->step_size > 0.)) {
        mechd_reading_fault(&r, "/stepSize", "the size of a window is needed, s, greater than 0");
    }
    // all else is about the instances, which have to be held for that
    if (mechd_call_faulty(c) || c->code != MECHP_OK) {
        mechd_coupling_unref(g);
        return NULL;
    }
    if (!mechd_face_create(g, c)) {
        mechd_coupling_unref(g);
        return NULL;
    }
    sort_parts(g);
    mechd_nap_init(g);
    return g;
}

bool mechd_coupling_connect(struct mechd_coupling *g, struct mechd_call *c)
{
    struct mechd_reading r = {.c = c, .g = g};
    bool room = true;
    r.turns = calloc((size_t)g->count, sizeof *r.turns);
    for (int32_t n = 0; n < g->count; n++) {
        room = room && make_room(&g->parts[n]);
    }
    if (!room || r.turns == NULL) {
        mechd_fail_outcome(c, MECH_NO_MEMORY);
    } else {
        mechd_read_connections(&r);
        mechd_read_bonds(&r);
        read_scheme(&r);
    }
    if (c->code == MECHP_OK && mech_diag_clean(&c->diag)) {
        mech_text_copy(g->scheme, sizeof g->scheme, r.options.scheme);
        g->in_pieces = r.options.hold > 2 || r.options.waveform > 0;
        g->varies = r.options.hold > 0 || r.options.waveform > 0;
        g->bonds = r.bond_names;
        g->bond_count = r.bond_count;
        r.bond_names = NULL;
        for (int32_t n = 0; n < g->count && g->in_pieces; n++) {
            if (g->parts[n].outside != NULL) {
                char path[40];
                snprintf(path, sizeof path, "/participants/%d", (int)n);
                mech_diag_add(&c->diag, path,
                              "a partner steps whole windows: without waveform, with hold 0 to 2");
            }
        }
        if (mech_diag_clean(&c->diag)) {
            make_couple(&r);
        }
        if (g->couple != NULL) {
            charge(g, c);
        }
    }
    free(r.links);
    free(r.bonds);
    free(r.bond_links);
    free(r.bond_names);
    free(r.turns);
    return !mechd_call_faulty(c) && c->code == MECHP_OK;
}
