/* Snapshots with any bytes in them: refused without a trace, or taken; what is taken can be
 * stepped, and written and taken again.
 *
 * An input: which example, how many steps before, then changes of its snapshot (place u16, eight
 * bytes). The checksum is corrected after them, so that what follows it is reached; with the
 * last bit of the first byte the bytes stand as they are. The same snapshot then goes through
 * POST /v1/instances, as a container with the model. */
#include "protocol/bind/bind.h"
#include "server/examples/examples.h"
#include "server/instance/container.h"
#include "solver/base/hash.h"
#include "solver/sim/mech.h"
#include "tests/fuzz/fuzz.h"
#include "tests/unit/server/local.h"

#include <stdio.h>
#include <stdlib.h>

/* struct header of solver/sim/snapshot.c: its format seeds the sum, which stands at its end */
enum { FORMAT = 3, AT_CHECKSUM = 160, HEADER = 168 };
enum { EXAMPLES_MOST = 32, SIZE_MOST = 200000, LIMIT_MS = 20000 };

static struct mechd *served;
static struct mech_sim *sims[EXAMPLES_MOST];

static struct mech_sim *sim_of(size_t k)
{
    struct mech_document *document = NULL;
    struct mech_diag diag;
    if (sims[k] != NULL) {
        return sims[k];
    }
    mech_diag_init(&diag);
    json_t *const model = json_loadb(mechd_examples[k].text, mechd_examples[k].size, 0, NULL);
    if (mechp_bind_read(model, "", &diag, &document) != 0 ||
        mech_sim_create(document, &diag, &sims[k]) != 0) {
        fuzz_fail("an example cannot be made");
    }
    json_decref(model);
    mech_diag_fini(&diag);
    return sims[k];
}

static int steps(struct mech_sim *s, uint64_t count)
{
    const struct mech_step_request r = {.kind = MECH_STEP_COUNT, .count = count};
    struct mech_step_report report;
    const int code = mech_sim_step(s, &r, &report);
    if (code < 0) {
        fuzz_fail("a step ended badly");
    }
    return code;
}

static void change(struct fuzz_bytes *b, unsigned char *bytes, size_t size)
{
    while (b->left > 0) {
        const size_t at = fuzz_u16(b) % size;
        const size_t room = size - at < 8 ? size - at : 8;
        fuzz_take(b, bytes + at, room);
    }
}

static void sum(unsigned char *bytes, size_t size)
{
    const uint64_t head = mech_hash(bytes, AT_CHECKSUM, FORMAT);
    const uint64_t all = mech_hash(bytes + HEADER, size - HEADER, head);
    memcpy(bytes + AT_CHECKSUM, &all, sizeof all);
}

/* Take it, or leave everything as it was. */
static void restore(struct mech_sim *s, const unsigned char *bytes, size_t size)
{
    const size_t room = mech_sim_snapshot_size(s);
    unsigned char *const before = calloc(2, room), *const after = before + room;
    bool same = false;
    if (before == NULL) {
        return;
    }
    const size_t was = mech_sim_snapshot_write(s, before);
    if (mech_sim_snapshot_read(s, bytes, size, &same) != 0) {
        if (mech_sim_snapshot_write(s, after) != was || memcmp(before, after, was) != 0) {
            fuzz_fail("a refused snapshot left a trace");
        }
    } else {
        const size_t is = mech_sim_snapshot_write(s, after);
        if (mech_sim_snapshot_read(s, after, is, &same) != 0) {
            fuzz_fail("what was taken is not taken again");
        }
        (void)steps(s, 2);
        if (mech_sim_snapshot_write(s, after) > room) {
            fuzz_fail("a snapshot is larger than its most");
        }
    }
    free(before);
}

static void create(const struct mechd_example *example, const void *state, size_t state_size)
{
    const struct mechd_container parts = {.model = example->text,
                                          .model_size = example->size,
                                          .state = state,
                                          .state_size = state_size};
    struct local_reply reply;
    size_t size = 0;
    void *const bytes = mechd_container_write(&parts, &size);
    const struct local_request r = {
        .method = "POST", .path = "/v1/instances", .bytes = bytes, .size = size};
    if (bytes != NULL && local_call(served, &r, &reply) == 0) {
        if (reply.status != 201 && reply.status != 422) {
            fuzz_fail("a snapshot is neither taken nor refused");
        }
        free(reply.text);
    }
    free(bytes);
    if (!local_clear(served, LIMIT_MS)) {
        fuzz_fail("calls stay in flight");
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_bytes b = {data, size};
    if (served == NULL && (served = local_start(NULL, NULL)) == NULL) {
        fuzz_fail("no daemon");
    }
    const unsigned pick = fuzz_u8(&b);
    const size_t which = (pick >> 1) % mechd_example_count;
    struct mech_sim *const s = sim_of(which % EXAMPLES_MOST);
    if (mech_sim_snapshot_size(s) > SIZE_MOST || mech_sim_reset(s) != 0) {
        return 0;
    }
    (void)steps(s, 1 + fuzz_below(&b, 4));
    unsigned char *const bytes = calloc(1, mech_sim_snapshot_size(s));
    if (bytes == NULL) {
        return 0;
    }
    const size_t n = mech_sim_snapshot_write(s, bytes);
    change(&b, bytes, n);
    if ((pick & 1) == 0) {
        sum(bytes, n);
    }
    restore(s, bytes, n);
    create(&mechd_examples[which], bytes, n);
    free(bytes);
    return 0;
}
