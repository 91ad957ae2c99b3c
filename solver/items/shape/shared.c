/* What all shapes share: frames, and the way from a description to a compiled shape. */
#include "solver/base/err.h"
#include "solver/items/shape/fields.h"
#include "solver/linalg/so3.h"

#include <math.h>
#include <stdio.h>

void mech_shape_frame(const struct mech_shape_place *place, double p[3], double R[9])
{
    for (int i = 0; i < 3; i++) {
        p[i] = place->position[i];
    }
    mech_so3_from_angles(place->rotation, R);
}

void mech_shape_above(double length, const char *path, const char *key, struct mech_diag *d)
{
    if (!(isfinite(length) && length > 0.)) {
        char place[MECH_DIAG_PATH];

        snprintf(place, sizeof place, "%s/%s", path, key);
        mech_diag_add(d, place, "must be finite and above 0, is %.6g", length);
    }
}

static void check_place(const struct mech_shape_place *place, const char *path, struct mech_diag *d)
{
    static const char *const keys[] = {"position", "rotation"};
    const double *const values[] = {place->position, place->rotation};

    for (int k = 0; k < 2; k++) {
        for (int i = 0; i < 3; i++) {
            if (!isfinite(values[k][i])) {
                char at[MECH_DIAG_PATH];

                snprintf(at, sizeof at, "%s/%s/%d", path, keys[k], i);
                mech_diag_add(d, at, "must be finite");
            }
        }
    }
}

int mech_shape_build(const struct mech_item_type *type, const void *description,
                     struct mech_arena *arena, const char *path, struct mech_diag *d,
                     struct mech_shape *out)
{
    *out = (struct mech_shape){.type = type, .ops = type->ops.shape};
    check_place(description, path, d);
    return type->ops.shape->build(description, arena, path, d, out);
}
