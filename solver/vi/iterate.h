/* What members that iterate share: a clean start, the best that was seen, the verdict.
 *
 *   MECH_ITERATE_START(...)  l finite and in its sets, c = N l + r
 *   for k = 1 …              the member moves l and keeps c = N l + r
 *       if (mech_iterate_judge(&it, p, k, l)) break;
 *   return mech_iterate_end(&it, p, l, result);
 *
 * owner: one solve. */
#pragma once

#include "solver/sys/acceptance.h"
#include "solver/vi/vi.h"

struct mech_iterate {
    double *c, *best;               /* [m] N l + r; the best l so far */
    struct mech_acceptance *accept; /* formed for N and the sets */
    double least;                   /* acceptance of the best */
    double rank; /* of the best: larger of mech_acceptance_of and ten times the residual */
    double tolerance;
    int32_t iterations, most;
    struct mech_interrupt *interrupt; /* of the limits */
    bool done;
};

/* c and best: memory of [m] each; accept: formed, weighed here. 0: go on unless it->done;
 * MECH_UNSUPPORTED: a kind of set that the member does not take. */
int mech_iterate_start(struct mech_iterate *it, const struct mech_vi_type *type,
                       const struct mech_problem *p, const struct mech_vi_limits *limits,
                       double *l);
/* After iteration k. True when there is nothing left to do: solved, at the limit, interrupted (each
 * 16th asks, of many rows each), or not finite. What seems to be good enough, and every
 * 64th, is judged by a fresh c. */
bool mech_iterate_judge(struct mech_iterate *it, const struct mech_problem *p, int32_t k,
                        double *l);
/* Residual and acceptance of l, which is weighed by p; c [m]: N l + r. 0 or MECH_VI_NOT_CONVERGED.
 */
int mech_iterate_verdict(struct mech_acceptance *accept, const struct mech_problem *p,
                         double tolerance, const double *l, double *c,
                         struct mech_vi_result *result);
/* l := the best. 0 or MECH_VI_NOT_CONVERGED. */
int mech_iterate_end(const struct mech_iterate *it, const struct mech_problem *p, double *l,
                     struct mech_vi_result *result);
