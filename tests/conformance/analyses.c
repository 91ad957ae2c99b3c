/* Every analysis of every kind of model, also at states near the end of the range of numbers: an
 * answer of finite numbers, or an outcome that the daemon refuses with its name. */
#include "tests/unit/model.h"

#include "solver/base/err.h"
#include "solver/sim/analysis.h"
#include "solver/sim/system.h"

static const char *const models[] = {
    /* no coordinates at all */
    "{'mechd': 1, 'parameters': {'p': 1}, 'inputs': [{'name': 'p', 'parameter': 'p'}],"
    "'objects': [{'name': 'g', 'type': 'Ground'}]}",
    /* first order alone, with and without an interaction */
    "{'mechd': 1, 'nodes': [{'name': 'n', 'type': 'NodeGenericODE1', 'numberOfODE1Coordinates': 2,"
    "'referenceCoordinates': [0, 0]}], 'objects': [{'name': 'o', 'type': 'GenericODE1', 'nodes':"
    "['n'], 'systemMatrix': [[0, 1], [-4, -1]]}]}",
    "{'mechd': 1, 'objects': [{'name': 's', 'type': 'FirstOrderLinearTIDS', 'A': [[-1]], 'x0':"
    "[1]}], 'interactions': [{'name': 'i', 'systems': ['s'], 'relation': {'type':"
    "'FirstOrderLinearTIR', 'C': [[1]], 'B': [[1]]}, 'law': {'type': 'Complementarity'}}],"
    "'solver': {'integrator': 'EulerMoreau'}}",
    /* equations alone: as many as coordinates */
    "{'mechd': 1, 'nodes': [{'name': 'a', 'type': 'Node1D'}], 'objects': [{'name': 'm', 'type':"
    "'Mass1D', 'node': 'a', 'physicsMass': 1}, {'name': 'c', 'type': 'GenericAE', 'nodes': ['a'],"
    "'constraintMatrix': [[1]]}]}",
    /* linear */
    MODEL_OSCILLATOR("", "1",
                     ", {'name': 's', 'type': 'CoordinateSpringDamper', 'markers': ['g', 'x'],"
                     "'stiffness': 100, 'damping': 1}",
                     "{'name': 'f', 'type': 'LoadCoordinate', 'marker': 'x', 'load': 1}",
                     ", 'inputs': [{'name': 'u', 'load': 'f'}]"),
    /* a law by formula */
    MODEL_OSCILLATOR("", "1",
                     ", {'name': 's', 'type': 'CoordinateSpringDamper', 'markers': ['g', 'x'],"
                     "'springForceUserFunction': '=u^3 + v*abs(v)'}",
                     "{'name': 'f', 'type': 'LoadCoordinate', 'marker': 'x', 'load': 1}",
                     ", 'inputs': [{'name': 'u', 'load': 'f'}]"),
    /* a force with no slope where it begins */
    MODEL_OSCILLATOR("", "1",
                     ", {'name': 's', 'type': 'CoordinateSpringDamper', 'markers': ['g', 'x'],"
                     "'springForceUserFunction': '=u^1.9'}",
                     "", ""),
    /* a spatial pendulum, a rod and a spring */
    "{'mechd': 1, 'gravity': [0, 0, -9.81], 'nodes': [{'name': 'n', 'type':"
    "'NodeRigidBodyRotVecLG', 'referenceCoordinates': [1, 0, 0, 0, 0, 0]}, {'name': 'p', 'type':"
    "'NodePoint', 'referenceCoordinates': [3, 0, 0]}], 'objects': [{'name': 'g', 'type': 'Ground'},"
    "{'name': 'b', 'type': 'RigidBody', 'node': 'n', 'physicsMass': 1, 'physicsInertia':"
    "[1, 2, 3, 0, 0, 0]}, {'name': 'q', 'type': 'MassPoint', 'node': 'p', 'physicsMass': 1},"
    "{'name': 'j', 'type': 'SphericalJoint', 'markers': ['o', 'e']},"
    "{'name': 'd', 'type': 'DistanceConstraint', 'markers': ['c', 'r'], 'distance': 2},"
    "{'name': 's', 'type': 'SpringDamper', 'markers': ['c', 'r'], 'stiffness': 5, 'damping': 1}],"
    "'markers': [{'name': 'o', 'type': 'MarkerBodyPosition', 'object': 'g'},"
    "{'name': 'e', 'type': 'MarkerBodyPosition', 'object': 'b', 'localPosition': [-1, 0, 0]},"
    "{'name': 'c', 'type': 'MarkerBodyRigid', 'object': 'b'},"
    "{'name': 'r', 'type': 'MarkerNodePosition', 'node': 'p'}],"
    "'inputs': [{'name': 'u', 'marker': 'c'}], 'sensors': [{'name': 's', 'type': 'SensorBody',"
    "'object': 'b', 'outputVariable': 'Position'}]}",
    /* the same kind without joints, explicit */
    "{'mechd': 1, 'nodes': [{'name': 'n', 'type': 'NodeRigidBodyEP'}], 'objects': [{'name': 'g',"
    "'type': 'Ground'}, {'name': 'b', 'type': 'RigidBody', 'node': 'n', 'physicsMass': 1,"
    "'physicsInertia': [1, 2, 3, 0, 0, 0]}, {'name': 's', 'type': 'SpringDamper', 'markers':"
    "['o', 'c'], 'stiffness': 5, 'referenceLength': 1}], 'markers': [{'name': 'o', 'type':"
    "'MarkerBodyPosition', 'object': 'g', 'localPosition': [1, 0, 0]}, {'name': 'c', 'type':"
    "'MarkerBodyRigid', 'object': 'b'}], 'inputs': [{'name': 'u', 'marker': 'c'}], 'solver':"
    "{'integrator': 'RK44'}}",
    /* a cable */
    "{'mechd': 1, 'nodes': [{'name': 'a', 'type': 'NodePoint2DSlope1', 'referenceCoordinates':"
    "[0, 0, 1, 0]}, {'name': 'b', 'type': 'NodePoint2DSlope1', 'referenceCoordinates':"
    "[1, 0, 1, 0]}], 'objects': [{'name': 'c', 'type': 'ANCFCable2D', 'nodes': ['a', 'b'],"
    "'physicsLength': 1, 'physicsMassPerLength': 1, 'physicsBendingStiffness': 1,"
    "'physicsAxialStiffness': 10}]}",
    /* one that touches */
    "{'mechd': 1, 'gravity': [0, 0, -9.81], 'nodes': [{'name': 'n', 'type':"
    "'NodeRigidBodyRotVecLG', 'referenceCoordinates': [0, 0, 1, 0, 0, 0]}], 'objects': [{'name':"
    "'g', 'type': 'Ground', 'geometry': [{'shape': 'Plane'}]}, {'name': 'b', 'type': 'RigidBody',"
    "'node': 'n', 'physicsMass': 1, 'physicsInertia': [1, 1, 1, 0, 0, 0], 'geometry': [{'shape':"
    "'Sphere', 'radius': 1}]}], 'solver': {'integrator': 'MoreauJean'}}",
    /* a bead at a stop */
    "{'mechd': 1, 'objects': [{'name': 's', 'type': 'LagrangianLinearTIDS', 'M': [[1]], 'q0': [0],"
    "'Fext': [-1]}], 'interactions': [{'name': 'i', 'systems': ['s'], 'relation': {'type':"
    "'LagrangianLinearTIR', 'H': [[1]]}, 'law': {'type': 'NewtonImpact', 'e': 0.5}}], 'solver':"
    "{'integrator': 'EventDriven'}}",
};
enum { MODELS = sizeof models / sizeof *models };

static const double sizes_of_state[] = {0., 1., 1e100, 1e160, 1e300, -1.7e308};
enum { STATES = sizeof sizes_of_state / sizeof *sizes_of_state };

static const struct mech_step_request one_step = {.kind = MECH_STEP_COUNT, .count = 1};

/* An answer is finite. */
static int of_numbers(int code, const double *x, size_t n)
{
    for (size_t i = 0; i < n && code == 0 && x; i++) {
        if (!isfinite(x[i])) {
            fprintf(stderr, "value %zu of %zu is %g\n", i, n, x[i]);
            return MECH_INTERNAL;
        }
    }
    return code;
}

static int statics(struct mech_sim *s, double *room)
{
    struct mech_statics_report report;
    const struct mech_statics_query query = {
        .request = {.load_steps = 2}, .q = room, .outputs = room + mech_sim_sizes(s).q};

    return of_numbers(mech_sim_statics(s, &query, &report), room,
                      (size_t)mech_sim_sizes(s).q + mech_sim_output_size(s));
}

static int modes(struct mech_sim *s, bool damped)
{
    struct mech_modes m;
    int code = mech_sim_modes(s, 4, damped, &m);

    for (int32_t i = 0; code == 0 && i < m.count; i++) {
        const struct mech_mode *const mode = &m.modes[i];

        code = of_numbers(code,
                          (const double[]){mode->re, mode->im, mode->square, mode->frequency,
                                           mode->damping, mode->residual},
                          6);
    }
    if (code == 0) {
        code = of_numbers(code, m.shapes, (size_t)m.n * (size_t)m.count);
    }
    if (code == 0 && m.imaginary) {
        code = of_numbers(code, m.imaginary, (size_t)m.n * (size_t)m.count);
    }
    mech_modes_fini(&m);
    return code;
}

static int undamped(struct mech_sim *s, double *room)
{
    (void)room;
    return modes(s, false);
}

static int damped(struct mech_sim *s, double *room)
{
    (void)room;
    return modes(s, true);
}

static int linearization(struct mech_sim *s, double *room)
{
    struct mech_linearization l;
    char reason[160] = "";
    int code = mech_sim_linearize_init(s, &l, reason);

    if (code == 0) {
        const size_t states = (size_t)l.states, inputs = (size_t)l.inputs;
        const size_t outputs = (size_t)l.outputs;

        l.A = room;
        l.B = l.A + states * states;
        l.C = l.B + states * inputs;
        l.D = l.C + outputs * states;
        code = of_numbers(mech_sim_linearize(s, &l, reason), room,
                          (states + outputs) * (states + inputs));
    }
    mech_linearize_fini(&l);
    return code;
}

static int evaluations(struct mech_sim *s, double *room)
{
    const struct mech_point now = {.time = NAN};

    for (enum mech_want w = MECH_WANT_LHS; w < MECH_WANT_COUNT; w++) {
        int32_t rows, cols;

        mech_sim_want_shape(s, w, &rows, &cols);
        const int code =
            of_numbers(mech_sim_evaluate(s, &now, w, room), room, (size_t)rows * (size_t)cols);
        if (code < 0) {
            fprintf(stderr, "%s: ", mech_want_names[w]);
            return code;
        }
    }
    return 0;
}

static int parts_of_system(struct mech_sim_system *y, double *room)
{
    int code = 0;

    for (int i = 0; mech_system_part(i) && code >= 0; i++) {
        int32_t rows, cols;
        struct mech_arena arena;
        struct mech_triplet *entries = NULL;
        size_t count = 0;

        mech_sim_system_size(y, i, &rows, &cols);
        if (mech_system_part(i)->vector) {
            mech_sim_system_vector(y, i, room);
            code = of_numbers(0, room, (size_t)rows);
        } else {
            mech_arena_init(&arena, 0);
            code = mech_sim_system_entries(y, i, &arena, &entries, &count);
            for (size_t k = 0; k < count && code == 0; k++) {
                code = of_numbers(code, &entries[k].value, 1);
            }
            mech_arena_fini(&arena);
        }
        if (code < 0) {
            fprintf(stderr, "%s: ", mech_system_part(i)->name);
        }
    }
    return code;
}

static int systems(struct mech_sim *s, double *room)
{
    const struct mech_point now = {.time = NAN};

    for (int level = MECH_LEVEL_BY_INTEGRATOR; level < 2; level++) {
        const struct mech_system_query query = {
            .level = level, .step = NAN, .mass = NAN, .stiffness = NAN, .damping = NAN};
        struct mech_sim_system *y = NULL;
        int code = mech_sim_system(s, &now, &query, &y);

        if (code == 0) {
            code = parts_of_system(y, room);
            mech_sim_system_destroy(y);
        }
        MECH_TRY(code < 0 ? code : 0);
    }
    return 0;
}

static int directional(struct mech_sim *s, double *room)
{
    const size_t nv = (size_t)mech_sim_sizes(s).v;
    struct mech_jvp jvp = {.step = &one_step, .q = NULL, .v = room, .outputs = room + nv};

    for (size_t i = 0; i < nv; i++) {
        room[i] = 1.;
    }
    return of_numbers(mech_sim_jvp(s, &jvp), room, nv + mech_sim_output_size(s));
}

static int jacobian(struct mech_sim *s, double *room)
{
    struct mech_derived told;

    return of_numbers(mech_sim_jacobian(s, &one_step, 0, room, &told), room,
                      mech_sim_input_size(s) * mech_sim_output_size(s));
}

static int rates(struct mech_sim *s, double *room)
{
    char reason[160];

    return of_numbers(mech_sim_output_rates(s, false, room, reason), room, mech_sim_output_size(s));
}

static int step(struct mech_sim *s, double *room)
{
    const struct mech_step_request trial = {.kind = MECH_STEP_COUNT, .count = 2, .trial = true};
    struct mech_step_report report;

    (void)room;
    return mech_sim_step(s, &trial, &report);
}

static const struct {
    const char *name;
    int (*run)(struct mech_sim *s, double *room);
} analyses[] = {{"statics", statics},
                {"modes", undamped},
                {"complex modes", damped},
                {"linearization", linearization},
                {"evaluations", evaluations},
                {"system", systems},
                {"jvp", directional},
                {"jacobian", jacobian},
                {"rates", rates},
                {"step", step}};
enum { ANALYSES = sizeof analyses / sizeof *analyses };

/* Every coordinate, velocity and state of that size; rotations keep theirs, as they are angles. */
static int place(struct mech_sim *s, double size, double *room)
{
    const struct mech_state_view now = model_state(s);
    const struct mech_sizes n = mech_sim_sizes(s);
    double *const q = room, *const v = q + n.q, *const x = v + n.v;

    if (size == 0.) {
        return 0;
    }
    for (int32_t i = 0; i < n.q; i++) {
        q[i] = n.q == n.v || i < 3 ? size : now.q[i];
    }
    for (int32_t i = 0; i < n.v; i++) {
        v[i] = size;
    }
    for (int32_t i = 0; i < n.x; i++) {
        x[i] = size;
    }
    return mech_sim_set_state(s, &(struct mech_state_view){.time = NAN, .q = q, .v = v, .x = x});
}

static void every_model_meets_every_analysis_at_every_size(void)
{
    double *const room = calloc(100000, sizeof *room);

    for (int m = 0; m < MODELS; m++) {
        struct mech_sim *const s = model_of(models[m]);
        const size_t bytes = mech_sim_saved_size(s);
        void *const before = malloc(bytes + 1);

        mech_sim_save(s, before);
        for (int k = 0; k < STATES * ANALYSES; k++) {
            CU_ASSERT_EQUAL(mech_sim_restore(s, before), 0);
            const int placed = place(s, sizes_of_state[k / ANALYSES], room);
            CU_ASSERT(placed >= 0);
            if (placed) {
                continue;
            }
            const int code = analyses[k % ANALYSES].run(s, room);
            CU_ASSERT(code >= 0);
            if (code < 0) {
                fprintf(stderr, "model %d at %g: %s ends with %d\n", m,
                        sizes_of_state[k / ANALYSES], analyses[k % ANALYSES].name, code);
            }
        }
        free(before);
        mech_sim_destroy(s);
    }
    free(room);
}

/* At a plain state most have an answer, so that the test above sees more than refusals. */
static void models_without_coordinates_have_answers(void)
{
    double *const room = calloc(100000, sizeof *room);

    for (int m = 0; m < 3; m++) {
        struct mech_sim *const s = model_of(models[m]);

        CU_ASSERT_EQUAL(linearization(s, room), 0);
        CU_ASSERT_EQUAL(modes(s, true), 0);
        CU_ASSERT_EQUAL(modes(s, false), 0);
        CU_ASSERT_EQUAL(jacobian(s, room), 0);
        mech_sim_destroy(s);
    }
    free(room);
}

/* No analysis calls the state of the model infinite. */
static bool all_finite(struct mech_sim *s, double *room)
{
    bool finite = true;

    for (int k = 0; k < ANALYSES; k++) {
        const int code = analyses[k].run(s, room);

        if (code == MECH_NOT_FINITE || code < 0) {
            fprintf(stderr, "%s: %d\n", analyses[k].name, code);
            finite = false;
        }
    }
    return finite;
}

/* A body on a plane and another one at its side, at rest: their surfaces have exactly one point,
 * edge or face in common. */
static const char touching[] =
    "{'mechd': 1, 'gravity': [0, 0, -9.81], 'contact': {'method': '%s'}, 'nodes': [{'name': 'n',"
    "'type': 'NodeRigidBodyRotVecLG', 'referenceCoordinates': [0, 0, 0.5, 0, 0, 0]}, {'name': 'm',"
    "'type': 'NodeRigidBodyRotVecLG', 'referenceCoordinates': [1, 0, 0.5, 0, 0, 0]}], 'materials':"
    "[{'name': 'soft', 'friction': 0.5, 'compliance': 1e-4, 'damping': 1}], 'objects': [{'name':"
    "'g', 'type': 'Ground', 'geometry': [{'shape': 'Plane', 'material': 'soft'}]}, {'name': 'a',"
    "'type': 'RigidBody', 'node': 'n', 'physicsMass': 1, 'physicsInertia': [1, 1, 1, 0, 0, 0],"
    "'geometry': [{%s, 'material': 'soft'}]}, {'name': 'b', 'type': 'RigidBody', 'node': 'm',"
    "'physicsMass': 1, 'physicsInertia': [1, 1, 1, 0, 0, 0], 'geometry': [{%s, 'material':"
    "'soft'}]}], 'solver': {'integrator': '%s', 'stepSize': 0.0001}}";

static const char *const one_high[] = {"'shape': 'Sphere', 'radius': 0.5",
                                       "'shape': 'Box', 'size': [1, 1, 1]",
                                       "'shape': 'Cylinder', 'radius': 0.5, 'length': 1"};
enum { HIGH = sizeof one_high / sizeof *one_high };

static const char *const schemes[][2] = {{"nonsmooth", "MoreauJean"},
                                         {"penalty", "RK44"},
                                         {"penalty", "GeneralizedAlpha"},
                                         {"penalty", "Newmark"}};
enum { SCHEMES = sizeof schemes / sizeof *schemes };

/* What touches and does not move is no place where anything is infinite. */
static void nothing_is_infinite_where_models_begin(void)
{
    double *const room = calloc(100000, sizeof *room);

    for (int m = 0; m < MODELS + HIGH * HIGH * SCHEMES; m++) {
        const int k = m - MODELS;
        char text[1600];

        if (k >= 0) {
            snprintf(text, sizeof text, touching, schemes[k % SCHEMES][0],
                     one_high[k / SCHEMES % HIGH], one_high[k / SCHEMES / HIGH],
                     schemes[k % SCHEMES][1]);
        }
        struct mech_sim *const s = model_of(k < 0 ? models[m] : text);
        const bool finite = all_finite(s, room);
        CU_ASSERT(finite);
        if (k >= 0) {
            CU_ASSERT_EQUAL(model_steps(s, 3), 0);
        }
        if (!finite) {
            fprintf(stderr, "%s\n", k < 0 ? models[m] : text);
        }
        mech_sim_destroy(s);
    }
    free(room);
}

UNIT_TESTS(UNIT_TEST(every_model_meets_every_analysis_at_every_size),
           UNIT_TEST(models_without_coordinates_have_answers),
           UNIT_TEST(nothing_is_infinite_where_models_begin))
