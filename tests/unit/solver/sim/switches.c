/* Events of relays and diodes, on masses and on systems of first order, over one and several
 * commands. */
#include "tests/unit/model.h"

#include <string.h>

enum { ROOM = 64 };

struct heard {
    struct mech_logged at[ROOM];
    struct mech_event_log log;
};

static void until(struct mech_sim *s, double t, struct heard *h)
{
    const struct mech_step_request r = {.kind = MECH_STEP_UNTIL, .size = t, .events = &h->log};
    struct mech_step_report report;

    h->log = (struct mech_event_log){.at = h->at, .room = ROOM};
    CU_ASSERT_EQUAL_FATAL(mech_sim_step(s, &r, &report), 0);
    CU_ASSERT_EQUAL(h->log.count, h->log.total);
}

static bool is(const struct mech_logged *e, enum mech_logged_kind kind, const char *item)
{
    return e->kind == kind && strcmp(e->item, item) == 0;
}

/* ẋ = −sign x from 1: the relay leaves its bound at t = 1 */
static void a_relay_switches(void)
{
    struct mech_sim *const s = model_of(
        "{'mechd': 1, 'objects': [{'name': 's', 'type': 'FirstOrderLinearTIDS', 'A': [[0]],"
        "'x0': [1]}], 'interactions': [{'name': 'relay', 'systems': ['s'], 'relation':"
        "{'type': 'FirstOrderLinearTIR', 'C': [[1]], 'B': [[1]]}, 'law': {'type': 'Relay',"
        "'lb': -1, 'ub': 1}}], 'solver': {'integrator': 'EulerMoreau', 'stepSize': 0.03}}");
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
    struct mech_sim *const s = model_of(
        "{'mechd': 1, 'objects': [{'name': 's', 'type': 'LagrangianLinearTIDS', 'M': [[1]],"
        "'v0': [1], 'q0': [0], 'Fext': ['=3*(t > 2)']}], 'interactions': [{'name': 'relay',"
        "'systems': ['s'], 'relation': {'type': 'LagrangianLinearTIR', 'H': [[1]]},"
        "'law': {'type': 'Relay', 'lb': -1, 'ub': 1}}], 'solver': {'integrator': 'MoreauJean',"
        "'stepSize': 0.03}}");
    struct heard h;

    until(s, 0.5, &h);
    CU_ASSERT_EQUAL(h.log.total, 0);
    until(s, 1.5, &h);
    CU_ASSERT_EQUAL_FATAL(h.log.count, 1);
    CU_ASSERT(is(&h.at[0], MECH_LOGGED_SWITCHES, "relay"));
    CU_ASSERT(h.at[0].since <= 1.03 && h.at[0].time >= 1.);
    until(s, 2.5, &h);
    CU_ASSERT_EQUAL_FATAL(h.log.count, 1);
    CU_ASSERT(is(&h.at[0], MECH_LOGGED_SWITCHES, "relay"));
    CU_ASSERT(h.at[0].since <= 2.03 && h.at[0].time >= 2.);
    mech_sim_destroy(s);
}

/* ẋ = −1 + 2 (t > 1) + λ from 0.5, 0 ≤ x ⊥ λ ≥ 0: blocked from t = 0.5 to 1. */
static void a_diode_closes_and_opens(void)
{
    struct mech_sim *const s = model_of(
        "{'mechd': 1, 'objects': [{'name': 's', 'type': 'FirstOrderLinearTIDS', 'A': [[0]],"
        "'x0': [0.5], 'b': ['=-1 + 2*(t > 1)']}], 'interactions': [{'name': 'diode', 'systems':"
        "['s'], 'relation': {'type': 'FirstOrderLinearTIR', 'C': [[1]], 'B': [[1]]}, 'law':"
        "{'type': 'Complementarity'}}], 'solver': {'integrator': 'EulerMoreau',"
        "'stepSize': 0.03}}");
    struct heard h;

    until(s, 0.3, &h);
    CU_ASSERT_EQUAL(h.log.total, 0);
    until(s, 1.5, &h);
    CU_ASSERT_EQUAL_FATAL(h.log.count, 2);
    CU_ASSERT(is(&h.at[0], MECH_LOGGED_CLOSES, "diode"));
    CU_ASSERT(is(&h.at[1], MECH_LOGGED_OPENS, "diode"));
    CU_ASSERT(h.at[0].since <= 0.53 && h.at[0].time >= 0.5);
    CU_ASSERT(h.at[1].since <= 1.03 && h.at[1].time >= 1.);
    mech_sim_destroy(s);
}

UNIT_TESTS(UNIT_TEST(a_relay_switches), UNIT_TEST(a_relay_on_a_mass_switches),
           UNIT_TEST(a_diode_closes_and_opens))
