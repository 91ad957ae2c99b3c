/* Contacts of body_contacts.h by a method of second order, island by island: proximal points l̂ in
 * the multipliers, each found by Newton's method in velocities,
 *
 *     F(y) = y − M⁻½ Gᵀ (l − l̂),   l = P(l̂ − (ĉ + G M⁻½ y)/κ),   ĉ = q + (G M⁻¹ Gᵀ + E) l̂
 *     (1 + M⁻½ Gᵀ D G M⁻½/κ) Δy = −F,   D = ∂P/∂z,   then l̂ := l
 *
 * y, from l̂ on, gets small with ĉ, so that a small κ does not magnify the rounding of velocities.
 * P is the nearest point of the cone for the associated law, and for Coulomb's l_N = max(0, z_N),
 * l_T = z_T onto the disk of radius μ l_N, and couples likewise (P. Alart, A. Curnier, Comput.
 * Methods Appl. Mech. Eng. 92 (1991); R. Rockafellar, SIAM J. Control Optim. 14 (1976)). The matrix
 * has a block of 6 × 6 a body and two a pair of bodies that touch: contacts of faces, which repeat
 * each other, add to the same blocks. An island is what contacts tie together; bodies that nothing
 * moves tie nothing.
 *
 * For the associated law F is the gradient of a convex function, and Coulomb's is close to one: a
 * step that does not lessen ‖F‖ ends where F along it has next to none. κ begins at 1e-3 of W's
 * diagonal and falls from point to point; where the first is not found, the impulses begin once
 * more from 0, in islands of more than 256 bodies with a κ by their number. Near the tolerance,
 * where rounding may be all that is left, few points that are not found end it.
 *
 * Where faces repeat each other but for small angles, l may change far along directions in which
 * bodies hardly move, and sweeps and proximal points creep: l̂ then goes on along its last change
 * as far as the first contact comes to the end of its cone.
 *
 * owner: one thread; reserve and create allocate, nothing else does. */
#pragma once

#include "solver/vi/body_contacts.h"

struct mech_body_newton; /* opaque: working memory only, no result depends on earlier calls */

/* Under what name of a complementarity solver it is known: that of Newton's method. */
const char *mech_body_newton_name(void);

/* 0 or MECH_NO_MEMORY; room for so many, both ≥ 0. */
int mech_body_newton_create(int32_t bodies, int32_t contacts, struct mech_body_newton **self);
void mech_body_newton_destroy(struct mech_body_newton *self); /* accepts NULL */

/* Grows when there is not room for so many. 0, or MECH_NO_MEMORY: as it was. */
int mech_body_newton_reserve(struct mech_body_newton *self, int32_t bodies, int32_t contacts);

/* Sweeps over all contacts that cost about as much as one of Newton's steps of each island, by
 * counts of operations. 0: an island has more than 65,536 contacts, or elimination would tie more
 * pairs of its bodies than 16,384 or 24 times all bodies, and `improve` leaves it as it is; or a
 * contact resists rolling or spinning by the associated law, and it leaves all. */
double mech_body_newton_cost(struct mech_body_newton *self,
                             const struct mech_contact_bodies *bodies,
                             const struct mech_body_contact *contacts, int32_t count,
                             enum mech_friction friction);

struct mech_body_newton_options {
    enum mech_friction friction; /* of all contacts */
    double tolerance;            /* of the residual (body_contacts.h), > 0 */
    int32_t most; /* steps of an island after which it goes to no other point; 0: 100 */
    struct mech_interrupt *interrupt; /* asked at each proximal point; NULL: none */
};

/* Impulses of the contacts, from those that they have, towards the tolerance, as it is shared among
 * islands by their contacts; the best that was met. Velocities are read and not changed: a call of
 * mech_body_contacts_solve judges the impulses and gives v⁺. Data as that takes them. Returns steps
 * of Newton's method, of all islands. */
int32_t mech_body_newton_improve(struct mech_body_newton *self,
                                 const struct mech_contact_bodies *bodies,
                                 struct mech_body_contact *contacts, int32_t count,
                                 const struct mech_body_newton_options *options);
