/* Two oscillators whose springs pull each other: the first away from its rest. */
#pragma once

#include "tests/unit/solver/couple/halves.h"

static const struct mech_couple_connection crossed[] = {{0, 0, 1, 0, 1., 0.}, {1, 0, 0, 0, 1., 0.}};

static inline struct mech_couple_setup setup_of(const char *scheme)
{
    return (struct mech_couple_setup){.connections = crossed,
                                      .connection_count = 2,
                                      .options = {.scheme = scheme,
                                                  .relative_tolerance = 1e-10,
                                                  .absolute_tolerance = 1e-12,
                                                  .max_iterations = 50,
                                                  .relaxation = 0.8,
                                                  .reuse = 2}};
}

static inline struct halves pair(void)
{
    struct halves h = {0};
    for (int i = 0; i < 2; i++) {
        h.half[i] =
            (struct half){.m = 1., .k = 2., .gain = {1.}, .inputs = 1, .count = 1, .x = i == 0};
    }
    return h;
}
