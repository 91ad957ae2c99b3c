/* Forces between shapes; see penalty.h. Every evaluation detects contacts again. */
#include "solver/model/penalty.h"

#include "solver/base/err.h"
#include "solver/linalg/v3.h"
#include "solver/model/penalty_internal.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* no fewer than a pair of shapes has (hull.c, pair_mesh.c), with four of its last face or edge */
enum { CONTACTS_OF_CONVEX = 8, CONTACTS_OF_MESH = 516 };

static const double along = MECH_PENALTY_ALONG;

const struct mech_touched *mech_penalty_kept(const struct mech_state *s, uint64_t id,
                                             uint64_t *from)
{
    const uint64_t n = s ? s->at->touched : 0;

    while (*from < n && s->touched[*from].id < id) {
        ++*from;
    }
    return *from < n && s->touched[*from].id == id ? &s->touched[*from] : NULL;
}

/* A point of a body's frame, global. */
static void point_of(const struct mech_touch *t, int32_t body, const double local[3], double out[3])
{
    if (body < 0) {
        memcpy(out, local, 3 * sizeof *out);
        return;
    }
    mech_m3_mul(t->poses[body].R, local, out);
    mech_v3_add(out, 1., t->poses[body].p, out);
}

static void local_of(const struct mech_touch *t, int32_t body, const double point[3], double out[3])
{
    double arm[3];

    if (body < 0) {
        memcpy(out, point, 3 * sizeof *out);
        return;
    }
    mech_v3_add(point, -1., t->poses[body].p, arm);
    mech_m3_mul_transposed(t->poses[body].R, arm, out);
}

/* Stretch of the spring along the surfaces since the record. */
static void stretch(const struct mech_touch *t, const struct mech_touch_rows *rows,
                    const struct mech_touched *kept, double s[2])
{
    double x[2][3], way[3];

    for (int side = 0; side < 2; side++) {
        point_of(t, rows->body[side], kept->anchor[side], x[side]);
    }
    mech_v3_add(x[1], -1., x[0], way);
    s[0] = mech_v3_dot(rows->frame + 3, way);
    s[1] = mech_v3_dot(rows->frame + 6, way);
}

void mech_penalty_evaluate(const struct mech_model *m, const struct mech_eval *e,
                           const struct mech_contact *c, const struct mech_touched *kept,
                           enum mech_penalty_law law, struct mech_pushing *out)
{
    struct mech_touch_rows *const rows = &m->rows.penalty->rows;
    const struct mech_material material = mech_model_touch_material(m, c);

    *out = (struct mech_pushing){.contact = c,
                                 .k = 1. / material.compliance,
                                 .d = material.damping,
                                 .mu = material.friction};
    mech_model_touch_rows(m, c, rows);
    for (int32_t j = 0; j < rows->n; j++) {
        for (int r = 0; r < 3; r++) {
            out->u[r] += rows->G[r][j] * e->v[rows->slot[j]];
        }
    }
    if (kept) {
        stretch(m->rows.touch, rows, kept, out->s);
    }
    out->f[0] = -out->k * c->gap - out->d * out->u[0];
    if (law == MECH_PENALTY_AS_IS) {
        out->f[0] = c->gap < 0. ? fmax(0., out->f[0]) : 0.;
    }
    for (int r = 0; r < 2; r++) {
        out->f[1 + r] = -along * (out->k * out->s[r] + out->d * out->u[1 + r]);
    }
    const double most = out->mu * out->f[0];

    out->wanted = hypot(out->f[1], out->f[2]);
    // without friction it slips at rest, too
    out->slips =
        law == MECH_PENALTY_AS_IS ? out->wanted > most || out->mu <= 0. : law == MECH_PENALTY_SLIPS;
    for (int r = 1; r < 3 && out->slips && out->wanted > 0.; r++) {
        out->f[r] *= most / out->wanted;
    }
}

int32_t mech_penalty_find(const struct mech_model *m, const struct mech_eval *e)
{
    return mech_model_touch_find(m, e, 0., &m->rows.penalty->list) == 0 ? m->rows.penalty->list.n
                                                                        : -1;
}

void mech_penalty_force(const struct mech_model *m, const struct mech_eval *e, double *g)
{
    struct mech_penalty *const p = m->rows.penalty;
    const int32_t count = mech_penalty_find(m, e);
    uint64_t from = 0;

    if (count < 0) {
        g[m->rows.touch->bodies[0].seat.slot[0]] = NAN;
        return;
    }
    for (int32_t i = 0; i < count; i++) {
        const struct mech_contact *const c = &p->list.at[i];
        struct mech_pushing now;

        if (c->gap < 0.) {
            mech_penalty_evaluate(m, e, c, mech_penalty_kept(e->state, c->id, &from),
                                  MECH_PENALTY_AS_IS, &now);
            for (int32_t j = 0; j < p->rows.n; j++) {
                for (int r = 0; r < 3; r++) {
                    g[p->rows.slot[j]] -= p->rows.G[r][j] * now.f[r];
                }
            }
        }
    }
}

double mech_penalty_energy(const struct mech_model *m, const struct mech_eval *e)
{
    const struct mech_penalty *const p = m->rows.penalty;
    const int32_t count = mech_penalty_find(m, e);
    uint64_t from = 0;
    double sum = 0.;

    for (int32_t i = 0; i < count; i++) {
        const struct mech_contact *const c = &p->list.at[i];
        struct mech_pushing now;

        if (c->gap < 0.) {
            mech_penalty_evaluate(m, e, c, mech_penalty_kept(e->state, c->id, &from),
                                  MECH_PENALTY_AS_IS, &now);
            sum += 0.5 * now.k *
                   (c->gap * c->gap + along * (now.s[0] * now.s[0] + now.s[1] * now.s[1]));
        }
    }
    return sum;
}

/* --- memory ----------------------------------------------------------------------------------- */

/* The anchors of a contact: halfway between the surfaces, as far from each other as the spring is
 * stretched by the force that acts. */
static void anchor(const struct mech_model *m, const struct mech_pushing *now,
                   struct mech_touched *out)
{
    const struct mech_touch_rows *const rows = &m->rows.penalty->rows;
    double way[3] = {0.}, x[2][3];

    for (int r = 0; r < 2; r++) {
        const double s =
            now->slips ? -(now->f[1 + r] / along + now->d * now->u[1 + r]) / now->k : now->s[r];

        mech_v3_add(way, s, rows->frame + 3 + 3 * r, way);
    }
    for (int side = 0; side < 2; side++) {
        mech_v3_add(out->p, side ? 0.5 : -0.5, way, x[side]);
        local_of(m->rows.touch, rows->body[side], x[side], out->anchor[side]);
    }
}

static void record(const struct mech_model *m, const struct mech_pushing *now,
                   struct mech_touched *out)
{
    const double l[6] = {now->f[0], now->f[1], now->f[2]};

    mech_model_touch_record(now->contact, &m->rows.penalty->rows, l, out);
    anchor(m, now, out);
}

void mech_penalty_keep(const struct mech_model *m, struct mech_state *s)
{
    const struct mech_eval e = mech_model_point(m, s, s->at->time, s->q, s->v);
    struct mech_penalty *const p = m->rows.penalty;
    const size_t most = (size_t)m->sizes.contact;
    struct mech_touched *const fresh = p->fresh;
    const int32_t count = mech_penalty_find(m, &e);
    uint64_t from = 0;
    size_t n = 0;

    /* old records are read until the last new one is made */
    for (int32_t i = 0; i < count && n < most; i++) {
        const struct mech_contact *const c = &p->list.at[i];
        struct mech_pushing now;

        if (c->gap < 0.) {
            mech_penalty_evaluate(m, &e, c, mech_penalty_kept(s, c->id, &from), MECH_PENALTY_AS_IS,
                                  &now);
            record(m, &now, &fresh[n++]);
        }
    }
    struct mech_touched *const out = mech_state_touch(s, n);
    if (n) {
        memcpy(out, fresh, n * sizeof *fresh);
    }
}

/* --- compilation ------------------------------------------------------------------------------ */

static void check_materials(const struct mech_model *m, struct mech_diag *diag)
{
    const struct mech_touch *const t = m->rows.touch;

    for (int32_t i = 0; i < t->collider_count; i++) {
        const struct mech_material *const material = &t->shapes[i].material;
        const int object = (int)t->colliders[i].object, shape = (int)t->colliders[i].shape;
        char path[96];

        snprintf(path, sizeof path, "/objects/%d/geometry/%d/material", object, shape);
        if (!(material->compliance > 0.)) {
            mech_diag_add(diag, path, "contact by penalty needs a compliance greater than 0");
        }
        if (material->rolling > 0. || material->spinning > 0.) {
            mech_diag_add(diag, path,
                          "contact by penalty has no resistance against rolling or spinning");
        }
    }
}

/* How the node of a body moves; NULL: by sums. */
static const struct mech_node_ops *node_of(const struct mech_model *m, const struct mech_seat *seat)
{
    for (size_t i = 0; i < m->kinematics.seat_count; i++) {
        if (m->kinematics.seats[i]->slot[0] == seat->slot[0]) {
            return m->kinematics.seat_ops[i];
        }
    }
    return NULL;
}

static int32_t contacts_of_a_pair(const struct mech_model *m)
{
    const struct mech_touch *const t = m->rows.touch;

    for (int32_t i = 0; i < t->collider_count; i++) {
        if (t->shapes[i].shape.tree) {
            return CONTACTS_OF_MESH;
        }
    }
    return CONTACTS_OF_CONVEX;
}

/* All velocities of bodies with shapes, if they are few. */
static int take_slots(struct mech_model *m)
{
    struct mech_penalty *const p = m->rows.penalty;
    const struct mech_touch *const t = m->rows.touch;
    int32_t n = 0;

    for (int32_t i = 0; i < t->count; i++) {
        n += t->bodies[i].seat.n;
    }
    p->slot = mech_arena_alloc(&m->arena, (size_t)n, sizeof *p->slot);
    p->at = mech_arena_alloc(&m->arena, (size_t)m->sizes.v + 1, sizeof *p->at);
    p->block = mech_arena_alloc(&m->arena, (size_t)n * (size_t)n, sizeof *p->block);
    p->q = mech_arena_alloc(&m->arena, (size_t)m->sizes.q + 1, sizeof *p->q);
    p->moves = mech_arena_alloc(&m->arena, (size_t)t->count, sizeof *p->moves);
    if (!p->slot || !p->at || !p->block || !p->q || !p->moves) {
        return MECH_NO_MEMORY;
    }
    for (int k = 0; k < 2; k++) {
        MECH_TRY(mech_contact_list_reserve(&p->moved[k], contacts_of_a_pair(m)));
    }
    for (int32_t i = 0; i < t->count; i++) {
        const struct mech_seat *const seat = &t->bodies[i].seat;

        for (int32_t k = 0; k < seat->n; k++) {
            p->at[seat->slot[k]] = p->n;
            p->slot[p->n++] = seat->slot[k];
        }
        p->moves[i] = node_of(m, seat);
    }
    return 0;
}

/* The pattern of all tangents with those of the bodies, each with each. */
static int couple_bodies(struct mech_model *m)
{
    const struct mech_penalty *const p = m->rows.penalty;
    const size_t n = (size_t)p->n;
    const struct mech_arena_mark mark = mech_arena_mark(&m->scratch);
    struct mech_triplet *old = NULL;
    size_t count = 0;
    int code = 0;

    if (m->terms.pattern.kind != MECH_MAT_ZERO) {
        code = mech_mat_triplets(&m->scratch, &m->terms.pattern, &old, &count);
    }
    struct mech_triplet *const t = mech_arena_alloc(&m->scratch, count + n * n, sizeof *t);
    if (code || !t) {
        return code ? code : MECH_NO_MEMORY;
    }
    if (count) {
        memcpy(t, old, count * sizeof *t);
    }
    for (size_t k = 0; k < n * n; k++) {
        t[count + k] = (struct mech_triplet){p->slot[k / n], p->slot[k % n], 1.};
    }
    code = mech_mat_from_triplets(&m->arena, m->sizes.v, m->sizes.v, t, count + n * n,
                                  &m->terms.pattern);
    mech_arena_release(&m->scratch, mark);
    m->terms.place_count += n * n;
    return code;
}

int mech_penalty(struct mech_model *m, struct mech_diag *diag)
{
    if (m->document->contact.method != MECH_CONTACT_PENALTY || !m->rows.touch ||
        !m->rows.touch->scene || m->rows.touch->count == 0) {
        return 0;
    }
    check_materials(m, diag);
    m->rows.penalty = calloc(1, sizeof *m->rows.penalty);
    if (!m->rows.penalty) {
        return MECH_NO_MEMORY;
    }
    m->rows.penalty->fresh =
        mech_arena_alloc(&m->arena, (size_t)m->sizes.contact, sizeof *m->rows.penalty->fresh);
    if (!m->rows.penalty->fresh) {
        return MECH_NO_MEMORY;
    }
    if (m->rows.touch->count > MECH_PENALTY_COUPLED) {
        return 0;
    }
    MECH_TRY(take_slots(m));
    return couple_bodies(m);
}

void mech_penalty_fini(struct mech_penalty *p)
{
    if (p) {
        mech_contact_list_fini(&p->list);
        mech_contact_list_fini(&p->moved[0]);
        mech_contact_list_fini(&p->moved[1]);
        free(p);
    }
}

size_t mech_penalty_places(const struct mech_model *m)
{
    return m->rows.penalty ? (size_t)m->rows.penalty->n * (size_t)m->rows.penalty->n : 0;
}

const int32_t *mech_penalty_slots(const struct mech_model *m, int32_t *n)
{
    *n = m->rows.penalty ? m->rows.penalty->n : 0;
    return m->rows.penalty ? m->rows.penalty->slot : NULL;
}

bool mech_model_penalty(const struct mech_model *m)
{
    return m->rows.penalty;
}

bool mech_model_penalty_coupled(const struct mech_model *m)
{
    return m->rows.penalty && m->rows.penalty->n > 0;
}
