/* Which contacts of a step cannot be met together, in words. */
#pragma once

#include "solver/sys/problem.h"
#include "solver/vi/vi.h"

#include <stdbool.h>
#include <stddef.h>

/* The two items that meet in a set of rows; the second may be NULL. */
struct mech_conflict_names {
    const char *name[2];
};

struct mech_conflict_of {
    const char *lead; /* NULL: "no impulses satisfy these contacts together", where that is a
                         matter of double precision "no impulses within double precision …" */
    bool accepted;    /* l is as good as a solution: none is told that it meets */
    const void *self;
    struct mech_conflict_names (*names)(const void *self, int32_t set);
};

/* "no impulses satisfy these contacts together: "floor"–"ball", "ball"–"lid"" into text [size],
 * for the impulses l that a solver has come to without solving p within these limits. False: there
 * may be a solution, or l is accepted and what speaks against others does not speak against it, or
 * the search was interrupted, and text stays as it is. Allocates. See vi/certificate.h. */
bool mech_conflict_tell(const struct mech_problem *p, const struct mech_vi_limits *limits,
                        const double *l, const struct mech_conflict_of *of, char *text,
                        size_t size);
