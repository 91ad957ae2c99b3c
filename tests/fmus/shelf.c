/* An FMU of the tests, for co-simulation by FMI 2.0 and 3.0, that keeps what is set: some
 * variables of each type with the same references, whichever function of a type sets them. It has
 * states and can be reset, in both versions. */
#include "tests/fmus/shelf.h"
#include "protocol/fmi/fmi2.h"
#include "protocol/fmi/fmi3.h"
#include "tests/fmus/states.h"

#include <float.h>
#include <stdlib.h>
#include <string.h>

#define EXPORTED __attribute__((visibility("default")))

#define MECHP_FMI2(group, states, type, name, arguments) EXPORTED type fmi2##name arguments;
#include "protocol/fmi/fmi2.def"
#undef MECHP_FMI2
#define MECHP_FMI3(group, states, type, name, arguments) EXPORTED type fmi3##name arguments;
#include "protocol/fmi/fmi3.def"
#undef MECHP_FMI3

/* bytes of each variable of a type; wider than any element */
struct shelf {
    double reached;
    bool failed, ends; /* its last step was discarded; it wants to end */
    unsigned char values[16][SHELF_VARIABLES][8];
};

enum { REAL2, INTEGER2, BOOLEAN2, FIRST3 }; /* places of types; those of 3.0 follow */

static void *make(const char *token)
{
    return strcmp(token, SHELF_TOKEN) == 0 ? calloc(1, sizeof(struct shelf)) : NULL;
}

/* 0, or 3: an error. */
static int get(const struct shelf *s, int place, size_t size, const unsigned vr[], size_t n,
               void *out)
{
    for (size_t k = 0; k < n; k++) {
        if (vr[k] >= SHELF_VARIABLES) {
            return MECHP_FMI3_ERROR;
        }
        memcpy((char *)out + k * size, s->values[place][vr[k]], size);
    }
    return 0;
}

static int set(struct shelf *s, int place, size_t size, const unsigned vr[], size_t n,
               const void *in)
{
    for (size_t k = 0; k < n; k++) {
        if (vr[k] >= SHELF_VARIABLES) {
            return MECHP_FMI3_ERROR;
        }
        memcpy(s->values[place][vr[k]], (const char *)in + k * size, size);
    }
    return 0;
}

/* Where a step ends in which it wants to end. */
static double reached(double time, double size)
{
    return time >= SHELF_LATE ? (time + size) * (1. + DBL_EPSILON) : time + 0.5 * size;
}

/* --- 2.0 -------------------------------------------------------------------------------------- */

void *fmi2Instantiate(const char *name, enum mechp_fmi2_kind kind, const char *guid,
                      const char *resources, const struct mechp_fmi2_callbacks *callbacks,
                      int visible, int logging)
{
    return make(guid);
}

void fmi2FreeInstance(void *c)
{
    free(c);
}

enum mechp_fmi2_status fmi2SetupExperiment(void *c, int has_tolerance, double tolerance,
                                           double start, int has_stop, double stop)
{
    ((struct shelf *)c)->reached = has_stop ? stop : start;
    return has_tolerance && tolerance < 0. ? MECHP_FMI2_ERROR : MECHP_FMI2_OK;
}

enum mechp_fmi2_status fmi2EnterInitializationMode(void *c)
{
    return MECHP_FMI2_WARNING;
}

enum mechp_fmi2_status fmi2ExitInitializationMode(void *c)
{
    return MECHP_FMI2_OK;
}

enum mechp_fmi2_status fmi2Reset(void *c)
{
    memset(c, 0, sizeof(struct shelf));
    return MECHP_FMI2_OK;
}

enum mechp_fmi2_status fmi2GetReal(void *c, const unsigned vr[], size_t n, double values[])
{
    return (enum mechp_fmi2_status)get(c, REAL2, sizeof *values, vr, n, values);
}

enum mechp_fmi2_status fmi2SetReal(void *c, const unsigned vr[], size_t n, const double values[])
{
    return (enum mechp_fmi2_status)set(c, REAL2, sizeof *values, vr, n, values);
}

enum mechp_fmi2_status fmi2GetInteger(void *c, const unsigned vr[], size_t n, int values[])
{
    return (enum mechp_fmi2_status)get(c, INTEGER2, sizeof *values, vr, n, values);
}

enum mechp_fmi2_status fmi2SetInteger(void *c, const unsigned vr[], size_t n, const int values[])
{
    return (enum mechp_fmi2_status)set(c, INTEGER2, sizeof *values, vr, n, values);
}

enum mechp_fmi2_status fmi2GetBoolean(void *c, const unsigned vr[], size_t n, int values[])
{
    return (enum mechp_fmi2_status)get(c, BOOLEAN2, sizeof *values, vr, n, values);
}

enum mechp_fmi2_status fmi2SetBoolean(void *c, const unsigned vr[], size_t n, const int values[])
{
    return (enum mechp_fmi2_status)set(c, BOOLEAN2, sizeof *values, vr, n, values);
}

enum mechp_fmi2_status fmi2DoStep(void *c, double time, double size, int no_set_before)
{
    struct shelf *const s = c;
    const bool part = time < SHELF_PART && time + size > SHELF_PART, was_failed = s->failed;
    s->ends = time >= SHELF_END;
    s->failed = part;
    s->reached = s->ends ? reached(time, size) : part ? SHELF_PART : time + size;
    return was_failed ? MECHP_FMI2_ERROR : part || s->ends ? MECHP_FMI2_DISCARD : MECHP_FMI2_OK;
}

enum mechp_fmi2_status fmi2GetBooleanStatus(void *c, enum mechp_fmi2_status_kind kind, int *value)
{
    *value = kind == MECHP_FMI2_TERMINATED && ((const struct shelf *)c)->ends;
    return MECHP_FMI2_OK;
}

enum mechp_fmi2_status fmi2GetRealStatus(void *c, enum mechp_fmi2_status_kind kind, double *value)
{
    *value = ((struct shelf *)c)->reached;
    return MECHP_FMI2_OK;
}

enum mechp_fmi2_status fmi2GetFMUstate(void *c, void **state)
{
    return (enum mechp_fmi2_status)states_copy(c, sizeof(struct shelf), state);
}

enum mechp_fmi2_status fmi2SetFMUstate(void *c, void *state)
{
    return (enum mechp_fmi2_status)states_copy(state, sizeof(struct shelf), &c);
}

enum mechp_fmi2_status fmi2FreeFMUstate(void *c, void **state)
{
    free(*state);
    *state = NULL;
    return MECHP_FMI2_OK;
}

enum mechp_fmi2_status fmi2SerializedFMUstateSize(void *c, void *state, size_t *size)
{
    *size = sizeof(struct shelf);
    return MECHP_FMI2_OK;
}

enum mechp_fmi2_status fmi2SerializeFMUstate(void *c, void *state, char bytes[], size_t size)
{
    memcpy(bytes, state, size);
    return MECHP_FMI2_OK;
}

enum mechp_fmi2_status fmi2DeSerializeFMUstate(void *c, const char bytes[], size_t size,
                                               void **state)
{
    return (enum mechp_fmi2_status)states_read(bytes, size, sizeof(struct shelf), state);
}

/* --- 3.0 -------------------------------------------------------------------------------------- */

void *fmi3InstantiateCoSimulation(const char *name, const char *token, const char *resources,
                                  bool visible, bool logging, bool event_mode, bool early_return,
                                  const uint32_t intermediate[], size_t n_intermediate,
                                  void *environment, mechp_fmi3_log *log,
                                  mechp_fmi3_intermediate *update)
{
    return make(token);
}

void fmi3FreeInstance(void *i)
{
    free(i);
}

enum mechp_fmi3_status fmi3EnterInitializationMode(void *i, bool has_tolerance, double tolerance,
                                                   double start, bool has_stop, double stop)
{
    ((struct shelf *)i)->reached = has_stop ? stop : start;
    return has_tolerance && tolerance < 0. ? MECHP_FMI3_ERROR : MECHP_FMI3_OK;
}

enum mechp_fmi3_status fmi3ExitInitializationMode(void *i)
{
    return MECHP_FMI3_OK;
}

enum mechp_fmi3_status fmi3Reset(void *i)
{
    memset(i, 0, sizeof(struct shelf));
    return MECHP_FMI3_OK;
}

#define TYPE(name, element, place)                                                                 \
    enum mechp_fmi3_status fmi3Get##name(void *i, const uint32_t vr[], size_t n, element values[], \
                                         size_t n_values)                                          \
    {                                                                                              \
        return (enum mechp_fmi3_status)get(i, FIRST3 + (place), sizeof(element), vr, n, values);   \
    }                                                                                              \
    enum mechp_fmi3_status fmi3Set##name(void *i, const uint32_t vr[], size_t n,                   \
                                         const element values[], size_t n_values)                  \
    {                                                                                              \
        return (enum mechp_fmi3_status)set(i, FIRST3 + (place), sizeof(element), vr, n, values);   \
    }
TYPE(Float64, double, 0)
TYPE(Float32, float, 1)
TYPE(Int8, int8_t, 2)
TYPE(UInt8, uint8_t, 3)
TYPE(Int16, int16_t, 4)
TYPE(UInt16, uint16_t, 5)
TYPE(Int32, int32_t, 6)
TYPE(UInt32, uint32_t, 7)
TYPE(Int64, int64_t, 8)
TYPE(UInt64, uint64_t, 9)
TYPE(Boolean, bool, 10)

enum mechp_fmi3_status fmi3DoStep(void *i, double time, double size, bool no_set_before,
                                  bool *event, bool *terminate, bool *early, double *last)
{
    *terminate = time >= SHELF_END;
    *event = *early = false;
    *last = reached(time, size);
    return MECHP_FMI3_OK;
}

STATES3(struct shelf)

enum mechp_fmi3_status fmi3SetFMUState(void *i, void *state)
{
    return (enum mechp_fmi3_status)states_copy(state, sizeof(struct shelf), &i);
}
