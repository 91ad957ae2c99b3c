/* Authentication: ZAP, ZeroMQ's request for each new connection, answered on the door's thread.
 *
 * libzmq's I/O thread asks with (version, request, domain, address, identity, mechanism, key) on
 * inproc://zeromq.zap.01 and waits with the handshake until it is answered with (version, request,
 * status, text, user, metadata). The domain is the socket's name; the user is the key as text,
 * which libzmq then attaches to every message of that connection. So a key that has been taken out
 * of the file is refused from its next message on. The handler is bound before the first socket
 * and closed after the last: without one, libzmq would let every key in.
 *
 * Source: ZeroMQ RFC 27 (ZAP 1.0), RFC 25 (CURVE over ZMTP). */
#include "server/call/service.h"

#include "server/os/log.h"
#include "server/os/ticks.h"
#include "server/zmq/internal.h"
#include "solver/base/err.h"
#include "solver/base/text.h"

#include <stdio.h>
#include <string.h>
#include <zmq.h>

enum { PARTS = 7, TURNS = 64 };
static const uint64_t tell_ns = 1000000000u;

static const struct {
    const char *domain;
    enum mechp_scope needed;
} rules[MECHD_ZMQ_SOCKETS] = {[MECHD_ZMQ_CONTROL] = {"control", MECHP_SCOPE_READ},
                              [MECHD_ZMQ_STREAM] = {"stream", MECHP_SCOPE_READ},
                              [MECHD_ZMQ_FORCES] = {"forces", MECHP_SCOPE_STEP}};

enum mechp_scope mechd_zap_needs(enum mechd_zmq_socket which)
{
    return rules[which].needed;
}

int mechd_zap_open(struct mechd_zmq *z, char *fault, size_t size)
{
    if (!z->service->curve.on) {
        return 0;
    }
    z->zap = zmq_socket(z->context, ZMQ_REP);
    if (z->zap == NULL || zmq_bind(z->zap, "inproc://zeromq.zap.01") != 0) {
        mech_text_format(fault, size, "cannot authenticate for CURVE: %s",
                         zmq_strerror(zmq_errno()));
        return MECH_INTERNAL;
    }
    return 0;
}

int mechd_zap_protect(struct mechd_zmq *z, enum mechd_zmq_socket which, char *fault, size_t size)
{
    void *const socket = z->sockets[which];
    const struct mechd_curve *const curve = &z->service->curve;
    const int on = 1;
    if (!curve->on) {
        return 0;
    }
    if (zmq_setsockopt(socket, ZMQ_CURVE_SERVER, &on, sizeof on) != 0 ||
        zmq_setsockopt(socket, ZMQ_CURVE_SECRETKEY, curve->secret, sizeof curve->secret) != 0 ||
        zmq_setsockopt(socket, ZMQ_ZAP_DOMAIN, rules[which].domain, strlen(rules[which].domain)) !=
            0) {
        mech_text_format(fault, size, "cannot set up CURVE: %s", zmq_strerror(zmq_errno()));
        return MECH_INTERNAL;
    }
    return 0;
}

static bool is_text(zmq_msg_t *part, const char *text)
{
    return zmq_msg_size(part) == strlen(text) &&
           memcmp(zmq_msg_data(part), text, strlen(text)) == 0;
}

/* NULL: the key of the request may connect, and *who is its owner; or why it may not. */
static const char *judge(struct mechd_zmq *z, zmq_msg_t *parts, int count, struct mechd_token *who)
{
    if (count != PARTS || !is_text(&parts[0], "1.0") || !is_text(&parts[5], "CURVE") ||
        zmq_msg_size(&parts[6]) != MECHD_CURVE_KEY) {
        return "not a CURVE request";
    }
    int door = 0;
    while (door < MECHD_ZMQ_SOCKETS && !is_text(&parts[2], rules[door].domain)) {
        door++;
    }
    if (!mechd_tokens_find_key(&z->service->peers, zmq_msg_data(&parts[6]), who)) {
        return "the key is not known";
    }
    return door < MECHD_ZMQ_SOCKETS && who->scope >= rules[door].needed
               ? NULL
               : "the scope is insufficient";
}

/* At most one line per second: refused connections must not fill the log. */
static void tell(struct mechd_zmq *z, zmq_msg_t *parts, const char *why, const char *name)
{
    char quoted[64], door[16], address[64];
    mechd_count(&z->service->host.counters.peers_refused, 1);
    if (mechd_now() - z->logged < tell_ns) {
        return;
    }
    z->logged = mechd_now();
    snprintf(door, sizeof door, "%.*s", (int)zmq_msg_size(&parts[2]),
             (const char *)zmq_msg_data(&parts[2]));
    snprintf(address, sizeof address, "%.*s", (int)zmq_msg_size(&parts[3]),
             (const char *)zmq_msg_data(&parts[3]));
    mechd_log(MECHD_WARNING, "peer-refused", "door=%s address=%s name=%s reason=%s", door, address,
              *name != '\0' ? name : "-", mechd_log_quote(quoted, sizeof quoted, why));
}

/* Answer one question; false: there is none. */
static bool answer(struct mechd_zmq *z)
{
    zmq_msg_t parts[PARTS];
    struct mechd_token who = {.scope = MECHP_SCOPE_NONE};
    char user[MECHD_CURVE_TEXT] = "";
    const int count = mechd_zmq_receive(z->zap, parts, PARTS);
    if (count == 0) {
        return false;
    }
    const char *const why = judge(z, parts, count, &who);
    if (why == NULL) {
        mechd_curve_key_write(zmq_msg_data(&parts[6]), user);
    } else if (count == PARTS) {
        tell(z, parts, why, who.name);
    }
    const char *const status = why == NULL ? "200" : "400";
    const char *const text = why == NULL ? "" : why;
    const size_t id = count > 1 ? zmq_msg_size(&parts[1]) : 0;
    zmq_send(z->zap, "1.0", 3, ZMQ_SNDMORE);
    zmq_send(z->zap, id > 0 ? zmq_msg_data(&parts[1]) : "", id, ZMQ_SNDMORE);
    zmq_send(z->zap, status, 3, ZMQ_SNDMORE);
    zmq_send(z->zap, text, strlen(text), ZMQ_SNDMORE);
    zmq_send(z->zap, user, strlen(user), ZMQ_SNDMORE);
    zmq_send(z->zap, "", 0, 0);
    for (int k = 0; k < count; k++) {
        zmq_msg_close(&parts[k]);
    }
    return true;
}

bool mechd_zap_serve(struct mechd_zmq *z)
{
    int turn = 0;
    while (turn < TURNS && answer(z)) {
        turn++;
    }
    return turn < TURNS;
}

void mechd_zap_key(struct mechd_zmq *z, zmq_msg_t *message, struct mechd_peer *peer)
{
    if (z->service->curve.on) {
        // a connection without a user has no owner: a key of zeros is in no file
        const char *const user = zmq_msg_gets(message, "User-Id");
        peer->has_key = true;
        if (user == NULL || !mechd_curve_key_read(user, peer->key)) {
            memset(peer->key, 0, sizeof peer->key);
        }
    }
}
