/* States of couplings with any bytes in them: refused without a trace, or taken; what is taken can
 * be stepped, and written and taken again.
 *
 * An input: which coupling, how many windows before (and one after), then changes of its state
 * (place u16 from its end, where the scheme's is; eight bytes). The hash is corrected after them,
 * so that what follows it is reached; with the last bit of the first byte the bytes stand as they
 * are. */
#include "solver/base/hash.h"
#include "tests/fuzz/fuzz.h"
#include "tests/unit/server/local.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>

/* the head of server/coupling/container.h */
enum { AT_HASH = 16, AFTER_HASH = 24, LIMIT_MS = 20000, BODY = 2048, PATH = 96 };

static const char model[] =
    "{\"model\":{\"mechd\":1,\"nodes\":[{\"name\":\"n\",\"type\":\"Node1D\","
    "\"initialCoordinates\":[1]}],\"objects\":[{\"name\":\"m\",\"type\":\"Mass1D\",\"node\":\"n\","
    "\"physicsMass\":1},{\"name\":\"s\",\"type\":\"CoordinateSpringDamper\",\"markers\":[\"g\","
    "\"x\"],\"stiffness\":40}],\"markers\":[{\"name\":\"x\",\"type\":\"MarkerNodeCoordinate\","
    "\"node\":\"n\",\"coordinate\":0},{\"name\":\"g\",\"type\":\"MarkerGroundCoordinate\"}],"
    "\"loads\":[{\"name\":\"F\",\"type\":\"LoadCoordinate\",\"marker\":\"x\",\"load\":0}],"
    "\"sensors\":[{\"name\":\"q\",\"type\":\"SensorNode\",\"node\":\"n\",\"outputVariable\":"
    "\"Coordinates\"}],\"inputs\":[{\"name\":\"F\",\"load\":\"F\"}],\"outputs\":[{\"name\":\"x\","
    "\"sensor\":\"q\",\"component\":0}],\"solver\":{\"integrator\":\"GeneralizedAlpha\","
    "\"stepSize\":0.001}}}";

/* What follows the participants and connections of a coupling. */
static const char *const schemes[] = {
    "\"scheme\":{\"type\":\"IQN-ILS\",\"reuse\":3},\"hold\":2",
    "\"scheme\":{\"type\":\"GaussSeidel\"},\"hold\":3",
    "\"scheme\":{\"type\":\"InterfaceNewton\"}",
    "\"scheme\":{\"type\":\"Aitken\"},\"hold\":1",
    "\"scheme\":{\"type\":\"JacobiIterated\"},\"waveform\":{\"degree\":3,\"substeps\":true}",
};
enum { SCHEMES = sizeof schemes / sizeof *schemes };

static struct mechd *served;

/* One call, which has one of two statuses. True: the first one. */
static bool ask(const struct local_request *r, struct local_reply *reply, int good, int bad)
{
    if (local_call(served, r, reply) != 0 || (reply->status != good && reply->status != bad)) {
        (void)fprintf(stderr, "%s %s: %d %.*s\n", r->method, r->path, reply->status,
                      (int)reply->size, reply->text != NULL ? reply->text : "");
        fuzz_fail("another status");
    }
    return reply->status == good;
}

static void make(const char *scheme, char path[PATH])
{
    char body[BODY];
    struct local_reply reply;
    for (int k = 0; k < 2; k++) {
        const char *const paths[] = {"/v1/instances/left", "/v1/instances/right"};
        (void)ask(&(struct local_request){.method = "PUT", .path = paths[k], .json = model}, &reply,
                  201, 201);
        free(reply.text);
    }
    (void)snprintf(body, sizeof body,
                   "{\"participants\":[{\"name\":\"a\",\"instance\":\"left\"},{\"name\":\"b\","
                   "\"instance\":\"right\"}],\"connections\":[{\"from\":\"a.x\",\"to\":\"b.F\","
                   "\"factor\":160},{\"from\":\"b.x\",\"to\":\"a.F\",\"factor\":160}],"
                   "\"stepSize\":0.01,%s}",
                   scheme);
    (void)ask(&(struct local_request){.method = "POST", .path = "/v1/couplings", .json = body},
              &reply, 201, 201);
    json_t *const made = json_loadb(reply.text, reply.size, 0, NULL);
    (void)snprintf(path, PATH, "/v1/couplings/%s", json_string_value(json_object_get(made, "id")));
    json_decref(made);
    free(reply.text);
}

/* Windows; with bytes of others they may fail, and nothing worse. */
static void step(const char *path, uint64_t count, int bad)
{
    char where[PATH + 8], body[64];
    struct local_reply reply;
    (void)snprintf(where, sizeof where, "%s/step", path);
    (void)snprintf(body, sizeof body, "{\"count\":%llu}", (unsigned long long)count);
    (void)ask(&(struct local_request){.method = "POST", .path = where, .json = body}, &reply, 200,
              bad);
    free(reply.text);
}

static struct local_reply state_of(const char *where)
{
    struct local_reply reply;
    (void)ask(&(struct local_request){.method = "GET", .path = where}, &reply, 200, 200);
    return reply;
}

static bool put(const char *where, const struct local_reply *bytes, int bad)
{
    struct local_reply reply;
    const bool taken = ask(
        &(struct local_request){
            .method = "PUT", .path = where, .bytes = bytes->text, .size = bytes->size},
        &reply, 200, bad);
    free(reply.text);
    return taken;
}

static void change(struct fuzz_bytes *b, struct local_reply *state, bool sound)
{
    while (b->left > 0) {
        const size_t behind = fuzz_u16(b) % state->size + 1;
        fuzz_take(b, state->text + (state->size - behind), behind < 8 ? behind : 8);
    }
    if (sound) {
        const uint64_t all = mech_hash(state->text + AFTER_HASH, state->size - AFTER_HASH, 0);
        memcpy(state->text + AT_HASH, &all, sizeof all);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_bytes b = {data, size};
    char path[PATH], where[PATH + 8];
    if (served == NULL && (served = local_start(NULL, NULL)) == NULL) {
        fuzz_fail("no daemon");
    }
    const unsigned pick = fuzz_u8(&b);
    make(schemes[(pick >> 1) % SCHEMES], path);
    (void)snprintf(where, sizeof where, "%s/state", path);
    step(path, 1 + fuzz_below(&b, 4), 200);
    struct local_reply bytes = state_of(where);
    // a part of it that is taken and not undone is another one
    step(path, 1, 200);
    const struct local_reply before = state_of(where);
    const bool same = b.left == 0;
    change(&b, &bytes, (pick & 1) == 0);
    if (put(where, &bytes, same ? 200 : 422)) {
        step(path, 2, 422);
        const struct local_reply after = state_of(where);
        (void)put(where, &after, 200);
        free(after.text);
    } else {
        const struct local_reply after = state_of(where);
        if (after.size != before.size || memcmp(after.text, before.text, after.size) != 0) {
            fuzz_fail("a refused state left a trace");
        }
        free(after.text);
    }
    free(before.text);
    free(bytes.text);
    if (!local_clear(served, LIMIT_MS)) {
        fuzz_fail("calls stay in flight");
    }
    return 0;
}
