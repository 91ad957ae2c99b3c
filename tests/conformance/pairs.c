/* Every object that acts between two markers keeps the contract of struct mech_pair_ops: what it
 * says of slopes, rates and stiffness is what differences of its own functions say. Two frames
 * stand and move at random; the description has its defaults, with every free number set. */
#include "solver/items/document.h"
#include "solver/items/ops.h"
#include "solver/linalg/so3.h"
#include "tests/unit/unit.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint32_t seed = 12345;

/* −1 to 1 */
static double random_number(void)
{
    seed = seed * 1664525u + 1013904223u;
    return (double)(seed >> 8) / 8388608. - 1.;
}

/* numbers that are allowed, not 0 and not equal, for every field with a range; dampers (per rate: a
 * unit with " s/") only when wanted, and without them square matrices that are symmetric */
static void fill(const struct mech_table *table, char *at, bool dampers)
{
    mech_table_defaults(table, at);
    for (size_t i = 0; i < table->count; i++) {
        const struct mech_field *const f = &table->fields[i];
        const uint32_t n = f->kind == MECH_REALS ? f->count : f->kind == MECH_REAL;
        const bool matrix = f->columns == 3;
        const bool left_out = !dampers && f->unit && strstr(f->unit, " s/");

        for (uint32_t k = 0; k < n && !matrix && !left_out; k++) {
            const double x = 0.3 + fabs(random_number());

            memcpy(at + f->offset + k * sizeof x, &x, sizeof x);
        }
        for (uint32_t k = 0; f->columns > 3 && k < n && !dampers; k++) {
            const uint32_t mirror = f->columns * (k % f->columns) + k / f->columns;

            memcpy(at + f->offset + mirror * sizeof(double), at + f->offset + k * sizeof(double),
                   sizeof(double));
        }
    }
}

/* expressions for every force law: one of one stretch, and some that see all of their own row */
static void fill_laws(const struct mech_table *table, char *at)
{
    static const char *rows[] = {"2*f0 + u1*v2 - sin(u0)",
                                 "t*f1 - u2^2",
                                 "v1 + cos(u0 + v0)",
                                 "3*u1 + f0",
                                 "f2*u0",
                                 "v0*v2"};
    static double numbers[6];
    const struct mech_formula one = {.text = "3*sin(u) + 0.5*u*v + 0.2*v^3 + t"};

    for (size_t i = 0; i < table->count; i++) {
        const struct mech_field *const f = &table->fields[i];

        if (f->kind == MECH_FORMULA && strcmp(f->locals[0], "u") == 0) {
            memcpy(at + f->offset, &one, sizeof one);
        } else if (f->kind == MECH_VALUES && f->locals) {
            const struct mech_values law = {.number = numbers, .text = rows, .n = f->count};

            memcpy(at + f->offset, &law, sizeof law);
        }
    }
}

/* everything that can be switched on is on */
static void raise_flags(const struct mech_table *table, char *at)
{
    const bool on = true;

    for (size_t i = 0; i < table->count; i++) {
        if (table->fields[i].kind == MECH_BOOL) {
            memcpy(at + table->fields[i].offset, &on, sizeof on);
        }
    }
}

static void random_pose(struct mech_pose *pose)
{
    const double angles[3] = {random_number(), random_number(), random_number()};

    memset(pose, 0, sizeof *pose);
    mech_so3_from_angles(angles, pose->R);
    for (int i = 0; i < 3; i++) {
        pose->p[i] = 2. * random_number();
        pose->v[i] = random_number();
        pose->omega[i] = random_number();
    }
}

/* R := exp(ω) R to second order, then straightened: enough for central differences */
static void turn(const double omega[3], double R[9])
{
    const double angle = mech_v3_norm(omega);
    double fresh[9];

    for (int k = 0; k < 3; k++) {
        const double x[3] = {R[k], R[3 + k], R[6 + k]};
        double a[3], b[3];

        mech_v3_cross(omega, x, a);
        mech_v3_cross(omega, a, b);
        for (int i = 0; i < 3; i++) {
            const double s = angle > 0. ? sin(angle) / angle : 1.;
            const double c = angle > 0. ? (1. - cos(angle)) / (angle * angle) : 0.5;

            fresh[3 * i + k] = x[i] + s * a[i] + c * b[i];
        }
    }
    memcpy(R, fresh, sizeof fresh);
}

/* motion k of the twelve by `step`, in poses or in twists */
static void shift(struct mech_pose at[2], int k, double step, bool twist)
{
    struct mech_pose *const pose = &at[k / 6];
    double axis[3] = {0., 0., 0.};

    if (k % 6 < 3) {
        (twist ? pose->v : pose->p)[k % 3] += step;
    } else if (twist) {
        pose->omega[k % 3] += step;
    } else {
        axis[k % 3] = step;
        turn(axis, pose->R);
    }
}

/* both poses after time dt at constant twist */
static void advance(struct mech_pose at[2], double dt)
{
    for (int k = 0; k < 2; k++) {
        const double omega[3] = {dt * at[k].omega[0], dt * at[k].omega[1], dt * at[k].omega[2]};

        mech_v3_add(at[k].p, dt, at[k].v, at[k].p);
        turn(omega, at[k].R);
    }
}

struct subject {
    const struct mech_item_type *type;
    const struct mech_pair_ops *ops;
    void *record;
    int32_t rows;
    uint32_t velocity; /* mask of rows at velocity level */
    struct mech_pose at[2];
    double lambda[MECH_PAIR_ROWS];
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

/* W of a force element or Gᵀ λ */
static void wrench(struct subject *s, struct mech_pose at[2], double W[12])
{
    const struct mech_pose *const pose[2] = {&at[0], &at[1]};
    const struct mech_eval e = {.t = 0.7};
    double G[MECH_PAIR_ROWS][12] = {{0.}};

    memset(W, 0, 12 * sizeof *W);
    if (!s->rows) {
        s->ops->wrench(s->record, &e, pose, W);
        return;
    }
    s->ops->jacobian(s->record, pose, G);
    for (int32_t r = 0; r < s->rows; r++) {
        for (int k = 0; k < 12; k++) {
            W[k] += G[r][k] * s->lambda[r];
        }
    }
}

static void check_slopes(struct subject *s)
{
    const struct mech_pose *const pose[2] = {&s->at[0], &s->at[1]};
    const struct mech_eval e = {.t = 0.7};
    double slope[2][12][12] = {{{0.}}};
    const double h = 1e-5;

    if (!s->rows) {
        s->ops->slope(s->record, &e, pose, slope[0], slope[1]);
    } else if (s->ops->stiffness) {
        s->ops->stiffness(s->record, pose, s->lambda, slope[0]);
    }
    for (int twist = 0; twist < 2; twist++) {
        for (int k = 0; k < 12; k++) {
            struct mech_pose up[2] = {s->at[0], s->at[1]}, down[2] = {s->at[0], s->at[1]};
            double above[12], below[12];

            shift(up, k, h, twist);
            shift(down, k, -h, twist);
            wrench(s, up, above);
            wrench(s, down, below);
            for (int i = 0; i < 12; i++) {
                near(s, twist ? "slope by twist" : "slope by motion", i, k, slope[twist][i][k],
                     (above[i] - below[i]) / (2. * h));
            }
        }
    }
}

/* Jᵀ Gᵀ λ of rigid bodies in space, after a motion k of the coordinates of both by `step` */
static void reaction(struct subject *s, const double local[2][3], int k, double step, double f[12])
{
    struct mech_pose at[2] = {s->at[0], s->at[1]};
    struct mech_pose *const moved = &at[k / 6];
    double W[12];

    if (k % 6 < 3) {
        moved->p[k % 3] += step;
    } else {
        const double axis[3] = {step * moved->R[k % 3], step * moved->R[3 + k % 3],
                                step * moved->R[6 + k % 3]};

        mech_v3_add(moved->p, -1., moved->arm, moved->p);
        turn(axis, moved->R);
        mech_m3_mul(moved->R, local[k / 6], moved->arm);
        mech_v3_add(moved->p, 1., moved->arm, moved->p);
    }
    wrench(s, at, W);
    for (int b = 0; b < 2; b++) {
        double moment[3];

        mech_v3_cross(at[b].arm, W + 6 * b, moment);
        mech_v3_add(moment, 1., W + 6 * b + 3, moment);
        memcpy(f + 6 * b, W + 6 * b, 3 * sizeof *f);
        mech_m3_mul_transposed(at[b].R, moment, f + 6 * b + 3);
    }
}

static void check_curvature(struct subject *s)
{
    const struct mech_pose *const pose[2] = {&s->at[0], &s->at[1]};
    double T[12][12], local[2][3];
    const double h = 1e-5;

    for (int b = 0; b < 2; b++) {
        for (int i = 0; i < 3; i++) {
            local[b][i] = random_number();
        }
        mech_m3_mul(s->at[b].R, local[b], s->at[b].arm);
    }
    const uint32_t blocks =
        s->ops->curvature ? s->ops->curvature(s->record, pose, s->lambda, T) : 0;
    for (int k = 0; k < 12 && blocks; k++) {
        double above[12], below[12];

        reaction(s, (const double(*)[3])local, k, h, above);
        reaction(s, (const double(*)[3])local, k, -h, below);
        for (int i = 0; i < 12; i++) {
            const bool written = blocks >> (4 * (i / 3) + k / 3) & 1;

            near(s, "curvature", i, k, written ? T[i][k] : 0., (above[i] - below[i]) / (2. * h));
        }
    }
}

/* G T + g_t */
static void speed(const struct subject *s, const struct mech_pose at[2], double t, double *out)
{
    const struct mech_pose *const pose[2] = {&at[0], &at[1]};
    double G[MECH_PAIR_ROWS][12] = {{0.}}, bias[MECH_PAIR_ROWS] = {0.};

    memset(out, 0, MECH_PAIR_ROWS * sizeof *out);
    s->ops->rate(s->record, t, pose, out, bias);
    s->ops->jacobian(s->record, pose, G);
    for (int32_t r = 0; r < s->rows; r++) {
        for (int k = 0; k < 12; k++) {
            const double *const part = k % 6 < 3 ? at[k / 6].v : at[k / 6].omega;

            out[r] += G[r][k] * part[k % 3];
        }
    }
}

/* bias is what ġ changes by along the motion of constant twists: all there is to say of rows at
 * velocity level */
static void check_speed(struct subject *s)
{
    const struct mech_pose *const pose[2] = {&s->at[0], &s->at[1]};
    double gt[MECH_PAIR_ROWS] = {0.}, bias[MECH_PAIR_ROWS] = {0.}, x[2][MECH_PAIR_ROWS];
    const double h = 1e-4, t = 0.7;

    s->ops->rate(s->record, t, pose, gt, bias);
    for (int i = 0; i < 2; i++) {
        struct mech_pose at[2] = {s->at[0], s->at[1]};

        advance(at, (2 * i - 1) * h);
        speed(s, at, t + (2 * i - 1) * h, x[i]);
    }
    for (int32_t r = 0; r < s->rows; r++) {
        /* h² of the central difference */
        CHECK_NEAR(bias[r], (x[1][r] - x[0][r]) / (2. * h), 1e-6 * (1. + fabs(bias[r])));
    }
}

static void check_joint(struct subject *s)
{
    const struct mech_pose *const pose[2] = {&s->at[0], &s->at[1]};
    double G[MECH_PAIR_ROWS][12] = {{0.}}, gt[MECH_PAIR_ROWS] = {0.}, bias[MECH_PAIR_ROWS] = {0.};
    double g[5][MECH_PAIR_ROWS];
    const double h = 1e-4, t = 0.7;

    CU_ASSERT(s->rows <= MECH_PAIR_ROWS);
    s->ops->jacobian(s->record, pose, G);
    s->ops->rate(s->record, t, pose, gt, bias);

    /* G by motions */
    for (int k = 0; k < 12; k++) {
        struct mech_pose up[2] = {s->at[0], s->at[1]}, down[2] = {s->at[0], s->at[1]};
        const struct mech_pose *const above[2] = {&up[0], &up[1]};
        const struct mech_pose *const below[2] = {&down[0], &down[1]};

        shift(up, k, 1e-5, false);
        shift(down, k, -1e-5, false);
        s->ops->residual(s->record, t, above, g[0]);
        s->ops->residual(s->record, t, below, g[1]);
        for (int32_t r = 0; r < s->rows; r++) {
            if (!(s->velocity >> r & 1)) {
                near(s, "jacobian", r, k, G[r][k], (g[0][r] - g[1][r]) / 2e-5);
            }
        }
    }

    /* ġ (to order 4) and g̈ along the motion of constant twists; ε/h² of g̈ is 1e-8 */
    for (int i = 0; i < 5; i++) {
        struct mech_pose at[2] = {s->at[0], s->at[1]};
        const struct mech_pose *const then[2] = {&at[0], &at[1]};

        advance(at, (i - 2) * h);
        s->ops->residual(s->record, t + (i - 2) * h, then, g[i]);
    }
    for (int32_t r = 0; r < s->rows; r++) {
        double rate = gt[r];

        if (s->velocity >> r & 1) {
            continue;
        }

        for (int k = 0; k < 12; k++) {
            const double *const part = k % 6 < 3 ? s->at[k / 6].v : s->at[k / 6].omega;

            rate += G[r][k] * part[k % 3];
        }
        near(s, "rate", r, 0, rate, (8. * (g[3][r] - g[1][r]) - (g[4][r] - g[0][r])) / (12. * h));
        CHECK_NEAR(bias[r], (g[3][r] - 2. * g[2][r] + g[1][r]) / (h * h), 1e-6);
    }
}

/* without dampers, the wrench is what the energy loses by a motion */
static void check_energy(struct subject *s)
{
    const struct mech_pose *const pose[2] = {&s->at[0], &s->at[1]};
    const struct mech_eval e = {.t = 0.7};
    double W[12] = {0.};
    const double h = 1e-5;

    CU_ASSERT(!isnan(s->ops->energy(s->record, &e, pose)));
    s->ops->wrench(s->record, &e, pose, W);
    for (int k = 0; k < 12; k++) {
        struct mech_pose up[2] = {s->at[0], s->at[1]}, down[2] = {s->at[0], s->at[1]};
        const struct mech_pose *const above[2] = {&up[0], &up[1]};
        const struct mech_pose *const below[2] = {&down[0], &down[1]};

        shift(up, k, h, false);
        shift(down, k, -h, false);
        near(s, "wrench by energy", k, 0, W[k],
             (s->ops->energy(s->record, &e, below) - s->ops->energy(s->record, &e, above)) /
                 (2. * h));
    }
}

enum which { ALL, FLAGS, LAWS, JOINTS, STORES };

static bool among(enum which which, const struct mech_pair_ops *ops)
{
    return which <= LAWS || (which == JOINTS ? ops->rows != NULL : ops->energy != NULL);
}

/* every pair of the registry, at several poses */
static void each_pair(void (*check)(struct subject *), enum which which)
{
    int seen = 0;

    for (const struct mech_item_type *const *t = mech_item_types; *t; t++) {
        if ((*t)->category != MECH_OBJECT || !(*t)->ops.object->pair ||
            !among(which, (*t)->ops.object->pair)) {
            continue;
        }
        struct subject s = {.type = *t, .ops = (*t)->ops.object->pair};
        seed = 12345; /* the same for each type, whatever others there are */
        char *const description = calloc(1, (*t)->table.size);
        struct mech_parameters none = {.n = 0};
        struct mech_diag diag;
        struct mech_arena arena;
        const struct mech_site site = {.arena = &arena,
                                       .parameters = &none,
                                       .held = s.ops->held,
                                       .path = "/objects/0",
                                       .diag = &diag};

        mech_arena_init(&arena, 0);
        mech_diag_init(&diag);
        s.record = calloc(1, s.ops->record_size);
        fill(&(*t)->table, description, which != STORES);
        if (which == LAWS) {
            fill_laws(&(*t)->table, description);
        } else if (which == FLAGS || which == STORES) {
            raise_flags(&(*t)->table, description);
        }
        CU_ASSERT_EQUAL(s.ops->record(description, &site, s.record), 1);
        s.rows = s.ops->rows ? s.ops->rows(description) : 0;
        s.velocity = s.ops->velocity ? s.ops->velocity(description) : 0;
        for (int i = 0; i < 5; i++) {
            random_pose(&s.at[0]);
            random_pose(&s.at[1]);
            for (int32_t r = 0; r < s.rows; r++) {
                s.lambda[r] = 3. * random_number();
            }
            check(&s);
            seen++;
        }
        if (s.ops->release) {
            s.ops->release(s.record);
        }
        free(s.record);
        free(description);
        mech_diag_fini(&diag);
        mech_arena_fini(&arena);
    }
    CU_ASSERT(seen >= 10);
}

static void slopes_are_derivatives_of_wrenches(void)
{
    each_pair(check_slopes, ALL);
    each_pair(check_slopes, FLAGS);
    each_pair(check_slopes, LAWS);
}

static void joints_of_rigid_bodies_know_their_curvature(void)
{
    each_pair(check_curvature, JOINTS);
}

static void joints_differentiate_their_equations(void)
{
    each_pair(check_joint, JOINTS);
}

static void springs_give_the_energy_that_they_store(void)
{
    each_pair(check_energy, STORES);
}

static void speeds_change_by_their_bias(void)
{
    each_pair(check_speed, JOINTS);
}

static void tables_of_pairs_are_complete(void)
{
    for (const struct mech_item_type *const *t = mech_item_types; *t; t++) {
        const struct mech_pair_ops *const p =
            (*t)->category == MECH_OBJECT ? (*t)->ops.object->pair : NULL;

        if (p) {
            CU_ASSERT(p->record && p->record_size > 0);
            CU_ASSERT((*t)->ops.object->markers != NULL);
            CU_ASSERT(p->rows ? p->residual && p->jacobian && p->rate && !p->wrench
                              : p->wrench && p->slope && !p->residual);
            CU_ASSERT(!p->rows || !p->energy);
        }
    }
}

UNIT_TESTS(UNIT_TEST(tables_of_pairs_are_complete), UNIT_TEST(slopes_are_derivatives_of_wrenches),
           UNIT_TEST(joints_of_rigid_bodies_know_their_curvature),
           UNIT_TEST(joints_differentiate_their_equations), UNIT_TEST(speeds_change_by_their_bias),
           UNIT_TEST(springs_give_the_energy_that_they_store))
