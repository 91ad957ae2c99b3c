/* LagrangianLinearTIDS: a linear, time-invariant Lagrangian system with its own coordinates.
 *
 *     M v̇ + C v + K q = F_ext(t, z) + p,   q̇ = v
 *
 * Source: Siconos' class of that name. K acts on the total coordinates: the reference is 0. z is a
 * vector that F_ext may read as z0, z1, …; it changes only when the state is set. Velocities of
 * chosen coordinates may be prescribed as functions of time, v_i = w(t): boundary conditions whose
 * reactions λ are on the right-hand side as p is. */
#include "solver/base/err.h"
#include "solver/items/connector/coordinate_rows.h"
#include "solver/items/ops.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

/* values of z: every expression of a system sees all of them */
enum { MOST_DATA = 1000 };

struct lagrangian_linear_tids {
    struct mech_mat M, C, K;
    struct mech_vector q0, v0, z;
    struct mech_values Fext;
    struct mech_structs prescribed; /* struct prescribed */
};

struct prescribed {
    int32_t coordinate;
    struct mech_values velocity; /* [1] */
};

static const struct mech_field prescribed_fields[] = {
    {.name = "coordinate",
     .kind = MECH_INT,
     .offset = offsetof(struct prescribed, coordinate),
     .flags = MECH_REQUIRED,
     .min = 0.,
     .max = INT32_MAX,
     .doc = "coordinate of the system, counted from 0"},
    {.name = "velocity",
     .kind = MECH_VALUES,
     .offset = offsetof(struct prescribed, velocity),
     .flags = MECH_REQUIRED,
     .count = 1,
     .unit = NULL,
     MECH_ANY_REAL,
     .doc = "a number, an expression in t and the parameters, or a table"},
};
static const struct mech_table prescribed_table = {
    .name = "PrescribedVelocity",
    .doc = "The velocity of one coordinate as a function of time.",
    .size = sizeof(struct prescribed),
    MECH_FIELDS(prescribed_fields)};

static int32_t own(const void *description)
{
    return ((const struct lagrangian_linear_tids *)description)->M.rows;
}

static void start(const void *description, double *q, double *v)
{
    const struct lagrangian_linear_tids *s = description;
    const size_t bytes = (size_t)s->M.rows * sizeof *q;

    memset(q, 0, bytes);
    memset(v, 0, bytes);
    if (s->q0.n) {
        memcpy(q, s->q0.x, bytes);
    }
    if (s->v0.n) {
        memcpy(v, s->v0.x, bytes);
    }
}

/* coordinates that are there, each once */
static void check_prescribed(const struct lagrangian_linear_tids *s, const char *path,
                             struct mech_diag *d)
{
    const struct prescribed *const at = s->prescribed.at;

    for (size_t i = 0; i < s->prescribed.n; i++) {
        char place[2 * MECH_DIAG_PATH];
        size_t before = 0;

        snprintf(place, sizeof place, "%s/prescribed/%zu/coordinate", path, i);
        while (before < i && at[before].coordinate != at[i].coordinate) {
            before++;
        }
        if (at[i].coordinate >= s->M.rows) {
            mech_diag_add(d, place, "there are %d coordinates", (int)s->M.rows);
        } else if (before < i) {
            mech_diag_add(d, place, "is prescribed already, by element %zu of this list", before);
        }
    }
}

/* sizes are checked here, not in `fit`: own and start rely on them */
static void check(const void *description, const char *path, struct mech_diag *d)
{
    const struct lagrangian_linear_tids *s = description;
    const struct mech_site site = {.n = s->M.rows, .path = path, .diag = d};

    if (s->M.rows < 1) {
        char place[2 * MECH_DIAG_PATH];

        snprintf(place, sizeof place, "%s/M", path);
        mech_diag_add(d, place, "the mass matrix is empty");
        return;
    }
    mech_fit_square(&site, "M", &s->M);
    mech_fit_square(&site, "C", &s->C);
    mech_fit_square(&site, "K", &s->K);
    mech_fit_length(&site, "q0", s->q0.n);
    mech_fit_length(&site, "v0", s->v0.n);
    mech_fit_length(&site, "Fext", s->Fext.n);
    check_prescribed(s, path, d);
    if (s->z.n > MOST_DATA) {
        char place[2 * MECH_DIAG_PATH];

        snprintf(place, sizeof place, "%s/z", path);
        mech_diag_add(d, place, "more than %d values", MOST_DATA);
    }
}

static int linear(const void *description, struct mech_terms *terms)
{
    const struct lagrangian_linear_tids *s = description;
    int r = mech_terms_matrix(terms, MECH_TERM_M, &s->M);

    r = r ? r : mech_terms_matrix(terms, MECH_TERM_C, &s->C);
    return r ? r : mech_terms_matrix(terms, MECH_TERM_K, &s->K);
}

static void excitation(const void *description, const struct mech_values **force,
                       const struct mech_vector **z)
{
    const struct lagrangian_linear_tids *s = description;

    *force = &s->Fext;
    *z = &s->z;
}

static int32_t prescribed_rows(const void *description, const struct mech_site *site)
{
    (void)site;
    return (int32_t)((const struct lagrangian_linear_tids *)description)->prescribed.n;
}

static bool prescribed_velocity(const void *description)
{
    (void)description;
    return true;
}

static int record(const void *description, const struct mech_site *site, void *at)
{
    const struct lagrangian_linear_tids *s = description;
    const struct prescribed *const from = s->prescribed.at;
    struct mech_coordinate_rows *const r = at;

    *r = (struct mech_coordinate_rows){
        .rows = (int32_t)s->prescribed.n, .n = site->n, .velocity = true};
    MECH_TRY(mech_coordinate_rows_new(r, site, false));
    for (int32_t i = 0; i < r->rows; i++) {
        char field[64];

        r->X[(size_t)i * (size_t)r->n + (size_t)from[i].coordinate] = 1.;
        snprintf(field, sizeof field, "prescribed/%d/velocity", (int)i);
        const int code = mech_coordinate_rows_offset_at(r, site, i, &from[i].velocity, field);
        if (code) {
            mech_coordinate_rows_release(r);
            return code;
        }
    }
    return 1;
}

static const struct mech_equation_ops equation = {
    MECH_COORDINATE_ROWS_OPERATIONS,
    .record = record,
    .rows = prescribed_rows,
    .velocity = prescribed_velocity,
};

static int output(const void *description, const struct mech_view *view, enum mech_output variable,
                  size_t capacity, double *values, size_t *count)
{
    (void)description;
    return mech_coordinate_output(view, variable, capacity, values, count);
}

static const struct mech_field fields[] = {
    {.name = "C",
     .kind = MECH_MATRIX,
     .offset = offsetof(struct lagrangian_linear_tids, C),
     .unit = NULL,
     MECH_ANY_REAL,
     .doc = "damping matrix; default: none"},
    {.name = "Fext",
     .kind = MECH_VALUES,
     .offset = offsetof(struct lagrangian_linear_tids, Fext),
     .unit = NULL,
     MECH_ANY_REAL,
     .doc = "external force: numbers, or expressions in t, z0, z1, … and the parameters"},
    {.name = "K",
     .kind = MECH_MATRIX,
     .offset = offsetof(struct lagrangian_linear_tids, K),
     .unit = NULL,
     MECH_ANY_REAL,
     .doc = "stiffness matrix; default: none"},
    {.name = "M",
     .kind = MECH_MATRIX,
     .offset = offsetof(struct lagrangian_linear_tids, M),
     .flags = MECH_REQUIRED,
     .unit = NULL,
     MECH_ANY_REAL,
     .doc = "mass matrix"},
    {.name = "prescribed",
     .kind = MECH_STRUCTS,
     .offset = offsetof(struct lagrangian_linear_tids, prescribed),
     .table = &prescribed_table,
     .doc = "prescribed velocities of coordinates"},
    {.name = "q0",
     .kind = MECH_VECTOR,
     .offset = offsetof(struct lagrangian_linear_tids, q0),
     .unit = NULL,
     MECH_ANY_REAL,
     .doc = "initial coordinates; default: zeros"},
    {.name = "v0",
     .kind = MECH_VECTOR,
     .offset = offsetof(struct lagrangian_linear_tids, v0),
     .unit = NULL,
     MECH_ANY_REAL,
     .doc = "initial velocities; default: zeros"},
    {.name = "z",
     .kind = MECH_VECTOR,
     .offset = offsetof(struct lagrangian_linear_tids, z),
     .unit = NULL,
     MECH_ANY_REAL,
     .doc = "discrete data that Fext may read"},
};

static const struct mech_object_ops ops = {
    .system = true,
    .own = own,
    .start = start,
    .linear = linear,
    .excitation = excitation,
    .equation = &equation,
    .excitation_field = "Fext",
    .outputs = MECH_COORDINATE_OUTPUTS,
    .output = output,
};

const struct mech_item_type mech_item_body_lagrangian_linear_tids = {
    .name = "LagrangianLinearTIDS",
    .category = MECH_OBJECT,
    .table = {.name = "LagrangianLinearTIDS",
              .doc = "A linear, time-invariant Lagrangian system with its own coordinates.",
              .size = sizeof(struct lagrangian_linear_tids),
              MECH_FIELDS(fields)},
    .check = check,
    .ops.object = &ops,
};
