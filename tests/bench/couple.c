/* Couplings of two simulations with two coordinates each, windows of one internal step, beside the
 * same trials and commits without a coupling. */
#include "protocol/bind/bind.h"
#include "tests/bench/bench.h"
#include "tests/unit/solver/couple/sims.h"

#include <time.h>

static const char text[] =
    "{\"mechd\": 1, \"nodes\": [{\"name\": \"n\", \"type\": \"NodePoint2D\", "
    "\"referenceCoordinates\": [0, 0], \"initialVelocities\": [1, 0]}],"
    "\"objects\": [{\"name\": \"m\", \"type\": \"MassPoint2D\", \"node\": \"n\","
    "\"physicsMass\": 1}, {\"name\": \"s\", \"type\": \"CoordinateSpringDamper\","
    "\"markers\": [\"g\", \"x\"], \"stiffness\": 110}],"
    "\"markers\": [{\"name\": \"g\", \"type\": \"MarkerGroundCoordinate\"},"
    "{\"name\": \"x\", \"type\": \"MarkerNodeCoordinate\", \"node\": \"n\", \"coordinate\": 0}],"
    "\"loads\": [{\"name\": \"F\", \"type\": \"LoadCoordinate\", \"marker\": \"x\", \"load\": 0}],"
    "\"sensors\": [{\"name\": \"p\", \"type\": \"SensorNode\", \"node\": \"n\","
    "\"outputVariable\": \"Coordinates\"}],"
    "\"inputs\": [{\"name\": \"F\", \"load\": \"F\"}],"
    "\"outputs\": [{\"name\": \"p\", \"sensor\": \"p\"}],"
    "\"solver\": {\"integrator\": \"GeneralizedAlpha\", \"stepSize\": 0.001}}";

static const double size = 1e-3;

static struct mech_sim *simulation(void)
{
    struct mech_diag diag;
    struct mech_document *document = NULL;
    struct mech_sim *sim = NULL;
    mech_diag_init(&diag);
    json_t *const json = json_loads(text, 0, NULL);
    if (json == NULL || mechp_bind_read(json, "", &diag, &document) != 0 ||
        mech_sim_create(document, &diag, &sim) != 0) {
        (void)fprintf(stderr, "no model: %s\n", diag.count > 0 ? diag.entries[0].text : "");
        exit(2);
    }
    json_decref(json);
    mech_diag_fini(&diag);
    return sim;
}

struct pair {
    struct sim_side side[2];
    struct mech_couple_partner partner[2];
    struct mech_couple *couple;
    uint64_t iterations, windows;
};

static void windows(void *context, uint64_t count)
{
    struct pair *const p = context;
    for (uint64_t i = 0; i < count; i++) {
        if (mech_couple_run_window(p->couple, p->partner, size) != 0) {
            (void)fprintf(stderr, "window: %s\n", mech_couple_report(p->couple)->reason);
            exit(2);
        }
        p->iterations += (uint64_t)mech_couple_report(p->couple)->iterations;
        p->windows++;
    }
}

/* one trial and one commit of each, with the inputs that the other one gave */
static void bare(void *context, uint64_t count)
{
    struct pair *const p = context;
    double y[2][2] = {{0.}};
    for (uint64_t i = 0; i < count; i++) {
        for (int k = 0; k < 2; k++) {
            struct mech_sim *const sim = p->side[k].sim;
            const double u = 100. * y[1 - k][0];
            const struct mech_input_change change = {.index = 0, .values = &u};
            const struct mech_step_request r = {.kind = MECH_STEP_SIZE,
                                                .size = size,
                                                .inputs = &change,
                                                .input_count = 1,
                                                .trial = true};
            struct mech_step_report report;
            if (mech_sim_step(sim, &r, &report) != 0) {
                exit(2);
            }
            mech_sim_trial_outputs(sim, y[k]);
        }
        if (mech_sim_commit(p->side[0].sim) != 0 || mech_sim_commit(p->side[1].sim) != 0) {
            exit(2);
        }
    }
}

static void pair_init(struct pair *p, const struct mech_couple_options *options)
{
    static const struct mech_couple_connection k[] = {{0, 0, 1, 0, 100., 0.},
                                                      {1, 0, 0, 0, 100., 0.}};
    struct mech_couple_participant about[2];
    char reason[MECH_COUPLE_REASON];
    *p = (struct pair){.couple = NULL};
    for (int i = 0; i < 2; i++) {
        sim_side_init(p->side + i, simulation(), 0);
        about[i] = (struct mech_couple_participant){i == 0 ? "left" : "right", 1, 2, 0,
                                                    MECH_COUPLE_ROLLBACK};
        p->partner[i] = (struct mech_couple_partner){&sim_side_functions, p->side + i};
    }
    const struct mech_couple_setup setup = {.participants = about,
                                            .participant_count = 2,
                                            .connections = k,
                                            .connection_count = 2,
                                            .options = *options};
    if (mech_couple_create(&setup, reason, &p->couple) != 0 ||
        mech_couple_run_start(p->couple, p->partner, 0.) != 0) {
        (void)fprintf(stderr, "coupling: %s\n", reason);
        exit(2);
    }
}

static void pair_fini(struct pair *p)
{
    mech_couple_destroy(p->couple);
    sim_side_fini(p->side);
    sim_side_fini(p->side + 1);
}

/* µs of CPU time for a window, the least of some turns */
static double microseconds(struct pair *p)
{
    double least = HUGE_VAL;
    for (int turn = 0; turn < 20; turn++) {
        struct timespec from, to;
        (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &from);
        windows(p, 2000);
        (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &to);
        const double ns =
            1e9 * (double)(to.tv_sec - from.tv_sec) + (double)(to.tv_nsec - from.tv_nsec);
        least = fmin(least, 1e-3 * ns / 2000.);
    }
    return least * bench_plant();
}

int main(int argc, char **argv)
{
    const struct mech_couple_options plain = {.scheme = "GaussSeidel"};
    const struct mech_couple_options quasi = {.scheme = "IQN-ILS",
                                              .relative_tolerance = 1e-9,
                                              .absolute_tolerance = 1e-15,
                                              .max_iterations = 20,
                                              .relaxation = 0.5};
    struct pair p, floor;
    bench_begin("couple", argc, argv);
    pair_init(&floor, &plain);
    pair_init(&p, &plain);
    bench_beside("Gauss-Seidel, a window", windows, &p, bare, &floor);
    // 200,000 windows a second
    bench_require("Gauss-Seidel, us a window", microseconds(&p), 5.);
    pair_fini(&p);
    pair_init(&p, &quasi);
    bench_beside("IQN-ILS, a window", windows, &p, bare, &floor);
    bench_tell_value("  iterations a window", (double)p.iterations / (double)p.windows);
    // 60,000 windows a second
    bench_require("IQN-ILS, us a window", microseconds(&p), 1e6 / 60000.);
    pair_fini(&p);
    pair_fini(&floor);
    return bench_end();
}
