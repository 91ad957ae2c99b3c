#include "solver/items/unknown.h"

#include "solver/base/err.h"
#include "solver/items/scope.h"

#include <stdio.h>
#include <string.h>

struct check {
    const struct mech_document *document;
    struct mech_arena *arena;
    struct mech_diag *diag;
    const double *values;      /* [parameters] */
    const char *const *locals; /* of the scope; NULL: none yet */
    struct mech_scope scope;
    struct mech_path path;
};

/* Whether a fault is reported at this place, or under it. */
static bool is_reported(const struct check *c, const char *path)
{
    const size_t length = strlen(path);

    for (size_t i = 0; i < c->diag->count; i++) {
        const char *const other = c->diag->entries[i].path;

        if (strncmp(other, path, length) == 0 && (other[length] == '\0' || other[length] == '/')) {
            return true;
        }
    }
    return false;
}

static int check_text(struct check *c, const char *const *locals, const char *text,
                      const char *path)
{
    struct mech_expr *e = NULL;

    if (!text || mech_diag_full(c->diag)) {
        return 0;
    }
    if (c->locals != locals) {
        c->locals = NULL;
        MECH_FOLD(
            mech_scope_init(&c->scope, c->arena, locals, &c->document->parameters, c->values));
        c->locals = locals;
    }
    const int code = mech_scope_compile(&c->scope, text, path, c->diag, &e);

    mech_expr_destroy(e);
    return code < 0 ? code : 0;
}

static int check_values(struct check *c, const struct mech_field *f, const struct mech_values *v)
{
    static const char *const time_only[] = {"t", NULL};

    if (!v->text || is_reported(c, c->path.text)) {
        return 0;
    }
    for (size_t i = 0; i < v->n; i++) {
        /* a number alone is not written as a list */
        const size_t mark = f->count == 1 ? c->path.length : mech_path_push_index(&c->path, i);

        MECH_TRY(check_text(c, f->locals ? f->locals : time_only, v->text[i], c->path.text));
        mech_path_cut(&c->path, mark);
    }
    return 0;
}

static int check_table(struct check *c, const struct mech_table *table, const void *at);

static int check_list(struct check *c, const struct mech_field *f, const void *member)
{
    const struct mech_structs *const structs = member;
    const struct mech_items *const items = member;
    const bool of_items = f->kind == MECH_ITEMS;
    const size_t n = of_items ? items->n : structs->n;

    for (size_t i = 0; i < n; i++) {
        const size_t mark = mech_path_push_index(&c->path, i);

        if (!of_items) {
            const char *const at = (const char *)structs->at + i * f->table->size;

            MECH_TRY(check_table(c, f->table, at));
        } else if (items->at[i].description) {
            MECH_TRY(check_table(c, &items->at[i].type->table, items->at[i].description));
        }
        mech_path_cut(&c->path, mark);
    }
    return 0;
}

static int check_member(struct check *c, const struct mech_field *f, const void *member)
{
    const struct mech_formula *const formula = member;
    const struct mech_item *const item = member;

    switch (f->kind) {
    case MECH_VALUES:
        return check_values(c, f, member);
    case MECH_FORMULA:
        return is_reported(c, c->path.text) ? 0
                                            : check_text(c, f->locals, formula->text, c->path.text);
    case MECH_STRUCT:
        return check_table(c, f->table, member);
    case MECH_VARIANT:
        return item->description ? check_table(c, &item->type->table, item->description) : 0;
    case MECH_STRUCTS:
    case MECH_ITEMS:
        return check_list(c, f, member);
    default:
        return 0;
    }
}

static int check_table(struct check *c, const struct mech_table *table, const void *at)
{
    for (size_t i = 0; i < table->count; i++) {
        const struct mech_field *const f = &table->fields[i];
        const size_t mark = mech_path_push(&c->path, f->name);

        MECH_TRY(check_member(c, f, (const char *)at + f->offset));
        mech_path_cut(&c->path, mark);
    }
    return 0;
}

int mech_document_unknown(const struct mech_document *document, const char *base,
                          struct mech_arena *arena, struct mech_diag *d)
{
    static const char *const none[] = {NULL};
    const struct mech_bindings *const b = &document->bindings;
    struct check c = {.document = document, .arena = arena, .diag = d};
    char path[2 * MECH_DIAG_PATH];

    snprintf(path, sizeof path, "%s/parameters", base);
    if (is_reported(&c, path)) {
        return 0;
    }
    c.values = mech_arena_alloc(arena, document->parameters.n, sizeof *c.values);
    if (!c.values) {
        return MECH_NO_MEMORY;
    }
    for (size_t i = 0; i < b->n; i++) {
        snprintf(path, sizeof path, "%s%s", base, b->at[i].path);
        if (!is_reported(&c, path)) {
            MECH_TRY(check_text(&c, none, b->at[i].text, path));
        }
    }
    snprintf(c.path.text, sizeof c.path.text, "%s", base);
    c.path.length = strlen(c.path.text);
    return check_table(&c, &mech_document_table, document);
}
