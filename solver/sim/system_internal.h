/* A descriptor made of a simulation; see system.h. */
#pragma once

#include "solver/lsol/lsol.h"
#include "solver/sim/system.h"

struct mech_sim_system {
    const struct mech_sim *sim;
    struct mech_system *system;
    struct mech_sim_system_info info;
    bool bilateral;
    int32_t *kept;             /* [info.rows] active rows that answers have */
    struct mech_lsol *inverse; /* H, factored when first needed */
    struct mech_arena arena;   /* of kept, and of the pattern of H */
};
