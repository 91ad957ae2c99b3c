/* Tangents of contact by penalty; see penalty.h. With f the force of a contact in its frame and G
 * its rows, g = −Gᵀ f, in closed form by the velocities:
 *
 *     sticks   ∂f_t/∂u_t = −d_t 1
 *     slips    f_t = −μ f_n w/|w|,  w = k_t s + d_t u_t:
 *              ∂f_t/∂u_n = −μ w/|w| ∂f_n/∂u_n,   ∂f_t/∂u_t = −μ f_n d_t (1 − w wᵀ/|w|²)/|w|
 *
 * and by the positions with k, k_t in place of d, d_t, where surfaces do not turn. That leaves out
 * some δ/r of the stiffness, which costs Newton's method less than it would cost to find.
 * Derivatives want it all (mech_eval.exact): then normals, points of contact, arms and stretches
 * change as the pair of their shapes has it, by central differences over one pair at a time, in
 * which the law is followed beyond the places where it changes. Where a contact is found on one
 * side only the difference is of that side, and without any it is that of surfaces that do not
 * turn. */
#include "solver/model/penalty_internal.h"

#include "solver/base/err.h"
#include "solver/linalg/v3.h"
#include "solver/model/balance.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* of the smallest side of the two shapes: how far points move in a difference, and at least; and of
 * how far the spring along the surfaces would have to go for a slip to turn */
static const double share = 3e-5, least = 1e-7, of_slip = 3e-4;

/* Contacts of one pair of colliders. */
struct pair {
    const struct mech_model *m;
    const struct mech_eval *e;
    const struct mech_contact *at; /* [n] as they are */
    int32_t n;
    uint64_t from;     /* where their records begin in the state */
    double c[2];       /* weights of positions and velocities */
    double side, size; /* m, the smallest of the shapes; how far points move in a difference */
};

/* One velocity of one of its two bodies, which has moved by ±step. */
struct column {
    int32_t side, body, j; /* first or second; of the scene; place among its velocities */
    double step;
    struct mech_pose kept, moved[2];
};

/* --- one contact ------------------------------------------------------------------------------ */

/* D [3 × 3] = −∂f by the motions along the frame of a contact, for springs or dampers dn, dt. */
static void slopes(const struct mech_pushing *now, double dn, double dt, double D[3][3])
{
    memset(D, 0, 9 * sizeof(double));
    D[0][0] = dn;
    if (!now->slips) {
        D[1][1] = D[2][2] = dt;
        return;
    }
    const double length = now->mu * now->f[0];

    /* without a limit there is no friction to turn */
    for (int r = 0; r < 2 && length > 0. && now->wanted > 0.; r++) {
        D[1 + r][0] = now->f[1 + r] / now->f[0] * dn;
        for (int c = 0; c < 2; c++) {
            const double across =
                (r == c ? 1. : 0.) - now->f[1 + r] / length * (now->f[1 + c] / length);

            D[1 + r][1 + c] = length / now->wanted * dt * across;
        }
    }
}

/* block += Gᵀ D G in the columns `from` … to of the contact's velocities. */
static void add_slopes(struct mech_penalty *p, double D[3][3], int32_t from, int32_t to)
{
    const struct mech_touch_rows *const rows = &p->rows;
    const size_t n = (size_t)p->n;

    for (int32_t j = 0; j < rows->n; j++) {
        double *const row = p->block + (size_t)p->at[rows->slot[j]] * n;
        double push[3];

        for (int r = 0; r < 3; r++) {
            push[r] = rows->G[0][j] * D[0][r] + rows->G[1][j] * D[1][r] + rows->G[2][j] * D[2][r];
        }
        for (int32_t k = from; k < to; k++) {
            row[p->at[rows->slot[k]]] +=
                push[0] * rows->G[0][k] + push[1] * rows->G[1][k] + push[2] * rows->G[2][k];
        }
    }
}

/* block += weight ∂g/∂(column) by what acts now. */
static void add_push(struct mech_penalty *p, const struct mech_pushing *now, double weight,
                     int32_t slot)
{
    const size_t n = (size_t)p->n, column = (size_t)p->at[slot];

    for (int32_t j = 0; j < p->rows.n; j++) {
        double sum = 0.;

        for (int r = 0; r < 3; r++) {
            sum += p->rows.G[r][j] * now->f[r];
        }
        p->block[(size_t)p->at[p->rows.slot[j]] * n + column] -= weight * sum;
    }
}

/* What acts at contact `c`, one of the pair or where that has moved to, with the poses that the
 * bodies have now. */
static void evaluate(const struct pair *p, const struct mech_contact *c, enum mech_penalty_law law,
                     struct mech_pushing *out)
{
    uint64_t from = p->from;

    mech_penalty_evaluate(p->m, p->e, c, mech_penalty_kept(p->e->state, c->id, &from), law, out);
}

/* --- differences ------------------------------------------------------------------------------ */

static const struct mech_contact *contact_of(const struct mech_contact_list *list, uint64_t id)
{
    for (int32_t i = 0; i < list->n; i++) {
        if (list->at[i].id == id) {
            return &list->at[i];
        }
    }
    return NULL;
}

/* The smallest side of the shapes of a contact, m; 1 of those that have no bounds. */
static double side_of(const struct mech_model *m, const struct mech_contact *c)
{
    double side = HUGE_VAL;

    for (int k = 0; k < 2; k++) {
        const struct mech_shape *const s = &m->rows.touch->shapes[c->collider[k]].shape;

        for (int i = 0; i < 3; i++) {
            const double size = s->high[i] - s->low[i];

            side = size > 0. ? fmin(side, size) : side;
        }
    }
    return isfinite(side) ? side : 1.;
}

/* How far velocity j moves points of a body, at most. */
static double way_of(const struct pair *p, const struct mech_moving_body *b,
                     const struct mech_pose *pose, int32_t j)
{
    double way = 0.;

    for (int i = 0; i < 3; i++) {
        way = fmax(way, fabs(pose->J[i][j]));
        way = fmax(way, fmax(b->extent, p->side) * fabs(pose->J[3 + i][j]));
    }
    return way;
}

/* The coordinates of the body alone, moved by `way` along the column's velocity, into own->q. */
static void move_body(const struct pair *p, const struct column *c, double way)
{
    struct mech_penalty *const own = p->m->rows.penalty;
    const struct mech_seat *const seat = &p->m->rows.touch->bodies[c->body].seat;
    const struct mech_node_ops *const ops = own->moves[c->body];
    double d[MECH_MARKER_SLOTS] = {0.};

    d[c->j] = way;
    if (ops) {
        ops->move(p->e->q + seat->q_slot[0], d, own->q + seat->q_slot[0]);
        return;
    }
    for (int32_t k = 0; k < seat->n; k++) {
        own->q[seat->q_slot[k]] = p->e->q[seat->q_slot[k]] + d[k];
    }
}

/* That body's pose there, and the contacts of the pair into list; none where shapes are at no
 * place. 0 or negative. */
static int look(const struct pair *p, struct column *c, int k)
{
    struct mech_penalty *const own = p->m->rows.penalty;
    const struct mech_touch *const t = p->m->rows.touch;
    const struct mech_placement *at[2];
    struct mech_eval moved = *p->e;
    struct mech_placement to;
    int32_t bodies[2];

    move_body(p, c, k ? -c->step : c->step);
    moved.q = own->q;
    moved.posed = false;
    c->moved[k] = c->kept;
    mech_touch_pose(&t->bodies[c->body], &moved, &c->moved[k]);
    memcpy(to.p, c->moved[k].p, sizeof to.p);
    memcpy(to.R, c->moved[k].R, sizeof to.R);
    mech_model_touch_bodies_of(p->m, p->at, bodies);
    for (int s = 0; s < 2; s++) {
        at[s] = s == c->side ? &to : bodies[s] >= 0 ? &t->at[bodies[s]] : NULL;
    }
    const int code =
        mech_scene_touch_at(t->scene, p->at->collider, at, 10. * p->size, &own->moved[k]);
    if (code > 0) {
        own->moved[k].n = 0;
    }
    return code < 0 ? code : 0;
}

/* One contact's part of a column. */
static void add_difference(const struct pair *p, const struct column *c,
                           const struct mech_contact *contact)
{
    const struct mech_touch *const t = p->m->rows.touch;
    struct mech_penalty *const own = p->m->rows.penalty;
    struct mech_pose *const pose = &t->poses[c->body];
    const int32_t slot = t->bodies[c->body].seat.slot[c->j];
    const struct mech_contact *const there[2] = {contact_of(&own->moved[0], contact->id),
                                                 contact_of(&own->moved[1], contact->id)};
    const double weight = p->c[0] / (there[0] && there[1] ? 2. * c->step : c->step);
    struct mech_pushing now, then;
    double D[3][3];

    evaluate(p, contact, MECH_PENALTY_AS_IS, &now);
    if (!(now.f[0] > 0.)) {
        return;
    }
    if (!there[0] && !there[1]) {
        slopes(&now, p->c[0] * now.k, p->c[0] * MECH_PENALTY_ALONG * now.k, D);
        for (int32_t k = 0; k < own->rows.n; k++) {
            if (own->rows.slot[k] == slot) {
                add_slopes(own, D, k, k + 1);
            }
        }
        return;
    }
    for (int k = 0; k < 2; k++) {
        if (!there[1 - k]) {
            /* the other side of the difference */
            add_push(own, &now, k ? weight : -weight, slot);
        }
    }
    for (int k = 0; k < 2; k++) {
        if (there[k]) {
            *pose = c->moved[k];
            evaluate(p, there[k], now.slips ? MECH_PENALTY_SLIPS : MECH_PENALTY_STICKS, &then);
            add_push(own, &then, k ? -weight : weight, slot);
        }
    }
    *pose = c->kept;
}

/* By the positions of both bodies. 0 or negative. */
static int add_positions(const struct pair *p)
{
    const struct mech_touch *const t = p->m->rows.touch;
    struct column c;
    int32_t bodies[2];

    mech_model_touch_bodies_of(p->m, p->at, bodies);
    for (c.side = 0; c.side < 2; c.side++) {
        c.body = bodies[c.side];
        if (c.body < 0) {
            continue;
        }
        mech_pose_complete(&t->poses[c.body]);
        c.kept = t->poses[c.body];
        for (c.j = 0; c.j < t->bodies[c.body].seat.n; c.j++) {
            const double way = way_of(p, &t->bodies[c.body], &c.kept, c.j);

            if (!(way > 0.)) {
                continue;
            }
            c.step = p->size / way;
            MECH_TRY(look(p, &c, 0));
            MECH_TRY(look(p, &c, 1));
            for (int32_t i = 0; i < p->n; i++) {
                if (p->at[i].gap < 0.) {
                    add_difference(p, &c, &p->at[i]);
                }
            }
        }
    }
    return 0;
}

/* --- all -------------------------------------------------------------------------------------- */

/* In closed form, positions with the weight c0; finds p->size. */
static void add_closed_form(struct pair *p, double c0)
{
    struct mech_penalty *const own = p->m->rows.penalty;

    for (int32_t i = 0; i < p->n; i++) {
        struct mech_pushing now;
        double D[3][3];

        if (p->at[i].gap >= 0.) {
            continue;
        }
        evaluate(p, &p->at[i], MECH_PENALTY_AS_IS, &now);
        if (now.slips && now.mu > 0.) {
            const double way = of_slip * now.wanted / (MECH_PENALTY_ALONG * now.k);

            p->size = fmin(p->size, fmax(way, least * p->side));
        }
        const double dn = c0 * now.k + p->c[1] * now.d;

        slopes(&now, dn, MECH_PENALTY_ALONG * dn, D);
        if (now.f[0] > 0.) {
            add_slopes(own, D, 0, own->rows.n);
        }
    }
}

/* 0 or negative. */
static int add_pair(struct pair *p)
{
    const bool exact = p->e->exact;

    /* moves p->from to where the records of the pair begin */
    (void)mech_penalty_kept(p->e->state, p->at->id, &p->from);
    p->side = side_of(p->m, p->at);
    p->size = share * p->side;
    add_closed_form(p, exact ? 0. : p->c[0]);
    return exact && p->c[0] != 0. ? add_positions(p) : 0;
}

/* of := no less than `known` in the velocities of a contact's bodies */
static void spread(const struct mech_model *m, const struct mech_contact *c, double known,
                   double *of)
{
    int32_t bodies[2];

    mech_model_touch_bodies_of(m, c, bodies);
    for (int k = 0; k < 2; k++) {
        const struct mech_seat *const seat =
            bodies[k] < 0 ? NULL : &m->rows.touch->bodies[bodies[k]].seat;

        for (int32_t j = 0; seat && j < seat->n; j++) {
            of[seat->slot[j]] = fmax(of[seat->slot[j]], known);
        }
    }
}

double mech_penalty_tangent_known_to(const struct mech_model *m, const struct mech_eval *e,
                                     double *of)
{
    double worst = 0.;

    if (!mech_model_penalty_coupled(m)) {
        return 0.;
    }
    const int32_t count = mech_penalty_find(m, e);

    for (int32_t i = 0; i < count; i++) {
        const struct mech_contact *const c = &m->rows.penalty->list.at[i];
        const double side = side_of(m, c);
        const double far = fmax(mech_v3_norm(c->point[0]), mech_v3_norm(c->point[1]));
        /* of some sums */
        const double known = 4. * DBL_EPSILON * (far + side) / (share * side);

        if (c->gap < 0.) {
            spread(m, c, known, of);
            worst = fmax(worst, known);
        }
    }
    return count < 0 ? NAN : worst;
}

void mech_penalty_tangent(const struct mech_model *m, const struct mech_eval *e, const double c[2],
                          const int32_t *places, double *values)
{
    struct mech_penalty *const own = m->rows.penalty;
    const size_t n = (size_t)own->n;
    struct pair p = {.m = m, .e = e, .c = {c[0], c[1]}};

    if (n == 0 || (c[0] == 0. && c[1] == 0.)) {
        return;
    }
    memset(own->block, 0, n * n * sizeof *own->block);
    const int32_t count = mech_penalty_find(m, e);
    int code = count < 0 ? MECH_NOT_FINITE : 0;

    for (int32_t i = 0; i < count && code == 0; i += p.n) {
        bool closed = false;

        p.at = &own->list.at[i];
        for (p.n = 0; i + p.n < count && p.at[p.n].id >> 24 == p.at->id >> 24; p.n++) {
            closed = closed || p.at[p.n].gap < 0.;
        }
        code = closed ? add_pair(&p) : 0;
    }
    for (size_t k = 0; k < n * n; k++) {
        values[places[k]] += own->block[k];
    }
    if (code) {
        values[places[0]] = NAN;
    }
}
