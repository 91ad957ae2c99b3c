/* Motions by expression pass what their derivatives have on one side alone. */
#include "tests/unit/model.h"

/* A mass whose coordinate follows a motion. */
static void write(char text[1024], const char *scheme, const char *motion)
{
    snprintf(text, 1024,
             MODEL_OSCILLATOR("", "2",
                              ", {'name': 'c', 'type': 'CoordinateConstraint', 'markers':"
                              "['g', 'x'], 'offsetUserFunction': '=%s'}",
                              "", ", 'solver': {'stepSize': 0.125, 'integrator': '%s'}"),
             motion, scheme);
}

/* Constraints of the first ones are met in coordinates, of the others in velocities. */
static const char *const schemes[] = {"GeneralizedAlpha", "HHT", "Newmark", "TrapezoidalIndex2",
                                      "MoreauJean"};

enum { SCHEMES = sizeof schemes / sizeof *schemes, BY_COORDINATE = 2 };

/* From t = 0 over t = 0.5 to 1: infinite on one side of either. */
static void motions_pass_broken_powers(void)
{
    static const struct {
        const char *motion;
        double end, rate;
    } cases[] = {
        {"sqrt(max(0,t-0.5))^3", 0.35355339059327376, 1.0606601717798213},
        {"sqrt(max(0,t-0.5))^4", 0.25, 1.},
        {"max(0,t-0.5)^(1/3)*max(0,t-0.5)^(5/3)", 0.25, 1.},
        {"max(0,t)^1.5", 1., 1.5},
    };

    for (int i = 0; i < SCHEMES; i++) {
        for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
            char text[1024];

            write(text, schemes[i], cases[k].motion);
            struct mech_sim *const s = model_of(text);

            CU_ASSERT_EQUAL(model_steps(s, 8), 0);
            if (i < BY_COORDINATE) {
                CHECK_NEAR(model_state(s).q[0], cases[k].end, 1e-9);
            } else {
                CHECK_NEAR(model_state(s).v[0], cases[k].rate, 1e-9);
            }
            mech_sim_destroy(s);
        }
    }
}

static void an_infinite_second_derivative_is_named(void)
{
    for (int i = 0; i < SCHEMES - 1; i++) {
        char text[1024];

        write(text, schemes[i], "t^1.5");
        CU_ASSERT(
            model_refused(text, "", "the second derivative of the constraint \"c\" is not finite"));
        write(text, schemes[i], "sqrt(t)");
        CU_ASSERT(model_refused(text, "", "the derivative of the constraint \"c\" is not finite"));
    }
}

/* Quadratic terms of a coordinate, or of a velocity, whose square no number can hold. */
static void an_infinite_equation_is_named(void)
{
    static const struct {
        const char *start, *path, *words;
    } cases[] = {
        {"'initialCoordinates': [1e200]", "/objects/1",
         "equation 0 of the joint \"c\" is not finite at the initial positions"},
        {"'initialVelocities': [1e200]", "",
         "the second derivative of the constraint \"c\" is not finite"},
    };

    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        char text[1024];

        snprintf(text, sizeof text,
                 MODEL_OSCILLATOR(", %s", "2",
                                  ", {'name': 'c', 'type': 'CoordinateVectorConstraint',"
                                  "'markers': ['g', 'x'], 'scalingMarker1': [[1]],"
                                  "'quadraticTermMarker1': [[1]]}",
                                  "", ""),
                 cases[k].start);
        CU_ASSERT(model_refused(text, cases[k].path, cases[k].words));
    }
}

UNIT_TESTS(UNIT_TEST(an_infinite_equation_is_named), UNIT_TEST(motions_pass_broken_powers),
           UNIT_TEST(an_infinite_second_derivative_is_named))
