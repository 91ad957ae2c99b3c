/* Joints made of two kinds of equations between frames 0 and 1, d = p₁ − p₀:
 *
 *     SLIDE   a · d = 0     a fixed in space, or to the frame of one marker
 *     DOT     a · b = 0     a fixed to marker 0, b to marker 1
 *
 * A joint fills the rows; everything else is here. */
#pragma once

#include "solver/items/connector/pair.h"

struct mech_joint_row {
    bool dot;
    int32_t side;      /* SLIDE: marker to which a is fixed, −1: fixed in space */
    double a[3], b[3]; /* in the frames of their markers */
};

struct mech_joint_record {
    int32_t n;
    struct mech_joint_row row[MECH_PAIR_ROWS];
    double frame[9]; /* of joint forces, in the frame of marker 0 */
};

void mech_joint_rows_residual(void *record, double t, const struct mech_pose *const pose[2],
                              double *g);
void mech_joint_rows_jacobian(void *record, const struct mech_pose *const pose[2], double G[][12]);
void mech_joint_rows_rate(void *record, double t, const struct mech_pose *const pose[2], double *gt,
                          double *bias);
void mech_joint_rows_stiffness(void *record, const struct mech_pose *const pose[2],
                               const double *lambda, double Wx[12][12]);

/* For speed, of rows that are DOT, or SLIDE not fixed to marker 1; the curvature's not in space. */
bool mech_joint_rows_frames(void *record, const struct mech_pose *const pose[2], double *g,
                            double *G);
uint32_t mech_joint_rows_curvature(void *record, const struct mech_pose *const pose[2],
                                   const double *lambda, double T[12][12]);

/* Outputs of joints: Force and Torque, what marker 0 gets (a positive force pulls, as Exudyn's
 * multipliers), global axes; ForceLocal and TorqueLocal in the joint's frame there; Displacement,
 * Velocity, ConstraintEquation. An `output` operation of objects: the description is not read. */
int mech_joint_rows_output(const void *description, const struct mech_view *view,
                           enum mech_output variable, size_t capacity, double *values,
                           size_t *count);
enum {
    MECH_JOINT_OUTPUTS = 1u << MECH_OUTPUT_DISPLACEMENT | 1u << MECH_OUTPUT_VELOCITY |
                         1u << MECH_OUTPUT_FORCE | 1u << MECH_OUTPUT_TORQUE |
                         1u << MECH_OUTPUT_FORCE_LOCAL | 1u << MECH_OUTPUT_TORQUE_LOCAL |
                         1u << MECH_OUTPUT_CONSTRAINT_EQUATION
};

/* The description of joints in space; types that fix the axes leave those fields out. */
struct mech_joint_frame {
    struct mech_refs markers;
    bool active;
    double axes[6];                    /* 1: held; three translations, three rotations */
    double rotation0[9], rotation1[9]; /* of the joint in the frames of the markers, by rows */
};
void mech_joint_frame_markers(const void *description, struct mech_attachment *out);
/* A fault at /rotationMarker0, /rotationMarker1 unless R0, R1 are rotations. */
void mech_joint_rotations_check(const double R0[9], const double R1[9], const char *path,
                                struct mech_diag *d);
/* The same for a joint's description. */
void mech_joint_frame_check(const void *description, const char *path, struct mech_diag *d);
int mech_joint_frame_record(const struct mech_joint_frame *description, const int32_t axes[6],
                            struct mech_joint_record *record);

/* Joints of one axis: five motions of the frame are held (`held` of their operations), one is free.
 * A type is its axes and its text, between the same operations and the same fields. */
int mech_joint_axis_record(const void *description, const struct mech_site *site, void *record);
int32_t mech_joint_axis_rows(const void *description);

#define MECH_FIELD_ROTATION(type, member, key, which)                                              \
    {                                                                                              \
        .name = key, .kind = MECH_REALS, .offset = offsetof(struct type, member), .count = 9,      \
        .columns = 3, .unit = "", .presets = mech_identity3, .min = -1.000001, .max = 1.000001,    \
        .doc = "rotation of the joint's frame in that of the " which " marker"                     \
    }
#define MECH_JOINT_FIELD_ROTATION(member, key, which)                                              \
    MECH_FIELD_ROTATION(mech_joint_frame, member, key, which)

/* The second is for rows that are all SLIDE and fixed in space: G does not depend on the poses. */
/* active, markers, rotationMarker0, rotationMarker1: of types that fix the axes */
extern const struct mech_field mech_joint_frame_fields[];
enum { MECH_JOINT_FRAME_FIELDS = 4 };

#define MECH_JOINT_ROWS_OPERATIONS                                                                 \
    MECH_JOINT_ROWS_FIXED, .stiffness = mech_joint_rows_stiffness,                                 \
                           .curvature = mech_joint_rows_curvature
#define MECH_JOINT_ROWS_FIXED                                                                      \
    .record_size = sizeof(struct mech_joint_record), .residual = mech_joint_rows_residual,         \
    .jacobian = mech_joint_rows_jacobian, .rate = mech_joint_rows_rate,                            \
    .frames = mech_joint_rows_frames

/* Of joints of one axis: the pair's operations, the object's, and what the type has besides. */
#define MECH_JOINT_AXIS_PAIR                                                                       \
    MECH_JOINT_ROWS_OPERATIONS, .record = mech_joint_axis_record, .rows = mech_joint_axis_rows
#define MECH_JOINT_AXIS_OBJECT                                                                     \
    .markers = mech_joint_frame_markers, .marker_kinds = 1u << MECH_MARKER_RIGID,                  \
    .outputs = MECH_JOINT_OUTPUTS, .output = mech_joint_rows_output
#define MECH_JOINT_AXIS_TYPE(title, what)                                                          \
    .category = MECH_OBJECT, .check = mech_joint_frame_check,                                      \
    .table = {.name = title,                                                                       \
              .doc = what " The displacement is the second marker less the first, in the "         \
                          "frame of the first.",                                                   \
              .size = sizeof(struct mech_joint_frame),                                             \
              .fields = mech_joint_frame_fields,                                                   \
              .count = MECH_JOINT_FRAME_FIELDS}
