/* Derivatives of outputs along a column of a derivation (step/tangent.h), by quotients: what
 * sensors compute has no analytic derivatives. */
#pragma once

#include "solver/analysis/quotient.h"

#include <stddef.h>
#include <stdint.h>

struct mech_tangent;

struct mech_model;
struct mech_state;

/* Some of a model's output channels, whose values are packed in this order. */
struct mech_output_rows {
    const int32_t *channels; /* [count]; NULL: all */
    size_t count;            /* of channels; read with them */
    size_t size;             /* of their values in all */
    double *samples;         /* [MECH_QUOTIENT_EACH × size] scratch */
};
/* Their values [size] in a state. */
void mech_output_rows_values(const struct mech_model *m, const struct mech_state *s,
                             const struct mech_output_rows *rows, double *values);

/* out[k stride] += d(value k of the rows)/d(column j) at t->base, whose inputs move along `inputs`
 * [packed] or NULL. */
void mech_output_slopes(struct mech_tangent *t, int32_t j, const double *inputs,
                        const struct mech_output_rows *rows, double *out, size_t stride);
