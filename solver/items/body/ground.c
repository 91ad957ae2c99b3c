/* Ground: a body that does not move. Forces on it have no effect. */
#include "solver/items/body/body.h"

#include <stddef.h>

struct ground {
    struct mech_frame frame;
    struct mech_items geometry;
    struct mech_visualization visualization;
};

static void check(const void *description, const char *path, struct mech_diag *d)
{
    mech_frame_check(&((const struct ground *)description)->frame, path, d);
}

static const char *jacobian(const void *description, const double local[3],
                            double J[6][MECH_MARKER_SLOTS], double R[9])
{
    const struct ground *b = description;

    (void)local;
    (void)J;
    for (int i = 0; i < 9; i++) {
        R[i] = b->frame.rotation[i];
    }
    return NULL;
}

static void pose(const void *description, const struct mech_seat *seat, const struct mech_eval *e,
                 const double local[3], struct mech_pose *out)
{
    const struct ground *b = description;

    (void)seat;
    (void)e;
    mech_rotate(b->frame.rotation, local, out->p);
    for (int i = 0; i < 3; i++) {
        out->p[i] += b->frame.position[i];
    }
    for (int i = 0; i < 9; i++) {
        out->R[i] = b->frame.rotation[i];
    }
}

static int output(const void *description, const struct mech_view *view, enum mech_output variable,
                  size_t capacity, double *values, size_t *count)
{
    const struct ground *b = description;
    struct mech_motion m = {.omega = {0.}};

    mech_rotate(b->frame.rotation, view->local, m.position);
    for (int i = 0; i < 3; i++) {
        m.position[i] += b->frame.position[i];
    }
    for (int i = 0; i < 9; i++) {
        m.rotation[i] = b->frame.rotation[i];
    }
    return mech_motion_output(&m, variable, capacity, values, count);
}

static const struct mech_field fields[] = {
    MECH_GEOMETRY_FIELD(ground, geometry),
    MECH_FRAME_FIELD_POSITION(ground, frame),
    MECH_FRAME_FIELD_ROTATION(ground, frame),
    MECH_VISUALIZATION_FIELD(ground, visualization),
};

static const struct mech_object_ops ops = {
    .pose = pose,
    .jacobian = jacobian,
    .outputs = MECH_MOTION_OUTPUTS,
    .output = output,
    .geometry = offsetof(struct ground, geometry),
    .visualization = offsetof(struct ground, visualization),
};

const struct mech_item_type mech_item_body_ground = {
    .name = "Ground",
    .category = MECH_OBJECT,
    .table = {.name = "Ground",
              .doc = "A body that does not move.",
              .size = sizeof(struct ground),
              MECH_FIELDS(fields)},
    .check = check,
    .ops.object = &ops,
};
