/* A component: its life and its steps. */
#include "clients/fmu/engine.h"

#include "solver/base/err.h"
#include "solver/base/hash.h"
#include "solver/base/times.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- messages --------------------------------------------------------------------------------- */

/* by status; the description lists the same */
static const char *const categories[] = {"logEvents", "logStatusWarning", "logStatusDiscard",
                                         "logStatusError", "logStatusFatal"};
enum { CATEGORIES = sizeof categories / sizeof *categories, ALL = (1 << CATEGORIES) - 1 };

enum mechp_fmi3_status mechfmu_say(const struct mechfmu *m, enum mechp_fmi3_status status,
                                   const char *format, ...)
{
    char text[MECHFMU_TEXT];
    va_list arguments;

    if (m->log.write && (m->log.categories & (1u << status))) {
        va_start(arguments, format);
        vsnprintf(text, sizeof text, format, arguments);
        va_end(arguments);
        m->log.write(m, status, categories[status], text);
    }
    return status;
}

enum mechp_fmi3_status mechfmu_choose(struct mechfmu *m, bool on, size_t n,
                                      const char *const names[])
{
    unsigned chosen = n == 0 ? (unsigned)ALL : 0;

    for (size_t i = 0; i < n; i++) {
        unsigned bit = 0;

        for (unsigned k = 0; k < CATEGORIES; k++) {
            bit = names[i] && strcmp(names[i], categories[k]) == 0 ? 1u << k : bit;
        }
        if (bit == 0) {
            return mechfmu_say(m, MECHP_FMI3_ERROR, "there is no log category \"%s\"",
                               names[i] ? names[i] : "");
        }
        chosen |= bit;
    }
    m->log.categories = on ? m->log.categories | chosen : m->log.categories & ~chosen;
    return MECHP_FMI3_OK;
}

bool mechfmu_may(const struct mechfmu *m, unsigned states, const char *function)
{
    if (!m) {
        return false;
    }
    if (m->state & states) {
        return true;
    }
    mechfmu_say(m, MECHP_FMI3_ERROR, "%s is not allowed in this state", function);
    return false;
}

/* --- life ------------------------------------------------------------------------------------- */

size_t mechfmu_held(const struct mechfmu *m)
{
    return 2 * m->inputs + 3 * m->packed + m->parameters;
}

static int make_room(struct mechfmu *m)
{
    m->given = calloc(mechfmu_held(m) + 1, sizeof *m->given);
    m->before = calloc(mechfmu_held(m) + 1, sizeof *m->before);
    m->outputs = calloc(m->measured + 1, sizeof *m->outputs);
    m->touched = calloc(m->inputs + 1, sizeof *m->touched);
    if (!m->given || !m->before || !m->outputs || !m->touched) {
        return MECH_NO_MEMORY;
    }
    m->is_set = m->given;
    m->since = m->is_set + m->inputs;
    m->value = m->since + m->inputs;
    m->rate = m->value + m->packed;
    m->parameter = m->rate + 2 * m->packed;
    mechfmu_engine_parameters(m, m->parameter);
    return 0;
}

static int fill(struct mechfmu *m, const char *name, const char *token, const char *resources)
{
    char own[MECHP_FMI_TOKEN] = "";

    m->name = strdup(name ? name : "");
    if (!m->name) {
        return MECH_NO_MEMORY;
    }
    MECH_TRY(mechfmu_engine_open(m, resources ? resources : "", own));
    MECH_TRY(make_room(m));
    m->model = mech_hash(own, strlen(own), 0);
    if (!token || strcmp(token, own) != 0) {
        mechfmu_say(m, MECHP_FMI3_ERROR, "the instantiation token must be that of this FMU, %s",
                    own);
        return MECH_MISMATCH;
    }
    return 0;
}

int mechfmu_create(enum mechp_fmi_version version, const char *name, const char *token,
                   const char *resources, const struct mechfmu_log *log, struct mechfmu **out)
{
    struct mechfmu *const m = calloc(1, sizeof *m);

    *out = NULL;
    if (!m) {
        return MECH_NO_MEMORY;
    }
    *m = (struct mechfmu){.version = version, .log = *log, .stop = INFINITY};
    m->log.categories = log->on ? ALL : 0;
    const int code = fill(m, name, token, resources);
    if (code < 0) {
        mechfmu_say(m, MECHP_FMI3_ERROR, "%s", mech_err_text(code));
    }
    if (code) {
        mechfmu_destroy(m);
        return code;
    }
    *out = m;
    return 0;
}

void mechfmu_destroy(struct mechfmu *m)
{
    if (!m) {
        return;
    }
    mechfmu_engine_close(m);
    for (size_t k = 0; k < MECHP_FMI_SETTINGS; k++) {
        free(m->settings[k]);
    }
    free(m->channels);
    free(m->given);
    free(m->before);
    free(m->outputs);
    free(m->touched);
    free(m->name);
    free(m->watched);
    free(m);
}

/* --- time ------------------------------------------------------------------------------------- */

double mechfmu_time(const struct mechfmu *m)
{
    return mechfmu_engine_time(m);
}

double mechfmu_scale(const struct mechfmu *m, double t, double h)
{
    return mech_time_scale(t, m->start, h);
}

enum mechp_fmi3_status mechfmu_start(struct mechfmu *m, double start, bool has_stop, double stop)
{
    const double was = mechfmu_time(m);

    if (!isfinite(start) || (has_stop && !(stop >= start))) {
        return mechfmu_say(m, MECHP_FMI3_ERROR,
                           "the start time must be finite, and the stop time not before it");
    }
    if (start != was) {
        if (mechfmu_engine_start(m, start)) {
            return MECHP_FMI3_ERROR;
        }
        if (mechfmu_hold(m) != MECHP_FMI3_OK) {
            if (mechfmu_engine_start(m, was) == 0) {
                (void)mechfmu_hold(m);
            }
            return MECHP_FMI3_ERROR;
        }
    }
    m->start = start;
    m->stop = has_stop ? stop : INFINITY;
    return MECHP_FMI3_OK;
}

enum mechp_fmi3_status mechfmu_enter(struct mechfmu *m)
{
    return mechfmu_engine_enter(m) == 0 ? MECHP_FMI3_OK : MECHP_FMI3_ERROR;
}

enum mechp_fmi3_status mechfmu_reset(struct mechfmu *m)
{
    if (mechfmu_engine_reset(m)) {
        return MECHP_FMI3_ERROR;
    }
    memset(m->given, 0, mechfmu_held(m) * sizeof *m->given);
    mechfmu_engine_parameters(m, m->parameter);
    m->start = mechfmu_time(m);
    m->stop = INFINITY;
    return MECHP_FMI3_OK;
}

/* Importers compute sizes as differences of times, k h − t, with the rounding of these: such a size
 * is the whole number of internal steps that it means, and not one step more. */
static double whole_steps(const struct mechfmu *m, double now, double size)
{
    const double h = mechfmu_engine_step_size(m), n = round(size / h), end = now + size;
    const double rounding = mech_time_rounding(end, mechfmu_scale(m, end, h));

    return n >= 1. && fabs(size - n * h) <= rounding ? n * h : size;
}

enum mechp_fmi3_status mechfmu_step(struct mechfmu *m, double time, double size, bool *early)
{
    const double now = mechfmu_time(m);
    const uint64_t steps = mechfmu_engine_steps(m);

    *early = false;
    m->events = 0;
    if (!(size > 0.) || !isfinite(size)) {
        return mechfmu_say(m, MECHP_FMI3_ERROR, "a step of %g s is not possible", size);
    }
    /* an importer may add up its own time */
    if (!(fabs(time - now) <= 1e-9 * size) && !mech_time_expected(now, time, steps, size)) {
        return mechfmu_say(m, MECHP_FMI3_ERROR, "the component is at %.17g s, not at %.17g s", now,
                           time);
    }
    if (now + size > m->stop && !mech_time_expected(now + size, m->stop, steps, size)) {
        return mechfmu_say(m, MECHP_FMI3_ERROR, "the step ends after the stop time %g s", m->stop);
    }
    size = whole_steps(m, now, size);
    return m->update ? mechfmu_step_updating(m, size, early) : mechfmu_engine_step(m, size, early);
}
