/* Every node whose coordinates are not the integrals of its velocities keeps the contract of
 * mech_node_ops: its rates are the derivatives of its moves, q ⊕ 0 puts q where it belongs and
 * keeps it there, and what it transports is what moves one after the other do. */
#include "solver/items/ops.h"
#include "tests/unit/unit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 16, TRIES = 20 };

static uint32_t seed = 99;

/* −1 to 1 */
static double random_number(void)
{
    seed = seed * 1664525u + 1013904223u;
    return (double)(seed >> 8) / 8388608. - 1.;
}

struct subject {
    const struct mech_node_ops *ops;
    int32_t nq, n;
    double q[MOST], v[MOST];
};

/* the node as its defaults describe it, moved at random from there */
static bool subject_of(const struct mech_item_type *type, double far, struct subject *s)
{
    double reference[MOST] = {0.}, displacement[MOST] = {0.}, d[MOST];

    if (type->category != MECH_NODE || !type->ops.node->coordinates) {
        return false;
    }
    void *const description = calloc(1, type->table.size);
    CU_ASSERT_PTR_NOT_NULL_FATAL(description);
    mech_table_defaults(&type->table, description);
    *s = (struct subject){.ops = type->ops.node,
                          .nq = type->ops.node->coordinates(description),
                          .n = type->ops.node->size(description)};
    CU_ASSERT_FATAL(s->nq <= MOST && s->n <= MOST);
    s->ops->start(description, reference, displacement, s->v);
    free(description);
    for (int32_t i = 0; i < s->n; i++) {
        s->v[i] = random_number();
        d[i] = far * random_number();
    }
    for (int32_t i = 0; i < s->nq; i++) {
        displacement[i] += reference[i];
    }
    s->ops->move(displacement, d, s->q);
    return true;
}

/* out = q ⊕ a x */
static void move_by(const struct subject *s, const double *q, double a, const double *x,
                    double *out)
{
    double d[MOST];

    for (int32_t i = 0; i < s->n; i++) {
        d[i] = a * x[i];
    }
    s->ops->move(q, d, out);
}

static void rates_are_those_of_moves(void)
{
    for (const struct mech_item_type *const *t = mech_item_types; *t; t++) {
        for (int k = 0; k < TRIES; k++) {
            const double h = 1e-5;
            double ahead[MOST], back[MOST], rate[MOST];
            struct subject s;

            if (!subject_of(*t, k < 3 ? 1e-3 * k : 1., &s)) {
                break;
            }
            s.ops->rate(s.q, s.v, rate);
            move_by(&s, s.q, h, s.v, ahead);
            move_by(&s, s.q, -h, s.v, back);
            for (int32_t i = 0; i < s.nq; i++) {
                /* truncation 1e-10, rounding 1e-11 */
                CHECK_NEAR(rate[i], (ahead[i] - back[i]) / (2. * h), 1e-9);
            }
        }
    }
}

static void moves_by_nothing_put_in_order_once(void)
{
    static const double nothing[MOST];

    for (const struct mech_item_type *const *t = mech_item_types; *t; t++) {
        for (int k = 0; k < TRIES; k++) {
            struct subject s;
            double q[MOST];

            if (!subject_of(*t, 3., &s)) {
                break;
            }
            memcpy(q, s.q, sizeof q);
            s.ops->move(q, nothing, q); /* in place, as at the end of explicit steps */
            for (int32_t i = 0; i < s.nq; i++) {
                CHECK_NEAR(q[i], s.q[i], 1e-14);
            }
        }
    }
}

/* (q ⊕ h dq) ⊕ (d + h dd) is (q ⊕ d) ⊕ h out up to h² */
static void motions_are_transported(void)
{
    for (const struct mech_item_type *const *t = mech_item_types; *t; t++) {
        for (int k = 0; k < TRIES; k++) {
            const double h = 1e-5;
            double d[MOST], dq[MOST], dd[MOST], out[MOST], at[2][MOST], q[MOST], there[MOST];
            struct subject s;

            if (!subject_of(*t, 0.7, &s) || !s.ops->transport) {
                break;
            }
            for (int32_t i = 0; i < s.n; i++) {
                d[i] = 0.5 * random_number();
                dq[i] = random_number();
                dd[i] = random_number();
            }
            s.ops->transport(d, dq, dd, out);
            s.ops->move(s.q, d, there);
            for (int e = 0; e < 2; e++) {
                const double step = e ? h : -h;
                double moved[MOST], back[MOST];

                for (int32_t i = 0; i < s.n; i++) {
                    moved[i] = d[i] + step * dd[i];
                }
                move_by(&s, s.q, step, dq, q);
                s.ops->move(q, moved, at[e]);
                move_by(&s, there, step, out, back);
                for (int32_t i = 0; i < s.nq; i++) {
                    at[e][i] -= back[i];
                }
            }
            for (int32_t i = 0; i < s.nq; i++) {
                CHECK_NEAR((at[1][i] - at[0][i]) / (2. * h), 0., 1e-9);
            }
        }
    }
}

UNIT_TESTS(UNIT_TEST(rates_are_those_of_moves), UNIT_TEST(moves_by_nothing_put_in_order_once),
           UNIT_TEST(motions_are_transported))
