/* How the time of a step grows with the model: links in the plane and in space, masses as one
 * system and as items, spheres that lie in a box; and what each integrator takes for one chain of
 * masses. The tables, plots and slopes of book.py; no row has a bar. A row "family: N" is a point
 * of a plot. Where MuJoCo is installed its chain of links runs beside ours.
 */
#include "tests/bench/bench.h"
#include "tests/bench/chains.h"
#include "tests/bench/scenes.h"
#include "tests/verify/pile.h"
#ifdef BENCH_MUJOCO
#include "tests/bench/peer_mujoco.h"
#endif

#include <stdio.h>

enum { MASSES = 64, LAYERS = 10, SETTLE = 1200, NAME = 80 };

/* The name of a point; NULL where it is not wanted. */
static const char *point(const char *family, int n)
{
    char name[NAME];

    (void)snprintf(name, sizeof name, "%s: %d", family, n);
    return bench_wants(name) ? bench_text(name) : NULL;
}

static void measure_plane(int n)
{
    const char *const what = point("links in the plane", n);

    if (what) {
        struct chain *const c = chain_create(CHAIN_PLANE, n, NULL);

        bench_tell(what, chain_step, c);
        chain_destroy(c);
    }
}

static void measure_space(int n)
{
    const char *const what = point("links in space", n);

    if (!what) {
        return;
    }
    struct chain *const c = chain_create(CHAIN_SPACE, n, NULL);
#ifdef BENCH_MUJOCO
    struct peer_chain *const peer = peer_chain_create(n);

    if (peer) {
        bench_beside(what, chain_step, c, peer_chain_step, peer);
    } else {
        bench_tell(what, chain_step, c);
    }
    peer_chain_destroy(peer);
#else
    bench_tell(what, chain_step, c);
#endif
    chain_destroy(c);
}

static void measure_items(int n)
{
    const char *const what = point("masses as items", n);

    if (what) {
        struct chain *const c = chain_create(CHAIN_ITEMS, n, NULL);

        bench_tell(what, chain_step, c);
        chain_destroy(c);
    }
}

static void measure_system(int n)
{
    const char *const what = point("masses as one system", n);

    if (what) {
        struct mech_sim *const s = scene_create(scene_chain(n, SCENE_BANDED));

        bench_tell(what, scene_step, s);
        mech_sim_destroy(s);
    }
}

static void steps_run(void *pile, uint64_t count)
{
    pile_steps(pile, count);
    bench_use(pile_velocities(pile));
}

/* LAYERS layers of side x side spheres that have come to rest; a point for the contacts that are
 * looked at then. */
static void measure_spheres(int side)
{
    const int n = LAYERS * side * side;
    struct pile p;

    if (!bench_wants("contacts")) {
        return;
    }
    pile_create(&p, n, 0.1143 * side, 0.);
    pile_steps(&p, SETTLE);
    const char *const what = point("contacts of spheres", (int)mech_sim_contacts(p.s));

    if (what) {
        bench_tell(what, steps_run, &p);
    }
    pile_destroy(&p);
}

static void measure_integrators(void)
{
    static const char *const names[] = {"ExplicitEuler",
                                        "SymplecticEuler",
                                        "VelocityVerlet",
                                        "ExplicitMidpoint",
                                        "RK33",
                                        "RK44",
                                        "RK67",
                                        "ODE23",
                                        "DOPRI5",
                                        "ImplicitEuler",
                                        "Newmark",
                                        "HHT",
                                        "TrapezoidalIndex2",
                                        "GeneralizedAlpha"};

    for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
        char name[NAME], settings[NAME];

        (void)snprintf(name, sizeof name, "%d masses by %s", MASSES, names[k]);
        if (bench_wants(name)) {
            (void)snprintf(settings, sizeof settings, "\"integrator\":\"%s\",\"stepSize\":0.001",
                           names[k]);
            struct chain *const c = chain_solved_by(CHAIN_ITEMS, MASSES, settings);

            bench_tell(bench_text(name), chain_step, c);
            chain_destroy(c);
        }
    }
}

int main(int argc, char **argv)
{
    static const int links[] = {4, 16, 64, 256, 1024}, masses[] = {100, 1000, 10000, 100000},
                     sides[] = {2, 4, 8, 16};

    bench_begin("scaling", argc, argv);
    for (int k = 0; k < 5; k++) {
        measure_plane(links[k]);
    }
    for (int k = 0; k < 5; k++) {
        measure_space(links[k]);
    }
    for (int k = 0; k < 4; k++) {
        measure_system(masses[k]);
    }
    for (int k = 0; k < 4; k++) {
        measure_items(masses[k]);
    }
    for (int k = 0; k < (bench_is_quick() ? 3 : 4); k++) {
        measure_spheres(sides[k]);
    }
    measure_integrators();
    return bench_end();
}
