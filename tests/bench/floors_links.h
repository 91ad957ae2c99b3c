/* Bespoke floors of pendulums of rods of 1 kg and 1 m, horizontal and at rest in the beginning, as
 * chains.h makes them; they start anew after each second. One unit is a step of h = 1 ms.
 * owner: the caller; exits with 2 where there is no memory.
 */
#pragma once

#include <stdint.h>

struct floor_plane_link;
struct floor_space_link;

/* In the plane: three coordinates a link, two multipliers a joint, index 3, generalized-α with two
 * Newton iterations, blocks eliminated from the tip to the wall. */
struct floor_plane {
    int32_t n;
    int32_t units; /* steps of a unit */
    struct floor_plane_link *link;
    uint64_t done;
};

void floor_plane_init(struct floor_plane *f, int32_t n);
void floor_plane_fini(struct floor_plane *f);
void floor_plane_step(void *plane, uint64_t count);
/* where the tip is */
void floor_plane_tip(const struct floor_plane *f, double out[2]);

/* In space, hinges about y and z in turns, in minimal coordinates: articulated bodies
 * (Featherstone 1983) in axes of the world, Euler's semi-implicit steps, no iterations. */
struct floor_space {
    int32_t n;
    struct floor_space_link *link;
    uint64_t done;
};

void floor_space_init(struct floor_space *f, int32_t n);
void floor_space_fini(struct floor_space *f);
void floor_space_step(void *space, uint64_t count);
void floor_space_tip(const struct floor_space *f, double out[3]);
