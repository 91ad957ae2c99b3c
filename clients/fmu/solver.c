/* The engine of an FMU that needs no server: the solver, with the model in the resources. */
#include "clients/fmu/engine.h"

#include "protocol/bind/bind.h"
#include "protocol/wire/json.h"
#include "solver/base/err.h"
#include "solver/sim/analysis.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DOCUMENT_MOST = 64 << 20, EVENTS = 64 };

struct mechfmu_engine {
    char *document; /* [document_size] resources/model.json */
    size_t document_size;
    struct mech_sim *sim;
    struct mech_input_change *changes; /* [inputs] scratch */
    int32_t *numbers;                  /* [parameters] scratch: indices */
    double *listed;                    /* [parameters] scratch: their values */
    struct mech_logged logged[EVENTS];
};

static pthread_once_t pinned = PTHREAD_ONCE_INIT;

/* --- messages --------------------------------------------------------------------------------- */

static void say_fault(const struct mechfmu *m, enum mechp_fmi3_status status,
                      const struct mech_diag_entry *fault)
{
    mechfmu_say(m, status, "%s%s%s", fault->path, fault->path[0] ? ": " : "", fault->text);
}

/* Why something was refused: its first fault, or the code's text where there is none (diag NULL:
 * there is none). Returns the code. */
static int refuse(const struct mechfmu *m, enum mechp_fmi3_status status, int code,
                  const struct mech_diag *diag)
{
    if (diag && diag->count > 0) {
        say_fault(m, status, &diag->entries[0]);
    } else {
        mechfmu_say(m, status, "%s", mech_err_text(code));
    }
    return code;
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

/* A simulation of the document with these parameters, NULL: its own; NULL with messages of that
 * status. */
static struct mech_sim *build(const struct mechfmu *m, const double *parameters,
                              enum mechp_fmi3_status status)
{
    const struct mechfmu_engine *const e = m->engine;
    struct mech_document *document = NULL;
    struct mechp_json_fault fault;
    struct mech_sim *sim = NULL;
    struct mech_diag diag;
    json_t *model = NULL;

    if (mechp_json_parse(e->document, e->document_size, &mechp_json_limits_model, &fault, &model) !=
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
        refuse(m, status, code, &diag);
    }
    for (size_t i = 1; code && i < diag.count && i < 5; i++) {
        say_fault(m, status, &diag.entries[i]);
    }
    mech_diag_fini(&diag);
    json_decref(model);
    return code == 0 ? sim : NULL;
}

static int make_room(struct mechfmu *m)
{
    struct mechfmu_engine *const e = m->engine;

    m->inputs = mech_sim_variable_count(e->sim, MECH_INPUT);
    m->packed = mech_sim_input_size(e->sim);
    m->parameters = mech_sim_variable_count(e->sim, MECH_PARAMETER);
    m->measured = mech_sim_output_size(e->sim);
    m->channels = calloc(m->inputs + 1, sizeof *m->channels);
    e->changes = calloc(m->inputs + 1, sizeof *e->changes);
    e->numbers = calloc(m->parameters + 1, sizeof *e->numbers);
    e->listed = calloc(m->parameters + 1, sizeof *e->listed);
    if (!m->channels || !e->changes || !e->numbers || !e->listed) {
        return MECH_NO_MEMORY;
    }
    for (size_t i = 0; i < m->inputs; i++) {
        struct mech_variable v;

        mech_sim_variable(e->sim, MECH_INPUT, i, &v);
        m->channels[i] = (struct mechfmu_channel){.offset = v.offset, .size = v.size};
    }
    return 0;
}

int mechfmu_engine_open(struct mechfmu *m, const char *resources, char token[MECHP_FMI_TOKEN])
{
    struct mechfmu_engine *const e = m->engine = calloc(1, sizeof *e);

    if (!e) {
        return MECH_NO_MEMORY;
    }
    pthread_once(&pinned, mech_blas_pin);
    e->document = read_document(m, resources, &e->document_size);
    e->sim = e->document ? build(m, NULL, MECHP_FMI3_ERROR) : NULL;
    if (!e->sim) {
        return MECH_INVALID;
    }
    MECH_TRY(mechp_fmi_layout_init(&m->layout, e->sim, m->version));
    MECH_TRY(make_room(m));
    mechp_fmi_layout_token(&m->layout, e->document, e->document_size, token);
    return 0;
}

void mechfmu_engine_close(struct mechfmu *m)
{
    struct mechfmu_engine *const e = m->engine;

    if (e) {
        mech_sim_destroy(e->sim);
        mechp_fmi_layout_fini(&m->layout);
        free(e->changes);
        free(e->numbers);
        free(e->listed);
        free(e->document);
        free(e);
    }
}

void mechfmu_engine_parameters(const struct mechfmu *m, double *values)
{
    for (size_t i = 0; i < m->parameters; i++) {
        values[i] = mech_sim_get_parameter(m->engine->sim, (int32_t)i);
    }
}

int mechfmu_engine_settle(struct mechfmu *m)
{
    (void)m;
    return 0;
}

int mechfmu_engine_enter(struct mechfmu *m)
{
    (void)m;
    return 0;
}

int mechfmu_engine_reset(struct mechfmu *m)
{
    struct mech_sim *const sim = build(m, NULL, MECHP_FMI3_ERROR);

    if (!sim) {
        return MECH_INVALID;
    }
    mech_sim_destroy(m->engine->sim);
    m->engine->sim = sim;
    return 0;
}

int mechfmu_engine_start(struct mechfmu *m, double time)
{
    const struct mech_state_view at = {.time = time};
    const int code = mech_sim_set_state(m->engine->sim, &at);

    return code ? refuse(m, MECHP_FMI3_ERROR, code, NULL) : 0;
}

/* --- values ----------------------------------------------------------------------------------- */

double mechfmu_engine_time(const struct mechfmu *m)
{
    return mech_sim_time(m->engine->sim);
}

uint64_t mechfmu_engine_steps(const struct mechfmu *m)
{
    return mech_sim_step_count(m->engine->sim);
}

int mechfmu_engine_get(struct mechfmu *m, const struct mechp_fmi_variable *v, double *values)
{
    mechp_fmi_layout_get(&m->layout, m->engine->sim, v, values);
    return 0;
}

int mechfmu_engine_input(struct mechfmu *m, size_t channel, double *values)
{
    mech_sim_get_input(m->engine->sim, (int32_t)channel, values);
    return 0;
}

/* An input's channel as it is to be set. */
static struct mech_input_change change_of(const struct mechfmu *m, int32_t channel)
{
    const bool moves = mechfmu_moves(m, (size_t)channel);
    const int32_t offset = m->channels[channel].offset;

    return (struct mech_input_change){.index = channel,
                                      .order = moves ? 2 : 0,
                                      .values = m->value + offset,
                                      .derivatives = moves ? m->rate + 2 * offset : NULL};
}

/* Set the first `count` channels that are touched; a refusal is reported with that status. */
static int set_inputs(struct mechfmu *m, size_t count, enum mechp_fmi3_status refused)
{
    struct mechfmu_engine *const e = m->engine;
    struct mech_diag diag;

    for (size_t i = 0; i < count; i++) {
        e->changes[i] = change_of(m, m->touched[i]);
    }
    mech_diag_init(&diag);
    const int code = mech_sim_set_inputs(e->sim, e->changes, count, &diag);
    if (code) {
        refuse(m, refused, code, &diag);
    }
    mech_diag_fini(&diag);
    return code;
}

/* Set those parameters that differ from before; an input may have set others. */
static int set_parameters(struct mechfmu *m)
{
    struct mechfmu_engine *const e = m->engine;
    const double *const before = m->before + (m->parameter - m->given);
    struct mech_diag diag;
    size_t count = 0;

    for (size_t k = 0; k < m->parameters; k++) {
        if (m->parameter[k] != before[k]) {
            e->numbers[count] = (int32_t)k;
            e->listed[count++] = m->parameter[k];
        }
    }
    mech_diag_init(&diag);
    const int code = mech_sim_set_parameters(e->sim, count, e->numbers, e->listed, &diag);
    if (code) {
        refuse(m, MECHP_FMI3_DISCARD, code, &diag);
    }
    mech_diag_fini(&diag);
    return code;
}

/* Parameters, then inputs: all or none. A parameter may change the velocities at once, where it
 * activates a joint. */
static int set_both(struct mechfmu *m, size_t count, enum mechp_fmi3_status refused)
{
    struct mech_sim *const sim = m->engine->sim;
    void *const saved = malloc(mech_sim_saved_size(sim));

    if (!saved) {
        return refuse(m, refused, MECH_NO_MEMORY, NULL);
    }
    mech_sim_save(sim, saved);
    int code = set_parameters(m);
    if (code == 0) {
        code = set_inputs(m, count, refused);
        if (code) {
            (void)mech_sim_restore(sim, saved);
        }
    }
    free(saved);
    return code;
}

int mechfmu_engine_set(struct mechfmu *m, size_t count, bool parameters,
                       enum mechp_fmi3_status refused)
{
    if (parameters) {
        return count > 0 ? set_both(m, count, refused) : set_parameters(m);
    }
    return count > 0 ? set_inputs(m, count, refused) : 0;
}

int mechfmu_engine_rebuild(struct mechfmu *m)
{
    struct mechfmu_engine *const e = m->engine;
    struct mech_sim *const old = e->sim;
    const struct mech_state_view at = {.time = mech_sim_time(old)};
    struct mech_sim *const sim = build(m, m->parameter, MECHP_FMI3_DISCARD);
    int code = 0;

    if (!sim) {
        return MECH_INVALID;
    }
    if (at.time != mech_sim_time(sim)) {
        code = mech_sim_set_state(sim, &at);
        if (code) {
            refuse(m, MECHP_FMI3_DISCARD, code, NULL);
        }
    }
    e->sim = sim;
    code = code ? code : mechfmu_engine_set(m, mechfmu_touch_all(m), false, MECHP_FMI3_DISCARD);
    e->sim = code ? old : sim;
    mech_sim_destroy(code ? sim : old);
    return code;
}

/* --- steps and derivatives -------------------------------------------------------------------- */

static void say_events(const struct mechfmu *m, const struct mech_event_log *log)
{
    for (size_t i = 0; i < log->count; i++) {
        const struct mech_logged *const e = &log->at[i];

        mechfmu_say(m, MECHP_FMI3_OK, "t = %.17g s: \"%s\"%s%s %s", e->time, e->item,
                    e->with ? " and " : "", e->with ? e->with : "", mech_logged_kinds[e->kind]);
    }
}

double mechfmu_engine_step_size(const struct mechfmu *m)
{
    return mech_sim_step_size(m->engine->sim);
}

enum mechp_fmi3_status mechfmu_engine_step(struct mechfmu *m, double size, bool *early)
{
    struct mech_event_log log = {.at = m->engine->logged, .room = EVENTS};
    struct mech_step_report report;
    const bool told = (m->log.categories & 1u << MECHP_FMI3_OK) != 0;
    const struct mech_step_request request = {.kind = MECH_STEP_SIZE,
                                              .size = size,
                                              .events = m->event_mode || told ? &log : NULL,
                                              .early_return = m->event_mode && m->early_return};

    const int code = mech_sim_step(m->engine->sim, &request, &report);
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

int mechfmu_engine_rates(struct mechfmu *m, double *packed, enum mechp_fmi3_status undefined)
{
    char reason[160] = "";
    const int code = mech_sim_output_rates(m->engine->sim, false, packed, reason);

    if (code) {
        mechfmu_say(m, undefined, "%s", reason[0] ? reason : mech_err_text(code));
    }
    return code;
}

int mechfmu_engine_derive(struct mechfmu *m, const struct mechfmu_direction *to,
                          enum mechp_fmi3_status undefined)
{
    struct mech_point_derivative d = {.at = {.time = NAN},
                                      .values = {.inputs = to->inputs, .outputs = to->outputs},
                                      .adjoint = to->adjoint};
    const int code = mech_sim_point_derivative(m->engine->sim, &d);

    if (code) {
        mechfmu_say(m, undefined, "%s", code > 0 && d.reason[0] ? d.reason : mech_err_text(code));
    }
    return code;
}

/* --- states ----------------------------------------------------------------------------------- */

static int refuse_state(const struct mechfmu *m)
{
    mechfmu_say(m, MECHP_FMI3_ERROR, "the state is not one of this model");
    return MECH_MISMATCH;
}

static int refuse_memory(const struct mechfmu *m)
{
    mechfmu_say(m, MECHP_FMI3_ERROR, "no memory for a state");
    return MECH_NO_MEMORY;
}

int mechfmu_engine_state_size(struct mechfmu *m, size_t *size)
{
    *size = mech_sim_saved_size(m->engine->sim);
    return 0;
}

void mechfmu_engine_state_write(struct mechfmu *m, void *memory)
{
    mech_sim_save(m->engine->sim, memory);
}

int mechfmu_engine_state_read(struct mechfmu *m, const void *memory, size_t size)
{
    struct mech_sim *const sim = m->engine->sim;

    return size == mech_sim_saved_size(sim) && mech_sim_restore(sim, memory) == 0 ? 0
                                                                                  : refuse_state(m);
}

size_t mechfmu_engine_bytes_most(const struct mechfmu *m, size_t size)
{
    (void)size;
    return mech_sim_snapshot_size(m->engine->sim);
}

/* With the simulation in that state, and back again. */
int mechfmu_engine_bytes_write(struct mechfmu *m, const void *memory, size_t size, void *out,
                               size_t *length)
{
    struct mech_sim *const sim = m->engine->sim;
    void *const now = malloc(mech_sim_saved_size(sim));

    if (!now) {
        return refuse_memory(m);
    }
    mech_sim_save(sim, now);
    const int code =
        size == mech_sim_saved_size(sim) ? mech_sim_restore(sim, memory) : MECH_MISMATCH;
    if (code == 0) {
        *length = mech_sim_snapshot_write(sim, out);
    }
    const int back = mech_sim_restore(sim, now);
    free(now);
    return code || back ? refuse_state(m) : 0;
}

int mechfmu_engine_bytes_read(struct mechfmu *m, const void *bytes, size_t length, void **memory,
                              size_t *size)
{
    struct mech_sim *const sim = m->engine->sim;
    bool reproducible = false;

    *size = mech_sim_saved_size(sim);
    void *const now = malloc(*size);
    *memory = now ? malloc(*size) : NULL;
    if (!*memory) {
        free(now);
        return refuse_memory(m);
    }
    mech_sim_save(sim, now);
    const int code = mech_sim_snapshot_read(sim, bytes, length, &reproducible);
    if (code == 0) {
        mech_sim_save(sim, *memory);
    }
    const int back = mech_sim_restore(sim, now);
    free(now);
    if (code || back) {
        free(*memory);
        *memory = NULL;
        return refuse_state(m);
    }
    return reproducible ? 0 : MECHFMU_INEXACT;
}
