/* Derivatives where both sides of a point differ: broken powers, angles, what is not known. */
#include "solver/expr/expr.h"

#include "tests/unit/unit.h"

#include <math.h>

static const double pi = 3.14159265358979323846;

/* A rate and a curvature in t, each NaN where it is not known. */
struct wanted {
    const char *text;
    double at, rate, curvature;
};

static bool same(double actual, double expected)
{
    return isnan(expected)
               ? isnan(actual)
               : actual == expected || fabs(actual - expected) <= 1e-14 * (1. + fabs(expected));
}

static void check(const struct wanted *w)
{
    static const char *const names[] = {"t", "k"};
    static const struct mech_expr_motion forward[] = {{1., 0.}};
    const struct mech_expr_vars vars = {names, NULL, 2};
    const double values[] = {w->at, 0.};
    char message[200] = "";
    struct mech_expr *e = NULL;
    double y[3];

    CU_ASSERT_EQUAL_FATAL(mech_expr_create(w->text, &vars, message, sizeof message, &e), 0);
    mech_expr_along(e, values, forward, 1, y);
    const bool right = same(y[1], w->rate) && same(y[2], w->curvature);

    CU_ASSERT(right);
    if (!right) {
        (void)fprintf(stderr, "%s at %g: %.17g %.17g\n", w->text, w->at, y[1], y[2]);
    }
    mech_expr_destroy(e);
}

static void broken_powers_of_broken_powers_are_known(void)
{
    static const struct wanted cases[] = {
        {"sqrt(t)^2", 0., 1., 0.},
        {"sqrt(t)*sqrt(t)", 0., 1., 0.},
        {"sqrt(t)^4", 0., 0., 2.},
        {"sqrt(t)^3", 0., 0., INFINITY},
        {"sqrt(t)", 0., INFINITY, -INFINITY},
        {"-sqrt(t)", 0., -INFINITY, INFINITY},
        {"sqrt(max(0,t-0.5))^4", 0.5, 0., 1.},
        {"cos(sqrt(t))", 0., -0.5, 1. / 12.},
        {"exp(sqrt(t))+exp(-sqrt(t))", 0., 1., 1. / 6.},
        {"acos(1-t)^2", 0., 2., 2. / 3.},
        {"sqrt(t+t^2)^2", 0., 1., 2.},
        {"atan2(sqrt(t),1)^2", 0., 1., -4. / 3.},
        {"sqrt(sqrt(t))^4", 0., 1., 0.},
        {"sqrt(sqrt(max(0,t)))^8", 0., 0., 1.},
        {"(t^(1/3))^3", 0., 1., 0.},
        {"(t^(1/3))^6", 0., 0., 2.},
        {"max(0,t)^(1/3)*max(0,t)^(2/3)*max(0,t)", 0., 0., 1.},
        {"sqrt(t)*t^(1/3)*t^(1/6)", 0., 1., 0.},
        {"(t^2)^(1/3)*(t^2)^(1/6)", 0., 0., 0.},
    };

    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        check(&cases[k]);
    }
}

/* Where the slope is finite. */
static void one_infinite_curvature_gives_way_to_a_finite_one(void)
{
    static const struct wanted cases[] = {
        {"sqrt(max(0,t-0.5))^3", 0.5, 0., 0.},
        {"max(0,t)^1.5", 0., 0., 0.},
        {"max(0,-t)^1.5+t^2", 0., 0., 2.},
        {"max(0,t)^1.5-max(0,-t)^1.5", 0., 0., NAN},
        {"sqrt(max(0,t))", 0., INFINITY, -INFINITY},
        {"t^1.5", 0., 0., INFINITY},
        {"(t^2)^0.75", 0., 0., INFINITY},
    };

    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        check(&cases[k]);
    }
}

static void absolute_values_are_positive_on_both_sides(void)
{
    const struct wanted cases[] = {
        {"t*atan2(abs(t),-1)", 0., pi, 0.},
        {"atan2(1-t^2,atan2(abs(t+1),-1))", -1., 2. / pi, -2. / pi},
        {"atan2(t+1,3+atan2(abs(t+1),-1))", -1., 1. / (3. + pi), 0.},
        {"t*atan2(sqrt(t^2),-1)", 0., pi, 0.},
        {"t*atan2(max(t,-t),-1)", 0., pi, 0.},
    };

    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        check(&cases[k]);
    }
}

static void angles_at_the_origin_follow_from_the_common_power(void)
{
    const struct wanted cases[] = {
        {"t*atan2(t,t)", 0., -pi / 4., 0.},
        {"t^2*atan2(t,t)", 0., 0., -pi / 2.},
        {"t*atan2(t^2,t)", 0., pi / 2., 2.},
        {"t*atan2(t,0)", 0., 0., 0.},
        {"t*atan2(t,k)", 0., 0., 0.},
        {"t*atan2(0,t)", 0., pi / 2., 0.},
        {"t*atan2(abs(t),abs(t))", 0., pi / 4., 0.},
        {"t*atan2(t^3,t^3+t^4)", 0., -pi / 4., -1.},
        {"t*atan2(sqrt(t),t)", 0., pi / 2., -INFINITY},
        {"t*atan2(t^(1/3),t)", 0., pi / 2., -INFINITY},
        {"t*atan2(t^0.2,t)", 0., pi / 2., NAN},
        {"atan2(sin(t),tan(t))", 0., 0., -0.5},
    };

    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        check(&cases[k]);
    }
}

static void angles_jump_by_a_turn_behind_the_origin(void)
{
    const struct wanted cases[] = {
        {"t*atan2(t,-1)", 0., 0., -2.},     {"t^2*atan2(t,-1)", 0., 0., 0.},
        {"t*atan2(-t,-1)", 0., 0., 2.},     {"t*atan2(t^2,-1)", 0., pi, 0.},
        {"t*atan2(-t^2,-1)", 0., -pi, 0.},  {"atan2(t,-1)", 0., -1., 0.},
        {"atan2(t,-1)^2", 0., 0., 2.},      {"t*atan2(0,t-1)", 0., pi, 0.},
        {"t*atan2(t,-1/t^2)", 0., 0., NAN},
    };

    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        check(&cases[k]);
    }
}

/* Not 0, and not what the other side has. */
static void what_is_not_known_on_one_side_is_not_known(void)
{
    static const struct wanted cases[] = {
        {"t*atan2(t^9,t^17)", 0., NAN, NAN},    {"t*atan2(max(0,t^17),t^17)", 0., NAN, NAN},
        {"t*exp(sign(1/(1/t)))", 0., NAN, NAN}, {"t*sign(1/(1/max(0,t)))", 0., NAN, NAN},
        {"k*sign(1/(1/t))+t", 0., 1., 0.},      {"t*(sign(1/(1/t))>0 ? 1 : 2)", 0., NAN, NAN},
    };

    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        check(&cases[k]);
    }
}

UNIT_TESTS(UNIT_TEST(broken_powers_of_broken_powers_are_known),
           UNIT_TEST(one_infinite_curvature_gives_way_to_a_finite_one),
           UNIT_TEST(absolute_values_are_positive_on_both_sides),
           UNIT_TEST(angles_at_the_origin_follow_from_the_common_power),
           UNIT_TEST(angles_jump_by_a_turn_behind_the_origin),
           UNIT_TEST(what_is_not_known_on_one_side_is_not_known))
