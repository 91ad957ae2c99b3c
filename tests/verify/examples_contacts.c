/* Examples of many contacts: what rests, falls and is stopped, item by item, for 60 s. */
#include "tests/verify/example.h"

static const double g = 9.81;

enum { BOXES = 10, SPHERES = 60, MASSES = 100 };

static void run_to(struct mech_sim *s, double time)
{
    const struct mech_step_request r = {.kind = MECH_STEP_UNTIL, .until = time};
    struct mech_step_report report;

    CU_ASSERT_EQUAL_FATAL(mech_sim_step(s, &r, &report), 0);
}

/* Each box stays where it is put, upright, and the floor carries all of them. */
static void ten_boxes_stand_on_each_other(void)
{
    struct mech_sim *const s = example_of("box-stack");
    double first[7 * BOXES];

    CU_ASSERT_EQUAL_FATAL(mech_sim_sizes(s).q, 7 * BOXES);
    memcpy(first, model_state(s).q, sizeof first);
    for (int k = 1; k <= 60; k++) {
        run_to(s, k);
        for (int i = 0; i < 7 * BOXES; i++) {
            CHECK_NEAR(model_state(s).q[i], first[i], 1e-3);
        }
        CHECK_NEAR(fabs(example_output(s, "floor", NULL)), BOXES * g, 1e-3 * BOXES * g);
    }
    mech_sim_destroy(s);
}

/* All fall freely until the lowest one meets the plate; at the end each lies on the one below it. A
 * step may end overlapped by half of its way, at 4.2 m/s; a rebound of less than a step lifts by
 * g h^2. */
static void ten_beads_fall_on_a_plate_and_on_each_other(void)
{
    struct mech_sim *const s = example_of("column-of-beads");
    const double contact = sqrt(2. * 0.9 / g), h = 0.002;

    for (double t = 0.05; t < contact; t += 0.05) {
        run_to(s, t);
        for (int i = 0; i < 10; i++) {
            CHECK_NEAR(model_state(s).q[i], 1. + 0.25 * i - 0.5 * g * t * t, 1e-10);
        }
    }
    run_to(s, 60.);
    for (int i = 0; i < 10; i++) {
        const double gap = model_state(s).q[i] - (i > 0 ? model_state(s).q[i - 1] + 0.2 : 0.1);
        CU_ASSERT(gap >= -0.5 * h * g * contact && gap <= g * h * h);
        CHECK_NEAR(model_state(s).v[i], 0., g * h);
    }
    mech_sim_destroy(s);
}

/* They fall, and at the end lie still in the box, beside each other, carried by the floor. One that
 * touches the floor alone may spin about the vertical: points of contact do not brake that. */
static void sixty_spheres_come_to_rest_in_the_box(void)
{
    static const double radius = 0.05, half = 0.25, overlap = 2e-3;
    struct mech_sim *const s = example_of("spheres-in-a-box");
    double first = 0., last = 0., spins = 0.;

    CU_ASSERT_EQUAL_FATAL(mech_sim_sizes(s).q, 7 * SPHERES);
    for (int i = 0; i < SPHERES; i++) {
        first += model_state(s).q[7 * i + 2];
    }
    run_to(s, 60.);
    const double *const q = model_state(s).q, *const v = model_state(s).v;
    for (int i = 0; i < SPHERES; i++) {
        const double *const at = q + 7 * i;
        last += at[2];
        CU_ASSERT(fabs(at[0]) <= half - radius + overlap);
        CU_ASSERT(fabs(at[1]) <= half - radius + overlap);
        CU_ASSERT(at[2] >= radius - overlap);
        for (int k = 0; k < i; k++) {
            CU_ASSERT(model_distance(at, q + 7 * k, 3) >= 2. * radius - overlap);
        }
        for (int k = 0; k < 3; k++) {
            CHECK_NEAR(v[6 * i + k], 0., 1e-3);
            spins += 0.5 * 5e-4 * v[6 * i + 3 + k] * v[6 * i + 3 + k];
        }
    }
    CU_ASSERT(last < 0.7 * first);
    /* of what their weights have given */
    CU_ASSERT(spins < 1e-4 * 0.5 * g * (first - last));
    CHECK_NEAR(fabs(example_output(s, "load", NULL)), SPHERES * 0.5 * g, 1e-2 * SPHERES * 0.5 * g);
    mech_sim_destroy(s);
}

/* --- chain ------------------------------------------------------------------------------------ */

/* 100 masses of 1 kg on springs of 1000 N/m and dampers of 0.1 N s/m behind each other, from a wall
 * to a free end, which 1 N pulls and a stop at 1 mm throws back with half of its speed. */
struct chain {
    double x[MASSES], v[MASSES];
};

/* A step of the symplectic Euler scheme. */
static void pull(struct chain *c, double h)
{
    const double k = 1000., d = 0.1;
    double tension = 0.;

    for (int i = MASSES - 1; i >= 0; i--) {
        const double x = i > 0 ? c->x[i - 1] : 0., v = i > 0 ? c->v[i - 1] : 0.;
        const double ahead = i + 1 < MASSES ? tension : 1.;
        tension = k * (c->x[i] - x) + d * (c->v[i] - v);
        c->v[i] += h * (ahead - tension);
    }
    if (c->x[MASSES - 1] >= 1e-3 && c->v[MASSES - 1] > 0.) {
        c->v[MASSES - 1] *= -0.5;
    }
    for (int i = 0; i < MASSES; i++) {
        c->x[i] += h * c->v[i];
    }
}

/* The end comes to the stop, passes it by no more than a step, and the wave that it sends back and
 * forth goes on: the middle moves as in a chain of steps twenty times as short. */
static void a_chain_is_stopped_at_its_end(void)
{
    struct mech_sim *const s = example_of("chain-100");
    struct chain c = {{0.}, {0.}};
    double most = 0., off = 0.;

    for (int k = 1; k <= 1200; k++) {
        run_to(s, 0.05 * k);
        for (int i = 0; i < 1000; i++) {
            pull(&c, 5e-5);
        }
        most = fmax(most, example_output(s, "end", NULL));
        off = fmax(off, fabs(example_output(s, "middle", NULL) - c.x[49]));
        off = fmax(off, fabs(example_output(s, "end", NULL) - c.x[99]));
    }
    CHECK_NEAR(most, 1e-3, 3e-5);
    CHECK_NEAR(off, 0., 5e-5);
    mech_sim_destroy(s);
}

UNIT_TESTS(UNIT_TEST(ten_boxes_stand_on_each_other),
           UNIT_TEST(ten_beads_fall_on_a_plate_and_on_each_other),
           UNIT_TEST(sixty_spheres_come_to_rest_in_the_box),
           UNIT_TEST(a_chain_is_stopped_at_its_end))
