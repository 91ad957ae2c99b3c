/* Expressions that are put together from bytes: what muParser makes of them, to the bit. */
#include "tests/fuzz/formula_text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_bytes b = {data, size};
    char text[FORMULA_TEXT], what[256];

    formula_text(&b, text);
    if (formula_compare(text, what) != 0) {
        (void)fprintf(stderr, "'%s'\n", text);
        fuzz_fail(what);
    }
    return 0;
}
