/* Acceptance of plain problems by one pass through N, without forming and weighing; see
 * acceptance.h. */
#include "solver/sys/acceptance.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* Data about l from one pass through N. */
struct pass {
    double *c;     /* [m] N l + r */
    double *sizes; /* [m] Σ|N_ij||l_j| */
    double *tied;  /* [m] 1: row i and the next are of one island, as far as N is tridiagonal */
    bool tridiagonal;
};

static void pass_dense(const struct mech_problem *p, const double *l, struct pass *s)
{
    for (int32_t j = 0; j < p->m; j++) {
        const double *const column = p->N->values + (size_t)j * (size_t)p->m;

        for (int32_t i = 0; i < p->m && l[j] != 0.; i++) {
            const double part = column[i] * l[j];

            s->c[i] += part;
            s->sizes[i] += fabs(part);
        }
    }
}

static void pass_sparse(const struct mech_problem *p, const double *l, struct pass *s)
{
    const struct mech_mat *const N = p->N;

    for (int32_t j = 0; j < p->m; j++) {
        for (int32_t k = N->colptr[j]; k < N->colptr[j + 1]; k++) {
            const int32_t i = N->rowind[k];
            const double part = N->values[k] * l[j];

            s->c[i] += part;
            s->sizes[i] += fabs(part);
            if (i == j + 1 && N->values[k] != 0.) {
                s->tied[j] = 1.;
            } else if (i == j - 1 && N->values[k] != 0.) {
                s->tied[i] = 1.;
            }
            s->tridiagonal &= i - j <= 1 && j - i <= 1;
        }
    }
}

/* What of r asks for a force of a row: along a contact that opens by itself, nothing does, and what
 * presses elsewhere is no larger for it. */
static double asking(enum mech_set_kind kind, double r)
{
    return kind == MECH_SET_BILATERAL || !(r > 0.) ? r : 0.;
}

/* The same of a row of a problem. */
static double asked_by(const struct mech_problem *p, int32_t row)
{
    return fabs(asking(p->sets ? p->sets[row].kind : MECH_SET_UNILATERAL, p->r[row]));
}

/* The row behind the island that begins at `first`, and the most that is asked for; a row alone
 * where islands are not known. */
static int32_t island_of(const struct mech_problem *p, const struct pass *s, int32_t first,
                         double *scale)
{
    int32_t end = first + 1;

    *scale = asked_by(p, first);
    while (s->tridiagonal && end < p->m && s->tied[end - 1] != 0.) {
        *scale = fmax(*scale, asked_by(p, end));
        end++;
    }
    return end;
}

bool mech_acceptance_plain(const struct mech_problem *p, const double *l, double tolerance,
                           double *work, double *miss)
{
    struct pass s = {.c = work, .sizes = work + p->m, .tied = work + 2 * (size_t)p->m};

    memcpy(s.c, p->r, (size_t)p->m * sizeof *s.c);
    memset(s.sizes, 0, 2 * (size_t)p->m * sizeof *s.sizes);
    if (p->N->kind == MECH_MAT_DENSE) {
        pass_dense(p, l, &s);
    } else {
        s.tridiagonal = true;
        pass_sparse(p, l, &s);
    }
    *miss = 0.;
    for (int32_t i = 0, end = 0; i < p->m;) {
        double scale;

        for (end = island_of(p, &s, i, &scale); i < end; i++) {
            const bool even = p->sets && p->sets[i].kind == MECH_SET_BILATERAL;
            const bool presses = l[i] != 0. || even;
            const double off = fabs(presses || s.c[i] < 0. ? s.c[i] : 0.);
            const double size = presses ? scale : fmax(scale, fabs(s.c[i]));

            /* false for what is not a number */
            if (!(off <= tolerance * scale) || !(DBL_EPSILON * s.sizes[i] <= tolerance * size) ||
                (l[i] < 0. && !even)) {
                return false;
            }
            *miss = off > *miss * scale ? off / scale : *miss;
        }
    }
    return *miss <= tolerance;
}
