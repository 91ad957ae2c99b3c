/* Contacts between bodies by block Gauss–Seidel: against the same problem with all its matrices and
 * the registered solvers, and against closed forms. Without a remark velocities are compared at
 * 1e-8 of metres a second: the residuals asked for, 1e-11 and less, times the condition of such
 * piles. */
#include "solver/vi/body_contacts.h"
#include "solver/vi/vi.h"
#include "tests/unit/solver/vi/falls.h"
#include "tests/unit/unit.h"

/* --- the same with matrices ------------------------------------------------------------------- */

struct dense {
    struct mech_arena arena;
    struct mech_mat N;
    struct mech_set *sets;
    struct mech_problem problem;
    double *G; /* [rows × 6 count] */
    double *r, *l, *c;
};

static int32_t rows_of(const struct mech_body_contact *c)
{
    return c->rolling > 0. || c->spinning > 0. ? 6 : c->mu > 0. ? 3 : 1;
}

static void fill_rows(const struct mech_body_contact *c, int32_t columns, double *G)
{
    double axes[9];

    memcpy(axes, c->n, sizeof c->n);
    memcpy(axes + 3, c->t1, sizeof c->t1);
    mech_v3_cross(c->n, c->t1, axes + 6);
    for (int32_t i = 0; i < rows_of(c); i++) {
        for (int side = 0; side < 2; side++) {
            const double sign = side == 0 ? -1. : 1.;
            double moment[3];

            if (c->body[side] < 0) {
                continue;
            }
            double *const at = G + (size_t)i * (size_t)columns + 6 * (size_t)c->body[side];

            mech_v3_cross(c->arm[side], axes + 3 * (i % 3), moment);
            for (int k = 0; k < 3; k++) {
                at[k] = i < 3 ? sign * axes[3 * i + k] : 0.;
                at[3 + k] = sign * (i < 3 ? moment[k] : axes[3 * (i - 3) + k]);
            }
        }
    }
}

/* M⁻¹ x of one body */
static void divide(const struct pile *p, int32_t i, const double *x, double *y)
{
    for (int k = 0; k < 3; k++) {
        y[k] = p->inverse_mass[3 * i + k] * x[k];
    }
    mech_m3_mul(p->inverse_inertia + 9 * (size_t)i, x + 3, y + 3);
}

static void *room(struct dense *d, size_t count, size_t size)
{
    void *const memory = mech_arena_alloc(&d->arena, count, size);

    CU_ASSERT_PTR_NOT_NULL_FATAL(memory);
    return memory;
}

static void pose(struct dense *d, const struct pile *p, enum mech_friction friction)
{
    const int32_t columns = 6 * p->count;
    int32_t m = 0, row = 0;

    mech_arena_init(&d->arena, 0);
    d->sets = room(d, (size_t)p->contacts, sizeof *d->sets);
    for (int32_t i = 0; i < p->contacts; i++) {
        const struct mech_body_contact *const c = &p->contact[i];
        const int32_t rows = rows_of(c);

        d->sets[i] = (struct mech_set){.kind = rows == 6   ? MECH_SET_ROLLING
                                               : rows == 3 ? MECH_SET_CONE
                                                           : MECH_SET_UNILATERAL,
                                       .rows = rows,
                                       .mu = c->mu,
                                       .spinning = c->spinning,
                                       .rolling = c->rolling};
        m += rows;
    }
    d->G = room(d, (size_t)m * (size_t)columns, sizeof(double));
    d->r = room(d, (size_t)m, sizeof(double));
    d->l = room(d, (size_t)m, sizeof(double));
    d->c = room(d, (size_t)m, sizeof(double));
    struct mech_triplet *const t = room(d, (size_t)m * (size_t)m, sizeof *t);
    double *const column = room(d, (size_t)columns, sizeof(double));
    size_t entries = 0;

    for (int32_t i = 0; i < p->contacts; row += d->sets[i].rows, i++) {
        fill_rows(&p->contact[i], columns, d->G + (size_t)row * (size_t)columns);
        for (int32_t k = 0; k < d->sets[i].rows; k++) {
            const double *const g = d->G + (size_t)(row + k) * (size_t)columns;

            d->r[row + k] = k < 3 ? p->contact[i].b[k] : 0.;
            for (int32_t j = 0; j < columns; j++) {
                d->r[row + k] += g[j] * p->velocity[j];
            }
        }
    }
    row = 0;
    for (int32_t i = 0, k = 0; i < m; i++, k++) {
        const double *const g = d->G + (size_t)i * (size_t)columns;

        while (k >= d->sets[row].rows) {
            k -= d->sets[row].rows;
            row++;
        }
        for (int32_t b = 0; b < p->count; b++) {
            divide(p, b, g + 6 * (size_t)b, column + 6 * (size_t)b);
        }
        for (int32_t j = 0; j < m; j++) {
            double sum = i == j ? p->contact[row].cfm[k == 0 ? 0 : k < 3 ? 1 : 2] : 0.;

            for (int32_t q = 0; q < columns; q++) {
                sum += d->G[(size_t)j * (size_t)columns + (size_t)q] * column[q];
            }
            if (sum != 0.) {
                t[entries++] = (struct mech_triplet){j, i, sum};
            }
        }
    }
    struct mech_mat leanest;

    CU_ASSERT_EQUAL_FATAL(mech_mat_from_triplets(&d->arena, m, m, t, entries, &leanest), 0);
    CU_ASSERT_EQUAL_FATAL(mech_mat_convert(&d->arena, &leanest, MECH_MAT_DENSE, &d->N), 0);
    d->problem = (struct mech_problem){
        .m = m, .N = &d->N, .r = d->r, .sets = d->sets, .count = p->contacts, .friction = friction};
}

static void solve_dense(struct dense *d, const char *name)
{
    const struct mech_vi_type *const type = mech_vi_find(name);
    const struct mech_vi_limits limits = {.tolerance = 1e-12, .max_iterations = 200000};
    struct mech_vi_result result;
    void *self = NULL;

    CU_ASSERT_EQUAL_FATAL(type->create(d->problem.m, &self), 0);
    CU_ASSERT_EQUAL(type->solve(self, &d->problem, &limits, d->l, &result), 0);
    type->destroy(self);
}

/* velocities that l leads to */
static void velocities(const struct dense *d, const struct pile *p, double *v)
{
    const int32_t columns = 6 * p->count;
    double *const x = pile_memory((size_t)columns, sizeof(double));

    for (int32_t i = 0; i < d->problem.m; i++) {
        for (int32_t j = 0; j < columns; j++) {
            x[j] += d->G[(size_t)i * (size_t)columns + (size_t)j] * d->l[i];
        }
    }
    for (int32_t b = 0; b < p->count; b++) {
        divide(p, b, x + 6 * (size_t)b, v + 6 * (size_t)b);
    }
    for (int32_t j = 0; j < columns; j++) {
        v[j] += p->velocity[j];
    }
    free(x);
}

/* --- runs ------------------------------------------------------------------------------------- */

/* The published residual, with impulses times what a unit of them moves along n, and torques and
 * turns over and times an arm: speeds all of them. */
static double residual_in_speeds(const struct dense *d, int32_t sets)
{
    const size_t m = (size_t)d->problem.m;
    double *const l = pile_memory(3 * m, sizeof(double)), *const c = l + m, *const r = c + m;
    struct mech_set *const set = pile_memory((size_t)sets, sizeof *set);
    size_t row = 0;

    for (int32_t i = 0; i < sets; i++) {
        const double *const N = d->problem.N->values + row * m + row, g = N[0];
        const bool rolls = d->sets[i].rows > 3;
        const double arm = rolls ? sqrt(3. * g / (N[3 * m + 3] + N[4 * m + 4] + N[5 * m + 5])) : 1.;

        set[i] = d->sets[i];
        set[i].spinning /= arm;
        set[i].rolling /= arm;
        for (int32_t k = 0; k < set[i].rows; k++, row++) {
            const double by = k < 3 ? 1. : arm;

            l[row] = g * d->l[row] / by;
            c[row] = d->c[row] * by;
            r[row] = d->problem.r[row] * by;
        }
    }
    const double residual = mech_sets_residual(set, sets, d->problem.friction, l, c, r);

    free(l);
    free(set);
    return residual;
}

/* of the impulses that stand in the contacts */
static double residual_of(struct dense *d, const struct pile *p)
{
    int32_t row = 0;

    for (int32_t i = 0; i < p->contacts; row += d->sets[i].rows, i++) {
        const struct mech_body_contact *const c = &p->contact[i];
        double t2[3];

        mech_v3_cross(c->n, c->t1, t2);
        const double l[6] = {mech_v3_dot(c->n, c->impulse), mech_v3_dot(c->t1, c->impulse),
                             mech_v3_dot(t2, c->impulse),   mech_v3_dot(c->n, c->couple),
                             mech_v3_dot(c->t1, c->couple), mech_v3_dot(t2, c->couple)};

        memcpy(d->l + row, l, (size_t)d->sets[i].rows * sizeof *l);
    }
    mech_problem_speed(&d->problem, d->l, d->c);
    return residual_in_speeds(d, p->contacts);
}

/* Both with and without acceleration, against the dense solution of `name`. Its velocities are only
 * compared where they are unique: not by Coulomb's law between surfaces that touch at more points
 * than they need. */
static void compare(struct pile *p, enum mech_friction friction, const char *name, bool unique)
{
    const size_t n = 6 * (size_t)p->count;
    double *const start = pile_memory(n, sizeof(double));
    double *const expected = pile_memory(n, sizeof(double));
    struct dense d;

    memcpy(start, p->velocity, n * sizeof *start);
    pose(&d, p, friction);
    solve_dense(&d, name);
    velocities(&d, p, expected);
    for (int way = 0; way < 2; way++) {
        struct mech_body_contacts_options options = exact;
        struct mech_body_contacts_result result;

        options.friction = friction;
        options.accelerate = way == 1;
        for (int32_t i = 0; i < p->contacts; i++) {
            memset(p->contact[i].impulse, 0, sizeof p->contact[i].impulse);
            memset(p->contact[i].couple, 0, sizeof p->contact[i].couple);
        }
        memcpy(p->velocity, start, n * sizeof *start);
        CU_ASSERT_EQUAL(run(p, &options, &result), 0);
        CU_ASSERT(result.residual <= options.tolerance);
        for (size_t j = 0; j < n && unique; j++) {
            CHECK_NEAR(p->velocity[j], expected[j], 1e-8);
        }
        /* its impulses solve the dense problem too */
        memcpy(p->velocity, start, n * sizeof *start);
        CHECK_NEAR(residual_of(&d, p), result.residual, 1e-13);
    }
    mech_arena_fini(&d.arena);
    free(start);
    free(expected);
}

/* --- one sphere ------------------------------------------------------------------------------- */

static void sliding_sphere_loses_mu_g_h_by_coulomb(void)
{
    struct pile *const p = sliding_sphere();
    struct mech_body_contacts_result result;

    CU_ASSERT_EQUAL(run(p, &exact, &result), 0);
    CHECK_NEAR(p->velocity[0], 1. - 0.4 * gravity * step, 1e-14);
    CHECK_NEAR(p->velocity[2], 0., 1e-14);
    CHECK_NEAR(p->velocity[4] * 0.3, 2.5 * 0.4 * gravity * step, 1e-14);
    CHECK_NEAR(p->contact[0].impulse[2], 2. * gravity * step, 1e-14);
    pile_destroy(p);
}

/* l_N/m = (h g + μ v0)/(1 + 3.5 μ²), as the cone's ray d = (1, −μ) with dᵀ W d = (1 + 3.5 μ²)/m */
static void sliding_sphere_opens_by_the_associated_law(void)
{
    struct pile *const p = sliding_sphere();
    struct mech_body_contacts_options options = exact;
    struct mech_body_contacts_result result;
    const double mu = 0.4, l = (gravity * step + mu) / (1. + 3.5 * mu * mu);

    options.friction = MECH_ASSOCIATED;
    CU_ASSERT_EQUAL(run(p, &options, &result), 0);
    CHECK_NEAR(p->contact[0].impulse[2] / 2., l, 1e-14);
    CHECK_NEAR(p->velocity[0], 1. - mu * l, 1e-14);
    CHECK_NEAR(p->velocity[2], l - gravity * step, 1e-14);
    /* the published numbers */
    CHECK_NEAR(l, 0.287853, 5e-7);
    CHECK_NEAR(p->velocity[0], 0.884859, 5e-7);
    CHECK_NEAR(p->velocity[2], 0.238803, 5e-7);
    pile_destroy(p);
}

static void sphere_rolls_against_its_resistance(void)
{
    struct pile *const p = pile_create(1, 1);
    struct mech_body_contacts_result result;
    const double r = 0.3, rho = 0.01;

    /* rolls along x; the couple ρ l_N brakes 7/5 m r² */
    p->rolling = rho;
    pile_set_sphere(p, 0, (double[]){0., 0., r}, r, 2.);
    p->velocity[0] = 1.;
    p->velocity[4] = 1. / r;
    pile_find(p, step);
    pile_fall(p, step);
    CU_ASSERT_EQUAL(run(p, &exact, &result), 0);
    CHECK_NEAR(p->velocity[0], 1. - rho * gravity * step / (1.4 * r), 1e-11);
    CHECK_NEAR(p->velocity[4] * r, p->velocity[0], 1e-11);
    CHECK_NEAR(p->contact[0].couple[1], -rho * 2. * gravity * step, 1e-11);
    pile_destroy(p);
}

static void spin_about_the_normal_is_braked(void)
{
    struct pile *const p = pile_create(1, 1);
    struct mech_body_contacts_result result;
    const double r = 0.3, sigma = 0.02;

    p->spinning = sigma;
    pile_set_sphere(p, 0, (double[]){0., 0., r}, r, 2.);
    p->velocity[5] = 3.;
    pile_find(p, step);
    pile_fall(p, step);
    CU_ASSERT_EQUAL(run(p, &exact, &result), 0);
    CHECK_NEAR(p->velocity[5], 3. - sigma * gravity * step / (0.4 * r * r), 1e-11);
    pile_destroy(p);
}

/* --- boxes ------------------------------------------------------------------------------------ */

static void box_slides_on_four_corners(void)
{
    struct pile *const p = pile_of_boxes(1, 0.2);
    struct mech_body_contacts_result result;

    for (int32_t i = 0; i < 4; i++) {
        p->contact[i].mu = 0.3;
    }
    p->velocity[0] = 1.;
    p->velocity[1] = -0.5;
    pile_fall(p, step);
    CU_ASSERT_EQUAL(run(p, &exact, &result), 0);
    const double lost = 0.3 * gravity * step / sqrt(1.25);

    CHECK_NEAR(p->velocity[0], 1. - lost, 1e-10);
    CHECK_NEAR(p->velocity[1], -0.5 + 0.5 * lost, 1e-10);
    for (int k = 2; k < 6; k++) {
        CHECK_NEAR(p->velocity[k], 0., 1e-10);
    }
    pile_destroy(p);
}

static void boxes_agree_with_dense_solvers(void)
{
    for (int friction = MECH_COULOMB; friction <= MECH_ASSOCIATED; friction++) {
        struct pile *const p = pile_of_boxes(3, 0.5);
        uint64_t state = 3;

        for (int32_t i = 0; i < 18; i++) {
            p->velocity[i] = 0.2 * (pile_random(&state) - 0.5);
        }
        /* inertias with products, and a turned mass */
        p->inverse_inertia[9 + 1] = p->inverse_inertia[9 + 3] = 1.5;
        p->inverse_inertia[18 + 2] = p->inverse_inertia[18 + 6] = -2.;
        for (int32_t i = 0; i < 12; i++) {
            p->contact[i].mu = 0.1 + 0.05 * i;
            p->contact[i].b[0] = -0.01 * (i % 3);
            p->contact[i].b[1] = 0.02 * (i % 2);
        }
        pile_fall(p, step);
        compare(p, (enum mech_friction)friction, "semismooth", friction == MECH_ASSOCIATED);
        pile_destroy(p);
    }
}

static void soft_contacts_agree_with_dense_solvers(void)
{
    for (int friction = MECH_COULOMB; friction <= MECH_ASSOCIATED; friction++) {
        struct pile *const p = pile_of_boxes(2, 0.5);

        p->velocity[0] = 0.7;
        for (int32_t i = 0; i < 8; i++) {
            p->contact[i].cfm[0] = 0.05 * (1 + i);
            p->contact[i].cfm[1] = 0.3;
        }
        pile_fall(p, step);
        compare(p, (enum mech_friction)friction, "semismooth", true);
        pile_destroy(p);
    }
}

/* --- piles ------------------------------------------------------------------------------------ */

static void piles_agree_with_dense_solvers(void)
{
    for (int friction = MECH_COULOMB; friction <= MECH_ASSOCIATED; friction++) {
        struct pile *const p = fallen(12, 2, 60, (enum mech_friction)friction);

        CU_ASSERT(p->contacts > 20);
        compare(p, (enum mech_friction)friction, "semismooth", true);
        pile_destroy(p);
    }
}

static void frictionless_piles_agree_with_dense_solvers(void)
{
    struct pile *const p = fallen(12, 2, 60, MECH_COULOMB);

    for (int32_t i = 0; i < p->contacts; i++) {
        p->contact[i].mu = 0.;
    }
    compare(p, MECH_COULOMB, "lemke", true);
    pile_destroy(p);
}

static void rolling_piles_agree_with_dense_solvers(void)
{
    for (int friction = MECH_COULOMB; friction <= MECH_ASSOCIATED; friction++) {
        struct pile *const p = fallen(8, 2, 40, (enum mech_friction)friction);

        for (int32_t i = 0; i < p->contacts; i++) {
            p->contact[i].rolling = i % 3 ? 0.01 : 0.;
            p->contact[i].spinning = 0.005;
            p->contact[i].cfm[2] = i % 2 ? 0.1 : 0.;
        }
        compare(p, (enum mech_friction)friction, "admm", true);
        pile_destroy(p);
    }
}

/* contacts that nothing can move along their normal may have no solution */
static void remove_what_cannot_yield(struct pile *p)
{
    int32_t kept = 0;

    for (int32_t i = 0; i < p->contacts; i++) {
        const struct mech_body_contact *const c = &p->contact[i];
        double yields = 0.;

        for (int side = 0; side < 2; side++) {
            for (int k = 0; k < 3 && c->body[side] >= 0; k++) {
                yields += p->inverse_mass[3 * c->body[side] + k] * c->n[k] * c->n[k];
            }
        }
        if (yields > 1e-3) {
            p->contact[kept++] = *c;
        }
    }
    p->contacts = kept;
}

/* plane bodies, point masses, a moving table and several masses a body */
static void bodies_that_move_in_part_agree_with_dense_solvers(void)
{
    for (int friction = MECH_COULOMB; friction <= MECH_ASSOCIATED; friction++) {
        struct pile *const p = fallen(12, 2, 60, (enum mech_friction)friction);

        shake(p);
        /* held along y and x, two masses, a point mass, held but for turns about z, a table */
        p->inverse_mass[1] = p->inverse_mass[3 + 0] = 0.;
        p->inverse_mass[27 + 1] *= 2.;
        for (int k = 0; k < 9; k++) {
            p->inverse_inertia[18 + k] = 0.;
            p->inverse_inertia[36 + k] = k == 8 ? 700. : 0.;
            p->inverse_inertia[9 * 3 + k] = 0.;
        }
        for (int k = 0; k < 3; k++) {
            p->inverse_mass[9 + k] = 0.;
        }
        remove_what_cannot_yield(p);
        compare(p, (enum mech_friction)friction, "semismooth", true);
        pile_destroy(p);
    }
}

/* far from a solution, where each contact counts; the 1e-12 are relative */
static void residuals_are_those_of_the_sets(void)
{
    for (int friction = MECH_COULOMB; friction <= MECH_ASSOCIATED; friction++) {
        struct pile *const p = fallen(24, 3, 60, (enum mech_friction)friction);

        shake(p);
        for (int32_t i = 0; i < p->contacts; i++) {
            p->contact[i].mu = i % 4 ? 0.4 : 0.;
            p->contact[i].rolling = i % 5 ? 0. : 0.01;
            p->contact[i].cfm[0] = p->contact[i].cfm[1] = i % 3 ? 0. : 0.2;
        }
        for (int32_t sweeps = 0; sweeps < 3; sweeps++) {
            const struct mech_body_contacts_options options = {
                .friction = (enum mech_friction)friction, .max_sweeps = sweeps};
            struct mech_body_contacts_result result;
            struct dense d;

            pose(&d, p, (enum mech_friction)friction);
            CU_ASSERT_EQUAL(run(p, &options, &result), MECH_VI_NOT_CONVERGED);
            const double residual = residual_of(&d, p);

            CU_ASSERT(residual > 1e-4);
            CHECK_NEAR(result.residual, residual, 1e-12 * residual);
            mech_arena_fini(&d.arena);
        }
        pile_destroy(p);
    }
}

static void put_in_units(struct pile *p, double kg, double m)
{
    for (int32_t i = 0; i < p->count; i++) {
        for (int k = 0; k < 9; k++) {
            p->inverse_inertia[9 * i + k] /= kg * m * m;
        }
        for (int k = 0; k < 3; k++) {
            p->inverse_mass[3 * i + k] /= kg;
            p->velocity[6 * i + k] *= m;
        }
    }
    for (int32_t i = 0; i < p->contacts; i++) {
        struct mech_body_contact *const c = &p->contact[i];

        for (int k = 0; k < 3; k++) {
            c->arm[0][k] *= m;
            c->arm[1][k] *= m;
            c->b[k] *= m;
            c->impulse[k] *= kg * m;
            c->couple[k] *= kg * m * m;
            c->cfm[k] /= k < 2 ? kg : kg * m * m;
        }
        c->spinning *= m;
        c->rolling *= m;
    }
}

/* Units that are powers of 4: not a bit differs. */
static void units_do_not_matter(void)
{
    static const double units[][2] = {
        {0x1p-40, 1.}, {0x1p40, 1.}, {1., 0x1p-40}, {1., 0x1p40}, {0x1p40, 0x1p40}};

    for (int k = 0; k < 10; k++) {
        const enum mech_friction friction = k < 5 ? MECH_COULOMB : MECH_ASSOCIATED;
        const struct mech_body_contacts_options options = {.friction = friction,
                                                           .tolerance = 1e-10,
                                                           .max_sweeps = 50,
                                                           .look_every = 10,
                                                           .accelerate = true};
        struct mech_body_contacts_result here, there;
        struct pile *const p = fallen(12, 2, 40, friction), *const q = fallen(12, 2, 40, friction);
        const double m = units[k % 5][1];

        for (int32_t i = 0; i < p->contacts; i++) {
            p->contact[i].rolling = q->contact[i].rolling = i % 3 ? 0.01 : 0.;
            p->contact[i].spinning = q->contact[i].spinning = i % 2 ? 0.005 : 0.;
        }
        put_in_units(q, units[k % 5][0], m);
        CU_ASSERT_EQUAL(run(p, &options, &here), run(q, &options, &there));
        CU_ASSERT_EQUAL(here.sweeps, there.sweeps);
        CHECK_NEAR(here.residual, there.residual, 0.);
        for (int32_t i = 0; i < 6 * p->count; i++) {
            CHECK_NEAR(q->velocity[i] / (i % 6 < 3 ? m : 1.), p->velocity[i], 0.);
        }
        pile_destroy(p);
        pile_destroy(q);
    }
}

UNIT_TESTS(UNIT_TEST(units_do_not_matter), UNIT_TEST(sliding_sphere_loses_mu_g_h_by_coulomb),
           UNIT_TEST(sliding_sphere_opens_by_the_associated_law),
           UNIT_TEST(sphere_rolls_against_its_resistance),
           UNIT_TEST(spin_about_the_normal_is_braked), UNIT_TEST(box_slides_on_four_corners),
           UNIT_TEST(boxes_agree_with_dense_solvers),
           UNIT_TEST(soft_contacts_agree_with_dense_solvers),
           UNIT_TEST(piles_agree_with_dense_solvers),
           UNIT_TEST(frictionless_piles_agree_with_dense_solvers),
           UNIT_TEST(rolling_piles_agree_with_dense_solvers),
           UNIT_TEST(bodies_that_move_in_part_agree_with_dense_solvers),
           UNIT_TEST(residuals_are_those_of_the_sets))
