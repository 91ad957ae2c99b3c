/* POST /v1/instances, PUT /v1/instances/{id}, POST /v1/models/check: from a model, an example or a
 * snapshot to a simulation. Always on the pool: a small document can ask for a large system. */
#include "server/operations/create.h"
#include "protocol/bind/bind.h"
#include "protocol/wire/bodies.h"
#include "protocol/wire/json.h"
#include "server/call/service.h"
#include "server/call/shapes.h"
#include "server/examples/examples.h"
#include "server/instance/container.h"
#include "server/instance/traits.h"
#include "server/operations/fmu_instances.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Refuse with the faults of a model. */
static void fail_model(struct mechd_call *c)
{
    mechd_fail(c, MECHP_INVALID_MODEL, "the model has %zu fault%s", c->diag.total,
               c->diag.total == 1 ? "" : "s");
}

/* A document from a model in JSON. NULL: refused. */
static struct mech_document *read_model(struct mechd_call *c, const json_t *model, const char *base)
{
    struct mech_document *document = NULL;
    const int outcome = mechp_bind_read(model, base, &c->diag, &document);
    if (outcome < 0) {
        mechd_fail_outcome(c, outcome);
    } else if (outcome > 0) {
        fail_model(c);
    }
    return outcome == 0 ? document : NULL;
}

/* Faults of mech_sim_create stand at paths in the model, which is at `base`. Warnings outlive the
 * request: they stand at /model wherever the model came from. */
static void prefix_faults(struct mech_diag *d, size_t from, const char *base)
{
    if (d->count > from) {
        mech_diag_prefix(d->entries + from, d->count - from, base);
    }
    mech_diag_prefix(d->warnings, d->warning_count, "/model");
}

static struct mech_sim *build(struct mechd_call *c, const json_t *model, const char *base,
                              bool for_state)
{
    struct mech_document *document = read_model(c, model, base);
    if (document == NULL) {
        return NULL;
    }
    struct mech_sim *sim = NULL;
    const size_t before = c->diag.count;
    const struct mech_interrupt ask = {.wanted = mechd_call_ends, .context = c};
    const int outcome = for_state ? mech_sim_create_for_state(document, &ask, &c->diag, &sim)
                                  : mech_sim_create_asking(document, &ask, &c->diag, &sim);
    prefix_faults(&c->diag, before, base);
    if (outcome == 0) {
        return sim;
    }
    mech_document_destroy(document);
    if (outcome == MECH_INVALID) {
        fail_model(c);
    } else {
        mechd_fail_outcome(c, outcome);
    }
    return NULL;
}

struct mech_sim *mechd_build(struct mechd_call *c, const json_t *model, const char *base)
{
    return build(c, model, base, false);
}

json_t *mechd_build_example(struct mechd_call *c, const char *name)
{
    const struct mechd_example *example = mechd_example_find(name);
    if (example == NULL) {
        const char *const meant = mechd_example_closest(name);
        if (meant != NULL) {
            mech_diag_add(&c->diag, "/example", "there is no example '%.64s', did you mean '%s'?",
                          name, meant);
        } else {
            mech_diag_add(&c->diag, "/example", "there is no example '%.64s'", name);
        }
        return NULL;
    }
    struct mechp_json_fault fault;
    json_t *model = NULL;
    if (mechp_json_parse(example->text, example->size, NULL, &fault, &model) != 0) {
        const bool starved = fault.code == MECHP_OUT_OF_MEMORY;
        mechd_fail(c, starved ? fault.code : MECHP_INTERNAL, "example %.64s: %s", name, fault.text);
        return NULL;
    }
    return model;
}

/* From the text of an example. */
static struct mech_sim *build_example(struct mechd_call *c, const char *name)
{
    json_t *model = mechd_build_example(c, name);
    struct mech_sim *sim = model != NULL ? mechd_build(c, model, "/model") : NULL;
    json_decref(model);
    return sim;
}

/* From the bytes of a container: the model, then the state. */
static struct mech_sim *build_snapshot(struct mechd_call *c, const void *bytes, size_t size)
{
    struct mechd_container parts;
    if (mechd_container_read(bytes, size, &parts) != 0) {
        mechd_fail(c, MECHP_SNAPSHOT_MISMATCH, "the bytes are not a snapshot, or are damaged");
        return NULL;
    }
    struct mechp_json_fault fault;
    json_t *model = NULL;
    if (mechp_json_parse(parts.model, parts.model_size, NULL, &fault, &model) != 0) {
        const bool starved = fault.code == MECHP_OUT_OF_MEMORY;
        mechd_fail(c, starved ? fault.code : MECHP_SNAPSHOT_MISMATCH, "the snapshot's model: %s",
                   fault.text);
        return NULL;
    }
    struct mech_sim *sim = build(c, model, "/snapshot", true);
    json_decref(model);
    bool reproducible = true;
    if (sim != NULL && mech_sim_snapshot_read(sim, parts.state, parts.state_size, &reproducible)) {
        mech_sim_destroy(sim);
        mechd_fail(c, MECHP_SNAPSHOT_MISMATCH, "the snapshot's state does not fit its model");
        return NULL;
    }
    return sim;
}

/* From base64 in the body. */
static struct mech_sim *build_base64(struct mechd_call *c, const char *text)
{
    size_t size = 0;
    unsigned char *bytes = mechd_base64_decode(text, strlen(text), &size);
    if (bytes == NULL) {
        mech_diag_add(&c->diag, "/snapshot", "not base64");
        return NULL;
    }
    struct mech_sim *sim = build_snapshot(c, bytes, size);
    free(bytes);
    return sim;
}

/* The engine of the one source that the request names. False: refused. */
static bool make_engine(struct mechd_call *c, const struct mechp_body_create_request *in,
                        struct mechd_engine *out)
{
    struct mech_sim *sim = NULL;
    if (c->bytes != NULL) {
        sim = build_snapshot(c, c->bytes, c->size);
        *out = mechd_engine_of_sim(sim);
        return sim != NULL;
    }
    const int sources =
        (in->model.of != NULL) + (in->example != NULL) + (in->snapshot != NULL) + (in->fmu != NULL);
    if (sources != 1) {
        mech_diag_add(&c->diag, "", "exactly one of model, example, snapshot and fmu is needed");
        return false;
    }
    if (in->fmu != NULL) {
        return mechd_fmu_engine(c, in->fmu, in->start.of, out);
    }
    sim = in->model.of != NULL  ? mechd_build(c, in->model.of, "/model")
          : in->example != NULL ? build_example(c, in->example)
                                : build_base64(c, in->snapshot);
    *out = mechd_engine_of_sim(sim);
    return sim != NULL;
}

/* What the request says, or the daemon's preset. */
static struct mechd_durable_settings durability_of(struct mechd_call *c, const json_t *given,
                                                   bool fmu)
{
    const int preset =
        fmu ? MECHD_DURABLE_NONE : mechd_durability_find(c->service->config.durability);
    const struct mechd_durable_settings s =
        mechd_durability_read(given, (enum mechd_durability)preset, &c->diag);
    if (s.mode != MECHD_DURABLE_NONE && fmu) {
        mech_diag_add(&c->diag, "/durability", "an instance of an FMU is not stored: must be none");
    } else if (s.mode != MECHD_DURABLE_NONE && c->service->host.store == NULL) {
        mech_diag_add(&c->diag, "/durability",
                      "this server stores nothing: it was started without --state DIR");
    }
    return s;
}

/* If-Match asks for an instance that is there. 0, or refused. */
static int check_match(struct mechd_call *c)
{
    const char *const id = mechd_call_value(c, "id");
    struct mechd_instance *const i = mechd_table_find(&c->service->host.table, id);
    char etag[48];
    int refused = 0;
    if (i == NULL) {
        refused = mechd_refuse(c, MECHP_REVISION_MISMATCH, "there is no instance %.64s", id);
    } else if (!mechd_instance_matches(i, c->if_match, etag)) {
        refused = mechd_refuse(c, MECHP_REVISION_MISMATCH, "instance %s has the ETag %s", id, etag);
    }
    mechd_instance_unref(i);
    return refused;
}

static int prepare_create(struct mechd_call *c)
{
    if (c->body == NULL && c->bytes == NULL) {
        return mechd_refuse(c, MECHP_MALFORMED_REQUEST, "a body is needed");
    }
    const bool own = (mechd_call_row(c)->traits & MECHP_NAMES_NEW) != 0;
    if (own && !mech_name_valid(mechd_call_value(c, "id"))) {
        return mechd_refuse(c, MECHP_INVALID_REQUEST,
                            "an id must have 1 to 64 characters of A-Z a-z 0-9 . _ -");
    }
    if (own && c->if_match != NULL && check_match(c) != 0) {
        return 1;
    }
    struct mechp_body_create_request in;
    MECHP_READ(create_request, c->body, &c->diag, &in);
    mechd_check_traits(c, in.labels, in.ttl);
    (void)durability_of(c, in.durability, in.fmu != NULL);
    if (in.fmu == NULL && in.start.of != NULL) {
        mech_diag_add(&c->diag, "/start", "start values are those of an FMU: `fmu` is needed");
    }
    return 0;
}

/* Post the creation to the store, with the completed reply. */
static void store(struct mechd_call *c, struct mechd_instance *i)
{
    struct mechd_excess excess;
    const int outcome = mechd_durable_begin(i, mechd_call_ticket(c), &excess);
    if (outcome == 0) {
        return;
    }
    if (outcome == MECH_UNSUPPORTED) {
        mechd_fail_quota(c, &excess);
    } else {
        mechd_fail(c, MECHP_OUT_OF_MEMORY, "no memory to store the instance");
    }
    c->status = 0;
    c->location[0] = '\0';
    c->etag[0] = '\0';
    if (mechd_table_remove(&c->service->host.table, i)) {
        mechd_instance_unref(i);
    }
}

/* The id is in use; if by a participant of a coupling, the reason says by which. */
static void fail_taken(struct mechd_call *c, const char *id)
{
    struct mechd_instance *const i = mechd_table_find(&c->service->host.table, id);
    struct mechd_holder holder;
    if (i != NULL && mechd_leases_coupled(&i->leases, &holder)) {
        mechd_fail_lease(c, i, &holder);
    } else {
        mechd_fail(c, MECHP_ID_TAKEN, "an instance %.64s exists", id);
    }
    mechd_instance_unref(i);
}

/* What an instance is given beside its simulation. */
struct origin {
    const char *id;       /* the client's, or NULL */
    const json_t *labels; /* copied; or NULL */
    struct mechd_durable_settings durability;
    double ttl; /* s, 0: it stays */
};

/* An engine becomes an instance of the table, and the reply describes it. The engine is taken. */
static enum mechd_progress keep(struct mechd_call *c, struct mechd_engine engine,
                                const struct origin *o)
{
    struct mechd_instance *i = NULL;
    if (mechd_instance_create(&c->service->host, &engine, &i) != 0) {
        mechd_engine_destroy(&engine);
        return mechd_fail(c, MECHP_OUT_OF_MEMORY, "no memory for another instance");
    }
    i->labels = json_deep_copy(o->labels);
    mechd_instance_set_ttl(i, o->ttl);
    mechd_durable_init(i, &o->durability);
    mech_diag_give_warnings(&c->diag, &i->warnings);

    struct mechd_excess excess;
    struct mechd_account *account = mechd_accounts_find(&c->service->host.accounts, c->who.name);
    if (account == NULL) {
        mechd_instance_unref(i);
        return mechd_fail(c, MECHP_OUT_OF_MEMORY, "no memory for the account");
    }
    if (!mechd_instance_open(i, account, &excess)) {
        mechd_instance_unref(i);
        return mechd_fail_quota(c, &excess);
    }
    if (!mechd_call_close(c)) {
        mechd_instance_unref(i);
        return MECHD_DONE;
    }

    // into the table, under its own id or the client's
    const int outcome = mechd_table_add(&c->service->host.table, i, o->id);
    if (outcome == MECH_INVALID) {
        fail_taken(c, o->id);
    } else if (outcome == MECH_UNSUPPORTED) {
        mechd_fail(c, MECHP_LIMIT_REACHED, "%d instances exist, as many as this server can have",
                   MECHD_INSTANCES_MOST);
    } else if (outcome != 0) {
        mechd_fail_outcome(c, outcome);
    } else {
        if (engine.ops->apart) {
            mechd_engine_fmu_call(&engine, i->id);
        }
        mechd_tell_created(i);
        mechd_count(&c->service->host.counters.created, 1);
        c->status = 201;
        snprintf(c->location, sizeof c->location, "/v1/instances/%s", i->id);
        mechd_instance_etag(i, c->etag);
        mechd_write_instance(i, false, NULL, &c->text);
        store(c, i);
    }
    mechd_instance_unref(i);
    return MECHD_DONE;
}

static enum mechd_progress run_create(struct mechd_call *c)
{
    struct mechd_engine engine;
    struct mechp_body_create_request in;
    MECHP_READ(create_request, c->body, &c->diag, &in);
    if (!make_engine(c, &in, &engine)) {
        return MECHD_DONE;
    }
    const bool own = (mechd_call_row(c)->traits & MECHP_NAMES_NEW) != 0;
    const struct origin o = {.id = own ? mechd_call_value(c, "id") : NULL,
                             .labels = in.labels,
                             .durability = durability_of(c, in.durability, in.fmu != NULL),
                             .ttl = json_number_value(in.ttl)};
    return keep(c, engine, &o);
}

const struct mechd_operation mechd_operation_CREATE = {.run = run_create,
                                                       .prepare = prepare_create};

const struct mechd_operation mechd_operation_CREATE_AS = {.run = run_create,
                                                          .prepare = prepare_create};

static int prepare_clone(struct mechd_call *c)
{
    struct mechp_body_clone_request in;
    MECHP_READ(clone_request, c->body, &c->diag, &in);
    if (in.as != NULL && !mech_name_valid(in.as)) {
        mech_diag_add(&c->diag, "/as", "an id must have 1 to 64 characters of A-Z a-z 0-9 . _ -");
    }
    mechd_check_traits(c, in.labels, in.ttl);
    (void)durability_of(c, in.durability, false);
    return 0;
}

/* The model goes through its text, the state through a snapshot: what the next step reads is the
 * same, bit for bit. Snapshots, partners and the run stay with the original. */
static enum mechd_progress run_clone(struct mechd_call *c)
{
    struct mechd_instance *i = c->job.instance;
    size_t size = 0;
    void *bytes = mechd_container_of(i, &size);
    if (bytes == NULL) {
        return mechd_fail(c, MECHP_OUT_OF_MEMORY, "no memory for the copy");
    }
    struct mech_sim *sim = build_snapshot(c, bytes, size);
    free(bytes);
    if (sim == NULL) {
        return MECHD_DONE;
    }
    struct mechp_body_clone_request in;
    MECHP_READ(clone_request, c->body, &c->diag, &in);
    json_t *own = mechd_instance_labels(i);
    struct origin o = {.id = in.as,
                       .labels = in.labels != NULL ? in.labels : own,
                       .durability = i->durable.settings,
                       .ttl = in.ttl != NULL ? json_number_value(in.ttl) : mechd_instance_ttl(i)};
    if (in.durability != NULL) {
        o.durability = durability_of(c, in.durability, false);
    }
    const enum mechd_progress progress = keep(c, mechd_engine_of_sim(sim), &o);
    mechd_instance_labels_unref(i, own);
    return progress;
}

const struct mechd_operation mechd_operation_CLONE = {.run = run_clone, .prepare = prepare_clone};

static void write_warnings(const void *found, struct mechp_text *w)
{
    mechp_problem_list_warnings(found, w);
}

static enum mechd_progress run_check(struct mechd_call *c)
{
    struct mechp_body_check_request in;
    MECHP_READ(check_request, c->body, &c->diag, &in);
    if (in.model.of == NULL) {
        mech_diag_add(&c->diag, "/model", "a model is needed");
        return MECHD_DONE;
    }
    struct mech_document *document = read_model(c, in.model.of, "/model");
    if (document == NULL) {
        return MECHD_DONE;
    }
    const size_t before = c->diag.count;
    const struct mech_interrupt ask = {.wanted = mechd_call_ends, .context = c};
    const int outcome = mech_sim_check_asking(document, &ask, &c->diag);
    mech_document_destroy(document);
    prefix_faults(&c->diag, before, "/model");
    if (outcome == MECH_INVALID) {
        fail_model(c);
    } else if (outcome != 0) {
        mechd_fail_outcome(c, outcome);
    } else {
        const bool warned = c->diag.warning_count > 0;
        const struct mechp_body_check_reply body = {
            .ok = true, .warnings = {warned ? write_warnings : NULL, &c->diag}};
        MECHP_WRITE(check_reply, &body, &c->text);
    }
    return MECHD_DONE;
}

const struct mechd_operation mechd_operation_CHECK = {.run = run_check};
