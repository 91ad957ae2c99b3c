/* Derivatives do not depend on units, on the origin, or on how long other pairs are: a point on a
 * rod of 1 m, beside springs, an attraction and rods that are up to 1e7 times as long, or a
 * thousandth: in SI units, in others and away from the origin against the same closed forms. */
#include "tests/verify/put.h"
#include "tests/verify/scaled.h"

#include <float.h>

enum { BARS = 3, UNKNOWNS = 3 + BARS, OUTPUTS = 7 };

enum bar_kind { ROD, SPRING, ATTRACTION };

/* Between the point, 1.5 kg, and an anchor, which is given from the rod's. */
struct bar {
    enum bar_kind kind;
    double anchor[3];
    double stiffness, length; /* of a spring: N/m, m; of an attraction the other mass, kg */
    const char *law;          /* of a spring that has one, of u, which is 0: then its slope
                               * `stiffness`, N/m, and its force `length`, N, there; or NULL */
};

struct place {
    const char *name;
    struct bar bars[BARS]; /* the first is the rod of 1 m */
    int count;
    double gravity; /* m/s² */
};

static const double mass = 1.5, constant = 6.6743e-11, here[3] = {0.6, -0.8, 0.};
#define OWN                                                                                        \
    {                                                                                              \
        .kind = ROD                                                                                \
    }

static const struct place places[] = {
    {"alone", {OWN}, 1, -9.81},
    {"a spring 1 km to the right", {OWN, {SPRING, {1e3, 0., 0.}, 0.05, 900., NULL}}, 2, -9.81},
    {"a spring 10 km to the right", {OWN, {SPRING, {1e4, 0., 0.}, 2e-3, 8e3, NULL}}, 2, -9.81},
    {"the center of the Earth",
     {OWN, {ATTRACTION, {0., -6.371e6, 0.}, 5.9722e24, 0., NULL}},
     2,
     0.},
    {"a rod of 1e7 m", {OWN, {ROD, {0., 0., 1e7}, 0., 0., NULL}}, 2, -9.81},
    {"a spring of 1 mm", {OWN, {SPRING, {0.601, -0.8, 0.}, 3e3, 2e-3, NULL}}, 2, -9.81},
    {"both",
     {OWN, {SPRING, {0.601, -0.8, 0.}, 3., 2e-3, NULL}, {ROD, {0., 0., 1e7}, 0., 0., NULL}},
     3,
     -9.81},
};
enum { PLACES = sizeof places / sizeof *places };

/* --- the model -------------------------------------------------------------------------------- */

struct point {
    double q[3], v[3], anchor[BARS][3]; /* m, as doubles hold them */
};

/* The point where `away` is the rod's anchor, at `speed` across the rod. */
static struct point point_of(const struct place *p, double away, double speed)
{
    struct point out = {.v = {0.8 * speed, 0.6 * speed, 0.}};

    for (int i = 0; i < 3; i++) {
        const double off = i == 0 ? away : i == 1 ? 0.25 * away : 0.;

        out.q[i] = off + here[i];
        for (int k = 0; k < p->count; k++) {
            out.anchor[k][i] = off + p->bars[k].anchor[i];
        }
    }
    return out;
}

static void write(const struct place *p, const struct point *at, struct text *t)
{
    t->n = 0;
    put(t, "{\"mechd\": 1, \"gravity\": [0, %.17g, 0], \"nodes\": [{\"name\": \"n\", \"type\": ",
        p->gravity);
    put(t, "\"NodePoint\", \"referenceCoordinates\": [%.17g, %.17g, %.17g], ", at->q[0], at->q[1],
        at->q[2]);
    put(t, "\"initialVelocities\": [%.17g, %.17g, 0]}", at->v[0], at->v[1]);
    for (int k = 0; k < p->count; k++) {
        put(t,
            ", {\"name\": \"g%d\", \"type\": \"NodePointGround\", \"referenceCoordinates\": ", k);
        put(t, "[%.17g, %.17g, %.17g]}", at->anchor[k][0], at->anchor[k][1], at->anchor[k][2]);
    }
    put(t, "], \"objects\": [{\"name\": \"b\", \"type\": \"MassPoint\", \"node\": \"n\", ");
    put(t, "\"physicsMass\": %.17g}", mass);
    for (int k = 0; k < p->count; k++) {
        static const char *const types[] = {"DistanceConstraint", "SpringDamper", "Gravity"};
        const struct bar *const b = &p->bars[k];
        const double d[3] = {at->q[0] - at->anchor[k][0], at->q[1] - at->anchor[k][1],
                             at->q[2] - at->anchor[k][2]};

        put(t, ", {\"name\": \"r%d\", \"type\": \"%s\", \"markers\": [\"m%d\", \"m\"], ", k,
            types[b->kind], k);
        if (b->kind == ROD) {
            put(t, "\"distance\": %.17g}", sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]));
        } else if (b->law) {
            put(t, "\"springForceUserFunction\": \"=%s\", \"referenceLength\": %.17g}", b->law,
                sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]));
        } else if (b->kind == SPRING) {
            put(t, "\"stiffness\": %.17g, \"referenceLength\": %.17g}", b->stiffness, b->length);
        } else {
            put(t, "\"mass0\": %.17g, \"mass1\": %.17g}", b->stiffness, mass);
        }
    }
    put(t, "], \"markers\": [{\"name\": \"m\", \"type\": \"MarkerNodePosition\", \"node\": \"n\"}");
    for (int k = 0; k < p->count; k++) {
        put(t, ", {\"name\": \"m%d\", \"type\": \"MarkerNodePosition\", \"node\": \"g%d\"}", k, k);
    }
    put(t, "], \"sensors\": [{\"name\": \"p\", \"type\": \"SensorNode\", \"node\": \"n\", ");
    put(t, "\"outputVariable\": \"Position\"}, {\"name\": \"a\", \"type\": \"SensorNode\", ");
    put(t, "\"node\": \"n\", \"outputVariable\": \"Acceleration\"}, {\"name\": \"d\", \"type\": ");
    put(t, "\"SensorObject\", \"object\": \"r%d\", \"outputVariable\": \"Distance\"}], ",
        p->count - 1);
    put(t, "\"outputs\": [{\"name\": \"p\", \"sensor\": \"p\"}, {\"name\": \"a\", \"sensor\": ");
    put(t, "\"a\"}, {\"name\": \"d\", \"sensor\": \"d\"}], \"solver\": {\"stepSize\": 0.001}}");
}

/* --- closed forms ----------------------------------------------------------------------------- */

typedef long double real;

struct line {
    real n[3], length;
};

static real dot(const real *a, const real *b)
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static struct line line_of(const struct point *at, int k)
{
    struct line l;

    for (int i = 0; i < 3; i++) {
        l.n[i] = (real)at->q[i] - at->anchor[k][i];
    }
    l.length = sqrtl(dot(l.n, l.n));
    for (int i = 0; i < 3; i++) {
        l.n[i] /= l.length;
    }
    return l;
}

/* How its direction changes by a motion. */
static void turn(const struct line *l, const real *dq, real *dn)
{
    for (int i = 0; i < 3; i++) {
        dn[i] = (dq[i] - l->n[i] * dot(l->n, dq)) / l->length;
    }
}

/* x := A⁻¹ x [n], with pivots */
static void solve(int n, real A[UNKNOWNS][UNKNOWNS], real *x)
{
    for (int k = 0; k < n; k++) {
        int p = k;

        for (int i = k + 1; i < n; i++) {
            p = fabsl(A[i][k]) > fabsl(A[p][k]) ? i : p;
        }
        for (int j = 0; j < n; j++) {
            const real keep = A[k][j];

            A[k][j] = A[p][j];
            A[p][j] = keep;
        }
        const real keep = x[k];

        x[k] = x[p];
        x[p] = keep;
        for (int i = k + 1; i < n; i++) {
            const real factor = A[i][k] / A[k][k];

            for (int j = k; j < n; j++) {
                A[i][j] -= factor * A[k][j];
            }
            x[i] -= factor * x[k];
        }
    }
    for (int k = n - 1; k >= 0; k--) {
        for (int j = k + 1; j < n; j++) {
            x[k] -= A[k][j] * x[j];
        }
        x[k] /= A[k][k];
    }
}

/* x: a + Σ n_i μ_i = x[0…2], n_i · a = x[3…], of the rods. */
static void solve_rods(const struct place *p, const struct point *at, real *x)
{
    real A[UNKNOWNS][UNKNOWNS] = {{0}};
    int n = 3;

    for (int i = 0; i < 3; i++) {
        A[i][i] = 1;
    }
    for (int k = 0; k < p->count; k++) {
        const struct line l = line_of(at, k);

        for (int i = 0; i < 3 && p->bars[k].kind == ROD; i++) {
            A[n][i] = A[i][n] = l.n[i];
        }
        n += p->bars[k].kind == ROD;
    }
    solve(n, A, x);
}

/* The pull f n of a bar that is no rod over the mass, and its slope f'. */
static real pull(const struct bar *b, real length, real *slope)
{
    if (b->kind == SPRING) {
        *slope = -b->stiffness / (real)mass;
        if (b->law) {
            return -b->length / (real)mass;
        }
        return *slope * (length - b->length);
    }
    const real f = -(real)constant * b->stiffness / (length * length);

    *slope = -2 * f / length;
    return f;
}

/* a of the point, and μ of its rods. */
static void accelerate(const struct place *p, const struct point *at, real *x)
{
    const real v[3] = {at->v[0], at->v[1], at->v[2]};
    int n = 3;

    memset(x, 0, UNKNOWNS * sizeof *x);
    x[1] = p->gravity;
    for (int k = 0; k < p->count; k++) {
        const struct line l = line_of(at, k);
        const real along = dot(l.n, v);
        real slope;

        if (p->bars[k].kind == ROD) {
            x[n++] = -(dot(v, v) - along * along) / l.length;
            continue;
        }
        const real f = pull(&p->bars[k], l.length, &slope);
        for (int i = 0; i < 3; i++) {
            x[i] += f * l.n[i];
        }
    }
    solve_rods(p, at, x);
}

/* dx [UNKNOWNS]: how a and μ change by dq and dv. */
static void change(const struct place *p, const struct point *at, const real *dq, const real *dv,
                   real *dx)
{
    const real v[3] = {at->v[0], at->v[1], at->v[2]};
    real x[UNKNOWNS], dn[3], slope;
    int n = 3;

    accelerate(p, at, x);
    memset(dx, 0, UNKNOWNS * sizeof *dx);
    for (int k = 0; k < p->count; k++) {
        const struct line l = line_of(at, k);
        const real along = dot(l.n, v), longer = dot(l.n, dq);

        turn(&l, dq, dn);
        if (p->bars[k].kind == ROD) {
            const real square = dot(v, v) - along * along;
            const real other = 2 * (dot(v, dv) - along * (dot(l.n, dv) + dot(dn, v)));

            dx[n] = -(other - square * longer / l.length) / l.length - dot(dn, x);
            for (int i = 0; i < 3; i++) {
                dx[i] -= dn[i] * x[n];
            }
            n++;
            continue;
        }
        const real f = pull(&p->bars[k], l.length, &slope);
        for (int i = 0; i < 3; i++) {
            dx[i] += slope * longer * l.n[i] + f * dn[i];
        }
    }
    solve_rods(p, at, dx);
}

/* --- comparisons ------------------------------------------------------------------------------ */

/* The largest difference of n numbers, over the largest of them. */
static double off_by(const double *got, const double *expected, int n)
{
    double most = 0., off = 0.;

    for (int i = 0; i < n; i++) {
        most = fmax(most, fabs(expected[i]));
        off = isfinite(got[i]) ? fmax(off, fabs(got[i] - expected[i])) : HUGE_VAL;
    }
    return off / most;
}

static void check(const struct place *p, const char *where, const char *what, double off,
                  double most)
{
    CU_ASSERT(off <= most);
    if (!(off <= most)) {
        fprintf(stderr, "%s, %s: %s off by %.3g, bound %.3g\n", p->name, where, what, off, most);
    }
}

/* ∂v̇/∂q and ∂v̇/∂v, column by column, [3 × 3] each by rows. */
static void expect(const struct place *p, const struct point *at, double *by_q, double *by_v)
{
    for (int j = 0; j < 3; j++) {
        real unit[3] = {0}, none[3] = {0}, dx[UNKNOWNS];

        unit[j] = 1;
        change(p, at, unit, none, dx);
        for (int i = 0; i < 3; i++) {
            by_q[3 * i + j] = (double)dx[i];
        }
        change(p, at, none, unit, dx);
        for (int i = 0; i < 3; i++) {
            by_v[3 * i + j] = (double)dx[i];
        }
    }
}

static void check_jacobian(const struct place *p, const struct point *at, struct mech_sim *s,
                           const struct scaling *by, const char *where, double most)
{
    double J[36], got[2][9], expected[2][9];

    CU_ASSERT_EQUAL(
        mech_sim_evaluate(s, &(struct mech_point){.time = NAN}, MECH_WANT_RHS_JACOBIAN, J), 0);
    expect(p, at, expected[0], expected[1]);
    for (int i = 0; i < 9; i++) {
        got[0][i] = by->s * by->s * J[6 * (3 + i / 3) + i % 3];
        got[1][i] = by->s * J[6 * (3 + i / 3) + 3 + i % 3];
    }
    check(p, where, "rhsJacobian by q", off_by(got[0], expected[0], 9), most);
    if (at->v[0] != 0.) {
        check(p, where, "rhsJacobian by v", off_by(got[1], expected[1], 9), most);
    }
}

static const struct scaled_units si = {"SI", 1., 1., 1.};

/* A, and in SI C of the acceleration, at rest, by the motions that joints leave free. */
static void check_linearization(const struct place *p, const struct point *at, struct mech_sim *s,
                                const struct scaling *by, const char *where, double most)
{
    struct mech_linearization l;
    double A[36], C[6 * OUTPUTS], none[1];
    char reason[160] = "";
    const int code = mech_sim_linearize_init(s, &l, reason);

    CU_ASSERT_EQUAL(code, 0);
    CU_ASSERT(l.states <= 6 && l.outputs == OUTPUTS);
    if (code == 0 && l.states <= 6 && l.outputs == OUTPUTS) {
        const int n = l.motions.positions;
        double got[2][9] = {{0.}}, expected[2][9] = {{0.}};

        l.A = A, l.B = none, l.C = C, l.D = none;
        CU_ASSERT_EQUAL(mech_sim_linearize(s, &l, reason), 0);
        for (int j = 0; j < n; j++) {
            real none_of[3] = {0}, dq[3], dx[UNKNOWNS];
            double q[4] = {0.};

            mech_motions_column(3, l.motions.Q, j, q);
            for (int i = 0; i < 3; i++) {
                dq[i] = q[i];
            }
            change(p, at, dq, none_of, dx);
            for (int i = 0; i < n; i++) {
                double v[4] = {0.};

                mech_motions_column(3, l.motions.V, i, v);
                expected[0][3 * i + j] = (double)(v[0] * dx[0] + v[1] * dx[1] + v[2] * dx[2]);
                got[0][3 * i + j] = by->s * by->s * A[(n + i) * l.states + j];
            }
            for (int i = 0; i < 3; i++) {
                expected[1][3 * i + j] = (double)dx[i];
                got[1][3 * i + j] = by->s * by->s * C[(3 + i) * l.states + j];
            }
        }
        check(p, where, "A", off_by(got[0], expected[0], 9), most);
        if (by->kg == 1. && by->m == 1. && by->s == 1.) {
            check(p, where, "C of the acceleration", off_by(got[1], expected[1], 9), most);
        }
    }
    mech_linearize_fini(&l);
}

/* All of one place, `away` from the origin, in other units. */
static void check_all(const struct place *p, double away, const struct scaled_units *units)
{
    /* What rounding of coordinates leaves of directions of 1 m, or of 1 mm. */
    const double near = p->bars[p->count > 1].kind == SPRING && p->bars[1].length < 1. ? 1e-3 : 1.;
    const double most = 1e-9 + 16. * DBL_EPSILON * fabs(away) / near;
    char where[80];

    snprintf(where, sizeof where, "%s at %g m", units->name, away);
    for (int moving = 0; moving < 2; moving++) {
        const struct point at = point_of(p, away, moving ? 0.7 : 0.);
        struct scaling by = {.kg = units->kg, .m = units->m, .s = units->s};
        static struct text t;

        write(p, &at, &t);
        struct mech_sim *const s = scaled_sim(t.at, &by, NULL);

        CU_ASSERT(s != NULL);
        if (!s) {
            fprintf(stderr, "%s, %s: refused\n", p->name, where);
            continue;
        }
        check_jacobian(p, &at, s, &by, where, most);
        if (!moving) {
            check_linearization(p, &at, s, &by, where, most);
        }
        mech_sim_destroy(s);
    }
}

/* --- tests ------------------------------------------------------------------------------------ */

static void far_pairs_do_not_lend_their_length(void)
{
    for (size_t i = 0; i < PLACES; i++) {
        check_all(&places[i], 0., &si);
    }
}

static void derivatives_are_the_same_far_from_the_origin(void)
{
    static const double away[] = {1e4, -3.3e5, 1e7};

    for (size_t i = 0; i < PLACES; i++) {
        for (int k = 0; k < 3; k++) {
            check_all(&places[i], away[k], &si);
        }
    }
}

static void derivatives_are_the_same_in_all_units(void)
{
    for (size_t i = 0; i < PLACES; i++) {
        for (size_t k = 0; k < SCALED_UNITS; k++) {
            check_all(&places[i], 0., &scaled_units[k]);
        }
    }
}

/* A law has the slopes of the branch that it is on, however near the next one is. */
static void laws_keep_their_branch(void)
{
    static const struct bar laws[] = {
        {.law = "30 + 300*u + 4000*max(u - 1e-6, 0)", .stiffness = 300., .length = 30.},
        {.law = "30 + 300*u + 4000*max(-1e-6 - u, 0)", .stiffness = 300., .length = 30.},
        {.law = "1000*max(u + 1e-6, 0)", .stiffness = 1000., .length = 1e-3},
        /* at a kink itself it is the mean of both (expr.h) */
        {.law = "30 + 300*u + 700*max(u, 0)", .stiffness = 650., .length = 30.},
        {.law = "30 + 300*u + 2*exp(-(u/1e-5)^2)", .stiffness = 300., .length = 32.},
        {.law = "30 + 1e-3*exp(-(u/1e-6 - 1)^2)",
         .stiffness = 735.75888234288464,
         .length = 30.000367879441171},
    };

    for (size_t i = 0; i < sizeof laws / sizeof *laws; i++) {
        struct place p = {laws[i].law, {OWN, laws[i]}, 2, -9.81};

        p.bars[1].kind = SPRING;
        p.bars[1].anchor[0] = here[0];
        p.bars[1].anchor[1] = here[1] - 2.;
        check_all(&p, 0., &si);
    }
}

/* A pendulum in space that swings about a point, which it meets to rounding: A, and how
 * accelerations and reactions follow. */
static int swing(double away, double A[36], double C[36])
{
    static struct text t;
    struct scaling none = {.kg = 1., .m = 1., .s = 1.};
    struct mech_linearization l;
    double B[1];
    char reason[160] = "";

    t.n = 0;
    put(&t,
        "{\"mechd\": 1, \"gravity\": [0, 0, -9.81], \"nodes\": [{\"name\": \"n\", \"type\": "
        "\"NodeRigidBodyEP\", \"referenceCoordinates\": [%.17g, %.17g, %.17g, 1, 0, 0, 0], ",
        1. + away, away, away);
    put(&t,
        "\"initialVelocities\": [0, 0.5, 0, 0, 0.7, 0, 0.25]}], \"objects\": [{\"name\": \"g\", "
        "\"type\": \"Ground\"}, {\"name\": \"b\", \"type\": \"RigidBody\", \"node\": \"n\", "
        "\"physicsMass\": 2, \"physicsInertia\": [0.1, 0.5, 0.4, 0.01, 0.02, 0.03]}, ");
    put(&t,
        "{\"name\": \"j\", \"type\": \"SphericalJoint\", \"markers\": [\"g0\", \"b0\"]}], "
        "\"markers\": [{\"name\": \"g0\", \"type\": \"MarkerBodyRigid\", \"object\": \"g\", "
        "\"localPosition\": [%.17g, %.17g, %.17g]}, ",
        away, away, away);
    put(&t,
        "{\"name\": \"b0\", \"type\": \"MarkerBodyRigid\", \"object\": \"b\", \"localPosition\": "
        "[-1, 0, 0]}], \"sensors\": [{\"name\": \"a\", \"type\": \"SensorBody\", \"object\": "
        "\"b\", \"outputVariable\": \"Acceleration\"}, {\"name\": \"r\", \"type\": "
        "\"SensorObject\", \"object\": \"j\", \"outputVariable\": \"Force\"}], \"outputs\": "
        "[{\"name\": \"a\", \"sensor\": \"a\"}, {\"name\": \"r\", \"sensor\": \"r\"}], "
        "\"solver\": {\"stepSize\": 0.01, \"newton\": {\"relativeTolerance\": 1e-13, "
        "\"absoluteTolerance\": 1e-11}}}");
    struct mech_sim *const s = scaled_sim(t.at, &none, NULL);

    CU_ASSERT_FATAL(s != NULL);
    CU_ASSERT_EQUAL(model_steps(s, 37), 0);
    int code = mech_sim_linearize_init(s, &l, reason);
    if (code == 0 && l.states == 6 && l.outputs == 6) {
        l.A = A, l.B = B, l.C = C, l.D = B;
        code = mech_sim_linearize(s, &l, reason);
    }
    CU_ASSERT(l.states == 6 && l.outputs == 6);
    mech_linearize_fini(&l);
    mech_sim_destroy(s);
    return code;
}

/* To what the iterations of the steps leave of the two states. */
static void linearizations_do_not_depend_on_the_origin(void)
{
    double A[2][36], C[2][36];

    CU_ASSERT_EQUAL_FATAL(swing(0., A[0], C[0]), 0);
    CU_ASSERT_EQUAL_FATAL(swing(4., A[1], C[1]), 0);
    CU_ASSERT(off_by(A[0], A[1], 36) <= 1e-8);
    CU_ASSERT(off_by(C[0], C[1], 36) <= 1e-8);
}

UNIT_TESTS(UNIT_TEST(laws_keep_their_branch), UNIT_TEST(linearizations_do_not_depend_on_the_origin),
           UNIT_TEST(far_pairs_do_not_lend_their_length),
           UNIT_TEST(derivatives_are_the_same_far_from_the_origin),
           UNIT_TEST(derivatives_are_the_same_in_all_units))
