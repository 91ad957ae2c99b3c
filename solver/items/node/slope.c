/* Frames of cross-sections from positions and slopes.
 *
 *     θ' = ∂θ/∂r' = (−r'_y, r'_x)/|r'|²       H = ∂²θ/∂r'² (symmetric)
 *     p = r + a,  a = R (0, y, z)             ω = θ' · ṙ',  v = ṙ + ω e_z × a
 *     J_ω = Σ D_i θ',  slope of J_ω = D_i D_j H,  δa = δθ e_z × a
 *
 * Source: J. Gerstmayr, H. Irschik, J. Sound Vib. 318 (2008) 461–487. */
#include "solver/items/node/slope.h"

#include <math.h>
#include <string.h>

/* θ' [2] and H [2][2] of r' */
static void turn_of(const double s[2], double turn[2], double H[2][2])
{
    const double d = s[0] * s[0] + s[1] * s[1];

    turn[0] = -s[1] / d;
    turn[1] = s[0] / d;
    H[0][0] = 2. * s[0] * s[1] / (d * d);
    H[1][1] = -H[0][0];
    H[0][1] = H[1][0] = (s[1] * s[1] - s[0] * s[0]) / (d * d);
}

/* rows 0, 1 and 5 of J and of its slope, of what turns */
static void maps_of(const struct mech_slope_point *at, const double turn[2], double H[2][2],
                    const double arm[3], struct mech_flex *flex)
{
    const int32_t n = 2 * at->n;
    double *const J = flex->J + 5 * n;

    for (int32_t k = 0; k < n; k++) {
        J[k] = at->D[k / 2] * turn[k % 2];
        flex->J[k] -= arm[1] * J[k];
        flex->J[n + k] += arm[0] * J[k];
    }
    for (int32_t k = 0; k < n; k++) {
        for (int32_t l = 0; l < n; l++) {
            const double bend = at->D[k / 2] * at->D[l / 2] * H[k % 2][l % 2];

            flex->slope[k * n + l] = -arm[0] * J[k] * J[l] - arm[1] * bend;
            flex->slope[(n + k) * n + l] = -arm[1] * J[k] * J[l] + arm[0] * bend;
            flex->slope[(5 * n + k) * n + l] = bend;
        }
    }
}

void mech_slope_pose(const struct mech_slope_point *at, const struct mech_seat *seat,
                     const struct mech_eval *e, const double local[3], struct mech_pose *out)
{
    const int32_t n = 2 * at->n;
    double s[2] = {0., 0.}, rate[2] = {0., 0.}, turn[2], H[2][2];

    for (int32_t k = 0; k < n; k++) {
        const double q = e->q[seat->q_slot[k]], v = e->v[seat->slot[k]];

        out->p[k % 2] += at->S[k / 2] * q;
        out->v[k % 2] += at->S[k / 2] * v;
        s[k % 2] += at->D[k / 2] * q;
        rate[k % 2] += at->D[k / 2] * v;
        out->flex->J[(k % 2) * n + k] = at->S[k / 2];
    }
    if (at->rigid) {
        return;
    }
    turn_of(s, turn, H);
    const double length = hypot(s[0], s[1]), c = s[0] / length, sine = s[1] / length;
    const double R[9] = {c, -sine, 0., sine, c, 0., 0., 0., 1.};

    memcpy(out->R, R, sizeof out->R);
    out->arm[0] = -sine * local[1];
    out->arm[1] = c * local[1];
    out->arm[2] = local[2];
    out->omega[2] = turn[0] * rate[0] + turn[1] * rate[1];
    out->v[0] -= out->omega[2] * out->arm[1];
    out->v[1] += out->omega[2] * out->arm[0];
    for (int i = 0; i < 3; i++) {
        out->p[i] += out->arm[i];
    }
    maps_of(at, turn, H, out->arm, out->flex);
}
