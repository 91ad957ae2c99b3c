/* The jacobian of a step, from the request to the reply. */
#include "server/operations/step_jacobian.h"

#include "protocol/wire/bodies_stepping.h"

#include <stdlib.h>

enum { ACTIVE_MOST = 256 };

bool mechd_step_jacobian_rows(struct mechd_call *c, const json_t *names,
                              struct mechd_step_jacobian *out)
{
    const struct mechd_engine *const engine = &c->job.instance->engine;
    const size_t n = json_array_size(names);

    out->instance = c->job.instance;
    out->active = (struct mech_active_set){.at = malloc(ACTIVE_MOST * sizeof *out->active.at),
                                           .room = ACTIVE_MOST};
    out->outputs = names != NULL ? malloc((n + 1) * sizeof *out->outputs) : NULL;
    if (out->active.at == NULL || (names != NULL && out->outputs == NULL)) {
        mechd_fail(c, MECHP_OUT_OF_MEMORY, "no memory for the jacobian");
        return false;
    }
    for (size_t k = 0; k < n; k++) {
        out->outputs[k] = mechd_engine_variable_find(engine, MECH_OUTPUT_VARIABLE,
                                                     json_string_value(json_array_get(names, k)));
    }
    out->output_count = n;
    return true;
}

/* The labels of the rows: all outputs, or those chosen. */
static void write_rows(const void *of, struct mechp_text *w)
{
    const struct mechd_step_jacobian *const j = of;
    const struct mechd_labels all = {j->instance, MECH_OUTPUT_VARIABLE, true};
    if (j->outputs == NULL) {
        mechd_write_labels(&all, w);
        return;
    }
    mechp_text_array(w);
    for (size_t k = 0; k < j->output_count; k++) {
        struct mech_variable v;
        mechd_engine_variable(&j->instance->engine, MECH_OUTPUT_VARIABLE, (size_t)j->outputs[k],
                              &v);
        mechd_write_label(&v, w);
    }
    mechp_text_end(w);
}

static void write_active(const void *of, struct mechp_text *w)
{
    const struct mech_active_set *const set = of;
    mechp_text_array(w);
    for (size_t k = 0; k < set->count; k++) {
        const struct mech_active *const one = &set->at[k];
        const struct mechp_body_active body = {.of = mech_logged_ofs[one->of],
                                               .item = one->item,
                                               .with = one->with,
                                               .row = one->with == NULL ? one->row : INT64_MIN};
        MECHP_WRITE(active, &body, w);
    }
    mechp_text_end(w);
}

void mechd_write_step_jacobian(const void *of, struct mechp_text *w)
{
    const struct mechd_step_jacobian *const j = of;
    const struct mech_active_set *const set = &j->active;
    const int32_t inputs = j->rows > 0 ? (int32_t)(j->size / j->rows) : 0;
    const struct mechd_labels columns = {j->instance, MECH_INPUT, true};
    const struct mechd_matrix matrix = {j->values, (int32_t)j->rows, inputs};
    const struct mechp_body_jacobian body = {
        .inputs = {mechd_write_labels, &columns},
        .outputs = {write_rows, j},
        .matrix = {mechd_write_matrix, &matrix},
        .differenced = j->derived.differenced,
        .kinked = j->derived.kinked,
        .active_set = {write_active, set},
        .active_set_constant = set->constant,
        .more_active = set->total > set->count ? set->total - set->count : MECHP_ABSENT};
    MECHP_WRITE(jacobian, &body, w);
}

void mechd_step_jacobian_fini(struct mechd_step_jacobian *j)
{
    free(j->outputs);
    free(j->values);
    free(j->active.at);
}
