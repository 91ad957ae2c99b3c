/* The state [q v x z] of an instance of the solver as one array. As owner of the instance. */
#pragma once

#include "server/instance/instance.h"

#include <stddef.h>

/* Its length; 0: the instance is no model of the solver. */
size_t mechd_state_size(const struct mechd_instance *i);
/* Set it [mechd_state_size], at this time, s (NAN: time stays). Negative: a value is not finite,
 * and nothing has changed. */
int mechd_state_set(struct mechd_instance *i, double time, const double *values);
/* Copy it [mechd_state_size]; its time, s. */
double mechd_state_get(const struct mechd_instance *i, double *values);
