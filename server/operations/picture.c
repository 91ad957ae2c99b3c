/* Shapes become sets of points in space; these are projected, and the convex hull of each set is
 * its outline. What is farther away is drawn first. */
#include "server/operations/picture.h"

#include "protocol/wire/bodies_view.h"
#include "protocol/wire/json.h"
#include "server/operations/scene.h"
#include "solver/base/err.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    WIDTH = 640,
    HEIGHT = 480,
    MARGIN = 24,
    ROUND = 24,         /* points of a circle */
    SHAPES_MOST = 2000, /* what is beyond is not drawn */
    POINTS_MOST = 200000
};

/* Axes of the picture in space, of unit length: to the right, up, toward the viewer. */
struct view {
    double right[3], up[3], near[3];
};

struct outline {
    size_t first, n; /* of the points */
    double radius;   /* m, a sphere about each point; 0: the points themselves */
    double color[4];
    bool line; /* from one to the next */
    double depth;
};

struct drawing {
    struct outline *shapes; /* [SHAPES_MOST] */
    size_t n;
    double (*points)[3]; /* [POINTS_MOST] m */
    size_t used;
    double p[3], R[9]; /* of the body at work */
};

/* --- from the scene to points ----------------------------------------------------------------- */

/* Up to `most` numbers; false: fewer. */
static bool numbers(const json_t *array, double *out, size_t most)
{
    for (size_t i = 0; i < most; i++) {
        const json_t *const value = json_array_get(array, i);
        if (!json_is_number(value)) {
            return false;
        }
        out[i] = json_number_value(value);
    }
    return true;
}

static void add_point(struct drawing *d, const double local[3])
{
    if (d->used == POINTS_MOST) {
        return;
    }
    double *const out = d->points[d->used++];
    for (int k = 0; k < 3; k++) {
        out[k] = d->p[k] + d->R[3 * k] * local[0] + d->R[3 * k + 1] * local[1] +
                 d->R[3 * k + 2] * local[2];
    }
    d->shapes[d->n].n++;
}

static void add_box(struct drawing *d, const double c[3], const double size[3])
{
    for (int corner = 0; corner < 8; corner++) {
        const double local[3] = {c[0] + (corner & 1 ? 0.5 : -0.5) * size[0],
                                 c[1] + (corner & 2 ? 0.5 : -0.5) * size[1],
                                 c[2] + (corner & 4 ? 0.5 : -0.5) * size[2]};
        add_point(d, local);
    }
}

static void cross(const double a[3], const double b[3], double out[3])
{
    for (int k = 0; k < 3; k++) {
        out[k] = a[(k + 1) % 3] * b[(k + 2) % 3] - a[(k + 2) % 3] * b[(k + 1) % 3];
    }
}

static double length(const double a[3])
{
    return sqrt(a[0] * a[0] + a[1] * a[1] + a[2] * a[2]);
}

/* Both ends, about the axis from c by `axis`. */
static void add_cylinder(struct drawing *d, const double c[3], const double axis[3], double radius)
{
    const double along_x = fabs(axis[0]), whole = length(axis);
    const double other[3] = {along_x < 0.9 * whole ? 1. : 0., along_x < 0.9 * whole ? 0. : 1., 0.};
    double a[3], b[3];

    cross(axis, other, a);
    const double la = length(a);
    if (!(whole > 0.) || !(la > 0.)) {
        return;
    }
    for (int k = 0; k < 3; k++) {
        a[k] /= la;
    }
    cross(axis, a, b);
    for (int i = 0; i < ROUND; i++) {
        const double angle = 2. * acos(-1.) * i / ROUND;
        for (int end = 0; end < 2; end++) {
            double local[3];
            for (int k = 0; k < 3; k++) {
                local[k] =
                    c[k] + end * axis[k] + radius * (cos(angle) * a[k] + sin(angle) * b[k] / whole);
            }
            add_point(d, local);
        }
    }
}

static void add_segment(struct drawing *d, const double c[3], const double along[3])
{
    const double end[3] = {c[0] + along[0], c[1] + along[1], c[2] + along[2]};

    d->shapes[d->n].line = true;
    add_point(d, c);
    add_point(d, end);
}

static void add_mesh(struct drawing *d, const json_t *points)
{
    double point[3];

    for (size_t i = 0; i < json_array_size(points); i++) {
        if (numbers(json_array_get(points, i), point, 3)) {
            add_point(d, point);
        }
    }
}

/* Its place in mech_graphic_shapes, or behind the last: a mesh, a plane. */
static int shape_of(const char *name)
{
    int k = 0;

    while (mech_graphic_shapes[k] != NULL &&
           (name == NULL || strcmp(mech_graphic_shapes[k], name) != 0)) {
        k++;
    }
    return k;
}

static void add_graphic(struct drawing *d, const json_t *graphic)
{
    double c[3] = {0., 0., 0.}, size[3] = {0., 0., 0.};
    struct mechp_body_scene_graphic in;

    if (d->n == SHAPES_MOST) {
        return;
    }
    MECHP_PEEK(scene_graphic, graphic, &in);
    struct outline *const o = &d->shapes[d->n];
    *o = (struct outline){.first = d->used, .color = {.6, .6, .6, 1.}};
    (void)numbers(in.color.given, o->color, 4);
    (void)numbers(in.center.given, c, 3);
    (void)numbers(in.size.given, size, 3);
    switch (shape_of(in.shape)) {
    case MECH_GRAPHIC_BOX:
        add_box(d, c, size);
        break;
    case MECH_GRAPHIC_SPHERE:
        o->radius = in.radius;
        add_point(d, c);
        break;
    case MECH_GRAPHIC_CYLINDER:
        add_cylinder(d, c, size, in.radius);
        break;
    case MECH_GRAPHIC_LINE:
        add_segment(d, c, size);
        break;
    default:
        add_mesh(d, in.points.given);
    }
    d->n += o->n > 0;
}

/* A body that is a line comes with points in space. */
static void add_line(struct drawing *d, const struct mechp_body_scene_body *body)
{
    const json_t *const line = body->line.given;
    double point[3];

    if (json_array_size(line) == 0 || d->n == SHAPES_MOST) {
        return;
    }
    struct outline *const o = &d->shapes[d->n];
    *o = (struct outline){.first = d->used, .line = true};
    (void)numbers(body->color.given, o->color, 4);
    memset(d->p, 0, sizeof d->p);
    memcpy(d->R, (double[9]){1., 0., 0., 0., 1., 0., 0., 0., 1.}, sizeof d->R);
    for (size_t i = 0; i < json_array_size(line); i++) {
        if (numbers(json_array_get(line, i), point, 3)) {
            add_point(d, point);
        }
    }
    d->n += o->n > 0;
}

static void add_body(struct drawing *d, const json_t *body)
{
    struct mechp_body_scene_body in;

    MECHP_PEEK(scene_body, body, &in);
    memset(d->p, 0, sizeof d->p);
    memcpy(d->R, (double[9]){1., 0., 0., 0., 1., 0., 0., 0., 1.}, sizeof d->R);
    (void)numbers(in.position.given, d->p, 3);
    if (json_array_size(in.rotation.given) == 9) {
        (void)numbers(in.rotation.given, d->R, 9);
    }
    for (size_t i = 0; i < json_array_size(in.graphics.given); i++) {
        add_graphic(d, json_array_get(in.graphics.given, i));
    }
    add_line(d, &in);
}

/* --- from points to the picture --------------------------------------------------------------- */

static double dot(const double a[3], const double b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

/* Along an axis that is short beside the two others, or from above at an angle. */
static struct view choose_view(const struct drawing *d)
{
    static const struct view along[3] = {{{0, 1, 0}, {0, 0, 1}, {1, 0, 0}},
                                         {{1, 0, 0}, {0, 0, 1}, {0, -1, 0}},
                                         {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}};
    /* 30° aside, 25° above */
    static const struct view aside = {{0.8660254, 0.5, 0.},
                                      {-0.2113091, 0.3659983, 0.9063078},
                                      {0.4531539, -0.7848856, 0.4226183}};
    double low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY};

    for (size_t s = 0; s < d->n; s++) {
        for (size_t i = d->shapes[s].first; i < d->shapes[s].first + d->shapes[s].n; i++) {
            for (int k = 0; k < 3; k++) {
                low[k] = fmin(low[k], d->points[i][k] - d->shapes[s].radius);
                high[k] = fmax(high[k], d->points[i][k] + d->shapes[s].radius);
            }
        }
    }
    for (int k = 2; k >= 0; k--) {
        const double others =
            fmin(high[(k + 1) % 3] - low[(k + 1) % 3], high[(k + 2) % 3] - low[(k + 2) % 3]);
        if (high[k] - low[k] < 0.3 * others) {
            return along[k];
        }
    }
    return aside;
}

struct flat {
    double x, y; /* m */
};

static int by_place(const void *a, const void *b)
{
    const struct flat *const p = a, *const q = b;

    return p->x != q->x ? (p->x > q->x) - (p->x < q->x) : (p->y > q->y) - (p->y < q->y);
}

static double turn_of(struct flat a, struct flat b, struct flat c)
{
    return (b.x - a.x) * (c.y - a.y) - (b.y - a.y) * (c.x - a.x);
}

/* The convex hull of p [n], sorted in place, into out [2 n]: their number (the monotone chain). */
static size_t hull(struct flat *p, size_t n, struct flat *out)
{
    size_t count = 0;

    qsort(p, n, sizeof *p, by_place);
    for (int half = 0; half < 2; half++) {
        const size_t least = count + 1;
        for (size_t i = 0; i < n; i++) {
            const struct flat next = half == 0 ? p[i] : p[n - 1 - i];
            while (count > least && turn_of(out[count - 2], out[count - 1], next) <= 0.) {
                count--;
            }
            out[count++] = next;
        }
        count -= n > 1;
    }
    return count;
}

/* The outline of a shape into out [2 · ROUND · n]: its number of points. */
static size_t flatten(const struct drawing *d, const struct outline *o, const struct view *v,
                      struct flat *room, struct flat *out)
{
    size_t n = 0;

    for (size_t i = o->first; i < o->first + o->n; i++) {
        const struct flat at = {dot(v->right, d->points[i]), dot(v->up, d->points[i])};
        for (int k = 0; o->radius > 0. && k < ROUND; k++) {
            const double angle = 2. * acos(-1.) * k / ROUND;
            room[n++] = (struct flat){at.x + o->radius * cos(angle), at.y + o->radius * sin(angle)};
        }
        if (!(o->radius > 0.)) {
            room[n++] = at;
        }
    }
    if (o->line) {
        memcpy(out, room, n * sizeof *out);
        return n;
    }
    return hull(room, n, out);
}

static int by_depth(const void *a, const void *b)
{
    const struct outline *const p = a, *const q = b;

    return p->depth != q->depth ? (p->depth > q->depth) - (p->depth < q->depth)
                                : (p->first > q->first) - (p->first < q->first);
}

static void put(struct mechp_text *w, const char *text)
{
    mechp_text_plain(w, text, strlen(text));
}

static void put_number(struct mechp_text *w, double value, double unit)
{
    char text[32];
    const double rounded = round(value / unit) * unit;

    mechp_text_plain(w, text, mechp_number_text(isfinite(rounded) ? rounded : 0., text));
}

static void put_color(struct mechp_text *w, const double color[4], double factor)
{
    put(w, "rgb(");
    for (int k = 0; k < 3; k++) {
        put(w, k > 0 ? "," : "");
        put_number(w, 255. * fmin(fmax(factor * color[k], 0.), 1.), 1.);
    }
    put(w, ")");
}

/* Place of the drawing in the picture: x + scale (X − left) pixels to the right,
 * y + scale (top − Y) down. */
struct frame {
    double left, top, scale, x, y;
};

static void put_shape(struct mechp_text *w, const struct outline *o, const struct flat *p, size_t n,
                      const struct frame *f)
{
    put(w, o->line ? "<polyline points=\"" : "<polygon points=\"");
    for (size_t i = 0; i < n; i++) {
        put(w, i > 0 ? " " : "");
        put_number(w, f->x + f->scale * (p[i].x - f->left), 0.5);
        put(w, ",");
        put_number(w, f->y + f->scale * (f->top - p[i].y), 0.5);
    }
    put(w, o->line ? "\" fill=\"none\" stroke=\"" : "\" fill=\"");
    put_color(w, o->color, 1.);
    if (o->line) {
        put(w, "\" stroke-width=\"3\"/>\n");
        return;
    }
    put(w, "\" stroke=\"");
    put_color(w, o->color, 0.6);
    put(w, "\"/>\n");
}

static struct frame fit(const struct drawing *d, const struct view *v)
{
    double low[2] = {INFINITY, INFINITY}, high[2] = {-INFINITY, -INFINITY};

    for (size_t s = 0; s < d->n; s++) {
        const struct outline *const o = &d->shapes[s];
        for (size_t i = o->first; i < o->first + o->n; i++) {
            const double at[2] = {dot(v->right, d->points[i]), dot(v->up, d->points[i])};
            for (int k = 0; k < 2; k++) {
                low[k] = fmin(low[k], at[k] - o->radius);
                high[k] = fmax(high[k], at[k] + o->radius);
            }
        }
    }
    const double wide = fmax(high[0] - low[0], 1e-9), tall = fmax(high[1] - low[1], 1e-9);
    const double scale = fmin((WIDTH - 2. * MARGIN) / wide, (HEIGHT - 2. * MARGIN) / tall);
    return (struct frame){.left = low[0],
                          .top = high[1],
                          .scale = scale,
                          .x = 0.5 * (WIDTH - scale * wide),
                          .y = 0.5 * (HEIGHT - scale * tall)};
}

static void draw(struct drawing *d, struct flat *room, struct flat *out, struct mechp_text *w)
{
    const struct view view = choose_view(d);
    const struct frame frame = fit(d, &view);

    for (size_t s = 0; s < d->n; s++) {
        struct outline *const o = &d->shapes[s];
        for (size_t i = o->first; i < o->first + o->n; i++) {
            o->depth += dot(view.near, d->points[i]) / (double)o->n;
        }
    }
    qsort(d->shapes, d->n, sizeof *d->shapes, by_depth);
    put(w, "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"640\" height=\"480\" viewBox=\"0 0 "
           "640 480\">\n<rect width=\"640\" height=\"480\" fill=\"white\"/>\n");
    for (size_t s = 0; s < d->n; s++) {
        const size_t n = flatten(d, &d->shapes[s], &view, room, out);
        put_shape(w, &d->shapes[s], out, n, &frame);
    }
    put(w, "</svg>\n");
    mechp_text_plain(w, "", 1);
}

/* The bodies of the scene as points. False: no memory. */
static bool read_scene(struct drawing *d, const struct mech_sim *sim)
{
    struct mechp_json_fault fault;
    struct mechp_text scene;
    json_t *bodies = NULL;

    mechp_text_init(&scene, NULL, 0);
    mechd_scene_bodies(sim, &scene);
    const bool ok =
        !scene.failed && mechp_json_parse(scene.bytes, scene.length, NULL, &fault, &bodies) == 0;
    for (size_t i = 0; ok && i < json_array_size(bodies); i++) {
        add_body(d, json_array_get(bodies, i));
    }
    json_decref(bodies);
    mechp_text_fini(&scene);
    return ok;
}

int mechd_picture(const struct mech_sim *sim, char **picture)
{
    struct drawing d = {.shapes = calloc(SHAPES_MOST, sizeof *d.shapes),
                        .points = calloc(POINTS_MOST, sizeof *d.points)};
    struct flat *const room = calloc(POINTS_MOST + ROUND, sizeof *room);
    struct flat *const out = calloc(2 * (POINTS_MOST + ROUND), sizeof *out);
    struct mechp_text w;
    size_t size = 0;
    bool good =
        d.shapes != NULL && d.points != NULL && room != NULL && out != NULL && read_scene(&d, sim);

    *picture = NULL;
    mechp_text_init(&w, NULL, 0);
    if (good && d.n > 0) {
        draw(&d, room, out, &w);
        *picture = mechp_text_take(&w, &size);
        good = *picture != NULL;
    }
    mechp_text_fini(&w);
    free(d.shapes);
    free(d.points);
    free(room);
    free(out);
    return good ? 0 : MECH_NO_MEMORY;
}
