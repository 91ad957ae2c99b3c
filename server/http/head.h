/* The head of a request: every header that this server reads, found in one pass, and checked as a
 * whole.
 *
 *   struct mechd_head h;
 *   mechd_head_read(&h, connection, &line);
 *   if (h.fault != NULL) { … refuse, and close: the start of the next request is not known … }
 *   h.value[MECHD_HEADER_ACCEPT]   (or NULL)
 *
 * libmicrohttpd 0.9.75 accepts heads that can be interpreted in two ways, and a proxy in front may
 * interpret them in the other (RFC 9112, 11.2: request smuggling). Refused here: a name that is no
 * token (so also a blank before the colon), control bytes, NUL, a line that ends without CR, a line
 * continued on the next one, Host missing or twice, Content-Length twice or together with
 * Transfer-Encoding, a Transfer-Encoding that is not `chunked`. owner: the connection's thread; the
 * values are valid as long as the request. Internal to server/http.
 */
#pragma once

#include <microhttpd.h>
#include <stdbool.h>
#include <stddef.h>

enum mechd_header {
    MECHD_HEADER_ACCEPT,
    MECHD_HEADER_ACCEPT_ENCODING,
    MECHD_HEADER_REQUEST_METHOD,  /* Access-Control-Request-Method */
    MECHD_HEADER_PRIVATE_NETWORK, /* Access-Control-Request-Private-Network */
    MECHD_HEADER_AUTHORIZATION,
    MECHD_HEADER_CONTENT_ENCODING,
    MECHD_HEADER_CONTENT_LENGTH,
    MECHD_HEADER_CONTENT_TYPE,
    MECHD_HEADER_EXPECT,
    MECHD_HEADER_HOST,
    MECHD_HEADER_IDEMPOTENCY_KEY,
    MECHD_HEADER_IF_MATCH,
    MECHD_HEADER_IF_NONE_MATCH,
    MECHD_HEADER_LEASE,
    MECHD_HEADER_ORIGIN,
    MECHD_HEADER_PREFER,
    MECHD_HEADER_TRACEPARENT,
    MECHD_HEADER_TRANSFER_ENCODING,
    MECHD_HEADERS
};

/* The request line, where libmicrohttpd holds it. */
struct mechd_request_line {
    const char *method, *target, *version;
    size_t length; /* of the target as it came, with its query */
};

struct mechd_head {
    const char *value[MECHD_HEADERS]; /* the first of each, or NULL */
    unsigned seen;                    /* bit set of enum mechd_header */
    const char *fault;                /* a sentence, or NULL */
    const char *at;                   /* start of the next line in the received bytes */
};

void mechd_head_read(struct mechd_head *h, struct MHD_Connection *connection,
                     const struct mechd_request_line *line);

/* A value; one without an element is as if it were not there (RFC 9110, 5.6.1.2): NULL. */
const char *mechd_head_list(const struct mechd_head *h, enum mechd_header which);

/* True if the request has a body, according to the head. */
bool mechd_head_has_body(const struct mechd_head *h);
