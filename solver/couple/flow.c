/* What goes through connections and bonds: the work of each input on its participant, and how much
 * of it an interaction would not do whose forces are the means of both ends of the window. With
 * such means a spring between two displacements conserves energy (O. Gonzalez, J. Nonlinear Sci. 6
 * (1996)), and the rest is what the hold adds (S. Sadjina et al., Eng. Comput. 33 (2017)). */
#include "solver/couple/internal.h"

#include "solver/base/err.h"

#include <string.h>

void couple_flow_begin(struct mech_couple *c)
{
    memset(c->flows, 0, ((size_t)c->connection_count + (size_t)c->bond_count) * sizeof *c->flows);
    for (int32_t b = 0; b < c->bond_count; b++) {
        mech_couple_bond_state(c, b, c->bonds_before + b);
    }
}

int mech_couple_measure(struct mech_couple *c, bool on)
{
    if (c->phase != COUPLE_IDLE) {
        return MECH_INVALID;
    }
    if (on && c->options.waveform > 0) {
        return MECH_UNSUPPORTED;
    }
    c->measured = on;
    couple_flow_begin(c);
    return 0;
}

static void add(struct mech_couple_work *to, double energy, double balance, double size)
{
    to->power = energy / size;
    to->energy += energy;
    to->balance += balance;
}

static void add_connection(struct mech_couple *c, int32_t k)
{
    const struct mech_couple_connection *const a = c->connections + k;
    const struct couple_side *const from = c->sides + a->from, *const to = c->sides + a->to;
    const struct couple_link link = {.input = a->input, .from = a->from, .output = a->output};
    const double *const moment = to->moments + a->input;
    double energy = a->offset * moment[0];
    for (int32_t r = 0; r <= c->degree; r++) {
        energy += a->factor * couple_coefficient(c, &link, a->to, r) * moment[r * to->is.inputs];
    }
    const double mean = a->offset + a->factor * 0.5 * (from->now[a->output] + from->got[a->output]);
    add(c->flows + k, energy, energy - mean * moment[0], c->size);
}

void couple_flow_connections(struct mech_couple *c)
{
    for (int32_t k = 0; k < c->connection_count; k++) {
        add_connection(c, k);
    }
}

void couple_flow_bonds(struct mech_couple *c)
{
    for (int32_t b = 0; b < c->bond_count; b++) {
        struct mech_couple_bond_state *const old = c->bonds_before + b, now;
        mech_couple_bond_state(c, b, &now);
        const double energy = now.work[0] - old->work[0] + (now.work[1] - old->work[1]);
        const double kept = now.stored - old->stored + (now.dissipated - old->dissipated);
        add(c->flows + c->connection_count + b, energy, energy + kept, c->size);
        *old = now;
    }
}

void mech_couple_connection_flow(const struct mech_couple *c, int32_t connection,
                                 struct mech_couple_work *out)
{
    *out = c->flows[connection];
}

void mech_couple_bond_flow(const struct mech_couple *c, int32_t bond, struct mech_couple_work *out)
{
    *out = c->flows[c->connection_count + bond];
}
