/* The target of a request line, taken apart before anything in it is decoded: a path with its query
 * (RFC 9112, 3.2.1), an address of http or https, as sent by clients that treat this server as a
 * proxy (3.2.2), or "*", all of the server (3.2.4). Visible ASCII, whole percent escapes, none of
 * them a NUL. Any thread. Internal to server/http. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* Arguments of a query; no operation has as many. Bytes of an address before its path. */
enum { MECHD_ARGUMENTS_MOST = 64, MECHD_AUTHORITY_MOST = 255 };

enum mechd_target_form {
    MECHD_TARGET_PATH,    /* /v1/instances?limit=2 */
    MECHD_TARGET_ADDRESS, /* http://localhost:8080/v1/instances?limit=2 */
    MECHD_TARGET_SERVER   /* *, or by OPTIONS http://localhost:8080 */
};

struct mechd_target {
    enum mechd_target_form form;
    const char *fault;   /* what is wrong with it, as a sentence, or NULL */
    size_t host, length; /* of an address: where its host and port begin, and how long they are */
    size_t path; /* where the path begins; after an address it may be empty, which means / */
};

/* Cut off a query that has more, behind its question mark, before libmicrohttpd takes it apart:
 * each argument takes some of the connection's memory, which is then not available to the answer.
 * What is wrong with it, as a sentence, or NULL. */
const char *mechd_target_bound(char *target);
/* Take a target apart. An https address is accepted only with TLS (RFC 9110, 7.4). */
struct mechd_target mechd_target_read(const char *target, bool is_tls);
/* The same for this method, which is known later: by OPTIONS an address without a path is all of
 * the server, and by others all of the server is a fault. */
void mechd_target_method(struct mechd_target *t, const char *target, const char *method);
