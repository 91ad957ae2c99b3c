/* A batch in progress: items on the pool, results in the order of the request. Internal to
 * server/call.
 *
 * Lanes, at most one per worker, take items in chunks and run short ones themselves; long ones go
 * through their instance's queue like any call, as many at a time as keep the workers busy, and
 * items that wait for the disk block no lane. Items on the same instance are executed in the order
 * of the request. No lane holds anything of an instance between two items. owner: the call, then
 * the lanes, then the call again.
 */
#pragma once

#include "server/call/rows.h"

enum {
    MECHD_BATCH_MOST = 10000,      /* items */
    MECHD_BATCH_RESULTS = 64 << 20 /* bytes of results, beyond which no item is begun */
};

struct mechd_batch_item {
    const char *id;
    json_t *body; /* the request's, or NULL */
    const struct mechp_route *route;
    uint32_t next; /* 1 + the next item on the same instance, or 0 */
    bool follows;  /* one on the same instance comes before it */
    /* the result, once it is over */
    bool good;
    char *own;   /* its text, or NULL: in the text of `lane` from `offset` */
    size_t size; /* of the text; 0 in a table's row that is good */
    size_t offset;
    struct mechd_batch_lane *lane;
};

struct mechd_batch_lane {
    struct mechd_task task; /* first */
    struct mechd_batch *batch;
    struct mechd_batch_call *spare; /* memory of the next item */
    uint32_t at, end;               /* items taken */
    struct mechp_text text;         /* results */
    struct mechd_batch_lane *next_parked;
};

struct mechd_batch {
    struct mechd_call *call;
    struct mechd_batch_item *items; /* [count] */
    uint32_t count;
    struct mechd_instance **chosen; /* [chosen_count] references, by label; or NULL */
    size_t chosen_count;
    /* a table: rows of numbers in place of texts */
    bool table;
    struct mechd_instance *like; /* a reference: its outputs are the columns; NULL: none */
    double *rows;                /* [count][width] NaN where there is none; NULL without `like` */
    size_t width;                /* time, step, outputs */
    enum mechd_form form;

    struct mechd_batch_lane *lanes; /* [lane_count] */
    uint32_t lane_count;
    struct mechd_task last;  /* puts the reply together */
    _Atomic uint32_t next;   /* item that no lane has taken; partners: the lanes */
    _Atomic uint32_t left;   /* items, lanes and the carrier that are not over */
    _Atomic uint32_t failed; /* items */
    _Atomic uint32_t open;   /* items that can still be cancelled: the last one closes the call */
    _Atomic size_t bytes;    /* of results */
    pthread_mutex_t m;       /* of what follows, when it is made smaller or a lane waits */
    _Atomic uint32_t long_ones; /* items in queues of instances */
    struct mechd_batch_lane *parked;
};

/* Run the items; the reply is put together and the call ends. As mechd_operation.spread. */
enum mechd_submitted mechd_batch_start(struct mechd_batch *b);
/* Whether the instance has the outputs of the table. Any thread. */
bool mechd_batch_fits(const struct mechd_batch *b, const struct mechd_instance *i);
/* The reply from the results (batch.c). */
void mechd_batch_write(struct mechd_batch *b);
