/* Buffers of connections, and the list of those whose replies are complete. */
#include "server/lane/internal.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool mechd_lane_reserve(struct mechd_lane_link *link, struct mechd_lane_buffer *b, size_t n)
{
    struct mechd_service *const s = link->thread->door->service;
    if (b->from > 0) {
        memmove(b->bytes, b->bytes + b->from, b->to - b->from);
        b->to -= b->from;
        b->from = 0;
    }
    if (n <= b->room - b->to) {
        return true;
    }
    size_t room = b->room > 0 ? b->room : MECHD_LANE_ROOM;
    while (room - b->to < n) {
        room *= 2;
    }
    const size_t more = room > MECHD_LANE_COUNTED ? room - b->taken : 0;
    if (!mechd_bodies_take(s, more)) {
        return false;
    }
    unsigned char *const bytes = realloc(b->bytes, room);
    if (bytes == NULL) {
        mechd_bodies_give(s, more);
        return false;
    }
    b->taken += more;
    b->bytes = bytes;
    b->room = room;
    return true;
}

void mechd_lane_settle(struct mechd_lane_link *link, struct mechd_lane_buffer *b)
{
    if (b->from == b->to) {
        b->from = b->to = 0;
        if (b->room > MECHD_LANE_ROOM) {
            mechd_bodies_give(link->thread->door->service, b->taken);
            free(b->bytes);
            *b = (struct mechd_lane_buffer){.bytes = NULL};
        }
    }
}

void mechd_lane_drop(struct mechd_lane_link *link, struct mechd_lane_buffer *b)
{
    mechd_bodies_give(link->thread->door->service, b->taken);
    free(b->bytes);
    *b = (struct mechd_lane_buffer){.bytes = NULL};
}

void mechd_lane_wake(struct mechd_lane_thread *t)
{
    const uint64_t one = 1;
    const ssize_t written = write(t->wake, &one, sizeof one);
    (void)written; // a full counter wakes as well
}

void mechd_lane_post(struct mechd_lane_link *link)
{
    struct mechd_lane_thread *const t = link->thread;
    pthread_mutex_lock(&t->m);
    link->next_answered = NULL;
    *(t->last != NULL ? &t->last->next_answered : &t->answered) = link;
    t->last = link;
    mechd_lane_wake(t); // before the thread can be at its end
    pthread_mutex_unlock(&t->m);
}
