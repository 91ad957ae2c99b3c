/* Instances of uploaded FMUs, for the operations that make one. On the pool. */
#pragma once

#include "server/call/call.h"
#include "server/engine/fmu_engine.h"

/* The engine of an uploaded FMU with these start values, by name, or NULL. False: refused. */
bool mechd_fmu_engine_ready(struct mechd_call *c, const char *id, const json_t *start,
                            struct mechd_engine *out);
/* The same, begun. */
bool mechd_fmu_engine(struct mechd_call *c, const char *id, const json_t *start,
                      struct mechd_engine *out);
