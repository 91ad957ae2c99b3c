/* Number, size and end of a command's internal steps; see plan.h. */
#include "solver/sim/plan.h"

#include "solver/base/err.h"
#include "solver/sim/mech.h"

static const double most_steps = 1e12;

int mech_step_plan(const struct mech_step_request *r, double start, struct mech_moment now,
                   double h, double last, struct mech_step_plan *out)
{
    const double t = now.time;

    *out = (struct mech_step_plan){.start = now, .end = now, .h = h};
    if (r->kind == MECH_STEP_COUNT) {
        if (r->count == 0 || (double)r->count > most_steps) {
            return MECH_INVALID;
        }
        out->count = r->count;
        out->end = mech_moment_after(now, (double)r->count, h);
        return out->end.time > t && isfinite(out->end.time) ? 0 : MECH_INVALID;
    }
    const bool sized = r->kind == MECH_STEP_SIZE;
    const double size = sized ? r->size : r->until - t;
    const double until = sized ? t + r->size : r->until;

    if (!isfinite(size) || !(until > t)) {
        return MECH_INVALID;
    }
    const double n =
        sized ? mech_time_steps((struct mech_time_part){.to = size}, h, last, &out->h)
              : mech_time_steps((struct mech_time_part){start, t, until}, h, last, &out->h);
    if (!(n <= most_steps)) {
        return MECH_INVALID;
    }
    out->count = (uint64_t)n;
    /* n steps of h and a length that is the same but for rounding end at the same bits; a time that
       was asked for is reached */
    out->end = out->h == h ? mech_moment_after(now, n, h) : mech_moment_after(now, 1., size);
    if (!sized && out->end.time != until) {
        out->end = (struct mech_moment){until, 0.};
    }
    return 0;
}
