/* DOPRI5: J. Dormand, P. Prince, J. Comput. Appl. Math. 6 (1980): order 5 with an error estimate of
 * order 4 whose last stage is the first of the next step. */
#include "solver/step/erk.h"

const struct mech_tableau mech_tableau_dopri5 = {
    .stages = 6,
    .a = {{0.},
          {1. / 5.},
          {3. / 40., 9. / 40.},
          {44. / 45., -56. / 15., 32. / 9.},
          {19372. / 6561., -25360. / 2187., 64448. / 6561., -212. / 729.},
          {9017. / 3168., -355. / 33., 46732. / 5247., 49. / 176., -5103. / 18656.}},
    .b = {35. / 384., 0., 500. / 1113., 125. / 192., -2187. / 6784., 11. / 84.},
    .c = {0., 1. / 5., 3. / 10., 4. / 5., 8. / 9., 1.},
    .e = {71. / 57600., 0., -71. / 16695., 71. / 1920., -17253. / 339200., 22. / 525., -1. / 40.},
    .lower = 5,
    /* of order 4: L. Shampine; E. Hairer, S. Nørsett, G. Wanner, II.6 */
    .d = {-12715105075. / 11282082432., 0., 87487479700. / 32700410799.,
          -10690763975. / 1880347072., 701980252875. / 199316789632., -1453857185. / 822651844.,
          69997945. / 29380423.},
};

static int create(const struct mech_model *m, struct mech_step_result *result, void **self)
{
    return mech_erk_create(m, &mech_tableau_dopri5, result, self);
}

const struct mech_stepper_type mech_stepper_dopri5 = {
    .name = "DOPRI5",
    .doc = "Dormand and Prince's embedded Runge–Kutta pair of order 5 with step size control",
    .order = 5,
    MECH_ERK_PAIR_OPERATIONS,
};
