/* Members that every report of a step has, X(key, type, description, member, kind of text): rows of
 * its shape (routes/stepping.c), and a writer for the step path (report.c), where a key that is a
 * literal takes a fifth of the instructions of one that the walker of bodies finds. */
#pragma once

#include "protocol/wire/bodies_stepping.h" /* struct mechp_body_step_report */

#define MECHP_STEP_REPORT(X)                                                                       \
    X("steps", "integer", "internal steps done", steps, unsigned)                                  \
    X("stepSize", "number", "size of an internal step, s", step_size, number)                      \
    X("iterations", "integer", "Newton iterations", iterations, unsigned)                          \
    X("viIterations", "integer", "iterations of the complementarity solver", vi_iterations,        \
      unsigned)                                                                                    \
    X("substeps", "integer", "substeps of schemes with step size control", substeps, unsigned)     \
    X("refusedSubsteps", "integer", "substeps that were too inaccurate, or failed",                \
      refused_substeps, unsigned)                                                                  \
    X("impacts", "integer",                                                                        \
      "impacts located by event-driven schemes, and those of joints that inputs activate",         \
      impacts, unsigned)                                                                           \
    X("residual", "number|null", "largest final residual", residual, number_or_null)               \
    X("contacts", "integer", "active contacts in the last internal step", contacts, integer)       \
    X("impactEnergyGain", "number",                                                                \
      "kinetic energy added by the impulses of contacts, and of the joints in the same step, J: "  \
      "Newton's impact law can add energy with friction or different coefficients of "             \
      "restitution, and the impulses of joints can add some of the order of the step size",        \
      impact_energy_gain, number)                                                                  \
    X("linear", "string", "linear solver", linear, string)                                         \
    X("vi", "string", "complementarity solver", vi, string)                                        \
    X("differenced", "boolean", "a Jacobian was computed by finite differences", differenced, bool)
