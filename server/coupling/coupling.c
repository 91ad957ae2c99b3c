/* The table of couplings, and what is said of one. */
#include "server/coupling/face.h"
#include "server/coupling/keep.h"
#include "server/coupling/outside.h"
#include "server/coupling/reading.h"
#include "server/coupling/share.h"

#include "protocol/wire/bodies.h"
#include "protocol/wire/bodies_coupling.h"
#include "server/call/service.h"
#include "server/call/shapes.h"
#include "server/instance/host.h"
#include "server/instance/traits.h"
#include "solver/base/err.h"
#include "solver/base/text.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void mechd_couplings_init(struct mechd_couplings *t)
{
    *t = (struct mechd_couplings){.serial = 0};
    pthread_mutex_init(&t->m, NULL);
}

void mechd_couplings_fini(struct mechd_couplings *t)
{
    while (t->newest != NULL) {
        struct mechd_coupling *const g = t->newest;
        t->newest = g->next;
        mechd_coupling_unref(g);
    }
    pthread_mutex_destroy(&t->m);
}

/* From here on the leases of its instances show its id. */
static void name_leases(struct mechd_coupling *g)
{
    const struct mechd_lease_wish wish = {.role = -1, .seconds = (double)NAN, .name = g->face->id};
    for (int32_t n = 0; n < g->count; n++) {
        struct mechd_holder holder;
        // one that has been revoked meanwhile has no name: the next command sees that
        (void)mechd_leases_change(&g->parts[n].instance->leases, g->parts[n].lease, &wish, &holder);
    }
}

/* 0; MECH_UNSUPPORTED: there are MECHD_COUPLINGS_MOST; negative. */
static int add(struct mechd_couplings *t, struct mechd_coupling *g)
{
    pthread_mutex_lock(&t->m);
    const int outcome =
        t->count < MECHD_COUPLINGS_MOST ? mechd_face_open(g, &t->serial) : MECH_UNSUPPORTED;
    if (outcome == 0) {
        name_leases(g);
        g->next = t->newest;
        t->newest = g;
        t->count++;
        mechd_coupling_ref(g);
    }
    pthread_mutex_unlock(&t->m);
    if (outcome == 0) {
        (void)mechd_store_given(g->service->host.store, MECHD_NUMBER_COUPLING, g->id);
    }
    return outcome;
}

int mechd_coupling_restore(struct mechd_couplings *t, struct mechd_coupling *g, uint64_t number)
{
    uint64_t serial = number - 1;
    pthread_mutex_lock(&t->m);
    int outcome = t->count < MECHD_COUPLINGS_MOST ? mechd_face_open(g, &serial) : MECH_UNSUPPORTED;
    if (outcome == 0 && g->id != number) {
        mechd_face_close(g);
        outcome = MECH_INVALID;
    }
    if (outcome == 0) {
        name_leases(g);
        g->next = t->newest;
        t->newest = g;
        t->count++;
        t->serial = number > t->serial ? number : t->serial;
        mechd_coupling_ref(g);
        mechd_outsides_open(g, g->face->id);
    }
    pthread_mutex_unlock(&t->m);
    return outcome;
}

struct mechd_coupling *mechd_coupling_find(struct mechd_couplings *t, const char *id)
{
    pthread_mutex_lock(&t->m);
    struct mechd_coupling *g = t->newest;
    for (; g != NULL; g = g->next) {
        if (strcmp(g->face->id, id) == 0) {
            mechd_coupling_ref(g);
            break;
        }
    }
    pthread_mutex_unlock(&t->m);
    return g;
}

int mechd_coupling_list(struct mechd_couplings *t, struct mechd_coupling ***out, size_t *count)
{
    pthread_mutex_lock(&t->m);
    size_t n = (size_t)t->count;
    struct mechd_coupling **const all = calloc(n + 1, sizeof *all);
    *count = all != NULL ? n : 0;
    for (struct mechd_coupling *g = t->newest; all != NULL && g != NULL; g = g->next) {
        mechd_coupling_ref(g);
        all[--n] = g;
    }
    pthread_mutex_unlock(&t->m);
    *out = all;
    return all != NULL ? 0 : MECH_NO_MEMORY;
}

int mechd_couplings_count(struct mechd_couplings *t)
{
    pthread_mutex_lock(&t->m);
    const int count = t->count;
    pthread_mutex_unlock(&t->m);
    return count;
}

bool mechd_coupling_remove(struct mechd_couplings *t, struct mechd_coupling *g)
{
    pthread_mutex_lock(&t->m);
    struct mechd_coupling **at = &t->newest;
    while (*at != NULL && *at != g) {
        at = &(*at)->next;
    }
    const bool found = *at == g;
    if (found) {
        *at = g->next;
        t->count--;
    }
    pthread_mutex_unlock(&t->m);
    if (found) {
        (void)mechd_stop_raise(&g->ended, MECHD_STOP_DELETED);
        mechd_keep_close(g);
        mechd_face_close(g);
        mechd_outsides_end(g);
        for (int32_t n = 0; n < g->count; n++) {
            (void)mechd_instance_stop(g->parts[n].instance);
            mechd_instance_use(g->parts[n].instance);
            (void)mechd_leases_drop(&g->parts[n].instance->leases, g->parts[n].lease);
        }
        mechd_coupling_unref(g);
    }
    return found;
}

bool mechd_coupling_end(struct mechd_coupling *g)
{
    if (!mechd_stop_raise(&g->ended, MECHD_STOP_DELETED)) {
        return false;
    }
    for (int32_t n = 0; n < g->count; n++) {
        (void)mechd_instance_stop(g->parts[n].instance);
    }
    return true;
}

void mechd_coupling_ref(struct mechd_coupling *g)
{
    atomic_fetch_add(&g->refs, 1);
}

void mechd_coupling_unref(struct mechd_coupling *g)
{
    if (g == NULL || atomic_fetch_sub(&g->refs, 1) != 1) {
        return;
    }
    mechd_trial_drop(g);
    mechd_keep_fini(g);
    mechd_coupling_snapshots_free(g);
    for (int32_t n = 0; n < g->count && g->parts != NULL; n++) {
        struct mechd_part *const p = &g->parts[n];
        if (p->instance != NULL && p->lease != 0) {
            (void)mechd_leases_drop(&p->instance->leases, p->lease);
        }
        if (p->outside != NULL) {
            mechd_outside_remove(g->service->outsides, p->outside);
            mechd_outside_unref(p->outside);
            mechd_instance_close(p->instance); // its memory was charged
        }
        if (p->instance != NULL) {
            mechd_instance_refund(p->instance, MECHD_QUOTA_MEMORY, p->charged);
            mechd_instance_unref(p->instance);
        }
        free(p->in);
        free(p->out);
        free(p->changes);
        free(p->numbers);
        free(p->outputs);
        free(p->moments);
        free(p->jacobian);
        free(p->taylor);
        free(p->sums);
        free(p->start);
    }
    free(g->shown);
    if (g->face != NULL) {
        mechd_instance_close(g->face);
        mechd_instance_unref(g->face);
    }
    mech_couple_destroy(g->couple);
    mechd_reading_free(g->reading);
    mechd_share_fini(g);
    free(g->name);
    free(g->document);
    free(g->parts);
    free(g->order);
    for (int32_t n = 0; n < g->connection_count; n++) {
        free(g->connections[n]);
    }
    free(g->connections);
    free(g->bonds);
    pthread_mutex_destroy(&g->m);
    pthread_mutex_destroy(&g->nap_m);
    free(g);
}

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

void mechd_coupling_write_outputs(const void *coupling, struct mechp_text *w)
{
    const struct mechd_coupling *const g = coupling;
    mechp_text_object(w);
    for (int32_t n = 0; n < g->count; n++) {
        const struct mechd_part *const p = &g->parts[n];
        if (p->shown) {
            mechd_engine_get_outputs(&p->instance->engine, p->outputs);
        }
    }
    for (size_t k = 0; k < g->shown_count; k++) {
        const struct mechd_shown *const o = &g->shown[k];
        const struct mechd_part *const p = &g->parts[o->part];
        struct mech_variable v;
        mechd_engine_variable(&p->instance->engine, MECH_OUTPUT_VARIABLE, (size_t)o->index, &v);
        mechp_text_key_of(w, (const char *const[]){p->name, ".", v.name}, 3);
        mechd_write_value(&v, p->outputs + v.offset, w);
    }
    mechp_text_end(w);
}

static bool is_step(const struct mechd_coupling_command *k)
{
    return k->kind == MECHD_COUPLING_STEP || k->kind == MECHD_COUPLING_TRIAL;
}

double mechd_coupling_time(const struct mechd_coupling *g)
{
    return g->opened ? mech_couple_time(g->couple)
                     : mechd_engine_time(&g->parts[0].instance->engine);
}

void mechd_coupling_write_state(struct mechd_coupling *g, struct mechp_text *w)
{
    const struct mechp_body_coupling_commit_reply body = {
        mechd_coupling_time(g), mech_couple_windows(g->couple), {mechd_coupling_write_outputs, g}};
    MECHP_WRITE(coupling_commit_reply, &body, w);
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

bool mechd_coupling_warns(const struct mechd_coupling *g, double size,
                          char text[MECHD_COUPLING_WARNING])
{
    if (!(size > g->stable_most)) {
        return false;
    }
    if (g->stable_most > 0.) {
        mech_text_format(text, MECHD_COUPLING_WARNING,
                         "windows of %.9g s are unstable: %.9g s is the largest stable size by the "
                         "stability report of window %" PRIu64,
                         size, g->stable_most, g->stable_window);
    } else {
        mech_text_format(text, MECHD_COUPLING_WARNING,
                         "windows of %.9g s are unstable: no size is stable by the stability "
                         "report of window %" PRIu64,
                         size, g->stable_window);
    }
    return true;
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
    const int outcome = add(g->service->couplings, g);
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
