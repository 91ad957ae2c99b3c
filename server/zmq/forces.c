/* The forces socket: frames of kind inputs with a lease, never answered. A stamped frame (time not
 * 0) acts from the first substep that starts at or after its stamp; one whose time is past acts at
 * once, is counted, and flags the next frame of the stream. */
#include "protocol/frame/frame.h"
#include "server/call/service.h"
#include "server/instance/partners.h"
#include "server/zmq/internal.h"
#include "solver/base/times.h"

#include <math.h>
#include <stdlib.h>

struct force {
    struct mechd_job job; /* first */
    struct mechd_service *service;
    struct mechp_frame frame;
    double values[]; /* [frame.count] */
};

static void free_force(struct force *f)
{
    struct mechd_service *d = f->service;
    mechd_bodies_give(d, sizeof *f + f->frame.count * sizeof(double));
    atomic_fetch_sub(&d->in_flight, 1);
    mechd_instance_unref(f->job.instance);
    free(f);
}

/* Take effect now, or keep it for its time. 0 or an outcome. */
static int apply(struct force *f, struct mechd_partner *p)
{
    struct mechd_instance *i = f->job.instance;
    const double now = mechd_engine_time(&i->engine);
    const double h = mechd_engine_scale(&i->engine, now, i->step_size);
    if (mech_time_before(now, f->frame.time, h)) {
        return mechd_partner_keep(p, f->frame.time, f->values, f->frame.count);
    }
    const bool late = f->frame.time != 0. && mech_time_before(f->frame.time, now, h);
    MECH_TRY(mechd_partner_set(i, p, f->values, f->frame.count));
    mechd_instance_changed(i, late ? MECHP_LATE : 0);
    mechd_count(&i->host->counters.forces_late, late ? 1 : 0);
    return 0;
}

static enum mechd_progress run_force(struct mechd_job *job)
{
    struct force *f = (struct force *)job;
    struct mechd_counters *m = &job->instance->host->counters;
    struct mechd_instance *i = job->instance;
    struct mechd_holder holder;
    struct mechd_partner *p =
        !mechd_instance_lives(i)
            ? NULL
            : mechd_partner_begin(i, f->frame.lease, MECHD_ACT_INPUTS, true, &holder);
    const bool ok = p != NULL && mechd_partner_still(i, p) && apply(f, p) == 0;
    if (p != NULL) {
        mechd_leases_end(&i->leases, f->frame.lease);
    }
    mechd_count(ok ? &m->forces : &m->forces_refused, 1);
    return MECHD_DONE;
}

static void finish(struct mechd_job *job)
{
    free_force((struct force *)job);
}

/* True if the frame may be handed on. */
static bool is_sound(const struct force *f)
{
    bool ok = f->frame.kind == MECHP_INPUTS && isfinite(f->frame.time);
    for (uint32_t k = 0; k < f->frame.count; k++) {
        ok = ok && isfinite(f->values[k]);
    }
    return ok;
}

/* The lease in the frame is the right to set its inputs; with CURVE the key must still be one. */
static bool may_push(struct mechd_service *d, const struct mechd_peer *peer)
{
    struct mechd_token who;
    return !peer->has_key ||
           (mechd_tokens_find_key(&d->peers, peer->key, &who) && who.scope >= MECHP_SCOPE_STEP);
}

void mechd_forces_take(struct mechd_zmq *z, const struct mechd_peer *peer, const void *bytes,
                       size_t size)
{
    struct mechd_service *d = z->service;
    struct mechp_frame frame;
    struct force *f = NULL;
    struct mechd_instance *i = NULL;
    mechd_count(&mechd_tally(&d->host.counters)->bytes_in, size);
    if (may_push(d, peer) && mechp_frame_read(bytes, size, &frame) == 0) {
        f = calloc(1, sizeof *f + frame.count * sizeof(double));
        i = mechd_table_number(&d->host.table, frame.instance);
    }
    if (f != NULL) {
        f->service = d;
        f->frame = frame;
        mechp_frame_get_values((const char *)bytes + MECHP_FRAME_HEADER, f->values, frame.count);
    }
    if (f == NULL || i == NULL || !is_sound(f) || mechd_host_drains(&d->host) ||
        !mechd_bodies_take(d, sizeof *f + frame.count * sizeof(double))) {
        mechd_count(&d->host.counters.forces_refused, 1);
        mechd_instance_unref(i);
        free(f);
        return;
    }
    atomic_fetch_add(&d->in_flight, 1);
    f->job = (struct mechd_job){.instance = i, .run = run_force, .finish = finish};
    const enum mechd_submitted submitted = mechd_instance_submit(i, &f->job);
    if (submitted == MECHD_FULL) {
        mechd_count(&d->host.counters.forces_refused, 1);
    }
    if (submitted != MECHD_QUEUED) {
        free_force(f);
    }
}
