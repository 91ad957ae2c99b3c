/* Sizes of the terms that balance in the equations of a model, by which iterations judge
 * residuals: an equation is met when its residual is small relative to its own terms, in any
 * units, and as nearly as doubles can meet it when the residual is at the rounding level.
 *
 *     M v̇ + C v + K u + g = F + Gᵀ λ        a row each velocity, N or N m
 *     g(q, t) = 0                            a row each joint equation, m or rad
 *
 * Any thread that owns the simulation. */
#pragma once

#include "solver/model/model.h"

/* of [nv] = number of the block of equations that each velocity's belongs to: those of one node or
 * object that have one unit (forces of a body, then its moments), one alone where units are not
 * known. Blocks are contiguous and ascend. Returns how many there are. */
int32_t mech_model_blocks(const struct mech_model *m, int32_t *of);

/* S [nv + 1] = sums of the absolute values of all terms at a point, item by item: M v̇ and M_q v̇
 * where e->vdot is given, Gᵀ λ where e->lambda is; work [nv + 1]. Costs some evaluations of the
 * forces. The poses are those of the point then. */
void mech_model_force_sizes(const struct mech_model *m, const struct mech_eval *e, double *work,
                            double *S);
/* The same part by part, 0, 1 …, by what they cost: loads and matrices, items, contacts. The first
 * sets S, the others add to it. After each work is 0. */
enum { MECH_FORCE_PARTS = 3 };
void mech_model_force_sizes_part(const struct mech_model *m, const struct mech_eval *e, int part,
                                 double *work, double *S);

/* L [rows] = lengths and angles that each joint's equation subtracts, Σ |∂g/∂δ| |p| over both
 * markers: ε L is what rounding leaves of g. At the last poses. */
void mech_model_joint_sizes(const struct mech_model *m, double *L);

/* out [rows] = how near to its limit a one-sided row is at it: 1e-6, what six written digits give,
 * of the lengths that make up its g, not of how far away they are (the distance of a rope's ends),
 * and the rounding of positions; 0 of other rows. At the last poses. */
void mech_model_limits(const struct mech_model *m, double *out);

/* out [rows] = the speeds of which those of one-sided rows are made, Σ |∂g/∂δ| times how fast the
 * second marker moves beside the first: the same however fast both are; 0 of other rows. At the
 * last poses. */
void mech_model_limit_speeds(const struct mech_model *m, double *out);

/* out [nv + 1] of each velocity: 1 of a rotation; with `lengths` the lengths that pairs of markers
 * subtract there (at the last poses) of a translation; 0 of all others. */
void mech_model_motion_sizes(const struct mech_model *m, bool lengths, double *out);

enum mech_row_unit { MECH_ROW_OWN, MECH_ROW_LENGTH, MECH_ROW_ANGLE };
/* unit [rows] of each joint's equation; OWN: that of the coordinates that it relates. At the last
 * poses. */
void mech_model_row_units(const struct mech_model *m, enum mech_row_unit *unit);

/* out [rows] = how far each joint's equation may be off where positions are given to that share of
 * the model's extent, the box of all markers of joints, and no less than a body's radius of
 * gyration: a length, or an angle; and the rounding of its lengths. Of a length of 1 m where there
 * is none, under 2^-50 m. At the last poses. */
void mech_model_joint_gaps(const struct mech_model *m, double share, double *out);

/* out [nq + 1] = q with each number off by a share of up to `nudge` of itself, of the lengths that
 * pairs of markers subtract there (at the last poses), and of 1 where it is a rotation: signs and
 * sizes by place and `side`, the same every time; d [nv + 1] scratch. */
void mech_model_nudge(const struct mech_model *m, const double *q, double nudge, int side,
                      double *d, double *out);

/* The share for the number at a place: within ±1, never near 0 for all sides. */
double mech_model_share(uint32_t place, int side);
