/* Moreau–Jean time stepping for linear systems with impacts (solver/README.md; J.-J. Moreau,
 * M. Jean, 1987; V. Acary, B. Brogliato, Numerical Methods for Nonsmooth Dynamical Systems,
 * Springer 2008, chapter 10). First order; numerics in moreau_jean.h.
 *
 * Carried from step to step: whether F is constant, and F(t_k), so that each step evaluates F once
 * (never when it is constant) and a restored state needs no evaluation. v̇ of the state is the mean
 * acceleration of the last step, (v_{k+1} − v_k)/h, impulses included; 0 before the first.
 */
#include "solver/step/moreau_jean.h"

#include "solver/base/err.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct stepper {
    const struct mech_model *model;
    struct mech_moreau_jean core;
    double step_size; /* of the model */
    double *next;     /* [nv + 1] F(t_{k+1}) */
    double *mean;     /* [nv + 1] (1 − θ) F(t_k) + θ F(t_{k+1}) */
};

static void check(const struct mech_model *m, struct mech_diag *d)
{
    const struct mech_settings *const settings = mech_model_settings(m);
    const struct mech_contact_rows *const rows = mech_model_contacts(m);
    if (!mech_model_is_linear(m)) {
        mech_diag_add(d, "/solver/integrator",
                      "MoreauJean takes linear systems; an item of this model is not linear");
    }
    if (mech_model_sizes(m)->x > 0) {
        mech_diag_add(d, "/solver/integrator",
                      "MoreauJean takes no first-order coordinates (NodeGenericODE1)");
    }
    if (rows != NULL && rows->count > MECH_CONTACT_ROWS_MOST) {
        mech_diag_add(d, "/interactions", "%d contact rows; MoreauJean takes at most %d",
                      (int)rows->count, (int)MECH_CONTACT_ROWS_MOST);
    }
    const struct mech_vi_type *const vi =
        settings->vi.type != NULL ? mech_vi_find(settings->vi.type) : NULL;
    if (settings->vi.type != NULL && vi == NULL) {
        mech_diag_add(d, "/solver/vi/type", "there is no complementarity solver \"%s\"",
                      settings->vi.type);
    }
    uint32_t kinds = 1u << MECH_SET_UNILATERAL;
    for (int32_t i = 0; rows != NULL && rows->sets != NULL && i < rows->contacts; i++) {
        kinds |= 1u << rows->sets[i].kind;
    }
    if (vi != NULL && (kinds & ~vi->kinds) != 0) {
        mech_diag_add(d, "/solver/vi/type", "\"%s\" does not take the laws of this model: %s",
                      vi->name, vi->doc);
    }
}

/* a flag, and F with its slot of the ground */
static int32_t carry(const struct mech_model *m)
{
    return mech_model_sizes(m)->v + 2;
}

static void destroy(void *self)
{
    struct stepper *const s = self;
    if (s != NULL) {
        mech_moreau_jean_fini(&s->core);
        free(s->next);
        free(s->mean);
        free(s);
    }
}

/* W and A for this h; says whose coordinate makes W singular. */
static int factor(struct stepper *s, double h, struct mech_step_result *result)
{
    int32_t where = -1;
    const int code = mech_moreau_jean_factor(&s->core, h, &where);
    if (code == MECH_NOT_CONVERGED || code == MECH_UNSUPPORTED) {
        (void)snprintf(result->reason, sizeof result->reason,
                       "the linear solver \"%s\" cannot solve with M + h theta C + h^2 theta^2 K",
                       mech_lsol_name(s->core.motion.solver));
    } else if (code > 0) {
        char owner[96] = "";
        mech_model_owner(s->model, where, owner, sizeof owner);
        (void)snprintf(result->reason, sizeof result->reason,
                       "%s: M + h theta C + h^2 theta^2 K is singular", owner);
    }
    return code;
}

static int create(const struct mech_model *m, struct mech_step_result *result, void **self)
{
    const struct mech_settings *const settings = mech_model_settings(m);
    struct stepper *const s = calloc(1, sizeof *s);
    if (s == NULL) {
        return MECH_NO_MEMORY;
    }
    const size_t n = (size_t)mech_model_sizes(m)->v + 1;
    s->model = m;
    s->step_size = settings->step_size;
    s->next = calloc(n, sizeof *s->next);
    s->mean = calloc(n, sizeof *s->mean);
    const struct mech_moreau_jean_settings core = {
        .theta = settings->theta,
        .gamma = settings->gamma,
        .threshold = settings->activation_threshold,
        .linear = settings->linear,
        .vi = settings->vi,
    };
    int code = s->next == NULL || s->mean == NULL ? MECH_NO_MEMORY : 0;
    if (code == 0) {
        code = mech_moreau_jean_init(&s->core, mech_model_linear(m), mech_model_contacts(m), &core,
                                     s->step_size);
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

/* F(t); says which force is not finite. */
static int force_at(const struct stepper *s, const struct mech_state *state, double t, double *f,
                    struct mech_step_result *result)
{
    const int code = mech_model_force(s->model, state, t, f);
    if (code == MECH_NOT_FINITE) {
        mech_model_blame(s->model, state, t, result->reason, sizeof result->reason);
    }
    return code;
}

static int start(void *self, struct mech_state *state, struct mech_step_result *result)
{
    const struct stepper *const s = self;
    state->carry[0] = mech_model_constant_force(s->model, state) ? 1. : 0.;
    return force_at(s, state, state->at->time, state->carry + 1, result);
}

static int step(void *self, struct mech_state *state, double h, double t_end,
                struct mech_step_result *result)
{
    struct stepper *const s = self;
    double *restrict const force = state->carry + 1;
    MECH_TRY(factor(s, h, result));
    if (state->carry[0] != 0.) {
        return mech_moreau_jean_step(&s->core, force, state, result);
    }
    const size_t n = (size_t)mech_model_sizes(s->model)->v;
    const double theta = s->core.motion.theta;
    MECH_TRY(force_at(s, state, t_end, s->next, result));
    for (size_t i = 0; i < n; i++) {
        s->mean[i] = (1. - theta) * force[i] + theta * s->next[i];
    }
    MECH_TRY(mech_moreau_jean_step(&s->core, s->mean, state, result));
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

const struct mech_stepper_type mech_stepper_moreau_jean = {
    .name = "MoreauJean",
    .doc = "time stepping of impacts for linear systems (theta, gamma)",
    .order = 1,
    .nonsmooth = true,
    .check = check,
    .carry = carry,
    .create = create,
    .start = start,
    .step = step,
    .linear = linear,
    .vi = vi,
    .destroy = destroy,
};
