/* Moreau–Jean time stepping of bodies, joints and contacts: memory, start and step; see
 * bodies.h. Nothing is carried beside what every state has: the impulses and λ of the
 * last step start the next. v̇ and a of the state are the mean acceleration of the last step,
 * impulses included, and before the first what the forces and joints give. */
#include "solver/step/moreau_jean/bodies.h"

#include "solver/base/err.h"
#include "solver/base/text.h"
#include "solver/step/moreau_jean/ops.h"

#include <stdlib.h>
#include <string.h>

static int allocate(struct mech_moreau_bodies *s)
{
    const struct mech_joint_rows *const joints = mech_model_joints(s->model);
    const size_t nv = (size_t)s->nv + 1, nq = (size_t)s->nq + 1, rows = (size_t)s->rows + 1;
    const size_t entries = s->rows ? (size_t)joints->start[s->rows] : 0;
    const struct {
        double **at;
        size_t n;
    } vectors[] = {{&s->q0, nq},        {&s->q_m, nq},      {&s->v0, nv},       {&s->v_m, nv},
                   {&s->d, nv},         {&s->r, nv + rows}, {&s->x, nv + rows}, {&s->gt, rows},
                   {&s->bias, rows},    {&s->g, entries},   {&s->place, nv},    {&s->u, nv},
                   {&s->warm, rows},    {&s->outer, nv},    {&s->force, nv},    {&s->inert, nv},
                   {&s->foretold.v, nv}};

    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++) {
        *vectors[i].at = mech_arena_alloc(&s->arena, vectors[i].n, sizeof(double));
        if (!*vectors[i].at) {
            return MECH_NO_MEMORY;
        }
    }
    mech_model_displacement(s->model, s->q0, s->place);
    MECH_TRY(mech_moreau_bodies_slides_init(s));
    return mech_balance_init(&s->balance, s->model, &s->arena);
}

/* 1 − hθ A and its solver */
static int create_states(struct mech_moreau_bodies *s)
{
    const struct mech_mat *const A = mech_model_first_order(s->model);
    const struct mech_mat *const terms[] = {&s->one, A};

    s->rate = mech_arena_alloc(&s->arena, (size_t)s->nx + 1, sizeof *s->rate);
    if (!s->rate) {
        return MECH_NO_MEMORY;
    }
    if (s->nx == 0) {
        return 0;
    }
    MECH_TRY(mech_mat_identity(&s->arena, s->nx, &s->one));
    MECH_TRY(mech_mat_sum(&s->arena, 2, (const double[]){1., -1.}, terms, &s->X));
    return mech_lsol_create(NULL, &s->X, &s->x_solver);
}

static void destroy(void *self)
{
    struct mech_moreau_bodies *const s = self;

    if (!s) {
        return;
    }
    for (int i = 0; i < MECH_IMPACT_SOLVERS_MOST; i++) {
        if (s->solver[i]) {
            mech_vi_types[i]->destroy(s->solver[i]);
        }
    }
    mech_impact_rows_fini(&s->impacts);
    mech_contact_list_fini(&s->list);
    mech_foretold_fini(&s->foretold);
    mech_moreau_bodies_sweeps_fini(s);
    mech_acceptance_destroy(s->accept);
    free(s->N.values);
    free(s->c);
    mech_rates_fini(&s->rates);
    mech_saddle_fini(&s->saddle);
    mech_lsol_destroy(s->x_solver);
    mech_arena_fini(&s->arena);
    free(s);
}

static int create(const struct mech_model *m, struct mech_step_result *result, void **self)
{
    const struct mech_settings *const settings = mech_model_settings(m);
    struct mech_moreau_bodies *const s = calloc(1, sizeof *s);

    *self = NULL;
    if (!s) {
        return MECH_NO_MEMORY;
    }
    *s = (struct mech_moreau_bodies){
        .model = m,
        .theta = settings->theta,
        .nv = mech_model_sizes(m)->v,
        .nq = mech_model_sizes(m)->q,
        .nx = mech_model_sizes(m)->x,
        .rows = mech_model_joints(m)->count,
        .friction = mech_model_contact_settings(m)->friction == MECH_FRICTION_COULOMB
                        ? MECH_COULOMB
                        : MECH_ASSOCIATED,
        .acceptable =
            mech_model_touch_bodies(m) > 0 ? mech_model_contact_settings(m)->acceptable : 0.,
        .used = ""};
    mech_arena_init(&s->arena, 0);
    int code = allocate(s);
    code = code ? code : mech_rates_init(&s->rates, m, settings->linear, result);
    if (code == 0 && s->nv) {
        code = mech_saddle_init(&s->saddle, m, settings->linear, true, result);
    }
    code = code ? code : create_states(s);
    if (code == 0 && mech_moreau_bodies_suits_sweeps(m)) {
        code = mech_moreau_bodies_sweeps_init(s);
    }
    if (code) {
        destroy(s);
        return code;
    }
    *self = s;
    return 0;
}

/* --- the start -------------------------------------------------------------------------------- */

/* v := the nearest that the joints allow, where the settings ask for it */
static int project(struct mech_moreau_bodies *s, struct mech_state *state,
                   struct mech_step_result *result)
{
    if (!s->rows || !mech_model_settings(s->model)->velocity_projection) {
        return 0;
    }
    if (!s->rates.joints) {
        mech_rates_hold(&s->rates, state, state->at->time, state->q, state->v);
        return 0;
    }
    MECH_TRY(mech_rates_project(&s->rates, state, result));
    for (int32_t i = 0; i < s->nv; i++) {
        state->v[i] += s->rates.x[i];
    }
    return 0;
}

static int start(void *self, struct mech_state *state, struct mech_step_result *result)
{
    struct mech_moreau_bodies *const s = self;

    MECH_TRY(project(s, state, result));
    return mech_rates_start(&s->rates, state, result);
}

/* --- a step ----------------------------------------------------------------------------------- */

/* Matrices of this step size. */
static int form(struct mech_moreau_bodies *s, double h, struct mech_step_result *result)
{
    const double end = h * s->theta;

    s->h = 0.;
    if (s->nv) {
        mech_saddle_form(&s->saddle, (const double[3]){1., end, end * end});
    }
    if (s->nx) {
        const struct mech_mat *const terms[] = {&s->one, mech_model_first_order(s->model)};

        mech_mat_sum_again(2, (const double[]){1., -end}, terms, &s->X);
        if (mech_lsol_factor(s->x_solver, &s->X)) {
            mech_text_format(result->reason, sizeof result->reason,
                             "the matrix of the first-order states is singular");
            return MECH_SINGULAR;
        }
    }
    s->h = h;
    return 0;
}

/* (1 − hθ A) x₁ = x₀ + h (1 − θ) (A x₀ + r₀) + hθ r₁ */
static int step_states(struct mech_moreau_bodies *s, struct mech_state *state, double t_end,
                       struct mech_step_result *result)
{
    const double end = s->theta * s->h, start = s->h - end;

    MECH_TRY(mech_rates_xdot(&s->rates, state, state->at->time, state->x, s->rate, result));
    for (int32_t i = 0; i < s->nx; i++) {
        state->x[i] += start * s->rate[i];
    }
    MECH_TRY(mech_step_rate(s->model, state, t_end, s->rate, result));
    for (int32_t i = 0; i < s->nx; i++) {
        state->x[i] += end * s->rate[i];
    }
    return mech_lsol_solve(s->x_solver, state->x, 1);
}

/* State and settings of the step's start, for another try; without contacts that slide on. */
static bool begins_again(struct mech_moreau_bodies *s, struct mech_state *state, int code)
{
    if (code <= 0 || !s->slides.any || mech_interrupted(mech_model_interrupt(s->model))) {
        return false;
    }
    s->slides.on = s->slides.any = false;
    memcpy(state->q, s->q0, (size_t)s->nq * sizeof *s->q0);
    memcpy(state->v, s->v0, (size_t)s->nv * sizeof *s->v0);
    memcpy(state->vdot, s->slides.rate, (size_t)s->nv * sizeof *state->vdot);
    memcpy(state->lambda, s->slides.lambda, (size_t)s->rows * sizeof *state->lambda);
    return true;
}

/* Whether sweeps leave the step to Newton's method. */
static bool is_for_newton(int code)
{
    return code == MECH_NOT_CONVERGED || code == MECH_VI_NOT_CONVERGED;
}

/* By sweeps where these suit, and where they do not get there by Newton's method. Where contacts
 * slide on and no impulses are found, once more with friction against the speeds at the end: by
 * Newton's method, but for what it does not take. */
static int advance(struct mech_moreau_bodies *s, struct mech_state *state, double t_end,
                   struct mech_step_result *result)
{
    s->sweeps.failed = s->sweeps.second = false;
    s->slides.on = s->theta > 0. && s->theta < 1. && s->friction == MECH_COULOMB;
    s->slides.any = false;
    memcpy(s->slides.lambda, state->lambda, (size_t)s->rows * sizeof *state->lambda);
    memcpy(s->slides.rate, state->vdot, (size_t)s->nv * sizeof *state->vdot);
    if (s->sweeps.on) {
        int code = mech_moreau_bodies_sweep(s, state, result);
        const bool again = begins_again(s, state, code);
        const bool many = 3 * s->sweeps.count > MECH_IMPACT_ROWS_MOST;

        if (again && (many || !is_for_newton(code))) {
            code = mech_moreau_bodies_sweep(s, state, result);
        }
        if (!is_for_newton(code)) {
            return code;
        }
        if (many) {
            mech_text_format(
                result->reason, sizeof result->reason,
                "the impulses of %d contacts have residual %.3g after %d sweeps, wanted %.3g",
                (int)s->sweeps.count, result->residual, (int)result->vi_iterations,
                mech_model_settings(s->model)->vi.tolerance);
            return code;
        }
        memcpy(state->v, s->v0, (size_t)s->nv * sizeof *s->v0);
        s->sweeps.failed = code == MECH_VI_NOT_CONVERGED;
    }
    const int code = mech_moreau_bodies_solve(s, state, t_end, result);

    return begins_again(s, state, code) ? mech_moreau_bodies_solve(s, state, t_end, result) : code;
}

static int step(void *self, struct mech_state *state, double h, double t_end,
                struct mech_step_result *result)
{
    struct mech_moreau_bodies *const s = self;

    if (s->h != h) {
        MECH_TRY(form(s, h, result));
    }
    if (s->nv) {
        memcpy(s->q0, state->q, ((size_t)s->nq + 1) * sizeof *s->q0);
        memcpy(s->v0, state->v, ((size_t)s->nv + 1) * sizeof *s->v0);
        mech_state_impulses_for(state, mech_model_contacts(s->model)->count, h);
        MECH_TRY(advance(s, state, t_end, result));
        memcpy(state->a, state->vdot, (size_t)s->nv * sizeof *state->a);
    }
    return s->nx ? step_states(s, state, t_end, result) : 0;
}

static const char *linear(const void *self)
{
    const struct mech_moreau_bodies *const s = self;

    return s->nv ? mech_saddle_linear(&s->saddle) : "";
}

static const char *vi(const void *self)
{
    const struct mech_moreau_bodies *const s = self;

    return s->sweeps.on && s->used[0] == '\0' ? mech_moreau_bodies_sweeps_name() : s->used;
}

const struct mech_moreau_jean_ops mech_moreau_jean_bodies = {
    .rows_most = MECH_IMPACT_ROWS_MOST,
    .create = create,
    .start = start,
    .step = step,
    .linear = linear,
    .vi = vi,
    .destroy = destroy,
};
