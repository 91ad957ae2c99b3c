/* A chain of n links in space in MuJoCo, as CHAIN_SPACE of chains.h: one unit is a step of 1 ms; it
 * starts anew after each second. owner: the caller.
 */
#pragma once

#include <stdint.h>

/* NULL, with a reason on stderr, where MuJoCo does not take the chain: its reader of XML nests some
 * hundreds of bodies. */
struct peer_chain *peer_chain_create(int n);
/* NULL is allowed. */
void peer_chain_destroy(struct peer_chain *c);
/* bench_work on a struct peer_chain */
void peer_chain_step(void *chain, uint64_t count);
