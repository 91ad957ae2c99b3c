/* Optimal string alignment: the table of edit distances of all beginnings, three rows at a time. */
#include "solver/base/guess.h"

#include "solver/base/text.h"

#include <stdlib.h>
#include <string.h>

enum { DISTANCE_MAX = 64, DISTANCE_FAR = 99 };

static int least(int a, int b)
{
    return a < b ? a : b;
}

/* The distance if it is at most `most`; DISTANCE_FAR as soon as it is known to be more. */
static int distance_within(const char *a, const char *b, int most)
{
    // three rows of the optimal-string-alignment table, and the least of the one before
    int rows[3][DISTANCE_MAX + 1];
    int before = 0;
    const size_t na = strnlen(a, DISTANCE_MAX + 1);
    const size_t nb = strnlen(b, DISTANCE_MAX + 1);
    if (na > DISTANCE_MAX || nb > DISTANCE_MAX || abs((int)na - (int)nb) > most) {
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
        int now = row[0];
        for (size_t j = 1; j <= nb; j++) {
            const int same = a[i - 1] == b[j - 1] ? 0 : 1;
            row[j] = least(above[j - 1] + same, least(above[j], row[j - 1]) + 1);
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
                row[j] = least(row[j], above2[j - 2] + 1);
            }
            now = least(now, row[j]);
        }
        // a later row has no less than this one, or one more than that above
        if (now > most && before >= most) {
            return DISTANCE_FAR;
        }
        before = now;
    }
    return rows[na % 3][nb] <= most ? rows[na % 3][nb] : DISTANCE_FAR;
}

int mech_distance(const char *a, const char *b)
{
    return distance_within(a, b, DISTANCE_FAR);
}

void mech_guess_try(struct mech_guess *g, const char *name)
{
    const int length = (int)strnlen(g->text, DISTANCE_MAX);
    const int near = (length > 3 ? length : 3) / 3;
    const int distance = distance_within(g->text, name, !g->best ? near : g->distance - 1);
    if (distance < DISTANCE_FAR) {
        g->best = name;
        g->distance = distance;
    }
}

const char *mech_guess_result(const struct mech_guess *g)
{
    return g->best;
}

const char *mech_guess_hint(struct mech_guess *g)
{
    const char *const meant = mech_guess_result(g);
    g->hint[0] = '\0';
    if (meant) {
        mech_text_format(g->hint, sizeof g->hint, ", did you mean '%.*s'?", DISTANCE_MAX, meant);
    }
    return g->hint;
}

const char *mech_hint(struct mech_guess *g, const char *text, const void *list, size_t n,
                      size_t size)
{
    *g = (struct mech_guess){.text = text};
    for (size_t i = 0; i < n && i < MECH_GUESS_MOST; i++) {
        const char *const *const name = (const void *)((const char *)list + i * size);
        if (*name) {
            mech_guess_try(g, *name);
        }
    }
    return mech_guess_hint(g);
}

const char *mech_closest(const char *text, const char *const *names)
{
    struct mech_guess g = {.text = text};
    for (; *names; names++) {
        mech_guess_try(&g, *names);
    }
    return mech_guess_result(&g);
}
