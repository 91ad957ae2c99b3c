/* An FMU as an engine (engine.h): an instance whose steps a process of its own computes.
 *
 *     struct mechd_engine e;
 *     MECH_TRY(mechd_engine_of_fmu(package, &settings, &e));
 *     … mechd_engine_fmu_start(&e, MECH_PARAMETER, index, values, "/start/gain", &diag) …
 *     if (mechd_engine_fmu_begin(&e) != 0) { … mechd_engine_refusal(&e) … }
 *
 * A command of H is steps of at most h (mechd_engine_step_size): that of the default experiment,
 * the internal step that the description fixes, a thousandth of the experiment, or 0.01 s. An FMU
 * whose step cannot vary takes whole numbers of h only. Inputs and tunable parameters that are set
 * act from the next step on. Inputs with derivatives, and those with signals, act within each step
 * of an FMU that follows them (fmu_follow.h); others hold the value of the first at its start, and
 * refuse the second. An FMU of 3.0 with event mode has its events within a step where they happen
 * (fmu_binary.h); a command that asks for an early return ends with the first of them (kinds of
 * events: solver/step/event_log.h, those of a whole model). Outputs have derivatives by time once
 * it has made a step. When the FMU asks to end the simulation, the command that ends there is
 * done, and the next is refused.
 *
 * An FMU that saves its state is saved at the end of each command: a command that fails, is stopped
 * or is a trial is undone by restoring it, and a process that was ended because a command was
 * stopped is made anew. One that does not is never put back: trials and snapshots of it are refused
 * (mechd_engine_keeps_state), and a step that fails within a command ends its process. A process
 * that crashes, exits or does not answer in time has ended for good. Then steps are refused with
 * its reason, the last values stay readable, and reset or a snapshot starts another process.
 *
 * Moments of a step (mech_step_request) are 0: velocities conjugate to inputs are not known.
 * owner: as engine.h says. */
#pragma once

#include "server/engine/engine.h"
#include "server/engine/fmu_package.h"
#include "server/engine/fmu_process.h"

#include <stdatomic.h>

/* How many engines may have begun: the process of each has a descriptor in the daemon. shared;
 * outlives them. */
struct mechd_fmu_places {
    int most;
    _Atomic int taken; /* partner: all threads that begin and destroy engines */
};

struct mechd_fmu_settings {
    const char *program;             /* path of mechd-fmu; outlives the engine */
    uint32_t memory;                 /* MiB of address space; 0: no limit */
    uint64_t call_ms;                /* the most that an answer may take; 0: no limit */
    struct mechd_fmu_places *places; /* NULL: no limit */
};

/* An engine that holds a reference to the package; it has no process yet. 0; MECH_NO_MEMORY;
 * MECH_UNSUPPORTED: its variables cannot be shown (diag). */
int mechd_engine_of_fmu(struct mechd_fmu_package *package,
                        const struct mechd_fmu_settings *settings, struct mechd_engine *out,
                        struct mech_diag *diag);

/* Before it begins: start values [size] of an input or a parameter. False: a fault at `path`. */
bool mechd_engine_fmu_start(const struct mechd_engine *e, enum mech_causality causality,
                            int32_t index, const double *values, const char *path,
                            struct mech_diag *diag);
/* The first of them. */
double mechd_engine_fmu_started(const struct mechd_engine *e, enum mech_causality causality,
                                int32_t index);
/* Another engine of the same package that begins with the same start values; `e` may have begun.
 * Any thread, while `e` does not change. 0; MECH_NO_MEMORY: *out is empty. */
int mechd_engine_fmu_like(const struct mechd_engine *e, struct mechd_engine *out);
/* Starts the process and initializes the FMU. It has a place from then on until it is destroyed,
 * whether it has a process or not. 0; MECH_NO_MEMORY; MECH_ENGINE_FAILED, with its reason in
 * mechd_engine_refusal. */
int mechd_engine_fmu_begin(const struct mechd_engine *e);

/* It could not begin, because others have all places. */
bool mechd_engine_fmu_is_full(const struct mechd_engine *e);

/* Why an input, or samples of it, cannot go over a step (fmu_follow.h); NULL: they can. */
const char *mechd_engine_fmu_unfollowed(const struct mechd_engine *e, int32_t index, bool sampled);

/* Whether an output is read within its steps (mech_trace): it has intermediate update (3.0). */
bool mechd_engine_fmu_traces(const struct mechd_engine *e, int32_t index);

/* Whether the FMU has directional (adjoint) derivatives, and an input or output of it is one of
 * them. */
bool mechd_engine_fmu_derives(const struct mechd_engine *e, bool adjoint);
bool mechd_engine_fmu_has_slopes(const struct mechd_engine *e, enum mech_causality causality,
                                 int32_t index);
/* Whether a variable is a difference, for which the offset of its unit is ignored. */
bool mechd_engine_fmu_relative(const struct mechd_engine *e, enum mech_causality causality,
                               int32_t index);
/* ∂outputs/∂inputs · direction by the FMU's own directional derivatives, at the committed point
 * with its state held and the inputs that are set: direction [inputs], 0 of inputs without slopes,
 * and outputs [outputs]. 0; MECH_NO_MEMORY; with their reasons in mechd_engine_refusal:
 * MECH_INVALID: there is a trial, with which it would end, or an FMU that cannot save its state has
 * inputs or parameters that only its next step passes to it; MECH_ENGINE_FAILED, MECH_CANCELLED. */
int mechd_engine_fmu_derive(const struct mechd_engine *e, const double *direction, double *outputs);
/* The adjoint, seed · ∂outputs/∂inputs: seed [outputs], and inputs [inputs]; the same outcomes. */
int mechd_engine_fmu_adjoin(const struct mechd_engine *e, const double *seed, double *inputs);

/* The name under which messages of the FMU are logged: that of its instance. */
void mechd_engine_fmu_call(const struct mechd_engine *e, const char *name);

/* The package of an engine, or NULL: it is another kind. */
struct mechd_fmu_package *mechd_engine_package(const struct mechd_engine *e);
