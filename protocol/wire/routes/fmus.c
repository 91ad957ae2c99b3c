/* Uploaded FMUs: list, upload, one of them, delete. */
#include "protocol/wire/row.h"

/* --- bodies --- */

static const struct mechp_shape upload_fmu_request = {
    .name = "UploadFmuRequest",
    .doc = "An FMU as base64; over HTTP its bytes may be the whole body.",
    .request = true,
    .members = MECHP_MEMBERS({"fmu", "string", "the bytes of the .fmu as base64", true}),
    .example = "{\"fmu\":\"UEsDBBQAAAAIAA==\"}"};

static const struct mechp_shape fmu_variable = {
    .name = "FmuVariable",
    .doc = "A variable of an FMU, as its model description has it.",
    .members = MECHP_MEMBERS(
        {"name", "string", "name", true}, {"type", "string", "type as in FMI 3.0", true},
        {"causality", "string", "causality", true}, {"variability", "string", "variability", true},
        {"reference", "integer", "value reference", true},
        {"unit", "string", "unit, or empty", true}, {"description", "string", "in words", false},
        {"start", "any", "start value: a number, or an array of the first 64", false},
        {"minimum", "number", "least value", false}, {"maximum", "number", "greatest value", false},
        {"shown", "boolean", "an instance has it among its inputs, outputs and parameters", true})};

static const struct mechp_shape fmu = {
    .name = "Fmu",
    .doc = "An uploaded FMU.",
    .members = MECHP_MEMBERS(
        {"id", "@Name", "id", true}, {"modelName", "string", "name of the model", true},
        {"fmiVersion", "'2.0'|'3.0'", "version of FMI", true},
        {"description", "string", "in words, or empty", true},
        {"tool", "string", "that generated it, or empty", true},
        {"owner", "string|null", "name of the token that uploaded it", true},
        {"bytes", "integer", "of the archive", true},
        {"unpacked", "integer", "bytes of the files that its process may read", true},
        {"canSaveState", "boolean", "trials, snapshots and couplings are possible", true},
        {"canVaryStep", "boolean", "steps of any size are possible", true},
        {"startTime", "number|null", "s", true}, {"stopTime", "number|null", "s", true},
        {"stepSize", "number|null", "of the default experiment, s", true},
        {"variableCount", "integer", "number of its variables", true},
        {"variables", "@FmuVariable[]", "the first 10000, of one FMU", false})};

static const struct mechp_shape fmu_list = {
    .name = "FmuList",
    .doc = "Uploaded FMUs.",
    .members = MECHP_MEMBERS({"items", "@Fmu[]", "in the order of their upload", true},
                             {"next", "null", "always null: there are no further pages", true})};

const struct mechp_shape *const mechp_shapes_fmus[] = {&upload_fmu_request, &fmu_variable, &fmu,
                                                       &fmu_list, NULL};

/* --- routes --- */

const struct mechp_row mechp_row_FMUS = {.tag = "fmus",
                                         .doc = "FMUs of all tokens, without their variables.",
                                         .effect = MECHP_READS,
                                         .status = 200,
                                         .reply = "@FmuList",
                                         .content = MECHP_JSON};

const struct mechp_row mechp_row_UPLOAD_FMU = {
    .tag = "fmus",
    .doc = "An .fmu for co-simulation by FMI 2.0 or 3.0 with a binary for this machine. It is a "
           "program: a server accepts it only if it was started with `--fmus on`, and from tokens "
           "with the scope `fmu`. It runs in a process of its own for each instance, without "
           "files, network and other processes, with limits of memory and time. Uploads are not "
           "stored: they end with the server.",
    .access = MECHP_UPLOADS,
    .cost = MECHP_COST_UNKNOWN,
    .traits = MECHP_TAKES_MODELS,
    .body = &upload_fmu_request,
    .takes = {"application/vnd.fmi", "application/zip", "application/octet-stream"},
    .status = 201,
    .reply = "@Fmu",
    .content = MECHP_JSON,
    .codes = MECHP_CODES(MECHP_INVALID_FMU, MECHP_LIMIT_REACHED, MECHP_STORAGE_FAILED,
                         MECHP_QUOTA_EXCEEDED)};

const struct mechp_row mechp_row_DELETE_FMU = {
    .tag = "fmus",
    .doc = "Instances that were made of it continue, and it counts for quotas until the last of "
           "them is deleted. A token may delete its own, `admin` all.",
    .access = MECHP_UPLOADS,
    .traits = MECHP_AT_ONCE,
    .status = 204};

const struct mechp_row mechp_row_GET_FMU = {
    .tag = "fmus",
    .doc = "What its model description says, with its variables.",
    .effect = MECHP_READS,
    .status = 200,
    .reply = "@Fmu",
    .content = MECHP_JSON};
