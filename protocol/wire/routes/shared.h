/* Members that the bodies of several routes have: each list once, whichever rows name it. */
#pragma once

#include "protocol/wire/row.h"

/* A coupling's document, of instances or of models: type and description of its participants. In
 * struct mechp_body_couple_request. */
#define MECHP_COUPLING_MEMBERS(participants_type, doc)                                             \
    {"name", "string", "name for display", MECHP_MAY(couple_request, name)},                       \
        {"participants", participants_type, doc, MECHP_IN(couple_request, participants)},          \
        {"connections", "@CouplingConnection[]", "which outputs drive which inputs",               \
         MECHP_MAY(couple_request, connections)},                                                  \
        {"bonds", "@CouplingBond[]", "forces between two participants",                            \
         MECHP_MAY(couple_request, bonds)},                                                        \
        {"scheme", "@CouplingScheme", "how the participants exchange values",                      \
         MECHP_IN(couple_request, scheme)},                                                        \
        {"hold", "integer 0..3",                                                                   \
         "degree of the polynomials of the inputs over a window (default 0: constant)",            \
         MECHP_MAY(couple_request, hold)},                                                         \
        {"waveform", "@CouplingWaveform", "inputs over a window as splines",                       \
         MECHP_MAY(couple_request, waveform)},                                                     \
        {"stepSize", "number", "size of a window, s", MECHP_IN(couple_request, step_size)},        \
        {"outputs", "string[]",                                                                    \
         "outputs of replies, frames and rows, as participant.output (default all)",               \
         MECHP_MAY(couple_request, outputs)},                                                      \
    {                                                                                              \
        "adaptive", "@CouplingAdaptive",                                                           \
            "window sizes controlled by the estimated error, at most stepSize",                    \
            MECHP_MAY(couple_request, adaptive)                                                    \
    }

/* A point of the equations, in this struct. */
#define MECHP_POINT_MEMBERS(body)                                                                  \
    {"time", "number", "s", MECHP_MAY(body, time)},                                                \
        {"q", "number[]", "coordinates", MECHP_MAY(body, q)},                                      \
        {"v", "number[]", "velocities", MECHP_MAY(body, v)},                                       \
        {"x", "number[]", "first-order states", MECHP_MAY(body, x)},                               \
    {                                                                                              \
        "z", "number[]", "data of nodes and of linear systems", MECHP_MAY(body, z)                 \
    }
