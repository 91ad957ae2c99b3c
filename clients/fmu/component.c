/* A component: its life and its steps. */
#include "clients/fmu/component.h"

#include "protocol/bind/bind.h"
#include "protocol/wire/json.h"
#include "solver/base/err.h"
#include "solver/base/hash.h"
#include "solver/base/times.h"

#include <math.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DOCUMENT_MOST = 64 << 20 };

static pthread_once_t pinned = PTHREAD_ONCE_INIT;

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
            return mechfmu_say(m, MECHP_FMI3_ERROR, "there is no category \"%s\"",
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

/* The document in the resources, or NULL with a message. */
static char *read_document(const struct mechfmu *m, const char *resources, size_t *size)
{
    char path[4096];
    const size_t n = strlen(resources);
    const char *const separator = n > 0 && resources[n - 1] == '/' ? "" : "/";

    if ((size_t)snprintf(path, sizeof path, "%s%smodel.json", resources, separator) >=
        sizeof path) {
        mechfmu_say(m, MECHP_FMI3_ERROR, "the path of the resources is too long");
        return NULL;
    }
    if (n == 0) {
        mechfmu_say(m, MECHP_FMI3_ERROR, "there are no resources");
        return NULL;
    }
    FILE *const file = fopen(path, "rb");
    char *const text = file ? malloc(DOCUMENT_MOST) : NULL;
    *size = text ? fread(text, 1, DOCUMENT_MOST, file) : 0;
    if (file) {
        fclose(file);
    }
    if (*size == 0 || *size == DOCUMENT_MOST) {
        mechfmu_say(m, MECHP_FMI3_ERROR, "\"%.400s\" cannot be read", path);
        free(text);
        return NULL;
    }
    char *const cut = realloc(text, *size);
    return cut ? cut : text;
}

static void say_fault(const struct mechfmu *m, enum mechp_fmi3_status status,
                      const struct mech_diag_entry *fault)
{
    mechfmu_say(m, status, "%s%s%s", fault->path, fault->path[0] ? ": " : "", fault->text);
}

enum mechp_fmi3_status mechfmu_refuse(const struct mechfmu *m, enum mechp_fmi3_status status,
                                      int code, const struct mech_diag *diag)
{
    if (diag && diag->count > 0) {
        say_fault(m, status, &diag->entries[0]);
        return status;
    }
    return mechfmu_say(m, status, "%s", mech_err_text(code));
}

struct mech_sim *mechfmu_build(const struct mechfmu *m, const double *parameters,
                               enum mechp_fmi3_status status)
{
    struct mech_document *document = NULL;
    struct mechp_json_fault fault;
    struct mech_sim *sim = NULL;
    struct mech_diag diag;
    json_t *model = NULL;

    if (mechp_json_parse(m->document, m->document_size, &mechp_json_limits_model, &fault, &model) !=
        0) {
        mechfmu_say(m, status, "model.json: %s", fault.text);
        return NULL;
    }
    mech_diag_init(&diag);
    int code = mechp_bind_read(model, "", &diag, &document);
    for (size_t i = 0; code == 0 && parameters && i < document->parameters.n; i++) {
        document->parameters.at[i].value = parameters[i];
    }
    if (code == 0) {
        code = mech_sim_create(document, &diag, &sim);
        if (code) {
            mech_document_destroy(document);
        }
    }
    if (code) {
        mechfmu_refuse(m, status, code, &diag);
    }
    for (size_t i = 1; code && i < diag.count && i < 5; i++) {
        say_fault(m, status, &diag.entries[i]);
    }
    mech_diag_fini(&diag);
    json_decref(model);
    return code == 0 ? sim : NULL;
}

size_t mechfmu_held(const struct mechfmu *m)
{
    return 2 * m->inputs + 3 * m->packed + m->parameters;
}

static int make_room(struct mechfmu *m)
{
    m->inputs = mech_sim_variable_count(m->sim, MECH_INPUT);
    m->packed = mech_sim_input_size(m->sim);
    m->parameters = mech_sim_variable_count(m->sim, MECH_PARAMETER);
    m->given = calloc(mechfmu_held(m) + 1, sizeof *m->given);
    m->before = calloc(mechfmu_held(m) + 1, sizeof *m->before);
    m->outputs = calloc(mech_sim_output_size(m->sim) + 1, sizeof *m->outputs);
    m->changes = calloc(m->inputs + 1, sizeof *m->changes);
    m->numbers = calloc(m->parameters + 1, sizeof *m->numbers);
    m->listed = calloc(m->parameters + 1, sizeof *m->listed);
    if (!m->given || !m->before || !m->outputs || !m->changes || !m->numbers || !m->listed) {
        return MECH_NO_MEMORY;
    }
    m->is_set = m->given;
    m->since = m->is_set + m->inputs;
    m->value = m->since + m->inputs;
    m->rate = m->value + m->packed;
    m->parameter = m->rate + 2 * m->packed;
    for (size_t i = 0; i < m->parameters; i++) {
        m->parameter[i] = mech_sim_get_parameter(m->sim, (int32_t)i);
    }
    return 0;
}

static int fill(struct mechfmu *m, const char *name, const char *token, const char *resources)
{
    char own[MECHP_FMI_TOKEN];

    m->name = strdup(name ? name : "");
    m->document = m->name ? read_document(m, resources ? resources : "", &m->document_size) : NULL;
    m->sim = m->document ? mechfmu_build(m, NULL, MECHP_FMI3_ERROR) : NULL;
    if (!m->sim) {
        return MECH_INVALID;
    }
    MECH_TRY(mechp_fmi_layout_init(&m->layout, m->sim, m->version));
    MECH_TRY(make_room(m));
    mechp_fmi_layout_token(&m->layout, m->document, m->document_size, own);
    m->model = mech_hash(own, strlen(own), 0);
    if (!token || strcmp(token, own) != 0) {
        mechfmu_say(m, MECHP_FMI3_ERROR, "the token is not that of this FMU, %s", own);
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
    pthread_once(&pinned, mech_blas_pin);
    *m = (struct mechfmu){.version = version, .log = *log, .stop = INFINITY};
    m->log.categories = log->on ? ALL : 0;
    const int code = fill(m, name, token, resources);
    if (code < 0) {
        mechfmu_refuse(m, MECHP_FMI3_ERROR, code, NULL);
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
    mech_sim_destroy(m->sim);
    mechp_fmi_layout_fini(&m->layout);
    free(m->given);
    free(m->before);
    free(m->outputs);
    free(m->changes);
    free(m->numbers);
    free(m->listed);
    free(m->document);
    free(m->name);
    free(m->watched);
    free(m);
}

/* --- time ------------------------------------------------------------------------------------- */

enum mechp_fmi3_status mechfmu_start(struct mechfmu *m, double start, bool has_stop, double stop)
{
    if (!isfinite(start) || (has_stop && !(stop >= start))) {
        return mechfmu_say(m, MECHP_FMI3_ERROR, "the simulation ends before it starts");
    }
    if (start != mech_sim_time(m->sim)) {
        const struct mech_state_view at = {.time = start}, was = {.time = mech_sim_time(m->sim)};

        const int code = mech_sim_set_state(m->sim, &at);
        if (code) {
            return mechfmu_refuse(m, MECHP_FMI3_ERROR, code, NULL);
        }
        if (mechfmu_hold(m) != MECHP_FMI3_OK) {
            if (mech_sim_set_state(m->sim, &was) == 0) {
                (void)mechfmu_hold(m);
            }
            return MECHP_FMI3_ERROR;
        }
    }
    m->stop = has_stop ? stop : INFINITY;
    return MECHP_FMI3_OK;
}

enum mechp_fmi3_status mechfmu_reset(struct mechfmu *m)
{
    struct mech_sim *const sim = mechfmu_build(m, NULL, MECHP_FMI3_ERROR);

    if (!sim) {
        return MECHP_FMI3_ERROR;
    }
    mech_sim_destroy(m->sim);
    m->sim = sim;
    memset(m->given, 0, mechfmu_held(m) * sizeof *m->given);
    for (size_t i = 0; i < m->parameters; i++) {
        m->parameter[i] = mech_sim_get_parameter(sim, (int32_t)i);
    }
    m->stop = INFINITY;
    return MECHP_FMI3_OK;
}

static void say_events(const struct mechfmu *m, const struct mech_event_log *log)
{
    for (size_t i = 0; i < log->count; i++) {
        const struct mech_logged *const e = &log->at[i];

        mechfmu_say(m, MECHP_FMI3_OK, "t = %.17g s: \"%s\"%s%s %s", e->time, e->item,
                    e->with ? " and " : "", e->with ? e->with : "", mech_logged_kinds[e->kind]);
    }
}

enum mechp_fmi3_status mechfmu_step_once(struct mechfmu *m, double size, bool *early)
{
    struct mech_event_log log = {.at = m->logged, .room = MECHFMU_EVENTS};
    struct mech_step_report report;
    const bool told = (m->log.categories & 1u << MECHP_FMI3_OK) != 0;
    const struct mech_step_request request = {.kind = MECH_STEP_SIZE,
                                              .size = size,
                                              .events = m->event_mode || told ? &log : NULL,
                                              .early_return = m->event_mode && m->early_return};

    const int code = mech_sim_step(m->sim, &request, &report);
    if (code) {
        return mechfmu_say(m, MECHP_FMI3_DISCARD, "%s",
                           code > 0 && report.reason[0] ? report.reason : "the step failed");
    }
    m->events = log.total;
    *early = report.ended == MECH_ENDED_AT_EVENT;
    if (told) {
        say_events(m, &log);
    }
    return MECHP_FMI3_OK;
}

enum mechp_fmi3_status mechfmu_step(struct mechfmu *m, double time, double size, bool *early)
{
    const double now = mech_sim_time(m->sim);
    const uint64_t steps = mech_sim_step_count(m->sim);

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
    return m->update ? mechfmu_step_updating(m, size, early) : mechfmu_step_once(m, size, early);
}
