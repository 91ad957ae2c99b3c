/* Variables of one type are one message: a step with inputs and outputs of one type is three
 * exchanges, and one more to save the state. What is not continuous is set in event mode, where the
 * FMU has that: two more. */
#include "server/engine/fmu_session.h"

#include "protocol/fmi/fmi3.h"
#include "solver/base/err.h"
#include "solver/base/times.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

double mechd_fmu_session_start(const struct mechd_fmu_session *s)
{
    const double t = s->package->description.start_time;
    return isfinite(t) ? t : 0.;
}

bool mechd_fmu_session_saves(const struct mechd_fmu_session *s)
{
    const unsigned both = MECHD_FMU_STATE | MECHD_FMU_SERIALIZE;
    return (s->package->description.can & both) == both;
}

/* --- questions -------------------------------------------------------------------------------- */

struct asked {
    struct mechd_fmu_session *of;
    bool stops;
};

static bool wanted(void *context)
{
    struct asked *const a = context;
    a->stops = a->of->wanted != NULL && a->of->wanted(a->of->context);
    return a->stops;
}

static int ask(struct mechd_fmu_session *s)
{
    struct asked a = {.of = s};
    if (s->hosted == NULL) {
        return MECHD_HOSTED_GONE;
    }
    const int rc = mechd_hosted_ask(s->hosted, wanted, &a);
    if (rc > 0) {
        mech_text_copy(s->reason, sizeof s->reason, mechd_hosted_reason(s->hosted));
    }
    if (rc == MECHD_HOSTED_GONE) {
        s->stopped = a.stops;
        mechd_fmu_session_end(s);
    }
    return rc;
}

static int ask_verb(struct mechd_fmu_session *s, uint32_t verb)
{
    if (s->hosted == NULL) {
        return MECHD_HOSTED_GONE;
    }
    mechd_pipe_begin(mechd_hosted_question(s->hosted), verb);
    return ask(s);
}

/* The answer has not what it should: the process is ended. */
static int distrust(struct mechd_fmu_session *s)
{
    const int rc = mechd_hosted_distrust(s->hosted);
    mech_text_copy(s->reason, sizeof s->reason, mechd_hosted_reason(s->hosted));
    s->stopped = false;
    mechd_fmu_session_end(s);
    return rc;
}

/* --- values ----------------------------------------------------------------------------------- */

/* Whether its values are others; `than` NULL: whatever they are. */
static bool differs(const struct mechd_fmu_channel *x, const double *values, const double *than)
{
    const int32_t at = x->v.offset;
    return than == NULL || memcmp(values + at, than + at, (size_t)x->v.size * sizeof *than) != 0;
}

/* Variables of one type whose values differ from `than`; *values is the sum of their sizes. */
static size_t select_type(const struct mechd_fmu_channels *c, enum mech_causality causality,
                          enum mechd_fmu_type type, const double *values, const double *than,
                          size_t *chosen)
{
    size_t n = 0;
    for (size_t k = 0; k < c->count[causality]; k++) {
        const struct mechd_fmu_channel *const x = &c->at[causality][k];
        if (x->of->type == type && (values == NULL || differs(x, values, than))) {
            chosen[n++] = k;
        }
    }
    return n;
}

/* The head of a question about the chosen variables; returns the number of their values. */
static size_t put_head(struct mechd_fmu_session *s, uint32_t verb, enum mech_causality causality,
                       const size_t *chosen, size_t n)
{
    struct mechd_pipe_message *const m = mechd_hosted_question(s->hosted);
    const struct mechd_fmu_channel *const at = s->channels->at[causality];
    const enum mechd_fmu_type type = at[chosen[0]].of->type;
    size_t count = 0;
    for (size_t k = 0; k < n; k++) {
        count += (size_t)at[chosen[k]].v.size;
    }
    mechd_pipe_begin(m, verb);
    mechd_pipe_put_u32(m, (uint32_t)type);
    mechd_pipe_put_u32(m, (uint32_t)n);
    mechd_pipe_put_u32(m, (uint32_t)mechd_fmu_element(type));
    mechd_pipe_put_u32(m, (uint32_t)count);
    for (size_t k = 0; k < n; k++) {
        mechd_pipe_put_u32(m, at[chosen[k]].of->reference);
    }
    return count;
}

static int set_chosen(struct mechd_fmu_session *s, enum mech_causality causality,
                      const double *values, const size_t *chosen, size_t n)
{
    const struct mechd_fmu_channel *const at = s->channels->at[causality];
    const enum mechd_fmu_type type = at[chosen[0]].of->type;
    const size_t count = put_head(s, MECHD_FMU_SET, causality, chosen, n);
    char *const elements = calloc(count + 1, mechd_fmu_element(type));
    char *to = elements;
    if (elements == NULL) {
        return MECH_NO_MEMORY;
    }
    for (size_t k = 0; k < n; k++) {
        const struct mech_variable *const v = &at[chosen[k]].v;
        mechd_fmu_encode(type, values + v->offset, (size_t)v->size, to);
        to += (size_t)v->size * mechd_fmu_element(type);
    }
    mechd_pipe_put(mechd_hosted_question(s->hosted), elements, (size_t)(to - elements));
    free(elements);
    return ask(s);
}

static int get_chosen(struct mechd_fmu_session *s, enum mech_causality causality, double *values,
                      const size_t *chosen, size_t n)
{
    const struct mechd_fmu_channel *const at = s->channels->at[causality];
    const enum mechd_fmu_type type = at[chosen[0]].of->type;
    const size_t count = put_head(s, MECHD_FMU_GET, causality, chosen, n);
    MECH_TRY(ask(s));
    struct mechd_pipe_message *const m = mechd_hosted_answer(s->hosted);
    const unsigned char *from = mechd_pipe_get_bytes(m, count * mechd_fmu_element(type));
    if (from == NULL || !mechd_pipe_whole(m)) {
        return distrust(s);
    }
    for (size_t k = 0; k < n; k++) {
        const struct mech_variable *const v = &at[chosen[k]].v;
        mechd_fmu_decode(type, from, (size_t)v->size, values + v->offset);
        from += (size_t)v->size * mechd_fmu_element(type);
    }
    return 0;
}

/* Sets (`set`) or gets all values, type by type. */
static int exchange(struct mechd_fmu_session *s, enum mech_causality causality, const double *set,
                    const double *than, double *get)
{
    size_t *const chosen = calloc(s->channels->count[causality] + 1, sizeof *chosen);
    int rc = chosen == NULL ? MECH_NO_MEMORY : s->hosted == NULL ? MECHD_HOSTED_GONE : 0;
    for (int type = 0; rc == 0 && type < MECHD_FMU_TYPES; type++) {
        const size_t n =
            select_type(s->channels, causality, (enum mechd_fmu_type)type, set, than, chosen);
        if (n > 0) {
            rc = set != NULL ? set_chosen(s, causality, set, chosen, n)
                             : get_chosen(s, causality, get, chosen, n);
        }
    }
    free(chosen);
    return rc;
}

/* Whether values that are set are not continuous, of an FMU with event mode. */
static bool makes_event(const struct mechd_fmu_session *s, enum mech_causality causality,
                        const double *values, const double *than)
{
    bool found = false;
    for (size_t k = 0; !found && k < s->channels->count[causality]; k++) {
        const struct mechd_fmu_channel *const x = &s->channels->at[causality][k];
        found = x->of->variability != MECHD_FMU_CONTINUOUS && differs(x, values, than);
    }
    return found && (s->options.can & MECHD_FMU_EVENTS) != 0;
}

int mechd_fmu_session_set(struct mechd_fmu_session *s, enum mech_causality causality,
                          const double *values, const double *than)
{
    if (!makes_event(s, causality, values, than)) {
        return exchange(s, causality, values, than, NULL);
    }
    MECH_TRY(ask_verb(s, MECHD_FMU_EVENT));
    const int rc = exchange(s, causality, values, than, NULL);
    if (s->hosted == NULL) {
        return rc;
    }
    // also where a value was refused: steps are made in step mode
    char reason[sizeof s->reason];
    mech_text_copy(reason, sizeof reason, s->reason);
    const int over = ask_verb(s, MECHD_FMU_RESUME);
    if (rc == 0 || over == MECHD_HOSTED_GONE) {
        return over;
    }
    mech_text_copy(s->reason, sizeof s->reason, reason);
    return rc;
}

int mechd_fmu_session_get(struct mechd_fmu_session *s, enum mech_causality causality,
                          double *values)
{
    return exchange(s, causality, NULL, NULL, values);
}

/* Those that have slopes (and, `direction`: are in it); returns how many, and their numbers. */
static size_t select_slopes(const struct mechd_fmu_session *s, enum mech_causality causality,
                            const double *direction, size_t *chosen, size_t *count)
{
    size_t n = 0;
    *count = 0;
    for (size_t k = 0; k < s->channels->count[causality]; k++) {
        const struct mechd_fmu_channel *const x = &s->channels->at[causality][k];
        bool taken = mechd_fmu_channel_has_slopes(x) && direction == NULL;
        for (int32_t j = 0; direction != NULL && j < x->v.size; j++) {
            taken = taken || direction[x->v.offset + j] != 0.;
        }
        if (taken) {
            chosen[n++] = k;
            *count += (size_t)x->v.size;
        }
    }
    return n;
}

static void put_references(struct mechd_fmu_session *s, enum mech_causality causality,
                           const size_t *chosen, size_t n)
{
    for (size_t k = 0; k < n; k++) {
        mechd_pipe_put_u32(mechd_hosted_question(s->hosted),
                           s->channels->at[causality][chosen[k]].of->reference);
    }
}

/* Asks. The answer has values of the chosen ones, which go to their places. */
static int ask_slopes(struct mechd_fmu_session *s, enum mech_causality causality,
                      const size_t *chosen, size_t n, double *out)
{
    MECH_TRY(ask(s));
    struct mechd_pipe_message *const answer = mechd_hosted_answer(s->hosted);
    for (size_t k = 0; k < n; k++) {
        const struct mech_variable *const v = &s->channels->at[causality][chosen[k]].v;
        mechd_pipe_get_f64(answer, out + v->offset, (size_t)v->size);
    }
    return mechd_pipe_whole(answer) ? 0 : distrust(s);
}

/* The chosen variables of a causality. */
struct slopes {
    enum mech_causality of;
    size_t *chosen, n, count; /* count: their numbers */
};

/* From inputs to outputs; `back`, from outputs to inputs. */
static int derive(struct mechd_fmu_session *s, bool back, const double *seed, size_t *scratch,
                  double *out)
{
    struct slopes y = {.of = MECH_OUTPUT_VARIABLE, .chosen = scratch};
    struct slopes u = {.of = MECH_INPUT,
                       .chosen = scratch + s->channels->count[MECH_OUTPUT_VARIABLE]};
    struct slopes *const from = back ? &y : &u, *const to = back ? &u : &y;
    from->n = select_slopes(s, from->of, seed, from->chosen, &from->count);
    to->n = select_slopes(s, to->of, NULL, to->chosen, &to->count);
    memset(out, 0, s->channels->size[to->of] * sizeof *out);
    if (from->n == 0 || to->n == 0) {
        return 0;
    }
    struct mechd_pipe_message *const question = mechd_hosted_question(s->hosted);
    const size_t head[] = {y.n, y.count, u.n, u.count};
    mechd_pipe_begin(question, back ? MECHD_FMU_ADJOIN : MECHD_FMU_DERIVE);
    for (size_t k = 0; k < sizeof head / sizeof *head; k++) {
        mechd_pipe_put_u32(question, (uint32_t)head[k]);
    }
    put_references(s, y.of, y.chosen, y.n);
    put_references(s, u.of, u.chosen, u.n);
    for (size_t k = 0; k < from->n; k++) {
        const struct mech_variable *const v = &s->channels->at[from->of][from->chosen[k]].v;
        mechd_pipe_put_f64(question, seed + v->offset, (size_t)v->size);
    }
    return ask_slopes(s, to->of, to->chosen, to->n, out);
}

/* outputs: scratch [of them] */
static int ask_rates(struct mechd_fmu_session *s, size_t *outputs, double *out)
{
    size_t count = 0;
    const size_t n = select_slopes(s, MECH_OUTPUT_VARIABLE, NULL, outputs, &count);
    memset(out, 0, s->channels->size[MECH_OUTPUT_VARIABLE] * sizeof *out);
    if (n == 0) {
        return 0;
    }
    if (s->hosted == NULL) {
        return MECHD_HOSTED_GONE;
    }
    mechd_pipe_begin(mechd_hosted_question(s->hosted), MECHD_FMU_RATES);
    mechd_pipe_put_u32(mechd_hosted_question(s->hosted), (uint32_t)n);
    mechd_pipe_put_u32(mechd_hosted_question(s->hosted), (uint32_t)count);
    put_references(s, MECH_OUTPUT_VARIABLE, outputs, n);
    return ask_slopes(s, MECH_OUTPUT_VARIABLE, outputs, n, out);
}

int mechd_fmu_session_rates(struct mechd_fmu_session *s, double *out)
{
    size_t *const outputs = calloc(s->channels->count[MECH_OUTPUT_VARIABLE] + 1, sizeof *outputs);
    const int rc = outputs != NULL ? ask_rates(s, outputs, out) : MECH_NO_MEMORY;
    free(outputs);
    return rc;
}

static int derive_chosen(struct mechd_fmu_session *s, bool back, const double *seed, double *out)
{
    const size_t *const count = s->channels->count;
    size_t *const chosen =
        calloc(count[MECH_OUTPUT_VARIABLE] + count[MECH_INPUT] + 1, sizeof *chosen);
    int rc = chosen == NULL ? MECH_NO_MEMORY : s->hosted == NULL ? MECHD_HOSTED_GONE : 0;
    rc = rc == 0 ? derive(s, back, seed, chosen, out) : rc;
    free(chosen);
    return rc;
}

int mechd_fmu_session_derive(struct mechd_fmu_session *s, const double *direction, double *out)
{
    return derive_chosen(s, false, direction, out);
}

int mechd_fmu_session_adjoin(struct mechd_fmu_session *s, const double *seed, double *out)
{
    return derive_chosen(s, true, seed, out);
}

/* --- life ------------------------------------------------------------------------------------- */

/* Values that differ from the description's start values. */
static int set_start(struct mechd_fmu_session *s, enum mech_causality causality,
                     const double *values)
{
    double *const own = calloc(s->channels->size[causality] + 1, sizeof *own);
    if (own == NULL) {
        return MECH_NO_MEMORY;
    }
    mechd_fmu_channels_start(s->channels, causality, own);
    const int rc = exchange(s, causality, values, own, NULL);
    free(own);
    return rc;
}

static int initialize(struct mechd_fmu_session *s, const double *inputs, const double *parameters)
{
    const struct mechd_fmu_description *const d = &s->package->description;
    const double times[] = {d->tolerance, mechd_fmu_session_start(s), NAN};
    MECH_TRY(set_start(s, MECH_PARAMETER, parameters));
    MECH_TRY(set_start(s, MECH_INPUT, inputs));
    mechd_pipe_begin(mechd_hosted_question(s->hosted), MECHD_FMU_ENTER);
    mechd_pipe_put_f64(mechd_hosted_question(s->hosted), times, 3);
    MECH_TRY(ask(s));
    return ask_verb(s, MECHD_FMU_EXIT);
}

/* What is asked of the FMU. An importer with event mode makes clocks tick, which this one does not:
 * then the FMU handles its events itself, as in 2.0. */
static unsigned abilities(const struct mechd_fmu_description *d)
{
    bool alone = d->version == MECHD_FMI_2;
    for (size_t k = 0; !alone && k < d->variable_count; k++) {
        alone = d->variables[k].type == MECHD_FMU_CLOCK;
    }
    return alone ? d->can & ~(unsigned)MECHD_FMU_EVENTS : d->can;
}

const char *mechd_fmu_session_blind(const struct mechd_fmu_session *s, bool early)
{
    const struct mechd_fmu_description *const d = &s->package->description;
    const unsigned two = MECHD_FMU_STATE | MECHD_FMU_VARIABLE_STEP;
    const unsigned three = MECHD_FMU_EARLY_RETURN | MECHD_FMU_VARIABLE_STEP;
    if (d->version == MECHD_FMI_2) {
        return !early                  ? "an FMU of FMI 2.0 reports no events"
               : (d->can & two) != two ? "a step of an FMU of FMI 2.0 can end early only if the "
                                         "FMU can vary its step size, and get and set its state"
                                       : NULL;
    }
    if (((abilities(d) & MECHD_FMU_EVENTS) != 0 && !s->eventless) ||
        (early && (d->can & three) == three)) {
        return NULL;
    }
    return s->eventless
               ? "this FMU cannot be instantiated with event mode: it handles its events itself"
           : (d->can & MECHD_FMU_EVENTS) != 0
               ? "this FMU has clocks, and therefore handles its events itself"
               : "this FMU has no event mode: it handles its events itself";
}

/* References of what can be used within steps. */
static void require(struct mechd_fmu_session *s, enum mech_causality causality, uint32_t *to)
{
    for (size_t k = 0; k < s->channels->count[causality]; k++) {
        const struct mechd_fmu_channel *const c = &s->channels->at[causality][k];
        if (mechd_fmu_channel_is_within(c)) {
            to[s->options.required_count++] = c->of->reference;
        }
    }
}

/* One with intermediate update is told which inputs are set and which outputs are read there: all
 * that can be. It may refuse others (FMI 3.0.2, section 2.3.1). */
static int open_process(struct mechd_fmu_session *s)
{
    const bool updates =
        s->options.version == MECHD_FMI_3 && (s->options.can & MECHD_FMU_INTERMEDIATE) != 0;
    const size_t *const count = s->channels->count;
    const size_t most = updates ? count[MECH_INPUT] + count[MECH_OUTPUT_VARIABLE] : 0;
    uint32_t *const required = calloc(most + 1, sizeof *required);
    if (required == NULL) {
        return MECH_NO_MEMORY;
    }
    s->options.required_count = 0;
    if (updates) {
        require(s, MECH_INPUT, required);
        require(s, MECH_OUTPUT_VARIABLE, required);
    }
    s->options.required = required;
    int rc = mechd_hosted_open(&s->options, &s->hosted, s->reason, sizeof s->reason);
    if (rc == MECHD_HOSTED_REFUSED && (s->options.can & MECHD_FMU_EVENTS) != 0) {
        s->options.can &= ~(unsigned)MECHD_FMU_EVENTS;
        rc = mechd_hosted_open(&s->options, &s->hosted, s->reason, sizeof s->reason);
        s->eventless = rc == 0;
    }
    s->options.required = NULL;
    free(required);
    return rc;
}

int mechd_fmu_session_begin(struct mechd_fmu_session *s, const double *inputs,
                            const double *parameters)
{
    const struct mechd_fmu_description *const d = &s->package->description;
    mechd_fmu_session_end(s);
    s->stopped = false;
    s->options.folder = s->package->folder;
    s->options.identifier = d->identifier;
    s->options.token = d->token;
    s->options.version = d->version;
    s->options.can = abilities(d);
    s->eventless = false;
    MECH_TRY(open_process(s));
    if (s->eventless && s->options.log != NULL) {
        s->options.log(s->options.log_context, MECHP_FMI3_WARNING, MECHD_FMU_HOST_CATEGORY,
                       "it can be instantiated only without event mode, in spite of hasEventMode: "
                       "it handles its events itself");
    }
    const int rc = initialize(s, inputs, parameters);
    if (rc != 0) {
        mechd_fmu_session_end(s);
    }
    return rc;
}

void mechd_fmu_session_end(struct mechd_fmu_session *s)
{
    mechd_hosted_close(s->hosted);
    s->hosted = NULL;
}

/* The events of an answer. False: they are none of such a step. */
static bool take_events(struct mechd_fmu_session *s, const struct mechd_fmu_span *span)
{
    struct mechd_pipe_message *const m = mechd_hosted_answer(s->hosted);
    const uint64_t total = mechd_pipe_get_u32(m), before = span->events->total;
    bool good = true;
    for (uint64_t k = 0; good && k < total && k < MECHD_FMU_EVENTS_MOST; k++) {
        double times[2];
        struct mech_logged event = {.kind = (enum mech_logged_kind)mechd_pipe_get_u32(m),
                                    .of = MECH_LOGGED_MODEL,
                                    .item = s->package->description.name};
        mechd_pipe_get_f64(m, times, 2);
        event.since = times[0];
        event.time = times[1];
        good = !m->failed &&
               (event.kind == MECH_LOGGED_UPDATES || event.kind == MECH_LOGGED_RETURNS) &&
               isfinite(event.since) && isfinite(event.time);
        if (good) {
            mech_event_log_add(span->events, &event);
        }
    }
    span->events->total = before + total;
    return good;
}

int mechd_fmu_session_courses(struct mechd_fmu_session *s, const struct mechd_fmu_course *at,
                              size_t count, bool needed)
{
    if (s->hosted == NULL) {
        return MECHD_HOSTED_GONE;
    }
    mechd_pipe_begin(mechd_hosted_question(s->hosted), MECHD_FMU_COURSES);
    mechd_pipe_put_u32(mechd_hosted_question(s->hosted), needed ? 1 : 0);
    mechd_fmu_courses_put(at, count, mechd_hosted_question(s->hosted));
    return ask(s);
}

int mechd_fmu_session_trace(struct mechd_fmu_session *s, const struct mechd_fmu_traced *at,
                            size_t count, size_t room)
{
    if (s->hosted == NULL) {
        return MECHD_HOSTED_GONE;
    }
    mechd_pipe_begin(mechd_hosted_question(s->hosted), MECHD_FMU_TRACE);
    mechd_fmu_trace_put(at, count, room, mechd_hosted_question(s->hosted));
    return ask(s);
}

static void put_step(struct mechd_fmu_session *s, const struct mechd_fmu_span *span)
{
    struct mechd_pipe_message *const m = mechd_hosted_question(s->hosted);
    mechd_pipe_begin(m, span->events != NULL ? MECHD_FMU_WATCHED : MECHD_FMU_STEP);
    mechd_pipe_put_f64(m, (const double[]){span->time, span->size}, 2);
    if (span->events != NULL) {
        mechd_pipe_put_u32(m, span->early ? 1 : 0);
    }
}

int mechd_fmu_session_step(struct mechd_fmu_session *s, const struct mechd_fmu_span *span,
                           struct mechd_fmu_reached *out)
{
    const double end = span->time + span->size;
    if (s->hosted == NULL) {
        return MECHD_HOSTED_GONE;
    }
    put_step(s, span);
    MECH_TRY(ask(s));
    struct mechd_pipe_message *const m = mechd_hosted_answer(s->hosted);
    *out = (struct mechd_fmu_reached){0};
    mechd_pipe_get_f64(m, &out->time, 1);
    out->terminate = mechd_pipe_get_u32(m) != 0;
    out->event = span->events != NULL && mechd_pipe_get_u32(m) != 0;
    const size_t rows = span->trace != NULL ? span->trace->count : 0;
    if ((span->events != NULL && !take_events(s, span)) ||
        (span->trace != NULL && !mechd_fmu_rows_get(m, span->trace)) || !mechd_pipe_whole(m)) {
        return distrust(s);
    }
    if (span->trace != NULL && !mechd_fmu_rows_good(span->trace, rows, span)) {
        mech_text_copy(s->reason, sizeof s->reason,
                       "an output of the FMU within its step is infinite or not a number, or is of "
                       "a time that is none of the step");
        return MECHD_HOSTED_REFUSED;
    }
    const bool early = span->early && out->event && !out->terminate &&
                       mech_time_before(out->time, end, span->size) && out->time >= span->time;
    if (!early && !mech_time_same(out->time, end, span->size)) {
        (void)snprintf(s->reason, sizeof s->reason, "the FMU %s at t = %.17g s",
                       out->terminate ? "asks to end the simulation" : "ended its step", out->time);
        return MECHD_HOSTED_REFUSED;
    }
    return 0;
}

int mechd_fmu_session_save(struct mechd_fmu_session *s, unsigned char **bytes, size_t *size)
{
    MECH_TRY(ask_verb(s, MECHD_FMU_SAVE));
    const struct mechd_pipe_message *const m = mechd_hosted_answer(s->hosted);
    unsigned char *const copy = malloc(m->size + 1);
    if (copy == NULL) {
        return MECH_NO_MEMORY;
    }
    if (m->size > 0) {
        memcpy(copy, m->bytes, m->size);
    }
    *bytes = copy;
    *size = m->size;
    return 0;
}

int mechd_fmu_session_restore(struct mechd_fmu_session *s, const unsigned char *bytes, size_t size)
{
    if (s->hosted == NULL) {
        return MECHD_HOSTED_GONE;
    }
    mechd_pipe_begin(mechd_hosted_question(s->hosted), MECHD_FMU_RESTORE);
    mechd_pipe_put(mechd_hosted_question(s->hosted), bytes, size);
    return ask(s);
}
