/* The window map, column by column: a window of the coupling with a unit vector for state. */
#include "solver/couple/stability.h"

#include "solver/base/err.h"
#include "solver/base/text.h"
#include "solver/couple/internal.h"
#include "solver/linalg/dense.h"
#include "solver/linalg/eig.h"

#include <math.h>
#include <string.h>

/* Growth log(radius) of a window that counts as none: of all sizes, and of those below an end at
 * which growth only fades: in short windows a map differs from 1 by less, and rounding too. How
 * many times that it grows by 9 % beyond an end, so that the end is off by 0.1 % at most. How close
 * to 1 an eigenvalue is that of a free motion: double ones are off by the square root of rounding.
 */
static const double none[] = {1e-9, 1e-12}, grows = 100., free_motion = 1e-6;
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
    double *balance;             /* [width] scratch */
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

/* The largest sum of a column. */
static double norm_of(const double *G, int32_t w)
{
    double norm = 0.;
    for (int32_t j = 0; j < w; j++) {
        double sum = 0.;
        for (int32_t i = 0; i < w; i++) {
            sum += fabs(G[j * w + i]);
        }
        norm = fmax(norm, sum);
    }
    return norm;
}

/* step = exp of the generator, G, by exp(D⁻¹ G D): with D the norm, and with it the number of
 * squarings, depends on frequencies and not on units. 0, with *good: false where it is beyond
 * doubles; negative. */
static int exponential(struct part *p, int32_t degree, double size, bool *good)
{
    const int32_t w = p->width;
    const size_t all = (size_t)w * (size_t)w;
    int halvings = 0;
    generator(p, degree, size, p->big);
    const int code = mech_eig_balance(w, p->big, p->balance);
    *good = code != MECH_NOT_FINITE;
    if (code != 0) {
        return *good ? code : 0;
    }
    for (double norm = norm_of(p->big, w); norm > 0.5 && halvings < 1100; halvings++) {
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
    for (int32_t j = 0; j < w; j++) {
        for (int32_t i = 0; i < w; i++) {
            double *const at = p->step + j * w + i;
            *at *= p->balance[i] / p->balance[j];
            *good = *good && isfinite(*at);
        }
    }
    return 0;
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
    couple_ahead(nodes, degree, m->ahead);
}

/* A map's largest eigenvalue. */
struct lead {
    double radius; /* its modulus */
    double off;    /* how far it is from 1 */
};

/* 0, with *lead; MECH_NOT_CONVERGED of the eigenvalues; negative. */
static int lead_at(struct map *m, double size, struct lead *lead)
{
    const size_t n = (size_t)m->n;
    bool good = true;
    set_size(m, size);
    *lead = (struct lead){INFINITY, INFINITY};
    for (int32_t p = 0; p < m->c->side_count && good; p++) {
        MECH_TRY(exponential(m->parts + p, m->c->options.hold, size, &good));
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
    *lead = (struct lead){.radius = 0.};
    for (size_t j = 0; j < n; j++) {
        const double off = hypot(m->re[j] - 1., m->im[j]);
        const double radius = off <= free_motion ? 1. : hypot(m->re[j], m->im[j]);
        *lead = radius > lead->radius ? (struct lead){radius, off} : *lead;
    }
    return 0;
}

/* Whether a window grows by more than `least`. */
static bool unstable(const struct lead *lead, double least)
{
    return log(lead->radius) > least;
}

/* One more size: it becomes *good or *bad. */
static int look(struct map *m, double size, double least, struct mech_interrupt *ask, double end[2])
{
    struct lead lead;
    if (mech_interrupted(ask)) {
        return MECH_CANCELLED;
    }
    MECH_TRY(lead_at(m, size, &lead));
    end[unstable(&lead, least)] = size;
    return 0;
}

/* The end of the sizes from `from` to `to` in which a window grows by no more than `least`: end[0]
 * is the last one, 0 if none is, end[1] is beyond it, INFINITY if all are. */
static int find_end(struct map *m, const double range_of[2], double least,
                    struct mech_interrupt *ask, double end[2])
{
    end[0] = 0.;
    end[1] = INFINITY;
    for (double size = range_of[0]; size <= range_of[1] && isinf(end[1]); size *= ratio) {
        MECH_TRY(look(m, size, least, ask, end));
    }
    while (end[0] > 0. && isfinite(end[1]) && end[1] > end[0] * (1. + close)) {
        MECH_TRY(look(m, sqrt(end[0] * end[1]), least, ask, end));
    }
    return 0;
}

static int ended(struct mech_couple_stability *out, enum mech_couple_end end, double largest)
{
    out->end = end;
    out->largest = largest;
    return 0;
}

/* An end at which growth begins is one beyond which it is soon far more. Where it fades towards
 * smaller sizes, as H² or H³, or an eigenvalue comes so close to 1 that it counts as 1, the end is
 * that of what can be distinguished from 1: smaller sizes may grow no less in a second, or be
 * stable.
 * *least: the growth that counts as none. */
static int search(struct map *m, struct mech_interrupt *ask, struct mech_couple_stability *out,
                  double *least)
{
    double ends[2], sizes[2] = {out->least, out->most};
    for (size_t k = 0; k < sizeof none / sizeof *none; k++) {
        struct lead beyond;
        *least = none[k];
        MECH_TRY(find_end(m, sizes, none[k], ask, ends));
        if (ends[0] == 0.) {
            return ended(out, MECH_COUPLE_END_LEAST, 0.);
        }
        if (isinf(ends[1])) {
            return k == 0 ? ended(out, MECH_COUPLE_END_MOST, INFINITY)
                          : ended(out, MECH_COUPLE_END_UNTOLD, NAN);
        }
        MECH_TRY(lead_at(m, ends[1] * ratio, &beyond));
        if (unstable(&beyond, grows * none[k]) && beyond.off > 2. * free_motion) {
            return ended(out, MECH_COUPLE_END_FOUND, ends[0]);
        }
        sizes[1] = ends[1] * ratio;
    }
    return ended(out, MECH_COUPLE_END_UNTOLD, NAN);
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
    p->balance = mech_arena_alloc(a, (size_t)p->width, sizeof *p->balance);
    p->u = mech_arena_alloc(a, (size_t)p->inputs * MECH_COUPLE_NODES, sizeof *p->u);
    p->x = mech_arena_alloc(a, (size_t)p->width, sizeof *p->x);
    return p->step && p->big && p->more && p->balance && p->u && p->x ? 0 : MECH_NO_MEMORY;
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

/* 0; MECH_NOT_FINITE. */
static int check_parts(const struct map *m, char *reason)
{
    for (int32_t p = 0; p < m->c->side_count; p++) {
        const struct couple_side *const s = m->c->sides + p;
        const struct mech_couple_linear *const l = &m->parts[p].is;
        const double *const matrices[] = {l->A, l->B, l->C, l->D};
        const int32_t n = l->states, in = s->is.inputs, out = s->is.outputs;
        const int32_t rows[] = {n, n, out, out}, columns[] = {n, in, n, in};
        for (int k = 0; k < 4; k++) {
            for (int32_t i = 0; i < rows[k] * columns[k]; i++) {
                if (!isfinite(matrices[k][i])) {
                    mech_text_format(
                        reason, MECH_COUPLE_REASON,
                        "matrix %c of participant %.64s is not finite in row %d, column %d",
                        "ABCD"[k], s -> is.name, (int)(i / columns[k]), (int)(i % columns[k]));
                    return MECH_NOT_FINITE;
                }
            }
        }
    }
    return 0;
}

static int prepare(struct map *m, struct mech_arena *a, const struct mech_couple_linear *parts,
                   char *reason)
{
    const int32_t count = m->c->side_count;
    m->parts = mech_arena_alloc(a, (size_t)count, sizeof *m->parts);
    m->order = mech_arena_alloc(a, (size_t)count, sizeof *m->order);
    if (!m->parts || !m->order) {
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
        mech_text_format(reason, MECH_COUPLE_REASON,
                         "%lld states and values of outputs: stability is computed up to %d",
                         (long long)(n > widest ? n : widest), MECH_COUPLE_STABILITY_MOST);
        return MECH_UNSUPPORTED;
    }
    m->states = (int32_t)states;
    m->outputs = (int32_t)outputs;
    m->n = (int32_t)n;
    MECH_TRY(check_parts(m, reason));
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
    if (!(out->least > 0. && isfinite(out->most))) {
        mech_text_format(
            reason, MECH_COUPLE_REASON,
            "the size of a window must be positive, and 1000 times that size must be finite");
        return MECH_INVALID;
    }
    if (c->bond_count > 0 || c->options.waveform > 0) {
        mech_text_format(reason, MECH_COUPLE_REASON, "stability of %s is not computed",
                         c->bond_count > 0 ? "bonds" : "waveforms");
        return MECH_UNSUPPORTED;
    }
    mech_arena_init(&arena, 0);
    struct lead lead = {.radius = 0.};
    int code = prepare(&m, &arena, parts, reason);
    code = code != 0 ? code : lead_at(&m, size, &lead);
    out->radius = lead.radius;
    double least = none[0];
    code = code != 0 ? code : search(&m, ask, out, &least);
    out->stable = code == 0 && out->end != MECH_COUPLE_END_UNTOLD && !unstable(&lead, least);
    mech_arena_fini(&arena);
    return code;
}
