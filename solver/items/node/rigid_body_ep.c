/* NodeRigidBodyEP: a frame in space, its rotation by Euler parameters (Exudyn's NodeRigidBodyEP).
 *
 *     q = [x y z e₀ e₁ e₂ e₃], total = reference + displacement, |e| = 1
 *     v = [ẋ ẏ ż Ω₁ Ω₂ Ω₃], Ω the body-fixed angular velocity
 *     ė = ½ e ∘ (0, Ω),   q ⊕ d: x + d, e ∘ (cos ½|θ|, sin(½|θ|) θ/|θ|)
 *
 * Initial velocities are given as [ẋ ẏ ż ė₀ ė₁ ė₂ ė₃], from which Ω = 2 (e₀ ε̇ − ė₀ ε − ε × ε̇). */
#include "solver/items/ops.h"
#include "solver/linalg/so3.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

struct node_rigid_body_ep {
    double reference[7], displacement[7], velocity[7];
};

static const double at_rest[7] = {0., 0., 0., 1., 0., 0., 0.};

static int32_t size(const void *description)
{
    (void)description;
    return 6;
}

static int32_t coordinates(const void *description)
{
    (void)description;
    return 7;
}

static void check(const void *description, const char *path, struct mech_diag *d)
{
    const struct node_rigid_body_ep *n = description;
    double sum[2] = {0., 0.};

    for (int i = 3; i < 7; i++) {
        const double e = n->reference[i] + n->displacement[i];

        sum[0] += n->reference[i] * n->reference[i];
        sum[1] += e * e;
    }
    for (int k = 0; k < 2; k++) {
        if (!(fabs(sum[k] - 1.) <= 1e-3)) {
            char place[2 * MECH_DIAG_PATH];

            snprintf(place, sizeof place, "%s/%s", path,
                     k ? "initialCoordinates" : "referenceCoordinates");
            mech_diag_add(d, place, "Euler parameters of length %.6g, not 1", sqrt(sum[k]));
        }
    }
}

static void start(const void *description, double *reference, double *displacement,
                  double *velocity)
{
    const struct node_rigid_body_ep *n = description;
    const double *const rate = n->velocity + 4;
    double e[4], cross[3];

    memcpy(reference, n->reference, sizeof n->reference);
    memcpy(displacement, n->displacement, sizeof n->displacement);
    memcpy(velocity, n->velocity, 3 * sizeof *velocity);
    for (int i = 0; i < 4; i++) {
        e[i] = n->reference[3 + i] + n->displacement[3 + i];
    }
    mech_v3_cross(e + 1, rate, cross);
    for (int i = 0; i < 3; i++) {
        velocity[3 + i] = 2. * (e[0] * rate[i] - n->velocity[3] * e[1 + i] - cross[i]);
    }
}

static void rate(const double *q, const double *v, double *qdot)
{
    const double *const e = q + 3, *const omega = v + 3;
    double cross[3];

    memcpy(qdot, v, 3 * sizeof *qdot);
    mech_v3_cross(e + 1, omega, cross);
    qdot[3] = -0.5 * mech_v3_dot(e + 1, omega);
    for (int i = 0; i < 3; i++) {
        qdot[4 + i] = 0.5 * (e[0] * omega[i] + cross[i]);
    }
}

/* Bring Euler parameters whose square is beyond the range of doubles into it; others keep their
 * bits. Zeros stay. */
static void scale(double e[4])
{
    double most = 0.;

    for (int i = 0; i < 4; i++) {
        most = fmax(most, fabs(e[i]));
    }
    if (most > 1e150 || (most > 0. && most < 1e-150)) {
        for (int i = 0; i < 4; i++) {
            e[i] /= most;
        }
    }
}

static void move(const double *q, const double *d, double *out)
{
    double turn[4], e[4], length = 0.;

    mech_so3_parameters(d + 3, turn);
    mech_so3_compose(q + 3, turn, e);
    scale(e);
    for (int i = 0; i < 3; i++) {
        out[i] = q[i] + d[i];
    }
    for (int i = 0; i < 4; i++) {
        length += e[i] * e[i];
    }
    /* of a length that is 1 to rounding by its series */
    const double off = length - 1.;
    const double inverse = fabs(off) < 1e-8 ? 1. - 0.5 * off : 1. / sqrt(length);
    for (int i = 0; i < 4; i++) {
        out[3 + i] = e[i] * inverse;
    }
}

static const struct mech_field fields[] = {
    {.name = "initialCoordinates",
     .kind = MECH_REALS,
     .offset = offsetof(struct node_rigid_body_ep, displacement),
     .count = 7,
     .unit = "m and -",
     MECH_ANY_REAL,
     .doc = "initial displacements of position and Euler parameters from the reference"},
    {.name = "initialVelocities",
     .kind = MECH_REALS,
     .offset = offsetof(struct node_rigid_body_ep, velocity),
     .count = 7,
     .unit = "m/s and 1/s",
     MECH_ANY_REAL,
     .doc = "initial rates of position and Euler parameters"},
    {.name = "referenceCoordinates",
     .kind = MECH_REALS,
     .offset = offsetof(struct node_rigid_body_ep, reference),
     .count = 7,
     .unit = "m and -",
     .presets = at_rest,
     MECH_ANY_REAL,
     .doc = "reference position and Euler parameters"},
};

static const struct mech_node_ops ops = {
    .kind = MECH_NODE_RIGID,
    .size = size,
    .coordinates = coordinates,
    .rate = rate,
    .move = move,
    .transport = mech_rigid_transport,
    .start = start,
    .pose = mech_rigid_node_pose,
    .outputs = MECH_COORDINATE_OUTPUTS | MECH_RIGID_OUTPUTS,
};

const struct mech_item_type mech_item_node_rigid_body_ep = {
    .name = "NodeRigidBodyEP",
    .category = MECH_NODE,
    .table = {.name = "NodeRigidBodyEP",
              .doc = "A frame in space, its rotation by Euler parameters.",
              .size = sizeof(struct node_rigid_body_ep),
              MECH_FIELDS(fields)},
    .check = check,
    .ops.node = &ops,
};
