/* The system descriptor. */
#include "protocol/wire/row.h"

#define LEVEL "'acceleration'|'velocity'"
/* what every request about the descriptor takes; names: the type of the list of items */
#define SYSTEM_OPTIONS(O, names)                                                                   \
    O("level", LEVEL,                                                                              \
      "Meaning of w (default velocity for nonsmooth integrators, otherwise "                       \
      "acceleration).",                                                                            \
      "\"velocity\""),                                                                             \
        O("step", "number", "h of the velocity level, s (default that of the model).", "0.001"),   \
        O("contacts", "'active'|'all'",                                                            \
          "Interactions that are included as rows (default active).", "\"all\""),                  \
        O("massFactor", "number", "Factor of M in H.", "1"),                                       \
        O("stiffnessFactor", "number", "Factor of K in H.", "0.25"),                               \
        O("dampingFactor", "number", "Factor of C in H.", "0.5"),                                  \
        O("frozen", names, "Items whose velocities are removed, separated by commas.", "\"body\"")
#define AS_MEMBER(name, type, doc, example)                                                        \
    {                                                                                              \
        name, type, doc, false                                                                     \
    }
#define AS_PARAMETER(name, type, doc, example)                                                     \
    {                                                                                              \
        name, type, doc, example, 0                                                                \
    }

/* --- bodies --- */

static const struct mechp_shape system_reply = {
    .name = "SystemReply",
    .doc = "The system descriptor [H -CqT; Cq E] {w; l} - {f; -b} = {0; c} at the present state.",
    .members = MECHP_MEMBERS(
        {"time", "number", "s", true},
        {"level", LEVEL, "what w is: v' under forces, or v after a step", true},
        {"step", "number", "h of the velocity level, s", true},
        {"theta", "number", "of the velocity level", true},
        {"friction", "'coulomb'|'associated'", "law of cones", true},
        {"factors", "number{}", "mass, stiffness, damping in H", true},
        {"linear", "boolean", "no item of the model is nonlinear", true},
        {"lumped", "boolean", "H is block-diagonal: the masses alone", true},
        {"counts", "integer{}",
         "velocities and rows that are active; blocks of variables, frozen ones, masses, "
         "constraints, stiffness blocks",
         true},
        {"parts", "object[]", "name, doc and shape of each matrix and vector", true})};

static const struct mechp_shape system_blocks = {
    .name = "SystemBlocksReply",
    .doc = "The blocks of the descriptor.",
    .members =
        MECHP_MEMBERS({"time", "number", "s", true}, {"level", LEVEL, "as of the descriptor", true},
                      {"variables", "@SystemVariables[]", "in the order of w", true},
                      {"constraints", "@SystemConstraint[]", "in the order of l", true},
                      {"blocks", "object[]", "variables coupled, entries of K, C and M", true})};

static const struct mechp_shape system_constraint = {
    .name = "SystemConstraint",
    .doc = "Rows of one set.",
    .members = MECHP_MEMBERS(
        {"name", "@Name", "the joint or interaction", true},
        {"source", "'joint'|'interaction'|'contact'", "its origin", true},
        {"with", "@Name", "the second body of a contact", false},
        {"row", "integer", "its first one among lambda, or among the impulses; a contact's number",
         true},
        {"kind", "'bilateral'|'unilateral'|'box'|'cone'|'rolling'", "its set", true},
        {"rows", "integer", "how many", true},
        {"offset", "integer|null", "in l; null: not active", true},
        {"active", "boolean", "the row is part of the system", true},
        {"flags", "string[]", "why it is not active: invalid, disabled, redundant, broken, free",
         true},
        {"mirrored", "boolean", "the joint's multiplier is -l", true},
        {"position", "number", "g or y of its first row", true},
        {"cfm", "number", "compliance of its first row", true}, {"mu", "number", "friction", false},
        {"spinning", "number", "m", false}, {"rolling", "number", "m", false},
        {"lower", "number|null", "null: none", false},
        {"upper", "number|null", "null: none", false})};

static const struct mechp_shape system_feasibility = {
    .name = "SystemFeasibility",
    .doc = "Residuals of given unknowns.",
    .members = MECHP_MEMBERS(
        {"time", "number", "s", true}, {"level", LEVEL, "as of the descriptor", true},
        {"violation", "number", "largest violation of c", true},
        {"complementarity", "number", "largest |l c| of normal rows", true},
        {"balance", "number", "|H w - CqT l - f| over the larger of |f| and |H w|", true},
        {"residual", "number|null", "of the complementarity problem; null: H is singular", true})};

static const struct mechp_shape system_feasibility_request = {
    .name = "SystemFeasibilityRequest",
    .doc = "Unknowns of the active rows, and options.",
    .request = true,
    .members = MECHP_MEMBERS({"w", "number[]", "unknowns of the variables", true},
                             {"l", "number[]", "multipliers", true},
                             SYSTEM_OPTIONS(AS_MEMBER, "string|string[]")),
    .example = "{\"w\":[0],\"l\":[]}"};

static const struct mechp_shape system_part = {
    .name = "SystemPartReply",
    .doc = "A matrix, by rows or by its entries, or a vector.",
    .members = MECHP_MEMBERS(
        {"time", "number", "s", true}, {"level", LEVEL, "as of the descriptor", true},
        {"name", "string", "as requested", true},
        {"shape", "integer[]", "rows, and columns of a matrix", true},
        {"rows", "number[][]", "a matrix of at most 4096 places", false},
        {"coo", "number[][]", "row, column and value of the nonzeros, by columns", false},
        {"values", "number[]", "a vector", false})};

static const struct mechp_shape system_product_reply = {
    .name = "SystemProductReply",
    .doc = "The result.",
    .members = MECHP_MEMBERS(
        {"time", "number", "s", true}, {"level", LEVEL, "as of the descriptor", true},
        {"product", "number[]", "{H w - CqT l; Cq w + E' l}, or of the multipliers alone", true})};

static const struct mechp_shape system_product_request = {
    .name = "SystemProductRequest",
    .doc = "The vector, and options.",
    .request = true,
    .members = MECHP_MEMBERS({"x", "number[]", "{w; l}", true},
                             {"symmetric", "boolean", "x is {w; -l}: the product is Z x", false},
                             SYSTEM_OPTIONS(AS_MEMBER, "string|string[]")),
    .example = "{\"x\":[1]}"};

static const struct mechp_shape system_project_reply = {
    .name = "SystemProjectReply",
    .doc = "The given vector, with its multipliers projected onto their sets.",
    .members = MECHP_MEMBERS(
        {"time", "number", "s", true}, {"level", LEVEL, "as of the descriptor", true},
        {"l", "number[]", "multipliers", false}, {"unknowns", "number[]", "{w; l}", false})};

static const struct mechp_shape system_project_request = {
    .name = "SystemProjectRequest",
    .doc = "Exactly one of l and unknowns, and options.",
    .request = true,
    .members = MECHP_MEMBERS(
        {"l", "number[]", "multipliers", false}, {"unknowns", "number[]", "{w; l}", false},
        {"enabled", "boolean[]", "rows that are projected (default all)", false},
        SYSTEM_OPTIONS(AS_MEMBER, "string|string[]")),
    .example = "{\"l\":[]}"};

static const struct mechp_shape system_schur_request = {
    .name = "SystemSchurRequest",
    .doc = "Multipliers, and options.",
    .request = true,
    .members = MECHP_MEMBERS(
        {"l", "number[]", "multipliers", true},
        {"enabled", "boolean[]", "rows that are included (default all)", false},
        {"throughStiffness", "boolean",
         "how H^-1 is applied: factored, or by the masses only (default by the structure of H)",
         false},
        SYSTEM_OPTIONS(AS_MEMBER, "string|string[]")),
    .example = "{\"l\":[]}"};

static const struct mechp_shape system_variables = {
    .name = "SystemVariables",
    .doc = "Unknowns of one node or object.",
    .members = MECHP_MEMBERS(
        {"name", "@Name", "the body, object or node", true},
        {"mass", "'body'|'node'|'shaft'|'diagonal'|'dense'|'band'|'none'", "its form", true},
        {"massNumber", "integer", "equal masses are shared", true},
        {"first", "integer", "among the velocities of the state", true},
        {"dof", "integer", "velocities", true},
        {"offset", "integer|null", "in w; null: frozen", true},
        {"active", "boolean", "it is not frozen", true})};

const struct mechp_shape *const mechp_shapes_system[] = {&system_reply,
                                                         &system_blocks,
                                                         &system_constraint,
                                                         &system_feasibility,
                                                         &system_feasibility_request,
                                                         &system_part,
                                                         &system_product_reply,
                                                         &system_product_request,
                                                         &system_project_reply,
                                                         &system_project_request,
                                                         &system_schur_request,
                                                         &system_variables,
                                                         NULL};

/* --- routes --- */

const struct mechp_row mechp_row_SYSTEM = {
    .tag = "system",
    .doc = "Sizes, factors and the list of parts. `format=archive` returns all parts as a "
           "zip file of Matrix Market files.",
    .effect = MECHP_ASKS,
    .cost = MECHP_COST_UNKNOWN,
    .traits = MECHP_OF_MODEL | MECHP_STOPPABLE,
    .query = MECHP_QUERY(
        SYSTEM_OPTIONS(AS_PARAMETER, "string"),
        {"bilateral", "'all'|'only'", "only: rows of joints only.", "\"all\"", 0},
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
    .doc = "Violations of constraints, complementarity and balance by given unknowns.",
    .effect = MECHP_ASKS,
    .cost = MECHP_COST_UNKNOWN,
    .traits = MECHP_OF_MODEL | MECHP_STOPPABLE | MECHP_TAKES_MODELS,
    .body = &system_feasibility_request,
    .status = 200,
    .reply = "@SystemFeasibility",
    .content = MECHP_JSON,
    .codes = MECHP_CODES(MECHP_SINGULAR, MECHP_DRAINING)};

const struct mechp_row mechp_row_SYSTEM_PRODUCT = {
    .tag = "system",
    .doc = "{H w - CqT l; Cq w + E l} of a vector {w; l}, without forming the matrix.",
    .effect = MECHP_ASKS,
    .cost = MECHP_COST_UNKNOWN,
    .traits = MECHP_OF_MODEL | MECHP_STOPPABLE | MECHP_TAKES_MODELS,
    .body = &system_product_request,
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
    .body = &system_project_request,
    .status = 200,
    .reply = "@SystemProjectReply",
    .content = MECHP_JSON};

const struct mechp_row mechp_row_SYSTEM_SCHUR_PRODUCT = {
    .tag = "system",
    .doc = "(Cq H^-1 CqT + E) l, with a factorization of H or with the masses only.",
    .effect = MECHP_ASKS,
    .cost = MECHP_COST_UNKNOWN,
    .traits = MECHP_OF_MODEL | MECHP_STOPPABLE | MECHP_TAKES_MODELS,
    .body = &system_schur_request,
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
    .query = MECHP_QUERY(SYSTEM_OPTIONS(AS_PARAMETER, "string"),
                         {"bilateral", "'all'|'only'", "only: rows of joints only.", "\"all\"", 0},
                         {"format", "'json'|'mtx'|'coo1'",
                          "Format of the response; overrides Accept.", "\"json\"", 0}),
    .status = 200,
    .reply = "@SystemPartReply",
    .content = MECHP_JSON,
    .also = "text/x-matrix-market text/plain",
    .codes = MECHP_CODES(MECHP_INVALID_REQUEST, MECHP_NOT_ACCEPTABLE, MECHP_SINGULAR,
                         MECHP_LIMIT_REACHED, MECHP_DRAINING)};
