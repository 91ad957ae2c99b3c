/* Problems given by their matrices. */
#include "protocol/wire/bodies_values.h"
#include "protocol/wire/row.h"

/* --- bodies --- */

const struct mechp_shape mechp_body_solve_reply = {
    .name = "SolveReply",
    .doc = "Solution of the problem.",
    .members = MECHP_MEMBERS(
        {"l", "number[]", "multipliers", MECHP_IN(solve_reply, l)},
        {"c", "number[]", "N l + r", MECHP_IN(solve_reply, c)},
        {"w", "number[]", "velocities, if the problem has H", MECHP_MAY(solve_reply, w)},
        {"report", "@SolveReport", "how it was solved", MECHP_IN(solve_reply, report)})};

const struct mechp_shape mechp_body_solve_report = {
    .name = "SolveReport",
    .doc = "How a problem was solved.",
    .members = MECHP_MEMBERS(
        {"solver", "string", "its name", MECHP_IN(solve_report, solver)},
        {"converged", "boolean", "`acceptance` is within the tolerance",
         MECHP_IN(solve_report, converged)},
        {"iterations", "integer", "iterations of the solver", MECHP_IN(solve_report, iterations)},
        {"residual", "number|null",
         "residual of the natural map, relative to |r|; with boxes or cones, to the largest of "
         "|r|, |l| and |c|",
         MECHP_IN(solve_report, residual)},
        {"acceptance", "number|null", "residual that is compared with the tolerance",
         MECHP_IN(solve_report, acceptance)},
        {"certificate", "number[]",
         "vector that proves that there is no solution, if one was found, [m]",
         MECHP_MAY(solve_report, certificate)})};

const struct mechp_shape mechp_body_solve_request = {
    .name = "SolveRequest",
    .doc = "A problem given by its matrices.",
    .request = true,
    .members = MECHP_MEMBERS(
        {"problem", "@LoneProblem", "N and r, or H, f, G and b", MECHP_IN(solve_request, problem)}),
    .example = "{\"problem\":{\"N\":[[2,1],[1,2]],\"r\":[-5,-6]}}"};

const struct mechp_shape *const mechp_shapes_problems[] = {
    &mechp_body_solve_reply, &mechp_body_solve_report, &mechp_body_solve_request, NULL};

/* --- routes --- */

const struct mechp_row mechp_row_SOLVE = {
    .tag = "models",
    .doc = "Solves a mixed, complementarity or friction problem given by its matrices, with "
           "any of the solvers. Nothing is stored.",
    .effect = MECHP_READS,
    .cost = MECHP_COST_UNKNOWN,
    .traits = MECHP_TAKES_MODELS,
    .body = &mechp_body_solve_request,
    .status = 200,
    .reply = "@SolveReply",
    .content = MECHP_JSON,
    .codes = MECHP_CODES(MECHP_VI_NOT_CONVERGED, MECHP_SINGULAR, MECHP_DRAINING)};
