/* A step that is to stop: the FMU is asked in its intermediate updates to return early, and is put
 * back in the same process. */
#include "server/engine/fmu_binary.h"
#include "server/engine/fmu_instance.h"
#include "tests/unit/server/engine/hosting.h"

static const char returns[] = "canHandleVariableCommunicationStepSize=\"true\" "
                              "canGetAndSetFMUState=\"true\" canSerializeFMUState=\"true\" "
                              "providesIntermediateUpdate=\"true\" "
                              "canReturnEarlyAfterIntermediateUpdate=\"true\"";

static struct mechd_fmu_instance *inside(const struct mechd_engine *e)
{
    return e->self;
}

/* While a step is waited for. */
static bool in_a_step(void *context)
{
    const struct mechd_fmu_instance *const f = context;
    return mechd_hosted_question(f->session.hosted)->verb == MECHD_FMU_STEP;
}

/* A step of 0.5 s from 1 s that is to stop. */
static int stopped_step(const struct mechd_engine *e, int mood)
{
    CU_ASSERT_EQUAL(set_parameter(e, MOOD, mood), 0);
    mechd_engine_set_interrupt(e, in_a_step, NULL, inside(e));
    const int rc = step(e, 0.5);
    mechd_engine_set_interrupt(e, NULL, NULL, NULL);
    CU_ASSERT_EQUAL(set_parameter(e, MOOD, CONTROLLER_BEHAVES), 0);
    return rc;
}

static void one_that_returns_early_is_put_back(void)
{
    const struct mechd_engine e = begun(MECHD_FMI_3, returns);
    const struct mechd_hosted *const before = inside(&e)->session.hosted;
    for (int k = 0; k < 2; k++) {
        CU_ASSERT_EQUAL(stopped_step(&e, CONTROLLER_WAITS), MECH_CANCELLED);
        CU_ASSERT_STRING_EQUAL(
            report.reason, "the FMU was stopped, and returned early from its step, at t = 1.125 s");
        CU_ASSERT_PTR_EQUAL(inside(&e)->session.hosted, before);
        CU_ASSERT_EQUAL(mechd_engine_time(&e), 1.);
        CU_ASSERT_EQUAL(output(&e), 1.);
    }
    CU_ASSERT_EQUAL(step(&e, 0.5), 0);
    CU_ASSERT_EQUAL(mechd_engine_time(&e), 1.5);
    CU_ASSERT_EQUAL(output(&e), 1.5);
    CU_ASSERT_PTR_EQUAL(inside(&e)->session.hosted, before);
    mechd_engine_destroy(&e);
}

/* What it was asked concerns that step alone. */
static void one_that_goes_on_to_the_end_has_made_its_step(void)
{
    const struct mechd_engine e = begun(MECHD_FMI_3, returns);
    CU_ASSERT_EQUAL(stopped_step(&e, CONTROLLER_IGNORES), 0);
    CU_ASSERT_EQUAL(mechd_engine_time(&e), 1.5);
    CU_ASSERT_EQUAL(output(&e), 1.5);
    CU_ASSERT_EQUAL(step(&e, 0.5), 0);
    CU_ASSERT_EQUAL(output(&e), 2.);
    mechd_engine_destroy(&e);
}

static void one_that_does_not_come_back_is_ended(void)
{
    struct mechd_fmu_package *const p = package(MECHD_FMI_3, returns);
    const struct mechd_engine e = made(p, 10000);
    CU_ASSERT_EQUAL_FATAL(mechd_engine_fmu_begin(&e), 0);
    CU_ASSERT_EQUAL(stopped_step(&e, CONTROLLER_LOOPS), MECH_CANCELLED);
    CU_ASSERT_STRING_EQUAL(report.reason, "the FMU was still computing, so its process was ended");
    CU_ASSERT_EQUAL(inside(&e)->place, MECHD_FMU_RENEWED);
    CU_ASSERT_EQUAL(step(&e, 0.5), 0);
    CU_ASSERT_EQUAL(mechd_engine_time(&e), 1.5);
    mechd_engine_destroy(&e);
    mechd_fmu_package_unref(p);
}

static bool at_once(void *context)
{
    (void)context;
    return true;
}

/* It waits until it is asked to return early, and is not asked. */
static void one_whose_end_is_urgent_is_not_asked_to_return(void)
{
    const struct mechd_engine e = begun(MECHD_FMI_3, returns);
    CU_ASSERT_EQUAL(set_parameter(&e, MOOD, CONTROLLER_WAITS), 0);
    mechd_engine_set_interrupt(&e, in_a_step, at_once, inside(&e));
    CU_ASSERT_EQUAL(step(&e, 0.5), MECH_CANCELLED);
    CU_ASSERT_STRING_EQUAL(report.reason, "the FMU was still computing, so its process was ended");
    CU_ASSERT_PTR_NULL(inside(&e)->session.hosted);
    mechd_engine_destroy(&e);
}

static bool count(void *context)
{
    return ++*(int *)context == 2;
}

/* Where it may return, at once, and from then on without another question. */
static void it_is_asked_where_it_may_return(void)
{
    int asked = 0;
    bool early = true;
    double time = NAN;
    struct mechd_binary b = {.version = MECHD_FMI_3, .wanted = count, .wanted_context = &asked};
    mechd_binary_update(&b, 1., false, true, true, false, &early, &time);
    CU_ASSERT(!early && asked == 0);
    mechd_binary_update(&b, 2., false, true, true, true, &early, &time);
    CU_ASSERT(!early && asked == 1 && !b.returning);
    mechd_binary_update(&b, 3., false, true, true, true, &early, &time);
    CU_ASSERT(early && asked == 2 && b.returning);
    CU_ASSERT_EQUAL(time, 3.);
    mechd_binary_update(&b, 4., false, true, true, false, &early, &time);
    CU_ASSERT(!early);
    mechd_binary_update(&b, 5., false, true, true, true, &early, &time);
    CU_ASSERT(early && asked == 2);
    CU_ASSERT_EQUAL(time, 5.);
}

UNIT_TESTS(UNIT_TEST(one_that_returns_early_is_put_back),
           UNIT_TEST(one_that_goes_on_to_the_end_has_made_its_step),
           UNIT_TEST(one_that_does_not_come_back_is_ended),
           UNIT_TEST(one_whose_end_is_urgent_is_not_asked_to_return),
           UNIT_TEST(it_is_asked_where_it_may_return))
