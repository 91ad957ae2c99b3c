/* Newton's method for contacts of bodies: memory and islands; see body_newton.h.
 *
 * Cost of a step: body_newton_blocks.h for the matrix, and some 1,000 additions and products a
 * contact. Measured on one core of about 3.3 GHz: a box on a floor 1.2 µs, three 4 µs, a stack of
 * ten with 40 contacts 15 µs, where a sweep takes 0.13, 0.25 and 0.5 µs. */
#include "solver/vi/body_newton.h"

#include "solver/base/err.h"
#include "solver/linalg/v3.h"
#include "solver/vi/body_newton_island.h"
#include "solver/vi/vi.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { N = MECH_NEWTON_BLOCK };

/* additions and products of a contact in one of Newton's steps and in a sweep, as measured */
static const double step_flops = 1000., sweep_flops = 41.;
/* and more where it resists turns */
static const double step_flops_turns = 2000., sweep_flops_turns = 400.;
/* pairs of bodies, with those that elimination ties, that there is room for: of each body, of all,
 * 9 MB; contacts of an island, 4 a pair as faces have: 69 MB */
enum { PAIRS_OF_BODY = 24, PAIRS = 16384, TOUCHES = 4 * PAIRS };
/* steps of an island */
enum { MOST = 100 };

const char *mech_body_newton_name(void)
{
    return mech_vi_semismooth.name;
}

/* --- memory ----------------------------------------------------------------------------------- */

void mech_body_newton_destroy(struct mech_body_newton *self)
{
    if (!self) {
        return;
    }
    mech_newton_blocks_fini(&self->blocks);
    free(self->touch);
    free(self->parent);
    free(self->slot);
    free(self->first);
    free(self->next);
    free(self->body);
    free(self->body_next);
    free(self->L);
    free(self->y);
    free(self);
}

static int32_t pairs_of(int32_t bodies)
{
    const double all = 0.5 * bodies * (bodies - 1.), some = (double)PAIRS_OF_BODY * bodies;

    return (int32_t)fmin(PAIRS, fmin(all, some));
}

int mech_body_newton_create(int32_t bodies, int32_t contacts, struct mech_body_newton **self)
{
    struct mech_body_newton *const s = calloc(1, sizeof *s);
    const size_t b = (size_t)bodies + 1, c = (size_t)contacts + 1;

    if (!s) {
        return MECH_NO_MEMORY;
    }
    s->most_bodies = bodies;
    s->most_contacts = contacts;
    s->most_touches = contacts < TOUCHES ? contacts : TOUCHES;
    s->touch = malloc(((size_t)s->most_touches + 1) * sizeof *s->touch);
    s->parent = malloc(b * sizeof *s->parent);
    s->slot = malloc(b * sizeof *s->slot);
    s->first = malloc(b * sizeof *s->first);
    s->next = malloc(c * sizeof *s->next);
    s->body = malloc(b * sizeof *s->body);
    s->body_next = malloc(b * sizeof *s->body_next);
    s->L = malloc(9 * b * sizeof *s->L);
    s->y = malloc(4 * N * b * sizeof *s->y);
    if (mech_newton_blocks_init(&s->blocks, bodies, pairs_of(bodies)) != 0 || !s->touch ||
        !s->parent || !s->slot || !s->first || !s->next || !s->body || !s->body_next || !s->L ||
        !s->y) {
        mech_body_newton_destroy(s);
        return MECH_NO_MEMORY;
    }
    s->F = s->y + N * b;
    s->trial = s->F + N * b;
    s->step = s->trial + N * b;
    *self = s;
    return 0;
}

int mech_body_newton_reserve(struct mech_body_newton *self, int32_t bodies, int32_t contacts)
{
    struct mech_body_newton *grown = NULL;

    if (bodies <= self->most_bodies && contacts <= self->most_contacts) {
        return 0;
    }
    MECH_TRY(mech_body_newton_create(
        bodies > self->most_bodies ? bodies : self->most_bodies,
        contacts > self->most_contacts ? contacts : self->most_contacts, &grown));
    const struct mech_body_newton old = *self;

    *self = *grown;
    *grown = old;
    mech_body_newton_destroy(grown);
    return 0;
}

/* --- islands ---------------------------------------------------------------------------------- */

/* lower L, L Lᵀ = A, positive semidefinite; what is flat is 0 */
static void root_of(const double A[9], double L[9])
{
    const double flat = 1e-14 * (fabs(A[0]) + fabs(A[4]) + fabs(A[8]));

    memset(L, 0, 9 * sizeof *L);
    for (int j = 0; j < 3; j++) {
        double pivot = A[4 * j];

        for (int k = 0; k < j; k++) {
            pivot -= L[3 * j + k] * L[3 * j + k];
        }
        if (!(pivot > flat)) {
            continue;
        }
        L[4 * j] = sqrt(pivot);
        for (int i = j + 1; i < 3; i++) {
            double sum = A[3 * i + j];

            for (int k = 0; k < j; k++) {
                sum -= L[3 * i + k] * L[3 * j + k];
            }
            L[3 * i + j] = sum / L[4 * j];
        }
    }
}

static int32_t island_of(int32_t *parent, int32_t i)
{
    while (parent[i] != i) {
        i = parent[i] = parent[parent[i]];
    }
    return i;
}

/* The body, or −1 where nothing moves it. */
static int32_t mover(const struct mech_contact_bodies *bodies, int32_t i)
{
    if (i < 0) {
        return -1;
    }
    const double *const m = bodies->inverse_mass + 3 * (size_t)i;
    const double *const J = bodies->inverse_inertia + 9 * (size_t)i;

    return m[0] > 0. || m[1] > 0. || m[2] > 0. || J[0] > 0. || J[4] > 0. || J[8] > 0. ? i : -1;
}

static bool resists(const struct mech_body_contact *c)
{
    return c->rolling > 0. || c->spinning > 0.;
}

/* Lists of bodies and contacts by islands. False: something resists rolling by another law than
 * Coulomb's. */
static bool tie(struct mech_body_newton *s, const struct mech_contact_bodies *bodies,
                const struct mech_body_contact *contacts, int32_t count,
                enum mech_friction friction)
{
    for (int32_t i = 0; i < bodies->count; i++) {
        s->parent[i] = i;
        s->first[i] = s->body[i] = -1;
    }
    for (int32_t i = 0; i < count; i++) {
        const int32_t a = mover(bodies, contacts[i].body[0]);
        const int32_t b = mover(bodies, contacts[i].body[1]);

        if (resists(&contacts[i]) && friction != MECH_COULOMB) {
            return false;
        }
        if (a >= 0 && b >= 0) {
            const int32_t x = island_of(s->parent, a), y = island_of(s->parent, b);

            s->parent[x > y ? x : y] = x > y ? y : x;
        }
    }
    /* from the last on, so that lists ascend */
    for (int32_t i = bodies->count; i-- > 0;) {
        const int32_t at = island_of(s->parent, i);

        s->body_next[i] = s->body[at];
        s->body[at] = i;
    }
    for (int32_t i = count; i-- > 0;) {
        const int32_t a = mover(bodies, contacts[i].body[0]);
        const int32_t b = mover(bodies, contacts[i].body[1]);

        if (a >= 0 || b >= 0) {
            const int32_t at = island_of(s->parent, a >= 0 ? a : b);

            s->next[i] = s->first[at];
            s->first[at] = i;
        }
    }
    return true;
}

/* The blocks that the island of this least body has; s->bodies and s->count. False: they are too
 * many. */
static bool open_island(struct mech_body_newton *s, const struct mech_contact_bodies *bodies,
                        const struct mech_body_contact *contacts, int32_t at)
{
    s->bodies = s->count = 0;
    for (int32_t i = s->body[at]; i >= 0; i = s->body_next[i]) {
        s->slot[i] = s->bodies++;
    }
    mech_newton_blocks_begin(&s->blocks, s->bodies);
    for (int32_t i = s->first[at]; i >= 0; i = s->next[i]) {
        if (s->count == s->most_touches) {
            return false;
        }
        struct mech_newton_contact *const t = &s->touch[s->count++];

        t->of = i;
        for (int side = 0; side < 2; side++) {
            const int32_t body = mover(bodies, contacts[i].body[side]);

            t->slot[side] = body >= 0 ? s->slot[body] : -1;
        }
        if (!mech_newton_blocks_tie(&s->blocks, t->slot)) {
            return false;
        }
    }
    if (!mech_newton_blocks_order(&s->blocks)) {
        return false;
    }
    for (int32_t i = 0; i < s->count; i++) {
        struct mech_newton_contact *const t = &s->touch[i];

        for (int side = 0; side < 2; side++) {
            t->slot[side] = t->slot[side] >= 0 ? s->blocks.place[t->slot[side]] : -1;
        }
        t->pair = mech_newton_blocks_pair(&s->blocks, t->slot);
    }
    return true;
}

double mech_body_newton_cost(struct mech_body_newton *self,
                             const struct mech_contact_bodies *bodies,
                             const struct mech_body_contact *contacts, int32_t count,
                             enum mech_friction friction)
{
    double flops = step_flops * count, sweep = sweep_flops * count;

    if (count == 0 || !tie(self, bodies, contacts, count, friction)) {
        return 0.;
    }
    for (int32_t i = 0; i < count; i++) {
        flops += resists(&contacts[i]) ? step_flops_turns : 0.;
        sweep += resists(&contacts[i]) ? sweep_flops_turns : 0.;
    }
    for (int32_t at = 0; at < bodies->count; at++) {
        if (self->first[at] >= 0) {
            if (!open_island(self, bodies, contacts, at)) {
                return 0.;
            }
            flops += mech_newton_blocks_flops(&self->blocks);
        }
    }
    return flops / sweep;
}

/* What one side of a contact adds to its rows. */
static void take_side(const struct mech_body_newton *s, const struct mech_contact_bodies *bodies,
                      const struct mech_body_contact *c, int side, struct mech_newton_contact *t)
{
    const size_t at = (size_t)c->body[side];
    const double *const v = bodies->velocity + 6 * at, *const m = bodies->inverse_mass + 3 * at;
    const double sign = side ? 1. : -1.;

    for (int i = 0; i < 3; i++) {
        const double *const axis = t->axes + 3 * i;
        double *const G = t->G[side] + N * i;
        double turn[3], own = 0.;

        mech_v3_cross(c->arm[side], axis, turn);
        t->q[i] += sign * (mech_v3_dot(axis, v) + mech_v3_dot(turn, v + 3));
        mech_m3_mul_transposed(s->L + 9 * at, turn, G + 3);
        for (int k = 0; k < 3; k++) {
            G[k] = sign * axis[k] * sqrt(m[k]);
            G[3 + k] *= sign;
            own += G[k] * G[k] + G[3 + k] * G[3 + k];
        }
        t->mean += own / 3.;
        t->W_N += i == 0 ? own : 0.;
    }
}

/* The same of S, R1 and R2, and of W's diagonal there. */
static void take_turns(const struct mech_body_newton *s, const struct mech_contact_bodies *bodies,
                       const struct mech_body_contact *c, int side, struct mech_newton_contact *t,
                       double *W)
{
    const size_t at = (size_t)c->body[side];
    const double sign = side ? 1. : -1.;

    for (int i = 0; i < 3; i++) {
        const double *const axis = t->axes + 3 * i;
        double *const G = t->G[side] + N * (3 + i);

        t->q[3 + i] += sign * mech_v3_dot(axis, bodies->velocity + 6 * at + 3);
        mech_m3_mul_transposed(s->L + 9 * at, axis, G + 3);
        for (int k = 0; k < 3; k++) {
            G[k] = 0.;
            G[3 + k] *= sign;
            *W += G[3 + k] * G[3 + k];
        }
    }
}

/* What resists turns: a ROLLING, with couples over an arm and turns times it. */
static void take_rolling(const struct mech_body_newton *s, const struct mech_contact_bodies *bodies,
                         const struct mech_body_contact *c, struct mech_newton_contact *t)
{
    double W = 3. * c->cfm[2];

    for (int i = 0; i < 3; i++) {
        t->q[3 + i] = c->b[3 + i];
    }
    for (int side = 0; side < 2; side++) {
        if (c->body[side] >= 0) {
            take_turns(s, bodies, c, side, t, &W);
        }
    }
    t->arm = W > 0. && t->W_N > 0. ? sqrt(3. * t->W_N / W) : 1.;
    t->set = (struct mech_set){.kind = MECH_SET_ROLLING,
                               .rows = MECH_NEWTON_ROWS,
                               .mu = c->mu,
                               .spinning = c->spinning / t->arm,
                               .rolling = c->rolling / t->arm};
    mech_m3_mul(t->axes, c->couple, t->hat + 3);
    for (int i = 3; i < MECH_NEWTON_ROWS; i++) {
        t->q[i] *= t->arm;
        t->hat[i] /= t->arm;
        t->E[i] = c->cfm[2] * t->arm * t->arm;
        for (int side = 0; side < 2; side++) {
            for (int k = 0; k < N && c->body[side] >= 0; k++) {
                t->G[side][N * i + k] *= t->arm;
            }
        }
    }
}

static void take(const struct mech_body_newton *s, const struct mech_contact_bodies *bodies,
                 const struct mech_body_contact *c, struct mech_newton_contact *t)
{
    memcpy(t->axes, c->n, sizeof c->n);
    memcpy(t->axes + 3, c->t1, sizeof c->t1);
    mech_v3_cross(c->n, c->t1, t->axes + 6);
    mech_m3_mul(t->axes, c->impulse, t->hat);
    t->set = (struct mech_set){.kind = MECH_SET_CONE, .rows = 3, .mu = c->mu};
    for (int i = 0; i < 3; i++) {
        t->q[i] = c->b[i];
        t->E[i] = c->cfm[i > 0];
    }
    t->W_N = t->E[0];
    t->mean = (t->E[0] + t->E[1] + t->E[2]) / 3.;
    for (int side = 0; side < 2; side++) {
        if (c->body[side] >= 0) {
            take_side(s, bodies, c, side, t);
        }
    }
    t->arm = 1.;
    t->E[3] = 0.;
    if (resists(c)) {
        take_rolling(s, bodies, c, t);
    }
}

/* --- all -------------------------------------------------------------------------------------- */

/* Sum of squares of the speeds before impulses, as body_contacts.h takes ‖r‖. */
static double size_of(struct mech_body_newton *s, const struct mech_contact_bodies *bodies,
                      const struct mech_body_contact *contacts, int32_t count)
{
    double sum = 0.;

    for (int32_t i = 0; i < count; i++) {
        const double *const q = s->touch[0].q;

        take(s, bodies, &contacts[i], &s->touch[0]);
        sum += mech_v3_dot(q, q) + (resists(&contacts[i]) ? mech_v3_dot(q + 3, q + 3) : 0.);
    }
    return sum;
}

/* The best multipliers, in world axes. */
static void give_back(struct mech_newton_contact *t, struct mech_body_contact *c)
{
    mech_m3_mul_transposed(t->axes, t->best, c->impulse);
    if (t->set.rows > 3) {
        for (int i = 3; i < MECH_NEWTON_ROWS; i++) {
            t->best[i] *= t->arm;
        }
        mech_m3_mul_transposed(t->axes, t->best + 3, c->couple);
    }
}

int32_t mech_body_newton_improve(struct mech_body_newton *self,
                                 const struct mech_contact_bodies *bodies,
                                 struct mech_body_contact *contacts, int32_t count,
                                 const struct mech_body_newton_options *options)
{
    struct mech_body_newton *const s = self;
    int32_t steps = 0;

    if (count == 0 || !tie(s, bodies, contacts, count, options->friction)) {
        return 0;
    }
    for (int32_t i = 0; i < bodies->count; i++) {
        root_of(bodies->inverse_inertia + 9 * (size_t)i, s->L + 9 * (size_t)i);
    }
    /* a third of the tolerance, so that its judge agrees */
    const double goal =
        0.1 * options->tolerance * options->tolerance / count * size_of(s, bodies, contacts, count);

    s->friction = options->friction;
    s->most = options->most > 0 ? options->most : MOST;
    for (int32_t at = 0; at < bodies->count; at++) {
        if (s->first[at] < 0 || !open_island(s, bodies, contacts, at)) {
            continue;
        }
        s->scale = 0.;
        for (int32_t i = 0; i < s->count; i++) {
            take(s, bodies, &contacts[s->touch[i].of], &s->touch[i]);
            const struct mech_newton_contact *const t = &s->touch[i];

            s->scale = fmax(s->scale, sqrt(3. * (t->mean + (t->set.rows > 3 ? t->W_N : 0.))));
        }
        if (!(s->scale > 0.)) {
            continue; /* no impulse moves anything */
        }
        steps += mech_body_newton_island(s, goal * s->count, options->interrupt);
        for (int32_t i = 0; i < s->count; i++) {
            give_back(&s->touch[i], &contacts[s->touch[i].of]);
        }
    }
    return steps;
}
