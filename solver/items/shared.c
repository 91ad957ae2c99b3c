/* What several item types share: frames, motions, coordinate outputs, size checks. */
#include "solver/base/err.h"
#include "solver/items/body/body.h"
#include "solver/items/marker/body.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

const double mech_identity3[9] = {1., 0., 0., 0., 1., 0., 0., 0., 1.};

void mech_rotate(const double R[9], const double x[3], double y[3])
{
    for (int i = 0; i < 3; i++) {
        y[i] = R[3 * i] * x[0] + R[3 * i + 1] * x[1] + R[3 * i + 2] * x[2];
    }
}

void mech_frame_check(const struct mech_frame *frame, const char *path, struct mech_diag *d)
{
    const double *R = frame->rotation;
    double worst = 0.;

    /* RᵀR = 1 */
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            const double dot = R[i] * R[j] + R[3 + i] * R[3 + j] + R[6 + i] * R[6 + j];

            worst = fmax(worst, fabs(dot - (i == j ? 1. : 0.)));
        }
    }
    const double det = R[0] * (R[4] * R[8] - R[5] * R[7]) - R[1] * (R[3] * R[8] - R[5] * R[6]) +
                       R[2] * (R[3] * R[7] - R[4] * R[6]);
    if (!(worst <= 1e-6) || det < 0.) {
        char place[2 * MECH_DIAG_PATH];

        snprintf(place, sizeof place, "%s/referenceRotation", path);
        mech_diag_add(d, place, "is not a rotation matrix (orthonormal, determinant 1)");
    }
}

/* --- checks against the site ------------------------------------------------------------------ */

void mech_fit_one_coordinate(const struct mech_site *site)
{
    if (site->first_order || site->n != 1) {
        char place[2 * MECH_DIAG_PATH];

        snprintf(place, sizeof place, "%s/node", site->path);
        mech_diag_add(site->diag, place, "needs a node with one second-order coordinate");
    }
}

void mech_fit_square(const struct mech_site *site, const char *field, const struct mech_mat *a)
{
    const bool given = a->rows != 0 || a->cols != 0;

    if (given && (a->rows != site->n || a->cols != site->n)) {
        char place[2 * MECH_DIAG_PATH];

        snprintf(place, sizeof place, "%s/%s", site->path, field);
        mech_diag_add(site->diag, place, "is %d x %d, there are %d coordinates", (int)a->rows,
                      (int)a->cols, (int)site->n);
    }
}

void mech_fit_length(const struct mech_site *site, const char *field, size_t n)
{
    if (n != 0 && n != (size_t)site->n) {
        char place[2 * MECH_DIAG_PATH];

        snprintf(place, sizeof place, "%s/%s", site->path, field);
        mech_diag_add(site->diag, place, "has %zu numbers, there are %d coordinates", n,
                      (int)site->n);
    }
}

const char *mech_marker_body_map(const struct mech_seat *seat, const double local[3],
                                 struct mech_marker_map *out, const char **field)
{
    const struct mech_object_ops *ops = seat->item->type->ops.object;

    *field = "object";
    if (!ops->pose) {
        return "needs a body";
    }
    if (seat->n > (ops->flexible ? MECH_FLEX_SLOTS : MECH_MARKER_SLOTS)) {
        return "the body has too many coordinates";
    }
    const double length = ops->line ? ops->line(seat->item->description) : HUGE_VAL;
    if (ops->line && !(local[0] >= 0. && local[0] <= length * (1. + 1e-9))) {
        *field = "localPosition";
        return "is beyond the ends of the body";
    }
    out->n = seat->n;
    if (ops->flexible) {
        out->moving = out->flexible = true;
        memcpy(out->R, mech_identity3, sizeof out->R);
        return NULL;
    }
    for (int32_t i = 0; i < seat->n; i++) {
        out->slot[i] = seat->slot[i];
    }
    if (!ops->jacobian) {
        out->moving = true;
        memcpy(out->R, mech_identity3, sizeof out->R);
        return NULL;
    }
    const char *reason = ops->jacobian(seat->item->description, local, out->J, out->R);
    if (reason) {
        *field = "localPosition";
    }
    return reason;
}

void mech_marker_body_pose(const struct mech_seat *seat, const struct mech_eval *e,
                           const double local[3], struct mech_pose *out)
{
    const struct mech_item *const item = seat->item;

    item->type->ops.object->pose(item->description, seat, e, local, out);
}

void mech_centre_pose(const struct mech_seat *seat, const struct mech_eval *e,
                      struct mech_pose *out)
{
    const struct mech_object_ops *const ops = seat->item->type->ops.object;
    double center[3];

    if (ops->centre) {
        ops->centre(seat->item->description, seat, e, out);
        return;
    }
    (void)ops->mass(seat->item->description, center);
    ops->pose(seat->item->description, seat, e, center, out);
}

/* --- outputs ---------------------------------------------------------------------------------- */

uint32_t mech_item_type_outputs(const struct mech_item_type *type)
{
    static const uint32_t by_kind[] = {
        [MECH_MARKER_COORDINATE] = MECH_COORDINATE_OUTPUTS & ~(1u << MECH_OUTPUT_COORDINATES_TOTAL),
        [MECH_MARKER_POSITION] = MECH_POINT_OUTPUTS,
        [MECH_MARKER_RIGID] = MECH_RIGID_OUTPUTS,
        [MECH_MARKER_MASS] = MECH_POINT_OUTPUTS,
        [MECH_MARKER_COORDINATES] = MECH_COORDINATE_OUTPUTS,
    };

    return type->category == MECH_NODE ? type->ops.node->outputs
           : type->category == MECH_OBJECT
               ? type->ops.object->outputs | (type->ops.object->geometry ? MECH_CONTACT_OUTPUTS : 0)
           : type->category == MECH_LOAD   ? mech_output_bit(type->ops.load->variable)
           : type->category == MECH_MARKER ? by_kind[type->ops.marker->kind]
                                           : 0;
}

int mech_coordinate_output(const struct mech_view *view, enum mech_output variable, size_t capacity,
                           double *values, size_t *count)
{
    const bool reference = view->configuration == MECH_REFERENCE;
    const double *from = NULL;

    const bool positions =
        variable == MECH_OUTPUT_COORDINATES || variable == MECH_OUTPUT_COORDINATES_TOTAL;

    if (positions) {
        from = view->at.q;
    } else if (variable == MECH_OUTPUT_COORDINATES_T) {
        from = view->at.v;
    } else if (variable == MECH_OUTPUT_COORDINATES_TT) {
        from = view->vdot;
    }
    if (!from) {
        return MECH_UNSUPPORTED;
    }
    const bool shift = variable == MECH_OUTPUT_COORDINATES && !reference;

    *count = (size_t)(positions ? view->nq : view->n);
    for (size_t i = 0; i < *count && i < capacity; i++) {
        const int32_t s = positions ? view->q_slot[i] : view->slot[i];

        values[i] = shift ? from[s] - view->at.q_ref[s] : from[s];
    }
    return 0;
}

/* Tait–Bryan angles of R = Rx(φ0) Ry(φ1) Rz(φ2); at |φ1| = π/2, where it is free, φ2 = 0. */
static void angles_xyz(const double R[9], double phi[3])
{
    const double s = fmax(-1., fmin(1., R[2])), c = hypot(R[0], R[1]);

    phi[1] = atan2(s, c);
    if (c > 1e-12) {
        phi[0] = atan2(-R[5], R[8]);
        phi[2] = atan2(-R[1], R[0]);
    } else {
        phi[0] = atan2(R[7], R[4]);
        phi[2] = 0.;
    }
}

int mech_motion_output(const struct mech_motion *motion, enum mech_output variable, size_t capacity,
                       double *values, size_t *count)
{
    const double *from = NULL;
    double angles[3];

    *count = 3;
    switch (variable) {
    case MECH_OUTPUT_POSITION:
        from = motion->position;
        break;
    case MECH_OUTPUT_DISPLACEMENT:
        from = motion->displacement;
        break;
    case MECH_OUTPUT_VELOCITY:
        from = motion->velocity;
        break;
    case MECH_OUTPUT_ANGULAR_VELOCITY:
        from = motion->omega;
        break;
    case MECH_OUTPUT_ANGULAR_VELOCITY_LOCAL:
        from = motion->omega_local;
        break;
    case MECH_OUTPUT_ROTATION_MATRIX:
        from = motion->rotation;
        *count = 9;
        break;
    case MECH_OUTPUT_ROTATION:
        angles_xyz(motion->rotation, angles);
        from = angles;
        break;
    default:
        *count = 0;
        return MECH_UNSUPPORTED;
    }
    for (size_t i = 0; i < *count && i < capacity; i++) {
        values[i] = from[i];
    }
    return 0;
}
