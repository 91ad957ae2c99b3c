/* First pass over a document: numbers that expressions give, names, references, ranges, and what
 * each item checks by itself. Every fault goes to the list under its place. */
#include "solver/base/err.h"
#include "solver/items/material.h"
#include "solver/model/internal.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

void mech_item_path(enum mech_category category, size_t index, const char *field, char *text,
                    size_t size)
{
    snprintf(text, size, "/%s/%zu%s%s", mech_category_name(category), index, field ? "/" : "",
             field ? field : "");
}

/* --- parameters and bindings ------------------------------------------------------------------ */

/* A parameter is a variable of expressions: an identifier, and none of the names with a meaning. */
static bool parameter_name_valid(const char *name)
{
    static const char *const reserved[] = {"t", "u", "v", "pi", "e"};

    if (!mech_name_valid(name) || isdigit((unsigned char)name[0]) || strpbrk(name, ".-")) {
        return false;
    }
    for (size_t i = 0; i < sizeof reserved / sizeof *reserved; i++) {
        if (strcmp(name, reserved[i]) == 0) {
            return false;
        }
    }
    return true;
}

static int check_parameters(struct mech_model *m, struct mech_diag *diag)
{
    const struct mech_parameters *const p = &m->document->parameters;
    struct mech_names seen;

    MECH_TRY(mech_names_init(&seen, &m->arena, p->n));
    for (size_t i = 0; i < p->n; i++) {
        struct mech_path path = {.length = 0};

        mech_path_push(&path, "parameters");
        mech_path_push(&path, p->at[i].name);
        if (!parameter_name_valid(p->at[i].name)) {
            mech_diag_add(diag, path.text,
                          "a parameter's name consists of letters, digits and _, and is not t, u, "
                          "v, pi or e");
        } else if (mech_names_add(&seen, p->at[i].name, (int32_t)i)) {
            mech_diag_add(diag, path.text, "this parameter is defined twice");
        }
        if (!isfinite(m->parameters[i])) {
            mech_diag_add(diag, path.text, "is not a finite number");
        }
    }
    return 0;
}

static void put(const struct mech_binding *b, double value)
{
    if (b->flag) {
        *(bool *)b->target = value != 0.;
    } else {
        *(double *)b->target = value;
    }
}

static int evaluate_bindings(struct mech_model *m, struct mech_diag *diag)
{
    static const char *const none[] = {NULL};
    const struct mech_bindings *const b = &m->document->bindings;
    struct mech_scope scope;
    size_t known = 0; /* 1 + the last one that gave a number: equal texts give equal numbers */
    double last = 0.;

    MECH_TRY(mech_scope_init(&scope, &m->arena, none, &m->document->parameters, m->parameters));
    for (size_t i = 0; i < b->n; i++) {
        struct mech_expr *e = NULL;

        if (known && strcmp(b->at[known - 1].text, b->at[i].text) == 0) {
            put(&b->at[i], last);
            continue;
        }
        const int r = mech_scope_compile(&scope, b->at[i].text, b->at[i].path, diag, &e);

        if (r < 0) {
            return r;
        }
        if (r == 0) {
            const double value = mech_expr_value(e);

            if (isfinite(value)) {
                put(&b->at[i], value);
                known = i + 1;
                last = value;
            } else {
                mech_diag_add(diag, b->at[i].path, "the expression is not a finite number");
            }
        }
        mech_expr_destroy(e);
    }
    return 0;
}

/* --- names ------------------------------------------------------------------------------------ */

static void check_name(struct mech_names *seen, const char *name, int32_t index, const char *list,
                       struct mech_diag *diag)
{
    char path[MECH_DIAG_PATH];

    snprintf(path, sizeof path, "/%s/%d/name", list, (int)index);
    if (!name || !mech_name_valid(name)) {
        mech_diag_add(diag, path, "a name must have 1 to 64 characters of A-Z a-z 0-9 . _ -");
    } else if (mech_names_add(seen, name, index)) {
        mech_diag_add(diag, path, "the name \"%s\" is taken in this list", name);
    }
}

static int check_names(struct mech_model *m, struct mech_diag *diag)
{
    struct mech_document *const d = m->document;
    const struct {
        const struct mech_structs *list;
        size_t size, name;
        const char *key;
    } channels[] = {
        {&d->interactions, sizeof(struct mech_interaction), offsetof(struct mech_interaction, name),
         "interactions"},
        {&d->inputs, sizeof(struct mech_input), offsetof(struct mech_input, name), "inputs"},
        {&d->outputs, sizeof(struct mech_output_channel),
         offsetof(struct mech_output_channel, name), "outputs"},
        {&d->materials, sizeof(struct mech_material), offsetof(struct mech_material, name),
         "materials"},
    };

    for (int c = 0; c <= MECH_SENSOR; c++) {
        const struct mech_items *const items = mech_document_items(d, (enum mech_category)c);

        MECH_TRY(mech_names_init(&m->names[c], &m->arena, items->n));
        for (size_t i = 0; i < items->n; i++) {
            check_name(&m->names[c], items->at[i].name, (int32_t)i,
                       mech_category_name((enum mech_category)c), diag);
        }
    }
    for (size_t c = 0; c < sizeof channels / sizeof *channels; c++) {
        struct mech_names other;
        struct mech_names *const seen = channels[c].list == &d->materials ? &m->materials : &other;

        MECH_TRY(mech_names_init(seen, &m->arena, channels[c].list->n));
        for (size_t i = 0; i < channels[c].list->n; i++) {
            const char *at = (const char *)channels[c].list->at + i * channels[c].size;
            const char *name;

            memcpy(&name, at + channels[c].name, sizeof name);
            check_name(seen, name, (int32_t)i, channels[c].key, diag);
        }
    }
    return 0;
}

/* --- fields ----------------------------------------------------------------------------------- */

struct walk {
    struct mech_model *m;
    struct mech_diag *diag;
    struct mech_path path;
    bool numbers; /* every expression gave its number, so that numbers can be judged */
};

static void check_number(struct walk *w, const struct mech_field *f, double x)
{
    if (!w->numbers || mech_field_admits(f, x)) {
        return;
    }
    if (!isfinite(x)) {
        mech_diag_add(w->diag, w->path.text, "is not a finite number");
    } else if (x <= f->min) {
        mech_diag_add(w->diag, w->path.text, "%g is out of range: must be %s %g", x,
                      (f->flags & MECH_ABOVE_MIN) ? "greater than" : "at least", f->min);
    } else {
        mech_diag_add(w->diag, w->path.text, "%g is out of range: must be %s %g", x,
                      (f->flags & MECH_BELOW_MAX) ? "less than" : "at most", f->max);
    }
}

/* x [n] under the path of the field and an index */
static void check_numbers(struct walk *w, const struct mech_field *f, const double *x, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const size_t mark = mech_path_push_index(&w->path, f->columns ? i / f->columns : i);

        if (f->columns) {
            mech_path_push_index(&w->path, i % f->columns);
        }
        check_number(w, f, x[i]);
        mech_path_cut(&w->path, mark);
    }
}

static void resolve_ref(struct walk *w, const struct mech_field *f, struct mech_ref *ref)
{
    ref->index = -1;
    if (!ref->name) {
        if (f->flags & MECH_REQUIRED) {
            mech_diag_add(w->diag, w->path.text, "is missing");
        }
        return;
    }
    ref->index = mech_names_find(&w->m->names[f->target], ref->name);
    if (ref->index < 0) {
        const enum mech_category category = (enum mech_category)f->target;
        const struct mech_items *const all =
            mech_diag_full(w->diag) ? NULL : mech_document_items(w->m->document, category);
        struct mech_guess g;
        mech_diag_add(w->diag, w->path.text, "there is no \"%s\" in %s%s", ref->name,
                      mech_category_name(category), mech_items_hint(&g, ref->name, all));
    }
}

static void walk_table(struct walk *w, const struct mech_table *table, void *at);

/* one of the document's list by name, or the struct behind it */
static void walk_shared(struct walk *w, const struct mech_field *f, struct mech_shared *shared)
{
    const char *key = "";

    shared->index = -1;
    if (!shared->name) {
        walk_table(w, f->table, shared + 1);
        return;
    }
    const struct mech_structs *const list = mech_document_list(w->m->document, f->table, &key);
    if (list) {
        shared->index = mech_names_find(&w->m->materials, shared->name);
    }
    if (shared->index < 0) {
        const bool tries = list && !mech_diag_full(w->diag);
        struct mech_guess g;
        mech_diag_add(w->diag, w->path.text, "there is no \"%s\" in %s%s", shared->name, key,
                      tries ? mech_hint(&g, shared->name, list->at, list->n, f->table->size) : "");
    }
}

static void walk_item(struct walk *w, const struct mech_item *item)
{
    walk_table(w, &item->type->table, item->description);
    if (item->type->check && w->numbers) {
        item->type->check(item->description, w->path.text, w->diag);
    }
}

static void walk_matrix(struct walk *w, const struct mech_field *f, const struct mech_mat *a)
{
    if ((f->flags & MECH_REQUIRED) && (a->rows == 0 || a->cols == 0)) {
        mech_diag_add(w->diag, w->path.text, "is missing");
        return;
    }
    const size_t n = a->rows > 0 && a->cols > 0 ? mech_mat_stored(a) : 0;

    for (size_t i = 0; i < n; i++) {
        if (!isfinite(a->values[i])) {
            mech_diag_add(w->diag, w->path.text, "has an element that is not a finite number");
            return;
        }
    }
}

static void walk_list(struct walk *w, const struct mech_field *f, void *at)
{
    if (f->kind == MECH_REFS) {
        const struct mech_refs *const refs = at;

        if (refs->n == 0 || (f->count && refs->n != f->count)) {
            mech_diag_add(w->diag, w->path.text, "has %zu names, needs %s%u", refs->n,
                          f->count ? "" : "at least ", f->count ? f->count : 1u);
        }
        for (size_t i = 0; i < refs->n; i++) {
            const size_t mark = mech_path_push_index(&w->path, i);

            resolve_ref(w, f, &refs->refs[i]);
            mech_path_cut(&w->path, mark);
        }
    } else if (f->kind == MECH_STRUCTS) {
        const struct mech_structs *const list = at;

        for (size_t i = 0; i < list->n; i++) {
            const size_t mark = mech_path_push_index(&w->path, i);

            walk_table(w, f->table, (char *)list->at + i * f->table->size);
            mech_path_cut(&w->path, mark);
        }
    } else {
        const struct mech_items *const items = at;

        for (size_t i = 0; i < items->n; i++) {
            const size_t mark = mech_path_push_index(&w->path, i);

            walk_item(w, &items->at[i]);
            mech_path_cut(&w->path, mark);
        }
    }
}

static void walk_values(struct walk *w, const struct mech_field *f, const struct mech_values *v)
{
    if (f->count && v->n && v->n != f->count) {
        mech_diag_add(w->diag, w->path.text, "has %zu values, needs %u", v->n, f->count);
    }
    for (size_t i = 0; i < v->n; i++) {
        const size_t mark = v->n > 1 ? mech_path_push_index(&w->path, i) : w->path.length;

        if (v->series && v->series[i].t.x) {
            mech_path_push(&w->path, "table");
            walk_table(w, &mech_point_series_table, &v->series[i]);
            if (w->numbers) {
                mech_point_series_check(&v->series[i], &w->path, w->diag);
            }
        } else if (!v->text || !v->text[i]) {
            check_number(w, f, v->number[i]);
        }
        mech_path_cut(&w->path, mark);
    }
}

static void walk_field(struct walk *w, const struct mech_field *f, void *at)
{
    switch (f->kind) {
    case MECH_INT:
        check_number(w, f, (double)*(const int32_t *)at);
        break;
    case MECH_REAL:
        check_number(w, f, *(const double *)at);
        break;
    case MECH_REALS:
        check_numbers(w, f, at, f->count);
        break;
    case MECH_VECTOR:
        check_numbers(w, f, ((const struct mech_vector *)at)->x,
                      ((const struct mech_vector *)at)->n);
        break;
    case MECH_MATRIX:
        walk_matrix(w, f, at);
        break;
    case MECH_REF:
        resolve_ref(w, f, at);
        break;
    case MECH_REFS:
    case MECH_STRUCTS:
    case MECH_ITEMS:
        walk_list(w, f, at);
        break;
    case MECH_VALUES:
        walk_values(w, f, at);
        break;
    case MECH_STRUCT:
        walk_table(w, f->table, at);
        break;
    case MECH_SHARED:
        walk_shared(w, f, at);
        break;
    case MECH_VARIANT:
        if (((const struct mech_item *)at)->type) {
            walk_item(w, at);
        } else if (f->flags & MECH_REQUIRED) {
            mech_diag_add(w->diag, w->path.text, "is missing");
        }
        break;
    case MECH_BOOL:
    case MECH_STRING:
    case MECH_CHOICE:
    case MECH_FORMULA:
    case MECH_PARAMETERS:
        break;
    }
}

static void walk_table(struct walk *w, const struct mech_table *table, void *at)
{
    for (size_t i = 0; i < table->count; i++) {
        const struct mech_field *const f = &table->fields[i];
        const size_t mark = mech_path_push(&w->path, f->name);

        walk_field(w, f, (char *)at + f->offset);
        mech_path_cut(&w->path, mark);
    }
}

int mech_resolve(struct mech_model *m, struct mech_diag *diag)
{
    struct walk w = {.m = m, .diag = diag};

    MECH_TRY(check_parameters(m, diag));
    if (mech_diag_clean(diag)) {
        MECH_TRY(evaluate_bindings(m, diag));
    }
    w.numbers = mech_diag_clean(diag);
    MECH_TRY(check_names(m, diag));
    walk_table(&w, &mech_document_table, m->document);
    return 0;
}
