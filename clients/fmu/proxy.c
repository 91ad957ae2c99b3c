/* The engine of an FMU that connects to a server: an instance there, reached by the lane.
 *
 * From the beginning of the initialization there is an instance: one of the model in the resources,
 * created with the parameters that are set and deleted at the end, or one that exists, by its id,
 * under a lease of its owner.
 * Before, what is set is only noted. A state is the bytes of a snapshot, so that one that has been
 * saved outlives the server.
 */
#include "clients/fmu/proxy.h"

#include "solver/base/err.h"
#include "solver/base/odd.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    TOKEN_MOST = 4096,
    /* codes.def */
    INVALID_MODEL = 1019,
    INVALID_REQUEST = 1020,
    QUEUE_FULL = 1022,
    LIMIT_REACHED = 1023,
    QUOTA_EXCEEDED = 1032,
    OUTCOMES = 2000, /* of the solver: this and above */
    TTL = 86400      /* s without a request, after which the server deletes an instance */
};

/* --- requests --------------------------------------------------------------------------------- */

void mechfmu_ask(struct mechfmu *m, const char *op)
{
    struct mechfmu_engine *const e = m->engine;

    mechfmu_lane_begin(&e->lane, op);
    if (e->id[0]) {
        mechfmu_lane_text(&e->lane, "id", e->id);
        mechfmu_put_lease(e);
    }
}

/* The instance is out of reach. */
void mechfmu_forget_instance(struct mechfmu_engine *e)
{
    e->id[0] = '\0';
    e->steps = 0;
    e->outputs_known = e->inputs_known = false;
    mechfmu_lane_close(&e->lane);
}

/* Of a refusal: what another step or value may not meet is an error. */
static enum mechp_fmi3_status status_of(const struct mechfmu_lane *l,
                                        enum mechp_fmi3_status refused)
{
    const bool of_value = l->number >= OUTCOMES || l->number == INVALID_MODEL ||
                          l->number == INVALID_REQUEST || l->number == QUEUE_FULL ||
                          l->number == LIMIT_REACHED || l->number == QUOTA_EXCEEDED;

    return of_value ? refused : MECHP_FMI3_ERROR;
}

int mechfmu_asked(struct mechfmu *m, enum mechp_fmi3_status refused, struct mechc_json *reply)
{
    struct mechfmu_engine *const e = m->engine;
    const enum mechfmu_outcome outcome = mechfmu_send(m, reply);

    if (outcome == MECHFMU_DONE) {
        return 0;
    }
    if (outcome == MECHFMU_REFUSED) {
        const enum mechp_fmi3_status status = status_of(&e->lane, refused);

        mechfmu_say(m, status, "%s", e->lane.text);
        return status == refused ? MECH_INVALID : MECH_MISMATCH;
    }
    mechfmu_say(m, MECHP_FMI3_ERROR, "%s", e->lane.text);
    m->state = e->id[0] ? m->broken : m->state;
    mechfmu_forget_instance(e);
    return MECH_INTERNAL;
}

/* Time and steps of a reply, if it has them. */
void mechfmu_take_time(struct mechfmu_engine *e, struct mechc_json reply)
{
    struct mechc_json v;

    if (mechc_json_member(reply, "time", &v)) {
        mechc_json_number(v, &e->time);
    }
    if (mechc_json_member(reply, "step", &v)) {
        mechc_json_unsigned(v, &e->steps);
    }
}

/* --- connection ------------------------------------------------------------------------------- */

static const char *setting(const struct mechfmu *m, enum mechp_fmi_setting k)
{
    return m->settings[k];
}

static const char *or_environment(const char *text, const char *name)
{
    const char *const own = text[0] ? NULL : getenv(name);
    return own ? own : text;
}

/* The first word of a file moved to its beginning. False, with a message: there is none. */
static bool take_word(const struct mechfmu *m, const char *path, char *text, size_t size)
{
    static const char blanks[] = " \t\r\n";
    const char *const wide = mech_text_wide(text, size);
    const char *word = text + mech_text_mark(text, size);
    struct mech_odd odd;

    word += strspn(word, blanks);
    const size_t length = strcspn(word, blanks);
    if (wide) {
        mechfmu_say(m, MECHP_FMI3_ERROR, "\"%.300s\" is %s: save it as UTF-8", path, wide);
    } else if (length == 0) {
        mechfmu_say(m, MECHP_FMI3_ERROR, "there is no token in \"%.300s\"", path);
    } else if (mech_text_odd(word, length, &odd)) {
        mechfmu_say(m, MECHP_FMI3_ERROR, "\"%.300s\": character %d of the token is %s", path,
                    odd.column, odd.text);
    } else {
        memmove(text, word, length);
        text[length] = '\0';
        return true;
    }
    return false;
}

/* The bearer token into text [TOKEN_MOST], "": none. 0, or refused. */
static int find_token(const struct mechfmu *m, char *text)
{
    const char *const path = setting(m, MECHP_FMI_SETTING_TOKEN_FILE);
    const char *const given = setting(m, MECHP_FMI_SETTING_TOKEN);

    text[0] = '\0';
    if (given[0] || !path[0]) {
        const char *const token = or_environment(given, "MECHD_TOKEN");

        if ((size_t)snprintf(text, TOKEN_MOST, "%s", token) >= TOKEN_MOST) {
            mechfmu_say(m, MECHP_FMI3_ERROR, "the token is too long");
            return MECH_INVALID;
        }
        return 0;
    }
    FILE *const file = fopen(path, "rb");
    const size_t size = file ? fread(text, 1, TOKEN_MOST - 1, file) : 0;
    if (file) {
        fclose(file);
    }
    text[size] = '\0';
    return take_word(m, path, text, size) ? 0 : MECH_INVALID;
}

/* To the server of the settings. 0, or refused. */
int mechfmu_connect(struct mechfmu *m)
{
    struct mechfmu_engine *const e = m->engine;
    const char *const daemon = setting(m, MECHP_FMI_SETTING_DAEMON);
    const char *const patience = setting(m, MECHP_FMI_SETTING_TIMEOUT);
    const char *server = or_environment(setting(m, MECHP_FMI_SETTING_SERVER), "MECHD_LANE");
    char *end = NULL, token[TOKEN_MOST];
    const double timeout = strtod(patience, &end);

    if (!(timeout > 0.) || !(timeout <= 1e9) || *end != '\0') {
        mechfmu_say(m, MECHP_FMI3_ERROR,
                    "proxy:timeout must be a number of seconds greater than 0");
        return MECH_INVALID;
    }
    if (!server[0] && daemon[0]) {
        char why[256];

        server = mechfmu_daemon_start(&e->daemon, daemon, timeout, why, sizeof why);
        if (!server) {
            mechfmu_say(m, MECHP_FMI3_ERROR, "%s", why);
            return MECH_INVALID;
        }
    }
    if (!server[0]) {
        mechfmu_say(m, MECHP_FMI3_ERROR,
                    "no server is given: set proxy:server or proxy:daemon, or MECHD_LANE in the "
                    "environment");
        return MECH_INVALID;
    }
    MECH_TRY(find_token(m, token));
    if (mechfmu_lane_open(&e->lane, server, token, timeout) != MECHFMU_DONE) {
        mechfmu_say(m, MECHP_FMI3_ERROR, "%s", e->lane.text);
        return MECH_INVALID;
    }
    return 0;
}

/* --- the instance ----------------------------------------------------------------------------- */

/* The document with these parameters in place of its own, behind what the request has. */
static void put_document(struct mechfmu *m, const double *parameters)
{
    struct mechfmu_engine *const e = m->engine;
    struct mechc_bytes *const out = &e->lane.out;
    struct mechc_json whole, own;

    if (e->n_parameters == 0 || !mechc_json_open(e->document, e->document_size, &whole) ||
        !mechc_json_member(whole, "parameters", &own)) {
        mechc_bytes_add(out, e->document, e->document_size);
        return;
    }
    mechc_bytes_add(out, e->document, (size_t)(own.at - e->document));
    for (size_t i = 0; i < e->n_parameters; i++) {
        mechc_bytes_text(out, i == 0 ? "{" : ",");
        mechc_bytes_string(out, e->parameters[i].name);
        mechc_bytes_text(out, ":");
        mechc_bytes_number(out, parameters[i]);
    }
    mechc_bytes_text(out, "}");
    mechc_bytes_add(out, own.end, e->document_size - (size_t)(own.end - e->document));
}

/* The request to create one has been begun. 0, or refused; then e->id is as before. */
int mechfmu_created(struct mechfmu *m, enum mechp_fmi3_status refused)
{
    struct mechfmu_engine *const e = m->engine;
    struct mechc_json reply, id;

    mechfmu_lane_number(&e->lane, "ttl", TTL);
    MECH_TRY(mechfmu_asked(m, refused, &reply));
    if (!mechc_json_member(reply, "id", &id) ||
        mechc_json_text(id, e->id, sizeof e->id) >= sizeof e->id) {
        mechfmu_say(m, refused, "the server has created no instance");
        return MECH_INVALID;
    }
    e->is_own = true;
    e->outputs_known = e->inputs_known = false;
    mechfmu_take_time(e, reply);
    return 0;
}

static int create(struct mechfmu *m, const double *parameters, enum mechp_fmi3_status refused)
{
    struct mechfmu_engine *const e = m->engine;

    mechfmu_lane_begin(&e->lane, "create");
    mechfmu_lane_key(&e->lane, "model");
    put_document(m, parameters);
    return mechfmu_created(m, refused);
}

/* An instance of that id; its end is of no interest. */
void mechfmu_delete(struct mechfmu *m, const char *id)
{
    struct mechfmu_lane *const l = &m->engine->lane;
    struct mechc_json reply;

    if (id[0] && mechfmu_lane_is_open(l)) {
        mechfmu_lane_begin(l, "delete");
        mechfmu_lane_text(l, "id", id);
        (void)mechfmu_lane_send(l, &reply);
    }
}

/* The instance of the settings has the model of this FMU and is at the present time. */
static int check_attached(struct mechfmu *m)
{
    static const char head[] = "{\"ok\":true,";
    struct mechfmu_engine *const e = m->engine;
    const double time = e->time;
    struct mechc_json reply;

    mechfmu_ask(m, "model");
    MECH_TRY(mechfmu_asked(m, MECHP_FMI3_ERROR, &reply));
    const size_t skip = sizeof head - 1, size = (size_t)(reply.end - reply.at);
    if (size - skip != e->document_size - 1 ||
        memcmp(reply.at + skip, e->document + 1, e->document_size - 1) != 0) {
        mechfmu_say(m, MECHP_FMI3_ERROR, "instance %s is of another model than this FMU", e->id);
        return MECH_MISMATCH;
    }
    mechfmu_ask(m, "instance");
    MECH_TRY(mechfmu_asked(m, MECHP_FMI3_ERROR, &reply));
    mechfmu_take_time(e, reply);
    if (e->time != time) {
        mechfmu_say(m, MECHP_FMI3_ERROR, "instance %s is at %.17g s, not at the start time %.17g s",
                    e->id, e->time, time);
        e->time = time;
        return MECH_MISMATCH;
    }
    return 0;
}

static int set_parameters(struct mechfmu *m, const double *before);
static int set_inputs(struct mechfmu *m, size_t count, enum mechp_fmi3_status refused);

static int set_time(struct mechfmu *m, double time, enum mechp_fmi3_status refused)
{
    struct mechfmu_engine *const e = m->engine;
    struct mechc_json reply;

    mechfmu_ask(m, "set-state");
    mechfmu_lane_number(&e->lane, "time", time);
    MECH_TRY(mechfmu_asked(m, refused, &reply));
    e->time = time;
    e->outputs_known = e->inputs_known = false;
    return 0;
}

/* A new instance of the parameters at that time, with all inputs that are set. 0, or refused. */
static int create_at(struct mechfmu *m, double time, enum mechp_fmi3_status refused)
{
    struct mechfmu_engine *const e = m->engine;

    MECH_TRY(create(m, m->parameter, refused));
    if (e->time != time) {
        MECH_TRY(set_time(m, time, refused));
    }
    return set_inputs(m, mechfmu_touch_all(m), refused);
}

bool mechfmu_attach(struct mechfmu *m)
{
    struct mechfmu_engine *const e = m->engine;
    const char *const id = setting(m, MECHP_FMI_SETTING_INSTANCE);

    if (id[0]) {
        e->is_own = false;
        snprintf(e->id, sizeof e->id, "%.*s", MECHFMU_ID - 1, id);
    }
    return id[0] != '\0';
}

/* With all parameters, and the inputs that are set. */
static int fit(struct mechfmu *m)
{
    MECH_TRY(mechfmu_lease(m));
    MECH_TRY(check_attached(m));
    if (m->parameters > 0) {
        MECH_TRY(set_parameters(m, NULL));
    }
    return set_inputs(m, mechfmu_touch_all(m), MECHP_FMI3_ERROR);
}

/* Without an instance again. */
void mechfmu_drop(struct mechfmu *m)
{
    struct mechfmu_engine *const e = m->engine;

    if (e->is_own) {
        mechfmu_delete(m, e->id);
    } else {
        mechfmu_release(e);
    }
    mechfmu_forget_instance(e);
    mechfmu_daemon_stop(&e->daemon);
}

int mechfmu_engine_enter(struct mechfmu *m)
{
    struct mechfmu_engine *const e = m->engine;
    const double time = e->time;

    int code = mechfmu_connect(m);
    code = code ? code : mechfmu_attach(m) ? fit(m) : create_at(m, time, MECHP_FMI3_ERROR);
    if (code) {
        mechfmu_drop(m);
        e->time = time;
    }
    return code;
}

/* --- life ------------------------------------------------------------------------------------- */

int mechfmu_engine_open(struct mechfmu *m, const char *resources, char token[MECHP_FMI_TOKEN])
{
    struct mechfmu_engine *const e = m->engine = calloc(1, sizeof *e);

    if (!e) {
        return MECH_NO_MEMORY;
    }
    e->lane.socket = -1;
    return mechfmu_table_read(m, resources, token);
}

void mechfmu_engine_close(struct mechfmu *m)
{
    struct mechfmu_engine *const e = m->engine;

    if (e) {
        mechfmu_drop(m);
        mechfmu_lane_fini(&e->lane);
        mechfmu_table_fini(m);
        free(e->state);
        free(e);
    }
}

void mechfmu_engine_parameters(const struct mechfmu *m, double *values)
{
    for (size_t i = 0; i < m->parameters; i++) {
        values[i] = m->engine->parameter_start[i];
    }
}

int mechfmu_engine_settle(struct mechfmu *m)
{
    struct mechfmu_engine *const e = m->engine;
    const double time = e->time;

    if (e->id[0] == '\0') {
        return 0;
    }
    /* with an instance already: another one in its place */
    mechfmu_drop(m);
    e->time = time;
    const int code = mechfmu_engine_enter(m);
    m->state = code ? m->broken : m->state;
    return code;
}

int mechfmu_engine_reset(struct mechfmu *m)
{
    struct mechfmu_engine *const e = m->engine;
    struct mechc_json reply;

    if (e->id[0] && !e->is_own) {
        mechfmu_ask(m, "reset");
        MECH_TRY(mechfmu_asked(m, MECHP_FMI3_ERROR, &reply));
    }
    mechfmu_drop(m);
    e->time = 0.;
    return 0;
}

int mechfmu_engine_start(struct mechfmu *m, double time)
{
    if (m->engine->id[0] == '\0') {
        m->engine->time = time;
        return 0;
    }
    return set_time(m, time, MECHP_FMI3_ERROR);
}

/* --- changes ---------------------------------------------------------------------------------- */

/* Those that differ from `before`, NULL: all. */
static int set_parameters(struct mechfmu *m, const double *before)
{
    struct mechfmu_engine *const e = m->engine;
    struct mechc_json reply;
    bool first = true;

    mechfmu_ask(m, "set-parameters");
    mechfmu_lane_key(&e->lane, "parameters");
    for (size_t i = 0; i < m->parameters; i++) {
        if (!before || m->parameter[i] != before[i]) {
            mechc_bytes_text(&e->lane.out, first ? "{" : ",");
            mechc_bytes_string(&e->lane.out, e->parameters[i].name);
            mechc_bytes_text(&e->lane.out, ":");
            mechc_bytes_number(&e->lane.out, m->parameter[i]);
            first = false;
        }
    }
    mechc_bytes_text(&e->lane.out, first ? "{}" : "}");
    e->outputs_known = e->inputs_known = false;
    return mechfmu_asked(m, MECHP_FMI3_DISCARD, &reply);
}

/* Derivatives of the channels that move: {"name": [first, second]}. */
static void put_derivatives(struct mechfmu *m, size_t count)
{
    struct mechfmu_engine *const e = m->engine;
    struct mechc_bytes *const out = &e->lane.out;
    bool first = true;

    for (size_t i = 0; i < count; i++) {
        const struct mechfmu_named *const c = &e->inputs[m->touched[i]];
        const double *const rate = m->rate + 2 * c->offset;

        if (!mechfmu_moves(m, (size_t)m->touched[i])) {
            continue;
        }
        mechc_bytes_text(out, first ? "{" : ",");
        mechc_bytes_string(out, c->name);
        for (int32_t k = 0; k < 2 * c->size; k++) {
            const bool begins = k % c->size == 0;

            mechc_bytes_text(out, k == 0 ? ":[" : ",");
            mechc_bytes_text(out, begins && !c->scalar ? "[" : "");
            mechc_bytes_number(out, rate[k]);
            mechc_bytes_text(out, (k + 1) % c->size == 0 && !c->scalar ? "]" : "");
        }
        mechc_bytes_text(out, "]");
        first = false;
    }
    mechc_bytes_text(out, first ? "{}" : "}");
}

/* The first `count` channels that are touched. */
static int set_inputs(struct mechfmu *m, size_t count, enum mechp_fmi3_status refused)
{
    struct mechfmu_engine *const e = m->engine;
    struct mechc_json reply;

    if (count == 0) {
        return 0;
    }
    mechfmu_ask(m, "set-inputs");
    mechfmu_lane_key(&e->lane, "inputs");
    mechfmu_put_values(&e->lane, e->inputs, m->touched, count, m->value);
    mechfmu_lane_key(&e->lane, "inputDerivatives");
    put_derivatives(m, count);
    e->outputs_known = e->inputs_known = false;
    return mechfmu_asked(m, refused, &reply);
}

/* Parameters, then inputs: all or none. */
static int set_both(struct mechfmu *m, size_t count, enum mechp_fmi3_status refused)
{
    const double *const before = m->before + (m->parameter - m->given);
    size_t size = 0;

    MECH_TRY(mechfmu_engine_state_size(m, &size));
    void *const state = malloc(size);
    if (!state) {
        mechfmu_say(m, refused, "no memory");
        return MECH_NO_MEMORY;
    }
    mechfmu_engine_state_write(m, state);
    int code = set_parameters(m, before);
    if (code == 0) {
        code = set_inputs(m, count, refused);
        if (code != 0 && code != MECH_INTERNAL) {
            (void)mechfmu_engine_state_read(m, state, size);
        }
    }
    free(state);
    return code;
}

int mechfmu_engine_set(struct mechfmu *m, size_t count, bool parameters,
                       enum mechp_fmi3_status refused)
{
    if (m->engine->id[0] == '\0') {
        return 0;
    }
    if (parameters) {
        return count > 0 ? set_both(m, count, refused)
                         : set_parameters(m, m->before + (m->parameter - m->given));
    }
    return set_inputs(m, count, refused);
}

int mechfmu_engine_rebuild(struct mechfmu *m)
{
    struct mechfmu_engine *const e = m->engine;
    const double time = e->time;
    char old[MECHFMU_ID];

    if (e->id[0] == '\0') {
        return 0;
    }
    if (!e->is_own) {
        return mechfmu_engine_set(m, mechfmu_touch_all(m), true, MECHP_FMI3_DISCARD);
    }
    memcpy(old, e->id, sizeof old);
    const int code = create_at(m, time, MECHP_FMI3_DISCARD);
    if (code == MECH_INTERNAL || code == 0) {
        mechfmu_delete(m, code == 0 ? old : "");
        return code;
    }
    if (strcmp(e->id, old) != 0) {
        mechfmu_delete(m, e->id);
        memcpy(e->id, old, sizeof old);
    }
    e->time = time;
    e->outputs_known = e->inputs_known = false;
    return code;
}
