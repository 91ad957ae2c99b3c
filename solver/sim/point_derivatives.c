/* Derivatives of the equations at a point, forward and adjoint. A direction is taken apart into its
 * parts in q, v, x and inputs, whose units differ, and the derivatives are summed. Along a part F
 * is evaluated at four points beside the point, ±h and ±h/2, which give the derivative to fourth
 * order, and what two quotients of second order differ by. h begins as 2⁻¹² of the values that the
 * part moves, at least 2⁻¹², and falls until that difference is 2⁻¹⁷ of the derivative, or
 * rounding: a law may have a length of its own, as a contact with little overlap. Each unknown
 * takes the first h that is good for it. One that none is good for, or whose slopes on both sides
 * of the point differ however small h is, is not smooth there: it gets the best that was met, and
 * `kinked` says so.
 *
 * Rounding is that of the unknown's own value: rates of one model have different units and sizes.
 * One may round by more, as a small difference of large ones. It gets the best that was met, which
 * is good if it is so to the rounding of the largest of its kind, and if what its slopes on both
 * sides differ by changes from h to h, as that of rounding does and that of an end of a law does
 * not. */
#include "solver/base/err.h"
#include "solver/base/text.h"
#include "solver/sim/analysis.h"
#include "solver/sim/internal.h"
#include "solver/step/tangent.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* h, how it falls; differences that are good, of the derivative; rounding, of values; a jump of the
 * slope that counts, of the slope, and what it keeps of itself in half the distance: of a smooth
 * function half */
static const double narrow = 0x1p-12, falls = 0x1p-4;
static const double good = 0x1p-17, rounding = 0x1p-46;
static const double jump = 0x1p-13, lasts = 0.7;
/* of a jump: less than it changes from one h to the next if it is none; how many such in turn */
static const double alike = 0.1;
enum { IN_TURN = 3 };
enum { LEVELS = 6, BLOCKS = 4 };

struct work {
    struct mech_sim *sim;
    struct mech_state base, beside;
    struct mech_step_result result;
    double *memory;
    double *motion;                     /* [nv + 1] the direction of q */
    double *scaled;                     /* [nv + 1] */
    double *sample[4];                  /* [unknowns] q̇, v̇, ẋ, outputs */
    double *here;                       /* [unknowns] the same at the point */
    double *part;                       /* [unknowns] derivative along a part */
    double *off;                        /* [unknowns] what it is off by at most; −1: good */
    double *jump;                       /* [unknowns] what the slopes on both sides differ by */
    unsigned char *same;                /* [unknowns] for how many h in turn that is the same */
    unsigned char *close;               /* [unknowns] good to the rounding of the largest */
    double *sum;                        /* [unknowns] derivative along the direction */
    size_t unknowns, block[BLOCKS + 1]; /* where q̇, v̇, ẋ and outputs begin */
    bool kinked;
};

/* A direction in the knowns, times 2^up: its largest component is then near 1. */
struct along {
    const double *q, *v, *x, *inputs;
    int up;
};

static int begin(struct work *w, struct mech_sim *s, const struct mech_point *at)
{
    const size_t block = mech_state_bytes(&s->sizes) / sizeof(double), nv = (size_t)s->sizes.v + 1;

    w->sim = s;
    w->unknowns =
        (size_t)s->sizes.q + (size_t)s->sizes.v + (size_t)s->sizes.x + mech_sim_output_size(s) + 1;
    w->memory = calloc(2 * block + 2 * nv + 9 * w->unknowns, sizeof *w->memory);
    if (!w->memory) {
        return MECH_NO_MEMORY;
    }
    w->same = calloc(2 * w->unknowns, sizeof *w->same);
    if (!w->same) {
        return MECH_NO_MEMORY;
    }
    w->close = w->same + w->unknowns;
    mech_state_place(&s->sizes, w->memory, &w->base);
    mech_state_place(&s->sizes, w->memory + block, &w->beside);
    w->motion = w->memory + 2 * block;
    w->scaled = w->motion + nv;
    for (size_t k = 0; k < 4; k++) {
        w->sample[k] = w->scaled + nv + k * w->unknowns;
    }
    w->here = w->sample[3] + w->unknowns;
    w->part = w->here + w->unknowns;
    w->off = w->part + w->unknowns;
    w->sum = w->off + w->unknowns;
    w->jump = w->sum + w->unknowns;
    w->block[1] = (size_t)s->sizes.q;
    w->block[2] = w->block[1] + (size_t)s->sizes.v;
    w->block[3] = w->block[2] + (size_t)s->sizes.x;
    w->block[4] = w->unknowns - 1;
    MECH_TRY(mech_sim_place_point(s, at));
    mech_state_copy(&s->point, &w->base);
    return mech_sim_need_rates(s, &w->result);
}

/* From here on all inputs that can be varied are those that act now, and hold. */
static void hold(struct work *w)
{
    const struct mech_model *const m = w->sim->model;

    for (size_t i = 0; i < mech_model_inputs(m); i++) {
        const struct mech_channel_info *const c = mech_model_input(m, i);

        for (int32_t k = c->offset; k < c->offset + c->size && c->kind != MECH_INPUT_PARAMETER;
             k++) {
            double *const in = w->base.input + 4 * (size_t)k;
            const double value = mech_model_input_value(m, &w->base, k, i, w->base.at->time);

            memcpy(in, (const double[]){value, 0., 0., w->base.at->time}, 4 * sizeof *in);
            w->base.input_set[k] = 1.;
        }
    }
}

/* F at base + step · direction into out. */
static int evaluate(struct work *w, const struct along *d, double step, double *out)
{
    struct mech_sim *const s = w->sim;
    const struct mech_state_sizes *const n = &s->sizes;
    struct mech_state *const to = &w->beside;

    mech_state_copy(&w->base, to);
    for (int32_t i = 0; i < n->v; i++) {
        w->scaled[i] = step * ldexp(w->motion[i], d->up);
        to->v[i] += d->v ? step * ldexp(d->v[i], d->up) : 0.;
    }
    if (d->q) {
        mech_model_move(s->model, w->base.q, w->scaled, to->q);
    }
    for (int32_t i = 0; d->x && i < n->x; i++) {
        to->x[i] += step * ldexp(d->x[i], d->up);
    }
    for (int32_t i = 0; d->inputs && i < n->input; i++) {
        to->input[4 * (size_t)i] += step * ldexp(d->inputs[i], d->up);
    }
    MECH_TRY(mech_rates_start(&s->rates, to, &w->result));
    mech_model_qdot(s->model, to->q, to->v, out);
    out += n->q;
    memcpy(out, to->vdot, (size_t)n->v * sizeof *out);
    out += n->v;
    MECH_TRY(mech_rates_xdot(&s->rates, to, to->at->time, to->x, out, &w->result));
    mech_sim_outputs_of(s, to, out + n->x);
    return 0;
}

/* What samples at ±h and ±h/2 say of one unknown, by its own rounding and that of the largest. */
static void judge(struct work *w, size_t i, double h, double noise, double largest)
{
    const double *const *const f = (const double *const *)w->sample;
    const double coarse = (f[0][i] - f[1][i]) / (2. * h), fine = (f[2][i] - f[3][i]) / h;
    const double wide = fabs(f[0][i] - 2. * w->here[i] + f[1][i]) / h;
    const double close = 2. * fabs(f[2][i] - 2. * w->here[i] + f[3][i]) / h;
    const double differ = fabs(coarse - fine), slope = fabs(fine);
    const bool kinked = close > lasts * wide && close > jump * slope + 4. * noise;
    const bool settled = differ <= fmax(good * slope, noise) && !kinked;
    const double off = differ + noise + (kinked ? close : 0.);

    if (settled || off < w->off[i]) {
        w->part[i] = (4. * fine - coarse) / 3.;
        w->off[i] = settled ? -1. : off;
        w->close[i] = differ <= largest;
    }
    const bool same = kinked && fabs(close - w->jump[i]) <= alike * close;

    w->same[i] = (unsigned char)(same ? w->same[i] + 1 : 0);
    w->jump[i] = close;
}

/* Whether the derivative of an unknown is good, or as good as its rounding allows. */
static bool is_good(const struct work *w, size_t i)
{
    return w->off[i] < 0. || (w->close[i] && w->same[i] < IN_TURN);
}

/* All unknowns that are not good yet. True: they all are. */
static bool judge_all(struct work *w, double h)
{
    bool all = true;

    for (int b = 0; b < BLOCKS; b++) {
        double most = 0.;

        for (size_t i = w->block[b]; i < w->block[b + 1]; i++) {
            most = fmax(most, fmax(fabs(w->sample[0][i]), fabs(w->sample[1][i])));
        }
        for (size_t i = w->block[b]; i < w->block[b + 1]; i++) {
            const double own = fmax(fabs(w->sample[0][i]), fabs(w->sample[1][i]));
            const double unit = rounding / h;

            if (w->off[i] >= 0.) {
                judge(w, i, h, unit * own, unit * most);
                all = all && w->off[i] < 0.;
            }
        }
    }
    return all;
}

/* F at ±h and ±h/2 along a part, with step · part of size h. */
static int sample(struct work *w, const struct along *d, double step)
{
    const double at[] = {step, -step, 0.5 * step, -0.5 * step};

    for (int k = 0; k < 4; k++) {
        if (mech_interrupted(mech_model_interrupt(w->sim->model))) {
            return MECH_CANCELLED;
        }
        MECH_TRY(evaluate(w, d, at[k], w->sample[k]));
        if (!mech_sim_all_finite(w->sample[k], w->unknowns - 1)) {
            return MECH_NOT_FINITE;
        }
    }
    return 0;
}

/* The power of 2 by which the largest component is in (½, 1]. */
static int up_of(double most)
{
    int exponent;

    return frexp(most, &exponent) > 0.5 ? -exponent : 1 - exponent;
}

/* sum += the derivative along a part whose largest component is `most`, where the largest value
 * that it moves is `size`. A law may end within h of the point, which smaller ones do not leave. */
static int add_part(struct work *w, struct along part, double most, double size)
{
    double step = narrow / mech_tangent_unit(fmax(1., size));
    bool all = false, any = false;
    int code = 0;

    if (!(most > 0.)) {
        return 0;
    }
    if (!isfinite(most)) {
        return MECH_NOT_FINITE;
    }
    part.up = up_of(most);
    for (size_t i = 0; i + 1 < w->unknowns; i++) {
        w->part[i] = 0.;
        w->off[i] = HUGE_VAL;
        w->jump[i] = 0.;
        w->same[i] = 0;
    }
    for (int k = 0; k < LEVELS && !all; k++, step *= falls) {
        code = sample(w, &part, step);
        if (code < 0 || code == MECH_CANCELLED) {
            return code;
        }
        if (code == 0) {
            all = judge_all(w, step);
            any = true;
        }
    }
    if (!any) {
        return code;
    }
    for (size_t i = 0; i + 1 < w->unknowns; i++) {
        if (w->off[i] == HUGE_VAL) {
            return MECH_NOT_FINITE; /* differences are beyond doubles at any h */
        }
        w->sum[i] += ldexp(w->part[i], -part.up);
        w->kinked = w->kinked || !is_good(w, i);
    }
    return 0;
}

/* The largest of values along which it goes. */
static double moved(const double *along, const double *values, size_t stride, int32_t n)
{
    double most = 0.;

    for (int32_t i = 0; along && i < n; i++) {
        most = along[i] != 0. ? fmax(most, fabs(values[stride * (size_t)i])) : most;
    }
    return most;
}

/* The derivative along a direction, in sum: by inputs last, at the point where they hold. */
static int differentiate(struct work *w, const struct along *d)
{
    const struct mech_state_sizes *const n = &w->sim->sizes;
    const struct mech_state *const at = &w->base;
    const size_t nv = (size_t)n->v;

    memset(w->sum, 0, w->unknowns * sizeof *w->sum);
    memset(w->motion, 0, nv * sizeof *w->motion);
    MECH_TRY(evaluate(w, &(struct along){.q = NULL}, 0., w->here));
    MECH_TRY(add_part(w, (struct along){.v = d->v}, mech_tangent_largest(d->v, nv, 0.),
                      moved(d->v, at->v, 1, n->v)));
    MECH_TRY(add_part(w, (struct along){.x = d->x}, mech_tangent_largest(d->x, (size_t)n->x, 0.),
                      moved(d->x, at->x, 1, n->x)));
    if (d->q) {
        mech_model_motion(w->sim->model, at->q, d->q, w->motion);
        MECH_TRY(add_part(w, (struct along){.q = d->q}, mech_tangent_largest(w->motion, nv, 0.),
                          moved(d->q, at->q, 1, n->q)));
    }
    if (d->inputs) {
        hold(w);
        MECH_TRY(evaluate(w, &(struct along){.q = NULL}, 0., w->here));
        MECH_TRY(add_part(w, (struct along){.inputs = d->inputs},
                          mech_tangent_largest(d->inputs, (size_t)n->input, 0.),
                          moved(d->inputs, at->input, 4, n->input)));
    }
    return mech_sim_all_finite(w->sum, w->unknowns - 1) ? 0 : MECH_NOT_FINITE;
}

/* --- forward ---------------------------------------------------------------------------------- */

static void copy(const double **from, double *to, size_t n)
{
    if (to) {
        memcpy(to, *from, n * sizeof *to);
    }
    *from += n;
}

static int forward(struct work *w, const struct mech_point_values *v)
{
    const struct mech_state_sizes *const n = &w->sim->sizes;
    const struct along d = {v->q, v->v, v->x, v->inputs, 0};
    const double *from = w->sum;

    MECH_TRY(differentiate(w, &d));
    copy(&from, v->qdot, (size_t)n->q);
    copy(&from, v->vdot, (size_t)n->v);
    copy(&from, v->xdot, (size_t)n->x);
    copy(&from, v->outputs, mech_sim_output_size(w->sim));
    return 0;
}

/* --- adjoint ---------------------------------------------------------------------------------- */

/* Σ seed · derivative, of one part of the unknowns */
static double weigh(const double **from, const double *seed, size_t n)
{
    double sum = 0.;

    for (size_t i = 0; seed && i < n; i++) {
        sum += seed[i] * (*from)[i];
    }
    *from += n;
    return sum;
}

/* The sensitivities of n knowns, whose directions are written into one vector of the direction,
 * zero before and after. */
static int sensitivities(struct work *w, const struct mech_point_values *v, const struct along *d,
                         double *unit, size_t n, double *out)
{
    const struct mech_state_sizes *const sizes = &w->sim->sizes;

    for (size_t k = 0; k < n; k++) {
        const double *from = w->sum;

        if (mech_interrupted(mech_model_interrupt(w->sim->model))) {
            return MECH_CANCELLED;
        }
        unit[k] = 1.;
        MECH_TRY(differentiate(w, d));
        unit[k] = 0.;
        out[k] = weigh(&from, v->qdot, (size_t)sizes->q);
        out[k] += weigh(&from, v->vdot, (size_t)sizes->v);
        out[k] += weigh(&from, v->xdot, (size_t)sizes->x);
        out[k] += weigh(&from, v->outputs, mech_sim_output_size(w->sim));
    }
    return 0;
}

static int adjoint(struct work *w, const struct mech_point_values *v)
{
    const struct mech_state_sizes *const n = &w->sim->sizes;
    const size_t most = (size_t)n->q + (size_t)n->v + (size_t)n->x + (size_t)n->input + 1;
    double *const unit = calloc(most, sizeof *unit);

    if (!unit) {
        return MECH_NO_MEMORY;
    }
    const struct along parts[] = {{.q = unit}, {.v = unit}, {.x = unit}, {.inputs = unit}};
    double *const out[] = {v->q, v->v, v->x, v->inputs};
    const int32_t size[] = {n->q, n->v, n->x, n->input};
    int code = 0;

    for (int p = 0; p < 4 && code == 0; p++) {
        if (!out[p]) {
            continue;
        }
        code = sensitivities(w, v, &parts[p], unit, (size_t)size[p], out[p]);
    }
    free(unit);
    return code;
}

/* --- both ------------------------------------------------------------------------------------- */

/* Whether a direction has a part along an input that is a parameter. */
static bool along_parameter(const struct mech_sim *s, const double *inputs)
{
    for (size_t i = 0; inputs && i < mech_model_inputs(s->model); i++) {
        const struct mech_channel_info *const c = mech_model_input(s->model, i);

        if (c->kind == MECH_INPUT_PARAMETER && inputs[c->offset] != 0.) {
            return true;
        }
    }
    return false;
}

int mech_sim_point_derivative(struct mech_sim *s, struct mech_point_derivative *d)
{
    struct work w = {.memory = NULL};

    d->reason[0] = '\0';
    d->kinked = false;
    if (!d->adjoint && along_parameter(s, d->values.inputs)) {
        mech_text_format(
            d->reason, sizeof d->reason,
            "derivatives at a point are not computed for an input that is a parameter");
        return MECH_INVALID;
    }
    int code = begin(&w, s, &d->at);
    code = code ? code : (d->adjoint ? adjoint : forward)(&w, &d->values);
    if (mech_sim_interrupted(s)) {
        code = code < 0 ? code : MECH_CANCELLED;
    }
    mech_sim_watch(s);
    d->kinked = code == 0 && w.kinked;
    if (code > 0) {
        memcpy(d->reason, w.result.reason, sizeof d->reason);
    }
    free(w.memory);
    free(w.same);
    return code;
}
