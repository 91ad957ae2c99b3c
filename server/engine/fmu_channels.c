/* One pass counts, another one fills; conversions are one column of fmu_types.def. */
#include "server/engine/fmu_channels.h"

#include "server/engine/fmu_resolve.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const enum mech_causality none = MECH_INDEPENDENT;

/* The causality under which a variable is shown. */
static enum mech_causality causality_of(const struct mechd_fmu_variable *v)
{
    if (mechd_fmu_element(v->type) == 0) {
        return none;
    }
    switch (v->causality) {
    case MECHD_FMU_INPUT:
        return MECH_INPUT;
    case MECHD_FMU_OUTPUT:
        return MECH_OUTPUT_VARIABLE;
    case MECHD_FMU_PARAMETER:
        return v->variability != MECHD_FMU_CONSTANT && v->dimension_count == 0 ? MECH_PARAMETER
                                                                               : none;
    default:
        return none;
    }
}

bool mechd_fmu_variable_shown(const struct mechd_fmu_variable *v)
{
    return causality_of(v) != none;
}

/* Numbers of a variable; 0: not known, or too many. */
static size_t size_of(const struct mechd_fmu_description *d, const struct mechd_fmu_variable *v)
{
    uint64_t n = 1;
    for (size_t k = 0; k < v->dimension_count; k++) {
        const struct mechd_fmu_dimension *const m = &v->dimensions[k];
        const struct mechd_fmu_variable *const by =
            m->variable == MECHD_FMU_NO_VARIABLE ? NULL : &d->variables[m->variable];
        const double size = by == NULL                                 ? (double)m->size
                            : by->start != NULL && by->start_count > 0 ? by->start[0]
                                                                       : 0.;
        if (!(size >= 1. && size <= MECHD_FMU_VALUES_MOST)) {
            return 0;
        }
        n *= (uint64_t)size;
        if (n > MECHD_FMU_VALUES_MOST) {
            return 0;
        }
    }
    return (size_t)n;
}

static int add(const struct mechd_fmu_description *d, const struct mechd_fmu_variable *v,
               struct mechd_fmu_channels *out, struct mech_diag *diag)
{
    const enum mech_causality c = causality_of(v);
    if (c == none) {
        return 0;
    }
    const size_t size = size_of(d, v);
    if (size == 0 || size > MECHD_FMU_VALUES_MOST - out->size[c]) {
        mech_diag_add(diag, "/modelDescription.xml",
                      "variable %.64s: the size of the array is not known, or there are more than "
                      "%d values",
                      v->name, (int)MECHD_FMU_VALUES_MOST);
        return MECH_UNSUPPORTED;
    }
    out->at[c][out->count[c]] = (struct mechd_fmu_channel){
        .of = v,
        .v = {.name = v->name,
              .causality = c,
              .reference = (int32_t)v->reference,
              .index = (int32_t)out->count[c],
              .size = (int32_t)size,
              .scalar = v->dimension_count == 0,
              .tunable = c != MECH_PARAMETER || v->variability == MECHD_FMU_TUNABLE,
              .unit = v->unit,
              .offset = (int32_t)out->size[c]}};
    out->count[c]++;
    out->size[c] += size;
    return 0;
}

int mechd_fmu_channels_make(const struct mechd_fmu_description *d, struct mechd_fmu_channels *out,
                            struct mech_diag *diag)
{
    size_t count[MECH_INDEPENDENT + 1] = {0};
    *out = (struct mechd_fmu_channels){.count = {0}};
    for (size_t k = 0; k < d->variable_count; k++) {
        count[causality_of(&d->variables[k])]++;
    }
    int rc = 0;
    for (int c = 0; c < MECHD_FMU_CAUSALITIES; c++) {
        out->at[c] = calloc(count[c] + 1, sizeof *out->at[c]);
        rc = out->at[c] == NULL ? MECH_NO_MEMORY : rc;
    }
    for (size_t k = 0; rc == 0 && k < d->variable_count; k++) {
        rc = add(d, &d->variables[k], out, diag);
    }
    if (rc != 0) {
        mechd_fmu_channels_fini(out);
    }
    return rc;
}

void mechd_fmu_channels_fini(struct mechd_fmu_channels *c)
{
    for (int k = 0; k < MECHD_FMU_CAUSALITIES; k++) {
        free(c->at[k]);
    }
    *c = (struct mechd_fmu_channels){.count = {0}};
}

int32_t mechd_fmu_channels_find(const struct mechd_fmu_channels *c, enum mech_causality causality,
                                const char *name)
{
    for (size_t k = 0; (int)causality < (int)MECHD_FMU_CAUSALITIES && k < c->count[causality];
         k++) {
        if (strcmp(c->at[causality][k].v.name, name) == 0) {
            return (int32_t)k;
        }
    }
    return -1;
}

void mechd_fmu_channels_start(const struct mechd_fmu_channels *c, enum mech_causality causality,
                              double *out)
{
    for (size_t k = 0; k < c->count[causality]; k++) {
        const struct mechd_fmu_channel *const x = &c->at[causality][k];
        for (int32_t j = 0; j < x->v.size; j++) {
            // one start value may stand for all elements
            const size_t at = x->of->start_count == 1 ? 0 : (size_t)j;
            out[x->v.offset + j] = at < x->of->start_count ? x->of->start[at] : 0.;
        }
    }
}

bool mechd_fmu_channel_takes(const struct mechd_fmu_channel *c, double value, const char *path,
                             struct mech_diag *diag)
{
    double low = 0., high = 0.;
    mechd_fmu_type_range(c->of->type, &low, &high);
    if (!isfinite(value)) {
        mech_diag_add(diag, path, "must be finite");
    } else if (low != high && value != floor(value)) {
        mech_diag_add(diag, path, "%.64s is of type %s: a whole number is needed", c->v.name,
                      mechd_fmu_type_name(c->of->type));
    } else if (low != high && !(value >= low && value <= high && value < 0x1p63)) {
        mech_diag_add(diag, path, "%.64s is of type %s: %.17g is outside its range", c->v.name,
                      mechd_fmu_type_name(c->of->type), value);
    } else if (c->of->type == MECHD_FMU_FLOAT32 && fabs(value) > FLT_MAX) {
        mech_diag_add(diag, path, "%.64s is of type Float32: %.17g is outside its range", c->v.name,
                      value);
    } else if (value < c->of->minimum || value > c->of->maximum) {
        mech_diag_add(diag, path, "%.17g is outside the limits of %.64s in the model description",
                      value, c->v.name);
    } else {
        return true;
    }
    return false;
}

/* --- conversions ------------------------------------------------------------------------------ */

#define MECHD_FMU_TYPE(symbol, name2, name3, low, high)

size_t mechd_fmu_element(enum mechd_fmu_type type)
{
    switch (type) {
#define MECHD_FMU_NUMBER(symbol, name2, name3, low, high, element, function)                       \
    case MECHD_FMU_##symbol:                                                                       \
        return sizeof(element);
#include "server/engine/fmu_types.def"
    default:
        return 0;
    }
}

void mechd_fmu_encode(enum mechd_fmu_type type, const double *values, size_t n, void *elements)
{
    switch (type) {
#define MECHD_FMU_NUMBER(symbol, name2, name3, low, high, element, function)                       \
    case MECHD_FMU_##symbol:                                                                       \
        for (size_t k = 0; k < n; k++) {                                                           \
            const element x = (element)values[k];                                                  \
            memcpy((char *)elements + k * sizeof x, &x, sizeof x);                                 \
        }                                                                                          \
        break;
#include "server/engine/fmu_types.def"
    default:
        break;
    }
}

void mechd_fmu_decode(enum mechd_fmu_type type, const void *elements, size_t n, double *values)
{
    // any byte may come from the process, a bool has two values
    for (size_t k = 0; type == MECHD_FMU_BOOLEAN && k < n; k++) {
        values[k] = ((const unsigned char *)elements)[k] != 0;
    }
    switch (type == MECHD_FMU_BOOLEAN ? MECHD_FMU_TYPES : type) {
#define MECHD_FMU_NUMBER(symbol, name2, name3, low, high, element, function)                       \
    case MECHD_FMU_##symbol:                                                                       \
        for (size_t k = 0; k < n; k++) {                                                           \
            element x;                                                                             \
            memcpy(&x, (const char *)elements + k * sizeof x, sizeof x);                           \
            values[k] = (double)x;                                                                 \
        }                                                                                          \
        break;
#include "server/engine/fmu_types.def"
    default:
        break;
    }
}
#undef MECHD_FMU_TYPE

bool mechd_fmu_channel_has_slopes(const struct mechd_fmu_channel *c)
{
    return (c->of->type == MECHD_FMU_FLOAT64 || c->of->type == MECHD_FMU_FLOAT32) &&
           c->of->variability == MECHD_FMU_CONTINUOUS;
}

bool mechd_fmu_channel_is_within(const struct mechd_fmu_channel *c)
{
    return mechd_fmu_channel_has_slopes(c) && c->of->within;
}
