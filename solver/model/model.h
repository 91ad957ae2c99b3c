/* The compiled model: const after mech_model_compile. Integrators see nothing but this and a state.
 *
 *     M v̇ + C v + K (q − q_ref) + g(q, v, t) = F(t, inputs)  (+ Gᵀ λ, + Hᵀ p)
 *
 * M, C, K gather every linear, time-invariant term of every item once, each in its leanest form.
 * Items that are not linear (force laws, and what later rooms bring) add to g and to its derivatives
 * through batches, one call per type. F is what acts from outside: loads, Fext, inputs.
 */
#pragma once

#include "solver/items/document.h"
#include "solver/model/state.h"

struct mech_model;

/* What integrators read of a compiled model. */
struct mech_linear_part {
    int32_t nv;               /* velocities; = coordinates for all items so far */
    const struct mech_mat *M; /* kinds DIAG, BAND, DENSE or CSC; never ZERO unless nv = 0 */
    const struct mech_mat *C; /* may be ZERO */
    const struct mech_mat *K; /* may be ZERO; acts on q − q_ref */
    const double *q_ref;      /* [nv], or NULL when all are 0 */
};

/* Rows of all interactions, in the document's order: y = H q + b, law per row. */
enum mech_row_law { MECH_ROW_NEWTON_IMPACT };
struct mech_contact_rows {
    int32_t count;
    const int32_t *start;   /* [count + 1] of the entries of each row of H */
    const int32_t *column;  /* velocity indices */
    const double *value;
    const double *b;        /* [count] m */
    const double *e;        /* [count] restitution, 0 to 1 */
    const int32_t *law;     /* [count] enum mech_row_law */
    const int32_t *interaction; /* [count] index in the document's interactions */
};

const struct mech_state_sizes *mech_model_sizes(const struct mech_model *m);
const struct mech_settings *mech_model_settings(const struct mech_model *m);
const struct mech_linear_part *mech_model_linear(const struct mech_model *m);
const struct mech_contact_rows *mech_model_contacts(const struct mech_model *m);

/* True when g is empty: no item is nonlinear. */
bool mech_model_is_linear(const struct mech_model *m);
/* True when F depends on neither time nor inputs with derivatives (given which inputs are set). */
bool mech_model_constant_force(const struct mech_model *m, const struct mech_state *s);

/* F(t) of loads, Fext, inputs and the forces of this step into f [nv + 1] (overwritten).
 * 0; MECH_NOT_FINITE. */
int mech_model_force(const struct mech_model *m, const struct mech_state *s, double t, double *f);

/* Scratch for one simulation; released by whoever marks it. */
struct mech_arena *mech_model_scratch(const struct mech_model *m);
