/* The report of a step, and its events. */
#include "server/operations/step_report.h"

#include <stdio.h>

static void write_drift(const struct mech_drift *d, struct mechp_text *w)
{
    mechp_text_object(w);
    mechp_text_literal(w, "position");
    mechp_text_number(w, d->position);
    mechp_text_literal(w, "worstPosition");
    mechp_text_string(w, d->worst_position);
    mechp_text_literal(w, "velocity");
    mechp_text_number(w, d->velocity);
    mechp_text_literal(w, "worstVelocity");
    mechp_text_string(w, d->worst_velocity);
    mechp_text_literal(w, "leftOut");
    mechp_text_integer(w, d->left_out);
    mechp_text_end(w);
}

static void write_warning(const struct mech_step_report *r, struct mechp_text *w)
{
    char pointer[64];
    snprintf(pointer, sizeof pointer, "/model/objects/%d", r->beyond);
    mechp_text_literal(w, "warnings");
    mechp_text_array(w);
    mechp_text_object(w);
    mechp_text_literal(w, "pointer");
    mechp_text_string(w, pointer);
    mechp_text_literal(w, "message");
    mechp_text_string(w, r->beyond_reason);
    mechp_text_end(w);
    mechp_text_end(w);
}

void mechd_write_step_report(const struct mech_step_report *r, struct mechp_text *w)
{
    mechp_text_object(w);
    mechp_text_literal(w, "steps");
    mechp_text_unsigned(w, r->steps);
    mechp_text_literal(w, "stepSize");
    mechp_text_number(w, r->step_size);
    mechp_text_literal(w, "iterations");
    mechp_text_unsigned(w, r->iterations);
    mechp_text_literal(w, "viIterations");
    mechp_text_unsigned(w, r->vi_iterations);
    mechp_text_literal(w, "substeps");
    mechp_text_unsigned(w, r->substeps);
    mechp_text_literal(w, "refusedSubsteps");
    mechp_text_unsigned(w, r->refused);
    mechp_text_literal(w, "impacts");
    mechp_text_unsigned(w, r->impacts);
    mechp_text_literal(w, "residual");
    mechp_text_number_or_null(w, r->residual);
    mechp_text_literal(w, "contacts");
    mechp_text_integer(w, r->contacts);
    mechp_text_literal(w, "impactEnergyGain");
    mechp_text_number(w, r->impact_gain);
    mechp_text_literal(w, "linear");
    mechp_text_string(w, r->linear != NULL ? r->linear : "");
    mechp_text_literal(w, "vi");
    mechp_text_string(w, r->vi != NULL ? r->vi : "");
    mechp_text_literal(w, "differenced");
    mechp_text_bool(w, r->differenced);
    if (r->outcome == 0 && r->drift.rows > 0) {
        mechp_text_literal(w, "joints");
        write_drift(&r->drift, w);
    }
    if (r->outcome == 0 && r->beyond_reason != NULL) {
        write_warning(r, w);
    }
    if (r->outcome != 0) {
        mechp_text_literal(w, "failedTime");
        mechp_text_number(w, r->failed_time);
        mechp_text_literal(w, "reason");
        mechp_text_string(w, r->reason);
    }
    mechp_text_end(w);
}

/* One event: what, of what, when. */
static void write_event(const struct mech_logged *e, struct mechp_text *w)
{
    mechp_text_object(w);
    mechp_text_literal(w, "kind");
    mechp_text_string(w, mech_logged_kinds[e->kind]);
    mechp_text_literal(w, "of");
    mechp_text_string(w, mech_logged_ofs[e->of]);
    mechp_text_literal(w, "item");
    mechp_text_string(w, e->item);
    if (e->with != NULL) {
        mechp_text_literal(w, "with");
        mechp_text_string(w, e->with);
    } else {
        mechp_text_literal(w, "row");
        mechp_text_integer(w, e->row);
    }
    mechp_text_literal(w, "since");
    mechp_text_number(w, e->since);
    mechp_text_literal(w, "time");
    mechp_text_number(w, e->time);
    if (e->kind == MECH_LOGGED_IMPACT) {
        mechp_text_literal(w, "speed");
        mechp_text_number(w, e->speed);
    }
    mechp_text_end(w);
}

void mechd_write_step_events(const struct mech_event_log *log, struct mechp_text *w)
{
    mechp_text_literal(w, "events");
    mechp_text_array(w);
    for (size_t k = 0; k < log->count; k++) {
        write_event(&log->at[k], w);
    }
    mechp_text_end(w);
    if (log->total > log->count) {
        mechp_text_literal(w, "moreEvents");
        mechp_text_unsigned(w, log->total - log->count);
    }
}

void mechd_write_step_ended(const struct mech_step_report *r, const struct mech_event_log *log,
                            double time, struct mechp_text *w)
{
    mechp_text_literal(w, "ended");
    mechp_text_object(w);
    mechp_text_literal(w, "by");
    mechp_text_string(w, r->ended == MECH_ENDED_AT_EVENT ? "event" : "request");
    mechp_text_literal(w, "lastSuccessfulTime");
    mechp_text_number(w, time);
    if (r->ended == MECH_ENDED_AT_EVENT && log->count > 0) {
        const struct mech_logged *const e = &log->at[log->count - 1];
        char reason[256];
        snprintf(reason, sizeof reason, "%s of %.80s%s%.80s at %.9g", mech_logged_kinds[e->kind],
                 e->item, e->with != NULL ? " and " : "", e->with != NULL ? e->with : "", e->time);
        mechp_text_literal(w, "reason");
        mechp_text_string(w, reason);
    }
    mechp_text_end(w);
}
