/* Calls from JSON messages: {"op": "step", "id": "i-1", …} is what HTTP says by method, path, query
 * and body. Messages come over ZeroMQ, and as items of a batch. */
#pragma once

#include "server/call/call.h"

/* Room for query parameters that are written as numbers. */
struct mechd_message_room {
    char queries[MECHP_QUERIES][64];
};

/* The lease, and parameters of the path and of the query, from keys of the body; those of the path
 * that stand in c->match already are kept. c->match.route and c->operation are set. Faults go to
 * c->diag. */
void mechd_message_parameters(struct mechd_call *c, struct mechd_message_room *room);
