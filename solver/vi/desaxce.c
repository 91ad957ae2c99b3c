/* Fixed point from the associated law to Coulomb's; see desaxce.h. Each round calls the member for
 * a tenth of the residual that is left, so that rounds are cheap while the normal rows still move,
 * and for a tenth of that again where l stands still.
 */
#include "solver/vi/desaxce.h"

#include "solver/base/err.h"
#include "solver/vi/parts.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* part by part, at a time; and at first */
enum { SWEEPS = 100, EARLY = 10 };
/* slides so many times as fast as what presses are beyond a step's forces: sweeps come first */
static const double fast = 1e4;

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

/* Sweeps part by part, at most so many, until l is accepted; of an N that is formed, c = N l + r in
 * and out. Returns their number; where l is not accepted it stays as it was. */
static int32_t sweep_parts(const struct mech_desaxce *d, const struct mech_problem *p,
                           const struct mech_vi_limits *limits, int32_t most, double *l)
{
    const size_t bytes = (size_t)p->m * sizeof *l;
    double *const before = d->r; /* made anew in each round */
    bool accepted = false;
    int32_t k = 0;

    if (p->schur) {
        return 0;
    }
    memcpy(before, l, bytes);
    while (k < most && !accepted && mech_parts_sweep(p, l, d->c) &&
           !mech_interrupted(limits->interrupt)) {
        k++;
        mech_problem_speed(p, l, d->c);
        accepted = mech_acceptance_whole(d->accept, p, l, d->c, limits->tolerance, NULL) <=
                   limits->tolerance;
    }
    if (!accepted) {
        memcpy(l, before, bytes);
    }
    mech_problem_speed(p, l, d->c);
    return k;
}

/* Whether something slides fast. */
static bool slides_fast(const struct mech_desaxce *d, const struct mech_problem *p)
{
    bool found = false;

    for (int32_t i = 0; i < p->count; i++) {
        found |= mech_acceptance_scale(d->accept, i) > fast * mech_acceptance_least(d->accept, i);
    }
    return found;
}

/* l finite and in its sets, which is the best then. */
static void start(const struct mech_desaxce *d, const struct mech_problem *p, double *l)
{
    for (int32_t i = 0; i < p->m; i++) {
        l[i] = isfinite(l[i]) ? l[i] : 0.;
    }
    mech_acceptance_weigh(d->accept, p);
    mech_acceptance_rest(d->accept, p, l);
    mech_problem_project(p, l);
    memcpy(d->best, l, (size_t)p->m * sizeof *l);
}

/* Rounds from l on; the best into d->best. 0, or what a member returned that cannot go on. */
static int rounds(const struct mech_desaxce *d, const struct mech_problem *p,
                  const struct mech_vi_limits *limits, double *l, struct mech_vi_result *result,
                  int32_t *used)
{
    const double tolerance = limits->tolerance;
    struct mech_problem convex = *p;
    const int32_t all = limits->max_iterations;
    /* for the member: the rest is for sweeps at the end */
    const int32_t most = all > 10 * SWEEPS ? all - SWEEPS : all;
    double least = HUGE_VAL, before = HUGE_VAL, now, closer = 1.;
    bool idle = false, early = slides_fast(d, p);

    convex.r = d->r;
    convex.friction = MECH_ASSOCIATED;
    for (;;) {
        mech_problem_speed(p, l, d->c);
        double verdict = mech_acceptance_whole(d->accept, p, l, d->c, tolerance, &now);
        /* a member that iterates not at all may rest what asks for nothing */
        const bool still = idle && now == before;

        closer *= still ? 0.1 : 1.;
        const double part = closer * fmax(0.1 * now, 0.3 * tolerance);
        const bool stuck = (still && part < DBL_EPSILON) || *used >= most;

        if (verdict > tolerance && (stuck || (!still && (now <= tolerance || early)))) {
            const int32_t left = all - *used, some = early ? EARLY : SWEEPS;

            *used += sweep_parts(d, p, limits, left < some ? left : some, l);
            verdict = mech_acceptance_whole(d->accept, p, l, d->c, tolerance, &now);
        }
        if (now < least || verdict <= tolerance) {
            least = now;
            memcpy(d->best, l, (size_t)p->m * sizeof *l);
        }
        if (!(verdict > tolerance) || !isfinite(now) || stuck || *used >= most ||
            mech_interrupted(limits->interrupt)) {
            return 0;
        }
        const struct mech_vi_limits inner = {part, most - *used, limits->interrupt};

        shift(p, d->c, d->r);
        const int code = d->member(d->self, &convex, &inner, l, result);

        if (code == MECH_SINGULAR || code == MECH_UNSUPPORTED || code < 0) {
            return code;
        }
        before = now;
        early = false;
        idle = result->iterations <= 0;
        *used += idle ? 1 : result->iterations;
        mech_acceptance_weigh(d->accept, p);
    }
}

int mech_desaxce_solve(const struct mech_desaxce *d, const struct mech_problem *p,
                       const struct mech_vi_limits *limits, double *l,
                       struct mech_vi_result *result)
{
    int32_t used = 0;

    mech_acceptance_form(d->accept, p);
    if (p->friction == MECH_ASSOCIATED || !(mech_problem_kinds(p) & MECH_VI_FRICTION)) {
        return d->member(d->self, p, limits, l, result);
    }
    start(d, p, l);
    MECH_TRY(rounds(d, p, limits, l, result, &used));
    memcpy(l, d->best, (size_t)p->m * sizeof *l);
    result->iterations = used;
    return mech_iterate_verdict(d->accept, p, limits->tolerance, l, d->c, result);
}
