/* What the daemon writes as JSON for itself: descriptions of before are read, and written alike. */
#include "protocol/wire/bodies_records.h"

#include "tests/unit/unit.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* The text, by its shape into the struct and out of it again, is the same. Returns the tree, of
 * which the struct has parts. */
static json_t *expect_same(const struct mechp_shape *shape, const char *text, void *body)
{
    char room[512];
    struct mechp_text w;
    struct mech_diag d = {0};
    json_t *const tree = json_loads(text, 0, NULL);
    CU_ASSERT_FATAL(tree != NULL);
    mechp_body_read(shape, &(const struct mechp_json_in){tree, "", &d}, body);
    CU_ASSERT(mech_diag_clean(&d));
    mechp_text_init(&w, room, sizeof room);
    mechp_body_write(shape, body, &w);
    CU_ASSERT_FATAL(!w.failed && w.length < sizeof room);
    room[w.length] = '\0';
    if (strcmp(room, text) != 0) {
        printf("    %s\n", room);
    }
    CU_ASSERT_STRING_EQUAL(room, text);
    mechp_text_fini(&w);
    mech_diag_fini(&d);
    return tree;
}

static void a_run_is_described_as_before(void)
{
    struct mechp_body_stored_run run;
    json_t *tree = expect_same(&mechp_body_stored_run,
                               "{\"pace\":1,\"period\":0.02,\"start\":0,\"until\":1.5,\"every\":2,"
                               "\"inputs\":true,\"hash\":true,\"outputs\":[\"x\",\"v\"]}",
                               &run);
    CU_ASSERT(run.pace == 1. && run.period == 0.02 && run.until == 1.5 && run.every == 2);
    CU_ASSERT(run.inputs && run.hash && json_array_size(run.outputs.of) == 2);
    json_decref(tree);
    tree = expect_same(&mechp_body_stored_run,
                       "{\"pace\":0,\"period\":0.5,\"start\":2,\"until\":null,\"every\":0}", &run);
    CU_ASSERT(isnan(run.until) && run.start == 2. && !run.inputs && !run.hash);
    json_decref(tree);
}

static void a_sweep_is_described_as_before(void)
{
    struct mechp_body_stored_sweep sweep;
    struct mechp_body_stored_output output;
    json_t *tree = expect_same(&mechp_body_stored_sweep,
                               "{\"name\":\"s\",\"points\":3,\"parameters\":[\"k\"],"
                               "\"outputs\":[{\"name\":\"x\",\"size\":3,\"scalar\":false}]}",
                               &sweep);
    CU_ASSERT(sweep.points == 3 && json_array_size(sweep.parameters.of) == 1);
    json_decref(tree);
    tree = expect_same(&mechp_body_stored_output, "{\"name\":\"x\",\"size\":3,\"scalar\":false}",
                       &output);
    CU_ASSERT(output.size == 3 && !output.scalar);
    json_decref(tree);
}

/* Scripts read it. */
static void the_ready_file_is_as_before(void)
{
    struct mechp_body_ready_file ready;
    json_t *const tree =
        expect_same(&mechp_body_ready_file,
                    "{\"pid\":7,\"http\":\"127.0.0.1:8080\",\"control\":null,\"stream\":null,"
                    "\"forces\":null,\"lane\":null,\"state\":\"/s\",\"serverKey\":\"k\"}",
                    &ready);
    CU_ASSERT(ready.pid == 7 && ready.control == NULL);
    json_decref(tree);
}

UNIT_TESTS(UNIT_TEST(a_run_is_described_as_before), UNIT_TEST(a_sweep_is_described_as_before),
           UNIT_TEST(the_ready_file_is_as_before))
