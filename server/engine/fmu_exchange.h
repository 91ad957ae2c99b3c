/* Values of an FMU in use, and their derivatives: of one causality, packed as its channels are
 * (fmu_channels.h).
 *
 * Each returns as those of a session (fmu_session.h). owner: the session's. */
#pragma once

#include "server/engine/fmu_session.h"

/* Before the initialization: values [size] that differ from the description's start values. */
int mechd_fmu_session_set_start(struct mechd_fmu_session *s, enum mech_causality causality,
                                const double *values);
/* All values of one causality. `than`: values that are there; variables with the same are
 * not sent; NULL: all are. */
int mechd_fmu_session_set(struct mechd_fmu_session *s, enum mech_causality causality,
                          const double *values, const double *than);
int mechd_fmu_session_get(struct mechd_fmu_session *s, enum mech_causality causality,
                          double *values);
/* ∂outputs/∂inputs · direction where the FMU is, with its state held: direction [inputs], of inputs
 * that have slopes, and out [outputs]; 0 of outputs that have none. */
int mechd_fmu_session_derive(struct mechd_fmu_session *s, const double *direction, double *out);
/* The adjoint: seed [outputs] · ∂outputs/∂inputs into out [inputs]; the seed is of outputs that
 * have slopes. */
int mechd_fmu_session_adjoin(struct mechd_fmu_session *s, const double *seed, double *out);
/* Derivatives of the outputs [outputs] by time where the last step has ended; 0 of those that have
 * no slopes. REFUSED where the FMU has none there. */
int mechd_fmu_session_rates(struct mechd_fmu_session *s, double *out);
