/* JSON over the lane: one message, one answer, on a connection that the handle keeps. */
#include "clients/c/line.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void mechc_lane_drop(struct mechc *c)
{
    if (c->lane) {
        mechc_line_close(c->lane, c->process == getpid());
        free(c->lane);
        c->lane = NULL;
    }
}

/* The connection, of this process. */
static int reach(struct mechc *c)
{
    const int own = mechc_own(c);
    if (own != MECHC_OK || c->lane) {
        return own;
    }
    c->lane = calloc(1, sizeof *c->lane);
    const int result = c->lane ? mechc_line_open(c, MECHC_LANE, c->lane)
                               : mechc_fail(c, MECHC_NO_MEMORY, "out of memory");
    if (result != MECHC_OK) {
        mechc_lane_drop(c);
    }
    return result;
}

/* The message with the handle's token and lease in front, in c->body. */
static int compose(struct mechc *c, const char *message)
{
    struct mechc_bytes *const b = &c->body;
    const char *rest = message + strspn(message, " \t\r\n");
    if (*rest != '{') {
        return mechc_fail(c, MECHC_BAD_ARGUMENT, "a message must be a JSON object");
    }
    rest += 1 + strspn(rest + 1, " \t\r\n");
    mechc_bytes_clear(b);
    mechc_bytes_text(b, "{");
    if (c->token) {
        mechc_bytes_text(b, "\"token\":");
        mechc_bytes_string(b, c->token);
    }
    if (c->lease != 0) {
        char number[40];
        snprintf(number, sizeof number, "%s\"lease\":%llu", b->length > 1 ? "," : "",
                 (unsigned long long)c->lease);
        mechc_bytes_text(b, number);
    }
    mechc_bytes_text(b, b->length > 1 && *rest != '}' ? "," : "");
    mechc_bytes_text(b, rest);
    return b->failed ? mechc_fail(c, MECHC_NO_MEMORY, "out of memory") : MECHC_OK;
}

/* {"ok":true, …} as the object that HTTP answers; {"ok":false,"error": …} as a refusal. */
static int read_answer(struct mechc *c, struct mechc_reply *out)
{
    static const char ok[] = "{\"ok\":true";
    struct mechc_json reply, problem, v;
    mechc_bytes_clear(&c->reply);
    mechc_bytes_add(&c->reply, c->lane->frame, c->lane->size);
    if (c->reply.failed) {
        return mechc_fail(c, MECHC_NO_MEMORY, "out of memory");
    }
    if (!mechc_json_open(c->reply.at, c->reply.length, &reply) ||
        !mechc_json_member(reply, "ok", &v)) {
        return mechc_fail(c, MECHC_BAD_REPLY, "the lane's answer is not understood");
    }
    if (mechc_json_kind(v) == 't') {
        const size_t skip = sizeof ok - 2;
        const bool plain = c->reply.length > skip + 1 && memcmp(c->reply.at, ok, skip + 1) == 0;
        *out = (struct mechc_reply){.status = 200, .body = reply.at};
        if (plain) {
            // the comma or the brace behind it becomes the beginning
            char *const begin = c->reply.at + skip + (c->reply.at[skip + 1] == ',' ? 1 : 0);
            *begin = '{';
            out->body = begin;
        }
        out->size = (size_t)(reply.end - out->body);
        return MECHC_OK;
    }
    if (!mechc_json_member(reply, "error", &problem)) {
        return mechc_fail(c, MECHC_BAD_REPLY, "the lane's answer is not understood");
    }
    *out = (struct mechc_reply){.body = problem.at, .size = (size_t)(problem.end - problem.at)};
    const int result = mechc_refused(c, 0, out->body, out->size);
    out->status = c->error.status;
    return result;
}

int mechc_ask(struct mechc *c, const char *message, struct mechc_reply *out)
{
    MECHC_ENTER(c);
    *out = (struct mechc_reply){.body = ""};
    mechc_clear_error(c);
    int result = reach(c);
    if (result == MECHC_OK) {
        result = compose(c, message);
    }
    if (result == MECHC_OK) {
        result = mechc_line_send(c->lane, c->body.at, c->body.length, NULL);
    }
    if (result == MECHC_OK) {
        result = mechc_line_receive(c->lane);
    }
    if (result == MECHC_OK) {
        return read_answer(c, out);
    }
    // the answer may still come: the server sees that it is not awaited, and undoes the work
    mechc_lane_drop(c);
    return result;
}
