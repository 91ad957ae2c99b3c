/* GET …/scene: bodies for a viewer, each with position, rotation matrix (row-major) and shapes in
 * its local frame. A body without graphics is drawn by its geometry, and without any by default: a
 * rigid body as the box that has its inertia, a mass or a rotor as a block; one that is a line
 * comes with points on it. Systems of generalized coordinates have no place in space; their
 * coordinates let a viewer draw beads on a line. */
#include "server/operations/scene.h"

#include "protocol/wire/bodies.h"
#include "protocol/wire/bodies_view.h"
#include "server/call/shapes.h"
#include "server/operations/scene_shapes.h"

#include "solver/items/ops.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The visualization of an object's description, or NULL if its type has none. */
static const struct mech_visualization *visualization_of(const struct mech_item *item)
{
    const struct mech_field *field = mech_table_find(&item->type->table, "visualization");
    if (field == NULL || field->kind != MECH_STRUCT || field->table != &mech_visualization_table) {
        return NULL;
    }
    const char *at = item->description;
    return (const struct mech_visualization *)(const void *)(at + field->offset);
}

/* A body without a node does not move: it is drawn by its own shapes only. */
/* A body that is drawn. */
struct body {
    const struct mech_sim *sim;
    size_t object;
    const struct mech_item *item;
    const struct mech_visualization *look;
};

static bool has_node(const struct mech_item *item)
{
    return mech_table_find(&item->type->table, "node") != NULL;
}

enum { VECTOR = 9 };

/* A vector output of a body, into values [VECTOR]; absent if it has none. */
static struct mechp_numbers output_of(const struct body *b, enum mech_output variable,
                                      enum mech_configuration configuration, double *values)
{
    const struct mech_item_query query = {MECH_OBJECT, b->item->name, variable, configuration,
                                          NULL};
    size_t count = 0;
    const bool found =
        mech_sim_item_output(b->sim, &query, VECTOR, values, &count) == 0 && count <= VECTOR;
    return (struct mechp_numbers){found ? values : NULL, count};
}

/* Points along the axis of a body that is a line: [[x, y, z], …]. */
static void write_line(const void *body, struct mechp_text *w)
{
    enum { PARTS = 8 };
    const struct body *const b = body;
    const double part = b->item->type->ops.object->line(b->item->description) / PARTS;
    mechp_text_array(w);
    for (int k = 0; k <= PARTS; k++) {
        const double local[3] = {k * part, 0., 0.};
        double p[3] = {0., 0., 0.};
        size_t count = 0;
        (void)mech_sim_item_output(b->sim,
                                   &(struct mech_item_query){MECH_OBJECT, b->item->name,
                                                             MECH_OUTPUT_POSITION, MECH_CURRENT,
                                                             local},
                                   3, p, &count);
        mechp_text_numbers(w, p, 3);
    }
    mechp_text_end(w);
}

/* The box of even mass with a rigid body's mass and inertia: J_xx = m (b² + c²)/12 about the
 * centre, so a² = 6 (J_yy + J_zz − J_xx)/m. In the plane there is J_zz alone: a rod, ten times as
 * long as wide. False: the item has other fields. */
static bool inertia_box(const struct mech_item *item, struct mech_graphic *g)
{
    const struct mech_table *const table = &item->type->table;
    const struct mech_field *const mass = mech_table_find(table, "physicsMass");
    const struct mech_field *const inertia = mech_table_find(table, "physicsInertia");
    const struct mech_field *const center = mech_table_find(table, "physicsCenterOfMass");
    const char *const at = item->description;
    if (mass == NULL || inertia == NULL || mass->kind != MECH_REAL) {
        return false;
    }
    double m, J[3], c[3] = {0., 0., 0.};
    memcpy(&m, at + mass->offset, sizeof m);
    if (center != NULL && center->kind == MECH_REALS && center->count == 3) {
        memcpy(c, at + center->offset, sizeof c);
        memcpy(g->center, c, sizeof c);
    }
    if (inertia->kind == MECH_REAL && m > 0.) {
        memcpy(J, at + inertia->offset, sizeof *J);
        const double length = sqrt(12. * J[0] / (1.01 * m));
        memcpy(g->size, (double[3]){length, 0.1 * length, 0.1 * length}, sizeof g->size);
        return length > 0.;
    }
    if (inertia->kind != MECH_REALS || inertia->count != 6 || !(m > 0.)) {
        return false;
    }
    memcpy(J, at + inertia->offset, sizeof J);
    const double sum = c[0] * c[0] + c[1] * c[1] + c[2] * c[2];
    double longest = 0.;
    for (int i = 0; i < 3; i++) {
        J[i] -= m * (sum - c[i] * c[i]);
    }
    for (int i = 0; i < 3; i++) {
        const double square = 6. * (J[(i + 1) % 3] + J[(i + 2) % 3] - J[i]) / m;
        g->size[i] = sqrt(fmax(square, 0.));
        longest = fmax(longest, g->size[i]);
    }
    // an edge that can be seen, where the tensor leaves none
    for (int i = 0; i < 3; i++) {
        g->size[i] = fmax(g->size[i], 0.05 * longest);
    }
    return longest > 0.;
}

/* The shapes by which a body touches others; false: it has none. */
static bool write_geometry(const struct mech_sim *sim, size_t object, const double color[4],
                           struct mechp_text *w)
{
    const struct mech_item *const item = &mech_sim_document(sim)->objects.at[object];
    const size_t offset = item->type->ops.object->geometry;
    const struct mech_items *const geometry =
        offset == 0 ? NULL : (const void *)((const char *)item->description + offset);
    size_t k = 0;
    for (; geometry != NULL && k < geometry->n; k++) {
        const struct mech_shape *const shape = mech_sim_shape(sim, object, k);
        double p[3], R[9];
        if (shape != NULL) {
            mech_shape_frame(geometry->at[k].description, p, R);
            mechd_scene_shape(shape, p, R, color, w);
        }
    }
    return k > 0;
}

static void write_graphics(const void *body, struct mechp_text *w)
{
    const struct body *const b = body;
    const struct mech_visualization *const look = b->look;
    // the default block: light grey, 0.1 m
    static const struct mech_graphic block = {.size = {0.1, 0.1, 0.1}, .color = {.6, .6, .6, 1.}};
    mechp_text_array(w);
    const struct mech_graphic *graphics = look->graphics.at;
    for (size_t k = 0; k < look->graphics.n; k++) {
        mechd_scene_graphic(&graphics[k], w);
    }
    const bool drawn = look->graphics.n > 0 || write_geometry(b->sim, b->object, look->color, w);
    if (!drawn && has_node(b->item)) {
        struct mech_graphic g = block;
        if (!inertia_box(b->item, &g)) {
            g = block;
        }
        memcpy(g.color, look->color, sizeof g.color);
        mechd_scene_graphic(&g, w);
    }
    mechp_text_end(w);
}

static void write_body(const struct body *b, struct mechp_text *w)
{
    double values[3][VECTOR];
    const struct mechp_numbers position =
                                   output_of(b, MECH_OUTPUT_POSITION, MECH_CURRENT, values[0]),
                               rotation = output_of(b, MECH_OUTPUT_ROTATION_MATRIX, MECH_CURRENT,
                                                    values[1]),
                               reference =
                                   output_of(b, MECH_OUTPUT_POSITION, MECH_REFERENCE, values[2]),
                               color = {b->look->color, 4};
    const struct mechp_body_scene_body body = {
        .name = b->item->name,
        .type = b->item->type->name,
        .position = mechd_numbers_part(&position),
        .rotation = mechd_numbers_part(&rotation),
        .reference = mechd_numbers_part(&reference),
        .line.written = {b->item->type->ops.object->line != NULL ? write_line : NULL, b},
        .fixed = !has_node(b->item),
        .color = mechd_numbers_part(&color),
        .graphics.written = {write_graphics, b}};
    MECHP_WRITE(scene_body, &body, w);
}

/* Coordinates of an object that has no position: reference plus displacement. */
static void write_system(struct mechd_call *c, const struct mech_sim *sim,
                         const struct mech_item *item)
{
    struct mech_item_query query = {MECH_OBJECT, item->name, MECH_OUTPUT_COORDINATES, MECH_CURRENT,
                                    NULL};
    size_t n = 0;
    mech_sim_item_output(sim, &query, 0, NULL, &n);
    double *u = mechd_doubles(c, 2 * n);
    if (u == NULL) {
        return;
    }
    double *reference = u + n;
    size_t same = 0;
    if (mech_sim_item_output(sim, &query, n, u, &n) != 0) {
        n = 0;
    }
    query.configuration = MECH_REFERENCE;
    if (mech_sim_item_output(sim, &query, n, reference, &same) == 0 && same == n) {
        for (size_t k = 0; k < n; k++) {
            u[k] += reference[k];
        }
    }
    const struct mechp_body_scene_system body = {
        .name = item->name, .type = item->type->name, .coordinates = {u, n}};
    MECHP_WRITE(scene_system, &body, &c->text);
    free(u);
}

static bool is_system(const struct mech_sim *sim, const struct mech_item *item)
{
    const uint32_t outputs = mech_sim_item_outputs(sim, MECH_OBJECT, item->name);
    return (outputs & 1u << MECH_OUTPUT_COORDINATES) != 0 &&
           (outputs & 1u << MECH_OUTPUT_POSITION) == 0;
}

void mechd_scene_bodies(const struct mech_sim *sim, struct mechp_text *w)
{
    const struct mech_document *d = mech_sim_document(sim);
    mechp_text_array(w);
    for (size_t k = 0; k < d->objects.n; k++) {
        const struct mech_visualization *look = visualization_of(&d->objects.at[k]);
        if (look != NULL && look->show) {
            const struct body body = {sim, k, &d->objects.at[k], look};
            write_body(&body, w);
        }
    }
    mechp_text_end(w);
}

static void write_bodies(const void *sim, struct mechp_text *w)
{
    mechd_scene_bodies(sim, w);
}

static void write_systems(const void *of, struct mechp_text *w)
{
    struct mechd_call *const *const c = of;
    const struct mech_sim *const sim = (*c)->job.instance->sim;
    const struct mech_document *const d = mech_sim_document(sim);
    mechp_text_array(w);
    for (size_t k = 0; k < d->objects.n; k++) {
        if (is_system(sim, &d->objects.at[k])) {
            write_system(*c, sim, &d->objects.at[k]);
        }
    }
    mechp_text_end(w);
}

static enum mechd_progress run_scene(struct mechd_call *c)
{
    const struct mech_sim *const sim = c->job.instance->sim;
    const bool touches = mech_sim_sizes(sim).contact > 0;
    const struct mechp_body_scene body = {.time = mechd_engine_time(&c->job.instance->engine),
                                          .contacts =
                                              touches ? mech_sim_contacts(sim) : MECHP_ABSENT,
                                          .bodies = {write_bodies, sim},
                                          .systems = {write_systems, &c}};
    MECHP_WRITE(scene, &body, &c->text);
    return MECHD_DONE;
}

const struct mechd_operation mechd_operation_SCENE = {.run = run_scene};
