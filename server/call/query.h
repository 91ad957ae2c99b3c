/* Numbers of the query (keys over ZeroMQ): a value that is not a number, or out of its range, is a
 * fault of the request and never clamped. Internal to server. The door refuses names that the
 * operation does not have (mechd_query_unknown). Any thread. */
#pragma once

#include "server/call/call.h"

struct mechd_query_range {
    double least, most, preset; /* preset: when it is not given */
};
/* A number; a fault in c->diag, and the preset, if it is not in the range. */
double mechd_query_number(struct mechd_call *c, const char *name,
                          const struct mechd_query_range *range);
/* The same for a whole number, of at most 2^53. */
uint64_t mechd_query_whole(struct mechd_call *c, const char *name,
                           const struct mechd_query_range *range);

/* Refuse a name that the operation does not have, listing those that it has; 1. */
int mechd_query_unknown(struct mechd_call *c, const char *name);
