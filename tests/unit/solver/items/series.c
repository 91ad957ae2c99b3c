/* Functions of time by points: values, slopes and curvatures against closed forms, ends, faults,
 * and as loads and offsets of a model. */
#include "solver/items/series.h"
#include "tests/unit/model.h"

static struct mech_curve curve(struct mech_arena *arena, double *t, double *y, size_t n,
                               int interpolation, int outside)
{
    const struct mech_point_series s = {
        .t = {t, n}, .values = {y, n}, .interpolation = interpolation, .outside = outside};
    struct mech_curve c;

    mech_arena_init(arena, 0);
    CU_ASSERT_EQUAL_FATAL(mech_curve_init(&c, arena, &s), 0);
    return c;
}

static double at(const struct mech_curve *c, double t, int derivative)
{
    double out[3];

    mech_curve_at(c, t, out);
    return out[derivative];
}

static void lines_go_through_their_points(void)
{
    double t[] = {0., 1., 3.}, y[] = {2., 4., 0.};
    struct mech_arena arena;
    const struct mech_curve c = curve(&arena, t, y, 3, MECH_SERIES_LINEAR, MECH_SERIES_HOLD);

    for (int i = 0; i < 3; i++) {
        CU_ASSERT_EQUAL(at(&c, t[i], 0), y[i]);
    }
    CHECK_NEAR(at(&c, 0.25, 0), 2.5, 1e-15);
    CHECK_NEAR(at(&c, 2.5, 0), 1., 1e-15);
    // the slope at a point is that of the piece after it
    CHECK_NEAR(at(&c, 1., 1), -2., 1e-15);
    CHECK_NEAR(at(&c, 0.99, 1), 2., 1e-15);
    CHECK_NEAR(at(&c, 2., 2), 0., 0.);
    mech_arena_fini(&arena);
}

/* -q'' = 0 at both ends is true of sin over whole half-waves, so the error is that of the spline */
static void a_spline_is_smooth_and_of_order_4(void)
{
    double error[2][3] = {{0.}};

    for (int k = 0; k < 2; k++) {
        const size_t n = k ? 65 : 33;
        double t[65], y[65];
        struct mech_arena arena;

        for (size_t i = 0; i < n; i++) {
            t[i] = acos(-1.) * (double)i / (double)(n - 1);
            y[i] = sin(t[i]);
        }
        const struct mech_curve c = curve(&arena, t, y, n, MECH_SERIES_CUBIC, MECH_SERIES_HOLD);

        for (size_t i = 0; i < n; i++) {
            CU_ASSERT_EQUAL(at(&c, t[i], 0), y[i]);
        }
        for (int i = 1; i < 1000; i++) {
            const double x = acos(-1.) * i / 1000.;
            const double exact[3] = {sin(x), cos(x), -sin(x)};

            for (int d = 0; d < 3; d++) {
                error[k][d] = fmax(error[k][d], fabs(at(&c, x, d) - exact[d]));
            }
        }
        // first and second derivatives do not jump at an inner point
        for (int d = 1; d < 3; d++) {
            CHECK_NEAR(at(&c, t[5] - 1e-9, d), at(&c, t[5], d), 1e-7);
        }
        mech_arena_fini(&arena);
    }
    // order 4, 3, 2 of value, slope and curvature
    for (int d = 0; d < 3; d++) {
        CHECK_NEAR(log2(error[0][d] / error[1][d]), 4. - d, 0.15);
    }
}

/* what a sum of steps makes of a time is that time, at any time */
static void rounding_leads_to_no_place_outside(void)
{
    static const double starts[] = {0., 3600., 1e6, 1e9};

    for (int i = 0; i < 4; i++) {
        double t[] = {starts[i], starts[i] + 1., starts[i] + 2.}, y[] = {3., 4., 5.};
        struct mech_arena arena;
        const struct mech_curve c = curve(&arena, t, y, 3, MECH_SERIES_LINEAR, MECH_SERIES_ERROR);

        CU_ASSERT_EQUAL(at(&c, nextafter(t[2], INFINITY), 0), 5.);
        CU_ASSERT_EQUAL(at(&c, t[0] - 1e-16 * fmax(1., t[0]), 0), 3.);
        CU_ASSERT_TRUE(isnan(at(&c, t[2] + 1e-14 * t[2], 0)));
        mech_arena_fini(&arena);
    }
}

static void outside_the_value_holds_or_is_zero_or_none(void)
{
    double t[] = {1., 2., 4.}, y[] = {3., 5., 7.};
    struct mech_arena arena[3];
    const struct mech_curve hold = curve(&arena[0], t, y, 3, MECH_SERIES_CUBIC, MECH_SERIES_HOLD);
    const struct mech_curve zero = curve(&arena[1], t, y, 3, MECH_SERIES_LINEAR, MECH_SERIES_ZERO);
    const struct mech_curve none = curve(&arena[2], t, y, 3, MECH_SERIES_LINEAR, MECH_SERIES_ERROR);

    CU_ASSERT_EQUAL(at(&hold, 0.5, 0), 3.);
    CU_ASSERT_EQUAL(at(&hold, 9., 0), 7.);
    CU_ASSERT_EQUAL(at(&hold, 9., 1), 0.);
    CU_ASSERT_EQUAL(at(&zero, 0.5, 0), 0.);
    CU_ASSERT_EQUAL(at(&zero, 4., 0), 7.);
    CU_ASSERT_TRUE(isnan(at(&none, 4.1, 0)) && isnan(at(&none, 0.9, 1)));
    for (int i = 0; i < 3; i++) {
        mech_arena_fini(&arena[i]);
    }
}

/* a mass of 2 kg, driven by a load, and a coordinate that a constraint moves */
#define DRIVEN(load, offset)                                                                       \
    "{'mechd': 1, 'parameters': {'a': 6}, 'nodes': [{'name': 'n', 'type': 'Node1D'},"              \
    "{'name': 'k', 'type': 'Node1D'}], 'objects': [{'name': 'm', 'type': 'Mass1D', 'node': 'n',"   \
    "'physicsMass': 2}, {'name': 'l', 'type': 'Mass1D', 'node': 'k', 'physicsMass': 3},"           \
    "{'name': 'c', 'type': 'CoordinateConstraint', 'markers': ['g', 'y'], " offset "}],"           \
    "'markers': [{'name': 'x', 'type': 'MarkerNodeCoordinate', 'node': 'n'}, {'name': 'y',"        \
    "'type': 'MarkerNodeCoordinate', 'node': 'k'}, {'name': 'g',"                                  \
    "'type': 'MarkerGroundCoordinate'}], 'loads': [{'name': 'F', 'type': 'LoadCoordinate',"        \
    "'marker': 'x', 'load': " load "}], 'solver': {'integrator': 'RK44', 'stepSize': 0.125}}"
#define RAMP "{'table': {'t': [0, 1], 'values': [0, '=a'], 'outside': 'error'}}"
#define WAVE "{'table': {'interpolation': 'cubic', 't': [0, 1, 2, 3], 'values': [0, 2, 1, 0]}}"

/* F = 6 t on 2 kg: x = t³/2, exact for a scheme of order 4 */
static void a_load_by_points_moves_a_mass(void)
{
    struct mech_sim *const s = model_of(DRIVEN(RAMP, "'offset': 0"));

    CU_ASSERT_EQUAL(model_steps(s, 8), 0);
    CHECK_NEAR(model_state(s).q[0], 0.5, 1e-14);
    CHECK_NEAR(model_value(s, MECH_LOAD, "F", MECH_OUTPUT_FORCE), 6., 1e-15);
    // the table ends here: a step beyond is refused and leaves the state
    CU_ASSERT_EQUAL(model_steps(s, 1), MECH_NOT_FINITE);
    CHECK_NEAR(model_state(s).q[0], 0.5, 1e-14);
    CHECK_NEAR(mech_sim_time(s), 1., 0.);
    mech_sim_destroy(s);
}

/* λ = m q̈ with q̈ from the spline: m_1 = −30/15, m_2 = 0/15 by hand:
 * 4 m_1 + m_2 = 6 (−1 − 2) = −18, m_1 + 4 m_2 = 6 (−1 + 1) = 0, so m_1 = −4.8, m_2 = 1.2 */
static void an_offset_by_points_carries_its_acceleration(void)
{
    static const char *const integrators[] = {"RK44", "GeneralizedAlpha"};

    for (int k = 0; k < 2; k++) {
        char text[4096];

        snprintf(text, sizeof text, "%s", DRIVEN("0", "'offset': " WAVE));
        if (k) {
            char *const name = strstr(text, integrators[0]);
            char rest[200];

            snprintf(rest, sizeof rest, "%s", name + 4);
            snprintf(name, 300, "%s%s", integrators[1], rest);
        }
        struct mech_sim *const s = model_of(text);

        CU_ASSERT_EQUAL(model_steps(s, 4), 0);
        // 0.5 s: (0 + 2)/2 + 1/6 (0.125 − 0.5)(−4.8)
        CHECK_NEAR(model_state(s).q[1], 1.3, 1e-9);
        if (k == 0) {
            CHECK_NEAR(model_state(s).v[1], 2. - 4.8 / 6. * (3. * 0.25 - 1.), 1e-12);
            CHECK_NEAR(model_state(s).vdot[1], -2.4, 1e-12);
            CHECK_NEAR(model_state(s).lambda[0], 3. * -2.4, 1e-12);
        }
        mech_sim_destroy(s);
    }
}

static void a_law_of_an_offset_reads_it_at_its_time(void)
{
    struct mech_sim *const s =
        model_of(DRIVEN("0", "'offset': '=a*t', 'offsetUserFunction': '=offset^2 + t'"));

    CU_ASSERT_EQUAL(model_steps(s, 4), 0);
    CHECK_NEAR(model_state(s).q[1], 9.5, 1e-12);
    CHECK_NEAR(model_state(s).v[1], 2. * 36. * 0.5 + 1., 1e-7);
    mech_sim_destroy(s);
}

static void faults_have_their_places(void)
{
#define TABLE(t, y) "{'table': {'t': " t ", 'values': " y "}}"
    CU_ASSERT_TRUE(model_refused(DRIVEN(TABLE("[0, 2, 2]", "[1, 2, 3]"), "'offset': 0"),
                                 "/loads/0/load/table/t/2", "not later than 2"));
    CU_ASSERT_TRUE(model_refused(DRIVEN(TABLE("[0]", "[1]"), "'offset': 0"),
                                 "/loads/0/load/table/t", "needs at least 2"));
    CU_ASSERT_TRUE(model_refused(DRIVEN("0", "'offset': " TABLE("[0, 1]", "[1]")),
                                 "/objects/2/offset/table/values", "needs one per time"));
    CU_ASSERT_TRUE(model_refused(DRIVEN(TABLE("[0, '=a', 4]", "[1, 2, 3]"), "'offset': 0"),
                                 "/loads/0/load/table/t/2", "not later"));
    CU_ASSERT_TRUE(
        model_refused(DRIVEN("{'tabel': {}}", "'offset': 0"), "/loads/0/load/tabel", ""));
    CU_ASSERT_TRUE(model_refused(DRIVEN("{'table': {'t': [0, 1]}}", "'offset': 0"),
                                 "/loads/0/load/table", "values"));
}

UNIT_TESTS(UNIT_TEST(lines_go_through_their_points), UNIT_TEST(a_spline_is_smooth_and_of_order_4),
           UNIT_TEST(rounding_leads_to_no_place_outside),
           UNIT_TEST(outside_the_value_holds_or_is_zero_or_none),
           UNIT_TEST(a_load_by_points_moves_a_mass),
           UNIT_TEST(an_offset_by_points_carries_its_acceleration),
           UNIT_TEST(a_law_of_an_offset_reads_it_at_its_time), UNIT_TEST(faults_have_their_places))
