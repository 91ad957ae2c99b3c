/* What members that iterate share: a clean start, the best that was seen, the verdict.
 *
 *   MECH_ITERATE_START(...)  l finite and in its sets, c = N l + r
 *   for k = 1 …              the member moves l and keeps c = N l + r
 *       if (mech_iterate_judge(&it, p, k, l)) break;
 *   return mech_iterate_end(&it, p, l, result);
 *
 * owner: one solve. */
#pragma once

#include "solver/vi/vi.h"

struct mech_iterate {
    double *c, *best; /* [m] N l + r; l of the smallest residual so far */
    double least;     /* its residual */
    double tolerance;
    int32_t iterations, most;
    struct mech_interrupt *interrupt; /* of the limits */
    bool done;
};

/* c and best: memory of [m] each. 0: go on unless it->done; MECH_UNSUPPORTED: a kind of set that
 * the member does not take. */
int mech_iterate_start(struct mech_iterate *it, const struct mech_vi_type *type,
                       const struct mech_problem *p, const struct mech_vi_limits *limits,
                       double *l);
/* After iteration k. True when there is nothing left to do: solved, at the limit, interrupted (each
 * 16th asks), or not finite. A residual that seems to be small enough, and every 64th, is judged by
 * a fresh c. */
bool mech_iterate_judge(struct mech_iterate *it, const struct mech_problem *p, int32_t k,
                        double *l);
/* l := the best. 0 or MECH_VI_NOT_CONVERGED. */
int mech_iterate_end(const struct mech_iterate *it, const struct mech_problem *p, double *l,
                     struct mech_vi_result *result);
