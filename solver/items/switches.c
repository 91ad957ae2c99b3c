/* A list in the model's arena, which doubles: the old one stays behind until the end. */
#include "solver/items/switches.h"

#include "solver/base/err.h"

#include <string.h>

static int make_room(struct mech_switches *s)
{
    const size_t more = s->room ? 2 * s->room : 8;
    struct mech_switch *const fresh = mech_arena_alloc(s->arena, more, sizeof *fresh);

    if (!fresh) {
        return MECH_NO_MEMORY;
    }
    if (s->count) {
        memcpy(fresh, s->at, s->count * sizeof *fresh);
    }
    s->at = fresh;
    s->room = more;
    return 0;
}

int mech_switches_add(struct mech_switches *s, const struct mech_switch *one)
{
    if (!s || !one->of || !mech_expr_has_ways(one->of)) {
        return 0;
    }
    if (s->count == s->room) {
        MECH_TRY(make_room(s));
    }
    s->at[s->count++] = *one;
    s->laws = s->laws || !one->timed;
    return 0;
}

int mech_switches_law(struct mech_switches *s, const struct mech_expr *of, const double *vars,
                      int32_t object, int32_t row)
{
    return mech_switches_add(s, &(struct mech_switch){.of = of,
                                                      .vars = vars,
                                                      .channel = -1,
                                                      .category = MECH_OBJECT,
                                                      .item = object,
                                                      .row = row});
}

int mech_switches_timed(struct mech_switches *s, const struct mech_timed *x, int32_t object,
                        int32_t row)
{
    for (const struct mech_timed *y = x->inner; y; y = y->inner) {
        row++;
    }
    for (; x; x = x->inner) {
        const struct mech_switch one = {.of = x->value,
                                        .vars = x->vars,
                                        .timed = x,
                                        .channel = -1,
                                        .category = MECH_OBJECT,
                                        .item = object,
                                        .row = row--};

        MECH_TRY(mech_switches_add(s, &one));
    }
    return 0;
}
