/* The document of a coupling: the request that makes one. */
#include "protocol/wire/bodies_coupling.h"
#include "protocol/wire/routes/shared.h"

const struct mechp_shape mechp_body_coupling_participant = {
    .name = "CouplingParticipant",
    .doc = "An instance or an external program that takes part.",
    .request = true,
    .members = MECHP_MEMBERS(
        {"name", "@Name", "its name in the coupling (default the id of the instance)",
         MECHP_MAY(coupling_participant, name)},
        {"instance", "@Name", "id of the instance", MECHP_MAY(coupling_participant, instance)},
        {"partner", "@CouplingPartner",
         "in place of `instance`: an external program, which connects under this name",
         MECHP_MAY(coupling_participant, partner)})};

const struct mechp_shape mechp_body_coupling_partner = {
    .name = "CouplingPartner",
    .doc = "An external program that the server calls over ZeroMQ or the lane.",
    .request = true,
    .members = MECHP_MEMBERS(
        {"inputs", "@Name[]", "names of the numbers that it receives",
         MECHP_MAY(coupling_partner, inputs)},
        {"outputs", "@Name[]", "names of the numbers that it returns",
         MECHP_MAY(coupling_partner, outputs)},
        {"rollback", "boolean",
         "it can return to the start of a window and repeat it (default true)",
         MECHP_MAY(coupling_partner, rollback)},
        {"patience", "number",
         "longest wait for an answer, or for it to connect again, 1e-3 to 3600 s (default 5)",
         MECHP_MAY(coupling_partner, patience)})};

const struct mechp_shape mechp_body_coupling_connection = {
    .name = "CouplingConnection",
    .doc = "An output that drives an input: input += factor * output + offset.",
    .request = true,
    .members = MECHP_MEMBERS(
        {"from", "string", "participant.output, or participant.output[component]",
         MECHP_IN(coupling_connection, from)},
        {"to", "string", "participant.input, or participant.input[component]",
         MECHP_IN(coupling_connection, to)},
        {"factor", "number",
         "factor (default 1); required if the units differ (for FMUs: if the base units differ)",
         MECHP_MAY(coupling_connection, factor)},
        {"offset", "number", "default 0", MECHP_MAY(coupling_connection, offset)})};

const struct mechp_shape mechp_body_bond_law = {
    .name = "BondLaw",
    .doc = "A spring (stiffness, damping, rest) or a transmission line (delay, impedance).",
    .request = true,
    .members = MECHP_MEMBERS(
        {"stiffness", "number", "N/m", MECHP_MAY(bond_law, stiffness)},
        {"damping", "number", "N s/m", MECHP_MAY(bond_law, damping)},
        {"rest", "number", "gap at which the spring is at rest, m", MECHP_MAY(bond_law, rest)},
        {"delay", "number", "delay of the line, s", MECHP_MAY(bond_law, delay)},
        {"impedance", "number", "impedance of the line, N s/m", MECHP_MAY(bond_law, impedance)})};

const struct mechp_shape mechp_body_coupling_bond = {
    .name = "CouplingBond",
    .doc = "A force that acts on two participants in opposite directions, for the schemes Energy "
           "and TransmissionLine.",
    .request = true,
    .members = MECHP_MEMBERS(
        {"name", "@Name", "name in reports", MECHP_MAY(coupling_bond, name)},
        {"effort", "string[]", "the two inputs that receive the force, one of each participant",
         MECHP_IN(coupling_bond, effort)},
        {"flow", "string[]",
         "the two outputs with the displacements or velocities of the same points",
         MECHP_IN(coupling_bond, flow)},
        {"kind", "'displacement'|'velocity'",
         "kind of the flows; required if neither their names nor their units show it, as for "
         "external programs",
         MECHP_MAY(coupling_bond, kind)},
        {"law", "'rigid'|@BondLaw", "law of the force", MECHP_IN(coupling_bond, law)},
        {"gap", "number", "gap at the start, m, if the flows are velocities",
         MECHP_MAY(coupling_bond, gap)})};

const struct mechp_shape mechp_body_coupling_scheme = {
    .name = "CouplingScheme",
    .doc = "How the participants exchange values in a window.",
    .request = true,
    .members = MECHP_MEMBERS(
        {"type",
         "'Aitken'|'Energy'|'GaussSeidel'|'GaussSeidelIterated'|'IQN-ILS'|'InterfaceNewton'|"
         "'Jacobi'|'JacobiIterated'|'TransmissionLine'",
         "name of the scheme", MECHP_IN(coupling_scheme, type)},
        {"relativeTolerance", "number",
         "tolerance of each value, relative to its size (default 1e-9)",
         MECHP_MAY(coupling_scheme, relative_tolerance)},
        {"absoluteTolerance", "number", "absolute tolerance of each value (default 1e-12)",
         MECHP_MAY(coupling_scheme, absolute_tolerance)},
        {"maxIterations", "integer 1..10000",
         "largest number of iterations in a window (default 50)",
         MECHP_MAY(coupling_scheme, max_iterations)},
        {"relaxation", "number",
         "relaxation factor: constant, or that of the first iteration (default 1)",
         MECHP_MAY(coupling_scheme, relaxation)},
        {"reuse", "integer 0..1000",
         "IQN-ILS: number of earlier windows whose differences are reused (default 0)",
         MECHP_MAY(coupling_scheme, reuse)},
        {"filter", "number",
         "IQN-ILS: a difference is dropped if the part of it that is independent of the others is "
         "smaller than this fraction (default 0)",
         MECHP_MAY(coupling_scheme, filter)},
        {"order", "@Name[]", "order in which the participants step (default as listed)",
         MECHP_MAY(coupling_scheme, order)})};

const struct mechp_shape mechp_body_coupling_adaptive = {
    .name = "CouplingAdaptive",
    .doc = "Window sizes controlled by the estimated error of the inputs.",
    .request = true,
    .members = MECHP_MEMBERS(
        {"relativeTolerance", "number", "relative tolerance of the inputs (default 1e-4)",
         MECHP_MAY(coupling_adaptive, relative_tolerance)},
        {"absoluteTolerance", "number", "absolute tolerance of the inputs (default 1e-9)",
         MECHP_MAY(coupling_adaptive, absolute_tolerance)},
        {"minimum", "number", "smallest window, s (default 1e-9)",
         MECHP_MAY(coupling_adaptive, minimum)},
        {"maximum", "number", "largest window, s", MECHP_MAY(coupling_adaptive, maximum)})};

const struct mechp_shape mechp_body_coupling_waveform = {
    .name = "CouplingWaveform",
    .doc = "Inputs over a window as splines through the driving outputs at their internal steps.",
    .request = true,
    .members = MECHP_MEMBERS({"degree", "integer 1..3", "degree of the splines (default 1)",
                              MECHP_MAY(coupling_waveform, degree)},
                             {"substeps", "boolean",
                              "must be true: inputs are given at the internal steps",
                              MECHP_MAY(coupling_waveform, substeps)})};

const struct mechp_shape mechp_body_couple_request = {
    .name = "CoupleRequest",
    .doc = "Participants, their connections, and the scheme by which they step together.",
    .request = true,
    .members = MECHP_MEMBERS(MECHP_COUPLING_MEMBERS(
        "@CouplingParticipant[]", "what is coupled; all instances are at the same time")),
    .example = "{\"participants\":[{\"name\":\"cart\",\"instance\":\"rig\"}],\"connections\":"
               "[{\"from\":\"cart.x\",\"to\":\"cart.force\",\"factor\":-10}],\"scheme\":"
               "{\"type\":\"IQN-ILS\"},\"stepSize\":0.01}"};
