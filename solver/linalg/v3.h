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
    const double x = m[1], y = m[2], z = m[5];
    out[0] = m[0];
    out[1] = m[3];
    out[2] = m[6];
    out[3] = x;
    out[4] = m[4];
    out[5] = m[7];
    out[6] = y;
    out[7] = z;
    out[8] = m[8];
}

/* out = x × as a matrix */
static inline void mech_m3_cross(const double x[3], double out[9])
{
    const double a = x[0], b = x[1], c = x[2];
    out[0] = out[4] = out[8] = 0.;
    out[1] = -c;
    out[2] = b;
    out[3] = c;
    out[5] = -a;
    out[6] = -b;
    out[7] = a;
}

/* out = A B; by rows of three, which stay in registers */
static inline void mech_m3_product(const double a[9], const double b[9], double out[9])
{
    double x[3], y[3], z[3];
    mech_m3_mul_transposed(b, a, x);
    mech_m3_mul_transposed(b, a + 3, y);
    mech_m3_mul_transposed(b, a + 6, z);
    for (int i = 0; i < 3; i++) {
        out[i] = x[i];
        out[3 + i] = y[i];
        out[6 + i] = z[i];
    }
}

/* out = Aᵀ B */
static inline void mech_m3_product_transposed(const double a[9], const double b[9], double out[9])
{
    const double column[3][3] = {{a[0], a[3], a[6]}, {a[1], a[4], a[7]}, {a[2], a[5], a[8]}};
    double x[3], y[3], z[3];
    mech_m3_mul_transposed(b, column[0], x);
    mech_m3_mul_transposed(b, column[1], y);
    mech_m3_mul_transposed(b, column[2], z);
    for (int i = 0; i < 3; i++) {
        out[i] = x[i];
        out[3 + i] = y[i];
        out[6 + i] = z[i];
    }
}
