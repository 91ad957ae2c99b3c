/* Impulses of a step's contacts; see bodies.h.
 *
 *     c = N P + q,   N = H W_G⁻¹ Hᵀ + E,   q = H v + b − H W_G⁻¹ Hᵀ P      at the present v and P
 *
 * N is dense, one solve with the saddle matrix a row. Tangents need not be symmetric, and
 * complementarity solvers require it: they get ½ (N + Nᵀ), and what that leaves is asked for again
 * at the velocities reached, from where Newton's iterations continue. */
#include "solver/base/err.h"
#include "solver/step/moreau_jean/bodies.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

void mech_moreau_bodies_push(const struct mech_impact_rows *rows, double share, const double *P,
                             double *x)
{
    for (int32_t i = 0; i < rows->count; i++) {
        const double p = share * P[i];

        for (int32_t k = rows->start[i]; k < rows->start[i + 1] && p != 0.; k++) {
            x[rows->column[k]] += rows->value[k] * p;
        }
    }
}

static double row_dot(const struct mech_impact_rows *rows, int32_t i, const double *x)
{
    double sum = 0.;

    for (int32_t k = rows->start[i]; k < rows->start[i + 1]; k++) {
        sum += rows->value[k] * x[rows->column[k]];
    }
    return sum;
}

/* Room for all rows of this step. */
static int reserve(struct mech_moreau_bodies *s)
{
    const int32_t most = s->impacts.most;
    const size_t n = (size_t)most;

    if (s->impacts.count <= s->most) {
        return 0;
    }
    s->most = 0;
    mech_acceptance_destroy(s->accept);
    s->accept = NULL;
    free(s->N.values);
    free(s->c);
    s->N.values = malloc(n * n * sizeof *s->N.values);
    s->c = calloc(6 * n, sizeof *s->c);
    for (int i = 0; i < MECH_IMPACT_SOLVERS_MOST; i++) {
        if (s->solver[i]) {
            mech_vi_types[i]->destroy(s->solver[i]);
            s->solver[i] = NULL;
        }
    }
    if (!s->N.values || !s->c || mech_acceptance_create(most, &s->accept) != 0) {
        return MECH_NO_MEMORY;
    }
    s->q = s->c + n;
    s->trial = s->q + n;
    s->best = s->trial + n;
    s->zero = s->best + n;
    s->noise = s->zero + n;
    s->most = most;
    return 0;
}

/* x [nv + rows] = W_G⁻¹ of a push in it; what goes to the ground is lost. */
static int solve(struct mech_moreau_bodies *s, struct mech_step_result *result)
{
    memset(s->x + s->nv, 0, (size_t)s->rows * sizeof *s->x);
    return mech_saddle_solve(&s->saddle, s->x, result);
}

/* N for the factors that the saddle has now. */
static int form(struct mech_moreau_bodies *s, struct mech_step_result *result)
{
    const struct mech_impact_rows *const rows = &s->impacts;
    const int32_t m = rows->count;
    double *const N = s->N.values;

    s->N = (struct mech_mat){
        .kind = MECH_MAT_DENSE, .rows = m, .cols = m, .symmetric = true, .values = N};
    for (int32_t j = 0; j < m; j++) {
        memset(s->x, 0, ((size_t)s->nv + 1) * sizeof *s->x);
        for (int32_t k = rows->start[j]; k < rows->start[j + 1]; k++) {
            s->x[rows->column[k]] += rows->value[k];
        }
        MECH_TRY(solve(s, result));
        s->x[s->nv] = 0.; /* the ground's */
        for (int32_t i = 0; i < m; i++) {
            N[(size_t)j * (size_t)m + (size_t)i] = row_dot(rows, i, s->x);
        }
    }
    for (int32_t j = 0; j < m; j++) {
        for (int32_t i = 0; i < j; i++) {
            double *const upper = &N[(size_t)j * (size_t)m + (size_t)i];
            double *const lower = &N[(size_t)i * (size_t)m + (size_t)j];

            *upper = *lower = 0.5 * (*upper + *lower);
        }
        N[(size_t)j * (size_t)m + (size_t)j] += rows->E[j];
    }
    s->formed = true;
    return 0;
}

struct mech_problem mech_moreau_bodies_problem(const struct mech_moreau_bodies *s)
{
    return (struct mech_problem){.m = s->impacts.count,
                                 .N = &s->N,
                                 .r = s->q,
                                 .sets = s->impacts.set,
                                 .count = s->impacts.sets,
                                 .friction = s->friction,
                                 .rounding = MECH_PROBLEM_ROUNDING,
                                 .noise = s->noise};
}

/* Sum of the speeds that make c of some rows. */
static double sizes_of(const struct mech_moreau_bodies *s, const double *v, int32_t row,
                       int32_t rows)
{
    const struct mech_impact_rows *const r = &s->impacts;
    double sum = 0.;

    for (int32_t i = row; i < row + rows; i++) {
        sum += fabs(r->b[i]) + fabs(r->E[i] * r->P[i]);
        for (int32_t k = r->start[i]; k < r->start[i + 1]; k++) {
            sum += fabs(r->value[k] * v[r->column[k]]);
        }
    }
    return sum;
}

/* of the speeds that make c of a row, what rounding of them and of their sum leaves: some ε */
static const double rounded = 64. * DBL_EPSILON;

/* c = H v + E P + b, and q = c − N P, and its noise */
static void speeds(struct mech_moreau_bodies *s, const double *v)
{
    const struct mech_impact_rows *const rows = &s->impacts;
    const struct mech_problem p = mech_moreau_bodies_problem(s);

    mech_problem_speed(&(struct mech_problem){.m = p.m, .N = p.N, .r = s->zero}, rows->P, s->q);
    for (int32_t i = 0; i < rows->count; i++) {
        s->c[i] = row_dot(rows, i, v) + rows->E[i] * rows->P[i] + rows->b[i];
        s->q[i] = s->c[i] - s->q[i];
    }
    for (int32_t i = 0, row = 0; i < rows->sets; row += rows->set[i].rows, i++) {
        s->noise[i] = rounded * sizes_of(s, v, row, 1);
    }
}

int mech_moreau_bodies_form(struct mech_moreau_bodies *s, struct mech_step_result *result)
{
    if (s->formed) {
        return 0;
    }
    MECH_TRY(reserve(s));
    return form(s, result);
}

/* of the sum of the speeds that make c: some thousand ε, as good as met */
static const double negligible = 0x1p-40;

double mech_moreau_bodies_miss(struct mech_moreau_bodies *s, const double *v)
{
    if (s->impacts.count == 0) {
        return 0.;
    }
    const struct mech_problem p = mech_moreau_bodies_problem(s);

    double most = 0.;

    speeds(s, v);
    mech_acceptance_form(s->accept, &p);
    mech_acceptance_weigh(s->accept, &p);
    for (int32_t i = 0, row = 0; i < p.count; row += p.sets[i].rows, i++) {
        const double size = mech_acceptance_set(s->accept, &p, i, s->impacts.P + row, s->c + row);
        const double scale = mech_acceptance_scale(s->accept, i);
        const double sizes = sizes_of(s, v, row, p.sets[i].rows);
        const double beside = scale > 0. ? scale : sizes;

        if (isnan(size)) {
            return NAN;
        }
        if (size > negligible * sizes && size > most * beside) {
            most = size / beside;
        }
    }
    return most;
}

bool mech_moreau_bodies_still(struct mech_moreau_bodies *s, const double *v)
{
    const bool accept = mech_model_settings(s->model)->vi.on_failure == MECH_ON_FAILURE_ACCEPT;

    speeds(s, v);
    return accept || mech_moreau_bodies_work(s, s->impacts.P) == 0.;
}

/* Adds the work of the contacts' impulses, and its terms to *size. */
static double contacts_work(const struct mech_moreau_bodies *s, const double *v, double *size)
{
    const struct mech_impact_rows *const rows = &s->impacts;
    double work = 0.;

    for (int32_t i = 0; i < rows->count; i++) {
        const double before = rows->P[i] * row_dot(rows, i, s->v0);
        const double after = rows->P[i] * row_dot(rows, i, v);

        work += 0.5 * (before + after);
        *size += fabs(before) + fabs(after);
    }
    return work;
}

double mech_moreau_bodies_gain(const struct mech_moreau_bodies *s, double work, double missed,
                               double size)
{
    const double tolerance = mech_model_settings(s->model)->vi.tolerance;
    const double most = fmax(tolerance, s->accepted ? s->off : 0.) * size;

    return mech_step_gain(work - fmax(fmin(missed, most), -most), size);
}

/* What the work of the impulses has of c P along normals, of which the law leaves none. */
static double missed_work(const struct mech_moreau_bodies *s, const double *v)
{
    const struct mech_impact_rows *const rows = &s->impacts;
    double work = 0.;

    for (int32_t i = 0, row = 0; i < rows->sets; row += rows->set[i].rows, i++) {
        if (rows->who[i].kind == MECH_IMPACT_TOUCH) {
            const double P = rows->P[row];

            work += 0.5 * P * (row_dot(rows, row, v) + rows->E[row] * P + rows->b[row]);
        }
    }
    return work;
}

/* What the impulses add to kinetic energy from v0 to v [nv], but for that: stepper.h. */
static double contacts_gain(const struct mech_moreau_bodies *s, const double *v)
{
    double size = 0.;
    const double work = contacts_work(s, v, &size);

    return mech_moreau_bodies_gain(s, work, missed_work(s, v), size);
}

/* The same of the joints, h λ along G(q_θ), against the speed that their rows allow. */
static double joints_work(struct mech_moreau_bodies *s, const struct mech_state *state,
                          double *size)
{
    const struct mech_joint_rows *const rows = mech_model_joints(s->model);
    const struct mech_eval e =
        mech_model_point(s->model, state, state->at->time + s->theta * s->h, s->q_m, s->v_m);
    double work = 0.;

    mech_model_pose(s->model, &e);
    mech_model_joint_rate(s->model, &e, s->gt, s->bias);
    mech_model_joint_jacobian(s->model, s->g);
    for (int32_t r = 0; r < s->rows; r++) {
        const double impulse = state->open[r] != 0. ? 0. : s->h * state->lambda[r];
        double before = s->gt[r], after = s->gt[r];

        for (int32_t k = rows->start[r]; k < rows->start[r + 1]; k++) {
            before += s->g[k] * s->v0[rows->column[k]];
            after += s->g[k] * state->v[rows->column[k]];
        }
        work += 0.5 * impulse * (before + after);
        *size += fabs(impulse * before) + fabs(impulse * after);
    }
    return work;
}

double mech_moreau_bodies_added(struct mech_moreau_bodies *s, const struct mech_state *state)
{
    const struct mech_impact_rows *const rows = &s->impacts;
    double size = 0.;
    bool pushes = false;

    for (int32_t i = 0; i < rows->count && !pushes; i++) {
        pushes = rows->P[i] != 0.;
    }
    if (!pushes) {
        return 0.;
    }
    double work = contacts_work(s, state->v, &size);

    work += s->rows ? joints_work(s, state, &size) : 0.;
    return mech_step_gain(work, size);
}

/* v and λ by what has changed in P: s->trial [rows]. */
static int follow(struct mech_moreau_bodies *s, struct mech_state *state,
                  struct mech_step_result *result)
{
    memset(s->x, 0, ((size_t)s->nv + 1) * sizeof *s->x);
    mech_moreau_bodies_push(&s->impacts, 1., s->trial, s->x);
    MECH_TRY(solve(s, result));
    for (int32_t i = 0; i < s->nv; i++) {
        state->v[i] += s->x[i];
    }
    for (int32_t i = 0; i < s->rows; i++) {
        state->lambda[i] -= s->x[s->nv + i] / s->h;
    }
    return 0;
}

int mech_moreau_bodies_impact(struct mech_moreau_bodies *s, struct mech_state *state,
                              struct mech_step_result *result)
{
    struct mech_impact_rows *const rows = &s->impacts;

    MECH_TRY(mech_moreau_bodies_form(s, result));
    speeds(s, state->v);
    MECH_TRY(mech_moreau_bodies_run(s, result));

    for (int32_t i = 0; i < rows->count; i++) {
        s->trial[i] = s->best[i] - rows->P[i];
        rows->P[i] = rows->guess[i] = s->best[i];
    }
    return follow(s, state, result);
}

/* T(v) − T(v without the impulses of shapes), ½ P·(u⁺ + u), but for what the solvers miss, if it is
 * positive; s->q is that of the last impulses. */
static double gain_beside(const struct mech_moreau_bodies *s, const double *v)
{
    const struct mech_impact_rows *const rows = &s->impacts;
    double work = 0., size = 0.;

    for (int32_t i = 0, row = 0; i < rows->sets; row += rows->set[i].rows, i++) {
        for (int32_t k = row; k < row + rows->set[i].rows; k++) {
            if (rows->who[i].kind == MECH_IMPACT_TOUCH) {
                const double free = rows->P[k] * (s->q[k] - rows->b[k]);
                const double after = rows->P[k] * row_dot(rows, k, v);

                work += 0.5 * (free + after);
                size += fabs(free) + fabs(after);
            }
        }
    }
    return mech_moreau_bodies_gain(s, work, missed_work(s, v), size);
}

/* Whether no loads act: impulses then add nothing to the energy of the start either. */
static bool is_force_free(const struct mech_moreau_bodies *s, const struct mech_state *state)
{
    for (int32_t i = 0; i < s->nv; i++) {
        if (s->outer[i] != 0.) {
            return false;
        }
    }
    return !mech_model_pushed(s->model, state, state->at->time + s->theta * s->h);
}

bool mech_moreau_bodies_stop_turns(struct mech_moreau_bodies *s, const struct mech_state *state)
{
    const struct mech_impact_rows *const rows = &s->impacts;
    struct mech_foretold_of *const of = s->foretold.of;
    bool any = false;

    for (int32_t i = 0; i < rows->sets && !any; i++) {
        any = rows->who[i].kind == MECH_IMPACT_TOUCH &&
              mech_moreau_bodies_may_gain(&of[rows->who[i].of]);
    }
    if (!any || !(gain_beside(s, state->v) > 0. ||
                  (contacts_gain(s, state->v) > 0. && is_force_free(s, state)))) {
        return false;
    }
    for (int32_t i = 0, row = 0; i < rows->sets; row += rows->set[i].rows, i++) {
        double change[3];

        if (rows->who[i].kind == MECH_IMPACT_TOUCH) {
            mech_moreau_bodies_stop(&of[rows->who[i].of], change);
            rows->who[i].drift = of[rows->who[i].of].drift[0];
            for (int32_t k = 0; k < 3 && k < rows->set[i].rows; k++) {
                rows->b[row + k] += change[k];
            }
        }
    }
    return true;
}

bool mech_moreau_bodies_stop_slides(struct mech_moreau_bodies *s, const struct mech_state *state)
{
    struct mech_impact_rows *const rows = &s->impacts;
    bool any = false;

    if (!s->slides.any) {
        return false;
    }
    for (int32_t i = 0, row = 0; i < rows->sets; row += rows->set[i].rows, i++) {
        if (rows->who[i].kind == MECH_IMPACT_TOUCH && s->foretold.of[rows->who[i].of].slides) {
            double u[MECH_SLIDES] = {0.};

            for (int32_t k = 0; k + 1 < rows->set[i].rows; k++) {
                u[k] = row_dot(rows, row + 1 + k, state->v);
            }
            mech_moreau_bodies_look_back(s, rows->who[i].of, u);
        }
    }
    for (int32_t i = 0, row = 0; i < rows->sets; row += rows->set[i].rows, i++) {
        if (rows->who[i].kind == MECH_IMPACT_TOUCH) {
            any = mech_moreau_bodies_stop_slide(s, rows->who[i].of, rows->set[i].rows - 1,
                                                rows->b + row + 1) ||
                  any;
        }
    }
    return any;
}

int mech_moreau_bodies_undo_rows(struct mech_moreau_bodies *s, int32_t from, int32_t to, double *v)
{
    const struct mech_impact_rows *const rows = &s->impacts;
    struct mech_step_result ignored = {.iterations = 0};

    for (int32_t i = 0, row = 0; i < rows->sets; row += rows->set[i].rows, i++) {
        const int32_t of = rows->who[i].of;
        const bool undone = rows->who[i].kind == MECH_IMPACT_TOUCH && of >= from && of < to &&
                            s->foretold.of[of].mark == MECH_FORETOLD_PUSHES;

        for (int32_t k = row; k < row + rows->set[i].rows; k++) {
            s->trial[k] = undone ? -rows->P[k] : 0.;
        }
    }
    memset(s->x, 0, ((size_t)s->nv + 1) * sizeof *s->x);
    mech_moreau_bodies_push(rows, 1., s->trial, s->x);
    MECH_TRY(solve(s, &ignored));
    for (int32_t i = 0; i < s->nv; i++) {
        v[i] += s->x[i];
    }
    return 0;
}

/* Whether a set belongs to what is taken out. */
static bool is_out(const struct mech_moreau_bodies *s, const struct mech_impact_set *who)
{
    return who->kind == MECH_IMPACT_TOUCH && s->foretold.of[who->of].mark == MECH_FORETOLD_OUT;
}

/* The rows without those of what is taken out. */
static void close_up(struct mech_moreau_bodies *s)
{
    struct mech_impact_rows *const rows = &s->impacts;
    int32_t row = 0, to = 0, sets = 0, at = 0;

    for (int32_t i = 0; i < rows->sets; i++) {
        const struct mech_set set = rows->set[i];
        const bool out = is_out(s, &rows->who[i]);

        for (int32_t k = 0; k < set.rows; k++, row++) {
            const int32_t from = rows->start[row], n = rows->start[row + 1] - from;

            if (out) {
                continue;
            }
            memmove(rows->column + at, rows->column + from, (size_t)n * sizeof *rows->column);
            memmove(rows->value + at, rows->value + from, (size_t)n * sizeof *rows->value);
            rows->start[to] = at;
            rows->b[to] = rows->b[row];
            rows->E[to] = rows->E[row];
            rows->P[to] = rows->P[row];
            rows->guess[to++] = rows->guess[row];
            at += n;
        }
        if (!out) {
            rows->set[sets] = set;
            rows->who[sets++] = rows->who[i];
        }
    }
    rows->start[to] = at;
    rows->count = to;
    rows->sets = sets;
}

int mech_moreau_bodies_let_go(struct mech_moreau_bodies *s, struct mech_state *state,
                              struct mech_step_result *result)
{
    struct mech_impact_rows *const rows = &s->impacts;

    if (rows->sets == 0) {
        /* those that go out had none: soft or open ones */
        return 0;
    }
    for (int32_t i = 0, row = 0; i < rows->sets; row += rows->set[i].rows, i++) {
        const bool out = is_out(s, &rows->who[i]);

        for (int32_t k = row; k < row + rows->set[i].rows; k++) {
            s->trial[k] = out ? -rows->P[k] : 0.;
        }
    }
    MECH_TRY(follow(s, state, result));
    close_up(s);
    return 0;
}
