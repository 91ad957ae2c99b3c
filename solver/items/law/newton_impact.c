/* NewtonImpact: a unilateral contact with Newton's restitution, ẏ⁺ ≥ −e ẏ⁻ while y ≤ 0; or, with a
 * compliance s, one that pushes back as a spring and a damper do while they press,
 *
 *     0 ≤ f ⊥ y + s (f + d ẏ) ≥ 0,   f = max(0, −y/s − d ẏ)
 *
 * whose rebound is that of its damping: e has no place beside it. */
#include "solver/items/ops.h"

#include <stddef.h>
#include <stdio.h>

struct newton_impact {
    double e, compliance, damping;
};

static void contact(const void *description, struct mech_contact_law *out)
{
    const struct newton_impact *const law = description;

    *out = (struct mech_contact_law){.kind = MECH_LAW_UNILATERAL,
                                     .rows = 1,
                                     .e = {law->e},
                                     .compliance = law->compliance,
                                     .damping = law->damping};
}

static void check(const void *description, const char *path, struct mech_diag *d)
{
    const struct newton_impact *const law = description;
    char place[MECH_DIAG_PATH + 12];

    if (law->compliance > 0. && law->e > 0.) {
        snprintf(place, sizeof place, "%s/e", path);
        mech_diag_add(d, place,
                      "must be 0 with a compliance, whose damping determines the rebound");
    }
    if (law->compliance == 0. && law->damping > 0.) {
        snprintf(place, sizeof place, "%s/damping", path);
        mech_diag_add(d, place, "needs a compliance");
    }
}

static const struct mech_field fields[] = {
    {.name = "compliance",
     .kind = MECH_REAL,
     .offset = offsetof(struct newton_impact, compliance),
     .unit = "m/N",
     MECH_NOT_NEGATIVE,
     .doc = "compliance of the contact; 0: rigid"},
    {.name = "damping",
     .kind = MECH_REAL,
     .offset = offsetof(struct newton_impact, damping),
     .unit = "N s/m",
     MECH_NOT_NEGATIVE,
     .doc = "damping of a compliant contact under compression"},
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
              .doc = "A unilateral contact with Newton's restitution, or a compliant one.",
              .size = sizeof(struct newton_impact),
              MECH_FIELDS(fields)},
    .check = check,
    .ops.law = &ops,
};
