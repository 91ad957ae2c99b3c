/* Angles that count turns. What they were after the last step is kept in z of the state: of pairs
 * (keep in ops.h), of markers behind them, and at its end of sensors that measure rotations in
 * space. The next ones are the nearest to them (so3.h).
 *
 * A sensor of Rotation keeps the three Tait–Bryan angles that it shows, or the slope of a cable.
 * Sensors of what has its angle as a coordinate, or keeps it itself, have nothing to keep; where
 * they show three angles (of markers on bodies in the plane and rotors), these have their turns by
 * the coordinate, and what is stored is not read. */
#include "solver/base/err.h"
#include "solver/linalg/so3.h"
#include "solver/linalg/v3.h"
#include "solver/model/internal.h"

#include <math.h>
#include <string.h>

/* markers behind pairs, and which of these numbers are late */
int mech_turns(struct mech_model *m)
{
    const size_t markers = m->document->markers.n;

    m->kinematics.keepers = mech_arena_alloc(&m->arena, markers, sizeof *m->kinematics.keepers);
    if (!m->kinematics.keepers) {
        return MECH_NO_MEMORY;
    }
    for (size_t i = 0; i < markers; i++) {
        if (m->kinematics.markers[i].kept) {
            m->kinematics.marker_seats[i].z = m->sizes.z;
            m->sizes.z += m->kinematics.markers[i].kept;
            m->kinematics.keepers[m->kinematics.keeper_count++] = (int32_t)i;
        }
    }
    m->kinematics.kept = m->sizes.z;
    return 0;
}

/* The warning of a pair that is active. */
static void tell(const struct mech_model *m, const struct mech_pair_of *pair, const char *warning,
                 struct mech_diag *diag)
{
    char path[MECH_DIAG_PATH];

    if (warning && !pair->idle) {
        mech_item_path(MECH_OBJECT, (size_t)pair->object, NULL, path, sizeof path);
        mech_diag_warn(diag, path, "\"%s\" %s", m->document->objects.at[pair->object].name,
                       warning);
    }
}

int mech_turns_settle(struct mech_model *m, struct mech_diag *diag)
{
    const struct mech_model_kinematics *const k = &m->kinematics;
    const struct mech_eval reference = mech_model_point(m, NULL, 0., k->q_ref, k->zeros);
    const struct mech_eval start =
        mech_model_point(m, NULL, m->document->solver.start_time, k->q0, k->zeros);

    for (size_t p = 0; p < m->rows.pair_count; p++) {
        const struct mech_pair_of *const pair = &m->rows.pairs[p];
        struct mech_settling at = {.arena = &m->arena};

        if (!pair->ops->settle) {
            continue;
        }
        for (int s = 0; s < 2; s++) {
            mech_model_pose_marker(m, pair->marker[s], &start);
            at.start[s] = k->poses[pair->marker[s]].counted ? k->poses[pair->marker[s]].turned : 0.;
        }
        mech_model_pose_marker(m, pair->marker[0], &reference);
        mech_model_pose_marker(m, pair->marker[1], &reference);
        mech_pair_poses(m, pair, at.reference);
        MECH_TRY(pair->ops->settle(pair->record, &at));
        tell(m, pair, at.warning, diag);
    }
    return 0;
}

/* How many angles a sensor keeps: three Tait–Bryan angles, or the one of the slope of a cable. */
static int32_t turns(const struct mech_model *m, const struct mech_output_request *r)
{
    const struct mech_object_ops *const ops =
        r->category == MECH_OBJECT ? m->document->objects.at[r->index].type->ops.object : NULL;
    double values[3];
    size_t count = 0;

    if (r->variable != MECH_OUTPUT_ROTATION || (ops && ops->pair)) {
        return 0;
    }
    (void)mech_model_item_output(m, NULL, r, 3, values, &count);
    return count == 3 ? 3 : count == 1 && ops && ops->element ? 1 : 0;
}

/* Whether the three angles of a sensor have their turns by a coordinate. */
static bool counted(const struct mech_model *m, const struct mech_output_request *r)
{
    const struct mech_eval e =
        mech_model_point(m, NULL, 0., m->kinematics.q_ref, m->kinematics.zeros);

    if (r->category == MECH_MARKER) {
        mech_model_pose_marker(m, r->index, &e);
        return m->kinematics.poses[r->index].counted;
    }
    return r->category == MECH_NODE &&
           m->document->nodes.at[r->index].type->ops.node->kind == MECH_NODE_RIGID_2D;
}

/* `places` numbers of z from p on are late. */
static void mark(struct mech_model *m, int32_t p, int32_t places)
{
    for (int32_t k = 0; k < places; k++) {
        m->kinematics.late[p + k] = true;
    }
    m->kinematics.late_count += places;
}

int mech_turns_of_sensors(struct mech_model *m, struct mech_diag *diag)
{
    const size_t n = m->document->sensors.n;
    const int32_t before = m->sizes.z;

    (void)diag;
    m->kinematics.sensor_z = mech_arena_alloc(&m->arena, n, sizeof *m->kinematics.sensor_z);
    m->kinematics.sensor_counted =
        mech_arena_alloc(&m->arena, n, sizeof *m->kinematics.sensor_counted);
    if (!m->kinematics.sensor_z || !m->kinematics.sensor_counted) {
        return MECH_NO_MEMORY;
    }
    for (size_t i = 0; i < n; i++) {
        const int32_t kept = turns(m, &m->channels.sensors[i]);

        m->kinematics.sensor_z[i] = kept > 0 ? m->sizes.z : -1;
        m->kinematics.sensor_counted[i] = kept == 3 && counted(m, &m->channels.sensors[i]);
        m->sizes.z += kept;
    }
    m->kinematics.sensor_turns = m->sizes.z > before;
    double *const z0 = mech_arena_alloc(&m->arena, (size_t)m->sizes.z + 1, sizeof *z0);
    m->kinematics.late =
        mech_arena_alloc(&m->arena, (size_t)m->sizes.z, sizeof *m->kinematics.late);
    if (!z0 || !m->kinematics.late) {
        return MECH_NO_MEMORY;
    }
    memcpy(z0, m->kinematics.z0, (size_t)before * sizeof *z0);
    m->kinematics.z0 = z0;
    for (size_t p = 0; p < m->rows.pair_count; p++) {
        mark(m, m->rows.pairs[p].z, m->rows.pairs[p].ops->late ? m->rows.pairs[p].ops->data : 0);
    }
    for (size_t k = 0; k < m->kinematics.keeper_count; k++) {
        mark(m, m->kinematics.marker_seats[m->kinematics.keepers[k]].z,
             m->kinematics.markers[m->kinematics.keepers[k]].kept);
    }
    mark(m, before, m->sizes.z - before);
    return 0;
}

int32_t mech_model_late(const struct mech_model *m, const bool **of)
{
    *of = m->kinematics.late;
    return m->kinematics.late_count;
}

void mech_turns_measured(const struct mech_model *m, const struct mech_state *s, size_t sensor,
                         size_t count, double *angles)
{
    const double quarter = 2. * atan(1.);
    const int32_t at = m->kinematics.sensor_z ? m->kinematics.sensor_z[sensor] : -1;

    if (at < 0 || m->kinematics.sensor_counted[sensor]) {
        return;
    }
    if (count == 3) {
        const bool locked = fabs(fabs(angles[1]) - quarter) < 1e-11 && angles[2] == 0.;

        mech_so3_near_angles(angles, locked, s->z + at, angles);
    } else if (count == 1) {
        angles[0] = mech_so3_near(angles[0], s->z[at]);
    }
}

void mech_turns_keep(const struct mech_model *m, const struct mech_eval *e, struct mech_state *s)
{
    for (size_t k = 0; k < m->kinematics.keeper_count; k++) {
        const struct mech_item *const item = &m->document->markers.at[m->kinematics.keepers[k]];
        const struct mech_seat *const seat = &m->kinematics.marker_seats[m->kinematics.keepers[k]];

        item->type->ops.marker->keep(item->description, seat, e, s->z + seat->z);
    }
    for (size_t i = 0; i < m->document->sensors.n && m->kinematics.sensor_turns; i++) {
        if (m->kinematics.sensor_z[i] >= 0) {
            double angles[3] = {0.};
            size_t count = 0;

            (void)mech_model_item_output(
                m, s,
                &(struct mech_output_request){.category = MECH_SENSOR,
                                              .index = (int32_t)i,
                                              .variable = MECH_OUTPUT_ROTATION,
                                              .configuration = MECH_CURRENT},
                3, angles, &count);
            memcpy(s->z + m->kinematics.sensor_z[i], angles, count * sizeof *angles);
        }
    }
}

/* What turns by this much in a step may as well have turned the other way. */
static const char UNCOUNTED[] =
    "it turns by half a turn or more within a step of the integrator, so "
    "that whole turns are not counted; take smaller steps";

static bool outruns(const double omega[3], double size)
{
    return mech_v3_norm(omega) * size >= 4. * atan(1.);
}

/* Of the bodies of a pair, beside each other, if no coordinates count their turns. */
static bool pair_outruns(const struct mech_model *m, const struct mech_pair_of *pair,
                         const struct mech_eval *e, double size)
{
    const struct mech_pose *pose[2];
    double omega[3];

    mech_model_pose_marker(m, pair->marker[0], e);
    mech_model_pose_marker(m, pair->marker[1], e);
    mech_pair_poses(m, pair, pose);
    if ((pose[0]->counted || pose[0]->n == 0) && (pose[1]->counted || pose[1]->n == 0)) {
        return false;
    }
    mech_v3_add(pose[1]->omega, -1., pose[0]->omega, omega);
    return outruns(omega, size);
}

/* Of what a marker that keeps its angle is on. */
static bool marker_outruns(const struct mech_model *m, int32_t marker, const struct mech_eval *e,
                           double size)
{
    const struct mech_seat *const on = &m->kinematics.marker_seats[marker];
    struct mech_pose at = {.n = on->n, .slot = on->slot};

    on->item->type->ops.node->pose(on->item->description, on, e, &at);
    return outruns(at.omega, size);
}

/* Of what a sensor measures whose angles are kept. */
static bool sensor_outruns(const struct mech_model *m, const struct mech_state *s, size_t sensor,
                           double size)
{
    struct mech_output_request r = m->channels.sensors[sensor];
    double omega[3] = {0.};
    size_t count = 0;

    r.variable = MECH_OUTPUT_ANGULAR_VELOCITY;
    return m->kinematics.sensor_z[sensor] >= 0 && !m->kinematics.sensor_counted[sensor] &&
           mech_model_item_output(m, s, &r, 3, omega, &count) == 0 && count == 3 &&
           outruns(omega, size);
}

int32_t mech_model_beyond(const struct mech_model *m, const struct mech_state *s, double size,
                          enum mech_category *of, const char **reason)
{
    const struct mech_model_kinematics *const k = &m->kinematics;
    const struct mech_eval e = mech_model_point(m, s, s->at->time, s->q, s->v);

    *of = MECH_OBJECT;
    for (size_t p = 0; p < m->rows.pair_count && k->kept; p++) {
        const struct mech_pair_of *const pair = &m->rows.pairs[p];
        const bool may = pair->ops->beyond && !pair->idle;

        *reason = may ? pair->ops->beyond(pair->record, s->z + pair->z) : NULL;
        if (!*reason && pair->ops->keep && !pair->idle && pair_outruns(m, pair, &e, size)) {
            *reason = UNCOUNTED;
        }
        if (*reason) {
            return pair->object;
        }
    }
    *reason = UNCOUNTED;
    *of = MECH_MARKER;
    for (size_t i = 0; i < k->keeper_count; i++) {
        if (marker_outruns(m, k->keepers[i], &e, size)) {
            return k->keepers[i];
        }
    }
    *of = MECH_SENSOR;
    for (size_t i = 0; i < m->document->sensors.n && k->sensor_turns; i++) {
        if (sensor_outruns(m, s, i, size)) {
            return (int32_t)i;
        }
    }
    *reason = NULL;
    return -1;
}
