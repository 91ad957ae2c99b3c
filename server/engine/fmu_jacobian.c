/* Each run is a trial of the engine whose input is changed once it has begun, and which is never
 * finished: the next command restores the committed point. */
#include "server/engine/fmu_jacobian.h"

#include "server/engine/fmu_instance.h"
#include "solver/base/err.h"
#include "solver/base/text.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum side { MIDDLE, LOWER, UPPER, SIDES };

struct mechd_fmu_jacobian {
    struct mechd_engine engine;
    struct mech_step_request step; /* a trial */
    struct mech_step_report report;
    const int32_t *outputs; /* [output_count], or NULL: all */
    size_t output_count, rows, columns;
    double *out;
    struct mech_derived *derived;

    size_t column;
    enum side side;       /* of the run in progress */
    double u[SIDES];      /* the input's element */
    double *y[SIDES];     /* [rows] outputs; y[MIDDLE] of the step itself */
    bool running, middle; /* a run is in progress; y[MIDDLE] is known */
};

static struct mechd_fmu_instance *instance(const struct mechd_fmu_jacobian *j)
{
    return j->engine.self;
}

/* Values of the query's outputs. */
static size_t rows_of(const void *self, const struct mech_jacobian_query *q)
{
    const struct mechd_fmu_channels *const c = &((const struct mechd_fmu_instance *)self)->channels;
    size_t rows = q->outputs == NULL ? c->size[MECH_OUTPUT_VARIABLE] : 0;
    for (size_t k = 0; q->outputs != NULL && k < q->output_count; k++) {
        rows += (size_t)c->at[MECH_OUTPUT_VARIABLE][q->outputs[k]].v.size;
    }
    return rows;
}

/* The input that has this number among all inputs. */
static const struct mechd_fmu_channel *input_of(const struct mechd_fmu_jacobian *j)
{
    const struct mechd_fmu_channels *const c = &instance(j)->channels;
    size_t k = 0;
    while (k + 1 < c->count[MECH_INPUT] && (size_t)c->at[MECH_INPUT][k + 1].v.offset <= j->column) {
        k++;
    }
    return &c->at[MECH_INPUT][k];
}

/* Where the input of the column goes, once a run has begun with its own value. */
static void choose(struct mechd_fmu_jacobian *j)
{
    const struct mechd_fmu_channel *const c = input_of(j);
    const double u = instance(j)->end.inputs[j->column]; // MECHD_FMU_VALUE
    const double nominal = c->of->nominal > 0. ? c->of->nominal : 1.;
    // central differences: the rounding of outputs and the third derivative weigh alike
    const double rounding = c->of->type == MECHD_FMU_FLOAT32 ? (double)FLT_EPSILON : DBL_EPSILON;
    const double delta = cbrt(rounding) * fmax(fabs(u), nominal);
    j->u[MIDDLE] = u;
    j->u[LOWER] = fmax(u - delta, c->of->minimum);
    j->u[UPPER] = fmin(u + delta, c->of->maximum);
}

static void take_outputs(struct mechd_fmu_jacobian *j)
{
    const struct mechd_fmu_instance *const f = instance(j);
    double *to = j->y[j->side];
    if (j->outputs == NULL) {
        memcpy(to, f->end.outputs, j->rows * sizeof *to);
        return;
    }
    for (size_t k = 0; k < j->output_count; k++) {
        const struct mech_variable *const v =
            &f->channels.at[MECH_OUTPUT_VARIABLE][j->outputs[k]].v;
        memcpy(to, f->end.outputs + v->offset, (size_t)v->size * sizeof *to);
        to += v->size;
    }
}

/* Slopes to both sides that differ by more than the changes themselves explain. */
static bool is_kinked(const struct mechd_fmu_jacobian *j, size_t row)
{
    const double bar = 1e-3;
    const double below = j->u[MIDDLE] - j->u[LOWER], above = j->u[UPPER] - j->u[MIDDLE];
    const double y = j->y[MIDDLE][row];
    if (!(below > 0. && above > 0.)) {
        return false;
    }
    const double a = (y - j->y[LOWER][row]) / below, b = (j->y[UPPER][row] - y) / above;
    // rounding of outputs: some hundred times that of a number
    const double rounding = 1e3 * DBL_EPSILON * fabs(y) / fmin(below, above);
    return fabs(b - a) > bar * (fabs(a) + fabs(b)) + rounding;
}

static void fill_column(struct mechd_fmu_jacobian *j)
{
    const double width = j->u[UPPER] - j->u[LOWER];
    for (size_t k = 0; k < j->rows; k++) {
        const double rise = j->y[UPPER][k] - j->y[LOWER][k];
        j->out[k * j->columns + j->column] = width > 0. ? rise / width : 0.;
        j->derived->kinked = j->derived->kinked || is_kinked(j, k);
    }
    j->column++;
}

static void skip_column(struct mechd_fmu_jacobian *j)
{
    for (size_t k = 0; k < j->rows; k++) {
        j->out[k * j->columns + j->column] = 0.;
    }
    j->column++;
}

static int fail(struct mechd_fmu_jacobian *j, int rc)
{
    mech_text_copy(j->derived->reason, sizeof j->derived->reason, j->report.reason);
    j->running = false;
    return rc;
}

static int begin_run(struct mechd_fmu_jacobian *j)
{
    const int rc = mechd_engine_step_begin(&j->engine, &j->step, &j->report);
    if (rc != 0) {
        return fail(j, rc);
    }
    j->running = true;
    if (j->side == LOWER) {
        choose(j);
    }
    if (j->side != MIDDLE) {
        instance(j)->end.inputs[j->column] = j->u[j->side];
    }
    return 0;
}

int mechd_fmu_jacobian_begin(const struct mechd_engine *e, const struct mech_jacobian_query *query,
                             double *out, struct mech_derived *derived,
                             struct mechd_fmu_jacobian **j)
{
    const size_t rows = rows_of(e->self, query);
    struct mechd_fmu_jacobian *const x = calloc(1, sizeof *x);
    double *const y = calloc(SIDES * rows + 1, sizeof *y);
    *j = NULL;
    *derived = (struct mech_derived){.differenced = true};
    for (size_t k = 0; k < query->step->input_count; k++) {
        if (query->step->inputs[k].signal != NULL) {
            mech_text_format(derived->reason, sizeof derived->reason,
                             "the Jacobian of a step of an FMU needs constant inputs, not signals");
            free(x);
            free(y);
            return MECH_INVALID;
        }
    }
    if (x == NULL || y == NULL) {
        free(x);
        free(y);
        return MECH_NO_MEMORY;
    }
    *x = (struct mechd_fmu_jacobian){.engine = *e,
                                     .step = *query->step,
                                     .outputs = query->outputs,
                                     .output_count = query->output_count,
                                     .rows = rows,
                                     .columns = mechd_engine_input_size(e),
                                     .out = out,
                                     .derived = derived,
                                     .y = {y, y + rows, y + 2 * rows}};
    x->step.trial = true;
    x->step.moments = NULL;
    x->step.events = NULL;
    x->step.trace = NULL;
    int rc = begin_run(x);
    const struct mechd_fmu_instance *const f = e->self;
    if (rc == 0 && query->steps_most > 0 && f->count > query->steps_most / (2 * x->columns + 1)) {
        mech_text_format(derived->reason, sizeof derived->reason,
                         "a Jacobian of %zu inputs over %llu steps is too expensive", x->columns,
                         (unsigned long long)f->count);
        rc = MECH_INVALID;
    }
    if (rc != 0) {
        mechd_fmu_jacobian_end(x);
        return rc;
    }
    derived->time = f->goal;
    *j = x;
    return 0;
}

int mechd_fmu_jacobian_advance(struct mechd_fmu_jacobian *j, bool *done)
{
    bool over = false;
    while (j->middle && !j->running && j->column < j->columns &&
           !mechd_fmu_channel_has_slopes(input_of(j))) {
        skip_column(j);
    }
    *done = j->middle && j->column == j->columns;
    if (*done) {
        return 0;
    }
    if (!j->running) {
        MECH_TRY(begin_run(j));
    }
    const int rc = mechd_engine_step_advance(&j->engine, 1, &over);
    if (rc != 0) {
        return fail(j, rc);
    }
    j->derived->steps++;
    if (!over) {
        return 0;
    }
    take_outputs(j);
    j->running = false;
    if (j->side == UPPER) {
        fill_column(j);
    }
    j->middle = true;
    j->side = j->side == LOWER ? UPPER : LOWER;
    return 0;
}

void mechd_fmu_jacobian_end(struct mechd_fmu_jacobian *j)
{
    if (j != NULL) {
        if (j->running) {
            mechd_engine_step_abandon(&j->engine);
        }
        free(j->y[MIDDLE]);
        free(j);
    }
}

/* --- the engine's table ----------------------------------------------------------------------- */

extern const struct mechd_engine_ops mechd_engine_fmu;

static int derive_begin(void *self, const struct mech_jacobian_query *query, double *out,
                        struct mech_derived *derived, void **work)
{
    const struct mechd_engine e = {&mechd_engine_fmu, self};
    struct mechd_fmu_jacobian *j = NULL;
    const int outcome = mechd_fmu_jacobian_begin(&e, query, out, derived, &j);
    *work = j;
    return outcome;
}

static int derive_advance(void *work, bool *done)
{
    return mechd_fmu_jacobian_advance(work, done);
}

static void derive_end(void *work)
{
    mechd_fmu_jacobian_end(work);
}

const struct mechd_engine_derive mechd_fmu_derive = {
    .rows = rows_of, .begin = derive_begin, .advance = derive_advance, .end = derive_end};
