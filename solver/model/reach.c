/* How far joints may be followed; see reach.h. */
#include "solver/model/reach.h"

#include "solver/model/balance.h"
#include "solver/model/internal.h"

#include <math.h>

/* Of the rows of joints between rigid bodies that have slopes everywhere, all that changes with
 * translations is affine in them: a step as long as anything in the model rounds least. */
static double longest_of(const struct mech_model *m)
{
    double longest = 1.;

    for (size_t k = 0; k < m->rows.pair_count; k++) {
        const struct mech_pose *pose[2];

        if (m->rows.pairs[k].rows) {
            mech_pair_poses(m, &m->rows.pairs[k], pose);
            for (int i = 0; i < 6; i++) {
                longest = fmax(longest, fabs(pose[i / 3]->p[i % 3]));
                longest = fmax(longest, fabs(pose[i / 3]->arm[i % 3]));
            }
        }
    }
    return longest;
}

/* The share by which J of a deformable pose changes along dq, of its rows of v and of omega. */
static double bend(const struct mech_pose *pose, const double *dq, const int32_t *slot)
{
    const size_t n = (size_t)pose->n;
    double most[2] = {0.}, change[2] = {0.};

    for (size_t k = 0; k < 6 * n && pose->flex; k++) {
        double sum = 0.;

        for (size_t j = 0; j < n; j++) {
            sum += pose->flex->slope[k * n + j] * dq[slot[j]];
        }
        most[k >= 3 * n] = fmax(most[k >= 3 * n], fabs(pose->flex->J[k]));
        change[k >= 3 * n] = fmax(change[k >= 3 * n], fabs(sum));
    }
    return fmax(most[0] > 0. ? change[0] / most[0] : 0., most[1] > 0. ? change[1] / most[1] : 0.);
}

/* Row r of J dq */
static double twist_of(const struct mech_pose *pose, int r, const double *dq, const int32_t *slot)
{
    double sum = 0.;

    for (int32_t i = 0; i < pose->n; i++) {
        const double J = pose->flex ? pose->flex->J[r * pose->n + i] : pose->J[r][i];

        sum += J * dq[slot[i]];
    }
    return sum;
}

/* By how much of the way to where its rows have no slopes a pair goes along dq; angle: of its
 * turns. */
static double approach(const struct mech_pair_of *p, const struct mech_pose *const pose[2],
                       const double *dq, const int32_t *slot, double angle)
{
    double reach[2] = {HUGE_VAL, HUGE_VAL}, way = 0.;

    p->ops->reach(p->record, pose, reach);
    for (int i = 0; i < 3; i++) {
        /* and what the turns of arms add beyond first order */
        way += fabs(twist_of(pose[1], i, dq, slot + pose[0]->n) - twist_of(pose[0], i, dq, slot)) +
               angle * (fabs(pose[0]->arm[i]) + fabs(pose[1]->arm[i]));
    }
    const double share = fmax(way / reach[0], angle / reach[1]);

    /* where they are, nothing is known of slopes */
    return isfinite(share) ? share : 0.;
}

static double pair_reach(const struct mech_model *m, const struct mech_pair_of *p, const double *dq,
                         const double *one, double longest)
{
    const struct mech_pose *pose[2];
    int32_t slot[MECH_PAIR_SLOTS];
    const int32_t n = mech_pair_slots(m, p, slot);
    double angle = 0., way = 0.;

    mech_pair_poses(m, p, pose);
    for (int32_t i = 0; i < n; i++) {
        const double size = fabs(dq[slot[i]]);

        double *const most = one[slot[i]] > 0. ? &angle : &way;

        *most = size > *most ? size : *most;
    }
    angle = fmax(angle, fmax(bend(pose[0], dq, slot), bend(pose[1], dq, slot + pose[0]->n)));
    double share = fmax(angle, way / longest);
    if (share > 0. && p->ops->reach) {
        share = fmax(share, approach(p, pose, dq, slot, angle));
    }
    return share > 0. ? 1. / share : 0.;
}

/* Equations between coordinates are of second order in them at most. */
static double equation_reach(const struct mech_equation_of *q, const double *dq, double longest)
{
    double way = 0.;

    for (int32_t i = 0; i < q->point.n; i++) {
        const double size = fabs(dq[q->slot[i]]);

        way = size > way ? size : way;
        longest = fmax(longest, fmax(fabs(q->point.q[i]), fabs(q->point.ref[i])));
    }
    return way > 0. ? longest / way : 0.;
}

void mech_model_row_reach(const struct mech_model *m, const double *dq, double *one, double *out)
{
    const double longest = longest_of(m);

    mech_model_motion_sizes(m, false, one);
    for (size_t k = 0; k < m->rows.pair_count; k++) {
        const struct mech_pair_of *const p = &m->rows.pairs[k];
        const double reach = p->rows && !p->idle ? pair_reach(m, p, dq, one, longest) : 0.;

        for (int32_t r = 0; r < p->rows; r++) {
            out[p->row + r] = reach;
        }
    }
    for (size_t k = 0; k < m->rows.equation_count; k++) {
        const struct mech_equation_of *const q = &m->rows.equations[k];
        const double reach = q->rows ? equation_reach(q, dq, longest) : 0.;

        for (int32_t r = 0; r < q->rows; r++) {
            out[q->row + r] = reach;
        }
    }
}

/* By how long a lever turns move what a pair relates: arms, and the distance of its markers where
 * an axis turns with one of them. */
static double lever_of(const struct mech_pair_of *p, const struct mech_pose *const pose[2])
{
    double sum = 0.;

    for (int i = 0; i < 3; i++) {
        sum += fabs(pose[0]->arm[i]) + fabs(pose[1]->arm[i]);
        sum += p->ops->reach ? 0. : fabs(pose[1]->p[i] - pose[0]->p[i]);
    }
    return sum;
}

void mech_model_turn_lengths(const struct mech_model *m, double *out)
{
    static const double other = -1.;

    mech_model_motion_sizes(m, false, out);
    for (int32_t i = 0; i <= m->sizes.v; i++) {
        out[i] = out[i] > 0. ? 0. : other;
    }
    for (size_t k = 0; k < m->rows.pair_count; k++) {
        const struct mech_pair_of *const p = &m->rows.pairs[k];
        const struct mech_pose *pose[2];
        int32_t slot[MECH_PAIR_SLOTS];
        const int32_t n = p->rows && !p->idle ? mech_pair_slots(m, p, slot) : 0;

        mech_pair_poses(m, p, pose);
        for (int32_t i = 0; i < n; i++) {
            out[slot[i]] = out[slot[i]] < 0. ? other : fmax(out[slot[i]], lever_of(p, pose));
        }
    }
    for (int32_t i = 0; i <= m->sizes.v; i++) {
        out[i] = out[i] > 0. ? out[i] : 1.;
    }
}
