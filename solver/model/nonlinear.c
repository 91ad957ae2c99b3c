/* The nonlinear part g(q, v, t) and its tangents: one call per type. */
#include "solver/base/err.h"
#include "solver/model/internal.h"

bool mech_model_is_linear(const struct mech_model *m)
{
    return m->place_count == 0;
}

bool mech_model_differenced(const struct mech_model *m)
{
    for (size_t b = 0; b < m->batch_count; b++) {
        const struct mech_batch *const batch = &m->batches[b];

        for (size_t r = 0; r < batch->n; r++) {
            if (batch->ops->differenced &&
                batch->ops->differenced(batch->records + r * batch->ops->record_size)) {
                return true;
            }
        }
    }
    return false;
}

const char *mech_model_nonlinear_name(const struct mech_model *m)
{
    for (size_t b = 0; b < m->batch_count; b++) {
        if (m->batches[b].n) {
            return m->document->objects.at[m->batches[b].first].name;
        }
    }
    return NULL;
}

struct mech_eval mech_model_point(const struct mech_model *m, double t, const double *q,
                                  const double *v)
{
    return (struct mech_eval){.t = t, .q = q, .v = v, .q_ref = m->q_ref};
}

void mech_model_nonlinear(const struct mech_model *m, const struct mech_eval *e, double *g)
{
    for (size_t b = 0; b < m->batch_count; b++) {
        m->batches[b].ops->force(m->batches[b].records, m->batches[b].n, e, g);
    }
}

const struct mech_mat *mech_model_pattern(const struct mech_model *m)
{
    return &m->pattern;
}

/* Place of A(i,j) among the stored values, or -1. */
static int32_t place_in(const struct mech_mat *a, int32_t i, int32_t j)
{
    switch (a->kind) {
    case MECH_MAT_DIAG:
        return i == j ? i : -1;
    case MECH_MAT_BAND:
        return j - i >= -a->lower && j - i <= a->upper ? (j - i + a->lower) * a->rows + i : -1;
    case MECH_MAT_DENSE:
        return j * a->rows + i;
    case MECH_MAT_CSC: {
        int32_t low = a->colptr[j], high = a->colptr[j + 1];

        while (low < high) {
            const int32_t middle = low + (high - low) / 2;

            if (a->rowind[middle] < i) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        return low < a->colptr[j + 1] && a->rowind[low] == i ? low : -1;
    }
    case MECH_MAT_ZERO:
        break;
    }
    return -1;
}

int mech_model_places(const struct mech_model *m, struct mech_arena *arena,
                      const struct mech_mat *W, int32_t **out)
{
    int32_t *const places = mech_arena_alloc(arena, m->place_count, sizeof *places);
    const int32_t ground = (int32_t)mech_mat_stored(W);
    size_t n = 0;

    if (!places) {
        return MECH_NO_MEMORY;
    }
    for (size_t b = 0; b < m->batch_count; b++) {
        const int32_t rc = m->batches[b].ops->record_coordinates;

        for (size_t r = 0; r < m->batches[b].n; r++) {
            const int32_t *const slot = m->batches[b].slot + r * (size_t)rc;

            for (int32_t k = 0; k < rc * rc; k++) {
                const int32_t row = slot[k / rc], col = slot[k % rc];
                const bool free = row < m->sizes.v && col < m->sizes.v;

                places[n] = free ? place_in(W, row, col) : ground;
                if (places[n++] < 0) {
                    return MECH_INTERNAL;
                }
            }
        }
    }
    *out = places;
    return 0;
}

void mech_model_tangent(const struct mech_model *m, const struct mech_eval *e, const double c[2],
                        const int32_t *places, double *values)
{
    for (size_t b = 0; b < m->batch_count; b++) {
        const struct mech_batch *const batch = &m->batches[b];
        const size_t rc = (size_t)batch->ops->record_coordinates;

        batch->ops->tangent(batch->records, batch->n, e, c, places, values);
        places += batch->n * rc * rc;
    }
}
