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
#include <string.h>

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

/* `angle` plus whole turns, nearest to `last`. */
static inline double mech_so3_near(double angle, double last)
{
    const double turn = 8. * atan(1.);
    return angle + turn * round((last - angle) / turn);
}

/* Tait–Bryan angles counted over turns: those nearest to the last ones. A rotation has two triples,
 * (φ0, φ1, φ2) and (φ0 + π, π − φ1, φ2 + π), each plus whole turns; the right one is found while no
 * angle changes by a quarter turn between two looks. `locked`: φ1 = ±π/2, where φ2 stays as it was.
 * `last` 0 0 0 is also what nothing was kept for: then the plain angles stay. */
static inline void mech_so3_near_angles(const double plain[3], bool locked, const double last[3],
                                        double angles[3])
{
    const double half = 4. * atan(1.);
    double one[3] = {plain[0], plain[1], plain[2]}, other[3], square = 0., other_square = 0.;
    if (last[0] == 0. && last[1] == 0. && last[2] == 0.) {
        memcpy(angles, one, sizeof one);
        return;
    }
    if (locked) {
        one[0] -= plain[1] > 0. ? last[2] : -last[2];
        one[2] = last[2];
    }
    for (int k = 0; k < 3; k++) {
        other[k] = mech_so3_near(k == 1 ? half - one[1] : half + one[k], last[k]);
        one[k] = mech_so3_near(one[k], last[k]);
        square += (one[k] - last[k]) * (one[k] - last[k]);
        other_square += (other[k] - last[k]) * (other[k] - last[k]);
    }
    memcpy(angles, other_square < square ? other : one, sizeof one);
}

/* Those of a rotation matrix. */
static inline void mech_so3_angles_near(const double r[9], const double last[3], double angles[3])
{
    double plain[3];
    mech_so3_angles(r, plain);
    mech_so3_near_angles(plain, hypot(r[5], r[8]) < 1e-14, last, angles);
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

/* Euler parameters e (unit quaternion, scalar first) of a rotation vector: cos(½ a), sin(½ a)/a of
 * its length a, by their series in x = ¼ a² below a = ¼, where what is left out is below 1e-17. */
static inline void mech_so3_parameters(const double theta[3], double e[4])
{
    const double x = 0.25 * mech_v3_dot(theta, theta);
    double s = 0.5 - x * (1. / 12. - x * (1. / 240. - x * (1. / 10080. - x / 725760.)));

    e[0] = 1. - x * (0.5 - x * (1. / 24. - x * (1. / 720. - x * (1. / 40320. - x / 3628800.))));
    if (x > 1. / 64.) {
        const double half = sqrt(x);

        s = 0.5 * sin(half) / half;
        e[0] = cos(half);
    }
    for (int i = 0; i < 3; i++) {
        e[1 + i] = s * theta[i];
    }
}

/* The rotation vector of Euler parameters of any length, |θ| ≤ π. */
static inline void mech_so3_vector(const double e[4], double theta[3])
{
    const double s = mech_v3_norm(e + 1), c = fabs(e[0]), r = s / c;
    /* 2 atan(r)/s near 0: 2 (1 − r²/3)/c */
    const double factor = s > 1e-4 * c ? 2. * atan2(s, c) / s : 2. * (1. - r * r / 3.) / c;

    for (int i = 0; i < 3; i++) {
        theta[i] = (e[0] < 0. ? -factor : factor) * e[1 + i];
    }
}

/* out = a ∘ b: first a, then b in the axes of a. out may be neither. */
static inline void mech_so3_compose(const double a[4], const double b[4], double out[4])
{
    out[0] = a[0] * b[0] - mech_v3_dot(a + 1, b + 1);
    out[1] = a[0] * b[1] + b[0] * a[1] + (a[2] * b[3] - a[3] * b[2]);
    out[2] = a[0] * b[2] + b[0] * a[2] + (a[3] * b[1] - a[1] * b[3]);
    out[3] = a[0] * b[3] + b[0] * a[3] + (a[1] * b[2] - a[2] * b[1]);
}

/* The matrix of Euler parameters of length 1. */
static inline void mech_so3_from_parameters(const double e[4], double r[9])
{
    const double *const x = e + 1;

    for (int i = 0; i < 3; i++) {
        const int j = (i + 1) % 3, k = (i + 2) % 3;

        r[4 * i] = 1. - 2. * (x[j] * x[j] + x[k] * x[k]);
        r[3 * i + j] = 2. * (x[i] * x[j] - e[0] * x[k]);
        r[3 * i + k] = 2. * (x[i] * x[k] + e[0] * x[j]);
    }
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

/* out = 1 + a [x]× + b [x]×², what functions of a rotation vector look like. */
static inline void mech_so3_polynomial(double a, double b, const double x[3], double out[9])
{
    const double square = mech_v3_dot(x, x);

    for (int i = 0; i < 3; i++) {
        const int j = (i + 1) % 3, k = (i + 2) % 3;

        out[4 * i] = 1. + b * (x[i] * x[i] - square);
        out[3 * i + j] = b * x[i] * x[j] - a * x[k];
        out[3 * i + k] = b * x[i] * x[k] + a * x[j];
    }
}

/* (1 − cos θ)/θ², without cancellation */
static inline double mech_so3_versine(double angle)
{
    const double s = angle > 0. ? sin(0.5 * angle) / (0.5 * angle) : 1.;

    return 0.5 * s * s;
}

/* The matrix of a rotation vector. */
static inline void mech_so3_exp(const double x[3], double r[9])
{
    const double angle = mech_v3_norm(x);

    mech_so3_polynomial(angle > 0. ? sin(angle) / angle : 1., mech_so3_versine(angle), x, r);
}

/* The rotation vector of a matrix, of length up to π (there, either direction). By the quaternion,
 * from whose largest component the others follow without loss. */
static inline void mech_so3_log(const double r[9], double x[3])
{
    const double trace = r[0] + r[4] + r[8];
    const double four[4] = {1. + trace, 1. + 2. * r[0] - trace, 1. + 2. * r[4] - trace,
                            1. + 2. * r[8] - trace}; /* 4 q_i² */
    const double turn[3] = {r[7] - r[5], r[2] - r[6], r[3] - r[1]};
    int most = 0;
    double q[4];

    for (int i = 1; i < 4; i++) {
        most = four[i] > four[most] ? i : most;
    }
    q[most] = 0.5 * sqrt(four[most]);
    for (int i = 0; i < 3; i++) {
        if (most == 0) {
            q[1 + i] = turn[i] / (4. * q[0]);
        } else if (most != 1 + i) {
            q[1 + i] = (r[3 * (most - 1) + i] + r[3 * i + most - 1]) / (4. * q[most]);
        }
    }
    q[0] = most == 0 ? q[0] : turn[most - 1] / (4. * q[most]);
    const double sine = mech_v3_norm(q + 1), sign = q[0] < 0. ? -1. : 1.;
    const double scale = sine > 0. ? 2. * sign * atan2(sine, fabs(q[0])) / sine : 2. * sign;

    for (int i = 0; i < 3; i++) {
        x[i] = scale * q[1 + i];
    }
}

/* The rotation vector below a whole turn that is nearest to the last one: that of mech_so3_log, or
 * the one the other way round. */
static inline void mech_so3_log_near(const double r[9], const double last[3], double x[3])
{
    const double turn = 8. * atan(1.);
    mech_so3_log(r, x);
    const double angle = sqrt(x[0] * x[0] + x[1] * x[1] + x[2] * x[2]);
    const double along = x[0] * last[0] + x[1] * last[1] + x[2] * last[2];
    /* |x − last|² against that of x (1 − turn/angle) */
    if (angle > 0. && angle * (2. * angle - turn) < 2. * along) {
        return;
    }
    for (int k = 0; k < 3 && angle > 0.; k++) {
        x[k] *= 1. - turn / angle;
    }
}

/* J with exp(x + δx) = exp(J δx) exp(x) to first order: 1 + (1 − cos θ)/θ² [x]× + (θ − sin θ)/θ³
 * [x]×². */
static inline void mech_so3_left(const double x[3], double J[9])
{
    const double angle = mech_v3_norm(x), square = angle * angle;
    /* below 0.1: the series, whose next term is 1e-15 of the first */
    const double b = angle < 0.1
                         ? (1. - square / 20. * (1. - square / 42. * (1. - square / 72.))) / 6.
                         : (angle - sin(angle)) / (square * angle);

    mech_so3_polynomial(mech_so3_versine(angle), b, x, J);
}

/* β = (1 − θ/2 cot θ/2)/θ² and γ = β'/θ, for θ < 2π. */
static inline void mech_so3_inverse_terms(double angle, double *beta, double *gamma)
{
    const double s = angle * angle, half = 0.5 * angle;

    /* the series of |B₂ₖ|/(2k)! θ²ᵏ⁻²; below 0.5 what they leave out is 1e-15 and 1e-13 of them,
     * above the others lose 1e-15 and 1e-12 by cancellation */
    if (angle < 0.5) {
        *beta = (1. + s / 60. *
                          (1. + s / 42. *
                                    (1. + s / 40. *
                                              (1. + s * 5. / 198. *
                                                        (1. + s * 691. / 27300. *
                                                                  (1. + s * 35. / 1382.)))))) /
                12.;
        *gamma = (1. + s / 21. *
                           (1. + s * 3. / 80. *
                                     (1. + s * 10. / 297. *
                                               (1. + s * 691. / 21840. * (1. + s * 21. / 691.))))) /
                 360.;
    } else {
        const double cot = 1. / tan(half), sine = sin(half);

        *beta = (1. - half * cot) / s;
        *gamma = (-2. + half * cot + half * half / (sine * sine)) / (s * s);
    }
}

/* J⁻¹, for θ < 2π: 1 − ½ [x]× + β [x]×². */
static inline void mech_so3_left_inverse(const double x[3], double out[9])
{
    double beta, gamma;

    mech_so3_inverse_terms(mech_v3_norm(x), &beta, &gamma);
    mech_so3_polynomial(-0.5, beta, x, out);
}
