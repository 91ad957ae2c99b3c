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

static double distance(const double *a, const double *b)
{
    double sum = 0.;

    for (int i = 0; i < NUMBERS; i++) {
        sum += (a[i] - b[i]) * (a[i] - b[i]);
    }
    return sqrt(sum);
}

static void held_coordinates_cost_no_order(void)
{
    struct mech_integrator_info info;
    int checked = 0;

    for (int k = 0; k < 2; k++) {
        double best[NUMBERS];

        shake(k == 0, "TrapezoidalIndex2", 40000, best);
        for (size_t i = 0; mech_integrator(i, &info); i++) {
            if (mech_stepper_find(info.name)->pins) {
                const int n = info.order >= 6 ? 40 : info.order >= 4 ? 200 : 1000;
                double a[NUMBERS], b[NUMBERS], c[NUMBERS];

                shake(k == 0, info.name, n, a);
                shake(k == 0, info.name, 2 * n, b);
                shake(k == 0, info.name, 4 * n, c);
                const double order = log2(distance(a, b) / distance(b, c));

                if (!(fabs(order - info.order) <= 0.1)) {
                    fprintf(stderr, "%s: order %.3f\n", info.name, order);
                }
                CHECK_NEAR(order, info.order, 0.1);
                /* the held one is where it shall be, to rounding */
                CHECK_NEAR(c[0], 0.2 + 0.1 * sin(3.), 1e-15);
                CHECK_NEAR(c[3], 0.3 * cos(3.), 1e-15);
                /* h² of the trapezoidal rule, λ's too, and the error that the order predicts */
                CHECK_NEAR(distance(c, best), 0.,
                           1e-7 + 2. * distance(b, c) / (exp2(info.order) - 1.));
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

UNIT_TESTS(UNIT_TEST(held_coordinates_cost_no_order), UNIT_TEST(the_reaction_carries_what_moves_it),
           UNIT_TEST(what_is_no_held_coordinate_is_refused))
