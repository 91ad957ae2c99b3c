/* Linear systems with impacts through the public façade, against bare BLAS and LAPACK calls on the
 * same sizes (floors.h). Bars: chains of 1e3 and 1e4 masses banded 0.8 × (dsbmv + dpttrs), of 1000
 * dense 1.3 × (two dsymv + two dtrsv); a bouncing ball 200 ns a step inside one command, 100
 * dense coordinates with a stop 8 µs, a falling column of 100 beads 25 µs a step to t = 2 s.
 */
#include "tests/bench/bench.h"
#include "tests/bench/floors.h"
#include "tests/bench/scenes.h"

#include <stdio.h>
#include <stdlib.h>

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

static void measure_fall(const char *what, uint64_t steps, double bar)
{
    struct fall f = {.sim = scene_create(scene_beads(BEADS)), .steps = steps};
    f.start = malloc(mech_sim_saved_size(f.sim));
    if (f.start == NULL) {
        exit(2);
    }
    mech_sim_save(f.sim, f.start);
    bench_limit(what, fall, &f, bar * (double)steps);
    free(f.start);
    mech_sim_destroy(f.sim);
}

/* what a coordinate costs does not grow with their number */
static void measure_chain(int32_t n)
{
    char what[64];
    struct floor_chain floor;
    struct mech_sim *const sim = scene_create(scene_chain(n, SCENE_BANDED));
    if (floor_banded_init(&floor, n) != 0) {
        exit(2);
    }
    (void)snprintf(what, sizeof what, "chain %d banded / dsbmv + dpttrs", (int)n);
    bench_coordinates(n);
    /* beyond the caches both wait for memory, which neighbours share: told, without a bar */
    bench_compare(bench_text(what), scene_step, sim, floor_banded, &floor, n > 10 * N ? 0. : 0.8);
    bench_coordinates(0);
    floor_fini(&floor);
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

static void measure_snapshot(const char *what, int32_t n,
                             void (*run)(void *context, uint64_t count))
{
    struct saved s = {.sim = scene_create(scene_chain(n, SCENE_BANDED))};
    s.size = mech_sim_snapshot_size(s.sim);
    s.bytes = malloc(s.size);
    if (s.bytes == NULL) {
        exit(2);
    }
    scene_step(s.sim, 10);
    bench_limit(what, run, &s, 0.);
    free(s.bytes);
    mech_sim_destroy(s.sim);
}

static void measure_step(const char *what, struct mech_document *document, double bar)
{
    struct mech_sim *const sim = scene_create(document);
    bench_limit(what, scene_step, sim, bar);
    mech_sim_destroy(sim);
}

int main(int argc, char **argv)
{
    bench_begin("lti", argc, argv);

    for (int32_t n = N; n <= 100 * N; n *= 10) {
        measure_chain(n);
    }
    struct floor_chain floor;
    struct mech_sim *const sim = scene_create(scene_chain(N, SCENE_DENSE));
    if (floor_dense_init(&floor, N) != 0) {
        return 2;
    }
    bench_compare("chain 1000 dense / 2 dsymv + 2 dtrsv", scene_step, sim, floor_dense, &floor,
                  1.3);
    floor_fini(&floor);
    mech_sim_destroy(sim);

    measure_step("bouncing ball, one command", scene_ball(), 200.);
    measure_step("two coordinates, banded", scene_chain(2, SCENE_BANDED), 0.);
    measure_step("100 coordinates, dense, one stop", scene_chain(100, SCENE_DENSE), 8e3);
    measure_step("column of 10 beads", scene_beads(10), 0.);
    measure_step("column of 100 beads, at rest", scene_beads(BEADS), 0.);
    measure_fall("column of 100 beads, 1000 steps", 1000, 0.);
    measure_fall("column of 100 beads, 4000 steps", 4000, 25e3);
    measure_snapshot("save + restore, 100 coordinates", 50, save_restore);
    measure_snapshot("save + restore, 10000 coordinates", 5000, save_restore);
    measure_snapshot("snapshot bytes, 100 coordinates", 50, write_read);
    measure_snapshot("snapshot bytes, 10000 coordinates", 5000, write_read);
    return bench_end();
}
