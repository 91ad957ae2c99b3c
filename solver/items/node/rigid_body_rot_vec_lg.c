/* NodeRigidBodyRotVecLG: a frame in space, its rotation by a rotation vector that is moved on the
 * group of rotations (Exudyn's NodeRigidBodyRotVecLG; O. Brüls, A. Cardona, M. Arnold, Mech. Mach.
 * Theory 48 (2012)).
 *
 *     q = [x y z ρ₁ ρ₂ ρ₃], total = reference + displacement, R = exp(ρ×)
 *     v = [ẋ ẏ ż Ω₁ Ω₂ Ω₃], Ω the body-fixed angular velocity
 *     ρ̇ = Ω + ½ ρ × Ω + (1 − ½ a cot ½ a)/a² ρ × (ρ × Ω),   a = |ρ|
 *     q ⊕ d: x + d, log(exp(ρ×) exp(θ×)) of length π at most
 *
 * The rates are singular at a = 2π, which moved coordinates never reach. */
#include "solver/items/ops.h"
#include "solver/linalg/so3.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

struct node_rigid_body_rot_vec_lg {
    double reference[6], displacement[6], velocity[6];
};

static int32_t size(const void *description)
{
    (void)description;
    return 6;
}

static void start(const void *description, double *reference, double *displacement,
                  double *velocity)
{
    const struct node_rigid_body_rot_vec_lg *n = description;

    memcpy(reference, n->reference, sizeof n->reference);
    memcpy(displacement, n->displacement, sizeof n->displacement);
    memcpy(velocity, n->velocity, sizeof n->velocity);
}

static void rate(const double *q, const double *v, double *qdot)
{
    const double *const rho = q + 3, *const omega = v + 3;
    const double a = mech_v3_norm(rho), square = a * a;
    /* near 0: 1/12 + a²/720, the next term is under 1e-12 */
    const double c = a > 1e-2 ? (1. - 0.5 * a / tan(0.5 * a)) / square : 1. / 12. + square / 720.;
    double once[3], twice[3];

    memcpy(qdot, v, 3 * sizeof *qdot);
    mech_v3_cross(rho, omega, once);
    mech_v3_cross(rho, once, twice);
    for (int i = 0; i < 3; i++) {
        qdot[3 + i] = omega[i] + 0.5 * once[i] + c * twice[i];
    }
}

static void move(const double *q, const double *d, double *out)
{
    double e[4], turn[4], moved[4];

    mech_so3_parameters(q + 3, e);
    mech_so3_parameters(d + 3, turn);
    mech_so3_compose(e, turn, moved);
    for (int i = 0; i < 3; i++) {
        out[i] = q[i] + d[i];
    }
    mech_so3_vector(moved, out + 3);
}

static const struct mech_field fields[] = {
    {.name = "initialCoordinates",
     .kind = MECH_REALS,
     .offset = offsetof(struct node_rigid_body_rot_vec_lg, displacement),
     .count = 6,
     .unit = "m and rad",
     MECH_ANY_REAL,
     .doc = "initial displacements of position and rotation vector, added to the reference"},
    {.name = "initialVelocities",
     .kind = MECH_REALS,
     .offset = offsetof(struct node_rigid_body_rot_vec_lg, velocity),
     .count = 6,
     .unit = "m/s and rad/s",
     MECH_ANY_REAL,
     .doc = "initial global velocity and body-fixed angular velocity"},
    {.name = "referenceCoordinates",
     .kind = MECH_REALS,
     .offset = offsetof(struct node_rigid_body_rot_vec_lg, reference),
     .count = 6,
     .unit = "m and rad",
     MECH_ANY_REAL,
     .doc = "reference position and rotation vector"},
};

static const struct mech_node_ops ops = {
    .kind = MECH_NODE_RIGID,
    .size = size,
    .coordinates = size,
    .rate = rate,
    .move = move,
    .transport = mech_rigid_transport,
    .start = start,
    .pose = mech_rigid_node_pose,
    .outputs = MECH_COORDINATE_OUTPUTS | MECH_RIGID_OUTPUTS,
};

const struct mech_item_type mech_item_node_rigid_body_rot_vec_lg = {
    .name = "NodeRigidBodyRotVecLG",
    .category = MECH_NODE,
    .table = {.name = "NodeRigidBodyRotVecLG",
              .doc = "A frame in space, its rotation by a rotation vector.",
              .size = sizeof(struct node_rigid_body_rot_vec_lg),
              MECH_FIELDS(fields)},
    .ops.node = &ops,
};
