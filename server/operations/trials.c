/* …/trials: the ends of trial steps that are kept under names, and POST …/commit of one of them or
 * of the last trial. */
#include "server/instance/trials.h"

#include "protocol/wire/bodies.h"
#include "server/call/shapes.h"
#include "server/instance/lives.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static void write_trial(const struct mechd_kept_trial *t, struct mechp_text *w)
{
    const struct mechp_body_kept_trial body = {
        .name = t->name, .trial = t->number, .time = t->time, .bytes = t->size};
    MECHP_WRITE(kept_trial, &body, w);
}

static void write_items(const void *of, struct mechp_text *w)
{
    const struct mechd_trials *const kept = of;
    mechp_text_array(w);
    for (int k = 0; kept != NULL && k < kept->count; k++) {
        write_trial(&kept->at[k], w);
    }
    mechp_text_end(w);
}

static enum mechd_progress run_list(struct mechd_call *c)
{
    const struct mechp_body_kept_trial_list body = {{write_items, c->job.instance->kept}};
    MECHP_WRITE(kept_trial_list, &body, &c->text);
    return MECHD_DONE;
}

const struct mechd_operation mechd_operation_TRIALS = {.run = run_list};

/* No trial has this number now. */
static enum mechd_progress fail_missing(struct mechd_call *c, int64_t trial)
{
    char number[24], before[MECHD_LIVES_WORDS];
    snprintf(number, sizeof number, "%" PRId64, trial);
    return mechd_fail(c, MECHP_NO_TRIAL, "there is no trial %s%s", number,
                      mechd_lives_tell(c->job.instance, MECHD_COUNTED_TRIAL, number, before));
}

static enum mechd_progress run_keep(struct mechd_call *c)
{
    struct mechd_instance *const i = c->job.instance;
    const struct mechd_kept_trial *kept = NULL;
    struct mechp_body_keep_trial_request in;
    struct mechd_excess excess;
    MECHP_READ(keep_trial_request, c->body, &c->diag, &in);
    if (in.name == NULL || !mech_name_valid(in.name) || strlen(in.name) > MECHD_TRIAL_NAME) {
        mech_diag_add(&c->diag, "/name",
                      "a name of 1 to %d characters of A-Z a-z 0-9 . _ - is needed",
                      MECHD_TRIAL_NAME);
    }
    if (mechd_call_faulty(c)) {
        return MECHD_DONE;
    }
    if (in.trial > 0 && (uint64_t)in.trial != i->trial) {
        return fail_missing(c, in.trial);
    }
    const int outcome = mechd_trials_keep(i, in.name, &excess, &kept);
    if (outcome == 0) {
        c->status = 201;
        snprintf(c->location, sizeof c->location, "/v1/instances/%s/trials/%s", i->id, kept->name);
        write_trial(kept, &c->text);
        return MECHD_DONE;
    }
    return outcome == MECH_NOT_FOUND ? mechd_fail(c, MECHP_NO_TRIAL, "there is no trial to keep")
           : outcome != MECH_UNSUPPORTED ? mechd_fail_outcome(c, outcome)
           : excess.which != MECHD_QUOTAS
               ? mechd_fail_quota(c, &excess)
               : mechd_fail(c, MECHP_LIMIT_REACHED, "at most %d trials are kept",
                            MECHD_TRIALS_MOST);
}

const struct mechd_operation mechd_operation_KEEP_TRIAL = {.run = run_keep};

static enum mechd_progress run_drop(struct mechd_call *c)
{
    const char *const name = mechd_call_value(c, "tid");
    const struct mechd_kept_trial *const t = mechd_trials_find(c->job.instance, name);
    if (t == NULL) {
        return mechd_fail(c, MECHP_NOT_FOUND, "no trial is kept as %.64s", name);
    }
    c->status = 204;
    mechd_trials_drop(c->job.instance, t);
    return MECHD_DONE;
}

const struct mechd_operation mechd_operation_DROP_TRIAL = {.run = run_drop};

/* Commit the trial that the body names. 0, or refused. */
static int commit(struct mechd_call *c)
{
    struct mechd_instance *const i = c->job.instance;
    struct mechp_body_commit_request in;
    MECHP_READ(commit_request, c->body, &c->diag, &in);
    const char *const name = in.trial.name;
    const int64_t trial = in.trial.number;
    const struct mechd_kept_trial *kept = NULL;
    if (name != NULL) {
        kept = mechd_trials_find(i, name);
        if (kept == NULL) {
            return mechd_refuse(c, MECHP_NO_TRIAL, "no trial is kept as %.64s", name);
        }
    } else if (trial < 0) {
        mech_diag_add(&c->diag, "/trial", "the trial's number is needed, or its name");
        return 1;
    }
    const bool last = kept == NULL && i->trial != 0 && (uint64_t)trial == i->trial &&
                      mechd_engine_has_trial(&i->engine);
    if (kept == NULL && !last) {
        kept = mechd_trials_numbered(i, (uint64_t)trial);
    }
    if (kept == NULL && !last) {
        (void)fail_missing(c, trial);
        return 1;
    }
    const int outcome = last ? mechd_engine_commit(&i->engine) : mechd_trials_commit(i, kept);
    if (outcome != 0) {
        mechd_fail_outcome(c, outcome);
    }
    return outcome;
}

static enum mechd_progress run_commit(struct mechd_call *c)
{
    struct mechd_instance *const i = c->job.instance;
    if (commit(c) != 0) {
        return MECHD_DONE;
    }
    mechd_instance_stepped(i, 0);
    const struct mechd_packed outputs = {&i->engine, MECH_OUTPUT_VARIABLE, i->published.values};
    const struct mechp_body_commit body = {
        i->published.time, i->published.steps, {mechd_write_packed, &outputs}};
    MECHP_WRITE(commit, &body, &c->text);
    return MECHD_DONE;
}

const struct mechd_operation mechd_operation_COMMIT = {.run = run_commit};
