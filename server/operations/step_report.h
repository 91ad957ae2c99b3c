/* Parts of the reply of a step, each a value of a body. Any thread that has the report and the
 * events. */
#pragma once

#include "protocol/wire/text.h"
#include "solver/sim/mech.h"

/* A struct mech_step_report, of a step that has succeeded or failed. */
void mechd_write_step_report(const void *report, struct mechp_text *w);
/* The list of a struct mech_event_log: those for which it has had room. */
void mechd_write_step_events(const void *log, struct mechp_text *w);
/* Of a step that allows an early return: by what it has ended, and at which time. */
struct mechd_step_end {
    const struct mech_step_report *report;
    const struct mech_event_log *log;
    double time; /* s */
};
void mechd_write_step_ended(const void *of, struct mechp_text *w);
