/* Start, verdict and end of members that iterate; see iterate.h. */
#include "solver/vi/iterate.h"

#include "solver/base/err.h"

#include <math.h>
#include <string.h>

int mech_iterate_start(struct mech_iterate *it, const struct mech_vi_type *type,
                       const struct mech_problem *p, const struct mech_vi_limits *limits, double *l)
{
    bool quiet = true;

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
    mech_problem_project(p, l);
    mech_problem_speed(p, l, it->c);
    memcpy(it->best, l, (size_t)p->m * sizeof *l);
    it->least = mech_problem_is_finite(p) ? mech_problem_residual(p, l, it->c) : NAN;
    it->tolerance = limits->tolerance;
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
    double now = mech_problem_residual(p, l, it->c);

    if (!(now > it->tolerance) || k % 64 == 0 || k == it->most) {
        /* rounding gathers in a c that is kept */
        mech_problem_speed(p, l, it->c);
        now = mech_problem_residual(p, l, it->c);
    }
    it->iterations = k;
    if (now < it->least) {
        it->least = now;
        memcpy(it->best, l, (size_t)p->m * sizeof *l);
    }
    return !(now > it->tolerance) || !isfinite(now) || k >= it->most ||
           (k % 16 == 0 && mech_interrupted(it->interrupt));
}

int mech_iterate_end(const struct mech_iterate *it, const struct mech_problem *p, double *l,
                     struct mech_vi_result *result)
{
    memcpy(l, it->best, (size_t)p->m * sizeof *l);
    result->iterations = it->iterations;
    result->residual = it->least;
    if (it->least <= it->tolerance) {
        return 0;
    }
    /* c that is kept may have been told a better residual than it had */
    mech_problem_speed(p, l, it->c);
    result->residual = mech_problem_residual(p, l, it->c);
    return MECH_VI_NOT_CONVERGED;
}
