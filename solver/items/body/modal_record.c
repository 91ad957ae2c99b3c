/* Equations of motion of a body in a floating frame of reference (Exudyn's ObjectFFRFreducedOrder;
 * A. Shabana, Dynamics of Multibody Systems, chapter 5):
 *
 *     r_i = p + R u_i,   r̈_i = R A_i,   A_i = α + B u_i + E u̇_i + ü_i
 *     α = Rᵀ v̇,   B = Ω̇× + Ω×Ω×,   E = 2 Ω×
 *     Σ m_ij R A_j = f,   Σ m_ij u_i × A_j = τ,   Σ m_ij Ψ_i^k · A_j + (K a + D ȧ)_k = Q_k
 *
 * v and f are global, Ω and τ body-fixed. With the sums of modal.h, S = Σ b_α s_α,
 * U_β = Σ b_α D_αβ, V_β = Σ ȧ_k D_kβ, P = Σ b_β U_β, Q = Σ ȧ_k U_k and vee(u wᵀ) = u × w the
 * left-hand sides are
 *
 *     R (μ α + B S + E Ṡ + S̈)
 *     S × α + vee(P Bᵀ + Q Eᵀ + Σ ä_k U_k)
 *     s_k · α + tr(B U_k) + tr(E V_k) + Σ ä_l tr D_lk
 *
 * of which μ v̇, the inertia at a = 0 and Σ ä_l tr D_lk are not here: they are in M. */
#include "solver/items/body/modal_record.h"

#include "solver/items/body/body.h"
#include "solver/linalg/v3.h"

#include <string.h>

/* out += s A */
static void add9(const double A[9], double s, double out[9])
{
    for (int k = 0; k < 9; k++) {
        out[k] += s * A[k];
    }
}

/* x, the velocities or accelerations of the frame and the modes */
static void take(const struct mech_modal_record *r, const double *x, double frame[6], double *modes)
{
    for (int32_t i = 0; i < r->n; i++) {
        *(i < 6 ? &frame[i] : &modes[i - 6]) = x ? x[r->slot[i]] : 0.;
    }
}

static void place(struct mech_modal_record *r, const struct mech_eval *e)
{
    struct mech_modal_point *const p = &r->at;
    const int32_t m = r->modal.modes;
    double frame[6], spin[9], turn[9];

    mech_rigid_rotation(r->q_slot, r->nq == r->n, e->q, p->R);
    take(r, e->v, frame, p->ad);
    memcpy(p->omega, frame + 3, sizeof p->omega);
    take(r, e->vdot, frame, p->add);
    memcpy(p->turn, frame + 3, sizeof p->turn);
    mech_m3_mul_transposed(p->R, frame, p->alpha);
    p->b[0] = 1.;
    for (int32_t k = 0; k < m; k++) {
        const int32_t q = r->q_slot[r->nq - m + k];

        p->b[1 + k] = e->q[q] - e->q_ref[q];
    }
    mech_m3_cross(p->omega, spin);
    mech_m3_cross(p->turn, turn);
    mech_m3_product(spin, spin, p->B);
    add9(turn, 1., p->B);
    memset(p->E, 0, sizeof p->E);
    add9(spin, 2., p->E);

    /* the sums */
    memset(p->U, 0, 27 * (size_t)(m + 1) * sizeof *p->U);
    for (int32_t a = 0; a <= m; a++) {
        for (int32_t c = 0; c <= m; c++) {
            const double *const D = r->modal.D + 9 * (a * (m + 1) + c);

            add9(D, p->b[a], p->U + 9 * c);
            if (a > 0) {
                add9(D, p->ad[a - 1], p->V + 9 * c);
                add9(D, p->add[a - 1], p->W + 9 * c);
            }
        }
    }
    memset(p->P, 0, sizeof p->P);
    memset(p->Q, 0, sizeof p->Q);
    memset(p->S, 0, sizeof p->S);
    memset(p->rate, 0, sizeof p->rate);
    memset(p->change, 0, sizeof p->change);
    for (int32_t a = 0; a <= m; a++) {
        const double *const s = r->modal.s + 3 * a;

        add9(p->U + 9 * a, p->b[a], p->P);
        mech_v3_add(p->S, p->b[a], s, p->S);
        if (a > 0) {
            add9(p->U + 9 * a, p->ad[a - 1], p->Q);
            mech_v3_add(p->rate, p->ad[a - 1], s, p->rate);
            mech_v3_add(p->change, p->add[a - 1], s, p->change);
        }
    }
}

/* A Bᵀ */
static void times_transposed(const double A[9], const double B[9], double out[9])
{
    double turned[9];

    mech_m3_transpose(B, turned);
    mech_m3_product(A, turned, out);
}

static double trace_of_product(const double A[9], const double B[9])
{
    double sum = 0.;

    for (int k = 0; k < 9; k++) {
        sum += A[k] * B[3 * (k % 3) + k / 3];
    }
    return sum;
}

/* B S + E Ṡ + S̈ */
static void drift(const struct mech_modal_point *p, double out[3])
{
    double part[3];

    mech_m3_mul(p->B, p->S, out);
    mech_m3_mul(p->E, p->rate, part);
    mech_v3_add(out, 1., part, out);
    mech_v3_add(out, 1., p->change, out);
}

void mech_modal_force(void *records, size_t n, const struct mech_eval *e, double *g)
{
    for (struct mech_modal_record *r = records, *end = r + n; r < end; r++) {
        const struct mech_modal_point *const p = &r->at;
        double local[3], global[3], torque[3], held[3], part[3], X[9], Y[9];

        place(r, e);
        drift(p, local);
        mech_m3_mul(p->R, local, global);
        times_transposed(p->P, p->B, X);
        times_transposed(p->Q, p->E, Y);
        add9(Y, 1., X);
        for (int32_t k = 0; k < r->modal.modes; k++) {
            add9(p->U + 9 * (k + 1), p->add[k], X);
        }
        mech_modal_vee(X, torque);
        mech_v3_cross(p->S, p->alpha, part);
        mech_m3_mul(r->J, p->turn, held);
        for (int i = 0; i < 3; i++) {
            g[r->slot[i]] += global[i];
            g[r->slot[3 + i]] += torque[i] + part[i] - held[i];
        }
        for (int32_t k = 1; k <= r->modal.modes; k++) {
            g[r->slot[5 + k]] += mech_v3_dot(r->modal.s + 3 * k, p->alpha) +
                                 trace_of_product(p->B, p->U + 9 * k) +
                                 trace_of_product(p->E, p->V + 9 * k);
        }
    }
}

/* Where the tangent of one record goes. */
struct target {
    const int32_t *place;
    double *values;
    int32_t n;
};

static void put(const struct target *t, int32_t row, int32_t col, double x)
{
    t->values[t->place[row * t->n + col]] += x;
}

static void put_block(const struct target *t, int32_t row, int32_t col, double scale,
                      const double A[9])
{
    for (int k = 0; k < 9; k++) {
        put(t, row + k / 3, col + k % 3, scale * A[k]);
    }
}

static void put_column(const struct target *t, int32_t row, int32_t col, double scale,
                       const double x[3])
{
    for (int i = 0; i < 3; i++) {
        put(t, row + i, col, scale * x[i]);
    }
}

/* M_q */
static void put_mass(const struct mech_modal_record *r, double c, const struct target *t)
{
    const struct mech_modal_point *const p = &r->at;
    double cross[9], A[9], J[9], x[3];

    mech_m3_cross(p->S, cross);
    mech_m3_product(p->R, cross, A);
    mech_m3_transpose(A, cross);
    put_block(t, 0, 3, -c, A);
    put_block(t, 3, 0, -c, cross);
    mech_modal_inertia(p->P, J);
    add9(r->J, -1., J);
    put_block(t, 3, 3, c, J);
    for (int32_t k = 1; k <= r->modal.modes; k++) {
        mech_m3_mul(p->R, r->modal.s + 3 * k, x);
        put_column(t, 0, 5 + k, c, x);
        for (int i = 0; i < 3; i++) {
            put(t, 5 + k, i, c * x[i]);
        }
        mech_modal_vee(p->U + 9 * k, x);
        put_column(t, 3, 5 + k, c, x);
        for (int i = 0; i < 3; i++) {
            put(t, 5 + k, 3 + i, c * x[i]);
        }
    }
}

/* by small rotations about the body's axes */
static void put_rotation(const struct mech_modal_record *r, double c, const struct target *t)
{
    const struct mech_modal_point *const p = &r->at;
    double local[3], cross[9], alpha[9], A[9], x[3];

    drift(p, local);
    mech_m3_cross(local, cross);
    mech_m3_product(p->R, cross, A);
    put_block(t, 0, 3, -c, A);
    mech_m3_cross(p->alpha, alpha);
    mech_m3_cross(p->S, cross);
    mech_m3_product(cross, alpha, A);
    put_block(t, 3, 3, c, A);
    for (int32_t k = 1; k <= r->modal.modes; k++) {
        mech_m3_mul_transposed(alpha, r->modal.s + 3 * k, x);
        for (int i = 0; i < 3; i++) {
            put(t, 5 + k, 3 + i, c * x[i]);
        }
    }
}

/* by a, and by ȧ */
static void put_modes(const struct mech_modal_record *r, const double c[3], const struct target *t)
{
    const struct mech_modal_point *const p = &r->at;
    const int32_t m = r->modal.modes;

    for (int32_t k = 1; k <= m; k++) {
        const double *const s = r->modal.s + 3 * k, *const U = p->U + 9 * k;
        double X[9], Y[9], x[3], y[3];

        mech_m3_mul(p->B, s, y);
        mech_m3_mul(p->R, y, x);
        put_column(t, 0, 5 + k, c[0], x);
        mech_m3_mul(p->E, s, y);
        mech_m3_mul(p->R, y, x);
        put_column(t, 0, 5 + k, c[1], x);

        /* (U + Uᵀ) Bᵀ + Vᵀ Eᵀ + Wᵀ */
        mech_m3_transpose(U, Y);
        add9(U, 1., Y);
        times_transposed(Y, p->B, X);
        mech_m3_product(p->E, p->V + 9 * k, Y);
        add9(p->W + 9 * k, 1., Y);
        mech_modal_vee(X, x);
        mech_modal_vee(Y, y);
        mech_v3_add(x, -1., y, x);
        mech_v3_cross(s, p->alpha, y);
        mech_v3_add(x, 1., y, x);
        put_column(t, 3, 5 + k, c[0], x);
        times_transposed(U, p->E, X);
        mech_modal_vee(X, x);
        put_column(t, 3, 5 + k, c[1], x);

        for (int32_t l = 1; l <= m; l++) {
            const double *const D = r->modal.D + 9 * (l * (m + 1) + k);

            put(t, 5 + k, 5 + l,
                c[0] * trace_of_product(p->B, D) + c[1] * trace_of_product(p->E, D));
        }
    }
}

/* by Ω: ∂B/∂Ω_j = e_j×Ω× + Ω×e_j×, ∂E/∂Ω_j = 2 e_j× */
static void put_spin(const struct mech_modal_record *r, double c, const struct target *t)
{
    const struct mech_modal_point *const p = &r->at;
    double spin[9];

    mech_m3_cross(p->omega, spin);
    for (int j = 0; j < 3; j++) {
        double axis[3] = {0.}, unit[9], dB[9], dE[9] = {0.}, X[9], Y[9], x[3], y[3];

        axis[j] = 1.;
        mech_m3_cross(axis, unit);
        add9(unit, 2., dE);
        mech_m3_product(unit, spin, dB);
        mech_m3_product(spin, unit, X);
        add9(X, 1., dB);

        mech_m3_mul(dB, p->S, x);
        mech_m3_mul(dE, p->rate, y);
        mech_v3_add(x, 1., y, x);
        mech_m3_mul(p->R, x, y);
        put_column(t, 0, 3 + j, c, y);
        times_transposed(p->P, dB, X);
        times_transposed(p->Q, dE, Y);
        add9(Y, 1., X);
        mech_modal_vee(X, x);
        put_column(t, 3, 3 + j, c, x);
        for (int32_t k = 1; k <= r->modal.modes; k++) {
            put(t, 5 + k, 3 + j,
                c * (trace_of_product(dB, p->U + 9 * k) + trace_of_product(dE, p->V + 9 * k)));
        }
    }
}

void mech_modal_tangent(void *records, size_t n, const struct mech_eval *e, const double c[3],
                        const int32_t *places, double *values)
{
    for (struct mech_modal_record *r = records, *end = r + n; r < end; places += r->n * r->n, r++) {
        const struct target t = {places, values, r->n};

        place(r, e);
        put_mass(r, c[2], &t);
        if (c[0] != 0. || c[1] != 0.) {
            put_rotation(r, c[0], &t);
            put_modes(r, c, &t);
            put_spin(r, c[1], &t);
        }
    }
}

/* ½ vᵀ M_q v = v · R (Ω × S + Ṡ) + ½ Ω · (J − J_0) Ω + Ω · vee Q */
double mech_modal_energy(void *records, size_t n, const struct mech_eval *e)
{
    double sum = 0.;

    for (struct mech_modal_record *r = records, *end = r + n; r < end; r++) {
        const struct mech_modal_point *const p = &r->at;
        double J[9], local[3], global[3], spin[3], x[3];

        place(r, e);
        mech_modal_inertia(p->P, J);
        add9(r->J, -1., J);
        mech_v3_cross(p->omega, p->S, local);
        mech_v3_add(local, 1., p->rate, local);
        mech_m3_mul(p->R, local, global);
        mech_m3_mul(J, p->omega, spin);
        mech_modal_vee(p->Q, x);
        sum += 0.5 * mech_v3_dot(p->omega, spin) + mech_v3_dot(p->omega, x);
        for (int i = 0; i < 3; i++) {
            sum += e->v[r->slot[i]] * global[i];
        }
    }
    return sum;
}
