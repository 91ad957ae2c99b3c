/* Coordinates that constraints hold at functions of time, taken out of the equations by explicit
 * schemes: order, agreement with an implicit scheme that keeps the multiplier, reactions, refusals.
 *
 * Three coordinates with a full mass matrix on springs; the first follows c(t) = 0.1 sin 3t, the
 * last hangs on a spring with a cubic term. */
#include "solver/step/stepper.h"
#include "tests/unit/alloc_count.h"
#include "tests/unit/model.h"

#define MOVED                                                                                      \
    "'offsetUserFunction': {'formula': '=0.1*sin(3*t)', 'partial': {'t': '=0.3*cos(3*t)'}}"

/* mass matrix, constraint, more objects, integrator, step size */
#define SHAKEN(mass, held, more, integrator, h)                                                    \
    "{'mechd': 1, 'nodes': [{'name': 'n', 'type': 'NodeGenericODE2',"                              \
    "'referenceCoordinates': [0.2, 0, 0], 'initialCoordinates_t': [0.3, 0, 0.5]}], 'objects': ["   \
    "{'name': 'o', 'type': 'GenericODE2', 'nodes': ['n'], 'massMatrix': " mass ","                 \
    "'stiffnessMatrix': [[60, -20, 0], [-20, 50, -30], [0, -30, 40]], 'dampingMatrix':"            \
    "[[0.4, 0, 0], [0, 0.3, -0.1], [0, -0.1, 0.2]]}, {'name': 'c',"                                \
    "'type': 'CoordinateConstraint', 'markers': ['g', 'x'], " held "}, {'name': 's',"              \
    "'type': 'CoordinateSpringDamper', 'markers': ['g', 'z'],"                                     \
    "'springForceUserFunction': '=40*u^3'}" more "], 'markers': [{'name': 'g',"                    \
    "'type': 'MarkerGroundCoordinate'}, {'name': 'x', 'type': 'MarkerNodeCoordinate',"             \
    "'node': 'n', 'coordinate': 0}, {'name': 'y', 'type': 'MarkerNodeCoordinate', 'node': 'n',"    \
    "'coordinate': 1}, {'name': 'z', 'type': 'MarkerNodeCoordinate', 'node': 'n',"                 \
    "'coordinate': 2}], 'solver': {'integrator': '" integrator "', 'stepSize': " h ","             \
    "'newton': {'relativeTolerance': 1e-12}, 'adaptive': {'absoluteTolerance': 1e9}}}"

#define FULL "[[2, 0.5, 0.1], [0.5, 1, 0.2], [0.1, 0.2, 1.5]]"
#define DIAGONAL "{'diag': [2, 1, 1.5]}"

enum { NUMBERS = 3 + 3 + 1 };

/* q, v and λ after 1 s in n steps */
static void shake(bool full, const char *integrator, int n, double y[NUMBERS])
{
    char text[4096];

    if (full) {
        snprintf(text, sizeof text, SHAKEN(FULL, MOVED, "", "%s", "%.17g"), integrator, 1. / n);
    } else {
        snprintf(text, sizeof text, SHAKEN(DIAGONAL, MOVED, "", "%s", "%.17g"), integrator, 1. / n);
    }
    struct mech_sim *const s = model_of(text);

    CU_ASSERT_EQUAL(model_steps(s, (uint64_t)n), 0);
    memcpy(y, model_state(s).q, 3 * sizeof *y);
    memcpy(y + 3, model_state(s).v, 3 * sizeof *y);
    y[6] = model_state(s).lambda[0];
    mech_sim_destroy(s);
}

static void held_coordinates_cost_no_order(void)
{
    struct mech_integrator_info info;
    int checked = 0;

    for (int k = 0; k < 2; k++) {
        double best[NUMBERS];

        shake(k == 0, "TrapezoidalIndex2", 40000, best);
        for (size_t i = 0; mech_integrator(i, &info); i++) {
            if (mech_stepper_find(info.name)->pins && !info.nonsmooth) {
                const int n = info.order >= 6 ? 40 : info.order >= 4 ? 200 : 1000;
                double a[NUMBERS], b[NUMBERS], c[NUMBERS];

                shake(k == 0, info.name, n, a);
                shake(k == 0, info.name, 2 * n, b);
                shake(k == 0, info.name, 4 * n, c);
                const double order =
                    log2(model_distance(a, b, NUMBERS) / model_distance(b, c, NUMBERS));

                char of[80];

                snprintf(of, sizeof of, "%s, %s mass matrix", info.name, k ? "diagonal" : "full");
                CHECK_ORDER(of, order, info.order, 0.1);
                /* the held one is where it shall be, to rounding */
                CHECK_NEAR(c[0], 0.2 + 0.1 * sin(3.), 1e-15);
                CHECK_NEAR(c[3], 0.3 * cos(3.), 1e-15);
                /* h² of the trapezoidal rule, λ's too, and the error that the order predicts */
                CHECK_NEAR(model_distance(c, best, NUMBERS), 0.,
                           1e-7 + 2. * model_distance(b, c, NUMBERS) / (exp2(info.order) - 1.));
                checked++;
            }
        }
    }
    CU_ASSERT(checked >= 2 * 9);
}

/* m c̈ − f of a lone mass: m = 2 on a spring of 50 and a damper of 3; Exudyn's sign is −λ */
static void the_reaction_carries_what_moves_it(void)
{
    static const char *const schemes[] = {"RK44", "VelocityVerlet", "DOPRI5", "SymplecticEuler"};

    for (size_t i = 0; i < sizeof schemes / sizeof *schemes; i++) {
        char text[2048];

        snprintf(text, sizeof text,
                 MODEL_OSCILLATOR(", 'initialVelocities': [0.3]", "2",
                                  ", {'name': 's', 'type': 'CoordinateSpringDamper',"
                                  "'markers': ['g', 'x'], 'stiffness': 50, 'damping': 3},"
                                  "{'name': 'c', 'type': 'CoordinateConstraint',"
                                  "'markers': ['x', 'g'], 'factorValue1': 0, " MOVED "}",
                                  "", ", 'solver': {'integrator': '%s', 'stepSize': 0.01}"),
                 schemes[i]);
        struct mech_sim *const s = model_of(text);

        CU_ASSERT_EQUAL(model_steps(s, 37), 0);
        const double t = model_state(s).time;
        /* the first coordinate of the pair: g = −u − c */
        const double u = -0.1 * sin(3. * t), v = -0.3 * cos(3. * t), a = 0.9 * sin(3. * t);

        CHECK_NEAR(model_state(s).q[0], u, 1e-15);
        CHECK_NEAR(model_state(s).v[0], v, 1e-15);
        CHECK_NEAR(model_state(s).vdot[0], a, 1e-10);
        CHECK_NEAR(model_state(s).lambda[0], -(2. * a + 3. * v + 50. * u), 1e-9);
        CHECK_NEAR(model_value(s, MECH_OBJECT, "c", MECH_OUTPUT_FORCE), -model_state(s).lambda[0],
                   1e-15);
        alloc_count_start();
        CU_ASSERT_EQUAL(model_steps(s, 100), 0);
        CU_ASSERT_EQUAL(alloc_count_stop(), 0);
        mech_sim_destroy(s);
    }
}

static void what_is_no_held_coordinate_is_refused(void)
{
    /* one coordinate that follows another */
    CU_ASSERT(model_refused(SHAKEN(FULL, "'offset': 0",
                                   ", {'name': 'd', 'type': 'CoordinateConstraint',"
                                   "'markers': ['y', 'z']}",
                                   "RK44", "0.01"),
                            "/solver/integrator", "\"d\" is one"));
    /* twice the same */
    CU_ASSERT(model_refused(SHAKEN(FULL, "'offset': 0",
                                   ", {'name': 'd', 'type': 'CoordinateConstraint',"
                                   "'markers': ['g', 'x']}",
                                   "RK44", "0.01"),
                            "/objects/3", "\"d\" repeats or contradicts"));
    /* not where it is held */
    CU_ASSERT(model_refused(SHAKEN(FULL, "'offset': 0.1", "", "VelocityVerlet", "0.01"),
                            "/objects/1", "miss equation 0 of the joint \"c\""));
}

/* --- Moreau–Jean ------------------------------------------------------------------------------ */

/* the shaken system without its cubic spring; mass matrix, integrator, step size, θ */
#define LINEAR(integrator, h, theta)                                                               \
    "{'mechd': 1, 'nodes': [{'name': 'n', 'type': 'NodeGenericODE2',"                              \
    "'referenceCoordinates': [0.2, 0, 0], 'initialCoordinates_t': [0.3, 0, 0.5]}], 'objects': ["   \
    "{'name': 'o', 'type': 'GenericODE2', 'nodes': ['n'], 'massMatrix': " FULL ","                 \
    "'stiffnessMatrix': [[60, -20, 0], [-20, 50, -30], [0, -30, 40]], 'dampingMatrix':"            \
    "[[0.4, 0, 0], [0, 0.3, -0.1], [0, -0.1, 0.2]], 'forceVector': [1, 2, 3]}, {'name': 'c',"      \
    "'type': 'CoordinateConstraint', 'markers': ['g', 'x'], " MOVED "}], 'markers': ["             \
    "{'name': 'g', 'type': 'MarkerGroundCoordinate'}, {'name': 'x',"                               \
    "'type': 'MarkerNodeCoordinate', 'node': 'n', 'coordinate': 0}], 'solver': {'integrator': "    \
    "'" integrator "', 'stepSize': " h ", 'theta': " theta ", 'newton':"                           \
    "{'relativeTolerance': 1e-12}}}"

/* q, v after 1 s in n steps, and the mean reaction of the last step */
static void shake_linear(const char *integrator, int n, double theta, double y[NUMBERS])
{
    char text[4096];

    snprintf(text, sizeof text, LINEAR("%s", "%.17g", "%g"), integrator, 1. / n, theta);
    struct mech_sim *const s = model_of(text);

    CU_ASSERT_EQUAL(model_steps(s, (uint64_t)n - 1), 0);
    alloc_count_start();
    CU_ASSERT_EQUAL(model_steps(s, 1), 0);
    CU_ASSERT_EQUAL(alloc_count_stop(), 0);
    memcpy(y, model_state(s).q, 3 * sizeof *y);
    memcpy(y + 3, model_state(s).v, 3 * sizeof *y);
    y[6] = model_state(s).lambda[0];
    mech_sim_destroy(s);
}

static void moreau_jean_holds_coordinates(void)
{
    double best[NUMBERS];

    shake_linear("RK67", 1000, 0.5, best);
    for (int k = 0; k < 2; k++) {
        const double theta = k ? 0.5 : 1.;
        double y[2][NUMBERS], error[2] = {0.};

        for (int i = 0; i < 2; i++) {
            shake_linear("MoreauJean", 500 << i, theta, y[i]);
            for (int j = 0; j < 6; j++) {
                error[i] = hypot(error[i], y[i][j] - best[j]);
            }
            CHECK_NEAR(y[i][0], best[0], 1e-15);
            CHECK_NEAR(y[i][3], best[3], 1e-15);
        }
        CHECK_ORDER(k ? "MoreauJean, θ = ½" : "MoreauJean, θ = 1", log2(error[0] / error[1]),
                    k ? 2. : 1., 0.1);
        /* the mean of the last step, half a step early */
        CHECK_ORDER(k ? "the reaction, θ = ½" : "the reaction, θ = 1",
                    log2(fabs(y[0][6] - best[6]) / fabs(y[1][6] - best[6])), 1., 0.15);
    }
}

/* a ball of 1 kg on a table that goes down and up, with a spring between them that pulls: it stays;
 * the table carries both */
static void a_ball_rides_on_a_held_table(void)
{
    struct mech_sim *const s = model_of(
        "{'mechd': 1, 'nodes': [{'name': 'n', 'type': 'NodeGenericODE2',"
        "'numberOfODE2Coordinates': 2, 'initialCoordinates_t': [0.3, 0.3]}], 'objects': ["
        "{'name': 'o', 'type': 'GenericODE2', 'nodes': ['n'], 'massMatrix': [[5, 0], [0, 1]],"
        "'forceVector': [-49.05, -9.81]}, {'name': 'c', 'type': 'CoordinateConstraint',"
        "'markers': ['g', 'x'], " MOVED "}], 'markers': [{'name': 'g',"
        "'type': 'MarkerGroundCoordinate'}, {'name': 'x', 'type': 'MarkerNodeCoordinate',"
        "'node': 'n', 'coordinate': 0}], 'interactions': [{'name': 'i', 'systems': ['o'],"
        "'relation': {'type': 'LagrangianLinearTIR', 'H': [[-1, 1]]}, 'law':"
        "{'type': 'NewtonImpact', 'e': 0}}], 'solver': {'integrator': 'MoreauJean',"
        "'stepSize': 0.001, 'activationThreshold': 1e-6}}");

    for (int k = 0; k < 2000; k++) {
        CU_ASSERT_EQUAL_FATAL(model_steps(s, 1), 0);
        const double t = model_state(s).time, c = 0.1 * sin(3. * t);

        CHECK_NEAR(model_state(s).q[0], c, 1e-15);
        /* the ball lags by a step's change of velocity at most */
        CHECK_NEAR(model_state(s).q[1], c, 1e-5);
        CHECK_NEAR(model_state(s).v[1], 0.3 * cos(3. * t), 1e-14);
        /* the weight of both, and what their acceleration −0.9 sin 3t takes of it, in mid-step */
        const double a = -0.9 * sin(3. * (t - 0.0005));
        CHECK_NEAR(model_state(s).lambda[0], 6. * (9.81 + a), 1e-5);
        CHECK_NEAR(model_state(s).impulse[0], 1e-3 * (9.81 + a), 1e-8);
    }
    mech_sim_destroy(s);
}

UNIT_TESTS(UNIT_TEST(held_coordinates_cost_no_order), UNIT_TEST(the_reaction_carries_what_moves_it),
           UNIT_TEST(moreau_jean_holds_coordinates), UNIT_TEST(a_ball_rides_on_a_held_table),
           UNIT_TEST(what_is_no_held_coordinate_is_refused))
