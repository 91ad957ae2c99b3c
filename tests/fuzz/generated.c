/* Generated models and what can be asked of them, in process: the bytes are the source of the
 * generator's choices. The first is the type that the model holds. */
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/session.h"
#include "tests/fuzz/session_local.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_bytes b = {data, size};
    uint32_t types = 0;
    while (mech_item_types[types] != NULL) {
        types++;
    }
    struct session s = {.id = "i", .send = session_local, .broken = 25};
    s.context = session_local_start();
    if (s.context == NULL) {
        fuzz_fail("no daemon");
    }
    s.focus = mech_item_types[fuzz_below(&b, types)];
    s.g = generate_of_bytes(b.at, b.left);
    session_run(&s);
    if (s.faults > 0) {
        fuzz_fail(s.fault);
    }
    return 0;
}
