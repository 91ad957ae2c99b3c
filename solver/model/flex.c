/* Markers on deformable bodies and nodes: twist, forces and slopes by general maps.
 *
 *     T = J(q) v,   ∂J[r][i]/∂q_j = slope,   turning = ∂T/∂q = Σ_i slope v_i,   bias = turning v
 *     ∂(Jᵀ w)/∂q_j = Σ_r slope[r][i][j] w[r]
 *
 * A rigid body's slope follows from its axes (model/pairs.c); a deformable one provides it. */
#include "solver/base/err.h"
#include "solver/linalg/v3.h"
#include "solver/model/internal.h"
#include "solver/model/pose.h"

#include <string.h>

int mech_flex_new(struct mech_arena *arena, int32_t n, struct mech_flex **out)
{
    const size_t k = (size_t)n;
    struct mech_flex *const f = mech_arena_alloc(arena, 1, sizeof *f);

    if (!f) {
        return MECH_NO_MEMORY;
    }
    f->J = mech_arena_alloc(arena, 6 * k, sizeof *f->J);
    f->slope = mech_arena_alloc(arena, 6 * k * k, sizeof *f->slope);
    f->turning = mech_arena_alloc(arena, 6 * k, sizeof *f->turning);
    *out = f;
    return f->J && f->slope && f->turning ? 0 : MECH_NO_MEMORY;
}

int mech_flex(struct mech_model *m)
{
    size_t most = 0;

    for (size_t i = 0; i < m->document->markers.n; i++) {
        if (m->kinematics.markers[i].flexible) {
            MECH_TRY(
                mech_flex_new(&m->arena, m->kinematics.markers[i].n, &m->kinematics.poses[i].flex));
            most = (size_t)m->kinematics.markers[i].n > most ? (size_t)m->kinematics.markers[i].n
                                                             : most;
        }
    }
    most += most > MECH_MARKER_SLOTS ? most : MECH_MARKER_SLOTS;
    m->kinematics.flex_block =
        mech_arena_alloc(&m->arena, 12 * most, sizeof *m->kinematics.flex_block);
    return m->kinematics.flex_block ? 0 : MECH_NO_MEMORY;
}

void mech_flex_open(struct mech_pose *pose)
{
    const size_t n = (size_t)pose->n;

    memset(pose->flex->J, 0, 6 * n * sizeof(double));
    memset(pose->flex->slope, 0, 6 * n * n * sizeof(double));
}

void mech_flex_close(struct mech_pose *pose, const double *v)
{
    struct mech_flex *const f = pose->flex;
    const int32_t n = pose->n;

    for (int r = 0; r < 6; r++) {
        double *const turning = f->turning + r * n;
        const double *slope = f->slope + (size_t)r * (size_t)n * (size_t)n;

        memset(turning, 0, (size_t)n * sizeof *turning);
        for (int32_t i = 0; i < n; i++, slope += n) {
            for (int32_t j = 0; j < n; j++) {
                turning[j] += slope[j] * v[pose->slot[i]];
            }
        }
        f->bias[r] = 0.;
        for (int32_t j = 0; j < n; j++) {
            f->bias[r] += turning[j] * v[pose->slot[j]];
        }
    }
}

/* ∂T[r]/∂v_i of any pose */
static double entry(const struct mech_pose *pose, int r, int32_t i)
{
    return pose->flex ? pose->flex->J[r * pose->n + i] : pose->J[r][i];
}

void mech_flex_force(const struct mech_pose *pose, const double w[6], double *g)
{
    for (int r = 0; r < 6; r++) {
        const double *const J = pose->flex->J + r * pose->n;

        for (int32_t i = 0; i < pose->n && w[r] != 0.; i++) {
            g[pose->slot[i]] -= J[i] * w[r];
        }
    }
}

/* ∂(Jᵀ w)_i/∂q_j at constant w */
static double stiffness(const struct mech_pose *pose, const double w[6], int32_t i, int32_t j)
{
    const int32_t n = pose->n;
    double sum = 0.;

    for (int r = 0; r < 6; r++) {
        sum += pose->flex->slope[(r * n + i) * n + j] * w[r];
    }
    return sum;
}

const int32_t *mech_flex_moving_tangent(const struct mech_pose *pose, const double w[6],
                                        const double fixed[6], double c, const int32_t *places,
                                        double *values)
{
    const int32_t n = pose->n;

    for (int32_t k = 0; k < n * n; k++) {
        const int32_t i = k / n, j = k % n;
        const double axis[3] = {entry(pose, 3, j), entry(pose, 4, j), entry(pose, 5, j)};
        double turned[6], sum = stiffness(pose, w, i, j);

        mech_v3_cross(axis, fixed, turned);
        mech_v3_cross(axis, fixed + 3, turned + 3);
        for (int r = 0; r < 6; r++) {
            sum += entry(pose, r, i) * turned[r];
        }
        values[*places++] -= c * sum;
    }
    return places;
}

/* A [12][n] += slope [12][6 of pose k] times a map [6][pose->n] from column `first` on */
static void times_map(const double (*slope)[12], int k, const double *map, int32_t stride,
                      const int32_t size[3], double *A)
{
    const int32_t n = size[2], first = k ? size[0] : 0;

    for (int a = 0; a < 12; a++) {
        for (int b = 0; b < 6; b++) {
            const double s = slope[a][6 * k + b];

            for (int32_t i = 0; i < size[k] && s != 0.; i++) {
                A[a * n + first + i] += s * map[b * stride + i];
            }
        }
    }
}

const int32_t *mech_flex_pair_tangent(const struct mech_model *m,
                                      const struct mech_pose *const pose[2],
                                      const struct mech_flex_slopes *slopes, const int32_t *places,
                                      double *values)
{
    const int32_t size[3] = {pose[0]->n, pose[1]->n, pose[0]->n + pose[1]->n}, n = size[2];
    double *const A = m->kinematics.flex_block;

    memset(A, 0, 12 * (size_t)n * sizeof *A);
    for (int k = 0; k < 2; k++) {
        double turning[6][MECH_MARKER_SLOTS];
        const bool flexible = pose[k]->flex;
        const int32_t stride = flexible ? size[k] : MECH_MARKER_SLOTS;

        if (!flexible) {
            mech_pose_turning(pose[k], turning);
        }
        times_map(slopes->Wx, k, flexible ? pose[k]->flex->J : &pose[k]->J[0][0], stride, size, A);
        times_map(slopes->Wt, k, flexible ? pose[k]->flex->turning : &turning[0][0], stride, size,
                  A);
    }
    for (int k = 0, first = 0; k < 2; first += size[k], k++) {
        double K[MECH_MARKER_SLOTS][MECH_MARKER_SLOTS] = {{0.}};

        if (!pose[k]->flex) {
            mech_pose_stiffness(pose[k], slopes->W + 6 * k, K);
        }
        for (int32_t i = 0; i < size[k]; i++) {
            for (int32_t j = 0; j < n; j++) {
                const int32_t own = j - first;
                double sum = 0.;

                for (int r = 0; r < 6; r++) {
                    sum += entry(pose[k], r, i) * A[(6 * k + r) * n + j];
                }
                if (own >= 0 && own < size[k]) {
                    sum +=
                        slopes->c *
                        (pose[k]->flex ? stiffness(pose[k], slopes->W + 6 * k, i, own) : K[i][own]);
                }
                values[*places++] -= sum;
            }
        }
    }
    return places;
}

void mech_flex_row(const struct mech_pose *const pose[2], const double row[12], double *out)
{
    for (int k = 0; k < 2; k++) {
        for (int32_t i = 0; i < pose[k]->n; i++) {
            double sum = 0.;

            for (int r = 0; r < 6; r++) {
                sum += row[6 * k + r] * entry(pose[k], r, i);
            }
            *out++ = sum;
        }
    }
}
