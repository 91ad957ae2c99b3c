/* What the markers on bodies share. */
#pragma once

#include "solver/items/ops.h"

/* The map of a point of a body; see struct mech_marker_ops. */
const char *mech_marker_body_map(const struct mech_seat *seat, const double local[3],
                                 struct mech_marker_map *out, const char **field);
/* The pose of a point of a body; see struct mech_marker_ops. */
void mech_marker_body_pose(const struct mech_seat *seat, const struct mech_eval *e,
                           const double local[3], struct mech_pose *out);

/* What markers at a local position are described by, and their operations. */
struct mech_marker_on_body {
    struct mech_ref object;
    double local[3]; /* m, in the body's frame */
};
extern const struct mech_field mech_marker_on_body_fields[];
enum { MECH_MARKER_ON_BODY_FIELDS = 2 };
const struct mech_ref *mech_marker_on_body_seat(const void *description,
                                                enum mech_category *category);
const char *mech_marker_on_body_map(const void *description, const struct mech_seat *on,
                                    struct mech_marker_map *out, const char **field);
void mech_marker_on_body_pose(const void *description, const struct mech_seat *on,
                              const struct mech_eval *e, struct mech_pose *out);
