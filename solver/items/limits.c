/* Ranges and units of parameters, by one walk over the tables of a document. */
#include "solver/items/limits.h"

#include <math.h>
#include <string.h>

struct walk {
    const struct mech_document *document;
    struct mech_limits *limits;
};

/* The parameter that an expression is alone, or -1. */
static ptrdiff_t parameter_of(const struct walk *w, const char *text)
{
    const struct mech_parameters *const p = &w->document->parameters;
    const char *const from = text + strspn(text, " ");
    size_t length = strlen(from);

    while (length > 0 && from[length - 1] == ' ') {
        length--;
    }
    for (size_t i = 0; i < p->n; i++) {
        if (strncmp(p->at[i].name, from, length) == 0 && p->at[i].name[length] == '\0') {
            return (ptrdiff_t)i;
        }
    }
    return -1;
}

/* "" for several quantities: "m or rad", "N, N m" */
static const char *single(const char *unit)
{
    const bool several =
        !unit || strchr(unit, ',') || strstr(unit, " or ") || strstr(unit, " and ");

    return several ? "" : unit;
}

static void narrow(const struct walk *w, const struct mech_field *f, const char *text)
{
    const ptrdiff_t k = parameter_of(w, text);

    if (k < 0) {
        return;
    }
    struct mech_limits *const l = &w->limits[k];
    const char *const unit = single(f->unit);

    if (mech_field_has_range(f)) {
        l->min = fmax(l->min, f->min);
        l->max = fmin(l->max, f->max);
    }
    l->unit = !l->unit || strcmp(l->unit, unit) == 0 ? unit : "";
}

static void walk_numbers(const struct walk *w, const struct mech_field *f, const double *x,
                         size_t n)
{
    for (size_t i = 0; w->document->bindings.n > 0 && i < n; i++) {
        const struct mech_binding *const b = mech_document_binding(w->document, x + i);

        if (b) {
            narrow(w, f, b->text);
        }
    }
}

static void walk_values(const struct walk *w, const struct mech_field *f,
                        const struct mech_values *v)
{
    for (size_t i = 0; v->text && i < v->n; i++) {
        if (v->text[i]) {
            narrow(w, f, v->text[i]);
        }
    }
}

static void walk_table(const struct walk *w, const struct mech_table *table, const void *at);

static void walk_list(const struct walk *w, const struct mech_field *f, const void *member)
{
    const struct mech_structs *const structs = member;
    const struct mech_items *const items = member;

    for (size_t i = 0; f->kind == MECH_ITEMS && i < items->n; i++) {
        walk_table(w, &items->at[i].type->table, items->at[i].description);
    }
    for (size_t i = 0; f->kind == MECH_STRUCTS && i < structs->n; i++) {
        walk_table(w, f->table, (const char *)structs->at + i * f->table->size);
    }
}

static void walk_member(const struct walk *w, const struct mech_field *f, const void *member)
{
    const struct mech_vector *const vector = member;
    const struct mech_mat *const matrix = member;
    const struct mech_shared *const shared = member;
    const struct mech_item *const item = member;

    switch (f->kind) {
    case MECH_REAL:
        walk_numbers(w, f, member, 1);
        break;
    case MECH_REALS:
        walk_numbers(w, f, member, f->count);
        break;
    case MECH_VECTOR:
        walk_numbers(w, f, vector->x, vector->n);
        break;
    case MECH_MATRIX:
        walk_numbers(w, f, matrix->values, mech_mat_stored(matrix));
        break;
    case MECH_VALUES:
        walk_values(w, f, member);
        break;
    case MECH_STRUCT:
        walk_table(w, f->table, member);
        break;
    case MECH_SHARED:
        walk_table(w, f->table, shared + 1);
        break;
    case MECH_VARIANT:
        if (item->description) {
            walk_table(w, &item->type->table, item->description);
        }
        break;
    case MECH_STRUCTS:
    case MECH_ITEMS:
        walk_list(w, f, member);
        break;
    default: /* no numbers by expressions of parameters */
        break;
    }
}

static void walk_table(const struct walk *w, const struct mech_table *table, const void *at)
{
    for (size_t i = 0; i < table->count; i++) {
        walk_member(w, &table->fields[i], (const char *)at + table->fields[i].offset);
    }
}

void mech_document_limits(const struct mech_document *d, struct mech_limits *limits)
{
    const struct walk w = {d, limits};

    for (size_t i = 0; i < d->parameters.n; i++) {
        limits[i] = (struct mech_limits){-HUGE_VAL, HUGE_VAL, NULL};
    }
    walk_table(&w, &mech_document_table, d);
    for (size_t i = 0; i < d->parameters.n; i++) {
        limits[i].unit = limits[i].unit ? limits[i].unit : "";
    }
}
