/* Explicit Runge–Kutta schemes. The first stage is the v̇ that the state carries from the end of
 * the last step, so that a step costs as many evaluations as it has stages. */
#include "solver/step/erk.h"

#include "solver/base/err.h"
#include "solver/step/rates.h"

#include <stdlib.h>
#include <string.h>

struct erk {
    const struct mech_model *model;
    const struct mech_tableau *tableau;
    struct mech_rates rates;
    int32_t nv, nx;
    double *memory;
    double *q, *v, *x; /* stage point, with ground slots */
    double *kq[MECH_ERK_STAGES], *kv[MECH_ERK_STAGES], *kx[MECH_ERK_STAGES];
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
    const size_t v = (size_t)n->v + 1, x = (size_t)n->x + 1;
    const size_t stages = (size_t)tableau->stages;

    *self = e;
    if (!e) {
        return MECH_NO_MEMORY;
    }
    e->model = m;
    e->tableau = tableau;
    e->nv = n->v;
    e->nx = n->x;
    e->memory = calloc((stages + 1) * (2 * v + x), sizeof *e->memory);
    int code = e->memory ? 0 : MECH_NO_MEMORY;
    if (code == 0) {
        double *at = e->memory;

        e->q = at, at += v;
        e->v = at, at += v;
        e->x = at, at += x;
        for (size_t i = 0; i < stages; i++) {
            e->kq[i] = at, at += v;
            e->kv[i] = at, at += v;
            e->kx[i] = at, at += x;
        }
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

    memcpy(e->q, s->q, (size_t)e->nv * sizeof *e->q);
    memcpy(e->v, s->v, (size_t)e->nv * sizeof *e->v);
    memcpy(e->x, s->x, (size_t)e->nx * sizeof *e->x);
    add_stages(e->nv, i, w, h, e->kq, e->q);
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
    memcpy(e->kq[0], s->v, (size_t)e->nv * sizeof *e->v);
    memcpy(e->kv[0], s->vdot, (size_t)e->nv * sizeof *e->v);
    MECH_TRY(mech_rates_xdot(&e->rates, s, t, s->x, e->kx[0], result));

    for (int32_t i = 1; i < b->stages; i++) {
        const double ti = b->c[i] == 1. ? t_end : t + b->c[i] * h;

        place_stage(e, s, h, i);
        memcpy(e->kq[i], e->v, (size_t)e->nv * sizeof *e->v);
        MECH_TRY(mech_rates_vdot(&e->rates, &(struct mech_rate_point){s, ti, e->q, e->v}, e->kv[i],
                                 result));
        MECH_TRY(mech_rates_xdot(&e->rates, s, ti, e->x, e->kx[i], result));
    }
    add_stages(e->nv, b->stages, b->b, h, e->kq, s->q);
    add_stages(e->nv, b->stages, b->b, h, e->kv, s->v);
    add_stages(e->nx, b->stages, b->b, h, e->kx, s->x);

    /* v̇ at the end: an output, and the first stage of the next step */
    MECH_TRY(mech_rates_vdot(&e->rates, &(struct mech_rate_point){s, t_end, s->q, s->v}, s->vdot,
                             result));
    memcpy(s->a, s->vdot, (size_t)e->nv * sizeof *s->a);
    return 0;
}
