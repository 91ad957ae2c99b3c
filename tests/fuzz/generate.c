#include "solver/base/interrupt.h"
#include "solver/items/ops.h"
#include "solver/sim/mech.h"
#include "tests/fuzz/generate_part.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { DEPTH = 4, SIZES = GENERATE_SIZES, ROWS = 8, NAME = GENERATE_NAME };

/* --- the source ------------------------------------------------------------------------------- */

struct generate generate_of_seed(uint64_t seed)
{
    // mixed once: seeds side by side must not give the same numbers, one behind
    struct generate g = {.state = seed, .size = 1};
    g.state = generate_next(&g);
    return g;
}

struct generate generate_of_bytes(const uint8_t *bytes, size_t size)
{
    static const uint8_t none;
    return (struct generate){.bytes = bytes != NULL ? bytes : &none, .left = size, .size = 1};
}

uint64_t generate_next(struct generate *g)
{
    if (g->bytes != NULL) {
        uint16_t value = 0;
        const size_t n = g->left < sizeof value ? g->left : sizeof value;
        memcpy(&value, g->bytes, n);
        g->bytes += n;
        g->left -= n;
        return value;
    }
    uint64_t z = g->state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

uint32_t generate_below(struct generate *g, uint32_t below)
{
    return below == 0 ? 0 : (uint32_t)(generate_next(g) % below);
}

bool generate_often(struct generate *g, uint32_t percent)
{
    return generate_below(g, 100) < percent;
}

double generate_wild(struct generate *g)
{
    static const double odd[] = {0.,     -0.,     1e-300, 5e-324, 1e-16,  1e-8,  1e8,
                                 1e12,   1e16,    -1e16,  1e150,  -1e150, 1e160, 1e300,
                                 -1e300, 1.7e308, -1.,    1. / 3, 1e-3,   1e3};
    return odd[generate_below(g, sizeof odd / sizeof *odd)];
}

double generate_real(struct generate *g)
{
    if (g->wild && generate_often(g, 8)) {
        return generate_wild(g);
    }
    // eighths from −4 to 4
    return ((double)generate_below(g, 65) - 32.) / 8.;
}

/* --- values by kind --------------------------------------------------------------------------- */

/* A number that the field admits, of everyday size where it can be. */
static double number_of(struct generate *g, const struct mech_field *f)
{
    for (int k = 0; k < 8; k++) {
        const double value = k < 4 ? generate_real(g) : fabs(generate_real(g));
        if (mech_field_admits(f, value)) {
            return value;
        }
    }
    const double share = (generate_below(g, 7) + 1.) / 8.;
    if (mech_field_has_range(f) && isfinite(f->min) && isfinite(f->max)) {
        return f->min + share * (f->max - f->min);
    }
    return isfinite(f->min) ? f->min + share : isfinite(f->max) ? f->max - share : share;
}

static json_t *integer_of(struct generate *g, const struct mech_field *f)
{
    const double sized = (double)g->size;
    const double most = mech_field_has_range(f) && f->max < f->min + 3. ? f->max - f->min : 3.;
    if ((f->flags & MECH_REQUIRED) != 0 && generate_often(g, 85) && mech_field_admits(f, sized)) {
        return json_integer(g->size);
    }
    const double from = mech_field_has_range(f) && isfinite(f->min) ? f->min : 0.;
    return json_integer((json_int_t)(from + generate_below(g, (uint32_t)most + 1)));
}

/* Entry i of `n` numbers. Lists are of a kind as a whole, as those of mechanics are: each a number
 * of its own, all of 0 and 1, a unit vector, or a positive first half (an inertia). */
static double entry_of(struct generate *g, const struct mech_field *f, uint32_t i, uint32_t n,
                       uint32_t kind)
{
    const double value = number_of(g, f);
    double other = value;
    switch (kind) {
    case 0:
        other = generate_often(g, 50);
        break;
    case 1:
        other = i == 0;
        break;
    case 2:
        other = i == n - 1;
        break;
    case 3:
        other = 2 * i < n ? 1. + fabs(value) / 8. : 0.;
        break;
    default:
        break;
    }
    return mech_field_admits(f, other) ? other : value;
}

/* `n` numbers, in rows of `columns` where that is not 0. */
static json_t *numbers_of(struct generate *g, const struct mech_field *f, uint32_t n,
                          uint32_t columns)
{
    json_t *const list = json_array();
    // a fixed matrix of rows: near the unit matrix where it is square, so that rotations occur
    const bool unit = columns != 0 && n == columns * columns && generate_often(g, 70);
    for (uint32_t i = 0; columns != 0 && i < n / columns; i++) {
        json_t *const row = json_array();
        for (uint32_t j = 0; j < columns; j++) {
            json_array_append_new(row, json_real(unit ? i == j : number_of(g, f)));
        }
        json_array_append_new(list, row);
    }
    const uint32_t kind = generate_below(g, 8);
    for (uint32_t i = 0; columns == 0 && i < n; i++) {
        json_array_append_new(list, json_real(entry_of(g, f, i, n, kind)));
    }
    return list;
}

static uint32_t any_size(struct generate *g)
{
    return generate_often(g, 85) ? (uint32_t)g->size : generate_below(g, SIZES);
}

/* A multiple of the unit matrix. */
static json_t *diagonal_of(struct generate *g, uint32_t n)
{
    const double value = 1. + generate_below(g, 8) / 8.;
    json_t *const rows = json_array();
    for (uint32_t i = 0; i < n; i++) {
        json_t *const row = json_array();
        for (uint32_t j = 0; j < n; j++) {
            json_array_append_new(row, json_real(i == j ? value : 0.));
        }
        json_array_append_new(rows, row);
    }
    return rows;
}

/* Rows of a matrix: mostly square, symmetric, positive definite; else of any form, or of small
 * whole numbers, such as places are. */
static json_t *matrix_of(struct generate *g)
{
    const uint32_t hints = g->hint_count;
    const bool told = hints > 0 && generate_often(g, 70);
    const bool square = !told && generate_often(g, 60), plain = generate_often(g, 80);
    const bool whole = !square && generate_often(g, 25);
    uint32_t n = square ? any_size(g) : 1 + generate_below(g, SIZES - 1);
    uint32_t m = square ? n : 1 + generate_below(g, ROWS);
    if (told) {
        n = g->hints[generate_often(g, 70) ? hints - 1 : generate_below(g, hints)];
        m = hints > 1 && generate_often(g, 60) ? g->hints[hints - 2] : m;
    }
    if ((told || square) && generate_often(g, 20)) {
        return diagonal_of(g, n);
    }
    double a[ROWS + 2][ROWS + 2];
    json_t *const rows = json_array();
    for (uint32_t i = 0; i < m; i++) {
        json_t *const row = json_array();
        for (uint32_t j = 0; j < n; j++) {
            double value = whole ? generate_below(g, SIZES) : generate_real(g) / 8.;
            if (square && plain && j < i) {
                value = a[j][i];
            }
            if (square && plain && i == j) {
                value += 3.;
            }
            if (square) {
                a[i][j] = value;
            }
            json_array_append_new(row, json_real(value));
        }
        json_array_append_new(rows, row);
    }
    return rows;
}

/* An expression of a parameter, time or local variables. */
static json_t *expression_of(struct generate *g, const char *const *locals)
{
    static const char *const operators[] = {"*", "*sin", "+", "-", "*exp"};
    char text[80];
    const char *of = generate_often(g, 50) ? "p0" : "t";
    if (locals != NULL) {
        uint32_t n = 0;
        while (locals[n] != NULL) {
            n++;
        }
        of = locals[generate_below(g, n)];
    }
    const double value = generate_real(g);
    (void)snprintf(text, sizeof text, "=(%.17g)%s(%s)", value, operators[generate_below(g, 5)], of);
    return json_string(text);
}

static json_t *values_of(struct generate *g, const struct mech_field *f)
{
    json_t *const list = json_array();
    const uint32_t n = f->count != 0 ? f->count : any_size(g);
    for (uint32_t i = 0; i < n; i++) {
        json_array_append_new(list, generate_often(g, 20) ? expression_of(g, f->locals)
                                                          : json_real(number_of(g, f)));
    }
    return list;
}

/* A name among those of a registry that the field's key means, or any. */
static json_t *string_of(struct generate *g, const struct mech_field *f,
                         const struct mech_table *table)
{
    struct mech_integrator_info info;
    size_t n = 0;
    const char *doc = NULL;
    if (strcmp(f->name, "integrator") == 0) {
        while (mech_integrator(n, &info)) {
            n++;
        }
        (void)mech_integrator(generate_below(g, (uint32_t)n), &info);
        return json_string(info.name);
    }
    const char *(*const named)(size_t, const char **) = strcmp(f->name, "linear") == 0
                                                            ? mech_linear_solver
                                                        : table == &mech_vi_table ? mech_vi_solver
                                                                                  : NULL;
    if (named != NULL) {
        while (named(n, &doc) != NULL) {
            n++;
        }
        return json_string(named(generate_below(g, (uint32_t)n), &doc));
    }
    return json_string(table == &mech_input_table ? "p0" : "a title");
}

/* --- references ------------------------------------------------------------------------------- */

const struct mech_item_type *generate_type_of(enum mech_category category, const json_t *item)
{
    const char *const name = json_string_value(json_object_get(item, mech_category_key(category)));
    return name != NULL ? mech_item_type_find(category, name) : NULL;
}

/* Whether a marker's kind is in the mask; anything else fits. */
static bool fits(const struct mech_item_type *type, uint32_t mask)
{
    return type != NULL && (type->category != MECH_MARKER || mask == 0 ||
                            (mask >> type->ops.marker->kind & 1u) != 0);
}

const struct mech_item_type *generate_any_type(struct generate *g, enum mech_category category,
                                               uint32_t mask)
{
    uint32_t n = 0;
    if (g->prefer != NULL && g->prefer->category == category && fits(g->prefer, mask) &&
        generate_often(g, 60)) {
        return g->prefer;
    }
    for (size_t k = 0; mech_item_types[k] != NULL; k++) {
        n += mech_item_types[k]->category == category && fits(mech_item_types[k], mask);
    }
    uint32_t pick = generate_below(g, n);
    for (size_t k = 0; mech_item_types[k] != NULL; k++) {
        if (mech_item_types[k]->category == category && fits(mech_item_types[k], mask) &&
            pick-- == 0) {
            return mech_item_types[k];
        }
    }
    return NULL;
}

json_t *generate_list_of(struct generate *g, const char *key)
{
    json_t *list = json_object_get(g->document, key);
    if (list == NULL) {
        list = json_array();
        json_object_set_new(g->document, key, list);
    }
    return list;
}

const char *generate_item(struct generate *g, const struct mech_item_type *type)
{
    char name[NAME];
    if (type == NULL || g->depth >= DEPTH) {
        return NULL;
    }
    g->depth++;
    json_t *const item = generate_loose_item(g, type);
    g->depth--;
    (void)snprintf(name, sizeof name, "i%d", g->serial++);
    json_object_set_new(item, "name", json_string(name));
    json_array_append_new(generate_list_of(g, mech_category_name(type->category)), item);
    return json_string_value(json_object_get(item, "name"));
}

/* The name of an item that is there, or of a new one. */
static json_t *ref_of(struct generate *g, enum mech_category category, uint32_t mask)
{
    const json_t *const list = json_object_get(g->document, mech_category_name(category));
    const size_t n = json_array_size(list);
    if (category == MECH_NODE && g->wanted[0] != 0 && generate_often(g, 90)) {
        return json_string(g->wanted);
    }
    // nodes are mostly new: no two bodies share one
    const uint32_t known = category == MECH_NODE ? 25 : g->depth > 1 ? 85 : 60;
    if (n > 0 && (g->depth >= DEPTH || generate_often(g, known))) {
        const size_t from = generate_below(g, (uint32_t)n);
        for (size_t k = 0; k < n; k++) {
            const json_t *const item = json_array_get(list, (from + k) % n);
            if (fits(generate_type_of(category, item), mask)) {
                return json_incref(json_object_get(item, "name"));
            }
        }
    }
    const char *const name = generate_item(g, generate_any_type(g, category, mask));
    return json_string(name != NULL ? name : "nothing");
}

static json_t *refs_of(struct generate *g, const struct mech_field *f, uint32_t mask)
{
    json_t *const list = json_array();
    const uint32_t n = f->count != 0 ? f->count : 1 + generate_below(g, 2);
    for (uint32_t k = 0; k < n; k++) {
        json_array_append_new(list, ref_of(g, (enum mech_category)f->target, mask));
    }
    return list;
}

/* --- fields, tables, items -------------------------------------------------------------------- */

static json_t *list_of_tables(struct generate *g, const struct mech_table *table)
{
    json_t *const list = json_array();
    for (uint32_t k = generate_below(g, 3); k > 0; k--) {
        json_array_append_new(list, generate_table(g, table, 0));
    }
    return list;
}

static json_t *list_of_items(struct generate *g, const struct mech_field *f)
{
    json_t *const list = json_array();
    for (uint32_t k = 1 + generate_below(g, 2); k > 0; k--) {
        json_array_append_new(
            list, generate_loose_item(g, generate_any_type(g, (enum mech_category)f->target, 0)));
    }
    return list;
}

json_t *generate_field(struct generate *g, const struct mech_field *f,
                       const struct mech_table *table, uint32_t mask)
{
    uint32_t n = 0;
    switch (f->kind) {
    case MECH_BOOL:
        return json_boolean(generate_often(g, 50));
    case MECH_INT:
        return integer_of(g, f);
    case MECH_REAL:
        return generate_often(g, 4) ? expression_of(g, NULL) : json_real(number_of(g, f));
    case MECH_REALS:
        return numbers_of(g, f, f->count, f->columns);
    case MECH_VECTOR:
        return numbers_of(g, f, any_size(g), 0);
    case MECH_MATRIX:
        return matrix_of(g);
    case MECH_STRING:
        return string_of(g, f, table);
    case MECH_CHOICE:
        while (f->choices[n] != NULL) {
            n++;
        }
        return json_string(f->choices[generate_below(g, n)]);
    case MECH_REF:
        return ref_of(g, (enum mech_category)f->target, mask);
    case MECH_REFS:
        return refs_of(g, f, mask);
    case MECH_VALUES:
        return values_of(g, f);
    case MECH_FORMULA:
        return expression_of(g, f->locals);
    case MECH_STRUCT:
    case MECH_SHARED:
        return generate_table(g, f->table, 0);
    case MECH_STRUCTS:
        return list_of_tables(g, f->table);
    case MECH_ITEMS:
        return list_of_items(g, f);
    case MECH_VARIANT:
        return generate_loose_item(g, generate_any_type(g, (enum mech_category)f->target, 0));
    case MECH_PARAMETERS:
        break;
    }
    return json_pack("{s:f}", "p0", 0.5 + generate_below(g, 4));
}

json_t *generate_table(struct generate *g, const struct mech_table *table, uint32_t mask)
{
    json_t *const object = json_object();
    const uint32_t share = generate_often(g, 50) ? 15 : 45;
    for (size_t k = 0; k < table->count; k++) {
        const struct mech_field *const f = &table->fields[k];
        if ((f->flags & MECH_REQUIRED) != 0 || generate_often(g, share)) {
            json_object_set_new(object, f->name, generate_field(g, f, table, mask));
        }
    }
    return object;
}

uint32_t generate_markers(struct generate *g, const struct mech_item_type *type)
{
    if (generate_often(g, 10)) {
        return 0;
    }
    return type->category == MECH_OBJECT ? type->ops.object->marker_kinds
           : type->category == MECH_LOAD ? type->ops.load->markers
                                         : 0;
}

json_t *generate_loose_item(struct generate *g, const struct mech_item_type *type)
{
    const uint32_t mask = generate_markers(g, type);
    json_t *const item = generate_table(g, &type->table, mask);
    json_object_set_new(item, mech_category_key(type->category), json_string(type->name));
    return item;
}
