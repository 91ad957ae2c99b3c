/* --check-config: what a start would meet, without starting: addresses, folders, files. Nothing is
 * bound, and nothing that is made stays, so that it may be asked beside a daemon that runs. */
#pragma once

#include "server/os/config.h"

/* Print what would be done on standard output, and every fault on standard error. The number of
 * faults. */
int mechd_config_probe(const struct mechd_config *c);
