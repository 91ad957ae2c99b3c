/* Terminals of FMUs: variables by the place that they act on or move with. */
#include "protocol/fmi/terminals.h"

#include "protocol/fmi/xml.h"
#include "solver/base/err.h"
#include "solver/items/document.h"
#include "solver/items/ops.h"

#include <stdio.h>
#include <string.h>

enum { NAME_ROOM = MECH_NAME_MAX + 32 };

/* What inputs act on and outputs are measured at. */
struct place {
    enum mech_category category; /* MECH_OBJECT, MECH_NODE; a marker that is like no other place */
    int32_t index;
    double local[3]; /* m, in the body's frame */
};

struct terminal {
    struct place place;
    const char *name;
    const struct mech_item *called; /* whose name it has */
    int32_t first, last;            /* of its variables */
};

/* What a variable is within its terminal. */
struct member {
    int32_t next; /* variable of the same terminal, -1: none */
    const char *name;
    bool flow;
};

struct writer {
    const struct mechp_fmi_layout *layout;
    const struct mech_sim *sim;
    const struct mech_document *document;
    struct mech_arena arena;
    int32_t *body_of;       /* [nodes] the body of that node alone, or -1 */
    struct member *members; /* [layout->n] */
    struct terminal *all;   /* [n] */
    size_t n;
};

/* What is known of one variable before its terminal is. */
struct found {
    struct place place;
    const struct mech_item *called;
    const char *quantity;
    int32_t element; /* from 0 on */
    bool is_element; /* of a vector */
    bool flow;
};

/* --- places ----------------------------------------------------------------------------------- */

/* The member of a description that its table calls so, or NULL. */
static const void *field_of(const struct mech_item *item, const char *name, enum mech_kind kind)
{
    const struct mech_field *const f = mech_table_find(&item->type->table, name);

    return f && f->kind == kind ? (const char *)item->description + f->offset : NULL;
}

static void find_bodies(struct writer *s)
{
    const struct mech_items *const objects = &s->document->objects;

    for (size_t i = 0; i < s->document->nodes.n; i++) {
        s->body_of[i] = -1;
    }
    for (size_t i = 0; i < objects->n; i++) {
        const struct mech_object_ops *const ops = objects->at[i].type->ops.object;
        struct mech_attachment on = {.n = 0};

        if (ops->body && ops->pose && ops->nodes) {
            ops->nodes(objects->at[i].description, &on);
        }
        if (on.n == 1) {
            s->body_of[on.refs->index] = (int32_t)i;
        }
    }
}

static void at_object(const struct writer *s, int32_t object, const double *local, struct found *f)
{
    f->place = (struct place){.category = MECH_OBJECT, .index = object};
    f->called = &s->document->objects.at[object];
    if (local) {
        memcpy(f->place.local, local, sizeof f->place.local);
    }
}

static void at_node(const struct writer *s, int32_t node, struct found *f)
{
    if (s->body_of[node] >= 0) {
        at_object(s, s->body_of[node], NULL, f);
        return;
    }
    f->place = (struct place){.category = MECH_NODE, .index = node};
    f->called = &s->document->nodes.at[node];
}

/* False: the ground. */
static bool at_marker(const struct writer *s, int32_t marker, struct found *f)
{
    const struct mech_item *const item = &s->document->markers.at[marker];
    const struct mech_marker_ops *const ops = item->type->ops.marker;
    enum mech_category category = MECH_OBJECT;
    const struct mech_ref *const seat = ops->seat ? ops->seat(item->description, &category) : NULL;

    if (!seat) {
        return false;
    }
    const bool is_point = ops->kind == MECH_MARKER_POSITION || ops->kind == MECH_MARKER_RIGID;
    if (!is_point && ops->kind != MECH_MARKER_COORDINATE) {
        f->place = (struct place){.category = MECH_MARKER, .index = marker};
        f->called = item;
        return true;
    }
    if (category == MECH_NODE) {
        at_node(s, seat->index, f);
    } else {
        at_object(s, seat->index, field_of(item, "localPosition", MECH_REALS), f);
    }
    f->called = is_point ? item : f->called;
    return true;
}

static bool is_same(const struct place *a, const struct place *b)
{
    return a->category == b->category && a->index == b->index && a->local[0] == b->local[0] &&
           a->local[1] == b->local[1] && a->local[2] == b->local[2];
}

/* --- variables -------------------------------------------------------------------------------- */

/* Which one of its node's coordinates a marker is. */
static void find_coordinate(const struct writer *s, int32_t marker, struct found *f)
{
    const struct mech_item *const item = &s->document->markers.at[marker];
    enum mech_category category = MECH_OBJECT;
    const struct mech_ref *const seat = item->type->ops.marker->seat(item->description, &category);
    const int32_t *const which = field_of(item, "coordinate", MECH_INT);

    f->element = which ? *which : 0;
    if (which && category == MECH_NODE) {
        const struct mech_item *const node = &s->document->nodes.at[seat->index];

        f->is_element = node->type->ops.node->size(node->description) > 1;
    }
}

/* Which element of a channel a variable is; component: that the channel is of a vector, or -1. */
static void find_element(const struct writer *s, const struct mechp_fmi_variable *v,
                         int32_t component, struct found *f)
{
    struct mech_variable channel;

    mech_sim_variable(s->sim, v->causality, (size_t)v->channel, &channel);
    f->element = component >= 0 ? component : v->first;
    f->is_element = component >= 0 || (v->scalar && !channel.scalar);
}

static enum mech_marker_kind kind_of(const struct writer *s, int32_t marker)
{
    return s->document->markers.at[marker].type->ops.marker->kind;
}

static bool find_input(const struct writer *s, const struct mechp_fmi_variable *v, struct found *f)
{
    const struct mech_input *const in =
        (const struct mech_input *)s->document->inputs.at + v->channel;
    int32_t marker = in->marker.index;

    if (in->parameter) {
        return false;
    }
    if (in->load.name) {
        const struct mech_item *const load = &s->document->loads.at[in->load.index];

        marker = load->type->ops.load->marker(load->description)->index;
    }
    const enum mech_marker_kind kind = kind_of(s, marker);
    if (kind == MECH_MARKER_MASS || !at_marker(s, marker, f)) {
        return false;
    }
    const bool torque = strcmp(v->unit, mech_output_unit(MECH_OUTPUT_TORQUE)) == 0;
    f->quantity = mech_output_name(torque ? MECH_OUTPUT_TORQUE : MECH_OUTPUT_FORCE);
    f->flow = kind == MECH_MARKER_COORDINATE || kind == MECH_MARKER_ROTATION;
    if (kind == MECH_MARKER_COORDINATE) {
        find_coordinate(s, marker, f);
    } else if (!f->flow) {
        find_element(s, v, in->component, f);
        f->element %= 3; /* moments behind forces */
    }
    return true;
}

/* Where a sensor measures; false: not at one place. */
static bool at_sensor(const struct writer *s, const struct mech_item *sensor, struct found *f)
{
    const struct mech_sensor_ops *const ops = sensor->type->ops.sensor;
    const int32_t index = ops->ref(sensor->description)->index;

    if (ops->target == MECH_MARKER) {
        return at_marker(s, index, f);
    }
    if (ops->target == MECH_NODE) {
        at_node(s, index, f);
        return true;
    }
    if (ops->target != MECH_OBJECT) {
        return false;
    }
    const struct mech_object_ops *const object = s->document->objects.at[index].type->ops.object;
    at_object(s, index, ops->local ? ops->local(sensor->description) : NULL, f);
    return object->pose || object->system;
}

static bool find_output(const struct writer *s, const struct mechp_fmi_variable *v, struct found *f)
{
    const struct mech_output_channel *const listed = s->document->outputs.at;
    const struct mech_item *const sensor =
        &s->document->sensors.at[listed ? listed[v->channel].sensor.index : v->channel];
    bool first_order;
    const enum mech_output variable = mech_sim_output_variable(s->sim, v->channel, &first_order);

    if (v->direct || first_order || !at_sensor(s, sensor, f)) {
        return false;
    }
    const struct mech_sensor_ops *const ops = sensor->type->ops.sensor;
    const int32_t index = ops->ref(sensor->description)->index;
    f->quantity = mech_output_name(variable);
    if (ops->target == MECH_MARKER && kind_of(s, index) == MECH_MARKER_COORDINATE) {
        find_coordinate(s, index, f);
    } else {
        find_element(s, v, listed ? listed[v->channel].component : -1, f);
    }
    return true;
}

/* --- terminals -------------------------------------------------------------------------------- */

static bool is_called(const struct writer *s, const char *name)
{
    for (size_t i = 0; i < s->n; i++) {
        if (strcmp(s->all[i].name, name) == 0) {
            return true;
        }
    }
    return false;
}

/* The terminal at that place, which is made if there is none. NULL: no memory. */
static struct terminal *terminal_at(struct writer *s, const struct found *f)
{
    char name[NAME_ROOM];

    for (size_t i = 0; i < s->n; i++) {
        if (is_same(&s->all[i].place, &f->place)) {
            return &s->all[i];
        }
    }
    snprintf(name, sizeof name, "%s", f->called->name);
    for (int k = 2; is_called(s, name); k++) {
        snprintf(name, sizeof name, "%s:%d", f->called->name, k);
    }
    struct terminal *const t = &s->all[s->n];
    *t = (struct terminal){.place = f->place,
                           .name = mech_arena_strdup(&s->arena, name),
                           .called = f->called,
                           .first = -1,
                           .last = -1};
    if (!t->name) {
        return NULL;
    }
    s->n++;
    return t;
}

static int add(struct writer *s, int32_t variable, const struct found *f)
{
    struct terminal *const t = terminal_at(s, f);
    struct member *const m = &s->members[variable];
    char name[NAME_ROOM];

    if (!t) {
        return MECH_NO_MEMORY;
    }
    if (f->is_element) {
        snprintf(name, sizeof name, "%s[%d]", f->quantity, (int)(f->element + 1));
    } else {
        snprintf(name, sizeof name, "%s", f->quantity);
    }
    for (int32_t k = t->first; k >= 0; k = s->members[k].next) {
        if (strcmp(s->members[k].name, name) == 0) {
            return 0;
        }
    }
    *m = (struct member){.next = -1, .name = mech_arena_strdup(&s->arena, name), .flow = f->flow};
    if (!m->name) {
        return MECH_NO_MEMORY;
    }
    if (t->last >= 0) {
        s->members[t->last].next = variable;
    } else {
        t->first = variable;
    }
    t->last = variable;
    return 0;
}

static int find_all(struct writer *s)
{
    const size_t n = s->layout->n, nodes = s->document->nodes.n;

    s->body_of = mech_arena_alloc(&s->arena, nodes + 1, sizeof *s->body_of);
    s->members = mech_arena_alloc(&s->arena, n, sizeof *s->members);
    s->all = mech_arena_alloc(&s->arena, n, sizeof *s->all);
    if (!s->body_of || !s->members || !s->all) {
        return MECH_NO_MEMORY;
    }
    find_bodies(s);
    for (size_t i = 0; i < n; i++) {
        const struct mechp_fmi_variable *const v = &s->layout->at[i];
        struct found f = {.flow = false};

        if ((v->causality == MECH_INPUT && find_input(s, v, &f)) ||
            (v->causality == MECH_OUTPUT_VARIABLE && find_output(s, v, &f))) {
            MECH_TRY(add(s, (int32_t)i, &f));
        }
    }
    return 0;
}

/* --- text ------------------------------------------------------------------------------------- */

static void write_terminal(const struct writer *s, const struct terminal *t, struct mechp_text *w)
{
    static const char *const kinds[] = {
        [MECH_NODE] = "node", [MECH_OBJECT] = "object", [MECH_MARKER] = "marker"};
    char text[NAME_ROOM];

    snprintf(text, sizeof text, "%s \"%s\"", kinds[t->called->type->category], t->called->name);
    mechp_xml_open(w, 2, "Terminal");
    mechp_xml_text(w, "name", t->name);
    mechp_xml_text(w, "matchingRule", "bus");
    mechp_xml_text(w, "description", text);
    mechp_xml_inside(w);
    for (int32_t k = t->first; k >= 0; k = s->members[k].next) {
        mechp_xml_open(w, 3, "TerminalMemberVariable");
        mechp_xml_text(w, "variableName", s->layout->at[k].name);
        mechp_xml_text(w, "memberName", s->members[k].name);
        mechp_xml_text(w, "variableKind", s->members[k].flow ? "inflow" : "signal");
        mechp_xml_close(w);
    }
    mechp_xml_end(w, 2, "Terminal");
}

static void write(const struct writer *s, struct mechp_text *w)
{
    static const char declaration[] = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n";

    mechp_text_plain(w, declaration, sizeof declaration - 1);
    mechp_xml_open(w, 0, "fmiTerminalsAndIcons");
    mechp_xml_text(w, "fmiVersion", "3.0");
    mechp_xml_inside(w);
    mechp_xml_open(w, 1, "Terminals");
    mechp_xml_inside(w);
    for (size_t i = 0; i < s->n; i++) {
        write_terminal(s, &s->all[i], w);
    }
    mechp_xml_end(w, 1, "Terminals");
    mechp_xml_end(w, 0, "fmiTerminalsAndIcons");
}

int mechp_fmi_terminals(const struct mechp_fmi_layout *layout, const struct mech_sim *sim,
                        struct mechp_text *w)
{
    struct writer s = {.layout = layout, .sim = sim, .document = mech_sim_document(sim)};

    mech_arena_init(&s.arena, SIZE_MAX);
    const int code = find_all(&s);
    if (code == 0 && s.n > 0) {
        write(&s, w);
    }
    mech_arena_fini(&s.arena);
    return code ? code : w->failed ? MECH_NO_MEMORY : 0;
}
