/* Events of bodies that fall on a plane, bounce, tip, slide and roll (sim/events.c): commands
 * of one internal step log what a long one does, and what closes opens before it closes again. */
#include "solver/step/event_log.h"
#include "tests/unit/model.h"

#include <string.h>

enum { DROPS = 60, ROOM = 2000 };

/* a number in [0, 1] that is the same in every run */
static double number(uint64_t *seed)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return (double)(*seed >> 11) / 9007199254740992.;
}

static struct mech_sim *drop(int k, uint64_t *seed, int *steps)
{
    static const char *const shapes[] = {
        "'Box', 'size': [0.3, 0.2, 0.1]", "'Capsule', 'radius': 0.06, 'length': 0.2",
        "'Cylinder', 'radius': 0.1, 'length': 0.15", "'Sphere', 'radius': 0.1",
        "'Box', 'size': [0.1, 0.1, 0.4]"};
    const double theta = k % 3 ? 0.5 : 1., h = k % 7 < 3 ? 1e-3 : 5e-3;
    const double mu = k % 2 ? 0.6 : 0., e = k % 4 ? 0.4 : 0.;
    double r[4] = {1., number(seed) - 0.5, number(seed) - 0.5, number(seed) - 0.5};
    const double norm = sqrt(r[0] * r[0] + r[1] * r[1] + r[2] * r[2] + r[3] * r[3]);
    const double vx = number(seed) - 0.5, vy = number(seed) - 0.5;
    char text[2048];

    *steps = (int)(1.2 / h);
    snprintf(text, sizeof text,
             "{'mechd': 1, 'gravity': [0, 0, -9.81], 'nodes': [{'name': 'n', 'type':"
             "'NodeRigidBodyEP', 'referenceCoordinates': [0, 0, 0.35, %.17g, %.17g, %.17g, %.17g],"
             "'initialVelocities': [%.17g, %.17g, 0, 0, 0, 0, 0]}], 'objects': [{'name': 'g',"
             "'type': 'Ground', 'geometry': [{'shape': 'Plane', 'material': {'friction': %g,"
             "'restitution': %g}}]}, {'name': 'b', 'type': 'RigidBody', 'node': 'n',"
             "'physicsMass': 1, 'physicsInertia': [0.005, 0.009, 0.012, 0, 0, 0], 'geometry':"
             "[{'shape': %s, 'material': {'friction': %g, 'restitution': %g}}]}],"
             "'solver': {'integrator': 'MoreauJean', 'theta': %g, 'stepSize': %g}}",
             r[0] / norm, r[1] / norm, r[2] / norm, r[3] / norm, vx, vy, mu, e, shapes[k % 5], mu,
             e, theta, h);
    return model_of(text);
}

/* 0 or 1: closed after the event; −1: it cannot be, where `closed` was so before. */
static int after(int closed, enum mech_logged_kind kind)
{
    if (kind == MECH_LOGGED_CLOSES) {
        return closed ? -1 : 1;
    }
    if (kind == MECH_LOGGED_OPENS) {
        return closed ? 0 : -1;
    }
    return kind == MECH_LOGGED_IMPACT && !closed ? 0 : -1;
}

static bool same(const struct mech_logged *a, const struct mech_logged *b)
{
    return a->kind == b->kind && a->of == b->of && a->since == b->since && a->time == b->time &&
           a->speed == b->speed && strcmp(a->item, b->item) == 0 && strcmp(a->with, b->with) == 0;
}

static void commands_of_one_step_log_what_a_long_one_does(void)
{
    static struct mech_logged whole[ROOM], parts[ROOM];
    uint64_t seed = 26;
    size_t events = 0;
    int k = 0;

    for (; k < DROPS && unit_case(k); k++) {
        struct mech_step_report report;
        struct mech_event_log a = {.at = whole, .room = ROOM}, b = {.at = parts, .room = ROOM};
        uint64_t again = seed, unseen = seed;
        int steps;
        struct mech_sim *const s = drop(k, &seed, &steps), *const o = drop(k, &again, &steps);
        struct mech_step_request r = {
            .kind = MECH_STEP_COUNT, .count = (uint64_t)steps, .events = &a};
        struct mech_sim *const blind = drop(k, &unseen, &steps);
        size_t n = 0;
        int closed = 0;

        CU_ASSERT_EQUAL(mech_sim_step(s, &r, &report), 0);
        r.count = 1;
        r.events = &b;
        for (int i = 0; i < steps; i++) {
            CU_ASSERT_EQUAL(mech_sim_step(o, &r, &report), 0);
        }
        while (n < a.count && n < b.count && same(&whole[n], &parts[n])) {
            n++;
        }
        if (a.count != b.count || n != a.count) {
            fprintf(stderr, "drop %d: %zu events, %zu by steps, alike until %zu\n", k, a.count,
                    b.count, n);
        }
        CU_ASSERT(a.count == b.count && n == a.count && a.total == a.count);
        for (n = 0; n < a.count && closed >= 0; n++) {
            closed = after(closed, whole[n].kind);
        }
        if (closed < 0) {
            fprintf(stderr, "drop %d: %s at %.6g\n", k, mech_logged_kinds[whole[n - 1].kind],
                    whole[n - 1].time);
        }
        CU_ASSERT(closed >= 0);
        /* looking for events changes no bit */
        CU_ASSERT_EQUAL(model_steps(blind, (uint64_t)steps), 0);
        CU_ASSERT_EQUAL(mech_sim_state_hash(s), mech_sim_state_hash(blind));
        CU_ASSERT_EQUAL(mech_sim_state_hash(o), mech_sim_state_hash(blind));
        mech_sim_destroy(blind);
        events += a.count;
        mech_sim_destroy(s);
        mech_sim_destroy(o);
    }
    CU_ASSERT(events > (size_t)k);
}

/* one internal step with its events, of a simulation that may return early */
static void one_step(struct mech_sim *s, struct mech_event_log *log, struct mech_logged *at)
{
    struct mech_step_report report;
    const struct mech_step_request r = {
        .kind = MECH_STEP_COUNT, .count = 1, .events = log, .early_return = true};

    *log = (struct mech_event_log){.at = at, .room = ROOM};
    CU_ASSERT_EQUAL_FATAL(mech_sim_step(s, &r, &report), 0);
}

/* what happens follows from the state: no memory of the process adds to it */
static void restored_at_each_step_they_log_the_same(void)
{
    static struct mech_logged one[ROOM], two[ROOM];
    uint64_t seed = 26;
    size_t events = 0, differ = 0;
    int k = 0;

    for (; k < DROPS && unit_case(k); k++) {
        uint64_t again = seed;
        int steps;
        struct mech_sim *const s = drop(k, &seed, &steps), *const o = drop(k, &again, &steps);
        void *const bytes = malloc(mech_sim_snapshot_size(s));

        CU_ASSERT_PTR_NOT_NULL_FATAL(bytes);
        for (int i = 0; i < steps; i++) {
            struct mech_event_log a, b;
            const size_t size = mech_sim_snapshot_write(s, bytes);

            CU_ASSERT_EQUAL_FATAL(mech_sim_snapshot_read(o, bytes, size, NULL), 0);
            one_step(s, &a, one);
            one_step(o, &b, two);
            bool alike = a.count == b.count;
            for (size_t n = 0; alike && n < a.count; n++) {
                alike = same(&one[n], &two[n]);
            }
            if (!alike) {
                fprintf(stderr, "drop %d, step %d: %zu events %s, restored %zu %s\n", k, i, a.count,
                        a.count ? mech_logged_kinds[one[0].kind] : "", b.count,
                        b.count ? mech_logged_kinds[two[0].kind] : "");
            }
            differ += !alike;
            events += a.count;
            /* it goes on, so that its last commands are not those that led where it is restored */
            for (int n = 0; n < 2; n++) {
                one_step(o, &b, two);
            }
        }
        free(bytes);
        mech_sim_destroy(s);
        mech_sim_destroy(o);
    }
    CU_ASSERT_EQUAL(differ, 0);
    CU_ASSERT(events > (size_t)k);
}

/* A box that spins fast about y and hits with a corner, after which it leaves: an impact and no
 * more, by a turn beyond what rows follow and within it. */
static void a_box_that_spins_fast_has_impacts(void)
{
    static struct mech_logged at[ROOM];
    static const struct {
        const char *spin, *theta, *size;
    } cases[] = {{"60", "0.5", "5e-3"},
                 {"60", "1", "5e-3"},
                 {"200", "1", "1e-3"},
                 {"200", "0.5", "1e-3"},
                 {"40", "0.5", "5e-3"}};

    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        char text[1536];
        size_t impacts = 0;

        snprintf(text, sizeof text,
                 "{'mechd': 1, 'gravity': [0, 0, -9.81], 'nodes': [{'name': 'n', 'type':"
                 "'NodeRigidBodyEP', 'referenceCoordinates': [0, 0, 0.25, 1, 0, 0, 0],"
                 "'initialVelocities': [0, 0, 0, 0, 0, %s, 0]}], 'objects': [{'name': 'ground',"
                 "'type': 'Ground', 'geometry': [{'shape': 'Plane', 'material': {'friction': 0,"
                 "'restitution': 0.5}}]}, {'name': 'body', 'type': 'RigidBody', 'node': 'n',"
                 "'physicsMass': 1, 'physicsInertia': [0.006, 0.006, 0.006, 0, 0, 0], 'geometry':"
                 "[{'shape': 'Box', 'size': [0.2, 0.2, 0.2], 'material': {'friction': 0,"
                 "'restitution': 0.5}}]}], 'solver': {'integrator': 'MoreauJean', 'theta': %s,"
                 "'stepSize': %s}}",
                 cases[k].spin, cases[k].theta, cases[k].size);
        struct mech_sim *const s = model_of(text);
        for (int i = 0; i < 300; i++) {
            const double before = model_state(s).v[2];
            struct mech_event_log log;

            one_step(s, &log, at);
            if (model_state(s).v[2] < 0.5 || before > 0.) {
                continue;
            }
            impacts++;
            const bool met = log.count == 1 && at[0].kind == MECH_LOGGED_IMPACT && at[0].speed > 0.;
            if (!met) {
                fprintf(stderr, "spin %s, theta %s, step %d: %zu events, %s at %g m/s\n",
                        cases[k].spin, cases[k].theta, i, log.count,
                        log.count ? mech_logged_kinds[at[0].kind] : "",
                        log.count ? at[0].speed : 0.);
            }
            CU_ASSERT(met);
        }
        CU_ASSERT(impacts > 0);
        mech_sim_destroy(s);
    }
}

UNIT_TESTS(UNIT_TEST(commands_of_one_step_log_what_a_long_one_does),
           UNIT_TEST(restored_at_each_step_they_log_the_same),
           UNIT_TEST(a_box_that_spins_fast_has_impacts))
