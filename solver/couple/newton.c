/* Newton's method on the interface. The factor is kept while the matrix stays the same. */
#include "solver/couple/newton.h"

#include "solver/base/err.h"
#include "solver/linalg/dense.h"

#include <math.h>

void mech_scheme_newton_lay(void *self, const struct mech_scheme_space *space,
                            struct mech_room *room)
{
    struct mech_scheme_newton *const s = self;
    const size_t n = (size_t)space->n;
    s->lu = mech_room_reals(room, n * n);
    s->row = mech_room_reals(room, n);
    s->size = mech_room_reals(room, n);
    s->pivot = mech_room_ints(room, n);
    s->ready = mech_room_ints(room, 1);
}

static int factor(struct mech_scheme_newton *s, int32_t n, const double *matrix)
{
    // unknowns have different units: rows are compared by their largest entries
    for (int32_t i = 0; i < n; i++) {
        s->row[i] = 0.;
        for (int32_t j = 0; j < n; j++) {
            s->row[i] = fmax(s->row[i], fabs(matrix[(size_t)j * (size_t)n + (size_t)i]));
        }
        if (!(s->row[i] > 0.)) {
            return MECH_SINGULAR;
        }
    }
    for (int32_t j = 0; j < n; j++) {
        s->size[j] = 0.;
        for (int32_t i = 0; i < n; i++) {
            const size_t at = (size_t)j * (size_t)n + (size_t)i;
            s->lu[at] = matrix[at] / s->row[i];
            s->size[j] = fmax(s->size[j], fabs(s->lu[at]));
        }
    }
    return mech_dense_lu_factor(n, s->lu, s->size, s->pivot) < 0 ? 0 : MECH_SINGULAR;
}

int mech_scheme_newton_correct(void *self, const struct mech_scheme_iterate *at, double *z_next)
{
    struct mech_scheme_newton *const s = self;
    if (!at->matrix_same || s->ready[0] != at->n) {
        s->ready[0] = 0;
        MECH_TRY(factor(s, at->n, at->matrix));
        s->ready[0] = at->n;
    }
    for (int32_t i = 0; i < at->n; i++) {
        z_next[i] = at->r[i] / s->row[i];
    }
    mech_dense_lu_solve(at->n, s->lu, s->pivot, z_next);
    for (int32_t i = 0; i < at->n; i++) {
        z_next[i] += at->z[i];
    }
    return 0;
}
