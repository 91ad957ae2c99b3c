/* 500 spheres that have been dropped into a box: a whole step, detection, warm start and 50 sweeps
 * included, under Coulomb's law. Chrono 8.6 ms (71 ns a contact and sweep). Beside it a
 * program for spheres alone does the same (floors_spheres.h). What is looked at
 * reaches 14 mm beyond the surfaces, which makes the 1,900 contacts that others count; without,
 * some 1,300 are looked at.
 *
 * Counted: the same spheres while they fall into the box, at the default settings, where a step
 * goes on until the contacts meet the tolerance; and spheres that rest by penalty, in explicit
 * steps that look for events, beside a law that has a kink and makes no difference.
 *
 * Reported beside: what the pile balances from 6 to 8 s, which must hold (tests/verify/pile.c).
 */
#include "tests/bench/bench.h"
#include "tests/bench/floors_spheres.h"
#include "tests/verify/pile.h"

enum { SPHERES = 500, SETTLE = 1200, REST = 400, FALLEN = 60 };
static const double width = 0.8;

static void steps_run(void *context, uint64_t count)
{
    struct pile *const p = context;

    pile_steps(p, count);
    bench_use(pile_velocities(p));
}

static bool balances(struct pile *p, const char *what)
{
    pile_begin(p);
    for (int i = 0; i < REST; i++) {
        pile_step(p);
    }
    (void)fprintf(stderr,
                  "%s: %.0f contacts push; missing momentum %.1e, floor over weight %.7f, "
                  "overlap %.1e m\n",
                  what, p->contacts / p->steps, p->momentum, p->floor / p->steps, p->overlap);
    return p->momentum < 1e-9 && fabs(p->floor / p->steps - 1.) < 1e-3 && p->overlap < 1e-4;
}

/* From 0.3 s on, when the first layers have met the floor. */
static void measure_drop(void)
{
    static const char what[] = "500 spheres falling, default settings";
    if (!bench_wants(what)) {
        return;
    }
    char *const text =
        pile_text(SPHERES, width, "'solver': {'integrator': 'MoreauJean', 'stepSize': 0.005}");
    struct pile p = {.s = pile_read(text)};

    free(text);
    pile_steps(&p, FALLEN);
    (void)fprintf(stderr, "%s: %zu contacts\n", what, mech_sim_contacts(p.s));
    bench_tell(what, steps_run, &p);
    pile_destroy(&p);
}

static void looks_run(void *context, uint64_t count)
{
    struct mech_logged at[1];
    struct mech_event_log log = {.at = at, .room = 1};
    const struct mech_step_request r = {.kind = MECH_STEP_COUNT, .count = count, .events = &log};
    struct mech_step_report report;

    if (mech_sim_step(context, &r, &report)) {
        (void)fprintf(stderr, "%s\n", report.reason);
        exit(2);
    }
}

/* The load of 1 N moves its mass; the drag was against it first, and keeps that kink. */
static void measure_looks(void)
{
    static const char what[] = "64 spheres by penalty, a step and its events";
    enum { N = 64, OF_ONE = 400 };
    char *const text = malloc((size_t)(N + 4) * OF_ONE), *at = text;

    if (!text || !bench_wants(what)) {
        free(text);
        return;
    }
    at += sprintf(at, "{'mechd': 1, 'gravity': [0, 0, -9.81], 'contact': {'method': 'penalty'},"
                      "'materials': [{'name': 'm', 'compliance': 1e-4, 'damping': 20}], 'nodes': ["
                      "{'name': 'n', 'type': 'Node1D', 'initialVelocities': [-1e-5]}");
    for (int i = 0; i < N; i++) {
        at += sprintf(at,
                      ", {'name': 'n%d', 'type': 'NodePoint', 'referenceCoordinates':"
                      "[%g, %g, 0.0990]}",
                      i, 0.25 * (i % 8), 0.25 * (i / 8));
    }
    at += sprintf(at, "], 'objects': [{'name': 'g', 'type': 'Ground', 'geometry': [{'shape':"
                      "'Plane', 'material': 'm'}]}, {'name': 'd', 'type': 'Mass1D', 'node': 'n',"
                      "'physicsMass': 1}, {'name': 'drag', 'type': 'CoordinateSpringDamper',"
                      "'markers': ['o', 'x'], 'springForceUserFunction': '=1e-30*v*abs(v)'}");
    for (int i = 0; i < N; i++) {
        at += sprintf(at,
                      ", {'name': 'b%d', 'type': 'MassPoint', 'node': 'n%d', 'physicsMass': 1,"
                      "'geometry': [{'shape': 'Sphere', 'radius': 0.1, 'material': 'm'}]}",
                      i, i);
    }
    (void)sprintf(at, "], 'markers': [{'name': 'o', 'type': 'MarkerGroundCoordinate'}, {'name':"
                      "'x', 'type': 'MarkerNodeCoordinate', 'node': 'n', 'coordinate': 0}],"
                      "'loads': [{'name': 'F', 'type': 'LoadCoordinate', 'marker': 'x', 'load':"
                      "1}], 'solver': {'integrator': 'ExplicitEuler', 'stepSize': 1e-4}}");
    struct mech_sim *const sim = pile_read(text);

    free(text);
    looks_run(sim, 20);
    bench_tell(what, looks_run, sim);
    mech_sim_destroy(sim);
}

int main(int argc, char **argv)
{
    static const double margins[] = {0., 1.4e-2};
    static const char *const names[] = {"500 spheres, a step", "500 spheres, 1,900 contacts"};
    bool good = true;

    bench_begin("spheres", argc, argv);
    if (!__builtin_cpu_supports("avx2")) {
        bench_skip(names[0], "the processor has no AVX2");
        bench_skip(names[1], "the processor has no AVX2");
        return bench_end();
    }
    for (int k = 0; k < 2; k++) {
        struct pile p;
        struct floor_spheres floor;

        if (!bench_wants(names[k])) {
            continue;
        }
        pile_create(&p, SPHERES, width, margins[k]);
        pile_steps(&p, SETTLE);
        good = (bench_is_quick() || balances(&p, names[k])) && good;
        floor_spheres_init(&floor, margins[k], SETTLE);
        bench_compare(names[k], steps_run, &p, floor_spheres_step, &floor);
        (void)fprintf(stderr, "the floor looks at %d contacts\n", floor.touches);
        floor_spheres_fini(&floor);
        pile_destroy(&p);
    }
    measure_drop();
    measure_looks();
    return bench_end() || !good;
}
