/* The points of a sweep of an uploaded FMU: values of its parameters and inputs. */
#include "server/operations/fmu_instances.h"
#include "server/operations/sweep_points.h"

#include <stdlib.h>

/* A parameter or an input of the FMU, by its start value. */
static bool find_start(struct mechd_call *c, const struct mechd_axes *axes, const char *name,
                       const char *path, struct mechd_axis *out)
{
    const struct mechd_engine *const e = axes->of;
    const int32_t parameters = (int32_t)mechd_engine_variable_count(e, MECH_PARAMETER);
    struct mech_variable v;
    enum mech_causality causality = MECH_PARAMETER;
    int32_t index = mechd_engine_variable_find(e, causality, name);
    if (index < 0) {
        causality = MECH_INPUT;
        index = mechd_engine_variable_find(e, causality, name);
    }
    if (index < 0) {
        mechd_engine_lacks(e, MECH_PARAMETER, name, path, &c->diag);
        return false;
    }
    mechd_engine_variable(e, causality, (size_t)index, &v);
    if (!v.scalar) {
        mech_diag_add(&c->diag, path, "%.64s is an array", name);
        return false;
    }
    *out = (struct mechd_axis){.index = causality == MECH_INPUT ? parameters + index : index,
                               .own = mechd_engine_fmu_started(e, causality, index)};
    return true;
}

const struct mechd_engine *mechd_sweep_of_fmu(struct mechd_call *c,
                                              const struct mechp_body_sweep_request *in,
                                              struct mechd_sweep_plan *plan)
{
    struct mechd_engine *const e = calloc(1, sizeof *e);
    if (e == NULL) {
        mechd_fail_outcome(c, MECH_NO_MEMORY);
        return NULL;
    }
    if (!mechd_fmu_engine_ready(c, in->fmu, in->start.of, e)) {
        free(e);
        return NULL;
    }
    const struct mechd_axes axes = {.find = find_start, .of = e};
    plan->ops = &mechd_points_of_fmu;
    plan->of = e;
    mechd_sweep_points_read(c, in->parameters, &axes, plan);
    return e;
}
