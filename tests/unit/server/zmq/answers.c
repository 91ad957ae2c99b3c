/* Answers over the control socket for which there is no memory: a refusal comes in their place,
 * with the sequence of the request, and messages behind it are whole. */
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

enum { WAIT_MS = SCARCE_LIMIT_MS, TEXT = 1 << 16 };

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

static struct mechd_letter *letter_of(struct mechd_zmq *z, const char *text, size_t extra)
{
    struct mechd_letter *const letter = mechd_letter_create(z, strlen(text), extra);
    CU_ASSERT_PTR_NOT_NULL_FATAL(letter);
    letter->peer = client.peer;
    memcpy(letter->bytes, text, strlen(text));
    memset(letter->bytes + strlen(text), 'x', extra);
    return letter;
}

/* This thread is the door's. */
static void a_message_that_has_begun_ends(void)
{
    struct mechd *const served = scarce_begin_with(false, sockets);
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
    // what libzmq takes for each frame; for what it takes itself it ends the process
    static const struct {
        size_t extra;
        long passing; /* −1: nothing is refused */
    } cases[] = {{0, 0}, {5, 0}, {5, 1}, {0, -1}, {5, -1}};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        const bool refuses = cases[k].passing >= 0;
        struct mechd_letter *const letter = letter_of(z, "{\"ok\":true}", cases[k].extra);
        if (refuses) {
            alloc_refuse_start(cases[k].passing, false);
        }
        mechd_letter_send(z, letter);
        const long refused = refuses ? alloc_refuse_stop() : 0;
        CU_ASSERT_EQUAL(refused, refuses ? 1 : 0);
        mechd_letter_send(z, letter_of(z, "behind", 0));
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
            all[k]->peer = (struct mechd_peer){.size = 0};
            mechd_letter_post(z, all[k]); // there is no socket: disposed of
        }
        wait_unsent(served, (uint64_t)turn * (MECHD_STOCK + 1) + MECHD_STOCK);
        mechd_letter_deliver(z, NULL, true);
    }
    scarce_end(served);
}

UNIT_TESTS(UNIT_TEST(a_message_that_has_begun_ends), UNIT_TEST(the_stock_is_bounded_and_comes_back))
