/* Cones beside fast sliding; see slide.h. */
#include "solver/sys/slide.h"

#include <math.h>

/* A part of a cone that its normal row bounds by a coefficient. */
struct part {
    double mu;
    int32_t row, rows;
};

enum { PARTS = 3 }; /* of one set, at most */

/* Returns their number. */
static int parts_of(const struct mech_set *set, struct part part[PARTS])
{
    part[0] = (struct part){set->mu, 1, set->kind == MECH_SET_CONE ? set->rows - 1 : 2};
    part[1] = (struct part){set->spinning, 3, 1};
    part[2] = (struct part){set->rolling, 4, 2};
    return set->kind == MECH_SET_ROLLING ? PARTS : 1;
}

double mech_slide_norm(int32_t rows, const double *x)
{
    double largest = 0., sum = 0.;

    if (rows == 1) {
        return fabs(x[0]);
    }
    for (int32_t k = 0; k < rows; k++) {
        largest = fabs(x[k]) > largest || isnan(x[k]) ? fabs(x[k]) : largest;
    }
    if (!(largest > 0.) || isinf(largest)) {
        return largest;
    }
    for (int32_t k = 0; k < rows; k++) {
        sum += x[k] / largest * (x[k] / largest);
    }
    return largest * sqrt(sum);
}

double mech_slide_of(const struct mech_set *set, const double *x)
{
    struct part part[PARTS];
    const int parts = parts_of(set, part);
    double sum = 0.;

    for (int k = 0; k < parts; k++) {
        sum += part[k].mu * mech_slide_norm(part[k].rows, x + part[k].row);
    }
    return sum;
}

/* A part slides that is longer than μ n; n grows with each that does not. */
struct sliding {
    struct part part[PARTS];
    double x[MECH_SET_ROWS], size[PARTS], fast[PARTS], more[PARTS]; /* ‖x‖, ‖c‖, ‖x‖ − ‖c‖ */
    bool slides[PARTS];
    int parts, sliding;
};

static void start(const struct mech_set *set, const double *l, const double *c, struct sliding *s)
{
    s->parts = s->sliding = parts_of(set, s->part);
    for (int k = 0; k < s->parts; k++) {
        const struct part t = s->part[k];
        double more = 0.;

        for (int32_t i = t.row; i < t.row + t.rows; i++) {
            s->x[i] = l[i] - c[i];
            more += l[i] * (l[i] - 2. * c[i]);
        }
        s->size[k] = mech_slide_norm(t.rows, s->x + t.row);
        s->fast[k] = mech_slide_norm(t.rows, c + t.row);
        s->more[k] = more == 0. ? 0. : more / (s->size[k] + s->fast[k]);
        s->slides[k] = true;
    }
}

/* n for what slides now */
static double normal_of(const struct sliding *s, double x_N)
{
    double sum = x_N, share = 1.;

    for (int k = 0; k < s->parts; k++) {
        const double mu = s->part[k].mu;

        sum += mu * (s->slides[k] ? s->more[k] : -s->fast[k]);
        share += s->slides[k] ? mu * mu : 0.;
    }
    return sum / share;
}

/* Parts that do not slide; returns n. */
static double settle(struct sliding *s, double x_N)
{
    for (;;) {
        const double n = normal_of(s, x_N);
        const int before = s->sliding;

        for (int k = 0; k < s->parts; k++) {
            if (s->slides[k] && s->size[k] <= s->part[k].mu * n) {
                s->slides[k] = false;
                s->sliding--;
            }
        }
        if (s->sliding == before) {
            return n;
        }
    }
}

double mech_slide_miss(const struct mech_set *set, const double *l, const double *c,
                       const double *map)
{
    struct sliding s;
    double off[MECH_SET_ROWS];

    start(set, l, c, &s);
    const double n = settle(&s, l[0] - c[0]);

    if (s.sliding == 0) {
        return mech_slide_norm(set->rows, map);
    }
    off[0] = l[0] - (n > 0. ? n : 0.);
    for (int k = 0; k < s.parts; k++) {
        const struct part t = s.part[k];

        for (int32_t i = t.row; i < t.row + t.rows; i++) {
            const double on = n > 0. ? t.mu * n * (s.x[i] / s.size[k]) : 0.;

            off[i] = s.slides[k] ? l[i] - on : c[i];
        }
    }
    const double exact = mech_slide_norm(set->rows, off);

    return isfinite(exact + n) ? exact : mech_slide_norm(set->rows, map);
}
