/* When an answer l of a problem is accepted as a solution: set by set, against the data.
 *
 *     ‖g l − P_K(g l − ĉ)‖ ≤ tolerance · s
 *     ε max(Σ_β ‖N_αβ‖‖l_β‖, g‖l‖) ≤ tolerance · s
 *
 * for every set α, with K and ĉ of sets.h (the bounds of a box times g), g the speed that a unit of
 * l makes there, ‖N_αα‖, and s of the set's island, from the largest that asks for a force there:
 *
 *     ‖P_K(−r_β)‖,                     and where there are cones under Coulomb's law
 *     max(P, min(R, g‖l‖_∞, κP/tolerance)),    P the largest max(0, −r_N) of these,
 *                                              R the largest ‖r_β‖ where r_N < 0 < Σ μ‖r_T‖
 *
 * with ‖P_K(−r_β)‖ of the other sets in P and R. What else is in r_β opens a contact, or holds a
 * box at its bound: for N ≥ 0 no l is larger for it, by lᵀN l = l·(c − r) with l·c ≤ 0. A slide is
 * stopped by forces as large, as of bodies that are wedged, which r_T alone may push, or goes on
 * and needs none: l itself shows how much of it counts, and −r_N always does. But what presses
 * is never missed by more than κ = 1e-6 of it: where rounding of a slide that is stopped exceeds
 * that, an l that diverges looks like a solution, and neither is accepted. An island is a set of
 * contacts coupled by entries of N: a contact without data of its own moves through others, and a
 * contact next to one 1e8 times heavier is measured by its own speed. The published residual
 * (problem.h) is no substitute: it adds l to c, which have different units, divided by ‖l‖ it lets
 * an l that diverges pass, and one norm over all lets heavy contacts hide light ones. It is
 * reported, and met as well, for users that compare it literally. Under Coulomb's law min(g l_N,
 * c_N) is no larger than the first line allows either: in ĉ a large μ swallows c_N. The second
 * line: beyond it l is larger than doubles can balance the data with; where l is 0 or a bound holds
 * it, s there is no less than how far c opens the contact or holds the box.
 *
 * What rounding of r_α makes of a cone is some ε (|r_N| + Σ μ‖r_T‖). It does not count under the
 * associated law while the cone does not open faster, nor under Coulomb's in an island where every
 * −r_N is within rounding ‖r‖ of its set, p->rounding, or its p->noise: what presses there is
 * rounding of a slide, or of how fast bodies move that are led along together, and is not P.
 *
 * Torques of a ROLLING set count over an arm, and turns times it, √ of what a unit of force makes
 * along over what a unit of torque turns. g is the mean diagonal entry, of forces, and where that
 * gives no scale of a set (zero, or under √ε of the largest entry in its rows and columns) that
 * entry; without any, the largest g of all. Of a problem whose N is not formed: one island, one g
 * for all from a product, and only g‖l‖ in the second line.
 *
 *     mech_acceptance_form(a, p);                 N and sets
 *     mech_acceptance_weigh(a, p);                r, also of another problem with that N and sets
 *     mech_acceptance_whole(a, p, l, c, tolerance, NULL) <= tolerance
 *
 * owner: one solver; only create allocates. */
#pragma once

#include "solver/sys/problem.h"

struct mech_acceptance; /* opaque */

/* Room for problems of `most` rows. 0 or MECH_NO_MEMORY. */
int mech_acceptance_create(int32_t most, struct mech_acceptance **self);
void mech_acceptance_destroy(struct mech_acceptance *self); /* accepts NULL */

void mech_acceptance_form(struct mech_acceptance *self, const struct mech_problem *p);
/* s for any l: none has a larger one. */
void mech_acceptance_weigh(struct mech_acceptance *self, const struct mech_problem *p);
/* s for l [m], once weighed; NULL: the largest again, and the tolerance is not read. */
void mech_acceptance_weigh_at(struct mech_acceptance *self, const struct mech_problem *p,
                              const double *l, double tolerance);

/* True when every row meets both lines by its own |r| already, which no island undercuts, or by its
 * island's where N is tridiagonal: no forming and no weighing then. Bilateral and unilateral rows
 * of an N that is formed; *miss: at least what the acceptance is; work [3 m]. One pass through N.
 * */
bool mech_acceptance_plain(const struct mech_problem *p, const double *l, double tolerance,
                           double *work, double *miss);

/* Of a set, as it was last weighed: s; s for l = 0, without what slides; and the largest |l| there
 * that counts by the second line alone, of an exact r without κ: a solution may be as large. */
double mech_acceptance_scale(const struct mech_acceptance *self, int32_t set);
double mech_acceptance_least(const struct mech_acceptance *self, int32_t set);
double mech_acceptance_most(const struct mech_acceptance *self, int32_t set, double tolerance);

/* l := 0 in islands where nothing asks for a force without one, where that is the solution. */
void mech_acceptance_rest(const struct mech_acceptance *self, const struct mech_problem *p,
                          double *l);
/* The left side of the first line of one set, l and c [its rows], weighed. NaN when something is.
 */
double mech_acceptance_set(const struct mech_acceptance *self, const struct mech_problem *p,
                           int32_t set, const double *l, const double *c);
/* The largest of the first line over s as it was last weighed, c = N l + r. NaN when something is.
 * What iterates goes by the largest s: one that moves with l would change its course. */
double mech_acceptance_of(const struct mech_acceptance *self, const struct mech_problem *p,
                          const double *l, const double *c);
/* The same over s for l = 0: beside what presses alone. 0 in islands where nothing does. */
double mech_acceptance_pressing(const struct mech_acceptance *self, const struct mech_problem *p,
                                const double *l, const double *c);
/* The published residual with l and c as speeds: the same in any units. */
double mech_acceptance_residual(const struct mech_acceptance *self, const struct mech_problem *p,
                                const double *l, const double *c);
/* After weighing: mech_acceptance_of by the largest s, and where that is at most the tolerance, the
 * larger of it by s for l, of the second line over that s, and of the published residual. *miss:
 * mech_acceptance_of by the largest s; or NULL. */
double mech_acceptance_whole(struct mech_acceptance *self, const struct mech_problem *p,
                             const double *l, const double *c, double tolerance, double *miss);
