/* Terms of the equations of the compiled model: M, C, K of second order and A of first order, and
 * records in batches for what is not linear (assemble.c), loads on markers that move (markers.c),
 * X⁻¹ and A' = X⁻¹ A (first_order.c).
 *
 *     (M + M_q(q)) v̇ + C v + K (q − q_ref) + g(q, v, t) = F,    X ẋ = A x + b
 *
 * What compiles returns 0, MECH_INVALID with faults in diag, or negative. Internal to solver/model;
 * owner: the simulation. */
#pragma once

#include "solver/model/model.h"

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

struct mech_model_terms {
    struct mech_mat M, C, K, A, pattern;
    struct mech_mat inertia; /* pattern of M_q */
    struct mech_first_order first;
    struct mech_linear_part linear;
    double *item_force, *base, *rate; /* [nv + 1], [nv + 1], [nx + 1] */
    double potential;                 /* J, of objects' linear terms at u = 0 */
    struct mech_batch *batches;
    size_t batch_count, place_count;
    bool has_inertia; /* some batch has M_q */
    struct mech_load_of *loads;
    struct mech_moving_load *moving_loads;
    size_t moving_load_count, moving_load_capacity;
};

/* assemble.c: M, C, K, A and records. */
int mech_assemble(struct mech_model *m, struct mech_diag *diag);

/* assemble.c: what object i sees. */
struct mech_site mech_site_of(struct mech_model *m, size_t i, const char *path,
                              struct mech_diag *diag);

/* markers.c */
/* What a marker takes from a channel (-1: value 1), for value 1. Negative: no memory. */
int mech_moving_load_new(struct mech_model *m, const struct mech_moving_load *load);

/* At the poses of this point: what loads on markers that move bring to g [nv + 1]. */
void mech_moving_force(const struct mech_model *m, const struct mech_eval *e, double *g);

/* values[places] += c times their slopes by q; returns the places behind its own. */
const int32_t *mech_moving_tangent(const struct mech_model *m, const struct mech_eval *e, double c,
                                   const int32_t *places, double *values);

/* first_order.c: A' and what else follows from X, once A stands; given [nx]: some object wrote X
 * there. */
int mech_first_order(struct mech_model *m, const struct mech_terms *terms, const bool *given,
                     struct mech_diag *diag);
