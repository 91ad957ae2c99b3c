/* The report of a step, and its events. */
#include "server/operations/step_report.h"

#include "protocol/wire/bodies.h"
#include "protocol/wire/bodies_stepping.h"
#include "solver/base/text.h"

#include <math.h>
#include <stdio.h>

/* That an item's law does not hold, as a list of one. */
static void write_warning(const void *of, struct mechp_text *w)
{
    const struct mech_step_report *const r = of;
    char pointer[64];
    snprintf(pointer, sizeof pointer, "/model/%s/%d", mech_category_name(r->beyond_of), r->beyond);
    const struct mechp_body_warning body = {.pointer = pointer, .message = r->beyond_reason};
    mechp_text_array(w);
    MECHP_WRITE(warning, &body, w);
    mechp_text_end(w);
}

void mechd_write_step_report(const void *report, struct mechp_text *w)
{
    const struct mech_step_report *const r = report;
    const bool good = r->outcome == 0;
    const struct mechp_body_drift drift = {.position = r->drift.position,
                                           .worst_position = r->drift.worst_position,
                                           .velocity = r->drift.velocity,
                                           .worst_velocity = r->drift.worst_velocity,
                                           .left_out = r->drift.left_out};
    const struct mechp_body_step_report body = {
        .steps = r->steps,
        .step_size = r->step_size,
        .iterations = r->iterations,
        .vi_iterations = r->vi_iterations,
        .substeps = r->substeps,
        .refused_substeps = r->refused,
        .impacts = r->impacts,
        .residual = r->residual,
        .contacts = r->contacts,
        .impact_energy_gain = r->impact_gain,
        .linear = r->linear != NULL ? r->linear : "",
        .vi = r->vi != NULL ? r->vi : "",
        .differenced = r->differenced,
        .joints = MECHP_INNER(drift, good && r->drift.rows > 0 ? &drift : NULL),
        .warnings = {good && r->beyond_reason != NULL ? write_warning : NULL, r},
        .failed_time = good ? (double)NAN : r->failed_time,
        .reason = good ? NULL : r->reason};
    mechp_body_write_step_report(&body, w);
}

void mechd_write_step_events(const void *log, struct mechp_text *w)
{
    const struct mech_event_log *const l = log;
    mechp_text_array(w);
    for (size_t k = 0; k < l->count; k++) {
        const struct mech_logged *const e = &l->at[k];
        const struct mechp_body_step_event body = {
            .kind = mech_logged_kinds[e->kind],
            .of = mech_logged_ofs[e->of],
            .item = e->item,
            .with = e->with,
            .row = e->with == NULL && e->of != MECH_LOGGED_MODEL ? e->row : INT64_MIN,
            .since = e->since,
            .time = e->time,
            .speed = e->kind == MECH_LOGGED_IMPACT ? e->speed : (double)NAN};
        MECHP_WRITE(step_event, &body, w);
    }
    mechp_text_end(w);
}

void mechd_write_step_ended(const void *of, struct mechp_text *w)
{
    const struct mechd_step_end *const end = of;
    const struct mech_event_log *const log = end->log;
    const bool early = end->report->ended == MECH_ENDED_AT_EVENT;
    char reason[256];
    if (early && log->count > 0) {
        const struct mech_logged *const e = &log->at[log->count - 1];
        mech_text_format(reason, sizeof reason, "%s of %.80s%s%.80s at %.9g",
                         mech_logged_kinds[e->kind], e->item, e->with != NULL ? " and " : "",
                         e->with != NULL ? e->with : "", e->time);
    }
    const struct mechp_body_step_ended body = {.by = early ? "event" : "request",
                                               .last_successful_time = end->time,
                                               .reason = early && log->count > 0 ? reason : NULL};
    MECHP_WRITE(step_ended, &body, w);
}
