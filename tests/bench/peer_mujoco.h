/* A chain of n links in space in MuJoCo, as CHAIN_SPACE of chains.h: one unit is a step of 1 ms; it
 * starts anew after each second. Exits with 2 and a reason on failure. owner: the caller.
 */
#pragma once

#include <stdint.h>

struct peer_chain *peer_chain_create(int n);
void peer_chain_destroy(struct peer_chain *c);
/* bench_work on a struct peer_chain */
void peer_chain_step(void *chain, uint64_t count);
