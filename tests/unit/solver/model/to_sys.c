/* Descriptors of models: which blocks they are made of, in what form; the rest is in
 * tests/integration/test_system.py, against dense algebra. */
#include "solver/sim/internal.h"
#include "solver/sim/system.h"
#include "solver/sys/archive.h"
#include "tests/unit/model.h"

static const struct mech_system_query plain = {
    .level = MECH_LEVEL_ACCELERATION, .step = NAN, .mass = NAN, .stiffness = NAN, .damping = NAN};

static struct mech_sim_system *system_of(struct mech_sim *s, const struct mech_system_query *q)
{
    const struct mech_point now = {.time = NAN};
    struct mech_sim_system *out = NULL;

    CU_ASSERT_EQUAL_FATAL(mech_sim_system(s, &now, q, &out), 0);
    return out;
}

/* "name:mass/number" of all variables, with spaces between */
static void list_variables(const struct mech_sim_system *s, char *text, size_t size)
{
    struct mech_sim_system_info info;
    size_t used = 0;

    mech_sim_system_info(s, &info);
    text[0] = '\0';
    for (int32_t i = 0; i < info.size.variables; i++) {
        const char *name;
        int32_t offset;
        const struct mech_system_variables *const v =
            mech_sim_system_variables(s, i, &name, &offset);

        CU_ASSERT_EQUAL(offset, v->first);
        used += (size_t)snprintf(text + used, size - used, "%s%s:%s/%d", i ? " " : "", name,
                                 mech_sim_system_mass_name(v), (int)v->mass);
    }
}

static void masses_take_their_leanest_form(void)
{
    struct mech_sim *const s = model_of(
        "{'mechd': 1, 'nodes': [{'name': 'na', 'type': 'NodeRigidBodyEP'},"
        "{'name': 'nb', 'type': 'NodeRigidBodyEP'}, {'name': 'nc', 'type': 'NodeRigidBodyEP'},"
        "{'name': 'np', 'type': 'NodePoint'}, {'name': 'no', 'type': 'Node1D'},"
        "{'name': 'nq', 'type': 'NodePoint2D'}], 'objects': ["
        "{'name': 'a', 'type': 'RigidBody', 'node': 'na', 'physicsMass': 2,"
        "'physicsInertia': [1, 2, 2, 0.1, 0, 0.2]},"
        "{'name': 'b', 'type': 'RigidBody', 'node': 'nb', 'physicsMass': 2,"
        "'physicsInertia': [1, 2, 2, 0.1, 0, 0.2]},"
        "{'name': 'c', 'type': 'RigidBody', 'node': 'nc', 'physicsMass': 2,"
        "'physicsInertia': [1, 2, 2, 0.1, 0, 0.2], 'physicsCenterOfMass': [0.1, 0, 0]},"
        "{'name': 'p', 'type': 'MassPoint', 'node': 'np', 'physicsMass': 3},"
        "{'name': 'o', 'type': 'Mass1D', 'node': 'no', 'physicsMass': 4},"
        "{'name': 'q', 'type': 'MassPoint2D', 'node': 'nq', 'physicsMass': 3},"
        "{'name': 'diagonal', 'type': 'LagrangianLinearTIDS', 'M': {'diag': [1, 2, 3, 4]},"
        "'q0': [0, 0, 0, 0]},"
        "{'name': 'full', 'type': 'LagrangianLinearTIDS', 'M': [[2, 1], [1, 3]], 'q0': [0, 0]},"
        "{'name': 'band', 'type': 'LagrangianLinearTIDS', 'M': {'banded': {'lower': 1, 'upper': 1,"
        "'rows': [[0, 2, 1], [1, 2, 1], [1, 2, 1], [1, 2, 1], [1, 2, 1], [1, 2, 0]]}},"
        "'q0': [0, 0, 0, 0, 0, 0]}]}");
    struct mech_sim_system *const y = system_of(s, &plain);
    struct mech_sim_system_info info;
    char text[512];

    list_variables(y, text, sizeof text);
    CU_ASSERT_STRING_EQUAL(text, "a:body/0 b:body/0 c:dense/1 p:node/2 o:shaft/3 q:diagonal/4 "
                                 "diagonal:diagonal/5 full:dense/6 band:band/7");
    mech_sim_system_info(y, &info);
    CU_ASSERT(info.lumped);
    CU_ASSERT_EQUAL(info.masses, 8);
    mech_sim_system_destroy(y);
    mech_sim_destroy(s);
}

/* Two nodes that one object couples by its mass. */
static void coupled_masses_are_one_matrix(void)
{
    struct mech_sim *const s = model_of(
        "{'mechd': 1, 'nodes': [{'name': 'na', 'type': 'Node1D'},"
        "{'name': 'nb', 'type': 'Node1D'}], 'objects': ["
        "{'name': 'ab', 'type': 'GenericODE2', 'nodes': ['na', 'nb'],"
        "'massMatrix': [[2, 1], [1, 3]], 'stiffnessMatrix': [[5, -5], [-5, 5]]},"
        "{'name': 'j', 'type': 'CoordinateConstraint', 'markers': ['g', 'x'], 'factorValue1': 2}],"
        "'markers': [{'name': 'g', 'type': 'MarkerGroundCoordinate'},"
        "{'name': 'x', 'type': 'MarkerNodeCoordinate', 'node': 'nb'}]}");
    struct mech_sim_system *const y = system_of(s, &plain);
    struct mech_sim_system_info info;
    const double x[3] = {1., 10., 100.};
    double copy[3], out[3], l = 1.;

    mech_sim_system_info(y, &info);
    CU_ASSERT_FALSE(info.lumped);
    CU_ASSERT_EQUAL(info.size.variables, 2);
    CU_ASSERT_EQUAL_FATAL(info.size.blocks, 3);
    CU_ASSERT_EQUAL(mech_sim_system_block(y, 1)->a, 0);
    CU_ASSERT_EQUAL(mech_sim_system_block(y, 1)->b, 1);
    CU_ASSERT_EQUAL(mech_sim_system_block(y, 1)->entries[0], 2);
    CU_ASSERT_EQUAL(mech_sim_system_block(y, 1)->entries[2], 2);
    memcpy(copy, x, sizeof x);
    mech_sim_system_product(y, false, copy, out);
    /* G = 2: [2 1; 1 3] w, less [0; 2] l */
    CHECK_NEAR(out[0], 12., 0.);
    CHECK_NEAR(out[1], 31. - 200., 0.);
    CHECK_NEAR(out[2], 20., 0.);
    /* 2 (M⁻¹)₂₂ 2 with det M = 5 */
    CU_ASSERT_EQUAL(mech_sim_system_schur(y, MECH_THROUGH_CHOSEN, NULL, &l, out), 0);
    CHECK_NEAR(out[0], 4. * 2. / 5., 1e-15);
    CU_ASSERT_EQUAL(mech_sim_system_schur(y, MECH_THROUGH_MASSES, NULL, &l, out), MECH_UNSUPPORTED);
    mech_sim_system_destroy(y);
    mech_sim_destroy(s);
}

/* A large mass whose ends are coupled is neither banded nor worth a dense block: it stands by its
 * pattern, and H is no longer that of masses. */
static void a_large_scattered_mass_stands_by_its_pattern(void)
{
    enum { N = 600 };
    static char text[64 * N];
    size_t used = (size_t)snprintf(text, sizeof text,
                                   "{'mechd': 1, 'objects': [{'name': 's', 'type': "
                                   "'LagrangianLinearTIDS', 'M': {'shape': [%d, %d], 'coo': "
                                   "[[0, %d, 1], [%d, 0, 1]",
                                   N, N, N - 1, N - 1);

    for (int i = 0; i < N; i++) {
        used += (size_t)snprintf(text + used, sizeof text - used, ", [%d, %d, 2]", i, i);
    }
    used += (size_t)snprintf(text + used, sizeof text - used, "]}, 'q0': [0");
    for (int i = 1; i < N; i++) {
        used += (size_t)snprintf(text + used, sizeof text - used, ", 0");
    }
    snprintf(text + used, sizeof text - used,
             "]}], 'interactions': [{'name': 'c', 'systems': ['s'], 'relation': {'type': "
             "'LagrangianLinearTIR', 'H': {'shape': [1, %d], 'coo': [[0, 0, 1]]}}, 'law': {'type': "
             "'Equality'}}], 'solver': {'integrator': 'MoreauJean', 'stepSize': 0.1}}",
             N);
    struct mech_sim *const s = model_of(text);
    struct mech_sim_system *const y = system_of(s, &plain);
    double l = 3., out;
    char list[64];

    list_variables(y, list, sizeof list);
    CU_ASSERT_STRING_EQUAL(list, "s:none/0");
    CU_ASSERT_EQUAL(mech_sim_system_block(y, 0)->entries[2], N + 2);
    CU_ASSERT_EQUAL(mech_sim_system_schur(y, MECH_THROUGH_MASSES, NULL, &l, &out),
                    MECH_UNSUPPORTED);
    /* of [2 1; 1 2] */
    CU_ASSERT_EQUAL(mech_sim_system_schur(y, MECH_THROUGH_CHOSEN, NULL, &l, &out), 0);
    CHECK_NEAR(out, 3. * 2. / 3., 1e-15);
    mech_sim_system_destroy(y);
    mech_sim_destroy(s);
}

static void rows_that_repeat_others_are_redundant(void)
{
    struct mech_sim *const s = model_of(
        "{'mechd': 1, 'nodes': [{'name': 'np', 'type': 'NodePoint',"
        "'referenceCoordinates': [0, 0, 1]}], 'objects': ["
        "{'name': 'p', 'type': 'MassPoint', 'node': 'np', 'physicsMass': 3},"
        "{'name': 'ground', 'type': 'Ground'},"
        "{'name': 'one', 'type': 'DistanceConstraint', 'markers': ['g', 'm'], 'distance': 1},"
        "{'name': 'two', 'type': 'DistanceConstraint', 'markers': ['g', 'm'], 'distance': 1}],"
        "'markers': [{'name': 'g', 'type': 'MarkerBodyPosition', 'object': 'ground'},"
        "{'name': 'm', 'type': 'MarkerNodePosition', 'node': 'np'}]}");
    struct mech_sim_system *const y = system_of(s, &plain);
    struct mech_sim_system_info info;
    uint32_t flags[2];

    mech_sim_system_info(y, &info);
    CU_ASSERT_EQUAL_FATAL(info.size.constraints, 2);
    CU_ASSERT_EQUAL(info.size.rows, 1);
    for (int32_t i = 0; i < 2; i++) {
        const char *name;
        int32_t offset;

        flags[i] = mech_sim_system_constraint(y, i, &name, &offset)->flags;
        CU_ASSERT_EQUAL(offset, flags[i] ? -1 : 0);
        CU_ASSERT_STRING_EQUAL(name, i ? "two" : "one");
    }
    CU_ASSERT_EQUAL(flags[0] + flags[1], MECH_CONSTRAINT_REDUNDANT);
    mech_sim_system_destroy(y);
    mech_sim_destroy(s);
}

static void bytes_give_the_same_system(void)
{
    struct mech_sim *const s = model_of(
        "{'mechd': 1, 'objects': [{'name': 's', 'type': 'LagrangianLinearTIDS',"
        "'M': [[2, 1], [1, 3]], 'K': [[4, -1], [-1, 3]], 'C': [[1, 0], [0, 0]], 'q0': [-1, 2],"
        "'v0': [-3, 1], 'Fext': ['=t', -9]}], 'interactions': [{'name': 'c', 'systems': ['s'],"
        "'relation': {'type': 'LagrangianLinearTIR', 'H': [[1, 0], [0, 1]]},"
        "'law': {'type': 'NewtonImpactFriction', 'dimension': 2, 'en': 0.5, 'mu': 0.3}}],"
        "'solver': {'integrator': 'MoreauJean', 'stepSize': 0.1}}");
    const struct mech_system_query q = {.level = MECH_LEVEL_BY_INTEGRATOR,
                                        .step = NAN,
                                        .mass = NAN,
                                        .stiffness = NAN,
                                        .damping = NAN};
    struct mech_sim_system *const y = system_of(s, &q);
    struct mech_descriptor *copy = NULL;
    unsigned char *bytes = NULL;
    double x[4] = {1., -2., 3., 0.5}, a[4], b[4];
    struct mech_set set;
    size_t size = 0;

    CU_ASSERT_EQUAL_FATAL(mech_sim_system_archive(y, &bytes, &size), 0);
    CU_ASSERT_EQUAL_FATAL(mech_descriptor_load(bytes, size, &copy), 0);
    free(bytes);
    mech_sim_system_product(y, false, x, a);
    mech_descriptor_product(copy, x, b);
    CU_ASSERT_EQUAL(memcmp(a, b, sizeof a), 0);
    mech_sim_system_vector(y, mech_sim_system_find("d"), a);
    mech_descriptor_d(copy, b);
    CU_ASSERT_EQUAL(memcmp(a, b, sizeof a), 0);
    mech_sim_system_vector(y, mech_sim_system_find("unknowns"), a);
    mech_descriptor_get_unknowns(copy, b);
    CU_ASSERT_EQUAL(memcmp(a, b, sizeof a), 0);
    CU_ASSERT_EQUAL(mech_descriptor_sets(copy, &set), 1);
    CU_ASSERT(set.kind == MECH_SET_CONE && set.rows == 2 && set.mu == 0.3);
    mech_descriptor_destroy(copy);
    mech_sim_system_destroy(y);
    mech_sim_destroy(s);
}

UNIT_TESTS(UNIT_TEST(masses_take_their_leanest_form), UNIT_TEST(coupled_masses_are_one_matrix),
           UNIT_TEST(a_large_scattered_mass_stands_by_its_pattern),
           UNIT_TEST(rows_that_repeat_others_are_redundant), UNIT_TEST(bytes_give_the_same_system))
