/* The same model in other units gives the same digits: every example of the daemon by every
 * integrator that takes it, and statics; masses and lengths from 1e-12 to 1e12, times, and in
 * g–mm–ms and t–km–h.
 *
 * MECHD_TESTS_ALL: all scales and integrators; without it a part that takes some seconds. */
#include "solver/sim/analysis.h"
#include "tests/unit/model.h"
#include "tests/verify/scaling.h"

#include <dirent.h>

enum { STEPS = 20, MOST_TEXT = 1 << 20, MOST = 4000 };

/* Units; products with powers of four are exact, and their roots. */
static const struct {
    const char *name;
    double kg, m, s;
} scales[] = {
    {"4^-20 kg", 0x1p-40, 1., 1.},     {"4^20 kg", 0x1p40, 1., 1.},
    {"4^-20 m", 1., 0x1p-40, 1.},      {"4^20 m", 1., 0x1p40, 1.},
    {"4^-8 s", 1., 1., 0x1p-16},       {"4^8 s", 1., 1., 0x1p16},
    {"4^20 kg m", 0x1p40, 0x1p40, 1.}, {"4^-20 kg m", 0x1p-40, 0x1p-40, 1.},
    {"g mm ms", 1e3, 1e3, 1e3},        {"t km h", 1e-3, 1e-3, 1. / 3600.},
    {"1e-12 kg", 1e-12, 1., 1.},       {"1e12 kg", 1e12, 1., 1.},
    {"1e-12 m", 1., 1e-12, 1.},        {"1e12 m", 1., 1e12, 1.},
};
enum { SCALES = sizeof scales / sizeof *scales };

/* --- models ----------------------------------------------------------------------------------- */

/* A document's simulation in other units, by this integrator (NULL: its own); NULL: refused. */
static struct mech_sim *scaled(const char *text, struct scaling *by, const char *integrator)
{
    struct mech_document *document = NULL;
    struct mech_sim *s = NULL;
    struct mech_diag diag;
    json_t *const value = json_loads(text, 0, NULL);

    mech_diag_init(&diag);
    CU_ASSERT_FATAL(value != NULL);
    CU_ASSERT_EQUAL_FATAL(mechp_bind_read(value, "", &diag, &document), 0);
    json_decref(value);
    if (integrator) {
        document->solver.integrator = integrator;
    }
    scaling_apply(by, document);
    if (mech_sim_create(document, &diag, &s)) {
        mech_document_destroy(document);
        s = NULL;
    }
    if (getenv("MECHD_TESTS_VERBOSE")) {
        for (size_t i = 0; i < diag.count && !s; i++) {
            fprintf(stderr, "%s: %s\n", diag.entries[i].path, diag.entries[i].text);
        }
    }
    mech_diag_fini(&diag);
    return s;
}

/* Outputs of a run, each beside the largest value of its unit. */
struct run {
    double value[MOST], factor[MOST];
    bool held[MOST]; /* forces that may hold joints */
    size_t n;
    uint64_t iterations, vi_iterations;
    int code;
};

/* What outputs are times in these units; 0: not known, as of coordinates. */
static void factors_of(const struct mech_sim *s, const struct scaling *by, struct run *out)
{
    out->n = mech_sim_output_size(s);
    CU_ASSERT_FATAL(out->n <= MOST);
    for (size_t i = 0; i < mech_sim_variable_count(s, MECH_OUTPUT_VARIABLE); i++) {
        struct mech_variable v;

        mech_sim_variable(s, MECH_OUTPUT_VARIABLE, i, &v);
        for (int32_t k = 0; k < v.size; k++) {
            out->held[v.offset + k] = v.unit && v.unit[0] == 'N' && mech_sim_sizes(s).lambda > 0;
            out->factor[v.offset + k] =
                v.unit && v.unit[0] ? scaling_element(by, v.unit, (size_t)k, (size_t)v.size) : 0.;
        }
    }
}

static void run(struct mech_sim *s, const struct scaling *by, uint64_t steps, struct run *out)
{
    const struct mech_step_request r = {.kind = MECH_STEP_COUNT, .count = steps};
    struct mech_step_report report = {.iterations = 0};

    factors_of(s, by, out);
    out->code = mech_sim_step(s, &r, &report);
    out->iterations = report.iterations;
    out->vi_iterations = report.vi_iterations;
    mech_sim_get_outputs(s, out->value);
    if (out->code && getenv("MECHD_TESTS_VERBOSE")) {
        fprintf(stderr, "%s\n", report.reason);
    }
}

/* In that share of 1e-9, of forces that hold joints at index 3, g = 0: the rounding of g over h².
 * At h = 1 ms, 2 m and 1 kg, 4 ε L m/h² is 2e-9 N beside some newtons; λ alternates, and of each of
 * the 20 steps most of that is still there at the end. */
static const double of_forces = 50.;

/* The largest difference, relative to the largest of the values with the same unit. */
static double difference(const struct run *a, const struct run *b)
{
    double most = 0.;

    for (size_t i = 0; i < a->n; i++) {
        double size = 0.;

        for (size_t k = 0; k < a->n; k++) {
            size = b->factor[k] == b->factor[i] ? fmax(size, fabs(a->value[k])) : size;
        }
        const double share = a->held[i] ? 1. / of_forces : 1.;
        const double off = share * fabs(b->value[i] / b->factor[i] - a->value[i]);

        if (b->factor[i] != 0. && off > 0.) {
            if (getenv("MECHD_TESTS_VERBOSE") && off > 1e-10 * size) {
                fprintf(stderr, "value %zu: %.17g, %.17g\n", i, a->value[i],
                        b->value[i] / b->factor[i]);
            }
            most = fmax(most, off / size);
        }
    }
    return most;
}

static struct run here, there;

/* One model by one integrator in all units. */
static void compare(const char *name, const char *text, const char *integrator, uint64_t steps,
                    bool only_masses)
{
    struct scaling si = {.kg = 1., .m = 1., .s = 1.};
    struct mech_sim *const s = scaled(text, &si, integrator);

    if (!s) {
        return; /* not for this scheme */
    }
    run(s, &si, steps, &here);
    for (size_t k = 0; k < SCALES; k++) {
        struct scaling by = {.kg = scales[k].kg, .m = scales[k].m, .s = scales[k].s};

        if (only_masses && (by.m != 1. || by.s != 1.)) {
            continue;
        }
        struct mech_sim *const other = scaled(text, &by, integrator);

        CU_ASSERT(other != NULL);
        if (!other) {
            fprintf(stderr, "%s, %s, %s: refused\n", name, integrator ? integrator : "",
                    scales[k].name);
            continue;
        }
        run(other, &by, steps, &there);
        const double off = here.code || there.code ? 0. : difference(&here, &there);
        const bool same = here.code == there.code && off <= 1e-9;

        CU_ASSERT(same);
        if (!same) {
            fprintf(stderr,
                    "%s, %s, %s: off by %.3g; codes %d %d, iterations %d %d, sweeps %d %d\n", name,
                    integrator ? integrator : "", scales[k].name, off, here.code, there.code,
                    (int)here.iterations, (int)there.iterations, (int)here.vi_iterations,
                    (int)there.vi_iterations);
        }
        mech_sim_destroy(other);
    }
    mech_sim_destroy(s);
}

static void each_example(void (*with)(const char *name, const char *text))
{
    const char *const folder = MECH_TESTS_FOLDER "/../server/examples";
    char *const text = calloc(1, MOST_TEXT), path[600];
    DIR *const d = opendir(folder);
    const char *const only = getenv("MECHD_TESTS_ONLY");
    int count = 0;

    CU_ASSERT_FATAL(text && d);
    for (struct dirent *e = readdir(d); e; e = readdir(d)) {
        const char *const end = strstr(e->d_name, ".json");

        if (!end || (only && !strstr(e->d_name, only))) {
            continue;
        }
        snprintf(path, sizeof path, "%s/%s", folder, e->d_name);
        FILE *const f = fopen(path, "r");

        CU_ASSERT_FATAL(f != NULL);
        text[fread(text, 1, MOST_TEXT - 1, f)] = '\0';
        fclose(f);
        with(e->d_name, text);
        count++;
    }
    CU_ASSERT(count > 0);
    closedir(d);
    free(text);
}

static void by_its_own(const char *name, const char *text)
{
    compare(name, text, NULL, STEPS, false);
}

static void by_each_integrator(const char *name, const char *text)
{
    struct mech_integrator_info info;

    for (size_t i = 0; mech_integrator(i, &info); i++) {
        /* their steps follow an absolute tolerance, one number for coordinates and velocities */
        const bool tolerates = strcmp(info.name, "DOPRI5") == 0 || strcmp(info.name, "ODE23") == 0;

        /* explicit schemes at the end of their stability make rounding grow */
        compare(name, text, info.name, info.explicit_scheme ? STEPS / 4 : STEPS, tolerates);
    }
}

static void examples_give_the_same_digits_in_all_units(void)
{
    each_example(getenv("MECHD_TESTS_ALL") ? by_each_integrator : by_its_own);
}

/* --- statics and modes ------------------------------------------------------------------------ */

static void rest(const char *name, const char *text)
{
    const struct mech_statics_query query = {.request = {.load_steps = 1}, .keep = true};
    struct scaling si = {.kg = 1., .m = 1., .s = 1.};
    struct mech_sim *const s = scaled(text, &si, NULL);
    struct mech_statics_report report;

    factors_of(s, &si, &here);
    here.code = mech_sim_statics(s, &query, &report);
    mech_sim_get_outputs(s, here.value);
    for (size_t k = 0; k < SCALES; k++) {
        struct scaling by = {.kg = scales[k].kg, .m = scales[k].m, .s = scales[k].s};
        struct mech_sim *const other = scaled(text, &by, NULL);

        /* K and G are in one matrix: of 2^80 times the size K makes it singular */
        if (!other || scales[k].kg * scales[k].m == 0x1p80) {
            mech_sim_destroy(other);
            continue;
        }
        factors_of(other, &by, &there);
        there.code = mech_sim_statics(other, &query, &report);
        mech_sim_get_outputs(other, there.value);
        /* what has no rest, or more than one, is refused in words that rounding may change */
        const double off = here.code || there.code ? 0. : difference(&here, &there);
        const bool same = here.code || (!there.code && off <= 1e-9);

        CU_ASSERT(same);
        if (!same) {
            fprintf(stderr, "%s\n", report.reason);
            fprintf(stderr, "statics of %s, %s: off by %.3g; codes %d %d\n", name, scales[k].name,
                    off, here.code, there.code);
        }
        mech_sim_destroy(other);
    }
    mech_sim_destroy(s);
}

static void examples_rest_at_the_same_digits_in_all_units(void)
{
    each_example(rest);
}

UNIT_TESTS(UNIT_TEST(examples_give_the_same_digits_in_all_units),
           UNIT_TEST(examples_rest_at_the_same_digits_in_all_units))
