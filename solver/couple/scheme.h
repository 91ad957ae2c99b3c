/* Coupling schemes behind one table. A scheme handles only unknowns: z, outputs of participants at
 * the end of a window (or at its substeps) and efforts of bonds, and what an evaluation makes of
 * them. A member is one file and one line in schemes.def.
 *
 * With g(z) the outputs that follow from z, r = g(z) − z, and after convergence z = g(z).
 */
#pragma once

#include "solver/couple/room.h"

#include <stdbool.h>
#include <stdint.h>

enum mech_scheme_turns {
    MECH_SCHEME_TOGETHER,  /* each participant sees the last iterate of all others */
    MECH_SCHEME_IN_TURN,   /* it sees what those before it have come to */
    MECH_SCHEME_AS_ORDERED /* in turn when options.order is given, else together */
};

struct mech_scheme_space {
    int32_t n;              /* most unknowns */
    int32_t max_iterations; /* of a window */
    double relaxation;
    int32_t reuse;
    double filter;
};

/* One iteration. */
struct mech_scheme_iterate {
    int32_t n;
    int32_t iteration;    /* of the window, from 0 */
    const double *z;      /* [n] */
    const double *r;      /* [n] */
    const double *scale;  /* [n] > 0, of the unknowns */
    const double *matrix; /* [n · n] by columns, −∂r/∂z; NULL unless the scheme requests it */
    bool matrix_same;     /* bit by bit as when it was last given */
};

struct mech_scheme_type {
    const char *name; /* as scheme.type */
    const char *doc;
    enum mech_scheme_turns turns;
    bool iterates;
    bool matrix;   /* needs −∂r/∂z */
    bool bonds;    /* takes bonds */
    uint32_t laws; /* 1u << enum mech_couple_law of the bonds that it takes */
    size_t size;   /* of its self, zeroed, held by the coupling; 0: none */
    /* Takes its numbers from the room (room.h): called twice. */
    void (*lay)(void *self, const struct mech_scheme_space *space, struct mech_room *room);
    /* A window begins. */
    void (*begin)(void *self);
    /* z_next [n]. 0; MECH_SINGULAR. No allocation. */
    int (*correct)(void *self, const struct mech_scheme_iterate *at, double *z_next);
    /* It has ended; converged, or not: nothing of it is kept. */
    void (*end)(void *self, bool accepted);
    /* Whether its numbers may become those of the copy: counts and places within their ranges.
     * NULL: any numbers may. */
    bool (*accepts)(const void *self, const struct mech_room_copy *copy);
};

#define MECH_SCHEME(name) extern const struct mech_scheme_type mech_scheme_##name;
#include "solver/couple/schemes.def"
#undef MECH_SCHEME

extern const struct mech_scheme_type *const mech_scheme_types[]; /* sorted, closed by NULL */
const struct mech_scheme_type *mech_scheme_find(const char *name);
