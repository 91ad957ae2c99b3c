/* Contacts between shapes in the velocities of a model: rows against differences, filters, free
 * bodies, what is refused, what a state keeps. */
#include "solver/model/touch.h"
#include "solver/items/document.h"
#include "solver/linalg/so3.h"
#include "tests/unit/model.h"

struct compiled {
    struct mech_document *document;
    struct mech_model *m;
    struct mech_state s;
};

static int compile(const char *text, struct mech_diag *diag, struct compiled *c)
{
    char *const json = strdup(text);

    for (char *at = json; *at; at++) {
        *at = *at == '\'' ? '"' : *at;
    }
    json_t *const value = json_loads(json, 0, NULL);
    free(json);
    memset(c, 0, sizeof *c);
    CU_ASSERT_PTR_NOT_NULL_FATAL(value);
    int code = mechp_bind_read(value, "", diag, &c->document);
    json_decref(value);
    code = code ? code : mech_model_compile(c->document, NULL, diag, &c->m);
    if (code == 0) {
        const struct mech_state_sizes *const n = mech_model_sizes(c->m);

        mech_state_place(n, calloc(1, mech_state_bytes(n)), &c->s);
        mech_model_initial(c->m, &c->s);
    }
    return code;
}

static struct compiled compiled_of(const char *text)
{
    struct mech_diag diag;
    struct compiled c;

    mech_diag_init(&diag);
    const int code = compile(text, &diag, &c);
    for (size_t i = 0; i < diag.count; i++) {
        fprintf(stderr, "%s: %s\n", diag.entries[i].path, diag.entries[i].text);
    }
    mech_diag_fini(&diag);
    CU_ASSERT_EQUAL_FATAL(code, 0);
    return c;
}

static void release(struct compiled *c)
{
    free(c->s.block);
    mech_model_destroy(c->m);
    mech_document_destroy(c->document);
}

/* the contacts with everything near */
static int find(const struct compiled *c, const double *q, const double *v, double ahead,
                struct mech_contact_list *list)
{
    const struct mech_eval e = mech_model_point(c->m, &c->s, 0., q, v);

    return mech_model_touch_find(c->m, &e, ahead, list);
}

/* --- rows ------------------------------------------------------------------------------------- */

enum { MOST = 64 };

/* Pose of an object's point at other coordinates. */
static void point_of(struct compiled *c, const double *q, int32_t object, const double local[3],
                     double p[3], double R[9])
{
    struct mech_state at = c->s;
    double copy[MOST];
    size_t count;

    memcpy(copy, q, ((size_t)mech_model_sizes(c->m)->q + 1) * sizeof *q);
    at.q = copy;
    const struct mech_output_request where = {MECH_OBJECT, object, MECH_OUTPUT_POSITION,
                                              MECH_CURRENT, local};
    const struct mech_output_request turn = {MECH_OBJECT, object, MECH_OUTPUT_ROTATION_MATRIX,
                                             MECH_CURRENT, local};
    CU_ASSERT_EQUAL(mech_model_item_output(c->m, &at, &where, 3, p, &count), 0);
    CU_ASSERT_EQUAL(mech_model_item_output(c->m, &at, &turn, 9, R, &count), 0);
}

/* velocity of the point of an object that is at x, and its angular velocity, along ±h v */
static void difference(struct compiled *c, const double *v, int32_t object, const double x[3],
                       double twist[6])
{
    static const double origin[3];
    const double h = 1e-6;
    double p[3], R[9], local[3], moved[2][3], turned[2][9], d[MOST], q[MOST] = {0.};

    point_of(c, c->s.q, object, origin, p, R);
    for (int k = 0; k < 3; k++) {
        p[k] = x[k] - p[k];
    }
    mech_m3_mul_transposed(R, p, local);
    for (int side = 0; side < 2; side++) {
        for (int32_t i = 0; i < mech_model_sizes(c->m)->v; i++) {
            d[i] = (side ? h : -h) * v[i];
        }
        mech_model_move(c->m, c->s.q, d, q);
        point_of(c, q, object, local, moved[side], turned[side]);
    }
    double spin[9], back[9];
    mech_m3_transpose(turned[0], back);
    mech_m3_product(turned[1], back, spin);
    mech_so3_log(spin, twist + 3);
    for (int k = 0; k < 3; k++) {
        twist[k] = (moved[1][k] - moved[0][k]) / (2. * h);
        twist[3 + k] /= 2. * h;
    }
}

/* all six rows of every contact, and the gap's rate, against differences; returns how many */
static int check_rows(struct compiled *c, double margin)
{
    struct mech_contact_list list = {.n = 0}, near[2] = {{.n = 0}, {.n = 0}};
    const int32_t nv = mech_model_sizes(c->m)->v;
    const double h = 1e-6;
    double v[MOST] = {0.}, d[MOST] = {0.}, q[MOST] = {0.};

    for (int32_t i = 0; i < nv; i++) {
        v[i] = sin(1. + 3. * i);
    }
    c->document->contact.margin = margin;
    for (int side = 0; side < 2; side++) {
        for (int32_t i = 0; i < nv; i++) {
            d[i] = (side ? h : -h) * v[i];
        }
        mech_model_move(c->m, c->s.q, d, q);
        CU_ASSERT_EQUAL(find(c, q, c->s.v, 0., &near[side]), 0);
    }
    CU_ASSERT_EQUAL(find(c, c->s.q, c->s.v, 0., &list), 0);
    CU_ASSERT_EQUAL_FATAL(near[0].n, list.n);
    CU_ASSERT_EQUAL_FATAL(near[1].n, list.n);
    for (int32_t i = 0; i < list.n; i++) {
        const struct mech_contact *const at = &list.at[i];
        struct mech_touch_rows rows;
        double rate[6] = {0.}, wanted[2][6] = {{0.}}, x[3];
        int32_t object, place;

        mech_model_touch_rows(c->m, at, &rows);
        for (int k = 0; k < 3; k++) {
            x[k] = 0.5 * (at->point[0][k] + at->point[1][k]);
        }
        for (int side = 0; side < 2; side++) {
            mech_model_touch_collider(c->m, at->collider[side], &object, &place);
            difference(c, v, object, x, wanted[side]);
        }
        for (int r = 0; r < 6; r++) {
            const double *const axis = rows.frame + 3 * (r % 3);
            const int first = r < 3 ? 0 : 3;

            for (int32_t k = 0; k < rows.n; k++) {
                rate[r] += rows.G[r][k] * v[rows.slot[k]];
            }
            CU_ASSERT_DOUBLE_EQUAL(
                rate[r],
                mech_v3_dot(axis, wanted[1] + first) - mech_v3_dot(axis, wanted[0] + first), 1e-8);
        }
        CU_ASSERT_EQUAL(near[0].at[i].id, at->id);
        CU_ASSERT_DOUBLE_EQUAL(rate[0], (near[1].at[i].gap - near[0].at[i].gap) / (2. * h), 1e-8);
        /* n, t1, t2 are a right-handed frame */
        double third[3];
        mech_v3_cross(rows.frame, rows.frame + 3, third);
        for (int k = 0; k < 3; k++) {
            CU_ASSERT_DOUBLE_EQUAL(third[k], rows.frame[6 + k], 1e-15);
            CU_ASSERT_EQUAL(rows.frame[k], at->normal[k]);
        }
    }
    const int n = list.n;
    mech_contact_list_fini(&list);
    mech_contact_list_fini(&near[0]);
    mech_contact_list_fini(&near[1]);
    return n;
}

/* spheres on six kinds of bodies, one with two, and a floor aslant */
static const char every[] =
    "{'mechd': 1, 'nodes': [{'name': 'e', 'type': 'NodeRigidBodyEP', 'referenceCoordinates': "
    "[0, 0, 1, 1, 0, 0, 0], 'initialCoordinates': [0.1, 0, 0, -0.2, 0.36, -0.48, 0]}, "
    "{'name': 'r', 'type': 'NodeRigidBodyRotVecLG', 'referenceCoordinates': [2, 0, 1.3, 0.4, "
    "-0.7, 0.9]}, {'name': 'p', 'type': 'NodePoint', 'referenceCoordinates': [1, 1, 0.8]}, "
    "{'name': 'x', 'type': 'NodeRigidBody2D', 'referenceCoordinates': [1, -1.2, 0.4]}, "
    "{'name': 's', 'type': 'Node1D', 'referenceCoordinates': [0.5]}, {'name': 'w', 'type': "
    "'Node1D', 'referenceCoordinates': [0.3]}], 'objects': [{'name': 'floor', 'type': "
    "'Ground', 'referencePosition': [0, 0, 0.05], 'geometry': [{'shape': 'Plane', 'normal': "
    "[0.1, -0.2, 1]}]}, {'name': 'E', 'type': 'RigidBody', 'node': 'e', 'physicsMass': 3, "
    "'physicsInertia': [2, 3, 4, 0.1, 0.2, 0.3], 'physicsCenterOfMass': [0.1, 0.2, -0.1], "
    "'geometry': [{'shape': 'Sphere', 'radius': 0.3, 'position': [0.4, 0.1, 0.2]}, {'shape': "
    "'Sphere', 'radius': 0.2, 'position': [-0.4, 0.1, 0.2]}]}, {'name': 'R', 'type': "
    "'RigidBody', 'node': 'r', 'physicsMass': 3, 'physicsInertia': [2, 3, 4, 0.1, 0.2, 0.3], "
    "'geometry': [{'shape': 'Sphere', 'radius': 0.6, 'position': [0.1, 0, 0]}]}, {'name': "
    "'P', 'type': 'MassPoint', 'node': 'p', 'physicsMass': 2, 'geometry': [{'shape': "
    "'Sphere', 'radius': 0.4}]}, {'name': 'X', 'type': 'RigidBody2D', 'node': 'x', "
    "'physicsMass': 1, 'physicsInertia': 1, 'geometry': [{'shape': 'Sphere', 'radius': 0.5, "
    "'position': [0.3, 0.2, 0.5]}]}, {'name': 'S', 'type': 'Mass1D', 'node': 's', "
    "'physicsMass': 1, 'referencePosition': [1, 0.3, 1], 'geometry': [{'shape': 'Sphere', "
    "'radius': 0.3}]}, {'name': 'W', 'type': 'Rotor1D', 'node': 'w', 'physicsInertia': 1, "
    "'referencePosition': [0, 1, 1], 'geometry': [{'shape': 'Sphere', 'radius': 0.3, "
    "'position': [0.4, 0, 0]}]}]}";

static void rows_are_rates_of_gaps_and_of_points(void)
{
    struct compiled c = compiled_of(every);

    CU_ASSERT_EQUAL(mech_model_touch_bodies(c.m), 6);
    CU_ASSERT_FALSE(mech_model_touch_free(c.m));
    /* all pairs of seven spheres on six bodies, and with the floor */
    CU_ASSERT_EQUAL(check_rows(&c, 10.), 21 - 1 + 7);
    release(&c);
}

/* --- who touches whom ------------------------------------------------------------------------- */

/* three balls in a row that overlap, a rod between the first two */
static const char jointed[] =
    "{'mechd': 1, 'markers': [{'name': 'ma', 'type': 'MarkerBodyPosition', 'object': 'A'}, "
    "{'name': 'mb', 'type': 'MarkerNodePosition', 'node': 'b'}], 'nodes': [{'name': 'a', "
    "'type': 'NodePoint', 'referenceCoordinates': [0, 0, 0]}, {'name': 'b', 'type': "
    "'NodePoint', 'referenceCoordinates': [1, 0, 0]}, {'name': 'c', 'type': 'NodePoint', "
    "'referenceCoordinates': [2, 0, 0]}], 'objects': [{'name': 'A', 'type': 'MassPoint', "
    "'node': 'a', 'physicsMass': 2, 'geometry': [{'shape': 'Sphere', 'radius': 0.6}]}, "
    "{'name': 'B', 'type': 'MassPoint', 'node': 'b', 'physicsMass': 2, 'geometry': "
    "[{'shape': 'Sphere', 'radius': 0.6}]}, {'name': 'C', 'type': 'MassPoint', 'node': 'c', "
    "'physicsMass': 2, 'geometry': [{'shape': 'Sphere', 'radius': 0.6}]}, {'name': 'rod', "
    "'type': 'DistanceConstraint', 'markers': ['mb', 'ma'], 'distance': 1}]}";

static const char jointed_too[] =
    "{'mechd': 1, 'contact': {'jointed': true}, 'markers': [{'name': 'ma', 'type': "
    "'MarkerBodyPosition', 'object': 'A'}, {'name': 'mb', 'type': 'MarkerNodePosition', "
    "'node': 'b'}], 'nodes': [{'name': 'a', 'type': 'NodePoint', 'referenceCoordinates': [0, "
    "0, 0]}, {'name': 'b', 'type': 'NodePoint', 'referenceCoordinates': [1, 0, 0]}, {'name': "
    "'c', 'type': 'NodePoint', 'referenceCoordinates': [2, 0, 0]}], 'objects': [{'name': "
    "'A', 'type': 'MassPoint', 'node': 'a', 'physicsMass': 2, 'geometry': [{'shape': "
    "'Sphere', 'radius': 0.6}]}, {'name': 'B', 'type': 'MassPoint', 'node': 'b', "
    "'physicsMass': 2, 'geometry': [{'shape': 'Sphere', 'radius': 0.6}]}, {'name': 'C', "
    "'type': 'MassPoint', 'node': 'c', 'physicsMass': 2, 'geometry': [{'shape': 'Sphere', "
    "'radius': 0.6}]}, {'name': 'rod', 'type': 'DistanceConstraint', 'markers': ['mb', "
    "'ma'], 'distance': 1}]}";

/* a ball 0.1 above a floor */
static const char falling[] =
    "{'mechd': 1, 'gravity': [0, 0, -10], 'nodes': [{'name': 'a', 'type': 'NodePoint', "
    "'referenceCoordinates': [0, 0, 1.1]}], 'objects': [{'name': 'floor', 'type': 'Ground', "
    "'geometry': [{'shape': 'Plane'}]}, {'name': 'A', 'type': 'MassPoint', 'node': 'a', "
    "'physicsMass': 2, 'geometry': [{'shape': 'Sphere', 'radius': 1}]}]}";

static const char wide[] =
    "{'mechd': 1, 'contact': {'margin': 0.11}, 'nodes': [{'name': 'a', 'type': 'NodePoint', "
    "'referenceCoordinates': [0, 0, 1.1]}], 'objects': [{'name': 'floor', 'type': 'Ground', "
    "'geometry': [{'shape': 'Plane'}]}, {'name': 'A', 'type': 'MassPoint', 'node': 'a', "
    "'physicsMass': 2, 'geometry': [{'shape': 'Sphere', 'radius': 1}]}]}";

static const char materials[] =
    "{'mechd': 1, 'parameters': {'mu': 0.25}, 'materials': [{'name': 'ice', 'friction': "
    "'=mu', 'compliance': 1e-6}], 'nodes': [{'name': 'a', 'type': 'NodePoint', "
    "'referenceCoordinates': [0, 0, 1]}], 'objects': [{'name': 'floor', 'type': 'Ground', "
    "'geometry': [{'shape': 'Plane', 'material': 'ice'}]}, {'name': 'A', 'type': "
    "'MassPoint', 'node': 'a', 'physicsMass': 2, 'geometry': [{'shape': 'Sphere', 'radius': "
    "1, 'material': {'friction': 0.5, 'restitution': 0.3, 'compliance': 2e-6}}]}]}";

static int count_contacts(const char *text, double ahead, double speed)
{
    struct compiled c = compiled_of(text);
    struct mech_contact_list list = {.n = 0};

    c.s.v[0] = speed;
    CU_ASSERT_EQUAL(find(&c, c.s.q, c.s.v, ahead, &list), 0);
    const int n = list.n;
    mech_contact_list_fini(&list);
    release(&c);
    return n;
}

static void jointed_bodies_do_not_touch_unless_the_model_says_so(void)
{
    CU_ASSERT_EQUAL(count_contacts(jointed, 0., 0.), 1);
    CU_ASSERT_EQUAL(count_contacts(jointed_too, 0., 0.), 2);
}

static void contacts_are_found_as_far_as_bodies_move(void)
{
    /* speed 1 for 0.09 s and g t² = 0.081 reach it, each alone does not */
    CU_ASSERT_EQUAL(count_contacts(falling, 0.09, 0.), 0);
    CU_ASSERT_EQUAL(count_contacts(falling, 0.09, 1.), 1);
    CU_ASSERT_EQUAL(count_contacts(falling, 0.01, 1.), 0);
    CU_ASSERT_EQUAL(count_contacts(wide, 0., 0.), 1);
}

static void materials_come_by_name_or_in_place(void)
{
    struct compiled c = compiled_of(materials);
    struct mech_contact_list list = {.n = 0};

    CU_ASSERT_EQUAL(find(&c, c.s.q, c.s.v, 0., &list), 0);
    CU_ASSERT_EQUAL_FATAL(list.n, 1);
    const struct mech_material both = mech_model_touch_material(c.m, &list.at[0]);
    CU_ASSERT_EQUAL(both.friction, 0.25);
    CU_ASSERT_EQUAL(both.restitution, 0.);
    CU_ASSERT_EQUAL(both.compliance, 1e-6 + 2e-6);
    mech_contact_list_fini(&list);
    release(&c);
}

/* a ball at height 1 over a floor that its ground raises to 0.5 and turns aslant by 0.5 about y */
static const char raised[] =
    "{'mechd': 1, 'contact': {'margin': 1}, 'nodes': [{'name': 'a', 'type': 'NodePoint',"
    "'referenceCoordinates': [0, 0, 1]}], 'objects': [{'name': 'floor', 'type': 'Ground',"
    "'referencePosition': [0, 0, 0.5], 'referenceRotation': [['=cos(0.5)', 0, '=sin(0.5)'],"
    "[0, 1, 0], ['=-sin(0.5)', 0, '=cos(0.5)']],"
    "'geometry': [{'shape': 'Plane', 'position': [3, 2, 0.1]}]},"
    "{'name': 'A', 'type': 'MassPoint', 'node': 'a', 'physicsMass': 1,"
    "'geometry': [{'shape': 'Sphere', 'radius': 0.2}]}]}";

static void shapes_of_the_ground_sit_in_its_frame(void)
{
    struct compiled c = compiled_of(raised);
    struct mech_contact_list list = {.n = 0};

    CU_ASSERT_EQUAL(find(&c, c.s.q, c.s.v, 0., &list), 0);
    CU_ASSERT_EQUAL_FATAL(list.n, 1);
    CU_ASSERT_DOUBLE_EQUAL(list.at[0].gap, 0.5 * cos(0.5) - 0.1 - 0.2, 1e-15);
    CU_ASSERT_DOUBLE_EQUAL(list.at[0].normal[0], sin(0.5), 1e-15);
    CU_ASSERT_DOUBLE_EQUAL(list.at[0].normal[2], cos(0.5), 1e-15);
    mech_contact_list_fini(&list);
    release(&c);
}

/* --- free bodies ------------------------------------------------------------------------------ */

/* a rigid body about its centre of mass, and a point */
static const char free_pair[] =
    "{'mechd': 1, 'nodes': [{'name': 'p', 'type': 'NodePoint', 'referenceCoordinates': [5, "
    "0, 0]}, {'name': 'e', 'type': 'NodeRigidBodyRotVecLG', 'referenceCoordinates': [0, 0, "
    "1, 0.3, -0.2, 0.1], 'initialVelocities': [1, 2, 3, 0.4, 0.5, 0.6]}], 'objects': "
    "[{'name': 'floor', 'type': 'Ground', 'geometry': [{'shape': 'Plane'}]}, {'name': 'E', "
    "'type': 'RigidBody', 'node': 'e', 'physicsMass': 3, 'physicsInertia': [2, 3, 4, 0.1, "
    "0.2, 0.3], 'geometry': [{'shape': 'Sphere', 'radius': 1}]}, {'name': 'P', 'type': "
    "'MassPoint', 'node': 'p', 'physicsMass': 2, 'geometry': [{'shape': 'Sphere', 'radius': "
    "1}]}]}";

/* one body more, along a line, has no shape */
static const char slider[] =
    "{'mechd': 1, 'nodes': [{'name': 'p', 'type': 'NodePoint', 'referenceCoordinates': [0, "
    "0, 0]}, {'name': 'x', 'type': 'Node1D'}], 'objects': [{'name': 'P', 'type': "
    "'MassPoint', 'node': 'p', 'physicsMass': 2, 'geometry': [{'shape': 'Sphere', 'radius': "
    "1}]}, {'name': 'X', 'type': 'Mass1D', 'node': 'x', 'physicsMass': 1}]}";

static const char offset[] =
    "{'mechd': 1, 'nodes': [{'name': 'r', 'type': 'NodeRigidBodyRotVecLG'}], 'objects': "
    "[{'name': 'R', 'type': 'RigidBody', 'node': 'r', 'physicsMass': 3, 'physicsInertia': "
    "[2, 3, 4, 0.1, 0.2, 0.3], 'physicsCenterOfMass': [0.1, 0, 0], 'geometry': [{'shape': "
    "'Sphere', 'radius': 1}]}]}";

static const char centred[] =
    "{'mechd': 1, 'nodes': [{'name': 'r', 'type': 'NodeRigidBodyRotVecLG'}], 'objects': "
    "[{'name': 'R', 'type': 'RigidBody', 'node': 'r', 'physicsMass': 3, 'physicsInertia': "
    "[2, 3, 4, 0.1, 0.2, 0.3], 'geometry': [{'shape': 'Sphere', 'radius': 1}]}]}";

static void free_bodies_have_their_own_inverse_mass(void)
{
    struct compiled c = compiled_of(free_pair);
    struct mech_contact_list list = {.n = 0};
    const int32_t nv = mech_model_sizes(c.m)->v;
    double inverse_mass, inverse[9], twist[6], momentum[3], v[MOST] = {0.};

    CU_ASSERT(mech_model_touch_free(c.m));
    CU_ASSERT_EQUAL(find(&c, c.s.q, c.s.v, 0., &list), 0);
    mech_contact_list_fini(&list);
    mech_model_touch_inertia(c.m, 0, &inverse_mass, inverse);
    CU_ASSERT_DOUBLE_EQUAL(inverse_mass, 1. / 3., 1e-15);

    /* ω = J⁻¹ (R J Ω), v as it is */
    mech_model_touch_twist(c.m, 0, c.s.v, twist);
    double R[9], local[3], p[3];
    static const double origin[3], J[9] = {2., 0.3, 0.2, 0.3, 3., 0.1, 0.2, 0.1, 4.};
    point_of(&c, c.s.q, 1, origin, p, R);
    mech_m3_mul(J, c.s.v + mech_model_touch_body(c.m, 0).slot[3], local);
    mech_m3_mul(R, local, momentum);
    mech_m3_mul(inverse, momentum, local);
    for (int k = 0; k < 3; k++) {
        CU_ASSERT_DOUBLE_EQUAL(local[k], twist[3 + k], 1e-14);
        CU_ASSERT_EQUAL(twist[k], k + 1.);
    }
    mech_model_touch_untwist(c.m, 0, twist, v);
    for (int32_t i = 3; i < nv; i++) {
        CU_ASSERT_DOUBLE_EQUAL(v[i], c.s.v[i], 1e-15);
    }
    mech_model_touch_inertia(c.m, 1, &inverse_mass, inverse);
    CU_ASSERT_EQUAL(inverse_mass, 0.5);
    CU_ASSERT_EQUAL(mech_v3_norm(inverse) + mech_v3_norm(inverse + 3) + mech_v3_norm(inverse + 6),
                    0.);
    release(&c);
}

static bool is_free(const char *text)
{
    struct compiled c = compiled_of(text);
    const bool free = mech_model_touch_free(c.m);

    release(&c);
    return free;
}

static void other_coordinates_are_not_free(void)
{
    CU_ASSERT_FALSE(is_free(slider));
    CU_ASSERT_FALSE(is_free(offset));
    CU_ASSERT(is_free(centred));
}

/* --- faults ----------------------------------------------------------------------------------- */

/* a model whose one body, a point, has this geometry is refused */
static bool refused(const char *geometry, const char *path, const char *words)
{
    char text[1000];

    snprintf(text, sizeof text,
             "{'mechd': 1, 'nodes': [{'name': 'a', 'type': 'NodePoint'}],"
             "'objects': [{'name': 'A', 'type': 'MassPoint', 'node': 'a', 'physicsMass': 2,"
             "'geometry': [%s]}]}",
             geometry);
    return model_refused(text, path, words);
}

static void shapes_that_cannot_be_are_refused_at_their_place(void)
{
    static const struct {
        const char *geometry, *field, *words;
    } cases[] = {
        {"{'shape': 'Plane'}", "", "ground"},
        {"{'shape': 'Sphere', 'radius': 0}", "/radius", "above 0"},
        {"{'shape': 'Sphere'}", "", "radius"},
        {"{'radius': 1}", "", "shape"},
        {"{'shape': 'Ball', 'radius': 1}", "/shape", "unknown type"},
        {"{'shape': 'Sphere', 'radius': 1, 'material': 'ice'}", "/material",
         "no \"ice\" in materials"},
        {"{'shape': 'Sphere', 'radius': 1, 'material': 7}", "/material", "a name or an object"},
        {"{'shape': 'Sphere', 'radius': 1, 'material': {'friction': -1}}", "/material/friction",
         "at least 0"},
        {"{'shape': 'Sphere', 'radius': 1, 'material': {'restitution': 1.5}}",
         "/material/restitution", "at most 1"},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char path[64];

        snprintf(path, sizeof path, "/objects/0/geometry/0%s", cases[i].field);
        CU_ASSERT(refused(cases[i].geometry, path, cases[i].words));
    }
    CU_ASSERT(refused("{'shape': 'Sphere', 'radius': 1, 'name': 's'},"
                      "{'shape': 'Sphere', 'radius': 1, 'name': 's'}",
                      "/objects/0/geometry/1/name", "already used"));
    CU_ASSERT(model_refused("{'mechd': 1, 'materials': [{'friction': 1}]}", "/materials/0/name",
                            "a name"));
    CU_ASSERT(model_refused("{'mechd': 1, 'materials': [{'name': 'a'}, {'name': 'a'}]}",
                            "/materials/1/name", "already used"));
}

static void integrators_without_contacts_are_refused(void)
{
    CU_ASSERT(refused("{'shape': 'Sphere', 'radius': 1}", "/solver/integrator", "MoreauJean"));
    CU_ASSERT(model_refused("{'mechd': 1, 'contact': {'method': 'soft'}}", "/contact/method",
                            "nonsmooth"));
}

/* --- what the state keeps --------------------------------------------------------------------- */

static const char resting[] =
    "{'mechd': 1, 'nodes': [{'name': 'r', 'type': 'NodeRigidBodyRotVecLG', "
    "'referenceCoordinates': [1, 2, 0.9, 0.4, -0.7, 0.9]}], 'objects': [{'name': 'floor', "
    "'type': 'Ground', 'geometry': [{'shape': 'Plane'}]}, {'name': 'R', 'type': 'RigidBody', "
    "'node': 'r', 'physicsMass': 3, 'physicsInertia': [2, 3, 4, 0.1, 0.2, 0.3], 'geometry': "
    "[{'shape': 'Sphere', 'radius': 1}]}]}";

static const char small[] =
    "{'mechd': 1, 'contact': {'capacity': 5}, 'nodes': [{'name': 'a', 'type': 'NodePoint', "
    "'referenceCoordinates': [0, 0, 1]}], 'objects': [{'name': 'floor', 'type': 'Ground', "
    "'geometry': [{'shape': 'Plane'}]}, {'name': 'A', 'type': 'MassPoint', 'node': 'a', "
    "'physicsMass': 2, 'geometry': [{'shape': 'Sphere', 'radius': 1}]}]}";

static void contacts_of_a_step_are_reported_as_forces(void)
{
    struct compiled c = compiled_of(resting);
    struct mech_contact_list list = {.n = 0};
    const double l[6] = {3., 0.5, -0.25, 0.01, 0.02, 0.03}, h = 0.01;
    const double local[3] = {0.3, -0.2, 0.1}, *const P = l;
    struct mech_touch_rows rows;
    double force[3], torque[3], p[3], R[9];
    size_t count;

    CU_ASSERT_EQUAL(find(&c, c.s.q, c.s.v, 0., &list), 0);
    CU_ASSERT_EQUAL_FATAL(list.n, 1);
    mech_model_touch_rows(c.m, &list.at[0], &rows);
    mech_model_touch_record(&list.at[0], &rows, l, mech_state_touch(&c.s, 1));
    c.s.at->last_step = h;
    CU_ASSERT(mech_model_touch_known(c.m, c.s.touched[0].id));
    CU_ASSERT_FALSE(mech_model_touch_known(c.m, (uint64_t)1 << 44 | (uint64_t)2 << 24));
    CU_ASSERT_FALSE(mech_model_touch_known(c.m, (uint64_t)1 << 44 | (uint64_t)1 << 24));

    /* n = z, t1 = x, t2 = y: the impulse is (0.5, −0.25, 3) at (1, 2, −0.05) */
    struct mech_output_request ask = {MECH_OBJECT, 1, MECH_OUTPUT_CONTACT_FORCE, MECH_CURRENT,
                                      NULL};
    CU_ASSERT_EQUAL(mech_model_item_output(c.m, &c.s, &ask, 3, force, &count), 0);
    CU_ASSERT_EQUAL(count, 3);
    CU_ASSERT_DOUBLE_EQUAL(force[0], P[1] / h, 1e-12);
    CU_ASSERT_DOUBLE_EQUAL(force[1], P[2] / h, 1e-12);
    CU_ASSERT_DOUBLE_EQUAL(force[2], P[0] / h, 1e-12);
    for (int body = 0; body < 2; body++) {
        const double sign = body ? 1. : -1.;

        ask = (struct mech_output_request){MECH_OBJECT, body, MECH_OUTPUT_CONTACT_TORQUE,
                                           MECH_CURRENT, local};
        CU_ASSERT_EQUAL(mech_model_item_output(c.m, &c.s, &ask, 3, torque, &count), 0);
        point_of(&c, c.s.q, body, local, p, R);
        const double arm[3] = {1. - p[0], 2. - p[1], -0.05 - p[2]};
        double wanted[3];
        mech_v3_cross(arm, force, wanted);
        CU_ASSERT_DOUBLE_EQUAL(torque[0], sign * (wanted[0] + l[4] / h), 1e-12);
        CU_ASSERT_DOUBLE_EQUAL(torque[1], sign * (wanted[1] + l[5] / h), 1e-12);
        CU_ASSERT_DOUBLE_EQUAL(torque[2], sign * (wanted[2] + l[3] / h), 1e-12);
    }
    ask.configuration = MECH_REFERENCE;
    CU_ASSERT_EQUAL(mech_model_item_output(c.m, &c.s, &ask, 3, torque, &count), MECH_UNSUPPORTED);
    mech_contact_list_fini(&list);
    release(&c);
}

static void copies_of_a_state_take_its_contacts_alone(void)
{
    struct compiled c = compiled_of(small);
    const struct mech_state_sizes *const n = mech_model_sizes(c.m);
    struct mech_state other = {.block = NULL};

    CU_ASSERT_EQUAL(n->contact, 5);
    mech_state_place(n, calloc(1, mech_state_bytes(n)), &other);
    for (size_t i = 0; i < 4; i++) {
        mech_state_touch(&other, 4)[i] = (struct mech_touched){.id = i + 1, .gap = 1.};
    }
    mech_state_touch(&c.s, 2)[1].gap = 3.;
    mech_state_copy(&c.s, &other);
    CU_ASSERT_EQUAL(memcmp(c.s.block, other.block, c.s.size), 0);
    /* reset and initial states have none */
    mech_model_initial(c.m, &other);
    CU_ASSERT_EQUAL(other.at->touched, 0);
    free(other.block);
    release(&c);
}

UNIT_TESTS(UNIT_TEST(rows_are_rates_of_gaps_and_of_points),
           UNIT_TEST(jointed_bodies_do_not_touch_unless_the_model_says_so),
           UNIT_TEST(contacts_are_found_as_far_as_bodies_move),
           UNIT_TEST(materials_come_by_name_or_in_place),
           UNIT_TEST(shapes_of_the_ground_sit_in_its_frame),
           UNIT_TEST(free_bodies_have_their_own_inverse_mass),
           UNIT_TEST(other_coordinates_are_not_free),
           UNIT_TEST(shapes_that_cannot_be_are_refused_at_their_place),
           UNIT_TEST(integrators_without_contacts_are_refused),
           UNIT_TEST(contacts_of_a_step_are_reported_as_forces),
           UNIT_TEST(copies_of_a_state_take_its_contacts_alone))
