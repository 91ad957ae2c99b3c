/* Creation of expressions: what is checked before words are read, and reasons with their places. */
#include "solver/expr/program.h"

#include "solver/base/err.h"
#include "solver/base/odd.h"
#include "solver/base/text.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

enum { TOKEN = 40 };

int mech_expr_refuse(const struct mech_expr_report *r, const char *format, ...)
{
    if (r->size > 0) {
        va_list arguments;
        va_start(arguments, format);
        mech_text_format_list(r->message, r->size, format, arguments);
        va_end(arguments);
    }
    return MECH_INVALID;
}

static bool of_name(char c)
{
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
}

/* The name or sign at a position, for a message. */
static void token_at(const char *text, size_t at, char token[TOKEN])
{
    size_t n = 0;
    while (n + 1 < TOKEN && of_name(text[at + n])) {
        token[n] = text[at + n];
        n++;
    }
    if (n == 0 && text[at] != '\0') {
        token[n++] = text[at];
    }
    token[n] = '\0';
}

int mech_expr_refuse_at(const struct mech_expr_report *r, const char *what, size_t at)
{
    if (at >= r->length) {
        return mech_expr_refuse(r, "%s at position %zu", what, r->length + 1);
    }
    char token[TOKEN];
    token_at(r->text, at, token);
    return mech_expr_refuse(r, "%s at position %zu, near '%s'", what, at + 1, token);
}

/* Length, assignments, characters that have no place here, depth. */
static int screen(const struct mech_expr_report *r)
{
    const char *const text = r->text;
    if (r->length > MECH_EXPR_LONGEST) {
        return mech_expr_refuse(r, "the expression is longer than %d bytes", MECH_EXPR_LONGEST);
    }
    int depth = 0;
    for (size_t i = 0; i < r->length; i++) {
        const char c = text[i];
        if ((unsigned char)c >= 0x80u || ((unsigned char)c < 0x20u && !strchr("\t\n\r", c))) {
            struct mech_odd odd;
            mech_text_name(text, r->length, i, &odd);
            return mech_expr_refuse(r, "%s is not allowed here (position %zu)", odd.text, i + 1);
        }
        depth += (c == '(') - (c == ')');
        if (depth > MECH_EXPR_NESTED) {
            return mech_expr_refuse(r, "more than %d nested parentheses at position %zu",
                                    MECH_EXPR_NESTED, i + 1);
        }
        // comparisons of two characters are stepped over
        if (strchr("<>!=", c) && text[i + 1] == '=') {
            i++;
        } else if (c == '=') {
            return mech_expr_refuse(
                r, "an assignment is not allowed (position %zu; a comparison is ==)", i + 1);
        }
    }
    return 0;
}

int mech_expr_create(const char *text, const struct mech_expr_vars *vars, char *message,
                     size_t message_size, struct mech_expr **out)
{
    const struct mech_expr_report r = {.text = text,
                                       .length = strnlen(text, MECH_EXPR_LONGEST + 1),
                                       .message = message,
                                       .size = message_size};
    *out = NULL;
    MECH_TRY(screen(&r));
    MECH_TRY(mech_expr_compile(&r, vars, out));
    (*out)->values = vars->values;
    return 0;
}

bool mech_expr_may_jump(const struct mech_expr *e)
{
    for (const struct mech_expr_code *c = e->code; c->op != MECH_EXPR_END; c++) {
        switch (c->op) {
        case MECH_EXPR_IF:
        case MECH_EXPR_RINT:
        case MECH_EXPR_SIGN:
        case MECH_EXPR_AND:
        case MECH_EXPR_ATAN2:
        case MECH_EXPR_EQUAL:
        case MECH_EXPR_GREATER:
        case MECH_EXPR_GREATER_OR_EQUAL:
        case MECH_EXPR_LESS:
        case MECH_EXPR_LESS_OR_EQUAL:
        case MECH_EXPR_OR:
        case MECH_EXPR_UNEQUAL:
            return true;
        default:
            break;
        }
    }
    return false;
}

void mech_expr_destroy(struct mech_expr *e)
{
    free(e);
}
