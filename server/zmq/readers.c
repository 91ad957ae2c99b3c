/* Frames offered, and bytes that the kernel has taken. */
#include "server/zmq/readers.h"

#include "server/call/service.h"
#include "server/os/ticks.h"
#include "server/zmq/internal.h"
#include "solver/base/err.h"

#include <linux/tcp.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

enum {
    PING = 9,      /* bytes of the daemon's heartbeat on the wire */
    BATCH = 8192,  /* bytes that libzmq writes at once */
    CURVE_BOX = 33 /* bytes of a frame in a box beside its own */
};
static const uint64_t look_ns = 200000000u;

struct mechd_reader_prefix {
    int reader;
    size_t size;
    char text[MECHD_TOPIC_MOST];
};

struct mechd_reader_drop {
    char topic[MECHD_TOPIC_MOST];
    size_t size;
    uint64_t count;
};

int mechd_readers_init(struct mechd_readers *r)
{
    r->all = calloc(MECHD_READERS_MOST, sizeof *r->all);
    r->prefixes = calloc(MECHD_PREFIXES_COUNTED, sizeof *r->prefixes);
    r->dropped = calloc(MECHD_DROPPED_TOPICS, sizeof *r->dropped);
    return r->all != NULL && r->prefixes != NULL && r->dropped != NULL ? 0 : MECH_NO_MEMORY;
}

void mechd_readers_fini(struct mechd_readers *r)
{
    free(r->all);
    free(r->prefixes);
    free(r->dropped);
}

/* Bytes that a connection has been given to send, but for a constant, and of them those that the
 * kernel holds. False: not known. */
static bool written(int descriptor, uint64_t *bytes, int *held)
{
    uint64_t acked = 0;
    for (int attempt = 0; attempt < 8; attempt++) {
        struct tcp_info info;
        socklen_t size = sizeof info;
        memset(&info, 0, sizeof info);
        if (getsockopt(descriptor, IPPROTO_TCP, TCP_INFO, &info, &size) != 0) {
            return false;
        }
        // between two looks at what was acknowledged nothing has moved
        if (attempt > 0 && info.tcpi_bytes_acked == acked) {
            break;
        }
        acked = info.tcpi_bytes_acked;
        if (ioctl(descriptor, TIOCOUTQ, held) != 0) {
            return false;
        }
    }
    *bytes = acked + (uint64_t)*held;
    return true;
}

/* Bytes of one part on the wire: flags and length (RFC 23), and the box (RFC 26). */
static uint64_t part(const struct mechd_zmq *z, size_t size)
{
    const uint64_t n = (uint64_t)size + (z->zap != NULL ? CURVE_BOX : 0);
    return n + (n > 255 ? 9 : 2);
}

/* --- subscribers ------------------------------------------------------------------------------ */

static int find(const struct mechd_readers *r, int descriptor, uint32_t serial)
{
    for (int k = 0; k < r->count; k++) {
        if (r->all[k].descriptor == descriptor && r->all[k].serial == serial) {
            return k;
        }
    }
    return -1;
}

static void remove_prefix(struct mechd_readers *r, int at)
{
    r->prefix_count--;
    memmove(r->prefixes + at, r->prefixes + at + 1,
            (size_t)(r->prefix_count - at) * sizeof *r->prefixes);
}

/* Remove one that has disconnected or is no longer reported. */
static void remove_reader(struct mechd_readers *r, int which)
{
    r->ended += r->all[which].lost;
    for (int k = r->prefix_count; k-- > 0;) {
        if (r->prefixes[k].reader == which) {
            remove_prefix(r, k);
        } else if (r->prefixes[k].reader > which) {
            r->prefixes[k].reader--;
        }
    }
    r->count--;
    memmove(r->all + which, r->all + which + 1, (size_t)(r->count - which) * sizeof *r->all);
}

/* A new one. Negative: it is not reported. */
static int meet(struct mechd_readers *r, int descriptor, uint32_t serial)
{
    struct sockaddr_storage from;
    socklen_t size = sizeof from;
    char host[48] = "", port[8] = "";
    struct mechd_reader reader = {.descriptor = descriptor, .serial = serial, .start = mechd_now()};
    int held = 0;
    if (r->count == MECHD_READERS_MOST || !written(descriptor, &reader.base, &held) ||
        getpeername(descriptor, (struct sockaddr *)&from, &size) != 0 ||
        getnameinfo((struct sockaddr *)&from, size, host, sizeof host, port, sizeof port,
                    NI_NUMERICHOST | NI_NUMERICSERV) != 0) {
        return -1;
    }
    (void)snprintf(reader.peer, sizeof reader.peer, "%s:%s", host, port);
    r->all[r->count] = reader;
    return r->count++;
}

/* Its place among the prefixes, which are in the order of their readers; *known: it is there. */
static int place_of(const struct mechd_readers *r, int which, const char *prefix, size_t size,
                    bool *known)
{
    int at = 0;
    *known = false;
    for (; at < r->prefix_count && r->prefixes[at].reader <= which; at++) {
        const struct mechd_reader_prefix *const p = &r->prefixes[at];
        *known = p->reader == which && p->size == size && memcmp(p->text, prefix, size) == 0;
        if (*known) {
            break;
        }
    }
    return at;
}

void mechd_readers_subscribed(struct mechd_zmq *z, int descriptor, bool subscribe,
                              const char *prefix, size_t size)
{
    struct mechd_readers *const r = &z->readers;
    const uint32_t serial = mechd_guard_serial(z, descriptor);
    if (serial == 0 || size >= MECHD_TOPIC_MOST) {
        return;
    }
    int which = find(r, descriptor, serial);
    if (which < 0 && subscribe) {
        which = meet(r, descriptor, serial);
    }
    bool known = false;
    const int at = which >= 0 ? place_of(r, which, prefix, size, &known) : 0;
    if (which >= 0 && !subscribe && known) {
        remove_prefix(r, at);
    } else if (which >= 0 && subscribe && !known && r->prefix_count == MECHD_PREFIXES_COUNTED) {
        // what it is offered is not known from here on
        remove_reader(r, which);
    } else if (which >= 0 && subscribe && !known) {
        memmove(r->prefixes + at + 1, r->prefixes + at,
                (size_t)(r->prefix_count++ - at) * sizeof *r->prefixes);
        r->prefixes[at] = (struct mechd_reader_prefix){.reader = which, .size = size};
        memcpy(r->prefixes[at].text, prefix, size);
    }
}

/* --- what they are offered -------------------------------------------------------------------- */

static void offer(struct mechd_zmq *z, const char *topic, size_t size, uint64_t count)
{
    struct mechd_readers *const r = &z->readers;
    const size_t n = strlen(topic);
    const uint64_t bytes = part(z, n) + part(z, size);
    int last = -1; // the last receiver: counted once, however many subscriptions match
    for (int k = 0; k < r->prefix_count; k++) {
        const struct mechd_reader_prefix *const p = &r->prefixes[k];
        if (p->reader != last && p->size <= n && memcmp(p->text, topic, p->size) == 0) {
            last = p->reader;
            r->all[last].frames += count;
            r->all[last].bytes += count * bytes;
        }
    }
}

void mechd_readers_offer(struct mechd_zmq *z, const char *topic, size_t size)
{
    offer(z, topic, size, 1);
}

void mechd_readers_dropped(struct mechd_readers *r, const char *topic, size_t size)
{
    int k = 0;
    while (k < r->dropped_count &&
           (r->dropped[k].size != size || strcmp(r->dropped[k].topic, topic) != 0)) {
        k++;
    }
    if (k == MECHD_DROPPED_TOPICS) {
        return; // stream_drops_total has it
    }
    if (k == r->dropped_count) {
        r->dropped[k] = (struct mechd_reader_drop){.size = size};
        (void)snprintf(r->dropped[k].topic, MECHD_TOPIC_MOST, "%s", topic);
        r->dropped_count++;
    }
    r->dropped[k].count++;
}

/* --- what they have got ----------------------------------------------------------------------- */

static void look_at(const struct mechd_zmq *z, struct mechd_reader *o)
{
    uint64_t bytes = 0;
    int held = 0;
    if (o->frames == 0 || !written(o->descriptor, &bytes, &held)) {
        return;
    }
    const uint64_t beat = (uint64_t)z->service->config.heartbeat * 1000 * MECHD_MS;
    const uint64_t pings = beat > 0 ? (mechd_now() - o->start) / beat * PING : 0;
    const uint64_t own = bytes > o->base + pings ? bytes - o->base - pings : 0;
    const double mean = (double)o->bytes / (double)o->frames;
    const uint64_t missing = o->bytes > own ? (uint64_t)((double)(o->bytes - own) / mean + 0.5) : 0;
    const bool rests = held == 0 && o->looked[0] == o->bytes && o->looked[1] == bytes;
    const uint64_t queue = rests ? 0 : MECHD_READER_QUEUE + 2 + (uint64_t)(BATCH / mean);
    if (missing > queue && missing - queue > o->lost) {
        o->lost = missing - queue;
    }
    o->behind = missing > o->lost ? missing - o->lost : 0;
    o->looked[0] = o->bytes;
    o->looked[1] = bytes;
    o->looked[2] = o->frames;
}

void mechd_readers_look(struct mechd_zmq *z)
{
    struct mechd_readers *const r = &z->readers;
    const uint64_t now = mechd_now();
    if (now - r->looked < look_ns) {
        return;
    }
    r->looked = now;
    struct mechd_reader_drop dropped[MECHD_DROPPED_TOPICS];
    pthread_mutex_lock(&z->letters.x);
    pthread_mutex_lock(&z->letters.m);
    const int n = r->dropped_count;
    memcpy(dropped, r->dropped, (size_t)n * sizeof *dropped);
    r->dropped_count = 0;
    pthread_mutex_unlock(&z->letters.m);
    for (int k = 0; k < n; k++) {
        offer(z, dropped[k].topic, dropped[k].size, dropped[k].count);
    }
    for (int k = r->count; k-- > 0;) {
        if (mechd_guard_serial(z, r->all[k].descriptor) != r->all[k].serial) {
            remove_reader(r, k);
        } else {
            look_at(z, &r->all[k]);
        }
    }
    pthread_mutex_unlock(&z->letters.x);
}

int mechd_readers_tell(struct mechd_zmq *z, struct mechd_reader *out, uint64_t *lost)
{
    const struct mechd_readers *const r = &z->readers;
    pthread_mutex_lock(&z->letters.x);
    const int count = r->count;
    *lost = r->ended;
    for (int k = 0; k < count; k++) {
        out[k] = r->all[k];
        out[k].behind += out[k].frames - out[k].looked[2];
        *lost += out[k].lost;
    }
    pthread_mutex_unlock(&z->letters.x);
    return count;
}
