/* Snapshots: restored and uninterrupted runs agree to the bit; what does not fit is refused. */
#include "tests/unit/model.h"

#define MODEL(name, parameter)                                                                     \
    "{'mechd': 1, 'parameters': {'k': " parameter "},"                                             \
    "'nodes': [{'name': '" name "', 'type': 'Node1D', 'initialCoordinates': [0.5]},"               \
    "{'name': 'y', 'type': 'NodeGenericODE1', 'initialCoordinates': [1, 0]}],"                     \
    "'objects': [{'name': 'm', 'type': 'Mass1D', 'node': '" name "', 'physicsMass': 1},"           \
    "{'name': 's', 'type': 'CoordinateSpringDamper', 'markers': ['g', 'x'], 'stiffness': '=k',"    \
    "'damping': 1, 'springForceUserFunction': '=stiff*u + k*u + u^3'},"                            \
    "{'name': 'o', 'type': 'GenericODE1', 'nodes': ['y'], 'systemMatrix': [[0, 1], [-50, 0]]}],"   \
    "'markers': [{'name': 'g', 'type': 'MarkerGroundCoordinate'},"                                 \
    "{'name': 'x', 'type': 'MarkerNodeCoordinate', 'node': '" name "'}],"                          \
    "'loads': [{'name': 'F', 'type': 'LoadCoordinate', 'marker': 'x', 'load': '=sin(t)'}],"        \
    "'inputs': [{'name': 'f', 'load': 'F'}, {'name': 'p', 'parameter': 'stiff'}]}"

/* one more parameter, so that the law reads one that changes while it runs */
#define WITH_STIFF(name) MODEL(name, "100, 'stiff': 3")

static void restored_and_uninterrupted_agree_to_the_bit(void)
{
    struct mech_sim *const a = model_of(WITH_STIFF("n")), *const b = model_of(WITH_STIFF("n"));
    const size_t size = mech_sim_snapshot_size(a);
    char *const bytes = calloc(3, size);
    const double force = 2., slope = 0.5, stiff = 7.;
    bool same = false;

    CU_ASSERT_EQUAL(model_steps(a, 37), 0);
    CU_ASSERT_EQUAL(mech_sim_set_input(a, 1, &stiff, 0, NULL), 0);
    CU_ASSERT_EQUAL(model_steps(a, 10), 0);
    CU_ASSERT_EQUAL(mech_sim_set_input(a, 0, &force, 1, &slope), 0);
    mech_sim_snapshot_write(a, bytes);
    CU_ASSERT_EQUAL(model_steps(a, 200), 0);
    mech_sim_snapshot_write(a, bytes + size);

    /* into another simulation, parameters and inputs included */
    CU_ASSERT_EQUAL(mech_sim_snapshot_read(b, bytes, size, &same), 0);
    CU_ASSERT(same);
    CU_ASSERT_EQUAL(mech_sim_get_parameter(b, 1), 7.);
    CU_ASSERT_EQUAL(model_steps(b, 200), 0);
    mech_sim_snapshot_write(b, bytes + 2 * size);
    CU_ASSERT_EQUAL(memcmp(bytes + size, bytes + 2 * size, size), 0);
    free(bytes);
    mech_sim_destroy(a);
    mech_sim_destroy(b);
}

static void damaged_or_foreign_snapshots_change_nothing(void)
{
    struct mech_sim *const a = model_of(WITH_STIFF("n")), *const b = model_of(WITH_STIFF("other"));
    const size_t size = mech_sim_snapshot_size(a);
    char *const bytes = calloc(3, size), *const now = bytes + size, *const then = now + size;

    CU_ASSERT_EQUAL(model_steps(a, 5), 0);
    mech_sim_snapshot_write(a, bytes);
    CU_ASSERT_EQUAL(size, mech_sim_snapshot_size(b));
    CU_ASSERT_EQUAL(mech_sim_snapshot_read(b, bytes, size, NULL), MECH_MISMATCH);
    for (size_t k = 1; k < size; k++) {
        // as long as it is, so that a sanitizer sees a look beyond
        char *const part = malloc(k);
        CU_ASSERT_PTR_NOT_NULL_FATAL(part);
        memcpy(part, bytes, k);
        CU_ASSERT_EQUAL(mech_sim_snapshot_read(a, part, k, NULL), MECH_MISMATCH);
        free(part);
    }

    CU_ASSERT_EQUAL(model_steps(a, 5), 0);
    mech_sim_snapshot_write(a, now);
    for (size_t i = 0; i < size; i++) {
        bytes[i] = (char)(bytes[i] ^ 0x10);
        CU_ASSERT_EQUAL(mech_sim_snapshot_read(a, bytes, size, NULL), MECH_MISMATCH);
        bytes[i] = (char)(bytes[i] ^ 0x10);
    }
    mech_sim_snapshot_write(a, then);
    CU_ASSERT_EQUAL(memcmp(now, then, size), 0);
    free(bytes);
    mech_sim_destroy(a);
    mech_sim_destroy(b);
}

static void saved_and_uninterrupted_agree_to_the_bit(void)
{
    struct mech_sim *const a = model_of(WITH_STIFF("n")), *const b = model_of(WITH_STIFF("n"));
    struct mech_sim *const other = model_of(WITH_STIFF("other"));
    const size_t size = mech_sim_snapshot_size(a), saved_size = mech_sim_saved_size(a);
    char *const bytes = calloc(2, size), *const saved = calloc(1, saved_size + 1);
    const double force = 2., stiff = 7., soft = 1.;

    CU_ASSERT_EQUAL(mech_sim_set_input(a, 1, &stiff, 0, NULL), 0);
    CU_ASSERT_EQUAL(mech_sim_set_input(a, 0, &force, 0, NULL), 0);
    CU_ASSERT_EQUAL(model_steps(a, 47), 0);
    /* at an odd place, and not beyond its size */
    memset(saved, 0x5a, saved_size + 1);
    mech_sim_save(a, saved);
    CU_ASSERT_EQUAL(saved[saved_size], 0x5a);
    memmove(saved + 1, saved, saved_size);
    CU_ASSERT_EQUAL(model_steps(a, 200), 0);
    mech_sim_snapshot_write(a, bytes);

    /* back, with another stiffness meanwhile; and into another simulation */
    CU_ASSERT_EQUAL(mech_sim_set_input(a, 1, &soft, 0, NULL), 0);
    CU_ASSERT_EQUAL(model_steps(a, 3), 0);
    struct mech_sim *const both[] = {a, b};
    for (int i = 0; i < 2; i++) {
        CU_ASSERT_EQUAL(mech_sim_restore(both[i], saved + 1), 0);
        CU_ASSERT_EQUAL(mech_sim_get_parameter(both[i], 1), 7.);
        CU_ASSERT_EQUAL(model_steps(both[i], 200), 0);
        mech_sim_snapshot_write(both[i], bytes + size);
        CU_ASSERT_EQUAL(memcmp(bytes, bytes + size, size), 0);
    }

    /* another layout is refused and changes nothing */
    CU_ASSERT_EQUAL(mech_sim_saved_size(other), saved_size);
    mech_sim_snapshot_write(other, bytes);
    CU_ASSERT_EQUAL(mech_sim_restore(other, saved + 1), MECH_MISMATCH);
    mech_sim_snapshot_write(other, bytes + size);
    CU_ASSERT_EQUAL(memcmp(bytes, bytes + size, size), 0);
    free(saved);
    free(bytes);
    mech_sim_destroy(a);
    mech_sim_destroy(b);
    mech_sim_destroy(other);
}

static void reset_is_the_beginning_again(void)
{
    struct mech_sim *const s = model_of(WITH_STIFF("n"));
    const size_t size = mech_sim_snapshot_size(s);
    char *const bytes = calloc(2, size);
    const double force = 2., stiff = 7.;

    mech_sim_snapshot_write(s, bytes);
    CU_ASSERT_EQUAL(mech_sim_set_input(s, 0, &force, 0, NULL), 0);
    CU_ASSERT_EQUAL(mech_sim_set_input(s, 1, &stiff, 0, NULL), 0);
    CU_ASSERT_EQUAL(model_steps(s, 50), 0);
    CU_ASSERT_EQUAL(mech_sim_reset(s), 0);
    mech_sim_snapshot_write(s, bytes + size);
    CU_ASSERT_EQUAL(memcmp(bytes, bytes + size, size), 0);
    free(bytes);
    mech_sim_destroy(s);
}

static void a_state_that_is_not_finite_is_refused(void)
{
    struct mech_sim *const s = model_of(WITH_STIFF("n"));
    const double bad = INFINITY, good = 0.25;

    CU_ASSERT_EQUAL(mech_sim_set_state(s, &(struct mech_state_view){.time = NAN, .q = &bad}),
                    MECH_NOT_FINITE);
    CU_ASSERT_EQUAL(model_state(s).q[0], 0.5);
    CU_ASSERT_EQUAL(mech_sim_set_state(s, &(struct mech_state_view){.time = 3., .q = &good}), 0);
    CU_ASSERT_EQUAL(model_state(s).q[0], 0.25);
    CU_ASSERT_EQUAL(mech_sim_time(s), 3.);
    CU_ASSERT_EQUAL(model_steps(s, 5), 0);
    mech_sim_destroy(s);
}

/* Squares of these leave the range of doubles, their direction does not. */
static void euler_parameters_of_any_length_are_a_rotation(void)
{
    static const double lengths[] = {1e300, 3., 1e-300};
    struct mech_sim *const s =
        model_of("{'mechd': 1, 'nodes': [{'name': 'n', 'type': 'NodeRigidBodyEP'}], 'objects':"
                 "[{'name': 'b', 'type': 'RigidBody', 'node': 'n', 'physicsMass': 1,"
                 "'physicsInertia': [1, 1, 1, 0, 0, 0]}]}");

    for (size_t k = 0; k < sizeof lengths / sizeof *lengths; k++) {
        const double a = lengths[k], none[7] = {0.};
        const double q[7] = {-1., 0., 0., 0.6 * a, 0., 0.8 * a, 0.};
        const struct mech_state_view zero = {.time = NAN, .q = none}, view = {.time = NAN, .q = q};

        CU_ASSERT_EQUAL(mech_sim_set_state(s, &zero), MECH_NOT_FINITE);
        CU_ASSERT_EQUAL_FATAL(mech_sim_set_state(s, &view), 0);
        CHECK_NEAR(model_state(s).q[5], 0.8, 1e-12);
        CU_ASSERT_EQUAL(model_steps(s, 1), 0);
    }
    mech_sim_destroy(s);
}

UNIT_TESTS(UNIT_TEST(euler_parameters_of_any_length_are_a_rotation),
           UNIT_TEST(restored_and_uninterrupted_agree_to_the_bit),
           UNIT_TEST(damaged_or_foreign_snapshots_change_nothing),
           UNIT_TEST(saved_and_uninterrupted_agree_to_the_bit),
           UNIT_TEST(reset_is_the_beginning_again),
           UNIT_TEST(a_state_that_is_not_finite_is_refused))
