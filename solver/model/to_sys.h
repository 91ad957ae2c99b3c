/* A model at a point as a descriptor (sys/descriptor.h): blocks of masses, rows and stiffness.
 *
 *     [ H  −Gᵀ ] [ w ]   [  f ]   [ 0 ]      φ = F − C v − K u − g(q, v): all forces but reactions
 *     [ G   E  ] [ l ] − [ −b ] = [ c ]      K, C with the tangents of nonlinear items, M with M_q
 *
 *     ACCELERATION   H = M,  w = v̇,  f = φ,  l = λ (N)
 *                    joints c = g̈: b = g̈ at v̇ = 0;  interactions c = ÿ: b = 0
 *     VELOCITY       H = M + hθ C + h²θ² K,  w = v⁺ after a step h,  l = impulses (N s)
 *                    f = M v + h φ_θ + hθ C v − h²θ(1 − θ) K v,  φ_θ = (1 − θ) φ(t) + θ φ(t + h)
 *                    joints c = G v⁺ + g_t: b = g_t(t + h);  interactions c = ẏ⁺ + e ẏ: b = e ẏ
 *                    gaps of one-sided joints and between shapes, compliance: model/gap.h
 *
 * Of linear systems with interactions, VELOCITY is the problem of a Moreau–Jean step (V. Acary,
 * B. Brogliato, Springer 2008, ch. 10) to the last bit of its meaning; of nonlinear ones it is its
 * first Newton iteration.
 *
 * One block of variables for each node or object that owns coordinates, in the order of the
 * velocities, so that w is numbered as v where nothing is frozen. Blocks of the same mass share it.
 * What M couples between owners, and K and C, stand in stiffness blocks, one for each pair of
 * owners that is coupled: their factor of M' is to be that of M. Rows: those of joints, then those
 * of interactions, each in the order of λ and of the impulses, then, in a step, those of contacts
 * between shapes by their ids. A one-sided row with s λ ≥ 0 and
 * s = −1 stands mirrored, so that its multiplier is s λ ≥ 0.
 *
 * Costs what the patterns of M, C, K, G and H cost. owner: one thread; allocates. */
#pragma once

#include "solver/model/model.h"
#include "solver/sys/descriptor.h"

enum mech_system_level { MECH_LEVEL_ACCELERATION, MECH_LEVEL_VELOCITY };

struct mech_system_request {
    enum mech_system_level level;
    double h, theta;   /* VELOCITY: h > 0 (s), 0 ≤ θ ≤ 1 */
    bool all_contacts; /* rows of interactions whose contact the activation rule leaves out, too */
};

/* Matrices at the point, [nv × nv] (step/slopes.h). */
struct mech_system_terms {
    const struct mech_mat *M, *C, *K;
};

/* What a block of variables is. */
struct mech_system_variables {
    enum mech_category category; /* of its owner */
    int32_t item;                /* the owner's index in its category */
    int32_t first, n;            /* velocities of the model */
    int32_t mass;                /* number of its mass: equal ones are shared */
    enum mech_mass_kind kind;
};

enum mech_system_source { MECH_SOURCE_JOINT, MECH_SOURCE_INTERACTION, MECH_SOURCE_CONTACT };

/* What a constraint is. */
struct mech_system_constraint {
    enum mech_system_source source;
    int32_t item;         /* index of the object, or of the interaction */
    int32_t other;        /* CONTACT: index of the second object */
    int32_t row;          /* its first one among λ, or among the impulses; number of the CONTACT */
    bool mirrored;        /* s = −1 */
    struct mech_set set;  /* as in the descriptor */
    uint32_t flags;       /* enum mech_constraint_flag */
    double position, cfm; /* g or y at the point; entry of E of its first row */
};

/* What a stiffness block couples: variables a and b, the same for what one owner does to itself. */
struct mech_system_block {
    int32_t a, b;
    size_t entries[3]; /* stored of K, R, M' */
};

struct mech_system {
    struct mech_descriptor *descriptor; /* closed; factors 1; 0, 0, 1 or those of VELOCITY */
    struct mech_system_variables *variables;
    struct mech_system_constraint *constraints;
    struct mech_system_block *blocks;
    int32_t variables_count, constraint_count, block_count;
    struct mech_arena arena;
};

/* 0; MECH_NOT_FINITE; negative: no memory. *out is to be destroyed in any case. */
int mech_model_to_sys(const struct mech_model *m, const struct mech_eval *e,
                      const struct mech_system_terms *terms, const struct mech_system_request *r,
                      struct mech_system **out);
/* Accepts NULL. */
void mech_system_destroy(struct mech_system *s);

/* Name of the item that a block of variables, or a constraint, belongs to; of a contact, the object
 * of its first shape. */
const char *mech_system_variables_name(const struct mech_model *m,
                                       const struct mech_system_variables *v);
const char *mech_system_constraint_name(const struct mech_model *m,
                                        const struct mech_system_constraint *c);
/* Name of the second object of a contact; NULL of others. */
const char *mech_system_constraint_other(const struct mech_model *m,
                                         const struct mech_system_constraint *c);
