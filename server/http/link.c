/* The look goes through all connections: 4,096 of them take about a millisecond, nearly all of it
 * for asking TCP about the idle ones. A change of phase costs one compare and swap. */
#define _GNU_SOURCE /* POLLRDHUP */
#include "server/http/link.h"

#include "protocol/wire/problem.h"
#include "server/call/service.h"
#include "server/http/listener.h"
#include "server/os/log.h"
#include "server/os/ticks.h"
#include "solver/base/hash.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { PHASE_BITS = 3, PHASE_MASK = 7, KEY = 16, RESERVE_SECONDS = 2 };
static const uint64_t period = 250u * MECHD_MS;
static const uint64_t second = 1000u * MECHD_MS;

/* How many connections a peer has, without those of the reserve. */
struct mechd_link_peer {
    struct mechd_link_peer *next;
    unsigned char key[KEY]; /* IPv6, the first half of it alone, or IPv4 mapped into it */
    int count;
};

static unsigned bucket_of(const unsigned char key[KEY])
{
    return (unsigned)(mech_hash(key, KEY, 0) % MECHD_PEER_BUCKETS);
}

/* False: not an address of the internet. */
static bool read_key(const struct sockaddr *address, unsigned char key[KEY])
{
    memset(key, 0, KEY);
    if (address != NULL && address->sa_family == AF_INET) {
        const struct sockaddr_in *v4 = (const struct sockaddr_in *)(const void *)address;
        key[10] = key[11] = 0xff;
        memcpy(key + 12, &v4->sin_addr, 4);
        return true;
    }
    if (address != NULL && address->sa_family == AF_INET6) {
        const struct sockaddr_in6 *v6 = (const struct sockaddr_in6 *)(const void *)address;
        memcpy(key, &v6->sin6_addr, IN6_IS_ADDR_V4MAPPED(&v6->sin6_addr) ? KEY : KEY / 2);
        return true;
    }
    return false;
}

/* The peer with this key, or NULL. Under m. */
static struct mechd_link_peer *find_peer(const struct mechd_links *s, const unsigned char key[KEY])
{
    struct mechd_link_peer *p = s->peers[bucket_of(key)];
    while (p != NULL && memcmp(p->key, key, KEY) != 0) {
        p = p->next;
    }
    return p;
}

/* The peer, counted once more; NULL: none, or no memory. Under m. */
static struct mechd_link_peer *count_peer(struct mechd_links *s, const struct sockaddr *address)
{
    unsigned char key[KEY];
    if (!read_key(address, key)) {
        return NULL;
    }
    struct mechd_link_peer *p = find_peer(s, key);
    if (p != NULL) {
        p->count++;
        return p;
    }
    p = calloc(1, sizeof *p);
    if (p != NULL) {
        struct mechd_link_peer **at = &s->peers[bucket_of(key)];
        memcpy(p->key, key, KEY);
        p->count = 1;
        p->next = *at;
        *at = p;
    }
    return p;
}

/* Why one more connection of this address would be of the reserve, or MECHP_OK. Under m. */
static enum mechp_code refusal(const struct mechd_links *s, const struct sockaddr *address)
{
    unsigned char key[KEY];
    if (s->count - s->reserved >= s->most) {
        return MECHP_TOO_MANY_CONNECTIONS;
    }
    const struct mechd_link_peer *const p = read_key(address, key) ? find_peer(s, key) : NULL;
    return p != NULL && p->count >= s->config->connections_per_address ? MECHP_LIMIT_REACHED
                                                                       : MECHP_OK;
}

/* Under m. */
static void forget_peer(struct mechd_links *s, struct mechd_link_peer *p)
{
    if (p == NULL || --p->count > 0) {
        return;
    }
    struct mechd_link_peer **at = &s->peers[bucket_of(p->key)];
    while (*at != p) {
        at = &(*at)->next;
    }
    *at = p->next;
    free(p);
}

/* Bytes that TCP has received: tcpi_bytes_received of struct tcp_info in Linux' linux/tcp.h, whose
 * layout only grows. 0: not reported. */
static uint64_t bytes_received(int s)
{
    enum { OFFSET = 128 };
    unsigned char info[OFFSET + 8];
    uint64_t bytes = 0;
    socklen_t size = sizeof info;
    if (getsockopt(s, IPPROTO_TCP, TCP_INFO, info, &size) == 0 && size >= sizeof info) {
        memcpy(&bytes, info + OFFSET, sizeof bytes);
    }
    return bytes;
}

/* End a connection that is in the phase of `word`, unless it has just gone on. */
static void cut(struct mechd_links *s, struct mechd_link *k, uint64_t word)
{
    const enum mechd_phase phase = (enum mechd_phase)(word & PHASE_MASK);
    uint64_t expected = word;
    if (!atomic_compare_exchange_strong(&k->word, &expected,
                                        (word & ~(uint64_t)PHASE_MASK) | MECHD_PHASE_CUT)) {
        return;
    }
    if (phase != MECHD_PHASE_IDLE) {
        mechd_count(&s->metrics->timeouts, 1);
    }
    ssize_t sent = 0;
    if ((phase == MECHD_PHASE_HEAD || phase == MECHD_PHASE_BODY) && !s->is_tls) {
        sent = send(k->socket, s->late, s->late_length, MSG_DONTWAIT | MSG_NOSIGNAL);
    }
    (void)sent; // a client that does not read is not waited for
    shutdown(k->socket, SHUT_RDWR);
}

/* An idle connection: has a request begun? */
static void look_at_idle(struct mechd_links *s, struct mechd_link *k, uint64_t word, uint64_t now)
{
    if (s->is_tcp) {
        const uint64_t received = bytes_received(k->socket);
        if (k->seen_word != word) {
            // what has come before is of earlier requests
            k->seen_word = word;
            k->seen = word >> PHASE_BITS == 0 ? 0 : received;
        }
        if (received != k->seen) {
            atomic_store_explicit(&k->since, now, memory_order_relaxed);
            atomic_compare_exchange_strong(&k->word, &word, word | MECHD_PHASE_HEAD);
            return;
        }
    }
    const int seconds = k->refused != MECHP_OK ? RESERVE_SECONDS : s->config->idle_seconds;
    if (now - atomic_load(&k->since) > (uint64_t)seconds * second) {
        cut(s, k, word);
    }
}

enum mechd_link_end mechd_link_end(const struct mechd_link *k)
{
    struct pollfd p = {.fd = k->socket, .events = POLLRDHUP};
    return poll(&p, 1, 0) <= 0                      ? MECHD_LINK_OPEN
           : (p.revents & (POLLHUP | POLLERR)) != 0 ? MECHD_LINK_GONE
           : (p.revents & POLLRDHUP) != 0           ? MECHD_LINK_HALF
                                                    : MECHD_LINK_OPEN;
}

static void look_at(struct mechd_links *s, struct mechd_link *k, uint64_t now)
{
    const struct mechd_config *c = s->config;
    const uint64_t word = atomic_load(&k->word);
    const uint64_t since = atomic_load(&k->since);
    const uint64_t elapsed = now > since ? now - since : 0;
    const bool is_reserve = k->refused != MECHP_OK;
    uint64_t most = is_reserve ? RESERVE_SECONDS * second : UINT64_MAX;
    switch ((enum mechd_phase)(word & PHASE_MASK)) {
    case MECHD_PHASE_IDLE:
        look_at_idle(s, k, word, now);
        return;
    case MECHD_PHASE_HEAD:
        most = is_reserve ? most : (uint64_t)c->head_seconds * second;
        break;
    case MECHD_PHASE_BODY:
    case MECHD_PHASE_ANSWER:
        most = is_reserve ? most
                          : (uint64_t)c->body_seconds * second +
                                atomic_load(&k->bytes) / 1024u * second / (uint64_t)c->body_rate;
        break;
    case MECHD_PHASE_WORK:
        if (atomic_load(&k->waits) && mechd_link_end(k) != MECHD_LINK_OPEN &&
            mechd_stop_raise(&k->gone, MECHD_STOP_GONE)) {
            mechd_count(&s->metrics->left, 1);
        }
        return;
    case MECHD_PHASE_CUT:
        return;
    }
    if (elapsed > most) {
        cut(s, k, word);
    }
}

/* On the clock's thread. */
static void look(struct mechd_timer *timer)
{
    struct mechd_links *s =
        (struct mechd_links *)(void *)((char *)timer - offsetof(struct mechd_links, timer));
    const uint64_t now = mechd_now();
    pthread_mutex_lock(&s->m);
    atomic_store_explicit(&s->now, now, memory_order_relaxed);
    for (struct mechd_link *k = s->first; k != NULL; k = k->next) {
        look_at(s, k, now);
    }
    s->armed = s->first != NULL && mechd_clock_arm(s->clock, &s->timer, now + period);
    pthread_mutex_unlock(&s->m);
}

/* The whole answer for a client that is too slow. */
static void write_late(struct mechd_links *s)
{
    char buffer[256];
    struct mechp_text w;
    const struct mechp_problem problem = {.code = MECHP_REQUEST_TIMEOUT};
    mechp_text_init(&w, buffer, sizeof buffer);
    mechp_problem_write(&problem, &w);
    const int n = snprintf(s->late, sizeof s->late,
                           "HTTP/1.1 408 Request Timeout\r\nConnection: close\r\n"
                           "Content-Type: application/problem+json\r\nContent-Length: %zu\r\n\r\n"
                           "%.*s",
                           w.length, (int)w.length, w.bytes);
    s->late_length = n > 0 && (size_t)n < sizeof s->late ? (size_t)n : 0;
    mechp_text_fini(&w);
}

void mechd_links_init(struct mechd_links *s, struct mechd_listener *l, int most, int reserve)
{
    struct mechd_service *d = l->service;
    *s = (struct mechd_links){.listener = l,
                              .config = &d->config,
                              .clock = &d->host.clock,
                              .metrics = &d->host.counters,
                              .most = most,
                              .reserve = reserve,
                              .is_tcp = l->is_tcp,
                              .is_tls = l->is_tls,
                              .now = mechd_now(),
                              .timer = {.fire = look}};
    pthread_mutex_init(&s->m, NULL);
    write_late(s);
}

void mechd_links_fini(struct mechd_links *s)
{
    mechd_clock_cancel(s->clock, &s->timer);
    pthread_mutex_destroy(&s->m);
}

bool mechd_links_admit(struct mechd_links *s, const struct sockaddr *address)
{
    pthread_mutex_lock(&s->m);
    const bool fits = s->reserved < s->reserve || refusal(s, address) == MECHP_OK;
    pthread_mutex_unlock(&s->m);
    if (!fits) {
        mechd_count(&s->metrics->refused_connections, 1);
    }
    return fits;
}

struct mechd_link *mechd_link_open(struct mechd_links *s, struct MHD_Connection *connection)
{
    struct mechd_link *k = calloc(1, sizeof *k);
    if (k == NULL) {
        return NULL;
    }
    const union MHD_ConnectionInfo *address =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
    const struct sockaddr *const from = address != NULL ? address->client_addr : NULL;
    k->links = s;
    k->seen_word = UINT64_MAX;
    k->socket = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD)->connect_fd;
    pthread_mutex_lock(&s->m);
    k->refused = refusal(s, from);
    const bool full = k->refused == MECHP_TOO_MANY_CONNECTIONS && !s->is_full;
    s->is_full = s->is_full || full;
    k->peer = k->refused == MECHP_OK ? count_peer(s, from) : NULL;
    k->next = s->first;
    if (k->next != NULL) {
        k->next->before = k;
    }
    s->first = k;
    s->count++;
    s->reserved += k->refused != MECHP_OK;
    if (!s->armed) {
        const uint64_t now = mechd_now();
        atomic_store_explicit(&s->now, now, memory_order_relaxed);
        s->armed = mechd_clock_arm(s->clock, &s->timer, now + period);
    }
    atomic_store(&k->since, atomic_load_explicit(&s->now, memory_order_relaxed));
    pthread_mutex_unlock(&s->m);
    if (full) {
        mechd_log(MECHD_WARNING, "door-full", "door=http address=%s connections=%d",
                  s->listener->address, s->most);
    }
    atomic_fetch_add(&s->metrics->connections, 1);
    if (k->refused != MECHP_OK) {
        mechd_count(&s->metrics->refused_connections, 1);
    }
    return k;
}

void mechd_link_close(struct mechd_link *k)
{
    struct mechd_links *s = k->links;
    pthread_mutex_lock(&s->m);
    *(k->before != NULL ? &k->before->next : &s->first) = k->next;
    if (k->next != NULL) {
        k->next->before = k->before;
    }
    forget_peer(s, k->peer);
    s->count--;
    s->reserved -= k->refused != MECHP_OK;
    s->is_full = s->is_full && s->count - s->reserved > s->most - s->most / 4;
    pthread_mutex_unlock(&s->m);
    atomic_fetch_sub(&s->metrics->connections, 1);
    free(k->spare);
    free(k);
}

bool mechd_link_enter(struct mechd_link *k, enum mechd_phase phase, uint64_t bytes)
{
    const uint64_t now = atomic_load_explicit(&k->links->now, memory_order_relaxed);
    uint64_t word = atomic_load_explicit(&k->word, memory_order_relaxed);
    atomic_store_explicit(&k->bytes, bytes, memory_order_relaxed);
    atomic_store_explicit(&k->since, now, memory_order_relaxed);
    for (;;) {
        const uint64_t served = (word >> PHASE_BITS) + (phase == MECHD_PHASE_IDLE);
        if ((word & PHASE_MASK) == MECHD_PHASE_CUT) {
            return false;
        }
        if (atomic_compare_exchange_weak(&k->word, &word, served << PHASE_BITS | phase)) {
            return true;
        }
    }
}
