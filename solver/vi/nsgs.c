/* Block Gauss–Seidel for contacts (nonsmooth Gauss–Seidel; M. Jean, Comput. Methods Appl. Mech.
 * Eng. 177 (1999)): set after set, each solved exactly with all others held (contact.h), c kept up
 * to date by columns of N. Both laws of friction. Converges for symmetric positive definite N
 * without friction; with friction usually, and it says when it does not.
 * Cost of a sweep: the columns of N that move, and one local solve a set. */
#include "solver/base/err.h"
#include "solver/vi/contact.h"
#include "solver/vi/iterate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK = 3 };

struct nsgs {
    double *c, *best; /* [most] */
    double *blocks;   /* [most × BLOCK] N of each set, by rows */
    struct mech_acceptance *accept;
};

static int create(int32_t most, void **self)
{
    const size_t n = most > 0 ? (size_t)most : 1;
    struct nsgs *const s = calloc(1, sizeof *s);
    double *const memory = calloc((2 + BLOCK) * n, sizeof *memory);

    struct mech_acceptance *accept = NULL;

    if (!s || !memory || mech_acceptance_create(most, &accept) != 0) {
        free(s);
        free(memory);
        return MECH_NO_MEMORY;
    }
    *s = (struct nsgs){.c = memory, .best = memory + n, .blocks = memory + 2 * n, .accept = accept};
    *self = s;
    return 0;
}

static void destroy(void *self)
{
    struct nsgs *const s = self;

    if (s) {
        mech_acceptance_destroy(s->accept);
        free(s->c);
        free(s);
    }
}

/* A diagonal that cannot be divided by. */
static bool take_blocks(struct nsgs *s, const struct mech_problem *p)
{
    double *block = s->blocks;
    int32_t row = 0;

    for (int32_t i = 0; i < mech_problem_sets(p); i++) {
        const struct mech_set set = mech_problem_set(p, i);
        const bool free_sign = set.kind == MECH_SET_BILATERAL;

        mech_problem_block(p, row, set.rows, block);
        for (int32_t k = 0; k < set.rows; k++) {
            const double d = block[k * set.rows + k];

            if (!(free_sign ? d != 0. : d > 0.) || !isfinite(1. / d)) {
                return false;
            }
        }
        block += set.rows * set.rows;
        row += set.rows;
    }
    return true;
}

/* False: no finite local solution. */
static bool solve_set(const struct mech_set *set, const double *block, enum mech_friction friction,
                      const double *c, const double *l, double *next)
{
    double q[BLOCK];

    if (set->kind != MECH_SET_CONE) {
        next[0] = l[0] - c[0] / block[0];
        mech_set_project(set, next);
        return true;
    }
    for (int32_t i = 0; i < set->rows; i++) {
        q[i] = c[i];
        for (int32_t j = 0; j < set->rows; j++) {
            q[i] -= block[i * set->rows + j] * l[j];
        }
    }
    return mech_contact_solve(set->rows, block, q, set->mu, friction, next);
}

static bool sweep(struct nsgs *s, const struct mech_problem *p, double *l)
{
    const double *block = s->blocks;
    int32_t row = 0;

    for (int32_t i = 0; i < mech_problem_sets(p); i++) {
        const struct mech_set set = mech_problem_set(p, i);
        double next[BLOCK];

        if (!solve_set(&set, block, p->friction, s->c + row, l + row, next)) {
            return false;
        }
        for (int32_t k = 0; k < set.rows; k++) {
            const double move = next[k] - l[row + k];

            if (move != 0.) {
                mech_problem_add_column(p, row + k, move, s->c);
                l[row + k] = next[k];
            }
        }
        block += set.rows * set.rows;
        row += set.rows;
    }
    return true;
}

static int solve(void *self, const struct mech_problem *p, const struct mech_vi_limits *limits,
                 double *l, struct mech_vi_result *result)
{
    struct nsgs *const s = self;
    struct mech_iterate it = {.c = s->c, .best = s->best, .accept = s->accept};

    *result = (struct mech_vi_result){.solver = mech_vi_nsgs.name};
    if (mech_problem_kinds(p) & ~mech_vi_nsgs.kinds) {
        return MECH_UNSUPPORTED;
    }
    if (!take_blocks(s, p)) {
        return MECH_SINGULAR;
    }
    mech_acceptance_form(s->accept, p);
    MECH_TRY(mech_iterate_start(&it, &mech_vi_nsgs, p, limits, l));
    for (int32_t k = 1; !it.done; k++) {
        it.done = !sweep(s, p, l) || mech_iterate_judge(&it, p, k, l);
    }
    return mech_iterate_end(&it, p, l, result);
}

const struct mech_vi_type mech_vi_nsgs = {
    .name = "nsgs",
    .doc = "block Gauss–Seidel, each contact solved exactly; friction of both laws",
    .kinds = MECH_VI_CONES,
    .sweeps = true,
    .create = create,
    .solve = solve,
    .destroy = destroy,
};
