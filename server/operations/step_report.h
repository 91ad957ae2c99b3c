/* Parts of the reply of a step. Any thread that has the report and the events. */
#pragma once

#include "protocol/wire/text.h"
#include "solver/sim/mech.h"

/* The report as an object, of a step that has succeeded or failed. */
void mechd_write_step_report(const struct mech_step_report *r, struct mechp_text *w);
/* The members events, and moreEvents where the log has had no room. */
void mechd_write_step_events(const struct mech_event_log *log, struct mechp_text *w);
/* The member ended, of a step that allows an early return: by what, and at which time. */
void mechd_write_step_ended(const struct mech_step_report *r, const struct mech_event_log *log,
                            double time, struct mechp_text *w);
