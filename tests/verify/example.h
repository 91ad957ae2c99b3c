/* The daemon's examples, for tests: read from server/examples.
 *
 *     struct mech_sim *s = example_of("bouncing-ball");
 *
 * The caller destroys the simulation.
 */
#pragma once

#include "tests/unit/model.h"

/* the build says where it is; this is for the header compiled alone */
#ifndef MECH_TESTS_FOLDER
#define MECH_TESTS_FOLDER "tests"
#endif

/* A whole text file, which the caller frees. */
static inline char *example_text(const char *path)
{
    enum { MOST = 1 << 20 };
    char *const text = calloc(1, MOST);
    FILE *const f = fopen(path, "r");

    CU_ASSERT_FATAL(text && f);
    text[fread(text, 1, MOST - 1, f)] = '\0';
    fclose(f);
    return text;
}

static inline struct mech_sim *example_of(const char *name)
{
    char path[1024];
    struct mech_diag diag;
    struct mech_sim *s = NULL;

    snprintf(path, sizeof path, "%s/../server/examples/%s.json", MECH_TESTS_FOLDER, name);
    char *const text = example_text(path);
    mech_diag_init(&diag);
    CU_ASSERT_EQUAL_FATAL(model_read(text, &diag, &s), 0);
    mech_diag_fini(&diag);
    free(text);
    return s;
}

/* One output by its name; up to 16 values, of which the first is returned. */
static inline double example_output(const struct mech_sim *s, const char *name, double *values)
{
    double own[16] = {NAN};
    const int32_t k = mech_sim_variable_find(s, MECH_OUTPUT_VARIABLE, name);

    CU_ASSERT_FATAL(k >= 0);
    mech_sim_get_output(s, k, values ? values : own);
    return values ? values[0] : own[0];
}
