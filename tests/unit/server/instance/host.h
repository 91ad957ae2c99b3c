/* For tests of server/instance: a host without doors, and instances.
 * instance_create: of one free mass. */
#pragma once

#include "protocol/bind/bind.h"
#include "server/instance/host.h"
#include "server/os/ticks.h"
#include "tests/unit/unit.h"

#include <stdlib.h>
#include <string.h>

static struct mechd_host *host_create(int workers)
{
    struct mechd_host *d = calloc(1, sizeof *d);
    CU_ASSERT_PTR_NOT_NULL_FATAL(d);
    mechd_table_init(&d->table);
    mechd_table_init(&d->faces);
    CU_ASSERT_EQUAL_FATAL(mechd_pool_init(&d->pool, workers), 0);
    CU_ASSERT_EQUAL_FATAL(mechd_clock_init(&d->clock, 1), 0);
    CU_ASSERT_EQUAL_FATAL(mechd_clock_init(&d->pace, workers), 0);
    return d;
}

static void host_destroy(struct mechd_host *d)
{
    mechd_clock_stop(&d->clock);
    mechd_clock_stop(&d->pace);
    mechd_pool_fini(&d->pool);
    mechd_table_fini(&d->faces);
    mechd_table_fini(&d->table);
    mechd_clock_fini(&d->pace);
    mechd_clock_fini(&d->clock);
    free(d);
}

/* An instance of the model of this text. */
static inline struct mechd_instance *instance_of(struct mechd_host *d, const char *text)
{
    json_t *model = json_loads(text, 0, NULL);
    struct mech_diag diag;
    struct mech_document *document = NULL;
    struct mech_sim *sim = NULL;
    struct mechd_instance *i = NULL;
    mech_diag_init(&diag);
    CU_ASSERT_EQUAL_FATAL(mechp_bind_read(model, "", &diag, &document), 0);
    CU_ASSERT_EQUAL_FATAL(mech_sim_create(document, &diag, &sim), 0);
    const struct mechd_engine engine = mechd_engine_of_sim(sim);
    CU_ASSERT_EQUAL_FATAL(mechd_instance_create(d, &engine, &i), 0);
    mech_diag_fini(&diag);
    json_decref(model);
    return i;
}

static inline struct mechd_instance *instance_create(struct mechd_host *d)
{
    return instance_of(
        d,
        "{\"mechd\":1,\"nodes\":[{\"name\":\"n\",\"type\":\"Node1D\",\"initialVelocities\":[1]}],"
        "\"objects\":[{\"name\":\"m\",\"type\":\"Mass1D\",\"node\":\"n\",\"physicsMass\":1}],"
        "\"solver\":{\"stepSize\":0.5}}");
}
