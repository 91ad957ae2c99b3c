/* Materials: what two surfaces that touch do to each other.
 *
 * Of two that differ the smaller friction, rolling friction, spinning friction, restitution and
 * damping count, and the sum of the compliances. Defaults are those of Chrono's nonsmooth contact
 * material: friction 0.6, all else 0. */
#pragma once

#include "solver/items/item.h"

struct mech_material {
    const char *name;
    double friction;    /* μ ≥ 0 */
    double rolling;     /* m ≥ 0: torque against rolling per normal force */
    double spinning;    /* m ≥ 0: the same against spinning about the normal */
    double restitution; /* 0 to 1 */
    double compliance;  /* m/N ≥ 0 */
    double damping;     /* N s/m ≥ 0, beside the compliance */
};
extern const struct mech_table mech_material_table;

/* a and b together; no name. */
struct mech_material mech_material_pair(const struct mech_material *a,
                                        const struct mech_material *b);
