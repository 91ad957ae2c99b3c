/* FMUs from outside, for the operations that take them in. On the pool. */
#pragma once

#include "server/call/call.h"
#include "server/engine/fmu_package.h"

/* 0, or refused: none are hosted here. */
int mechd_fmus_check_on(struct mechd_call *c);
/* Opens the bytes of an .fmu, of which instances can be made; faults are below `base` ("": its
 * own). NULL: refused. */
struct mechd_fmu_package *mechd_fmus_open_bytes(struct mechd_call *c, const void *bytes,
                                                size_t size, const char *base);
/* Into the table under a new id, into id [MECH_NAME_MAX + 1], with its line in the log. False:
 * refused. */
bool mechd_fmus_keep(struct mechd_call *c, struct mechd_fmu_package *p, char *id);
/* Out of the table, if it is there, with its line in the log; instances of it continue. */
void mechd_fmus_drop(struct mechd_call *c, const char *id);
