/* GET /v1/types: the registries and their field tables as JSON, for people, forms and programs. */
#include "protocol/bind/reader.h"
#include "protocol/bind/writer.h"
#include "solver/base/err.h"
#include "solver/items/material.h"
#include "solver/items/ops.h"
#include "solver/items/series.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *const kinds[] = {
    [MECH_BOOL] = "boolean",     [MECH_INT] = "integer",           [MECH_REAL] = "number",
    [MECH_REALS] = "numbers",    [MECH_VECTOR] = "vector",         [MECH_MATRIX] = "matrix",
    [MECH_STRING] = "string",    [MECH_CHOICE] = "choice",         [MECH_REF] = "reference",
    [MECH_REFS] = "references",  [MECH_VALUES] = "values",         [MECH_FORMULA] = "formula",
    [MECH_STRUCT] = "structure", [MECH_STRUCTS] = "list",          [MECH_ITEMS] = "items",
    [MECH_VARIANT] = "item",     [MECH_PARAMETERS] = "parameters", [MECH_SHARED] = "shared",
};

static void flag_member(struct mechp_text *w, const char *key, bool value)
{
    if (value) {
        mechp_text_key(w, key);
        mechp_text_bool(w, true);
    }
}

static void range_member(struct mechp_text *w, const char *key, double value)
{
    if (isfinite(value)) {
        mechp_text_key(w, key);
        mechp_text_number(w, value);
    }
}

/* True for kinds whose `min` and `max` mean something. */
static bool is_numeric(enum mech_kind kind)
{
    return kind == MECH_INT || kind == MECH_REAL || kind == MECH_REALS || kind == MECH_VECTOR ||
           kind == MECH_MATRIX || kind == MECH_VALUES || kind == MECH_PARAMETERS;
}

/* What the field is when it is left out. */
static void default_member(struct mechp_text *w, const struct mech_table *table,
                           const struct mech_field *f, const void *preset)
{
    const bool plain = f->kind == MECH_BOOL || f->kind == MECH_INT || f->kind == MECH_REAL ||
                       f->kind == MECH_REALS || f->kind == MECH_CHOICE;
    if ((f->flags & MECH_REQUIRED) != 0 || !plain) {
        return;
    }
    struct mechp_writer s = {.w = w};
    const char *const member = (const char *)preset + f->offset;
    mechp_text_key(w, "default");
    mechp_writer_field(&s, f, member, member);
}

static void write_choices(struct mechp_text *w, const char *key, const char *const *names)
{
    mechp_text_key(w, key);
    mechp_text_array(w);
    for (; names != NULL && *names != NULL; names++) {
        mechp_text_string(w, *names);
    }
    mechp_text_end(w);
}

static void write_fields(struct mechp_text *w, const struct mech_table *table);

static void write_field(struct mechp_text *w, const struct mech_table *table,
                        const struct mech_field *f, const void *preset)
{
    mechp_text_object(w);
    mechp_text_member_string(w, "name", f->name);
    mechp_text_member_string(w, "kind", kinds[f->kind]);
    mechp_text_member_string(w, "doc", f->doc);
    if (f->unit != NULL) {
        mechp_text_member_string(w, "unit", f->unit);
    }
    flag_member(w, "required", (f->flags & MECH_REQUIRED) != 0);
    flag_member(w, "tunable", (f->flags & MECH_TUNABLE) != 0);
    if (f->count > 0) {
        mechp_text_key(w, "count");
        mechp_text_unsigned(w, f->count);
    }
    if (f->columns > 0) {
        mechp_text_key(w, "columns");
        mechp_text_unsigned(w, f->columns);
    }
    if (is_numeric(f->kind) && mech_field_has_range(f)) {
        range_member(w, (f->flags & MECH_ABOVE_MIN) != 0 ? "above" : "minimum", f->min);
        range_member(w, (f->flags & MECH_BELOW_MAX) != 0 ? "below" : "maximum", f->max);
    }
    default_member(w, table, f, preset);
    if (f->kind == MECH_CHOICE) {
        write_choices(w, "choices", f->choices);
    }
    if (f->locals != NULL) {
        write_choices(w, "variables", f->locals);
    }
    if (f->kind == MECH_REF || f->kind == MECH_REFS || f->kind == MECH_ITEMS ||
        f->kind == MECH_VARIANT) {
        mechp_text_member_string(w, "of", mech_category_name((enum mech_category)f->target));
    }
    if (f->table != NULL) {
        mechp_text_member_string(w, "structure", f->table->name);
        mechp_text_key(w, "fields");
        write_fields(w, f->table);
    }
    mechp_text_end(w);
}

static void write_fields(struct mechp_text *w, const struct mech_table *table)
{
    void *const preset = calloc(1, table->size > 0 ? table->size : 1);
    if (preset == NULL) {
        w->failed = true;
        return;
    }
    mech_table_defaults(table, preset);
    mechp_text_array(w);
    for (size_t i = 0; i < table->count; i++) {
        write_field(w, table, &table->fields[i], preset);
    }
    mechp_text_end(w);
    free(preset);
}

/* Output variables that an item of this type has. */
static void write_outputs(struct mechp_text *w, const struct mech_item_type *type)
{
    const uint32_t mask = mech_item_type_outputs(type);
    if (mask == 0) {
        return;
    }
    mechp_text_key(w, "outputs");
    mechp_text_array(w);
    for (int i = 0; i < MECH_OUTPUT_COUNT; i++) {
        if ((mask >> i & 1u) != 0) {
            mechp_text_string(w, mech_output_name((enum mech_output)i));
        }
    }
    mechp_text_end(w);
}

static void write_item_type(struct mechp_text *w, const struct mech_item_type *type)
{
    mechp_text_object(w);
    mechp_text_member_string(w, "type", type->name);
    mechp_text_member_string(w, "category", mech_category_name(type->category));
    mechp_text_member_string(w, "doc", type->table.doc);
    mechp_text_key(w, "fields");
    write_fields(w, &type->table);
    write_outputs(w, type);
    mechp_text_end(w);
}

static void write_structure(struct mechp_text *w, const struct mech_table *table)
{
    mechp_text_object(w);
    mechp_text_member_string(w, "type", table->name);
    mechp_text_member_string(w, "category", "structure");
    mechp_text_member_string(w, "doc", table->doc);
    mechp_text_key(w, "fields");
    write_fields(w, table);
    mechp_text_end(w);
}

static void write_integrator(struct mechp_text *w, const struct mech_integrator_info *info)
{
    mechp_text_object(w);
    mechp_text_member_string(w, "type", info->name);
    mechp_text_member_string(w, "category", "integrator");
    mechp_text_member_string(w, "doc", info->doc);
    mechp_text_key(w, "order");
    mechp_text_integer(w, info->order);
    mechp_text_key(w, "explicit");
    mechp_text_bool(w, info->explicit_scheme);
    mechp_text_key(w, "nonsmooth");
    mechp_text_bool(w, info->nonsmooth);
    mechp_text_end(w);
}

static void write_solver(struct mechp_text *w, const char *name, const char *category,
                         const char *doc)
{
    mechp_text_object(w);
    mechp_text_member_string(w, "type", name);
    mechp_text_member_string(w, "category", category);
    mechp_text_member_string(w, "doc", doc);
    mechp_text_end(w);
}

static const struct mech_table *const structures[] = {
    &mech_document_table,       &mech_interaction_table, &mech_input_table,
    &mech_output_channel_table, &mech_settings_table,    &mech_point_series_table,
    &mech_visualization_table,  &mech_material_table,    &mech_contact_settings_table,
};
enum { STRUCTURES = sizeof structures / sizeof *structures };

static void write_output_variables(struct mechp_text *w)
{
    mechp_text_key(w, "outputVariables");
    mechp_text_array(w);
    for (int i = 0; i < MECH_OUTPUT_COUNT; i++) {
        mechp_text_object(w);
        mechp_text_member_string(w, "name", mech_output_name((enum mech_output)i));
        mechp_text_member_string(w, "unit", mech_output_unit((enum mech_output)i));
        mechp_text_end(w);
    }
    mechp_text_end(w);
}

/* Whether this type is to be written; else it may be what was meant. */
static bool wanted(const char *only, bool found, const char *name, struct mech_guess *g)
{
    if (only != NULL) {
        mech_guess_try(g, name);
    }
    return only == NULL || (!found && strcmp(name, only) == 0);
}

/* Every type: items, structures, integrators, solvers. With `only`, the one of that name; false if
 * there is none, then the nearest is in the guess. */
static bool write_all(struct mechp_text *w, const char *only, struct mech_guess *g)
{
    bool found = false;
    for (const struct mech_item_type *const *t = mech_item_types; *t != NULL; t++) {
        if (wanted(only, found, (*t)->name, g)) {
            write_item_type(w, *t);
            found = true;
        }
    }
    for (size_t i = 0; i < STRUCTURES; i++) {
        if (wanted(only, found, structures[i]->name, g)) {
            write_structure(w, structures[i]);
            found = true;
        }
    }
    struct mech_integrator_info info;
    for (size_t i = 0; mech_integrator(i, &info); i++) {
        if (wanted(only, found, info.name, g)) {
            write_integrator(w, &info);
            found = true;
        }
    }
    const char *doc = "";
    const char *name;
    for (size_t i = 0; (name = mech_linear_solver(i, &doc)) != NULL; i++) {
        if (wanted(only, found, name, g)) {
            write_solver(w, name, "linear solver", doc);
            found = true;
        }
    }
    for (size_t i = 0; (name = mech_vi_solver(i, &doc)) != NULL; i++) {
        if (wanted(only, found, name, g)) {
            write_solver(w, name, "complementarity solver", doc);
            found = true;
        }
    }
    return found;
}

void mechp_bind_types(struct mechp_text *w)
{
    mechp_text_object(w);
    mechp_text_key(w, "items");
    mechp_text_array(w);
    (void)write_all(w, NULL, NULL);
    mechp_text_end(w);
    mechp_text_key(w, "next");
    mechp_text_null(w);
    write_output_variables(w);
    mechp_text_end(w);
}

int mechp_bind_type(const char *name, struct mech_guess *guess, struct mechp_text *w)
{
    *guess = (struct mech_guess){.text = name};
    return write_all(w, name, guess) ? 0 : MECH_NOT_FOUND;
}
