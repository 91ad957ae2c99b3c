/* Gaps of contacts beside what rounding makes of them. */
#include "solver/model/gap.h"
#include "solver/linalg/so3.h"
#include "solver/model/touch.h"
#include "tests/unit/model.h"

#include <float.h>

static double uniform(uint64_t *seed)
{
    *seed = *seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (double)(*seed >> 11) / 4503599627370496. - 1.;
}

static const char boxes[] =
    "{'mechd': 1, 'nodes': [{'name': 'a', 'type': 'NodeRigidBodyEP'}, {'name': 'b', 'type':"
    "'NodeRigidBodyEP', 'referenceCoordinates': [0, 0, 0.5, 1, 0, 0, 0]}], 'objects': [{'name':"
    "'A', 'type': 'RigidBody', 'node': 'a', 'physicsMass': 1, 'physicsInertia': [1, 1, 1, 0, 0, 0],"
    "'geometry': [{'shape': 'Box', 'size': [0.3, 0.4, 0.2]}]}, {'name': 'B', 'type': 'RigidBody',"
    "'node': 'b', 'physicsMass': 1, 'physicsInertia': [1, 1, 1, 0, 0, 0], 'geometry': [{'shape':"
    "'Box', 'size': [0.2, 0.3, 0.8]}]}], 'solver': {'integrator': 'MoreauJean'}}";

static struct mech_document *document_of(const char *text)
{
    char *const json = strdup(text);
    struct mech_document *d = NULL;
    struct mech_diag diag;

    for (char *at = json; *at; at++) {
        *at = *at == '\'' ? '"' : *at;
    }
    json_t *const value = json_loads(json, 0, NULL);

    mech_diag_init(&diag);
    CU_ASSERT_EQUAL_FATAL(mechp_bind_read(value, "", &diag, &d), 0);
    mech_diag_fini(&diag);
    json_decref(value);
    free(json);
    return d;
}

/* A box on another one, face to face, turned together and anywhere: the largest gap over what
 * rounding may make of it. Coordinates are those nearest to the exact ones. */
static double worst_of(const struct mech_model *m, struct mech_state *s, double far, uint64_t *seed)
{
    double *const q = s->q, length = 0., R[9], worst = 0.;
    struct mech_contact_list list = {.n = 0};
    struct mech_touch_rows rows;

    for (int k = 0; k < 4; k++) {
        q[3 + k] = uniform(seed);
        length += q[3 + k] * q[3 + k];
    }
    for (int k = 0; k < 4; k++) {
        q[3 + k] = q[10 + k] = q[3 + k] / sqrt(length);
    }
    mech_so3_from_parameters(q + 3, R);
    for (int k = 0; k < 3; k++) {
        q[k] = far * uniform(seed);
        q[7 + k] = q[k] + 0.5 * R[3 * k + 2];
    }
    const struct mech_eval e = mech_model_point(m, s, 0., q, s->v);

    CU_ASSERT_EQUAL(mech_model_touch_near(m, &e, 1e-12, &list), 0);
    CU_ASSERT_EQUAL(list.n, 4);
    for (int32_t i = 0; i < list.n; i++) {
        mech_model_touch_frame(m, &list.at[i], &rows);
        worst = fmax(worst, fabs(list.at[i].gap) / mech_model_touch_rounding(&list.at[i], &rows));
    }
    mech_contact_list_fini(&list);
    return worst;
}

static void gaps_of_faces_that_touch_are_within_rounding(void)
{
    static const double far[] = {0., 1., 1e3, 1e6, 1e9};
    struct mech_document *const d = document_of(boxes);
    struct mech_model *m = NULL;
    struct mech_state s;
    struct mech_diag diag;
    uint64_t seed = 1;

    mech_diag_init(&diag);
    CU_ASSERT_EQUAL_FATAL(mech_model_compile(d, NULL, &diag, &m), 0);
    mech_state_place(mech_model_sizes(m), calloc(1, mech_state_bytes(mech_model_sizes(m))), &s);
    mech_model_initial(m, &s);
    for (int k = 0; k < 5; k++) {
        double worst = 0.;

        for (int i = 0; i < 500; i++) {
            worst = fmax(worst, worst_of(m, &s, far[k], &seed));
        }
        CU_ASSERT(worst <= 1.);
    }
    free(s.block);
    mech_model_destroy(m);
    mech_document_destroy(d);
    mech_diag_fini(&diag);
}

/* continuous, and nothing but rounding less than the gap */
static void gaps_count_beyond_rounding(void)
{
    CU_ASSERT_EQUAL(mech_gap_known(-1., 1e-3), -1.);
    CU_ASSERT_EQUAL(mech_gap_known(0., 1e-3), 0.);
    CU_ASSERT_EQUAL(mech_gap_known(1e-3, 1e-3), 0.);
    CU_ASSERT_EQUAL(mech_gap_known(0.5, 0.), 0.5);
    CU_ASSERT_EQUAL(mech_gap_known(0.5, 0.125), 0.375);
    CU_ASSERT(isnan(mech_gap_known(NAN, 1e-3)));
}

UNIT_TESTS(UNIT_TEST(gaps_of_faces_that_touch_are_within_rounding),
           UNIT_TEST(gaps_count_beyond_rounding))
