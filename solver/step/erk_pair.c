/* Pairs of explicit Runge–Kutta schemes with step size control. With solver.adaptive.denseOutput
 * the substeps do not stop at the end of a step: the state there is interpolated, and the state
 * carries the extension of the substep that holds it, and that substep's end, from which the next
 * one goes on. A change of inputs or state makes a new start at the interpolated point.
 *
 * Carried: the size of the next substep (0: not yet known); for dense output also whether there is
 * an extension, its times, its numbers (dense.h), and v̇ at its end. */
#include "solver/step/erk_internal.h"

#include "solver/base/err.h"

#include <math.h>
#include <string.h>

enum { NEXT, THERE, FROM, TO, NUMBERS };

static bool dense(const struct mech_model *m)
{
    return mech_model_settings(m)->adaptive.dense;
}

bool mech_erk_divides(const struct mech_model *m)
{
    (void)m;
    return true;
}

int32_t mech_erk_carry(const struct mech_model *m)
{
    const struct mech_state_sizes *const n = mech_model_sizes(m);

    return dense(m) ? NUMBERS + (int32_t)mech_dense_size(n) + n->v : 1;
}

/* Coordinates at the end of a substep as its stages lead there: a rotation vector that has been put
 * in order may have turned round by 2π. */
static const double *end_of(const struct erk *e, const struct mech_state *s)
{
    return mech_model_flat(e->model) ? s->q : e->end;
}

/* Norm of the estimated error of the substep that ended in s, 1: as large as allowed. */
static int estimate(void *self, const struct mech_state *start, const struct mech_state *s,
                    double h, double *error, struct mech_step_result *result)
{
    struct erk *const e = self;
    const struct mech_adaptive_settings *const a = &mech_model_settings(e->model)->adaptive;
    const int32_t last = e->tableau->stages, count = last + 1;
    const size_t q = (size_t)e->nq, v = (size_t)e->nv, x = (size_t)e->nx;

    /* the last stage: rates at the end */
    mech_model_qdot(e->model, end_of(e, s), s->v, e->kq[last]);
    memcpy(e->kv[last], s->vdot, v * sizeof *s->vdot);
    MECH_TRY(mech_rates_xdot(&e->rates, s, start->at->time + h, s->x, e->kx[last], result));
    memset(e->q, 0, q * sizeof *e->q);
    memset(e->v, 0, v * sizeof *e->v);
    memset(e->x, 0, x * sizeof *e->x);
    mech_erk_add(e->nq, count, e->tableau->e, h, e->kq, e->q);
    mech_erk_add(e->nv, count, e->tableau->e, h, e->kv, e->v);
    mech_erk_add(e->nx, count, e->tableau->e, h, e->kx, e->x);

    const double sum = mech_control_squares(a, q, start->q, s->q, e->q) +
                       mech_control_squares(a, v, start->v, s->v, e->v) +
                       mech_control_squares(a, x, start->x, s->x, e->x);
    *error = sqrt(sum / fmax(1., (double)(q + v + x)));
    return 0;
}

int mech_erk_pair_init(struct erk *e)
{
    e->substeps.self = e;
    e->substeps.step = mech_erk_step;
    e->substeps.estimate = estimate;
    e->substeps.lower = e->tableau->lower;
    e->substeps.beyond = dense(e->model);
    return mech_substeps_init(&e->substeps, e->model, mech_erk_carry(e->model));
}

int mech_erk_pair_start(void *self, struct mech_state *s, struct mech_step_result *result)
{
    const struct erk *const e = self;

    if (dense(e->model)) {
        s->carry[THERE] = 0.;
    }
    return mech_erk_start(self, s, result);
}

/* --- dense output ----------------------------------------------------------------------------- */

static struct mech_dense extension(const struct erk *e, const struct mech_state *s)
{
    struct mech_dense d;

    mech_dense_place(&d, mech_model_sizes(e->model), s->carry + NUMBERS);
    d.t0 = s->carry[FROM];
    d.t1 = s->carry[TO];
    return d;
}

/* The end of the last substep as the state. */
static void go_on(const struct erk *e, struct mech_state *s)
{
    const struct mech_dense d = extension(e, s);
    const double *const vdot = s->carry + NUMBERS + mech_dense_size(mech_model_sizes(e->model));

    memcpy(s->q, d.y1, (size_t)d.nq * sizeof *s->q);
    if (!mech_model_flat(e->model)) {
        mech_model_move(e->model, s->q, e->still, s->q);
    }
    memcpy(s->v, d.y1 + d.nq, (size_t)d.nv * sizeof *s->v);
    memcpy(s->x, d.y1 + d.nq + d.nv, (size_t)d.nx * sizeof *s->x);
    memcpy(s->vdot, vdot, (size_t)d.nv * sizeof *s->vdot);
    s->at->time = d.t1;
}

/* (q, v, x) into y */
static void pack(const struct mech_dense *d, const double *q, const double *v, const double *x,
                 double *y)
{
    memcpy(y, q, (size_t)d->nq * sizeof *y);
    memcpy(y + d->nq, v, (size_t)d->nv * sizeof *y);
    memcpy(y + d->nq + d->nv, x, (size_t)d->nx * sizeof *y);
}

/* The extension of the last substep, whose stages are still there, into the state. */
static void extend(struct erk *e, struct mech_state *s)
{
    const struct mech_state *const from = &e->substeps.start;
    const int32_t last = e->tableau->stages;
    double *const vdot = s->carry + NUMBERS + mech_dense_size(mech_model_sizes(e->model));

    s->carry[THERE] = 1.;
    s->carry[FROM] = from->at->time;
    s->carry[TO] = s->at->time;
    struct mech_dense d = extension(e, s);
    pack(&d, from->q, from->v, from->x, d.y0);
    pack(&d, end_of(e, s), s->v, s->x, d.y1);
    pack(&d, e->kq[0], e->kv[0], e->kx[0], d.r3);
    pack(&d, e->kq[last], e->kv[last], e->kx[last], d.r4);
    mech_dense_hermite(&d);
    const double h = d.t1 - d.t0;
    mech_erk_add(e->nq, last + 1, e->tableau->d, h, e->kq, d.r5);
    mech_erk_add(e->nv, last + 1, e->tableau->d, h, e->kv, d.r5 + d.nq);
    mech_erk_add(e->nx, last + 1, e->tableau->d, h, e->kx, d.r5 + d.nq + d.nv);
    memcpy(vdot, s->vdot, (size_t)d.nv * sizeof *vdot);
}

static int step_beyond(struct erk *e, struct mech_state *s, double h, double t_end,
                       struct mech_step_result *result)
{
    if (s->carry[THERE] != 0. && s->carry[TO] < t_end) {
        go_on(e, s);
        s->carry[THERE] = 0.;
    }
    if (s->carry[THERE] == 0.) {
        MECH_TRY(mech_substeps_run(&e->substeps, s, h, t_end, result));
        extend(e, s);
    }
    const struct mech_dense d = extension(e, s);

    mech_dense_at(&d, t_end, s->q, s->v, s->x);
    mech_erk_settle(e, s, t_end);
    return mech_erk_finish(e, s, t_end, result);
}

int mech_erk_adaptive(void *self, struct mech_state *s, double h, double t_end,
                      struct mech_step_result *result)
{
    struct erk *const e = self;

    if (dense(e->model)) {
        return step_beyond(e, s, h, t_end, result);
    }
    return mech_substeps_run(&e->substeps, s, h, t_end, result);
}
