/* Derivatives of expressions: closed forms, differences, kinks, and what is passed on. */
#include "solver/expr/expr.h"

#include "tests/unit/unit.h"

#include <math.h>
#include <string.h>

static const char *const names[] = {"t", "u", "k", "a", "b", "c"};

enum { VARIABLES = sizeof names / sizeof *names };

static struct mech_expr *compiled(const char *text)
{
    const struct mech_expr_vars vars = {names, NULL, VARIABLES};
    char message[200] = "";
    struct mech_expr *e = NULL;

    CU_ASSERT_EQUAL_FATAL(mech_expr_create(text, &vars, message, sizeof message, &e), 0);
    return e;
}

/* Value, rate and curvature in t = `at`; u = 2, k = 3. */
static void in_time(const char *text, double at, double y[3])
{
    static const struct mech_expr_motion forward[] = {{1., 0.}};
    const double values[VARIABLES] = {at, 2., 3.};
    struct mech_expr *const e = compiled(text);

    mech_expr_along(e, values, forward, 1, y);
    mech_expr_destroy(e);
}

/* 2e-15 of each: a few roundings. */
static void is(const char *text, double at, double rate, double curvature)
{
    double y[3];

    in_time(text, at, y);
    CHECK_NEAR(y[1], rate, 2e-15 * fabs(rate));
    CHECK_NEAR(y[2], curvature, 4e-15 * fabs(curvature) + 1e-15);
}

static void derivatives_are_the_closed_forms(void)
{
    const double t = 0.7, w = 2. * 3.14159265358979323846 * 50.;

    is("5", t, 0., 0.);
    is("u*k", t, 0., 0.);
    is("3*t+1", t, 3., 0.);
    is("t^2", t, 2. * t, 2.);
    is("t^3", t, 3. * t * t, 6. * t);
    is("t^4", t, 4. * t * t * t, 12. * t * t);
    is("t^5", t, 5. * pow(t, 4.), 20. * pow(t, 3.));
    is("1/t", t, -1. / (t * t), 2. / (t * t * t));
    is("t/(1+t)", t, 1. / pow(1. + t, 2.), -2. / pow(1. + t, 3.));
    is("u^t", t, pow(2., t) * log(2.), pow(2., t) * log(2.) * log(2.));
    is("t^t", t, pow(t, t) * (1. + log(t)), pow(t, t) * (pow(1. + log(t), 2.) + 1. / t));
    is("sin(3*t)", t, 3. * cos(3. * t), -9. * sin(3. * t));
    is("cos(t)", t, -sin(t), -cos(t));
    is("exp(-2*t)", t, -2. * exp(-2. * t), 4. * exp(-2. * t));
    is("ln(t)", t, 1. / t, -1. / (t * t));
    is("log2(t)", t, 1. / (t * log(2.)), -1. / (t * t * log(2.)));
    is("log10(t)", t, 1. / (t * log(10.)), -1. / (t * t * log(10.)));
    is("sqrt(t)", t, 0.5 / sqrt(t), -0.25 / (t * sqrt(t)));
    is("sin(2*pi*50*t)", 0., w, 0.);
    is("sin(2*pi*50*t)", 0.005, w * cos(w * 0.005), -w * w * sin(w * 0.005));
    is("sin(t)^2+cos(t)^2", 0., 0., 0.);
    is("t<1 ? t^2 : 7", t, 2. * t, 2.);
    is("t<1 ? t^2 : 7", 2., 0., 0.);
    is("sign(t)+rint(t)+(t>0)+(t&&1)", t, 0., 0.);
    is("max(t, t^2, 0)", t, 1., 0.);
    is("min(t, t^2, 5)", t, 2. * t, 2.);
    is("sum(t, t^2, u)", t, 1. + 2. * t, 2.);
    is("avg(t, 3*t)", t, 2., 0.);
    is("abs(-t)*3", t, 3., 0.);
}

/* Central differences of order 4: their error is some h^4, and rounding over h. */
static void derivatives_are_those_of_differences(void)
{
    static const char *const texts[] = {"sin(t)*cos(2*t)/(1+t^2)",
                                        "tan(t)",
                                        "asin(t/3)",
                                        "acos(t/3)",
                                        "atan(t)*t",
                                        "sinh(t)",
                                        "cosh(t)",
                                        "tanh(2*t)",
                                        "asinh(t)",
                                        "acosh(1+t)",
                                        "atanh(t/3)",
                                        "atan2(t, 1+t^2)",
                                        "atan2(sin(t), cos(t)-2)",
                                        "(1+t)^(2+t)",
                                        "(t^2+1)^1.5",
                                        "exp(sin(3*t))/sqrt(1+t)",
                                        "log(1+t^2)",
                                        "1/(t-5)/(t+2)",
                                        "-t^3/7",
                                        "(2-t)*(3*t+1)/4",
                                        "k^(t*u)",
                                        "sqrt(t^2+u^2)"};
    const double h = 1e-3, at = 0.4;

    for (size_t m = 0; m < sizeof texts / sizeof *texts; m++) {
        double f[5], y[3];

        for (int i = 0; i < 5; i++) {
            in_time(texts[m], at + (i - 2) * h, y);
            f[i] = y[0];
        }
        in_time(texts[m], at, y);
        CHECK_NEAR(y[1], (8. * (f[3] - f[1]) - (f[4] - f[0])) / (12. * h), 1e-9);
        CHECK_NEAR(y[2], (16. * (f[3] + f[1]) - 30. * f[2] - (f[4] + f[0])) / (12. * h * h), 1e-7);
    }
}

static void kinks_have_the_mean_of_both_sides(void)
{
    is("abs(t)", 0., 0., 0.);
    is("abs(t^2)", 0., 0., 2.);
    is("max(0, t)", 0., 0.5, 0.);
    is("max(t, 3*t)", 0., 2., 0.);
    is("min(0, t)", 0., 0.5, 0.);
    is("sqrt(t^2)", 0., 0., 0.);
    is("(t^2)^1.5", 0., 0., 0.);
    is("t>0 ? t : -t", 0., -1., 0.);
    is("t>=0 ? t : -t", 0., 1., 0.);
}

/* Each to what is written, but for roundings. */
static void both_sides_are_carried_through(void)
{
    static const struct {
        const char *text;
        double at, rate, curvature;
    } cases[] = {
        {"max(0,t^2)", 0., 0., 2.},
        {"max(t^2,0)", 0., 0., 2.},
        {"min(t^2,2*t^2)", 0., 0., 2.},
        {"max(t^2,2*t^2)", 0., 0., 4.},
        {"min(t,t+t^2)", 0., 1., 0.},
        {"max(t,t^3)", 0., 0.5, 0.},
        {"max(t,-t)", 0., 0., 0.},
        {"max(abs(t),t)", 0., 0., 0.},
        {"max(0,t)^2", 0., 0., 1.},
        {"max(0,sin(t))^3", 0., 0., 0.},
        {"abs(t)^2", 0., 0., 2.},
        {"abs(t)*abs(t)", 0., 0., 2.},
        {"abs(t)*t", 0., 0., 0.},
        {"abs(t)*sign(t)", 0., 1., 0.},
        {"sign(t)*t^2", 0., 0., 0.},
        {"abs(t-rint(t))", 0.5, 0., 0.},
        {"sqrt(t^2)^2", 0., 0., 2.},
        {"sqrt(t^4)", 0., 0., 2.},
        {"sqrt(sqrt(t^8))", 0., 0., 2.},
        {"sqrt(t^6)", 0., 0., 0.},
        {"sqrt(sqrt(t^10))", 0., 0., 0.},
        {"t/(1+sqrt(t))", 0., 1., -INFINITY},
        {"sqrt(t^2+t^4)", 0., 0., 0.},
        {"(t^2)^0.5*t", 0., 0., 0.},
        {"sqrt(1-cos(t)^2)^2", 0., 0., 2.},
        {"sqrt(1-cos(pi*t)^2)", 1., 0., 0.},
        {"max(0,1-cos(pi*t)^2)", 1., 0., 2. * 9.869604401089358},
        {"t^2.5", 0., 0., 0.},
        {"t^2*sqrt(t)", 0., 0., 0.},
        {"k*sqrt(t)*t+t", 0., 1., INFINITY},
        {"acos(cos(t))", 0., 0., 0.},
        {"acos(cos(t))^2", 0., 0., 2.},
        {"acos(cos(pi*t))", 1., 0., 0.},
        {"acos(-cos(t))", 0., 0., 0.},
        {"asin(sin(2*pi*t))", 0.25, 0., 0.},
        {"asin(sin(2*pi*t))", 0.75, 0., 0.},
        {"asin(sin(2*pi*t))", 10.25, 0., 0.},
        {"acosh(cosh(t))", 0., 0., 0.},
        {"acosh(cosh(t))^2", 0., 0., 2.},
        {"atan2(abs(t),1)^2", 0., 0., 2.},
        {"exp(abs(t))+exp(-abs(t))", 0., 0., 2.},
        {"cosh(abs(t))+sinh(abs(t))*abs(t)", 0., 0., 3.},
        {"tanh(abs(t))*abs(t)", 0., 0., 2.},
        {"tan(abs(t))*asinh(abs(t))", 0., 0., 2.},
        {"ln(1+abs(t))*atan(abs(t))", 0., 0., 2.},
        {"(1+abs(t))^(abs(t))", 0., 0., 2.},
        {"abs(t)/(1+abs(t))*abs(t)", 0., 0., 2.},
        {"asin(abs(t))*atanh(abs(t))", 0., 0., 2.},
        {"log10(1+abs(t))*abs(t)", 0., 0., 2. / 2.30258509299404568402},
        {"log2(1+abs(t))*abs(t)", 0., 0., 2. / 0.69314718055994530942},
        {"acos(abs(t))*abs(t)", 0., 0., -2.},
        {"acosh(2+abs(t))*abs(t)", 0., 0., 2. / 1.7320508075688772},
    };

    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        double y[3];

        in_time(cases[k].text, cases[k].at, y);
        const bool same = fabs(y[1] - cases[k].rate) <= 1e-14 * (1. + fabs(cases[k].rate)) &&
                          (y[2] == cases[k].curvature ||
                           fabs(y[2] - cases[k].curvature) <= 1e-14 * fabs(cases[k].curvature));

        CU_ASSERT(same);
        if (!same) {
            fprintf(stderr, "%s at %g: %.17g %.17g\n", cases[k].text, cases[k].at, y[1], y[2]);
        }
    }
}

/* What is beyond doubles inside is not in the derivatives. */
static void what_is_too_large_inside_has_the_slopes_of_its_end(void)
{
    static const char *const texts[] = {
        "1/(1+exp(-1000*(t-1)))", "1/cosh(1000*(t-1))",       "exp(-exp(-1000*(t-1)))",
        "1/(1+(1e200*(t-1))^2)",  "tanh(sinh(-1000*(t-1)))",  "exp(-1/t^2)",
        "atan(exp(1000*(1-t)))",  "1/sqrt(exp(-1000*(t-1)))", "tanh(1/t^2)"};

    for (size_t k = 0; k < sizeof texts / sizeof *texts; k++) {
        double y[3];

        in_time(texts[k], 0., y);
        CU_ASSERT(isfinite(y[0]));
        if (y[1] != 0. || y[2] != 0.) {
            CU_FAIL(texts[k]);
            fprintf(stderr, "%s: %.17g %.17g\n", texts[k], y[1], y[2]);
        }
    }
    // up to where the value itself is too large, 1/(1 + exp(709.7)); 2⁻³⁰ and 2⁻⁶⁰ of these are
    // among the smallest doubles, 5e-324 apart
    for (int i = 1; i <= 20; i++) {
        const double at = 0.29 + 0.001 * i, f = exp(1000. * (at - 1.));
        double y[3];

        in_time("1/(1+exp(-1000*(t-1)))", at, y);
        CHECK_NEAR(y[1], 1e3 * f, 1e-12 * 1e3 * f + 0x1p30 * 2e-323);
        CHECK_NEAR(y[2], 1e6 * f, 1e-12 * 1e6 * f + 0x1p60 * 2e-323);
    }
    // 1 - x has few digits
    for (int i = 1; i < 12; i++) {
        double y[3];

        in_time("asin(sin(2*pi*t))", 0.25 + pow(10., -i - 2.), y);
        CHECK_NEAR(y[1], -2. * 3.14159265358979323846, 1e-6);
    }
}

/* The text with `by` for each #. */
static void write_with(char to[100], const char *text, const char *by)
{
    to[0] = '\0';
    for (; *text != '\0'; text++) {
        const char plain[] = {*text, '\0'};

        strcat(to, *text == '#' ? by : plain);
    }
}

static void series_agree_with_direct_derivatives(void)
{
    static const char *const texts[] = {
        "sin(2+#)",      "cos(2+#)",        "tan(2+#)",     "asin(0.3+#)",    "acos(0.3+#)",
        "atan(2+#)",     "sinh(2+#)",       "cosh(2+#)",    "tanh(0.4+#)",    "asinh(2+#)",
        "acosh(2+#)",    "atanh(0.3+#)",    "exp(2+#)",     "ln(2+#)",        "log2(2+#)",
        "log10(2+#)",    "sqrt(2+#)",       "(2+#)^1.7",    "(2+#)^(-3)",     "3^(2+#)",
        "(2+#)^(1+#)",   "(1+#)/(2+3*#^2)", "(2+#)*sin(#)", "atan2(1+#,2-#)", "-(2+#)^3",
        "atan2(#-1,-2)", "(2+#)^4-#^3"};

    for (size_t k = 0; k < sizeof texts / sizeof *texts; k++) {
        char text[2][100];
        double y[2][3];

        // max(t, t + t^9) is t, but for its tie
        write_with(text[0], texts[k], "t");
        write_with(text[1], texts[k], "max(t,t+t^9)");
        in_time(text[0], 0., y[0]);
        in_time(text[1], 0., y[1]);
        CHECK_NEAR(y[1][0], y[0][0], 0.);
        CHECK_NEAR(y[1][1], y[0][1], 1e-14 * (1. + fabs(y[0][1])));
        CHECK_NEAR(y[1][2], y[0][2], 1e-14 * (1. + fabs(y[0][2])));
    }
}

static void what_does_not_move_has_derivatives_zero(void)
{
    static const struct mech_expr_motion forward[] = {{1., 0.}};
    const double zeros[VARIABLES] = {0.};
    static const char *const texts[] = {"sqrt(u)", "u^0.5",      "ln(u)",     "1/u",
                                        "0^u",     "asin(1)",    "sqrt(u*t)", "sqrt(0*t)",
                                        "u^u",     "atan2(u,k)", "sqrt(t^0)"};

    for (size_t m = 0; m < sizeof texts / sizeof *texts; m++) {
        struct mech_expr *const e = compiled(texts[m]);
        double y[3];

        mech_expr_along(e, zeros, forward, 1, y);
        if (y[1] != 0. || y[2] != 0.) {
            CU_FAIL(texts[m]);
        }
        mech_expr_destroy(e);
    }
}

static void what_is_infinite_or_unknown_is_passed_on(void)
{
    double y[3];

    in_time("sqrt(t)", 0., y);
    CU_ASSERT(isinf(y[1]) && y[1] > 0.);
    in_time("t^0.5", 0., y);
    CU_ASSERT(isinf(y[1]) && y[1] > 0.);
    in_time("(t^2)^0.75", 0., y);
    CU_ASSERT(y[1] == 0. && isinf(y[2]));
    in_time("ln(t)", 0., y);
    CU_ASSERT(!isfinite(y[1]));
    in_time("sqrt(t+t^2)", 0., y);
    CU_ASSERT(isinf(y[1]) && y[1] > 0.);
    in_time("1/(1/t)", 0., y);
    CU_ASSERT(y[0] == 0. && isnan(y[1]));
    // of higher order than the first is all that is known
    in_time("sqrt(sqrt(sqrt(t^16)))", 0., y);
    CU_ASSERT(y[1] == 0. && isnan(y[2]));
    in_time("2*sqrt(t)-sqrt(t)", 0., y);
    CU_ASSERT(!isfinite(y[1]));
    in_time("sqrt(t)", -1., y);
    CU_ASSERT(isnan(y[0]) && isnan(y[1]));
}

static void motions_of_several_variables_add_up(void)
{
    // u = t², so that t u² = t⁵
    const double t = 1.3, values[VARIABLES] = {t, t * t};
    const struct mech_expr_motion along[] = {{1., 0.}, {2. * t, 2.}};
    struct mech_expr *const e = compiled("t*u^2");
    double y[3];

    mech_expr_along(e, values, along, 2, y);
    CHECK_NEAR(y[0], pow(t, 5.), 1e-14);
    CHECK_NEAR(y[1], 5. * pow(t, 4.), 1e-14);
    CHECK_NEAR(y[2], 20. * pow(t, 3.), 1e-13);
    mech_expr_destroy(e);
}

static void gradients_are_those_of_each_variable(void)
{
    static const char *const texts[] = {"k*u+10*u^3-t*a/b+c^2", "sin(t*u)*exp(-k)+a^b/c",
                                        "max(t,u,k)*a+b*c",     "atan2(t+u,k*a)^2-b/c",
                                        "t<u ? k*a : b*c",      "abs(t-u)*sqrt(a^2+b^2)"};
    const double values[VARIABLES] = {0.3, 0.7, 1.1, 0.9, 1.7, 2.3};

    for (size_t m = 0; m < sizeof texts / sizeof *texts; m++) {
        struct mech_expr *const e = compiled(texts[m]);
        double gradient[VARIABLES], part[VARIABLES], y[3];
        const double value = mech_expr_gradient(e, values, 0, VARIABLES, gradient);

        CHECK_NEAR(value, mech_expr_at(e, values), 0);
        for (size_t i = 0; i < VARIABLES; i++) {
            struct mech_expr_motion along[VARIABLES] = {{0., 0.}};

            along[i].rate = 1.;
            mech_expr_along(e, values, along, VARIABLES, y);
            CHECK_NEAR(gradient[i], y[1], 0);
        }
        (void)mech_expr_gradient(e, values, 2, 3, part);
        CU_ASSERT(memcmp(part, gradient + 2, 3 * sizeof *part) == 0);
        mech_expr_destroy(e);
    }
}

static void gradients_at_kinks_have_the_mean_of_both_sides(void)
{
    static const struct {
        const char *text;
        double t, u, by_t, by_u, by_k;
    } cases[] = {
        {"max(t,u)*k", 2., 2., 0.5, 0.5, 2.},      {"abs(t-u)+k", 2., 2., 0., 0., 1.},
        {"max(abs(t),t)+u*k", 0., 3., 0., 1., 3.}, {"max(0,t)^1.5+min(u,0)", 0., 0., 0., 0.5, 0.},
        {"sqrt(t^2+u^2)", 0., 0., 0., 0., 0.},     {"t*sqrt(t)-u*abs(u)", 0., 0., 0., 0., 0.},
        {"sqrt(t)+u", 0., 1., INFINITY, 1., 0.},
    };

    for (size_t m = 0; m < sizeof cases / sizeof *cases; m++) {
        const double values[VARIABLES] = {cases[m].t, cases[m].u, 1.};
        struct mech_expr *const e = compiled(cases[m].text);
        double gradient[3];

        CHECK_NEAR(mech_expr_gradient(e, values, 0, 3, gradient), mech_expr_at(e, values), 0.);
        CHECK_NEAR(gradient[1], cases[m].by_u, 0.);
        CHECK_NEAR(gradient[2], cases[m].by_k, 0.);
        CU_ASSERT(gradient[0] == cases[m].by_t);
        mech_expr_destroy(e);
    }
}

UNIT_TESTS(UNIT_TEST(derivatives_are_the_closed_forms),
           UNIT_TEST(derivatives_are_those_of_differences),
           UNIT_TEST(kinks_have_the_mean_of_both_sides), UNIT_TEST(both_sides_are_carried_through),
           UNIT_TEST(what_is_too_large_inside_has_the_slopes_of_its_end),
           UNIT_TEST(series_agree_with_direct_derivatives),
           UNIT_TEST(what_does_not_move_has_derivatives_zero),
           UNIT_TEST(what_is_infinite_or_unknown_is_passed_on),
           UNIT_TEST(motions_of_several_variables_add_up),
           UNIT_TEST(gradients_are_those_of_each_variable),
           UNIT_TEST(gradients_at_kinks_have_the_mean_of_both_sides))
