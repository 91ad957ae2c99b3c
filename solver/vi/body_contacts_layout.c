/* Checks bodies and contacts, colours the contacts and lays them out for the sweeps; see
 * body_contacts_layout.h.
 *
 * Colours: each contact in its order takes the first colour that neither of its moving bodies has
 * (greedy), in batches of 64. Bodies that nothing moves have none. */
#include "solver/vi/body_contacts_layout.h"
#include "solver/base/err.h"
#include "solver/linalg/v3.h"

#include <math.h>
#include <string.h>

enum { COLOURS = 64 };

/* a pivot below this share of the trace is one of a direction that nothing turns; below minus the
 * second share the matrix is not positive semidefinite */
static const double flat = 1e-14, indefinite = 1e-9;
/* of one moment of inertia about all axes */
static const double rounding = 4e-15;
/* how unit a unit vector is, and how parallel the arm of a ROUND contact is to n */
static const double unit = 1e-8, parallel = 1e-12;

static bool is_finite(const double *x, int32_t n)
{
    double sum = 0.;

    for (int32_t i = 0; i < n; i++) {
        sum += 0. * x[i];
    }
    return sum == 0.;
}

static bool not_negative(const double *x, int32_t n)
{
    bool ok = true;

    for (int32_t i = 0; i < n; i++) {
        ok &= x[i] >= 0.;
    }
    return ok;
}

/* --- bodies ----------------------------------------------------------------------------------- */

/* L Lᵀ = A, lower; false: A is indefinite */
static bool root_of(const double A[9], double L[9])
{
    const double size = fabs(A[0]) + fabs(A[4]) + fabs(A[8]);

    memset(L, 0, 9 * sizeof *L);
    for (int j = 0; j < 3; j++) {
        double pivot = A[4 * j];

        for (int k = 0; k < j; k++) {
            pivot -= L[3 * j + k] * L[3 * j + k];
        }
        if (pivot < -indefinite * size) {
            return false;
        }
        if (pivot <= flat * size) {
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
    return true;
}

/* a number times 1, but for the rounding of R J Rᵀ */
static bool is_plain(const double J[9])
{
    const double most = rounding * fabs(J[0]);

    return fabs(J[1]) <= most && fabs(J[2]) <= most && fabs(J[5]) <= most &&
           fabs(J[4] - J[0]) <= most && fabs(J[8] - J[0]) <= most;
}

/* 0, MECH_INVALID or MECH_NOT_FINITE */
static int take_body(const struct mech_contact_bodies *bodies, int32_t i, int32_t ground,
                     struct mech_contact_body *body)
{
    const double *const m = bodies->inverse_mass + 3 * (size_t)i;
    const double *const J = bodies->inverse_inertia + 9 * (size_t)i;

    if (!is_finite(m, 3) || !is_finite(J, 9) || !is_finite(bodies->velocity + 6 * (size_t)i, 6)) {
        return MECH_NOT_FINITE;
    }
    if (!not_negative(m, 3) || !root_of(J, body->L)) {
        return MECH_INVALID;
    }
    const bool plain = is_plain(J);
    const bool moves = m[0] > 0. || m[1] > 0. || m[2] > 0. || body->L[0] > 0. || body->L[4] > 0. ||
                       body->L[8] > 0.;

    if (plain) {
        memset(body->L, 0, sizeof body->L);
        body->L[0] = body->L[4] = body->L[8] = sqrt(J[0]);
    }
    body->colours = 0;
    body->line = moves ? i : ground;
    body->mass = m[0];
    body->even = m[0] == m[1] && m[0] == m[2];
    body->round = body->even && plain;
    return 0;
}

/* --- contacts --------------------------------------------------------------------------------- */

static int check_contact(const struct mech_body_contact *c, int32_t bodies)
{
    const int32_t i = c->body[0], j = c->body[1];

    if (i < -1 || i >= bodies || j < -1 || j >= bodies || i == j) {
        return MECH_INVALID;
    }
    const double coefficients[4] = {c->mu, c->spinning, c->rolling, c->limit};

    if (!is_finite(c->n, 3) || !is_finite(c->t1, 3) || (i >= 0 && !is_finite(c->arm[0], 3)) ||
        (j >= 0 && !is_finite(c->arm[1], 3)) || !is_finite(c->b, 6) ||
        !is_finite(coefficients, 4) || !is_finite(c->cfm, 3) || !is_finite(c->impulse, 3) ||
        !is_finite(c->couple, 3)) {
        return MECH_NOT_FINITE;
    }
    const bool units = fabs(mech_v3_dot(c->n, c->n) - 1.) <= unit &&
                       fabs(mech_v3_dot(c->t1, c->t1) - 1.) <= unit &&
                       fabs(mech_v3_dot(c->n, c->t1)) <= unit;

    return units && not_negative(coefficients, 4) && not_negative(c->cfm, 3) ? 0 : MECH_INVALID;
}

static bool along(const double n[3], const double r[3])
{
    double across[3];

    mech_v3_cross(n, r, across);
    return mech_v3_dot(across, across) <= parallel * parallel * mech_v3_dot(r, r);
}

static bool resists(const struct mech_body_contact *c)
{
    return c->rolling > 0. || c->spinning > 0.;
}

static enum mech_contact_class class_of(const struct mech_body_contacts *s,
                                        const struct mech_body_contact *c)
{
    bool even = !resists(c), round = c->cfm[0] == 0. && c->cfm[1] == 0.;
    double mass = c->cfm[0];

    for (int side = 0; side < 2; side++) {
        const struct mech_contact_body *const body = mech_contact_body_of(s, c->body[side]);

        mass += body ? body->mass : 0.;
        even &= !body || body->even;
        round &= !body || (body->round && along(c->n, c->arm[side]));
    }
    return !even || !(mass > 0.) ? MECH_ODD : round ? MECH_ROUND : MECH_BLOCK;
}

static void colour_all(struct mech_body_contacts *s, const struct mech_body_contact *contacts,
                       int32_t left)
{
    for (int32_t base = 0; left > 0; base += COLOURS) {
        int32_t still = 0;

        for (int32_t i = 0; i < s->body_count && base > 0; i++) {
            s->bodies[i].colours = 0;
        }
        for (int32_t k = 0; k < left; k++) {
            const struct mech_body_contact *const c = &contacts[s->rest[k]];
            struct mech_contact_body held = {.colours = 0};
            struct mech_contact_body *side[2] = {&held, &held};

            for (int j = 0; j < 2; j++) {
                if (mech_contact_body_of(s, c->body[j])) {
                    side[j] = &s->bodies[c->body[j]];
                }
            }
            const uint64_t used = side[0]->colours | side[1]->colours;

            if (used == UINT64_MAX) {
                s->rest[still++] = s->rest[k];
                continue;
            }
            const int32_t colour = (int32_t)__builtin_ctzll(~used);

            side[0]->colours |= UINT64_C(1) << colour;
            side[1]->colours |= UINT64_C(1) << colour;
            s->colour[s->rest[k]] = base + colour;
            if (base + colour >= s->colour_count) {
                s->colour_count = base + colour + 1;
            }
        }
        left = still;
    }
}

/* --- order and place -------------------------------------------------------------------------- */

/* contacts by colour, class and index */
static void sort_all(struct mech_body_contacts *s, int32_t count)
{
    const size_t keys = (size_t)s->colour_count * MECH_CONTACT_CLASSES;

    memset(s->start, 0, (keys + 1) * sizeof *s->start);
    for (int32_t i = 0; i < count; i++) {
        if (s->colour[i] >= 0) {
            s->start[s->colour[i] * MECH_CONTACT_CLASSES + s->kind[i] + 1]++;
        }
    }
    for (size_t k = 0; k < keys; k++) {
        s->start[k + 1] += s->start[k];
    }
    for (int32_t i = 0; i < count; i++) {
        if (s->colour[i] >= 0) {
            s->order[s->start[s->colour[i] * MECH_CONTACT_CLASSES + s->kind[i]]++] = i;
        }
    }
    /* each start has become the next one's */
    memmove(s->start + 1, s->start, keys * sizeof *s->start);
    s->start[0] = 0;
}

static const size_t slots_of[MECH_CONTACT_CLASSES] = {
    MECH_ROUND_SLOTS, MECH_BLOCK_SLOTS, sizeof(struct mech_odd_contact) / sizeof(double)};

static size_t rounded(size_t n)
{
    return (n + MECH_LINE - 1) / MECH_LINE * MECH_LINE;
}

/* places of the runs of all colours */
static void place_all(struct mech_body_contacts *s)
{
    size_t data = 0, l = 0, limit = 0;
    int32_t pair = 0;

    for (int32_t k = 0; k < s->colour_count * MECH_CONTACT_CLASSES; k++) {
        const int32_t kind = k % MECH_CONTACT_CLASSES, n = s->start[k + 1] - s->start[k];
        const int32_t groups = kind == MECH_ODD ? 0 : n / MECH_LANES;

        s->colours[k / MECH_CONTACT_CLASSES].run[kind] = (struct mech_contact_run){
            .data = s->data + data,
            .l = s->l + l,
            .limit = s->limit + limit,
            .pair = s->pair + pair,
            .groups = groups,
            .singles = n - groups * MECH_LANES,
        };
        data = rounded(data + (size_t)n * slots_of[kind]);
        l = rounded(l + (size_t)n * (kind == MECH_ODD ? MECH_ODD_ROWS : 3));
        limit = rounded(limit + (size_t)n);
        pair += 2 * n;
    }
    s->multipliers = l;
    memset(s->l, 0, l * sizeof *s->l);
}

/* Where the slots of the contact at place p of a run begin, and how far apart they are. */
struct mech_contact_place mech_contact_place_of(const struct mech_contact_run *run, int32_t kind,
                                                int32_t p)
{
    const int32_t full = run->groups * MECH_LANES;
    const int32_t width = p < full ? MECH_LANES : 1, lane = p < full ? p % MECH_LANES : 0;
    const size_t first = (size_t)(p - lane);

    return (struct mech_contact_place){
        .width = (size_t)width,
        .data = run->data + first * slots_of[kind] + lane,
        .l = run->l + first * (kind == MECH_ODD ? MECH_ODD_ROWS : 3) + lane,
        .pair = run->pair + 2 * first + lane,
    };
}

static int32_t line_of(const struct mech_body_contacts *s, int32_t body, int32_t turn)
{
    return mech_contact_body_of(s, body) ? body : s->body_count + turn % MECH_STILL;
}

static double squares(const double *x, int32_t n)
{
    double sum = 0.;

    for (int32_t i = 0; i < n; i++) {
        sum += x[i] * x[i];
    }
    return sum;
}

/* adds to the scale of r: q in axes of the contact or, of ROUND, of the world */
static void count_before(struct mech_body_contacts *s, const struct mech_body_contact *c,
                         const double *q, double q_N)
{
    const bool plain = c->mu == 0. && !resists(c);

    s->scale_r += plain ? q_N * q_N : squares(q, resists(c) ? MECH_ODD_ROWS : 3);
    s->linear &= plain;
}

/* q with turns times the arm of the contact */
static void turns_as_speeds(const struct mech_odd_contact *odd, double *q)
{
    const double arm = mech_contact_arm(odd);

    for (int32_t i = 0; i < MECH_ODD_ROWS; i++) {
        q[i] = odd->q[i] * (i < 3 ? 1. : arm);
    }
}

/* l starts as given, but along n without friction, where no residual would show it */
static void fill(struct mech_body_contacts *s, const struct mech_contact_bodies *bodies,
                 const struct mech_body_contact *c, struct mech_contact_place at, int32_t kind,
                 int32_t p)
{
    double slot[MECH_BLOCK_SLOTS], l[3];

    if (kind == MECH_ODD) {
        struct mech_odd_contact *const odd = (struct mech_odd_contact *)(void *)at.data;

        double q[MECH_ODD_ROWS];

        mech_contact_fill_odd(s, bodies, c, odd);
        mech_m3_mul(odd->axes, c->impulse, at.l);
        mech_m3_mul(odd->axes, c->couple, at.l + 3);
        memset(at.l + odd->set.rows, 0, (size_t)(MECH_ODD_ROWS - odd->set.rows) * sizeof *at.l);
        turns_as_speeds(odd, q);
        count_before(s, c, q, q[0]);
        return;
    }
    if (kind == MECH_ROUND) {
        mech_contact_round_slots(s, bodies, c, slot);
        memcpy(l, c->impulse, sizeof l);
        if (c->mu == 0.) {
            const double l_N = mech_v3_dot(c->n, l);

            for (int k = 0; k < 3; k++) {
                l[k] = l_N * c->n[k];
            }
        }
        count_before(s, c, slot + MECH_ROUND_Q, mech_v3_dot(c->n, slot + MECH_ROUND_Q));
    } else {
        mech_contact_block_slots(s, bodies, c, slot);
        mech_m3_mul(slot + MECH_BLOCK_AXES, c->impulse, l);
        l[1] = c->mu == 0. ? 0. : l[1];
        l[2] = c->mu == 0. ? 0. : l[2];
        count_before(s, c, slot + MECH_BLOCK_Q, slot[MECH_BLOCK_Q]);
    }
    for (size_t k = 0; k < slots_of[kind]; k++) {
        at.data[k * at.width] = slot[k];
    }
    for (size_t k = 0; k < 3; k++) {
        at.l[k * at.width] = l[k];
    }
    at.pair[0] = line_of(s, c->body[0], p);
    at.pair[at.width] = line_of(s, c->body[1], p);
}

/* what cannot move: l = 0, c = r */
static void count_dead(struct mech_body_contacts *s, const struct mech_contact_bodies *bodies,
                       const struct mech_body_contact *c)
{
    struct mech_odd_contact odd;
    double map[MECH_ODD_ROWS];
    const double l[MECH_ODD_ROWS] = {0.};
    double q[MECH_ODD_ROWS];

    mech_contact_fill_odd(s, bodies, c, &odd);
    turns_as_speeds(&odd, q);
    mech_set_map(&odd.set, s->friction, l, q, map);
    count_before(s, c, q, q[0]);
    s->dead_map += squares(map, odd.set.rows);
    s->dead_speed += squares(q, odd.set.rows);
}

static int take_all(struct mech_body_contacts *s, const struct mech_contact_bodies *bodies,
                    const struct mech_body_contact *contacts, int32_t count,
                    struct mech_body_contacts_result *result)
{
    int32_t live = 0;

    s->body_count = bodies->count;
    for (int32_t i = 0; i < bodies->count; i++) {
        result->body = i;
        MECH_TRY(take_body(bodies, i, bodies->count, &s->bodies[i]));
    }
    result->body = -1;
    for (int32_t i = 0; i < count; i++) {
        const struct mech_body_contact *const c = &contacts[i];

        result->contact = i;
        MECH_TRY(check_contact(c, bodies->count));
        s->kind[i] = (uint8_t)class_of(s, c);
        s->colour[i] = -1;
        if (mech_contact_body_of(s, c->body[0]) || mech_contact_body_of(s, c->body[1]) ||
            c->cfm[0] > 0.) {
            s->rest[live++] = i;
        }
    }
    result->contact = -1;
    colour_all(s, contacts, live);
    return 0;
}

int mech_contact_lay_out(struct mech_body_contacts *s, const struct mech_contact_bodies *bodies,
                         const struct mech_body_contact *contacts, int32_t count,
                         struct mech_body_contacts_result *result)
{
    s->colour_count = 0;
    s->scale_r = s->dead_map = s->dead_speed = 0.;
    s->linear = true;
    MECH_TRY(take_all(s, bodies, contacts, count, result));
    sort_all(s, count);
    place_all(s);
    for (int32_t k = 0; k < s->colour_count * MECH_CONTACT_CLASSES; k++) {
        const struct mech_contact_run *const run =
            &s->colours[k / MECH_CONTACT_CLASSES].run[k % MECH_CONTACT_CLASSES];

        for (int32_t p = s->start[k]; p < s->start[k + 1]; p++) {
            const double limit = contacts[s->order[p]].limit;

            run->limit[p - s->start[k]] = limit * limit;
            fill(s, bodies, &contacts[s->order[p]],
                 mech_contact_place_of(run, k % MECH_CONTACT_CLASSES, p - s->start[k]),
                 k % MECH_CONTACT_CLASSES, p);
        }
    }
    memcpy(s->l_given, s->l, s->multipliers * sizeof *s->l);
    for (int32_t i = 0; i < count; i++) {
        if (s->colour[i] < 0) {
            count_dead(s, bodies, &contacts[i]);
        }
    }
    return isfinite(s->scale_r) && isfinite(s->dead_map) ? 0 : MECH_NOT_FINITE;
}
