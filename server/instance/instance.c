/* Life of an instance and what it publishes. */
#include "server/instance/instance.h"

#include "protocol/frame/frame.h"
#include "server/daemon.h"
#include "server/instance/partners.h"
#include "server/instance/runs.h"
#include "server/instance/snapshots.h"
#include "server/zmq/stream.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A guess at the time of one step until it has been measured: high enough for a dense system, so
 * that a first command errs towards the pool. */
static uint64_t guess_step_ns(int32_t size)
{
    const uint64_t n = (uint64_t)size;
    return 1000 + 50 * n + n * n / 4;
}

int mechd_instance_create(struct mechd *daemon, const struct mechd_engine *engine,
                          struct mechd_instance **out)
{
    struct mechd_instance *i = calloc(1, sizeof *i);
    const size_t n = mechd_engine_output_size(engine);
    const size_t count = mechd_engine_variable_count(engine, MECH_OUTPUT_VARIABLE);
    double *values = calloc(n + 1, sizeof *values);
    struct mech_variable *channels = calloc(count + 1, sizeof *channels);
    if (i == NULL || values == NULL || channels == NULL) {
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
    i->daemon = daemon;
    i->engine = *engine;
    i->sim = mechd_engine_sim(engine);
    i->incarnation = daemon->incarnation;
    i->output_size = n;
    i->size = engine->ops->size(engine->self);
    i->step_size = mechd_engine_step_size(engine);
    i->published.values = values;
    snprintf(i->name, sizeof i->name, "%s", engine->ops->title(engine->self));
    atomic_init(&i->refs, 1);
    atomic_init(&i->revision, 1);
    atomic_init(&i->step_ns, guess_step_ns(i->size));
    pthread_mutex_init(&i->m, NULL);
    pthread_mutex_init(&i->p, NULL);

    // the first values, before anybody can ask for them
    i->published.revision = 1;
    i->published.time = mechd_engine_time(engine);
    i->published.steps = mechd_engine_step_count(engine);
    mechd_engine_get_outputs(engine, values);
    *out = i;
    return 0;
}

void mechd_instance_ref(struct mechd_instance *i)
{
    atomic_fetch_add(&i->refs, 1);
}

void mechd_instance_unref(struct mechd_instance *i)
{
    if (i == NULL || atomic_fetch_sub(&i->refs, 1) != 1) {
        return;
    }
    mechd_snapshots_destroy(i->snapshots);
    mechd_partners_destroy(i->partners);
    mechd_run_unref(i->run);
    mechd_durable_fini(i);
    mechd_engine_destroy(&i->engine);
    json_decref(i->labels);
    free(i->published.values);
    free(i->channels);
    pthread_mutex_destroy(&i->m);
    pthread_mutex_destroy(&i->p);
    mechd_memory_freed(&i->daemon->memory);
    free(i);
}

/* Publish the committed state under a new revision. */
static void publish(struct mechd_instance *i, uint16_t flags, uint64_t steps_forward)
{
    i->trial = 0;
    const uint64_t revision = atomic_fetch_add(&i->revision, 1) + 1;
    pthread_mutex_lock(&i->p);
    i->published.revision = revision;
    i->published.sequence += steps_forward;
    i->published.time = mechd_engine_time(&i->engine);
    i->published.steps = mechd_engine_step_count(&i->engine);
    i->published.flags = flags;
    mechd_engine_get_outputs(&i->engine, i->published.values);
    pthread_mutex_unlock(&i->p);
    mechd_durable_changed(i);
}

void mechd_instance_changed(struct mechd_instance *i, uint16_t flags)
{
    i->next_flags = (uint16_t)(i->next_flags | flags);
    if ((flags & MECHP_REWOUND) != 0) {
        mechd_partners_rewind(i);
    }
    publish(i, flags, 0);
}

void mechd_instance_stepped(struct mechd_instance *i, uint16_t flags)
{
    flags = (uint16_t)(flags | i->next_flags);
    i->next_flags = 0;
    publish(i, flags, 1);
    mechd_stream_publish(i, &i->published);
}

void mechd_instance_peek(struct mechd_instance *i, struct mechd_published *out, double *values)
{
    pthread_mutex_lock(&i->p);
    *out = i->published;
    if (values != NULL) {
        memcpy(values, i->published.values, i->output_size * sizeof *values);
    }
    pthread_mutex_unlock(&i->p);
    out->values = values;
}

void mechd_instance_etag(const struct mechd_instance *i, char *out)
{
    snprintf(out, 48, "\"%" PRIx64 ".%" PRIu64 "\"", i->incarnation, atomic_load(&i->revision));
}
