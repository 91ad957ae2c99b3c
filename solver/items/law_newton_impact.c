/* NewtonImpact: a unilateral contact with Newton's restitution, ẏ⁺ ≥ −e ẏ⁻ while y ≤ 0. */
#include "solver/items/ops.h"

#include <stddef.h>

struct newton_impact {
    double e;
};

static void contact(const void *description, struct mech_contact_law *out)
{
    const struct newton_impact *const law = description;

    *out = (struct mech_contact_law){.kind = MECH_LAW_UNILATERAL, .rows = 1, .e = {law->e}};
}

static const struct mech_field fields[] = {
    {.name = "e",
     .kind = MECH_REAL,
     .offset = offsetof(struct newton_impact, e),
     .unit = "",
     .preset = 0.,
     .min = 0.,
     .max = 1.,
     .doc = "coefficient of restitution"},
};

static const struct mech_law_ops ops = {.contact = contact};

const struct mech_item_type mech_item_law_newton_impact = {
    .name = "NewtonImpact",
    .category = MECH_LAW,
    .table = {.name = "NewtonImpact",
              .doc = "A unilateral contact with Newton's restitution.",
              .size = sizeof(struct newton_impact),
              MECH_FIELDS(fields)},
    .ops.law = &ops,
};
