/* Life of a floor: a server that a benchmark starts, finds by a file, and ends by SIGTERM. */
#pragma once

#include "solver/sim/mech.h"

/* Before any thread is made: SIGTERM waits for floor_live_on. */
void floor_begin(void);

/* Write where the floor serves, a JSON object, whole at once into the file; then wait for SIGTERM.
 * The exit status. */
int floor_live_on(const char *ready_file, const char *where);

/* A simulation of a model in JSON with `least` to `most` outputs; of another one the program ends
 * with status 2. */
struct mech_sim *floor_sim(const char *model, size_t least, size_t most);
