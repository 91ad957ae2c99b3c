/* States of a component, in memory and as bytes.
 *
 *   memory   head · held values · the engine's state
 *   bytes    head · held values · length u64 · the engine's state as bytes · zeros
 *
 * The bytes end with a hash of all before. Little-endian machines alone, as the FMU's binary is. */
#include "clients/fmu/engine.h"

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
    uint64_t size; /* of the memory */
};

static size_t behind_head(const struct mechfmu *m)
{
    return sizeof(struct head) + mechfmu_held(m) * sizeof *m->given;
}

static size_t size_of(const void *state)
{
    struct head h;

    memcpy(&h, state, sizeof h);
    return (size_t)h.size;
}

static void put_head(const struct mechfmu *m, void *state, size_t size)
{
    const struct head h = {magic, m->model, m->state, m->events, m->stop, size};

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

/* Whether a state is of this component's model; else a message. */
static bool is_own(const struct mechfmu *m, const void *state)
{
    struct head h;

    if (!state) {
        mechfmu_say(m, MECHP_FMI3_ERROR, "there is no state");
        return false;
    }
    memcpy(&h, state, sizeof h);
    if (h.magic != magic || h.model != m->model || h.size < behind_head(m)) {
        mechfmu_say(m, MECHP_FMI3_ERROR, "the state is not one of this model");
        return false;
    }
    return true;
}

enum mechp_fmi3_status mechfmu_save(struct mechfmu *m, void **state)
{
    size_t size = 0;

    if ((*state && !is_own(m, *state)) || mechfmu_engine_state_size(m, &size)) {
        return MECHP_FMI3_ERROR;
    }
    size += behind_head(m);
    void *const memory = *state && size_of(*state) == size ? *state : realloc(*state, size);
    if (!memory) {
        return mechfmu_say(m, MECHP_FMI3_ERROR, "no memory for a state");
    }
    put_head(m, memory, size);
    mechfmu_engine_state_write(m, (char *)memory + behind_head(m));
    *state = memory;
    return MECHP_FMI3_OK;
}

enum mechp_fmi3_status mechfmu_restore(struct mechfmu *m, const void *state)
{
    const size_t head = behind_head(m);

    if (!is_own(m, state) ||
        mechfmu_engine_state_read(m, (const char *)state + head, size_of(state) - head)) {
        return MECHP_FMI3_ERROR;
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

/* Of a state of that size. */
static size_t bytes_size(const struct mechfmu *m, size_t size)
{
    return behind_head(m) + sizeof(uint64_t) + mechfmu_engine_bytes_most(m, size - behind_head(m)) +
           sizeof(uint64_t);
}

enum mechp_fmi3_status mechfmu_bytes_size(struct mechfmu *m, const void *state, size_t *size)
{
    if (!is_own(m, state)) {
        return MECHP_FMI3_ERROR;
    }
    *size = bytes_size(m, size_of(state));
    return MECHP_FMI3_OK;
}

enum mechp_fmi3_status mechfmu_to_bytes(struct mechfmu *m, const void *state, void *bytes,
                                        size_t size)
{
    const size_t head = behind_head(m);
    uint64_t length = 0;
    size_t written = 0;

    if (!is_own(m, state)) {
        return MECHP_FMI3_ERROR;
    }
    const size_t most = bytes_size(m, size_of(state)), end = most - sizeof(uint64_t);
    if (size < most) {
        return mechfmu_say(m, MECHP_FMI3_ERROR,
                           "the state has %zu bytes, but there is room for %zu only", most, size);
    }
    memset(bytes, 0, size);
    memcpy(bytes, state, head);
    memset((char *)bytes + offsetof(struct head, size), 0, sizeof(uint64_t));
    if (mechfmu_engine_bytes_write(m, (const char *)state + head, size_of(state) - head,
                                   (char *)bytes + head + sizeof length, &written)) {
        return MECHP_FMI3_ERROR;
    }
    length = written;
    memcpy((char *)bytes + head, &length, sizeof length);
    const uint64_t sum = mech_hash(bytes, end, magic);
    memcpy((char *)bytes + end, &sum, sizeof sum);
    return MECHP_FMI3_OK;
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

/* Whether the bytes are of a state of this model, and undamaged; *length of the engine's part. */
static bool is_sound(const struct mechfmu *m, const void *bytes, size_t size, size_t *length)
{
    const size_t least = behind_head(m) + 2 * sizeof(uint64_t);
    struct head h;
    uint64_t sum, n;

    if (!bytes || size < least) {
        return false;
    }
    memcpy(&h, bytes, sizeof h);
    memcpy(&n, (const char *)bytes + behind_head(m), sizeof n);
    if (!is_possible(m, &h, (const char *)bytes + sizeof h) || n > size - least) {
        return false;
    }
    const size_t room = mechfmu_engine_bytes_most(m, (size_t)n);
    if (n > room || room > size - least) {
        return false;
    }
    memcpy(&sum, (const char *)bytes + least - sizeof sum + room, sizeof sum);
    *length = (size_t)n;
    return sum == mech_hash(bytes, least - sizeof sum + room, magic);
}

enum mechp_fmi3_status mechfmu_from_bytes(struct mechfmu *m, const void *bytes, size_t size,
                                          void **state)
{
    const size_t head = behind_head(m);
    size_t length = 0, own = 0;
    void *part = NULL;

    if (!is_sound(m, bytes, size, &length)) {
        return mechfmu_say(m, MECHP_FMI3_ERROR, "these bytes are not a state");
    }
    const int code = mechfmu_engine_bytes_read(m, (const char *)bytes + head + sizeof(uint64_t),
                                               length, &part, &own);
    if (code != 0 && code != MECHFMU_INEXACT) {
        return MECHP_FMI3_ERROR;
    }
    char *const memory = malloc(head + own);
    if (!memory) {
        free(part);
        return mechfmu_say(m, MECHP_FMI3_ERROR, "no memory for a state");
    }
    const uint64_t whole = head + own;
    memcpy(memory, bytes, head);
    memcpy(memory + offsetof(struct head, size), &whole, sizeof whole);
    memcpy(memory + head, part, own);
    free(part);
    *state = memory;
    return code == 0 ? MECHP_FMI3_OK
                     : mechfmu_say(m, MECHP_FMI3_WARNING,
                                   "another machine or version wrote this state: the last bits may "
                                   "differ");
}
