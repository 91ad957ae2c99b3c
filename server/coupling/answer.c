/* What is said of a coupling, and of a command that is over. */
#include "server/coupling/face.h"
#include "server/coupling/outside.h"

#include "protocol/wire/bodies.h"
#include "protocol/wire/bodies_coupling.h"
#include "server/call/service.h"
#include "solver/base/err.h"

#include <math.h>
#include <stdio.h>

static void write_participants(const void *of, struct mechp_text *w)
{
    const struct mechd_coupling *const g = of;
    mechp_text_array(w);
    for (int32_t n = 0; n < g->count; n++) {
        struct mechd_outside *const outside = g->parts[n].outside;
        const struct mechp_body_coupling_member body = {
            .name = g->parts[n].name,
            .instance = outside != NULL ? NULL : g->parts[n].instance->id,
            .partner = {outside != NULL ? mechd_outside_write : NULL, outside}};
        MECHP_WRITE(coupling_member, &body, w);
    }
    mechp_text_end(w);
}

static void write_connections(const void *of, struct mechp_text *w)
{
    const struct mechd_coupling *const g = of;
    mechp_text_array(w);
    for (int32_t n = 0; n < g->connection_count; n++) {
        mechp_text_string(w, g->connections[n]);
    }
    mechp_text_end(w);
}

static void write_document(const void *of, struct mechp_text *w)
{
    const struct mechd_coupling *const g = of;
    mechp_text_raw(w, g->document, g->document_size);
}

void mechd_coupling_write(struct mechd_coupling *g, bool whole, struct mechp_text *w)
{
    pthread_mutex_lock(&g->m);
    const double time = g->time;
    const uint64_t windows = g->windows;
    const bool busy = g->head != NULL && g->head->kind != MECHD_COUPLING_START &&
                      g->head->kind != MECHD_COUPLING_KEEP;
    const struct mechd_coupling_last last = g->last;
    pthread_mutex_unlock(&g->m);
    const struct mechp_body_coupling body = {.id = g->face->id,
                                             .name = g->name,
                                             .time = time,
                                             .windows = windows,
                                             .busy = busy,
                                             .running = atomic_load(&g->face->running),
                                             .durability = mechd_durability_names[g->keep.mode],
                                             .last = {mechd_last_write, &last},
                                             .scheme = g->scheme,
                                             .step_size = g->step_size,
                                             .participants = {write_participants, g},
                                             .connections = {write_connections, g},
                                             .layout = {mechd_face_write_layout, g},
                                             .document = {whole ? write_document : NULL, g}};
    MECHP_WRITE(coupling, &body, w);
}

static bool is_step(const struct mechd_coupling_command *k)
{
    return k->kind == MECHD_COUPLING_STEP || k->kind == MECHD_COUPLING_TRIAL;
}

static void write_flow(const char *name, const struct mech_couple_work *f, struct mechp_text *w)
{
    const struct mechp_body_coupling_flow body = {f->power, f->energy, f->balance};
    mechp_text_key(w, name);
    MECHP_WRITE(coupling_flow, &body, w);
}

/* Of the windows that have been done. */
static void write_interface(const void *of, struct mechp_text *w)
{
    const struct mechd_coupling *const g = of;
    struct mech_couple_work flow;
    mechp_text_object(w);
    for (int32_t n = 0; n < g->connection_count; n++) {
        mech_couple_connection_flow(g->couple, n, &flow);
        write_flow(g->connections[n], &flow, w);
    }
    for (int32_t n = 0; n < g->bond_count; n++) {
        mech_couple_bond_flow(g->couple, n, &flow);
        write_flow(g->bonds[n], &flow, w);
    }
    mechp_text_end(w);
}

static void write_residual(const void *of, struct mechp_text *w)
{
    const struct mechd_coupling *const g = of;
    mechp_text_object(w);
    for (int32_t n = 0; n < g->connection_count; n++) {
        mechp_text_key(w, g->connections[n]);
        mechp_text_number(w, mech_couple_residual(g->couple, n));
    }
    mechp_text_end(w);
}

/* Windows that are unstable by the last stability report, as a list of one. */
static void write_warning(const void *of, struct mechp_text *w)
{
    const struct mechd_coupling_command *const k = of;
    char text[MECHD_COUPLING_WARNING];
    (void)mechd_coupling_warns(k->coupling, k->size, text);
    const struct mechp_body_warning body = {.pointer = "/stepSize", .message = text};
    mechp_text_array(w);
    MECHP_WRITE(warning, &body, w);
    mechp_text_end(w);
}

static void write_report(const void *of, struct mechp_text *w)
{
    const struct mechd_coupling_command *const k = of;
    const bool beyond = is_step(k) && k->size > k->coupling->stable_most;
    const struct mechp_body_coupling_report body = {
        .windows = is_step(k) ? k->done : 0,
        .iterations = k->iterations,
        .evaluations = k->evaluations,
        .refused = k->refused,
        .residual = {write_residual, k->coupling},
        .interface = {k->interface && k->begun ? write_interface : NULL, k->coupling},
        .warnings = {beyond ? write_warning : NULL, k}};
    MECHP_WRITE(coupling_report, &body, w);
}

/* Of all participants, J; infinite where it is beyond the range of doubles. */
static double energy_of(const struct mechd_coupling *g)
{
    double energy = 0.;
    for (int32_t n = 0; n < g->count; n++) {
        energy += mechd_engine_energy(&g->parts[n].instance->engine, false);
    }
    return isnan(energy) ? INFINITY : energy;
}

/* Add a started coupling to the table. */
static void answer_start(struct mechd_coupling *g, struct mechd_call *c)
{
    const int outcome = mechd_coupling_add(g->service->couplings, g);
    if (outcome < 0) {
        mechd_fail_outcome(c, outcome);
        return;
    }
    if (outcome != 0) {
        mechd_fail(c, MECHP_LIMIT_REACHED, "there are %d couplings: delete some",
                   MECHD_COUPLINGS_MOST);
        return;
    }
    c->status = 201;
    snprintf(c->location, sizeof c->location, "/v1/couplings/%s", g->face->id);
    mechd_outsides_open(g, g->face->id);
    mechd_coupling_write(g, true, &c->text);
}

void mechd_coupling_answer(struct mechd_coupling_command *k)
{
    struct mechd_coupling *const g = k->coupling;
    struct mechd_call *const c = k->call;
    mechd_last_note(k);
    if (k->code != MECHP_OK) {
        if (c->code == MECHP_OK) {
            mechd_fail(c, k->code, "%s", k->detail);
        }
        if (is_step(k) && k->captured >= g->count) {
            write_report(k, &c->report);
        }
        return;
    }
    if (k->kind == MECHD_COUPLING_ONCE || k->kind == MECHD_COUPLING_KEEP ||
        k->kind == MECHD_COUPLING_END) {
        return;
    }
    if (k->kind == MECHD_COUPLING_START) {
        answer_start(g, c);
        return;
    }
    const struct mechp_body_coupling_step_reply body = {
        .time = mechd_coupling_time(g),
        .window = mech_couple_windows(g->couple),
        .outputs = {mechd_coupling_write_outputs, g},
        .report = {write_report, k},
        .energy = k->energy ? energy_of(g) : (double)NAN,
        .trial = k->kind == MECHD_COUPLING_TRIAL ? g->trials : MECHP_ABSENT};
    MECHP_WRITE(coupling_step_reply, &body, &c->text);
}
