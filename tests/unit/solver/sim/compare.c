/* Comparisons: each number that differs is found, under the name of its item. */
#include "solver/sim/compare.h"
#include "solver/sim/edit.h"
#include "tests/unit/model.h"

#define MODEL                                                                                      \
    "{'mechd': 1, 'parameters': {'k': 100, 'c': 1},"                                               \
    "'nodes': [{'name': 'n', 'type': 'Node1D', 'initialCoordinates': [0.5]},"                      \
    "{'name': 'y', 'type': 'NodeGenericODE1', 'initialCoordinates': [1, 0]},"                      \
    "{'name': 'd', 'type': 'NodeGenericData', 'initialCoordinates': [3, 4]},"                      \
    "{'name': 'p', 'type': 'NodePoint', 'initialVelocities': [1, 2, 3]}],"                         \
    "'objects': [{'name': 'm', 'type': 'Mass1D', 'node': 'n', 'physicsMass': 1},"                  \
    "{'name': 's', 'type': 'CoordinateSpringDamper', 'markers': ['g', 'x'], 'stiffness': '=k',"    \
    "'damping': '=c'},"                                                                            \
    "{'name': 'o', 'type': 'GenericODE1', 'nodes': ['y'], 'systemMatrix': [[0, 1], [-50, 0]]},"    \
    "{'name': 'ball', 'type': 'MassPoint', 'node': 'p', 'physicsMass': 2}],"                       \
    "'markers': [{'name': 'g', 'type': 'MarkerGroundCoordinate'},"                                 \
    "{'name': 'x', 'type': 'MarkerNodeCoordinate', 'node': 'n'}],"                                 \
    "'loads': [{'name': 'F', 'type': 'LoadCoordinate', 'marker': 'x', 'load': 1}],"                \
    "'inputs': [{'name': 'f', 'load': 'F'}, {'name': 'stiff', 'parameter': 'k'}],"                 \
    "'solver': {'integrator': 'GeneralizedAlpha', 'stepSize': 1e-3}}"

static const struct mech_closeness exact = {0., 0.};

/* Two snapshots of a simulation. */
struct pair {
    struct mech_sim *s;
    struct mech_snapshot_bytes of[2];
};

static void take(struct pair *p, int which)
{
    char *const bytes = malloc(mech_sim_snapshot_size(p->s));
    CU_ASSERT_PTR_NOT_NULL_FATAL(bytes);
    const size_t size = mech_sim_snapshot_write(p->s, bytes);
    p->of[which] = (struct mech_snapshot_bytes){bytes, size};
}

static void free_pair(struct pair *p)
{
    for (int k = 0; k < 2; k++) {
        free((void *)(uintptr_t)p->of[k].bytes);
    }
    mech_sim_destroy(p->s);
}

static bool is(const struct mech_difference *d, enum mech_difference_kind kind, const char *name,
               int32_t index)
{
    return d->kind == kind && d->name && strcmp(d->name, name) == 0 && d->index == index;
}

static void numbers_are_named_after_their_items(void)
{
    struct pair p = {.s = model_of(MODEL)};
    struct mech_comparison c;
    const double q[] = {0.5, 0., 0., 7.}, v[] = {0., 1., -2., 3.}, x[] = {1., 9.};
    const double z[] = {3., 40.}, rate[] = {2.5}, force[] = {8.}, k[] = {200.};

    CU_ASSERT_EQUAL_FATAL(mech_sim_sizes(p.s).z, 2);
    take(&p, 0);
    const struct mech_state_view in = {.time = NAN, .q = q, .v = v, .x = x, .z = z};
    CU_ASSERT_EQUAL(mech_sim_set_state(p.s, &in), 0);
    CU_ASSERT_EQUAL(mech_sim_set_input(p.s, 0, force, 1, rate), 0);
    CU_ASSERT_EQUAL(mech_sim_set_input(p.s, 1, k, 0, NULL), 0);
    take(&p, 1);
    CU_ASSERT_EQUAL_FATAL(mech_sim_compare(p.s, p.of, &exact, &c), 0);
    CU_ASSERT_FALSE(c.identical);
    size_t n = 0;
    for (int kind = 0; kind < MECH_DIFFERS_KINDS; kind++) {
        n += c.counts[kind];
    }
    CU_ASSERT_EQUAL_FATAL(n, 7);
    CU_ASSERT(is(&c.items[0], MECH_DIFFERS_PARAMETER, "k", 0) && c.items[0].values[1] == 200.);
    CU_ASSERT(is(&c.items[1], MECH_DIFFERS_INPUT, "f", 0) && isnan(c.items[1].values[0]) &&
              c.items[1].values[1] == 8.);
    CU_ASSERT(is(&c.items[2], MECH_DIFFERS_RATE, "f", 0) && c.items[2].values[1] == 2.5);
    CU_ASSERT(is(&c.items[3], MECH_DIFFERS_COORDINATE, "p", 2) && c.items[3].values[1] == 7.);
    CU_ASSERT(is(&c.items[4], MECH_DIFFERS_VELOCITY, "p", 1) && c.items[4].values[0] == 2. &&
              c.items[4].values[1] == -2.);
    CU_ASSERT(is(&c.items[5], MECH_DIFFERS_STATE, "y", 1) && c.items[5].values[1] == 9.);
    CU_ASSERT(is(&c.items[6], MECH_DIFFERS_KEPT, "d", 1) && c.items[6].values[1] == 40.);
    mech_comparison_fini(&c);
    free_pair(&p);
}

static void the_largest_is_first_and_tolerances_count(void)
{
    struct pair p = {.s = model_of(MODEL)};
    struct mech_comparison c;
    const double q[] = {0.5 + 0x1p-20, 1., -2., 0.};

    take(&p, 0);
    const struct mech_state_view in = {.time = NAN, .q = q};
    CU_ASSERT_EQUAL(mech_sim_set_state(p.s, &in), 0);
    take(&p, 1);
    CU_ASSERT_EQUAL_FATAL(mech_sim_compare(p.s, p.of, &exact, &c), 0);
    CU_ASSERT_EQUAL_FATAL(c.counts[MECH_DIFFERS_COORDINATE], 3);
    CU_ASSERT(is(&c.items[0], MECH_DIFFERS_COORDINATE, "p", 1));
    CU_ASSERT(is(&c.items[1], MECH_DIFFERS_COORDINATE, "p", 0));
    CU_ASSERT(is(&c.items[2], MECH_DIFFERS_COORDINATE, "n", 0));
    mech_comparison_fini(&c);
    const struct mech_closeness near[] = {{0x1p-20, 0.}, {0., 0x1p-19}, {1., 0.}, {2., 0.}};
    const size_t left[] = {2, 2, 1, 0};
    for (size_t k = 0; k < sizeof near / sizeof *near; k++) {
        CU_ASSERT_EQUAL_FATAL(mech_sim_compare(p.s, p.of, &near[k], &c), 0);
        CU_ASSERT_EQUAL(c.counts[MECH_DIFFERS_COORDINATE], left[k]);
        CU_ASSERT_FALSE(c.identical);
        mech_comparison_fini(&c);
    }
    free_pair(&p);
}

static int set_gravity(struct mech_document *d, void *to, struct mech_diag *diag)
{
    (void)diag;
    d->gravity[1] = *(const double *)to;
    return 0;
}

static void put_gravity_back(struct mech_document *d, void *to)
{
    (void)to;
    d->gravity[1] = 0.;
}

/* A state is the same before a field is changed and after it has been changed back, and while it
 * is changed: snapshots have no fields. */
static void changed_fields_are_no_difference_of_states(void)
{
    struct pair p = {.s = model_of(MODEL)};
    double values[] = {0., -9.81, 0.};

    for (int k = 0; k < 3; k++) {
        const struct mech_edit edit = {
            .apply = set_gravity, .undo = put_gravity_back, .context = &values[k]};
        struct mech_diag diag;

        mech_diag_init(&diag);
        CU_ASSERT_EQUAL_FATAL(mech_sim_edit(p.s, &edit, &diag), 0);
        mech_diag_fini(&diag);
        take(&p, k > 0);
        if (k == 0) {
            continue;
        }
        struct mech_comparison c;
        CU_ASSERT_EQUAL_FATAL(mech_sim_compare(p.s, p.of, &exact, &c), 0);
        CU_ASSERT(c.identical);
        mech_comparison_fini(&c);
        free((void *)(uintptr_t)p.of[1].bytes);
        p.of[1].bytes = NULL;
    }
    free_pair(&p);
}

static void a_comparison_changes_nothing_and_refuses_what_does_not_fit(void)
{
    struct pair p = {.s = model_of(MODEL)};
    struct mech_comparison c;
    struct mech_step_report report;
    const struct mech_step_request trial = {.kind = MECH_STEP_COUNT, .count = 3, .trial = true};
    char *const before = malloc(2 * mech_sim_snapshot_size(p.s));
    CU_ASSERT_PTR_NOT_NULL_FATAL(before);

    take(&p, 0);
    CU_ASSERT_EQUAL(model_steps(p.s, 10), 0);
    take(&p, 1);
    CU_ASSERT_EQUAL(model_steps(p.s, 10), 0);
    CU_ASSERT_EQUAL(mech_sim_step(p.s, &trial, &report), 0);
    const size_t size = mech_sim_snapshot_write(p.s, before);
    char *const end = before + size;
    const size_t end_size = mech_sim_trial_write(p.s, end);
    CU_ASSERT_EQUAL_FATAL(mech_sim_compare(p.s, p.of, &exact, &c), 0);
    CU_ASSERT(c.times[0] == 0. && fabs(c.times[1] - 0.01) < 1e-12 && c.steps[1] == 10);
    mech_comparison_fini(&c);
    const struct mech_snapshot_bytes same[] = {p.of[1], p.of[1]};
    CU_ASSERT_EQUAL_FATAL(mech_sim_compare(p.s, same, &exact, &c), 0);
    CU_ASSERT(c.identical);
    mech_comparison_fini(&c);
    for (int k = 0; k < 2; k++) {
        struct mech_snapshot_bytes wrong[] = {p.of[0], p.of[1]};
        wrong[k].size -= 8;
        CU_ASSERT_EQUAL(mech_sim_compare(p.s, wrong, &exact, &c), MECH_MISMATCH);
        mech_comparison_fini(&c);
    }

    // the state and the trial are as they were
    char *const after = malloc(2 * mech_sim_snapshot_size(p.s));
    CU_ASSERT_PTR_NOT_NULL_FATAL(after);
    CU_ASSERT(mech_sim_snapshot_write(p.s, after) == size && memcmp(before, after, size) == 0);
    CU_ASSERT_FATAL(mech_sim_has_trial(p.s));
    CU_ASSERT(mech_sim_trial_write(p.s, after) == end_size && memcmp(end, after, end_size) == 0);

    // and what was written of the trial is what a commit gives
    CU_ASSERT_EQUAL(mech_sim_commit(p.s), 0);
    CU_ASSERT(mech_sim_snapshot_write(p.s, after) == end_size && memcmp(end, after, end_size) == 0);
    free(after);
    free(before);
    free_pair(&p);
}

UNIT_TESTS(UNIT_TEST(numbers_are_named_after_their_items),
           UNIT_TEST(the_largest_is_first_and_tolerances_count),
           UNIT_TEST(changed_fields_are_no_difference_of_states),
           UNIT_TEST(a_comparison_changes_nothing_and_refuses_what_does_not_fit))
