/* The owner's lease on an instance that the component has not created: only the component changes
 * it then. The server ends a lease under which no request has come for a minute, and refuses the
 * next request: the component takes a new lease, if no other client has one by then, and repeats
 * the request. */
#include "clients/fmu/proxy.h"

#include "solver/base/err.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { FOREIGN_LEASE = 1015 /* codes.def */ };

static bool is_leased(const struct mechfmu_engine *e)
{
    return !e->is_own && e->lease[0] != '\0';
}

void mechfmu_put_lease(struct mechfmu_engine *e)
{
    if (is_leased(e)) {
        mechfmu_lane_key(&e->lane, "lease");
        e->lease_at = e->lane.out.length;
        mechc_bytes_text(&e->lane.out, e->lease);
    }
}

static void begin(struct mechfmu_engine *e, const char *op)
{
    mechfmu_lane_begin(&e->lane, op);
    mechfmu_lane_text(&e->lane, "id", e->id);
}

/* The lease that was held goes on, else another one begins. */
static enum mechfmu_outcome lease(struct mechfmu_engine *e)
{
    struct mechc_json reply, v;
    uint64_t number = 0;

    if (is_leased(e)) {
        begin(e, "change-lease");
        mechfmu_put_lease(e);
        const enum mechfmu_outcome outcome = mechfmu_lane_send(&e->lane, &reply);
        if (outcome != MECHFMU_REFUSED) {
            return outcome;
        }
    }
    begin(e, "lease");
    mechfmu_lane_text(&e->lane, "role", "owner");
    mechfmu_lane_text(&e->lane, "name", "fmu");
    const enum mechfmu_outcome outcome = mechfmu_lane_send(&e->lane, &reply);
    if (outcome == MECHFMU_DONE && mechc_json_member(reply, "lease", &v) &&
        mechc_json_unsigned(v, &number)) {
        snprintf(e->lease, sizeof e->lease, "%*" PRIu64, MECHFMU_LEASE, number);
    }
    return outcome;
}

int mechfmu_lease(struct mechfmu *m)
{
    struct mechfmu_engine *const e = m->engine;

    if (lease(e) != MECHFMU_DONE) {
        mechfmu_say(m, MECHP_FMI3_ERROR, "%s", e->lane.text);
        return MECH_INVALID;
    }
    return 0;
}

void mechfmu_release(struct mechfmu_engine *e)
{
    struct mechc_json reply;

    if (e->id[0] && is_leased(e) && mechfmu_lane_is_open(&e->lane)) {
        begin(e, "release");
        mechfmu_put_lease(e);
        (void)mechfmu_lane_send(&e->lane, &reply);
        e->lease[0] = '\0';
    }
}

enum mechfmu_outcome mechfmu_send(struct mechfmu *m, struct mechc_json *reply)
{
    struct mechfmu_engine *const e = m->engine;
    const enum mechfmu_outcome outcome = mechfmu_lane_send(&e->lane, reply);

    if (outcome != MECHFMU_REFUSED || e->lane.number != FOREIGN_LEASE || !is_leased(e)) {
        return outcome;
    }
    struct mechc_bytes request = e->lane.out;
    const size_t at = e->lease_at;
    e->lane.out = (struct mechc_bytes){0};
    const enum mechfmu_outcome leased = lease(e);
    mechc_bytes_fini(&e->lane.out);
    e->lane.out = request;
    if (leased != MECHFMU_DONE) {
        return leased;
    }
    mechfmu_say(m, MECHP_FMI3_WARNING, "the lease on %s had ended; a new one was taken", e->id);
    memcpy(e->lane.out.at + at, e->lease, MECHFMU_LEASE);
    e->lane.out.length--; /* the brace, which sending adds */
    return mechfmu_lane_send(&e->lane, reply);
}
