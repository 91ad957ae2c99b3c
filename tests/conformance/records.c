/* Every object that brings records keeps their contract: its tangents by q, v and v̇ are what
 * differences of its own forces say, its M_q is symmetric and the one that its energy counts. Each
 * such type is in one of the documents below, off every symmetry; a newcomer adds its own. */
#include "solver/model/model.h"
#include "tests/unit/model.h"

#define FLAT                                                                                       \
    "{'mechd': 1, 'nodes': [{'name': 'n', 'type': 'NodeGenericODE2',"                              \
    "'numberOfODE2Coordinates': 2}], 'objects': [{'name': 'o', 'type': 'GenericODE2',"             \
    "'nodes': ['n'], 'massMatrix': {'diag': [1, 2]}}, {'name': 'c',"                               \
    "'type': 'CoordinateSpringDamper', 'markers': ['a', 'b'], 'stiffness': 3, 'damping': 2,"       \
    "'springForceUserFunction': '=k*u+sin(u)+d*v*u'}], 'markers': [{'name': 'a',"                  \
    "'type': 'MarkerNodeCoordinate', 'node': 'n', 'coordinate': 0}, {'name': 'b',"                 \
    "'type': 'MarkerNodeCoordinate', 'node': 'n', 'coordinate': 1}]}"

/* %s: a node and its coordinates */
#define SPATIAL(node, coordinates)                                                                 \
    "{'mechd': 1, 'nodes': [{'name': 'n0', 'type': 'NodeRigidBodyEP'}, {'name': 'n1', 'type': "    \
    "'" node "', 'referenceCoordinates': [" coordinates                                            \
    "]}], 'objects': [{'name': 'b0', 'type': 'RigidBody', 'node': 'n0', 'physicsMass': 2,"         \
    "'physicsInertia': [3, 4, 5, 0.1, 0.2, 0.3]}, {'name': 'b1', 'type': 'RigidBody',"             \
    "'node': 'n1', 'physicsMass': 2, 'physicsInertia': [9, 8, 7, 0.1, 0.2, 0.3],"                  \
    "'physicsCenterOfMass': [0.3, -0.5, 0.7]}]}"

/* cables that share a node, tied to each other and to a body by their frames, under gravity; with
 * masses, so that the springs' markers off the axis swing */
#define CABLES                                                                                     \
    "{'mechd': 1, 'gravity': [1, -2, 0], 'nodes': [{'name': 'n0', 'type': 'NodePoint2DSlope1'},"   \
    "{'name': 'n1', 'type': 'NodePoint2DSlope1', 'referenceCoordinates': [1.1, 0.2, 0.9, 0.3]},"   \
    "{'name': 'n2', 'type': 'NodePoint2DSlope1', 'referenceCoordinates': [2, 0.7, 0.8, 0.7]},"     \
    "{'name': 'nb', 'type': 'NodeRigidBody2D', 'referenceCoordinates': [3, 0.5, 0.4]}],"           \
    "'objects': [{'name': 'c0', 'type': 'ANCFCable2D', 'nodes': ['n0', 'n1'],"                     \
    "'physicsLength': 1, 'physicsMassPerLength': 3, 'physicsAxialStiffness': 7,"                   \
    "'physicsBendingStiffness': 2, 'physicsAxialDamping': 0.7, 'physicsBendingDamping': 0.4,"      \
    "'physicsReferenceAxialStrain': 0.1, 'physicsReferenceCurvature': 0.3},"                       \
    "{'name': 'c1', 'type': 'ANCFCable2D', 'nodes': ['n1', 'n2'], 'physicsLength': 1.2,"           \
    "'physicsMassPerLength': 3, 'physicsAxialStiffness': 7, 'physicsBendingStiffness': 2,"         \
    "'strainIsRelativeToReference': 0.6, 'useReducedOrderIntegration': 1},"                        \
    "{'name': 'b', 'type': 'RigidBody2D', 'node': 'nb', 'physicsMass': 1, 'physicsInertia': 2},"   \
    "{'name': 's0', 'type': 'RigidBodySpringDamper', 'markers': ['m0', 'm1'],"                     \
    "'stiffness': [[5, 1, 0, 0, 0, 1], [1, 4, 0, 0, 0, 0], [0, 0, 3, 0, 0, 0],"                    \
    "[0, 0, 0, 2, 0, 0], [0, 0, 0, 0, 2, 0], [1, 0, 0, 0, 0, 3]],"                                 \
    "'damping': [[1, 0, 0, 0, 0, 0.3], [0, 2, 0, 0, 0, 0], [0, 0, 1, 0, 0, 0],"                    \
    "[0, 0, 0, 1, 0, 0], [0, 0, 0, 0, 1, 0], [0.3, 0, 0, 0, 0, 1]]},"                              \
    "{'name': 's1', 'type': 'SpringDamper', 'markers': ['m2', 'm1'], 'stiffness': 4,"              \
    "'damping': 2, 'referenceLength': 0.5}, {'name': 's2', 'type': 'CartesianSpringDamper',"       \
    "'markers': ['m3', 'm0'], 'stiffness': [3, 4, 5], 'damping': [1, 2, 3]}],"                     \
    "'markers': [{'name': 'm0', 'type': 'MarkerBodyRigid', 'object': 'c0',"                        \
    "'localPosition': [0.3, 0.2, 0.1]}, {'name': 'm1', 'type': 'MarkerBodyRigid', 'object': 'b',"  \
    "'localPosition': [0.3, -0.2, 0]}, {'name': 'm2', 'type': 'MarkerBodyPosition',"               \
    "'object': 'c1', 'localPosition': [0.9, -0.3, 0.1]}, {'name': 'm3',"                           \
    "'type': 'MarkerNodeRigid', 'node': 'n2'}]}"

/* three points with a consistent mass matrix and two modes, on a spring; %s: a node */
#define MODAL(node)                                                                                \
    "{'mechd': 1, 'gravity': [1, -2, 3], 'nodes': [{'name': 'f', 'type': '" node                   \
    "'}, {'name': 'a', 'type': 'NodeGenericODE2', 'numberOfODE2Coordinates': 2, "                  \
    "'referenceCoordinates': [0.2, 0.1]}], 'objects': [{'name': 'g', 'type': "                     \
    "'Ground'}, {'name': 'b', 'type': 'FlexibleBodyModal', 'nodes': ['f', 'a'], "                  \
    "'referencePositions': [[0.1, 0, 0], [1, 0.2, 0], [0.3, 1, 0.5]], 'massMatrix': "              \
    "[[2, 0, 0, 0.5, 0, 0, 0, 0, 0], [0, 2, 0, 0, 0.5, 0, 0, 0, 0], [0, 0, 2, 0, 0, "              \
    "0.5, 0, 0, 0], [0.5, 0, 0, 3, 0, 0, 0.4, 0, 0], [0, 0.5, 0, 0, 3, 0, 0, 0.4, "                \
    "0], [0, 0, 0.5, 0, 0, 3, 0, 0, 0.4], [0, 0, 0, 0.4, 0, 0, 1, 0, 0], [0, 0, 0, "               \
    "0, 0.4, 0, 0, 1, 0], [0, 0, 0, 0, 0, 0.4, 0, 0, 1]], 'stiffnessMatrix': "                     \
    "{'diag': [1, 2, 3, 4, 5, 6, 7, 8, 9]}, 'modes': [[0.1, 0.3], [-0.2, 0.4], [0.5, "             \
    "0.1], [0.7, -0.2], [0.2, 0.6], [-0.4, 0.3], [0.1, -0.5], [0.6, 0.2], [-0.3, "                 \
    "0.8]]}, {'name': 's', 'type': 'RigidBodySpringDamper', 'markers': ['m0', 'm1'], "             \
    "'stiffness': [[3, 0, 0, 0, 0, 0], [0, 4, 0, 0, 0, 0], [0, 0, 5, 0, 0, 0], [0, "               \
    "0, 0, 1, 0, 0], [0, 0, 0, 0, 2, 0], [0, 0, 0, 0, 0, 3]], 'damping': [[1, 0, 0, "              \
    "0, 0, 0], [0, 2, 0, 0, 0, 0], [0, 0, 1, 0, 0, 0], [0, 0, 0, 1, 0, 0], [0, 0, 0, "             \
    "0, 1, 0], [0, 0, 0, 0, 0, 1]]}], 'markers': [{'name': 'm0', 'type': "                         \
    "'MarkerBodyRigid', 'object': 'g', 'localPosition': [0.5, -0.3, 0.2]}, {'name': "              \
    "'m1', 'type': 'MarkerBodyRigid', 'object': 'b', 'localPosition': [1, 0.2, 0]}]}"

static const char *const documents[] = {FLAT,
                                        CABLES,
                                        SPATIAL("NodeRigidBodyEP", "1, 2, 3, 0.8, 0.6, 0, 0"),
                                        SPATIAL("NodeRigidBodyRotVecLG", "1, 2, 3, 0.8, 1.5, -0.5"),
                                        MODAL("NodeRigidBodyEP"),
                                        MODAL("NodeRigidBodyRotVecLG")};

enum { MOST = 16 };

static uint32_t seed = 815;

/* −1 to 1 */
static double random_number(void)
{
    seed = seed * 1664525u + 1013904223u;
    return (double)(seed >> 8) / 8388608. - 1.;
}

struct subject {
    const char *text;
    struct mech_document *document;
    struct mech_model *model;
    size_t nv;
    double q[MOST], v[MOST], vdot[MOST]; /* the ground's 0 behind them */
};

/* The document, compiled, in a place of its own. */
static struct subject subject_of(const char *text)
{
    struct subject s = {.text = text};
    char *const json = strdup(text);
    struct mech_diag diag;
    double d[MOST];

    for (char *c = json; *c; c++) {
        *c = *c == '\'' ? '"' : *c;
    }
    json_t *const value = json_loads(json, 0, NULL);
    free(json);
    mech_diag_init(&diag);
    CU_ASSERT_PTR_NOT_NULL_FATAL(value);
    CU_ASSERT_EQUAL_FATAL(mechp_bind_read(value, "", &diag, &s.document), 0);
    json_decref(value);
    CU_ASSERT_EQUAL(mech_model_compile(s.document, NULL, &diag, &s.model), 0);
    for (size_t i = 0; i < diag.count; i++) {
        fprintf(stderr, "%s: %s\n", diag.entries[i].path, diag.entries[i].text);
    }
    mech_diag_fini(&diag);
    CU_ASSERT_PTR_NOT_NULL_FATAL(s.model);

    const struct mech_state_sizes *const n = mech_model_sizes(s.model);
    CU_ASSERT_FATAL(n->q < MOST && n->v < MOST);
    s.nv = (size_t)n->v;
    for (size_t i = 0; i < s.nv; i++) {
        d[i] = random_number();
        s.v[i] = random_number();
        s.vdot[i] = random_number();
    }
    mech_model_move(s.model, mech_model_reference(s.model), d, s.q);
    return s;
}

static void subject_fini(struct subject *s)
{
    mech_model_destroy(s->model);
    mech_document_destroy(s->document);
}

static void force(const struct subject *s, const double *q, const double *vdot, double *g)
{
    struct mech_eval e = mech_model_point(s->model, NULL, 0.7, q, s->v);

    e.vdot = vdot;
    memset(g, 0, MOST * sizeof *g);
    mech_model_nonlinear(s->model, &e, g);
}

/* T [nv × nv] by rows = Σ c ∂g/∂(q, v, v̇) as the items report it */
static void told(const struct subject *s, const double c[3], double T[MOST][MOST])
{
    const struct mech_mat *const pattern = mech_model_pattern(s->model);
    struct mech_eval e = mech_model_point(s->model, NULL, 0.7, s->q, s->v);
    struct mech_mat local = *pattern;
    struct mech_arena arena;
    int32_t *places = NULL;

    e.vdot = s->vdot;
    mech_arena_init(&arena, 0);
    local.values = mech_arena_alloc(&arena, mech_mat_stored(pattern) + 1, sizeof(double));
    CU_ASSERT_EQUAL_FATAL(mech_model_places(s->model, &arena, &local, &places), 0);
    mech_model_tangent(s->model, &e, c, places, local.values);
    for (size_t i = 0; i < s->nv; i++) {
        for (size_t j = 0; j < s->nv; j++) {
            T[i][j] = mech_mat_get(&local, (int32_t)i, (int32_t)j);
        }
    }
    mech_arena_fini(&arena);
}

/* central difference of fourth order of g by number j of q (a motion), v or v̇ */
static void difference(struct subject *s, int which, size_t j, double out[MOST])
{
    static const double weight[4] = {1. / 12., -8. / 12., 8. / 12., -1. / 12.};
    static const double at[4] = {-2., -1., 1., 2.};
    const double h = 1e-4;

    memset(out, 0, MOST * sizeof *out);
    for (int k = 0; k < 4; k++) {
        double d[MOST] = {0.}, q[MOST] = {0.}, g[MOST];
        double *const moved = which == 1 ? &s->v[j] : &s->vdot[j], old = *moved;

        d[j] = which == 0 ? at[k] * h : 0.;
        *moved += which == 0 ? 0. : at[k] * h;
        mech_model_move(s->model, s->q, d, q);
        force(s, q, s->vdot, g);
        *moved = old;
        for (size_t i = 0; i < s->nv; i++) {
            out[i] += weight[k] * g[i] / h;
        }
    }
}

static void tangents_are_derivatives(void)
{
    for (size_t k = 0; k < sizeof documents / sizeof *documents; k++) {
        struct subject s = subject_of(documents[k]);

        for (int which = 0; which < 3; which++) {
            double c[3] = {0.}, T[MOST][MOST], column[MOST];

            c[which] = 1.;
            told(&s, c, T);
            for (size_t j = 0; j < s.nv; j++) {
                difference(&s, which, j, column);
                for (size_t i = 0; i < s.nv; i++) {
                    /* rounding 1e-16 · 100 / 1e-4; truncation is less */
                    CHECK_NEAR(T[i][j], column[i], 1e-8);
                }
            }
        }
        subject_fini(&s);
    }
}

/* M_q is symmetric; ½ vᵀ (M + M_q) v is what the energy at v has more than that at rest */
static void mass_is_that_of_the_energy(void)
{
    for (size_t k = 0; k < sizeof documents / sizeof *documents; k++) {
        struct subject s = subject_of(documents[k]);
        static const double rest[MOST], c[3] = {0., 0., 1.};
        struct mech_eval e = mech_model_point(s.model, NULL, 0.7, s.q, s.v);
        double T[MOST][MOST], kinetic = mech_model_energy(s.model, &e);

        e.v = rest;
        kinetic -= mech_model_energy(s.model, &e);
        told(&s, c, T);
        for (size_t i = 0; i < s.nv; i++) {
            for (size_t j = 0; j < s.nv; j++) {
                const double m =
                    mech_mat_get(mech_model_linear(s.model)->M, (int32_t)i, (int32_t)j);

                CU_ASSERT(T[i][j] == T[j][i]);
                kinetic -= 0.5 * s.v[i] * (m + T[i][j]) * s.v[j];
            }
        }
        CHECK_NEAR(kinetic, 0., 1e-14 * 100.);
        subject_fini(&s);
    }
}

static void every_type_with_records_or_flexible_points_is_here(void)
{
    for (const struct mech_item_type *const *t = mech_item_types; *t; t++) {
        char quoted[80];
        bool found = (*t)->category != MECH_OBJECT ||
                     (!(*t)->ops.object->record && !(*t)->ops.object->flexible);

        snprintf(quoted, sizeof quoted, "'type': '%s'", (*t)->name);
        for (size_t k = 0; k < sizeof documents / sizeof *documents; k++) {
            found = found || strstr(documents[k], quoted);
        }
        if (!found) {
            fprintf(stderr, "no document has a %s\n", (*t)->name);
        }
        CU_ASSERT(found);
    }
}

UNIT_TESTS(UNIT_TEST(tangents_are_derivatives), UNIT_TEST(mass_is_that_of_the_energy),
           UNIT_TEST(every_type_with_records_or_flexible_points_is_here))
