/* Expressions: values, refusals with their positions, no allocation when evaluated. */
#include "solver/expr/expr.h"

#include "solver/base/err.h"
#include "tests/unit/alloc_count.h"
#include "tests/unit/unit.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const char *const names[] = {"t", "k", "a.b", "x1"};

enum { MESSAGE = 200 };

static int create(const char *text, const char *const *with, size_t count, double *values,
                  char message[MESSAGE], struct mech_expr **e)
{
    const struct mech_expr_vars vars = {with, values, count};
    return mech_expr_create(text, &vars, message, MESSAGE, e);
}

/* Value with t = 0.25, k = 3, x1 = −2; NaN when refused. */
static double value(const char *text)
{
    double vars[] = {0.25, 3., 1e9, -2.};
    char message[MESSAGE] = "";
    struct mech_expr *e = NULL;
    if (create(text, names, 4, vars, message, &e) != 0) {
        return NAN;
    }
    const double y = mech_expr_value(e);
    mech_expr_destroy(e);
    return y;
}

static void values_follow_the_grammar(void)
{
    CHECK_NEAR(value("80*sin(2*pi*t) + k"), 83., 1e-12);
    CHECK_NEAR(value("-2^2"), -4., 0);
    CHECK_NEAR(value("2^3^2"), 512., 0);
    CHECK_NEAR(value("k > 2 ? x1 : t"), -2., 0);
    CHECK_NEAR(value("(k >= 3 && t != 1) || 0"), 1., 0);
    CHECK_NEAR(value("atan2(1, 1)*4 - pi"), 0., 1e-15);
    CHECK_NEAR(value("ln(e)"), 1., 1e-15);
    CHECK_NEAR(value("log10(1e5)"), 5., 1e-15);
    CHECK_NEAR(value("max(1, k, abs(x1)) + min(4, t) + sign(x1) + rint(2.6)"), 5.25, 0);
    CHECK_NEAR(value(" \t.5 + 5.\n"), 5.5, 0);
    CHECK_NEAR(value("1.5e-3"), 0.0015, 0);
}

static void variables_are_read_at_each_evaluation(void)
{
    double vars[] = {0., 0., 0., 0.};
    char message[MESSAGE] = "";
    struct mech_expr *e = NULL;
    CU_ASSERT_EQUAL_FATAL(create("2*t + x1", names, 4, vars, message, &e), 0);
    alloc_count_start();
    bool right = true;
    for (int k = 0; k < 1000; k++) {
        vars[0] = k;
        vars[3] = -k;
        right = right && mech_expr_value(e) == k;
    }
    CU_ASSERT_EQUAL(alloc_count_stop(), 0);
    CU_ASSERT(right);
    mech_expr_destroy(e);
}

static void functions_and_choices_do_not_allocate(void)
{
    double vars[] = {0.5, 2., 0., 1.};
    char message[MESSAGE] = "";
    struct mech_expr *e = NULL;
    CU_ASSERT_EQUAL_FATAL(
        create("t < 1 ? max(sin(t), k, x1^3, exp(-t)) : atan2(t, k)", names, 4, vars, message, &e),
        0);
    alloc_count_start();
    CHECK_NEAR(mech_expr_value(e), 2., 0);
    vars[0] = 2.;
    CHECK_NEAR(mech_expr_value(e), 0.78539816339744831, 1e-15);
    CU_ASSERT_EQUAL(alloc_count_stop(), 0);
    mech_expr_destroy(e);
}

static void a_variable_named_as_a_constant_hides_it(void)
{
    static const char *const own[] = {"e", "pi"};
    double vars[] = {10., 20.};
    char message[MESSAGE] = "";
    struct mech_expr *e = NULL;
    for (size_t count = 1; count <= 2; count++) {
        CU_ASSERT_EQUAL_FATAL(create("e+pi", own, count, vars, message, &e), 0);
        CHECK_NEAR(mech_expr_value(e), 10. + (count == 2 ? 20. : 3.14159265358979323846), 1e-14);
        mech_expr_destroy(e);
    }
}

static void what_is_not_finite_is_passed_on(void)
{
    CU_ASSERT(isinf(value("1/(t - 0.25)")));
    double vars[] = {0.25, 3., 0., -2.};
    char message[MESSAGE] = "";
    struct mech_expr *e = NULL;
    CU_ASSERT_EQUAL_FATAL(create("sqrt(x1)", names, 4, vars, message, &e), 0);
    CU_ASSERT(isnan(mech_expr_value(e)));
    mech_expr_destroy(e);
}

static void refusals_name_the_position(void)
{
    static const struct {
        const char *text, *part;
    } cases[] = {
        {"", "empty"},
        {"   ", "empty"},
        {"1 +", "unexpected end at position 4"},
        {"1 2", "unexpected number at position 3"},
        {"t + foo*2", "position 5, near 'foo'"},
        {"(1 + t", "missing parenthesis"},
        {"1)", "parenthesis at position 2"},
        {"sin()", "too few arguments"},
        {"sin(1, 2)", "too many arguments"},
        {"t; k", "position 2"},
        {"t t", "position 3"},
        {"3k", "variable at position 2"},
        {"1, 2", "2 values"},
        {"(1, 2)", "without a function"},
        {"k = 5", "assignment is not allowed (position 3"},
        {"k == = 5", "assignment is not allowed (position 6"},
        {"\"text\"", "quotes"},
        {"t ? 1", "':'"},
        {"1e400", "position 1"},
        {"a.b", "near '.'"},
        {"a", "position 1, near 'a'"},
        {"1 \xc3\xa9", "U+00E9 is not allowed here (position 3)"},
        {"t \x01", "U+0001 is not allowed here (position 3)"},
        {"_pi", "position 1"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        double vars[] = {0.25, 3., 0., -2.};
        char message[MESSAGE] = "";
        struct mech_expr *e = NULL;
        const int code = create(cases[i].text, names, 4, vars, message, &e);
        CU_ASSERT_EQUAL(code, MECH_INVALID);
        CU_ASSERT_PTR_NULL(e);
        if (strstr(message, cases[i].part) == NULL) {
            CU_FAIL(cases[i].text);
            fprintf(stderr, "'%s': %s\n", cases[i].text, message);
        }
        // no refusal may have changed a variable
        CU_ASSERT(vars[1] == 3.);
    }
}

static void length_and_depth_are_bounded(void)
{
    char text[5000];
    double vars[] = {0., 0., 0., 0.};
    char message[MESSAGE] = "";
    struct mech_expr *e = NULL;
    memset(text, ' ', sizeof text);
    text[0] = '1';
    text[4096] = '\0';
    CU_ASSERT_EQUAL(create(text, names, 4, vars, message, &e), 0);
    mech_expr_destroy(e);
    text[4096] = ' ';
    text[4097] = '\0';
    CU_ASSERT_EQUAL(create(text, names, 4, vars, message, &e), MECH_INVALID);
    CU_ASSERT(strstr(message, "longer than 4096") != NULL);
    for (int depth = 64; depth <= 65; depth++) {
        memset(text, '(', (size_t)depth);
        text[depth] = '1';
        memset(text + depth + 1, ')', (size_t)depth);
        text[2 * depth + 1] = '\0';
        const int code = create(text, names, 4, vars, message, &e);
        CU_ASSERT_EQUAL(code, depth == 64 ? 0 : MECH_INVALID);
        mech_expr_destroy(e);
    }
    CU_ASSERT(strstr(message, "64 nested parentheses at position 65") != NULL);
}

UNIT_TESTS(UNIT_TEST(values_follow_the_grammar), UNIT_TEST(variables_are_read_at_each_evaluation),
           UNIT_TEST(functions_and_choices_do_not_allocate),
           UNIT_TEST(a_variable_named_as_a_constant_hides_it),
           UNIT_TEST(what_is_not_finite_is_passed_on), UNIT_TEST(refusals_name_the_position),
           UNIT_TEST(length_and_depth_are_bounded))
