/* Derivatives of outputs along a column of a derivation (step/tangent.h), by quotients: what
 * sensors compute has no analytic derivatives. */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct mech_tangent;

/* out[k stride] += d(output k)/d(column j) at t->base, whose inputs move along `inputs` [packed] or
 * NULL. samples [4 × outputs] is scratch. */
void mech_output_slopes(struct mech_tangent *t, int32_t j, const double *inputs, double *samples,
                        double *out, size_t stride);
