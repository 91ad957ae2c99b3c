/* Functions of time by points; see series.h. The natural cubic spline (C. de Boor, A Practical
 * Guide to Splines, 1978): with h_i = t_{i+1} − t_i and second derivatives m_i at the points,
 *
 *     h_{i-1} m_{i-1} + 2 (h_{i-1} + h_i) m_i + h_i m_{i+1} = 6 (s_i − s_{i-1}),  m_0 = m_{n-1} = 0
 *
 * s_i the slopes of the pieces; tridiagonal, diagonally dominant, solved once. */
#include "solver/items/series.h"

#include "solver/base/err.h"
#include "solver/base/times.h"

#include <math.h>
#include <string.h>

static const char *const interpolations[] = {
    [MECH_SERIES_LINEAR] = "linear", [MECH_SERIES_CUBIC] = "cubic", NULL};
static const char *const outsides[] = {
    [MECH_SERIES_HOLD] = "hold", [MECH_SERIES_ZERO] = "zero", [MECH_SERIES_ERROR] = "error", NULL};

static const struct mech_field fields[] = {
    {.name = "interpolation",
     .kind = MECH_CHOICE,
     .offset = offsetof(struct mech_point_series, interpolation),
     .choices = interpolations,
     .doc = "between the points: straight lines, or the natural cubic spline with continuous "
            "first and second derivatives"},
    {.name = "outside",
     .kind = MECH_CHOICE,
     .offset = offsetof(struct mech_point_series, outside),
     .choices = outsides,
     .doc = "before the first and after the last point: the nearest value holds, it is zero, or "
            "a step there is refused"},
    {.name = "t",
     .kind = MECH_VECTOR,
     .offset = offsetof(struct mech_point_series, t),
     .flags = MECH_REQUIRED,
     .unit = "s",
     MECH_ANY_REAL,
     .doc = "times of the points, increasing; at least two"},
    {.name = "values",
     .kind = MECH_VECTOR,
     .offset = offsetof(struct mech_point_series, values),
     .flags = MECH_REQUIRED,
     MECH_ANY_REAL,
     .doc = "values at the points, in the unit of the field"},
};
const struct mech_table mech_point_series_table = {.name = "TimeTable",
                                                   .doc = "A function of time by points.",
                                                   .size = sizeof(struct mech_point_series),
                                                   MECH_FIELDS(fields)};

static void fault(struct mech_path *path, const char *key, struct mech_diag *diag, size_t n,
                  const char *what)
{
    const size_t mark = mech_path_push(path, key);

    mech_diag_add(diag, path->text, "has %zu numbers, needs %s", n, what);
    mech_path_cut(path, mark);
}

void mech_point_series_check(const struct mech_point_series *s, struct mech_path *path,
                             struct mech_diag *diag)
{
    if (s->t.n < 2) {
        fault(path, "t", diag, s->t.n, "at least 2");
    } else if (s->values.n != s->t.n) {
        fault(path, "values", diag, s->values.n, "one per time");
    }
    for (size_t i = 1; i < s->t.n; i++) {
        if (!(s->t.x[i] > s->t.x[i - 1])) {
            const size_t mark = mech_path_push(path, "t");

            mech_path_push_index(path, i);
            mech_diag_add(diag, path->text, "%g is not later than %g, the time before it",
                          s->t.x[i], s->t.x[i - 1]);
            mech_path_cut(path, mark);
            return;
        }
    }
}

static double slope(const struct mech_curve *c, size_t i)
{
    return (c->y[i + 1] - c->y[i]) / (c->t[i + 1] - c->t[i]);
}

/* The tridiagonal system of the inner points, by elimination downwards and back. */
static void bend(struct mech_curve *c, double *factor)
{
    double *const m = c->bend;

    m[0] = 0.;
    factor[0] = 0.;
    for (size_t i = 1; i + 1 < c->n; i++) {
        const double before = c->t[i] - c->t[i - 1], after = c->t[i + 1] - c->t[i];
        const double pivot = 2. * (before + after) - before * factor[i - 1];

        factor[i] = after / pivot;
        m[i] = (6. * (slope(c, i) - slope(c, i - 1)) - before * m[i - 1]) / pivot;
    }
    m[c->n - 1] = 0.;
    for (size_t i = c->n - 1; i-- > 1;) {
        m[i] -= factor[i] * m[i + 1];
    }
}

int mech_curve_init(struct mech_curve *c, struct mech_arena *arena,
                    const struct mech_point_series *s)
{
    const size_t n = s->t.n;

    *c = (struct mech_curve){.t = mech_arena_alloc(arena, n, sizeof *c->t),
                             .y = mech_arena_alloc(arena, n, sizeof *c->y),
                             .n = n,
                             .outside = s->outside};
    if (!c->t || !c->y) {
        return MECH_NO_MEMORY;
    }
    memcpy(c->t, s->t.x, n * sizeof *c->t);
    memcpy(c->y, s->values.x, n * sizeof *c->y);
    if (s->interpolation == MECH_SERIES_CUBIC) {
        double *const factor = mech_arena_alloc(arena, n, sizeof *factor);

        c->bend = mech_arena_alloc(arena, n, sizeof *c->bend);
        if (!factor || !c->bend) {
            return MECH_NO_MEMORY;
        }
        bend(c, factor);
    }
    return 0;
}

/* The piece in which t lies: its first point; t is not outside. */
static size_t piece(const struct mech_curve *c, double t)
{
    size_t low = 0, high = c->n - 1;

    while (high - low > 1) {
        const size_t middle = low + (high - low) / 2;

        if (t >= c->t[middle]) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return low;
}

/* A time that is the first or the last one but for rounding is that one. */
static double settle(const struct mech_curve *c, double t)
{
    const size_t last = c->n - 1;

    return t < c->t[0] && mech_time_same(t, c->t[0], c->t[1] - c->t[0])         ? c->t[0]
           : t > c->t[last] && mech_time_same(t, c->t[last], c->t[1] - c->t[0]) ? c->t[last]
                                                                                : t;
}

void mech_curve_at(const struct mech_curve *c, double t, double out[3])
{
    const size_t last = c->n - 1;

    t = settle(c, t);
    out[0] = out[1] = out[2] = 0.;
    if (!(t >= c->t[0] && t <= c->t[last])) {
        if (c->outside == MECH_SERIES_ERROR) {
            out[0] = out[1] = out[2] = (double)NAN;
        } else if (c->outside == MECH_SERIES_HOLD) {
            out[0] = t < c->t[0] ? c->y[0] : c->y[last];
        }
        return;
    }
    const size_t i = piece(c, t);
    const double h = c->t[i + 1] - c->t[i];
    const double a = (c->t[i + 1] - t) / h, b = (t - c->t[i]) / h;

    out[0] = a * c->y[i] + b * c->y[i + 1];
    out[1] = slope(c, i);
    if (c->bend) {
        const double ma = c->bend[i], mb = c->bend[i + 1];

        out[0] += h * h / 6. * ((a * a - 1.) * a * ma + (b * b - 1.) * b * mb);
        out[1] += h / 6. * ((1. - 3. * a * a) * ma + (3. * b * b - 1.) * mb);
        out[2] = a * ma + b * mb;
    }
}
