/* Optimal string alignment: the table of edit distances of all beginnings, three rows at a time. */
#include "solver/base/guess.h"

#include <string.h>

enum { DISTANCE_MAX = 64, DISTANCE_FAR = 99 };

static int least(int a, int b)
{
    return a < b ? a : b;
}

int mech_distance(const char *a, const char *b)
{
    // three rows of the optimal-string-alignment table
    int rows[3][DISTANCE_MAX + 1];
    const size_t na = strnlen(a, DISTANCE_MAX + 1);
    const size_t nb = strnlen(b, DISTANCE_MAX + 1);
    if (na > DISTANCE_MAX || nb > DISTANCE_MAX) {
        return DISTANCE_FAR;
    }
    for (size_t j = 0; j <= nb; j++) {
        rows[0][j] = (int)j;
    }
    for (size_t i = 1; i <= na; i++) {
        int *const row = rows[i % 3];
        const int *const above = rows[(i + 2) % 3];
        const int *const above2 = rows[(i + 1) % 3];
        row[0] = (int)i;
        for (size_t j = 1; j <= nb; j++) {
            const int same = a[i - 1] == b[j - 1] ? 0 : 1;
            row[j] = least(above[j - 1] + same, least(above[j], row[j - 1]) + 1);
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
                row[j] = least(row[j], above2[j - 2] + 1);
            }
        }
    }
    return rows[na % 3][nb];
}

void mech_guess_try(struct mech_guess *g, const char *name)
{
    const int distance = mech_distance(g->text, name);
    if (g->best == NULL || distance < g->distance) {
        g->best = name;
        g->distance = distance;
    }
}

const char *mech_guess_result(const struct mech_guess *g)
{
    const int length = (int)strnlen(g->text, DISTANCE_MAX);
    return g->best != NULL && g->distance * 3 <= (length > 3 ? length : 3) ? g->best : NULL;
}

const char *mech_closest(const char *text, const char *const *names)
{
    struct mech_guess g = {.text = text};
    for (; *names != NULL; names++) {
        mech_guess_try(&g, *names);
    }
    return mech_guess_result(&g);
}
