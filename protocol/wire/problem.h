/* Problem details (RFC 9457, application/problem+json): the format of every refusal. HTTP sends it
 * as the body with its status; ZeroMQ's JSON replies carry the same object as their `error` member.
 *
 *   {"type": "/docs#invalid-model", "title": "invalid model", "status": 422,
 *    "code": "invalid-model", "number": 1019, "detail": "2 faults",
 *    "errors": [{"pointer": "/model/objects/0/node", "message": "there is no node 'n'"}],
 *    "report": {…}}
 */
#pragma once

#include "protocol/wire/codes.h"
#include "protocol/wire/text.h"
#include "solver/base/diag.h"

struct mechp_problem {
    enum mechp_code code;
    const char *detail;           /* one sentence on this case; NULL: none */
    const struct mech_diag *diag; /* every fault with its pointer; NULL: none */
    const char *report;           /* a JSON value (a failed step's report); NULL: none */
    size_t report_length;
    const char *quota; /* a JSON value: which one, used, limit; NULL: none */
    size_t quota_length;
};

/* Append the object as one value. Any thread. */
void mechp_problem_write(const struct mechp_problem *p, struct mechp_text *w);

/* Warnings as a list like "errors". */
void mechp_problem_list_warnings(const struct mech_diag *d, struct mechp_text *w);

/* The ZeroMQ reply: {"ok": false, "sequence": …, "error": {…}}. `sequence`: the request's JSON
 * value ("7", "\"a\""), returned unchanged; NULL: omitted. */
void mechp_problem_write_reply(const struct mechp_problem *p, const char *sequence,
                               size_t sequence_length, struct mechp_text *w);
