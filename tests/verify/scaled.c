/* The same model in other units gives the same digits: every example of the daemon by every
 * integrator that takes it, statics and modes; masses and lengths from 1e-12
 * to 1e12, times, and in g–mm–ms and t–km–h.
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

UNIT_TESTS(UNIT_TEST(examples_give_the_same_digits_in_all_units),
           UNIT_TEST(examples_rest_at_the_same_digits_in_all_units),
           UNIT_TEST(examples_vibrate_at_the_same_rates_in_all_units))
