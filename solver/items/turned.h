/* Angles between two frames whose bodies turn about one axis by coordinates that count turns:
 * bodies in the plane, rotors on one axis, the ground. The coordinates say which of the angles of a
 * rotation is meant, whatever it was before: that to which it comes as the coordinates go from the
 * reference configuration to where they are.
 *
 *     E(u) = A₀ᵀ exp(u a) A₁,   u = ±u₁ − ±u₀
 *
 * A_s the frames in the reference, a the axis, u_s the displacement of the angle of body s, whose
 * own axis is ±a. While the model is compiled the angles φ of E are followed through one turn of u,
 * from the smallest ones at u = 0, and stored at knots: φ(u + 2π) = φ(u) + whole turns. Later the
 * angles are those nearest to φ at the nearest knot (so3.h), so that it does not matter how far the
 * frames are tilted against the axis. Of half a turn in the reference, to 1e-9, φ has the sign with
 * which it is the smaller one at the start.
 *
 * Angles are not unique where an axis of one frame lies on one of the other, and change the faster
 * the nearer the path comes to it. It goes through within 2e-6 rad; from 0.006 on there are as many
 * knots as it needs; what lies between is not decided, and has a warning.
 *
 * Axes of two bodies count as one up to 0.1 rad: the turns of angles between them are those that
 * they would have on one axis. Bodies in space have no coordinates that count turns. Immutable. */
#pragma once

#include "solver/items/ops.h"

struct mech_angles {
    /* Angles [3] of a rotation matrix (by rows), nearest to `last`; 0: none were kept. Those that
     * there are not are 0. */
    void (*near)(const double rotation[9], const double last[3], double angles[3]);
    /* Not unique where z of the second frame is opposite to this axis of the first; `both`: also
     * where it is along. */
    int column;
    bool both;
};

/* The angle about the z axes of both frames: angles[0], not a number where these point against each
 * other. */
extern const struct mech_angles mech_angles_twist;
/* so3.h */
extern const struct mech_angles mech_angles_tait_bryan;

struct mech_turned;

/* Of two frames with these rotations (by rows) in those of the markers. *out lives in the arena, or
 * is NULL: coordinates do not determine the turns; at->warning says so where that matters. 0,
 * or negative: no memory. */
int mech_turned_new(const struct mech_angles *angles, const double rotation[2][9],
                    struct mech_settling *at, const struct mech_turned **out);
/* Warning at->warning for a rotation vector that no coordinates count: it is wound at the start. */
void mech_turned_tell(const double rotation[2][9], struct mech_settling *at);
/* The axis in space (length 1) that both bodies turn about within 1e-6, to which frames are given;
 * false: there is none. */
bool mech_turned_axis(const struct mech_pose *const reference[2], double axis[3]);
/* φ at the knot nearest to these poses: what the angles are the nearest to. */
void mech_turned_last(const struct mech_turned *t, const struct mech_pose *const pose[2],
                      double last[3]);
