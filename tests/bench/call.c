/* A step request without a door, in the process of the daemon: its JSON is read, the step is
 * computed, its answer is written. Nearly all of it is JSON; the reading of a body alone is a row
 * of its own. So is a request that sets a parameter.
 *
 * A step that was measured as long is handed to another thread, and under callgrind, beside other
 * work, every step is long: before each request the instance forgets what was measured. */
#include "protocol/wire/json.h"
#include "server/instance/instance.h"
#include "server/instance/table.h"
#include "tests/bench/bench.h"
#include "tests/bench/model.h"
#include "tests/unit/server/local.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* a count, and what is wanted of the answer */
static const char body[] = "{\"count\": 1, \"outputs\": [\"x1\", \"x2\"], \"want\": [\"energy\"]}";

static void read_body(void *context, uint64_t count)
{
    (void)context;
    for (uint64_t k = 0; k < count; k++) {
        struct mechp_json_fault fault;
        json_t *root = NULL;
        if (mechp_json_parse(body, sizeof body - 1, NULL, &fault, &root) != 0) {
            (void)fprintf(stderr, "refused: %s\n", fault.text);
            exit(2);
        }
        json_decref(root);
    }
}

static void ask(struct mechd *d, const char *method, const char *path, const char *json)
{
    struct local_reply reply;
    const struct local_request request = {.method = method, .path = path, .json = json};
    if (local_call(d, &request, &reply) != 0 || reply.status / 100 != 2) {
        (void)fprintf(stderr, "%s: %d %.*s\n", path, reply.status, (int)reply.size, reply.text);
        exit(2);
    }
    free(reply.text);
}

struct stepped {
    struct mechd *daemon;
    struct mechd_instance *instance;
};

static void step(void *context, uint64_t count)
{
    const struct stepped *const s = context;
    for (uint64_t k = 0; k < count; k++) {
        // partner: none, no other request is in flight
        atomic_store(&s->instance->step_ns, 1);
        ask(s->daemon, "POST", "/v1/instances/two/step", body);
    }
}

static void set_parameter(void *context, uint64_t count)
{
    static const char *const bodies[] = {"{\"k\": 100}", "{\"k\": 120}"};
    for (uint64_t k = 0; k < count; k++) {
        ask(context, "PUT", "/v1/instances/tuned/parameters", bodies[k % 2]);
    }
}

int main(int argc, char **argv)
{
    // how the keys of an object are found is drawn once a process: their hashes have a seed
    json_object_seed(1);
    bench_begin("call", argc, argv);
    struct mechd *const d = local_start(NULL, NULL);
    if (d == NULL) {
        return 2;
    }
    ask(d, "PUT", "/v1/instances/two", bench_model);
    struct stepped s = {.daemon = d, .instance = mechd_table_find(&d->service.host.table, "two")};
    if (s.instance == NULL) {
        return 2;
    }
    bench_tell("a step's body, read", read_body, NULL);
    bench_tell("a step in JSON, answered", step, &s);
    ask(d, "PUT", "/v1/instances/tuned", bench_tuned);
    bench_tell("a parameter, set", set_parameter, d);
    mechd_instance_unref(s.instance);
    local_stop(d);
    return bench_end();
}
