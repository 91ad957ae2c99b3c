/* Cables in the plane against closed forms of the elastica and of Euler–Bernoulli beams, and the
 * balances of a free one. */
#include "solver/sim/analysis.h"
#include "tests/unit/model.h"
#include "tests/verify/put.h"

static const double pi = 3.14159265358979323846;

struct beam {
    int elements;
    double length, EI, EA, density;
    bool clamped;
    const char *element; /* further fields of each element */
    const char *objects, *markers, *nodes, *rest;
};

/* Nodes n0 … along x, elements c0 …, clamped at n0 (x, y and the direction of the slope) or free;
 * the markers "tip" (frame of the last node) and "ty" (its y). */
static struct mech_sim *beam_of(const struct beam *b)
{
    static const int held[3] = {0, 1, 3};
    struct text *const t = calloc(1, sizeof *t);
    const double l = b->length / b->elements;

    put(t, "{'mechd': 1, 'nodes': [");
    for (int i = 0; i <= b->elements; i++) {
        put(t,
            "%s{'name': 'n%d', 'type': 'NodePoint2DSlope1', 'referenceCoordinates':"
            "[%.17g, 0, 1, 0]}",
            i ? "," : "", i, i * l);
    }
    put(t, "%s], 'objects': [", b->nodes ? b->nodes : "");
    for (int i = 0; i < b->elements; i++) {
        put(t,
            "%s{'name': 'c%d', 'type': 'ANCFCable2D', 'nodes': ['n%d', 'n%d'],"
            "'physicsLength': %.17g, 'physicsMassPerLength': %.17g,"
            "'physicsAxialStiffness': %.17g, 'physicsBendingStiffness': %.17g%s}",
            i ? "," : "", i, i, i + 1, l, b->density, b->EA, b->EI, b->element ? b->element : "");
    }
    for (int k = 0; k < 3 && b->clamped; k++) {
        put(t, ",{'name': 'k%d', 'type': 'CoordinateConstraint', 'markers': ['g', 'h%d']}", k, k);
    }
    put(t, "%s], 'markers': [{'name': 'g', 'type': 'MarkerGroundCoordinate'}",
        b->objects ? b->objects : "");
    for (int k = 0; k < 3; k++) {
        put(t, ",{'name': 'h%d', 'type': 'MarkerNodeCoordinate', 'node': 'n0', 'coordinate': %d}",
            k, held[k]);
    }
    put(t,
        ",{'name': 'tip', 'type': 'MarkerNodeRigid', 'node': 'n%d'}, {'name': 'ty',"
        "'type': 'MarkerNodeCoordinate', 'node': 'n%d', 'coordinate': 1}%s]%s}",
        b->elements, b->elements, b->markers ? b->markers : "", b->rest ? b->rest : "");
    struct mech_sim *const s = model_of(t->at);
    free(t);
    return s;
}

/* to rest under the first input (NULL: there is none), times 1/n, 2/n … */
static void load_up(struct mech_sim *s, const double *full, int n)
{
    for (int k = 1; k <= n; k++) {
        const struct mech_statics_query query = {.request = {.load_steps = 1}, .keep = true};
        struct mech_statics_report report;
        double load[3];

        for (int i = 0; i < 3 && full; i++) {
            load[i] = full[i] * k / n;
        }
        if (full) {
            (void)mech_sim_set_input(s, 0, load, 0, NULL);
        }
        CU_ASSERT_EQUAL(mech_sim_statics(s, &query, &report), 0);
        if (report.reason[0]) {
            fprintf(stderr, "statics at %d of %d: %s\n", k, n, report.reason);
        }
    }
}

static double local_output(const struct mech_sim *s, const char *name, enum mech_output variable,
                           double x)
{
    const double local[3] = {x, 0., 0.};
    double values[9] = {NAN};
    size_t count = 0;

    CU_ASSERT_EQUAL(mech_sim_item_output(
                        s,
                        &(struct mech_item_query){MECH_OBJECT, name, variable, MECH_CURRENT, local},
                        9, values, &count),
                    0);
    return values[0];
}

#define TORQUE                                                                                     \
    ", 'loads': [{'name': 'M', 'type': 'LoadTorqueVector', 'marker': 'tip',"                       \
    "'load': [0, 0, 0]}], 'inputs': [{'name': 'M', 'load': 'M'}]"
#define FORCE                                                                                      \
    ", 'loads': [{'name': 'F', 'type': 'LoadForceVector', 'marker': 'tip', 'load': [0, 0, 0]}],"   \
    "'inputs': [{'name': 'F', 'load': 'F'}]"

/* distance of the tip from where the closed form puts it: an arc of the angle M L/EI */
static double roll(int elements, double angle)
{
    const struct beam b = {.elements = elements,
                           .length = 2.,
                           .EI = 3.,
                           .EA = 3e3,
                           .density = 1.,
                           .clamped = true,
                           .rest = TORQUE};
    struct mech_sim *const s = beam_of(&b);
    const double torque[3] = {0., 0., angle * b.EI / b.length};
    double p[9];
    char name[16];

    load_up(s, torque, 24);
    snprintf(name, sizeof name, "n%d", elements);
    model_values(s, MECH_NODE, name, MECH_OUTPUT_POSITION, p);
    CHECK_NEAR(local_output(s, "c0", MECH_OUTPUT_STRAIN_LOCAL, 0.), 0., 0.02);
    const double error =
        hypot(p[0] - b.length * sin(angle) / angle, p[1] - b.length * (1. - cos(angle)) / angle);
    mech_sim_destroy(s);
    return error;
}

/* the cubic element bends into arcs of fourth order; the full circle needs more of them */
static void a_torque_rolls_a_cantilever_into_a_circle(void)
{
    const double coarse = roll(8, 2. * pi), fine = roll(16, 2. * pi), half = roll(16, pi);

    CHECK_NEAR(fine, 0., 1e-3);
    CHECK_NEAR(half, 0., 1e-4);
    CHECK_ORDER("a full circle in elements", log2(coarse / fine), 4., 0.4);
}

static void a_small_load_bends_as_euler_and_bernoulli_say(void)
{
    for (int elements = 1; elements <= 4; elements++) {
        const struct beam b = {.elements = elements,
                               .length = 2.,
                               .EI = 5.,
                               .EA = 1e4,
                               .density = 1.,
                               .clamped = true,
                               .rest = FORCE};
        struct mech_sim *const s = beam_of(&b);
        const double force[3] = {0., 1e-5, 0.}, u = force[1] * 8. / (3. * b.EI);
        double p[9];
        char name[16];

        load_up(s, force, 1);
        snprintf(name, sizeof name, "n%d", elements);
        model_values(s, MECH_NODE, name, MECH_OUTPUT_POSITION, p);
        /* what is not linear is (u/L)² of it; the residual stops at 1e-10 N */
        CHECK_NEAR(p[1] / u, 1., 1e-5);
        /* the moment at the clamp and in between: F (L − x) */
        CHECK_NEAR(local_output(s, "c0", MECH_OUTPUT_TORQUE_LOCAL, 0.), force[1] * 2., 1e-9);
        CHECK_NEAR(local_output(s, "c0", MECH_OUTPUT_CURVATURE_LOCAL, 0.5), force[1] * 1.5 / b.EI,
                   1e-9);
        mech_sim_destroy(s);
    }
}

static void a_pull_stretches_alike_everywhere(void)
{
    const struct beam b = {.elements = 3,
                           .length = 2.,
                           .EI = 5.,
                           .EA = 1e4,
                           .density = 1.,
                           .clamped = true,
                           .element = ", 'physicsReferenceAxialStrain': 0.01",
                           .rest = FORCE};
    struct mech_sim *const s = beam_of(&b);
    const double force[3] = {2000., 0., 0.};
    double p[9];

    load_up(s, force, 4);
    model_values(s, MECH_NODE, "n3", MECH_OUTPUT_POSITION, p);
    CHECK_NEAR(p[0], 2. * (1. + 0.01 + 0.2), 1e-11);
    CHECK_NEAR(local_output(s, "c1", MECH_OUTPUT_STRAIN_LOCAL, 0.3), 0.21, 1e-11);
    CHECK_NEAR(local_output(s, "c2", MECH_OUTPUT_FORCE_LOCAL, 0.5), 2000., 1e-7);
    mech_sim_destroy(s);
}

/* The elastica of a cantilever of length 1 and EI = 1 under a load F across it that keeps its
 * direction: θ'' = −(1 + F c sin θ) F cos θ with c = 1/EA, θ(0) = 0, θ'(1) = 0. Where the tip is,
 * and its angle, from the curvature at the clamp; returns θ'(1). */
static double shoot(double F, double c, double curvature, double tip[3])
{
    enum { STEPS = 2000 };
    const double h = 1. / STEPS;
    double y[4] = {0., curvature, 0., 0.}; /* θ, θ', x, y */

    for (int n = 0; n < STEPS; n++) {
        static const double at[4] = {0., 0.5, 0.5, 1.}, weight[4] = {1., 2., 2., 1.};
        double k[4] = {0.}, sum[4] = {0.};

        for (int stage = 0; stage < 4; stage++) {
            double z[4];

            for (int i = 0; i < 4; i++) {
                z[i] = y[i] + h * at[stage] * k[i];
            }
            const double stretch = 1. + F * c * sin(z[0]);
            k[0] = z[1];
            k[1] = -stretch * F * cos(z[0]);
            k[2] = stretch * cos(z[0]);
            k[3] = stretch * sin(z[0]);
            for (int i = 0; i < 4; i++) {
                sum[i] += weight[stage] * k[i];
            }
        }
        for (int i = 0; i < 4; i++) {
            y[i] += h / 6. * sum[i];
        }
    }
    tip[0] = y[2];
    tip[1] = y[3];
    tip[2] = y[0];
    return y[1];
}

static void elastica(double F, double c, double tip[3])
{
    double low = 0., high = F * (1. + F * c);

    for (int k = 0; k < 100; k++) {
        const double middle = 0.5 * (low + high);

        if (shoot(F, c, middle, tip) < 0.) {
            low = middle;
        } else {
            high = middle;
        }
    }
}

/* largest error of the tip's place and angle */
static double bend(int elements, double F, const double tip[3])
{
    const struct beam b = {.elements = elements,
                           .length = 1.,
                           .EI = 1.,
                           .EA = 1e3,
                           .density = 1.,
                           .clamped = true,
                           .rest = FORCE};
    struct mech_sim *const s = beam_of(&b);
    const double force[3] = {0., F, 0.};
    double p[9], phi[9];
    char name[16];

    load_up(s, force, 8);
    snprintf(name, sizeof name, "n%d", elements);
    model_values(s, MECH_NODE, name, MECH_OUTPUT_POSITION, p);
    model_values(s, MECH_NODE, name, MECH_OUTPUT_ROTATION, phi);
    mech_sim_destroy(s);
    return fmax(hypot(p[0] - tip[0], p[1] - tip[1]), fabs(phi[2] - tip[2]));
}

/* F L²/EI from 1 to 10. Without stretching the tip is where the table of K. Mattiasson, Int. J.
 * Numer. Meth. Eng. 17 (1981) 145–153, says. */
static void large_loads_bend_as_the_elastica(void)
{
    static const struct {
        double load, drop, shortening, angle;
    } table[] = {{1., 0.30172, 0.05643, 0.46135},
                 {2., 0.49346, 0.16064, 0.78175},
                 {5., 0.71379, 0.38763, 1.21537},
                 {10., 0.81061, 0.55500, 1.43029}};

    for (size_t k = 0; k < 4; k++) {
        double tip[3];

        elastica(table[k].load, 0., tip);
        CHECK_NEAR(1. - tip[0], table[k].shortening, 5e-6);
        CHECK_NEAR(tip[1], table[k].drop, 5e-6);
        CHECK_NEAR(tip[2], table[k].angle, 5e-6);
        elastica(table[k].load, 1e-3, tip);
        const double coarse = bend(8, table[k].load, tip), fine = bend(16, table[k].load, tip);
        CHECK_NEAR(fine, 0., 1e-5);
        /* fourth order, or better: not all of the error has reached its order yet */
        CHECK_ORDER_FROM("the bend by a large load in elements", log2(coarse / fine), 3.9);
    }
}

/* ω = (1.8751040687)² √(EI/ρA L⁴), and the second; cubic elements converge with h⁴ */
static void modes_are_those_of_a_cantilever(void)
{
    static const double roots[2] = {1.87510406871196, 4.69409113297417};
    double error[2][2];

    for (int k = 0; k < 2; k++) {
        const struct beam b = {
            .elements = 4 << k, .length = 2., .EI = 5., .EA = 1e5, .density = 0.7, .clamped = true};
        struct mech_sim *const s = beam_of(&b);
        struct mech_modes modes;

        CU_ASSERT_EQUAL(mech_sim_modes(s, 2, false, &modes), 0);
        for (int i = 0; i < 2 && i < modes.count; i++) {
            const double omega = roots[i] * roots[i] * sqrt(b.EI / b.density) / 4.;

            error[k][i] = sqrt(modes.modes[i].square) / omega - 1.;
        }
        mech_modes_fini(&modes);
        mech_sim_destroy(s);
    }
    CHECK_NEAR(error[1][0], 0., 1e-5);
    CHECK_ORDER("the first frequency in elements", log2(error[0][0] / error[1][0]), 4., 0.1);
    CHECK_ORDER("the second frequency in elements", log2(error[0][1] / error[1][1]), 4., 0.2);
}

/* ∫ of the weight of what hangs below: u = ρA g L²/2EA; the centre of mass with it */
static void a_cable_hangs_by_its_own_weight(void)
{
    const struct beam b = {.elements = 4,
                           .length = 2.,
                           .EI = 5.,
                           .EA = 1e4,
                           .density = 3.,
                           .clamped = true,
                           .rest = ", 'gravity': [9.81, 0, 0]"};
    struct mech_sim *const s = beam_of(&b);
    double p[9];

    load_up(s, NULL, 1);
    model_values(s, MECH_NODE, "n4", MECH_OUTPUT_POSITION, p);
    CHECK_NEAR(p[0] - 2., 3. * 9.81 * 4. / 2. / 1e4, 1e-9);
    CHECK_NEAR(model_value(s, MECH_OBJECT, "k0", MECH_OUTPUT_FORCE), 3. * 9.81 * 2., 1e-7);
    mech_sim_destroy(s);
}

/* Rounding of the forces that balance, EA ε, is more than the residual that is asked for. */
static struct mech_sim *stiff_cable(int elements, const char *solver)
{
    char rest[300];
    const struct beam b = {.elements = elements,
                           .length = 4.,
                           .EI = 50.,
                           .EA = 1e8,
                           .density = 3.,
                           .clamped = true,
                           .rest = rest};

    snprintf(rest, sizeof rest, ", 'gravity': [0, -9.81, 0]%s", solver);
    return beam_of(&b);
}

/* the same equilibrium in one load step and in many */
static void load_steps_do_not_matter(void)
{
    static const int steps[] = {1, 2, 8, 64};
    double tip[4][9];

    for (int k = 0; k < 4; k++) {
        struct mech_sim *const s = stiff_cable(40, "");
        const struct mech_statics_query query = {.request = {.load_steps = steps[k]}, .keep = true};
        struct mech_statics_report report;

        CU_ASSERT_EQUAL(mech_sim_statics(s, &query, &report), 0);
        if (report.reason[0]) {
            fprintf(stderr, "%d load steps: %s\n", steps[k], report.reason);
        }
        CU_ASSERT_EQUAL(report.load_steps, steps[k]);
        /* far below the weight of 118 N */
        CU_ASSERT(report.residual < 1e-5);
        model_values(s, MECH_NODE, "n40", MECH_OUTPUT_POSITION, tip[k]);
        CHECK_NEAR(tip[k][0], tip[0][0], 1e-7);
        CHECK_NEAR(tip[k][1], tip[0][1], 1e-7);
        CU_ASSERT(tip[k][1] < -1.);
        mech_sim_destroy(s);
    }
}

/* --- motion ----------------------------------------------------------------------------------- */

/* Momentum, and angular momentum about the origin, of a beam of elements of length l: M v by the
 * mass matrix of cubic shape functions, which 4 points of Gauss integrate exactly. */
static void momentum_of(const struct mech_sim *s, const struct beam *b, double out[3])
{
    static const double x[4] = {0.06943184420297371, 0.33000947820757187, 0.66999052179242813,
                                0.93056815579702629};
    static const double w[4] = {0.17392742256872692, 0.32607257743127308, 0.32607257743127308,
                                0.17392742256872692};
    const double l = b->length / b->elements;

    out[0] = out[1] = out[2] = 0.;
    for (int i = 0; i < 4 * b->elements; i++) {
        const double local[3] = {x[i % 4] * l, 0., 0.}, m = b->density * l * w[i % 4];
        double p[3], v[3];
        size_t count;
        char name[16];

        snprintf(name, sizeof name, "c%d", i / 4);
        struct mech_item_query query = {MECH_OBJECT, name, MECH_OUTPUT_POSITION, MECH_CURRENT,
                                        local};
        CU_ASSERT_EQUAL(mech_sim_item_output(s, &query, 3, p, &count), 0);
        query.variable = MECH_OUTPUT_VELOCITY;
        CU_ASSERT_EQUAL(mech_sim_item_output(s, &query, 3, v, &count), 0);
        out[0] += m * v[0];
        out[1] += m * v[1];
        out[2] += m * (p[0] * v[1] - p[1] * v[0]);
    }
}

/* A free cable that is thrown, spinning, and struck at one end: largest relative change of energy
 * and of angular momentum over 1 s; the momentum must stay as it is. */
static void fly(double step, double *energy, double *spin)
{
    char rest[200];
    const struct beam b = {
        .elements = 4, .length = 2., .EI = 2., .EA = 500., .density = 0.5, .rest = rest};

    snprintf(rest, sizeof rest,
             ", 'solver': {'integrator': 'GeneralizedAlpha', 'spectralRadius': 1,"
             "'stepSize': %.17g}",
             step);
    struct mech_sim *const s = beam_of(&b);
    double v[20], before[3], now[3];

    for (int i = 0; i < 5; i++) {
        v[4 * i] = 0.3;
        v[4 * i + 1] = 1. + 2. * i * 0.5 + (i == 4 ? 2. : 0.);
        v[4 * i + 2] = 0.;
        v[4 * i + 3] = 2.;
    }
    const struct mech_state_view set = {.time = NAN, .v = v};
    CU_ASSERT_EQUAL(mech_sim_set_state(s, &set), 0);
    momentum_of(s, &b, before);
    const double E = mech_sim_energy(s);

    *energy = *spin = 0.;
    for (int k = 0; k < 20; k++) {
        CU_ASSERT_EQUAL(model_step(s, 0.05), 0);
        momentum_of(s, &b, now);
        *energy = fmax(*energy, fabs(mech_sim_energy(s) / E - 1.));
        *spin = fmax(*spin, fabs(now[2] / before[2] - 1.));
        CHECK_NEAR(now[0], before[0], 1e-9);
        CHECK_NEAR(now[1], before[1], 1e-9);
    }
    mech_sim_destroy(s);
}

static void a_free_cable_keeps_its_momentum_and_energy(void)
{
    double energy[2], spin[2];

    fly(1e-3, &energy[0], &spin[0]);
    fly(5e-4, &energy[1], &spin[1]);
    CHECK_NEAR(energy[1], 0., 2e-6);
    CHECK_NEAR(spin[1], 0., 1e-6);
    CHECK_ORDER("energy", log2(energy[0] / energy[1]), 2., 0.3);
    CHECK_ORDER("angular momentum", log2(spin[0] / spin[1]), 2., 0.3);
}

/* A cable of two elements, hinged to the ground, its other end welded to a corner of a body, and a
 * spring from a point off its axis to that corner: largest change of the energy over 1 s. */
static double swing(double step)
{
    char rest[200];
    const struct beam b = {
        .elements = 2,
        .length = 2.,
        .EI = 4.,
        .EA = 500.,
        .density = 1.,
        .objects = ", {'name': 'ground', 'type': 'Ground'}, {'name': 'b', 'type': 'RigidBody2D',"
                   "'node': 'nb', 'physicsMass': 0.5, 'physicsInertia': 0.1},"
                   "{'name': 'hinge', 'type': 'RevoluteJoint2D', 'markers': ['o', 'start']},"
                   "{'name': 'weld', 'type': 'GenericJoint', 'markers': ['tip', 'corner'],"
                   "'constrainedAxes': [1, 1, 0, 0, 0, 1]},"
                   "{'name': 's', 'type': 'SpringDamper', 'markers': ['off', 'corner'],"
                   "'stiffness': 50, 'referenceLength': 0.8}",
        .markers = ",{'name': 'o', 'type': 'MarkerBodyRigid', 'object': 'ground'},"
                   "{'name': 'start', 'type': 'MarkerBodyRigid', 'object': 'c0'},"
                   "{'name': 'off', 'type': 'MarkerBodyPosition', 'object': 'c1',"
                   "'localPosition': [0.4, 0.3, 0]}, {'name': 'corner',"
                   "'type': 'MarkerBodyRigid', 'object': 'b', 'localPosition': [-0.2, 0.1, 0]}",
        .nodes = ",{'name': 'nb', 'type': 'NodeRigidBody2D',"
                 "'referenceCoordinates': [2.2, -0.1, 0]}",
        .rest = rest};
    double worst = 0., p[9], corner[9], local[3] = {-0.2, 0.1, 0.};
    size_t count;

    snprintf(rest, sizeof rest,
             ", 'gravity': [0, -9.81, 0], 'solver': {'integrator': 'GeneralizedAlpha',"
             "'spectralRadius': 0.9, 'stepSize': %.17g}",
             step);
    struct mech_sim *const s = beam_of(&b);
    const double E = mech_sim_energy(s);

    for (int k = 0; k < 20; k++) {
        CU_ASSERT_EQUAL_FATAL(model_step(s, 0.05), 0);
        worst = fmax(worst, fabs(mech_sim_energy(s) - E));
    }
    /* the weld holds */
    const struct mech_item_query query = {MECH_OBJECT, "b", MECH_OUTPUT_POSITION, MECH_CURRENT,
                                          local};
    CU_ASSERT_EQUAL(mech_sim_item_output(s, &query, 3, corner, &count), 0);
    model_values(s, MECH_NODE, "n2", MECH_OUTPUT_POSITION, p);
    CHECK_NEAR(hypot(p[0] - corner[0], p[1] - corner[1]), 0., 1e-9);
    CU_ASSERT(p[1] < -0.5);
    model_values(s, MECH_NODE, "n2", MECH_OUTPUT_ROTATION, p);
    model_values(s, MECH_OBJECT, "b", MECH_OUTPUT_ROTATION, corner);
    CHECK_NEAR(p[2], corner[0], 1e-9);
    mech_sim_destroy(s);
    return worst;
}

/* gravity, springs, cable and body turn at most 10 J into each other */
static void joints_and_springs_on_a_cable_keep_the_energy(void)
{
    const double coarse = swing(1e-3), fine = swing(5e-4);
    CHECK_NEAR(fine, 0., 1e-3);
    CHECK_ORDER("energy", log2(coarse / fine), 2., 0.5);
}

/* no rounding: what a force that jumps leaves is far more, and is reported */
static void a_force_that_jumps_has_no_rest(void)
{
    struct mech_sim *const s = model_of(
        MODEL_OSCILLATOR("", "1",
                         ", {'name': 'k', 'type': 'CoordinateSpringDamper', 'markers': ['g', 'x'],"
                         "'springForceUserFunction': '=3e8*(u > 1e-9 ? 1 : -1) + u'}",
                         "{'name': 'F', 'type': 'LoadCoordinate', 'marker': 'x', 'load': 1}", ""));
    const struct mech_statics_query query = {.request = {.load_steps = 1}, .keep = true};
    struct mech_statics_report report;

    CU_ASSERT_EQUAL(mech_sim_statics(s, &query, &report), MECH_NOT_CONVERGED);
    mech_sim_destroy(s);
}

static void a_stiff_cable_falls(void)
{
    struct mech_sim *const s =
        stiff_cable(100, ", 'solver': {'integrator': 'GeneralizedAlpha', 'stepSize': 1e-3}");
    const double E = mech_sim_energy(s);

    CU_ASSERT_EQUAL(model_steps(s, 100), 0);
    /* what the scheme damps away of the weight's work */
    CHECK_NEAR(mech_sim_energy(s), E, 0.05);
    mech_sim_destroy(s);
}

UNIT_TESTS(UNIT_TEST(load_steps_do_not_matter), UNIT_TEST(a_stiff_cable_falls),
           UNIT_TEST(a_force_that_jumps_has_no_rest),
           UNIT_TEST(a_torque_rolls_a_cantilever_into_a_circle),
           UNIT_TEST(a_small_load_bends_as_euler_and_bernoulli_say),
           UNIT_TEST(a_pull_stretches_alike_everywhere),
           UNIT_TEST(large_loads_bend_as_the_elastica), UNIT_TEST(modes_are_those_of_a_cantilever),
           UNIT_TEST(a_cable_hangs_by_its_own_weight),
           UNIT_TEST(a_free_cable_keeps_its_momentum_and_energy),
           UNIT_TEST(joints_and_springs_on_a_cable_keep_the_energy))
