/* Life of a floor: a server that a benchmark starts, finds by a file, and ends by SIGTERM. */
#pragma once

/* Before any thread is made: SIGTERM waits for floor_live_on. */
void floor_begin(void);

/* Write where the floor serves, a JSON object, whole at once into the file; then wait for SIGTERM.
 * The exit status. */
int floor_live_on(const char *ready_file, const char *where);
