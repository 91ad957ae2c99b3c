/* Units of documents and of FMUs, and what converts values of one into those of another: a value in
 * base units is factor · value + offset (SSP, section 4.4.2; FMI 2.0.5, section 2.2.2); for
 * differences it is factor · value. */
#include "server/engine/ssp_tree.h"

#include <stdlib.h>
#include <string.h>

enum { UNITS_MOST = 4096, EXPONENT_MOST = 99 };

static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct mechd_fmu_unit *)a)->name,
                  ((const struct mechd_fmu_unit *)b)->name);
}

static void read_base(struct mechd_ssp_tree *t, const struct mechd_ssp_element *e,
                      struct mechd_fmu_unit *out)
{
    static const char *const names[] = {"kg", "m", "s", "A", "K", "mol", "cd", "rad"};
    out->based = true;
    for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
        double exponent = 0.;
        (void)mechd_ssp_number(e, names[k], t->diag, &exponent);
        if (!(exponent >= -EXPONENT_MOST && exponent <= EXPONENT_MOST) ||
            exponent != (double)(int)exponent) {
            mechd_ssp_fault(t->diag, e, "%s: an exponent must be a whole number up to %d", names[k],
                            EXPONENT_MOST);
        } else {
            out->exponents[k] = (int)exponent;
        }
    }
    (void)mechd_ssp_number(e, "factor", t->diag, &out->factor);
    (void)mechd_ssp_number(e, "offset", t->diag, &out->offset);
    if (out->factor == 0.) {
        mechd_ssp_fault(t->diag, e, "factor: the factor of a unit must not be 0");
    }
}

void mechd_ssp_read_units(struct mechd_ssp_tree *t, const struct mechd_ssp_element *root,
                          struct mechd_ssp_units *out)
{
    const struct mechd_ssp_element *const units = mechd_ssp_child(root, root->space, "Units");
    struct mech_arena_list list = {.count = 0};
    for (const struct mechd_ssp_element *e = mechd_ssp_child(units, MECHD_SSP_SSC, "Unit");
         e != NULL; e = mechd_ssp_sibling(e)) {
        const struct mechd_ssp_element *const base = mechd_ssp_child(e, MECHD_SSP_SSC, "BaseUnit");
        const char *name = NULL;
        struct mechd_fmu_unit *const unit =
            mechd_ssp_required(e, "name", t->diag, &name)
                ? mechd_ssp_add(t, &list, sizeof *unit, UNITS_MOST, e)
                : NULL;
        if (unit == NULL) {
            continue;
        }
        *unit = (struct mechd_fmu_unit){.name = name, .factor = 1.};
        if (base != NULL) {
            read_base(t, base, unit);
        }
    }
    if (list.count > 1) {
        qsort(list.items, list.count, sizeof(struct mechd_fmu_unit), by_name);
    }
    *out = (struct mechd_ssp_units){.at = list.items, .count = list.count};
}

static const struct mechd_fmu_unit *find(const struct mechd_fmu_unit *at, size_t count,
                                         const char *name)
{
    const struct mechd_fmu_unit key = {.name = name};
    return count > 0 ? bsearch(&key, at, count, sizeof key, by_name) : NULL;
}

struct mechd_ssp_unit mechd_ssp_unit(const struct mechd_ssp_units *units, const char *name)
{
    return (struct mechd_ssp_unit){.name = name, .of = find(units->at, units->count, name)};
}

struct mechd_ssp_unit mechd_ssp_unit_of(const struct mechd_fmu_description *d,
                                        const struct mechd_fmu_variable *v)
{
    return (struct mechd_ssp_unit){
        .name = v->unit, .of = find(d->units, d->unit_count, v->unit), .quantity = v->quantity};
}

/* It says more than its name: FMUs name units without base units. */
static bool defined(const struct mechd_ssp_unit *u)
{
    return u->of != NULL && u->of->based;
}

const char *mechd_ssp_convert(const struct mechd_ssp_unit *from, const struct mechd_ssp_unit *to,
                              double *factor, double *offset)
{
    *factor = 1.;
    *offset = 0.;
    if (from->name[0] == '\0' || to->name[0] == '\0') {
        return NULL;
    }
    if (!defined(from) || !defined(to)) {
        return strcmp(from->name, to->name) == 0 ? NULL
                                                 : "the conversion of these units is not defined";
    }
    const struct mechd_fmu_unit *const a = from->of, *const b = to->of;
    if (memcmp(a->exponents, b->exponents, sizeof a->exponents) != 0) {
        return "these units measure different quantities";
    }
    const bool relative =
        from->quantity == MECHD_FMU_RELATIVE || to->quantity == MECHD_FMU_RELATIVE;
    const double start = from->quantity == MECHD_FMU_ABSOLUTE || !relative ? a->offset : 0.;
    const double end = to->quantity == MECHD_FMU_ABSOLUTE || !relative ? b->offset : 0.;
    if (relative && (start != 0. || end != 0.)) {
        return "one is a difference, the other one is not";
    }
    if (a->factor != b->factor || start != end) {
        *factor = a->factor / b->factor;
        *offset = (start - end) / b->factor;
    }
    return NULL;
}
