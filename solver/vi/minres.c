/* Bilateral rows alone, symmetric N: N l = −r by the conjugate residual method, which has the
 * smallest residual over the Krylov space as MINRES has (Y. Saad, Iterative Methods for Sparse
 * Linear Systems, SIAM 2003, section 6.8). Redundant rows that do not contradict each other need
 * nothing special. One product with N an iteration. Every 64th restarts from a new residual;
 * when that has not fallen since the last time, what is left is rounding, or lies where N does not
 * reach: rows that contradict each other. */
#include "solver/base/err.h"
#include "solver/vi/gradient.h"

#include <math.h>
#include <string.h>

enum { RESTART = 64 }; /* where mech_iterate_judge computes c again */
/* ‖N x‖ over ‖N‖ ‖x‖ that is rounding */
static const double unreached = 1e-14;

static void begin(struct mech_gradient *s, const struct mech_problem *p)
{
    const size_t bytes = (size_t)p->m * sizeof *s->x;

    memcpy(s->x, s->c, bytes);
    mech_problem_product(p, s->c, s->y);
    memcpy(s->gx, s->y, bytes);
}

static int solve(void *self, const struct mech_problem *p, const struct mech_vi_limits *limits,
                 double *l, struct mech_vi_result *result)
{
    struct mech_gradient *const s = self;
    struct mech_iterate it = {.c = s->c, .best = s->best, .accept = s->outer.accept};
    double last = HUGE_VAL, largest = 0.;

    *result = (struct mech_vi_result){.solver = mech_vi_minres.name};
    mech_acceptance_form(s->outer.accept, p);
    MECH_TRY(mech_iterate_start(&it, &mech_vi_minres, p, limits, l));
    /* x: direction, gx: N x, y: N c */
    begin(s, p);
    for (int32_t k = 1; !it.done; k++) {
        const double before = mech_gradient_dot(p->m, s->c, s->y);
        const double length = mech_gradient_dot(p->m, s->gx, s->gx);

        const double size = mech_gradient_dot(p->m, s->x, s->x);

        /* along what N does not reach, steps would be as long as rounding is small */
        largest = fmax(largest, size > 0. ? length / size : 0.);
        if (!(length > unreached * unreached * largest * size)) {
            break;
        }
        for (int32_t i = 0; i < p->m; i++) {
            l[i] -= before / length * s->x[i];
            s->c[i] -= before / length * s->gx[i];
        }
        it.done = mech_iterate_judge(&it, p, k, l);
        if (k % RESTART == 0 && !it.done) {
            const double now = mech_gradient_dot(p->m, s->c, s->c);

            it.done = !(now < last);
            last = now;
            begin(s, p);
            continue;
        }
        mech_problem_product(p, s->c, s->y);
        const double after = mech_gradient_dot(p->m, s->c, s->y);
        const double beta = before != 0. ? after / before : 0.;

        for (int32_t i = 0; i < p->m; i++) {
            s->x[i] = s->c[i] + beta * s->x[i];
            s->gx[i] = s->y[i] + beta * s->gx[i];
        }
    }
    return mech_iterate_end(&it, p, l, result);
}

const struct mech_vi_type mech_vi_minres = {
    .name = "minres",
    .doc = "conjugate residuals; symmetric problems that have only bilateral rows, also redundant "
           "ones",
    .kinds = 1u << MECH_SET_BILATERAL,
    .create = mech_gradient_create,
    .create_implicit = mech_gradient_create,
    .solve = solve,
    .destroy = mech_gradient_destroy,
};
