/* Newton's impact law with friction can add energy (T. Kane, D. Levinson, Dynamics: Theory and
 * Applications, 1985): the report of a step says how much; it agrees with the energies before and
 * after, and is 0 where the law dissipates. */
#include "tests/unit/model.h"

static const char *const solvers[] = {"", ", 'vi': {'type': 'semismooth'}"};

static double uniform(uint64_t *seed)
{
    *seed ^= *seed << 13;
    *seed ^= *seed >> 7;
    *seed ^= *seed << 17;
    return (double)(*seed >> 11) / 4503599627370496. - 1.;
}

/* A slender body without gravity, a small ball at its end on the floor, one step. */
static struct mech_sim *rod(uint64_t seed, double mu, double e, const char *solver)
{
    uint64_t s = seed * 0x9e3779b97f4a7c15u;
    char text[4096];
    const double x = 0.5 * uniform(&s), y = 0.3 * uniform(&s), z = 0.4 + 0.1 * uniform(&s);

    (void)uniform(&s);
    const double v[6] = {3. * uniform(&s), 3. * uniform(&s), -1. + uniform(&s),
                         4. * uniform(&s), 4. * uniform(&s), 4. * uniform(&s)};

    snprintf(text, sizeof text,
             "{'mechd': 1, 'materials': [{'name': 'm', 'friction': %g, 'restitution': %g}],"
             "'nodes': [{'name': 'n', 'type': 'NodeRigidBodyRotVecLG', 'referenceCoordinates':"
             "[0, 0, %.17g, 0, 0, 0], 'initialVelocities': [%g, %g, %g, %g, %g, %g]}], 'objects':"
             "[{'name': 'g', 'type': 'Ground', 'geometry': [{'shape': 'Plane', 'material': 'm'}]},"
             "{'name': 'b', 'type': 'RigidBody', 'node': 'n', 'physicsMass': 1, 'physicsInertia':"
             "[0.05, 0.08, 0.09, 0, 0, 0], 'geometry': [{'shape': 'Sphere', 'radius': 0.1,"
             "'position': [%.17g, %.17g, %.17g], 'material': 'm'}]}], 'solver': {'integrator':"
             "'MoreauJean', 'stepSize': 1e-5%s}}",
             mu, e, z + 0.1, v[0], v[1], v[2], v[3], v[4], v[5], x, y, -z, solver);
    return model_of(text);
}

/* What a step adds to the energy, and what it reports of it. */
static double added(struct mech_sim *s, double *told)
{
    const struct mech_step_request one = {.kind = MECH_STEP_COUNT, .count = 1};
    struct mech_step_report report;
    const double before = mech_sim_energy(s);

    if (mech_sim_step(s, &one, &report)) {
        fprintf(stderr, "%s\n", report.reason);
        CU_FAIL_FATAL("a step");
    }
    *told = report.impact_gain;
    return mech_sim_energy(s) - before;
}

static void friction_with_restitution_reports_the_energy_it_adds(void)
{
    int gained = 0, lost = 0;

    for (uint64_t k = 1; k <= 400; k++) {
        struct mech_sim *const s = rod(k, 0.8, 0.9, solvers[k % 2]);
        double told;
        const double more = added(s, &told);

        CU_ASSERT(told >= 0.);
        CHECK_NEAR(told, fmax(0., more), 2e-8); /* gyroscopic forces act for 10 µs */
        gained += more > 1e-4;
        lost += more < -1e-4;
        mech_sim_destroy(s);
    }
    CU_ASSERT(gained >= 3);
    CU_ASSERT(lost >= 100);
}

static void without_friction_nothing_is_added(void)
{
    for (uint64_t k = 1; k <= 100; k++) {
        struct mech_sim *const s = rod(k, 0., k % 3 ? 0.9 : 0., solvers[k % 2]);
        double told;
        const double more = added(s, &told);

        CHECK_NEAR(told, 0., 0.);
        CU_ASSERT(more <= 1e-9);
        mech_sim_destroy(s);
    }
}

UNIT_TESTS(UNIT_TEST(friction_with_restitution_reports_the_energy_it_adds),
           UNIT_TEST(without_friction_nothing_is_added))
