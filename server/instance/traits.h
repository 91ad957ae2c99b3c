/* What people say of an instance: its labels, and how long it may stand unused (time to live).
 *
 * To be found in the table by its id or number is use: lists and the stream are none.
 * Both may change while it lives; labels are replaced as a whole, so that whoever reads them keeps
 * what it has begun with. Any thread. */
#pragma once

#include "server/instance/instance.h"
#include "server/os/ticks.h"

/* What a change replaces. */
struct mechd_traits {
    json_t *labels; /* or NULL */
    double ttl;     /* s, 0: it stays */
};

/* Longest time to live, s: ten years. */
static const double mechd_ttl_most = 315360000.;

/* The labels, as a reference of the caller's, or NULL; it is given back by the next function. */
json_t *mechd_instance_labels(struct mechd_instance *i);
/* Accepts NULL. References are counted under the lock: jansson looks at a count without it. */
void mechd_instance_labels_unref(struct mechd_instance *i, json_t *labels);
/* Others (a reference that is taken; NULL: none); returns those before. */
json_t *mechd_instance_set_labels(struct mechd_instance *i, json_t *labels);
/* Does it have all labels of a choice "name=value,name,…"? A name alone: whatever its value. */
bool mechd_instance_chosen(struct mechd_instance *i, const char *choice);

/* Seconds without use after which the clock deletes it; 0: it stays. Counts from now. */
void mechd_instance_set_ttl(struct mechd_instance *i, double seconds);
/* Seconds, 0: it stays. */
double mechd_instance_ttl(const struct mechd_instance *i);
/* ns of mechd_now at which it ends if nobody uses it; 0: it stays. */
uint64_t mechd_instance_ends(const struct mechd_instance *i);

/* Somebody uses it. */
static inline void mechd_instance_use(struct mechd_instance *i)
{
    if (atomic_load_explicit(&i->ttl, memory_order_relaxed) != 0) {
        atomic_store_explicit(&i->used, mechd_now(), memory_order_relaxed);
    }
}
