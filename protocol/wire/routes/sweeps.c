/* Parameter studies. */
#include "protocol/wire/bodies.h"
#include "protocol/wire/bodies_coupling.h"
#include "protocol/wire/routes/shared.h"
#include "protocol/wire/row.h"

/* --- bodies --- */

const struct mechp_shape mechp_body_sweep = {
    .name = "Sweep",
    .doc = "A sweep and its progress.",
    .members = MECHP_MEMBERS(
        {"id", "@Name", "id", MECHP_IN(sweep, id)},
        {"name", "string", "name of the model", MECHP_IN(sweep, name)},
        {"state", "'running'|'finished'|'stopped'|'interrupted'",
         "state; interrupted: the process of the server ended during "
         "the sweep",
         MECHP_IN(sweep, state)},
        {"points", "integer", "number of points, the sets of parameter values",
         MECHP_IN(sweep, points)},
        {"done", "integer", "number of finished points, including failed ones",
         MECHP_IN(sweep, done)},
        {"failed", "integer", "number of failed points; each has a row of nulls",
         MECHP_IN(sweep, failed)},
        {"stored", "boolean", "its rows are stored on disk", MECHP_IN(sweep, stored)},
        {"parameters", "string[]", "names, in the order of the columns",
         MECHP_IN(sweep, parameters)},
        {"outputs", "string[]", "names, in the order of the columns", MECHP_IN(sweep, outputs)},
        {"errors", "@SweepError[]", "errors of the first 100 failed points",
         MECHP_MAY(sweep, errors)})};

const struct mechp_shape mechp_body_sweep_error = {
    .name = "SweepError",
    .doc = "Error of a point of a sweep.",
    .members = MECHP_MEMBERS(
        {"point", "integer", "its number, from 0", MECHP_IN(sweep_error, point)},
        {"code", "string", "code of the error", MECHP_IN(sweep_error, code)},
        {"message", "string", "description of the error", MECHP_IN(sweep_error, message)})};

const struct mechp_shape mechp_body_sweep_list = {
    .name = "SweepList",
    .doc = "Sweeps.",
    .members = MECHP_MEMBERS(
        {"items", "@Sweep[]", "in the order of their creation", MECHP_IN(sweep_list, items)},
        {"next", "null", "always null: there are no further pages", true})};

const struct mechp_shape mechp_body_sweep_participant = {
    .name = "SweepParticipant",
    .doc = "A participant of a coupling; each point creates its own from this model.",
    .request = true,
    .members = MECHP_MEMBERS(
        {"name", "@Name", "its name in the coupling", MECHP_IN(sweep_participant, name)},
        {"model", "@Model", "a model document", MECHP_MAY(sweep_participant, model)},
        {"example", "@Name", "or the name of one of /v1/examples",
         MECHP_MAY(sweep_participant, example)})};

static const struct mechp_shape sweep_coupling = {
    .name = "SweepCoupling",
    .doc = "A coupling as for POST /v1/couplings, with models in place of instances.",
    .request = true,
    .members = MECHP_MEMBERS(MECHP_COUPLING_MEMBERS("@SweepParticipant[]", "what is coupled"))};

const struct mechp_shape mechp_body_sweep_request = {
    .name = "SweepRequest",
    .doc = "A model, an FMU or a coupling, the values of its parameters, and the end of the "
           "simulation.",
    .request = true,
    .members = MECHP_MEMBERS(
        {"model", "@Model", "a model document", MECHP_MAY(sweep_request, model)},
        {"example", "@Name", "or the name of one of /v1/examples",
         MECHP_MAY(sweep_request, example)},
        {"fmu", "@Name", "or the id of an uploaded FMU", MECHP_MAY(sweep_request, fmu)},
        {"start", "object", "with fmu: start values of inputs and parameters, by name",
         MECHP_MAY(sweep_request, start)},
        {"coupling", "@SweepCoupling", "or a coupling of several models",
         MECHP_MAY(sweep_request, coupling)},
        {"parameters", "object",
         "{\"grid\": {name: numbers or {\"from\", \"to\", \"count\"}}}: all combinations, where "
         "the last name changes fastest; or {\"list\": [{name: number}]}. A name is that of a "
         "parameter; for an FMU, of a parameter or an input; for a coupling, "
         "\"participant/parameter\", or a JSON pointer to a number in it, such as \"/stepSize\" or "
         "\"/connections/0/factor\"",
         MECHP_IN(sweep_request, parameters)},
        {"until", "number", "end time, s", MECHP_MAY(sweep_request, until)},
        {"count", "integer 1..1000000000000",
         "or the number of internal steps; of a coupling, the number of windows",
         MECHP_MAY(sweep_request, count)},
        {"outputs", "string[]", "outputs to record (default all)",
         MECHP_MAY(sweep_request, outputs)},
        {"record", "@SweepRecord", "record rows during the simulation, not only at its end",
         MECHP_MAY(sweep_request, record)}),
    .example = "{\"example\":\"spring-mass-damper\",\"parameters\":{\"grid\":{\"k\":{\"from\":1000,"
               "\"to\":4000,\"count\":4}}},\"count\":100}"};

const struct mechp_shape mechp_body_sweep_record = {
    .name = "SweepRecord",
    .doc = "Recording of rows for each point, including its start.",
    .request = true,
    .members = MECHP_MEMBERS({"every", "integer",
                              "internal steps, or windows of a coupling, from one row to the next "
                              "(default 1); with `until` and adaptive windows, the rows of windows "
                              "of size adaptive.minimum must fit into the limit of rows",
                              MECHP_MAY(sweep_record, every)})};

/* These two stand in the text of `parameters`: a grid has names of its own. */
const struct mechp_shape mechp_body_sweep_parameters = {
    .name = "SweepParameters",
    .doc = "Values of parameters: exactly one of grid and list.",
    .request = true,
    .members = MECHP_MEMBERS({"grid", "any", "axes by name", MECHP_MAY(sweep_parameters, grid)},
                             {"list", "any", "points", MECHP_MAY(sweep_parameters, list)})};

const struct mechp_shape mechp_body_sweep_axis = {
    .name = "SweepAxis",
    .doc = "Equally spaced values, both ends included.",
    .request = true,
    .members =
        MECHP_MEMBERS({"from", "number", "first", MECHP_IN(sweep_axis, from)},
                      {"to", "number", "last", MECHP_IN(sweep_axis, to)},
                      {"count", "integer 1..1000000", "how many", MECHP_IN(sweep_axis, count)})};

static const struct mechp_shape sweep_table = {
    .name = "SweepTable",
    .doc = "Rows of the finished points.",
    .members =
        MECHP_MEMBERS({"columns", "string[]", "point, parameters, time, outputs", true},
                      {"rows", "any[][]",
                       "one row or block of rows for each point; nulls for a failed point", true})};

const struct mechp_shape *const mechp_shapes_sweeps[] = {&mechp_body_sweep,
                                                         &mechp_body_sweep_error,
                                                         &mechp_body_sweep_list,
                                                         &mechp_body_sweep_participant,
                                                         &sweep_coupling,
                                                         &mechp_body_sweep_request,
                                                         &mechp_body_sweep_record,
                                                         &sweep_table,
                                                         NULL};

/* --- routes --- */

const struct mechp_row mechp_row_SWEEPS = {
    .tag = "sweeps",
    .doc = "Sweeps in progress and finished sweeps that have not been deleted.",
    .effect = MECHP_READS,
    .status = 200,
    .reply = "@SweepList",
    .content = MECHP_JSON};

const struct mechp_row mechp_row_SWEEP = {
    .tag = "sweeps",
    .doc =
        "For each point, a set of parameter values, the server creates a private instance of the "
        "model with these values and steps it to the end; for an FMU, a process with these start "
        "values; for a coupling, private instances of all participants, which step window by "
        "window. A failed point has a row of nulls and an entry in `errors`. Rows are retained "
        "until the sweep is deleted, also after a restart if the server has a state directory.",
    .cost = MECHP_COST_UNKNOWN,
    .traits = MECHP_TAKES_MODELS | MECHP_STORES | MECHP_CLOSES,
    .body = &mechp_body_sweep_request,
    .of_id = MECHP_ID_CHOSEN,
    .status = 202,
    .reply = "@Sweep|@Operation",
    .content = MECHP_JSON,
    .codes = MECHP_CODES(MECHP_INVALID_MODEL, MECHP_LIMIT_REACHED, MECHP_QUOTA_EXCEEDED)};

const struct mechp_row mechp_row_DELETE_SWEEP = {
    .tag = "sweeps",
    .doc = "Points in progress are cancelled, and the rows are deleted.",
    .traits = MECHP_STORES,
    .status = 204};

const struct mechp_row mechp_row_GET_SWEEP = {
    .tag = "sweeps",
    .doc = "Number of finished points, and the reasons for failures.",
    .effect = MECHP_READS,
    .status = 200,
    .reply = "@Sweep",
    .content = MECHP_JSON};

const struct mechp_row mechp_row_SWEEP_RESULTS = {
    .tag = "sweeps",
    .doc = "Rows in the order of the points: number of the point, parameters, time, "
           "outputs. While the sweep is in progress, only finished points.",
    .effect = MECHP_READS,
    .cost = MECHP_COST_UNKNOWN,
    .query = MECHP_QUERY(MECHP_FORMAT_QUERY),
    .status = 200,
    .reply = "@SweepTable",
    .content = MECHP_JSON,
    .also = MECHP_ROWS,
    .codes = MECHP_CODES(MECHP_NOT_ACCEPTABLE)};
