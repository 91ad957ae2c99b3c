/* The rows of joints between frames; see rows.h. With a, b, d global, u = ḋ:
 *
 *     SLIDE on marker s   ġ = a·u + ω_s·(a × d)       g̈: 2 u·(ω_s × a) + d·(ω_s × (ω_s × a))
 *     DOT                 ġ = ω₀·(a × b) + ω₁·(b × a)
 *                         g̈: 2 (ω₀ × a)·(ω₁ × b) + (ω₀ × (ω₀ × a))·b + a·(ω₁ × (ω₁ × b)) */
#include "solver/items/joint/rows.h"

#include "solver/items/body/body.h"
#include "solver/linalg/so3.h"

#include <stddef.h>
#include <stdio.h>

/* Global axes of a row. */
static inline void axes_of(const struct mech_joint_row *row, const struct mech_pose *const pose[2],
                           double a[3], double b[3])
{
    if (row->dot) {
        mech_m3_mul(pose[0]->R, row->a, a);
        mech_m3_mul(pose[1]->R, row->b, b);
    } else {
        mech_m3_mul(row->side < 0 ? mech_identity3 : pose[row->side]->R, row->a, a);
    }
}

void mech_joint_rows_residual(void *record, double t, const struct mech_pose *const pose[2],
                              double *g)
{
    const struct mech_joint_record *const j = record;
    double a[3], b[3], d[3];

    (void)t;
    mech_v3_add(pose[1]->p, -1., pose[0]->p, d);
    for (int32_t r = 0; r < j->n; r++) {
        axes_of(&j->row[r], pose, a, b);
        g[r] = mech_v3_dot(a, j->row[r].dot ? b : d);
    }
}

void mech_joint_rows_jacobian(void *record, const struct mech_pose *const pose[2], double G[][12])
{
    const struct mech_joint_record *const j = record;
    double a[3], b[3], d[3], moment[3];

    mech_v3_add(pose[1]->p, -1., pose[0]->p, d);
    for (int32_t r = 0; r < j->n; r++) {
        const struct mech_joint_row *const row = &j->row[r];

        axes_of(row, pose, a, b);
        mech_v3_cross(a, row->dot ? b : d, moment);
        for (int i = 0; i < 3; i++) {
            if (row->dot) {
                G[r][3 + i] = moment[i];
                G[r][9 + i] = -moment[i];
            } else {
                G[r][i] = -a[i];
                G[r][6 + i] = a[i];
                if (row->side >= 0) {
                    G[r][6 * row->side + 3 + i] = moment[i];
                }
            }
        }
    }
}

/* out = ω × x, twice = ω × (ω × x) */
static void spin(const double omega[3], const double x[3], double out[3], double twice[3])
{
    mech_v3_cross(omega, x, out);
    mech_v3_cross(omega, out, twice);
}

void mech_joint_rows_rate(void *record, double t, const struct mech_pose *const pose[2], double *gt,
                          double *bias)
{
    const struct mech_joint_record *const j = record;
    double a[3], b[3], d[3], u[3], va[3], aa[3], vb[3], ab[3];

    (void)t;
    (void)gt;
    mech_v3_add(pose[1]->p, -1., pose[0]->p, d);
    mech_v3_add(pose[1]->v, -1., pose[0]->v, u);
    for (int32_t r = 0; r < j->n; r++) {
        const struct mech_joint_row *const row = &j->row[r];

        axes_of(row, pose, a, b);
        if (row->dot) {
            spin(pose[0]->omega, a, va, aa);
            spin(pose[1]->omega, b, vb, ab);
            bias[r] = 2. * mech_v3_dot(va, vb) + mech_v3_dot(aa, b) + mech_v3_dot(a, ab);
        } else if (row->side >= 0) {
            spin(pose[row->side]->omega, a, va, aa);
            bias[r] = 2. * mech_v3_dot(u, va) + mech_v3_dot(d, aa);
        }
    }
}

/* Wx at (row, col) += s (x yᵀ − (x·y) 1): how (θ × x) × y follows θ */
static void add_turned(double s, const double x[3], const double y[3], int row, int col,
                       double Wx[12][12])
{
    const double dot = mech_v3_dot(x, y);

    for (int i = 0; i < 3; i++) {
        for (int k = 0; k < 3; k++) {
            Wx[row + i][col + k] += s * (x[i] * y[k] - (i == k ? dot : 0.));
        }
    }
}

/* Wx at (row, col) += s [x]×: how x × δ follows δ */
static void add_cross(double s, const double x[3], int row, int col, double Wx[12][12])
{
    static const int next[3] = {1, 2, 0};

    for (int i = 0; i < 3; i++) {
        const int k = next[i], l = next[k];

        Wx[row + i][col + l] += s * x[k];
        Wx[row + i][col + k] -= s * x[l];
    }
}

void mech_joint_rows_stiffness(void *record, const struct mech_pose *const pose[2],
                               const double *lambda, double Wx[12][12])
{
    const struct mech_joint_record *const j = record;
    double a[3], b[3], d[3];

    mech_v3_add(pose[1]->p, -1., pose[0]->p, d);
    for (int32_t r = 0; r < j->n; r++) {
        const struct mech_joint_row *const row = &j->row[r];
        const double s = lambda[r];

        axes_of(row, pose, a, b);
        if (row->dot) {
            /* torques λ a × b on 0, λ b × a on 1 */
            add_turned(s, a, b, 3, 3, Wx);
            add_turned(-s, b, a, 3, 9, Wx);
            add_turned(s, b, a, 9, 9, Wx);
            add_turned(-s, a, b, 9, 3, Wx);
        } else if (row->side >= 0) {
            /* forces −λ a on 0, λ a on 1; torque λ a × d on the side */
            const int turn = 6 * row->side + 3;

            add_cross(s, a, 0, turn, Wx);
            add_cross(-s, a, 6, turn, Wx);
            add_turned(s, a, d, turn, turn, Wx);
            add_cross(s, a, turn, 6, Wx);
            add_cross(-s, a, turn, 0, Wx);
        }
    }
}

/* The rows of the head, turned into the axes of the bodies; with e from body 0's reference point to
 * marker 1, a slide that is fixed to body 0 has d = e there: a·arm₀ is constant. Compiled for each
 * case of bodies that move. */
static inline __attribute__((always_inline)) bool
fill_frames(const struct mech_joint_record *j, const struct mech_pose *const pose[2],
            const bool moves[2], double *restrict g, double *restrict G)
{
    const double *const R0 = pose[0]->R;
    const int second = moves[0] ? 6 : 0, n = second + (moves[1] ? 6 : 0);
    double d[3], e[3], r0[3], r1[3], turn[9], a[3], b[3], moment[3];

    mech_v3_add(pose[1]->p, -1., pose[0]->p, d);
    mech_v3_add(d, 1., pose[0]->arm, e);
    mech_m3_mul_transposed(R0, pose[0]->arm, r0);
    mech_m3_mul_transposed(R0, e, e);
    mech_m3_mul_transposed(pose[1]->R, pose[1]->arm, r1);
    mech_m3_product_transposed(pose[1]->R, R0, turn);
    for (int32_t r = 0; r < j->n; r++, G += n) {
        const struct mech_joint_row *const row = &j->row[r];

        if (row->dot) {
            mech_m3_mul_transposed(turn, row->b, b);
            g[r] = mech_v3_dot(row->a, b);
            mech_v3_cross(row->a, b, moment);
            for (int i = 0; i < 3 && moves[0]; i++) {
                G[i] = 0.;
                G[3 + i] = moment[i];
            }
            mech_m3_mul(turn, moment, moment);
            for (int i = 0; i < 3 && moves[1]; i++) {
                G[second + i] = 0.;
                G[second + 3 + i] = -moment[i];
            }
            continue;
        }
        if (row->side > 0) {
            return false;
        }
        mech_m3_mul(row->side == 0 ? R0 : mech_identity3, row->a, a);
        g[r] = mech_v3_dot(a, d);
        if (moves[0]) {
            for (int i = 0; i < 3; i++) {
                G[i] = -a[i];
            }
            if (row->side == 0) {
                mech_v3_cross(row->a, e, G + 3);
            } else {
                mech_m3_mul_transposed(R0, a, b);
                mech_v3_cross(b, r0, G + 3);
            }
        }
        if (moves[1]) {
            for (int i = 0; i < 3; i++) {
                G[second + i] = a[i];
            }
            mech_m3_mul_transposed(pose[1]->R, a, b);
            mech_v3_cross(r1, b, G + second + 3);
        }
    }
    return true;
}

bool mech_joint_rows_frames(void *record, const struct mech_pose *const pose[2], double *g,
                            double *G)
{
    const bool moves0 = pose[0]->n > 0, moves1 = pose[1]->n > 0;

    if (moves0 && moves1) {
        return fill_frames(record, pose, (const bool[]){true, true}, g, G);
    }
    return fill_frames(record, pose, (const bool[]){moves0, moves1}, g, G);
}

/* T at (row, col) = ± A, or its transpose */
static void put(const double A[9], double sign, bool transposed, int row, int col, double T[12][12])
{
    for (int i = 0; i < 3; i++) {
        for (int k = 0; k < 3; k++) {
            T[row + i][col + k] = sign * (transposed ? A[3 * k + i] : A[3 * i + k]);
        }
    }
}

/* With f = Σ λ a of the slides and e from body 0's reference point to marker 1, both in the axes of
 * body 0, r₁ the arm of marker 1 in those of body 1, D = Σ λ a bᵀ of the others as they stand in
 * the record, and W = R₁ᵀ R₀:
 *
 *     A = W (D + f r₁ᵀ),   A' = A − tr A,   L = D W + f eᵀ,   Q = R₀ [f]×,   B = A' W
 *     ∂/∂(x₀, φ₀, x₁, φ₁) = [ 0   Q          0   0   ]
 *                           [ Qᵀ  Lᵀ − tr L  −Qᵀ −Bᵀ ]
 *                           [ 0   −Q         0   0   ]
 *                           [ 0   −B         0   A'  ] */
uint32_t mech_joint_rows_curvature(void *record, const struct mech_pose *const pose[2],
                                   const double *lambda, double T[12][12])
{
    const struct mech_joint_record *const j = record;
    const double *const R0 = pose[0]->R;
    double f[3] = {0., 0., 0.}, D[9] = {0.}, W[9], A[9], L[9], Q[9], e[3], r1[3];

    for (int32_t r = 0; r < j->n; r++) {
        const struct mech_joint_row *const row = &j->row[r];

        if (!row->dot && row->side != 0) {
            return 0;
        }
        if (!row->dot) {
            mech_v3_add(f, lambda[r], row->a, f);
            continue;
        }
        for (int i = 0; i < 3; i++) {
            mech_v3_add(D + 3 * i, lambda[r] * row->a[i], row->b, D + 3 * i);
        }
    }
    mech_v3_add(pose[1]->p, -1., pose[0]->p, e);
    mech_v3_add(e, 1., pose[0]->arm, e);
    mech_m3_mul_transposed(R0, e, e);
    mech_m3_mul_transposed(pose[1]->R, pose[1]->arm, r1);
    mech_m3_product_transposed(pose[1]->R, R0, W);
    mech_m3_product(D, W, L);
    for (int i = 0; i < 3; i++) {
        mech_v3_add(L + 3 * i, f[i], e, L + 3 * i);
        mech_v3_add(D + 3 * i, f[i], r1, D + 3 * i);
        mech_v3_cross(R0 + 3 * i, f, Q + 3 * i);
    }
    mech_m3_product(W, D, A);
    const double trace = A[0] + A[4] + A[8], trace0 = L[0] + L[4] + L[8];
    for (int i = 0; i < 9; i += 4) {
        A[i] -= trace;
        L[i] -= trace0;
    }
    put(L, 1., true, 3, 3, T);
    put(A, 1., false, 9, 9, T);
    mech_m3_product(A, W, A);
    put(A, -1., false, 9, 3, T);
    put(A, -1., true, 3, 9, T);
    put(Q, 1., false, 0, 3, T);
    put(Q, -1., false, 6, 3, T);
    put(Q, 1., true, 3, 0, T);
    put(Q, -1., true, 3, 6, T);
    /* blocks of the table above, by rows */
    return 1u << 1 | 1u << 4 | 1u << 5 | 1u << 6 | 1u << 7 | 1u << 9 | 1u << 13 | 1u << 15;
}

static void column(const double R[9], int k, double out[3])
{
    for (int i = 0; i < 3; i++) {
        out[i] = R[3 * i + k];
    }
}

/* Slides along axes i with axes[i] in frame R0 (columns) of marker 0; and no turning about axes i
 * with axes[3 + i] of that frame against R1 of marker 1. */
static void frame_rows(struct mech_joint_record *record, const int32_t axes[6], const double R0[9],
                       const double R1[9])
{
    /* no turning about axis k: this axis of 1 stays normal to that one of 0; the last row of the
     * table serves when all three or one are held, the others when one axis k may turn */
    static const int pairs[4][3][2] = {{{0, 0}, {0, 2}, {0, 1}},
                                       {{1, 2}, {0, 0}, {1, 0}},
                                       {{2, 1}, {2, 0}, {0, 0}},
                                       {{2, 1}, {2, 0}, {0, 1}}};
    const int held = axes[3] + axes[4] + axes[5];
    const int use = held != 2 ? 3 : !axes[3] ? 0 : !axes[4] ? 1 : 2;

    for (int k = 0; k < 3; k++) {
        if (axes[k]) {
            column(R0, k, record->row[record->n++].a);
        }
    }
    for (int k = 0; k < 3; k++) {
        if (axes[3 + k]) {
            struct mech_joint_row *const row = &record->row[record->n++];

            row->dot = true;
            column(R0, pairs[use][k][1], row->a);
            column(R1, pairs[use][k][0], row->b);
        }
    }
    memcpy(record->frame, R0, sizeof record->frame);
}

void mech_joint_frame_markers(const void *description, struct mech_attachment *out)
{
    const struct mech_joint_frame *c = description;

    *out = (struct mech_attachment){
        .refs = c->markers.refs, .n = c->markers.n, .field = "markers", .list = true};
}

void mech_joint_rotations_check(const double R0[9], const double R1[9], const char *path,
                                struct mech_diag *d)
{
    for (int k = 0; k < 2; k++) {
        if (!mech_so3_is_rotation(k ? R1 : R0, 1e-6)) {
            char place[2 * MECH_DIAG_PATH];

            snprintf(place, sizeof place, "%s/rotationMarker%d", path, k);
            mech_diag_add(d, place, "is not a rotation matrix (orthonormal, determinant 1)");
        }
    }
}

void mech_joint_frame_check(const void *description, const char *path, struct mech_diag *d)
{
    const struct mech_joint_frame *c = description;

    mech_joint_rotations_check(c->rotation0, c->rotation1, path, d);
}

int mech_joint_frame_record(const struct mech_joint_frame *description, const int32_t axes[6],
                            struct mech_joint_record *record)
{
    *record = (struct mech_joint_record){.n = 0};
    frame_rows(record, axes, description->rotation0, description->rotation1);
    return description->active;
}

int mech_joint_axis_record(const void *description, const struct mech_site *site, void *record)
{
    return mech_joint_frame_record(description, site->held, record);
}

int32_t mech_joint_axis_rows(const void *description)
{
    (void)description;
    return 5;
}

/* −W of marker 1: what marker 0 gets, about the point of marker 1; global axes */
static void reaction(const struct mech_view *view, bool torque, double out[3])
{
    const struct mech_joint_record *const j = view->record;
    double G[MECH_PAIR_ROWS][12] = {{0.}};

    memset(out, 0, 3 * sizeof *out);
    mech_joint_rows_jacobian(view->record, view->pose, G);
    for (int32_t r = 0; r < j->n; r++) {
        mech_v3_add(out, -view->lambda[r], G[r] + (torque ? 9 : 6), out);
    }
}

int mech_joint_rows_output(const void *description, const struct mech_view *view,
                           enum mech_output variable, size_t capacity, double *values,
                           size_t *count)
{
    const struct mech_joint_record *const j = view->record;
    const bool torque = variable == MECH_OUTPUT_TORQUE || variable == MECH_OUTPUT_TORQUE_LOCAL;
    const bool local = variable == MECH_OUTPUT_FORCE_LOCAL || variable == MECH_OUTPUT_TORQUE_LOCAL;
    double x[MECH_PAIR_ROWS] = {0.};

    (void)description;
    if (variable == MECH_OUTPUT_CONSTRAINT_EQUATION) {
        if (j) {
            mech_joint_rows_residual(view->record, view->at.t, view->pose, x);
        }
        return mech_pair_give(x, (size_t)view->rows, capacity, values, count);
    }
    if (!torque && !local && variable != MECH_OUTPUT_FORCE) {
        return mech_line_output(view, variable, capacity, values, count);
    }
    if (j && !view->lambda && capacity) {
        return MECH_UNSUPPORTED;
    }
    if (j && view->lambda) {
        reaction(view, torque, x);
    }
    if (j && local) {
        mech_m3_mul_transposed(view->pose[0]->R, x, x);
        mech_m3_mul_transposed(j->frame, x, x);
    }
    return mech_pair_give(x, 3, capacity, values, count);
}

const struct mech_field mech_joint_frame_fields[] = {
    MECH_PAIR_FIELD_ACTIVE(mech_joint_frame, active),
    MECH_PAIR_FIELD_MARKERS(mech_joint_frame, markers),
    MECH_JOINT_FIELD_ROTATION(rotation0, "rotationMarker0", "first"),
    MECH_JOINT_FIELD_ROTATION(rotation1, "rotationMarker1", "second"),
};
