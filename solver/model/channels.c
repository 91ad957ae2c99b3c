/* The document's inputs and outputs: what each drives or reads, and its place among the packed
 * values. */
#include "solver/base/err.h"
#include "solver/model/internal.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* "/inputs/2/component" */
static void channel_path(const char *list, size_t i, const char *field, char *path, size_t size)
{
    snprintf(path, size, "/%s/%zu%s%s", list, i, field ? "/" : "", field ? field : "");
}

/* The range of components that a channel covers: all of `size`, or one. */
static bool component_range(int32_t component, int32_t size, int32_t *first, int32_t *count)
{
    *first = component < 0 ? 0 : component;
    *count = component < 0 ? size : 1;
    return component < size;
}

static int32_t marker_size(enum mech_marker_kind kind)
{
    const bool one = kind == MECH_MARKER_COORDINATE || kind == MECH_MARKER_ROTATION;

    return one ? 1 : kind == MECH_MARKER_RIGID ? 6 : 3;
}

/* A separate channel of forces for component r at a marker. */
static int marker_channel(struct mech_model *m, int32_t marker, int32_t r)
{
    const struct mech_marker_map *const map = &m->kinematics.markers[marker];
    struct mech_channel *const c = mech_channel_new(m);

    if (!c) {
        return MECH_NO_MEMORY;
    }
    c->category = MECH_MARKER;
    c->item = marker;
    c->first_order = map->first_order;
    if (map->moving) {
        struct mech_moving_load load = {.moving = m->kinematics.moving_of[marker],
                                        .channel = (int32_t)m->channels.count - 1};

        load.w[r] = 1.;
        return mech_moving_load_new(m, &load);
    }
    for (int32_t i = 0; i < map->n; i++) {
        MECH_TRY(mech_channel_entry(m, map->slot[i], map->J[r][i]));
    }
    return 0;
}

/* Which kind of input it is; false with a fault when not exactly one target is named. */
static bool input_kind(const struct mech_input *in, size_t i, enum mech_input_kind *kind,
                       struct mech_diag *diag)
{
    const int named = (in->load.name != NULL) + (in->marker.name != NULL) + (in->parameter != NULL);

    if (named != 1) {
        char path[MECH_DIAG_PATH];

        channel_path("inputs", i, NULL, path, sizeof path);
        mech_diag_add(diag, path, "needs exactly one of load, marker, parameter");
        return false;
    }
    *kind = in->load.name     ? MECH_INPUT_LOAD
            : in->marker.name ? MECH_INPUT_MARKER
                              : MECH_INPUT_PARAMETER;
    return true;
}

/* Drive the channels of a load's components. */
static void drive_load(struct mech_model *m, const struct mech_input *in, size_t i, int32_t first,
                       int32_t offset, struct mech_diag *diag)
{
    const int32_t count = m->channels.inputs[i].size;

    for (int32_t k = 0; k < count; k++) {
        const int32_t channel = m->terms.loads[in->load.index].channel + first + k;

        if (m->channels.at[channel].input >= 0) {
            char path[MECH_DIAG_PATH];

            channel_path("inputs", i, "load", path, sizeof path);
            mech_diag_add(diag, path, "another input sets component %d of this load already",
                          (int)(first + k));
        }
        m->channels.at[channel].input = offset + k;
        m->channels.input_channel[offset + k] = channel;
    }
}

static int32_t find_parameter(const struct mech_model *m, const char *name)
{
    for (size_t p = 0; p < m->document->parameters.n; p++) {
        if (strcmp(m->document->parameters.at[p].name, name) == 0) {
            return (int32_t)p;
        }
    }
    return -1;
}

/* Whether the velocity at `slot` turns an object without moving the object's origin. */
static bool turns_object(const struct mech_model *m, int32_t object, int32_t slot)
{
    const struct mech_item *const item = &m->document->objects.at[object];
    const struct mech_seat_of *const on = &m->kinematics.objects[object];
    const struct mech_seat seat = {
        .item = item, .slot = on->slot, .q_slot = on->q_slot, .n = on->n, .nq = on->nq};
    const struct mech_eval e =
        mech_model_point(m, NULL, 0., m->kinematics.q_ref, m->kinematics.zeros);
    struct mech_pose pose = {.n = on->n, .slot = on->slot};
    double moved = 0., turned = 0.;

    if (on->n > MECH_MARKER_SLOTS || !item->type->ops.object->pose) {
        return false;
    }
    item->type->ops.object->pose(item->description, &seat, &e, (double[3]){0.}, &pose);
    for (int32_t k = 0; k < on->n; k++) {
        for (int r = 0; r < 3 && on->slot[k] == slot; r++) {
            moved += fabs(pose.J[r][k]);
            turned += fabs(pose.J[3 + r][k]);
        }
    }
    return turned > 0. && !(moved > 0.);
}

/* The same of a coordinate of a node, which is its body's. */
static bool turns_node(const struct mech_model *m, int32_t node, int32_t slot)
{
    const int32_t object = m->kinematics.body_of[node];

    return object >= 0 && turns_object(m, object, slot);
}

/* The same of the one coordinate of a marker. */
static bool turns(const struct mech_model *m, int32_t marker)
{
    const struct mech_marker_map *const map = &m->kinematics.markers[marker];
    const struct mech_item *const on_it = &m->document->markers.at[marker];
    enum mech_category category = MECH_OBJECT;
    const struct mech_marker_ops *const ops = on_it->type->ops.marker;
    const struct mech_ref *const ref = ops->seat ? ops->seat(on_it->description, &category) : NULL;

    return ref && category == MECH_NODE && map->n == 1 && turns_node(m, ref->index, map->slot[0]);
}

static int add_input(struct mech_model *m, const struct mech_input *in, size_t i,
                     struct mech_diag *diag)
{
    struct mech_channel_info *const info = &m->channels.inputs[i];
    const int32_t offset = m->sizes.input;
    int32_t size = 1, first = 0;
    char path[MECH_DIAG_PATH];

    *info = (struct mech_channel_info){.name = in->name, .offset = offset, .unit = ""};
    if (!input_kind(in, i, &info->kind, diag)) {
        return 0;
    }
    if (info->kind == MECH_INPUT_LOAD) {
        const struct mech_load_ops *const ops =
            m->document->loads.at[in->load.index].type->ops.load;

        const int32_t marker =
            ops->marker(m->document->loads.at[in->load.index].description)->index;

        size = ops->size;
        info->unit =
            mech_output_unit(size == 1 && turns(m, marker) ? MECH_OUTPUT_TORQUE : ops->variable);
    } else if (info->kind == MECH_INPUT_MARKER &&
               m->kinematics.markers[in->marker.index].kind == MECH_MARKER_COORDINATES) {
        channel_path("inputs", i, "marker", path, sizeof path);
        mech_diag_add(diag, path, "a marker of many coordinates does not support forces");
        return 0;
    } else if (info->kind == MECH_INPUT_MARKER) {
        size = marker_size(m->kinematics.markers[in->marker.index].kind);
        const bool torque = in->component >= 3 || (size == 1 && turns(m, in->marker.index));

        info->unit = size == 6 && in->component < 0
                         ? "N, N m"
                         : mech_output_unit(torque ? MECH_OUTPUT_TORQUE : MECH_OUTPUT_FORCE);
    } else {
        info->parameter = find_parameter(m, in->parameter);
        if (info->parameter < 0) {
            channel_path("inputs", i, "parameter", path, sizeof path);
            const struct mech_parameters *const all = &m->document->parameters;
            struct mech_guess g;
            mech_diag_add(diag, path, "there is no parameter \"%s\"%s", in->parameter,
                          mech_hint(&g, in->parameter, all->at, mech_diag_full(diag) ? 0 : all->n,
                                    sizeof *all->at));
            return 0;
        }
    }
    info->scalar = in->component >= 0 || size == 1;
    if (!component_range(in->component, size, &first, &info->size)) {
        channel_path("inputs", i, "component", path, sizeof path);
        mech_diag_add(diag, path, "there is no component %d in a vector of %d", (int)in->component,
                      (int)size);
        return 0;
    }
    m->sizes.input += info->size;
    if (info->kind == MECH_INPUT_LOAD) {
        drive_load(m, in, i, first, offset, diag);
    }
    for (int32_t k = 0; k < info->size && info->kind == MECH_INPUT_MARKER; k++) {
        MECH_TRY(marker_channel(m, in->marker.index, first + k));
        m->channels.at[m->channels.count - 1].input = offset + k;
        m->channels.input_channel[offset + k] = (int32_t)m->channels.count - 1;
    }
    return 0;
}

int mech_inputs(struct mech_model *m, struct mech_diag *diag)
{
    const struct mech_structs *const list = &m->document->inputs;
    const struct mech_input *const in = list->at;

    m->channels.inputs = mech_arena_alloc(&m->arena, list->n, sizeof *m->channels.inputs);
    m->channels.input_channel =
        mech_arena_alloc(&m->arena, 6 * list->n, sizeof *m->channels.input_channel);
    if (!m->channels.inputs || !m->channels.input_channel) {
        return MECH_NO_MEMORY;
    }
    for (size_t i = 0; i < 6 * list->n; i++) {
        m->channels.input_channel[i] = -1;
    }
    for (size_t i = 0; i < list->n; i++) {
        MECH_TRY(add_input(m, &in[i], i, diag));
    }
    return 0;
}

/* --- outputs ---------------------------------------------------------------------------------- */

/* The variable of a sensor; a fault when its target does not have it. */
static void sensor_request(struct mech_model *m, size_t i, struct mech_output_request *r,
                           struct mech_diag *diag)
{
    const struct mech_item *const item = &m->document->sensors.at[i];
    const struct mech_sensor_ops *const ops = item->type->ops.sensor;
    char path[MECH_DIAG_PATH];

    *r = (struct mech_output_request){.category = ops->target,
                                      .index = ops->ref(item->description)->index,
                                      .local = ops->local ? ops->local(item->description) : NULL};
    const struct mech_items *const targets = mech_document_items(m->document, ops->target);
    const struct mech_item *const target = &targets->at[r->index];

    if (ops->body && !target->type->ops.object->pose) {
        mech_item_path(MECH_SENSOR, i, ops->field, path, sizeof path);
        mech_diag_add(diag, path, "\"%s\" is not a body", target->name);
        return;
    }
    r->variable =
        ops->variable ? ops->variable(item->description) : target->type->ops.load->variable;
    if (!(mech_model_item_outputs(m, r->category, r->index) & mech_output_bit(r->variable))) {
        mech_item_path(MECH_SENSOR, i, "outputVariable", path, sizeof path);
        mech_diag_add(diag, path, "%s has no output variable %s", target->type->name,
                      mech_output_name(r->variable));
    }
}

/* Whether all coordinates that a connector joins turn; the ground's do not count. */
static bool joins_turns(const struct mech_model *m, int32_t object)
{
    const struct mech_item *const item = &m->document->objects.at[object];
    struct mech_attachment at = {.n = 0};
    bool any = false;

    if (!item->type->ops.object->markers) {
        return false;
    }
    item->type->ops.object->markers(item->description, &at);
    for (size_t k = 0; k < at.n; k++) {
        const struct mech_marker_map *const map = &m->kinematics.markers[at.refs[k].index];
        const bool turned = turns(m, at.refs[k].index);
        const bool still = map->n == 1 && map->slot[0] == m->sizes.v; /* the ground's slot */

        if (map->kind != MECH_MARKER_COORDINATE || !(turned || still)) {
            return false;
        }
        any = any || turned;
    }
    return any;
}

/* Whether what an output shows, or its component if that is not negative, is of coordinates that
 * turn. */
static bool shows_turns(const struct mech_model *m, const struct mech_output_request *r,
                        int32_t component)
{
    const struct mech_seat_of *const node =
        r->category == MECH_NODE ? &m->kinematics.nodes[r->index] : NULL;

    if (r->category == MECH_MARKER) {
        return m->kinematics.markers[r->index].kind == MECH_MARKER_COORDINATE && turns(m, r->index);
    }
    if (r->category == MECH_OBJECT) {
        return joins_turns(m, r->index);
    }
    if (!node || node->first_order || node->n != node->nq) {
        return false;
    }
    const int32_t first = component < 0 ? 0 : component;
    const int32_t count = component < 0 ? node->n : 1;

    for (int32_t k = first; k < first + count && first + count <= node->n; k++) {
        if (!turns_node(m, r->index, node->slot[k])) {
            return false;
        }
    }
    return count > 0 && first + count <= node->n;
}

/* The unit of an output, "" if it is not known. Variables of coordinates have that of angles where
 * the coordinates turn. */
static const char *output_unit(const struct mech_model *m, const struct mech_output_request *r,
                               int32_t component)
{
    static const struct {
        enum mech_output of, angular;
    } turned[] = {{MECH_OUTPUT_COORDINATES, MECH_OUTPUT_ROTATION},
                  {MECH_OUTPUT_COORDINATES_TOTAL, MECH_OUTPUT_ROTATION},
                  {MECH_OUTPUT_COORDINATES_T, MECH_OUTPUT_ANGULAR_VELOCITY},
                  {MECH_OUTPUT_COORDINATES_TT, MECH_OUTPUT_ANGULAR_ACCELERATION},
                  {MECH_OUTPUT_DISPLACEMENT, MECH_OUTPUT_ROTATION},
                  {MECH_OUTPUT_VELOCITY, MECH_OUTPUT_ANGULAR_VELOCITY},
                  {MECH_OUTPUT_FORCE, MECH_OUTPUT_TORQUE}};
    const char *const unit = mech_output_unit(r->variable);

    for (size_t k = 0; k < sizeof turned / sizeof *turned; k++) {
        const bool of_coordinates = !mech_output_unit(turned[k].of) || r->category == MECH_OBJECT;

        if (turned[k].of == r->variable && of_coordinates && shows_turns(m, r, component)) {
            return mech_output_unit(turned[k].angular);
        }
    }
    return unit ? unit : "";
}

/* The document's outputs; where it has no such list, one a sensor under the sensor's name. */
static int output_list(struct mech_model *m, struct mech_structs *list)
{
    const struct mech_items *const sensors = &m->document->sensors;

    *list = m->document->outputs;
    if (list->at) {
        return 0;
    }
    struct mech_output_channel *const all = mech_arena_alloc(&m->arena, sensors->n, sizeof *all);
    if (!all) {
        return MECH_NO_MEMORY;
    }
    for (size_t i = 0; i < sensors->n; i++) {
        all[i] = (struct mech_output_channel){.name = sensors->at[i].name,
                                              .sensor = {sensors->at[i].name, (int32_t)i},
                                              .component = -1};
    }
    *list = (struct mech_structs){.at = all, .n = sensors->n};
    return 0;
}

enum mech_output mech_model_output_variable(const struct mech_model *m, size_t i, bool *first_order)
{
    const struct mech_output_request *const of = &m->channels.output_of[i].request;
    const struct mech_output_request *const r =
        of->category == MECH_SENSOR ? &m->channels.sensors[of->index] : of;

    *first_order = r->category == MECH_NODE     ? m->kinematics.nodes[r->index].first_order
                   : r->category == MECH_OBJECT ? m->kinematics.objects[r->index].first_order
                   : r->category == MECH_MARKER ? m->kinematics.markers[r->index].first_order
                                                : false;
    return r->variable;
}

int mech_sensors(struct mech_model *m, struct mech_diag *diag)
{
    const size_t n = m->document->sensors.n;

    m->channels.sensors = mech_arena_alloc(&m->arena, n, sizeof *m->channels.sensors);
    if (!m->channels.sensors) {
        return MECH_NO_MEMORY;
    }
    for (size_t i = 0; i < n; i++) {
        sensor_request(m, i, &m->channels.sensors[i], diag);
    }
    return 0;
}

/* An outcome of a sensor's output variable that its type has, and its target here does not. 0 or
 * negative. */
static int output_fault(const struct mech_model *m, int32_t sensor, int code,
                        struct mech_diag *diag)
{
    const struct mech_output_request *const r = &m->channels.sensors[sensor];
    const struct mech_item *const target =
        &mech_document_items(m->document, r->category)->at[r->index];
    char path[MECH_DIAG_PATH];

    if (code < 0) {
        return code;
    }
    mech_item_path(MECH_SENSOR, (size_t)sensor, "outputVariable", path, sizeof path);
    mech_diag_add(diag, path, "\"%s\" has no output variable %s", target->name,
                  mech_output_name(r->variable));
    return 0;
}

int mech_outputs(struct mech_model *m, struct mech_diag *diag)
{
    struct mech_structs given;
    const struct mech_structs *const list = &given;

    MECH_TRY(output_list(m, &given));
    m->channels.output_count = given.n;
    const struct mech_output_channel *const out = list->at;

    m->channels.outputs = mech_arena_alloc(&m->arena, list->n, sizeof *m->channels.outputs);
    m->channels.output_of = mech_arena_alloc(&m->arena, list->n, sizeof *m->channels.output_of);
    if (!m->channels.outputs || !m->channels.output_of) {
        return MECH_NO_MEMORY;
    }
    for (size_t i = 0; i < list->n; i++) {
        const struct mech_output_request *const r = &m->channels.sensors[out[i].sensor.index];
        int32_t first;
        size_t size = 0;

        const int code = mech_model_item_output(m, NULL, r, 0, NULL, &size);
        if (code) {
            MECH_TRY(output_fault(m, out[i].sensor.index, code, diag));
            continue;
        }
        m->channels.outputs[i] =
            (struct mech_channel_info){.name = out[i].name,
                                       .offset = m->channels.output_size,
                                       .scalar = out[i].component >= 0 || size == 1,
                                       .unit = output_unit(m, r, out[i].component)};
        m->channels.output_of[i] = (struct mech_output_of){*r, out[i].component};
        if (m->kinematics.sensor_z && m->kinematics.sensor_z[out[i].sensor.index] >= 0) {
            /* by way of the sensor, which counts turns */
            m->channels.output_of[i].request.category = MECH_SENSOR;
            m->channels.output_of[i].request.index = out[i].sensor.index;
        }
        bool first_order;
        const enum mech_output of = mech_model_output_variable(m, i, &first_order);
        m->channels.outputs[i].kinematic =
            first_order ? MECH_KINEMATIC_NONE : mech_output_kinematic(of);
        if (!component_range(out[i].component, (int32_t)size, &first,
                             &m->channels.outputs[i].size)) {
            char path[MECH_DIAG_PATH];

            channel_path("outputs", i, "component", path, sizeof path);
            mech_diag_add(diag, path, "there is no component %d in a vector of %zu",
                          (int)out[i].component, size);
        }
        m->channels.output_size += m->channels.outputs[i].size;
    }
    return 0;
}
