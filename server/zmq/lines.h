/* Lines: requests of the control socket that are read by the pool, one line for each partner.
 *
 * A body above MECHD_LARGE takes milliseconds to be read, so the door's thread leaves it in the
 * line of its partner, and so all that the partner asks behind it: what one partner asks is begun
 * in the order in which it came. One task of the pool takes one request of the next line at a time
 * and goes to the end of the pool's queue then: partners take turns, and so do they and all others
 * who have work for the pool. What a partner has asked and not been answered is bounded in numbers
 * and bytes (zmq/guard.h), and large bodies of all partners leave half of the room to others.
 */
#pragma once

#include "server/os/pool.h"

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <zmq.h>

struct mechd_asked;
struct mechd_peer;
struct mechd_zmq;
struct mechd_partner_line;

enum {
    MECHD_LARGE = 32 << 10 /* bytes of JSON that are not read by the door's thread: 0.3 ms */
};

struct mechd_lines {
    struct mechd_task task; /* pushed or running while there is a line */
    struct mechd_zmq *zmq;
    pthread_mutex_t m;
    /* locked by m: those with a request that waits or is begun; head: whose turn it is */
    struct mechd_partner_line *head, *tail;
};

void mechd_lines_init(struct mechd_lines *l, struct mechd_zmq *z);
/* When the pool has ended. */
void mechd_lines_fini(struct mechd_lines *l);

/* A request into its partner's line, if it is large or the partner has one; the messages are taken
 * then (extra: NULL or the frame behind the body). Refused where there is too much: asked->refusal
 * says why. False: it is to be answered here. On the door's thread. */
bool mechd_lines_take(struct mechd_lines *l, struct mechd_asked *asked, zmq_msg_t *body,
                      zmq_msg_t *extra);
