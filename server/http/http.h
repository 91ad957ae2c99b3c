/* The HTTP door: libmicrohttpd, one daemon with a pool of threads for each address.
 *
 * A thread of that pool reads a request, starts the call and answers it; if the call is queued, the
 * connection is suspended and resumed by the thread that completes the call. owner: main.
 */
#pragma once

#include "server/os/config.h"

#include <stddef.h>

struct mechd_service;
struct mechd_http;

/* Listen on every address of the configuration. Negative: a sentence is in `fault`. */
int mechd_http_start(struct mechd_service *d, struct mechd_http **out, char *fault, size_t size);
/* Read certificate and key again: new connections get them, existing ones keep theirs. Number of
 * addresses with TLS; negative: nothing has changed, a sentence is in `fault`. On main.
 * */
int mechd_http_reload(struct mechd_http *h, char *fault, size_t size);
/* "http://127.0.0.1:8080": the first address as actually bound, or "unix:PATH". */
const char *mechd_http_address(const struct mechd_http *h);
/* The version of libmicrohttpd. */
const char *mechd_http_library(void);
/* No new connections from now on. */
void mechd_http_quiesce(struct mechd_http *h);
/* End all connections and threads; no call may be in flight. */
void mechd_http_stop(struct mechd_http *h);
