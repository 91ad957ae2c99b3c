/* One problem solved by any member that can: the named one, or one after the other until the
 * residual is small enough. The law of friction is that of the problem for all of them.
 *
 *   bilateral rows     bilateral, minres, semismooth
 *   unilateral rows    lemke, psor, semismooth; beyond 200 rows psor first
 *   cones, boxes       nsgs, semismooth, admm
 *   rolling contacts   psor, apgd, admm
 *   N is not formed    apgd, admm, barzilai; bilateral rows alone minres, admm, apgd
 */
#pragma once

#include "solver/vi/vi.h"

/* Names of that order, three, closed by NULL; kinds: mask of 1u << enum mech_set_kind. */
const char *const *mech_vi_default(uint32_t kinds, int32_t rows);

/* For problems without a model: memory is taken for the one solve; steppers keep their members.
 * name NULL: the chain; iterations are summed, and each member but the first starts from the best l
 * so far. Returns as mech_vi_type.solve, MECH_NOT_FOUND (no such member), negative: no memory;
 * result->solver is the one that found it, or came closest. What is accepted by a slide alone
 * (sys/acceptance.h) is not solved where a certificate proves that there is no solution. */
int mech_vi_solve(const char *name, const struct mech_problem *p,
                  const struct mech_vi_limits *limits, double *l, struct mech_vi_result *result);
