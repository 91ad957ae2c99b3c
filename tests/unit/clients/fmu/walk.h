/* What the walks through the states of FMI 2.0 and of 3.0 share: the list of functions, and what is
 * expected of a call in a state. */
#pragma once

#include "tests/unit/clients/fmu/importer.h"

#include <assert.h>

/* The functions of the list that co-simulation has. */
static inline size_t walk_count(const struct mechp_fmi_symbol *list)
{
    size_t n = 0;
    for (const struct mechp_fmi_symbol *s = list; s->name; s++) {
        n += s->group == MECHP_FMI_COMMON || s->group == MECHP_FMI_COSIM;
    }
    return n;
}

/* The numbers of a status are the same in both. */
static_assert((int)MECHP_FMI2_OK == (int)MECHP_FMI3_OK, "");
static_assert((int)MECHP_FMI2_ERROR == (int)MECHP_FMI3_ERROR, "");

/* A function was called in that state and returned that status; f->text was empty before. */
static inline void walk_check(const struct imported *f, const struct mechp_fmi_symbol *list,
                              const char *name, unsigned state, int status)
{
    const struct mechp_fmi_symbol *s = list;
    while (s->name && strcmp(s->name, name) != 0) {
        s++;
    }
    CU_ASSERT_PTR_NOT_NULL_FATAL(s->name);
    const bool refused = strstr(f->text, "is not allowed in this state") != NULL;
    const bool allowed = (s->states & state) != 0;
    if (refused == allowed) {
        fprintf(stderr, "%s in state %u: %s\n", name, state, f->text);
    }
    CU_ASSERT_EQUAL(refused, !allowed);
    CU_ASSERT(!refused ||
              (status == MECHP_FMI3_ERROR && strncmp(f->text, name, strlen(name)) == 0));
    /* without a message a function has done what it does */
    CU_ASSERT(status == MECHP_FMI3_OK || f->text[0] != '\0');
}
