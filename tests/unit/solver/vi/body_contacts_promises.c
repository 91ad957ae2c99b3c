/* What body_contacts.h promises besides solutions: bits, memory, momentum, bad input, and how fast
 * stacks come to rest. */
#include "solver/vi/body_contacts_layout.h"
#include "tests/unit/alloc_count.h"
#include "tests/unit/solver/vi/falls.h"
#include "tests/unit/unit.h"

/* spheres, and among them bodies that are none, so that there is some of each class */
static struct pile *mixed(enum mech_friction friction)
{
    struct pile *const p = fallen(120, 4, 80, friction);

    shake(p);
    for (int32_t i = 0; i < p->count; i += 3) {
        p->inverse_inertia[9 * i] *= 1.5;
        p->inverse_inertia[9 * i + 1] = p->inverse_inertia[9 * i + 3] =
            0.3 * p->inverse_inertia[9 * i];
    }
    for (int32_t i = 0; i < p->contacts; i++) {
        p->contact[i].rolling = i % 7 == 0 ? 0.003 : 0.;
        p->contact[i].cfm[0] = i % 5 == 0 ? 0.01 : 0.;
        p->contact[i].mu = i % 11 == 0 ? 0. : 0.4;
    }
    return p;
}

static bool same(const void *a, const void *b, size_t bytes)
{
    return memcmp(a, b, bytes) == 0;
}

static void four_lanes_give_the_bits_of_one(void)
{
    for (int friction = MECH_COULOMB; friction <= MECH_ASSOCIATED; friction++) {
        struct pile *p[2];
        struct mech_body_contacts_result result[2];

        for (int k = 0; k < 2; k++) {
            struct mech_body_contacts_options options = {.friction = (enum mech_friction)friction,
                                                         .max_sweeps = 60,
                                                         .look_every = 7,
                                                         .accelerate = true,
                                                         .own = {1e-3, 1e-12}};

            options.kernel = k == 0 ? MECH_KERNEL_BASELINE : MECH_KERNEL_AVX2;
            p[k] = mixed((enum mech_friction)friction);
            CU_ASSERT_EQUAL(run(p[k], &options, &result[k]), MECH_VI_NOT_CONVERGED);
        }
        CU_ASSERT(p[0]->contacts > 150);
        CU_ASSERT(same(p[0]->velocity, p[1]->velocity, 6 * (size_t)p[0]->count * sizeof(double)));
        CU_ASSERT(
            same(p[0]->contact, p[1]->contact, (size_t)p[0]->contacts * sizeof *p[0]->contact));
        CU_ASSERT(result[0].residual == result[1].residual && result[0].own == result[1].own);
        pile_destroy(p[0]);
        pile_destroy(p[1]);
    }
}

static void earlier_calls_leave_no_trace(void)
{
    struct pile *const p = mixed(MECH_COULOMB), *const q = mixed(MECH_COULOMB);
    struct pile *const other = sliding_sphere(), *const large = fallen(150, 5, 20, MECH_COULOMB);
    const struct mech_contact_bodies of_p = pile_bodies(p), of_other = pile_bodies(other);
    const struct mech_contact_bodies of_large = pile_bodies(large);
    const struct mech_body_contacts_options options = {.max_sweeps = 40, .accelerate = true};
    struct mech_body_contacts_result result;
    struct mech_body_contacts *s = NULL;

    CU_ASSERT_EQUAL_FATAL(mech_body_contacts_create(0, 0, &s), 0);
    CU_ASSERT_EQUAL_FATAL(mech_body_contacts_reserve(s, large->count, large->most), 0);
    (void)mech_body_contacts_solve(s, &of_large, large->contact, large->contacts, &options,
                                   &result);
    (void)mech_body_contacts_solve(s, &of_other, other->contact, other->contacts, &options,
                                   &result);
    CU_ASSERT_EQUAL(mech_body_contacts_solve(s, &of_p, p->contact, p->contacts, &options, &result),
                    MECH_VI_NOT_CONVERGED);
    (void)run(q, &options, &result);
    CU_ASSERT(same(p->velocity, q->velocity, 6 * (size_t)p->count * sizeof(double)));
    CU_ASSERT(same(p->contact, q->contact, (size_t)p->contacts * sizeof *p->contact));
    mech_body_contacts_destroy(s);
    pile_destroy(p);
    pile_destroy(q);
    pile_destroy(other);
    pile_destroy(large);
}

static void a_solve_allocates_nothing(void)
{
    struct pile *const p = mixed(MECH_COULOMB);
    const struct mech_contact_bodies bodies = pile_bodies(p);
    struct mech_body_contacts_options options = exact;
    struct mech_body_contacts_result result;
    struct mech_body_contacts *s = NULL;

    options.max_sweeps = 30;
    options.accelerate = true;
    CU_ASSERT_EQUAL_FATAL(mech_body_contacts_create(p->count, p->contacts, &s), 0);
    alloc_count_start();
    CU_ASSERT_EQUAL(mech_body_contacts_reserve(s, p->count, p->contacts), 0);
    (void)mech_body_contacts_solve(s, &bodies, p->contact, p->contacts, &options, &result);
    CU_ASSERT_EQUAL(alloc_count_stop(), 0);
    mech_body_contacts_destroy(s);
    pile_destroy(p);
}

/* momentum and moment of momentum about the origin, whatever the contacts came to; the spheres'
 * contact points of both bodies are one point, so that impulses have one moment */
static void momentum_is_kept_to_rounding(void)
{
    struct pile *const p = fallen(60, 4, 80, MECH_COULOMB);
    const struct mech_body_contacts_options options = {.max_sweeps = 3};
    struct mech_body_contacts_result result;
    double before[360], sum[6] = {0.}, ground[6] = {0.}, size = 0.;

    shake(p);
    memcpy(before, p->velocity, sizeof before);
    for (int32_t i = 0; i < p->contacts; i++) {
        struct mech_body_contact *const c = &p->contact[i];

        c->rolling = i % 2 ? 0.01 : 0.;
        /* one point for both */
        for (int k = 0; k < 3 && c->body[0] >= 0; k++) {
            c->arm[1][k] = p->x[3 * c->body[0] + k] + c->arm[0][k] - p->x[3 * c->body[1] + k];
        }
    }
    CU_ASSERT_EQUAL(run(p, &options, &result), MECH_VI_NOT_CONVERGED);
    for (int32_t i = 0; i < p->count; i++) {
        double change[6], moment[3];

        for (int k = 0; k < 6; k++) {
            change[k] = (p->velocity[6 * i + k] - before[6 * i + k]) /
                        (k < 3 ? p->inverse_mass[3 * i] : p->inverse_inertia[9 * i]);
        }
        mech_v3_cross(p->x + 3 * (size_t)i, change, moment);
        mech_v3_add(sum, 1., change, sum);
        mech_v3_add(sum + 3, 1., change + 3, sum + 3);
        mech_v3_add(sum + 3, 1., moment, sum + 3);
        size += mech_v3_norm(change);
    }
    for (int32_t i = 0; i < p->contacts; i++) {
        const struct mech_body_contact *const c = &p->contact[i];

        if (c->body[0] < 0) {
            double point[3], moment[3];

            mech_v3_add(p->x + 3 * (size_t)c->body[1], 1., c->arm[1], point);
            mech_v3_cross(point, c->impulse, moment);
            mech_v3_add(ground, 1., c->impulse, ground);
            mech_v3_add(ground + 3, 1., moment, ground + 3);
            mech_v3_add(ground + 3, 1., c->couple, ground + 3);
        }
    }
    CU_ASSERT(size > 1.);
    for (int k = 0; k < 6; k++) {
        CHECK_NEAR(sum[k], ground[k], 1e-15 * 60. * size);
    }
    pile_destroy(p);
}

/* 300 small spheres on the top of one large one */
static void a_body_may_have_any_number_of_contacts(void)
{
    struct pile *const p = pile_create(301, 302);
    struct mech_body_contacts_options options = exact;
    struct mech_body_contacts_result result;
    const double z[3] = {0., 0., 1.};
    uint64_t state = 5;

    p->mu = 0.8;
    pile_set_sphere(p, 300, (double[]){0., 0., 1.}, 1., 0.1);
    for (int32_t i = 0; i < 300; i++) {
        const double a = 6.28 * pile_random(&state), b = 0.3 * pile_random(&state);
        const double n[3] = {b * cos(a), b * sin(a), sqrt(1. - b * b)};
        double x[3], y[3];

        mech_v3_add(z, 1., n, x);
        mech_v3_add(z, 1.01, n, y);
        pile_set_sphere(p, i, y, 0.01, 0.01);
        pile_touch(p, 300, i, x, n);
    }
    pile_touch(p, -1, 300, (double[]){0., 0., 0.}, z);
    pile_fall(p, step);
    options.friction = MECH_ASSOCIATED;
    CU_ASSERT_EQUAL(run(p, &options, &result), 0);
    CU_ASSERT(result.colours >= 300);
    double weight = 0.;

    for (int32_t i = 0; i <= 300; i++) {
        weight += (p->velocity[6 * i + 2] / step + gravity) / p->inverse_mass[3 * i];
    }
    CHECK_NEAR(p->contact[300].impulse[2] / step, weight, 1e-9);
    /* a small sphere rolls down the large one, which all of them together hardly turn */
    CU_ASSERT(p->velocity[2] < 0. && p->velocity[6 * 300 + 2] > -1e-9);
    pile_destroy(p);
}

static void bodies_that_nothing_moves_are_no_trouble(void)
{
    struct pile *const p = pile_create(2, 3);
    struct mech_body_contacts_result result;
    const double n[3] = {0., 0., 1.}, x[3] = {0., 0., 0.5};

    /* both stand still: nothing to be done where they part, and no way out where they meet */
    for (int meets = 0; meets < 2; meets++) {
        p->contacts = 0;
        pile_touch(p, 0, 1, x, n)->b[0] = meets ? -0.1 : 0.1;
        pile_touch(p, -1, 0, x, n)->mu = 0.;
        p->contact[1].impulse[2] = 7.;
        CU_ASSERT_EQUAL(run(p, &exact, &result), meets ? MECH_VI_NOT_CONVERGED : 0);
        CU_ASSERT_EQUAL(result.colours, 0);
        CU_ASSERT(isfinite(result.residual));
        CHECK_NEAR(p->contact[1].impulse[2], 0., 0.);
    }
    /* held at its centre, free to turn, the arm along n: along n nothing moves it */
    p->contacts = 0;
    p->inverse_inertia[0] = p->inverse_inertia[4] = p->inverse_inertia[8] = 1.;
    pile_touch(p, -1, 0, x, n)->b[0] = 0.1;
    CU_ASSERT_EQUAL(run(p, &exact, &result), 0);
    /* nothing at all */
    p->contacts = 0;
    CU_ASSERT_EQUAL(run(p, &exact, &result), 0);
    CHECK_NEAR(result.residual, 0., 0.);
    pile_destroy(p);
}

/* data so small that its square is not a normal number, beside an impulse of before */
static void next_to_no_data_is_no_overflow(void)
{
    struct pile *const p = pile_of_spheres(1, 1, 7);
    struct mech_body_contacts_result result;
    const double n[3] = {0., 0., 1.}, x[3] = {0., 0., -0.5};

    p->contacts = 0;
    for (int k = 0; k < 6; k++) {
        p->velocity[k] = 0.;
    }
    pile_touch(p, -1, 0, x, n)->b[0] = -1e-160;
    p->contact[0].impulse[2] = 7.;
    const int code = run(p, &exact, &result);

    CU_ASSERT(code == 0 || code == MECH_VI_NOT_CONVERGED);
    CU_ASSERT(fabs(p->velocity[2]) < 1e-12);
    pile_destroy(p);
}

static void expect(struct pile *p, int code, int32_t body, int32_t contact)
{
    const size_t size = 6 * (size_t)p->count * sizeof(double);
    double *const before = pile_memory(size, 1);
    struct mech_body_contact *const contacts = pile_memory((size_t)p->contacts, sizeof *contacts);
    struct mech_body_contacts_result result;

    memcpy(before, p->velocity, size);
    memcpy(contacts, p->contact, (size_t)p->contacts * sizeof *contacts);
    CU_ASSERT_EQUAL(run(p, &exact, &result), code);
    CU_ASSERT_EQUAL(result.body, body);
    CU_ASSERT_EQUAL(result.contact, contact);
    CU_ASSERT(same(before, p->velocity, size));
    CU_ASSERT(same(contacts, p->contact, (size_t)p->contacts * sizeof *contacts));
    free(before);
    free(contacts);
}

static void what_is_not_finite_is_reported_and_changes_nothing(void)
{
    struct pile *const p = fallen(8, 2, 60, MECH_COULOMB);
    struct mech_body_contact *const c = &p->contact[2];
    double *const of_contact[] = {&c->n[1], &c->t1[0],      &c->arm[1][2], &c->b[2],
                                  &c->mu,   &c->rolling,    &c->spinning,  &c->cfm[2],
                                  &c->b[0], &c->impulse[1], &c->couple[0], &c->limit};
    double *const of_body[] = {&p->velocity[6 * 3 + 4], &p->inverse_mass[3 * 3 + 1],
                               &p->inverse_inertia[9 * 3 + 8]};

    CU_ASSERT_FATAL(p->contacts > 3);
    for (size_t k = 0; k < sizeof of_contact / sizeof *of_contact; k++) {
        const double kept = *of_contact[k];

        *of_contact[k] = k % 2 ? (double)NAN : HUGE_VAL;
        expect(p, MECH_NOT_FINITE, -1, 2);
        *of_contact[k] = kept;
    }
    for (size_t k = 0; k < sizeof of_body / sizeof *of_body; k++) {
        const double kept = *of_body[k];

        *of_body[k] = k % 2 ? HUGE_VAL : (double)NAN;
        expect(p, MECH_NOT_FINITE, 3, -1);
        *of_body[k] = kept;
    }
    /* finite, but not what comes of it */
    c->impulse[0] = 1e200;
    expect(p, MECH_NOT_FINITE, -1, -1);
    c->impulse[0] = 0.;
    p->velocity[0] = 1e300;
    expect(p, MECH_NOT_FINITE, -1, -1);
    pile_destroy(p);
}

static void what_is_not_valid_is_reported_and_changes_nothing(void)
{
    struct pile *const p = fallen(8, 2, 60, MECH_COULOMB);
    struct mech_body_contact *const c = &p->contact[1], good = *c;
    const int32_t wrong[4][2] = {{-2, 0}, {0, 8}, {3, 3}, {-1, -1}};
    double *const negative[] = {&c->mu, &c->rolling, &c->spinning, &c->cfm[0], &c->cfm[1]};

    for (int k = 0; k < 4; k++) {
        memcpy(c->body, wrong[k], sizeof c->body);
        expect(p, MECH_INVALID, -1, 1);
        *c = good;
    }
    for (size_t k = 0; k < sizeof negative / sizeof *negative; k++) {
        *negative[k] = -1e-3;
        expect(p, MECH_INVALID, -1, 1);
        *c = good;
    }
    c->n[0] += 0.1;
    expect(p, MECH_INVALID, -1, 1);
    *c = good;
    memcpy(c->t1, c->n, sizeof c->t1);
    expect(p, MECH_INVALID, -1, 1);
    *c = good;
    p->inverse_mass[3 * 5] = -1.;
    expect(p, MECH_INVALID, 5, -1);
    p->inverse_mass[3 * 5] = 1.;
    p->inverse_inertia[9 * 6 + 1] = p->inverse_inertia[9 * 6 + 3] = 1e4;
    expect(p, MECH_INVALID, 6, -1);
    pile_destroy(p);
}

static void what_does_not_converge_is_reported(void)
{
    struct pile *const p = pile_of_column(30);
    struct mech_body_contacts_options options = exact;
    struct mech_body_contacts_result result;

    pile_find(p, step);
    pile_fall(p, step);
    options.max_sweeps = 25;
    CU_ASSERT_EQUAL(run(p, &options, &result), MECH_VI_NOT_CONVERGED);
    CU_ASSERT_EQUAL(result.sweeps, 25);
    CU_ASSERT(result.residual > options.tolerance && result.residual < 1.);
    pile_destroy(p);
}

/* R J Rᵀ of a sphere and arms from points in the world are those of spheres but for rounding; with
 * more they are not */
static void turned_spheres_are_spheres(void)
{
    for (int other = 0; other < 2; other++) {
        struct pile *const p = sliding_sphere();
        const struct mech_contact_bodies bodies = pile_bodies(p);
        struct mech_body_contacts_result result;
        struct mech_body_contacts *s = NULL;

        p->inverse_inertia[1] = p->inverse_inertia[3] = 1e-16 * p->inverse_inertia[0];
        p->inverse_inertia[4] *= other ? 1. + 1e-13 : 1. + 2.3e-16;
        p->contact[0].arm[1][0] = 1e-14;
        CU_ASSERT_EQUAL_FATAL(mech_body_contacts_create(1, 1, &s), 0);
        CU_ASSERT_EQUAL(
            mech_body_contacts_solve(s, &bodies, p->contact, p->contacts, &exact, &result), 0);
        CU_ASSERT_EQUAL(s->kind[0], other ? MECH_BLOCK : MECH_ROUND);
        CHECK_NEAR(p->velocity[0], 1. - 0.4 * gravity * step, 1e-13);
        mech_body_contacts_destroy(s);
        pile_destroy(p);
    }
}

/* gravity knows no mass: all of them a thousand million times as light fall and rest alike */
static void grains_move_as_spheres_do(void)
{
    for (int rolling = 0; rolling < 2; rolling++) {
        struct pile *pair[2];

        for (int k = 0; k < 2; k++) {
            const double light = k ? 1e9 : 1.;
            struct mech_body_contacts_options options = exact;
            struct mech_body_contacts_result result;
            struct pile *const p = pair[k] = fallen(24, 3, 60, MECH_COULOMB);

            for (int32_t i = 0; i < p->contacts; i++) {
                p->contact[i].rolling = rolling ? 0.002 : 0.;
                memset(p->contact[i].impulse, 0, sizeof p->contact[i].impulse);
                memset(p->contact[i].couple, 0, sizeof p->contact[i].couple);
            }
            for (int32_t i = 0; i < 9 * p->count; i++) {
                p->inverse_mass[i / 3] *= i % 3 ? 1. : light;
                p->inverse_inertia[i] *= light;
            }
            pile_fall(p, step);
            options.tolerance = 1e-8;
            CU_ASSERT_EQUAL(run(p, &options, &result), 0);
        }
        for (int32_t i = 0; i < 6 * pair[0]->count; i++) {
            CHECK_NEAR(pair[1]->velocity[i], pair[0]->velocity[i], 1e-6);
        }
        pile_destroy(pair[0]);
        pile_destroy(pair[1]);
    }
}

/* --- how fast --------------------------------------------------------------------------------- */

static void stacks_of_boxes_come_to_rest(void)
{
    struct pile *const p = pile_of_boxes(10, 1.);
    struct mech_body_contacts_options options = exact;
    struct mech_body_contacts_result result;

    options.tolerance = 1e-8;
    options.accelerate = true;
    options.max_sweeps = 3000;
    pile_fall(p, step);
    CU_ASSERT_EQUAL(run(p, &options, &result), 0);
    double weight = 0.;

    for (int32_t i = 0; i < 4; i++) {
        weight += p->contact[i].impulse[2];
    }
    for (int32_t i = 0; i < 60; i++) {
        CHECK_NEAR(p->velocity[i], 0., 1e-6);
    }
    CHECK_NEAR(weight, 10. * gravity * step, 1e-6);
    /* the same again starts where it was */
    pile_fall(p, step);
    options.tolerance = 1e-6;
    CU_ASSERT_EQUAL(run(p, &options, &result), 0);
    CU_ASSERT_EQUAL(result.sweeps, 0);
    pile_destroy(p);
}

static void tall_columns_need_acceleration(void)
{
    int32_t sweeps[2];

    for (int k = 0; k < 2; k++) {
        struct pile *const p = pile_of_column(50);
        struct mech_body_contacts_options options = exact;
        struct mech_body_contacts_result result;

        options.tolerance = 1e-8;
        options.accelerate = k == 1;
        pile_find(p, step);
        pile_fall(p, step);
        CU_ASSERT_EQUAL(run(p, &options, &result), 0);
        sweeps[k] = result.sweeps;
        pile_destroy(p);
    }
    CU_ASSERT(10 * sweeps[1] < sweeps[0]);
}

static void memory_grows_and_may_be_refused(void)
{
    struct mech_body_contacts *s = NULL;
    struct pile *const p = sliding_sphere();
    const struct mech_contact_bodies bodies = pile_bodies(p);
    struct mech_body_contacts_result result;

    for (long k = 0; k < 2; k++) {
        alloc_refuse_start(k, false);
        CU_ASSERT_EQUAL(mech_body_contacts_create(3, 3, &s), MECH_NO_MEMORY);
        CU_ASSERT_EQUAL(alloc_refuse_stop(), 1);
    }
    CU_ASSERT_EQUAL_FATAL(mech_body_contacts_create(1, 0, &s), 0);
    CU_ASSERT_EQUAL(mech_body_contacts_solve(s, &bodies, p->contact, p->contacts, &exact, &result),
                    MECH_INTERNAL);
    alloc_refuse_start(0, false);
    CU_ASSERT_EQUAL(mech_body_contacts_reserve(s, 1, 1), MECH_NO_MEMORY);
    (void)alloc_refuse_stop();
    CU_ASSERT_EQUAL(mech_body_contacts_reserve(s, 1, 1), 0);
    CU_ASSERT_EQUAL(mech_body_contacts_solve(s, &bodies, p->contact, p->contacts, &exact, &result),
                    0);
    mech_body_contacts_destroy(s);
    mech_body_contacts_destroy(NULL);
    pile_destroy(p);
}

/* What another way costs, up to and from so many sweeps on; how often that was asked, and when
 * last. */
struct asked {
    double before, cost;
    int32_t from, last;
    int times;
};

static double cost_of(void *of, int32_t sweeps)
{
    struct asked *const a = of;

    a->times++;
    a->last = sweeps;
    return sweeps < a->from ? a->before : a->cost;
}

static void sweeps_end_where_another_way_costs_less(void)
{
    /* a stack of ten takes some thousand sweeps with momentum; one box takes a few */
    static const struct {
        int boxes, code, times, least, most;
        struct asked asked;
    } cases[] = {{10, MECH_VI_NOT_CONVERGED, 1, 50, 300, {.cost = 100.}},
                 {10, 0, 2, 500, 5000, {.cost = 1e9}},
                 {10, MECH_VI_NOT_CONVERGED, 2, 200, 500, {1e9, 100., .from = 200}},
                 {1, 0, 0, 0, 50, {.cost = 100.}}};

    for (int k = 0; k < 4; k++) {
        struct pile *const p = pile_of_boxes(cases[k].boxes, 1.);
        struct asked asked = cases[k].asked;
        const struct mech_body_contacts_options options = {.tolerance = 1e-10,
                                                           .max_sweeps = 5000,
                                                           .look_every = 10,
                                                           .accelerate = true,
                                                           .other = cost_of,
                                                           .of = &asked};
        struct mech_body_contacts_result result;

        pile_fall(p, step);
        CU_ASSERT_EQUAL(run(p, &options, &result), cases[k].code);
        CU_ASSERT(asked.times >= cases[k].times);
        CU_ASSERT(cases[k].times > 0 || asked.times == 0);
        CU_ASSERT(result.sweeps >= cases[k].least && result.sweeps <= cases[k].most);
        CU_ASSERT(cases[k].code == 0 || asked.last == result.sweeps);
        pile_destroy(p);
    }
}

/* In a stack of 600 that falls on its floor each sweep reaches one box more, with a part of the
 * impulse before it, until squares of impulses are less than any number. */
static void impulses_whose_squares_vanish_are_no_trouble(void)
{
    static const enum mech_contact_kernel kernels[] = {MECH_KERNEL_BASELINE, MECH_KERNEL_FASTEST};

    for (int k = 0; k < 2; k++) {
        struct pile *const p = pile_of_boxes(600, 1.);
        const struct mech_body_contacts_options options = {
            .max_sweeps = 1000, .look_every = 50, .kernel = kernels[k]};
        struct mech_body_contacts_result result;

        pile_fall(p, step);
        CU_ASSERT_EQUAL(run(p, &options, &result), MECH_VI_NOT_CONVERGED);
        CU_ASSERT_EQUAL(result.sweeps, 1000);
        pile_destroy(p);
    }
}

UNIT_TESTS(UNIT_TEST(impulses_whose_squares_vanish_are_no_trouble),
           UNIT_TEST(four_lanes_give_the_bits_of_one), UNIT_TEST(earlier_calls_leave_no_trace),
           UNIT_TEST(a_solve_allocates_nothing), UNIT_TEST(momentum_is_kept_to_rounding),
           UNIT_TEST(a_body_may_have_any_number_of_contacts),
           UNIT_TEST(bodies_that_nothing_moves_are_no_trouble),
           UNIT_TEST(next_to_no_data_is_no_overflow),
           UNIT_TEST(what_is_not_finite_is_reported_and_changes_nothing),
           UNIT_TEST(what_is_not_valid_is_reported_and_changes_nothing),
           UNIT_TEST(what_does_not_converge_is_reported), UNIT_TEST(stacks_of_boxes_come_to_rest),
           UNIT_TEST(tall_columns_need_acceleration), UNIT_TEST(memory_grows_and_may_be_refused),
           UNIT_TEST(turned_spheres_are_spheres), UNIT_TEST(grains_move_as_spheres_do),
           UNIT_TEST(sweeps_end_where_another_way_costs_less))
