/* Models of the benchmarks, built as documents in C (no JSON here), and a simulation made of one.
 * owner: the caller.
 */
#pragma once

#include "solver/sim/mech.h"

enum scene_form { SCENE_BANDED, SCENE_DENSE };

/* Chain of n unit masses with springs k = 1000 N/m and dampers c = 0.1 N s/m as one
 * LagrangianLinearTIDS; first mass to the wall, last one pushed by 1 N towards a stop at 1 mm, e =
 * 0.5; h = 1 ms; all masses in motion from the start. SCENE_DENSE: each mass is also held to each
 * other by a spring of 1/(1 + (i − j)²) N/m and a damper of a thousandth of it, so that no entry of
 * K and C is 0. NULL: no memory. */
struct mech_document *scene_chain(int32_t n, enum scene_form form);

/* Mass of 1 kg falling from 1 m under 9.81 N on a floor, e = 0.9, h = 5 ms. */
struct mech_document *scene_ball(void);

/* Column of n beads of radius 0.1 m, 0.05 m apart, falling from 0.9 m on a floor, e = 0.9, h = 0.5
 * ms.
 */
struct mech_document *scene_beads(int32_t n);

/* Exits with 2 and the faults when the document is none (or NULL). */
struct mech_sim *scene_create(struct mech_document *document);

/* bench_work on a struct mech_sim: one command of `count` internal steps. */
void scene_step(void *sim, uint64_t count);
