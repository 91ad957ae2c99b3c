/* How the residuals of a window follow its unknowns: from Jacobians that participants give, or from
 * difference quotients of trials, one input of each participant at a time. Those of linear
 * participants are kept while size and shape of the windows stay. */
#include "solver/couple/internal.h"

#include <math.h>
#include <string.h>

/* Step of one-sided difference quotients of smooth functions, of the input: √ε. */
static const double root_epsilon = 1.5e-8;

void couple_slopes_begin(struct mech_couple *c)
{
    double key[1 + MECH_COUPLE_NODES] = {c->size};
    memcpy(key + 1, c->basis[0], sizeof c->basis[0]);
    const bool same = memcmp(key, c->clock + CLOCK_KEY, sizeof key) == 0;
    memcpy(c->clock + CLOCK_KEY, key, sizeof key);
    for (int32_t p = 0; p < c->side_count; p++) {
        struct couple_side *const s = c->sides + p;
        if (!same || (s->is.abilities & MECH_COUPLE_LINEAR) == 0) {
            s->kept[0] = 0;
        }
    }
}

bool couple_slopes_differenced(const struct couple_side *s)
{
    return (s->is.abilities & MECH_COUPLE_JACOBIAN) == 0 || s->summed;
}

bool couple_slopes_wanted(const struct mech_couple *c, const struct couple_side *s)
{
    return c->type->matrix && s->is.inputs > 0 && !couple_slopes_differenced(s) &&
           ((s->is.abilities & MECH_COUPLE_LINEAR) == 0 || s->kept[0] == 0);
}

void couple_slopes_take(struct mech_couple *c, struct couple_side *s)
{
    const size_t count = (size_t)s->is.inputs * (size_t)s->is.outputs;
    memcpy(s->slopes, s->jacobian, count * sizeof *s->slopes);
    s->kept[0] = 1;
    c->matrix_same = false;
}

/* Change of an input for its difference quotient: a linear one may take any. */
static double difference(const struct couple_side *s, int32_t input)
{
    double most = 1.;
    for (int32_t k = 0; k < MECH_COUPLE_NODES; k++) {
        most = fmax(most, fabs(s->polynomial[k * s->is.inputs + input]));
    }
    return (s->is.abilities & MECH_COUPLE_LINEAR) != 0 ? most : root_epsilon * most;
}

void couple_slopes_perturb(const struct mech_couple *c, struct couple_side *s)
{
    s->step = difference(s, c->column);
    for (int32_t k = 0; k <= c->degree; k++) {
        s->polynomial[k * s->is.inputs + c->column] += s->step * c->basis[0][k];
    }
}

void couple_slopes_take_column(struct mech_couple *c, struct couple_side *s)
{
    for (int32_t o = 0; o < s->is.outputs; o++) {
        const int32_t at = o * s->is.inputs + c->column;
        s->slopes[at] = (s->other[o] - s->got[o]) / s->step;
        if (s->summed) {
            s->sum_slopes[at] = (couple_summed(s, o) - s->sum[o]) / s->step;
        }
    }
    if (c->column + 1 >= s->is.inputs) {
        s->kept[0] = 1;
    }
    c->matrix_same = false;
}

/* Column of an unknown that enters an input, or −1: it does not vary. */
static int32_t column_of(const struct mech_couple *c, const struct couple_link *link)
{
    if (link->from < 0) {
        return c->n - c->effort_count + link->output;
    }
    const struct couple_side *const s = c->sides + link->from;
    return s->number[link->output] < 0 ? -1 : s->at + s->number[link->output];
}

/* Add factor · ∂(output)/∂z, slopes of one row, to row `row` of the matrix. */
static void add_row(struct mech_couple *c, const struct couple_side *s, const double *slopes,
                    double factor, int32_t row)
{
    for (int32_t l = 0; l < s->link_count; l++) {
        const int32_t column = column_of(c, s->links + l);
        if (column >= 0) {
            c->matrix[(size_t)column * (size_t)c->n + (size_t)row] +=
                factor * slopes[s->links[l].input] * s->links[l].factor;
        }
    }
}

void couple_slopes_assemble(struct mech_couple *c)
{
    const size_t n = (size_t)c->n;
    memset(c->matrix, 0, n * n * sizeof *c->matrix);
    for (int32_t p = 0; p < c->side_count; p++) {
        const struct couple_side *const s = c->sides + p;
        for (int32_t o = 0; o < s->is.outputs; o++) {
            if (s->number[o] >= 0) {
                const int32_t row = s->at + s->number[o];
                c->matrix[(size_t)row * n + (size_t)row] += 1.;
                add_row(c, s, s->slopes + o * s->is.inputs, -1., row);
            }
        }
    }
    for (int32_t e = 0; e < c->effort_count; e++) {
        const struct couple_effort *const f = c->efforts + e;
        const struct mech_couple_bond *const b = c->bonds + f->bond;
        const int32_t row = c->n - c->effort_count + e;
        c->matrix[(size_t)row * n + (size_t)row] += f->self;
        for (int32_t k = 0; k < 2; k++) {
            const struct couple_side *const s = c->sides + b->participant[k];
            const double *const all = b->kind == MECH_COUPLE_VELOCITY ? s->sum_slopes : s->slopes;
            add_row(c, s, all + b->flow[k] * s->is.inputs, -f->beta[k], row);
        }
    }
}
