#include "server/call/body.h"

#include "solver/base/err.h"

int mechd_body_open(const char *bytes, size_t size, bool apart,
                    const struct mechp_json_limits *limits, struct mechd_body *out,
                    struct mechp_json_fault *fault)
{
    *out = (struct mechd_body){.json = bytes, .size = size, .apart = apart};
    if (!apart) {
        return 0;
    }
    MECH_TRY(mechp_parts_open(bytes, size, limits, &out->parts, fault));
    out->json = out->parts.json;
    out->size = out->parts.json_size;
    return 0;
}

int mechd_body_read(struct mechd_call *c, const struct mechd_body *body,
                    const struct mechp_json_limits *limits)
{
    struct mechp_json_fault fault;
    if (mechp_json_parse(body->json, body->size, limits, &fault, &c->body) != 0) {
        return mechd_refuse(c, fault.code, "%s", fault.text);
    }
    const int outcome = body->apart ? mechp_parts_expand(&body->parts, &c->body, &c->diag) : 0;
    if (outcome < 0) {
        mechd_fail_outcome(c, outcome);
        return 1;
    }
    return mechd_call_faulty(c) ? 1 : 0;
}
