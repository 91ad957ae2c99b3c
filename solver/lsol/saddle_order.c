/* Moves rows without a diagonal behind their neighbours, and counts the fill along the elimination
 * tree (J. W. H. Liu, SIAM J. Matrix Anal. Appl. 11, 1990); see saddle_order.h. */
#include "solver/lsol/saddle_order.h"

/* Last neighbour, in the order, that has a diagonal; the last row of all where there is none. */
static int32_t last_neighbour(const struct mech_mat *a, const unsigned char *zero,
                              const int32_t *position, int32_t j)
{
    int32_t last = -1;

    for (int32_t k = a->colptr[j]; k < a->colptr[j + 1]; k++) {
        const int32_t i = a->rowind[k];

        last = !zero[i] && position[i] > last ? position[i] : last;
    }
    return last < 0 ? a->rows - 1 : last;
}

static int64_t fill(const struct mech_mat *a, const int32_t *order, int32_t *scratch, int64_t most)
{
    const int32_t n = a->rows;
    int32_t *const position = scratch, *const parent = scratch + n, *const seen = parent + n;
    int64_t count = n;

    for (int32_t p = 0; p < n; p++) {
        position[order[p]] = p;
    }
    for (int32_t p = 0; p < n && count <= most; p++) {
        parent[p] = -1;
        seen[p] = p;
        for (int32_t k = a->colptr[order[p]]; k < a->colptr[order[p] + 1]; k++) {
            // up the tree: each new place is an entry of row p
            for (int32_t q = position[a->rowind[k]]; q < p && seen[q] != p; q = parent[q]) {
                parent[q] = parent[q] < 0 ? p : parent[q];
                seen[q] = p;
                count++;
            }
        }
    }
    return count <= most ? count : -1;
}

int64_t mech_saddle_order(const struct mech_mat *a, const unsigned char *zero, int32_t *order,
                          int32_t *scratch, int64_t most)
{
    const int32_t n = a->rows;
    int32_t *const position = scratch, *const head = scratch + n, *const next = head + n;

    for (int32_t p = 0; p < n; p++) {
        position[order[p]] = p;
        head[p] = -1;
    }
    // lists of those that wait for a place, from behind so that they keep their order
    for (int32_t p = n - 1; p >= 0; p--) {
        const int32_t j = order[p];

        if (zero[j]) {
            const int32_t last = last_neighbour(a, zero, position, j);

            next[j] = head[last];
            head[last] = j;
        }
    }
    // positions are not needed any more: the old order goes there
    for (int32_t p = 0; p < n; p++) {
        position[p] = order[p];
    }
    int32_t count = 0;
    for (int32_t p = 0; p < n; p++) {
        if (!zero[position[p]]) {
            order[count++] = position[p];
        }
        for (int32_t j = head[p]; j >= 0; j = next[j]) {
            order[count++] = j;
        }
    }
    return fill(a, order, scratch, most);
}
