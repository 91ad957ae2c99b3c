/* GET and POST …/streams, GET and DELETE …/streams/{name}: a subscriber's own choice of outputs, of
 * an instance or of a coupling. */
#include "server/instance/picks.h"

#include "protocol/wire/bodies.h"
#include "protocol/wire/bodies_records.h"
#include "protocol/wire/json.h"
#include "server/call/service.h"
#include "server/call/shapes.h"
#include "solver/base/hash.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- written ---------------------------------------------------------------------------------- */

/* A stream and what it is of. */
struct shown {
    const struct mechd_instance *i;
    const struct mechd_pick *p;
};

static void write_layout(const void *of, struct mechp_text *w)
{
    const struct shown *const s = of;
    const struct mechd_pick *const p = s->p;
    int64_t offset = 0;
    mechp_text_array(w);
    for (size_t k = 0; k < (p->all ? s->i->channel_count : p->count); k++) {
        const struct mech_variable *const v = &s->i->channels[p->all ? k : p->channels[k]];
        const struct mechp_body_stream_part body = {v->name, offset, v->size};
        MECHP_WRITE(stream_part, &body, w);
        offset += v->size;
    }
    mechp_text_end(w);
}

static void write_stream(const struct mechd_instance *i, const struct mechd_pick *p,
                         struct mechp_text *w)
{
    const struct shown shown = {i, p};
    char topic[2 * MECH_NAME_MAX + 16], hash[24];
    snprintf(topic, sizeof topic, "pick/%s/%s/", i->id, p->name);
    snprintf(hash, sizeof hash, "%016" PRIx64, p->layout);
    const struct mechp_body_stream body = {.name = p->name,
                                           .topic = topic,
                                           .every = p->every,
                                           .watched = atomic_load(&p->watched),
                                           .layout = {write_layout, &shown},
                                           .layout_hash = hash};
    MECHP_WRITE(stream, &body, w);
}

/* A hash of its layout as a member of an object, with its key. False: no memory. */
static bool hash_layout(const struct mechd_instance *i, struct mechd_pick *p)
{
    const struct shown shown = {i, p};
    char room[512];
    struct mechp_text w;
    mechp_text_init(&w, room, sizeof room);
    const struct mechp_body_hashed_layout body = {.layout = {write_layout, &shown}};
    MECHP_WRITE(hashed_layout, &body, &w);
    const bool good = !w.failed;
    p->layout = good ? mech_hash(w.bytes, w.length, 0) : 0;
    mechp_text_fini(&w);
    return good;
}

static void write_items(const void *of, struct mechp_text *w)
{
    const struct mechd_instance *const i = of;
    mechp_text_array(w);
    for (int k = 0; i->picks != NULL && k < i->picks->count; k++) {
        write_stream(i, i->picks->at[k], w);
    }
    mechp_text_end(w);
}

static enum mechd_progress run_list(struct mechd_call *c)
{
    const struct mechp_body_stream_list body = {{write_items, c->job.instance}};
    MECHP_WRITE(stream_list, &body, &c->text);
    return MECHD_DONE;
}

const struct mechd_operation mechd_operation_STREAMS = {.run = run_list};
const struct mechd_operation mechd_operation_COUPLING_STREAMS = {.run = run_list};

/* --- chosen ----------------------------------------------------------------------------------- */

/* Names of outputs, each once; `taken` [channels] is zero. */
static void read_outputs(struct mechd_call *c, const json_t *names, bool *taken,
                         struct mechd_pick *p)
{
    const struct mechd_instance *const i = c->job.instance;
    for (size_t n = 0; n < json_array_size(names); n++) {
        const char *const name = json_string_value(json_array_get(names, n));
        char path[40];
        size_t k = 0;
        while (name != NULL && k < i->channel_count && strcmp(i->channels[k].name, name) != 0) {
            k++;
        }
        snprintf(path, sizeof path, "/outputs/%zu", n);
        if (name == NULL || k == i->channel_count) {
            mechd_engine_lacks(&i->engine, MECH_OUTPUT_VARIABLE, name, path, &c->diag);
        } else if (taken[k]) {
            mech_diag_add(&c->diag, path, "'%.64s' is listed twice", name);
        } else {
            taken[k] = true;
            p->channels[n] = k;
            p->size += (size_t)i->channels[k].size;
        }
    }
}

/* The name and the interval; p->name is "" if there is none. */
static void read_pick(struct mechd_call *c, const struct mechp_body_stream_request *in,
                      struct mechd_pick *p)
{
    if (in->name == NULL) {
        mechd_need(c, "/name", "a name is needed");
    } else if (!mech_name_valid(in->name)) {
        mech_diag_add(&c->diag, "/name",
                      "a name must have 1 to 64 characters of A-Z a-z 0-9 . _ -");
    } else if (mechd_picks_find(c->job.instance, in->name) != NULL) {
        mech_diag_add(&c->diag, "/name", "there is a stream %s: delete it first", in->name);
    } else {
        snprintf(p->name, sizeof p->name, "%s", in->name);
    }
    p->every = in->every > 0 ? (uint64_t)in->every : 1;
}

/* The pick of the body; NULL: refused. */
static struct mechd_pick *read(struct mechd_call *c)
{
    const struct mechd_instance *const i = c->job.instance;
    struct mechp_body_stream_request in;
    MECHP_READ(stream_request, c->body, &c->diag, &in);
    const json_t *const names = in.outputs.of;
    const bool given = names != NULL;
    const size_t count = json_array_size(names);
    if (given && (count == 0 || count > i->channel_count)) {
        mech_diag_add(&c->diag, "/outputs", "must be names of outputs, 1 to %zu", i->channel_count);
    }
    const size_t room = count <= i->channel_count ? count : 0;
    struct mechd_pick *const p = mechd_pick_create(room);
    bool *const taken = calloc(i->channel_count + 1, sizeof *taken);
    if (p == NULL || taken == NULL) {
        mechd_fail(c, MECHP_OUT_OF_MEMORY, "no memory for a stream");
    } else {
        read_pick(c, &in, p);
        if (given && room > 0) {
            read_outputs(c, names, taken, p);
        }
        p->all = !given;
        p->size = given ? p->size : i->output_size;
    }
    free(taken);
    if (c->code == MECHP_OK && c->diag.total == 0 && !hash_layout(i, p)) {
        mechd_fail(c, MECHP_OUT_OF_MEMORY, "no memory for a stream");
    }
    if (c->code != MECHP_OK || mechd_call_faulty(c)) {
        mechd_pick_unref(p);
        return NULL;
    }
    return p;
}

static enum mechd_progress run_choose(struct mechd_call *c)
{
    struct mechd_instance *const i = c->job.instance;
    if (c->service->self.stream[0] == '\0') {
        return mechd_fail(c, MECHP_FORBIDDEN, "this server has no stream: start it with --stream");
    }
    struct mechd_pick *const p = read(c);
    if (p == NULL) {
        return MECHD_DONE;
    }
    const int outcome = mechd_picks_add(i, p);
    if (outcome != 0) {
        mechd_pick_unref(p);
    }
    if (outcome == MECH_UNSUPPORTED) {
        return mechd_fail(c, MECHP_LIMIT_REACHED, "%s has %d streams, as many as it can have",
                          i->id, MECHD_PICKS_MOST);
    }
    if (outcome != 0) {
        return mechd_fail_outcome(c, outcome);
    }
    c->status = 201;
    const bool coupling = (mechd_call_row(c)->traits & MECHP_OF_COUPLING) != 0;
    snprintf(c->location, sizeof c->location, "/v1/%s/%s/streams/%s",
             coupling ? "couplings" : "instances", i->id, p->name);
    write_stream(i, p, &c->text);
    return MECHD_DONE;
}

static int prepare_choose(struct mechd_call *c)
{
    return c->body != NULL ? 0 : mechd_refuse(c, MECHP_MALFORMED_REQUEST, "a body is needed");
}

const struct mechd_operation mechd_operation_CHOOSE_STREAM = {.run = run_choose,
                                                              .prepare = prepare_choose};
const struct mechd_operation mechd_operation_CHOOSE_COUPLING_STREAM = {.run = run_choose,
                                                                       .prepare = prepare_choose};

/* The stream of the path, or NULL: refused. */
static struct mechd_pick *find(struct mechd_call *c)
{
    const char *const name = mechd_call_value(c, "name");
    struct mechd_pick *const p = mechd_picks_find(c->job.instance, name);
    if (p == NULL) {
        mechd_fail(c, MECHP_NOT_FOUND, "there is no stream %.64s", name);
    }
    return p;
}

static enum mechd_progress run_get(struct mechd_call *c)
{
    const struct mechd_pick *const p = find(c);
    if (p != NULL) {
        write_stream(c->job.instance, p, &c->text);
    }
    return MECHD_DONE;
}

const struct mechd_operation mechd_operation_STREAM = {.run = run_get};
const struct mechd_operation mechd_operation_COUPLING_STREAM = {.run = run_get};

static enum mechd_progress run_delete(struct mechd_call *c)
{
    struct mechd_pick *const p = find(c);
    if (p != NULL) {
        c->status = 204;
        mechd_picks_remove(c->job.instance, p);
    }
    return MECHD_DONE;
}

const struct mechd_operation mechd_operation_DELETE_STREAM = {.run = run_delete};
const struct mechd_operation mechd_operation_DELETE_COUPLING_STREAM = {.run = run_delete};
