/* Participants without a state: y = A u + b + e u², components alike. */
#pragma once

#include "solver/base/err.h"
#include "solver/couple/drive.h"

#include <stdlib.h>
#include <string.h>

enum { MAP_MOST = 24 };

struct map {
    int32_t n;
    double A[MAP_MOST * MAP_MOST], b[MAP_MOST], e;
    int32_t trials;
};

static inline int map_apply(void *self, struct mech_couple_task *task)
{
    struct map *const m = self;
    double u[MAP_MOST] = {0.};
    mech_couple_input(task, task->size, 0, u);
    m->trials++;
    for (int32_t i = 0; i < m->n; i++) {
        task->outputs[i] = m->b[i];
        for (int32_t j = 0; j < m->n; j++) {
            task->outputs[i] += m->A[i * m->n + j] * u[j] + (i == j ? m->e * u[j] * u[j] : 0.);
        }
    }
    for (int32_t i = 0; task->want_jacobian && i < m->n; i++) {
        for (int32_t j = 0; j < m->n; j++) {
            task->jacobian[i * m->n + j] = m->A[i * m->n + j] + (i == j ? 2. * m->e * u[j] : 0.);
        }
    }
    return 0;
}

static inline int map_keep(void *self, struct mech_couple_task *task)
{
    (void)self;
    (void)task;
    return 0;
}

static const struct mech_couple_functions map_functions = {map_apply, map_apply, map_keep, NULL};

/* Two maps of n values, each the other's input; entries in ±size, of a fixed sequence. */
struct maps {
    struct map map[2];
    struct mech_couple_partner partner[2];
    struct mech_couple *couple;
    char reason[MECH_COUPLE_REASON];
};

static inline void maps_fill(struct maps *m, int32_t n, double size, unsigned seed)
{
    uint64_t state = seed * 2654435761u + 1u;
    for (int p = 0; p < 2; p++) {
        m->map[p].n = n;
        for (int32_t i = 0; i < n * n + n; i++) {
            state = state * 6364136223846793005u + 1442695040888963407u;
            const double x = (double)(state >> 11) / 4503599627370496. - 1.;
            if (i < n * n) {
                m->map[p].A[i] = size * x;
            } else {
                m->map[p].b[i - n * n] = x;
            }
        }
        m->partner[p] = (struct mech_couple_partner){&map_functions, m->map + p};
    }
}

static inline int maps_create(struct maps *m, uint32_t abilities,
                              const struct mech_couple_options *options)
{
    struct mech_couple_connection k[2 * MAP_MOST];
    const int32_t n = m->map[0].n;
    for (int32_t i = 0; i < 2 * n; i++) {
        k[i] = (struct mech_couple_connection){i / n, i % n, 1 - i / n, i % n, 1., 0.};
    }
    const struct mech_couple_participant about[] = {{"left", n, n, 0, abilities},
                                                    {"right", n, n, 0, abilities}};
    const struct mech_couple_setup setup = {.participants = about,
                                            .participant_count = 2,
                                            .connections = k,
                                            .connection_count = 2 * n,
                                            .options = *options};
    return mech_couple_create(&setup, m->reason, &m->couple);
}
