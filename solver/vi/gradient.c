/* Memory and products of members that descend along the gradient; see gradient.h. */
#include "solver/vi/gradient.h"

#include "solver/base/err.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { VECTORS = 10, POWER_STEPS = 8 };

int mech_gradient_create(int32_t most, void **self)
{
    const size_t n = most > 0 ? (size_t)most : 1;
    struct mech_gradient *const s = calloc(1, sizeof *s);
    double *const memory = calloc(VECTORS * n, sizeof *memory);

    struct mech_acceptance *accept = NULL;

    if (!s || !memory || mech_acceptance_create(most, &accept) != 0) {
        free(s);
        free(memory);
        return MECH_NO_MEMORY;
    }
    *s = (struct mech_gradient){
        .outer = {.r = memory, .c = memory + n, .best = memory + 2 * n, .accept = accept},
        .c = memory + 3 * n,
        .best = memory + 4 * n,
        .x = memory + 5 * n,
        .y = memory + 6 * n,
        .z = memory + 7 * n,
        .gx = memory + 8 * n,
        .gy = memory + 9 * n,
        .memory = memory};
    *self = s;
    return 0;
}

void mech_gradient_destroy(void *self)
{
    struct mech_gradient *const s = self;

    if (s) {
        mech_acceptance_destroy(s->outer.accept);
        free(s->memory);
        free(s);
    }
}

double mech_gradient_dot(int32_t m, const double *a, const double *b)
{
    double sum = 0.;

    for (int32_t i = 0; i < m; i++) {
        sum += a[i] * b[i];
    }
    return sum;
}

double mech_gradient_largest(struct mech_gradient *s, const struct mech_problem *p)
{
    double largest = 0., size;

    for (int32_t i = 0; i < p->m; i++) {
        s->x[i] = 1. + 0.3 * (double)(i % 5) - (double)(i % 2); /* along no pattern of the rows */
    }
    for (int k = 0; k < POWER_STEPS; k++) {
        mech_problem_product(p, s->x, s->y);
        size = sqrt(mech_gradient_dot(p->m, s->x, s->x));
        const double grown = sqrt(mech_gradient_dot(p->m, s->y, s->y));

        largest = fmax(largest, size > 0. ? grown / size : 0.);
        for (int32_t i = 0; i < p->m && grown > 0.; i++) {
            s->x[i] = s->y[i] / grown;
        }
    }
    return largest;
}
