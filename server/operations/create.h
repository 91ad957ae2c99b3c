/* From a model document to a simulation, for operations that build one. On the pool. */
#pragma once

#include "server/call/call.h"

/* A simulation from a model in JSON; its faults have pointers under `base`. NULL: refused. */
struct mech_sim *mechd_build(struct mechd_call *c, const json_t *model, const char *base);
/* The document of a ready model; the caller's. NULL: refused. */
json_t *mechd_build_example(struct mechd_call *c, const char *name);
