/* Held coordinates; see pins.h. Their motion comes from the joints' own functions: at q_ref what
 * is left of g is −c(t), and with a constant G what is left of g̈ is −c̈. */
#include "solver/step/pins.h"

#include "solver/base/err.h"
#include "solver/linalg/mat_walk.h"
#include "solver/step/rates.h"

#include <stdlib.h>
#include <string.h>

/* M with the rows and columns of held coordinates replaced by those of 1, factored */
static int init_mass(struct mech_pins *p, const char *linear, struct mech_step_result *result)
{
    const struct mech_mat *const M = mech_model_linear(p->model)->M;
    const size_t pins = (size_t)p->count;
    bool *const held = mech_arena_alloc(&p->arena, (size_t)M->rows, sizeof *held);
    struct mech_triplet *t = NULL;
    size_t n = 0, kept = 0;

    MECH_TRY(mech_mat_triplets(&p->arena, M, &t, &n));
    struct mech_triplet *const all = mech_arena_alloc(&p->arena, n + pins, sizeof *all);
    if (!held || !all) {
        return MECH_NO_MEMORY;
    }
    for (size_t i = 0; i < pins; i++) {
        held[p->at[i].slot] = true;
        all[kept++] = (struct mech_triplet){p->at[i].slot, p->at[i].slot, 1.};
    }
    for (size_t k = 0; k < n; k++) {
        if (!held[t[k].row] && !held[t[k].col]) {
            all[kept++] = t[k];
        }
    }
    MECH_TRY(mech_mat_from_triplets(&p->arena, M->rows, M->cols, all, kept, &p->M));
    int code = mech_lsol_create(linear, &p->M, &p->solver);
    /* a requested solver need not suit M */
    if (code == MECH_UNSUPPORTED && linear) {
        code = mech_lsol_create(NULL, &p->M, &p->solver);
    }
    if (code == MECH_SINGULAR) {
        mech_singular_reason(p->model, "mass matrix", 0, result);
    }
    MECH_TRY(code);
    mech_lsol_listen(p->solver, mech_model_interrupt(p->model));
    return mech_linear_outcome(p->model, "mass matrix", p->solver,
                               mech_lsol_factor(p->solver, &p->M), result);
}

/* True when two rows hold the same coordinate; w is used and cleared. */
static bool repeated(struct mech_pins *p, int32_t count)
{
    bool twice = false;

    for (int32_t i = 0; i < count; i++) {
        twice = twice || p->w[p->at[i].slot] != 0.;
        p->w[p->at[i].slot] = 1.;
    }
    for (int32_t i = 0; i < count; i++) {
        p->w[p->at[i].slot] = 0.;
    }
    return twice;
}

int mech_pins_init(struct mech_pins *p, const struct mech_model *m, const char *linear, bool mass,
                   struct mech_step_result *result)
{
    const size_t rows = (size_t)mech_model_joints(m)->count, nv = (size_t)mech_model_sizes(m)->v;

    *p = (struct mech_pins){.model = m};
    mech_arena_init(&p->arena, 0);
    if (rows == 0 ||
        mech_model_pins(m, NULL) + mech_model_joints(m)->released_count != (int32_t)rows) {
        return 0;
    }
    p->at = mech_arena_alloc(&p->arena, rows, sizeof *p->at);
    p->g = mech_arena_alloc(&p->arena, rows + 1, sizeof *p->g);
    p->gt = mech_arena_alloc(&p->arena, rows + 1, sizeof *p->gt);
    p->bias = mech_arena_alloc(&p->arena, rows + 1, sizeof *p->bias);
    p->w = mech_arena_alloc(&p->arena, nv + 1, sizeof *p->w);
    if (!p->at || !p->g || !p->gt || !p->bias || !p->w) {
        return MECH_NO_MEMORY;
    }
    const int32_t count = mech_model_pins(m, p->at);
    if (repeated(p, count)) {
        return 0;
    }
    p->count = count;
    return mass ? init_mass(p, linear, result) : 0;
}

void mech_pins_fini(struct mech_pins *p)
{
    if (p->model) {
        mech_lsol_destroy(p->solver);
        mech_arena_fini(&p->arena);
    }
    *p = (struct mech_pins){0};
}

void mech_pins_hold(const struct mech_pins *p, const struct mech_state *s, double t, double *q,
                    double *v)
{
    if (p->count == 0) {
        return;
    }
    const double *const q_ref = mech_model_reference(p->model);
    const struct mech_eval e = mech_model_point(p->model, s, t, q, v);

    for (int32_t i = 0; i < p->count; i++) {
        if (!p->at[i].velocity) {
            q[p->at[i].q_slot] = q_ref[p->at[i].q_slot];
        }
    }
    mech_model_pose(p->model, &e);
    mech_model_joint_residual(p->model, &e, p->g);
    mech_model_joint_rate(p->model, &e, p->gt, p->bias);
    for (int32_t i = 0; i < p->count; i++) {
        const struct mech_pin *const pin = &p->at[i];

        if (!pin->velocity) {
            q[pin->q_slot] -= p->g[pin->row] / pin->factor;
        }
        v[pin->slot] = -p->gt[pin->row] / pin->factor;
    }
}

/* x [nv] with x_p as w has it and (M x)_f = x_f at the beginning */
static int solve_free(const struct mech_pins *p, double *x, struct mech_step_result *result)
{
    const struct mech_mat *const M = mech_model_linear(p->model)->M;

    if (M->kind != MECH_MAT_DIAG) {
        mech_mat_mul(M, -1., p->w, 1., x);
    }
    for (int32_t i = 0; i < p->count; i++) {
        x[p->at[i].slot] = p->w[p->at[i].slot];
    }
    return mech_linear_outcome(p->model, "mass matrix", p->solver, mech_lsol_solve(p->solver, x, 1),
                               result);
}

int mech_pins_solve(const struct mech_pins *p, const struct mech_eval *e, const double *f,
                    double *vdot, struct mech_step_result *result)
{
    mech_model_joint_rate(p->model, e, p->gt, p->bias);
    for (int32_t i = 0; i < p->count; i++) {
        p->w[p->at[i].slot] = -p->bias[p->at[i].row] / p->at[i].factor;
    }
    memcpy(vdot, f, (size_t)mech_model_linear(p->model)->nv * sizeof *vdot);
    return solve_free(p, vdot, result);
}

int mech_pins_push(const struct mech_pins *p, const double *dg, double *dv,
                   struct mech_step_result *result)
{
    for (int32_t i = 0; i < p->count; i++) {
        p->w[p->at[i].slot] = dg[p->at[i].row] / p->at[i].factor;
    }
    memset(dv, 0, (size_t)mech_model_linear(p->model)->nv * sizeof *dv);
    return solve_free(p, dv, result);
}

void mech_pins_reactions(const struct mech_pins *p, const double *f, const double *vdot,
                         double *lambda)
{
    const struct mech_mat *const M = mech_model_linear(p->model)->M;

    memcpy(p->w, f, (size_t)M->rows * sizeof *p->w);
    mech_mat_mul(M, 1., vdot, -1., p->w);
    for (int32_t i = 0; i < p->count; i++) {
        lambda[p->at[i].row] = p->w[p->at[i].slot] / p->at[i].factor;
    }
    memset(p->w, 0, (size_t)M->rows * sizeof *p->w);
}
