/* Documents to JSON: a walk over the field tables. What equals its default is left out; what an
 * expression gave is written as the expression. No tree is built.
 */
#include "protocol/bind/writer.h"

#include "solver/items/series.h"

#include <stdlib.h>
#include <string.h>

/* "=text". */
static void write_expression(struct mechp_writer *s, const char *text)
{
    const size_t length = strlen(text);
    char *const whole = malloc(length + 2);
    if (whole == NULL) {
        s->w->failed = true;
        return;
    }
    whole[0] = '=';
    memcpy(whole + 1, text, length + 1);
    mechp_text_string_n(s->w, whole, length + 1);
    free(whole);
}

void mechp_writer_number(struct mechp_writer *s, const double *value)
{
    const struct mech_binding *const b = s->document == NULL || s->document->bindings.n == 0
                                             ? NULL
                                             : mech_document_binding(s->document, value);
    if (b == NULL) {
        mechp_text_number(s->w, *value);
    } else {
        write_expression(s, b->text);
    }
}

/* True when one of these numbers comes from an expression. */
static bool is_bound(const struct mechp_writer *s, const double *values, size_t count)
{
    const size_t n = s->document == NULL ? 0 : s->document->bindings.n;
    for (size_t i = 0; n > 0 && i < count; i++) {
        if (mech_document_binding(s->document, values + i) != NULL) {
            return true;
        }
    }
    return false;
}

static bool is_bound_flag(const struct mechp_writer *s, const bool *flag)
{
    return s->document != NULL && mech_document_binding(s->document, flag) != NULL;
}

static bool table_differs(const struct mechp_writer *s, const struct mech_table *table,
                          const void *at, const void *preset);

/* True when a member has to be written: it is not what its absence gives. */
static bool differs(const struct mechp_writer *s, const struct mech_field *f, const void *at,
                    const void *preset)
{
    switch (f->kind) {
    case MECH_BOOL:
        return *(const bool *)at != *(const bool *)preset || is_bound_flag(s, at);
    case MECH_INT:
    case MECH_CHOICE:
        return *(const int32_t *)at != *(const int32_t *)preset;
    case MECH_REAL:
        return memcmp(at, preset, sizeof(double)) != 0 || is_bound(s, at, 1);
    case MECH_REALS:
        return memcmp(at, preset, f->count * sizeof(double)) != 0 || is_bound(s, at, f->count);
    case MECH_VECTOR:
        return ((const struct mech_vector *)at)->x != NULL;
    case MECH_MATRIX:
        return ((const struct mech_mat *)at)->rows > 0;
    case MECH_STRING:
        return *(const char *const *)at != NULL;
    case MECH_REF:
        return ((const struct mech_ref *)at)->name != NULL;
    case MECH_REFS:
        return ((const struct mech_refs *)at)->refs != NULL;
    case MECH_VALUES:
        return ((const struct mech_values *)at)->number != NULL;
    case MECH_FORMULA:
        return ((const struct mech_formula *)at)->text != NULL;
    case MECH_STRUCT:
        return table_differs(s, f->table, at, preset);
    case MECH_SHARED:
        return ((const struct mech_shared *)at)->name != NULL ||
               table_differs(s, f->table, (const struct mech_shared *)at + 1,
                             (const struct mech_shared *)preset + 1);
    case MECH_STRUCTS:
        return ((const struct mech_structs *)at)->at != NULL;
    case MECH_ITEMS:
        return ((const struct mech_items *)at)->at != NULL;
    case MECH_VARIANT:
        return ((const struct mech_item *)at)->type != NULL;
    case MECH_PARAMETERS:
        return ((const struct mech_parameters *)at)->at != NULL;
    }
    return false;
}

static bool table_differs(const struct mechp_writer *s, const struct mech_table *table,
                          const void *at, const void *preset)
{
    for (size_t i = 0; i < table->count; i++) {
        const size_t offset = table->fields[i].offset;
        if (differs(s, &table->fields[i], (const char *)at + offset,
                    (const char *)preset + offset)) {
            return true;
        }
    }
    return false;
}

/* The members of a table as keys and values of the open object. */
static void write_members(struct mechp_writer *s, const struct mech_table *table, const void *at,
                          const void *preset)
{
    for (size_t i = 0; i < table->count; i++) {
        const struct mech_field *const f = &table->fields[i];
        const void *const member = (const char *)at + f->offset;
        const void *const usual = (const char *)preset + f->offset;
        const bool required = (f->flags & MECH_REQUIRED) != 0;
        if (required || differs(s, f, member, usual)) {
            mechp_text_key(s->w, f->name);
            mechp_writer_field(s, f, member, usual);
        }
    }
}

/* The same against the table's own defaults. */
static void write_fresh(struct mechp_writer *s, const struct mech_table *table, const void *at)
{
    void *const preset = calloc(1, table->size > 0 ? table->size : 1);
    if (preset == NULL) {
        s->w->failed = true;
        return;
    }
    mech_table_defaults(table, preset);
    write_members(s, table, at, preset);
    free(preset);
}

static void write_item(struct mechp_writer *s, const struct mech_item *item)
{
    mechp_text_object(s->w);
    if (item->name != NULL) {
        mechp_text_key(s->w, "name");
        mechp_text_string(s->w, item->name);
    }
    if (item->type != NULL) {
        mechp_text_key(s->w, mech_category_key(item->type->category));
        mechp_text_string(s->w, item->type->name);
        write_fresh(s, &item->type->table, item->description);
    }
    mechp_text_end(s->w);
}

static void write_items(struct mechp_writer *s, const struct mech_items *items)
{
    mechp_text_array(s->w);
    for (size_t i = 0; i < items->n; i++) {
        write_item(s, &items->at[i]);
    }
    mechp_text_end(s->w);
}

static void write_structs(struct mechp_writer *s, const struct mech_field *f,
                          const struct mech_structs *list)
{
    mechp_text_array(s->w);
    for (size_t i = 0; i < list->n; i++) {
        mechp_text_object(s->w);
        write_fresh(s, f->table, (const char *)list->at + i * f->table->size);
        mechp_text_end(s->w);
    }
    mechp_text_end(s->w);
}

static void write_vector(struct mechp_writer *s, const struct mech_vector *v)
{
    mechp_text_array(s->w);
    for (size_t i = 0; i < v->n; i++) {
        mechp_writer_number(s, v->x + i);
    }
    mechp_text_end(s->w);
}

static void write_reals(struct mechp_writer *s, const struct mech_field *f, const double *x)
{
    const size_t columns = f->columns == 0 ? f->count : f->columns;
    if (f->columns > 0) {
        mechp_text_array(s->w);
    }
    for (size_t i = 0; i < f->count; i += columns) {
        mechp_text_array(s->w);
        for (size_t j = 0; j < columns; j++) {
            mechp_writer_number(s, x + i + j);
        }
        mechp_text_end(s->w);
    }
    if (f->columns > 0) {
        mechp_text_end(s->w);
    }
}

static void write_refs(struct mechp_writer *s, const struct mech_refs *refs)
{
    mechp_text_array(s->w);
    for (size_t i = 0; i < refs->n; i++) {
        mechp_text_string(s->w, refs->refs[i].name);
    }
    mechp_text_end(s->w);
}

static void write_values(struct mechp_writer *s, const struct mech_field *f,
                         const struct mech_values *values)
{
    // a single value is written without an array
    if (f->count != 1) {
        mechp_text_array(s->w);
    }
    for (size_t i = 0; i < values->n; i++) {
        if (values->series != NULL && values->series[i].t.x != NULL) {
            mechp_text_object(s->w);
            mechp_text_key(s->w, "table");
            mechp_text_object(s->w);
            write_fresh(s, &mech_point_series_table, &values->series[i]);
            mechp_text_end(s->w);
            mechp_text_end(s->w);
        } else if (values->text != NULL && values->text[i] != NULL) {
            write_expression(s, values->text[i]);
        } else {
            mechp_text_number(s->w, values->number[i]);
        }
    }
    if (f->count != 1) {
        mechp_text_end(s->w);
    }
}

static void write_formula(struct mechp_writer *s, const struct mech_field *f,
                          const struct mech_formula *formula)
{
    bool partials = false;
    for (int i = 0; i < 4; i++) {
        partials = partials || formula->partial[i] != NULL;
    }
    if (!partials) {
        write_expression(s, formula->text);
        return;
    }
    mechp_text_object(s->w);
    mechp_text_key(s->w, "formula");
    write_expression(s, formula->text);
    mechp_text_key(s->w, "partial");
    mechp_text_object(s->w);
    for (int i = 0; i < 4; i++) {
        if (formula->partial[i] != NULL) {
            mechp_text_key(s->w, f->locals[i]);
            write_expression(s, formula->partial[i]);
        }
    }
    mechp_text_end(s->w);
    mechp_text_end(s->w);
}

static void write_parameters(struct mechp_writer *s, const struct mech_parameters *p)
{
    mechp_text_object(s->w);
    for (size_t i = 0; i < p->n; i++) {
        mechp_text_key(s->w, p->at[i].name);
        mechp_text_number(s->w, p->at[i].value);
    }
    mechp_text_end(s->w);
}

static void write_shared(struct mechp_writer *s, const struct mech_field *f,
                         const struct mech_shared *shared, const struct mech_shared *preset)
{
    if (shared->name != NULL) {
        mechp_text_string(s->w, shared->name);
        return;
    }
    mechp_text_object(s->w);
    write_members(s, f->table, shared + 1, preset + 1);
    mechp_text_end(s->w);
}

void mechp_writer_field(struct mechp_writer *s, const struct mech_field *f, const void *at,
                        const void *preset)
{
    switch (f->kind) {
    case MECH_BOOL:
        if (is_bound_flag(s, at)) {
            write_expression(s, mech_document_binding(s->document, at)->text);
        } else {
            mechp_text_bool(s->w, *(const bool *)at);
        }
        break;
    case MECH_INT:
        mechp_text_integer(s->w, *(const int32_t *)at);
        break;
    case MECH_CHOICE:
        mechp_text_string(s->w, f->choices[*(const int32_t *)at]);
        break;
    case MECH_REAL:
        mechp_writer_number(s, at);
        break;
    case MECH_REALS:
        write_reals(s, f, at);
        break;
    case MECH_VECTOR:
        write_vector(s, at);
        break;
    case MECH_MATRIX:
        mechp_writer_matrix(s, at);
        break;
    case MECH_STRING:
        mechp_text_string(s->w, *(const char *const *)at);
        break;
    case MECH_REF:
        mechp_text_string(s->w, ((const struct mech_ref *)at)->name);
        break;
    case MECH_REFS:
        write_refs(s, at);
        break;
    case MECH_VALUES:
        write_values(s, f, at);
        break;
    case MECH_FORMULA:
        write_formula(s, f, at);
        break;
    case MECH_STRUCT:
        mechp_text_object(s->w);
        write_members(s, f->table, at, preset);
        mechp_text_end(s->w);
        break;
    case MECH_SHARED:
        write_shared(s, f, at, preset);
        break;
    case MECH_STRUCTS:
        write_structs(s, f, at);
        break;
    case MECH_ITEMS:
        write_items(s, at);
        break;
    case MECH_VARIANT:
        write_item(s, at);
        break;
    case MECH_PARAMETERS:
        write_parameters(s, at);
        break;
    }
}

void mechp_bind_write(const struct mech_document *document, struct mechp_text *w)
{
    struct mechp_writer s = {.document = document, .w = w};
    mechp_text_object(w);
    write_fresh(&s, &mech_document_table, document);
    mechp_text_end(w);
}
