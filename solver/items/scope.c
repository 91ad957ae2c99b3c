/* Scopes of expressions: names and values side by side, borrowed by the compiled expressions. */
#include "solver/items/scope.h"

#include "solver/base/err.h"

#include <stdio.h>
#include <string.h>

static bool is_parameter(const struct mech_parameters *p, const char *name)
{
    for (size_t i = 0; i < p->n; i++) {
        if (strcmp(p->at[i].name, name) == 0) {
            return true;
        }
    }
    return false;
}

int mech_scope_init(struct mech_scope *s, struct mech_arena *arena, const char *const *locals,
                    const struct mech_parameters *parameters, const double *values)
{
    size_t local_count = 0;

    while (locals[local_count]) {
        local_count++;
    }
    s->arena = arena;
    s->count = local_count + parameters->n;
    s->names = mech_arena_alloc(arena, s->count, sizeof *s->names);
    s->vars = mech_arena_alloc(arena, s->count, sizeof *s->vars);
    if (!s->names || !s->vars) {
        return MECH_NO_MEMORY;
    }
    for (size_t i = 0; i < local_count; i++) {
        s->names[i] = locals[i];
        /* a hidden variable keeps its place under a name that no parameter can have: 65 letters */
        if (is_parameter(parameters, locals[i])) {
            char *hidden = mech_arena_alloc(arena, 2 * MECH_NAME_MAX, 1);

            if (!hidden) {
                return MECH_NO_MEMORY;
            }
            memset(hidden, 'h', MECH_NAME_MAX);
            snprintf(hidden + MECH_NAME_MAX, MECH_NAME_MAX, "_%zu", i);
            s->names[i] = hidden;
        }
    }
    for (size_t i = 0; i < parameters->n; i++) {
        s->names[local_count + i] = parameters->at[i].name;
        s->vars[local_count + i] = values[i];
    }
    return 0;
}

int mech_scope_compile(const struct mech_scope *s, const char *text, const char *path,
                       struct mech_diag *diag, struct mech_expr **out)
{
    char message[MECH_DIAG_TEXT] = "";
    const struct mech_expr_vars vars = {s->names, s->vars, s->count};
    const int r = mech_expr_create(text, &vars, message, sizeof message, out);

    if (r > 0) {
        mech_diag_add(diag, path, "%s", message);
    }
    return r;
}
