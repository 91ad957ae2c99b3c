#include "server/coupling/away.h"

#include "server/call/outside.h"
#include "solver/base/err.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* --- memory ----------------------------------------------------------------------------------- */

static void destroy(void *self)
{
    struct mechd_away *const a = self;
    mechd_outside_unref(a->outside);
    mech_arena_fini(&a->arena);
    free(a->inputs);
    free(a->outputs);
    free(a->tried);
    free(a);
}

/* The map of names that live as long as it. False: no memory. */
static bool map(struct mech_arena *arena, char *const *names, size_t count, struct mech_names *out)
{
    bool room = mech_names_init(out, arena, count) == 0;
    for (size_t k = 0; room && k < count; k++) {
        room = mech_names_add(out, names[k], (int32_t)k) == 0;
    }
    return room;
}

struct mechd_away *mechd_away_create(const char *name, const struct mechd_outside_terms *terms)
{
    struct mechd_away *const a = calloc(1, sizeof *a);
    if (a == NULL) {
        return NULL;
    }
    mech_arena_init(&a->arena, 0);
    a->outside = mechd_outside_create(name, terms);
    const bool named = a->outside != NULL &&
                       map(&a->arena, a->outside->inputs, terms->input_count, &a->input_names) &&
                       map(&a->arena, a->outside->outputs, terms->output_count, &a->output_names);
    a->inputs = calloc(terms->input_count + 1, sizeof *a->inputs);
    a->outputs = calloc(terms->output_count + 1, sizeof *a->outputs);
    a->tried = calloc(terms->output_count + 1, sizeof *a->tried);
    if (!named || a->inputs == NULL || a->outputs == NULL || a->tried == NULL) {
        destroy(a);
        return NULL;
    }
    return a;
}

void mechd_away_destroy(struct mechd_away *a)
{
    destroy(a);
}

/* --- the engine ------------------------------------------------------------------------------- */

static int cannot(void *self)
{
    (void)self;
    return MECH_UNSUPPORTED;
}

static const char *title(const void *self)
{
    return ((const struct mechd_away *)self)->outside->name;
}

static int32_t size(const void *self)
{
    (void)self;
    return 1;
}

static double step_size(const void *self)
{
    (void)self;
    return 1.;
}

static double time_of(const void *self)
{
    return ((const struct mechd_away *)self)->time;
}

static uint64_t step_count(const void *self)
{
    return ((const struct mechd_away *)self)->windows;
}

static size_t variable_count(const void *self, enum mech_causality causality)
{
    const struct mechd_outside *const o = ((const struct mechd_away *)self)->outside;
    return causality == MECH_INPUT             ? o->input_count
           : causality == MECH_OUTPUT_VARIABLE ? o->output_count
                                               : 0;
}

static void variable(const void *self, enum mech_causality causality, size_t index,
                     struct mech_variable *out)
{
    const struct mechd_outside *const o = ((const struct mechd_away *)self)->outside;
    const bool input = causality == MECH_INPUT;
    *out = (struct mech_variable){.name = input ? o->inputs[index] : o->outputs[index],
                                  .causality = causality,
                                  .reference = (int32_t)(1 + index + (input ? 0 : o->input_count)),
                                  .index = (int32_t)index,
                                  .size = 1,
                                  .scalar = true,
                                  .tunable = true,
                                  .unit = "",
                                  .offset = (int32_t)index};
}

static int32_t variable_find(const void *self, enum mech_causality causality, const char *name)
{
    const struct mechd_away *const a = self;
    return causality == MECH_INPUT             ? mech_names_find(&a->input_names, name)
           : causality == MECH_OUTPUT_VARIABLE ? mech_names_find(&a->output_names, name)
                                               : -1;
}

static size_t output_size(const void *self)
{
    return ((const struct mechd_away *)self)->outside->output_count;
}

static size_t input_size(const void *self)
{
    return ((const struct mechd_away *)self)->outside->input_count;
}

static void get_outputs(const void *self, double *values)
{
    const struct mechd_away *const a = self;
    memcpy(values, a->outputs, a->outside->output_count * sizeof *values);
}

static void get_input(const void *self, int32_t index, double *values)
{
    *values = ((const struct mechd_away *)self)->inputs[index];
}

static int set_inputs(void *self, const struct mech_input_change *inputs, size_t count,
                      struct mech_diag *diag)
{
    (void)diag;
    for (size_t k = 0; k < count; k++) {
        ((struct mechd_away *)self)->inputs[inputs[k].index] = inputs[k].values[0];
    }
    return 0;
}

static double get_parameter(const void *self, int32_t index)
{
    (void)self;
    (void)index;
    return (double)NAN;
}

static int set_parameters(void *self, size_t count, const int32_t *index, const double *values,
                          struct mech_diag *diag)
{
    (void)self;
    (void)index;
    (void)values;
    (void)diag;
    return count == 0 ? 0 : MECH_UNSUPPORTED;
}

static int step_begin(void *self, const struct mech_step_request *r,
                      struct mech_step_report *report)
{
    (void)r;
    (void)report;
    return cannot(self);
}

static int step_advance(void *self, uint64_t most, bool *done)
{
    (void)most;
    *done = true;
    return cannot(self);
}

static void nothing(void *self)
{
    (void)self;
}

static bool always(const void *self)
{
    (void)self;
    return true;
}

static bool never(const void *self)
{
    (void)self;
    return false;
}

static size_t snapshot_size(const void *self)
{
    (void)self;
    return sizeof(double);
}

static size_t snapshot_write(const void *self, void *bytes)
{
    const double time = time_of(self);
    memcpy(bytes, &time, sizeof time);
    return sizeof time;
}

static int snapshot_read(void *self, const void *bytes, size_t bytes_size, bool *reproducible)
{
    *reproducible = true;
    double time = 0.;
    if (bytes_size != sizeof time) {
        return MECH_MISMATCH;
    }
    // the program itself does not go back
    memcpy(&time, bytes, sizeof time);
    return time == time_of(self) ? 0 : MECH_UNSUPPORTED;
}

const struct mechd_engine_ops mechd_away_ops = {
    .name = "partner",
    .doc = "An external program that takes part in a coupling.",
    .destroy = destroy,
    .reset = cannot,
    .title = title,
    .size = size,
    .step_size = step_size,
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
    .step_begin = step_begin,
    .step_advance = step_advance,
    .step_finish = nothing,
    .step_abandon = nothing,
    .readable = always,
    .has_trial = never,
    .commit = cannot,
    .trial_time = time_of,
    .trial_outputs = get_outputs,
    .snapshot_size = snapshot_size,
    .snapshot_write = snapshot_write,
    .snapshot_read = snapshot_read,
};
