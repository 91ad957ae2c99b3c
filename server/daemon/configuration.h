/* Configuration: flags over environment (MECHD_…) over the file of --config. One table names every
 * option for all three. Thread: main. */
#pragma once

#include "server/os/config.h"

#include <stddef.h>

/* Read flags, environment and file, and check the whole. Negative: a sentence is in `fault`. */
int mechd_config_read(struct mechd_config *c, int argc, char **argv, char *fault, size_t size);

/* The text of --help, from the table. */
void mechd_config_help(void);
/* The manual page mechd.1. */
void mechd_config_manual(void);
