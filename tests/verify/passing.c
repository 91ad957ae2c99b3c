/* Bodies that pass others without touching them keep their velocity to the last digits, however
 * fast and near they pass; bodies that hit stop; nothing goes through a thin wall. Every pair of
 * shapes, turned at random, without gravity: the body passes along u over the highest point of the
 * obstacle in the direction n across u, at a distance d. Source: no touch, no force. */
#include "solver/linalg/v3.h"
#include "tests/unit/model.h"

enum { KINDS = 6, TEXT = 8192 };

/* what makes a step Newton's, elsewhere */
#define SPRING                                                                                     \
    ", {'name': 'm', 'type': 'Mass1D', 'node': 'm', 'physicsMass': 1}, {'name': 's', 'type':"      \
    "'CoordinateSpringDamper', 'markers': ['0', 'm'], 'stiffness': 1}], 'markers': [{'name': '0'," \
    "'type': 'MarkerGroundCoordinate'}, {'name': 'm', 'type': 'MarkerNodeCoordinate', 'node':"     \
    "'m', 'coordinate': 0}"

static const char *const kinds[KINDS] = {"Sphere",   "Box",        "Capsule",
                                         "Cylinder", "ConvexHull", "Mesh"};
/* octahedron */
static const double corner[6][3] = {{0.06, 0., 0.},  {-0.06, 0., 0.}, {0., 0.05, 0.},
                                    {0., -0.05, 0.}, {0., 0., 0.07},  {0., 0., -0.07}};

static double within(uint32_t *seed, double from, double to)
{
    *seed = *seed * 1664525u + 1013904223u;
    return from + (to - from) * (*seed >> 8) / 16777216.;
}

/* Members of the JSON of a shape about 0.1 m large. */
static const char *shape_of(int kind)
{
    static const char *const text[KINDS] = {
        "'shape': 'Sphere', 'radius': 0.05",
        "'shape': 'Box', 'size': [0.1, 0.08, 0.12]",
        "'shape': 'Capsule', 'radius': 0.03, 'length': 0.08",
        "'shape': 'Cylinder', 'radius': 0.04, 'length': 0.1",
        "'shape': 'ConvexHull', 'points': [[0.06, 0, 0], [-0.06, 0, 0], [0, 0.05, 0],"
        "[0, -0.05, 0], [0, 0, 0.07], [0, 0, -0.07]]",
        "'shape': 'Mesh', 'vertices': [[0.06, 0, 0], [-0.06, 0, 0], [0, 0.05, 0],"
        "[0, -0.05, 0], [0, 0, 0.07], [0, 0, -0.07]], 'triangles': [[0, 2, 4], [2, 1, 4],"
        "[1, 3, 4], [3, 0, 4], [2, 0, 5], [1, 2, 5], [3, 1, 5], [0, 3, 5]]"};

    return text[kind];
}

/* How far the shape reaches along the unit direction d of its own frame. */
static double reach_of(int kind, const double d[3])
{
    static const double half[3] = {0.05, 0.04, 0.06};
    double most = 0.;

    switch (kind) {
    case 0:
        return 0.05;
    case 1:
        return fabs(d[0]) * half[0] + fabs(d[1]) * half[1] + fabs(d[2]) * half[2];
    case 2:
        return 0.03 + 0.04 * fabs(d[2]);
    case 3:
        return 0.04 * hypot(d[0], d[1]) + 0.05 * fabs(d[2]);
    default:
        for (int i = 0; i < 6; i++) {
            most = fmax(most, mech_v3_dot(corner[i], d));
        }
        return most;
    }
}

/* A random unit quaternion, and its matrix by rows. */
static void turn(uint32_t *seed, double q[4], double R[9])
{
    double norm = 0.;

    do {
        norm = 0.;
        for (int i = 0; i < 4; i++) {
            q[i] = within(seed, -1., 1.);
            norm += q[i] * q[i];
        }
    } while (norm < 0.01 || norm > 1.);
    for (int i = 0; i < 4; i++) {
        q[i] /= sqrt(norm);
    }
    const double w = q[0], x = q[1], y = q[2], z = q[3];
    const double rows[9] = {
        1. - 2. * (y * y + z * z), 2. * (x * y - w * z),      2. * (x * z + w * y),
        2. * (x * y + w * z),      1. - 2. * (x * x + z * z), 2. * (y * z - w * x),
        2. * (x * z - w * y),      2. * (y * z + w * x),      1. - 2. * (x * x + y * y)};

    memcpy(R, rows, sizeof rows);
}

struct pass {
    int moving, still;
    double theta, h, speed, apart, spin; /* apart < 0: it hits */
    uint32_t seed;
    bool joined; /* beside a spring elsewhere: by Newton's method instead of sweeps over bodies */
};

/* The body's way: unit vectors along and across it, and its start. */
struct way {
    double u[3], n[3], from[3];
};

static struct mech_sim *passing(struct pass *p, struct way *way)
{
    char text[TEXT];
    double q[2][4], R[2][9], axes[4], frame[9], height = p->apart, local[3];

    turn(&p->seed, axes, frame);
    memcpy(way->u, frame, sizeof way->u);
    memcpy(way->n, frame + 3, sizeof way->n);
    for (int k = 0; k < 2; k++) {
        double d[3];

        turn(&p->seed, q[k], R[k]);
        mech_v3_add((const double[3]){0.}, k ? 1. : -1., way->n, d);
        mech_m3_mul_transposed(R[k], d, local);
        height += reach_of(k ? p->still : p->moving, local);
    }
    for (int i = 0; i < 3; i++) {
        way->from[i] = height * way->n[i] - 0.5 * way->u[i];
    }
    /* ½ (0, ω) times the quaternion */
    double spin[3], turned[3], rate[4];

    mech_v3_add((const double[3]){0.}, 0.5 * p->spin, way->n, spin);
    mech_v3_cross(spin, q[0] + 1, turned);
    mech_v3_add(turned, q[0][0], spin, rate + 1);
    rate[0] = -mech_v3_dot(spin, q[0] + 1);
    const double *const r = R[1];
    const double angle[3] = {atan2(-r[5], r[8]), asin(r[2]), atan2(-r[1], r[0])};

    snprintf(text, sizeof text,
             "{'mechd': 1, 'gravity': [0, 0, 0], 'nodes': [{'name': 'n', 'type': 'NodeRigidBodyEP',"
             "'referenceCoordinates': [%.17g, %.17g, %.17g, %.17g, %.17g, %.17g, %.17g],"
             "'initialVelocities': [%.17g, %.17g, %.17g, %.17g, %.17g, %.17g, %.17g]}%s],"
             "'objects': ["
             "{'name': 'g', 'type': 'Ground', 'geometry': [{%s, 'rotation': [%.17g, %.17g, %.17g]}]"
             "}, {'name': 'b', 'type': 'RigidBody', 'node': 'n', 'physicsMass': 1,"
             "'physicsInertia': [0.001, 0.001, 0.001, 0, 0, 0], 'geometry': [{%s}]}%s], 'solver':"
             "{'integrator': 'MoreauJean', 'theta': %g, 'stepSize': %.17g}}",
             way->from[0], way->from[1], way->from[2], q[0][0], q[0][1], q[0][2], q[0][3],
             p->speed * way->u[0], p->speed * way->u[1], p->speed * way->u[2], rate[0], rate[1],
             rate[2], rate[3], p->joined ? ", {'name': 'm', 'type': 'Node1D'}" : "",
             shape_of(p->still), angle[0], angle[1], angle[2], shape_of(p->moving),
             p->joined ? SPRING : "", p->theta, p->h);
    return model_of(text);
}

/* The k-th case of a pair of shapes, of those that move by `move` a step. */
static struct pass pass_of(int pair, int k, double move, double apart, uint32_t seed)
{
    return (struct pass){.moving = pair % (KINDS - 1),
                         .still = pair / (KINDS - 1),
                         .theta = k % 2 ? 1. : 0.5,
                         .h = 0.001,
                         .speed = move / 0.001,
                         .apart = apart,
                         .seed = seed,
                         .joined = k % 3 == 0};
}

/* How much velocity changes on the way, beside what it was. */
static double change_of(struct pass *p)
{
    struct way way;
    struct mech_sim *const s = passing(p, &way);
    double before[6];

    memcpy(before, model_state(s).v, sizeof before);
    CU_ASSERT_EQUAL_FATAL(model_steps(s, (uint64_t)(1. / (p->speed * p->h))), 0);
    const double change = model_distance(model_state(s).v, before, 3) / p->speed;

    mech_sim_destroy(s);
    return change;
}

static void nothing_touches_what_passes(void)
{
    static const double apart[] = {1e-5, 1e-4, 1e-3}, moves[] = {0.003, 0.02, 0.1};
    uint32_t seed = 11;

    for (int pair = 0; pair < (KINDS - 1) * KINDS; pair++) {
        for (int k = 0; k < 18; k++) {
            struct pass p = pass_of(pair, k, moves[k / 2 % 3], apart[k / 6], seed += 97);

            p.spin = k % 4 < 2 ? 0. : 30.;
            const double off = change_of(&p);

            CHECK_NEAR(off, 0., 1e-9);
            if (off > 1e-9) {
                fprintf(stderr, "%s past %s, %g m apart, h v = %g m, θ = %g, spin %g\n",
                        kinds[p.moving], kinds[p.still], p.apart, p.speed * p.h, p.theta, p.spin);
            }
        }
    }
}

static void what_is_in_the_way_is_hit(void)
{
    static const double moves[] = {0.003, 0.02, 0.06};
    uint32_t seed = 5;

    for (int pair = 0; pair < (KINDS - 1) * KINDS; pair++) {
        for (int k = 0; k < 6; k++) {
            struct pass p = pass_of(pair, k, moves[k / 2 % 3], -0.04, seed += 97);
            const bool hit = change_of(&p) > 0.01;

            CU_ASSERT(hit);
            if (!hit) {
                fprintf(stderr, "%s through %s, h v = %g m, θ = %g\n", kinds[p.moving],
                        kinds[p.still], p.speed * p.h, p.theta);
            }
        }
    }
}

/* --- seams and edges -------------------------------------------------------------------------- */

/* A box of 0.1 m at p, turned by `angle` about z, over a floor of boxes whose tops are at 0. */
static struct mech_sim *over_boxes(const double p[3], double angle, double speed, double gravity,
                                   double h, double theta)
{
    char text[TEXT], *at = text;

    at += sprintf(
        at,
        "{'mechd': 1, 'gravity': [0, 0, %g], 'nodes': [{'name': 'n', 'type':"
        "'NodeRigidBodyEP', 'referenceCoordinates': [%.17g, %.17g, %.17g, %.17g, 0, 0,"
        "%.17g], 'initialVelocities': [%.17g, 0, 0, 0, 0, 0, 0]}], 'objects': [{'name': 'b',"
        "'type': 'RigidBody', 'node': 'n', 'physicsMass': 1, 'physicsInertia': [0.00167,"
        "0.00167, 0.00167, 0, 0, 0], 'geometry': [{'shape': 'Box', 'size': [0.1, 0.1,"
        "0.1], 'material': {'friction': 0}}]}, {'name': 'g', 'type': 'Ground',"
        "'geometry': [",
        -gravity, p[0], p[1], p[2], cos(0.5 * angle), sin(0.5 * angle), speed);
    for (int i = 0; i < 5; i++) {
        at += sprintf(at,
                      "%s{'shape': 'Box', 'size': [0.5, 1, 0.2], 'position': [%g, 0, -0.1],"
                      "'material': {'friction': 0}}",
                      i ? ", " : "", 0.5 * i);
    }
    sprintf(at, "]}], 'solver': {'integrator': 'MoreauJean', 'theta': %g, 'stepSize': %.17g}}",
            theta, h);
    return model_of(text);
}

static double height_of(const struct mech_sim *s)
{
    double x[3];

    model_values(s, MECH_OBJECT, "b", MECH_OUTPUT_POSITION, x);
    return x[2];
}

static void seams_between_flush_boxes_are_no_edges(void)
{
    static const double thetas[] = {0.5, 1.}, steps[] = {1e-4, 1e-3, 1e-2};

    for (int k = 0; k < 12; k++) {
        if (!unit_case(k)) {
            continue;
        }
        const double theta = thetas[k % 2], h = steps[k / 2 % 3], angle = k < 6 ? 0.7853981634 : 0.;
        /* near enough to graze, without gravity */
        struct mech_sim *s = over_boxes((const double[3]){0., 0., 0.0501}, angle, 2., 0., h, theta);

        CU_ASSERT_EQUAL_FATAL(model_step(s, 0.9), 0);
        CHECK_NEAR(model_distance(model_state(s).v, (const double[]){2., 0., 0., 0., 0., 0.}, 6),
                   0., 1e-9);
        mech_sim_destroy(s);

        /* sliding over all five boxes, and dropped onto them while it moves */
        for (int drop = 0; drop < 2; drop++) {
            s = over_boxes((const double[3]){0., 0.013, 0.05 + 0.02 * drop}, angle, 2., 9.81, h,
                           theta);
            CU_ASSERT_EQUAL_FATAL(model_step(s, 1.), 0);
            CHECK_NEAR(model_state(s).v[0], 2., 1e-6);
            CHECK_NEAR(model_state(s).v[1], 0., 1e-6);
            CU_ASSERT(fabs(height_of(s) - 0.05) < 1e-3);
            mech_sim_destroy(s);
        }
    }
}

/* Sliders 0.1 m high over the floor, and turned so that they lie along x or y. */
enum { SLIDERS = 6 };
static const struct {
    const char *shape;
    double turn[4];
} sliders[] = {
    {"'Sphere', 'radius': 0.1", {1., 0., 0., 0.}},
    {"'Box', 'size': [0.2, 0.2, 0.2]", {1., 0., 0., 0.}},
    {"'Capsule', 'radius': 0.1, 'length': 0.3", {0.7071067811865476, 0., 0.7071067811865476, 0.}},
    {"'Capsule', 'radius': 0.1, 'length': 0.3", {0.7071067811865476, 0.7071067811865476, 0., 0.}},
    {"'Cylinder', 'radius': 0.1, 'length': 0.3", {0.7071067811865476, 0.7071067811865476, 0., 0.}},
    {"'Cylinder', 'radius': 0.1, 'length': 0.2", {1., 0., 0., 0.}}};

/* How much velocity changes of what slides at 2 m/s over a floor with a seam at x = 0, turned by
 * `angle` about z. */
static double slide_over(const char *floor, int slider, double angle, double h)
{
    static const double v[] = {2., 0.1, 0., 0., 0., 0.};
    const double *const q = sliders[slider].turn, c = cos(0.5 * angle), s = sin(0.5 * angle);
    char text[TEXT];

    snprintf(text, sizeof text,
             "{'mechd': 1, 'gravity': [0, 0, -9.81], 'nodes': [{'name': 'n', 'type':"
             "'NodeRigidBodyEP', 'referenceCoordinates': [-0.5, 0.03, 0.1, %.17g, %.17g, %.17g,"
             "%.17g], 'initialVelocities': [2, 0.1, 0, 0, 0, 0, 0]}], 'objects': [{'name': 'g',"
             "'type': 'Ground', 'geometry': [%s]}, {'name': 'b', 'type': 'RigidBody', 'node':"
             "'n', 'physicsMass': 1, 'physicsInertia': [0.01, 0.02, 0.03, 0, 0, 0], 'geometry':"
             "[{'shape': %s, 'material': {'friction': 0}}]}], 'solver': {'integrator':"
             "'MoreauJean', 'stepSize': %.17g}}",
             c * q[0] - s * q[3], c * q[1] - s * q[2], c * q[2] + s * q[1], c * q[3] + s * q[0],
             floor, sliders[slider].shape, h);
    struct mech_sim *const sim = model_of(text);

    CU_ASSERT_EQUAL_FATAL(model_step(sim, 0.44), 0);
    const double off = model_distance(model_state(sim).v, v, 6);

    mech_sim_destroy(sim);
    return off;
}

/* All sliders over `count` floors; places on floor `coarse` are known to 1e-6 of what slides, and
 * tilts to 1e-4; so are those of a cylinder on the borders of meshes. */
static void slide_over_all(const char *const floors[], int count, int coarse, bool borders)
{
    static const double steps[] = {1e-3, 5e-3, 2e-2}, angles[] = {0., 0.4};

    for (int k = 0; k < 3 * SLIDERS * count * 2; k++) {
        const int slider = k / 3 % SLIDERS, floor = k / 18 % count;
        const double h = steps[k % 3], angle = angles[k / (18 * count)];
        const double off = slide_over(floors[floor], slider, angle, h);
        const double most = borders && slider == 4 ? 1e-6 : floor == coarse ? 1e-7 : 1e-9;

        CU_ASSERT(off <= most);
        if (!(off <= most)) {
            fprintf(stderr, "%s over floor %d, turned by %g, h = %g s: %.3g m/s\n",
                    sliders[slider].shape, floor, angle, h, off);
        }
    }
}

/* Floors of several pieces. */
static void seams_are_no_edges_for_any_shape(void)
{
    static const char *const floors[] = {
        "{'shape': 'Box', 'size': [1, 2, 0.2], 'position': [-0.5, 0, -0.1], 'material':"
        "{'friction': 0}}, {'shape': 'Box', 'size': [1, 2, 0.2], 'position': [0.5, 0, -0.1],"
        "'material': {'friction': 0}}",
        "{'shape': 'Box', 'size': [1, 2, 0.2], 'position': [-0.5, 0, -0.1], 'material':"
        "{'friction': 0}}, {'shape': 'ConvexHull', 'points': [[0, -1, 0], [1, -1, 0], [0, 1, 0],"
        "[1, 1, 0], [0, -1, -1], [1, -1, -1], [0, 1, -1], [1, 1, -1]], 'material': {'friction': "
        "0}}",
        /* vertices of their own for both halves, as files of triangles have them */
        "{'shape': 'Mesh', 'vertices': [[-1, -1, 0], [0, -1, 0], [0, 1, 0], [-1, 1, 0], [0, -1, 0],"
        "[1, -1, 0], [1, 1, 0], [0, 1, 0]], 'triangles': [[0, 1, 2], [0, 2, 3], [4, 5, 6],"
        "[4, 6, 7]], 'material': {'friction': 0}}",
        /* one half is divided at the seam, the other is not */
        "{'shape': 'Mesh', 'vertices': [[-1, -1, 0], [0, -1, 0], [0, 1, 0], [-1, 1, 0], [0, 0, 0],"
        "[1, -1, 0], [1, 1, 0]], 'triangles': [[0, 1, 2], [0, 2, 3], [1, 5, 4], [5, 6, 4],"
        "[6, 2, 4]], 'material': {'friction': 0}}"};

    slide_over_all(floors, 4, 3, false);
}

/* Pieces of which at least one has no support function. */
static void seams_of_meshes_and_planes_are_no_edges(void)
{
#define QUAD(from, to)                                                                             \
    "{'shape': 'Mesh', 'vertices': [[" from ", -1, 0], [" to ", -1, 0], [" to ", 1, 0], [" from    \
    ", 1, 0]], 'triangles': [[0, 1, 2], [0, 2, 3]]}"
#define FLAT_BOX(x) "{'shape': 'Box', 'size': [1, 2, 0.2], 'position': [" x ", 0, -0.1]}"
    static const char *const floors[] = {
        QUAD("-1", "0") ", " QUAD("0", "1"), FLAT_BOX("-0.5") ", " QUAD("0", "1"),
        QUAD("-1", "0") ", " FLAT_BOX("0.5"), "{'shape': 'Plane'}, " FLAT_BOX("0.5"),
        "{'shape': 'Plane'}, " QUAD("0", "1"),
        /* a closed one, and one that is divided at the seam */
        QUAD("-1", "0") ", {'shape': 'Mesh', 'vertices': [[0, -1, -1], [1, -1, -1], [1, 1, -1],"
                        "[0, 1, -1], [0, -1, 0], [1, -1, 0], [1, 1, 0], [0, 1, 0]], 'triangles':"
                        "[[0, 2, 1], [0, 3, 2], [4, 5, 6], [4, 6, 7], [0, 1, 5], [0, 5, 4],"
                        "[1, 2, 6], [1, 6, 5], [2, 3, 7], [2, 7, 6], [3, 0, 4], [3, 4, 7]]}",
        FLAT_BOX("-0.5") ", {'shape': 'Mesh', 'vertices': [[0, -1, 0], [1, -1, 0], [1, 1, 0],"
                         "[0, 1, 0], [0, 0, 0]], 'triangles': [[0, 1, 4], [1, 2, 4], [2, 3, 4]]}"};

    slide_over_all(floors, 7, -1, true);
#undef QUAD
#undef FLAT_BOX
}

/* A box on its edge in a groove of two shapes, whose sides rise by 20°; and one on a floor of two
 * meshes, two of its corners over the seam. */
static void seams_at_the_bottom_of_a_groove_carry(void)
{
#define WEDGE(x)                                                                                   \
    "{'shape': 'ConvexHull', 'points': [[0, -1, 0], [" x ", -1, 0.36397023426620234], [" x         \
    ", -1, -1], [0, -1, -1], [0, 1, 0], [" x ", 1, 0.36397023426620234], [" x ", 1, -1],"          \
    "[0, 1, -1]]}"
#define SIDE(x, z, order)                                                                          \
    "{'shape': 'Mesh', 'vertices': [[0, -1, 0], [" x ", -1, " z "], [" x ", 1, " z                 \
    "], [0, 1, 0]], 'triangles': " order "}"
#define RIGHT "[[0, 1, 2], [0, 2, 3]]"
#define LEFT "[[0, 2, 1], [0, 3, 2]]"
    static const struct {
        const char *floor;
        double x, z, half; /* where the box is put, half the angle about y */
    } cases[] = {
        {WEDGE("1") ", " WEDGE("-1"), 0., 0.14142135623730951, 0.39269908169872414},
        {SIDE("1", "0.36397023426620234", RIGHT) ", " SIDE("-1", "0.36397023426620234", LEFT), 0.,
         0.14142135623730951, 0.39269908169872414},
        {SIDE("1", "0", RIGHT) ", " SIDE("-1", "0", LEFT), 0.1, 0.1, 0.}};

    for (int k = 0; k < 3; k++) {
        char text[TEXT];

        snprintf(text, sizeof text,
                 "{'mechd': 1, 'gravity': [0, 0, -9.81], 'nodes': [{'name': 'n', 'type':"
                 "'NodeRigidBodyEP', 'referenceCoordinates': [%.17g, 0, %.17g, %.17g, 0, %.17g, 0]"
                 "}], 'objects': [{'name': 'g', 'type': 'Ground', 'geometry': [%s]}, {'name': 'b',"
                 "'type': 'RigidBody', 'node': 'n', 'physicsMass': 1, 'physicsInertia': [0.01,"
                 "0.01, 0.01, 0, 0, 0], 'geometry': [{'shape': 'Box', 'size': [0.2, 0.2, 0.2]}]}],"
                 "'solver': {'integrator': 'MoreauJean', 'stepSize': 0.001}}",
                 cases[k].x, cases[k].z, cos(cases[k].half), sin(cases[k].half), cases[k].floor);
        struct mech_sim *const s = model_of(text);

        CU_ASSERT_EQUAL_FATAL(model_step(s, 0.2), 0);
        CU_ASSERT(fabs(height_of(s) - cases[k].z) <= 1e-6);
        CU_ASSERT(fabs(model_state(s).q[0] - cases[k].x) <= 1e-6);
        mech_sim_destroy(s);
    }
#undef WEDGE
#undef SIDE
#undef RIGHT
#undef LEFT
}

/* A box of 0.1 m falls 0.5 mm beside a ledge, past it. */
static void what_falls_beside_a_ledge_falls_straight(void)
{
    static const double steps[] = {1e-4, 1e-3, 1e-2};

    for (int k = 0; k < 6; k++) {
        struct mech_sim *const s = over_boxes((const double[3]){-0.25 - 0.05 - 5e-4, 0., 0.07}, 0.,
                                              0., 9.81, steps[k % 3], k < 3 ? 0.5 : 1.);

        CU_ASSERT_EQUAL_FATAL(model_step(s, 0.3), 0);
        const double *const v = model_state(s).v;

        CHECK_NEAR(v[0], 0., 1e-9);
        CHECK_NEAR(v[2], -9.81 * 0.3, 1e-9);
        CHECK_NEAR(v[4], 0., 1e-9);
        mech_sim_destroy(s);
    }
}

/* The last step of a stair is hit, though its foot is flush with the one below. */
static void a_step_up_is_hit(void)
{
    for (int k = 0; k < 4; k++) {
        char text[TEXT];
        const double angle = k < 2 ? 0. : 0.7853981634;

        snprintf(text, sizeof text,
                 "{'mechd': 1, 'gravity': [0, 0, -9.81], 'nodes': [{'name': 'n', 'type':"
                 "'NodeRigidBodyEP', 'referenceCoordinates': [0, 0, 0.05, %.17g, 0, 0, %.17g],"
                 "'initialVelocities': [1, 0, 0, 0, 0, 0, 0]}], 'objects': [{'name': 'b', 'type':"
                 "'RigidBody', 'node': 'n', 'physicsMass': 1, 'physicsInertia': [0.00167, 0.00167,"
                 "0.00167, 0, 0, 0], 'geometry': [{'shape': 'Box', 'size': [0.1, 0.1, 0.1],"
                 "'material': {'friction': 0}}]}, {'name': 'g', 'type': 'Ground', 'geometry': ["
                 "{'shape': 'Box', 'size': [1, 1, 0.2], 'position': [0, 0, -0.1]}, {'shape': "
                 "'Box', 'size': [1, 1, 0.4], 'position': [1,"
                 "0, 0]}]}], 'solver': {'integrator': 'MoreauJean', 'theta': %g, 'stepSize':"
                 "0.001}}",
                 cos(0.5 * angle), sin(0.5 * angle), k % 2 ? 1. : 0.5);
        struct mech_sim *const s = model_of(text);
        double x[3];

        CU_ASSERT_EQUAL_FATAL(model_step(s, 1.), 0);
        model_values(s, MECH_OBJECT, "b", MECH_OUTPUT_POSITION, x);
        CU_ASSERT(x[0] < 0.46);
        CU_ASSERT(x[0] > 0.3);
        mech_sim_destroy(s);
    }
}

/* A wall of 1 mm; the body is slower than its own size per step. */
static void nothing_passes_a_thin_wall(void)
{
    uint32_t seed = 3;

    for (int k = 0; k < 8 * (KINDS - 1); k++) {
        char text[TEXT];
        double q[4], R[9];

        turn(&seed, q, R);
        const double speed = within(&seed, 5., 45.), away = within(&seed, 0., 0.05);
        snprintf(
            text, sizeof text,
            "{'mechd': 1, 'gravity': [0, 0, 0], 'nodes': [{'name': 'n', 'type':"
            "'NodeRigidBodyEP', 'referenceCoordinates': [%.17g, 0, 0, %.17g, %.17g, %.17g,"
            "%.17g], 'initialVelocities': [%.17g, 0, 0, 0, 0, 0, 0]}], 'objects': [{'name': 'b',"
            "'type': 'RigidBody', 'node': 'n', 'physicsMass': 1, 'physicsInertia': [0.001,"
            "0.001, 0.001, 0, 0, 0], 'geometry': [{%s}]}, {'name': 'g', 'type': 'Ground',"
            "'geometry': [{'shape': 'Box', 'size': [0.001, 2, 2]}]}], 'solver': {'integrator':"
            "'MoreauJean', 'theta': %g, 'stepSize': 0.001}}",
            -0.5 - away, q[0], q[1], q[2], q[3], speed, shape_of(k % (KINDS - 1)),
            k % 2 ? 1. : 0.5);
        struct mech_sim *const s = model_of(text);
        double x[3];

        CU_ASSERT_EQUAL_FATAL(model_steps(s, 300), 0);
        model_values(s, MECH_OBJECT, "b", MECH_OUTPUT_POSITION, x);
        CU_ASSERT(x[0] < 0.);
        mech_sim_destroy(s);
    }
}

/* A ball on its way into a floor; behind its edge, below, there is the side of a block: the floor
 * turns the ball away, over the block. */
static void what_the_floor_turns_away_meets_nothing_behind_it(void)
{
    /* what else there is: nothing, a spring, a pendulum */
    static const char *const others[] = {
        "], 'objects': [",
        ", {'name': 'm', 'type': 'Node1D'}], 'objects': [{'name': 'm', 'type': 'Mass1D', 'node':"
        "'m', 'physicsMass': 1}, {'name': 's', 'type': 'CoordinateSpringDamper', 'markers': ['0',"
        "'m'], 'stiffness': 1},",
        ", {'name': 'm', 'type': 'NodePoint', 'referenceCoordinates': [1, 9, 0]}], 'objects': [{"
        "'name': 'm', 'type': 'MassPoint', 'node': 'm', 'physicsMass': 1}, {'name': 's', 'type':"
        "'DistanceConstraint', 'markers': ['0', 'm'], 'distance': 1},"};
    static const char *const markers[] = {
        "",
        ", 'markers': [{'name': '0', 'type': 'MarkerGroundCoordinate'}, {'name': 'm', 'type':"
        "'MarkerNodeCoordinate', 'node': 'm', 'coordinate': 0}]",
        ", 'markers': [{'name': '0', 'type': 'MarkerBodyPosition', 'object': 'g', 'localPosition':"
        "[0, 9, 0]}, {'name': 'm', 'type': 'MarkerNodePosition', 'node': 'm'}]"};

    for (int k = 0; k < 6; k++) {
        const double h = k / 3 ? 0.01 : 0.001;
        const double v = 0.09 / h;
        char text[TEXT];

        snprintf(text, sizeof text,
                 "{'mechd': 1, 'gravity': [0, 0, 0], 'nodes': [{'name': 'n', 'type':"
                 "'NodePoint', 'referenceCoordinates': [0, 0, 0.06], 'initialVelocities': [%.17g,"
                 "0, %.17g]}%s {'name': 'b', 'type': 'MassPoint', 'node': 'n', 'physicsMass': 1,"
                 "'geometry': [{'shape': 'Sphere', 'radius': 0.05, 'material': {'friction': 0}}]}, "
                 "{'name': 'g', 'type': 'Ground', 'geometry': [{'shape':"
                 "'Box', 'size': [1, 1, 0.1], 'position': [-0.4, 0, -0.05]}, {'shape': 'Box',"
                 "'size': [1, 1, 0.2], 'position': [0.62, 0, -0.105]}]}]%s, 'solver': {"
                 "'integrator': 'MoreauJean', 'theta': 1, 'stepSize': %.17g}}",
                 v, -v, others[k % 3], markers[k % 3], h);
        struct mech_sim *const s = model_of(text);

        CU_ASSERT_EQUAL_FATAL(model_steps(s, 3), 0);
        CHECK_NEAR(model_distance(model_state(s).v, (const double[]){v, 0., 0.}, 3) / v, 0., 1e-9);
        mech_sim_destroy(s);
    }
}

UNIT_TESTS(UNIT_TEST(seams_are_no_edges_for_any_shape),
           UNIT_TEST(seams_of_meshes_and_planes_are_no_edges),
           UNIT_TEST(seams_at_the_bottom_of_a_groove_carry), UNIT_TEST(nothing_touches_what_passes),
           UNIT_TEST(what_is_in_the_way_is_hit), UNIT_TEST(seams_between_flush_boxes_are_no_edges),
           UNIT_TEST(what_falls_beside_a_ledge_falls_straight), UNIT_TEST(a_step_up_is_hit),
           UNIT_TEST(nothing_passes_a_thin_wall),
           UNIT_TEST(what_the_floor_turns_away_meets_nothing_behind_it))
