/* Start, verdict and end of members that iterate; see iterate.h. */
#include "solver/vi/iterate.h"

#include "solver/base/err.h"

#include <math.h>
#include <string.h>

/* rows from which on an iteration costs more than a question */
enum { MANY_ROWS = 256, ASK_EVERY = 16 };

/* The best that is left when nothing is solved: an answer that another tolerance takes has to be
 * good in both measures, of which the residual is the smaller one with friction. */
static double rank_of(double miss, double residual)
{
    return fmax(miss, 10. * residual) + 0. * (miss + residual);
}

int mech_iterate_start(struct mech_iterate *it, const struct mech_vi_type *type,
                       const struct mech_problem *p, const struct mech_vi_limits *limits, double *l)
{
    bool quiet = true;
    double miss = NAN;

    if (mech_problem_kinds(p) & ~type->kinds) {
        return MECH_UNSUPPORTED;
    }
    for (int32_t i = 0; i < p->m; i++) {
        l[i] = isfinite(l[i]) ? l[i] : 0.;
        quiet &= p->r[i] == 0.;
    }
    if (quiet) {
        memset(l, 0, (size_t)p->m * sizeof *l);
    }
    mech_acceptance_weigh(it->accept, p);
    mech_acceptance_rest(it->accept, p, l);
    mech_problem_project(p, l);
    mech_problem_speed(p, l, it->c);
    memcpy(it->best, l, (size_t)p->m * sizeof *l);
    it->tolerance = limits->tolerance;
    it->least = mech_problem_is_finite(p)
                    ? mech_acceptance_whole(it->accept, p, l, it->c, it->tolerance, &miss)
                    : NAN;
    it->rank = rank_of(miss, mech_acceptance_residual(it->accept, p, l, it->c));
    it->most = limits->max_iterations;
    it->interrupt = limits->interrupt;
    it->iterations = 0;
    /* a NaN here comes from the data: no l can mend it */
    it->done = isnan(it->least) || it->least <= it->tolerance || it->most <= 0 ||
               (it->interrupt && it->interrupt->came);
    return 0;
}

bool mech_iterate_judge(struct mech_iterate *it, const struct mech_problem *p, int32_t k, double *l)
{
    double miss = mech_acceptance_of(it->accept, p, l, it->c), now = miss;

    if (!(now > it->tolerance) || k % 64 == 0 || k == it->most) {
        /* rounding gathers in a c that is kept */
        mech_problem_speed(p, l, it->c);
        now = mech_acceptance_whole(it->accept, p, l, it->c, it->tolerance, &miss);
    }
    const double rank = rank_of(miss, mech_acceptance_residual(it->accept, p, l, it->c));

    it->iterations = k;
    if (rank < it->rank || now <= it->tolerance) {
        it->rank = rank;
        it->least = now;
        memcpy(it->best, l, (size_t)p->m * sizeof *l);
    }
    return !(now > it->tolerance) || !isfinite(now) || k >= it->most ||
           ((p->m >= MANY_ROWS || k % ASK_EVERY == 0) && mech_interrupted(it->interrupt));
}

int mech_iterate_verdict(struct mech_acceptance *accept, const struct mech_problem *p,
                         double tolerance, const double *l, double *c,
                         struct mech_vi_result *result)
{
    mech_problem_speed(p, l, c);
    result->residual = mech_problem_residual(p, l, c);
    result->level = mech_acceptance_residual(accept, p, l, c);
    result->acceptance = mech_acceptance_whole(accept, p, l, c, tolerance, NULL);
    return result->acceptance <= tolerance ? 0 : MECH_VI_NOT_CONVERGED;
}

int mech_iterate_end(const struct mech_iterate *it, const struct mech_problem *p, double *l,
                     struct mech_vi_result *result)
{
    memcpy(l, it->best, (size_t)p->m * sizeof *l);
    result->iterations = it->iterations;
    return mech_iterate_verdict(it->accept, p, it->tolerance, l, it->c, result);
}
