/* Newton's method for contacts of bodies: what sweeps come to slowly, and what it does not take. */
#include "solver/vi/body_newton.h"

#include "tests/unit/alloc_count.h"
#include "tests/unit/solver/vi/falls.h"

#include <stdlib.h>

static const enum mech_friction laws[] = {MECH_COULOMB, MECH_ASSOCIATED};

/* Steps of Newton's method on the impulses of a pile, at most some of them; its cost in *cost. */
static int32_t improve_by(struct pile *p, enum mech_friction friction, int32_t most, double *cost)
{
    const struct mech_contact_bodies bodies = pile_bodies(p);
    const struct mech_body_newton_options options = {
        .friction = friction, .tolerance = 1e-10, .most = most};
    struct mech_body_newton *s = NULL;

    CU_ASSERT_EQUAL_FATAL(mech_body_newton_create(1, 1, &s), 0);
    CU_ASSERT_EQUAL_FATAL(mech_body_newton_reserve(s, p->count, p->contacts), 0);
    alloc_count_start();
    *cost = mech_body_newton_cost(s, &bodies, p->contact, p->contacts, friction);
    const int32_t steps = mech_body_newton_improve(s, &bodies, p->contact, p->contacts, &options);

    CU_ASSERT_EQUAL(alloc_count_stop(), 0);
    mech_body_newton_destroy(s);
    return steps;
}

static int32_t improve(struct pile *p, enum mech_friction friction, double *cost)
{
    return improve_by(p, friction, 0, cost);
}

/* The impulses as they are, judged at 1e-10, after so many sweeps with momentum. */
static int judge(struct pile *p, enum mech_friction friction, int32_t sweeps, double *residual)
{
    const struct mech_body_contacts_options options = {.friction = friction,
                                                       .tolerance = 1e-10,
                                                       .max_sweeps = sweeps,
                                                       .look_every = 10,
                                                       .accelerate = true};
    struct mech_body_contacts_result result;
    const int code = run(p, &options, &result);

    *residual = result.residual;
    return code;
}

/* Some sweeps, after which velocities are as they were. */
static void sweep(struct pile *p, enum mech_friction friction, int32_t sweeps)
{
    const size_t bytes = 6 * (size_t)p->count * sizeof *p->velocity;
    double *const before = malloc(bytes);
    double ignored;

    memcpy(before, p->velocity, bytes);
    judge(p, friction, sweeps, &ignored);
    memcpy(p->velocity, before, bytes);
    free(before);
}

static void stacks_take_few_steps(void)
{
    for (int k = 0; k < 2; k++) {
        struct pile *const p = pile_of_boxes(10, 1.), *const q = pile_of_boxes(10, 1.);
        double cost, residual;

        pile_fall(p, step);
        pile_fall(q, step);
        CU_ASSERT_EQUAL(judge(q, laws[k], 500, &residual), MECH_VI_NOT_CONVERGED);
        const int32_t steps = improve(p, laws[k], &cost);

        CU_ASSERT(steps > 0 && steps <= 60);
        CU_ASSERT(cost > 10. && cost < 100.);
        CU_ASSERT_EQUAL(judge(p, laws[k], 0, &residual), 0);
        for (int32_t i = 0; i < 60; i++) {
            CHECK_NEAR(p->velocity[i], 0., 1e-9);
        }
        pile_destroy(p);
        pile_destroy(q);
    }
}

/* A cube of 1 m that comes down on a floor, turned by small angles about x and y. */
static struct pile *landing(double a, double b)
{
    struct pile *const p = pile_of_boxes(1, 1.);
    double least = HUGE_VAL, z[4];

    p->mu = 0.5;
    for (int k = 0; k < 4; k++) {
        const double *const r = p->contact[k].arm[1];

        z[k] = r[2] * cos(a) * cos(b) + r[1] * sin(a) - r[0] * sin(b);
        least = fmin(least, z[k]);
    }
    for (int k = 0; k < 4; k++) {
        double *const r = p->contact[k].arm[1];
        const double x = r[0] * cos(b) + r[2] * sin(b) * cos(a) - r[1] * sin(a) * sin(b);
        const double y = r[1] * cos(a) - r[2] * sin(a);

        r[0] = x;
        r[1] = y;
        r[2] = z[k];
        p->contact[k].mu = 0.5;
        p->contact[k].b[0] = (z[k] - least) / step;
    }
    memcpy(p->velocity, (double[]){0.3, 0.1, -1., 0., 0., 0.2}, 6 * sizeof *p->velocity);
    return p;
}

static void faces_that_repeat_each_other_but_for_small_angles(void)
{
    for (int k = 0; k < 2; k++) {
        for (int i = 0; i < 12; i++) {
            const double a = 1e-2 * pow(0.4, i), b = 0.6 * a;
            struct pile *const p = landing(a, b);
            double cost, residual;
            const int32_t steps = improve(p, laws[k], &cost);
            const int code = judge(p, laws[k], 0, &residual);

            CU_ASSERT(steps > 0 && steps < 120);
            CU_ASSERT(code == 0 && residual <= 1e-10);
            pile_destroy(p);
        }
    }
}

/* the contacts of q behind those of p, whose bodies come first */
static struct pile *beside(struct pile *p, struct pile *q)
{
    struct pile *const both = pile_create(p->count + q->count, p->contacts + q->contacts);
    const struct pile *const parts[] = {p, q};
    int32_t bodies = 0;

    for (int k = 0; k < 2; k++) {
        const size_t n = (size_t)parts[k]->count, at = (size_t)bodies;

        memcpy(both->inverse_mass + 3 * at, parts[k]->inverse_mass, 3 * n * sizeof(double));
        memcpy(both->inverse_inertia + 9 * at, parts[k]->inverse_inertia, 9 * n * sizeof(double));
        memcpy(both->velocity + 6 * at, parts[k]->velocity, 6 * n * sizeof(double));
        for (int32_t i = 0; i < parts[k]->contacts; i++) {
            struct mech_body_contact *const c = &both->contact[both->contacts++];

            *c = parts[k]->contact[i];
            c->body[0] += c->body[0] >= 0 ? bodies : 0;
            c->body[1] += bodies;
        }
        bodies += parts[k]->count;
    }
    return both;
}

static void islands_are_solved_each_by_itself(void)
{
    struct pile *const p = pile_of_boxes(6, 1.), *const q = pile_of_boxes(10, 0.5);

    pile_fall(p, step);
    pile_fall(q, step);
    p->velocity[0] = 0.2;
    struct pile *const both = beside(p, q);
    double cost, ignored;

    (void)improve(p, MECH_COULOMB, &cost);
    (void)improve(q, MECH_COULOMB, &cost);
    (void)improve(both, MECH_COULOMB, &cost);
    CU_ASSERT_EQUAL(judge(p, MECH_COULOMB, 0, &ignored), 0);
    CU_ASSERT_EQUAL(judge(q, MECH_COULOMB, 0, &ignored), 0);
    CU_ASSERT_EQUAL(judge(both, MECH_COULOMB, 0, &ignored), 0);
    for (int32_t i = 0; i < 6 * p->count; i++) {
        CHECK_NEAR(both->velocity[i], p->velocity[i], 1e-7);
    }
    for (int32_t i = 0; i < 6 * q->count; i++) {
        CHECK_NEAR(both->velocity[6 * p->count + i], q->velocity[i], 1e-7);
    }
    pile_destroy(p);
    pile_destroy(q);
    pile_destroy(both);
}

/* A grid of `side` × `side` bodies in space, each of which touches its neighbours and one of three
 * layers below it: what elimination ties grows faster than the bodies do. */
static struct pile *heap(int32_t side)
{
    const int32_t n = side * side * side;
    struct pile *const p = pile_create(n, 4 * n);

    for (int32_t i = 0; i < n; i++) {
        const int32_t at[] = {i % side, i / side % side, i / side / side};
        const int32_t stride[] = {1, side, side * side};

        pile_set_sphere(p, i, (double[]){at[0], at[1], 0.5 + at[2]}, 0.5, 1.);
        for (int axis = 0; axis < 3; axis++) {
            if (at[axis] == 0 && axis < 2) {
                continue;
            }
            struct mech_body_contact *const c = &p->contact[p->contacts++];

            *c = (struct mech_body_contact){.body = {at[axis] ? i - stride[axis] : -1, i},
                                            .mu = 0.4};
            c->n[axis] = 1.;
            c->t1[(axis + 1) % 3] = 1.;
            c->arm[0][axis] = at[axis] ? 0.5 : 0.;
            c->arm[1][axis] = -0.5;
        }
    }
    return p;
}

/* the same where contacts resist rolling and spinning, and a box turns and slides */
static void what_resists_turns_takes_few_steps(void)
{
    static const double resist[3][2] = {{0.01, 0.005}, {0.003, 0.}, {0., 0.02}};

    for (int k = 0; k < 3; k++) {
        struct pile *const p = pile_of_boxes(10, 1.), *const q = pile_of_boxes(10, 1.);
        double cost, residual;

        for (int which = 0; which < 2; which++) {
            struct pile *const at = which ? q : p;

            for (int32_t i = 0; i < at->contacts; i++) {
                at->contact[i].rolling = resist[k][0];
                at->contact[i].spinning = resist[k][1];
            }
            pile_fall(at, step);
            at->velocity[6 * 9 + 0] = 0.3;
            at->velocity[6 * 9 + 5] = 1.;
            at->velocity[6 * 5 + 3] = 0.2;
        }
        CU_ASSERT_EQUAL(judge(q, MECH_COULOMB, 500, &residual), MECH_VI_NOT_CONVERGED);
        const int32_t steps = improve(p, MECH_COULOMB, &cost);

        CU_ASSERT(steps > 0 && steps <= 90);
        CU_ASSERT(cost > 1. && cost < 100.);
        CU_ASSERT_EQUAL(judge(p, MECH_COULOMB, 0, &residual), 0);
        pile_destroy(p);
        pile_destroy(q);
    }
}

static void what_it_does_not_take_stays(void)
{
    for (int k = 0; k < 2; k++) {
        struct pile *const p = k ? pile_of_boxes(2, 1.) : heap(14);
        double cost;

        pile_fall(p, step);
        p->contact[3].rolling = k ? 0.01 : 0.;
        p->contact[0].impulse[2] = 0.25;
        CU_ASSERT_EQUAL(improve(p, k ? MECH_ASSOCIATED : MECH_COULOMB, &cost), 0);
        CU_ASSERT_EQUAL(cost, 0.);
        CU_ASSERT_EQUAL(p->contact[0].impulse[2], 0.25);
        CU_ASSERT_EQUAL(p->contact[1].impulse[2], 0.);
        pile_destroy(p);
    }
}

/* An island of so many contacts that there is no memory for them: two bodies that repeat one. */
static void islands_of_too_many_contacts_stay(void)
{
    enum { MANY = 70000 };
    struct pile *const two = pile_of_boxes(2, 1.), *const p = pile_create(2, MANY);
    double cost;

    for (int32_t i = 0; i < MANY; i++) {
        p->contact[p->contacts++] = two->contact[4 + i % 4];
    }
    memcpy(p->inverse_mass, two->inverse_mass, 6 * sizeof(double));
    memcpy(p->inverse_inertia, two->inverse_inertia, 18 * sizeof(double));
    pile_fall(p, step);
    p->contact[0].impulse[2] = 0.25;
    CU_ASSERT_EQUAL(improve(p, MECH_COULOMB, &cost), 0);
    CU_ASSERT_EQUAL(cost, 0.);
    CU_ASSERT_EQUAL(p->contact[0].impulse[2], 0.25);
    pile_destroy(two);
    pile_destroy(p);
}

/* A contact that moves nothing: at the middle of a body that can only turn. What it is tied to is
 * solved all the same. */
static void a_contact_that_moves_nothing_spoils_no_other(void)
{
    for (int k = 0; k < 2; k++) {
        struct pile *const p = pile_of_boxes(2, 1.), *const q = pile_create(2, 9);
        double cost, residual;

        memcpy(q->inverse_mass, p->inverse_mass, 6 * sizeof(double));
        memcpy(q->inverse_inertia, p->inverse_inertia, 18 * sizeof(double));
        memset(q->inverse_mass, 0, 3 * sizeof(double)); /* the lower one */
        for (int32_t i = 0; i < 8; i++) {
            q->contact[q->contacts++] = p->contact[i];
        }
        q->contact[8] = p->contact[0];
        memset(q->contact[8].arm, 0, sizeof q->contact[8].arm);
        q->contacts = 9;
        pile_fall(q, step);
        q->velocity[2] = 0.;
        const int32_t steps = improve(q, laws[k], &cost);

        CU_ASSERT(steps > 0 && steps <= 60);
        CU_ASSERT_EQUAL(judge(q, laws[k], 0, &residual), 0);
        CHECK_NEAR(q->velocity[8], 0., 1e-9);
        pile_destroy(p);
        pile_destroy(q);
    }
}

/* 200 cubes on each other: as many blocks of the matrix as pairs that touch. 50 sweeps end farther
 * from a solution than none. */
static void towers_cost_by_their_bodies(void)
{
    struct pile *const p = pile_of_boxes(20, 1.), *const q = pile_of_boxes(200, 1.);
    double few, many;

    pile_fall(p, step);
    pile_fall(q, step);
    sweep(q, MECH_COULOMB, 50);
    (void)improve(p, MECH_COULOMB, &few);
    const int32_t steps = improve(q, MECH_COULOMB, &many);

    CU_ASSERT(steps > 0 && steps <= 40);
    CHECK_NEAR(many, few, 0.1 * few);
    double residual;

    CU_ASSERT_EQUAL(judge(q, MECH_COULOMB, 0, &residual), 0);
    pile_destroy(p);
    pile_destroy(q);
}

static void spheres_of_a_heap_are_solved(void)
{
    for (int k = 0; k < 2; k++) {
        struct pile *const p = heap(5);
        double cost, residual;

        pile_fall(p, step);
        p->velocity[3] = 1.;
        p->velocity[6 * 62] = 0.3;
        sweep(p, laws[k], 50);
        const int32_t steps = improve(p, laws[k], &cost);

        CU_ASSERT(steps > 0 && steps <= 100);
        CU_ASSERT_EQUAL(judge(p, laws[k], 0, &residual), 0);
        pile_destroy(p);
    }
}

/* The next proximal point is none any more then; the best so far stays. */
static void steps_end_where_they_should(void)
{
    struct pile *const p = pile_of_boxes(100, 1.), *const q = pile_of_boxes(100, 1.);
    double cost, few, many;

    pile_fall(p, step);
    pile_fall(q, step);
    const int32_t one = improve_by(p, MECH_COULOMB, 1, &cost);
    const int32_t all = improve(q, MECH_COULOMB, &cost);

    CU_ASSERT(one > 0 && one <= 15);
    CU_ASSERT(all > one);
    (void)judge(p, MECH_COULOMB, 0, &few);
    (void)judge(q, MECH_COULOMB, 0, &many);
    CU_ASSERT(many < few);
    pile_destroy(p);
    pile_destroy(q);
}

/* Steps of a tower of ten boxes (0) or of a cube that lands turned by little, whose masses are in a
 * unit `unit` times as small; impulses in kg m/s, [contacts × 3]. */
static int32_t steps_in(double unit, int which, enum mech_friction friction, double *impulses)
{
    struct pile *const p = which == 0 ? pile_of_boxes(10, 1.) : landing(1e-2 / which, 6e-3);
    double cost;

    if (which == 0) {
        pile_fall(p, step);
    }
    for (int32_t i = 0; i < 3 * p->count; i++) {
        p->inverse_mass[i] /= unit;
    }
    for (int32_t i = 0; i < 9 * p->count; i++) {
        p->inverse_inertia[i] /= unit;
    }
    const int32_t steps = improve(p, friction, &cost);

    for (int32_t i = 0; i < p->contacts; i++) {
        for (int k = 0; k < 3; k++) {
            impulses[3 * i + k] = p->contact[i].impulse[k] / unit;
        }
    }
    pile_destroy(p);
    return steps;
}

/* Units that are powers of 4, whose roots are exact: not a bit differs. */
static void masses_may_have_any_unit(void)
{
    static double here[200], there[200];

    for (int k = 0; k < 2; k++) {
        for (int which = 0; which < 6; which++) {
            const int32_t steps = steps_in(1., which, laws[k], here);

            CU_ASSERT(steps > 0);
            for (int power = -40; power <= 40; power += 16) {
                CU_ASSERT_EQUAL(steps_in(ldexp(1., power), which, laws[k], there), steps);
                CU_ASSERT_EQUAL(memcmp(here, there, sizeof here), 0);
            }
        }
    }
}

UNIT_TESTS(UNIT_TEST(stacks_take_few_steps), UNIT_TEST(what_resists_turns_takes_few_steps),
           UNIT_TEST(masses_may_have_any_unit), UNIT_TEST(steps_end_where_they_should),
           UNIT_TEST(faces_that_repeat_each_other_but_for_small_angles),
           UNIT_TEST(islands_are_solved_each_by_itself), UNIT_TEST(what_it_does_not_take_stays),
           UNIT_TEST(islands_of_too_many_contacts_stay),
           UNIT_TEST(a_contact_that_moves_nothing_spoils_no_other),
           UNIT_TEST(towers_cost_by_their_bodies), UNIT_TEST(spheres_of_a_heap_are_solved))
