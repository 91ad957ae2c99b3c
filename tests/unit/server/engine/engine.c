/* An instance knows its engine by the operations alone: a foreign one, a clock with one input and
 * one output, is stepped, tried, published and destroyed through them. */
#include "server/engine/engine.h"

#include "server/instance/stepping.h"
#include "solver/sim/analysis.h"
#include "tests/unit/server/instance/host.h"

struct foreign {
    double time, input, goal, start;
    bool has_trial;
    uint64_t steps;
    int *destroyed;
    struct mech_step_report *report;
};

static void destroy(void *self)
{
    struct foreign *f = self;
    ++*f->destroyed;
}

static const char *title(const void *self)
{
    (void)self;
    return "foreign";
}

static int32_t size(const void *self)
{
    (void)self;
    return 1;
}

static double step_size(const void *self)
{
    (void)self;
    return 0.5;
}

static double start_time(const void *self)
{
    return ((const struct foreign *)self)->start;
}

static size_t count(const void *self, enum mech_causality causality)
{
    (void)self;
    return causality == MECH_PARAMETER ? 0 : 1;
}

static void variable(const void *self, enum mech_causality causality, size_t index,
                     struct mech_variable *out)
{
    (void)self;
    *out = (struct mech_variable){
        .name = "u", .causality = causality, .index = (int32_t)index, .size = 1, .scalar = true};
}

static double now(const void *self)
{
    return ((const struct foreign *)self)->time;
}

static uint64_t steps(const void *self)
{
    return ((const struct foreign *)self)->steps;
}

static size_t outputs(const void *self)
{
    (void)self;
    return 1;
}

static void get_outputs(const void *self, double *values)
{
    const struct foreign *f = self;
    values[0] = f->input + f->time;
}

static int begin(void *self, const struct mech_step_request *r, struct mech_step_report *report)
{
    struct foreign *f = self;
    f->goal = f->time + r->size;
    f->has_trial = r->trial;
    f->report = report;
    *report = (struct mech_step_report){.linear = "", .vi = ""};
    return r->size > 0. ? 0 : MECH_INVALID;
}

static int advance(void *self, uint64_t most, bool *done)
{
    struct foreign *f = self;
    f->report->steps = 1;
    *done = most > 0;
    return 0;
}

static void finish(void *self)
{
    struct foreign *f = self;
    if (!f->has_trial) {
        f->time = f->goal;
        f->steps++;
    }
}

static bool readable(const void *self)
{
    (void)self;
    return true;
}

static const struct mechd_engine_ops foreign_ops = {
    .name = "foreign",
    .destroy = destroy,
    .title = title,
    .size = size,
    .step_size = step_size,
    .start_time = start_time,
    .variable_count = count,
    .variable = variable,
    .time = now,
    .step_count = steps,
    .output_size = outputs,
    .get_outputs = get_outputs,
    .step_begin = begin,
    .step_advance = advance,
    .step_finish = finish,
    .readable = readable,
};

static void an_instance_steps_any_engine(void)
{
    struct mechd_host *d = host_create(1);
    struct mechd_instance *i = NULL;
    int destroyed = 0;
    struct foreign f = {.input = 4., .destroyed = &destroyed};
    const struct mechd_engine engine = {&foreign_ops, &f};
    CU_ASSERT_EQUAL_FATAL(mechd_instance_create(d, &engine, &i), 0);
    CU_ASSERT_STRING_EQUAL(i->name, "foreign");
    CU_ASSERT_STRING_EQUAL(mechd_engine_refusal(&engine), "");
    CU_ASSERT_PTR_NULL(i->sim);
    CU_ASSERT_EQUAL(i->step_size, 0.5);
    CU_ASSERT_EQUAL(i->published.values[0], 4.);

    struct mechd_stepping trial = {.request = {.size = 2., .trial = true}};
    CU_ASSERT_EQUAL(mechd_stepping_slice(i, &trial), MECHD_DONE);
    CU_ASSERT_EQUAL(trial.outcome, 0);
    CU_ASSERT_EQUAL(i->published.time, 0.);

    struct mechd_stepping step = {.request = {.size = 2.}};
    CU_ASSERT_EQUAL(mechd_stepping_slice(i, &step), MECHD_DONE);
    CU_ASSERT_EQUAL(step.outcome, 0);
    CU_ASSERT_EQUAL(i->published.time, 2.);
    CU_ASSERT_EQUAL(i->published.steps, 1);
    CU_ASSERT_EQUAL(i->published.values[0], 6.);

    struct mechd_stepping bad = {.request = {.size = -1.}};
    CU_ASSERT_EQUAL(mechd_stepping_slice(i, &bad), MECHD_DONE);
    CU_ASSERT_EQUAL(bad.outcome, MECH_INVALID);
    mechd_instance_unref(i);
    CU_ASSERT_EQUAL(destroyed, 1);
    host_destroy(d);
}

/* What only some engines know is asked of the table: one that knows nothing of it. */
static void an_engine_need_not_know_everything(void)
{
    struct mechd_host *d = host_create(1);
    struct mechd_instance *i = NULL;
    int destroyed = 0;
    uint64_t hash = 7;
    struct foreign f = {.input = 4., .destroyed = &destroyed};
    const struct mechd_engine engine = {&foreign_ops, &f};
    CU_ASSERT_EQUAL_FATAL(mechd_instance_create(d, &engine, &i), 0);
    CU_ASSERT_EQUAL(mechd_engine_memory(&engine), 0);
    CU_ASSERT_FALSE(mechd_engine_input_is_own(&engine, 0));
    CU_ASSERT_FALSE(mechd_engine_input_is_parameter(&engine, 0));
    CU_ASSERT_FALSE(mechd_engine_knows_energy(&engine));
    CU_ASSERT_FALSE(mechd_engine_knows_rates(&engine));
    CU_ASSERT_FALSE(mechd_engine_hashes(&engine));
    CU_ASSERT_PTR_NULL(mechd_engine_blind(&engine, false));
    CU_ASSERT_PTR_NULL(mechd_engine_unrated(&engine));
    CU_ASSERT_FALSE(mechd_instance_hash(i, &hash));
    CU_ASSERT_EQUAL(hash, 7);
    mechd_instance_unref(i);
    host_destroy(d);
}

/* A time near 0 is the sum of the steps since a start before it. */
static void an_engine_plans_by_the_steps_since_its_start(void)
{
    int destroyed = 0;
    struct foreign f = {.start = -500., .destroyed = &destroyed};
    const struct mechd_engine e = {&foreign_ops, &f};
    const struct mech_step_request r = {.kind = MECH_STEP_UNTIL, .until = 0.};
    struct mech_step_plan plan;

    f.time = -0.5 - 1e-13;
    CU_ASSERT_EQUAL(mechd_engine_plan(&e, &r, &plan), 0);
    CU_ASSERT_EQUAL(plan.count, 1);
    CHECK_NEAR(plan.h, 0.5, 0.);
    f.start = f.time;
    CU_ASSERT_EQUAL(mechd_engine_plan(&e, &r, &plan), 0);
    CU_ASSERT_EQUAL(plan.count, 2);
}

static void the_solver_knows_what_its_simulation_does(void)
{
    struct mechd_host *d = host_create(1);
    struct mechd_instance *i = instance_create(d);
    const struct mechd_engine *const e = &i->engine;
    uint64_t hash = 0;
    CU_ASSERT_EQUAL(mechd_engine_memory(e), mech_sim_memory(i->sim));
    CU_ASSERT_TRUE(mechd_engine_knows_energy(e) && mechd_engine_knows_rates(e));
    CU_ASSERT_EQUAL(mechd_engine_energy(e, false), mech_sim_energy(i->sim));
    CU_ASSERT_TRUE(mechd_instance_hash(i, &hash));
    CU_ASSERT_EQUAL(hash, mech_sim_state_hash(i->sim));
    CU_ASSERT_EQUAL(mechd_engine_input_size(e), mech_sim_input_size(i->sim));
    CU_ASSERT_PTR_NULL(mechd_engine_blind(e, true));
    CU_ASSERT_PTR_NULL(mechd_engine_unrated(e));
    for (size_t k = 0; k < mechd_engine_variable_count(e, MECH_INPUT); k++) {
        const int32_t at = (int32_t)k;
        CU_ASSERT_EQUAL(mechd_engine_input_is_own(e, at), !mech_sim_input_is_set(i->sim, at));
        CU_ASSERT_EQUAL(mechd_engine_input_is_parameter(e, at),
                        mech_sim_input_is_parameter(i->sim, at));
    }
    mechd_instance_unref(i);
    host_destroy(d);
}

static void the_solver_is_in_the_list_and_gives_its_simulation(void)
{
    struct mechd_host *d = host_create(1);
    struct mechd_instance *i = instance_create(d);
    bool found = false;
    for (size_t k = 0; mechd_engine_at(k) != NULL; k++) {
        CU_ASSERT_PTR_NOT_NULL(mechd_engine_at(k)->doc);
        found = found || mechd_engine_at(k) == i->engine.ops;
    }
    CU_ASSERT(found);
    CU_ASSERT_PTR_NOT_NULL(i->sim);
    CU_ASSERT_PTR_EQUAL(i->sim, mechd_engine_sim(&i->engine));
    CU_ASSERT_STRING_EQUAL(i->engine.ops->name, "solver");
    CU_ASSERT_STRING_EQUAL(mechd_engine_refusal(&i->engine), "");
    mechd_instance_unref(i);
    host_destroy(d);
}

UNIT_TESTS(UNIT_TEST(an_instance_steps_any_engine), UNIT_TEST(an_engine_need_not_know_everything),
           UNIT_TEST(an_engine_plans_by_the_steps_since_its_start),
           UNIT_TEST(the_solver_knows_what_its_simulation_does),
           UNIT_TEST(the_solver_is_in_the_list_and_gives_its_simulation))
