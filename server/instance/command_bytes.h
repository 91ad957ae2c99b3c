/* A step command as bytes, for the journal: the data that mech_sim_step needs to repeat it.
 *
 *   checksum u64 (mech_hash of what follows) · kind u8 · count u64 · size f64 · inputs u32 ·
 *   forces u32, then for each input index i32, order i32 (−1: returned to the model), its values;
 *   for each force marker i32 and 6 values
 *
 * In this machine's byte order, like snapshots. Any thread. */
#pragma once

#include "server/engine/engine.h"

/* Fresh memory, or NULL. `e` provides the sizes of inputs. */
unsigned char *mechd_command_bytes(const struct mechd_engine *e, const struct mech_step_request *r,
                                   size_t *size);
/* The checksum of bytes of this size, into their first eight. */
void mechd_command_seal(void *bytes, size_t size);
/* Repeat it. 0; MECH_MISMATCH: not a command, or damaged; as mech_sim_step. */
int mechd_command_replay(const struct mechd_engine *e, const void *bytes, size_t size);
