/* Reference results: rows of values, and a simulation that has not moved. */
#include "protocol/fmi/results.h"

#include "tests/verify/example.h"

static size_t lines_of(const struct mechp_text *w)
{
    size_t n = 0;

    for (size_t i = 0; i < w->length; i++) {
        n += w->bytes[i] == '\n';
    }
    return n;
}

static void rows_have_every_output_and_the_state_is_kept(void)
{
    static const char head[] = "time,x,v\n0,";
    struct mech_sim *const sim = example_of("mass1d");
    const uint64_t hash = mech_sim_state_hash(sim);
    struct mechp_text w;

    mechp_text_init(&w, NULL, 0);
    CU_ASSERT_EQUAL(mechp_fmi_results(MECHP_FMI_3, sim, &w), 0);
    CU_ASSERT_EQUAL(lines_of(&w), 2 + MECHP_FMI_RESULT_STEPS);
    CU_ASSERT_FATAL(w.length > sizeof head);
    CU_ASSERT_EQUAL(memcmp(w.bytes, head, sizeof head - 1), 0);
    CU_ASSERT_EQUAL(mech_sim_state_hash(sim), hash);
    mechp_text_fini(&w);
    mech_sim_destroy(sim);
}

/* Scalars have names of their own in 2.0, elements of arrays the same names in 3.0. */
static void both_versions_have_the_same_numbers(void)
{
    struct mech_sim *const sim = example_of("robot-arm");
    struct mechp_text two, three;

    mechp_text_init(&two, NULL, 0);
    mechp_text_init(&three, NULL, 0);
    CU_ASSERT_EQUAL(mechp_fmi_results(MECHP_FMI_2, sim, &two), 0);
    CU_ASSERT_EQUAL(mechp_fmi_results(MECHP_FMI_3, sim, &three), 0);
    CU_ASSERT_EQUAL(lines_of(&two), lines_of(&three));
    CU_ASSERT(two.length > 1000);
    mechp_text_fini(&two);
    mechp_text_fini(&three);
    mech_sim_destroy(sim);
}

/* So many masses, each alone, with an output. */
static struct mech_sim *masses(int n)
{
    struct mech_sim *sim = NULL;
    struct mech_diag diag;
    struct mechp_text w;

    mechp_text_init(&w, NULL, 0);
    mechp_text_object(&w);
    mechp_text_member_integer(&w, "mechd", 1);
    for (int what = 0; what < 2; what++) {
        mechp_text_key(&w, what == 0 ? "nodes" : "objects");
        mechp_text_array(&w);
        for (int i = 0; i < n; i++) {
            char node[16], object[16];
            snprintf(node, sizeof node, "n%d", i);
            snprintf(object, sizeof object, "m%d", i);
            mechp_text_object(&w);
            mechp_text_member_string(&w, "name", what == 0 ? node : object);
            mechp_text_member_string(&w, "type", what == 0 ? "Node1D" : "Mass1D");
            if (what == 1) {
                mechp_text_member_string(&w, "node", node);
                mechp_text_member_number(&w, "physicsMass", 1.);
            }
            mechp_text_end(&w);
        }
        mechp_text_end(&w);
    }
    static const char sensor[] = "[{\"name\":\"s\",\"type\":\"SensorNode\",\"node\":\"n0\","
                                 "\"outputVariable\":\"Coordinates\"}]";
    static const char output[] = "[{\"name\":\"x\",\"sensor\":\"s\"}]";
    mechp_text_key(&w, "sensors");
    mechp_text_raw(&w, sensor, sizeof sensor - 1);
    mechp_text_key(&w, "outputs");
    mechp_text_raw(&w, output, sizeof output - 1);
    mechp_text_end(&w);
    mechp_text_plain(&w, "", 1);
    mech_diag_init(&diag);
    CU_ASSERT_EQUAL_FATAL(model_read(w.bytes, &diag, &sim), 0);
    mech_diag_fini(&diag);
    mechp_text_fini(&w);
    return sim;
}

static void a_large_model_has_none(void)
{
    for (int more = 0; more < 2; more++) {
        struct mech_sim *const sim = masses(MECHP_FMI_RESULT_MOST + more);
        struct mechp_text w;

        mechp_text_init(&w, NULL, 0);
        CU_ASSERT_EQUAL(mechp_fmi_results(MECHP_FMI_3, sim, &w), 0);
        CU_ASSERT_EQUAL(w.length > 0, more == 0);
        mechp_text_fini(&w);
        mech_sim_destroy(sim);
    }
}

/* Two boxes whose impulses never meet their tolerance: 5,000 iterations a step, or one. */
static struct mech_sim *boxes(int iterations)
{
    char text[2000];

    snprintf(
        text, sizeof text,
        "{'mechd': 1, 'gravity': [0, 0, -9.81], 'nodes': [{'name': 'p', 'type':"
        "'NodeRigidBodyEP', 'referenceCoordinates': [0, 0, 0.1, 1, 0, 0, 0]}, {'name': 'q',"
        "'type': 'NodeRigidBodyEP', 'referenceCoordinates': [0.03, 0.02, 0.3, 1, 0, 0, 0]}],"
        "'objects': [{'name': 'ground', 'type': 'Ground', 'geometry': [{'shape': 'Plane'}]},"
        "{'name': 'a', 'type': 'RigidBody', 'node': 'p', 'physicsMass': 2, 'physicsInertia':"
        "[0.01, 0.01, 0.01, 0, 0, 0], 'geometry': [{'shape': 'Box', 'size': [0.2, 0.2, 0.2]}]},"
        "{'name': 'b', 'type': 'RigidBody', 'node': 'q', 'physicsMass': 1, 'physicsInertia':"
        "[0.01, 0.01, 0.01, 0, 0, 0], 'geometry': [{'shape': 'Box', 'size': [0.2, 0.2, 0.2]}]}],"
        "'sensors': [{'name': 's', 'type': 'SensorBody', 'object': 'a',"
        "'outputVariable': 'Velocity'}], 'outputs': [{'name': 'v', 'sensor': 's'}],"
        "'solver': {'integrator': 'MoreauJean', 'stepSize': 0.002, 'vi': {'type': 'psor',"
        "'maxIterations': %d, 'tolerance': 1e-16, 'onFailure': 'accept'}}}",
        iterations);
    return model_of(text);
}

static void rows_end_with_the_work(void)
{
    size_t rows[2];

    for (int dear = 0; dear < 2; dear++) {
        struct mech_sim *const sim = boxes(dear ? 5000 : 1);
        struct mechp_text w;

        mechp_text_init(&w, NULL, 0);
        CU_ASSERT_EQUAL(mechp_fmi_results(MECHP_FMI_3, sim, &w), 0);
        rows[dear] = lines_of(&w);
        mechp_text_fini(&w);
        mech_sim_destroy(sim);
    }
    CU_ASSERT_EQUAL(rows[0], 2 + MECHP_FMI_RESULT_STEPS);
    CU_ASSERT(rows[1] > 3 && rows[1] < 2 + MECHP_FMI_RESULT_STEPS / 2);
}

static bool at_once(void *context)
{
    (void)context;
    return true;
}

static void an_interrupt_ends_them_and_the_state_is_kept(void)
{
    struct mech_sim *const sim = boxes(5000);
    const uint64_t hash = mech_sim_state_hash(sim);
    struct mechp_text w;

    mechp_text_init(&w, NULL, 0);
    mech_sim_set_interrupt(sim, at_once, NULL);
    CU_ASSERT_EQUAL(mechp_fmi_results(MECHP_FMI_3, sim, &w), MECH_CANCELLED);
    CU_ASSERT_EQUAL(mech_sim_state_hash(sim), hash);
    mechp_text_fini(&w);
    mech_sim_destroy(sim);
}

static void the_manifest_names_the_results(void)
{
    struct mechp_text w;
    size_t results = 0;

    mechp_text_init(&w, NULL, 0);
    mechp_fmi_results_manifest(&w);
    mechp_text_plain(&w, "", 1);
    /* the reader knows no namespaces: the elements behind the root */
    const char *const related = strstr(w.bytes, "  <Related");
    CU_ASSERT_PTR_NOT_NULL_FATAL(related);
    for (const char *c = related; (c = strstr(c, "source=\"results.csv\" role=\"result\"")); c++) {
        results++;
    }
    CU_ASSERT_EQUAL(results, 1);
    CU_ASSERT_PTR_NOT_NULL(strstr(w.bytes, "fmi-ls:fmi-ls-name=\"org.fmi-standard.fmi-ls-ref\""));
    mechp_text_fini(&w);
}

UNIT_TESTS(UNIT_TEST(rows_have_every_output_and_the_state_is_kept),
           UNIT_TEST(both_versions_have_the_same_numbers), UNIT_TEST(a_large_model_has_none),
           UNIT_TEST(rows_end_with_the_work),
           UNIT_TEST(an_interrupt_ends_them_and_the_state_is_kept),
           UNIT_TEST(the_manifest_names_the_results))
