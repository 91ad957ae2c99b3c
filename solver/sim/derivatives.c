/* Derivatives of steps over the façade: directions in, derivatives of states and outputs out. What
 * an input or a state changes comes from step/tangent.h. What a parameter changes is differenced:
 * the model is compiled for each of four values near the present one, runs, and is restored. All
 * of it goes in turns: an internal step, or the start of something, each. */
#include "solver/analysis/output_slopes.h"
#include "solver/base/err.h"
#include "solver/base/text.h"
#include "solver/sim/analysis.h"
#include "solver/sim/internal.h"
#include "solver/step/tangent.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Numbers of one block of columns: 2 MB each of some ten vectors, and what all columns of a turn
 * take. */
static const size_t most_numbers = 1u << 18;
/* Relative step of a parameter; fourth order leaves about 1e-9. */
static const double parameter_step = 0x1p-8;

struct mech_derivation {
    struct mech_sim *sim;
    struct mech_step_plan plan;
    struct mech_state point; /* where it starts, with the step's own inputs */
    struct mech_tangent tangent;
    struct mech_derived *derived;
    const struct mech_jvp *jvp; /* one direction; NULL: all inputs */
    double *out;                /* [outputs × inputs] of all inputs */
    size_t inputs;
    size_t width; /* columns of a block */
    double *memory;
    struct mech_output_rows rows;   /* outputs whose derivatives are wanted; of a direction all */
    struct mech_active_set *active; /* or NULL */
    uint64_t acted;                 /* what acted in the last internal step, and when that was */
    uint64_t looked;
    double *directions; /* [width × inputs] of all inputs; of one: [nv], its q as a motion */
    double *parameters; /* [parameters] the direction of the column in progress */

    /* how far it is */
    size_t first;  /* input of the block in progress or next */
    bool begun;    /* a block, or a column of parameters, is in progress */
    size_t input;  /* of the column of parameters in progress or next */
    int run;       /* of the four beside it */
    uint64_t step; /* internal steps of that run */
    double unit;   /* its step of differences */
    double *ends; /* [5 × (nq + 2 nv + nx)] states at the ends of the runs, and their derivative */
};

/* Why there is no such derivative, or 0. */
static int refuse(const struct mech_sim *s, const struct mech_step_request *step,
                  uint64_t steps_most, struct mech_derived *derived, struct mech_step_plan *plan)
{
    const char *const obstacle = mech_tangent_obstacle(s->model, s->type);
    const char *reason = NULL;

    if (obstacle) {
        mech_text_format(derived->reason, sizeof derived->reason, "%s", obstacle);
        return MECH_UNSUPPORTED;
    }
    if (mech_sim_plan(s, step, plan) || (steps_most && plan->count > steps_most)) {
        reason =
            "the step's size must be positive and finite, and not need too many internal steps";
    } else if (step->force_count) {
        reason = "a step with forces on markers has no derivatives";
    }
    for (size_t k = 0; k < step->input_count; k++) {
        reason = step->inputs[k].signal
                     ? "derivatives need inputs that are held over the step, not inputs over time"
                     : reason;
    }
    if (reason) {
        mech_text_format(derived->reason, sizeof derived->reason, "%s", reason);
    }
    return reason ? MECH_INVALID : 0;
}

/* Numbers of the end of a run: q, v, v̇, x. */
static size_t end_size(const struct mech_derivation *d)
{
    const struct mech_state_sizes *const n = &d->sim->sizes;

    return (size_t)n->q + 2 * (size_t)n->v + (size_t)n->x;
}

/* With room for `directions` numbers of directions. */
static int begin(struct mech_derivation *d, const struct mech_step_request *step,
                 uint64_t steps_most, size_t directions)
{
    struct mech_sim *const s = d->sim;
    const size_t block = mech_state_bytes(&s->sizes) / sizeof(double);
    const size_t samples = MECH_QUOTIENT_EACH * d->rows.size + 1, ends = 5 * end_size(d);
    const size_t channels = d->rows.count * sizeof *d->rows.channels / sizeof(double) + 1;
    const size_t parameters = (size_t)s->sizes.parameter + 1;

    *d->derived = (struct mech_derived){.steps = 0};
    MECH_TRY(refuse(s, step, steps_most, d->derived, &d->plan));
    d->memory =
        calloc(block + samples + directions + 1 + parameters + ends + channels, sizeof *d->memory);
    if (!d->memory) {
        return MECH_NO_MEMORY;
    }
    mech_state_place(&s->sizes, d->memory, &d->point);
    d->rows.samples = d->memory + block;
    d->directions = d->rows.samples + samples;
    d->parameters = d->directions + directions + 1;
    d->ends = d->parameters + parameters;
    if (d->rows.channels) {
        /* the caller's are read by begin only */
        int32_t *const own = (int32_t *)(void *)(d->ends + ends);

        memcpy(own, d->rows.channels, d->rows.count * sizeof *own);
        d->rows.channels = own;
    }
    mech_state_copy(&s->now, &d->point);
    mech_sim_put_inputs(s, step->inputs, step->input_count, &d->point);
    d->point.extra = d->point.wrench = NULL;
    if (!mech_sim_same_parameters(s, &s->now, &d->point)) {
        mech_text_format(d->derived->reason, sizeof d->derived->reason,
                         "set parameters before the step, not with it");
        return MECH_INVALID;
    }
    d->derived->steps = d->plan.count;
    d->derived->time = d->plan.end.time;
    return 0;
}

/* The model of the committed state again, after runs with other parameters. */
static int put_model_back(struct mech_sim *s)
{
    s->beside = false;
    return mech_sim_model_back(s);
}

void mech_sim_derivation_end(struct mech_derivation *d)
{
    if (!d) {
        return;
    }
    if (d->sim->beside) {
        (void)put_model_back(d->sim);
    }
    mech_tangent_fini(&d->tangent);
    free(d->memory);
    free(d);
}

/* --- states and inputs ------------------------------------------------------------------------ */

/* A block of columns along these directions begins. */
static int begin_block(struct mech_derivation *d, size_t count,
                       const struct mech_tangent_directions *along, struct mech_step_result *result)
{
    const struct mech_sim *const s = d->sim;
    const struct mech_tangent_run run = {s->type, s->stepper, d->plan.h, d->plan.end.time,
                                         d->plan.count};

    mech_tangent_fini(&d->tangent);
    MECH_TRY(mech_tangent_init(&d->tangent, s->model, &s->sizes, (int32_t)count));
    return mech_tangent_begin(&d->tangent, &run, &d->point, along, result);
}

/* --- parameters ------------------------------------------------------------------------------- */

/* The start of a run with parameters + step · direction, in t->from. */
static int start_beside(struct mech_derivation *d, double step, struct mech_step_result *result)
{
    struct mech_sim *const s = d->sim;
    struct mech_state *const to = &d->tangent.from;
    struct mech_diag diag;

    mech_state_copy(&d->point, to);
    for (int32_t i = 0; i < s->sizes.parameter; i++) {
        to->parameter[i] += step * d->parameters[i];
    }
    mech_diag_init(&diag);
    s->beside = true;
    const int code = mech_sim_rebuild(s, to->parameter, &diag);
    if (code) {
        mech_text_format(result->reason, sizeof result->reason, "%s",
                         diag.count ? diag.entries[0].text : mech_err_text(code));
    }
    mech_diag_fini(&diag);
    MECH_TRY(code);
    if (!mech_sim_rows_suit(s, to)) {
        mech_text_format(result->reason, sizeof result->reason,
                         "a joint would be activated or deactivated along with these parameters");
        return MECH_UNSUPPORTED;
    }
    return s->type->start(s->stepper, to, result);
}

/* Ends of such runs: [nq], [nv], [nv], [nx] */
static void pack(const struct mech_derivation *d, double *out)
{
    const struct mech_state *const s = &d->tangent.from;
    const struct mech_state_sizes *const n = &d->sim->sizes;

    memcpy(out, s->q, (size_t)n->q * sizeof *out);
    memcpy(out + n->q, s->v, (size_t)n->v * sizeof *out);
    memcpy(out + n->q + n->v, s->vdot, (size_t)n->v * sizeof *out);
    memcpy(out + n->q + 2 * n->v, s->x, (size_t)n->x * sizeof *out);
}

/* The largest relative size of a direction of parameters. */
static double relative(const struct mech_derivation *d, const double *direction)
{
    double most = 0.;

    for (int32_t i = 0; i < d->sim->sizes.parameter; i++) {
        const double size = fabs(d->sim->now.parameter[i]);

        most = fmax(most, fabs(direction[i]) / (size > 0. ? size : 1.));
    }
    return most;
}

/* x [n] += y */
static void add(const double *y, size_t n, double *x)
{
    for (size_t i = 0; x && i < n; i++) {
        x[i] += y[i];
    }
}

/* What four runs beside say, added to what states and inputs have given. */
static void take_parameters(struct mech_derivation *d)
{
    const struct mech_state_sizes *const n = &d->sim->sizes;
    const size_t out = d->rows.size, size = end_size(d);
    double *const samples = d->rows.samples;
    double *const values[] = {samples, samples + out, samples + 2 * out, samples + 3 * out};
    double *const states[] = {d->ends, d->ends + size, d->ends + 2 * size, d->ends + 3 * size};
    const double *const state = d->ends + 4 * size;

    mech_tangent_difference(values, out, d->unit, values[0]);
    if (!d->jvp) {
        const size_t at = (size_t)mech_model_input(d->sim->model, d->input)->offset;

        for (size_t k = 0; k < out; k++) {
            d->out[at + k * d->inputs] += values[0][k];
        }
        return;
    }
    mech_tangent_difference(states, size, d->unit, d->ends + 4 * size);
    add(state, (size_t)n->q, d->jvp->dq);
    add(state + n->q, (size_t)n->v, d->jvp->dv);
    add(state + n->q + n->v, (size_t)n->v, d->jvp->dvdot);
    add(state + n->q + 2 * n->v, (size_t)n->x, d->jvp->dx);
    add(values[0], out, d->jvp->outputs);
}

/* One internal step of a run beside; *over: that was the last of the last run, and the model is the
 * present one again, or the simulation is astray. */
static int parameter_turn(struct mech_derivation *d, bool *over, struct mech_step_result *result)
{
    struct mech_sim *const s = d->sim;
    struct mech_state *const to = &d->tangent.from;
    const uint64_t k = d->step;
    const bool last = k + 1 == d->plan.count;
    const double t = last ? d->plan.end.time : d->plan.start.time + (double)(k + 1) * d->plan.h;

    if (k == 0) {
        MECH_TRY(
            start_beside(d, (d->run % 2 ? -d->unit : d->unit) / (d->run < 2 ? 1. : 2.), result));
    }
    MECH_TRY(s->type->step(s->stepper, to, d->plan.h, t, result));
    to->at->time = t;
    mech_model_keep(s->model, to);
    d->step++;
    if (!last) {
        return 0;
    }
    d->step = 0;
    mech_output_rows_values(s->model, to, &d->rows,
                            d->rows.samples + (size_t)d->run * d->rows.size);
    pack(d, d->ends + (size_t)d->run * end_size(d));
    d->run++;
    if (d->run == 4) {
        *over = true;
        take_parameters(d);
        MECH_TRY(put_model_back(s));
    }
    return 0;
}

/* The parameters among packed inputs: [parameters]; false: there are none. */
static bool parameters_of(const struct mech_sim *s, const double *inputs, double *out)
{
    bool some = false;

    memset(out, 0, ((size_t)s->sizes.parameter + 1) * sizeof *out);
    for (size_t i = 0; inputs && i < mech_model_inputs(s->model); i++) {
        const struct mech_channel_info *const c = mech_model_input(s->model, i);

        if (c->kind == MECH_INPUT_PARAMETER && inputs[c->offset] != 0.) {
            out[c->parameter] += inputs[c->offset];
            some = true;
        }
    }
    return some;
}

/* The next column of parameters begins; false: there is none. */
static bool next_parameters(struct mech_derivation *d)
{
    const struct mech_sim *const s = d->sim;
    const size_t count = mech_model_inputs(s->model);

    if (d->jvp) {
        return d->input == 0 && parameters_of(s, d->jvp->inputs, d->parameters);
    }
    while (d->input < count && mech_model_input(s->model, d->input)->kind != MECH_INPUT_PARAMETER) {
        d->input++;
    }
    if (d->input < count) {
        memset(d->parameters, 0, (size_t)s->sizes.parameter * sizeof *d->parameters);
        d->parameters[mech_model_input(s->model, d->input)->parameter] = 1.;
    }
    return d->input < count;
}

/* Columns by parameters, a turn of them. */
static int parameters_turn(struct mech_derivation *d, bool *done, struct mech_step_result *result)
{
    bool over = false;

    if (!d->begun) {
        *done = !next_parameters(d);
        if (*done) {
            return 0;
        }
        d->derived->differenced = true;
        if (d->sim->command.running) {
            mech_text_format(result->reason, sizeof result->reason,
                             "while a step is in progress there are no derivatives by parameters");
            return MECH_INVALID;
        }
        d->begun = true;
        d->run = 0;
        d->step = 0;
        d->unit = parameter_step * mech_tangent_unit(relative(d, d->parameters));
    }
    MECH_TRY(parameter_turn(d, &over, result));
    if (over) {
        d->begun = false;
        d->input++;
    }
    return 0;
}

/* --- a direction ------------------------------------------------------------------------------ */

static void clear(double *x, size_t n)
{
    if (x) {
        memset(x, 0, n * sizeof *x);
    }
}

static int begin_direction(struct mech_derivation *d, struct mech_step_result *result)
{
    const struct mech_jvp *const jvp = d->jvp;
    struct mech_tangent_directions along = {.v = jvp->v, .x = jvp->x, .input = jvp->inputs};

    if (jvp->q) {
        mech_model_motion(d->sim->model, d->point.q, jvp->q, d->directions);
        along.q = d->directions;
    }
    return begin_block(d, 1, &along, result);
}

/* The result of one column of the tangent, into the caller's arrays. */
static void give(struct mech_derivation *d)
{
    const struct mech_jvp *const jvp = d->jvp;
    const struct mech_state_sizes *const n = &d->sim->sizes;
    const struct mech_columns *const c = &d->tangent.columns;

    clear(jvp->dq, (size_t)n->q);
    clear(jvp->dv, (size_t)n->v);
    clear(jvp->dvdot, (size_t)n->v);
    clear(jvp->dx, (size_t)n->x);
    clear(jvp->outputs, mech_sim_output_size(d->sim));
    if (jvp->dq) {
        mech_model_qdot(d->sim->model, d->tangent.base.q, c->q, jvp->dq);
    }
    add(c->v, (size_t)n->v, jvp->dv);
    add(c->vdot, (size_t)n->v, jvp->dvdot);
    add(c->x, (size_t)n->x, jvp->dx);
    if (jvp->outputs) {
        mech_output_slopes(&d->tangent, 0, jvp->inputs, &d->rows, jvp->outputs, 1);
    }
}

int mech_sim_jvp_begin(struct mech_sim *s, struct mech_jvp *jvp, struct mech_derivation **out)
{
    struct mech_derivation *const d = calloc(1, sizeof *d);

    *out = d;
    if (!d) {
        return MECH_NO_MEMORY;
    }
    d->sim = s;
    d->jvp = jvp;
    d->derived = &jvp->derived;
    d->inputs = d->width = 1; // a block of one column
    d->rows.size = mech_sim_output_size(s);
    return begin(d, jvp->step, jvp->steps_most, (size_t)s->sizes.v);
}

/* --- all inputs ------------------------------------------------------------------------------- */

/* Columns of the block that is next. */
static size_t columns_of(const struct mech_derivation *d)
{
    const size_t left = d->inputs - d->first; // 0 without inputs

    return left < d->width ? left : d->width;
}

/* Columns first … of the matrix begin. */
static int begin_inputs(struct mech_derivation *d, struct mech_step_result *result)
{
    const size_t count = columns_of(d);

    memset(d->directions, 0, d->inputs * count * sizeof *d->directions);
    for (size_t j = 0; j < count; j++) {
        d->directions[j * d->inputs + d->first + j] = 1.;
    }
    return begin_block(d, count, &(struct mech_tangent_directions){.input = d->directions}, result);
}

static void give_inputs(struct mech_derivation *d)
{
    const size_t count = columns_of(d);

    for (size_t j = 0; j < count; j++) {
        mech_output_slopes(&d->tangent, (int32_t)j, d->directions + j * d->inputs, &d->rows,
                           d->out + d->first + j, d->inputs);
    }
}

int mech_sim_jacobian_begin(struct mech_sim *s, const struct mech_jacobian_query *query,
                            double *out, struct mech_derived *derived,
                            struct mech_derivation **derivation)
{
    struct mech_derivation *const d = calloc(1, sizeof *d);
    const size_t most = most_numbers / ((size_t)s->sizes.v + (size_t)s->sizes.lambda + 1) + 1;

    *derivation = d;
    if (!d) {
        return MECH_NO_MEMORY;
    }
    d->sim = s;
    d->derived = derived;
    d->out = out;
    d->inputs = (size_t)s->sizes.input;
    d->width = d->inputs < most ? d->inputs : most;
    d->width = d->width ? d->width : 1; // a block without columns shows what acts
    d->rows = (struct mech_output_rows){.channels = query->outputs,
                                        .count = query->outputs ? query->output_count : 0,
                                        .size = mech_sim_jacobian_rows(s, query)};
    d->active = query->active;
    if (d->active) {
        d->active->count = 0;
        d->active->total = 0;
        d->active->constant = true;
    }
    MECH_TRY(begin(d, query->step, query->steps_most, d->inputs * d->width));
    memset(out, 0, d->rows.size * d->inputs * sizeof *out);
    return 0;
}

/* What acts in the internal step that the first block's base has just taken, if it has. */
static void look_at_what_acts(struct mech_derivation *d)
{
    const struct mech_state *const base = &d->tangent.base;
    const uint64_t steps = base->at->steps - d->point.at->steps;

    if (!d->active || d->first > 0 || steps == d->looked || steps > d->plan.count) {
        return;
    }
    const uint64_t acted = mech_sim_acting(d->sim, base);
    d->active->constant = d->active->constant && (d->looked == 0 || acted == d->acted);
    d->acted = acted;
    d->looked = steps;
    if (steps == d->plan.count) {
        mech_sim_list_active(d->sim, base, d->active);
    }
}

/* Whether there is a block of columns to do; without inputs one, of which what acts is wanted. */
static bool has_block(const struct mech_derivation *d)
{
    return d->first < d->inputs || (d->inputs == 0 && d->active && d->first == 0);
}

/* --- turns ------------------------------------------------------------------------------------ */

/* Columns by states and inputs, a turn of them. */
static int columns_turn(struct mech_derivation *d, struct mech_step_result *result)
{
    bool over = false;

    if (!d->begun) {
        d->begun = true;
        return d->jvp ? begin_direction(d, result) : begin_inputs(d, result);
    }
    const int code = mech_tangent_advance(&d->tangent, 1, &over, result);
    d->derived->differenced = d->derived->differenced || d->tangent.differenced;
    d->derived->kinked = d->derived->kinked || d->tangent.kinked;
    if (code == 0) {
        look_at_what_acts(d);
    }
    if (code == 0 && over) {
        if (d->jvp) {
            give(d);
        } else {
            give_inputs(d);
        }
        d->begun = false;
        d->first += d->width;
    }
    return code;
}

/* Finite directions through finite steps may still leave the range of doubles. */
static bool all_finite(const struct mech_derivation *d)
{
    const struct mech_jvp none = {.step = NULL}, *const jvp = d->jvp ? d->jvp : &none;
    const struct mech_state_sizes *const n = &d->sim->sizes;
    const size_t nv = (size_t)n->v, outputs = d->rows.size;

    return mech_sim_all_finite(jvp->dq, jvp->dq ? (size_t)n->q : 0) &&
           mech_sim_all_finite(jvp->dv, jvp->dv ? nv : 0) &&
           mech_sim_all_finite(jvp->dvdot, jvp->dvdot ? nv : 0) &&
           mech_sim_all_finite(jvp->dx, jvp->dx ? (size_t)n->x : 0) &&
           mech_sim_all_finite(jvp->outputs, jvp->outputs ? outputs : 0) &&
           mech_sim_all_finite(d->out, d->out ? outputs * d->inputs : 0);
}

int mech_sim_derivation_advance(struct mech_derivation *d, uint64_t most, bool *done)
{
    int code = 0;

    *done = false;
    for (uint64_t i = 0; i < most && !*done && code == 0; i++) {
        struct mech_step_result result = {.iterations = 0};

        code = has_block(d) ? columns_turn(d, &result) : parameters_turn(d, done, &result);
        if (mech_sim_interrupted(d->sim)) {
            result.reason[0] = '\0';
            code = code < 0 ? code : MECH_CANCELLED;
        }
        if (code) {
            memcpy(d->derived->reason, result.reason, sizeof d->derived->reason);
        }
    }
    mech_sim_watch(d->sim);
    if (code == 0 && *done && !all_finite(d)) {
        strcpy(d->derived->reason, "a derivative is beyond the range of doubles");
        code = MECH_NOT_FINITE;
    }
    return code;
}

/* All turns. */
static int whole(struct mech_derivation *d, int code)
{
    for (bool done = false; code == 0 && !done;) {
        code = mech_sim_derivation_advance(d, UINT64_MAX, &done);
    }
    mech_sim_derivation_end(d);
    return code;
}

int mech_sim_jvp(struct mech_sim *s, struct mech_jvp *jvp)
{
    struct mech_derivation *d = NULL;
    const int code = mech_sim_jvp_begin(s, jvp, &d);

    return whole(d, code);
}

int mech_sim_jacobian(struct mech_sim *s, const struct mech_step_request *step, uint64_t steps_most,
                      double *out, struct mech_derived *derived)
{
    const struct mech_jacobian_query query = {.step = step, .steps_most = steps_most};
    struct mech_derivation *d = NULL;
    const int code = mech_sim_jacobian_begin(s, &query, out, derived, &d);

    return whole(d, code);
}
