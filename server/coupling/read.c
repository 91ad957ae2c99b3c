/* A coupling from a request: participants, what connects them, the scheme. All faults are reported
 * together, each with its place. */
#include "server/coupling/face.h"
#include "server/coupling/outside.h"
#include "server/coupling/share.h"
#include "server/coupling/turn.h"

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

static const struct mechd_coupling_calls calls = {.destroy = mechd_coupling_destroy,
                                                  .remove = mechd_coupling_remove,
                                                  .submit = mechd_coupling_submit,
                                                  .slice_over = mechd_coupling_slice_over};

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
    g->calls = &calls;
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
    if (mechd_call_faulty(c) || c->code != MECHP_OK ||
        !mechd_face_create(g, c, mechd_turn_submit)) {
        mechd_coupling_unref(g);
        return NULL;
    }
    sort_parts(g);
    mechd_nap_init(g);
    return g;
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
