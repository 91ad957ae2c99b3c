/* Servers for benchmarks: mechd and the floors run as processes of their own, on free ports of this
 * machine, and differ by nothing but their address.
 *
 *     struct served daemon;
 *     served_mechd(&daemon, NULL);
 *     served_call(&daemon, "PUT", "/v1/instances/a", model, &reply);
 *     served_stop(&daemon);
 *
 * What fails here ends the benchmark with 2 and a sentence. owner: the one thread of the program.
 */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

struct served {
    pid_t pid;
    char folder[64]; /* its own, for the ready file and sockets; removed at the end */
    char host[16];
    int port;         /* of HTTP on 127.0.0.1 */
    char path[96];    /* of HTTP on a Unix socket */
    char control[64]; /* ZeroMQ endpoints, or "" */
    char stream[64];
    double ready_ns; /* from before fork to the ready file */
};

struct served_reply {
    int status;
    size_t size; /* of the body */
    char *body;  /* ends with a zero byte; to be freed */
    double ns;   /* from before connecting to the last byte */
};

/* Keep servers that start from now on to the last processor that this thread may use, and this
 * thread to the others: what a request costs then depends neither on where threads wake nor on
 * whether they share a core with the client. Before bench_begin; nothing where there is but one
 * processor. */
void served_apart(void);

/* A daemon without storage, on TCP and on a Unix socket, with two workers. `more`: further
 * arguments closed by NULL, or NULL. */
void served_mechd(struct served *s, const char *const *more);

/* A floor of this folder's programs by its name; `arguments` closed by NULL. It writes the same
 * ready file. */
void served_floor(struct served *s, const char *name, const char *const *arguments);

/* nginx with two workers, which answers any request with 200 and this text of JSON; false where it
 * is not installed. */
bool served_nginx(struct served *s, const char *reply);

/* SIGTERM and the end of the process; its folder goes. */
void served_stop(struct served *s);

/* One request on a connection of its own. body may be NULL. */
void served_call(const struct served *s, const char *method, const char *path, const char *body,
                 struct served_reply *reply);
/* The same; any status but `status` ends the benchmark. The reply is thrown away. */
void served_expect(const struct served *s, const char *method, const char *path, const char *body,
                   int status);

/* Makes a coupling by this body; `path` [64] is the one that steps it. */
void served_couple(const struct served *s, const char *body, char *path);

/* The same without waiting for an answer: the connection, to be dropped. */
int served_send(const struct served *s, const char *method, const char *path, const char *body);
void served_drop(int connection);

/* A connection: TCP, or the Unix socket. Blocking. */
int served_connect(const struct served *s, bool local);

/* What the process has used of the processor so far, ns, and what it holds in memory, bytes. */
double served_cpu_ns(const struct served *s);
double served_resident(const struct served *s);

/* The wall's clock, and the CPU time of this thread, ns. */
double served_now_ns(void);
double served_thread_ns(void);

/* Ends the benchmark: a sentence on stderr, exit 2. */
void served_fail(const char *what, const char *detail) __attribute__((noreturn));
