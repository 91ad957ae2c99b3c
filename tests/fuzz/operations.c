/* JSON over the control door: each line of an input is a message to a server with the instance
 * "i", of the example that a first line "#NAME" names. Nothing may crash or stay in flight, and an
 * instance is made, stepped and deleted after it as ever. */
#include "server/examples/examples.h"
#include "server/zmq/internal.h"
#include "tests/fuzz/fuzz.h"
#include "tests/unit/server/local.h"

#include <stdio.h>
#include <stdlib.h>

enum { LIMIT_MS = 20000, PATIENCE_MS = 30, LINES = 12, NAME_MOST = 40 };

static struct mechd *served;

/* Bytes of the line at `data`, with its end. */
static size_t line_size(const uint8_t *data, size_t size)
{
    const uint8_t *const end = memchr(data, '\n', size);
    return end != NULL ? (size_t)(end - data) + 1 : size;
}

/* The example of a line "#NAME", or the usual one. */
static const char *example_of(const uint8_t *line, size_t size)
{
    char name[NAME_MOST] = "";
    if (size > 2 && size < NAME_MOST && line[0] == '#') {
        memcpy(name, line + 1, size - 2);
    }
    const struct mechd_example *const e = mechd_example_find(name);
    return e != NULL ? e->name : "driven-oscillator";
}

static void reset(const char *example)
{
    char body[NAME_MOST + 20];
    if (!local_clear(served, LIMIT_MS)) {
        fuzz_fail("calls stay in flight");
    }
    (void)snprintf(body, sizeof body, "{\"example\": \"%s\"}", example);
    if (local_status(served, "PUT", "/v1/instances/i", body) != 201 ||
        local_status(served, "POST", "/v1/instances/i/step", "{\"count\": 2}") != 200) {
        fuzz_fail("no instance can be made and stepped");
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct mechd_peer peer = {.id = "fuzz", .size = 4, .delimiter = true};
    if (served == NULL && (served = local_start(NULL, NULL)) == NULL) {
        fuzz_fail("no daemon");
    }
    const size_t first = size > 0 ? line_size(data, size) : 0;
    reset(example_of(data, first));
    for (int k = 0; k < LINES && size > 0; k++) {
        const size_t taken = line_size(data, size);
        const size_t n = data[taken - 1] == '\n' ? taken - 1 : taken;
        // at its exact end, so that a byte too far is seen
        char *const line = malloc(n + (n == 0));
        if (line != NULL) {
            memcpy(line, data, n);
            const struct mechd_asked asked = {.peer = &peer, .bytes = line, .size = n};
            mechd_control_json(served->zmq, &asked);
            free(line);
        }
        (void)local_idle(served, PATIENCE_MS);
        data += taken;
        size -= taken;
    }
    return 0;
}
