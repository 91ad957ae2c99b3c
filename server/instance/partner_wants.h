/* Values after the outputs in the replies to a partner, as its hello requests. owner: the
 * instance's. */
#pragma once

#include "protocol/wire/wants.h"
#include "server/instance/partners.h"

/* Values after the outputs of a reply, in the order of protocol/wire/wants.def. Derivatives are
 * d(outputs)/dt at the time of the reply. Of a step or trial alone are: events, two values, their
 * number and the time of the first one (solver/step/event_log.h), NaN without any; and the
 * jacobian, ∂outputs/∂inputs at its end, inputs held over it (solver/sim/analysis.h), of the
 * partner's outputs and inputs, by rows. NaN: not known. */

/* A set of MECHP_WANTS of a hello's list `want`, or NULL; faults go to diag. */
unsigned mechd_partner_read_want(const struct mechd_instance *i, const json_t *list,
                                 struct mech_diag *diag);
/* Whether steps of a partner that wants this may return early; else a fault at /earlyReturn. */
bool mechd_partner_may_return(const struct mechd_instance *i, unsigned want,
                              struct mech_diag *diag);
/* The places in a reply of what a struct mechd_partner wants, as a list. */
void mechd_partner_write_want(const void *partner, struct mechp_text *w);

/* Number of values of a reply: the outputs and the wanted values; `steps`: of a step or trial. */
size_t mechd_partner_reply_size(const struct mechd_partner *p, bool steps);
/* Look for the events of the step that begins, if the partner wants them or may return early. */
void mechd_partner_watch(struct mechd_partner *p, struct mech_step_request *step);
/* The wanted values, at the committed state or the end of the trial, into out. Any but the jacobian
 * of p->matrix and the events of p->log is computed here. As owner. */
void mechd_partner_wanted(struct mechd_instance *i, const struct mechd_partner *p, bool trial,
                          bool steps, double *out);
