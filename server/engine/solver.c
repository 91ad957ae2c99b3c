/* The solver as an engine: the operations are those of mech.h. */
#include "server/engine/engine.h"

#include "solver/sim/analysis.h"

static const char *title(const void *self)
{
    const char *name = mech_sim_document(self)->name;
    return name != NULL ? name : "";
}

static int32_t size(const void *self)
{
    const struct mech_sizes n = mech_sim_sizes(self);
    return n.v + n.x;
}

static void destroy(void *self)
{
    mech_sim_destroy(self);
}

static int reset(void *self)
{
    return mech_sim_reset(self);
}

static const char *refusal(const void *self)
{
    return mech_sim_refusal(self);
}

static double step_size(const void *self)
{
    return mech_sim_step_size(self);
}

static double start_time(const void *self)
{
    return mech_sim_start_time(self);
}

static size_t variable_count(const void *self, enum mech_causality causality)
{
    return mech_sim_variable_count(self, causality);
}

static void variable(const void *self, enum mech_causality causality, size_t index,
                     struct mech_variable *out)
{
    mech_sim_variable(self, causality, index, out);
}

static int32_t variable_find(const void *self, enum mech_causality causality, const char *name)
{
    return mech_sim_variable_find(self, causality, name);
}

static double time_of(const void *self)
{
    return mech_sim_time(self);
}

static uint64_t step_count(const void *self)
{
    return mech_sim_step_count(self);
}

static size_t output_size(const void *self)
{
    return mech_sim_output_size(self);
}

static size_t input_size(const void *self)
{
    return mech_sim_input_size(self);
}

static void get_outputs(const void *self, double *values)
{
    mech_sim_get_outputs(self, values);
}

static void get_input(const void *self, int32_t index, double *values)
{
    mech_sim_get_input(self, index, values);
}

static int set_inputs(void *self, const struct mech_input_change *inputs, size_t count,
                      struct mech_diag *diag)
{
    return mech_sim_set_inputs(self, inputs, count, diag);
}

static int plan(const void *self, const struct mech_step_request *r, struct mech_step_plan *out)
{
    return mech_sim_plan(self, r, out);
}

static int step_begin(void *self, const struct mech_step_request *r,
                      struct mech_step_report *report)
{
    return mech_sim_step_begin(self, r, report);
}

static int step_advance(void *self, uint64_t most, bool *done)
{
    return mech_sim_step_advance(self, most, done);
}

/* It ends at its next question, urgent or not. */
static void set_interrupt(void *self, bool (*wanted)(void *context), bool (*urgent)(void *context),
                          void *context)
{
    (void)urgent;
    mech_sim_set_interrupt(self, wanted, context);
}

static void step_finish(void *self)
{
    mech_sim_step_finish(self);
}

static void step_abandon(void *self)
{
    mech_sim_step_abandon(self);
}

static bool readable(const void *self)
{
    return mech_sim_readable(self);
}

static bool has_trial(const void *self)
{
    return mech_sim_has_trial(self);
}

static int commit(void *self)
{
    return mech_sim_commit(self);
}

static double trial_time(const void *self)
{
    return mech_sim_trial_time(self);
}

static void trial_outputs(const void *self, double *values)
{
    mech_sim_trial_outputs(self, values);
}

static size_t snapshot_size(const void *self)
{
    return mech_sim_snapshot_size(self);
}

static size_t snapshot_write(const void *self, void *bytes)
{
    return mech_sim_snapshot_write(self, bytes);
}

static int snapshot_read(void *self, const void *bytes, size_t size, bool *reproducible)
{
    return mech_sim_snapshot_read(self, bytes, size, reproducible);
}

static size_t trial_write(const void *self, void *bytes)
{
    return mech_sim_trial_write(self, bytes);
}

static double get_parameter(const void *self, int32_t index)
{
    return mech_sim_get_parameter(self, index);
}

static int set_parameters(void *self, size_t count, const int32_t *index, const double *values,
                          struct mech_diag *diag)
{
    return mech_sim_set_parameters(self, count, index, values, diag);
}

static size_t memory(const void *self)
{
    return mech_sim_memory(self);
}

static uint64_t hash(const void *self)
{
    return mech_sim_state_hash(self);
}

static bool input_is_set(const void *self, int32_t index)
{
    return mech_sim_input_is_set(self, index);
}

static bool input_is_parameter(const void *self, int32_t index)
{
    return mech_sim_input_is_parameter(self, index);
}

static double energy(const void *self, bool trial)
{
    return trial ? mech_sim_trial_energy(self) : mech_sim_energy(self);
}

static int output_rates(void *self, bool trial, double *rates, char reason[160])
{
    return mech_sim_output_rates(self, trial, rates, reason);
}

static size_t derive_rows(const void *self, const struct mech_jacobian_query *query)
{
    return mech_sim_jacobian_rows(self, query);
}

static int derive_begin(void *self, const struct mech_jacobian_query *query, double *out,
                        struct mech_derived *derived, void **work)
{
    struct mech_derivation *d = NULL;
    const int outcome = mech_sim_jacobian_begin(self, query, out, derived, &d);
    *work = d;
    return outcome;
}

static int derive_advance(void *work, bool *done)
{
    return mech_sim_derivation_advance(work, 1, done);
}

static void derive_end(void *work)
{
    mech_sim_derivation_end(work);
}

static const struct mechd_engine_derive derive = {
    .rows = derive_rows, .begin = derive_begin, .advance = derive_advance, .end = derive_end};

extern const struct mechd_engine_ops mechd_engine_solver;

const struct mechd_engine_ops mechd_engine_solver = {
    .name = "solver",
    .doc = "a model document, stepped by the solver of this program",
    .title = title,
    .size = size,
    .destroy = destroy,
    .reset = reset,
    .refusal = refusal,
    .step_size = step_size,
    .start_time = start_time,
    .variable_count = variable_count,
    .variable = variable,
    .variable_find = variable_find,
    .time = time_of,
    .step_count = step_count,
    .output_size = output_size,
    .input_size = input_size,
    .get_outputs = get_outputs,
    .get_input = get_input,
    .set_inputs = set_inputs,
    .get_parameter = get_parameter,
    .set_parameters = set_parameters,
    .plan = plan,
    .step_begin = step_begin,
    .step_advance = step_advance,
    .set_interrupt = set_interrupt,
    .step_finish = step_finish,
    .step_abandon = step_abandon,
    .readable = readable,
    .has_trial = has_trial,
    .commit = commit,
    .trial_time = trial_time,
    .trial_outputs = trial_outputs,
    .snapshot_size = snapshot_size,
    .snapshot_write = snapshot_write,
    .snapshot_read = snapshot_read,
    .trial_write = trial_write,
    .memory = memory,
    .hash = hash,
    .input_is_set = input_is_set,
    .input_is_parameter = input_is_parameter,
    .energy = energy,
    .output_rates = output_rates,
    .derive = &derive,
};

struct mechd_engine mechd_engine_of_sim(struct mech_sim *sim)
{
    return (struct mechd_engine){&mechd_engine_solver, sim};
}

struct mech_sim *mechd_engine_sim(const struct mechd_engine *e)
{
    return e->ops == &mechd_engine_solver ? e->self : NULL;
}
