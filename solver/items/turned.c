/* Angles by coordinates that count turns; see turned.h. */
#include "solver/items/turned.h"

#include "solver/base/err.h"
#include "solver/linalg/so3.h"

#include <math.h>
#include <string.h>

enum { KNOTS = 64, MOST = 2048 };

/* cosine up to which axes count as one */
static const double BESIDE = 0.995;

/* behind the name of the object */
static const char APART[] = "connects bodies whose axes differ by more than 0.1 rad: their turns "
                            "at the start do not count in its angles, which are the smallest there";
static const char NOT_UNIQUE[] =
    "has angles that are not unique, or nearly so, at some turn of its bodies: the turns at the "
    "start do not count in them, which are the smallest there";
static const char WOUND[] = "is wound by more than half a turn at the start, where its rotation "
                            "vector is the shortest one: it counts more turns only if its frames "
                            "differ, to 1e-6, by a rotation about the axis of the bodies";

struct mech_turned {
    double sign[2]; /* of the displacements of both bodies in u; 0: does not turn */
    double turn[3]; /* what the angles grow by in a turn of u, rad */
    double shift;   /* u at the first knot, less than the distance of two */
    int count;
    double (*knot)[3]; /* [count] */
};

static void twist_near(const double rotation[9], const double last[3], double angles[3])
{
    const double s = rotation[3] - rotation[1], c = rotation[0] + rotation[4];

    angles[0] = s == 0. && c == 0. ? NAN : mech_so3_near(atan2(s, c), last[0]);
    angles[1] = angles[2] = 0.;
}

const struct mech_angles mech_angles_twist = {.near = twist_near, .column = 2};
const struct mech_angles mech_angles_tait_bryan = {
    .near = mech_so3_angles_near, .column = 0, .both = true};

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

/* Both turn by coordinates, one of them by more than half a turn at the start: what these say of
 * angles between axes that part is not known. */
static bool parted(const struct mech_settling *at)
{
    const double half = 4. * atan(1.);
    bool all = true;

    for (int s = 0; s < 2; s++) {
        all = all && (at->reference[s]->counted || at->reference[s]->n == 0);
    }
    return all && fmax(fabs(at->start[0]), fabs(at->start[1])) > half;
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

/* How near a turn of u comes to where the angles are not unique, which is where the z axis of the
 * second frame A[1] lies on an axis of the first, or against it: rad. *at: u there, or half a turn
 * from it. */
static double nearest_of(const struct mech_angles *angles, double A[2][9], const double axis[3],
                         double *at)
{
    const double half = 4. * atan(1.);
    double of[2][3], across[2][3], from[2], normal[3];

    for (int s = 0; s < 2; s++) {
        for (int i = 0; i < 3; i++) {
            of[s][i] = A[s][3 * i + (s ? 2 : angles->column)];
        }
        const double along = mech_v3_dot(of[s], axis);

        mech_v3_add(of[s], -along, axis, across[s]);
        from[s] = atan2(mech_v3_norm(across[s]), along);
    }
    mech_v3_cross(across[1], across[0], normal);
    *at = atan2(mech_v3_dot(normal, axis), mech_v3_dot(across[1], across[0]));
    const double against = fabs(half - from[0] - from[1]);

    return angles->both ? fmin(against, fabs(from[0] - from[1])) : against;
}

/* How many knots, between which angles change by less than 1 rad; 0: too many. Frames are given to
 * 1e-6: a path that is not farther goes through the point, midway between two knots. */
static int knots_of(double nearest)
{
    int count = KNOTS;

    while (nearest > 2e-6 && count <= MOST && count * nearest < 16. * atan(1.)) {
        count *= 2;
    }
    return count <= MOST ? count : 0;
}

/* A₀ᵀ exp(u a) A₁ */
static void turn_by(double u, double A[2][9], const double axis[3], double E[9])
{
    double by[3] = {0.};

    mech_v3_add(by, u, axis, by);
    mech_so3_exp(by, E);
    mech_m3_product(E, A[1], E);
    mech_m3_product_transposed(A[0], E, E);
}

static void last_at(const struct mech_turned *t, double u, double last[3])
{
    const double knots = t->count / (8. * atan(1.));
    const double nearest = floor((u - t->shift) * knots + 0.5), whole = floor(nearest / t->count);
    const double left = nearest - t->count * whole;
    const int k = left > 0. && left < t->count ? (int)left : 0;

    for (int i = 0; i < 3; i++) {
        last[i] = whole * t->turn[i] + t->knot[k][i];
    }
}

/* Once round; false: the angles are not followed. first: at u = 0 */
static bool follow(struct mech_turned *t, const struct mech_angles *angles, double A[2][9],
                   const double axis[3], double first[3])
{
    const double turn = 8. * atan(1.);
    double last[3] = {0.}, E[9];
    bool smooth = true;

    turn_by(0., A, axis, E);
    angles->near(E, last, first);
    memcpy(last, first, sizeof last);
    for (int k = 0; k <= t->count; k++) {
        double next[3];

        turn_by(t->shift + turn * k / t->count, A, axis, E);
        angles->near(E, last, next);
        for (int i = 0; i < 3; i++) {
            smooth = smooth && fabs(next[i] - last[i]) < 1.;
            last[i] = next[i];
        }
        if (k < t->count) {
            memcpy(t->knot[k], last, sizeof last);
        }
    }
    // what it comes back with are whole turns
    for (int i = 0; i < 3; i++) {
        const double grown = last[i] - t->knot[0][i];

        t->turn[i] = turn * round(grown / turn);
        smooth = smooth && fabs(grown - t->turn[i]) < 1e-3; /* frames are given to 1e-6 */
    }
    return smooth;
}

/* Half a turn in the reference is π or −π: what makes the angle at the start the smaller one. */
static void choose_sign(struct mech_turned *t, const struct mech_angles *angles, double u,
                        const double E[9], const double first[3])
{
    const double turn = 8. * atan(1.);
    double last[3], start[3];

    last_at(t, u, last);
    angles->near(E, last, start);
    for (int i = 0; i < 3; i++) {
        const double by = copysign(turn, first[i]);
        const bool half = fabs(2. * fabs(first[i]) - turn) < 2e-9;

        for (int k = 0; k < t->count && half && fabs(start[i] - by) < fabs(start[i]) - 1e-9; k++) {
            t->knot[k][i] -= by;
        }
    }
}

int mech_turned_new(const struct mech_angles *angles, const double rotation[2][9],
                    struct mech_settling *at, const struct mech_turned **out)
{
    double axis[3] = {0.}, sign[2], A[2][9], first[3], E[9], near = 0.;

    *out = NULL;
    if (!axis_of(at->reference, axis, sign)) {
        at->warning = parted(at) ? APART : NULL;
        return 0;
    }
    struct mech_turned *const t = mech_arena_alloc(at->arena, 1, sizeof *t);
    if (!t) {
        return MECH_NO_MEMORY;
    }
    const double length = mech_v3_norm(axis);
    for (int s = 0; s < 2; s++) {
        t->sign[s] = sign[s];
        mech_m3_product(at->reference[s]->R, rotation[s], A[s]);
    }
    for (int i = 0; i < 3; i++) {
        axis[i] /= length;
    }
    t->count = knots_of(nearest_of(angles, A, axis, &near));
    const double between = t->count ? 8. * atan(1.) / t->count : 1.;
    near = near / between + 0.5;
    t->shift = between * (near - floor(near));
    t->knot = mech_arena_alloc(at->arena, (size_t)t->count + 1, sizeof *t->knot);
    if (!t->knot) {
        return MECH_NO_MEMORY;
    }
    if (t->count == 0 || !follow(t, angles, A, axis, first)) {
        at->warning = NOT_UNIQUE;
        return 0;
    }
    const double u = sign[1] * at->start[1] - sign[0] * at->start[0];
    turn_by(u, A, axis, E);
    choose_sign(t, angles, u, E, first);
    *out = t;
    return 0;
}

void mech_turned_last(const struct mech_turned *t, const struct mech_pose *const pose[2],
                      double last[3])
{
    last_at(t, t->sign[1] * pose[1]->turned - t->sign[0] * pose[0]->turned, last);
}

void mech_turned_tell(const double rotation[2][9], struct mech_settling *at)
{
    const double turn = 8. * atan(1.);
    double axis[3] = {0.}, sign[2], A[2][9], E[9];

    if (!axis_of(at->reference, axis, sign)) {
        at->warning = parted(at) ? APART : NULL;
        return;
    }
    for (int s = 0; s < 2; s++) {
        mech_m3_product(at->reference[s]->R, rotation[s], A[s]);
    }
    // the rotation by φ has cos ½φ = a cos ½u + b sin ½u
    mech_m3_product_transposed(A[0], A[1], E);
    const double a = 0.5 * sqrt(fmax(0., 1. + E[0] + E[4] + E[8]));
    double R[9];
    mech_m3_transpose(A[0], R);
    mech_m3_product(A[1], R, R);
    const double twice[3] = {R[7] - R[5], R[2] - R[6], R[3] - R[1]};
    const double u = sign[1] * at->start[1] - sign[0] * at->start[0];
    const double b =
        a > 0. ? -0.25 * mech_v3_dot(twice, axis) / (a * mech_v3_norm(axis)) : copysign(1., u);

    at->warning = fabs(u) > turn || a * cos(0.5 * u) + b * sin(0.5 * u) < -1e-9 ? WOUND : NULL;
}
