/* Sessions with generated models, one after the other or of many clients at a time.
 *
 *   sessions [--requests N] [--seed S] [--broken PERCENT] [--clients N] [--http HOST:PORT] [--once]
 *            [--print] [--types] [--census N [--type NAME]]
 *
 * Without --http the daemon is in this process. --once: the session of the seed alone, with all its
 * requests and replies on stderr. --print: models of the seeds from S on as lines of JSON, N of
 * them. --types: for each type how many accepted models held it, and how many of these stepped.
 * --census: whether each type, or the one of that name, is in one of N models made for it. A
 * session over 120 s, times the clients and MECHD_TESTS_DEADLINE, ends the process. Ends with
 * figures and "N passed, N failed": a session is one, and each type must have been in a model that
 * steps when there were sessions enough. A failure is printed with the command that runs it again.
 */
#include "tests/fuzz/session_http.h"
#include "tests/fuzz/session_local.h"

#include "solver/sim/mech.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { TYPES = SESSION_TYPES, CLIENTS = 256, ENOUGH = 40, SHOWN = 20, LIMIT_S = 120 };

static struct {
    uint64_t requests, seed, census;
    uint32_t broken, clients;
    const char *http, *type;
    bool once, print, types;
} options = {.requests = 20000, .seed = 1, .broken = 25, .clients = 1};

static uint32_t types;
static pthread_t threads[CLIENTS];

/* What all clients count. */
static struct {
    atomic_ullong requests, sessions, accepted, coupled, failed, next;
    atomic_ullong focus[TYPES], seen[TYPES], holds[TYPES], stepped[TYPES];
    atomic_uint clients; /* that are at work */
} total;

/* Each client's session, for the watch. */
static struct {
    atomic_ullong seed;
    atomic_llong since; /* s; 0: none */
} at_work[CLIENTS];

static long long seconds(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (long long)now.tv_sec;
}

static void take_turn(struct session *s, uint64_t seed)
{
    char id[64];
    const uint32_t focus = (uint32_t)(seed % types);
    (void)snprintf(id, sizeof id, "s%llu", (unsigned long long)seed);
    s->id = id;
    s->focus = mech_item_types[focus];
    s->g = generate_of_seed(seed);
    s->broken = options.broken;
    s->trace = options.once;
    session_run(s);
    atomic_fetch_add(&total.requests, s->requests);
    atomic_fetch_add(&total.sessions, 1);
    atomic_fetch_add(&total.accepted, s->accepted);
    atomic_fetch_add(&total.coupled, s->coupled);
    atomic_fetch_add(&total.focus[focus], 1);
    atomic_fetch_add(&total.seen[focus], s->focused);
    for (uint32_t k = 0; k < types; k++) {
        atomic_fetch_add(&total.holds[k], s->holds[k]);
        atomic_fetch_add(&total.stepped[k], s->holds[k] && s->stepped);
    }
    if (s->faults > 0 && atomic_fetch_add(&total.failed, 1) < SHOWN) {
        printf("FAILED seed %llu, request %llu of all: %s\n    again: sessions --broken %u --once "
               "--seed %llu\n",
               (unsigned long long)seed, (unsigned long long)atomic_load(&total.requests), s->fault,
               options.broken, (unsigned long long)seed);
        (void)fflush(stdout);
    }
}

static void *client(void *which)
{
    const size_t me = *(const size_t *)which;
    struct session_connection connection = {.address = options.http, .socket = -1};
    do {
        struct session s = {.send = session_local};
        const uint64_t seed = options.seed + atomic_fetch_add(&total.next, 1);
        if (options.http != NULL) {
            s.send = session_http;
            s.served = true;
            s.context = &connection;
        } else {
            s.context = session_local_start();
        }
        if (!options.once) {
            // known before it runs, should it crash
            (void)fprintf(stderr, "\rseed %llu ", (unsigned long long)seed);
        }
        atomic_store(&at_work[me].seed, seed);
        atomic_store(&at_work[me].since, seconds());
        take_turn(&s, seed);
        atomic_store(&at_work[me].since, 0);
    } while (!options.once && atomic_load(&total.requests) < options.requests);
    session_http_end(&connection);
    (void)atomic_fetch_sub(&total.clients, 1);
    return NULL;
}

/* Until all clients are done; a session that takes too long ends the process. */
static void watch(void)
{
    const struct timespec nap = {.tv_nsec = 100000000};
    // they share the cores
    const int limit = (int)(LIMIT_S * options.clients * session_patience());
    while (atomic_load(&total.clients) > 0) {
        for (size_t k = 0; k < options.clients; k++) {
            const long long since = atomic_load(&at_work[k].since);
            if (since != 0 && seconds() - since > limit) {
                const unsigned long long seed = atomic_load(&at_work[k].seed);
                printf("FAILED seed %llu takes over %d s\n    again: sessions --broken %u --once "
                       "--seed %llu\n%llu passed, 1 failed\n",
                       seed, limit, options.broken, seed, atomic_load(&total.sessions));
                (void)fflush(stdout);
                _exit(1);
            }
        }
        (void)nanosleep(&nap, NULL);
    }
}

static int print_models(void)
{
    for (uint64_t k = 0; k < options.requests; k++) {
        struct generate g = generate_of_seed(options.seed + k);
        json_t *const model = generate_model(&g, mech_item_types[(options.seed + k) % types]);
        char *const text = json_dumps(model, JSON_COMPACT);
        printf("%s\n", text);
        free(text);
        json_decref(model);
    }
    return 0;
}

static bool read_options(int argc, char **argv)
{
    for (int k = 1; k < argc; k++) {
        const char *const name = argv[k], *const value = k + 1 < argc ? argv[k + 1] : "";
        if (strcmp(name, "--once") == 0) {
            options.once = true;
            continue;
        }
        if (strcmp(name, "--types") == 0) {
            options.types = true;
            continue;
        }
        if (strcmp(name, "--print") == 0) {
            options.print = true;
            continue;
        }
        if (strcmp(name, "--http") == 0) {
            options.http = value;
        } else if (strcmp(name, "--requests") == 0) {
            options.requests = strtoull(value, NULL, 10);
        } else if (strcmp(name, "--seed") == 0) {
            options.seed = strtoull(value, NULL, 10);
        } else if (strcmp(name, "--census") == 0) {
            options.census = strtoull(value, NULL, 10);
        } else if (strcmp(name, "--type") == 0) {
            options.type = value;
        } else if (strcmp(name, "--broken") == 0) {
            options.broken = (uint32_t)strtoul(value, NULL, 10);
        } else if (strcmp(name, "--clients") == 0) {
            options.clients = (uint32_t)strtoul(value, NULL, 10);
        } else {
            (void)fprintf(stderr, "unknown option %s; the head of sessions.c lists them\n", name);
            return false;
        }
        k++;
    }
    return options.clients >= 1 && options.clients <= CLIENTS;
}

/* Types that were asked for often and never were in an accepted model, or in none that steps; with
 * --types a line for each: accepted models that hold it, and those of which two steps succeeded. */
static unsigned missing(void)
{
    unsigned n = 0;
    for (uint32_t k = 0; k < types; k++) {
        const unsigned long long asked = atomic_load(&total.focus[k]),
                                 holds = atomic_load(&total.holds[k]),
                                 stepped = atomic_load(&total.stepped[k]);
        if (options.types) {
            printf("\n%-28s %8llu %8llu", mech_item_types[k]->name, holds, stepped);
        }
        if (asked >= ENOUGH && stepped == 0) {
            printf("\nFAILED %s is in %llu accepted models, and none steps, of %llu made for it",
                   mech_item_types[k]->name, holds, asked);
            n++;
        }
    }
    return n;
}

/* Whether one of `most` models made for the type holds it and is accepted. */
static bool is_made(uint32_t type, uint64_t most)
{
    bool found = false;
    for (uint64_t i = 0; i < most && !found; i++) {
        struct generate g = generate_of_seed(options.seed + i * types + type);
        json_t *const model = generate_model(&g, mech_item_types[type]);
        found = generate_count(model, mech_item_types[type]) > 0 && generate_accepted(model);
        json_decref(model);
    }
    return found;
}

/* Types that are in no model made for them; all, or the one of the option. */
static unsigned census(uint64_t most)
{
    unsigned passed = 0, failed = 0;
    for (uint32_t k = 0; k < types; k++) {
        if (options.type != NULL && strcmp(options.type, mech_item_types[k]->name) != 0) {
            continue;
        }
        if (is_made(k, most)) {
            passed++;
        } else {
            printf("FAILED %s is in none of %llu models made for it\n", mech_item_types[k]->name,
                   (unsigned long long)most);
            failed++;
        }
    }
    if (passed + failed == 0) {
        printf("FAILED there is no type %s\n", options.type);
        failed++;
    }
    printf("%u passed, %u failed\n", passed, failed);
    return failed;
}

int main(int argc, char **argv)
{
    while (mech_item_types[types] != NULL && types < TYPES) {
        types++;
    }
    if (!read_options(argc, argv)) {
        return 2;
    }
    if (options.print) {
        return print_models();
    }
    if (options.census > 0) {
        return census(options.census) == 0 ? 0 : 1;
    }
    mech_blas_pin();
    if (options.http == NULL && session_local_start() == NULL) {
        return 2;
    }
    static size_t place[CLIENTS];
    atomic_store(&total.clients, options.clients);
    for (uint32_t k = 0; k < options.clients; k++) {
        place[k] = k;
        if (pthread_create(&threads[k], NULL, client, &place[k]) != 0) {
            return 2;
        }
    }
    watch();
    for (uint32_t k = 0; k < options.clients; k++) {
        (void)pthread_join(threads[k], NULL);
    }
    const unsigned long long sessions = atomic_load(&total.sessions),
                             accepted = atomic_load(&total.accepted);
    const unsigned absent = missing();
    const unsigned long long failed = atomic_load(&total.failed) + absent;
    printf("\n%llu requests, %llu sessions from seed %llu, %u clients, %llu %% accepted (%u %% "
           "broken), %llu coupled, %u of %u types\n",
           (unsigned long long)atomic_load(&total.requests), sessions,
           (unsigned long long)options.seed, options.clients,
           sessions > 0 ? 100 * accepted / sessions : 0, options.broken,
           (unsigned long long)atomic_load(&total.coupled), types - absent, types);
    printf("%llu passed, %llu failed\n", sessions - atomic_load(&total.failed), failed);
    return failed == 0 ? 0 : 1;
}
