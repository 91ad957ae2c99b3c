/* Principal pivoting of problems whose matrix is a narrow band: chains and columns of bodies that
 * touch their neighbours. What lemke.c tries first with a sparse matrix; owner: its solver. */
#pragma once

#include "solver/vi/vi.h"

/* Diagonals below the main one that count as narrow. */
enum { MECH_BANDED_SET_WIDTH = 8 };

/* [m] each, but factors [m × (MECH_BANDED_SET_WIDTH + 1)]; contents of no matter. */
struct mech_banded_set {
    double *factors, *z, *w, *rhs;
    int32_t *set, *place; /* members ascending; place of each row among them, or -1 */
};

/* Width of the band of N, or -1: N is not CSC, not known to be symmetric, or wider. */
int32_t mech_banded_set_width(const struct mech_problem *p);

/* z [m]: its positive entries are the set to start from; the solution out. Bilateral and
 * unilateral rows alone, finite data. True: the signs hold. False: z as it came; a pivot is not
 * positive, or `most` rounds are spent. *rounds is added to. */
bool mech_banded_set_solve(const struct mech_banded_set *s, const struct mech_problem *p,
                           int32_t width, int32_t most, double *z, int32_t *rounds);
