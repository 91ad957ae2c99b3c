/* The structs of messages that are no bodies of routes, as those of bodies.h: what a message of
 * JSON has besides its body, the hello of a binary partner, of an instance (protocol/README.md) or
 * of a coupling, the refusal of a message, and what is published without being asked for. */
#pragma once

#include "protocol/wire/body.h"

/* What HTTP has elsewhere: each member is described by where. */
struct mechp_body_message_request {
    const json_t *op, *token; /* texts */
};

struct mechp_body_message_lease {
    int64_t lease;
};

/* Of an item of a batch; over many instances the batch sets these. */
struct mechp_body_message_item {
    const json_t *id, *op; /* texts */
};

struct mechp_body_hello_request {
    const json_t *token, *instance; /* the door has read them */
    struct mechp_list inputs;
    int64_t input_order;
    struct mechp_list outputs, want;
    const char *role, *name;
    double seconds;
    bool early_return;
};

/* The reply: the instance; its lease, as a list of leases has it (bodies.h), or the number alone;
 * then what the hash is of; and the hash. */
struct mechp_body_hello_instance {
    uint64_t instance;
};

struct mechp_body_hello_lease {
    uint64_t lease;
};

struct mechp_body_hello_layout {
    struct mechp_written layout, input_layout; /* @ lists of stream_part (bodies.h) */
    int64_t input_order;
    struct mechp_written want_layout; /* @ list of stream_part */
};

struct mechp_body_hello_hash {
    const char *layout_hash;
};

struct mechp_body_program_hello_request {
    const char *coupling, *participant;
    int64_t input_order, window;
    const json_t *token; /* the door has read it */
    struct mechp_list want;
};

struct mechp_body_program_hello_reply {
    const char *coupling, *participant;
    uint64_t lease;
    struct mechp_written inputs, outputs; /* @ lists of names */
    int64_t input_order;
    uint64_t window;
    double time;
    struct mechp_written want; /* @ list of words */
};

struct mechp_body_message_refusal {
    bool ok;                       /* false */
    struct mechp_written sequence; /* @ that of the request */
    struct mechp_written error;    /* @ problem */
};

/* Of a refusal, with its code quota-exceeded. */
struct mechp_body_exceeded_quota {
    const char *which;
    double used, limit;
};

/* An answer that is no JSON, in a message. */
struct mechp_body_message_text {
    const char *format;
    struct mechp_written text; /* @ string */
};

/* Of live events over HTTP, and of the stream in JSON. */
struct mechp_body_published_event {
    const char *life;
    bool rewound;
    double time;
    uint64_t step, sequence;
    bool running;
    struct mechp_written outputs; /* @ object of values by name */
};

struct mechp_body_published_frame {
    const char *instance, *life;
    double time;
    uint64_t step, sequence, flags;
    struct mechp_written outputs; /* @ as above */
};

/* --- their shapes --- */

extern const struct mechp_shape mechp_body_exceeded_quota;
extern const struct mechp_shape mechp_body_hello_hash;
extern const struct mechp_shape mechp_body_hello_instance;
extern const struct mechp_shape mechp_body_hello_layout;
extern const struct mechp_shape mechp_body_hello_lease;
extern const struct mechp_shape mechp_body_hello_request;
extern const struct mechp_shape mechp_body_message_item;
extern const struct mechp_shape mechp_body_message_lease;
extern const struct mechp_shape mechp_body_message_refusal;
extern const struct mechp_shape mechp_body_message_request;
extern const struct mechp_shape mechp_body_message_text;
extern const struct mechp_shape mechp_body_program_hello_reply;
extern const struct mechp_shape mechp_body_program_hello_request;
extern const struct mechp_shape mechp_body_published_event;
extern const struct mechp_shape mechp_body_published_frame;
