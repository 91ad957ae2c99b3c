/* FlexibleBodyModal: a deformable body in a floating frame of reference, its points moved by given
 * modes (Exudyn's ObjectFFRFreducedOrder). Its equations are in modal_record.c; mass, inertia at
 * a = 0, ΨᵀMΨ, ΨᵀKΨ and ΨᵀDΨ are folded into M, K and C.
 *
 * A point of the mesh moves with the modes, every other local position is fixed in the frame. */
#include "solver/base/err.h"
#include "solver/base/text.h"
#include "solver/items/body/body.h"
#include "solver/items/body/modal_record.h"
#include "solver/linalg/mat_walk.h"
#include "solver/linalg/v3.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Stored masses times the square of the modes: some seconds of summing up. */
static const double most_products = 2e9;

struct flexible_body_modal {
    struct mech_refs nodes;
    struct mech_modal_shape shape;
    struct mech_mat stiffness, damping;
    struct mech_visualization visualization;
};

static void fault(struct mech_diag *d, const char *path, const char *field, const char *text)
{
    char place[2 * MECH_DIAG_PATH];

    snprintf(place, sizeof place, "%s/%s", path, field);
    mech_diag_add(d, place, "%s", text);
}

/* blocks m_ij times the unit matrix, as a rotating frame requires */
static bool is_scalar(const struct mech_mat *mass)
{
    struct mech_mat_walk w = {.a = mass};

    while (mech_mat_next(&w)) {
        const int32_t row = w.row - w.row % 3, col = w.col - w.col % 3;
        const double whole = mech_mat_get(mass, row, col);
        const double wanted = w.row % 3 == w.col % 3 ? whole : 0.;

        if (!(fabs(w.value - wanted) <= 1e-9 * fabs(mech_mat_get(mass, row, row)))) {
            return false;
        }
    }
    return true;
}

static void check(const void *description, const char *path, struct mech_diag *d)
{
    const struct flexible_body_modal *const b = description;
    const int32_t n = 3 * b->shape.positions.rows, m = b->shape.modes.cols;
    const struct mech_mat *const square[] = {&b->shape.mass, &b->stiffness, &b->damping};
    static const char *const names[] = {"massMatrix", "stiffnessMatrix", "dampingMatrix"};
    char text[96];

    if (b->shape.positions.cols != 3 || n < 3) {
        fault(d, path, "referencePositions", "needs rows of 3 numbers");
        return;
    }
    if (b->shape.modes.rows != n || m < 1 || m > MECH_MODAL_MOST) {
        mech_text_format(text, sizeof text,
                         "for %d positions needs %d rows and from 1 to %d columns",
                         (int)b->shape.positions.rows, (int)n, (int)MECH_MODAL_MOST);
        fault(d, path, "modes", text);
        return;
    }
    for (int i = 0; i < 3; i++) {
        if ((i == 0 || square[i]->kind != MECH_MAT_ZERO) &&
            (square[i]->rows != n || square[i]->cols != n)) {
            mech_text_format(text, sizeof text, "for %d positions needs %d rows and columns",
                             (int)b->shape.positions.rows, (int)n);
            fault(d, path, names[i], text);
            return;
        }
    }
    if ((double)mech_mat_stored(&b->shape.mass) * (m + 1.) * (m + 1.) > most_products) {
        fault(d, path, "massMatrix", "has too many entries for so many modes");
        return;
    }
    for (int i = 1; i < 3; i++) {
        if (square[i]->kind != MECH_MAT_ZERO && !square[i]->symmetric) {
            fault(d, path, names[i], "needs to be symmetric");
        }
    }
    if (!b->shape.mass.symmetric || !is_scalar(&b->shape.mass)) {
        fault(d, path, "massMatrix", "needs symmetric blocks of a mass times the unit matrix");
    }
}

static void nodes(const void *description, struct mech_attachment *out)
{
    const struct flexible_body_modal *const b = description;

    *out = (struct mech_attachment){
        .refs = b->nodes.refs, .n = b->nodes.n, .field = "nodes", .list = true};
}

static void fit(const void *description, const struct mech_site *site)
{
    const struct flexible_body_modal *const b = description;
    const bool rigid = site->first_kind == MECH_NODE_RIGID && site->kind == MECH_NODE_GENERIC;

    if (!rigid || b->nodes.n != 2 || site->first_order || site->n != 6 + b->shape.modes.cols) {
        fault(site->diag, site->path, "nodes",
              "needs a NodeRigidBodyEP or NodeRigidBodyRotVecLG and a NodeGenericODE2 with a "
              "coordinate for each mode");
    }
}

/* out [m × m] = Ψᵀ A Ψ */
static void reduce(const struct mech_mat *modes, const struct mech_mat *A, double *out)
{
    const int32_t m = modes->cols;
    struct mech_mat_walk w = {.a = A};

    memset(out, 0, (size_t)(m * m) * sizeof *out);
    while (A->kind != MECH_MAT_ZERO && mech_mat_next(&w)) {
        for (int32_t k = 0; k < m && w.value != 0.; k++) {
            const double left = w.value * mech_mat_get(modes, w.row, k);

            for (int32_t l = 0; l < m && left != 0.; l++) {
                out[k * m + l] += left * mech_mat_get(modes, w.col, l);
            }
        }
    }
}

/* The largest asymmetry of what is symmetric is rounding: both halves get their mean. */
static int add_reduced(struct mech_terms *terms, enum mech_term which, const double *A, int32_t m,
                       bool symmetric)
{
    for (int32_t k = 0; k < m * m; k++) {
        const double other = A[(k % m) * m + k / m];

        MECH_TRY(mech_terms_add(terms, which, 6 + k / m, 6 + k % m,
                                symmetric ? 0.5 * (A[k] + other) : A[k]));
    }
    return 0;
}

static int linear(const void *description, struct mech_terms *terms)
{
    const struct flexible_body_modal *const b = description;
    const struct mech_mat *const full[] = {&b->shape.mass, &b->damping, &b->stiffness};
    static const enum mech_term term[] = {MECH_TERM_M, MECH_TERM_C, MECH_TERM_K};
    const int32_t m = b->shape.modes.cols;
    double *const A = calloc((size_t)m * (size_t)m, sizeof *A);
    struct mech_arena arena;
    struct mech_modal modal;
    double J[9];

    mech_arena_init(&arena, 0);
    int code = A ? mech_modal_init(&modal, &arena, &b->shape) : MECH_NO_MEMORY;
    if (code == 0) {
        mech_modal_inertia(modal.D, J);
    }
    for (int32_t i = 0; i < 12 && code == 0; i++) {
        code = i < 3 ? mech_terms_add(terms, MECH_TERM_M, i, i, modal.mass)
                     : mech_terms_add(terms, MECH_TERM_M, i / 3 + 2, i % 3 + 3, J[i - 3]);
    }
    for (int i = 0; i < 3 && code == 0; i++) {
        if (full[i]->kind != MECH_MAT_ZERO) {
            reduce(&b->shape.modes, full[i], A);
            code = add_reduced(terms, term[i], A, m, full[i]->symmetric);
        }
    }
    mech_arena_fini(&arena);
    free(A);
    return code;
}

static bool inertia(const void *description)
{
    (void)description;
    return true;
}

static int record(const void *description, const struct mech_site *site, void *out)
{
    const struct flexible_body_modal *const b = description;
    const size_t m = (size_t)b->shape.modes.cols;
    struct mech_modal_record *const r = out;
    double *const memory = mech_arena_alloc(site->arena, 30 * (m + 1), sizeof *memory);

    *r = (struct mech_modal_record){
        .slot = site->slot, .q_slot = site->q_slot, .n = site->n, .nq = site->nq};
    MECH_TRY(mech_modal_init(&r->modal, site->arena, &b->shape));
    if (!memory) {
        return MECH_NO_MEMORY;
    }
    r->at.U = memory;
    r->at.V = r->at.U + 9 * (m + 1);
    r->at.W = r->at.V + 9 * (m + 1);
    r->at.b = r->at.W + 9 * (m + 1);
    r->at.ad = r->at.b + m + 1;
    r->at.add = r->at.ad + m;
    mech_modal_inertia(r->modal.D, r->J);
    return 1;
}

/* A point at u = x + Σ psi_k a_k in the frame. */
static void place_point(const struct mech_seat *seat, const struct mech_eval *e, double psi[][3],
                        struct mech_pose *out)
{
    const int32_t n = seat->n;
    double *const J = out->flex->J, *const slope = out->flex->slope;
    double u[3], twist[6] = {0.}, axis[MECH_FLEX_SLOTS][3];

    mech_rigid_rotation(seat->q_slot, seat->nq == n, e->q, out->R);
    memcpy(u, psi[0], sizeof u);
    for (int32_t k = 6; k < n; k++) {
        const int32_t q = seat->q_slot[seat->nq - n + k];

        mech_v3_add(u, e->q[q] - e->q_ref[q], psi[k - 5], u);
    }
    mech_m3_mul(out->R, u, out->arm);

    /* columns: axes of the velocity, then a × arm, then R psi */
    for (int32_t i = 0; i < n; i++) {
        double column[3] = {i == 0, i == 1, i == 2};

        for (int r = 0; r < 3 && i < 6; r++) {
            axis[i][r] = i < 3 ? 0. : out->R[3 * r + i - 3];
        }
        if (i >= 6) {
            mech_m3_mul(out->R, psi[i - 5], column);
            memcpy(axis[i], column, sizeof column);
        } else if (i >= 3) {
            mech_v3_cross(axis[i], out->arm, column);
        }
        for (int r = 0; r < 3; r++) {
            J[r * n + i] = column[r];
            J[(3 + r) * n + i] = i < 6 ? axis[i][r] : 0.;
            twist[r] += column[r] * e->v[seat->slot[i]];
            twist[3 + r] += J[(3 + r) * n + i] * e->v[seat->slot[i]];
        }
        /* turned about axis j: the whole column; moved by mode j: its arm */
        for (int32_t j = 3; j < n && i >= 3; j++) {
            double turned[3] = {0.}, swung[3] = {0.}, *const by = axis[j];

            if (j < 6) {
                const double a[3] = {out->R[j - 3], out->R[j], out->R[3 + j]};

                mech_v3_cross(a, column, turned);
                mech_v3_cross(a, axis[i], swung);
            } else if (i < 6) {
                mech_m3_mul(out->R, psi[j - 5], by);
                mech_v3_cross(axis[i], by, turned);
            }
            for (int r = 0; r < 3; r++) {
                slope[(r * n + i) * n + j] = turned[r];
                slope[((3 + r) * n + i) * n + j] = i < 6 ? swung[r] : 0.;
            }
        }
    }
    for (int r = 0; r < 3; r++) {
        out->p[r] = e->q[seat->q_slot[r]] + out->arm[r];
        out->v[r] = twist[r];
        out->omega[r] = twist[3 + r];
    }
}

static void pose(const void *description, const struct mech_seat *seat, const struct mech_eval *e,
                 const double local[3], struct mech_pose *out)
{
    const struct flexible_body_modal *const b = description;
    const int32_t at = mech_modal_find(&b->shape, local);
    double psi[MECH_MODAL_MOST + 1][3] = {{0.}};

    for (int32_t k = 1; k <= b->shape.modes.cols && at >= 0; k++) {
        mech_modal_column(&b->shape, at, k, psi[k]);
    }
    memcpy(psi[0], local, sizeof psi[0]);
    place_point(seat, e, psi, out);
}

static double mass_of(const void *description, double center[3])
{
    const struct flexible_body_modal *const b = description;
    double s[MECH_MODAL_MOST + 1][3];
    const double mass = mech_modal_moments(&b->shape, 1, s);

    for (int r = 0; r < 3; r++) {
        center[r] = s[0][r] / mass;
    }
    return mass;
}

static void centre(const void *description, const struct mech_seat *seat, const struct mech_eval *e,
                   struct mech_pose *out)
{
    const struct flexible_body_modal *const b = description;
    double s[MECH_MODAL_MOST + 1][3];
    const double mass = mech_modal_moments(&b->shape, b->shape.modes.cols + 1, s);

    for (int32_t k = 0; k <= b->shape.modes.cols; k++) {
        for (int r = 0; r < 3; r++) {
            s[k][r] /= mass;
        }
    }
    place_point(seat, e, s, out);
}

static const struct mech_field fields[] = {
    {.name = "dampingMatrix",
     .kind = MECH_MATRIX,
     .offset = offsetof(struct flexible_body_modal, damping),
     .unit = "N s/m",
     MECH_ANY_REAL,
     .doc = "damping matrix of all points' displacements; default: none"},
    {.name = "massMatrix",
     .kind = MECH_MATRIX,
     .offset = offsetof(struct flexible_body_modal, shape.mass),
     .flags = MECH_REQUIRED,
     .unit = "kg",
     MECH_ANY_REAL,
     .doc = "mass matrix of all points' displacements x, y, z, lumped or consistent: blocks m_ij "
            "times the unit matrix"},
    {.name = "modes",
     .kind = MECH_MATRIX,
     .offset = offsetof(struct flexible_body_modal, shape.modes),
     .flags = MECH_REQUIRED,
     .unit = "",
     MECH_ANY_REAL,
     .doc = "a column of all points' displacements for each modal coordinate; no rigid motions"},
    {.name = "nodes",
     .kind = MECH_REFS,
     .offset = offsetof(struct flexible_body_modal, nodes),
     .flags = MECH_REQUIRED,
     .target = MECH_NODE,
     .doc = "the floating frame, a NodeRigidBodyEP or NodeRigidBodyRotVecLG, and a NodeGenericODE2 "
            "with the modal coordinates"},
    {.name = "referencePositions",
     .kind = MECH_MATRIX,
     .offset = offsetof(struct flexible_body_modal, shape.positions),
     .flags = MECH_REQUIRED,
     .unit = "m",
     MECH_ANY_REAL,
     .doc = "a row with the position of each point in the frame; other local positions do "
            "not move with the modes"},
    {.name = "stiffnessMatrix",
     .kind = MECH_MATRIX,
     .offset = offsetof(struct flexible_body_modal, stiffness),
     .flags = MECH_REQUIRED,
     .unit = "N/m",
     MECH_ANY_REAL,
     .doc = "stiffness matrix of all points' displacements"},
    MECH_VISUALIZATION_FIELD(flexible_body_modal, visualization),
};

static const struct mech_object_ops ops = {
    .body = true,
    .flexible = true,
    .nodes = nodes,
    .fit = fit,
    .linear = linear,
    .record_size = sizeof(struct mech_modal_record),
    .record = record,
    .inertia = inertia,
    .force = mech_modal_force,
    .tangent = mech_modal_tangent,
    .energy = mech_modal_energy,
    .pose = pose,
    .mass = mass_of,
    .centre = centre,
    .outputs = MECH_RIGID_OUTPUTS,
    .output = mech_pose_output,
    .visualization = offsetof(struct flexible_body_modal, visualization),
};

const struct mech_item_type mech_item_body_flexible_modal = {
    .name = "FlexibleBodyModal",
    .category = MECH_OBJECT,
    .table = {.name = "FlexibleBodyModal",
              .doc = "A deformable body in a floating frame, its points moved by given modes.",
              .size = sizeof(struct flexible_body_modal),
              MECH_FIELDS(fields)},
    .check = check,
    .ops.object = &ops,
};
