#include "tests/fuzz/formula_text.h"

#include "solver/expr/expr.h"
#include "tests/fuzz/muparser.h"

#include <math.h>
#include <stdbool.h>

/* --- texts ------------------------------------------------------------------------------------ */

struct writer {
    struct fuzz_bytes *bytes;
    char *text;
    size_t length;
    bool whole; /* mostly without faults */
};

static void put(struct writer *w, const char *what)
{
    const size_t n = strlen(what);

    if (w->length + n < FORMULA_TEXT - 8) {
        memcpy(w->text + w->length, what, n);
        w->length += n;
    }
}

#define PICK(w, list) put(w, list[fuzz_below((w)->bytes, sizeof(list) / sizeof *(list))])

static void put_blank(struct writer *w)
{
    static const char *const blanks[] = {"", "", "", "", " ", "\t", "\n", "  "};

    PICK(w, blanks);
}

static void put_leaf(struct writer *w)
{
    static const char *const leaves[] = {
        "t",   "u",   "x_1",  "t",    "u",    "0",  "1", "2",   "3",
        "4",   "0.5", ".25",  "5.",   "1e3",  "pi", "e", "1.5", "1.7976931348623157e308",
        "x_1", "10",  "2E-2", "1e+2", "00.10"};
    static const char *const odd[] = {
        "1e-310", "4.9e-324", "1e-400", "1e300", "12345678901234567890",
        "-1",     "1e",       "1e400",  "_pi",   "foo",
        "0x10",   ".",        "1.2.3",  "3t",    "sin",
        "x_",     "\"s\"",    "1e5.5",  "5.e"};

    if (fuzz_below(w->bytes, w->whole ? 200 : 8) == 0) {
        PICK(w, odd);
    } else {
        PICK(w, leaves);
    }
}

static void put_formula(struct writer *w, int depth);

static void put_call(struct writer *w, int depth)
{
    // names by the number of their arguments
    static const char *const one[] = {"sin(",  "cos(",   "tan(",  "asin(",  "acos(",  "atan(",
                                      "sinh(", "cosh(",  "tanh(", "asinh(", "acosh(", "atanh(",
                                      "log2(", "log10(", "log(",  "ln(",    "exp(",   "sqrt(",
                                      "sign(", "rint(",  "abs(",  "("};
    static const char *const two[] = {"atan2("};
    static const char *const many[] = {"sum(", "avg(", "min(", "max("};
    static const char *const odd[] = {"sin (", "rnd(", "cot(", "foo(", "2sin("};
    uint32_t n = 1;

    switch (fuzz_below(w->bytes, w->whole ? 7 : 8)) {
    case 0:
        n = 2;
        PICK(w, two);
        break;
    case 1:
    case 2:
        n = 1 + fuzz_below(w->bytes, 4);
        PICK(w, many);
        break;
    case 7:
        PICK(w, odd);
        break;
    default:
        PICK(w, one);
        break;
    }
    if (!w->whole && fuzz_below(w->bytes, 8) == 0) {
        n = fuzz_below(w->bytes, 4);
    }
    for (uint32_t i = 0; i < n; i++) {
        if (i > 0) {
            put(w, ",");
        }
        put_formula(w, depth - 1);
    }
    put(w, ")");
}

static void put_formula(struct writer *w, int depth)
{
    static const char *const operators[] = {"+", "-", "*",  "/",  "^",  "+",  "-",  "*",  "/", "^",
                                            "<", ">", "<=", ">=", "==", "!=", "&&", "||", "^", "*"};
    static const char *const signs[] = {"-", "+", "-", "- ", "--"};

    put_blank(w);
    switch (depth > 0 ? fuzz_below(w->bytes, 10) : 0) {
    case 0:
        put_leaf(w);
        break;
    case 1:
        put(w, signs[fuzz_below(w->bytes, w->whole ? 4 : 5)]);
        put_formula(w, depth - 1);
        break;
    case 2:
        put(w, "(");
        put_formula(w, depth - 1);
        put(w, ")");
        break;
    case 3:
        put_formula(w, depth - 1);
        put(w, "?");
        put_formula(w, depth - 1);
        put(w, ":");
        put_formula(w, depth - 1);
        break;
    case 4:
    case 5:
        put_call(w, depth);
        break;
    default:
        put_formula(w, depth - 1);
        put_blank(w);
        PICK(w, operators);
        put_formula(w, depth - 1);
        break;
    }
    put_blank(w);
}

/* Takes a character out, puts one in, or repeats a piece. */
static void damage(struct writer *w)
{
    static const char odd[] = "()?:,+-*/^<>=!&|.e1t \"_\t$";
    const size_t at = w->length == 0 ? 0 : fuzz_u16(w->bytes) % w->length;
    char *const text = w->text;

    switch (fuzz_below(w->bytes, 3)) {
    case 0:
        if (w->length > 0) {
            memmove(text + at, text + at + 1, w->length - at);
            w->length--;
        }
        break;
    case 1:
        if (w->length + 8 < FORMULA_TEXT) {
            memmove(text + at + 1, text + at, w->length - at + 1);
            text[at] = odd[fuzz_below(w->bytes, sizeof odd - 1)];
            w->length++;
        }
        break;
    default:
        if (w->length > 0) {
            text[at] = odd[fuzz_below(w->bytes, sizeof odd - 1)];
        }
        break;
    }
}

void formula_text(struct fuzz_bytes *b, char text[FORMULA_TEXT])
{
    struct writer w = {.bytes = b, .text = text};
    const uint32_t depth = 1 + fuzz_below(b, 6), wounds = fuzz_below(b, 8);

    w.whole = wounds < 5;
    memset(text, 0, FORMULA_TEXT);
    put_formula(&w, (int)depth);
    if (fuzz_below(b, 32) == 0) {
        put(&w, ",");
        put_formula(&w, 2);
    }
    for (uint32_t i = 5; i < wounds; i++) {
        damage(&w);
    }
    text[w.length] = '\0';
}

/* --- comparison ------------------------------------------------------------------------------- */

enum { POINTS = 24, VARIABLES = 3, MESSAGE = 200 };

static const char *const names[VARIABLES] = {"t", "u", "x_1"};

/* values[k][i] of variable k at point i */
static void points_of(double values[VARIABLES][POINTS])
{
    static const double some[] = {0.,   1.,  -1.,   0.5,     -0.25, 2.,       3.75, -0.,
                                  1e10, 7.1, -1e-9, 1.1e308, 0.3,   INFINITY, NAN,  5e-324};

    for (size_t i = 0; i < POINTS; i++) {
        for (size_t k = 0; k < VARIABLES; k++) {
            values[k][i] = some[(i * (2 * k + 1) + 5 * k + i / 16) % 16];
        }
    }
}

static bool same(double a, double b)
{
    return memcmp(&a, &b, sizeof a) == 0 || (isnan(a) && isnan(b));
}

static int differ(const char *in, double ours, double theirs, char what[256])
{
    (void)snprintf(what, 256, "%s: %.17g, muParser %.17g", in, ours, theirs);
    return 1;
}

static int compare_values(const struct mech_expr *e, struct muparser *m, double *values,
                          char what[256])
{
    static const struct mech_expr_motion along[VARIABLES] = {{1., 0.}, {0.5, 2.}, {-1., 0.25}};
    double all[VARIABLES][POINTS], together[POINTS], y[3], gradient[VARIABLES];

    points_of(all);
    mech_expr_values(e, POINTS, all[0], POINTS, together);
    for (size_t i = 0; i < POINTS; i++) {
        for (size_t k = 0; k < VARIABLES; k++) {
            values[k] = all[k][i];
        }
        const double right = muparser_value(m);

        if (!same(mech_expr_value(e), right)) {
            return differ("value", mech_expr_value(e), right, what);
        }
        if (!same(together[i], right)) {
            return differ("one of several", together[i], right, what);
        }
        mech_expr_along(e, values, along, VARIABLES, y);
        if (!same(y[0], right)) {
            return differ("value with derivatives", y[0], right, what);
        }
        const double with = mech_expr_gradient(e, values, 0, VARIABLES, gradient);
        if (!same(with, right)) {
            return differ("value with a gradient", with, right, what);
        }
    }
    return 0;
}

int formula_compare(const char *text, char what[256])
{
    double values[VARIABLES] = {0.};
    char ours[MESSAGE] = "", theirs[MESSAGE] = "";
    struct mech_expr *e = NULL;
    struct muparser *m = NULL;
    const struct mech_expr_vars vars = {names, values, VARIABLES};
    const int a = mech_expr_create(text, &vars, ours, sizeof ours, &e);
    const int b = muparser_create(text, &(struct muparser_vars){names, values, VARIABLES}, theirs,
                                  sizeof theirs, &m);
    int code = 0;

    if (!muparser_is_compared(NULL)) {
        mech_expr_destroy(e);
        muparser_destroy(m);
        return 0;
    }
    // quotes are refused where they are, not where they are used
    if ((a != b && strstr(ours, "operands are pending") == NULL) || (a == 0) != (e != NULL) ||
        (a != 0 && b != 0 && strcmp(ours, theirs) != 0 && strchr(text, '"') == NULL)) {
        (void)snprintf(what, 256, "%d '%s', muParser %d '%s'", a, ours, b, theirs);
        code = 1;
    } else if (a == 0 && b == 0 && muparser_values_are_compared()) {
        code = compare_values(e, m, values, what);
    }
    mech_expr_destroy(e);
    muparser_destroy(m);
    return code;
}
