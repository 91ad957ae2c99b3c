/* Streams of server-sent events (WHATWG HTML, 9.2) without a thread that waits.
 *
 * A timer checks whether there is something to send, and wakes the suspended connection, whose
 * thread then writes it. A stream ends when its token is no longer in the file, and within about
 * two seconds of its client closing the connection, however rare the checks are. A client may close
 * its sending side alone: it gets a comment every second, since only what is written to a client
 * shows that it reads no more. Without news a comment goes out every ten seconds, so that both ends
 * detect a broken connection.
 *
 * A stream has two holders: the response (until libmicrohttpd frees it) and an armed timer. `m`
 * guards their shared data; the clock's thread resumes while it holds m, so that the connection
 * cannot be freed meanwhile.
 */
#pragma once

#include "server/http/exchange.h"
#include "server/os/clock.h"

struct mechd_sse;

/* Both with m held. */
struct mechd_sse_ops {
    /* True if there is something to send. Any thread. */
    bool (*has_news)(struct mechd_sse *s);
    /* Append it to s->text, if anything; `ended` after the last. On the connection's thread. */
    void (*compose)(struct mechd_sse *s);
    /* Free the whole stream, which is closed. */
    void (*destroy)(struct mechd_sse *s);
};

/* First member of each kind of stream; zeroed, then set: ops. */
struct mechd_sse {
    const struct mechd_sse_ops *ops;
    struct mechp_text text;
    bool ended; /* nothing follows the text */
    bool eager; /* more is available: do not wait for the period */
    /* its own */
    pthread_mutex_t m;
    struct mechd_timer timer;
    struct mechd_service *service;
    struct MHD_Connection *connection;
    struct mechd_token who; /* token of the stream, which ends when this is no longer valid */
    unsigned turn;          /* of the tokens at the last check */
    uint64_t period;        /* ns between two checks */
    uint64_t due;           /* the next check, ns */
    uint64_t last;          /* when something was written, ns */
    const struct mechd_link *link; /* of the connection, as long as that is suspended */
    uint64_t looked;               /* when the client was last seen to be there, ns */
    bool asks;                     /* a comment is due that shows whether the client reads */
    size_t sent;                   /* bytes of text given to the connection */
    int holders;
    bool suspended, closed;
};

/* Answer with the stream, which then belongs to the connection; `rate` of the query: checks per
 * second (default 10, 0.1 to 60). A stream that cannot be served is destroyed. */
enum MHD_Result mechd_sse_serve(struct mechd_exchange *x, struct mechd_sse *s);
/* Before that: check the query; faults go to c->diag. */
void mechd_sse_check(struct mechd_call *c);

/* "event: NAME\nid: ID\ndata: "; NULL leaves the line out. Then one line of JSON, then the end. */
void mechd_sse_head(struct mechd_sse *s, const char *name, const char *id);
void mechd_sse_tail(struct mechd_sse *s);
