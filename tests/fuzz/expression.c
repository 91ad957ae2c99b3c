/* Expressions from any bytes: refused with a message, or evaluated, as muParser does it. */
#include "solver/base/err.h"
#include "solver/expr/expr.h"
#include "tests/fuzz/formula_text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const names[] = {"t", "u", "long_name.with-signs"};
    char message[80] = "", what[256];
    struct mech_expr *e = NULL;
    const struct mech_expr_vars vars = {names, NULL, 3};
    char *const text = fuzz_text(data, size);
    if (text == NULL) {
        return 0;
    }
    const int code = mech_expr_create(text, &vars, message, sizeof message, &e);
    if ((code == 0) != (e != NULL) || (code == MECH_INVALID && message[0] == 0)) {
        abort();
    }
    mech_expr_destroy(e);
    if (formula_compare(text, what) != 0) {
        (void)fprintf(stderr, "'%s'\n", text);
        fuzz_fail(what);
    }
    free(text);
    return 0;
}
