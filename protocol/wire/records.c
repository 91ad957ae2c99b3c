/* Shapes of what the daemon writes as JSON for itself. */
#include "protocol/wire/bodies_records.h"

const struct mechp_shape mechp_body_stored_run = {
    .name = "StoredRun",
    .doc = "A run, as the store describes it.",
    .members = MECHP_MEMBERS(
        {"pace", "number", "simulated seconds per second", MECHP_IN(stored_run, pace)},
        {"period", "number", "communication step, s", MECHP_IN(stored_run, period)},
        {"start", "number", "start time, s", MECHP_IN(stored_run, start)},
        {"until", "number|null", "end time, s", MECHP_IN(stored_run, until)},
        {"every", "integer", "periods from one row to the next; 0: it records nothing",
         MECHP_IN(stored_run, every)},
        {"inputs", "boolean", "true: the inputs are recorded", MECHP_MAY(stored_run, inputs)},
        {"hash", "boolean", "true: a hash of the state is recorded", MECHP_MAY(stored_run, hash)},
        {"outputs", "@Name[]", "recorded outputs (all)", MECHP_MAY(stored_run, outputs)},
        {"warning", "string", "what it was warned of", MECHP_MAY(stored_run, warning)})};

const struct mechp_shape mechp_body_stored_output = {
    .name = "StoredOutput",
    .doc = "An output of a sweep, as the store describes it.",
    .members = MECHP_MEMBERS({"name", "@Name", "its name", MECHP_IN(stored_output, name)},
                             {"size", "integer", "its values", MECHP_IN(stored_output, size)},
                             {"scalar", "boolean", "not a list", MECHP_IN(stored_output, scalar)})};

const struct mechp_shape mechp_body_stored_sweep = {
    .name = "StoredSweep",
    .doc = "A sweep, as the store describes it.",
    .members = MECHP_MEMBERS(
        {"name", "string", "as given", MECHP_IN(stored_sweep, name)},
        {"points", "integer", "how many", MECHP_IN(stored_sweep, points)},
        {"parameters", "@Name[]", "in the order of the columns",
         MECHP_IN(stored_sweep, parameters)},
        {"outputs", "any", "in the order of the columns", MECHP_IN(stored_sweep, outputs)})};

const struct mechp_shape mechp_body_ready_file = {
    .name = "ReadyFile",
    .doc = "Where a daemon that is ready is reached.",
    .members = MECHP_MEMBERS(
        {"pid", "integer", "its process", MECHP_IN(ready_file, pid)},
        {"http", "string|null", "address of HTTP", MECHP_IN(ready_file, http)},
        {"control", "string|null", "endpoint of control", MECHP_IN(ready_file, control)},
        {"stream", "string|null", "endpoint of the stream", MECHP_IN(ready_file, stream)},
        {"forces", "string|null", "endpoint of forces", MECHP_IN(ready_file, forces)},
        {"lane", "string|null", "endpoint of the lane", MECHP_IN(ready_file, lane)},
        {"state", "string|null", "state directory", MECHP_IN(ready_file, state)},
        {"serverKey", "string|null", "public key of CurveZMQ", MECHP_IN(ready_file, server_key)})};

const struct mechp_shape mechp_body_hashed_layout = {
    .name = "HashedLayout",
    .doc = "What the hash of a stream's layout is of.",
    .members = MECHP_MEMBERS(
        {"layout", "@StreamPart[]", "values of a frame", MECHP_IN(hashed_layout, layout)})};
