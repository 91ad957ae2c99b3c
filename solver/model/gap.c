/* Normal rows of contacts at velocity level; see gap.h. */
#include "solver/model/gap.h"

#include <math.h>

double mech_gap_known(double gap, double rounding)
{
    /* not fmin, which hides what is not a number */
    return gap > 0. ? fmax(gap - rounding, 0.) : gap;
}

double mech_gap_rest(const struct mech_gap_step *s, double gap)
{
    return fmax(gap, 0.) / (s->theta > 0. ? s->theta * s->h : s->h);
}

double mech_gap_turn(const struct mech_gap_step *s, double gap, double turn, double speed)
{
    const double before = 1. - s->theta;
    const double b = mech_gap_rest(s, gap) + before * s->h * turn;

    return fmax(b, s->theta > 0. ? fmin(before / s->theta * speed, 0.) : 0.);
}

double mech_gap_left(const struct mech_gap_step *s, double gap, double speed)
{
    return gap + s->theta * s->h * speed;
}

bool mech_gap_overlaps(const struct mech_gap_step *s, double left)
{
    return left < -1e-6 * s->contact->recovery_speed * s->h;
}

double mech_gap_recovery(const struct mech_gap_step *s, double left)
{
    return fmax(left / s->h, -s->contact->recovery_speed);
}

double mech_gap_soft(const struct mech_gap_step *s, double compliance, double damping,
                     double before, double speed, double *E)
{
    const double reach = s->h * s->theta + compliance * damping, alpha = s->theta * reach;

    *E = compliance / (s->h * alpha);
    return (before + (1. - s->theta) * reach * speed) / alpha;
}

bool mech_gap_contact(const struct mech_gap_step *s, const struct mech_material *material,
                      double gap, double speed, double bE[2])
{
    const double h = s->h, theta = s->theta, e = material->restitution;

    bE[1] = 0.;
    if (material->compliance > 0.) {
        const double before = gap - (1. - theta) * h * speed;

        bE[0] = mech_gap_soft(s, material->compliance, material->damping, before, speed, &bE[1]);
        return material->damping == 0. || before + s->gamma * h * speed <= 0.;
    }
    bE[0] = -e * speed > s->contact->min_bounce_speed && gap + theta * h * speed <= 0.
                ? e * speed
                : mech_gap_rest(s, gap);
    return true;
}

struct mech_set mech_gap_set(const struct mech_material *material)
{
    if (material->rolling > 0. || material->spinning > 0.) {
        return (struct mech_set){.kind = MECH_SET_ROLLING,
                                 .rows = MECH_SET_ROWS,
                                 .mu = material->friction,
                                 .spinning = material->spinning,
                                 .rolling = material->rolling};
    }
    if (material->friction > 0.) {
        return (struct mech_set){.kind = MECH_SET_CONE, .rows = 3, .mu = material->friction};
    }
    return (struct mech_set){.kind = MECH_SET_UNILATERAL, .rows = 1};
}
