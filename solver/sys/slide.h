/* Cones under Coulomb's law (sets.h) beside fast sliding, without the cancellation of c_N and l in
 * ĉ_N = c_N + μ‖c_T‖.
 *
 * l, c [set->rows]: forces and speeds in one unit. A part T of a cone is what its normal row bounds
 * by one coefficient: the tangents of a CONE, and of a ROLLING set turns and torques about the
 * normal and along the surface as well.
 *
 * Pure functions of their arguments, any thread; nothing is allocated. */
#pragma once

#include "solver/sys/sets.h"

/* ‖x‖ without overflow and underflow; NaN stays NaN. */
double mech_slide_norm(int32_t rows, const double *x);

/* Σ μ‖x_T‖ of a CONE or ROLLING set. */
double mech_slide_of(const struct mech_set *set, const double *x);

/* ‖l − P_K(l − ĉ)‖ of a CONE or ROLLING set; map [set->rows]: what mech_set_map makes of it. With
 * x = l − c, and sums over the parts T that slide and S that stick,
 *
 *     n = (x_N + Σ_T μ (‖x_T‖ − ‖c_T‖) − Σ_S μ‖c_S‖)/(1 + Σ_T μ²)
 *     ‖x_T‖ − ‖c_T‖ = l_T·(l_T − 2 c_T)/(‖x_T‖ + ‖c_T‖)
 *
 * is the normal part of the projection. NaN and what overflows: as in map. */
double mech_slide_miss(const struct mech_set *set, const double *l, const double *c,
                       const double *map);
