/* Small free vibrations about a state: K φ = ω² M φ without damping, (λ² M + λ C + K) φ = 0 with.
 * owner: the owner of the model; a result is its caller's. */
#pragma once

#include "solver/base/arena.h"

#include <stdbool.h>
#include <stdint.h>

struct mech_model;
struct mech_state;
struct mech_state_sizes;

/* LAPACK's eigenvalues and singular values cannot be interrupted: their size is bounded. The
 * longest stretches without a question are the complex modes of MECH_MODES_DENSE coordinates (dgeev
 * of order 1000, 25 n³: 0.7 s at 4e10 flops a second, 2.5 s at 1e10) and the null space of joints'
 * rows with MECH_ROWS_MOST entries (dgesvd, about as long). */
enum {
    MECH_MODES_DENSE = 500,   /* coordinates up to which all modes are computed by LAPACK */
    MECH_MODES_MOST = 200,    /* modes of one request */
    MECH_ROWS_MOST = 10000000 /* joints' rows × coordinates whose free motions are found */
};

struct mech_mode {
    double re, im; /* λ, 1/s; im ≥ 0: a conjugate pair is one mode */
    double square; /* ω² = |λ|², 1/s²; undamped: the eigenvalue itself, negative when unstable */
    double frequency; /* Hz, im / 2π */
    double damping;   /* −re / |λ|, 0 when λ = 0 */
    double residual;  /* of the eigenvalue problem, relative to its matrices: rounding is 1e-16 */
};

struct mech_modes {
    struct mech_arena arena;
    int32_t n, count;
    struct mech_mode *modes; /* [count] by ascending |λ| (undamped: ω²) */
    double *shapes;    /* [count × n]; undamped: φᵀ M φ = 1, otherwise the largest entry is 1;
                                the largest entry is positive */
    double *imaginary; /* [count × n] of damped modes, or NULL */
    /* of the state: the motion is about an equilibrium when both are 0 */
    double speed, acceleration; /* largest |v|, |v̇| */
    char linear[32];  /* linear solver of the subspace iteration, "" when LAPACK did it all */
    char reason[160]; /* set with a positive outcome */
};

/* The lowest `count` modes (fewer when there are no more) about s, whose v̇ and λ are consistent,
 * among the motions that joints allow; the stiffness of their reactions counts. At a state that
 * moves or falls they are those of the equations frozen there. `sizes`: of the state. More than
 * MECH_MODES_DENSE coordinates: subspace iteration, undamped modes only.
 * 0; MECH_UNSUPPORTED; MECH_NOT_CONVERGED; MECH_SINGULAR; MECH_NOT_FINITE; negative. `out` is to be
 * finished in any case. */
int mech_modes(const struct mech_model *m, const struct mech_state *s,
               const struct mech_state_sizes *sizes, int32_t count, bool damped,
               struct mech_modes *out);
/* The reason why the free motions of the joints' rows are not computed, or NULL. */
const char *mech_modes_rows(const struct mech_model *m);
void mech_modes_fini(struct mech_modes *modes);
