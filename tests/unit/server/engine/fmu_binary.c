/* The binary of an FMU in the test's own process: every function that hosting calls, in both
 * versions, and what is said where one is refused or not there. */
#include "server/engine/fmu_binary.h"

#include "tests/fmus/controller.h"
#include "tests/fmus/shelf.h"
#include "tests/fmus/tank.h"
#include "tests/unit/alloc_count.h"
#include "tests/unit/unit.h"

#include <float.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static int logs;
static char last_log[MECHD_FMU_LOG_MOST];

static void keep_log(void *context, int status, const char *category, const char *message)
{
    struct mechd_binary *const b = context;
    logs += b->library != NULL && status >= 0 && category != NULL;
    (void)strncpy(last_log, message, sizeof last_log - 1);
}

static const char *shelf_path(void)
{
    return MECH_TESTS_SHELF;
}

static struct mechd_binary opened(enum mechd_fmi_version version)
{
    return (struct mechd_binary){.version = version, .log = keep_log};
}

#define OPEN(b, version)                                                                           \
    struct mechd_binary b = opened(version);                                                       \
    b.log_context = &b;                                                                            \
    CU_ASSERT_EQUAL_FATAL(mechd_binary_open(&b, shelf_path(), "s", SHELF_TOKEN, "/tmp", true), 0)

static const enum mechd_fmi_version versions[] = {MECHD_FMI_2, MECHD_FMI_3};

/* Sets two variables of a type and reads them back, in turned order. */
static int there_and_back(struct mechd_binary *b, enum mechd_fmu_type type)
{
    const size_t size = mechd_binary_element(type);
    unsigned char in[16], out[16];
    const uint32_t vr[] = {2, 0}, turned[] = {0, 2};
    memset(in, 0, sizeof in);
    in[0] = 1; // true for a boolean, a small number for the others
    struct mechd_binary_values v = {type, vr, 2, in, 2};
    const int rc = mechd_binary_set(b, &v);
    if (rc != 0) {
        return rc;
    }
    memset(out, 0xff, sizeof out);
    v = (struct mechd_binary_values){type, turned, 2, out, 2};
    CU_ASSERT_EQUAL(mechd_binary_get(b, &v), 0);
    CU_ASSERT_EQUAL(memcmp(out + size, in, size), 0);
    CU_ASSERT_EQUAL(memcmp(out, in + size, size), 0);
    return 0;
}

static void values_of_every_type_go_there_and_back(void)
{
    for (size_t k = 0; k < 2; k++) {
        const bool two = versions[k] == MECHD_FMI_2;
        OPEN(b, versions[k]);
        for (enum mechd_fmu_type type = 0; type < MECHD_FMU_TYPES; type++) {
            const bool has = mechd_binary_element(type) > 0 &&
                             (!two || type == MECHD_FMU_FLOAT64 || type == MECHD_FMU_INT32 ||
                              type == MECHD_FMU_BOOLEAN || type == MECHD_FMU_ENUMERATION);
            CU_ASSERT_EQUAL(there_and_back(&b, type), has ? 0 : MECHD_FMU_LACKS);
            if (!has) {
                unsigned char byte = 0;
                const struct mechd_binary_values v = {type, (const uint32_t[]){0}, 1, &byte, 1};
                CU_ASSERT_EQUAL(mechd_binary_get(&b, &v), MECHD_FMU_LACKS);
                CU_ASSERT_STRING_EQUAL(b.fault, "values of this type");
            }
        }
        mechd_binary_close(&b);
    }
    CU_ASSERT_EQUAL(mechd_binary_element(MECHD_FMU_TYPES), 0);
}

static void a_variable_that_is_not_there_is_refused_with_the_function(void)
{
    static const struct {
        enum mechd_fmu_type type;
        const char *two, *three;
    } cases[] = {{MECHD_FMU_FLOAT64, "fmi2SetReal", "fmi3SetFloat64"},
                 {MECHD_FMU_INT32, "fmi2SetInteger", "fmi3SetInt32"},
                 {MECHD_FMU_BOOLEAN, "fmi2SetBoolean", "fmi3SetBoolean"},
                 {MECHD_FMU_ENUMERATION, "fmi2SetInteger", "fmi3SetInt64"}};
    for (size_t k = 0; k < 2; k++) {
        OPEN(b, versions[k]);
        for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
            unsigned char bytes[8] = {0};
            const struct mechd_binary_values v = {cases[i].type,
                                                  (const uint32_t[]){SHELF_VARIABLES}, 1, bytes, 1};
            CU_ASSERT_EQUAL(mechd_binary_set(&b, &v), MECHD_FMU_REFUSED);
            CU_ASSERT_EQUAL(b.status, MECHP_FMI3_ERROR);
            CU_ASSERT_STRING_EQUAL(b.fault, k == 0 ? cases[i].two : cases[i].three);
            CU_ASSERT_EQUAL(mechd_binary_get(&b, &v), MECHD_FMU_REFUSED);
        }
        mechd_binary_close(&b);
    }
}

static void an_enumeration_beyond_32_bits_is_refused_by_version_2(void)
{
    OPEN(b, MECHD_FMI_2);
    const int64_t beyond[] = {(int64_t)INT_MAX + 1, (int64_t)INT_MIN - 1};
    for (size_t k = 0; k < 2; k++) {
        int64_t value = beyond[k];
        const struct mechd_binary_values v = {MECHD_FMU_ENUMERATION, (const uint32_t[]){0}, 1,
                                              &value, 1};
        CU_ASSERT_EQUAL(mechd_binary_set(&b, &v), MECHD_FMU_REFUSED);
        CU_ASSERT_STRING_EQUAL(b.fault, "an integer beyond 32 bits");
    }
    mechd_binary_close(&b);
}

static void initialization_hands_over_what_is_given(void)
{
    for (size_t k = 0; k < 2; k++) {
        OPEN(b, versions[k]);
        // a warning is no fault
        CU_ASSERT_EQUAL(mechd_binary_enter(&b, 1e-6, NAN, 2.), 0);
        CU_ASSERT_EQUAL(mechd_binary_exit(&b), 0);
        CU_ASSERT_EQUAL(mechd_binary_enter(&b, NAN, 1., NAN), 0);
        CU_ASSERT_EQUAL(mechd_binary_enter(&b, -1., 1., NAN), MECHD_FMU_REFUSED);
        CU_ASSERT_STRING_EQUAL(b.fault,
                               k == 0 ? "fmi2SetupExperiment" : "fmi3EnterInitializationMode");
        mechd_binary_close(&b);
    }
}

static int step_from(struct mechd_binary *b, double time, struct mechd_fmu_reached *end)
{
    return mechd_binary_step(b, &(struct mechd_fmu_span){.time = time, .size = 0.5}, end);
}

static void a_step_returns_the_time_of_its_end(void)
{
    for (size_t k = 0; k < 2; k++) {
        OPEN(b, versions[k]);
        struct mechd_fmu_reached end = {0};
        CU_ASSERT_EQUAL(step_from(&b, 1., &end), 0);
        CU_ASSERT_EQUAL(end.time, 1.5);
        CU_ASSERT_FALSE(end.terminate);
        // half-way the FMU wants to end
        CU_ASSERT_EQUAL(step_from(&b, SHELF_END, &end), 0);
        CU_ASSERT_EQUAL(end.time, SHELF_END + 0.25);
        CU_ASSERT_TRUE(end.terminate);
        // at the end, by an FMU that has added up steps of its own
        CU_ASSERT_EQUAL(step_from(&b, SHELF_LATE, &end), 0);
        CHECK_NEAR(end.time, SHELF_LATE + 0.5, 2. * DBL_EPSILON * (SHELF_LATE + 0.5));
        CU_ASSERT_TRUE(end.terminate);
        mechd_binary_close(&b);
    }
}

static double first(struct mechd_binary *b)
{
    double value = NAN;
    const struct mechd_binary_values v = {MECHD_FMU_FLOAT64, (const uint32_t[]){0}, 1, &value, 1};
    CU_ASSERT_EQUAL(mechd_binary_get(b, &v), 0);
    return value;
}

static void put_first(struct mechd_binary *b, double value)
{
    const struct mechd_binary_values v = {MECHD_FMU_FLOAT64, (const uint32_t[]){0}, 1, &value, 1};
    CU_ASSERT_EQUAL(mechd_binary_set(b, &v), 0);
}

static void states_and_reset_bring_values_back(void)
{
    for (size_t k = 0; k < 2; k++) {
        OPEN(b, versions[k]);
        char *bytes = NULL;
        size_t size = 0;
        put_first(&b, 3.);
        CU_ASSERT_EQUAL_FATAL(mechd_binary_save(&b, &bytes, &size), 0);
        put_first(&b, 4.);
        CU_ASSERT_EQUAL(mechd_binary_restore(&b, bytes, size), 0);
        CU_ASSERT_EQUAL(first(&b), 3.);
        // what is no state is refused, and the values remain
        CU_ASSERT_EQUAL(mechd_binary_restore(&b, bytes, size - 1), MECHD_FMU_REFUSED);
        CU_ASSERT_STRING_EQUAL(b.fault,
                               k == 0 ? "fmi2DeSerializeFMUstate" : "fmi3DeserializeFMUState");
        CU_ASSERT_EQUAL(first(&b), 3.);
        CU_ASSERT_EQUAL(mechd_binary_reset(&b), 0);
        CU_ASSERT_EQUAL(first(&b), 0.);
        free(bytes);
        mechd_binary_close(&b);
    }
}

/* Of a value, or of the state: it is read or set, or refused, and remains. */
static int use(struct mechd_binary *b, int what, char **bytes)
{
    int64_t number = 5; // 2.0 has 32 bits of it
    size_t size = 0;
    const struct mechd_binary_values v = {MECHD_FMU_ENUMERATION, (const uint32_t[]){1}, 1, &number,
                                          1};
    return what == 0   ? mechd_binary_set(b, &v)
           : what == 1 ? mechd_binary_get(b, &v)
                       : mechd_binary_save(b, bytes, &size);
}

static void check_use(struct mechd_binary *b, int what)
{
    bool any = true;
    int astray = 0;
    for (long n = 0; any; n++) {
        char *bytes = NULL;
        alloc_refuse_start(n, false);
        const int rc = use(b, what, &bytes);
        any = alloc_refuse_stop() > 0;
        astray += rc != (any ? MECHD_FMU_REFUSED : 0);
        astray += (bytes != NULL) != (rc == 0 && what == 2);
        astray += any && b->fault[0] == '\0';
        free(bytes);
    }
    CU_ASSERT_EQUAL(astray, 0);
}

static void whichever_allocation_fails_it_is_refused(void)
{
    for (int k = 0; k < 2; k++) {
        OPEN(b, versions[k]);
        put_first(&b, 3.);
        for (int what = 0; what < 3; what++) {
            check_use(&b, what);
        }
        CU_ASSERT_EQUAL(first(&b), 3.);
        mechd_binary_close(&b);
    }
    // what the events have foreseen comes behind the state
    struct mechd_binary b = opened(MECHD_FMI_3);
    b.can = MECHD_FMU_EVENTS;
    b.log_context = &b;
    CU_ASSERT_EQUAL_FATAL(mechd_binary_open(&b, MECH_TESTS_TANK, "t", TANK_TOKEN, "/tmp", false),
                          0);
    check_use(&b, 2);
    mechd_binary_close(&b);
}

/* The controller has no states by 2.0 and no reset by either. */
static void functions_that_are_not_exported_are_named(void)
{
    for (size_t k = 0; k < 2; k++) {
        struct mechd_binary b = opened(versions[k]);
        char *bytes = NULL;
        size_t size = 0;
        b.log_context = &b;
        logs = 0;
        CU_ASSERT_EQUAL_FATAL(
            mechd_binary_open(&b, MECH_TESTS_CONTROLLER, "c", CONTROLLER_TOKEN, "/tmp", true), 0);
        CU_ASSERT_EQUAL(mechd_binary_reset(&b), MECHD_FMU_LACKS);
        CU_ASSERT_STRING_EQUAL(b.fault, k == 0 ? "fmi2Reset" : "fmi3Reset");
        unsigned char bytes8[8] = {0};
        const struct mechd_binary_values v = {MECHD_FMU_ENUMERATION, (const uint32_t[]){0}, 1,
                                              bytes8, 1};
        CU_ASSERT_EQUAL(mechd_binary_get(&b, &v), MECHD_FMU_LACKS);
        CU_ASSERT_STRING_EQUAL(b.fault, k == 0 ? "fmi2GetInteger" : "fmi3GetInt64");
        if (k == 0) {
            // as of a library without it
            b.two.SetInteger = NULL;
            CU_ASSERT_EQUAL(mechd_binary_set(&b, &v), MECHD_FMU_LACKS);
            CU_ASSERT_STRING_EQUAL(b.fault, "fmi2SetInteger");
            CU_ASSERT_EQUAL(logs, 1);
            CU_ASSERT_STRING_EQUAL(last_log, CONTROLLER_TOKEN " is made of 2");
            CU_ASSERT_EQUAL(mechd_binary_save(&b, &bytes, &size), MECHD_FMU_LACKS);
            CU_ASSERT_STRING_EQUAL(b.fault, "fmi2GetFMUstate");
            CU_ASSERT_EQUAL(mechd_binary_restore(&b, "", 0), MECHD_FMU_LACKS);
            CU_ASSERT_STRING_EQUAL(b.fault, "fmi2DeSerializeFMUstate");
        } else {
            struct mechd_fmu_reached end;
            CU_ASSERT_EQUAL(step_from(&b, 0., &end), 0);
            CU_ASSERT_STRING_EQUAL(last_log, "a step of the controller");
        }
        CU_ASSERT_PTR_NULL(bytes);
        mechd_binary_close(&b);
    }
}

/* Of the controller y = gain (u + x): the gain times the direction. */
static void a_direction_is_derived_in_both_versions(void)
{
    for (size_t k = 0; k < 2; k++) {
        struct mechd_binary b = opened(versions[k]);
        double gain = 3., y = 0.;
        const uint32_t out[] = {2, 2}, in[] = {1};
        const struct mechd_binary_values set = {MECHD_FMU_FLOAT64, (const uint32_t[]){3}, 1, &gain,
                                                1};
        struct mechd_binary_direction d = {.unknowns = out,
                                           .knowns = in,
                                           .n_unknowns = 1,
                                           .n_knowns = 1,
                                           .seed = (const double[]){-0.5},
                                           .seed_count = 1,
                                           .out = &y,
                                           .out_count = 1};
        b.log_context = &b;
        CU_ASSERT_EQUAL_FATAL(
            mechd_binary_open(&b, MECH_TESTS_CONTROLLER, "c", CONTROLLER_TOKEN, "/tmp", false), 0);
        CU_ASSERT_EQUAL(mechd_binary_set(&b, &set), 0);
        CU_ASSERT_EQUAL(mechd_binary_derive(&b, &d), 0);
        CU_ASSERT_EQUAL(y, -1.5);
        // by two unknowns for one number 2.0 has no array, and the library no derivative
        d.n_unknowns = 2;
        CU_ASSERT_EQUAL(mechd_binary_derive(&b, &d),
                        k == 0 ? MECHD_FMU_NO_QUESTION : MECHD_FMU_REFUSED);
        CU_ASSERT_STRING_EQUAL(b.fault,
                               k == 0 ? "arrays of version 2.0" : "fmi3GetDirectionalDerivative");
        b.two.GetDirectionalDerivative = NULL;
        b.three.GetDirectionalDerivative = NULL;
        d.n_unknowns = 1;
        CU_ASSERT_EQUAL(mechd_binary_derive(&b, &d), MECHD_FMU_LACKS);
        mechd_binary_close(&b);
    }
}

static void a_seed_is_adjoined_in_version_3(void)
{
    struct mechd_binary b = opened(MECHD_FMI_3);
    double gain = 3., u = 0.;
    const uint32_t out[] = {2, 2}, in[] = {1};
    const struct mechd_binary_values set = {MECHD_FMU_FLOAT64, (const uint32_t[]){3}, 1, &gain, 1};
    struct mechd_binary_direction d = {.unknowns = out,
                                       .knowns = in,
                                       .n_unknowns = 2,
                                       .n_knowns = 1,
                                       .seed = (const double[]){-0.5, 1.5},
                                       .seed_count = 2,
                                       .out = &u,
                                       .out_count = 1};
    b.log_context = &b;
    CU_ASSERT_EQUAL_FATAL(
        mechd_binary_open(&b, MECH_TESTS_CONTROLLER, "c", CONTROLLER_TOKEN, "/tmp", false), 0);
    CU_ASSERT_EQUAL(mechd_binary_set(&b, &set), 0);
    CU_ASSERT_EQUAL(mechd_binary_adjoin(&b, &d), 0);
    CU_ASSERT_EQUAL(u, 3.);
    d.n_unknowns = 1;
    CU_ASSERT_EQUAL(mechd_binary_adjoin(&b, &d), MECHD_FMU_REFUSED);
    CU_ASSERT_STRING_EQUAL(b.fault, "fmi3GetAdjointDerivative");
    b.three.GetAdjointDerivative = NULL;
    CU_ASSERT_EQUAL(mechd_binary_adjoin(&b, &d), MECHD_FMU_LACKS);
    mechd_binary_close(&b);
}

/* y' = gain u, with u = 2; "sets" has none. */
static void outputs_have_rates_in_both_versions(void)
{
    for (size_t k = 0; k < 2; k++) {
        struct mechd_binary b = opened(versions[k]);
        double values[] = {2., 3.}, rates[3] = {NAN, NAN, NAN};
        const uint32_t outputs[] = {2, 6}, unknown = 9;
        const struct mechd_binary_values set = {MECHD_FMU_FLOAT64, (const uint32_t[]){1, 3}, 2,
                                                values, 2};
        b.log_context = &b;
        CU_ASSERT_EQUAL_FATAL(
            mechd_binary_open(&b, MECH_TESTS_CONTROLLER, "c", CONTROLLER_TOKEN, "/tmp", false), 0);
        CU_ASSERT_EQUAL(mechd_binary_set(&b, &set), 0);
        CU_ASSERT_EQUAL(mechd_binary_output_rates(&b, outputs, 2, rates, 2), 0);
        CU_ASSERT_EQUAL(rates[0], 6.);
        CU_ASSERT_EQUAL(rates[1], 0.);
        CU_ASSERT_EQUAL(mechd_binary_output_rates(&b, &unknown, 1, rates, 1), MECHD_FMU_REFUSED);
        CU_ASSERT_EQUAL(mechd_binary_output_rates(&b, outputs, 2, rates, 3),
                        k == 0 ? MECHD_FMU_NO_QUESTION : MECHD_FMU_REFUSED);
        b.two.GetRealOutputDerivatives = NULL;
        b.three.GetOutputDerivatives = NULL;
        CU_ASSERT_EQUAL(mechd_binary_output_rates(&b, outputs, 2, rates, 2), MECHD_FMU_LACKS);
        mechd_binary_close(&b);
    }
}

static void what_makes_no_instance_says_why(void)
{
    for (size_t k = 0; k < 2; k++) {
        struct mechd_binary b = opened(versions[k]);
        b.log_context = &b;
        CU_ASSERT_EQUAL(mechd_binary_open(&b, shelf_path(), "s", "{other}", "/tmp", false),
                        MECHD_FMU_NOT_LOADED);
        CU_ASSERT_STRING_EQUAL(b.fault, "it cannot be instantiated");
        mechd_binary_close(&b);
        CU_ASSERT_EQUAL(mechd_binary_open(&b, "/tmp/no-such.so", "s", "", "/tmp", false),
                        MECHD_FMU_NOT_LOADED);
        CU_ASSERT_PTR_NOT_NULL(strstr(b.fault, "no-such.so"));
    }
}

UNIT_TESTS(UNIT_TEST(values_of_every_type_go_there_and_back),
           UNIT_TEST(a_variable_that_is_not_there_is_refused_with_the_function),
           UNIT_TEST(an_enumeration_beyond_32_bits_is_refused_by_version_2),
           UNIT_TEST(initialization_hands_over_what_is_given),
           UNIT_TEST(a_step_returns_the_time_of_its_end),
           UNIT_TEST(states_and_reset_bring_values_back),
           UNIT_TEST(whichever_allocation_fails_it_is_refused),
           UNIT_TEST(functions_that_are_not_exported_are_named),
           UNIT_TEST(a_direction_is_derived_in_both_versions),
           UNIT_TEST(a_seed_is_adjoined_in_version_3),
           UNIT_TEST(outputs_have_rates_in_both_versions),
           UNIT_TEST(what_makes_no_instance_says_why))
