/* Questions, life, steps and states of a session; its values are in fmu_exchange.c. */
#include "server/engine/fmu_session.h"

#include "protocol/fmi/fmi3.h"
#include "server/engine/fmu_exchange.h"
#include "solver/base/err.h"
#include "solver/base/text.h"
#include "solver/base/times.h"

#include <math.h>
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

static bool urgent(void *context)
{
    const struct asked *const a = context;
    return a->of->urgent != NULL && a->of->urgent(a->of->context);
}

int mechd_fmu_session_ask(struct mechd_fmu_session *s)
{
    struct asked a = {.of = s};
    const struct mechd_hosted_stop stop = {wanted, urgent, &a};
    if (s->hosted == NULL) {
        return MECHD_HOSTED_GONE;
    }
    const int rc = mechd_hosted_ask(s->hosted, &stop);
    s->stopped = a.stops;
    if (rc > 0) {
        mech_text_copy(s->reason, sizeof s->reason, mechd_hosted_reason(s->hosted));
    }
    if (rc == MECHD_HOSTED_GONE) {
        mechd_fmu_session_end(s);
    }
    return rc;
}

int mechd_fmu_session_ask_verb(struct mechd_fmu_session *s, uint32_t verb)
{
    if (s->hosted == NULL) {
        return MECHD_HOSTED_GONE;
    }
    mechd_pipe_begin(mechd_hosted_question(s->hosted), verb);
    return mechd_fmu_session_ask(s);
}

int mechd_fmu_session_distrust(struct mechd_fmu_session *s)
{
    const int rc = mechd_hosted_distrust(s->hosted);
    mech_text_copy(s->reason, sizeof s->reason, mechd_hosted_reason(s->hosted));
    s->stopped = false;
    mechd_fmu_session_end(s);
    return rc;
}

/* --- life ------------------------------------------------------------------------------------- */

static int initialize(struct mechd_fmu_session *s, const double *inputs, const double *parameters)
{
    const struct mechd_fmu_description *const d = &s->package->description;
    const double times[] = {d->tolerance, mechd_fmu_session_start(s), NAN};
    MECH_TRY(mechd_fmu_session_set_start(s, MECH_PARAMETER, parameters));
    MECH_TRY(mechd_fmu_session_set_start(s, MECH_INPUT, inputs));
    mechd_pipe_begin(mechd_hosted_question(s->hosted), MECHD_FMU_ENTER);
    mechd_pipe_put_f64(mechd_hosted_question(s->hosted), times, 3);
    MECH_TRY(mechd_fmu_session_ask(s));
    return mechd_fmu_session_ask_verb(s, MECHD_FMU_EXIT);
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

/* An FMU with intermediate update gets the lists of the inputs that are set and the outputs that
 * are read there: all that can be. It may refuse others (FMI 3.0.2, section 2.3.1). */
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
    return mechd_fmu_session_ask(s);
}

int mechd_fmu_session_trace(struct mechd_fmu_session *s, const struct mechd_fmu_traced *at,
                            size_t count, size_t room)
{
    if (s->hosted == NULL) {
        return MECHD_HOSTED_GONE;
    }
    mechd_pipe_begin(mechd_hosted_question(s->hosted), MECHD_FMU_TRACE);
    mechd_fmu_trace_put(at, count, room, mechd_hosted_question(s->hosted));
    return mechd_fmu_session_ask(s);
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
    const double end = span->time + span->size, scale = mechd_fmu_scale(span, span->size);
    if (s->hosted == NULL) {
        return MECHD_HOSTED_GONE;
    }
    put_step(s, span);
    MECH_TRY(mechd_fmu_session_ask(s));
    struct mechd_pipe_message *const m = mechd_hosted_answer(s->hosted);
    *out = (struct mechd_fmu_reached){0};
    mechd_pipe_get_f64(m, &out->time, 1);
    out->terminate = mechd_pipe_get_u32(m) != 0;
    out->event = span->events != NULL && mechd_pipe_get_u32(m) != 0;
    const size_t rows = span->trace != NULL ? span->trace->count : 0;
    if ((span->events != NULL && !take_events(s, span)) ||
        (span->trace != NULL && !mechd_fmu_rows_get(m, span->trace)) || !mechd_pipe_whole(m)) {
        return mechd_fmu_session_distrust(s);
    }
    if (span->trace != NULL && !mechd_fmu_rows_good(span->trace, rows, span)) {
        mech_text_copy(s->reason, sizeof s->reason,
                       "an output of the FMU within its step is infinite or not a number, or its "
                       "time is not within the step");
        return MECHD_HOSTED_REFUSED;
    }
    if (s->stopped && !out->terminate && out->time >= span->time &&
        mech_time_before(out->time, end, scale)) {
        mech_text_format(s->reason, sizeof s->reason,
                         "the FMU was stopped, and returned early from its step, at t = %.17g s",
                         out->time);
        return MECHD_HOSTED_STOPPED;
    }
    const bool early = span->early && out->event && !out->terminate &&
                       mech_time_before(out->time, end, scale) && out->time >= span->time;
    if (!early && !mech_time_same(out->time, end, scale)) {
        mech_text_format(s->reason, sizeof s->reason, "the FMU %s at t = %.17g s",
                         out->terminate ? "asks to end the simulation" : "ended its step",
                         out->time);
        return MECHD_HOSTED_REFUSED;
    }
    return 0;
}

int mechd_fmu_session_save(struct mechd_fmu_session *s, unsigned char **bytes, size_t *size)
{
    MECH_TRY(mechd_fmu_session_ask_verb(s, MECHD_FMU_SAVE));
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
    return mechd_fmu_session_ask(s);
}
