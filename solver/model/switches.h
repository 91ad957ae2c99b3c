/* Where the expressions of a model go several ways, in a state (items/switches.h). Evaluation moves
 * the model's poses and the variables of its expressions, as any other one does. */
#pragma once

#include "solver/model/model.h"

/* How many there are. */
size_t mech_model_switches(const struct mech_model *m);
/* Name of the object or load that expression k belongs to; which of its numbers it is, as the
 * protocol counts them. */
const char *mech_model_switch_name(const struct mech_model *m, size_t k, int32_t *row);
/* The way of an expression that does not act: its object is not active, or an input is in its
 * place. Neither changes within a step. */
enum { MECH_SWITCH_IDLE = 0 };

/* way [mech_model_switches]: which way each goes in a state with its ground slots. g [nv + 1]:
 * scratch. */
void mech_model_switch_ways(const struct mech_model *m, const struct mech_state *s, double *g,
                            uint64_t *way);
