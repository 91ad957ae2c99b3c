/* The state of a coupling as bytes: a head, a part a participant, the scheme's. All numbers have
 * eight bytes, in the order of this machine. */
#include "server/coupling/keep.h"

#include "server/call/outside.h"
#include "server/coupling/away.h"
#include "solver/base/err.h"
#include "solver/base/hash.h"
#include "solver/base/text.h"

#include <string.h>

/* Raised when what follows changes, or what mech_couple_save writes. */
static const uint64_t version = 1;

struct head {
    uint64_t hash; /* of all that follows */
    uint64_t version, count, opened, trials, snapshots, couple_size;
};

/* A participant: the key of its instance, or of a partner 0 and its numbers behind it. */
struct part {
    int64_t key;
    uint64_t inputs, outputs, order, windows;
    double time;
};

static const struct mechd_away *away_of(const struct mechd_part *p)
{
    return p->instance->engine.self;
}

static uint64_t hash_of(const void *bytes, size_t size)
{
    const size_t from = sizeof(uint64_t);
    return mech_hash((const char *)bytes + from, size - from, 0);
}

void mechd_keep_seal(void *bytes, size_t size)
{
    const uint64_t hash = hash_of(bytes, size);
    memcpy(bytes, &hash, sizeof hash);
}

/* Inputs, outputs, and the trial that was committed last. */
static size_t partner_numbers(const struct mechd_outside *o)
{
    return o->input_count + o->output_count + o->input_count * (size_t)(o->order + 1);
}

size_t mechd_keep_size(const struct mechd_coupling *g)
{
    size_t size = sizeof(struct head) + mech_couple_saved_size(g->couple);
    for (int32_t n = 0; n < g->count; n++) {
        const struct mechd_outside *const o = g->parts[n].outside;
        size += sizeof(struct part);
        size += o != NULL ? sizeof(struct mechd_outside_place) + partner_numbers(o) * sizeof(double)
                          : 0;
    }
    return size;
}

static void put(char **at, const void *bytes, size_t size)
{
    memcpy(*at, bytes, size);
    *at += size;
}

static void take(const char **at, void *bytes, size_t size)
{
    memcpy(bytes, *at, size);
    *at += size;
}

static void write_partner(const struct mechd_part *p, char **at)
{
    struct mechd_outside *const o = p->outside;
    const struct mechd_away *const a = away_of(p);
    struct mechd_outside_place place;
    put(at, a->inputs, o->input_count * sizeof(double));
    put(at, a->outputs, o->output_count * sizeof(double));
    char *const values = *at + sizeof place;
    mechd_outside_save(o, &place, (double *)(void *)values);
    put(at, &place, sizeof place);
    *at += o->input_count * (size_t)(o->order + 1) * sizeof(double);
}

static struct part part_of(const struct mechd_part *p)
{
    const struct mechd_outside *const o = p->outside;
    return o == NULL ? (struct part){.key = p->instance->durable.key}
                     : (struct part){.inputs = o->input_count,
                                     .outputs = o->output_count,
                                     .order = (uint64_t)o->order,
                                     .windows = away_of(p)->windows,
                                     .time = away_of(p)->time};
}

void mechd_keep_write(const struct mechd_coupling *g, void *bytes)
{
    char *at = bytes;
    const struct head head = {.version = version,
                              .count = (uint64_t)g->count,
                              .opened = g->opened,
                              .trials = g->trials,
                              .snapshots = g->snapshot_last,
                              .couple_size = mech_couple_saved_size(g->couple)};
    put(&at, &head, sizeof head);
    for (int32_t n = 0; n < g->count; n++) {
        const struct part part = part_of(&g->parts[n]);
        put(&at, &part, sizeof part);
        if (g->parts[n].outside != NULL) {
            write_partner(&g->parts[n], &at);
        }
    }
    mech_couple_save(g->couple, at);
    mechd_keep_seal(bytes, mechd_keep_size(g));
}

static void read_partner(struct mechd_part *p, const struct part *part, const char **at)
{
    struct mechd_outside *const o = p->outside;
    struct mechd_away *const a = p->instance->engine.self;
    struct mechd_outside_place place;
    a->time = part->time;
    a->windows = part->windows;
    take(at, a->inputs, o->input_count * sizeof(double));
    take(at, a->outputs, o->output_count * sizeof(double));
    take(at, &place, sizeof place);
    mechd_outside_restore(o, &place, (const double *)(const void *)*at);
    *at += o->input_count * (size_t)(o->order + 1) * sizeof(double);
}

int mechd_keep_read(struct mechd_coupling *g, const void *bytes, size_t size, char reason[160])
{
    const char *at = bytes;
    struct head head;
    mech_text_format(reason, 160, "its state does not fit its participants");
    if (size < sizeof head) {
        return MECH_MISMATCH;
    }
    take(&at, &head, sizeof head);
    if (head.version != version) {
        mech_text_format(reason, 160, "its state is of version %llu",
                         (unsigned long long)head.version);
        return MECH_MISMATCH;
    }
    if (size != mechd_keep_size(g)) {
        return MECH_MISMATCH;
    }
    if (head.hash != hash_of(bytes, size)) {
        mech_text_format(reason, 160, "its state is damaged");
        return MECH_MISMATCH;
    }
    if (head.count != (uint64_t)g->count || head.couple_size != mech_couple_saved_size(g->couple)) {
        return MECH_MISMATCH;
    }
    // nothing changes before all of it is known to fit
    const char *look = at;
    for (int32_t n = 0; n < g->count; n++) {
        const struct mechd_part *const p = &g->parts[n];
        const struct part now = part_of(p);
        struct part part;
        take(&look, &part, sizeof part);
        if (part.key != now.key) {
            mech_text_format(reason, 160,
                             "participant %.40s: instance %.64s was deleted and created anew",
                             p->name, p->instance->id);
            return MECH_MISMATCH;
        }
        if (part.inputs != now.inputs || part.outputs != now.outputs || part.order != now.order) {
            return MECH_MISMATCH;
        }
        if (p->outside != NULL) {
            look +=
                sizeof(struct mechd_outside_place) + partner_numbers(p->outside) * sizeof(double);
        }
    }
    MECH_TRY(mech_couple_restore(g->couple, look, head.couple_size));
    for (int32_t n = 0; n < g->count; n++) {
        struct part part;
        take(&at, &part, sizeof part);
        if (g->parts[n].outside != NULL) {
            read_partner(&g->parts[n], &part, &at);
        }
    }
    g->opened = head.opened != 0;
    g->trials = head.trials > g->trials ? head.trials : g->trials;
    pthread_mutex_lock(&g->m);
    g->snapshot_last = head.snapshots > g->snapshot_last ? head.snapshots : g->snapshot_last;
    pthread_mutex_unlock(&g->m);
    return 0;
}
