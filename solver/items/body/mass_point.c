/* MassPoint: m v̇ = f at a point in space (Exudyn's ObjectMassPoint). */
#include "solver/items/body/point_mass.h"

static void fit(const void *description, const struct mech_site *site)
{
    (void)description;
    mech_fit_node(site, MECH_NODE_POINT, "NodePoint");
}

static int linear(const void *description, struct mech_terms *terms)
{
    return mech_mass_point_linear(description, 3, terms);
}

static const char *jacobian(const void *description, const double local[3],
                            double J[6][MECH_MARKER_SLOTS], double R[9])
{
    (void)description;
    (void)local;
    mech_mass_point_jacobian(3, J, R);
    return NULL;
}

static void pose(const void *description, const struct mech_seat *seat, const struct mech_eval *e,
                 const double local[3], struct mech_pose *out)
{
    (void)description;
    mech_mass_point_pose(seat, e, 3, local, out);
}

static const struct mech_object_ops ops = {
    MECH_MASS_POINT_OPERATIONS, .fit = fit, .linear = linear, .pose = pose, .jacobian = jacobian,
};

const struct mech_item_type mech_item_body_mass_point = {
    .name = "MassPoint",
    .category = MECH_OBJECT,
    .table = {.name = "MassPoint",
              .doc = "A point mass in space.",
              .size = sizeof(struct mech_mass_point),
              .fields = mech_mass_point_fields,
              .count = MECH_MASS_POINT_FIELDS},
    .ops.object = &ops,
};
