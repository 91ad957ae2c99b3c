/* Couplings of instances. Each function is one request. */
#include "clients/c/handle.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define SEGMENTS(...) ((const char *const[]){"v1", "couplings", __VA_ARGS__, NULL})

/* The body of the next request. */
static int put_body(struct mechc *c, const char *text)
{
    mechc_bytes_clear(&c->body);
    mechc_bytes_text(&c->body, text);
    return c->body.failed ? mechc_fail(c, MECHC_NO_MEMORY, "out of memory") : MECHC_OK;
}

static int take_id(struct mechc *c, struct mechc_json reply, char id[MECHC_ID])
{
    struct mechc_json v;
    return mechc_json_member(reply, "id", &v) && mechc_json_text(v, id, MECHC_ID) < MECHC_ID
               ? MECHC_OK
               : mechc_fail(c, MECHC_BAD_REPLY, "the reply has no id");
}

int mechc_couple(struct mechc *c, const char *coupling, char id[MECHC_ID])
{
    MECHC_ENTER(c);
    struct mechc_json reply;
    int result = put_body(c, coupling);
    if (result == MECHC_OK) {
        result = mechc_send(c, "POST", (const char *const[]){"v1", "couplings", NULL}, &reply);
    }
    return result == MECHC_OK ? take_id(c, reply, id) : result;
}

static int read_report(struct mechc *c, struct mechc_json reply,
                       struct mechc_coupling_report *report)
{
    struct mechc_json v;
    *report = (struct mechc_coupling_report){0};
    if (!mechc_json_member(reply, "time", &v) || !mechc_json_number(v, &report->time)) {
        return mechc_fail(c, MECHC_BAD_REPLY, "the reply has no time");
    }
    // members that a report omits stay zero
    const struct {
        const char *key;
        uint64_t *to;
    } counts[] = {
        {"window", &report->window},
        {"report/windows", &report->windows},
        {"report/iterations", &report->iterations},
        {"report/evaluations", &report->evaluations},
        {"report/refused", &report->refused},
    };
    for (size_t k = 0; k < sizeof counts / sizeof *counts; k++) {
        if (mechc_json_member(reply, counts[k].key, &v)) {
            mechc_json_unsigned(v, counts[k].to);
        }
    }
    return MECHC_OK;
}

/* POST …/step or …/reset with the body that is there. */
static int command(struct mechc *c, const char *id, const char *verb,
                   struct mechc_coupling_report *report)
{
    struct mechc_json reply;
    const int result = mechc_send(c, "POST", SEGMENTS(id, verb), &reply);
    return result == MECHC_OK && report ? read_report(c, reply, report) : result;
}

/* The body of a step but for its end is there. */
static int send_step(struct mechc *c, const char *id, struct mechc_coupling_report *report)
{
    mechc_add_expected(c);
    mechc_bytes_text(&c->body, "}");
    return c->body.failed ? mechc_fail(c, MECHC_NO_MEMORY, "out of memory")
                          : command(c, id, "step", report);
}

static int step_by(struct mechc *c, const char *id, const char *key, double value,
                   struct mechc_coupling_report *report)
{
    if (!isfinite(value)) {
        c->expected = NAN;
        return mechc_fail(c, MECHC_BAD_ARGUMENT, "%s must be a finite number", key);
    }
    mechc_bytes_clear(&c->body);
    mechc_bytes_text(&c->body, "{\"");
    mechc_bytes_text(&c->body, key);
    mechc_bytes_text(&c->body, "\":");
    mechc_bytes_number(&c->body, value);
    return send_step(c, id, report);
}

int mechc_coupling_step(struct mechc *c, const char *id, double size,
                        struct mechc_coupling_report *report)
{
    MECHC_ENTER(c);
    return step_by(c, id, "size", size, report);
}

int mechc_coupling_step_until(struct mechc *c, const char *id, double until,
                              struct mechc_coupling_report *report)
{
    MECHC_ENTER(c);
    return step_by(c, id, "until", until, report);
}

int mechc_coupling_step_count(struct mechc *c, const char *id, uint64_t count,
                              struct mechc_coupling_report *report)
{
    MECHC_ENTER(c);
    char text[48];
    snprintf(text, sizeof text, "{\"count\":%llu", (unsigned long long)count);
    const int result = put_body(c, text);
    return result == MECHC_OK ? send_step(c, id, report) : result;
}

int mechc_coupling_reset(struct mechc *c, const char *id, struct mechc_coupling_report *report)
{
    MECHC_ENTER(c);
    const int result = put_body(c, "{}");
    return result == MECHC_OK ? command(c, id, "reset", report) : result;
}

int mechc_coupling_snapshot(struct mechc *c, const char *id, char snapshot[MECHC_ID])
{
    MECHC_ENTER(c);
    struct mechc_json reply;
    int result = put_body(c, "{}");
    if (result == MECHC_OK) {
        result = mechc_send(c, "POST", SEGMENTS(id, "snapshots"), &reply);
    }
    return result == MECHC_OK ? take_id(c, reply, snapshot) : result;
}

int mechc_coupling_restore(struct mechc *c, const char *id, const char *snapshot,
                           struct mechc_coupling_report *report)
{
    MECHC_ENTER(c);
    struct mechc_json reply;
    int result = put_body(c, "{}");
    if (result == MECHC_OK) {
        result = mechc_send(c, "POST", SEGMENTS(id, "snapshots", snapshot, "restore"), &reply);
    }
    return result == MECHC_OK && report ? read_report(c, reply, report) : result;
}

int mechc_coupling_delete_snapshot(struct mechc *c, const char *id, const char *snapshot)
{
    MECHC_ENTER(c);
    return mechc_send(c, "DELETE", SEGMENTS(id, "snapshots", snapshot), NULL);
}

int mechc_coupling_state(struct mechc *c, const char *id, struct mechc_reply *out)
{
    MECHC_ENTER(c);
    return mechc_get(c, SEGMENTS(id, "state"), out);
}

int mechc_coupling_set_state(struct mechc *c, const char *id, const void *bytes, size_t size,
                             struct mechc_coupling_report *report)
{
    MECHC_ENTER(c);
    char path[MECHC_PATH];
    struct mechc_reply reply;
    struct mechc_json json;
    int result = mechc_path(c, SEGMENTS(id, "state"), path);
    if (result == MECHC_OK) {
        result = mechc_call(c,
                            &(struct mechc_request){.method = "PUT",
                                                    .path = path,
                                                    .body = bytes,
                                                    .size = size,
                                                    .type = "application/vnd.mechd.coupling"},
                            &reply);
    }
    if (result != MECHC_OK || !report) {
        return result;
    }
    return mechc_json_open(reply.body, reply.size, &json)
               ? read_report(c, json, report)
               : mechc_fail(c, MECHC_BAD_REPLY, "the reply is not JSON");
}

int mechc_coupling_inspect(struct mechc *c, const char *id, struct mechc_reply *out)
{
    MECHC_ENTER(c);
    *out = (struct mechc_reply){.body = ""};
    char path[MECHC_PATH];
    const int result = mechc_path(c, SEGMENTS(id), path);
    return result == MECHC_OK
               ? mechc_call(c, &(struct mechc_request){.method = "GET", .path = path}, out)
               : result;
}

int mechc_coupling_delete(struct mechc *c, const char *id)
{
    MECHC_ENTER(c);
    return mechc_send(c, "DELETE", SEGMENTS(id), NULL);
}
