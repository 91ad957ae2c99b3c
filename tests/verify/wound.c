/* Springs and bushings of bodies in the plane whose angles are half a turn in the reference, pass
 * through points where they are not unique, or do not count the turns of the coordinates. */
#include "solver/linalg/so3.h"
#include "tests/unit/model.h"

#include <math.h>
#include <string.h>

#define PI 3.14159265358979323846

struct scene {
    double angle, speed; /* at the start, rad, rad/s */
    double frame[2][9];  /* of the markers, by rows */
    const char *type;    /* of the object "x" between the ground and the body, and its fields */
};

/* Rx(a) Ry(b) Rz(c), by rows */
static void both_frames(struct scene *c, double a, double b, double angle)
{
    const double angles[3] = {a, b, angle};

    for (int s = 0; s < 2; s++) {
        mech_so3_from_angles(angles, c->frame[s]);
    }
}

/* about y of the frames, off by `tilt` in the direction `about` */
static void frames_about_y(struct scene *c, double tilt, double about)
{
    double off[9];

    both_frames(c, -0.5 * PI, 0., 0.);
    mech_so3_from_angles((double[]){tilt * cos(about), 0., tilt * sin(about)}, off);
    for (int s = 0; s < 2; s++) {
        mech_m3_product(c->frame[s], off, c->frame[s]);
    }
}

static void write_scene(const struct scene *c, char *text, size_t size)
{
    int n = snprintf(text, size,
                     "{'mechd': 1, 'nodes': [{'name': 'n', 'type': 'NodeRigidBody2D',"
                     "'initialCoordinates': [0, 0, %.17g], 'initialVelocities': [0, 0, %.17g]}],"
                     "'markers': [{'name': 'm', 'type': 'MarkerNodeRigid', 'node': 'n'},"
                     "{'name': 'mg', 'type': 'MarkerBodyRigid', 'object': 'g'}],"
                     "'solver': {'stepSize': 0.01}, 'objects': [{'name': 'g', 'type': 'Ground'},"
                     "{'name': 'b', 'type': 'RigidBody2D', 'node': 'n', 'physicsMass': 1,"
                     "'physicsInertia': 1}, {'name': 'x', 'markers': ['mg', 'm'], 'type': %s",
                     c->angle, c->speed, c->type);

    for (int s = 0; s < 2; s++) {
        n += snprintf(text + n, size - (size_t)n, ", 'rotationMarker%d': [", s);
        for (int i = 0; i < 9; i++) {
            n += snprintf(text + n, size - (size_t)n, "%s%.17g%s", i % 3 ? ", " : "[",
                          c->frame[s][i],
                          i == 8       ? "]]"
                          : i % 3 == 2 ? "], "
                                       : "");
        }
    }
    snprintf(text + n, size - (size_t)n, "}]}");
}

static struct mech_sim *start(const struct scene *c)
{
    char text[4096];

    write_scene(c, text, sizeof text);
    return model_of(text);
}

static const char *const spring = "'TorsionalSpringDamper'";
static const char *const bushing = "'RigidBodySpringDamper'";
static const char *const intrinsic = "'RigidBodySpringDamper', 'intrinsicFormulation': true";

/* A frame turned by half a turn, to rounding on either side of it: the angle at the start is the
 * smallest. */
static void half_turns_have_the_sign_of_the_start(void)
{
    static const double starts[] = {-1e-4, 1e-4, -0.2, 0.2, 3., -3., -1e-8, 1e-8};

    for (int i = 0; i < 3 * 3 * 8; i++) {
        struct scene c = {.angle = starts[i % 8],
                          .type = (const char *[]){spring, bushing, intrinsic}[i / 24]};
        double x[3];

        both_frames(&c, 0., 0., 0.);
        mech_so3_from_angles((double[]){0., 0., (double[]){PI, -PI, PI}[i / 8 % 3]}, c.frame[1]);
        if (i / 8 % 3 == 2) {
            memcpy(c.frame[1], (double[]){-1, 0, 0, 0, -1, 0, 0, 0, 1}, sizeof c.frame[1]);
        }
        struct mech_sim *const s = start(&c);
        model_values(s, MECH_OBJECT, "x", MECH_OUTPUT_ROTATION, x);
        CHECK_NEAR(x[c.type == spring ? 0 : 2], c.angle - copysign(PI, c.angle), 1e-12);
        mech_sim_destroy(s);
    }
}

/* of a marker on a rotor whose frame is turned by half a turn, too */
static void sensors_of_half_turns_have_the_sign_of_the_start(void)
{
    for (int i = 0; i < 8; i++) {
        const double angle = (double[]){-0.2, 0.2, -1e-4, 1e-4}[i / 2];
        char text[1024];
        double x[3];

        snprintf(text, sizeof text,
                 "{'mechd': 1, 'nodes': [{'name': 'n', 'type': 'Node1D', 'initialCoordinates':"
                 "[%.17g]}], 'markers': [{'name': 'm', 'type': 'MarkerBodyRigid', 'object': 'b'}],"
                 "'sensors': [{'name': 's', 'type': 'SensorMarker', 'marker': 'm',"
                 "'outputVariable': 'Rotation'}], 'objects': [{'name': 'b', 'type': 'Rotor1D',"
                 "'node': 'n', 'physicsInertia': 1, 'referenceRotation': [[-1, %s1.3e-16, 0],"
                 "[%s1.3e-16, -1, 0], [0, 0, 1]]}]}",
                 angle, i % 2 ? "-" : "", i % 2 ? "" : "-");
        struct mech_sim *const s = model_of(text);
        model_values(s, MECH_SENSOR, "s", MECH_OUTPUT_ROTATION, x);
        CHECK_NEAR(x[2], angle - copysign(PI, angle), 1e-12);
        mech_sim_destroy(s);
    }
}

/* Bushings about y, off by less than frames are given to, and a spring across whose axes the body
 * turns: the path goes through where angles are not unique. */
static void paths_through_are_smooth(void)
{
    static const double tilts[] = {0., 1e-7, 5e-7};

    for (int i = 0; i < 24; i++) {
        struct scene c = {.speed = 2., .type = i < 12 ? bushing : spring};

        frames_about_y(&c, tilts[i % 3], 0.5 * PI * (i / 3 % 4));
        if (i >= 12) {
            both_frames(&c, 0.5 * PI, 0., 0.);
        }
        struct mech_sim *const s = start(&c);
        for (int k = 1; k <= 400; k++) {
            const double u = 0.02 * k;
            double x[3];

            CU_ASSERT_EQUAL(model_steps(s, 1), 0);
            model_values(s, MECH_OBJECT, "x", MECH_OUTPUT_ROTATION, x);
            CHECK_NEAR(i < 12 ? x[1] : x[0], i < 12 ? -u : 0., 1e-5);
        }
        mech_sim_destroy(s);
    }
}

/* Frames off by 0.4 to 9 degrees: the angles of a path in small steps, whatever the state was
 * before. */
static void paths_beside_are_followed(void)
{
    static const double tilts[] = {0.01, 0.02, 0.049, 0.08, 0.15};

    for (int i = 0; i < 20; i++) {
        struct scene c = {.type = bushing};
        double E[9], last[3] = {0.};

        frames_about_y(&c, tilts[i / 4], 0.3 + 0.5 * PI * (i % 4));
        struct mech_sim *const s = start(&c);
        for (int k = 1; k <= 14000; k++) {
            const double q[3] = {0., 0., 5e-4 * k};
            double x[3];

            mech_so3_from_angles(q, E);
            mech_m3_product(E, c.frame[1], E);
            mech_m3_product_transposed(c.frame[0], E, E);
            mech_so3_angles_near(E, last, x);
            memcpy(last, x, sizeof last);
            if (k % 100 == 0) {
                const struct mech_state_view to = {.time = NAN, .q = q};

                CU_ASSERT_EQUAL(mech_sim_set_state(s, &to), 0);
                model_values(s, MECH_OBJECT, "x", MECH_OUTPUT_ROTATION, x);
                CHECK_NEAR(model_distance(x, last, 3), 0., 1e-9);
            }
        }
        mech_sim_destroy(s);
    }
}

/* Where the model is good: its warning; or "". */
static void warning_of(const struct scene *c, char out[1024])
{
    struct mech_diag diag;
    struct mech_sim *s = NULL;
    char text[4096];

    write_scene(c, text, sizeof text);
    mech_diag_init(&diag);
    CU_ASSERT_EQUAL_FATAL(model_read(text, &diag, &s), 0);
    out[0] = '\0';
    if (diag.warning_count > 0) {
        snprintf(out, 1024, "%s: %s", diag.warnings[0].path, diag.warnings[0].text);
    }
    mech_diag_fini(&diag);
    mech_sim_destroy(s);
}

static void turns_that_are_not_counted_have_a_warning(void)
{
    static const char wound[] = "/objects/2: \"x\" is wound by more than half a turn at the start";
    static const char passes[] = "/objects/2: \"x\" has angles that are not unique";
    const struct {
        double tilt, angle;
        const char *type, *words;
    } cases[] = {
        {0., 40., intrinsic, ""},          {9e-7, 40., intrinsic, ""},
        {1.1e-6, 40., intrinsic, wound},   {1.1e-6, -40., intrinsic, wound},
        {0.01, 4., intrinsic, wound},      {0.01, -4., intrinsic, wound},
        {0.01, 3., intrinsic, ""},         {0.01, -3., intrinsic, ""},
        {0.01, 4. * PI, intrinsic, wound}, {0., 40., bushing, ""},
        {0.5, 40., bushing, ""},           {0.01, 40., spring, ""},
        {0.5 * PI, 40., spring, ""},       {0.5 * PI - 1e-4, 40., spring, passes},
        {-0.5 * PI, 40., bushing, ""},     {-0.5 * PI + 0.2, 40., bushing, ""},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct scene c = {.angle = cases[i].angle, .type = cases[i].type};
        char out[1024];

        both_frames(&c, cases[i].tilt, 0., 0.);
        if (cases[i].type == intrinsic) {
            mech_so3_from_angles((double[]){0., 0., 0.}, c.frame[0]);
        }
        warning_of(&c, out);
        CU_ASSERT_EQUAL(strncmp(out, cases[i].words, strlen(cases[i].words)), 0);
        CU_ASSERT_EQUAL(out[0] == '\0', cases[i].words[0] == '\0');
    }
    /* passing at 1e-4 rad; one that does not act, or goes through, says nothing */
    for (int i = 0; i < 3; i++) {
        struct scene c = {.angle = 1.,
                          .type = i == 1 ? "'RigidBodySpringDamper', 'active': false" : bushing};
        char out[1024];

        frames_about_y(&c, i < 2 ? 1e-4 : 5e-7, 0.5 * PI);
        warning_of(&c, out);
        CU_ASSERT_EQUAL(out[0] != '\0', i == 0);
        CU_ASSERT_EQUAL(strncmp(out, passes, sizeof passes - 1) == 0, i == 0);
    }
}

/* Two rotors, the axis of one off by 0.2 rad: an `angle` at the start beyond half a turn has a
 * warning. */
static void turns_about_two_axes_have_a_warning(void)
{
    const char *const types[] = {spring, bushing, intrinsic};

    for (int i = 0; i < 6; i++) {
        struct mech_diag diag;
        struct mech_sim *s = NULL;
        char text[2048];

        snprintf(text, sizeof text,
                 "{'mechd': 1, 'nodes': [{'name': 'n0', 'type': 'Node1D', 'initialCoordinates':"
                 "[%d]}, {'name': 'n1', 'type': 'Node1D'}], 'markers': [{'name': 'm0', 'type':"
                 "'MarkerBodyRigid', 'object': 'b0'}, {'name': 'm1', 'type': 'MarkerBodyRigid',"
                 "'object': 'b1'}], 'objects': [{'name': 'b0', 'type': 'Rotor1D', 'node': 'n0',"
                 "'physicsInertia': 1, 'referenceRotation': [[1, 0, 0], [0, %.17g, %.17g],"
                 "[0, %.17g, %.17g]]}, {'name': 'b1', 'type': 'Rotor1D', 'node': 'n1',"
                 "'physicsInertia': 1}, {'name': 'x', 'markers': ['m0', 'm1'], 'type': %s}]}",
                 i < 3 ? -40 : 3, cos(0.2), -sin(0.2), sin(0.2), cos(0.2), types[i % 3]);
        mech_diag_init(&diag);
        CU_ASSERT_EQUAL_FATAL(model_read(text, &diag, &s), 0);
        CU_ASSERT_EQUAL_FATAL(diag.warning_count, i < 3);
        if (i < 3) {
            CU_ASSERT_STRING_EQUAL(diag.warnings[0].path, "/objects/2");
            CU_ASSERT_PTR_NOT_NULL(strstr(diag.warnings[0].text, "axes differ by more than 0.1"));
        }
        mech_diag_fini(&diag);
        mech_sim_destroy(s);
    }
}

/* What is not active shows the angles that it will have. */
static void inactive_ones_show_their_turns(void)
{
    static const char *const types[] = {
        "'TorsionalSpringDamper', 'active': false", "'RigidBodySpringDamper', 'active': false",
        "'RigidBodySpringDamper', 'active': false, 'intrinsicFormulation': true"};

    for (int i = 0; i < 3; i++) {
        struct scene c = {.angle = 40., .type = types[i]};
        double x[3];

        both_frames(&c, 0., 0., 0.);
        struct mech_sim *const s = start(&c);
        model_values(s, MECH_OBJECT, "x", MECH_OUTPUT_ROTATION, x);
        CHECK_NEAR(x[i ? 2 : 0], 40., 1e-13);
        mech_sim_destroy(s);
    }
}

UNIT_TESTS(UNIT_TEST(half_turns_have_the_sign_of_the_start),
           UNIT_TEST(sensors_of_half_turns_have_the_sign_of_the_start),
           UNIT_TEST(paths_through_are_smooth), UNIT_TEST(paths_beside_are_followed),
           UNIT_TEST(turns_that_are_not_counted_have_a_warning),
           UNIT_TEST(turns_about_two_axes_have_a_warning),
           UNIT_TEST(inactive_ones_show_their_turns))
