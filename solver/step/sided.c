/* One-sided rows; see sided.h. The set that acts is found by opening one row at a time: exact where
 * they do not depend on each other, and where they do the next step closes what was missed. */
#include "solver/step/sided.h"

#include "solver/base/err.h"
#include "solver/model/balance.h"

#include <math.h>
#include <string.h>

void mech_sided_classify(struct mech_rates *r, struct mech_state *s)
{
    const struct mech_joint_rows *const rows = mech_model_joints(r->model);
    const struct mech_eval e = mech_model_point(r->model, s, s->at->time, s->q, s->v);
    double *const g = r->x, *const limit = r->limit, *const L = r->size;
    double *const speeds = L + rows->count;

    mech_model_pose(r->model, &e);
    mech_model_joint_residual(r->model, &e, g);
    mech_model_limits(r->model, limit);
    mech_model_joint_sizes(r->model, L);
    mech_model_limit_speeds(r->model, speeds);
    mech_rates_joint_speed(r, &e, r->bias);
    for (int32_t k = 0; k < rows->count; k++) {
        const double side = rows->side[k];

        if (rows->released && rows->released[k]) {
            s->open[k] = MECH_LET_GO;
        } else if (side == 0.) {
            s->open[k] = rows->dropped && rows->dropped[k];
        } else if (s->open[k] == MECH_SIDE_UNKNOWN) {
            const struct mech_side of = {.side = side,
                                         .g = g[k],
                                         .limit = limit[k],
                                         .rate = r->bias[k],
                                         .speeds = speeds[k] + fabs(r->gt[k]),
                                         .terms = mech_rates_joint_speeds(r, k, s->v),
                                         .L = L[k],
                                         .h = mech_model_settings(r->model)->step_size};

            s->open[k] = mech_model_side_open(&of);
        }
        s->lambda[k] = s->open[k] != 0. ? 0. : s->lambda[k];
    }
}

bool mech_sided_release(const struct mech_model *m, double share, struct mech_state *s)
{
    const struct mech_joint_rows *const rows = mech_model_joints(m);
    double least = 0.;
    int32_t worst = -1;

    for (int32_t k = 0; k < rows->count; k++) {
        least = rows->side[k] ? fmax(least, share * fabs(s->lambda[k])) : least;
    }
    for (int32_t k = 0; k < rows->count; k++) {
        const double push = rows->side[k] * s->lambda[k];

        if (s->open[k] == 0. && push < -least) {
            least = -push;
            worst = k;
        }
    }
    if (worst >= 0) {
        s->open[worst] = 1.;
        s->lambda[worst] = 0.;
    }
    return worst >= 0;
}

/* The row that an impact would pull back, or -1. */
static int32_t pulled(const struct mech_rates *r, const struct mech_state *s)
{
    const struct mech_joint_rows *const rows = mech_model_joints(r->model);
    const double *const x = r->x + mech_model_linear(r->model)->nv;
    int32_t worst = -1;
    double least = 0.;

    for (int32_t k = 0; k < rows->count; k++) {
        const double push = -rows->side[k] * x[k];

        if (s->open[k] == 0. && push < least) {
            least = push;
            worst = k;
        }
    }
    return worst;
}

int mech_sided_impact(struct mech_rates *r, struct mech_state *s, struct mech_step_result *result)
{
    for (;;) {
        MECH_TRY(mech_rates_project(r, s, result));
        const int32_t k = pulled(r, s);

        if (k < 0) {
            break;
        }
        s->open[k] = 1.;
        s->lambda[k] = 0.;
    }
    for (int32_t i = 0; i < mech_model_linear(r->model)->nv; i++) {
        s->v[i] += r->x[i];
    }
    return 0;
}
