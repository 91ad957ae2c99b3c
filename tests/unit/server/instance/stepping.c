/* Commands in parts: a force that is stamped with a time within a command acts from the end of one
 * of its substeps, to the bits of stopping there. */
#include "server/instance/stepping.h"

#include "server/instance/partners.h"
#include "solver/base/times.h"
#include "tests/unit/server/instance/host.h"

enum { COMMANDS = 60 };

/* a load so fast that the last digit of a time is seen in the velocity */
static const char swing[] =
    "{\"mechd\":1,\"nodes\":[{\"name\":\"n\",\"type\":\"Node1D\",\"initialCoordinates\":[0.5]}],"
    "\"objects\":[{\"name\":\"m\",\"type\":\"Mass1D\",\"node\":\"n\",\"physicsMass\":1},"
    "{\"name\":\"s\",\"type\":\"CoordinateSpringDamper\",\"markers\":[\"g\",\"x\"],"
    "\"stiffness\":100,\"damping\":1}],\"markers\":[{\"name\":\"g\",\"type\":"
    "\"MarkerGroundCoordinate\"},{\"name\":\"x\",\"type\":\"MarkerNodeCoordinate\",\"node\":"
    "\"n\",\"coordinate\":0}],\"loads\":[{\"name\":\"F\",\"type\":\"LoadCoordinate\",\"marker\":"
    "\"x\",\"load\":\"=1000*sin(1e4*t)\"}],\"solver\":{\"stepSize\":0.001}}";

static void run(struct mechd_instance *i, struct mech_step_request request)
{
    struct mechd_stepping s = {.request = request};
    enum mechd_progress progress = MECHD_MORE;
    while (progress != MECHD_DONE) {
        progress = mechd_stepping_slice(i, &s);
    }
    CU_ASSERT_EQUAL(s.outcome, 0);
}

/* Commands of two and a half steps have three, of the size of the steps before them where only the
 * rounding of times would change it: a force acts where such a step ends. */
static void parts_meet_at_the_substeps_of_the_whole_command(void)
{
    static const enum mech_step_kind kinds[] = {MECH_STEP_UNTIL, MECH_STEP_UNTIL, MECH_STEP_SIZE,
                                                MECH_STEP_COUNT};
    struct mechd_host *d = host_create(1);
    struct mechd_instance *i = instance_of(d, swing), *by_hand = instance_of(d, swing);
    struct mechd_partner partner = {.next = NULL};
    int apart = 0;
    i->partners = &partner;
    for (int k = 1; k <= COMMANDS; k++) {
        const struct mech_step_request r = {
            .kind = kinds[k % 4], .size = 0.0025, .until = 0.0025 * k + 1e-4, .count = 3};
        struct mech_step_plan plan;
        struct mech_diag diag;
        CU_ASSERT_EQUAL_FATAL(mech_sim_plan(by_hand->sim, &r, &plan), 0);
        const double start = plan.start.time, end = plan.end.time;
        const double at = mech_moment_after(plan.start, 1., plan.h).time;
        apart += at != start + (end - start) / 3.;

        CU_ASSERT_EQUAL_FATAL(mechd_partner_keep(&partner, start + 0.4 * plan.h, NULL, 0), 0);
        run(i, r);
        CU_ASSERT_EQUAL(partner.pending_count, 0);

        run(by_hand, (struct mech_step_request){.kind = MECH_STEP_UNTIL, .until = at});
        mech_diag_init(&diag);
        CU_ASSERT_EQUAL(mechd_engine_set_inputs(&by_hand->engine, NULL, 0, &diag), 0);
        mech_diag_fini(&diag);
        run(by_hand, (struct mech_step_request){.kind = MECH_STEP_UNTIL, .until = end});
        CU_ASSERT_EQUAL(mechd_engine_time(&i->engine), end);
        CU_ASSERT_EQUAL(mechd_engine_hash(&i->engine), mechd_engine_hash(&by_hand->engine));
    }
    CU_ASSERT(apart > 5);
    i->partners = NULL;
    mechd_instance_unref(i);
    mechd_instance_unref(by_hand);
    host_destroy(d);
}

/* A request that makes no steps is refused with a force in wait too, which remains. */
static void an_impossible_command_leaves_the_forces_that_wait(void)
{
    struct mechd_host *d = host_create(1);
    struct mechd_instance *i = instance_of(d, swing);
    struct mechd_partner partner = {.next = NULL};
    i->partners = &partner;
    CU_ASSERT_EQUAL_FATAL(mechd_partner_keep(&partner, 0.0012, NULL, 0), 0);
    struct mechd_stepping s = {.request = {.kind = MECH_STEP_UNTIL, .until = -1., .size = 1.}};
    CU_ASSERT_EQUAL(mechd_stepping_slice(i, &s), MECHD_DONE);
    CU_ASSERT_EQUAL(s.outcome, MECH_INVALID);
    CU_ASSERT_EQUAL(partner.pending_count, 1);
    CU_ASSERT_EQUAL(mechd_engine_time(&i->engine), 0.);
    free(partner.pending[0].values);
    i->partners = NULL;
    mechd_instance_unref(i);
    host_destroy(d);
}

UNIT_TESTS(UNIT_TEST(parts_meet_at_the_substeps_of_the_whole_command),
           UNIT_TEST(an_impossible_command_leaves_the_forces_that_wait))
