/* Explicit Runge–Kutta schemes. The first stage is the v̇ that the state carries from the end of
 * the last step, so that a step costs as many evaluations as it has stages. A pair takes the v̇ at
 * the end of a substep as its last stage (first same as last).
 *
 * Rotations: the stages are those of q̇ = T(q) v in the coordinates themselves, which keep every
 * order; the end of a step is then put back where they belong (Euler parameters to length 1), a
 * change as small as the error (E. Hairer, C. Lubich, G. Wanner, Geometric Numerical Integration,
 * IV.4). */
#include "solver/step/erk_internal.h"

#include "solver/base/err.h"

#include <stdlib.h>
#include <string.h>

void mech_erk_check(const struct mech_model *m, struct mech_diag *d)
{
    if (mech_model_contacts(m)->count > 0) {
        mech_diag_add(d, "/solver/integrator",
                      "an explicit integrator does not support interactions; use MoreauJean");
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
    e->memory = calloc((stages + 1) * (q + v + x) + v + q, sizeof *e->memory);
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
        e->still = at, at += v;
        e->end = at;
        code = mech_rates_init(&e->rates, m, mech_model_settings(m)->linear, result);
        code = code || !tableau->lower ? code : mech_erk_pair_init(e);
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
        mech_substeps_fini(&e->substeps);
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

void mech_erk_add(int32_t n, int32_t count, const double *w, double h, double *const *k,
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
    mech_erk_add(e->nq, i, w, h, e->kq, e->q);
    mech_erk_add(e->nv, i, w, h, e->kv, e->v);
    mech_erk_add(e->nx, i, w, h, e->kx, e->x);
}

void mech_erk_settle(struct erk *e, struct mech_state *s, double t)
{
    if (!mech_model_flat(e->model)) {
        mech_model_move(e->model, s->q, e->still, s->q);
    }
    mech_rates_hold(&e->rates, s, t, s->q, s->v);
}

int mech_erk_finish(struct erk *e, struct mech_state *s, double t, struct mech_step_result *result)
{
    const struct mech_rate_point end = {s, t, s->q, s->v, NULL};

    MECH_TRY(mech_rates_vdot(&e->rates, &end, s->vdot, result));
    mech_rates_reactions(&e->rates, s->vdot, s->lambda);
    memcpy(s->a, s->vdot, (size_t)e->nv * sizeof *s->a);
    return 0;
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
    mech_erk_add(e->nq, b->stages, b->b, h, e->kq, s->q);
    mech_erk_add(e->nv, b->stages, b->b, h, e->kv, s->v);
    mech_erk_add(e->nx, b->stages, b->b, h, e->kx, s->x);
    memcpy(e->end, s->q, (size_t)(b->lower ? e->nq : 0) * sizeof *e->end);
    mech_erk_settle(e, s, t_end);
    /* v̇ at the end: an output, and the first stage of the next step */
    return mech_erk_finish(e, s, t_end, result);
}
