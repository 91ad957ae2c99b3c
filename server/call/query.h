/* The query of a request (keys over ZeroMQ): a value that is no number, out of its range, or none
 * of the words is a fault of the request, and is never clamped. Internal to server. The door
 * refuses names that the operation does not have (mechd_query_unknown). Any thread. */
#pragma once

#include "protocol/wire/queries.h"
#include "server/call/call.h"

/* The query into its struct. What is not given is absent, as in a body (protocol/wire/body.h); so
 * is what its type in the row does not take, a fault in c->diag. Texts are the call's. */
#define MECHD_ASK(query, c, to) mechd_query_read((c), 1 ? (to) : (struct mechp_query_##query *)NULL)
void mechd_query_read(struct mechd_call *c, void *to);

/* Refuse a name that the operation does not have, listing those that it has; 1. */
int mechd_query_unknown(struct mechd_call *c, const char *name);
