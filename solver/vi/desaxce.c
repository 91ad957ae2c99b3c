/* Fixed point from the associated law to Coulomb's; see desaxce.h. Each round calls the member for
 * a tenth of the residual that is left, so that rounds are cheap while the normal rows still move.
 */
#include "solver/vi/desaxce.h"

#include "solver/base/err.h"

#include <math.h>
#include <string.h>

/* r_N of the cones for tangential speeds c_T */
static void shift(const struct mech_problem *p, const double *c, double *r)
{
    int32_t row = 0;

    memcpy(r, p->r, (size_t)p->m * sizeof *r);
    for (int32_t i = 0; i < p->count; row += p->sets[i].rows, i++) {
        double corrected[MECH_SET_ROWS];

        if (p->sets[i].kind == MECH_SET_CONE || p->sets[i].kind == MECH_SET_ROLLING) {
            memcpy(corrected, c + row, (size_t)p->sets[i].rows * sizeof *corrected);
            mech_set_correct(&p->sets[i], MECH_COULOMB, corrected);
            r[row] += corrected[0] - c[row];
        }
    }
}

int mech_desaxce_solve(const struct mech_desaxce *d, const struct mech_problem *p,
                       const struct mech_vi_limits *limits, double *l,
                       struct mech_vi_result *result)
{
    struct mech_problem convex = *p;
    double least = HUGE_VAL;
    int32_t used = 0;

    mech_acceptance_form(d->accept, p);
    if (p->friction == MECH_ASSOCIATED || !(mech_problem_kinds(p) & MECH_VI_FRICTION)) {
        return d->member(d->self, p, limits, l, result);
    }
    convex.r = d->r;
    convex.friction = MECH_ASSOCIATED;
    for (int32_t i = 0; i < p->m; i++) {
        l[i] = isfinite(l[i]) ? l[i] : 0.;
    }
    mech_acceptance_weigh(d->accept, p);
    mech_acceptance_rest(d->accept, p, l);
    mech_problem_project(p, l);
    memcpy(d->best, l, (size_t)p->m * sizeof *l);
    for (;;) {
        mech_problem_speed(p, l, d->c);
        const double now = mech_acceptance_whole(d->accept, p, l, d->c, limits->tolerance);

        if (now < least) {
            least = now;
            memcpy(d->best, l, (size_t)p->m * sizeof *l);
        }
        if (!(now > limits->tolerance) || !isfinite(now) || used >= limits->max_iterations ||
            mech_interrupted(limits->interrupt)) {
            break;
        }
        const struct mech_vi_limits part = {fmax(0.1 * now, 0.3 * limits->tolerance),
                                            limits->max_iterations - used, limits->interrupt};

        shift(p, d->c, d->r);
        const int code = d->member(d->self, &convex, &part, l, result);

        if (code == MECH_SINGULAR || code == MECH_UNSUPPORTED || code < 0) {
            return code;
        }
        used += result->iterations > 0 ? result->iterations : 1;
        mech_acceptance_weigh(d->accept, p);
    }
    memcpy(l, d->best, (size_t)p->m * sizeof *l);
    result->iterations = used;
    return mech_iterate_verdict(d->accept, p, limits->tolerance, l, d->c, result);
}
