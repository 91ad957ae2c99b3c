/* Calls from JSON messages: {"op": "step", "id": "i-1", …} is equivalent to method, path, query and
 * body of HTTP. Messages arrive over ZeroMQ and the lane, and as items of a batch. The reply is the
 * operation's object preceded by "ok": true, or {"ok": false, "error": problem}; a "sequence" is
 * returned unchanged. */
#pragma once

#include "server/call/call.h"

/* Room for query parameters that are written as numbers. */
struct mechd_message_room {
    char queries[MECHP_QUERIES][64];
};

/* The lease, and parameters of the path and of the query, from keys of the body; those of the path
 * that are already in c->match are retained. c->match.route and c->operation are set. Faults go to
 * c->diag. */
void mechd_message_parameters(struct mechd_call *c, struct mechd_message_room *room);

enum {
    MECHD_STARVED = 768,
    MECHD_SEQUENCE_FEW = 64 /* bytes of a sequence that takes no memory of its own */
};

/* A message of a door. Zeroed, then mechd_call_init on its call; owner: the door's thread, then the
 * owner of the call. */
struct mechd_message {
    struct mechd_call call; /* first */
    char *sequence;         /* [sequence_length] the request's, as it was written; or NULL */
    size_t sequence_length;
    char few[MECHD_SEQUENCE_FEW]; /* room of a short one */
    bool apart;                   /* it has binary parts (server/call/body.h) */
    struct mechd_message_room room;
};

/* From text to a tree, with its sequence. 0, or refused; without memory for the tree with the
 * sequence that can be returned unread. */
int mechd_message_parse(struct mechd_message *m, const char *bytes, size_t size);
/* Then its operation, the client's identity by `key` ([32] of the connection by CURVE, or NULL) or
 * by a token, and its parameters. 0, or refused. */
int mechd_message_admit(struct mechd_message *m, size_t size, const unsigned char *key);
/* The reply as sent over the wire. */
void mechd_message_write(struct mechd_message *m, struct mechp_text *w);
/* In its place, where there is no memory for it: a refusal with the call's code, or that there is
 * no answer to what has been done, of at most MECHD_STARVED bytes; with the sequence unless that is
 * long. */
void mechd_message_starve(struct mechd_message *m, struct mechp_text *w);
/* The sequence [*length] of a text that no parser has seen, if it is a whole number or a word of
 * letters and digits, with '-' and '_', of at most MECHD_SEQUENCE_FEW bytes: what can be returned
 * unread. Or NULL. */
const char *mechd_message_sequence_unread(const char *bytes, size_t size, size_t *length);
/* It is answered: count it, and write the line of the access log; `in` and `out` in bytes. */
void mechd_message_note(const struct mechd_message *m, size_t in, size_t out);
/* Free what it holds, not itself. */
void mechd_message_fini(struct mechd_message *m);
