/* A window as a state machine: groups of trials make a sweep; its residual is small enough, or the
 * scheme corrects the unknowns and another sweep follows; then all commit. A fault leads to the
 * discarding of all trials. The start is the same with outputs in place of trials.
 */
#include "solver/couple/internal.h"

#include "solver/base/err.h"
#include "solver/base/text.h"
#include "solver/base/times.h"

#include <math.h>
#include <string.h>

/* Loops at the start, where the scheme has no own tolerances. */
static const double start_relative = 1e-12, start_absolute = 1e-12;
enum { START_ITERATIONS = 50 };

/* --- handing out ------------------------------------------------------------------------------ */

static bool waveform(const struct mech_couple *c)
{
    return c->options.waveform > 0 && c->phase == COUPLE_SWEEPING;
}

/* What is not written is no finite number, and found. */
static void blank(double *x, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        x[i] = NAN;
    }
}

static void hand(struct mech_couple *c, struct couple_side *s, enum mech_couple_action action)
{
    struct mech_couple_task *const t = c->tasks + c->handed++;
    const bool perturbed = c->phase == COUPLE_PERTURBING;
    *t = (struct mech_couple_task){
        .participant = (int32_t)(s - c->sides),
        .action = action,
        .window = (uint64_t)c->clock[CLOCK_WINDOWS],
        .iteration = c->iteration,
        .time = c->clock[CLOCK_TIME],
        .size = c->size,
        .order = c->phase == COUPLE_STARTING ? 0 : c->degree,
        .polynomial = waveform(c) ? NULL : s->polynomial,
        .shape = c->basis[0],
        .view = c->views + (s - c->sides),
        .outputs = perturbed ? s->other : s->got,
        .jacobian = s->jacobian,
    };
    const size_t outputs = (size_t)s->is.outputs;
    if (action == MECH_COUPLE_TRIAL || action == MECH_COUPLE_OUTPUTS) {
        blank(t->outputs, outputs);
    }
    if (action == MECH_COUPLE_TRIAL) {
        s->tried = true;
        c->report.evaluations++;
        t->want_jacobian = c->phase == COUPLE_SWEEPING && couple_slopes_wanted(c, s);
        t->want_samples = s->sampled;
        t->want_moments = c->measured && c->phase == COUPLE_SWEEPING && s->is.inputs > 0;
        if (t->want_jacobian) {
            blank(t->jacobian, outputs * (size_t)s->is.inputs);
        }
        if (s->sampled) {
            blank(s->made.time + 1, (size_t)s->made.most);
            blank(s->made.value + outputs, (size_t)s->made.most * outputs);
            t->times = s->made.time + 1;
            t->values = s->made.value + s->is.outputs;
        }
        if (t->want_moments) {
            t->moments = s->moments;
            blank(t->moments, MECH_COUPLE_NODES * (size_t)s->is.inputs);
        }
    }
}

/* Whether a side is evaluated now. */
static bool is_due(const struct mech_couple *c, const struct couple_side *s)
{
    const bool feedthrough = (s->is.abilities & MECH_COUPLE_FEEDTHROUGH) != 0;
    if (c->phase == COUPLE_SWEEPING) {
        return s->group == c->group;
    }
    if (c->phase == COUPLE_REHEARSING) {
        return s->read;
    }
    // participants without feedthrough give their outputs first, and get their inputs last
    return c->group == START_SETTLED ? !feedthrough && s->is.inputs > 0
                                     : feedthrough == (c->group == START_LOOPS);
}

static void hand_group(struct mech_couple *c)
{
    for (int32_t p = 0; p < c->side_count; p++) {
        struct couple_side *const s = c->sides + p;
        if (!is_due(c, s)) {
            continue;
        }
        if (!waveform(c)) {
            couple_set_polynomial(c, s);
        }
        hand(c, s, c->phase == COUPLE_STARTING ? MECH_COUPLE_OUTPUTS : MECH_COUPLE_TRIAL);
    }
}

static void hand_column(struct mech_couple *c)
{
    for (int32_t p = 0; p < c->side_count; p++) {
        struct couple_side *const s = c->sides + p;
        if (s->kept[0] == 0 && c->column < s->is.inputs && couple_slopes_differenced(s)) {
            couple_set_polynomial(c, s);
            couple_slopes_perturb(c, s);
            hand(c, s, MECH_COUPLE_TRIAL);
        }
    }
}

void couple_hand_all(struct mech_couple *c, enum mech_couple_action action)
{
    for (int32_t p = 0; p < c->side_count; p++) {
        struct couple_side *const s = c->sides + p;
        const bool can = (s->is.abilities & MECH_COUPLE_ROLLBACK) != 0;
        if (action == MECH_COUPLE_COMMIT || (can && s->tried)) {
            hand(c, s, action);
        }
        s->tried = false;
    }
}

/* --- failing ---------------------------------------------------------------------------------- */

/* Outcomes that smaller windows may not have. */
static bool curable(int outcome)
{
    return outcome == MECH_NOT_CONVERGED || outcome == MECH_VI_NOT_CONVERGED ||
           outcome == MECH_SINGULAR || outcome == MECH_NOT_FINITE || outcome == MECH_STEP_TOO_SMALL;
}

void couple_fail(struct mech_couple *c, int32_t side, int outcome, const char *reason)
{
    const char *const text = reason && reason[0] != '\0' ? reason : mech_err_text(outcome);
    struct mech_couple_report *const r = &c->report;
    const bool window = c->phase == COUPLE_SWEEPING || c->phase == COUPLE_PERTURBING;
    if (window) {
        if (c->type->end) {
            c->type->end(c->self, false);
        }
    }
    if (window && c->adaptive && curable(outcome) && c->size > c->options.minimum) {
        c->size = fmax(0.5 * c->size, c->options.minimum);
        r->refused++;
        couple_open(c);
        return;
    }
    r->outcome = outcome;
    r->participant = side;
    r->size = c->size;
    if (side >= 0) {
        mech_text_format(r->reason, sizeof r->reason, "%.60s: %.90s", c->sides[side].is.name, text);
    } else {
        mech_text_format(r->reason, sizeof r->reason, "%s", text);
    }
    c->handed = 0;
    // commits cannot be undone: it has to be started again
    c->after = c->phase == COUPLE_COMMITTING ? COUPLE_NEW : c->after;
    c->phase = COUPLE_DISCARDING;
    couple_hand_all(c, MECH_COUPLE_DISCARD);
}

int mech_couple_abandon(struct mech_couple *c, int outcome, const char *reason)
{
    const bool can =
        c->phase == COUPLE_STARTING || c->phase == COUPLE_SWEEPING || c->phase == COUPLE_PERTURBING;
    if (!can || outcome == 0) {
        return MECH_INVALID;
    }
    const bool adaptive = c->adaptive;
    c->adaptive = false;
    couple_fail(c, -1, outcome, reason);
    c->adaptive = adaptive;
    // results of the last batch are ignored; the next batch discards them
    c->abandoned = true;
    return 0;
}

int mech_couple_withdraw(struct mech_couple *c, int outcome, const char *reason)
{
    if (c->phase != COUPLE_COMMITTING || outcome == 0) {
        return MECH_INVALID;
    }
    for (int32_t p = 0; p < c->side_count; p++) {
        c->sides[p].tried = true;
    }
    c->phase = COUPLE_SWEEPING;
    return mech_couple_abandon(c, outcome, reason);
}

/* --- taking results --------------------------------------------------------------------------- */

static bool finite(const double *x, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (!isfinite(x[i])) {
            return false;
        }
    }
    return true;
}

/* Samples of a trial: their times, and the curve through them. NULL, or what is wrong. */
static const char *take_samples(struct mech_couple *c, struct couple_side *s,
                                const struct mech_couple_task *t)
{
    struct mech_track *const k = &s->made;
    const size_t outputs = (size_t)s->is.outputs;
    const int32_t before = k->held[0];
    const int32_t count = t->samples > 0 ? t->samples : 1;
    if (t->samples < 0 || count > k->most) {
        return "it reports more samples than it announced";
    }
    if (t->samples == 0) {
        k->time[1] = c->size;
        memcpy(k->value + outputs, t->outputs, outputs * sizeof *k->value);
    }
    k->held[0] = count;
    k->time[0] = 0.;
    memcpy(k->value, s->now, outputs * sizeof *k->value);
    for (int32_t i = 1; i <= count; i++) {
        if (!(k->time[i] > k->time[i - 1])) {
            return "the times of its samples do not increase";
        }
    }
    if (!mech_time_same(c->clock[CLOCK_TIME] + c->size, c->clock[CLOCK_TIME] + k->time[count],
                        c->size)) {
        return "its samples do not end with the window";
    }
    k->time[count] = c->size;
    if (!finite(k->value, outputs * ((size_t)count + 1))) {
        return "a sample is not a finite number";
    }
    if (c->iteration > 0 && count != before) {
        return "the number of its samples changes between iterations";
    }
    if (c->options.waveform > 0) {
        mech_track_fit(k);
    }
    return NULL;
}

/* False: a fault, or another try begins; the rest of the batch does not count. */
static bool take(struct mech_couple *c, struct mech_couple_task *t)
{
    struct couple_side *const s = c->sides + t->participant;
    t->reason[MECH_COUPLE_REASON - 1] = '\0';
    if (t->code != 0) {
        couple_fail(c, t->participant, t->code, t->reason);
        return false;
    }
    if (t->action == MECH_COUPLE_COMMIT) {
        return true;
    }
    if (!finite(t->outputs, (size_t)s->is.outputs)) {
        couple_fail(c, t->participant, MECH_NOT_FINITE, "an output is not a finite number");
        return false;
    }
    if (t->want_moments && !finite(t->moments, MECH_COUPLE_NODES * (size_t)s->is.inputs)) {
        couple_fail(c, t->participant, MECH_NOT_FINITE, "the work of its inputs is not finite");
        return false;
    }
    if (t->action == MECH_COUPLE_TRIAL && s->sampled) {
        const char *const wrong = take_samples(c, s, t);
        if (wrong) {
            couple_fail(c, t->participant, MECH_MISMATCH, wrong);
            return false;
        }
    }
    if (c->phase == COUPLE_PERTURBING) {
        couple_slopes_take_column(c, s);
        return true;
    }
    for (int32_t o = 0; s->summed && t->action == MECH_COUPLE_TRIAL && o < s->is.outputs; o++) {
        s->sum[o] = couple_summed(s, o);
    }
    if (t->want_jacobian) {
        if (!finite(t->jacobian, (size_t)s->is.outputs * (size_t)s->is.inputs)) {
            couple_fail(c, t->participant, MECH_NOT_FINITE, "its Jacobian is not finite");
            return false;
        }
        couple_slopes_take(c, s);
    }
    return true;
}

/* --- iterating -------------------------------------------------------------------------------- */

void couple_open(struct mech_couple *c)
{
    c->phase = COUPLE_SWEEPING;
    c->handed = 0;
    c->group = -1;
    c->iteration = 0;
    c->last_residual = 0.;
    couple_set_basis(c);
    couple_extrapolate(c);
    if (c->type->matrix) {
        couple_slopes_begin(c);
    }
    if (c->type->begin) {
        c->type->begin(c->self);
    }
    if (c->bond_count > 0) {
        (void)couple_bonds_begin(c);
    }
}

/* Numbers of samples of a side's unknowns; one whose outputs nothing reads has none of either. */
static int32_t samples_of(const struct mech_couple *c, const struct couple_side *s)
{
    return c->options.waveform > 0 && c->phase != COUPLE_STARTING && s->sampled ? s->made.held[0]
                                                                                : 1;
}

/* Largest of an output and its start in the window. */
static double size_of(const struct mech_couple *c, const struct couple_side *s, int32_t output)
{
    double size = fmax(fabs(s->got[output]), fabs(s->now[output]));
    for (int32_t i = 0; i < samples_of(c, s) && waveform(c); i++) {
        size = fmax(size, fabs(s->made.value[(i + 1) * s->is.outputs + output]));
    }
    return size;
}

static void add_residual(struct mech_couple *c, double r, double size, int32_t at)
{
    const bool start = c->phase == COUPLE_STARTING && !c->type->iterates;
    const double relative = start ? start_relative : c->options.relative_tolerance;
    const double absolute = start ? start_absolute : c->options.absolute_tolerance;
    c->r[at] = r;
    // that of the largest iterate: one close to 0 gives no scale of its unknown
    const double least = c->iteration > 0 ? c->scale[at] : 0.;
    c->scale[at] = size > least ? size : least > 0. ? least : 1.;
    c->report.residual = fmax(c->report.residual, fabs(r) / (absolute + relative * size));
}

/* z and r of one side; in a first iteration z comes from the extrapolation. */
static void collect(struct mech_couple *c, struct couple_side *s, const int32_t *number,
                    int32_t unknowns)
{
    const int32_t samples = samples_of(c, s), m = s->is.outputs;
    s->at = c->n;
    for (int32_t o = 0; o < m; o++) {
        if (number[o] < 0) {
            continue;
        }
        const double size = size_of(c, s, o);
        for (int32_t i = 0; i < samples; i++) {
            const int32_t at = s->at + i * unknowns + number[o];
            const bool through = waveform(c);
            const double got = through ? s->made.value[(i + 1) * m + o] : s->got[o];
            if (!through) {
                c->z[at] = s->end[o];
            } else if (c->iteration == 0) {
                c->z[at] = couple_guessed(c, s, o, s->made.time[i + 1]);
            }
            add_residual(c, got - c->z[at], size, at);
        }
    }
    c->n += samples * unknowns;
}

static void collect_all(struct mech_couple *c)
{
    c->n = 0;
    c->report.residual = 0.;
    for (int32_t p = 0; p < c->side_count; p++) {
        struct couple_side *const s = c->sides + p;
        if (c->phase == COUPLE_STARTING) {
            collect(c, s, s->start_number, s->start_unknowns);
        } else {
            collect(c, s, s->number, s->unknowns);
        }
    }
    for (int32_t e = 0; e < c->effort_count && c->phase != COUPLE_STARTING; e++) {
        double size = 0.;
        const double r = couple_bonds_residual(c, e, &size);
        c->z[c->n] = c->effort[e];
        add_residual(c, r, size, c->n++);
    }
}

/* The unknowns of the next iteration. */
static void scatter(struct mech_couple *c, struct couple_side *s, const int32_t *number,
                    int32_t unknowns)
{
    const int32_t samples = samples_of(c, s), m = s->is.outputs;
    const bool through = waveform(c) && unknowns > 0;
    if (through) {
        const size_t points = (size_t)samples + 1;
        s->guess.held[0] = samples;
        memcpy(s->guess.time, s->made.time, points * sizeof *s->guess.time);
        memcpy(s->guess.value, s->made.value, points * (size_t)m * sizeof *s->guess.value);
    }
    for (int32_t o = 0; o < m; o++) {
        for (int32_t i = 0; number[o] >= 0 && i < samples; i++) {
            const double z = c->z_next[s->at + i * unknowns + number[o]];
            if (through) {
                s->guess.value[(i + 1) * m + o] = z;
            }
            s->end[o] = z;
        }
    }
    if (through) {
        mech_track_fit(&s->guess);
    }
}

static void fail_unconverged(struct mech_couple *c, const char *why)
{
    char reason[MECH_COUPLE_REASON];
    mech_text_format(
        reason, sizeof reason, "%s: %s after %d evaluations, residual %.3g times the tolerance",
        c->phase == COUPLE_STARTING ? "the algebraic loop at the start" : "the coupling", why,
        c->iteration + 1, c->report.residual);
    couple_fail(c, -1, MECH_NOT_CONVERGED, reason);
}

static void correct(struct mech_couple *c)
{
    const bool starting = c->phase == COUPLE_STARTING;
    const struct mech_scheme_type *const type = starting ? &mech_scheme_iqn_ils : c->type;
    if (type->matrix && !c->matrix_same) {
        couple_slopes_assemble(c);
    }
    const struct mech_scheme_iterate at = {
        .n = c->n,
        .iteration = c->iteration,
        .z = c->z,
        .r = c->r,
        .scale = c->scale,
        .matrix = c->matrix,
        .matrix_same = c->matrix_same,
    };
    const int code = type->correct(starting ? c->start_self : c->self, &at, c->z_next);
    c->matrix_same = code == 0;
    if (code != 0) {
        couple_fail(c, -1, code, "the equations of the interface are singular");
        return;
    }
    if (!finite(c->z_next, (size_t)c->n)) {
        fail_unconverged(c, "it diverged");
        return;
    }
    c->phase = starting ? COUPLE_STARTING : COUPLE_SWEEPING;
    for (int32_t p = 0; p < c->side_count; p++) {
        struct couple_side *const s = c->sides + p;
        scatter(c, s, starting ? s->start_number : s->number,
                starting ? s->start_unknowns : s->unknowns);
    }
    for (int32_t e = 0; e < c->effort_count && !starting; e++) {
        c->effort[e] = c->z_next[c->n - c->effort_count + e];
    }
    memcpy(c->z, c->z_next, (size_t)c->n * sizeof *c->z);
    c->iteration++;
    c->group = starting ? START_LOOPS - 1 : -1;
}

/* --- the machine ---------------------------------------------------------------------------- */

/* All outputs at the start are known. */
static void settle(struct mech_couple *c)
{
    for (int32_t p = 0; p < c->side_count; p++) {
        const struct couple_side *const s = c->sides + p;
        memcpy(s->end, s->got, (size_t)s->is.outputs * sizeof *s->end);
    }
    c->group = START_SETTLED - 1;
}

static void finish_sweep(struct mech_couple *c)
{
    const bool starting = c->phase == COUPLE_STARTING;
    c->report.iterations++;
    if (!starting && !c->type->iterates) {
        couple_accept(c);
        return;
    }
    collect_all(c);
    if (c->n == 0 || c->report.residual <= 1.) {
        if (starting) {
            settle(c);
        } else {
            couple_accept(c);
        }
        return;
    }
    const int32_t most = !starting                              ? c->options.max_iterations
                         : c->start_most + 2 > START_ITERATIONS ? c->start_most + 2
                                                                : START_ITERATIONS;
    if (c->iteration + 1 >= most) {
        fail_unconverged(c, "no convergence");
        return;
    }
    if (!starting && c->type->matrix) {
        // slopes of the window's first iterate serve while they contract
        const bool slow = c->iteration > 0 && c->report.residual > 0.1 * c->last_residual;
        c->last_residual = c->report.residual;
        for (int32_t p = 0; slow && p < c->side_count; p++) {
            struct couple_side *const s = c->sides + p;
            if (couple_slopes_differenced(s) && (s->is.abilities & MECH_COUPLE_LINEAR) == 0) {
                s->kept[0] = 0;
            }
        }
        c->phase = COUPLE_PERTURBING;
        c->column = -1;
        return;
    }
    correct(c);
}

/* One step further: tasks are returned, or the phase changes. */
static void proceed(struct mech_couple *c)
{
    switch (c->phase) {
    case COUPLE_STARTING:
        c->group++;
        if (c->group == START_JUDGED) {
            finish_sweep(c);
        } else if (c->group > START_SETTLED) {
            couple_finish_start(c);
        } else {
            hand_group(c);
        }
        break;
    case COUPLE_REHEARSING:
        if (couple_rehearse_on(c)) {
            hand_group(c);
        } else {
            c->size = c->whole;
            couple_open(c);
        }
        break;
    case COUPLE_SWEEPING:
        c->group++;
        if (c->group < c->groups) {
            hand_group(c);
        } else {
            finish_sweep(c);
        }
        break;
    case COUPLE_PERTURBING:
        c->column++;
        hand_column(c);
        if (c->handed == 0) {
            correct(c);
        }
        break;
    case COUPLE_COMMITTING:
        couple_finish_window(c);
        break;
    case COUPLE_DISCARDING:
        c->phase = c->after;
        break;
    case COUPLE_NEW:
    case COUPLE_IDLE:
        break;
    }
}

int mech_couple_next(struct mech_couple *c, struct mech_couple_batch *out)
{
    *out = (struct mech_couple_batch){.tasks = c->tasks};
    if (c->phase == COUPLE_NEW || c->phase == COUPLE_IDLE) {
        return MECH_INVALID;
    }
    const int32_t handed = c->abandoned ? 0 : c->handed;
    const bool keep = c->abandoned;
    c->abandoned = false;
    if (!keep) {
        c->handed = 0;
    }
    bool good = c->phase != COUPLE_DISCARDING;
    for (int32_t i = 0; i < handed && good; i++) {
        good = take(c, c->tasks + i);
    }
    while (c->handed == 0 && c->phase != COUPLE_IDLE && c->phase != COUPLE_NEW) {
        proceed(c);
    }
    out->count = c->handed;
    return 0;
}
