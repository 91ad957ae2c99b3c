/* Receipts: answers that are kept, so that a request with an Idempotency-Key is done once and its
 * repetitions are answered as the first was.
 *
 * A scope is who asks, the method, the path and the key. Kept are answers of success, for 24 hours,
 * the newest 100,000 and 64 MiB of them; an answer that was acknowledged from the disk is on the
 * disk too, written with the change. A refused request has changed nothing and may be sent again
 * under its key. Those of requests on an instance go when it is deleted, but not the deletion's own
 * and that of its creation, so that one of the same id begins anew. shared, locked by m.
 */
#pragma once

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct mechd_service;
struct mechd_call;
struct mechd_observer;
struct mechd_receipt;

enum { MECHD_KEY_MOST = 255 };

struct mechd_receipts {
    pthread_mutex_t m;
    struct mechd_receipt **at; /* [1 << bits] chains */
    struct mechd_receipt *oldest, *newest;
    size_t count, bytes;
    int bits;
};

int mechd_receipts_init(struct mechd_receipts *r);
void mechd_receipts_fini(struct mechd_receipts *r);
/* Those of the store, before the doors open. 0 or negative. */
int mechd_receipts_load(struct mechd_service *d);

enum mechd_claim {
    MECHD_CLAIM_FIRST,  /* do it; c->receipt is settled when the answer is sent */
    MECHD_CLAIM_KEPT,   /* the first one's answer stands in the call */
    MECHD_CLAIM_WAIT,   /* the first one is not over: `answer` will be called */
    MECHD_CLAIM_REFUSED /* another body under this key, or no memory: the call is refused */
};
/* By the call's scope and the hash of its body. `suspend` as in mechd_ticket_wait. */
enum mechd_claim mechd_receipts_claim(struct mechd_receipts *r, struct mechd_call *c,
                                      void (*suspend)(void *context));
/* Do others wait for the answer of this call, which has claimed its scope (or nothing)? */
bool mechd_receipts_awaited(struct mechd_receipts *r, const struct mechd_call *c);
/* The client of `c`, which may be a repetition that waits for the first request under its key, does
 * not want what it asked for any more: then the first one ends as one that is cancelled. Any
 * thread; the one that is first stands until it has been settled. */
void mechd_receipts_withdraw(struct mechd_receipts *r, const struct mechd_call *c);
/* The answer stands in the call, and on disk if it must: keep it, or forget the claim, and answer
 * those who wait. Nothing without a claim. */
void mechd_receipts_settle(struct mechd_receipts *r, struct mechd_call *c);
/* To be told of instances: what was answered under a scope that is undone is forgotten, or will be
 * once it has been answered; and with an instance that is gone all of requests on it, also of those
 * that are not over. */
struct mechd_observer mechd_receipts_observer(struct mechd_receipts *r);
