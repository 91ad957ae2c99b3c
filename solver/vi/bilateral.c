/* Bilateral rows alone: N l = −r by LU. Rows that depend on each other are singular here; minres
 * takes them. Dense: 2/3 m³ flops. */
#include "solver/base/err.h"
#include "solver/linalg/dense.h"
#include "solver/vi/iterate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS_MOST = 4096 };

struct bilateral {
    double *c, *best, *size, *N; /* [most], N [most × most] */
    int32_t *pivot;
    struct mech_acceptance *accept;
};

static void destroy(void *self)
{
    struct bilateral *const s = self;

    if (s) {
        mech_acceptance_destroy(s->accept);
        free(s->c);
        free(s->pivot);
        free(s);
    }
}

static int create(int32_t most, void **self)
{
    const size_t n = most > 0 ? (size_t)most : 1;

    if (most > ROWS_MOST) {
        return MECH_UNSUPPORTED;
    }
    struct bilateral *const s = calloc(1, sizeof *s);

    if (!s) {
        return MECH_NO_MEMORY;
    }
    s->c = malloc((n + 3) * n * sizeof *s->c);
    s->pivot = malloc(n * sizeof *s->pivot);
    if (!s->c || !s->pivot || mech_acceptance_create(most, &s->accept) != 0) {
        destroy(s);
        return MECH_NO_MEMORY;
    }
    s->best = s->c + n;
    s->size = s->best + n;
    s->N = s->size + n;
    *self = s;
    return 0;
}

static int solve(void *self, const struct mech_problem *p, const struct mech_vi_limits *limits,
                 double *l, struct mech_vi_result *result)
{
    struct bilateral *const s = self;
    struct mech_iterate it = {.c = s->c, .best = s->best, .accept = s->accept};
    const size_t m = (size_t)p->m;

    *result = (struct mech_vi_result){.solver = mech_vi_bilateral.name};
    mech_acceptance_form(s->accept, p);
    MECH_TRY(mech_iterate_start(&it, &mech_vi_bilateral, p, limits, l));
    if (it.done || !mech_problem_is_finite(p)) {
        return mech_iterate_end(&it, p, l, result);
    }
    mech_dense_load(p->N, s->N);
    for (size_t j = 0; j < m; j++) {
        s->size[j] = 0.;
        for (size_t i = 0; i < m; i++) {
            s->size[j] = fmax(s->size[j], fabs(s->N[j * m + i]));
        }
    }
    if (mech_dense_lu_factor(p->m, s->N, s->size, s->pivot) >= 0) {
        return MECH_SINGULAR;
    }
    /* once more with the residual, which removes the rounding error */
    for (int k = 0; k < 2; k++) {
        mech_problem_speed(p, l, s->c);
        mech_dense_lu_solve(p->m, s->N, s->pivot, s->c);
        for (size_t i = 0; i < m; i++) {
            l[i] -= s->c[i];
        }
    }
    mech_problem_speed(p, l, s->c);
    mech_iterate_judge(&it, p, 1, l);
    return mech_iterate_end(&it, p, l, result);
}

const struct mech_vi_type mech_vi_bilateral = {
    .name = "bilateral",
    .doc = "direct solution of problems that have only bilateral rows",
    .kinds = 1u << MECH_SET_BILATERAL,
    .create = create,
    .solve = solve,
    .destroy = destroy,
};
