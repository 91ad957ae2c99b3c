/* What happens when memory runs out: each allocation of an operation fails in turn, alone or with
 * all later ones. Every time the operation fails, and leaves everything as it was; what it had
 * allocated until then is found by the leak checkers that these tests run under. */
#include "tests/unit/alloc_count.h"
#include "tests/unit/model.h"

enum { MOST = 5000 };

static const char items[] =
    "{'mechd': 1, 'parameters': {'k': 40},"
    "'nodes': [{'name': 'n', 'type': 'Node1D', 'initialCoordinates': [0.1], 'initialVelocities': "
    "[1]}],"
    "'objects': [{'name': 'm', 'type': 'Mass1D', 'node': 'n', 'physicsMass': 2},"
    "{'name': 's', 'type': 'CoordinateSpringDamper', 'markers': ['g', 'x'], 'stiffness': '=k'}],"
    "'markers': [{'name': 'x', 'type': 'MarkerNodeCoordinate', 'node': 'n', 'coordinate': 0},"
    "{'name': 'g', 'type': 'MarkerGroundCoordinate'}],"
    "'loads': [{'name': 'F', 'type': 'LoadCoordinate', 'marker': 'x', 'load': 1}],"
    "'sensors': [{'name': 'p', 'type': 'SensorBody', 'object': 'm', 'outputVariable': 'Position'}],"
    "'inputs': [{'name': 'f', 'load': 'F'}, {'name': 'k', 'parameter': 'k'}],"
    "'outputs': [{'name': 'o', 'sensor': 'p'}]}";

/* a sparse system on two stops: KLU, Lemke */
static const char system_on_stops[] =
    "{'mechd': 1, 'objects': [{'name': 's', 'type': 'LagrangianLinearTIDS', 'M': {'diag': [1, 2, "
    "3]},"
    "'K': {'shape': [3, 3], 'coo': [[0, 0, 9], [0, 2, -1], [2, 0, -1], [1, 1, 5], [2, 2, 7]]},"
    "'v0': [-1, -1, -1]}],"
    "'interactions': [{'name': 'stops', 'systems': ['s'], 'relation':"
    "{'type': 'LagrangianLinearTIR', 'H': [[1, 0, 0], [0, 0, 1]]},"
    "'law': {'type': 'NewtonImpact', 'e': 0.5}}],"
    "'solver': {'integrator': 'MoreauJean', 'linear': 'klu', 'stepSize': 1e-3}}";

/* what is deformable, on a hinge; equations of its nodes, data beside them */
static const char cable[] =
    "{'mechd': 1, 'gravity': [0, -9.81, 0], 'nodes': [{'name': 'a', 'type': 'NodePoint2DSlope1'},"
    "{'name': 'b', 'type': 'NodePoint2DSlope1', 'referenceCoordinates': [1, 0, 1, 0]},"
    "{'name': 'd', 'type': 'NodeGenericData', 'initialCoordinates': [1, 2]}],"
    "'objects': [{'name': 'c', 'type': 'ANCFCable2D', 'nodes': ['a', 'b'], 'physicsLength': 1,"
    "'physicsMassPerLength': 1, 'physicsAxialStiffness': 100, 'physicsBendingStiffness': 1},"
    "{'name': 'g', 'type': 'Ground'}, {'name': 'h', 'type': 'RevoluteJoint2D',"
    "'markers': ['m', 'o']}, {'name': 'e', 'type': 'GenericAE', 'nodes': ['b'],"
    "'constraintMatrix': [[0, 0, 1, 0]], 'rhsVector': [1]}],"
    "'markers': [{'name': 'm', 'type': 'MarkerBodyRigid', 'object': 'c'},"
    "{'name': 'o', 'type': 'MarkerBodyRigid', 'object': 'g'}],"
    "'sensors': [{'name': 'p', 'type': 'SensorBody', 'object': 'c', 'outputVariable':"
    "'Acceleration', 'localPosition': [1, 0.1, 0]}], 'outputs': [{'name': 'o', 'sensor': 'p'}],"
    "'solver': {'stepSize': 1e-3}}";

static struct mech_document *document_of(const char *text)
{
    char *const json = strdup(text);
    struct mech_document *document = NULL;
    struct mech_diag diag;

    for (char *c = json; *c; c++) {
        *c = *c == '\'' ? '"' : *c;
    }
    json_t *const value = json_loads(json, 0, NULL);
    free(json);
    mech_diag_init(&diag);
    CU_ASSERT_EQUAL_FATAL(mechp_bind_read(value, "", &diag, &document), 0);
    mech_diag_fini(&diag);
    json_decref(value);
    return document;
}

/* Create with every allocation refused in turn, until there is none left to refuse. */
static void create_without_memory(const char *text, bool forever)
{
    long refused = 1;

    for (long n = 0; n < MOST && refused > 0; n++) {
        struct mech_document *const document = document_of(text);
        struct mech_sim *s = NULL;
        struct mech_diag diag;

        mech_diag_init(&diag);
        alloc_refuse_start(n, forever);
        const int code = mech_sim_create(document, &diag, &s);
        refused = alloc_refuse_stop();
        mech_diag_fini(&diag);
        /* KLU does without some of what it asks for, once */
        CU_ASSERT(code == 0 ? refused == 0 || !forever : code == MECH_NO_MEMORY);
        CU_ASSERT_EQUAL(code == 0, s != NULL);
        if (s) {
            mech_sim_destroy(s);
        } else {
            mech_document_destroy(document);
        }
    }
    CU_ASSERT_EQUAL(refused, 0);
}

static void creation_survives_any_failed_allocation(void)
{
    const char *const models[] = {items, system_on_stops, cable};

    for (size_t i = 0; i < sizeof models / sizeof *models; i++) {
        create_without_memory(models[i], false);
        create_without_memory(models[i], true);
    }
}

static int change_parameter(struct mech_sim *s)
{
    const int32_t index = 0;
    const double value = 44.;
    struct mech_diag diag;

    mech_diag_init(&diag);
    const int code = mech_sim_set_parameters(s, 1, &index, &value, &diag);
    mech_diag_fini(&diag);
    return code;
}

static int try_with_parameter(struct mech_sim *s)
{
    const double value = 44.;
    const struct mech_input_change input = {.index = 1, .values = &value};
    const struct mech_step_request r = {
        .kind = MECH_STEP_COUNT, .count = 2, .inputs = &input, .input_count = 1, .trial = true};
    struct mech_step_report report;
    const int code = mech_sim_step(s, &r, &report);

    return code;
}

/* A trial whose force is a ramp, with another parameter, that looks for events. */
static int try_with_signal(struct mech_sim *s)
{
    const double value = 44., ramp[2] = {1., 2.};
    const struct mech_input_signal signal = {.n = 2, .values = ramp};
    const struct mech_input_change inputs[] = {{.index = 0, .signal = &signal},
                                               {.index = 1, .values = &value}};
    struct mech_logged at[4];
    struct mech_event_log log = {.at = at, .room = 4};
    const struct mech_step_request r = {.kind = MECH_STEP_COUNT,
                                        .count = 2,
                                        .inputs = inputs,
                                        .input_count = 2,
                                        .trial = true,
                                        .events = &log};
    struct mech_step_report report;

    return mech_sim_step(s, &r, &report);
}

static int evaluate_all(struct mech_sim *s)
{
    const struct mech_point here = {.time = NAN};
    double out[4];

    for (int want = 0; want < MECH_WANT_COUNT; want++) {
        MECH_TRY(mech_sim_evaluate(s, &here, (enum mech_want)want, out));
    }
    return 0;
}

/* The operation with every allocation refused in turn: it fails, the state stays to the bit, and
 * the next steps are those of a simulation that never tried. */
static void operate_without_memory(int (*operation)(struct mech_sim *), bool forever)
{
    long refused = 1;

    for (long n = 0; n < MOST && refused > 0; n++) {
        struct mech_sim *const s = model_of(items), *const other = model_of(items);
        const size_t size = mech_sim_snapshot_size(s);
        char *const bytes = malloc(2 * size);

        CU_ASSERT_EQUAL(model_steps(s, 3) || model_steps(other, 3), 0);
        alloc_refuse_start(n, forever);
        const int code = operation(s);
        refused = alloc_refuse_stop();
        /* after a trial the model of the committed state may be made later */
        CU_ASSERT(code == (refused ? MECH_NO_MEMORY : 0) ||
                  (code == 0 && (operation == try_with_parameter || operation == try_with_signal)));
        mech_sim_discard_trial(s);
        for (int k = 0; k < 2 && (code || operation != change_parameter); k++) {
            mech_sim_snapshot_write(s, bytes);
            mech_sim_snapshot_write(other, bytes + size);
            CU_ASSERT_EQUAL(memcmp(bytes, bytes + size, size), 0);
            CU_ASSERT_EQUAL(model_steps(s, 2) || model_steps(other, 2), 0);
        }
        free(bytes);
        mech_sim_destroy(s);
        mech_sim_destroy(other);
    }
    CU_ASSERT_EQUAL(refused, 0);
}

static void operations_survive_any_failed_allocation(void)
{
    int (*const operations[])(struct mech_sim *) = {change_parameter, evaluate_all,
                                                    try_with_parameter, try_with_signal};

    for (size_t i = 0; i < sizeof operations / sizeof *operations; i++) {
        operate_without_memory(operations[i], false);
        operate_without_memory(operations[i], true);
    }
}

/* The model of the committed state cannot be built again after a trial with another parameter; a
 * reset does it then. */
static void a_reset_after_no_memory_has_the_model_of_the_parameters(void)
{
    struct mech_sim *const fresh = model_of(items);
    bool astray = false;

    for (long n = 0; n < MOST && !astray; n++) {
        struct mech_sim *const s = model_of(items);

        alloc_refuse_start(n, true);
        const int code = try_with_parameter(s);
        astray = alloc_refuse_stop() > 0 && code == 0;
        CU_ASSERT_EQUAL(mech_sim_reset(s), 0);
        CU_ASSERT_EQUAL(mech_sim_energy(s), mech_sim_energy(fresh));
        CU_ASSERT_EQUAL(model_steps(s, 5) || model_steps(fresh, 5), 0);
        CU_ASSERT_EQUAL(model_state(s).q[0], model_state(fresh).q[0]);
        CU_ASSERT_EQUAL(mech_sim_reset(fresh), 0);
        mech_sim_destroy(s);
    }
    CU_ASSERT(astray);
    mech_sim_destroy(fresh);
}

static void steps_of_a_cable_allocate_nothing(void)
{
    struct mech_sim *const s = model_of(cable);

    CU_ASSERT_EQUAL(model_steps(s, 2), 0);
    alloc_count_start();
    const int code = model_steps(s, 100);
    CU_ASSERT_EQUAL(alloc_count_stop(), 0);
    CU_ASSERT_EQUAL(code, 0);
    mech_sim_destroy(s);
}

UNIT_TESTS(UNIT_TEST(creation_survives_any_failed_allocation),
           UNIT_TEST(steps_of_a_cable_allocate_nothing),
           UNIT_TEST(operations_survive_any_failed_allocation),
           UNIT_TEST(a_reset_after_no_memory_has_the_model_of_the_parameters))
