/* States of a component, in memory and as bytes.
 *
 *   memory   head · held values · what mech_sim_save writes
 *   bytes    head · held values · length u64 · what mech_sim_snapshot_write writes · zeros
 *
 * The bytes end with a hash of all before. Little-endian machines alone, as the FMU's binary is. */
#include "clients/fmu/component.h"

#include "solver/base/err.h"
#include "solver/base/hash.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

static const uint64_t magic = 0x31554d466863654dULL; /* "MechFMU1" */

struct head {
    uint64_t magic, model, state, events;
    double stop;
    uint64_t size; /* of the memory; 0 in bytes */
};

static size_t behind_head(const struct mechfmu *m)
{
    return sizeof(struct head) + mechfmu_held(m) * sizeof *m->given;
}

static size_t memory_size(const struct mechfmu *m)
{
    return behind_head(m) + mech_sim_saved_size(m->sim);
}

static void put_head(const struct mechfmu *m, void *state)
{
    const struct head h = {magic, m->model, m->state, m->events, m->stop, memory_size(m)};

    memcpy(state, &h, sizeof h);
    memcpy((char *)state + sizeof h, m->given, mechfmu_held(m) * sizeof *m->given);
}

static void take_head(struct mechfmu *m, const void *state)
{
    struct head h;

    memcpy(&h, state, sizeof h);
    m->state = (unsigned)h.state;
    m->events = h.events;
    m->stop = h.stop;
    memcpy(m->given, (const char *)state + sizeof h, mechfmu_held(m) * sizeof *m->given);
}

/* Whether a state is of this component's model and has its size; else a message. */
static bool is_own(const struct mechfmu *m, const void *state)
{
    struct head h;

    if (!state) {
        mechfmu_say(m, MECHP_FMI3_ERROR, "there is no state");
        return false;
    }
    memcpy(&h, state, sizeof h);
    if (h.magic != magic || h.model != m->model || h.size != memory_size(m)) {
        mechfmu_say(m, MECHP_FMI3_ERROR, "the state is not one of this model");
        return false;
    }
    return true;
}

enum mechp_fmi3_status mechfmu_save(struct mechfmu *m, void **state)
{
    if (*state && !is_own(m, *state)) {
        return MECHP_FMI3_ERROR;
    }
    void *const memory = *state ? *state : malloc(memory_size(m));
    if (!memory) {
        return mechfmu_say(m, MECHP_FMI3_ERROR, "no memory for a state");
    }
    put_head(m, memory);
    mech_sim_save(m->sim, (char *)memory + behind_head(m));
    *state = memory;
    return MECHP_FMI3_OK;
}

enum mechp_fmi3_status mechfmu_restore(struct mechfmu *m, const void *state)
{
    if (!is_own(m, state)) {
        return MECHP_FMI3_ERROR;
    }
    if (mech_sim_restore(m->sim, (const char *)state + behind_head(m))) {
        return mechfmu_say(m, MECHP_FMI3_ERROR, "the state is not one of this model");
    }
    take_head(m, state);
    return MECHP_FMI3_OK;
}

void mechfmu_forget(void **state)
{
    free(*state);
    *state = NULL;
}

/* --- bytes ------------------------------------------------------------------------------------ */

size_t mechfmu_bytes_size(const struct mechfmu *m)
{
    return behind_head(m) + sizeof(uint64_t) + mech_sim_snapshot_size(m->sim) + sizeof(uint64_t);
}

/* With the simulation in that state, and back again. */
static enum mechp_fmi3_status write_snapshot(struct mechfmu *m, const void *state, char *out)
{
    void *const now = malloc(mech_sim_saved_size(m->sim));
    uint64_t length = 0;

    if (!now) {
        return mechfmu_say(m, MECHP_FMI3_ERROR, "no memory for a state");
    }
    mech_sim_save(m->sim, now);
    const int code = mech_sim_restore(m->sim, (const char *)state + behind_head(m));
    if (code == 0) {
        length = mech_sim_snapshot_write(m->sim, out + sizeof length);
        memcpy(out, &length, sizeof length);
    }
    const int back = mech_sim_restore(m->sim, now);
    free(now);
    return code || back ? mechfmu_say(m, MECHP_FMI3_ERROR, "the state is not one of this model")
                        : MECHP_FMI3_OK;
}

enum mechp_fmi3_status mechfmu_to_bytes(struct mechfmu *m, const void *state, void *bytes,
                                        size_t size)
{
    const size_t most = mechfmu_bytes_size(m), end = most - sizeof(uint64_t);

    if (!is_own(m, state)) {
        return MECHP_FMI3_ERROR;
    }
    if (size < most) {
        return mechfmu_say(m, MECHP_FMI3_ERROR, "the state has %zu bytes, there is room for %zu",
                           most, size);
    }
    memset(bytes, 0, size);
    memcpy(bytes, state, behind_head(m));
    memset((char *)bytes + offsetof(struct head, size), 0, sizeof(uint64_t));
    const enum mechp_fmi3_status status = write_snapshot(m, state, (char *)bytes + behind_head(m));
    const uint64_t sum = mech_hash(bytes, end, magic);
    memcpy((char *)bytes + end, &sum, sizeof sum);
    return status;
}

/* Whether head and held values are such as a component has; [held values] behind the head. */
static bool is_possible(const struct mechfmu *m, const struct head *h, const char *held)
{
    const size_t n = mechfmu_held(m);
    double value;

    if (h->magic != magic || h->model != m->model || h->size != 0 || h->state == 0 ||
        (h->state & (h->state - 1)) != 0 || (h->state & ~(uint64_t)m->reached) != 0 ||
        isnan(h->stop)) {
        return false;
    }
    for (size_t i = 0; i < n; i++) {
        memcpy(&value, held + i * sizeof value, sizeof value);
        if (!isfinite(value) || (i < m->inputs && value != 0. && value != 1.)) {
            return false;
        }
    }
    return true;
}

/* The length of the snapshot, 0: the bytes are no state of this model. */
static size_t sound(const struct mechfmu *m, const void *bytes, size_t size)
{
    const size_t most = mechfmu_bytes_size(m), end = most - sizeof(uint64_t);
    struct head h;
    uint64_t sum, length;

    if (!bytes || size < most) {
        return 0;
    }
    memcpy(&h, bytes, sizeof h);
    memcpy(&sum, (const char *)bytes + end, sizeof sum);
    memcpy(&length, (const char *)bytes + behind_head(m), sizeof length);
    return is_possible(m, &h, (const char *)bytes + sizeof h) &&
                   sum == mech_hash(bytes, end, magic) && length <= mech_sim_snapshot_size(m->sim)
               ? (size_t)length
               : 0;
}

enum mechp_fmi3_status mechfmu_from_bytes(struct mechfmu *m, const void *bytes, size_t size,
                                          void **state)
{
    const size_t length = sound(m, bytes, size);
    const uint64_t whole = memory_size(m);
    void *const memory = length ? malloc(whole) : NULL;
    void *const now = memory ? malloc(mech_sim_saved_size(m->sim)) : NULL;
    bool reproducible = false;

    if (!now) {
        free(memory);
        return mechfmu_say(m, MECHP_FMI3_ERROR, "%s",
                           length ? "no memory for a state" : "these are no bytes of a state");
    }
    mech_sim_save(m->sim, now);
    const int code = mech_sim_snapshot_read(
        m->sim, (const char *)bytes + behind_head(m) + sizeof(uint64_t), length, &reproducible);
    if (code == 0) {
        memcpy(memory, bytes, behind_head(m));
        memcpy((char *)memory + offsetof(struct head, size), &whole, sizeof whole);
        mech_sim_save(m->sim, (char *)memory + behind_head(m));
    }
    const int back = mech_sim_restore(m->sim, now);
    free(now);
    if (code || back) {
        free(memory);
        return mechfmu_say(m, MECHP_FMI3_ERROR, "the state is not one of this model");
    }
    *state = memory;
    return reproducible ? MECHP_FMI3_OK
                        : mechfmu_say(m, MECHP_FMI3_WARNING,
                                      "another machine or version wrote this state: the last bits "
                                      "may differ");
}
