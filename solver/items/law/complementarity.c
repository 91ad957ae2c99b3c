/* Complementarity: 0 ≤ y ⊥ λ ≥ 0 between systems of first order, as an ideal diode has it with its
 * blocked voltage for y and its current for λ (Siconos' ComplementarityConditionNSL). */
#include "solver/items/ops.h"

struct complementarity {
    char empty; /* the law has no fields */
};

static void contact(const void *description, struct mech_contact_law *out)
{
    (void)description;
    *out = (struct mech_contact_law){.kind = MECH_LAW_COMPLEMENTARITY, .rows = 1};
}

static const struct mech_law_ops ops = {.contact = contact};

const struct mech_item_type mech_item_law_complementarity = {
    .name = "Complementarity",
    .category = MECH_LAW,
    .table = {.name = "Complementarity",
              .doc = "Neither y nor its multiplier is negative, and one of them is 0: a diode.",
              .size = sizeof(struct complementarity),
              .fields = NULL,
              .count = 0},
    .ops.law = &ops,
};
