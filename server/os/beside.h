/* Files that belong to this program: installed with it, or in the folder in which it was built. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* The first of these paths, relative to the folder of the running program and closed by NULL, that
 * can be read: in `path` [size]. False: there is none. Linux; any thread. */
bool mechd_beside(const char *const places[], char *path, size_t size);
