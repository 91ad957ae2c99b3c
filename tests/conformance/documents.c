/* Every item type and structure of a model, read and written through its field table: what the
 * table asks for is taken, comes back to the bit, and everything that the table forbids is refused
 * with its pointer. Then damaged documents: none may crash the reader, and what it takes comes
 * back.
 */
#include "protocol/bind/bind.h"

#include "solver/base/err.h"
#include "tests/unit/protocol/bind/documents.h"
#include "tests/unit/unit.h"

#include <math.h>

/* --- values from tables ---------------------------------------------------------------------- */

static bool has_range(const struct mech_field *f)
{
    return f->min < 0. || f->min > 0. || f->max < 0. || f->max > 0.;
}

/* A number that the field takes and that is not its default; a whole one when asked. */
static double number_for(const struct mech_field *f, bool whole)
{
    static const double candidates[] = {1., 2., 0., 3., -1., 0.5, 0.25, 0.75};
    const size_t n = whole ? 5 : sizeof candidates / sizeof *candidates;
    for (size_t i = 0; i < n; i++) {
        const double x = candidates[i];
        const bool above = x > f->min || (x >= f->min && (f->flags & MECH_ABOVE_MIN) == 0);
        const bool below = x < f->max || (x <= f->max && (f->flags & MECH_BELOW_MAX) == 0);
        if (x != f->preset && (!has_range(f) || (above && below))) {
            return x;
        }
    }
    return f->min;
}

static json_t *table_value(const struct mech_table *table, bool full);

static json_t *numbers(const struct mech_field *f, size_t n)
{
    json_t *const array = json_array();
    for (size_t i = 0; i < n; i++) {
        const double x = number_for(f, false);
        // not the default, which a writer leaves out
        const bool preset = f->kind == MECH_REALS && f->presets != NULL && f->presets[i] == x;
        json_array_append_new(array,
                              json_real(preset && isfinite(f->min) ? 0.5 * (f->min + x) : x));
    }
    return array;
}

static json_t *item_value(enum mech_category category, bool full);

static json_t *list_of(json_t *element)
{
    json_t *const array = json_array();
    json_array_append_new(array, element);
    return array;
}

/* A value by points, one of them an expression. */
static json_t *table_of(double x)
{
    return json_pack("{s:{s:s, s:[f,s], s:[f,f]}}", "table", "interpolation", "cubic", "t", -1.,
                     "=1+1", "values", x, x);
}

/* A value that the field takes. */
static json_t *field_value(const struct mech_field *f, bool full)
{
    json_t *out = NULL;
    switch (f->kind) {
    case MECH_BOOL:
        return json_boolean(f->preset == 0.);
    case MECH_INT:
        return json_integer((json_int_t)number_for(f, true));
    case MECH_REAL:
        return full ? json_string("=1+1") : json_real(number_for(f, false));
    case MECH_REALS:
        if (f->columns == 0) {
            return numbers(f, f->count);
        }
        out = json_array();
        for (size_t i = 0; i < f->count / f->columns; i++) {
            json_array_append_new(out, numbers(f, f->columns));
        }
        return out;
    case MECH_VECTOR:
        return numbers(f, 2);
    case MECH_MATRIX:
        return json_pack("{s:[f,f]}", "diag", 2., 3.);
    case MECH_STRING:
        return json_string("text");
    case MECH_CHOICE:
        return json_string(f->choices[f->choices[1] != NULL ? 1 : 0]);
    case MECH_REF:
        return json_string("a-name");
    case MECH_REFS:
        out = json_array();
        for (size_t i = 0; i < (f->count == 0 ? 1 : f->count); i++) {
            json_array_append_new(out, json_string("a-name"));
        }
        return out;
    case MECH_VALUES:
        if (f->count == 1) {
            return !full               ? json_real(number_for(f, false))
                   : f->locals == NULL ? table_of(number_for(f, false))
                                       : json_string("=t");
        }
        out = numbers(f, f->count == 0 ? 2 : f->count);
        if (full && f->locals == NULL) {
            json_array_set_new(out, 0, table_of(number_for(f, false)));
        }
        if (full) {
            json_array_set_new(out, 1, json_string("=sin(t)"));
        }
        return out;
    case MECH_FORMULA:
        return full && f->locals != NULL
                   ? json_pack("{s:s,s:{s:s}}", "formula", "=1", "partial", f->locals[0], "=0")
                   : json_string("=1");
    case MECH_STRUCT:
        return table_value(f->table, full);
    case MECH_SHARED:
        return full ? table_value(f->table, full) : json_string("a-name");
    case MECH_STRUCTS:
        return list_of(table_value(f->table, full));
    case MECH_ITEMS:
        return list_of(item_value((enum mech_category)f->target, full));
    case MECH_VARIANT:
        return item_value((enum mech_category)f->target, full);
    case MECH_PARAMETERS:
        return json_pack("{s:f,s:f}", "second", 2.5, "first", -0.);
    }
    return NULL;
}

static void add_fields(json_t *object, const struct mech_table *table, bool full)
{
    for (size_t i = 0; i < table->count; i++) {
        const struct mech_field *const f = &table->fields[i];
        if (full || (f->flags & MECH_REQUIRED) != 0) {
            json_object_set_new(object, f->name, field_value(f, full));
        }
    }
}

static json_t *table_value(const struct mech_table *table, bool full)
{
    json_t *const object = json_object();
    add_fields(object, table, full);
    return object;
}

static json_t *type_value(const struct mech_item_type *type, bool full)
{
    json_t *const object = json_object();
    if (mech_category_named(type->category)) {
        json_object_set_new(object, "name", json_string("a-name"));
    }
    json_object_set_new(object, mech_category_key(type->category), json_string(type->name));
    add_fields(object, &type->table, full);
    return object;
}

/* An item of the first type of a category. */
static json_t *item_value(enum mech_category category, bool full)
{
    for (const struct mech_item_type *const *t = mech_item_types; *t != NULL; t++) {
        if ((*t)->category == category) {
            return type_value(*t, full);
        }
    }
    return json_null();
}

/* A model around one item; its pointer in `path`. The item is stolen. */
static json_t *model_of(const struct mech_item_type *type, json_t *item, char path[64])
{
    if (type->category == MECH_SHAPE) {
        snprintf(path, 64, "/objects/0/geometry/0");
        return json_pack("{s:i,s:[{s:s,s:s,s:[o]}]}", "mechd", 1, "objects", "name", "o", "type",
                         "Ground", "geometry", item);
    }
    if (mech_category_named(type->category)) {
        snprintf(path, 64, "/%s/0", mech_category_name(type->category));
        return json_pack("{s:i,s:[o]}", "mechd", 1, mech_category_name(type->category), item);
    }
    const bool law = type->category == MECH_LAW;
    snprintf(path, 64, "/interactions/0/%s", law ? "law" : "relation");
    return json_pack("{s:i,s:[{s:s,s:[s],s:o,s:o}]}", "mechd", 1, "interactions", "name", "i",
                     "systems", "s", law ? "law" : "relation", item, law ? "relation" : "law",
                     item_value(law ? MECH_RELATION : MECH_LAW, false));
}

/* --- reading and writing --------------------------------------------------------------------- */

/* Equal trees; numbers by value and sign. */
static bool same(const json_t *a, const json_t *b)
{
    if (json_is_number(a) && json_is_number(b)) {
        const double x = json_number_value(a);
        const double y = json_number_value(b);
        return memcmp(&x, &y, sizeof x) == 0;
    }
    if (json_typeof(a) != json_typeof(b)) {
        return false;
    }
    if (json_is_array(a)) {
        bool equal = json_array_size(a) == json_array_size(b);
        for (size_t i = 0; equal && i < json_array_size(a); i++) {
            equal = same(json_array_get(a, i), json_array_get(b, i));
        }
        return equal;
    }
    if (json_is_object(a)) {
        const char *key;
        json_t *value;
        bool equal = json_object_size(a) == json_object_size(b);
        json_object_foreach((json_t *)(uintptr_t)a, key, value)
        {
            const json_t *const other = json_object_get(b, key);
            equal = equal && other != NULL && same(value, other);
        }
        return equal;
    }
    return json_equal(a, b) != 0;
}

/* Read; the text of the document, or NULL when it was refused. */
static char *read_and_write(const json_t *model, struct mech_diag *d)
{
    struct mech_document *doc = NULL;
    char *text = NULL;
    if (mechp_bind_read(model, "", d, &doc) == 0) {
        text = write_text(doc);
    }
    mech_document_destroy(doc);
    return text;
}

/* Read, write, read and write again: everything given is there, and the bits are the same. */
static void comes_back(json_t *model, const char *what)
{
    struct mech_diag d;
    mech_diag_init(&d);
    char *const first = read_and_write(model, &d);
    CU_ASSERT_PTR_NOT_NULL(first);
    if (first == NULL) {
        printf("    %s: %s %s\n", what, d.count > 0 ? d.entries[0].path : "",
               d.count > 0 ? d.entries[0].text : "");
    } else {
        struct mechp_json_fault fault;
        json_t *again = NULL;
        CU_ASSERT_EQUAL(mechp_json_parse(first, strlen(first), NULL, &fault, &again), 0);
        const bool kept = again != NULL && same(model, again);
        CU_ASSERT(kept);
        if (!kept) {
            char *const given = json_dumps(model, 0);
            printf("    %s: given %s\n    written %s\n", what, given, first);
            free(given);
        }
        char *const second = read_and_write(again, &d);
        CU_ASSERT(second != NULL && strcmp(first, second) == 0);
        free(second);
        json_decref(again);
    }
    free(first);
    json_decref(model);
    mech_diag_fini(&d);
}

static void every_type_comes_back_with_few_and_with_all_fields(void)
{
    char path[64];
    for (const struct mech_item_type *const *t = mech_item_types; *t != NULL; t++) {
        comes_back(model_of(*t, type_value(*t, false), path), (*t)->name);
        comes_back(model_of(*t, type_value(*t, true), path), (*t)->name);
    }
}

static void the_whole_document_comes_back(void)
{
    comes_back(table_value(&mech_document_table, false), "document");
    json_t *const model = table_value(&mech_document_table, true);
    json_object_set_new(model, "mechd", json_integer(1));
    comes_back(model, "document");
}

/* --- refusals -------------------------------------------------------------------------------- */

/* The model is refused with a fault at `path` or below it. */
static void refused_at(json_t *model, const char *path, const char *what)
{
    struct mech_diag d;
    bool found = false;
    mech_diag_init(&d);
    char *const text = read_and_write(model, &d);
    CU_ASSERT_PTR_NULL(text);
    for (size_t i = 0; i < d.count; i++) {
        found = found || strncmp(d.entries[i].path, path, strlen(path)) == 0;
    }
    CU_ASSERT(found);
    if (!found) {
        printf("    %s at %s: not refused there\n", what, path);
    }
    free(text);
    json_decref(model);
    mech_diag_fini(&d);
}

/* A model with one field of the type set to a value, which is stolen. */
static void refuse_value(const struct mech_item_type *type, const struct mech_field *f,
                         json_t *value, const char *what)
{
    char path[64];
    char pointer[192];
    json_t *const item = type_value(type, false);
    json_object_set_new(item, f->name, value);
    json_t *const model = model_of(type, item, path);
    snprintf(pointer, sizeof pointer, "%s/%s", path, f->name);
    refused_at(model, pointer, what);
}

/* A number in the shape that the field's kind wants. */
static json_t *wrapped(const struct mech_field *f, double x)
{
    switch (f->kind) {
    case MECH_REALS: {
        json_t *const value = field_value(f, false);
        json_t *const row = f->columns > 0 ? json_array_get(value, 0) : value;
        json_array_set_new(row, 0, json_real(x));
        return value;
    }
    case MECH_VECTOR:
        return json_pack("[f]", x);
    case MECH_MATRIX:
        return json_pack("{s:[f]}", "diag", x);
    case MECH_VALUES: {
        json_t *const value = field_value(f, false);
        if (json_is_array(value)) {
            json_array_set_new(value, 0, json_real(x));
            return value;
        }
        json_decref(value);
        return json_real(x);
    }
    default:
        return json_real(x);
    }
}

static bool is_numeric(const struct mech_field *f)
{
    return f->kind == MECH_INT || f->kind == MECH_REAL || f->kind == MECH_REALS ||
           f->kind == MECH_VECTOR || f->kind == MECH_MATRIX || f->kind == MECH_VALUES;
}

static void numbers_out_of_range_are_refused_at_their_field(void)
{
    int tried = 0;
    for (const struct mech_item_type *const *t = mech_item_types; *t != NULL; t++) {
        for (size_t i = 0; i < (*t)->table.count; i++) {
            const struct mech_field *const f = &(*t)->table.fields[i];
            if (!is_numeric(f) || !has_range(f)) {
                continue;
            }
            if (isfinite(f->min)) {
                refuse_value(*t, f, wrapped(f, f->min - 1.), "below the minimum");
                tried++;
            }
            if (isfinite(f->max)) {
                refuse_value(*t, f, wrapped(f, f->max + 1.), "above the maximum");
                tried++;
            }
            if ((f->flags & MECH_ABOVE_MIN) != 0) {
                refuse_value(*t, f, wrapped(f, f->min), "the excluded minimum");
            }
            if ((f->flags & MECH_BELOW_MAX) != 0) {
                refuse_value(*t, f, wrapped(f, f->max), "the excluded maximum");
            }
        }
    }
    CU_ASSERT(tried >= 5);
}

static void wrong_types_are_refused_at_their_field(void)
{
    for (const struct mech_item_type *const *t = mech_item_types; *t != NULL; t++) {
        for (size_t i = 0; i < (*t)->table.count; i++) {
            const struct mech_field *const f = &(*t)->table.fields[i];
            refuse_value(*t, f, json_null(), "null");
            refuse_value(*t, f, json_pack("{s:i}", "no such key", 1), "an object");
            if (f->kind != MECH_BOOL) {
                refuse_value(*t, f, json_true(), "true");
            } else {
                refuse_value(*t, f, json_integer(1), "a number");
            }
            if (is_numeric(f)) {
                refuse_value(*t, f, json_string("1"), "a number as a string");
                refuse_value(*t, f, json_pack("[[[i]]]", 1), "nested arrays");
            }
            if (f->kind == MECH_INT) {
                refuse_value(*t, f, json_real(0.5), "a fraction");
                refuse_value(*t, f, json_string("=1"), "an expression");
            }
        }
    }
}

static void missing_and_unknown_keys_are_refused_at_the_item(void)
{
    char path[64];
    char pointer[96];
    for (const struct mech_item_type *const *t = mech_item_types; *t != NULL; t++) {
        for (size_t i = 0; i < (*t)->table.count; i++) {
            const struct mech_field *const f = &(*t)->table.fields[i];
            if ((f->flags & MECH_REQUIRED) != 0) {
                json_t *const item = type_value(*t, false);
                json_object_del(item, f->name);
                json_t *const model = model_of(*t, item, path);
                refused_at(model, path, f->name);
            }
        }
        json_t *const item = type_value(*t, false);
        json_object_set_new(item, "noSuchKey", json_integer(1));
        json_t *const model = model_of(*t, item, path);
        snprintf(pointer, sizeof pointer, "%s/noSuchKey", path);
        refused_at(model, pointer, "an unknown key");
    }
}

/* --- damaged documents ----------------------------------------------------------------------- */

/* Marsaglia's xorshift. */
static uint64_t next(uint64_t *x)
{
    *x ^= *x << 13;
    *x ^= *x >> 7;
    *x ^= *x << 17;
    return *x;
}

/* Damage `text` [*length] a little: change, cut, repeat or insert. */
static void damage(uint64_t *seed, char *text, size_t *length, size_t capacity)
{
    static const char *const words[] = {
        "{}",
        "[]",
        "null",
        "-1",
        "1e308",
        "0.5",
        "\"=k\"",
        "\"=\"",
        "\"\"",
        ",",
        ":",
        "[[",
        "]]",
        "\"diag\":",
        "\"coo\":[]",
        "\"shape\":[2,2]",
        "true",
        "2000000",
        "\"type\":\"Mass1D\"",
        "\"name\":\"a-name\",",
        "-0.0",
        "\\ud800",
        "\xff",
    };
    const size_t at = (size_t)(next(seed) % *length);
    size_t span = (size_t)(next(seed) % 40);
    span = span < *length - at ? span : *length - at;
    switch (next(seed) % 4) {
    case 0:
        text[at] = (char)(next(seed) & 0x7f);
        break;
    case 1:
        memmove(text + at, text + at + span, *length - at - span);
        *length -= span;
        break;
    case 2:
        if (*length + span <= capacity) {
            memmove(text + at + span, text + at, *length - at);
            *length += span;
        }
        break;
    default: {
        const char *const word = words[next(seed) % (sizeof words / sizeof *words)];
        const size_t n = strlen(word);
        if (*length + n <= capacity) {
            memmove(text + at + n, text + at, *length - at);
            memcpy(text + at, word, n);
            *length += n;
        }
        break;
    }
    }
    if (*length == 0) {
        *length = 1;
    }
}

static void damaged_documents_are_refused_or_come_back(void)
{
    enum { ROUNDS = 20000, CAPACITY = 16384 };
    uint64_t seed = 0x9e3779b97f4a7c15u;
    json_t *const model = table_value(&mech_document_table, true);
    json_object_set_new(model, "mechd", json_integer(1));
    json_t *const objects = json_object_get(model, "objects");
    for (const struct mech_item_type *const *t = mech_item_types; *t != NULL; t++) {
        if ((*t)->category == MECH_OBJECT) {
            json_t *const item = type_value(*t, true);
            json_object_set_new(item, "name", json_string((*t)->name));
            json_array_append_new(objects, item);
        }
    }
    char *const text = json_dumps(model, 0);
    char *const work = malloc(CAPACITY);
    CU_ASSERT_PTR_NOT_NULL_FATAL(work);
    const size_t whole = strlen(text);
    CU_ASSERT_FATAL(whole < CAPACITY);
    int parsed = 0;
    int taken = 0;
    for (int i = 0; i < ROUNDS; i++) {
        size_t length = whole;
        memcpy(work, text, whole);
        for (uint64_t k = next(&seed) % 3 + 1; k > 0; k--) {
            damage(&seed, work, &length, CAPACITY);
        }
        struct mechp_json_fault fault;
        struct mech_diag d;
        json_t *root;
        if (mechp_json_parse(work, length, NULL, &fault, &root) != 0) {
            continue;
        }
        parsed++;
        mech_diag_init(&d);
        char *const first = read_and_write(root, &d);
        CU_ASSERT((first == NULL) == (d.total > 0));
        json_decref(root);
        if (first != NULL) {
            taken++;
            CU_ASSERT_EQUAL(mechp_json_parse(first, strlen(first), NULL, &fault, &root), 0);
            char *const second = read_and_write(root, &d);
            CU_ASSERT(second != NULL && strcmp(first, second) == 0);
            free(second);
            json_decref(root);
        }
        free(first);
        mech_diag_fini(&d);
    }
    // the damage is of the right size: some get far, some all the way
    CU_ASSERT(parsed > ROUNDS / 50);
    CU_ASSERT(taken > 20 && taken < parsed);
    free(work);
    free(text);
    json_decref(model);
}

UNIT_TESTS(UNIT_TEST(every_type_comes_back_with_few_and_with_all_fields),
           UNIT_TEST(the_whole_document_comes_back),
           UNIT_TEST(numbers_out_of_range_are_refused_at_their_field),
           UNIT_TEST(wrong_types_are_refused_at_their_field),
           UNIT_TEST(missing_and_unknown_keys_are_refused_at_the_item),
           UNIT_TEST(damaged_documents_are_refused_or_come_back))
