/* Constant relaxation. */
#include "solver/couple/relax.h"

void mech_scheme_relax_lay(void *self, const struct mech_scheme_space *space,
                           struct mech_room *room)
{
    struct mech_scheme_relax *const s = self;
    (void)room;
    s->relaxation = space->relaxation;
}

int mech_scheme_relax_correct(void *self, const struct mech_scheme_iterate *at, double *z_next)
{
    const struct mech_scheme_relax *const s = self;
    for (int32_t i = 0; i < at->n; i++) {
        z_next[i] = at->z[i] + s->relaxation * at->r[i];
    }
    return 0;
}
