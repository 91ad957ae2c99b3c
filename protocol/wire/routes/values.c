/* Inputs, outputs, parameters, the state, fields of live items. */
#include "protocol/wire/bodies_values.h"
#include "protocol/wire/queries.h"
#include "protocol/wire/row.h"

/* --- bodies --- */

const struct mechp_shape mechp_body_inputs = {
    .name = "Inputs",
    .doc = "Values of the inputs.",
    .members = MECHP_MEMBERS({"time", "number", "s", MECHP_IN(inputs, time)},
                             {"inputs", "@Value{}", "by name", MECHP_IN(inputs, inputs)},
                             {"impulses", "number[]{}",
                              "impulses of joints that this change has activated, by name, N s or "
                              "N m s, with the sign of lambda",
                              MECHP_MAY(inputs, impulses)})};

const struct mechp_shape mechp_body_set_inputs_request = {
    .name = "SetInputsRequest",
    .doc = "Inputs by name; null returns an input to the value of the model.",
    .request = true,
    .members =
        MECHP_MEMBERS({"inputs", "@InputValue{}", "by name", MECHP_IN(set_inputs_request, inputs)},
                      {"inputDerivatives", "@Derivatives{}", "time derivatives for extrapolation",
                       MECHP_MAY(set_inputs_request, derivatives)}),
    .example = "{\"inputs\":{\"force\":12.5}}"};

const struct mechp_shape mechp_body_item_output = {
    .name = "ItemOutput",
    .doc = "An output variable of an item.",
    .members = MECHP_MEMBERS(
        {"time", "number", "s", MECHP_IN(item_output, time)},
        {"name", "@Name", "the item", MECHP_IN(item_output, name)},
        {"variable", "string", "output variable", MECHP_IN(item_output, variable)},
        {"configuration", "string", "configuration", MECHP_IN(item_output, configuration)},
        {"unit", "string|null", "SI", MECHP_IN(item_output, unit)},
        {"value", "number[]", "its components", MECHP_IN(item_output, value)})};

const struct mechp_shape mechp_body_outputs = {
    .name = "Outputs",
    .doc = "Values of the outputs.",
    .members = MECHP_MEMBERS({"time", "number", "s", MECHP_IN(outputs, time)},
                             {"outputs", "@Value{}", "by name", MECHP_IN(outputs, outputs)})};

const struct mechp_shape mechp_body_parameters = {
    .name = "Parameters",
    .doc = "Values of the parameters.",
    .members =
        MECHP_MEMBERS({"time", "number", "s", MECHP_IN(parameters, time)},
                      {"parameters", "number{}", "by name", MECHP_IN(parameters, parameters)},
                      {"impulses", "number[]{}",
                       "impulses of joints that this change has activated, by name, N s or N m s, "
                       "with the sign of lambda",
                       MECHP_MAY(parameters, impulses)})};

const struct mechp_shape mechp_body_set_parameters_request = {
    .name = "SetParametersRequest",
    .doc = "Parameters by name.",
    .request = true,
    .members = MECHP_MEMBERS(
        {"parameters", "number{}", "by name", MECHP_IN(set_parameters_request, parameters)}),
    .example = "{\"parameters\":{\"k\":4000}}"};

const struct mechp_shape mechp_body_set_field_request = {
    .name = "SetFieldRequest",
    .doc = "The new value of a field.",
    .request = true,
    .members = MECHP_MEMBERS(
        {"value", "any", "as in a model document", MECHP_IN(set_field_request, value)},
        {"category", "'nodes'|'objects'|'markers'|'loads'|'sensors'|'interactions'",
         "category of the item (default objects); also as a query parameter",
         MECHP_MAY(set_field_request, category)},
        {"positions", "'kept'|'assembled'",
         "when `active` is set to true for a joint: kept (default): positions remain, and the "
         "request is refused if they violate the joint by more than 1e-6; assembled: they are "
         "moved to satisfy it",
         MECHP_MAY(set_field_request, positions)}),
    .example = "{\"value\":1.8}"};

const struct mechp_shape mechp_body_set_field = {
    .name = "SetFieldReply",
    .doc = "The field with its new value.",
    .members = MECHP_MEMBERS({"time", "number", "s", MECHP_IN(set_field, time)},
                             {"name", "@Name", "the item", MECHP_IN(set_field, name)},
                             {"field", "string", "the field", MECHP_IN(set_field, field)},
                             {"value", "any", "as in a model document", MECHP_IN(set_field, value)},
                             {"impulse", "number[]",
                              "impulse of a joint that has been activated (`active`), N s or N m "
                              "s, with the sign of lambda",
                              MECHP_MAY(set_field, impulse)})};

const struct mechp_shape mechp_body_state = {
    .name = "State",
    .doc = "The state.",
    .members = MECHP_MEMBERS(
        {"time", "number", "s", MECHP_IN(state, time)},
        {"step", "integer", "internal steps since the start", MECHP_IN(state, step)},
        {"q", "number[]", "total coordinates, m or rad", MECHP_IN(state, q)},
        {"v", "number[]", "velocities", MECHP_IN(state, v)},
        {"vdot", "number[]", "accelerations", MECHP_IN(state, vdot)},
        {"a", "number[]", "algorithmic accelerations", MECHP_IN(state, a)},
        {"lambda", "number[]", "multipliers", MECHP_IN(state, lambda)},
        {"impulse", "number[]",
         "impulses of the last step, N s, followed by multipliers of first-order systems",
         MECHP_IN(state, impulse)},
        {"x", "number[]", "first-order states", MECHP_IN(state, x)},
        {"z", "number[]", "data", MECHP_IN(state, z)},
        {"reproducible", "boolean",
         "after a snapshot was set: false if it was taken with another BLAS kernel or another "
         "version",
         MECHP_MAY(state, reproducible)},
        {"snapshot", "string", "the bytes of a snapshot as base64, if requested",
         MECHP_MAY(state, snapshot)})};

const struct mechp_shape mechp_body_state_hash = {
    .name = "StateHash",
    .doc = "A hash of all of the state that the next step reads; it does not include fields of the "
           "model that have been changed.",
    .members = MECHP_MEMBERS(
        {"time", "number", "s", MECHP_IN(state_hash, time)},
        {"step", "integer", "internal steps since the start", MECHP_IN(state_hash, step)},
        {"hash", "number[]", "its upper, then its lower 32 bits", MECHP_IN(state_hash, hash)})};

const struct mechp_shape mechp_body_set_state_request = {
    .name = "SetStateRequest",
    .doc = "The members that are given are set; the others keep their values. Accelerations and "
           "multipliers are then computed for this state; they are 0 where the integrator has none "
           "before a step, or where they cannot be computed.",
    .request = true,
    .members =
        MECHP_MEMBERS({"time", "number", "s", MECHP_MAY(set_state_request, time)},
                      {"q", "number[]", "total coordinates", MECHP_MAY(set_state_request, q)},
                      {"v", "number[]", "velocities", MECHP_MAY(set_state_request, v)},
                      {"x", "number[]", "first-order states", MECHP_MAY(set_state_request, x)},
                      {"z", "number[]", "data", MECHP_MAY(set_state_request, z)},
                      {"snapshot", "string",
                       "in place of all other members: the bytes of a snapshot of an instance of "
                       "the same model, as base64",
                       MECHP_MAY(set_state_request, snapshot)}),
    .example = "{\"q\":[0.1],\"v\":[0]}"};

const struct mechp_shape mechp_body_variable = {
    .name = "Variable",
    .doc = "A variable in FMI's terms.",
    .members = MECHP_MEMBERS(
        {"name", "string", "name", MECHP_IN(variable, name)},
        {"causality", "'input'|'output'|'parameter'|'independent'", "causality",
         MECHP_IN(variable, causality)},
        {"variability", "'continuous'|'tunable'|'fixed'", "variability",
         MECHP_IN(variable, variability)},
        {"unit", "string", "SI", MECHP_IN(variable, unit)},
        {"shape", "integer[]", "dimensions; empty for a scalar", MECHP_IN(variable, shape)},
        {"reference", "integer", "value reference", MECHP_IN(variable, reference)},
        {"start", "@Value", "start value, of inputs and parameters", MECHP_MAY(variable, start)})};

const struct mechp_shape mechp_body_variable_list = {
    .name = "VariableList",
    .doc = "Every variable.",
    .members =
        MECHP_MEMBERS({"items", "@Variable[]", "all of them", MECHP_IN(variable_list, items)},
                      {"next", "null", "always null: there are no further pages", true})};

const struct mechp_shape *const mechp_shapes_values[] = {&mechp_body_inputs,
                                                         &mechp_body_set_inputs_request,
                                                         &mechp_body_item_output,
                                                         &mechp_body_outputs,
                                                         &mechp_body_parameters,
                                                         &mechp_body_set_parameters_request,
                                                         &mechp_body_set_field_request,
                                                         &mechp_body_set_field,
                                                         &mechp_body_state,
                                                         &mechp_body_state_hash,
                                                         &mechp_body_set_state_request,
                                                         &mechp_body_variable,
                                                         &mechp_body_variable_list,
                                                         NULL};

/* --- routes --- */

const struct mechp_row mechp_row_GET_INPUTS = {.tag = "values",
                                               .doc = "The current values, by name.",
                                               .effect = MECHP_READS,
                                               .status = 200,
                                               .reply = "@Inputs",
                                               .content = MECHP_JSON};

const struct mechp_row mechp_row_SET_INPUTS = {
    .tag = "values",
    .doc = "Inputs that are not named keep their values; null returns an input to the value "
           "of the model. An input with derivatives is extrapolated during the following "
           "steps.",
    .traits = MECHP_WHILE_RUN | MECHP_SETS_INPUTS | MECHP_TELLS_ALL,
    .body = &mechp_body_set_inputs_request,
    .named = "@InputValue",
    .status = 200,
    .reply = "@Inputs",
    .content = MECHP_JSON};

const struct mechp_row mechp_row_SET_FIELD = {
    .tag = "values",
    .doc = "Changes stiffness, mass, active or any other field that GET /v1/types lists; of an "
           "interaction, active. The model is rebuilt, and continues from the current state.",
    .cost = MECHP_COST_UNKNOWN,
    .traits = MECHP_OF_MODEL | MECHP_WHILE_RUN | MECHP_TAKES_MODELS,
    .body = &mechp_body_set_field_request,
    .query = MECHP_QUERY(
        {"category", "'nodes'|'objects'|'markers'|'loads'|'sensors'|'interactions'",
         "Category of the item (default objects).", "\"objects\"", MECHP_ASKED(item, category)}),
    .status = 200,
    .reply = "@SetFieldReply",
    .content = MECHP_JSON};

const struct mechp_row mechp_row_ITEM_OUTPUT = {
    .tag = "values",
    .doc = "Position, Velocity, Rotation, Force and other output variables of any node, object, "
           "marker, load or sensor; of a body, at any of its points and in any configuration.",
    .effect = MECHP_READS,
    .traits = MECHP_OF_MODEL,
    .query = MECHP_QUERY(
        {"localPosition", "string", "A point of the body in its local frame: x,y,z in m.",
         "\"0,0,0\"", MECHP_ASKED(item, local_position)},
        {"configuration", "'current'|'reference'|'initial'|'startOfStep'",
         "Configuration (default current).", "\"reference\"", MECHP_ASKED(item, configuration)},
        {"category", "'nodes'|'objects'|'markers'|'loads'|'sensors'",
         "Category of the item (default objects).", "\"objects\"", MECHP_ASKED(item, category)}),
    .status = 200,
    .reply = "@ItemOutput",
    .content = MECHP_JSON,
    .codes = MECHP_CODES(MECHP_INVALID_REQUEST)};

const struct mechp_row mechp_row_OUTPUTS = {
    .tag = "values",
    .doc = "The values after the last communication step, by name. In row formats, time is "
           "the first column, followed by each component of each output.",
    .effect = MECHP_READS,
    .query = MECHP_QUERY(MECHP_FORMAT_QUERY),
    .status = 200,
    .reply = "@Outputs",
    .content = MECHP_JSON,
    .also = MECHP_ROWS,
    .codes = MECHP_CODES(MECHP_NOT_ACCEPTABLE)};

const struct mechp_row mechp_row_GET_PARAMETERS = {.tag = "values",
                                                   .doc = "The current values, by name.",
                                                   .effect = MECHP_READS,
                                                   .status = 200,
                                                   .reply = "@Parameters",
                                                   .content = MECHP_JSON};

const struct mechp_row mechp_row_SET_PARAMETERS = {
    .tag = "values",
    .doc = "Parameters that are not named keep their values. A parameter that determines "
           "the structure of the model cannot be changed.",
    .traits = MECHP_WHILE_RUN | MECHP_TELLS_ALL,
    .body = &mechp_body_set_parameters_request,
    .named = "number",
    .status = 200,
    .reply = "@Parameters",
    .content = MECHP_JSON};

const struct mechp_row mechp_row_GET_STATE = {
    .tag = "values",
    .doc =
        "Coordinates, velocities, accelerations, multipliers, impulses, first-order "
        "states and data. In row formats, time is the first column, followed by the "
        "vectors in the order of the JSON. With `snapshot=true` the JSON also has the bytes of a "
        "snapshot of this state as base64, as PUT takes them.",
    .effect = MECHP_READS,
    .cost = MECHP_COST_BY_SIZE,
    .traits = MECHP_OF_MODEL,
    .query = MECHP_QUERY(MECHP_FORMAT_QUERY,
                         {"snapshot", "boolean",
                          "true: include the bytes of a snapshot, with the model (JSON only).",
                          "true", MECHP_ASKED(state, snapshot)}),
    .status = 200,
    .reply = "@State",
    .content = MECHP_JSON,
    .also = MECHP_ROWS,
    .codes = MECHP_CODES(MECHP_NOT_ACCEPTABLE, MECHP_INVALID_REQUEST)};

const struct mechp_row mechp_row_HASH = {
    .tag = "values",
    .doc = "Hash of all bits of the state that the next step reads: time, coordinates, velocities, "
           "inputs, parameters and more, but not fields of the model that have been changed. Two "
           "instances of the same model with the same fields, on servers of the same build, give "
           "bit-identical results from then on if their hashes are equal.",
    .effect = MECHP_READS,
    .cost = MECHP_COST_BY_SIZE,
    .traits = MECHP_OF_MODEL,
    .status = 200,
    .reply = "@StateHash",
    .content = MECHP_JSON};

const struct mechp_row mechp_row_SET_STATE = {
    .tag = "values",
    .doc =
        "Replaces the given vectors; accelerations and multipliers are computed for the new state. "
        "Also accepts a row in NPY or float64 format as returned by GET, of which time, q, v, x "
        "and z are used; and the bytes of a snapshot of an instance of the same model, here or on "
        "another server: the instance then has its state, inputs and parameters. Bytes that are "
        "damaged or of another model are refused with the reason, and nothing changes.",
    .cost = MECHP_COST_BY_SIZE,
    .traits = MECHP_OF_MODEL | MECHP_TELLS_ALL | MECHP_TAKES_MODELS,
    .body = &mechp_body_set_state_request,
    .takes = {"application/x-npy", "application/octet-stream", "application/vnd.mechd.snapshot"},
    .status = 200,
    .reply = "@State",
    .content = MECHP_JSON,
    .codes = MECHP_CODES(MECHP_NOT_FINITE, MECHP_SNAPSHOT_MISMATCH)};

const struct mechp_row mechp_row_VARIABLES = {
    .tag = "values",
    .doc = "Name, causality, variability, unit, shape, start value and value reference of "
           "each input, output and parameter.",
    .effect = MECHP_READS,
    .status = 200,
    .reply = "@VariableList",
    .content = MECHP_JSON};
