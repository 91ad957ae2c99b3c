/* Names, references, types, starts and dependencies. Everything is looked up in sorted arrays, so
 * that 100,000 variables cost 100,000 · log of that. */
#include "server/engine/fmu_resolve.h"
#include "solver/base/err.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ELEMENTS_MOST = 1 << 20 }; /* of an array */

struct key {
    const char *name;
    uint32_t reference, index;
};

struct keys {
    struct key *by_name, *by_reference; /* [variable_count] */
};

static int content(struct mechd_fmu_reading *r, int line, const char *name, const char *what)
{
    char shown[64];
    mech_text_copy(shown, sizeof shown, name);
    return mechd_fmu_refuse(r, MECHD_DESCRIPTION_CONTENT, line, "\"%s\" %s", shown, what);
}

static int no_memory(struct mechd_fmu_reading *r)
{
    return mechd_fmu_refuse(r, MECHD_DESCRIPTION_LIMIT, 0, "it needs more memory than is allowed");
}

static int compare_names(const void *a, const void *b)
{
    const struct key *const x = a, *const y = b;
    const int order = strcmp(x->name, y->name);
    return order != 0 ? order : (x->index > y->index) - (x->index < y->index);
}

static int compare_references(const void *a, const void *b)
{
    const struct key *const x = a, *const y = b;
    if (x->reference != y->reference) {
        return x->reference > y->reference ? 1 : -1;
    }
    return (x->index > y->index) - (x->index < y->index);
}

static int compare_units(const void *a, const void *b)
{
    const struct mechd_fmu_unit *const x = a, *const y = b;
    return strcmp(x->name, y->name);
}

static int compare_declared(const void *a, const void *b)
{
    const struct mechd_fmu_declared *const x = a, *const y = b;
    return strcmp(x->name, y->name);
}

/* Without any item, qsort is not called: its array may be NULL. */
static void sort(void *items, size_t count, size_t size, int (*compare)(const void *, const void *))
{
    if (count > 1) {
        qsort(items, count, size, compare);
    }
}

static int sort_variables(struct mechd_fmu_reading *r, struct keys *keys)
{
    struct mechd_fmu_description *const d = r->d;
    const size_t n = d->variable_count;
    keys->by_name = mech_arena_alloc(&d->arena, n, sizeof *keys->by_name);
    keys->by_reference = mech_arena_alloc(&d->arena, n, sizeof *keys->by_reference);
    if (keys->by_name == NULL || keys->by_reference == NULL) {
        return no_memory(r);
    }
    for (size_t k = 0; k < n; k++) {
        keys->by_name[k] = keys->by_reference[k] =
            (struct key){d->variables[k].name, d->variables[k].reference, (uint32_t)k};
    }
    sort(keys->by_name, n, sizeof *keys->by_name, compare_names);
    sort(keys->by_reference, n, sizeof *keys->by_reference, compare_references);
    for (size_t k = 1; k < n; k++) {
        const struct key *const a = &keys->by_name[k - 1], *const b = &keys->by_name[k];
        if (strcmp(a->name, b->name) == 0) {
            return content(r, d->variables[b->index].line, b->name, "is the name of two variables");
        }
    }
    return 0;
}

/* Variables of one reference: 3.0 has none; in 2.0 they are aliases, of one type. */
static int check_references(struct mechd_fmu_reading *r, const struct keys *keys)
{
    const struct mechd_fmu_description *const d = r->d;
    for (size_t k = 1; k < d->variable_count; k++) {
        const struct key *const a = &keys->by_reference[k - 1], *const b = &keys->by_reference[k];
        const struct mechd_fmu_variable *const v = &d->variables[b->index];
        // in 2.0 the references of two types are apart
        if (a->reference == b->reference && d->version == MECHD_FMI_3) {
            return content(r, v->line, v->name, "has the value reference of another variable");
        }
    }
    return 0;
}

/* Index of the variable of a reference, or MECHD_FMU_NO_VARIABLE. */
static int64_t by_reference(const struct mechd_fmu_description *d, const struct keys *keys,
                            uint32_t reference)
{
    size_t low = 0, high = d->variable_count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (keys->by_reference[middle].reference < reference) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low < d->variable_count && keys->by_reference[low].reference == reference
               ? (int64_t)keys->by_reference[low].index
               : MECHD_FMU_NO_VARIABLE;
}

static int declare(struct mechd_fmu_reading *r, struct mechd_fmu_variable *v)
{
    if (v->declared_type != NULL) {
        const struct mechd_fmu_declared wanted = {.name = v->declared_type};
        const struct mechd_fmu_declared *const t =
            r->declared.count > 0 ? bsearch(&wanted, r->declared.items, r->declared.count,
                                            sizeof wanted, compare_declared)
                                  : NULL;
        if (t == NULL) {
            return content(r, v->line, v->declared_type, "is not among the type definitions");
        }
        v->unit = v->unit[0] != 0 || t->unit == NULL ? v->unit : t->unit;
        v->quantity = v->quantity == MECHD_FMU_QUANTITY_OPEN ? t->quantity : v->quantity;
        v->minimum = isnan(v->minimum) ? t->minimum : v->minimum;
        v->maximum = isnan(v->maximum) ? t->maximum : v->maximum;
        v->nominal = isnan(v->nominal) ? t->nominal : v->nominal;
    }
    v->quantity = v->quantity == MECHD_FMU_QUANTITY_OPEN ? MECHD_FMU_ABSOLUTE : v->quantity;
    return v->minimum > v->maximum ? content(r, v->line, v->name, "has a min above its max") : 0;
}

/* The sizes of an array that are known; those of parameters get their index. *elements: their
 * product, or 0 if one is a parameter's. */
static int resolve_dimensions(struct mechd_fmu_reading *r, const struct keys *keys,
                              struct mechd_fmu_variable *v, uint64_t *elements)
{
    uint64_t product = 1;
    for (size_t k = 0; k < v->dimension_count; k++) {
        struct mechd_fmu_dimension *const dimension = &v->dimensions[k];
        if (dimension->variable == MECHD_FMU_NO_VARIABLE) {
            product *= dimension->size;
        } else {
            dimension->variable = by_reference(r->d, keys, (uint32_t)dimension->variable);
            const struct mechd_fmu_variable *const size =
                dimension->variable != MECHD_FMU_NO_VARIABLE ? &r->d->variables[dimension->variable]
                                                             : NULL;
            if (size == NULL || size->type != MECHD_FMU_UINT64 || size->dimension_count > 0 ||
                (size->causality != MECHD_FMU_STRUCTURAL_PARAMETER &&
                 size->variability != MECHD_FMU_CONSTANT)) {
                return content(r, v->line, v->name,
                               "has a size that is not a structural parameter of type UInt64");
            }
            product = 0;
        }
        if (product > ELEMENTS_MOST) {
            return mechd_fmu_refuse(r, MECHD_DESCRIPTION_LIMIT, v->line,
                                    "an array of more than %d elements", (int)ELEMENTS_MOST);
        }
    }
    *elements = product;
    return 0;
}

/* The next of the start values, as mechd_fmu_next_number. */
static int next_start(const struct mechd_fmu_variable *v, const char **at, double *out)
{
    if (v->type != MECHD_FMU_BOOLEAN) {
        double low = 0., high = 0.;
        const int rc = mechd_fmu_next_number(at, out);
        mechd_fmu_type_range(v->type, &low, &high);
        const bool whole = low != high;
        return rc == 1 && whole && !(*out >= low && *out <= high && *out == floor(*out)) ? -1 : rc;
    }
    static const char *const words[] = {"false", "true", "0", "1"};
    *at += strspn(*at, " \t\r\n");
    const size_t length = strcspn(*at, " \t\r\n");
    for (size_t k = 0; k < sizeof words / sizeof *words; k++) {
        if (length > 0 && strlen(words[k]) == length && memcmp(words[k], *at, length) == 0) {
            *out = (double)(k & 1);
            *at += length;
            return 1;
        }
    }
    return length == 0 ? 0 : -1;
}

static int resolve_start(struct mechd_fmu_reading *r, struct mechd_fmu_variable *v,
                         uint64_t elements)
{
    if (v->start_text == NULL || v->type == MECHD_FMU_STRING || v->type == MECHD_FMU_BINARY ||
        v->type == MECHD_FMU_CLOCK) {
        return 0;
    }
    const char *at = v->start_text;
    double number = 0.;
    size_t count = 0;
    int rc;
    while ((rc = next_start(v, &at, &number)) == 1) {
        count++;
    }
    if (rc < 0 || count == 0) {
        return content(r, v->line, v->name, "has a start that is not a value of its type");
    }
    if (count != 1 && elements != 0 && count != elements) {
        return content(r, v->line, v->name, "has a start of another size than its own");
    }
    v->start = mech_arena_alloc(&r->d->arena, count, sizeof *v->start);
    if (v->start == NULL) {
        return no_memory(r);
    }
    v->start_count = count;
    at = v->start_text;
    for (size_t k = 0; k < count; k++) {
        (void)next_start(v, &at, &v->start[k]);
    }
    return 0;
}

/* The variable that a number of ModelStructure means, or MECHD_FMU_NO_VARIABLE. */
static int64_t meant(const struct mechd_fmu_description *d, const struct keys *keys, double number)
{
    if (!(number >= 0. && number <= (double)UINT32_MAX) || number != floor(number)) {
        return MECHD_FMU_NO_VARIABLE;
    }
    if (d->version == MECHD_FMI_3) {
        return by_reference(d, keys, (uint32_t)number);
    }
    return number >= 1. && number <= (double)d->variable_count ? (int64_t)number - 1
                                                               : MECHD_FMU_NO_VARIABLE;
}

static int resolve_unknown(struct mechd_fmu_reading *r, const struct keys *keys,
                           const struct mechd_fmu_unknown *u)
{
    const int64_t index = meant(r->d, keys, (double)u->key);
    if (index == MECHD_FMU_NO_VARIABLE) {
        return mechd_fmu_refuse(r, MECHD_DESCRIPTION_CONTENT, u->line,
                                "no variable has the value reference %u", (unsigned)u->key);
    }
    struct mechd_fmu_variable *const v = &r->d->variables[index];
    if (v->causality != MECHD_FMU_OUTPUT) {
        return content(r, u->line, v->name, "is listed as an output and is not one");
    }
    if (u->dependencies == NULL) {
        return 0;
    }
    // two characters a number at least
    v->dependencies =
        mech_arena_alloc(&r->d->arena, strlen(u->dependencies) / 2 + 1, sizeof *v->dependencies);
    if (v->dependencies == NULL) {
        return no_memory(r);
    }
    v->dependence = MECHD_FMU_DEPENDS_ON;
    v->dependency_count = 0;
    const char *at = u->dependencies;
    double number = 0.;
    int rc;
    while ((rc = mechd_fmu_next_number(&at, &number)) == 1) {
        const int64_t other = meant(r->d, keys, number);
        if (other == MECHD_FMU_NO_VARIABLE) {
            break;
        }
        v->dependencies[v->dependency_count++] = (uint32_t)other;
    }
    return rc != 0 ? content(r, u->line, v->name, "depends on a variable that does not exist") : 0;
}

static int check_head(struct mechd_fmu_reading *r)
{
    const struct mechd_fmu_description *const d = r->d;
    if (!r->has_cosim) {
        return mechd_fmu_refuse(r, MECHD_DESCRIPTION_KIND, 0, "the FMU is not for co-simulation");
    }
    if ((d->can & MECHD_FMU_NEEDS_TOOL) != 0) {
        return mechd_fmu_refuse(r, MECHD_DESCRIPTION_KIND, 0, "the FMU needs its tool to run");
    }
    if (!r->has_variables) {
        return mechd_fmu_refuse(r, MECHD_DESCRIPTION_CONTENT, 0, "ModelVariables is missing");
    }
    // it becomes the name of a file
    for (const char *p = d->identifier; *p != 0 || p == d->identifier; p++) {
        const bool letter = (*p >= 'a' && *p <= 'z') || (*p >= 'A' && *p <= 'Z') || *p == '_';
        if (!letter && !(*p >= '0' && *p <= '9' && p > d->identifier)) {
            return content(r, 0, d->identifier, "is not a C identifier");
        }
    }
    return strlen(d->identifier) > 200 ? content(r, 0, d->identifier, "is too long") : 0;
}

int mechd_fmu_resolve(struct mechd_fmu_reading *r)
{
    struct mechd_fmu_description *const d = r->d;
    struct keys keys;
    d->variables = r->variables.items;
    d->variable_count = r->variables.count;
    d->units = r->units.items;
    d->unit_count = r->units.count;
    MECH_TRY(check_head(r));
    sort(d->units, d->unit_count, sizeof *d->units, compare_units);
    sort(r->declared.items, r->declared.count, sizeof(struct mechd_fmu_declared), compare_declared);
    MECH_TRY(sort_variables(r, &keys));
    MECH_TRY(check_references(r, &keys));
    for (size_t k = 0; k < d->variable_count; k++) {
        uint64_t elements = 0;
        MECH_TRY(declare(r, &d->variables[k]));
        MECH_TRY(resolve_dimensions(r, &keys, &d->variables[k], &elements));
        MECH_TRY(resolve_start(r, &d->variables[k], elements));
    }
    for (size_t k = 0; k < r->unknowns.count; k++) {
        MECH_TRY(resolve_unknown(r, &keys, (struct mechd_fmu_unknown *)r->unknowns.items + k));
    }
    return 0;
}
