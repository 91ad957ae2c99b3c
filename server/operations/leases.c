/* …/lease: who may change an instance. POST takes a lease, PATCH changes and renews it, DELETE
 * releases it or (admin) revokes those of others, GET lists them.
 *
 * None of them waits for a command that is in progress: they come between two slices of it. */
#include "protocol/wire/bodies.h"
#include "protocol/wire/json.h"
#include "server/call/query.h"
#include "server/call/service.h"
#include "server/call/shapes.h"
#include "server/os/log.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* A wish as the body has it, and the memory of its channels. */
struct wish {
    struct mechd_lease_wish w;
    const char *channels[MECHD_CHANNELS_MOST];
};

/* Names of inputs, each once. */
static void read_channels(struct mechd_call *c, const json_t *names, struct wish *to)
{
    if (names == NULL) {
        return;
    }
    if (json_array_size(names) > MECHD_CHANNELS_MOST) {
        mech_diag_add(&c->diag, "/channels", "at most %d channels", MECHD_CHANNELS_MOST);
        return;
    }
    const struct mechd_engine *engine = &c->job.instance->engine;
    to->w.channels = to->channels;
    to->w.channel_count = json_array_size(names);
    for (size_t k = 0; k < to->w.channel_count; k++) {
        const char *name = json_string_value(json_array_get(names, k));
        char path[40];
        snprintf(path, sizeof path, "/channels/%zu", k);
        to->channels[k] = name != NULL ? name : "";
        if (name == NULL || mechd_engine_variable_find(engine, MECH_INPUT, name) < 0) {
            mechd_engine_lacks(engine, MECH_INPUT, name, path, &c->diag);
        }
        for (size_t j = 0; j < k; j++) {
            if (strcmp(to->channels[j], to->channels[k]) == 0) {
                mech_diag_add(&c->diag, path, "'%.64s' is listed twice", to->channels[k]);
            }
        }
    }
}

/* The body; what is not given stays −1, NULL, NAN. */
static void read_wish(struct mechd_call *c, struct wish *to)
{
    struct mechp_body_lease_request in;
    mechp_body_read(mechd_call_row(c)->body, &(struct mechp_json_in){c->body, "", &c->diag}, &in);
    to->w = (struct mechd_lease_wish){.role = in.role, .seconds = in.seconds, .name = in.name};
    read_channels(c, in.channels.of, to);
    if (!isnan(in.seconds) &&
        !(in.seconds >= mechd_lease_least && in.seconds <= mechd_lease_most)) {
        mech_diag_add(&c->diag, "/seconds", "must be from %g to %g", mechd_lease_least,
                      mechd_lease_most);
    }
    if (in.name != NULL && !mech_name_valid(in.name)) {
        mech_diag_add(&c->diag, "/name",
                      "a name must have 1 to 64 characters of A-Z a-z 0-9 . _ -");
    }
}

/* Only a co-driver has channels, and it has some. `given`: they are in the request. */
static void check_channels(struct mechd_call *c, int role, bool given, size_t count)
{
    if (role == MECHD_ROLE_CO_DRIVER && count == 0) {
        mech_diag_add(&c->diag, "/channels", "a co-driver names the inputs that it sets");
    } else if (role != MECHD_ROLE_CO_DRIVER && given && count > 0) {
        mech_diag_add(&c->diag, "/channels", "only a co-driver has channels");
    }
}

/* Refuse by the outcome of a lease. */
static enum mechd_progress refuse(struct mechd_call *c, int outcome,
                                  const struct mechd_holder *holder)
{
    if (outcome == MECH_UNSUPPORTED) {
        return mechd_fail(c, MECHP_LIMIT_REACHED, "%s has %d leases, as many as it can have",
                          c->job.instance->id, MECHD_LEASES_MOST);
    }
    if (outcome < 0) {
        return mechd_fail_outcome(c, outcome);
    }
    return mechd_fail_lease(c, c->job.instance, holder);
}

static void write_lease(struct mechd_call *c, uint64_t number)
{
    mechp_text_object(&c->text);
    if (!mechd_leases_write_one(&c->job.instance->leases, number, &c->text)) {
        mechd_fail(c, MECHP_FOREIGN_LEASE, "the lease has ended");
    }
    mechp_text_end(&c->text);
}

static enum mechd_progress run_take(struct mechd_call *c)
{
    struct mechd_instance *i = c->job.instance;
    struct mechd_holder holder;
    struct wish wish;
    uint64_t number = 0;
    read_wish(c, &wish);
    if (wish.w.role == MECHP_NO_WORD) {
        mech_diag_add(&c->diag, "/role", "must be owner, co-driver or observer");
    } else if (mech_diag_clean(&c->diag)) {
        check_channels(c, wish.w.role, true, wish.w.channel_count);
    }
    if (mechd_call_faulty(c)) {
        return MECHD_DONE;
    }
    wish.w.seconds = isnan(wish.w.seconds) ? mechd_lease_preset : wish.w.seconds;
    wish.w.name = wish.w.name != NULL ? wish.w.name : c->who.name;
    const int outcome = mechd_leases_take(&i->leases, &wish.w, &number, &holder);
    if (outcome != 0) {
        return refuse(c, outcome, &holder);
    }
    mechd_count(&c->service->host.counters.leases, 1);
    mechd_reaper_meet(&c->service->host.reaper, atomic_load(&i->leases.due));
    c->status = 201;
    snprintf(c->location, sizeof c->location, "/v1/instances/%s/lease", i->id);
    write_lease(c, number);
    return MECHD_DONE;
}

static int prepare_take(struct mechd_call *c)
{
    return c->body != NULL ? 0 : mechd_refuse(c, MECHP_MALFORMED_REQUEST, "a body is needed");
}

const struct mechd_operation mechd_operation_TAKE_LEASE = {.run = run_take,
                                                           .prepare = prepare_take};

static enum mechd_progress run_change(struct mechd_call *c)
{
    struct mechd_instance *i = c->job.instance;
    struct mechd_holder holder = {.role = -1};
    struct wish wish;
    read_wish(c, &wish);
    if (wish.w.role >= 0 && (wish.w.role != MECHD_ROLE_CO_DRIVER || wish.w.channels != NULL)) {
        check_channels(c, wish.w.role, true, wish.w.channel_count);
    }
    if (mechd_call_faulty(c)) {
        return MECHD_DONE;
    }
    const int outcome = mechd_leases_change(&i->leases, c->lease, &wish.w, &holder);
    if (outcome == MECH_MISMATCH) {
        mech_diag_add(&c->diag, "/channels", "only a co-driver has channels");
        return MECHD_DONE;
    }
    if (outcome != 0) {
        return refuse(c, outcome, &holder);
    }
    mechd_reaper_meet(&c->service->host.reaper, atomic_load(&i->leases.due));
    write_lease(c, c->lease);
    return MECHD_DONE;
}

const struct mechd_operation mechd_operation_CHANGE_LEASE = {.run = run_change};

/* Those of others, by an admin. */
static enum mechd_progress break_leases(struct mechd_call *c, int role)
{
    struct mechd_instance *i = c->job.instance;
    if (role < 0) {
        return MECHD_DONE;
    }
    if (c->who.scope < MECHP_SCOPE_ADMIN) {
        return mechd_fail(c, MECHP_FORBIDDEN, "revoking a lease needs the scope admin; %s has %s",
                          c->who.name, mechp_scope_names[c->who.scope]);
    }
    const int count = mechd_leases_break(&i->leases, (enum mechd_role)role);
    if (count == 0) {
        return mechd_fail(c, MECHP_NOT_FOUND, "%s has no %s", i->id, mechd_role_names[role]);
    }
    mechd_log(MECHD_WARNING, "lease-broken", "instance=%s role=%s count=%d token=%s", i->id,
              mechd_role_names[role], count, c->who.name[0] != '\0' ? c->who.name : "-");
    c->status = 204;
    return MECHD_DONE;
}

static enum mechd_progress run_drop(struct mechd_call *c)
{
    struct mechp_query_drop_lease asked;
    MECHD_ASK(drop_lease, c, &asked);
    if (asked.of != MECHP_NO_WORD || mechd_call_faulty(c)) {
        return break_leases(c, asked.of);
    }
    if (!mechd_leases_drop(&c->job.instance->leases, c->lease)) {
        const struct mechd_holder no_holder = {.role = -1};
        return mechd_fail_lease(c, c->job.instance, &no_holder);
    }
    c->status = 204;
    return MECHD_DONE;
}

const struct mechd_operation mechd_operation_DROP_LEASE = {.run = run_drop};

static void write_items(const void *of, struct mechp_text *w)
{
    struct mechd_instance *const *const i = of;
    mechd_leases_write(&(*i)->leases, w);
}

static enum mechd_progress run_list(struct mechd_call *c)
{
    const struct mechp_body_lease_list body = {{write_items, &c->job.instance}};
    MECHP_WRITE(lease_list, &body, &c->text);
    return MECHD_DONE;
}

const struct mechd_operation mechd_operation_LEASES = {.run = run_list};
