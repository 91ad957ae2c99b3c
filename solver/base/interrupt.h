/* A request to end long iterations, which poll it at intervals. Interrupted iterations stop as at
 * their limit, so that no data is left incomplete; the caller checks `came` and discards the
 * result. owner: one thread. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct mech_interrupt {
    bool (*wanted)(void *context); /* NULL: never */
    void *context;
    bool came; /* an interruption was requested since this was last false */
};

/* Ask, unless it has come; `i` may be NULL. The question costs about as much as a look at the
 * clock. */
static inline bool mech_interrupted(struct mech_interrupt *i)
{
    if (!i || !i->wanted) {
        return false;
    }
    i->came = i->came || i->wanted(i->context);
    return i->came;
}
