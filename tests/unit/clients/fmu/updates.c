/* The importer's intermediate update in FMI 3.0: when it is called, what it may do, and that what
 * it sets acts as between two steps of the solver's interface. */
#include "tests/unit/clients/fmu/importer.h"

enum { MOST = 40 };

/* An importer that takes part. */
struct watcher {
    struct imported *f;
    void *instance;
    int calls;
    double time[MOST], x[MOST];
    bool sets[MOST], returns[MOST];
    double force;      /* set at each call, if finite */
    double leave_from; /* it asks for the end from this time on */
    double leave_at;
    void (*tries)(const struct watcher *w);
};

static void log_message(void *environment, enum mechp_fmi3_status status, const char *category,
                        const char *message)
{
    struct watcher *const w = environment;
    take_message(w->f, status, category, message);
}

static void take_update(void *environment, double time, bool wants_set, bool may_get,
                        bool step_finished, bool may_return, bool *early, double *early_time)
{
    struct watcher *const w = environment;
    CU_ASSERT_FATAL(w->calls < MOST);
    CU_ASSERT(may_get && step_finished);
    w->time[w->calls] = time;
    w->x[w->calls] = get_one(w->f, w->instance, "x");
    w->sets[w->calls] = wants_set;
    w->returns[w->calls++] = may_return;
    if (wants_set && isfinite(w->force)) {
        CU_ASSERT_EQUAL(set_one(w->f, w->instance, "force", w->force), MECHP_FMI3_OK);
    }
    if (w->tries) {
        w->tries(w);
    }
    if (time >= w->leave_from) {
        *early = true;
        *early_time = w->leave_at;
    }
}

static struct watcher watch(struct imported *f)
{
    return (struct watcher){.f = f, .force = NAN, .leave_from = INFINITY};
}

/* An instance that w watches: the force and the position x. */
static void *instantiate_watched(const struct imported *f, struct watcher *w, bool early_return)
{
    const uint32_t names[] = {variable(f, "force")->reference, variable(f, "x")->reference};
    char folder[80];
    snprintf(folder, sizeof folder, "%s/", f->folder);
    w->instance =
        f->fmi3.InstantiateCoSimulation("one", f->token, folder, false, true, false, early_return,
                                        names, 2, w, log_message, take_update);
    CU_ASSERT_PTR_NOT_NULL_FATAL(w->instance);
    initialize(f, w->instance);
    return w->instance;
}

static enum mechp_fmi3_status step(const struct imported *f, void *i, double size, bool *early,
                                   double *last)
{
    bool event, terminate;
    return f->fmi3.DoStep(i, mech_sim_time(f->sim), size, false, &event, &terminate, early, last);
}

static void own_step(const struct imported *f, double size)
{
    const struct mech_step_request r = {.kind = MECH_STEP_SIZE, .size = size};
    struct mech_step_report report;
    CU_ASSERT_EQUAL(mech_sim_step(f->sim, &r, &report), 0);
}

static double own_x(const struct imported *f)
{
    double x = NAN;
    mech_sim_get_output(f->sim, variable(f, "x")->channel, &x);
    return x;
}

/* behind each internal step with the values there; at the end there is nothing left to set */
static void it_is_called_after_each_internal_step(void)
{
    struct imported f = import_example("spring-mass-damper");
    struct watcher w = watch(&f);
    void *const i = instantiate_watched(&f, &w, false);
    const double h = mech_sim_step_size(f.sim);
    bool early = true;
    double last = NAN;
    CU_ASSERT_EQUAL(step(&f, i, 4. * h, &early, &last), MECHP_FMI3_OK);
    CU_ASSERT_EQUAL(w.calls, 4);
    CU_ASSERT_FALSE(early);
    for (int k = 0; k < w.calls; k++) {
        own_step(&f, h);
        CU_ASSERT_EQUAL(w.time[k], mech_sim_time(f.sim));
        CU_ASSERT_EQUAL(w.x[k], own_x(&f));
        CU_ASSERT_EQUAL(w.sets[k], k < 3);
        CU_ASSERT_FALSE(w.returns[k]);
    }
    CU_ASSERT_EQUAL(last, w.time[3]);
    f.fmi3.FreeInstance(i);
    forget_import(&f);
}

static void what_it_sets_acts_from_there_on(void)
{
    struct imported f = import_example("spring-mass-damper");
    struct watcher w = watch(&f);
    void *const i = instantiate_watched(&f, &w, false);
    const double h = mech_sim_step_size(f.sim);
    bool early;
    double last = NAN;
    w.force = 5.;
    CU_ASSERT_EQUAL(step(&f, i, 3. * h, &early, &last), MECHP_FMI3_OK);
    for (int k = 0; k < 3; k++) {
        own_step(&f, h);
        if (k < 2) {
            CU_ASSERT_EQUAL(
                mech_sim_set_input(f.sim, variable(&f, "force")->channel, &w.force, 0, NULL), 0);
        }
    }
    CU_ASSERT_EQUAL(get_one(&f, i, "x"), own_x(&f));
    f.fmi3.FreeInstance(i);
    forget_import(&f);
}

/* where the importer allows it: at once, or at a time within the next internal step */
static void it_can_end_the_step(void)
{
    struct imported f = import_example("spring-mass-damper");
    const double h = mech_sim_step_size(f.sim);
    for (int kind = 0; kind < 3; kind++) {
        const bool allowed = kind < 2;
        struct watcher w = watch(&f);
        void *const i = instantiate_watched(&f, &w, allowed);
        bool early;
        double last = NAN;
        w.leave_from = 1.5 * h;
        w.leave_at = kind == 1 ? 2.5 * h : 0.;
        CU_ASSERT_EQUAL(step(&f, i, 4. * h, &early, &last), MECHP_FMI3_OK);
        CU_ASSERT_EQUAL(early, allowed);
        CU_ASSERT_EQUAL(w.returns[0], allowed);
        CU_ASSERT_DOUBLE_EQUAL(last, kind == 0 ? 2. * h : kind == 1 ? 2.5 * h : 4. * h, 1e-12 * h);
        CU_ASSERT_EQUAL(w.calls, kind == 0 ? 2 : kind == 1 ? 3 : 4);
        f.fmi3.FreeInstance(i);
    }
    forget_import(&f);
}

static void try_others(const struct watcher *w)
{
    bool flags[3];
    double value = NAN, last = NAN;
    void *state = NULL;
    const struct mechp_fmi3 *const fmi3 = &w->f->fmi3;
    const uint32_t v = variable(w->f, "v")->reference;
    CU_ASSERT_EQUAL(fmi3->GetFloat64(w->instance, &v, 1, &value, 1), MECHP_FMI3_ERROR);
    CU_ASSERT_PTR_NOT_NULL(strstr(w->f->text, "intermediate update"));
    CU_ASSERT_EQUAL(set_one(w->f, w->instance, "k", 1.), MECHP_FMI3_ERROR);
    CU_ASSERT_EQUAL(
        fmi3->DoStep(w->instance, 0., 0.01, false, &flags[0], &flags[1], &flags[2], &last),
        MECHP_FMI3_ERROR);
    CU_ASSERT_EQUAL(fmi3->GetFMUState(w->instance, &state), MECHP_FMI3_ERROR);
    CU_ASSERT_EQUAL(fmi3->Reset(w->instance), MECHP_FMI3_ERROR);
    fmi3->FreeInstance(w->instance);
}

static void other_variables_and_functions_are_refused_there(void)
{
    struct imported f = import_example("spring-mass-damper");
    struct watcher w = watch(&f);
    void *const i = instantiate_watched(&f, &w, false);
    bool early;
    double last = NAN;
    w.tries = try_others;
    CU_ASSERT_EQUAL(step(&f, i, 2. * mech_sim_step_size(f.sim), &early, &last), MECHP_FMI3_OK);
    CU_ASSERT_EQUAL(w.calls, 2);
    /* the state is that of steps again */
    CU_ASSERT_EQUAL(set_one(&f, i, "k", 1000.), MECHP_FMI3_OK);
    f.fmi3.FreeInstance(i);
    forget_import(&f);
}

/* a force beyond all numbers: the pieces before it are undone, with what was set */
static void a_step_that_fails_is_undone(void)
{
    struct imported f = import_example("spring-mass-damper");
    struct watcher w = watch(&f);
    void *const i = instantiate_watched(&f, &w, false);
    bool early;
    double last = NAN;
    CU_ASSERT_EQUAL(set_one(&f, i, "m", 1e-3), MECHP_FMI3_OK);
    const double x = get_one(&f, i, "x"), force = get_one(&f, i, "force");
    w.force = 1.7e308;
    CU_ASSERT_EQUAL(step(&f, i, 4. * mech_sim_step_size(f.sim), &early, &last), MECHP_FMI3_DISCARD);
    CU_ASSERT(w.calls > 0);
    CU_ASSERT_EQUAL(last, 0.);
    CU_ASSERT_EQUAL(get_one(&f, i, "x"), x);
    CU_ASSERT_EQUAL(get_one(&f, i, "force"), force);
    w.force = NAN;
    CU_ASSERT_EQUAL(step(&f, i, mech_sim_step_size(f.sim), &early, &last), MECHP_FMI3_OK);
    f.fmi3.FreeInstance(i);
    forget_import(&f);
}

/* parameters, and what is not there, have none */
static void variables_without_it_are_refused(void)
{
    struct imported f = import_example("spring-mass-damper");
    struct watcher w = watch(&f);
    char folder[80];
    snprintf(folder, sizeof folder, "%s/", f.folder);
    const uint32_t none[] = {variable(&f, "k")->reference, 12345};
    for (int k = 0; k < 2; k++) {
        CU_ASSERT_PTR_NULL(f.fmi3.InstantiateCoSimulation("one", f.token, folder, false, true,
                                                          false, false, none + k, 1, &w,
                                                          log_message, take_update));
        CU_ASSERT_PTR_NOT_NULL(strstr(f.text, "has no intermediate update"));
    }
    forget_import(&f);
}

UNIT_TESTS(UNIT_TEST(it_is_called_after_each_internal_step),
           UNIT_TEST(what_it_sets_acts_from_there_on), UNIT_TEST(it_can_end_the_step),
           UNIT_TEST(other_variables_and_functions_are_refused_there),
           UNIT_TEST(a_step_that_fails_is_undone), UNIT_TEST(variables_without_it_are_refused))
