/* Whole commands against a literal implementation of the equations (literal.h). One model has all
 * that a linear model may have at once: unsymmetric C and K, bodies on nodes and a system with
 * coordinates of its own, reference values, expressions in t, an input with derivatives that
 * changes at communication points, several interactions over several systems with e from 0 to 1,
 * θ ≠ ½, γ and a threshold, and communication steps that are no multiple of h.
 *
 * The tolerance is 1e-11 of the largest number seen: 400 steps, each of which rounds a few numbers
 * at 1e-16, with factors of order 10 from the condition of W. */
#include "tests/verify/literal.h"

enum { PHASES = 6 };

static const double pi = 3.14159265358979323846;

typedef void step_function(struct literal *, const struct scheme *, double h, double t_end);

/* What happens at a communication point and after it. */
struct phase {
    enum mech_step_kind kind;
    double size;
    uint64_t count;
    int order; /* of the input's derivatives; −1: the input stays, −2: released */
    double input[3];
    double parts; /* N expected, in steps of the model where `exact` */
    bool exact;
};

static void literal_command(struct literal *l, const struct scheme *s, const struct phase *p,
                            step_function *step)
{
    const double t0 = l->t, size = p->kind == MECH_STEP_UNTIL ? p->size - t0 : p->size;
    const int parts = p->kind == MECH_STEP_COUNT ? (int)p->count : (int)p->parts;
    const double h = p->exact || p->kind == MECH_STEP_COUNT ? s->h : size / parts;
    const long double length = h == s->h ? parts * (long double)h : (long double)size;
    const double end = p->kind == MECH_STEP_UNTIL ? p->size : (double)(l->exact + length);

    if (p->order >= -2 && p->order != -1) {
        memset(l->input, 0, sizeof l->input);
        l->input[0] = p->order < 0 ? 0.5 : p->input[0];
        l->input[1] = p->order > 0 ? p->input[1] : 0.;
        l->input[2] = p->order > 1 ? p->input[2] : 0.;
        l->input[3] = t0;
        literal_start(l);
    }
    for (int k = 0; k < parts; k++) {
        const double t_end = k + 1 == parts ? end : t0 + (k + 1) * h;

        step(l, s, h, t_end);
        l->t = t_end;
        l->size = h;
    }
    l->exact = p->kind == MECH_STEP_UNTIL ? (long double)p->size : l->exact + length;
}

static void compare(const struct literal *l, const struct mech_sim *sim)
{
    const struct mech_state_view state = model_state(sim);
    double scale = 1.;

    for (int i = 0; i < l->n; i++) {
        scale = fmax(scale, fmax(fabs(l->q[i]), fabs(l->v[i])));
    }
    CU_ASSERT_EQUAL(state.time, l->t);
    for (int i = 0; i < l->n; i++) {
        CHECK_NEAR(state.q[i], l->q[i], 1e-11 * scale);
        CHECK_NEAR(state.v[i], l->v[i], 1e-11 * scale);
    }
}

/* One scheme on a system of n coordinates in one form. */
static void run(const struct scheme *s, step_function *step, int n, enum form form)
{
    const struct phase phases[PHASES] = {
        {.kind = MECH_STEP_COUNT, .count = 11, .order = -1},
        {.kind = MECH_STEP_SIZE, .size = 7.3 * s->h, .order = 0, .input = {3.}, .parts = 8},
        {.kind = MECH_STEP_SIZE,
         .size = 20. * s->h * (1. + 2.3e-16),
         .order = 1,
         .input = {-2., 40.},
         .parts = 20,
         .exact = true},
        {.kind = MECH_STEP_SIZE, .size = 0.31 * s->h, .order = -1, .parts = 1},
        {.kind = MECH_STEP_UNTIL,
         .size = 100. * pi * s->h,
         .order = 2,
         .input = {1., -30., 500.},
         .parts = 276}, /* ceil(314.159 − 11 − 7.3 − 20 − 0.31) */
        {.kind = MECH_STEP_COUNT, .count = 90, .order = -2},
    };
    struct text text = {.at = calloc(TEXT, 1)};
    static struct literal l;

    write_model(s, n, form, &text);
    struct mech_sim *const sim = model_of(text.at);
    set_literal(s, n, form, &l);
    literal_start(&l);
    for (int i = 0; i < PHASES; i++) {
        const struct phase *const p = &phases[i];
        const struct mech_input_change in = {.index = 0,
                                             .order = p->order > 0 ? p->order : 0,
                                             .values = p->order >= 0 ? p->input : NULL,
                                             .derivatives = p->order > 0 ? p->input + 1 : NULL};
        const struct mech_step_request r = {.kind = p->kind,
                                            .size = p->size,
                                            .until = p->size,
                                            .count = p->count,
                                            .inputs = &in,
                                            .input_count = p->order == -1 ? 0 : 1};
        struct mech_step_report report;

        CU_ASSERT_EQUAL_FATAL(mech_sim_step(sim, &r, &report), 0);
        CU_ASSERT_EQUAL(report.steps, p->kind == MECH_STEP_COUNT ? p->count : (uint64_t)p->parts);
        CU_ASSERT_EQUAL(report.step_size == s->h, p->exact || p->kind == MECH_STEP_COUNT);
        literal_command(&l, s, p, step);
        compare(&l, sim);
    }
    CU_ASSERT(s->theta == 0. || l.contacts > 20);
    mech_sim_destroy(sim);
    free(text.at);
}

static void run_forms(const struct scheme *s, step_function *step)
{
    run(s, step, 3, ROW_BY_ROW);
    for (enum form form = ROW_BY_ROW; form < FORMS; form++) {
        run(s, step, MOST - NODES, form);
    }
}

static void moreau_jean_commands_are_those_of_the_equations(void)
{
    const struct scheme schemes[] = {
        {", 'theta': 0.5", "MoreauJean", 2e-3, .theta = 0.5, .gamma = 0.5},
        {", 'theta': 0.75, 'gamma': 1, 'activationThreshold': 0.003", "MoreauJean", 5e-3,
         .theta = 0.75, .gamma = 1., .threshold = 0.003},
        {", 'theta': 1, 'gamma': 0", "MoreauJean", 4e-3, .theta = 1., .gamma = 0.},
    };

    for (size_t i = 0; i < sizeof schemes / sizeof *schemes; i++) {
        run_forms(&schemes[i], literal_moreau_jean);
    }
}

static void generalized_alpha_commands_are_those_of_the_equations(void)
{
    const struct scheme schemes[] = {
        {"", "GeneralizedAlpha", 4e-3, .rho = 0.9},
        {", 'spectralRadius': 0.4", "GeneralizedAlpha", 1e-2, .rho = 0.4},
    };

    for (size_t i = 0; i < sizeof schemes / sizeof *schemes; i++) {
        run_forms(&schemes[i], literal_alpha);
    }
}

static void runge_kutta_commands_are_those_of_the_equations(void)
{
    const struct scheme scheme = {"", "RK44", 4e-3, .rho = 0.};

    run_forms(&scheme, literal_rk44);
}

UNIT_TESTS(UNIT_TEST(moreau_jean_commands_are_those_of_the_equations),
           UNIT_TEST(generalized_alpha_commands_are_those_of_the_equations),
           UNIT_TEST(runge_kutta_commands_are_those_of_the_equations))
