/* The end of a window: its error, all commit, and what the next one starts from.
 *
 * With error control the estimate is how far the extrapolation through the last q + 1 ends is from
 * what this window came to, ∝ H^(q+1) (T. Schierz, M. Arnold, C. Clauß, Modelica Conf. 2012). */
#include "solver/couple/internal.h"

#include "solver/base/err.h"

#include <math.h>
#include <string.h>

/* Step size control: safety, and how much a size may change at once (E. Hairer, S. Nørsett,
 * G. Wanner, Solving Ordinary Differential Equations I, II.4). */
static const double safety = 0.9, shrink_most = 0.2, grow_most = 2.;

/* Error of the inputs, of what is allowed; and the size that would just be allowed. */
static double estimate(const struct mech_couple *c, double *proposed)
{
    const double known = c->clock[CLOCK_KNOWN];
    const double order = 1. + (c->options.hold < known ? c->options.hold : known);
    double error = 0.;
    for (int32_t p = 0; p < c->side_count; p++) {
        const struct couple_side *const s = c->sides + p;
        for (int32_t o = 0; s->read && o < s->is.outputs; o++) {
            const double size = fmax(fabs(s->got[o]), fabs(s->now[o]));
            const double allowed =
                c->options.adaptive_absolute + c->options.adaptive_relative * size;
            const double off = fabs(s->got[o] - s->ahead[o]);
            error = off > 0. ? fmax(error, off / allowed) : error;
        }
    }
    const double factor = error > 0. ? safety * pow(error, -1. / order) : grow_most;
    *proposed = c->size * fmin(fmax(factor, shrink_most), grow_most);
    return error;
}

void couple_accept(struct mech_couple *c)
{
    if (c->adaptive) {
        double proposed = 0.;
        c->report.error = estimate(c, &proposed);
        const bool good = c->report.error <= 1.;
        if (!good && c->size <= c->options.minimum) {
            couple_fail(c, -1, MECH_STEP_TOO_SMALL,
                        "the error is too large, and the window is at its minimum");
            return;
        }
        proposed = fmin(fmax(proposed, c->options.minimum), c->options.maximum);
        if (!good) {
            if (c->type->end) {
                c->type->end(c->self, false);
            }
            c->size = fmin(proposed, c->size);
            c->report.refused++;
            couple_open(c);
            return;
        }
        // a window that its caller cut short gives little information about larger ones
        const bool cut = c->size >= c->asked;
        c->report.next_size = cut ? fmax(proposed, c->clock[CLOCK_NEXT]) : proposed;
    }
    c->phase = COUPLE_COMMITTING;
    couple_hand_all(c, MECH_COUPLE_COMMIT);
}

/* The end is set, not accumulated: n windows of the same size end at their base + n H. */
static void set_time(struct mech_couple *c)
{
    double *const k = c->clock;
    if (k[CLOCK_SIZE] != c->size) {
        k[CLOCK_BASE] = k[CLOCK_TIME];
        k[CLOCK_SIZE] = c->size;
        k[CLOCK_SAME] = 0.;
    }
    k[CLOCK_SAME] += 1.;
    k[CLOCK_TIME] = k[CLOCK_BASE] + k[CLOCK_SAME] * c->size;
}

void couple_finish_window(struct mech_couple *c)
{
    double *const past = c->clock + CLOCK_PAST;
    if (c->bond_count > 0) {
        couple_bonds_end(c);
    }
    if (c->measured) {
        couple_flow_connections(c);
    }
    for (int32_t p = 0; p < c->side_count; p++) {
        struct couple_side *const s = c->sides + p;
        const size_t m = (size_t)s->is.outputs;
        if (c->options.hold > 0) {
            memmove(s->past + m, s->past, m * (MECH_COUPLE_HOLD_MOST - 1) * sizeof *s->past);
            memcpy(s->past, s->now, m * sizeof *s->past);
        }
        memcpy(s->now, s->got, m * sizeof *s->now);
    }
    for (int32_t k = MECH_COUPLE_HOLD_MOST - 1; k > 0; k--) {
        past[k] = past[k - 1] + c->size;
    }
    past[0] = c->size;
    c->clock[CLOCK_KNOWN] = fmin(c->clock[CLOCK_KNOWN] + 1., c->options.hold);
    if (c->measured) {
        couple_flow_bonds(c);
    }
    set_time(c);
    c->clock[CLOCK_WINDOWS] += 1.;
    c->clock[CLOCK_NEXT] = c->report.next_size;
    c->report.size = c->size;
    if (c->type->end) {
        c->type->end(c->self, true);
    }
    c->phase = COUPLE_IDLE;
}

void couple_finish_start(struct mech_couple *c)
{
    for (int32_t p = 0; p < c->side_count; p++) {
        const struct couple_side *const s = c->sides + p;
        memcpy(s->now, s->got, (size_t)s->is.outputs * sizeof *s->now);
    }
    if (c->bond_count > 0) {
        couple_bonds_start(c);
    }
    couple_flow_begin(c);
    c->phase = COUPLE_IDLE;
}
