/* A committed state can be shown: its numbers and all its outputs are finite. What starts, steps or
 * changes a simulation asks here before the new state is committed, so that no reader finds an
 * infinity. The outputs that were made for the question are kept for the next reader. */
#include "solver/base/err.h"
#include "solver/base/text.h"
#include "solver/sim/internal.h"

#include <math.h>
#include <string.h>

/* x − x is 0, or not a number. Four lanes hide the latency of the sums. */
bool mech_sim_all_finite(const double *x, size_t n)
{
    double lane[4] = {0., 0., 0., 0.};
    size_t i = 0;

    for (; i + 4 <= n; i += 4) {
        lane[0] += x[i] - x[i];
        lane[1] += x[i + 1] - x[i + 1];
        lane[2] += x[i + 2] - x[i + 2];
        lane[3] += x[i + 3] - x[i + 3];
    }
    for (; i < n; i++) {
        lane[0] += x[i] - x[i];
    }
    return lane[0] + lane[1] + lane[2] + lane[3] == 0.;
}

size_t mech_sim_output_size(const struct mech_sim *s)
{
    return (size_t)mech_model_output_size(s->model);
}

void mech_sim_outputs_of(const struct mech_sim *s, const struct mech_state *state, double *values)
{
    for (size_t i = 0; i < mech_model_outputs(s->model); i++) {
        mech_model_output_values(s->model, state, i,
                                 values + mech_model_output(s->model, i)->offset);
    }
}

int mech_sim_outputs_fit(struct mech_sim *s, const struct mech_state *state, enum mech_shows as,
                         struct mech_unshown *why)
{
    s->shows = MECH_SHOWS_NONE;
    mech_sim_outputs_of(s, state, s->shown);
    if (mech_sim_all_finite(s->shown, mech_sim_output_size(s))) {
        s->shows = as;
        return 0;
    }
    for (size_t i = 0; i < mech_model_outputs(s->model); i++) {
        const struct mech_channel_info *const output = mech_model_output(s->model, i);

        if (!mech_sim_all_finite(s->shown + output->offset, (size_t)output->size)) {
            mech_text_format(why->what, sizeof why->what, "the output \"%.64s\"", output->name);
            break;
        }
    }
    why->place = "/outputs";
    return MECH_NOT_FINITE;
}

int mech_sim_state_fits(struct mech_sim *s, const struct mech_state *state, enum mech_shows as,
                        struct mech_unshown *why)
{
    const struct {
        const double *values;
        int32_t count;
        const char *place, *what;
    } parts[] = {{state->q, s->sizes.q, "/nodes", "a coordinate"},
                 {state->v, s->sizes.v, "/nodes", "a velocity"},
                 {state->vdot, s->sizes.v, "/objects", "an acceleration"},
                 {state->a, s->sizes.v, "/objects", "an acceleration"},
                 {state->lambda, s->sizes.lambda, "/objects", "a reaction"},
                 {state->impulse, s->sizes.impulse, "/objects", "an impulse"},
                 {state->x, s->sizes.x, "/nodes", "a first-order state"},
                 {state->z, s->sizes.z, "/objects", "a datum of a contact or of friction"}};

    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        if (!mech_sim_all_finite(parts[i].values, (size_t)parts[i].count)) {
            why->place = parts[i].place;
            mech_text_format(why->what, sizeof why->what, "%s", parts[i].what);
            return MECH_NOT_FINITE;
        }
    }
    return mech_sim_outputs_fit(s, state, as, why);
}

int mech_sim_refuse(struct mech_sim *s, const struct mech_unshown *why)
{
    mech_text_format(s->refusal, sizeof s->refusal, "%.100s would be infinite or not a number",
                     why->what);
    return MECH_NOT_FINITE;
}

const char *mech_sim_refusal(const struct mech_sim *s)
{
    return s->refusal;
}
