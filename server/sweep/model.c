/* Points that are one model: built with the point's values in place of the document's, so that
 * initial values follow them too, and stepped as a private simulation. */
#include "server/sweep/stepped.h"

#include "protocol/bind/bind.h"
#include "server/call/service.h"
#include "server/sweep/sweep.h"
#include "solver/base/text.h"

/* True if the simulation has the outputs and the step that the rows are made for. */
static bool fits(const struct mechd_sweep_plan *p, const struct mech_sim *sim)
{
    bool good = p->every == 0 || p->counted || mech_sim_step_size(sim) == p->h;
    for (size_t k = 0; good && k < p->output_count; k++) {
        const struct mechd_sweep_output *o = &p->outputs[k];
        struct mech_variable v;
        good = o->index < (int32_t)mech_sim_variable_count(sim, MECH_OUTPUT_VARIABLE);
        if (good) {
            mech_sim_variable(sim, MECH_OUTPUT_VARIABLE, (size_t)o->index, &v);
            good = v.size == o->size;
        }
    }
    return good;
}

/* The model with the point's values. */
static int make_sim(struct mechd_point *p, struct mech_sim **sim)
{
    const struct mechd_sweep_plan *const plan = &p->sweep->plan;
    struct mech_document *document = NULL;
    struct mech_diag diag;
    mech_diag_init(&diag);
    int outcome = mechp_bind_read(plan->of, "", &diag, &document);
    for (size_t k = 0; outcome == 0 && k < plan->places; k++) {
        document->parameters.at[plan->index[k]].value = p->values[k];
    }
    if (outcome == 0) {
        outcome = mech_sim_create(document, &diag, sim);
    }
    if (outcome != 0) {
        mech_document_destroy(document);
    }
    const bool told = diag.count > 0;
    mech_text_format(p->reason, sizeof p->reason, "%.60s%s%.128s", told ? diag.entries[0].path : "",
                     told ? ": " : "", told ? diag.entries[0].text : mech_err_text(outcome));
    mech_diag_fini(&diag);
    return outcome;
}

static bool build(struct mechd_point *p)
{
    struct mechd_stepped *const m = mechd_stepped_make(p, MECHP_INVALID_MODEL);
    struct mech_sim *sim = NULL;
    if (m == NULL) {
        p->code = mechp_code_of_outcome(MECH_NO_MEMORY);
        return false;
    }
    const int outcome = make_sim(p, &sim);
    if (outcome != 0) {
        p->code = mechd_stepped_code(m, outcome);
        return false;
    }
    m->engine = mechd_engine_of_sim(sim);
    if (!fits(&p->sweep->plan, sim)) {
        return mechd_point_fail(
            p, MECHP_INVALID_MODEL,
            "with these values the outputs or the recorded step differ from those of the sweep");
    }
    return mechd_stepped_ready(p);
}

static void drop(void *of)
{
    json_decref(of);
}

const struct mechd_point_ops mechd_points_of_model = {.build = build,
                                                      .advance = mechd_stepped_advance,
                                                      .record = mechd_stepped_record,
                                                      .destroy = mechd_stepped_destroy,
                                                      .drop = drop};
