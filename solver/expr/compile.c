/* From words to operations: the shunting yard (E. W. Dijkstra, 1961), without recursion, by
 * muParser's rules:
 *
 *     ?:  ||  &&  < <= > >= == !=  + -  * /  ^        binding closer to the right; ?: and ^ from
 *                                                     the right, the others from the left
 *     signs bind as * and /: -2^2 = -(2^2), 2^-1 = 2^(-1); one sign at a place
 *
 * Operations merge with what is in front of them where they can (merge.c). */
#include "solver/base/err.h"
#include "solver/expr/reader.h"

#include <stdlib.h>
#include <string.h>

/* An operator, a parenthesis or a function whose right side is not read yet. */
struct pending {
    enum mech_expr_word word;
    bool minus;
    const struct mech_expr_operator *binary;
    const struct mech_expr_function *function;
};

struct compiler {
    struct mech_expr_reader reader;
    struct mech_expr_code *code; /* [count] */
    size_t *where;               /* [count] of the text */
    struct pending *pending;     /* [waiting] */
    int32_t *arguments;          /* [lists] in parentheses and choices that are open */
    size_t count, waiting, lists;
    size_t values;  /* numbers that no operation has taken yet */
    size_t choices; /* ? without : */
};

static int fail(const struct compiler *c, const char *what, size_t at)
{
    return mech_expr_refuse_at(c->reader.report, what, at);
}

static int fail_form(const struct compiler *c, size_t at)
{
    return fail(c, "not a valid expression", at);
}

/* --- operations ------------------------------------------------------------------------------- */

static void emit(struct compiler *c, struct mech_expr_code code)
{
    c->where[c->count] = c->reader.at;
    c->code[c->count++] = code;
}

static void emit_op(struct compiler *c, enum mech_expr_op op)
{
    emit(c, (struct mech_expr_code){.op = op});
}

/* The operation of what is on the stack and a number. */
static void emit_with(struct compiler *c, enum mech_expr_op op, double number)
{
    emit(c, (struct mech_expr_code){.op = MECH_EXPR_NUMBER, .at = -1, .b = number});
    emit_op(c, op);
}

/* The operation of two, or what it comes to. */
static void emit_two(struct compiler *c, enum mech_expr_op op)
{
    struct mech_expr_code *const x = c->count < 2 ? NULL : &c->code[c->count - 2];

    if (x && mech_expr_merge_two(x, x + 1, op)) {
        c->count--;
    } else {
        emit_op(c, op);
    }
}

static void emit_one(struct compiler *c, enum mech_expr_op op)
{
    if (c->count == 0 || !mech_expr_merge_one(&c->code[c->count - 1], op)) {
        emit_op(c, op);
    }
}

/* --- what waits ------------------------------------------------------------------------------- */

static const struct pending *top(const struct compiler *c, size_t below)
{
    static const struct pending nothing = {.word = MECH_WORD_NOTHING};

    return c->waiting > below ? &c->pending[c->waiting - 1 - below] : &nothing;
}

/* Takes `takes` numbers and gives one. */
static int take(struct compiler *c, size_t takes)
{
    if (c->values < takes) {
        return fail_form(c, c->reader.at);
    }
    c->values -= takes - 1;
    return 0;
}

/* The sign or operator on top. */
static int apply(struct compiler *c)
{
    const struct pending p = c->pending[--c->waiting];

    MECH_TRY(take(c, p.word == MECH_WORD_SIGN ? 1 : 2));
    if (p.word == MECH_WORD_OPERATOR) {
        emit_two(c, p.binary->op);
    } else if (p.minus) {
        emit_one(c, MECH_EXPR_NEGATE);
    }
    return 0;
}

/* Everything down to a parenthesis or a ? whose side is not complete. */
static int apply_all(struct compiler *c)
{
    for (;;) {
        switch (top(c, 0)->word) {
        case MECH_WORD_SIGN:
        case MECH_WORD_OPERATOR:
            MECH_TRY(apply(c));
            break;
        case MECH_WORD_COLON:
            c->waiting--;
            if (c->values < 3) {
                return fail_form(c, c->reader.report->length);
            }
            if (top(c, 0)->word != MECH_WORD_QUESTION) {
                return fail(c, "misplaced ':'", c->reader.at);
            }
            c->waiting--;
            c->values -= 2;
            emit_op(c, MECH_EXPR_END_IF);
            break;
        default:
            return 0;
        }
    }
}

/* The list that ends here is that of a function which goes over its arguments one by one: takes
 * argument n into what those before came to. */
static void accumulate(struct compiler *c, int32_t n)
{
    const struct mech_expr_function *const f = top(c, 1)->function;

    if (top(c, 0)->word != MECH_WORD_OPEN || top(c, 1)->word != MECH_WORD_CALL ||
        f->arguments != 0) {
        return;
    }
    if (n > 1) {
        emit_op(c, f->op);
    } else if (f->op == MECH_EXPR_ADD) {
        // muParser adds to 0: no sum is −0
        emit_with(c, MECH_EXPR_ADD, 0.);
    }
}

/* --- words ------------------------------------------------------------------------------------ */

static int push(struct compiler *c)
{
    const struct mech_expr_reader *const r = &c->reader;

    c->pending[c->waiting++] =
        (struct pending){.word = r->word,
                         .minus = r->minus,
                         .binary = r->word == MECH_WORD_OPERATOR ? r->binary : NULL,
                         .function = r->word == MECH_WORD_CALL ? r->function : NULL};
    return 0;
}

static int on_operator(struct compiler *c)
{
    const struct mech_expr_operator *const o = c->reader.binary;

    for (;;) {
        const struct pending *const p = top(c, 0);
        // signs have the rank of * and /
        const int rank = p->word == MECH_WORD_SIGN       ? 6
                         : p->word == MECH_WORD_OPERATOR ? p->binary->rank
                                                         : -1;

        if (rank < o->rank || (p->binary == o && o->op == MECH_EXPR_POWER)) {
            return push(c);
        }
        MECH_TRY(apply(c));
    }
}

static int on_question(struct compiler *c)
{
    while (top(c, 0)->word == MECH_WORD_SIGN || top(c, 0)->word == MECH_WORD_OPERATOR) {
        MECH_TRY(apply(c));
    }
    c->choices++;
    c->arguments[c->lists++] = 1;
    emit_op(c, MECH_EXPR_IF);
    return push(c);
}

static int on_colon(struct compiler *c)
{
    if (c->lists == 0) {
        return fail(c, "misplaced ':'", c->reader.at);
    }
    if (c->arguments[c->lists - 1] > 1) {
        return fail(c, "unexpected comma", c->reader.at);
    }
    c->lists--;
    if (c->choices == 0) {
        return fail(c, "misplaced ':'", c->reader.at);
    }
    c->choices--;
    MECH_TRY(apply_all(c));
    emit_op(c, MECH_EXPR_ELSE);
    return push(c);
}

static int on_comma(struct compiler *c)
{
    if (top(c, 0)->word == MECH_WORD_QUESTION || c->lists == 0) {
        return fail(c, "unexpected comma", c->reader.at);
    }
    const int32_t n = c->arguments[c->lists - 1]++;

    MECH_TRY(apply_all(c));
    accumulate(c, n);
    return 0;
}

/* The function whose arguments end here. */
static int call(struct compiler *c, int32_t n)
{
    const struct mech_expr_function *const f = top(c, 0)->function;
    const size_t at = c->reader.at;

    c->waiting--;
    if (f->arguments > 0 && n != f->arguments) {
        return fail(c, n > f->arguments ? "too many arguments" : "too few arguments", at - 1);
    }
    if (n == 0) {
        return fail(c, "too few arguments", at);
    }
    MECH_TRY(take(c, (size_t)n));
    if (f->arguments == 1) {
        emit_one(c, f->op);
    } else if (f->arguments == 2) {
        emit_two(c, f->op);
    } else if (f->mean) {
        emit_with(c, MECH_EXPR_DIVIDE, n);
    } else if (n == 1) {
        // muParser merges nothing with what a function gives
        emit_with(c, MECH_EXPR_MULTIPLY, 1.);
    }
    return 0;
}

static int on_close(struct compiler *c, bool empty)
{
    if (c->lists == 0) {
        return fail_form(c, c->reader.report->length);
    }
    c->arguments[c->lists - 1] -= empty;
    MECH_TRY(apply_all(c));
    if (top(c, 0)->word != MECH_WORD_OPEN) {
        return 0;
    }
    const int32_t n = c->arguments[--c->lists];

    accumulate(c, n);
    c->waiting--;
    if (top(c, 0)->word == MECH_WORD_CALL) {
        return call(c, n);
    }
    return n > 1 ? fail(c, "arguments without a function", c->reader.at) : 0;
}

static int on_word(struct compiler *c, enum mech_expr_word before)
{
    const struct mech_expr_reader *const r = &c->reader;

    switch (r->word) {
    case MECH_WORD_VALUE:
        c->values++;
        emit(c, (struct mech_expr_code){.op = MECH_EXPR_NUMBER, .at = -1, .b = r->value});
        return 0;
    case MECH_WORD_NAME:
        c->values++;
        emit(c, (struct mech_expr_code){.op = MECH_EXPR_VARIABLE, .at = r->variable, .a = 1.});
        return 0;
    case MECH_WORD_OPERATOR:
        return on_operator(c);
    case MECH_WORD_QUESTION:
        return on_question(c);
    case MECH_WORD_COLON:
        return on_colon(c);
    case MECH_WORD_COMMA:
        return on_comma(c);
    case MECH_WORD_CLOSE:
        return on_close(c, before == MECH_WORD_OPEN);
    case MECH_WORD_OPEN:
        c->arguments[c->lists++] = 1;
        return push(c);
    default:
        return push(c);
    }
}

/* --- the whole -------------------------------------------------------------------------------- */

/* Operations of the text, not yet checked. */
static int read_all(struct compiler *c)
{
    const struct mech_expr_reader *const r = &c->reader;

    c->arguments[c->lists++] = 1;
    while (r->word != MECH_WORD_LAST) {
        const enum mech_expr_word before = r->word;

        MECH_TRY(mech_expr_reader_next(&c->reader));
        MECH_TRY(r->word == MECH_WORD_LAST ? apply_all(c) : on_word(c, before));
    }
    if (c->choices > 0) {
        return fail(c, "missing ':' after '?'", r->report->length);
    }
    if (c->lists != 1) {
        return fail_form(c, r->report->length);
    }
    if (c->values == 0) {
        return mech_expr_refuse(r->report, "the expression is empty");
    }
    if (r->unknown) {
        return fail(c, "unknown name, or invalid expression,", r->unknown_at);
    }
    if (c->arguments[0] != 1) {
        return mech_expr_refuse(r->report, "%d values, separated by commas, where one is expected",
                                (int)c->arguments[0]);
    }
    emit_op(c, MECH_EXPR_END);
    return c->waiting == 0 ? 0 : fail_form(c, r->report->length);
}

/* How the stack grows from operation to operation, where IF and ELSE go on. */
struct check {
    int32_t depth, breadth;           /* of the stack: of one member, and of several */
    int32_t most_depth, most_breadth; /* so far */
    int32_t *open;                    /* [2 × opened] IF or ELSE, and the depth behind it */
    size_t opened;
};

/* False: the stack has too little, or the sides of a choice differ. */
static bool check_choice(struct check *k, struct mech_expr_code *code, int32_t i)
{
    if (code[i].op == MECH_EXPR_IF) {
        k->depth--;
        k->open[2 * k->opened] = i;
        k->open[2 * k->opened + 1] = k->depth;
        k->opened++;
        return k->depth >= 0;
    }
    if (k->opened == 0) {
        return false;
    }
    int32_t *const last = &k->open[2 * (k->opened - 1)];
    const bool is_else = code[i].op == MECH_EXPR_ELSE;
    const enum mech_expr_op before = is_else ? MECH_EXPR_IF : MECH_EXPR_ELSE;

    if (code[*last].op != before || k->depth != last[1] + 1) {
        return false;
    }
    code[*last].at = i - *last;
    *last = i;
    k->depth -= is_else;
    k->breadth -= is_else ? 0 : 2;
    k->opened -= is_else ? 0 : 1;
    return true;
}

static bool check_one(struct check *k, struct mech_expr_code *code, int32_t i)
{
    int32_t takes = 0;

    switch (code[i].op) {
    case MECH_EXPR_NUMBER:
#define LOAD(symbol, value, by_x, by_xx, moves) case MECH_EXPR_##symbol:
#include "solver/expr/loads.def"
#undef LOAD
        break;
    case MECH_EXPR_IF:
    case MECH_EXPR_ELSE:
    case MECH_EXPR_END_IF:
        return check_choice(k, code, i);
#define ONE(symbol, value, by_x, by_xx) case MECH_EXPR_##symbol:
#define TWO(symbol, value)
#include "solver/expr/operations.def"
#undef ONE
#undef TWO
        takes = 1;
        break;
    default:
        takes = 2;
        break;
    }
    if (k->depth < takes) {
        return false;
    }
    k->depth += 1 - takes;
    k->breadth += 1 - takes;
    k->most_depth = k->depth > k->most_depth ? k->depth : k->most_depth;
    k->most_breadth = k->breadth > k->most_breadth ? k->breadth : k->most_breadth;
    return true;
}

/* Stack and choices of the operations, before END. */
static int check_all(struct compiler *c, struct check *k)
{
    for (int32_t i = 0; c->code[i].op != MECH_EXPR_END; i++) {
        if (!check_one(k, c->code, i)) {
            return fail_form(c, c->where[i]);
        }
        if (k->depth > MECH_EXPR_DEPTH) {
            return mech_expr_refuse(c->reader.report,
                                    "more than %d operands are pending at position %zu: the "
                                    "expression is nested too deeply",
                                    MECH_EXPR_DEPTH, c->where[i]);
        }
    }
    return k->depth == 1 && k->opened == 0 ? 0 : fail_form(c, c->reader.report->length);
}

static bool is_constant(const struct mech_expr *x)
{
    for (const struct mech_expr_code *code = x->code; code->op != MECH_EXPR_END; code++) {
        if (mech_expr_is_load(code->op)) {
            return false;
        }
    }
    return true;
}

static struct mech_expr *finished(const struct compiler *c, const struct check *k)
{
    struct mech_expr *const x = malloc(sizeof *x + c->count * sizeof *x->code);

    if (!x) {
        return NULL;
    }
    *x = (struct mech_expr){.depth = k->most_depth, .breadth = k->most_breadth};
    memcpy(x->code, c->code, c->count * sizeof *x->code);
    if (is_constant(x)) {
        x->code[0].b = mech_expr_at(x, NULL);
        x->code[0].op = MECH_EXPR_NUMBER;
        x->code[1].op = MECH_EXPR_END;
    }
    return x;
}

int mech_expr_compile(const struct mech_expr_report *r, const struct mech_expr_vars *vars,
                      struct mech_expr **out)
{
    // a word is a byte or longer; none makes more than two operations
    const size_t words = r->length + 4, codes = 2 * words;
    struct compiler c = {
        .code = malloc(codes * (sizeof *c.code + sizeof *c.where + sizeof *c.arguments) +
                       words * sizeof *c.pending)};
    int code = 0;

    if (!c.code) {
        return MECH_NO_MEMORY;
    }
    c.where = (size_t *)(void *)(c.code + codes);
    c.pending = (struct pending *)(void *)(c.where + codes);
    c.arguments = (int32_t *)(void *)(c.pending + words);
    mech_expr_reader_init(&c.reader, r, vars);
    code = read_all(&c);
    if (code == 0) {
        struct check k = {.open = c.arguments};

        code = check_all(&c, &k);
        if (code == 0) {
            *out = finished(&c, &k);
            code = !*out ? MECH_NO_MEMORY : 0;
        }
    }
    free(c.code);
    return code;
}
