/* A descriptor while it is built; see to_sys.h. */
#pragma once

#include "solver/contact/contact.h"
#include "solver/model/gap.h"
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
    struct mech_contact_list touches;
};

/* One coefficient of a constraint: its row there, the velocity, the value. */
struct mech_system_place {
    int32_t row, slot;
    double value;
};

/* Consecutive rows of one set. */
struct mech_system_group {
    struct mech_system_constraint about;
    struct mech_system_place *at; /* [count], sorted by the code that adds the group */
    size_t count;
    double b[MECH_SET_ROWS], l[MECH_SET_ROWS];
};
/* to_sys_rows.c */
int mech_system_group(struct mech_system_build *b, struct mech_system_group *g);

/* to_sys_touch.c: the rule of gaps in the step of the request; the point q ⊕ (1 − θ) h v in it. */
struct mech_gap_step mech_system_step(const struct mech_system_build *b);
int mech_system_middle(struct mech_system_build *b, struct mech_eval *out);
/* Contacts between shapes; how many there are is known after find. Poses are those
 * of another point then. */
int mech_system_find_touches(struct mech_system_build *b);
int mech_system_touches(struct mech_system_build *b);

/* to_sys_rows.c: the constraints, after the variables. */
int mech_system_rows(struct mech_system_build *b);
