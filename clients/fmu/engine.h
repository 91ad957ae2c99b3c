/* What simulates a component: the solver in this binary (solver.c), or an instance of a server that
 * is reached by its lane (proxy.c). component.c, variables.c and saved.c call these functions; one
 * of both is linked. A function that refuses has written a message, and nothing has changed.
 *
 * owner: that of the component.
 */
#pragma once

#include "clients/fmu/component.h"

/* --- life ------------------------------------------------------------------------------------- */

/* What the resources describe: m->engine, layout, inputs, packed, parameters, measured, channels
 * [inputs] and, where it has settings, those with their defaults. `token`: that of the FMU. 0;
 * MECH_INVALID: refused; negative: without a message. mechfmu_engine_close in any case. */
int mechfmu_engine_open(struct mechfmu *m, const char *resources, char token[MECHP_FMI_TOKEN]);
void mechfmu_engine_close(struct mechfmu *m);
/* The parameters [m->parameters] of the model as it is in the resources. */
void mechfmu_engine_parameters(const struct mechfmu *m, double *values);

/* A setting has another value. 0, or refused. */
int mechfmu_engine_settle(struct mechfmu *m);
/* The initialization begins. 0, or refused. */
int mechfmu_engine_enter(struct mechfmu *m);
/* As it was opened, with the model's parameters. 0, or refused. */
int mechfmu_engine_reset(struct mechfmu *m);
/* The state at that time, s, to which inputs are set next. 0, or refused. */
int mechfmu_engine_start(struct mechfmu *m, double time);

/* --- values ----------------------------------------------------------------------------------- */

double mechfmu_engine_time(const struct mechfmu *m);    /* s */
uint64_t mechfmu_engine_steps(const struct mechfmu *m); /* internal ones since the start */

/* Present values: of a variable [v->size], of a channel of inputs [its size]. 0, or refused. */
int mechfmu_engine_get(struct mechfmu *m, const struct mechp_fmi_variable *v, double *values);
int mechfmu_engine_input(struct mechfmu *m, size_t channel, double *values);

/* The first `count` channels in m->touched get what m->value and m->rate have for them; with
 * `parameters`, parameters that differ from those in m->before are set first. All or none. A
 * refusal is a message of that status. 0, or refused. */
int mechfmu_engine_set(struct mechfmu *m, size_t count, bool parameters,
                       enum mechp_fmi3_status refused);
/* The initial state of m->parameter at the present time, with all inputs that are set. 0, or
 * refused. */
int mechfmu_engine_rebuild(struct mechfmu *m);

/* --- steps and derivatives -------------------------------------------------------------------- */

/* Of the model's internal steps, s. */
double mechfmu_engine_step_size(const struct mechfmu *m);
/* `size` > 0, s; *early: ended before. Sets m->events. OK; DISCARD; ERROR. */
enum mechp_fmi3_status mechfmu_engine_step(struct mechfmu *m, double size, bool *early);
/* Time derivatives of all outputs, packed. 0; else there are none, by a message of that status. */
int mechfmu_engine_rates(struct mechfmu *m, double *packed, enum mechp_fmi3_status undefined);
/* Derivatives of outputs [m->measured] along inputs [m->packed]; adjoint: of inputs, from seeds of
 * outputs. `seeded` are the channels, of inputs or outputs, that may be other than 0: [n]. */
struct mechfmu_direction {
    double *inputs, *outputs;
    const int32_t *seeded;
    size_t n;
    bool adjoint;
};
int mechfmu_engine_derive(struct mechfmu *m, const struct mechfmu_direction *d,
                          enum mechp_fmi3_status undefined);

/* --- states ----------------------------------------------------------------------------------- */

/* Bytes of the present state in memory. 0, or refused. */
int mechfmu_engine_state_size(struct mechfmu *m, size_t *size);
/* Directly after it: they are written, into room of that size. */
void mechfmu_engine_state_write(struct mechfmu *m, void *memory);
/* Become the state of these. 0, or refused. */
int mechfmu_engine_state_read(struct mechfmu *m, const void *memory, size_t size);

/* The same state as bytes for another process: the most that they take, and in out; *length: how
 * many they are. 0, or refused. */
size_t mechfmu_engine_bytes_most(const struct mechfmu *m, size_t size);
int mechfmu_engine_bytes_write(struct mechfmu *m, const void *memory, size_t size, void *out,
                               size_t *length);
/* From bytes, which a hash has found undamaged, to memory (malloc'd) of *size. 0, MECHFMU_INEXACT:
 * the last bits may differ; or refused. */
int mechfmu_engine_bytes_read(struct mechfmu *m, const void *bytes, size_t length, void **memory,
                              size_t *size);
enum { MECHFMU_INEXACT = 1000 };

/* --- for engines ------------------------------------------------------------------------------ */

/* A derivative of a channel of inputs is not 0. */
bool mechfmu_moves(const struct mechfmu *m, size_t channel);
/* All inputs that are set are touched, from the present time on; their number. */
size_t mechfmu_touch_all(struct mechfmu *m);
