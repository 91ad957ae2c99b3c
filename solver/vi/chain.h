/* One problem solved by whoever can: the member that is named, or one after the other until the
 * residual is small enough. The law of friction is that of the problem for all of them.
 *
 *   bilateral rows     bilateral, minres, semismooth
 *   rows               lemke up to 200 rows, psor, semismooth, admm
 *   cones              nsgs, semismooth, admm
 *   rolling contacts   psor, apgd, admm
 *
 * For problems that stand alone: memory is taken for the one solve. Steppers keep their members. */
#pragma once

#include "solver/vi/vi.h"

/* name NULL: the chain; iterations are summed, and each member but the first starts from the best l
 * so far. Returns as mech_vi_type.solve, MECH_NOT_FOUND (no such member), negative: no memory;
 * result->solver names who found it, or came closest. */
int mech_vi_solve(const char *name, const struct mech_problem *p,
                  const struct mech_vi_limits *limits, double *l, struct mech_vi_result *result);
