/* Explicit Runge–Kutta schemes. The first stage is the v̇ that the state carries from the end of
 * the last step, so that a step costs as many evaluations as it has stages. A pair takes the v̇ at
 * the end of a substep as its last stage (first same as last).
 *
 * Rotations: the stages are those of q̇ = T(q) v in the coordinates themselves, which keep every
 * order; the end of a step is then put back where they belong (Euler parameters to length 1), a
 * change as small as the error (E. Hairer, C. Lubich, G. Wanner, Geometric Numerical Integration,
 * IV.4). */
#include "solver/step/erk.h"

#include "solver/base/err.h"
#include "solver/step/control.h"
#include "solver/step/rates.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct erk {
    const struct mech_model *model;
    const struct mech_tableau *tableau;
    struct mech_rates rates;
    int32_t nq, nv, nx;
    double *memory;
    double *q, *v, *x; /* stage point, with ground slots */
    double *still;     /* [nv + 1] zeros: no motion */
    double *kq[MECH_ERK_STAGES], *kv[MECH_ERK_STAGES], *kx[MECH_ERK_STAGES];
    double *q0, *v0, *vdot0, *x0; /* start of a substep, of pairs */
};

void mech_erk_check(const struct mech_model *m, struct mech_diag *d)
{
    if (mech_model_contacts(m)->count > 0) {
        mech_diag_add(d, "/solver/integrator",
                      "an explicit scheme takes no interactions; use MoreauJean");
    }
}

int mech_erk_create(const struct mech_model *m, const struct mech_tableau *tableau,
                    struct mech_step_result *result, void **self)
{
    struct erk *const e = calloc(1, sizeof *e);
    const struct mech_state_sizes *const n = mech_model_sizes(m);
    const size_t q = (size_t)n->q + 1, v = (size_t)n->v + 1, x = (size_t)n->x + 1;
    const size_t stages = (size_t)tableau->stages + (tableau->lower ? 1 : 0);

    *self = e;
    if (!e) {
        return MECH_NO_MEMORY;
    }
    e->model = m;
    e->tableau = tableau;
    e->nq = n->q;
    e->nv = n->v;
    e->nx = n->x;
    e->memory = calloc((stages + 2) * (q + v + x) + 2 * v, sizeof *e->memory);
    int code = e->memory ? 0 : MECH_NO_MEMORY;
    if (code == 0) {
        double *at = e->memory;

        e->q = at, at += q;
        e->v = at, at += v;
        e->x = at, at += x;
        for (size_t i = 0; i < stages; i++) {
            e->kq[i] = at, at += q;
            e->kv[i] = at, at += v;
            e->kx[i] = at, at += x;
        }
        e->q0 = at, at += q;
        e->v0 = at, at += v;
        e->vdot0 = at, at += v;
        e->x0 = at, at += x;
        e->still = at;
        code = mech_rates_init(&e->rates, m, mech_model_settings(m)->linear, result);
    }
    if (code) {
        mech_erk_destroy(e);
        *self = NULL;
    }
    return code;
}

void mech_erk_destroy(void *self)
{
    struct erk *const e = self;

    if (e) {
        mech_rates_fini(&e->rates);
        free(e->memory);
        free(e);
    }
}

const char *mech_erk_linear(const void *self)
{
    const struct erk *const e = self;

    return e->rates.mass ? mech_lsol_name(e->rates.mass) : "";
}

int mech_erk_start(void *self, struct mech_state *s, struct mech_step_result *result)
{
    struct erk *const e = self;

    mech_rates_hold(&e->rates, s, s->at->time, s->q, s->v);
    return mech_rates_start(&e->rates, s, result);
}

/* out [n] += h Σ_j w_j k_j, j < count */
static void add_stages(int32_t n, int32_t count, const double *w, double h, double *const *k,
                       double *out)
{
    for (int32_t j = 0; j < count; j++) {
        const double factor = h * w[j];

        if (factor != 0.) {
            const double *const kj = k[j];

            for (int32_t i = 0; i < n; i++) {
                out[i] += factor * kj[i];
            }
        }
    }
}

/* The point of stage i into q, v, x of the stepper. */
static void place_stage(struct erk *e, const struct mech_state *s, double h, int32_t i)
{
    const double *const w = e->tableau->a[i];

    memcpy(e->q, s->q, (size_t)e->nq * sizeof *e->q);
    memcpy(e->v, s->v, (size_t)e->nv * sizeof *e->v);
    memcpy(e->x, s->x, (size_t)e->nx * sizeof *e->x);
    add_stages(e->nq, i, w, h, e->kq, e->q);
    add_stages(e->nv, i, w, h, e->kv, e->v);
    add_stages(e->nx, i, w, h, e->kx, e->x);
}

int mech_erk_step(void *self, struct mech_state *s, double h, double t_end,
                  struct mech_step_result *result)
{
    struct erk *const e = self;
    const struct mech_tableau *const b = e->tableau;
    const double t = s->at->time;

    /* first stage: known */
    mech_model_qdot(e->model, s->q, s->v, e->kq[0]);
    memcpy(e->kv[0], s->vdot, (size_t)e->nv * sizeof *e->v);
    MECH_TRY(mech_rates_xdot(&e->rates, s, t, s->x, e->kx[0], result));

    for (int32_t i = 1; i < b->stages; i++) {
        const double ti = b->c[i] == 1. ? t_end : t + b->c[i] * h;

        place_stage(e, s, h, i);
        mech_rates_hold(&e->rates, s, ti, e->q, e->v);
        mech_model_qdot(e->model, e->q, e->v, e->kq[i]);
        MECH_TRY(mech_rates_vdot(&e->rates, &(struct mech_rate_point){s, ti, e->q, e->v, NULL},
                                 e->kv[i], result));
        MECH_TRY(mech_rates_xdot(&e->rates, s, ti, e->x, e->kx[i], result));
    }
    add_stages(e->nq, b->stages, b->b, h, e->kq, s->q);
    add_stages(e->nv, b->stages, b->b, h, e->kv, s->v);
    add_stages(e->nx, b->stages, b->b, h, e->kx, s->x);
    if (!mech_model_flat(e->model)) {
        mech_model_move(e->model, s->q, e->still, s->q);
    }
    mech_rates_hold(&e->rates, s, t_end, s->q, s->v);

    /* v̇ at the end: an output, and the first stage of the next step */
    MECH_TRY(mech_rates_vdot(&e->rates, &(struct mech_rate_point){s, t_end, s->q, s->v, NULL},
                             s->vdot, result));
    mech_rates_reactions(&e->rates, s->vdot, s->lambda);
    memcpy(s->a, s->vdot, (size_t)e->nv * sizeof *s->a);
    return 0;
}

/* --- pairs ------------------------------------------------------------------------------------ */

int32_t mech_erk_carry(const struct mech_model *m)
{
    (void)m;
    return 1; /* the next substep, 0: not yet known */
}

static void save_start(struct erk *e, const struct mech_state *s)
{
    memcpy(e->q0, s->q, (size_t)e->nq * sizeof *e->q0);
    memcpy(e->v0, s->v, (size_t)e->nv * sizeof *e->v0);
    memcpy(e->vdot0, s->vdot, (size_t)e->nv * sizeof *e->vdot0);
    memcpy(e->x0, s->x, (size_t)e->nx * sizeof *e->x0);
}

static void back_to_start(const struct erk *e, struct mech_state *s)
{
    memcpy(s->q, e->q0, (size_t)e->nq * sizeof *e->q0);
    memcpy(s->v, e->v0, (size_t)e->nv * sizeof *e->v0);
    memcpy(s->vdot, e->vdot0, (size_t)e->nv * sizeof *e->vdot0);
    memcpy(s->x, e->x0, (size_t)e->nx * sizeof *e->x0);
}

/* Norm of the estimated error of the substep that ended in s, 1: as large as allowed. */
static int estimate(struct erk *e, const struct mech_state *s, double h, double t_end,
                    double *error, struct mech_step_result *result)
{
    const struct mech_adaptive_settings *const a = &mech_model_settings(e->model)->adaptive;
    const int32_t last = e->tableau->stages, count = last + 1;
    const size_t q = (size_t)e->nq, v = (size_t)e->nv, x = (size_t)e->nx;

    /* the last stage: rates at the end */
    mech_model_qdot(e->model, s->q, s->v, e->kq[last]);
    memcpy(e->kv[last], s->vdot, v * sizeof *s->vdot);
    MECH_TRY(mech_rates_xdot(&e->rates, s, t_end, s->x, e->kx[last], result));
    memset(e->q, 0, q * sizeof *e->q);
    memset(e->v, 0, v * sizeof *e->v);
    memset(e->x, 0, x * sizeof *e->x);
    add_stages(e->nq, count, e->tableau->e, h, e->kq, e->q);
    add_stages(e->nv, count, e->tableau->e, h, e->kv, e->v);
    add_stages(e->nx, count, e->tableau->e, h, e->kx, e->x);

    const double sum = mech_control_squares(a, q, e->q0, s->q, e->q) +
                       mech_control_squares(a, v, e->v0, s->v, e->v) +
                       mech_control_squares(a, x, e->x0, s->x, e->x);
    *error = sqrt(sum / fmax(1., (double)(q + v + x)));
    return 0;
}

int mech_erk_adaptive(void *self, struct mech_state *s, double h, double t_end,
                      struct mech_step_result *result)
{
    struct erk *const e = self;
    struct mech_control c;
    double error = 0.;

    mech_control_begin(&c, &mech_model_settings(e->model)->adaptive, e->tableau->lower, h,
                       s->carry[0]);
    while (s->at->time < t_end) {
        const double end = mech_control_plan(&c, s->at->time, t_end);

        save_start(e, s);
        MECH_TRY(mech_erk_step(e, s, c.step, end, result));
        MECH_TRY(estimate(e, s, c.step, end, &error, result));
        if (mech_control_judge(&c, error)) {
            s->at->time = end;
        } else {
            back_to_start(e, s);
        }
        if (mech_control_exhausted(&c, s->at->time)) {
            snprintf(result->reason, sizeof result->reason,
                     "the error asks for substeps under %.3g s at t = %.9g, or for too many",
                     mech_model_settings(e->model)->adaptive.minimum_step, s->at->time);
            return MECH_STEP_TOO_SMALL;
        }
    }
    memcpy(s->a, s->vdot, (size_t)e->nv * sizeof *s->a);
    s->carry[0] = c.next;
    return 0;
}
