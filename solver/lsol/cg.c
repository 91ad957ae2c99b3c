/* cg: symmetric positive definite matrices by conjugate gradients, preconditioned with the diagonal
 * (M. R. Hestenes, E. Stiefel, J. Res. NBS 49, 1952; Y. Saad, Iterative Methods for Sparse Linear
 * Systems, 2003, algorithm 9.1), inside the corrections of krylov.h.
 *
 * Cost of an iteration: one product and about 12 n flops; iterations grow like the square root of
 * the condition number of the scaled matrix. */
#include "solver/base/err.h"
#include "solver/linalg/mat_walk.h"
#include "solver/lsol/krylov.h"
#include "solver/lsol/lsol.h"

#include <stdlib.h>

struct cg {
    struct mech_krylov krylov;
    double *inverse;   /* [n] of the diagonal */
    double *p, *q, *z; /* [n] direction, A p, preconditioned residual */
};

static double cost(const struct mech_mat *a)
{
    return a->symmetric ? 100. * (double)mech_mat_stored(a) : -1.;
}

static void destroy(void *self)
{
    struct cg *const c = self;
    if (c) {
        mech_krylov_fini(&c->krylov);
        free(c);
    }
}

static int create(const struct mech_mat *a, void **self)
{
    struct cg *const c = calloc(1, sizeof *c);
    if (!c) {
        return MECH_NO_MEMORY;
    }
    int code = mech_krylov_init(&c->krylov, a);
    double **const vectors[] = {&c->inverse, &c->p, &c->q, &c->z};
    for (int i = 0; i < 4 && code == 0; i++) {
        *vectors[i] = mech_arena_alloc(&c->krylov.arena, (size_t)a->rows, sizeof(double));
        code = *vectors[i] ? 0 : MECH_NO_MEMORY;
    }
    if (code != 0) {
        destroy(c);
        return code;
    }
    *self = c;
    return 0;
}

static int factor(void *self, const struct mech_mat *a, int32_t *where)
{
    struct cg *const c = self;
    MECH_TRY(mech_krylov_load(&c->krylov, a, where));
    for (int32_t i = 0; i < a->rows; i++) {
        const double *const diagonal = mech_mat_place(&c->krylov.a, i, i);
        if (!diagonal || !(*diagonal > 0.)) {
            *where = i;
            return MECH_UNSUPPORTED;
        }
        c->inverse[i] = 1. / *diagonal;
    }
    return 0;
}

static int iterate(void *self, struct mech_krylov *k, double target)
{
    struct cg *const c = self;
    double last = 0.;
    for (; k->products < k->most && mech_krylov_length(k->n, k->r) > target; k->products++) {
        if (mech_krylov_ends(k)) {
            return MECH_CANCELLED;
        }
        for (int32_t i = 0; i < k->n; i++) {
            c->z[i] = c->inverse[i] * k->r[i];
        }
        const double rz = mech_krylov_dot(k->n, k->r, c->z);
        const double share = last > 0. ? rz / last : 0.;
        for (int32_t i = 0; i < k->n; i++) {
            c->p[i] = c->z[i] + (last > 0. ? share * c->p[i] : 0.);
        }
        last = rz;
        mech_mat_mul(&k->a, 1., c->p, 0., c->q);
        const double curvature = mech_krylov_dot(k->n, c->p, c->q);
        if (!(curvature > 0.)) {
            return MECH_UNSUPPORTED;
        }
        mech_krylov_add(k->n, rz / curvature, c->p, k->d);
        mech_krylov_add(k->n, -rz / curvature, c->q, k->r);
    }
    return 0;
}

static int solve(void *self, double *x, int32_t count)
{
    struct cg *const c = self;
    for (int32_t i = 0; i < count; i++) {
        MECH_TRY(mech_krylov_solve(&c->krylov, iterate, c, x + (size_t)i * (size_t)c->krylov.n));
    }
    return 0;
}

static void listen_to(void *self, struct mech_interrupt *interrupt)
{
    struct cg *const c = self;
    c->krylov.interrupt = interrupt;
}

const struct mech_lsol_type mech_lsol_cg = {
    .name = "cg",
    .doc = "symmetric positive definite matrices: conjugate gradients with diagonal preconditioner",
    .definite = true,
    .iterative = true,
    .cost = cost,
    .create = create,
    .factor = factor,
    .solve = solve,
    .destroy = destroy,
    .listen = listen_to,
};
