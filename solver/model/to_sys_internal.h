/* A descriptor while it is built; see to_sys.h. */
#pragma once

#include "solver/model/internal.h"
#include "solver/model/to_sys.h"

struct mech_system_build {
    const struct mech_model *m;
    const struct mech_eval *e;
    const struct mech_system_terms *terms;
    const struct mech_system_request *request;
    struct mech_system *out;
    struct mech_arena scratch;
    int32_t *owner; /* [nv] block of variables of each velocity */
};

/* to_sys_rows.c: the constraints, after the variables. */
int mech_system_rows(struct mech_system_build *b);
