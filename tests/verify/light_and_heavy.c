/* Models far from 1 kg, 1 m and 1 N behave like similar ones of that size: the terms that balance
 * in an equation determine how small its residual has to be, for light and heavy, stiff, far and
 * tiny ones. */
#include "solver/sim/analysis.h"
#include "tests/unit/model.h"
#include "tests/verify/put.h"

static double coordinate(const struct mech_sim *s, int i)
{
    return view_of(s).q[i];
}

/* --- smooth schemes --------------------------------------------------------------------------- */

/* Where m q'' = -m (4 q + 100 q^3 + q') is after 1 s from q = 1. */
static double swing(const char *integrator, double m)
{
    char text[2000];

    snprintf(
        text, sizeof text,
        MODEL_OSCILLATOR(", 'initialCoordinates': [1]", "%.17g",
                         ", {'name': 's', 'type': 'CoordinateSpringDamper', 'markers': ['g', 'x'],"
                         "'springForceUserFunction': '=%.17g*u + %.17g*u^3 + %.17g*v'}",
                         "", ", 'solver': {'integrator': '%s', 'stepSize': 0.01}"),
        m, 4. * m, 100. * m, m, integrator);
    struct mech_sim *const s = model_of(text);

    CU_ASSERT_EQUAL(model_steps(s, 100), 0);
    const double q = coordinate(s, 0);

    mech_sim_destroy(s);
    return q;
}

static void a_point_of_a_microgram_swings_as_one_of_a_kilogram(void)
{
    static const char *const schemes[] = {"GeneralizedAlpha",  "HHT",           "Newmark",
                                          "TrapezoidalIndex2", "ImplicitEuler", "MoreauJean"};
    static const double masses[] = {1e-12, 1e-9, 1e-3, 1e6, 1e12};

    for (size_t k = 0; k < sizeof schemes / sizeof *schemes; k++) {
        const double as = swing(schemes[k], 1.);

        for (size_t i = 0; i < sizeof masses / sizeof *masses; i++) {
            CHECK_NEAR(swing(schemes[k], masses[i]), as, 1e-9);
        }
    }
}

/* Tip of a cantilever of round wire under F l²/EI = 4, over its length, by statics. */
static double bent(double radius, double length)
{
    const double pi = 3.14159265358979323846, E = 2e11, area = pi * radius * radius;
    const double EI = E * area * radius * radius / 4.;
    struct text *const t = calloc(1, sizeof *t);
    const struct mech_statics_query query = {.request = {.load_steps = 4}, .keep = true};
    struct mech_statics_report report;

    put(t, "{'mechd': 1, 'nodes': [");
    for (int i = 0; i <= 8; i++) {
        put(t,
            "%s{'name': 'n%d', 'type': 'NodePoint2DSlope1', 'referenceCoordinates': [%.17g, 0, 1,"
            "0]}",
            i ? "," : "", i, i * length / 8.);
    }
    put(t, "], 'objects': [");
    for (int i = 0; i < 8; i++) {
        put(t,
            "%s{'name': 'c%d', 'type': 'ANCFCable2D', 'nodes': ['n%d', 'n%d'], 'physicsLength':"
            "%.17g, 'physicsMassPerLength': %.17g, 'physicsAxialStiffness': %.17g,"
            "'physicsBendingStiffness': %.17g}",
            i ? "," : "", i, i, i + 1, length / 8., 7800. * area, E * area, EI);
    }
    for (int k = 0; k < 3; k++) {
        put(t, ",{'name': 'k%d', 'type': 'CoordinateConstraint', 'markers': ['g', 'h%d']}", k, k);
    }
    put(t, "], 'markers': [{'name': 'g', 'type': 'MarkerGroundCoordinate'}");
    for (int k = 0; k < 3; k++) {
        put(t, ",{'name': 'h%d', 'type': 'MarkerNodeCoordinate', 'node': 'n0', 'coordinate': %d}",
            k, k + (k > 1));
    }
    put(t,
        ",{'name': 'tip', 'type': 'MarkerNodePosition', 'node': 'n8'}], 'loads': [{'name': 'F',"
        "'type': 'LoadForceVector', 'marker': 'tip', 'load': [0, %.17g, 0]}]}",
        -4. * EI / (length * length));
    struct mech_sim *const s = model_of(t->at);
    const int code = mech_sim_statics(s, &query, &report);

    CU_ASSERT_EQUAL(code, 0);
    if (code) {
        fprintf(stderr, "statics: %s\n", report.reason);
    }
    const double y = -coordinate(s, 8 * 4 + 1) / length;

    mech_sim_destroy(s);
    free(t);
    return y;
}

static void a_wire_of_ten_micrometres_bends_as_one_of_ten_millimetres(void)
{
    const double thick = bent(1e-2, 1.);

    CHECK_NEAR(thick, 0.67, 0.01); /* inextensible, K. Bisshopp, D. Drucker (1945): 0.670 */
    /* more slender: EA ε is 1e-7 of the force */
    CHECK_NEAR(bent(5e-6, 0.1), bent(0.5, 1e4), 1e-6);
    CHECK_NEAR(bent(5e-6, 5e-4), thick, 1e-9);
    CHECK_NEAR(bent(10., 1e3), thick, 1e-9);
}

/* A point that hangs between two bars along x; `dynamic`: it swings in y for 10 ms. */
static struct mech_sim *between_bars(double mass, double stiffness)
{
    char text[3000];

    snprintf(text, sizeof text,
             "{'mechd': 1, 'gravity': [0, -9.81, 0], 'nodes': [{'name': 'n', 'type':"
             "'NodePoint'}, {'name': 'a', 'type': 'NodePointGround', 'referenceCoordinates': [-1,"
             "0.5, 0]}, {'name': 'b', 'type': 'NodePointGround', 'referenceCoordinates': [1, 0.5,"
             "0]}], 'objects': [{'name': 'm', 'type': 'MassPoint', 'node': 'n', 'physicsMass':"
             "%.17g}, {'name': 'l', 'type': 'SpringDamper', 'markers': ['A', 'N'], 'stiffness':"
             "%.17g, 'referenceLength': %.17g}, {'name': 'r', 'type': 'SpringDamper', 'markers':"
             "['B', 'N'], 'stiffness': %.17g, 'referenceLength': %.17g}, {'name': 'z', 'type':"
             "'CoordinateConstraint', 'markers': ['g', 'Z']}], 'markers': [{'name': 'g', 'type':"
             "'MarkerGroundCoordinate'}, {'name': 'Z', 'type': 'MarkerNodeCoordinate', 'node':"
             "'n', 'coordinate': 2}, {'name': 'N', 'type': 'MarkerNodePosition', 'node': 'n'},"
             "{'name': 'A', 'type': 'MarkerNodePosition', 'node': 'a'}, {'name': 'B', 'type':"
             "'MarkerNodePosition', 'node': 'b'}], 'solver': {'stepSize': 0.001}}",
             mass, stiffness, sqrt(1.25), stiffness, sqrt(1.25));
    return model_of(text);
}

static void a_ton_hangs_between_two_stiff_bars(void)
{
    const struct mech_statics_query query = {.request = {.load_steps = 1}, .keep = true};

    for (double stiffness = 1e8; stiffness < 2e13; stiffness *= 10.) {
        struct mech_sim *const s = between_bars(1000., stiffness);
        struct mech_statics_report report;
        const int code = mech_sim_statics(s, &query, &report);

        CU_ASSERT_EQUAL(code, 0);
        if (code) {
            fprintf(stderr, "%g N/m: %s\n", stiffness, report.reason);
        }
        /* 2 k (0.5/sqrt(1.25))² y = −m g, to the first order */
        CHECK_NEAR(coordinate(s, 1) * stiffness, -9810. / 0.4, 1e-3 * 9810. + 1e9 / stiffness);
        CU_ASSERT_EQUAL(model_steps(s, 50), 0);
        mech_sim_destroy(s);
    }
}

/* A truss of 8 panels of 10 m between two piers, of that mass and bars of that stiffness. */
static struct mech_sim *bridge(double mass, double stiffness)
{
    enum { PANELS = 8, NODES = 2 * PANELS + 1 };
    struct text *const t = calloc(1, sizeof *t);
    int bars = 0;

    CU_ASSERT_FATAL(t != NULL);
    put(t, "{'mechd': 1, 'gravity': [0, -9.81, 0], 'nodes': [");
    /* even ones below, odd ones 8 m above and 5 m on */
    for (int i = 0; i < NODES; i++) {
        const bool pier = i == 0 || i == NODES - 1;

        put(t, "%s{'name': 'n%d', 'type': '%s', 'referenceCoordinates': [%d, %d%s]}", i ? "," : "",
            i, pier ? "NodePointGround" : "NodePoint2D", 5 * i, i % 2 ? 8 : 0, pier ? ", 0" : "");
    }
    put(t, "], 'objects': [");
    for (int i = 1; i < NODES - 1; i++) {
        put(t, "%s{'name': 'm%d', 'type': 'MassPoint2D', 'node': 'n%d', 'physicsMass': %.17g}",
            i > 1 ? "," : "", i, i, mass / (NODES - 2));
    }
    for (int i = 0; i < NODES; i++) {
        for (int k = i + 1; k <= i + 2 && k < NODES; k++, bars++) {
            put(t,
                ",{'name': 's%d', 'type': 'SpringDamper', 'markers': ['k%d', 'k%d'], 'stiffness':"
                "%.17g, 'referenceLength': %.17g}",
                bars, i, k, stiffness, k == i + 2 ? 10. : sqrt(89.));
        }
    }
    put(t, "], 'markers': [");
    for (int i = 0; i < NODES; i++) {
        put(t, "%s{'name': 'k%d', 'type': 'MarkerNodePosition', 'node': 'n%d'}", i ? "," : "", i,
            i);
    }
    put(t, "], 'solver': {'stepSize': 0.001}}");
    struct mech_sim *const s = model_of(t->at);

    free(t);
    return s;
}

static void a_bridge_of_500_tons_sags_as_a_model_of_it(void)
{
    const struct mech_statics_query query = {.request = {.load_steps = 1}, .keep = true};
    double sag[2], end[2];

    for (int k = 0; k < 2; k++) {
        struct mech_sim *const s = bridge(k ? 5e5 : 5e-7, k ? 4e8 : 4e-4);
        struct mech_statics_report report;
        const int code = mech_sim_statics(s, &query, &report);

        CU_ASSERT_EQUAL(code, 0);
        /* the node in the middle below: 7 before it, two coordinates each */
        sag[k] = coordinate(s, 2 * 7 + 1);
        mech_sim_destroy(s);
        struct mech_sim *const moves = bridge(k ? 5e5 : 5e-7, k ? 4e8 : 4e-4);

        CU_ASSERT_EQUAL(model_steps(moves, 200), 0);
        end[k] = coordinate(moves, 2 * 7 + 1);
        mech_sim_destroy(moves);
    }
    CU_ASSERT(sag[1] < -0.01 && sag[1] > -1.);
    CHECK_NEAR(sag[1], sag[0], 1e-9 * fabs(sag[0]));
    CHECK_NEAR(end[1], end[0], 1e-9 * fabs(end[0]));
}

/* The height of a pendulum of 1 m hinged at (x, 0), let go sideways. */
static void swing_far(const char *integrator, double x, double *height)
{
    char text[3000];

    snprintf(text, sizeof text,
             "{'mechd': 1, 'gravity': [0, -9.81, 0], 'nodes': [{'name': 'n', 'type':"
             "'NodePoint', 'referenceCoordinates': [%.17g, 0, 0]}], 'objects': [{'name': 'm',"
             "'type': 'MassPoint', 'node': 'n', 'physicsMass': 2}, {'name': 'ground', 'type':"
             "'Ground'}, {'name': 'd', 'type': 'DistanceConstraint', 'markers': ['A', 'N'],"
             "'distance': 1}], 'markers': [{'name': 'N', 'type': 'MarkerNodePosition', 'node':"
             "'n'}, {'name': 'A', 'type': 'MarkerBodyPosition', 'object': 'ground',"
             "'localPosition': [%.17g, 0, 0]}], 'solver': {'integrator': '%s', 'stepSize': 0.001}}",
             x + 1., x, integrator);
    struct mech_sim *const s = model_of(text);
    const int code = model_steps(s, 500);

    CU_ASSERT_EQUAL(code, 0);
    *height = coordinate(s, 1);
    mech_sim_destroy(s);
}

static void a_pendulum_swings_far_from_the_origin(void)
{
    static const char *const schemes[] = {"GeneralizedAlpha", "HHT", "TrapezoidalIndex2",
                                          "ImplicitEuler", "MoreauJean"};

    for (size_t k = 0; k < sizeof schemes / sizeof *schemes; k++) {
        double near, far;

        swing_far(schemes[k], 0., &near);
        swing_far(schemes[k], 5e6, &far);
        /* an ulp of 5e6 m is 1e-9 m, over h a speed of 1e-6 m/s */
        CHECK_NEAR(far, near, 1e-5);
    }
}

UNIT_TESTS(UNIT_TEST(a_point_of_a_microgram_swings_as_one_of_a_kilogram),
           UNIT_TEST(a_wire_of_ten_micrometres_bends_as_one_of_ten_millimetres),
           UNIT_TEST(a_ton_hangs_between_two_stiff_bars),
           UNIT_TEST(a_bridge_of_500_tons_sags_as_a_model_of_it),
           UNIT_TEST(a_pendulum_swings_far_from_the_origin))
