/* Springs and dampers with a force law; see force_law.h. */
#include "solver/items/connector/force_law.h"

#include "solver/base/err.h"
#include "solver/items/switches.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { AT_U, AT_V, AT_T, CONSTANTS };

/* of a law's value, relative: of some operations */
static const double ROUNDING = 1e-12;

/* of a central difference at x: cbrt(DBL_EPSILON) */
static double step_at(double x)
{
    return 6.0554544523933395e-06 * fmax(1., fabs(x));
}

static void place_of(const struct mech_site *site, const char *field, char *place, size_t size)
{
    snprintf(place, size, "%s/%s", site->path, field);
}

static double value_of(const struct mech_expr *law, const struct mech_eval *e)
{
    return e->instead && e->instead->of == law ? e->instead->value : mech_expr_value(law);
}

/* --- one stretch ------------------------------------------------------------------------------ */

void mech_force_law_fini(struct mech_force_law *law)
{
    mech_expr_destroy(law->value);
    mech_expr_destroy(law->partial[0]);
    mech_expr_destroy(law->partial[1]);
}

int mech_force_law_init(struct mech_force_law *law, const struct mech_formula *formula,
                        const struct mech_site *site, const char *field, const char *const *locals,
                        const double *constants)
{
    struct mech_scope scope;
    char place[2 * MECH_DIAG_PATH];

    *law = (struct mech_force_law){.vars = NULL};
    if (!formula->text) {
        return 0;
    }
    if (mech_scope_init(&scope, site->arena, locals, site->parameters, site->values)) {
        return MECH_NO_MEMORY;
    }
    law->vars = scope.vars;
    for (size_t i = CONSTANTS; locals[i]; i++) {
        law->vars[i] = constants[i - CONSTANTS];
    }
    place_of(site, field, place, sizeof place);
    int code = mech_scope_compile(&scope, formula->text, place, site->diag, &law->value);
    law->may_jump = code >= 0 && law->value && mech_expr_may_jump(law->value);
    for (int i = 0; i < 2 && code >= 0; i++) {
        if (formula->partial[i]) {
            code = mech_scope_compile(&scope, formula->partial[i], place, site->diag,
                                      &law->partial[i]);
        }
    }
    code =
        code < 0 ? code : mech_switches_law(site->switches, law->value, law->vars, site->item, 0);
    if (code < 0) {
        mech_force_law_fini(law);
    }
    return code < 0 ? code : 0;
}

/* A difference of two neighbors 2 h apart of a value between them; of the side where the law has
 * one, where it ends at the point (√u, u^1.5 at 0): a rate, or 0 where neither side has one. */
static double difference(double below, double at, double above, double h)
{
    if (isfinite(above - below) || !isfinite(at)) {
        return (above - below) / (2. * h);
    }
    return isfinite(above) ? (above - at) / h : isfinite(below) ? (at - below) / h : 0.;
}

/* By a difference, where the law itself has no finite slope: √u at 0. */
static double difference_of(const struct mech_force_law *law, int i)
{
    const double x = law->vars[i], h = step_at(x);

    law->vars[i] = x + h;
    const double above = mech_expr_value(law->value);
    law->vars[i] = x - h;
    const double below = mech_expr_value(law->value);
    law->vars[i] = x;
    const bool whole = isfinite(above - below);

    return difference(below, whole ? 0. : mech_expr_value(law->value), above, h);
}

/* Replace its slope by a difference where the law jumps between two neighbors: there the rise is
 * more than both slopes and a kink between them explain. */
static void cross_jump(const struct mech_force_law *law, int i, double *slope)
{
    const double x = law->vars[i], h = step_at(x);
    double by[2], f[2];

    for (int k = 0; k < 2; k++) {
        law->vars[i] = k == 0 ? x - h : x + h;
        f[k] = mech_expr_gradient(law->value, law->vars, (size_t)i, 1, &by[k]);
    }
    law->vars[i] = x;
    const double rise = f[1] - f[0], left = fabs(rise - h * (by[0] + by[1]));
    const double explained = 2. * h * (fabs(by[0]) + fabs(by[1]));
    if (isfinite(left) && left > explained + ROUNDING * (fabs(f[0]) + fabs(f[1]))) {
        *slope = rise / (2. * h);
    }
}

/* ∂f/∂u and ∂f/∂v at the point in the variables: given, or the law's own; f. */
static double slopes_of(const struct mech_force_law *law, double slope[2])
{
    const bool given = law->partial[0] && law->partial[1];
    const double f = given ? mech_expr_value(law->value)
                           : mech_expr_gradient(law->value, law->vars, AT_U, 2, slope);

    for (int i = 0; i < 2; i++) {
        if (law->partial[i]) {
            slope[i] = mech_expr_value(law->partial[i]);
        } else if (!isfinite(slope[i]) && isfinite(f)) {
            slope[i] = difference_of(law, i);
        } else if (law->may_jump) {
            cross_jump(law, i, &slope[i]);
        }
    }
    return f;
}

double mech_spring_force(const struct mech_spring *s, const struct mech_eval *e, double u, double v,
                         double *slope)
{
    if (!s->law.value) {
        if (slope) {
            slope[0] = s->k;
            slope[1] = s->d;
        }
        return s->k * (u - s->offset) + s->d * (v - s->rate) + s->force;
    }
    s->law.vars[AT_U] = u;
    s->law.vars[AT_V] = v;
    s->law.vars[AT_T] = e->t;
    return slope ? slopes_of(&s->law, slope) : value_of(s->law.value, e);
}

double mech_spring_energy(const struct mech_spring *s, double u)
{
    const double stretch = u - s->offset;

    return s->law.value ? NAN : 0.5 * s->k * stretch * stretch + s->force * u;
}

/* T [12] of both poses */
static void twist_of(const struct mech_pose *const pose[2], double T[12])
{
    for (int k = 0; k < 2; k++) {
        memcpy(T + 6 * k, pose[k]->v, 3 * sizeof *T);
        memcpy(T + 6 * k + 3, pose[k]->omega, 3 * sizeof *T);
    }
}

/* u̇ */
static double stretch_rate(const struct mech_stretch *x, const struct mech_pose *const pose[2])
{
    double T[12], sum = 0.;

    twist_of(pose, T);
    for (int i = 0; i < 12; i++) {
        sum += x->G[i] * T[i];
    }
    return sum;
}

void mech_spring_wrench(const struct mech_spring *s, const struct mech_eval *e,
                        const struct mech_stretch *x, const struct mech_pose *const pose[2],
                        double W[12])
{
    const double f = mech_spring_force(s, e, x->u, stretch_rate(x, pose), NULL);

    for (int i = 0; i < 12; i++) {
        W[i] -= f * x->G[i];
    }
}

/* ∂(−f Gᵀ)/∂δ = −Gᵀ (f_u G + f_v Tᵀ H) − f H,  ∂(−f Gᵀ)/∂T = −f_v Gᵀ G */
void mech_spring_slope(const struct mech_spring *s, const struct mech_eval *e,
                       const struct mech_stretch *x, const struct mech_pose *const pose[2],
                       double Wx[12][12], double Wt[12][12])
{
    double T[12], by[2];
    const double f = mech_spring_force(s, e, x->u, stretch_rate(x, pose), by);

    twist_of(pose, T);
    for (int k = 0; k < 12; k++) {
        double turned = 0.;

        for (int i = 0; i < 12; i++) {
            turned += T[i] * x->H[i][k];
        }
        for (int i = 0; i < 12; i++) {
            Wx[i][k] -= x->G[i] * (by[0] * x->G[k] + by[1] * turned) + f * x->H[i][k];
            Wt[i][k] -= by[1] * x->G[i] * x->G[k];
        }
    }
}

/* --- connectors of one stretch ---------------------------------------------------------------- */

void mech_spring_markers(const void *description, struct mech_attachment *out)
{
    const struct mech_spring_item *const item = description;

    *out = (struct mech_attachment){
        .refs = item->markers.refs, .n = item->markers.n, .field = "markers", .list = true};
}

int mech_spring_init(struct mech_spring *s, const struct mech_spring_item *item,
                     const struct mech_site *site, const char *field, const char *const *locals)
{
    const double constants[] = {item->stiffness, item->damping, item->force, item->offset,
                                item->rate};

    *s = (struct mech_spring){.k = item->stiffness,
                              .d = item->damping,
                              .offset = item->offset,
                              .rate = item->rate,
                              .force = item->force};
    if (!item->active) {
        return 0;
    }
    MECH_TRY(mech_force_law_init(&s->law, &item->law, site, field, locals, constants));
    return 1;
}

void mech_spring_release(void *record)
{
    mech_force_law_fini(&((struct mech_spring *)record)->law);
}

double mech_spring_output(const struct mech_spring *s, const struct mech_stretch *x,
                          const struct mech_view *view, enum mech_spring_value which)
{
    const double rate = stretch_rate(x, view->pose);

    if (which == MECH_SPRING_STRETCH) {
        return x->u;
    }
    return which == MECH_SPRING_RATE ? rate
           : view->record            ? mech_spring_force(s, &view->at, x->u, rate, NULL)
                                     : 0.;
}

/* --- n stretches ------------------------------------------------------------------------------ */

void mech_springs_fini(struct mech_springs *s)
{
    for (int i = 0; i < MECH_LAW_ROWS; i++) {
        mech_expr_destroy(s->row[i]);
    }
}

int mech_springs_law(struct mech_springs *s, const struct mech_values *law,
                     const struct mech_site *site, const char *field, const char *const *locals)
{
    struct mech_scope scope;
    int code = 0;

    if (!law->n) {
        return 0;
    }
    if (mech_scope_init(&scope, site->arena, locals, site->parameters, site->values)) {
        return MECH_NO_MEMORY;
    }
    s->vars = scope.vars;
    for (int32_t i = 0; i < s->n && (size_t)i < law->n && code >= 0; i++) {
        s->number[i] = law->number[i];
        if (law->text && law->text[i]) {
            char place[2 * MECH_DIAG_PATH];

            place_of(site, field, place, sizeof place);
            snprintf(place + strlen(place), sizeof place - strlen(place), "/%d", (int)i);
            code = mech_scope_compile(&scope, law->text[i], place, site->diag, &s->row[i]);
        }
        code =
            code < 0 ? code : mech_switches_law(site->switches, s->row[i], s->vars, site->item, i);
    }
    if (code < 0) {
        mech_springs_fini(s);
    }
    return code < 0 ? code : 0;
}

void mech_springs_force(const struct mech_springs *s, const struct mech_eval *e, const double *u,
                        const double *v, double *f)
{
    const size_t n = (size_t)s->n;

    for (size_t i = 0; i < n; i++) {
        f[i] = 0.;
        for (size_t j = 0; j < n; j++) {
            f[i] += s->K[n * i + j] * (u[j] - s->offset[j]) + s->D[n * i + j] * v[j];
        }
    }
    if (!s->vars) {
        return;
    }
    memcpy(s->vars, u, n * sizeof *u);
    memcpy(s->vars + n, v, n * sizeof *v);
    memcpy(s->vars + 2 * n, f, n * sizeof *f);
    s->vars[3 * n] = e->t;
    for (size_t i = 0; i < n; i++) {
        f[i] = s->row[i] ? value_of(s->row[i], e) : s->number[i];
    }
}

bool mech_springs_differenced(const struct mech_springs *s)
{
    bool some = false;

    for (int i = 0; i < MECH_LAW_ROWS; i++) {
        some = some || (s->row[i] && mech_expr_may_jump(s->row[i]));
    }
    return some;
}

/* ∂f/∂x of one variable, j of [u; v], over two neighbors of it; x [2 n] is at the point. */
static void difference_column(const struct mech_springs *s, const struct mech_eval *e, double *x,
                              size_t j, double *out)
{
    double above[MECH_LAW_ROWS], below[MECH_LAW_ROWS], here[MECH_LAW_ROWS];
    const size_t n = (size_t)s->n;
    const double at = x[j], h = step_at(at);

    mech_springs_force(s, e, x, x + n, here);
    x[j] = at + h;
    mech_springs_force(s, e, x, x + n, above);
    x[j] = at - h;
    mech_springs_force(s, e, x, x + n, below);
    x[j] = at;
    for (size_t i = 0; i < n; i++) {
        out[n * i] = difference(below[i], here[i], above[i], h);
    }
}

/* Row i of both, exact from the expression: by u and v, and by the f that it sees, which follow
 * from them. The variables are at the point. */
static bool exact_row(const struct mech_springs *s, size_t i, double *fu, double *fv)
{
    double slope[3 * MECH_LAW_ROWS];
    const size_t n = (size_t)s->n;
    bool finite = true;

    (void)mech_expr_gradient(s->row[i], s->vars, 0, 3 * n, slope);
    for (size_t j = 0; j < n; j++) {
        double by_u = slope[j], by_v = slope[n + j];

        for (size_t k = 0; k < n; k++) {
            by_u += slope[2 * n + k] * s->K[n * k + j];
            by_v += slope[2 * n + k] * s->D[n * k + j];
        }
        fu[n * i + j] = by_u;
        fv[n * i + j] = by_v;
        finite = finite && isfinite(by_u) && isfinite(by_v);
    }
    return finite;
}

void mech_springs_slope(const struct mech_springs *s, const struct mech_eval *e, const double *u,
                        const double *v, double *fu, double *fv)
{
    const size_t n = (size_t)s->n;
    double x[2 * MECH_LAW_ROWS], f[MECH_LAW_ROWS];
    bool exact = true;

    if (!s->vars) {
        memcpy(fu, s->K, n * n * sizeof *fu);
        memcpy(fv, s->D, n * n * sizeof *fv);
        return;
    }
    memset(fu, 0, n * n * sizeof *fu);
    memset(fv, 0, n * n * sizeof *fv);
    mech_springs_force(s, e, u, v, f);
    for (size_t i = 0; i < n && exact; i++) {
        exact = !s->row[i] || (!mech_expr_may_jump(s->row[i]) && exact_row(s, i, fu, fv));
    }
    memcpy(x, u, n * sizeof *u);
    memcpy(x + n, v, n * sizeof *v);
    for (size_t j = 0; j < 2 * n && !exact; j++) {
        difference_column(s, e, x, j, j < n ? fu + j : fv + j - n);
    }
}

double mech_springs_energy(const struct mech_springs *s, const double *u)
{
    const size_t n = (size_t)s->n;
    double sum = s->vars ? NAN : 0.;

    for (size_t i = 0; i < n && !s->vars; i++) {
        for (size_t j = 0; j < n; j++) {
            sum += 0.5 * (u[i] - s->offset[i]) * s->K[n * i + j] * (u[j] - s->offset[j]);
        }
    }
    return sum;
}
