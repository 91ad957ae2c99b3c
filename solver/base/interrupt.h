/* A question that long iterations ask now and then: shall this end? Those that are told so stop as
 * at their limit, so that nothing of theirs is left half done; who began the work looks at `came`
 * and throws the result away. owner: one thread. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct mech_interrupt {
    bool (*wanted)(void *context); /* NULL: never */
    void *context;
    bool came; /* it was wanted since this was last false */
};

/* Ask, unless it has come; `i` may be NULL. The question costs about as much as a look at the
 * clock. */
static inline bool mech_interrupted(struct mech_interrupt *i)
{
    if (i == NULL || i->wanted == NULL) {
        return false;
    }
    i->came = i->came || i->wanted(i->context);
    return i->came;
}
