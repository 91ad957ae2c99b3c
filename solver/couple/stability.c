/* The window map, column by column: a window of the coupling with a unit vector for state. */
#include "solver/couple/stability.h"

#include "solver/base/err.h"
#include "solver/couple/internal.h"
#include "solver/linalg/dense.h"
#include "solver/linalg/eig.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Radius that counts as stable, and how close to 1 an eigenvalue is that of a free motion: double
 * ones are off by the square root of rounding. */
static const double radius_most = 1. + 1e-9, free_motion = 1e-6;
static const double range = 1000., ratio = 1.0905077326652577 /* 2^(1/8) */, close = 1e-3;
enum { TAYLOR = 18 }; /* 0.5^19 / 19! < 1e-22 */

/* One participant. */
struct part {
    struct mech_couple_linear is;
    int32_t inputs, outputs;
    int32_t first, first_output; /* of its states, and outputs, among those of all */
    int32_t width;               /* of step: states + inputs · (degree + 1) */
    double *step;                /* [width × width] by columns: x(H) = step [x; k! u_k] */
    double *big, *more;          /* scratch, as step */
    double *u;                   /* [inputs × NODES] coefficients */
    double *x;                   /* [width] */
};

struct map {
    const struct mech_couple *c;
    struct part *parts;
    int32_t *order; /* [parts] by their turns */
    int32_t states, outputs, pasts, n;
    double size;
    double basis[MECH_COUPLE_NODES][MECH_COUPLE_NODES];
    double ahead[MECH_COUPLE_NODES]; /* weights of now and the ends before, extrapolated */
    double *in, *out;                /* [n] */
    double *end, *got;               /* [outputs] at the window's end: as seen, and as they come */
    double *g, *scale;               /* [outputs²] 1 − ∂got/∂end, factored; [outputs] */
    int32_t *pivot;
    double *matrix, *vectors, *re, *im;
};

/* --- the matrix exponential ------------------------------------------------------------------- */

/* Generator of [x; u; u'; …]: A and B, and each derivative drives the one before. */
static void generator(const struct part *p, int32_t degree, double size, double *G)
{
    const int32_t w = p->width, n = p->is.states, m = p->inputs;
    memset(G, 0, (size_t)w * (size_t)w * sizeof *G);
    for (int32_t i = 0; i < n; i++) {
        for (int32_t j = 0; j < n; j++) {
            G[j * w + i] = size * p->is.A[i * n + j];
        }
        for (int32_t j = 0; j < m; j++) {
            G[(n + j) * w + i] = size * p->is.B[i * m + j];
        }
    }
    for (int32_t k = 0; k < degree; k++) {
        for (int32_t j = 0; j < m; j++) {
            G[(n + (k + 1) * m + j) * w + n + k * m + j] = size;
        }
    }
}

/* step = exp of the generator. False: it is beyond doubles. */
static bool exponential(struct part *p, int32_t degree, double size)
{
    const int32_t w = p->width;
    const size_t all = (size_t)w * (size_t)w;
    double norm = 0.;
    int halvings = 0;
    generator(p, degree, size, p->big);
    for (int32_t j = 0; j < w; j++) {
        double sum = 0.;
        for (int32_t i = 0; i < w; i++) {
            sum += fabs(p->big[j * w + i]);
        }
        norm = fmax(norm, sum);
    }
    if (!isfinite(norm)) {
        return false;
    }
    for (; norm > 0.5 && halvings < 1100; halvings++) {
        norm *= 0.5;
    }
    for (size_t i = 0; i < all; i++) {
        p->big[i] = ldexp(p->big[i], -halvings);
        p->step[i] = 0.;
    }
    // Horner: 1 + G (1 + G/2 (1 + …))
    for (int32_t i = 0; i < w; i++) {
        p->step[i * w + i] = 1.;
    }
    for (int k = TAYLOR; k > 0; k--) {
        mech_eig_rotate(w, w, w, p->big, p->step, p->more);
        for (size_t i = 0; i < all; i++) {
            p->step[i] = p->more[i] / k;
        }
        for (int32_t i = 0; i < w; i++) {
            p->step[i * w + i] += 1.;
        }
    }
    for (int s = 0; s < halvings; s++) {
        mech_eig_rotate(w, w, w, p->step, p->step, p->more);
        memcpy(p->step, p->more, all * sizeof *p->step);
    }
    for (size_t i = 0; i < all; i++) {
        if (!isfinite(p->step[i])) {
            return false;
        }
    }
    return true;
}

/* --- one window ------------------------------------------------------------------------------- */

/* An output of node j of the polynomials: the end as seen, the start, the ends before. */
static double node(const struct map *m, int32_t j, int32_t output)
{
    return j == 0 ? m->end[output] : m->in[m->states + (j - 1) * m->outputs + output];
}

/* A participant's end, from m->in and m->end: its states into m->out, its outputs into m->got. */
static void run(const struct map *m, struct part *p)
{
    const struct couple_side *const side = m->c->sides + (p - m->parts);
    const int32_t n = p->is.states, w = p->width, degree = m->c->options.hold;
    double factorial = 1.;
    memset(p->u, 0, (size_t)p->inputs * MECH_COUPLE_NODES * sizeof *p->u);
    for (int32_t l = 0; l < side->link_count; l++) {
        const struct couple_link *const link = side->links + l;
        const int32_t output = m->parts[link->from].first_output + link->output;
        for (int32_t k = 0; k <= degree; k++) {
            for (int32_t j = 0; j <= degree; j++) {
                p->u[k * p->inputs + link->input] +=
                    link->factor * m->basis[j][k] * node(m, j, output);
            }
        }
    }
    memcpy(p->x, m->in + p->first, (size_t)n * sizeof *p->x);
    for (int32_t k = 0; k <= degree; k++) {
        factorial *= k > 1 ? k : 1;
        for (int32_t i = 0; i < p->inputs; i++) {
            p->x[n + k * p->inputs + i] = factorial * p->u[k * p->inputs + i];
        }
    }
    double *const out = m->out + p->first;
    memset(out, 0, (size_t)n * sizeof *out);
    for (int32_t j = 0; j < w; j++) {
        for (int32_t i = 0; i < n; i++) {
            out[i] += p->step[j * w + i] * p->x[j];
        }
    }
    for (int32_t o = 0; o < p->outputs; o++) {
        double y = 0.;
        for (int32_t i = 0; i < n; i++) {
            y += p->is.C[o * n + i] * out[i];
        }
        for (int32_t i = 0; i < p->inputs; i++) {
            double u = 0.;
            for (int32_t k = degree; k >= 0; k--) {
                u = u * m->size + p->u[k * p->inputs + i];
            }
            y += p->is.D[o * p->inputs + i] * u;
        }
        m->got[p->first_output + o] = y;
    }
}

/* All of them, in their order; in turn each sees what those before it have come to. */
static void run_all(const struct map *m, bool in_turn)
{
    for (int32_t k = 0; k < m->c->side_count; k++) {
        struct part *const p = m->parts + m->order[k];
        run(m, p);
        if (in_turn) {
            memcpy(m->end + p->first_output, m->got + p->first_output,
                   (size_t)p->outputs * sizeof *m->end);
        }
    }
}

static void extrapolate(const struct map *m)
{
    for (int32_t o = 0; o < m->outputs; o++) {
        m->end[o] = 0.;
        for (int32_t j = 0; j <= m->c->options.hold; j++) {
            m->end[o] += m->ahead[j] * node(m, j + 1, o);
        }
    }
}

/* 1 − ∂got/∂end. False: singular. */
static bool factor(const struct map *m)
{
    const int32_t n = m->outputs;
    memset(m->in, 0, (size_t)m->n * sizeof *m->in);
    for (int32_t j = 0; j < n; j++) {
        memset(m->end, 0, (size_t)n * sizeof *m->end);
        m->end[j] = 1.;
        run_all(m, false);
        m->scale[j] = 1.;
        for (int32_t i = 0; i < n; i++) {
            m->g[j * n + i] = (i == j) - m->got[i];
            m->scale[j] = fmax(m->scale[j], fabs(m->g[j * n + i]));
        }
    }
    return mech_dense_lu_factor(n, m->g, m->scale, m->pivot) < 0;
}

/* m->out of m->in. */
static void window(const struct map *m)
{
    if (m->c->type->iterates) {
        memset(m->end, 0, (size_t)m->outputs * sizeof *m->end);
        run_all(m, false);
        mech_dense_lu_solve(m->outputs, m->g, m->pivot, m->got);
        memcpy(m->end, m->got, (size_t)m->outputs * sizeof *m->end);
        run_all(m, false);
    } else {
        extrapolate(m);
        run_all(m, m->c->in_turn);
    }
    double *const now = m->out + m->states;
    memcpy(now, m->got, (size_t)m->outputs * sizeof *now);
    memcpy(now + m->outputs, m->in + m->states,
           (size_t)m->pasts * (size_t)m->outputs * sizeof *now);
}

/* --- eigenvalues ------------------------------------------------------------------------------ */

static void set_size(struct map *m, double size)
{
    const int32_t degree = m->c->options.hold;
    double nodes[MECH_COUPLE_NODES + 1] = {size, 0.};
    m->size = size;
    for (int32_t j = 2; j <= MECH_COUPLE_NODES; j++) {
        nodes[j] = -(j - 1) * size;
    }
    couple_lagrange(nodes, degree, m->basis);
    for (int32_t j = 0; j <= degree; j++) {
        m->ahead[j] = 1.;
        for (int32_t k = 0; k <= degree; k++) {
            m->ahead[j] *= k == j ? 1. : (size - nodes[k + 1]) / (nodes[j + 1] - nodes[k + 1]);
        }
    }
}

/* 0, with *radius; MECH_NOT_CONVERGED of the eigenvalues; negative. */
static int radius_at(struct map *m, double size, double *radius)
{
    const size_t n = (size_t)m->n;
    bool good = true;
    set_size(m, size);
    *radius = INFINITY;
    for (int32_t p = 0; p < m->c->side_count && good; p++) {
        good = exponential(m->parts + p, m->c->options.hold, size);
    }
    if (!good || (m->c->type->iterates && !factor(m))) {
        return 0;
    }
    memset(m->in, 0, n * sizeof *m->in);
    for (size_t j = 0; j < n; j++) {
        m->in[j] = 1.;
        window(m);
        memcpy(m->matrix + j * n, m->out, n * sizeof *m->matrix);
        m->in[j] = 0.;
    }
    const int code = mech_eig_general(m->n, m->matrix, m->re, m->im, m->vectors);
    if (code == MECH_NOT_FINITE) {
        return 0;
    }
    MECH_TRY(code);
    *radius = 0.;
    for (size_t j = 0; j < n; j++) {
        const bool is_free = hypot(m->re[j] - 1., m->im[j]) <= free_motion;
        *radius = fmax(*radius, is_free ? 1. : hypot(m->re[j], m->im[j]));
    }
    return 0;
}

static int search(struct map *m, struct mech_interrupt *ask, struct mech_couple_stability *out)
{
    double good = 0., bad = INFINITY, radius = 0.;
    for (double size = out->least; size <= out->most && isinf(bad); size *= ratio) {
        if (mech_interrupted(ask)) {
            return MECH_CANCELLED;
        }
        MECH_TRY(radius_at(m, size, &radius));
        *(radius <= radius_most ? &good : &bad) = size;
    }
    while (good > 0. && isfinite(bad) && bad > good * (1. + close)) {
        const double size = sqrt(good * bad);
        if (mech_interrupted(ask)) {
            return MECH_CANCELLED;
        }
        MECH_TRY(radius_at(m, size, &radius));
        *(radius <= radius_most ? &good : &bad) = size;
    }
    out->largest = isinf(bad) ? INFINITY : good;
    return 0;
}

/* --- memory ----------------------------------------------------------------------------------- */

static int lay_part(struct map *m, struct mech_arena *a, struct part *p,
                    const struct couple_side *s)
{
    p->inputs = s->is.inputs;
    p->outputs = s->is.outputs;
    p->width = p->is.states + p->inputs * (m->c->options.hold + 1);
    const size_t all = (size_t)p->width * (size_t)p->width;
    p->step = mech_arena_alloc(a, all, sizeof *p->step);
    p->big = mech_arena_alloc(a, all, sizeof *p->big);
    p->more = mech_arena_alloc(a, all, sizeof *p->more);
    p->u = mech_arena_alloc(a, (size_t)p->inputs * MECH_COUPLE_NODES, sizeof *p->u);
    p->x = mech_arena_alloc(a, (size_t)p->width, sizeof *p->x);
    return p->step && p->big && p->more && p->u && p->x ? 0 : MECH_NO_MEMORY;
}

static int lay(struct map *m, struct mech_arena *a)
{
    const size_t n = (size_t)m->n, outputs = (size_t)m->outputs;
    for (int32_t p = 0; p < m->c->side_count; p++) {
        MECH_TRY(lay_part(m, a, m->parts + p, m->c->sides + p));
    }
    m->in = mech_arena_alloc(a, n, sizeof *m->in);
    m->out = mech_arena_alloc(a, n, sizeof *m->out);
    m->end = mech_arena_alloc(a, outputs, sizeof *m->end);
    m->got = mech_arena_alloc(a, outputs, sizeof *m->got);
    m->g = mech_arena_alloc(a, outputs * outputs, sizeof *m->g);
    m->scale = mech_arena_alloc(a, outputs, sizeof *m->scale);
    m->pivot = mech_arena_alloc(a, outputs, sizeof *m->pivot);
    m->matrix = mech_arena_alloc(a, n * n, sizeof *m->matrix);
    m->vectors = mech_arena_alloc(a, n * n, sizeof *m->vectors);
    m->re = mech_arena_alloc(a, n, sizeof *m->re);
    m->im = mech_arena_alloc(a, n, sizeof *m->im);
    return m->in && m->out && m->end && m->got && m->g && m->scale && m->pivot && m->matrix &&
                   m->vectors && m->re && m->im
               ? 0
               : MECH_NO_MEMORY;
}

static int prepare(struct map *m, struct mech_arena *a, const struct mech_couple_linear *parts,
                   char *reason)
{
    const int32_t count = m->c->side_count;
    m->parts = mech_arena_alloc(a, (size_t)count, sizeof *m->parts);
    m->order = mech_arena_alloc(a, (size_t)count, sizeof *m->order);
    if (m->parts == NULL || m->order == NULL) {
        return MECH_NO_MEMORY;
    }
    int64_t states = 0, outputs = 0, widest = 0;
    m->pasts = m->c->options.hold;
    for (int32_t p = 0; p < count; p++) {
        const struct couple_side *const s = m->c->sides + p;
        m->parts[p] = (struct part){
            .is = parts[p], .first = (int32_t)states, .first_output = (int32_t)outputs};
        m->order[s->turn] = p;
        states += parts[p].states;
        outputs += s->is.outputs;
        const int64_t width = parts[p].states + (int64_t)s->is.inputs * (m->pasts + 1);
        widest = width > widest ? width : widest;
    }
    const int64_t n = states + outputs * (m->pasts + 1);
    if (n > MECH_COUPLE_STABILITY_MOST || widest > 2 * MECH_COUPLE_STABILITY_MOST) {
        (void)snprintf(reason, MECH_COUPLE_REASON,
                       "%lld states and values of outputs: stability is computed up to %d",
                       (long long)(n > widest ? n : widest), MECH_COUPLE_STABILITY_MOST);
        return MECH_UNSUPPORTED;
    }
    m->states = (int32_t)states;
    m->outputs = (int32_t)outputs;
    m->n = (int32_t)n;
    return lay(m, a);
}

int mech_couple_stability(const struct mech_couple *c, const struct mech_couple_linear *parts,
                          double size, struct mech_interrupt *ask, char *reason,
                          struct mech_couple_stability *out)
{
    struct map m = {.c = c};
    struct mech_arena arena;
    reason[0] = '\0';
    *out = (struct mech_couple_stability){.least = size / range, .most = size * range};
    if (c->bond_count > 0 || c->options.waveform > 0) {
        (void)snprintf(reason, MECH_COUPLE_REASON, "stability of %s is not computed",
                       c->bond_count > 0 ? "bonds" : "waveforms");
        return MECH_UNSUPPORTED;
    }
    mech_arena_init(&arena, 0);
    int code = prepare(&m, &arena, parts, reason);
    code = code != 0 ? code : radius_at(&m, size, &out->radius);
    out->stable = code == 0 && out->radius <= radius_most;
    code = code != 0 ? code : search(&m, ask, out);
    mech_arena_fini(&arena);
    return code;
}
