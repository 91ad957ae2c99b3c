/* An FMU of the tests, for co-simulation by FMI 3.0, that has event mode, returns early and
 * foresees events; it is made with event mode or not at all. It has states. */
#include "tests/fmus/tank.h"
#include "protocol/fmi/fmi3.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define EXPORTED __attribute__((visibility("default")))

#define MECHP_FMI3(group, states, type, name, arguments) EXPORTED type fmi3##name arguments;
#include "protocol/fmi/fmi3.def"
#undef MECHP_FMI3

static const double full = 1., tick = 0.25; /* s */

struct tank {
    double values[TANK_VARIABLES];
    double time, next;
    bool early_return, in_event, started;
};

void *fmi3InstantiateCoSimulation(const char *name, const char *token, const char *resources,
                                  bool visible, bool logging, bool event_mode, bool early_return,
                                  const uint32_t intermediate[], size_t n_intermediate,
                                  void *environment, mechp_fmi3_log *log,
                                  mechp_fmi3_intermediate *update)
{
    struct tank *const t =
        strcmp(token, TANK_TOKEN) == 0 && event_mode ? calloc(1, sizeof *t) : NULL;
    if (t != NULL) {
        t->early_return = early_return;
        t->values[TANK_INFLOW] = 1.;
    }
    return t;
}

void fmi3FreeInstance(void *i)
{
    free(i);
}

enum mechp_fmi3_status fmi3EnterInitializationMode(void *i, bool has_tolerance, double tolerance,
                                                   double start, bool has_stop, double stop)
{
    struct tank *const t = i;
    t->time = start;
    t->next = start + tick;
    return MECHP_FMI3_OK;
}

enum mechp_fmi3_status fmi3ExitInitializationMode(void *i)
{
    ((struct tank *)i)->in_event = ((struct tank *)i)->started = true;
    return MECHP_FMI3_OK;
}

enum mechp_fmi3_status fmi3Reset(void *i)
{
    struct tank *const t = i;
    *t = (struct tank){.values = {[TANK_INFLOW] = 1.}, .early_return = t->early_return};
    return MECHP_FMI3_OK;
}

enum mechp_fmi3_status fmi3EnterEventMode(void *i)
{
    struct tank *const t = i;
    const bool good = t->started && !t->in_event;
    t->in_event = true;
    return good ? MECHP_FMI3_OK : MECHP_FMI3_ERROR;
}

enum mechp_fmi3_status fmi3EnterStepMode(void *i)
{
    struct tank *const t = i;
    const bool good = t->in_event;
    t->in_event = false;
    return good ? MECHP_FMI3_OK : MECHP_FMI3_ERROR;
}

enum mechp_fmi3_status fmi3UpdateDiscreteStates(void *i, bool *needs_update, bool *terminate,
                                                bool *nominals_changed, bool *values_changed,
                                                bool *has_next_event, double *next_event)
{
    struct tank *const t = i;
    const int valve = (int)t->values[TANK_VALVE];
    const bool is_full = t->values[TANK_LEVEL] >= full && valve != TANK_STICKS;
    const bool ticks = t->time >= t->next;
    if (is_full) {
        t->values[TANK_LEVEL] = 0.;
        t->values[TANK_EMPTIED]++;
    }
    if (ticks) {
        t->values[TANK_TICKS]++;
        t->next += tick;
    }
    // once more after a change, as the standard has it
    *needs_update = is_full || ticks || valve == TANK_FOREVER;
    *terminate = valve == TANK_SHUTS;
    *nominals_changed = *values_changed = false;
    *has_next_event = true;
    *next_event = t->next;
    return t->in_event ? MECHP_FMI3_OK : MECHP_FMI3_ERROR;
}

enum mechp_fmi3_status fmi3GetFloat64(void *i, const uint32_t vr[], size_t n, double values[],
                                      size_t n_values)
{
    for (size_t k = 0; k < n; k++) {
        if (vr[k] >= TANK_VARIABLES) {
            return MECHP_FMI3_ERROR;
        }
        values[k] = ((const struct tank *)i)->values[vr[k]];
    }
    return MECHP_FMI3_OK;
}

enum mechp_fmi3_status fmi3SetFloat64(void *i, const uint32_t vr[], size_t n, const double values[],
                                      size_t n_values)
{
    struct tank *const t = i;
    for (size_t k = 0; k < n; k++) {
        const bool valve = vr[k] == TANK_VALVE;
        if ((vr[k] != TANK_INFLOW && !valve) || (valve && values[k] == TANK_BROKEN) ||
            (valve && t->started && !t->in_event)) {
            return MECHP_FMI3_ERROR;
        }
        t->values[vr[k]] = values[k];
        t->values[TANK_OPENED] += valve;
    }
    return MECHP_FMI3_OK;
}

enum mechp_fmi3_status fmi3DoStep(void *i, double time, double size, bool no_set_before,
                                  bool *event, bool *terminate, bool *early, double *last)
{
    struct tank *const t = i;
    const double inflow = t->values[TANK_INFLOW], left = full - t->values[TANK_LEVEL];
    const bool fills = inflow > 0. && left <= inflow * size;
    double taken = fills && t->early_return ? fmax(left / inflow, 0.) : size;
    // an event that was foreseen is at the end of a step, or was passed by a step of a fixed size
    if (t->in_event || time != t->time || (t->early_return && time + size > t->next)) {
        return MECHP_FMI3_ERROR;
    }
    t->values[TANK_LEVEL] =
        fills && t->early_return ? full : t->values[TANK_LEVEL] + inflow * taken;
    t->time = taken < size ? time + taken : time + size;
    *event = fills;
    *terminate = false;
    *early = taken < size;
    *last = t->time;
    if (t->values[TANK_VALVE] == TANK_STRAYS) {
        *early = true;
        *last = time + 2. * size;
    }
    return MECHP_FMI3_OK;
}

enum mechp_fmi3_status fmi3GetFMUState(void *i, void **state)
{
    *state = *state != NULL ? *state : malloc(sizeof(struct tank));
    if (*state != NULL) {
        memcpy(*state, i, sizeof(struct tank));
    }
    return *state != NULL ? MECHP_FMI3_OK : MECHP_FMI3_ERROR;
}

enum mechp_fmi3_status fmi3SetFMUState(void *i, void *state)
{
    memcpy(i, state, sizeof(struct tank));
    return MECHP_FMI3_OK;
}

enum mechp_fmi3_status fmi3FreeFMUState(void *i, void **state)
{
    free(*state);
    *state = NULL;
    return MECHP_FMI3_OK;
}

enum mechp_fmi3_status fmi3SerializedFMUStateSize(void *i, void *state, size_t *size)
{
    *size = sizeof(struct tank);
    return MECHP_FMI3_OK;
}

enum mechp_fmi3_status fmi3SerializeFMUState(void *i, void *state, uint8_t bytes[], size_t size)
{
    memcpy(bytes, state, size);
    return MECHP_FMI3_OK;
}

enum mechp_fmi3_status fmi3DeserializeFMUState(void *i, const uint8_t bytes[], size_t size,
                                               void **state)
{
    *state = NULL;
    return size == sizeof(struct tank) ? fmi3GetFMUState((void *)(uintptr_t)bytes, state)
                                       : MECHP_FMI3_ERROR;
}
