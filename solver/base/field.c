/* Field tables: look-up by name, and defaults. */
#include "solver/base/field.h"

#include <string.h>

const struct mech_field *mech_table_find(const struct mech_table *table, const char *name)
{
    for (size_t i = 0; i < table->count; i++) {
        if (strcmp(table->fields[i].name, name) == 0) {
            return &table->fields[i];
        }
    }
    return NULL;
}

bool mech_field_has_range(const struct mech_field *f)
{
    return f->min < 0. || f->min > 0. || f->max < 0. || f->max > 0.;
}

bool mech_field_admits(const struct mech_field *f, double value)
{
    if (!isfinite(value) || !mech_field_has_range(f)) {
        return isfinite(value);
    }
    const bool above = value > f->min || (value >= f->min && (f->flags & MECH_ABOVE_MIN) == 0);
    const bool below = value < f->max || (value <= f->max && (f->flags & MECH_BELOW_MAX) == 0);
    return above && below;
}

void mech_table_defaults(const struct mech_table *table, void *at)
{
    for (size_t i = 0; i < table->count; i++) {
        const struct mech_field *const f = &table->fields[i];
        void *const member = (unsigned char *)at + f->offset;
        switch (f->kind) {
        case MECH_BOOL:
            *(bool *)member = f->preset != 0.;
            break;
        case MECH_INT:
        case MECH_CHOICE:
            *(int32_t *)member = (int32_t)f->preset;
            break;
        case MECH_REAL:
            *(double *)member = f->preset;
            break;
        case MECH_REALS:
            if (f->presets) {
                memcpy(member, f->presets, f->count * sizeof(double));
            }
            break;
        case MECH_REF:
            ((struct mech_ref *)member)->index = -1;
            break;
        case MECH_STRUCT:
            mech_table_defaults(f->table, member);
            break;
        case MECH_SHARED:
            ((struct mech_shared *)member)->index = -1;
            mech_table_defaults(f->table, (struct mech_shared *)member + 1);
            break;
        // these stay empty until they are read
        case MECH_VECTOR:
        case MECH_MATRIX:
        case MECH_STRING:
        case MECH_REFS:
        case MECH_VALUES:
        case MECH_FORMULA:
        case MECH_STRUCTS:
        case MECH_ITEMS:
        case MECH_VARIANT:
        case MECH_PARAMETERS:
            break;
        }
    }
}
