/* Kinematics of the compiled model: where the coordinates of nodes and objects are (layout.c),
 * poses of markers at a point (markers.c, flex.c for what is deformable), their motions (move.c),
 * and angles that count turns (turns.c). A pose has J, its velocity by the model's velocities; a
 * wrench w there is the force Jᵀ w. Units are SI. What compiles returns 0, MECH_INVALID with
 * faults in diag, or negative. Internal to solver/model; owner: the simulation. */
#pragma once

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

/* A marker whose J moves; the ones after the document's markers are centres of mass. */
struct mech_moving {
    int32_t marker;        /* index of its pose */
    double w[6], fixed[6]; /* scratch: sums of wrenches, global; those that turn with the body */
};

/* Slopes of a pair's wrench W: by its poses' motion and by their twists, and c of c ∂(Jᵀ W)/∂q. */
struct mech_flex_slopes {
    const double (*Wx)[12], (*Wt)[12];
    const double *W;
    double c;
};

struct mech_model_kinematics {
    struct mech_seat_of *nodes, *objects; /* of the document */
    struct mech_marker_map *markers;
    int32_t *body_of;               /* [nodes] object whose mass a node carries, or -1 */
    struct mech_seat *marker_seats; /* [markers + centres] */
    struct mech_pose *poses;        /* [markers + centres] scratch of the last evaluation */
    int32_t *posed;                 /* [posed_count] poses that an evaluation needs */
    int32_t *like;                  /* [posed_count] an earlier one on the same body, or −1 */
    size_t posed_count, centre_count;
    double *flex_block;         /* scratch of mech_flex_pair_tangent */
    struct mech_moving *moving; /* [moving_count] */
    int32_t *moving_of;         /* [markers + centres] index in moving, or -1 */
    size_t moving_count, moving_places;
    int32_t kept;     /* numbers in z of nodes, pairs and markers: the first ones */
    int32_t *keepers; /* [keeper_count] markers that keep some */
    size_t keeper_count;
    int32_t *sensor_z;    /* [sensors] place in z of the angles that it keeps, or −1 */
    bool *sensor_counted; /* [sensors] their turns are those of a coordinate */
    bool sensor_turns;    /* some sensor keeps angles */
    bool *late;           /* [sizes.z] what snapshots of format 3 may lack */
    int32_t late_count;
    /* all owners of second-order coordinates, and the node's operations where rate and move differ
     * from sums; for models that are curved */
    const struct mech_seat_of **seats; /* [seat_count] */
    const struct mech_node_ops **seat_ops;
    size_t seat_count;
    bool curved; /* some node has coordinates that are not its velocities' integrals */
    double *q_ref, *x_ref, *q0, *v0, *x0, *z0; /* with ground slot; x_ref [nx + 1] … */
    double *zeros;                             /* as long as the longest of them */
};

/* layout.c: coordinates of nodes and objects, markers, initial values. */
int mech_layout(struct mech_model *m, struct mech_diag *diag);

/* turns.c: angles that count turns, in z. mech_turns: of markers, behind those of pairs;
 * of sensors: at the end of z, once all before it is there. */
int mech_turns(struct mech_model *m);
/* What pairs settle by the poses in the reference, which exist then, and their warnings. 0;
 * negative: no memory. */
int mech_turns_settle(struct mech_model *m, struct mech_diag *diag);
int mech_turns_of_sensors(struct mech_model *m, struct mech_diag *diag);
/* What markers and sensors keep: as mech_model_keep. */
void mech_turns_keep(const struct mech_model *m, const struct mech_eval *e, struct mech_state *s);
/* The angles [count] that a sensor of Rotation measures: to the nearest ones of those that it
 * keeps, where no coordinate counts them. */
void mech_turns_measured(const struct mech_model *m, const struct mech_state *s, size_t sensor,
                         size_t count, double *angles);

/* markers.c: which poses are needed; gravity. */
int mech_markers(struct mech_model *m);

/* m's pose of marker i (behind the document's: a centre of mass) at a point. */
void mech_model_pose_marker(const struct mech_model *m, int32_t i, const struct mech_eval *e);

/* flex.c: markers on what is deformable. Room for the poses of all of them; after mech_pairs knows
 * its pairs and `poses` stand. */
int mech_flex(struct mech_model *m);
/* Room for one pose. */
int mech_flex_new(struct mech_arena *arena, int32_t n, struct mech_flex **out);
/* What the pose's operation shall find, and what follows from what it wrote. */
void mech_flex_open(struct mech_pose *pose);
void mech_flex_close(struct mech_pose *pose, const double *v);
/* g −= Jᵀ w, g [nv + 1]. */
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
