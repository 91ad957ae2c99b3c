/* Events of a step: impacts, contacts, ropes, their times, and the early return. */
#include "tests/unit/alloc_count.h"
#include "tests/unit/model.h"

#include <string.h>

#define BALL(e, solver)                                                                            \
    "{'mechd': 1, 'objects': [{'name': 's', 'type': 'LagrangianLinearTIDS', 'M': [[1]],"           \
    "'q0': [1.1], 'Fext': [-9.81]}], 'interactions': [{'name': 'floor', 'systems': ['s'],"         \
    "'relation': {'type': 'LagrangianLinearTIR', 'H': [[1]], 'b': [-0.1]},"                        \
    "'law': {'type': 'NewtonImpact', 'e': " e "}}], 'solver': {" solver "}}"
#define MOREAU "'integrator': 'MoreauJean', 'stepSize': 0.01"
#define DRIVEN "'integrator': 'EventDriven', 'stepSize': 0.1"

enum { ROOM = 64 };

struct heard {
    struct mech_logged at[ROOM];
    struct mech_event_log log;
    struct mech_step_report report;
};

/* One command with its events; `early`: it returns at the first. */
static void step(struct mech_sim *s, struct mech_step_request r, bool early, struct heard *h)
{
    h->log = (struct mech_event_log){.at = h->at, .room = ROOM};
    r.events = &h->log;
    r.early_return = early;
    const int code = mech_sim_step(s, &r, &h->report);

    if (code) {
        fprintf(stderr, "step: %s\n", h->report.reason);
    }
    CU_ASSERT_EQUAL_FATAL(code, 0);
    CU_ASSERT_EQUAL(h->log.count, h->log.total);
}

static void until(struct mech_sim *s, double t, struct heard *h)
{
    step(s, (struct mech_step_request){.kind = MECH_STEP_UNTIL, .until = t}, false, h);
}

static bool is(const struct mech_logged *e, enum mech_logged_kind kind, const char *item)
{
    const bool same = e->kind == kind && strcmp(e->item, item) == 0;

    if (!same) {
        fprintf(stderr, "%s of %s at %.17g\n", mech_logged_kinds[e->kind], e->item, e->time);
    }
    return same;
}

/* the fall takes √(2/g) and ends at √(2 g); the rebound leaves at once */
static void a_bounce_is_an_impact_in_its_internal_step(void)
{
    const double t = sqrt(2. / 9.81);
    struct mech_sim *const s = model_of(BALL("0.9", MOREAU));
    struct heard h;

    until(s, 0.4, &h);
    CU_ASSERT_EQUAL(h.log.total, 0);
    until(s, 0.6, &h);
    CU_ASSERT_EQUAL_FATAL(h.log.count, 1);
    CU_ASSERT(is(&h.at[0], MECH_LOGGED_IMPACT, "floor"));
    CU_ASSERT(h.at[0].of == MECH_LOGGED_INTERACTION && h.at[0].with == NULL && h.at[0].row == 0);
    CHECK_NEAR(h.at[0].time - h.at[0].since, 0.01, 1e-15);
    CHECK_NEAR(h.at[0].time, t, 0.011);
    CHECK_NEAR(h.at[0].speed, 9.81 * t, 9.81 * 0.011);
    mech_sim_destroy(s);
}

static void a_contact_that_lasts_closes_after_its_impact(void)
{
    struct mech_sim *const s = model_of(
        "{'mechd': 1, 'objects': [{'name': 's', 'type': 'LagrangianLinearTIDS', 'M': [[1]],"
        "'q0': [1.1], 'Fext': ['=-9.81 + 30*(t > 0.85)']}], 'interactions': [{'name': 'floor',"
        "'systems': ['s'], 'relation': {'type': 'LagrangianLinearTIR', 'H': [[1]], 'b': [-0.1]},"
        "'law': {'type': 'NewtonImpact', 'e': 0}}], 'solver': {" MOREAU "}}");
    struct heard h;

    until(s, 0.6, &h);
    CU_ASSERT_EQUAL_FATAL(h.log.count, 2);
    CU_ASSERT(is(&h.at[0], MECH_LOGGED_IMPACT, "floor"));
    CU_ASSERT(is(&h.at[1], MECH_LOGGED_CLOSES, "floor"));
    CU_ASSERT_EQUAL(h.at[0].time, h.at[1].time);
    CU_ASSERT_EQUAL(h.at[1].speed, 0.);

    /* at rest nothing happens, in this command and in the next ones */
    until(s, 0.7, &h);
    CU_ASSERT_EQUAL(h.log.total, 0);
    until(s, 0.8, &h);
    CU_ASSERT_EQUAL(h.log.total, 0);

    /* and it opens once, where it is lifted */
    until(s, 0.9, &h);
    CU_ASSERT_EQUAL_FATAL(h.log.count, 2);
    const int opens = h.at[0].of == MECH_LOGGED_INTERACTION ? 0 : 1;
    CU_ASSERT(is(&h.at[opens], MECH_LOGGED_OPENS, "floor"));
    CU_ASSERT(is(&h.at[1 - opens], MECH_LOGGED_SWITCHES, "s"));
    mech_sim_destroy(s);
}

/* t_1 = √(2/g), then flights of 2 e^n t_1 */
static void event_driven_impacts_have_their_own_times(void)
{
    struct mech_sim *const s = model_of(BALL("0.5", DRIVEN));
    const double first = sqrt(2. / 9.81);
    double t = first, flight = first, speed = 9.81 * first;
    struct heard h;

    until(s, 0.99 * first * 2.9, &h);
    CU_ASSERT_EQUAL_FATAL(h.log.count, 4);
    CU_ASSERT_EQUAL(h.report.impacts, 4);
    for (int k = 0; k < 4; k++) {
        CU_ASSERT(is(&h.at[k], MECH_LOGGED_IMPACT, "floor"));
        CHECK_NEAR(h.at[k].time, t, 1e-11);
        CU_ASSERT_EQUAL(h.at[k].since, h.at[k].time);
        CHECK_NEAR(h.at[k].speed, speed, 1e-10);
        t += flight;
        flight *= 0.5;
        speed *= 0.5;
    }
    until(s, 3. * first + 0.01, &h);
    CU_ASSERT(h.log.count > 1 && is(&h.at[h.log.count - 1], MECH_LOGGED_CLOSES, "floor"));
    mech_sim_destroy(s);
}

/* 1 kg falls 0.8 m along a rope of 1 m: 0.4 s, 4 m/s */
static void a_rope_is_stretched_and_goes_slack(void)
{
    struct mech_sim *const s = model_of(
        "{'mechd': 1, 'gravity': [0, -10, 0], 'nodes': [{'name': 'g', 'type': 'NodePointGround'},"
        "{'name': 'n', 'type': 'NodePoint2D', 'referenceCoordinates': [0, -0.2]}], 'objects': "
        "[{'name': 'b', 'type': 'MassPoint2D',"
        "'node': 'n', 'physicsMass': 1}, {'name': 'rope', 'type': 'DistanceConstraint',"
        "'markers': ['mg', 'mn'], 'distance': 1, 'unilateral': true}], 'markers': ["
        "{'name': 'mg', 'type': 'MarkerNodePosition', 'node': 'g'},"
        "{'name': 'mn', 'type': 'MarkerNodePosition', 'node': 'n'}],"
        "'loads': [{'name': 'F', 'type': 'LoadForceVector', 'marker': 'mn',"
        "'load': [0, '=20*(t > 1)', 0]}], 'solver': {'stepSize': 0.001}}");
    const double t = 0.4;
    struct heard h;

    until(s, 0.9, &h);
    CU_ASSERT_EQUAL_FATAL(h.log.count, 2);
    CU_ASSERT(is(&h.at[0], MECH_LOGGED_IMPACT, "rope") && h.at[0].of == MECH_LOGGED_JOINT);
    CHECK_NEAR(h.at[0].time, t, 1e-9);
    CHECK_NEAR(h.at[0].speed, 10. * t, 1e-7);
    CU_ASSERT(is(&h.at[1], MECH_LOGGED_CLOSES, "rope"));
    CU_ASSERT(h.at[1].since <= t && h.at[1].time >= t);
    until(s, 1.1, &h);
    CU_ASSERT_EQUAL_FATAL(h.log.count, 2);
    const int opens = h.at[0].of == MECH_LOGGED_JOINT ? 0 : 1;
    CU_ASSERT(is(&h.at[opens], MECH_LOGGED_OPENS, "rope"));
    CU_ASSERT(is(&h.at[1 - opens], MECH_LOGGED_SWITCHES, "F"));
    CHECK_NEAR(h.at[opens].time, 1., 0.002);
    mech_sim_destroy(s);
}

/* A substep that is refused has had no events, whatever it met. */
static void substeps_that_are_refused_log_nothing(void)
{
    struct mech_sim *const s = model_of(
        "{'mechd': 1, 'gravity': [0, -10, 0], 'nodes': [{'name': 'g', 'type': 'NodePointGround'},"
        "{'name': 'n', 'type': 'NodePoint2D', 'referenceCoordinates': [0, -0.2]}], 'objects': "
        "[{'name': 'b', 'type': 'MassPoint2D',"
        "'node': 'n', 'physicsMass': 1}, {'name': 'rope', 'type': 'DistanceConstraint',"
        "'markers': ['mg', 'mn'], 'distance': 1, 'unilateral': true}], 'markers': ["
        "{'name': 'mg', 'type': 'MarkerNodePosition', 'node': 'g'},"
        "{'name': 'mn', 'type': 'MarkerNodePosition', 'node': 'n'}],"
        "'solver': {'integrator': 'GeneralizedAlpha', 'stepSize': 0.3, 'adaptive': {'mode':"
        "'error', 'absoluteTolerance': 1e-5, 'relativeTolerance': 1e-5}}}");
    struct heard h;

    until(s, 0.6, &h);
    CU_ASSERT(h.report.refused > 0);
    CU_ASSERT_EQUAL_FATAL(h.log.count, 2);
    CU_ASSERT(is(&h.at[0], MECH_LOGGED_IMPACT, "rope"));
    CHECK_NEAR(h.at[0].time, 0.4, 1e-5); // the tolerance of the substeps
    CU_ASSERT(is(&h.at[1], MECH_LOGGED_CLOSES, "rope"));
    mech_sim_destroy(s);
}

/* a ball of radius 0.5 falls 0.5 m on a floor, without and with restitution */
static void bodies_meet_by_their_shapes(void)
{
    static const char *const materials[] = {"0", "0.5"};
    const double t = sqrt(2. * 0.5 / 9.81);

    for (int k = 0; k < 2; k++) {
        char text[2048];
        struct heard h;

        snprintf(text, sizeof text,
                 "{'mechd': 1, 'gravity': [0, 0, -9.81], 'nodes': [{'name': 'n', 'type':"
                 "'NodeRigidBodyEP', 'referenceCoordinates': [0, 0, 1, 1, 0, 0, 0]}], 'objects':"
                 "[{'name': 'ground', 'type': 'Ground', 'geometry': [{'shape': 'Plane',"
                 "'material': {'restitution': %s}}]}, {'name': 'ball', 'type': 'RigidBody',"
                 "'node': 'n', 'physicsMass': 1, 'physicsInertia': [0.1, 0.1, 0.1, 0, 0, 0],"
                 "'geometry': [{'shape': 'Sphere', 'radius': 0.5, 'material': {'restitution':"
                 "%s}}]}], 'solver': {'integrator': 'MoreauJean', 'theta': 1, 'stepSize': 0.01}}",
                 materials[k], materials[k]);
        struct mech_sim *const s = model_of(text);
        until(s, 0.5, &h);
        CU_ASSERT_EQUAL_FATAL(h.log.count, k == 0 ? 2 : 1);
        CU_ASSERT(is(&h.at[0], MECH_LOGGED_IMPACT, "ground") && h.at[0].of == MECH_LOGGED_BODIES);
        CU_ASSERT_STRING_EQUAL(h.at[0].with, "ball");
        CHECK_NEAR(h.at[0].time, t, 0.021);
        CHECK_NEAR(h.at[0].speed, 9.81 * t, 9.81 * 0.021);
        CU_ASSERT(k == 1 || is(&h.at[1], MECH_LOGGED_CLOSES, "ground"));
        /* the impact is over: the next command has no part of it */
        until(s, 0.6, &h);
        CU_ASSERT_EQUAL(h.log.total, 0);
        mech_sim_destroy(s);
    }
}

/* A body of 1 kg over the plane z = 0, with its centre at z; all lengths and speeds of m/s, and g,
 * times `scale`. */
struct fallen {
    const char *shape;
    double z, e, theta, scale;
    double turn[4], speed; /* Euler parameters of any length; upward */
};

static struct mech_sim *over_a_plane(const struct fallen *f)
{
    char text[2048];
    const double c = f->scale, *const e = f->turn;
    const double n = 1. / sqrt(e[0] * e[0] + e[1] * e[1] + e[2] * e[2] + e[3] * e[3]);

    snprintf(text, sizeof text,
             "{'mechd': 1, 'gravity': [0, 0, %.17g], 'nodes': [{'name': 'n', 'type':"
             "'NodeRigidBodyEP', 'referenceCoordinates': [0, 0, %.17g, %.17g, %.17g, %.17g, %.17g],"
             "'initialVelocities': [0, 0, %.17g, 0, 0, 0, 0]}], 'objects':"
             "[{'name': 'ground', 'type': 'Ground', 'geometry': [{'shape': 'Plane',"
             "'material': {'restitution': %g}}]}, {'name': 'body', 'type': 'RigidBody',"
             "'node': 'n', 'physicsMass': 1, 'physicsInertia': [%g, %g, %g, 0, 0, 0],"
             "'geometry': [{'shape': %s, 'material': {'restitution': %g}}]}],"
             "'solver': {'integrator': 'MoreauJean', 'theta': %g, 'stepSize': 0.01}}",
             -9.81 * c, f->z * c, n * e[0], n * e[1], n * e[2], n * e[3], f->speed * c, f->e,
             0.1 * c * c, 0.1 * c * c, 0.1 * c * c, f->shape, f->e, f->theta);
    return model_of(text);
}

#define SPHERE "'Sphere', 'radius': 0.5"
#define BOX "'Box', 'size': [1, 1, 1]"

/* A box has up to four points of contact, and is one pair: flat or tilted, whether it bounces or
 * stays, an impact of the pair is logged once. */
static void an_impact_of_several_points_is_one(void)
{
    static const struct fallen boxes[] = {{BOX, 1., 0.5, 1., 1., {1., 0., 0., 0.}, 0.},
                                          {BOX, 1., 0., 1., 1., {1., 0., 0., 0.}, 0.},
                                          {BOX, 1., 0.5, 0.5, 1., {1., 0., 0., 0.}, 0.},
                                          {BOX, 1.2, 0.5, 1., 1., {0.99, 0.1, 0., 0.}, 0.},
                                          {BOX, 1.2, 0.2, 1., 1., {0.98, 0.1, 0.05, 0.}, 0.},
                                          {BOX, 1.2, 0., 1., 1., {0.99, 0.1, 0., 0.}, 0.}};

    for (size_t k = 0; k < sizeof boxes / sizeof *boxes; k++) {
        struct mech_sim *const s = over_a_plane(&boxes[k]);
        struct heard h;
        size_t impacts = 0;

        until(s, 0.45, &h);
        for (size_t i = 0; i < h.log.count; i++) {
            impacts += h.at[i].kind == MECH_LOGGED_IMPACT;
            CU_ASSERT(h.at[i].kind != MECH_LOGGED_IMPACT || h.at[i].speed > 1.);
            for (size_t j = 0; j < i; j++) {
                CU_ASSERT(h.at[i].kind != h.at[j].kind || h.at[i].time > h.at[j].time);
            }
        }
        CU_ASSERT(impacts > 0);
        CU_ASSERT(k > 2 || h.log.count == (k == 1 ? 2 : 1));
        mech_sim_destroy(s);
    }
}

/* At any theta the contacts of the first step are those of the state where it starts. */
static void the_first_step_can_have_an_impact(void)
{
    static const double thetas[] = {0.5, 1.}, es[] = {0., 0.5}, scales[] = {1., 1e-6};

    for (int k = 0; k < 8; k++) {
        const struct fallen f = {SPHERE, 0.504, k < 4 ? es[k % 2] : 0., thetas[k / 2 % 2], 1.,
                                 {1.},   -1.};
        struct fallen small = f;
        struct heard h;

        small.scale = scales[k / 4];
        small.shape = k / 4 ? "'Sphere', 'radius': 0.5e-6" : f.shape;
        struct mech_sim *const s = over_a_plane(&small);
        step(s, (struct mech_step_request){.kind = MECH_STEP_COUNT, .count = 1}, false, &h);
        CU_ASSERT_EQUAL(h.log.count, f.e > 0. ? 1 : 2);
        CU_ASSERT(h.log.count > 0 && is(&h.at[0], MECH_LOGGED_IMPACT, "ground"));
        CU_ASSERT(f.e > 0. || (h.log.count > 1 && is(&h.at[1], MECH_LOGGED_CLOSES, "ground")));
        CHECK_NEAR(h.at[0].speed, small.scale, 1e-6 * small.scale);
        mech_sim_destroy(s);
    }
}

/* What rests, in any units, has no event: from the start, and after its state has been set. */
static void what_rests_where_the_state_was_set_has_no_event(void)
{
    static const struct fallen bodies[] = {
        {SPHERE, 0.5, 0., 1., 1., {1., 0., 0., 0.}, 0.},
        {SPHERE, 0.5, 0.5, 0.5, 1., {1., 0., 0., 0.}, 0.},
        {BOX, 0.5, 0., 1., 1., {1., 0., 0., 0.}, 0.},
        {BOX, 0.5, 0.5, 0.5, 1., {1., 0., 0., 0.}, 0.},
        {"'Sphere', 'radius': 500", 0.5 + 1e-12, 0., 1., 1e3, {1., 0., 0., 0.}, 0.}};

    for (size_t k = 0; k < sizeof bodies / sizeof *bodies; k++) {
        struct mech_sim *const s = over_a_plane(&bodies[k]), *const o = over_a_plane(&bodies[k]);
        const struct mech_step_request r = {.kind = MECH_STEP_COUNT, .count = 20};
        struct heard h;

        step(s, r, true, &h);
        CU_ASSERT_EQUAL(h.log.total, 0);
        CU_ASSERT_EQUAL(model_steps(o, 20), 0);
        struct mech_state_view at = {.time = NAN};
        CU_ASSERT_EQUAL(mech_sim_set_state(s, &at), 0);
        CU_ASSERT_EQUAL(mech_sim_set_state(o, &at), 0);
        step(s, r, true, &h);
        CU_ASSERT_EQUAL(h.log.total, 0);
        CU_ASSERT_EQUAL(h.report.ended, MECH_ENDED_AS_REQUESTED);
        /* looking for them changes nothing */
        CU_ASSERT_EQUAL(model_steps(o, 20), 0);
        CU_ASSERT_EQUAL(mech_sim_state_hash(s), mech_sim_state_hash(o));

        /* and it is met where it has been put above the plane, with a speed downward */
        double q[7], v[7];
        memcpy(q, model_state(s).q, sizeof q);
        memcpy(v, model_state(s).v, 6 * sizeof *v);
        q[2] += 0.004 * bodies[k].scale;
        v[2] = -bodies[k].scale;
        at.q = q;
        at.v = v;
        CU_ASSERT_EQUAL(mech_sim_set_state(s, &at), 0);
        step(s, r, true, &h);
        CU_ASSERT(h.log.count > 0 && is(&h.at[0], MECH_LOGGED_IMPACT, "ground"));
        CU_ASSERT_EQUAL(h.report.steps, 1);
        mech_sim_destroy(s);
        mech_sim_destroy(o);
    }
}

/* A row at rest that the impact of another one loads has none of its own, though its speed is a
 * difference that rounds. */
static void a_resting_row_is_not_met_by_what_others_push(void)
{
    for (int k = 1; k <= 20; k++) {
        char text[1024];
        struct heard h;

        snprintf(text, sizeof text,
                 "{'mechd': 1, 'objects': [{'name': 's', 'type': 'LagrangianLinearTIDS',"
                 "'M': [[1, 0], [0, 1]], 'v0': [%d, 1], 'Fext': [-1, %d]}], 'interactions': ["
                 "{'name': 'slope', 'systems': ['s'], 'relation': {'type': 'LagrangianLinearTIR',"
                 "'H': [[0.1, %.17g]]}, 'law': {'type': 'NewtonImpact', 'e': 0}},"
                 "{'name': 'wall', 'systems': ['s'], 'relation': {'type': 'LagrangianLinearTIR',"
                 "'H': [[0, -1]], 'b': [0.25]}, 'law': {'type': 'NewtonImpact', 'e': 0}}],"
                 "'solver': {" DRIVEN "}}",
                 -k, -k, 0.1 * k);
        struct mech_sim *const s = model_of(text);
        until(s, 0.4, &h);
        CU_ASSERT_EQUAL(h.log.count, 2);
        CU_ASSERT(h.log.count > 0 && is(&h.at[0], MECH_LOGGED_IMPACT, "wall"));
        CU_ASSERT(h.log.count > 1 && is(&h.at[1], MECH_LOGGED_CLOSES, "wall"));
        mech_sim_destroy(s);
    }
}

/* A body on a plane with friction, at (0, 0, z), turned by e, with a velocity along x and a spin
 * about y. */
#define ON_A_PLANE(z, e, v, spin, shape, theta)                                                    \
    "{'mechd': 1, 'gravity': [0, 0, -9.81], 'nodes': [{'name': 'n', 'type': 'NodeRigidBodyEP',"    \
    "'referenceCoordinates': [0, 0, " z ", " e "], 'initialVelocities': [" v ", 0, 0, 0, 0,"       \
    " " spin ", 0]}], 'objects': [{'name': 'ground', 'type': 'Ground', 'geometry': [{"             \
    "'shape': 'Plane', 'material': {'friction': 0.6}}]}, {'name': 'body', 'type': 'RigidBody',"    \
    "'node': 'n', 'physicsMass': 1, 'physicsInertia': [0.004, 0.004, 0.004, 0, 0, 0],"             \
    "'geometry': [{'shape': " shape ", 'material': {'friction': 0.6}}]}],"                         \
    "'solver': {'integrator': 'MoreauJean', 'theta': " theta ", 'stepSize': 1e-3}}"
#define LEVEL "1, 0, 0, 0"
#define TILTED "0.98, 0, 0.199, 0"
#define ROUND "'Sphere', 'radius': 0.1"
#define ECCENTRIC "'Sphere', 'radius': 0.1, 'position': [0, 0, 0.02]"
#define CUBE "'Box', 'size': [0.2, 0.2, 0.2]"

/* The place of contact moves along with what rolls: nothing meets or parts. */
static void what_rolls_has_no_event(void)
{
    static const char *const models[] = {ON_A_PLANE("0.1", LEVEL, "1", "5", ROUND, "0.5"),
                                         ON_A_PLANE("0.1", LEVEL, "1", "5", ROUND, "1"),
                                         ON_A_PLANE("0.1", LEVEL, "1", "-30", ROUND, "0.5"),
                                         ON_A_PLANE("0.1", LEVEL, "1", "-30", ROUND, "1"),
                                         ON_A_PLANE("0.08", LEVEL, "0.8", "5", ECCENTRIC, "0.5"),
                                         ON_A_PLANE("0.08", LEVEL, "0.8", "5", ECCENTRIC, "1"),
                                         ON_A_PLANE("0.1", LEVEL, "1", "0", CUBE, "0.5")};

    for (size_t k = 0; k < sizeof models / sizeof *models; k++) {
        struct mech_sim *const s = model_of(models[k]);
        struct heard h;

        step(s, (struct mech_step_request){.kind = MECH_STEP_COUNT, .count = 200}, true, &h);
        CU_ASSERT_EQUAL(h.log.total, 0);
        CU_ASSERT_EQUAL(h.report.steps, 200);
        /* a command that knows of no earlier one */
        CU_ASSERT_EQUAL(model_steps(s, 1), 0);
        step(s, (struct mech_step_request){.kind = MECH_STEP_COUNT, .count = 20}, true, &h);
        CU_ASSERT_EQUAL(h.log.total, 0);
        mech_sim_destroy(s);
    }
}

/* However fast a ball spins, its impact is one. */
static void what_spins_and_lands_has_an_impact(void)
{
    static const char *const models[] = {ON_A_PLANE("0.11", LEVEL, "0", "300", ROUND, "0.5"),
                                         ON_A_PLANE("0.11", LEVEL, "0", "300", ROUND, "1"),
                                         ON_A_PLANE("0.1001", LEVEL, "0", "300", ROUND, "0.5")};

    for (size_t k = 0; k < sizeof models / sizeof *models; k++) {
        const double fall = k < 2 ? 0.01 : 0.0001;
        struct mech_sim *const s = model_of(models[k]);
        struct heard h;

        step(s, (struct mech_step_request){.kind = MECH_STEP_COUNT, .count = 100}, false, &h);
        CU_ASSERT_EQUAL(h.log.count, 2);
        CU_ASSERT(h.log.count > 0 && is(&h.at[0], MECH_LOGGED_IMPACT, "ground"));
        CU_ASSERT(h.log.count > 1 && is(&h.at[1], MECH_LOGGED_CLOSES, "ground"));
        /* it is met within a step of its fall, and has the speed where that step starts */
        CHECK_NEAR(h.at[0].speed, sqrt(2. * 9.81 * fall), 2. * 9.81 * 1e-3);
        mech_sim_destroy(s);
    }
}

static void same(const struct mech_logged *a, const struct mech_logged *b)
{
    CU_ASSERT(is(a, b->kind, b->item));
    CU_ASSERT_EQUAL(a->time, b->time);
    CU_ASSERT_EQUAL(a->speed, b->speed);
}

/* An impact that is over when a command begins is no event of that command. */
static void commands_of_one_internal_step_log_what_a_long_one_does(void)
{
    static const char *const models[] = {BALL("0.9", MOREAU),
                                         BALL("0", MOREAU),
                                         BALL("0.5", DRIVEN),
                                         ON_A_PLANE("0.15", LEVEL, "1", "5", ROUND, "0.5"),
                                         ON_A_PLANE("0.15", LEVEL, "1", "5", ROUND, "1"),
                                         ON_A_PLANE("0.08", LEVEL, "0.8", "5", ECCENTRIC, "0.5"),
                                         ON_A_PLANE("0.2", TILTED, "0", "0", CUBE, "0.5"),
                                         ON_A_PLANE("0.2", TILTED, "0", "0", CUBE, "1")};

    for (size_t k = 0; k < sizeof models / sizeof *models; k++) {
        const struct mech_step_request one = {.kind = MECH_STEP_COUNT, .count = 1};
        const int count = k < 3 ? 200 : 400;
        struct mech_sim *const s = model_of(models[k]), *const o = model_of(models[k]);
        struct mech_step_request trial = one;
        struct heard whole, part;
        size_t n = 0;

        trial.trial = true;
        step(s, (struct mech_step_request){.kind = MECH_STEP_COUNT, .count = (uint64_t)count},
             false, &whole);
        for (int i = 0; i < count; i++) {
            /* a trial that is discarded takes nothing of what is known */
            step(o, trial, false, &part);
            mech_sim_discard_trial(o);
            const size_t tried = part.log.count;

            step(o, one, false, &part);
            CU_ASSERT_EQUAL(part.log.count, tried);
            for (size_t j = 0; j < part.log.count; j++, n++) {
                CU_ASSERT_FATAL(n < whole.log.count);
                same(&part.at[j], &whole.at[n]);
            }
        }
        CU_ASSERT_EQUAL(n, whole.log.count);
        mech_sim_destroy(s);
        mech_sim_destroy(o);
    }
}

/* Its state is that of the steps done until there. */
static void an_early_return_ends_after_the_internal_step_with_the_event(void)
{
    static const char *const models[] = {BALL("0.9", MOREAU), BALL("0.9", DRIVEN)};
    static const struct mech_step_request kinds[] = {{.kind = MECH_STEP_UNTIL, .until = 3.},
                                                     {.kind = MECH_STEP_SIZE, .size = 3.},
                                                     {.kind = MECH_STEP_COUNT, .count = 300}};

    for (int k = 0; k < 6; k++) {
        struct mech_sim *const s = model_of(models[k % 2]), *const o = model_of(models[k % 2]);
        struct heard h;

        step(s, kinds[k / 2], true, &h);
        CU_ASSERT_EQUAL(h.report.ended, MECH_ENDED_AT_EVENT);
        CU_ASSERT_EQUAL(h.log.total, 1);
        CU_ASSERT(h.at[0].since <= mech_sim_time(s) && h.at[0].time <= mech_sim_time(s));
        CHECK_NEAR(mech_sim_time(s), sqrt(2. / 9.81), k % 2 ? 0.1 : 0.011);
        CU_ASSERT_EQUAL(model_steps(o, h.report.steps), 0);
        CU_ASSERT_EQUAL(mech_sim_time(o), mech_sim_time(s));
        CU_ASSERT_EQUAL(model_state(o).q[0], model_state(s).q[0]);
        CU_ASSERT_EQUAL(model_state(o).v[0], model_state(s).v[0]);

        /* from there on as if it had been asked to end here */
        CU_ASSERT_EQUAL(model_steps(s, 3), 0);
        CU_ASSERT_EQUAL(model_steps(o, 3), 0);
        CU_ASSERT_EQUAL(model_state(o).q[0], model_state(s).q[0]);
        mech_sim_destroy(s);
        mech_sim_destroy(o);
    }
}

/* A trial too; an event in the last internal step is no early return. */
static void the_end_that_was_asked_for_is_no_early_return(void)
{
    struct mech_sim *const s = model_of(BALL("0.9", MOREAU));
    struct mech_step_request r = {.kind = MECH_STEP_COUNT, .count = 100, .trial = true};
    struct heard h;

    step(s, r, true, &h);
    CU_ASSERT_EQUAL(h.report.ended, MECH_ENDED_AT_EVENT);
    CU_ASSERT_EQUAL(mech_sim_time(s), 0.);
    CHECK_NEAR(mech_sim_trial_time(s), 0.01 * (double)h.report.steps, 1e-15);
    r.count = h.report.steps;
    step(s, r, true, &h);
    CU_ASSERT_EQUAL(h.report.ended, MECH_ENDED_AS_REQUESTED);
    CU_ASSERT_EQUAL(h.log.total, 1);
    CU_ASSERT_EQUAL(h.report.steps, r.count);
    r.count--;
    step(s, r, true, &h);
    CU_ASSERT_EQUAL(h.log.total, 0);

    r.early_return = true;
    CU_ASSERT_EQUAL(mech_sim_step(s, &r, &h.report), MECH_INVALID);
    CU_ASSERT(strstr(h.report.reason, "events") != NULL);
    mech_sim_destroy(s);
}

/* Looking changes no bit, allocates nothing within steps, and counts what it has no room for. */
static void looking_for_events_changes_nothing(void)
{
    static const char *const models[] = {BALL("0.9", MOREAU), BALL("0.9", DRIVEN)};

    for (int k = 0; k < 2; k++) {
        struct mech_sim *const s = model_of(models[k]), *const o = model_of(models[k]);
        const uint64_t count = k ? 30 : 300;
        struct mech_logged one;
        struct mech_event_log log = {.at = &one, .room = 1};
        const struct mech_step_request r = {
            .kind = MECH_STEP_COUNT, .count = count, .events = &log};
        struct mech_step_report report;
        bool done = false;

        CU_ASSERT_EQUAL(mech_sim_step_begin(s, &r, &report), 0);
        alloc_count_start();
        CU_ASSERT_EQUAL(mech_sim_step_advance(s, UINT64_MAX, &done), 0);
        CU_ASSERT_EQUAL(alloc_count_stop(), 0);
        mech_sim_step_finish(s);
        CU_ASSERT_EQUAL(model_steps(o, count), 0);
        CU_ASSERT_EQUAL(model_state(o).q[0], model_state(s).q[0]);
        CU_ASSERT_EQUAL(model_state(o).v[0], model_state(s).v[0]);
        CU_ASSERT_EQUAL(log.count, 1);
        CU_ASSERT(log.total > 2);
        mech_sim_destroy(s);
        mech_sim_destroy(o);
    }
}

UNIT_TESTS(UNIT_TEST(a_bounce_is_an_impact_in_its_internal_step),
           UNIT_TEST(a_contact_that_lasts_closes_after_its_impact),
           UNIT_TEST(event_driven_impacts_have_their_own_times),
           UNIT_TEST(a_rope_is_stretched_and_goes_slack),
           UNIT_TEST(substeps_that_are_refused_log_nothing), UNIT_TEST(bodies_meet_by_their_shapes),
           UNIT_TEST(an_impact_of_several_points_is_one),
           UNIT_TEST(the_first_step_can_have_an_impact),
           UNIT_TEST(what_rests_where_the_state_was_set_has_no_event),
           UNIT_TEST(what_rolls_has_no_event), UNIT_TEST(what_spins_and_lands_has_an_impact),
           UNIT_TEST(a_resting_row_is_not_met_by_what_others_push),
           UNIT_TEST(commands_of_one_internal_step_log_what_a_long_one_does),
           UNIT_TEST(an_early_return_ends_after_the_internal_step_with_the_event),
           UNIT_TEST(the_end_that_was_asked_for_is_no_early_return),
           UNIT_TEST(looking_for_events_changes_nothing))
