/* Rotations: 3 × 3 matrices by rows (v3.h), Tait–Bryan angles xyz in radians,
 * R = Rx(φ0) Ry(φ1) Rz(φ2):
 *
 *   R = [  c1 c2              −c1 s2               s1    ]
 *       [  c0 s2 + s0 s1 c2    c0 c2 − s0 s1 s2   −s0 c1 ]
 *       [  s0 s2 − c0 s1 c2    s0 c2 + c0 s1 s2    c0 c1 ]
 */
#pragma once

#include "solver/linalg/v3.h"

#include <stdbool.h>

/* The matrix of angles. */
static inline void mech_so3_from_angles(const double angles[3], double r[9])
{
    const double s0 = sin(angles[0]), c0 = cos(angles[0]);
    const double s1 = sin(angles[1]), c1 = cos(angles[1]);
    const double s2 = sin(angles[2]), c2 = cos(angles[2]);
    r[0] = c1 * c2;
    r[1] = -c1 * s2;
    r[2] = s1;
    r[3] = c0 * s2 + s0 * s1 * c2;
    r[4] = c0 * c2 - s0 * s1 * s2;
    r[5] = -s0 * c1;
    r[6] = s0 * s2 - c0 * s1 * c2;
    r[7] = s0 * c2 + c0 * s1 * s2;
    r[8] = c0 * c1;
}

/* The angles of a rotation matrix: φ1 in [−π/2, π/2], the others in (−π, π]. φ1 comes from both of
 * its sine and cosine, so that it is exact to rounding near ±π/2 too. There (c1 = 0) only φ0 ± φ2
 * is determined, and φ2 = 0. */
static inline void mech_so3_angles(const double r[9], double angles[3])
{
    const double c1 = hypot(r[5], r[8]);
    const bool locked = c1 < 1e-14; /* below: the rounding of entries of size 1 */
    const double a0 = locked ? atan2(r[7], r[4]) : atan2(-r[5], r[8]);
    const double a1 = atan2(r[2], c1);
    const double a2 = locked ? 0. : atan2(-r[1], r[0]);
    angles[0] = a0;
    angles[1] = a1;
    angles[2] = a2;
}

/* True when R Rᵀ = I within `tolerance` in each entry, and det R > 0. */
static inline bool mech_so3_is_rotation(const double r[9], double tolerance)
{
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j <= i; j++) {
            const double error = mech_v3_dot(r + 3 * i, r + 3 * j) - (i == j ? 1. : 0.);
            // written so that a NaN is refused
            if (!(fabs(error) <= tolerance)) {
                return false;
            }
        }
    }
    double z[3];
    mech_v3_cross(r, r + 3, z);
    return mech_v3_dot(z, r + 6) > 0.;
}

/* What a motion of R by θ' = dq and a change of θ by dtheta do to R exp(θ), in its own axes:
 *
 *     out = exp(−θ) dq + T(θ) dtheta,   T = 1 − (1 − cos a)/a² θ× + (a − sin a)/a³ θ×θ×,  a = |θ|
 *
 * (A. Iserles et al., Acta Numerica 9 (2000), the right-trivialized differential of exp.) out may
 * be dq. */
static inline void mech_so3_transport(const double theta[3], const double dq[3],
                                      const double dtheta[3], double out[3])
{
    const double a = mech_v3_norm(theta), square = a * a;
    const bool small = a < 1e-2; /* below: series, the next terms are under 1e-13 */
    const double s = small ? 1. - square / 6. * (1. - square / 20.) : sin(a) / a;
    const double c = small ? 0.5 - square / 24. * (1. - square / 30.) : (1. - cos(a)) / square;
    const double d = small ? 1. / 6. - square / 120. * (1. - square / 42.) : (1. - s) / square;
    double once[3], twice[3], sum[3];
    for (int i = 0; i < 3; i++) {
        sum[i] = dq[i] + dtheta[i];
    }
    mech_v3_cross(theta, dq, once);
    mech_v3_cross(theta, once, twice);
    for (int i = 0; i < 3; i++) {
        sum[i] += c * twice[i] - s * once[i];
    }
    mech_v3_cross(theta, dtheta, once);
    mech_v3_cross(theta, once, twice);
    for (int i = 0; i < 3; i++) {
        out[i] = sum[i] + d * twice[i] - c * once[i];
    }
}
