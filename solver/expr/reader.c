/* Words by muParser's rules: names are the longest run of letters, digits and _, a function is a
 * name before a parenthesis without a blank, a number is what std::istream reads as one (decimal,
 * "5." and ".5" too, at most the largest double), and "2x" are two words. */
#include "solver/expr/reader.h"

#include "solver/base/err.h"

#include <locale.h>
#include <stdlib.h>
#include <string.h>

/* what may not come next */
enum {
    BAR_OPEN = 1 << 0,
    BAR_CLOSE = 1 << 1,
    BAR_VALUE = 1 << 2,
    BAR_NAME = 1 << 3,
    BAR_COMMA = 1 << 4,
    BAR_CALL = 1 << 5,
    BAR_OPERATOR = 1 << 6,
    BAR_SIGN = 1 << 7,
    BAR_END = 1 << 8,
    BAR_CHOICE = 1 << 9, /* ? and : */
    BAR_ALL = (1 << 10) - 1
};

/* after a number, a name or a closing parenthesis */
static const unsigned after_value = BAR_VALUE | BAR_NAME | BAR_CALL | BAR_OPEN | BAR_SIGN;

/* longer signs first */
static const struct mech_expr_operator operators[] = {
    {"<=", MECH_EXPR_LESS_OR_EQUAL, 4},
    {">=", MECH_EXPR_GREATER_OR_EQUAL, 4},
    {"!=", MECH_EXPR_UNEQUAL, 4},
    {"==", MECH_EXPR_EQUAL, 4},
    {"<", MECH_EXPR_LESS, 4},
    {">", MECH_EXPR_GREATER, 4},
    {"+", MECH_EXPR_ADD, 5},
    {"-", MECH_EXPR_SUBTRACT, 5},
    {"*", MECH_EXPR_MULTIPLY, 6},
    {"/", MECH_EXPR_DIVIDE, 6},
    {"^", MECH_EXPR_POWER, 7},
    {"&&", MECH_EXPR_AND, 2},
    {"||", MECH_EXPR_OR, 1},
};

static const struct mech_expr_function functions[] = {
#define FUNCTION(name, arguments, op) {name, arguments, MECH_EXPR_##op, false},
#define MEAN(name, op) {name, 0, MECH_EXPR_##op, true},
#include "solver/expr/functions.def"
#undef FUNCTION
#undef MEAN
};

static bool digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool of_name(char c)
{
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '_' || digit(c);
}

static bool is(const char *name, const char *text, size_t length)
{
    return strncmp(name, text, length) == 0 && name[length] == '\0';
}

/* The variable of that name, the last one where there are several; −1. */
static int32_t variable_of(const struct mech_expr_vars *vars, const char *text, size_t length)
{
    for (size_t i = digit(*text) ? 0 : vars->count; i > 0; i--) {
        if (vars->names[i - 1][0] == *text && is(vars->names[i - 1], text, length)) {
            return (int32_t)i - 1;
        }
    }
    return -1;
}

static bool constant_of(const struct mech_expr_vars *vars, const char *text, size_t length,
                        double *out)
{
    if (is("pi", text, length) || is("e", text, length)) {
        *out = *text == 'e' ? 2.71828182845904523536 : 3.14159265358979323846;
        return variable_of(vars, text, length) < 0;
    }
    return false;
}

/* Bytes that belong to a number, whole or not. */
static size_t number_length(const char *text)
{
    size_t n = strspn(text, "0123456789");
    bool mantissa = n > 0;

    if (text[n] == '.') {
        const size_t fraction = strspn(text + n + 1, "0123456789");

        mantissa = mantissa || fraction > 0;
        n += 1 + fraction;
    }
    if (mantissa && (text[n] == 'e' || text[n] == 'E')) {
        n++;
        n += text[n] == '+' || text[n] == '-';
        n += strspn(text + n, "0123456789");
    }
    return n;
}

/* *out = strtod in the classic locale, whatever the program's is. 0; MECH_NO_MEMORY. */
static int classic(const char *text, char **end, double *out)
{
    const locale_t c = newlocale(LC_ALL_MASK, "C", (locale_t)0);

    if (c == (locale_t)0) {
        return MECH_NO_MEMORY;
    }
    const locale_t other = uselocale(c);

    *out = strtod(text, end);
    uselocale(other);
    freelocale(c);
    return 0;
}

/* *length = that of the number at the text; 0: none. 0; MECH_NO_MEMORY. */
static int number_of(const char *text, double *out, size_t *length)
{
    const size_t n = number_length(text);
    char digits[MECH_EXPR_LONGEST + 1];
    char *end = digits;

    *length = 0;
    if (n == 0) {
        return 0;
    }
    memcpy(digits, text, n);
    digits[n] = '\0';
    MECH_TRY(classic(digits, &end, out));
    *length = end == digits + n && !isinf(*out) ? n : 0;
    return 0;
}

/* The word has `length` bytes and is followed by nothing that is barred. */
static int accept(struct mech_expr_reader *r, enum mech_expr_word word, size_t length,
                  unsigned barred)
{
    r->word = word;
    r->at += length;
    r->barred = barred;
    return 0;
}

static int sign_or_operator(struct mech_expr_reader *r, const struct mech_expr_operator *o)
{
    const bool is_sign = *o->sign == '+' || *o->sign == '-';

    if (!(r->barred & BAR_OPERATOR)) {
        r->binary = o;
        return accept(r, MECH_WORD_OPERATOR, strlen(o->sign),
                      BAR_CLOSE | BAR_OPERATOR | BAR_COMMA | BAR_CHOICE | BAR_END);
    }
    if (!is_sign || r->barred & BAR_SIGN) {
        return mech_expr_refuse_at(r->report, "unexpected operator", r->at + is_sign);
    }
    r->minus = *o->sign == '-';
    return accept(r, MECH_WORD_SIGN, 1, BAR_SIGN | BAR_OPERATOR | BAR_CLOSE | BAR_COMMA);
}

static int parenthesis(struct mech_expr_reader *r, bool opens)
{
    const bool of_function = r->word == MECH_WORD_CALL;

    if (r->barred & (opens ? BAR_OPEN : BAR_CLOSE) || (!opens && r->open == 0)) {
        return mech_expr_refuse_at(r->report, "unexpected parenthesis", r->at);
    }
    r->open += opens ? 1 : -1;
    if (!opens) {
        return accept(r, MECH_WORD_CLOSE, 1, after_value);
    }
    return accept(r, MECH_WORD_OPEN, 1,
                  BAR_OPERATOR | BAR_END | BAR_COMMA | BAR_CHOICE | (of_function ? 0 : BAR_CLOSE));
}

static int choice(struct mech_expr_reader *r, enum mech_expr_word word)
{
    if (r->barred & BAR_CHOICE) {
        return mech_expr_refuse_at(r->report, "not a valid expression", r->at);
    }
    return accept(r, word, 1, BAR_CLOSE | BAR_END | BAR_OPERATOR | BAR_CHOICE);
}

static int comma(struct mech_expr_reader *r)
{
    if (r->barred & BAR_COMMA) {
        return mech_expr_refuse_at(r->report, "unexpected comma", r->at);
    }
    return accept(r, MECH_WORD_COMMA, 1, BAR_CLOSE | BAR_OPERATOR | BAR_END | BAR_COMMA);
}

static int end(struct mech_expr_reader *r)
{
    if (r->barred & BAR_END) {
        return mech_expr_refuse_at(r->report, "unexpected end", r->at);
    }
    if (r->open > 0) {
        return mech_expr_refuse_at(r->report, "missing parenthesis", r->at);
    }
    return accept(r, MECH_WORD_LAST, 0, BAR_ALL);
}

static int number(struct mech_expr_reader *r, size_t length)
{
    if (r->barred & BAR_VALUE) {
        return mech_expr_refuse_at(r->report, "unexpected number", r->at);
    }
    return accept(r, MECH_WORD_VALUE, length, after_value);
}

/* A variable, or a name that may be unknown. */
static int name(struct mech_expr_reader *r, size_t length)
{
    const char *const text = r->report->text + r->at;

    if (r->barred & BAR_NAME) {
        return mech_expr_refuse_at(r->report, "unexpected variable", r->at);
    }
    r->variable = variable_of(r->vars, text, length);
    if (r->variable < 0) {
        r->variable = (int32_t)r->vars->count;
        r->unknown_at = r->unknown ? r->unknown_at : r->at;
        r->unknown = true;
    }
    return accept(r, MECH_WORD_NAME, length, after_value);
}

/* The function of that name; NULL. */
static const struct mech_expr_function *function_of(const char *text, size_t length)
{
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
        if (is(functions[i].name, text, length)) {
            return &functions[i];
        }
    }
    return NULL;
}

/* What begins with a letter, a digit, _ or a point. */
static int value_or_name(struct mech_expr_reader *r)
{
    const char *const text = r->report->text + r->at;
    size_t length = 0;

    while (of_name(text[length])) {
        length++;
    }
    r->function = text[length] == '(' ? function_of(text, length) : NULL;
    if (r->function) {
        if (r->barred & BAR_CALL) {
            return mech_expr_refuse_at(r->report, "unexpected function", r->at);
        }
        return accept(r, MECH_WORD_CALL, length, BAR_ALL & ~(unsigned)BAR_OPEN);
    }
    if (constant_of(r->vars, text, length, &r->value)) {
        return number(r, length);
    }
    size_t digits = 0;
    MECH_TRY(number_of(text, &r->value, &digits));
    if (digits > 0) {
        return number(r, digits);
    }
    return length > 0
               ? name(r, length)
               : mech_expr_refuse_at(r->report, "unknown name, or invalid expression,", r->at);
}

void mech_expr_reader_init(struct mech_expr_reader *r, const struct mech_expr_report *report,
                           const struct mech_expr_vars *vars)
{
    *r = (struct mech_expr_reader){
        .report = report,
        .vars = vars,
        .barred = BAR_OPERATOR | BAR_CLOSE | BAR_CHOICE | BAR_COMMA,
    };
}

int mech_expr_reader_next(struct mech_expr_reader *r)
{
    const char *const text = r->report->text;

    r->at += strspn(text + r->at, " \t\n\r");
    for (size_t i = 0; i < sizeof operators / sizeof *operators; i++) {
        if (strncmp(text + r->at, operators[i].sign, strlen(operators[i].sign)) == 0) {
            return sign_or_operator(r, &operators[i]);
        }
    }
    switch (text[r->at]) {
    case '\0':
        return end(r);
    case '(':
    case ')':
        return parenthesis(r, text[r->at] == '(');
    case '?':
        return choice(r, MECH_WORD_QUESTION);
    case ':':
        return choice(r, MECH_WORD_COLON);
    case ',':
        return comma(r);
    case '"':
        return mech_expr_refuse_at(r->report, "unexpected text in quotes", r->at);
    default:
        return value_or_name(r);
    }
}
