/* The compiled model inside: its kinematics, terms, rows and channels, each with its header. owner:
 * the simulation; const after mech_model_compile, except for the variables of expressions. */
#pragma once

#include "solver/base/name.h"
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
    struct mech_channel *channels;
    size_t channel_count, channel_capacity;
    struct mech_channel_entry *entries;
    size_t entry_count, entry_capacity;
    size_t *dynamic; /* [dynamic_count] channels that are not folded into base and rate */
    size_t dynamic_count;
    bool timed; /* some channel is a function of time */
    struct mech_channel_info *inputs, *outputs;
    struct mech_output_of *output_of;
    size_t output_count;
    struct mech_output_request *sensors; /* [sensors] what each measures now */
    int32_t *input_channel;              /* [sizes.input] channel that it drives, -1: a parameter */
    int32_t output_size;
    struct mech_model_terms terms;
    struct mech_model_rows rows;
};

/* resolve.c: bindings, names, references, ranges, checks of single items. */
int mech_resolve(struct mech_model *m, struct mech_diag *diag);

/* "/objects/3" or "/objects/3/field" (field may be NULL) into text. */
void mech_item_path(enum mech_category category, size_t index, const char *field, char *text,
                    size_t size);
