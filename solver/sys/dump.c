/* Matrices and vectors as text; see dump.h. The coordinate formats end with the last place of the
 * matrix, if need be as a zero, so that a reader knows its size. */
#include "solver/sys/dump.h"

#include "solver/base/err.h"

#include <stdio.h>
#include <stdlib.h>

enum { LINE = 64 };

static void line(char *text, size_t *used, struct mech_triplet t, int32_t first)
{
    *used += (size_t)snprintf(text + *used, LINE, "%d %d %.17g\n", (int)(t.row + first),
                              (int)(t.col + first), t.value);
}

int mech_dump_matrix(const struct mech_mat *a, enum mech_dump_format format, char **text)
{
    const int32_t first = format == MECH_DUMP_COORDINATES_0 ? 0 : 1;
    struct mech_arena scratch;
    struct mech_triplet *t = NULL;
    size_t n = 0, used = 0;

    *text = NULL;
    mech_arena_init(&scratch, 0);
    if (mech_mat_triplets(&scratch, a, &t, &n) || !(*text = malloc((n + 3) * LINE + LINE))) {
        mech_arena_fini(&scratch);
        return MECH_NO_MEMORY;
    }
    if (format == MECH_DUMP_MATRIX_MARKET) {
        used = (size_t)snprintf(*text, (size_t)2 * LINE,
                                "%%%%MatrixMarket matrix coordinate real general\n%d %d %zu\n",
                                (int)a->rows, (int)a->cols, n);
    }
    (*text)[used] = '\0';
    for (size_t k = 0; k < n; k++) {
        line(*text, &used, t[k], first);
    }
    const bool ends = n && t[n - 1].row == a->rows - 1 && t[n - 1].col == a->cols - 1;

    if (format != MECH_DUMP_MATRIX_MARKET && !ends && a->rows && a->cols) {
        line(*text, &used, (struct mech_triplet){a->rows - 1, a->cols - 1, 0.}, first);
    }
    mech_arena_fini(&scratch);
    return 0;
}

int mech_dump_vector(const double *x, int32_t n, enum mech_dump_format format, char **text)
{
    size_t used = 0;

    *text = malloc(((size_t)n + 3) * LINE);
    if (!*text) {
        return MECH_NO_MEMORY;
    }
    (*text)[0] = '\0';
    if (format == MECH_DUMP_MATRIX_MARKET) {
        used = (size_t)snprintf(*text, (size_t)2 * LINE,
                                "%%%%MatrixMarket matrix array real general\n%d 1\n", (int)n);
    }
    for (int32_t i = 0; i < n; i++) {
        used += (size_t)snprintf(*text + used, LINE, "%.17g\n", x[i]);
    }
    return 0;
}
