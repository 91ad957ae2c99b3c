/* Mechanical energy of small models: absolute values by hand, and that it stays. */
#include "tests/unit/model.h"

/* a mass of 2 kg at height 3 on a spring of 4 m to the origin, falling at 5 m/s */
#define WEIGHT(gravity, load)                                                                      \
    "{'mechd': 1, 'gravity': [0, 0, " gravity "], 'nodes': [{'name': 'n', 'type': 'NodePoint',"    \
    "'referenceCoordinates': [4, 0, 3], 'initialVelocities': [0, 0, -5]}], 'objects': ["           \
    "{'name': 'g', 'type': 'Ground'}, {'name': 'b', 'type': 'MassPoint', 'node': 'n',"             \
    "'physicsMass': 2}, {'name': 's', 'type': 'SpringDamper', 'markers': ['o', 'p'],"              \
    "'referenceLength': 4, 'stiffness': 100}, {'name': 'c', 'type': 'CartesianSpringDamper',"      \
    "'markers': ['o', 'p'], 'stiffness': [1, 10, 100], 'offset': [3, 0, 3]}], 'markers': ["        \
    "{'name': 'o', 'type': 'MarkerBodyPosition', 'object': 'g'}, {'name': 'p', 'type':"            \
    "'MarkerBodyPosition', 'object': 'b'}, {'name': 'm', 'type': 'MarkerBodyMass', 'object': 'b'}" \
    "], 'loads': [" load "], 'solver': {'integrator': 'TrapezoidalIndex2', 'stepSize': 1e-3}}"

#define FALL(value)                                                                                \
    "{'name': 'w', 'type': 'LoadMassProportional', 'marker': 'm', 'load': [0, 0, " value "]}"

static void weights_motion_and_springs_add_up(void)
{
    /* the spring is stretched from 4 to 5, the other by 1 along x */
    const double springs = 0.5 * 100. + 0.5 * 1., kinetic = 0.5 * 2. * 25.;
    const struct {
        const char *text;
        double weight;
    } cases[] = {{WEIGHT("0", ""), 0.},
                 {WEIGHT("-9.81", ""), 2. * 9.81 * 3.},
                 {WEIGHT("0", FALL("-9.81")), 2. * 9.81 * 3.},
                 {WEIGHT("-4", FALL("-5.81")), 2. * 9.81 * 3.},
                 {WEIGHT("0", FALL("'=-9.81*cos(t)'")), 0.}};

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct mech_sim *const s = model_of(cases[i].text);
        const double before = springs + kinetic + cases[i].weight;

        CHECK_NEAR(mech_sim_energy(s), before, 1e-12);
        CU_ASSERT_EQUAL(model_steps(s, 200), 0);
        if (i < 4) {
            /* 50 J in exchange at ω = 10: (ωh)² = 1e-4 of the trapezoidal rule */
            CHECK_NEAR(mech_sim_energy(s), before, 5e-3);
        } else {
            CU_ASSERT(fabs(mech_sim_energy(s) - before) > 1.);
        }
        mech_sim_destroy(s);
    }
}

/* ½ k (u − offset)², and the work of a constant force of an object counts as stored */
static void offsets_and_forces_of_objects_are_potential(void)
{
    struct mech_sim *s = model_of(
        MODEL_OSCILLATOR(", 'initialCoordinates': [0.5]", "4",
                         ", {'name': 's', 'type': 'CoordinateSpringDamper', 'markers': ['g', 'x'],"
                         "'stiffness': 100, 'offset': 0.2}",
                         "{'name': 'F', 'type': 'LoadCoordinate', 'marker': 'x', 'load': 7}", ""));

    CHECK_NEAR(mech_sim_energy(s), 0.5 * 100. * 0.09, 1e-13);
    mech_sim_destroy(s);
    s = model_of("{'mechd': 1, 'nodes': [{'name': 'n', 'type': 'NodeGenericODE2',"
                 "'referenceCoordinates': [1, 1], 'initialCoordinates': [0.5, 2]}],"
                 "'objects': [{'name': 'o', 'type': 'GenericODE2', 'nodes': ['n'],"
                 "'massMatrix': [[1, 0], [0, 1]], 'stiffnessMatrix': [[3, 0], [0, 4]],"
                 "'forceVector': [10, 0]}]}");
    CHECK_NEAR(mech_sim_energy(s), 0.5 * 3. * 0.25 + 0.5 * 4. * 4. - 10. * 0.5, 1e-13);
    mech_sim_destroy(s);
}

/* a rigid body in the plane, turned */
static void weights_follow_the_centre_of_mass(void)
{
    struct mech_sim *const s =
        model_of("{'mechd': 1, 'gravity': [0, -10, 0], 'nodes': [{'name': 'n', 'type':"
                 "'NodeRigidBody2D', 'referenceCoordinates': [1, 2, 0.3]}], 'objects': [{'name':"
                 "'b', 'type': 'RigidBody2D', 'node': 'n', 'physicsMass': 3,"
                 "'physicsInertia': 1}]}");

    CHECK_NEAR(mech_sim_energy(s), 3. * 10. * 2., 1e-13);
    mech_sim_destroy(s);
}

UNIT_TESTS(UNIT_TEST(weights_motion_and_springs_add_up),
           UNIT_TEST(offsets_and_forces_of_objects_are_potential),
           UNIT_TEST(weights_follow_the_centre_of_mass))
