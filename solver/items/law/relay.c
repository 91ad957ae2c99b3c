/* Relay: a force between two bounds that opposes ẏ⁺, such as dry friction of given strength: at the
 * upper bound while ẏ⁺ < 0, at the lower one while ẏ⁺ > 0, between them at rest. Between systems of
 * first order it is λ that opposes y, in the units of both. */
#include "solver/items/ops.h"

#include <stddef.h>
#include <stdio.h>

struct relay {
    double lb, ub;
};

static void contact(const void *description, struct mech_contact_law *out)
{
    const struct relay *const law = description;

    *out = (struct mech_contact_law){
        .kind = MECH_LAW_RELAY, .rows = 1, .lower = law->lb, .upper = law->ub};
}

static void check(const void *description, const char *path, struct mech_diag *d)
{
    const struct relay *const law = description;
    char place[MECH_DIAG_PATH + 8];

    if (law->lb > law->ub) {
        snprintf(place, sizeof place, "%s/lb", path);
        mech_diag_add(d, place, "%g is above ub, which is %g", law->lb, law->ub);
    }
}

static const struct mech_field fields[] = {
    {.name = "lb",
     .kind = MECH_REAL,
     .offset = offsetof(struct relay, lb),
     .unit = NULL,
     .preset = -1.,
     MECH_ANY_REAL,
     .doc = "smallest multiplier; a force in N between systems of second order"},
    {.name = "ub",
     .kind = MECH_REAL,
     .offset = offsetof(struct relay, ub),
     .unit = NULL,
     .preset = 1.,
     MECH_ANY_REAL,
     .doc = "largest multiplier"},
};

static const struct mech_law_ops ops = {.contact = contact};

const struct mech_item_type mech_item_law_relay = {
    .name = "Relay",
    .category = MECH_LAW,
    .table =
        {.name = "Relay",
         .doc = "A multiplier between two bounds, opposed to the velocity of its row, or, between "
                "first-order systems, to the value y of the row.",
         .size = sizeof(struct relay),
         MECH_FIELDS(fields)},
    .check = check,
    .ops.law = &ops,
};
