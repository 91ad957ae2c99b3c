/* minres: symmetric matrices, definite or not, by the method of minimal residuals (C. C. Paige,
 * M. A. Saunders, SIAM J. Numer. Anal. 12, 1975): Lanczos vectors v, of which three are kept, and
 * the tridiagonal matrix of their coefficients reduced by rotations (c, s) as it grows. The scaling
 * of krylov.h is the preconditioner.
 *
 * Cost of an iteration: one product and about 16 n flops. */
#include "solver/base/err.h"
#include "solver/lsol/krylov.h"
#include "solver/lsol/lsol.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct minres {
    struct mech_krylov krylov;
    double *v[3]; /* [n] Lanczos vectors: last, this, next */
    double *w[3]; /* [n] directions, in the same order */
};

static double cost(const struct mech_mat *a)
{
    return a->symmetric ? 100. * (double)mech_mat_stored(a) : -1.;
}

static void destroy(void *self)
{
    struct minres *const m = self;
    if (m) {
        mech_krylov_fini(&m->krylov);
        free(m);
    }
}

static int create(const struct mech_mat *a, void **self)
{
    struct minres *const m = calloc(1, sizeof *m);
    if (!m) {
        return MECH_NO_MEMORY;
    }
    int code = mech_krylov_init(&m->krylov, a);
    for (int i = 0; i < 6 && code == 0; i++) {
        double **const vector = i < 3 ? &m->v[i] : &m->w[i - 3];
        *vector = mech_arena_alloc(&m->krylov.arena, (size_t)a->rows, sizeof(double));
        code = *vector ? 0 : MECH_NO_MEMORY;
    }
    if (code != 0) {
        destroy(m);
        return code;
    }
    *self = m;
    return 0;
}

static int factor(void *self, const struct mech_mat *a, int32_t *where)
{
    struct minres *const m = self;
    return mech_krylov_load(&m->krylov, a, where);
}

/* last, this, next := this, next, last */
static void rotate(double **vectors)
{
    double *const last = vectors[0];
    vectors[0] = vectors[1];
    vectors[1] = vectors[2];
    vectors[2] = last;
}

static int iterate(void *self, struct mech_krylov *k, double target)
{
    struct minres *const m = self;
    const int32_t n = k->n;
    double beta = mech_krylov_length(n, k->r); /* length of the next Lanczos vector */
    double left = beta;                        /* signed length of the residual */
    double c_old = 1., c = 1., s_old = 0., s = 0.;
    for (int i = 0; i < 2; i++) {
        memset(m->v[i], 0, (size_t)n * sizeof(double));
        memset(m->w[i], 0, (size_t)n * sizeof(double));
    }
    mech_krylov_add(n, 1. / beta, k->r, m->v[1]);
    for (; k->products < k->most && fabs(left) > target; k->products++) {
        if (mech_krylov_ends(k)) {
            return MECH_CANCELLED;
        }
        // the next Lanczos vector
        double *const next = m->v[2];
        mech_mat_mul(&k->a, 1., m->v[1], 0., next);
        const double alpha = mech_krylov_dot(n, m->v[1], next);
        mech_krylov_add(n, -alpha, m->v[1], next);
        mech_krylov_add(n, -beta, m->v[0], next);
        const double length = mech_krylov_length(n, next);
        // a new column of the tridiagonal matrix, turned by the last two rotations and a new one
        const double turned = c * alpha - c_old * s * beta;
        const double pivot = hypot(turned, length);
        const double above = s * alpha + c_old * c * beta;
        const double far_above = s_old * beta;
        if (!(pivot > 0.)) {
            break;
        }
        c_old = c;
        s_old = s;
        c = turned / pivot;
        s = length / pivot;
        // direction, solution and residual
        for (int32_t i = 0; i < n; i++) {
            m->w[2][i] = (m->v[1][i] - far_above * m->w[0][i] - above * m->w[1][i]) / pivot;
        }
        mech_krylov_add(n, c * left, m->w[2], k->d);
        left *= -s;
        if (!(length > 0.)) {
            k->products++;
            break;
        }
        for (int32_t i = 0; i < n; i++) {
            next[i] /= length;
        }
        beta = length;
        rotate(m->v);
        rotate(m->w);
    }
    return 0;
}

static int solve(void *self, double *x, int32_t count)
{
    struct minres *const m = self;
    for (int32_t i = 0; i < count; i++) {
        MECH_TRY(mech_krylov_solve(&m->krylov, iterate, m, x + (size_t)i * (size_t)m->krylov.n));
    }
    return 0;
}

static void listen_to(void *self, struct mech_interrupt *interrupt)
{
    struct minres *const m = self;
    m->krylov.interrupt = interrupt;
}

const struct mech_lsol_type mech_lsol_minres = {
    .name = "minres",
    .doc = "symmetric matrices, definite or not: minimal residuals (MINRES)",
    .iterative = true,
    .cost = cost,
    .create = create,
    .factor = factor,
    .solve = solve,
    .destroy = destroy,
    .listen = listen_to,
};
