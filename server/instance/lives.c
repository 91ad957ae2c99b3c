/* Numbers that go on from one life of an id to the next. */
#include "server/instance/lives.h"

#include "server/instance/host.h"
#include "server/instance/snapshots.h"
#include "server/os/ids.h"
#include "server/store/store.h"
#include "solver/base/text.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Ids of clients that the server will come to are recorded by two numbers: the largest of those up
 * to NEAR ahead, and how far the smallest of the others is below MOST. So one that is far ahead
 * leaves those between as they are. Of what the server assigns, one by one, none is above MOST. */
static const uint64_t NEAR = (uint64_t)1 << 20, MOST = (uint64_t)1 << 62;

static const enum mechd_numbers stored[MECHD_COUNTED] = {
    [MECHD_COUNTED_PART] = MECHD_NUMBER_PART, [MECHD_COUNTED_TRIAL] = MECHD_NUMBER_TRIAL};

/* Numbers noted at a time, less one; a power of two, less one. Trials of several threads write to
 * the same place. */
static const uint64_t strides[MECHD_COUNTED] = {[MECHD_COUNTED_TRIAL] = 63};

/* The largest number that earlier processes may have assigned. */
static uint64_t last_before(const struct mechd_host *h, int which)
{
    return h->store != NULL ? mechd_store_last(h->store, stored[which]) : 0;
}

void mechd_lives_init(struct mechd_host *h)
{
    for (int k = 0; k < MECHD_COUNTED; k++) {
        atomic_init(&h->given[k], last_before(h, k));
    }
}

/* A client may have chosen the id of this number in an earlier process. */
static bool was_chosen(struct mechd_store *s, uint64_t number)
{
    return number <= mechd_store_last(s, MECHD_NUMBER_CHOSEN) ||
           number >= MOST - mechd_store_last(s, MECHD_NUMBER_FAR);
}

/* A client has chosen it now. */
static void note_chosen(struct mechd_store *s, uint64_t number, uint64_t serial)
{
    const uint64_t before = mechd_store_last(s, MECHD_NUMBER_INSTANCE);
    const uint64_t last = serial > before ? serial : before;
    if (number > last && number <= last + NEAR) {
        (void)mechd_store_given(s, MECHD_NUMBER_CHOSEN, number);
    } else if (number > last && number <= MOST) {
        (void)mechd_store_given(s, MECHD_NUMBER_FAR, MOST - number);
    }
}

void mechd_lives_begin(struct mechd_instance *i, bool gone, bool chosen)
{
    struct mechd_store *const s = i->host->store;
    const uint64_t number = s != NULL ? mechd_id_number('i', i->id) : 0;
    if (number > 0 && !chosen) {
        chosen = was_chosen(s, number);
    } else if (number > 0) {
        note_chosen(s, number, i->serial);
    }
    for (int k = 0; k < MECHD_COUNTED; k++) {
        i->before[k] = gone     ? atomic_load(&i->host->given[k])
                       : chosen ? last_before(i->host, k)
                                : 0;
    }
}

/* This one is assigned. */
static void note(struct mechd_host *h, enum mechd_counted which, uint64_t number)
{
    uint64_t given = atomic_load_explicit(&h->given[which], memory_order_relaxed);
    if (number > given) {
        const uint64_t most = number | strides[which];
        while (most > given && !atomic_compare_exchange_weak(&h->given[which], &given, most)) {
        }
        (void)mechd_store_given(h->store, stored[which], most);
    }
}

void mechd_lives_recovered(struct mechd_instance *i)
{
    const uint64_t snapshots = i->snapshots != NULL ? i->snapshots->last : 0;
    i->before[MECHD_COUNTED_PART] = 0;
    note(i->host, MECHD_COUNTED_PART, snapshots > i->runs ? snapshots : i->runs);
}

void mechd_lives_continued(struct mechd_instance *face)
{
    mechd_lives_begin(face, false, true);
}

uint64_t mechd_lives_next(struct mechd_instance *i, enum mechd_counted which, uint64_t last)
{
    struct mechd_host *const h = i->host;
    const uint64_t number = (last > i->before[which] ? last : i->before[which]) + 1;
    note(h, which, number);
    const bool guarded = which == MECHD_COUNTED_PART;
    return guarded && !mechd_store_given(h->store, stored[which], number) ? 0 : number;
}

uint64_t mechd_lives_trial(struct mechd_instance *i)
{
    i->trials = mechd_lives_next(i, MECHD_COUNTED_TRIAL, i->trials);
    i->trial = i->trials;
    return i->trial;
}

const char *mechd_lives_unrecorded(const struct mechd_instance *i, char out[MECHD_LIVES_UNRECORDED])
{
    char fault[160] = "";
    mechd_store_fault(i->host->store, fault, sizeof fault);
    mech_text_format(out, MECHD_LIVES_UNRECORDED, "its number cannot be recorded: %s",
                     fault[0] != '\0' ? fault : "earlier changes are still being stored");
    return out;
}

const char *mechd_lives_tell(const struct mechd_instance *i, enum mechd_counted which,
                             const char *id, char out[MECHD_LIVES_WORDS])
{
    const bool prefixed = strncmp(id, "s-", 2) == 0 || strncmp(id, "r-", 2) == 0;
    const char *const digits = prefixed ? id + 2 : id;
    const bool numbered = digits[strspn(digits, "0123456789")] == '\0';
    const unsigned long long number = numbered ? strtoull(digits, NULL, 10) : 0;
    out[0] = '\0';
    if (number > 0 && number <= i->before[which]) {
        mech_text_format(out, MECHD_LIVES_WORDS,
                         ": numbers up to %" PRIu64
                         " were assigned before this %s was created or mechd was started",
                         i->before[which], i->turns != NULL ? "coupling" : "instance");
    }
    return out;
}
