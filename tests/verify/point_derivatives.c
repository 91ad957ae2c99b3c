/* Derivatives of the equations at a point (solver/sim/point_derivatives.c): forward ones equal
 * central differences on all examples, at their start and in motion, and adjoint ones have the same
 * products. */
#include "solver/sim/analysis.h"
#include "tests/verify/example.h"

#include <string.h>

enum { MOST = 4096 };

static const char *const names[] = {
    "ball-at-rest",        "bouncing-ball",   "box-stack",        "bridge-rectifier",
    "chain-100",           "column-of-beads", "double-pendulum",  "driven-oscillator",
    "flexible-cantilever", "four-bar",        "mass1d",           "robot-arm",
    "slider-crank",        "sliding-sphere",  "spheres-in-a-box", "spinning-top",
    "spring-mass-damper",  "tilted-table"};

/* a number in [−1, 1] that is the same in every run */
static double number(uint64_t *seed)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return (double)(int64_t)*seed / 9223372036854775808.;
}

struct point {
    struct mech_sim *s;
    struct mech_sizes n;
    size_t inputs, outputs, rates; /* q̇, v̇, ẋ */
    double q[MOST], v[MOST], x[MOST];
    double dq[MOST], dv[MOST], dx[MOST], du[MOST];
    void *saved;
};

static void take(struct point *p, struct mech_sim *s)
{
    const struct mech_state_view now = model_state(s);

    p->s = s;
    p->n = mech_sim_sizes(s);
    p->inputs = mech_sim_input_size(s);
    p->outputs = mech_sim_output_size(s);
    p->rates = (size_t)p->n.q + (size_t)p->n.v + (size_t)p->n.x;
    CU_ASSERT_FATAL(p->rates + p->outputs + p->inputs < MOST);
    memcpy(p->q, now.q, (size_t)p->n.q * sizeof *p->q);
    memcpy(p->v, now.v, (size_t)p->n.v * sizeof *p->v);
    memcpy(p->x, now.x, (size_t)p->n.x * sizeof *p->x);
    p->saved = malloc(mech_sim_saved_size(s));
    CU_ASSERT_FATAL(p->saved != NULL);
    mech_sim_save(s, p->saved);
}

/* Directions: of coordinates one that motions have, T(q) w. */
static void choose(struct point *p, uint64_t seed)
{
    static double w[MOST], rates[MOST];
    const struct mech_point at = {.time = NAN, .v = w};

    for (int32_t i = 0; i < p->n.v; i++) {
        w[i] = number(&seed);
        p->dv[i] = number(&seed);
    }
    for (int32_t i = 0; i < p->n.x; i++) {
        p->dx[i] = number(&seed);
    }
    CU_ASSERT_EQUAL_FATAL(mech_sim_evaluate(p->s, &at, MECH_WANT_FIRST_ORDER, rates), 0);
    memcpy(p->dq, rates, (size_t)p->n.q * sizeof *p->dq);
    for (size_t i = 0; i < mech_sim_variable_count(p->s, MECH_INPUT); i++) {
        struct mech_variable v;

        mech_sim_variable(p->s, MECH_INPUT, i, &v);
        for (int32_t k = 0; k < v.size; k++) {
            const bool fixed = mech_sim_input_is_parameter(p->s, v.index);

            p->du[v.offset + k] = fixed ? 0. : number(&seed);
        }
    }
}

/* Rates and outputs at the point + h direction. */
static void evaluate(struct point *p, double h, double *out)
{
    static double q[MOST], v[MOST], x[MOST];
    const struct mech_point at = {.time = NAN, .q = q, .v = v, .x = x};
    const struct mech_state_view view = {.time = NAN, .q = q, .v = v, .x = x};

    for (int32_t i = 0; i < p->n.q; i++) {
        q[i] = p->q[i] + h * p->dq[i];
    }
    for (int32_t i = 0; i < p->n.v; i++) {
        v[i] = p->v[i] + h * p->dv[i];
    }
    for (int32_t i = 0; i < p->n.x; i++) {
        x[i] = p->x[i] + h * p->dx[i];
    }
    for (size_t i = 0; i < mech_sim_variable_count(p->s, MECH_INPUT); i++) {
        struct mech_variable var;
        double values[64];

        mech_sim_variable(p->s, MECH_INPUT, i, &var);
        if (mech_sim_input_is_parameter(p->s, var.index)) {
            continue;
        }
        mech_sim_get_input(p->s, var.index, values);
        for (int32_t k = 0; k < var.size; k++) {
            values[k] += h * p->du[var.offset + k];
        }
        CU_ASSERT_EQUAL(mech_sim_set_input(p->s, var.index, values, 0, NULL), 0);
    }
    CU_ASSERT_EQUAL(mech_sim_evaluate(p->s, &at, MECH_WANT_FIRST_ORDER, out), 0);
    CU_ASSERT_EQUAL(mech_sim_set_state(p->s, &view), 0);
    mech_sim_get_outputs(p->s, out + p->rates);
    CU_ASSERT_EQUAL(mech_sim_restore(p->s, p->saved), 0);
}

/* Outputs of forces are 0 in both: they follow from the accelerations of a start, which setting a
 * state does not compute. */
static void leave_forces(const struct mech_sim *s, double *a, double *b)
{
    for (size_t i = 0; i < mech_sim_variable_count(s, MECH_OUTPUT_VARIABLE); i++) {
        struct mech_variable v;

        mech_sim_variable(s, MECH_OUTPUT_VARIABLE, i, &v);
        for (int32_t k = v.offset; v.unit[0] == 'N' && k < v.offset + v.size; k++) {
            a[k] = b[k] = 0.;
        }
    }
}

/* n values to 1e-7 of the largest of them */
static void compare(const char *name, const char *what, const double *a, const double *b, size_t n)
{
    double most = 1e-3, worst = 0.;

    for (size_t i = 0; i < n; i++) {
        most = fmax(most, fabs(b[i]));
        worst = fmax(worst, fabs(a[i] - b[i]));
    }
    if (!(worst <= 1e-7 * most)) {
        fprintf(stderr, "%s, %s: off by %.3g of %.3g\n", name, what, worst, most);
    }
    CU_ASSERT(worst <= 1e-7 * most);
}

static double dot(const double *a, const double *b, size_t n)
{
    double sum = 0.;

    for (size_t i = 0; i < n; i++) {
        sum += a[i] * b[i];
    }
    return sum;
}

static void check(const char *name, struct mech_sim *s, uint64_t seed)
{
    static struct point p;
    static double plus[MOST], minus[MOST], found[MOST], back[MOST];
    const double h = 0x1p-17;

    take(&p, s);
    choose(&p, seed);
    const size_t nq = (size_t)p.n.q, nv = (size_t)p.n.v, nx = (size_t)p.n.x;
    struct mech_point_derivative d = {
        .at = {.time = NAN},
        .values = {p.dq, p.dv, p.dx, p.du, found, found + nq, found + nq + nv, found + p.rates}};
    CU_ASSERT_EQUAL(mech_sim_point_derivative(s, &d), 0);
    CU_ASSERT(!d.kinked);
    evaluate(&p, h, plus);
    evaluate(&p, -h, minus);
    for (size_t i = 0; i < p.rates + p.outputs; i++) {
        plus[i] = (plus[i] - minus[i]) / (2. * h);
    }
    compare(name, "qdot", found, plus, nq);
    compare(name, "vdot", found + nq, plus + nq, nv);
    compare(name, "xdot", found + nq + nv, plus + nq + nv, nx);
    memcpy(back, found + p.rates, p.outputs * sizeof *back);
    leave_forces(s, back, plus + p.rates);
    compare(name, "outputs", back, plus + p.rates, p.outputs);

    /* seeds · (J d) = (Jᵀ seeds) · d */
    for (size_t i = 0; i < p.rates + p.outputs; i++) {
        minus[i] = number(&seed);
    }
    struct mech_point_derivative a = {.at = {.time = NAN},
                                      .adjoint = true,
                                      .values = {back, back + nq, back + nq + nv, back + p.rates,
                                                 minus, minus + nq, minus + nq + nv,
                                                 minus + p.rates}};
    CU_ASSERT_EQUAL(mech_sim_point_derivative(s, &a), 0);
    const double one = dot(minus, found, p.rates + p.outputs);
    const double other = dot(back, p.dq, nq) + dot(back + nq, p.dv, nv) +
                         dot(back + nq + nv, p.dx, nx) + dot(back + p.rates, p.du, p.inputs);
    double size = 1e-3;
    for (size_t i = 0; i < p.rates + p.outputs; i++) {
        size += fabs(minus[i] * found[i]);
    }
    if (!(fabs(one - other) <= 1e-7 * size)) {
        fprintf(stderr, "%s, adjoint: %.12g, forward: %.12g\n", name, other, one);
    }
    CU_ASSERT(fabs(one - other) <= 1e-7 * size);
    free(p.saved);
}

static void they_equal_central_differences_on_all_examples(void)
{
    for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
        struct mech_sim *const s = example_of(names[k]);

        check(names[k], s, 3 * k + 1);
        CU_ASSERT_EQUAL(model_steps(s, 7), 0);
        const struct mech_state_view before = model_state(s);
        const double q = before.q ? before.q[0] : 0.;
        check(names[k], s, 3 * k + 2);
        CU_ASSERT(!before.q || model_state(s).q[0] == q);
        mech_sim_destroy(s);
    }
}

/* 1 kg at the lower end of a rod of 1 m, 10 m/s² down: the rod bears 10 + v², whose slope is 2 v */
static void reactions_have_theirs(void)
{
    struct mech_sim *const s = model_of(
        "{'mechd': 1, 'gravity': [0, -10, 0], 'nodes': [{'name': 'g', 'type': 'NodePointGround'},"
        "{'name': 'n', 'type': 'NodePoint2D', 'referenceCoordinates': [0, -1],"
        "'initialVelocities': [3, 0]}], 'objects': [{'name': 'b', 'type': 'MassPoint2D',"
        "'node': 'n', 'physicsMass': 1}, {'name': 'rod', 'type': 'DistanceConstraint',"
        "'markers': ['mg', 'mn'], 'distance': 1}], 'markers': [{'name': 'mg', 'type':"
        "'MarkerNodePosition', 'node': 'g'}, {'name': 'mn', 'type': 'MarkerNodePosition',"
        "'node': 'n'}], 'sensors': [{'name': 'f', 'type': 'SensorObject', 'object': 'rod',"
        "'outputVariable': 'Force'}], 'outputs': [{'name': 'f', 'sensor': 'f'}],"
        "'solver': {'stepSize': 0.01}}");
    const size_t n = mech_sim_output_size(s);
    double v[] = {1., 0.}, out[3], seed[3] = {0.}, back[2], most = 0.;
    struct mech_point_derivative d = {.at = {.time = NAN}, .values = {.v = v, .outputs = out}};

    CU_ASSERT_FATAL(n <= 3);
    CU_ASSERT_EQUAL(mech_sim_point_derivative(s, &d), 0);
    for (size_t i = 0; i < n; i++) {
        most = fmax(most, fabs(out[i]));
        seed[i] = fabs(out[i]) > 1. ? 1. : 0.;
    }
    CHECK_NEAR(most, 6., 1e-8);
    d = (struct mech_point_derivative){
        .at = {.time = NAN}, .values = {.v = back, .outputs = seed}, .adjoint = true};
    CU_ASSERT_EQUAL(mech_sim_point_derivative(s, &d), 0);
    CHECK_NEAR(fabs(back[0]), 6., 1e-8);
    CHECK_NEAR(back[1], 0., 1e-8);
    mech_sim_destroy(s);
}

/* 2 q̈ = F − 100 q − q̇, given at another point */
static void of_an_oscillator_they_are_its_coefficients(void)
{
    struct mech_sim *const s = model_of(
        MODEL_OSCILLATOR(", 'initialCoordinates': [0.5]", "2",
                         ", {'name': 's', 'type': 'CoordinateSpringDamper', 'markers': ['g', 'x'],"
                         "'stiffness': 100, 'damping': 1}",
                         "{'name': 'F', 'type': 'LoadCoordinate', 'marker': 'x', 'load': 0}",
                         ", 'inputs': [{'name': 'force', 'load': 'F'}]"));
    double one = 1., vdot, seed = 4., q, v, u;
    const double elsewhere = 7.;
    struct mech_point_derivative d = {.at = {.time = 3., .q = &elsewhere},
                                      .values = {.inputs = &one, .vdot = &vdot}};

    CU_ASSERT_EQUAL(mech_sim_point_derivative(s, &d), 0);
    CHECK_NEAR(vdot, 0.5, 1e-11);
    d = (struct mech_point_derivative){.at = {.time = NAN},
                                       .values = {.q = &q, .v = &v, .inputs = &u, .vdot = &seed},
                                       .adjoint = true};
    CU_ASSERT_EQUAL(mech_sim_point_derivative(s, &d), 0);
    CHECK_NEAR(q, -200., 1e-9);
    CHECK_NEAR(v, -2., 1e-9);
    CHECK_NEAR(u, 2., 1e-9);
    CU_ASSERT_EQUAL(mech_sim_time(s), 0.);
    mech_sim_destroy(s);
}

/* Directions of any size that a number can have. */
static void directions_may_be_tiny_or_huge(void)
{
    struct mech_sim *const s = model_of(
        MODEL_OSCILLATOR(", 'initialCoordinates': [0.5]", "2",
                         ", {'name': 's', 'type': 'CoordinateSpringDamper', 'markers': ['g', 'x'],"
                         "'stiffness': 100, 'damping': 1}",
                         "{'name': 'F', 'type': 'LoadCoordinate', 'marker': 'x', 'load': 0}",
                         ", 'inputs': [{'name': 'force', 'load': 'F'}]"));
    static const double sizes[] = {0x1p-1050, 1e-310, 1e-300, 1e300, 1e305};

    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
        double one = sizes[k], vdot = 0.;
        struct mech_point_derivative d = {.at = {.time = NAN},
                                          .values = {.inputs = &one, .vdot = &vdot}};

        CU_ASSERT_EQUAL(mech_sim_point_derivative(s, &d), 0);
        CU_ASSERT(!d.kinked);
        CHECK_NEAR(vdot / one, 0.5, 1e-7);
        d.values = (struct mech_point_values){.v = &one, .vdot = &vdot};
        CU_ASSERT_EQUAL(mech_sim_point_derivative(s, &d), 0);
        CHECK_NEAR(vdot / one, -0.5, 1e-7);
        d.values = (struct mech_point_values){.q = &one, .qdot = &vdot};
        CU_ASSERT_EQUAL(mech_sim_point_derivative(s, &d), 0);
        CHECK_NEAR(vdot, 0., 0.);
    }
    mech_sim_destroy(s);
}

/* What is beyond doubles is an outcome, and never the number of another part of the direction. */
static void a_derivative_beyond_doubles_is_refused(void)
{
    struct mech_sim *const s = model_of(MODEL_OSCILLATOR(
        "", "1e-12", "", "{'name': 'F', 'type': 'LoadCoordinate', 'marker': 'x', 'load': 0}",
        ", 'inputs': [{'name': 'force', 'load': 'F'}]"));
    double v = 1., u = 1e300, qdot, vdot;
    struct mech_point_derivative d = {
        .at = {.time = NAN}, .values = {.v = &v, .inputs = &u, .qdot = &qdot, .vdot = &vdot}};

    CU_ASSERT_EQUAL(mech_sim_point_derivative(s, &d), MECH_NOT_FINITE);
    u = 1e290;
    CU_ASSERT_EQUAL(mech_sim_point_derivative(s, &d), 0);
    CHECK_NEAR(vdot / 1e302, 1., 1e-9);
    CHECK_NEAR(qdot, 1., 1e-9);
    mech_sim_destroy(s);
}

/* An input with derivatives, which ends to change where it is varied: seed·(J d) = (Jᵀ seed)·d. */
static void inputs_that_change_have_one_matrix(void)
{
    struct mech_sim *const s = model_of(MODEL_OSCILLATOR(
        ", 'initialCoordinates': [0.5]", "2",
        ", {'name': 's', 'type': 'CoordinateSpringDamper', 'markers': ['g', 'x'],"
        "'stiffness': 100, 'damping': 1}",
        "{'name': 'F', 'type': 'LoadCoordinate', 'marker': 'x', 'load': 0}",
        ", 'inputs': [{'name': 'force', 'load': 'F'}], 'sensors': [{'name': 'p',"
        "'type': 'SensorNode', 'node': 'n', 'outputVariable': 'Coordinates'},"
        "{'name': 'F', 'type': 'SensorLoad', 'load': 'F'}],"
        "'outputs': [{'name': 'p', 'sensor': 'p'}, {'name': 'F', 'sensor': 'F'}]"));
    const double force = 3., rates[] = {0.7, 0.9};
    double q = 0.7, v = -0.3, u = 1.1, vdot, out[4], seed = 0.9, seeds[4] = {0.4, -0.8};
    double back[3];

    CU_ASSERT_FATAL(mech_sim_output_size(s) <= 4);
    CU_ASSERT_EQUAL(mech_sim_set_input(s, 0, &force, 2, rates), 0);
    CU_ASSERT_EQUAL(model_steps(s, 1), 0);
    for (int k = 0; k < 2; k++) {
        struct mech_point_derivative d = {
            .at = {.time = k ? 4. : NAN},
            .values = {.q = &q, .v = &v, .inputs = &u, .vdot = &vdot, .outputs = out}};

        CU_ASSERT_EQUAL(mech_sim_point_derivative(s, &d), 0);
        d.adjoint = true;
        d.values = (struct mech_point_values){
            .q = &back[0], .v = &back[1], .inputs = &back[2], .vdot = &seed, .outputs = seeds};
        CU_ASSERT_EQUAL(mech_sim_point_derivative(s, &d), 0);
        CHECK_NEAR(seed * vdot + dot(seeds, out, mech_sim_output_size(s)),
                   back[0] * q + back[1] * v + back[2] * u, 1e-10);
    }
    mech_sim_destroy(s);
}

/* a ball of 1 kg that a plane pushes by overlap/c, alone */
static struct mech_sim *pressed(double overlap)
{
    char text[2048];

    snprintf(text, sizeof text,
             "{'mechd': 1, 'gravity': [0, 0, 0], 'contact': {'method': 'penalty'},"
             "'nodes': [{'name': 'n', 'type': 'NodePoint', 'referenceCoordinates': [0, 0, %.17g]}],"
             "'objects': [{'name': 'ground', 'type': 'Ground', 'geometry': [{'shape': 'Plane',"
             "'material': {'compliance': 5e-5}}]}, {'name': 'b', 'type': 'MassPoint', 'node': 'n',"
             "'physicsMass': 1, 'geometry': [{'shape': 'Sphere', 'radius': 0.125,"
             "'material': {'compliance': 5e-5}}]}],"
             "'solver': {'integrator': 'RK44', 'stepSize': 1e-4}}",
             0.125 - overlap);
    return model_of(text);
}

/* A law's own length may be far below the unit of its coordinate. */
static void a_contact_by_penalty_has_its_stiffness(void)
{
    static const double overlaps[] = {1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8};

    for (size_t k = 0; k < sizeof overlaps / sizeof *overlaps; k++) {
        struct mech_sim *const s = pressed(overlaps[k]);
        double q[] = {0., 0., 1.}, vdot[3], seed[] = {0., 0., 1.}, back[3];
        struct mech_point_derivative d = {.at = {.time = NAN}, .values = {.q = q, .vdot = vdot}};

        CU_ASSERT_EQUAL(mech_sim_point_derivative(s, &d), 0);
        CU_ASSERT(!d.kinked);
        CHECK_NEAR(vdot[2], -1e4, 1e-2);
        d = (struct mech_point_derivative){
            .at = {.time = NAN}, .values = {.q = back, .vdot = seed}, .adjoint = true};
        CU_ASSERT_EQUAL(mech_sim_point_derivative(s, &d), 0);
        CHECK_NEAR(back[2], -1e4, 1e-2);
        CHECK_NEAR(back[0], 0., 1e-2);
        mech_sim_destroy(s);
    }
}

/* Rates of other bodies have other sizes: an independent mass of 1e-6 kg under a force. Neither a
 * law nor its end hides behind them. */
static void large_rates_beside_hide_no_law(void)
{
    static const double forces[] = {1e-6, 1e2, 1e5, 1e9};

    for (size_t k = 0; k < 2 * sizeof forces / sizeof *forces; k++) {
        const bool end = k % 2 == 1;
        char text[2048];

        snprintf(text, sizeof text,
                 "{'mechd': 1, 'gravity': [0, 0, 0], 'contact': {'method': 'penalty'}, 'nodes': ["
                 "{'name': 'n', 'type': 'NodePoint', 'referenceCoordinates': [0, 0, %.17g]},"
                 "{'name': 'm', 'type': 'Node1D'}], 'objects': [{'name': 'ground', 'type':"
                 "'Ground', 'geometry': [{'shape': 'Plane', 'material': {'compliance': 0.005}}]},"
                 "{'name': 'b', 'type': 'MassPoint', 'node': 'n', 'physicsMass': 1000, 'geometry':"
                 "[{'shape': 'Sphere', 'radius': 0.125, 'material': {'compliance': 0.005}}]},"
                 "{'name': 'o', 'type': 'Mass1D', 'node': 'm', 'physicsMass': 1e-6}], 'markers':"
                 "[{'name': 'x', 'type': 'MarkerNodeCoordinate', 'node': 'm', 'coordinate': 0}],"
                 "'loads': [{'name': 'F', 'type': 'LoadCoordinate', 'marker': 'x', 'load': %g}],"
                 "'solver': {'integrator': 'RK44', 'stepSize': 1e-4}}",
                 end ? 0.125 : 0.124999, forces[k / 2]);
        struct mech_sim *const s = model_of(text);
        double q[] = {0., 0., 1., 0.}, vdot[4], seed[] = {0., 0., 1., 0.}, back[4];
        struct mech_point_derivative d = {.at = {.time = NAN}, .values = {.q = q, .vdot = vdot}};

        CU_ASSERT_EQUAL(mech_sim_point_derivative(s, &d), 0);
        CU_ASSERT_EQUAL(d.kinked, end);
        CHECK_NEAR(vdot[2], end ? -0.05 : -0.1, 1e-6);
        d = (struct mech_point_derivative){
            .at = {.time = NAN}, .values = {.q = back, .vdot = seed}, .adjoint = true};
        CU_ASSERT_EQUAL(mech_sim_point_derivative(s, &d), 0);
        CU_ASSERT_EQUAL(d.kinked, end);
        CHECK_NEAR(back[2], end ? -0.05 : -0.1, 1e-6);
        mech_sim_destroy(s);
    }
}

/* Where it begins to push, the slopes on both sides differ, at any distance. */
static void the_end_of_a_law_is_a_kink(void)
{
    struct mech_sim *const s = pressed(0.);
    double q[] = {0., 0., 1.}, v[] = {1., 0., 0.}, qdot[3], vdot[3];
    struct mech_point_derivative d = {.at = {.time = NAN}, .values = {.q = q, .vdot = vdot}};

    CU_ASSERT_EQUAL(mech_sim_point_derivative(s, &d), 0);
    CU_ASSERT(d.kinked);
    CHECK_NEAR(vdot[2], -5e3, 1e-2);
    d.values = (struct mech_point_values){.v = v, .qdot = qdot};
    CU_ASSERT_EQUAL(mech_sim_point_derivative(s, &d), 0);
    CU_ASSERT(!d.kinked);
    CHECK_NEAR(qdot[0], 1., 1e-12);
    mech_sim_destroy(s);
}

/* Each part of a direction has a unit of its own, and so has each value. */
static void parts_of_a_direction_do_not_spoil_each_other(void)
{
    struct mech_sim *const s = model_of(
        MODEL_OSCILLATOR(", 'initialCoordinates': [3.3]", "2",
                         ", {'name': 's', 'type': 'CoordinateSpringDamper', 'markers': ['g', 'x'],"
                         "'stiffness': 100, 'damping': 1}",
                         "{'name': 'F', 'type': 'LoadCoordinate', 'marker': 'x', 'load': 0}",
                         ", 'inputs': [{'name': 'force', 'load': 'F'}], 'sensors': [{'name': 'p',"
                         "'type': 'SensorNode', 'node': 'n', 'outputVariable': 'Coordinates'}],"
                         "'outputs': [{'name': 'p', 'sensor': 'p'}]"));
    double q = 1., v = 1., u = 1e12, out[4], vdot, qdot;
    const double much = 3e12;
    struct mech_point_derivative d = {
        .at = {.time = NAN},
        .values = {.q = &q, .v = &v, .inputs = &u, .qdot = &qdot, .vdot = &vdot, .outputs = out}};

    CU_ASSERT_EQUAL_FATAL(mech_sim_output_size(s), 1);
    CU_ASSERT_EQUAL(mech_sim_point_derivative(s, &d), 0);
    CHECK_NEAR(out[0], 1., 1e-9);
    CHECK_NEAR(qdot, 1., 1e-9);
    CHECK_NEAR(vdot, 5e11, 1e2);
    CU_ASSERT_EQUAL(mech_sim_set_input(s, 0, &much, 0, NULL), 0);
    u = 1.;
    d.values = (struct mech_point_values){.inputs = &u, .vdot = &vdot};
    CU_ASSERT_EQUAL(mech_sim_point_derivative(s, &d), 0);
    CHECK_NEAR(vdot, 0.5, 1e-9);
    mech_sim_destroy(s);
}

UNIT_TESTS(UNIT_TEST(they_equal_central_differences_on_all_examples),
           UNIT_TEST(reactions_have_theirs), UNIT_TEST(of_an_oscillator_they_are_its_coefficients),
           UNIT_TEST(directions_may_be_tiny_or_huge),
           UNIT_TEST(a_derivative_beyond_doubles_is_refused),
           UNIT_TEST(inputs_that_change_have_one_matrix),
           UNIT_TEST(a_contact_by_penalty_has_its_stiffness),
           UNIT_TEST(large_rates_beside_hide_no_law), UNIT_TEST(the_end_of_a_law_is_a_kink),
           UNIT_TEST(parts_of_a_direction_do_not_spoil_each_other))
