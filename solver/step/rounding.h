/* What rounding leaves of a residual, where forces balance that are far larger than what is left:
 * ε ‖|K| |q|‖ and the like for v, v̇ and λ, taken as a difference along ±q without any matrix.
 * Newton's method cannot come closer. owner: whoever owns the state. */
#pragma once

#include "solver/base/arena.h"
#include "solver/model/state.h"

enum { MECH_ROUNDING_SIDES = 2 };

/* Shares that a residual moves by when every number is wrong by one: relative, far above ε and far
 * below what is not linear. A jump of a force counts by its share of ε. */
#define MECH_ROUNDING_NUDGE 0x1p-30
/* Residual of rounding = this × the change by a nudge: 4 ε of every number, some six times what
 * the iterations of long cables end at. */
#define MECH_ROUNDING_SHARE (4. * 0x1p-52 / MECH_ROUNDING_NUDGE)

/* `out` is `s` with its q, v, v̇ and λ each off by ±MECH_ROUNDING_NUDGE of itself; `side` of
 * MECH_ROUNDING_SIDES says which signs. Those four live in the arena, the rest belongs to `s`.
 * 0 or MECH_NO_MEMORY. */
int mech_rounding_nudge(const struct mech_state *s, const struct mech_state_sizes *n, int side,
                        struct mech_arena *arena, struct mech_state *out);
