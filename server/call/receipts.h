/* Receipts: retained answers, so that a request with an Idempotency-Key is executed once and its
 * repetitions receive the same answer.
 *
 * A scope is the token, the method, the path and the key. Successful answers are retained for 24
 * hours, the newest 100,000 and 64 MiB of them; the answer to a stored change is on disk too,
 * written with the change. A refused request has changed nothing and may be sent again under its
 * key. Those of requests on an instance are deleted with it, except those of its creation and
 * deletion, so that another one of the same id starts without any. shared, locked by m.
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
    MECHD_CLAIM_FIRST,  /* execute it; c->receipt is settled when the answer is sent */
    MECHD_CLAIM_KEPT,   /* the first one's answer is in the call */
    MECHD_CLAIM_WAIT,   /* the first one is not over: `answer` will be called */
    MECHD_CLAIM_REFUSED /* another request under this key, or no memory: the call is refused */
};
/* For c->body_hash: of the bytes of the body, and of the values of the query. */
uint64_t mechd_receipts_hash(const struct mechd_call *c, const void *body, size_t size);
/* By the call's scope and the hash of its body. `suspend` as in mechd_ticket_wait. */
enum mechd_claim mechd_receipts_claim(struct mechd_receipts *r, struct mechd_call *c,
                                      void (*suspend)(void *context));
/* True if other calls wait for the answer of this call, which has claimed its scope (or nothing).
 * */
bool mechd_receipts_awaited(struct mechd_receipts *r, const struct mechd_call *c);
/* The client cancels `c`, which may be a repetition that waits for the first request under its key:
 * then the first one is cancelled with it, unless that has had its effect. Else `c` alone. False:
 * what it asks for has been done, or is about to be. Any thread; `c` exists, the first one until it
 * has been settled. */
bool mechd_receipts_withdraw(struct mechd_receipts *r, struct mechd_call *c);
/* The answer is in the call, and on disk if required: retain it, or drop the claim, and answer the
 * waiting calls. Nothing without a claim. */
void mechd_receipts_settle(struct mechd_receipts *r, struct mechd_call *c);
/* Observer of instances: the receipt of a scope that is undone is dropped, at once or when it has
 * been answered; when an instance is deleted, all receipts of requests on it are dropped, also of
 * those in progress. */
struct mechd_observer mechd_receipts_observer(struct mechd_receipts *r);
