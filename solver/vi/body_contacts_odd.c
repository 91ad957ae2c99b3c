/* Visits to contacts one by one: with resistance to rolling and spinning, and of bodies whose mass
 * differs along the axes; see body_contacts_layout.h.
 *
 * Coulomb: (N, T) is solved exactly with the torques held (contact.h), then the torque about n and
 * the torques across, each within what l_N allows; then (N, T) again, on which they act. That is De
 * Saxcé's law part by part: c_N ≥ 0 ⊥ l_N ≥ 0, and each part opposes its own slip. (A second round
 * in a visit saves no sweeps.)
 * Associated: projected steps in rows scaled so that W ≤ 1; the energy falls with each. */
#include "solver/linalg/v3.h"
#include "solver/vi/body_contacts_kernel.h"
#include "solver/vi/contact.h"

#include <math.h>
#include <string.h>

enum { PROJECTIONS = 4, SPIN = 3, ROLL = 4 };

/* Δω of a side */
static void turning(const struct mech_odd_contact *odd, int side, const double *lines, double w[3])
{
    const double *const line = lines + MECH_LINE * (ptrdiff_t)odd->line[side];

    w[0] = w[1] = w[2] = 0.;
    if (odd->L[side]) {
        mech_m3_mul(odd->L[side], line + 4, w);
    }
}

/* c = G Δv + q + E l */
static void speed(const struct mech_odd_contact *odd, const double *lines, const double *l,
                  double *c)
{
    double u[3] = {0.}, w[3] = {0.}, x[MECH_ODD_ROWS];

    for (int side = 0; side < 2; side++) {
        const double sign = side == 0 ? -1. : 1.;
        double turn[3], swing[3];

        turning(odd, side, lines, turn);
        mech_v3_cross(turn, odd->arm[side], swing);
        mech_v3_add(u, sign, lines + MECH_LINE * (ptrdiff_t)odd->line[side], u);
        mech_v3_add(u, sign, swing, u);
        mech_v3_add(w, sign, turn, w);
    }
    mech_m3_mul(odd->axes, u, x);
    mech_m3_mul(odd->axes, w, x + 3);
    for (int32_t i = 0; i < odd->set.rows; i++) {
        c[i] = x[i] + odd->q[i] + odd->e[i] * l[i];
    }
}

static void push(const struct mech_odd_contact *odd, const double *d, double *lines)
{
    double move[3], couple[3];

    mech_m3_mul_transposed(odd->axes, d, move);
    mech_m3_mul_transposed(odd->axes, d + 3, couple);
    for (int side = 0; side < 2; side++) {
        const double sign = side == 0 ? -1. : 1.;
        double *const line = lines + MECH_LINE * (ptrdiff_t)odd->line[side];
        double torque[3], y[3];

        if (odd->L[side]) {
            mech_v3_cross(odd->arm[side], move, torque);
            mech_v3_add(torque, 1., couple, torque);
            mech_m3_mul_transposed(odd->L[side], torque, y);
            for (int k = 0; k < 3; k++) {
                line[k] += sign * (odd->mass[side][k] * move[k]);
                line[4 + k] += sign * y[k];
            }
        }
    }
}

/* l[i] := next, and c follows */
static void move_row(const struct mech_odd_contact *odd, int32_t i, double next, double *l,
                     double *c)
{
    const double d = next - l[i];

    l[i] = next;
    for (int32_t k = 0; k < odd->set.rows; k++) {
        c[k] += odd->W[k * odd->set.rows + i] * d;
    }
}

/* the torques across, within the disk that l_N allows: a projected step of W's larger eigenvalue */
static void roll(const struct mech_odd_contact *odd, double *l, double *c)
{
    const double *const W = odd->W + ROLL * MECH_ODD_ROWS + ROLL;
    const double a = W[0], b = W[1], d = W[MECH_ODD_ROWS + 1], half = 0.5 * (a - d);
    const double largest = 0.5 * (a + d) + sqrt(half * half + b * b);
    const double most = odd->set.rolling * l[0];

    const double x = l[ROLL] - c[ROLL] / largest, y = l[ROLL + 1] - c[ROLL + 1] / largest;
    const double size = sqrt(x * x + y * y), share = size <= most ? 1. : most / size;

    move_row(odd, ROLL, share * x, l, c);
    move_row(odd, ROLL + 1, share * y, l, c);
}

/* (N, T) exactly; what finds no finite solution stays */
static void press(const struct mech_odd_contact *odd, double *l, double *c)
{
    const int32_t rows = odd->set.rows;
    double W[9], q[3], next[3];

    for (int32_t i = 0; i < 3; i++) {
        q[i] = c[i];
        for (int32_t j = 0; j < 3; j++) {
            W[3 * i + j] = odd->W[i * rows + j];
            q[i] -= W[3 * i + j] * l[j];
        }
    }
    if (mech_contact_solve(3, W, q, odd->set.mu, MECH_COULOMB, next)) {
        for (int32_t i = 0; i < 3; i++) {
            move_row(odd, i, next[i], l, c);
        }
    }
}

static void visit_coulomb(const struct mech_odd_contact *odd, double *l, double *c)
{
    press(odd, l, c);
    if (odd->set.rows == 3) {
        return;
    }
    const double most = odd->set.spinning * l[0];
    const double free = l[SPIN] - c[SPIN] / odd->W[SPIN * MECH_ODD_ROWS + SPIN];

    move_row(odd, SPIN, free < -most ? -most : free > most ? most : free, l, c);
    roll(odd, l, c);
    press(odd, l, c);
    /* what l_N no longer allows */
    const double spin = odd->set.spinning * l[0], size = sqrt(l[4] * l[4] + l[5] * l[5]);
    const double share = size > odd->set.rolling * l[0] ? odd->set.rolling * l[0] / size : 1.;

    l[SPIN] = l[SPIN] < -spin ? -spin : l[SPIN] > spin ? spin : l[SPIN];
    l[ROLL] *= share;
    l[ROLL + 1] *= share;
}

static void visit_associated(const struct mech_odd_contact *odd, double *l, double *c)
{
    const int32_t rows = odd->set.rows;
    const double *const s = odd->scale;
    struct mech_set scaled = odd->set;

    if (rows > 1) {
        scaled.mu *= s[0] / s[1];
    }
    if (rows > 3) {
        scaled.spinning *= s[0] / s[SPIN];
        scaled.rolling *= s[0] / s[ROLL];
    }
    for (int round = 0; round < (rows > 1 ? PROJECTIONS : 1); round++) {
        double x[MECH_ODD_ROWS];

        for (int32_t i = 0; i < rows; i++) {
            x[i] = l[i] / s[i] - s[i] * c[i];
        }
        mech_set_project(&scaled, x);
        for (int32_t i = 0; i < rows; i++) {
            move_row(odd, i, s[i] * x[i], l, c);
        }
    }
}

void mech_contact_sweep_odd(const struct mech_contact_run *run, enum mech_friction friction,
                            double *lines)
{
    const struct mech_odd_contact *const all = (const struct mech_odd_contact *)(void *)run->data;

    for (int32_t k = 0; k < run->singles; k++) {
        const struct mech_odd_contact *const odd = &all[k];
        double *const l = run->l + (size_t)k * MECH_ODD_ROWS;
        double c[MECH_ODD_ROWS] = {0.}, d[MECH_ODD_ROWS];

        memcpy(d, l, sizeof d);
        speed(odd, lines, l, c);
        if (!(odd->W[0] > 0.)) {
            memset(l, 0, sizeof d);
        } else if (odd->set.rows > 1 && friction == MECH_COULOMB) {
            visit_coulomb(odd, l, c);
        } else {
            visit_associated(odd, l, c);
        }
        for (int32_t i = 0; i < MECH_ODD_ROWS; i++) {
            d[i] = l[i] - d[i];
        }
        push(odd, d, lines);
    }
}

double mech_contact_arm(const struct mech_odd_contact *odd)
{
    double sum = 0.;

    for (int32_t i = SPIN; i < odd->set.rows; i++) {
        sum += odd->W[i * odd->set.rows + i];
    }
    return sum > 0. && odd->W[0] > 0. ? sqrt(3. * odd->W[0] / sum) : 1.;
}

double mech_contact_back_odd(const struct mech_contact_run *run, const double *start,
                             const double *before)
{
    const struct mech_odd_contact *const all = (const struct mech_odd_contact *)(void *)run->data;
    double sum = 0.;

    for (int32_t k = 0; k < run->singles; k++) {
        const double arm = mech_contact_arm(&all[k]);

        for (int32_t i = 0; i < all[k].set.rows; i++) {
            const size_t at = (size_t)k * MECH_ODD_ROWS + (size_t)i;
            const double one = i < SPIN ? 1. : arm;

            sum += (start[at] - run->l[at]) / one * ((run->l[at] - before[at]) / one);
        }
    }
    return sum;
}

void mech_contact_look_odd(const struct mech_contact_run *run, enum mech_friction friction,
                           const double *lines, struct mech_contact_sums *sums)
{
    const struct mech_odd_contact *const all = (const struct mech_odd_contact *)(void *)run->data;

    for (int32_t k = 0; k < run->singles; k++) {
        const double *const l = run->l + (size_t)k * MECH_ODD_ROWS;
        double c[MECH_ODD_ROWS], map[MECH_ODD_ROWS], g_l[MECH_ODD_ROWS];
        struct mech_set set = all[k].set;
        const double arm = mech_contact_arm(&all[k]);

        /* torques over an arm and turns times it are impulses and speeds */
        set.spinning /= arm;
        set.rolling /= arm;
        speed(&all[k], lines, l, c);
        for (int32_t i = 0; i < set.rows; i++) {
            g_l[i] = all[k].W[0] * l[i] / (i < SPIN ? 1. : arm);
            c[i] *= i < SPIN ? 1. : arm;
        }
        mech_set_map(&set, friction, g_l, c, map);
        const double *const given = l + sums->given;
        double missed = 0., change = 0.;

        for (int32_t i = 0; i < set.rows; i++) {
            sums->map[0] += map[i] * map[i];
            sums->c[0] += c[i] * c[i];
            sums->l[0] += g_l[i] * g_l[i];
            const double d = all[k].W[0] * (l[i] - given[i]) / (i < SPIN ? 1. : arm);

            missed += map[i] * map[i];
            change += d * d;
        }
        change *= sums->change;
        const double may = change > run->limit[k] ? run->limit[k] : change;
        const double own = missed / (may + sums->least);

        /* what is not a number is not little */
        sums->own[0] = own <= sums->own[0] ? sums->own[0] : own;
    }
}
