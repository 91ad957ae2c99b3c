/* What point masses in the plane and in space share: M = m 1, J = 1; all points move as the node
 * does. */
#pragma once

#include "solver/items/body/body.h"

#include <stddef.h>

struct mech_mass_point {
    struct mech_ref node;
    double mass; /* kg */
    struct mech_items geometry;
    struct mech_visualization visualization;
};
extern const struct mech_field mech_mass_point_fields[];
enum { MECH_MASS_POINT_FIELDS = 4 };

void mech_mass_point_nodes(const void *description, struct mech_attachment *out);
double mech_mass_point_mass(const void *description, double center[3]);
/* With `n` coordinates; else as the operations of struct mech_object_ops. */
int mech_mass_point_linear(const void *description, int32_t n, struct mech_terms *terms);
void mech_mass_point_jacobian(int32_t n, double J[6][MECH_MARKER_SLOTS], double R[9]);
void mech_mass_point_pose(const struct mech_seat *seat, const struct mech_eval *e, int32_t n,
                          const double local[3], struct mech_pose *out);

#define MECH_MASS_POINT_OPERATIONS                                                                 \
    .body = true, .nodes = mech_mass_point_nodes, .mass = mech_mass_point_mass,                    \
    .outputs = MECH_POINT_OUTPUTS | 1u << MECH_OUTPUT_ROTATION_MATRIX, .output = mech_pose_output, \
    .geometry = offsetof(struct mech_mass_point, geometry),                                        \
    .visualization = offsetof(struct mech_mass_point, visualization)
