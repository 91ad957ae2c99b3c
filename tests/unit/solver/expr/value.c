/* Values of several members at once are those of each, to the bit; one expression serves several
 * sets of values; nothing is allocated. */
#include "solver/expr/program.h"

#include "tests/unit/alloc_count.h"
#include "tests/unit/unit.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MEMBERS = 53, STRIDE = 60 };

static const char *const names[] = {"t", "u", "k"};

static struct mech_expr *compiled(const char *text)
{
    const struct mech_expr_vars vars = {names, NULL, 3};
    char message[200] = "";
    struct mech_expr *e = NULL;

    CU_ASSERT_EQUAL_FATAL(mech_expr_create(text, &vars, message, sizeof message, &e), 0);
    return e;
}

static void members_have_the_values_of_each(void)
{
    static const char *const texts[] = {"t",
                                        "2*t+1",
                                        "t^2+u^3-k^4",
                                        "sin(t)*exp(-u)+k",
                                        "t<0?u:k",
                                        "t<0?u<0?1:2:u<k?3:t",
                                        "k",
                                        "max(t,u,k)-min(t,u)",
                                        "sqrt(u)/t",
                                        "t&&u||k",
                                        "atan2(t,u)^k",
                                        "sum(t,u,k,1)+avg(t,u)",
                                        "4.5"};
    double values[3][STRIDE], y[MEMBERS];

    for (size_t k = 0; k < 3; k++) {
        for (size_t i = 0; i < STRIDE; i++) {
            values[k][i] = sin((double)(7 * i + 100 * k + 1)) * 3.;
        }
    }
    for (size_t m = 0; m < sizeof texts / sizeof *texts; m++) {
        struct mech_expr *const e = compiled(texts[m]);

        for (size_t n = 0; n <= MEMBERS; n += n < 20 ? 1 : 11) {
            for (size_t i = 0; i < MEMBERS; i++) {
                y[i] = -77.;
            }
            mech_expr_values(e, n, values[0], STRIDE, y);
            for (size_t i = 0; i < MEMBERS; i++) {
                const double own[] = {values[0][i], values[1][i], values[2][i]};
                const double right = i < n ? mech_expr_at(e, own) : -77.;

                CU_ASSERT(memcmp(&y[i], &right, sizeof right) == 0 ||
                          (isnan(y[i]) && isnan(right)));
            }
        }
        mech_expr_destroy(e);
    }
}

/* A fused product and sum, which a compiler may make of `a*b + c` where the processor has one,
 * gives another last bit for each of these. */
static void each_operation_is_rounded_by_itself(void)
{
    const double t = 0.1, u = 0.3, k = -0.03;
    const volatile double tu = t * u, tt = t * t, t3 = 3. * t, uu = u * u, root = sqrt(tt + 1.);
    const struct {
        const char *text;
        double value;
    } cases[] = {{"3*t-0.3", t3 - 0.3},
                 {"t*u+k", tu + k},
                 {"k+t*u", k + tu},
                 {"t^2-t*u", tt - tu},
                 {"t*u-u*t", 0.},
                 {"sum(t*u,k)", tu + k},
                 {"t<1?t*u-0.03:0", tu - 0.03},
                 {"sqrt(t*t+1)-1", root - 1.},
                 {"u^2-0.09", uu - 0.09}};
    static const struct mech_expr_motion along[] = {{1., 0.}};
    const double values[] = {t, u, k};

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct mech_expr *const e = compiled(cases[i].text);
        double one, y[3], gradient[3];

        mech_expr_values(e, 1, values, 1, &one);
        mech_expr_along(e, values, along, 1, y);
        CHECK_NEAR(mech_expr_at(e, values), cases[i].value, 0);
        CHECK_NEAR(one, cases[i].value, 0);
        CHECK_NEAR(y[0], cases[i].value, 0);
        CHECK_NEAR(mech_expr_gradient(e, values, 0, 3, gradient), cases[i].value, 0);
        mech_expr_destroy(e);
    }
}

static void long_chains_of_choices_serve_several_members(void)
{
    char text[4000] = "";
    double values[3][20] = {{0.}}, y[20];

    for (int k = 0; k < 200; k++) {
        snprintf(text + strlen(text), sizeof text - strlen(text), "t<%d?%d:", k + 1, k);
    }
    strcat(text, "u");
    struct mech_expr *const e = compiled(text);
    for (int i = 0; i < 20; i++) {
        values[0][i] = 11. * i + 0.5;
        values[1][i] = -1.;
    }
    mech_expr_values(e, 20, values[0], 20, y);
    for (int i = 0; i < 20; i++) {
        CHECK_NEAR(y[i], i < 19 ? 11. * i : -1., 0);
    }
    mech_expr_destroy(e);
}

static void chains_of_powers_are_bounded(void)
{
    for (size_t n = 512; n <= 513; n++) {
        const struct mech_expr_vars vars = {names, NULL, 3};
        char text[1100] = "", message[200] = "";
        struct mech_expr *e = NULL;

        for (size_t k = 0; k < n; k++) {
            strcat(text, k + 1 < n ? "t^" : "t");
        }
        const int code = mech_expr_create(text, &vars, message, sizeof message, &e);
        CU_ASSERT_EQUAL(code == 0, n == 512);
        if (e != NULL) {
            const double one[] = {1., 0., 0.};
            CHECK_NEAR(mech_expr_at(e, one), 1., 0);
        } else {
            CU_ASSERT(strstr(message, "more than 512 operands are pending") != NULL);
            CU_ASSERT(strstr(message, "position 1025") != NULL);
        }
        mech_expr_destroy(e);
    }
}

/* One load, and whether that is the number y: 1 or 0. */
static struct mech_expr *loading(enum mech_expr_op op, double y)
{
    const struct mech_expr_code code[] = {
        {.op = op, .a = -3., .b = 0.7},
        {.op = isnan(y) ? MECH_EXPR_END : MECH_EXPR_NUMBER, .b = y},
        {.op = MECH_EXPR_EQUAL},
        {.op = MECH_EXPR_END}};
    struct mech_expr *const e = malloc(sizeof *e + sizeof code);

    *e = (struct mech_expr){.depth = 2, .breadth = 2};
    memcpy(e->code, code, sizeof code);
    return e;
}

/* Its value is the same wherever it is computed, and its derivatives are those of the value. */
static void check_load(enum mech_expr_op op, double x)
{
    static const double h = 1e-3;
    struct mech_expr *const e = loading(op, NAN);
    const double values[16] = {x, x - h, x + h, x, x, x, x, x, x, x, x, x, x, x, x, x};
    double f[16], along[3], sides[3];

    mech_expr_values(e, 16, values, 16, f);
    mech_expr_along(e, &x, (struct mech_expr_motion[]){{1., 0.}}, 1, along);
    sides[0] = f[0];
    mech_expr_sides(e, &x, &(struct mech_expr_path){(struct mech_expr_motion[]){{1., 0.}}, 0, 1},
                    sides);
    CHECK_NEAR(mech_expr_at(e, &x), f[0], 0.);
    CHECK_NEAR(along[0], f[0], 0.);
    CHECK_NEAR(along[1], (f[2] - f[1]) / (2. * h), 1e-4);
    CHECK_NEAR(along[2], (f[2] - 2. * f[0] + f[1]) / (h * h), 1e-4);
    CHECK_NEAR(sides[1], along[1], 1e-6);
    CHECK_NEAR(sides[2], along[2], 1e-6);
    struct mech_expr *const same = loading(op, f[0]), *const other = loading(op, f[0] + 1.);
    CU_ASSERT_NOT_EQUAL(mech_expr_way(same, &x).jumps, mech_expr_way(other, &x).jumps);
    mech_expr_destroy(same);
    mech_expr_destroy(other);
    mech_expr_destroy(e);
}

static void loads_are_the_same_everywhere(void)
{
    static const enum mech_expr_op loads[] = {
#define LOAD(symbol, value, by_x, by_xx, moves) MECH_EXPR_##symbol,
#include "solver/expr/loads.def"
#undef LOAD
    };

    for (size_t k = 0; k < sizeof loads / sizeof *loads; k++) {
        for (double x = -1.6; x < 2.; x += 0.4) {
            check_load(loads[k], x);
        }
    }
}

static void nothing_is_allocated(void)
{
    struct mech_expr *const e = compiled("t<1?max(sin(t),u,k^3,exp(-t)):atan2(t,k)*sqrt(abs(u))");
    double values[3][40], y[40], one[] = {0.5, 2., 1.}, gradient[3], at[3];
    const struct mech_expr_motion along[] = {{1., 0.}};

    for (int i = 0; i < 40; i++) {
        values[0][i] = i * 0.05;
        values[1][i] = values[2][i] = i;
    }
    alloc_count_start();
    mech_expr_values(e, 40, values[0], 40, y);
    const double x = mech_expr_at(e, one) + mech_expr_gradient(e, one, 0, 3, gradient);
    mech_expr_along(e, one, along, 1, at);
    CU_ASSERT_EQUAL(alloc_count_stop(), 0);
    CHECK_NEAR(x, 4., 0);
    mech_expr_destroy(e);
}

UNIT_TESTS(UNIT_TEST(members_have_the_values_of_each), UNIT_TEST(loads_are_the_same_everywhere),
           UNIT_TEST(each_operation_is_rounded_by_itself),
           UNIT_TEST(long_chains_of_choices_serve_several_members),
           UNIT_TEST(chains_of_powers_are_bounded), UNIT_TEST(nothing_is_allocated))
