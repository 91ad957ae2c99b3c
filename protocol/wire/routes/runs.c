/* Runs: an instance that the server steps by itself, and what it records. */
#include "protocol/wire/bodies.h"
#include "protocol/wire/queries.h"
#include "protocol/wire/row.h"

/* --- bodies --- */

static const struct mechp_shape results = {
    .name = "Results",
    .doc = "Recorded outputs of a run.",
    .members = MECHP_MEMBERS(
        {"columns", "string[]", "time, then each value of each output", true},
        {"rows", "number[][]", "one row for each time", true},
        {"next", "number|null", "`from` of the next page, s, if `limit` was reached", true})};

const struct mechp_shape mechp_body_run = {
    .name = "Run",
    .doc = "A run.",
    .members = MECHP_MEMBERS(
        {"id", "@Name", "id", MECHP_IN(run, id)},
        {"state", "'running'|'finished'|'stopped'|'failed'|'interrupted'",
         "state of the run; interrupted: the process of the server ended during the run",
         MECHP_IN(run, state)},
        {"pace", "number", "simulated seconds per second; 0: as fast as possible",
         MECHP_IN(run, pace)},
        {"period", "number", "communication step, s", MECHP_IN(run, period)},
        {"start", "number", "start time, s", MECHP_IN(run, start)},
        {"until", "number|null", "end time, s", MECHP_IN(run, until)},
        {"time", "number", "current time, s", MECHP_IN(run, time)},
        {"periods", "integer", "communication steps done", MECHP_IN(run, periods)},
        {"overruns", "integer", "periods that began more than one period late",
         MECHP_IN(run, overruns)},
        {"fraction", "number|null",
         "part of the run that is done, 0 to 1; null: the run has no end", MECHP_IN(run, fraction)},
        {"elapsed", "number", "wall-clock time since its start, s", MECHP_IN(run, elapsed)},
        {"remaining", "number|null", "estimated wall-clock time to its end, s",
         MECHP_IN(run, remaining)},
        {"record", "@RunRecorded", "what is recorded", MECHP_MAY(run, record)},
        {"recorded", "integer", "rows recorded so far, while they are retained",
         MECHP_MAY(run, recorded)},
        {"reason", "string",
         "reason for the failure or interruption; of a stopped run: why the process of a hosted "
         "FMU was ended, if its state could not be restored",
         MECHP_MAY(run, reason)},
        {"warnings", "@Warning[]",
         "of a coupling: windows larger than `largestStable` of the last stability report, if any",
         MECHP_MAY(run, warnings)})};

const struct mechp_shape mechp_body_run_list = {
    .name = "RunList",
    .doc = "The last runs.",
    .members = MECHP_MEMBERS({"items", "@Run[]", "newest first", MECHP_IN(run_list, items)},
                             {"next", "null", "always null: there are no further pages", true})};

const struct mechp_shape mechp_body_run_record = {
    .name = "RunRecord",
    .doc = "What a run records: at the start, at regular intervals, and at the end.",
    .request = true,
    .members = MECHP_MEMBERS(
        {"every", "integer", "periods from one row to the next (default 1)",
         MECHP_MAY(run_record, every)},
        {"seconds", "number",
         "in place of `every`: simulated seconds from one row to the next, a multiple of the "
         "period",
         MECHP_MAY(run_record, seconds)},
        {"outputs", "string[]", "names of outputs (default all)", MECHP_MAY(run_record, outputs)},
        {"inputs", "boolean",
         "record the inputs too, as columns `input:NAME`; null where the value of the model is "
         "used",
         MECHP_MAY(run_record, inputs)},
        {"hash", "boolean",
         "record a hash of the state too, in the two columns of `state:hash`: its upper and its "
         "lower 32 bits",
         MECHP_MAY(run_record, hash)})};

const struct mechp_shape mechp_body_run_recorded = {
    .name = "RunRecorded",
    .doc = "What is recorded of a run.",
    .members = MECHP_MEMBERS(
        {"every", "integer", "periods from one row to the next", MECHP_IN(run_recorded, every)},
        {"inputs", "boolean", "true: the inputs too", MECHP_MAY(run_recorded, inputs)},
        {"hash", "boolean", "true: a hash of the state too", MECHP_MAY(run_recorded, hash)},
        {"outputs", "string[]", "names of outputs", MECHP_IN(run_recorded, outputs)})};

const struct mechp_shape mechp_body_run_request = {
    .name = "RunRequest",
    .doc = "A run, in real time or as fast as possible.",
    .request = true,
    .members = MECHP_MEMBERS(
        {"pace", "number", "simulated seconds per second (default 0: as fast as possible)",
         MECHP_MAY(run_request, pace)},
        {"period", "number", "communication step, s", MECHP_MAY(run_request, period)},
        {"until", "number", "end time, s (default none: until it is stopped)",
         MECHP_MAY(run_request, until)},
        {"count", "integer 1..1000000000000", "number of periods, instead of until",
         MECHP_MAY(run_request, count)},
        {"record", "@RunRecord", "record outputs for …/results; the run must have an end",
         MECHP_MAY(run_request, record)}),
    .example = "{\"pace\":1,\"period\":0.02,\"count\":50,\"record\":{}}"};

const struct mechp_shape *const mechp_shapes_runs[] = {&results,
                                                       &mechp_body_run,
                                                       &mechp_body_run_list,
                                                       &mechp_body_run_record,
                                                       &mechp_body_run_recorded,
                                                       &mechp_body_run_request,
                                                       NULL};

/* --- queries --- */

static const struct mechp_parameter rate[] = {
    {"rate", "number 0.1..60", "Maximum events per second.", "10", MECHP_ASKED(events, rate)},
    {NULL, NULL, NULL, NULL, 0}};

/* Of the rows. */
static const struct mechp_parameter part[] = {
    MECHP_FORMAT_QUERY,
    {"from", "number", "Start of the time interval, s.", "0", MECHP_ASKED(results, from)},
    {"to", "number", "End of the time interval, s.", "1", MECHP_ASKED(results, to)},
    {"outputs", "string", "Names of outputs, separated by commas.", "\"x\"",
     MECHP_ASKED(results, outputs)},
    {"limit", "integer 1..", "Maximum number of rows.", "1000", MECHP_ASKED(results, limit)},
    {NULL, NULL, NULL, NULL, 0}};

static const struct mechp_parameter part_of_coupling[] = {
    MECHP_FORMAT_QUERY,
    {"from", "number", "Start of the time interval, s.", "0", MECHP_ASKED(results, from)},
    {"to", "number", "End of the time interval, s.", "1", MECHP_ASKED(results, to)},
    {"outputs", "string", "Names of outputs, separated by commas.", "\"cart.x\"",
     MECHP_ASKED(results, outputs)},
    {"limit", "integer 1..", "Maximum number of rows.", "1000", MECHP_ASKED(results, limit)},
    {NULL, NULL, NULL, NULL, 0}};

/* --- routes --- */

const struct mechp_row mechp_row_RUNS = {.tag = "stepping",
                                         .doc = "The last 16 runs of the instance, newest first.",
                                         .effect = MECHP_READS,
                                         .traits = MECHP_STATELESS,
                                         .status = 200,
                                         .reply = "@RunList",
                                         .content = MECHP_JSON};

const struct mechp_row mechp_row_START_RUN = {
    .tag = "stepping",
    .doc = "The server steps the instance on its own, in real time or as fast as possible; "
           "other commands are served between two periods, of a run that is late or has no "
           "pace about every millisecond. Only one run at a time; other changes of the state "
           "are refused with 409 until it ends. Recorded rows take at most 64 MiB in memory, "
           "or 1 GiB on disk if the instance is stored; rows of older runs are discarded first.",
    .body = &mechp_body_run_request,
    .of_id = "the path contains the id of the instance; the server chooses the id of the run",
    .status = 202,
    .reply = "@Run|@Operation",
    .content = MECHP_JSON,
    .codes = MECHP_CODES(MECHP_LIMIT_REACHED, MECHP_QUOTA_EXCEEDED)};

const struct mechp_row mechp_row_STOP_RUN = {
    .tag = "stepping",
    .doc = "The run ends immediately: a period in progress is undone, and the state returns "
           "to the start of that period. If it is one of a hosted FMU that cannot save its state, "
           "the process of the FMU is ended instead, as `reason` says. Recorded rows remain "
           "available.",
    .effect = MECHP_BESIDE,
    .traits = MECHP_WHILE_RUN | MECHP_STATELESS | MECHP_FLEETING,
    .status = 200,
    .reply = "@Run",
    .content = MECHP_JSON};

const struct mechp_row mechp_row_RUN = {
    .tag = "stepping",
    .doc = "Progress, number of late periods, and the reason for a failure.",
    .effect = MECHP_READS,
    .traits = MECHP_STATELESS,
    .status = 200,
    .reply = "@Run",
    .content = MECHP_JSON};

const struct mechp_row mechp_row_RUN_EVENTS = {
    .tag = "stepping",
    .doc = "Server-sent events: `row` for every recorded row, with its number as id; "
           "`progress`, at most `rate` per second; `end` when the run is over. With "
           "Last-Event-ID the stream resumes after that row, also after a restart of the "
           "server.",
    .effect = MECHP_READS,
    .query = rate,
    .traits = MECHP_FOLLOWS_RUN,
    .status = 200,
    .content = "text/event-stream",
    .codes = MECHP_CODES(MECHP_INVALID_REQUEST)};

const struct mechp_row mechp_row_DELETE_RESULTS = {
    .tag = "stepping",
    .doc = "Deletes the rows of a finished run; the run itself remains listed.",
    .traits = MECHP_WHILE_RUN,
    .status = 204,
    .codes = MECHP_CODES(MECHP_RUN_IN_PROGRESS)};

const struct mechp_row mechp_row_RESULTS = {
    .tag = "stepping",
    .doc = "Rows of time and outputs of a run started with `record`, also while it is in "
           "progress. `from` and `to` select a time interval, `outputs` selects columns. If "
           "there are more than `limit` rows, `next` is the time at which the next page "
           "begins.",
    .effect = MECHP_READS,
    .cost = MECHP_COST_UNKNOWN,
    .query = part,
    .status = 200,
    .reply = "@Results",
    .content = MECHP_JSON,
    .also = MECHP_ROWS,
    .codes = MECHP_CODES(MECHP_NOT_ACCEPTABLE, MECHP_INVALID_REQUEST)};

/* --- of couplings --- */

const struct mechp_row mechp_row_COUPLING_RUNS = {
    .tag = "couplings",
    .doc = "The last 16 runs of the coupling, newest first.",
    .effect = MECHP_READS,
    .traits = MECHP_OF_COUPLING | MECHP_STATELESS,
    .status = 200,
    .reply = "@RunList",
    .content = MECHP_JSON};

const struct mechp_row mechp_row_START_COUPLING_RUN = {
    .tag = "couplings",
    .doc = "The server steps the coupling on its own. A period is one window of stepSize, or "
           "`period` seconds in windows of at most stepSize. Other commands are served between "
           "two windows; steps, commits, resets and restores are refused with 409 until the run "
           "ends. Outputs are named participant.output. A window that fails ends the run, which is "
           "`failed` with the reason; the windows before it remain. Recorded rows take at most 64 "
           "MiB in memory; rows of older runs are discarded first.",
    .traits = MECHP_OF_COUPLING | MECHP_STORES,
    .body = &mechp_body_run_request,
    .of_id = MECHP_ID_CHOSEN,
    .status = 202,
    .reply = "@Run|@Operation",
    .content = MECHP_JSON,
    .codes = MECHP_CODES(MECHP_LIMIT_REACHED, MECHP_QUOTA_EXCEEDED)};

const struct mechp_row mechp_row_STOP_COUPLING_RUN = {
    .tag = "couplings",
    .doc = "The run ends immediately: a window in progress is undone by all participants. Recorded "
           "rows remain available.",
    .effect = MECHP_BESIDE,
    .traits = MECHP_OF_COUPLING | MECHP_WHILE_RUN | MECHP_STATELESS | MECHP_STORES,
    .status = 200,
    .reply = "@Run",
    .content = MECHP_JSON};

const struct mechp_row mechp_row_COUPLING_RUN = {
    .tag = "couplings",
    .doc = "Progress, number of late periods, and the reason for a failure.",
    .effect = MECHP_READS,
    .traits = MECHP_OF_COUPLING | MECHP_STATELESS,
    .status = 200,
    .reply = "@Run",
    .content = MECHP_JSON};

const struct mechp_row mechp_row_COUPLING_RUN_EVENTS = {
    .tag = "couplings",
    .doc = "Server-sent events: `row` for every recorded row, with its number as id; `progress`, "
           "at most `rate` per second; `end` when the run is over. With Last-Event-ID the stream "
           "resumes after that row.",
    .effect = MECHP_READS,
    .traits = MECHP_OF_COUPLING | MECHP_FOLLOWS_RUN,
    .query = rate,
    .status = 200,
    .content = "text/event-stream",
    .codes = MECHP_CODES(MECHP_INVALID_REQUEST)};

const struct mechp_row mechp_row_DELETE_COUPLING_RESULTS = {
    .tag = "couplings",
    .doc = "Deletes the rows of a finished run; the run itself remains listed.",
    .traits = MECHP_OF_COUPLING | MECHP_WHILE_RUN | MECHP_STORES,
    .status = 204,
    .codes = MECHP_CODES(MECHP_RUN_IN_PROGRESS)};

const struct mechp_row mechp_row_COUPLING_RESULTS = {
    .tag = "couplings",
    .doc = "Rows of time and outputs of a run started with `record`, also while it is in progress. "
           "`from` and `to` select a time interval, `outputs` selects columns. If there are more "
           "than `limit` rows, `next` is the time at which the next page begins.",
    .effect = MECHP_READS,
    .cost = MECHP_COST_UNKNOWN,
    .traits = MECHP_OF_COUPLING,
    .query = part_of_coupling,
    .status = 200,
    .reply = "@Results",
    .content = MECHP_JSON,
    .also = MECHP_ROWS,
    .codes = MECHP_CODES(MECHP_NOT_ACCEPTABLE, MECHP_INVALID_REQUEST)};
