/* Impulses of a step of free bodies, from those that the contacts have: by sweeps, by the method of
 * second order where these stall, by associated laws, and by what of these can be accepted; see
 * bodies_free.c. */
#include "solver/base/err.h"
#include "solver/linalg/v3.h"
#include "solver/step/moreau_jean/bodies.h"

#include <math.h>
#include <string.h>

enum { LOOK_EVERY = 10 };
/* a round that misses more than this part of what the best before it did is no better */
static const double gains = 0.9;

/* Free velocities of all bodies. */
static void set_free(struct mech_moreau_bodies *s, const struct mech_state *state, int32_t bodies)
{
    for (int32_t i = 0; i < bodies; i++) {
        mech_model_touch_twist(s->model, i, state->v, s->sweeps.twist + 6 * (size_t)i);
    }
}

/* Whether that residual is met, and against the data alone MECH_ACCEPTABLE_SLACK times that. */
static bool within(double residual, const struct mech_body_contacts_result *found)
{
    return found->residual <= residual && found->miss <= MECH_ACCEPTABLE_SLACK * residual;
}

/* What is compared with contact.acceptable. */
static double off_by(const struct mech_body_contacts_result *found)
{
    return fmax(found->residual, found->miss / MECH_ACCEPTABLE_SLACK);
}

/* Whether that many times contact.acceptable is met. */
static bool good_enough(const struct mech_moreau_bodies *s, double times,
                        const struct mech_body_contacts_result *found)
{
    return s->sweeps.count >= MECH_ACCEPTABLE_FROM && within(times * s->acceptable, found);
}

/* Whether no contact misses more by itself than it may, where that was asked. */
static bool suffices(const struct mech_moreau_bodies *s,
                     const struct mech_body_contacts_options *options,
                     const struct mech_body_contacts_result *found)
{
    return options->own.change > 0. && found->own <= 1. && good_enough(s, 1., found);
}

static struct mech_contact_bodies bodies_of(const struct mech_moreau_bodies *s)
{
    const struct mech_sweeps *const w = &s->sweeps;

    return (struct mech_contact_bodies){.count = mech_model_touch_bodies(s->model),
                                        .inverse_mass = w->inverse_mass,
                                        .inverse_inertia = w->inverse_inertia,
                                        .velocity = w->twist};
}

/* Sweeps that one step of the method of second order costs; HUGE_VAL: it does not take these
 * contacts. */
static double second_cost(struct mech_moreau_bodies *s)
{
    struct mech_sweeps *const w = &s->sweeps;

    if (w->second_cost == 0.) {
        const struct mech_contact_bodies bodies = bodies_of(s);
        const double cost = mech_body_newton_cost(w->newton, &bodies, w->at, w->count, s->friction);

        w->second_cost = cost > 0. ? cost : HUGE_VAL;
    }
    return w->second_cost;
}

/* Whether the method of second order mostly costs no more than all sweeps. */
static bool second_pays(struct mech_moreau_bodies *s)
{
    return MECH_SECOND_STEPS * second_cost(s) <= mech_model_settings(s->model)->vi.max_iterations;
}

/* Whether the contacts are those of the last step, but for few, or there was none. */
static bool lasts(const struct mech_moreau_bodies *s)
{
    const struct mech_sweeps *const w = &s->sweeps;

    return w->lasting == 0 || w->lasting >= w->count - w->count / 10;
}

/* Sweeps that the method of second order counts as after so many; HUGE_VAL: it is not to be tried,
 * as sweeps may come to what can be accepted for less. A pile whose contacts last begins its next
 * steps from what is found, with a few sweeps each: there it may cost more, once sweeps have
 * brought impulses from end to end. Before, it often finds nothing: a wall of 12 × 12 boxes at its
 * first step takes 17 of its steps after 210 sweeps, and is not found in 110 after 70. */
static double other(void *of, int32_t sweeps)
{
    struct mech_moreau_bodies *const s = of;
    const double one = second_cost(s), cost = MECH_SECOND_STEPS * one;
    const bool many = s->acceptable > 0. && s->sweeps.count >= MECH_ACCEPTABLE_FROM;

    if (!many || cost <= MECH_SECOND_MOST) {
        return cost;
    }
    return sweeps >= MECH_FEW_SWEEPS && lasts(s) && MECH_LASTING_STEPS * one <= MECH_LASTING_MOST
               ? MECH_LASTING_STEPS * one
               : HUGE_VAL;
}

/* The method of second order where sweeps stall, and some sweeps more: as
 * mech_body_contacts_solve. Where it costs too much beside what they left, the rest of them. */
static int hand_over(struct mech_moreau_bodies *s, const struct mech_state *state,
                     const struct mech_body_contacts_options *options,
                     struct mech_body_contacts_result *found, struct mech_step_result *result)
{
    struct mech_sweeps *const w = &s->sweeps;
    const struct mech_contact_bodies bodies = bodies_of(s);
    const double cost = MECH_SECOND_STEPS * second_cost(s);
    const bool second =
        good_enough(s, 1., found) ? other(s, found->sweeps) < HUGE_VAL : second_pays(s);
    struct mech_body_contacts_options last = *options;

    last.other = NULL;
    last.max_sweeps = options->max_sweeps - found->sweeps;
    set_free(s, state, bodies.count);
    if (second) {
        const bool dear = good_enough(s, 1., found) && cost > MECH_SECOND_MOST;
        const struct mech_body_newton_options newton = {
            .friction = options->friction,
            .tolerance = options->tolerance,
            .most = dear ? (int32_t)(MECH_LASTING_ALL / second_cost(s)) : 0,
            .interrupt = options->interrupt};

        const int32_t steps =
            mech_body_newton_improve(w->newton, &bodies, w->at, w->count, &newton);

        w->second = w->second || steps > 0;
        result->vi_iterations += steps;
        s->used = mech_body_newton_name();
        last.accelerate = false;
        last.max_sweeps = MECH_LAST_SWEEPS;
    }
    const int code = mech_body_contacts_solve(w->solver, &bodies, w->at, w->count, &last, found);

    result->vi_iterations += found->sweeps;
    return code;
}

/* σ|c_S| + ρ‖c_R‖ of a contact at the velocities after its couple, m/s. */
static double turn_of(const struct mech_sweeps *w, const struct mech_body_contact *c)
{
    double turn[3], across[3], t2[3];

    mech_v3_cross(c->n, c->t1, t2);
    for (int k = 0; k < 3; k++) {
        turn[k] =
            c->cfm[2] * c->couple[k] + c->b[3] * c->n[k] + c->b[4] * c->t1[k] + c->b[5] * t2[k];
        for (int side = 0; side < 2; side++) {
            turn[k] += c->body[side] < 0 ? 0.
                                         : (side ? 1. : -1.) *
                                               w->twist[6 * (size_t)c->body[side] + 3 + (size_t)k];
        }
    }
    mech_v3_cross(c->n, turn, across);
    return c->spinning * fabs(mech_v3_dot(c->n, turn)) + c->rolling * mech_v3_norm(across);
}

/* What De Saxcé's ĉ_N adds to c_N of a contact at the velocities after its impulse, m/s. */
static double slip_of(const struct mech_sweeps *w, const struct mech_body_contact *c)
{
    struct mech_body_contact along = *c;
    double t[2][3], sum = 0.;

    memcpy(t[0], c->t1, sizeof t[0]);
    mech_v3_cross(c->n, c->t1, t[1]);
    for (int k = 0; k < 2; k++) {
        memcpy(along.n, t[k], sizeof t[k]);
        const double slip = mech_moreau_bodies_approach(&along, w->twist) + c->b[1 + k] +
                            c->cfm[1] * mech_v3_dot(t[k], c->impulse);

        sum += slip * slip;
    }
    return c->mu * sqrt(sum) + (c->spinning > 0. || c->rolling > 0. ? turn_of(w, c) : 0.);
}

/* What the impulses of the contacts miss, and the velocities that they lead to. As
 * mech_body_contacts_solve. */
static int look_at(struct mech_moreau_bodies *s, const struct mech_state *state,
                   const struct mech_body_contacts_options *options,
                   struct mech_body_contacts_result *found)
{
    const struct mech_contact_bodies bodies = bodies_of(s);
    struct mech_body_contacts_options look = *options;

    look.max_sweeps = 0;
    set_free(s, state, bodies.count);
    return mech_body_contacts_solve(s->sweeps.solver, &bodies, s->sweeps.at, s->sweeps.count, &look,
                                    found);
}

/* One associated law after another: what it begins with, and how it is solved. */
struct rounds {
    bool slips;  /* from b_N + ĉ_N − c_N at the velocities that there are; else from b_N */
    bool second; /* by the method of second order; else by sweeps with momentum */
};

/* The impulses of the associated law with b_N + ĉ_N − c_N, or with b_N, and what they miss by
 * Coulomb's. As mech_body_contacts_solve. */
static int round_of(struct mech_moreau_bodies *s, const struct mech_state *state, struct rounds as,
                    const struct mech_body_contacts_options *options,
                    struct mech_body_contacts_result *found, struct mech_step_result *result)
{
    struct mech_sweeps *const w = &s->sweeps;
    const struct mech_contact_bodies bodies = bodies_of(s);
    const double tolerance = 0.01 * found->residual;
    struct mech_body_contacts_options associated = *options;
    int code = 0;

    associated.friction = MECH_ASSOCIATED;
    associated.accelerate = true;
    associated.own.change = 0.;
    associated.max_sweeps = MECH_ROUND_SWEEPS;
    associated.tolerance = tolerance;
    associated.slack = MECH_ACCEPTABLE_SLACK;
    for (int32_t i = 0; i < w->count; i++) {
        w->round[i].b_N = w->at[i].b[0];
        w->at[i].b[0] += as.slips ? slip_of(w, &w->at[i]) : 0.;
    }
    set_free(s, state, bodies.count);
    if (as.second) {
        const struct mech_body_newton_options newton = {
            .friction = MECH_ASSOCIATED, .tolerance = tolerance, .interrupt = options->interrupt};

        result->vi_iterations +=
            mech_body_newton_improve(w->newton, &bodies, w->at, w->count, &newton);
    } else {
        code = mech_body_contacts_solve(w->solver, &bodies, w->at, w->count, &associated, found);
        result->vi_iterations += found->sweeps;
    }
    for (int32_t i = 0; i < w->count; i++) {
        w->at[i].b[0] = w->round[i].b_N;
    }
    if (code != 0 && code != MECH_VI_NOT_CONVERGED) {
        return code;
    }
    return look_at(s, state, options, found);
}

/* The best impulses := those of the contacts, or back. */
static void store(struct mech_sweeps *w, bool back)
{
    for (int32_t i = 0; i < w->count; i++) {
        struct mech_body_contact *const c = &w->at[i];
        struct mech_round *const r = &w->round[i];

        memcpy(back ? c->impulse : r->impulse, back ? r->impulse : c->impulse, sizeof r->impulse);
        memcpy(back ? c->couple : r->couple, back ? r->couple : c->couple, sizeof r->couple);
    }
}

/* Whether a contact resists rolling or spinning: the method of second order does not take that by
 * the associated law. */
static bool resists_turns(const struct mech_sweeps *w)
{
    for (int32_t i = 0; i < w->count; i++) {
        if (w->at[i].rolling > 0. || w->at[i].spinning > 0.) {
            return true;
        }
    }
    return false;
}

/* The method of second order by the law itself from the best impulses of some rounds, if these are
 * `nearer` to a solution than what it has begun with before, unless it costs too much. As
 * mech_body_contacts_solve. */
static int from_rounds(struct mech_moreau_bodies *s, const struct mech_state *state, bool nearer,
                       const struct mech_body_contacts_options *options,
                       struct mech_body_contacts_result *found, struct mech_step_result *result)
{
    struct mech_sweeps *const w = &s->sweeps;
    const struct mech_contact_bodies bodies = bodies_of(s);
    const struct mech_body_newton_options newton = {.friction = options->friction,
                                                    .tolerance = options->tolerance,
                                                    .interrupt = options->interrupt};

    if (nearer && second_pays(s)) {
        set_free(s, state, bodies.count);
        result->vi_iterations +=
            mech_body_newton_improve(w->newton, &bodies, w->at, w->count, &newton);
        s->used = mech_body_newton_name();
    }
    return look_at(s, state, options, found);
}

/* Coulomb's law as the fixed point of associated ones with b_N + μ‖c_T‖ (ĉ_N of sets.h), of ‖c_T‖
 * that the last one left (V. Acary, F. Cadoux, C. Lemaréchal, J. Malick, ZAMM 91 (2011)): each
 * minimises something, so that sweeps with momentum find it also where those by Coulomb's law go
 * round in circles, as with much friction. From the velocities that others left; then, as there may
 * be circles too, from the associated law itself. Where two laws take all sweeps that they may, as
 * in tall towers, the next ones are for the method of second order, unless it costs too much. Where
 * they come no nearer, what they have come to is a better start for that method by Coulomb's law
 * than what sweeps leave: boxes with μ = 2 that strike each other at 20 m/s are at 3e-4 after
 * rounds without an end, and solved by it. The best of all. As mech_body_contacts_solve. */
static int by_associated(struct mech_moreau_bodies *s, const struct mech_state *state,
                         const struct mech_body_contacts_options *options,
                         struct mech_body_contacts_result *found, struct mech_step_result *result)
{
    struct mech_sweeps *const w = &s->sweeps;
    double best = off_by(found);
    int code = MECH_VI_NOT_CONVERGED;

    store(w, false);
    s->used = "";
    for (int start = 0; start < 2; start++) {
        const double first = best;
        double here = HUGE_VAL;

        for (int k = 0, worse = 0, spent = 0; k < MECH_ROUNDS && worse < MECH_ROUNDS_WORSE; k++) {
            const int32_t before = result->vi_iterations;
            const struct rounds as = {.slips = start == 0 || k > 0,
                                      .second = spent > 1 && second_pays(s) && !resists_turns(w)};

            code = round_of(s, state, as, options, found, result);
            if (code != MECH_VI_NOT_CONVERGED || good_enough(s, 1., found)) {
                s->used = as.second ? mech_body_newton_name() : "";
                return code;
            }
            const double off = off_by(found);

            if (!as.second) {
                spent = result->vi_iterations - before < MECH_ROUND_SWEEPS ? 0 : spent + 1;
            }
            worse = off < gains * here ? 0 : worse + 1;
            here = fmin(here, off);
            if (off < best) {
                best = off;
                store(w, false);
            }
        }
        store(w, true);
        code = from_rounds(s, state, best < first, options, found, result);
        if (code != MECH_VI_NOT_CONVERGED || good_enough(s, 1., found)) {
            return code;
        }
        const double off = off_by(found);

        if (off < best) {
            best = off;
            store(w, false);
        } else {
            store(w, true);
            code = look_at(s, state, options, found);
        }
    }
    return code;
}

bool mech_moreau_bodies_own(const struct mech_moreau_bodies *s)
{
    const struct mech_vi_settings *const vi = &mech_model_settings(s->model)->vi;

    return vi->on_failure != MECH_ON_FAILURE_ACCEPT && !vi->type && s->acceptable > 0. &&
           s->sweeps.count >= MECH_ACCEPTABLE_FROM;
}

/* Whether by_associated is to be tried: for what can be accepted of many contacts under Coulomb's
 * law, before members that take N, which cost far more. */
static bool may_round(const struct mech_moreau_bodies *s)
{
    return s->friction == MECH_COULOMB && s->sweeps.count >= MECH_ACCEPTABLE_FROM &&
           3 * s->sweeps.count <= MECH_IMPACT_ROWS_MOST;
}

/* What sweeps of this step begin with. */
static struct mech_body_contacts_options options_of(struct mech_moreau_bodies *s)
{
    const struct mech_vi_settings *const vi = &mech_model_settings(s->model)->vi;
    const bool accept = vi->on_failure == MECH_ON_FAILURE_ACCEPT;
    const bool second = !accept && !vi->type;
    const struct mech_contact_own own = {
        .change = mech_moreau_bodies_own(s) && !s->sweeps.whole ? 1. / MECH_OWN_CHANGE : 0.,
        .enough = s->acceptable};

    return (struct mech_body_contacts_options){.friction = s->friction,
                                               .tolerance = vi->tolerance,
                                               .max_sweeps = vi->max_iterations,
                                               .look_every = LOOK_EVERY,
                                               .accelerate = !accept,
                                               .other = second ? other : NULL,
                                               .of = s,
                                               .own = own,
                                               .interrupt = mech_model_interrupt(s->model)};
}

static void get_back(struct mech_moreau_bodies *s, struct mech_state *state)
{
    for (int32_t i = 0; i < mech_model_touch_bodies(s->model); i++) {
        mech_model_touch_untwist(s->model, i, s->sweeps.twist + 6 * (size_t)i, state->v);
    }
}

int mech_moreau_bodies_impulses(struct mech_moreau_bodies *s, struct mech_state *state,
                                struct mech_step_result *result)
{
    const struct mech_vi_settings *const vi = &mech_model_settings(s->model)->vi;
    const bool accept = vi->on_failure == MECH_ON_FAILURE_ACCEPT;
    struct mech_sweeps *const w = &s->sweeps;
    const struct mech_contact_bodies bodies = bodies_of(s);
    struct mech_body_contacts_options options = options_of(s);
    struct mech_body_contacts_result found = {.residual = HUGE_VAL, .miss = HUGE_VAL};
    const bool few = mech_moreau_bodies_hurries(s, w->count);
    const bool twice = !few && s->acceptable > 0. && options.max_sweeps > MECH_ACCEPTABLE_AFTER;
    const int32_t first = few ? MECH_FEW_SWEEPS : twice ? MECH_ACCEPTABLE_AFTER : INT32_MAX;
    int code = MECH_VI_NOT_CONVERGED;

    /* some sweeps, Newton's method, and where these are not good enough, all sweeps until they are
     */
    options.max_sweeps = first < options.max_sweeps ? first : options.max_sweeps;
    s->used = "";
    w->second_cost = 0.;
    w->sufficed = false;
    for (int k = 0; k <= twice && code == MECH_VI_NOT_CONVERGED && !good_enough(s, 1., &found);
         k++) {
        set_free(s, state, bodies.count);
        code = mech_body_contacts_solve(w->solver, &bodies, w->at, w->count, &options, &found);
        result->vi_iterations += found.sweeps;
        w->sufficed = suffices(s, &options, &found);
        if (code == MECH_VI_NOT_CONVERGED && k == 0 && !accept && !vi->type && !w->sufficed) {
            code = hand_over(s, state, &options, &found, result);
            w->sufficed = suffices(s, &options, &found);
            if (code == MECH_VI_NOT_CONVERGED && twice && may_round(s) &&
                !good_enough(s, 1., &found)) {
                options.other = NULL;
                code = by_associated(s, state, &options, &found, result);
            }
        }
        options.max_sweeps = vi->max_iterations;
        options.accelerate = false; /* it has had its chance */
        options.other = NULL;
        if (w->count >= MECH_ACCEPTABLE_FROM && s->acceptable > vi->tolerance) {
            options.tolerance = s->acceptable;
            options.slack = MECH_ACCEPTABLE_SLACK;
        }
    }

    if (code != 0 && code != MECH_VI_NOT_CONVERGED) {
        return code;
    }
    result->residual = found.residual;
    get_back(s, state);
    s->accepted = !(found.residual <= vi->tolerance && found.miss <= vi->tolerance);
    s->off = found.residual;
    /* so many that no other member supports them: the residual of all sweeps */
    const double times = 3 * w->count > MECH_IMPACT_ROWS_MOST ? MECH_ACCEPTABLE_LAST : 1.;

    const bool second = s->used[0] != '\0' && within(s->acceptable / MECH_SECOND_SHARE, &found);

    return accept || second || good_enough(s, times, &found) ? 0 : code;
}
