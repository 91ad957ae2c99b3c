/* Why a problem has no solution: multipliers d that would push without end and without stopping the
 * motion that they act against,
 *
 *     d ∈ K, under Coulomb's law d_T = 0, of a box 0;   Nᵀ d ∈ −K*;   r·d < 0
 *
 * A solution l would give 0 ≤ d·c = l·Nᵀ d + r·d < 0 (Farkas; R. Cottle, J.-S. Pang, R. Stone, The
 * Linear Complementarity Problem, SIAM 2009, section 2.5). Contacts in d are those that cannot be
 * met together: a body between closing walls, rows that contradict each other.
 *
 * Numbers are never exact: d counts when no l that acceptance.h would take, with the largest that
 * counts there, makes up for what Nᵀ d lacks, nor r with an error of the tolerance of what presses:
 * d_T = 0 under Coulomb's law, and no slide is data of d. So none is reported where there is a
 * solution that acceptance.h takes; where there is none, d may not be found. What rounding of r
 * makes seem solvable by an l that doubles cannot balance with what presses is reported:
 * p->rounding; whether d refutes that l as well is asked for by itself. */
#pragma once

#include "solver/base/interrupt.h"
#include "solver/sys/problem.h"

/* d [m], the largest entry 1, from l [m], which a solver has come to without solving p (N formed,
 * finite). tolerance: of the acceptance; interrupt: may be NULL. 1: found; 0: not, also because it
 * was interrupted; negative: no memory. Allocates; any thread. Some hundred products with N, or
 * factors of it, up to 2e10 flops. */
int mech_certificate_find(const struct mech_problem *p, double tolerance,
                          struct mech_interrupt *interrupt, const double *l, double *d);

/* Whether d refutes l [m], however large that is: l·Nᵀ d + r·d < 0 by more than the rounding of its
 * terms, without entries of Nᵀ d that are nothing but rounding of theirs. l = NULL: any l. */
bool mech_certificate_refutes(const struct mech_problem *p, const double *d, const double *l);
