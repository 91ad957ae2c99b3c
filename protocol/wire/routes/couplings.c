/* Couplings: instances that exchange outputs and inputs and step together. */
#include "protocol/wire/bodies.h"
#include "protocol/wire/bodies_coupling.h"
#include "protocol/wire/queries.h"
#include "protocol/wire/routes/shared.h"
#include "protocol/wire/row.h"

/* --- bodies --- */

const struct mechp_shape mechp_body_coupling_program = {
    .name = "CouplingProgram",
    .doc = "An external program, and whether it is connected.",
    .members = MECHP_MEMBERS(
        {"inputs", "@Name[]", "names of the numbers that it receives",
         MECHP_IN(coupling_program, inputs)},
        {"outputs", "@Name[]", "names of the numbers that it returns",
         MECHP_IN(coupling_program, outputs)},
        {"rollback", "boolean", "it can return to the start of a window and repeat it",
         MECHP_IN(coupling_program, rollback)},
        {"patience", "number", "longest wait for an answer, s",
         MECHP_IN(coupling_program, patience)},
        {"connected", "boolean", "it is connected", MECHP_IN(coupling_program, connected)},
        {"window", "integer", "number of the last window that it committed",
         MECHP_IN(coupling_program, window)})};

const struct mechp_shape mechp_body_coupling_member = {
    .name = "CouplingMember",
    .doc = "An instance or an external program that takes part.",
    .members = MECHP_MEMBERS(
        {"name", "@Name", "its name in the coupling", MECHP_IN(coupling_member, name)},
        {"instance", "@Name", "id of the instance", MECHP_MAY(coupling_member, instance)},
        {"partner", "@CouplingProgram", "in place of `instance`: the external program",
         MECHP_MAY(coupling_member, partner)})};

const struct mechp_shape mechp_body_coupling_last = {
    .name = "CouplingLast",
    .doc = "Outcome of the last command.",
    .members = MECHP_MEMBERS(
        {"command", "'step'|'trial'|'reset'", "kind of the command; a window of a run is a step",
         MECHP_IN(coupling_last, command)},
        {"windows", "integer",
         "completed windows; of a step that failed, those before the failed one",
         MECHP_IN(coupling_last, windows)},
        {"iterations", "integer", "iterations of the scheme over all windows",
         MECHP_IN(coupling_last, iterations)},
        {"evaluations", "integer", "trial steps, summed over the participants",
         MECHP_IN(coupling_last, evaluations)},
        {"residual", "number|null", "largest residual, relative to the tolerance",
         MECHP_IN(coupling_last, residual)},
        {"code", "string", "code of the error, if it failed", MECHP_MAY(coupling_last, code)},
        {"detail", "string", "description of the error", MECHP_MAY(coupling_last, detail)})};

const struct mechp_shape mechp_body_coupling = {
    .name = "Coupling",
    .doc = "A coupling.",
    .members = MECHP_MEMBERS(
        {"id", "@Name", "id", MECHP_IN(coupling, id)},
        {"name", "string", "as given", MECHP_IN(coupling, name)},
        {"time", "number", "s", MECHP_IN(coupling, time)},
        {"windows", "integer", "windows done since the start", MECHP_IN(coupling, windows)},
        {"busy", "boolean", "a command is in progress or queued", MECHP_IN(coupling, busy)},
        {"running", "boolean", "a run is in progress", MECHP_IN(coupling, running)},
        {"durability", "'none'|'checkpoint'|'every-step'",
         "when the state is stored on disk; none: one of its instances is not stored, and the "
         "coupling does not survive a restart",
         MECHP_IN(coupling, durability)},
        {"last", "@CouplingLast|null",
         "outcome of the last command; null: none since the server started",
         MECHP_IN(coupling, last)},
        {"scheme", "string", "name of the scheme", MECHP_IN(coupling, scheme)},
        {"stepSize", "number", "size of a window, s", MECHP_IN(coupling, step_size)},
        {"participants", "@CouplingMember[]", "in the order of the request",
         MECHP_IN(coupling, participants)},
        {"connections", "string[]", "each as \"from -> to\"", MECHP_IN(coupling, connections)},
        {"layout", "@StreamPart[]", "values of a frame of the stream", MECHP_IN(coupling, layout)},
        {"document", "@CoupleRequest",
         "request that creates this coupling again, with the defaults filled in; not in the list "
         "of all couplings",
         MECHP_MAY(coupling, document)})};

const struct mechp_shape mechp_body_coupling_list = {
    .name = "CouplingList",
    .doc = "Couplings.",
    .members = MECHP_MEMBERS(
        {"items", "@Coupling[]", "in the order of their creation", MECHP_IN(coupling_list, items)},
        {"next", "null", "always null: there are no further pages", true})};

const struct mechp_shape mechp_body_coupling_step_request = {
    .name = "CouplingStepRequest",
    .doc = "Exactly one of size, until and count.",
    .request = true,
    .members = MECHP_MEMBERS(
        {"size", "number", "duration, s; in equal windows of at most stepSize",
         MECHP_MAY(coupling_step_request, size)},
        {"until", "number", "end time, s", MECHP_MAY(coupling_step_request, until)},
        {"count", "integer 1..1000000000000", "windows of stepSize",
         MECHP_MAY(coupling_step_request, count)},
        {"commit", "boolean", "false: a trial, which does not change the state",
         MECHP_MAY(coupling_step_request, commit)},
        {"expectTime", "number", "the step is refused unless the coupling is at this time, s",
         MECHP_MAY(coupling_step_request, expect_time)},
        {"want", "@CouplingWant[]", "what the response has besides outputs",
         MECHP_MAY(coupling_step_request, want)}),
    .example = "{\"count\":10}"};

const struct mechp_shape mechp_body_coupling_step_reply = {
    .name = "CouplingStepReply",
    .doc = "The end of the last window.",
    .members = MECHP_MEMBERS(
        {"time", "number", "s", MECHP_IN(coupling_step_reply, time)},
        {"window", "integer", "windows done since the start",
         MECHP_IN(coupling_step_reply, window)},
        {"outputs", "@Value{}", "outputs, named participant.output",
         MECHP_IN(coupling_step_reply, outputs)},
        {"report", "@CouplingReport", "report of the step", MECHP_IN(coupling_step_reply, report)},
        {"energy", "number|null",
         "kinetic and potential energy of all participants, J, if requested",
         MECHP_MAY(coupling_step_reply, energy)},
        {"trial", "integer", "number of the trial, for commit",
         MECHP_MAY(coupling_step_reply, trial)})};

const struct mechp_shape mechp_body_coupling_flow = {
    .name = "CouplingFlow",
    .doc = "Power and work of a connection or a bond in this step.",
    .members = MECHP_MEMBERS(
        {"power", "number|null", "mean power over the last window, W",
         MECHP_IN(coupling_flow, power)},
        {"energy", "number|null", "work on the participants, J", MECHP_IN(coupling_flow, energy)},
        {"balance", "number|null",
         "error of the work, J: the work of the input less that of the mean of the output at both "
         "ends of each window, hence what holding the input has added. Of a bond: the sum of the "
         "work and of the energy that the bond has stored and dissipated, 0 but for rounding "
         "errors",
         MECHP_IN(coupling_flow, balance)})};

const struct mechp_shape mechp_body_coupling_stability = {
    .name = "CouplingStability",
    .doc = "Stability of the coupling about the present state, for one window size.",
    .members = MECHP_MEMBERS(
        {"size", "number", "size of the windows, s", MECHP_IN(coupling_stability, size)},
        {"spectralRadius", "number|null",
         "spectral radius of the map of small disturbances over one window; null: beyond the range "
         "of doubles",
         MECHP_IN(coupling_stability, spectral_radius)},
        {"stable", "boolean",
         "the spectral radius is at most 1, within rounding; false also where `reason` says that "
         "it is unknown",
         MECHP_IN(coupling_stability, stable)},
        {"largestStable", "number|null",
         "largest window size such that all sizes from `least` up to it are stable, s; 0: not even "
         "`least` is stable; null: all sizes up to `most` are stable, or it is unknown (`reason`)",
         MECHP_IN(coupling_stability, largest_stable)},
        {"recommended", "number|null",
         "half of largestStable, s; null where largestStable is 0 or null",
         MECHP_IN(coupling_stability, recommended)},
        {"least", "number", "smallest size that was examined, s",
         MECHP_IN(coupling_stability, least)},
        {"most", "number", "largest size that was examined, s", MECHP_IN(coupling_stability, most)},
        {"reason", "string", "why largestStable is unknown, if it is",
         MECHP_MAY(coupling_stability, reason)})};

const struct mechp_shape mechp_body_coupling_commit_request = {
    .name = "CouplingCommitRequest",
    .doc = "The trial to commit.",
    .request = true,
    .members = MECHP_MEMBERS({"trial", "integer 1..",
                              "number of the trial, from the reply to the trial step",
                              MECHP_IN(coupling_commit_request, trial)}),
    .example = "{\"trial\":1}"};

const struct mechp_shape mechp_body_coupling_state = {
    .name = "CouplingState",
    .doc = "The state of a coupling and of all its instances.",
    .members = MECHP_MEMBERS(
        {"time", "number", "s", MECHP_IN(coupling_state, time)},
        {"window", "integer", "windows done since the start", MECHP_IN(coupling_state, window)},
        {"snapshot", "string", "bytes of the state as base64, as PUT accepts them",
         MECHP_IN(coupling_state, snapshot)})};

const struct mechp_shape mechp_body_set_coupling_state_request = {
    .name = "SetCouplingStateRequest",
    .doc = "The state of a coupling as base64; over HTTP its bytes may be the whole body.",
    .request = true,
    .members =
        MECHP_MEMBERS({"snapshot", "string",
                       "bytes of the state of a coupling of the same participants, as base64",
                       MECHP_IN(set_coupling_state_request, snapshot)}),
    .example = "{\"snapshot\":\"TUNIRENPVVA=\"}"};

const struct mechp_shape mechp_body_coupling_commit_reply = {
    .name = "CouplingCommitReply",
    .doc = "The committed state.",
    .members = MECHP_MEMBERS({"time", "number", "s", MECHP_IN(coupling_commit_reply, time)},
                             {"window", "integer", "windows done since the start",
                              MECHP_IN(coupling_commit_reply, window)},
                             {"outputs", "@Value{}", "outputs, named participant.output",
                              MECHP_IN(coupling_commit_reply, outputs)})};

const struct mechp_shape mechp_body_coupling_report = {
    .name = "CouplingReport",
    .doc = "Report of a step of a coupling.",
    .members =
        MECHP_MEMBERS({"windows", "integer", "windows done", MECHP_IN(coupling_report, windows)},
                      {"iterations", "integer", "iterations of the scheme over all windows",
                       MECHP_IN(coupling_report, iterations)},
                      {"evaluations", "integer", "trial steps, summed over the participants",
                       MECHP_IN(coupling_report, evaluations)},
                      {"refused", "integer",
                       "windows that were too inaccurate and were repeated with a smaller size",
                       MECHP_IN(coupling_report, refused)},
                      {"residual", "number{}", "last change of the value of each connection",
                       MECHP_IN(coupling_report, residual)},
                      {"interface", "@CouplingFlow{}", "by connection and bond, if requested",
                       MECHP_MAY(coupling_report, interface)},
                      {"warnings", "@Warning[]",
                       "windows larger than `largestStable` of the last stability report, if any",
                       MECHP_MAY(coupling_report, warnings)})};

const struct mechp_shape mechp_body_coupling_snapshot = {
    .name = "CouplingSnapshot",
    .doc =
        "A saved state of a coupling and of all its instances; stored on disk if the coupling is.",
    .members = MECHP_MEMBERS(
        {"id", "@Name", "id", MECHP_IN(coupling_snapshot, id)},
        {"time", "number", "s", MECHP_IN(coupling_snapshot, time)},
        {"window", "integer", "windows done since the start", MECHP_IN(coupling_snapshot, window)},
        {"bytes", "integer", "size of the states, bytes", MECHP_IN(coupling_snapshot, bytes)})};

const struct mechp_shape mechp_body_coupling_snapshot_list = {
    .name = "CouplingSnapshotList",
    .doc = "Snapshots of a coupling, oldest first.",
    .members = MECHP_MEMBERS(
        {"items", "@CouplingSnapshot[]", "64 at most", MECHP_IN(coupling_snapshot_list, items)},
        {"next", "null", "always null: there are no further pages", true})};

const struct mechp_shape mechp_body_coupling_restored = {
    .name = "CouplingRestored",
    .doc = "The restored state.",
    .members = MECHP_MEMBERS(
        {"time", "number", "s", MECHP_IN(coupling_restored, time)},
        {"window", "integer", "windows done since the start", MECHP_IN(coupling_restored, window)},
        {"outputs", "@Value{}", "outputs, named participant.output",
         MECHP_IN(coupling_restored, outputs)},
        {"reproducible", "boolean", "false: fields of a model have been changed since the snapshot",
         MECHP_IN(coupling_restored, reproducible)})};

const struct mechp_shape *const mechp_shapes_couplings[] = {&mechp_body_coupling_waveform,
                                                            &mechp_body_coupling_stability,
                                                            &mechp_body_coupling_snapshot,
                                                            &mechp_body_coupling_snapshot_list,
                                                            &mechp_body_coupling_restored,
                                                            &mechp_body_coupling_participant,
                                                            &mechp_body_coupling_partner,
                                                            &mechp_body_coupling_connection,
                                                            &mechp_body_bond_law,
                                                            &mechp_body_coupling_bond,
                                                            &mechp_body_coupling_scheme,
                                                            &mechp_body_coupling_adaptive,
                                                            &mechp_body_couple_request,
                                                            &mechp_body_coupling_last,
                                                            &mechp_body_coupling,
                                                            &mechp_body_coupling_list,
                                                            &mechp_body_coupling_step_request,
                                                            &mechp_body_coupling_step_reply,
                                                            &mechp_body_coupling_report,
                                                            &mechp_body_coupling_flow,
                                                            &mechp_body_coupling_commit_request,
                                                            &mechp_body_coupling_state,
                                                            &mechp_body_set_coupling_state_request,
                                                            &mechp_body_coupling_commit_reply,
                                                            &mechp_body_coupling_program,
                                                            &mechp_body_coupling_member,
                                                            NULL};

/* --- routes --- */

const struct mechp_row mechp_row_COMMIT_COUPLING = {
    .tag = "couplings",
    .doc = "The end state of the trial becomes the state of all instances, or of none. Any other "
           "step, trial or reset of the coupling discards the trial, as does a change of an "
           "instance; a commit then returns 409.",
    .traits = MECHP_STORES,
    .body = &mechp_body_coupling_commit_request,
    .shown = MECHP_SHOWN(.before = "curl --json '{\"count\":1,\"commit\":false}' " MECHP_SERVER
                                   "/v1/couplings/c-1/step\n"),
    .status = 200,
    .reply = "@CouplingCommitReply",
    .content = MECHP_JSON,
    .codes = MECHP_CODES(MECHP_FOREIGN_LEASE, MECHP_RUN_IN_PROGRESS, MECHP_TIME_MISMATCH,
                         MECHP_CANCELLED, MECHP_QUEUE_FULL, MECHP_NO_TRIAL)};

const struct mechp_row mechp_row_COUPLINGS = {.tag = "couplings",
                                              .doc = "All couplings, oldest first.",
                                              .effect = MECHP_READS,
                                              .status = 200,
                                              .reply = "@CouplingList",
                                              .content = MECHP_JSON};

const struct mechp_row mechp_row_COUPLE = {
    .tag = "couplings",
    .doc = "From then on the instances step together, in windows: communication steps of the "
           "coupling, at whose ends they exchange values. The coupling holds the owner's lease of "
           "each instance, so that no other client can change or delete it (409 `in-coupling`); "
           "requests that only read are served between two windows. A window is completed by all "
           "instances or by none. With `outputs` the replies, streams, events and runs of the "
           "coupling have these outputs alone, in this order. The body may also be a system "
           "structure package (.ssp, SSP 1.0) "
           "with FMUs, their start values and connections: the server creates the instances and "
           "their coupling, or nothing if that fails. Packages are accepted as FMUs are: with "
           "`--fmus on`, from tokens with the scope `fmu`.",
    .traits = MECHP_TELLS_ALL | MECHP_STORES | MECHP_TAKES_MODELS,
    .body = &mechp_body_couple_request,
    .takes = {"application/zip", "application/x-ssp-package"},
    .query = MECHP_QUERY(
        {"window", "number 1e-12..1e12",
         "Size of a window, s, in place of stepSize. Default for a package that has none: the "
         "smallest step size of its FMUs.",
         "0.01", MECHP_ASKED(couple, window)},
        {"type", "string",
         "Type of the scheme, in place of scheme. Default for a package that has none: Jacobi.",
         "\"GaussSeidel\"", MECHP_ASKED(couple, type)}),
    .of_id = MECHP_ID_CHOSEN,
    .status = 201,
    .reply = "@Coupling",
    .content = MECHP_JSON,
    .codes = MECHP_CODES(MECHP_FOREIGN_LEASE, MECHP_IN_COUPLING, MECHP_RUN_IN_PROGRESS,
                         MECHP_TIME_MISMATCH, MECHP_LIMIT_REACHED, MECHP_QUEUE_FULL,
                         MECHP_COUPLING_NOT_CONVERGED, MECHP_NOT_FINITE, MECHP_INVALID_FMU,
                         MECHP_FMU_FAILED, MECHP_QUOTA_EXCEEDED, MECHP_CANCELLED)};

const struct mechp_row mechp_row_DELETE_COUPLING = {
    .tag = "couplings",
    .traits = MECHP_AT_ONCE | MECHP_STORES,
    .doc = "A step in progress is cancelled, and its window is undone. The instances remain, in "
           "the state at the end of the last window, and can be used individually again.",
    .status = 204};

const struct mechp_row mechp_row_GET_COUPLING = {.tag = "couplings",
                                                 .doc = "Its participants, time and scheme.",
                                                 .effect = MECHP_READS,
                                                 .status = 200,
                                                 .reply = "@Coupling",
                                                 .content = MECHP_JSON};

const struct mechp_row mechp_row_RESET_COUPLING = {
    .tag = "couplings",
    .doc = "Each instance returns to its state after creation, and the coupling starts again at "
           "its first window.",
    .traits = MECHP_STORES,
    .body = &mechp_empty,
    .optional = true,
    .status = 200,
    .reply = "@CouplingStepReply",
    .content = MECHP_JSON,
    .codes = MECHP_CODES(MECHP_FOREIGN_LEASE, MECHP_RUN_IN_PROGRESS, MECHP_TIME_MISMATCH,
                         MECHP_CANCELLED, MECHP_QUEUE_FULL, MECHP_COUPLING_NOT_CONVERGED,
                         MECHP_NOT_FINITE)};

const struct mechp_row mechp_row_COUPLING_SNAPSHOTS = {.tag = "couplings",
                                                       .doc = "Ids, times and sizes.",
                                                       .effect = MECHP_READS,
                                                       .status = 200,
                                                       .reply = "@CouplingSnapshotList",
                                                       .content = MECHP_JSON};

const struct mechp_row mechp_row_COUPLING_SNAPSHOT = {.tag = "couplings",
                                                      .doc = "Its time and size.",
                                                      .effect = MECHP_READS,
                                                      .status = 200,
                                                      .reply = "@CouplingSnapshot",
                                                      .content = MECHP_JSON};

const struct mechp_row mechp_row_TAKE_COUPLING_SNAPSHOT = {
    .tag = "couplings",
    .doc = "The state of the coupling and of all its instances is saved. If the coupling is stored "
           "on disk, so is the snapshot, before the request is answered. It counts as one snapshot "
           "of each instance.",
    .traits = MECHP_STORES,
    .body = &mechp_empty,
    .optional = true,
    .of_id = MECHP_ID_CHOSEN,
    .status = 201,
    .reply = "@CouplingSnapshot",
    .content = MECHP_JSON,
    .codes = MECHP_CODES(MECHP_FOREIGN_LEASE, MECHP_TIME_MISMATCH, MECHP_CANCELLED,
                         MECHP_LIMIT_REACHED, MECHP_QUEUE_FULL, MECHP_QUOTA_EXCEEDED)};

const struct mechp_row mechp_row_DELETE_COUPLING_SNAPSHOT = {
    .tag = "couplings",
    .doc = "Frees its memory and deletes it from the disk.",
    .traits = MECHP_STORES,
    .status = 204};

const struct mechp_row mechp_row_RESTORE_COUPLING = {
    .tag = "couplings",
    .doc = "All instances return to the states, inputs and parameters of the snapshot, and the "
           "coupling to its window, or nothing changes. Fields that were changed after the "
           "snapshot keep their new values.",
    .traits = MECHP_STORES,
    .body = &mechp_empty,
    .optional = true,
    .status = 200,
    .reply = "@CouplingRestored",
    .content = MECHP_JSON,
    .codes = MECHP_CODES(MECHP_FOREIGN_LEASE, MECHP_RUN_IN_PROGRESS, MECHP_TIME_MISMATCH,
                         MECHP_CANCELLED, MECHP_QUEUE_FULL, MECHP_NOT_FINITE)};

const struct mechp_row mechp_row_COUPLING_STATE = {
    .tag = "couplings",
    .doc = "The present state of the coupling and of all its instances, with their models, as "
           "bytes that PUT accepts, here and on other servers. Refused if an external program or a "
           "hosted FMU takes part, because the server does not have its state. With `Accept: "
           "application/json`, and over ZeroMQ and the lane, the bytes are base64 in JSON.",
    .effect = MECHP_READS,
    .cost = MECHP_COST_UNKNOWN,
    .status = 200,
    .reply = "@CouplingState",
    .content = "application/vnd.mechd.coupling",
    .also = MECHP_JSON,
    .codes = MECHP_CODES(MECHP_FOREIGN_LEASE, MECHP_TIME_MISMATCH, MECHP_CANCELLED,
                         MECHP_QUEUE_FULL, MECHP_INVALID_REQUEST)};

const struct mechp_row mechp_row_SET_COUPLING_STATE = {
    .tag = "couplings",
    .doc =
        "Accepts the bytes of the state of a coupling of the same participants, here or on another "
        "server. All instances then have the states, inputs and parameters in it, the coupling is "
        "at its window, and both continue with bit-identical results; if anything is refused, "
        "nothing changes. Names and models of the participants, connections, bonds, scheme and "
        "windows must be the same; ids of instances may differ if the participants were given "
        "names. Bytes that are damaged or of another coupling are refused with the reason.",
    .cost = MECHP_COST_UNKNOWN,
    .traits = MECHP_STORES | MECHP_TAKES_MODELS,
    .body = &mechp_body_set_coupling_state_request,
    .takes = {"application/vnd.mechd.coupling", "application/octet-stream"},
    .shown = MECHP_SHOWN(
            .before = "curl -o coupling.mechd " MECHP_SERVER "/v1/couplings/c-1/state\n",
            .body =
                "-H 'Content-Type: application/vnd.mechd.coupling' --data-binary @coupling.mechd "),
    .status = 200,
    .reply = "@CouplingRestored",
    .content = MECHP_JSON,
    .codes = MECHP_CODES(MECHP_FOREIGN_LEASE, MECHP_RUN_IN_PROGRESS, MECHP_TIME_MISMATCH,
                         MECHP_CANCELLED, MECHP_QUEUE_FULL, MECHP_NOT_FINITE,
                         MECHP_SNAPSHOT_MISMATCH, MECHP_INVALID_REQUEST)};

const struct mechp_row mechp_row_COUPLING_SSP = {
    .tag = "couplings",
    .doc = "A package (.ssp, SSP 1.0) that other tools and `POST /v1/couplings` accept. It "
           "contains the models of the instances as FMUs with the solver in them (FMI 2.0), the "
           "present values of their parameters and of inputs that no connection drives, the "
           "connections, and, in an annotation, scheme and windows. It starts from the model "
           "documents as they are now, not from the state. Hosted FMUs are in it as they were "
           "uploaded: this requires the scope `fmu`. Couplings with bonds or external programs are "
           "refused. The same coupling gives the same bytes.",
    .effect = MECHP_READS,
    .cost = MECHP_COST_UNKNOWN,
    .status = 200,
    .content = "application/x-ssp-package",
    .codes = MECHP_CODES(MECHP_FORBIDDEN, MECHP_FOREIGN_LEASE, MECHP_TIME_MISMATCH, MECHP_CANCELLED,
                         MECHP_QUEUE_FULL, MECHP_INVALID_REQUEST, MECHP_INVALID_MODEL,
                         MECHP_NOT_FINITE, MECHP_NOT_INSTALLED)};

const struct mechp_row mechp_row_COUPLING_STABILITY = {
    .tag = "couplings",
    .doc =
        "Stability of the coupled instances at the present state. They are linearized there and "
        "integrated exactly, while the scheme exchanges values in windows of `size`; schemes "
        "that iterate are assumed to converge. Refused for more than 200 states and output "
        "values in all, and for couplings with bonds. Later steps whose windows are larger than "
        "`largestStable` are done, and their reports and runs have a warning, unless the windows "
        "are `adaptive`.",
    .effect = MECHP_READS,
    .cost = MECHP_COST_UNKNOWN,
    .query = MECHP_QUERY({"size", "number 1e-12..1e12", "Size of a window, s; default stepSize.",
                          "0.01", MECHP_ASKED(stability, size)}),
    .status = 200,
    .reply = "@CouplingStability",
    .content = MECHP_JSON,
    .codes =
        MECHP_CODES(MECHP_FOREIGN_LEASE, MECHP_TIME_MISMATCH, MECHP_CANCELLED, MECHP_QUEUE_FULL,
                    MECHP_INVALID_REQUEST, MECHP_SINGULAR, MECHP_NOT_FINITE)};

const struct mechp_row mechp_row_STEP_COUPLING = {
    .tag = "couplings",
    .doc = "Steps windows one after the other. A window that does not converge, or in which an "
           "instance fails, is undone for all instances; earlier windows remain, and the report "
           "gives their number. If the client closes its connection, the window in progress is "
           "undone. With `commit: false` the step is a trial: it changes no instance until it is "
           "committed, and if it fails, all of its windows are undone.",
    .traits = MECHP_STORES,
    .body = &mechp_body_coupling_step_request,
    .status = 200,
    .reply = "@CouplingStepReply",
    .content = MECHP_JSON,
    .codes = MECHP_CODES(MECHP_FOREIGN_LEASE, MECHP_RUN_IN_PROGRESS, MECHP_TIME_MISMATCH,
                         MECHP_CANCELLED, MECHP_QUEUE_FULL, MECHP_QUOTA_EXCEEDED,
                         MECHP_COUPLING_NOT_CONVERGED, MECHP_PARTNER_TIMEOUT, MECHP_PARTNER_FAULT,
                         MECHP_COMMIT_OWED, MECHP_NOT_CONVERGED, MECHP_VI_NOT_CONVERGED,
                         MECHP_SINGULAR, MECHP_NOT_FINITE, MECHP_STEP_TOO_SMALL)};
