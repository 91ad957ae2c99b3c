/* Impulses of a step of free bodies, from those that the contacts have: by sweeps, by the method of
 * second order where these stall, and by what of either can be accepted; see
 * moreau_jean_bodies_free.c. */
#include "solver/base/err.h"
#include "solver/linalg/v3.h"
#include "solver/step/moreau_jean_bodies.h"

#include <math.h>
#include <string.h>

enum { LOOK_EVERY = 10 };

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

/* Whether that many times contact.acceptable is met. */
static bool good_enough(const struct mech_moreau_bodies *s, double times,
                        const struct mech_body_contacts_result *found)
{
    return s->sweeps.count >= MECH_ACCEPTABLE_FROM && within(times * s->acceptable, found);
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
        const double cost = mech_body_newton_cost(w->newton, &bodies, w->at, w->count);

        w->second_cost = cost > 0. ? cost : HUGE_VAL;
    }
    return w->second_cost;
}

/* Whether the contacts are those of the last step, but for few, or there was none. */
static bool lasts(const struct mech_moreau_bodies *s)
{
    const struct mech_sweeps *const w = &s->sweeps;

    return w->lasting == 0 || w->lasting >= w->count - w->count / 10;
}

/* Speed of the second body's point against the first's, from twists [bodies × 6]. */
static void speed_of(const struct mech_body_contact *c, const double *twist, double u[3])
{
    memset(u, 0, 3 * sizeof *u);
    for (int side = 0; side < 2; side++) {
        const double sign = side ? 1. : -1.;
        double turn[3];

        if (c->body[side] >= 0) {
            const double *const v = twist + 6 * (size_t)c->body[side];

            mech_v3_cross(v + 3, c->arm[side], turn);
            mech_v3_add(u, sign, v, u);
            mech_v3_add(u, sign, turn, u);
        }
    }
}

/* c [N, T1, T2] = G v + b of a contact, without what E adds */
static void rates_of(const struct mech_body_contact *c, const double *twist, double rate[3])
{
    double u[3], t2[3];

    speed_of(c, twist, u);
    mech_v3_cross(c->n, c->t1, t2);
    rate[0] = mech_v3_dot(c->n, u) + c->b[0];
    rate[1] = mech_v3_dot(c->t1, u) + c->b[1];
    rate[2] = mech_v3_dot(t2, u) + c->b[2];
}

static double square_of(const double u[3])
{
    return mech_v3_dot(u, u);
}

/* ‖G v_k‖/‖r‖, r = G v + b of the velocities without impulses, which w->twist has. */
static double moves(const struct mech_sweeps *w)
{
    double before = 0., r = 0.;

    for (int32_t i = 0; i < w->count; i++) {
        double u[3];

        speed_of(&w->at[i], w->before, u);
        before += square_of(u);
        rates_of(&w->at[i], w->twist, u);
        r += square_of(u);
    }
    return r > 0. ? sqrt(before / r) : 0.;
}

/* --- islands ---------------------------------------------------------------------------------- */

static int32_t island_of(struct mech_sweeps_island *island, int32_t i)
{
    while (island[i].parent != i) {
        i = island[i].parent = island[island[i].parent].parent;
    }
    return i;
}

/* The body of that side, or −1 where nothing moves it. */
static int32_t mover(const struct mech_sweeps *w, const struct mech_body_contact *c, int side)
{
    const int32_t i = c->body[side];

    if (i < 0) {
        return -1;
    }
    const double *const J = w->inverse_inertia + 9 * (size_t)i;

    return w->inverse_mass[3 * (size_t)i] > 0. || J[0] > 0. || J[4] > 0. || J[8] > 0. ? i : -1;
}

/* What a contact misses at the velocities w->twist, squared, by the map of body_contacts.h. */
static double missed_by(const struct mech_sweeps *w, const struct mech_body_contact *c,
                        enum mech_friction friction)
{
    const struct mech_set set = {.kind = MECH_SET_CONE, .rows = 3, .mu = c->mu};
    double rate[3], l[3], t2[3], map[3], g = c->cfm[0];

    for (int side = 0; side < 2; side++) {
        if (c->body[side] >= 0) {
            const size_t at = (size_t)c->body[side];
            double turn[3], turned[3];

            mech_v3_cross(c->arm[side], c->n, turn);
            mech_m3_mul(w->inverse_inertia + 9 * at, turn, turned);
            g += w->inverse_mass[3 * at] + mech_v3_dot(turn, turned);
        }
    }
    mech_v3_cross(c->n, c->t1, t2);
    rates_of(c, w->twist, rate);
    l[0] = mech_v3_dot(c->n, c->impulse);
    l[1] = mech_v3_dot(c->t1, c->impulse);
    l[2] = mech_v3_dot(t2, c->impulse);
    for (int k = 0; k < 3; k++) {
        rate[k] += c->cfm[k > 0] * l[k];
        l[k] *= g;
    }
    mech_set_map(&set, friction, l, rate, map);
    return square_of(map);
}

/* ‖r‖² of each island, of the velocities without impulses. */
static void open_islands(struct mech_moreau_bodies *s)
{
    const struct mech_sweeps *const w = &s->sweeps;

    for (int32_t i = 0; i < mech_model_touch_bodies(s->model); i++) {
        w->island[i] = (struct mech_sweeps_island){.parent = i};
    }
    for (int32_t i = 0; i < w->count; i++) {
        const int32_t a = mover(w, &w->at[i], 0), b = mover(w, &w->at[i], 1);

        if (a >= 0 && b >= 0) {
            const int32_t x = island_of(w->island, a), y = island_of(w->island, b);

            w->island[x > y ? x : y].parent = x > y ? y : x;
        }
    }
    for (int32_t i = 0; i < w->count; i++) {
        const int32_t a = mover(w, &w->at[i], 0), b = mover(w, &w->at[i], 1);

        if (a >= 0 || b >= 0) {
            double r[3];

            rates_of(&w->at[i], w->twist, r);
            w->island[island_of(w->island, a >= 0 ? a : b)].r += square_of(r);
        }
    }
}

/* After sweeps that sufficed for all contacts together: whether each island by itself misses next
 * to nothing of its speeds before the step, or of its own r as little as is accepted. What falls
 * beside a tower is no measure for what the tower misses. */
static bool islands_agree(struct mech_moreau_bodies *s)
{
    const struct mech_sweeps *const w = &s->sweeps;
    const double share = 1. / MECH_MOVES_SHARE, part = MECH_ACCEPTABLE_SLACK * s->acceptable;

    for (int32_t i = 0; i < w->count; i++) {
        const struct mech_body_contact *const c = &w->at[i];
        const int32_t a = mover(w, c, 0), b = mover(w, c, 1);

        if (a >= 0 || b >= 0) {
            struct mech_sweeps_island *const to = &w->island[island_of(w->island, a >= 0 ? a : b)];
            double u[3];

            speed_of(c, w->before, u);
            to->before += square_of(u);
            to->missed += missed_by(w, c, s->friction);
        }
    }
    for (int32_t i = 0; i < mech_model_touch_bodies(s->model); i++) {
        const struct mech_sweeps_island *const at = &w->island[i];

        if (at->parent == i &&
            !(at->missed <= fmax(share * share * at->before, part * part * at->r))) {
            return false;
        }
    }
    return true;
}

/* What the method of second order counts as after so many sweeps where these may come to what can
 * be accepted for less; HUGE_VAL: it is not to be tried. A pile whose contacts last begins its next
 * steps from what is found, with a few sweeps each: there it may cost more, once sweeps have
 * brought impulses from end to end. Before, it often finds nothing: a wall of 12 × 12 boxes at its
 * first step takes 17 of its steps after 210 sweeps, and is not found in 110 after 70. */
static double dear(struct mech_moreau_bodies *s, int32_t sweeps)
{
    const double one = second_cost(s);

    return sweeps >= MECH_FEW_SWEEPS && lasts(s) && MECH_LASTING_STEPS * one <= MECH_LASTING_MOST
               ? MECH_LASTING_STEPS * one
               : HUGE_VAL;
}

/* The same, and what it costs where that is less than they may take. */
static double second_way(struct mech_moreau_bodies *s, int32_t sweeps)
{
    const double cost = MECH_SECOND_STEPS * second_cost(s);
    const bool many = s->acceptable > 0. && s->sweeps.count >= MECH_ACCEPTABLE_FROM;

    return !many || cost <= MECH_SECOND_MOST ? cost : dear(s, sweeps);
}

/* Whether what contacts miss is next to nothing beside the speeds that they had before the step.
 * What stands has none: it misses a part of what its weight gives it in a step, and creeps. */
static bool is_moving(const struct mech_moreau_bodies *s,
                      const struct mech_body_contacts_result *found)
{
    return found->miss * MECH_MOVES_SHARE <= s->sweeps.moves;
}

/* Whether many sweeps more, or the method of second order, are not worth their while: what is left
 * could be accepted after 1,000 sweeps, and the pile moves; or it stands, is too large for the
 * second order, and as near to a solution as the last step left it. */
static bool suffices(struct mech_moreau_bodies *s, const struct mech_body_contacts_result *found)
{
    const bool soon = found->sweeps < MECH_SOON_SWEEPS;

    if (s->sweeps.moves < 0. || MECH_SECOND_STEPS * second_cost(s) <= MECH_SECOND_CHEAP) {
        return false;
    }
    if (is_moving(s, found)) {
        return good_enough(s, soon ? 1. / MECH_SOON_PART : 1., found);
    }
    return good_enough(s, 1. / MECH_SOON_PART, found) &&
           found->start <= MECH_ACCEPTABLE_SLACK * s->acceptable &&
           MECH_SECOND_STEPS * second_cost(s) > MECH_SECOND_MOST &&
           dear(s, MECH_FEW_SWEEPS) == HUGE_VAL;
}

/* Sweeps that the method of second order counts as after what these have found so far; HUGE_VAL: it
 * is not to be tried, as sweeps may come to what can be accepted for less; 0: they have. */
static double other(void *of, const struct mech_body_contacts_result *so_far)
{
    struct mech_moreau_bodies *const s = of;
    const double cost = MECH_SECOND_STEPS * second_cost(s);

    if (!(s->acceptable > 0. && s->sweeps.count >= MECH_ACCEPTABLE_FROM)) {
        return cost;
    }
    if (s->sweeps.moves < 0.) {
        s->sweeps.moves = moves(&s->sweeps);
    }
    if (suffices(s, so_far)) {
        open_islands(s);
        s->sweeps.ended = true;
        return 0.;
    }
    if (cost > MECH_SECOND_CHEAP && is_moving(s, so_far) && so_far->sweeps < MECH_FEW_SWEEPS) {
        return HUGE_VAL;
    }
    return second_way(s, so_far->sweeps);
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
    const bool second = good_enough(s, 1., found)
                            ? second_way(s, found->sweeps) < HUGE_VAL
                            : cost <= mech_model_settings(s->model)->vi.max_iterations;
    struct mech_body_contacts_options last = *options;

    last.other = NULL;
    last.max_sweeps = options->max_sweeps - found->sweeps;
    set_free(s, state, bodies.count);
    if (second) {
        const bool long_lasting = good_enough(s, 1., found) && cost > MECH_SECOND_MOST;
        const struct mech_body_newton_options newton = {
            .friction = options->friction,
            .tolerance = options->tolerance,
            .most = long_lasting ? (int32_t)(MECH_LASTING_ALL / second_cost(s)) : 0,
            .interrupt = options->interrupt};

        result->vi_iterations +=
            mech_body_newton_improve(w->newton, &bodies, w->at, w->count, &newton);
        s->used = mech_body_newton_name();
        last.accelerate = false;
        last.max_sweeps = MECH_LAST_SWEEPS;
    }
    const int code = mech_body_contacts_solve(w->solver, &bodies, w->at, w->count, &last, found);

    result->vi_iterations += found->sweeps;
    return code;
}

/* What sweeps of this step begin with. */
static struct mech_body_contacts_options options_of(struct mech_moreau_bodies *s)
{
    const struct mech_vi_settings *const vi = &mech_model_settings(s->model)->vi;
    const bool accept = vi->on_failure == MECH_ON_FAILURE_ACCEPT;
    const bool second = !accept && !vi->type;

    return (struct mech_body_contacts_options){.friction = s->friction,
                                               .tolerance = vi->tolerance,
                                               .max_sweeps = vi->max_iterations,
                                               .look_every = LOOK_EVERY,
                                               .accelerate = !accept,
                                               .other = second ? other : NULL,
                                               .of = s,
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
    w->moves = -1.;
    w->ended = false;
    for (int k = 0; k <= twice && code == MECH_VI_NOT_CONVERGED && !good_enough(s, 1., &found);
         k++) {
        set_free(s, state, bodies.count);
        code = mech_body_contacts_solve(w->solver, &bodies, w->at, w->count, &options, &found);
        result->vi_iterations += found.sweeps;
        if (code == MECH_VI_NOT_CONVERGED && k == 0 && !accept && !vi->type &&
            !(w->ended && islands_agree(s))) {
            code = hand_over(s, state, &options, &found, result);
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
    /* so many that no other member supports them: the residual of all sweeps */
    const double times = 3 * w->count > MECH_IMPACT_ROWS_MOST ? MECH_ACCEPTABLE_LAST : 1.;

    const bool second = s->used[0] != '\0' && within(s->acceptable / MECH_SECOND_SHARE, &found);

    return accept || second || good_enough(s, times, &found) ? 0 : code;
}
