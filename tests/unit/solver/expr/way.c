/* Which way an expression goes: it changes where an outcome does, and nowhere else. */
#include "solver/expr/expr.h"
#include "tests/unit/unit.h"

#include <stdio.h>
#include <string.h>

static const char *const names[] = {"t", "k"};

static struct mech_expr *made(const char *text)
{
    const struct mech_expr_vars vars = {names, NULL, 2};
    char message[128] = "";
    struct mech_expr *e = NULL;

    if (mech_expr_create(text, &vars, message, sizeof message, &e)) {
        (void)fprintf(stderr, "%s: %s\n", text, message);
    }
    return e;
}

/* How often it changes while t goes from -2 to 2 in steps of 1/8, k = 1. */
static int changes(const char *text)
{
    struct mech_expr *const e = made(text);
    struct mech_expr_way last = {.jumps = 0};
    int count = 0;

    for (int i = -16; i <= 16 && e; i++) {
        const double values[] = {0.125 * i, 1.};
        const struct mech_expr_way way = mech_expr_way(e, values);

        count += i > -16 && (way.jumps != last.jumps || way.kinks != last.kinks);
        last = way;
    }
    mech_expr_destroy(e);
    return count;
}

static void outcomes_change_where_they_do(void)
{
    static const struct {
        const char *text;
        int count;
    } known[] = {{"t > 0.3", 1},
                 {"t > 0.3 && t < 1", 2},
                 {"t > 0.3 || k > 2", 1},
                 {"t > 0.3 ? k : 2*k", 1},
                 {"t < 0 ? (t < -1 ? 1 : 2) : (t > 1 ? 3 : 4)", 3},
                 {"abs(t - 0.3)", 1},
                 {"max(t, 0.3) + min(t, 0.4)", 2},
                 {"sign(t)", 2},
                 {"rint(t)", 4},
                 {"t == 1", 2},
                 {"t - k ? 5 : 6", 2},
                 {"t > 3", 0},
                 {"abs(t + 4)", 0}};

    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        const int count = changes(known[i].text);

        if (count != known[i].count) {
            (void)fprintf(stderr, "%s: %d, not %d\n", known[i].text, count, known[i].count);
        }
        CU_ASSERT_EQUAL(count, known[i].count);
    }
}

static void smooth_ones_have_one_way(void)
{
    static const char *const smooth[] = {"k*t^3 + sin(t)", "sqrt(t*t)", "atan2(t, k)", "2 > 1"};
    static const char *const others[] = {"t > 0", "abs(t)", "min(t, k)", "t ? 1 : 2", "rint(t)"};

    for (size_t i = 0; i < sizeof smooth / sizeof *smooth; i++) {
        struct mech_expr *const e = made(smooth[i]);
        CU_ASSERT(!mech_expr_has_ways(e));
        mech_expr_destroy(e);
    }
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        struct mech_expr *const e = made(others[i]);
        CU_ASSERT(mech_expr_has_ways(e));
        mech_expr_destroy(e);
    }
}

/* With the kinks of another point it goes on as it did there. */
static void kinks_are_kept(void)
{
    static const struct {
        const char *text;
        double at[2], expected; /* of the way at at[0], the value at at[1] */
    } known[] = {{"abs(t)", {-1., 2.}, -2.},
                 {"t*abs(t)", {1., -3.}, 9.},
                 {"max(t, k)", {2., 0.5}, 0.5},
                 {"min(k, t)", {0.5, 3.}, 3.},
                 {"max(0, t - 1) + 2*min(t, 3) + abs(t - 2)", {1.5, 4.}, 3. + 8. - 2.},
                 {"t > -5 ? abs(t) : max(t, 7)", {-1., 2.}, -2.}};

    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        struct mech_expr *const e = made(known[i].text);
        const double a[] = {known[i].at[0], 1.}, b[] = {known[i].at[1], 1.};
        const struct mech_expr_way way = mech_expr_way(e, a), other = mech_expr_way(e, b);

        CU_ASSERT_EQUAL(way.jumps, other.jumps);
        CU_ASSERT_NOT_EQUAL(way.kinks, other.kinks);
        CHECK_NEAR(mech_expr_kinked(e, b, way.kinks), known[i].expected, 1e-15);
        CHECK_NEAR(mech_expr_kinked(e, b, other.kinks), mech_expr_at(e, b), 0.);
        mech_expr_destroy(e);
    }
}

/* Those behind the 64th are jumps. */
static void many_kinks_are_seen(void)
{
    char text[1024] = "0";

    for (int i = 0; i < 70; i++) {
        sprintf(text + strlen(text), "+abs(t-%d)", i);
    }
    struct mech_expr *const e = made(text);
    struct mech_expr_way last = mech_expr_way(e, (const double[]){-0.5, 1.});

    for (int i = 0; i < 70; i++) {
        const double values[] = {i + 0.5, 1.};
        const struct mech_expr_way way = mech_expr_way(e, values);

        CU_ASSERT_EQUAL(way.kinks != last.kinks, i < 64);
        CU_ASSERT_EQUAL(way.jumps != last.jumps, i >= 64);
        CHECK_NEAR(mech_expr_kinked(e, values, way.kinks), mech_expr_at(e, values), 0.);
        last = way;
    }
    mech_expr_destroy(e);
}

UNIT_TESTS(UNIT_TEST(kinks_are_kept), UNIT_TEST(many_kinks_are_seen),
           UNIT_TEST(outcomes_change_where_they_do), UNIT_TEST(smooth_ones_have_one_way))
