/* --check-config: checks what a start would use, without starting: addresses, folders, files.
 * Nothing is bound, and everything created is removed, so that it can be used while a daemon runs.
 * */
#pragma once

#include "server/os/config.h"

/* Print what a start would do on standard output, and every fault on standard error. Returns the
 * number of faults. */
int mechd_config_probe(const struct mechd_config *c);
