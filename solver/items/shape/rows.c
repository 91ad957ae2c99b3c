/* Points and triangles of descriptions: rows.h. */
#include "solver/items/shape/rows.h"
#include "solver/base/err.h"
#include "solver/base/text.h"
#include "solver/linalg/mat_walk.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static void fault(const struct mech_shape_rows *rows, struct mech_diag *d, const char *text)
{
    char place[2 * MECH_DIAG_PATH];

    snprintf(place, sizeof place, "%s/%s", rows->path, rows->key);
    mech_diag_add(d, place, "%s", text);
}

void mech_shape_row_fault(const struct mech_shape_rows *rows, int32_t row, struct mech_diag *d,
                          const char *text)
{
    char place[2 * MECH_DIAG_PATH];

    snprintf(place, sizeof place, "%s/%s/%ld", rows->path, rows->key, (long)row);
    mech_diag_add(d, place, "%s", text);
}

int mech_shape_rows(const struct mech_shape_rows *rows, struct mech_arena *arena,
                    struct mech_diag *d, double **out)
{
    const struct mech_mat *const m = rows->m;
    char text[MECH_DIAG_TEXT];

    *out = NULL;
    if (m->cols != 3 || m->rows < rows->least || m->rows > rows->most) {
        mech_text_format(text, sizeof text, "needs %ld to %ld rows of 3 numbers", (long)rows->least,
                         (long)rows->most);
        fault(rows, d, text);
        return 0;
    }
    double *const x = mech_arena_alloc(arena, 3 * (size_t)m->rows, sizeof *x);
    if (!x) {
        return MECH_NO_MEMORY;
    }
    struct mech_mat_walk w = {.a = m};
    while (mech_mat_next(&w)) {
        if (!isfinite(w.value)) {
            mech_shape_row_fault(rows, w.row, d, "must be finite");
            return 0;
        }
        x[3 * (size_t)w.row + (size_t)w.col] = w.value;
    }
    *out = x;
    return 0;
}

void mech_shape_bounds(const double *x, int32_t n, double low[3], double high[3])
{
    for (int i = 0; i < 3; i++) {
        low[i] = INFINITY;
        high[i] = -INFINITY;
        for (int32_t k = 0; k < n; k++) {
            low[i] = fmin(low[i], x[3 * k + i]);
            high[i] = fmax(high[i], x[3 * k + i]);
        }
    }
}
