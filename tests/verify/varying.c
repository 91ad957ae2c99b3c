/* Steps of varying sizes: every integrator of the registry keeps its order, in q, v, x and forces,
 * when sizes h and h/2 alternate, when they are random, and when steps are cut at requested times;
 * and a step that is undone for one of another size has no effect.
 *
 * The oscillator m ü + d u̇ + k u = F sin Ωt and the pair ẏ = [[−1, 4], [−4, −1]] y against closed
 * forms, a pendulum against its energy and the force that follows from its position and speed. */
#include "solver/step/stepper.h"
#include "tests/unit/model.h"

static const double T = 1.;

/* --- sizes ------------------------------------------------------------------------------------ */

enum way { CONSTANT, IN_TURN, RANDOM, CUT, WAYS, HALVES = WAYS };
static const char *const ways[] = {"constant", "in turn", "random", "cut by until",
                                   "random about one half"};
static const uint64_t first_seed = 88172645463325252u;

/* in [0, 1), the same in every run (M. Matsumoto's and others' advice kept simple: xorshift64*) */
static double chance(uint64_t *seed)
{
    *seed ^= *seed >> 12;
    *seed ^= *seed << 25;
    *seed ^= *seed >> 27;
    return (double)(*seed * 2685821657736338717u >> 11) * 0x1p-53;
}

/* --- models ----------------------------------------------------------------------------------- */

#define SOLVER                                                                                     \
    "'solver': {'integrator': '%s', 'stepSize': %.17g, 'theta': 0.5, 'spectralRadius': 0.7,"       \
    "'newton': {'relativeTolerance': 1e-12, 'absoluteTolerance': 1e-15},"                          \
    "'adaptive': {'absoluteTolerance': 1e9}}"

static const double m = 2., d = 3., k = 50., F = 7., W = 4., u0 = 0.3, v0 = -0.8;

static void oscillation(double t, double *u, double *v)
{
    const double r = k - m * W * W, det = r * r + d * d * W * W;
    const double A = F * r / det, B = -F * d * W / det, delta = d / (2. * m);
    const double w = sqrt(k / m - delta * delta);
    const double a = u0 - B, b = (v0 - A * W + delta * a) / w;
    const double decay = exp(-delta * t), c = cos(w * t), s = sin(w * t);

    *u = A * sin(W * t) + B * cos(W * t) + decay * (a * c + b * s);
    *v = A * W * cos(W * t) - B * W * sin(W * t) +
         decay * ((b * w - delta * a) * c - (a * w + delta * b) * s);
}

/* What two parts of `s` are off by now. */
typedef void look(struct mech_sim *s, double off[2]);

/* q and v, and v̇ */
static void look_at_oscillator(struct mech_sim *s, double off[2])
{
    const struct mech_state_view at = model_state(s);
    double u, v;

    oscillation(at.time, &u, &v);
    off[0] = hypot(at.q[0] - u, (at.v[0] - v) / 5.);
    off[1] = fabs(at.vdot[0] - (F * sin(W * at.time) - d * v - k * u) / m);
}

static struct mech_sim *oscillator(const char *integrator, double h)
{
    char text[2048];

    snprintf(text, sizeof text,
             MODEL_OSCILLATOR(", 'initialCoordinates': [0.3], 'initialVelocities': [-0.8]", "2",
                              ", {'name': 's', 'type': 'CoordinateSpringDamper',"
                              "'markers': ['g', 'x'], 'stiffness': 50, 'damping': 3}",
                              "{'name': 'F', 'type': 'LoadCoordinate', 'marker': 'x',"
                              "'load': '=7*sin(4*t)'}",
                              ", " SOLVER),
             integrator, h);
    return model_of(text);
}

static void look_at_states(struct mech_sim *s, double off[2])
{
    const struct mech_state_view at = model_state(s);
    const double size = exp(-at.time);

    off[0] = hypot(at.x[0] - size * cos(4. * at.time), at.x[1] + size * sin(4. * at.time));
}

static struct mech_sim *first_order(const char *integrator, double h)
{
    char text[1024];

    snprintf(text, sizeof text,
             "{'mechd': 1, 'nodes': [{'name': 'y', 'type': 'NodeGenericODE1',"
             "'initialCoordinates': [1, 0]}], 'objects': [{'name': 'o', 'type': 'GenericODE1',"
             "'nodes': ['y'], 'systemMatrix': [[-1, 4], [-4, -1]]}]," SOLVER "}",
             integrator, h);
    return model_of(text);
}

/* 1.5 kg at 2 m under 10 m/s²: its energy, and the force of the rod at its place and speed. */
static void look_at_pendulum(struct mech_sim *s, double off[2])
{
    const struct mech_state_view at = model_state(s);
    const double y = at.q[1], square = at.v[0] * at.v[0] + at.v[1] * at.v[1];

    off[0] = fabs(0.5 * square + 10. * (y + 2.) - 4.5);
    off[1] = fabs(fabs(at.lambda[0]) - 1.5 * (square - 10. * y) / 2.);
}

static struct mech_sim *pendulum(const char *integrator, double h)
{
    char text[2048];

    snprintf(text, sizeof text,
             "{'mechd': 1, 'gravity': [0, -10, 0], 'nodes': [{'name': 'n', 'type': 'NodePoint2D',"
             "'referenceCoordinates': [0, -2], 'initialVelocities': [3, 0]},"
             "{'name': 'g', 'type': 'NodePointGround'}], 'objects': [{'name': 'b',"
             "'type': 'MassPoint2D', 'node': 'n', 'physicsMass': 1.5}, {'name': 'd',"
             "'type': 'DistanceConstraint', 'markers': ['m0', 'm1'], 'distance': 2}],"
             "'markers': [{'name': 'm0', 'type': 'MarkerNodePosition', 'node': 'g'},"
             "{'name': 'm1', 'type': 'MarkerNodePosition', 'node': 'n'}]," SOLVER "}",
             integrator, h);
    return model_of(text);
}

/* 2 kg on a spring, moved by u = 0.1 sin 3t: its place and speed, and the force that moves it. */
static void look_at_moved(struct mech_sim *s, double off[2])
{
    const struct mech_state_view at = model_state(s);
    const double angle = 3. * at.time;

    off[0] = hypot(at.q[0] - 0.1 * sin(angle), at.v[0] - 0.3 * cos(angle));
    off[1] = fabs(fabs(at.lambda[0]) - 3.2 * sin(angle));
}

static struct mech_sim *moved(const char *integrator, double h)
{
    char text[2048];

    snprintf(text, sizeof text,
             MODEL_OSCILLATOR(", 'initialVelocities': [0.3]", "2",
                              ", {'name': 's', 'type': 'CoordinateSpringDamper',"
                              "'markers': ['g', 'x'], 'stiffness': 50}, {'name': 'c',"
                              "'type': 'CoordinateConstraint', 'markers': ['g', 'x'],"
                              "'offsetUserFunction': {'formula': '=0.1*sin(3*t)',"
                              "'partial': {'t': '=0.3*cos(3*t)'}}}",
                              "", ", " SOLVER),
             integrator, h);
    return model_of(text);
}

/* --- orders ----------------------------------------------------------------------------------- */

/* To t = T by steps of at most h, the model's step size; the root mean squares of
 * the errors of the second half. */
static void go(struct mech_sim *s, enum way way, uint64_t seed, double h, look *at, double mean[2])
{
    int count = 0;

    for (int i = 0; mech_sim_time(s) < T; i++) {
        const double t = mech_sim_time(s);
        const double share = way == IN_TURN  ? (i % 2 ? 0.5 : 1.)
                             : way == RANDOM ? 0.5 + 0.5 * chance(&seed)
                             : way == CUT    ? 0.2 + 1.7 * chance(&seed)
                             : way == HALVES ? 0.4 + 0.2 * chance(&seed)
                                             : 1.;
        const double end = t + share * h;
        struct mech_step_request r = {.kind = MECH_STEP_SIZE, .size = share * h};
        struct mech_step_report report;

        if (way == CUT || end > T - 0.1 * h) {
            r = (struct mech_step_request){.kind = MECH_STEP_UNTIL,
                                           .until = end > T - 0.1 * h ? T : end};
        }
        CU_ASSERT_EQUAL_FATAL(mech_sim_step(s, &r, &report), 0);
        if (mech_sim_time(s) > 0.5 * T) {
            double off[2] = {0.};

            at(s, off);
            mean[0] += off[0] * off[0];
            mean[1] += off[1] * off[1];
            count++;
        }
    }
    mean[0] = sqrt(mean[0] / count);
    mean[1] = sqrt(mean[1] / count);
}

typedef struct mech_sim *model(const char *integrator, double h);

/* The slopes of errors over three halvings of h. */
enum { HALVINGS = 3 };

static void slopes(model *make, look *at, const char *integrator, enum way way, int n,
                   double slope[2])
{
    double mean[2][2] = {{0.}};

    for (int side = 0; side < 2; side++) {
        const double h = T / n / (side ? 1 << HALVINGS : 1);
        struct mech_sim *const s = make(integrator, h);

        go(s, way, first_seed, h, at, mean[side]);
        mech_sim_destroy(s);
    }
    for (int p = 0; p < 2; p++) {
        slope[p] = mean[1][p] < 1e-14 ? NAN : log2(mean[0][p] / mean[1][p]) / HALVINGS;
    }
}

/* what has an order, in words that last until the next one */
static const char *words_for(const char *what, const char *integrator, const char *way, int part)
{
    static char text[120];

    snprintf(text, sizeof text, "%s, %s, sizes %s%s", part ? "force" : "motion", integrator, way,
             what);
    return text;
}

/* The order with sizes that vary is that with a constant one, or better; what is right but for
 * rounding has none. */
static void compare(model *make, look *at, const struct mech_integrator_info *info, int n)
{
    double constant[2], varying[2];

    slopes(make, at, info->name, CONSTANT, n, constant);
    for (int way = IN_TURN; way < WAYS; way++) {
        slopes(make, at, info->name, (enum way)way, n, varying);
        for (int p = 0; p < 2 && !isnan(constant[p]); p++) {
            const double order = fmin(constant[p], info->order);

            CHECK_ORDER_FROM(words_for("", info->name, ways[way], p), varying[p], order - 0.2);
        }
    }
}

static int steps_of(const struct mech_integrator_info *info)
{
    return info->order >= 5 ? 10 : info->order >= 4 ? 25 : info->order >= 3 ? 50 : 150;
}

static void oscillators_keep_the_order(void)
{
    struct mech_integrator_info info;

    for (size_t i = 0; mech_integrator(i, &info); i++) {
        if (!info.first_order) {
            compare(oscillator, look_at_oscillator, &info, steps_of(&info));
        }
    }
}

static void first_order_states_keep_the_order(void)
{
    struct mech_integrator_info info;

    for (size_t i = 0; mech_integrator(i, &info); i++) {
        if (!info.nonsmooth || info.first_order) {
            compare(first_order, look_at_states, &info, steps_of(&info));
        }
    }
}

static void joints_keep_the_order(void)
{
    struct mech_integrator_info info;

    for (size_t i = 0; mech_integrator(i, &info); i++) {
        if (mech_stepper_find(info.name)->joints) {
            compare(pendulum, look_at_pendulum, &info, 2 * steps_of(&info));
        }
    }
}

static void held_coordinates_keep_the_order(void)
{
    struct mech_integrator_info info;

    for (size_t i = 0; mech_integrator(i, &info); i++) {
        if (mech_stepper_find(info.name)->joints || mech_stepper_find(info.name)->pins) {
            compare(moved, look_at_moved, &info, steps_of(&info));
        }
    }
}

/* --- many sequences --------------------------------------------------------------------------- */

/* The pendulum swings by φ'' = −5 sin φ: to time t from where it was before, by the classical
 * Runge–Kutta method in steps of at most 5e-4 s (1e-14 in all). */
struct swing {
    double t, y[2]; /* φ, φ' */
};

static void swing_to(struct swing *x, double t)
{
    const int n = (int)ceil((t - x->t) / 5e-4);
    const double h = n > 0 ? (t - x->t) / n : 0.;

    for (int i = 0; i < n; i++) {
        static const double at[] = {0., 0.5, 0.5, 1.}, weight[] = {1., 2., 2., 1.};
        double rate[2] = {0.}, sum[2] = {0.};

        for (int j = 0; j < 4; j++) {
            const double y[2] = {x->y[0] + at[j] * h * rate[0], x->y[1] + at[j] * h * rate[1]};

            rate[0] = y[1];
            rate[1] = -5. * sin(y[0]);
            sum[0] += weight[j] * rate[0];
            sum[1] += weight[j] * rate[1];
        }
        x->y[0] += h / 6. * sum[0];
        x->y[1] += h / 6. * sum[1];
    }
    x->t = t;
}

static struct swing swing;

/* Place and speed, and the force of the rod, against the motion. */
static void look_at_swing(struct mech_sim *s, double off[2])
{
    const struct mech_state_view at = model_state(s);

    swing_to(&swing, at.time);
    const double phi = swing.y[0], rate = swing.y[1], c = cos(phi), sine = sin(phi);

    off[0] = hypot(hypot(at.q[0] - 2. * sine, at.q[1] + 2. * c),
                   hypot(at.v[0] - 2. * rate * c, at.v[1] - 2. * rate * sine));
    off[1] = fabs(fabs(at.lambda[0]) - 1.5 * (2. * rate * rate + 10. * c));
}

enum { SEEDS = 8, SIZES = 6 };

/* Errors with h halved five times: mean[j][p] the root of the mean square over sequences, worst the
 * largest, of the second half of the motion. */
struct refined {
    double mean[SIZES][2], worst[SIZES][2];
};

static void refine(const char *integrator, enum way way, int n, struct refined *out)
{
    uint64_t seed = first_seed;

    *out = (struct refined){.mean = {{0.}}};
    for (int i = 0; i < SEEDS; i++) {
        (void)chance(&seed);
        for (int j = 0; j < SIZES; j++) {
            const double h = T / n / (1 << j);
            struct mech_sim *const s = pendulum(integrator, h);
            double off[2] = {0.};

            swing = (struct swing){.y = {0., 1.5}};
            go(s, way, seed, h, look_at_swing, off);
            mech_sim_destroy(s);
            for (int p = 0; p < 2; p++) {
                out->mean[j][p] += off[p] * off[p] / SEEDS;
                out->worst[j][p] = fmax(out->worst[j][p], off[p]);
            }
        }
    }
}

/* Of least squares through log₂ of `off` [SIZES][2], part p. */
static double slope_of(double off[SIZES][2], int p)
{
    double sum = 0., squares = 0.;

    for (int j = 0; j < SIZES; j++) {
        const double x = j - 0.5 * (SIZES - 1);

        sum -= x * log2(off[j][p]);
        squares += x * x;
    }
    return sum / squares;
}

/* As constant sizes; up to steps of 0.3 ms, below which λ has more of rounding, ε |q| m/h². */
static void joints_keep_the_order_in_many_sequences(void)
{
    struct mech_integrator_info info;

    for (size_t i = 0; mech_integrator(i, &info); i++) {
        for (int way = RANDOM; mech_stepper_find(info.name)->joints && way <= HALVES; way++) {
            struct refined r;

            refine(info.name, (enum way)way, steps_of(&info) / 3, &r);
            for (int p = 0; p < 2; p++) {
                const double order = p == 1 && info.nonsmooth ? 1. : info.order;
                const double mean = 0.5 * slope_of(r.mean, p), worst = slope_of(r.worst, p);

                CHECK_ORDER_FROM(words_for("", info.name, ways[way], p), mean, order - 0.1);
                CHECK_ORDER_FROM(words_for(", the worst", info.name, ways[way], p), worst,
                                 order - 0.2);
            }
        }
    }
}

/* --- steps that are undone -------------------------------------------------------------------- */

static int by(struct mech_sim *s, double size, bool trial)
{
    const struct mech_step_request r = {.kind = MECH_STEP_SIZE, .size = size, .trial = trial};
    struct mech_step_report report;

    return mech_sim_step(s, &r, &report);
}

/* Steps of h and h/2 in turn; with `hither` each after a trial and a step of other sizes that are
 * undone, by memory or by bytes, and some in another simulation. */
static void wander(model *make, const char *integrator, bool hither, double h, double y[3])
{
    struct mech_sim *s[2] = {make(integrator, h), make(integrator, h)};
    const size_t size = mech_sim_snapshot_size(s[0]);
    char *const saved = calloc(1, mech_sim_saved_size(s[0])), *const bytes = calloc(1, size);
    struct mech_sim *now = s[0];

    for (int i = 0; i < 40; i++) {
        if (hither) {
            mech_sim_save(now, saved);
            const size_t used = mech_sim_snapshot_write(now, bytes);
            CU_ASSERT_EQUAL(by(now, 0.7 * h, true), 0);
            CU_ASSERT_EQUAL(by(now, 0.3 * h, false), 0);
            if (i % 3) {
                CU_ASSERT_EQUAL(mech_sim_restore(now, saved), 0);
            } else {
                now = s[i / 3 % 2];
                CU_ASSERT_EQUAL(mech_sim_snapshot_read(now, bytes, used, NULL), 0);
            }
        }
        CU_ASSERT_EQUAL(by(now, i % 2 ? 0.5 * h : h, false), 0);
    }
    const struct mech_state_view at = model_state(now);
    const struct mech_sizes n = mech_sim_sizes(now);
    y[0] = n.q ? at.q[0] : at.x[0];
    y[1] = n.q ? at.v[0] : at.x[1];
    y[2] = n.lambda ? at.lambda[0] : at.time;
    free(saved);
    free(bytes);
    mech_sim_destroy(s[0]);
    mech_sim_destroy(s[1]);
}

static void what_is_taken_back_leaves_no_trace(void)
{
    static model *const models[] = {oscillator, first_order, pendulum, moved};
    struct mech_integrator_info info;

    for (size_t i = 0; mech_integrator(i, &info); i++) {
        const struct mech_stepper_type *const type = mech_stepper_find(info.name);
        const bool suits[] = {!info.first_order, !info.nonsmooth || info.first_order, type->joints,
                              type->joints || type->pins};

        for (int j = 0; j < 4; j++) {
            double straight[3], wandered[3];

            if (suits[j]) {
                wander(models[j], info.name, false, 0.01, straight);
                wander(models[j], info.name, true, 0.01, wandered);
                CU_ASSERT_EQUAL(memcmp(straight, wandered, sizeof straight), 0);
            }
        }
    }
}

UNIT_TESTS(UNIT_TEST(oscillators_keep_the_order), UNIT_TEST(first_order_states_keep_the_order),
           UNIT_TEST(joints_keep_the_order), UNIT_TEST(held_coordinates_keep_the_order),
           UNIT_TEST(joints_keep_the_order_in_many_sequences),
           UNIT_TEST(what_is_taken_back_leaves_no_trace))
