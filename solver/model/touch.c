/* Contacts between shapes in the velocities of the model.
 *
 * A body's shapes sit in its frame, whose pose gives J: (v, ω) of the frame's origin p = J v. With
 * x halfway between the surfaces of a contact and the frame n, t₁, t₂ the rows are
 *
 *     n·(v + ω × (x − p)) = [n, (x − p) × n]·J v,   … t₁, t₂;   n·ω, t₁·ω, t₂·ω
 *
 * of the second body less those of the first. Friction acts at x on both, so that it changes
 * neither momentum nor moment of momentum; the row of n is the gap's rate, as (x − p) × n does not
 * change along n. t₁ follows from n by a frame without branches (Duff et al., Building an
 * Orthonormal Basis, Revisited, JCGT 6(1), 2017). */
#include "solver/base/err.h"
#include "solver/linalg/v3.h"
#include "solver/model/touch_internal.h"

#include <float.h>
#include <math.h>
#include <string.h>

int32_t mech_model_touch_bodies(const struct mech_model *m)
{
    return m->rows.touch && !m->rows.penalty ? m->rows.touch->count : 0;
}

struct mech_touch_body mech_model_touch_body(const struct mech_model *m, int32_t body)
{
    const struct mech_moving_body *const b = &m->rows.touch->bodies[body];

    return (struct mech_touch_body){b->object, b->seat.n, b->seat.slot};
}

void mech_model_touch_collider(const struct mech_model *m, int32_t collider, int32_t *object,
                               int32_t *shape)
{
    *object = m->rows.touch->colliders[collider].object;
    *shape = m->rows.touch->colliders[collider].shape;
}

void mech_model_touch_bodies_of(const struct mech_model *m, const struct mech_contact *c,
                                int32_t body[2])
{
    for (int k = 0; k < 2; k++) {
        body[k] = m->rows.touch->colliders[c->collider[k]].body;
    }
}

const char *mech_model_touch_name(const struct mech_model *m, int32_t collider)
{
    return m->document->objects.at[m->rows.touch->colliders[collider].object].name;
}

const struct mech_shape *mech_model_touch_shape(const struct mech_model *m, int32_t object,
                                                int32_t place)
{
    const struct mech_touch *const t = m->rows.touch;
    int32_t low = 0, high = t ? t->collider_count : 0;

    /* colliders ascend by object, then by place */
    while (low < high) {
        const int32_t middle = low + (high - low) / 2;
        const struct mech_collider_of *const c = &t->colliders[middle];

        if (c->object < object || (c->object == object && c->shape < place)) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    const bool found = t && low < t->collider_count && t->colliders[low].object == object &&
                       t->colliders[low].shape == place;
    return found ? &t->shapes[low].shape : NULL;
}

void mech_model_touch_pair(uint64_t id, int32_t collider[2])
{
    collider[0] = (int32_t)(id >> 44);
    collider[1] = (int32_t)(id >> 24 & 0xfffffu);
}

bool mech_model_touch_known(const struct mech_model *m, uint64_t id)
{
    int32_t c[2];

    mech_model_touch_pair(id, c);
    return m->rows.touch && m->rows.touch->scene && c[0] < c[1] &&
           c[1] < m->rows.touch->collider_count;
}

/* --- where the bodies are --------------------------------------------------------------------- */

void mech_touch_pose(const struct mech_moving_body *b, const struct mech_eval *e,
                     struct mech_pose *pose)
{
    static const double origin[3];

    if (pose->kind == MECH_POSE_GENERAL) {
        memset(pose, 0, sizeof *pose);
        pose->n = b->seat.n;
        pose->slot = b->seat.slot;
        for (int k = 0; k < 3; k++) {
            pose->R[4 * k] = 1.;
        }
    }
    pose->lean = pose->kind == MECH_POSE_SPACE;
    b->seat.item->type->ops.object->pose(b->seat.item->description, &b->seat, e, origin, pose);
}

/* How far a body moves at the pose's velocities, m. */
static double way_of(const struct mech_model *m, int32_t body, double ahead)
{
    const struct mech_touch *const t = m->rows.touch;
    const struct mech_pose *const pose = &t->poses[body];

    return ahead * (mech_v3_norm(pose->v) + t->bodies[body].extent * mech_v3_norm(pose->omega));
}

/* How far it may move, with what gravity adds. */
static double reach_of(const struct mech_model *m, int32_t body, double ahead)
{
    return way_of(m, body, ahead) + mech_v3_norm(m->document->gravity) * ahead * ahead;
}

static int find(const struct mech_model *m, struct mech_contact_list *list)
{
    struct mech_touch *const t = m->rows.touch;
    const struct mech_scene_query query = {
        .at = t->at, .reach = t->reach, .margin = m->document->contact.margin};

    for (int32_t i = 0; i < t->count; i++) {
        if (!isfinite(t->reach[i])) {
            return MECH_NOT_FINITE;
        }
    }
    return mech_scene_find(t->scene, &query, list);
}

static void place(struct mech_touch *t, const struct mech_eval *e, int32_t body)
{
    struct mech_pose *const pose = &t->poses[body];

    mech_touch_pose(&t->bodies[body], e, pose);
    memcpy(t->at[body].p, pose->p, sizeof pose->p);
    memcpy(t->at[body].R, pose->R, sizeof pose->R);
}

int mech_model_touch_find(const struct mech_model *m, const struct mech_eval *e, double ahead,
                          struct mech_contact_list *list)
{
    struct mech_touch *const t = m->rows.touch;

    for (int32_t i = 0; i < t->count; i++) {
        place(t, e, i);
        t->reach[i] = reach_of(m, i, ahead);
    }
    return find(m, list);
}

/* How far a shape goes from its body's frame, m; bounds that are not finite count as 0. */
static double size_of(const struct mech_collider *c)
{
    double corner[3];

    for (int k = 0; k < 3; k++) {
        const double far = fmax(fabs(c->shape.low[k]), fabs(c->shape.high[k]));

        corner[k] = isfinite(far) ? far : 0.;
    }
    return mech_v3_norm(c->p) + mech_v3_norm(corner);
}

int mech_model_touch_near(const struct mech_model *m, const struct mech_eval *e, double share,
                          struct mech_contact_list *list)
{
    struct mech_touch *const t = m->rows.touch;

    for (int32_t i = 0; i < t->count; i++) {
        place(t, e, i);
        t->reach[i] = 0.;
    }
    for (int32_t i = 0; i < t->collider_count; i++) {
        const int32_t body = t->colliders[i].body;

        if (body >= 0) {
            t->reach[body] = fmax(t->reach[body], size_of(&t->shapes[i]));
        }
    }
    for (int32_t i = 0; i < t->count; i++) {
        t->reach[i] = share * (t->reach[i] + mech_v3_norm(t->at[i].p));
    }
    return find(m, list);
}

int mech_model_touch_widen(const struct mech_model *m, double ahead, struct mech_contact_list *list)
{
    struct mech_touch *const t = m->rows.touch;

    for (int32_t i = 0; i < t->count; i++) {
        t->reach[i] = fmax(t->reach[i], 1.1 * reach_of(m, i, ahead));
    }
    return find(m, list);
}

void mech_model_touch_set_out(const struct mech_model *m, const struct mech_eval *e, int32_t body)
{
    struct mech_touch *const t = m->rows.touch;
    struct mech_pose *const pose = &t->poses[body];
    struct mech_scene_motion *const motion = &t->motion[body];

    mech_touch_pose(&t->bodies[body], e, pose);
    motion->extent = t->bodies[body].extent;
    memcpy(motion->v, pose->v, sizeof pose->v);
    memcpy(motion->omega, pose->omega, sizeof pose->omega);
}

bool mech_model_touch_goes_farther(const struct mech_model *m, double ahead)
{
    const struct mech_touch *const t = m->rows.touch;

    for (int32_t i = 0; i < t->count; i++) {
        if (way_of(m, i, ahead) > t->reach[i]) {
            return true;
        }
    }
    return false;
}

const struct mech_scene *mech_model_touch_scene(const struct mech_model *m,
                                                const struct mech_scene_motion **motion)
{
    *motion = m->rows.touch->motion;
    return m->rows.touch->scene;
}

struct mech_material mech_model_touch_material(const struct mech_model *m,
                                               const struct mech_contact *c)
{
    return mech_scene_material(m->rows.touch->scene, c);
}

/* --- rows ------------------------------------------------------------------------------------- */

static void frame_of(const double n[3], double frame[9])
{
    const double sign = copysign(1., n[2]), a = -1. / (sign + n[2]), b = n[0] * n[1] * a;
    const double rows[9] = {n[0],     n[1],         n[2], 1. + sign * n[0] * n[0] * a,
                            sign * b, -sign * n[0], b,    sign + n[1] * n[1] * a,
                            -n[1]};

    memcpy(frame, rows, sizeof rows);
}

/* Where a contact acts on one of its bodies: halfway between the surfaces; of one that was foretold
 * (mech_scene_sweep) where that point of the body is now. */
static void point_of(const struct mech_contact *c, int side, double x[3])
{
    const double out = side ? -0.5 : 0.5;

    for (int k = 0; k < 3; k++) {
        x[k] = c->point[side][k] + out * c->gap * c->normal[k];
    }
}

/* Columns from `first` on: sign times the rows of one body. */
static void add_body(const struct mech_model *m, int32_t body, double sign, const double x[3],
                     struct mech_touch_rows *out)
{
    struct mech_pose *const pose = &m->rows.touch->poses[body];
    double arm[3];

    mech_pose_complete(pose);
    mech_v3_add(x, -1., pose->p, arm);
    for (int32_t k = 0; k < pose->n; k++) {
        const double v[3] = {pose->J[0][k], pose->J[1][k], pose->J[2][k]};
        const double omega[3] = {pose->J[3][k], pose->J[4][k], pose->J[5][k]};
        double point[3];

        mech_v3_cross(omega, arm, point);
        mech_v3_add(point, 1., v, point);
        for (int r = 0; r < 3; r++) {
            out->G[r][out->n] = sign * mech_v3_dot(out->frame + 3 * r, point);
            out->G[3 + r][out->n] = sign * mech_v3_dot(out->frame + 3 * r, omega);
        }
        out->slot[out->n++] = pose->slot[k];
    }
}

void mech_model_touch_frame(const struct mech_model *m, const struct mech_contact *c,
                            struct mech_touch_rows *out)
{
    out->n = 0;
    frame_of(c->normal, out->frame);
    for (int side = 0; side < 2; side++) {
        const int32_t body = m->rows.touch->colliders[c->collider[side]].body;
        double x[3];

        point_of(c, side, x);

        out->body[side] = body;
        memset(out->arm[side], 0, sizeof out->arm[side]);
        if (body >= 0) {
            const struct mech_pose *const pose = &m->rows.touch->poses[body];
            double center[3];

            mech_m3_mul(pose->R, m->rows.touch->bodies[body].center, center);
            mech_v3_add(center, 1., pose->p, center);
            mech_v3_add(x, -1., center, out->arm[side]);
        }
    }
}

void mech_model_touch_rows(const struct mech_model *m, const struct mech_contact *c,
                           struct mech_touch_rows *out)
{
    double x[3];

    mech_model_touch_frame(m, c, out);
    for (int side = 0; side < 2; side++) {
        if (out->body[side] >= 0) {
            point_of(c, side, x);
            add_body(m, out->body[side], side ? 1. : -1., x, out);
        }
    }
}

double mech_model_touch_rounding(const struct mech_contact *c, const struct mech_touch_rows *rows)
{
    double sum = 0.;

    for (int side = 0; side < 2; side++) {
        sum += 4. * mech_v3_norm(rows->arm[side]);
        for (int k = 0; k < 3; k++) {
            sum += fabs(c->normal[k] * c->point[side][k]);
        }
    }
    return DBL_EPSILON * sum;
}

void mech_model_touch_record(const struct mech_contact *c, const struct mech_touch_rows *rows,
                             const double l[6], struct mech_touched *out)
{
    *out = (struct mech_touched){.id = c->id, .gap = c->gap};
    memcpy(out->n, c->normal, sizeof out->n);
    memcpy(out->arm, rows->arm, sizeof out->arm);
    for (int k = 0; k < 3; k++) {
        out->p[k] = 0.5 * (c->point[0][k] + c->point[1][k]);
    }
    for (int r = 0; r < 3; r++) {
        mech_v3_add(out->impulse, l[r], rows->frame + 3 * r, out->impulse);
        mech_v3_add(out->couple, l[3 + r], rows->frame + 3 * r, out->couple);
    }
}

/* --- free bodies ------------------------------------------------------------------------------ */

bool mech_model_touch_free(const struct mech_model *m)
{
    return m->rows.touch && m->rows.touch->free;
}

double mech_model_touch_mobility(const struct mech_model *m, int32_t body)
{
    return m->rows.touch->bodies[body].mobility;
}

void mech_model_touch_inertia(const struct mech_model *m, int32_t body, double *inverse_mass,
                              double inverse_inertia[9])
{
    const struct mech_moving_body *const b = &m->rows.touch->bodies[body];
    const double *const R = m->rows.touch->poses[body].R;

    *inverse_mass = b->inverse_mass;
    if (b->round) {
        memcpy(inverse_inertia, b->inverse_inertia, sizeof b->inverse_inertia);
        return;
    }
    double turned[9], back[9];

    mech_m3_product(R, b->inverse_inertia, turned);
    mech_m3_transpose(R, back);
    mech_m3_product(turned, back, inverse_inertia);
}

void mech_model_touch_twist(const struct mech_model *m, int32_t body, const double *v,
                            double twist[6])
{
    const struct mech_moving_body *const b = &m->rows.touch->bodies[body];
    const int32_t *const slot = b->seat.slot;

    for (int k = 0; k < 3; k++) {
        twist[k] = v[slot[k]];
        twist[3 + k] = 0.;
    }
    if (b->seat.n == 6) {
        const double omega[3] = {v[slot[3]], v[slot[4]], v[slot[5]]};

        mech_m3_mul(m->rows.touch->poses[body].R, omega, twist + 3);
    }
}

void mech_model_touch_untwist(const struct mech_model *m, int32_t body, const double twist[6],
                              double *v)
{
    const struct mech_moving_body *const b = &m->rows.touch->bodies[body];
    const int32_t *const slot = b->seat.slot;

    for (int k = 0; k < 3; k++) {
        v[slot[k]] = twist[k];
    }
    if (b->seat.n == 6) {
        double omega[3];

        mech_m3_mul_transposed(m->rows.touch->poses[body].R, twist + 3, omega);
        for (int k = 0; k < 3; k++) {
            v[slot[3 + k]] = omega[k];
        }
    }
}
