/* Answers over the control socket for which there is no memory: a refusal comes in their place,
 * with the sequence of the request, and messages behind it are whole. */
#include "protocol/frame/frame.h"
#include "tests/unit/alloc_count.h"
#include "tests/unit/server/scarce.h"
#include "tests/unit/unit.h"

#include "server/os/ticks.h"
#include "server/zmq/internal.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zmq.h>

enum { MOST = 2000, WAIT_MS = SCARCE_LIMIT_MS, TEXT = 1 << 16 };

static const char *const sockets[] = {"--control", "tcp://127.0.0.1:*", NULL};

/* A client, and what it has received last. */
static struct client {
    void *context, *socket;
    struct mechd_peer peer;
    char text[TEXT];
    int size; /* negative: nothing came */
    bool more;
} client;

static void connect_client(const char *endpoint)
{
    static const int wait = WAIT_MS, none = 0;
    client.context = zmq_ctx_new();
    client.socket = zmq_socket(client.context, ZMQ_DEALER);
    CU_ASSERT_PTR_NOT_NULL_FATAL(client.socket);
    client.peer = (struct mechd_peer){.id = "client", .size = 6};
    zmq_setsockopt(client.socket, ZMQ_ROUTING_ID, client.peer.id, client.peer.size);
    zmq_setsockopt(client.socket, ZMQ_RCVTIMEO, &wait, sizeof wait);
    zmq_setsockopt(client.socket, ZMQ_LINGER, &none, sizeof none);
    CU_ASSERT_EQUAL_FATAL(zmq_connect(client.socket, endpoint), 0);
}

static void end_client(void)
{
    zmq_close(client.socket);
    zmq_ctx_term(client.context);
}

static void send_text(const char *text)
{
    CU_ASSERT(zmq_send(client.socket, text, strlen(text), 0) >= 0);
}

static void receive(void)
{
    int more = 0;
    size_t wide = sizeof more;
    memset(client.text, 0, sizeof client.text);
    client.size = zmq_recv(client.socket, client.text, sizeof client.text - 1, 0);
    zmq_getsockopt(client.socket, ZMQ_RCVMORE, &more, &wide);
    client.more = more != 0;
}

static bool has(const char *word)
{
    return client.size > 0 && strstr(client.text, word) != NULL;
}

/* What the door gets, as if a thread of the pool had read it: its answer goes through the outbox,
 * and the door's thread has all memory. */
static struct mechd_asked asked_of(const void *bytes, size_t size)
{
    return (struct mechd_asked){
        .peer = &client.peer, .bytes = bytes, .size = size, .place = MECHD_ON_A_WORKER};
}

static int internals; /* answers that there is none to what has been done */

/* Each allocation of a request is refused in turn. The number of requests that failed. */
static int try_all(struct mechd_zmq *z, const char *text, const char *sequence, bool forever)
{
    const struct mechd_asked asked = asked_of(text, strlen(text));
    int failed = 0;
    long refused = 1;
    for (long n = 0; n < MOST && refused > 0; n++) {
        alloc_refuse_start(n, forever);
        mechd_control_json(z, &asked);
        refused = alloc_refuse_stop();
        receive();
        const bool good = has("\"ok\":true");
        const bool starved =
            has("\"code\":\"out-of-memory\"") ||
            (has("\"code\":\"internal-error\"") && has("no memory for the answer"));
        const bool whole = (good || (starved && refused > 0)) && !client.more &&
                           (sequence == NULL || has(sequence));
        if (!whole) {
            (void)printf("    allocation %ld: %.200s\n", n, client.size < 0 ? "" : client.text);
        }
        CU_ASSERT(whole);
        failed += starved;
        internals += has("internal-error");
    }
    CU_ASSERT_EQUAL(refused, 0);
    return failed;
}

static void each_request_is_answered(void)
{
    struct mechd *const served = scarce_begin_with(false, sockets);
    struct mechd_zmq *const z = served->zmq;
    connect_client(mechd_zmq_endpoint(z, MECHD_ZMQ_CONTROL));
    send_text("{\"op\":\"create\",\"example\":\"spring-mass-damper\"}");
    receive();
    CU_ASSERT_FATAL(has("\"ok\":true"));
    for (int forever = 0; forever < 2; forever++) {
        CU_ASSERT(try_all(z, "{\"op\":\"step\",\"id\":\"i-1\",\"count\":1,\"sequence\":77}",
                          "\"sequence\":77", forever) > 2);
        CU_ASSERT(try_all(z, "{\"op\":\"instances\",\"sequence\":\"one-2\"}",
                          "\"sequence\":\"one-2\"", forever) > 2);
        CU_ASSERT(try_all(z, "{\"op\":\"instances\"}", NULL, forever) > 2);
        CU_ASSERT(try_all(z, "{\"op\":\"instances\",\"sequence\":[1,2]}", NULL, forever) > 2);
        // longer than a letter of the stock, and too long for a refusal
        char text[1200];
        (void)snprintf(text, sizeof text,
                       "{\"op\":\"step\",\"id\":\"i-1\",\"count\":1,\"sequence\":\"%0900d\"}", 1);
        CU_ASSERT(try_all(z, text, NULL, forever) > 2);
        CU_ASSERT(internals > 0);
    }
    end_client();
    scarce_end(served);
}

/* The answer to a frame, an error or a hello, with its second part. */
static struct mechp_frame receive_frame(uint64_t sequence)
{
    struct mechp_frame in = {.sequence = 0};
    receive();
    CU_ASSERT_EQUAL(mechp_frame_read(client.text, (size_t)client.size, &in), 0);
    CU_ASSERT_EQUAL(in.sequence, sequence);
    CU_ASSERT_FATAL(client.more);
    receive();
    CU_ASSERT_FALSE(client.more);
    return in;
}

/* The partnership of a hello ends. */
static void say_bye(const struct mechp_frame *hello)
{
    const struct mechp_frame out = {
        .kind = MECHP_BYE, .instance = hello->instance, .lease = hello->lease};
    unsigned char bytes[MECHP_FRAME_HEADER];
    mechp_frame_write(&out, bytes);
    CU_ASSERT(zmq_send(client.socket, bytes, sizeof bytes, 0) >= 0);
    receive();
    if (client.more) {
        receive();
    }
}

/* The instance has a lease. */
static bool has_lease(struct mechd_zmq *z)
{
    struct mechd_instance *const i = mechd_table_find(&z->service->host.table, "i-1");
    CU_ASSERT_PTR_NOT_NULL_FATAL(i);
    const bool none = mechd_leases_none(&i->leases);
    mechd_instance_unref(i);
    return !none;
}

/* Each allocation of a frame is refused in turn: all its answers but the last one are errors, with
 * their problem, and a hello that is refused has no lease. */
static void try_frame(struct mechd_zmq *z, const struct mechp_frame *out, const char *hello,
                      bool forever)
{
    unsigned char bytes[MECHP_FRAME_HEADER];
    mechp_frame_write(out, bytes);
    struct mechd_asked asked = asked_of(bytes, sizeof bytes);
    asked.extra = hello;
    asked.extra_size = hello != NULL ? strlen(hello) : 0;
    long refused = 1;
    int starved = 0;
    for (long n = 0; n < MOST && refused > 0; n++) {
        alloc_refuse_start(n, forever);
        mechd_control_frame(z, &asked);
        refused = alloc_refuse_stop();
        const struct mechp_frame in = receive_frame(out->sequence);
        const bool good = in.kind == MECHP_HELLO && has("\"layoutHash\"");
        char number[32];
        (void)snprintf(number, sizeof number, "\"number\":%d", (int)in.status);
        if (!(good || (in.kind == MECHP_ERROR && has(number)))) {
            (void)printf("    allocation %ld: kind %d, %.200s\n", n, in.kind, client.text);
            CU_FAIL("no whole answer");
        }
        starved += in.status == MECHP_OUT_OF_MEMORY || in.status == MECHP_INTERNAL;
        if (hello != NULL) {
            CU_ASSERT_EQUAL(has_lease(z), good);
        }
        if (hello != NULL && good) {
            say_bye(&in);
        }
    }
    CU_ASSERT_EQUAL(refused, 0);
    CU_ASSERT(starved > 0);
}

static void frames_are_answered_too(void)
{
    struct mechd *const served = scarce_begin_with(false, sockets);
    struct mechd_zmq *const z = served->zmq;
    connect_client(mechd_zmq_endpoint(z, MECHD_ZMQ_CONTROL));
    send_text("{\"op\":\"create\",\"example\":\"spring-mass-damper\"}");
    receive();
    CU_ASSERT_FATAL(has("\"ok\":true"));
    for (int forever = 0; forever < 2; forever++) {
        try_frame(z,
                  &(const struct mechp_frame){.kind = MECHP_OUTPUTS, .instance = 9, .sequence = 5},
                  NULL, forever);
        try_frame(z, &(const struct mechp_frame){.kind = MECHP_HELLO, .sequence = 1234},
                  "{\"instance\":\"i-1\"}", forever);
    }
    end_client();
    scarce_end(served);
}

static struct mechd_letter *letter_of(struct mechd_zmq *z, const void *bytes, size_t size,
                                      size_t extra)
{
    struct mechd_letter *const letter = mechd_letter_create(z, size, extra);
    CU_ASSERT_PTR_NOT_NULL_FATAL(letter);
    letter->peer = client.peer;
    memcpy(letter->bytes, bytes, size);
    memset(letter->bytes + size, 'x', extra);
    return letter;
}

static struct mechd_letter *letter_of_text(struct mechd_zmq *z, const char *text, size_t extra)
{
    return letter_of(z, text, strlen(text), extra);
}

/* A door whose thread is this one, and which knows the client. */
static struct mechd_zmq *open_door(struct mechd *served)
{
    struct mechd_zmq *z = NULL;
    char fault[512];
    CU_ASSERT_EQUAL_FATAL(mechd_zmq_open(&served->service, &z, fault, sizeof fault), 0);
    connect_client(mechd_zmq_endpoint(z, MECHD_ZMQ_CONTROL));
    send_text("hello");
    zmq_msg_t frames[3];
    zmq_pollitem_t item = {.socket = z->sockets[MECHD_ZMQ_CONTROL], .events = ZMQ_POLLIN};
    CU_ASSERT_EQUAL_FATAL(zmq_poll(&item, 1, WAIT_MS), 1);
    const int count = mechd_zmq_receive(z->sockets[MECHD_ZMQ_CONTROL], frames, 3);
    CU_ASSERT_EQUAL(count, 2);
    for (int k = 0; k < count; k++) {
        zmq_msg_close(&frames[k]);
    }
    return z;
}

static void a_message_that_has_begun_ends(void)
{
    struct mechd *const served = scarce_begin_with(false, sockets);
    struct mechd_zmq *const z = open_door(served);
    // what libzmq takes for each frame; for what it takes itself it ends the process
    static const struct {
        size_t extra;
        long passing; /* −1: nothing is refused */
    } cases[] = {{0, 0}, {5, 0}, {5, 1}, {0, -1}, {5, -1}};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        const bool refuses = cases[k].passing >= 0;
        struct mechd_letter *const letter = letter_of_text(z, "{\"ok\":true}", cases[k].extra);
        if (refuses) {
            alloc_refuse_start(cases[k].passing, false);
        }
        mechd_letter_send(z, letter);
        const long refused = refuses ? alloc_refuse_stop() : 0;
        CU_ASSERT_EQUAL(refused, refuses ? 1 : 0);
        mechd_letter_send(z, letter_of_text(z, "behind", 0));
        receive();
        CU_ASSERT(has(refuses ? "no memory for the answer" : "\"ok\":true"));
        CU_ASSERT_EQUAL(client.more, !refuses && cases[k].extra > 0);
        if (client.more) {
            receive();
            CU_ASSERT_STRING_EQUAL(client.text, "xxxxx");
        }
        receive();
        CU_ASSERT_STRING_EQUAL(client.text, "behind");
        CU_ASSERT(!client.more);
    }
    CU_ASSERT_EQUAL(atomic_load(&served->service.host.counters.unsent), 0);
    end_client();
    mechd_zmq_stop(z);
    scarce_end(served);
}

/* Each allocation of libzmq for a frame is refused in turn: an error comes with its sequence, and
 * the problem; more often than there are messages for it, which come back in between. */
static void frames_that_cannot_be_sent_are_refused(void)
{
    struct mechd *const served = scarce_begin_with(false, sockets);
    struct mechd_zmq *const z = open_door(served);
    unsigned char bytes[MECHP_FRAME_HEADER + 8];
    for (int turn = 0; turn < 2 * MECHD_REFUSALS; turn++) {
        const struct mechp_frame answer = {.kind = MECHP_STEP,
                                           .count = turn % 2 == 0,
                                           .sequence = (UINT64_C(1) << 63) + (uint64_t)turn,
                                           .instance = 7,
                                           .iteration = 3,
                                           .lease = 11};
        mechp_frame_write(&answer, bytes);
        memset(bytes + MECHP_FRAME_HEADER, 0, 8);
        struct mechd_letter *const letter =
            letter_of(z, bytes, MECHP_FRAME_HEADER + 8 * (size_t)answer.count, turn % 4 == 3);
        alloc_refuse_start(turn % 4 == 3, false);
        mechd_letter_send(z, letter);
        CU_ASSERT_EQUAL(alloc_refuse_stop(), 1);
        const struct mechp_frame in = receive_frame(answer.sequence);
        CU_ASSERT(in.kind == MECHP_ERROR && in.status == MECHP_INTERNAL && in.count == 0);
        CU_ASSERT(in.instance == 7 && in.iteration == 3 && in.lease == 11);
        CU_ASSERT(has("\"code\":\"internal-error\"") && has("no memory for the answer"));
        char number[32];
        (void)snprintf(number, sizeof number, "\"number\":%d", MECHP_INTERNAL);
        CU_ASSERT(has(number));
    }
    end_client();
    mechd_zmq_stop(z);
    scarce_end(served);
}

/* Nor are there more messages for the errors: then the refusal is that of JSON. */
static void frames_are_refused_in_json_once_the_stock_is_used_up(void)
{
    enum { WARM = 600 }; // libzmq's own queues then reuse their chunks, of 256 messages at most
    struct mechd *const served = scarce_begin_with(false, sockets);
    struct mechd_zmq *const z = open_door(served);
    unsigned char bytes[MECHP_FRAME_HEADER];
    for (int turn = 0; turn < WARM; turn++) {
        mechd_letter_send(z, letter_of_text(z, "warm", 0));
        receive();
    }
    for (uint64_t turn = 0; turn < MECHD_REFUSALS + 8; turn++) {
        const struct mechp_frame answer = {.kind = MECHP_STEP, .sequence = turn};
        mechp_frame_write(&answer, bytes);
        struct mechd_letter *const letter = letter_of(z, bytes, sizeof bytes, 0);
        alloc_refuse_start(0, true);
        mechd_letter_send(z, letter);
        CU_ASSERT_EQUAL(alloc_refuse_stop(), 2); // the letter's, and that of another message
        CU_ASSERT_EQUAL(z->letters.refusal_count,
                        turn < MECHD_REFUSALS ? MECHD_REFUSALS - 1 - (int)turn : 0);
        if (turn < MECHD_REFUSALS) {
            CU_ASSERT_EQUAL(receive_frame(turn).kind, MECHP_ERROR);
        } else {
            receive();
            CU_ASSERT_FALSE(client.more);
            CU_ASSERT(has("\"ok\":false") && has("no memory for the answer"));
        }
    }
    mechd_letter_send(z, letter_of_text(z, "behind", 0));
    receive();
    CU_ASSERT_STRING_EQUAL(client.text, "behind");
    CU_ASSERT_EQUAL(z->letters.refusal_count, MECHD_REFUSALS);
    CU_ASSERT_EQUAL(atomic_load(&served->service.host.counters.unsent), 0);
    end_client();
    mechd_zmq_stop(z);
    scarce_end(served);
}

/* Such a letter is an answer, or a question to a program: that is not sent at all. */
static void questions_that_cannot_be_sent_are_not_replaced(void)
{
    struct mechd *const served = scarce_begin_with(false, sockets);
    struct mechd_zmq *const z = open_door(served);
    unsigned char bytes[MECHP_FRAME_HEADER];
    mechp_frame_write(&(const struct mechp_frame){.kind = MECHP_TRIAL, .sequence = 1}, bytes);
    struct mechd_letter *const letter = letter_of(z, bytes, sizeof bytes, 0);
    letter->asks = true;
    alloc_refuse_start(0, false);
    mechd_letter_send(z, letter);
    CU_ASSERT_EQUAL(alloc_refuse_stop(), 1);
    mechd_letter_send(z, letter_of_text(z, "behind", 0));
    receive();
    CU_ASSERT_STRING_EQUAL(client.text, "behind");
    CU_ASSERT_EQUAL(atomic_load(&served->service.host.counters.unsent), 1);
    end_client();
    mechd_zmq_stop(z);
    scarce_end(served);
}

/* A hello is without effect when its reply cannot be sent, and questions that wait behind the reply
 * are for a program that does not know its lease. */
static void questions_behind_a_hello_without_effect_are_not_sent(void)
{
    static const struct mechp_frame frames[] = {{.kind = MECHP_HELLO, .sequence = 1, .lease = 11},
                                                {.kind = MECHP_TRIAL, .sequence = 2, .lease = 11},
                                                {.kind = MECHP_TRIAL, .sequence = 3, .lease = 12},
                                                {.kind = MECHP_BYE, .sequence = 4, .lease = 11}};
    struct mechd *const served = scarce_begin_with(false, sockets);
    struct mechd_zmq *const z = open_door(served);
    for (int turn = 0; turn < 3; turn++) {
        unsigned char bytes[MECHP_FRAME_HEADER];
        struct mechd_letter *first = NULL;
        // the reply waits in the same line, or is sent at once while they wait in the outbox
        const bool refuses = turn > 0, at_once = turn == 2;
        for (size_t k = 0; k < sizeof frames / sizeof *frames; k++) {
            mechp_frame_write(&frames[k], bytes);
            struct mechd_letter *const letter = letter_of(z, bytes, sizeof bytes, k == 0 ? 4 : 0);
            letter->grants = k == 0;
            letter->asks = k > 0;
            if (k == 0 && at_once) {
                first = letter;
            } else {
                mechd_letter_post(z, letter);
            }
        }
        if (refuses) {
            alloc_refuse_start(0, false);
        }
        if (at_once) {
            mechd_letter_send(z, first);
        }
        mechd_letters_answer(z);
        CU_ASSERT_EQUAL(refuses ? alloc_refuse_stop() : 1, 1);
        CU_ASSERT_EQUAL(receive_frame(1).kind, refuses ? MECHP_ERROR : MECHP_HELLO);
        mechd_letter_send(z, letter_of_text(z, "behind", 0));
        for (size_t k = 1; k < sizeof frames / sizeof *frames; k++) {
            struct mechp_frame in = {.sequence = 0};
            if (!refuses || frames[k].lease != frames[0].lease) {
                receive();
                CU_ASSERT_EQUAL(mechp_frame_read(client.text, sizeof bytes, &in), 0);
                CU_ASSERT_EQUAL(in.sequence, frames[k].sequence);
            }
        }
        receive();
        CU_ASSERT_STRING_EQUAL(client.text, "behind");
        CU_ASSERT_EQUAL(atomic_load(&served->service.host.counters.unsent), (uint64_t)(2 * turn));
    }
    end_client();
    mechd_zmq_stop(z);
    scarce_end(served);
}

/* The reply to a hello is made, and libzmq does not take it; or there is no such client. */
static void a_hello_whose_reply_cannot_be_sent_has_no_lease(void)
{
    struct mechd *const served = scarce_begin_with(false, sockets);
    struct mechd_zmq *const z = open_door(served);
    const char *const body = "{\"example\":\"spring-mass-damper\"}";
    CU_ASSERT_EQUAL_FATAL(local_status(served, "POST", "/v1/instances", body), 201);
    struct mechd_instance *const i = mechd_table_find(&served->service.host.table, "i-1");
    CU_ASSERT_PTR_NOT_NULL_FATAL(i);
    for (int turn = 0; turn < 6; turn++) {
        const struct mechd_lease_wish wish = {.role = MECHD_ROLE_PARTNER};
        struct mechd_holder holder;
        struct mechp_frame hello = {.kind = MECHP_HELLO, .instance = i->number, .sequence = 5};
        unsigned char bytes[MECHP_FRAME_HEADER];
        CU_ASSERT_EQUAL(mechd_leases_take(&i->leases, &wish, &hello.lease, &holder), 0);
        mechp_frame_write(&hello, bytes);
        struct mechd_letter *const letter = letter_of(z, bytes, sizeof bytes, 4);
        const bool grants = turn % 2 == 0, refuses = turn < 2, gone = turn >= 4;
        letter->grants = grants;
        letter->peer.id[0] = gone ? 'x' : letter->peer.id[0];
        if (refuses) {
            alloc_refuse_start(0, false);
        }
        mechd_letter_send(z, letter);
        CU_ASSERT_EQUAL(refuses ? alloc_refuse_stop() : 1, 1);
        if (!gone) {
            CU_ASSERT_EQUAL(receive_frame(5).kind, refuses ? MECHP_ERROR : MECHP_HELLO);
        }
        CU_ASSERT_EQUAL(has_lease(z), !((refuses || gone) && grants));
        (void)mechd_leases_drop(&i->leases, hello.lease);
    }
    mechd_instance_unref(i);
    end_client();
    mechd_zmq_stop(z);
    scarce_end(served);
}

/* Until so many letters have found no socket. */
static void wait_unsent(struct mechd *served, uint64_t count)
{
    const uint64_t until = mechd_now() + (uint64_t)WAIT_MS * MECHD_MS;
    while (atomic_load(&served->service.host.counters.unsent) < count && mechd_now() < until) {
        (void)sched_yield();
    }
    CU_ASSERT_EQUAL(atomic_load(&served->service.host.counters.unsent), count);
}

static void the_stock_is_bounded_and_comes_back(void)
{
    struct mechd *const served = scarce_begin(false);
    struct mechd_zmq *const z = served->zmq;
    for (int turn = 0; turn < 2; turn++) {
        struct mechd_letter *all[MECHD_STOCK + 1];
        alloc_refuse_start(0, true);
        CU_ASSERT_PTR_NULL(mechd_letter_create(z, MECHD_STOCK_ROOM, 1));
        for (int k = 0; k <= MECHD_STOCK; k++) {
            all[k] = mechd_letter_create(z, MECHD_STOCK_ROOM, 0);
        }
        (void)alloc_refuse_stop();
        CU_ASSERT_PTR_NULL(all[MECHD_STOCK]);
        for (int k = 0; k < MECHD_STOCK; k++) {
            CU_ASSERT_PTR_NOT_NULL_FATAL(all[k]);
            CU_ASSERT_FALSE(all[k]->asks);
            all[k]->asks = true;
            all[k]->peer = (struct mechd_peer){.size = 0};
            mechd_letter_post(z, all[k]); // there is no socket: disposed of
        }
        wait_unsent(served, (uint64_t)turn * (MECHD_STOCK + 1) + MECHD_STOCK);
        mechd_letter_deliver(z, NULL, true);
    }
    scarce_end(served);
}

UNIT_TESTS(UNIT_TEST(each_request_is_answered), UNIT_TEST(frames_are_answered_too),
           UNIT_TEST(a_message_that_has_begun_ends),
           UNIT_TEST(frames_that_cannot_be_sent_are_refused),
           UNIT_TEST(frames_are_refused_in_json_once_the_stock_is_used_up),
           UNIT_TEST(questions_that_cannot_be_sent_are_not_replaced),
           UNIT_TEST(questions_behind_a_hello_without_effect_are_not_sent),
           UNIT_TEST(a_hello_whose_reply_cannot_be_sent_has_no_lease),
           UNIT_TEST(the_stock_is_bounded_and_comes_back))
