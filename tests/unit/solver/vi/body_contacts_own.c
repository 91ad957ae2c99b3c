/* Sweeps that end where each contact misses little beside what it does itself: mech_contact_own. */
#include "tests/unit/solver/vi/falls.h"
#include "tests/unit/unit.h"

#include <math.h>

enum { ROWS = 6, LINEAR = 3 };

/* spheres, and among them bodies that are none, contacts that resist rolling, and smooth ones */
static struct pile *mixed(void)
{
    struct pile *const p = fallen(120, 4, 80, MECH_COULOMB);

    shake(p);
    for (int32_t i = 0; i < p->count; i += 3) {
        p->inverse_inertia[9 * i] *= 1.5;
        p->inverse_inertia[9 * i + 1] = p->inverse_inertia[9 * i + 3] =
            0.3 * p->inverse_inertia[9 * i];
    }
    for (int32_t i = 0; i < p->contacts; i++) {
        p->contact[i].rolling = i % 7 == 0 ? 0.003 : 0.;
        p->contact[i].mu = i % 11 == 0 ? 0. : 0.4;
    }
    return p;
}

/* speed along n that a unit of l_N makes; *arm: of couples */
static double unit_speed(const struct pile *p, const struct mech_body_contact *c, double *arm)
{
    double g = c->cfm[0], turns = LINEAR * c->cfm[2];

    for (int side = 0; side < 2; side++) {
        const int32_t i = c->body[side];
        double turn[3], turned[3];

        if (i >= 0) {
            const double *const J = p->inverse_inertia + 9 * (size_t)i;

            mech_v3_cross(c->arm[side], c->n, turn);
            mech_m3_mul(J, turn, turned);
            g += p->inverse_mass[3 * i] + mech_v3_dot(turn, turned);
            turns += J[0] + J[4] + J[8];
        }
    }
    *arm = c->rolling > 0. ? sqrt(LINEAR * g / turns) : 1.;
    return g;
}

/* a contact's impulse and couple as speeds, N, T1, T2, S, R1, R2 */
static void as_speeds(const struct pile *p, const struct mech_body_contact *c, double l[ROWS])
{
    double arm, t2[3];
    const double g = unit_speed(p, c, &arm);

    mech_v3_cross(c->n, c->t1, t2);
    for (int k = 0; k < ROWS; k += LINEAR) {
        const double *const x = k ? c->couple : c->impulse;

        l[k] = g * mech_v3_dot(c->n, x) / (k ? arm : 1.);
        l[k + 1] = g * mech_v3_dot(c->t1, x) / (k ? arm : 1.);
        l[k + 2] = g * mech_v3_dot(t2, x) / (k ? arm : 1.);
    }
}

/* ‖m‖ of a contact at the velocities of the pile */
static double missed(const struct pile *p, const struct mech_body_contact *c)
{
    struct mech_set set = {.kind = MECH_SET_CONE, .rows = LINEAR, .mu = c->mu};
    double u[ROWS] = {0.}, l[ROWS], speed[ROWS], map[ROWS], t2[3], arm, sum = 0.;

    (void)unit_speed(p, c, &arm);
    for (int side = 0; side < 2; side++) {
        const double sign = side ? 1. : -1.;
        double turn[3];

        if (c->body[side] >= 0) {
            const double *const v = p->velocity + 6 * (size_t)c->body[side];

            mech_v3_cross(v + 3, c->arm[side], turn);
            mech_v3_add(u, sign, v, u);
            mech_v3_add(u, sign, turn, u);
            mech_v3_add(u + 3, sign, v + 3, u + 3);
        }
    }
    mech_v3_cross(c->n, c->t1, t2);
    as_speeds(p, c, l);
    for (int k = 0; k < ROWS; k += LINEAR) {
        speed[k] = mech_v3_dot(c->n, u + k) * (k ? arm : 1.);
        speed[k + 1] = mech_v3_dot(c->t1, u + k) * (k ? arm : 1.);
        speed[k + 2] = mech_v3_dot(t2, u + k) * (k ? arm : 1.);
    }
    for (int k = 0; k < LINEAR; k++) {
        speed[k] += c->b[k];
    }
    if (c->rolling > 0.) {
        set = (struct mech_set){
            .kind = MECH_SET_ROLLING, .rows = ROWS, .mu = c->mu, .rolling = c->rolling / arm};
    } else if (c->mu == 0.) {
        set = (struct mech_set){.kind = MECH_SET_UNILATERAL, .rows = 1};
    }
    mech_set_map(&set, MECH_COULOMB, l, speed, map);
    for (int k = 0; k < set.rows; k++) {
        sum += map[k] * map[k];
    }
    return sqrt(sum);
}

static const struct mech_body_contacts_options options = {.friction = MECH_COULOMB,
                                                          .tolerance = 1e-10,
                                                          .max_sweeps = 5000,
                                                          .look_every = 10,
                                                          .accelerate = true,
                                                          .own = {.change = 1e-3, .enough = 1e-3}};

/* The most that a contact misses, computed anew, over what it may by the formula, where sweeps end;
 * the tolerance's part is some 1e-9 m/s. The impulses that it begins with are near those of the
 * end, so that `change` counts by what changes. *large: contacts that miss a tenth of that or
 * more. */
static double most_missed(struct pile *p, int32_t *large)
{
    struct mech_body_contacts_options few = options;
    struct mech_body_contacts_result result;
    double(*const before)[ROWS] = calloc((size_t)p->contacts, sizeof *before);
    double *const start = malloc(6 * (size_t)p->count * sizeof *start);
    double most = 0.;

    memcpy(start, p->velocity, 6 * (size_t)p->count * sizeof *start);
    few.max_sweeps = 10;
    (void)run(p, &few, &result);
    memcpy(p->velocity, start, 6 * (size_t)p->count * sizeof *start);
    for (int32_t i = 0; i < p->contacts; i++) {
        as_speeds(p, &p->contact[i], before[i]);
    }
    CU_ASSERT_EQUAL(run(p, &options, &result), MECH_VI_NOT_CONVERGED);
    CU_ASSERT(result.own <= 1. && result.own > 0.);
    CU_ASSERT(result.residual <= options.own.enough && result.residual > options.tolerance);
    *large = 0;
    for (int32_t i = 0; i < p->contacts; i++) {
        double l[ROWS], change = 0.;

        as_speeds(p, &p->contact[i], l);
        for (int k = 0; k < ROWS; k++) {
            change += (l[k] - before[i][k]) * (l[k] - before[i][k]);
        }
        const double may = fmin(options.own.change * sqrt(change), p->contact[i].limit) + 1e-9;
        const double part = missed(p, &p->contact[i]) / may;

        most = fmax(most, part);
        *large += part > 0.1;
    }
    free(before);
    free(start);
    return most;
}

/* Every tenth contact may miss next to nothing. */
static void each_contact_misses_little_beside_its_own(void)
{
    struct pile *const p = mixed();
    int32_t large;

    for (int32_t i = 0; i < p->contacts; i++) {
        p->contact[i].limit = i % 10 == 0 ? 1e-7 : 1.;
    }
    const double most = most_missed(p, &large);

    CU_ASSERT(most <= 1. + 1e-6);
    /* none of them alone decides */
    CU_ASSERT(most > 0.1 && large > 1);
    pile_destroy(p);
}

/* Spheres so light that squares of g are above all doubles, and those of what impulses change by
 * below. */
static void light_contacts_miss_as_little(void)
{
    struct pile *const p = fallen(120, 4, 80, MECH_COULOMB);
    int32_t large;

    shake(p);
    for (int32_t i = 0; i < p->contacts; i++) {
        p->contact[i].limit = 1.;
        for (int k = 0; k < 3; k++) {
            p->contact[i].impulse[k] *= 0x1p-514;
        }
    }
    for (int32_t i = 0; i < 3 * p->count; i++) {
        p->inverse_mass[i] /= 0x1p-514;
    }
    for (int32_t i = 0; i < 9 * p->count; i++) {
        p->inverse_inertia[i] /= 0x1p-514;
    }
    CU_ASSERT(most_missed(p, &large) <= 1. + 1e-6);
    pile_destroy(p);
}

/* 0: of spheres; 1: of a body that is none; 2: resists rolling */
static int kind_of(const struct mech_body_contact *c)
{
    const bool other =
        (c->body[0] >= 0 && c->body[0] % 3 == 0) || (c->body[1] >= 0 && c->body[1] % 3 == 0);

    return c->rolling > 0. ? 2 : other ? 1 : 0;
}

/* Sweeps of a mixed pile in which contact `one`, or those of one kind, may miss nothing; −1:
 * none. */
static struct mech_body_contacts_result sweep_of(struct mech_body_contacts_options of, int32_t one,
                                                 int kind)
{
    struct mech_body_contacts_result result;
    struct pile *const p = mixed();

    for (int32_t i = 0; i < p->contacts; i++) {
        p->contact[i].limit = i == one || kind_of(&p->contact[i]) == kind ? 0. : 1.;
    }
    (void)run(p, &of, &result);
    pile_destroy(p);
    return result;
}

/* As many sweeps as what is asked of one contact alone needs, or of the contacts of one kind;
 * those of all, where it is not asked, or where all have to be nearer. */
static void one_contact_decides(void)
{
    struct mech_body_contacts_options none = options, near = options;
    const struct mech_body_contacts_result few = sweep_of(options, -1, -1);

    none.own.change = 0.;
    near.own.enough = 1e-9;
    const struct mech_body_contacts_result nearer = sweep_of(near, -1, -1);
    const struct mech_body_contacts_result all = sweep_of(none, -1, -1);

    CU_ASSERT(sweep_of(options, 5, -1).sweeps > few.sweeps);
    for (int kind = 0; kind < 3; kind++) {
        CU_ASSERT(sweep_of(options, -1, kind).sweeps > few.sweeps);
    }
    CU_ASSERT(few.residual > options.tolerance);
    CU_ASSERT(nearer.sweeps > few.sweeps && nearer.residual <= 1e-9);
    CU_ASSERT(all.sweeps > nearer.sweeps && all.residual <= 1e-10);
}

UNIT_TESTS(UNIT_TEST(each_contact_misses_little_beside_its_own),
           UNIT_TEST(light_contacts_miss_as_little), UNIT_TEST(one_contact_decides))
