/* The compiled model inside. owner: the simulation; const after mech_model_compile, except for the
 * variables of expressions. */
#pragma once

#include "solver/base/name.h"
#include "solver/items/timed.h"
#include "solver/model/model.h"

/* Where the coordinates of a node or an object are. */
struct mech_seat_of {
    int32_t *slot;        /* [n] velocities */
    int32_t *q_slot;      /* [nq] coordinates; slot itself where they are numbered alike */
    int32_t n, nq, first; /* first: what the first of an object's nodes or markers brings of n */
    bool first_order, curved;
    bool data;              /* of a node: slot numbers the state's z */
    void *record;           /* of an object, or NULL */
    int32_t pair, equation; /* of an object, or -1 */
};

/* One scalar force: a number or a function of time, or an input, and where it acts. */
struct mech_channel {
    struct mech_timed source; /* variables of its expression: t, z … */
    int32_t z, z_count;       /* part of the state's z that it reads */
    int32_t input;            /* packed input that overrides it, or -1 */
    bool first_order;
    size_t start, end;           /* entries */
    enum mech_category category; /* of the item that it belongs to, for messages */
    int32_t item;
};

struct mech_channel_entry {
    int32_t slot;
    double weight;
};

/* Records of one type, those with M_q apart. */
struct mech_batch {
    const struct mech_object_ops *ops;
    bool inertia;  /* all of them have M_q */
    char *records; /* [n × ops->record_size] */
    size_t n;
    int32_t *slot;  /* [start[n]] */
    int32_t *start; /* [n + 1] of the slots of each record */
    size_t places;  /* sum of the squares of their numbers */
    int32_t first;  /* object of the first record */
};

/* X ẋ = A x + b of first-order systems. */
struct mech_first_order {
    bool has_mass; /* false: X is 1, and nothing below is set */
    struct mech_mat X, A;
    size_t *start; /* [nx + 1] X⁻¹ by columns */
    int32_t *row;
    double *value;
};

struct mech_load_of {
    int32_t channel; /* of its first component */
};

/* What a marker that moves takes from one channel: a wrench for value 1. */
struct mech_moving_load {
    int32_t moving;  /* index among the moving markers */
    int32_t channel; /* -1: value 1 */
    double w[6];
    bool body_fixed; /* w turns with the marker */
};

/* A marker whose J moves; the ones after the document's markers are centres of mass. */
struct mech_moving {
    int32_t marker;        /* index of its pose */
    double w[6], fixed[6]; /* scratch: sums of wrenches, global; those that turn with the body */
};

enum { MECH_PAIR_SLOTS = 2 * MECH_FLEX_SLOTS };

/* Slopes of a pair's wrench W: by its poses' motion and by their twists, and c of c ∂(Jᵀ W)/∂q. */
struct mech_flex_slopes {
    const double (*Wx)[12], (*Wt)[12];
    const double *W;
    double c;
};

/* An object that acts between two markers. */
struct mech_pair_of {
    bool idle; /* let go: its rows do not act */
    const struct mech_pair_ops *ops;
    void *record;
    int32_t object;
    int32_t marker[2];
    bool known;        /* its residual at the last poses is in the model's g */
    int32_t row, rows; /* of its multipliers; 0 rows for a force element */
    int32_t z;         /* of its stored numbers */
};

/* An object with equations between its coordinates. */
struct mech_equation_of {
    bool idle; /* let go: its rows do not act */
    const struct mech_equation_ops *ops;
    void *record;
    int32_t object, row, rows;
    const int32_t *slot, *q_slot;     /* [point.n] */
    double *local;                    /* [3 × point.n] what point shows */
    double *block;                    /* [most of rows, n] × n, scratch: G or K; 3 rows */
    struct mech_equation_point point; /* of the last evaluation */
};

struct mech_output_of {
    struct mech_output_request request;
    int32_t component;
};

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

/* layout.c: coordinates of nodes and objects, markers, initial values. */
int mech_layout(struct mech_model *m, struct mech_diag *diag);

/* assemble.c: M, C, K, A and records. */
int mech_assemble(struct mech_model *m, struct mech_diag *diag);

/* forces.c: channels of loads and systems. */
int mech_channels(struct mech_model *m, struct mech_diag *diag);

/* turns.c: angles that count turns, in z. mech_turns: of markers, behind those of pairs;
 * of sensors: at the end of z, once all before it is there. */
int mech_turns(struct mech_model *m);
int mech_turns_of_sensors(struct mech_model *m, struct mech_diag *diag);
/* What markers and sensors keep: as mech_model_keep. */
void mech_turns_keep(const struct mech_model *m, const struct mech_eval *e, struct mech_state *s);
/* The angles [count] that a sensor of Rotation measures: to the nearest ones of those that it
 * keeps. */
void mech_turns_measured(const struct mech_model *m, const struct mech_state *s, size_t sensor,
                         size_t count, double *angles);

/* channels.c: inputs, sensors and outputs of the document. */
int mech_inputs(struct mech_model *m, struct mech_diag *diag);
int mech_sensors(struct mech_model *m, struct mech_diag *diag);
int mech_outputs(struct mech_model *m, struct mech_diag *diag);
/* A new channel; NULL: no memory. */
struct mech_channel *mech_channel_new(struct mech_model *m);
/* One more entry of the newest channel. */
int mech_channel_entry(struct mech_model *m, int32_t slot, double weight);
/* After all channels and inputs: fold constant terms; reports no faults. */
/* S [nv + 1] = |F(t)|, channel by channel. */
void mech_model_outer_sizes(const struct mech_model *m, const struct mech_state *s, double t,
                            double *S);
int mech_channels_fold(struct mech_model *m, struct mech_diag *diag);

/* Value of channel i at time t. */
double mech_model_channel_value(const struct mech_model *m, const struct mech_state *s, size_t i,
                                double t);

/* assemble.c: what object i sees. */
struct mech_site mech_site_of(struct mech_model *m, size_t i, const char *path,
                              struct mech_diag *diag);

/* pairs.c: objects between two markers; after the constant forces. */
int mech_pairs(struct mech_model *m, struct mech_diag *diag);
/* markers.c: which poses are needed; gravity. */
int mech_markers(struct mech_model *m);
/* What a marker takes from a channel (-1: value 1), for value 1. Negative: no memory. */
int mech_moving_load_new(struct mech_model *m, const struct mech_moving_load *load);
/* Pose of marker i at a point. */
void mech_model_pose_marker(const struct mech_model *m, int32_t i, const struct mech_eval *e);
/* Slots that a pair couples, and their number, at most MECH_PAIR_SLOTS. */
int32_t mech_pair_slots(const struct mech_model *m, const struct mech_pair_of *p, int32_t *slot);
/* At the poses of this point: g += forces of moving loads, of pairs; and their tangents. */
void mech_moving_force(const struct mech_model *m, const struct mech_eval *e, double *g);

/* flex.c: markers on what is deformable. Room for the poses of all of them; after mech_pairs knows
 * its pairs and `poses` stand. */
int mech_flex(struct mech_model *m);
/* Room for one pose. */
int mech_flex_new(struct mech_arena *arena, int32_t n, struct mech_flex **out);
/* What the pose's operation shall find, and what follows from what it wrote. */
void mech_flex_open(struct mech_pose *pose);
void mech_flex_close(struct mech_pose *pose, const double *v);
/* g −= Jᵀ w */
void mech_flex_force(const struct mech_pose *pose, const double w[6], double *g);
/* values[places] −= c ∂(Jᵀ w)/∂q; the wrench `fixed`, part of w, turns with the body. Returns the
 * places behind. */
const int32_t *mech_flex_moving_tangent(const struct mech_pose *pose, const double w[6],
                                        const double fixed[6], double c, const int32_t *places,
                                        double *values);
/* values[places] −= Jᵀ (Wx J + Wt turning) + c ∂(Jᵀ W)/∂q of a pair, of which one is deformable.
 * Returns the places behind. */
const int32_t *mech_flex_pair_tangent(const struct mech_model *m,
                                      const struct mech_pose *const pose[2],
                                      const struct mech_flex_slopes *slopes, const int32_t *places,
                                      double *values);
/* out [n of both] = row [12] times the J of both. */
void mech_flex_row(const struct mech_pose *const pose[2], const double row[12], double *out);

/* Returns the places behind its own. */
const int32_t *mech_moving_tangent(const struct mech_model *m, const struct mech_eval *e, double c,
                                   const int32_t *places, double *values);
/* frames.c: G of all pairs at the poses, in coordinates. */
void mech_frames_gather(const struct mech_model *m);
/* g −= Gᵀ λ of a pair with rows. */
void mech_frames_force(const struct mech_model *m, const struct mech_pair_of *p,
                       const double *lambda, double *g);
/* values[places] −= c ∂(Gᵀ λ)/∂q of a pair between rigid bodies; false: it is not, nothing done. */
bool mech_frames_tangent(const struct mech_model *m, const struct mech_pair_of *p,
                         const double *lambda, double c, const int32_t *places, double *values);
void mech_pairs_force(const struct mech_model *m, const struct mech_eval *e, double *g);
/* The same of one of them; its poses, complete. */
void mech_pair_force(const struct mech_model *m, const struct mech_pair_of *p,
                     const struct mech_eval *e, double *g);
void mech_pair_poses(const struct mech_model *m, const struct mech_pair_of *p,
                     const struct mech_pose *pose[2]);
/* Returns the places behind its own. */
const int32_t *mech_pairs_tangent(const struct mech_model *m, const struct mech_eval *e,
                                  const double c[2], const int32_t *places, double *values);

/* equations.c: objects with equations between their coordinates. */
int mech_equation_add(struct mech_model *m, size_t o, struct mech_diag *diag);
void mech_equations_gather(const struct mech_model *m, const struct mech_eval *e);
void mech_equations_force(const struct mech_model *m, const struct mech_eval *e, double *g);
void mech_equations_tangent(const struct mech_model *m, const struct mech_eval *e, double c,
                            const int32_t *places, double *values);
void mech_equations_residual(const struct mech_model *m, double *g);
void mech_equations_jacobian(const struct mech_model *m, double *values);
/* G of one object at the last point, [rows][n]; valid until the next call of any of these. */
const double *mech_equation_jacobian(const struct mech_equation_of *q);
/* of = residuals, their rate and the bias [rows each], of its point, valid until the next of G. */
void mech_equation_values(const struct mech_equation_of *q, const double *of[3]);
void mech_equations_rate(const struct mech_model *m, double *gt, double *bias);
/* The point of one object with equations; local [3 × on->n] is what it shows. */
void mech_equation_read(const struct mech_seat_of *on, const struct mech_eval *e, double *local,
                        struct mech_equation_point *out);
/* rows.c: the rows of all joints, pairs and equations; after both. */
int mech_joint_rows(struct mech_model *m);

/* first_order.c: A' and what else follows from X, once A stands; given [nx]: some object wrote X
 * there. */
int mech_first_order(struct mech_model *m, const struct mech_terms *terms, const bool *given,
                     struct mech_diag *diag);

/* contacts.c: rows of second order; first_order_rows.c: those of first order, behind them. */
int mech_contacts(struct mech_model *m, struct mech_diag *diag);
int mech_first_order_rows(struct mech_model *m, struct mech_diag *diag);
/* The entries of `a` by rows, columns ascending, in the arena; start [a->rows + 1]. */
int mech_by_row(struct mech_arena *arena, const struct mech_mat *a, struct mech_triplet **out,
                int32_t **start);
/* Slots of all systems of an interaction, side by side; `coordinates`: those in q. */
int32_t *mech_interaction_slots(struct mech_arena *arena, const struct mech_model *m,
                                const struct mech_interaction *in, bool coordinates);
/* The law of an interaction. */
struct mech_contact_law mech_interaction_law(const struct mech_interaction *in);
/* False, with a fault, when its systems are of another order than its relation, or of another
 * size, or its law is. */
bool mech_interaction_fits(const struct mech_model *m, const struct mech_interaction *in, size_t i,
                           struct mech_diag *diag);
/* What the multipliers of a law stay in. */
struct mech_set mech_interaction_set(const struct mech_contact_law *law);

/* "/objects/3" or "/objects/3/field" (field may be NULL) into text. */
void mech_item_path(enum mech_category category, size_t index, const char *field, char *text,
                    size_t size);
