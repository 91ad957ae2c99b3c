/* Strains of a cable: r = Σ S_i q_i with Hermite's cubic polynomials, q = (r₀, r₀', r₁, r₁').
 *
 *     ε = |r'| − 1       ∂ε = S'_i t,  ∂²ε = S'_i S'_j (1 − t tᵀ)/|r'|,   t = r'/|r'|
 *     κ = w/d            w = r' × r'', d = r' · r'
 *     ∂κ = ∂w/d − w ∂d/d²
 *     ∂²κ = ∂²w/d − (∂w ∂dᵀ + ∂d ∂wᵀ)/d² − w ∂²d/d² + 2 w ∂d ∂dᵀ/d³
 *
 * κ is the derivative of the slope's angle by the material coordinate x. */
#include "solver/items/body/cable.h"

#include <math.h>

enum { N = MECH_CABLE_COORDINATES };

void mech_cable_shape(double L, double x, double S[4], double S1[4], double S2[4])
{
    const double a = x / L;

    if (S) {
        S[0] = 1. + a * a * (2. * a - 3.);
        S[1] = L * a * (1. + a * (a - 2.));
        S[2] = a * a * (3. - 2. * a);
        S[3] = L * a * a * (a - 1.);
    }
    if (S1) {
        S1[0] = 6. * a * (a - 1.) / L;
        S1[1] = 1. + a * (3. * a - 4.);
        S1[2] = -S1[0];
        S1[3] = a * (3. * a - 2.);
    }
    if (S2) {
        S2[0] = (12. * a - 6.) / (L * L);
        S2[1] = (6. * a - 4.) / L;
        S2[2] = -S2[0];
        S2[3] = (6. * a - 2.) / L;
    }
}

static void sum_up(const double q[N], const double S[4], double r[2])
{
    r[0] = r[1] = 0.;
    for (int k = 0; k < N; k++) {
        r[k % 2] += S[k / 2] * q[k];
    }
}

void mech_cable_axial(const double q[N], const double S1[4], bool want_second,
                      struct mech_cable_strain *out)
{
    double r[2];

    sum_up(q, S1, r);
    const double length = hypot(r[0], r[1]), t[2] = {r[0] / length, r[1] / length};
    out->value = length - 1.;
    for (int k = 0; k < N; k++) {
        out->gradient[k] = S1[k / 2] * t[k % 2];
    }
    for (int k = 0; k < N * N && want_second; k++) {
        const int i = k / N, j = k % N;
        const double one = i % 2 == j % 2 ? 1. : 0.;

        out->second[i][j] = S1[i / 2] * S1[j / 2] * (one - t[i % 2] * t[j % 2]) / length;
    }
}

void mech_cable_bending(const double q[N], const double S1[4], const double S2[4], bool want_second,
                        struct mech_cable_strain *out)
{
    double r[2], rr[2], dw[N], dd[N];

    sum_up(q, S1, r);
    sum_up(q, S2, rr);
    const double w = r[0] * rr[1] - r[1] * rr[0], d = r[0] * r[0] + r[1] * r[1];
    out->value = w / d;
    for (int k = 0; k < N; k++) {
        const double a = S1[k / 2], b = S2[k / 2];

        dw[k] = k % 2 ? r[0] * b - rr[0] * a : rr[1] * a - r[1] * b;
        dd[k] = 2. * a * r[k % 2];
        out->gradient[k] = dw[k] / d - w * dd[k] / (d * d);
    }
    for (int k = 0; k < N * N && want_second; k++) {
        const int i = k / N, j = k % N;
        const double a = S1[i / 2] * S2[j / 2], b = S2[i / 2] * S1[j / 2];
        const double ddw = i % 2 == j % 2 ? 0. : i % 2 ? b - a : a - b;
        const double ddd = i % 2 == j % 2 ? 2. * S1[i / 2] * S1[j / 2] : 0.;

        out->second[i][j] =
            (ddw - (dw[i] * dd[j] + dd[i] * dw[j] + w * ddd - 2. * w * dd[i] * dd[j] / d) / d) / d;
    }
}
