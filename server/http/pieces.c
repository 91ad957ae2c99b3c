/* An answer that is made while it is sent: libmicrohttpd asks for bytes when the connection takes
 * them, and the call makes another piece when the last one is gone. A piece takes a fraction of a
 * millisecond; a client that reads slowly blocks no thread, and takes no more than one piece of
 * memory.
 *
 * One that fails on the way ends the connection, so that the client sees that it is not whole.
 *
 * Compressed, as many pieces are taken as give some bytes: deflate keeps up to some 200 KB of text,
 * 5 ms of its work. */
#include "server/call/service.h"
#include "server/http/exchange.h"
#include "server/http/gzip.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK = 65536 };

struct pieces {
    struct mechd_exchange *exchange; /* lives longer: until the request is completed */
    size_t sent;                     /* of the text in the call */
    struct mechd_gzip_flow *gzip;    /* NULL: as it is */
    bool over;                       /* the last piece has been made */
};

/* Another piece, if the last one has been sent. False: there is none. */
static bool refill(struct pieces *p, ssize_t *end)
{
    struct mechd_call *const c = &p->exchange->call;
    if (p->over) {
        *end = MHD_CONTENT_READER_END_OF_STREAM;
        return false;
    }
    while (p->sent == c->text.length) {
        p->sent = 0;
        c->text.length = 0;
        const enum mechd_piece piece = c->produce(c);
        if (piece != MECHD_PIECE_MORE) {
            p->over = piece == MECHD_PIECE_LAST;
            *end = piece == MECHD_PIECE_LAST ? MHD_CONTENT_READER_END_OF_STREAM
                                             : MHD_CONTENT_READER_END_WITH_ERROR;
            return false;
        }
    }
    return true;
}

/* The next bytes as they are, or how it ends. */
static ssize_t take_plain(struct pieces *p, char *out, size_t most)
{
    const struct mechd_call *const c = &p->exchange->call;
    ssize_t end = 0;
    if (!refill(p, &end)) {
        return end;
    }
    const size_t left = c->text.length - p->sent;
    const size_t n = left < most ? left : most;
    memcpy(out, c->text.bytes + p->sent, n);
    p->sent += n;
    return (ssize_t)n;
}

/* The same compressed. */
static ssize_t take_packed(struct pieces *p, char *out, size_t most)
{
    const struct mechd_call *const c = &p->exchange->call;
    size_t n = 0;
    ssize_t end = 0;
    while (n == 0) {
        const bool last = !refill(p, &end);
        if (last && end != MHD_CONTENT_READER_END_OF_STREAM) {
            return end;
        }
        const char *in = last ? "" : c->text.bytes + p->sent;
        size_t left = last ? 0 : c->text.length - p->sent;
        n = mechd_gzip_put(p->gzip, &in, &left, last, out, most);
        if (last && n == 0) {
            return end;
        }
        p->sent += last ? 0 : c->text.length - p->sent - left;
    }
    return (ssize_t)n;
}

static ssize_t read_piece(void *context, uint64_t position, char *out, size_t most)
{
    struct pieces *const p = context;
    struct mechd_call *const c = &p->exchange->call;
    (void)position;
    if (mechd_host_drains(&c->service->host)) {
        return MHD_CONTENT_READER_END_WITH_ERROR;
    }
    const ssize_t n = p->gzip != NULL ? take_packed(p, out, most) : take_plain(p, out, most);
    if (n > 0) {
        mechd_count(&mechd_tally(&c->service->host.counters)->bytes_out, (size_t)n);
        // time for a piece: as for an answer of that size
        mechd_link_feed(p->exchange->link, (size_t)n);
    }
    return n;
}

static void destroy(void *context)
{
    struct pieces *const p = context;
    mechd_gzip_end(p->gzip);
    free(p);
}

enum MHD_Result mechd_pieces_serve(struct mechd_exchange *x)
{
    struct mechd_call *const c = &x->call;
    struct pieces *const p = calloc(1, sizeof *p);
    struct MHD_Response *const response =
        p != NULL
            ? MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, BLOCK, read_piece, p, destroy)
            : NULL;
    if (response == NULL) {
        free(p);
        c->produce = NULL;
        mechd_fail(c, MECHP_OUT_OF_MEMORY, "no memory for the answer");
        return mechd_exchange_answer(x);
    }
    p->exchange = x;
    const char *const type = c->content_type != NULL ? c->content_type : "application/json";
    if (x->takes_gzip && mechd_gzip_worth(type)) {
        p->gzip = mechd_gzip_begin();
    }
    // what is sent at the client's pace does not hold up the end of the daemon
    x->counted = false;
    atomic_fetch_sub(&c->service->in_flight, 1);
    MHD_add_response_header(response, "Content-Type", type);
    if (p->gzip != NULL) {
        MHD_add_response_header(response, "Content-Encoding", "gzip");
        MHD_add_response_header(response, "Vary", "Accept-Encoding");
    }
    MHD_add_response_header(response, "Cache-Control", "no-store");
    if (c->etag[0] != '\0') {
        MHD_add_response_header(response, "ETag", c->etag);
    }
    if (c->file[0] != '\0') {
        char disposition[sizeof c->file + 32];
        snprintf(disposition, sizeof disposition, "attachment; filename=\"%s\"", c->file);
        MHD_add_response_header(response, "Content-Disposition", disposition);
    }
    if (x->head_only) {
        // libmicrohttpd ends the chunks that a HEAD does not have: nothing may follow them
        MHD_add_response_header(response, "Connection", "close");
    }
    return mechd_exchange_send(x, mechd_call_status(c), response, 0);
}
