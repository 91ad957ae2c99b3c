/* Random scenes of spheres and cubes, thrown at each other or stacked: what the impulses of
 * contacts may do to kinetic energy T, step by step.
 *
 *     e = 0, fixed M, obstacles at rest   T(v_{k+1}) ≤ T(v_free), any θ, μ and h
 *     one e, μ = 0, without forces        T(v_{k+1}) ≤ T(v_k), in joints but for order h
 *
 * v_free is the motion of the same step without contacts: a twin without shapes that starts each
 * step at the same state takes it. Source: sum of P·u over the contacts: u⁺ is 0 or opens without
 * an impulse, so that T(v_{k+1}) − T(v_free) = −½ Pᵀ H M⁻¹ Hᵀ P. */
#include "tests/unit/model.h"

enum { BODIES = 8, TEXT = 32768 };

static const double thetas[] = {0.5, 0.75, 1.};
static const char *const words[] = {"θ = ½", "θ = ¾", "θ = 1"};
/* three small ones, three in the middle, three large ones */
static const double steps[] = {1e-6, 1e-5, 1e-4, 2e-4, 1e-3, 2.3e-3, 5e-3, 1e-2, 2e-2};
static const double g = 9.81;

struct scene {
    uint32_t seed;
    double theta, h, mu, e;
    double gravity;
    bool stacked; /* or thrown at each other */
    bool hinged;  /* two and two of them, in pairs that begin without a turn */
};

static double within(uint32_t *seed, double from, double to)
{
    *seed = *seed * 1664525u + 1013904223u;
    return from + (to - from) * (*seed >> 8) / 16777216.;
}

/* A hinge halfway between bodies 2 i and 2 i + 1, whose places are x [BODIES][3]: its markers at
 * *markers, itself at *at. */
static char *write_hinge(char *at, char **markers, int i, double x[BODIES][3])
{
    const double *const a = x[2 * i], *const b = x[2 * i + 1];

    for (int k = 0; k < 2; k++) {
        const double side = k ? -0.5 : 0.5;

        *markers += sprintf(*markers,
                            "%s{'name': 'm%d', 'type': 'MarkerBodyRigid', 'object': 'b%d',"
                            "'localPosition': [%.17g, %.17g, %.17g]}",
                            i || k ? ", " : "", 2 * i + k, 2 * i + k, side * (b[0] - a[0]),
                            side * (b[1] - a[1]), side * (b[2] - a[2]));
    }
    return at + sprintf(at,
                        ", {'name': 'j%d', 'type': 'SphericalJoint', 'markers': ['m%d', 'm%d']}", i,
                        2 * i, 2 * i + 1);
}

/* One body: its node, and its object with or without a shape; both begin at *at. */
static char *write_object(char *at, int i, double mass, const struct scene *s, bool shapes)
{
    at += sprintf(at,
                  ", {'name': 'b%d', 'type': 'RigidBody', 'node': 'n%d', 'physicsMass': %.17g,"
                  "'physicsInertia': [%.17g, %.17g, %.17g, 0, 0, 0]",
                  i, i, mass, 0.1 * mass, 0.1 * mass, 0.1 * mass);
    if (shapes) {
        at += sprintf(at, ", 'geometry': [{%s, 'material': {'friction': %g, 'restitution': %g}}]",
                      i % 2 ? "'shape': 'Box', 'size': [0.9, 0.9, 0.9]"
                            : "'shape': 'Sphere', 'radius': 0.5",
                      s->mu, s->e);
    }
    return at + sprintf(at, "}");
}

/* The scene; without `shapes` the same bodies touch nothing. Masses into mass [BODIES]. */
static struct mech_sim *scene_of(const struct scene *s, bool shapes, double *mass)
{
    static char text[TEXT];
    uint32_t seed = 77 * s->seed + 5;
    char *at = text, markers[4096] = "", *marker = markers;
    double place[BODIES][3], speeds[6] = {0.};

    at += sprintf(at, "{'mechd': 1, 'gravity': [0, 0, %g], 'nodes': [", -s->gravity);
    for (int i = 0; i < BODIES; i++) {
        const double x = s->stacked ? 0.05 * within(&seed, -1., 1.) + 3. * (i / 4)
                                    : 1.1 * (i % 4) + within(&seed, -0.1, 0.1);
        const double y = s->stacked ? 0. : 1.1 * (i / 4) + within(&seed, -0.1, 0.1);
        const double z = s->stacked ? 0.47 + 0.93 * (i % 4) : within(&seed, 0.5, 0.7);
        const double speed = s->stacked ? 0. : 4.;

        memcpy(place[i], (const double[]){x, y, z}, sizeof place[i]);
        for (int k = 0; k < 6; k++) {
            /* what hangs together begins with one velocity */
            const double value = within(&seed, -speed, speed);

            speeds[k] = !s->hinged ? value : k > 2 ? 0. : i % 2 ? speeds[k] : value;
        }
        at += sprintf(at,
                      "%s{'name': 'n%d', 'type': 'NodeRigidBodyRotVecLG', 'referenceCoordinates':"
                      "[%.17g, %.17g, %.17g, 0, 0, 0], 'initialVelocities': [%.17g, %.17g, %.17g,"
                      "%.17g, %.17g, %.17g]}",
                      i ? ", " : "", i, x, y, z, speeds[0], speeds[1], speeds[2], speeds[3],
                      speeds[4], speeds[5]);
    }
    at += sprintf(at, "], 'objects': [{'name': 'g', 'type': 'Ground'");
    if (shapes) {
        at += sprintf(at,
                      ", 'geometry': [{'shape': 'Plane', 'material': {'friction': %g,"
                      "'restitution': %g}}, {'shape': 'Box', 'size': [1, 9, 9], 'position':"
                      "[-1.2, 0, 0], 'material': {'friction': %g, 'restitution': %g}}]",
                      s->mu, s->e, s->mu, s->e);
    }
    at += sprintf(at, "}");
    for (int i = 0; i < BODIES; i++) {
        mass[i] = within(&seed, 0.5, 3.);
        at = write_object(at, i, mass[i], s, shapes);
    }
    for (int i = 0; s->hinged && i < BODIES / 2; i++) {
        at = write_hinge(at, &marker, i, place);
    }
    sprintf(at,
            "], 'markers': [%s], 'contact': {'minBounceSpeed': 0}, 'solver': {'integrator': "
            "'MoreauJean', 'theta':"
            "%g, 'stepSize': %g, 'vi': {'tolerance': 1e-12}}}",
            markers, s->theta, s->h);
    return model_of(text);
}

/* ½ vᵀ M v: inertias are the same about every axis, so that no frame matters. */
static double kinetic(const struct mech_sim *s, const double *mass)
{
    const double *const v = model_state(s).v;
    double sum = 0.;

    for (int i = 0; i < BODIES; i++) {
        for (int k = 0; k < 6; k++) {
            sum += 0.5 * mass[i] * (k < 3 ? 1. : 0.1) * v[6 * i + k] * v[6 * i + k];
        }
    }
    return sum;
}

static void without_restitution_impulses_take_energy(void)
{
    int touched = 0, scenes = 0;

    for (uint32_t k = 0; k < 81; k++) {
        if (!unit_case((int)k)) {
            continue;
        }
        const struct scene s = {.seed = k,
                                .theta = thetas[k % 3],
                                .h = steps[3 * (k / 3 % 3) + k / 9 % 3],
                                .mu = 0.4 * (k / 9 % 3),
                                .gravity = g,
                                .stacked = k >= 27 && k < 54,
                                .hinged = k >= 54};
        double mass[BODIES], worst = 0.;
        struct mech_sim *const with = scene_of(&s, true, mass);
        struct mech_sim *const without = scene_of(&s, false, mass);

        for (int i = 0; i < 60; i++) {
            const struct mech_state_view from = model_state(with);
            const struct mech_state_view begin = {.time = from.time, .q = from.q, .v = from.v};

            CU_ASSERT_EQUAL_FATAL(mech_sim_set_state(without, &begin), 0);
            CU_ASSERT_EQUAL_FATAL(model_steps(without, 1), 0);
            CU_ASSERT_EQUAL_FATAL(model_steps(with, 1), 0);
            const double free = kinetic(without, mass), now = kinetic(with, mass);

            worst = fmax(worst, (now - free) / fmax(free, 1e-3));
            touched += now < free - 1e-6;
        }
        if (worst > 1e-9) {
            fprintf(stderr, "scene %u: theta %g, h %g, mu %g gains %g of its energy\n", k, s.theta,
                    s.h, s.mu, worst);
        }
        CHECK_NEAR(fmax(worst, 0.), 0., 1e-9);
        mech_sim_destroy(with);
        mech_sim_destroy(without);
        scenes++;
    }
    CU_ASSERT(touched > 12 * scenes);
}

static void with_one_restitution_and_no_friction_nothing_is_added(void)
{
    int lost = 0;

    for (uint32_t k = 0; k < 45; k++) {
        const struct scene s = {.seed = 100 + k,
                                .theta = thetas[k % 3],
                                .h = steps[3 * (k / 3 % 3) + k / 9 % 3],
                                .e = 0.25 * (k / 9)};
        double mass[BODIES], worst = 0.;
        struct mech_sim *const sim = scene_of(&s, true, mass);

        for (int i = 0; i < 300; i++) {
            const double before = kinetic(sim, mass);

            CU_ASSERT_EQUAL_FATAL(model_steps(sim, 1), 0);
            const double now = kinetic(sim, mass);

            worst = fmax(worst, (now - before) / before);
            lost += now < before - 1e-6;
        }
        if (worst > 1e-9) {
            fprintf(stderr, "scene %u: theta %g, h %g, e %g gains %g of its energy\n", k, s.theta,
                    s.h, s.e, worst);
        }
        CHECK_NEAR(fmax(worst, 0.), 0., 1e-9);
        mech_sim_destroy(sim);
    }
    CU_ASSERT(lost > 100);
}

/* Pairs in joints that bounce without friction and forces for 0.25 s; parts of T. */
struct bounce {
    double added;  /* by the step that adds most */
    double error;  /* the largest of what a step reports of that */
    double untold; /* the most that a step adds without a report */
    int told;      /* steps that report something */
};

static struct bounce bounce(double theta, double h)
{
    struct bounce b = {0., 0., 0., 0};

    for (uint32_t k = 0; k < 9; k++) {
        const struct scene s = {.seed = 200 + k, .theta = theta, .h = h, .e = 1., .hinged = true};
        const struct mech_step_request one = {.kind = MECH_STEP_COUNT, .count = 1};
        struct mech_step_report report;
        double mass[BODIES];
        struct mech_sim *const sim = scene_of(&s, true, mass);

        for (int i = 0; i < 0.25 / h; i++) {
            const double before = kinetic(sim, mass);

            CU_ASSERT_EQUAL_FATAL(mech_sim_step(sim, &one, &report), 0);
            const double more = (kinetic(sim, mass) - before) / before;

            b.added = fmax(b.added, more);
            if (report.impact_gain > 0.) {
                b.error = fmax(b.error, fabs(more - report.impact_gain / before));
                b.told++;
            } else {
                b.untold = fmax(b.untold, more);
            }
        }
        mech_sim_destroy(sim);
    }
    return b;
}

/* Rows of joints are those of the end of the step, where the start has a speed of order h against
 * them, on which an impact's impulses in the joints work. The report has that work. */
static void joints_take_and_add_energy_by_the_order_of_the_step(void)
{
    for (int k = 0; k < 3; k++) {
        const struct bounce coarse = bounce(thetas[k], 4e-3), fine = bounce(thetas[k], 5e-4);

        /* better at θ = ½, where the parts of order h nearly cancel */
        CHECK_ORDER(words[k], fmin(log2(coarse.added / fine.added) / 3., 1.), 1., 0.25);
        /* what turns by 7 rad/s turns by 0.03 in a step */
        CHECK_NEAR(coarse.added, 0., 0.03);
        /* each step says so */
        CU_ASSERT(coarse.told > 0 && fine.told > 0);
        CHECK_NEAR(fmax(coarse.error, fine.error), 0., 1e-11);
        /* without an impact the joints' work is of order h³ */
        CHECK_NEAR(coarse.untold, 0., 0.02 * coarse.added);
        CHECK_NEAR(fine.untold, 0., 0.02 * fine.added);
    }
}

UNIT_TESTS(UNIT_TEST(without_restitution_impulses_take_energy),
           UNIT_TEST(with_one_restitution_and_no_friction_nothing_is_added),
           UNIT_TEST(joints_take_and_add_energy_by_the_order_of_the_step))
