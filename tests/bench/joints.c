/* Chains of joints and of items through the public façade: whole steps of generalized-α at its
 * default tolerance, h = 1 ms, the first second of motion. Bars, µs a step, and what peers need for
 * the same: 64 links in the plane 25 (Exudyn 174), 64 in space 60 (Exudyn 387, MuJoCo 57), 20 in
 * space 15 (MuJoCo 6.9, in minimal coordinates and without iterations); 1000 items 20 (Exudyn 102,
 * Chrono explicit 90), items beyond the caches 40 ns each. The cost of a link stays within 1.3 from
 * 16 to 1024 links. Where MuJoCo is installed its chain runs beside ours.
 */
#include "tests/bench/bench.h"
#include "tests/bench/chains.h"
#ifdef BENCH_MUJOCO
#include "tests/bench/peer_mujoco.h"
#endif

#include <stdio.h>

static void measure(const char *what, enum chain_kind kind, int n, const char *linear, double bar)
{
    struct chain *const c = chain_create(kind, n, linear);

    bench_coordinates(n * (kind == CHAIN_PLANE ? 3 : kind == CHAIN_SPACE ? 6 : 1));
    bench_limit(what, chain_step, c, bar);
    (void)fprintf(stderr, "%s: %.2f iterations a step\n", what,
                  (double)c->iterations / (double)c->steps);
    bench_coordinates(0);
    chain_destroy(c);
}

/* cost of a link in a long chain against a short one */
static void measure_flat(const char *what, enum chain_kind kind)
{
    struct chain *const far = chain_create(kind, 1024, NULL);
    struct chain *const near = chain_create(kind, 16, NULL);

    near->units = 64;
    bench_compare(what, chain_step, far, chain_step, near, 1.3);
    chain_destroy(far);
    chain_destroy(near);
}

static void measure_peer(const char *what, int n)
{
#ifdef BENCH_MUJOCO
    struct chain *const ours = chain_create(CHAIN_SPACE, n, NULL);
    struct peer_chain *const peer = peer_chain_create(n);

    bench_compare(what, chain_step, ours, peer_chain_step, peer, 0.);
    peer_chain_destroy(peer);
    chain_destroy(ours);
#else
    (void)fprintf(stderr, "%s, %d links: MuJoCo is not installed\n", what, n);
#endif
}

int main(int argc, char **argv)
{
    bench_begin("joints", argc, argv);
    measure("64 links in the plane", CHAIN_PLANE, 64, NULL, 25e3);
    measure("64 links in the plane, klu", CHAIN_PLANE, 64, "klu", 0.);
    measure("64 links in space", CHAIN_SPACE, 64, NULL, 60e3);
    measure("64 links in space, klu", CHAIN_SPACE, 64, "klu", 0.);
    measure("20 links in space", CHAIN_SPACE, 20, NULL, 15e3);
    measure_peer("64 links in space / MuJoCo", 64);
    measure_peer("20 links in space / MuJoCo", 20);
    measure_flat("1024 links / 64 x 16 links, plane", CHAIN_PLANE);
    measure_flat("1024 links / 64 x 16 links, space", CHAIN_SPACE);
    measure("1000 items", CHAIN_ITEMS, 1000, NULL, 20e3);
    measure("1000 items with force laws", CHAIN_FORMULA, 1000, NULL, 0.);
    measure("200000 items", CHAIN_ITEMS, 200000, NULL, 40. * 200000.);
    /* 300 MB of text and some GB to read them */
    if (!bench_is_quick()) {
        measure("1000000 items", CHAIN_ITEMS, 1000000, NULL, 40e6);
    }
    return bench_end();
}
