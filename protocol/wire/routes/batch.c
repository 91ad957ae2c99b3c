/* One operation on many instances. */
#include "protocol/wire/bodies.h"
#include "protocol/wire/bodies_stepping.h"
#include "protocol/wire/row.h"

/* --- bodies --- */

const struct mechp_shape mechp_body_batch_item_result = {
    .name = "BatchItemResult",
    .doc = "Result of one operation.",
    .members = MECHP_MEMBERS(
        {"index", "integer", "number of the row, in the errors of a table",
         MECHP_MAY(batch_item_result, index)},
        {"id", "@Name", "the instance", MECHP_MAY(batch_item_result, id)},
        {"status", "integer", "HTTP status of the operation", MECHP_IN(batch_item_result, status)},
        {"body", "object", "its response", MECHP_MAY(batch_item_result, body)},
        {"error", "@Problem", "the problem, if it was refused",
         MECHP_MAY(batch_item_result, error)})};

const struct mechp_shape mechp_body_batch_reply = {
    .name = "BatchReply",
    .doc = "Results in the order of the request.",
    .members = MECHP_MEMBERS({"failed", "integer", "number of refused or failed operations",
                              MECHP_IN(batch_reply, failed)},
                             {"results", "@BatchItemResult[]", "one for each operation",
                              MECHP_IN(batch_reply, results)})};

/* The object that `instances` may be; its description names it. */
const struct mechp_shape mechp_body_batch_choice = {
    .name = "BatchChoice",
    .doc = "Instances by their labels.",
    .request = true,
    .members = MECHP_MEMBERS({"label", "any", "labels that they have, with commas between",
                              MECHP_IN(batch_choice, label)})};

const struct mechp_shape mechp_body_batch_request = {
    .name = "BatchRequest",
    .doc = "One operation on many instances, or a list of operations.",
    .request = true,
    .members = MECHP_MEMBERS(
        {"instances", "@Name[]|object", "ids, or {\"label\": \"name=value\"}",
         MECHP_MAY(batch_request, instances)},
        {"operation", "string", "an operation on instances, by its name over ZeroMQ",
         MECHP_MAY(batch_request, operation)},
        {"op", "string", "the same as `operation`, over HTTP; over ZeroMQ, `op` is \"batch\"",
         MECHP_MAY(batch_request, op)},
        {"body", "object", "body of the operation, the same for each instance",
         MECHP_MAY(batch_request, body)},
        {"items", "object[]",
         "in place of `instances`, `operation` and `body`: a list of operations, each {\"op\", "
         "\"id\", …} as over ZeroMQ",
         MECHP_MAY(batch_request, items)},
        {"results", "'full'|'table'", "table: a row with time, step and outputs for each instance",
         MECHP_MAY(batch_request, results)}),
    .example = "{\"instances\":[\"rig\"],\"operation\":\"step\",\"body\":{\"count\":10},"
               "\"results\":\"table\"}"};

const struct mechp_shape mechp_body_batch_table = {
    .name = "BatchTable",
    .doc = "Time, internal steps and outputs of each instance after its operation.",
    .members = MECHP_MEMBERS(
        {"columns", "string[]", "time, step, outputs", MECHP_IN(batch_table, columns)},
        {"rows", "any[][]", "one row for each operation; nulls if it failed",
         MECHP_IN(batch_table, rows)},
        {"failed", "integer", "number of refused or failed operations",
         MECHP_IN(batch_table, failed)},
        {"ids", "@Name[]", "the instances", MECHP_IN(batch_table, ids)},
        {"errors", "@BatchItemResult[]", "errors of the failed operations",
         MECHP_IN(batch_table, errors)})};

const struct mechp_shape *const mechp_shapes_batch[] = {
    &mechp_body_batch_item_result, &mechp_body_batch_reply, &mechp_body_batch_request,
    &mechp_body_batch_table, NULL};

/* --- routes --- */

const struct mechp_row mechp_row_BATCH = {
    .tag = "stepping",
    .doc = "One operation on many instances, or a list of operations, executed on all worker "
           "threads. A failed operation is reported in its own result and does not stop the "
           "others. Operations on the same instance are executed in the order of the request.",
    .access = MECHP_BY_PARTS,
    .body = &mechp_body_batch_request,
    .query = MECHP_QUERY(MECHP_FORMAT_QUERY),
    .of_id = "the ids are given by `instances`",
    .status = 200,
    .reply = "@BatchReply|@BatchTable",
    .content = MECHP_JSON,
    .also = MECHP_ROWS,
    .codes = MECHP_CODES(MECHP_NOT_ACCEPTABLE, MECHP_INVALID_REQUEST)};
