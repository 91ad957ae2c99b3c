/* Probes, documents, version and limits, the token, operations in the background. */
#include "protocol/wire/bodies.h"
#include "protocol/wire/bodies_service.h"
#include "protocol/wire/row.h"

/* --- bodies --- */

const struct mechp_shape mechp_body_about = {
    .name = "About",
    .doc = "Version, libraries and limits of the server.",
    .members = MECHP_MEMBERS(
        {"name", "string", "mechd", MECHP_IN(about, name)},
        {"version", "string", "version of the server", MECHP_IN(about, version)},
        {"compiler", "string", "version of the compiler that built it", MECHP_IN(about, compiler)},
        {"libraries", "@AboutLibraries", "libraries and their versions",
         MECHP_IN(about, libraries)},
        {"limits", "@AboutLimits", "limits beyond which requests are refused",
         MECHP_IN(about, limits)},
        {"enabled", "@AboutEnabled", "what is available", MECHP_IN(about, enabled)},
        {"endpoints", "@AboutEndpoints", "addresses", MECHP_IN(about, endpoints)},
        {"who", "@AboutWho", "the client's token", MECHP_IN(about, who)},
        {"serverKey", "string",
         "public key of the ZeroMQ sockets, 64 hexadecimal digits, if they use CURVE",
         MECHP_MAY(about, server_key)},
        {"instances", "integer", "number of instances", MECHP_IN(about, instances)})};

const struct mechp_shape mechp_body_about_libraries = {
    .name = "AboutLibraries",
    .doc = "Versions of the libraries of the server.",
    .members = MECHP_MEMBERS(
        {"blas", "string", "OpenBLAS, with its kernel", MECHP_IN(about_libraries, blas)},
        {"jansson", "string", "JSON", MECHP_IN(about_libraries, jansson)},
        {"libmicrohttpd", "string", "HTTP", MECHP_IN(about_libraries, libmicrohttpd)},
        {"zeromq", "string", "ZeroMQ", MECHP_IN(about_libraries, zeromq)})};

const struct mechp_shape mechp_body_about_limits = {
    .name = "AboutLimits",
    .doc = "Limits beyond which requests are refused.",
    .members = MECHP_MEMBERS(
        {"instances", "integer", "largest number of instances", MECHP_IN(about_limits, instances)},
        {"queue", "integer", "largest number of requests that wait for one instance",
         MECHP_IN(about_limits, queue)},
        {"body", "integer", "largest size of a body, bytes", MECHP_IN(about_limits, body)},
        {"model", "integer", "largest size of a model, bytes", MECHP_IN(about_limits, model)})};

const struct mechp_shape mechp_body_about_enabled = {
    .name = "AboutEnabled",
    .doc = "What the server is built and configured for.",
    .members = MECHP_MEMBERS(
        {"engines", "string[]", "engines that can compute an instance: solver, fmu",
         MECHP_IN(about_enabled, engines)},
        {"durability", "string[]", "modes of durability", MECHP_IN(about_enabled, durability)},
        {"fmus", "boolean", "FMUs are accepted", MECHP_IN(about_enabled, fmus)},
        {"workers", "integer", "threads that compute", MECHP_IN(about_enabled, workers)})};

const struct mechp_shape mechp_body_about_endpoints = {
    .name = "AboutEndpoints",
    .doc = "Addresses of the server's endpoints; null: not open.",
    .members = MECHP_MEMBERS(
        {"http", "string|null", "HTTP", MECHP_IN(about_endpoints, http)},
        {"control", "string|null", "ZeroMQ, requests", MECHP_IN(about_endpoints, control)},
        {"stream", "string|null", "ZeroMQ, outputs", MECHP_IN(about_endpoints, stream)},
        {"forces", "string|null", "ZeroMQ, inputs that are set without a reply",
         MECHP_IN(about_endpoints, forces)},
        {"lane", "string|null", "the lane: frames and JSON over a stream socket",
         MECHP_IN(about_endpoints, lane)})};

const struct mechp_shape mechp_body_about_who = {
    .name = "AboutWho",
    .doc = "The client's token.",
    .members = MECHP_MEMBERS(
        {"name", "string|null", "null: the server has no tokens", MECHP_IN(about_who, name)},
        {"scope", MECHP_SCOPES_TYPE, "what it may do", MECHP_IN(about_who, scope)})};

const struct mechp_shape mechp_body_log_level = {
    .name = "LogLevel",
    .doc = "The level of the log.",
    .request = true,
    .members = MECHP_MEMBERS({"level", "'error'|'warning'|'info'|'debug'",
                              "least severe level that is logged", MECHP_IN(log_level, level)}),
    .example = "{\"level\":\"debug\"}"};

const struct mechp_shape mechp_body_quota = {
    .name = "Quota",
    .doc = "Limits and current use of a token.",
    .members = MECHP_MEMBERS(
        {"token", "string", "name of the token; empty if the server has no tokens",
         MECHP_IN(quota, token)},
        {"limits", "number{}", "limits that are set; times in s, memory in bytes",
         MECHP_IN(quota, limits)},
        {"used", "number{}", "current use; cpu: processor time so far, s", MECHP_IN(quota, used)})};

const struct mechp_shape mechp_body_operation = {
    .name = "Operation",
    .doc = "A request that continues in the background, as the client preferred.",
    .members = MECHP_MEMBERS(
        {"id", "@Name", "id", MECHP_IN(operation, id)},
        {"operation", "string", "name of the operation over ZeroMQ, or empty",
         MECHP_IN(operation, operation)},
        {"state", "'running'|'finished'",
         "finished: `status` and `answer` are those of its response", MECHP_IN(operation, state)},
        {"status", "integer", "HTTP status of the response", MECHP_MAY(operation, status)},
        {"location", "string", "URL of the resource that it created",
         MECHP_MAY(operation, location)},
        {"etag", "string", "ETag of the instance after it", MECHP_MAY(operation, etag)},
        {"answer", "any", "the response, or the problem", MECHP_MAY(operation, answer)})};

const struct mechp_shape *const mechp_shapes_service[] = {
    &mechp_body_about,           &mechp_body_about_libraries,
    &mechp_body_about_limits,    &mechp_body_about_enabled,
    &mechp_body_about_endpoints, &mechp_body_about_who,
    &mechp_body_log_level,       &mechp_body_quota,
    &mechp_body_operation,       NULL};

/* --- routes --- */

const struct mechp_row mechp_row_PAGE = {
    .tag = "service",
    .doc = "The dashboard for a browser. It loads everything from this server.",
    .access = MECHP_OPEN,
    .effect = MECHP_READS,
    .traits = MECHP_FILE,
    .status = 200,
    .content = "text/html"};

const struct mechp_row mechp_row_DOCS = {
    .tag = "service",
    .doc = "This document as a web page. It needs neither scripts nor a network.",
    .access = MECHP_OPEN,
    .effect = MECHP_READS,
    .status = 200,
    .content = "text/html"};

const struct mechp_row mechp_row_LIVEZ = {
    .tag = "service",
    .doc = "Returns 200 while the process runs. Requires no token and waits for no instance.",
    .access = MECHP_OPEN,
    .effect = MECHP_READS,
    .traits = MECHP_PROBE,
    .status = 200,
    .content = "text/plain"};

const struct mechp_row mechp_row_METRICS = {
    .tag = "service",
    .doc = "Counters, gauges and histograms in Prometheus text format: requests by route "
           "and status, steps, queues, bytes, dropped frames.",
    .effect = MECHP_READS,
    .traits = MECHP_PROBE,
    .status = 200,
    .content = "text/plain"};

const struct mechp_row mechp_row_OPENAPI = {
    .tag = "service",
    .doc = "This document, generated from the tables that the server uses.",
    .access = MECHP_OPEN,
    .effect = MECHP_READS,
    .cost = MECHP_COST_UNKNOWN,
    .status = 200,
    .reply = "object",
    .content = MECHP_JSON};

const struct mechp_row mechp_row_READYZ = {
    .tag = "service",
    .doc = "200 while all endpoints are open and changes can be stored; 503 during start-up and "
           "shutdown; 507 while changes cannot be stored.",
    .access = MECHP_OPEN,
    .effect = MECHP_READS,
    .traits = MECHP_PROBE,
    .status = 200,
    .content = "text/plain",
    .codes = MECHP_CODES(MECHP_DRAINING, MECHP_STORAGE_FAILED)};

const struct mechp_row mechp_row_ABOUT = {
    .tag = "service",
    .doc = "Version and build of the server, versions of its libraries, and the limits "
           "beyond which requests are refused.",
    .effect = MECHP_READS,
    .status = 200,
    .reply = "@About",
    .content = MECHP_JSON};

const struct mechp_row mechp_row_LOG_LEVEL = {
    .tag = "service",
    .doc = "Sets the log level to error, warning, info or debug until the next start or "
           "SIGHUP.",
    .access = MECHP_ADMIN,
    .traits = MECHP_AT_ONCE,
    .body = &mechp_body_log_level,
    .status = 200,
    .reply = "@LogLevel",
    .content = MECHP_JSON};

const struct mechp_row mechp_row_FORGET_OPERATION = {
    .tag = "stepping",
    .doc = "Cancels an operation in progress: a step is undone (if it is one of a hosted FMU that "
           "cannot save its state, the process of the FMU is ended instead), and an operation that "
           "has not started is dropped; completed items of a batch and completed windows of a "
           "coupling remain. 204: it was cancelled, or its client already had the result; it is "
           "deleted. 200: it can no longer be cancelled, and its client does not have the result "
           "yet: the response describes the operation, and a DELETE after the result was received "
           "deletes it. A token may cancel its own operations, `admin` all of them; the scope "
           "`read` suffices for an operation that changes nothing.",
    .access = MECHP_BY_PARTS,
    .traits = MECHP_AT_ONCE,
    .status = 204,
    .reply = "@Operation",
    .content = MECHP_JSON,
    .codes = MECHP_CODES(MECHP_FORBIDDEN)};

const struct mechp_row mechp_row_OPERATION = {
    .tag = "stepping",
    .doc = "Status of a request that was sent with `Prefer: respond-async`. When it has "
           "finished, `answer` holds its response; a response that is not JSON is returned "
           "as the whole body. Results are retained for ten minutes.",
    .effect = MECHP_READS,
    .shown = MECHP_SHOWN(
            .before = "curl -H 'Prefer: respond-async' --json '{\"count\":100000000}' " MECHP_SERVER
                      "/v1/instances/rig/step\n"),
    .status = 200,
    .reply = "@Operation",
    .content = MECHP_JSON,
    .also = MECHP_ROWS};

const struct mechp_row mechp_row_QUOTA = {
    .tag = "service",
    .doc = "Limits from the token file and --quota, and what the instances, runs and sweeps "
           "of the token use.",
    .effect = MECHP_READS,
    .status = 200,
    .reply = "@Quota",
    .content = MECHP_JSON};
