/* The parts of a compiled shape determine how it is drawn; its type is not used. */
#include "server/operations/scene_shapes.h"

#include "protocol/wire/bodies_view.h"
#include "server/call/shapes.h"

#include <math.h>
#include <string.h>

/* More triangles than these are drawn as their bounding box: a scene is asked for many times. */
enum { TRIANGLES_MOST = 5000 };

/* A shape's frame in the body's, and its color. */
struct placed {
    const double *p, *R, *color;
};

void mechd_scene_graphic(const struct mech_graphic *g, struct mechp_text *w)
{
    const struct mechp_numbers center = {g->center, 3}, size = {g->size, 3}, color = {g->color, 4};
    const struct mechp_body_scene_graphic body = {.shape = mech_graphic_shapes[g->shape],
                                                  .center = mechd_numbers_part(&center),
                                                  .size = mechd_numbers_part(&size),
                                                  .radius = g->radius,
                                                  .color = mechd_numbers_part(&color)};
    MECHP_WRITE(scene_graphic, &body, w);
}

static void turn(const double R[9], const double local[3], double out[3])
{
    for (int k = 0; k < 3; k++) {
        out[k] = R[3 * k] * local[0] + R[3 * k + 1] * local[1] + R[3 * k + 2] * local[2];
    }
}

static void point_of(const struct placed *at, const double local[3], double out[3])
{
    turn(at->R, local, out);
    for (int k = 0; k < 3; k++) {
        out[k] += at->p[k];
    }
}

static void difference(const double a[3], const double b[3], double out[3])
{
    for (int k = 0; k < 3; k++) {
        out[k] = a[k] - b[k];
    }
}

static void graphic_of(const struct placed *at, int32_t shape, const double local[3],
                       struct mech_graphic *g)
{
    *g = (struct mech_graphic){.shape = shape};
    point_of(at, local, g->center);
    memcpy(g->color, at->color, sizeof g->color);
}

static void write_sphere(const struct placed *at, const double local[3], double radius,
                         struct mechp_text *w)
{
    struct mech_graphic g;
    graphic_of(at, MECH_GRAPHIC_SPHERE, local, &g);
    g.radius = radius;
    g.size[0] = g.size[1] = g.size[2] = 2. * radius;
    mechd_scene_graphic(&g, w);
}

/* A capsule's ends are round. */
static void write_rod(const struct mech_shape *s, const struct placed *at, struct mechp_text *w)
{
    const double low[3] = {0., 0., -s->half_length}, high[3] = {0., 0., s->half_length};
    struct mech_graphic g;
    double end[3];
    graphic_of(at, MECH_GRAPHIC_CYLINDER, low, &g);
    point_of(at, high, end);
    difference(end, g.center, g.size);
    g.radius = s->radius;
    mechd_scene_graphic(&g, w);
    if (s->rounding > 0.) {
        write_sphere(at, low, s->radius, w);
        write_sphere(at, high, s->radius, w);
    }
}

static void write_box(const double low[3], const double high[3], const struct placed *at,
                      struct mechp_text *w)
{
    struct mech_graphic g;
    double middle[3];
    for (int k = 0; k < 3; k++) {
        middle[k] = 0.5 * (low[k] + high[k]);
    }
    graphic_of(at, MECH_GRAPHIC_BOX, middle, &g);
    difference(high, low, g.size);
    mechd_scene_graphic(&g, w);
}

static void write_plane(const struct mech_shape *s, const struct placed *at, struct mechp_text *w)
{
    double normal[3];
    turn(at->R, s->normal, normal);
    const struct mechp_numbers center = {at->p, 3}, color = {at->color, 4}, n = {normal, 3};
    const struct mechp_body_scene_graphic body = {.shape = "Plane",
                                                  .center = mechd_numbers_part(&center),
                                                  .radius = (double)NAN,
                                                  .color = mechd_numbers_part(&color),
                                                  .normal = mechd_numbers_part(&n)};
    MECHP_WRITE(scene_graphic, &body, w);
}

/* Points and triangles. */
struct mesh {
    const struct placed *at;
    const double *vertex; /* [3 × vertices] */
    int32_t vertices;
    const struct mech_shape *shape;     /* whose triangles they are, or */
    const struct mech_polyhedron *hull; /* whose faces, as fans */
};

static void write_triangle(int32_t a, int32_t b, int32_t c, struct mechp_text *w)
{
    mechp_text_array(w);
    mechp_text_integer(w, a);
    mechp_text_integer(w, b);
    mechp_text_integer(w, c);
    mechp_text_end(w);
}

static void write_points(const void *mesh, struct mechp_text *w)
{
    const struct mesh *const m = mesh;
    mechp_text_array(w);
    for (int32_t i = 0; i < m->vertices; i++) {
        double p[3];
        point_of(m->at, m->vertex + 3 * i, p);
        mechp_text_numbers(w, p, 3);
    }
    mechp_text_end(w);
}

static void write_fans(const void *mesh, struct mechp_text *w)
{
    const struct mech_polyhedron *const hull = ((const struct mesh *)mesh)->hull;
    mechp_text_array(w);
    for (int32_t f = 0; f < hull->faces; f++) {
        const int32_t *const face = hull->face + hull->face_start[f];
        const int32_t n = hull->face_start[f + 1] - hull->face_start[f];
        for (int32_t k = 2; k < n; k++) {
            write_triangle(face[0], face[k - 1], face[k], w);
        }
    }
    mechp_text_end(w);
}

static void write_triangles(const void *mesh, struct mechp_text *w)
{
    const struct mech_shape *const s = ((const struct mesh *)mesh)->shape;
    mechp_text_array(w);
    for (int32_t i = 0; i < s->triangles; i++) {
        const int32_t *const t = s->triangle + 3 * i;
        write_triangle(t[0], t[1], t[2], w);
    }
    mechp_text_end(w);
}

static void write_faces(const struct mesh *m, struct mechp_text *w)
{
    const struct mechp_numbers center = {m->at->p, 3}, color = {m->at->color, 4};
    const struct mechp_body_scene_graphic body = {
        .shape = "Mesh",
        .center = mechd_numbers_part(&center),
        .radius = (double)NAN,
        .color = mechd_numbers_part(&color),
        .points.written = {write_points, m},
        .triangles.written = {m->hull != NULL ? write_fans : write_triangles, m}};
    MECHP_WRITE(scene_graphic, &body, w);
}

static void write_hull(const struct mech_polyhedron *hull, const struct placed *at,
                       struct mechp_text *w)
{
    const struct mesh m = {
        .at = at, .vertex = hull->vertex, .vertices = hull->vertices, .hull = hull};
    write_faces(&m, w);
}

static void write_mesh(const struct mech_shape *s, const struct placed *at, struct mechp_text *w)
{
    const struct mesh m = {.at = at, .vertex = s->vertex, .vertices = s->vertices, .shape = s};
    if (s->triangles > TRIANGLES_MOST) {
        write_box(s->low, s->high, at, w);
    } else {
        write_faces(&m, w);
    }
}

static bool along_axes(const double R[9])
{
    return R[0] == 1. && R[4] == 1. && R[8] == 1.;
}

void mechd_scene_shape(const struct mech_shape *shape, const double p[3], const double R[9],
                       const double color[4], struct mechp_text *w)
{
    static const double origin[3];
    const struct placed at = {p, R, color};
    if (shape->triangles > 0) {
        write_mesh(shape, &at, w);
    } else if (shape->half[0] > 0. && along_axes(R)) {
        write_box(shape->low, shape->high, &at, w);
    } else if (shape->hull.vertices > 0) {
        write_hull(&shape->hull, &at, w);
    } else if (shape->half_length > 0.) {
        write_rod(shape, &at, w);
    } else if (shape->radius > 0.) {
        write_sphere(&at, origin, shape->radius, w);
    } else if (!isfinite(shape->low[0])) {
        write_plane(shape, &at, w);
    }
}
