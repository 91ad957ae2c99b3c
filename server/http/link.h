/* The connections of one address: their number, also per peer, and their time limits.
 *
 * libmicrohttpd's timeout detects inactivity: a client that sends or receives a byte now and then
 * stays connected without end. Here every connection has a phase with a start time, and a check
 * every quarter of a second (on the clock's thread, while there are connections) ends those that
 * are too slow:
 *
 *   phase    from                                 to its end, at most
 *   idle     accepted, or the last answer done    idle_seconds without a byte
 *   head     first byte seen by a check           head_seconds
 *   body     the head has come                    body_seconds + bytes / body_rate
 *   work     the request has come                 no limit (also: a stream of live events)
 *   answer   the answer is ready                     body_seconds + bytes / body_rate
 *
 * In head and body the client receives 408 (not through TLS, whose records only libmicrohttpd can
 * write); then the socket is shut down, which wakes the thread that serves it. The arrival of a
 * first byte is detected by TCP_INFO; a Unix socket has none, there the head counts as idle.
 *
 * Beyond `connections` of an address, or `connections_per_address` of a peer (IPv6: of a /64), a
 * small reserve is still accepted: each has two seconds and one request, and is refused with 503 or
 * 429 unless it requests a probe. Beyond the reserve a connection is closed as it is accepted.
 *
 * shared, locked by m; the phase is an atomic, changed by compare and swap: no thread continues
 * with a connection that the check has ended.
 */
#pragma once

#include "protocol/wire/codes.h"
#include "server/os/clock.h"
#include "server/os/config.h"
#include "server/os/counters.h"
#include "server/os/stop.h"

#include <microhttpd.h>
#include <stdatomic.h>

enum { MECHD_PEER_BUCKETS = 256 };

enum mechd_phase {
    MECHD_PHASE_IDLE,
    MECHD_PHASE_HEAD,
    MECHD_PHASE_BODY,
    MECHD_PHASE_WORK,
    MECHD_PHASE_ANSWER,
    MECHD_PHASE_CUT /* ended by the check */
};

struct mechd_links;
struct mechd_link_peer;

/* One connection. */
struct mechd_link {
    struct mechd_link *next, *before; /* locked by links->m */
    struct mechd_links *links;
    struct mechd_link_peer *peer; /* NULL: a Unix socket, of the reserve, or no memory to count */
    int socket;
    enum mechp_code refused; /* MECHP_OK, or why it is of the reserve; const */
    _Atomic bool waits;      /* a request was queued or runs elsewhere; partner: the check */
    struct mechd_stop gone;  /* GONE: the client has closed its side meanwhile */
    _Atomic uint64_t word;   /* requests served << 3 | phase; partner: the look */
    _Atomic uint64_t since;  /* beginning of the phase, ns; partner: the look */
    _Atomic uint64_t bytes;  /* of the body so far, or of the answer; partner: the look */
    uint64_t seen_word;      /* of the look: the idle phase that it knows, */
    uint64_t seen;           /* and the bytes that had come by then */
    /* of the connection's thread: the target as it came, memory for the next exchange or NULL, and
     * the last Host that was admitted */
    const char *target;
    void *spare;
    char host[64];
};

struct mechd_links {
    struct mechd_listener *listener;
    const struct mechd_config *config;
    struct mechd_clock *clock;
    struct mechd_counters *metrics;
    int most;    /* connections, without the reserve, */
    int reserve; /* which is so many */
    bool is_tcp, is_tls;
    char late[512]; /* the whole answer 408 */
    size_t late_length;
    _Atomic uint64_t now; /* ns, of the last look; partner: connections' threads */

    /* locked by m */
    pthread_mutex_t m;
    struct mechd_link *first;
    int count;    /* with those of the reserve, */
    int reserved; /* which are so many */
    struct mechd_link_peer *peers[MECHD_PEER_BUCKETS];
    struct mechd_timer timer;
    bool armed;
    bool is_full; /* said so in the log, and not well below since */
};

/* `most` connections of a listener, and a reserve. */
void mechd_links_init(struct mechd_links *s, struct mechd_listener *l, int most, int reserve);
/* No connection is left, and the clock has stopped. */
void mechd_links_fini(struct mechd_links *s);

/* Whether one more from an address is accepted at all. */
bool mechd_links_admit(struct mechd_links *s, const struct sockaddr *address);
/* A connection was accepted. NULL: no memory for it. */
struct mechd_link *mechd_link_open(struct mechd_links *s, struct MHD_Connection *connection);
/* It is over; frees it. */
void mechd_link_close(struct mechd_link *k);

/* What of a connection its client has closed, whatever it has sent before. */
enum mechd_link_end {
    MECHD_LINK_OPEN,
    MECHD_LINK_HALF, /* its sending side, or both: TCP shows which once it is written to */
    MECHD_LINK_GONE  /* both */
};
/* While the connection is suspended, or on its thread. */
enum mechd_link_end mechd_link_end(const struct mechd_link *k);
/* The next phase, with the bytes of an answer. False: the look has ended the connection. On the
 * connection's thread. */
bool mechd_link_enter(struct mechd_link *k, enum mechd_phase phase, uint64_t bytes);
/* More of the body has come, or of an answer that is made while it is sent. */
static inline void mechd_link_feed(struct mechd_link *k, size_t bytes)
{
    atomic_fetch_add_explicit(&k->bytes, bytes, memory_order_relaxed);
}
