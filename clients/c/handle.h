/* What the files of libmechc share: the handle, its error, text being built, requests. */
#pragma once

#include "clients/c/mechc.h"
#include "clients/c/scan.h"

#include <curl/curl.h>
#include <stdbool.h>
#include <stdio.h>

enum { MECHC_PATH = 640, MECHC_SOCKETS = 3 };

/* Bytes that grow; always closed by a zero that `length` does not count. Zeroed is empty. */
struct mechc_bytes {
    char *at; /* malloc'd, or NULL */
    size_t length, capacity;
    bool failed; /* out of memory; everything since is void */
};

/* owner: the caller of mechc_open; one thread at a time. */
struct mechc {
    char *base; /* as given, without a closing slash */
    CURL *curl;
    void *zmq;                      /* context, made at the first partner or stream */
    char *endpoints[MECHC_SOCKETS]; /* by enum mechc_socket; NULL: not known yet */
    double timeout;                 /* s */
    struct mechc_bytes reply, body;
    struct mechc_error error;
    struct mechc_bytes words; /* what error points at */
    struct mechc_fault *faults;
};

/* --- bytes.c --- */
void mechc_bytes_add(struct mechc_bytes *b, const void *bytes, size_t size);
void mechc_bytes_text(struct mechc_bytes *b, const char *text);
void mechc_bytes_string(struct mechc_bytes *b, const char *text); /* quoted, escaped JSON */
void mechc_bytes_number(struct mechc_bytes *b, double value); /* reads back to the same double */
void mechc_bytes_clear(struct mechc_bytes *b);
void mechc_bytes_fini(struct mechc_bytes *b);
char *mechc_copy(const char *text); /* malloc'd, or NULL */

/* --- error.c --- */
void mechc_clear_error(struct mechc *c);
int mechc_fail(struct mechc *c, enum mechc_result result, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* The reply's problem+json becomes the handle's error. */
int mechc_refused(struct mechc *c, int status, const char *body, size_t size);

/* --- http.c --- */
/* "/a/b%20c" from segments closed by NULL. Result: enum mechc_result. */
int mechc_path(struct mechc *c, char out[MECHC_PATH], const char *const *segments);
/* A request with the handle's body (mechc_bytes_clear'ed and built by the caller); NULL method has
 * no body. `json` is NULL or gets the reply. */
int mechc_send(struct mechc *c, const char *method, const char *const *segments,
               struct mechc_json *json);

/* --- handle.c --- */
/* The endpoint of a socket, asked for if need be. */
int mechc_endpoint(struct mechc *c, enum mechc_socket which, const char **out);
/* A socket of that type, connected, without lingering and with bounded waits. */
int mechc_connect(struct mechc *c, enum mechc_socket which, int type, void **out);
int mechc_milliseconds(double seconds);
