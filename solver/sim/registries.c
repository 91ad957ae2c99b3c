/* What there is to choose from: integrators, linear and complementarity solvers, the BLAS. */
#include "solver/linalg/blas.h"
#include "solver/lsol/lsol.h"
#include "solver/sim/mech.h"
#include "solver/step/stepper.h"
#include "solver/vi/vi.h"

bool mech_integrator(size_t i, struct mech_integrator_info *out)
{
    size_t n = 0;

    while (mech_stepper_types[n]) {
        n++;
    }
    if (i >= n) {
        return false;
    }
    const struct mech_stepper_type *const t = mech_stepper_types[i];

    *out = (struct mech_integrator_info){.name = t->name,
                                         .doc = t->doc,
                                         .order = t->order,
                                         .explicit_scheme = t->explicit_scheme,
                                         .nonsmooth = t->nonsmooth,
                                         .first_order = t->first_order};
    return true;
}

const char *mech_linear_solver(size_t i, const char **doc)
{
    size_t n = 0;

    while (mech_lsol_types[n]) {
        n++;
    }
    if (i >= n) {
        return NULL;
    }
    *doc = mech_lsol_types[i]->doc;
    return mech_lsol_types[i]->name;
}

const char *mech_vi_solver(size_t i, const char **doc)
{
    size_t n = 0;

    while (mech_vi_types[n]) {
        n++;
    }
    if (i >= n) {
        return NULL;
    }
    *doc = mech_vi_types[i]->doc;
    return mech_vi_types[i]->name;
}

const char *mech_blas_info(void)
{
    return mech_blas_name();
}

void mech_blas_pin(void)
{
    mech_blas_single_thread();
}
