/* Velocity Verlet (W. Swope et al., J. Chem. Phys. 76, 1982) and symplectic Euler:
 *
 *   Verlet   q += h v + h²/2 a;  a₁ = M⁻¹ f(t + h, q, v + h a);  v += h/2 (a + a₁)
 *   Euler    v += h a;  q += h v;  a₁ = M⁻¹ f(t + h, q, v)
 *
 * For forces that depend on velocities Verlet takes those at the end as predicted by a, which keeps
 * its order 2. Rotations take the same motion, q ⊕ (h v + h²/2 a) or q ⊕ h v: what the exact one
 * adds to it, h³/12 v × a, is of higher order. First-order states by Heun's scheme
 * (Verlet) or explicit Euler. */
#include "solver/step/leapfrog.h"

#include "solver/base/err.h"
#include "solver/step/erk.h"
#include "solver/step/rates.h"

#include <stdlib.h>
#include <string.h>

struct leapfrog {
    const struct mech_model *model;
    struct mech_rates rates;
    bool verlet;
    int32_t nv, nx;
    double *memory;
    double *v, *a;       /* [nv + 1] predicted velocity, old acceleration */
    double *d;           /* [nv + 1] motion of the step */
    double *x, *k0, *k1; /* [nx + 1] */
};

void mech_leapfrog_check(const struct mech_model *m, struct mech_diag *d)
{
    mech_erk_check(m, d);
}

int mech_leapfrog_create(const struct mech_model *m, bool verlet, struct mech_step_result *result,
                         void **self)
{
    struct leapfrog *const s = calloc(1, sizeof *s);
    const struct mech_state_sizes *const n = mech_model_sizes(m);
    const size_t v = (size_t)n->v + 1, x = (size_t)n->x + 1;

    *self = s;
    if (!s) {
        return MECH_NO_MEMORY;
    }
    s->model = m;
    s->verlet = verlet;
    s->nv = n->v;
    s->nx = n->x;
    s->memory = calloc(3 * v + 3 * x, sizeof *s->memory);
    int code = s->memory ? 0 : MECH_NO_MEMORY;
    if (code == 0) {
        s->v = s->memory;
        s->a = s->v + v;
        s->d = s->a + v;
        s->x = s->d + v;
        s->k0 = s->x + x;
        s->k1 = s->k0 + x;
        code = mech_rates_init(&s->rates, m, mech_model_settings(m)->linear, result);
    }
    if (code) {
        mech_leapfrog_destroy(s);
        *self = NULL;
    }
    return code;
}

void mech_leapfrog_destroy(void *self)
{
    struct leapfrog *const s = self;

    if (s) {
        mech_rates_fini(&s->rates);
        free(s->memory);
        free(s);
    }
}

const char *mech_leapfrog_linear(const void *self)
{
    const struct leapfrog *const s = self;

    return s->rates.mass ? mech_lsol_name(s->rates.mass) : "";
}

int mech_leapfrog_start(void *self, struct mech_state *s, struct mech_step_result *result)
{
    struct leapfrog *const l = self;

    mech_rates_hold(&l->rates, s, s->at->time, s->q, s->v);
    return mech_rates_start(&l->rates, s, result);
}

static int step_states(struct leapfrog *l, struct mech_state *s, double h, double t_end,
                       struct mech_step_result *result)
{
    const double weight = l->verlet ? 0.5 * h : h;

    MECH_TRY(mech_rates_xdot(&l->rates, s, s->at->time, s->x, l->k0, result));
    if (l->verlet) {
        for (int32_t i = 0; i < l->nx; i++) {
            l->x[i] = s->x[i] + h * l->k0[i];
        }
        MECH_TRY(mech_rates_xdot(&l->rates, s, t_end, l->x, l->k1, result));
        for (int32_t i = 0; i < l->nx; i++) {
            s->x[i] += weight * l->k1[i];
        }
    }
    for (int32_t i = 0; i < l->nx; i++) {
        s->x[i] += weight * l->k0[i];
    }
    return 0;
}

/* q and v up to the new forces; the velocity at which these are taken goes to l->v */
static void drift(struct leapfrog *l, struct mech_state *s, double h)
{
    double *restrict const d = l->d, *restrict const v = s->v, *restrict const to = l->v;
    const double *restrict const a = s->vdot;

    for (int32_t i = 0; i < l->nv; i++) {
        if (l->verlet) {
            d[i] = h * (v[i] + 0.5 * h * a[i]);
            to[i] = v[i] + h * a[i];
        } else {
            v[i] += h * a[i];
            d[i] = h * v[i];
            to[i] = v[i];
        }
    }
    mech_model_move(l->model, s->q, d, s->q);
}

int mech_leapfrog_step(void *self, struct mech_state *s, double h, double t_end,
                       struct mech_step_result *result)
{
    struct leapfrog *const l = self;
    const size_t n = (size_t)l->nv;
    const struct mech_rate_point end = {s, t_end, s->q, l->v, NULL};

    MECH_TRY(step_states(l, s, h, t_end, result));
    memcpy(l->a, s->vdot, n * sizeof *l->a);
    drift(l, s, h);
    mech_rates_hold(&l->rates, s, t_end, s->q, l->v);
    MECH_TRY(mech_rates_vdot(&l->rates, &end, s->vdot, result));
    if (l->verlet) {
        for (int32_t i = 0; i < l->nv; i++) {
            s->v[i] += 0.5 * h * (l->a[i] + s->vdot[i]);
        }
    }
    mech_rates_hold(&l->rates, s, t_end, s->q, s->v);
    mech_rates_reactions(&l->rates, s->vdot, s->lambda);
    memcpy(s->a, s->vdot, n * sizeof *s->a);
    return 0;
}
