/* The words of an expression, in their order, and what may follow what. owner: one thread. */
#pragma once

#include "solver/expr/program.h"

enum mech_expr_word {
    MECH_WORD_NOTHING, /* before the first one */
    MECH_WORD_LAST,    /* the end of the text */
    MECH_WORD_OPERATOR,
    MECH_WORD_SIGN, /* + or - before a number */
    MECH_WORD_OPEN,
    MECH_WORD_CLOSE,
    MECH_WORD_QUESTION,
    MECH_WORD_COLON,
    MECH_WORD_COMMA,
    MECH_WORD_VALUE,
    MECH_WORD_NAME, /* of a variable */
    MECH_WORD_CALL  /* of a function, before its parenthesis */
};

struct mech_expr_operator {
    const char *sign;
    enum mech_expr_op op;
    int rank; /* what binds closer is higher; from the left but for powers */
};

struct mech_expr_function {
    const char *name;
    int32_t arguments; /* 0: one or more */
    enum mech_expr_op op;
    bool mean; /* divided by their number */
};

struct mech_expr_reader {
    const struct mech_expr_report *report;
    const struct mech_expr_vars *vars;
    size_t at; /* behind the word */
    enum mech_expr_word word;
    unsigned barred;   /* words that may not come next */
    int open;          /* parentheses */
    bool unknown;      /* a name was unknown */
    size_t unknown_at; /* the first of them */
    bool minus;        /* the sign */
    int32_t variable;  /* the name's; unknown ones are the count */
    double value;      /* the number's */
    const struct mech_expr_operator *binary;
    const struct mech_expr_function *function;
};

void mech_expr_reader_init(struct mech_expr_reader *r, const struct mech_expr_report *report,
                           const struct mech_expr_vars *vars);
/* The next word. Unknown names are read as variables, and noted: other faults come first. 0;
 * MECH_INVALID with a reason; MECH_NO_MEMORY. */
int mech_expr_reader_next(struct mech_expr_reader *r);
