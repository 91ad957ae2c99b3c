/* From the store into an instance: at the start, and after a record that could not be stored. */
#include "protocol/frame/frame.h"
#include "server/instance/command_bytes.h"
#include "server/instance/durable.h"
#include "server/instance/host.h"
#include "server/instance/runs.h"
#include "server/instance/snapshots.h"
#include "server/os/log.h"
#include "server/store/store.h"

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

int mechd_durable_load(struct mechd_instance *i, bool snapshots)
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
    if (mechd_durable_load(i, false) != 0) {
        return MECH_INTERNAL;
    }
    mechd_runs_undo(i);
    d->epoch = failed + 1;
    mechd_log(MECHD_WARNING, "undone", "instance=%s time=%.17g", i->id,
              mechd_engine_time(&i->engine));
    return 0;
}
