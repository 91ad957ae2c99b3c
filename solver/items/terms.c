/* Terms: growing lists of triplets in global places. */
#include "solver/items/terms.h"

#include "solver/base/err.h"

#include <stdlib.h>

int mech_terms_add(struct mech_terms *t, enum mech_term which, int32_t i, int32_t j, double value)
{
    struct mech_terms_list *const list = &t->list[which];
    const int32_t row = t->slot[i], col = t->slot[j];

    if (which < MECH_TERM_A && (row == t->ground || col == t->ground)) {
        return 0;
    }
    if (list->n == list->capacity) {
        const size_t capacity = list->capacity ? 2 * list->capacity : 64;
        struct mech_triplet *grown = realloc(list->at, capacity * sizeof *grown);

        if (!grown) {
            return MECH_NO_MEMORY;
        }
        list->at = grown;
        list->capacity = capacity;
    }
    list->at[list->n++] = (struct mech_triplet){row, col, value};
    return 0;
}

int mech_terms_matrix(struct mech_terms *t, enum mech_term which, const struct mech_mat *a)
{
    struct mech_arena arena;
    struct mech_triplet *entries = NULL;
    size_t count = 0;

    if (a->rows == 0) {
        return 0;
    }
    mech_arena_init(&arena, 0);
    int r = mech_mat_triplets(&arena, a, &entries, &count);
    for (size_t k = 0; k < count && r == 0; k++) {
        r = mech_terms_add(t, which, entries[k].row, entries[k].col, entries[k].value);
    }
    mech_arena_fini(&arena);
    return r;
}

void mech_terms_fini(struct mech_terms *t)
{
    for (int i = 0; i < MECH_TERM_COUNT; i++) {
        free(t->list[i].at);
    }
}
