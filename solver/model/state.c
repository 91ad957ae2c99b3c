/* Layout of the state block: counters, then every vector with its ground slot, 8-byte aligned, then
 * the contacts between shapes. Of these a copy takes those that there are. */
#include "solver/model/state.h"

#include <string.h>

enum { COUNTERS = (sizeof(struct mech_state_counters) + sizeof(double) - 1) / sizeof(double) };

static size_t doubles(const struct mech_state_sizes *n)
{
    const size_t q = (size_t)n->q + 1, v = (size_t)n->v + 1;

    return COUNTERS + 2 * q + 4 * v + ((size_t)n->x + 1) + 2 * ((size_t)n->lambda + 1) +
           ((size_t)n->z + 1) + ((size_t)n->impulse + 1) + 5 * ((size_t)n->input + 1) +
           ((size_t)n->parameter + 1) + ((size_t)n->carry + 1);
}

size_t mech_state_bytes(const struct mech_state_sizes *n)
{
    return doubles(n) * sizeof(double) + (size_t)n->contact * sizeof(struct mech_touched);
}

/* Cut `count` + 1 doubles off the block. */
static double *cut(double **at, int32_t count)
{
    double *const here = *at;

    *at += (size_t)count + 1;
    return here;
}

void mech_state_place(const struct mech_state_sizes *n, double *block, struct mech_state *s)
{
    double *at = block + COUNTERS;

    s->block = block;
    s->held = 0.;
    s->size = mech_state_bytes(n);
    s->at = (struct mech_state_counters *)(void *)block;
    s->q = cut(&at, n->q);
    s->v = cut(&at, n->v);
    s->vdot = cut(&at, n->v);
    s->a = cut(&at, n->v);
    s->x = cut(&at, n->x);
    s->lambda = cut(&at, n->lambda);
    s->open = cut(&at, n->lambda);
    s->z = cut(&at, n->z);
    s->impulse = cut(&at, n->impulse);
    s->input = at;
    at += 4 * ((size_t)n->input + 1);
    s->input_set = cut(&at, n->input);
    s->parameter = cut(&at, n->parameter);
    s->carry = cut(&at, n->carry);
    s->q_start = cut(&at, n->q);
    s->v_start = cut(&at, n->v);
    s->touched = (struct mech_touched *)(void *)at;
}

struct mech_touched *mech_state_touch(struct mech_state *s, size_t count)
{
    if (s->at->touched > count) {
        memset(s->touched + count, 0, (s->at->touched - count) * sizeof *s->touched);
    }
    s->at->touched = count;
    return s->touched;
}

void mech_state_impulses_for(struct mech_state *s, int32_t rows, double h)
{
    const double last = s->at->last_step;

    if (h == last || !(last > 0.)) {
        return;
    }
    const double share = h <= 16. * last ? h / last : 0.;

    for (int32_t i = 0; i < rows; i++) {
        s->impulse[i] *= share;
    }
    for (size_t i = 0; i < s->at->touched; i++) {
        for (int k = 0; k < 3; k++) {
            s->touched[i].impulse[k] *= share;
            s->touched[i].couple[k] *= share;
        }
    }
}

size_t mech_state_used(const struct mech_state *s)
{
    return (size_t)((const char *)(s->touched + s->at->touched) - (const char *)s->block);
}

void mech_state_copy(const struct mech_state *from, struct mech_state *to)
{
    /* before the counters are overwritten */
    (void)mech_state_touch(to, from->at->touched);
    memcpy(to->block, from->block, mech_state_used(from));
}

void mech_state_copy_unstarted(const struct mech_state *from, struct mech_state *to)
{
    const size_t before = (size_t)((const char *)from->q_start - (const char *)from->block);

    (void)mech_state_touch(to, from->at->touched);
    memcpy(to->block, from->block, before);
    memcpy(to->touched, from->touched, from->at->touched * sizeof *from->touched);
}
