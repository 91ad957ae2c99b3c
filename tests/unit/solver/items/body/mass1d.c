/* Mass1D: every output variable of Exudyn's ObjectMass1D, in all configurations, off the origin. */
#include "solver/items/ops.h"
#include "tests/unit/model.h"

/* R₀ = Rx(0.3) Ry(-0.4) Rz(0.5), p_ref = [1, 2, 3], q_ref = 0.7, u = 0.2, v = -1.5 */
static double R0[9];

static struct mech_sim *tilted(void)
{
    const double ca = cos(0.3), sa = sin(0.3), cb = cos(-0.4), sb = sin(-0.4), cc = cos(0.5),
                 sc = sin(0.5);
    const double R[9] = {cb * cc,
                         -cb * sc,
                         sb,
                         ca * sc + sa * sb * cc,
                         ca * cc - sa * sb * sc,
                         -sa * cb,
                         sa * sc - ca * sb * cc,
                         sa * cc + ca * sb * sc,
                         ca * cb};
    char text[1024];

    memcpy(R0, R, sizeof R0);
    snprintf(text, sizeof text,
             "{'mechd': 1, 'nodes': [{'name': 'n', 'type': 'Node1D', 'referenceCoordinates': [0.7],"
             "'initialCoordinates': [0.2], 'initialVelocities': [-1.5]}], 'objects': [{'name': 'm',"
             "'type': 'Mass1D', 'node': 'n', 'physicsMass': 2, 'referencePosition': [1, 2, 3],"
             "'referenceRotation': [[%.17g, %.17g, %.17g], [%.17g, %.17g, %.17g],"
             "[%.17g, %.17g, %.17g]]}], 'solver': {'stepSize': 0.1}}",
             R[0], R[1], R[2], R[3], R[4], R[5], R[6], R[7], R[8]);
    return model_of(text);
}

static const double local[3] = {0.1, -0.2, 0.3};

static void check_output(const struct mech_sim *s, enum mech_output variable,
                         enum mech_configuration configuration, size_t n, const double *expected)
{
    double values[9];
    size_t count = 0;

    CU_ASSERT_EQUAL(mech_sim_item_output(
                        s,
                        &(struct mech_item_query){MECH_OBJECT, "m", variable, configuration, local},
                        9, values, &count),
                    0);
    CU_ASSERT_EQUAL(count, n);
    for (size_t i = 0; i < n; i++) {
        CHECK_NEAR(values[i], expected[i], 1e-15);
    }
}

/* position, displacement, velocity with displacement u and velocity v */
static void check_motion(const struct mech_sim *s, enum mech_configuration configuration, double u,
                         double v)
{
    double p[3], d[3], w[3];

    for (int i = 0; i < 3; i++) {
        p[i] = 1. + i + R0[3 * i] * (0.7 + u + 0.1) - R0[3 * i + 1] * 0.2 + R0[3 * i + 2] * 0.3;
        d[i] = R0[3 * i] * u;
        w[i] = R0[3 * i] * v;
    }
    check_output(s, MECH_OUTPUT_POSITION, configuration, 3, p);
    check_output(s, MECH_OUTPUT_DISPLACEMENT, configuration, 3, d);
    check_output(s, MECH_OUTPUT_VELOCITY, configuration, 3, w);
}

static void all_outputs_in_all_configurations(void)
{
    struct mech_sim *const s = tilted();
    const double zero[3] = {0.}, angles[3] = {0.3, -0.4, 0.5};

    /* after two steps of 0.1 s at constant velocity */
    CU_ASSERT_EQUAL(model_steps(s, 2), 0);
    check_motion(s, MECH_CURRENT, 0.2 - 0.3, -1.5);
    check_motion(s, MECH_START_OF_STEP, 0.2 - 0.15, -1.5);
    check_motion(s, MECH_INITIAL, 0.2, -1.5);
    check_motion(s, MECH_REFERENCE, 0., 0.);
    for (int c = 0; c < MECH_CONFIGURATIONS; c++) {
        const enum mech_configuration configuration = (enum mech_configuration)c;

        check_output(s, MECH_OUTPUT_ROTATION_MATRIX, configuration, 9, R0);
        check_output(s, MECH_OUTPUT_ROTATION, configuration, 3, angles);
        check_output(s, MECH_OUTPUT_ANGULAR_VELOCITY, configuration, 3, zero);
        check_output(s, MECH_OUTPUT_ANGULAR_VELOCITY_LOCAL, configuration, 3, zero);
    }
    mech_sim_destroy(s);
}

static void it_has_these_outputs_and_no_others(void)
{
    struct mech_sim *const s = tilted();
    const uint32_t has = 1u << MECH_OUTPUT_POSITION | 1u << MECH_OUTPUT_DISPLACEMENT |
                         1u << MECH_OUTPUT_VELOCITY | 1u << MECH_OUTPUT_ROTATION_MATRIX |
                         1u << MECH_OUTPUT_ROTATION | 1u << MECH_OUTPUT_ANGULAR_VELOCITY |
                         1u << MECH_OUTPUT_ANGULAR_VELOCITY_LOCAL | MECH_CONTACT_OUTPUTS;
    double value;
    size_t count;

    CU_ASSERT_EQUAL(mech_sim_item_outputs(s, MECH_OBJECT, "m"), has);
    CU_ASSERT_EQUAL(
        mech_sim_item_output(
            s, &(struct mech_item_query){MECH_OBJECT, "m", MECH_OUTPUT_FORCE, MECH_CURRENT, NULL},
            1, &value, &count),
        MECH_UNSUPPORTED);
    CU_ASSERT_EQUAL(
        mech_sim_item_output(
            s,
            &(struct mech_item_query){MECH_OBJECT, "x", MECH_OUTPUT_POSITION, MECH_CURRENT, NULL},
            1, &value, &count),
        MECH_NOT_FOUND);
    mech_sim_destroy(s);
}

UNIT_TESTS(UNIT_TEST(all_outputs_in_all_configurations),
           UNIT_TEST(it_has_these_outputs_and_no_others))
