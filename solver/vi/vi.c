/* Registry of complementarity solvers, and the residual that all of them are judged by:
 * the natural map ‖z − max(0, z − w)‖₂ / ‖q‖₂ with w = A z + q (bilateral rows: |w|).
 * Cost of the residual: one product with A.
 */
#include "solver/vi/vi.h"

#include <math.h>
#include <string.h>

#define MECH_VI(name) extern const struct mech_vi_type mech_vi_##name;
#include "solver/vi/vis.def"
#undef MECH_VI

#define MECH_VI(name) &mech_vi_##name,
const struct mech_vi_type *const mech_vi_types[] = {
#include "solver/vi/vis.def"
    NULL};
#undef MECH_VI

const struct mech_vi_type *mech_vi_find(const char *name)
{
    for (const struct mech_vi_type *const *t = mech_vi_types; *t != NULL; t++) {
        if (strcmp((*t)->name, name) == 0) {
            return *t;
        }
    }
    return NULL;
}

double mech_lcp_residual(const struct mech_lcp *p, const double *z)
{
    double map = 0., scale = 0.;
    for (int32_t i = 0; i < p->n; i++) {
        double w = p->q[i];
        for (int32_t j = 0; j < p->n; j++) {
            w += p->A[(size_t)j * (size_t)p->lda + (size_t)i] * z[j];
        }
        const bool free_row = p->bilateral != NULL && p->bilateral[i];
        // max(0, x) written so that a NaN stays a NaN
        const double next = z[i] - w;
        const double d = free_row ? w : z[i] - (next < 0. ? 0. : next);
        map += d * d;
        scale += p->q[i] * p->q[i];
    }
    if (map == 0.) {
        return 0.;
    }
    return sqrt(map) / sqrt(scale);
}
