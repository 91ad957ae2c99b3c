/* What operations on couplings do when memory runs out: each of their allocations, in whichever
 * thread, is refused in turn, alone or with all later ones. It fails (out-of-memory) and leaves the
 * coupling and its instances as they were to the bit, or it does without and answers as ever, or
 * there is no answer. What it had allocated until then is found by the leak checkers that these
 * tests run under. */
#define _GNU_SOURCE /* memmem */
#include "server/call/call.h"
#include "tests/unit/alloc_count.h"
#include "tests/unit/server/scarce.h"
#include "tests/unit/unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MOST = 20000, ALL = 400, STRIDE = 41, TWO = 2 };

#define COUNT(list) (sizeof(list) / sizeof *(list))
#define C "/v1/couplings/@"
#define PAIR(scheme, more)                                                                         \
    "{\"participants\": [{\"name\": \"l\", \"instance\": \"a\"},"                                  \
    " {\"name\": \"r\", \"instance\": \"b\"}],"                                                    \
    " \"connections\": [{\"from\": \"l.x2\", \"to\": \"r.push\", \"factor\": 0.5},"                \
    " {\"from\": \"r.x2\", \"to\": \"l.push\", \"factor\": 0.5}],"                                 \
    " \"scheme\": {\"type\": \"" scheme "\"}, " more "\"stepSize\": 0.01}"

/* An operation on the coupling of "a" and "b", which a call may prepare. */
static const struct attempt {
    const char *method, *path, *json; /* @: the coupling's id; #: number of what was made before */
    const char *before[2];            /* path and body of a POST, or NULL */
} attempts[] = {
    {"POST", C "/step", "{\"count\": 3}", {NULL}},
    {"POST", C "/step", "{\"count\": 2, \"commit\": false}", {NULL}},
    {"POST", C "/commit", "{\"trial\": #}", {C "/step", "{\"count\": 1, \"commit\": false}"}},
    {"POST", C "/reset", NULL, {NULL}},
    {"POST", C "/snapshots", NULL, {NULL}},
    {"POST", C "/snapshots/s-#/restore", NULL, {C "/snapshots", NULL}},
    {"DELETE", C "/snapshots/s-#", NULL, {C "/snapshots", NULL}},
    {"POST", C "/runs", "{\"count\": 2, \"record\": {\"every\": 1}}", {NULL}},
    {"GET", C, NULL, {NULL}},
    {"GET", C "/stability", NULL, {NULL}},
    {"GET", C "/snapshots", NULL, {C "/snapshots", NULL}},
    {"GET", C "/runs", NULL, {NULL}},
    {"GET", C "/streams", NULL, {NULL}},
    {"GET", "/v1/couplings", NULL, {NULL}},
};

/* Couplings in memory and with all that is stored of each window, and of windows in pieces. */
static const struct kind {
    const char *durability, *couple;
} kinds[] = {
    {"none", PAIR("IQN-ILS", "")},
    {"every-step", PAIR("IQN-ILS", "")},
    {"none", PAIR("GaussSeidel", "\"hold\": 3, \"outputs\": [\"r.x2\", \"l.x2\"], ")},
};

static const struct kind *kind;
static struct mechd *served;
static struct mechd_instance *instances[TWO];
static unsigned char *as_new[TWO]; /* their states */
static size_t state_size[TWO];
static uint64_t revision[TWO];
static char coupling[24], number[24]; /* id; number of what was made before */
static char shown[4096];              /* the coupling's document as new */
static bool is_coupled;               /* there is a coupling before the operation */

static size_t state(int k, void *bytes)
{
    return mechd_engine_snapshot_write(&instances[k]->engine, bytes);
}

/* A text with the coupling's id and the number. */
static const char *filled(const char *text, char room[512])
{
    size_t n = 0;
    for (; text != NULL && *text != '\0' && n < 480; text++) {
        const char *const word = *text == '@' ? coupling : *text == '#' ? number : NULL;
        n += (size_t)(word != NULL ? snprintf(room + n, 24, "%s", word)
                                   : snprintf(room + n, 2, "%c", *text));
    }
    return text != NULL ? room : NULL;
}

static struct local_reply call(const char *method, const char *path, const char *json)
{
    char room[2][512];
    struct local_reply reply = {.status = 0};
    const struct local_request r = {
        .method = method, .path = filled(path, room[0]), .json = filled(json, room[1])};
    if (local_call(served, &r, &reply) != 0) {
        reply.status = 404;
    }
    return reply;
}

/* The number behind `key` in a reply: a digit sequence within 23 bytes; frees the reply. */
static void keep(struct local_reply *r, const char *key, const char *ends, char out[24])
{
    char *const text = strndup(r->text, r->size);
    CU_ASSERT_PTR_NOT_NULL_FATAL(text);
    const char *const at = strstr(text, key);
    CU_ASSERT_PTR_NOT_NULL_FATAL(at);
    (void)snprintf(out, 24, "%.*s", (int)strcspn(at + strlen(key), ends), at + strlen(key));
    free(text);
    free(r->text);
}

/* How the last command ended is shown and no state: it is left out. */
static void cut_last(char *text)
{
    for (char *at = text; (at = strstr(at, "\"last\":{")) != NULL;) {
        const char *const end = strchr(at, '}') + 1;
        memmove(at, end, strlen(end) + 1);
    }
}

/* What readers see of the coupling and of all. */
static void look(char out[sizeof shown])
{
    static const char *const paths[] = {C, "/v1/couplings"};
    size_t n = 0;
    for (size_t k = 0; k < COUNT(paths); k++) {
        struct local_reply r = call("GET", paths[k], NULL);
        CU_ASSERT_FATAL(n + r.size + 16 < sizeof shown);
        n += (size_t)snprintf(out + n, sizeof shown - n, "%d %.*s ", r.status, (int)r.size, r.text);
        free(r.text);
    }
    cut_last(out);
}

static void remember(void)
{
    for (int k = 0; k < TWO; k++) {
        state_size[k] = state(k, as_new[k]);
        revision[k] = atomic_load(&instances[k]->revision);
    }
    look(shown);
}

static void forget(void)
{
    for (int k = 0; k < TWO; k++) {
        mechd_instance_unref(instances[k]);
        instances[k] = NULL;
        free(as_new[k]);
        as_new[k] = NULL;
    }
}

/* Instances "a" and "b" as new, without others; coupled, and three windows on. */
static void make(void)
{
    static const char *const ids[TWO] = {"a", "b"};
    forget();
    CU_ASSERT_FATAL(local_clear(served, SCARCE_LIMIT_MS));
    for (int k = 0; k < TWO; k++) {
        char path[32], json[96];
        (void)snprintf(path, sizeof path, "/v1/instances/%s", ids[k]);
        (void)snprintf(json, sizeof json,
                       "{\"example\": \"driven-oscillator\", \"durability\": \"%s\"}",
                       kind->durability);
        CU_ASSERT_EQUAL_FATAL(local_status(served, "PUT", path, json), 201);
        instances[k] = mechd_table_find(&served->service.host.table, ids[k]);
        CU_ASSERT_PTR_NOT_NULL_FATAL(instances[k]);
        as_new[k] = calloc(TWO, mechd_engine_snapshot_size(&instances[k]->engine));
        CU_ASSERT_PTR_NOT_NULL_FATAL(as_new[k]);
    }
    if (is_coupled) {
        struct local_reply r = call("POST", "/v1/couplings", kind->couple);
        CU_ASSERT_EQUAL_FATAL(r.status, 201);
        keep(&r, "\"id\":\"", "\"", coupling);
        r = call("POST", C "/step", "{\"count\": 3}");
        CU_ASSERT_EQUAL_FATAL(r.status, 200);
        free(r.text);
    }
    remember();
}

static void prepare(const struct attempt *a)
{
    if (a->before[0] != NULL) {
        struct local_reply r = call("POST", a->before[0], a->before[1]);
        CU_ASSERT_FATAL(r.status >= 200 && r.status < 300);
        const bool trial = memmem(r.text, r.size, "\"trial\":", 8) != NULL;
        keep(&r, trial ? "\"trial\":" : "\"s-", trial ? ",}" : "\"", number);
        remember();
    }
}

static bool is_stored(void)
{
    return strcmp(kind->durability, "none") != 0;
}

/* Nothing has been done to the coupling and its instances. */
static bool is_as_new(char now[sizeof shown])
{
    bool same = true;
    for (int k = 0; k < TWO; k++) {
        unsigned char *const bytes = as_new[k] + mechd_engine_snapshot_size(&instances[k]->engine);
        // what has been seen and is undone is a change too
        const bool revised = atomic_load(&instances[k]->revision) != revision[k];
        same = same && !(revised && is_coupled && !is_stored()) &&
               !atomic_load(&instances[k]->running) && state(k, bytes) == state_size[k] &&
               memcmp(as_new[k], bytes, state_size[k]) == 0;
    }
    look(now);
    return same && strcmp(now, shown) == 0 && mechd_table_count(&served->service.host.table) == TWO;
}

/* The same, or soon, where the store puts it back; prints the difference that remains. */
static bool becomes_as_new(void)
{
    static char now[sizeof shown];
    const struct timespec pause = {.tv_nsec = 1000000};
    bool good = is_as_new(now);
    for (int ms = 0; !good && is_stored() && ms < SCARCE_LIMIT_MS; ms++) {
        nanosleep(&pause, NULL); // steady: between two looks
        good = is_as_new(now);
    }
    if (!good && strcmp(now, shown) != 0 && scarce_prints()) {
        (void)printf("    %s\n    %s\n", shown, now);
    }
    return good;
}

/* One operation with every allocation refused in turn, until there is none left to refuse. */
static void try_all(const struct attempt *a, bool forever)
{
    long refused = 1;
    long n = 0;
    make();
    prepare(a);
    struct local_reply usual = call(a->method, a->path, a->json);
    scarce_expect(usual.status >= 200 && usual.status < 300, a->method, a->path, -1, &usual,
                  "fails with memory");
    CU_ASSERT_FATAL(local_idle(served, SCARCE_LIMIT_MS));
    make();
    prepare(a);
    // of many allocations the later ones are like those before them
    for (; n < MOST && refused > 0; n += n < ALL ? 1 : STRIDE) {
        alloc_refuse_everywhere(n, forever);
        struct local_reply r = call(a->method, a->path, a->json);
        refused = alloc_refuse_nowhere();
        const bool idle = local_idle(served, SCARCE_LIMIT_MS);
        scarce_expect(idle, a->method, a->path, n, &r, "it does not end");
        if (r.status != 0 && r.status != usual.status) {
            scarce_expect(r.status == 503 || (r.status == 507 && is_stored()), a->method, a->path,
                          n, &r, "another fault");
            scarce_expect(becomes_as_new(), a->method, a->path, n, &r, "it left a trace");
        }
        if (r.status != 503) {
            // without an answer it may be done; a trial goes with what is undone
            make();
            prepare(a);
        }
        free(r.text);
    }
    CU_ASSERT_EQUAL(refused, 0);
    free(usual.text);
}

static void begin(bool coupled)
{
    is_coupled = coupled;
    served = scarce_begin(true);
}

static void end(void)
{
    forget();
    scarce_end(served);
}

static void operations_of_couplings_survive_any_refused_allocation(void)
{
    begin(true);
    for (size_t k = 0; k < COUNT(kinds) * COUNT(attempts); k++) {
        kind = &kinds[k / COUNT(attempts)];
        try_all(&attempts[k % COUNT(attempts)], false);
        try_all(&attempts[k % COUNT(attempts)], true);
    }
    end();
}

static void coupling_survives_any_refused_allocation(void)
{
    begin(false);
    (void)snprintf(coupling, sizeof coupling, "none");
    for (kind = kinds; kind < kinds + COUNT(kinds); kind++) {
        const struct attempt create = {"POST", "/v1/couplings", kind->couple, {NULL}};
        try_all(&create, false);
        try_all(&create, true);
    }
    end();
}

UNIT_TESTS(UNIT_TEST(coupling_survives_any_refused_allocation),
           UNIT_TEST(operations_of_couplings_survive_any_refused_allocation))
