/* Chains of joints and of items through the public façade: whole steps of generalized-α at its
 * default tolerance, h = 1 ms, the first second of motion, against programs for the one chain:
 * links in the plane with the same coordinates and multipliers, links in space in minimal
 * coordinates (floors_links.h), items called by type (floors_items.h). Where MuJoCo is installed
 * its chain runs beside ours.
 */
#include "tests/bench/bench.h"
#include "tests/bench/chains.h"
#include "tests/bench/floors_items.h"
#include "tests/bench/floors_links.h"
#ifdef BENCH_MUJOCO
#include "tests/bench/peer_mujoco.h"
#endif

#include <stdio.h>

static void measure(const char *what, enum chain_kind kind, int n, bench_work *floor_run,
                    void *floor)
{
    if (!bench_wants(what)) {
        return;
    }
    struct chain *const c = chain_create(kind, n, NULL);

    bench_coordinates(n * (kind == CHAIN_PLANE ? 3 : kind == CHAIN_SPACE ? 6 : 1));
    bench_compare(what, chain_step, c, floor_run, floor);
    (void)fprintf(stderr, "%s: %.2f iterations a step\n", what,
                  (double)c->iterations / (double)c->steps);
    bench_coordinates(0);
    chain_destroy(c);
}

static void measure_links(int n)
{
    struct floor_plane plane;
    struct floor_space space;
    char what[64];

    floor_plane_init(&plane, n);
    floor_space_init(&space, n);
    (void)snprintf(what, sizeof what, "%d links in the plane", n);
    measure(bench_text(what), CHAIN_PLANE, n, floor_plane_step, &plane);
    (void)snprintf(what, sizeof what, "%d links in space", n);
    measure(bench_text(what), CHAIN_SPACE, n, floor_space_step, &space);
    floor_plane_fini(&plane);
    floor_space_fini(&space);
}

static void measure_items(const char *what, enum chain_kind kind, int n)
{
    struct floor_items floor;

    floor_items_init(&floor, n, kind == CHAIN_FORMULA ? FLOOR_CUBIC : FLOOR_LINEAR);
    measure(what, kind, n, floor_items_step, &floor);
    floor_items_fini(&floor);
}

static void measure_peer(const char *what, int n)
{
#ifdef BENCH_MUJOCO
    struct chain *const ours = chain_create(CHAIN_SPACE, n, NULL);
    struct peer_chain *const peer = peer_chain_create(n);

    if (peer) {
        bench_beside(what, chain_step, ours, peer_chain_step, peer);
    }
    peer_chain_destroy(peer);
    chain_destroy(ours);
#else
    (void)fprintf(stderr, "%s, %d links: MuJoCo is not installed\n", what, n);
#endif
}

int main(int argc, char **argv)
{
    bench_begin("joints", argc, argv);
    measure_links(20);
    measure_links(64);
    measure_links(1024);
    measure_peer("64 links in space / MuJoCo", 64);
    measure_peer("20 links in space / MuJoCo", 20);
    measure_items("1000 items", CHAIN_ITEMS, 1000);
    measure_items("1000 items with force laws", CHAIN_FORMULA, 1000);
    measure_items("200000 items", CHAIN_ITEMS, 200000);
    /* 300 MB of text and some GB to read them */
    if (!bench_is_quick() && bench_wants("1000000 items")) {
        struct chain *const c = chain_create(CHAIN_ITEMS, 1000000, NULL);
        bench_coordinates(1000000);
        bench_tell("1000000 items", chain_step, c);
        chain_destroy(c);
    }
    return bench_end();
}
