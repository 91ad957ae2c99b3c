/* States of the tests' FMUs: copies of the component, a plain struct. Their bytes are those of the
 * copy. For FMI 3.0 the functions that all of them have. */
#pragma once

#include "protocol/fmi/fmi3.h"

#include <stdlib.h>
#include <string.h>

/* A copy of `from` [size] into *to, made where that is NULL. 0, or 3: an error. */
static inline int states_copy(const void *from, size_t size, void **to)
{
    *to = *to != NULL ? *to : malloc(size);
    if (*to != NULL) {
        memcpy(*to, from, size);
    }
    return *to != NULL ? MECHP_FMI3_OK : MECHP_FMI3_ERROR;
}

/* A new state of `given` bytes, which must be `size`. 0, or 3: an error. */
static inline int states_read(const void *bytes, size_t given, size_t size, void **to)
{
    *to = NULL;
    return given == size ? states_copy(bytes, size, to) : MECHP_FMI3_ERROR;
}

#define STATES3(component)                                                                         \
    enum mechp_fmi3_status fmi3GetFMUState(void *i, void **state)                                  \
    {                                                                                              \
        return (enum mechp_fmi3_status)states_copy(i, sizeof(component), state);                   \
    }                                                                                              \
    enum mechp_fmi3_status fmi3FreeFMUState(void *i, void **state)                                 \
    {                                                                                              \
        free(*state);                                                                              \
        *state = NULL;                                                                             \
        return MECHP_FMI3_OK;                                                                      \
    }                                                                                              \
    enum mechp_fmi3_status fmi3SerializedFMUStateSize(void *i, void *state, size_t *size)          \
    {                                                                                              \
        *size = sizeof(component);                                                                 \
        return MECHP_FMI3_OK;                                                                      \
    }                                                                                              \
    enum mechp_fmi3_status fmi3SerializeFMUState(void *i, void *state, uint8_t bytes[],            \
                                                 size_t size)                                      \
    {                                                                                              \
        memcpy(bytes, state, size);                                                                \
        return MECHP_FMI3_OK;                                                                      \
    }                                                                                              \
    enum mechp_fmi3_status fmi3DeserializeFMUState(void *i, const uint8_t bytes[], size_t size,    \
                                                   void **state)                                   \
    {                                                                                              \
        return (enum mechp_fmi3_status)states_read(bytes, size, sizeof(component), state);         \
    }
