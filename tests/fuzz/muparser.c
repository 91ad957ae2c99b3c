/* Expressions by muParser's C interface; see muparser.h. The first evaluation, made at creation,
 * compiles the text to byte code. Reasons are written here from muParser's codes, because its own
 * messages pass through a buffer that all threads share. */
#include "tests/fuzz/muparser.h"

#include "solver/base/err.h"
#include "solver/base/odd.h"

#include <muParserDLL.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LONGEST = 4096, DEEPEST = 64, TOKEN = 40 };

struct muparser {
    muParserHandle_t parser;
};

struct report {
    char *message;
    size_t size;
};

static int refuse(struct report r, const char *format, ...) __attribute__((format(printf, 2, 3)));

static int refuse(struct report r, const char *format, ...)
{
    if (r.size > 0) {
        va_list arguments;
        va_start(arguments, format);
        vsnprintf(r.message, r.size, format, arguments);
        va_end(arguments);
    }
    return MECH_INVALID;
}

static bool letter(char c)
{
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '_';
}

static bool digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool identifier(const char *name)
{
    if (!letter(name[0])) {
        return false;
    }
    while (letter(*name) || digit(*name)) {
        name++;
    }
    return *name == '\0';
}

/* What muParser would take but we do not: assignments, characters outside ASCII, depth. */
static int screen(const char *text, struct report r)
{
    const size_t length = strnlen(text, LONGEST + 1);
    if (length > LONGEST) {
        return refuse(r, "the expression is longer than %d bytes", LONGEST);
    }
    int depth = 0;
    for (size_t i = 0; i < length; i++) {
        const char c = text[i];
        if ((unsigned char)c >= 0x80u ||
            ((unsigned char)c < 0x20u && strchr("\t\n\r", c) == NULL)) {
            struct mech_odd odd;
            mech_text_name(text, length, i, &odd);
            return refuse(r, "%s is not allowed here (position %zu)", odd.text, i + 1);
        }
        depth += (c == '(') - (c == ')');
        if (depth > DEEPEST) {
            return refuse(r, "more than %d nested parentheses at position %zu", DEEPEST, i + 1);
        }
        // comparisons of two characters are stepped over
        if (strchr("<>!=", c) != NULL && text[i + 1] == '=') {
            i++;
        } else if (c == '=') {
            return refuse(r, "an assignment is not allowed (position %zu; a comparison is ==)",
                          i + 1);
        }
    }
    return 0;
}

/* The name or sign at a position, for a message. */
static void token_at(const char *text, size_t at, char token[TOKEN])
{
    size_t n = 0;
    while (n + 1 < TOKEN && (letter(text[at + n]) || digit(text[at + n]))) {
        token[n] = text[at + n];
        n++;
    }
    if (n == 0 && text[at] != '\0') {
        token[n++] = text[at];
    }
    token[n] = '\0';
}

/* Codes of muParser 2.2 and 2.3 (EErrorCodes). */
static const char *reason(int code)
{
    switch (code) {
    case 0:
        return "unexpected operator";
    case 1:
        return "unknown name, or invalid expression,";
    case 2:
        return "unexpected end";
    case 3:
        return "unexpected comma";
    case 4:
        return "arguments without a function";
    case 5:
        return "unexpected number";
    case 6:
        return "unexpected variable";
    case 7:
        return "unexpected parenthesis";
    case 8:
    case 17:
        return "unexpected text in quotes";
    case 10:
    case 11:
        return "missing parenthesis";
    case 12:
        return "unexpected function";
    case 14:
        return "too many arguments";
    case 15:
        return "too few arguments";
    case 25:
        return "the expression is empty";
    case 33:
        return "missing ':' after '?'";
    case 34:
        return "misplaced ':'";
    default:
        return "not a valid expression";
    }
}

/* Turn muParser's error into a reason with a position. */
static int explain(muParserHandle_t parser, const char *text, struct report r)
{
    const int code = mupGetErrorCode(parser);
    const int at = mupGetErrorPos(parser);
    const size_t length = strlen(text);
    // no position, or one behind the end, is the end
    const size_t position = at < 0 || (size_t)at > length ? length : (size_t)at;
    if (code == 25) {
        return refuse(r, "%s", reason(code));
    }
    if (position < length) {
        char token[TOKEN];
        token_at(text, position, token);
        return refuse(r, "%s at position %zu, near '%s'", reason(code), position + 1, token);
    }
    return refuse(r, "%s at position %zu", reason(code), position + 1);
}

/* Names of variables, then the constants that they leave. */
static void define_names(muParserHandle_t parser, const struct muparser_vars *vars)
{
    bool pi = true;
    bool e = true;
    mupClearConst(parser);
    for (size_t i = 0; i < vars->count; i++) {
        const char *const name = vars->names[i];
        if (identifier(name)) {
            pi = pi && strcmp(name, "pi") != 0;
            e = e && strcmp(name, "e") != 0;
            mupDefineVar(parser, name, &vars->values[i]);
        }
    }
    if (pi) {
        mupDefineConst(parser, "pi", 3.14159265358979323846);
    }
    if (e) {
        mupDefineConst(parser, "e", 2.71828182845904523536);
    }
}

static int compile(struct muparser *x, const char *text, struct report r)
{
    muParserHandle_t parser = x->parser;
    mupSetExpr(parser, text);
    // the search for variables has to come first: it resets the byte code
    (void)mupGetExprVarNum(parser);
    if (mupError(parser)) {
        return explain(parser, text, r);
    }
    (void)mupEval(parser);
    if (mupError(parser)) {
        return explain(parser, text, r);
    }
    int values = 0;
    mupEvalMulti(parser, &values);
    if (mupError(parser)) {
        return explain(parser, text, r);
    }
    if (values != 1) {
        return refuse(r, "%d values, separated by commas, where one is expected", values);
    }
    return 0;
}

int muparser_create(const char *text, const struct muparser_vars *vars, char *message,
                    size_t message_size, struct muparser **out)
{
    const struct report r = {.message = message, .size = message_size};
    *out = NULL;
    MECH_TRY(screen(text, r));
    struct muparser *const x = calloc(1, sizeof *x);
    if (x == NULL) {
        return MECH_NO_MEMORY;
    }
    x->parser = mupCreate(muBASETYPE_FLOAT);
    if (x->parser == NULL) {
        free(x);
        return MECH_NO_MEMORY;
    }
    define_names(x->parser, vars);
    const int code = mupError(x->parser) ? refuse(r, "the names of the variables are not usable")
                                         : compile(x, text, r);
    if (code != 0) {
        muparser_destroy(x);
        return code;
    }
    *out = x;
    return 0;
}

bool muparser_is_compared(const char **version)
{
    static char installed[40];
    const size_t n = strlen(MUPARSER_COMPARED);
    const muParserHandle_t parser = installed[0] == '\0' ? mupCreate(muBASETYPE_FLOAT) : NULL;

    if (parser != NULL) {
        snprintf(installed, sizeof installed, "%s", mupGetVersion(parser));
        mupRelease(parser);
    }
    if (version != NULL) {
        *version = installed;
    }
    // "2.3.3 (Release)"
    return strncmp(installed, MUPARSER_COMPARED, n) == 0 && !digit(installed[n]);
}

bool muparser_values_are_compared(void)
{
    static const char *const names[] = {"t"};
    double t = 0.1;
    const volatile double product = 3. * t;
    const double expected[] = {product - 0.3, 1.};
    static const char *const texts[] = {"3*t-0.3", "(0/0)||0"};
    const struct muparser_vars vars = {names, &t, 1};
    bool same = true;

    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct muparser *x = NULL;
        char message[80];
        const bool read = muparser_create(texts[i], &vars, message, sizeof message, &x) == 0;

        same = same && read && muparser_value(x) == expected[i];
        muparser_destroy(x);
    }
    return same;
}

void muparser_destroy(struct muparser *x)
{
    if (x != NULL) {
        mupRelease(x->parser);
        free(x);
    }
}

double muparser_value(struct muparser *x)
{
    return mupEval(x->parser);
}
