/* POST /v1/couplings with a system structure package. Its FMUs are uploads without a place in the
 * list: they are removed from it as soon as their instances are there, and end with the last of
 * these. Instances and coupling are made by their own operations, from bodies that are written
 * here; whatever refuses one of them, those before it are deleted before the answer goes out, but
 * for those that another client has coupled or leased meanwhile. */
#include "server/operations/ssp.h"

#include "protocol/wire/json.h"
#include "server/call/service.h"
#include "server/engine/fmu_archive.h"
#include "server/engine/ssp.h"
#include "server/operations/couplings.h"
#include "server/operations/fmus.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

_Static_assert((int)MECHD_SSP_COMPONENTS_MOST <= (int)MECHD_COUPLING_PARTS,
               "each component is a participant");

/* A request in progress. owner: as the call's. */
struct upload {
    struct mechd_coupling_command k;                         /* that starts the coupling */
    void (*answer)(struct mechd_call *c);                    /* the door's */
    char made[MECHD_SSP_COMPONENTS_MOST][MECH_NAME_MAX + 1]; /* [count] ids of instances */
    size_t count;
    struct mechd_archive *archive;
    struct mechd_ssp ssp;
    struct mechd_fmu_package *packages[MECHD_SSP_COMPONENTS_MOST]; /* references, by source */
    char fids[MECHD_SSP_COMPONENTS_MOST][MECH_NAME_MAX + 1];       /* "": not in the table */
    size_t opened;
    uint64_t expanded; /* bytes of the files of the FMUs so far */
};

static void free_upload(struct mechd_call *c)
{
    free(c->work);
}

/* What is needed only until the instances are there. */
static void close_package(struct mechd_call *c, struct upload *u)
{
    for (size_t k = 0; k < u->opened; k++) {
        if (u->fids[k][0] != '\0') {
            mechd_fmus_drop(c, u->fids[k]);
        }
        mechd_fmu_package_unref(u->packages[k]);
    }
    u->opened = 0;
    mechd_ssp_fini(&u->ssp);
    mechd_archive_close(u->archive);
    u->archive = NULL;
}

/* The lease of the refused coupling, whose command may hold it still; 0: none. */
static uint64_t own_lease(const struct mechd_coupling *g, const struct mechd_instance *i)
{
    for (int32_t n = 0; g != NULL && n < g->count; n++) {
        if (g->parts[n].instance == i) {
            return g->parts[n].lease;
        }
    }
    return 0;
}

/* An instance that has been made is deleted, unless another client holds it by now. */
static void delete_unless_held(struct mechd_instance *i, uint64_t lease)
{
    struct mechd_holder holder;
    int outcome = mechd_leases_begin(&i->leases, lease, MECHD_ACT_CHANGE, &holder);
    if (outcome == MECH_NOT_FOUND) {
        lease = 0;
        outcome = mechd_leases_begin(&i->leases, lease, MECHD_ACT_CHANGE, &holder);
    }
    if (outcome == 0) {
        (void)mechd_instance_delete(i, NULL);
        mechd_leases_end(&i->leases, lease);
    }
}

/* The reply is complete: nothing remains of what has been refused. */
static void answer(struct mechd_call *c)
{
    struct upload *const u = c->work;
    for (size_t k = 0; k < u->count && c->code != MECHP_OK; k++) {
        struct mechd_instance *const i = mechd_table_find(&c->service->host.table, u->made[k]);
        if (i != NULL) {
            delete_unless_held(i, own_lease(u->k.coupling, i));
        }
        mechd_instance_unref(i);
    }
    mechd_coupling_unref(u->k.coupling);
    u->k.coupling = NULL;
    c->answer = u->answer;
    c->answer(c);
}

/* --- the package ------------------------------------------------------------------------------ */

static int read_file(void *of, const char *path, char **text, size_t *size, struct mech_diag *diag)
{
    const struct upload *const u = of;
    return mechd_archive_read(u->archive, path, MECHD_SSP_SIZE_MOST, text, size, diag);
}

/* False: refused. */
static bool good(struct mechd_call *c, int outcome)
{
    if (outcome < 0) {
        mechd_fail_outcome(c, outcome);
    }
    return outcome == 0 && !mechd_call_faulty(c) && c->code == MECHP_OK;
}

/* All FMUs together expand to no more than one archive of the size of the package may: limits of
 * each alone would multiply with those of the package. What is no archive is refused later. */
static bool check_expanded(struct mechd_call *c, struct upload *u, const void *bytes, size_t size,
                           const char *base)
{
    const struct mechd_archive_limits limits = mechd_archive_limits();
    const uint64_t most = c->size < limits.total / limits.factor
                              ? ((uint64_t)c->size + 1) * limits.factor
                              : limits.total;
    struct mechd_archive *inner = NULL;
    struct mech_diag faults;
    mech_diag_init(&faults);
    const int outcome = mechd_archive_open(bytes, size, limits, &inner, &faults);
    mech_diag_fini(&faults);
    for (size_t k = 0; outcome == 0 && k < mechd_archive_count(inner); k++) {
        u->expanded += mechd_archive_at(inner, k).size;
    }
    mechd_archive_close(inner);
    if (u->expanded > most) {
        mech_diag_add(&c->diag, base, "the FMUs of the package expand to more than %llu bytes",
                      (unsigned long long)most);
    }
    return good(c, outcome < 0 ? outcome : 0);
}

/* The FMU of a source. False: refused. */
static bool open_fmu(struct mechd_call *c, struct upload *u, size_t k)
{
    const char *const path = u->ssp.sources[k];
    char *bytes = NULL, base[MECH_DIAG_PATH] = "/";
    size_t size = 0;
    if (mechd_call_ends(c)) {
        mechd_fail(c, MECHP_CANCELLED, "cancelled; nothing remains of it");
        return false;
    }
    if (!good(c, mechd_archive_read(u->archive, path, mechd_archive_limits().file, &bytes, &size,
                                    &c->diag))) {
        return false;
    }
    mech_text_copy(base + 1, sizeof base - 1, path);
    if (!check_expanded(c, u, bytes, size, base)) {
        free(bytes);
        return false;
    }
    u->packages[k] = mechd_fmus_open_bytes(c, bytes, size, base);
    free(bytes);
    u->opened += u->packages[k] != NULL;
    return u->packages[k] != NULL && mechd_fmus_keep(c, u->packages[k], u->fids[k]);
}

/* Structure and FMUs. False: refused. */
static bool open_package(struct mechd_call *c, struct upload *u)
{
    const struct mechd_fmu_description *descriptions[MECHD_SSP_COMPONENTS_MOST];
    const struct mechd_ssp_files files = {.read = read_file, .of = u};
    if (!good(c, mechd_archive_open(c->bytes, c->size, mechd_archive_limits(), &u->archive,
                                    &c->diag)) ||
        !good(c, mechd_ssp_read(&files, &u->ssp, &c->diag))) {
        return false;
    }
    for (size_t k = 0; k < u->ssp.source_count; k++) {
        if (!open_fmu(c, u, k)) {
            return false;
        }
        descriptions[k] = &u->packages[k]->description;
    }
    return good(c, mechd_ssp_join(&u->ssp, descriptions, &c->diag));
}

/* --- instances -------------------------------------------------------------------------------- */

/* A number, or a list where the variable is an array; NULL: no memory. */
static json_t *start_of(const struct mechd_ssp_start *s)
{
    if (s->variable->dimension_count == 0 && s->count == 1) {
        return json_real(s->values[0]);
    }
    json_t *list = json_array();
    for (size_t k = 0; k < s->count; k++) {
        if (json_array_append_new(list, json_real(s->values[k])) != 0) {
            json_decref(list);
            return NULL;
        }
    }
    return list;
}

/* The body of a component's instance; NULL: no memory. */
static json_t *body_of(const struct upload *u, size_t n)
{
    json_t *const start = json_object();
    for (size_t k = 0; k < u->ssp.start_count; k++) {
        const struct mechd_ssp_start *const s = &u->ssp.starts[k];
        if (s->component == n && json_object_set_new(start, s->variable->name, start_of(s)) != 0) {
            json_decref(start);
            return NULL;
        }
    }
    return json_pack("{s:s, s:o}", "fmu", u->fids[u->ssp.components[n].source], "start", start);
}

/* A refusal of an inner call, of this component. */
static void take_over(struct mechd_call *c, const struct mechd_call *inner, const char *name)
{
    char base[MECH_DIAG_PATH];
    (void)snprintf(base, sizeof base, "/SystemStructure.ssd/%.64s", name);
    mech_diag_append(&c->diag, &inner->diag, base);
    c->excess = inner->excess;
    c->why = inner->why;
    if (inner->code == MECHP_NOT_FOUND) {
        mechd_fail(c, MECHP_CANCELLED, "component %.64s: its FMU has been deleted meanwhile", name);
        return;
    }
    mechd_fail(c, inner->code, "component %.64s%s%.160s", name,
               inner->detail[0] != '\0' ? ": " : "", inner->detail);
}

/* The instance of a component, as its own request makes one. False: refused. */
static bool create(struct mechd_call *c, struct upload *u, size_t n)
{
    struct mechd_call inner;
    mechd_call_init(&inner, c->service, MECHD_DOOR_JSON);
    inner.match.route = mechp_route_at(MECHP_ROUTE_CREATE);
    inner.operation = mechd_operation(c->service, inner.match.route);
    inner.who = c->who;
    inner.gone = c->gone;
    inner.whole = &c->stop;
    inner.body = body_of(u, n);
    if (inner.body == NULL) {
        mechd_fail_outcome(&inner, MECH_NO_MEMORY);
    } else {
        (void)inner.operation->run(&inner);
    }
    const bool made = !mechd_call_faulty(&inner) && inner.code == MECHP_OK;
    if (made) {
        // "/v1/instances/i-1"
        (void)snprintf(u->made[u->count++], sizeof *u->made, "%.64s",
                       strrchr(inner.location, '/') + 1);
    } else {
        take_over(c, &inner, u->ssp.components[n].name);
    }
    mechd_call_fini(&inner);
    return made;
}

static bool create_all(struct mechd_call *c, struct upload *u)
{
    for (size_t n = 0; n < u->ssp.component_count; n++) {
        if (mechd_call_ends(c)) {
            mechd_fail(c, MECHP_CANCELLED, "cancelled; nothing remains of it");
            return false;
        }
        if (!create(c, u, n)) {
            return false;
        }
    }
    return true;
}

/* --- the coupling ----------------------------------------------------------------------------- */

/* What this server has written beside the structure. NULL: refused; an empty object: nothing. */
static json_t *read_settings(struct mechd_call *c, const struct upload *u)
{
    struct mechp_json_fault fault;
    json_t *settings = NULL;
    if (u->ssp.settings == NULL) {
        settings = json_object();
    } else if (mechp_json_parse(u->ssp.settings, strlen(u->ssp.settings), NULL, &fault,
                                &settings) != 0) {
        mech_diag_add(&c->diag, "/SystemStructure.ssd", "settings of the coupling: %.160s",
                      fault.text);
    } else if (!json_is_object(settings)) {
        mech_diag_add(&c->diag, "/SystemStructure.ssd",
                      "settings of the coupling: must be an object");
        json_decref(settings);
        settings = NULL;
    }
    return settings;
}

/* The least step of the default experiments of the FMUs, s; NaN: none has one. */
static double least_step(const struct upload *u)
{
    double least = (double)NAN;
    for (size_t k = 0; k < u->opened; k++) {
        const double h = u->packages[k]->description.step_size;
        least = h > 0. && !(least <= h) ? h : least;
    }
    return least;
}

/* Scheme and windows: of the query, else of the settings, else a preset. False: no memory. */
static bool set_scheme(struct mechd_call *c, const struct upload *u, json_t *settings,
                       json_t *document)
{
    if (json_object_update_missing(document, settings) != 0 ||
        !mechd_couplings_override(c, document)) {
        return false;
    }
    if (json_object_get(document, "scheme") == NULL &&
        json_object_set_new(document, "scheme", json_pack("{s:s}", "type", "Jacobi")) != 0) {
        return false;
    }
    const bool said = json_object_get(document, "stepSize") != NULL;
    if (!said && isfinite(least_step(u))) {
        return json_object_set_new(document, "stepSize", json_real(least_step(u))) == 0;
    }
    if (!said) {
        mech_diag_add(&c->diag, "/window",
                      "the size of a window in s is needed: no FMU of the package has a step size");
    }
    return true;
}

/* Its instances by their names, and what connects them, into lists. False: no memory. */
static bool list_all(const struct upload *u, json_t *participants, json_t *connections)
{
    bool good = true;
    for (size_t n = 0; n < u->count && good; n++) {
        good = json_array_append_new(participants,
                                     json_pack("{s:s, s:s}", "name", u->ssp.components[n].name,
                                               "instance", u->made[n])) == 0;
    }
    for (size_t k = 0; k < u->ssp.link_count && good; k++) {
        const struct mechd_ssp_link *const l = &u->ssp.links[k];
        json_t *const from = json_sprintf("%s.%s", u->ssp.components[l->from].name, l->output);
        json_t *const to = json_sprintf("%s.%s", u->ssp.components[l->to].name, l->input);
        good = json_array_append_new(connections,
                                     json_pack("{s:o, s:o, s:f, s:f}", "from", from, "to", to,
                                               "factor", l->factor, "offset", l->offset)) == 0;
    }
    return good;
}

/* The request that couples the instances. False: refused. */
static bool write_document(struct mechd_call *c, const struct upload *u)
{
    json_t *const settings = read_settings(c, u);
    json_t *const participants = json_array(), *const connections = json_array();
    const bool listed = list_all(u, participants, connections);
    json_decref(c->body);
    c->body = json_pack("{s:s, s:o, s:o}", "name", u->ssp.name, "participants", participants,
                        "connections", connections);
    if (!listed || c->body == NULL || (settings != NULL && !set_scheme(c, u, settings, c->body))) {
        mechd_fail_outcome(c, MECH_NO_MEMORY);
    }
    json_decref(settings);
    return !mechd_call_faulty(c) && c->code == MECHP_OK;
}

/* The call waits already. */
static void wait_no_more(struct mechd_job *job)
{
    (void)job;
}

/* On the pool. */
static void run_upload(struct mechd_task *task)
{
    struct mechd_call *const c =
        (struct mechd_call *)((char *)task - offsetof(struct mechd_call, task));
    struct upload *const u = c->work;
    const bool made = open_package(c, u) && create_all(c, u) && write_document(c, u);
    close_package(c, u);
    struct mechd_coupling *const g = made ? mechd_coupling_open(c, false) : NULL;
    if (g == NULL) {
        mechd_call_over(c);
        return;
    }
    u->k.coupling = g;
    c->job.wait = wait_no_more;
    // the first command of a coupling always fits; the reference is given back with the answer
    (void)mechd_coupling_submit(&u->k);
}

enum mechd_submitted mechd_ssp_couple(struct mechd_call *c)
{
    if (c->who.scope < MECHP_SCOPE_FMU) {
        mechd_fail(c, MECHP_FORBIDDEN, "a package has FMUs: this needs the scope %s; %s has %s",
                   mechp_scope_names[MECHP_SCOPE_FMU], c->who.name,
                   mechp_scope_names[c->who.scope]);
        return MECHD_RAN;
    }
    if (mechd_fmus_check_on(c) != 0) {
        return MECHD_RAN;
    }
    struct upload *const u = calloc(1, sizeof *u);
    if (u == NULL) {
        mechd_fail_outcome(c, MECH_NO_MEMORY);
        return MECHD_RAN;
    }
    u->k = (struct mechd_coupling_command){
        .call = c, .kind = MECHD_COUPLING_START, .until = (double)NAN, .expect = (double)NAN};
    u->answer = c->answer;
    c->work = u;
    c->work_free = free_upload;
    c->answer = answer;
    c->task.run = run_upload;
    c->job.wait(&c->job);
    mechd_pool_push(&c->service->host.pool, &c->task);
    return MECHD_QUEUED;
}
