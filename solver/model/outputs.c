/* Output variables of items in any configuration. */
#include "solver/base/err.h"
#include "solver/model/touch_internal.h"

/* ẋ of all first-order states, in the model's scratch; NULL: no memory, no number. */
static const double *state_rates(const struct mech_model *m, const struct mech_state *s)
{
    double *const r = mech_arena_alloc(mech_model_scratch(m), (size_t)m->sizes.x + 1, sizeof *r);

    if (!r || mech_model_rate(m, s, s->at->time, r)) {
        return NULL;
    }
    mech_mat_mul(mech_model_first_order(m), 1., s->x, 1., r);
    mech_model_first_order_push(m, s->impulse, r);
    return r;
}

/* Sizes can be queried without a state (s NULL, capacity 0). */
static struct mech_view view_of(const struct mech_model *m, const struct mech_state *s,
                                const struct mech_output_request *r, const struct mech_seat_of *on)
{
    static const double origin[3];
    struct mech_view v = {.configuration = r->configuration,
                          .slot = on->slot,
                          .q_slot = on->q_slot,
                          .n = on->n,
                          .nq = on->nq,
                          .local = r->local ? r->local : origin,
                          .record = on->record};

    v.at = mech_model_point(m, s, s ? s->at->time : 0., m->kinematics.q_ref, m->kinematics.zeros);
    if (r->configuration != MECH_CURRENT && r->configuration != MECH_START_OF_STEP) {
        v.at.z = NULL; /* kept angles are those of the last step */
    }
    v.vdot = r->configuration == MECH_REFERENCE || !s ? m->kinematics.zeros : NULL;
    if (on->first_order) {
        v.at.q_ref = m->kinematics.zeros;
        v.vdot = NULL;
        const bool now = r->configuration == MECH_CURRENT && s;

        v.at.q = r->configuration == MECH_REFERENCE
                     ? on->data ? m->kinematics.zeros : m->kinematics.x_ref
                 : on->data ? now ? s->z : m->kinematics.z0
                 : now      ? s->x
                            : m->kinematics.x0;
        v.at.v = NULL;
        if (r->variable == MECH_OUTPUT_COORDINATES_T && r->configuration == MECH_CURRENT) {
            v.at.v = s ? state_rates(m, s) : m->kinematics.x0;
        }
    } else if (r->configuration == MECH_INITIAL) {
        v.at.q = m->kinematics.q0;
        v.at.v = m->kinematics.v0;
        v.vdot = NULL;
    } else if (r->configuration == MECH_START_OF_STEP && s) {
        v.at.q = s->q_start;
        v.at.v = s->v_start;
        v.vdot = NULL;
    } else if (r->configuration == MECH_CURRENT && s) {
        v.at.q = s->q;
        v.at.v = s->v;
        v.vdot = s->vdot;
        v.at.lambda = s->lambda;
    }
    return v;
}

/* The poses of a pair's markers, and its multipliers, into the view. */
static void view_pair(const struct mech_model *m, int32_t index, struct mech_view *v)
{
    const int32_t p = m->kinematics.objects[index].pair;

    if (!m->document->objects.at[index].type->ops.object->pair) {
        return;
    }
    struct mech_attachment at;
    const struct mech_item *const item = &m->document->objects.at[index];

    item->type->ops.object->markers(item->description, &at);
    for (int k = 0; k < 2; k++) {
        mech_model_pose_marker(m, at.refs[k].index, &v->at);
        v->pose[k] = &m->kinematics.poses[at.refs[k].index];
    }
    v->record = p < 0 ? NULL : v->record;
    v->settled = p < 0 ? NULL : m->rows.pairs[p].record;
    v->rows = item->type->ops.object->pair->rows
                  ? item->type->ops.object->pair->rows(item->description)
                  : 0;
    v->lambda = p >= 0 && v->at.lambda ? v->at.lambda + m->rows.pairs[p].row : NULL;
}

/* The coordinates of an object with equations, and its multipliers, into the view. They stay in the
 * model's scratch, as poses do. Negative: no memory. */
static int view_equation(const struct mech_model *m, int32_t index,
                         struct mech_equation_point *point, struct mech_view *v)
{
    const struct mech_seat_of *const on = &m->kinematics.objects[index];
    const struct mech_item *const item = &m->document->objects.at[index];
    const struct mech_equation_ops *const ops = item->type->ops.object->equation;
    double *const values =
        mech_arena_alloc(mech_model_scratch(m), 3 * (size_t)on->n, sizeof *values);
    const struct mech_site site = {
        .slot = on->slot, .q_slot = on->q_slot, .n = on->n, .nq = on->nq, .first = on->first};

    if (!values) {
        return MECH_NO_MEMORY;
    }
    mech_equation_read(on, &v->at, values, point);
    v->point = point;
    v->rows = ops->rows(item->description, &site);
    v->record = on->equation < 0 ? NULL : v->record;
    v->lambda = on->equation >= 0 && v->at.lambda
                    ? v->at.lambda + m->rows.equations[on->equation].row
                    : NULL;
    return 0;
}

/* The point of a node or body now and in the reference, where it has one. Negative: no memory. */
static int view_point(const struct mech_model *m, const struct mech_item *item,
                      struct mech_pose pose[2], struct mech_view *v)
{
    const bool flexible = item->type->category == MECH_NODE ? item->type->ops.node->flexible
                                                            : item->type->ops.object->flexible;

    const struct mech_seat seat = {
        .item = item, .slot = v->slot, .q_slot = v->q_slot, .n = v->n, .nq = v->nq};
    const struct mech_eval reference =
        mech_model_point(m, NULL, 0., m->kinematics.q_ref, m->kinematics.zeros);

    for (int k = 0; k < 2; k++) {
        const struct mech_eval *const e = k ? &reference : &v->at;

        pose[k] =
            (struct mech_pose){.R = {[0] = 1., [4] = 1., [8] = 1.}, .n = v->n, .slot = v->slot};
        if (flexible) {
            MECH_TRY(mech_flex_new(mech_model_scratch(m), v->n, &pose[k].flex));
        }
        if (item->type->category == MECH_NODE) {
            item->type->ops.node->pose(item->description, &seat, e, &pose[k]);
        } else {
            item->type->ops.object->pose(item->description, &seat, e, v->local, &pose[k]);
        }
        if (flexible) {
            mech_flex_close(&pose[k], e->v);
        }
        v->pose[k] = &pose[k];
    }
    return 0;
}

/* The one coordinate of a marker. */
static int coordinate_output(const struct mech_view *v, enum mech_output variable, size_t capacity,
                             double *values, size_t *count)
{
    const struct mech_pose *const pose = v->pose[0];
    double x = variable == MECH_OUTPUT_COORDINATES ? pose->p[0] : pose->v[0];

    if (variable == MECH_OUTPUT_COORDINATES_TT) {
        double a[6];

        if (!v->vdot) {
            return MECH_UNSUPPORTED;
        }
        mech_pose_bias(pose, a);
        x = a[0];
        for (int32_t k = 0; k < pose->n; k++) {
            x += pose->J[0][k] * v->vdot[pose->slot[k]];
        }
    }
    *count = 1;
    if (capacity) {
        values[0] = x;
    }
    return 0;
}

/* Loads: what acts now. */
static int load_output(const struct mech_model *m, const struct mech_state *s, int32_t index,
                       size_t capacity, double *values, size_t *count)
{
    const struct mech_item *const item = &m->document->loads.at[index];
    const int32_t size = item->type->ops.load->size;

    *count = (size_t)size;
    for (size_t k = 0; k < *count && k < capacity; k++) {
        values[k] =
            mech_model_channel_value(m, s, (size_t)m->terms.loads[index].channel + k, s->at->time);
    }
    return 0;
}

/* Markers: what they move with. Coordinates of first-order nodes have no pose. */
static int marker_output(const struct mech_model *m, const struct mech_state *s,
                         const struct mech_output_request *r, size_t capacity, double *values,
                         size_t *count)
{
    const struct mech_marker_map *const map = &m->kinematics.markers[r->index];
    const struct mech_seat *const seat = &m->kinematics.marker_seats[r->index];
    const bool many = map->kind == MECH_MARKER_COORDINATES;
    struct mech_view v = view_of(m, s, r, &(struct mech_seat_of){.first_order = map->first_order});

    v.slot = many ? seat->slot : map->slot;
    v.q_slot = many ? seat->q_slot : map->slot;
    v.n = many ? seat->n : map->n;
    v.nq = many ? seat->nq : map->n;
    if (many || map->first_order) {
        return mech_coordinate_output(&v, r->variable, capacity, values, count);
    }
    const struct mech_eval reference =
        mech_model_point(m, NULL, 0., m->kinematics.q_ref, m->kinematics.zeros);
    mech_model_pose_marker(m, r->index, &reference);
    const struct mech_pose before = m->kinematics.poses[r->index];
    if (r->variable == MECH_OUTPUT_ROTATION && before.counted) {
        const struct mech_eval start =
            mech_model_point(m, NULL, 0., m->kinematics.q0, m->kinematics.zeros);

        mech_model_pose_marker(m, r->index, &start);
        v.start = m->kinematics.poses[r->index].turned;
    }
    mech_model_pose_marker(m, r->index, &v.at);
    v.pose[0] = &m->kinematics.poses[r->index];
    v.pose[1] = &before;
    return map->kind == MECH_MARKER_COORDINATE
               ? coordinate_output(&v, r->variable, capacity, values, count)
               : mech_pose_output(NULL, &v, r->variable, capacity, values, count);
}

uint32_t mech_model_item_outputs(const struct mech_model *m, enum mech_category category,
                                 int32_t index)
{
    const struct mech_items *const items = mech_document_items(m->document, category);

    if (!items || index < 0 || (size_t)index >= items->n) {
        return 0;
    }
    return category == MECH_SENSOR ? mech_output_bit(m->channels.sensors[index].variable)
                                   : mech_item_type_outputs(items->at[index].type);
}

/* What a sensor of Rotation measures now: angles that count turns. */
static int rotation_output(const struct mech_model *m, const struct mech_state *s, int32_t sensor,
                           size_t capacity, double *values, size_t *count)
{
    struct mech_output_request measured = m->channels.sensors[sensor];
    double angles[3] = {0.};

    measured.configuration = MECH_CURRENT;
    const int code = mech_model_item_output(m, s, &measured, 3, angles, count);
    if (code == 0) {
        mech_turns_measured(m, s, (size_t)sensor, *count, angles);
    }
    for (size_t k = 0; code == 0 && k < *count && k < capacity; k++) {
        values[k] = angles[k];
    }
    return code;
}

/* Of a node or object; what it needs stays in the model's scratch. */
static int item_output(const struct mech_model *m, const struct mech_state *s,
                       const struct mech_output_request *r, size_t capacity, double *values,
                       size_t *count)
{
    if (r->category == MECH_SENSOR) {
        struct mech_output_request measured = m->channels.sensors[r->index];

        measured.configuration = r->configuration;
        if (measured.variable == MECH_OUTPUT_ROTATION && r->configuration == MECH_CURRENT && s) {
            return rotation_output(m, s, r->index, capacity, values, count);
        }
        return mech_model_item_output(m, s, &measured, capacity, values, count);
    }
    if (r->category == MECH_MARKER) {
        return marker_output(m, s, r, capacity, values, count);
    }
    const bool node = r->category == MECH_NODE;
    const struct mech_seat_of *const on =
        node ? &m->kinematics.nodes[r->index] : &m->kinematics.objects[r->index];
    struct mech_view view = view_of(m, s, r, on);

    if (on->first_order && r->configuration == MECH_START_OF_STEP) {
        return MECH_UNSUPPORTED;
    }
    const struct mech_item *const item =
        node ? &m->document->nodes.at[r->index] : &m->document->objects.at[r->index];
    const bool posed =
        node ? (item->type->ops.node->pose != NULL) : (item->type->ops.object->pose != NULL);
    struct mech_pose pose[2];

    if (posed) {
        MECH_TRY(view_point(m, item, pose, &view));
    }
    if (node) {
        const int code = mech_coordinate_output(&view, r->variable, capacity, values, count);

        return code && posed ? mech_pose_output(item->description, &view, r->variable, capacity,
                                                values, count)
                             : code;
    }
    const struct mech_object_ops *const ops = item->type->ops.object;

    if (ops->equation) {
        struct mech_equation_point point;

        MECH_TRY(view_equation(m, r->index, &point, &view));
        return ops->output(item->description, &view, r->variable, capacity, values, count);
    }
    view_pair(m, r->index, &view);
    return ops->output(item->description, &view, r->variable, capacity, values, count);
}

int mech_model_item_output(const struct mech_model *m, const struct mech_state *s,
                           const struct mech_output_request *r, size_t capacity, double *values,
                           size_t *count)
{
    *count = 0;
    if (!(mech_model_item_outputs(m, r->category, r->index) & mech_output_bit(r->variable))) {
        return MECH_UNSUPPORTED;
    }
    if (r->category == MECH_LOAD) {
        return r->configuration == MECH_CURRENT
                   ? load_output(m, s, r->index, capacity, values, count)
                   : MECH_UNSUPPORTED;
    }
    if (MECH_CONTACT_OUTPUTS & mech_output_bit(r->variable) && r->category == MECH_OBJECT) {
        return mech_touch_output(m, s, r, capacity, values, count);
    }
    struct mech_arena *const scratch = mech_model_scratch(m);
    const struct mech_arena_mark mark = mech_arena_mark(scratch);
    const int code = item_output(m, s, r, capacity, values, count);

    mech_arena_release(scratch, mark);
    return code;
}

void mech_model_output_values(const struct mech_model *m, const struct mech_state *s, size_t i,
                              double *values)
{
    const struct mech_output_of *const o = &m->channels.output_of[i];
    double whole[16];
    size_t count = 0;

    if (o->component < 0) {
        (void)mech_model_item_output(m, s, &o->request, (size_t)m->channels.outputs[i].size, values,
                                     &count);
        return;
    }
    /* one component: through a small buffer, or by a single coordinate of a long vector */
    if (o->component < (int32_t)(sizeof whole / sizeof *whole)) {
        (void)mech_model_item_output(m, s, &o->request, (size_t)o->component + 1, whole, &count);
        values[0] = whole[o->component];
        return;
    }
    if (o->request.category == MECH_MARKER || o->request.category == MECH_SENSOR) {
        struct mech_arena *const scratch = mech_model_scratch(m);
        const struct mech_arena_mark mark = mech_arena_mark(scratch);
        const size_t n = (size_t)o->component + 1;
        double *const long_one = mech_arena_alloc(scratch, n, sizeof *long_one);

        if (long_one) {
            (void)mech_model_item_output(m, s, &o->request, n, long_one, &count);
            values[0] = long_one[o->component];
        }
        mech_arena_release(scratch, mark);
        return;
    }
    const bool node = o->request.category == MECH_NODE;
    const struct mech_seat_of *const on =
        node ? &m->kinematics.nodes[o->request.index] : &m->kinematics.objects[o->request.index];
    const struct mech_seat_of one = {.slot = on->slot + o->component,
                                     .q_slot = on->q_slot + o->component,
                                     .n = 1,
                                     .nq = 1,
                                     .first_order = on->first_order,
                                     .data = on->data,
                                     .record = on->record};
    const struct mech_view view = view_of(m, s, &o->request, &one);

    (void)mech_coordinate_output(&view, o->request.variable, 1, values, &count);
}
