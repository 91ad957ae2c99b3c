/* One contact with friction; see contact.h.
 *
 * Coulomb's law: take-off (q_N ≥ 0, l = 0), sticking (u = 0, l in the cone), else sliding: u_N = 0
 * and u_T = −κ l_T with κ > 0. With l_N = −(q_N + W_NT l_T)/W_NN put in,
 *
 *     (A + κ 1) l_T = −b,   A = W_TT − W_TN W_NT/W_NN,   b = q_T − W_TN q_N/W_NN
 *
 * and κ is the root of φ(κ) = ‖l_T(κ)‖ − μ l_N(κ), which is positive at κ = 0 (or the contact
 * sticks) and negative at infinity (where l_T = 0 and l_N = −q_N/W_NN > 0): it always has one.
 * Found by Newton's method inside a bracket.
 *
 * The associated law minimises ½ lᵀ W l + qᵀ l over the cone. Its boundary is l = s d(θ) with
 * d = (1, μ cos θ, μ sin θ), s = −qᵀd/dᵀWd; what is left is the largest (qᵀd)²/dᵀWd over θ. */
#include "solver/vi/contact.h"

#include <math.h>
#include <stddef.h>

enum { ROOT_STEPS = 100, DIRECTIONS = 16 };

static double norm2(int32_t n, const double *x)
{
    return n == 2 ? sqrt(x[0] * x[0] + x[1] * x[1]) : fabs(x[0]);
}

/* --- Coulomb's law ---------------------------------------------------------------------------- */

/* The contact with its normal row eliminated; n tangents. */
struct tangential {
    int32_t n;
    double A[4], b[2], W_NT[2], W_NN, q_N, mu;
};

static struct tangential eliminate(int32_t rows, const double *W, const double *q, double mu)
{
    struct tangential t = {.n = rows - 1, .W_NN = W[0], .q_N = q[0], .mu = mu};

    for (int32_t i = 0; i < t.n; i++) {
        const double W_TN = W[(i + 1) * rows];

        t.W_NT[i] = W[i + 1];
        t.b[i] = q[i + 1] - W_TN * q[0] / W[0];
        for (int32_t j = 0; j < t.n; j++) {
            t.A[2 * i + j] = W[(i + 1) * rows + j + 1] - W_TN * W[j + 1] / W[0];
        }
    }
    return t;
}

/* x := (A + κ 1)⁻¹ x */
static void divide(const struct tangential *t, double kappa, double *x)
{
    const double a = t->A[0] + kappa, d = t->A[3] + kappa;

    if (t->n == 1) {
        x[0] /= a;
        return;
    }
    const double det = a * d - t->A[1] * t->A[2];
    const double y = (d * x[0] - t->A[1] * x[1]) / det;

    x[1] = (a * x[1] - t->A[2] * x[0]) / det;
    x[0] = y;
}

static double normal_of(const struct tangential *t, const double *l_T)
{
    double sum = t->q_N;

    for (int32_t i = 0; i < t->n; i++) {
        sum += t->W_NT[i] * l_T[i];
    }
    return -sum / t->W_NN;
}

/* l [rows] of κ, and φ there */
static double excess(const struct tangential *t, double kappa, double *l)
{
    for (int32_t i = 0; i < t->n; i++) {
        l[i + 1] = -t->b[i];
    }
    if (norm2(t->n, t->b) != 0.) {
        divide(t, kappa, l + 1);
    }
    l[0] = normal_of(t, l + 1);
    return norm2(t->n, l + 1) - t->mu * l[0];
}

/* dφ/dκ at that l */
static double excess_slope(const struct tangential *t, double kappa, const double *l)
{
    double change[2] = {-l[1], t->n == 2 ? -l[2] : 0.}, along = 0., normal = 0.;

    divide(t, kappa, change);
    for (int32_t i = 0; i < t->n; i++) {
        along += l[i + 1] * change[i];
        normal -= t->W_NT[i] * change[i] / t->W_NN;
    }
    return along / norm2(t->n, l + 1) - t->mu * normal;
}

static bool slide(const struct tangential *t, double *l)
{
    double low = 0., high = fabs(t->A[0]) + fabs(t->A[3]) + t->W_NN;
    double kappa, value = excess(t, high, l);

    for (int k = 0; k < ROOT_STEPS && !(value < 0.); k++) {
        low = high;
        high *= 4.;
        value = excess(t, high, l);
    }
    kappa = high;
    for (int k = 0; k < ROOT_STEPS && value != 0.; k++) {
        double next = kappa - value / excess_slope(t, kappa, l);

        *(value < 0. ? &high : &low) = kappa;
        if (!(next > low && next < high)) {
            next = 0.5 * (low + high);
        }
        if (fabs(next - kappa) <= 1e-15 * kappa) {
            break;
        }
        kappa = next;
        value = excess(t, kappa, l);
    }
    /* on the cone to the last digit */
    const double size = norm2(t->n, l + 1);

    for (int32_t i = 1; i <= t->n; i++) {
        l[i] *= t->mu * l[0] / size;
    }
    return isfinite(l[0]) && l[0] >= 0. && isfinite(l[1]) && isfinite(l[t->n]);
}

static bool coulomb(int32_t rows, const double *W, const double *q, double mu, double *l)
{
    if (q[0] >= 0.) {
        return true;
    }
    if (mu == 0.) {
        l[0] = -q[0] / W[0];
        return isfinite(l[0]);
    }
    const struct tangential t = eliminate(rows, W, q, mu);

    return excess(&t, 0., l) <= 0. || slide(&t, l);
}

/* --- the associated law ----------------------------------------------------------------------- */

struct boundary {
    int32_t rows;
    const double *W, *q;
    double mu;
};

/* a = qᵀx, and with y: xᵀ W y */
static double product(const struct boundary *b, const double *x, const double *y)
{
    double sum = 0.;

    for (int32_t i = 0; i < b->rows; i++) {
        double row = y ? 0. : b->q[i];

        for (int32_t j = 0; j < b->rows && y; j++) {
            row += b->W[i * b->rows + j] * y[j];
        }
        sum += x[i] * row;
    }
    return sum;
}

static double direction(const struct boundary *b, double theta, double d[3])
{
    d[0] = 1.;
    d[1] = b->mu * cos(theta);
    d[2] = b->mu * sin(theta);
    return -product(b, d, NULL);
}

/* half the decrease of the energy along d(θ): larger is better; 0 where it rises */
static double gain(const struct boundary *b, double theta)
{
    double d[3];
    const double pull = direction(b, theta, d);

    return pull > 0. ? pull * pull / product(b, d, d) : 0.;
}

/* slope of the logarithm of the gain, and the slope of that */
static double steepness(const struct boundary *b, double theta, double *curvature)
{
    double d[3];
    const double pull = direction(b, theta, d);
    const double d1[3] = {0., -d[2], d[1]}, d2[3] = {0., -d[1], -d[2]};
    const double p1 = -product(b, d1, NULL), p2 = -product(b, d2, NULL);
    const double s = product(b, d, d), s1 = 2. * product(b, d1, d);
    const double s2 = 2. * (product(b, d2, d) + product(b, d1, d1));

    *curvature = 2. * (p2 / pull - p1 * p1 / (pull * pull)) - s2 / s + s1 * s1 / (s * s);
    return 2. * p1 / pull - s1 / s;
}

static double best_direction(const struct boundary *b)
{
    const double pi = 3.14159265358979323846, spacing = 2. * pi / DIRECTIONS;
    double theta = 0., most = -1., curvature;

    if (b->rows == 2) {
        return gain(b, 0.) >= gain(b, pi) ? 0. : pi;
    }
    for (int k = 0; k < DIRECTIONS; k++) {
        const double here = gain(b, k * spacing);

        if (here > most) {
            most = here;
            theta = k * spacing;
        }
    }
    double low = theta - spacing, high = theta + spacing;

    for (int k = 0; k < ROOT_STEPS; k++) {
        const double slope = steepness(b, theta, &curvature);
        double next = theta - slope / curvature;

        *(slope > 0. ? &low : &high) = theta;
        if (!(curvature < 0. && next > low && next < high)) {
            next = 0.5 * (low + high);
        }
        if (fabs(next - theta) <= 1e-16 * (1. + fabs(theta))) {
            break;
        }
        theta = next;
    }
    return theta;
}

static bool associated(int32_t rows, const double *W, const double *q, double mu, double *l)
{
    const struct boundary b = {rows, W, q, mu};
    double d[3];

    if (q[0] >= mu * norm2(rows - 1, q + 1)) {
        return true;
    }
    if (mu == 0.) {
        l[0] = -q[0] / W[0];
        return isfinite(l[0]);
    }
    const struct tangential t = eliminate(rows, W, q, mu);

    if (excess(&t, 0., l) <= 0.) {
        return true;
    }
    const double pull = direction(&b, best_direction(&b), d), size = fmax(pull, 0.);

    for (int32_t i = 0; i < rows; i++) {
        l[i] = size / product(&b, d, d) * d[i];
    }
    return isfinite(l[0]) && isfinite(l[rows - 1]);
}

bool mech_contact_solve(int32_t rows, const double *W, const double *q, double mu,
                        enum mech_friction friction, double *l)
{
    for (int32_t i = 0; i < rows; i++) {
        if (!(W[i * rows + i] > 0.)) {
            return false;
        }
        l[i] = 0.;
    }
    return friction == MECH_COULOMB ? coulomb(rows, W, q, mu, l) : associated(rows, W, q, mu, l);
}
