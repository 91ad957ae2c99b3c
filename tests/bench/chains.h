/* Chains of joints and items as models, written as JSON, and a run through the public façade that
 * starts anew after each second, so that every measurement sees the same motion.
 * owner: the caller.
 */
#pragma once

#include "solver/sim/mech.h"

enum chain_kind {
    CHAIN_PLANE,  /* links in the plane, RevoluteJoint2D */
    CHAIN_SPACE,  /* links in space, RevoluteJointZ, hinges about y and z in turns */
    CHAIN_ITEMS,  /* Node1D, Mass1D, CoordinateSpringDamper */
    CHAIN_FORMULA /* the same with a force law by expression, k u + 0.1 k u³ + d v */
};

struct chain {
    struct mech_sim *sim;
    void *start; /* saved state */
    uint64_t done, turn;
    uint64_t units; /* steps of a unit */
    uint64_t steps, iterations;
};

/* n rods of 1 kg and 1 m that hang on each other, horizontal and at rest, under gravity; or n
 * masses of 1 kg between springs of 1000 N/m, the first held to the ground, the last pushed.
 * h = 1 ms. `linear`: a linear solver or NULL. Exits with 2 and the faults on failure. */
struct chain *chain_create(enum chain_kind kind, int n, const char *linear);
/* The same with these members of "solver". */
struct chain *chain_solved_by(enum chain_kind kind, int n, const char *settings);
/* A document of JSON text; a run of one that starts anew after `turn` steps. */
struct mech_document *chain_read(const char *text, size_t size);
struct chain *chain_of(struct mech_document *document, uint64_t turn);
void chain_destroy(struct chain *c);
/* bench_work on a struct chain: one unit is `units` steps. */
void chain_step(void *chain, uint64_t count);
