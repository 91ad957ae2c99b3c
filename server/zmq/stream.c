/* Subscriptions and frames of the stream. A subscription is any prefix of a topic. */
#include "server/zmq/stream.h"

#include "protocol/frame/frame.h"
#include "protocol/wire/bodies_messages.h"
#include "server/call/service.h"
#include "server/call/shapes.h"
#include "server/instance/picks.h"
#include "server/zmq/internal.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct kind {
    unsigned bit;
    const char *prefix;
    bool named; /* only subscriptions to topics that begin so ask for it */
} kinds[] = {{MECHD_WATCH_STATE, "state", false},
             {MECHD_WATCH_JSON, "json", false},
             {MECHD_WATCH_HASH, "hash", true}};

enum { KINDS = sizeof kinds / sizeof *kinds };

static void topic_of(const struct kind *kind, const struct mechd_instance *i,
                     char out[MECHD_TOPIC_MOST])
{
    // one for each frame: put together by hand, which takes a tenth of snprintf
    const size_t prefix = strlen(kind->prefix), id = strlen(i->id);
    static_assert(sizeof i->id + sizeof "state//" <= MECHD_TOPIC_MOST, "every topic fits");
    memcpy(out, kind->prefix, prefix);
    out[prefix] = '/';
    memcpy(out + prefix + 1, i->id, id);
    memcpy(out + prefix + 1 + id, "/", 2);
}

/* That of a chosen stream. */
static void pick_topic(const struct mechd_instance *i, const struct mechd_pick *p,
                       char out[MECHD_TOPIC_MOST])
{
    const size_t id = strlen(i->id), name = strlen(p->name);
    static_assert(sizeof i->id + sizeof p->name + sizeof "pick//" <= MECHD_TOPIC_MOST,
                  "every topic fits");
    memcpy(out, "pick/", 5);
    memcpy(out + 5, i->id, id);
    out[5 + id] = '/';
    memcpy(out + 6 + id, p->name, name);
    memcpy(out + 6 + id + name, "/", 2);
}

/* True if a subscription to `prefix` asks for messages of that kind (NULL: a chosen stream) under
 * `topic`. */
static bool matches(const char *prefix, size_t size, const struct kind *kind, const char *topic)
{
    return (kind == NULL || !kind->named || size > strlen(kind->prefix)) && strlen(topic) >= size &&
           memcmp(prefix, topic, size) == 0;
}

/* True if a subscription brings messages of that kind under `topic`; z->s is held. */
static bool is_watched(const struct mechd_zmq *z, const struct kind *kind, const char *topic)
{
    for (int n = 0; n < z->subscription_count; n++) {
        if (matches(z->subscriptions[n].prefix, z->subscriptions[n].size, kind, topic)) {
            return true;
        }
    }
    return z->overflow;
}

/* Which chosen streams of an instance are watched: MECHD_WATCH_PICKS if any is; z->s is held. */
static unsigned judge_picks(struct mechd_zmq *z, struct mechd_instance *i)
{
    struct mechd_pick *picks[MECHD_PICKS_MOST];
    const int count = mechd_picks_hold(i, picks);
    unsigned watched = 0;
    for (int k = 0; k < count; k++) {
        char topic[MECHD_TOPIC_MOST];
        pick_topic(i, picks[k], topic);
        const bool wanted = is_watched(z, NULL, topic);
        atomic_store(&picks[k]->watched, wanted);
        watched |= wanted ? MECHD_WATCH_PICKS : 0u;
        mechd_pick_unref(picks[k]);
    }
    return watched;
}

/* Which topics of an instance are watched; z->s is held. */
static void judge(struct mechd_zmq *z, struct mechd_instance *i)
{
    unsigned watched = judge_picks(z, i);
    for (int k = 0; k < KINDS; k++) {
        char topic[MECHD_TOPIC_MOST];
        topic_of(&kinds[k], i, topic);
        watched |= is_watched(z, &kinds[k], topic) ? kinds[k].bit : 0u;
    }
    atomic_store(&i->watched, watched);
}

static void meet(void *zmq, struct mechd_instance *i)
{
    struct mechd_zmq *const z = zmq;
    pthread_mutex_lock(&z->s);
    judge(z, i);
    pthread_mutex_unlock(&z->s);
}

/* A frame as bytes: header and these values. */
static struct mechd_letter *encode_values(struct mechd_zmq *z, struct mechd_instance *i,
                                          const struct mechd_published *step, const double *values,
                                          size_t n)
{
    struct mechd_letter *letter = mechd_letter_create_frame(z, MECHP_FRAME_HEADER + 8 * n);
    if (letter == NULL) {
        return NULL;
    }
    const struct mechp_frame frame = {.kind = MECHP_OUTPUTS,
                                      .flags = step->flags,
                                      .instance = i->number,
                                      .count = (uint32_t)n,
                                      .sequence = step->sequence,
                                      .step = step->steps,
                                      .time = step->time};
    mechp_frame_write(&frame, letter->bytes);
    mechp_frame_put_values(letter->bytes + MECHP_FRAME_HEADER, values, (uint32_t)n);
    return letter;
}

/* Values of an instance. */
struct published {
    const struct mechd_instance *instance;
    const double *values; /* packed */
};

static void write_outputs(const void *published, struct mechp_text *w)
{
    const struct published *const p = published;
    const struct mechd_instance *const i = p->instance;
    mechp_text_object(w);
    for (size_t k = 0; k < i->channel_count; k++) {
        mechp_text_key(w, i->channels[k].name);
        mechd_write_value(&i->channels[k], p->values + i->channels[k].offset, w);
    }
    mechp_text_end(w);
}

/* The same as JSON. */
static struct mechd_letter *encode_json(struct mechd_zmq *z, struct mechd_instance *i,
                                        const struct mechd_published *step)
{
    char room[512], life[MECHD_LIFE];
    struct mechp_text w;
    mechd_instance_life(i, life);
    mechp_text_init(&w, room, sizeof room);
    const struct published published = {i, step->values};
    const struct mechp_body_published_frame body = {.instance = i->id,
                                                    .life = life,
                                                    .time = step->time,
                                                    .step = step->steps,
                                                    .sequence = step->sequence,
                                                    .flags = step->flags,
                                                    .outputs = {write_outputs, &published}};
    MECHP_WRITE(published_frame, &body, &w);
    struct mechd_letter *letter = w.failed ? NULL : mechd_letter_create_frame(z, w.length);
    if (letter != NULL) {
        memcpy(letter->bytes, w.bytes, w.length);
    }
    mechp_text_fini(&w);
    return letter;
}

/* Encode one topic and send it, or leave it where frames wait. */
static void publish_kind(struct mechd_zmq *z, struct mechd_instance *i, const struct kind *kind,
                         const struct mechd_published *step)
{
    double hash[MECHD_HASH_VALUES];
    if (kind->bit == MECHD_WATCH_HASH && !step->hashed) {
        return; // of a step before the first subscription
    }
    mechd_hash_values(step->hash, hash);
    struct mechd_letter *letter =
        kind->bit == MECHD_WATCH_STATE  ? encode_values(z, i, step, step->values, i->output_size)
        : kind->bit == MECHD_WATCH_HASH ? encode_values(z, i, step, hash, MECHD_HASH_VALUES)
                                        : encode_json(z, i, step);
    if (letter == NULL) {
        mechd_count(&i->host->counters.stream_drops, 1);
        return;
    }
    topic_of(kind, i, letter->topic);
    mechd_count(&i->host->counters.stream_frames, 1);
    mechd_letter_post(z, letter);
}

/* A frame of a chosen stream; posted. */
static void publish_pick(struct mechd_zmq *z, struct mechd_instance *i, const struct mechd_pick *p,
                         const struct mechd_published *step)
{
    struct mechd_letter *const letter =
        mechd_letter_create_frame(z, MECHP_FRAME_HEADER + 8 * p->size);
    if (letter == NULL) {
        mechd_count(&i->host->counters.stream_drops, 1);
        return;
    }
    const struct mechp_frame frame = {.kind = MECHP_OUTPUTS,
                                      .flags = step->flags,
                                      .instance = i->number,
                                      .count = (uint32_t)p->size,
                                      .sequence = step->sequence,
                                      .step = step->steps,
                                      .time = step->time,
                                      .lease = p->layout};
    mechp_frame_write(&frame, letter->bytes);
    mechd_pick_frame(i, p, step->values, letter->bytes + MECHP_FRAME_HEADER);
    pick_topic(i, p, letter->topic);
    mechd_count(&i->host->counters.stream_frames, 1);
    mechd_letter_post(z, letter);
}

/* Each chosen stream that is watched, where its interval is over: with the flags of the steps in
 * between, so that none misses that time went back. */
static void publish_picks(struct mechd_zmq *z, struct mechd_instance *i,
                          const struct mechd_published *step)
{
    for (int k = 0; k < i->picks->count; k++) {
        struct mechd_pick *const p = i->picks->at[k];
        if (!atomic_load(&p->watched)) {
            continue;
        }
        p->flags = (uint16_t)(p->flags | step->flags);
        if (step->sequence % p->every == 0) {
            struct mechd_published now = *step;
            now.flags = p->flags;
            p->flags = 0;
            publish_pick(z, i, p, &now);
        }
    }
}

static void publish(void *zmq, struct mechd_instance *i, const struct mechd_published *step)
{
    const unsigned watched = atomic_load(&i->watched);
    for (int k = 0; watched != 0 && k < KINDS; k++) {
        if ((watched & kinds[k].bit) != 0) {
            publish_kind(zmq, i, &kinds[k], step);
        }
    }
    if ((watched & MECHD_WATCH_PICKS) != 0) {
        publish_picks(zmq, i, step);
    }
}

struct mechd_observer mechd_stream_observer(struct mechd_zmq *z)
{
    return (struct mechd_observer){.created = meet, .stepped = publish, .picked = meet, .of = z};
}

/* What has been published last, as a repetition, with values to be freed; false: nothing yet, or no
 * memory. */
static bool take_last(struct mechd_instance *i, struct mechd_published *out)
{
    double *const values = calloc(i->output_size + 1, sizeof *values);
    if (values == NULL) {
        return false;
    }
    mechd_instance_peek(i, out, values);
    out->flags = (uint16_t)(out->flags | MECHP_REPEAT);
    if (out->sequence == 0) {
        free(values);
    }
    return out->sequence > 0;
}

/* Repeat the last frame of every instance that the new subscription brings; of a chosen stream the
 * last step, whatever its interval. */
static void repeat_last(struct mechd_zmq *z, struct mechd_instance *i, const char *prefix,
                        size_t size)
{
    struct mechd_pick *picks[MECHD_PICKS_MOST];
    const int count = mechd_picks_hold(i, picks);
    struct mechd_published last;
    for (int k = 0; k < KINDS + count; k++) {
        char topic[MECHD_TOPIC_MOST];
        const struct kind *const kind = k < KINDS ? &kinds[k] : NULL;
        if (kind != NULL) {
            topic_of(kind, i, topic);
        } else {
            pick_topic(i, picks[k - KINDS], topic);
        }
        if (!matches(prefix, size, kind, topic) || !take_last(i, &last)) {
            continue;
        }
        if (k < KINDS) {
            publish_kind(z, i, &kinds[k], &last);
        } else {
            publish_pick(z, i, picks[k - KINDS], &last);
        }
        free(last.values);
    }
    for (int k = 0; k < count; k++) {
        mechd_pick_unref(picks[k]);
    }
}

/* Note or forget a prefix; z->s is held. */
static void remember(struct mechd_zmq *z, bool subscribe, const char *prefix, size_t size)
{
    int at = 0;
    while (at < z->subscription_count && (z->subscriptions[at].size != size ||
                                          memcmp(z->subscriptions[at].prefix, prefix, size) != 0)) {
        at++;
    }
    const bool known = at < z->subscription_count;
    if (!subscribe && known) {
        z->subscriptions[at] = z->subscriptions[--z->subscription_count];
    } else if (subscribe && !known && at == MECHD_SUBSCRIPTIONS) {
        z->overflow = true;
    } else if (subscribe && !known) {
        memcpy(z->subscriptions[at].prefix, prefix, size);
        z->subscriptions[at].size = size;
        z->subscription_count++;
    }
}

/* True for topics of one instance, whose id comes back; false for a prefix of several. */
static bool is_whole(const char *prefix, size_t size, char id[MECHD_TOPIC_MOST])
{
    for (int k = 0; k <= KINDS; k++) {
        const char *const kind = k < KINDS ? kinds[k].prefix : "pick";
        const size_t n = strlen(kind);
        if (size <= n + 2 || memcmp(prefix, kind, n) != 0 || prefix[n] != '/') {
            continue;
        }
        // of a chosen stream the name follows, or a part of it
        const char *const slash = memchr(prefix + n + 1, '/', size - n - 1);
        if (slash == prefix + size - 1 || (slash != NULL && k == KINDS)) {
            snprintf(id, MECHD_TOPIC_MOST, "%.*s", (int)(slash - prefix - (long)n - 1),
                     prefix + n + 1);
            return true;
        }
    }
    return false;
}

/* An instance learns whether it is watched, and repeats its last frame. */
static void meet_and_repeat(struct mechd_zmq *z, struct mechd_instance *i, bool subscribe,
                            const char *prefix, size_t size)
{
    meet(z, i);
    if (subscribe) {
        repeat_last(z, i, prefix, size);
    }
    mechd_instance_unref(i);
}

/* So do all instances, or all couplings. */
static void meet_all(struct mechd_zmq *z, struct mechd_table *t, bool subscribe, const char *prefix,
                     size_t size)
{
    struct mechd_instance **all = NULL;
    size_t count = 0;
    bool more = false;
    if (mechd_table_list(t, 0, MECHD_INSTANCES_MOST, &all, &count, &more) != 0) {
        return;
    }
    for (size_t k = 0; k < count; k++) {
        meet_and_repeat(z, all[k], subscribe, prefix, size);
    }
    free(all);
}

/* True for "ready/…/", by which a subscriber asks whether its subscriptions stand. */
static bool is_question(const char *prefix, size_t size)
{
    static const char ready[] = "ready/";
    const size_t n = sizeof ready - 1;
    return size > n + 1 && memcmp(prefix, ready, n) == 0 && prefix[size - 1] == '/' &&
           memchr(prefix, '\0', size) == NULL;
}

/* The answer: a message under that topic. What the same connection has subscribed to before has
 * been noted, for its messages are read in order. */
static void confirm(struct mechd_zmq *z, const char *topic, size_t size)
{
    struct mechd_letter *const letter = mechd_letter_create_frame(z, 0);
    if (letter == NULL) {
        return; // it asks again
    }
    memcpy(letter->topic, topic, size);
    letter->topic[size] = '\0';
    mechd_letter_post(z, letter);
}

void mechd_stream_subscription(struct mechd_zmq *z, const char *bytes, size_t size, int descriptor)
{
    if (size < 1 || (bytes[0] != 0 && bytes[0] != 1)) {
        return;
    }
    const bool subscribe = bytes[0] == 1;
    const char *prefix = bytes + 1;
    char id[MECHD_TOPIC_MOST];
    size--;
    // longer than any topic: it can never match
    const bool possible = size < MECHD_TOPIC_MOST;
    const bool question = possible && is_question(prefix, size);
    const bool whole = question || (possible && is_whole(prefix, size, id));
    if (!mechd_guard_subscribed(z, descriptor, subscribe, whole || !possible) || !possible) {
        return;
    }
    if (question) {
        if (subscribe) {
            confirm(z, prefix, size);
        }
        return;
    }
    pthread_mutex_lock(&z->s);
    remember(z, subscribe, prefix, size);
    pthread_mutex_unlock(&z->s);

    if (whole) {
        struct mechd_host *const h = &z->service->host;
        struct mechd_instance *i = mechd_table_find(&h->table, id);
        i = i != NULL ? i : mechd_table_find(&h->faces, id);
        if (i != NULL) {
            meet_and_repeat(z, i, subscribe, prefix, size);
        }
        return;
    }
    meet_all(z, &z->service->host.table, subscribe, prefix, size);
    meet_all(z, &z->service->host.faces, subscribe, prefix, size);
}
