/* Uploaded FMUs: list, upload, one of them, delete. */
#include "protocol/wire/bodies.h"
#include "protocol/wire/row.h"

/* --- bodies --- */

const struct mechp_shape mechp_body_upload_fmu_request = {
    .name = "UploadFmuRequest",
    .doc = "An FMU as base64; over HTTP its bytes may be the whole body.",
    .request = true,
    .members = MECHP_MEMBERS(
        {"fmu", "string", "the bytes of the .fmu as base64", MECHP_IN(upload_fmu_request, fmu)}),
    .example = "{\"fmu\":\"UEsDBBQAAAAIAA==\"}"};

const struct mechp_shape mechp_body_fmu_variable = {
    .name = "FmuVariable",
    .doc = "A variable of an FMU, as its model description has it.",
    .members = MECHP_MEMBERS(
        {"name", "string", "name", MECHP_IN(fmu_variable, name)},
        {"type", "string", "type in terms of FMI 3.0", MECHP_IN(fmu_variable, type)},
        {"causality", "string", "causality", MECHP_IN(fmu_variable, causality)},
        {"variability", "string", "variability", MECHP_IN(fmu_variable, variability)},
        {"reference", "integer", "value reference", MECHP_IN(fmu_variable, reference)},
        {"unit", "string", "unit, or empty", MECHP_IN(fmu_variable, unit)},
        {"description", "string", "description", MECHP_MAY(fmu_variable, description)},
        {"start", "any", "start value: a number, or an array of the first 64",
         MECHP_MAY(fmu_variable, start)},
        {"minimum", "number", "smallest value", MECHP_MAY(fmu_variable, minimum)},
        {"maximum", "number", "largest value", MECHP_MAY(fmu_variable, maximum)},
        {"shown", "boolean", "true: it is one of the inputs, outputs or parameters of an instance",
         MECHP_IN(fmu_variable, shown)})};

const struct mechp_shape mechp_body_fmu = {
    .name = "Fmu",
    .doc = "An uploaded FMU.",
    .members = MECHP_MEMBERS(
        {"id", "@Name", "id", MECHP_IN(fmu, id)},
        {"modelName", "string", "name of the model", MECHP_IN(fmu, model_name)},
        {"fmiVersion", "'2.0'|'3.0'", "version of FMI", MECHP_IN(fmu, version)},
        {"description", "string", "description, or empty", MECHP_IN(fmu, description)},
        {"tool", "string", "tool that generated it, or empty", MECHP_IN(fmu, tool)},
        {"owner", "string|null", "name of the token that uploaded it", MECHP_IN(fmu, owner)},
        {"bytes", "integer", "size of the archive, bytes", MECHP_IN(fmu, bytes)},
        {"unpacked", "integer", "bytes of the files that its process may read",
         MECHP_IN(fmu, unpacked)},
        {"canSaveState", "boolean",
         "instances of it can make trials, save snapshots and take part in couplings",
         MECHP_IN(fmu, saves)},
        {"canVaryStep", "boolean", "its steps may have any size", MECHP_IN(fmu, varies)},
        {"startTime", "number|null", "start time of the default experiment, s",
         MECHP_IN(fmu, start_time)},
        {"stopTime", "number|null", "stop time of the default experiment, s",
         MECHP_IN(fmu, stop_time)},
        {"stepSize", "number|null", "step size of the default experiment, s",
         MECHP_IN(fmu, step_size)},
        {"variableCount", "integer", "number of its variables", MECHP_IN(fmu, variable_count)},
        {"variables", "@FmuVariable[]", "its first 10000 variables; not in the list of FMUs",
         MECHP_MAY(fmu, variables)})};

const struct mechp_shape mechp_body_fmu_list = {
    .name = "FmuList",
    .doc = "Uploaded FMUs.",
    .members = MECHP_MEMBERS(
        {"items", "@Fmu[]", "in the order of their upload", MECHP_IN(fmu_list, items)},
        {"next", "null", "always null: there are no further pages", true})};

const struct mechp_shape *const mechp_shapes_fmus[] = {&mechp_body_upload_fmu_request,
                                                       &mechp_body_fmu_variable, &mechp_body_fmu,
                                                       &mechp_body_fmu_list, NULL};

/* --- routes --- */

const struct mechp_row mechp_row_FMUS = {.tag = "fmus",
                                         .doc = "FMUs of all tokens, without their variables.",
                                         .effect = MECHP_READS,
                                         .status = 200,
                                         .reply = "@FmuList",
                                         .content = MECHP_JSON};

const struct mechp_row mechp_row_UPLOAD_FMU = {
    .tag = "fmus",
    .doc = "An FMU for co-simulation (FMI 2.0 or 3.0) with a binary for the platform of the "
           "server. An FMU is a program: a server accepts it only if it was started with `--fmus "
           "on`, and from tokens with the scope `fmu`. For each instance it runs in a process of "
           "its own, without access to files, network and other processes, with limits on memory "
           "and time. Uploaded FMUs are not stored: they are lost when the server shuts down.",
    .access = MECHP_UPLOADS,
    .cost = MECHP_COST_UNKNOWN,
    .traits = MECHP_TAKES_MODELS,
    .body = &mechp_body_upload_fmu_request,
    .takes = {"application/vnd.fmi", "application/zip", "application/octet-stream"},
    .status = 201,
    .reply = "@Fmu",
    .content = MECHP_JSON,
    .codes = MECHP_CODES(MECHP_INVALID_FMU, MECHP_LIMIT_REACHED, MECHP_STORAGE_FAILED,
                         MECHP_QUOTA_EXCEEDED)};

const struct mechp_row mechp_row_DELETE_FMU = {
    .tag = "fmus",
    .doc = "Instances that were created from it continue, and it counts towards quotas until the "
           "last of them is deleted. A token may delete its own FMUs, `admin` all of them.",
    .access = MECHP_UPLOADS,
    .traits = MECHP_AT_ONCE,
    .status = 204};

const struct mechp_row mechp_row_GET_FMU = {
    .tag = "fmus",
    .doc = "What its model description contains, with its variables.",
    .effect = MECHP_READS,
    .status = 200,
    .reply = "@Fmu",
    .content = MECHP_JSON};
