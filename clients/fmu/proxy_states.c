/* States of a server's instance, as bytes of snapshots:
 *
 *   time f64 · base64 of a snapshot, model included; none before there is an instance
 *
 * The same in memory and for another process. */
#include "clients/fmu/proxy.h"

#include "solver/base/err.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SNAPSHOT_MISMATCH = 1021 /* codes.def */ };

int mechfmu_engine_state_size(struct mechfmu *m, size_t *size)
{
    struct mechfmu_engine *const e = m->engine;
    struct mechc_json reply, v;

    free(e->state);
    e->state = NULL;
    e->state_size = 0;
    if (e->id[0]) {
        mechfmu_ask(m, "get-state");
        mechfmu_lane_plain(&e->lane, "snapshot", "true");
        MECH_TRY(mechfmu_asked(m, MECHP_FMI3_ERROR, &reply));
        if (!mechc_json_member(reply, "snapshot", &v) || mechc_json_kind(v) != '"') {
            mechfmu_say(m, MECHP_FMI3_ERROR, "the server has sent no snapshot");
            return MECH_INVALID;
        }
        e->state_size = (size_t)(v.end - v.at) - 2;
        e->state = malloc(e->state_size + 1);
        if (!e->state) {
            mechfmu_say(m, MECHP_FMI3_ERROR, "no memory for a state");
            return MECH_NO_MEMORY;
        }
        memcpy(e->state, v.at + 1, e->state_size);
    }
    *size = sizeof e->time + e->state_size;
    return 0;
}

void mechfmu_engine_state_write(struct mechfmu *m, void *memory)
{
    struct mechfmu_engine *const e = m->engine;

    memcpy(memory, &e->time, sizeof e->time);
    if (e->state_size > 0) {
        memcpy((char *)memory + sizeof e->time, e->state, e->state_size);
    }
    free(e->state);
    e->state = NULL;
    e->state_size = 0;
}

/* A member with those bytes, which base64 needs no escapes for. */
static void put_snapshot(struct mechfmu_lane *l, const char *text, size_t size)
{
    mechfmu_lane_key(l, "snapshot");
    mechc_bytes_text(&l->out, "\"");
    mechc_bytes_add(&l->out, text, size);
    mechc_bytes_text(&l->out, "\"");
}

/* An instance of the snapshot's own model in place of the present one, if there is one. */
static int create_from(struct mechfmu *m, const char *text, size_t size)
{
    struct mechfmu_engine *const e = m->engine;
    char old[MECHFMU_ID];

    memcpy(old, e->id, sizeof old);
    mechfmu_lane_begin(&e->lane, "create");
    put_snapshot(&e->lane, text, size);
    MECH_TRY(mechfmu_created(m, MECHP_FMI3_ERROR));
    mechfmu_delete(m, old);
    return 0;
}

int mechfmu_engine_state_read(struct mechfmu *m, const void *memory, size_t size)
{
    struct mechfmu_engine *const e = m->engine;
    const char *const text = (const char *)memory + sizeof e->time;
    struct mechc_json reply;

    if (size < sizeof e->time) {
        mechfmu_say(m, MECHP_FMI3_ERROR, "the state is not one of this model");
        return MECH_MISMATCH;
    }
    size -= sizeof e->time;
    if (size == 0) {
        mechfmu_drop(m);
        memcpy(&e->time, memory, sizeof e->time);
        return 0;
    }
    if (e->id[0] == '\0') {
        MECH_TRY(mechfmu_connect(m));
        if (!mechfmu_attach(m)) {
            return create_from(m, text, size);
        }
        const int code = mechfmu_lease(m);
        if (code) {
            mechfmu_drop(m);
            return code;
        }
    }
    mechfmu_ask(m, "set-state");
    put_snapshot(&e->lane, text, size);
    const enum mechfmu_outcome outcome = mechfmu_send(m, &reply);
    if (outcome == MECHFMU_REFUSED && e->lane.number == SNAPSHOT_MISMATCH && e->is_own) {
        /* parameters that shape the initial state have been set since */
        return create_from(m, text, size);
    }
    if (outcome != MECHFMU_DONE) {
        mechfmu_say(m, MECHP_FMI3_ERROR, "%s", e->lane.text);
        if (outcome == MECHFMU_LOST) {
            m->state = m->broken;
            mechfmu_forget_instance(e);
        }
        return MECH_INVALID;
    }
    mechfmu_take_time(e, reply);
    e->outputs_known = e->inputs_known = false;
    return 0;
}

size_t mechfmu_engine_bytes_most(const struct mechfmu *m, size_t size)
{
    (void)m;
    return size;
}

int mechfmu_engine_bytes_write(struct mechfmu *m, const void *memory, size_t size, void *out,
                               size_t *length)
{
    (void)m;
    memcpy(out, memory, size);
    *length = size;
    return 0;
}

int mechfmu_engine_bytes_read(struct mechfmu *m, const void *bytes, size_t length, void **memory,
                              size_t *size)
{
    double time = 0.;

    if (length >= sizeof time) {
        memcpy(&time, bytes, sizeof time);
    }
    if (length < sizeof time || !isfinite(time)) {
        mechfmu_say(m, MECHP_FMI3_ERROR, "these bytes are not a state");
        return MECH_MISMATCH;
    }
    *memory = malloc(length);
    if (!*memory) {
        mechfmu_say(m, MECHP_FMI3_ERROR, "no memory for a state");
        return MECH_NO_MEMORY;
    }
    memcpy(*memory, bytes, length);
    *size = length;
    return 0;
}
