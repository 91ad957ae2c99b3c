/* Configuration: flags over environment (MECHD_…) over the file of --config over the environment's
 * defaults (MECHD_DEFAULT_…). One table names every option for all of them. Thread: main. */
#pragma once

#include "server/os/config.h"

#include <stddef.h>

/* Read flags, environment and file, and check the whole; for --print settings it is only read.
 * Negative: a sentence is in `fault`. */
int mechd_config_read(struct mechd_config *c, int argc, char **argv, char *fault, size_t size);

/* Whether the options fit each other, and their addresses are some. Negative: a sentence is in
 * `fault`. */
int mechd_config_agree(const struct mechd_config *c, char *fault, size_t size);

/* The text of --help, from the table. */
void mechd_config_help(void);
/* The options in effect: lines of `option = value`, as the configuration file has them; one without
 * a value has no line. */
void mechd_config_print(const struct mechd_config *c);
/* The manual page mechd.1. */
void mechd_config_manual(void);
/* What a shell (bash, zsh, fish) completes behind mechd, as a script of it. 1: no such shell. */
int mechd_config_complete(const char *shell);
