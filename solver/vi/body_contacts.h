/* Contacts between free bodies by block Gauss–Seidel: the multipliers l (impulses, N s) and the
 * velocities after them,
 *
 *     v⁺ = v + M⁻¹ Gᵀ l,   c = G v⁺ + E l + b,   l in its cone, −ĉ in the normal cone   (sets.h)
 *
 * for a mass matrix of blocks, one a body, in world axes at its centre of mass: no matrix between
 * contacts is ever formed. A contact has the rows N, T1, T2 (a CONE; UNILATERAL for μ = 0) or,
 * with rolling or spinning > 0, N, T1, T2, S, R1, R2 (a ROLLING), all from
 *
 *     u = (v₂ + ω₂ × r₂) − (v₁ + ω₁ × r₁),   w = ω₂ − ω₁
 *     G v = (n·u, t₁·u, t₂·u, n·w, t₁·w, t₂·w),   t₂ = n × t₁
 *
 * n points from the first body to the second, so that a pressing contact has l_N ≥ 0 and pushes the
 * second along n. Velocities of bodies that nothing moves (inverse mass and inertia 0) count.
 *
 * Bits: the same input gives the same result on any processor, with or without AVX2. Cost: see
 * body_contacts.c.
 *
 *     struct mech_body_contacts *s;
 *     MECH_TRY(mech_body_contacts_create(500, 2000, &s));
 *     each step:
 *         MECH_TRY(mech_body_contacts_reserve(s, bodies.count, count));   // does mostly nothing
 *         int code = mech_body_contacts_solve(s, &bodies, contacts, count, &options, &result);
 *
 * owner: one thread; reserve and create allocate, solve does not. */
#pragma once

#include "solver/base/interrupt.h"
#include "solver/sys/sets.h"

#include <stdbool.h>
#include <stdint.h>

/* Plane bodies have the inverse masses (1/m, 1/m, 0) and only zz in the inverse inertia; point
 * masses have the inverse inertia 0. Bodies with one inverse mass in all directions are faster,
 * and fastest are contacts with r₁ and r₂ along n (to 1e-12) between bodies with one inverse
 * inertia about all axes (to 4e-15): spheres. */
struct mech_contact_bodies {
    int32_t count;
    const double *inverse_mass;    /* [count × 3] along the world's axes, 1/kg, ≥ 0 */
    const double *inverse_inertia; /* [count × 9] world axes, symmetric, positive semidefinite,
                                      1/(kg m²); about the centre of mass */
    double *velocity;              /* [count × 6] v, m/s, and ω, rad/s, world; in: v, out: v⁺ */
};

struct mech_body_contact {
    int32_t body[2];  /* first, second; −1: the ground, at rest. Not the same twice */
    double n[3];      /* unit */
    double t1[3];     /* unit, orthogonal to n */
    double arm[2][3]; /* r₁, r₂: centre of mass to contact point, m, world; not read of ground */
    double b[6];      /* N, T1, T2, m/s; S, R1, R2, rad/s: what is added to G v */
    double mu;        /* friction ≥ 0 */
    double spinning;  /* resistance about n ≥ 0, m */
    double rolling;   /* resistance about t₁ and t₂ ≥ 0, m */
    double cfm[3];    /* E ≥ 0 of N; of T1 and T2; of S, R1 and R2 */
    double limit;     /* m/s, ≥ 0: mech_contact_own */
    double impulse[3]; /* l_N n + l_T1 t₁ + l_T2 t₂, N s, on the second body; in: start, out */
    double couple[3]; /* l_S n + l_R1 t₁ + l_R2 t₂, N m s; in: start, out; 0 without resistance */
};

/* Which code sweeps; all give the same bits. AVX2 on a processor without it: as BASELINE. */
enum mech_contact_kernel { MECH_KERNEL_FASTEST, MECH_KERNEL_BASELINE, MECH_KERNEL_AVX2 };

/* Sweeps by whose progress those that are left are judged. */
enum { MECH_PATIENCE = 50 };

/* What each contact may miss of the natural map m by itself, m/s, for sweeps to end before the
 * tolerance, where all contacts together are off by `enough` at most,
 *
 *     ‖m‖² ≤ min(change ‖g (l − l₀)‖, limit)² + tolerance² ‖r‖²/count
 *
 * with l₀ as l came, and `limit` of the contact: no contact is judged by what others do. What
 * stands has the impulses of the last step, and what it misses adds up from step to step: it goes
 * on to the tolerance. */
struct mech_contact_own {
    double change; /* 0: not asked */
    double enough;
};

struct mech_body_contacts_options {
    enum mech_friction friction; /* of all contacts */
    double tolerance;            /* of the residual, and of the miss over the slack, ≥ 0 */
    double slack;                /* ≥ 1; 0: 1 */
    int32_t max_sweeps;          /* ≥ 0 */
    int32_t look_every;          /* sweeps between two looks at the residual, each of which costs
                                    about half a sweep; 0: only after the last */
    bool accelerate;             /* sweep with momentum, for tall stacks and small tolerances: 1/3
                                    more a sweep; needs looks, by which it falls back to the best */
    /* Sweeps that another way costs after so many sweeps, asked at looks while more than
     * MECH_PATIENCE seem to be left: solve ends when more than these do. Needs looks; NULL: there
     * is none. */
    double (*other)(void *of, int32_t sweeps);
    void *of;
    struct mech_contact_own own;
    enum mech_contact_kernel kernel;
    struct mech_interrupt *interrupt; /* asked at each look, without looks each 64th
                                         sweep; NULL: none */
};

struct mech_body_contacts_result {
    int32_t sweeps;  /* done */
    int32_t colours; /* sets of contacts that share no body */
    double residual; /* mech_sets_residual of what was returned, with g l in place of l, g the
                        speed along n that a unit of l makes: the same in any units */
    double miss; /* the same map against the data alone, ‖r‖: an l that diverges is no answer */
    double own;  /* the most that a contact misses, over what it may by itself: at most 1 where that
                    has ended the sweeps */
    int32_t contact; /* INVALID, NOT_FINITE: the first that is wrong; else −1 */
    int32_t body;    /* INVALID, NOT_FINITE: the first that is wrong; else −1 */
};

struct mech_body_contacts; /* opaque: working memory only, no result depends on earlier calls */

/* 0 or MECH_NO_MEMORY; room for so many, both ≥ 0. */
int mech_body_contacts_create(int32_t bodies, int32_t contacts, struct mech_body_contacts **self);
void mech_body_contacts_destroy(struct mech_body_contacts *self); /* accepts NULL */

/* Grows when there is not room for so many. 0, or MECH_NO_MEMORY: as it was. */
int mech_body_contacts_reserve(struct mech_body_contacts *self, int32_t bodies, int32_t contacts);

/* Order of contacts matters for the result's last digits and the start alone: keep it from step to
 * step (sorted by id). 0: the tolerance is met; MECH_VI_NOT_CONVERGED: velocities and impulses of
 * the best look, or of that which ended the sweeps by `own`; MECH_INVALID (an index, a negative
 * coefficient or mass) and MECH_NOT_FINITE (NaN or infinity in the input, or too large numbers):
 * velocities and impulses as they came. Momentum is kept to rounding in any case. MECH_INTERNAL:
 * more than was reserved. */
int mech_body_contacts_solve(struct mech_body_contacts *self,
                             const struct mech_contact_bodies *bodies,
                             struct mech_body_contact *contacts, int32_t count,
                             const struct mech_body_contacts_options *options,
                             struct mech_body_contacts_result *result);
