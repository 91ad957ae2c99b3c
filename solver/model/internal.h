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
    struct mech_seat_of *nodes, *objects;
    struct mech_marker_map *markers;
    int32_t *body_of;               /* [nodes] object whose mass a node carries, or -1 */
    struct mech_seat *marker_seats; /* [markers + centres] */
    struct mech_pose *poses;        /* [markers + centres] scratch of the last evaluation */
    int32_t *posed;                 /* [posed_count] poses that an evaluation needs */
    int32_t *like;                  /* [posed_count] an earlier one on the same body, or −1 */
    double *G;                      /* [joints.start[rows]] of pairs at the last poses */
    double *g;                      /* [joints.count] of pairs that are known there */
    size_t posed_count, centre_count;
    double *flex_block;         /* scratch of mech_flex_pair_tangent */
    struct mech_moving *moving; /* [moving_count] */
    int32_t *moving_of;         /* [markers + centres] index in moving, or -1 */
    size_t moving_count, moving_places;
    struct mech_moving_load *moving_loads;
    size_t moving_load_count, moving_load_capacity;
    struct mech_pair_of *pairs; /* [pair_count] in the document's order */
    size_t pair_count;
    int32_t kept;     /* numbers in z of nodes, pairs and markers: the first ones */
    int32_t *keepers; /* [keeper_count] markers that keep some */
    size_t keeper_count;
    int32_t *sensor_z; /* [sensors] place in z of the angles that it keeps, or −1 */
    bool sensor_turns; /* some sensor keeps angles */
    bool *late;        /* [sizes.z] what snapshots of format 3 may lack */
    int32_t late_count;
    struct mech_equation_of *equations; /* [equation_count] in the document's order */
    size_t equation_count;
    struct mech_joint_rows joints;
    bool *dropped; /* [joints.count] what joints shows, or NULL */
    /* all owners of second-order coordinates, and the node's operations where rate and move differ
     * from sums; for models that are curved */
    const struct mech_seat_of **seats; /* [seat_count] */
    const struct mech_node_ops **seat_ops;
    size_t seat_count;
    bool curved; /* some node has coordinates that are not its velocities' integrals */
    struct mech_load_of *loads;

    struct mech_mat M, C, K, A, pattern;
    struct mech_mat inertia; /* pattern of M_q */
    struct mech_first_order first;
    struct mech_linear_part linear;
    double *q_ref, *x_ref, *q0, *v0, *x0, *z0; /* with ground slot; x_ref [nx + 1] … */
    double *zeros;                             /* as long as the longest of them */
    double *item_force, *base, *rate;          /* [nv + 1], [nv + 1], [nx + 1] */
    double potential;                          /* J, of objects' linear terms at u = 0 */

    struct mech_channel *channels;
    size_t channel_count, channel_capacity;
    struct mech_channel_entry *entries;
    size_t entry_count, entry_capacity;
    size_t *dynamic; /* [dynamic_count] channels that are not folded into base and rate */
    size_t dynamic_count;
    bool timed; /* some channel is a function of time */

    struct mech_batch *batches;
    size_t batch_count, place_count;
    bool has_inertia; /* some batch has M_q */

    struct mech_contact_rows rows;
    struct mech_first_order_rows first_rows;
    struct mech_touch *touch;     /* bodies that touch by their shapes, or NULL */
    struct mech_penalty *penalty; /* their contacts are forces; NULL: they are not */

    struct mech_channel_info *inputs, *outputs;
    struct mech_output_of *output_of;
    size_t output_count;
    struct mech_output_request *sensors; /* [sensors] what each measures now */
    int32_t *input_channel;              /* [sizes.input] channel that it drives, -1: a parameter */
    int32_t output_size;
};

/* resolve.c: bindings, names, references, ranges, checks of single items. */
int mech_resolve(struct mech_model *m, struct mech_diag *diag);

/* "/objects/3" or "/objects/3/field" (field may be NULL) into text. */
void mech_item_path(enum mech_category category, size_t index, const char *field, char *text,
                    size_t size);
