/* Products, projections and residuals of a simulation's descriptor; see system.h. */
#include "solver/base/err.h"
#include "solver/sim/internal.h"
#include "solver/sim/system_internal.h"
#include "solver/sys/assemble.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* H, factored. */
static int need_inverse(struct mech_sim_system *s)
{
    struct mech_mat H;

    if (s->inverse || s->info.size.velocities == 0) {
        return 0;
    }
    MECH_TRY(mech_descriptor_matrix(s->system->descriptor, MECH_SYSTEM_H, false, &s->arena, &H));
    if (H.kind == MECH_MAT_ZERO) {
        return MECH_SINGULAR;
    }
    MECH_TRY(mech_lsol_create(NULL, &H, &s->inverse));
    mech_lsol_listen(s->inverse, mech_model_interrupt(s->sim->model));
    const int code = mech_lsol_factor(s->inverse, &H);
    mech_sim_watch(s->sim); // its interruption ends with it

    if (code) {
        mech_lsol_destroy(s->inverse);
        s->inverse = NULL;
    }
    return code;
}

static int solve_H(void *self, double *x)
{
    const struct mech_sim_system *const s = self;

    return s->inverse ? mech_lsol_solve(s->inverse, x, 1) : 0;
}

void mech_sim_system_product(const struct mech_sim_system *s, bool symmetric, double *x,
                             double *out)
{
    for (int32_t r = 0; r < s->info.size.rows && symmetric; r++) {
        x[s->info.size.velocities + r] = -x[s->info.size.velocities + r];
    }
    mech_descriptor_product(s->system->descriptor, x, out);
}

int mech_sim_system_schur(struct mech_sim_system *s, enum mech_system_through through,
                          const bool *enabled, const double *l, double *out)
{
    const struct mech_inverse inverse = {solve_H, s};
    const bool whole =
        through == MECH_THROUGH_H || (through == MECH_THROUGH_CHOSEN && !s->info.lumped);
    double *const work = calloc((size_t)s->info.size.velocities + 1, sizeof *work);
    int code = work ? 0 : MECH_NO_MEMORY;

    code = code ? code : whole ? need_inverse(s) : 0;
    code = code ? code
                : mech_descriptor_schur(s->system->descriptor, whole ? &inverse : NULL, enabled, l,
                                        work, out);
    free(work);
    return code;
}

void mech_sim_system_project(const struct mech_sim_system *s, const bool *enabled, double *l)
{
    mech_descriptor_project(s->system->descriptor, enabled, l);
}

static double norm(const double *x, int32_t n)
{
    double sum = 0.;

    for (int32_t i = 0; i < n; i++) {
        sum += x[i] * x[i];
    }
    return sqrt(sum);
}

/* The residual of the multipliers' problem at c [l] = G w + E' l + b; f [w] is used up. */
static double residual(struct mech_sim_system *s, const double *l, const double *c, double *f,
                       double *r)
{
    const struct mech_descriptor *const d = s->system->descriptor;
    const size_t rows = (size_t)s->info.size.rows;
    struct mech_set *const sets = calloc(rows + 1, sizeof *sets);
    double *const b = calloc(rows + 1, sizeof *b), result = NAN;

    if (sets && b && need_inverse(s) == 0 && solve_H(s, f) == 0) {
        mech_descriptor_G(d, f, r);
        mech_descriptor_b(d, b);
        for (size_t i = 0; i < rows; i++) {
            r[i] += b[i];
        }
        result = mech_sets_residual(sets, mech_descriptor_sets(d, sets),
                                    s->info.associated ? MECH_ASSOCIATED : MECH_COULOMB, l, c, r);
    }
    free(sets);
    free(b);
    return result;
}

int mech_sim_system_check(struct mech_sim_system *s, const double *w, const double *l,
                          struct mech_system_check *out)
{
    struct mech_descriptor *const d = s->system->descriptor;
    const int32_t nw = s->info.size.velocities, nl = s->info.size.rows;
    const size_t n = (size_t)nw + (size_t)nl;
    double *const x = calloc(5 * n + 1, sizeof *x);

    if (!x) {
        return MECH_NO_MEMORY;
    }
    double *const Zx = x + n, *const f = Zx + n, *const Hw = f + n, *const work = Hw + n;
    memcpy(x, w, (size_t)nw * sizeof *x);
    memcpy(x + nw, l, (size_t)nl * sizeof *x);
    mech_descriptor_set_unknowns(d, x);
    const struct mech_feasibility at = mech_descriptor_feasibility(d, work);

    mech_descriptor_product(d, x, Zx);
    mech_descriptor_H(d, x, Hw);
    mech_descriptor_f(d, f);
    mech_descriptor_b(d, work);
    for (int32_t r = 0; r < nl; r++) {
        Zx[nw + r] += work[r];
    }
    const double scale = fmax(norm(f, nw), norm(Hw, nw));

    for (int32_t i = 0; i < nw; i++) {
        Hw[i] = Zx[i] - f[i];
    }
    *out = (struct mech_system_check){.violation = at.violation,
                                      .complementarity = at.complementarity,
                                      .balance = scale > 0. ? norm(Hw, nw) / scale : 0.,
                                      .residual = residual(s, l, Zx + nw, f, work)};
    free(x);
    return 0;
}
