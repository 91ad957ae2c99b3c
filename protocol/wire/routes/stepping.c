/* Steps, trial steps, live outputs. */
#include "protocol/wire/bodies.h"
#include "protocol/wire/bodies_stepping.h"
#include "protocol/wire/queries.h"
#include "protocol/wire/report_members.h"
#include "protocol/wire/row.h"

/* --- bodies --- */

const struct mechp_shape mechp_body_commit = {
    .name = "CommitReply",
    .doc = "The committed state.",
    .members =
        MECHP_MEMBERS({"time", "number", "s", MECHP_IN(commit, time)},
                      {"step", "integer", "internal steps since the start", MECHP_IN(commit, step)},
                      {"outputs", "@Value{}", "all outputs", MECHP_IN(commit, outputs)})};

const struct mechp_shape mechp_body_commit_request = {
    .name = "CommitRequest",
    .doc = "The trial to commit.",
    .request = true,
    .members = MECHP_MEMBERS(
        {"trial", "integer|@Name",
         "number of the trial, from the report of the trial step, if it is the last one or is "
         "kept; or the name under which it is kept",
         MECHP_IN(commit_request, trial)}),
    .example = "{\"trial\":1}"};

const struct mechp_shape mechp_body_keep_trial_request = {
    .name = "KeepTrialRequest",
    .doc = "The trial to keep.",
    .request = true,
    .members = MECHP_MEMBERS(
        {"name", "@Name", "name under which it is kept, 32 characters at most",
         MECHP_IN(keep_trial_request, name)},
        {"trial", "integer 1..",
         "number of the trial; refused if it is not the last one (default: the last one)",
         MECHP_MAY(keep_trial_request, trial)}),
    .example = "{\"name\":\"best\"}"};

const struct mechp_shape mechp_body_kept_trial = {
    .name = "KeptTrial",
    .doc = "A trial that is kept.",
    .members = MECHP_MEMBERS(
        {"name", "@Name", "name", MECHP_IN(kept_trial, name)},
        {"trial", "integer", "number of the trial", MECHP_IN(kept_trial, trial)},
        {"time", "number", "time at its end, s", MECHP_IN(kept_trial, time)},
        {"bytes", "integer", "size of its end state, bytes", MECHP_IN(kept_trial, bytes)})};

const struct mechp_shape mechp_body_kept_trial_list = {
    .name = "KeptTrialList",
    .doc = "Trials of an instance that are kept, oldest first.",
    .members =
        MECHP_MEMBERS({"items", "@KeptTrial[]", "16 at most", MECHP_IN(kept_trial_list, items)},
                      {"next", "null", "always null: there are no further pages", true})};

const struct mechp_shape mechp_body_drift = {
    .name = "Drift",
    .doc = "Constraint violations at the end of a step.",
    .members = MECHP_MEMBERS(
        {"position", "number", "largest violation of a constraint equation, m or rad",
         MECHP_IN(drift, position)},
        {"worstPosition", "@Name", "name of the joint that has it",
         MECHP_IN(drift, worst_position)},
        {"velocity", "number",
         "largest violation of the time derivative of a constraint equation, m/s or rad/s",
         MECHP_IN(drift, velocity)},
        {"worstVelocity", "@Name", "name of the joint that has it",
         MECHP_IN(drift, worst_velocity)},
        {"leftOut", "integer", "number of redundant constraint equations that were left out",
         MECHP_IN(drift, left_out)})};

const struct mechp_shape mechp_body_active = {
    .name = "Active",
    .doc = "An active contact, rope or law.",
    .members = MECHP_MEMBERS(
        {"of", "'interaction'|'joint'|'bodies'", "kind of the item", MECHP_IN(active, of)},
        {"item", "@Name", "the interaction, the joint, or the object of the first shape",
         MECHP_IN(active, item)},
        {"with", "@Name", "between bodies: the object of the second shape",
         MECHP_MAY(active, with)},
        {"row", "integer", "row of the interaction or the joint, from 0", MECHP_MAY(active, row)})};

const struct mechp_shape mechp_body_jacobian = {
    .name = "Jacobian",
    .doc = "Partial derivatives of the outputs of the step with respect to the inputs, labelled "
           "name or name/component. They hold while the active set is the same. Those of a hosted "
           "FMU are differences of its steps: its active set is not known, and is empty.",
    .members = MECHP_MEMBERS(
        {"inputs", "string[]", "columns", MECHP_IN(jacobian, inputs)},
        {"outputs", "string[]", "rows", MECHP_IN(jacobian, outputs)},
        {"matrix", "number[][]", "by rows", MECHP_IN(jacobian, matrix)},
        {"differenced", "boolean", "part of the result was computed by finite differences",
         MECHP_IN(jacobian, differenced)},
        {"kinked", "boolean",
         "the set of active contacts changes nearby: the step is not smooth there",
         MECHP_IN(jacobian, kinked)},
        {"activeSet", "@Active[]",
         "contacts, ropes and laws that are active at the end of the step; the first 256",
         MECHP_IN(jacobian, active_set)},
        {"activeSetConstant", "boolean", "the active set is the same in all internal steps",
         MECHP_IN(jacobian, active_set_constant)},
        {"moreActive", "integer", "number of further entries of the active set",
         MECHP_MAY(jacobian, more_active)})};

const struct mechp_shape mechp_body_samples = {
    .name = "Samples",
    .doc = "Values at times, joined by straight lines; before the first time and after the last, "
           "the nearest value applies.",
    .request = true,
    .members = MECHP_MEMBERS(
        {"times", "number[]", "s, since the start of the step, increasing",
         MECHP_IN(samples, times)},
        {"values", "@Value[]", "one value for each time", MECHP_IN(samples, values)})};

const struct mechp_shape mechp_body_signal = {
    .name = "Signal",
    .doc = "An input over a step: exactly one of polynomial and samples.",
    .request = true,
    .members = MECHP_MEMBERS(
        {"polynomial", "@Value[]",
         "coefficients of 1, tau, tau^2 …, at most 16, tau being the time since the start of the "
         "step, s",
         MECHP_MAY(signal, polynomial)},
        {"samples", "@Samples", "values at times", MECHP_MAY(signal, samples)})};

const struct mechp_shape mechp_body_step_ended = {
    .name = "StepEnded",
    .doc = "Where a step that may return early has ended.",
    .members = MECHP_MEMBERS(
        {"by", "'request'|'event'",
         "request: at the requested end; event: before it, after the internal step with the event, "
         "or where a hosted FMU has returned early",
         MECHP_IN(step_ended, by)},
        {"lastSuccessfulTime", "number", "time of the state, s",
         MECHP_IN(step_ended, last_successful_time)},
        {"reason", "string", "the event", MECHP_MAY(step_ended, reason)})};

const struct mechp_shape mechp_body_step_event = {
    .name = "StepEvent",
    .doc = "An event of a step. It happened between `since` and `time`, which are the same where "
           "the integrator or a hosted FMU locates it.",
    .members = MECHP_MEMBERS(
        {"kind", "'impact'|'closes'|'opens'|'switches'|'updates'|'returns'",
         "impact: two surfaces met with a speed, and velocities jumped; closes, opens: a contact, "
         "a rope or a diode becomes active, or inactive; switches: a relay reaches or leaves a "
         "bound, or an expression takes another branch; updates: a hosted FMU has updated its "
         "discrete states in event mode; returns: a "
         "hosted FMU has ended its step early without an update",
         MECHP_IN(step_event, kind)},
        {"of", "'interaction'|'joint'|'bodies'|'model'|'expression'", "kind of the item",
         MECHP_IN(step_event, of)},
        {"item", "string",
         "the interaction, the joint, the object of the first shape, the model of the FMU, or the "
         "object or load of the expression",
         MECHP_IN(step_event, item)},
        {"with", "@Name", "between bodies: the object of the second shape",
         MECHP_MAY(step_event, with)},
        {"row", "integer", "row of the interaction or the joint, or which expression, from 0",
         MECHP_MAY(step_event, row)},
        {"since", "number", "latest known time before the event, s", MECHP_IN(step_event, since)},
        {"time", "number", "earliest known time after the event, s", MECHP_IN(step_event, time)},
        {"speed", "number", "of an impact: approach speed, m/s", MECHP_MAY(step_event, speed)})};

const struct mechp_shape mechp_body_step_intermediate = {
    .name = "StepIntermediate",
    .doc =
        "Outputs of a hosted FMU within the step: those that have intermediate update, where the "
        "FMU reports that it has finished an internal step.",
    .members = MECHP_MEMBERS(
        {"columns", "string[]", "time, then each value of each output",
         MECHP_IN(step_intermediate, columns)},
        {"rows", "number[][]", "one row for each time; the first 1000, fewer of very many outputs",
         MECHP_IN(step_intermediate, rows)},
        {"more", "integer", "rows beyond these", MECHP_MAY(step_intermediate, more)})};

#define AS_MEMBER(key, type, doc, member, kind) {key, type, doc, MECHP_IN(step_report, member)},

const struct mechp_shape mechp_body_step_report = {
    .name = "Report",
    .doc = "Report of a step.",
    .members = MECHP_MEMBERS(
        MECHP_STEP_REPORT(AS_MEMBER){"joints", "@Drift",
                                     "constraint violations, if the model has joints",
                                     MECHP_MAY(step_report, joints)},
        {"warnings", "@Warning[]",
         "objects whose law is not valid in the state at the end of the step, and objects, markers "
         "and sensors that turn too fast for their turns to be counted",
         MECHP_MAY(step_report, warnings)},
        {"failedTime", "number", "start of the internal step that failed, s",
         MECHP_MAY(step_report, failed_time)},
        {"reason", "string", "reason for the failure", MECHP_MAY(step_report, reason)})};

const struct mechp_shape mechp_body_step_reply = {
    .name = "StepReply",
    .doc = "The end of the step.",
    .members = MECHP_MEMBERS(
        {"time", "number", "s", MECHP_IN(step_reply, time)},
        {"step", "integer", "internal steps since the start", MECHP_IN(step_reply, step)},
        {"outputs", "@Value{}", "all outputs, or those requested", MECHP_IN(step_reply, outputs)},
        {"report", "@Report", "report of the step", MECHP_IN(step_reply, report)},
        {"impulses", "number[]{}",
         "impulses of joints that inputs have activated, by name, N s or N m s, with the sign of "
         "lambda",
         MECHP_MAY(step_reply, impulses)},
        {"trial", "integer", "number of the trial, for commit", MECHP_MAY(step_reply, trial)},
        {"ended", "@StepEnded", "where the step has ended, if it may return early",
         MECHP_MAY(step_reply, ended)},
        {"events", "@StepEvent[]",
         "events of the step in the order of time, if they or an early return are requested; the "
         "first 256",
         MECHP_MAY(step_reply, events)},
        {"moreEvents", "integer", "number of further events", MECHP_MAY(step_reply, more_events)},
        {"energy", "number|null",
         "kinetic and potential energy, J, if requested; null: beyond the range of doubles",
         MECHP_MAY(step_reply, energy)},
        {"derivatives", "@Value{}|null",
         "time derivatives of the outputs at the end, if requested; null: not available",
         MECHP_MAY(step_reply, derivatives)},
        {"intermediate", "@StepIntermediate", "outputs within the step, if requested",
         MECHP_MAY(step_reply, intermediate)},
        {"jacobian", "@Jacobian",
         "Jacobian of the outputs at the end with respect to the inputs, if requested",
         MECHP_MAY(step_reply, jacobian)})};

const struct mechp_shape mechp_body_step_request = {
    .name = "StepRequest",
    .doc = "Exactly one of size, until and count.",
    .request = true,
    .members = MECHP_MEMBERS(
        {"size", "number", "communication step, s", MECHP_MAY(step_request, size)},
        {"until", "number", "end time, s", MECHP_MAY(step_request, until)},
        {"count", "integer 1..1000000000000", "internal steps", MECHP_MAY(step_request, count)},
        {"inputs", "@InputValue{}", "inputs to set before the step",
         MECHP_MAY(step_request, inputs)},
        {"inputDerivatives", "@Derivatives{}", "time derivatives for extrapolation",
         MECHP_MAY(step_request, derivatives)},
        {"inputSignals", "@Signal{}",
         "inputs that change over the step; they hold their last value after it",
         MECHP_MAY(step_request, signals)},
        {"forces", "@Value{}", "forces by name of the marker, during this step only",
         MECHP_MAY(step_request, forces)},
        {"outputs", "@Name[]", "outputs in the response (default all)",
         MECHP_MAY(step_request, outputs)},
        {"expectTime", "number", "the step is refused unless the instance is at this time, s",
         MECHP_MAY(step_request, expect_time)},
        {"want", "@StepWant[]", "what the response has besides outputs",
         MECHP_MAY(step_request, want)},
        {"earlyReturn", "boolean",
         "true: the step ends after the first internal step with an event",
         MECHP_MAY(step_request, early_return)},
        {"commit", "boolean", "false: a trial step, which does not change the state",
         MECHP_MAY(step_request, commit)}),
    .example = "{\"size\":0.01,\"inputs\":{\"force\":1.5}}"};

const struct mechp_shape mechp_body_stop_reply = {
    .name = "StopReply",
    .doc = "Whether a command was cancelled.",
    .members = MECHP_MEMBERS({"stopped", "boolean",
                              "true: a command was in progress or queued, and has been cancelled",
                              MECHP_IN(stop_reply, stopped)})};

const struct mechp_shape *const mechp_shapes_stepping[] = {&mechp_body_active,
                                                           &mechp_body_commit,
                                                           &mechp_body_commit_request,
                                                           &mechp_body_drift,
                                                           &mechp_body_step_ended,
                                                           &mechp_body_step_event,
                                                           &mechp_body_step_intermediate,
                                                           &mechp_body_jacobian,
                                                           &mechp_body_keep_trial_request,
                                                           &mechp_body_kept_trial,
                                                           &mechp_body_kept_trial_list,
                                                           &mechp_body_step_report,
                                                           &mechp_body_samples,
                                                           &mechp_body_signal,
                                                           &mechp_body_step_reply,
                                                           &mechp_body_step_request,
                                                           &mechp_body_stop_reply,
                                                           NULL};

/* --- routes --- */

const struct mechp_row mechp_row_COMMIT = {
    .tag = "stepping",
    .doc = "The end state of the trial becomes the state of the instance. Any other change of the "
           "state discards the trial, and a commit then returns 409. Changes of labels, time to "
           "live, snapshots or leases do not discard it. A further trial replaces it unless it is "
           "kept under a name: any kept trial can be committed until the state changes.",
    .body = &mechp_body_commit_request,
    .shown = MECHP_SHOWN(.before = "curl --json '{\"size\":0.01,\"commit\":false}' " MECHP_SERVER
                                   "/v1/instances/rig/step\n"),
    .status = 200,
    .reply = "@CommitReply",
    .content = MECHP_JSON,
    .codes = MECHP_CODES(MECHP_NO_TRIAL)};

const struct mechp_row mechp_row_TRIALS = {.tag = "stepping",
                                           .doc = "Names, numbers, times and sizes.",
                                           .effect = MECHP_READS,
                                           .status = 200,
                                           .reply = "@KeptTrialList",
                                           .content = MECHP_JSON};

const struct mechp_row mechp_row_KEEP_TRIAL = {
    .tag = "stepping",
    .doc = "The end state of the last trial is kept in memory, and replaces one that is kept under "
           "the same name. Every change of the state discards all kept trials.",
    .traits = MECHP_FLEETING,
    .body = &mechp_body_keep_trial_request,
    .of_id = "the name of the trial is given by `name`",
    .shown = MECHP_SHOWN(.before = "curl --json '{\"size\":0.01,\"commit\":false}' " MECHP_SERVER
                                   "/v1/instances/rig/step\n"),
    .status = 201,
    .reply = "@KeptTrial",
    .content = MECHP_JSON,
    .codes = MECHP_CODES(MECHP_NO_TRIAL, MECHP_LIMIT_REACHED, MECHP_QUOTA_EXCEEDED)};

const struct mechp_row mechp_row_DROP_TRIAL = {
    .tag = "stepping", .doc = "Frees its memory.", .traits = MECHP_FLEETING, .status = 204};

const struct mechp_row mechp_row_EVENTS = {
    .tag = "stepping",
    .doc = "Server-sent events with time and outputs, at most `rate` per second, until the "
           "connection closes. Each event has the newest values. If Last-Event-ID is the id "
           "of the current values, the first event follows the next change.",
    .effect = MECHP_READS,
    .query = MECHP_QUERY(
        {"rate", "number 0.1..60", "Maximum events per second.", "10", MECHP_ASKED(events, rate)}),
    .traits = MECHP_LIVE,
    .status = 200,
    .content = "text/event-stream",
    .codes = MECHP_CODES(MECHP_INVALID_REQUEST)};

const struct mechp_row mechp_row_COUPLING_EVENTS = {
    .tag = "couplings",
    .doc = "Server-sent events with the time and the outputs of the coupling, at most `rate` per "
           "second, until the connection closes. Each event has the values of the last window.",
    .effect = MECHP_READS,
    .traits = MECHP_OF_COUPLING | MECHP_STATELESS | MECHP_LIVE,
    .query = MECHP_QUERY(
        {"rate", "number 0.1..60", "Maximum events per second.", "10", MECHP_ASKED(events, rate)}),
    .status = 200,
    .content = "text/event-stream",
    .codes = MECHP_CODES(MECHP_INVALID_REQUEST)};

const struct mechp_row mechp_row_STEP = {
    .tag = "stepping",
    .doc = "One communication step, given by its size, its end time, or a number of "
           "internal steps. Inputs are set before the step; forces act during it. With "
           "`commit: false` it is a trial step, which does not change the state until it is "
           "committed. A failed step is undone and returns 422 with the report. If the "
           "client closes its connection (with a lease, once that has expired), a step in "
           "progress is undone and a queued one is dropped; with an `Idempotency-Key` it is "
           "executed, and its response retained for a repeated request. If a step of a hosted "
           "FMU that cannot save its state has begun, it is not undone: the process of the FMU is "
           "ended, and a reset starts it again.",
    .traits = MECHP_STOPPABLE | MECHP_TELLS_ALL | MECHP_CLOSES,
    .body = &mechp_body_step_request,
    .status = 200,
    .reply = "@StepReply",
    .content = MECHP_JSON,
    .codes = MECHP_CODES(MECHP_TIME_MISMATCH, MECHP_NOT_CONVERGED, MECHP_VI_NOT_CONVERGED,
                         MECHP_SINGULAR, MECHP_NOT_FINITE, MECHP_STEP_TOO_SMALL, MECHP_CANCELLED,
                         MECHP_FMU_FAILED, MECHP_QUOTA_EXCEEDED)};

const struct mechp_row mechp_row_STOP = {
    .tag = "stepping",
    .doc =
        "Cancels the first step, derivative or analysis that is in progress or queued; it returns "
        "`cancelled` and is undone. If it is a step of a hosted FMU that cannot save its state, "
        "the process of the FMU is ended instead: `detail` of the step's error says so, and a "
        "reset starts it again. The stop request itself does not queue. Other queued commands are "
        "not affected; another stop cancels the next one. Use DELETE …/runs/{rid} to stop a run.",
    .traits = MECHP_NO_QUEUE | MECHP_FLEETING | MECHP_AT_ONCE,
    .body = &mechp_empty,
    .optional = true,
    .status = 200,
    .reply = "@StopReply",
    .content = MECHP_JSON,
    .codes = MECHP_CODES(MECHP_RUN_IN_PROGRESS)};
