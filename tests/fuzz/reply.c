/* Replies from any bytes, as the clients read them: every value is walked and read each way. What
 * the clients' scanner takes for JSON and the daemon's parser does not, or the other way round, is
 * allowed: only reading outside the text is not. */
#include "clients/c/scan.h"
#include "tests/fuzz/fuzz.h"

#include <stdlib.h>
#include <string.h>

static void visit(struct mechc_json v)
{
    char text[64];
    double number;
    uint64_t whole;
    if (v.at >= v.end || mechc_json_text(v, text, sizeof text) > (size_t)(v.end - v.at)) {
        abort();
    }
    (void)mechc_json_number(v, &number);
    (void)mechc_json_unsigned(v, &whole);
    (void)mechc_json_is(v, "time");
    (void)mechc_json_member(v, "outputs/x", &v);
    for (struct mechc_json_walk w = mechc_json_walk(v); mechc_json_next(&w);) {
        if (w.object && mechc_json_kind(w.key) != '"') {
            abort();
        }
        visit(w.value);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *const text = fuzz_text(data, size);
    if (text == NULL) {
        return 0;
    }
    struct mechc_json root;
    if (mechc_json_open(text, size, &root)) {
        visit(root);
    }
    free(text);
    return 0;
}
