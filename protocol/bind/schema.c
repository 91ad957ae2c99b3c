/* The model document's JSON Schema (2020-12), from the field tables. A member that an expression
 * may give takes a number in its range or a string that begins with "=".
 */
#include "protocol/bind/schema.h"

#include "protocol/bind/reader.h"
#include "protocol/bind/writer.h"
#include "solver/items/series.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct printer {
    struct mechp_text *w;
    const char *prefix;
};

/* "prefix" and name as {"$ref": "#/$defs/Mass1D"}. */
static void write_ref(struct mechp_text *w, const char *prefix, const char *name)
{
    char whole[128];
    snprintf(whole, sizeof whole, "%s%s", prefix, name);
    mechp_text_object(w);
    mechp_text_member_string(w, "$ref", whole);
    mechp_text_end(w);
}

static void false_member(struct mechp_text *w, const char *key)
{
    mechp_text_key(w, key);
    mechp_text_bool(w, false);
}

/* Type and range of a number, as members. */
static void number_members(struct printer *p, const struct mech_field *f, const char *type)
{
    mechp_text_member_string(p->w, "type", type);
    if (!mech_field_has_range(f)) {
        return;
    }
    if (isfinite(f->min)) {
        mechp_text_key(p->w, (f->flags & MECH_ABOVE_MIN) != 0 ? "exclusiveMinimum" : "minimum");
        mechp_text_number(p->w, f->min);
    }
    if (isfinite(f->max)) {
        mechp_text_key(p->w, (f->flags & MECH_BELOW_MAX) != 0 ? "exclusiveMaximum" : "maximum");
        mechp_text_number(p->w, f->max);
    }
}

/* What a number may be, into the open array: one in range, an expression, and a function of time by
 * points where the field takes one. */
static void number_forms(struct printer *p, const struct mech_field *f)
{
    mechp_text_object(p->w);
    number_members(p, f, "number");
    mechp_text_end(p->w);
    write_ref(p->w, p->prefix, "Expression");
    if (f->kind == MECH_VALUES && f->locals == NULL) {
        write_ref(p->w, p->prefix, "ByTable");
    }
}

/* The same as the member "anyOf". */
static void number_or_expression(struct printer *p, const struct mech_field *f)
{
    mechp_text_key(p->w, "anyOf");
    mechp_text_array(p->w);
    number_forms(p, f);
    mechp_text_end(p->w);
}

/* A flag, or an expression where it may change. */
static void flag(struct printer *p, const struct mech_field *f)
{
    const bool may_follow = (f->flags & MECH_TUNABLE) != 0;
    if (may_follow) {
        mechp_text_key(p->w, "anyOf");
        mechp_text_array(p->w);
        mechp_text_object(p->w);
    }
    mechp_text_member_string(p->w, "type", "boolean");
    if (may_follow) {
        mechp_text_end(p->w);
        write_ref(p->w, p->prefix, "Expression");
        mechp_text_end(p->w);
    }
}

/* An array of numbers or expressions: `count` of them, 0: any number. */
static void numbers(struct printer *p, const struct mech_field *f, uint32_t count)
{
    mechp_text_member_string(p->w, "type", "array");
    mechp_text_key(p->w, "items");
    mechp_text_object(p->w);
    number_or_expression(p, f);
    mechp_text_end(p->w);
    if (count > 0) {
        mechp_text_member_unsigned(p->w, "minItems", count);
        mechp_text_member_unsigned(p->w, "maxItems", count);
    }
}

static void reals(struct printer *p, const struct mech_field *f)
{
    if (f->columns == 0) {
        numbers(p, f, f->count);
        return;
    }
    mechp_text_member_string(p->w, "type", "array");
    mechp_text_key(p->w, "items");
    mechp_text_object(p->w);
    numbers(p, f, f->columns);
    mechp_text_end(p->w);
    mechp_text_member_unsigned(p->w, "minItems", f->count / f->columns);
    mechp_text_member_unsigned(p->w, "maxItems", f->count / f->columns);
}

static void values(struct printer *p, const struct mech_field *f)
{
    if (f->count != 1) {
        numbers(p, f, f->count);
        return;
    }
    // a single value may be written without an array
    mechp_text_key(p->w, "anyOf");
    mechp_text_array(p->w);
    number_forms(p, f);
    mechp_text_object(p->w);
    numbers(p, f, 1);
    mechp_text_end(p->w);
    mechp_text_end(p->w);
}

static void choice(struct printer *p, const struct mech_field *f)
{
    mechp_text_member_string(p->w, "type", "string");
    mechp_text_key(p->w, "enum");
    mechp_text_array(p->w);
    for (const char *const *name = f->choices; *name != NULL; name++) {
        mechp_text_string(p->w, *name);
    }
    mechp_text_end(p->w);
}

/* "=…", or with the partial derivatives by the local variables. */
static void formula(struct printer *p, const struct mech_field *f)
{
    mechp_text_key(p->w, "anyOf");
    mechp_text_array(p->w);
    write_ref(p->w, p->prefix, "Expression");
    mechp_text_object(p->w);
    mechp_text_member_string(p->w, "type", "object");
    mechp_text_key(p->w, "properties");
    mechp_text_object(p->w);
    mechp_text_key(p->w, "formula");
    write_ref(p->w, p->prefix, "Expression");
    mechp_text_key(p->w, "partial");
    mechp_text_object(p->w);
    mechp_text_member_string(p->w, "type", "object");
    mechp_text_key(p->w, "properties");
    mechp_text_object(p->w);
    for (int i = 0; i < 4 && f->locals != NULL && f->locals[i] != NULL; i++) {
        mechp_text_key(p->w, f->locals[i]);
        write_ref(p->w, p->prefix, "Expression");
    }
    mechp_text_end(p->w);
    false_member(p->w, "additionalProperties");
    mechp_text_end(p->w);
    mechp_text_end(p->w);
    mechp_text_key(p->w, "required");
    mechp_text_raw(p->w, "[\"formula\"]", 11);
    false_member(p->w, "additionalProperties");
    mechp_text_end(p->w);
    mechp_text_end(p->w);
}

/* {"type": "array", "items": {"$ref": name}} as members. */
static void list_of(struct printer *p, const char *name, uint32_t count)
{
    mechp_text_member_string(p->w, "type", "array");
    mechp_text_key(p->w, "items");
    write_ref(p->w, p->prefix, name);
    if (count > 0) {
        mechp_text_member_unsigned(p->w, "minItems", count);
        mechp_text_member_unsigned(p->w, "maxItems", count);
    }
}

static void ref_member(struct printer *p, const char *name)
{
    char whole[128];
    snprintf(whole, sizeof whole, "%s%s", p->prefix, name);
    mechp_text_member_string(p->w, "$ref", whole);
}

static void parameters(struct printer *p)
{
    mechp_text_member_string(p->w, "type", "object");
    mechp_text_key(p->w, "propertyNames");
    mechp_text_object(p->w);
    mechp_text_member_string(p->w, "pattern", "^[A-Za-z_][A-Za-z0-9_]{0,63}$");
    mechp_text_end(p->w);
    mechp_text_key(p->w, "additionalProperties");
    mechp_text_object(p->w);
    mechp_text_member_string(p->w, "type", "number");
    mechp_text_end(p->w);
}

static const char *const unions[] = {
    [MECH_NODE] = "AnyNode", [MECH_OBJECT] = "AnyObject", [MECH_MARKER] = "AnyMarker",
    [MECH_LOAD] = "AnyLoad", [MECH_SENSOR] = "AnySensor", [MECH_RELATION] = "AnyRelation",
    [MECH_LAW] = "AnyLaw",   [MECH_SHAPE] = "AnyShape",
};

/* What a field's kind allows, as members of the open schema. */
static void kind_members(struct printer *p, const struct mech_field *f)
{
    switch (f->kind) {
    case MECH_BOOL:
        flag(p, f);
        break;
    case MECH_INT:
        number_members(p, f, "integer");
        break;
    case MECH_REAL:
        number_or_expression(p, f);
        break;
    case MECH_REALS:
        reals(p, f);
        break;
    case MECH_VECTOR:
        numbers(p, f, 0);
        break;
    case MECH_MATRIX:
        ref_member(p, "Matrix");
        break;
    case MECH_STRING:
        mechp_text_member_string(p->w, "type", "string");
        mechp_text_member_unsigned(p->w, "maxLength", MECHP_BIND_STRING);
        break;
    case MECH_CHOICE:
        choice(p, f);
        break;
    case MECH_REF:
        ref_member(p, "Name");
        break;
    case MECH_REFS:
        list_of(p, "Name", f->count);
        break;
    case MECH_VALUES:
        values(p, f);
        break;
    case MECH_FORMULA:
        formula(p, f);
        break;
    case MECH_STRUCT:
        ref_member(p, f->table->name);
        break;
    case MECH_SHARED:
        mechp_text_key(p->w, "anyOf");
        mechp_text_array(p->w);
        write_ref(p->w, p->prefix, "Name");
        write_ref(p->w, p->prefix, f->table->name);
        mechp_text_end(p->w);
        break;
    case MECH_STRUCTS:
        list_of(p, f->table->name, 0);
        break;
    case MECH_ITEMS:
        list_of(p, unions[f->target], 0);
        break;
    case MECH_VARIANT:
        ref_member(p, unions[f->target]);
        break;
    case MECH_PARAMETERS:
        parameters(p);
        break;
    }
}

/* One property: what it allows, what it means, its unit and default. */
static void property(struct printer *p, const struct mech_field *f, bool is_name,
                     const void *preset)
{
    const bool plain = f->kind == MECH_BOOL || f->kind == MECH_INT || f->kind == MECH_REAL ||
                       f->kind == MECH_REALS || f->kind == MECH_CHOICE;
    char text[600];
    const bool unit = f->unit != NULL && f->unit[0] != '\0';
    const int n =
        snprintf(text, sizeof text, "%s%s%s", f->doc, unit ? "; " : "", unit ? f->unit : "");
    if (n < 0 || (size_t)n >= sizeof text) {
        p->w->failed = true; // a text that is too long is cut nowhere
        return;
    }
    mechp_text_key(p->w, f->name);
    mechp_text_object(p->w);
    mechp_text_member_string(p->w, "description", text);
    if (is_name) {
        ref_member(p, "Name");
    } else {
        kind_members(p, f);
    }
    if (plain && (f->flags & MECH_REQUIRED) == 0) {
        struct mechp_writer s = {.w = p->w};
        mechp_text_key(p->w, "default");
        mechp_writer_field(&s, f, preset, preset);
    }
    mechp_text_end(p->w);
}

/* The object schema of a table, or of an item type's, with its name where there is one. */
static void definition(struct printer *p, const struct mech_table *table,
                       const struct mech_item_type *type)
{
    const bool named = type != NULL && mech_category_named(type->category);
    const char *const key = type == NULL ? NULL : mech_category_key(type->category);
    void *const preset = calloc(1, table->size > 0 ? table->size : 1);
    if (preset == NULL) {
        p->w->failed = true;
        return;
    }
    mech_table_defaults(table, preset);
    mechp_text_key(p->w, table->name);
    mechp_text_object(p->w);
    mechp_text_member_string(p->w, "description", table->doc);
    mechp_text_member_string(p->w, "type", "object");
    mechp_text_key(p->w, "properties");
    mechp_text_object(p->w);
    if (named) {
        mechp_text_key(p->w, "name");
        write_ref(p->w, p->prefix, "Name");
    }
    if (type != NULL) {
        mechp_text_key(p->w, key);
        mechp_text_object(p->w);
        mechp_text_member_string(p->w, "type", "string");
        mechp_text_member_string(p->w, "const", type->name);
        mechp_text_end(p->w);
    }
    for (size_t i = 0; i < table->count; i++) {
        const struct mech_field *const f = &table->fields[i];
        const bool is_name = table != &mech_document_table && strcmp(f->name, "name") == 0;
        property(p, f, is_name, (const char *)preset + f->offset);
    }
    mechp_text_end(p->w);
    free(preset);
    // required members
    mechp_text_key(p->w, "required");
    mechp_text_array(p->w);
    if (named && type->category != MECH_SHAPE) {
        mechp_text_string(p->w, "name");
    }
    if (type != NULL) {
        mechp_text_string(p->w, key);
    }
    for (size_t i = 0; i < table->count; i++) {
        if ((table->fields[i].flags & MECH_REQUIRED) != 0) {
            mechp_text_string(p->w, table->fields[i].name);
        }
    }
    mechp_text_end(p->w);
    false_member(p->w, "additionalProperties");
    mechp_text_end(p->w);
}

/* --- all of them ----------------------------------------------------------------------------- */

/* Tables met so far: structures are printed once, wherever they hang. */
struct seen {
    const struct mech_table *at[64];
    size_t n;
};

static void structures_of(struct printer *p, struct seen *seen, const struct mech_table *table)
{
    for (size_t i = 0; i < table->count; i++) {
        const struct mech_table *const inner = table->fields[i].table;
        bool met = inner == NULL || seen->n == sizeof seen->at / sizeof *seen->at;
        for (size_t k = 0; k < seen->n; k++) {
            met = met || seen->at[k] == inner;
        }
        if (!met) {
            seen->at[seen->n++] = inner;
            definition(p, inner, NULL);
            structures_of(p, seen, inner);
        }
    }
}

static size_t count_types(int category)
{
    size_t n = 0;
    for (const struct mech_item_type *const *t = mech_item_types; *t != NULL; t++) {
        n += (int)(*t)->category == category;
    }
    return n;
}

/* One schema a category; a choice of one is that one. */
static void unions_of_types(struct printer *p)
{
    for (int c = 0; c < MECH_CATEGORIES; c++) {
        const bool several = count_types(c) > 1;
        if (count_types(c) == 0) {
            continue;
        }
        mechp_text_key(p->w, unions[c]);
        if (several) {
            mechp_text_object(p->w);
            mechp_text_key(p->w, "oneOf");
            mechp_text_array(p->w);
        }
        for (const struct mech_item_type *const *t = mech_item_types; *t != NULL; t++) {
            if ((int)(*t)->category == c) {
                write_ref(p->w, p->prefix, (*t)->table.name);
            }
        }
        if (several) {
            mechp_text_end(p->w);
            mechp_text_end(p->w);
        }
    }
}

static void raw_member(struct mechp_text *w, const char *key, const char *json)
{
    mechp_text_key(w, key);
    size_t length = 0;
    while (json[length] != '\0') {
        length++;
    }
    mechp_text_raw(w, json, length);
}

/* The four written forms of a matrix. */
static void matrix(struct printer *p)
{
    static const char *const forms[] = {
        "{\"title\":\"rows\",\"type\":\"array\",\"minItems\":1,\"items\":{\"type\":\"array\","
        "\"minItems\":1,\"items\":{\"$ref\":\"%sNumber\"}}}",
        "{\"title\":\"diagonal\",\"type\":\"object\",\"properties\":{\"diag\":{\"type\":\"array\","
        "\"minItems\":1,\"items\":{\"$ref\":\"%sNumber\"}}},\"required\":[\"diag\"],"
        "\"additionalProperties\":false}",
        "{\"title\":\"banded\",\"type\":\"object\",\"properties\":{\"banded\":{\"type\":\"object\","
        "\"properties\":{\"lower\":{\"type\":\"integer\",\"minimum\":0},\"upper\":{\"type\":"
        "\"integer\",\"minimum\":0},\"rows\":{\"type\":\"array\",\"minItems\":1,\"items\":{"
        "\"type\":"
        "\"array\",\"items\":{\"$ref\":\"%sNumber\"}}}},\"required\":[\"lower\",\"upper\",\"rows\"]"
        ","
        "\"additionalProperties\":false}},\"required\":[\"banded\"],\"additionalProperties\":"
        "false}",
        "{\"title\":\"coordinates\",\"type\":\"object\",\"properties\":{\"shape\":{\"type\":"
        "\"array\",\"items\":{\"type\":\"integer\",\"minimum\":1,\"maximum\":2000000},"
        "\"minItems\":2,\"maxItems\":2},\"coo\":{\"type\":\"array\",\"items\":{\"type\":\"array\","
        "\"prefixItems\":[{\"type\":\"integer\",\"minimum\":0},{\"type\":\"integer\",\"minimum\":0}"
        "],\"items\":{\"$ref\":\"%sNumber\"},\"minItems\":3,\"maxItems\":3}}},"
        "\"required\":[\"shape\",\"coo\"],"
        "\"additionalProperties\":false}",
    };
    mechp_text_key(p->w, "Matrix");
    mechp_text_object(p->w);
    mechp_text_member_string(p->w, "description", "A matrix in any of its four written forms.");
    mechp_text_key(p->w, "oneOf");
    mechp_text_array(p->w);
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        // each form names the prefix once
        const char *mark = forms[i];
        while (mark[0] != '%') {
            mark++;
        }
        char text[800];
        const int n = snprintf(text, sizeof text, "%.*s%s%s", (int)(mark - forms[i]), forms[i],
                               p->prefix, mark + 2);
        mechp_text_raw(p->w, text, (size_t)n);
    }
    mechp_text_end(p->w);
    mechp_text_end(p->w);
}

/* A value that is a function of time by points. */
static void by_table(struct printer *p)
{
    definition(p, &mech_point_series_table, NULL);
    mechp_text_key(p->w, "ByTable");
    mechp_text_object(p->w);
    mechp_text_member_string(p->w, "description", "A value that is a function of time by points.");
    mechp_text_member_string(p->w, "type", "object");
    mechp_text_key(p->w, "properties");
    mechp_text_object(p->w);
    mechp_text_key(p->w, "table");
    write_ref(p->w, p->prefix, mech_point_series_table.name);
    mechp_text_end(p->w);
    mechp_text_key(p->w, "required");
    mechp_text_raw(p->w, "[\"table\"]", 9);
    false_member(p->w, "additionalProperties");
    mechp_text_end(p->w);
}

void mechp_schema_definitions(struct mechp_text *w, const char *prefix)
{
    struct printer p = {.w = w, .prefix = prefix};
    struct seen seen = {.n = 0};
    raw_member(w, "Name",
               "{\"description\":\"A name of letters, digits, dots, underscores and "
               "hyphens.\",\"type\":\"string\",\"pattern\":\"^[A-Za-z0-9._-]{1,64}$\"}");
    raw_member(w, "Expression",
               "{\"description\":\"An expression in the parameters and in the variables that its "
               "field allows, after "
               "`=`.\",\"type\":\"string\",\"pattern\":\"^=\",\"minLength\":2,\"maxLength\":4097}");
    mechp_text_key(w, "Number");
    mechp_text_object(w);
    mechp_text_member_string(w, "description", "A finite number, or an expression.");
    number_or_expression(&p, &(struct mech_field){MECH_ANY_REAL});
    mechp_text_end(w);
    matrix(&p);
    by_table(&p);
    definition(&p, &mech_document_table, NULL);
    structures_of(&p, &seen, &mech_document_table);
    for (const struct mech_item_type *const *t = mech_item_types; *t != NULL; t++) {
        definition(&p, &(*t)->table, *t);
        structures_of(&p, &seen, &(*t)->table);
    }
    unions_of_types(&p);
}

void mechp_schema_problem(struct mechp_text *w, const char *prefix)
{
    struct printer p = {.w = w, .prefix = prefix};
    /* the solver's settings are a model's too */
    struct seen seen = {.at = {&mech_vi_table}, .n = 1};
    definition(&p, &mech_lone_problem_table, NULL);
    structures_of(&p, &seen, &mech_lone_problem_table);
}

void mechp_bind_schema(struct mechp_text *w)
{
    mechp_text_object(w);
    mechp_text_member_string(w, "$schema", "https://json-schema.org/draft/2020-12/schema");
    mechp_text_member_string(w, "$id", "model.schema.json");
    mechp_text_member_string(w, "title", "A model of mechd");
    char ref[64];
    snprintf(ref, sizeof ref, "#/$defs/%s", mech_document_table.name);
    mechp_text_member_string(w, "$ref", ref);
    mechp_text_key(w, "$defs");
    mechp_text_object(w);
    mechp_schema_definitions(w, "#/$defs/");
    mechp_text_end(w);
    mechp_text_end(w);
}
