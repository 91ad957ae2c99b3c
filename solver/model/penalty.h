/* Contacts between shapes as forces: contact.method "penalty". The forces are a part of the
 * nonlinear terms g of the model; mech_model_nonlinear, _tangent, _energy and _keep call these.
 *
 *     normal   f_n = max(0, δ/c − d u_n)         δ = −gap > 0, u the velocity of the second surface
 *     friction f_t = −k_t s − d_t u_t, at most μ f_n long;   k_t = 2/7 /c,  d_t = 2/7 d
 *
 * A spring and damper of the materials' compliance c and damping d, and a spring along the surfaces
 * whose stretch s is the way that two points have gone from each other that were one when the
 * contact closed (P. A. Cundall, O. D. L. Strack, Géotechnique 29, 1979; 2/7 gives a sphere the
 * same frequency and damping in both directions: J. Schäfer, S. Dippel, D. E. Wolf, J. Phys. I
 * France 6, 1996). Where it slips, the points follow. They are kept in the state's contacts, by
 * body, and change at the end of internal steps only.
 *
 * Tangents are the derivatives of these forces where they are asked for as exact; else they leave
 * out how normals and surfaces turn (penalty_tangent.c).
 * owner: the model's simulation. */
#pragma once

#include "solver/model/internal.h"

enum {
    /* moving bodies with shapes up to which every two may be coupled in a tangent */
    MECH_PENALTY_COUPLED = 32
};

/* After mech_touch: memory and pattern. Faults: a material without compliance, rolling resistance.
 * 0 or negative. */
int mech_penalty(struct mech_model *m, struct mech_diag *diag);
void mech_penalty_fini(struct mech_penalty *p); /* accepts NULL */
/* Entries of its tangent. */
size_t mech_penalty_places(const struct mech_model *m);
/* Its slots, which are all coupled: [n]; n 0: it has no tangent. */
const int32_t *mech_penalty_slots(const struct mech_model *m, int32_t *n);

/* g −= Gᵀ f at a point; NaN into g where the bodies are at no place. */
void mech_penalty_force(const struct mech_model *m, const struct mech_eval *e, double *g);
/* penalty_tangent.c */
/* values[places] += c[0] ∂g/∂q + c[1] ∂g/∂v; NaN where the bodies are at no place, or without
 * memory. */
void mech_penalty_tangent(const struct mech_model *m, const struct mech_eval *e, const double c[2],
                          const int32_t *places, double *values);
/* How exactly it is known where it is asked for as exact, of its largest entries: what the rounding
 * of positions leaves of the differences. of [nv + 1] becomes no less in the velocities of bodies
 * that contacts act on. Returns the largest of these contacts, 0: there are none, NaN: shapes are
 * at no place. */
double mech_penalty_tangent_known_to(const struct mech_model *m, const struct mech_eval *e,
                                     double *of);
/* penalty.c */
/* J of all springs. */
double mech_penalty_energy(const struct mech_model *m, const struct mech_eval *e);
/* Contacts of the state into its records, with their forces in place of impulses. */
void mech_penalty_keep(const struct mech_model *m, struct mech_state *s);
