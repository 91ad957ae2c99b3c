/* Many instances of one FMU in several threads, each of which makes, steps, rewinds and frees its
 * own: they share the library alone, and have the numbers of instances that one thread uses. */
#include "tests/unit/clients/fmu/importer.h"

#include <pthread.h>

enum { THREADS = 4, EACH = 13, STEPS = 40, SAVED_AT = 10, REWOUND_AT = 20 };
static const double h = 0.01; /* s */

struct job {
    struct imported *f;
    unsigned push, x; /* references */
    int first;        /* number of its first instance */
    int good;         /* instances that took every call */
    double at_end[EACH];
};

/* From the start with a force of its own, once back to where it was saved. */
static bool run(const struct job *j, void *i, int number)
{
    const struct mechp_fmi3 *const fmi = &j->f->fmi3;
    const double push = 0.5 * (number % 7);
    double time = 0.;
    void *state = NULL;
    bool event = false, terminate = false, early = false, rewound = false;
    bool good = fmi->EnterInitializationMode(i, false, 0., 0., false, 0.) == MECHP_FMI3_OK &&
                fmi->SetFloat64(i, &j->push, 1, &push, 1) == MECHP_FMI3_OK &&
                fmi->ExitInitializationMode(i) == MECHP_FMI3_OK;
    for (int n = 0; good && n < STEPS; n++) {
        if (n == SAVED_AT && !rewound) {
            good = fmi->GetFMUState(i, &state) == MECHP_FMI3_OK;
        } else if (n == REWOUND_AT && !rewound) {
            good = fmi->SetFMUState(i, state) == MECHP_FMI3_OK;
            n = SAVED_AT;
            time = SAVED_AT * h;
            rewound = true;
        }
        good = good &&
               fmi->DoStep(i, time, h, false, &event, &terminate, &early, &time) == MECHP_FMI3_OK;
    }
    return good && fmi->FreeFMUState(i, &state) == MECHP_FMI3_OK;
}

static void *use_some(void *context)
{
    struct job *const j = context;
    const struct mechp_fmi3 *const fmi = &j->f->fmi3;
    void *all[EACH];
    char folder[80];
    (void)snprintf(folder, sizeof folder, "%s/", j->f->folder);
    for (int k = 0; k < EACH; k++) {
        all[k] = fmi->InstantiateCoSimulation("one", j->f->token, folder, false, false, false,
                                              false, NULL, 0, NULL, NULL, NULL);
    }
    for (int k = 0; k < EACH; k++) {
        j->good += all[k] != NULL && run(j, all[k], j->first + k) &&
                   fmi->GetFloat64(all[k], &j->x, 1, &j->at_end[k], 1) == MECHP_FMI3_OK;
    }
    for (int k = 0; k < EACH; k++) {
        fmi->FreeInstance(all[k]);
    }
    return NULL;
}

static void instances_in_threads_have_the_numbers_of_one_thread(void)
{
    static struct job jobs[THREADS], alone[THREADS];
    struct imported f = import_example("driven-oscillator");
    pthread_t threads[THREADS];
    for (int t = 0; t < THREADS; t++) {
        jobs[t] = (struct job){.f = &f,
                               .push = variable(&f, "push")->reference,
                               .x = variable(&f, "x2")->reference,
                               .first = t * EACH};
        alone[t] = jobs[t];
    }
    for (int t = 0; t < THREADS; t++) {
        CU_ASSERT_EQUAL_FATAL(pthread_create(&threads[t], NULL, use_some, &jobs[t]), 0);
    }
    for (int t = 0; t < THREADS; t++) {
        CU_ASSERT_EQUAL(pthread_join(threads[t], NULL), 0);
        (void)use_some(&alone[t]);
        CU_ASSERT_EQUAL(jobs[t].good, EACH);
        CU_ASSERT_EQUAL(alone[t].good, EACH);
        CU_ASSERT_EQUAL(memcmp(jobs[t].at_end, alone[t].at_end, sizeof alone[t].at_end), 0);
        CU_ASSERT_NOT_EQUAL(jobs[t].at_end[0], jobs[t].at_end[1]);
    }
    forget_import(&f);
}

UNIT_TESTS(UNIT_TEST(instances_in_threads_have_the_numbers_of_one_thread))
