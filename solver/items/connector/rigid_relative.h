/* Where two joint frames are to each other, in six numbers u with rates v, and the wrench on both
 * that six forces f on them make. With A_s = R_s rotation_s, d = p₁ − p₀, δψ = δθ₁ − δθ₀:
 *
 * From the first frame     u = (A₀ᵀ d, φ),  v = (A₀ᵀ (v₁ − v₀), A₀ᵀ (ω₁ − ω₀))
 *     φ the Tait–Bryan angles xyz of A₀ᵀ A₁, counted over turns. At ±90° of the second the rates of
 *     the others grow beyond bounds, and beyond it they belong to the branch that was followed, so
 *     that large turns belong to x or z. W = (A₀ f_t, A₀ f_r) on the first, the opposite on the
 *     second marker: the couple d × A₀ f_t is not balanced where the force is not along d.
 *
 * From halfway             u = (Aᵀ d, φ),  v = u̇,  A = A₀ exp(φ/2)
 *     φ the rotation vector of A₀ᵀ A₁, followed up to a whole turn, where it has no rate across its
 *     axis. Between bodies that turn about one axis e alone, φ = θ e with any number of turns, J⁻¹
 *     is 1 and s is 0, because what these do across the axis moves nothing. W = −(∂u/∂δ)ᵀ f:
 *     forces and moments are in balance, a potential V(u) with f = ∂V/∂u is stored exactly, and the
 *     order of the markers does not matter. With J the left Jacobian (so3.h), s = A₀ tan(θ/4) φ/θ:
 *
 *     A turns by δθ = ½ (δθ₀ + δθ₁) − ½ s × δψ,   δφ = J⁻¹(φ) A₀ᵀ δψ,   δu_t = Aᵀ (δd + d × δθ)
 *     δs = ½ (δθ₀ + δθ₁) × s + ¼ (1 − s·s) δψ + ½ s (s·δψ)
 *
 * (J⁻¹ and the half turn commute; ½ J(φ/2) J⁻¹(φ) = ½ (1 − tan(θ/4) [φ/θ]×).) */
#pragma once

#include "solver/items/ops.h"

struct mech_relative {
    bool halfway, straight; /* straight: about one axis alone */
    double u[6], v[6];
    double L[12][6]; /* W = L f */
    /* for the slopes */
    double U[6][12], A[9], A0[9], phi[3], s[3], d[3], w[3], spin[3], turning[3];
};

/* How frames are measured against each other. */
struct mech_measure {
    double rotation[2][9]; /* by rows, in the frames of the markers */
    bool halfway;
    bool straight;  /* with halfway: both bodies turn about `axis` alone */
    double axis[3]; /* e in the first frame, of length 1 */
};

/* `last` [3]: φ after the last step, or by coordinates that count turns (turned.h), to which φ is
 * the nearest (0: none was kept); NULL: the φ of smallest angles. */
void mech_relative_at(const struct mech_measure *measure, const double *last,
                      const struct mech_pose *const pose[2], struct mech_relative *out);
/* U = ∂u/∂δ, V = ∂v/∂δ, Vt = ∂v/∂T (twists), each [6][12]; Wx [12][12] = ∂(L f)/∂δ at these f. All
 * are overwritten. */
void mech_relative_slopes(const struct mech_relative *x, const double f[6], double U[6][12],
                          double V[6][12], double Vt[6][12], double Wx[12][12]);
