/* Names of events. */
#include "solver/step/event_log.h"

const char *const mech_logged_kinds[] = {"impact",   "closes",  "opens",
                                         "switches", "updates", "returns"};
const char *const mech_logged_ofs[] = {"interaction", "joint", "bodies", "model", "expression"};
