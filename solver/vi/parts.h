/* Coulomb's law part by part, in sweeps over the sets: what is left to members that solve the
 * associated law (desaxce.h) where a contact slides so fast that r_N is rounded beside μ‖c_T‖,
 * which De Saxcé's shift adds to it. Here nothing of a slide is added to r_N.
 *
 * Projected Gauss–Seidel on the augmented form (P. Alart, A. Curnier, Comput. Methods Appl. Mech.
 * Eng. 92 (1991)), W the blocks N_αα of a part:
 *
 *     l_N ← max(0, l_N − c_N/W_N)
 *     l_T ← l_T − c_T/W_T, onto the disk of radius μ l_N       of a ROLLING set l_S, l_R likewise
 *
 * with W_T the largest sum of a row of |W|; c is kept up to date. Other sets: l ← P_K(l − c/W). */
#pragma once

#include "solver/sys/problem.h"

/* One sweep under Coulomb's law; N formed, c [m] = N l + r in and out. False, l and c as far as it
 * came: a diagonal that cannot be divided by, or nothing moved. No allocation, any thread. */
bool mech_parts_sweep(const struct mech_problem *p, double *l, double *c);
