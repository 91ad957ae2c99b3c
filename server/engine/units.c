/* Units by their exponents, factors and offsets. */
#include "server/engine/units.h"

#include "protocol/fmi/unit.h"
#include "server/engine/fmu_engine.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { METRE = 1, SECOND = 2, RADIAN = 7 };

static int by_name(const void *name, const void *unit)
{
    return strcmp(name, ((const struct mechd_fmu_unit *)unit)->name);
}

/* NULL: the description does not say what it is. */
static const struct mechd_fmu_unit *find(const struct mechd_fmu_description *d, const char *text)
{
    const struct mechd_fmu_unit *const u =
        d->unit_count > 0 ? bsearch(text, d->units, d->unit_count, sizeof *d->units, by_name)
                          : NULL;
    return u != NULL && u->based ? u : NULL;
}

struct mechd_unit mechd_unit_of(const struct mechd_engine *e, const struct mech_variable *v,
                                const char *text)
{
    const struct mechd_fmu_package *const p = mechd_engine_package(e);
    const struct mechd_fmu_unit *const of = p != NULL ? find(&p->description, text) : NULL;
    struct mechd_unit u = {.text = text, .factor = 1.};
    if (of != NULL) {
        u.known = true;
        memcpy(u.exponents, of->exponents, sizeof u.exponents);
        u.factor = of->factor;
        u.relative = mechd_engine_fmu_relative(e, v->causality, v->index);
        u.offset = u.relative ? 0. : of->offset;
    } else if (p == NULL && text[0] != '\0') {
        u.known = mechp_fmi_unit(text, strlen(text), u.exponents);
    }
    return u;
}

static bool spelled_alike(const char *a, const char *b)
{
    static const char signs[] = " .*";
    while (*a != '\0' && *b != '\0' &&
           (*a == *b || (strchr(signs, *a) != NULL && strchr(signs, *b) != NULL))) {
        a++;
        b++;
    }
    return *a == *b;
}

/* Descriptions write what has no end, as the factor of degrees, with ten digits or more. */
static bool same_number(double a, double b)
{
    const double digits = 1e-9;
    return fabs(a - b) <= digits * fmax(fabs(a), fabs(b));
}

enum mechd_units mechd_units_match(const struct mechd_unit *from, const struct mechd_unit *to,
                                   double *factor, double *offset)
{
    *factor = 1.;
    *offset = 0.;
    if (from->text[0] == '\0' || to->text[0] == '\0') {
        return MECHD_UNITS_SAME;
    }
    if (!from->known || !to->known) {
        return spelled_alike(from->text, to->text) ? MECHD_UNITS_SAME : MECHD_UNITS_UNKNOWN;
    }
    if (memcmp(from->exponents, to->exponents, sizeof from->exponents) != 0) {
        return MECHD_UNITS_OTHER;
    }
    if (from->relative != to->relative && (from->offset != 0. || to->offset != 0.)) {
        return MECHD_UNITS_APART;
    }
    if (same_number(from->factor, to->factor) && same_number(from->offset, to->offset)) {
        return MECHD_UNITS_SAME;
    }
    *factor = from->factor / to->factor;
    *offset = (from->offset - to->offset) / to->factor;
    return MECHD_UNITS_SCALED;
}

enum mech_kinematic mechd_unit_kinematic(const struct mechd_unit *u)
{
    int rest[8];
    memcpy(rest, u->exponents, sizeof rest);
    const int lengths = rest[METRE] + rest[RADIAN], seconds = rest[SECOND];
    const bool one = u->known && lengths == 1 && rest[METRE] * rest[RADIAN] == 0;
    rest[METRE] = rest[RADIAN] = rest[SECOND] = 0;
    for (size_t k = 0; k < sizeof rest / sizeof *rest; k++) {
        if (!one || rest[k] != 0) {
            return MECH_KINEMATIC_NONE;
        }
    }
    return seconds == 0    ? MECH_KINEMATIC_DISPLACEMENT
           : seconds == -1 ? MECH_KINEMATIC_VELOCITY
                           : MECH_KINEMATIC_NONE;
}
