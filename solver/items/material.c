/* Materials: their fields, and two of them together. */
#include "solver/items/material.h"

#include <math.h>
#include <stddef.h>

struct mech_material mech_material_pair(const struct mech_material *a,
                                        const struct mech_material *b)
{
    return (struct mech_material){
        .friction = fmin(a->friction, b->friction),
        .rolling = fmin(a->rolling, b->rolling),
        .spinning = fmin(a->spinning, b->spinning),
        .restitution = fmin(a->restitution, b->restitution),
        .compliance = a->compliance + b->compliance,
        .damping = fmin(a->damping, b->damping),
    };
}

static const struct mech_field fields[] = {
    {.name = "compliance",
     .kind = MECH_REAL,
     .offset = offsetof(struct mech_material, compliance),
     .unit = "m/N",
     MECH_NOT_NEGATIVE,
     .doc = "compliance of a contact; two materials in contact: the sum"},
    {.name = "damping",
     .kind = MECH_REAL,
     .offset = offsetof(struct mech_material, damping),
     .unit = "N s/m",
     MECH_NOT_NEGATIVE,
     .doc = "damping of a compliant contact; two materials in contact: the smaller"},
    {.name = "friction",
     .kind = MECH_REAL,
     .offset = offsetof(struct mech_material, friction),
     .unit = "",
     .preset = 0.6,
     MECH_NOT_NEGATIVE,
     .doc = "coefficient of friction; two materials in contact: the smaller"},
    {.name = "name",
     .kind = MECH_STRING,
     .offset = offsetof(struct mech_material, name),
     .doc = "name in the document's list of materials"},
    {.name = "restitution",
     .kind = MECH_REAL,
     .offset = offsetof(struct mech_material, restitution),
     .unit = "",
     .min = 0.,
     .max = 1.,
     .doc = "coefficient of restitution; two materials in contact: the smaller"},
    {.name = "rollingFriction",
     .kind = MECH_REAL,
     .offset = offsetof(struct mech_material, rolling),
     .unit = "m",
     MECH_NOT_NEGATIVE,
     .doc = "coefficient of rolling friction: torque per normal force; two materials in contact: "
            "the smaller"},
    {.name = "spinningFriction",
     .kind = MECH_REAL,
     .offset = offsetof(struct mech_material, spinning),
     .unit = "m",
     MECH_NOT_NEGATIVE,
     .doc = "coefficient of spinning friction: torque about the normal per normal force; two "
            "materials in contact: the smaller"},
};
const struct mech_table mech_material_table = {.name = "Material",
                                               .doc = "Contact properties of a surface.",
                                               .size = sizeof(struct mech_material),
                                               MECH_FIELDS(fields)};
