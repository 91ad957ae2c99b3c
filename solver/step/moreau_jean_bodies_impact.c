/* Impulses of a step's contacts; see moreau_jean_bodies.h.
 *
 *     c = N P + q,   N = H W_G⁻¹ Hᵀ + E,   q = H v + b − H W_G⁻¹ Hᵀ P      at the present v and P
 *
 * N is dense, one solve with the saddle matrix a row. Tangents need not be symmetric, and
 * complementarity solvers require it: they get ½ (N + Nᵀ), and what that leaves is asked for again
 * at the velocities reached, from where Newton's iterations continue. */
#include "solver/base/err.h"
#include "solver/step/conflict.h"
#include "solver/step/moreau_jean_bodies.h"
#include "solver/vi/chain.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* iterations of members that were not requested */
enum { FACTORS = 50, OTHERS = 2000 };
/* turns of few contacts, and what a member that factors gets after them */
enum { TURNS = 4, LONG_FACTORS = 300 };

/* What a factoring member leaves of few contacts within so many tolerances is the rounding of N,
 * which no other undercuts by much; it is accepted, and reported, up to contact.acceptable. */
static const double rounding = 100.;

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
    s->c = calloc(5 * n, sizeof *s->c);
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

static struct mech_problem problem_of(const struct mech_moreau_bodies *s)
{
    return (struct mech_problem){.m = s->impacts.count,
                                 .N = &s->N,
                                 .r = s->q,
                                 .sets = s->impacts.set,
                                 .count = s->impacts.sets,
                                 .friction = s->friction};
}

/* c = H v + E P + b, and q = c − N P */
static void speeds(struct mech_moreau_bodies *s, const double *v)
{
    const struct mech_impact_rows *const rows = &s->impacts;
    const struct mech_problem p = problem_of(s);

    mech_problem_speed(&(struct mech_problem){.m = p.m, .N = p.N, .r = s->zero}, rows->P, s->q);
    for (int32_t i = 0; i < rows->count; i++) {
        s->c[i] = row_dot(rows, i, v) + rows->E[i] * rows->P[i] + rows->b[i];
        s->q[i] = s->c[i] - s->q[i];
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

double mech_moreau_bodies_miss(struct mech_moreau_bodies *s, const double *v)
{
    if (s->impacts.count == 0) {
        return 0.;
    }
    const struct mech_problem p = problem_of(s);

    double most = 0.;

    speeds(s, v);
    mech_acceptance_form(s->accept, &p);
    mech_acceptance_weigh(s->accept, &p);
    for (int32_t i = 0, row = 0; i < p.count; row += p.sets[i].rows, i++) {
        const double size = mech_acceptance_set(s->accept, &p, i, s->impacts.P + row, s->c + row);

        /* not fmax, which hides what is not a number */
        if (!(size <= negligible * sizes_of(s, v, row, p.sets[i].rows)) &&
            !(size <= most * mech_acceptance_scale(s->accept, i))) {
            most = size / mech_acceptance_scale(s->accept, i);
        }
    }
    return most;
}

double mech_moreau_bodies_gain(const struct mech_moreau_bodies *s, const double *v)
{
    const struct mech_impact_rows *const rows = &s->impacts;
    double work = 0., size = 0.;

    for (int32_t i = 0; i < rows->count; i++) {
        const double before = rows->P[i] * row_dot(rows, i, s->v0);
        const double after = rows->P[i] * row_dot(rows, i, v);

        work += 0.5 * (before + after);
        size += fabs(before) + fabs(after);
    }
    return mech_step_gain(work, size);
}

/* --- solvers ---------------------------------------------------------------------------------- */

bool mech_moreau_bodies_hurries(const struct mech_moreau_bodies *s, int32_t contacts)
{
    const struct mech_vi_settings *const vi = &mech_model_settings(s->model)->vi;

    return contacts < MECH_ACCEPTABLE_FROM && !vi->type && vi->on_failure != MECH_ON_FAILURE_ACCEPT;
}

/* The k-th member that is tried, and its iterations; false: there are no more. Few contacts get
 * short turns of a member that sweeps and of the next, which starts where the sweeps have come to:
 * either stalls where the other progresses. Members tried because others failed get less time
 * where there are many contacts: a step that fails is reported soon. */
static bool turn_of(const struct mech_moreau_bodies *s, const char *const *names, int k,
                    const char **name, int32_t *most)
{
    const struct mech_vi_settings *const vi = &mech_model_settings(s->model)->vi;
    const bool many = s->impacts.sets >= MECH_ACCEPTABLE_FROM && !vi->type;
    const bool hurries = mech_moreau_bodies_hurries(s, s->impacts.sets) &&
                         mech_vi_find(names[0])->sweeps && names[1];
    const int turns = hurries ? 2 * TURNS : 0;
    int members = 0;

    while (names[members]) {
        members++;
    }
    *most = vi->max_iterations;
    if (k < turns) {
        *name = names[k % 2];
        *most = k % 2 ? FACTORS : MECH_FEW_SWEEPS;
    } else if (hurries) {
        /* all of them once more, the first at the end */
        *name = k - turns < members ? names[(k - turns + 1) % members] : NULL;
        *most = mech_vi_find(names[(k - turns + 1) % members])->factors ? LONG_FACTORS : *most;
    } else {
        *name = k < members ? names[k] : NULL;
        *most = !many || !*name                ? *most
                : k == 0                       ? s->acceptable > 0. ? MECH_ACCEPTABLE_AFTER : *most
                : mech_vi_find(*name)->factors ? FACTORS
                                               : OTHERS;
    }
    *most = *most < vi->max_iterations ? *most : vi->max_iterations;
    return *name;
}

/* Run one member from `trial`. */
static int run(struct mech_moreau_bodies *s, const char *name, int32_t most,
               struct mech_vi_result *out)
{
    const struct mech_vi_settings *const vi = &mech_model_settings(s->model)->vi;
    const struct mech_vi_limits limits = {vi->tolerance, most, mech_model_interrupt(s->model)};
    const struct mech_problem p = problem_of(s);
    int i = 0;

    while (mech_vi_types[i] && strcmp(mech_vi_types[i]->name, name) != 0) {
        i++;
    }
    if (!mech_vi_types[i] || i >= MECH_IMPACT_SOLVERS_MOST ||
        (mech_problem_kinds(&p) & ~mech_vi_types[i]->kinds) != 0) {
        return MECH_UNSUPPORTED;
    }
    if (!s->solver[i]) {
        MECH_TRY(mech_vi_types[i]->create(s->most, &s->solver[i]));
    }
    const int code = mech_vi_types[i]->solve(s->solver[i], &p, &limits, s->trial, out);

    if (code == 0 || code == MECH_VI_NOT_CONVERGED) {
        s->used = mech_vi_types[i]->name;
    }
    return code;
}

/* Who meets in set i. */
static struct mech_conflict_names names_of(void *self, int32_t i)
{
    const struct mech_moreau_bodies *const s = self;
    const struct mech_impact_set *const who = &s->impacts.who[i];

    if (who->kind == MECH_IMPACT_LAW) {
        return (struct mech_conflict_names){{mech_model_contact_name(s->model, who->of), NULL}};
    }
    if (who->kind == MECH_IMPACT_SIDE) {
        return (struct mech_conflict_names){{mech_model_joint_name(s->model, who->of), NULL}};
    }
    const int32_t *const collider = s->list.at[who->of].collider;

    return (struct mech_conflict_names){{mech_model_touch_name(s->model, collider[0]),
                                         mech_model_touch_name(s->model, collider[1])}};
}

static int not_solved(struct mech_moreau_bodies *s, int code, double residual,
                      struct mech_step_result *result)
{
    const struct mech_vi_settings *const vi = &mech_model_settings(s->model)->vi;

    if (code == MECH_UNSUPPORTED) {
        snprintf(result->reason, sizeof result->reason,
                 "the complementarity solver \"%.32s\" does not support these contacts, or %d rows",
                 vi->type ? vi->type : "", (int)s->impacts.count);
        return code;
    }
    if (!(residual < HUGE_VAL)) {
        snprintf(result->reason, sizeof result->reason,
                 "no complementarity solver found finite impulses of %d contacts",
                 (int)s->impacts.sets);
        return code;
    }
    const struct mech_problem p = problem_of(s);
    const struct mech_conflict_of of = {s, names_of};

    if (mech_conflict_tell(&p, vi->tolerance, s->best, &of, result->reason,
                           sizeof result->reason)) {
        return code;
    }
    snprintf(result->reason, sizeof result->reason,
             "the impulses of %d contacts have residual %.3g after %d iterations, wanted %.3g "
             "(contact.acceptable, solver.vi)",
             (int)s->impacts.sets, residual, (int)result->vi_iterations, vi->tolerance);
    return code;
}

/* What is compared with contact.acceptable. */
static double off_by(const struct mech_vi_result *r)
{
    return fmax(r->level, r->acceptance / MECH_ACCEPTABLE_SLACK);
}

/* Whether what is off by `least` is taken as it is, before the k-th try: all turns are the 1,000
 * iterations after which contact.acceptable is taken. */
static bool enough(const struct mech_moreau_bodies *s, bool few, int k, double least)
{
    const double tolerance = mech_model_settings(s->model)->vi.tolerance;

    return least <= s->acceptable &&
           (!few || k >= 2 * TURNS || (k > 1 && least <= rounding * tolerance));
}

/* P of this problem: the member that is named, or one after the other. */
static int run_all(struct mech_moreau_bodies *s, struct mech_step_result *result)
{
    const struct mech_settings *const settings = mech_model_settings(s->model);
    const struct mech_problem p = problem_of(s);
    const char *const asked[] = {settings->vi.type, NULL};
    const char *const *const names =
        settings->vi.type ? asked : mech_vi_default(mech_problem_kinds(&p), p.m);
    const size_t bytes = (size_t)p.m * sizeof *s->trial;
    int first = MECH_UNSUPPORTED, code = MECH_UNSUPPORTED;
    double least = HUGE_VAL;

    const bool few = p.count < MECH_ACCEPTABLE_FROM;
    const char *name;
    int32_t most;

    for (int k = 0; turn_of(s, names, k, &name, &most) && code > 0 && !enough(s, few, k, least);
         k++) {
        struct mech_vi_result here = {
            .residual = HUGE_VAL, .level = HUGE_VAL, .acceptance = HUGE_VAL};

        if (s->sweeps.failed && !settings->vi.type && mech_vi_find(name)->sweeps &&
            (k == 0 || !few)) {
            continue;
        }
        memcpy(s->trial, least < HUGE_VAL ? s->best : s->impacts.guess, bytes);
        code = run(s, name, most, &here);
        result->vi_iterations += here.iterations;
        first = first == MECH_UNSUPPORTED || first == MECH_SINGULAR ? code : first;
        if (code == 0 || (code == MECH_VI_NOT_CONVERGED && off_by(&here) < least)) {
            least = off_by(&here);
            result->residual = here.level;
            memcpy(s->best, s->trial, bytes);
        }
    }
    if (code < 0) {
        return code;
    }
    result->residual = least < HUGE_VAL ? result->residual : 0.;
    const bool accepts = settings->vi.on_failure == MECH_ON_FAILURE_ACCEPT;
    if (code > 0 && (accepts || least <= s->acceptable) && least < HUGE_VAL) {
        s->accepted = true;
        code = 0;
    }
    return code ? not_solved(s, first, least, result) : 0;
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
    MECH_TRY(run_all(s, result));

    for (int32_t i = 0; i < rows->count; i++) {
        s->trial[i] = s->best[i] - rows->P[i];
        rows->P[i] = rows->guess[i] = s->best[i];
    }
    return follow(s, state, result);
}

/* T(v) − T(v without the impulses of shapes), ½ P·(u⁺ + u), if it is positive; s->q is that of the
 * last impulses. */
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
    return mech_step_gain(work, size);
}

bool mech_moreau_bodies_stop_turns(struct mech_moreau_bodies *s, const double *v)
{
    const struct mech_impact_rows *const rows = &s->impacts;
    struct mech_foretold_of *const of = s->foretold.of;
    bool any = false;

    for (int32_t i = 0; i < rows->sets && !any; i++) {
        any = rows->who[i].kind == MECH_IMPACT_TOUCH &&
              mech_moreau_bodies_may_gain(&of[rows->who[i].of]);
    }
    if (!any || !(gain_beside(s, v) > 0.)) {
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
