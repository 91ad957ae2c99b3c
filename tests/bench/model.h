/* The body that makes an instance of the model of 2 coordinates that the benchmarks of the service
 * step: two masses between three springs, stepped by MoreauJean. Without damping, because what
 * decays ends in subnormal numbers, which take ten times as long. */
#pragma once

static const char bench_model[] =
    "{\"model\": {\"mechd\": 1, \"objects\": [{\"name\": \"system\", \"type\": "
    "\"LagrangianLinearTIDS\", \"M\": [[1, 0], [0, 1]], \"K\": [[200, -100], [-100, 200]], "
    "\"q0\": [1, 0], \"v0\": [0, 0]}], \"sensors\": [{\"name\": \"at\", \"type\": "
    "\"SensorObject\", \"object\": \"system\", \"outputVariable\": \"Coordinates\"}], "
    "\"outputs\": [{\"name\": \"x1\", \"sensor\": \"at\", \"component\": 0}, {\"name\": "
    "\"x2\", \"sensor\": \"at\", \"component\": 1}], \"solver\": {\"integrator\": "
    "\"MoreauJean\", \"theta\": 0.5, \"stepSize\": 0.001}}}";

/* An oscillator whose stiffness is a parameter, k. */
static const char bench_tuned[] =
    "{\"model\": {\"mechd\": 1, \"parameters\": {\"k\": 100}, "
    "\"nodes\": [{\"name\": \"n\", \"type\": \"Node1D\", \"referenceCoordinates\": [0.1]}], "
    "\"objects\": [{\"name\": \"m\", \"type\": \"Mass1D\", \"node\": \"n\", "
    "\"physicsMass\": 1}, {\"name\": \"s\", \"type\": \"CoordinateSpringDamper\", "
    "\"markers\": [\"g\", \"x\"], \"stiffness\": \"=k\"}], \"markers\": [{\"name\": \"g\", "
    "\"type\": \"MarkerGroundCoordinate\"}, {\"name\": \"x\", \"type\": "
    "\"MarkerNodeCoordinate\", \"node\": \"n\", \"coordinate\": 0}], "
    "\"solver\": {\"integrator\": \"GeneralizedAlpha\", \"stepSize\": 0.001}}}";
