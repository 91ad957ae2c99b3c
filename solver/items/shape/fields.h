/* What the tables of all shapes share: their fields are sorted by name, so each brings its own
 * between these. */
#pragma once

#include "solver/items/shape/shape.h"

#include <stddef.h>

#define MECH_SHAPE_BITS 2147483647

#define MECH_SHAPE_CATEGORY                                                                        \
    {                                                                                              \
        .name = "category", .kind = MECH_INT,                                                      \
        .offset = offsetof(struct mech_shape_place, category), .preset = 1., .min = 0.,            \
        .max = MECH_SHAPE_BITS,                                                                    \
        .doc = "bits of the shape's categories; two shapes touch if the mask of each "             \
               "contains a category of the other",                                                 \
    }
#define MECH_SHAPE_GROUP                                                                           \
    {                                                                                              \
        .name = "group", .kind = MECH_INT, .offset = offsetof(struct mech_shape_place, group),     \
        .min = -MECH_SHAPE_BITS, .max = MECH_SHAPE_BITS,                                           \
        .doc = "shapes of the same group always touch if it is above 0, never if below 0; 0: no "  \
               "group",                                                                            \
    }
#define MECH_SHAPE_MASK                                                                            \
    {                                                                                              \
        .name = "mask", .kind = MECH_INT, .offset = offsetof(struct mech_shape_place, mask),       \
        .preset = MECH_SHAPE_BITS, .min = 0., .max = MECH_SHAPE_BITS,                              \
        .doc = "bits of the categories that the shape may touch",                                  \
    }
#define MECH_SHAPE_MATERIAL                                                                        \
    {                                                                                              \
        .name = "material", .kind = MECH_SHARED,                                                   \
        .offset = offsetof(struct mech_shape_place, common), .table = &mech_material_table,        \
        .doc = "material of the surface",                                                          \
    }
#define MECH_SHAPE_POSITION                                                                        \
    {                                                                                              \
        .name = "position", .kind = MECH_REALS,                                                    \
        .offset = offsetof(struct mech_shape_place, position), .count = 3, .unit = "m",            \
        MECH_ANY_REAL, .doc = "origin of the shape's frame in the body's",                         \
    }
#define MECH_SHAPE_ROTATION                                                                        \
    {                                                                                              \
        .name = "rotation", .kind = MECH_REALS,                                                    \
        .offset = offsetof(struct mech_shape_place, rotation), .count = 3, .unit = "rad",          \
        MECH_ANY_REAL, .doc = "Tait-Bryan angles of the shape's frame in the body's",              \
    }

/* A fault at path/key unless the length is finite and above 0. */
void mech_shape_above(double length, const char *path, const char *key, struct mech_diag *d);
