/* Problems without a model: a linear complementarity, friction or mixed problem in, its solution
 * out. Nothing of a model is in it. owner: the caller; any thread.
 *
 *     N, r                c = N l + r
 *     H, f, G, b, cfm     H w − Gᵀ l = f,  c = G w + diag(cfm) l + b;   N = G H⁻¹ Gᵀ + diag(cfm)
 *
 * with the sets of solver/sys/sets.h: `sets`, or cones of `dimension` rows with `mu` each, or
 * neither: 0 ≤ c ⊥ l ≥ 0. */
#pragma once

#include "solver/base/diag.h"
#include "solver/base/interrupt.h"
#include "solver/items/document.h"
#include "solver/sys/sets.h"

struct mech_lone_problem {
    struct mech_mat N;
    struct mech_vector r;
    struct mech_mat H, G;
    struct mech_vector f, b, cfm;
    struct mech_structs sets; /* as mech_lone_problem_table describes */
    struct mech_vector mu;
    int32_t dimension;
    int32_t friction;     /* enum mech_friction */
    struct mech_vector l; /* start */
    struct mech_vi_settings vi;
};
extern const struct mech_table mech_lone_problem_table;

struct mech_lone_solution {
    int32_t rows, velocities;
    double *l, *c; /* [rows] */
    double *w;     /* [velocities], NULL without H */
    int32_t iterations;
    double residual;           /* as published (sys/problem.h) */
    const double *certificate; /* [rows] why there is no solution (vi/certificate.h), or NULL */
    double acceptance;         /* what the tolerance is compared with (sys/acceptance.h) */
    const char *solver;
    bool converged;
};

enum { MECH_LONE_ROWS_MOST = 20000 };

/* Solve; *out lies in the arena. 0, also when it did not converge and the request accepts that;
 * MECH_INVALID: sizes or values, in diag; MECH_SINGULAR: H, or a diagonal that the solver cannot
 * take where there may be a solution; MECH_VI_NOT_CONVERGED, *out is the best, or of it rows and
 * certificate alone where the solver cannot take a diagonal; MECH_NOT_FINITE: what was found
 * overflows; MECH_UNSUPPORTED: the solver named does not take these sets; MECH_CANCELLED:
 * `interrupt` came, which may be NULL; negative. */
int mech_lone_problem_solve(const struct mech_lone_problem *p, struct mech_arena *arena,
                            struct mech_interrupt *interrupt, struct mech_diag *diag,
                            struct mech_lone_solution *out);
