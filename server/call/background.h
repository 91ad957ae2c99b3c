/* Calls that go on after their client has been answered with 202: `Prefer: respond-async` (RFC
 * 7240, 4.1). Their answer is kept under /v1/operations/{oid} for ten minutes, or until it is
 * deleted; the oldest goes when there are too many. shared, locked by m.
 */
#pragma once

#include "server/call/call.h"

struct mechd_background;

enum {
    MECHD_BACKGROUND_MOST = 1024,      /* in progress and kept */
    MECHD_BACKGROUND_BYTES = 64 << 20, /* of kept answers */
};

struct mechd_backgrounds {
    pthread_mutex_t m;
    struct mechd_background *oldest, *newest;
    uint64_t serial;
    int count;
    size_t bytes;
};

void mechd_backgrounds_init(struct mechd_backgrounds *t);
/* When no call is in progress. */
void mechd_backgrounds_fini(struct mechd_backgrounds *t);

/* In place of mechd_call_start. What can be answered at once is. What is queued goes on by itself:
 * the reply is 202 with its Location, and c->status says so. As mechd_call_start when there is no
 * room for another one. `room`: bytes of the body that the door has taken. */
enum mechd_submitted mechd_background_start(struct mechd_call *c, size_t room);
