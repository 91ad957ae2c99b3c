/* Commands of couplings that operations of other files ask for. */
#pragma once

#include "server/coupling/coupling.h"

/* For mechd_operation.spread: a command that does this once, as the owner of all participants and
 * of the face, of the coupling of the path. `alone`: not while a run is in progress. On the pool
 * where the cost of the row is unknown. RAN: refused. */
enum mechd_submitted mechd_couplings_once(struct mechd_call *c, bool alone,
                                          void (*once)(struct mechd_coupling_command *k));
