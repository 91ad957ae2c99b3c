/* The system descriptor. */
#include "protocol/wire/bodies_system.h"
#include "protocol/wire/queries.h"
#include "protocol/wire/row.h"

#define LEVEL "'acceleration'|'velocity'"
/* what every request about the descriptor takes; names: the type of the list of items */
#define SYSTEM_OPTIONS(O, names)                                                                   \
    O("level", LEVEL,                                                                              \
      "Meaning of the unknowns w: accelerations, or velocities after a step (default velocity "    \
      "for nonsmooth integrators, otherwise acceleration).",                                       \
      "\"velocity\"", options.level),                                                              \
        O("step", "number", "Step size h at the velocity level, s (default that of the model).",   \
          "0.001", options.step),                                                                  \
        O("contacts", "'active'|'all'",                                                            \
          "Which interactions are rows of the system: those that are active, or all (default "     \
          "active).",                                                                              \
          "\"all\"", options.contacts),                                                            \
        O("massFactor", "number", "Factor of M in H.", "1", options.mass),                         \
        O("stiffnessFactor", "number", "Factor of K in H.", "0.25", options.stiffness),            \
        O("dampingFactor", "number", "Factor of C in H.", "0.5", options.damping),                 \
        O("frozen", names,                                                                         \
          "Items whose velocities are held and removed from w, separated by commas.", "\"body\"",  \
          frozen)
#define AS_PRODUCT(name, type, doc, example, at)                                                   \
    {                                                                                              \
        name, type, doc, MECHP_MAY(system_product_request, at)                                     \
    }
#define AS_PROJECT(name, type, doc, example, at)                                                   \
    {                                                                                              \
        name, type, doc, MECHP_MAY(system_project_request, at)                                     \
    }
#define AS_SCHUR(name, type, doc, example, at)                                                     \
    {                                                                                              \
        name, type, doc, MECHP_MAY(system_schur_request, at)                                       \
    }
#define AS_FEASIBILITY(name, type, doc, example, at)                                               \
    {                                                                                              \
        name, type, doc, MECHP_MAY(system_feasibility_request, at)                                 \
    }
#define AS_PARAMETER(name, type, doc, example, at)                                                 \
    {                                                                                              \
        name, type, doc, example, MECHP_ASKED(system, at)                                          \
    }

/* --- bodies --- */

const struct mechp_shape mechp_body_system_reply = {
    .name = "SystemReply",
    .doc = "The system descriptor [H -CqT; Cq E] {w; l} - {f; -b} = {0; c} at the present state.",
    .members = MECHP_MEMBERS(
        {"time", "number", "s", MECHP_IN(system_reply, time)},
        {"level", LEVEL,
         "what w is: accelerations v' under the forces, or velocities v after a step",
         MECHP_IN(system_reply, level)},
        {"step", "number", "h of the velocity level, s", MECHP_IN(system_reply, step)},
        {"theta", "number", "theta of the integrator, at the velocity level",
         MECHP_IN(system_reply, theta)},
        {"friction", "'coulomb'|'associated'", "friction law of the cones",
         MECHP_IN(system_reply, friction)},
        {"factors", "@SystemFactors", "factors in H", MECHP_IN(system_reply, factors)},
        {"linear", "boolean", "true: no item of the model is nonlinear",
         MECHP_IN(system_reply, linear)},
        {"lumped", "boolean", "true: H is block-diagonal, with the masses alone",
         MECHP_IN(system_reply, lumped)},
        {"counts", "@SystemCounts", "sizes", MECHP_IN(system_reply, counts)},
        {"parts", "@SystemPartDescription[]", "its matrices and vectors",
         MECHP_IN(system_reply, parts)})};

const struct mechp_shape mechp_body_system_blocks = {
    .name = "SystemBlocksReply",
    .doc = "The blocks of the descriptor.",
    .members = MECHP_MEMBERS(
        {"time", "number", "s", MECHP_IN(system_blocks, time)},
        {"level", LEVEL, "as in the descriptor", MECHP_IN(system_blocks, level)},
        {"variables", "@SystemVariables[]", "in the order of w",
         MECHP_IN(system_blocks, variables)},
        {"constraints", "@SystemConstraint[]", "in the order of l",
         MECHP_IN(system_blocks, constraints)},
        {"blocks", "@SystemBlock[]", "stiffness blocks", MECHP_IN(system_blocks, blocks)})};

const struct mechp_shape mechp_body_system_factors = {
    .name = "SystemFactors",
    .doc = "Factors in H.",
    .members =
        MECHP_MEMBERS({"mass", "number", "factor of M", MECHP_IN(system_factors, mass)},
                      {"stiffness", "number", "factor of K", MECHP_IN(system_factors, stiffness)},
                      {"damping", "number", "factor of C", MECHP_IN(system_factors, damping)})};

const struct mechp_shape mechp_body_system_counts = {
    .name = "SystemCounts",
    .doc = "Sizes of the descriptor.",
    .members = MECHP_MEMBERS(
        {"velocities", "integer", "active velocities", MECHP_IN(system_counts, velocities)},
        {"rows", "integer", "active rows of constraints", MECHP_IN(system_counts, rows)},
        {"variables", "integer", "blocks of variables", MECHP_IN(system_counts, variables)},
        {"frozen", "integer", "blocks of variables that are frozen",
         MECHP_IN(system_counts, frozen)},
        {"masses", "integer", "masses", MECHP_IN(system_counts, masses)},
        {"constraints", "integer", "constraints", MECHP_IN(system_counts, constraints)},
        {"blocks", "integer", "stiffness blocks", MECHP_IN(system_counts, blocks)})};

const struct mechp_shape mechp_body_system_part_description = {
    .name = "SystemPartDescription",
    .doc = "A matrix or vector of the descriptor.",
    .members =
        MECHP_MEMBERS({"name", "string", "name", MECHP_IN(system_part_description, name)},
                      {"doc", "string", "what it is", MECHP_IN(system_part_description, doc)},
                      {"shape", "integer[]", "rows, and columns of a matrix",
                       MECHP_IN(system_part_description, shape)})};

const struct mechp_shape mechp_body_system_block = {
    .name = "SystemBlock",
    .doc = "A stiffness block.",
    .members = MECHP_MEMBERS(
        {"variables", "integer[]", "one block of variables, or the two that it couples",
         MECHP_IN(system_block, variables)},
        {"K", "integer", "number of entries of K", MECHP_IN(system_block, K)},
        {"C", "integer", "number of entries of C", MECHP_IN(system_block, C)},
        {"M", "integer", "number of entries of M", MECHP_IN(system_block, M)})};

const struct mechp_shape mechp_body_system_constraint = {
    .name = "SystemConstraint",
    .doc = "Constraint rows whose multipliers are bounded by one set.",
    .members = MECHP_MEMBERS(
        {"name", "@Name", "the joint or interaction", MECHP_IN(system_constraint, name)},
        {"source", "'joint'|'interaction'|'contact'", "kind of item that it comes from",
         MECHP_IN(system_constraint, source)},
        {"with", "@Name", "the second body of a contact", MECHP_MAY(system_constraint, with)},
        {"row", "integer",
         "index of its first row in lambda or in the impulses; of a contact: its number",
         MECHP_IN(system_constraint, row)},
        {"kind", "'bilateral'|'unilateral'|'box'|'cone'|'rolling'", "type of its set",
         MECHP_IN(system_constraint, kind)},
        {"rows", "integer", "number of rows", MECHP_IN(system_constraint, rows)},
        {"lower", "number|null", "lower bound; null: none", MECHP_MAY(system_constraint, lower)},
        {"upper", "number|null", "upper bound; null: none", MECHP_MAY(system_constraint, upper)},
        {"mu", "number", "coefficient of friction", MECHP_MAY(system_constraint, mu)},
        {"spinning", "number", "coefficient of spinning friction, m",
         MECHP_MAY(system_constraint, spinning)},
        {"rolling", "number", "coefficient of rolling friction, m",
         MECHP_MAY(system_constraint, rolling)},
        {"offset", "integer|null", "index of its first row in l; null: not active",
         MECHP_IN(system_constraint, offset)},
        {"active", "boolean", "its rows are part of the system",
         MECHP_IN(system_constraint, active)},
        {"flags", "string[]",
         "why it is not active: disabled: its law is suspended; redundant: it is left out; free: "
         "it is one-sided and apart; invalid and broken do not occur",
         MECHP_IN(system_constraint, flags)},
        {"mirrored", "boolean", "the joint's multiplier is -l",
         MECHP_IN(system_constraint, mirrored)},
        {"position", "number", "constraint equation g, or gap y, of its first row",
         MECHP_IN(system_constraint, position)},
        {"cfm", "number", "compliance of its first row", MECHP_IN(system_constraint, cfm)})};

const struct mechp_shape mechp_body_system_feasibility = {
    .name = "SystemFeasibility",
    .doc = "Residuals of given unknowns.",
    .members = MECHP_MEMBERS(
        {"time", "number", "s", MECHP_IN(system_feasibility, time)},
        {"level", LEVEL, "as in the descriptor", MECHP_IN(system_feasibility, level)},
        {"violation", "number", "largest violation of the conditions on c = Cq w + E l + b",
         MECHP_IN(system_feasibility, violation)},
        {"complementarity", "number", "largest |l c| of normal rows",
         MECHP_IN(system_feasibility, complementarity)},
        {"balance", "number", "|H w - CqT l - f| over the larger of |f| and |H w|",
         MECHP_IN(system_feasibility, balance)},
        {"residual", "number|null", "residual of the complementarity problem; null: H is singular",
         MECHP_IN(system_feasibility, residual)})};

const struct mechp_shape mechp_body_system_feasibility_request = {
    .name = "SystemFeasibilityRequest",
    .doc = "Unknowns of the active rows, and options.",
    .request = true,
    .members = MECHP_MEMBERS(
        {"w", "number[]", "unknowns of the variables", MECHP_IN(system_feasibility_request, w)},
        {"l", "number[]", "multipliers", MECHP_IN(system_feasibility_request, l)},
        SYSTEM_OPTIONS(AS_FEASIBILITY, "string|string[]")),
    .example = "{\"w\":[0],\"l\":[]}"};

const struct mechp_shape mechp_body_system_part = {
    .name = "SystemPartReply",
    .doc = "A matrix, by rows or by its entries, or a vector.",
    .members = MECHP_MEMBERS(
        {"time", "number", "s", MECHP_IN(system_part, time)},
        {"level", LEVEL, "as in the descriptor", MECHP_IN(system_part, level)},
        {"name", "string", "as requested", MECHP_IN(system_part, name)},
        {"shape", "integer[]", "rows, and columns of a matrix", MECHP_IN(system_part, shape)},
        {"rows", "number[][]", "a matrix of at most 4096 entries", MECHP_MAY(system_part, rows)},
        {"coo", "number[][]", "row and column (from 0) and value of each nonzero, column by column",
         MECHP_MAY(system_part, coo)},
        {"values", "number[]", "a vector", MECHP_MAY(system_part, values)})};

const struct mechp_shape mechp_body_system_product_reply = {
    .name = "SystemProductReply",
    .doc = "The result.",
    .members = MECHP_MEMBERS(
        {"time", "number", "s", MECHP_IN(system_product_reply, time)},
        {"level", LEVEL, "as in the descriptor", MECHP_IN(system_product_reply, level)},
        {"product", "number[]", "{H w - CqT l; Cq w + E l}, or (Cq H^-1 CqT + E) l",
         MECHP_IN(system_product_reply, product)})};

const struct mechp_shape mechp_body_system_product_request = {
    .name = "SystemProductRequest",
    .doc = "The vector, and options.",
    .request = true,
    .members = MECHP_MEMBERS({"x", "number[]", "{w; l}", MECHP_IN(system_product_request, x)},
                             {"symmetric", "boolean", "true: x is {w; -l}, and the product is Z x",
                              MECHP_MAY(system_product_request, symmetric)},
                             SYSTEM_OPTIONS(AS_PRODUCT, "string|string[]")),
    .example = "{\"x\":[1]}"};

const struct mechp_shape mechp_body_system_project_reply = {
    .name = "SystemProjectReply",
    .doc = "The given vector, with its multipliers projected onto their sets.",
    .members = MECHP_MEMBERS(
        {"time", "number", "s", MECHP_IN(system_project_reply, time)},
        {"level", LEVEL, "as in the descriptor", MECHP_IN(system_project_reply, level)},
        {"l", "number[]", "multipliers", MECHP_MAY(system_project_reply, l)},
        {"unknowns", "number[]", "{w; l}", MECHP_MAY(system_project_reply, unknowns)})};

const struct mechp_shape mechp_body_system_project_request = {
    .name = "SystemProjectRequest",
    .doc = "Exactly one of l and unknowns, and options.",
    .request = true,
    .members = MECHP_MEMBERS(
        {"l", "number[]", "multipliers", MECHP_MAY(system_project_request, l)},
        {"unknowns", "number[]", "{w; l}", MECHP_MAY(system_project_request, unknowns)},
        {"enabled", "boolean[]", "rows that are projected (default all)",
         MECHP_MAY(system_project_request, enabled)},
        SYSTEM_OPTIONS(AS_PROJECT, "string|string[]")),
    .example = "{\"l\":[]}"};

const struct mechp_shape mechp_body_system_schur_request = {
    .name = "SystemSchurRequest",
    .doc = "Multipliers, and options.",
    .request = true,
    .members = MECHP_MEMBERS({"l", "number[]", "multipliers", MECHP_IN(system_schur_request, l)},
                             {"enabled", "boolean[]", "rows that are included (default all)",
                              MECHP_MAY(system_schur_request, enabled)},
                             {"throughStiffness", "boolean",
                              "how H^-1 is applied. true: by a factorization of H; false: by the "
                              "masses only (default according to the structure of H)",
                              MECHP_MAY(system_schur_request, through_stiffness)},
                             SYSTEM_OPTIONS(AS_SCHUR, "string|string[]")),
    .example = "{\"l\":[]}"};

const struct mechp_shape mechp_body_system_variables = {
    .name = "SystemVariables",
    .doc = "Unknowns of one node or object.",
    .members = MECHP_MEMBERS(
        {"name", "@Name", "the body, object or node", MECHP_IN(system_variables, name)},
        {"mass", "'body'|'node'|'shaft'|'diagonal'|'dense'|'band'|'none'",
         "form of the mass matrix", MECHP_IN(system_variables, mass)},
        {"massNumber", "integer", "number of the mass matrix; equal ones have one number",
         MECHP_IN(system_variables, mass_number)},
        {"first", "integer", "index of the first velocity in the state",
         MECHP_IN(system_variables, first)},
        {"dof", "integer", "velocities", MECHP_IN(system_variables, dof)},
        {"offset", "integer|null", "index in w; null: frozen", MECHP_IN(system_variables, offset)},
        {"active", "boolean", "it is not frozen", MECHP_IN(system_variables, active)})};

const struct mechp_shape *const mechp_shapes_system[] = {&mechp_body_system_reply,
                                                         &mechp_body_system_blocks,
                                                         &mechp_body_system_constraint,
                                                         &mechp_body_system_feasibility,
                                                         &mechp_body_system_feasibility_request,
                                                         &mechp_body_system_part,
                                                         &mechp_body_system_product_reply,
                                                         &mechp_body_system_product_request,
                                                         &mechp_body_system_project_reply,
                                                         &mechp_body_system_project_request,
                                                         &mechp_body_system_schur_request,
                                                         &mechp_body_system_variables,
                                                         &mechp_body_system_factors,
                                                         &mechp_body_system_counts,
                                                         &mechp_body_system_part_description,
                                                         &mechp_body_system_block,
                                                         NULL};

/* --- routes --- */

const struct mechp_row mechp_row_SYSTEM = {
    .tag = "system",
    .doc = "Sizes, factors, and the list of matrices and vectors with a description of each. "
           "`format=archive` returns all of them as a zip file of Matrix Market files.",
    .effect = MECHP_ASKS,
    .cost = MECHP_COST_UNKNOWN,
    .traits = MECHP_OF_MODEL | MECHP_STOPPABLE,
    .query = MECHP_QUERY(
        SYSTEM_OPTIONS(AS_PARAMETER, "string"),
        {"bilateral", "'all'|'only'", "only: the rows of joints only (default all).", "\"all\"",
         MECHP_ASKED(system, bilateral)},
        {"format", "'json'|'archive'", "Format of the response; overrides Accept.", "\"json\"", 0}),
    .status = 200,
    .reply = "@SystemReply",
    .content = MECHP_JSON,
    .also = "application/vnd.mechd.system",
    .codes = MECHP_CODES(MECHP_INVALID_REQUEST, MECHP_NOT_ACCEPTABLE, MECHP_SINGULAR,
                         MECHP_LIMIT_REACHED, MECHP_DRAINING)};

const struct mechp_row mechp_row_SYSTEM_BLOCKS = {
    .tag = "system",
    .doc = "Variables in the order of w, constraints in the order of l, and stiffness "
           "blocks.",
    .effect = MECHP_ASKS,
    .cost = MECHP_COST_UNKNOWN,
    .traits = MECHP_OF_MODEL | MECHP_STOPPABLE,
    .query = MECHP_QUERY(SYSTEM_OPTIONS(AS_PARAMETER, "string")),
    .status = 200,
    .reply = "@SystemBlocksReply",
    .content = MECHP_JSON,
    .codes = MECHP_CODES(MECHP_INVALID_REQUEST)};

const struct mechp_row mechp_row_SYSTEM_FEASIBILITY = {
    .tag = "system",
    .doc = "By how much given unknowns violate constraints, complementarity and balance.",
    .effect = MECHP_ASKS,
    .cost = MECHP_COST_UNKNOWN,
    .traits = MECHP_OF_MODEL | MECHP_STOPPABLE | MECHP_TAKES_MODELS,
    .body = &mechp_body_system_feasibility_request,
    .status = 200,
    .reply = "@SystemFeasibility",
    .content = MECHP_JSON,
    .codes = MECHP_CODES(MECHP_SINGULAR, MECHP_DRAINING)};

const struct mechp_row mechp_row_SYSTEM_PRODUCT = {
    .tag = "system",
    .doc = "The product {H w - CqT l; Cq w + E l} of the system matrix with a vector {w; l}, "
           "without forming the matrix.",
    .effect = MECHP_ASKS,
    .cost = MECHP_COST_UNKNOWN,
    .traits = MECHP_OF_MODEL | MECHP_STOPPABLE | MECHP_TAKES_MODELS,
    .body = &mechp_body_system_product_request,
    .status = 200,
    .reply = "@SystemProductReply",
    .content = MECHP_JSON,
    .codes = MECHP_CODES(MECHP_SINGULAR, MECHP_DRAINING)};

const struct mechp_row mechp_row_SYSTEM_PROJECT = {
    .tag = "system",
    .doc = "Replaces each multiplier by the nearest point of its set: half-line, box or "
           "cone.",
    .effect = MECHP_ASKS,
    .cost = MECHP_COST_UNKNOWN,
    .traits = MECHP_OF_MODEL | MECHP_STOPPABLE | MECHP_TAKES_MODELS,
    .body = &mechp_body_system_project_request,
    .status = 200,
    .reply = "@SystemProjectReply",
    .content = MECHP_JSON};

const struct mechp_row mechp_row_SYSTEM_SCHUR_PRODUCT = {
    .tag = "system",
    .doc = "The product (Cq H^-1 CqT + E) l, with a factorization of H or with the masses only.",
    .effect = MECHP_ASKS,
    .cost = MECHP_COST_UNKNOWN,
    .traits = MECHP_OF_MODEL | MECHP_STOPPABLE | MECHP_TAKES_MODELS,
    .body = &mechp_body_system_schur_request,
    .status = 200,
    .reply = "@SystemProductReply",
    .content = MECHP_JSON,
    .codes = MECHP_CODES(MECHP_SINGULAR, MECHP_DRAINING)};

const struct mechp_row mechp_row_SYSTEM_PART = {
    .tag = "system",
    .doc = "One of H, M, K, C, Cq, E, R, f, b, d, diagonal and Z, as JSON or in text "
           "formats of numerical tools.",
    .effect = MECHP_ASKS,
    .cost = MECHP_COST_UNKNOWN,
    .traits = MECHP_OF_MODEL | MECHP_STOPPABLE,
    .query =
        MECHP_QUERY(SYSTEM_OPTIONS(AS_PARAMETER, "string"),
                    {"bilateral", "'all'|'only'", "only: the rows of joints only (default all).",
                     "\"all\"", MECHP_ASKED(system, bilateral)},
                    {"format", "'json'|'mtx'|'coo1'", "Format of the response; overrides Accept.",
                     "\"json\"", 0}),
    .status = 200,
    .reply = "@SystemPartReply",
    .content = MECHP_JSON,
    .also = "text/x-matrix-market text/plain",
    .codes = MECHP_CODES(MECHP_INVALID_REQUEST, MECHP_NOT_ACCEPTABLE, MECHP_SINGULAR,
                         MECHP_LIMIT_REACHED, MECHP_DRAINING)};
