/* The jacobian of a step, from the request to the reply. */
#include "server/operations/step_jacobian.h"

#include <stdio.h>
#include <stdlib.h>

enum { ACTIVE_MOST = 256 };

bool mechd_step_jacobian_rows(struct mechd_call *c, const json_t *names,
                              struct mechd_step_jacobian *out)
{
    const struct mechd_engine *const engine = &c->job.instance->engine;
    const size_t n = json_array_size(names);

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

/* The rows' labels: all outputs, or those chosen. */
static void write_rows(struct mechd_call *c, const struct mechd_step_jacobian *j)
{
    const struct mechd_labels all = {c->job.instance, MECH_OUTPUT_VARIABLE, true};
    mechp_text_literal(&c->text, "outputs");
    if (j->outputs == NULL) {
        mechd_write_labels(&all, &c->text);
        return;
    }
    mechp_text_array(&c->text);
    for (size_t k = 0; k < j->output_count; k++) {
        struct mech_variable v;
        mechd_engine_variable(&c->job.instance->engine, MECH_OUTPUT_VARIABLE, (size_t)j->outputs[k],
                              &v);
        mechd_write_label(&v, &c->text);
    }
    mechp_text_end(&c->text);
}

static void write_active(const struct mech_active_set *set, struct mechp_text *w)
{
    mechp_text_literal(w, "activeSet");
    mechp_text_array(w);
    for (size_t k = 0; k < set->count; k++) {
        const struct mech_active *const one = &set->at[k];
        mechp_text_object(w);
        mechp_text_literal(w, "of");
        mechp_text_string(w, mech_logged_ofs[one->of]);
        mechp_text_literal(w, "item");
        mechp_text_string(w, one->item);
        if (one->with != NULL) {
            mechp_text_literal(w, "with");
            mechp_text_string(w, one->with);
        } else {
            mechp_text_literal(w, "row");
            mechp_text_integer(w, one->row);
        }
        mechp_text_end(w);
    }
    mechp_text_end(w);
    mechp_text_literal(w, "activeSetConstant");
    mechp_text_bool(w, set->constant);
    if (set->total > set->count) {
        mechp_text_literal(w, "moreActive");
        mechp_text_unsigned(w, set->total - set->count);
    }
}

void mechd_write_step_jacobian(struct mechd_call *c, const struct mechd_step_jacobian *j,
                               const struct mech_derived *told)
{
    const int32_t inputs = j->rows > 0 ? (int32_t)(j->size / j->rows) : 0;
    const struct mechd_labels columns = {c->job.instance, MECH_INPUT, true};
    const struct mechd_matrix matrix = {j->values, (int32_t)j->rows, inputs};

    mechp_text_literal(&c->text, "jacobian");
    mechp_text_object(&c->text);
    mechp_text_literal(&c->text, "inputs");
    mechd_write_labels(&columns, &c->text);
    write_rows(c, j);
    mechp_text_literal(&c->text, "matrix");
    mechd_write_matrix(&matrix, &c->text);
    mechp_text_literal(&c->text, "differenced");
    mechp_text_bool(&c->text, told->differenced);
    mechp_text_literal(&c->text, "kinked");
    mechp_text_bool(&c->text, told->kinked);
    write_active(&j->active, &c->text);
    mechp_text_end(&c->text);
}

void mechd_step_jacobian_fini(struct mechd_step_jacobian *j)
{
    free(j->outputs);
    free(j->values);
    free(j->active.at);
}
