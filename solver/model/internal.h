/* The compiled model inside. owner: the simulation; const after mech_model_compile, except for the
 * variables of expressions. */
#pragma once

#include "solver/base/name.h"
#include "solver/model/model.h"

/* Where the coordinates of a node or an object are. */
struct mech_seat_of {
    int32_t *slot; /* [n] */
    int32_t n;
    bool first_order;
    void *record; /* of an object, or NULL */
};

/* One scalar force: a number, an expression, or an input, and where it acts. */
struct mech_channel {
    double number;
    struct mech_expr *expr; /* or NULL */
    double *vars;           /* of expr: t, z … */
    int32_t z, z_count;     /* part of the state's z that expr reads */
    int32_t input;          /* packed input that overrides it, or -1 */
    bool first_order;
    size_t start, end;           /* entries */
    enum mech_category category; /* of the item that it belongs to, for messages */
    int32_t item;
};

struct mech_channel_entry {
    int32_t slot;
    double weight;
};

/* Records of one type. */
struct mech_batch {
    const struct mech_object_ops *ops;
    char *records; /* [n × ops->record_size] */
    size_t n;
    int32_t *slot; /* [n × ops->record_coordinates] */
    int32_t first; /* object of the first record */
};

struct mech_load_of {
    int32_t channel; /* of its first component */
};

struct mech_output_of {
    struct mech_output_request request;
    int32_t component;
};

struct mech_model {
    struct mech_arena arena, scratch;
    struct mech_document *document;
    const double *parameters; /* [document->parameters.n] in use */
    struct mech_names names[MECH_SENSOR + 1];
    struct mech_state_sizes sizes;
    struct mech_seat_of *nodes, *objects;
    struct mech_marker_map *markers;
    struct mech_load_of *loads;

    struct mech_mat M, C, K, A, pattern;
    struct mech_linear_part linear;
    double *q_ref, *x_ref, *q0, *v0, *x0, *z0; /* with ground slot; x_ref [nx + 1] … */
    double *zeros;                             /* as long as the longest of them */
    double *item_force, *base, *rate;          /* [nv + 1], [nv + 1], [nx + 1] */

    struct mech_channel *channels;
    size_t channel_count, channel_capacity;
    struct mech_channel_entry *entries;
    size_t entry_count, entry_capacity;
    size_t *dynamic; /* [dynamic_count] channels that are not folded into base and rate */
    size_t dynamic_count;
    bool timed; /* some channel has an expression */

    struct mech_batch *batches;
    size_t batch_count, place_count;

    struct mech_contact_rows rows;

    struct mech_channel_info *inputs, *outputs;
    struct mech_output_of *output_of;
    int32_t *input_channel; /* [sizes.input] channel that it drives, -1: a parameter */
    int32_t output_size;
};

/* resolve.c: bindings, names, references, ranges, checks of single items. */
int mech_resolve(struct mech_model *m, struct mech_diag *diag);

/* layout.c: coordinates of nodes and objects, markers, initial values. */
int mech_layout(struct mech_model *m, struct mech_diag *diag);

/* assemble.c: M, C, K, A and records. */
int mech_assemble(struct mech_model *m, struct mech_diag *diag);

/* forces.c: channels of loads and systems. */
int mech_channels(struct mech_model *m, struct mech_diag *diag);

/* channels.c: inputs and outputs of the document. */
int mech_inputs(struct mech_model *m, struct mech_diag *diag);
int mech_outputs(struct mech_model *m, struct mech_diag *diag);
/* A new channel; NULL: no memory. */
struct mech_channel *mech_channel_new(struct mech_model *m);
/* One more entry of the newest channel. */
int mech_channel_entry(struct mech_model *m, int32_t slot, double weight);
/* After all channels and inputs: fold what is constant. */
int mech_channels_fold(struct mech_model *m);

/* Value of channel i at time t. */
double mech_model_channel_value(const struct mech_model *m, const struct mech_state *s, size_t i,
                                double t);

/* contacts.c */
int mech_contacts(struct mech_model *m, struct mech_diag *diag);

/* "/objects/3" or "/objects/3/field" (field may be NULL) into text. */
void mech_item_path(enum mech_category category, size_t index, const char *field, char *text,
                    size_t size);
