/* IQN-ILS: interface quasi-Newton with an inverse Jacobian by least squares (J. Degroote,
 * K.-J. Bathe, J. Vierendeels, Comput. Struct. 87 (2009)). With the differences of residuals
 * V_k = r_k − r_{k−1} and of what was evaluated, W_k = g_k − g_{k−1}, newest first,
 *
 *     α = argmin |r + V α|,   z_next = z + r + W α
 *
 * by Gram–Schmidt, twice; a column of which less than `filter` of itself is left is dropped (QR2
 * filter of preCICE; M. Mehl et al., Comput. Math. Appl. 71 (2016)). Unknowns are divided by their
 * scales. Without columns z + ω r. Columns of the last `reuse` windows are kept. Exact for n linear
 * unknowns after n differences: evaluation n + 2 confirms. Cost: 4 n k² for k columns. */
#include "solver/couple/scheme.h"

#include <math.h>
#include <string.h>

enum { COLUMNS_MOST = 200, NUMBERS_MOST = 4000000 };
/* remainder of a column that depends on others to rounding (Gram–Schmidt of 200 columns) */
static const double dependent = 1e-14;

enum { COUNT, FRESH, LENGTH, WINDOW, INTS };

struct iqn {
    struct mech_scheme_space space;
    int32_t most;    /* columns */
    int32_t *state;  /* [INTS] columns; unknowns of r and g if they are of this window, else 0;
                        length of the columns; number of the window */
    int32_t *slot;   /* [most] slot of a column, newest first */
    int32_t *age;    /* [most] window of the column in a slot */
    double *V, *W;   /* [most × n] by slots */
    double *Q;       /* [most × n] of the columns in their order */
    double *R;       /* [most × most] */
    double *alpha;   /* [most] */
    double *r, *g;   /* [n] of the last iteration */
    double *residue; /* [n] scaled r, made orthogonal to Q */
};

static void lay(void *self, const struct mech_scheme_space *space, struct mech_room *room)
{
    struct iqn *const s = self;
    const size_t n = (size_t)space->n;
    const int64_t all = (int64_t)space->max_iterations * ((int64_t)space->reuse + 1);
    s->space = *space;
    s->most = space->n < COLUMNS_MOST ? space->n : COLUMNS_MOST;
    s->most = all < s->most ? (int32_t)all : s->most;
    // long vectors keep fewer: 32 MB each of V, W and Q
    s->most = (int64_t)s->most * space->n > NUMBERS_MOST ? NUMBERS_MOST / space->n : s->most;
    const size_t most = (size_t)s->most;
    s->state = mech_room_ints(room, INTS);
    s->slot = mech_room_ints(room, most);
    s->age = mech_room_ints(room, most);
    s->V = mech_room_reals(room, most * n);
    s->W = mech_room_reals(room, most * n);
    s->Q = mech_room_reals(room, most * n);
    s->R = mech_room_reals(room, most * most);
    s->alpha = mech_room_reals(room, most);
    s->r = mech_room_reals(room, n);
    s->g = mech_room_reals(room, n);
    s->residue = mech_room_reals(room, n);
    for (int32_t k = 0; s->slot && k < s->most; k++) {
        s->slot[k] = k;
    }
}

/* The column at that place in the order goes; its slot is free behind the others. */
static void drop(struct iqn *s, int32_t place)
{
    const int32_t slot = s->slot[place], last = s->state[COUNT] - 1;
    for (int32_t k = place; k < last; k++) {
        s->slot[k] = s->slot[k + 1];
    }
    s->slot[last] = slot;
    s->state[COUNT] = last;
}

/* Windows since that of the column in a slot; their number begins anew after 2^32. */
static uint32_t windows_since(const struct iqn *s, int32_t slot)
{
    return (uint32_t)s->state[WINDOW] - (uint32_t)s->age[slot];
}

static void begin(void *self)
{
    struct iqn *const s = self;
    s->state[FRESH] = 0;
    s->state[WINDOW] = (int32_t)((uint32_t)s->state[WINDOW] + 1u);
    for (int32_t k = s->state[COUNT] - 1; k >= 0; k--) {
        if (windows_since(s, s->slot[k]) > (uint32_t)s->space.reuse) {
            drop(s, k);
        }
    }
}

/* The newest difference comes first. */
static void push(struct iqn *s, const struct mech_scheme_iterate *at)
{
    if (s->most == 0) {
        return;
    }
    if (s->state[COUNT] == s->most) {
        drop(s, s->most - 1);
    }
    const int32_t count = s->state[COUNT];
    // free slots follow the columns
    const int32_t slot = s->slot[count];
    for (int32_t k = count; k > 0; k--) {
        s->slot[k] = s->slot[k - 1];
    }
    s->slot[0] = slot;
    s->age[slot] = s->state[WINDOW];
    s->state[COUNT] = count + 1;
    double *const v = s->V + (size_t)slot * (size_t)s->space.n;
    double *const w = s->W + (size_t)slot * (size_t)s->space.n;
    for (int32_t i = 0; i < at->n; i++) {
        v[i] = at->r[i] - s->r[i];
        w[i] = at->z[i] + at->r[i] - s->g[i];
    }
}

static double dot(int32_t n, const double *a, const double *b)
{
    double sum = 0.;
    for (int32_t i = 0; i < n; i++) {
        sum += a[i] * b[i];
    }
    return sum;
}

/* x less its parts along `count` columns of Q, which are added to c. */
static void orthogonal(const struct iqn *s, int32_t count, int32_t n, double *x, double *c)
{
    for (int32_t j = 0; j < count; j++) {
        const double *const q = s->Q + (size_t)j * (size_t)s->space.n;
        const double part = dot(n, q, x);
        c[j] += part;
        for (int32_t i = 0; i < n; i++) {
            x[i] -= part * q[i];
        }
    }
}

/* Q R of the columns; dependent ones are dropped. */
static void decompose(struct iqn *s, const struct mech_scheme_iterate *at)
{
    const double filter = fmax(s->space.filter, dependent);
    for (int32_t k = 0; k < s->state[COUNT];) {
        const double *const v = s->V + (size_t)s->slot[k] * (size_t)s->space.n;
        double *const q = s->Q + (size_t)k * (size_t)s->space.n;
        double *const c = s->R + (size_t)k * (size_t)s->most;
        for (int32_t i = 0; i < at->n; i++) {
            q[i] = v[i] / at->scale[i];
        }
        const double whole = sqrt(dot(at->n, q, q));
        for (int32_t j = 0; j <= k; j++) {
            c[j] = 0.;
        }
        orthogonal(s, k, at->n, q, c);
        orthogonal(s, k, at->n, q, c);
        const double left = sqrt(dot(at->n, q, q));
        if (!(left > filter * whole)) {
            drop(s, k);
            continue;
        }
        c[k] = left;
        for (int32_t i = 0; i < at->n; i++) {
            q[i] /= left;
        }
        k++;
    }
}

static int correct(void *self, const struct mech_scheme_iterate *at, double *z_next)
{
    struct iqn *const s = self;
    // columns of other sample counts are of no use
    s->state[COUNT] = s->state[LENGTH] == at->n ? s->state[COUNT] : 0;
    s->state[LENGTH] = at->n;
    if (s->state[FRESH] == at->n) {
        push(s, at);
    }
    s->state[FRESH] = at->n;
    for (int32_t i = 0; i < at->n; i++) {
        s->r[i] = at->r[i];
        s->g[i] = at->z[i] + at->r[i];
        s->residue[i] = at->r[i] / at->scale[i];
    }
    decompose(s, at);
    const int32_t count = s->state[COUNT];
    if (count == 0) {
        for (int32_t i = 0; i < at->n; i++) {
            z_next[i] = at->z[i] + s->space.relaxation * at->r[i];
        }
        return 0;
    }
    // R α = −Qᵀ r
    for (int32_t j = 0; j < count; j++) {
        s->alpha[j] = 0.;
    }
    orthogonal(s, count, at->n, s->residue, s->alpha);
    memcpy(z_next, s->g, (size_t)at->n * sizeof *z_next);
    for (int32_t k = count - 1; k >= 0; k--) {
        double x = -s->alpha[k];
        for (int32_t j = k + 1; j < count; j++) {
            x -= s->R[(size_t)j * (size_t)s->most + (size_t)k] * s->alpha[j];
        }
        s->alpha[k] = x / s->R[(size_t)k * (size_t)s->most + (size_t)k];
        const double *const w = s->W + (size_t)s->slot[k] * (size_t)s->space.n;
        for (int32_t i = 0; i < at->n; i++) {
            z_next[i] += s->alpha[k] * w[i];
        }
    }
    return 0;
}

static void end(void *self, bool accepted)
{
    struct iqn *const s = self;
    // differences of a window that is not done are of no use to the next one
    for (int32_t k = s->state[COUNT] - 1; !accepted && k >= 0; k--) {
        if (s->age[s->slot[k]] == s->state[WINDOW]) {
            drop(s, k);
        }
    }
}

/* Whether a column, of `length` numbers in use, is finite. */
static bool is_column(const struct mech_room_copy *copy, const double *column, int32_t length)
{
    bool good = true;
    for (int32_t i = 0; good && i < length; i++) {
        good = isfinite(mech_room_copy_real(copy, column, i));
    }
    return good;
}

/* The columns of the copy, whose slots are within the room. */
static bool accepts_columns(const struct iqn *s, const struct mech_room_copy *copy)
{
    const int32_t count = mech_room_copy_int(copy, s->state, COUNT);
    const int32_t length = mech_room_copy_int(copy, s->state, LENGTH);
    bool good = length >= 0 && length <= s->space.n;
    for (int32_t k = 0; good && k < count; k++) {
        const size_t from = (size_t)mech_room_copy_int(copy, s->slot, k) * (size_t)s->space.n;
        good = is_column(copy, s->V + from, length) && is_column(copy, s->W + from, length);
    }
    return good;
}

/* Columns within the room, each slot once, and finite. */
static bool accepts(const void *self, const struct mech_room_copy *copy)
{
    const struct iqn *const s = self;
    const int32_t count = mech_room_copy_int(copy, s->state, COUNT);
    bool good = count >= 0 && count <= s->most;
    for (int32_t k = 0; good && k < s->most; k++) {
        const int32_t slot = mech_room_copy_int(copy, s->slot, k);
        good = slot >= 0 && slot < s->most;
        for (int32_t other = 0; good && other < k; other++) {
            good = mech_room_copy_int(copy, s->slot, other) != slot;
        }
    }
    return good && accepts_columns(s, copy);
}

const struct mech_scheme_type mech_scheme_iqn_ils = {
    .name = "IQN-ILS",
    .doc = "quasi-Newton, by least squares over the differences of iterations, also of earlier "
           "windows",
    .turns = MECH_SCHEME_AS_ORDERED,
    .iterates = true,
    .size = sizeof(struct iqn),
    .lay = lay,
    .begin = begin,
    .correct = correct,
    .end = end,
    .accepts = accepts,
};
