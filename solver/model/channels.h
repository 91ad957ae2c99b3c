/* Channels of the compiled model: scalar forces that are numbers, functions of time or inputs, and
 * where they act (forces.c); inputs, sensors and outputs of the document (channels.c, outputs.c).
 * Internal to solver/model; owner: the simulation. */
#pragma once

#include "solver/items/timed.h"
#include "solver/model/model.h"

/* One scalar force: a number or a function of time, or an input, and where it acts. */
struct mech_channel {
    struct mech_timed source; /* variables of its expression: t, z … */
    int32_t z, z_count;       /* part of the state's z that it reads */
    int32_t input;            /* packed input that overrides it, or -1 */
    bool first_order;
    size_t start, end;           /* entries */
    enum mech_category category; /* of the item that it belongs to, for messages */
    int32_t item, row;           /* … and which of its numbers this is */
};

struct mech_channel_entry {
    int32_t slot;
    double weight;
};

struct mech_output_of {
    struct mech_output_request request;
    int32_t component;
};

struct mech_model_channels {
    struct mech_channel *at;
    size_t count, capacity;
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
};

/* forces.c: channels of loads and systems. */
int mech_channels(struct mech_model *m, struct mech_diag *diag);

/* channels.c: inputs, sensors and outputs of the document. */
int mech_inputs(struct mech_model *m, struct mech_diag *diag);
int mech_sensors(struct mech_model *m, struct mech_diag *diag);
int mech_outputs(struct mech_model *m, struct mech_diag *diag);
/* forces.c */
/* A new channel; NULL: no memory. */
struct mech_channel *mech_channel_new(struct mech_model *m);
/* One more entry of the newest channel. */
int mech_channel_entry(struct mech_model *m, int32_t slot, double weight);
/* After all channels and inputs: fold constant terms; reports no faults. */
int mech_channels_fold(struct mech_model *m, struct mech_diag *diag);

/* S [nv + 1] = |F(t)|, channel by channel. */
void mech_model_outer_sizes(const struct mech_model *m, const struct mech_state *s, double t,
                            double *S);
/* Value of channel i at time t. */
double mech_model_channel_value(const struct mech_model *m, const struct mech_state *s, size_t i,
                                double t);
