/* The compiled model inside: its kinematics, terms, rows and channels, each with its header. owner:
 * the simulation; const after mech_model_compile, except for the variables of expressions. */
#pragma once

#include "solver/base/name.h"
#include "solver/items/switches.h"
#include "solver/model/channels.h"
#include "solver/model/kinematics.h"
#include "solver/model/rows.h"
#include "solver/model/terms.h"

struct mech_model {
    struct mech_arena arena, scratch;
    struct mech_document *document;
    const double *parameters; /* [document->parameters.n] in use */
    struct mech_interrupt *interrupt;
    struct mech_names names[MECH_SENSOR + 1], materials;
    struct mech_state_sizes sizes;
    struct mech_model_kinematics kinematics;
    struct mech_model_terms terms;
    struct mech_model_rows rows;
    struct mech_model_channels channels;
    struct mech_switches switches;
};

/* switches.c: the expressions of all channels. 0; MECH_NO_MEMORY. */
int mech_switches_channels(struct mech_model *m);

/* resolve.c: bindings, names, references, ranges, checks of single items. */
int mech_resolve(struct mech_model *m, struct mech_diag *diag);

/* "/objects/3" or "/objects/3/field" (field may be NULL) into text. */
void mech_item_path(enum mech_category category, size_t index, const char *field, char *text,
                    size_t size);
