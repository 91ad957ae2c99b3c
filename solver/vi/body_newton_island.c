/* One island of body_newton.h: proximal points, each by Newton's method, and strides. */
#include "solver/vi/body_newton_island.h"

#include "solver/linalg/v3.h"

#include <math.h>
#include <string.h>

/* N: velocities of a body. Of an island, at most: proximal points, those without progress; steps to
 * one point, trials of a step, and of a stride */
enum { N = MECH_NEWTON_BLOCK, ROWS = MECH_NEWTON_ROWS, POINTS = 60, STALE = 12 };
enum { STEPS = 15, TRIALS = 10, STRIDES = 5 };
/* near the goal: steps to a point, and how many points may not be found */
enum { LAST_STEPS = 4, LAST_POINTS = 3 };
/* bodies of an island beyond which a new start begins with a smaller κ: impulses reach 1/√κ bodies
 * far, and what is farther opens and closes by turns */
enum { TALL = 256 };

/* κ over the mean of W's diagonal at the first point, its least, how it falls, how it falls once a
 * point was not found, and how it rises then. Faces at an angle a slide by some a² of their speeds
 * where they repeat each other: a proximal point of a κ beyond that does not see it. Below the
 * least, rounding of the matrix is too much. */
static const double first = 1e-3, least_kappa = 1e-9, falls = 0.1, milder = 0.3, rises = 10.;
/* where a step ends, of the first slope along it; what a point is solved to, of what the last one
 * missed; progress, and next to none, in what is missed, squared; how much more a stride or a new
 * start may miss, squared */
static const double flat = 0.1, inner = 1e-2, progress = 0.25, creeps = 0.05, widest = 1e4;

/* --- F and what is missed --------------------------------------------------------------------- */

/* out = from + G y */
static void speed(const struct mech_newton_contact *t, const double from[ROWS], const double *y,
                  double out[ROWS])
{
    for (int i = 0; i < t->set.rows; i++) {
        out[i] = from[i];
        for (int side = 0; side < 2; side++) {
            const double *const at = y + (ptrdiff_t)N * t->slot[side];

            for (int k = 0; k < N && t->slot[side] >= 0; k++) {
                out[i] += t->G[side][N * i + k] * at[k];
            }
        }
    }
}

/* x += s Gᵀ l */
static void push(const struct mech_newton_contact *t, double s, const double *l, double *x)
{
    for (int side = 0; side < 2; side++) {
        double *const at = x + (ptrdiff_t)N * t->slot[side];

        for (int i = 0; i < t->set.rows && t->slot[side] >= 0; i++) {
            for (int k = 0; k < N; k++) {
                at[k] += s * l[i] * t->G[side][N * i + k];
            }
        }
    }
}

/* l = P(z), D = ∂P/∂z by rows */
static void coulomb(double mu, const double z[3], double l[3], double D[9])
{
    const double t = sqrt(z[1] * z[1] + z[2] * z[2]), radius = mu * fmax(0., z[0]);
    const bool sticks = t <= radius;

    l[0] = fmax(0., z[0]);
    D[0] = z[0] > 0. ? 1. : 0.;
    D[1] = D[2] = 0.;
    for (int i = 1; i < 3; i++) {
        const double along = t > 0. ? z[i] / t : 0.;

        l[i] = sticks ? z[i] : radius * along;
        D[3 * i] = sticks || z[0] <= 0. ? 0. : mu * along;
        for (int j = 1; j < 3; j++) {
            const double one = i == j ? 1. : 0.;

            D[3 * i + j] = sticks ? one : radius / t * (one - along * z[j] / t);
        }
    }
}

/* The same of the rows S, R1, R2 behind those: D of these, and `by` of z_N. */
static void coulomb_turns(const struct mech_set *set, const double z[ROWS], double l[ROWS],
                          double D[9], double by[9])
{
    const double rolls[3] = {z[0], z[4], z[5]};
    const double most = set->spinning * fmax(0., z[0]);
    const bool sticks = set->spinning > 0. && fabs(z[3]) <= most;
    double at[3] = {0.}, of[9] = {0.};

    if (set->rolling > 0.) {
        coulomb(set->rolling, rolls, at, of);
    }
    memset(D, 0, 9 * sizeof *D);
    memset(by, 0, 9 * sizeof *by);
    l[3] = fmax(-most, fmin(most, z[3]));
    D[0] = sticks ? 1. : 0.;
    by[0] = sticks || z[0] <= 0. ? 0. : copysign(set->spinning, z[3]);
    for (int i = 1; i < 3; i++) {
        l[3 + i] = at[i];
        by[3 * i] = of[3 * i];
        D[3 * i + 1] = of[3 * i + 1];
        D[3 * i + 2] = of[3 * i + 2];
    }
}

static void associated(double mu, const double z[3], double l[3], double D[9])
{
    const double t = sqrt(z[1] * z[1] + z[2] * z[2]), share = 1. / (1. + mu * mu);
    const double normal = (z[0] + mu * t) * share;

    memset(D, 0, 9 * sizeof *D);
    memcpy(l, z, 3 * sizeof *l);
    mech_cone_project(mu, 3, l);
    if (mu > 0. && t <= mu * z[0]) {
        D[0] = D[4] = D[8] = 1.;
    } else if (mu == 0.) {
        D[0] = z[0] > 0. ? 1. : 0.;
    } else if (mu * t > -z[0]) {
        D[0] = share;
        for (int i = 1; i < 3; i++) {
            const double along = z[i] / t;

            D[i] = D[3 * i] = mu * along * share;
            for (int j = 1; j < 3; j++) {
                const double both = along * z[j] / t, one = i == j ? 1. : 0.;

                D[3 * i + j] = mu * mu * share * both + mu * normal / t * (one - both);
            }
        }
    }
}

/* P, and its derivatives: of the first three rows, of the others, and of these by z_N */
struct slopes {
    double first[9], turns[9], by[9];
};

static void find(const struct mech_body_newton *s, struct mech_newton_contact *t,
                 const double z[ROWS], struct slopes *D)
{
    (s->friction == MECH_COULOMB ? coulomb : associated)(t->set.mu, z, t->l, D->first);
    if (t->set.rows > 3) {
        coulomb_turns(&t->set, z, t->l, D->turns, D->by);
    }
}

/* The blocks += GᵀDG/κ; `by`: with what N adds to turns. */
static void resist(struct mech_body_newton *s, const struct mech_newton_contact *t,
                   struct slopes *D, bool by)
{
    const double *const forces[2] = {t->G[0], t->G[1]};
    const double *const turns[2] = {t->G[0] + 3 * N, t->G[1] + 3 * N};

    for (int k = 0; k < 9; k++) {
        D->first[k] /= t->kappa;
        D->turns[k] /= t->kappa;
        D->by[k] /= t->kappa;
    }
    mech_newton_blocks_add(&s->blocks, t->slot, t->pair, forces, forces, D->first);
    if (t->set.rows > 3) {
        mech_newton_blocks_add(&s->blocks, t->slot, t->pair, turns, turns, D->turns);
    }
    if (t->set.rows > 3 && by) {
        mech_newton_blocks_add(&s->blocks, t->slot, t->pair, turns, forces, D->by);
    }
}

enum with { F_ALONE, WITH_MATRIX, WITH_FIRST_MATRIX };

/* F at y and, with a matrix, the blocks; returns ‖F‖². In the first matrix of a point contacts
 * without impulse that rest on each other resist too: otherwise each step closes no more than the
 * next contacts of those that were closed before. */
static double evaluate(struct mech_body_newton *s, const double *y, enum with with)
{
    static const double one[9] = {1., 0., 0., 0., 1., 0., 0., 0., 1.};
    const size_t n = (size_t)N * (size_t)s->bodies;
    double sum = 0.;

    memcpy(s->F, y, n * sizeof *y);
    if (with != F_ALONE) {
        mech_newton_blocks_one(&s->blocks);
    }
    for (int32_t i = 0; i < s->count; i++) {
        struct mech_newton_contact *const t = &s->touch[i];
        double z[ROWS], change[ROWS];
        struct slopes D = {.turns = {0.}};

        speed(t, t->c, y, z);
        for (int k = 0; k < t->set.rows; k++) {
            z[k] = t->hat[k] - z[k] / t->kappa;
        }
        find(s, t, z, &D);
        for (int k = 0; k < t->set.rows; k++) {
            change[k] = t->l[k] - t->hat[k];
        }
        push(t, -1., change, s->F);
        const bool rests = with == WITH_FIRST_MATRIX && t->hat[0] == 0. && z[0] <= 0. &&
                           z[0] * t->kappa >= -s->still;

        if (rests) {
            memcpy(D.first, one, sizeof one);
            memcpy(D.turns, one, sizeof one);
        }
        if (rests || (with != F_ALONE && t->l[0] > 0.)) {
            resist(s, t, &D, !rests);
        }
    }
    for (size_t i = 0; i < n; i++) {
        sum += s->F[i] * s->F[i];
    }
    return sum;
}

/* What l̂ misses, as body_contacts.h judges it, squared: by speeds g l, so that units of mass do
 * not matter; ĉ, and y := 0. */
static double missed(struct mech_body_newton *s)
{
    double sum = 0.;

    memset(s->y, 0, (size_t)N * (size_t)s->bodies * sizeof *s->y);
    for (int32_t i = 0; i < s->count; i++) {
        push(&s->touch[i], 1., s->touch[i].hat, s->y);
    }
    for (int32_t i = 0; i < s->count; i++) {
        struct mech_newton_contact *const t = &s->touch[i];
        double at_rest[ROWS], map[ROWS], g[ROWS];

        for (int k = 0; k < t->set.rows; k++) {
            at_rest[k] = t->q[k] + t->E[k] * t->hat[k];
            g[k] = t->W_N * t->hat[k];
        }
        speed(t, at_rest, s->y, t->c);
        mech_set_map(&t->set, s->friction, g, t->c, map);
        double square = 0.;

        for (int k = 0; k < t->set.rows; k++) {
            square += map[k] * map[k];
        }
        sum += square;
    }
    memset(s->y, 0, (size_t)N * (size_t)s->bodies * sizeof *s->y);
    return sum;
}

/* --- one island ------------------------------------------------------------------------------- */

/* ‖F‖² at y − t step, which goes to `trial`; *slope: F along the step there. */
static double try_step(struct mech_body_newton *s, double t, double *slope)
{
    const size_t n = (size_t)N * (size_t)s->bodies;

    for (size_t i = 0; i < n; i++) {
        s->trial[i] = s->y[i] - t * s->step[i];
    }
    const double sum = evaluate(s, s->trial, F_ALONE);

    *slope = 0.;
    for (size_t i = 0; i < n; i++) {
        *slope += s->F[i] * s->step[i];
    }
    return sum;
}

/* y := y − t step. t = 1 if that lessens ‖F‖² from `now`, else where F has next to none along the
 * step, which begins with `slope`: for the associated law F is the gradient of a convex function,
 * whose least value is there; ‖F‖ is large where contacts open and close on the way. Coulomb's
 * F is close to that. False: not finite. */
static bool go_along(struct mech_body_newton *s, double now, double slope)
{
    const size_t n = (size_t)N * (size_t)s->bodies;
    double low = 0., high = 1., at_low = slope, at_high, t = 1., here;
    double then = try_step(s, t, &here);

    at_high = here;
    for (int k = 0; k < TRIALS && !(then <= (1. - 1e-4 * t) * now) &&
                    !(fabs(here) <= flat * slope) && at_high < 0.;
         k++) {
        const double part = at_low / (at_low - at_high);

        t = low + (high - low) * fmin(0.9, fmax(0.1, part));
        then = try_step(s, t, &here);
        *(here < 0. ? &high : &low) = t;
        *(here < 0. ? &at_high : &at_low) = here;
    }
    if (!isfinite(then)) {
        return false;
    }
    memcpy(s->y, s->trial, n * sizeof *s->y);
    return true;
}

/* Newton's steps from y towards the next proximal point, until ‖F‖² is at most `goal`, which *met
 * says. Returns their number. */
static int32_t approach(struct mech_body_newton *s, double goal, int32_t most, bool *met)
{
    const size_t n = (size_t)N * (size_t)s->bodies;
    double now = evaluate(s, s->y, WITH_FIRST_MATRIX);
    int32_t k = 0;

    for (; k < most && now > goal && mech_newton_blocks_factor(&s->blocks); k++) {
        double slope = 0.;

        memcpy(s->step, s->F, n * sizeof *s->F);
        mech_newton_blocks_solve(&s->blocks, s->step);
        for (size_t i = 0; i < n; i++) {
            slope += s->F[i] * s->step[i];
        }
        if (!go_along(s, now, slope)) {
            break;
        }
        now = evaluate(s, s->y, WITH_MATRIX);
    }
    *met = now <= goal;
    return k;
}

/* The largest t with l + t d in the cone, where l is well inside; elsewhere any. */
static double reach(double mu, const double l[3], const double d[3])
{
    const double m = mu * mu, a = d[1] * d[1] + d[2] * d[2] - m * d[0] * d[0];
    const double h = l[1] * d[1] + l[2] * d[2] - m * l[0] * d[0];
    const double c = l[1] * l[1] + l[2] * l[2] - m * l[0] * l[0];

    if (!(c < -1e-9 * m * l[0] * l[0])) {
        return HUGE_VAL;
    }
    /* a t² + 2 h t + c = 0 with c < 0: the least root that is positive */
    const double square = h * h - a * c;
    const double t = square < 0. ? HUGE_VAL : -c / (h + sqrt(square));

    return t > 0. ? t : HUGE_VAL;
}

/* The same of a contact that went by d. */
static double reach_of(const struct mech_newton_contact *c, const double d[ROWS])
{
    const double *const l = c->l;
    const double t = reach(c->set.mu, l, d);

    if (c->set.rows == 3) {
        return t;
    }
    const double spin[2][3] = {{l[0], l[3], 0.}, {d[0], d[3], 0.}};
    const double roll[2][3] = {{l[0], l[4], l[5]}, {d[0], d[4], d[5]}};

    return fmin(
        t, fmin(reach(c->set.spinning, spin[0], spin[1]), reach(c->set.rolling, roll[0], roll[1])));
}

/* l̂ goes on along its last change as far as contacts let it, and no further than it misses
 * `widest` times `now`; where it would at the least stride, it stays. */
static void stride(struct mech_body_newton *s, double now)
{
    double t = HUGE_VAL, d[ROWS], by[9], ignored[9];

    for (int32_t i = 0; i < s->count; i++) {
        const struct mech_newton_contact *const c = &s->touch[i];

        for (int k = 0; k < c->set.rows; k++) {
            d[k] = c->l[k] - c->before[k];
        }
        t = fmin(t, reach_of(c, d));
    }
    if (!(t < 1. / least_kappa / least_kappa)) {
        return;
    }
    for (int k = 0; k < STRIDES; k++, t *= 0.25) {
        for (int32_t i = 0; i < s->count; i++) {
            struct mech_newton_contact *const c = &s->touch[i];
            double z[ROWS];

            for (int j = 0; j < c->set.rows; j++) {
                z[j] = c->l[j] + t * (c->l[j] - c->before[j]);
            }
            coulomb(c->set.mu, z, c->hat, ignored);
            if (c->set.rows > 3) {
                coulomb_turns(&c->set, z, c->hat, ignored, by);
            }
        }
        if (missed(s) <= widest * now) {
            return;
        }
    }
    for (int32_t i = 0; i < s->count; i++) {
        memcpy(s->touch[i].hat, s->touch[i].l, sizeof s->touch[i].l);
    }
}

/* best := hat, or back */
static void store(struct mech_body_newton *s, bool back)
{
    for (int32_t i = 0; i < s->count; i++) {
        struct mech_newton_contact *const t = &s->touch[i];

        memcpy(back ? t->hat : t->best, back ? t->best : t->hat, sizeof t->hat);
    }
}

/* l̂ := 0 where that does not miss far more than `least`: few sweeps, which take impulses from
 * contact to contact, may end farther from a point than they began. */
static bool begin_anew(struct mech_body_newton *s, double least)
{
    for (int32_t i = 0; i < s->count; i++) {
        memset(s->touch[i].hat, 0, sizeof s->touch[i].hat);
    }
    return missed(s) <= widest * least;
}

/* l̂ := the next proximal point, of κ = share of W, or of the largest W where a contact moves
 * nothing; returns steps. */
static int32_t go_on(struct mech_body_newton *s, double share, double goal, int32_t most, bool *met)
{
    for (int32_t i = 0; i < s->count; i++) {
        struct mech_newton_contact *const t = &s->touch[i];

        const double mean = t->mean > 0. ? t->mean : s->scale * s->scale / 3.;

        t->kappa = fmax(share * mean, fmax(t->E[0], fmax(t->E[1], t->E[3])));
        memcpy(t->before, t->hat, sizeof t->hat);
    }
    const int32_t steps = approach(s, goal, most, met);

    for (int32_t i = 0; i < s->count; i++) {
        memcpy(s->touch[i].hat, s->touch[i].l, sizeof s->touch[i].l);
    }
    return steps;
}

int32_t mech_body_newton_island(struct mech_body_newton *s, double goal,
                                struct mech_interrupt *interrupt)
{
    const double part = inner / s->scale;
    double least = missed(s), last = least, share = first, fall = falls;
    int32_t steps = 0, stale = 0;

    /* gaps of tall towers are rounded to that */
    s->still = 64. * sqrt(goal);
    store(s, false);
    for (int k = 0; k < POINTS && least > goal && stale < STALE && steps < s->most &&
                    !mech_interrupted(interrupt);
         k++) {
        /* rounding may be all that is left */
        const bool nearly = last <= widest * goal;
        bool met;

        steps += go_on(s, share, part * part * last, nearly ? LAST_STEPS : STEPS, &met);
        const double now = missed(s);

        if (now < least) {
            stale = now < progress * least ? 0 : stale;
            least = now;
            store(s, false);
        }
        if (k == 0 && !met && !(now <= last) && begin_anew(s, least)) {
            last = missed(s);
            if (s->bodies > TALL) {
                share = fmax(least_kappa, 1. / ((double)s->bodies * s->bodies));
            }
            continue;
        }
        if (!met) {
            fall = milder;
            stale += nearly ? STALE / LAST_POINTS : 1;
        }
        if (!met && !(now <= last)) {
            /* from the best on, by shorter ways */
            store(s, true);
            last = missed(s);
            share = fmin(1., rises * share);
            continue;
        }
        if (now > goal && now > creeps * last && share <= least_kappa) {
            stride(s, now);
            last = missed(s);
            stale++;
        } else {
            last = now;
        }
        share = met ? fmax(least_kappa, fall * share) : share;
    }
    return steps;
}
