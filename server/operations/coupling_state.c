/* The state of a coupling as bytes, and such bytes put into a coupling of the same participants,
 * here or on another server. Names, models, connections, bonds, scheme and windows must be the
 * same; which instances they are does not matter, but where their ids are the names. */
#include "protocol/frame/frame.h"
#include "protocol/wire/bodies.h"
#include "protocol/wire/bodies_coupling.h"
#include "protocol/wire/json.h"
#include "server/call/forms.h"
#include "server/call/service.h"
#include "server/coupling/container.h"
#include "server/coupling/face.h"
#include "server/coupling/saved.h"
#include "server/instance/container.h"
#include "server/operations/couplings.h"
#include "server/operations/put_snapshot.h"
#include "solver/base/err.h"
#include "solver/base/text.h"
#include "solver/base/times.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Whether all participants have states that can be carried; if not, refused. */
static bool can_be_carried(struct mechd_coupling_command *k)
{
    const struct mechd_coupling *const g = k->coupling;
    for (int32_t n = 0; n < g->count; n++) {
        if (g->parts[n].instance->sim == NULL) {
            mechd_fail(k->call, MECHP_INVALID_REQUEST,
                       "participant %.64s is %s, whose state cannot be saved with the coupling",
                       g->parts[n].name,
                       g->parts[n].outside != NULL ? "an external program" : "a hosted FMU");
            mechd_coupling_refuse(k, k->call->code, k->call->detail);
            return false;
        }
    }
    return true;
}

/* As JSON, where no other body can be answered or none is wanted. */
static void write_text(struct mechd_coupling_command *k, const void *bytes, size_t size)
{
    char *const text = mechd_base64_encode(bytes, size);
    const struct mechp_body_coupling_state body = {.time = mechd_coupling_time(k->coupling),
                                                   .window =
                                                       mech_couple_windows(k->coupling->couple),
                                                   .snapshot = text};
    if (text == NULL) {
        mechd_coupling_refuse(k, MECHP_OUT_OF_MEMORY, "no memory for the state");
        return;
    }
    MECHP_WRITE(coupling_state, &body, &k->call->text);
    free(text);
}

static void get(struct mechd_coupling_command *k)
{
    struct mechd_call *const c = k->call;
    size_t size = 0;
    if (!can_be_carried(k)) {
        return;
    }
    char *const bytes = mechd_coupling_container_of(k->coupling, &size);
    if (bytes == NULL) {
        mechd_coupling_refuse(k, MECHP_OUT_OF_MEMORY, "no memory for the state");
        return;
    }
    if (c->door != MECHD_DOOR_HTTP ||
        mechd_form_prefers(c, MECHP_JSON, MECHD_COUPLING_CONTAINER_TYPE)) {
        write_text(k, bytes, size);
    } else {
        mechp_text_plain(&c->text, bytes, size);
        c->content_type = MECHD_COUPLING_CONTAINER_TYPE;
    }
    free(bytes);
}

static enum mechd_submitted spread_get(struct mechd_call *c)
{
    return mechd_couplings_once(c, false, get);
}

const struct mechd_operation mechd_operation_COUPLING_STATE = {.spread = spread_get};

/* Names of participants in their order. */
static json_t *names_of(const json_t *document)
{
    struct mechp_body_couple_request in;
    MECHP_PEEK(couple_request, document, &in);
    json_t *const names = json_array();
    for (size_t k = 0; names != NULL && k < json_array_size(in.participants.of); k++) {
        struct mechp_body_coupling_participant item;
        MECHP_PEEK(coupling_participant, json_array_get(in.participants.of, k), &item);
        (void)json_array_append_new(names,
                                    item.name != NULL ? json_string(item.name) : json_null());
    }
    return names;
}

/* What must be the same, of a document of JSON text: all but its name, the outputs that it shows,
 * and which instances the participants are. NULL: refused. */
static json_t *essence_of(struct mechd_call *c, const char *text, size_t size)
{
    struct mechp_json_fault fault;
    json_t *tree = NULL;
    if (mechp_json_parse(text, size, NULL, &fault, &tree) != 0) {
        const bool starved = fault.code == MECHP_OUT_OF_MEMORY;
        mechd_fail(c, starved ? fault.code : MECHP_SNAPSHOT_MISMATCH, "the coupling's document: %s",
                   fault.text);
        return NULL;
    }
    (void)json_object_del(tree, "name");
    (void)json_object_del(tree, "outputs");
    if (json_is_object(tree) && json_object_set_new(tree, "participants", names_of(tree)) != 0) {
        json_decref(tree);
        mechd_fail(c, MECHP_OUT_OF_MEMORY, "no memory to compare the couplings");
        return NULL;
    }
    return tree;
}

/* Whether the bytes are of such a coupling; if not, refused. */
static bool same_coupling(struct mechd_call *c, const struct mechd_coupling *g,
                          const struct mechd_coupling_container *in)
{
    json_t *const mine = essence_of(c, g->document, g->document_size);
    json_t *const theirs = mine != NULL ? essence_of(c, in->document, in->document_size) : NULL;
    struct mech_path path = {.length = 0};
    const bool same = theirs != NULL && !mechd_documents_differ(mine, theirs, &path);
    if (theirs != NULL && !same) {
        mechd_fail(c, MECHP_SNAPSHOT_MISMATCH,
                   "the state is of another coupling: they differ at %s", path.text);
    } else if (same &&
               (in->count != g->count || in->scheme_size != mech_couple_saved_size(g->couple))) {
        mechd_fail(c, MECHP_SNAPSHOT_MISMATCH, "the state does not fit its document");
    }
    json_decref(mine);
    json_decref(theirs);
    return c->code == MECHP_OK;
}

/* The reason that participant n was refused for, with its name. */
static void name_part(struct mechd_call *c, const struct mechd_coupling *g, int32_t n)
{
    char why[sizeof c->detail];
    mech_text_format(why, sizeof why, "%s", c->detail);
    mechd_fail(c, c->code, "participant %.64s: %.*s", g->parts[n].name, (int)sizeof c->detail - 96,
               why);
}

/* Whether all states are of the time of the coupling; if not, refused: it could not step. */
static bool same_times(struct mechd_call *c, const struct mechd_coupling *g,
                       const struct mechd_container states[MECHD_COUPLING_PARTS])
{
    const double time = mech_couple_time(g->couple);
    const double scale = mechd_coupling_scale(g, time, g->step_size);
    for (int32_t n = 0; n < g->count; n++) {
        const double own = mech_sim_snapshot_time(states[n].state, states[n].state_size);
        // NaN is no time: what is no state its participant refuses
        if (!isnan(own) && !mech_time_same(own, time, scale)) {
            mechd_fail(c, MECHP_SNAPSHOT_MISMATCH,
                       "the state of participant %.64s is of %.17g s, that of the coupling of "
                       "%.17g s",
                       g->parts[n].name, own, time);
            return false;
        }
    }
    return true;
}

/* Whether the coupling knows the outputs that participant n now has. Both have been computed from
 * one state, perhaps by other libraries, which round otherwise: a millionth of the largest output
 * is beyond that. If not, refused. `now` [out_count]: scratch. */
static bool same_outputs_of(struct mechd_call *c, const struct mechd_coupling *g, int32_t n,
                            double *now)
{
    static const double most = 1e-6;
    struct mechd_part *const p = &g->parts[n];
    const double *const known = mech_couple_outputs(g->couple, n);
    double size = 0.;
    mechd_part_now(p, now);
    for (int32_t k = 0; k < p->out_count; k++) {
        size = fmax(size, fmax(fabs(known[k]), fabs(now[k])));
    }
    for (int32_t k = 0; k < p->out_count; k++) {
        if (!(fabs(known[k] - now[k]) <= most * size)) {
            mechd_fail(c, MECHP_SNAPSHOT_MISMATCH,
                       "the state of the scheme does not fit that of participant %.64s: an output "
                       "is %.17g, and the scheme has %.17g",
                       p->name, now[k], known[k]);
            return false;
        }
    }
    return true;
}

static bool same_outputs(struct mechd_call *c, const struct mechd_coupling *g)
{
    bool same = true;
    for (int32_t n = 0; n < g->count && same; n++) {
        double *const now = malloc(((size_t)g->parts[n].out_count + 1) * sizeof *now);
        if (now == NULL) {
            mechd_fail(c, MECHP_OUT_OF_MEMORY, "no memory to compare the outputs");
        }
        same = now != NULL && same_outputs_of(c, g, n, now);
        free(now);
    }
    return same;
}

/* The command has changed no instance: the scheme is as before, and no client sees a change. */
static void forget(struct mechd_coupling_command *k)
{
    struct mechd_coupling *const g = k->coupling;
    if (k->before->couple != NULL) {
        (void)mech_couple_restore(g->couple, k->before->couple, k->before->couple_size);
    }
    mechd_saved_free(k->before, g, 0);
    k->before = NULL;
}

/* The states, which are all of the right models: the scheme's and all times first, so that what
 * they refuse has changed no instance. What only a later participant refuses, or all together
 * (bytes that have been changed and sealed again), the command takes back, and those before it have
 * lost their trials. */
static bool adopt(struct mechd_coupling_command *k, const struct mechd_coupling_container *in,
                  const struct mechd_container states[MECHD_COUPLING_PARTS], bool *reproducible)
{
    struct mechd_coupling *const g = k->coupling;
    struct mechd_call *const c = k->call;
    *reproducible = true;
    if (mech_couple_restore(g->couple, in->scheme, in->scheme_size) != 0) {
        mechd_fail(c, MECHP_SNAPSHOT_MISMATCH, "the state of the scheme does not fit the coupling");
        forget(k);
        return false;
    }
    if (!same_times(c, g, states)) {
        forget(k);
        return false;
    }
    for (int32_t n = 0; n < g->count; n++) {
        struct mechd_instance *const i = g->parts[n].instance;
        bool same = true;
        if (!mechd_adopt_snapshot(c, i, &states[n], &same)) {
            name_part(c, g, n);
            if (n == 0) {
                forget(k);
            }
            return false;
        }
        i->base = 0;
        i->trial = 0;
        *reproducible = *reproducible && same;
    }
    g->opened = true;
    return same_outputs(c, g);
}

struct given {
    const void *bytes;
    size_t size;
};

/* Read and compared before anything changes. False: refused. */
static bool read_all(struct mechd_call *c, const struct mechd_coupling *g, struct given given,
                     struct mechd_coupling_container *in,
                     struct mechd_container states[MECHD_COUPLING_PARTS])
{
    if (mechd_coupling_container_read(given.bytes, given.size, in) != 0) {
        mechd_fail(c, MECHP_SNAPSHOT_MISMATCH,
                   "the bytes are not the state of a coupling, or are damaged");
        return false;
    }
    bool good = same_coupling(c, g, in);
    for (int32_t n = 0; n < g->count && good; n++) {
        good = mechd_read_snapshot(c, g->parts[n].instance->sim, in->parts[n].bytes,
                                   in->parts[n].size, &states[n]);
        if (!good) {
            name_part(c, g, n);
        }
    }
    return good;
}

static void put_bytes(struct mechd_coupling_command *k, struct given given)
{
    struct mechd_coupling *const g = k->coupling;
    struct mechd_call *const c = k->call;
    struct mechd_coupling_container in;
    struct mechd_container states[MECHD_COUPLING_PARTS];
    bool reproducible = true;
    if (!can_be_carried(k) || !read_all(c, g, given, &in, states)) {
        mechd_coupling_refuse(k, c->code, c->detail);
        return;
    }
    if (!mechd_coupling_keep(k)) {
        return;
    }
    if (!adopt(k, &in, states, &reproducible)) {
        mechd_coupling_refuse(k, c->code, c->detail);
        return;
    }
    mechd_trial_drop(g);
    for (int32_t n = 0; n < g->count; n++) {
        mechd_instance_changed(g->parts[n].instance, MECHP_REWOUND);
    }
    mechd_face_changed(g, MECHP_REWOUND);
    const struct mechp_body_coupling_restored body = {.time = mechd_coupling_time(g),
                                                      .window = mech_couple_windows(g->couple),
                                                      .outputs = {mechd_coupling_write_outputs, g},
                                                      .reproducible = reproducible};
    MECHP_WRITE(coupling_restored, &body, &c->text);
}

static void put(struct mechd_coupling_command *k)
{
    struct mechd_call *const c = k->call;
    struct given given = {c->bytes, c->size};
    unsigned char *decoded = NULL;
    if (c->bytes == NULL) {
        struct mechp_body_set_coupling_state_request in;
        MECHP_READ(set_coupling_state_request, c->body, &c->diag, &in);
        decoded = mechd_base64_decode(in.snapshot, strlen(in.snapshot), &given.size);
        given.bytes = decoded;
    }
    if (given.bytes != NULL) {
        put_bytes(k, given);
    } else {
        mechd_coupling_refuse(k, MECHP_INVALID_REQUEST, "/snapshot: not base64");
    }
    free(decoded);
}

static enum mechd_submitted spread_put(struct mechd_call *c)
{
    struct mechp_body_set_coupling_state_request in = {NULL};
    if (c->bytes == NULL) {
        MECHP_READ(set_coupling_state_request, c->body, &c->diag, &in);
        if (in.snapshot == NULL) {
            mech_diag_add(&c->diag, "/snapshot", "the bytes of a state as base64 are needed");
            return MECHD_RAN;
        }
    }
    return mechd_couplings_once(c, true, put);
}

const struct mechd_operation mechd_operation_SET_COUPLING_STATE = {.spread = spread_put};
