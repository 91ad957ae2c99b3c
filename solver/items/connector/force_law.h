/* Springs and dampers with a force law by expression, shared by connectors.
 *
 *     one stretch u with rate v:   f = k (u − offset) + d (v − rate) + force   or  f(u, v, t, …)
 *     n of them:                   f = K (u − offset) + D v                    or  f_i(u, v, f, t)
 *
 * A law of one stretch may bring ∂f/∂u and ∂f/∂v; else they are those of the expression itself
 * (expr.h). Where these are not finite, as for √u at 0, and where the law jumps nearby, as u > a
 * does at a, they are differences of step ε^(1/3) max(1, |x|): over a jump they keep Newton's
 * method at it, where the slopes of both sides would lead it to and fro. Laws of n stretches take
 * such differences everywhere (truncation and rounding balance); they read u0 u1 …, v0 v1 …, and
 * f0 f1 …: what the linear form gives there. All read t and the parameters. */
#pragma once

#include "solver/items/ops.h"

enum { MECH_LAW_ROWS = 6 };

struct mech_force_law {
    double *vars;                         /* u v t, then the constants of the type, parameters */
    struct mech_expr *value, *partial[2]; /* value NULL: no law; partial NULL: its own */
    bool may_jump;
};

struct mech_spring {
    double k, d, offset, rate, force; /* N/m, N s/m, m, m/s, N; or N m/rad … */
    struct mech_force_law law;
};

/* The law of a field, if the document has one. `locals`: "u", "v", "t", then the names of
 * `constants`, closed by NULL. Faults go to site->diag. 0; negative: nothing to release. */
int mech_force_law_init(struct mech_force_law *law, const struct mech_formula *formula,
                        const struct mech_site *site, const char *field, const char *const *locals,
                        const double *constants);
void mech_force_law_fini(struct mech_force_law *law);

/* f; with `slope` [2] (may be NULL) ∂f/∂u and ∂f/∂v. */
double mech_spring_force(const struct mech_spring *s, const struct mech_eval *e, double u, double v,
                         double *slope);
/* ½ k (u − offset)² + force u; of a law: not known, NaN. J. */
double mech_spring_energy(const struct mech_spring *s, double u);

/* One stretch u of two poses: u̇ = G T with the twists T (ops.h), H[i][k] = ∂G_i/∂δ_k. */
struct mech_stretch {
    double u, G[12], H[12][12];
};
/* The force f of a spring on both poses, W = −f Gᵀ: f > 0 pulls them together. Its slopes are those
 * of struct mech_pair_ops; H is read by mech_spring_slope alone. */
void mech_spring_wrench(const struct mech_spring *s, const struct mech_eval *e,
                        const struct mech_stretch *x, const struct mech_pose *const pose[2],
                        double W[12]);
void mech_spring_slope(const struct mech_spring *s, const struct mech_eval *e,
                       const struct mech_stretch *x, const struct mech_pose *const pose[2],
                       double Wx[12][12], double Wt[12][12]);

/* --- connectors of one stretch ---------------------------------------------------------------- */

/* What they are described by; the first member of their description. */
struct mech_spring_item {
    struct mech_refs markers;
    bool active;
    double stiffness, damping, offset, rate, force;
    struct mech_formula law;
};
void mech_spring_markers(const void *description, struct mech_attachment *out);
/* Numbers and law. `locals`: u v t k d, force (or torque), offset, velocityOffset or less of them.
 * 1; 0: not active; negative. */
int mech_spring_init(struct mech_spring *s, const struct mech_spring_item *item,
                     const struct mech_site *site, const char *field, const char *const *locals);
/* Operations of pairs whose record begins with a struct mech_spring. */
void mech_spring_release(void *record);

enum mech_spring_value { MECH_SPRING_STRETCH, MECH_SPRING_RATE, MECH_SPRING_FORCE };
/* What a view's outputs show; the force is 0 where the view has no record. */
double mech_spring_output(const struct mech_spring *s, const struct mech_stretch *x,
                          const struct mech_view *view, enum mech_spring_value which);

/* A real number of a struct whose first member, `spring`, is the description above. */
#define MECH_SPRING_FIELD(type, key, member, its_unit, its_doc)                                    \
    {                                                                                              \
        .name = key, .kind = MECH_REAL, .offset = offsetof(struct type, spring.member),            \
        .flags = MECH_TUNABLE, .unit = its_unit, MECH_ANY_REAL, .doc = its_doc                     \
    }
#define MECH_SPRING_FIELD_LAW(type, key, its_locals, its_doc)                                      \
    {                                                                                              \
        .name = key, .kind = MECH_FORMULA, .offset = offsetof(struct type, spring.law),            \
        .locals = its_locals, .doc = its_doc                                                       \
    }

/* --- n stretches ------------------------------------------------------------------------------ */

struct mech_springs {
    int32_t n; /* at most MECH_LAW_ROWS */
    double K[MECH_LAW_ROWS * MECH_LAW_ROWS], D[MECH_LAW_ROWS * MECH_LAW_ROWS]; /* by rows, n × n */
    double offset[MECH_LAW_ROWS];
    double number[MECH_LAW_ROWS]; /* of the law's rows that are plain numbers */
    struct mech_expr *row[MECH_LAW_ROWS];
    double *vars; /* u [n], v [n], f [n], t, parameters; NULL: no law */
};

/* The law of n stretches into s (n, K, D and offset set). `locals`: u0 … v0 … f0 … t, closed by
 * NULL. Same returns as mech_force_law_init. */
int mech_springs_law(struct mech_springs *s, const struct mech_values *law,
                     const struct mech_site *site, const char *field, const char *const *locals);
void mech_springs_fini(struct mech_springs *s);
/* u, v, f [n]. */
void mech_springs_force(const struct mech_springs *s, const struct mech_eval *e, const double *u,
                        const double *v, double *f);
/* fu, fv [n × n] by rows: ∂f/∂u, ∂f/∂v. Exact, but of a law that may jump, and where they are
 * infinite, by differences over 6e-6 of the unit. */
void mech_springs_slope(const struct mech_springs *s, const struct mech_eval *e, const double *u,
                        const double *v, double *fu, double *fv);
/* Whether the law may jump: its slopes are differences. */
bool mech_springs_differenced(const struct mech_springs *s);
/* ½ (u − offset)ᵀ K (u − offset); of a law: NaN. J. */
double mech_springs_energy(const struct mech_springs *s, const double *u);
