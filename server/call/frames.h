/* Binary frames as requests: hello, step, trial, commit, inputs, outputs, state, snapshot, restore
 * and bye, from the received bytes to the reply, for any door.
 *
 *   step, trial   values: the partner's inputs in the order of its hello (or none: they hold), then
 *                 their derivatives by the hello's order; size: H. Reply: its outputs at the end.
 *                 With EXPECT one is refused that does not begin at the present time.
 *   commit        commits the last trial of this partner. Reply: its outputs.
 *   inputs        sets them. outputs: returns them.
 *   state         no values: returns [q v x z]; values: sets them; time 0 or the new time.
 *   snapshot      takes one, which is stored where the instance is; its number is returned in
 *                 `iteration`, as restore needs it
 *
 * A reply carries the request's kind, sequence and iteration. An error reply has kind error, the
 * code in `status` and the problem as JSON in a second part.
 *
 *   struct mechd_frame_request *r = …;                 // zeroed, the door's members filled in
 *   if (mechd_frame_start(r, service, &asked) != MECHD_QUEUED) {
 *       answer(r);                                     // otherwise r->answer does, on any thread
 *   }
 *
 * owner: the door's thread, and while the request runs the instance's owner. */
#pragma once

#include "protocol/frame/frame.h"
#include "server/call/requests.h"
#include "server/instance/deriving.h"
#include "server/instance/partners.h"
#include "server/instance/stepping.h"
#include "server/store/store.h"

struct mechd_caller;
struct mechd_outside;
struct mechd_service;

/* A frame as received; the bytes are read by mechd_frame_start only. */
struct mechd_frame_asked {
    const char *bytes;
    size_t size;
    const char *extra; /* the JSON part of a hello, or NULL */
    size_t extra_size;
    const char *refusal; /* the reason for refusing it; or NULL */
};

enum { MECHD_FRAME_BARE = 320 /* bytes of a problem without detail */ };

/* Progress of a step or trial; all other kinds remain at its start. */
enum mechd_frame_phase {
    MECHD_FRAME_BEGINS,  /* nothing has been checked */
    MECHD_FRAME_DERIVES, /* towards its jacobian; starts, or starts again, if there is no work */
    MECHD_FRAME_STEPS
};

struct mechd_frame_request {
    struct mechd_job job; /* first */
    struct mechd_service *service;

    /* of the door, const */
    enum mechd_door door;
    const unsigned char *key;      /* [32] of the connection by CURVE, or NULL */
    const struct mechd_stop *gone; /* GONE: the connection has ended; NULL: not known */
    /* The reply is complete: send it. Only for a request that was queued. */
    void (*answer)(struct mechd_frame_request *r);
    /* Where frames can be sent to its peer later, fresh; NULL: no memory. */
    struct mechd_caller *(*caller)(struct mechd_frame_request *r);

    struct mechd_pass pass; /* of a hello */
    struct mechp_frame in, out;
    uint64_t start; /* ns */
    double *values; /* [in.count] */
    double *reply;  /* [out.count] */
    size_t room;    /* of reply */
    size_t taken;   /* of the bodies in flight */
    json_t *hello;
    struct mechd_outside *outside; /* whose hello this is, a reference; or NULL */
    bool silent;                   /* an answer to a question of the server: there is no reply */
    struct mechp_text second;      /* second part of the reply */
    char bare[MECHD_FRAME_BARE];   /* room of a short one, for which there is memory always */
    struct mech_diag diag;
    char detail[256];
    enum mechd_frame_phase phase; /* as owner */
    struct mechd_deriving deriving;
    struct mech_derived derived;
    struct mechd_stepping stepping;
    struct mechd_partner *partner;
    struct mechd_ticket ticket;
};

/* Run or queue it. QUEUED: `answer` will be called, perhaps before this returns; otherwise the
 * reply is complete. Counts it as a call in flight; mechd_frame_fini follows in any case. On the
 * thread that carries the request. */
enum mechd_submitted mechd_frame_start(struct mechd_frame_request *r, struct mechd_service *service,
                                       const struct mechd_frame_asked *asked);

/* Once the reply is ready: complete it and count it; *size is that of its frame, *extra that of its
 * second part, 0: there is none (a hello and an error have one; without memory for it a hello is an
 * internal error, and an error has no detail). Then write them to frame [size] and second [extra].
 */
void mechd_frame_complete(struct mechd_frame_request *r, size_t *size, size_t *extra);
void mechd_frame_write(const struct mechd_frame_request *r, unsigned char *frame,
                       unsigned char *second);
/* In place of a complete reply for which there is no memory: its error, or an internal one, without
 * detail; MECHP_FRAME_HEADER bytes, and at most MECHD_FRAME_BARE of its second part. A hello is
 * without effect then. */
void mechd_frame_starve(struct mechd_frame_request *r, size_t *size, size_t *extra);

/* It is a hello whose lease is new. */
bool mechd_frame_grants(const struct mechd_frame_request *r);
/* The reply will not arrive, or is an error: the lease of a hello is released if it is new. */
void mechd_frame_lose(struct mechd_frame_request *r);
/* The same by the frame of such a reply, when the request is over. Any thread. */
void mechd_frame_withdraw(struct mechd_service *service, const struct mechp_frame *hello);

/* Free what it holds, not itself; it is no longer in flight. */
void mechd_frame_fini(struct mechd_frame_request *r);

/* --- within (frames.c, frames_run.c) ---------------------------------------------------------- */

/* The reply is this error; `text` as its detail, or "". */
void mechd_frame_fail(struct mechd_frame_request *r, enum mechp_code code, const char *text);
/* Run it as owner of its instance, a slice of a step; the reply is then stored in it. */
enum mechd_progress mechd_frame_run(struct mechd_frame_request *r);
