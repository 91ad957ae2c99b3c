/* Letters that are made, wait, are lent to libzmq and come back. */
#include "server/zmq/letters.h"

#include "protocol/wire/problem.h"
#include "server/call/frames.h"
#include "server/call/service.h"
#include "server/os/ticks.h"
#include "server/zmq/internal.h"
#include "solver/base/err.h"

#include <stdlib.h>
#include <string.h>
#include <zmq.h>

enum {
    FRAMES_MOST = 4096,   /* of the stream, in the outbox */
    SPARE_MOST = 1 << 20, /* bytes of letters that are kept to be used again */
    TURNS = 64
};
/* A send may consume the signal of libzmq for a subscription; the socket is checked this often. */
static const uint64_t look_ns = MECHD_MS / 2;

static void free_all(struct mechd_letter *letter)
{
    while (letter != NULL) {
        struct mechd_letter *const next = letter->next;
        free(letter);
        letter = next;
    }
}

void mechd_letters_fini(struct mechd_letters *l)
{
    free_all(l->answers.head);
    free_all(l->frames.head);
    free_all(l->kept);
    free_all(l->stock);
    free_all(atomic_load(&l->returned));
    while (l->refusal_count > 0) {
        zmq_msg_close(&l->refusals[--l->refusal_count]);
    }
    pthread_mutex_destroy(&l->x);
    pthread_mutex_destroy(&l->m);
}

/* --- making, and using again ------------------------------------------------------------------ */

/* The bytes are written by the caller. */
static struct mechd_letter *make(struct mechd_letters *l, size_t room)
{
    struct mechd_letter *const letter = malloc(sizeof *letter + room);
    if (letter != NULL) {
        memset(letter, 0, sizeof *letter);
        letter->home = l;
        letter->room = room;
    }
    return letter;
}

/* The refusal for which there is no other memory. */
static void write_starved(struct mechd_letters *l)
{
    const struct mechp_problem problem = {
        .code = MECHP_INTERNAL,
        .detail = "no memory for the answer; the request may have been executed"};
    struct mechp_text w;
    mechp_text_init(&w, l->starved, sizeof l->starved);
    mechp_problem_write_reply(&problem, NULL, 0, &w);
    l->starved_size = w.bytes == l->starved ? w.length : 0;
    mechp_text_fini(&w);
    mechp_text_init(&w, l->problem, sizeof l->problem);
    mechp_problem_write(&problem, &w);
    l->problem_size = w.bytes == l->problem ? w.length : 0;
    mechp_text_fini(&w);
}

/* As many messages of the second stock as there is memory for. */
static void fill(struct mechd_letters *l)
{
    while (l->refusal_count < MECHD_REFUSALS &&
           zmq_msg_init_size(&l->refusals[l->refusal_count], MECHP_FRAME_HEADER) == 0) {
        l->refusal_count++;
    }
}

int mechd_letters_init(struct mechd_letters *l)
{
    atomic_init(&l->streamed.refs, 1); // never the last
    pthread_mutex_init(&l->x, NULL);
    pthread_mutex_init(&l->m, NULL);
    write_starved(l);
    for (int k = 0; k < MECHD_STOCK; k++) {
        struct mechd_letter *const letter = make(l, MECHD_STOCK_ROOM);
        if (letter == NULL) {
            return MECH_NO_MEMORY;
        }
        letter->stocked = true;
        letter->next = l->stock;
        l->stock = letter;
    }
    fill(l);
    return l->refusal_count == MECHD_REFUSALS ? 0 : MECH_NO_MEMORY;
}

/* One of the stock, for so many bytes, or NULL. */
static struct mechd_letter *take_stock(struct mechd_letters *l, size_t size)
{
    pthread_mutex_lock(&l->m);
    struct mechd_letter *const letter = size <= MECHD_STOCK_ROOM ? l->stock : NULL;
    if (letter != NULL) {
        l->stock = letter->next;
    }
    pthread_mutex_unlock(&l->m);
    return letter;
}

struct mechd_letter *mechd_letter_create(struct mechd_zmq *z, size_t size, size_t extra)
{
    struct mechd_letter *letter = make(&z->letters, size + extra);
    letter = letter != NULL ? letter : take_stock(&z->letters, size + extra);
    if (letter != NULL) {
        letter->next = NULL;
        // one of the stock is as it was sent
        letter->grants = letter->asks = letter->cancelled = false;
        letter->size = size;
        letter->extra = extra;
    }
    return letter;
}

/* One that has come back, or NULL. */
static struct mechd_letter *take_kept(struct mechd_letters *l)
{
    pthread_mutex_lock(&l->m);
    if (l->kept == NULL) {
        l->kept = atomic_exchange(&l->returned, NULL);
    }
    struct mechd_letter *const letter = l->kept;
    if (letter != NULL) {
        l->kept = letter->next;
    }
    pthread_mutex_unlock(&l->m);
    if (letter != NULL) {
        atomic_fetch_sub(&l->spare, sizeof *letter + letter->room);
    }
    return letter;
}

struct mechd_letter *mechd_letter_create_frame(struct mechd_zmq *z, size_t size)
{
    struct mechd_letter *letter = take_kept(&z->letters);
    if (letter == NULL || letter->room < size || letter->room > 4 * size) {
        free(letter);
        letter = make(&z->letters, size);
    }
    if (letter != NULL) {
        letter->stream = true;
        letter->backlog = NULL;
        letter->size = size;
    }
    return letter;
}

/* A letter that is not needed any more. Any thread. */
static void dispose(struct mechd_letter *letter)
{
    struct mechd_letters *const l = letter->home;
    const size_t bytes = sizeof *letter + letter->room;
    if (letter->stocked) {
        pthread_mutex_lock(&l->m);
        letter->next = l->stock;
        l->stock = letter;
        pthread_mutex_unlock(&l->m);
        return;
    }
    if (!letter->stream || atomic_fetch_add(&l->spare, bytes) + bytes > SPARE_MOST) {
        if (letter->stream) {
            atomic_fetch_sub(&l->spare, bytes);
        }
        free(letter);
        return;
    }
    // taken all at once only: that one was taken and came back in between does no harm
    letter->next = atomic_load(&l->returned);
    while (!atomic_compare_exchange_weak(&l->returned, &letter->next, letter)) {
    }
}

/* libzmq is done with one frame of a letter. On its thread. */
static void release(void *bytes, void *hint)
{
    struct mechd_letter *const letter = hint;
    // sees what send_lent did before its store, whatever order libzmq keeps between its threads
    (void)atomic_load(&letter->frames);
    struct mechd_letters *const l = letter->home;
    struct mechd_backlog *const backlog = letter->backlog;
    if (backlog != NULL) {
        atomic_fetch_sub(&backlog->bytes, bytes == letter->bytes ? letter->size : letter->extra);
    }
    if (atomic_fetch_sub(&letter->frames, 1) == 1) {
        mechd_backlog_unref(backlog);
        dispose(letter);
        atomic_fetch_sub(&l->lent, 1);
    }
}

/* --- sending ---------------------------------------------------------------------------------- */

/* One frame; false: the peer is gone or does not read. */
static bool send_frame(void *socket, const void *bytes, size_t size, bool more)
{
    return zmq_send(socket, bytes, size, ZMQ_DONTWAIT | (more ? ZMQ_SNDMORE : 0)) >= 0;
}

/* A letter that libzmq has: body and extra frame, or the body alone. */
struct lent {
    struct mechd_letter *letter;
    zmq_msg_t frames[2];
    int count;
};

/* Lend it, without a copy. False: no memory, and it is still the caller's. */
static bool lend(struct mechd_letter *letter, struct mechd_backlog *backlog, struct lent *out)
{
    unsigned char *const bytes[2] = {letter->bytes, letter->bytes + letter->size};
    const size_t sizes[2] = {letter->size, letter->extra};
    const int count = letter->extra > 0 ? 2 : 1;
    letter->backlog = NULL;
    atomic_store(&letter->frames, count);
    for (int k = 0; k < count; k++) {
        if (zmq_msg_init_data(&out->frames[k], bytes[k], sizes[k], release, letter) != 0) {
            if (k > 0) {
                zmq_msg_close(&out->frames[0]); // not the last: it is not disposed of
            }
            return false;
        }
    }
    out->letter = letter;
    out->count = count;
    if (backlog != NULL) {
        atomic_fetch_add(&backlog->refs, 1);
        atomic_fetch_add(&backlog->bytes, letter->size + letter->extra);
    }
    letter->backlog = backlog;
    atomic_fetch_add(&letter->home->lent, 1);
    return true;
}

/* What is not sent of it is released. */
static void take_back(struct lent *l, int from)
{
    for (int k = from; k < l->count; k++) {
        zmq_msg_close(&l->frames[k]);
    }
}

/* Body and extra frame behind what has been sent of the message. */
static bool send_lent(void *socket, struct lent *l)
{
    // all that this thread does with the letter comes before this store, which release() sees; once
    // a frame of it is sent the letter is libzmq's
    atomic_store(&l->letter->frames, l->count);
    for (int k = 0; k < l->count; k++) {
        const int more = k + 1 < l->count ? ZMQ_SNDMORE : 0;
        if (zmq_msg_send(&l->frames[k], socket, ZMQ_DONTWAIT | more) < 0) {
            take_back(l, k);
            return false;
        }
    }
    return true;
}

/* Constant bytes, which need no memory. */
static bool send_constant(void *socket, char *bytes, size_t size)
{
    zmq_msg_t message;
    return zmq_msg_init_data(&message, bytes, size, NULL, NULL) == 0 &&
           zmq_msg_send(&message, socket, ZMQ_DONTWAIT) >= 0;
}

/* The refusal in place of what cannot be lent. Once the second stock is used up, frames get that of
 * JSON. */
static bool send_starved(void *socket, struct mechd_letters *l, const struct mechp_frame *answer)
{
    if (answer == NULL || l->refusal_count == 0) {
        return send_constant(socket, l->starved, l->starved_size);
    }
    const struct mechp_frame out = {.kind = MECHP_ERROR,
                                    .status = MECHP_INTERNAL,
                                    .instance = answer->instance,
                                    .iteration = answer->iteration,
                                    .sequence = answer->sequence,
                                    .size = answer->size,
                                    .lease = answer->lease};
    zmq_msg_t *const message = &l->refusals[--l->refusal_count];
    mechp_frame_write(&out, zmq_msg_data(message));
    if (zmq_msg_send(message, socket, ZMQ_DONTWAIT | ZMQ_SNDMORE) < 0) {
        l->refusal_count++;
        return false;
    }
    return send_constant(socket, l->problem, l->problem_size);
}

/* The frame that a letter has, into *out; false: it is JSON. */
static bool has_frame(const struct mechd_letter *letter, struct mechp_frame *out)
{
    return mechp_frame_read(letter->bytes, letter->size, out) == 0;
}

/* The topic in front of a frame of the stream. A subscriber that has not read its last thousand
 * shows as EAGAIN once; it misses what follows until it reads, and the others get it all. */
static bool send_topic(struct mechd_zmq *z, void *socket, const char *topic)
{
    static const int keep = 1, lose = 0;
    const size_t n = strlen(topic);
    if (send_frame(socket, topic, n, true)) {
        return true;
    }
    if (zmq_errno() != EAGAIN) {
        return false;
    }
    mechd_count(&z->service->host.counters.stream_stalls, 1);
    zmq_setsockopt(socket, ZMQ_XPUB_NODROP, &lose, sizeof lose);
    const bool ok = send_frame(socket, topic, n, true);
    zmq_setsockopt(socket, ZMQ_XPUB_NODROP, &keep, sizeof keep);
    return ok;
}

/* A frame of the stream. x is held. */
static void send_streamed(struct mechd_zmq *z, struct mechd_letter *letter)
{
    void *const socket = z->sockets[MECHD_ZMQ_STREAM];
    struct mechd_backlog *const streamed = &z->letters.streamed;
    const size_t size = letter->size;
    struct lent lent;
    mechd_readers_offer(z, letter->topic, size);
    // before the topic, which is not sent without what follows it
    if (socket == NULL || atomic_load(&streamed->bytes) > mechd_unread_most ||
        !lend(letter, size >= MECHD_LETTER_LARGE ? streamed : NULL, &lent)) {
        mechd_count(&z->service->host.counters.stream_drops, 1);
        dispose(letter);
    } else if (!send_topic(z, socket, letter->topic)) {
        mechd_count(&z->service->host.counters.stream_drops, 1);
        take_back(&lent, 0);
    } else if (send_lent(socket, &lent)) {
        mechd_count(&mechd_tally(&z->service->host.counters)->bytes_out, size);
    }
}

/* Questions to the program with this lease, from this letter of a line on, are not sent. */
static void cancel(struct mechd_letter *from, uint64_t lease)
{
    for (struct mechd_letter *x = from; x != NULL; x = x->next) {
        struct mechp_frame question;
        x->cancelled =
            x->cancelled || (x->asks && has_frame(x, &question) && question.lease == lease);
    }
}

/* A hello is without effect; `behind`: the line behind its reply. No question is made after that,
 * but some may wait in that line or in the outbox. */
static void withdraw(struct mechd_zmq *z, const struct mechp_frame *hello,
                     struct mechd_letter *behind)
{
    mechd_frame_withdraw(z->service, hello);
    cancel(behind, hello->lease);
    pthread_mutex_lock(&z->letters.m);
    cancel(z->letters.answers.head, hello->lease);
    pthread_mutex_unlock(&z->letters.m);
}

void mechd_letter_send(struct mechd_zmq *z, struct mechd_letter *letter)
{
    struct mechd_letter *const behind = letter->next;
    void *const socket = z->sockets[MECHD_ZMQ_CONTROL];
    const size_t size = letter->size + letter->extra;
    struct mechd_backlog *backlog = NULL;
    bool ok = socket != NULL && !letter->cancelled;
    z->watched[MECHD_WATCH_SOCKETS + MECHD_ZMQ_CONTROL].unseen = true;
    if (ok && size >= MECHD_LETTER_LARGE) {
        ok = mechd_guard_unread(z, &letter->peer, &backlog);
    }
    struct lent lent;
    struct mechp_frame answer = {.kind = 0};
    const bool taken = ok && lend(letter, backlog, &lent);
    const bool framed = (!taken || letter->grants) && has_frame(letter, &answer);
    const bool grants = letter->grants && framed;
    if (grants && !taken) {
        withdraw(z, &answer, behind);
        answer.lease = 0;
    }
    ok = ok && (taken || !letter->asks);
    if (ok && !send_frame(socket, letter->peer.id, letter->peer.size, true)) {
        ok = false;
        if (zmq_errno() == EAGAIN) {
            mechd_guard_full(z, &letter->peer);
        }
    }
    ok = ok && (!letter->peer.delimiter || send_frame(socket, "", 0, true));
    // the message has begun: without an end it would go on with the next one
    if (!taken) {
        ok = ok && send_starved(socket, &z->letters, framed ? &answer : NULL);
        dispose(letter);
    } else if (!ok) {
        take_back(&lent, 0);
    } else {
        ok = send_lent(socket, &lent);
    }
    if (grants && taken && !ok) {
        withdraw(z, &answer, behind);
    }
    fill(&z->letters);
    struct mechd_counters *const c = &z->service->host.counters;
    mechd_count(ok ? &mechd_tally(c)->bytes_out : &c->unsent, ok ? size : 1);
}

/* --- the outbox ------------------------------------------------------------------------------- */

/* Send a frame from the thread that made it. False: it has to wait. */
static bool send_here(struct mechd_zmq *z, struct mechd_letter *letter)
{
    struct mechd_letters *const l = &z->letters;
    if (pthread_mutex_trylock(&l->x) != 0) {
        return false;
    }
    // the maker of the previous frame of the same instance has been waited for: if that was
    // queued, it is seen here, or has been sent while x was held
    const bool first = atomic_load(&l->queued) == 0;
    bool news = false;
    if (first) {
        send_streamed(z, letter);
        const uint64_t now = mechd_now();
        if (now - l->looked > look_ns && z->sockets[MECHD_ZMQ_STREAM] != NULL) {
            int events = 0;
            size_t size = sizeof events;
            l->looked = now;
            news = zmq_getsockopt(z->sockets[MECHD_ZMQ_STREAM], ZMQ_EVENTS, &events, &size) == 0 &&
                   (events & ZMQ_POLLIN) != 0;
        }
    }
    pthread_mutex_unlock(&l->x);
    if (news) {
        mechd_zmq_poke(z);
    }
    return first;
}

static void append(struct mechd_line *line, struct mechd_letter *letter)
{
    letter->next = NULL;
    if (line->head == NULL) {
        line->head = letter;
    } else {
        line->tail->next = letter;
    }
    line->tail = letter;
    line->count++;
}

void mechd_letter_post(struct mechd_zmq *z, struct mechd_letter *letter)
{
    struct mechd_letters *const l = &z->letters;
    if (letter->stream && send_here(z, letter)) {
        return;
    }
    pthread_mutex_lock(&l->m);
    const bool drop = letter->stream && l->frames.count >= FRAMES_MOST;
    const bool wake = !drop && l->asleep;
    if (!drop) {
        l->asleep = false;
        append(letter->stream ? &l->frames : &l->answers, letter);
        atomic_store(&l->queued, l->frames.count);
    } else {
        mechd_readers_dropped(&z->readers, letter->topic, letter->size);
    }
    pthread_mutex_unlock(&l->m);
    if (drop) {
        mechd_count(&z->service->host.counters.stream_drops, 1);
        dispose(letter);
    } else if (wake) {
        mechd_zmq_poke(z);
    }
}

void mechd_letter_deliver(struct mechd_zmq *z, struct mechd_letter *letter, bool here)
{
    if (letter == NULL) {
        mechd_count(&z->service->host.counters.unsent, 1);
    } else if (here) {
        mechd_letter_send(z, letter);
    } else {
        mechd_letter_post(z, letter);
    }
}

/* Send all answers, or all frames (with x held), that wait; how many. */
static int send_line(struct mechd_zmq *z, bool frames)
{
    struct mechd_letters *const l = &z->letters;
    struct mechd_line *const line = frames ? &l->frames : &l->answers;
    pthread_mutex_lock(&l->m);
    struct mechd_letter *letter = line->head;
    *line = (struct mechd_line){.head = NULL};
    atomic_store(&l->queued, l->frames.count);
    pthread_mutex_unlock(&l->m);
    int sent = 0;
    for (; letter != NULL; sent++) {
        struct mechd_letter *const next = letter->next;
        (frames ? send_streamed : mechd_letter_send)(z, letter);
        letter = next;
    }
    return sent;
}

void mechd_letters_answer(struct mechd_zmq *z)
{
    (void)send_line(z, false);
}

/* Nothing is waiting: the next post wakes the thread. */
static bool may_rest(struct mechd_letters *l)
{
    pthread_mutex_lock(&l->m);
    l->asleep = l->answers.head == NULL && l->frames.head == NULL;
    const bool rests = l->asleep;
    pthread_mutex_unlock(&l->m);
    return rests;
}

bool mechd_letters_drain(struct mechd_zmq *z)
{
    struct mechd_letters *const l = &z->letters;
    for (int sent = 0; sent < TURNS;) {
        int now = send_line(z, false);
        if (atomic_load(&l->queued) > 0) {
            pthread_mutex_lock(&l->x);
            now += send_line(z, true);
            pthread_mutex_unlock(&l->x);
            // libzmq may have consumed the signal of a subscription
            z->watched[MECHD_WATCH_SOCKETS + MECHD_ZMQ_STREAM].unseen = true;
        }
        if (now == 0 && may_rest(l)) {
            return true;
        }
        sent += now;
    }
    return false;
}

int mechd_letters_waiting(struct mechd_letters *l)
{
    pthread_mutex_lock(&l->m);
    const int waiting = l->answers.count + l->frames.count;
    pthread_mutex_unlock(&l->m);
    return waiting;
}

void mechd_letters_settle(struct mechd_letters *l, uint64_t most)
{
    const uint64_t until = mechd_now() + most;
    const struct timespec nap = {.tv_nsec = MECHD_MS / 4};
    while (atomic_load(&l->lent) > 0 && mechd_now() < until) {
        (void)nanosleep(&nap, NULL);
    }
    // what has come back may stand in libzmq's last batch, which its thread is about to write
    const struct timespec last = {.tv_nsec = 10 * MECHD_MS};
    (void)nanosleep(&last, NULL);
}
