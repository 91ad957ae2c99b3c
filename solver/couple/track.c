/* B-splines through substeps: de Boor's evaluation, and a banded collocation matrix, which is
 * totally positive and needs no pivoting (C. de Boor, A. Pinkus, Numer. Math. 27 (1977)). */
#include "solver/couple/track.h"

#include <string.h>

enum { DEGREE = 3, BAND = 2 * DEGREE + 1 };

void mech_track_lay(struct mech_track *t, struct mech_room *room)
{
    const size_t points = (size_t)t->most + 1, values = points * (size_t)t->outputs;
    t->held = mech_room_ints(room, 2);
    t->time = mech_room_reals(room, points);
    t->value = mech_room_reals(room, values);
    t->control = mech_room_reals(room, values);
    t->knot = mech_room_reals(room, points + DEGREE + 1);
    t->band = mech_room_reals(room, points * BAND);
}

/* Index s with knot[s] ≤ x < knot[s + 1], within the curve. */
static int32_t span(const struct mech_track *t, double x)
{
    const int32_t p = t->held[1], last = t->held[0];
    int32_t low = p, high = last + 1;
    while (high - low > 1) {
        const int32_t middle = (low + high) / 2;
        if (t->knot[middle] <= x) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return low;
}

/* The p + 1 basis functions that are not 0 in span s (Cox, de Boor). */
static void basis(const struct mech_track *t, int32_t s, double x, double *b)
{
    double left[DEGREE + 1], right[DEGREE + 1];
    b[0] = 1.;
    for (int32_t j = 1; j <= t->held[1]; j++) {
        left[j] = x - t->knot[s + 1 - j];
        right[j] = t->knot[s + j] - x;
        double saved = 0.;
        for (int32_t r = 0; r < j; r++) {
            const double part = b[r] / (right[r + 1] + left[j - r]);
            b[r] = saved + right[r + 1] * part;
            saved = left[j - r] * part;
        }
        b[j] = saved;
    }
}

static void set_knots(struct mech_track *t)
{
    const int32_t last = t->held[0], p = t->held[1];
    for (int32_t j = 0; j <= p; j++) {
        t->knot[j] = t->time[0];
        t->knot[last + 1 + j] = t->time[last];
    }
    for (int32_t j = 1; j <= last - p; j++) {
        double sum = 0.;
        for (int32_t i = j; i < j + p; i++) {
            sum += t->time[i];
        }
        t->knot[j + p] = sum / p;
    }
}

/* L U of the collocation matrix, row i from column i − p. */
static void factor(struct mech_track *t)
{
    const int32_t n = t->held[0] + 1, p = t->held[1];
    memset(t->band, 0, (size_t)n * BAND * sizeof *t->band);
    for (int32_t i = 0; i < n; i++) {
        double b[DEGREE + 1];
        const int32_t s = span(t, t->time[i]);
        basis(t, s, t->time[i], b);
        for (int32_t k = 0; k <= p; k++) {
            const int32_t place = s - p + k - i + DEGREE;
            if (place >= 0 && place < BAND) {
                t->band[i * BAND + place] = b[k];
            }
        }
    }
    for (int32_t k = 0; k < n; k++) {
        for (int32_t i = k + 1; i < n && i <= k + p; i++) {
            double *const row = t->band + i * BAND + DEGREE - i;
            const double *const pivot = t->band + k * BAND + DEGREE - k;
            row[k] /= pivot[k];
            for (int32_t j = k + 1; j < n && j <= k + p; j++) {
                row[j] -= row[k] * pivot[j];
            }
        }
    }
}

static void solve(struct mech_track *t)
{
    const int32_t n = t->held[0] + 1, p = t->held[1], m = t->outputs;
    for (int32_t i = 0; i < n; i++) {
        const double *const row = t->band + i * BAND + DEGREE - i;
        for (int32_t k = i > p ? i - p : 0; k < i; k++) {
            for (int32_t o = 0; o < m; o++) {
                t->control[i * m + o] -= row[k] * t->control[k * m + o];
            }
        }
    }
    for (int32_t i = n - 1; i >= 0; i--) {
        const double *const row = t->band + i * BAND + DEGREE - i;
        for (int32_t o = 0; o < m; o++) {
            double x = t->control[i * m + o];
            for (int32_t k = i + 1; k < n && k <= i + p; k++) {
                x -= row[k] * t->control[k * m + o];
            }
            t->control[i * m + o] = x / row[i];
        }
    }
}

void mech_track_fit(struct mech_track *t)
{
    t->held[1] = t->wanted < t->held[0] ? t->wanted : t->held[0];
    set_knots(t);
    const size_t values = ((size_t)t->held[0] + 1) * (size_t)t->outputs;
    memcpy(t->control, t->value, values * sizeof *t->control);
    // straight lines pass through their control points
    if (t->held[1] > 1) {
        factor(t);
        solve(t);
    }
}

/* de Boor's scheme of degree q on q + 1 local control points. */
static double evaluate(const double *knot, int32_t s, int32_t q, const double *c, double x)
{
    double d[DEGREE + 1];
    memcpy(d, c, sizeof d);
    for (int32_t r = 1; r <= q; r++) {
        for (int32_t j = q; j >= r; j--) {
            const double low = knot[j + s - q], high = knot[j + 1 + s - r];
            const double part = (x - low) / (high - low);
            d[j] = (1. - part) * d[j - 1] + part * d[j];
        }
    }
    return d[q];
}

void mech_track_at(const struct mech_track *t, int32_t output, double at, int32_t order, double *d)
{
    const int32_t p = t->held[1], s = span(t, at);
    double c[DEGREE + 1] = {0.};
    for (int32_t j = 0; j <= p; j++) {
        c[j] = t->control[(s - p + j) * t->outputs + output];
    }
    for (int32_t r = 0; r <= order; r++) {
        const int32_t q = p - r;
        d[r] = q < 0 ? 0. : evaluate(t->knot, s, q, c, at);
        // the control points of the derivative
        for (int32_t j = 0; j < q; j++) {
            const double *const u = t->knot + s - q + j + 1;
            c[j] = q * (c[j + 1] - c[j]) / (u[q] - u[0]);
        }
    }
}
