/* Members that the bodies of several routes have: each list once, whichever rows name it. */
#pragma once

#include "protocol/wire/row.h"

/* A coupling's document, of instances or of models: type and description of its participants. */
#define MECHP_COUPLING_MEMBERS(participants, doc)                                                  \
    {"name", "string", "for people", false}, {"participants", participants, doc, true},            \
        {"connections", "@CouplingConnection[]", "outputs that drive inputs", false},              \
        {"bonds", "@CouplingBond[]", "forces between two participants", false},                    \
        {"scheme", "@CouplingScheme", "how values are exchanged", true},                           \
        {"hold", "integer", "order of the inputs over a window, 0 to 3 (0)", false},               \
        {"waveform", "@CouplingWaveform", "inputs through the substeps of the window", false},     \
        {"stepSize", "number", "size of a window, s", true},                                       \
    {                                                                                              \
        "adaptive", "@CouplingAdaptive", "windows by their error, at most stepSize", false         \
    }

/* A point of the equations, in this struct. */
#define MECHP_POINT_MEMBERS(body)                                                                  \
    {"time", "number", "s", MECHP_MAY(body, time)},                                                \
        {"q", "number[]", "coordinates", MECHP_MAY(body, q)},                                      \
        {"v", "number[]", "velocities", MECHP_MAY(body, v)},                                       \
        {"x", "number[]", "first-order states", MECHP_MAY(body, x)},                               \
    {                                                                                              \
        "z", "number[]", "data of linear systems", MECHP_MAY(body, z)                              \
    }
