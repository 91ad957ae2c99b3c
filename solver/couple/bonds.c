/* Bonds: the efforts' residuals over a window, their work, and the waves of lines. */
#include "solver/couple/internal.h"

#include "solver/base/err.h"
#include "solver/base/text.h"
#include "solver/base/times.h"

#include <math.h>
#include <string.h>

/* Numbers of a bond. */
enum {
    GAP,
    WORK,
    EFFORT = WORK + 2,
    DISSIPATED = EFFORT + 2,
    WAVES,
    HEAD,
    FIRST_WAVE,
    NUMBERS = FIRST_WAVE + 2
};

_Static_assert((int)NUMBERS <= (int)COUPLE_BOND_NUMBERS, "numbers of a bond");

static double *numbers(const struct mech_couple *c, int32_t bond)
{
    return c->bond_numbers + bond * COUPLE_BOND_NUMBERS;
}

/* Displacement of an end over the window. */
static double displaced(const struct mech_couple *c, int32_t bond, int32_t end)
{
    const struct mech_couple_bond *const b = c->bonds + bond;
    const struct couple_side *const s = c->sides + b->participant[end];
    const int32_t o = b->flow[end];
    return b->kind == MECH_COUPLE_VELOCITY ? s->sum[o] : s->got[o] - s->now[o];
}

static double gap_of(const struct mech_couple *c, int32_t bond)
{
    const struct mech_couple_bond *const b = c->bonds + bond;
    if (b->kind == MECH_COUPLE_VELOCITY) {
        return numbers(c, bond)[GAP];
    }
    return c->sides[b->participant[0]].now[b->flow[0]] -
           c->sides[b->participant[1]].now[b->flow[1]];
}

void couple_bonds_start(struct mech_couple *c)
{
    memset(c->effort, 0, (size_t)c->effort_count * sizeof *c->effort);
    memset(c->bond_numbers, 0,
           (size_t)c->bond_count * COUPLE_BOND_NUMBERS * sizeof *c->bond_numbers);
    for (int32_t i = 0; i < c->bond_count; i++) {
        const struct mech_couple_bond *const b = c->bonds + i;
        double *const n = numbers(c, i);
        n[GAP] = b->gap;
        // a line is free of force at first, and moves as its ends do
        for (int32_t k = 0; b->kind == MECH_COUPLE_VELOCITY && k < 2; k++) {
            const double v = c->sides[b->participant[k]].now[b->flow[k]];
            n[FIRST_WAVE + k] = k == 0 ? b->impedance * v : -b->impedance * v;
        }
    }
}

static double *wave(const struct mech_couple *c, int32_t bond, int32_t ago)
{
    const int32_t head = (int32_t)numbers(c, bond)[HEAD];
    const int32_t at = (head - ago + COUPLE_WAVES_MOST) % COUPLE_WAVES_MOST;
    return c->waves + ((size_t)bond * COUPLE_WAVES_MOST + (size_t)at) * COUPLE_WAVE;
}

/* Mean over the window of what left `end` one delay before. 0; MECH_UNSUPPORTED: too long ago. */
static int arrived(const struct mech_couple *c, int32_t bond, int32_t end, double *mean)
{
    const double *const n = numbers(c, bond);
    const double oldest = c->bonds[bond].delay;
    const double newest = mech_time_before(c->size, oldest, oldest) ? oldest - c->size : 0.;
    double age = 0., sum = 0., covered = 0.;
    for (int32_t i = 0; i < (int32_t)n[WAVES] && age < oldest; i++) {
        const double *const w = wave(c, bond, i);
        const double low = fmax(age, newest), high = fmin(age + w[0], oldest);
        age += w[0];
        if (high > low) {
            sum += (high - low) * w[1 + end];
            covered += high - low;
        }
    }
    const double missing = oldest - newest - covered;
    if (missing > 1e-9 * oldest && (int32_t)n[WAVES] == COUPLE_WAVES_MOST) {
        return MECH_UNSUPPORTED;
    }
    *mean = (sum + fmax(missing, 0.) * n[FIRST_WAVE + end]) / (oldest - newest);
    return 0;
}

static void set_effort(const struct mech_couple *c, struct couple_effort *f)
{
    const struct mech_couple_bond *const b = c->bonds + f->bond;
    const double from_rest = gap_of(c, f->bond) - b->rest;
    f->self = b->law == MECH_COUPLE_RIGID ? 0. : 1.;
    if (b->law == MECH_COUPLE_LINE) {
        f->beta[f->end] = (f->end == 0 ? b->impedance : -b->impedance) / c->size;
        f->beta[1 - f->end] = 0.;
        return;
    }
    f->alpha = b->law == MECH_COUPLE_RIGID ? from_rest : b->stiffness * from_rest;
    f->beta[0] = b->law == MECH_COUPLE_RIGID ? 1. : 0.5 * b->stiffness + b->damping / c->size;
    f->beta[1] = -f->beta[0];
}

int couple_bonds_begin(struct mech_couple *c)
{
    for (int32_t e = 0; e < c->effort_count; e++) {
        struct couple_effort *const f = c->efforts + e;
        const struct mech_couple_bond *const b = c->bonds + f->bond;
        set_effort(c, f);
        if (b->law != MECH_COUPLE_LINE) {
            continue;
        }
        const bool longer = mech_time_before(b->delay, c->size, c->size);
        const int code = longer ? MECH_INVALID : arrived(c, f->bond, 1 - f->end, &f->alpha);
        if (code != 0) {
            char reason[MECH_COUPLE_REASON];
            mech_text_format(reason, sizeof reason, "bond %.60s: %s", b->name,
                             longer ? "the window is longer than its delay"
                                    : "its delay spans more windows than can be stored");
            couple_fail(c, -1, code, reason);
            return code;
        }
    }
    return 0;
}

double couple_bonds_residual(const struct mech_couple *c, int32_t effort, double *size)
{
    const struct couple_effort *const f = c->efforts + effort;
    const double first = f->beta[0] * displaced(c, f->bond, 0);
    const double second = f->beta[1] * displaced(c, f->bond, 1);
    *size = fabs(f->alpha) + fabs(first) + fabs(second);
    return f->alpha + first + second - f->self * c->effort[effort];
}

static void push_wave(const struct mech_couple *c, int32_t bond)
{
    const struct mech_couple_bond *const b = c->bonds + bond;
    double *const n = numbers(c, bond);
    n[HEAD] = (double)(((int32_t)n[HEAD] + 1) % COUPLE_WAVES_MOST);
    n[WAVES] = fmin(n[WAVES] + 1., COUPLE_WAVES_MOST);
    double *const w = wave(c, bond, 0);
    const double z = b->impedance / c->size;
    w[0] = c->size;
    w[1] = n[EFFORT] + z * displaced(c, bond, 0);
    w[2] = n[EFFORT + 1] - z * displaced(c, bond, 1);
}

void couple_bonds_end(struct mech_couple *c)
{
    for (int32_t e = 0; e < c->effort_count; e++) {
        const struct couple_effort *const f = c->efforts + e;
        double *const n = numbers(c, f->bond);
        n[EFFORT + (f->end > 0)] = c->effort[e];
        if (f->end < 0) {
            n[EFFORT + 1] = c->effort[e];
        }
    }
    for (int32_t i = 0; i < c->bond_count; i++) {
        const struct mech_couple_bond *const b = c->bonds + i;
        double *const n = numbers(c, i);
        const double first = displaced(c, i, 0), second = displaced(c, i, 1);
        n[WORK] -= n[EFFORT] * first;
        n[WORK + 1] += n[EFFORT + 1] * second;
        n[GAP] += first - second;
        if (b->law == MECH_COUPLE_SPRING) {
            n[DISSIPATED] += b->damping * (first - second) * (first - second) / c->size;
        }
        if (b->law == MECH_COUPLE_LINE) {
            push_wave(c, i);
        }
    }
}

/* ∫ waves² / (4 Z) of the waves in the lines. */
static double under_way(const struct mech_couple *c, int32_t bond)
{
    const struct mech_couple_bond *const b = c->bonds + bond;
    const double *const n = numbers(c, bond);
    double age = 0., sum = 0.;
    for (int32_t i = 0; i < (int32_t)n[WAVES] && age < b->delay; i++) {
        const double *const w = wave(c, bond, i);
        sum += fmin(w[0], b->delay - age) * (w[1] * w[1] + w[2] * w[2]);
        age += w[0];
    }
    const double *const f = n + FIRST_WAVE;
    sum += fmax(b->delay - age, 0.) * (f[0] * f[0] + f[1] * f[1]);
    return sum / (4. * b->impedance);
}

void mech_couple_bond_state(const struct mech_couple *c, int32_t bond,
                            struct mech_couple_bond_state *out)
{
    const struct mech_couple_bond *const b = c->bonds + bond;
    const double *const n = numbers(c, bond);
    const double gap = gap_of(c, bond);
    *out = (struct mech_couple_bond_state){
        .effort = {n[EFFORT], n[EFFORT + 1]},
        .gap = gap,
        .work = {n[WORK], n[WORK + 1]},
        .dissipated = n[DISSIPATED],
    };
    if (b->law == MECH_COUPLE_SPRING) {
        out->stored = 0.5 * b->stiffness * (gap - b->rest) * (gap - b->rest);
    } else if (b->law == MECH_COUPLE_LINE) {
        out->stored = under_way(c, bond);
    }
}

/* A whole number from 0 to `most`. */
static bool counts(double x, double most)
{
    return x >= 0. && x <= most && x == floor(x);
}

/* A wave has lasted for a time, and is finite. */
static bool is_wave(const struct mech_room_copy *copy, const double *w)
{
    bool good = mech_room_copy_real(copy, w, 0) > 0.;
    for (int32_t k = 0; good && k < COUPLE_WAVE; k++) {
        good = isfinite(mech_room_copy_real(copy, w, k));
    }
    return good;
}

/* The waves of a line, of which no other law has any. */
static bool accepts_waves(const struct mech_couple *c, int32_t bond,
                          const struct mech_room_copy *copy)
{
    const double *const n = numbers(c, bond);
    const int32_t count = (int32_t)mech_room_copy_real(copy, n, WAVES);
    const int32_t head = (int32_t)mech_room_copy_real(copy, n, HEAD);
    bool good = count == 0 || c->bonds[bond].law == MECH_COUPLE_LINE;
    for (int32_t k = 0; good && k < count; k++) {
        const int32_t at = (head - k + COUPLE_WAVES_MOST) % COUPLE_WAVES_MOST;
        good =
            is_wave(copy, c->waves + ((size_t)bond * COUPLE_WAVES_MOST + (size_t)at) * COUPLE_WAVE);
    }
    return good;
}

bool couple_bonds_accept(const struct mech_couple *c, const struct mech_room_copy *copy)
{
    bool good = true;
    for (int32_t i = 0; good && i < c->bond_count; i++) {
        const double *const n = numbers(c, i);
        good = counts(mech_room_copy_real(copy, n, WAVES), COUPLE_WAVES_MOST) &&
               counts(mech_room_copy_real(copy, n, HEAD), COUPLE_WAVES_MOST - 1) &&
               isfinite(mech_room_copy_real(copy, n, GAP)) && accepts_waves(c, i, copy);
        for (int32_t k = 0; good && k < 2; k++) {
            good = isfinite(mech_room_copy_real(copy, n, FIRST_WAVE + k));
        }
    }
    return good;
}
