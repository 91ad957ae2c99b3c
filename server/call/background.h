/* Calls that continue after the client has received 202: `Prefer: respond-async` (RFC 7240, 4.1).
 * Their answer is retained under /v1/operations/{oid} for ten minutes, or until it is deleted; the
 * oldest is deleted when there are too many. DELETE stops what has had no effect yet; it deletes
 * what is over once its client knows that, and otherwise describes it. shared, locked by m.
 */
#pragma once

#include "server/call/call.h"

struct mechd_background;

enum {
    MECHD_BACKGROUND_MOST = 1024,      /* in progress and retained */
    MECHD_BACKGROUND_BYTES = 64 << 20, /* of retained answers */
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

/* Instead of mechd_call_start. A call that can be answered at once is. A queued call continues in
 * the background: the reply is 202 with its Location, and c->status is 202. As mechd_call_start if
 * the limit is reached. `room`: bytes of the body that the door has reserved. */
enum mechd_submitted mechd_background_start(struct mechd_call *c, size_t room);
