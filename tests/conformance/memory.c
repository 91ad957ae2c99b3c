/* What every operation does when memory runs out: each of its allocations, in whichever thread, is
 * refused in turn, alone or with all later ones. It fails (out-of-memory, or storage-failed where
 * each change is stored) and leaves the instance as it was to the bit, or it does without and
 * answers as ever, or there is no answer. What it had allocated until then is found by the leak
 * checkers that these tests run under. */
#include "server/call/call.h"
#include "server/instance/picks.h"
#include "tests/unit/alloc_count.h"
#include "tests/unit/server/scarce.h"
#include "tests/unit/unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MOST = 20000, ALL = 400, ALL_STORED = 40, STRIDE = 41 };

#define I "/v1/instances/i"

/* An operation on instance "i", which a call may prepare. */
static const struct attempt {
    const char *method, *path, *json; /* #: the number of what was made before */
    const char *before[2];            /* path and body of a POST, or NULL */
    bool varies;                      /* the answer: revisions, ids, trials */
} attempts[] = {
    {"POST", "/v1/instances", "{\"example\": \"bouncing-ball\"}", {NULL}, true},
    {"POST",
     "/v1/models/check",
     "{\"model\": {\"mechd\": 1, \"nodes\": [{\"name\": \"n\", \"type\": \"Node1D\"}],"
     "\"objects\": [{\"name\": \"m\", \"type\": \"Mass1D\", \"node\": \"n\", \"physicsMass\": "
     "1}]}}",
     {NULL},
     false},
    {"POST", I "/step", "{\"count\": 3, \"inputs\": {\"push\": 2}}", {NULL}, false},
    {"POST",
     I "/step",
     "{\"size\": 0.01, \"commit\": false, \"want\": [\"energy\"]}",
     {NULL},
     true},
    {"POST",
     I "/step",
     "{\"size\": 0.01, \"want\": [\"derivatives\", \"jacobian\"]}",
     {NULL},
     false},
    {"POST", I "/step", "{\"count\": 30000}", {NULL}, false},
    {"POST",
     I "/commit",
     "{\"trial\": #}",
     {I "/step", "{\"count\": 1, \"commit\": false}"},
     false},
    {"PUT", I "/inputs", "{\"inputs\": {\"push\": 1}}", {NULL}, false},
    {"PUT", I "/parameters", "{\"parameters\": {\"k\": 30}}", {NULL}, false},
    {"PUT", I "/state", "{\"q\": [0.5, -0.5], \"time\": 2}", {NULL}, false},
    {"PUT", I "/objects/wall/fields/stiffness", "{\"value\": 55}", {NULL}, false},
    {"POST",
     I "/evaluate",
     "{\"want\": [\"lhs\", \"rhs\", \"mass\", \"rhsJacobian\"]}",
     {NULL},
     false},
    {"POST", I "/jvp", "{\"size\": 0.01, \"inputs\": {\"push\": 1}}", {NULL}, false},
    {"POST", I "/statics", "{}", {NULL}, false},
    {"POST", I "/reset", NULL, {NULL}, true},
    {"POST", I "/snapshots", NULL, {NULL}, true},
    {"POST", I "/snapshots/s-#/restore", NULL, {I "/snapshots", NULL}, true},
    {"DELETE", I "/snapshots/s-#", NULL, {I "/snapshots", NULL}, false},
    {"POST", I "/clone", "{\"labels\": {\"a\": \"b\"}}", {NULL}, true},
    {"POST",
     I "/runs",
     "{\"until\": 0.02, \"period\": 0.01, \"pace\": 0, \"record\": {\"every\": 1}}",
     {NULL},
     true},
    {"POST", I "/system/product", "{\"x\": [1, 2]}", {NULL}, false},
    {"POST", I "/system/schur-product", "{\"l\": []}", {NULL}, false},
    {"POST",
     "/v1/problems/solve",
     "{\"problem\": {\"N\": [[2, 0, 0], [0, 4, 0], [0, 0, 1]], \"r\": [-3, 4, 1],"
     " \"mu\": [0.5]}}",
     {NULL},
     false},
    {"POST",
     "/v1/problems/solve",
     "{\"problem\": {\"H\": {\"diag\": [1, 1]}, \"G\": [[0, 1]], \"f\": [1, -9], \"b\": [0]}}",
     {NULL},
     false},
};

static struct mechd *served;
static struct mechd_instance *instance; /* "i", as new */
static unsigned char *as_new;           /* its state */
static size_t state_size;
static uint64_t revision;
static char number[24]; /* of what was made before */
static bool is_stored;  /* each change of "i" is */

static size_t state(void *bytes)
{
    return mechd_engine_snapshot_write(&instance->engine, bytes);
}

/* A stream "left" of the instance, as clients choose them where the server has a stream. */
static void choose(void)
{
    struct mechd_pick *const p = mechd_pick_create(0);
    CU_ASSERT_PTR_NOT_NULL_FATAL(p);
    (void)snprintf(p->name, sizeof p->name, "left");
    p->all = true;
    p->every = 1;
    p->size = instance->output_size;
    CU_ASSERT_EQUAL_FATAL(mechd_picks_add(instance, p), 0);
}

/* Instance "i" as new, without others. */
static void make(void)
{
    mechd_instance_unref(instance);
    CU_ASSERT_FATAL(local_clear(served, SCARCE_LIMIT_MS));
    CU_ASSERT_EQUAL_FATAL(
        local_status(served, "PUT", I,
                     is_stored
                         ? "{\"example\": \"driven-oscillator\", \"durability\": \"every-step\"}"
                         : "{\"example\": \"driven-oscillator\"}"),
        201);
    CU_ASSERT_EQUAL_FATAL(local_status(served, "POST", I "/step", "{\"count\": 3}"), 200);
    instance = mechd_table_find(&served->service.host.table, "i");
    CU_ASSERT_PTR_NOT_NULL_FATAL(instance);
    choose();
    free(as_new);
    as_new = calloc(2, mechd_engine_snapshot_size(&instance->engine));
    CU_ASSERT_PTR_NOT_NULL_FATAL(as_new);
    state_size = state(as_new);
    revision = atomic_load(&instance->revision);
}

/* "i" is as new: nothing has been done to it. */
static bool is_as_new(void)
{
    unsigned char *const now = as_new + mechd_engine_snapshot_size(&instance->engine);
    // what has been seen and is undone is a change too
    const bool revised = atomic_load(&instance->revision) != revision;
    return !(revised && !is_stored) && !atomic_load(&instance->running) &&
           mechd_table_count(&served->service.host.table) == 1 && state(now) == state_size &&
           memcmp(as_new, now, state_size) == 0;
}

/* The same, or soon, where the store puts it back. */
static bool becomes_as_new(void)
{
    const struct timespec pause = {.tv_nsec = 1000000};
    bool good = is_as_new();
    for (int ms = 0; !good && is_stored && ms < SCARCE_LIMIT_MS; ms++) {
        nanosleep(&pause, NULL); // steady: between two looks
        good = is_as_new();
    }
    return good;
}

/* The number of the trial or snapshot that a reply is about, as digits: numbers go on in the next
 * life of an id. */
static void keep_number(const struct local_reply *r)
{
    char *const text = strndup(r->text, r->size);
    CU_ASSERT_PTR_NOT_NULL_FATAL(text);
    const char *at = strstr(text, "\"trial\":");
    if (at == NULL) {
        at = strstr(text, "\"s-");
    }
    CU_ASSERT_PTR_NOT_NULL_FATAL(at);
    at += strcspn(at, "0123456789");
    (void)snprintf(number, sizeof number, "%.*s", (int)strspn(at, "0123456789"), at);
    free(text);
}

static void prepare(const struct attempt *a)
{
    if (a->before[0] != NULL) {
        const struct local_request r = {
            .method = "POST", .path = a->before[0], .json = a->before[1]};
        struct local_reply reply;
        CU_ASSERT_EQUAL_FATAL(local_call(served, &r, &reply), 0);
        CU_ASSERT_FATAL(reply.status < 300);
        keep_number(&reply);
        free(reply.text);
        state_size = state(as_new);
        revision = atomic_load(&instance->revision);
    }
}

/* A text with the number. */
static const char *with_number(const char *text, char room[256])
{
    const char *const at = text != NULL ? strchr(text, '#') : NULL;
    if (at == NULL) {
        return text;
    }
    (void)snprintf(room, 256, "%.*s%s%s", (int)(at - text), text, number, at + 1);
    return room;
}

static struct local_reply call(const struct attempt *a)
{
    char path[256], json[256];
    struct local_reply reply;
    const struct local_request r = {.method = a->method,
                                    .path = with_number(a->path, path),
                                    .json = with_number(a->json, json)};
    if (local_call(served, &r, &reply) != 0) {
        reply.status = 404;
    }
    return reply;
}

/* One operation with every allocation refused in turn, until there is none left to refuse. */
static void try_all(const struct attempt *a, bool forever)
{
    const long all = is_stored ? ALL_STORED : ALL;
    long refused = 1;
    long n = 0;
    make();
    prepare(a);
    struct local_reply usual = call(a);
    scarce_expect(usual.status >= 200 && usual.status < 300, a->method, a->path, -1, &usual,
                  "fails with memory");
    make();
    prepare(a);
    // of many allocations the later ones are like those before them
    for (; n < MOST && refused > 0; n += n < all ? 1 : STRIDE) {
        alloc_refuse_everywhere(n, forever);
        struct local_reply r = call(a);
        refused = alloc_refuse_nowhere();
        if (r.status == 0) {
            // as when the network fails: whether it is done is not known
            make();
            prepare(a);
        } else if (r.status == usual.status) {
            // whatever was refused was not needed
            const bool same =
                r.size == usual.size && (r.size == 0 || memcmp(r.text, usual.text, r.size) == 0);
            scarce_expect(a->varies || same, a->method, a->path, n, &r, "another answer");
            make();
            prepare(a);
        } else {
            scarce_expect(r.status == 503 || (r.status == 507 && is_stored), a->method, a->path, n,
                          &r, "another fault");
            scarce_expect(local_idle(served, SCARCE_LIMIT_MS) && becomes_as_new(), a->method,
                          a->path, n, &r, "it left a trace");
            if (r.status == 507) {
                // a trial goes with what is undone
                make();
                prepare(a);
            }
        }
        free(r.text);
    }
    CU_ASSERT_EQUAL(refused, 0);
    free(usual.text);
}

static void begin(bool stored)
{
    is_stored = stored;
    served = scarce_begin(stored);
}

static void end(void)
{
    mechd_instance_unref(instance);
    instance = NULL;
    free(as_new);
    as_new = NULL;
    scarce_end(served);
}

static void changes_survive_any_refused_allocation(void)
{
    begin(false);
    for (size_t k = 0; k < sizeof attempts / sizeof *attempts; k++) {
        try_all(&attempts[k], false);
        try_all(&attempts[k], true);
    }
    end();
}

/* Operations whose record is a state, a command or a model. */
static void stored_changes_survive_any_refused_allocation(void)
{
    begin(true);
    for (size_t k = 0; k < sizeof attempts / sizeof *attempts; k++) {
        const struct attempt *const a = &attempts[k];
        if (strncmp(a->path, I "/", sizeof I) == 0 && strstr(a->path, "/runs") == NULL) {
            try_all(a, false);
            try_all(a, true);
        }
    }
    end();
}

/* A path of this route on instance "i"; false: it has parameters that this does not know. */
static bool path_of(const struct mechp_route *route, char path[128])
{
    static const struct {
        const char *name, *value;
    } known[] = {{"{id}", "i"},
                 {"{name}", "left"},
                 {"{variable}", "Position"},
                 {"{what}", "H"},
                 {"{type}", "Mass1D"}};
    (void)snprintf(path, 128, "%s", route->path);
    for (size_t k = 0; k < sizeof known / sizeof *known; k++) {
        char *const at = strstr(path, known[k].name);
        if (at != NULL) {
            char rest[128];
            (void)snprintf(rest, sizeof rest, "%s", at + strlen(known[k].name));
            (void)snprintf(at, (size_t)(path + 128 - at), "%s%s", known[k].value, rest);
        }
    }
    return strchr(path, '{') == NULL;
}

static void reading_survives_any_refused_allocation(void)
{
    begin(false);
    int tried = 0;
    for (int k = 0; mechp_route_at(k) != NULL; k++) {
        const struct mechp_route *const route = mechp_route_at(k);
        char path[128];
        // the door serves the page and live events itself
        const bool served_here = strcmp(route->method, "GET") == 0 &&
                                 route->id != MECHP_ROUTE_EVENTS && route->id != MECHP_ROUTE_PAGE &&
                                 route->id != MECHP_ROUTE_EXAMPLE;
        if (!served_here || !path_of(route, path)) {
            continue;
        }
        const struct attempt a = {
            .method = "GET",
            .path = path,
            .varies = route->id == MECHP_ROUTE_METRICS || route->id == MECHP_ROUTE_ABOUT ||
                      route->id == MECHP_ROUTE_QUOTA || route->id == MECHP_ROUTE_INSTANCE ||
                      route->id == MECHP_ROUTE_INSTANCES};
        try_all(&a, false);
        try_all(&a, true);
        tried++;
    }
    CU_ASSERT(tried > 20);
    end();
}

UNIT_TESTS(UNIT_TEST(changes_survive_any_refused_allocation),
           UNIT_TEST(stored_changes_survive_any_refused_allocation),
           UNIT_TEST(reading_survives_any_refused_allocation))
