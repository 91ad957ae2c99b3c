/* Documents from JSON: a walk over the keys of each object and the fields of its table. All faults are
 * collected; the walk goes on behind each. Defaults are in place before a table is read.
 */
#include "protocol/bind/reader.h"

#include "protocol/wire/json.h"
#include "solver/base/err.h"
#include "solver/base/name.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Memory that a document may take: room for what the JSON limits let through. */
static const size_t document_limit = (size_t)512 << 20;

const char *mechp_reader_kind(const json_t *value)
{
    switch (json_typeof(value)) {
    case JSON_OBJECT:
        return "an object";
    case JSON_ARRAY:
        return "an array";
    case JSON_STRING:
        return "a string";
    case JSON_INTEGER:
    case JSON_REAL:
        return "a number";
    case JSON_NULL:
        return "null";
    default:
        return json_is_true(value) ? "true" : "false";
    }
}

const char *mechp_reader_expression(struct mechp_reader *r, const json_t *value, bool *bad)
{
    *bad = false;
    if (!json_is_string(value) || json_string_value(value)[0] != '=') {
        return NULL;
    }
    const char *const text = json_string_value(value) + 1;
    *bad = true;
    if (strspn(text, " \t") == strlen(text)) {
        MECHP_FAULT(r, "the expression is empty");
        return NULL;
    }
    if (strlen(text) > MECHP_BIND_EXPRESSION) {
        MECHP_FAULT(r, "the expression is longer than %d bytes", MECHP_BIND_EXPRESSION);
        return NULL;
    }
    *bad = false;
    return text;
}

/* A finite number within the field's range. */
bool mechp_reader_plain(struct mechp_reader *r, const json_t *value, const struct mech_field *f,
                        double *out)
{
    if (!json_is_number(value)) {
        MECHP_FAULT(r, "must be a number, is %s", mechp_reader_kind(value));
        return false;
    }
    const double x = json_number_value(value);
    if (!isfinite(x)) {
        MECHP_FAULT(r, "must be finite");
        return false;
    }
    const char *const unit = f->unit == NULL ? "" : f->unit;
    const char *const space = unit[0] == '\0' ? "" : " ";
    if (x < f->min || ((f->flags & MECH_ABOVE_MIN) != 0 && x <= f->min)) {
        MECHP_FAULT(r, "must be %s %.17g%s%s, is %.17g",
                    (f->flags & MECH_ABOVE_MIN) != 0 ? "above" : "at least", f->min, space, unit,
                    x);
        return false;
    }
    if (x > f->max || ((f->flags & MECH_BELOW_MAX) != 0 && x >= f->max)) {
        MECHP_FAULT(r, "must be %s %.17g%s%s, is %.17g",
                    (f->flags & MECH_BELOW_MAX) != 0 ? "below" : "at most", f->max, space, unit, x);
        return false;
    }
    *out = x;
    return true;
}

int mechp_reader_number(struct mechp_reader *r, const json_t *value, const struct mech_field *f,
                        double *target)
{
    bool bad;
    const char *const text = mechp_reader_expression(r, value, &bad);
    if (text != NULL) {
        return mech_document_bind(r->document, target, text, r->path->text);
    }
    if (!bad) {
        (void)mechp_reader_plain(r, value, f, target);
    }
    return 0;
}

/* --- one function a kind --------------------------------------------------------------------- */

static int read_bool(struct mechp_reader *r, const json_t *value, const struct mech_field *f,
                     void *at)
{
    if (!json_is_boolean(value)) {
        MECHP_FAULT(r, "must be true or false, is %s", mechp_reader_kind(value));
        return 0;
    }
    *(bool *)at = json_is_true(value);
    return 0;
}

static int read_int(struct mechp_reader *r, const json_t *value, const struct mech_field *f,
                    void *at)
{
    double x = 0.;
    if (!mechp_reader_plain(r, value, f, &x)) {
        return 0;
    }
    if (floor(x) != x || fabs(x) > INT32_MAX) {
        MECHP_FAULT(r, "must be an integer, is %.17g", x);
        return 0;
    }
    *(int32_t *)at = (int32_t)x;
    return 0;
}

static int read_real(struct mechp_reader *r, const json_t *value, const struct mech_field *f,
                     void *at)
{
    return mechp_reader_number(r, value, f, at);
}

/* An array of exactly `count` elements; otherwise a fault. */
static bool is_array_of(struct mechp_reader *r, const json_t *value, size_t count, const char *what)
{
    if (!json_is_array(value)) {
        MECHP_FAULT(r, "must be an array of %zu %s, is %s", count, what, mechp_reader_kind(value));
        return false;
    }
    if (json_array_size(value) != count) {
        MECHP_FAULT(r, "must have %zu %s, has %zu", count, what, json_array_size(value));
        return false;
    }
    return true;
}

/* Each element of an array of numbers, at its own place. */
static int read_numbers(struct mechp_reader *r, const json_t *array, const struct mech_field *f,
                        double *out)
{
    for (size_t i = 0; i < json_array_size(array); i++) {
        const size_t mark = mech_path_push_index(r->path, i);
        MECH_TRY(mechp_reader_number(r, json_array_get(array, i), f, out + i));
        mech_path_cut(r->path, mark);
    }
    return 0;
}

static int read_reals(struct mechp_reader *r, const json_t *value, const struct mech_field *f,
                      void *at)
{
    double *const out = at;
    if (f->columns == 0) {
        return is_array_of(r, value, f->count, "numbers") ? read_numbers(r, value, f, out) : 0;
    }
    // a fixed matrix, row by row
    if (!is_array_of(r, value, f->count / f->columns, "rows")) {
        return 0;
    }
    for (size_t i = 0; i < json_array_size(value); i++) {
        const size_t mark = mech_path_push_index(r->path, i);
        const json_t *const row = json_array_get(value, i);
        if (is_array_of(r, row, f->columns, "numbers")) {
            MECH_TRY(read_numbers(r, row, f, out + i * f->columns));
        }
        mech_path_cut(r->path, mark);
    }
    return 0;
}

static int read_vector(struct mechp_reader *r, const json_t *value, const struct mech_field *f,
                       void *at)
{
    struct mech_vector *const out = at;
    if (!json_is_array(value)) {
        MECHP_FAULT(r, "must be an array of numbers, is %s", mechp_reader_kind(value));
        return 0;
    }
    const size_t n = json_array_size(value);
    double *const x = mech_arena_alloc(&r->document->arena, n, sizeof *x);
    if (x == NULL) {
        return MECH_NO_MEMORY;
    }
    *out = (struct mech_vector){.x = x, .n = n};
    return read_numbers(r, value, f, x);
}

static int read_matrix(struct mechp_reader *r, const json_t *value, const struct mech_field *f,
                       void *at)
{
    return mechp_reader_matrix(r, value, f, at);
}

/* Copy of a string of bounded length into the document, NULL and a fault otherwise. */
static int copy_string(struct mechp_reader *r, const json_t *value, const char **out)
{
    if (!json_is_string(value)) {
        MECHP_FAULT(r, "must be a string, is %s", mechp_reader_kind(value));
        return 0;
    }
    if (json_string_length(value) > MECHP_BIND_STRING) {
        MECHP_FAULT(r, "is longer than %d bytes", MECHP_BIND_STRING);
        return 0;
    }
    *out = mech_arena_strdup(&r->document->arena, json_string_value(value));
    return *out == NULL ? MECH_NO_MEMORY : 0;
}

static int read_string(struct mechp_reader *r, const json_t *value, const struct mech_field *f,
                       void *at)
{
    return copy_string(r, value, at);
}

static int read_choice(struct mechp_reader *r, const json_t *value, const struct mech_field *f,
                       void *at)
{
    if (!json_is_string(value)) {
        MECHP_FAULT(r, "must be a string, is %s", mechp_reader_kind(value));
        return 0;
    }
    char allowed[160] = "";
    size_t used = 0;
    for (int32_t i = 0; f->choices[i] != NULL; i++) {
        if (strcmp(f->choices[i], json_string_value(value)) == 0) {
            *(int32_t *)at = i;
            return 0;
        }
        const int n = snprintf(allowed + used, sizeof allowed - used, "%s%s", i > 0 ? ", " : "",
                               f->choices[i]);
        used += n > 0 && (size_t)n < sizeof allowed - used ? (size_t)n : 0;
    }
    MECHP_FAULT(r, "unknown value '%.64s'; allowed: %s", json_string_value(value), allowed);
    return 0;
}

static int read_ref(struct mechp_reader *r, const json_t *value, const struct mech_field *f,
                    void *at)
{
    struct mech_ref *const out = at;
    if (!json_is_string(value)) {
        MECHP_FAULT(r, "must be a name, is %s", mechp_reader_kind(value));
        return 0;
    }
    if (!mech_name_valid(json_string_value(value))) {
        MECHP_FAULT(r, "'%.64s' is not a name: [A-Za-z0-9._-]{1,64}", json_string_value(value));
        return 0;
    }
    out->index = -1;
    return copy_string(r, value, &out->name);
}

static int read_refs(struct mechp_reader *r, const json_t *value, const struct mech_field *f,
                     void *at)
{
    struct mech_refs *const out = at;
    if (f->count > 0 && !is_array_of(r, value, f->count, "names")) {
        return 0;
    }
    if (!json_is_array(value)) {
        MECHP_FAULT(r, "must be an array of names, is %s", mechp_reader_kind(value));
        return 0;
    }
    const size_t n = json_array_size(value);
    struct mech_ref *const refs = mech_arena_alloc(&r->document->arena, n, sizeof *refs);
    if (refs == NULL) {
        return MECH_NO_MEMORY;
    }
    *out = (struct mech_refs){.refs = refs, .n = n};
    for (size_t i = 0; i < n; i++) {
        const size_t mark = mech_path_push_index(r->path, i);
        refs[i].index = -1;
        MECH_TRY(read_ref(r, json_array_get(value, i), f, &refs[i]));
        mech_path_cut(r->path, mark);
    }
    return 0;
}

/* One of the values: a number, or an expression that keeps its text. */
static int read_value(struct mechp_reader *r, const json_t *value, const struct mech_field *f,
                      struct mech_values *out, size_t i)
{
    bool bad;
    const char *const text = mechp_reader_expression(r, value, &bad);
    if (text == NULL) {
        if (!bad) {
            (void)mechp_reader_plain(r, value, f, &out->number[i]);
        }
        return 0;
    }
    if (out->text == NULL) {
        out->text = mech_arena_alloc(&r->document->arena, out->n, sizeof *out->text);
        if (out->text == NULL) {
            return MECH_NO_MEMORY;
        }
    }
    out->text[i] = mech_arena_strdup(&r->document->arena, text);
    return out->text[i] == NULL ? MECH_NO_MEMORY : 0;
}

static int read_values(struct mechp_reader *r, const json_t *value, const struct mech_field *f,
                       void *at)
{
    struct mech_values *const out = at;
    const bool array = json_is_array(value);
    // a single value may stand alone
    if (f->count > 1 && !is_array_of(r, value, f->count, "values")) {
        return 0;
    }
    if (f->count == 1 && array && !is_array_of(r, value, 1, "values")) {
        return 0;
    }
    if (f->count == 0 && !array) {
        MECHP_FAULT(r, "must be an array of values, is %s", mechp_reader_kind(value));
        return 0;
    }
    const size_t n = array ? json_array_size(value) : 1;
    double *const number = mech_arena_alloc(&r->document->arena, n, sizeof *number);
    if (number == NULL) {
        return MECH_NO_MEMORY;
    }
    *out = (struct mech_values){.number = number, .n = n};
    if (!array) {
        return read_value(r, value, f, out, 0);
    }
    for (size_t i = 0; i < n; i++) {
        const size_t mark = mech_path_push_index(r->path, i);
        MECH_TRY(read_value(r, json_array_get(value, i), f, out, i));
        mech_path_cut(r->path, mark);
    }
    return 0;
}

/* An expression as text in the document's arena. */
static int read_expression(struct mechp_reader *r, const json_t *value, const char **out)
{
    bool bad;
    const char *const text = mechp_reader_expression(r, value, &bad);
    if (text == NULL) {
        if (!bad) {
            MECHP_FAULT(r, "must be an expression: a string that begins with '='");
        }
        return 0;
    }
    *out = mech_arena_strdup(&r->document->arena, text);
    return *out == NULL ? MECH_NO_MEMORY : 0;
}

/* The partial derivatives of a formula, by local variable. */
static int read_partials(struct mechp_reader *r, const json_t *value, const struct mech_field *f,
                         struct mech_formula *out)
{
    const char *names[5] = {NULL};
    for (int i = 0; i < 4 && f->locals != NULL && f->locals[i] != NULL; i++) {
        names[i] = f->locals[i];
    }
    if (!json_is_object(value)) {
        MECHP_FAULT(r, "must be an object of expressions, is %s", mechp_reader_kind(value));
        return 0;
    }
    mechp_json_only(value, r->path->text, names, r->diag);
    for (int i = 0; names[i] != NULL; i++) {
        const json_t *const partial = json_object_get(value, names[i]);
        if (partial != NULL) {
            const size_t mark = mech_path_push(r->path, names[i]);
            MECH_TRY(read_expression(r, partial, &out->partial[i]));
            mech_path_cut(r->path, mark);
        }
    }
    return 0;
}

/* "=k*u", or {"formula": "=k*u", "partial": {"u": "=k"}}. */
static int read_formula(struct mechp_reader *r, const json_t *value, const struct mech_field *f,
                        void *at)
{
    static const char *const keys[] = {"formula", "partial", NULL};
    struct mech_formula *const out = at;
    if (!json_is_object(value)) {
        return read_expression(r, value, &out->text);
    }
    mechp_json_only(value, r->path->text, keys, r->diag);
    const json_t *const text = json_object_get(value, "formula");
    const json_t *const partial = json_object_get(value, "partial");
    if (text == NULL) {
        MECHP_FAULT(r, "missing key 'formula'");
    } else {
        const size_t mark = mech_path_push(r->path, "formula");
        MECH_TRY(read_expression(r, text, &out->text));
        mech_path_cut(r->path, mark);
    }
    if (partial != NULL) {
        const size_t mark = mech_path_push(r->path, "partial");
        MECH_TRY(read_partials(r, partial, f, out));
        mech_path_cut(r->path, mark);
    }
    return 0;
}

static int read_struct(struct mechp_reader *r, const json_t *value, const struct mech_field *f,
                       void *at)
{
    return mechp_reader_table(r, value, f->table, at, false);
}

/* Names of a list's members are names, and no two are the same. */
static int check_struct_names(struct mechp_reader *r, const struct mech_field *f,
                              const struct mech_structs *list)
{
    const struct mech_field *const name = mech_table_find(f->table, "name");
    struct mech_names names;
    if (name == NULL || name->kind != MECH_STRING) {
        return 0;
    }
    MECH_TRY(mech_names_init(&names, &r->document->arena, list->n));
    for (size_t i = 0; i < list->n; i++) {
        const char *const *const text =
            (const char *const *)(const void *)((const char *)list->at + i * f->table->size +
                                                name->offset);
        if (*text == NULL) {
            continue;
        }
        const size_t mark = mech_path_push_index(r->path, i);
        (void)mech_path_push(r->path, "name");
        if (!mech_name_valid(*text)) {
            MECHP_FAULT(r, "'%.64s' is not a name: [A-Za-z0-9._-]{1,64}", *text);
        } else if (mech_names_add(&names, *text, (int32_t)i) != 0) {
            MECHP_FAULT(r, "the name '%s' is taken by number %d", *text,
                        (int)mech_names_find(&names, *text));
        }
        mech_path_cut(r->path, mark);
    }
    return 0;
}

static int read_structs(struct mechp_reader *r, const json_t *value, const struct mech_field *f,
                        void *at)
{
    struct mech_structs *const out = at;
    if (!json_is_array(value)) {
        MECHP_FAULT(r, "must be an array, is %s", mechp_reader_kind(value));
        return 0;
    }
    const size_t n = json_array_size(value);
    char *const list = mech_arena_alloc(&r->document->arena, n, f->table->size);
    if (list == NULL) {
        return MECH_NO_MEMORY;
    }
    *out = (struct mech_structs){.at = list, .n = n};
    for (size_t i = 0; i < n; i++) {
        const size_t mark = mech_path_push_index(r->path, i);
        mech_table_defaults(f->table, list + i * f->table->size);
        MECH_TRY(mechp_reader_table(r, json_array_get(value, i), f->table,
                                    list + i * f->table->size, false));
        mech_path_cut(r->path, mark);
    }
    return check_struct_names(r, f, out);
}

static int read_items(struct mechp_reader *r, const json_t *value, const struct mech_field *f,
                      void *at)
{
    return mechp_reader_items(r, value, f, at);
}

static int read_variant(struct mechp_reader *r, const json_t *value, const struct mech_field *f,
                        void *at)
{
    return mechp_reader_variant(r, value, f, at);
}

/* A parameter stands in expressions: a letter or underscore, then letters, digits, underscores. */
static bool is_identifier(const char *text)
{
    static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_0123456789";
    const size_t length = strlen(text);
    return length > 0 && length <= MECH_NAME_MAX && strspn(text, letters) == length &&
           (text[0] < '0' || text[0] > '9');
}

static int read_parameters(struct mechp_reader *r, const json_t *value, const struct mech_field *f,
                           void *at)
{
    struct mech_parameters *const out = at;
    if (!json_is_object(value)) {
        MECHP_FAULT(r, "must be an object of names and numbers, is %s", mechp_reader_kind(value));
        return 0;
    }
    struct mech_parameter *const list =
        mech_arena_alloc(&r->document->arena, json_object_size(value), sizeof *list);
    if (list == NULL) {
        return MECH_NO_MEMORY;
    }
    *out = (struct mech_parameters){.at = list};
    for (void *i = json_object_iter((json_t *)(uintptr_t)value); i != NULL;
         i = json_object_iter_next((json_t *)(uintptr_t)value, i)) {
        const char *const name = json_object_iter_key(i);
        const size_t mark = mech_path_push(r->path, name);
        if (!is_identifier(name)) {
            MECHP_FAULT(r, "'%.64s' cannot stand in an expression: [A-Za-z_][A-Za-z0-9_]{0,63}",
                        name);
        }
        list[out->n].name = mech_arena_strdup(&r->document->arena, name);
        if (list[out->n].name == NULL) {
            return MECH_NO_MEMORY;
        }
        (void)mechp_reader_plain(r, json_object_iter_value(i), f, &list[out->n].value);
        out->n++;
        mech_path_cut(r->path, mark);
    }
    return 0;
}

typedef int reader_of_kind(struct mechp_reader *r, const json_t *value, const struct mech_field *f,
                           void *at);

static reader_of_kind *const readers[] = {
    [MECH_BOOL] = read_bool,
    [MECH_INT] = read_int,
    [MECH_REAL] = read_real,
    [MECH_REALS] = read_reals,
    [MECH_VECTOR] = read_vector,
    [MECH_MATRIX] = read_matrix,
    [MECH_STRING] = read_string,
    [MECH_CHOICE] = read_choice,
    [MECH_REF] = read_ref,
    [MECH_REFS] = read_refs,
    [MECH_VALUES] = read_values,
    [MECH_FORMULA] = read_formula,
    [MECH_STRUCT] = read_struct,
    [MECH_STRUCTS] = read_structs,
    [MECH_ITEMS] = read_items,
    [MECH_VARIANT] = read_variant,
    [MECH_PARAMETERS] = read_parameters,
};

/* --- tables ---------------------------------------------------------------------------------- */

/* A fault for a key that no field has, with the nearest one. */
static void unknown_key(struct mechp_reader *r, const char *key, const struct mech_table *table)
{
    const char *names[64] = {NULL};
    for (size_t i = 0; i < table->count && i < 63; i++) {
        names[i] = table->fields[i].name;
    }
    const char *const meant = mechp_closest(key, names);
    const size_t mark = mech_path_push(r->path, key);
    if (meant != NULL) {
        MECHP_FAULT(r, "unknown key '%.64s', did you mean '%s'?", key, meant);
    } else {
        MECHP_FAULT(r, "unknown key '%.64s' in %s", key, table->name);
    }
    mech_path_cut(r->path, mark);
}

int mechp_reader_table(struct mechp_reader *r, const json_t *object, const struct mech_table *table,
                       void *at, bool item)
{
    if (!json_is_object(object)) {
        MECHP_FAULT(r, "must be an object, is %s", mechp_reader_kind(object));
        return 0;
    }
    // what is there, in the order it was written
    for (void *i = json_object_iter((json_t *)(uintptr_t)object); i != NULL;
         i = json_object_iter_next((json_t *)(uintptr_t)object, i)) {
        const char *const key = json_object_iter_key(i);
        if (item && (strcmp(key, "name") == 0 || strcmp(key, "type") == 0)) {
            continue;
        }
        const struct mech_field *const f = mech_table_find(table, key);
        if (f == NULL) {
            unknown_key(r, key, table);
            continue;
        }
        const size_t mark = mech_path_push(r->path, key);
        MECH_TRY(readers[f->kind](r, json_object_iter_value(i), f, (char *)at + f->offset));
        mech_path_cut(r->path, mark);
    }
    // what is missing
    for (size_t i = 0; i < table->count; i++) {
        const struct mech_field *const f = &table->fields[i];
        if ((f->flags & MECH_REQUIRED) != 0 && json_object_get(object, f->name) == NULL) {
            MECHP_FAULT(r, "missing key '%s'", f->name);
        }
    }
    return 0;
}

int mechp_bind_read_table(const json_t *object, const struct mech_table *table, void *at,
                          struct mech_document *document, struct mech_path *path,
                          struct mech_diag *diag)
{
    struct mechp_reader r = {.document = document, .path = path, .diag = diag};
    return mechp_reader_table(&r, object, table, at, false);
}

int mechp_bind_read(const json_t *model, const char *base, struct mech_diag *diag,
                    struct mech_document **out)
{
    *out = NULL;
    struct mech_document *document;
    MECH_FOLD(mech_document_create(document_limit, &document));
    struct mech_path path = {.length = 0};
    snprintf(path.text, sizeof path.text, "%s", base);
    path.length = strlen(path.text);
    struct mechp_reader r = {.document = document, .path = &path, .diag = diag};
    const size_t before = diag->total;
    int code = mechp_reader_table(&r, model, &mech_document_table, document, false);
    if (code == 0 && diag->total > before) {
        code = mechp_reader_dangling(&r);
        code = code == 0 ? MECH_INVALID : code;
    }
    if (code != 0) {
        mech_document_destroy(document);
        return code;
    }
    *out = document;
    return 0;
}
