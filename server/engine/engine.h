/* Engines: implementations of instances that can be stepped. The solver is one.
 *
 * An instance is stepped, published and snapshotted, and exchanges values, only through these
 * operations. Data that only a model of the solver has (its state, its equations, its document) is
 * read from the simulation itself: mechd_engine_sim. owner: as mech.h says of a simulation, one
 * thread at a time. Requests, reports and returns are those of mech.h, under the same names.
 */
#pragma once

#include "solver/base/times.h"
#include "solver/sim/analysis.h"
#include "solver/sim/mech.h"

/* ∂outputs/∂inputs at the end of a step to come, in slices as in analysis.h: rows of the query's
 * outputs by columns of all inputs. */
struct mechd_engine_derive {
    size_t (*rows)(const void *self, const struct mech_jacobian_query *query);
    /* `out` and `derived` are written until it is done. 0, and *work; MECH_NO_MEMORY; an outcome
     * with derived->reason */
    int (*begin)(void *self, const struct mech_jacobian_query *query, double *out,
                 struct mech_derived *derived, void **work);
    /* a turn. 0, or an outcome with a reason */
    int (*advance)(void *work, bool *done);
    /* at any time; NULL: nothing */
    void (*end)(void *work);
};

struct mechd_engine_ops {
    const char *name;
    const char *doc;
    bool apart; /* another process computes its steps: they wait, and never run on a thread that
                   carries requests */
    void (*destroy)(void *self);
    int (*reset)(void *self);
    /* the reason for the last NOT_FINITE or ENGINE_FAILED outside steps, ""; NULL: there is none */
    const char *(*refusal)(const void *self);

    /* properties: name of the model, size for estimating costs, step size h and start time of the
     * model (NULL: it has none), variables */
    const char *(*title)(const void *self);
    int32_t (*size)(const void *self);
    double (*step_size)(const void *self);
    double (*start_time)(const void *self);
    size_t (*variable_count)(const void *self, enum mech_causality causality);
    void (*variable)(const void *self, enum mech_causality causality, size_t index,
                     struct mech_variable *out);
    int32_t (*variable_find)(const void *self, enum mech_causality causality, const char *name);

    /* current time and step, and the exchange of values */
    double (*time)(const void *self);
    uint64_t (*step_count)(const void *self);
    size_t (*output_size)(const void *self); /* values of all outputs, and of all inputs */
    size_t (*input_size)(const void *self);
    void (*get_outputs)(const void *self, double *values);
    void (*get_input)(const void *self, int32_t index, double *values);
    int (*set_inputs)(void *self, const struct mech_input_change *inputs, size_t count,
                      struct mech_diag *diag);
    double (*get_parameter)(const void *self, int32_t index);
    int (*set_parameters)(void *self, size_t count, const int32_t *index, const double *values,
                          struct mech_diag *diag);

    /* a command in slices, and trials. The internal steps that it would take; NULL: of step_size,
     * whatever the step before */
    int (*plan)(const void *self, const struct mech_step_request *r, struct mech_step_plan *out);
    int (*step_begin)(void *self, const struct mech_step_request *r,
                      struct mech_step_report *report);
    int (*step_advance)(void *self, uint64_t most, bool *done);
    /* What a step asks while it takes long: whether to end, and, where it needs time to put the
     * state back, whether that is not needed and it has to end at once; both or neither may be
     * NULL. NULL: none of its steps takes long */
    void (*set_interrupt)(void *self, bool (*wanted)(void *context), bool (*urgent)(void *context),
                          void *context);
    void (*step_finish)(void *self);
    /* the state is as before the command; of an FMU that cannot restore it the report gets a
     * reason, and steps are refused until a reset */
    void (*step_abandon)(void *self);
    bool (*readable)(const void *self);
    bool (*has_trial)(const void *self);
    int (*commit)(void *self);
    double (*trial_time)(const void *self);
    void (*trial_outputs)(const void *self, double *values);

    /* everything that the next step reads, as bytes; keeps_state NULL: always. If it does not keep
     * it, the others are not called, and there are no trials */
    bool (*keeps_state)(const void *self);
    size_t (*snapshot_size)(const void *self);
    size_t (*snapshot_write)(const void *self, void *bytes);
    int (*snapshot_read)(void *self, const void *bytes, size_t size, bool *reproducible);
    /* the same of the end of the trial, which is there */
    size_t (*trial_write)(const void *self, void *bytes);

    /* what not every engine knows, as in mech.h and analysis.h; NULL: not this one. Bytes held by
     * this process; a hash of all that the next step reads; whether an input is set, and whether it
     * is a parameter; energy, and the derivatives of the outputs by time, of the present state or
     * of the end of the trial */
    size_t (*memory)(const void *self);
    uint64_t (*hash)(const void *self);
    bool (*input_is_set)(const void *self, int32_t index);
    bool (*input_is_parameter)(const void *self, int32_t index);
    double (*energy)(const void *self, bool trial);
    int (*output_rates)(void *self, bool trial, double *rates, char reason[160]);
    /* reasons, each NULL if there is none: why the events of its steps are not known, or, `early`,
     * why its steps cannot end early; why its outputs never have derivatives by time. A member that
     * is NULL: there is none */
    const char *(*blind)(const void *self, bool early);
    const char *(*unrated)(const void *self);
    const struct mechd_engine_derive *derive; /* NULL: no model to take derivatives of */
};

struct mechd_engine {
    const struct mechd_engine_ops *ops;
    void *self;
};

/* The i-th engine of engines.def, or NULL past the end. */
const struct mechd_engine_ops *mechd_engine_at(size_t i);

/* A simulation as an engine, which then owns it; and the simulation of an engine, or NULL if it is
 * another kind. */
struct mechd_engine mechd_engine_of_sim(struct mech_sim *sim);
struct mech_sim *mechd_engine_sim(const struct mechd_engine *e);

/* A fault at `path`: it has no such input, output or parameter (NULL: the name is not a string);
 * with the one that was probably meant. */
void mechd_engine_lacks(const struct mechd_engine *e, enum mech_causality causality,
                        const char *name, const char *path, struct mech_diag *diag);

/* --- calls ------------------------------------------------------------------------------------ */

static inline double mechd_engine_time(const struct mechd_engine *e)
{
    return e->ops->time(e->self);
}

static inline uint64_t mechd_engine_step_count(const struct mechd_engine *e)
{
    return e->ops->step_count(e->self);
}

static inline double mechd_engine_step_size(const struct mechd_engine *e)
{
    return e->ops->step_size(e->self);
}

/* s; 0 of what says none */
static inline double mechd_engine_start_time(const struct mechd_engine *e)
{
    return e->ops->start_time != NULL ? e->ops->start_time(e->self) : 0.;
}

/* The h by which times near t are compared (base/times.h), h being the length of what the caller
 * looks at: its times are sums of all steps since the start, which may be before 0. s */
static inline double mechd_engine_scale(const struct mechd_engine *e, double t, double h)
{
    return mech_time_scale(t, mechd_engine_start_time(e), h);
}

static inline size_t mechd_engine_variable_count(const struct mechd_engine *e,
                                                 enum mech_causality causality)
{
    return e->ops->variable_count(e->self, causality);
}

static inline void mechd_engine_variable(const struct mechd_engine *e,
                                         enum mech_causality causality, size_t index,
                                         struct mech_variable *out)
{
    e->ops->variable(e->self, causality, index, out);
}

static inline int32_t mechd_engine_variable_find(const struct mechd_engine *e,
                                                 enum mech_causality causality, const char *name)
{
    return e->ops->variable_find(e->self, causality, name);
}

static inline void mechd_engine_get_outputs(const struct mechd_engine *e, double *values)
{
    e->ops->get_outputs(e->self, values);
}

static inline int mechd_engine_set_inputs(const struct mechd_engine *e,
                                          const struct mech_input_change *inputs, size_t count,
                                          struct mech_diag *diag)
{
    return e->ops->set_inputs(e->self, inputs, count, diag);
}

static inline bool mechd_engine_keeps_state(const struct mechd_engine *e)
{
    return e->ops->keeps_state == NULL || e->ops->keeps_state(e->self);
}

static inline const char *mechd_engine_refusal(const struct mechd_engine *e)
{
    return e->ops->refusal != NULL ? e->ops->refusal(e->self) : "";
}

static inline size_t mechd_engine_snapshot_size(const struct mechd_engine *e)
{
    return e->ops->snapshot_size(e->self);
}

static inline size_t mechd_engine_snapshot_write(const struct mechd_engine *e, void *bytes)
{
    return e->ops->snapshot_write(e->self, bytes);
}

static inline int mechd_engine_snapshot_read(const struct mechd_engine *e, const void *bytes,
                                             size_t size, bool *reproducible)
{
    return e->ops->snapshot_read(e->self, bytes, size, reproducible);
}

static inline size_t mechd_engine_trial_write(const struct mechd_engine *e, void *bytes)
{
    return e->ops->trial_write(e->self, bytes);
}

static inline int mechd_engine_plan(const struct mechd_engine *e, const struct mech_step_request *r,
                                    struct mech_step_plan *out)
{
    const struct mech_moment now = {mechd_engine_time(e), 0.};
    return e->ops->plan != NULL ? e->ops->plan(e->self, r, out)
                                : mech_step_plan(r, mechd_engine_start_time(e), now,
                                                 mechd_engine_step_size(e), 0., out);
}

static inline int mechd_engine_step_begin(const struct mechd_engine *e,
                                          const struct mech_step_request *r,
                                          struct mech_step_report *report)
{
    return e->ops->step_begin(e->self, r, report);
}

static inline int mechd_engine_step_advance(const struct mechd_engine *e, uint64_t most, bool *done)
{
    return e->ops->step_advance(e->self, most, done);
}

static inline void mechd_engine_set_interrupt(const struct mechd_engine *e,
                                              bool (*wanted)(void *context),
                                              bool (*urgent)(void *context), void *context)
{
    if (e->ops->set_interrupt != NULL) {
        e->ops->set_interrupt(e->self, wanted, urgent, context);
    }
}

static inline void mechd_engine_destroy(const struct mechd_engine *e)
{
    e->ops->destroy(e->self);
}

static inline int mechd_engine_reset(const struct mechd_engine *e)
{
    return e->ops->reset(e->self);
}

static inline size_t mechd_engine_output_size(const struct mechd_engine *e)
{
    return e->ops->output_size(e->self);
}

static inline size_t mechd_engine_input_size(const struct mechd_engine *e)
{
    return e->ops->input_size(e->self);
}

static inline void mechd_engine_get_input(const struct mechd_engine *e, int32_t index,
                                          double *values)
{
    e->ops->get_input(e->self, index, values);
}

/* 0 where it is not known. */
static inline size_t mechd_engine_memory(const struct mechd_engine *e)
{
    return e->ops->memory != NULL ? e->ops->memory(e->self) : 0;
}

/* False where the values that act are always those of mechd_engine_get_input. */
static inline bool mechd_engine_input_is_own(const struct mechd_engine *e, int32_t index)
{
    return e->ops->input_is_set != NULL && !e->ops->input_is_set(e->self, index);
}

static inline bool mechd_engine_input_is_parameter(const struct mechd_engine *e, int32_t index)
{
    return e->ops->input_is_parameter != NULL && e->ops->input_is_parameter(e->self, index);
}

/* Whether it has hash, energy, output_rates. */
static inline bool mechd_engine_hashes(const struct mechd_engine *e)
{
    return e->ops->hash != NULL;
}

static inline uint64_t mechd_engine_hash(const struct mechd_engine *e)
{
    return e->ops->hash(e->self);
}

static inline bool mechd_engine_knows_energy(const struct mechd_engine *e)
{
    return e->ops->energy != NULL;
}

static inline double mechd_engine_energy(const struct mechd_engine *e, bool trial)
{
    return e->ops->energy(e->self, trial);
}

static inline bool mechd_engine_knows_rates(const struct mechd_engine *e)
{
    return e->ops->output_rates != NULL;
}

static inline int mechd_engine_output_rates(const struct mechd_engine *e, bool trial, double *rates,
                                            char reason[160])
{
    return e->ops->output_rates(e->self, trial, rates, reason);
}

static inline const char *mechd_engine_blind(const struct mechd_engine *e, bool early)
{
    return e->ops->blind != NULL ? e->ops->blind(e->self, early) : NULL;
}

static inline const char *mechd_engine_unrated(const struct mechd_engine *e)
{
    return e->ops->unrated != NULL ? e->ops->unrated(e->self) : NULL;
}

static inline void mechd_engine_step_finish(const struct mechd_engine *e)
{
    e->ops->step_finish(e->self);
}

static inline void mechd_engine_step_abandon(const struct mechd_engine *e)
{
    e->ops->step_abandon(e->self);
}

static inline bool mechd_engine_readable(const struct mechd_engine *e)
{
    return e->ops->readable(e->self);
}

static inline bool mechd_engine_has_trial(const struct mechd_engine *e)
{
    return e->ops->has_trial(e->self);
}

static inline int mechd_engine_commit(const struct mechd_engine *e)
{
    return e->ops->commit(e->self);
}

static inline double mechd_engine_trial_time(const struct mechd_engine *e)
{
    return e->ops->trial_time(e->self);
}

static inline void mechd_engine_trial_outputs(const struct mechd_engine *e, double *values)
{
    e->ops->trial_outputs(e->self, values);
}

static inline double mechd_engine_get_parameter(const struct mechd_engine *e, int32_t index)
{
    return e->ops->get_parameter(e->self, index);
}

static inline int mechd_engine_set_parameters(const struct mechd_engine *e, size_t count,
                                              const int32_t *index, const double *values,
                                              struct mech_diag *diag)
{
    return e->ops->set_parameters(e->self, count, index, values, diag);
}
