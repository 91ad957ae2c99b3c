/* Rows of the compiled model: objects between two markers (pairs.c, frames.c) and objects with
 * equations between their coordinates (equations.c), their forces, residuals g(q, t) and G = ∂g/∂q
 * by motions; the rows of all joints (rows.c); rows of interactions (contacts.c,
 * first_order_rows.c). What compiles returns 0, MECH_INVALID with faults in diag, or negative; what
 * evaluates does so at the last poses (kinematics.h). Internal to solver/model; owner: the
 * simulation. */
#pragma once

#include "solver/model/kinematics.h"

enum { MECH_PAIR_SLOTS = 2 * MECH_FLEX_SLOTS };

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

struct mech_model_rows {
    struct mech_pair_of *pairs; /* [pair_count] in the document's order */
    size_t pair_count;
    struct mech_equation_of *equations; /* [equation_count] in the document's order */
    size_t equation_count;
    struct mech_joint_rows joints;
    bool *dropped; /* [joints.count] what joints shows, or NULL */
    double *G;     /* [joints.start[rows]] of pairs at the last poses */
    double *g;     /* [joints.count] of pairs that are known there */
    struct mech_contact_rows contacts;
    struct mech_first_order_rows first_rows;
    struct mech_touch *touch;     /* bodies that touch by their shapes, or NULL */
    struct mech_penalty *penalty; /* their contacts are forces; NULL: they are not */
};

/* pairs.c: objects between two markers; after the constant forces. */
int mech_pairs(struct mech_model *m, struct mech_diag *diag);

/* Slots that a pair couples, and their number, at most MECH_PAIR_SLOTS. */
int32_t mech_pair_slots(const struct mech_model *m, const struct mech_pair_of *p, int32_t *slot);

/* frames.c: G of all pairs at the poses, in coordinates. */
void mech_frames_gather(const struct mech_model *m);
/* g −= Gᵀ λ of a pair with rows. */
void mech_frames_force(const struct mech_model *m, const struct mech_pair_of *p,
                       const double *lambda, double *g);
/* values[places] −= c ∂(Gᵀ λ)/∂q of a pair between rigid bodies; false: it is not, nothing done. */
bool mech_frames_tangent(const struct mech_model *m, const struct mech_pair_of *p,
                         const double *lambda, double c, const int32_t *places, double *values);
/* pairs.c */
/* What all pairs bring to g [nv + 1]. */
void mech_pairs_force(const struct mech_model *m, const struct mech_eval *e, double *g);
/* The same of one of them; its poses, complete. */
void mech_pair_force(const struct mech_model *m, const struct mech_pair_of *p,
                     const struct mech_eval *e, double *g);
void mech_pair_poses(const struct mech_model *m, const struct mech_pair_of *p,
                     const struct mech_pose *pose[2]);
/* values[places] += slopes of these and of loads on markers that move, c[0] times by q and c[1]
 * times by v; returns the places behind. */
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

/* contacts.c: rows of second order; first_order_rows.c: those of first order, behind them. */
int mech_contacts(struct mech_model *m, struct mech_diag *diag);
/* first_order_rows.c */
int mech_first_order_rows(struct mech_model *m, struct mech_diag *diag);
/* contacts.c */
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
