/* Item types, examples, models without an instance. */
#include "protocol/wire/bodies.h"
#include "protocol/wire/row.h"

/* --- bodies --- */

const struct mechp_shape mechp_body_check_request = {
    .name = "CheckRequest",
    .doc = "A model to validate.",
    .request = true,
    .members = MECHP_MEMBERS({"model", "@Model", "the model", MECHP_IN(check_request, model)}),
    .example = "{\"model\":{\"mechd\":1}}"};

const struct mechp_shape mechp_body_check_reply = {
    .name = "CheckReply",
    .doc = "The model is valid.",
    .members = MECHP_MEMBERS({"ok", "boolean", "always true: an invalid model returns a problem",
                              MECHP_IN(check_reply, ok)},
                             {"warnings", "@Warning[]", "warnings about a valid model",
                              MECHP_MAY(check_reply, warnings)})};

const struct mechp_shape mechp_body_example = {
    .name = "ExampleEntry",
    .doc = "An example model.",
    .members = MECHP_MEMBERS({"name", "@Name",
                              "name, as for `example` of a request that creates an instance",
                              MECHP_IN(example, name)},
                             {"title", "string", "title", MECHP_MAY(example, title)},
                             {"doc", "string", "description", MECHP_MAY(example, doc)})};

const struct mechp_shape mechp_body_example_list = {
    .name = "ExampleList",
    .doc = "Example models.",
    .members =
        MECHP_MEMBERS({"items", "@ExampleEntry[]", "all of them", MECHP_IN(example_list, items)},
                      {"next", "null", "always null: there are no further pages", true})};

static const struct mechp_shape type_entry = {
    .name = "TypeEntry",
    .doc = "An item type, structure, integrator or solver.",
    .members = MECHP_MEMBERS({"type", "string", "name", true},
                             {"category", "string",
                              "name of its list in a model document, such as nodes or objects, or "
                              "its kind: structure, integrator, linear solver …",
                              true},
                             {"doc", "string", "description", true},
                             {"fields", "object[]", "its fields", false},
                             {"outputs", "string[]", "its output variables", false})};

static const struct mechp_shape type_list = {
    .name = "TypeList",
    .doc = "Every type.",
    .members = MECHP_MEMBERS({"items", "@TypeEntry[]", "all of them", true},
                             {"next", "null", "always null: there are no further pages", true},
                             {"outputVariables", "object[]",
                              "names and units of all output variables; null where the unit "
                              "depends on the item: coordinates of a rotation are in rad",
                              true})};

const struct mechp_shape mechp_body_warning = {
    .name = "Warning",
    .doc = "A warning about a valid model.",
    .members =
        MECHP_MEMBERS({"pointer", "string", "JSON pointer, RFC 6901", MECHP_IN(warning, pointer)},
                      {"message", "string", "the warning", MECHP_IN(warning, message)})};

const struct mechp_shape *const mechp_shapes_models[] = {&mechp_body_check_request,
                                                         &mechp_body_check_reply,
                                                         &mechp_body_example,
                                                         &mechp_body_example_list,
                                                         &type_entry,
                                                         &type_list,
                                                         &mechp_body_warning,
                                                         NULL};

/* --- routes --- */

const struct mechp_row mechp_row_EXAMPLES = {
    .tag = "models",
    .doc = "Names and titles of the models that are built into the server.",
    .effect = MECHP_READS,
    .cost = MECHP_COST_UNKNOWN,
    .status = 200,
    .reply = "@ExampleList",
    .content = MECHP_JSON};

const struct mechp_row mechp_row_EXAMPLE = {
    .tag = "models",
    .doc = "The model document, as a request to create an instance takes it.",
    .effect = MECHP_READS,
    .status = 200,
    .reply = "@Model",
    .content = MECHP_JSON};

const struct mechp_row mechp_row_CHECK = {
    .tag = "models",
    .doc = "Validates the model as for a new instance and reports every error with its JSON "
           "pointer. Nothing is created.",
    .effect = MECHP_READS,
    .cost = MECHP_COST_UNKNOWN,
    .traits = MECHP_TAKES_MODELS,
    .body = &mechp_body_check_request,
    .status = 200,
    .reply = "@CheckReply",
    .content = MECHP_JSON,
    .codes = MECHP_CODES(MECHP_INVALID_MODEL)};

const struct mechp_row mechp_row_TYPES = {
    .tag = "models",
    .doc = "Items, structures, integrators and solvers with their fields: type, unit, "
           "range, default and meaning.",
    .effect = MECHP_READS,
    .cost = MECHP_COST_UNKNOWN,
    .status = 200,
    .reply = "@TypeList",
    .content = MECHP_JSON};

const struct mechp_row mechp_row_TYPE = {.tag = "models",
                                         .doc = "The description of one type.",
                                         .effect = MECHP_READS,
                                         .status = 200,
                                         .reply = "@TypeEntry",
                                         .content = MECHP_JSON};
