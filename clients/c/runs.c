/* Runs of instances and of couplings. Each function is one request. */
#include "clients/c/handle.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* POST {pace, period, until, record} to "v1", kind, id, "runs"; zero and NULL leave the choice to
 * the daemon. */
static int start(struct mechc *c, const char *const *segments, const struct mechc_run_settings *r,
                 const char *record, char run[MECHC_ID])
{
    const struct {
        const char *key;
        double value;
    } settings[] = {{"pace", r->pace}, {"period", r->period}, {"until", r->until}};
    struct mechc_bytes *const b = &c->body;
    struct mechc_json reply, v;
    mechc_bytes_clear(b);
    mechc_bytes_text(b, "{");
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++) {
        if (!isfinite(settings[i].value)) {
            return mechc_fail(c, MECHC_BAD_ARGUMENT, "%s must be a finite number", settings[i].key);
        }
        if (settings[i].value != 0.) {
            mechc_bytes_text(b, b->length > 1 ? "," : "");
            mechc_bytes_string(b, settings[i].key);
            mechc_bytes_text(b, ":");
            mechc_bytes_number(b, settings[i].value);
        }
    }
    if (record) {
        struct mechc_json value;
        record = mechc_json_unmarked(record);
        if (!mechc_json_open(record, strlen(record), &value)) {
            return mechc_fail(c, MECHC_BAD_ARGUMENT, "record must be JSON, not %.64s", record);
        }
        mechc_bytes_text(b, b->length > 1 ? ",\"record\":" : "\"record\":");
        mechc_bytes_text(b, record);
    }
    mechc_bytes_text(b, "}");
    if (b->failed) {
        return mechc_fail(c, MECHC_NO_MEMORY, "out of memory");
    }
    const int result = mechc_send(c, "POST", segments, &reply);
    if (result != MECHC_OK) {
        return result;
    }
    return mechc_json_member(reply, "id", &v) && mechc_json_text(v, run, MECHC_ID) < MECHC_ID
               ? MECHC_OK
               : mechc_fail(c, MECHC_BAD_REPLY, "the reply has no id");
}

int mechc_run(struct mechc *c, const char *id, const struct mechc_run_settings *r,
              char run[MECHC_ID])
{
    MECHC_ENTER(c);
    return start(c, (const char *const[]){"v1", "instances", id, "runs", NULL}, r, NULL, run);
}

int mechc_stop(struct mechc *c, const char *id, const char *run)
{
    MECHC_ENTER(c);
    return mechc_send(c, "DELETE", (const char *const[]){"v1", "instances", id, "runs", run, NULL},
                      NULL);
}

int mechc_coupling_run(struct mechc *c, const char *id, const struct mechc_run_settings *r,
                       const char *record, char run[MECHC_ID])
{
    MECHC_ENTER(c);
    return start(c, (const char *const[]){"v1", "couplings", id, "runs", NULL}, r, record, run);
}

int mechc_coupling_run_look(struct mechc *c, const char *id, const char *run,
                            struct mechc_run_state *out)
{
    MECHC_ENTER(c);
    struct mechc_reply reply;
    struct mechc_json json, v;
    *out = (struct mechc_run_state){0};
    const int result =
        mechc_get(c, (const char *const[]){"v1", "couplings", id, "runs", run, NULL}, &reply);
    if (result != MECHC_OK) {
        return result;
    }
    if (!mechc_json_open(reply.body, reply.size, &json) || !mechc_json_member(json, "time", &v) ||
        !mechc_json_number(v, &out->time) || !mechc_json_member(json, "state", &v)) {
        return mechc_fail(c, MECHC_BAD_REPLY, "the reply is not the state of a run");
    }
    mechc_json_text(v, out->state, sizeof out->state);
    // members that a state omits stay zero
    const struct {
        const char *key;
        uint64_t *to;
    } counts[] = {
        {"periods", &out->periods}, {"overruns", &out->overruns}, {"recorded", &out->recorded}};
    for (size_t k = 0; k < sizeof counts / sizeof *counts; k++) {
        if (mechc_json_member(json, counts[k].key, &v)) {
            mechc_json_unsigned(v, counts[k].to);
        }
    }
    if (mechc_json_member(json, "reason", &v)) {
        mechc_json_text(v, out->reason, sizeof out->reason);
    }
    return MECHC_OK;
}

int mechc_coupling_run_results(struct mechc *c, const char *id, const char *run,
                               struct mechc_reply *out)
{
    MECHC_ENTER(c);
    return mechc_get(c, (const char *const[]){"v1", "couplings", id, "runs", run, "results", NULL},
                     out);
}

int mechc_coupling_stop(struct mechc *c, const char *id, const char *run)
{
    MECHC_ENTER(c);
    return mechc_send(c, "DELETE", (const char *const[]){"v1", "couplings", id, "runs", run, NULL},
                      NULL);
}
