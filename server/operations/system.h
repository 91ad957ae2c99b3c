/* Shared by the routes of …/system: the options of a descriptor, pieces of answers. */
#pragma once

#include "server/call/forms.h"
#include "server/call/shapes.h"
#include "solver/sim/system.h"

/* The descriptor at the present state, with the options of the request; NULL: refused. */
struct mech_sim_system *mechd_system_open(struct mechd_call *c);

/* "time" and "level", first members of every answer. */
void mechd_system_begin(struct mechd_call *c, const struct mech_sim_system_info *info);

/* Members of an answer; the shape of a part is [rows, columns], or [rows]. */
void mechd_system_shape(struct mechp_text *w, const struct mech_sim_system *s, int part);
