/* What the files of libmechc share: the handle, its error, requests. */
#pragma once

#include "clients/c/bytes.h"
#include "clients/c/mechc.h"
#include "clients/c/scan.h"

#include <curl/curl.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/types.h>

enum { MECHC_SOCKETS = 4, MECHC_KEY = 41 /* bytes of a key in Z85, zero included */ };

struct mechc_line;

/* owner: the caller of mechc_open; one thread at a time. */
struct mechc {
    char *base;               /* as given, without a closing slash */
    pid_t process;            /* whose connections these are */
    const void *_Atomic user; /* the thread that is in a call, or NULL */
    int depth;                /* calls that it is in */
    pid_t users;              /* the process whose threads these are */
    CURL *curl;
    void *zmq;                      /* context, made at the first partner or stream */
    struct mechc_line *lane;        /* of mechc_ask, of `process`; NULL: none yet */
    char *endpoints[MECHC_SOCKETS]; /* by enum mechc_socket; NULL: not known yet */
    char *token;                    /* NULL: none */
    uint64_t lease;                 /* shown with every request; 0: none */
    double expected;                /* time at which the next step begins, s; NaN: any */
    char *ca;                       /* PEM file; NULL: the system's */
    double timeout;                 /* s */
    _Atomic bool interrupted;       /* by mechc_interrupt, until a request has ended by it */
    char server_key[MECHC_KEY];     /* public; "": not known */
    char secret_key[MECHC_KEY];     /* "": none */
    bool pinned;                    /* server_key was given, not reported by the server */
    bool asked, curve;              /* keys were queried; the sockets require them */
    struct mechc_bytes reply, body;
    struct mechc_error error;
    struct mechc_bytes words; /* what error points at */
    struct mechc_fault *faults;
};

/* --- error.c --- */
void mechc_clear_error(struct mechc *c);
int mechc_fail(struct mechc *c, enum mechc_result result, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* The reply's problem+json becomes the handle's error. */
int mechc_refused(struct mechc *c, int status, const char *body, size_t size);

/* --- http.c --- */
/* A request with the handle's body (mechc_bytes_clear'ed and built by the caller); NULL method has
 * no body. `json` is NULL or gets the reply. */
int mechc_send(struct mechc *c, const char *method, const char *const *segments,
               struct mechc_json *json);
/* GET; `out` is empty where it fails. */
int mechc_get(struct mechc *c, const char *const *segments, struct mechc_reply *out);

/* --- handle.c --- */
/* The endpoint of a socket, queried if necessary. */
int mechc_endpoint(struct mechc *c, enum mechc_socket which, const char **out);
/* A socket of that type, connected, without lingering and with bounded waits. `events`: NULL, or
 * gets a PAIR socket that reports when the connection is up and when it is not
 * (zmq_socket_monitor(3)); closed by the caller, after the socket. */
int mechc_connect(struct mechc *c, enum mechc_socket which, int type, void **out, void **events);
int mechc_milliseconds(double seconds);
/* Append ,"expectTime":T to the body of a step, if a time is expected; it is so no longer. */
void mechc_add_expected(struct mechc *c);
/* At the start of each function of mechc.h: false where another thread is in one. */
bool mechc_enter(struct mechc *c);
void mechc_leave(struct mechc *const *c);
#define MECHC_ENTER(c)                                                                             \
    if (!mechc_enter(c)) {                                                                         \
        return MECHC_IN_USE;                                                                       \
    }                                                                                              \
    __attribute__((cleanup(mechc_leave), unused)) struct mechc *const entered = (c)

/* Before a connection is used: in a child of a fork, which shares its parent's, the handle lets
 * these go and opens its own. 0, or MECHC_NO_MEMORY. */
int mechc_own(struct mechc *c);
/* MECHC_BAD_ARGUMENT where a partner or a stream (`what`) was opened by another process. */
int mechc_opened_here(struct mechc *c, pid_t process, const char *what);

/* --- ask.c --- */
/* End the connection of mechc_ask, if there is one. */
void mechc_lane_drop(struct mechc *c);

/* --- curve.c --- */
/* The keys in the reply to GET /v1. */
int mechc_curve_learn(struct mechc *c, struct mechc_json about);
/* Before a socket is connected: give it the keys, where they are required. */
int mechc_curve_lock(struct mechc *c, void *socket);
