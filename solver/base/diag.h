/* Diagnostics: every fault of an input at once, each with its place.
 *
 * A place is a path in the style of RFC 6901 ("/objects/0/stiffness"); the solver's own field names
 * are the document's keys, so that it can name places without knowing what the document is written
 * in. owner: the caller; one thread.
 */
#pragma once

#include "solver/base/text.h"

#include <stdbool.h>
#include <stddef.h>

enum { MECH_DIAG_PATH = 192, MECH_DIAG_TEXT = 256, MECH_DIAG_MOST = 100 };

struct mech_diag_entry {
    char path[MECH_DIAG_PATH];
    char text[MECH_DIAG_TEXT];
};

struct mech_diag {
    struct mech_diag_entry *entries; /* [count], at most MECH_DIAG_MOST are kept */
    size_t count;                    /* entries kept */
    size_t total;                    /* faults found, kept or not */
    size_t capacity;
    struct mech_diag_entry *warnings; /* [warning_count] not faults */
    size_t warning_count, warning_capacity;
};

void mech_diag_init(struct mech_diag *d);
void mech_diag_fini(struct mech_diag *d);

/* Add one fault. Long paths are cut, texts as in text.h. If memory is short, only `total` grows. */
void mech_diag_add(struct mech_diag *d, const char *path, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Add one warning: it does not make an input bad. Lost if memory is short. */
void mech_diag_warn(struct mech_diag *d, const char *path, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Put `base` before the paths of entries, which were found in a part of something larger. */
void mech_diag_prefix(struct mech_diag_entry *entries, size_t count, const char *base);

/* Add the faults and warnings of a part of something larger, at `base`. */
void mech_diag_append(struct mech_diag *to, const struct mech_diag *from, const char *base);

/* Move all warnings to `to`, which has none. */
void mech_diag_give_warnings(struct mech_diag *from, struct mech_diag *to);

static inline bool mech_diag_clean(const struct mech_diag *d)
{
    return d->total == 0;
}

/* Further faults are counted and not kept: no need to find out more about them. */
static inline bool mech_diag_full(const struct mech_diag *d)
{
    return d->total >= MECH_DIAG_MOST;
}

/* A path built up and cut back while walking a document.
 *   const size_t mark = mech_path_push(&p, "objects"); … mech_path_cut(&p, mark); */
struct mech_path {
    char text[MECH_DIAG_PATH];
    size_t length;
};

/* Append "/key" (with ~0 and ~1 escapes) or "/index"; returns the length before. Too long: cut. */
size_t mech_path_push(struct mech_path *p, const char *key);
size_t mech_path_push_index(struct mech_path *p, size_t index);
void mech_path_cut(struct mech_path *p, size_t mark);
