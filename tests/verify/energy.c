/* What a conservative double pendulum keeps of its energy over 20 s: two rigid links in the plane
 * on hinges, released from the horizontal, fast enough to turn over. Drifts are relative to the
 * energy in exchange, m g L (1/2 + 3/2) · 2 = 39.24 J between highest and lowest position. */
#include "tests/unit/model.h"

/* %s, %.17g, %g: integrator, step size, spectral radius */
#define DOUBLE_PENDULUM                                                                            \
    "{'mechd': 1, 'gravity': [0, -9.81, 0], 'nodes': [{'name': 'a', 'type': 'NodeRigidBody2D',"    \
    "'referenceCoordinates': [0.5, 0, 0]}, {'name': 'b', 'type': 'NodeRigidBody2D',"               \
    "'referenceCoordinates': [1.5, 0, 0]}], 'objects': [{'name': 'g', 'type': 'Ground'},"          \
    "{'name': 'A', 'type': 'RigidBody2D', 'node': 'a', 'physicsMass': 1,"                          \
    "'physicsInertia': 0.08333333333333333}, {'name': 'B', 'type': 'RigidBody2D', 'node': 'b',"    \
    "'physicsMass': 1, 'physicsInertia': 0.08333333333333333}, {'name': 'h0',"                     \
    "'type': 'RevoluteJoint2D', 'markers': ['g', 'a0']}, {'name': 'h1',"                           \
    "'type': 'RevoluteJoint2D', 'markers': ['a1', 'b0']}], 'markers': [{'name': 'g',"              \
    "'type': 'MarkerBodyPosition', 'object': 'g'}, {'name': 'a0', 'type': 'MarkerBodyPosition',"   \
    "'object': 'A', 'localPosition': [-0.5, 0, 0]}, {'name': 'a1',"                                \
    "'type': 'MarkerBodyPosition', 'object': 'A', 'localPosition': [0.5, 0, 0]}, {'name': 'b0',"   \
    "'type': 'MarkerBodyPosition', 'object': 'B', 'localPosition': [-0.5, 0, 0]}],"                \
    "'solver': {'integrator': '%s', 'stepSize': %.17g, 'spectralRadius': %g,"                      \
    "'newton': {'relativeTolerance': 1e-12, 'absoluteTolerance': 1e-12}}}"

/* largest energy lost and gained over 20 s, relative */
static void drift_of(const char *integrator, double h, double rho, double drift[2])
{
    char text[4096];

    snprintf(text, sizeof text, DOUBLE_PENDULUM, integrator, h, rho);
    struct mech_sim *const s = model_of(text);
    const double start = mech_sim_energy(s);

    drift[0] = drift[1] = 0.;
    for (int k = 0; k < 400; k++) {
        CU_ASSERT_EQUAL_FATAL(model_step(s, 0.05), 0);
        const double change = (mech_sim_energy(s) - start) / 39.24;

        drift[0] = fmax(drift[0], -change);
        drift[1] = fmax(drift[1], change);
    }
    mech_sim_destroy(s);
}

static void a_double_pendulum_nearly_keeps_its_energy(void)
{
    static const struct {
        const char *integrator;
        double rho, lost, gained;
    } bars[] = {
        /* twice what was seen, or more */
        {"TrapezoidalIndex2", 1., 2e-4, 1e-6},
        {"GeneralizedAlpha", 0.99, 3e-4, 1e-6},
        {"GeneralizedAlpha", 0.9, 3e-4, 1e-6},
        {"GeneralizedAlpha", 0.6, 4e-4, 1e-6},
    };

    for (size_t i = 0; i < sizeof bars / sizeof *bars; i++) {
        double coarse[2], fine[2];

        drift_of(bars[i].integrator, 0.002, bars[i].rho, coarse);
        drift_of(bars[i].integrator, 0.001, bars[i].rho, fine);
        printf("%s, rho %g: of the energy in exchange over 20 s at 1 ms: -%.1e +%.1e (2 ms: "
               "-%.1e +%.1e)\n",
               bars[i].integrator, bars[i].rho, fine[0], fine[1], coarse[0], coarse[1]);
        CU_ASSERT(fine[0] <= bars[i].lost);
        CU_ASSERT(fine[1] <= bars[i].gained);
    }
}

UNIT_TESTS(UNIT_TEST(a_double_pendulum_nearly_keeps_its_energy))
