/* What the fields of a document say of the parameters that set them.
 *
 * A number that is written as one parameter ("=k") has the range and the unit of its field, and so
 * has the parameter: of several such numbers the narrowest range, and the unit if they have the
 * same. Other expressions ("=2*k") say nothing of their parameters. Pure, any thread.
 *
 *     struct mech_limits limits[2];                  parameters m, k; physicsMass "=m"
 *     mech_document_limits(document, limits);        limits[0]: from 0 on, kg
 */
#pragma once

#include "solver/items/document.h"

struct mech_limits {
    double min, max;  /* an end that the range does not contain itself is given as it is; infinite:
                         none */
    const char *unit; /* of one quantity ("N/m"); "" where fields have none, several ("m or rad") or
                         not the same */
};

/* limits [d->parameters.n], whose units are static. Cost: one look into the bindings a number of
 * the document. */
void mech_document_limits(const struct mech_document *d, struct mech_limits *limits);
