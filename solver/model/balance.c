/* Sizes of the terms that balance; see balance.h. */
#include "solver/model/balance.h"

#include "solver/linalg/mat_walk.h"
#include "solver/model/penalty.h"
#include "solver/model/pose.h"

#include <math.h>
#include <string.h>

/* --- blocks ----------------------------------------------------------------------------------- */

/* How many of a node's first velocities have one unit; those behind have one too. 0: not known. */
static int32_t alike(enum mech_node_kind kind)
{
    static const int32_t first[] = {
        [MECH_NODE_GENERIC] = 0,  [MECH_NODE_POINT_2D] = 2, [MECH_NODE_POINT] = 3,
        [MECH_NODE_RIGID_2D] = 2, [MECH_NODE_SLOPE_2D] = 2, [MECH_NODE_RIGID] = 3,
    };

    return first[kind];
}

int32_t mech_model_blocks(const struct mech_model *m, int32_t *of)
{
    const size_t nodes = m->document->nodes.n, objects = m->document->objects.n;

    for (int32_t i = 0; i < m->sizes.v; i++) {
        of[i] = -1;
    }
    /* 1 where a block begins, then numbers */
    for (size_t i = 0; i < nodes + objects; i++) {
        const struct mech_seat_of *const on =
            i < nodes ? &m->kinematics.nodes[i] : &m->kinematics.objects[i - nodes];
        const bool owns = i < nodes || m->document->objects.at[i - nodes].type->ops.object->own;
        const int32_t first = i < nodes ? alike(m->document->nodes.at[i].type->ops.node->kind) : 0;

        for (int32_t k = 0; k < on->n && owns && !on->first_order && !on->data; k++) {
            /* what an object shares with its nodes is theirs */
            if (on->slot[k] < m->sizes.v && of[on->slot[k]] < 0) {
                of[on->slot[k]] = first == 0 || k == 0 || k == first;
            }
        }
    }
    int32_t count = 0;

    for (int32_t i = 0; i < m->sizes.v; i++) {
        count += i == 0 || of[i] != 0;
        of[i] = count - 1;
    }
    return count;
}

/* --- forces ----------------------------------------------------------------------------------- */

/* S += |x| at these slots, where x becomes 0 */
static void collect(const int32_t *slot, int32_t n, double *x, double *S)
{
    for (int32_t k = 0; k < n; k++) {
        S[slot[k]] += fabs(x[slot[k]]);
        x[slot[k]] = 0.;
    }
}

static void collect_all(const struct mech_model *m, double *x, double *S)
{
    for (int32_t i = 0; i <= m->sizes.v; i++) {
        S[i] += fabs(x[i]);
        x[i] = 0.;
    }
}

/* S += |A| |x| */
static void product_sizes(const struct mech_mat *A, const double *x, double *S)
{
    struct mech_mat_walk walk = {.a = A};

    while (A->kind != MECH_MAT_ZERO && mech_mat_next(&walk)) {
        S[walk.row] += fabs(walk.value * x[walk.col]);
    }
}

static void record_sizes(const struct mech_model *m, const struct mech_eval *e, double *work,
                         double *S)
{
    for (size_t b = 0; b < m->terms.batch_count; b++) {
        const struct mech_batch *const batch = &m->terms.batches[b];

        for (size_t r = 0; r < batch->n; r++) {
            const int32_t first = batch->start[r];

            batch->ops->force(batch->records + r * batch->ops->record_size, 1, e, work);
            collect(batch->slot + first, batch->start[r + 1] - first, work, S);
        }
    }
}

static void posed_sizes(const struct mech_model *m, const struct mech_eval *e, double *work,
                        double *S)
{
    mech_model_pose(m, e);
    mech_moving_force(m, e, work);
    collect_all(m, work, S);
    for (size_t p = 0; p < m->rows.pair_count; p++) {
        int32_t slot[MECH_PAIR_SLOTS];
        const int32_t n = mech_pair_slots(m, &m->rows.pairs[p], slot);

        mech_pair_force(m, &m->rows.pairs[p], e, work);
        collect(slot, n, work, S);
    }
    for (size_t k = 0; k < m->rows.equation_count && e->lambda; k++) {
        const struct mech_equation_of *const q = &m->rows.equations[k];
        const double *G = mech_equation_jacobian(q);

        for (int32_t r = 0; r < q->rows; r++, G += q->point.n) {
            for (int32_t i = 0; i < q->point.n; i++) {
                S[q->slot[i]] += fabs(G[i] * e->lambda[q->row + r]);
            }
        }
    }
}

static void linear_sizes(const struct mech_model *m, const struct mech_eval *e, double *work,
                         double *S)
{
    const struct mech_linear_part *const part = &m->terms.linear;

    mech_model_displacement(m, e->q, work);
    for (int32_t i = 0; i < part->nv && !m->kinematics.curved; i++) {
        work[i] = e->q[i] - (part->q_ref ? part->q_ref[i] : 0.);
    }
    product_sizes(part->K, work, S);
    product_sizes(part->C, e->v, S);
    if (e->vdot) {
        product_sizes(part->M, e->vdot, S);
    }
    memset(work, 0, ((size_t)part->nv + 1) * sizeof *work);
}

void mech_model_force_sizes_part(const struct mech_model *m, const struct mech_eval *e, int part,
                                 double *work, double *S)
{
    if (part == 0) {
        mech_model_outer_sizes(m, e->state, e->t, S);
        linear_sizes(m, e, work, S);
    } else if (part == 1) {
        record_sizes(m, e, work, S);
        if (m->kinematics.posed_count || m->rows.equation_count) {
            posed_sizes(m, e, work, S);
        }
    } else if (m->rows.penalty) {
        mech_penalty_force(m, e, work);
        collect_all(m, work, S);
    }
}

void mech_model_force_sizes(const struct mech_model *m, const struct mech_eval *e, double *work,
                            double *S)
{
    for (int part = 0; part < MECH_FORCE_PARTS; part++) {
        mech_model_force_sizes_part(m, e, part, work, S);
    }
}

/* --- joints ----------------------------------------------------------------------------------- */

/* Σ |∂g/∂δ| of each row of a pair times a length of each pose, and of rotations */
static void pair_sizes(const struct mech_model *m, const struct mech_pair_of *p,
                       const double length[2], double *out)
{
    double G[MECH_PAIR_ROWS][12] = {{0.}};
    const struct mech_pose *pose[2];

    mech_pair_poses(m, p, pose);
    p->ops->jacobian(p->record, pose, G);
    for (int32_t r = 0; r < p->rows; r++) {
        double sum = 0.;

        for (int i = 0; i < 12; i++) {
            sum += fabs(G[r][i]) * (i % 6 < 3 ? length[i / 6] : 1.);
        }
        out[p->row + r] = sum;
    }
}

static void equation_sizes(const struct mech_equation_of *q, double *out)
{
    const double *G = mech_equation_jacobian(q);

    for (int32_t r = 0; r < q->rows; r++, G += q->point.n) {
        out[q->row + r] = 0.;
        for (int32_t i = 0; i < q->point.n; i++) {
            out[q->row + r] += fabs(G[i]) * (fabs(q->point.q[i]) + fabs(q->point.ref[i]));
        }
    }
}

void mech_model_joint_sizes(const struct mech_model *m, double *L)
{
    for (size_t k = 0; k < m->rows.pair_count; k++) {
        const struct mech_pair_of *const p = &m->rows.pairs[k];
        double length[2] = {0.};

        for (int i = 0; i < 6 && p->rows; i++) {
            length[i / 3] += fabs(m->kinematics.poses[p->marker[i / 3]].p[i % 3]);
        }
        if (p->rows) {
            pair_sizes(m, p, length, L);
        }
    }
    for (size_t k = 0; k < m->rows.equation_count; k++) {
        equation_sizes(&m->rows.equations[k], L);
    }
}

void mech_model_row_units(const struct mech_model *m, enum mech_row_unit *unit)
{
    for (int32_t r = 0; r < m->sizes.lambda; r++) {
        unit[r] = MECH_ROW_OWN;
    }
    for (size_t k = 0; k < m->rows.pair_count; k++) {
        const struct mech_pair_of *const p = &m->rows.pairs[k];
        double G[MECH_PAIR_ROWS][12] = {{0.}};
        const struct mech_pose *pose[2];

        if (!p->rows) {
            continue;
        }
        mech_pair_poses(m, p, pose);
        p->ops->jacobian(p->record, pose, G);
        for (int32_t r = 0; r < p->rows; r++) {
            unit[p->row + r] = MECH_ROW_ANGLE;
            for (int i = 0; i < 12; i++) {
                if (i % 6 < 3 && G[r][i] != 0.) {
                    unit[p->row + r] = MECH_ROW_LENGTH;
                }
            }
        }
    }
}

/* Lengths between the points of a pair along each row, and angles */
static double reach_of_row(const struct mech_pose *const pose[2], const double G[12])
{
    double sum = 0.;

    for (int i = 0; i < 6; i++) {
        const double apart = i < 3 ? fabs(pose[1]->p[i] - pose[0]->p[i]) : 1.;

        sum += fabs(G[6 + i]) * apart;
    }
    return sum;
}

void mech_model_limits(const struct mech_model *m, double *out)
{
    static const double digits = 1e-6, rounding = 0x1p-40;

    for (int32_t r = 0; r < m->sizes.lambda; r++) {
        out[r] = 0.;
    }
    for (size_t k = 0; k < m->rows.pair_count; k++) {
        const struct mech_pair_of *const p = &m->rows.pairs[k];
        double G[MECH_PAIR_ROWS][12] = {{0.}}, length[2] = {0.};
        const struct mech_pose *pose[2];

        if (!p->rows || m->rows.joints.side[p->row] == 0) {
            continue;
        }
        mech_pair_poses(m, p, pose);
        p->ops->jacobian(p->record, pose, G);
        for (int i = 0; i < 6; i++) {
            length[i / 3] += fabs(pose[i / 3]->p[i % 3]);
        }
        pair_sizes(m, p, length, out);
        for (int32_t r = 0; r < p->rows; r++) {
            const double reach = digits * reach_of_row(pose, G[r]) + rounding * out[p->row + r];

            /* ends at one place have no direction: a rope is slack there */
            out[p->row + r] = isfinite(reach) ? reach : 0.;
        }
    }
    for (size_t k = 0; k < m->rows.equation_count; k++) {
        const struct mech_equation_of *const q = &m->rows.equations[k];

        if (q->rows && m->rows.joints.side[q->row] != 0) {
            equation_sizes(q, out);
            for (int32_t r = 0; r < q->rows; r++) {
                out[q->row + r] *= digits;
            }
        }
    }
}

void mech_model_limit_speeds(const struct mech_model *m, double *out)
{
    for (int32_t r = 0; r < m->sizes.lambda; r++) {
        out[r] = 0.;
    }
    for (size_t k = 0; k < m->rows.pair_count; k++) {
        const struct mech_pair_of *const p = &m->rows.pairs[k];
        double G[MECH_PAIR_ROWS][12] = {{0.}};
        const struct mech_pose *pose[2];

        if (!p->rows || m->rows.joints.side[p->row] == 0) {
            continue;
        }
        mech_pair_poses(m, p, pose);
        p->ops->jacobian(p->record, pose, G);
        for (int32_t r = 0; r < p->rows; r++) {
            for (int i = 0; i < 3; i++) {
                out[p->row + r] += fabs(G[r][6 + i]) * fabs(pose[1]->v[i] - pose[0]->v[i]) +
                                   fabs(G[r][9 + i]) * fabs(pose[1]->omega[i] - pose[0]->omega[i]);
            }
        }
    }
}

/* m, rad: no model is as small; what is left of 0 by rounding may be */
static const double no_length = 0x1p-50;

/* The largest radius of gyration, √(J/m), of a body with both. */
static double gyration_of(const struct mech_model *m)
{
    double most = 0.;

    for (size_t k = 0; k < m->document->nodes.n && m->terms.M.kind != MECH_MAT_ZERO; k++) {
        const struct mech_seat_of *const on = &m->kinematics.nodes[k];
        const int32_t first = alike(m->document->nodes.at[k].type->ops.node->kind);
        double mass = 0., inertia = 0.;

        for (int32_t i = 0; i < on->n && first > 0 && on->slot[i] < m->sizes.v; i++) {
            const double *const at = mech_mat_place(&m->terms.M, on->slot[i], on->slot[i]);
            double *const of = i < first ? &mass : &inertia;

            *of = fmax(*of, at ? *at : 0.);
        }
        most = mass > 0. ? fmax(most, sqrt(inertia / mass)) : most;
    }
    return most;
}

/* Edges of the box of all markers of joints, added up; where all are at one place, a small part of
 * how far that is away; and no less than a radius of gyration. */
static double extent_of(const struct mech_model *m)
{
    double low[3] = {HUGE_VAL, HUGE_VAL, HUGE_VAL}, high[3] = {-HUGE_VAL, -HUGE_VAL, -HUGE_VAL};
    double sum = 0., far = 0.;

    for (size_t k = 0; k < m->rows.pair_count; k++) {
        for (int i = 0; i < 6 && m->rows.pairs[k].rows; i++) {
            const struct mech_pose *const pose =
                &m->kinematics.poses[m->rows.pairs[k].marker[i / 3]];

            low[i % 3] = fmin(low[i % 3], pose->p[i % 3] - fabs(pose->arm[i % 3]));
            high[i % 3] = fmax(high[i % 3], pose->p[i % 3] + fabs(pose->arm[i % 3]));
        }
    }
    for (int i = 0; i < 3; i++) {
        sum += fmax(0., high[i] - low[i]);
        far = high[i] >= low[i] ? fmax(far, fmax(fabs(high[i]), fabs(low[i]))) : far;
    }
    return fmax(fmax(sum, 1e-3 * far), gyration_of(m));
}

/* The sizes of an equation, with 1 in place of each coordinate where all of them are none. */
static void equation_reach(const struct mech_equation_of *q, double *out)
{
    const double *G = mech_equation_jacobian(q);
    double most = 0.;

    for (int32_t i = 0; i < q->point.n; i++) {
        most = fmax(most, fabs(q->point.q[i]) + fabs(q->point.ref[i]));
    }
    equation_sizes(q, out);
    for (int32_t r = 0; r < q->rows && most <= no_length; r++, G += q->point.n) {
        out[q->row + r] = 0.;
        for (int32_t i = 0; i < q->point.n; i++) {
            out[q->row + r] += fabs(G[i]);
        }
    }
}

void mech_model_joint_gaps(const struct mech_model *m, double share, double *out)
{
    const double extent = extent_of(m), length = extent > no_length ? extent : 1.;
    const double both[2] = {length, length};

    for (size_t k = 0; k < m->rows.pair_count; k++) {
        const struct mech_pair_of *const p = &m->rows.pairs[k];
        double L[MECH_PAIR_ROWS], at[2] = {0.};

        if (!p->rows) {
            continue;
        }
        for (int i = 0; i < 6; i++) {
            at[i / 3] += fabs(m->kinematics.poses[p->marker[i / 3]].p[i % 3]);
        }
        pair_sizes(m, p, at, out);
        memcpy(L, out + p->row, (size_t)p->rows * sizeof *L);
        pair_sizes(m, p, both, out);
        for (int32_t r = 0; r < p->rows; r++) {
            /* half of it: each row has two markers */
            const double gap = 0.5 * share * out[p->row + r] + 0x1p-40 * L[r];

            /* no direction: as of a length of 1 */
            out[p->row + r] = gap > 0. ? gap : share;
        }
    }
    for (size_t k = 0; k < m->rows.equation_count; k++) {
        const struct mech_equation_of *const q = &m->rows.equations[k];

        equation_reach(q, out);
        for (int32_t r = 0; r < q->rows; r++) {
            out[q->row + r] = share * (out[q->row + r] > 0. ? out[q->row + r] : 1.);
        }
    }
}

/* --- rounding --------------------------------------------------------------------------------- */

double mech_model_share(uint32_t place, int side)
{
    /* Fibonacci hashing (D. Knuth, The Art of Computer Programming 3, 6.4): neighbors differ */
    const uint32_t hash = (place + 1) * 2654435769u + (uint32_t)side * 2246822519u;
    const double size = 0.25 + 0.75 * (double)(hash >> 8 & 0xfff) / 4095.;

    return hash & 0x100000u ? size : -size;
}

void mech_model_motion_sizes(const struct mech_model *m, bool lengths, double *d)
{
    memset(d, 0, ((size_t)m->sizes.v + 1) * sizeof *d);
    for (size_t k = 0; k < m->rows.pair_count && lengths; k++) {
        const struct mech_pair_of *const p = &m->rows.pairs[k];
        int32_t slot[MECH_PAIR_SLOTS];
        const int32_t n = mech_pair_slots(m, p, slot);
        double length = 0.;

        for (int i = 0; i < 6; i++) {
            length += fabs(m->kinematics.poses[p->marker[i / 3]].p[i % 3]);
        }
        for (int32_t i = 0; i < n; i++) {
            d[slot[i]] = fmax(d[slot[i]], length);
        }
    }
    for (size_t i = 0; i < m->document->nodes.n; i++) {
        const struct mech_seat_of *const on = &m->kinematics.nodes[i];
        const int32_t first = alike(m->document->nodes.at[i].type->ops.node->kind);

        for (int32_t k = first; k < on->n && !on->first_order && !on->data; k++) {
            d[on->slot[k]] = first > 0 ? 1. : 0.;
        }
    }
    for (size_t i = 0; i < m->document->objects.n; i++) {
        const struct mech_seat_of *const on = &m->kinematics.objects[i];
        const bool own = m->document->objects.at[i].type->ops.object->own && !on->first_order;

        for (int32_t k = on->first; k < on->n && own; k++) {
            d[on->slot[k]] = 0.;
        }
    }
}

void mech_model_nudge(const struct mech_model *m, const double *q, double nudge, int side,
                      double *d, double *out)
{
    for (int32_t i = 0; i < m->sizes.q; i++) {
        out[i] = q[i] * (1. + nudge * mech_model_share((uint32_t)i, side));
    }
    out[m->sizes.q] = 0.;
    mech_model_motion_sizes(m, true, d);
    for (int32_t i = 0; i < m->sizes.v; i++) {
        d[i] *= nudge * mech_model_share((uint32_t)i + 7, side);
    }
    mech_model_move(m, out, d, out);
}
