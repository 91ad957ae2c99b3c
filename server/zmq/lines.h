/* Lines: requests of the control socket that are read by the pool, one line for each partner.
 *
 * A body above MECHD_LARGE takes milliseconds to parse, so the door's thread puts it in the line of
 * its partner, and also all later requests of the partner: requests of one partner are started in
 * the order of their arrival. One task of the pool takes one request of the next line at a time and
 * then goes to the end of the pool's queue: partners take turns with each other and with other work
 * of the pool. The unanswered requests of a partner are bounded in number and bytes (zmq/guard.h),
 * and large bodies of all partners leave half of the limit to others.
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
    /* locked by m: lines with a request that is waiting or in progress; head: the next one */
    struct mechd_partner_line *head, *tail;
};

void mechd_lines_init(struct mechd_lines *l, struct mechd_zmq *z);
/* When the pool has ended. */
void mechd_lines_fini(struct mechd_lines *l);

/* Put a request in its partner's line, if it is large or the partner has one; takes the messages
 * then (extra: NULL or the frame after the body). Refused beyond the limits: asked->refusal gives
 * the reason. False: it must be answered here. On the door's thread. */
bool mechd_lines_take(struct mechd_lines *l, struct mechd_asked *asked, zmq_msg_t *body,
                      zmq_msg_t *extra);
