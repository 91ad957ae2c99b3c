/* Saved states. */
#include "protocol/wire/bodies.h"
#include "protocol/wire/row.h"

/* --- bodies --- */

const struct mechp_shape mechp_body_snapshot = {
    .name = "Snapshot",
    .doc = "A saved state of an instance.",
    .members =
        MECHP_MEMBERS({"id", "@Name", "id", MECHP_IN(snapshot, id)},
                      {"parent", "@Name|null",
                       "the snapshot that was last taken or restored before it, or if that "
                       "has been deleted, its parent; null: none since the start or a reset",
                       MECHP_IN(snapshot, parent)},
                      {"time", "number", "s", MECHP_IN(snapshot, time)},
                      {"bytes", "integer", "size of the state, bytes", MECHP_IN(snapshot, bytes)})};

const struct mechp_shape mechp_body_snapshot_list = {
    .name = "SnapshotList",
    .doc = "Snapshots of an instance, oldest first.",
    .members = MECHP_MEMBERS({"items", "@Snapshot[]", "64 at most", MECHP_IN(snapshot_list, items)},
                             {"current", "@Name|null",
                              "the snapshot from which the present state descends",
                              MECHP_IN(snapshot_list, current)},
                             {"next", "null", "always null: there are no further pages", true})};

const struct mechp_shape mechp_body_compare_request = {
    .name = "CompareRequest",
    .doc = "The other snapshot, and what counts as a difference: |to − from| > absoluteTolerance + "
           "relativeTolerance · max(|from|, |to|).",
    .request = true,
    .members = MECHP_MEMBERS(
        {"to", "@Name", "the other snapshot of the instance", MECHP_IN(compare_request, to)},
        {"absoluteTolerance", "number", "in the unit of each number, not negative (default 0)",
         MECHP_MAY(compare_request, absolute)},
        {"relativeTolerance", "number", "not negative (default 0)",
         MECHP_MAY(compare_request, relative)},
        {"most", "integer 0..10000",
         "largest number of listed differences of each kind (default 100)",
         MECHP_MAY(compare_request, most)}),
    .example = "{\"to\":\"s-2\",\"absoluteTolerance\":1e-9}"};

const struct mechp_shape mechp_body_difference = {
    .name = "Difference",
    .doc = "A number that differs between two snapshots.",
    .members = MECHP_MEMBERS(
        {"kind",
         "'joint'|'parameter'|'input'|'inputRate'|'inputCurvature'|'coordinate'|'velocity'|'state'|"
         "'kept'",
         "inputRate, inputCurvature: first and second time derivative of an input; state: "
         "first-order states; kept: data of nodes, and angles that count turns",
         MECHP_IN(difference, kind)},
        {"name", "string|null",
         "name of the joint, parameter, input, node, object, marker or sensor; null if it belongs "
         "to none",
         MECHP_IN(difference, name)},
        {"index", "integer", "index of the number among those of that name, from 0",
         MECHP_IN(difference, index)},
        {"from", "number|string|null",
         "value in the first snapshot; of a joint `acts`, `open` (one-sided and apart, or left out "
         "as redundant), `undecided` or `deactivated`; null for an input that is not set",
         MECHP_IN(difference, from)},
        {"to", "number|string|null", "value in the second snapshot, likewise",
         MECHP_IN(difference, to)},
        {"difference", "number|null", "`to` minus `from`", MECHP_IN(difference, difference)})};

const struct mechp_shape mechp_body_compared_times = {
    .name = "ComparedTimes",
    .doc = "Times of the two snapshots.",
    .members = MECHP_MEMBERS({"from", "number", "s", MECHP_IN(compared_times, from)},
                             {"to", "number", "s", MECHP_IN(compared_times, to)})};

const struct mechp_shape mechp_body_compared_steps = {
    .name = "ComparedSteps",
    .doc = "Numbers of internal steps of the two snapshots.",
    .members = MECHP_MEMBERS({"from", "integer", "since the start", MECHP_IN(compared_steps, from)},
                             {"to", "integer", "since the start", MECHP_IN(compared_steps, to)})};

const struct mechp_shape mechp_body_comparison = {
    .name = "Comparison",
    .doc = "What differs between two snapshots.",
    .members = MECHP_MEMBERS(
        {"from", "@Name", "id", MECHP_IN(comparison, from)},
        {"to", "@Name", "id", MECHP_IN(comparison, to)},
        {"identical", "boolean",
         "all bits of the states that the next step reads are equal, including those that are not "
         "listed; fields of the model that have been changed are not compared",
         MECHP_IN(comparison, identical)},
        {"time", "@ComparedTimes", "of the two snapshots", MECHP_IN(comparison, time)},
        {"step", "@ComparedSteps", "of the two snapshots", MECHP_IN(comparison, step)},
        {"counts", "integer{}", "how many numbers differ, by kind", MECHP_IN(comparison, counts)},
        {"items", "@Difference[]", "by kind, largest difference first; at most `most` of each kind",
         MECHP_IN(comparison, items)})};

const struct mechp_shape *const mechp_shapes_snapshots[] = {
    &mechp_body_snapshot,        &mechp_body_snapshot_list,
    &mechp_body_compare_request, &mechp_body_difference,
    &mechp_body_compared_times,  &mechp_body_compared_steps,
    &mechp_body_comparison,      NULL};

/* --- routes --- */

const struct mechp_row mechp_row_SNAPSHOTS = {.tag = "snapshots",
                                              .doc = "Ids, times and sizes.",
                                              .effect = MECHP_READS,
                                              .status = 200,
                                              .reply = "@SnapshotList",
                                              .content = MECHP_JSON};

const struct mechp_row mechp_row_TAKE_SNAPSHOT = {
    .tag = "snapshots",
    .doc = "The state is saved in memory, and on disk if the `durability` of the instance is not "
           "none.",
    .traits = MECHP_WHILE_RUN,
    .body = &mechp_empty,
    .optional = true,
    .of_id = "the path contains the id of the instance; the server chooses the id of the snapshot",
    .status = 201,
    .reply = "@Snapshot",
    .content = MECHP_JSON,
    .codes = MECHP_CODES(MECHP_LIMIT_REACHED, MECHP_INVALID_REQUEST, MECHP_QUOTA_EXCEEDED)};

const struct mechp_row mechp_row_DELETE_SNAPSHOT = {
    .tag = "snapshots",
    .doc = "Frees its memory; if it is stored on disk, it is deleted there too.",
    .traits = MECHP_WHILE_RUN,
    .status = 204};

const struct mechp_row mechp_row_SNAPSHOT = {
    .tag = "snapshots",
    .doc = "Model and state in one file, usable as the body of a request that creates an "
           "instance, here or on another server. 422 if fields of the model were changed "
           "after the snapshot was taken, because the model of that time no longer exists.",
    .effect = MECHP_READS,
    .cost = MECHP_COST_UNKNOWN,
    .traits = MECHP_OF_MODEL,
    .status = 200,
    .content = "application/vnd.mechd.snapshot",
    .codes = MECHP_CODES(MECHP_SNAPSHOT_MISMATCH)};

const struct mechp_row mechp_row_COMPARE = {
    .tag = "snapshots",
    .doc = "Which joints, parameters, inputs, coordinates and velocities differ, by name, and by "
           "how much.",
    .effect = MECHP_READS,
    .cost = MECHP_COST_BY_SIZE,
    .traits = MECHP_OF_MODEL,
    .body = &mechp_body_compare_request,
    .shown = MECHP_SHOWN(.before = "curl -X POST " MECHP_SERVER "/v1/instances/rig/snapshots\n"),
    .status = 200,
    .reply = "@Comparison",
    .content = MECHP_JSON,
    .codes = MECHP_CODES(MECHP_SNAPSHOT_MISMATCH)};

const struct mechp_row mechp_row_RESTORE = {
    .tag = "snapshots",
    .doc = "Restores state, inputs and parameters; fields that were changed after the "
           "snapshot keep their new values. The revision continues to increase. "
           "`reproducible` is false if fields were changed after the snapshot, or if the "
           "snapshot was taken with another BLAS kernel.",
    .body = &mechp_empty,
    .optional = true,
    .status = 200,
    .reply = "@Instance",
    .content = MECHP_JSON,
    .codes = MECHP_CODES(MECHP_SNAPSHOT_MISMATCH, MECHP_FMU_FAILED)};
