/* The same model in other units gives the same digits: every example of the daemon by every
 * integrator that supports it, statics, modes and derivatives; masses and lengths from 1e-12 to
 * 1e12, times, and in g–mm–ms and t–km–h.
 *
 * MECHD_TESTS_MODELS: the models of another folder. MECHD_TESTS_ONLY: a part of their names. */
#include "tests/verify/scaled.h"

#include <dirent.h>

enum { STEPS = 20, MOST_TEXT = 1 << 20 };

/* --- models ----------------------------------------------------------------------------------- */

static void each_example(void (*with)(const char *name, const char *text))
{
    const char *const other = getenv("MECHD_TESTS_MODELS");
    const char *const folder = other ? other : MECH_TESTS_FOLDER "/../server/examples";
    char *const text = calloc(1, MOST_TEXT), path[1024];
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

/* --- steps ------------------------------------------------------------------------------------ */

static void by_its_own(const char *name, const char *text)
{
    scaled_compare(&(struct scaled_case){.name = name, .text = text, .steps = STEPS});
}

static void by_each_integrator(const char *name, const char *text)
{
    struct mech_integrator_info info;

    by_its_own(name, text);
    for (size_t i = 0; mech_integrator(i, &info); i++) {
        const struct scaled_case c = {
            .name = name,
            .text = text,
            .integrator = info.name,
            /* explicit schemes at the end of their stability make rounding grow */
            .steps = info.explicit_scheme ? STEPS / 4 : STEPS,
            /* their steps follow an absolute tolerance, one number for q and v */
            .only_masses = strcmp(info.name, "DOPRI5") == 0 || strcmp(info.name, "ODE23") == 0 ||
                           strcmp(info.name, "EventDriven") == 0,
        };

        scaled_compare(&c);
    }
}

static void examples_give_the_same_digits_in_all_units(void)
{
    each_example(getenv("MECHD_TESTS_MODELS") && !getenv("MECHD_TESTS_ALL") ? by_its_own
                                                                            : by_each_integrator);
}

static void examples_rest_at_the_same_digits_in_all_units(void)
{
    each_example(scaled_rest);
}

static void examples_vibrate_at_the_same_rates_in_all_units(void)
{
    each_example(scaled_vibrate);
}

/* --- derivatives ------------------------------------------------------------------------------ */

enum { MOST_UNKNOWNS = 300 };

static double slopes[2][MOST_UNKNOWNS * MOST_UNKNOWNS];

/* The Jacobian of the first-order form into out; its size, 0: too large, −1: refused. */
static int slopes_of(struct mech_sim *s, double *out)
{
    const struct mech_point now = {.time = NAN};
    int32_t rows, columns;

    mech_sim_want_shape(s, MECH_WANT_RHS_JACOBIAN, &rows, &columns);
    if (rows > MOST_UNKNOWNS) {
        return 0;
    }
    return mech_sim_evaluate(s, &now, MECH_WANT_RHS_JACOBIAN, out) ? -1 : rows;
}

/* How far slopes[1] is off, with so many of its units of time in a second. Coordinates have units
 * of their own, which are in J_ij as in 1/J_ji: their products are the same in all. */
static double slopes_apart(int n, double second)
{
    double most = 0., off = 0.;

    for (int i = 0; i < n; i++) {
        for (int j = 0; j <= i; j++) {
            const double a = slopes[0][i * n + j] * slopes[0][j * n + i];
            const double b = slopes[1][i * n + j] * slopes[1][j * n + i] * second * second;

            most = fmax(most, fabs(a));
            off = fmax(off, fabs(a - b));
        }
    }
    return off > 0. ? off / most : 0.;
}

static void slopes_in_all_units(const char *name, const char *text)
{
    struct scaling here = {.kg = 1., .m = 1., .s = 1.};
    struct mech_sim *const s = scaled_sim(text, &here, NULL);
    const int n = s ? slopes_of(s, slopes[0]) : 0;

    for (size_t k = 0; k < SCALED_UNITS && n > 0; k++) {
        const struct scaled_units *const units = &scaled_units[k];
        struct scaling by = {.kg = units->kg, .m = units->m, .s = units->s};
        struct mech_sim *const other = scaled_sim(text, &by, NULL);
        const int m = other ? slopes_of(other, slopes[1]) : n;
        const double off = other && m == n ? slopes_apart(n, units->s) : 0.;

        CU_ASSERT(m == n && off <= 1e-9);
        if (m != n || !(off <= 1e-9)) {
            fprintf(stderr, "slopes of %s, %s: off by %.3g, %d %d\n", name, units->name, off, n, m);
        }
        mech_sim_destroy(other);
    }
    mech_sim_destroy(s);
}

static void examples_have_the_same_slopes_in_all_units(void)
{
    each_example(slopes_in_all_units);
}

UNIT_TESTS(UNIT_TEST(examples_have_the_same_slopes_in_all_units),
           UNIT_TEST(examples_give_the_same_digits_in_all_units),
           UNIT_TEST(examples_rest_at_the_same_digits_in_all_units),
           UNIT_TEST(examples_vibrate_at_the_same_rates_in_all_units))
