/* Questions of the server to the program at the other end of a connection (server/call/outside.h).
 * Any thread puts them behind the bytes that wait for the connection's thread, which sends them. */
#include "server/lane/internal.h"

#include "protocol/frame/frame.h"
#include "server/call/outside.h"

#include <stdlib.h>
#include <string.h>

/* One of a connection, for all programs at its other end. Held by their outsides, by the link while
 * it is open, and by the list of those that ask. */
struct mechd_lane_caller {
    struct mechd_caller caller; /* first */
    _Atomic int refs;
    struct mechd_lane_thread *thread;
    _Atomic bool ended;           /* the link has been closed; partner: any thread */
    struct mechd_lane_link *link; /* the thread's; NULL: closed */
    /* locked by the thread's m */
    struct mechd_lane_caller *next_asking;
    bool asks;            /* is in the thread's list */
    unsigned char *bytes; /* [room] messages with their lengths */
    size_t size, room;
};

static void unref(struct mechd_lane_caller *c)
{
    if (atomic_fetch_sub(&c->refs, 1) == 1) {
        free(c->bytes);
        free(c);
    }
}

/* Append a frame; m is held. False: no memory. */
static bool append(struct mechd_lane_caller *c, const struct mechp_frame *frame,
                   const double *values)
{
    const size_t length = MECHP_FRAME_HEADER + 8 * (size_t)frame->count;
    const size_t all = c->size + MECHD_LANE_LENGTH + length;
    if (all > c->room) {
        unsigned char *const more = realloc(c->bytes, all);
        if (more == NULL) {
            return false;
        }
        c->bytes = more;
        c->room = all;
    }
    unsigned char *const at = c->bytes + c->size;
    for (int k = 0; k < MECHD_LANE_LENGTH; k++) {
        at[k] = (unsigned char)(length >> (8 * k) & 0xffu);
    }
    mechp_frame_write(frame, at + MECHD_LANE_LENGTH);
    mechp_frame_put_values(at + MECHD_LANE_LENGTH + MECHP_FRAME_HEADER, values, frame->count);
    c->size = all;
    return true;
}

static bool send_question(struct mechd_caller *caller, const struct mechp_frame *frame,
                          const double *values)
{
    struct mechd_lane_caller *const c = (struct mechd_lane_caller *)caller;
    struct mechd_lane_thread *const t = c->thread;
    if (atomic_load(&c->ended)) {
        return false;
    }
    pthread_mutex_lock(&t->m);
    const bool ok = append(c, frame, values);
    if (ok && !c->asks) {
        c->asks = true;
        atomic_fetch_add(&c->refs, 1);
        c->next_asking = t->asking;
        t->asking = c;
        mechd_lane_wake(t);
    }
    pthread_mutex_unlock(&t->m);
    return ok;
}

static bool has_gone(const struct mechd_caller *caller)
{
    return atomic_load(&((const struct mechd_lane_caller *)caller)->ended);
}

static void destroy(struct mechd_caller *caller)
{
    unref((struct mechd_lane_caller *)caller);
}

/* Without references; the thread's m is held. NULL: no memory. */
static struct mechd_lane_caller *create(struct mechd_lane_link *link)
{
    struct mechd_lane_caller *const c = calloc(1, sizeof *c);
    if (c == NULL) {
        return NULL;
    }
    c->caller = (struct mechd_caller){.send = send_question, .gone = has_gone, .destroy = destroy};
    c->thread = link->thread;
    if (mechd_stop_reason(&link->gone) != MECHD_STOP_NONE) {
        atomic_init(&c->ended, true);
    } else {
        atomic_init(&c->refs, 1);
        c->link = link;
        link->caller = c;
    }
    return c;
}

struct mechd_caller *mechd_lane_caller_of(struct mechd_lane_link *link)
{
    pthread_mutex_t *const m = &link->thread->m;
    pthread_mutex_lock(m);
    struct mechd_lane_caller *const c = link->caller != NULL ? link->caller : create(link);
    if (c != NULL) {
        atomic_fetch_add(&c->refs, 1);
    }
    pthread_mutex_unlock(m);
    return c != NULL ? &c->caller : NULL;
}

void mechd_lane_caller_end(struct mechd_lane_link *link)
{
    pthread_mutex_t *const m = &link->thread->m;
    pthread_mutex_lock(m);
    struct mechd_lane_caller *const c = link->caller;
    link->caller = NULL;
    pthread_mutex_unlock(m);
    if (c != NULL) {
        c->link = NULL;
        atomic_store(&c->ended, true);
        unref(c);
    }
}

void mechd_lane_questions(struct mechd_lane_thread *t, struct mechd_lane_caller *first,
                          void (*put)(struct mechd_lane_link *link, const void *bytes, size_t size))
{
    while (first != NULL) {
        struct mechd_lane_caller *const c = first;
        pthread_mutex_lock(&t->m);
        first = c->next_asking;
        unsigned char *const bytes = c->bytes;
        const size_t size = c->size;
        c->bytes = NULL;
        c->size = c->room = 0;
        c->asks = false;
        pthread_mutex_unlock(&t->m);
        if (c->link != NULL) {
            put(c->link, bytes, size);
        }
        free(bytes);
        unref(c);
    }
}
