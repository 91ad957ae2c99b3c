/* One contact in numbers: what the sweeps read of it; see body_contacts_layout.h.
 *
 * Rows of G by bodies are (f, r × f) for a translation along f, (0, f) for a turn about f; with
 * M⁻¹ = L Lᵀ for the turns they become (f, Lᵀ (r × f)) and (0, Lᵀ f), and W = G M⁻¹ Gᵀ a sum of
 * products of such rows. */
#include "solver/linalg/v3.h"
#include "solver/vi/body_contacts_layout.h"

#include <math.h>
#include <string.h>

/* a diagonal entry below this share of W_NN is 0, or of the largest of the turns */
static const double least = 1e-12;

/* the first row of turns */
enum { SPIN = 3 };

/* G v + b in world axes */
static void speed_before(const struct mech_contact_bodies *bodies,
                         const struct mech_body_contact *c, double u[3], double w[3])
{
    double t2[3];

    mech_v3_cross(c->n, c->t1, t2);
    for (int i = 0; i < 3; i++) {
        u[i] = c->b[0] * c->n[i] + c->b[1] * c->t1[i] + c->b[2] * t2[i];
        w[i] = 0.;
    }
    for (int side = 0; side < 2; side++) {
        if (c->body[side] >= 0) {
            const double *const v = bodies->velocity + 6 * (size_t)c->body[side];
            const double sign = side == 0 ? -1. : 1.;
            double turning[3];

            mech_v3_cross(v + 3, c->arm[side], turning);
            mech_v3_add(u, sign, v, u);
            mech_v3_add(u, sign, turning, u);
            mech_v3_add(w, sign, v + 3, w);
        }
    }
}

/* K = rows Lᵀ (r × f) */
static void lever(const double L[9], const double r[3], const double axes[9], double K[9])
{
    for (int i = 0; i < 3; i++) {
        double x[3];

        mech_v3_cross(r, axes + 3 * i, x);
        mech_m3_mul_transposed(L, x, K + 3 * i);
    }
}

static void friction_slots(double mu, double D_N, double D_T, enum mech_friction friction,
                           double *gamma, double *beta)
{
    *gamma = friction == MECH_ASSOCIATED ? mu * D_T / D_N : 0.;
    *beta = 1. / (1. + mu * *gamma);
}

void mech_contact_round_slots(const struct mech_body_contacts *s,
                              const struct mech_contact_bodies *bodies,
                              const struct mech_body_contact *c, double *slot)
{
    double w_N = 0., w_T, turning[3];

    memcpy(slot + MECH_ROUND_N, c->n, sizeof c->n);
    for (int side = 0; side < 2; side++) {
        const struct mech_contact_body *const body = mech_contact_body_of(s, c->body[side]);

        slot[MECH_ROUND_S + side] = body ? mech_v3_dot(c->arm[side], c->n) * body->L[0] : 0.;
        w_N += body ? body->mass : 0.;
    }
    w_T = w_N + slot[MECH_ROUND_S] * slot[MECH_ROUND_S] +
          slot[MECH_ROUND_S + 1] * slot[MECH_ROUND_S + 1];
    speed_before(bodies, c, slot + MECH_ROUND_Q, turning);
    slot[MECH_ROUND_STEP_T] = 1. / w_T;
    slot[MECH_ROUND_STEP_D] = 1. / w_N - 1. / w_T;
    slot[MECH_ROUND_MU] = c->mu;
    friction_slots(c->mu, w_N, w_T, s->friction, slot + MECH_ROUND_GAMMA, slot + MECH_ROUND_BETA);
}

/* axes := n and the two across in which W_TT − W_TN W_NT/W_NN is diagonal */
static void turn_axes(const double W[9], double axes[9])
{
    const double a = W[4] - W[1] * W[1] / W[0], d = W[8] - W[2] * W[2] / W[0];
    const double b = W[5] - W[1] * W[2] / W[0];
    double tangent = 0.;

    /* Jacobi's rotation, the smaller of the two */
    if (fabs(b) > 1e-16 * (fabs(a) + fabs(d))) {
        const double ratio = 0.5 * (d - a) / b;

        tangent = 1. / (fabs(ratio) + sqrt(1. + ratio * ratio));
        tangent = ratio < 0. ? -tangent : tangent;
    }
    const double cosine = 1. / sqrt(1. + tangent * tangent), sine = tangent * cosine;

    for (int i = 0; i < 3; i++) {
        const double x = axes[3 + i], y = axes[6 + i];

        axes[3 + i] = cosine * x - sine * y;
        axes[6 + i] = sine * x + cosine * y;
    }
}

/* W without E of two levers */
static void block_of(const double *K, double mass, double W[9])
{
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            W[3 * i + j] = mech_v3_dot(K + 3 * i, K + 3 * j) +
                           mech_v3_dot(K + 9 + 3 * i, K + 9 + 3 * j) + (i == j ? mass : 0.);
        }
    }
}

/* slots of W, given in the contact's own axes */
static void block_solution(const double W[9], double mu, enum mech_friction friction, double *slot)
{
    double *const m = slot + MECH_BLOCK_M, *const A = slot + MECH_BLOCK_A;
    double D_N = W[0], D_T = W[0];

    slot[MECH_BLOCK_MU] = mu;
    slot[MECH_BLOCK_STEP_N] = 1. / W[0];
    for (int i = 0; i < 2; i++) {
        m[i] = mu > 0. ? W[1 + i] / W[0] : 0.;
        A[i] = W[4 + 4 * i] - W[1 + i] * W[1 + i] / W[0];
        A[i] = mu == 0. ? 0. : A[i] > least * W[0] ? A[i] : least * W[0];
        slot[MECH_BLOCK_STEP_A + i] = mu == 0. ? 0. : 1. / A[i];
    }
    if (friction == MECH_COULOMB) {
        slot[MECH_BLOCK_KAPPA] = 0.;
        return;
    }
    if (mu > 0.) {
        const double size = sqrt(m[0] * m[0] + m[1] * m[1]);
        const double a = A[0] + m[0] * m[0] * W[0], d = A[1] + m[1] * m[1] * W[0];
        const double b = m[0] * m[1] * W[0], half = 0.5 * (a - d);

        D_N = W[0] * (1. + size);
        D_T = 0.5 * (a + d) + sqrt(half * half + b * b) + size * W[0];
    }
    slot[MECH_BLOCK_BOUND_N] = 1. / D_N;
    slot[MECH_BLOCK_BOUND_T] = 1. / D_T;
    friction_slots(mu, D_N, D_T, friction, slot + MECH_BLOCK_GAMMA, slot + MECH_BLOCK_BETA);
}

void mech_contact_block_slots(const struct mech_body_contacts *s,
                              const struct mech_contact_bodies *bodies,
                              const struct mech_body_contact *c, double *slot)
{
    double *const axes = slot + MECH_BLOCK_AXES, *const K = slot + MECH_BLOCK_K;
    double W[9], u[3], turning[3], mass = 0.;

    memcpy(axes, c->n, sizeof c->n);
    memcpy(axes + 3, c->t1, sizeof c->t1);
    mech_v3_cross(c->n, c->t1, axes + 6);
    memset(K, 0, 18 * sizeof *K);
    for (int turned = 0; turned < 2; turned++) {
        mass = 0.;
        for (int side = 0; side < 2; side++) {
            const struct mech_contact_body *const body = mech_contact_body_of(s, c->body[side]);

            if (body) {
                lever(body->L, c->arm[side], axes, K + 9 * side);
                mass += body->mass;
            }
        }
        block_of(K, mass, W);
        W[0] += c->cfm[0];
        W[4] += c->cfm[1];
        W[8] += c->cfm[1];
        if (turned == 0) {
            turn_axes(W, axes);
        }
    }
    speed_before(bodies, c, u, turning);
    mech_m3_mul(axes, u, slot + MECH_BLOCK_Q);
    slot[MECH_BLOCK_E] = c->cfm[0];
    slot[MECH_BLOCK_E + 1] = c->cfm[1];
    block_solution(W, c->mu, s->friction, slot);
}

/* --- contacts with rolling, and bodies with several masses ------------------------------------ */

struct row {
    double move[3], turn[3]; /* by velocities of the body, and by y */
};

static struct row row_of(const struct mech_odd_contact *odd, int side, int32_t i)
{
    const double *const f = odd->axes + 3 * (i % 3);
    struct row row = {{0.}, {0.}};
    double x[3] = {f[0], f[1], f[2]};

    if (i < 3) {
        memcpy(row.move, f, sizeof row.move);
        mech_v3_cross(odd->arm[side], f, x);
    }
    mech_m3_mul_transposed(odd->L[side], x, row.turn);
    return row;
}

/* W with E; where c does not answer to a row, any diagonal will do */
static void fill_W(struct mech_odd_contact *odd)
{
    const int32_t n = odd->set.rows;
    double *const W = odd->W, turn = 0.;

    for (int32_t i = 0; i < n * n; i++) {
        W[i] = 0.;
    }
    for (int side = 0; side < 2; side++) {
        struct row row[MECH_ODD_ROWS];

        for (int32_t i = 0; i < n && odd->L[side]; i++) {
            const double *const m = odd->mass[side];

            row[i] = row_of(odd, side, i);
            const double x[3] = {m[0] * row[i].move[0], m[1] * row[i].move[1],
                                 m[2] * row[i].move[2]};

            for (int32_t j = 0; j <= i; j++) {
                W[i * n + j] += mech_v3_dot(x, row[j].move) + mech_v3_dot(row[i].turn, row[j].turn);
                W[j * n + i] = W[i * n + j];
            }
        }
    }
    for (int32_t i = 0; i < n; i++) {
        W[i * n + i] += odd->e[i];
        turn = i < SPIN ? 0. : fmax(turn, W[i * n + i]);
    }
    /* turns are compared with turns: 1/(kg m²), not 1/kg */
    for (int32_t i = 0; i < n; i++) {
        double *const own = &W[i * n + i];
        const double flat = least * (i < SPIN || turn == 0. ? W[0] : turn);

        *own = *own > flat ? *own : flat;
    }
}

/* rows of one part share a scale, so that scaled cones are cones; then by Gershgorin's circles */
static void scale_rows(struct mech_odd_contact *odd)
{
    static const int32_t part_of[MECH_ODD_ROWS] = {0, 1, 1, 2, 3, 3};
    const int32_t n = odd->set.rows;
    double most[4] = {0.}, widest = 0.;

    for (int32_t i = 0; i < n; i++) {
        most[part_of[i]] = fmax(most[part_of[i]], odd->W[i * n + i]);
    }
    for (int32_t i = 0; i < n; i++) {
        const double size = most[part_of[i]];

        /* what nothing moves takes the scale of the normal row */
        odd->scale[i] = 1. / sqrt(size > 0. ? size : most[0] > 0. ? most[0] : 1.);
    }
    for (int32_t i = 0; i < n; i++) {
        double sum = 0.;

        for (int32_t j = 0; j < n; j++) {
            sum += fabs(odd->scale[i] * odd->W[i * n + j] * odd->scale[j]);
        }
        widest = fmax(widest, sum);
    }
    for (int32_t i = 0; i < n && widest > 0.; i++) {
        odd->scale[i] /= sqrt(widest);
    }
}

void mech_contact_fill_odd(const struct mech_body_contacts *s,
                           const struct mech_contact_bodies *bodies,
                           const struct mech_body_contact *c, struct mech_odd_contact *odd)
{
    const bool rolling = c->rolling > 0. || c->spinning > 0.;
    double u[3], w[3];

    *odd = (struct mech_odd_contact){.set = {.kind = rolling      ? MECH_SET_ROLLING
                                                     : c->mu > 0. ? MECH_SET_CONE
                                                                  : MECH_SET_UNILATERAL,
                                             .rows = rolling      ? MECH_ODD_ROWS
                                                     : c->mu > 0. ? 3
                                                                  : 1,
                                             .mu = c->mu,
                                             .spinning = c->spinning,
                                             .rolling = c->rolling}};
    memcpy(odd->axes, c->n, sizeof c->n);
    memcpy(odd->axes + 3, c->t1, sizeof c->t1);
    mech_v3_cross(c->n, c->t1, odd->axes + 6);
    for (int side = 0; side < 2; side++) {
        const struct mech_contact_body *const body = mech_contact_body_of(s, c->body[side]);

        odd->line[side] = s->body_count;
        if (body) {
            odd->line[side] = body->line;
            odd->L[side] = body->L;
            odd->mass[side] = bodies->inverse_mass + 3 * (size_t)c->body[side];
            memcpy(odd->arm[side], c->arm[side], sizeof c->arm[side]);
        }
    }
    speed_before(bodies, c, u, w);
    mech_m3_mul(odd->axes, u, odd->q);
    mech_m3_mul(odd->axes, w, odd->q + 3);
    mech_v3_add(odd->q + 3, 1., c->b + 3, odd->q + 3);
    for (int32_t i = 0; i < MECH_ODD_ROWS; i++) {
        odd->e[i] = c->cfm[i == 0 ? 0 : i < 3 ? 1 : 2];
    }
    fill_W(odd);
    scale_rows(odd);
}
