/* What the last command of a coupling ended with, for a client that did not get its answer: steps,
 * trials and resets, also the turns of a run. In memory. locked by the coupling's m. */
#pragma once

#include "protocol/wire/codes.h"
#include "protocol/wire/text.h"

#include <stdint.h>

struct mechd_coupling;
struct mechd_coupling_command;

struct mechd_coupling_last {
    const char *command; /* "step", "trial", "reset"; NULL: there has been none */
    enum mechp_code code;
    char detail[300];                          /* of a code that is not OK */
    uint64_t windows, iterations, evaluations; /* of that command */
    double residual;                           /* largest, relative to the tolerance */
};

/* The command is over. As the owner of all instances. */
void mechd_last_note(const struct mechd_coupling_command *k);
/* Windows that had been answered for could not be stored. As that owner. */
void mechd_last_lost(struct mechd_coupling *g);
/* A struct mechd_coupling_last as null or an object. Any thread. */
void mechd_last_write(const void *last, struct mechp_text *w);
