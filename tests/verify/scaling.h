/* A model document in other units: each number times what its unit asks for, as the field tables
 * say it, so that a new type is scaled without a line. What tables leave open, since it depends on
 * the coordinates that a system has, is listed in `open_units`: a field that is in neither fails.
 *
 *     struct scaling s = {.kg = 1e3, .m = 1e3, .s = 1e3};     // g, mm, ms
 *     scaling_apply(&s, document);                            // before mech_sim_create
 *     CHECK(value_there == scaling_of(&s, "N s/m", false) * value_here)
 *
 * Expressions stay as they are inside; what they read is divided, what they give is multiplied. */
#pragma once

#include "solver/items/document.h"
#include "solver/items/series.h"
#include "tests/unit/unit.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct scaling {
    double kg, m, s; /* numbers of the new units in 1 kg, 1 m, 1 s */
    struct mech_document *document;
    const char *type; /* of the table that is walked */
    bool angle;       /* of an item on a coordinate that is an angle: N is N m, m is rad */
    uint32_t nudge;   /* not 0: numbers with a unit are off by up to two roundings too */
};

/* Units that tables leave to the coordinates: those of lengths, and of states without unit. */
static const struct {
    const char *type, *field, *unit;
} open_units[] = {
    {"CoordinateVectorConstraint", "quadraticTermMarker0", "1/m"},
    {"CoordinateVectorConstraint", "quadraticTermMarker1", "1/m"},
    {"CoordinateVectorConstraint", "scalingMarker0", "1"},
    {"CoordinateVectorConstraint", "scalingMarker1", "1"},
    {"FirstOrderLinearTIDS", "A", "1/s"},
    {"FirstOrderLinearTIDS", "M", "1"},
    {"FirstOrderLinearTIDS", "b", "1/s"},
    {"FirstOrderLinearTIDS", "x0", "1"},
    {"FirstOrderLinearTIDS", "z", "1"},
    {"FirstOrderLinearTIR", "B", "1/s"},
    {"FirstOrderLinearTIR", "C", "1"},
    {"FirstOrderLinearTIR", "D", "1"},
    {"FirstOrderLinearTIR", "e", "1"},
    {"GenericAE", "constraintMatrix", "1"},
    {"GenericAE", "rhsVector", "m"},
    {"GenericODE1", "rhsVector", "1/s"},
    {"GenericODE1", "systemMatrix", "1/s"},
    {"GenericODE2", "dampingMatrix", "N s/m"},
    {"GenericODE2", "forceVector", "N"},
    {"GenericODE2", "massMatrix", "kg"},
    {"GenericODE2", "stiffnessMatrix", "N/m"},
    {"LagrangianLinearTIDS", "C", "N s/m"},
    {"LagrangianLinearTIDS", "Fext", "N"},
    {"LagrangianLinearTIDS", "K", "N/m"},
    {"LagrangianLinearTIDS", "M", "kg"},
    {"LagrangianLinearTIDS", "q0", "m"},
    {"LagrangianLinearTIDS", "v0", "m/s"},
    {"LagrangianLinearTIDS", "z", "1"},
    {"LagrangianLinearTIR", "H", "1"},
    {"NodeGenericData", "initialCoordinates", "1"},
    {"NodeGenericODE1", "initialCoordinates", "1"},
    {"NodeGenericODE1", "referenceCoordinates", "1"},
    {"NodeGenericODE2", "initialCoordinates", "m"},
    {"NodeGenericODE2", "initialCoordinates_t", "m/s"},
    {"NodeGenericODE2", "referenceCoordinates", "m"},
    {"*", "absoluteTolerance", "m"},
    {"*", "offsetUserFunction", "m"},
    {"*", "offsetUserFunction_t", "m/s"},
    {"*", "offset", "m"},
    {"*", "springForceUserFunction", "N"},
    {"*", "springTorqueUserFunction", "N m"},
    {"*", "velocity", "m/s"},
    {"*", "lb", "N"},
    {"*", "ub", "N"},
};

/* --- units ------------------------------------------------------------------------------------ */

static double scaling_word(const struct scaling *s, const char *word, size_t n)
{
    const double newton = s->kg * s->m / (s->s * s->s);

    if (n == 1 && *word == 'N') {
        return s->angle ? newton * s->m : newton;
    }
    if (n == 1 && *word == 'm') {
        return s->angle ? 1. : s->m;
    }
    return n == 2 && strncmp(word, "kg", 2) == 0 ? s->kg
           : n == 1 && *word == 's'              ? s->s
           : n == 1 && *word == 'J'              ? newton * s->m
                                                 : 1.; /* rad, 1, - */
}

/* A product such as "kg m^2" or "m^3/(kg s^2)": what a number of that unit is times. */
static double scaling_of(const struct scaling *s, const char *unit, size_t n)
{
    double factor = 1.;
    bool below = false, group = false;

    for (size_t i = 0; i < n;) {
        size_t from = i;
        double power = 1.;

        if (unit[i] == '/' || unit[i] == '(' || unit[i] == ')' || unit[i] == ' ') {
            below = unit[i] == '/' || (below && unit[i] != ')' && (group || unit[i] == '('));
            group = unit[i] == '(' || (group && unit[i] != ')');
            i++;
            continue;
        }
        while (i < n && (isalnum((unsigned char)unit[i]) || unit[i] == '-')) {
            i++;
        }
        const double word = scaling_word(s, unit + from, i - from);

        if (i == from) {
            i++;
        }
        if (i < n && unit[i] == '^') {
            char *end = NULL;

            power = strtod(unit + i + 1, &end);
            i = (size_t)(end - unit);
        }
        factor *= pow(word, below ? -power : power);
        below = below && group;
    }
    return factor;
}

/* Element k of n with a unit that may stand for several: "A and B", "A or B", "A, B". */
static double scaling_element(const struct scaling *s, const char *unit, size_t k, size_t n)
{
    const char *const both = strstr(unit, " and "), *const either = strstr(unit, " or ");
    const char *const list = strstr(unit, ", ");

    if (both) {
        return k < (n >= 6 ? 3u : 2u) ? scaling_of(s, unit, (size_t)(both - unit))
                                      : scaling_of(s, both + 5, strlen(both + 5));
    }
    if (either) {
        struct scaling plain = *s;

        plain.angle = false;
        return s->angle ? scaling_of(&plain, either + 4, strlen(either + 4))
                        : scaling_of(&plain, unit, (size_t)(either - unit));
    }
    if (list && n == 36) {
        return scaling_of(s, unit, (size_t)(list - unit)) *
               pow(s->m, (double)(k / 6 >= 3) + (double)(k % 6 >= 3));
    }
    if (list) {
        return k < n / 2 ? scaling_of(s, unit, (size_t)(list - unit))
                         : scaling_of(s, list + 2, strlen(list + 2));
    }
    return scaling_of(s, unit, strlen(unit));
}

/* The unit of a field, for numbers; NULL: they have none. */
static const char *scaling_unit(const struct scaling *s, const struct mech_field *f)
{
    if (f->unit) {
        return f->unit;
    }
    for (size_t i = 0; i < sizeof open_units / sizeof *open_units; i++) {
        if (strcmp(open_units[i].field, f->name) == 0 &&
            (open_units[i].type[0] == '*' || strcmp(open_units[i].type, s->type) == 0)) {
            return open_units[i].unit;
        }
    }
    fprintf(stderr, "%s/%s has no unit: give it one, or a line in open_units\n", s->type, f->name);
    CU_FAIL("a field without a unit");
    return "1";
}

/* --- expressions ------------------------------------------------------------------------------ */

/* What a local variable of an expression is divided by. */
static double scaling_local(const struct scaling *s, const char *name, size_t n)
{
    static const struct {
        const char *name, *unit;
    } units[] = {
        {"t", "s"},      {"k", "N/m"}, {"d", "N s/m"}, {"force", "N"}, {"torque", "N"},
        {"offset", "m"}, {"u", "m"},   {"v", "m/s"},   {"f", "N"},     {"velocityOffset", "m/s"}};
    struct scaling of = *s;

    /* of six, the last three are of rotations */
    if (n == 2 && isdigit((unsigned char)name[1])) {
        of.angle = of.angle || name[1] > '2';
        n = 1;
    }
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        if (strlen(units[i].name) == n && strncmp(units[i].name, name, n) == 0) {
            return scaling_of(&of, units[i].unit, strlen(units[i].unit));
        }
    }
    return 1.;
}

static bool scaling_is_local(const struct mech_field *f, const char *name, size_t n)
{
    static const char *const time_only[] = {"t", NULL};
    const char *const *const locals = f->locals ? f->locals : time_only;

    for (size_t i = 0; locals[i]; i++) {
        if (strlen(locals[i]) == n && strncmp(locals[i], name, n) == 0) {
            return true;
        }
    }
    return false;
}

/* (text with each local divided) * factor, in the document's memory */
static const char *scaling_text(const struct scaling *s, const struct mech_field *f,
                                const char *text, double factor)
{
    char *const out = mech_arena_alloc(&s->document->arena, 40 * strlen(text) + 80, 1);
    size_t n = (size_t)sprintf(out, "(");

    for (const char *c = text; *c;) {
        char *end = NULL;

        if (isdigit((unsigned char)*c) || (*c == '.' && isdigit((unsigned char)c[1]))) {
            (void)strtod(c, &end);
        } else if (isalpha((unsigned char)*c) || *c == '_') {
            end = (char *)(uintptr_t)c;
            while (isalnum((unsigned char)*end) || *end == '_') {
                end++;
            }
            if (f && scaling_is_local(f, c, (size_t)(end - c))) {
                n += (size_t)sprintf(out + n, "(%.*s/%.17g)", (int)(end - c), c,
                                     scaling_local(s, c, (size_t)(end - c)));
                c = end;
                continue;
            }
        } else {
            end = (char *)(uintptr_t)(c + 1);
        }
        n += (size_t)sprintf(out + n, "%.*s", (int)(end - c), c);
        c = end;
    }
    sprintf(out + n, ")*%.17g", factor);
    return out;
}

/* --- values ----------------------------------------------------------------------------------- */

/* 1, or with nudges as far from it as some roundings are. */
static double scaling_off(struct scaling *s)
{
    s->nudge = s->nudge * 1664525u + (s->nudge ? 1013904223u : 0u);
    return s->nudge ? 1. + (double)((int)(s->nudge >> 16) % 5 - 2) * 0x1p-52 : 1.;
}

/* A number, and the expression of parameters that gives it, if one does. */
static void scaling_number(struct scaling *s, double *x, double factor)
{
    struct mech_binding *const b =
        (struct mech_binding *)(uintptr_t)mech_document_binding(s->document, x);

    *x *= factor;
    if (b) {
        b->text = scaling_text(s, NULL, b->text, factor);
    }
}

static void scaling_numbers(struct scaling *s, const struct mech_field *f, double *x, size_t n)
{
    const char *const unit = n > 0 ? scaling_unit(s, f) : "";

    for (size_t k = 0; k < n; k++) {
        const double off = unit[0] ? scaling_off(s) : 1.;

        scaling_number(s, &x[k], off * scaling_element(s, unit, k, n));
    }
}

static void scaling_values(struct scaling *s, const struct mech_field *f, struct mech_values *v)
{
    const char *const unit = v->n > 0 && v->number ? scaling_unit(s, f) : "";

    for (size_t k = 0; k < v->n && v->number; k++) {
        const double off = unit[0] ? scaling_off(s) : 1.;
        const double factor = off * scaling_element(s, unit, k, v->n);

        scaling_number(s, &v->number[k], factor);
        if (v->text && v->text[k]) {
            v->text[k] = scaling_text(s, f, v->text[k], factor);
        }
        for (size_t i = 0; v->series && i < v->series[k].t.n; i++) {
            v->series[k].t.x[i] *= s->s;
            v->series[k].values.x[i] *= factor;
        }
    }
}

static void scaling_formula(const struct scaling *s, const struct mech_field *f,
                            struct mech_formula *formula)
{
    const char *const unit = formula->text ? scaling_unit(s, f) : "";
    const double factor = scaling_of(s, unit, strlen(unit));

    formula->text = formula->text ? scaling_text(s, f, formula->text, factor) : NULL;
    for (size_t i = 0; i < 4 && formula->partial[i]; i++) {
        const char *const local = f->locals[i];

        formula->partial[i] = scaling_text(s, f, formula->partial[i],
                                           factor / scaling_local(s, local, strlen(local)));
    }
}

/* --- items ------------------------------------------------------------------------------------ */

static const struct mech_item *scaling_find(const struct mech_items *items, const char *name)
{
    for (size_t i = 0; i < items->n && name; i++) {
        if (items->at[i].name && strcmp(items->at[i].name, name) == 0) {
            return &items->at[i];
        }
    }
    return NULL;
}

static const void *scaling_member(const struct mech_item *item, const char *field)
{
    const struct mech_field *const f = mech_table_find(&item->type->table, field);

    return f ? (const char *)item->description + f->offset : NULL;
}

/* Whether a marker is on one coordinate that is an angle: a rotor's, or that of a body in the
 * plane. */
static bool scaling_turns(const struct mech_document *d, const char *marker)
{
    const struct mech_item *const m = scaling_find(&d->markers, marker);

    if (!m || strcmp(m->type->name, "MarkerNodeRotationCoordinate") == 0) {
        return m != NULL;
    }
    if (strcmp(m->type->name, "MarkerNodeCoordinate") != 0) {
        return false;
    }
    const struct mech_ref *const node = scaling_member(m, "node");
    const struct mech_item *const n = scaling_find(&d->nodes, node->name);

    if (n && strcmp(n->type->name, "NodeRigidBody2D") == 0) {
        return *(const int32_t *)scaling_member(m, "coordinate") == 2;
    }
    for (size_t i = 0; i < d->objects.n; i++) {
        if (strcmp(d->objects.at[i].type->name, "Rotor1D") == 0) {
            const struct mech_ref *const of = scaling_member(&d->objects.at[i], "node");

            if (strcmp(of->name, node->name) == 0) {
                return true;
            }
        }
    }
    return false;
}

/* Of an item that acts on coordinates: whether they are angles. */
static bool scaling_on_angle(const struct mech_document *d, const struct mech_item *item)
{
    const char *const type = item->type->name;
    const struct mech_field *const one = mech_table_find(&item->type->table, "marker");
    const struct mech_field *const two = mech_table_find(&item->type->table, "markers");

    if (strcmp(type, "Node1D") == 0) {
        for (size_t i = 0; i < d->objects.n; i++) {
            if (strcmp(d->objects.at[i].type->name, "Rotor1D") == 0) {
                const struct mech_ref *const of = scaling_member(&d->objects.at[i], "node");

                if (item->name && strcmp(of->name, item->name) == 0) {
                    return true;
                }
            }
        }
        return false;
    }
    if (strncmp(type, "Torsional", 9) == 0) {
        return true;
    }
    if (one && one->kind == MECH_REF) {
        return scaling_turns(
            d,
            ((const struct mech_ref *)(const void *)((const char *)item->description + one->offset))
                ->name);
    }
    if (two && two->kind == MECH_REFS) {
        const struct mech_refs *const refs =
            (const void *)((const char *)item->description + two->offset);

        for (size_t i = 0; i < refs->n; i++) {
            if (scaling_turns(d, refs->refs[i].name)) {
                return true;
            }
        }
    }
    return false;
}

static void scaling_table(struct scaling *s, const struct mech_table *table, void *at);

static void scaling_item(struct scaling *s, const struct mech_item *item)
{
    struct scaling inner = *s;

    if (item->type) {
        inner.angle = scaling_on_angle(s->document, item);
        scaling_table(&inner, &item->type->table, item->description);
        s->nudge = inner.nudge;
    }
}

static void scaling_field(struct scaling *s, const struct mech_field *f, char *at)
{
    void *const here = at + f->offset;
    struct mech_structs *const structs = here;
    const struct mech_items *const items = here;
    struct mech_mat *const mat = here;
    struct mech_vector *const vector = here;

    switch (f->kind) {
    case MECH_REAL:
        scaling_numbers(s, f, here, 1);
        break;
    case MECH_REALS:
        scaling_numbers(s, f, here, f->count);
        break;
    case MECH_VECTOR:
        scaling_numbers(s, f, vector->x, vector->n);
        break;
    case MECH_MATRIX:
        if (mat->kind != MECH_MAT_ZERO && mat->values) {
            const char *const unit = scaling_unit(s, f);

            for (size_t k = 0; k < mech_mat_stored(mat); k++) {
                scaling_number(s, &mat->values[k], scaling_of(s, unit, strlen(unit)));
            }
        }
        break;
    case MECH_VALUES:
        scaling_values(s, f, here);
        break;
    case MECH_FORMULA:
        scaling_formula(s, f, here);
        break;
    case MECH_STRUCT:
        scaling_table(s, f->table, here);
        break;
    case MECH_STRUCTS:
        for (size_t i = 0; i < structs->n; i++) {
            scaling_table(s, f->table, (char *)structs->at + i * f->table->size);
        }
        break;
    case MECH_SHARED:
        scaling_table(s, f->table, (struct mech_shared *)here + 1);
        break;
    case MECH_ITEMS:
        for (size_t i = 0; i < items->n; i++) {
            scaling_item(s, &items->at[i]);
        }
        break;
    case MECH_VARIANT:
        scaling_item(s, here);
        break;
    default:
        break;
    }
}

static void scaling_table(struct scaling *s, const struct mech_table *table, void *at)
{
    for (size_t i = 0; i < table->count; i++) {
        s->type = table->name;
        scaling_field(s, &table->fields[i], at);
    }
}

/* All numbers of a document that was just read. */
static inline void scaling_apply(struct scaling *s, struct mech_document *document)
{
    s->document = document;
    scaling_table(s, &mech_document_table, document);
}
