/* A literal implementation of the equations: dense matrices, elimination with pivoting, impulses by
 * trying every set of pressing rows; and one linear model as JSON and by hand. literal.c
 * compares. */
#pragma once

#include "tests/unit/model.h"

#include <stdarg.h>

enum { NODES = 3, MOST = 80, ROWS = 5, TEXT = 1 << 19 };

/* how the matrices are written, and what is in C and K beside three diagonals */
enum form { ROW_BY_ROW, BANDED, SPARSE, SPARSE_RING, FULL, FORMS };

struct scheme {
    const char *settings; /* members of "solver" */
    const char *integrator;
    double h, theta, gamma, threshold, rho;
};

/* Everything dense, by rows. */
struct literal {
    int n, rows;
    double M[MOST][MOST], C[MOST][MOST], K[MOST][MOST], H[ROWS][MOST], b[ROWS], e[ROWS];
    double ref[MOST], q[MOST], v[MOST], vdot[MOST], a[MOST];
    double t, input[4]; /* value, derivatives, since when */
    double size;        /* of the last step, 0: a start */
    long double exact;  /* t, with what its double cannot hold */
    int contacts;       /* steps with pressing rows */
};

struct text {
    char *at;
    size_t n;
};

static inline void put(struct text *s, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static inline void put(struct text *s, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    s->n += (size_t)vsnprintf(s->at + s->n, TEXT - s->n, format, arguments);
    va_end(arguments);
    CU_ASSERT_FATAL(s->n < TEXT);
}

/* --- the model -------------------------------------------------------------------------------- */

/* Entry of a matrix of the system with coordinates of its own: 0 M, 1 C, 2 K. */
static inline double entry(int which, int n, enum form form, int i, int j)
{
    static const double below[] = {0.1, -0.8, -130.}, main[] = {2., 3., 400.},
                        above[] = {0.2, 0.3, -190.};

    if (form == SPARSE_RING && which == 2 && i != j && (i == 0 || i == n - 1) &&
        (j == 0 || j == n - 1)) {
        return i == 0 ? -20. : -35.;
    }
    if (form == FULL && which > 0 && (i > j + 1 || j > i + 1)) {
        return 0.2 * sin(3. * i + j);
    }
    return i == j       ? main[which] + 0.01 * i
           : i == j + 1 ? below[which]
           : j == i + 1 ? above[which]
                        : 0.;
}

static inline void put_matrix(struct text *s, int which, int n, enum form form)
{
    const bool rows = form == ROW_BY_ROW || form == FULL;

    if (form == BANDED) {
        put(s, "{'banded': {'lower': 1, 'upper': 1, 'rows': [");
        for (int i = 0; i < n; i++) {
            put(s, "%s[", i ? "," : "");
            for (int j = i - 1; j <= i + 1; j++) {
                const bool inside = j >= 0 && j < n;

                put(s, "%s%.17g", j >= i ? "," : "", inside ? entry(which, n, form, i, j) : 0.);
            }
            put(s, "]");
        }
        put(s, "]}}");
        return;
    }
    if (rows) {
        put(s, "[");
    } else {
        put(s, "{'shape': [%d, %d], 'coo': [", n, n);
    }
    bool first = true;
    for (int i = 0; i < n; i++) {
        put(s, "%s%s", rows && i ? "," : "", rows ? "[" : "");
        for (int j = 0; j < n; j++) {
            const double x = entry(which, n, form, i, j);

            if (rows) {
                put(s, "%s%.17g", j ? "," : "", x);
            } else if (x != 0.) {
                put(s, "%s[%d,%d,%.17g]", first ? "" : ",", i, j, x);
                first = false;
            }
        }
        put(s, "%s", rows ? "]" : "");
    }
    put(s, "%s", rows ? "]" : "]}");
}

/* Coordinates: two of "a", one of "m", then the system "s". Rows: two between s and a, two on s,
 * one on a. */
static inline void write_model(const struct scheme *scheme, int n, enum form form, struct text *s)
{
    put(s, "{'mechd': 1, 'parameters': {'w': 2},"
           "'nodes': [{'name': 'a', 'type': 'NodeGenericODE2', 'referenceCoordinates': [0.3, -0.2],"
           "'initialCoordinates': [0.1, 0.2], 'initialCoordinates_t': [-1, 0.5],"
           "'numberOfODE2Coordinates': 2}, {'name': 'm', 'type': 'Node1D',"
           "'referenceCoordinates': [1.5], 'initialVelocities': [-2]}],"
           "'objects': [{'name': 'A', 'type': 'GenericODE2', 'nodes': ['a'],"
           "'massMatrix': [[2, 0.3], [0.3, 1]], 'stiffnessMatrix': [[90, -30], [-10, 70]],"
           "'dampingMatrix': [[1, 0.5], [-0.5, 2]], 'forceVector': [1, -2]},"
           "{'name': 'B', 'type': 'Mass1D', 'node': 'm', 'physicsMass': 1.25},"
           "{'name': 'spring', 'type': 'CoordinateSpringDamper', 'markers': ['a1', 'm0'],"
           "'stiffness': 60, 'damping': 0.7, 'offset': 0.25}, {'name': 's', 'type':"
           "'LagrangianLinearTIDS', 'M': ");
    put_matrix(s, 0, n, form);
    put(s, ", 'C': ");
    put_matrix(s, 1, n, form);
    put(s, ", 'K': ");
    put_matrix(s, 2, n, form);
    put(s, ", 'z': [0.5], 'Fext': ['=3*sin(5*t)+z0'");
    for (int i = 1; i < n; i++) {
        put(s, ", %d", i == 1 ? -4 : 0);
    }
    put(s, "], 'q0': [0.05");
    for (int i = 1; i < n; i++) {
        put(s, ", %.17g", 0.01 * (i % 3));
    }
    put(s, "], 'v0': [-1.5");
    for (int i = 1; i < n; i++) {
        put(s, ", %.17g", -0.5 + 0.1 * (i % 4));
    }
    put(s, "]}], 'markers': [{'name': 'a0', 'type': 'MarkerNodeCoordinate', 'node': 'a',"
           "'coordinate': 0}, {'name': 'a1', 'type': 'MarkerNodeCoordinate', 'node': 'a',"
           "'coordinate': 1}, {'name': 'm0', 'type': 'MarkerNodeCoordinate', 'node': 'm',"
           "'coordinate': 0}],"
           "'loads': [{'name': 'F', 'type': 'LoadCoordinate', 'marker': 'a0',"
           "'load': '=2*cos(w*t)'}, {'name': 'U', 'type': 'LoadCoordinate', 'marker': 'm0',"
           "'load': 0.5}], 'inputs': [{'name': 'u', 'load': 'U'}],");
    if (scheme->theta > 0.) {
        put(s,
            "'interactions': [{'name': 'i', 'systems': ['s', 'A'], 'relation':"
            "{'type': 'LagrangianLinearTIR', 'H': {'shape': [2, %d], 'coo': [[0, 0, 1],"
            "[0, %d, 0.5], [1, 1, 1], [1, %d, -1]]}, 'b': [0.1, 0.05]},"
            "'law': {'type': 'NewtonImpact', 'e': 0}},",
            n + 2, n, n + 1);
        put(s,
            "{'name': 'j', 'systems': ['s'], 'relation': {'type': 'LagrangianLinearTIR',"
            "'H': {'shape': [2, %d], 'coo': [[0, %d, 1], [1, %d, -2], [1, 0, 0.5]]},"
            "'b': [0.02, 0.03]}, 'law': {'type': 'NewtonImpact', 'e': 1}},",
            n, n - 1, n - 2);
        put(s, "{'name': 'k', 'systems': ['A'], 'relation': {'type': 'LagrangianLinearTIR',"
               "'H': [[-1, 0]], 'b': [0.45]}, 'law': {'type': 'NewtonImpact', 'e': 0.5}}],");
    }
    put(s, "'solver': {'integrator': '%s', 'stepSize': %.17g%s}}", scheme->integrator, scheme->h,
        scheme->settings);
}

/* The same, by hand. */
static inline void set_literal(const struct scheme *scheme, int n, enum form form,
                               struct literal *l)
{
    static const double M[2][2] = {{2., 0.3}, {0.3, 1.}}, C[2][2] = {{1., 0.5}, {-0.5, 2.}},
                        K[2][2] = {{90., -30.}, {-10., 70.}};
    const int s = NODES;

    *l = (struct literal){.n = NODES + n, .rows = scheme->theta > 0. ? ROWS : 0};
    for (int i = 0; i < 2; i++) {
        for (int j = 0; j < 2; j++) {
            l->M[i][j] = M[i][j];
            l->C[i][j] = C[i][j];
            l->K[i][j] = K[i][j];
        }
    }
    l->M[2][2] = 1.25;
    for (int i = 1; i <= 2; i++) {
        for (int j = 1; j <= 2; j++) {
            l->C[i][j] += i == j ? 0.7 : -0.7;
            l->K[i][j] += i == j ? 60. : -60.;
        }
    }
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < n; j++) {
            l->M[s + i][s + j] = entry(0, n, form, i, j);
            l->C[s + i][s + j] = entry(1, n, form, i, j);
            l->K[s + i][s + j] = entry(2, n, form, i, j);
        }
        l->q[s + i] = i ? 0.01 * (i % 3) : 0.05;
        l->v[s + i] = i ? -0.5 + 0.1 * (i % 4) : -1.5;
    }
    l->ref[0] = 0.3, l->ref[1] = -0.2, l->ref[2] = 1.5;
    l->q[0] = 0.3 + 0.1, l->q[1] = -0.2 + 0.2, l->q[2] = 1.5;
    l->v[0] = -1., l->v[1] = 0.5, l->v[2] = -2.;
    l->input[0] = 0.5;

    l->H[0][s] = 1., l->H[0][0] = 0.5, l->b[0] = 0.1;
    l->H[1][s + 1] = 1., l->H[1][1] = -1., l->b[1] = 0.05;
    l->H[2][s + n - 1] = 1., l->b[2] = 0.02, l->e[2] = 1.;
    l->H[3][s + n - 2] = -2., l->H[3][s] += 0.5, l->b[3] = 0.03, l->e[3] = 1.;
    l->H[4][0] = -1., l->b[4] = 0.45, l->e[4] = 0.5;
}

/* --- the literal schemes ---------------------------------------------------------------------- */

/* F(t), N: the spring's offset acts with +k on its second marker */
static inline void force(const struct literal *l, double t, double *f)
{
    const double dt = t - l->input[3];

    memset(f, 0, MOST * sizeof *f);
    f[0] = 1. + 2. * cos(2. * t);
    f[1] = -2. - 60. * 0.25;
    f[2] = 60. * 0.25 + l->input[0] + dt * l->input[1] + 0.5 * dt * dt * l->input[2];
    f[NODES] = 3. * sin(5. * t) + 0.5;
    f[NODES + 1] = -4.;
}

/* x := A⁻¹ x */
static inline void solve(int n, double A[][MOST], double *x)
{
    static double w[MOST][MOST];

    memcpy(w, A, sizeof w);
    for (int k = 0; k < n; k++) {
        int p = k;

        for (int i = k + 1; i < n; i++) {
            p = fabs(w[i][k]) > fabs(w[p][k]) ? i : p;
        }
        for (int j = 0; j < n; j++) {
            const double keep = w[k][j];

            w[k][j] = w[p][j];
            w[p][j] = keep;
        }
        const double keep = x[k];
        x[k] = x[p];
        x[p] = keep;
        for (int i = k + 1; i < n; i++) {
            const double factor = w[i][k] / w[k][k];

            for (int j = k; j < n; j++) {
                w[i][j] -= factor * w[k][j];
            }
            x[i] -= factor * x[k];
        }
    }
    for (int k = n - 1; k >= 0; k--) {
        for (int j = k + 1; j < n; j++) {
            x[k] -= w[k][j] * x[j];
        }
        x[k] /= w[k][k];
    }
}

/* out = f − C v − K (q − ref) */
static inline void remainder_of(const struct literal *l, double t, const double *q, const double *v,
                                double *out)
{
    force(l, t, out);
    for (int i = 0; i < l->n; i++) {
        for (int j = 0; j < l->n; j++) {
            out[i] -= l->C[i][j] * v[j] + l->K[i][j] * (q[j] - l->ref[j]);
        }
    }
}

static inline void literal_start(struct literal *l)
{
    remainder_of(l, l->t, l->q, l->v, l->vdot);
    solve(l->n, l->M, l->vdot);
    memcpy(l->a, l->vdot, sizeof l->a);
}

static inline void literal_alpha(struct literal *l, const struct scheme *s, double h, double t_end)
{
    const double rho = s->rho, am = (2. * rho - 1.) / (rho + 1.), af = rho / (rho + 1.);
    const double gamma = 0.5 + af - am, beta = 0.25 * (gamma + 0.5) * (gamma + 0.5);
    const double to_v = gamma / (h * beta), to_a = (1. - am) / (h * h * beta * (1. - af));
    static double W[MOST][MOST];
    double ap[MOST], r[MOST];

    for (int i = 0; i < l->n; i++) {
        if (l->size > 0. && h != l->size) {
            l->a[i] = l->vdot[i] + h / l->size * (l->a[i] - l->vdot[i]);
        }
        ap[i] = (af * l->vdot[i] - am * l->a[i]) / (1. - am);
        l->q[i] += h * l->v[i] + h * h * (0.5 - beta) * l->a[i] + h * h * beta * ap[i];
        l->v[i] += h * (1. - gamma) * l->a[i] + h * gamma * ap[i];
        for (int j = 0; j < l->n; j++) {
            W[i][j] = to_a * l->M[i][j] + to_v * l->C[i][j] + l->K[i][j];
        }
    }
    remainder_of(l, t_end, l->q, l->v, r);
    solve(l->n, W, r);
    for (int i = 0; i < l->n; i++) {
        l->q[i] += r[i];
        l->v[i] += to_v * r[i];
        l->vdot[i] = to_a * r[i];
        l->a[i] = ap[i] + (1. - af) / (1. - am) * l->vdot[i];
    }
}

static inline void literal_rk44(struct literal *l, const struct scheme *s, double h, double t_end)
{
    static const double at[] = {0., 0.5, 0.5, 1.}, weight[] = {1. / 6., 1. / 3., 1. / 3., 1. / 6.};
    double kq[4][MOST], kv[4][MOST], q[MOST], v[MOST];

    (void)s;
    for (int k = 0; k < 4; k++) {
        for (int i = 0; i < l->n; i++) {
            q[i] = l->q[i] + (k ? h * at[k] * kq[k - 1][i] : 0.);
            v[i] = l->v[i] + (k ? h * at[k] * kv[k - 1][i] : 0.);
        }
        memcpy(kq[k], v, sizeof v);
        remainder_of(l, k == 3 ? t_end : l->t + at[k] * h, q, v, kv[k]);
        solve(l->n, l->M, kv[k]);
    }
    for (int k = 0; k < 4; k++) {
        for (int i = 0; i < l->n; i++) {
            l->q[i] += h * weight[k] * kq[k][i];
            l->v[i] += h * weight[k] * kv[k][i];
        }
    }
}

/* P of the active rows: the one set whose P ≥ 0 and w ≥ 0 */
static inline bool impulses(int m, double A[][MOST], const double *b, double *P)
{
    for (unsigned set = 0; set < 1u << m; set++) {
        static double part[MOST][MOST];
        int index[ROWS], k = 0;
        double x[MOST];
        bool good = true;

        for (int i = 0; i < m; i++) {
            if (set & 1u << i) {
                index[k++] = i;
            }
        }
        for (int i = 0; i < k; i++) {
            x[i] = -b[index[i]];
            for (int j = 0; j < k; j++) {
                part[i][j] = A[index[i]][index[j]];
            }
        }
        solve(k, part, x);
        memset(P, 0, ROWS * sizeof *P);
        for (int i = 0; i < k; i++) {
            P[index[i]] = x[i];
            good = good && x[i] >= 0.;
        }
        for (int i = 0; i < m && good; i++) {
            double w = b[i];

            for (int j = 0; j < m; j++) {
                w += A[i][j] * P[j];
            }
            good = (set & 1u << i) || w >= -1e-13;
        }
        if (good) {
            return true;
        }
    }
    return false;
}

static inline void literal_moreau_jean(struct literal *l, const struct scheme *s, double h,
                                       double t_end)
{
    static double W[MOST][MOST], A[MOST][MOST];
    const double theta = s->theta;
    double f0[MOST], f1[MOST], free[MOST], columns[ROWS][MOST], b[ROWS], P[ROWS] = {0.};
    int active[ROWS], m = 0;

    force(l, l->t, f0);
    force(l, t_end, f1);
    for (int i = 0; i < l->n; i++) {
        double r = -h * ((1. - theta) * f0[i] + theta * f1[i]);

        for (int j = 0; j < l->n; j++) {
            W[i][j] = l->M[i][j] + h * theta * l->C[i][j] + h * h * theta * theta * l->K[i][j];
            r += h * l->C[i][j] * l->v[j] +
                 h * l->K[i][j] * (l->q[j] - l->ref[j] + h * theta * l->v[j]);
        }
        free[i] = r;
    }
    solve(l->n, W, free);
    for (int i = 0; i < l->n; i++) {
        free[i] = l->v[i] - free[i];
    }
    for (int k = 0; k < l->rows; k++) {
        double y = l->b[k], speed = 0., free_speed = 0.;

        for (int i = 0; i < l->n; i++) {
            y += l->H[k][i] * l->q[i];
            speed += l->H[k][i] * l->v[i];
            free_speed += l->H[k][i] * free[i];
        }
        if (y + s->gamma * h * speed <= s->threshold) {
            memcpy(columns[m], l->H[k], sizeof columns[m]);
            solve(l->n, W, columns[m]);
            b[m] = free_speed + l->e[k] * speed;
            active[m++] = k;
        }
    }
    for (int i = 0; i < m; i++) {
        for (int j = 0; j < m; j++) {
            A[i][j] = 0.;
            for (int k = 0; k < l->n; k++) {
                A[i][j] += l->H[active[i]][k] * columns[j][k];
            }
        }
    }
    CU_ASSERT_FATAL(impulses(m, A, b, P));
    for (int i = 0; i < l->n; i++) {
        double next = free[i];

        for (int k = 0; k < m; k++) {
            next += columns[k][i] * P[k];
        }
        l->q[i] += h * (theta * next + (1. - theta) * l->v[i]);
        l->v[i] = next;
    }
    for (int k = 0; k < m; k++) {
        l->contacts += P[k] > 0.;
    }
}
