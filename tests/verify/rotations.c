/* Rotations in space by every integrator that supports them: observed order, agreement of all,
 * Euler parameters of length 1, conservation laws of a free body, the same bits after a snapshot.
 *
 * The model of orders: a body of three different moments of inertia that tumbles on a damped spring
 * at a point of it, with first-order states beside it. The free body: J = diag(0.1, 0.2, 0.3),
 * spinning about its middle axis, which is unstable: it turns over and over (L. Euler, 1765). */
#include "solver/step/stepper.h"
#include "tests/unit/alloc_count.h"
#include "tests/unit/model.h"

/* %s, %.17g: integrator, step size */
#define TUMBLING                                                                                   \
    "{'mechd': 1, 'gravity': [0, 0, -9.81], 'nodes': [{'name': 'n', 'type': 'NodeRigidBodyEP',"    \
    "'initialVelocities': [0.3, -0.2, 0.1, 0, 0.5, 1, -0.7]}, {'name': 'y',"                       \
    "'type': 'NodeGenericODE1', 'initialCoordinates': [1, 0]}], 'objects': [{'name': 'g',"         \
    "'type': 'Ground'}, {'name': 'b', 'type': 'RigidBody', 'node': 'n', 'physicsMass': 2,"         \
    "'physicsInertia': [0.1, 0.2, 0.15, 0.01, 0, 0.02]}, {'name': 's',"                            \
    "'type': 'CartesianSpringDamper', 'markers': ['m0', 'm1'], 'stiffness': [30, 40, 50],"         \
    "'damping': [0.5, 0.5, 0.5]}, {'name': 'o', 'type': 'GenericODE1', 'nodes': ['y'],"            \
    "'systemMatrix': [[-1, 4], [-4, -1]]}], 'markers': [{'name': 'm0',"                            \
    "'type': 'MarkerBodyRigid', 'object': 'g', 'localPosition': [0.4, 0.1, 0]}, {'name': 'm1',"    \
    "'type': 'MarkerBodyRigid', 'object': 'b', 'localPosition': [0.4, 0.1, 0]}],"                  \
    "'solver': {'integrator': '%s', 'stepSize': %.17g, 'spectralRadius': 0.8, 'theta': 1,"         \
    "'newton': {'relativeTolerance': 1e-12},"                                                      \
    "'adaptive': {'absoluteTolerance': 1e9}}}"

enum { NUMBERS = 7 + 6 + 2 };

/* q, v and x after 1 s in n steps */
static void tumble(const char *integrator, int n, double y[NUMBERS])
{
    char text[4096];

    snprintf(text, sizeof text, TUMBLING, integrator, 1. / n);
    struct mech_sim *const s = model_of(text);

    CU_ASSERT_EQUAL(model_steps(s, (uint64_t)n), 0);
    memcpy(y, model_state(s).q, 7 * sizeof *y);
    memcpy(y + 7, model_state(s).v, 6 * sizeof *y);
    memcpy(y + 13, model_state(s).x, 2 * sizeof *y);
    double length = 0.;
    for (int i = 3; i < 7; i++) {
        length += y[i] * y[i];
    }
    CHECK_NEAR(length, 1., 1e-14);
    mech_sim_destroy(s);
}

/* steps of 1 s at which the error is of its asymptotic form and far above rounding */
static int steps_of(int32_t order)
{
    return order >= 6 ? 100 : order >= 4 ? 100 : order >= 2 ? 400 : 8000;
}

/* by three step sizes: log2 of the ratio of differences; the finest is near the best solution */
static void every_integrator_keeps_its_order_and_all_agree(void)
{
    struct mech_integrator_info info;
    double best[NUMBERS];
    int checked = 0;

    tumble("RK67", 400, best);
    for (size_t i = 0; mech_integrator(i, &info); i++) {
        if (mech_stepper_find(info.name)->rotations) {
            const int n = steps_of(info.order);
            double a[NUMBERS], b[NUMBERS], c[NUMBERS];

            tumble(info.name, n, a);
            tumble(info.name, 2 * n, b);
            tumble(info.name, 4 * n, c);
            const double order =
                log2(model_distance(a, b, NUMBERS) / model_distance(b, c, NUMBERS));
            const double left = model_distance(b, c, NUMBERS) / (exp2(info.order) - 1.);

            CHECK_ORDER(info.name, order, info.order, 0.1);
            /* the error that the order predicts, twice; and rounding */
            CHECK_NEAR(model_distance(c, best, NUMBERS), 0., 2. * left + 1e-11);
            checked++;
        }
    }
    CU_ASSERT(checked >= 14);
}

/* %s, %.17g: integrator, step size */
#define FREE                                                                                       \
    "{'mechd': 1, 'nodes': [{'name': 'n', 'type': 'NodeRigidBodyEP',"                              \
    "'initialVelocities': [1, 2, 3, 0, 0.005, 1, 0.005]}], 'objects': [{'name': 'b',"              \
    "'type': 'RigidBody', 'node': 'n', 'physicsMass': 2, 'physicsInertia':"                        \
    "[0.1, 0.2, 0.3, 0, 0, 0]}], 'solver': {'integrator': '%s', 'stepSize': %.17g,"                \
    "'spectralRadius': %g, 'newton': {'relativeTolerance': 1e-12}}}"

/* largest relative drift of energy, angular momentum in space; of velocity, over 20 s */
static void drift_of(const char *integrator, double h, double rho, double drift[3])
{
    char text[2048];
    const struct mech_item_query query = {MECH_OBJECT, "b", MECH_OUTPUT_ROTATION_MATRIX,
                                          MECH_CURRENT, NULL};
    double start[3] = {0.};

    snprintf(text, sizeof text, FREE, integrator, h, rho);
    struct mech_sim *const s = model_of(text);
    drift[0] = drift[1] = drift[2] = 0.;
    for (int k = 0; k <= 100; k++) {
        const struct mech_state_view at = model_state(s);
        const double L[3] = {0.1 * at.v[3], 0.2 * at.v[4], 0.3 * at.v[5]};
        double R[9], now[3], turned = 0., energy = 0.;
        size_t count = 0;

        CU_ASSERT_EQUAL(mech_sim_item_output(s, &query, 9, R, &count), 0);
        for (int i = 0; i < 3; i++) {
            now[i] = R[3 * i] * L[0] + R[3 * i + 1] * L[1] + R[3 * i + 2] * L[2];
            start[i] = k ? start[i] : now[i];
            turned = hypot(turned, now[i] - start[i]);
            energy += 0.5 * L[i] * at.v[3 + i];
            drift[2] = fmax(drift[2], fabs(at.v[i] - (1. + i)));
        }
        /* ½ · 0.2 · 2² and 0.2 · 2 at the start, nearly */
        drift[0] = fmax(drift[0], fabs(energy / 0.40002 - 1.));
        drift[1] = fmax(drift[1], turned / 0.4);
        CU_ASSERT_EQUAL_FATAL(model_step(s, 0.2), 0);
    }
    mech_sim_destroy(s);
}

static void a_free_body_keeps_its_momentum_and_nearly_its_energy(void)
{
    static const struct {
        const char *integrator;
        double rho, energy, momentum;
    } bars[] = {
        /* twice what was seen */
        {"GeneralizedAlpha", 0.9, 2e-5, 3e-5},
        {"GeneralizedAlpha", 1., 2e-5, 3e-5},
        {"TrapezoidalIndex2", 1., 2e-5, 3e-5},
        {"VelocityVerlet", 1., 2e-5, 1e-4},
        {"RK44", 1., 2e-11, 3e-10},
        {"RK67", 1., 1e-13, 1e-13},
    };

    for (size_t i = 0; i < sizeof bars / sizeof *bars; i++) {
        double drift[3];

        drift_of(bars[i].integrator, 0.005, bars[i].rho, drift);
        printf("%s, rho %g: relative drift over 20 s at 5 ms: energy %.1e, angular momentum %.1e\n",
               bars[i].integrator, bars[i].rho, drift[0], drift[1]);
        CU_ASSERT(drift[0] <= bars[i].energy);
        CU_ASSERT(drift[1] <= bars[i].momentum);
        /* nothing pushes it: the velocity is what it was, up to the rounding of Newton's steps */
        CHECK_NEAR(drift[2], 0., 1e-13);
    }
}

/* A heavy top: its point is the node, whose position is held; the centre of mass is 0.3 m off it,
 * so that M depends on q. %s, %.17g: integrator, step size. */
#define TOP                                                                                        \
    "{'mechd': 1, 'gravity': [0, 0, -9.81], 'nodes': [{'name': 'n', 'type': 'NodeRigidBodyEP',"    \
    "'referenceCoordinates': [0, 0, 0, 0.9689124217106447, 0.24740395925452294, 0, 0],"            \
    "'initialVelocities': [0, 0, 0, 0, 0, 4.94807918509046, 19.378248434212894]}],"                \
    "'objects': [{'name': 'b', 'type': 'RigidBody', 'node': 'n', 'physicsMass': 2,"                \
    "'physicsInertia': [0.2, 0.2, 0.01, 0, 0, 0], 'physicsCenterOfMass': [0, 0, 0.3]},"            \
    "{'name': 'x', 'type': 'CoordinateConstraint', 'markers': ['g', 'm0']}, {'name': 'y',"         \
    "'type': 'CoordinateConstraint', 'markers': ['g', 'm1']}, {'name': 'z',"                       \
    "'type': 'CoordinateConstraint', 'markers': ['g', 'm2']}], 'markers': [{'name': 'g',"          \
    "'type': 'MarkerGroundCoordinate'}, {'name': 'm0', 'type': 'MarkerNodeCoordinate',"            \
    "'node': 'n', 'coordinate': 0}, {'name': 'm1', 'type': 'MarkerNodeCoordinate', 'node': 'n',"   \
    "'coordinate': 1}, {'name': 'm2', 'type': 'MarkerNodeCoordinate', 'node': 'n',"                \
    "'coordinate': 2}], 'solver': {'integrator': '%s', 'stepSize': %.17g,"                         \
    "'spectralRadius': 0.8, 'newton': {'relativeTolerance': 1e-12},"                               \
    "'adaptive': {'absoluteTolerance': 1e9}}}"

enum { OF_TOP = 7 + 6 + 3 };

/* q, v and λ after half a second in n steps; drift of the energy */
static double spin(const char *integrator, int n, double y[OF_TOP])
{
    char text[4096];

    snprintf(text, sizeof text, TOP, integrator, 0.5 / n);
    struct mech_sim *const s = model_of(text);
    const double before = mech_sim_energy(s);

    CU_ASSERT_EQUAL(model_steps(s, (uint64_t)n), 0);
    memcpy(y, model_state(s).q, 7 * sizeof *y);
    memcpy(y + 7, model_state(s).v, 6 * sizeof *y);
    memcpy(y + 13, model_state(s).lambda, 3 * sizeof *y);
    const double drift = mech_sim_energy(s) - before;
    mech_sim_destroy(s);
    return drift;
}

/* explicit schemes take the point out of the equations, implicit ones keep its multipliers */
static void a_heavy_top_on_its_point_spins_alike(void)
{
    struct mech_integrator_info info;
    double best[OF_TOP];
    int checked = 0;

    CHECK_NEAR(spin("RK67", 4000, best), 0., 1e-9);
    for (size_t i = 0; mech_integrator(i, &info); i++) {
        const struct mech_stepper_type *const type = mech_stepper_find(info.name);

        if (type->rotations && (type->pins || type->joints) && info.order > 1) {
            const int n = info.order >= 6 ? 400 : info.order >= 4 ? 500 : 2000;
            double y[3][OF_TOP], error[3];

            for (int k = 0; k < 3; k++) {
                spin(info.name, n << k, y[k]);
                error[k] = 0.;
                for (int j = 0; j < 13; j++) {
                    error[k] = hypot(error[k], y[k][j] - best[j]);
                }
            }
            CHECK_ORDER(info.name, log2(error[0] / error[1]), info.order, 0.1);
            /* the point carries m v²/r and the weight: its slope by the state is some 10 N */
            for (int j = 13; j < OF_TOP; j++) {
                CHECK_NEAR(y[2][j], best[j], 1e2 * error[2] + 1e-9);
            }
            checked++;
        }
    }
    CU_ASSERT(checked >= 11);
}

/* restored and uninterrupted agree to the bit, and a step allocates nothing */
static void explicit_steps_of_rotations_resume_and_allocate_nothing(void)
{
    static const char *const schemes[] = {"RK44", "DOPRI5", "VelocityVerlet", "ODE23"};

    for (size_t i = 0; i < sizeof schemes / sizeof *schemes; i++) {
        char text[4096];

        snprintf(text, sizeof text, TUMBLING, schemes[i], 0.01);
        struct mech_sim *const one = model_of(text), *const two = model_of(text);
        const size_t size = mech_sim_snapshot_size(one);
        void *const bytes = malloc(size);
        bool same = false;

        CU_ASSERT_EQUAL(model_steps(one, 30), 0);
        mech_sim_snapshot_write(one, bytes);
        CU_ASSERT_EQUAL(mech_sim_snapshot_read(two, bytes, size, &same), 0);
        alloc_count_start();
        CU_ASSERT_EQUAL(model_steps(one, 1000), 0);
        CU_ASSERT_EQUAL(alloc_count_stop(), 0);
        CU_ASSERT_EQUAL(model_steps(two, 1000), 0);
        CU_ASSERT(memcmp(model_state(one).q, model_state(two).q, 7 * sizeof(double)) == 0);
        CU_ASSERT(memcmp(model_state(one).v, model_state(two).v, 6 * sizeof(double)) == 0);
        free(bytes);
        mech_sim_destroy(one);
        mech_sim_destroy(two);
    }
}

UNIT_TESTS(UNIT_TEST(every_integrator_keeps_its_order_and_all_agree),
           UNIT_TEST(a_free_body_keeps_its_momentum_and_nearly_its_energy),
           UNIT_TEST(a_heavy_top_on_its_point_spins_alike),
           UNIT_TEST(explicit_steps_of_rotations_resume_and_allocate_nothing))
