/* Which outputs inputs act on at once, against differences of outputs by inputs, over the examples
 * and models with states of first order. */
#include "protocol/fmi/layout.h"

#include "tests/verify/example.h"

#include <dirent.h>

struct compared {
    int pairs;    /* of an output and an input that sets no parameter */
    int depended; /* of these, pairs with a difference */
};

/* The packed outputs with one input set to a value, and the state as before. */
static void outputs_at(struct mech_sim *s, int32_t channel, const double *values, double *out)
{
    void *const state = malloc(mech_sim_saved_size(s));
    CU_ASSERT_PTR_NOT_NULL_FATAL(state);
    mech_sim_save(s, state);
    CU_ASSERT_EQUAL(mech_sim_set_input(s, channel, values, 0, NULL), 0);
    mech_sim_get_outputs(s, out);
    CU_ASSERT_EQUAL(mech_sim_restore(s, state), 0);
    free(state);
}

static void compare_values(const struct mechp_fmi_layout *l, const double *a, const double *b,
                           struct compared *c)
{
    for (size_t k = 0; k < l->n; k++) {
        const struct mechp_fmi_variable *const v = &l->at[k];
        if (v->causality != MECH_OUTPUT_VARIABLE) {
            continue;
        }
        const size_t size = (size_t)v->size * sizeof *a;
        const bool depends = memcmp(a + v->offset, b + v->offset, size) != 0;
        if (depends && !v->direct) {
            fprintf(stderr, "\"%s\" is not direct\n", v->name);
        }
        CU_ASSERT(v->direct || !depends);
        c->pairs++;
        c->depended += depends;
    }
}

/* All pairs of a model; each value of an input by itself, by 1 from 0. */
static void compare(struct mech_sim *s, struct compared *c)
{
    const size_t n = mech_sim_output_size(s) + 1;
    double *const at_0 = calloc(n, sizeof *at_0), *const at_1 = calloc(n, sizeof *at_1);
    struct mechp_fmi_layout l;

    CU_ASSERT_FATAL(at_0 && at_1);
    CU_ASSERT_EQUAL_FATAL(mechp_fmi_layout_init(&l, s, MECHP_FMI_3), 0);
    for (size_t k = 0; k < l.n; k++) {
        const struct mechp_fmi_variable *const in = &l.at[k];
        for (int32_t r = 0; in->causality == MECH_INPUT && r < in->size; r++) {
            double values[6] = {0.};
            if (in->variability != MECHP_FMI_CONTINUOUS) {
                break;
            }
            outputs_at(s, in->channel, values, at_0);
            values[in->first + r] = 1.;
            outputs_at(s, in->channel, values, at_1);
            compare_values(&l, at_0, at_1, c);
        }
    }
    mechp_fmi_layout_fini(&l);
    free(at_0);
    free(at_1);
}

/* At the start, and after some steps. */
static void compare_twice(struct mech_sim *s, struct compared *c)
{
    const struct mech_step_request r = {.kind = MECH_STEP_COUNT, .count = 3};
    struct mech_step_report report;

    compare(s, c);
    CU_ASSERT_EQUAL(mech_sim_step(s, &r, &report), 0);
    compare(s, c);
    mech_sim_destroy(s);
}

static void of_the_examples(void)
{
    DIR *const folder = opendir(MECH_TESTS_FOLDER "/../server/examples");
    struct compared c = {0, 0};

    CU_ASSERT_FATAL(folder != NULL);
    for (const struct dirent *e = readdir(folder); e; e = readdir(folder)) {
        const char *const end = strstr(e->d_name, ".json");
        char name[300];
        if (end) {
            snprintf(name, sizeof name, "%.*s", (int)(end - e->d_name), e->d_name);
            compare_twice(example_of(name), &c);
        }
    }
    closedir(folder);
    CU_ASSERT(c.pairs > 0);
}

#define FIRST_ORDER(sensor)                                                                        \
    "{'mechd': 1, 'nodes': [{'name': 'y', 'type': 'NodeGenericODE1', 'initialCoordinates': [1]}]," \
    "'objects': [{'name': 'o', 'type': 'GenericODE1', 'nodes': ['y'], 'systemMatrix': [[-2]]}],"   \
    "'markers': [{'name': 'm', 'type': 'MarkerNodeCoordinate', 'node': 'y', 'coordinate': 0}],"    \
    "'loads': [{'name': 'l', 'type': 'LoadCoordinate', 'marker': 'm'}],"                           \
    "'sensors': [{'name': 'x', 'type': 'SensorNode', 'node': 'y',"                                 \
    "'outputVariable': 'Coordinates'}, " sensor "],"                                               \
    "'outputs': [{'name': 'x', 'sensor': 'x'}, {'name': 'rate', 'sensor': 'rate'}],"               \
    "'inputs': [{'name': 'u', 'load': 'l'}]}"

/* The rate of a state follows its input at once, the state does not. */
static void of_first_order(const char *model)
{
    struct mech_sim *const s = model_of(model);
    struct compared c = {0, 0};
    struct mechp_fmi_layout l;

    CU_ASSERT_EQUAL_FATAL(mechp_fmi_layout_init(&l, s, MECHP_FMI_2), 0);
    CU_ASSERT_EQUAL_FATAL(l.n, 4);
    CU_ASSERT(!l.at[2].direct);
    CU_ASSERT(l.at[3].direct);
    mechp_fmi_layout_fini(&l);
    compare_twice(s, &c);
    CU_ASSERT_EQUAL(c.pairs, 4);
    CU_ASSERT_EQUAL(c.depended, 2);
}

static void of_a_node_of_first_order(void)
{
    of_first_order(FIRST_ORDER("{'name': 'rate', 'type': 'SensorNode', 'node': 'y',"
                               "'outputVariable': 'Coordinates_t'}"));
}

static void of_an_object_of_first_order(void)
{
    of_first_order(FIRST_ORDER("{'name': 'rate', 'type': 'SensorObject', 'object': 'o',"
                               "'outputVariable': 'Coordinates_t'}"));
}

static void of_a_marker_of_first_order(void)
{
    of_first_order(FIRST_ORDER("{'name': 'rate', 'type': 'SensorMarker', 'marker': 'm',"
                               "'outputVariable': 'Coordinates_t'}"));
}

/* of second order: neither the coordinate nor its velocity; a load's value does */
static void of_a_mass(void)
{
    struct compared c = {0, 0};

    compare_twice(
        model_of("{'mechd': 1, 'nodes': [{'name': 'n', 'type': 'Node1D'}],"
                 "'objects': [{'name': 'o', 'type': 'Mass1D', 'node': 'n', 'physicsMass': 2}],"
                 "'markers': [{'name': 'm', 'type': 'MarkerNodeCoordinate', 'node': 'n',"
                 "'coordinate': 0}],"
                 "'loads': [{'name': 'l', 'type': 'LoadCoordinate', 'marker': 'm'}],"
                 "'sensors': [{'name': 'x', 'type': 'SensorNode', 'node': 'n',"
                 "'outputVariable': 'Coordinates'}, {'name': 'v', 'type': 'SensorNode',"
                 "'node': 'n', 'outputVariable': 'Coordinates_t'}, {'name': 'a',"
                 "'type': 'SensorNode', 'node': 'n', 'outputVariable': 'Coordinates_tt'},"
                 "{'name': 'u', 'type': 'SensorLoad', 'load': 'l'}],"
                 "'inputs': [{'name': 'u', 'load': 'l'}]}"),
        &c);
    CU_ASSERT_EQUAL(c.pairs, 8);
    CU_ASSERT(c.depended >= 2);
}

UNIT_TESTS(UNIT_TEST(of_the_examples), UNIT_TEST(of_a_node_of_first_order),
           UNIT_TEST(of_an_object_of_first_order), UNIT_TEST(of_a_marker_of_first_order),
           UNIT_TEST(of_a_mass))
