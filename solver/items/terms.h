/* Terms: where objects write their linear, time-invariant local blocks.
 *
 *     M v̇ + C v + K (q − q_ref) = f,        X ẋ = A x + r
 *
 * X is 1 where an object writes nothing there.
 * owner: the model while it is compiled. Entries of the ground are dropped here. */
#pragma once

#include "solver/linalg/mat.h"

enum mech_term { MECH_TERM_M, MECH_TERM_C, MECH_TERM_K, MECH_TERM_A, MECH_TERM_X, MECH_TERM_COUNT };

struct mech_terms {
    struct mech_terms_list {
        struct mech_triplet *at; /* malloc'd */
        size_t n, capacity;
    } list[MECH_TERM_COUNT];
    double *force;       /* [ground + 1] constant force of objects, right-hand side */
    double *rate;        /* [first-order states + 1] constant rate r */
    double potential;    /* J, of what stands here at displacement 0 */
    int32_t ground;      /* slot of the ground */
    const int32_t *slot; /* of the object that is writing */
};

/* += value at local row i, column j. Negative: no memory. */
int mech_terms_add(struct mech_terms *t, enum mech_term which, int32_t i, int32_t j, double value);
/* += a whole local matrix. Negative: no memory. */
int mech_terms_matrix(struct mech_terms *t, enum mech_term which, const struct mech_mat *a);
/* Constant force at local coordinate i. */
static inline void mech_terms_force(struct mech_terms *t, int32_t i, double value)
{
    t->force[t->slot[i]] += value;
}
/* Constant rate of local first-order state i. */
static inline void mech_terms_rate(struct mech_terms *t, int32_t i, double value)
{
    t->rate[t->slot[i]] += value;
}
/* Potential energy of the object at displacement 0, J. */
static inline void mech_terms_potential(struct mech_terms *t, double value)
{
    t->potential += value;
}
void mech_terms_fini(struct mech_terms *t);
