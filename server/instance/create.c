/* An instance comes into being, and is freed. */
#include "server/instance/effort.h"
#include "server/instance/host.h"
#include "server/instance/partners.h"
#include "server/instance/picks.h"
#include "server/instance/runs.h"
#include "server/instance/snapshots.h"
#include "server/instance/trials.h"

#include <stdlib.h>
#include <string.h>

/* A guess at the time of one step until it has been measured: high enough for a dense system, so
 * that a first command errs towards the pool. */
static uint64_t guess_step_ns(int32_t size)
{
    const uint64_t n = (uint64_t)size;
    return 1000 + 50 * n + n * n / 4;
}

/* Receipts that came after its deletion. */
static void forget_receipts(struct mechd_instance *i)
{
    if (i->receipts != NULL) {
        mechd_tell_gone(i);
    }
}

/* What is freed with an instance, in this order: each module frees what it owns of it. */
static void (*const owners[])(struct mechd_instance *i) = {
    mechd_trials_drop_all,  mechd_instance_close, forget_receipts,    mechd_snapshots_destroy,
    mechd_partners_destroy, mechd_picks_destroy,  mechd_runs_destroy, mechd_durable_fini,
};

static void destroy(struct mechd_instance *i)
{
    for (size_t k = 0; k < sizeof owners / sizeof owners[0]; k++) {
        owners[k](i);
    }
    mechd_engine_destroy(&i->engine);
    json_decref(i->labels);
    mech_diag_fini(&i->warnings);
    free(i->published.values);
    free(i->channels);
    free(i->name);
    pthread_mutex_destroy(&i->m);
    pthread_mutex_destroy(&i->p);
    mechd_leases_fini(&i->leases);
    mechd_memory_freed(&i->host->memory);
    free(i);
}

static const struct mechd_instance_calls calls = {destroy, mechd_durable_put_back};

int mechd_instance_create(struct mechd_host *host, const struct mechd_engine *engine,
                          struct mechd_instance **out)
{
    struct mechd_instance *i = calloc(1, sizeof *i);
    const size_t n = mechd_engine_output_size(engine);
    const size_t count = mechd_engine_variable_count(engine, MECH_OUTPUT_VARIABLE);
    double *values = calloc(n + 1, sizeof *values);
    struct mech_variable *channels = calloc(count + 1, sizeof *channels);
    char *const name = strdup(engine->ops->title(engine->self));
    if (i == NULL || values == NULL || channels == NULL || name == NULL) {
        free(name);
        free(i);
        free(values);
        free(channels);
        return MECH_NO_MEMORY;
    }
    for (size_t k = 0; k < count; k++) {
        mechd_engine_variable(engine, MECH_OUTPUT_VARIABLE, k, &channels[k]);
    }
    i->channels = channels;
    i->channel_count = count;
    i->host = host;
    i->calls = &calls;
    i->engine = *engine;
    mechd_engine_set_interrupt(engine, mechd_effort_ends, mechd_effort_urgent, i);
    i->sim = mechd_engine_sim(engine);
    i->incarnation = host->incarnation;
    i->output_size = n;
    i->size = engine->ops->size(engine->self);
    i->step_size = mechd_engine_step_size(engine);
    i->published.values = values;
    i->name = name;
    atomic_init(&i->refs, 1);
    atomic_init(&i->revision, 1);
    atomic_init(&i->step_ns, engine->ops->apart ? MECHD_SHORT : guess_step_ns(i->size));
    pthread_mutex_init(&i->m, NULL);
    pthread_mutex_init(&i->p, NULL);
    mechd_leases_init(&i->leases);

    // the first values, before any reader
    i->published.revision = 1;
    i->published.time = mechd_engine_time(engine);
    i->published.steps = mechd_engine_step_count(engine);
    mechd_engine_get_outputs(engine, values);
    *out = i;
    return 0;
}
