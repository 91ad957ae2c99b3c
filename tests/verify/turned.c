/* Angles of bodies in the plane and of rotors, whose coordinates count turns: what they are at the
 * start, when the state is set and after steps of any size, however the frames are tilted. */
#include "solver/linalg/so3.h"
#include "solver/sim/analysis.h"
#include "tests/unit/model.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define PI 3.14159265358979323846
#define TURN (2. * PI)

/* Rx(a) Ry(b) Rz(c), by rows */
struct frame {
    double R[9];
};

static struct frame frame_of(double a, double b, double c)
{
    struct frame f;

    mech_so3_from_angles((double[]){a, b, c}, f.R);
    return f;
}

/* to the end of a text that has room */
static void put_frame(char *text, const char *name, const struct frame *f)
{
    text += strlen(text);
    text += sprintf(text, ", '%s': [", name);
    for (int i = 0; i < 9; i++) {
        text += sprintf(text, "%s%.17g%s", i % 3 ? "" : "[", f->R[i],
                        i == 8       ? "]]"
                        : i % 3 == 2 ? "], "
                                     : ", ");
    }
}

struct scene {
    double reference, angle, speed; /* of n1: rad, rad, rad/s */
    const char *markers;            /* of spring and bushing */
    double size, stiffness;         /* of a step, s; N m/rad */
    struct frame frame[2];          /* of the markers */
};

/* Bodies in the plane on nodes n0, at 3 rad, and n1; between markers a spring, and a bushing that
 * measures by Tait–Bryan angles. */
static struct mech_sim *plane(const struct scene *c)
{
    char *const text = malloc(1 << 15);
    int n = snprintf(
        text, 1 << 15,
        "{'mechd': 1, 'nodes': [{'name': 'n0', 'type': 'NodeRigidBody2D',"
        "'referenceCoordinates': [0, 0, 3]}, {'name': 'n1', 'type': 'NodeRigidBody2D',"
        "'referenceCoordinates': [0, 0, %.17g], 'initialCoordinates': [0, 0, %.17g],"
        "'initialVelocities': [0, 0, %.17g]}], 'markers': ["
        "{'name': 'm0', 'type': 'MarkerBodyRigid', 'object': 'b0'},"
        "{'name': 'm1', 'type': 'MarkerNodeRigid', 'node': 'n1'},"
        "{'name': 'mg', 'type': 'MarkerBodyRigid', 'object': 'g'}], 'sensors': ["
        "{'name': 's0', 'type': 'SensorBody', 'object': 'b1', 'outputVariable': 'Rotation'},"
        "{'name': 's1', 'type': 'SensorNode', 'node': 'n1', 'outputVariable': 'Rotation'},"
        "{'name': 's2', 'type': 'SensorMarker', 'marker': 'm1', 'outputVariable': 'Rotation'}],"
        "'solver': {'stepSize': %g, 'spectralRadius': 1}, 'objects': ["
        "{'name': 'g', 'type': 'Ground'}, {'name': 'b0', 'type': 'RigidBody2D', 'node': 'n0',"
        "'physicsMass': 1, 'physicsInertia': 1e9}, {'name': 'b1', 'type': 'RigidBody2D',"
        "'node': 'n1', 'physicsMass': 1, 'physicsInertia': 0.5}",
        c->reference, c->angle, c->speed, c->size);

    for (int k = 0; k < 2; k++) {
        n += snprintf(text + n, (size_t)((1 << 15) - n), ", {'name': '%s', 'markers': %s",
                      k ? "bushing" : "spring", c->markers);
        put_frame(text, "rotationMarker0", &c->frame[0]);
        put_frame(text, "rotationMarker1", &c->frame[1]);
        n = (int)strlen(text);
        n += k ? snprintf(text + n, (size_t)((1 << 15) - n), ", 'type': 'RigidBodySpringDamper'}]}")
               : snprintf(text + n, (size_t)((1 << 15) - n),
                          ", 'type': 'TorsionalSpringDamper', 'stiffness': %g}", c->stiffness);
    }
    struct mech_sim *const s = model_of(text);
    free(text);
    return s;
}

/* spring and bushing about k of both frames at an angle, all sensors at another */
static void check_angles(const struct mech_sim *s, int k, double angle, double total)
{
    const double bar = 1e-14 * (1. + fabs(angle) + fabs(total));
    double x[6], expected[3] = {0.};

    if (k == 2) {
        CHECK_NEAR(model_value(s, MECH_OBJECT, "spring", MECH_OUTPUT_ROTATION), angle, bar);
    }
    expected[k] = angle;
    model_values(s, MECH_OBJECT, "bushing", MECH_OUTPUT_ROTATION, x);
    CHECK_NEAR(model_distance(x, expected, 3), 0., 10. * bar);
    const double shown[3] = {0., 0., total};
    CHECK_NEAR(model_value(s, MECH_SENSOR, "s0", MECH_OUTPUT_ROTATION), total, bar);
    model_values(s, MECH_SENSOR, "s1", MECH_OUTPUT_ROTATION, x);
    CHECK_NEAR(model_distance(x, shown, 3), 0., bar);
    model_values(s, MECH_SENSOR, "s2", MECH_OUTPUT_ROTATION, x);
    CHECK_NEAR(model_distance(x, shown, 3), 0., bar);
}

static void turns_at_the_start_count(void)
{
    static const struct {
        double reference, start;
        const char *markers;
        double angle, total;
    } cases[] = {
        {0.3, 40., "['mg', 'm1']", 40.3, 40.3},
        {0.3, 40., "['m1', 'mg']", -40.3, 40.3},
        {0., -23., "['mg', 'm1']", -23., -23.},
        /* in the reference by less than half a turn, whatever the coordinates count there */
        {-3., 0., "['m0', 'm1']", TURN - 6., -3.},
        {-3., 40., "['m0', 'm1']", TURN + 34., 37.},
        {9., 1e4, "['m0', 'm1']", 1e4 + 6. - TURN, 10009.},
        {-3.14159, 0., "['mg', 'm1']", -3.14159, -3.14159},
        {3.14159, 0., "['mg', 'm1']", 3.14159, 3.14159},
        {-3.1416, 0., "['mg', 'm1']", TURN - 3.1416, -3.1416},
    };

    for (size_t i = 0; i < 3 * sizeof cases / sizeof *cases; i++) {
        const size_t c = i / 3;
        const int k = (int)(i % 3); /* z of the bodies in the frames */

        if (k == 1 && i / 3 >= 6) {
            continue; /* Tait–Bryan angles beyond a quarter turn about y are others */
        }
        const struct frame f = k == 0   ? (struct frame){{0, 1, 0, 0, 0, 1, 1, 0, 0}}
                               : k == 1 ? (struct frame){{0, 0, 1, 1, 0, 0, 0, 1, 0}}
                                        : frame_of(0., 0., 0.);
        struct mech_sim *const s = plane(&(struct scene){.reference = cases[c].reference,
                                                         .angle = cases[c].start,
                                                         .markers = cases[c].markers,
                                                         .size = 1e-3,
                                                         .frame = {f, f}});

        check_angles(s, k, cases[c].angle, cases[c].total);
        CU_ASSERT_EQUAL(model_steps(s, 3), 0);
        check_angles(s, k, cases[c].angle, cases[c].total);
        mech_sim_destroy(s);
    }
}

/* Frames tilted by e about x: of both the twist is 2 atan2(cos e sin u/2, cos u/2), of one alone
 * u. */
static void tilted_frames_have_all_their_turns(void)
{
    static const double tilts[] = {1e-7, 1e-4, 3e-3, 0.1, 1., 1.4};

    for (size_t i = 0; i < 2 * sizeof tilts / sizeof *tilts; i++) {
        const double e = tilts[i / 2];
        const struct frame straight = frame_of(0., 0., 0.), tilted = frame_of(e, 0., 0.);
        struct mech_sim *const s =
            plane(&(struct scene){.angle = 41.,
                                  .markers = "['mg', 'm1']",
                                  .size = 1e-3,
                                  .frame = {i % 2 ? straight : tilted, tilted}});

        for (double u = 41.; u > -50.; u -= 0.37) {
            const double whole = TURN * round(u / TURN);
            const double part = tan(0.5 * (u - whole)) * (i % 2 ? 1. : cos(e));
            const double q[6] = {0., 0., 3., 0., 0., u - 0.37};

            CHECK_NEAR(model_value(s, MECH_OBJECT, "spring", MECH_OUTPUT_ROTATION),
                       whole + 2. * atan(part), 1e-12);
            CU_ASSERT_EQUAL(mech_sim_set_state(s, &(struct mech_state_view){.time = NAN, .q = q}),
                            0);
        }
        mech_sim_destroy(s);
    }
}

static uint32_t seed = 1;

static double random_angle(void)
{
    seed = seed * 1664525u + 1013904223u;
    return PI * ((double)(seed >> 8) / 8388608. - 1.);
}

/* Tait–Bryan angles of F0ᵀ Rz(u) F1, followed from u = 0 in steps of 0.01; false where the second
 * comes near a quarter turn */
static bool follow(const struct scene *c, double end, double angles[3])
{
    const int steps = (int)(fabs(end) / 0.01) + 1;

    for (int k = 0; k <= steps; k++) {
        const struct frame turn = frame_of(0., 0., end * k / steps);
        double E[9], plain[3];

        mech_m3_product(turn.R, c->frame[1].R, E);
        mech_m3_product_transposed(c->frame[0].R, E, E);
        mech_so3_angles(E, plain);
        for (int i = 0; i < 3; i++) {
            angles[i] = k == 0 ? plain[i] : mech_so3_near(plain[i], angles[i]);
        }
        if (fabs(plain[1]) > 1.4) {
            return false;
        }
    }
    return true;
}

/* whichever of the angles of a bushing have the turns */
static void bushings_have_the_turns_of_their_path(void)
{
    static const double ends[] = {41., -30., 7., 250., 0.};
    int seen = 0;

    for (int i = 0; i < 60; i++) {
        struct scene c = {.angle = ends[i % 5], .markers = "['mg', 'm1']", .size = 1e-3};
        double angles[3], x[6];

        for (int k = 0; k < 2; k++) {
            const double a = random_angle(), b = random_angle();

            c.frame[k] = frame_of(a, b, random_angle());
        }
        if (!follow(&c, TURN, angles) || !follow(&c, c.angle, angles)) {
            continue;
        }
        struct mech_sim *const s = plane(&c);
        model_values(s, MECH_OBJECT, "bushing", MECH_OUTPUT_ROTATION, x);
        CHECK_NEAR(model_distance(x, angles, 3), 0., 1e-11);
        mech_sim_destroy(s);
        seen++;
    }
    CU_ASSERT(seen > 20);
}

/* Also where the frames are not quite about z. */
static void a_spring_wound_at_the_start_unwinds(void)
{
    for (int i = 0; i < 5; i++) {
        const double e = (double[]){0., 0.002, 0.00227, 0.0035, 0.0035}[i];
        struct mech_sim *const s = plane(
            &(struct scene){.angle = 40.,
                            .markers = "['mg', 'm1']",
                            .size = 1e-3,
                            .stiffness = 2.,
                            .frame = {frame_of(i == 4 ? 0. : e, 0., 0.), frame_of(e, 0., 0.)}});

        /* ω = 2 rad/s; order 2: (ω h)²/12 of the phase; the twist of tilted frames is u within
         * e²/4 */
        for (int k = 1; k <= 6; k++) {
            CU_ASSERT_EQUAL(model_steps(s, 500), 0);
            CHECK_NEAR(model_state(s).q[5], 40. * cos((double)k),
                       40. * 6. * 4e-6 / 12. + 40. * e * e);
        }
        mech_sim_destroy(s);
    }
}

/* a rotor on a spring of 2 N m/rad under 100 N m */
static void statics_find_the_turns(void)
{
    for (int i = 0; i < 3; i++) {
        char text[2048];
        struct mech_statics_report report;
        double q;

        snprintf(text, sizeof text,
                 "{'mechd': 1, 'nodes': [{'name': 'n', 'type': 'Node1D', 'initialCoordinates':"
                 "[%d]}], 'markers': [{'name': 'm', 'type': 'MarkerBodyRigid', 'object': 'b'},"
                 "{'name': 'mg', 'type': 'MarkerBodyRigid', 'object': 'g'}], 'loads': ["
                 "{'name': 'T', 'type': 'LoadTorqueVector', 'marker': 'm', 'load': [0, 0, 100]}],"
                 "'objects': [{'name': 'g', 'type': 'Ground'}, {'name': 'b', 'type': 'Rotor1D',"
                 "'node': 'n', 'physicsInertia': 1}, {'name': 'spring', 'type':"
                 "'TorsionalSpringDamper', 'markers': ['mg', 'm'], 'stiffness': 2}]}",
                 40 * (i - 1));
        struct mech_sim *const s = model_of(text);

        CU_ASSERT_EQUAL(
            mech_sim_statics(s, &(struct mech_statics_query){.request = {.load_steps = 1}, .q = &q},
                             &report),
            0);
        CHECK_NEAR(q, 50., 1e-12);
        mech_sim_destroy(s);
    }
}

/* Whatever they were before. */
static void a_state_that_is_set_has_its_turns(void)
{
    const struct frame f = frame_of(0., 0., 0.);
    struct mech_sim *const s = plane(
        &(struct scene){.angle = 40., .markers = "['mg', 'm1']", .size = 1e-3, .frame = {f, f}});
    const double angles[] = {-25., 3., 1e5, 0.};

    for (size_t i = 0; i < sizeof angles / sizeof *angles; i++) {
        const double q[6] = {0., 0., 3., 0., 0., angles[i]};

        CU_ASSERT_EQUAL(mech_sim_set_state(s, &(struct mech_state_view){.time = NAN, .q = q}), 0);
        check_angles(s, 2, angles[i], angles[i]);
        CU_ASSERT_EQUAL(model_steps(s, 2), 0);
        check_angles(s, 2, angles[i], angles[i]);
    }
    mech_sim_destroy(s);
}

/* 10 rad a step */
static void a_step_may_have_more_than_a_turn(void)
{
    const struct frame f = frame_of(0., 0., 0.);
    struct mech_sim *const s = plane(
        &(struct scene){.speed = 1000., .markers = "['mg', 'm1']", .size = 0.01, .frame = {f, f}});

    for (int k = 1; k <= 20; k++) {
        CU_ASSERT_EQUAL(model_steps(s, 1), 0);
        const double phi = model_state(s).q[5];

        CHECK_NEAR(phi, 10. * k, 1e-10);
        check_angles(s, 2, phi, phi);
    }
    mech_sim_destroy(s);
}

/* Two rotors, the first started at 5 rad, the second at an angle; between them a spring whose
 * second frame is turned by half a turn. `opposed`: the first turns about −z of its frame. */
static struct mech_sim *rotors(const struct frame frame[2], double angle, bool reversed,
                               bool opposed)
{
    const struct frame half = {{-1, 0, 0, 0, -1, 0, 0, 0, 1}};
    const struct frame over = {{1, 0, 0, 0, -1, 0, 0, 0, -1}};
    struct frame own[2] = {frame[0], frame[1]};
    char text[8192];

    snprintf(text, sizeof text,
             "{'mechd': 1, 'nodes': [{'name': 'n0', 'type': 'Node1D',"
             "'initialCoordinates': [5]}, {'name': 'n1', 'type': "
             "'Node1D', 'referenceCoordinates': [0.2], 'initialCoordinates': [%.17g]}],"
             "'markers': [{'name': 'm0', 'type': 'MarkerBodyRigid', 'object': 'b0'},"
             "{'name': 'm1', 'type': 'MarkerBodyRigid', 'object': 'b1'}], 'sensors': ["
             "{'name': 's', 'type': 'SensorMarker', 'marker': 'm1', 'outputVariable': 'Rotation'}],"
             "'objects': [{'name': 'spring', 'type': 'TorsionalSpringDamper', 'markers': [%s]",
             angle, reversed ? "'m1', 'm0'" : "'m0', 'm1'");
    put_frame(text, "rotationMarker1", &half);
    if (opposed) {
        mech_m3_product(own[0].R, over.R, own[0].R);
        put_frame(text, "rotationMarker0", &over);
    }
    for (int k = 0; k < 2; k++) {
        char *const end = text + strlen(text);

        snprintf(end, (size_t)(text + sizeof text - end),
                 "}, {'name': 'b%d', 'type': 'Rotor1D', 'node': 'n%d', 'physicsInertia': 2", k, k);
        put_frame(text, "referenceRotation", &own[k]);
    }
    strcat(text, "}]}");
    return model_of(text);
}

static void rotors_count_turns(void)
{
    static const double tilts[] = {0., 1e-9, 1e-7, 1e-3, 0.05};

    for (int i = 0; i < 60; i++) {
        const double tilt = i < 40 ? tilts[i % 5] : 0., angle = i % 3 ? 7. * PI : -30.;
        const bool reversed = i % 2, opposed = i % 4 == 2;
        /* the last ones about x, forward and back, where Tait–Bryan angles are not unique */
        const double a = random_angle(), c = random_angle(),
                     b = i < 40   ? 0.5 * random_angle()
                         : i < 50 ? 0.5 * PI
                                  : -0.5 * PI;
        const struct frame frame[2] = {frame_of(a, b, c), frame_of(a, b + tilt, c)};
        struct mech_sim *const s = rotors(frame, angle, reversed, opposed);
        double plain[3], x[6];

        /* 0.2 ± π in the reference, less than half a turn: 0.2 − π, and −0.2 + π */
        CHECK_NEAR(model_value(s, MECH_OBJECT, "spring", MECH_OUTPUT_ROTATION),
                   reversed  ? PI - 0.2 - angle + 5.
                   : opposed ? angle + 0.2 - PI + 5.
                             : angle + 0.2 - PI - 5.,
                   1e-12);
        model_values(s, MECH_SENSOR, "s", MECH_OUTPUT_ROTATION, x);
        mech_so3_angles(frame[1].R, plain);
        if (hypot(frame[1].R[5], frame[1].R[8]) < 1e-14) {
            plain[0] += plain[1] > 0. ? angle + 0.2 : -angle - 0.2;
        } else {
            plain[2] += angle + 0.2;
        }
        CHECK_NEAR(model_distance(x, plain, 3), 0., 1e-9);
        mech_sim_destroy(s);
    }
}

/* A body in the plane on an intrinsic bushing with offsets, its frames tilted alike; 0.5 kg m². */
static struct mech_sim *bushed(double angle, const struct frame *f, const char *more)
{
    char text[4096];

    snprintf(
        text, sizeof text,
        "{'mechd': 1, 'nodes': [{'name': 'n', 'type': 'NodeRigidBody2D',"
        "'initialCoordinates': [0.1, 0.2, %.17g], 'initialVelocities': [0.3, 0, 1]}],"
        "'markers': [{'name': 'm', 'type': 'MarkerBodyRigid', 'object': 'b', 'localPosition':"
        "[0.1, 0.3, 0.2]}, {'name': 'mg', 'type': 'MarkerBodyRigid', 'object': 'g'}],"
        "'solver': {'stepSize': 1e-3, 'spectralRadius': 1}, 'objects': [{'name': 'g',"
        "'type': 'Ground'}, {'name': 'b', 'type': 'RigidBody2D', 'node': 'n', 'physicsMass': 1,"
        "'physicsInertia': 0.5}, {'name': 'bushing', 'type': 'RigidBodySpringDamper',"
        "'markers': ['mg', 'm'], 'intrinsicFormulation': true, 'offset': [0.01, 0.02, 0.03,"
        "0.3, 0.4, 0.2], 'stiffness': [[10, 0, 0, 0, 0, 0], [0, 20, 0, 0, 0, 0],"
        "[0, 0, 30, 0, 0, 0], [0, 0, 0, 5, 0, 0], [0, 0, 0, 0, 7, 1], [0, 0, 0, 0, 1, 2]]%s",
        angle, more);
    put_frame(text, "rotationMarker0", f);
    put_frame(text, "rotationMarker1", f);
    strcat(text, "}]}");
    return model_of(text);
}

/* Its slopes are those of its forces at whole turns too, and its energy stays. */
static void intrinsic_bushings_count_turns(void)
{
    const struct frame frames[] = {frame_of(0., 0., 0.), frame_of(0.5 * PI, 0., 0.),
                                   frame_of(0.3, -0.7, 1.1)};

    for (int i = 0; i < 27; i++) {
        const double angle = (double[]){0.,        3.,          TURN, 3. * TURN, -5. * TURN,
                                        TURN + PI, TURN - 1e-9, -40., 1000.}[i / 3];
        const struct frame *const f = &frames[i % 3];
        struct mech_sim *const s = bushed(angle, f, "");
        double x[3], K[9], q[3] = {0.1, 0.2, angle}, v[3] = {0.3, 0., 1.};

        model_values(s, MECH_OBJECT, "bushing", MECH_OUTPUT_ROTATION, x);
        for (int k = 0; k < 3; k++) {
            CHECK_NEAR(x[k], angle * f->R[6 + k], 1e-13 * (1. + fabs(angle)));
        }
        const struct mech_point at = {.time = NAN, .q = q, .v = v};
        CU_ASSERT_EQUAL(mech_sim_evaluate(s, &at, MECH_WANT_DFDQ, K), 0);
        for (int j = 0; j < 3; j++) {
            double side[2][3];

            for (int k = 0; k < 2; k++) {
                q[j] += k ? -2e-5 : 1e-5;
                CU_ASSERT_EQUAL(mech_sim_evaluate(s, &at, MECH_WANT_FORCES, side[k]), 0);
            }
            q[j] += 1e-5;
            for (int k = 0; k < 3; k++) {
                CHECK_NEAR(K[3 * k + j], (side[0][k] - side[1][k]) / 2e-5, 1e-4);
            }
        }
        const double before = mech_sim_energy(s);
        CU_ASSERT_EQUAL(model_steps(s, 1000), 0);
        CHECK_NEAR(mech_sim_energy(s), before, 1e-4 * before);
        mech_sim_destroy(s);
    }
}

UNIT_TESTS(UNIT_TEST(turns_at_the_start_count), UNIT_TEST(tilted_frames_have_all_their_turns),
           UNIT_TEST(bushings_have_the_turns_of_their_path),
           UNIT_TEST(a_spring_wound_at_the_start_unwinds), UNIT_TEST(statics_find_the_turns),
           UNIT_TEST(a_state_that_is_set_has_its_turns),
           UNIT_TEST(a_step_may_have_more_than_a_turn), UNIT_TEST(rotors_count_turns),
           UNIT_TEST(intrinsic_bushings_count_turns))
