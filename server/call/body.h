/* Bodies of calls: JSON, or JSON with binary parts behind it (protocol/wire/parts.h), which routes
 * with MECHP_TAKES_MODELS take. The same through all doors. */
#pragma once

#include "protocol/wire/parts.h"
#include "server/call/call.h"

struct mechd_body {
    const char *json;
    size_t size;
    bool apart;               /* it has parts: */
    struct mechp_parts parts; /* in the same bytes */
};

/* Point into the bytes; `apart`: they have parts. 0; MECH_INVALID with the fault. Any thread. */
int mechd_body_open(const char *bytes, size_t size, bool apart,
                    const struct mechp_json_limits *limits, struct mechd_body *out,
                    struct mechp_json_fault *fault);
/* As the tree c->body, with the numbers of all parts in it. 0, or refused. */
int mechd_body_read(struct mechd_call *c, const struct mechd_body *body,
                    const struct mechp_json_limits *limits);
