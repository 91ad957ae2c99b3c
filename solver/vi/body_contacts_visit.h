/* Inside body_contacts: visits to contacts, written once for one lane, two and four: `real` is a
 * number or some of them. Only +, −, ×, ÷, √ and choices by comparison are used, in the order that
 * is written here, so that all widths give the same bits.
 *
 * A visit solves its contact with all others held. ROUND, both laws, and BLOCK without friction:
 * exact in one formula. BLOCK, Coulomb: sticking and take-off by formula; sliding has, with n
 * eliminated as in contact.c and A diagonal in the contact's axes,
 *
 *     p_i = b_i/(A_i + κ),   l_T = −p,   l_N = m·p − h,   F(κ) = μ l_N/‖p‖ − 1 = 0
 *
 * F is linear in κ where A_1 = A_2; Newton from the last visit's κ, in a bracket. BLOCK,
 * associated: sticking and take-off by formula, else the minimum over the cone of the bound of the
 * energy by a diagonal D ≥ W: it falls with each visit. */
#pragma once

#include "solver/vi/body_contacts_kernel.h"

#if defined MECH_LANES_FOUR
#include "solver/vi/body_contacts_lane4.h"
#elif defined MECH_LANES_TWO
#include "solver/vi/body_contacts_lane2.h"
#else
#include "solver/vi/body_contacts_lane.h"
#endif

enum { ROOT_STEPS = 60 };

#define SLOT(k) load(data + (size_t)(k)*width)

/* A contact, or four. */
struct spot {
    double *data, *l; /* their first slots */
    const double *limit;
    const int32_t *pair; /* [0] and [width] */
    size_t width, lane;  /* from slot to slot; which of a group it is */
};

KERNEL real dot3(const real *a, const real *b)
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

KERNEL void load3(const double *data, size_t width, real *x)
{
    for (size_t i = 0; i < 3; i++) {
        x[i] = load(data + i * width);
    }
}

/* what the change d of an impulse does to both bodies along the axes of the world */
KERNEL void push(struct body *first, struct body *second, const real *d)
{
    for (int i = 0; i < 3; i++) {
        first->v[i] = first->v[i] - first->mass * d[i];
        second->v[i] = second->v[i] + second->mass * d[i];
    }
}

/* c = Δu + q in axes of the world */
KERNEL void speed_round(const double *data, size_t width, const struct body *first,
                        const struct body *second, real *c)
{
    const real n[3] = {SLOT(MECH_ROUND_N), SLOT(MECH_ROUND_N + 1), SLOT(MECH_ROUND_N + 2)};
    const real s1 = SLOT(MECH_ROUND_S), s2 = SLOT(MECH_ROUND_S + 1);
    real y[3];

    for (int i = 0; i < 3; i++) {
        y[i] = s2 * second->y[i] - s1 * first->y[i];
    }
    for (int i = 0; i < 3; i++) {
        const int j = (i + 1) % 3, k = (i + 2) % 3;

        c[i] = (second->v[i] - first->v[i]) + (y[j] * n[k] - y[k] * n[j]) + SLOT(MECH_ROUND_Q + i);
    }
}

/* the cone's point (p, share z_T) for (z_N, z_T), ‖z_T‖ = t */
KERNEL void into_cone(real z_N, real t, real mu, real gamma, real beta, real *p_share)
{
    const mask gone = gamma * t <= -z_N, inside = t <= mu * z_N;
    const real p = (z_N + gamma * t) * beta, zero = all(0.);

    p_share[0] = select(gone, zero, select(inside, z_N, p));
    p_share[1] = select(gone, zero, select(inside, all(1.), mu * p / t));
}

KERNEL void visit_round(struct spot at, double *lines)
{
    const double *const data = at.data;
    const size_t width = at.width;
    struct body first, second;
    real n[3], old[3], c[3], z[3], d[3], cone[2];

    gather(lines, at.pair, &first);
    gather(lines, at.pair + width, &second);
    load3(data + MECH_ROUND_N * width, width, n);
    load3(at.l, width, old);
    speed_round(data, width, &first, &second, c);
    /* l − step c, and what of it is tangential */
    const real step = SLOT(MECH_ROUND_STEP_T);

    for (int i = 0; i < 3; i++) {
        z[i] = old[i] - step * c[i];
    }
    const real z_n = dot3(n, z), z_N = z_n - SLOT(MECH_ROUND_STEP_D) * dot3(n, c);

    for (int i = 0; i < 3; i++) {
        z[i] = z[i] - z_n * n[i];
    }
    into_cone(z_N, root(dot3(z, z)), SLOT(MECH_ROUND_MU), SLOT(MECH_ROUND_GAMMA),
              SLOT(MECH_ROUND_BETA), cone);
    for (int i = 0; i < 3; i++) {
        const real next = cone[0] * n[i] + cone[1] * z[i];

        d[i] = next - old[i];
        store(at.l + (size_t)i * width, next);
    }
    push(&first, &second, d);
    const real s1 = SLOT(MECH_ROUND_S), s2 = SLOT(MECH_ROUND_S + 1);

    for (int i = 0; i < 3; i++) {
        const int j = (i + 1) % 3, k = (i + 2) % 3;
        const real turn = n[j] * d[k] - n[k] * d[j];

        first.y[i] = first.y[i] - s1 * turn;
        second.y[i] = second.y[i] + s2 * turn;
    }
    scatter(&first, lines, at.pair);
    scatter(&second, lines, at.pair + width);
}

/* --- blocks ----------------------------------------------------------------------------------- */

/* c = Δu + q + E l in the contact's axes */
KERNEL void speed_block(const double *data, size_t width, const struct body *first,
                        const struct body *second, const real *l, real *c)
{
    real u[3];

    for (int i = 0; i < 3; i++) {
        u[i] = second->v[i] - first->v[i];
    }
    for (int i = 0; i < 3; i++) {
        real f[3], K1[3], K2[3];

        load3(data + (size_t)(MECH_BLOCK_AXES + 3 * i) * width, width, f);
        load3(data + (size_t)(MECH_BLOCK_K + 3 * i) * width, width, K1);
        load3(data + (size_t)(MECH_BLOCK_K + 9 + 3 * i) * width, width, K2);
        c[i] = dot3(f, u) + dot3(K2, second->y) - dot3(K1, first->y) + SLOT(MECH_BLOCK_Q + i) +
               SLOT(MECH_BLOCK_E + (i > 0)) * l[i];
    }
}

KERNEL void push_block(const double *data, size_t width, const real *d, struct body *first,
                       struct body *second)
{
    real world[3];

    for (int k = 0; k < 3; k++) {
        real turn[2];

        world[k] = SLOT(MECH_BLOCK_AXES + k) * d[0] + SLOT(MECH_BLOCK_AXES + 3 + k) * d[1] +
                   SLOT(MECH_BLOCK_AXES + 6 + k) * d[2];
        for (int side = 0; side < 2; side++) {
            const int K = MECH_BLOCK_K + 9 * side + k;

            turn[side] = SLOT(K) * d[0] + SLOT(K + 3) * d[1] + SLOT(K + 6) * d[2];
        }
        first->y[k] = first->y[k] - turn[0];
        second->y[k] = second->y[k] + turn[1];
    }
    push(first, second, world);
}

/* The contact without its normal row (contact.c): p sticks. */
struct local {
    real mu, h, m[2], b[2], p[2], l_N, l_T2;
    mask sticks;
};

KERNEL void eliminate(const double *data, size_t width, const real *l, const real *c,
                      struct local *x)
{
    x->mu = SLOT(MECH_BLOCK_MU);
    for (int i = 0; i < 2; i++) {
        x->m[i] = SLOT(MECH_BLOCK_M + i);
        x->b[i] = c[1 + i] - x->m[i] * c[0] - SLOT(MECH_BLOCK_A + i) * l[1 + i];
        x->p[i] = x->b[i] * SLOT(MECH_BLOCK_STEP_A + i);
    }
    x->h = c[0] * SLOT(MECH_BLOCK_STEP_N) - l[0] - (x->m[0] * l[1] + x->m[1] * l[2]);
    x->l_N = (x->m[0] * x->p[0] + x->m[1] * x->p[1]) - x->h;
    x->l_T2 = x->p[0] * x->p[0] + x->p[1] * x->p[1];
    x->sticks = root(x->l_T2) <= x->mu * x->l_N;
}

/* F(κ) = 0; next [3] of the lanes in `open`; κ in and out */
KERNEL void slide(const double *data, size_t width, const struct local *x, mask open, real *kappa,
                  real *next)
{
    const real a[2] = {SLOT(MECH_BLOCK_A), SLOT(MECH_BLOCK_A + 1)}, far = all(HUGE_VAL);
    real low = all(0.), high = far;

    for (int round = 0; round < ROOT_STEPS && any(open); round++) {
        const real d[2] = {all(1.) / (a[0] + *kappa), all(1.) / (a[1] + *kappa)};
        const real p[2] = {x->b[0] * d[0], x->b[1] * d[1]};
        const real dp[2] = {p[0] * d[0], p[1] * d[1]};
        const real N = (x->m[0] * p[0] + x->m[1] * p[1]) - x->h;
        const real t2 = p[0] * p[0] + p[1] * p[1];
        /* far up a tower that sweeps have not reached, the square is below all doubles */
        const real one_t = select(t2 > all(0.), all(1.) / root(t2), all(0.));
        const real ratio = x->mu * N * one_t, F = ratio - all(1.);
        const real slope = ratio * ((p[0] * dp[0] + p[1] * dp[1]) * one_t * one_t) -
                           x->mu * (x->m[0] * dp[0] + x->m[1] * dp[1]) * one_t;
        const real newton = *kappa - F / slope;

        next[0] = select(open, N, next[0]);
        next[1] = select(open, -p[0] * ratio, next[1]);
        next[2] = select(open, -p[1] * ratio, next[2]);
        low = select(F < all(0.), *kappa, low);
        high = select(F < all(0.), high, *kappa);
        const real middle =
            select(high < far, all(0.5) * (low + high), all(4.) * *kappa + a[0] + a[1]);
        const real trial = select(both(newton > low, newton < high), newton, middle);
        const real change = trial - *kappa, least = all(1e-15) * *kappa;

        open = both(open, not(both(F <= all(1e-15), F >= all(-1e-15))));
        open = both(open, not(both(change <= least, change >= -least)));
        *kappa = select(open, trial, *kappa);
    }
}

KERNEL void visit_coulomb(const double *data, const struct local *x, size_t width, double *keep,
                          real *next)
{
    const real zero = all(0.);
    const mask gone = x->h >= zero, slides = not(either(gone, x->sticks));

    next[0] = select(gone, zero, x->l_N);
    next[1] = select(gone, zero, -x->p[0]);
    next[2] = select(gone, zero, -x->p[1]);
    if (any(slides)) {
        real kappa = SLOT(MECH_BLOCK_KAPPA);

        slide(data, width, x, slides, &kappa, next);
        store(keep, kappa);
        /* no root was found: nothing pulls */
        const mask lost = next[0] < zero;

        for (int i = 0; i < 3; i++) {
            next[i] = select(lost, zero, next[i]);
        }
    }
}

KERNEL void visit_associated(const double *data, const struct local *x, size_t width,
                             const real *l_c, real *next)
{
    const real *const l = l_c, *const c = l_c + 3, zero = all(0.);
    const real step_N = SLOT(MECH_BLOCK_STEP_N), step_T = SLOT(MECH_BLOCK_BOUND_T);
    const real g[2] = {x->b[0] * step_N + x->m[0] * x->h, x->b[1] * step_N + x->m[1] * x->h};
    const mask gone =
        both(x->h >= zero, x->mu * x->mu * (g[0] * g[0] + g[1] * g[1]) <= x->h * x->h);
    const real z[2] = {l[1] - step_T * c[1], l[2] - step_T * c[2]};
    real cone[2];

    into_cone(l[0] - SLOT(MECH_BLOCK_BOUND_N) * c[0], root(z[0] * z[0] + z[1] * z[1]), x->mu,
              SLOT(MECH_BLOCK_GAMMA), SLOT(MECH_BLOCK_BETA), cone);
    next[0] = select(gone, zero, select(x->sticks, x->l_N, cone[0]));
    for (int i = 0; i < 2; i++) {
        next[1 + i] = select(gone, zero, select(x->sticks, -x->p[i], cone[1] * z[i]));
    }
}

KERNEL void visit_block(struct spot at, bool coulomb, double *lines)
{
    double *const data = at.data;
    const size_t width = at.width;
    struct body first, second;
    struct local x;
    real old_c[6], next[3], d[3];

    gather(lines, at.pair, &first);
    gather(lines, at.pair + width, &second);
    load3(at.l, width, old_c);
    speed_block(data, width, &first, &second, old_c, old_c + 3);
    eliminate(data, width, old_c, old_c + 3, &x);
    if (coulomb) {
        visit_coulomb(data, &x, width, data + MECH_BLOCK_KAPPA * width, next);
    } else {
        visit_associated(data, &x, width, old_c, next);
    }
    for (int i = 0; i < 3; i++) {
        d[i] = next[i] - old_c[i];
        store(at.l + (size_t)i * width, next[i]);
    }
    push_block(data, width, d, &first, &second);
    scatter(&first, lines, at.pair);
    scatter(&second, lines, at.pair + width);
}

/* --- the residual ----------------------------------------------------------------------------- */

/* the square of the natural map of one contact by its normal and (in any axes) tangential parts;
 * sets.c */
KERNEL real map_of(real mu, real coulomb, const real *l, const real *c, real c_T2)
{
    const real zero = all(0.), c_N = c[0] + coulomb * (mu * root(c_T2)), x_N = l[0] - c_N;
    real x[3], cone[2], map;

    for (int i = 0; i < 3; i++) {
        x[i] = l[1 + i] - c[1 + i];
    }
    const real t = root(dot3(x, x));

    into_cone(x_N, t, mu, mu, all(1.) / (all(1.) + mu * mu), cone);
    /* inside of the cone the map is c itself */
    const mask inside = both(t <= mu * x_N, not(mu * t <= -x_N));
    const real map_N = select(inside, c_N, l[0] - cone[0]);

    map = map_N * map_N;
    for (int i = 0; i < 3; i++) {
        const real map_T = select(inside, c[1 + i], l[1 + i] - cone[1] * x[i]);

        map = map + map_T * map_T;
    }
    const real smooth = select(c[0] > l[0], l[0], c[0]);

    return select(mu > zero, map, smooth * smooth);
}

/* how a contact is judged: g: the speed along n that a unit of l makes */
struct measure {
    real mu, coulomb, g;
};

/* Returns the square of its map. */
KERNEL real look_at(struct measure by, const real *l, const real *c, size_t lane,
                    struct mech_contact_sums *sums)
{
    const real mu = by.mu, coulomb = by.coulomb, g = by.g;
    const real zero = all(0.), c_T2 = dot3(c + 1, c + 1);
    const real speed[4] = {g * l[0], g * l[1], g * l[2], g * l[3]};
    const real l_T2 = dot3(speed + 1, speed + 1);
    const mask rough = mu > zero;
    double *const map = sums->map + lane;
    double *const c2 = sums->c + lane, *const l2 = sums->l + lane;

    const real missed = map_of(mu, coulomb, speed, c, c_T2);

    store(map, load(map) + missed);
    store(c2, load(c2) + (c[0] * c[0] + select(rough, c_T2, zero)));
    store(l2, load(l2) + (speed[0] * speed[0] + select(rough, l_T2, zero)));
    return missed;
}

/* What a contact with this l misses over what it may by itself (mech_contact_own). */
KERNEL void look_own(struct spot at, real g, const real *l, real missed,
                     struct mech_contact_sums *sums)
{
    real d[3];

    load3(at.l + sums->given, at.width, d);
    for (int i = 0; i < 3; i++) {
        d[i] = g * (l[i] - d[i]);
    }
    const real change = all(sums->change) * dot3(d, d), limit = load(at.limit);
    const real may = select(change > limit, limit, change) + all(sums->least);
    const real own = missed / may, most = load(sums->own + at.lane);

    /* what is not a number is not little */
    store(sums->own + at.lane, select(own <= most, most, own));
}

KERNEL void look_round(struct spot at, const double *lines, double coulomb,
                       struct mech_contact_sums *sums)
{
    const double *const data = at.data;
    const size_t width = at.width;
    struct body first, second;
    real n[3], whole_l[3], whole_c[3], parts_l[4], parts_c[4];

    gather(lines, at.pair, &first);
    gather(lines, at.pair + width, &second);
    load3(data + MECH_ROUND_N * width, width, n);
    load3(at.l, width, whole_l);
    speed_round(data, width, &first, &second, whole_c);
    parts_l[0] = dot3(n, whole_l);
    parts_c[0] = dot3(n, whole_c);
    for (int i = 0; i < 3; i++) {
        parts_l[1 + i] = whole_l[i] - parts_l[0] * n[i];
        parts_c[1 + i] = whole_c[i] - parts_c[0] * n[i];
    }
    const struct measure by = {SLOT(MECH_ROUND_MU), all(coulomb),
                               all(1.) / (SLOT(MECH_ROUND_STEP_T) + SLOT(MECH_ROUND_STEP_D))};

    const real missed = look_at(by, parts_l, parts_c, at.lane, sums);

    if (sums->change > 0.) {
        look_own(at, by.g, whole_l, missed, sums);
    }
}

KERNEL void look_block(struct spot at, const double *lines, double coulomb,
                       struct mech_contact_sums *sums)
{
    const double *const data = at.data;
    const size_t width = at.width;
    struct body first, second;
    real parts_l[4], parts_c[4];

    gather(lines, at.pair, &first);
    gather(lines, at.pair + width, &second);
    load3(at.l, width, parts_l);
    speed_block(data, width, &first, &second, parts_l, parts_c);
    parts_l[3] = parts_c[3] = all(0.);
    const struct measure by = {SLOT(MECH_BLOCK_MU), all(coulomb),
                               all(1.) / SLOT(MECH_BLOCK_STEP_N)};

    const real missed = look_at(by, parts_l, parts_c, at.lane, sums);

    if (sums->change > 0.) {
        look_own(at, by.g, parts_l, missed, sums);
    }
}

/* --- loops ------------------------------------------------------------------------------------ */

/* what a sweep visits: MECH_ROUND, or blocks by either law */
enum { ROUND = MECH_ROUND, COULOMB = MECH_BLOCK, ASSOCIATED = MECH_CONTACT_CLASSES };

KERNEL struct spot spot_of(const struct mech_contact_span *span, size_t group, size_t lane,
                           size_t width, int kind)
{
    const size_t slots = kind == ROUND ? MECH_ROUND_SLOTS : MECH_BLOCK_SLOTS;

    return (struct spot){.data = span->data + group * slots * width + lane,
                         .l = span->l + group * 3 * width + lane,
                         .limit = span->limit + group * width + lane,
                         .pair = span->pair + group * 2 * width + lane,
                         .width = width,
                         .lane = lane};
}

KERNEL void sweep(const struct mech_contact_span *span, double *lines, size_t width, int kind)
{
    for (size_t g = 0; g < (size_t)span->count; g++) {
        for (size_t lane = 0; lane < width; lane += LANES_AT_A_TIME) {
            const struct spot at = spot_of(span, g, lane, width, kind);

            if (kind == ROUND) {
                visit_round(at, lines);
            } else {
                visit_block(at, kind == COULOMB, lines);
            }
        }
    }
}

KERNEL void look(const struct mech_contact_span *span, const double *lines, double coulomb,
                 struct mech_contact_sums *sums, size_t width, int kind)
{
    for (size_t g = 0; g < (size_t)span->count; g++) {
        for (size_t lane = 0; lane < width; lane += LANES_AT_A_TIME) {
            const struct spot at = spot_of(span, g, lane, width, kind);

            if (kind == ROUND) {
                look_round(at, lines, coulomb, sums);
            } else {
                look_block(at, lines, coulomb, sums);
            }
        }
    }
}

/* the table of loops over spans of one width, which is a constant in each */
#define LOOPS(name, width)                                                                         \
    ENTRY void round_##name(const struct mech_contact_span *span, double *lines)                   \
    {                                                                                              \
        sweep(span, lines, width, ROUND);                                                          \
    }                                                                                              \
    ENTRY void coulomb_##name(const struct mech_contact_span *span, double *lines)                 \
    {                                                                                              \
        sweep(span, lines, width, COULOMB);                                                        \
    }                                                                                              \
    ENTRY void associated_##name(const struct mech_contact_span *span, double *lines)              \
    {                                                                                              \
        sweep(span, lines, width, ASSOCIATED);                                                     \
    }                                                                                              \
    ENTRY void look_round_##name(const struct mech_contact_span *span, const double *lines,        \
                                 double coulomb, struct mech_contact_sums *sums)                   \
    {                                                                                              \
        look(span, lines, coulomb, sums, width, ROUND);                                            \
    }                                                                                              \
    ENTRY void look_block_##name(const struct mech_contact_span *span, const double *lines,        \
                                 double coulomb, struct mech_contact_sums *sums)                   \
    {                                                                                              \
        look(span, lines, coulomb, sums, width, COULOMB);                                          \
    }                                                                                              \
    const struct mech_contact_loops mech_contact_##name = {                                        \
        .round = round_##name,                                                                     \
        .block_coulomb = coulomb_##name,                                                           \
        .block_associated = associated_##name,                                                     \
        .look_round = look_round_##name,                                                           \
        .look_block = look_block_##name,                                                           \
    }
