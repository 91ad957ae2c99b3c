/* Start values: parameter sets, through their mappings, applied to the parts that bind them. Parts
 * are taken from the innermost to the outermost and bindings in their order, so that the last value
 * of a variable is the one that takes precedence (SSP, section 5.3.3). */
#include "server/engine/fmu_attributes.h"
#include "server/engine/ssp_tree.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { NUMBERS_MOST = 1 << 16 /* of one value */ };

/* A value of a parameter set. */
struct value {
    const char *name;
    const double *numbers; /* [count]; NULL: it is a text */
    size_t count;
    struct mechd_ssp_unit unit;
    const struct mechd_ssp_element *xml;
};

/* --- reading ---------------------------------------------------------------------------------- */

/* The element of that name from e on, or NULL; each that is passed is work. */
static const struct mechd_ssp_element *next(struct mechd_ssp_tree *t,
                                            const struct mechd_ssp_element *e,
                                            enum mechd_ssp_space space, const char *name)
{
    while (e != NULL && mechd_ssp_works(t, e)) {
        if (mechd_ssp_is(e, space, name)) {
            return e;
        }
        e = e->next;
    }
    return NULL;
}

static bool is_truth(const char *text, double *out)
{
    *out = strcmp(text, "true") == 0 || strcmp(text, "1") == 0;
    return *out != 0. || strcmp(text, "false") == 0 || strcmp(text, "0") == 0;
}

/* Numbers of a text with blanks between. False: a fault. */
static bool read_numbers(struct mechd_ssp_tree *t, const struct mechd_ssp_element *e,
                         const char *text, struct value *out)
{
    const char *at = text;
    double number = 0.;
    size_t count = 0;
    int more;
    while ((more = mechd_fmu_next_number(&at, &number)) == 1 && isfinite(number) &&
           count < NUMBERS_MOST && mechd_ssp_works(t, e)) {
        count++;
    }
    if (t->outcome != 0) {
        return false;
    }
    if (more == 1 && count == NUMBERS_MOST) {
        mechd_ssp_fault(t->diag, e, "value: more than %d numbers", (int)NUMBERS_MOST);
        return false;
    }
    if (more != 0 || count == 0) {
        mechd_ssp_fault(t->diag, e, "value: \"%.64s\" is not a finite number", text);
        return false;
    }
    double *const numbers = mechd_ssp_alloc(t, count, sizeof *numbers);
    at = text;
    for (size_t k = 0; numbers != NULL && k < count; k++) {
        (void)mechd_fmu_next_number(&at, &numbers[k]);
    }
    out->numbers = numbers;
    out->count = count;
    return numbers != NULL;
}

/* A value by the element of its type. False: a fault. */
static bool read_value(struct mechd_ssp_tree *t, const struct mechd_ssp_file *file,
                       const struct mechd_ssp_element *type, struct value *out)
{
    static const char *const texts[] = {"String", "Enumeration", "Binary", "Clock"};
    const char *text = NULL;
    for (size_t k = 0; k < sizeof texts / sizeof *texts; k++) {
        if (strcmp(type->name, texts[k]) == 0) {
            return true;
        }
    }
    if (!mechd_ssp_required(type, "value", t->diag, &text)) {
        return false;
    }
    if (strcmp(type->name, "Boolean") == 0) {
        double *const truth = mechd_ssp_alloc(t, 1, sizeof *truth);
        if (truth != NULL && !is_truth(text, truth)) {
            mechd_ssp_fault(t->diag, type, "value: \"%.64s\" is not true or false", text);
        }
        out->numbers = truth;
        out->count = 1;
        return truth != NULL;
    }
    out->unit = mechd_ssp_unit(&file->units, mechd_ssp_attribute(type, "unit", ""));
    return read_numbers(t, type, text, out);
}

/* The values of a parameter set, with a prefix before their names. */
static void read_set(struct mechd_ssp_tree *t, const struct mechd_ssp_file *file,
                     const char *prefix, struct mech_arena_list *out)
{
    const size_t before = strlen(prefix);
    const struct mechd_ssp_element *const all =
        next(t, file->root->first, MECHD_SSP_SSV, "Parameters");
    for (const struct mechd_ssp_element *e = all != NULL ? all->first : NULL;
         (e = next(t, e, MECHD_SSP_SSV, "Parameter")) != NULL && t->outcome == 0; e = e->next) {
        const struct mechd_ssp_element *type = e->first;
        const char *name = NULL;
        while (type != NULL && mechd_ssp_works(t, type) &&
               (type->space != MECHD_SSP_SSV || strcmp(type->name, "Annotations") == 0)) {
            type = type->next;
        }
        if (!mechd_ssp_required(e, "name", t->diag, &name)) {
            continue;
        }
        if (type == NULL) {
            mechd_ssp_fault(t->diag, e, "parameter %.100s has no value", name);
            continue;
        }
        struct value v = {.name = name, .unit = {.name = ""}, .xml = type};
        if (!read_value(t, file, type, &v)) {
            continue;
        }
        if (before > 0) {
            char *const whole = mechd_ssp_alloc(t, before + strlen(name), 1);
            if (whole == NULL) {
                return;
            }
            memcpy(whole, prefix, before);
            memcpy(whole + before, name, strlen(name) + 1);
            v.name = whole;
        }
        struct value *const place = mechd_ssp_add(t, out, sizeof *place, MECHD_SSP_VALUES_MOST, e);
        if (place != NULL) {
            *place = v;
        }
    }
}

/* --- applying --------------------------------------------------------------------------------- */

/* Into `to`: by units, unless `plain`, then as factor · value + offset. NULL: a fault. */
static const double *transform(struct mechd_ssp_tree *t, const struct value *v,
                               const struct mechd_ssp_unit *to, bool plain, const double linear[2])
{
    double by = 1., more = 0.;
    const char *const reason = plain ? NULL : mechd_ssp_convert(&v->unit, to, &by, &more);
    if (reason != NULL) {
        mechd_ssp_fault(t->diag, v->xml, "%.64s is in %.32s, and takes %.32s: %s", v->name,
                        v->unit.name, to->name, reason);
        return NULL;
    }
    double *const out = mechd_ssp_alloc(t, v->count, sizeof *out);
    for (size_t k = 0; out != NULL && k < v->count; k++) {
        out[k] = linear[0] * (by * v->numbers[k] + more) + linear[1];
        if (!isfinite(out[k])) {
            mechd_ssp_fault(t->diag, v->xml, "%.64s is beyond the range of numbers", v->name);
            return NULL;
        }
    }
    return out;
}

/* How a value is applied. */
struct way {
    bool plain;
    double linear[2];
};

static void give_component(struct mechd_ssp_tree *t, const struct mechd_ssp_part *p,
                           const struct mechd_fmu_variable *v, const struct value *value,
                           const struct way *way)
{
    const struct mechd_ssp_node *const n = mechd_ssp_find(t, p, v->name);
    const struct mechd_ssp_unit unit =
        n != NULL ? n->unit : mechd_ssp_unit_of(t->fmus[t->s->components[p->component].source], v);
    // the connector's unit is that of the way, from which the variable's follows
    const double by = n != NULL ? n->by : 1., more = n != NULL ? n->more : 0.;
    const double linear[2] = {by * way->linear[0], by * way->linear[1] + more};
    const double *const values = transform(t, value, &unit, way->plain, linear);
    if (values != NULL) {
        mechd_ssp_start(t, p, v, values, value->count, value->xml);
    }
}

/* The value for all that has this name in a part. */
static void apply(struct mechd_ssp_tree *t, const struct mechd_ssp_part *p, const char *name,
                  const struct value *value, const struct way *way)
{
    const struct mechd_fmu_variable *const v =
        p->kind == MECHD_SSP_COMPONENT ? mechd_ssp_variable(t, p, name) : NULL;
    struct mechd_ssp_node *const n =
        p->kind == MECHD_SSP_SYSTEM ? mechd_ssp_find(t, p, name) : NULL;
    if ((v != NULL || n != NULL) && value->numbers == NULL) {
        mechd_ssp_fault(t->diag, value->xml, "%.64s: only numbers and booleans are supported",
                        name);
        return;
    }
    if (v != NULL) {
        give_component(t, p, v, value, way);
    }
    if (n != NULL) {
        n->values = transform(t, value, &n->unit, way->plain, way->linear);
        n->count = n->values != NULL ? value->count : 0;
        n->given = n->unit.name[0] != '\0' || way->plain ? n->unit : value->unit;
    }
    for (uint32_t k = p->first; k < p->first + p->count && mechd_ssp_works(t, value->xml); k++) {
        const struct mechd_ssp_part *const q = mechd_ssp_part(t, k);
        const size_t length = strlen(q->name);
        if (q->kind != MECHD_SSP_DICTIONARY && strncmp(q->name, name, length) == 0 &&
            name[length] == '.') {
            apply(t, q, name + length + 1, value, way);
        }
    }
}

static void apply_mapped(struct mechd_ssp_tree *t, const struct mechd_ssp_part *p,
                         const struct mechd_ssp_element *mapping, const struct value *values,
                         size_t count)
{
    for (const struct mechd_ssp_element *e = mapping->first;
         (e = next(t, e, MECHD_SSP_SSM, "MappingEntry")) != NULL && t->outcome == 0; e = e->next) {
        struct way way = {.linear = {1., 0.}};
        const char *source = NULL, *target = NULL;
        if (!mechd_ssp_required(e, "source", t->diag, &source) ||
            !mechd_ssp_required(e, "target", t->diag, &target) ||
            !mechd_ssp_bool(e, "suppressUnitConversion", t->diag, &way.plain) ||
            !mechd_ssp_linear(t, e, &way.linear[0], &way.linear[1])) {
            continue;
        }
        for (size_t k = 0; k < count && mechd_ssp_works(t, e); k++) {
            if (strcmp(values[k].name, source) == 0) {
                apply(t, p, target, &values[k], &way);
            }
        }
    }
}

/* --- bindings --------------------------------------------------------------------------------- */

/* The set and, if there is one, the mapping of a binding. False: a fault. */
static bool contents(struct mechd_ssp_tree *t, const struct mechd_ssp_element *e,
                     struct mechd_ssp_file *set, struct mechd_ssp_file *mapping)
{
    static const char set_type[] = "application/x-ssp-parameter-set";
    static const char mapping_type[] = "application/x-ssp-parameter-mapping";
    const struct mechd_ssp_element *const m = mechd_ssp_child(e, MECHD_SSP_SSD, "ParameterMapping");
    const char *const type = mechd_ssp_attribute(e, "type", set_type);
    const char *const other =
        m != NULL ? mechd_ssp_attribute(m, "type", mapping_type) : mapping_type;
    if (strcmp(type, set_type) != 0 || strcmp(other, mapping_type) != 0) {
        mechd_ssp_fault(t->diag, e, "parameters of this type are not supported: %.64s, %.64s", type,
                        other);
        return false;
    }
    *mapping = (struct mechd_ssp_file){.path = NULL};
    if (!mechd_ssp_content(t, e, mechd_ssp_child(e, MECHD_SSP_SSD, "ParameterValues"), set) ||
        (m != NULL && !mechd_ssp_content(t, m, m, mapping))) {
        return false;
    }
    if (!mechd_ssp_is(set->root, MECHD_SSP_SSV, "ParameterSet")) {
        mechd_ssp_fault(t->diag, set->root, "%.64s is not a parameter set", set->root->name);
        return false;
    }
    if (m != NULL && !mechd_ssp_is(mapping->root, MECHD_SSP_SSM, "ParameterMapping")) {
        mechd_ssp_fault(t->diag, mapping->root, "%.64s is not a parameter mapping",
                        mapping->root->name);
        return false;
    }
    return true;
}

static void bind_one(struct mechd_ssp_tree *t, const struct mechd_ssp_part *p,
                     const struct mechd_ssp_element *e)
{
    static const struct way as_it_is = {.linear = {1., 0.}};
    struct mechd_ssp_file set, mapping;
    struct mech_arena_list list = {.count = 0};
    if (!contents(t, e, &set, &mapping)) {
        return;
    }
    read_set(t, &set, mechd_ssp_attribute(e, "prefix", ""), &list);
    const struct value *const values = list.items;
    if (mapping.root != NULL) {
        apply_mapped(t, p, mapping.root, values, list.count);
        return;
    }
    for (size_t k = 0; k < list.count && t->outcome == 0; k++) {
        apply(t, p, values[k].name, &values[k], &as_it_is);
    }
}

/* Each binding of each part, as long as there is no fault. */
static void for_each(struct mechd_ssp_tree *t,
                     void (*act)(struct mechd_ssp_tree *t, const struct mechd_ssp_part *p,
                                 const struct mechd_ssp_element *e))
{
    for (size_t k = t->parts.count; k > 0 && mechd_ssp_good(t); k--) {
        const struct mechd_ssp_part *const p = mechd_ssp_part(t, k - 1);
        const struct mechd_ssp_element *const all =
            p->kind == MECHD_SSP_SYSTEM || p->kind == MECHD_SSP_COMPONENT
                ? mechd_ssp_child(p->xml, MECHD_SSP_SSD, "ParameterBindings")
                : NULL;
        for (const struct mechd_ssp_element *e =
                 mechd_ssp_child(all, MECHD_SSP_SSD, "ParameterBinding");
             e != NULL && mechd_ssp_good(t) && mechd_ssp_works(t, e); e = mechd_ssp_sibling(e)) {
            act(t, p, e);
        }
    }
}

static void fetch_one(struct mechd_ssp_tree *t, const struct mechd_ssp_part *p,
                      const struct mechd_ssp_element *e)
{
    struct mechd_ssp_file set, mapping;
    (void)p;
    (void)contents(t, e, &set, &mapping);
}

void mechd_ssp_read_bindings(struct mechd_ssp_tree *t)
{
    for_each(t, fetch_one);
}

void mechd_ssp_bind(struct mechd_ssp_tree *t)
{
    for_each(t, bind_one);
}

/* --- start values ----------------------------------------------------------------------------- */

void mechd_ssp_start(struct mechd_ssp_tree *t, const struct mechd_ssp_part *p,
                     const struct mechd_fmu_variable *v, const double *values, size_t count,
                     const struct mechd_ssp_element *at)
{
    if (v->causality != MECHD_FMU_INPUT && v->causality != MECHD_FMU_PARAMETER) {
        mechd_ssp_fault(t->diag, at, "%.64s of %.64s: only inputs and parameters have start values",
                        v->name, p->path);
        return;
    }
    struct mechd_ssp_start *const s =
        mechd_ssp_add(t, &t->starts, sizeof *s, MECHD_SSP_VALUES_MOST, at);
    if (s != NULL) {
        *s = (struct mechd_ssp_start){
            .component = p->component, .variable = v, .values = values, .count = count};
    }
}

/* By component, variable, and the order in which they came: values of later ones lie behind. */
static int by_variable(const void *a, const void *b)
{
    const struct mechd_ssp_start *const x = *(const struct mechd_ssp_start *const *)a;
    const struct mechd_ssp_start *const y = *(const struct mechd_ssp_start *const *)b;
    if (x->component != y->component) {
        return x->component < y->component ? -1 : 1;
    }
    if (x->variable != y->variable) {
        return x->variable < y->variable ? -1 : 1;
    }
    return x < y ? -1 : x > y;
}

void mechd_ssp_settle_starts(struct mechd_ssp_tree *t)
{
    const size_t count = t->starts.count;
    const struct mechd_ssp_start *const all = t->starts.items;
    const struct mechd_ssp_start **const sorted = mechd_ssp_alloc(t, count, sizeof *sorted);
    struct mechd_ssp_start *const kept = mechd_ssp_alloc(t, count, sizeof *kept);
    size_t n = 0;
    if (sorted == NULL || kept == NULL) {
        return;
    }
    for (size_t k = 0; k < count; k++) {
        sorted[k] = &all[k];
    }
    if (count > 1) {
        qsort(sorted, count, sizeof *sorted, by_variable);
    }
    for (size_t k = 0; k < count; k++) {
        const bool last = k + 1 == count || sorted[k + 1]->component != sorted[k]->component ||
                          sorted[k + 1]->variable != sorted[k]->variable;
        if (last) {
            kept[n++] = *sorted[k];
        }
    }
    t->starts.items = kept;
    t->starts.count = n;
}
