/* From the store back into instances: at start, and after a record that could not be stored. */
#include "protocol/bind/bind.h"
#include "protocol/frame/frame.h"
#include "protocol/wire/bodies.h"
#include "protocol/wire/json.h"
#include "server/instance/command_bytes.h"
#include "server/instance/durable.h"
#include "server/instance/host.h"
#include "server/instance/instance.h"
#include "server/instance/lives.h"
#include "server/instance/runs.h"
#include "server/instance/snapshots.h"
#include "server/instance/traits.h"
#include "server/os/log.h"
#include "server/os/ticks.h"
#include "server/store/store.h"
#include "solver/base/text.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

const char *const mechd_durability_names[] = {"none", "checkpoint", "every-step", NULL};

int mechd_durability_find(const char *name)
{
    for (int k = 0; mechd_durability_names[k] != NULL; k++) {
        if (strcmp(name, mechd_durability_names[k]) == 0) {
            return k;
        }
    }
    return -1;
}

/* --- settings --------------------------------------------------------------------------------- */

void mechd_durability_write(const struct mechd_durable_settings *s, struct mechp_text *w)
{
    if (s->mode != MECHD_DURABLE_CHECKPOINT) {
        mechp_text_string(w, mechd_durability_names[s->mode]);
        return;
    }
    const struct mechp_body_durability body = {
        .mode = mechd_durability_names[s->mode],
        .steps = s->steps > 0 ? (int64_t)s->steps : INT64_MIN,
        .seconds = s->seconds > 0. ? s->seconds : (double)NAN};
    MECHP_WRITE(durability, &body, w);
}

struct mechd_durable_settings
mechd_durability_read(const json_t *value, enum mechd_durability preset, struct mech_diag *diag)
{
    struct mechd_durable_settings s = {.mode = preset};
    const char *mode = json_string_value(value);
    if (json_is_object(value)) {
        const struct mechp_json_in part = {value, "/durability", diag};
        struct mechp_body_durability in;
        mechp_shape_only(value, part.base, &mechp_body_durability, diag);
        MECHP_READ_IN(durability, &part, &in);
        mode = in.mode;
        s.steps = in.steps > 0 ? (uint64_t)in.steps : 0;
        s.seconds = isnan(in.seconds) ? 0. : in.seconds;
    }
    if (mode != NULL || (value != NULL && !json_is_null(value))) {
        int k = 0;
        while (mode != NULL && mechd_durability_names[k] != NULL &&
               strcmp(mechd_durability_names[k], mode) != 0) {
            k++;
        }
        if (mode == NULL || mechd_durability_names[k] == NULL) {
            mech_diag_add(diag, "/durability",
                          "\"none\", \"checkpoint\", \"every-step\", or an object with that as its "
                          "mode");
        } else {
            s.mode = (enum mechd_durability)k;
        }
    }
    if (!(s.seconds >= 0.) || s.seconds > 1e6) {
        mech_diag_add(diag, "/durability/seconds", "must be 0 to 1e6");
    }
    if (s.mode != MECHD_DURABLE_CHECKPOINT && (s.steps > 0 || s.seconds > 0.)) {
        mech_diag_add(diag, "/durability/mode", "steps and seconds are for \"checkpoint\" only");
    }
    if (s.mode == MECHD_DURABLE_CHECKPOINT && s.steps == 0 && s.seconds == 0.) {
        s.seconds = 1.;
    }
    return s;
}

/* --- one instance ----------------------------------------------------------------------------- */

/* Number 0 is the state, the others are commands after it. */
static int read_change(void *context, const struct mechd_stored_bytes *b)
{
    struct mechd_instance *const i = context;
    bool reproducible = true;
    if (b->number == 0) {
        mechd_durable_undo_edits(i, b->revision);
    }
    const int outcome =
        b->number == 0 ? mechd_engine_snapshot_read(&i->engine, b->bytes, b->size, &reproducible)
                       : mechd_command_replay(&i->engine, b->bytes, b->size);
    if (outcome != 0) {
        return outcome < 0 ? outcome : MECH_MISMATCH;
    }
    if (!reproducible) {
        mechd_log(MECHD_WARNING, "kernel",
                  "instance=%s reason=\"stored with another BLAS kernel: last bits may differ\"",
                  i->id);
    }
    i->durable.number = b->number;
    i->base = b->base;
    mechd_durable_account(i, b->number == 0 ? 0 : mechd_durable_commands(i) + b->size);
    // only the owner writes it; it is not read before the next publication
    i->published.sequence = b->sequence;
    if (atomic_load(&i->revision) < b->revision) {
        atomic_store(&i->revision, b->revision);
    }
    return 0;
}

static int read_snapshot(void *context, const struct mechd_stored_bytes *b)
{
    // only copied
    const struct mechd_snapshot taken = {.id = b->number,
                                         .parent = b->base,
                                         .stored = true,
                                         .time = b->time,
                                         .size = b->size,
                                         .bytes = (void *)(uintptr_t)b->bytes};
    return mechd_snapshots_keep(context, &taken);
}

/* State, commands after it and snapshots from the store into a new instance of the same model, or
 * one to be repaired (snapshots: false). 0; MECH_MISMATCH: they do not fit; MECH_NOT_FOUND;
 * MECH_INTERNAL. */
static int load(struct mechd_instance *i, bool snapshots)
{
    MECH_TRY(mechd_store_replay(i->host->store, i->durable.key, read_change, i));
    if (snapshots) {
        MECH_TRY(mechd_store_snapshots(i->host->store, i->durable.key, read_snapshot, i));
        MECH_TRY(mechd_runs_load(i));
    }
    mechd_snapshots_settle(i);
    mechd_instance_changed(i, MECHP_REWOUND);
    i->durable.dirty = false;
    i->durable.due = false;
    i->durable.remodelled = false;
    i->durable.sequence = i->published.sequence;
    return 0;
}

bool mechd_durable_lost(const struct mechd_instance *i)
{
    return i->durable.key != 0 && atomic_load(&i->durable.failed) >= i->durable.epoch;
}

int mechd_durable_repair(struct mechd_instance *i)
{
    struct mechd_durable *const d = &i->durable;
    const uint64_t failed = atomic_load(&d->failed);
    mechd_snapshots_lose(i);
    if (!mechd_durable_lost(i)) {
        return 0;
    }
    mechd_run_stop(i, MECHD_RUN_FAILED, "its changes could not be stored");
    mechd_durable_drop_held(i);
    if (load(i, false) != 0) {
        return MECH_INTERNAL;
    }
    mechd_runs_undo(i);
    d->epoch = failed + 1;
    mechd_log(MECHD_WARNING, "undone", "instance=%s time=%.17g", i->id,
              mechd_engine_time(&i->engine));
    return 0;
}

/* --- all -------------------------------------------------------------------------------------- */

/* A simulation from the text of its model, and the warnings of that. 0; an outcome with the reason;
 * negative: no memory. */
static int build(const char *text, size_t size, char reason[160], struct mech_diag *told,
                 struct mech_sim **out)
{
    struct mechp_json_fault fault;
    struct mech_document *document = NULL;
    struct mech_diag diag;
    json_t *model = NULL;
    mech_text_format(reason, 160, "its model cannot be read");
    if (mechp_json_parse(text, size, NULL, &fault, &model) != 0) {
        mech_text_format(reason, 160, "its model: %.120s", fault.text);
        return fault.code == MECHP_OUT_OF_MEMORY ? MECH_NO_MEMORY : MECH_INVALID;
    }
    mech_diag_init(&diag);
    int outcome = mechp_bind_read(model, "", &diag, &document);
    if (outcome == 0) {
        const struct mech_interrupt never = {.wanted = NULL};
        outcome = mech_sim_create_for_state(document, &never, &diag, out);
        if (outcome != 0) {
            mech_document_destroy(document);
        }
    }
    if (outcome != 0 && diag.count > 0) {
        mech_text_format(reason, 160, "its model, %.60s: %.80s", diag.entries[0].path,
                         diag.entries[0].text);
    }
    mech_diag_prefix(diag.warnings, diag.warning_count, "/model");
    mech_diag_give_warnings(&diag, told);
    mech_diag_fini(&diag);
    json_decref(model);
    return outcome;
}

struct recovery {
    struct mechd_host *host;
    uint64_t instances;
    uint64_t serial;  /* the largest */
    char reason[160]; /* of the last one that could not be built */
};

/* Why it cannot be loaded. */
static int fault(int outcome, const char *text, const char **reason)
{
    *reason = text;
    return outcome;
}

/* Labels, durability, state and snapshots of a new instance, then into the table. As visit. */
static int complete(struct mechd_instance *i, const struct mechd_stored *stored,
                    const char **reason)
{
    struct mech_diag diag;
    if (!mech_name_valid(stored->id)) {
        return fault(MECH_INVALID, "its id is not a valid name", reason);
    }
    mech_diag_init(&diag);
    json_t *const value = json_loads(stored->durability, JSON_DECODE_ANY, NULL);
    i->durable.settings = mechd_durability_read(value, MECHD_DURABLE_NONE, &diag);
    const bool good = value != NULL && mech_diag_clean(&diag);
    json_decref(value);
    mech_diag_fini(&diag);
    if (!good) {
        return fault(MECH_INVALID, "its durability cannot be read", reason);
    }
    i->labels = stored->labels != NULL ? json_loads(stored->labels, 0, NULL) : NULL;
    mechd_instance_set_ttl(i, stored->ttl);
    // what is there stays and counts, whatever the limits are now
    struct mechd_account *const account = mechd_accounts_find(&i->host->accounts, stored->token);
    if (account != NULL) {
        (void)mechd_instance_open(i, account, NULL);
    }
    i->durable.key = stored->key;
    i->durable.model = stored->model_size;
    i->durable.epoch = 1;
    i->durable.recorded = mechd_now();
    snprintf(i->id, sizeof i->id, "%s", stored->id);
    const int loaded = load(i, true);
    if (loaded != 0) {
        return fault(loaded == MECH_NO_MEMORY ? loaded : MECH_MISMATCH,
                     "its state does not fit its model", reason);
    }
    i->runs = stored->last_run > i->runs ? stored->last_run : i->runs;
    if (mechd_snapshots_go_on(i, stored->last_snapshot) != 0) {
        return fault(MECH_NO_MEMORY, "there is not enough memory", reason);
    }
    const int added = mechd_table_add(&i->host->table, i, stored->id);
    mechd_lives_recovered(i);
    return added == 0              ? 0
           : added == MECH_INVALID ? fault(added, "its id is taken", reason)
                                   : fault(MECH_NO_MEMORY, "there are too many instances", reason);
}

static int recover_one(void *context, const struct mechd_stored *stored, const char **reason)
{
    struct recovery *const r = context;
    struct mechd_instance *i = NULL;
    struct mech_sim *sim = NULL;
    struct mech_diag told;
    mech_diag_init(&told);
    const int built = build(stored->model, stored->model_size, r->reason, &told, &sim);
    r->serial = stored->serial > r->serial ? stored->serial : r->serial;
    if (built != 0) {
        mech_diag_fini(&told);
        return fault(built, r->reason, reason);
    }
    const struct mechd_engine engine = mechd_engine_of_sim(sim);
    if (mechd_instance_create(r->host, &engine, &i) != 0) {
        mech_sim_destroy(sim);
        mech_diag_fini(&told);
        return fault(MECH_NO_MEMORY, "there is not enough memory", reason);
    }
    mech_diag_give_warnings(&told, &i->told);
    const int outcome = complete(i, stored, reason);
    mechd_instance_unref(i);
    r->instances += outcome == 0;
    return outcome;
}

int mechd_recover(struct mechd_host *d)
{
    const uint64_t start = mechd_now();
    if (d->store == NULL) {
        return 0;
    }
    struct recovery r = {.host = d, .serial = mechd_store_last(d->store, MECHD_NUMBER_INSTANCE)};
    MECH_TRY(mechd_store_visit_all(d->store, recover_one, &r));
    if (atomic_load(&d->table.serial) < r.serial) {
        atomic_store(&d->table.serial, r.serial);
    }
    if (r.instances > 0) {
        mechd_log(MECHD_INFO, "recovered", "instances=%llu seconds=%.3f",
                  (unsigned long long)r.instances, 1e-9 * (double)(mechd_now() - start));
    }
    return 0;
}
