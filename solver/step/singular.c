/* Why a linear system has no solution. */
#include "solver/step/rates.h"

#include "solver/base/err.h"
#include "solver/base/text.h"

#include <stdio.h>

void mech_singular_reason(const struct mech_model *m, const char *what, int32_t column,
                          struct mech_step_result *result)
{
    char path[MECH_DIAG_PATH];
    const int32_t row = column - mech_model_sizes(m)->v;

    if (row >= 0 && row < mech_model_joints(m)->count) {
        mech_text_format(result->reason, sizeof result->reason,
                         "the joint \"%.64s\" repeats or contradicts other joints",
                         mech_model_joint_name(m, row));
        snprintf(result->place, sizeof result->place, "/objects/%d",
                 (int)mech_model_joints(m)->object[row]);
        result->dependent = row + 1;
        return;
    }
    mech_model_owner(m, column, path, sizeof path);
    mech_text_format(result->reason, sizeof result->reason,
                     "the %s is singular at %.64s, coordinate %d", what, path, (int)column);
}

void mech_linear_unsuited(const char *name, const char *what, struct mech_step_result *result)
{
    mech_text_format(result->reason, sizeof result->reason,
                     "the linear solver \"%.32s\" does not suit the %s of this model",
                     name ? name : "", what);
}

int mech_linear_outcome(const struct mech_model *m, const char *what, const struct mech_lsol *s,
                        int code, struct mech_step_result *result)
{
    const int32_t where = mech_lsol_where(s);

    if (code == MECH_SINGULAR) {
        mech_singular_reason(m, what, where, result);
    } else if (code == MECH_UNSUPPORTED) {
        mech_text_format(result->reason, sizeof result->reason,
                         "the %s is not positive definite, which the linear solver \"%s\" requires",
                         what, mech_lsol_name(s));
    } else if (code == MECH_NOT_CONVERGED) {
        mech_text_format(result->reason, sizeof result->reason,
                         "the linear solver \"%s\" did not converge with the %s", mech_lsol_name(s),
                         what);
    }
    return code;
}
