/* Binary frames through the control and forces doors, and subscriptions of the stream.
 *
 * An input is a list of messages: a byte that says where it goes, the sizes of its body and of a
 * second frame (u16 each), then these. Where a frame has the lease 1, it gets that of the partner
 * that has sent a hello; instance 0 is the number of instance "i". */
#include "protocol/frame/frame.h"
#include "server/instance/partners.h"
#include "server/zmq/internal.h"
#include "server/zmq/stream.h"
#include "tests/fuzz/fuzz.h"
#include "tests/unit/server/local.h"

#include <stdio.h>
#include <stdlib.h>

enum { LIMIT_MS = 20000, PATIENCE_MS = 30, MESSAGES = 16 };
enum { AT_INSTANCE = 8, AT_LEASE = 56 };

static struct mechd *served;
static const struct mechd_peer peer = {.id = "fuzz", .size = 4, .delimiter = true};

/* Instance "i" as new, with a partner for all its inputs and outputs. */
static void reset(void)
{
    static const char hello[] = "{\"instance\": \"i\", \"inputs\": [\"push\"], \"inputOrder\": 1}";
    unsigned char frame[MECHP_FRAME_HEADER];
    const struct mechp_frame f = {.kind = MECHP_HELLO};
    if (!local_clear(served, LIMIT_MS) ||
        local_status(served, "PUT", "/v1/instances/i", "{\"example\": \"driven-oscillator\"}") !=
            201) {
        fuzz_fail("no instance can be made");
    }
    mechp_frame_write(&f, frame);
    const struct mechd_asked asked = {.peer = &peer,
                                      .bytes = (const char *)frame,
                                      .size = sizeof frame,
                                      .extra = hello,
                                      .extra_size = sizeof hello - 1};
    mechd_control_frame(served->zmq, &asked);
    if (!local_idle(served, LIMIT_MS)) {
        fuzz_fail("hello is not answered");
    }
}

/* The number and the lease that an input cannot know. */
static void fill_in(unsigned char *body, size_t size)
{
    uint64_t lease = 0;
    uint32_t number = 0;
    struct mechd_instance *const i = mechd_table_find(&served->service.host.table, "i");
    if (i != NULL && size >= MECHP_FRAME_HEADER) {
        memcpy(&lease, body + AT_LEASE, sizeof lease);
        memcpy(&number, body + AT_INSTANCE, sizeof number);
        if (lease == 1 && i->partners != NULL) {
            memcpy(body + AT_LEASE, &i->partners->lease, sizeof lease);
        }
        if (number == 0) {
            memcpy(body + AT_INSTANCE, &i->number, sizeof number);
        }
    }
    mechd_instance_unref(i);
}

static unsigned char *take_copy(struct fuzz_bytes *b, size_t size)
{
    unsigned char *const copy = malloc(size + (size == 0));
    if (copy != NULL) {
        fuzz_take(b, copy, size);
    }
    return copy;
}

static void message(struct fuzz_bytes *b)
{
    const uint32_t to = fuzz_below(b, 4);
    const size_t wanted = fuzz_u16(b), second = fuzz_u16(b);
    const size_t size = wanted < b->left ? wanted : b->left;
    unsigned char *const body = take_copy(b, size);
    const size_t extra_size = second < b->left ? second : b->left;
    char *const extra = (char *)take_copy(b, extra_size);
    if (body != NULL && extra != NULL) {
        if (to < 3) {
            fill_in(body, size);
        }
        if (to < 2) {
            const struct mechd_asked asked = {.peer = &peer,
                                              .bytes = (const char *)body,
                                              .size = size,
                                              .extra = to == 0 ? NULL : extra,
                                              .extra_size = to == 0 ? 0 : extra_size};
            mechd_control_frame(served->zmq, &asked);
        } else if (to == 2) {
            mechd_forces_take(served->zmq, &peer, body, size);
        } else {
            mechd_stream_subscription(served->zmq, (const char *)body, size, -1);
        }
        (void)local_idle(served, PATIENCE_MS);
    }
    free(body);
    free(extra);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_bytes b = {data, size};
    if (served == NULL && (served = local_start(NULL, NULL)) == NULL) {
        fuzz_fail("no daemon");
    }
    reset();
    for (int k = 0; k < MESSAGES && b.left > 0; k++) {
        message(&b);
    }
    return 0;
}
