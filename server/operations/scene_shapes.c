/* The parts of a compiled shape determine how it is drawn; its type is not used. */
#include "server/operations/scene_shapes.h"

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
    mechp_text_object(w);
    mechp_text_key(w, "shape");
    mechp_text_string(w, mech_graphic_shapes[g->shape]);
    mechp_text_key(w, "center");
    mechp_text_numbers(w, g->center, 3);
    mechp_text_key(w, "size");
    mechp_text_numbers(w, g->size, 3);
    mechp_text_key(w, "radius");
    mechp_text_number(w, g->radius);
    mechp_text_key(w, "color");
    mechp_text_numbers(w, g->color, 4);
    mechp_text_end(w);
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

static void open_graphic(const char *shape, const struct placed *at, struct mechp_text *w)
{
    mechp_text_object(w);
    mechp_text_key(w, "shape");
    mechp_text_string(w, shape);
    mechp_text_key(w, "center");
    mechp_text_numbers(w, at->p, 3);
    mechp_text_key(w, "color");
    mechp_text_numbers(w, at->color, 4);
}

static void write_plane(const struct mech_shape *s, const struct placed *at, struct mechp_text *w)
{
    double normal[3];
    open_graphic("Plane", at, w);
    turn(at->R, s->normal, normal);
    mechp_text_key(w, "normal");
    mechp_text_numbers(w, normal, 3);
    mechp_text_end(w);
}

static void write_triangle(int32_t a, int32_t b, int32_t c, struct mechp_text *w)
{
    mechp_text_array(w);
    mechp_text_integer(w, a);
    mechp_text_integer(w, b);
    mechp_text_integer(w, c);
    mechp_text_end(w);
}

static void open_mesh(const double *vertex, int32_t n, const struct placed *at,
                      struct mechp_text *w)
{
    open_graphic("Mesh", at, w);
    mechp_text_key(w, "points");
    mechp_text_array(w);
    for (int32_t i = 0; i < n; i++) {
        double p[3];
        point_of(at, vertex + 3 * i, p);
        mechp_text_numbers(w, p, 3);
    }
    mechp_text_end(w);
    mechp_text_key(w, "triangles");
    mechp_text_array(w);
}

/* Faces as fans of triangles. */
static void write_hull(const struct mech_polyhedron *hull, const struct placed *at,
                       struct mechp_text *w)
{
    open_mesh(hull->vertex, hull->vertices, at, w);
    for (int32_t f = 0; f < hull->faces; f++) {
        const int32_t *const face = hull->face + hull->face_start[f];
        const int32_t n = hull->face_start[f + 1] - hull->face_start[f];
        for (int32_t k = 2; k < n; k++) {
            write_triangle(face[0], face[k - 1], face[k], w);
        }
    }
    mechp_text_end(w);
    mechp_text_end(w);
}

static void write_mesh(const struct mech_shape *s, const struct placed *at, struct mechp_text *w)
{
    if (s->triangles > TRIANGLES_MOST) {
        write_box(s->low, s->high, at, w);
        return;
    }
    open_mesh(s->vertex, s->vertices, at, w);
    for (int32_t i = 0; i < s->triangles; i++) {
        const int32_t *const t = s->triangle + 3 * i;
        write_triangle(t[0], t[1], t[2], w);
    }
    mechp_text_end(w);
    mechp_text_end(w);
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
