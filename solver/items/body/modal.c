/* Sums of modal.h: by the stored places of the mass matrix, once a model. */
#include "solver/items/body/modal.h"

#include "solver/base/err.h"
#include "solver/linalg/mat_walk.h"

#include <math.h>

void mech_modal_column(const struct mech_modal_shape *shape, int32_t i, int32_t k, double psi[3])
{
    for (int32_t r = 0; r < 3; r++) {
        psi[r] = k == 0 ? mech_mat_get(&shape->positions, i, r)
                        : mech_mat_get(&shape->modes, 3 * i + r, k - 1);
    }
}

double mech_modal_moments(const struct mech_modal_shape *shape, int32_t count, double s[][3])
{
    struct mech_mat_walk w = {.a = &shape->mass};
    double mass = 0., column = 0.;

    for (int32_t k = 0; k < count; k++) {
        s[k][0] = s[k][1] = s[k][2] = 0.;
    }
    /* a column's masses are summed up before its point is looked at */
    for (bool more = mech_mat_next(&w); more;) {
        const int32_t col = w.col;

        column += w.row % 3 == 0 && col % 3 == 0 ? w.value : 0.;
        more = mech_mat_next(&w);
        if (column == 0. || (more && w.col == col)) {
            continue;
        }
        for (int32_t k = 0; k < count; k++) {
            double psi[3];

            mech_modal_column(shape, col / 3, k, psi);
            for (int r = 0; r < 3; r++) {
                s[k][r] += column * psi[r];
            }
        }
        mass += column;
        column = 0.;
    }
    return mass;
}

/* all columns of all points, [N][1 + m][3] */
static double *columns_of(const struct mech_modal_shape *shape, struct mech_arena *arena)
{
    const size_t n = (size_t)shape->positions.rows, m = (size_t)shape->modes.cols + 1;
    double *const psi = mech_arena_alloc(arena, n * m, 3 * sizeof *psi);

    for (size_t i = 0; i < n && psi; i++) {
        for (size_t k = 0; k < m; k++) {
            mech_modal_column(shape, (int32_t)i, (int32_t)k, psi + 3 * (i * m + k));
        }
    }
    return psi;
}

static void add_pair(struct mech_modal *modal, double mass, const double *from, const double *to)
{
    const int32_t m = modal->modes + 1;

    modal->mass += mass;
    for (int32_t a = 0; a < m; a++) {
        for (int r = 0; r < 3; r++) {
            modal->s[3 * a + r] += mass * to[3 * a + r];
        }
        for (int32_t b = 0; b < m; b++) {
            double *const D = modal->D + 9 * (a * m + b);

            for (int k = 0; k < 9; k++) {
                D[k] += mass * from[3 * a + k / 3] * to[3 * b + k % 3];
            }
        }
    }
}

int mech_modal_init(struct mech_modal *modal, struct mech_arena *arena,
                    const struct mech_modal_shape *shape)
{
    const size_t m = (size_t)shape->modes.cols + 1;
    struct mech_arena scratch;

    *modal = (struct mech_modal){.modes = shape->modes.cols};
    modal->s = mech_arena_alloc(arena, m, 3 * sizeof *modal->s);
    modal->D = mech_arena_alloc(arena, m * m, 9 * sizeof *modal->D);
    mech_arena_init(&scratch, 0);
    const double *const psi = columns_of(shape, &scratch);
    const bool there = modal->s && modal->D && psi;
    struct mech_mat_walk w = {.a = &shape->mass};

    /* one of the three equal rows represents a block */
    while (there && mech_mat_next(&w)) {
        if (w.row % 3 == 0 && w.col % 3 == 0 && w.value != 0.) {
            add_pair(modal, w.value, psi + (size_t)w.row * m, psi + (size_t)w.col * m);
        }
    }
    mech_arena_fini(&scratch);
    return there ? 0 : MECH_NO_MEMORY;
}

int32_t mech_modal_find(const struct mech_modal_shape *shape, const double local[3])
{
    double extent = 0., nearest = HUGE_VAL;
    int32_t found = -1;

    for (int32_t i = 0; i < shape->positions.rows; i++) {
        double far = 0., away = 0.;

        for (int32_t r = 0; r < 3; r++) {
            const double x = mech_mat_get(&shape->positions, i, r);

            far += x * x;
            away += (x - local[r]) * (x - local[r]);
        }
        extent = fmax(extent, far);
        found = away < nearest ? i : found;
        nearest = fmin(away, nearest);
    }
    return nearest <= 1e-12 * extent ? found : -1;
}
