/* A coupling from a request: participants, what connects them, the scheme. All faults are reported
 * together, each with its place. */
#include "server/coupling/face.h"
#include "server/coupling/outside.h"
#include "server/coupling/share.h"

#include "protocol/wire/json.h"
#include "server/call/service.h"
#include "server/call/shapes.h"
#include "server/instance/durable.h"
#include "server/instance/host.h"
#include "solver/base/err.h"
#include "solver/base/name.h"
#include "solver/base/text.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PATH = 64 };

/* --- participants ----------------------------------------------------------------------------- */

/* The instance: its lease is taken when the whole request is good. */
static void find_instance(struct mechd_reading *r, struct mechd_part *p, const char *id,
                          const char *path)
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
}

/* Those of a request: instances of the table, and programs outside. */
static bool read_asked(const struct mechp_json_in *in, struct mechd_listed *out)
{
    struct mechp_body_coupling_participant item;
    MECHP_READ_IN(coupling_participant, in, &item);
    *out = (struct mechd_listed){.name = item.name != NULL ? item.name : item.instance,
                                 .of = item.instance,
                                 .outside = item.partner.of};
    return (out->of != NULL) != (out->outside != NULL);
}

static void find_asked(struct mechd_reading *r, struct mechd_part *p,
                       const struct mechd_listed *item, const char *path)
{
    if (item->outside != NULL) {
        mechd_outside_read(r, p, item->outside, path);
    } else {
        find_instance(r, p, item->of, path);
    }
}

static const struct mechd_source asked = {.shape = &mechp_body_coupling_participant,
                                          .wants = "the id of an instance, or a partner, is needed",
                                          .read = read_asked,
                                          .find = find_asked};

/* The request is refused for what its instances are at, which each such participant names; the code
 * is that of the first one. */
static void refuse_for(const struct mechd_reading *r, const struct mechd_part *p,
                       enum mechp_code code, const char *text)
{
    char path[PATH];
    snprintf(path, sizeof path, "/participants/%d", (int)p->listed);
    mechd_reading_fault(r, path, "%s", text);
    if (r->c->code == MECHP_OK) {
        mechd_fail(r->c, code, "%s", text);
    }
}

/* Leases of all instances; those that are in a run, or that others hold, are named together. */
static void take_instances(struct mechd_reading *r)
{
    static const struct mechd_lease_wish wish = {.role = MECHD_ROLE_OWNER,
                                                 .of = MECHD_LEASE_OF_COUPLING};
    for (int32_t n = 0; n < r->g->count; n++) {
        struct mechd_part *const p = &r->g->parts[n];
        struct mechd_holder holder;
        char text[200];
        if (p->outside != NULL) {
            continue;
        }
        const int outcome = mechd_leases_take(&p->instance->leases, &wish, &p->lease, &holder);
        if (outcome == MECH_INVALID) {
            refuse_for(r, p, mechd_holder_code(&holder),
                       mechd_holder_tell(&holder, p->instance->id, text, sizeof text));
        } else if (outcome < 0) {
            mechd_reading_fail(r, MECHP_OUT_OF_MEMORY, "no memory for the leases");
            return;
        } else if (outcome != 0) {
            mech_text_format(text, sizeof text, "instance %.64s has as many leases as it can have",
                             p->instance->id);
            refuse_for(r, p, MECHP_INVALID_REQUEST, text);
        } else if (!mechd_engine_keeps_state(&p->instance->engine)) {
            mech_text_format(
                text, sizeof text,
                "the FMU of instance %.64s cannot save its state, so that a window could not "
                "be undone",
                p->instance->id);
            refuse_for(r, p, MECHP_INVALID_REQUEST, text);
        } else if (atomic_load(&p->instance->running)) {
            mech_text_format(text, sizeof text, "instance %.64s is stepped by a run; stop it first",
                             p->instance->id);
            refuse_for(r, p, MECHP_RUN_IN_PROGRESS, text);
        }
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
            char path[PATH];
            struct mech_variable v;
            mechd_engine_variable(e, MECH_OUTPUT_VARIABLE, k, &v);
            const size_t room = strlen(q->name) + strlen(v.name) + sizeof ".";
            char *const name = malloc(room);
            if (name == NULL) {
                mechd_reading_fail(r, MECHP_OUT_OF_MEMORY, "no memory for the participants");
                return;
            }
            snprintf(name, room, "%s.%s", q->name + size + 1, v.name);
            if (mechd_engine_variable_find(&p->instance->engine, MECH_OUTPUT_VARIABLE, name) >= 0) {
                snprintf(path, sizeof path, "/participants/%d", (int)q->listed);
                mechd_reading_fault(r, path, "%.64s.%.64s is an output of %.64s too", q->name,
                                    v.name, p->name);
            }
            free(name);
        }
    }
}

static void read_participants(struct mechd_reading *r)
{
    struct mechd_coupling *const g = r->g;
    const json_t *const list = r->in.participants.of;
    r->lost = true;
    if (list == NULL) {
        mechd_reading_fault(r, "/participants", "must be a list of {\"name\", \"instance\"}");
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
        mechd_reading_fail(r, MECHP_OUT_OF_MEMORY, "no memory for the participants");
        return;
    }
    r->lost = false;
    for (size_t k = 0; k < count; k++) {
        struct mechd_part *const p = &g->parts[g->count];
        struct mechd_listed item;
        char path[PATH];
        snprintf(path, sizeof path, "/participants/%zu", k);
        const struct mechp_json_in in = {json_array_get(list, k), path, r->diag};
        mechp_shape_only(in.object, path, r->source->shape, r->diag);
        const size_t faults = r->diag->total;
        const bool says = r->source->read(&in, &item);
        const char *const name = item.name;
        p->coupling = g;
        p->listed = (int32_t)k;
        if ((!says || name == NULL) && r->diag->total > faults) {
            r->lost = true;
            continue;
        }
        if (!says) {
            mechd_reading_fault(r, path, "%s", r->source->wants);
            r->lost = true;
            continue;
        }
        if (name == NULL || !mech_name_valid(name)) {
            mechd_reading_fault(r, path, "%s%.64s",
                                name != NULL ? "not a name: " : "a name is needed",
                                name != NULL ? name : "");
            r->lost = true;
            continue;
        }
        for (int32_t n = 0; n < g->count; n++) {
            if (strcmp(g->parts[n].name, name) == 0) {
                mechd_reading_fault(r, path, "there is already a participant %.64s", name);
            }
        }
        mech_text_copy(p->name, sizeof p->name, name);
        r->source->find(r, p, &item, path);
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

/* --- the solver's ----------------------------------------------------------------------------- */

static uint32_t abilities_of(const struct mechd_part *p)
{
    // outputs of an FMU follow its inputs with the next step
    return p->outside == NULL && p->instance->engine.ops->apart ? MECH_COUPLE_ROLLBACK
           : p->outside == NULL   ? MECH_COUPLE_ROLLBACK | MECH_COUPLE_FEEDTHROUGH
           : p->outside->rollback ? MECH_COUPLE_ROLLBACK
                                  : 0u;
}

/* The coupling of the solver. */
static void make_couple(struct mechd_reading *r)
{
    struct mechd_coupling *const g = r->g;
    struct mech_couple_participant *const parts = calloc((size_t)g->count + 1, sizeof *parts);
    struct mech_couple_connection *const links = calloc((size_t)r->count + 1, sizeof *links);
    // pieces that only follow a cubic hold report nothing
    const bool sampled = r->options.hold < 3 || r->options.waveform > 0;
    char reason[MECH_COUPLE_REASON] = "";
    int code = parts != NULL && links != NULL && mechd_make_ports(r) ? 0 : MECH_NO_MEMORY;
    for (int32_t n = 0; n < g->count && code == 0; n++) {
        struct mechd_part *const p = &g->parts[n];
        uint32_t exact = 0;
        if (g->in_pieces && !mechd_pieces_prepare(p, g->step_size)) {
            mech_text_format(reason, sizeof reason,
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
        parts[n] = (struct mech_couple_participant){.name = p->name,
                                                    .inputs = p->in_count,
                                                    .outputs = p->out_count,
                                                    .samples = sampled ? p->pieces : 0,
                                                    .abilities = abilities_of(p) | exact};
    }
    for (int32_t k = 0; k < r->count && code == 0; k++) {
        const struct mechd_connection *const l = &r->links[k];
        const struct mechd_part *const from = &g->parts[l->from.part];
        const struct mechd_part *const to = &g->parts[l->to.part];
        links[k] = (struct mech_couple_connection){
            l->from.part, mechd_port_place(from->out, from->out_count, &l->from),
            l->to.part,   mechd_port_place(to->in, to->in_count, &l->to),
            l->factor,    l->offset};
    }
    for (int32_t k = 0; k < 2 * r->bond_count && code == 0; k++) {
        const struct mechd_connection *const l = &r->bond_links[k];
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
        mechd_reading_fail(r, mechp_code_of_outcome(code), mech_err_text(code));
    } else if (code != 0) {
        mechd_reading_fault(r, "/scheme", "%s", reason[0] != '\0' ? reason : mech_err_text(code));
    }
}

/* Bytes of the names of its connections and bonds. */
static size_t names_size(const struct mechd_coupling *g)
{
    size_t size = (size_t)g->bond_count * sizeof *g->bonds;
    for (int32_t k = 0; k < g->connection_count; k++) {
        size += sizeof *g->connections + strlen(g->connections[k]) + 1;
    }
    return size;
}

/* The states that it holds, to the accounts of its instances: where windows are in pieces, one of
 * each; and its own, its document and names, to the first one's. */
static void charge(struct mechd_coupling *g, struct mechd_call *c)
{
    for (int32_t n = 0; n < g->count; n++) {
        struct mechd_part *const p = &g->parts[n];
        const size_t start =
            p->start != NULL ? mechd_engine_snapshot_size(&p->instance->engine) : 0;
        const size_t own = mech_couple_saved_size(g->couple) + g->document_size + names_size(g);
        const size_t bytes = start + (n == 0 ? own : 0);
        struct mechd_excess excess;
        if (!mechd_instance_charge(p->instance, MECHD_QUOTA_MEMORY, bytes,
                                   g->keep.loading ? NULL : &excess)) {
            mechd_fail_quota(c, &excess);
            return;
        }
        p->charged = bytes;
    }
}

void mechd_reading_free(struct mechd_reading *r)
{
    if (r != NULL) {
        json_decref(r->owned);
        free(r->links);
        free(r->bonds);
        free(r->bond_links);
        free(r->bond_names);
        free(r->turns);
        free(r);
    }
}

/* All that the request itself says. */
static void read_all(struct mechd_reading *r)
{
    struct mechd_coupling *const g = r->g;
    MECHP_READ(couple_request, r->document, r->diag, &r->in);
    g->name = strdup(r->in.name != NULL ? r->in.name : "");
    read_participants(r);
    mechd_read_shown(r);
    r->turns = calloc((size_t)g->count + 1, sizeof *r->turns);
    if (g->name == NULL || r->turns == NULL) {
        mechd_reading_fail(r, MECHP_OUT_OF_MEMORY, "no memory for a coupling");
        return;
    }
    g->step_size = isnan(r->in.step_size) ? 0. : r->in.step_size;
    if (!(g->step_size > 0.)) {
        mechd_reading_fault(r, "/stepSize", "the size of a window in s is needed, greater than 0");
    }
    mechd_read_scheme(r);
    mechd_read_connections(r);
    mechd_read_bonds(r);
    // a quota that is used up is not what is wrong with it
    if (r->c != NULL && !mech_diag_clean(r->diag) && r->c->code == MECHP_QUOTA_EXCEEDED) {
        r->c->code = MECHP_INVALID_REQUEST;
        r->c->detail[0] = '\0';
    }
}

/* Without anything of its document. NULL: no memory. */
static struct mechd_coupling *make(struct mechd_service *d, const json_t *document,
                                   struct mech_diag *diag, const struct mechd_source *source)
{
    struct mechd_coupling *const g = calloc(1, sizeof *g);
    struct mechd_reading *const r = calloc(1, sizeof *r);
    if (g == NULL || r == NULL) {
        free(g);
        free(r);
        return NULL;
    }
    pthread_mutex_init(&g->m, NULL);
    pthread_mutex_init(&g->nap_m, NULL);
    atomic_init(&g->refs, 1);
    g->service = d;
    g->reading = r;
    g->stable_most = (double)INFINITY;
    *r = (struct mechd_reading){.document = document, .diag = diag, .source = source, .g = g};
    return g;
}

struct mechd_coupling *mechd_coupling_open(struct mechd_call *c, bool loading)
{
    struct mechd_coupling *const g = make(c->service, c->body, &c->diag, &asked);
    if (g == NULL) {
        mechd_fail_outcome(c, MECH_NO_MEMORY);
        return NULL;
    }
    struct mechd_reading *const r = g->reading;
    g->keep.loading = loading;
    r->c = c;
    read_all(r);
    if (!mechd_call_faulty(c) && c->code == MECHP_OK) {
        take_instances(r);
    }
    // all else needs the instances
    if (!mechd_call_faulty(c) && c->code == MECHP_OK && !mechd_share_init(g)) {
        mechd_fail_outcome(c, MECH_NO_MEMORY);
    }
    if (mechd_call_faulty(c) || c->code != MECHP_OK || !mechd_face_create(g, c)) {
        mechd_coupling_unref(g);
        return NULL;
    }
    sort_parts(g);
    mechd_nap_init(g);
    return g;
}

/* Whether mean velocities of bonds are needed, which are displacements by the internal steps. */
static bool sums_steps(const struct mechd_reading *r)
{
    bool sums = false;
    for (int32_t k = 0; k < r->bond_count; k++) {
        sums = sums || r->bonds[k].kind == MECH_COUPLE_VELOCITY;
    }
    return sums && r->g->outsides == 0;
}

/* The coupling of the solver, of what has been read without a fault. */
static void join(struct mechd_reading *r)
{
    struct mechd_coupling *const g = r->g;
    bool room = true;
    for (int32_t n = 0; n < g->count; n++) {
        room = room && make_room(&g->parts[n]);
    }
    if (!room) {
        mechd_reading_fail(r, MECHP_OUT_OF_MEMORY, mech_err_text(MECH_NO_MEMORY));
        return;
    }
    mech_text_copy(g->scheme, sizeof g->scheme, r->options.scheme);
    g->in_pieces = r->options.hold > 2 || r->options.waveform > 0 || sums_steps(r);
    g->adapts = r->options.adaptive_relative != 0. || r->options.adaptive_absolute != 0.;
    g->varies = r->options.hold > 0 || r->options.waveform > 0;
    g->bonds = r->bond_names;
    g->bond_count = r->bond_count;
    r->bond_names = NULL;
    make_couple(r);
}

bool mechd_coupling_connect(struct mechd_coupling *g, struct mechd_call *c)
{
    struct mechd_reading *const r = g->reading;
    if (mechd_document_make(r)) {
        join(r);
    } else {
        mechd_fail_outcome(c, MECH_NO_MEMORY);
    }
    if (g->couple != NULL) {
        charge(g, c);
    }
    mechd_reading_free(r);
    g->reading = NULL;
    return !mechd_call_faulty(c) && c->code == MECHP_OK;
}

struct mechd_coupling *mechd_coupling_alone(struct mechd_service *d, const json_t *document,
                                            struct mech_diag *diag,
                                            const struct mechd_source *source)
{
    struct mechd_coupling *const g = make(d, document, diag, source);
    if (g != NULL) {
        read_all(g->reading);
    }
    return g;
}

void mechd_coupling_connect_alone(struct mechd_coupling *g)
{
    if (mechd_reading_good(g->reading)) {
        join(g->reading);
    }
}
