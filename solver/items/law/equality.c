/* Equality: ẏ⁺ = 0 at the end of every step, whatever impulse that takes (as Siconos'
 * EqualityConditionNSL at velocity level). Between systems of first order y = 0. */
#include "solver/items/ops.h"

struct equality {
    char empty; /* the law has no fields */
};

static void contact(const void *description, struct mech_contact_law *out)
{
    (void)description;
    *out = (struct mech_contact_law){.kind = MECH_LAW_EQUALITY, .rows = 1};
}

static const struct mech_law_ops ops = {.contact = contact};

const struct mech_item_type mech_item_law_equality = {
    .name = "Equality",
    .category = MECH_LAW,
    .table = {.name = "Equality",
              .doc = "Keeps the velocities of its relation's rows at zero; between first-order "
                     "systems the rows themselves.",
              .size = sizeof(struct equality),
              .fields = NULL,
              .count = 0},
    .ops.law = &ops,
};
