/* Linear systems with impacts through the public façade, against programs written for the one model
 * (floors_linear.h) and, where K is dense, bare BLAS calls on the same sizes (floors.h). */
#include "tests/bench/bench.h"
#include "tests/bench/floors.h"
#include "tests/bench/floors_linear.h"
#include "tests/bench/scenes.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { N = 1000, BEADS = 100 };

/* a column that falls from its start, again and again */
struct fall {
    struct mech_sim *sim;
    void *start;
    uint64_t steps;
};

/* one unit is a run from the start */
static void fall(void *context, uint64_t count)
{
    const struct fall *const f = context;
    for (uint64_t i = 0; i < count; i++) {
        if (mech_sim_restore(f->sim, f->start) != 0) {
            (void)fprintf(stderr, "a saved state was refused\n");
            exit(2);
        }
        scene_step(f->sim, f->steps);
    }
}

static void measure_fall(const char *what, uint64_t steps, bool has_bar)
{
    struct fall f = {.sim = scene_create(scene_beads(BEADS)), .steps = steps};
    struct floor_beads floor = {.n = BEADS, .steps = (int64_t)steps};
    f.start = malloc(mech_sim_saved_size(f.sim));
    if (f.start == NULL) {
        exit(2);
    }
    mech_sim_save(f.sim, f.start);
    (has_bar ? bench_compare : bench_beside)(what, fall, &f, floor_beads_run, &floor);
    free(f.start);
    mech_sim_destroy(f.sim);
}

/* what a coordinate costs does not grow with their number */
static void measure_chain(int32_t n)
{
    char what[64];
    struct floor_masses floor;
    (void)snprintf(what, sizeof what, "chain %d banded", (int)n);
    if (!bench_wants(what)) {
        return;
    }
    struct mech_sim *const sim = scene_create(scene_chain(n, SCENE_BANDED));
    floor_masses_init(&floor, n);
    bench_coordinates(n);
    bench_compare(bench_text(what), scene_step, sim, floor_masses_step, &floor);
    bench_coordinates(0);
    floor_masses_fini(&floor);
    mech_sim_destroy(sim);
}

/* one unit is a snapshot written and read back, as bytes or within the process */
struct saved {
    struct mech_sim *sim;
    size_t size;
    void *bytes;
};

static void save_restore(void *context, uint64_t count)
{
    struct saved *const s = context;
    for (uint64_t i = 0; i < count; i++) {
        mech_sim_save(s->sim, s->bytes);
        if (mech_sim_restore(s->sim, s->bytes) != 0) {
            (void)fprintf(stderr, "a saved state was refused\n");
            exit(2);
        }
    }
}

static void write_read(void *context, uint64_t count)
{
    struct saved *const s = context;
    for (uint64_t i = 0; i < count; i++) {
        bool same = false;
        mech_sim_snapshot_write(s->sim, s->bytes);
        if (mech_sim_snapshot_read(s->sim, s->bytes, s->size, &same) != 0 || !same) {
            (void)fprintf(stderr, "a snapshot was refused\n");
            exit(2);
        }
    }
}

static void measure_snapshot(const char *what, int32_t n, bench_work *run, bench_work *floor_run)
{
    struct saved s = {.sim = scene_create(scene_chain(n, SCENE_BANDED))};
    struct floor_bytes floor;
    s.size = mech_sim_snapshot_size(s.sim);
    s.bytes = malloc(s.size);
    if (s.bytes == NULL) {
        exit(2);
    }
    floor_bytes_init(&floor, run == write_read ? s.size : mech_sim_saved_size(s.sim));
    scene_step(s.sim, 10);
    bench_compare(what, run, &s, floor_run, &floor);
    floor_bytes_fini(&floor);
    free(s.bytes);
    mech_sim_destroy(s.sim);
}

/* µs of CPU time for a save and a restore of so many coordinates, the least of some turns, to be
 * `most` of them. */
static void promise_saved(const char *what, int32_t n, double most)
{
    enum { TURNS = 20, UNITS = 20000 };
    double least = HUGE_VAL;
    if (!bench_wants(what)) {
        return;
    }
    struct saved s = {.sim = scene_create(scene_chain(n, SCENE_BANDED))};
    s.bytes = malloc(mech_sim_saved_size(s.sim));
    if (s.bytes == NULL) {
        exit(2);
    }
    scene_step(s.sim, 10);
    for (int turn = 0; turn < TURNS; turn++) {
        struct timespec from, to;
        (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &from);
        save_restore(&s, UNITS);
        (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &to);
        least = fmin(least,
                     1e9 * (double)(to.tv_sec - from.tv_sec) + (double)(to.tv_nsec - from.tv_nsec));
    }
    bench_require(what, 1e-3 * least / UNITS, most);
    free(s.bytes);
    mech_sim_destroy(s.sim);
}

static void measure_step(const char *what, struct mech_document *document, bench_work *floor_run,
                         void *floor)
{
    struct mech_sim *const sim = scene_create(document);
    if (floor_run != NULL) {
        bench_compare(what, scene_step, sim, floor_run, floor);
    } else {
        bench_tell(what, scene_step, sim);
    }
    mech_sim_destroy(sim);
}

/* dense systems: bare library calls */
static void measure_dense(const char *what, int32_t n)
{
    struct floor_chain floor;
    struct mech_sim *const sim = scene_create(scene_chain(n, SCENE_DENSE));
    if (floor_dense_init(&floor, n) != 0) {
        exit(2);
    }
    bench_compare(what, scene_step, sim, floor_dense, &floor);
    floor_fini(&floor);
    mech_sim_destroy(sim);
}

int main(int argc, char **argv)
{
    bench_begin("lti", argc, argv);
    struct floor_two two;
    struct floor_ball ball = {.q = 1.};
    floor_two_init(&two);
    measure_step("two coordinates", scene_chain(2, SCENE_BANDED), floor_two_step, &two);
    measure_step("bouncing ball", scene_ball(), floor_ball_step, &ball);
    for (int32_t n = N; n <= 1000 * N; n *= 10) {
        measure_chain(n);
    }
    measure_dense("chain 1000 dense", N);
    measure_dense("100 coordinates, dense, one stop", 100);
    measure_fall("column of 100 beads, 1000 steps", 1000, false);
    measure_fall("column of 100 beads, 4000 steps", 4000, true);
    measure_step("column of 100 beads, at rest", scene_beads(BEADS), NULL, NULL);
    measure_snapshot("save + restore, 100 coordinates", 50, save_restore, floor_bytes_copy);
    promise_saved("save + restore, 100 coordinates, us", 100, 0.5);
    measure_snapshot("save + restore, 10000 coordinates", 5000, save_restore, floor_bytes_copy);
    measure_snapshot("snapshot bytes, 100 coordinates", 50, write_read, floor_bytes_hash);
    measure_snapshot("snapshot bytes, 10000 coordinates", 5000, write_read, floor_bytes_hash);
    return bench_end();
}
