/* Joints between rigid bodies, whose J follows from the pose (enum mech_pose_kind): with the arm r
 * of the marker and R the rotation of its body, a wrench (F, τ) on it acts on its coordinates as
 *
 *     plane   (F_x, F_y, τ_z + (r × F)_z)        space   (F, Rᵀ (τ + r × F))
 *
 * G of all joints is evaluated once for a point, in these coordinates. What follows from the arm
 * alone when the body turns by δφ in its own axes, with all vectors in those, M = Rᵀ (τ + r × F):
 *
 *     ∂/∂φ = r Fᵀ − (r·F) 1 + [M]×,   in the plane −(r·F) */
#include "solver/linalg/v3.h"
#include "solver/model/internal.h"
#include "solver/model/pose.h"

#include <string.h>

/* out [n] = Jᵀ w; returns what follows behind. */
static double *pull(const struct mech_pose *pose, const double w[6], double *out)
{
    const double *const r = pose->arm;

    if (pose->kind == MECH_POSE_PLANE) {
        out[0] = w[0];
        out[1] = w[1];
        out[2] = w[5] + r[0] * w[1] - r[1] * w[0];
        return out + 3;
    }
    if (pose->kind == MECH_POSE_SPACE) {
        double moment[3];

        mech_v3_cross(r, w, moment);
        mech_v3_add(moment, 1., w + 3, moment);
        memcpy(out, w, 3 * sizeof *out);
        mech_m3_mul_transposed(pose->R, moment, out + 3);
        return out + 6;
    }
    for (int32_t i = 0; i < pose->n; i++) {
        double sum = 0.;

        for (int k = 0; k < 6; k++) {
            sum += pose->J[k][i] * w[k];
        }
        *out++ = sum;
    }
    return out;
}

static bool in_space(const struct mech_pose *pose)
{
    return !pose->flex && (pose->n == 0 || pose->kind == MECH_POSE_SPACE);
}

void mech_frames_gather(const struct mech_model *m)
{
    for (size_t p = 0; p < m->rows.pair_count; p++) {
        struct mech_pair_of *const pair = &m->rows.pairs[p];
        const struct mech_pose *const pose[2] = {&m->kinematics.poses[pair->marker[0]],
                                                 &m->kinematics.poses[pair->marker[1]]};
        double G[MECH_PAIR_ROWS][12];

        if (!pair->rows) {
            continue;
        }
        if (pair->idle) {
            const int32_t from = m->rows.joints.start[pair->row];
            const int32_t to = m->rows.joints.start[pair->row + pair->rows];

            memset(m->rows.G + from, 0, (size_t)(to - from) * sizeof *m->rows.G);
            continue;
        }
        pair->known = pair->ops->frames && in_space(pose[0]) && in_space(pose[1]) &&
                      pair->ops->frames(pair->record, pose, m->rows.g + pair->row,
                                        m->rows.G + m->rows.joints.start[pair->row]);
        if (pair->known) {
            continue;
        }
        mech_pose_complete(&m->kinematics.poses[pair->marker[0]]);
        mech_pose_complete(&m->kinematics.poses[pair->marker[1]]);
        memset(G, 0, (size_t)pair->rows * sizeof *G);
        pair->ops->jacobian(pair->record, pose, G);
        for (int32_t r = 0; r < pair->rows; r++) {
            double *const out = m->rows.G + m->rows.joints.start[pair->row + r];

            if (pose[0]->flex || pose[1]->flex) {
                mech_flex_row(pose, G[r], out);
            } else {
                pull(pose[1], G[r] + 6, pull(pose[0], G[r], out));
            }
        }
    }
}

/* Gᵀ λ of a pair [n] */
static void reaction(const struct mech_model *m, const struct mech_pair_of *p, const double *lambda,
                     int32_t n, double *restrict f)
{
    memset(f, 0, (size_t)n * sizeof *f);
    for (int32_t r = 0; r < p->rows; r++) {
        const double *const restrict G = m->rows.G + m->rows.joints.start[p->row + r];

        for (int32_t k = 0; k < n; k++) {
            f[k] += G[k] * lambda[p->row + r];
        }
    }
}

void mech_frames_force(const struct mech_model *m, const struct mech_pair_of *p,
                       const double *lambda, double *g)
{
    const int32_t *const column = m->rows.joints.column + m->rows.joints.start[p->row];
    const int32_t n = m->rows.joints.start[p->row + 1] - m->rows.joints.start[p->row];
    double few[2 * MECH_MARKER_SLOTS];

    if (n <= 2 * MECH_MARKER_SLOTS) {
        if (n == 2 * MECH_MARKER_SLOTS) {
            reaction(m, p, lambda, 2 * MECH_MARKER_SLOTS, few);
        } else {
            reaction(m, p, lambda, n, few);
        }
        for (int32_t k = 0; k < n; k++) {
            g[column[k]] -= few[k];
        }
        return;
    }
    for (int32_t r = p->row; r < p->row + p->rows; r++) {
        for (int32_t k = 0; k < n; k++) {
            g[column[k]] -= m->rows.G[m->rows.joints.start[r] + k] * lambda[r];
        }
    }
}

/* What the arm does; f are the generalized forces on the body, `at` the place of its first rotation
 * with itself, n the length of a row of places. */
static void turn_arm(const struct mech_pose *pose, const double *f, double c, int32_t n,
                     const int32_t *at, double *values)
{
    if (pose->kind == MECH_POSE_PLANE) {
        values[*at] += c * (pose->arm[0] * f[0] + pose->arm[1] * f[1]);
        return;
    }
    const double *const M = f + 3;
    double r[3], F[3];

    mech_m3_mul_transposed(pose->R, pose->arm, r);
    mech_m3_mul_transposed(pose->R, f, F);
    const double rF = mech_v3_dot(r, F);
    const double K[9] = {r[0] * F[0] - rF,   r[0] * F[1] - M[2], r[0] * F[2] + M[1],
                         r[1] * F[0] + M[2], r[1] * F[1] - rF,   r[1] * F[2] - M[0],
                         r[2] * F[0] - M[1], r[2] * F[1] + M[0], r[2] * F[2] - rF};
    for (int i = 0; i < 9; i++) {
        values[at[i / 3 * n + i % 3]] -= c * K[i];
    }
}

static bool rigid(const struct mech_pose *pose)
{
    return pose->n == 0 || pose->kind != MECH_POSE_GENERAL;
}

bool mech_frames_tangent(const struct mech_model *m, const struct mech_pair_of *p,
                         const double *lambda, double c, const int32_t *places, double *values)
{
    const struct mech_pose *const pose[2] = {&m->kinematics.poses[p->marker[0]],
                                             &m->kinematics.poses[p->marker[1]]};
    const int32_t first = pose[0]->n, n = first + pose[1]->n;
    double f[2 * MECH_MARKER_SLOTS], T[12][12];

    if (pose[0]->flex || pose[1]->flex || !rigid(pose[0]) || !rigid(pose[1])) {
        return false;
    }
    if (!p->ops->stiffness) {
        reaction(m, p, lambda, n, f);
        for (int k = 0; k < 2; k++) {
            const int32_t at = k ? first : 0;
            const int32_t turn = at + (pose[k]->kind == MECH_POSE_PLANE ? 2 : 3);

            if (pose[k]->n) {
                turn_arm(pose[k], f + at, c, n, places + turn * n + turn, values);
            }
        }
        return true;
    }
    if (!p->ops->curvature || !in_space(pose[0]) || !in_space(pose[1])) {
        return false;
    }
    const uint32_t blocks = p->ops->curvature(p->record, pose, lambda + p->row, T);
    for (int b = 0; b < 16; b++) {
        const int i = b / 4, j = b % 4;

        if (!(blocks >> b & 1) || (first == 0 && (i < 2 || j < 2)) ||
            (pose[1]->n == 0 && (i > 1 || j > 1))) {
            continue;
        }
        const int32_t *const at = places + (3 * i - (6 - first)) * n + 3 * j - (6 - first);
        for (int a = 0; a < 3; a++) {
            for (int d = 0; d < 3; d++) {
                values[at[a * n + d]] -= c * T[3 * i + a][3 * j + d];
            }
        }
    }
    return blocks != 0;
}
