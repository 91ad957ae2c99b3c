/* Point masses; see mass_point.h. */
#include "solver/items/body/point_mass.h"

#include "solver/base/err.h"
#include "solver/linalg/v3.h"

void mech_mass_point_nodes(const void *description, struct mech_attachment *out)
{
    const struct mech_mass_point *b = description;

    *out = (struct mech_attachment){.refs = &b->node, .n = 1, .field = "node"};
}

double mech_mass_point_mass(const void *description, double center[3])
{
    center[0] = center[1] = center[2] = 0.;
    return ((const struct mech_mass_point *)description)->mass;
}

int mech_mass_point_linear(const void *description, int32_t n, struct mech_terms *terms)
{
    for (int32_t i = 0; i < n; i++) {
        MECH_TRY(mech_terms_add(terms, MECH_TERM_M, i, i,
                                ((const struct mech_mass_point *)description)->mass));
    }
    return 0;
}

void mech_mass_point_jacobian(int32_t n, double J[6][MECH_MARKER_SLOTS], double R[9])
{
    for (int32_t i = 0; i < n; i++) {
        J[i][i] = 1.;
    }
    for (int i = 0; i < 9; i++) {
        R[i] = mech_identity3[i];
    }
}

void mech_mass_point_pose(const struct mech_seat *seat, const struct mech_eval *e, int32_t n,
                          const double local[3], struct mech_pose *out)
{
    mech_point_pose(seat, e, n, out);
    mech_v3_add(out->p, 1., local, out->p);
}

const struct mech_field mech_mass_point_fields[] = {
    MECH_GEOMETRY_FIELD(mech_mass_point, geometry),
    {.name = "node",
     .kind = MECH_REF,
     .offset = offsetof(struct mech_mass_point, node),
     .flags = MECH_REQUIRED,
     .target = MECH_NODE,
     .doc = "the point"},
    {.name = "physicsMass",
     .kind = MECH_REAL,
     .offset = offsetof(struct mech_mass_point, mass),
     .flags = MECH_REQUIRED | MECH_ABOVE_MIN | MECH_TUNABLE,
     .unit = "kg",
     MECH_NOT_NEGATIVE,
     .doc = "mass of the body"},
    MECH_VISUALIZATION_FIELD(mech_mass_point, visualization),
};
