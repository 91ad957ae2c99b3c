/* Angles by coordinates that count turns; see turned.h. */
#include "solver/items/turned.h"

#include "solver/base/err.h"
#include "solver/linalg/so3.h"

#include <math.h>
#include <string.h>

enum { KNOTS = 64 };

/* cosine up to which axes count as one */
static const double BESIDE = 0.995;

struct mech_turned {
    double sign[2]; /* of the displacements of both bodies in u; 0: does not turn */
    double turn[3]; /* what the angles grow by in a turn of u, rad */
    double knot[KNOTS][3];
};

void mech_twist_near(const double rotation[9], const double last[3], double angles[3])
{
    const double s = rotation[3] - rotation[1], c = rotation[0] + rotation[4];

    angles[0] = s == 0. && c == 0. ? NAN : mech_so3_near(atan2(s, c), last[0]);
    angles[1] = angles[2] = 0.;
}

/* The axis that both turn about, and how; false: there is none. */
static bool axis_of(const struct mech_pose *const pose[2], double axis[3], double sign[2])
{
    double own[2][3];
    int turning = 0;

    for (int s = 0; s < 2; s++) {
        const bool turns = pose[s]->n > 0;

        if (turns && !pose[s]->counted) {
            return false;
        }
        for (int i = 0; i < 3; i++) {
            own[s][i] = pose[s]->R[3 * i + 2];
        }
        sign[s] = turns ? 1. : 0.;
        turning += turns;
        if (turns) {
            memcpy(axis, own[s], sizeof own[s]);
        }
    }
    if (turning == 2) {
        const double along = mech_v3_dot(own[0], own[1]);

        sign[0] = copysign(1., along);
        turning = fabs(along) > BESIDE;
    }
    return turning > 0;
}

bool mech_turned_axis(const struct mech_pose *const reference[2], double axis[3])
{
    double along[3] = {0.}, sign[2];
    bool found = axis_of(reference, along, sign);
    const double length = mech_v3_norm(along);

    for (int i = 0; i < 3; i++) {
        axis[i] = found ? along[i] / length : 0.;
    }
    for (int s = 0; s < 2; s++) {
        const double *const R = reference[s]->R, own[3] = {R[2], R[5], R[8]};
        double tilt[3];

        mech_v3_cross(own, axis, tilt);
        found = found && (sign[s] == 0. || mech_v3_norm(tilt) < 1e-6);
    }
    return found;
}

int mech_turned_new(struct mech_arena *arena, const double rotation[2][9],
                    const struct mech_pose *const reference[2], mech_angles_of *angles,
                    const struct mech_turned **out)
{
    const double turn = 8. * atan(1.);
    double axis[3] = {0.}, sign[2], A[2][9], last[3] = {0.};

    *out = NULL;
    if (!axis_of(reference, axis, sign)) {
        return 0;
    }
    struct mech_turned *const t = mech_arena_alloc(arena, 1, sizeof *t);
    if (!t) {
        return MECH_NO_MEMORY;
    }
    memcpy(t->sign, sign, sizeof sign);
    for (int s = 0; s < 2; s++) {
        mech_m3_product(reference[s]->R, rotation[s], A[s]);
    }
    mech_m3_transpose(A[0], A[0]);

    // once round; what it comes back with are whole turns
    for (int k = 0; k <= KNOTS; k++) {
        double by[3] = {0.}, E[9];

        mech_v3_add(by, turn * k / KNOTS / mech_v3_norm(axis), axis, by);
        mech_so3_exp(by, E);
        mech_m3_product(E, A[1], E);
        mech_m3_product(A[0], E, E);
        angles(E, last, last);
        if (k < KNOTS) {
            memcpy(t->knot[k], last, sizeof last);
        }
    }
    for (int i = 0; i < 3; i++) {
        const double grown = last[i] - t->knot[0][i];

        t->turn[i] = turn * round(grown / turn);
        if (!(fabs(grown - t->turn[i]) < 1e-3)) { /* frames are given to 1e-6 */
            return 0;
        }
    }
    *out = t;
    return 0;
}

void mech_turned_last(const struct mech_turned *t, const struct mech_pose *const pose[2],
                      double last[3])
{
    const double knots = KNOTS / (8. * atan(1.));
    const double u = t->sign[1] * pose[1]->turned - t->sign[0] * pose[0]->turned;
    const double nearest = floor(u * knots + 0.5), whole = floor(nearest / KNOTS);
    const double left = nearest - KNOTS * whole;
    const int k = left > 0. && left < KNOTS ? (int)left : 0;

    for (int i = 0; i < 3; i++) {
        last[i] = whole * t->turn[i] + t->knot[k][i];
    }
}
