/* Vectors of three components, and 3 × 3 matrices by rows (m[3 i + j] = M(i,j)), as plain arrays.
 * Outputs may be the same array as an input. */
#pragma once

#include <math.h>

/* out = a + s b */
static inline void mech_v3_add(const double a[3], double s, const double b[3], double out[3])
{
    for (int i = 0; i < 3; i++) {
        out[i] = a[i] + s * b[i];
    }
}

/* a · b */
static inline double mech_v3_dot(const double a[3], const double b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

/* |a| */
static inline double mech_v3_norm(const double a[3])
{
    return sqrt(mech_v3_dot(a, a));
}

/* out = a × b */
static inline void mech_v3_cross(const double a[3], const double b[3], double out[3])
{
    const double x = a[1] * b[2] - a[2] * b[1];
    const double y = a[2] * b[0] - a[0] * b[2];
    const double z = a[0] * b[1] - a[1] * b[0];
    out[0] = x;
    out[1] = y;
    out[2] = z;
}

/* out = M a */
static inline void mech_m3_mul(const double m[9], const double a[3], double out[3])
{
    const double x = mech_v3_dot(m, a);
    const double y = mech_v3_dot(m + 3, a);
    const double z = mech_v3_dot(m + 6, a);
    out[0] = x;
    out[1] = y;
    out[2] = z;
}

/* out = Mᵀ a */
static inline void mech_m3_mul_transposed(const double m[9], const double a[3], double out[3])
{
    const double x = m[0] * a[0] + m[3] * a[1] + m[6] * a[2];
    const double y = m[1] * a[0] + m[4] * a[1] + m[7] * a[2];
    const double z = m[2] * a[0] + m[5] * a[1] + m[8] * a[2];
    out[0] = x;
    out[1] = y;
    out[2] = z;
}

/* out = Mᵀ */
static inline void mech_m3_transpose(const double m[9], double out[9])
{
    const double t[9] = {m[0], m[3], m[6], m[1], m[4], m[7], m[2], m[5], m[8]};
    for (int i = 0; i < 9; i++) {
        out[i] = t[i];
    }
}

/* out = x × as a matrix */
static inline void mech_m3_cross(const double x[3], double out[9])
{
    const double rows[9] = {0., -x[2], x[1], x[2], 0., -x[0], -x[1], x[0], 0.};
    for (int i = 0; i < 9; i++) {
        out[i] = rows[i];
    }
}

/* out = A B */
static inline void mech_m3_product(const double a[9], const double b[9], double out[9])
{
    double t[9];
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            t[3 * i + j] = a[3 * i] * b[j] + a[3 * i + 1] * b[3 + j] + a[3 * i + 2] * b[6 + j];
        }
    }
    for (int i = 0; i < 9; i++) {
        out[i] = t[i];
    }
}
