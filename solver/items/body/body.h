/* What bodies that move along or about one fixed axis share. */
#pragma once

#include "solver/items/document.h"
#include "solver/items/ops.h"

/* A body's reference frame and how it is drawn. */
struct mech_frame {
    double position[3]; /* m */
    double rotation[9]; /* by rows */
};

extern const double mech_identity3[9];

/* A fault under `path`/referenceRotation unless R is a rotation (RᵀR = 1, det 1, to 1e-6: what six
 * written digits give). */
void mech_frame_check(const struct mech_frame *frame, const char *path, struct mech_diag *d);

/* y = R x, R by rows. */
void mech_rotate(const double R[9], const double x[3], double y[3]);

/* Rotation matrix by rows of a node of kind MECH_NODE_RIGID whose coordinates are at q_slot:
 * position and a rotation vector, or Euler parameters. */
void mech_rigid_rotation(const int32_t *q_slot, bool vector, const double *q, double R[9]);

/* A fault under `path`/node unless the site has one second-order coordinate. */
void mech_fit_one_coordinate(const struct mech_site *site);

/* A fault under `path`/node unless the node is of that kind; `type` names one for people. */
void mech_fit_node(const struct mech_site *site, enum mech_node_kind kind, const char *type);

#define MECH_FRAME_FIELD_POSITION(type, member)                                                    \
    {                                                                                              \
        .name = "referencePosition", .kind = MECH_REALS,                                           \
        .offset = offsetof(struct type, member.position), .count = 3, .unit = "m", MECH_ANY_REAL,  \
        .doc = "global position of the body at coordinate 0"                                       \
    }
#define MECH_FRAME_FIELD_ROTATION(type, member)                                                    \
    {                                                                                              \
        .name = "referenceRotation", .kind = MECH_REALS,                                           \
        .offset = offsetof(struct type, member.rotation), .count = 9, .columns = 3, .unit = "",    \
        .presets = mech_identity3, .min = -1.000001, .max = 1.000001,                              \
        .doc = "constant rotation matrix from the body's to the global frame"                      \
    }
#define MECH_GEOMETRY_FIELD(type, member)                                                          \
    {                                                                                              \
        .name = "geometry", .kind = MECH_ITEMS, .offset = offsetof(struct type, member),           \
        .flags = MECH_NAMELESS, .target = MECH_SHAPE,                                              \
        .doc = "shapes by which the body touches others"                                           \
    }
#define MECH_VISUALIZATION_FIELD(type, member)                                                     \
    {                                                                                              \
        .name = "visualization", .kind = MECH_STRUCT, .offset = offsetof(struct type, member),     \
        .table = &mech_visualization_table, .doc = "graphics of the body"                          \
    }

enum {
    MECH_MOTION_OUTPUTS = 1u << MECH_OUTPUT_POSITION | 1u << MECH_OUTPUT_DISPLACEMENT |
                          1u << MECH_OUTPUT_VELOCITY | 1u << MECH_OUTPUT_ROTATION_MATRIX |
                          1u << MECH_OUTPUT_ROTATION | 1u << MECH_OUTPUT_ANGULAR_VELOCITY |
                          1u << MECH_OUTPUT_ANGULAR_VELOCITY_LOCAL
};
