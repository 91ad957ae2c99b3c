/* Every object with equations between coordinates keeps the contract of struct mech_equation_ops:
 * its slopes, rates and stiffness are what differences of its own functions say. Descriptions have
 * their defaults, with matrices of 2 × 3 (2 × 6 where there are nodes) and random numbers in them;
 * there are six coordinates, of which the first marker or node brings three. */
#include "solver/items/document.h"
#include "solver/items/ops.h"
#include "tests/unit/unit.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { N = 6, MOST = 8 };

static uint32_t seed = 4711;

/* −1 to 1 */
static double random_number(void)
{
    seed = seed * 1664525u + 1013904223u;
    return (double)(seed >> 8) / 8388608. - 1.;
}

static void fill(const struct mech_table *table, char *at, struct mech_arena *arena, int32_t cols,
                 bool velocity)
{
    mech_table_defaults(table, at);
    for (size_t i = 0; i < table->count; i++) {
        const struct mech_field *const f = &table->fields[i];

        if (f->kind == MECH_MATRIX) {
            struct mech_triplet t[2 * N];

            for (int32_t k = 0; k < 2 * cols; k++) {
                t[k] = (struct mech_triplet){k / cols, k % cols, random_number()};
            }
            CU_ASSERT_EQUAL(mech_mat_from_triplets(arena, 2, cols, t, 2 * (size_t)cols,
                                                   (void *)(at + f->offset)),
                            0);
        } else if (f->kind == MECH_VALUES) {
            static const char *texts[] = {"sin(3*t)", NULL};
            static double numbers[] = {0.1, 0.7};
            const struct mech_values values = {.number = numbers, .text = texts, .n = 2};

            memcpy(at + f->offset, &values, sizeof values);
        } else if (f->kind == MECH_BOOL && strstr(f->name, "elocity")) {
            memcpy(at + f->offset, &velocity, sizeof velocity);
        } else if (f->kind == MECH_STRUCTS && f->table->size <= 64) {
            /* two of them, on the first coordinate each */
            struct mech_structs list = {.at = mech_arena_alloc(arena, 2, f->table->size), .n = 2};

            fill(f->table, list.at, arena, cols, velocity);
            fill(f->table, (char *)list.at + f->table->size, arena, cols, velocity);
            memcpy(at + f->offset, &list, sizeof list);
        }
    }
}

struct subject {
    const struct mech_item_type *type;
    const struct mech_equation_ops *ops;
    void *record;
    int32_t rows;
    bool velocity;
    double q[N], ref[N], v[N], lambda[MOST];
};

static void near(const struct subject *s, const char *what, int i, int k, double told, double found)
{
    /* central differences of step 1e-5: truncation 1e-10, rounding 1e-11 of numbers of size 10 */
    const double allowed = 1e-7 * (1. + fabs(found));

    if (!(fabs(told - found) <= allowed)) {
        fprintf(stderr, "%s: %s %d %d is %.10g, by differences %.10g\n", s->type->name, what, i, k,
                told, found);
    }
    CHECK_NEAR(told, found, allowed);
}

/* the subject's point moved along the coordinates and in time at its velocities */
static struct mech_equation_point point(const struct subject *s, double *q, double dt, int k,
                                        double step)
{
    for (int i = 0; i < N; i++) {
        q[i] = s->q[i] + dt * s->v[i] + (i == k ? step : 0.);
    }
    return (struct mech_equation_point){0.3 + dt, q, s->ref, s->v, N};
}

/* g, or at velocity level G v + g_t */
static void value(const struct subject *s, const struct mech_equation_point *at, double *out)
{
    double G[MOST * N] = {0.}, bias[MOST] = {0.};

    memset(out, 0, MOST * sizeof *out);
    if (!s->velocity) {
        s->ops->residual(s->record, at, out);
        return;
    }
    s->ops->rate(s->record, at, out, bias);
    s->ops->jacobian(s->record, at, G);
    for (int r = 0; r < s->rows; r++) {
        for (int k = 0; k < N; k++) {
            out[r] += G[r * N + k] * at->v[k];
        }
    }
}

static void check_slopes(const struct subject *s)
{
    double q[N], G[MOST * N] = {0.}, K[N * N] = {0.}, up[MOST], down[MOST];
    const double h = 1e-5;
    const struct mech_equation_point here = point(s, q, 0., -1, 0.);

    s->ops->jacobian(s->record, &here, G);
    if (s->ops->stiffness) {
        s->ops->stiffness(s->record, &here, s->lambda, K);
    }
    for (int k = 0; k < N; k++) {
        double A[MOST * N] = {0.}, B[MOST * N] = {0.};
        struct mech_equation_point at = point(s, q, 0., k, h);

        value(s, &at, up);
        s->ops->jacobian(s->record, &at, A);
        at = point(s, q, 0., k, -h);
        value(s, &at, down);
        s->ops->jacobian(s->record, &at, B);
        for (int r = 0; r < s->rows && !s->velocity; r++) {
            near(s, "jacobian", r, k, G[r * N + k], (up[r] - down[r]) / (2. * h));
        }
        for (int i = 0; i < N; i++) {
            double sum = 0.;

            for (int r = 0; r < s->rows; r++) {
                sum += (A[r * N + i] - B[r * N + i]) / (2. * h) * s->lambda[r];
            }
            near(s, "stiffness", i, k, K[i * N + k], sum);
        }
    }
}

/* along the motion at constant velocities */
static void check_rates(const struct subject *s)
{
    const double h = 1e-4;
    double q[N], G[MOST * N] = {0.}, gt[MOST] = {0.}, bias[MOST] = {0.}, x[3][MOST];

    for (int i = 0; i < 3; i++) {
        const struct mech_equation_point at = point(s, q, (i - 1) * h, -1, 0.);

        value(s, &at, x[i]);
    }
    const struct mech_equation_point here = point(s, q, 0., -1, 0.);
    s->ops->rate(s->record, &here, gt, bias);
    s->ops->jacobian(s->record, &here, G);
    for (int r = 0; r < s->rows; r++) {
        double rate = gt[r];

        for (int k = 0; k < N; k++) {
            rate += G[r * N + k] * s->v[k];
        }
        if (s->velocity) {
            near(s, "bias", r, 0, bias[r], (x[2][r] - x[0][r]) / (2. * h));
        } else {
            near(s, "rate", r, 0, rate, (x[2][r] - x[0][r]) / (2. * h));
            /* h² ε of the second difference is 1e-8, that of the offset's own 1e-6 */
            CHECK_NEAR(bias[r], (x[2][r] - 2. * x[1][r] + x[0][r]) / (h * h), 1e-5);
        }
    }
}

static void each_equation(void (*check)(const struct subject *))
{
    int seen = 0;

    for (const struct mech_item_type *const *t = mech_item_types; *t; t++) {
        for (int velocity = 0; velocity < 2; velocity++) {
            if ((*t)->category != MECH_OBJECT || !(*t)->ops.object->equation) {
                continue;
            }
            static const int32_t slots[N] = {0, 1, 2, 3, 4, 5};
            struct subject s = {.type = *t, .ops = (*t)->ops.object->equation};
            char *const description = calloc(1, (*t)->table.size);
            struct mech_parameters none = {.n = 0};
            struct mech_diag diag;
            struct mech_arena arena;
            const struct mech_site site = {.arena = &arena,
                                           .parameters = &none,
                                           .slot = slots,
                                           .q_slot = slots,
                                           .n = N,
                                           .nq = N,
                                           .first = 3,
                                           .path = "/objects/0",
                                           .diag = &diag};

            mech_arena_init(&arena, 0);
            mech_diag_init(&diag);
            s.record = calloc(1, s.ops->record_size);
            fill(&(*t)->table, description, &arena, (*t)->ops.object->nodes ? N : 3, velocity);
            if ((*t)->ops.object->fit) {
                (*t)->ops.object->fit(description, &site);
            }
            CU_ASSERT(mech_diag_clean(&diag));
            CU_ASSERT_EQUAL(s.ops->record(description, &site, s.record), 1);
            s.rows = s.ops->rows(description, &site);
            s.velocity = s.ops->velocity && s.ops->velocity(description);
            CU_ASSERT_FATAL(s.rows > 0 && s.rows <= MOST);
            for (int i = 0; i < N; i++) {
                s.q[i] = random_number();
                s.ref[i] = random_number();
                s.v[i] = random_number();
                s.lambda[i] = random_number();
            }
            check(&s);
            seen++;
            if (s.ops->release) {
                s.ops->release(s.record);
            }
            free(s.record);
            free(description);
            mech_diag_fini(&diag);
            mech_arena_fini(&arena);
        }
    }
    CU_ASSERT(seen >= 2);
}

static void slopes_are_derivatives(void)
{
    each_equation(check_slopes);
}

static void rates_follow_the_motion(void)
{
    each_equation(check_rates);
}

static void tables_of_equations_are_complete(void)
{
    for (const struct mech_item_type *const *t = mech_item_types; *t; t++) {
        const struct mech_equation_ops *const q =
            (*t)->category == MECH_OBJECT ? (*t)->ops.object->equation : NULL;

        if (q) {
            CU_ASSERT(q->record && q->record_size > 0 && q->rows);
            CU_ASSERT(q->residual && q->jacobian && q->rate);
            CU_ASSERT(!(*t)->ops.object->pair);
            CU_ASSERT((*t)->ops.object->markers || (*t)->ops.object->nodes ||
                      (*t)->ops.object->own);
        }
    }
}

UNIT_TESTS(UNIT_TEST(tables_of_equations_are_complete), UNIT_TEST(slopes_are_derivatives),
           UNIT_TEST(rates_follow_the_motion))
