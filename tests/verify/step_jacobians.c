/* Derivatives of steps on all examples, those in contact among them: by every input and along a
 * direction of coordinates, velocities and states of first order they equal central differences of
 * whole runs to 1e-7, at the start and in motion. Where they report that other contacts act beside
 * the step (`kinked`), a comparison is not possible: the remaining ones are counted. */
#include "solver/sim/analysis.h"
#include "tests/verify/example.h"

#include <dirent.h>
#include <string.h>

enum { MOST = 2048, STEPS = 4, MOVED = 7 };
static const double allowed = 1e-7;
/* Relative, of coordinates: what the iterations of a step leave, Newton's and that of contacts
 * between shapes. */
static const double left = 1e-13, left_of_shapes = 1e-12;

/* Distances of the runs from the step: of inputs, by which these models are nearly linear; of
 * states; and of states of models with contacts, which must stay the same. */
static const double of_inputs = 0.25, of_states = 0x1p-14, of_contacts = 0x1p-14;

/* Along which a step is derived: of q a motion. */
struct direction {
    double q[MOST], v[MOST], x[MOST], inputs[MOST];
};

/* What a step ends with, or a derivative of that. */
struct end {
    double q[MOST], v[MOST], x[MOST], outputs[MOST];
};

/* How derivatives are compared: with runs at a distance of h, as above. */
struct scale {
    const char *what;
    double h, size, least;
};

struct subject {
    const char *name;
    struct mech_sim *s;
    struct mech_sizes n;
    size_t inputs, outputs;
    double unit; /* of states */
    void *saved;
    int compared, kinked; /* directions */
};

static const struct mech_step_request some = {.kind = MECH_STEP_COUNT, .count = STEPS};

/* a number in [−1, 1] that is the same in every run */
static double number(uint64_t *seed)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return (double)(int64_t)*seed / 9223372036854775808.;
}

/* With a Newton iteration that leaves no more than rounding. */
static struct mech_sim *exact_example(const char *file)
{
    static const char newton[] =
        "\"newton\": {\"relativeTolerance\": 1e-13, \"absoluteTolerance\": 1e-11}, "
        "\"vi\": {\"tolerance\": 1e-14}, ";
    static const char solver[] = "\"solver\": {";
    char path[1024];

    snprintf(path, sizeof path, "%s/../server/examples/%s", MECH_TESTS_FOLDER, file);
    char *const text = example_text(path);
    const char *const at = strstr(text, solver) + strlen(solver);
    char *const whole = malloc(strlen(text) + sizeof newton);
    sprintf(whole, "%.*s%s%s", (int)(at - text), text, newton, at);
    struct mech_sim *const s = model_of(whole);
    free(whole);
    free(text);
    return s;
}

/* The end of the step that begins with h times the direction added. */
static void run_beside(const struct subject *p, const struct direction *d, double h,
                       struct end *out)
{
    static double q[MOST], v[MOST], x[MOST];
    const struct mech_state_view from = {.time = NAN, .q = q, .v = v, .x = x};
    const struct mech_state_view now = model_state(p->s);

    for (int32_t i = 0; i < p->n.q; i++) {
        q[i] = now.q[i] + h * d->q[i];
    }
    for (int32_t i = 0; i < p->n.v; i++) {
        v[i] = now.v[i] + h * d->v[i];
    }
    for (int32_t i = 0; i < p->n.x; i++) {
        x[i] = now.x[i] + h * d->x[i];
    }
    for (size_t i = 0; i < mech_sim_variable_count(p->s, MECH_INPUT); i++) {
        struct mech_variable var;
        double values[64];

        mech_sim_variable(p->s, MECH_INPUT, i, &var);
        mech_sim_get_input(p->s, var.index, values);
        for (int32_t k = 0; k < var.size; k++) {
            values[k] += h * d->inputs[var.offset + k];
        }
        CU_ASSERT_EQUAL(mech_sim_set_input(p->s, var.index, values, 0, NULL), 0);
    }
    CU_ASSERT_EQUAL(mech_sim_set_state(p->s, &from), 0);
    CU_ASSERT_EQUAL(model_steps(p->s, STEPS), 0);
    const struct mech_state_view to = model_state(p->s);
    memcpy(out->q, to.q, (size_t)p->n.q * sizeof *q);
    memcpy(out->v, to.v, (size_t)p->n.v * sizeof *v);
    memcpy(out->x, to.x, (size_t)p->n.x * sizeof *x);
    mech_sim_get_outputs(p->s, out->outputs);
    CU_ASSERT_EQUAL(mech_sim_restore(p->s, p->saved), 0);
}

/* out = Σ weight · part, of n numbers */
static void difference(const double *const part[4], double h, size_t n, double *out)
{
    for (size_t i = 0; i < n; i++) {
        const double wide = (part[0][i] - part[1][i]) / (2. * h);
        const double close = (part[2][i] - part[3][i]) / h;

        out[i] = close + (close - wide) / 3.;
    }
}

/* To fourth order, from runs at ±h and ±h/2. */
static void differences(const struct subject *p, const struct direction *d, double h,
                        struct end *out)
{
    static struct end at[4];
    static const double where[] = {1., -1., 0.5, -0.5};

    for (int k = 0; k < 4; k++) {
        run_beside(p, d, where[k] * h, &at[k]);
    }
    difference((const double *const[]){at[0].q, at[1].q, at[2].q, at[3].q}, h, (size_t)p->n.q,
               out->q);
    difference((const double *const[]){at[0].v, at[1].v, at[2].v, at[3].v}, h, (size_t)p->n.v,
               out->v);
    difference((const double *const[]){at[0].x, at[1].x, at[2].x, at[3].x}, h, (size_t)p->n.x,
               out->x);
    difference((const double *const[]){at[0].outputs, at[1].outputs, at[2].outputs, at[3].outputs},
               h, p->outputs, out->outputs);
}

/* n values of one kind to 1e-7 of the largest of them, or of `least`, and to what iterations leave
 * of `size` over the distance of the runs */
static void compare(const struct subject *p, const struct scale *scale, const double *found,
                    const double *expected, size_t n)
{
    double most = scale->least, worst = 0.;
    size_t at = 0;

    for (size_t i = 0; i < n; i++) {
        most = fmax(most, fabs(expected[i]));
        at = fabs(found[i] - expected[i]) > worst ? i : at;
        worst = fmax(worst, fabs(found[i] - expected[i]));
    }
    const double rest = p->n.contact > 0 ? left_of_shapes : left;
    const double bound = allowed * most + 4. * rest * fmax(1., scale->size) / scale->h;
    if (!(worst <= bound)) {
        fprintf(stderr, "%s, %s: %zu off by %.3g of %.3g\n", p->name, scale->what, at, worst, most);
    }
    CU_ASSERT(worst <= bound);
}

/* --- directions ------------------------------------------------------------------------------- */

static void derive(struct subject *p, const char *what, struct direction *d)
{
    static struct end found, expected;
    struct mech_jvp jvp = {.step = &some,
                           .q = d->q,
                           .v = d->v,
                           .x = d->x,
                           .inputs = d->inputs,
                           .dq = found.q,
                           .dv = found.v,
                           .dx = found.x,
                           .outputs = found.outputs};
    const int code = mech_sim_jvp(p->s, &jvp);

    if (code == MECH_UNSUPPORTED) {
        // a scheme that chooses its steps
        CU_ASSERT_STRING_EQUAL(p->name, "ball-at-rest.json");
        return;
    }
    CU_ASSERT_EQUAL(code, 0);
    if (jvp.derived.kinked) {
        p->kinked++;
        return;
    }
    p->compared++;
    differences(p, d, p->unit, &expected);
    const struct scale scale = {.what = what, .h = p->unit};
    compare(p, &scale, found.q, expected.q, (size_t)p->n.q);
    compare(p, &scale, found.v, expected.v, (size_t)p->n.v);
    compare(p, &scale, found.x, expected.x, (size_t)p->n.x);
    compare(p, &scale, found.outputs, expected.outputs, p->outputs);
}

/* Along coordinates, velocities and states of first order, each by itself. */
static void derive_states(struct subject *p, uint64_t seed)
{
    static struct direction d;
    static double w[MOST], rates[MOST];
    const struct mech_point at = {.time = NAN, .v = w};

    memset(&d, 0, sizeof d);
    for (int32_t i = 0; i < p->n.v; i++) {
        w[i] = number(&seed);
    }
    CU_ASSERT_EQUAL_FATAL(mech_sim_evaluate(p->s, &at, MECH_WANT_FIRST_ORDER, rates), 0);
    memcpy(d.q, rates, (size_t)p->n.q * sizeof *d.q);
    if (p->n.q > 0) {
        derive(p, "along coordinates", &d);
    }
    memset(d.q, 0, sizeof d.q);
    for (int32_t i = 0; i < p->n.v; i++) {
        d.v[i] = number(&seed);
    }
    if (p->n.v > 0) {
        derive(p, "along velocities", &d);
    }
    memset(d.v, 0, sizeof d.v);
    for (int32_t i = 0; i < p->n.x; i++) {
        d.x[i] = number(&seed);
    }
    if (p->n.x > 0) {
        derive(p, "along states of first order", &d);
    }
}

static double largest(const double *x, size_t n)
{
    double most = 0.;

    for (size_t i = 0; i < n; i++) {
        most = fmax(most, fabs(x[i]));
    }
    return most;
}

/* The Jacobian of the interface, a column an input. */
static void derive_inputs(struct subject *p)
{
    static double matrix[MOST], found[MOST], values[MOST];
    static struct end expected;
    static struct direction d;
    struct mech_derived derived;

    CU_ASSERT_FATAL(p->inputs * p->outputs <= MOST);
    if (p->inputs == 0) {
        return;
    }
    CU_ASSERT_EQUAL_FATAL(mech_sim_jacobian(p->s, &some, 0, matrix, &derived), 0);
    CU_ASSERT(!derived.kinked);
    mech_sim_get_outputs(p->s, values);
    for (size_t k = 0; k < p->inputs; k++) {
        memset(&d, 0, sizeof d);
        d.inputs[k] = 1.;
        differences(p, &d, of_inputs, &expected);
        for (size_t i = 0; i < p->outputs; i++) {
            found[i] = matrix[i * p->inputs + k];
        }
        for (size_t i = 0; i < mech_sim_variable_count(p->s, MECH_OUTPUT_VARIABLE); i++) {
            struct mech_variable v;

            mech_sim_variable(p->s, MECH_OUTPUT_VARIABLE, i, &v);
            const struct scale scale = {.what = v.name,
                                        .h = of_inputs,
                                        .size = largest(values + v.offset, (size_t)v.size),
                                        .least =
                                            v.unit[0] == 'N' ? 1. : 0. /* a force by a force */};
            compare(p, &scale, found + v.offset, expected.outputs + v.offset, (size_t)v.size);
        }
        p->compared++;
    }
}

/* --- all examples ----------------------------------------------------------------------------- */

static void check(struct subject *p, uint64_t seed)
{
    p->n = mech_sim_sizes(p->s);
    p->inputs = mech_sim_input_size(p->s);
    p->outputs = mech_sim_output_size(p->s);
    p->unit = p->n.impulse + p->n.contact > 0 ? of_contacts : of_states;
    CU_ASSERT_FATAL((size_t)p->n.q < MOST && p->inputs < MOST && p->outputs < MOST);
    p->saved = malloc(mech_sim_saved_size(p->s));
    CU_ASSERT_FATAL(p->saved != NULL);
    mech_sim_save(p->s, p->saved);
    derive_inputs(p);
    derive_states(p, seed);
    free(p->saved);
}

static int is_model(const struct dirent *entry)
{
    const char *const dot = strrchr(entry->d_name, '.');

    return dot != NULL && strcmp(dot, ".json") == 0;
}

static void they_equal_central_differences_on_all_examples(void)
{
    char folder[1024];
    struct dirent **names = NULL;
    int all = 0, touching = 0;

    snprintf(folder, sizeof folder, "%s/../server/examples", MECH_TESTS_FOLDER);
    const int count = scandir(folder, &names, is_model, alphasort);
    CU_ASSERT_FATAL(count > 0);
    for (int k = 0; k < count; k++) {
        struct subject p = {.name = names[k]->d_name, .s = exact_example(names[k]->d_name)};

        check(&p, 3 * (uint64_t)k + 1);
        CU_ASSERT_EQUAL(model_steps(p.s, MOVED), 0);
        check(&p, 3 * (uint64_t)k + 2);
        all += p.compared;
        touching += p.n.impulse + p.n.contact > 0 ? p.compared : 0;
        mech_sim_destroy(p.s);
        free(names[k]);
    }
    free(names);
    /* beside boxes at rest other corners touch: box-stack, tilted-table have nothing to compare */
    CU_ASSERT(all >= 86);
    CU_ASSERT(touching >= 20);
}

UNIT_TESTS(UNIT_TEST(they_equal_central_differences_on_all_examples))
