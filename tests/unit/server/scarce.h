/* For tests of operations whose allocations are refused, one after the other: the daemon that they
 * are sent to, and what has come out otherwise than it should. One daemon at a time; one thread. */
#pragma once

#include "tests/unit/server/local.h"

enum { SCARCE_LIMIT_MS = 20000 /* for what must happen some time */ };

/* A daemon in this process, which stores in a folder of its own or nothing. Allocations that
 * jansson does not check are never refused. */
struct mechd *scarce_begin(bool stored);
/* The same with options of the command line, closed by NULL. */
struct mechd *scarce_begin_with(bool stored, const char *const *options);
/* It has no instance any more, and ends; no fault has been found. */
void scarce_end(struct mechd *served);

/* Unless good: a fault, of which the first ones are printed, with the number of the allocation. */
void scarce_expect(bool good, const char *method, const char *path, long n,
                   const struct local_reply *r, const char *what);
/* Whether the next one will be printed. */
bool scarce_prints(void);
