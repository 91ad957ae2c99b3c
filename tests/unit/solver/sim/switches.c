/* Events of relays and diodes, on masses and on systems of first order, and of expressions, over
 * one and several commands. */
#include "tests/unit/model.h"

#include <string.h>

enum { ROOM = 64 };

struct heard {
    struct mech_logged at[ROOM];
    struct mech_event_log log;
};

static void until(struct mech_sim *s, double t, struct heard *h)
{
    const struct mech_step_request r = {.kind = MECH_STEP_UNTIL, .until = t, .events = &h->log};
    struct mech_step_report report;

    h->log = (struct mech_event_log){.at = h->at, .room = ROOM};
    const int code = mech_sim_step(s, &r, &report);

    if (code) {
        (void)fprintf(stderr, "%s\n", report.reason);
    }
    CU_ASSERT_EQUAL_FATAL(code, 0);
    CU_ASSERT_EQUAL(h->log.count, h->log.total);
}

static bool is(const struct mech_logged *e, enum mech_logged_kind kind, const char *item)
{
    return e->kind == kind && strcmp(e->item, item) == 0;
}

/* Whether an event is that an expression goes another way at t, in a step of h. */
static bool turns(const struct mech_logged *e, const char *item, int32_t row, double t, double h)
{
    return is(e, MECH_LOGGED_SWITCHES, item) && e->of == MECH_LOGGED_EXPRESSION && e->row == row &&
           e->since <= t && t <= e->time && e->time - e->since < 1.01 * h;
}

/* One system under one interaction, both of its fields; in steps of 0.03 s. */
#define SYSTEM(system, name, relation, law, integrator)                                            \
    "{'mechd': 1, 'objects': [{'name': 's', " system "}], 'interactions': [{'name': '" name        \
    "', 'systems': ['s'], 'relation': {" relation "}, 'law': {" law                                \
    "}}], 'solver': {'integrator': '" integrator "', 'stepSize': 0.03}}"
#define FIRST_ORDER(x0, b)                                                                         \
    "'type': 'FirstOrderLinearTIDS', 'A': [[0]], 'x0': [" x0 "], 'b': [" b "]"
#define RELAY "'type': 'Relay', 'lb': -1, 'ub': 1"

/* ẋ = −sign x from 1: the relay leaves its bound at t = 1 */
static void a_relay_switches(void)
{
    struct mech_sim *const s = model_of(
        SYSTEM(FIRST_ORDER("1", "0"), "relay",
               "'type': 'FirstOrderLinearTIR', 'C': [[1]], 'B': [[1]]", RELAY, "EulerMoreau"));
    struct heard h;

    until(s, 2., &h);
    CU_ASSERT_EQUAL_FATAL(h.log.count, 1);
    CU_ASSERT(is(&h.at[0], MECH_LOGGED_SWITCHES, "relay"));
    CU_ASSERT(h.at[0].since <= 1. && h.at[0].time >= 1.);
    /* a further command knows where it is */
    until(s, 3., &h);
    CU_ASSERT_EQUAL(h.log.total, 0);
    mech_sim_destroy(s);
}

/* 1 kg with v = 1 under a relay of 1 N against its velocity, and pushed by 3 N from t = 2 on: at
 * t = 1 the relay leaves its bound, at t = 2 it comes to it again. */
static void a_relay_on_a_mass_switches(void)
{
    struct mech_sim *const s =
        model_of(SYSTEM("'type': 'LagrangianLinearTIDS', 'M': [[1]], 'v0': [1], 'q0': [0], 'Fext':"
                        "['=3*(t > 2)']",
                        "relay", "'type': 'LagrangianLinearTIR', 'H': [[1]]", RELAY, "MoreauJean"));
    struct heard h;

    until(s, 0.5, &h);
    CU_ASSERT_EQUAL(h.log.total, 0);
    until(s, 1.5, &h);
    CU_ASSERT_EQUAL_FATAL(h.log.count, 1);
    CU_ASSERT(is(&h.at[0], MECH_LOGGED_SWITCHES, "relay"));
    CU_ASSERT(h.at[0].since <= 1.03 && h.at[0].time >= 1.);
    until(s, 2.5, &h);
    CU_ASSERT_EQUAL_FATAL(h.log.count, 2);
    const int relay = h.at[0].of == MECH_LOGGED_INTERACTION ? 0 : 1;
    CU_ASSERT(is(&h.at[relay], MECH_LOGGED_SWITCHES, "relay"));
    CU_ASSERT(h.at[relay].since <= 2.03 && h.at[relay].time >= 2.);
    CU_ASSERT(turns(&h.at[1 - relay], "s", 0, 2., 0.03));
    mech_sim_destroy(s);
}

/* ẋ = −1 + 2 (t > 1) + λ from 0.5, 0 ≤ x ⊥ λ ≥ 0: blocked from t = 0.5 to 1. */
static void a_diode_closes_and_opens(void)
{
    struct mech_sim *const s =
        model_of(SYSTEM(FIRST_ORDER("0.5", "'=-1 + 2*(t > 1)'"), "diode",
                        "'type': 'FirstOrderLinearTIR', 'C': [[1]], 'B': [[1]]",
                        "'type': 'Complementarity'", "EulerMoreau"));
    struct heard h;

    until(s, 0.3, &h);
    CU_ASSERT_EQUAL(h.log.total, 0);
    until(s, 1.5, &h);
    CU_ASSERT_EQUAL_FATAL(h.log.count, 3);
    const int opens = h.at[1].of == MECH_LOGGED_INTERACTION ? 1 : 2;
    CU_ASSERT(is(&h.at[0], MECH_LOGGED_CLOSES, "diode"));
    CU_ASSERT(is(&h.at[opens], MECH_LOGGED_OPENS, "diode"));
    CU_ASSERT(h.at[0].since <= 0.53 && h.at[0].time >= 0.5);
    CU_ASSERT(h.at[opens].since <= 1.03 && h.at[opens].time >= 1.);
    CU_ASSERT(turns(&h.at[3 - opens], "s", 0, 1., 0.03));
    mech_sim_destroy(s);
}

/* --- expressions ------------------------------------------------------------------------------ */

/* One or two masses on a line, at 0, whose coordinates are the markers x and y; g is the ground.
 * What acts on them, as items of these lists (NULL: none), after a comma. */
struct line {
    double mass[2], v[2]; /* kg, m/s */
    const char *objects, *loads, *inputs;
    double h; /* s */
};

static struct mech_sim *on_a_line(const struct line *of)
{
    char text[4096], *at = text;
    const int n = of->mass[1] > 0. ? 2 : 1;

    at += sprintf(at, "{'mechd': 1, 'nodes': [");
    for (int i = 0; i < n; i++) {
        at += sprintf(at, "%s{'name': 'n%d', 'type': 'Node1D', 'initialVelocities': [%.17g]}",
                      i ? ", " : "", i, of->v[i]);
    }
    at += sprintf(at, "], 'objects': [");
    for (int i = 0; i < n; i++) {
        at +=
            sprintf(at, "%s{'name': 'm%d', 'type': 'Mass1D', 'node': 'n%d', 'physicsMass': %.17g}",
                    i ? ", " : "", i, i, of->mass[i]);
    }
    at += sprintf(at, "%s], 'markers': [{'name': 'g', 'type': 'MarkerGroundCoordinate'}",
                  of->objects ? of->objects : "");
    for (int i = 0; i < n; i++) {
        at += sprintf(at,
                      ", {'name': '%s', 'type': 'MarkerNodeCoordinate', 'node': 'n%d',"
                      "'coordinate': 0}",
                      i ? "y" : "x", i);
    }
    snprintf(at, sizeof text - (size_t)(at - text),
             "], 'loads': [%s], 'inputs': [%s], 'solver': {'integrator': 'GeneralizedAlpha',"
             "'stepSize': %.17g}}",
             of->loads ? of->loads : "", of->inputs ? of->inputs : "", of->h);
    return model_of(text);
}

#define BETWEEN(name, type, markers, fields)                                                       \
    ", {'name': '" name "', 'type': '" type "', 'markers': [" markers "], " fields "}"
#define SPRING(name, markers, fields) BETWEEN(name, "CoordinateSpringDamper", markers, fields)
#define LAW(name, marker, law)                                                                     \
    SPRING(name, "'g', '" marker "'", "'springForceUserFunction': '=" law "'")
#define CONSTRAINT(name, marker, fields)                                                           \
    BETWEEN(name, "CoordinateConstraint", "'g', '" marker "'", fields)
#define FORCE(name, marker, load)                                                                  \
    "{'name': '" name "', 'type': 'LoadCoordinate', 'marker': '" marker "', 'load': " load "}"

/* 1 kg at 1 m/s, a stop of 1000 N/m from 0.1 m on: it meets the stop at t = 0.1 and leaves it half
 * a period of √1000 1/s later. */
static struct mech_sim *before_a_stop(bool active)
{
#define STOP(active)                                                                               \
    SPRING("stop", "'g', 'x'",                                                                     \
           "'active': " active ", 'springForceUserFunction': '=u > 0.1 ? 1000*(u - 0.1) : 0'")
    return on_a_line(&(const struct line){
        .mass = {1.}, .v = {1.}, .objects = active ? STOP("true") : STOP("false"), .h = 0.001});
}

static void a_force_law_turns_at_its_stop(void)
{
    struct mech_sim *s = before_a_stop(true);
    struct heard h;

    until(s, 0.15, &h);
    CU_ASSERT_EQUAL_FATAL(h.log.count, 1);
    CU_ASSERT(turns(&h.at[0], "stop", 0, 0.1, 0.001));
    /* a further command knows on which side it is */
    until(s, 0.5, &h);
    CU_ASSERT_EQUAL_FATAL(h.log.count, 1);
    CU_ASSERT(turns(&h.at[0], "stop", 0, 0.1 + 3.14159265 / sqrt(1000.), 0.0011));
    mech_sim_destroy(s);

    s = before_a_stop(false);
    until(s, 0.5, &h);
    CU_ASSERT_EQUAL(h.log.total, 0);
    mech_sim_destroy(s);
}

static void an_early_return_ends_where_a_law_turns(void)
{
    struct mech_sim *const s = before_a_stop(true), *const o = before_a_stop(true);
    struct mech_logged one;
    struct mech_event_log log = {.at = &one, .room = 1};
    const struct mech_step_request r = {
        .kind = MECH_STEP_COUNT, .count = 500, .events = &log, .early_return = true};
    struct mech_step_report report;

    CU_ASSERT_EQUAL_FATAL(mech_sim_step(s, &r, &report), 0);
    CU_ASSERT_EQUAL(report.ended, MECH_ENDED_AT_EVENT);
    CHECK_NEAR(mech_sim_time(s), 0.1, 0.0011);
    /* looking changes no bit */
    CU_ASSERT_EQUAL(model_steps(o, report.steps), 0);
    CU_ASSERT_EQUAL(model_state(o).q[0], model_state(s).q[0]);
    CU_ASSERT_EQUAL(model_state(o).v[0], model_state(s).v[0]);
    mech_sim_destroy(s);
    mech_sim_destroy(o);
}

/* A point of 1000 kg with this velocity on a bushing with this law, from marker a of the ground to
 * its marker b, with other objects and loads. */
static struct mech_sim *on_a_bushing(const char *v, const char *law, const char *objects,
                                     const char *loads)
{
    char text[2048];

    snprintf(text, sizeof text,
             "{'mechd': 1, 'nodes': [{'name': 'n', 'type': 'NodePoint', 'initialVelocities': %s}],"
             "'objects': [{'name': 'p', 'type': 'MassPoint', 'node': 'n', 'physicsMass': 1000},"
             "{'name': 'ground', 'type': 'Ground'}, {'name': 'bush', 'type':"
             "'CartesianSpringDamper', 'markers': ['a', 'b'], 'springForceUserFunction': %s}%s],"
             "'markers': [{'name': 'a', 'type': 'MarkerBodyPosition', 'object': 'ground'},"
             "{'name': 'b', 'type': 'MarkerBodyPosition', 'object': 'p'}], 'loads': [%s],"
             "'solver': {'integrator': 'GeneralizedAlpha', 'stepSize': 0.001}}",
             v, law, objects, loads);
    return model_of(text);
}

/* A law in each direction: it moves at 1 m/s along x and 2 m/s along y, held by nothing until the
 * laws act weakly. */
static void each_row_of_a_law_turns_by_itself(void)
{
    struct mech_sim *const s =
        on_a_bushing("[1, 2, 0]", "['=max(0, u0 - 0.1)', '=u1 > 0.1 ? u1 - 0.1 : 0', 0]", "", "");
    struct heard h;

    until(s, 0.2, &h);
    CU_ASSERT_EQUAL_FATAL(h.log.count, 2);
    CU_ASSERT(turns(&h.at[0], "bush", 1, 0.05, 0.0012));
    CU_ASSERT(turns(&h.at[1], "bush", 0, 0.1, 0.0012));
    mech_sim_destroy(s);
}

/* Masses on springs that hold their weight, with drag of the square of their speeds: when they have
 * come to rest, speeds of rounding's size turn no law. Pushed, they do. */
static void what_rests_does_not_turn(void)
{
    struct mech_sim *const s = on_a_line(&(const struct line){
        .mass = {1.3, 0.7},
        .objects = SPRING("spring", "'g', 'x'", "'stiffness': 130.7, 'damping': 13")
            SPRING("second", "'x', 'y'", "'stiffness': 90.3, 'damping': 7")
                LAW("drag", "x", "3*v*abs(v)") LAW("wind", "y", "2*v*abs(v)"),
        .loads = FORCE("F", "x", "'=9.81*1.3 + (t > 30.005)'") ", " FORCE("G", "y", "'=9.81*0.7'"),
        .h = 0.01});
    struct heard h;

    CU_ASSERT_EQUAL_FATAL(model_steps(s, 2000), 0);
    until(s, 30., &h);
    CU_ASSERT_EQUAL(h.log.total, 0);
    until(s, 30.5, &h);
    int drag = 0, load = 0;
    for (int i = 0; i < (int)h.log.count; i++) {
        load += turns(&h.at[i], "F", 0, 30.005, 0.01);
        drag += is(&h.at[i], MECH_LOGGED_SWITCHES, "drag");
    }
    CU_ASSERT_EQUAL(load, 1);
    CU_ASSERT(drag > 0);
    mech_sim_destroy(s);
}

/* A mass that turns back, with a drag that makes no difference in the step in which it turns: it is
 * heard of a step later, however the steps are cut into commands. A drag without any is never. */
static void commands_may_end_where_a_kink_is_kept(void)
{
    static const struct line line = {.mass = {1.},
                                     .v = {-0.49998},
                                     .objects = LAW("drag", "x", "1e-6*v*abs(v)")
                                         LAW("none", "x", "0*v*abs(v)"),
                                     .loads = FORCE("F", "x", "1"),
                                     .h = 0.0001};

    for (int each = 1; each <= 20; each *= 20) {
        struct mech_sim *const s = on_a_line(&line);
        struct heard h;
        size_t total = 0;

        until(s, 0.4990, &h);
        CU_ASSERT_EQUAL(h.log.total, 0);
        for (int k = each; k <= 20; k += each) {
            until(s, 0.4990 + 1e-4 * k, &h);
            total += h.log.total;
            CU_ASSERT(h.log.total == 0 || is(&h.at[0], MECH_LOGGED_SWITCHES, "drag"));
            CU_ASSERT(h.log.total == 0 || fabs(h.at[0].time - 0.5001) < 1e-9);
        }
        CU_ASSERT_EQUAL(total, 1);
        mech_sim_destroy(s);
    }
}

/* Of the mass below, m/s. */
static double speed_at(double t)
{
    return -0.01006 + 0.01 * sin(100. * t) + 0.005 * t;
}

/* A mass that turns back for a moment at 0.016 s, and for good at 0.076 s, with a drag that makes
 * no difference at once: the event has happened since the step in which it turned for good. */
static void what_is_kept_for_a_while_turned_before(void)
{
    static const struct line line = {.mass = {1.},
                                     .v = {-0.01006},
                                     .objects = LAW("drag", "x", "1e-6*v*abs(v)")
                                         LAW("push", "x", "1") LAW("pull", "x", "-1"),
                                     .loads = FORCE("F", "x", "'=cos(100*t) + 0.005'"),
                                     .h = 0.0001};

    for (int each = 1; each <= 775; each *= 775) {
        struct mech_sim *const s = on_a_line(&line);
        struct heard h;
        size_t total = 0;

        for (int k = each; k <= 775; k += each) {
            until(s, 1e-4 * k, &h);
            total += h.log.total;
            if (h.log.count > 0) {
                const struct mech_logged *const e = &h.at[0];

                CU_ASSERT(is(e, MECH_LOGGED_SWITCHES, "drag"));
                CU_ASSERT(speed_at(e->since) < 0. && speed_at(e->since + line.h) > 0.);
                CU_ASSERT(e->time - e->since > 1.5 * line.h);
            }
        }
        CU_ASSERT(speed_at(0.0157) > 1e-5);
        CU_ASSERT_EQUAL(total, 1);
        mech_sim_destroy(s);
    }
}

/* A body of 1e-6 kg on which 1e-6 N acts, and drag against it; along another axis, or about it, two
 * bushings hold 1e9 N or N m against each other. What is nothing beside that is something here. */
static void a_drag_is_judged_where_it_acts(void)
{
#define NONE "[0, 0, 0, 0, 0, 0], "
#define BUSHING(name, along, about, offset)                                                        \
    ", {'name': '" name "', 'type': 'RigidBodySpringDamper', 'markers': ['a', 'x'], 'stiffness': " \
    "[" NONE NONE "[0, 0, " along ", 0, 0, 0], " NONE NONE "[0, 0, 0, 0, 0, " about "]], "         \
    "'offset': [0, 0, " offset ", 0, 0, " offset "]}"
#define BUSHINGS(along, about)                                                                     \
    BUSHING("one", along, about, "1") BUSHING("other", along, about, "-1")
    static const char *const held[] = {BUSHINGS("1e9", "0"), BUSHINGS("0", "1e9")};

    for (int k = 0; k < 2; k++) {
        char text[2048];
        struct heard h;

        snprintf(text, sizeof text,
                 "{'mechd': 1, 'nodes': [{'name': 'n', 'type': 'NodeRigidBodyEP',"
                 "'initialVelocities': [-0.49995, 0, 0, 0, 0, 0, 0]}], 'objects': [{'name': 'g',"
                 "'type': 'Ground'}, {'name': 'b', 'type': 'RigidBody', 'node': 'n',"
                 "'physicsMass': 1e-6, 'physicsInertia': [1, 1, 1, 0, 0, 0]}, {'name': 'drag',"
                 "'type': 'CartesianSpringDamper', 'markers': ['a', 'x'],"
                 "'springForceUserFunction': ['=1e-10*v0*abs(v0)', 0, 0]}%s], 'markers': [{'name':"
                 "'a', 'type': 'MarkerBodyRigid', 'object': 'g'}, {'name': 'x', 'type':"
                 "'MarkerBodyRigid', 'object': 'b'}], 'loads': [{'name': 'F', 'type':"
                 "'LoadForceVector', 'marker': 'x', 'load': [1e-6, 0, 0]}], 'solver':"
                 "{'integrator': 'GeneralizedAlpha', 'stepSize': 0.0001}}",
                 held[k]);
        struct mech_sim *const s = model_of(text);

        until(s, 0.51, &h);
        CU_ASSERT_EQUAL_FATAL(h.log.count, 1);
        CU_ASSERT(turns(&h.at[0], "drag", 0, 0.49994, 1e-4));
        mech_sim_destroy(s);
    }
}

/* A ball between two walls that press on it by penalty, with 10 N each; it trembles, and a drag is
 * nothing beside them alone. */
static void what_contacts_hold_does_not_turn(void)
{
#define WALL(x, n)                                                                                 \
    "{'shape': 'Plane', 'position': [" x ", 0, 0], 'normal': [" n ", 0, 0], 'material': 'm'}"
    struct mech_sim *const s = model_of(
        "{'mechd': 1, 'contact': {'method': 'penalty'}, 'materials': [{'name': 'm', 'compliance':"
        "1e-4, 'damping': 0}], 'nodes': [{'name': 'n', 'type': 'NodePoint', 'initialVelocities':"
        "[-1e-6, 0, 0]}], 'objects': [{'name': 'g', 'type': 'Ground', 'geometry': [" WALL(
            "-0.099", "1") ", " WALL("0.099",
                                     "-1") "]}, {'name': 'b', 'type': 'MassPoint', 'node':"
                                           "'n', 'physicsMass': 1, 'geometry': [{'shape': "
                                           "'Sphere', 'radius': 0.1, 'material': 'm'}]},"
                                           "{'name': 'drag', 'type': 'CartesianSpringDamper', "
                                           "'markers': ['a', 'x'],"
                                           "'springForceUserFunction': ['=1e-10*v0*abs(v0)', 0, "
                                           "0]}], 'markers': [{'name': 'a',"
                                           "'type': 'MarkerBodyPosition', 'object': 'g'}, {'name': "
                                           "'x', 'type': 'MarkerBodyPosition',"
                                           "'object': 'b'}], 'solver': {'integrator': "
                                           "'GeneralizedAlpha', 'stepSize': 0.001}}");
    struct heard h;
    int turned = 0;

    for (int k = 1; k <= 100; k++) {
        const double before = model_state(s).v[0];

        until(s, 1e-3 * k, &h);
        turned += before * model_state(s).v[0] < 0.;
        for (size_t i = 0; i < h.log.count; i++) {
            CU_ASSERT(!is(&h.at[i], MECH_LOGGED_SWITCHES, "drag"));
        }
    }
    CU_ASSERT(turned > 2);
    mech_sim_destroy(s);
}

/* Numbers that are no expressions, or go one way only, are counted too. */
static void rows_are_places(void)
{
    struct mech_sim *const s = on_a_bushing(
        "[0, 0, 0]", "['=0*u0', 0, '=t > 0.0105 ? 1e-9 : 0']",
        ", {'name': 's', 'type': 'LagrangianLinearTIDS', 'M': {'diag': [1, 1, 1]}, 'q0': [0, 0, 0],"
        "'v0': [0, 0, 0], 'Fext': [0, 0, '=max(t, 0.0205)'], 'prescribed': [{'coordinate': 1,"
        "'velocity': '=t'}, {'coordinate': 0, 'velocity': '=t > 0.0305 ? t : t'}]}",
        "{'name': 'F', 'type': 'LoadForceVector', 'marker': 'b', 'load': [0, '=t', '=t > "
        "0.0405']}");
    struct heard h;

    until(s, 0.05, &h);
    CU_ASSERT_EQUAL_FATAL(h.log.count, 4);
    CU_ASSERT(turns(&h.at[0], "bush", 2, 0.0105, 0.001));
    CU_ASSERT(turns(&h.at[1], "s", 4, 0.0205, 0.001));
    CU_ASSERT(turns(&h.at[2], "s", 1, 0.0305, 0.001));
    CU_ASSERT(turns(&h.at[3], "F", 2, 0.0405, 0.001));
    mech_sim_destroy(s);
}

/* A law that reads an offset, which turns too. */
static void laws_of_constraints_follow_their_offsets(void)
{
    struct mech_sim *const s = on_a_line(&(const struct line){
        .mass = {1.},
        .objects = CONSTRAINT("c", "x",
                              "'offset': '=max(0, t - 0.0105)', 'offsetUserFunction':"
                              "'=offset + max(0, t - 0.0205)'"),
        .h = 0.001});
    struct heard h;

    until(s, 0.03, &h);
    CU_ASSERT_EQUAL_FATAL(h.log.count, 2);
    CU_ASSERT(turns(&h.at[0], "c", 0, 0.0105, 0.001));
    CU_ASSERT(turns(&h.at[1], "c", 1, 0.0205, 0.001));
    mech_sim_destroy(s);
}

/* A load, a motion that is prescribed, and one whose constraint is not active; and another load,
 * which has the same variables. */
static void loads_and_motions_turn_at_their_times(void)
{
    static const struct line line = {
        .mass = {1., 1.},
        .objects = CONSTRAINT("led", "y", "'offset': '=t < 0.2505 ? 0 : t - 0.2505'")
            CONSTRAINT("free", "x", "'active': false, 'offset': '=abs(t - 0.1)'"),
        .loads = FORCE("F", "x", "'=10*(t > 0.1005)'") ", " FORCE("G", "x", "'=sin(t)'"),
        .inputs = "{'name': 'f', 'load': 'F'}",
        .h = 0.001};
    struct mech_sim *s = on_a_line(&line);
    struct heard h;
    const double none = 0.;
    const struct mech_input_change held = {.index = 0, .values = &none};
    const struct mech_step_request r = {
        .kind = MECH_STEP_UNTIL, .until = 0.2, .inputs = &held, .input_count = 1, .events = &h.log};
    struct mech_step_report report;

    until(s, 0.5, &h);
    CU_ASSERT_EQUAL_FATAL(h.log.count, 2);
    CU_ASSERT(turns(&h.at[0], "F", 0, 0.1005, 0.001));
    CU_ASSERT(turns(&h.at[1], "led", 0, 0.2505, 0.001));
    mech_sim_destroy(s);

    /* an input in place of the load's expression */
    s = on_a_line(&line);
    h.log = (struct mech_event_log){.at = h.at, .room = ROOM};
    CU_ASSERT_EQUAL_FATAL(mech_sim_step(s, &r, &report), 0);
    CU_ASSERT_EQUAL(h.log.total, 0);
    mech_sim_destroy(s);
}

UNIT_TESTS(UNIT_TEST(a_relay_switches), UNIT_TEST(a_relay_on_a_mass_switches),
           UNIT_TEST(a_diode_closes_and_opens), UNIT_TEST(a_force_law_turns_at_its_stop),
           UNIT_TEST(an_early_return_ends_where_a_law_turns),
           UNIT_TEST(each_row_of_a_law_turns_by_itself), UNIT_TEST(what_rests_does_not_turn),
           UNIT_TEST(commands_may_end_where_a_kink_is_kept),
           UNIT_TEST(what_is_kept_for_a_while_turned_before),
           UNIT_TEST(a_drag_is_judged_where_it_acts), UNIT_TEST(what_contacts_hold_does_not_turn),
           UNIT_TEST(rows_are_places), UNIT_TEST(laws_of_constraints_follow_their_offsets),
           UNIT_TEST(loads_and_motions_turn_at_their_times))
