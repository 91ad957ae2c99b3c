/* Objects between two markers: force elements and joints, in terms of the poses of their markers.
 *
 *     T = J v           twist of both poses [12], J block diagonal
 *     g −= Jᵀ W         W = wrench of a force element, or Gᵀ λ of a joint
 *     ∂(Jᵀ W)/∂q = Jᵀ (∂W/∂δ J + ∂W/∂T ∂T/∂q) + (∂Jᵀ/∂q) W
 *
 * All of a pair's algebra is done on arrays of 12; what it costs does not depend on the model. */
#include "solver/base/err.h"
#include "solver/base/text.h"
#include "solver/linalg/v3.h"
#include "solver/model/penalty.h"
#include "solver/model/pose.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { SLOTS = 2 * MECH_MARKER_SLOTS };

void mech_pose_stiffness(const struct mech_pose *pose, const double w[6],
                         double K[MECH_MARKER_SLOTS][MECH_MARKER_SLOTS])
{
    double moment[3];

    mech_v3_cross(pose->arm, w, moment);
    mech_v3_add(moment, 1., w + 3, moment);
    mech_v3_add(moment, w[0], pose->turn, moment);
    for (int32_t j = 0; j < pose->n; j++) {
        const double aj[3] = {pose->J[3][j], pose->J[4][j], pose->J[5][j]};
        double swing[3], turned[3];

        if (mech_v3_dot(aj, aj) == 0.) {
            continue;
        }
        /* the arm turns under the force: (a_j × arm) × F */
        mech_v3_cross(aj, pose->arm, swing);
        mech_v3_cross(swing, w, swing);
        for (int32_t i = 0; i < pose->n; i++) {
            const double ai[3] = {pose->J[3][i], pose->J[4][i], pose->J[5][i]};

            mech_v3_cross(aj, ai, turned);
            K[i][j] += mech_v3_dot(turned, moment) + mech_v3_dot(ai, swing);
        }
    }
}

void mech_pose_turning(const struct mech_pose *pose, double Jq[6][MECH_MARKER_SLOTS])
{
    for (int32_t j = 0; j < pose->n; j++) {
        const double aj[3] = {pose->J[3][j], pose->J[4][j], pose->J[5][j]};
        double omega[3], swing[3], a[3], b[3];

        mech_v3_cross(aj, pose->omega, omega);
        mech_v3_cross(omega, pose->arm, a);
        mech_v3_cross(aj, pose->arm, swing);
        mech_v3_cross(pose->omega, swing, b);
        for (int r = 0; r < 3; r++) {
            Jq[r][j] = a[r] + b[r] + (r == 0 ? mech_v3_dot(pose->turn, omega) : 0.);
            Jq[3 + r][j] = omega[r];
        }
    }
}

/* --- what is made while the model is compiled ------------------------------------------------- */

static int add_pair(struct mech_model *m, size_t o, struct mech_diag *diag)
{
    const struct mech_item *const item = &m->document->objects.at[o];
    const struct mech_object_ops *const ops = item->type->ops.object;
    struct mech_pair_of *const pair = &m->rows.pairs[m->rows.pair_count];
    struct mech_attachment at;
    char path[MECH_DIAG_PATH];

    mech_item_path(MECH_OBJECT, o, NULL, path, sizeof path);
    struct mech_site site = mech_site_of(m, o, path, diag);
    site.z = m->sizes.z;
    site.held = ops->pair->held;
    ops->markers(item->description, &at);
    *pair = (struct mech_pair_of){.ops = ops->pair,
                                  .object = (int32_t)o,
                                  .marker = {at.refs[0].index, at.refs[1].index},
                                  .row = m->sizes.lambda,
                                  .z = m->sizes.z};
    pair->record = mech_arena_alloc(&m->arena, 1, ops->pair->record_size);
    if (!pair->record) {
        return MECH_NO_MEMORY;
    }
    if (pair->marker[0] == pair->marker[1]) {
        snprintf(path + strlen(path), sizeof path - strlen(path), "/markers/1");
        mech_diag_add(diag, path, "is the first marker again");
        return 0;
    }
    for (int k = 0; k < 2; k++) {
        if (m->kinematics.markers[pair->marker[k]].first_order) {
            snprintf(path + strlen(path), sizeof path - strlen(path), "/markers/%d", k);
            mech_diag_add(diag, path, "needs a marker of second-order coordinates");
            return 0;
        }
    }
    const int r = ops->pair->record(item->description, &site, pair->record);
    const int32_t rows = r >= 0 && ops->pair->rows ? ops->pair->rows(item->description) : 0;
    if (r < 0) {
        return r;
    }
    /* inactive ones keep their rows and numbers in z, schemes do not change: sizes stay */
    pair->idle = r == 0;
    pair->rows = rows;
    m->kinematics.objects[o].pair = (int32_t)m->rows.pair_count;
    m->kinematics.objects[o].record = pair->idle && rows == 0 ? NULL : pair->record;
    m->sizes.lambda += pair->rows;
    m->sizes.z += ops->pair->data;
    m->rows.pair_count++;
    return 0;
}

int32_t mech_pair_slots(const struct mech_model *m, const struct mech_pair_of *p, int32_t *slot)
{
    int32_t n = 0;

    for (int k = 0; k < 2; k++) {
        const struct mech_marker_map *const map = &m->kinematics.markers[p->marker[k]];

        const int32_t *const from =
            map->flexible ? m->kinematics.marker_seats[p->marker[k]].slot : map->slot;

        for (int32_t i = 0; i < map->n; i++) {
            slot[n++] = from[i];
        }
    }
    return n;
}

int mech_pairs(struct mech_model *m, struct mech_diag *diag)
{
    const size_t n = m->document->objects.n;

    m->rows.pairs = mech_arena_alloc(&m->arena, n, sizeof *m->rows.pairs);
    m->rows.equations = mech_arena_alloc(&m->arena, n, sizeof *m->rows.equations);
    if (!m->rows.pairs || !m->rows.equations) {
        return MECH_NO_MEMORY;
    }
    for (size_t o = 0; o < n; o++) {
        const struct mech_object_ops *const ops = m->document->objects.at[o].type->ops.object;

        m->kinematics.objects[o].pair = m->kinematics.objects[o].equation = -1;
        if (ops->pair) {
            MECH_TRY(add_pair(m, o, diag));
        } else if (ops->equation) {
            MECH_TRY(mech_equation_add(m, o, diag));
        }
    }
    MECH_TRY(mech_turns(m));
    MECH_TRY(mech_joint_rows(m));
    MECH_TRY(mech_markers(m));
    MECH_TRY(mech_turns_settle(m, diag));
    for (size_t p = 0; p < m->rows.pair_count; p++) {
        int32_t slot[MECH_PAIR_SLOTS];
        const size_t k = (size_t)mech_pair_slots(m, &m->rows.pairs[p], slot);

        m->terms.place_count += k * k;
    }
    for (size_t k = 0; k < m->kinematics.moving_count; k++) {
        const size_t s = (size_t)m->kinematics.marker_seats[m->kinematics.moving[k].marker].n;

        m->kinematics.moving_places += s * s;
        m->terms.place_count += s * s;
    }
    return 0;
}

/* --- evaluation ------------------------------------------------------------------------------- */

void mech_pair_poses(const struct mech_model *m, const struct mech_pair_of *p,
                     const struct mech_pose *pose[2])
{
    for (int k = 0; k < 2; k++) {
        mech_pose_complete(&m->kinematics.poses[p->marker[k]]);
        pose[k] = &m->kinematics.poses[p->marker[k]];
    }
}

/* What acts on both poses. */
static void wrench_of(const struct mech_pair_of *p, const struct mech_eval *e,
                      const struct mech_pose *const pose[2], double W[12])
{
    memset(W, 0, 12 * sizeof *W);
    if (p->idle) {
        return;
    }
    if (!p->rows) {
        p->ops->wrench(p->record, e, pose, W);
    } else if (e->lambda) {
        double G[MECH_PAIR_ROWS][12] = {{0.}};

        p->ops->jacobian(p->record, pose, G);
        for (int32_t r = 0; r < p->rows; r++) {
            for (int k = 0; k < 12; k++) {
                W[k] += G[r][k] * e->lambda[p->row + r];
            }
        }
    }
}

static bool are_finite(const double *x, int n)
{
    bool all = true;
    for (int i = 0; i < n; i++) {
        all = all && isfinite(x[i]);
    }
    return all;
}

/* Rows of one object, with their residuals and the two rates of these [rows]. */
struct row_values {
    int32_t object, row, rows;
    const double *of[3];
};

/* Names what of rows is not finite. */
static bool tell_rows(const struct mech_model *m, const struct row_values *r, char *out,
                      size_t size)
{
    static const char *const names[] = {"value", "derivative", "second derivative"};
    const int above = m->rows.joints.velocity[r->row] ? 1 : 0;

    for (int k = above; k < 3; k++) {
        if (!are_finite(r->of[k], r->rows)) {
            mech_text_format(out, size, "the %s of the constraint \"%.64s\" is not finite",
                             names[k - above], m->document->objects.at[r->object].name);
            return true;
        }
    }
    return false;
}

/* Constraints at a point where motions are finite. */
static bool tell_constraints(const struct mech_model *m, const struct mech_eval *e, char *out,
                             size_t size)
{
    if (!are_finite(e->q, m->sizes.q) || !are_finite(e->v, m->sizes.v)) {
        return false;
    }
    for (size_t p = 0; p < m->rows.pair_count; p++) {
        const struct mech_pair_of *const pair = &m->rows.pairs[p];
        double of[3][MECH_PAIR_ROWS] = {{0.}};
        const struct mech_pose *pose[2];

        if (pair->rows && !pair->idle) {
            mech_pair_poses(m, pair, pose);
            pair->ops->residual(pair->record, e->t, pose, of[0]);
            pair->ops->rate(pair->record, e->t, pose, of[1], of[2]);
            const struct row_values values = {
                pair->object, pair->row, pair->rows, {of[0], of[1], of[2]}};
            if (tell_rows(m, &values, out, size)) {
                return true;
            }
        }
    }
    mech_equations_gather(m, e);
    for (size_t k = 0; k < m->rows.equation_count; k++) {
        const struct mech_equation_of *const q = &m->rows.equations[k];

        if (!q->idle) {
            struct row_values values = {q->object, q->row, q->rows, {NULL}};
            mech_equation_values(q, values.of);
            if (tell_rows(m, &values, out, size)) {
                return true;
            }
        }
    }
    return false;
}

void mech_model_tell_infinite(const struct mech_model *m, const struct mech_eval *e, char *out,
                              size_t size)
{
    if (m->rows.pair_count) {
        mech_model_pose(m, e);
    }
    for (size_t p = 0; p < m->rows.pair_count; p++) {
        const struct mech_pose *pose[2];
        double W[12], d[3];

        if (m->rows.pairs[p].rows) {
            continue;
        }
        mech_pair_poses(m, &m->rows.pairs[p], pose);
        wrench_of(&m->rows.pairs[p], e, pose, W);
        mech_v3_add(pose[1]->p, -1., pose[0]->p, d);
        // where motions are lost already, every force is
        if (!are_finite(W, 12) && are_finite(d, 3)) {
            mech_text_format(out, size, "the forces of \"%.64s\" are not finite%s",
                             m->document->objects.at[m->rows.pairs[p].object].name,
                             mech_v3_norm(d) == 0. ? ": its markers are at the same point" : "");
            return;
        }
    }
    if (tell_constraints(m, e, out, size)) {
        return;
    }
    const char *const name = mech_model_nonlinear_name(m);

    mech_text_format(out, size, "the forces of \"%.64s\" or a neighbor are not finite",
                     name ? name : "");
}

void mech_pair_force(const struct mech_model *m, const struct mech_pair_of *p,
                     const struct mech_eval *e, double *g)
{
    const struct mech_pose *pose[2];
    double W[12];

    if (p->rows) {
        if (e->lambda) {
            mech_frames_force(m, p, e->lambda, g);
        }
        return;
    }
    mech_pair_poses(m, p, pose);
    wrench_of(p, e, pose, W);
    for (int k = 0; k < 2; k++) {
        if (pose[k]->flex) {
            mech_flex_force(pose[k], W + 6 * k, g);
            continue;
        }
        for (int32_t i = 0; i < pose[k]->n; i++) {
            double sum = 0.;

            for (int r = 0; r < 6; r++) {
                sum += pose[k]->J[r][i] * W[6 * k + r];
            }
            g[pose[k]->slot[i]] -= sum;
        }
    }
}

void mech_pairs_force(const struct mech_model *m, const struct mech_eval *e, double *g)
{
    for (size_t p = 0; p < m->rows.pair_count; p++) {
        mech_pair_force(m, &m->rows.pairs[p], e, g);
    }
}

/* out [12][n] += slope [12][12] × blocks of both poses [6][n_k] */
static void times_blocks(double slope[12][12], int k, double block[6][MECH_MARKER_SLOTS], int32_t n,
                         int32_t first, double out[12][SLOTS])
{
    for (int a = 0; a < 12; a++) {
        for (int b = 0; b < 6; b++) {
            const double s = slope[a][6 * k + b];

            for (int32_t i = 0; i < n && s != 0.; i++) {
                out[a][first + i] += s * block[b][i];
            }
        }
    }
}

/* Wx = c0 ∂W/∂δ + c1 ∂W/∂T, Wt = c0 ∂W/∂T; both come zeroed */
static void slopes_of(const struct mech_pair_of *p, const struct mech_eval *e,
                      const struct mech_pose *const pose[2], const double c[2], double Wx[12][12],
                      double Wt[12][12])
{
    if (p->idle) {
        return;
    }
    if (!p->rows) {
        p->ops->slope(p->record, e, pose, Wx, Wt);
    } else if (p->ops->stiffness) {
        p->ops->stiffness(p->record, pose, e->lambda + p->row, Wx);
    }
    for (int a = 0; a < 12; a++) {
        for (int b = 0; b < 12; b++) {
            Wx[a][b] = c[0] * Wx[a][b] + c[1] * Wt[a][b];
            Wt[a][b] *= c[0];
        }
    }
}

/* a point whose coordinates are its x, y (and z): J = 1 and stays */
static bool is_point(const struct mech_pose *pose)
{
    bool yes = pose->n <= 3;

    for (int32_t i = 0; i < pose->n && yes; i++) {
        for (int r = 0; r < 6; r++) {
            yes = yes && pose->J[r][i] == (r == i ? 1. : 0.);
        }
    }
    return yes;
}

/* T [n][n] = c0 ∂(−Jᵀ W)/∂q + c1 ∂(−Jᵀ W)/∂v of a pair */
static void tangent_of(const struct mech_pair_of *p, const struct mech_eval *e,
                       const struct mech_pose *const pose[2], const double c[2],
                       double T[SLOTS][SLOTS])
{
    double Wx[12][12] = {{0.}}, Wt[12][12] = {{0.}}, A[12][SLOTS] = {{0.}}, W[12];
    int32_t first = 0;

    slopes_of(p, e, pose, c, Wx, Wt);
    if (!p->rows && is_point(pose[0]) && is_point(pose[1])) {
        const int32_t n0 = pose[0]->n, n = n0 + pose[1]->n;

        for (int32_t i = 0; i < n; i++) {
            for (int32_t j = 0; j < n; j++) {
                T[i][j] = -Wx[i < n0 ? i : 6 + i - n0][j < n0 ? j : 6 + j - n0];
            }
        }
        return;
    }
    wrench_of(p, e, pose, W);

    /* A = c0 (∂W/∂δ J + ∂W/∂T ∂T/∂q) + c1 ∂W/∂T J */
    for (int k = 0; k < 2; first += pose[k]->n, k++) {
        double J[6][MECH_MARKER_SLOTS], Jq[6][MECH_MARKER_SLOTS];

        memcpy(J, pose[k]->J, sizeof J);
        times_blocks(Wx, k, J, pose[k]->n, first, A);
        if (!p->rows) {
            mech_pose_turning(pose[k], Jq);
            times_blocks(Wt, k, Jq, pose[k]->n, first, A);
        }
    }
    first = 0;
    for (int k = 0; k < 2; first += pose[k]->n, k++) {
        double K[MECH_MARKER_SLOTS][MECH_MARKER_SLOTS] = {{0.}};
        const int32_t n = pose[0]->n + pose[1]->n;

        mech_pose_stiffness(pose[k], W + 6 * k, K);
        for (int32_t i = 0; i < pose[k]->n; i++) {
            for (int32_t j = 0; j < n; j++) {
                double sum = 0.;

                for (int r = 0; r < 6; r++) {
                    sum += pose[k]->J[r][i] * A[6 * k + r][j];
                }
                T[first + i][j] = -sum;
            }
            for (int32_t j = 0; j < pose[k]->n; j++) {
                T[first + i][first + j] -= c[0] * K[i][j];
            }
        }
    }
}

/* Of a pair of which one is deformable; returns the places behind. */
static const int32_t *flexible_tangent(const struct mech_model *m, const struct mech_pair_of *p,
                                       const struct mech_eval *e, const double c[2],
                                       const int32_t *places, double *values)
{
    double Wx[12][12] = {{0.}}, Wt[12][12] = {{0.}}, W[12];
    const struct mech_pose *pose[2];

    mech_pair_poses(m, p, pose);
    slopes_of(p, e, pose, c, Wx, Wt);
    wrench_of(p, e, pose, W);
    const struct mech_flex_slopes slopes = {(const double(*)[12])Wx, (const double(*)[12])Wt, W,
                                            c[0]};
    return mech_flex_pair_tangent(m, pose, &slopes, places, values);
}

const int32_t *mech_pairs_tangent(const struct mech_model *m, const struct mech_eval *e,
                                  const double c[2], const int32_t *places, double *values)
{
    places = mech_moving_tangent(m, e, c[0], places, values);
    for (size_t p = 0; p < m->rows.pair_count; p++) {
        const struct mech_pose *pose[2];
        double T[SLOTS][SLOTS];

        const struct mech_pair_of *const pair = &m->rows.pairs[p];
        const int32_t n =
            m->kinematics.poses[pair->marker[0]].n + m->kinematics.poses[pair->marker[1]].n;
        if (pair->idle || (pair->rows && !e->lambda)) {
            places += n * n;
            continue;
        }
        if (pair->rows && mech_frames_tangent(m, pair, e->lambda, c[0], places, values)) {
            places += n * n;
            continue;
        }
        mech_pair_poses(m, pair, pose);
        if (pose[0]->flex || pose[1]->flex) {
            places = flexible_tangent(m, pair, e, c, places, values);
            continue;
        }
        tangent_of(pair, e, pose, c, T);
        for (int32_t i = 0; i < n; i++) {
            for (int32_t j = 0; j < n; j++) {
                values[*places++] += T[i][j];
            }
        }
    }
    return places;
}

void mech_model_keep(const struct mech_model *m, struct mech_state *s)
{
    const struct mech_eval e = mech_model_point(m, s, s->at->time, s->q, s->v);

    for (size_t p = 0; p < m->rows.pair_count && m->kinematics.kept; p++) {
        const struct mech_pair_of *const pair = &m->rows.pairs[p];
        const struct mech_pose *pose[2];

        if (pair->ops->keep) {
            mech_model_pose_marker(m, pair->marker[0], &e);
            mech_model_pose_marker(m, pair->marker[1], &e);
            mech_pair_poses(m, pair, pose);
            pair->ops->keep(pair->record, pose, s->z + pair->z);
        }
    }
    if (m->kinematics.keeper_count > 0 || m->kinematics.sensor_turns) {
        mech_turns_keep(m, &e, s);
    }
    if (m->rows.penalty) {
        mech_penalty_keep(m, s);
    }
}

/* --- joints ----------------------------------------------------------------------------------- */

const struct mech_joint_rows *mech_model_joints(const struct mech_model *m)
{
    return &m->rows.joints;
}

const char *mech_model_joint_name(const struct mech_model *m, int32_t row)
{
    assert(row >= 0 && row < m->rows.joints.count);
    return m->document->objects.at[m->rows.joints.object[row]].name;
}

void mech_model_joint_residual(const struct mech_model *m, const struct mech_eval *e, double *g)
{
    for (size_t p = 0; p < m->rows.pair_count; p++) {
        const struct mech_pair_of *const pair = &m->rows.pairs[p];
        const struct mech_pose *pose[2];

        if (pair->known) {
            memcpy(g + pair->row, m->rows.g + pair->row, (size_t)pair->rows * sizeof *g);
        } else if (pair->rows) {
            mech_pair_poses(m, pair, pose);
            memset(g + pair->row, 0, (size_t)pair->rows * sizeof *g);
            if (!pair->idle) {
                pair->ops->residual(pair->record, e->t, pose, g + pair->row);
            }
        }
    }
    mech_equations_residual(m, g);
}

void mech_model_joint_jacobian(const struct mech_model *m, double *values)
{
    if (m->rows.joints.paired) {
        memcpy(values, m->rows.G,
               (size_t)m->rows.joints.start[m->rows.joints.count] * sizeof *values);
        return;
    }
    for (size_t p = 0; p < m->rows.pair_count; p++) {
        const struct mech_pair_of *const pair = &m->rows.pairs[p];
        const int32_t from = m->rows.joints.start[pair->row];
        const int32_t to = m->rows.joints.start[pair->row + pair->rows];

        memcpy(values + from, m->rows.G + from, (size_t)(to - from) * sizeof *values);
    }
    mech_equations_jacobian(m, values);
}

void mech_model_joint_rate(const struct mech_model *m, const struct mech_eval *e, double *gt,
                           double *bias)
{
    memset(gt, 0, (size_t)m->rows.joints.count * sizeof *gt);
    memset(bias, 0, (size_t)m->rows.joints.count * sizeof *bias);
    for (size_t p = 0; p < m->rows.pair_count; p++) {
        const struct mech_pair_of *const pair = &m->rows.pairs[p];
        const struct mech_pose *pose[2];
        double G[MECH_PAIR_ROWS][12] = {{0.}}, a[12];

        if (!pair->rows || pair->idle) {
            continue;
        }
        mech_pair_poses(m, pair, pose);
        pair->ops->rate(pair->record, e->t, pose, gt + pair->row, bias + pair->row);
        pair->ops->jacobian(pair->record, pose, G);
        mech_pose_bias(pose[0], a);
        mech_pose_bias(pose[1], a + 6);
        for (int32_t r = 0; r < pair->rows; r++) {
            for (int k = 0; k < 12; k++) {
                bias[pair->row + r] += G[r][k] * a[k];
            }
        }
    }
    mech_equations_rate(m, gt, bias);
}
