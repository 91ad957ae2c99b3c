/* Equilibrium, modes, derivatives, terms of the equations of motion. */
#include "protocol/wire/bodies.h"
#include "protocol/wire/queries.h"
#include "protocol/wire/routes/shared.h"
#include "protocol/wire/row.h"

/* --- bodies --- */

const struct mechp_shape mechp_body_coo = {
    .name = "Coo",
    .doc = "A sparse matrix.",
    .members = MECHP_MEMBERS({"shape", "integer[]", "rows, columns", MECHP_IN(coo, shape)},
                             {"coo", "number[][]",
                              "row and column (from 0) and value of each nonzero, column by column",
                              MECHP_IN(coo, coo)})};

const struct mechp_shape mechp_body_derivatives_reply = {
    .name = "DerivativesReply",
    .doc = "Derivatives of the equations at the point.",
    .members = MECHP_MEMBERS(
        {"time", "number", "s", MECHP_IN(derivatives_reply, time)},
        {"derivative", "@Unknowns",
         "derivative of the unknowns along the direction, if one is given",
         MECHP_MAY(derivatives_reply, derivative)},
        {"sensitivity", "@Knowns",
         "adjoint derivatives: product of the seed with the derivatives with respect to each "
         "known, if a seed is given",
         MECHP_MAY(derivatives_reply, sensitivity)},
        {"rates", "@Value{}", "time derivatives of the outputs, if requested",
         MECHP_MAY(derivatives_reply, rates)},
        {"kinked", "boolean",
         "a law is not smooth at the point: some derivatives are means of the slopes on both sides",
         MECHP_IN(derivatives_reply, kinked)})};

const struct mechp_shape mechp_body_derivatives_request = {
    .name = "DerivativesRequest",
    .doc = "At least one of direction, seed and rates.",
    .request = true,
    .members = MECHP_MEMBERS(
        {"at", "@Point", "the point; omitted values are those of the current state",
         MECHP_MAY(derivatives_request, at)},
        {"direction", "@Knowns", "direction in the state and the inputs; omitted parts are 0",
         MECHP_MAY(derivatives_request, direction)},
        {"seed", "@Unknowns",
         "weights of the rates and the outputs, for adjoint derivatives; omitted parts are 0",
         MECHP_MAY(derivatives_request, seed)},
        {"rates", "boolean",
         "true: return the time derivatives of the outputs, as a step does: at the current state, "
         "even if a point is given",
         MECHP_MAY(derivatives_request, rates)}),
    .example = "{\"direction\":{\"inputs\":{\"force\":1}}}"};

const struct mechp_shape mechp_body_evaluate_reply = {
    .name = "EvaluateReply",
    .doc = "The requested quantities: vectors, and matrices row by row.",
    .members = MECHP_MEMBERS(
        {"time", "number", "s", MECHP_IN(evaluate_reply, time)},
        {"lhs", "number[]", "left-hand side of the objects without inertia, such as d v + k q",
         MECHP_MAY(evaluate_reply, lhs)},
        {"rhs", "number[]", "loads minus lhs: f in M v' = f", MECHP_MAY(evaluate_reply, rhs)},
        {"forces", "number[]", "F(v, q, t, z) of linear systems",
         MECHP_MAY(evaluate_reply, forces)},
        {"mass", "number[][]|@Coo", "mass matrix", MECHP_MAY(evaluate_reply, mass)},
        {"dFdq", "number[][]|@Coo",
         "derivative of the forces with respect to motions (in velocity space: body-fixed "
         "rotations)",
         MECHP_MAY(evaluate_reply, dFdq)},
        {"dFdv", "number[][]|@Coo", "derivative of the forces with respect to the velocities",
         MECHP_MAY(evaluate_reply, dFdv)},
        {"firstOrder", "number[]", "time derivative of [q; v; x]",
         MECHP_MAY(evaluate_reply, first_order)},
        {"rhsJacobian", "number[][]", "Jacobian of the first-order form",
         MECHP_MAY(evaluate_reply, rhs_jacobian)},
        {"constraints", "number[]", "residuals g of the constraint equations of the joints",
         MECHP_MAY(evaluate_reply, constraints)},
        {"constraintJacobian", "number[][]|@Coo", "derivative of g with respect to motions",
         MECHP_MAY(evaluate_reply, constraint_jacobian)})};

const struct mechp_shape mechp_body_evaluate_request = {
    .name = "EvaluateRequest",
    .doc =
        "A point, and the quantities to evaluate; omitted values are those of the current state.",
    .request = true,
    .members =
        MECHP_MEMBERS({"want", "@Want[]", "quantities", MECHP_IN(evaluate_request, want)},
                      MECHP_POINT_MEMBERS(evaluate_request),
                      {"sparse", "boolean", "true: matrices (except rhsJacobian) as shape and coo",
                       MECHP_MAY(evaluate_request, sparse)}),
    .example = "{\"want\":[\"rhs\",\"mass\"]}"};

const struct mechp_shape mechp_body_jvp = {
    .name = "JvpReply",
    .doc = "Derivatives at the end of the step along the direction.",
    .members = MECHP_MEMBERS(
        {"time", "number", "time at the end of the step, s", MECHP_IN(jvp, time)},
        {"steps", "integer", "internal steps", MECHP_IN(jvp, steps)},
        {"differenced", "boolean", "part of the result was computed by finite differences",
         MECHP_IN(jvp, differenced)},
        {"kinked", "boolean",
         "the set of active contacts changes nearby: the step is not smooth there",
         MECHP_IN(jvp, kinked)},
        {"outputs", "@Value{}", "derivative of the outputs", MECHP_IN(jvp, outputs)},
        {"q", "number[]", "derivative of the coordinates", MECHP_IN(jvp, q)},
        {"v", "number[]", "derivative of the velocities", MECHP_IN(jvp, v)},
        {"a", "number[]", "derivative of the accelerations", MECHP_IN(jvp, a)},
        {"x", "number[]", "derivative of the first-order states", MECHP_IN(jvp, x)})};

const struct mechp_shape mechp_body_jvp_request = {
    .name = "JvpRequest",
    .doc = "A step (exactly one of size, until and count) and a direction; omitted parts are 0. "
           "During the step, inputs in the direction are held at their current values.",
    .request = true,
    .members = MECHP_MEMBERS(
        {"size", "number", "communication step, s", MECHP_MAY(jvp_request, size)},
        {"until", "number", "end time, s", MECHP_MAY(jvp_request, until)},
        {"count", "integer 1..1000000000000", "internal steps", MECHP_MAY(jvp_request, count)},
        {"inputs", "@Value{}", "direction of the inputs, by name", MECHP_MAY(jvp_request, inputs)},
        {"q", "number[]", "direction of the coordinates", MECHP_MAY(jvp_request, q)},
        {"v", "number[]", "direction of the velocities", MECHP_MAY(jvp_request, v)},
        {"x", "number[]", "direction of the first-order states", MECHP_MAY(jvp_request, x)}),
    .example = "{\"size\":0.01,\"inputs\":{\"force\":1}}"};

const struct mechp_shape mechp_body_knowns = {
    .name = "Knowns",
    .doc = "Values of the state and of inputs that are not parameters.",
    .members = MECHP_MEMBERS({"q", "number[]", "coordinates", MECHP_MAY(knowns, q)},
                             {"v", "number[]", "velocities", MECHP_MAY(knowns, v)},
                             {"x", "number[]", "first-order states", MECHP_MAY(knowns, x)},
                             {"inputs", "@Value{}", "inputs by name", MECHP_MAY(knowns, inputs)})};

const struct mechp_shape mechp_body_linearization = {
    .name = "Linearization",
    .doc = "z' = A z + B u, y = C z + D u about the current state. Without joints and rotations z "
           "= [q; v; x]. Otherwise z = [xi; eta; x], where the motions are basis * xi (in velocity "
           "space: body-fixed rotations) and the velocities are velocityBasis * eta.",
    .members = MECHP_MEMBERS(
        {"time", "number", "s", MECHP_IN(linearization, time)},
        {"sizes", "@LinearizationSizes", "sizes of xi, eta and x", MECHP_IN(linearization, sizes)},
        {"inputs", "string[]", "columns of B and D", MECHP_IN(linearization, inputs)},
        {"outputs", "string[]", "rows of C and D", MECHP_IN(linearization, outputs)},
        {"A", "number[][]", "row by row", MECHP_IN(linearization, A)},
        {"B", "number[][]", "row by row", MECHP_IN(linearization, B)},
        {"C", "number[][]", "row by row", MECHP_IN(linearization, C)},
        {"D", "number[][]", "row by row", MECHP_IN(linearization, D)},
        {"basis", "number[][]", "basis of the motions that the joints allow, one row per velocity",
         MECHP_MAY(linearization, basis)},
        {"velocityBasis", "number[][]", "basis of the velocities that the joints allow",
         MECHP_MAY(linearization, velocity_basis)})};

const struct mechp_shape mechp_body_linearization_sizes = {
    .name = "LinearizationSizes",
    .doc = "Sizes of the states of a linearization.",
    .members = MECHP_MEMBERS(
        {"q", "integer", "size of xi, or of q", MECHP_IN(linearization_sizes, q)},
        {"v", "integer", "size of eta, or of v", MECHP_IN(linearization_sizes, v)},
        {"x", "integer", "size of x: first-order states", MECHP_IN(linearization_sizes, x)})};

const struct mechp_shape mechp_body_mode = {
    .name = "Mode",
    .doc = "One mode; of a conjugate pair, the one with im >= 0.",
    .members = MECHP_MEMBERS(
        {"frequency", "number", "Hz", MECHP_IN(mode, frequency)},
        {"damping", "number", "damping ratio, -re / |lambda|", MECHP_IN(mode, damping)},
        {"omega2", "number", "1/s^2, |lambda|^2; undamped: the eigenvalue", MECHP_IN(mode, omega2)},
        {"re", "number", "1/s, real part of the eigenvalue", MECHP_IN(mode, re)},
        {"im", "number", "1/s, imaginary part", MECHP_IN(mode, im)},
        {"residual", "number", "relative residual of the eigenvalue problem",
         MECHP_IN(mode, residual)},
        {"shape", "number[]",
         "mode shape, one number for each velocity; undamped: scaled to a modal mass of 1",
         MECHP_IN(mode, shape)},
        {"imaginary", "number[]", "imaginary part of a complex shape",
         MECHP_MAY(mode, imaginary)})};

const struct mechp_shape mechp_body_modes = {
    .name = "Modes",
    .doc = "The lowest modes.",
    .members = MECHP_MEMBERS(
        {"time", "number", "s", MECHP_IN(modes, time)},
        {"linear", "string", "linear solver, used for large models", MECHP_IN(modes, linear)},
        {"speed", "number",
         "largest velocity of the current state; the modes are those of a state at rest",
         MECHP_IN(modes, speed)},
        {"acceleration", "number", "largest acceleration of the current state: 0 in equilibrium",
         MECHP_IN(modes, acceleration)},
        {"modes", "@Mode[]", "by ascending frequency", MECHP_IN(modes, modes)})};

const struct mechp_shape mechp_body_point = {.name = "Point",
                                             .doc = "A point at which the equations are evaluated.",
                                             .members = MECHP_MEMBERS(MECHP_POINT_MEMBERS(point))};

const struct mechp_shape mechp_body_statics = {
    .name = "StaticsReply",
    .doc = "The static equilibrium at the present time.",
    .members = MECHP_MEMBERS(
        {"time", "number", "s", MECHP_IN(statics, time)},
        {"outputs", "@Value{}", "all outputs in equilibrium", MECHP_IN(statics, outputs)},
        {"q", "number[]", "total coordinates", MECHP_IN(statics, q)},
        {"report", "@StaticsReport", "report of the search", MECHP_IN(statics, report)})};

const struct mechp_shape mechp_body_statics_report = {
    .name = "StaticsReport",
    .doc = "Report of the search for an equilibrium.",
    .members = MECHP_MEMBERS(
        {"loadSteps", "integer", "load steps", MECHP_IN(statics_report, load_steps)},
        {"iterations", "integer", "Newton iterations", MECHP_IN(statics_report, iterations)},
        {"residual", "number", "final residual", MECHP_IN(statics_report, residual)},
        {"linear", "string", "linear solver", MECHP_IN(statics_report, linear)})};

const struct mechp_shape mechp_body_statics_request = {
    .name = "StaticsRequest",
    .doc = "Options of the search for an equilibrium.",
    .request = true,
    .members = MECHP_MEMBERS({"loadSteps", "integer 1..10000",
                              "number of steps in which the loads are applied (default 1)",
                              MECHP_MAY(statics_request, load_steps)},
                             {"commit", "boolean", "false: the state is not changed",
                              MECHP_MAY(statics_request, commit)}),
    .example = "{\"loadSteps\":5}"};

const struct mechp_shape mechp_body_unknowns = {
    .name = "Unknowns",
    .doc = "Values of the rates and the outputs.",
    .members = MECHP_MEMBERS(
        {"qdot", "number[]", "rates of the coordinates", MECHP_MAY(unknowns, qdot)},
        {"vdot", "number[]", "accelerations", MECHP_MAY(unknowns, vdot)},
        {"xdot", "number[]", "rates of the first-order states", MECHP_MAY(unknowns, xdot)},
        {"outputs", "@Value{}", "outputs by name", MECHP_MAY(unknowns, outputs)})};

const struct mechp_shape *const mechp_shapes_analysis[] = {&mechp_body_coo,
                                                           &mechp_body_derivatives_reply,
                                                           &mechp_body_derivatives_request,
                                                           &mechp_body_evaluate_reply,
                                                           &mechp_body_evaluate_request,
                                                           &mechp_body_jvp,
                                                           &mechp_body_jvp_request,
                                                           &mechp_body_knowns,
                                                           &mechp_body_linearization,
                                                           &mechp_body_linearization_sizes,
                                                           &mechp_body_mode,
                                                           &mechp_body_modes,
                                                           &mechp_body_point,
                                                           &mechp_body_statics,
                                                           &mechp_body_statics_report,
                                                           &mechp_body_statics_request,
                                                           &mechp_body_unknowns,
                                                           NULL};

/* --- routes --- */

const struct mechp_row mechp_row_DERIVATIVES = {
    .tag = "analysis",
    .doc =
        "Derivatives of the equations at a point, which by default is the current state. As in "
        "FMI, the knowns are q, v, x and the inputs, and the unknowns are the rates of q, v and x, "
        "and the outputs. `direction` in the knowns returns the derivative of the unknowns along "
        "it; `seed` in the unknowns returns its product with the derivatives with respect to each "
        "known (adjoint derivatives); `rates` returns the time derivatives of the outputs. "
        "Impulses of contacts are not part of the equations at a point. A hosted FMU with "
        "directional derivatives takes a `direction` in its inputs, one with adjoint derivatives a "
        "`seed` in its outputs; its state is held. An FMU that cannot save its state must have "
        "made a step since its inputs and parameters were set. The `rates` of an FMU are its "
        "output derivatives at the end of its last step. The instance does not change.",
    .effect = MECHP_ASKS,
    .cost = MECHP_COST_UNKNOWN,
    .traits = MECHP_STOPPABLE | MECHP_TELLS_ALL,
    .body = &mechp_body_derivatives_request,
    .status = 200,
    .reply = "@DerivativesReply",
    .content = MECHP_JSON,
    .codes = MECHP_CODES(MECHP_INVALID_REQUEST, MECHP_SINGULAR, MECHP_NOT_FINITE,
                         MECHP_LIMIT_REACHED, MECHP_FMU_FAILED, MECHP_DRAINING)};

const struct mechp_row mechp_row_EVALUATE = {
    .tag = "analysis",
    .doc = "Left-hand side, right-hand side, mass matrix, forces and their derivatives at the "
           "point given in the body; omitted values are those of the current state. The instance "
           "does not change.",
    .effect = MECHP_READS,
    .traits = MECHP_OF_MODEL | MECHP_TELLS_ALL | MECHP_TAKES_MODELS,
    .body = &mechp_body_evaluate_request,
    .status = 200,
    .reply = "@EvaluateReply",
    .content = MECHP_JSON,
    .codes = MECHP_CODES(MECHP_SINGULAR, MECHP_NOT_FINITE)};

const struct mechp_row mechp_row_JVP = {
    .tag = "analysis",
    .doc = "Derivatives of outputs and state at the end of a step along a direction in state and "
           "inputs. The step itself is not taken.",
    .effect = MECHP_ASKS,
    .cost = MECHP_COST_UNKNOWN,
    .traits = MECHP_OF_MODEL | MECHP_STOPPABLE | MECHP_TELLS_ALL,
    .body = &mechp_body_jvp_request,
    .status = 200,
    .reply = "@JvpReply",
    .content = MECHP_JSON,
    .codes = MECHP_CODES(MECHP_NOT_CONVERGED, MECHP_VI_NOT_CONVERGED, MECHP_SINGULAR,
                         MECHP_NOT_FINITE, MECHP_STEP_TOO_SMALL, MECHP_DRAINING)};

const struct mechp_row mechp_row_LINEARIZATION = {
    .tag = "analysis",
    .doc = "Matrices A, B, C, D of z' = A z + B u, y = C z + D u, reduced to the motions that the "
           "joints allow. Refused while shapes touch, unless contacts are modelled by forces "
           "(`contact.method` penalty).",
    .effect = MECHP_ASKS,
    .cost = MECHP_COST_UNKNOWN,
    .traits = MECHP_OF_MODEL | MECHP_STOPPABLE,
    .status = 200,
    .reply = "@Linearization",
    .content = MECHP_JSON,
    .codes = MECHP_CODES(MECHP_INVALID_REQUEST, MECHP_NOT_CONVERGED, MECHP_SINGULAR,
                         MECHP_NOT_FINITE, MECHP_DRAINING)};

const struct mechp_row mechp_row_MODES = {
    .tag = "analysis",
    .doc = "Frequencies, damping ratios and shapes of the lowest modes; undamped, or complex with "
           "damping and gyroscopic terms. Refused while shapes touch, unless contacts are modelled "
           "by forces (`contact.method` penalty).",
    .effect = MECHP_ASKS,
    .cost = MECHP_COST_UNKNOWN,
    .traits = MECHP_OF_MODEL | MECHP_STOPPABLE,
    .query = MECHP_QUERY(
        {"count", "integer 1..200", "Maximum number of modes.", "3", MECHP_ASKED(modes, count)},
        {"complex", "boolean",
         "true: include damping and gyroscopic terms; mode shapes are complex.", "true",
         MECHP_ASKED(modes, complex)}),
    .status = 200,
    .reply = "@Modes",
    .content = MECHP_JSON,
    .codes = MECHP_CODES(MECHP_INVALID_REQUEST, MECHP_NOT_CONVERGED, MECHP_SINGULAR,
                         MECHP_NOT_FINITE, MECHP_LIMIT_REACHED, MECHP_DRAINING)};

const struct mechp_row mechp_row_STATICS = {
    .tag = "analysis",
    .doc = "Finds the equilibrium under the loads of the current time and moves the state there "
           "unless `commit` is false. Refused if shapes overlap there, unless contacts are "
           "modelled by forces (`contact.method` penalty).",
    .cost = MECHP_COST_UNKNOWN,
    .traits = MECHP_OF_MODEL | MECHP_STOPPABLE | MECHP_CLOSES,
    .body = &mechp_body_statics_request,
    .optional = true,
    .status = 200,
    .reply = "@StaticsReply",
    .content = MECHP_JSON,
    .codes = MECHP_CODES(MECHP_INVALID_REQUEST, MECHP_NOT_CONVERGED, MECHP_SINGULAR,
                         MECHP_NOT_FINITE, MECHP_DRAINING)};
