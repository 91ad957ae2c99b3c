/* Metadata of an instance: its labels, and how long it may be unused (time to live).
 *
 * A lookup in the table by its id or number counts as use; lists and the stream do not. Both may
 * change at any time; labels are replaced as a whole, so that a reader keeps a consistent set. Any
 * thread. */
#pragma once

#include "server/instance/instance.h"
#include "server/os/ticks.h"
#include "solver/base/diag.h"
#include "solver/base/words.h"

/* Maximum number of labels, and of bytes of their texts: lists of a thousand stay readable. */
enum { MECHD_LABELS_MOST = 64, MECHD_LABEL_MOST = 256 };

/* What a change replaces. */
struct mechd_traits {
    json_t *labels; /* or NULL */
    double ttl;     /* s, 0: unlimited */
};

/* Longest time to live, s: ten years. */
static const double mechd_ttl_most = 315360000.;

/* The labels, as a reference of the caller's, or NULL; the next function releases it. */
json_t *mechd_instance_labels(struct mechd_instance *i);
/* Accepts NULL. References are counted under the lock: jansson looks at a count without it. */
void mechd_instance_labels_unref(struct mechd_instance *i, json_t *labels);
/* Replace them (takes the reference; NULL: none); returns the previous ones. */
json_t *mechd_instance_set_labels(struct mechd_instance *i, json_t *labels);

/* Labels by which instances are selected. owner: the reader. */
struct mechd_choice {
    size_t count;
    struct mech_word labels[MECHD_LABELS_MOST]; /* without a value: any value */
    char *text;                                 /* their storage */
};
/* From a list of words (solver/base/words.h), "name=value,name,…"; faults go to diag at the path.
 * 0, or 1 where there is one. mechd_choice_fini in either case. */
int mechd_choice_read(struct mechd_choice *x, const char *text, const char *path,
                      struct mech_diag *diag);
void mechd_choice_fini(struct mechd_choice *x);
/* True if it has all labels of the choice. */
bool mechd_instance_chosen(struct mechd_instance *i, const struct mechd_choice *choice);

/* Seconds without use after which it is deleted; 0: unlimited. Counts from now. */
void mechd_instance_set_ttl(struct mechd_instance *i, double seconds);
/* Seconds, 0: unlimited. */
double mechd_instance_ttl(const struct mechd_instance *i);
/* ns of mechd_now at which it expires if it is not used; 0: never. */
uint64_t mechd_instance_ends(const struct mechd_instance *i);

/* Record a use. */
static inline void mechd_instance_use(struct mechd_instance *i)
{
    if (atomic_load_explicit(&i->ttl, memory_order_relaxed) > 0.) {
        atomic_store_explicit(&i->used, mechd_now(), memory_order_relaxed);
    }
}
