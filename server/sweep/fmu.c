/* Points that are instances of a hosted FMU: begun in a process of their own with the point's
 * values in place of the start values. */
#include "server/call/service.h"
#include "server/engine/fmu_engine.h"
#include "server/sweep/stepped.h"
#include "server/sweep/sweep.h"

#include <stdlib.h>

/* The values of the point as start values. False: one is refused. */
static bool give_values(struct mechd_point *p, const struct mechd_engine *e)
{
    const struct mechd_sweep_plan *const plan = &p->sweep->plan;
    const int32_t parameters = (int32_t)mechd_engine_variable_count(e, MECH_PARAMETER);
    struct mech_diag diag;
    bool good = true;
    mech_diag_init(&diag);
    for (size_t k = 0; good && k < plan->places; k++) {
        const bool input = plan->index[k] >= parameters;
        good = mechd_engine_fmu_start(e, input ? MECH_INPUT : MECH_PARAMETER,
                                      plan->index[k] - (input ? parameters : 0), &p->values[k],
                                      plan->names[k], &diag);
    }
    if (!good) {
        (void)mechd_point_fail(p, MECHP_INVALID_REQUEST,
                               diag.count > 0 ? diag.entries[0].text : "a value is refused");
    }
    mech_diag_fini(&diag);
    return good;
}

static bool build(struct mechd_point *p)
{
    struct mechd_stepped *const m = mechd_stepped_make(p, MECHP_INVALID_REQUEST);
    int outcome = m != NULL ? mechd_engine_fmu_like(p->sweep->plan.of, &m->engine) : MECH_NO_MEMORY;
    if (outcome != 0) {
        return mechd_point_fail(p, mechp_code_of_outcome(outcome), mech_err_text(outcome));
    }
    if (!mechd_stepped_ready(p) || !give_values(p, &m->engine)) {
        return false;
    }
    outcome = mechd_engine_fmu_begin(&m->engine);
    return outcome == 0 || mechd_point_fail(p, mechd_stepped_code(m, outcome),
                                            outcome > 0 ? mechd_engine_refusal(&m->engine)
                                                        : mech_err_text(outcome));
}

static void drop(void *of)
{
    struct mechd_engine *const e = of;
    if (e != NULL) {
        mechd_engine_destroy(e);
        free(e);
    }
}

const struct mechd_point_ops mechd_points_of_fmu = {.build = build,
                                                    .advance = mechd_stepped_advance,
                                                    .record = mechd_stepped_record,
                                                    .destroy = mechd_stepped_destroy,
                                                    .drop = drop};
