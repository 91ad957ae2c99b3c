/* Sweeps over the parts of contacts; see parts.h. Cost of one: the columns of N that move. */
#include "solver/vi/parts.h"

#include "solver/sys/slide.h"

#include <math.h>

struct sweep {
    const struct mech_problem *p;
    double *l, *c;       /* [m] */
    const double *block; /* [rows × rows] of the set that is swept, by rows */
    int32_t rows, row;   /* of it; its first one */
    bool moved;
};

/* Row k of the set: l := next, and c with it. */
static void move_to(struct sweep *s, int32_t k, double next)
{
    const int32_t row = s->row + k;
    const double move = next - s->l[row];

    if (move != 0.) {
        s->l[row] = next;
        mech_problem_add_column(s->p, row, move, s->c);
        s->moved = true;
    }
}

/* Rows from k on that a coefficient bounds together. False: no diagonal. */
static bool sweep_part(struct sweep *s, int32_t k, int32_t rows, double radius)
{
    double next[MECH_SET_ROWS], W = 0.;

    for (int32_t i = k; i < k + rows; i++) {
        double sum = 0.;

        for (int32_t j = k; j < k + rows; j++) {
            sum += fabs(s->block[i * s->rows + j]);
        }
        W = fmax(W, sum);
    }
    if (radius > 0. && !(W > 0.)) {
        return false;
    }
    for (int32_t i = 0; i < rows; i++) {
        const int32_t row = s->row + k + i;

        next[i] = radius > 0. ? s->l[row] - s->c[row] / W : 0.;
    }
    const double size = mech_slide_norm(rows, next);

    for (int32_t i = 0; i < rows; i++) {
        move_to(s, k + i, size > radius ? radius * (next[i] / size) : next[i]);
    }
    return true;
}

static bool sweep_set(struct sweep *s, const struct mech_set *set)
{
    const double W = s->block[0];
    double next = s->l[s->row] - s->c[s->row] / W;

    if (!(set->kind == MECH_SET_BILATERAL ? W != 0. : W > 0.) || !isfinite(next)) {
        return false;
    }
    if (set->kind < MECH_SET_CONE) {
        mech_set_project(set, &next);
        move_to(s, 0, next);
        return true;
    }
    move_to(s, 0, fmax(0., next));
    const double l_N = s->l[s->row];

    if (set->kind == MECH_SET_CONE) {
        return sweep_part(s, 1, set->rows - 1, set->mu * l_N);
    }
    return sweep_part(s, 1, 2, set->mu * l_N) && sweep_part(s, 3, 1, set->spinning * l_N) &&
           sweep_part(s, 4, 2, set->rolling * l_N);
}

bool mech_parts_sweep(const struct mech_problem *p, double *l, double *c)
{
    double block[MECH_SET_ROWS * MECH_SET_ROWS];
    struct sweep s = {.p = p, .l = l, .c = c, .block = block};

    for (int32_t i = 0; i < mech_problem_sets(p); s.row += s.rows, i++) {
        const struct mech_set set = mech_problem_set(p, i);

        s.rows = set.rows;
        mech_problem_block(p, s.row, s.rows, block);
        if (!sweep_set(&s, &set)) {
            return false;
        }
    }
    return s.moved;
}
