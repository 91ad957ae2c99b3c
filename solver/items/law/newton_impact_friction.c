/* NewtonImpactFriction: a unilateral contact with Newton's restitution on its normal row and
 * Coulomb's friction on its tangential rows, ‖p_T‖ ≤ μ p_N. The rows of H stand contact by contact:
 * N, T in the plane, N, T1, T2 in space. */
#include "solver/items/ops.h"

#include <stddef.h>

struct newton_impact_friction {
    double en, et, mu;
    int32_t dimension;
};

static void contact(const void *description, struct mech_contact_law *out)
{
    const struct newton_impact_friction *const law = description;

    *out = (struct mech_contact_law){.kind = MECH_LAW_FRICTION,
                                     .rows = law->dimension,
                                     .e = {law->en, law->et, law->et},
                                     .mu = law->mu};
}

static const struct mech_field fields[] = {
    {.name = "dimension",
     .kind = MECH_INT,
     .offset = offsetof(struct newton_impact_friction, dimension),
     .preset = 3.,
     .min = 2.,
     .max = 3.,
     .doc = "rows of a contact, the normal first: 2 in the plane, 3 in space"},
    {.name = "en",
     .kind = MECH_REAL,
     .offset = offsetof(struct newton_impact_friction, en),
     .unit = "",
     .preset = 0.,
     .min = 0.,
     .max = 1.,
     .doc = "coefficient of restitution along the normal"},
    {.name = "et",
     .kind = MECH_REAL,
     .offset = offsetof(struct newton_impact_friction, et),
     .unit = "",
     .preset = 0.,
     .min = 0.,
     .max = 1.,
     .doc = "coefficient of restitution along the tangents"},
    {.name = "mu",
     .kind = MECH_REAL,
     .offset = offsetof(struct newton_impact_friction, mu),
     .flags = MECH_REQUIRED,
     .unit = "",
     MECH_NOT_NEGATIVE,
     .doc = "coefficient of friction"},
};

static const struct mech_law_ops ops = {.contact = contact};

const struct mech_item_type mech_item_law_newton_impact_friction = {
    .name = "NewtonImpactFriction",
    .category = MECH_LAW,
    .table = {.name = "NewtonImpactFriction",
              .doc = "A unilateral contact with Newton's restitution and Coulomb's friction.",
              .size = sizeof(struct newton_impact_friction),
              MECH_FIELDS(fields)},
    .ops.law = &ops,
};
