/* Poses of points and rigid frames, and the outputs that follow from them. */
#include "solver/base/err.h"
#include "solver/items/body/body.h"
#include "solver/items/marker/node.h"
#include "solver/linalg/so3.h"
#include "solver/linalg/v3.h"

#include <stdio.h>
#include <string.h>

void mech_point_pose(const struct mech_seat *seat, const struct mech_eval *e, int32_t n,
                     struct mech_pose *out)
{
    for (int32_t i = 0; i < n; i++) {
        out->p[i] = e->q[seat->q_slot[i]];
        out->v[i] = e->v[seat->slot[i]];
        out->J[i][i] = 1.;
    }
}

void mech_rigid_2d_pose(const struct mech_seat *seat, const struct mech_eval *e,
                        const double local[3], struct mech_pose *out)
{
    const double omega = e->v[seat->slot[2]];

    out->counted = true;
    out->angle = e->q[seat->q_slot[2]];
    out->turned = out->angle - e->q_ref[seat->q_slot[2]];
    if (out->like) {
        memcpy(out->R, out->like->R, sizeof out->R);
    } else {
        const double c = cos(out->angle), s = sin(out->angle);
        const double R[9] = {c, -s, 0., s, c, 0., 0., 0., 1.};

        memcpy(out->R, R, sizeof out->R);
    }
    out->kind = MECH_POSE_PLANE;
    out->arm[0] = out->R[0] * local[0] + out->R[1] * local[1];
    out->arm[1] = out->R[3] * local[0] + out->R[4] * local[1];
    out->arm[2] = local[2];
    out->p[2] = out->arm[2];
    for (int32_t i = 0; i < 2; i++) {
        const double turn = i == 0 ? -out->arm[1] : out->arm[0];

        out->p[i] = e->q[seat->q_slot[i]] + out->arm[i];
        out->v[i] = e->v[seat->slot[i]] + turn * omega;
        out->J[i][i] = 1.;
        out->J[i][2] = turn;
    }
    out->J[5][2] = 1.;
    out->omega[2] = omega;
}

void mech_rigid_rotation(const int32_t *q_slot, bool vector, const double *q, double R[9])
{
    double at[4], e[4];

    for (int i = 0; i < (vector ? 3 : 4); i++) {
        at[i] = q[q_slot[3 + i]];
    }
    if (vector) {
        mech_so3_parameters(at, e);
    }
    mech_so3_from_parameters(vector ? e : at, R);
}

/* J of a frame in space */
static void fill_space(struct mech_pose *pose)
{
    for (int i = 0; i < 3; i++) {
        const double axis[3] = {pose->R[i], pose->R[3 + i], pose->R[6 + i]};
        double turn[3];

        pose->J[i][i] = 1.;
        mech_v3_cross(axis, pose->arm, turn);
        for (int r = 0; r < 3; r++) {
            pose->J[r][3 + i] = turn[r];
            pose->J[3 + r][3 + i] = axis[r];
        }
    }
}

void mech_pose_complete(struct mech_pose *pose)
{
    if (pose->lean) {
        fill_space(pose);
        pose->lean = false;
    }
}

void mech_rigid_pose(const struct mech_seat *seat, const struct mech_eval *e, const double local[3],
                     struct mech_pose *out)
{
    double swing[3];

    if (out->like) {
        memcpy(out->R, out->like->R, sizeof out->R);
        memcpy(out->omega, out->like->omega, sizeof out->omega);
    } else {
        const double spin[3] = {e->v[seat->slot[3]], e->v[seat->slot[4]], e->v[seat->slot[5]]};

        mech_rigid_rotation(seat->q_slot, seat->nq == seat->n, e->q, out->R);
        mech_m3_mul(out->R, spin, out->omega);
    }
    out->kind = MECH_POSE_SPACE;
    mech_m3_mul(out->R, local, out->arm);
    mech_v3_cross(out->omega, out->arm, swing);
    for (int i = 0; i < 3; i++) {
        out->p[i] = e->q[seat->q_slot[i]] + out->arm[i];
        out->v[i] = e->v[seat->slot[i]] + swing[i];
    }
    if (!out->lean) {
        fill_space(out);
    }
}

void mech_rigid_node_pose(const void *description, const struct mech_seat *seat,
                          const struct mech_eval *e, struct mech_pose *out)
{
    static const double origin[3];

    (void)description;
    mech_rigid_pose(seat, e, origin, out);
}

const char *mech_marker_node_map(const struct mech_seat *seat, bool frame,
                                 struct mech_marker_map *out, const char **field)
{
    const struct mech_node_ops *const ops = seat->item->type->ops.node;
    const bool turns =
        ops->kind == MECH_NODE_RIGID_2D || ops->kind == MECH_NODE_RIGID || ops->flexible;

    *field = "node";
    if (!ops->pose || (frame && !turns)) {
        return frame ? "needs a node with a rotation" : "needs a node with a position";
    }
    out->n = seat->n;
    out->flexible = ops->flexible;
    out->moving = turns; /* the axes of a rotation turn; where they do not, nothing is lost */
    memcpy(out->R, mech_identity3, sizeof out->R);
    for (int32_t i = 0; i < seat->n && !ops->flexible; i++) {
        out->slot[i] = seat->slot[i];
        out->J[i][i] = turns ? 0. : 1.;
    }
    return NULL;
}

void mech_fit_node(const struct mech_site *site, enum mech_node_kind kind, const char *type)
{
    if (site->kind != kind) {
        char place[2 * MECH_DIAG_PATH];

        snprintf(place, sizeof place, "%s/node", site->path);
        mech_diag_add(site->diag, place, "needs a %s", type);
    }
}

/* --- outputs ---------------------------------------------------------------------------------- */

static int give(const double *from, size_t n, size_t capacity, double *values, size_t *count)
{
    *count = n;
    for (size_t i = 0; i < n && i < capacity; i++) {
        values[i] = from[i];
    }
    return 0;
}

void mech_pose_bias(const struct mech_pose *pose, double a[6])
{
    double swing[3];

    if (pose->flex) {
        memcpy(a, pose->flex->bias, sizeof pose->flex->bias);
        return;
    }

    mech_v3_cross(pose->omega, pose->arm, swing);
    mech_v3_cross(pose->omega, swing, a);
    a[3] = a[4] = a[5] = 0.;
}

/* Accelerations [6] of a pose, when v̇ is known. */
static bool accelerations(const struct mech_view *view, const struct mech_pose *now, double a[6])
{
    mech_pose_bias(now, a);
    for (int32_t k = 0; k < now->n && view->vdot; k++) {
        for (int r = 0; r < 6; r++) {
            const double J = now->flex ? now->flex->J[r * now->n + k] : now->J[r][k];

            a[r] += J * view->vdot[now->slot[k]];
        }
    }
    return view->vdot;
}

/* Tait–Bryan angles x of what turns about its own z axis: R = Rx(x₀) Ry(x₁) Rz(x₂), where only x₂
 * grows with its coordinate, or x₀ where x₁ is ±π/2. Their turns are those of the coordinate, from
 * the smallest angles of the frame in which it is measured; of half a turn, that to which the angle
 * at the start is the smaller one. */
static void count_turns(const struct mech_view *view, double x[3])
{
    const double half = 4. * atan(1.);
    const struct mech_pose *const now = view->pose[0], *const reference = view->pose[1];
    const bool locked = hypot(now->R[5], now->R[8]) < 1e-14;
    const int k = locked ? 0 : 2;
    const double sign = locked && x[1] < 0. ? -1. : 1.;
    double from[3];

    mech_so3_angles(reference->R, from);
    const double left = from[k] - sign * reference->angle;
    double frame = fabs(left) > half ? mech_so3_near(left, 0.) : left;
    const double start = frame + sign * (reference->angle + view->start);
    const double other = copysign(2. * half, frame);

    if (fabs(fabs(frame) - half) < 1e-9 && fabs(start - other) < fabs(start) - 1e-9) {
        frame -= other;
    }
    x[k] = mech_so3_near(x[k], frame + sign * now->angle);
}

int mech_pose_output(const void *description, const struct mech_view *view,
                     enum mech_output variable, size_t capacity, double *values, size_t *count)
{
    const struct mech_pose *const now = view->pose[0], *const reference = view->pose[1];
    double x[3], a[6];

    (void)description;
    *count = 0;
    switch (variable) {
    case MECH_OUTPUT_POSITION:
        return give(now->p, 3, capacity, values, count);
    case MECH_OUTPUT_DISPLACEMENT:
        mech_v3_add(now->p, -1., reference->p, x);
        return give(x, 3, capacity, values, count);
    case MECH_OUTPUT_VELOCITY:
        return give(now->v, 3, capacity, values, count);
    case MECH_OUTPUT_VELOCITY_LOCAL:
        mech_m3_mul_transposed(now->R, now->v, x);
        return give(x, 3, capacity, values, count);
    case MECH_OUTPUT_ROTATION_MATRIX:
        return give(now->R, 9, capacity, values, count);
    case MECH_OUTPUT_ROTATION:
        mech_so3_angles(now->R, x);
        if (now->counted) {
            count_turns(view, x);
        }
        return give(x, 3, capacity, values, count);
    case MECH_OUTPUT_ANGULAR_VELOCITY:
        return give(now->omega, 3, capacity, values, count);
    case MECH_OUTPUT_ANGULAR_VELOCITY_LOCAL:
        mech_m3_mul_transposed(now->R, now->omega, x);
        return give(x, 3, capacity, values, count);
    case MECH_OUTPUT_ACCELERATION:
    case MECH_OUTPUT_ACCELERATION_LOCAL:
    case MECH_OUTPUT_ANGULAR_ACCELERATION:
    case MECH_OUTPUT_ANGULAR_ACCELERATION_LOCAL:
        break;
    default:
        return MECH_UNSUPPORTED;
    }
    if (!accelerations(view, now, a)) {
        return MECH_UNSUPPORTED;
    }
    const bool angular = variable == MECH_OUTPUT_ANGULAR_ACCELERATION ||
                         variable == MECH_OUTPUT_ANGULAR_ACCELERATION_LOCAL;
    const double *const from = angular ? a + 3 : a;
    const bool local = variable == MECH_OUTPUT_ACCELERATION_LOCAL ||
                       variable == MECH_OUTPUT_ANGULAR_ACCELERATION_LOCAL;

    mech_m3_mul_transposed(local ? now->R : mech_identity3, from, x);
    return give(x, 3, capacity, values, count);
}

void mech_rigid_transport(const double *d, const double *dq, const double *dd, double *out)
{
    for (int i = 0; i < 3; i++) {
        out[i] = dq[i] + dd[i];
    }
    mech_so3_transport(d + 3, dq + 3, dd + 3, out + 3);
}
