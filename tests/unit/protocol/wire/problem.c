/* Problem details: the members that RFC 9457 and the interface name. */
#include "protocol/wire/problem.h"

#include "tests/unit/unit.h"

#include <stdio.h>
#include <string.h>

static const char *text_of(struct mechp_text *w)
{
    static char text[65536];
    snprintf(text, sizeof text, "%.*s", (int)w->length, w->bytes);
    mechp_text_fini(w);
    return text;
}

static void a_problem_carries_code_detail_faults_and_report(void)
{
    struct mech_diag d;
    struct mechp_text w;
    mech_diag_init(&d);
    mech_diag_add(&d, "/model/objects/0/node", "there is no '%s'", "n\"1");
    const struct mechp_problem p = {.code = MECHP_INVALID_MODEL,
                                    .detail = "1 fault",
                                    .diag = &d,
                                    .report = "{\"steps\":2}",
                                    .report_length = 11};
    mechp_text_init(&w, NULL, 0);
    mechp_problem_write(&p, &w);
    CU_ASSERT_STRING_EQUAL(
        text_of(&w), "{\"type\":\"/docs#invalid-model\",\"title\":\"invalid model\",\"status\":422,"
                     "\"code\":\"invalid-model\",\"number\":1019,\"detail\":\"1 "
                     "fault\",\"errors\":[{\"pointer\":"
                     "\"/model/objects/0/node\",\"message\":\"there is no "
                     "'n\\\"1'\"}],\"report\":{\"steps\":2}}");
    mech_diag_fini(&d);
}

static void the_reply_over_zeromq_holds_the_same_object(void)
{
    struct mechp_text w;
    const struct mechp_problem p = {.code = MECHP_QUEUE_FULL};
    mechp_text_init(&w, NULL, 0);
    mechp_problem_write_reply(&p, "7", 1, &w);
    CU_ASSERT_STRING_EQUAL(text_of(&w),
                           "{\"ok\":false,\"sequence\":7,\"error\":{\"type\":\"/docs#queue-full\","
                           "\"title\":\"too many waiting commands of an instance or coupling\","
                           "\"status\":429,"
                           "\"code\":\"queue-full\",\"number\":1022}}");
    mechp_text_init(&w, NULL, 0);
    mechp_problem_write_reply(&p, NULL, 0, &w);
    CU_ASSERT_PTR_NULL(strstr(text_of(&w), "sequence"));
}

static void faults_beyond_the_kept_ones_are_counted(void)
{
    struct mech_diag d;
    struct mechp_text w;
    mech_diag_init(&d);
    for (int i = 0; i < MECH_DIAG_MOST + 5; i++) {
        mech_diag_add(&d, "/x", "fault %d", i);
    }
    const struct mechp_problem p = {.code = MECHP_INVALID_REQUEST, .diag = &d};
    mechp_text_init(&w, NULL, 0);
    mechp_problem_write(&p, &w);
    const char *const text = text_of(&w);
    CU_ASSERT_PTR_NOT_NULL(strstr(text, "\"detail\":\"fault 0\""));
    CU_ASSERT_PTR_NOT_NULL(strstr(text, "\"moreErrors\":5}"));
    mech_diag_fini(&d);
}

UNIT_TESTS(UNIT_TEST(a_problem_carries_code_detail_faults_and_report),
           UNIT_TEST(the_reply_over_zeromq_holds_the_same_object),
           UNIT_TEST(faults_beyond_the_kept_ones_are_counted))
