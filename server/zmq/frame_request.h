/* A request as a binary frame, from the bytes that came to the reply. Internal to server/zmq.
 * owner: the door's thread, and while the request runs the instance's owner. */
#pragma once

#include "server/instance/partners.h"
#include "server/instance/stepping.h"
#include "server/zmq/internal.h"

struct mechd_frame_request {
    struct mechd_job job; /* first */
    struct mechd_zmq *zmq;
    struct mechd_peer peer;
    struct mechd_pass pass; /* of a hello */
    struct mechp_frame in, out;
    uint64_t start;
    double *values;                /* [in.count], then room for the reply's values */
    double *reply;                 /* [out.count] */
    size_t room;                   /* of reply */
    size_t taken;                  /* of the bodies in flight */
    struct mechd_backlog *backlog; /* of its connection, or NULL; it does not count there */
    json_t *hello;
    struct mechp_text second; /* second frame of the reply */
    struct mech_diag diag;
    char detail[256];
    struct mechd_stepping stepping;
    struct mechd_partner *partner;
    struct mechd_ticket ticket;
};

/* The reply is this error; `text` as its detail, or "". */
void mechd_frame_fail(struct mechd_frame_request *r, enum mechp_code code, const char *text);
/* Its partner has gone and, with a lease that has a time, was silent for as long: nothing waits for
 * the answer. As owner. */
bool mechd_frame_abandoned(const void *request);
/* Run it as owner of its instance, a slice of a step; the reply stands in it then. */
enum mechd_progress mechd_frame_run(struct mechd_frame_request *r);
