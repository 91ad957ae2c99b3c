/* Two frames against each other; see rigid_relative.h. Rows [3][12] say how a vector follows the
 * motions δ = (δp₀, δθ₀, δp₁, δθ₁). */
#include "solver/items/connector/rigid_relative.h"

#include "solver/linalg/so3.h"

#include <string.h>

/* out += s [x]× in */
static void add_cross(double s, const double x[3], double in[3][12], double out[3][12])
{
    static const int next[3] = {1, 2, 0};

    for (int i = 0; i < 3; i++) {
        const int k = next[i], l = next[k];

        for (int j = 0; j < 12; j++) {
            out[i][j] += s * (x[k] * in[l][j] - x[l] * in[k][j]);
        }
    }
}

/* out += s M in, M by rows */
static void add_product(double s, const double M[9], double in[3][12], double out[3][12])
{
    for (int i = 0; i < 3; i++) {
        for (int k = 0; k < 3; k++) {
            for (int j = 0; j < 12; j++) {
                out[i][j] += s * M[3 * i + k] * in[k][j];
            }
        }
    }
}

/* δd, δψ, ½ (δθ₀ + δθ₁), δθ₀ */
struct motions {
    double d[3][12], psi[3][12], mean[3][12], first[3][12];
};

static void motions_of(struct motions *m)
{
    *m = (struct motions){.d = {{0.}}};
    for (int i = 0; i < 3; i++) {
        m->d[i][i] = m->psi[i][3 + i] = -1.;
        m->d[i][6 + i] = m->psi[i][9 + i] = 1.;
        m->mean[i][3 + i] = m->mean[i][9 + i] = 0.5;
        m->first[i][3 + i] = 1.;
    }
}

/* how the frame of the forces turns */
static void turn_of(const struct mech_relative *x, struct motions *m, double turn[3][12])
{
    memcpy(turn, x->halfway ? m->mean : m->first, sizeof m->mean);
    if (x->halfway) {
        add_cross(-0.5, x->s, m->psi, turn);
    }
}

/* φ̇ = B A₀ᵀ ψ̇ */
static void rates_of(const struct mech_relative *x, double B[9])
{
    if (x->straight) {
        memset(B, 0, 9 * sizeof *B);
        B[0] = B[4] = B[8] = 1.;
        return;
    }
    if (x->halfway) {
        mech_so3_left_inverse(x->phi, B);
        return;
    }
    const double s0 = sin(x->phi[0]), c0 = cos(x->phi[0]);
    const double s1 = sin(x->phi[1]), c1 = cos(x->phi[1]);
    const double rows[9] = {1., s1 * s0 / c1, -s1 * c0 / c1, 0., c0, s0, 0., -s0 / c1, c0 / c1};

    memcpy(B, rows, sizeof rows);
}

/* φ from halfway, of what turns A₀ to A₁ */
static void vector_of(const struct mech_measure *measure, const double turn[9],
                      const double last[3], double phi[3])
{
    if (!measure->straight) {
        mech_so3_log_near(turn, last, phi);
        return;
    }
    const double *const e = measure->axis;
    const double twice[3] = {turn[7] - turn[5], turn[2] - turn[6], turn[3] - turn[1]};
    const double angle = mech_so3_near(
        atan2(mech_v3_dot(twice, e), turn[0] + turn[4] + turn[8] - 1.), mech_v3_dot(last, e));

    for (int i = 0; i < 3; i++) {
        phi[i] = angle * e[i];
    }
}

/* u and the frame A */
static void place(const struct mech_measure *measure, struct mech_relative *x, const double A1[9],
                  const double last[3])
{
    double turn[9], half[3], E[9];

    mech_m3_transpose(x->A0, turn);
    mech_m3_product(turn, A1, turn);
    memcpy(x->A, x->A0, sizeof x->A);
    if (x->halfway) {
        vector_of(measure, turn, last, x->phi);
        const double angle = mech_v3_norm(x->phi);

        for (int i = 0; i < 3; i++) {
            half[i] = 0.5 * x->phi[i];
            x->s[i] = x->straight  ? 0.
                      : angle > 0. ? tan(0.25 * angle) / angle * x->phi[i]
                                   : 0.25 * x->phi[i];
        }
        mech_so3_exp(half, E);
        mech_m3_product(x->A0, E, x->A);
        mech_m3_mul(x->A0, x->s, x->s);
    } else {
        mech_so3_angles_near(turn, last, x->phi);
    }
    mech_m3_mul_transposed(x->A, x->d, x->u);
    memcpy(x->u + 3, x->phi, sizeof x->phi);
}

/* v */
static void move(struct mech_relative *x, const struct mech_pose *const pose[2])
{
    double B[9], sway[3];

    mech_v3_add(pose[1]->omega, -1., pose[0]->omega, x->spin);
    mech_v3_add(pose[1]->v, -1., pose[0]->v, x->w);
    mech_m3_mul_transposed(x->A0, x->spin, x->v + 3);
    if (x->halfway) {
        mech_v3_cross(x->s, x->spin, x->turning);
        for (int i = 0; i < 3; i++) {
            x->turning[i] = 0.5 * (pose[0]->omega[i] + pose[1]->omega[i] - x->turning[i]);
        }
        mech_v3_cross(x->d, x->turning, sway);
        mech_v3_add(x->w, 1., sway, x->w);
        rates_of(x, B);
        mech_m3_mul(B, x->v + 3, x->v + 3);
    }
    mech_m3_mul_transposed(x->A, x->w, x->v);
}

void mech_relative_at(const struct mech_measure *measure, const double *last,
                      const struct mech_pose *const pose[2], struct mech_relative *out)
{
    static const double none[3] = {0.};
    struct motions m;
    double A1[9], At[9], B[9], turn[3][12], part[3][12];

    *out = (struct mech_relative){.halfway = measure->halfway, .straight = measure->straight};
    mech_m3_product(pose[0]->R, measure->rotation[0], out->A0);
    mech_m3_product(pose[1]->R, measure->rotation[1], A1);
    mech_v3_add(pose[1]->p, -1., pose[0]->p, out->d);
    place(measure, out, A1, last ? last : none);
    move(out, pose);

    /* U: Aᵀ (δd + d × δθ), B A₀ᵀ δψ */
    motions_of(&m);
    turn_of(out, &m, turn);
    memcpy(part, m.d, sizeof part);
    add_cross(1., out->d, turn, part);
    mech_m3_transpose(out->A, At);
    add_product(1., At, part, out->U);
    mech_m3_transpose(out->A0, At);
    rates_of(out, B);
    mech_m3_product(B, At, B);
    add_product(1., B, m.psi, out->U + 3);

    for (int i = 0; i < 12; i++) {
        for (int k = 0; k < 6; k++) {
            /* A on the first marker's force and torque, −A on the second's */
            const bool beside = i % 6 / 3 != k / 3;

            out->L[i][k] = out->halfway ? -out->U[k][i]
                           : beside     ? 0.
                                        : (i < 6 ? 1. : -1.) * out->A[3 * (i % 3) + k % 3];
        }
    }
}

/* out [9] += how J⁻¹(φ) x (sign −1) or J⁻ᵀ(φ) x (sign 1) follows φ:
 * x ± ½ φ × x + β (φ (φ·x) − θ² x),  γ = β'/θ */
static void bend(const double phi[3], const double x[3], double sign, double out[9])
{
    double beta, gamma;
    const double along = mech_v3_dot(phi, x), square = mech_v3_dot(phi, phi);

    mech_so3_inverse_terms(sqrt(square), &beta, &gamma);
    for (int i = 0; i < 3; i++) {
        const int j = (i + 1) % 3, k = (i + 2) % 3;

        for (int c = 0; c < 3; c++) {
            out[3 * i + c] = beta * (phi[i] * x[c] - 2. * x[i] * phi[c]) +
                             gamma * phi[c] * (phi[i] * along - square * x[i]);
        }
        out[4 * i] += beta * along;
        /* ± ½ δφ × x */
        out[3 * i + j] += 0.5 * sign * x[k];
        out[3 * i + k] -= 0.5 * sign * x[j];
    }
}

/* δv at twists that stay */
static void vary_rates(const struct mech_relative *x, struct motions *m, double turn[3][12],
                       double sweep[3][12], double V[6][12])
{
    double At[9], A0t[9], part[3][12] = {{0.}}, swing[3][12] = {{0.}};

    mech_m3_transpose(x->A, At);
    mech_m3_transpose(x->A0, A0t);
    memset(V, 0, 6 * sizeof *V);
    /* Aᵀ (w × δθ + δd × turning + d × δturning), δturning = −½ δs × spin */
    add_cross(1., x->w, turn, part);
    if (x->halfway) {
        add_cross(-1., x->turning, m->d, part);
        add_cross(0.5, x->spin, sweep, swing);
        add_cross(1., x->d, swing, part);
    }
    add_product(1., At, part, V);

    /* A₀ᵀ (spin × δθ₀); from halfway J⁻¹ of that, and what J⁻¹ does */
    memset(part, 0, sizeof part);
    add_cross(1., x->spin, m->first, part);
    if (x->halfway) {
        double B[9], M[9], y[3], phi[3][12];

        mech_m3_mul_transposed(x->A0, x->spin, y);
        rates_of(x, B);
        mech_m3_product(B, A0t, M);
        add_product(1., M, part, V + 3);
        if (!x->straight) {
            bend(x->phi, y, -1., M);
            memcpy(phi, x->U + 3, sizeof phi);
            add_product(1., M, phi, V + 3);
        }
    } else {
        add_product(1., A0t, part, V + 3);
    }
}

/* rows of Wx from how force and torque on both markers follow */
static void put(double force[3][12], double first[3][12], double second[3][12], double Wx[12][12])
{
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 12; j++) {
            Wx[i][j] = force[i][j];
            Wx[3 + i][j] = first[i][j];
            Wx[6 + i][j] = -force[i][j];
            Wx[9 + i][j] = second[i][j];
        }
    }
}

/* From the first frame: δθ₀ × A₀ f. */
static void bend_first(const double F[3], const double T[3], struct motions *m, double Wx[12][12])
{
    double force[3][12] = {{0.}}, torque[3][12] = {{0.}}, second[3][12];

    add_cross(-1., F, m->first, force);
    add_cross(-1., T, m->first, torque);
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 12; j++) {
            second[i][j] = -torque[i][j];
        }
    }
    put(force, torque, second, Wx);
}

/* From halfway: F = A f_t, T = A₀ J⁻ᵀ f_r, g = d × F; the torques are T + ½ (g − s × g) and
 * −T + ½ (g + s × g). */
static void bend_halfway(const struct mech_relative *x, const double f[6], struct motions *m,
                         double turn[3][12], double sweep[3][12], double Wx[12][12])
{
    double F[3], T[3], g[3], B[9], M[9], phi[3][12];
    double force[3][12] = {{0.}}, torque[3][12] = {{0.}}, couple[3][12] = {{0.}};
    double swept[3][12] = {{0.}}, first[3][12], second[3][12];

    mech_m3_mul(x->A, f, F);
    rates_of(x, B);
    mech_m3_mul_transposed(B, f + 3, T);
    mech_m3_mul(x->A0, T, T);
    mech_v3_cross(x->d, F, g);

    add_cross(-1., F, turn, force);
    if (!x->straight) {
        bend(x->phi, f + 3, 1., M);
        mech_m3_product(x->A0, M, M);
        memcpy(phi, x->U + 3, sizeof phi);
        add_product(1., M, phi, torque);
    }
    add_cross(-1., T, m->first, torque);
    add_cross(-1., F, m->d, couple);
    add_cross(1., x->d, force, couple);
    add_cross(-1., g, sweep, swept);
    add_cross(1., x->s, couple, swept);
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 12; j++) {
            first[i][j] = torque[i][j] + 0.5 * (couple[i][j] - swept[i][j]);
            second[i][j] = -torque[i][j] + 0.5 * (couple[i][j] + swept[i][j]);
        }
    }
    put(force, first, second, Wx);
}

void mech_relative_slopes(const struct mech_relative *x, const double f[6], double U[6][12],
                          double V[6][12], double Vt[6][12], double Wx[12][12])
{
    struct motions m;
    double turn[3][12], sweep[3][12] = {{0.}}, F[3], T[3];
    const double square = mech_v3_dot(x->s, x->s);

    motions_of(&m);
    turn_of(x, &m, turn);
    memcpy(U, x->U, sizeof x->U);
    if (x->halfway) {
        const double *const s = x->s;
        double M[9];

        /* δs */
        for (int i = 0; i < 9; i++) {
            M[i] = 0.5 * s[i / 3] * s[i % 3] + (i % 4 == 0 ? 0.25 * (1. - square) : 0.);
        }
        add_product(1., M, m.psi, sweep);
        add_cross(-1., s, m.mean, sweep);
        memcpy(Vt, x->U, sizeof x->U);
        bend_halfway(x, f, &m, turn, sweep, Wx);
    } else {
        double At[9];

        mech_m3_transpose(x->A0, At);
        memset(Vt, 0, 6 * sizeof *Vt);
        add_product(1., At, m.d, Vt);
        add_product(1., At, m.psi, Vt + 3);
        mech_m3_mul(x->A0, f, F);
        mech_m3_mul(x->A0, f + 3, T);
        bend_first(F, T, &m, Wx);
    }
    vary_rates(x, &m, turn, sweep, V);
}
