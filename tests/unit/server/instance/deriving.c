/* Derivatives of steps in slices, by the owner of an instance. */
#include "server/instance/deriving.h"

#include "server/instance/effort.h"
#include "tests/unit/server/instance/host.h"

#include <math.h>

/* A stiffening spring: iterations of an implicit scheme, between which it asks whether to go on. */
static const char oscillator[] =
    "{\"mechd\":1,\"nodes\":[{\"name\":\"n\",\"type\":\"Node1D\",\"initialCoordinates\":[1]}],"
    "\"objects\":[{\"name\":\"m\",\"type\":\"Mass1D\",\"node\":\"n\",\"physicsMass\":1},"
    "{\"name\":\"s\",\"type\":\"CoordinateSpringDamper\",\"markers\":[\"g\",\"x\"],"
    "\"springForceUserFunction\":\"=100*u+1000*u^3+v\"}],\"markers\":[{\"name\":\"g\",\"type\":"
    "\"MarkerGroundCoordinate\"},{\"name\":\"x\",\"type\":\"MarkerNodeCoordinate\",\"node\":\"n\","
    "\"coordinate\":0}],\"solver\":{\"integrator\":\"GeneralizedAlpha\",\"stepSize\":0.1}}";

struct asked {
    const struct mechd_instance *i;
    int times; /* while it computes */
};

/* Each time that the solver asks takes longer than a carrying thread works on one command. */
static enum mechd_stop_reason dawdle(const void *of)
{
    struct asked *const a = *(struct asked *const *)of;
    const uint64_t start = mechd_now();
    a->times += a->i->effort != NULL;
    // steady: this is what takes the time
    while (a->i->effort != NULL && mechd_now() - start < 3 * MECHD_MS) {
    }
    return MECHD_STOP_NONE;
}

/* How the end of one step changes with the velocity at its start. */
struct derivative {
    struct mech_step_request step;
    double along, dq, dv;
    struct mech_jvp jvp;
};

static void begin(struct mechd_instance *i, struct derivative *d, struct mechd_deriving *s)
{
    *d = (struct derivative){.step = {.kind = MECH_STEP_COUNT, .count = 1}, .along = 1.};
    d->jvp = (struct mech_jvp){.step = &d->step, .v = &d->along, .dq = &d->dq, .dv = &d->dv};
    struct mech_derivation *work = NULL;
    CU_ASSERT_EQUAL_FATAL(mech_sim_jvp_begin(i->sim, &d->jvp, &work), 0);
    mechd_deriving_take(i, s, work);
}

/* A mass of 2 kg that a force pushes: x = F t²/4 for any step of a Runge-Kutta method. */
static const char pushed[] =
    "{\"mechd\":1,\"nodes\":[{\"name\":\"n\",\"type\":\"Node1D\"}],\"objects\":[{\"name\":\"m\","
    "\"type\":\"Mass1D\",\"node\":\"n\",\"physicsMass\":2}],\"markers\":[{\"name\":\"x\",\"type\":"
    "\"MarkerNodeCoordinate\",\"node\":\"n\",\"coordinate\":0}],\"loads\":[{\"name\":\"F\","
    "\"type\":"
    "\"LoadCoordinate\",\"marker\":\"x\",\"load\":0}],\"inputs\":[{\"name\":\"F\",\"load\":\"F\"}],"
    "\"sensors\":[{\"name\":\"q\",\"type\":\"SensorNode\",\"node\":\"n\",\"outputVariable\":"
    "\"Coordinates\"}],\"outputs\":[{\"name\":\"x\",\"sensor\":\"q\"}],\"solver\":{\"integrator\":"
    "\"ExplicitMidpoint\",\"stepSize\":0.1}}";

/* The jacobian is begun and ended by the table of the engine, over three steps. */
static void the_jacobian_of_a_step_is_that_of_the_engine(void)
{
    struct mechd_host *const d = host_create(1);
    struct mechd_instance *const i = instance_of(d, pushed);
    const struct mech_step_request step = {.kind = MECH_STEP_COUNT, .count = 3};
    const struct mech_jacobian_query query = {.step = &step};
    struct mechd_deriving s = {.direct = false};
    struct mech_derived told;
    double out[1] = {NAN};

    CU_ASSERT_PTR_NOT_NULL_FATAL(i->engine.ops->derive);
    CU_ASSERT_EQUAL(i->engine.ops->derive->rows(i->engine.self, &query), 1);
    CU_ASSERT_EQUAL_FATAL(mechd_deriving_begin(i, &s, &query, out, &told), 0);
    CU_ASSERT_TRUE(mechd_deriving_going(&s));
    while (mechd_deriving_slice(i, &s, NULL, NULL) != MECHD_DONE) {
    }
    CU_ASSERT_EQUAL(s.outcome, 0);
    CU_ASSERT_FALSE(mechd_deriving_going(&s));
    CHECK_NEAR(out[0], 0.3 * 0.3 / 4., 1e-15);
    CHECK_NEAR(mechd_engine_time(&i->engine), 0., 0.);
    mechd_instance_unref(i);
    host_destroy(d);
}

/* What would take longer than it may is left as if it had not begun, and begins again elsewhere. */
static void a_carrying_thread_leaves_it_to_begin_again(void)
{
    struct mechd_host *const d = host_create(1);
    struct mechd_instance *const i = instance_of(d, oscillator);
    struct mechd_deriving s = {.direct = true};
    struct derivative whole, cut;
    struct mechd_deriving other = {.direct = false};
    struct asked asked = {.i = i};
    struct asked *const of = &asked;

    begin(i, &whole, &other);
    while (mechd_deriving_slice(i, &other, NULL, NULL) != MECHD_DONE) {
    }
    CU_ASSERT_EQUAL(other.outcome, 0);
    CU_ASSERT(whole.dq != 0. && whole.dv != 0.);

    begin(i, &cut, &s);
    while (mechd_deriving_going(&s) && asked.times == 0) {
        CU_ASSERT_EQUAL(mechd_deriving_slice(i, &s, dawdle, &of), MECHD_MORE);
    }
    CU_ASSERT_EQUAL(asked.times, 1);
    CU_ASSERT_EQUAL(s.outcome, 0);
    CU_ASSERT_EQUAL(s.why, MECHD_STOP_NONE);
    CU_ASSERT_FALSE(mechd_deriving_going(&s));
    CU_ASSERT(s.worked >= 3 * MECHD_MS);

    s.direct = false;
    begin(i, &cut, &s);
    while (mechd_deriving_slice(i, &s, NULL, NULL) != MECHD_DONE) {
    }
    CU_ASSERT_EQUAL(s.outcome, 0);
    CU_ASSERT_EQUAL(cut.dq, whole.dq);
    CU_ASSERT_EQUAL(cut.dv, whole.dv);
    mechd_instance_unref(i);
    host_destroy(d);
}

UNIT_TESTS(UNIT_TEST(a_carrying_thread_leaves_it_to_begin_again),
           UNIT_TEST(the_jacobian_of_a_step_is_that_of_the_engine))
