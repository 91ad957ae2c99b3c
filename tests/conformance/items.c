/* Every item type of the registry keeps the contract of its tables. */
#include "solver/items/document.h"
#include "solver/items/ops.h"
#include "tests/unit/unit.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* run `check` on every field of a table and of the tables inside it */
static void each_field(const struct mech_table *table,
                       void (*check)(const struct mech_table *, const struct mech_field *))
{
    for (size_t i = 0; i < table->count; i++) {
        check(table, &table->fields[i]);
        if (table->fields[i].table) {
            each_field(table->fields[i].table, check);
        }
    }
}

static void each_table(void (*check)(const struct mech_table *, const struct mech_field *))
{
    for (const struct mech_item_type *const *t = mech_item_types; *t; t++) {
        each_field(&(*t)->table, check);
    }
    each_field(&mech_document_table, check);
}

static bool say(bool good, const char *what, const char *table, const char *field)
{
    if (!good) {
        fprintf(stderr, "%s of %s.%s\n", what, table, field ? field : "");
    }
    return good;
}

static void types_are_named_documented_and_found(void)
{
    for (const struct mech_item_type *const *t = mech_item_types; *t; t++) {
        const struct mech_table *const table = &(*t)->table;

        CU_ASSERT(say((*t)->name && strcmp((*t)->name, table->name) == 0, "name", table->name, 0));
        CU_ASSERT(say(table->doc && strlen(table->doc) > 10, "doc", table->name, 0));
        CU_ASSERT(say(table->size > 0, "size", table->name, 0));
        CU_ASSERT_PTR_EQUAL(mech_item_type_find((*t)->category, (*t)->name), *t);
        CU_ASSERT_PTR_NOT_NULL((*t)->ops.node);
    }
    CU_ASSERT_PTR_NULL(mech_item_type_find(MECH_NODE, "Mass1D"));
}

static void check_order(const struct mech_table *table, const struct mech_field *f)
{
    const size_t i = (size_t)(f - table->fields);

    CU_ASSERT(say(i == 0 || strcmp(table->fields[i - 1].name, f->name) < 0, "order", table->name,
                  f->name));
    CU_ASSERT_PTR_EQUAL(mech_table_find(table, f->name), f);
}

static void fields_are_sorted(void)
{
    each_table(check_order);
}

static void check_doc(const struct mech_table *table, const struct mech_field *f)
{
    CU_ASSERT(say(f->doc && strlen(f->doc) > 5, "doc", table->name, f->name));
    CU_ASSERT(say(f->offset < table->size, "offset", table->name, f->name));
}

static void fields_are_documented_and_inside_their_struct(void)
{
    each_table(check_doc);
}

static void check_default(const struct mech_table *table, const struct mech_field *f)
{
    const bool number = f->kind == MECH_INT || f->kind == MECH_REAL;

    if (number && !(f->flags & MECH_REQUIRED)) {
        CU_ASSERT(say(mech_field_admits(f, f->preset), "default", table->name, f->name));
    }
    if (f->kind == MECH_REALS) {
        for (uint32_t i = 0; i < f->count && !(f->flags & MECH_REQUIRED); i++) {
            CU_ASSERT(say(mech_field_admits(f, f->presets ? f->presets[i] : 0.), "default",
                          table->name, f->name));
        }
        CU_ASSERT(say(f->count > 0 && (!f->columns || f->count % f->columns == 0), "shape",
                      table->name, f->name));
    }
}

static void defaults_are_in_range(void)
{
    each_table(check_default);
}

static void check_kind(const struct mech_table *table, const struct mech_field *f)
{
    const bool target = f->kind == MECH_REF || f->kind == MECH_REFS || f->kind == MECH_ITEMS ||
                        f->kind == MECH_VARIANT;
    const bool inner = f->kind == MECH_STRUCT || f->kind == MECH_STRUCTS || f->kind == MECH_SHARED;

    CU_ASSERT(say(target || f->target == 0, "target", table->name, f->name));
    CU_ASSERT(say(f->target >= 0 && f->target < MECH_CATEGORIES, "target", table->name, f->name));
    CU_ASSERT(say((f->table != NULL) == inner, "table", table->name, f->name));
    CU_ASSERT(
        say((f->choices != NULL) == (f->kind == MECH_CHOICE), "choices", table->name, f->name));
    CU_ASSERT(say((f->locals != NULL) == (f->kind == MECH_FORMULA) || f->kind == MECH_VALUES,
                  "locals", table->name, f->name));
}

static void kinds_bring_what_they_need(void)
{
    each_table(check_kind);
}

static void operations_of_each_category_are_complete(void)
{
    for (const struct mech_item_type *const *t = mech_item_types; *t; t++) {
        if ((*t)->category == MECH_OBJECT) {
            const struct mech_object_ops *const o = (*t)->ops.object;
            const bool nonlinear = o->record != NULL;

            CU_ASSERT(say((o->output != NULL) == (o->outputs != 0), "outputs", (*t)->name, 0));
            CU_ASSERT(say(!o->own == !o->start, "own coordinates", (*t)->name, 0));
            CU_ASSERT(say((o->force != NULL) == nonlinear && (o->tangent != NULL) == nonlinear &&
                              (o->record_size > 0) == nonlinear &&
                              o->record_coordinates <= MECH_RECORD_COORDINATES,
                          "records", (*t)->name, 0));
            CU_ASSERT(say(!o->markers == !o->marker_kinds, "markers", (*t)->name, 0));
        } else if ((*t)->category == MECH_NODE) {
            const struct mech_node_ops *const o = (*t)->ops.node;

            CU_ASSERT(say(o->size && o->start && o->outputs, "node", (*t)->name, 0));
        } else if ((*t)->category == MECH_LOAD) {
            const struct mech_load_ops *const o = (*t)->ops.load;

            CU_ASSERT(say(o->size > 0 && o->markers && o->marker && o->values && o->wrench, "load",
                          (*t)->name, 0));
        } else if ((*t)->category == MECH_SENSOR) {
            CU_ASSERT(
                say((*t)->ops.sensor->ref && (*t)->ops.sensor->field, "sensor", (*t)->name, 0));
        }
    }
}

/* the masks of outputs name variables that exist, and every body has a frame to be drawn in */
static void bodies_can_be_drawn(void)
{
    for (const struct mech_item_type *const *t = mech_item_types; *t; t++) {
        if ((*t)->category == MECH_OBJECT && (*t)->ops.object->jacobian) {
            const struct mech_field *const f = mech_table_find(&(*t)->table, "visualization");

            CU_ASSERT_PTR_NOT_NULL_FATAL(f);
            CU_ASSERT_EQUAL(f->offset, (*t)->ops.object->visualization);
            CU_ASSERT_PTR_EQUAL(f->table, &mech_visualization_table);
            CU_ASSERT((*t)->ops.object->outputs & 1u << MECH_OUTPUT_POSITION);
            CU_ASSERT((*t)->ops.object->outputs & 1u << MECH_OUTPUT_ROTATION_MATRIX);
        }
    }
}

static void outputs_are_found_by_name(void)
{
    for (int i = 0; i < MECH_OUTPUT_COUNT; i++) {
        CU_ASSERT_EQUAL(mech_output_find(mech_output_name((enum mech_output)i)), i);
    }
    CU_ASSERT_EQUAL(mech_output_find("Nothing"), -1);
}

/* −1 to 1, from a generator's numbers */
static double random_number(uint32_t *seed)
{
    *seed = *seed * 1664525u + 1013904223u;
    return (double)(*seed >> 8) / 8388608. - 1.;
}

/* rate is the slope of move, and T transport what a motion of q and a change of d do to q ⊕ d, by
 * central differences of step 1e-5 */
static void check_motions(const struct mech_node_ops *ops, int32_t n, int32_t nq, double *q)
{
    enum { MOST = 16 };
    double d[MOST], dq[MOST], dd[MOST], sum[MOST], base[MOST], told[MOST], at[2][MOST];
    const double step = 1e-5;
    uint32_t seed = 7;

    CU_ASSERT_FATAL(n <= MOST && nq <= MOST);
    for (int32_t i = 0; i < n; i++) {
        sum[i] = random_number(&seed);
        d[i] = random_number(&seed);
        dq[i] = random_number(&seed);
        dd[i] = random_number(&seed);
    }
    ops->move(q, sum, q);
    ops->move(q, d, base);
    for (int k = 0; k < 2; k++) {
        for (int32_t i = 0; i < n; i++) {
            sum[i] = (k ? -step : step) * dq[i];
        }
        ops->move(q, sum, at[k]);
    }
    ops->rate(q, dq, told);
    for (int32_t i = 0; i < nq; i++) {
        CHECK_NEAR(told[i], (at[0][i] - at[1][i]) / (2. * step), 1e-9);
    }
    if (!ops->transport) {
        return;
    }
    for (int k = 0; k < 2; k++) {
        for (int32_t i = 0; i < n; i++) {
            sum[i] = d[i] + (k ? -step : step) * dd[i];
        }
        ops->move(at[k], sum, at[k]);
    }
    ops->transport(d, dq, dd, sum);
    ops->rate(base, sum, told);
    for (int32_t i = 0; i < nq; i++) {
        CHECK_NEAR(told[i], (at[0][i] - at[1][i]) / (2. * step), 1e-9);
    }
}

static void nodes_that_turn_differentiate_their_motions(void)
{
    int seen = 0;

    for (const struct mech_item_type *const *t = mech_item_types; *t; t++) {
        const struct mech_node_ops *const ops = (*t)->ops.node;

        if ((*t)->category != MECH_NODE || !ops->move) {
            continue;
        }
        char *const description = calloc(1, (*t)->table.size);
        double q[16] = {0.}, u[16] = {0.}, v[16] = {0.};

        mech_table_defaults(&(*t)->table, description);
        ops->start(description, q, u, v);
        check_motions(ops, ops->size(description), ops->coordinates(description), q);
        free(description);
        seen++;
    }
    CU_ASSERT(seen > 0);
}

UNIT_TESTS(UNIT_TEST(nodes_that_turn_differentiate_their_motions),
           UNIT_TEST(types_are_named_documented_and_found), UNIT_TEST(fields_are_sorted),
           UNIT_TEST(fields_are_documented_and_inside_their_struct),
           UNIT_TEST(defaults_are_in_range), UNIT_TEST(kinds_bring_what_they_need),
           UNIT_TEST(operations_of_each_category_are_complete), UNIT_TEST(bodies_can_be_drawn),
           UNIT_TEST(outputs_are_found_by_name))
