/* What can be said of a model description only when all of it is there: names that are used twice,
 * declared types, sizes of arrays, start values, dependencies. */
#pragma once

#include "server/engine/fmu_attributes.h"

/* Completes r->d from the lists. 0, MECH_NO_MEMORY or an outcome, whose fault is kept. */
int mechd_fmu_resolve(struct mechd_fmu_reading *r);

/* Least and greatest value of a whole type; both 0: it is not whole. */
void mechd_fmu_type_range(enum mechd_fmu_type type, double *low, double *high);
