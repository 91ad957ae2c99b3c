/* Instances: create, list, edit, delete. */
#include "protocol/wire/bodies.h"
#include "protocol/wire/queries.h"
#include "protocol/wire/row.h"

/* --- bodies --- */

const struct mechp_shape mechp_body_durability = {
    .name = "Durability",
    .doc = "When the state is stored on disk.",
    .request = true,
    .members = MECHP_MEMBERS(
        {"mode", "'none'|'checkpoint'|'every-step'",
         "none: never; every-step: every change, before it is acknowledged; checkpoint: after "
         "every `steps` committed steps, every `seconds` seconds, or both",
         MECHP_IN(durability, mode)},
        {"steps", "integer 1..1000000000", "committed steps from one checkpoint to the next",
         MECHP_MAY(durability, steps)},
        {"seconds", "number",
         "wall-clock time from one checkpoint to the next, s (1 if neither is given)",
         MECHP_MAY(durability, seconds)})};

const struct mechp_shape mechp_body_clone_request = {
    .name = "CloneRequest",
    .doc = "What differs in the copy.",
    .request = true,
    .members = MECHP_MEMBERS(
        {"as", "@Name", "its id (default chosen by the server)", MECHP_MAY(clone_request, as)},
        {"labels", "string{}", "labels (default those of the original)",
         MECHP_MAY(clone_request, labels)},
        {"ttl", "number|null", "time to live, s (default that of the original)",
         MECHP_MAY(clone_request, ttl)},
        {"durability", "'none'|'checkpoint'|'every-step'|@Durability",
         "when the state is stored on disk (default that of the original)",
         MECHP_MAY(clone_request, durability)}),
    .example = "{\"as\":\"copy\",\"labels\":{\"variant\":\"stiff\"}}"};

const struct mechp_shape mechp_body_create_request = {
    .name = "CreateRequest",
    .doc = "Exactly one of model, example, snapshot and fmu.",
    .request = true,
    .members = MECHP_MEMBERS(
        {"model", "@Model", "a model document", MECHP_MAY(create_request, model)},
        {"example", "@Name", "name of one of /v1/examples", MECHP_MAY(create_request, example)},
        {"snapshot", "string", "a snapshot's bytes as base64", MECHP_MAY(create_request, snapshot)},
        {"fmu", "@Name", "id of an uploaded FMU", MECHP_MAY(create_request, fmu)},
        {"start", "object", "with fmu: start values of its inputs and parameters, by name",
         MECHP_MAY(create_request, start)},
        {"labels", "string{}", "labels: names and texts chosen by the client",
         MECHP_MAY(create_request, labels)},
        {"ttl", "number|null", "idle time after which the instance is deleted, s; null: never",
         MECHP_MAY(create_request, ttl)},
        {"durability", "'none'|'checkpoint'|'every-step'|@Durability",
         "when the state is stored on disk (default that of the server)",
         MECHP_MAY(create_request, durability)}),
    .example =
        "{\"model\":{\"mechd\":1,\"name\":\"mass on a "
        "spring\",\"parameters\":{\"k\":4000},\"nodes\":[{\"name\":\"n\",\"type\":\"Node1D\","
        "\"initialVelocities\":[1]}],"
        "\"objects\":[{\"name\":\"body\",\"type\":\"Mass1D\",\"node\":\"n\",\"physicsMass\":1.6},"
        "{\"name\":\"spring\",\"type\":\"CoordinateSpringDamper\",\"markers\":[\"ground\",\"x\"],"
        "\"stiffness\":\"=k\",\"damping\":8}],"
        "\"markers\":[{\"name\":\"x\",\"type\":\"MarkerNodeCoordinate\",\"node\":\"n\","
        "\"coordinate\":"
        "0},"
        "{\"name\":\"ground\",\"type\":\"MarkerGroundCoordinate\"}],"
        "\"loads\":[{\"name\":\"F\",\"type\":\"LoadCoordinate\",\"marker\":\"x\",\"load\":0}],"
        "\"sensors\":[{\"name\":\"pos\",\"type\":\"SensorBody\",\"object\":\"body\","
        "\"outputVariable\":\"Position\"}],"
        "\"inputs\":[{\"name\":\"force\",\"load\":\"F\"}],"
        "\"outputs\":[{\"name\":\"x\",\"sensor\":\"pos\",\"component\":0}],"
        "\"solver\":{\"integrator\":\"GeneralizedAlpha\",\"stepSize\":0.001}}}"};

const struct mechp_shape mechp_body_instance = {
    .name = "Instance",
    .doc = "An instance.",
    .members = MECHP_MEMBERS(
        {"id", "@Name", "id", MECHP_IN(instance, id)},
        {"name", "string|null", "name of the model", MECHP_IN(instance, name)},
        {"engine", "'fmu'", "engine of the instance, if it is not the server's own solver",
         MECHP_MAY(instance, engine)},
        {"time", "number", "s", MECHP_IN(instance, time)},
        {"step", "integer", "internal steps since the start", MECHP_IN(instance, step)},
        {"stepSize", "number", "internal step, s", MECHP_IN(instance, step_size)},
        {"running", "boolean", "a run is in progress", MECHP_IN(instance, running)},
        {"busy", "boolean",
         "a step or a derivative is in progress or queued; POST …/stop cancels it",
         MECHP_IN(instance, busy)},
        {"revision", "string",
         "incarnation.revision, as in the ETag: the incarnation differs for every instance, also "
         "under the same id; the revision increases with every change",
         MECHP_IN(instance, revision)},
        {"durability", "'none'|'every-step'|@Durability", "when the state is stored on disk",
         MECHP_IN(instance, durability)},
        {"labels", "string{}", "as given", MECHP_MAY(instance, labels)},
        {"ttl", "number", "idle time after which the instance is deleted, s",
         MECHP_MAY(instance, ttl)},
        {"ttlLeft", "number", "remaining idle time, s", MECHP_MAY(instance, ttl_left)},
        {"warnings", "@Warning[]", "warnings about the model", MECHP_MAY(instance, warnings)},
        {"integrator", "string", "integration scheme", MECHP_MAY(instance, integrator)},
        {"sizes", "@Sizes", "sizes of its state", MECHP_MAY(instance, sizes)},
        {"memory", "integer", "memory that it uses, bytes", MECHP_MAY(instance, memory)},
        {"inputs", "string[]", "names", MECHP_MAY(instance, inputs)},
        {"outputs", "string[]", "names", MECHP_MAY(instance, outputs)},
        {"parameters", "string[]", "names", MECHP_MAY(instance, parameters)},
        {"run", "@Run|null", "the run in progress", MECHP_MAY(instance, run)},
        {"reproducible", "boolean",
         "after a restore: false if fields were changed after the snapshot, or if it was taken "
         "with another BLAS kernel",
         MECHP_MAY(instance, reproducible)})};

const struct mechp_shape mechp_body_instance_list = {
    .name = "InstanceList",
    .doc = "Instances.",
    .members = MECHP_MEMBERS(
        {"items", "@Instance[]", "a page", MECHP_IN(instance_list, items)},
        {"next", "string|null", "`after` of the next page", MECHP_IN(instance_list, next)})};

const struct mechp_shape mechp_body_instance_edit = {
    .name = "InstanceEdit",
    .doc = "The members that are given replace those of the instance.",
    .request = true,
    .members = MECHP_MEMBERS(
        {"labels", "string{}|null", "all labels; null: none", MECHP_MAY(instance_edit, labels)},
        {"ttl", "number|null", "idle time after which the instance is deleted, s; null: never",
         MECHP_MAY(instance_edit, ttl)}),
    .example = "{\"labels\":{\"rig\":\"a\"},\"ttl\":3600}"};

const struct mechp_shape mechp_body_sizes = {
    .name = "Sizes",
    .doc = "Sizes of the state.",
    .members = MECHP_MEMBERS({"q", "integer", "coordinates", MECHP_IN(sizes, q)},
                             {"v", "integer", "velocities", MECHP_IN(sizes, v)},
                             {"x", "integer", "first-order states", MECHP_IN(sizes, x)},
                             {"lambda", "integer", "multipliers", MECHP_IN(sizes, lambda)},
                             {"z", "integer",
                              "data of nodes and of linear systems, and angles that count turns",
                              MECHP_IN(sizes, z)},
                             {"impulse", "integer", "impulses", MECHP_IN(sizes, impulse)})};

const struct mechp_shape *const mechp_shapes_instances[] = {
    &mechp_body_durability,     &mechp_body_clone_request,
    &mechp_body_create_request, &mechp_body_instance,
    &mechp_body_instance_list,  &mechp_body_instance_edit,
    &mechp_body_sizes,          NULL};

/* --- routes --- */

const struct mechp_row mechp_row_INSTANCES = {
    .tag = "instances",
    .doc = "In order of creation, paginated: pass `next` of one page as `after` of the following "
           "request. `label` selects the instances that have all of the given labels, each `name` "
           "or `name=value`, separated by commas; a value with a comma is written in double "
           "quotes: `name=\"a,b\"`.",
    .effect = MECHP_READS,
    .query = MECHP_QUERY(
        {"limit", "integer 1..1000", "Maximum number of instances (default 100).", "10",
         MECHP_ASKED(instances, limit)},
        {"after", "string", "`next` of the previous page.", "\"0\"", MECHP_ASKED(instances, after)},
        {"label", "string", "name=value,name: only instances that have all of these labels.",
         "\"variant=stiff\"", MECHP_ASKED(instances, label)}),
    .status = 200,
    .reply = "@InstanceList",
    .content = MECHP_JSON,
    .codes = MECHP_CODES(MECHP_INVALID_REQUEST)};

#define NAME_OF_MODEL                                                                              \
    "a model has a name, as its key `name`; an instance has the id of its path, as in PUT "        \
    "/v1/instances/{id}"

const struct mechp_row mechp_row_CREATE = {
    .tag = "instances",
    .doc = "The body has exactly one of `model`, `example`, `snapshot` and `fmu`; the bytes of a "
           "snapshot may also be the whole body. All errors of a model are reported together, each "
           "with its JSON pointer. An instance of an uploaded FMU is computed in a process of its "
           "own. Routes that need a model (state, scene, statics, modes …) are refused for it; if "
           "the FMU cannot save its state, trials, snapshots and couplings are refused too. It is "
           "not stored: its `durability` is none. If its process ends, steps return `fmu-failed` "
           "with the reason until it is reset or a snapshot is restored. A command of an FMU that "
           "cannot save its state cannot be undone: the process is ended if the command has begun "
           "and fails or is stopped, or if its client disconnects (with a lease, once that has "
           "expired).",
    .cost = MECHP_COST_UNKNOWN,
    .traits = MECHP_TAKES_MODELS | MECHP_STORES | MECHP_CLOSES,
    .body = &mechp_body_create_request,
    .takes = {"application/vnd.mechd.snapshot"},
    .of_id = "to choose the id, put it in the path: PUT /v1/instances/{id}",
    .of_name = NAME_OF_MODEL,
    .status = 201,
    .reply = "@Instance",
    .content = MECHP_JSON,
    .codes = MECHP_CODES(MECHP_INVALID_MODEL, MECHP_SNAPSHOT_MISMATCH, MECHP_NOT_FOUND,
                         MECHP_FMU_FAILED, MECHP_QUOTA_EXCEEDED)};

const struct mechp_row mechp_row_DELETE = {
    .tag = "instances",
    .doc = "The id can be reused immediately. A command in progress is cancelled and returns "
           "`cancelled`; queued commands return `instance-not-found`.",
    .traits = MECHP_NO_QUEUE,
    .shown = MECHP_SHOWN(.id = "copy"),
    .status = 204};

const struct mechp_row mechp_row_INSTANCE = {
    .tag = "instances",
    .doc = "Sizes, names, time, memory use, and the run in progress.",
    .effect = MECHP_READS,
    .traits = MECHP_STATELESS,
    .status = 200,
    .reply = "@Instance",
    .content = MECHP_JSON};

const struct mechp_row mechp_row_EDIT = {
    .tag = "instances",
    .doc = "`labels` are replaced as a whole. The time of a `ttl` starts now; every request that "
           "names the instance restarts it, listing all instances does not. The revision "
           "increases; the state does not change, and a pending trial step remains valid.",
    .effect = MECHP_BESIDE,
    .traits = MECHP_WHILE_RUN,
    .body = &mechp_body_instance_edit,
    .status = 200,
    .reply = "@Instance",
    .content = MECHP_JSON};

const struct mechp_row mechp_row_CREATE_AS = {
    .tag = "instances",
    .doc = "Like POST /v1/instances, with the id of the path.",
    .cost = MECHP_COST_UNKNOWN,
    .traits = MECHP_TAKES_MODELS | MECHP_STORES | MECHP_CLOSES | MECHP_NAMES_NEW,
    .body = &mechp_body_create_request,
    .takes = {"application/vnd.mechd.snapshot"},
    .of_name = NAME_OF_MODEL,
    .status = 201,
    .reply = "@Instance",
    .content = MECHP_JSON,
    .codes = MECHP_CODES(MECHP_INVALID_MODEL, MECHP_SNAPSHOT_MISMATCH, MECHP_NOT_FOUND,
                         MECHP_FMU_FAILED, MECHP_ID_TAKEN, MECHP_IN_COUPLING,
                         MECHP_REVISION_MISMATCH, MECHP_QUOTA_EXCEEDED)};

const struct mechp_row mechp_row_CLONE = {
    .tag = "instances",
    .doc =
        "The copy has the model and the state of the original; its next step gives bit-identical "
        "results. Snapshots, leases, streams and a run in progress are not copied.",
    .cost = MECHP_COST_UNKNOWN,
    .traits = MECHP_OF_MODEL | MECHP_WHILE_RUN | MECHP_UNLEASED | MECHP_CLOSES,
    .body = &mechp_body_clone_request,
    .optional = true,
    .of_id = "the id of the clone is given by `as`",
    .status = 201,
    .reply = "@Instance",
    .content = MECHP_JSON,
    .codes = MECHP_CODES(MECHP_ID_TAKEN, MECHP_IN_COUPLING, MECHP_QUOTA_EXCEEDED)};

const struct mechp_row mechp_row_MODEL = {
    .tag = "instances",
    .doc = "The model document, with the fields that were changed since the instance was created. "
           "Its parameters have their initial values; GET …/parameters returns the current ones.",
    .effect = MECHP_READS,
    .cost = MECHP_COST_UNKNOWN,
    .traits = MECHP_OF_MODEL,
    .status = 200,
    .reply = "@Model",
    .content = MECHP_JSON};

const struct mechp_row mechp_row_RESET = {
    .tag = "instances",
    .doc = "Time, state, inputs and parameters return to their values after creation; "
           "changed fields keep their new values.",
    .cost = MECHP_COST_BY_SIZE,
    .body = &mechp_empty,
    .optional = true,
    .status = 200,
    .reply = "@Instance",
    .content = MECHP_JSON,
    .codes = MECHP_CODES(MECHP_FMU_FAILED)};
