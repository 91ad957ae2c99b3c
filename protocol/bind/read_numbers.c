/* Numbers of documents from JSON: plain ones in their range, expressions, arrays, values and
 * formulas. */
#include "protocol/bind/reader.h"

#include "protocol/wire/json.h"
#include "solver/base/err.h"
#include "solver/items/series.h"

#include <math.h>
#include <string.h>

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
    const size_t length = strlen(text);
    if (length > MECHP_BIND_EXPRESSION) {
        MECHP_FAULT(r, "the expression is longer than %d bytes", MECHP_BIND_EXPRESSION);
        return NULL;
    }
    // one message for all that are too many
    if (r->expressions >= MECHP_BIND_EXPRESSIONS) {
        if (r->expressions == MECHP_BIND_EXPRESSIONS) {
            MECHP_FAULT(r, "the document has more than %d expressions", MECHP_BIND_EXPRESSIONS);
        }
        r->expressions = MECHP_BIND_EXPRESSIONS + 1;
        return NULL;
    }
    if (r->text + length > MECHP_BIND_EXPRESSIONS_TEXT) {
        if (r->text <= MECHP_BIND_EXPRESSIONS_TEXT) {
            MECHP_FAULT(r, "all expressions of the document together are longer than %d bytes",
                        MECHP_BIND_EXPRESSIONS_TEXT);
        }
        r->text = MECHP_BIND_EXPRESSIONS_TEXT + 1;
        return NULL;
    }
    r->expressions++;
    r->text += length;
    *bad = false;
    return text;
}

/* A number for a message, shortest. */
static const char *shortest(double x, char text[40])
{
    text[mechp_number_text(x, text)] = '\0';
    return text;
}

/* A fault for a number on the wrong side of a bound. */
static void out_of_range(struct mechp_reader *r, const struct mech_field *f, const char *side,
                         double bound, double x)
{
    char limit[40];
    char given[40];
    const char *const unit = f->unit == NULL ? "" : f->unit;
    MECHP_FAULT(r, "must be %s %s%s%s, is %s", side, shortest(bound, limit),
                unit[0] == '\0' ? "" : " ", unit, shortest(x, given));
}

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
    if (!mech_field_admits(f, x)) {
        const bool low = x <= f->min;
        const bool strict = (f->flags & (low ? MECH_ABOVE_MIN : MECH_BELOW_MAX)) != 0;
        out_of_range(r, f, low ? (strict ? "above" : "at least") : (strict ? "below" : "at most"),
                     low ? f->min : f->max, x);
        return false;
    }
    *out = x;
    return true;
}

/* A value that replaces a refused one, so that the rest can be checked. */
static double admissible(const struct mech_field *f)
{
    const double tries[] = {f->preset, 1., f->min, f->max};
    for (size_t i = 0; i < sizeof tries / sizeof *tries; i++) {
        if (isfinite(tries[i]) && mech_field_admits(f, tries[i])) {
            return tries[i];
        }
    }
    return 0.;
}

/* A number, or an expression that is bound to *target. */
static int read_number(struct mechp_reader *r, const json_t *value, const struct mech_field *f,
                       double *target)
{
    bool bad;
    const char *const text = mechp_reader_expression(r, value, &bad);
    if (text != NULL) {
        return mech_document_bind(r->document, target, text, r->path->text + r->base);
    }
    if (!bad && !mechp_reader_plain(r, value, f, target)) {
        *target = admissible(f);
        r->harmless++;
    }
    return 0;
}

int mechp_read_bool(struct mechp_reader *r, const json_t *value, const struct mech_field *f,
                    void *at)
{
    const bool may_follow = (f->flags & MECH_TUNABLE) != 0;
    bool bad = false;
    const char *const text = may_follow ? mechp_reader_expression(r, value, &bad) : NULL;
    if (text != NULL) {
        return mech_document_bind_flag(r->document, at, text, r->path->text + r->base);
    }
    if (bad) {
        return 0;
    }
    if (!json_is_boolean(value)) {
        MECHP_FAULT(r, "must be true or false%s, is %s",
                    may_follow ? " or an expression of the parameters" : "",
                    mechp_reader_kind(value));
        r->harmless++;
        return 0;
    }
    *(bool *)at = json_is_true(value);
    return 0;
}

int mechp_read_int(struct mechp_reader *r, const json_t *value, const struct mech_field *f,
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

int mechp_read_real(struct mechp_reader *r, const json_t *value, const struct mech_field *f,
                    void *at)
{
    return read_number(r, value, f, at);
}

/* An array of exactly `count` elements; otherwise a fault. */
bool mechp_reader_array(struct mechp_reader *r, const json_t *value, size_t count, const char *what)
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
        MECH_TRY(read_number(r, json_array_get(array, i), f, out + i));
        mech_path_cut(r->path, mark);
    }
    return 0;
}

int mechp_read_reals(struct mechp_reader *r, const json_t *value, const struct mech_field *f,
                     void *at)
{
    double *const out = at;
    if (f->columns == 0) {
        return mechp_reader_array(r, value, f->count, "numbers") ? read_numbers(r, value, f, out)
                                                                 : 0;
    }
    // a fixed matrix, row by row
    if (!mechp_reader_array(r, value, f->count / f->columns, "rows")) {
        return 0;
    }
    for (size_t i = 0; i < json_array_size(value); i++) {
        const size_t mark = mech_path_push_index(r->path, i);
        const json_t *const row = json_array_get(value, i);
        if (mechp_reader_array(r, row, f->columns, "numbers")) {
            MECH_TRY(read_numbers(r, row, f, out + i * f->columns));
        }
        mech_path_cut(r->path, mark);
    }
    return 0;
}

int mechp_read_vector(struct mechp_reader *r, const json_t *value, const struct mech_field *f,
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

/* Value i as {"table": {"t": […], "values": […]}}. */
static int read_series(struct mechp_reader *r, const json_t *value, const struct mech_field *f,
                       struct mech_values *out, size_t i)
{
    static const char *const keys[] = {"table", NULL};
    const json_t *const table = json_object_get(value, "table");
    if (f->locals != NULL) {
        MECHP_FAULT(r, "must be a number or an expression: a table is a function of t alone");
        return 0;
    }
    mechp_json_only(value, r->path->text, keys, r->diag);
    if (table == NULL) {
        MECHP_FAULT(r, "missing key 'table'");
        return 0;
    }
    if (out->series == NULL) {
        out->series = mech_arena_alloc(&r->document->arena, out->n, sizeof *out->series);
        if (out->series == NULL) {
            return MECH_NO_MEMORY;
        }
    }
    const struct mech_field inner = {.name = "table", .table = &mech_point_series_table};
    const size_t mark = mech_path_push(r->path, "table");
    MECH_TRY(mechp_read_struct(r, table, &inner, &out->series[i]));
    mech_path_cut(r->path, mark);
    return 0;
}

/* One of the values: a number, an expression that keeps its text, or a table. */
static int read_value(struct mechp_reader *r, const json_t *value, const struct mech_field *f,
                      struct mech_values *out, size_t i)
{
    bool bad;
    if (json_is_object(value)) {
        return read_series(r, value, f, out, i);
    }
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

int mechp_read_values(struct mechp_reader *r, const json_t *value, const struct mech_field *f,
                      void *at)
{
    struct mech_values *const out = at;
    const bool array = json_is_array(value);
    // a single value may be written without an array
    if (f->count > 1 && !mechp_reader_array(r, value, f->count, "values")) {
        return 0;
    }
    if (f->count == 1 && array && !mechp_reader_array(r, value, 1, "values")) {
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
int mechp_read_formula(struct mechp_reader *r, const json_t *value, const struct mech_field *f,
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
