/* The bodies of requests and replies about the system descriptor. */
#include "protocol/bind/shapes.h"

#include <stddef.h>

#define LEVEL "'acceleration'|'velocity'"
/* of every request about the descriptor */
#define SYSTEM_OPTIONS                                                                             \
    {"level", LEVEL, "velocity for nonsmooth integrators, else acceleration", false},              \
        {"step", "number", "h of the velocity level, s; the model's without it", false},           \
        {"contacts", "'active'|'all'", "of interactions; active without it", false},               \
        {"massFactor", "number", "of M in H", false},                                              \
        {"stiffnessFactor", "number", "of K in H", false},                                         \
        {"dampingFactor", "number", "of C in H", false},                                           \
    {                                                                                              \
        "frozen", "string|string[]", "items whose velocities drop out", false                      \
    }

static const struct mechp_shape shapes[] = {
    {"System",
     "The system descriptor [H -CqT; Cq E] {w; l} - {f; -b} = {0; c} at the present state.",
     MECHP_MEMBERS(
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
         {"parts", "object[]", "name, doc and shape of each matrix and vector", true}),
     false, NULL},
    {"SystemBlocks", "The blocks of the descriptor.",
     MECHP_MEMBERS({"time", "number", "s", true}, {"level", LEVEL, "as of the descriptor", true},
                   {"variables", "@SystemVariables[]", "in the order of w", true},
                   {"constraints", "@SystemConstraint[]", "in the order of l", true},
                   {"blocks", "object[]", "variables coupled, entries of K, C and M", true}),
     false, NULL},
    {"SystemConstraint", "Rows of one set.",
     MECHP_MEMBERS(
         {"name", "@Name", "the joint or interaction", true},
         {"source", "'joint'|'interaction'|'contact'", "where it comes from", true},
         {"with", "@Name", "the second body of a contact", false},
         {"row", "integer", "its first one among lambda, or among the impulses; a contact's number",
          true},
         {"kind", "'bilateral'|'unilateral'|'box'|'cone'|'rolling'", "its set", true},
         {"rows", "integer", "how many", true},
         {"offset", "integer|null", "in l; null: not active", true},
         {"active", "boolean", "it is a part of the system", true},
         {"flags", "string[]", "why not: invalid, disabled, redundant, broken, free", true},
         {"mirrored", "boolean", "the joint's multiplier is -l", true},
         {"position", "number", "g or y of its first row", true},
         {"cfm", "number", "compliance of its first row", true},
         {"mu", "number", "friction", false}, {"spinning", "number", "m", false},
         {"rolling", "number", "m", false}, {"lower", "number|null", "null: none", false},
         {"upper", "number|null", "null: none", false}),
     false, NULL},
    {"SystemFeasibility", "How far unknowns are from a solution.",
     MECHP_MEMBERS(
         {"time", "number", "s", true}, {"level", LEVEL, "as of the descriptor", true},
         {"violation", "number", "largest violation of c", true},
         {"complementarity", "number", "largest |l c| of normal rows", true},
         {"balance", "number", "|H w - CqT l - f| over the larger of |f| and |H w|", true},
         {"residual", "number|null", "of the complementarity problem; null: H is singular", true}),
     false, NULL},
    {"SystemFeasibilityRequest", "Unknowns of the active rows, and options.",
     MECHP_MEMBERS({"w", "number[]", "unknowns of the variables", true},
                   {"l", "number[]", "multipliers", true}, SYSTEM_OPTIONS),
     true, "{\"w\":[0],\"l\":[]}"},
    {"SystemPart", "A matrix, by rows or by its entries, or a vector.",
     MECHP_MEMBERS({"time", "number", "s", true}, {"level", LEVEL, "as of the descriptor", true},
                   {"name", "string", "as asked for", true},
                   {"shape", "integer[]", "rows, and columns of a matrix", true},
                   {"rows", "number[][]", "a matrix of at most 4096 places", false},
                   {"coo", "number[][]", "row, column, value of what is not 0, by columns", false},
                   {"values", "number[]", "a vector", false}),
     false, NULL},
    {"SystemProductReply", "The result.",
     MECHP_MEMBERS(
         {"time", "number", "s", true}, {"level", LEVEL, "as of the descriptor", true},
         {"product", "number[]", "{H w - CqT l; Cq w + E' l}, or of the multipliers alone", true}),
     false, NULL},
    {"SystemProductRequest", "The vector, and options.",
     MECHP_MEMBERS({"x", "number[]", "{w; l}", true},
                   {"symmetric", "boolean", "x is {w; -l}: the product is Z x", false},
                   SYSTEM_OPTIONS),
     true, "{\"x\":[1]}"},
    {"SystemProjectReply", "What was given, with its multipliers in their sets.",
     MECHP_MEMBERS({"time", "number", "s", true}, {"level", LEVEL, "as of the descriptor", true},
                   {"l", "number[]", "multipliers", false},
                   {"unknowns", "number[]", "{w; l}", false}),
     false, NULL},
    {"SystemProjectRequest", "Exactly one of l and unknowns, and options.",
     MECHP_MEMBERS({"l", "number[]", "multipliers", false},
                   {"unknowns", "number[]", "{w; l}", false},
                   {"enabled", "boolean[]", "rows that are projected; all without it", false},
                   SYSTEM_OPTIONS),
     true, "{\"l\":[]}"},
    {"SystemSchurRequest", "Multipliers, and options.",
     MECHP_MEMBERS({"l", "number[]", "multipliers", true},
                   {"enabled", "boolean[]", "rows that take part; all without it", false},
                   {"throughStiffness", "boolean",
                    "through a factored H, or by the masses alone; as H asks without it", false},
                   SYSTEM_OPTIONS),
     true, "{\"l\":[]}"},
    {"SystemVariables", "Unknowns of one node or object.",
     MECHP_MEMBERS(
         {"name", "@Name", "the body, object or node", true},
         {"mass", "'body'|'node'|'shaft'|'diagonal'|'dense'|'band'|'none'", "its form", true},
         {"massNumber", "integer", "equal masses are shared", true},
         {"first", "integer", "among the velocities of the state", true},
         {"dof", "integer", "velocities", true},
         {"offset", "integer|null", "in w; null: frozen", true},
         {"active", "boolean", "it is not frozen", true}),
     false, NULL},
};

const struct mechp_shape *mechp_shape_of_system(int i)
{
    return i >= 0 && i < (int)(sizeof shapes / sizeof *shapes) ? &shapes[i] : NULL;
}
