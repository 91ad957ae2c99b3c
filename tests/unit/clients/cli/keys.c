/* Options of mechctl that are made from the rows of a command. */
#include "clients/cli/cli.h"

#include "tests/unit/unit.h"

#include <string.h>

static const struct mechp_shape body = {
    .name = "Probe",
    .members = MECHP_MEMBERS({"size", "number", "length of a step, s", 0},
                             {"side", "integer 0..1", "the left or the right one", 0},
                             {"share", "number 0..1", "of the whole", 0})};
static const struct mechp_row asks = {.body = &body};
static const struct mechp_row lists = {
    .query = MECHP_QUERY({"after", "integer 0..", "Numbers above this one.", "1", 0})};
static const struct mechctl_command probe = {
    .name = "probe", .body = &asks, .query = &lists, .most = -1};

const struct mechctl_command *const mechctl_commands[] = {&probe, NULL};
const struct mechctl_option mechctl_global_options[] = {{0}};

const struct mechctl_command *mechctl_find(const char *name)
{
    return strcmp(name, probe.name) == 0 ? &probe : NULL;
}

static const char *doc_of(const char *name)
{
    for (const struct mechctl_option *o = mechctl_options(&probe); o->name; o++) {
        if (strcmp(o->name, name) == 0) {
            return o->doc;
        }
    }
    return "";
}

static void a_key_goes_where_its_row_has_it(void)
{
    struct mechctl_given given[] = {{.name = "size", .length = 4, .value = "2"},
                                    {.name = "after", .length = 5, .value = "3"}};
    struct mechctl m = {.command = &probe, .given = given, .given_count = 2};
    char path[64] = "/v1/probes";

    CU_ASSERT_EQUAL(mechctl_add_keys(&m, NULL), MECHCTL_DONE);
    CU_ASSERT_EQUAL(mechctl_query_keys(&m, path, sizeof path), MECHCTL_DONE);
    mechc_bytes_add(&m.body, "", 1);
    CU_ASSERT_STRING_EQUAL(m.body.at, "\"size\":2");
    CU_ASSERT_STRING_EQUAL(path, "/v1/probes?after=3");
    mechc_bytes_fini(&m.body);
}

static void two_whole_numbers_are_a_choice(void)
{
    CU_ASSERT_STRING_EQUAL(doc_of("side"), "the left or the right one, 0 or 1");
    CU_ASSERT_STRING_EQUAL(doc_of("share"), "of the whole, 0 to 1");
    CU_ASSERT_STRING_EQUAL(doc_of("after"), "numbers above this one");
}

UNIT_TESTS(UNIT_TEST(a_key_goes_where_its_row_has_it), UNIT_TEST(two_whole_numbers_are_a_choice))
