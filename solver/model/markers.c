/* Markers that move: their poses at a point, and the loads on them, gravity among them.
 *
 *     g −= Jᵀ w,   w the sum of all wrenches on a marker (fixed ones turn with the body)
 *
 * J of a rotating column is a_k × arm above a_k, with δa_k = a_j × a_k and δarm = a_j × arm. */
#include "solver/base/err.h"
#include "solver/linalg/v3.h"
#include "solver/model/internal.h"
#include "solver/model/pose.h"

#include <string.h>

/* `like`: a pose of the same body at the same point, or NULL; lean: J only where it must be. */
static void pose_one(const struct mech_model *m, int32_t i, const struct mech_eval *e,
                     const struct mech_pose *like, bool lean)
{
    const struct mech_seat *const seat = &m->kinematics.marker_seats[i];
    struct mech_pose *const pose = &m->kinematics.poses[i];
    struct mech_flex *const flex = pose->flex;

    if (pose->kind == MECH_POSE_GENERAL) {
        memset(pose, 0, sizeof *pose);
        pose->n = seat->n < MECH_MARKER_SLOTS || flex ? seat->n : MECH_MARKER_SLOTS;
        pose->slot = seat->slot;
        pose->flex = flex;
        for (int k = 0; k < 3; k++) {
            pose->R[4 * k] = 1.;
        }
    }
    pose->like = like;
    pose->lean = lean && pose->kind == MECH_POSE_SPACE;
    if (flex) {
        mech_flex_open(pose);
    }
    if ((size_t)i < m->document->markers.n) {
        const struct mech_item *const item = &m->document->markers.at[i];

        item->type->ops.marker->pose(item->description, seat, e, pose);
    } else {
        mech_centre_pose(seat, e, pose);
    }
    if (flex) {
        mech_flex_close(pose, e->v);
    }
}

void mech_model_pose_marker(const struct mech_model *m, int32_t i, const struct mech_eval *e)
{
    pose_one(m, i, e, NULL, false);
}

void mech_model_pose(const struct mech_model *m, const struct mech_eval *e)
{
    for (size_t k = 0; k < m->kinematics.posed_count; k++) {
        const int32_t like = m->kinematics.like[k];
        const bool known = like >= 0 && m->kinematics.poses[like].kind != MECH_POSE_GENERAL;

        pose_one(m, m->kinematics.posed[k], e, known ? &m->kinematics.poses[like] : NULL, true);
    }
    mech_frames_gather(m);
    mech_equations_gather(m, e);
}

/* --- what is made while the model is compiled ------------------------------------------------- */

int mech_moving_load_new(struct mech_model *m, const struct mech_moving_load *load)
{
    if (m->terms.moving_load_count == m->terms.moving_load_capacity) {
        const size_t more = m->terms.moving_load_capacity ? 2 * m->terms.moving_load_capacity : 32;
        struct mech_moving_load *const fresh = mech_arena_alloc(&m->arena, more, sizeof *fresh);

        if (!fresh) {
            return MECH_NO_MEMORY;
        }
        if (m->terms.moving_load_count) {
            memcpy(fresh, m->terms.moving_loads, m->terms.moving_load_count * sizeof *fresh);
        }
        m->terms.moving_loads = fresh;
        m->terms.moving_load_capacity = more;
    }
    m->terms.moving_loads[m->terms.moving_load_count++] = *load;
    return 0;
}

/* Whether the translation of a centre of mass is the same linear map in all poses. */
static bool constant(const struct mech_pose *pose)
{
    const int32_t entries = 3 * pose->n * pose->n;
    int32_t k = 0;

    while (pose->flex && k < entries && pose->flex->slope[k] == 0.) {
        k++;
    }
    return pose->flex ? k == entries : mech_v3_norm(pose->arm) == 0.;
}

/* Gravity on one body: into the constant forces when it acts alike in all poses, else by the pose
 * of its centre of mass. */
static int add_gravity(struct mech_model *m, size_t o)
{
    const struct mech_item *const item = &m->document->objects.at[o];
    const struct mech_seat_of *const on = &m->kinematics.objects[o];
    const int32_t i = (int32_t)(m->document->markers.n + m->kinematics.centre_count);
    const double *const gravity = m->document->gravity;
    const struct mech_eval e =
        mech_model_point(m, NULL, 0., m->kinematics.q_ref, m->kinematics.zeros);
    double center[3];
    const double mass = item->type->ops.object->mass(item->description, center);

    m->kinematics.marker_seats[i] = (struct mech_seat){
        .item = item, .slot = on->slot, .q_slot = on->q_slot, .n = on->n, .nq = on->nq};
    if (item->type->ops.object->flexible) {
        MECH_TRY(mech_flex_new(&m->arena, on->n, &m->kinematics.poses[i].flex));
    }
    mech_model_pose_marker(m, i, &e);
    m->kinematics.centre_count++;
    const struct mech_pose *const pose = &m->kinematics.poses[i];
    if (constant(pose)) {
        for (int32_t k = 0; k < pose->n; k++) {
            for (int r = 0; r < 3; r++) {
                const double J = pose->flex ? pose->flex->J[r * pose->n + k] : pose->J[r][k];

                m->terms.base[pose->slot[k]] += mass * J * gravity[r];
            }
        }
        return 0;
    }
    struct mech_moving_load load = {.moving = (int32_t)m->kinematics.moving_count, .channel = -1};
    mech_v3_add(load.w, mass, gravity, load.w);
    m->kinematics.moving_of[i] = (int32_t)m->kinematics.moving_count;
    m->kinematics.moving[m->kinematics.moving_count++].marker = i;
    m->kinematics.posed[m->kinematics.posed_count++] = i;
    return mech_moving_load_new(m, &load);
}

/* Which poses belong to the same item. */
static int find_alike(struct mech_model *m)
{
    int32_t *const last = mech_arena_alloc(&m->arena, (size_t)m->sizes.v + 1, sizeof *last);

    m->kinematics.like =
        mech_arena_alloc(&m->arena, m->kinematics.posed_count, sizeof *m->kinematics.like);
    if (!last || !m->kinematics.like) {
        return MECH_NO_MEMORY;
    }
    for (int32_t i = 0; i <= m->sizes.v; i++) {
        last[i] = -1;
    }
    for (size_t k = 0; k < m->kinematics.posed_count; k++) {
        const struct mech_seat *const seat = &m->kinematics.marker_seats[m->kinematics.posed[k]];
        int32_t *const at = &last[seat->n ? seat->slot[0] : m->sizes.v];
        const bool same = seat->n && *at >= 0 && m->kinematics.marker_seats[*at].item == seat->item;

        m->kinematics.like[k] = same ? *at : -1;
        *at = same ? *at : m->kinematics.posed[k];
    }
    return 0;
}

int mech_markers(struct mech_model *m)
{
    const size_t markers = m->document->markers.n, most = markers + m->document->objects.n;

    m->kinematics.poses = mech_arena_alloc(&m->arena, most, sizeof *m->kinematics.poses);
    m->kinematics.posed = mech_arena_alloc(&m->arena, most, sizeof *m->kinematics.posed);
    m->kinematics.moving = mech_arena_alloc(&m->arena, most, sizeof *m->kinematics.moving);
    m->kinematics.moving_of = mech_arena_alloc(&m->arena, most, sizeof *m->kinematics.moving_of);
    m->rows.G = mech_arena_alloc(&m->arena, (size_t)m->rows.joints.start[m->rows.joints.count],
                                 sizeof *m->rows.G);
    bool *const wanted = mech_arena_alloc(&m->arena, most, sizeof *wanted);
    m->rows.g = mech_arena_alloc(&m->arena, (size_t)m->rows.joints.count, sizeof *m->rows.g);
    if (!m->rows.G || !m->rows.g || !m->kinematics.poses || !m->kinematics.posed ||
        !m->kinematics.moving || !m->kinematics.moving_of || !wanted) {
        return MECH_NO_MEMORY;
    }
    MECH_TRY(mech_flex(m));
    for (size_t p = 0; p < m->rows.pair_count; p++) {
        wanted[m->rows.pairs[p].marker[0]] = wanted[m->rows.pairs[p].marker[1]] = true;
    }
    for (size_t i = 0; i < most; i++) {
        m->kinematics.moving_of[i] = -1;
        if (i < markers && m->kinematics.markers[i].moving) {
            m->kinematics.moving_of[i] = (int32_t)m->kinematics.moving_count;
            m->kinematics.moving[m->kinematics.moving_count++].marker = (int32_t)i;
            wanted[i] = true;
        }
        if (wanted[i]) {
            m->kinematics.posed[m->kinematics.posed_count++] = (int32_t)i;
        }
    }
    const bool falls = mech_v3_norm(m->document->gravity) != 0.;
    for (size_t o = 0; o < m->document->objects.n && falls; o++) {
        if (m->document->objects.at[o].type->ops.object->mass) {
            MECH_TRY(add_gravity(m, o));
        }
    }
    return find_alike(m);
}

/* --- loads ------------------------------------------------------------------------------------ */

bool mech_model_marker_moves(const struct mech_model *m, int32_t marker)
{
    return m->kinematics.moving_of[marker] >= 0;
}

/* Sums of the wrenches on each marker. */
static void gather(const struct mech_model *m, const struct mech_eval *e)
{
    for (size_t k = 0; k < m->kinematics.moving_count; k++) {
        struct mech_moving *const to = &m->kinematics.moving[k];

        memset(to->w, 0, sizeof to->w);
        memset(to->fixed, 0, sizeof to->fixed);
        if (e->state && e->state->wrench && (size_t)to->marker < m->document->markers.n) {
            memcpy(to->w, e->state->wrench + 6 * (size_t)to->marker, sizeof to->w);
        }
    }
    for (size_t k = 0; k < m->terms.moving_load_count; k++) {
        const struct mech_moving_load *const load = &m->terms.moving_loads[k];
        struct mech_moving *const to = &m->kinematics.moving[load->moving];
        const double value =
            load->channel < 0 ? 1.
            : e->state        ? mech_model_channel_value(m, e->state, (size_t)load->channel, e->t)
                              : 0.;

        if (load->body_fixed) {
            const double *const R = m->kinematics.poses[to->marker].R;
            double w[6];

            mech_m3_mul(R, load->w, w);
            mech_m3_mul(R, load->w + 3, w + 3);
            for (int r = 0; r < 6; r++) {
                to->fixed[r] += value * w[r];
            }
        } else {
            for (int r = 0; r < 6; r++) {
                to->w[r] += value * load->w[r];
            }
        }
    }
    for (size_t k = 0; k < m->kinematics.moving_count && e->state && e->state->held != 0.; k++) {
        struct mech_moving *const to = &m->kinematics.moving[k];

        for (int r = 0; r < 6; r++) {
            to->w[r] *= 1. - e->state->held;
            to->fixed[r] *= 1. - e->state->held;
        }
    }
}

/* Whether there are no loads at all on markers that move. */
static bool unloaded(const struct mech_model *m, const struct mech_eval *e)
{
    return m->terms.moving_load_count == 0 && !(e->state && e->state->wrench);
}

/* Whether the wrench of a force element is not 0 at the last poses. */
static bool pushes(const struct mech_model *m, const struct mech_pair_of *p,
                   const struct mech_eval *e)
{
    const struct mech_pose *pose[2];
    double W[12] = {0.};
    bool any = false;

    if (p->rows || p->idle) {
        return false;
    }
    mech_pair_poses(m, p, pose);
    p->ops->wrench(p->record, e, pose, W);
    for (int r = 0; r < 12; r++) {
        any = any || W[r] != 0.;
    }
    return any;
}

bool mech_model_pushed(const struct mech_model *m, const struct mech_state *s, double t)
{
    bool pushed = false;

    for (size_t k = 0; k < m->terms.moving_load_count && !pushed; k++) {
        const int32_t channel = m->terms.moving_loads[k].channel;

        pushed = channel < 0 || mech_model_channel_value(m, s, (size_t)channel, t) != 0.;
    }
    for (size_t i = 0; i < 6 * m->document->markers.n && s->wrench && !pushed; i++) {
        pushed = s->wrench[i] != 0.;
    }
    const struct mech_eval e = mech_model_point(m, s, t, s->q, s->v);
    for (size_t p = 0; p < m->rows.pair_count && !pushed; p++) {
        pushed = pushes(m, &m->rows.pairs[p], &e);
    }
    return pushed;
}

void mech_moving_force(const struct mech_model *m, const struct mech_eval *e, double *g)
{
    if (unloaded(m, e)) {
        return;
    }
    gather(m, e);
    for (size_t k = 0; k < m->kinematics.moving_count; k++) {
        const struct mech_moving *const at = &m->kinematics.moving[k];
        struct mech_pose *const pose = &m->kinematics.poses[at->marker];

        mech_pose_complete(pose);
        if (pose->flex) {
            double w[6];

            for (int r = 0; r < 6; r++) {
                w[r] = at->w[r] + at->fixed[r];
            }
            mech_flex_force(pose, w, g);
            continue;
        }
        for (int32_t i = 0; i < pose->n; i++) {
            for (int r = 0; r < 6; r++) {
                g[pose->slot[i]] -= pose->J[r][i] * (at->w[r] + at->fixed[r]);
            }
        }
    }
}

const int32_t *mech_moving_tangent(const struct mech_model *m, const struct mech_eval *e, double c,
                                   const int32_t *places, double *values)
{
    if (unloaded(m, e)) {
        return places + m->kinematics.moving_places;
    }
    gather(m, e);
    for (size_t k = 0; k < m->kinematics.moving_count; k++) {
        const struct mech_moving *const at = &m->kinematics.moving[k];
        struct mech_pose *const pose = &m->kinematics.poses[at->marker];
        double w[6], K[MECH_MARKER_SLOTS][MECH_MARKER_SLOTS] = {{0.}};

        double acting = 0.;
        for (int r = 0; r < 6; r++) {
            w[r] = at->w[r] + at->fixed[r];
            acting += fabs(at->w[r]) + fabs(at->fixed[r]);
        }
        if (acting == 0.) {
            places += pose->n * pose->n;
            continue;
        }
        if (pose->flex) {
            places = mech_flex_moving_tangent(pose, w, at->fixed, c, places, values);
            continue;
        }
        mech_pose_complete(pose);
        mech_pose_stiffness(pose, w, K);
        /* fixed wrenches turn with the body */
        for (int32_t j = 0; j < pose->n; j++) {
            const double axis[3] = {pose->J[3][j], pose->J[4][j], pose->J[5][j]};
            double turned[6];

            mech_v3_cross(axis, at->fixed, turned);
            mech_v3_cross(axis, at->fixed + 3, turned + 3);
            for (int32_t i = 0; i < pose->n; i++) {
                for (int r = 0; r < 6; r++) {
                    K[i][j] += pose->J[r][i] * turned[r];
                }
            }
        }
        for (int32_t i = 0; i < pose->n; i++) {
            for (int32_t j = 0; j < pose->n; j++) {
                values[*places++] -= c * K[i][j];
            }
        }
    }
    return places;
}
