/* A closed-loop HTTP client: n connections kept alive, on each the next request goes out when the
 * answer to the last one has come whole. One thread, epoll; the same for whatever server answers.
 * Used as a bench_work: a unit is a request.
 *
 *     struct load load;
 *     load_open(&load, &daemon, false, 8);
 *     load_request(&load, k, "POST", "/v1/instances/a/step", "{\"count\":1}");  // k: 0 … 7
 *     load_run(&load, 1000);
 *     load_close(&load);
 */
#pragma once

#include "tests/bench/served.h"

#include <stdbool.h>
#include <stdint.h>

enum { LOAD_MOST = 512, LOAD_HEAD = 8192, LOAD_REST = 1 << 18 };

struct load {
    int epoll, count;
    struct load_connection {
        int fd;
        char *request;         /* its own, or NULL */
        size_t size;           /* of the request */
        size_t got;            /* of the reply, bytes so far */
        size_t whole;          /* of the reply once its head has come, or 0 */
        char reply[LOAD_HEAD]; /* its head, and what came with it */
    } at[LOAD_MOST];
    char rest[LOAD_REST]; /* further bytes of any reply, not looked at */
};

/* Connect `count` times, over TCP or the Unix socket. */
void load_open(struct load *l, const struct served *s, bool local, int count);
void load_close(struct load *l);

/* What connection k asks for from now on. */
void load_request(struct load *l, int k, const char *method, const char *path, const char *body);

/* So many requests over all connections; an answer other than 200 ends the benchmark. */
void load_run(void *load, uint64_t count);
