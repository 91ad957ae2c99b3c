/* Inputs over a window. Polynomials in τ by Lagrange's formula through the nodes: the end of this
 * window (iterated or extrapolated), its start, the ends before. */
#include "solver/couple/internal.h"

#include <string.h>

/* Node j of the polynomials: τ. */
static double node(const struct mech_couple *c, int32_t j)
{
    return j == 0 ? c->size : j == 1 ? 0. : -c->clock[CLOCK_PAST + j - 2];
}

void couple_lagrange(const double *nodes, int32_t d,
                     double basis[MECH_COUPLE_NODES][MECH_COUPLE_NODES])
{
    for (int32_t j = 0; j < MECH_COUPLE_NODES; j++) {
        double *const b = basis[j];
        memset(b, 0, MECH_COUPLE_NODES * sizeof *b);
        b[0] = j <= d;
        for (int32_t k = 0, power = 0; j <= d && k <= d; k++) {
            if (k == j) {
                continue;
            }
            // times (τ − τ_k)/(τ_j − τ_k)
            const double over = 1. / (nodes[j] - nodes[k]), root = nodes[k];
            for (int32_t i = ++power; i > 0; i--) {
                b[i] = (b[i - 1] - root * b[i]) * over;
            }
            b[0] *= -root * over;
        }
    }
}

void couple_set_basis(struct mech_couple *c)
{
    const int32_t known = 1 + (int32_t)c->clock[CLOCK_KNOWN];
    double nodes[MECH_COUPLE_NODES] = {0.};
    c->degree = c->options.hold < known ? c->options.hold : known;
    for (int32_t j = 0; j <= c->degree; j++) {
        nodes[j] = node(c, j);
    }
    couple_lagrange(nodes, c->degree, c->basis);
}

void couple_ahead(const double *nodes, int32_t degree, double *weight)
{
    for (int32_t j = 0; j <= degree; j++) {
        weight[j] = 1.;
        for (int32_t k = 0; k <= degree; k++) {
            if (k != j) {
                weight[j] *= (nodes[0] - nodes[k + 1]) / (nodes[j + 1] - nodes[k + 1]);
            }
        }
    }
}

void couple_extrapolate(struct mech_couple *c)
{
    const int32_t known = (int32_t)c->clock[CLOCK_KNOWN];
    const int32_t degree = c->options.hold < known ? c->options.hold : known;
    double nodes[MECH_COUPLE_NODES + 1] = {c->size}, weight[MECH_COUPLE_NODES];
    for (int32_t j = 1; j <= degree + 1; j++) {
        nodes[j] = node(c, j);
    }
    couple_ahead(nodes, degree, weight);
    for (int32_t p = 0; p < c->side_count; p++) {
        const struct couple_side *const s = c->sides + p;
        for (int32_t o = 0; s->read && o < s->is.outputs; o++) {
            double y = weight[0] * s->now[o];
            for (int32_t j = 1; j <= degree; j++) {
                y += weight[j] * s->past[(j - 1) * s->is.outputs + o];
            }
            s->ahead[o] = y;
            s->end[o] = y;
        }
    }
}

double couple_guessed(const struct mech_couple *c, const struct couple_side *s, int32_t output,
                      double at)
{
    double y = 0.;
    for (int32_t j = 0; j <= c->degree; j++) {
        const double *const from = j == 0   ? s->end
                                   : j == 1 ? s->now
                                            : s->past + (j - 2) * s->is.outputs;
        double weight = 0.;
        for (int32_t k = c->degree; k >= 0; k--) {
            weight = weight * at + c->basis[j][k];
        }
        y += weight * from[output];
    }
    return y;
}

double couple_summed(const struct couple_side *s, int32_t output)
{
    const struct mech_track *const t = &s->made;
    const int32_t m = s->is.outputs;
    double sum = 0.;
    for (int32_t i = 1; i <= t->held[0]; i++) {
        const double both = t->value[(i - 1) * m + output] + t->value[i * m + output];
        sum += 0.5 * (t->time[i] - t->time[i - 1]) * both;
    }
    return sum;
}

bool couple_seen_early(const struct mech_couple *c, int32_t from, int32_t to)
{
    const struct couple_side *const s = c->sides + from;
    if (c->phase == COUPLE_STARTING) {
        return c->group == START_LOOPS && (s->is.abilities & MECH_COUPLE_FEEDTHROUGH) == 0;
    }
    return c->in_turn && s->turn < c->sides[to].turn;
}

/* Whether this one's outputs come through substeps in that evaluation. */
static const struct mech_track *track_of(const struct mech_couple *c, int32_t from, int32_t to)
{
    if (c->options.waveform == 0 || c->phase == COUPLE_STARTING) {
        return NULL;
    }
    const struct couple_side *const s = c->sides + from;
    if (couple_seen_early(c, from, to)) {
        return &s->made;
    }
    return c->iteration > 0 ? &s->guess : NULL;
}

double couple_coefficient(const struct mech_couple *c, const struct couple_link *link, int32_t to,
                          int32_t k)
{
    const struct couple_side *const s = c->sides + link->from;
    if (c->phase == COUPLE_REHEARSING) {
        double y = c->basis[0][k] * s->now[link->output];
        for (int32_t j = 1; j <= c->degree; j++) {
            y += c->basis[j][k] * s->nodes[(j - 1) * s->is.outputs + link->output];
        }
        return y;
    }
    const double *const end = couple_seen_early(c, link->from, to) ? s->got : s->end;
    if (c->phase == COUPLE_STARTING) {
        return k == 0 ? end[link->output] : 0.;
    }
    double x = c->basis[0][k] * end[link->output];
    for (int32_t j = 1; j <= c->degree; j++) {
        const double *const y = j == 1 ? s->now : s->past + (j - 2) * s->is.outputs;
        x += c->basis[j][k] * y[link->output];
    }
    return x;
}

void couple_set_polynomial(const struct mech_couple *c, struct couple_side *s)
{
    const int32_t n = s->is.inputs, to = (int32_t)(s - c->sides);
    const int32_t degree = c->phase == COUPLE_STARTING ? 0 : c->degree;
    memset(s->polynomial, 0, (size_t)n * MECH_COUPLE_NODES * sizeof *s->polynomial);
    memcpy(s->polynomial, s->offset, (size_t)n * sizeof *s->polynomial);
    for (int32_t l = 0; l < s->link_count; l++) {
        const struct couple_link *const link = s->links + l;
        if (link->from < 0) {
            s->polynomial[link->input] += link->factor * c->effort[link->output];
            continue;
        }
        for (int32_t k = 0; k <= degree; k++) {
            s->polynomial[k * n + link->input] += link->factor * couple_coefficient(c, link, to, k);
        }
    }
}

/* The r-th derivatives of Σ p[k · stride] τ^k, r ≤ order, times factor added to u. */
static void add_polynomial(const double *p, int32_t stride, double at, int32_t order, double *d)
{
    for (int32_t r = 0; r <= order; r++) {
        double x = 0.;
        for (int32_t k = MECH_COUPLE_HOLD_MOST; k >= r; k--) {
            double part = p[k * stride];
            for (int32_t j = 0; j < r; j++) {
                part *= k - j;
            }
            x = x * at + part;
        }
        d[r] = x;
    }
}

void mech_couple_input(const struct mech_couple_task *task, double at, int32_t order, double *u)
{
    const struct mech_couple *const c = task->view->couple;
    const int32_t to = task->view->side;
    const struct couple_side *const s = c->sides + to;
    const int32_t n = s->is.inputs;
    double d[MECH_COUPLE_NODES];
    if (task->polynomial) {
        for (int32_t i = 0; i < n; i++) {
            add_polynomial(task->polynomial + i, n, at, order, d);
            for (int32_t r = 0; r <= order; r++) {
                u[r * n + i] = d[r];
            }
        }
        return;
    }
    memset(u, 0, (size_t)n * (size_t)(order + 1) * sizeof *u);
    memcpy(u, s->offset, (size_t)n * sizeof *u);
    for (int32_t l = 0; l < s->link_count; l++) {
        const struct couple_link *const link = s->links + l;
        const struct mech_track *const track = track_of(c, link->from, to);
        if (track) {
            mech_track_at(track, link->output, at, order, d);
        } else {
            double p[MECH_COUPLE_NODES] = {0.};
            for (int32_t k = 0; k <= c->degree; k++) {
                p[k] = couple_coefficient(c, link, to, k);
            }
            add_polynomial(p, 1, at, order, d);
        }
        for (int32_t r = 0; r <= order; r++) {
            u[r * n + link->input] += link->factor * d[r];
        }
    }
}
