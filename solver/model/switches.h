/* Where the expressions of a model go several ways, in a state (items/switches.h). Evaluation moves
 * the model's poses and the variables of its expressions, as any other one does. */
#pragma once

#include "solver/model/model.h"

/* How many there are. */
size_t mech_model_switches(const struct mech_model *m);
/* Name of the object or load that expression k belongs to; which of its numbers it is, as the
 * protocol counts them. */
const char *mech_model_switch_name(const struct mech_model *m, size_t k, int32_t *row);
/* The jumps of an expression that does not act: its object is not active, or an input is in its
 * place. Neither changes within a step. */
enum { MECH_SWITCH_IDLE = 0 };

/* way [mech_model_switches]: which way each goes in a state with its ground slots. A force law that
 * goes another way than it was (NULL: unknown) keeps its kinks while the difference that they make
 * is within the rounding of the forces that balance, of each velocity on which it acts: v*abs(v) of
 * what rests. bend [mech_model_switches]: by how much the value would differ with the kinks that it
 * had, 0 or more, whether it keeps them or not; −1: it has them, or differs otherwise.
 * work [3 (nv + 1)]: scratch. */
void mech_model_switch_ways(const struct mech_model *m, const struct mech_state *s,
                            const struct mech_expr_way *was, double *work, double *bend,
                            struct mech_expr_way *way);
