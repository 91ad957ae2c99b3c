/* Eigenvalues of dense matrices, by columns as LAPACK, and the dense kernels of subspace iteration.
 * Allocates inside LAPACK: not for steps. Any thread. */
#pragma once

#include <stdint.h>

/* A φ = λ B φ for symmetric A and positive definite B [n × n]; both are overwritten, the vectors
 * stand in the columns of A, φᵀ B φ = 1. lambda [n] ascending.
 * 0; MECH_SINGULAR (B is not positive definite); MECH_NOT_CONVERGED; MECH_NOT_FINITE (A or B);
 * negative. */
int mech_eig_symmetric(int32_t n, double *A, double *B, double *lambda);

/* A φ = λ φ for any A [n × n], overwritten. re, im [n]; a conjugate pair stands side by side, the
 * positive imaginary part first, its vector's real and imaginary part in the two columns of
 * vectors [n × n]; of a real one in one column. 0; MECH_NOT_CONVERGED; MECH_NOT_FINITE (A);
 * negative. */
int mech_eig_general(int32_t n, double *A, double *re, double *im, double *vectors);

/* A := D⁻¹ A D for any A [n × n] with D = diag(scale), powers of two by which rows and columns get
 * sums alike: with eigenvalues, exponentials and norms the units of A's rows do not matter then.
 * 0; MECH_NOT_FINITE (A); negative. */
int mech_eig_balance(int32_t n, double *A, double *scale);

/* An orthonormal basis of the null space of G [rows × n], overwritten, in the first *dimension
 * columns of Z [n × n]; singular values below 1e-10 of the largest count as 0.
 * 0; MECH_NOT_CONVERGED; MECH_NOT_FINITE (G); negative. */
int mech_eig_null(int32_t rows, int32_t n, double *G, double *Z, int32_t *dimension);

/* Columns of a product, `some` of them, which may be a part of those of a wider one.
 * out [p × some] = Aᵀ B for A [n × p], B [n × some]. */
void mech_eig_gram(int32_t n, int32_t p, int32_t some, const double *A, const double *B,
                   double *out);

/* out [n × some] = A Q for A [n × p], Q [p × some]. */
void mech_eig_rotate(int32_t n, int32_t p, int32_t some, const double *A, const double *Q,
                     double *out);
