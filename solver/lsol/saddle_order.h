/* Order of elimination for matrices [S Gᵀ; G 0] that takes all pivots from the diagonal: a row
 * whose diagonal is 0 comes behind its neighbours, whose elimination fills its diagonal with
 * −G S⁻¹ Gᵀ. That is regular wherever S is definite and the rows of G do not depend on each other
 * (M. Tůma, SIAM J. Matrix Anal. Appl. 23, 2002, on such static orders; M. Benzi, G. H. Golub,
 * J. Liesen, Acta Numerica 14, 2005, section 3). */
#pragma once

#include "solver/linalg/mat.h"

/* order [n]: an order of little fill for the square CSC matrix a, in which the rows with zero[i]
 * != 0 are moved behind the last of their neighbours that have a diagonal. scratch [3 n]. Reads
 * the pattern alone. Returns the entries of L with its diagonal (exact for a symmetric pattern), or
 * −1: more than `most`. */
int64_t mech_saddle_order(const struct mech_mat *a, const unsigned char *zero, int32_t *order,
                          int32_t *scratch, int64_t most);
