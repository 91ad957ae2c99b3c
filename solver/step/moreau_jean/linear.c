/* Moreau–Jean time stepping of linear systems with impacts; numerics in linear.h.
 *
 * Carried from step to step: whether F is constant, and F(t_k), so that each step evaluates F once
 * (never when it is constant) and a restored state needs no evaluation. v̇ of the state is the mean
 * acceleration of the last step, (v_{k+1} − v_k)/h, impulses included; 0 before the first.
 *
 * Coordinates that constraints hold (pins.h) get a mass that dwarfs all others and the force that
 * gives them the velocity of t_{k+1} (where the velocity alone is held, q follows as that of any
 * other coordinate): coupled terms do not change, impulses do not move
 * them. Their reaction is the mean one of the step, with v_θ = v_k + θ dv
 *
 *     h λ = (M dv + h C v_θ + h K (q_k − q_ref + hθ v_θ) − h F_θ − HᵀP)_p / factor
 */
#include "solver/step/moreau_jean/linear.h"

#include "solver/base/err.h"
#include "solver/base/text.h"
#include "solver/linalg/mat_walk.h"
#include "solver/step/moreau_jean/ops.h"
#include "solver/step/pins.h"

#include <stdlib.h>
#include <string.h>

struct stepper {
    const struct mech_model *model;
    struct mech_moreau_jean core;
    double step_size; /* of the model */
    double *next;     /* [nv + 1] F(t_{k+1}) */
    double *mean;     /* [nv + 1] (1 − θ) F(t_k) + θ F(t_{k+1}) */
    struct mech_pins pins;
    struct mech_linear_part part; /* of the model, with M heavy where coordinates are held */
    struct mech_arena arena;      /* of what follows */
    struct mech_mat M;
    double *q, *v, *u;    /* [nv + 1] where held ones go to, with the others; scratch */
    double *force, *push; /* [nv + 1] F_θ, and with what moves held ones */
    bool *held;           /* [nv + 1] */
};

/* no mass of a model is near, and its reciprocal is far above the smallest numbers */
static const double heavy = 0x1p300;

/* a flag, and F with its slot of the ground */
static int32_t carry(const struct mech_model *m)
{
    return mech_model_sizes(m)->v + 2;
}

static void destroy(void *self)
{
    struct stepper *const s = self;
    if (s) {
        mech_moreau_jean_fini(&s->core);
        mech_pins_fini(&s->pins);
        mech_arena_fini(&s->arena);
        free(s->next);
        free(s->mean);
        free(s);
    }
}

/* W and A for this h; reports the item whose coordinate makes W singular. */
static int factor(struct stepper *s, double h, struct mech_step_result *result)
{
    int32_t where = -1;
    const int code = mech_moreau_jean_factor(&s->core, h, &where);
    if (code == MECH_NOT_CONVERGED || code == MECH_UNSUPPORTED) {
        mech_text_format(result->reason, sizeof result->reason,
                         "the linear solver \"%s\" cannot solve with M + h theta C + h^2 theta^2 K",
                         mech_lsol_name(s->core.motion.solver));
    } else if (code > 0) {
        char owner[96] = "";
        mech_model_owner(s->model, where, owner, sizeof owner);
        mech_text_format(result->reason, sizeof result->reason,
                         "%s: M + h theta C + h^2 theta^2 K is singular", owner);
    }
    return code;
}

/* Held coordinates: their mass, and scratch. */
static int hold(struct stepper *s, struct mech_step_result *result)
{
    const struct mech_mat *const M = mech_model_linear(s->model)->M;
    const size_t n = (size_t)mech_model_sizes(s->model)->v + 1;

    s->part = *mech_model_linear(s->model);
    MECH_TRY(mech_pins_init(&s->pins, s->model, NULL, false, result));
    if (s->pins.count == 0) {
        return 0;
    }
    s->q = mech_arena_alloc(&s->arena, 5 * n, sizeof *s->q);
    s->held = mech_arena_alloc(&s->arena, n, sizeof *s->held);
    if (!s->q || !s->held) {
        return MECH_NO_MEMORY;
    }
    s->v = s->q + n;
    s->u = s->v + n;
    s->force = s->u + n;
    s->push = s->force + n;
    MECH_TRY(mech_mat_copy(&s->arena, M, &s->M));
    for (int32_t i = 0; i < s->pins.count; i++) {
        double *const at = mech_mat_place(&s->M, s->pins.at[i].slot, s->pins.at[i].slot);

        *at = heavy;
        s->held[s->pins.at[i].slot] = true;
    }
    s->part.M = &s->M;
    return 0;
}

static int create(const struct mech_model *m, struct mech_step_result *result, void **self)
{
    const struct mech_settings *const settings = mech_model_settings(m);
    struct stepper *const s = calloc(1, sizeof *s);
    if (!s) {
        return MECH_NO_MEMORY;
    }
    const size_t n = (size_t)mech_model_sizes(m)->v + 1;
    s->model = m;
    mech_arena_init(&s->arena, 0);
    s->step_size = settings->step_size;
    s->next = calloc(n, sizeof *s->next);
    s->mean = calloc(n, sizeof *s->mean);
    struct mech_moreau_jean_settings core = {
        .theta = settings->theta,
        .gamma = settings->gamma,
        .threshold = settings->activation_threshold,
        .linear = settings->linear,
        .vi = settings->vi,
        .interrupt = mech_model_interrupt(m),
        .model = m,
    };
    int code = !s->next || !s->mean ? MECH_NO_MEMORY : 0;
    code = code != 0 ? code : hold(s, result);
    if (code == 0) {
        core.held = s->held;
        code =
            mech_moreau_jean_init(&s->core, &s->part, mech_model_contacts(m), &core, s->step_size);
    }
    if (code == 0) {
        code = factor(s, s->step_size, result);
    }
    if (code != 0) {
        destroy(s);
        return code;
    }
    *self = s;
    return 0;
}

static int start(void *self, struct mech_state *state, struct mech_step_result *result)
{
    const struct stepper *const s = self;
    mech_pins_hold(&s->pins, state, state->at->time, state->q, state->v);
    state->carry[0] = mech_model_constant_force(s->model, state) ? 1. : 0.;
    return mech_step_force(s->model, state, state->at->time, state->carry + 1, result);
}

/* λ of the step from u = q_k − q_ref and v_k to the state; needs dv and the impulses. */
static void react(const struct stepper *s, double h, struct mech_state *state)
{
    const struct mech_linear_part *const part = mech_model_linear(s->model);
    const struct mech_contact_rows *const rows = mech_model_contacts(s->model);
    const double theta = s->core.motion.theta, *const dv = s->core.dv;
    double *const f = s->force, *const v = s->v;

    /* −h F_θ − HᵀP, and what M, C and K add to it */
    for (int32_t i = 0; i < part->nv; i++) {
        f[i] *= -h;
        v[i] += theta * dv[i];
        s->u[i] += h * theta * v[i];
    }
    for (int32_t r = 0; r < rows->count; r++) {
        for (int32_t k = rows->start[r]; k < rows->start[r + 1]; k++) {
            f[rows->column[k]] -= rows->value[k] * state->impulse[r];
        }
    }
    mech_mat_mul(part->M, 1., dv, 1., f);
    if (part->C->kind != MECH_MAT_ZERO) {
        mech_mat_mul(part->C, h, v, 1., f);
    }
    if (part->K->kind != MECH_MAT_ZERO) {
        mech_mat_mul(part->K, h, s->u, 1., f);
    }
    for (int32_t i = 0; i < s->pins.count; i++) {
        const struct mech_pin *const pin = &s->pins.at[i];

        state->lambda[pin->row] = f[pin->slot] / (h * pin->factor);
    }
}

/* A step under the mean force, with held coordinates put where they are at t_end. */
static int move(struct stepper *s, const double *force, struct mech_state *state, double t_end,
                struct mech_step_result *result)
{
    const size_t n = (size_t)mech_model_sizes(s->model)->v + 1;
    const double *const q_ref = mech_model_reference(s->model);
    const double h = s->core.motion.h;

    if (s->pins.count == 0) {
        return mech_moreau_jean_step(&s->core, force, state, result);
    }
    memcpy(s->force, force, n * sizeof *s->force);
    memcpy(s->push, force, n * sizeof *s->push);
    memcpy(s->q, state->q, n * sizeof *s->q);
    memcpy(s->v, state->v, n * sizeof *s->v);
    for (size_t i = 0; i < n; i++) {
        s->u[i] = state->q[i] - q_ref[i];
    }
    mech_pins_hold(&s->pins, state, t_end, s->q, s->v);
    for (int32_t i = 0; i < s->pins.count; i++) {
        const int32_t slot = s->pins.at[i].slot;

        s->push[slot] = heavy * ((s->v[slot] - state->v[slot]) / h);
    }
    MECH_TRY(mech_moreau_jean_step(&s->core, s->push, state, result));
    for (int32_t i = 0; i < s->pins.count; i++) {
        const int32_t slot = s->pins.at[i].slot;

        state->q[slot] = s->pins.at[i].velocity ? state->q[slot] : s->q[slot];
        state->v[slot] = s->v[slot];
        s->v[slot] -= s->core.dv[slot];
    }
    react(s, h, state);
    return 0;
}

static int step(void *self, struct mech_state *state, double h, double t_end,
                struct mech_step_result *result)
{
    struct stepper *const s = self;
    double *restrict const force = state->carry + 1;
    MECH_TRY(factor(s, h, result));
    if (state->carry[0] != 0.) {
        return move(s, force, state, t_end, result);
    }
    const size_t n = (size_t)mech_model_sizes(s->model)->v;
    const double theta = s->core.motion.theta;
    MECH_TRY(mech_step_force(s->model, state, t_end, s->next, result));
    for (size_t i = 0; i < n; i++) {
        s->mean[i] = (1. - theta) * force[i] + theta * s->next[i];
    }
    MECH_TRY(move(s, s->mean, state, t_end, result));
    memcpy(force, s->next, n * sizeof *force);
    return 0;
}

static const char *linear(const void *self)
{
    const struct stepper *const s = self;
    return mech_lsol_name(s->core.motion.solver);
}

static const char *vi(const void *self)
{
    const struct stepper *const s = self;
    return mech_impacts_solver(&s->core.impacts);
}

const struct mech_moreau_jean_ops mech_moreau_jean_linear = {
    .rows_most = MECH_CONTACT_ROWS_MOST,
    .carry = carry,
    .create = create,
    .start = start,
    .step = step,
    .linear = linear,
    .vi = vi,
    .destroy = destroy,
};
