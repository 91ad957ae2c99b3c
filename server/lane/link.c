/* One connection of the lane: bytes in, whole messages, bytes out, and how long each may take. */
#include "server/lane/internal.h"
#include "server/os/ticks.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

/* --- begin and end ---------------------------------------------------------------------------- */

void mechd_lane_meet(struct mechd_lane_thread *t, struct mechd_lane_link *link)
{
    struct epoll_event event = {.events = EPOLLIN | EPOLLRDHUP, .data.ptr = link};
    link->thread = t;
    link->interest = event.events;
    link->missing = MECHD_LANE_LENGTH;
    link->since = mechd_now();
    link->next = t->links;
    if (t->links != NULL) {
        t->links->before = link;
    }
    t->links = link;
    t->limited = true;
    if (epoll_ctl(t->epoll, EPOLL_CTL_ADD, link->socket, &event) != 0) {
        mechd_lane_close(link);
    }
}

void mechd_lane_close(struct mechd_lane_link *link)
{
    struct mechd_lane_thread *const t = link->thread;
    if (link->socket >= 0) {
        // closing alone does not remove it while a process that is being started has it too
        (void)epoll_ctl(t->epoll, EPOLL_CTL_DEL, link->socket, NULL);
        close(link->socket);
        link->socket = -1;
        link->phase = MECHD_LANE_GONE;
        (void)mechd_stop_raise(&link->gone, MECHD_STOP_GONE);
        mechd_lane_caller_end(link);
        atomic_fetch_sub(&t->door->open, 1);
    }
    if (link->phase == MECHD_LANE_GONE && !link->works) {
        link->phase = MECHD_LANE_DEAD;
        *(link->before != NULL ? &link->before->next : &t->links) = link->next;
        if (link->next != NULL) {
            link->next->before = link->before;
        }
        link->next = t->dead;
        t->dead = link;
    }
}

void mechd_lane_bury(struct mechd_lane_thread *t)
{
    while (t->dead != NULL) {
        struct mechd_lane_link *const link = t->dead;
        t->dead = link->next;
        mechd_lane_drop(link, &link->in);
        mechd_lane_drop(link, &link->out);
        free(link);
    }
}

/* --- messages in ------------------------------------------------------------------------------ */

enum found { FOUND_WHOLE, FOUND_PART, FOUND_BEYOND };

/* The message at `from`, behind its length; *missing: bytes that it lacks. */
static enum found find_one(const struct mechd_lane_link *link, size_t from, const char **bytes,
                           size_t *size, size_t *missing)
{
    const struct mechd_lane_buffer *const b = &link->in;
    const size_t there = b->to - from;
    if (there < MECHD_LANE_LENGTH) {
        *missing = MECHD_LANE_LENGTH - there;
        return FOUND_PART;
    }
    size_t length = 0;
    for (int k = MECHD_LANE_LENGTH; k-- > 0;) {
        length = length << 8 | b->bytes[from + (size_t)k];
    }
    if (length > link->thread->door->largest) {
        return FOUND_BEYOND;
    }
    *bytes = (const char *)b->bytes + from + MECHD_LANE_LENGTH;
    *size = length;
    const size_t body = there - MECHD_LANE_LENGTH;
    *missing = body < length ? length - body : 0;
    return *missing == 0 ? FOUND_WHOLE : FOUND_PART;
}

/* The next request, into link->message; else how much is missing. */
static enum found find(struct mechd_lane_link *link)
{
    struct mechd_lane_message m = {.bytes = NULL};
    enum found found = find_one(link, link->in.from, &m.bytes, &m.size, &link->missing);
    m.all = MECHD_LANE_LENGTH + m.size;
    // the JSON part of a hello, also of one that will be refused; the text of an error
    if (found == FOUND_WHOLE && m.size > 6 && memcmp(m.bytes, "MCHD", 4) == 0 &&
        (m.bytes[5] == MECHP_HELLO ||
         (m.bytes[5] == MECHP_ERROR && ((unsigned char)m.bytes[6] & MECHP_TEXT) != 0))) {
        found = find_one(link, link->in.from + m.all, &m.extra, &m.extra_size, &link->missing);
        m.all += MECHD_LANE_LENGTH + m.extra_size;
    }
    link->message = m;
    return found;
}

/* What has come, as far as there is room for a message that is not whole: twice what is there.
 * False: nothing. */
static bool read_more(struct mechd_lane_link *link)
{
    struct mechd_lane_buffer *const b = &link->in;
    const size_t most = mechd_lane_held(b) + MECHD_LANE_ROOM;
    if (!mechd_lane_reserve(link, b, link->missing < most ? link->missing : most)) {
        if (mechd_lane_refuse(link, MECHP_LIMIT_REACHED, "too many requests are in progress")) {
            link->ends = true;
        } else {
            mechd_lane_close(link);
        }
        return false;
    }
    const ssize_t n = recv(link->socket, b->bytes + b->to, b->room - b->to, 0);
    if (n > 0) {
        b->to += (size_t)n;
        mechd_count(&mechd_tally(&link->thread->door->service->host.counters)->bytes_in,
                    (uint64_t)n);
        return true;
    }
    if (n == 0 || (errno != EAGAIN && errno != EINTR)) {
        mechd_lane_close(link);
    }
    return false;
}

/* --- messages out ----------------------------------------------------------------------------- */

/* Send what the peer takes. True: nothing is left, and it is still there. */
static bool flush(struct mechd_lane_link *link)
{
    struct mechd_lane_buffer *const b = &link->out;
    while (mechd_lane_held(b) > 0) {
        const ssize_t n = send(link->socket, b->bytes + b->from, mechd_lane_held(b), MSG_NOSIGNAL);
        if (n < 0 && errno == EINTR) {
            continue;
        }
        if (n < 0 && errno == EAGAIN) {
            return false;
        }
        if (n < 0) {
            mechd_count(&link->thread->door->service->host.counters.unsent, 1);
            mechd_lane_close(link);
            return false;
        }
        b->from += (size_t)n;
        mechd_count(&mechd_tally(&link->thread->door->service->host.counters)->bytes_out,
                    (uint64_t)n);
    }
    mechd_lane_settle(link, b);
    if (link->ends) {
        mechd_lane_close(link);
    }
    return !link->ends;
}

/* The reply of the request that is over goes behind those before it. */
static void finish(struct mechd_lane_link *link)
{
    if (!mechd_lane_reply(link)) {
        mechd_lane_close(link);
        return;
    }
    link->in.from += link->message.all;
    mechd_lane_settle(link, &link->in);
}

/* Do what has been asked, until one request works elsewhere or too much waits to be taken. */
static void go_on(struct mechd_lane_link *link)
{
    enum found found = FOUND_WHOLE;
    while (link->socket >= 0 && !link->works && !link->ends && found == FOUND_WHOLE &&
           (mechd_lane_held(&link->out) < MECHD_LANE_COUNTED || flush(link))) {
        found = find(link);
        if (found == FOUND_WHOLE) {
            link->seen++;
            if (mechd_lane_ask(link)) {
                finish(link);
            }
        } else if (found == FOUND_BEYOND) {
            // where the next message begins is not known
            link->ends = mechd_lane_refuse(link, MECHP_BODY_TOO_LARGE, "the message is too long");
            link->in.from = link->in.to;
        }
    }
    if (link->socket >= 0 && found == FOUND_BEYOND && !link->ends) {
        mechd_lane_close(link);
    }
    if (link->socket >= 0) {
        (void)flush(link);
    }
}

/* --- phases ----------------------------------------------------------------------------------- */

static enum mechd_lane_phase phase_of(const struct mechd_lane_link *link)
{
    return link->works                       ? MECHD_LANE_WORK
           : mechd_lane_held(&link->out) > 0 ? MECHD_LANE_ANSWER
           : mechd_lane_held(&link->in) > 0  ? MECHD_LANE_PART
           : link->seen > 0                  ? MECHD_LANE_IDLE
                                             : MECHD_LANE_NEW;
}

/* Is its phase one that ends by the clock? */
static bool is_limited(const struct mechd_lane_link *link)
{
    return link->socket >= 0 && link->phase != MECHD_LANE_WORK &&
           (link->phase != MECHD_LANE_IDLE || !link->greeted);
}

/* Note its phase, and what it waits for. */
static void note(struct mechd_lane_link *link)
{
    if (link->socket < 0) {
        return;
    }
    const bool waits = mechd_lane_held(&link->out) > 0;
    const bool gone = mechd_stop_reason(&link->gone) != MECHD_STOP_NONE;
    const unsigned reads = link->works ? (gone ? 0 : EPOLLRDHUP) : waits ? 0 : EPOLLIN | EPOLLRDHUP;
    struct epoll_event event = {.events = reads | (waits ? EPOLLOUT : 0), .data.ptr = link};
    link->phase = phase_of(link);
    link->thread->limited |= is_limited(link);
    if (event.events != link->interest) {
        link->interest = event.events;
        if (epoll_ctl(link->thread->epoll, EPOLL_CTL_MOD, link->socket, &event) != 0) {
            mechd_lane_close(link);
        }
    }
}

void mechd_lane_put(struct mechd_lane_link *link, const void *bytes, size_t size)
{
    if (!mechd_lane_reserve(link, &link->out, size)) {
        mechd_lane_close(link);
        return;
    }
    memcpy(link->out.bytes + link->out.to, bytes, size);
    link->out.to += size;
    // messages that are there already may have waited for room
    if (flush(link) && !link->works) {
        go_on(link);
    }
    note(link);
}

void mechd_lane_serve(struct mechd_lane_link *link, unsigned events)
{
    if (link->socket < 0) {
        return; // closed by an event before this one
    }
    if (link->works) {
        // half closed looks the same as left
        if ((events & (EPOLLRDHUP | EPOLLHUP | EPOLLERR)) != 0) {
            (void)mechd_stop_raise(&link->gone, MECHD_STOP_GONE);
        }
        if ((events & (EPOLLHUP | EPOLLERR)) != 0) {
            mechd_lane_close(link);
        } else if ((events & EPOLLOUT) != 0) {
            (void)flush(link);
        }
    } else if (mechd_lane_held(&link->out) > 0) {
        if (flush(link)) {
            go_on(link);
        }
    } else if (read_more(link)) {
        go_on(link);
    } else if (link->socket >= 0 && link->ends) {
        (void)flush(link);
    }
    note(link);
}

void mechd_lane_answered(struct mechd_lane_link *link)
{
    finish(link);
    if (link->socket < 0) {
        mechd_lane_close(link); // its request was the last that needed it
        return;
    }
    go_on(link);
    note(link);
}

/* How long its phase may last, ns. */
static uint64_t patience(const struct mechd_lane_link *link)
{
    const struct mechd_config *const c = &link->thread->door->service->config;
    const uint64_t second = 1000 * (uint64_t)MECHD_MS;
    const size_t bytes = link->phase == MECHD_LANE_PART ? mechd_lane_held(&link->in) : link->out.to;
    switch (link->phase) {
    case MECHD_LANE_NEW:
        return (uint64_t)c->handshake_ms * MECHD_MS;
    case MECHD_LANE_IDLE:
        return (uint64_t)c->idle_seconds * second;
    default:
        return (uint64_t)c->body_seconds * second +
               (uint64_t)bytes * second / ((uint64_t)c->body_rate << 10);
    }
}

/* It is too slow. A peer whose message is incomplete receives an answer. */
static void end_slow(struct mechd_lane_link *link)
{
    mechd_count(&link->thread->door->service->host.counters.lane_timeouts, 1);
    if (link->phase == MECHD_LANE_PART &&
        mechd_lane_refuse(link, MECHP_REQUEST_TIMEOUT, "the message did not arrive in time")) {
        link->ends = true;
        (void)flush(link);
    }
    mechd_lane_close(link);
}

void mechd_lane_look(struct mechd_lane_thread *t, uint64_t now)
{
    t->limited = false;
    t->looked = now;
    for (struct mechd_lane_link *link = t->links, *next = NULL; link != NULL; link = next) {
        next = link->next;
        if (link->phase != link->known_phase || link->seen != link->known) {
            link->known_phase = link->phase;
            link->known = link->seen;
            link->since = now;
        }
        if (is_limited(link) && now - link->since > patience(link)) {
            end_slow(link);
        }
        t->limited |= is_limited(link);
    }
}
