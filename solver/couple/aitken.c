/* Aitken: relaxation by the secant of the last two residuals (U. Küttler, W. Wall, Comput. Mech. 43
 * (2008)),
 *
 *     ω_k = −ω_{k−1} r_{k−1}·(r_k − r_{k−1}) / |r_k − r_{k−1}|²
 *
 * with each unknown divided by its scale. Exact for one linear unknown: its third evaluation
 * confirms. */
#include "solver/couple/scheme.h"

#include <string.h>

struct aitken {
    double relaxation;
    double *omega; /* [1] */
    double *r;     /* [n] of the last iteration */
};

static void lay(void *self, const struct mech_scheme_space *space, struct mech_room *room)
{
    struct aitken *const s = self;
    s->relaxation = space->relaxation;
    s->omega = mech_room_reals(room, 1);
    s->r = mech_room_reals(room, (size_t)space->n);
}

static void begin(void *self)
{
    const struct aitken *const s = self;
    s->omega[0] = s->relaxation;
}

static int correct(void *self, const struct mech_scheme_iterate *at, double *z_next)
{
    const struct aitken *const s = self;
    double product = 0., square = 0.;
    for (int32_t i = 0; at->iteration > 0 && i < at->n; i++) {
        const double d = (at->r[i] - s->r[i]) / at->scale[i];
        product += s->r[i] / at->scale[i] * d;
        square += d * d;
    }
    // residuals that do not change, or orthogonal to their change, give no secant
    if (square > 0. && product != 0.) {
        s->omega[0] *= -product / square;
    }
    memcpy(s->r, at->r, (size_t)at->n * sizeof *s->r);
    for (int32_t i = 0; i < at->n; i++) {
        z_next[i] = at->z[i] + s->omega[0] * at->r[i];
    }
    return 0;
}

const struct mech_scheme_type mech_scheme_aitken = {
    .name = "Aitken",
    .doc = "iterated, with a relaxation found from the last two residuals",
    .turns = MECH_SCHEME_AS_ORDERED,
    .iterates = true,
    .size = sizeof(struct aitken),
    .lay = lay,
    .begin = begin,
    .correct = correct,
};
