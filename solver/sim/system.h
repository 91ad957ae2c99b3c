/* The present equations of a simulation as one mixed problem, block by block: what a system
 * descriptor offers, for any model (model/to_sys.h defines H, G, E, f and b).
 *
 *     [ H  −Gᵀ ] [ w ]   [  f ]   [ 0 ]        Cq is G;  E and the lower half of the diagonal have
 *     [ G   E  ] [ l ] − [ −b ] = [ c ]        the sign of Z = [H Cqᵀ; Cq E]: E_ii = −cfm ≤ 0
 *
 * It is made for one request and describes the state then; the simulation stores none of it.
 * owner: the simulation's thread; allocates.
 *
 *   MECH_TRY(mech_sim_system(sim, &at, &query, &s));
 *   mech_sim_system_size(s, mech_sim_system_find("H"), &rows, &cols);
 *   MECH_TRY(mech_sim_system_entries(s, …));
 *   mech_sim_system_destroy(s);
 */
#pragma once

#include "solver/model/to_sys.h"
#include "solver/sim/mech.h"

struct mech_sim_system;

enum mech_system_level_choice { MECH_LEVEL_BY_INTEGRATOR = -1 }; /* VELOCITY for nonsmooth ones */

struct mech_system_query {
    int level;         /* enum mech_system_level or BY_INTEGRATOR */
    double step;       /* VELOCITY: h, s; NaN: the document's */
    bool all_contacts; /* also those that the activation rule leaves out */
    bool bilateral;    /* answers have the rows of bilateral constraints alone */
    /* H = mass M + stiffness K + damping C; NaN: 1, 0, 0 or 1, h²θ², hθ */
    double mass, stiffness, damping;
};

/* *out is to be destroyed when this returns 0. 0; MECH_NOT_FINITE; MECH_INVALID (step ≤ 0);
 * negative. */
int mech_sim_system(struct mech_sim *s, const struct mech_point *at,
                    const struct mech_system_query *q, struct mech_sim_system **out);
/* Accepts NULL. */
void mech_sim_system_destroy(struct mech_sim_system *s);

/* Freeze the variables of an item by its name, or that of its node. MECH_NOT_FOUND. */
int mech_sim_system_freeze(struct mech_sim_system *s, const char *name);

struct mech_sim_system_info {
    enum mech_system_level level;
    double time, step, theta;
    double mass, stiffness, damping; /* factors in use */
    bool lumped;                     /* H is block-diagonal: the masses alone */
    bool linear;                     /* no item is nonlinear: H and f are exact for a step */
    bool associated;                 /* law of friction of the residual */
    struct mech_descriptor_size size;
    int32_t rows; /* of the answers: all active ones, or the bilateral ones */
    int32_t masses;
};
void mech_sim_system_info(const struct mech_sim_system *s, struct mech_sim_system_info *out);

/* --- blocks; indices below the counts of mech_sim_system_info's size -------------------------- */

const struct mech_system_variables *mech_sim_system_variables(const struct mech_sim_system *s,
                                                              int32_t i, const char **name,
                                                              int32_t *offset);
const struct mech_system_constraint *mech_sim_system_constraint(const struct mech_sim_system *s,
                                                                int32_t i, const char **name,
                                                                int32_t *offset);
/* Name of the second object of a contact between shapes, or NULL. */
const char *mech_sim_system_other(const struct mech_sim_system *s, int32_t i);
const struct mech_system_block *mech_sim_system_block(const struct mech_sim_system *s, int32_t i);
const char *mech_sim_system_mass_name(const struct mech_system_variables *v);

/* --- matrices and vectors by name ------------------------------------------------------------- */

struct mech_system_part {
    const char *name, *doc;
    bool vector;
};
/* The i-th, or NULL past the end. */
const struct mech_system_part *mech_system_part(int i);
/* Its number, or −1. */
int mech_sim_system_find(const char *name);
void mech_sim_system_size(const struct mech_sim_system *s, int part, int32_t *rows, int32_t *cols);
/* A vector: out [rows], with room for all active rows where only some are asked for. */
void mech_sim_system_vector(const struct mech_sim_system *s, int part, double *out);
/* A matrix: what is not 0, by columns, in the arena. 0; MECH_SINGULAR (H, of N); MECH_UNSUPPORTED
 * (N of more than 4,096 rows that goes through H); negative. */
int mech_sim_system_entries(struct mech_sim_system *s, int part, struct mech_arena *arena,
                            struct mech_triplet **entries, size_t *count);
/* Either as text, to be freed: Matrix Market, or coordinates from 1. Same returns. */
int mech_sim_system_text(struct mech_sim_system *s, int part, bool coordinates, char **text);
/* Everything as bytes (sys/archive.h), to be freed. Negative: no memory. */
int mech_sim_system_archive(const struct mech_sim_system *s, unsigned char **bytes, size_t *size);

/* --- products: vectors are those of all active rows ------------------------------------------- */

/* out {w; l} = {H w − Gᵀ l; G w + E' l}, E' = −E ≥ 0; symmetric: out = Z x of x = {w; −l}, whose
 * lower half changes sign in place. */
void mech_sim_system_product(const struct mech_sim_system *s, bool symmetric, double *x,
                             double *out);
enum mech_system_through { MECH_THROUGH_CHOSEN, MECH_THROUGH_MASSES, MECH_THROUGH_H };
/* out [l] = (G H⁻¹ Gᵀ + E') l over the enabled rows (NULL: all). 0; MECH_SINGULAR;
 * MECH_UNSUPPORTED: THROUGH_MASSES, and H is not that of the masses; negative. */
int mech_sim_system_schur(struct mech_sim_system *s, enum mech_system_through through,
                          const bool *enabled, const double *l, double *out);
/* Into the sets, in place; a set whose first row is off stays. */
void mech_sim_system_project(const struct mech_sim_system *s, const bool *enabled, double *l);

struct mech_system_check {
    double violation, complementarity; /* as mech_descriptor_feasibility */
    double balance; /* ‖H w − Gᵀ l − f‖₂ / max(‖f‖₂, ‖H w‖₂) */
    /* mech_sets_residual of the law of the model, with c = G w + E' l + b and
     * r = G H⁻¹ f + b; NaN when H is singular */
    double residual;
};
/* Of {w; l}; w and l of the descriptor are set to it. Negative: no memory. */
int mech_sim_system_check(struct mech_sim_system *s, const double *w, const double *l,
                          struct mech_system_check *out);
