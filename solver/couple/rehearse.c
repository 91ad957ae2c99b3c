/* What the outputs were before the start, as far as polynomials through the first windows' ends
 * ask: without it these have fewer nodes, and errors of the first windows limit the order of all.
 *
 * Participants rehearse the first window from the state at the start: trials up to j H/d, j = 1 … d
 * = hold, with inputs of degree d through the start and these nodes, at first constant. Each pass
 * adds an order to the nodes (Picard), so that after d passes they are as good as the polynomial,
 * which is then read at −H, −2 H, … as if windows had ended there. Cost: d² trials of each
 * participant, once.
 */
#include "solver/couple/internal.h"

#include <string.h>

bool couple_rehearses(const struct mech_couple *c)
{
    if (c->options.hold == 0 || c->options.waveform > 0 || c->adaptive ||
        c->clock[CLOCK_WINDOWS] > 0.) {
        return false;
    }
    for (int32_t p = 0; p < c->side_count; p++) {
        if ((c->sides[p].is.abilities & MECH_COUPLE_ROLLBACK) == 0) {
            return false;
        }
    }
    return true;
}

void couple_rehearse(struct mech_couple *c)
{
    const int32_t d = c->options.hold;
    double nodes[MECH_COUPLE_NODES] = {0.};
    for (int32_t j = 1; j <= d; j++) {
        nodes[j] = c->whole * j / d;
    }
    c->phase = COUPLE_REHEARSING;
    c->degree = d;
    c->group = 0;
    c->iteration = 0;
    c->column = 0;
    couple_lagrange(nodes, d, c->basis);
    for (int32_t p = 0; p < c->side_count; p++) {
        const struct couple_side *const s = c->sides + p;
        for (int32_t j = 0; j < d; j++) {
            memcpy(s->nodes + j * s->is.outputs, s->now, (size_t)s->is.outputs * sizeof *s->nodes);
            memcpy(s->next_nodes + j * s->is.outputs, s->now,
                   (size_t)s->is.outputs * sizeof *s->nodes);
        }
    }
}

/* The curve through the nodes, read before the start. */
static void read_back(struct mech_couple *c)
{
    const int32_t d = c->options.hold;
    for (int32_t k = 0; k < d; k++) {
        const double at = -c->whole * (k + 1);
        c->clock[CLOCK_PAST + k] = -at;
        for (int32_t j = 0; j <= d; j++) {
            double weight = 0.;
            for (int32_t power = d; power >= 0; power--) {
                weight = weight * at + c->basis[j][power];
            }
            for (int32_t p = 0; p < c->side_count; p++) {
                const struct couple_side *const s = c->sides + p;
                const int32_t m = s->is.outputs;
                for (int32_t o = 0; o < m; o++) {
                    double *const x = s->past + k * m + o;
                    const double y = j == 0 ? s->now[o] : s->nodes[(j - 1) * m + o];
                    *x = j == 0 ? weight * y : *x + weight * y;
                }
            }
        }
    }
    c->clock[CLOCK_KNOWN] = d;
}

bool couple_rehearse_on(struct mech_couple *c)
{
    const int32_t d = c->options.hold;
    if (c->group > 0) {
        // what the last trials came to
        for (int32_t p = 0; p < c->side_count; p++) {
            const struct couple_side *const s = c->sides + p;
            if (s->read) {
                memcpy(s->next_nodes + (c->group - 1) * s->is.outputs, s->got,
                       (size_t)s->is.outputs * sizeof *s->got);
            }
        }
    }
    if (c->group == d) {
        for (int32_t p = 0; p < c->side_count; p++) {
            const struct couple_side *const s = c->sides + p;
            memcpy(s->nodes, s->next_nodes, (size_t)d * (size_t)s->is.outputs * sizeof *s->nodes);
        }
        c->group = 0;
        if (++c->column == d) {
            read_back(c);
            return false;
        }
    }
    c->group++;
    c->size = c->whole * c->group / d;
    return true;
}
