/* Projected Gauss–Seidel (successive over-relaxation with factor 1): row after row
 *
 *     l_i ← P(l_i − c_i / N_ii)      c = N l + r kept up to date by columns of N
 *
 * and for a cone all its rows with one step length 1/g, g their largest diagonal, then the
 * projection (A. Tasora, M. Anitescu, Comput. Methods Appl. Mech. Eng. 200 (2011)): the associated
 * law, and Coulomb's by desaxce.h. Converges for symmetric positive definite N without friction (O.
 * Mangasarian, J. Optim. Theory Appl. 22 (1977)) and for strictly diagonally dominant N; each sweep
 * costs one column of N per entry that moves. Stops on the residual of a freshly computed c.
 */
#include "solver/base/err.h"
#include "solver/vi/desaxce.h"
#include "solver/vi/iterate.h"

#include <math.h>
#include <stdlib.h>

enum { LINEAR_ROWS = 3 }; /* of a ROLLING set; torques are behind them */

struct psor {
    struct mech_desaxce outer;
    double *c, *best; /* [most] */
    double *diagonal; /* [most] step lengths' inverses */
};

static int create(int32_t most, void **self)
{
    const size_t n = most > 0 ? (size_t)most : 1;
    struct psor *const s = calloc(1, sizeof *s);
    double *const memory = calloc(6 * n, sizeof *memory);

    struct mech_acceptance *accept = NULL;

    if (!s || !memory || mech_acceptance_create(most, &accept) != 0) {
        free(s);
        free(memory);
        return MECH_NO_MEMORY;
    }
    *s = (struct psor){
        .outer = {.r = memory, .c = memory + n, .best = memory + 2 * n, .accept = accept},
        .c = memory + 3 * n,
        .best = memory + 4 * n,
        .diagonal = memory + 5 * n};
    *self = s;
    return 0;
}

static void destroy(void *self)
{
    struct psor *const s = self;

    if (s) {
        mech_acceptance_destroy(s->outer.accept);
        free(s->outer.r);
        free(s);
    }
}

/* False: a diagonal that cannot be divided by, not positive (unilateral rows), zero, not finite. */
static bool take_diagonal(struct psor *s, const struct mech_problem *p)
{
    int32_t row = 0;

    for (int32_t i = 0; i < mech_problem_sets(p); i++) {
        const struct mech_set set = mech_problem_set(p, i);
        double block[MECH_SET_ROWS * MECH_SET_ROWS], largest[2] = {0.};

        mech_problem_block(p, row, set.rows, block);
        for (int32_t k = 0; k < set.rows; k++) {
            const double d = block[k * set.rows + k];
            const bool fine = set.kind == MECH_SET_BILATERAL ? d != 0. : d > 0.;

            if (!fine || !isfinite(d) || !isfinite(1. / d)) {
                return false;
            }
            /* torques have another unit than forces */
            largest[k >= LINEAR_ROWS] = set.rows == 1 ? d : fmax(largest[k >= LINEAR_ROWS], d);
        }
        for (int32_t k = 0; k < set.rows; k++) {
            s->diagonal[row++] = largest[k >= LINEAR_ROWS];
        }
    }
    return true;
}

/* The nearest point of a set, torques counted over the arm at which they move as much as forces. */
static void project(const struct psor *s, const struct mech_set *set, int32_t row, double *l)
{
    if (set->kind != MECH_SET_ROLLING) {
        mech_set_project(set, l);
        return;
    }
    const double arm = sqrt(s->diagonal[row] / s->diagonal[row + LINEAR_ROWS]);
    struct mech_set scaled = *set;

    scaled.spinning /= arm;
    scaled.rolling /= arm;
    for (int32_t k = LINEAR_ROWS; k < set->rows; k++) {
        l[k] /= arm;
    }
    mech_set_project(&scaled, l);
    for (int32_t k = LINEAR_ROWS; k < set->rows; k++) {
        l[k] *= arm;
    }
}

static void sweep(struct psor *s, const struct mech_problem *p, double *l)
{
    int32_t row = 0;

    for (int32_t i = 0; i < mech_problem_sets(p); i++) {
        const struct mech_set set = mech_problem_set(p, i);
        double next[MECH_SET_ROWS];

        for (int32_t k = 0; k < set.rows; k++) {
            next[k] = l[row + k] - s->c[row + k] / s->diagonal[row + k];
        }
        project(s, &set, row, next);
        for (int32_t k = 0; k < set.rows; k++) {
            const double move = next[k] - l[row + k];

            if (move != 0.) {
                l[row + k] = next[k];
                mech_problem_add_column(p, row + k, move, s->c);
            }
        }
        row += set.rows;
    }
}

static int associated(void *self, const struct mech_problem *p, const struct mech_vi_limits *limits,
                      double *l, struct mech_vi_result *result)
{
    struct psor *const s = self;
    struct mech_iterate it = {.c = s->c, .best = s->best, .accept = s->outer.accept};

    MECH_TRY(mech_iterate_start(&it, &mech_vi_psor, p, limits, l));
    for (int32_t k = 1; !it.done; k++) {
        sweep(s, p, l);
        it.done = mech_iterate_judge(&it, p, k, l);
    }
    return mech_iterate_end(&it, p, l, result);
}

static int solve(void *self, const struct mech_problem *p, const struct mech_vi_limits *limits,
                 double *l, struct mech_vi_result *result)
{
    struct psor *const s = self;

    *result = (struct mech_vi_result){.solver = mech_vi_psor.name};
    if (!take_diagonal(s, p)) {
        return MECH_SINGULAR;
    }
    s->outer.member = associated;
    s->outer.self = s;
    return mech_desaxce_solve(&s->outer, p, limits, l, result);
}

const struct mech_vi_type mech_vi_psor = {
    .name = "psor",
    .doc = "projected Gauss–Seidel; many contacts, symmetric positive definite problems",
    .kinds = MECH_VI_ALL,
    .create = create,
    .solve = solve,
    .destroy = destroy,
};
