/* The variables that an expression of the model may read: local ones first, then the parameters.
 * A local variable gives way to a parameter of the same name. owner: the model. */
#pragma once

#include "solver/base/arena.h"
#include "solver/base/diag.h"
#include "solver/base/field.h"
#include "solver/base/name.h"
#include "solver/expr/expr.h"

struct mech_scope {
    const char **names; /* [count] */
    double *vars;       /* [count] local variables, then parameters */
    size_t count;
    struct mech_arena *arena;
};

/* `locals` closed by NULL, borrowed. Negative: no memory. */
int mech_scope_init(struct mech_scope *s, struct mech_arena *arena, const char *const *locals,
                    const struct mech_parameters *parameters, const double *values);

/* Compile text in the scope; a fault goes to diag under path. 0; MECH_INVALID; negative. */
int mech_scope_compile(const struct mech_scope *s, const char *text, const char *path,
                       struct mech_diag *diag, struct mech_expr **out);
