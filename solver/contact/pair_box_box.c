/* Two boxes by separating axes: the 3 + 3 normals of faces and the 9 directions across two edges
 * (S. Gottschalk et al., Proc. SIGGRAPH 1996). Along the unit axis L they are apart by
 *
 *     s(L) = |t · L| − Σ h_A,i |A_i · L| − Σ h_B,j |B_j · L|,   t between the middles,
 *
 * negative where they overlap. The largest s is the least translation that parts overlapping boxes,
 * and the distance of others if points of both lie that far apart along L; where they do not
 * (corners opposite to corners, and edges), convex.h finds the closest points. What faces each
 * other along L is cut in hull.h. About 250 flops and the cutting. */
#include "solver/contact/hull.h"
#include "solver/contact/segment.h"

/* parts of the size by which an axis must be better than an earlier one, and within which points
 * count as on a face */
#define BETTER 1e-9
#define ON 1e-9
/* sine below which edges are parallel: their faces' normals serve */
#define PARALLEL 1e-6
/* cosine below which an axis lies along a face */
#define LEVEL 1e-9

struct boxes {
    const struct mech_convex *box[2];
    const double *half[2];
    double axis[2][3][3];     /* unit axes of both, global */
    double c[3][3];           /* cosines A_i · B_j */
    double t[3], along[2][3]; /* between the middles; along each axis */
    double size;
};

/* The axis of the largest s so far. */
struct parting {
    double s;
    int which, i, j; /* 0, 1: face i of that box; 2: edges i and j */
    double sign;
};

static void start(struct boxes *b, const struct mech_convex *first,
                  const struct mech_convex *second)
{
    b->box[0] = first;
    b->box[1] = second;
    mech_v3_add(second->p, -1., first->p, b->t);
    b->size = 0.;
    for (int k = 0; k < 2; k++) {
        b->half[k] = b->box[k]->shape->half;
        for (int i = 0; i < 3; i++) {
            for (int l = 0; l < 3; l++) {
                b->axis[k][i][l] = b->box[k]->R[3 * l + i];
            }
            b->along[k][i] = mech_v3_dot(b->t, b->axis[k][i]);
            b->size += b->half[k][i];
        }
    }
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            b->c[i][j] = mech_v3_dot(b->axis[0][i], b->axis[1][j]);
        }
    }
}

static void try_faces(const struct boxes *b, struct parting *best)
{
    for (int k = 0; k < 2; k++) {
        const double *const own = b->half[k], *const other = b->half[1 - k];

        for (int i = 0; i < 3; i++) {
            double s = fabs(b->along[k][i]) - own[i];

            for (int j = 0; j < 3; j++) {
                s -= other[j] * fabs(k == 0 ? b->c[i][j] : b->c[j][i]);
            }
            if (s > best->s + BETTER * b->size) {
                *best = (struct parting){
                    .s = s, .which = k, .i = i, .sign = b->along[k][i] < 0. ? -1. : 1.};
            }
        }
    }
}

static void try_edges(const struct boxes *b, struct parting *best)
{
    for (int i = 0; i < 3; i++) {
        const int i1 = (i + 1) % 3, i2 = (i + 2) % 3;

        for (int j = 0; j < 3; j++) {
            const int j1 = (j + 1) % 3, j2 = (j + 2) % 3;
            const double square = 1. - b->c[i][j] * b->c[i][j];

            if (!(square > PARALLEL * PARALLEL)) {
                continue;
            }
            const double d = b->along[0][i2] * b->c[i1][j] - b->along[0][i1] * b->c[i2][j];
            const double extent =
                b->half[0][i1] * fabs(b->c[i2][j]) + b->half[0][i2] * fabs(b->c[i1][j]) +
                b->half[1][j1] * fabs(b->c[i][j2]) + b->half[1][j2] * fabs(b->c[i][j1]);
            const double s = (fabs(d) - extent) / sqrt(square);

            if (s > best->s + BETTER * b->size) {
                *best =
                    (struct parting){.s = s, .which = 2, .i = i, .j = j, .sign = d < 0. ? -1. : 1.};
            }
        }
    }
}

/* The point of box k that is farthest along d; along axes across d the one nearest to the other
 * box's middle. */
static void farthest(const struct boxes *b, int k, const double d[3], double out[3])
{
    for (int i = 0; i < 3; i++) {
        out[i] = b->box[k]->p[i];
    }
    for (int i = 0; i < 3; i++) {
        const double c = mech_v3_dot(d, b->axis[k][i]), h = b->half[k][i];
        const double toward = k == 0 ? b->along[0][i] : -b->along[1][i];

        mech_v3_add(out,
                    fabs(c) < LEVEL ? mech_clamp(toward, h)
                    : c < 0.        ? -h
                                    : h,
                    b->axis[k][i], out);
    }
}

/* Whether x is over face i of box k, in the directions along it. */
static bool over(const struct boxes *b, int k, int i, const double x[3])
{
    double from[3];

    mech_v3_add(x, -1., b->box[k]->p, from);
    for (int l = 0; l < 3; l++) {
        if (l != i && fabs(mech_v3_dot(from, b->axis[k][l])) > b->half[k][l] + ON * b->size) {
            return false;
        }
    }
    return true;
}

/* The edge of box k along its axis i that is farthest along d. */
static struct mech_segment edge(const struct boxes *b, int k, int i, const double d[3])
{
    struct mech_segment out = {.h = b->half[k][i]};

    for (int l = 0; l < 3; l++) {
        out.p[l] = b->box[k]->p[l];
        out.a[l] = b->axis[k][i][l];
    }
    for (int l = 0; l < 3; l++) {
        if (l != i) {
            const double h = b->half[k][l];

            mech_v3_add(out.p, mech_v3_dot(d, b->axis[k][l]) < 0. ? -h : h, b->axis[k][l], out.p);
        }
    }
    return out;
}

/* Normal and points of the parting axis. False: no points lie s apart along it. */
static bool realize(const struct boxes *b, const struct parting *p, struct mech_convex_gap *out)
{
    double *const n = out->normal, w[3], back[3];

    out->gap = p->s;
    if (p->which == 2) {
        mech_v3_cross(b->axis[0][p->i], b->axis[1][p->j], n);
    } else {
        mech_v3_add(b->axis[p->which][p->i], 0., b->t, n);
    }
    const double scale = p->sign / mech_v3_norm(n);

    for (int i = 0; i < 3; i++) {
        n[i] *= scale;
        back[i] = -n[i];
    }
    if (p->which == 2) {
        const struct mech_segment e = edge(b, 0, p->i, n), f = edge(b, 1, p->j, back);
        double at[2];

        mech_segment_closest(&e, &f, at);
        mech_v3_add(e.p, at[0], e.a, out->point[0]);
        mech_v3_add(f.p, at[1], f.a, out->point[1]);
        mech_v3_add(out->point[1], -1., out->point[0], w);
        mech_v3_add(w, -p->s, n, w);
        return mech_v3_norm(w) <= ON * b->size;
    }
    // a corner of the other box over the face
    const int other = 1 - p->which;
    const double to_other = p->which == 0 ? p->s : -p->s;

    farthest(b, other, p->which == 0 ? back : n, out->point[other]);
    mech_v3_add(out->point[other], -to_other, n, out->point[p->which]);
    return over(b, p->which, p->i, out->point[other]);
}

static void find(const struct mech_convex *first, const struct mech_convex *second,
                 struct mech_touching *out)
{
    struct boxes b;
    struct parting best = {.s = -HUGE_VAL};
    struct mech_convex_gap gap;

    start(&b, first, second);
    try_faces(&b, &best);
    if (!(best.s <= out->reach)) {
        return;
    }
    try_edges(&b, &best);
    if (!(best.s <= out->reach)) {
        return;
    }
    if (realize(&b, &best, &gap) || mech_convex_gap(first, second, out->reach, &gap) == 0) {
        mech_hull_touch(first, second, &gap, out);
    }
}

const struct mech_shape_pair mech_shape_pair_box_box = {
    .first = "Box",
    .second = {"Box"},
    .find = find,
};
