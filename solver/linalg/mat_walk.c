/* Walking over the stored places of a matrix, and finding one. */
#include "solver/linalg/mat_walk.h"

/* Rows [*first, *end) that column j stores, of all forms but CSC. */
static void stored_rows(const struct mech_mat *a, int32_t j, int32_t *first, int32_t *end)
{
    *first = 0;
    *end = a->rows;
    if (a->kind == MECH_MAT_DIAG) {
        *first = j;
        *end = j + 1;
    } else if (a->kind == MECH_MAT_BAND) {
        *first = j > a->upper ? j - a->upper : 0;
        *end = a->rows - j > a->lower ? j + a->lower + 1 : a->rows;
    }
}

bool mech_mat_next(struct mech_mat_walk *w)
{
    const struct mech_mat *const a = w->a;
    if (a->kind == MECH_MAT_ZERO) {
        return false;
    }
    if (a->kind == MECH_MAT_CSC) {
        // over empty columns to the one that holds place k
        while (w->next_col < a->cols && w->k >= a->colptr[w->next_col + 1]) {
            w->next_col++;
        }
        if (w->next_col == a->cols) {
            return false;
        }
        w->row = a->rowind[w->k];
        w->col = w->next_col;
        w->value = a->values[w->k++];
        return true;
    }
    while (w->next_col < a->cols) {
        int32_t first = 0;
        int32_t end = 0;
        stored_rows(a, w->next_col, &first, &end);
        const int32_t i = w->next_row < first ? first : w->next_row;
        if (i < end) {
            w->row = i;
            w->col = w->next_col;
            w->value = *mech_mat_place(a, i, w->next_col);
            w->next_row = i + 1;
            return true;
        }
        w->next_col++;
        w->next_row = 0;
    }
    return false;
}

double *mech_mat_place(const struct mech_mat *a, int32_t i, int32_t j)
{
    const size_t rows = (size_t)a->rows;
    switch (a->kind) {
    case MECH_MAT_ZERO:
        return NULL;
    case MECH_MAT_DIAG:
        return i == j ? &a->values[i] : NULL;
    case MECH_MAT_BAND:
        return j - i > a->upper || i - j > a->lower
                   ? NULL
                   : &a->values[(size_t)(j - i + a->lower) * rows + (size_t)i];
    case MECH_MAT_DENSE:
        return &a->values[(size_t)j * rows + (size_t)i];
    case MECH_MAT_CSC:
        break;
    }
    // bisection in the column
    int32_t low = a->colptr[j];
    int32_t high = a->colptr[j + 1];
    while (low < high) {
        const int32_t middle = low + (high - low) / 2;
        if (a->rowind[middle] < i) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low < a->colptr[j + 1] && a->rowind[low] == i ? &a->values[low] : NULL;
}
