/* Inputs over a step; see signal.h. A value of -0 to which nothing is added keeps its sign. */
#include "solver/model/signal.h"

#include <stddef.h>

/* The last sample at or before τ, by bisection; τ lies within the samples. */
static int32_t before(const struct mech_signal *g, double tau)
{
    int32_t low = 0, high = g->n - 1;

    while (high - low > 1) {
        const int32_t middle = low + (high - low) / 2;

        if (g->tau[middle] <= tau) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return low;
}

double mech_signal_value(const struct mech_signal *g, double t)
{
    const double tau = t - g->start;
    const size_t stride = (size_t)g->stride;

    if (!g->tau) {
        double sum = g->values[(size_t)(g->n - 1) * stride];

        for (int32_t k = g->n - 1; k-- > 0;) {
            const double more = sum * tau, own = g->values[(size_t)k * stride];

            sum = more != 0. ? more + own : own;
        }
        return sum;
    }
    if (tau <= g->tau[0]) {
        return g->values[0];
    }
    if (tau >= g->tau[g->n - 1]) {
        return g->values[(size_t)(g->n - 1) * stride];
    }
    const int32_t k = before(g, tau);
    const double *const at = g->values + (size_t)k * stride;
    const double share = (tau - g->tau[k]) / (g->tau[k + 1] - g->tau[k]);

    const double more = share * (at[stride] - at[0]);

    return more != 0. ? at[0] + more : at[0];
}
