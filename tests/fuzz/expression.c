/* Expressions from any bytes: refused with a message, or evaluated, the same twice. */
#include "solver/base/err.h"
#include "solver/expr/expr.h"
#include "tests/fuzz/fuzz.h"

#include <math.h>
#include <stdlib.h>

static void evaluate(struct mech_expr *e, double *values)
{
    static const double points[][3] = {{0., 0., 0.}, {0.1, -2., 3e5}, {1e308, -1e308, 5e-324}};
    for (size_t k = 0; k < sizeof points / sizeof *points; k++) {
        memcpy(values, points[k], sizeof points[k]);
        const double first = mech_expr_value(e);
        const double second = mech_expr_value(e);
        if (first != second && !(isnan(first) && isnan(second))) {
            abort();
        }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const names[] = {"t", "u", "long_name.with-signs"};
    double values[3] = {0.};
    char message[80] = "";
    struct mech_expr *e = NULL;
    const struct mech_expr_vars vars = {names, values, 3};
    char *const text = fuzz_text(data, size);
    if (text == NULL) {
        return 0;
    }
    const int code = mech_expr_create(text, &vars, message, sizeof message, &e);
    if ((code == 0) != (e != NULL) || (code == MECH_INVALID && message[0] == 0)) {
        abort();
    }
    if (e != NULL) {
        evaluate(e, values);
        mech_expr_destroy(e);
    }
    free(text);
    return 0;
}
