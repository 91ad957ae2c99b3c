/* All instances of the store, at the start. */
#include "protocol/bind/bind.h"
#include "protocol/wire/json.h"
#include "server/instance/durable.h"
#include "server/instance/host.h"
#include "server/instance/instance.h"
#include "server/instance/lives.h"
#include "server/instance/snapshots.h"
#include "server/instance/traits.h"
#include "server/os/log.h"
#include "server/os/ticks.h"
#include "server/store/store.h"
#include "solver/base/text.h"

#include <stdio.h>

/* A simulation from the text of its model, and the warnings of that. 0; an outcome with the reason;
 * negative: no memory. */
static int build(const char *text, size_t size, char reason[160], struct mech_diag *warnings,
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
    mech_diag_give_warnings(&diag, warnings);
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
    const int loaded = mechd_durable_load(i, true);
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
    struct mech_diag warnings;
    mech_diag_init(&warnings);
    const int built = build(stored->model, stored->model_size, r->reason, &warnings, &sim);
    r->serial = stored->serial > r->serial ? stored->serial : r->serial;
    if (built != 0) {
        mech_diag_fini(&warnings);
        return fault(built, r->reason, reason);
    }
    const struct mechd_engine engine = mechd_engine_of_sim(sim);
    if (mechd_instance_create(r->host, &engine, &i) != 0) {
        mech_sim_destroy(sim);
        mech_diag_fini(&warnings);
        return fault(MECH_NO_MEMORY, "there is not enough memory", reason);
    }
    mech_diag_give_warnings(&warnings, &i->warnings);
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
