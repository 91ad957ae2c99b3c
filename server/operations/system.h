/* Shared by the routes of …/system: the options of a descriptor, pieces of answers. */
#pragma once

#include "protocol/wire/queries.h"
#include "server/call/forms.h"
#include "server/call/shapes.h"
#include "solver/sim/system.h"

/* Options as a request has them. */
struct mechd_system_choice {
    const struct mechp_system_options *options;
    const json_t *names; /* of frozen items: a list, a text, or NULL */
    const char *frozen;  /* the same as a text, or NULL */
    bool bilateral;
};
/* The descriptor at the present state; NULL: refused. */
struct mech_sim_system *mechd_system_open(struct mechd_call *c,
                                          const struct mechd_system_choice *choice);
/* The same with the options of the query. */
struct mech_sim_system *mechd_system_asked(struct mechd_call *c);

/* The word for what its unknowns are. */
const char *mechd_system_level(const struct mech_sim_system_info *info);

/* The shape of a part, a value of a body: [rows, columns], or [rows]. */
struct mechd_system_part {
    const struct mech_sim_system *of;
    int part;
};
void mechd_system_shape(const void *part, struct mechp_text *w);
