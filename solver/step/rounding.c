/* Signs come from the number's place alone, so that two runs give the same bits. */
#include "solver/step/rounding.h"

#include "solver/base/err.h"

#include <string.h>

/* Fibonacci hashing (D. Knuth, The Art of Computer Programming 3, 6.4): neighbors differ */
static double sign_of(uint32_t place, int side)
{
    return ((place + 1) * 2654435769u + (uint32_t)side * 2246822519u) & 0x100000u ? 1. : -1.;
}

static double *nudged(const double *x, int32_t n, int side, struct mech_arena *arena)
{
    double *const out = mech_arena_alloc(arena, (size_t)n + 1, sizeof *out);

    for (int32_t i = 0; out && i < n; i++) {
        out[i] = x[i] * (1. + sign_of((uint32_t)i, side) * MECH_ROUNDING_NUDGE);
    }
    return out; /* the last is the ground's, 0 */
}

int mech_rounding_nudge(const struct mech_state *s, const struct mech_state_sizes *n, int side,
                        struct mech_arena *arena, struct mech_state *out)
{
    *out = *s;
    out->q = nudged(s->q, n->q, side, arena);
    out->v = nudged(s->v, n->v, side, arena);
    out->vdot = nudged(s->vdot, n->v, side, arena);
    out->lambda = nudged(s->lambda, n->lambda, side, arena);
    return out->q && out->v && out->vdot && out->lambda ? 0 : MECH_NO_MEMORY;
}
