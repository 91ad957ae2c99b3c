/* Instances: creating, stepping, inputs and outputs, snapshots, runs. Each is one request. */
#include "clients/c/handle.h"

#include <math.h>
#include <string.h>

#define SEGMENTS(...) ((const char *const[]){"v1", "instances", __VA_ARGS__, NULL})

/* Begin the body of the next request. */
static struct mechc_bytes *body(struct mechc *c)
{
    mechc_bytes_clear(&c->body);
    return &c->body;
}

static void member(struct mechc_bytes *b, const char *key)
{
    mechc_bytes_text(b, b->length > 1 ? "," : "");
    mechc_bytes_string(b, key);
    mechc_bytes_text(b, ":");
}

static int take_id(struct mechc *c, struct mechc_json reply, char id[MECHC_ID])
{
    struct mechc_json v;
    if (!mechc_json_member(reply, "id", &v) || mechc_json_text(v, id, MECHC_ID) >= MECHC_ID) {
        return mechc_fail(c, MECHC_BAD_REPLY, "the reply has no id");
    }
    return MECHC_OK;
}

/* POST to a collection, and the id of the new member. */
static int post_for_id(struct mechc *c, const char *const *segments, char id[MECHC_ID])
{
    struct mechc_json reply;
    const int result = mechc_send(c, "POST", segments, &reply);
    return result == MECHC_OK ? take_id(c, reply, id) : result;
}

/* --- life ------------------------------------------------------------------------------------- */

int mechc_create(struct mechc *c, const char *model, char id[MECHC_ID])
{
    MECHC_ENTER(c);
    static const char *const segments[] = {"v1", "instances", NULL};
    struct mechc_json value;
    model = mechc_json_unmarked(model);
    if (mechc_json_open(model, strlen(model), &value)) {
        struct mechc_bytes *const b = body(c);
        mechc_bytes_text(b, "{");
        member(b, "model");
        mechc_bytes_text(b, model);
        mechc_bytes_text(b, "}");
        const int result = post_for_id(c, segments, id);
        if (result != MECHC_REFUSED || strcmp(c->error.code, "malformed-json") != 0) {
            return result;
        }
    }
    // alone it is refused by the lines and columns that it has
    mechc_bytes_text(body(c), model);
    return post_for_id(c, segments, id);
}

int mechc_create_example(struct mechc *c, const char *example, char id[MECHC_ID])
{
    MECHC_ENTER(c);
    struct mechc_bytes *const b = body(c);
    mechc_bytes_text(b, "{");
    member(b, "example");
    mechc_bytes_string(b, example);
    mechc_bytes_text(b, "}");
    return post_for_id(c, (const char *const[]){"v1", "instances", NULL}, id);
}

int mechc_create_snapshot(struct mechc *c, const void *bytes, size_t size, char id[MECHC_ID])
{
    MECHC_ENTER(c);
    struct mechc_reply reply;
    const int result = mechc_call(c,
                                  &(struct mechc_request){.method = "POST",
                                                          .path = "/v1/instances",
                                                          .body = bytes,
                                                          .size = size,
                                                          .type = "application/vnd.mechd.snapshot"},
                                  &reply);
    struct mechc_json json;
    if (result != MECHC_OK) {
        return result;
    }
    return mechc_json_open(reply.body, reply.size, &json)
               ? take_id(c, json, id)
               : mechc_fail(c, MECHC_BAD_REPLY, "the reply is not JSON");
}

int mechc_list(struct mechc *c, struct mechc_reply *out)
{
    MECHC_ENTER(c);
    return mechc_get(c, (const char *const[]){"v1", "instances", NULL}, out);
}

int mechc_inspect(struct mechc *c, const char *id, struct mechc_reply *out)
{
    MECHC_ENTER(c);
    return mechc_get(c, SEGMENTS(id), out);
}

int mechc_variables(struct mechc *c, const char *id, struct mechc_reply *out)
{
    MECHC_ENTER(c);
    return mechc_get(c, SEGMENTS(id, "variables"), out);
}

int mechc_delete(struct mechc *c, const char *id)
{
    MECHC_ENTER(c);
    return mechc_send(c, "DELETE", SEGMENTS(id), NULL);
}

int mechc_reset(struct mechc *c, const char *id)
{
    MECHC_ENTER(c);
    mechc_bytes_text(body(c), "{}");
    return mechc_send(c, "POST", SEGMENTS(id, "reset"), NULL);
}

/* --- stepping --------------------------------------------------------------------------------- */

/* The body but for its end is there. */
static int send_step(struct mechc *c, const char *id, struct mechc_report *report)
{
    struct mechc_json reply, v;
    mechc_add_expected(c);
    mechc_bytes_text(&c->body, "}");
    const int result = mechc_send(c, "POST", SEGMENTS(id, "step"), &reply);
    if (result != MECHC_OK || !report) {
        return result;
    }
    *report = (struct mechc_report){0};
    if (!mechc_json_member(reply, "time", &v) || !mechc_json_number(v, &report->time)) {
        return mechc_fail(c, MECHC_BAD_REPLY, "the reply has no time");
    }
    // members that a report omits stay zero
    const struct {
        const char *path;
        uint64_t *to;
    } counts[] = {
        {"step", &report->step},
        {"report/steps", &report->steps},
        {"report/iterations", &report->iterations},
        {"report/contacts", &report->contacts},
    };
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        if (mechc_json_member(reply, counts[i].path, &v)) {
            mechc_json_unsigned(v, counts[i].to);
        }
    }
    if (mechc_json_member(reply, "report/residual", &v)) {
        mechc_json_number(v, &report->residual);
    }
    return MECHC_OK;
}

static int step_by_number(struct mechc *c, const char *id, const char *key, double value,
                          struct mechc_report *report)
{
    if (!isfinite(value)) {
        c->expected = NAN;
        return mechc_fail(c, MECHC_BAD_ARGUMENT, "%s must be a finite number", key);
    }
    struct mechc_bytes *const b = body(c);
    mechc_bytes_text(b, "{");
    member(b, key);
    mechc_bytes_number(b, value);
    return send_step(c, id, report);
}

int mechc_step(struct mechc *c, const char *id, double size, struct mechc_report *report)
{
    MECHC_ENTER(c);
    return step_by_number(c, id, "size", size, report);
}

int mechc_step_until(struct mechc *c, const char *id, double until, struct mechc_report *report)
{
    MECHC_ENTER(c);
    return step_by_number(c, id, "until", until, report);
}

int mechc_step_count(struct mechc *c, const char *id, uint64_t count, struct mechc_report *report)
{
    MECHC_ENTER(c);
    char text[64];
    snprintf(text, sizeof text, "{\"count\":%llu", (unsigned long long)count);
    mechc_bytes_text(body(c), text);
    return send_step(c, id, report);
}

/* --- inputs, outputs, state ------------------------------------------------------------------- */

static int add_number(struct mechc *c, struct mechc_bytes *b, const char *name, double value)
{
    if (!isfinite(value)) {
        return mechc_fail(c, MECHC_BAD_ARGUMENT, "%s must be finite", name);
    }
    mechc_bytes_number(b, value);
    return MECHC_OK;
}

int mechc_set_inputs(struct mechc *c, const char *id, size_t count, const char *const *names,
                     const double *values)
{
    MECHC_ENTER(c);
    struct mechc_bytes *const b = body(c);
    mechc_bytes_text(b, "{\"inputs\":{");
    for (size_t i = 0; i < count; i++) {
        mechc_bytes_text(b, i ? "," : "");
        mechc_bytes_string(b, names[i]);
        mechc_bytes_text(b, ":");
        const int result = add_number(c, b, names[i], values[i]);
        if (result != MECHC_OK) {
            return result;
        }
    }
    mechc_bytes_text(b, "}}");
    return mechc_send(c, "PUT", SEGMENTS(id, "inputs"), NULL);
}

/* Numbers of a value: itself, or all those in its (nested) arrays. */
static void collect(struct mechc_json v, double *values, size_t capacity, size_t *count)
{
    double x;
    if (mechc_json_number(v, &x)) {
        if (*count < capacity) {
            values[*count] = x;
        }
        ++*count;
        return;
    }
    for (struct mechc_json_walk w = mechc_json_walk(v); mechc_json_next(&w);) {
        collect(w.value, values, capacity, count);
    }
}

/* GET …/collection and the numbers of one member of `within` (NULL: of the reply itself). */
static int read_numbers(struct mechc *c, const char *const *segments, const char *within,
                        const char *name, struct mechc_exchange *out)
{
    struct mechc_json reply;
    const int result = mechc_send(c, "GET", segments, &reply);
    if (result != MECHC_OK) {
        return result;
    }
    if (within && !mechc_json_member(reply, within, &reply)) {
        return mechc_fail(c, MECHC_BAD_REPLY, "the reply has no %s", within);
    }
    struct mechc_json v;
    if (!mechc_json_named(reply, name, &v)) {
        return mechc_fail(c, MECHC_BAD_ARGUMENT, "there is no '%s'", name);
    }
    out->output_count = 0;
    collect(v, out->outputs, out->output_capacity, &out->output_count);
    return MECHC_OK;
}

int mechc_output(struct mechc *c, const char *id, const char *name, double *values, size_t capacity,
                 size_t *count)
{
    MECHC_ENTER(c);
    struct mechc_exchange x = {.outputs = values, .output_capacity = capacity};
    const int result = read_numbers(c, SEGMENTS(id, "outputs"), "outputs", name, &x);
    *count = x.output_count;
    return result;
}

int mechc_input(struct mechc *c, const char *id, const char *name, double *values, size_t capacity,
                size_t *count)
{
    MECHC_ENTER(c);
    struct mechc_exchange x = {.outputs = values, .output_capacity = capacity};
    const int result = read_numbers(c, SEGMENTS(id, "inputs"), "inputs", name, &x);
    *count = x.output_count;
    return result;
}

int mechc_state(struct mechc *c, const char *id, const char *part, double *values, size_t capacity,
                size_t *count)
{
    MECHC_ENTER(c);
    struct mechc_exchange x = {.outputs = values, .output_capacity = capacity};
    const int result = read_numbers(c, SEGMENTS(id, "state"), NULL, part, &x);
    *count = x.output_count;
    return result;
}

int mechc_set_state(struct mechc *c, const char *id, const char *part, const double *values,
                    size_t count)
{
    MECHC_ENTER(c);
    const bool scalar = strcmp(part, "time") == 0;
    if (scalar && count != 1) {
        return mechc_fail(c, MECHC_BAD_ARGUMENT, "the state's time must be one value");
    }
    struct mechc_bytes *const b = body(c);
    mechc_bytes_text(b, "{");
    member(b, part);
    mechc_bytes_text(b, scalar ? "" : "[");
    for (size_t i = 0; i < count; i++) {
        char place[64];
        if (scalar) {
            snprintf(place, sizeof place, "%.32s", part);
        } else {
            snprintf(place, sizeof place, "%.32s[%zu]", part, i);
        }
        mechc_bytes_text(b, i ? "," : "");
        const int result = add_number(c, b, place, values[i]);
        if (result != MECHC_OK) {
            return result;
        }
    }
    mechc_bytes_text(b, scalar ? "}" : "]}");
    return mechc_send(c, "PUT", SEGMENTS(id, "state"), NULL);
}

/* --- snapshots and runs ----------------------------------------------------------------------- */

int mechc_snapshot(struct mechc *c, const char *id, char snapshot[MECHC_ID])
{
    MECHC_ENTER(c);
    mechc_bytes_text(body(c), "{}");
    return post_for_id(c, SEGMENTS(id, "snapshots"), snapshot);
}

int mechc_restore(struct mechc *c, const char *id, const char *snapshot)
{
    MECHC_ENTER(c);
    mechc_bytes_text(body(c), "{}");
    return mechc_send(c, "POST", SEGMENTS(id, "snapshots", snapshot, "restore"), NULL);
}

int mechc_delete_snapshot(struct mechc *c, const char *id, const char *snapshot)
{
    MECHC_ENTER(c);
    return mechc_send(c, "DELETE", SEGMENTS(id, "snapshots", snapshot), NULL);
}

int mechc_snapshot_bytes(struct mechc *c, const char *id, const char *snapshot,
                         struct mechc_reply *out)
{
    MECHC_ENTER(c);
    return mechc_get(c, SEGMENTS(id, "snapshots", snapshot), out);
}
