/* Contacts between free bodies by block Gauss–Seidel; the contract is in body_contacts.h.
 *
 *     lay out    contacts by colours, what sweeps read of each (body_contacts_layout.h)
 *     sweep      visit each contact, colour by colour (body_contacts_visit.h)
 *     look       residual of all; when it seems small enough, with fresh Δv = M⁻¹ Gᵀ l
 *     end        impulses in world axes, and v⁺ from their sums by bodies
 *
 * Cost of a visit: contacts of spheres 106 additions and products, a root and a division, 136 bytes
 * of their own and two lines; others 160 and 380 bytes. Measured with 1,700 contacts of 500 spheres
 * on one core of about 3.3 GHz: 16 ns with two lanes, 12 with AVX2; others 17 to 24, and 11 to 15.
 * Before and after the sweeps 120 ns a contact, others 220. Resistance to rolling takes 200 ns a
 * contact and sweep, one by one.
 *
 * Colours are swept in one direction: there and back, the colour at the turn is visited twice for
 * nothing. Sweeps to a residual of 1e-8 from l = 0 (Coulomb; two directions, one, with momentum):
 *
 *     column of 100 spheres                      84670    42320     560
 *     10 cubes on each other, 4 contacts each    75850    51470     990
 *     500 spheres, falling into each other      12800+     8890     410
 *     500 spheres, settling, from the last l    12800+     8870    4010
 *
 * Piles that have come to rest and are tied by friction may have no solution by Coulomb's law (b of
 * all gaps together cannot be met); there the residual stays at 1e-5 or so in either way.
 */
#include "solver/base/err.h"
#include "solver/linalg/v3.h"
#include "solver/vi/body_contacts_kernel.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    ALIGNMENT = 64,
    MOMENTA = 6,
    L_NUMBERS = 8,
    FAR = 4,
    LONGEST_REST = 1 << 20,
    ASK_EVERY = 64
};

/* --- memory ----------------------------------------------------------------------------------- */

/* the next `bytes` of a block, which begins at NULL to be measured */
static void *carve(char *base, size_t *used, size_t bytes)
{
    char *const here = base ? base + *used : NULL;

    *used += (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    return here;
}

/* numbers of data for one contact, with what begins anew after it */
static size_t data_numbers(void)
{
    const size_t odd = sizeof(struct mech_odd_contact) / sizeof(double);

    return (odd > MECH_BLOCK_SLOTS ? odd : MECH_BLOCK_SLOTS) + MECH_LINE;
}

static size_t set_pointers(struct mech_body_contacts *s, char *base)
{
    const size_t b = (size_t)s->most_bodies, n = (size_t)s->most_contacts;
    size_t used = 0;

    s->lines = carve(base, &used, (b + MECH_STILL) * MECH_LINE * sizeof *s->lines);
    s->lines_before = carve(base, &used, (b + MECH_STILL) * MECH_LINE * sizeof *s->lines);
    s->momenta = carve(base, &used, b * MOMENTA * sizeof *s->momenta);
    s->l = carve(base, &used, n * L_NUMBERS * sizeof *s->l);
    s->l_before = carve(base, &used, n * L_NUMBERS * sizeof *s->l);
    s->l_start = carve(base, &used, n * L_NUMBERS * sizeof *s->l);
    s->l_best = carve(base, &used, n * L_NUMBERS * sizeof *s->l);
    s->l_given = carve(base, &used, n * L_NUMBERS * sizeof *s->l);
    s->limit = carve(base, &used, n * L_NUMBERS * sizeof *s->limit);
    s->data = carve(base, &used, n * data_numbers() * sizeof *s->data);
    s->bodies = carve(base, &used, b * sizeof *s->bodies);
    s->colours = carve(base, &used, n * sizeof *s->colours);
    s->order = carve(base, &used, n * sizeof *s->order);
    s->colour = carve(base, &used, n * sizeof *s->colour);
    s->rest = carve(base, &used, n * sizeof *s->rest);
    s->start = carve(base, &used, (n * MECH_CONTACT_CLASSES + 1) * sizeof *s->start);
    s->pair = carve(base, &used, 2 * n * sizeof *s->pair);
    s->kind = carve(base, &used, n * sizeof *s->kind);
    return used;
}

int mech_body_contacts_reserve(struct mech_body_contacts *self, int32_t bodies, int32_t contacts)
{
    if (bodies <= self->most_bodies && contacts <= self->most_contacts) {
        return 0;
    }
    struct mech_body_contacts grown = {
        .most_bodies = bodies > self->most_bodies ? bodies : self->most_bodies,
        .most_contacts = contacts > self->most_contacts ? contacts : self->most_contacts};

    /* calloc: what no contact ever needs is never touched */
    grown.memory = calloc(1, set_pointers(&grown, NULL) + ALIGNMENT);
    if (!grown.memory) {
        return MECH_NO_MEMORY;
    }
    const size_t over = (size_t)((uintptr_t)grown.memory % ALIGNMENT);

    set_pointers(&grown, (char *)grown.memory + (ALIGNMENT - over));
    free(self->memory);
    *self = grown;
    return 0;
}

int mech_body_contacts_create(int32_t bodies, int32_t contacts, struct mech_body_contacts **self)
{
    struct mech_body_contacts *const s = calloc(1, sizeof *s);

    if (!s) {
        return MECH_NO_MEMORY;
    }
    s->most_bodies = s->most_contacts = -1;

    const int code = mech_body_contacts_reserve(s, bodies, contacts);

    if (code != 0) {
        free(s);
        return code;
    }
    *self = s;
    return 0;
}

void mech_body_contacts_destroy(struct mech_body_contacts *self)
{
    if (self) {
        free(self->memory);
        free(self);
    }
}

/* --- impulses and velocities ------------------------------------------------------------------ */

/* impulse and couple of a contact in world axes */
static void world_of(const struct mech_contact_run *run, int32_t kind, int32_t p, double impulse[3],
                     double couple[3])
{
    const struct mech_contact_place at = mech_contact_place_of(run, kind, p);
    double l[3], axes[9];

    for (size_t k = 0; k < 3; k++) {
        l[k] = at.l[k * at.width];
        couple[k] = 0.;
    }
    if (kind == MECH_ROUND) {
        memcpy(impulse, l, sizeof l);
    } else if (kind == MECH_BLOCK) {
        for (size_t k = 0; k < 9; k++) {
            axes[k] = at.data[(MECH_BLOCK_AXES + k) * at.width];
        }
        mech_m3_mul_transposed(axes, l, impulse);
    } else {
        const struct mech_odd_contact *const odd =
            (const struct mech_odd_contact *)(const void *)at.data;

        mech_m3_mul_transposed(odd->axes, l, impulse);
        mech_m3_mul_transposed(odd->axes, at.l + 3, couple);
    }
}

/* to the sums by bodies: an impulse at the contact, and a couple */
static void add_momentum(struct mech_body_contacts *s, const struct mech_body_contact *c,
                         const double impulse[3], const double couple[3])
{
    for (int side = 0; side < 2; side++) {
        if (mech_contact_body_of(s, c->body[side])) {
            double *const sum = s->momenta + MOMENTA * (size_t)c->body[side];
            const double sign = side == 0 ? -1. : 1.;
            double moment[3];

            mech_v3_cross(c->arm[side], impulse, moment);
            mech_v3_add(moment, 1., couple, moment);
            mech_v3_add(sum, sign, impulse, sum);
            mech_v3_add(sum + 3, sign, moment, sum + 3);
        }
    }
}

/* Sums of impulses and of their moments by bodies; into the contacts too when `out` is not NULL. */
static void sum_momenta(struct mech_body_contacts *s, const struct mech_body_contact *contacts,
                        struct mech_body_contact *out)
{
    memset(s->momenta, 0, (size_t)s->body_count * MOMENTA * sizeof *s->momenta);
    for (int32_t k = 0; k < s->colour_count * MECH_CONTACT_CLASSES; k++) {
        const int32_t kind = k % MECH_CONTACT_CLASSES;
        const struct mech_contact_run *const run = &s->colours[k / MECH_CONTACT_CLASSES].run[kind];

        for (int32_t p = s->start[k]; p < s->start[k + 1]; p++) {
            const struct mech_body_contact *const c = &contacts[s->order[p]];
            double impulse[3], couple[3];

            world_of(run, kind, p - s->start[k], impulse, couple);
            add_momentum(s, c, impulse, couple);
            if (out) {
                memcpy(out[s->order[p]].impulse, impulse, sizeof impulse);
                memcpy(out[s->order[p]].couple, couple, sizeof couple);
            }
        }
    }
}

/* Δv and y from l */
static void refresh(struct mech_body_contacts *s, const struct mech_contact_bodies *bodies,
                    const struct mech_body_contact *contacts)
{
    sum_momenta(s, contacts, NULL);
    for (int32_t i = 0; i < s->body_count; i++) {
        const double *const m = bodies->inverse_mass + 3 * (size_t)i;
        const double *const sum = s->momenta + MOMENTA * (size_t)i;
        double *const line = s->lines + MECH_LINE * (size_t)i;

        for (int k = 0; k < 3; k++) {
            line[k] = m[k] * sum[k];
        }
        line[3] = m[0];
        mech_m3_mul_transposed(s->bodies[i].L, sum + 3, line + 4);
        line[7] = 0.;
    }
    memset(s->lines + MECH_LINE * (size_t)s->body_count, 0,
           (size_t)MECH_STILL * MECH_LINE * sizeof *s->lines);
}

static void put_out(struct mech_body_contacts *s, const struct mech_contact_bodies *bodies,
                    struct mech_body_contact *contacts, int32_t count)
{
    sum_momenta(s, contacts, contacts);
    for (int32_t i = 0; i < count; i++) {
        if (s->colour[i] < 0) {
            memset(contacts[i].impulse, 0, sizeof contacts[i].impulse);
            memset(contacts[i].couple, 0, sizeof contacts[i].couple);
        }
    }
    for (int32_t i = 0; i < s->body_count; i++) {
        const double *const m = bodies->inverse_mass + 3 * (size_t)i;
        const double *const sum = s->momenta + MOMENTA * (size_t)i;
        double *const v = bodies->velocity + 6 * (size_t)i;
        double turn[3];

        mech_m3_mul(bodies->inverse_inertia + 9 * (size_t)i, sum + 3, turn);
        for (int k = 0; k < 3; k++) {
            v[k] += m[k] * sum[k];
            v[3 + k] += turn[k];
        }
    }
}

/* --- sweeps ----------------------------------------------------------------------------------- */

static struct mech_contact_span span_of(const struct mech_contact_run *run, size_t slots,
                                        bool singles)
{
    const size_t before = singles ? (size_t)run->groups * MECH_LANES : 0;

    return (struct mech_contact_span){.data = run->data + before * slots,
                                      .l = run->l + before * 3,
                                      .limit = run->limit + before,
                                      .pair = run->pair + before * 2,
                                      .count = singles ? run->singles : run->groups};
}

static void sweep_colour(struct mech_body_contacts *s, const struct mech_contact_colour *colour,
                         const struct mech_contact_loops *groups)
{
    for (int singles = 0; singles < 2; singles++) {
        const struct mech_contact_loops *const loops = singles ? &mech_contact_singles : groups;
        const struct mech_contact_span rounds =
            span_of(&colour->run[MECH_ROUND], MECH_ROUND_SLOTS, singles);
        const struct mech_contact_span blocks =
            span_of(&colour->run[MECH_BLOCK], MECH_BLOCK_SLOTS, singles);

        loops->round(&rounds, s->lines);
        if (s->friction == MECH_COULOMB) {
            loops->block_coulomb(&blocks, s->lines);
        } else {
            loops->block_associated(&blocks, s->lines);
        }
    }
    mech_contact_sweep_odd(&colour->run[MECH_ODD], s->friction, s->lines);
}

static void sweep_all(struct mech_body_contacts *s, const struct mech_contact_loops *groups)
{
    for (int32_t k = 0; k < s->colour_count; k++) {
        sweep_colour(s, &s->colours[k], groups);
    }
}

struct looked {
    double residual, miss, own; /* body_contacts.h */
};

/* each: also what each contact misses by itself; else that is infinite. */
static struct looked look(const struct mech_body_contacts *s,
                          const struct mech_contact_loops *groups,
                          const struct mech_body_contacts_options *options, bool each)
{
    const double coulomb = s->friction == MECH_COULOMB ? 1. : 0.;
    const struct mech_contact_own *const may = &options->own;
    const double least = options->tolerance * options->tolerance * s->scale_r / s->contact_count;
    struct mech_contact_sums sums = {.map = {s->dead_map},
                                     .c = {s->dead_speed},
                                     .given = s->l_given - s->l,
                                     .change = each ? may->change * may->change : 0.,
                                     .least = fmax(least, DBL_MIN)};
    double total[3] = {0.}, own = 0.;

    for (int32_t k = 0; k < s->colour_count; k++) {
        const struct mech_contact_run *const run = s->colours[k].run;

        for (int singles = 0; singles < 2; singles++) {
            const struct mech_contact_loops *const loops = singles ? &mech_contact_singles : groups;
            const struct mech_contact_span rounds =
                span_of(&run[MECH_ROUND], MECH_ROUND_SLOTS, singles);
            const struct mech_contact_span blocks =
                span_of(&run[MECH_BLOCK], MECH_BLOCK_SLOTS, singles);

            loops->look_round(&rounds, s->lines, coulomb, &sums);
            loops->look_block(&blocks, s->lines, coulomb, &sums);
        }
        mech_contact_look_odd(&run[MECH_ODD], s->friction, s->lines, &sums);
    }
    for (int lane = 0; lane < MECH_LANES; lane++) {
        total[0] += sums.map[lane];
        total[1] += sums.c[lane];
        total[2] += sums.l[lane];
        own = sums.own[lane] <= own ? own : sums.own[lane];
    }
    /* not fmax, which hides what is not a number */
    if (!isfinite(total[0]) || !isfinite(total[1]) || !isfinite(total[2])) {
        return (struct looked){NAN, NAN, NAN};
    }
    if (total[0] == 0.) {
        return (struct looked){0., 0., 0.};
    }
    const double scale = s->linear ? s->scale_r : fmax(s->scale_r, fmax(total[1], total[2]));

    return (struct looked){sqrt(total[0] / scale), sqrt(total[0] / s->scale_r),
                           sums.change > 0. ? sqrt(own) : HUGE_VAL};
}

/* --- acceleration ----------------------------------------------------------------------------- */

struct momentum {
    double t;
    int32_t rest, next_rest; /* sweeps without it: still to come, and after the next fall back */
};

/* Nesterov's momentum: a sweep starts from l + share (l − l_before), as do the lines, which are
 * linear in l. It restarts when a sweep goes back against it (B. O'Donoghue, E. Candès, Found.
 * Comput. Math. 15 (2015)). For the associated law that settles; by Coulomb's, which minimises
 * nothing, see fall_back. */
static double share_of(struct momentum *m)
{
    const double next = 0.5 * (1. + sqrt(1. + 4. * m->t * m->t)), share = (m->t - 1.) / next;

    m->t = next;
    return share;
}

static void run_ahead(double *x, double *before, size_t n, double share)
{
    for (size_t i = 0; i < n; i++) {
        const double here = x[i];

        x[i] = here + share * (here - before[i]);
        before[i] = here;
    }
}

/* A sweep led from l_start to l; before it was l_before. */
static bool goes_back(const struct mech_body_contacts *s)
{
    const double *const start = s->l_start, *const l = s->l, *const before = s->l_before;
    double sum = 0.;
    size_t i = 0;

    for (int32_t k = 0; k <= s->colour_count; k++) {
        const struct mech_contact_run *const odd =
            k < s->colour_count ? &s->colours[k].run[MECH_ODD] : NULL;

        for (const size_t to = odd ? (size_t)(odd->l - l) : s->multipliers; i < to; i++) {
            sum += (start[i] - l[i]) * (l[i] - before[i]);
        }
        if (odd) {
            sum += mech_contact_back_odd(odd, start + i, before + i);
            i += (size_t)odd->singles * MECH_ODD_ROWS;
        }
    }
    return sum > 0.;
}

static void sweep_ahead(struct mech_body_contacts *s, const struct mech_contact_loops *groups,
                        struct momentum *m)
{
    const size_t lines = ((size_t)s->body_count + MECH_STILL) * MECH_LINE;

    if (m->rest > 0) {
        m->rest--;
        m->t = 1.;
        sweep_all(s, groups);
        return;
    }
    if (m->t == 1.) {
        memcpy(s->l_before, s->l, s->multipliers * sizeof *s->l);
        memcpy(s->lines_before, s->lines, lines * sizeof *s->lines);
    }
    const double share = share_of(m);

    run_ahead(s->l, s->l_before, s->multipliers, share);
    run_ahead(s->lines, s->lines_before, lines, share);
    memcpy(s->l_start, s->l, s->multipliers * sizeof *s->l);
    sweep_all(s, groups);
    if (goes_back(s)) {
        m->t = 1.;
    }
}

/* The residual has grown far over the best: on from there, at first without momentum. Only what
 * momentum did is undone: the residual of plain sweeps may rise on their way too, and to undo these
 * would repeat them without end. */
static void fall_back(struct mech_body_contacts *s, const struct mech_contact_bodies *bodies,
                      const struct mech_body_contact *contacts, struct momentum *m)
{
    memcpy(s->l, s->l_best, s->multipliers * sizeof *s->l);
    refresh(s, bodies, contacts);
    m->rest = m->next_rest;
    m->next_rest = m->next_rest > LONGEST_REST / 2 ? LONGEST_REST : 2 * m->next_rest;
}

static int32_t rest_of(const struct mech_body_contacts_options *options)
{
    return options->look_every < LONGEST_REST / 4 ? 4 * options->look_every : LONGEST_REST;
}

/* --- the solve -------------------------------------------------------------------------------- */

static const struct mech_contact_loops *loops_of(enum mech_contact_kernel kernel)
{
    const struct mech_contact_loops *const fast =
        kernel == MECH_KERNEL_BASELINE ? NULL : mech_contact_groups_avx2();

    return fast ? fast : &mech_contact_groups;
}

/* what is compared with the tolerance */
static double off_by(struct looked now, double slack)
{
    /* not fmax, which hides what is not a number */
    return now.miss > slack * now.residual ? now.miss / slack : now.residual;
}

/* What was off at the looks of the last MECH_PATIENCE sweeps, the least so far at each. */
struct progress {
    double best[MECH_PATIENCE];
    int32_t looks;
};

/* Whether more sweeps seem to be left than another way costs; `best` at one more look, which is by
 * `own` farther off than what contacts may miss by themselves. */
static bool stalls(struct progress *p, const struct mech_body_contacts_options *options,
                   double best, double own)
{
    const int32_t span =
        options->look_every < MECH_PATIENCE ? MECH_PATIENCE / options->look_every : 1;
    double *const before = &p->best[p->looks % span];
    const double gain = *before / best;
    const bool enough = p->looks++ >= span;

    *before = best;
    if (!enough || !options->other) {
        return false;
    }
    const struct mech_contact_own *const may = &options->own;
    const double all = best / options->tolerance;
    const double far = may->change > 0. ? fmin(all, fmax(own, best / may->enough)) : all;
    const double left =
        gain > 1. ? (double)span * options->look_every * log(far) / log(gain) : HUGE_VAL;

    return left > MECH_PATIENCE &&
           left > options->other(options->of, (p->looks - 1) * options->look_every);
}

int mech_body_contacts_solve(struct mech_body_contacts *self,
                             const struct mech_contact_bodies *bodies,
                             struct mech_body_contact *contacts, int32_t count,
                             const struct mech_body_contacts_options *options,
                             struct mech_body_contacts_result *result)
{
    struct mech_body_contacts *const s = self;
    const struct mech_contact_loops *const groups = loops_of(options->kernel);

    *result = (struct mech_body_contacts_result){.contact = -1, .body = -1};
    if (bodies->count > s->most_bodies || count > s->most_contacts) {
        return MECH_INTERNAL;
    }
    s->friction = options->friction;
    MECH_TRY(mech_contact_lay_out(s, bodies, contacts, count, result));
    if (s->scale_r == 0.) {
        memset(s->l, 0, s->multipliers * sizeof *s->l); /* which is the solution */
    }
    s->contact_count = count;
    refresh(s, bodies, contacts);
    result->colours = s->colour_count;

    const int32_t every = options->look_every > 0 ? options->look_every : INT32_MAX;
    const double slack = fmax(options->slack, 1.);
    double best = HUGE_VAL, off = HUGE_VAL;
    struct progress progress = {.looks = 0};
    struct looked now = {HUGE_VAL, HUGE_VAL, HUGE_VAL}, least = now;
    bool suffices = false;
    struct momentum momentum = {.t = 1., .next_rest = rest_of(options)};

    for (int32_t k = 0;; k++) {
        const bool unlooked = options->look_every == 0 && k % ASK_EVERY == 0;
        const bool last =
            k >= options->max_sweeps || (unlooked && mech_interrupted(options->interrupt));

        if (last || (options->look_every > 0 && k % every == 0)) {
            now = last ? (struct looked){0., 0., 0.} : look(s, groups, options, k > 0);
            if (off_by(now, slack) <= options->tolerance) {
                refresh(s, bodies, contacts);
                now = look(s, groups, options, last);
            }
            off = off_by(now, slack);
            /* the miss alone overflows where there is next to no data */
            if (!isfinite(now.residual)) {
                return MECH_NOT_FINITE;
            }
            if (off < best) {
                best = off;
                least = now;
                memcpy(s->l_best, s->l, s->multipliers * sizeof *s->l);
            }
            suffices = options->own.change > 0. && now.own <= 1. && off <= options->own.enough;
            if (last || off <= options->tolerance || mech_interrupted(options->interrupt) ||
                suffices || stalls(&progress, options, best, now.own)) {
                result->sweeps = k;
                break;
            }
            if (options->accelerate && momentum.rest == 0 && off > FAR * best) {
                fall_back(s, bodies, contacts, &momentum);
            }
        }
        if (options->accelerate) {
            sweep_ahead(s, groups, &momentum);
        } else {
            sweep_all(s, groups);
        }
    }
    if (best < off && !suffices) {
        memcpy(s->l, s->l_best, s->multipliers * sizeof *s->l);
        now = least;
    }
    put_out(s, bodies, contacts, count);
    result->residual = now.residual;
    result->miss = now.miss;
    result->own = now.own;
    return off_by(now, slack) <= options->tolerance ? 0 : MECH_VI_NOT_CONVERGED;
}
