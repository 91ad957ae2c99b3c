/* One contact with friction, solved exactly: l [rows] in the cone ‖l_T‖ ≤ μ l_N such that
 * u = W l + q fulfils the law of friction. What block Gauss–Seidel solves for each contact. */
#pragma once

#include "solver/sys/sets.h"

/* rows 2 (N, T) or 3 (N, U, V); W [rows × rows] by rows, symmetric positive definite; μ ≥ 0. No
 * allocation, any thread. False: W has no positive diagonal, or no finite solution was found. */
bool mech_contact_solve(int32_t rows, const double *W, const double *q, double mu,
                        enum mech_friction friction, double *l);
