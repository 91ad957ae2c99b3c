/* Simulations as participants: energy over windows of any size, orders, one correction. */
#include "tests/unit/alloc_count.h"
#include "tests/unit/model.h"
#include "tests/unit/solver/couple/sims.h"

/* One mass of the linear benchmark: 1 kg on a spring; its input is a force. */
static struct mech_sim *mass(double stiffness, double speed, const char *integrator, double step)
{
    char text[2048];
    snprintf(text, sizeof text,
             MODEL_OSCILLATOR(", 'initialVelocities': [%.17g]", "1",
                              ", {'name': 's', 'type': 'CoordinateSpringDamper',"
                              "'markers': ['g', 'x'], 'stiffness': %.17g}",
                              "{'name': 'F', 'type': 'LoadCoordinate', 'marker': 'x', 'load': 0}",
                              ", 'sensors': [{'name': 'p', 'type': 'SensorNode', 'node': 'n',"
                              "'outputVariable': 'Coordinates'}],"
                              "'inputs': [{'name': 'F', 'load': 'F'}],"
                              "'outputs': [{'name': 'p', 'sensor': 'p'}],"
                              "'solver': {'integrator': '%s', 'stepSize': %.17g}"),
             speed, stiffness, integrator, step);
    return model_of(text);
}

struct sims {
    struct sim_side side[2];
    struct mech_couple_partner partner[2];
    struct mech_couple *couple;
};

enum { LINEAR = MECH_COUPLE_ROLLBACK | MECH_COUPLE_LINEAR };

static void sims_start(struct sims *s, uint32_t abilities, const struct mech_couple_setup *setup)
{
    struct mech_couple_participant about[2];
    struct mech_couple_setup full = *setup;
    char reason[MECH_COUPLE_REASON];
    for (int i = 0; i < 2; i++) {
        struct sim_side *const p = s->side + i;
        about[i] = (struct mech_couple_participant){i == 0 ? "left" : "right", p->inputs,
                                                    p->outputs, p->steps, abilities};
        s->partner[i] = (struct mech_couple_partner){&sim_side_functions, p};
    }
    full.participants = about;
    full.participant_count = 2;
    const int code = mech_couple_create(&full, reason, &s->couple);
    CU_ASSERT_STRING_EQUAL(reason, "");
    CU_ASSERT_EQUAL_FATAL(code, 0);
    CU_ASSERT_EQUAL_FATAL(mech_couple_run_start(s->couple, s->partner, 0.), 0);
}

static void sims_fini(struct sims *s)
{
    mech_couple_destroy(s->couple);
    for (int i = 0; i < 2; i++) {
        sim_side_fini(s->side + i);
    }
}

/* Largest relative change of energy over 10 s. */
static double drift(const char *integrator, double size, int substeps)
{
    struct sims s;
    const struct mech_couple_bond bond = {
        .name = "spring", .participant = {0, 1}, .stiffness = 100.};
    const struct mech_couple_setup setup = {.bonds = &bond,
                                            .bond_count = 1,
                                            .options = {.scheme = "Energy",
                                                        .relative_tolerance = 1e-13,
                                                        .absolute_tolerance = 1e-12,
                                                        .max_iterations = 10}};
    for (int i = 0; i < 2; i++) {
        struct mech_sim *const sim =
            mass(i == 0 ? 10. : 1000., i == 0 ? 100. : -100., integrator, size / substeps);
        sim_side_init(s.side + i, sim, 0);
    }
    sims_start(&s, LINEAR | MECH_COUPLE_JACOBIAN, &setup);
    double worst = 0.;
    for (int w = 0; w < (int)(10. / size + 0.5); w++) {
        struct mech_couple_bond_state state;
        CU_ASSERT_EQUAL_FATAL(mech_couple_run_window(s.couple, s.partner, size), 0);
        CU_ASSERT(mech_couple_report(s.couple)->iterations <= 3);
        mech_couple_bond_state(s.couple, 0, &state);
        const double e = mech_sim_energy(s.side[0].sim) + mech_sim_energy(s.side[1].sim);
        worst = fmax(worst, fabs((e + state.stored) / 1e4 - 1.));
    }
    CHECK_NEAR(mech_sim_time(s.side[0].sim), 10., 1e-9);
    sims_fini(&s);
    return worst;
}

static void energy_is_kept_for_any_window(void)
{
    static const char *const trapezoidal[] = {"TrapezoidalIndex2", "Newmark"};
    for (int i = 0; i < 2; i++) {
        for (double size = 1e-3; size < 2.; size *= 10.) {
            CHECK_NEAR(drift(trapezoidal[i], size, 1), 0., 1e-11);
            CHECK_NEAR(drift(trapezoidal[i], size, 5), 0., 1e-11);
        }
    }
}

static const struct mech_couple_connection crossed[] = {{0, 0, 1, 0, 100., 0.},
                                                        {1, 0, 0, 0, 100., 0.}};

/* Largest of both errors of the benchmark at t = 1. */
static double error_of(const char *scheme, int32_t hold, int32_t waveform, int windows)
{
    struct sims s;
    const struct mech_couple_setup setup = {.connections = crossed,
                                            .connection_count = 2,
                                            .options = {.scheme = scheme,
                                                        .relative_tolerance = 1e-11,
                                                        .absolute_tolerance = 1e-11,
                                                        .max_iterations = 50,
                                                        .relaxation = 1.,
                                                        .hold = hold,
                                                        .waveform = waveform}};
    const int32_t steps = waveform > 0 ? 4 : 1;
    for (int i = 0; i < 2; i++) {
        struct mech_sim *const sim = mass(i == 0 ? 110. : 1100., i == 0 ? 100. : -100.,
                                          "TrapezoidalIndex2", 1. / (windows * steps));
        sim_side_init(s.side + i, sim, steps);
    }
    sims_start(&s, LINEAR, &setup);
    for (int w = 0; w < windows; w++) {
        CU_ASSERT_EQUAL_FATAL(mech_couple_run_window(s.couple, s.partner, 1. / windows), 0);
    }
    const double error = fmax(fabs(mech_couple_outputs(s.couple, 0)[0] + 4.53844886412),
                              fabs(mech_couple_outputs(s.couple, 1)[0] + 3.57741133883));
    sims_fini(&s);
    return error;
}

static void check_order(const char *scheme, int32_t hold, int32_t waveform, int windows,
                        double order)
{
    char of[80];
    snprintf(of, sizeof of, "%s, hold %d, waveform %d", scheme, (int)hold, (int)waveform);
    CHECK_ORDER(of,
                log2(error_of(scheme, hold, waveform, windows) /
                     error_of(scheme, hold, waveform, 2 * windows)),
                order, 0.2);
}

static void simulations_keep_the_orders(void)
{
    static const char *const iterated[] = {"Aitken", "IQN-ILS", "InterfaceNewton"};
    for (int i = 0; i < 3; i++) {
        check_order(iterated[i], 0, 0, 800, 1.);
        check_order(iterated[i], 1, 0, 400, 2.);
    }
    check_order("IQN-ILS", 0, 1, 200, 2.);
    check_order("IQN-ILS", 0, 3, 200, 2.);
    check_order("GaussSeidel", 1, 0, 800, 2.);
}

static void nothing_allocates_while_simulations_step(void)
{
    struct sims s;
    const struct mech_couple_setup setup = {
        .connections = crossed, .connection_count = 2, .options = {.scheme = "GaussSeidel"}};
    for (int i = 0; i < 2; i++) {
        sim_side_init(s.side + i, mass(110., 1., "TrapezoidalIndex2", 1e-3), 0);
    }
    sims_start(&s, LINEAR, &setup);
    int code = mech_couple_run_window(s.couple, s.partner, 1e-3);
    alloc_count_start();
    for (int w = 0; w < 1000 && code == 0; w++) {
        code = mech_couple_run_window(s.couple, s.partner, 1e-3);
    }
    CU_ASSERT_EQUAL(alloc_count_stop(), 0);
    CU_ASSERT_EQUAL(code, 0);
    sims_fini(&s);
}

UNIT_TESTS(UNIT_TEST(energy_is_kept_for_any_window), UNIT_TEST(simulations_keep_the_orders),
           UNIT_TEST(nothing_allocates_while_simulations_step))
