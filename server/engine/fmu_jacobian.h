/* ∂outputs/∂inputs at the end of a step of a hosted FMU, by differences of steps that are undone.
 *
 *     struct mechd_fmu_jacobian *j = NULL;
 *     bool done = false;
 *     int rc = mechd_fmu_jacobian_begin(&engine, &query, matrix, &derived, &j);
 *     while (rc == 0 && !done) {
 *         rc = mechd_fmu_jacobian_advance(j, &done);
 *     }
 *     mechd_fmu_jacobian_end(j);
 *
 * The step is the query's, from the committed point with its own inputs set. An element u of an
 * input is changed over the whole step by δ = ε^(1/3) max(|u|, nominal), ε the spacing of numbers
 * at 1, in both directions, within the limits of the description: its column is the difference of
 * the outputs over that of the inputs, whose error is of the order ε^(2/3) for a smooth FMU. FMI's
 * directional derivatives are others: they are those at one time, with the state held. Inputs that
 * are not continuous real numbers have columns of 0. Cost: two steps a column, and one.
 *
 * Needs an FMU that saves its state; the committed point stays as it is. owner: that of the engine,
 * which has no command in progress; between begin and end nothing else is asked of it. */
#pragma once

#include "server/engine/engine.h"
#include "solver/sim/analysis.h"

struct mechd_fmu_jacobian;

/* As a member of the engine's table. */
extern const struct mechd_engine_derive mechd_fmu_derive;

/* `out` [rows × columns] and `derived` are written until it is done; derived->kinked: both sides of
 * an input have other slopes. The query is read by begin only, but for what it points to. 0;
 * MECH_NO_MEMORY; MECH_INVALID: no such step, too many, or no state is saved (derived->reason). */
int mechd_fmu_jacobian_begin(const struct mechd_engine *e, const struct mech_jacobian_query *query,
                             double *out, struct mech_derived *derived,
                             struct mechd_fmu_jacobian **j);
/* One step. 0, or an outcome of a step of the engine (derived->reason). */
int mechd_fmu_jacobian_advance(struct mechd_fmu_jacobian *j, bool *done);
/* At any time; NULL: nothing. */
void mechd_fmu_jacobian_end(struct mechd_fmu_jacobian *j);
