/* Moreau–Jean time stepping of models that are not linear, with joints and contacts: the θ rule
 * taken at the point q_θ, and impulses P of all one-sided rows, N s,
 *
 *     v_θ = (1 − θ) v_k + θ v_{k+1},   q_θ = q_k ⊕ hθ v_θ,   q_{k+1} = q_k ⊕ h v_θ
 *     M(q_θ) (v_{k+1} − v_k) = h f(q_θ, v_θ, t_k + hθ) + h G(q_θ)ᵀ λ + Hᵀ P
 *     G(q_{k+1}) v_{k+1} + g_t = 0                                      joints, at velocity level
 *     c = H v_{k+1} + E P + b,   c and P bound by the laws of the contacts             (sys/sets.h)
 *
 * which for linear systems is the scheme of linear.h. Newton's method, W = M − hθ ∂f/∂v −
 * h²θ² ∂f/∂q; each of its iterations solves the contacts with the joints eliminated exactly,
 *
 *     [ W Gᵀ; G 0 ] {Δv; −h Δλ} = {−r; −(G v + g_t)},   N = H W_G⁻¹ Hᵀ + E
 *
 * until the forces' residual, the joints' velocities and the contacts at the velocities reached are
 * within their tolerances; where iterations make no progress, within the rounding of the
 * balanced forces (balance.h), P/h among them. Then positions are brought to the joints,
 * G d = −g, in the metric of W: the drift of a step, O(h³) at θ = ½, does not add up. Overlaps that
 * remain are closed by a separate motion, s = W_G⁻¹ Hᵀ p (model/gap.h), which fulfils the
 * joints and does not enter v.
 *
 * Order 1 (J.-J. Moreau 1988; V. Acary, B. Brogliato 2008); 2 at θ = ½ where nothing closes or
 * opens. owner: one stepper; allocates only for more contacts than ever before. */
#pragma once

#include "solver/model/gap.h"
#include "solver/model/touch.h"
#include "solver/step/balance.h"
#include "solver/step/rates.h"
#include "solver/step/saddle.h"
#include "solver/sys/acceptance.h"
#include "solver/vi/body_contacts.h"
#include "solver/vi/body_newton.h"
#include "solver/vi/vi.h"

enum {
    MECH_IMPACT_ROWS_MOST = 3000, /* of one step; N is 72 MB then */
    MECH_IMPACT_SOLVERS_MOST = 16 /* members of vis.def */
};

/* What a set of rows belongs to. */
enum mech_impact_kind { MECH_IMPACT_LAW, MECH_IMPACT_SIDE, MECH_IMPACT_TOUCH };

struct mech_impact_set {
    enum mech_impact_kind kind;
    /* LAW: first row in mech_model_contacts; SIDE: row of the joints; TOUCH: in the list */
    int32_t of;
    double gap, drift; /* SIDE and rigid TOUCH: at q_m, m; rate of the row beside H v, m/s */
    bool closes;       /* overlaps of it are closed at position level */
};

/* The one-sided rows of one step, y' = H v, and their impulses. */
struct mech_impact_rows {
    int32_t count, sets;
    int32_t *start;  /* [count + 1] */
    int32_t *column; /* velocities; nv: the ground's */
    double *value;
    double *b, *E;               /* [count] m/s; m/(N s) */
    double *P;                   /* [count] N s, as far as v has them; 0 to begin with */
    double *guess;               /* [count] where solvers start from, N s */
    struct mech_set *set;        /* [sets] */
    struct mech_impact_set *who; /* [sets] */
    int32_t most;                /* rows that there is room for */
    size_t entries;              /* and entries */
};

/* Room for so many. 0; negative. fini accepts zeros. */
int mech_impact_rows_reserve(struct mech_impact_rows *r, int32_t rows, size_t entries);
void mech_impact_rows_fini(struct mech_impact_rows *r);
/* One more row of n entries; returns where they go. */
int32_t mech_impact_rows_open(struct mech_impact_rows *r, int32_t n, double b, double E,
                              double guess);
/* The last set.rows rows are a set. */
void mech_impact_rows_set(struct mech_impact_rows *r, struct mech_set set,
                          enum mech_impact_kind kind, int32_t of);

/* Models of free bodies alone. */
enum {
    MECH_ACCEPTABLE_AFTER = 1000, /* iterations */
    MECH_ACCEPTABLE_SLACK = 10,   /* on what is off against the data, of contact.acceptable */
    MECH_ACCEPTABLE_FROM = 30,    /* contacts: fewer are tried by every member first */
    MECH_ACCEPTABLE_LAST = 4,     /* times contact.acceptable that a pile of more than
                                     MECH_IMPACT_ROWS_MOST rows may keep after all sweeps: tied by
                                     friction it may have no solution (body_contacts.c) */
    MECH_FEW_SWEEPS = 200,        /* of so few, before a member that factors is tried */
    MECH_SECOND_STEPS = 15,       /* that a method of second order mostly takes; sweeps after it */
    MECH_LAST_SWEEPS = 20,
    MECH_SECOND_MOST = 1000, /* sweeps that it may cost where what sweeps come to can be accepted */
    /* of a pile whose contacts last: steps after which it may end for good, as the next steps of
       time begin from what it finds; sweeps that these may cost, and all may of an island */
    MECH_LASTING_STEPS = 5,
    MECH_LASTING_MOST = 1500,
    MECH_LASTING_ALL = 2500,
    /* of associated laws; of those, that may be no better one after the other; sweeps of each */
    MECH_ROUNDS = 20,
    MECH_ROUNDS_WORSE = 6,
    MECH_ROUND_SWEEPS = 200,
    MECH_SECOND_SHARE = 100, /* of contact.acceptable: what is taken of few contacts after it */
    /* what a contact may miss by itself (mech_contact_own): these parts of what its impulse changes
       by, and of the speeds at which its bodies move beside those that they touch */
    MECH_OWN_CHANGE = 1000,
    MECH_OWN_STIR = 100
};

/* Of a contact while associated laws are solved one after the other. */
struct mech_round {
    double b_N;                   /* of Coulomb's law, m/s */
    double impulse[3], couple[3]; /* the best, N s, N m s */
};

struct mech_sweeps {
    bool on;
    bool failed;   /* in this step, so that no other member begins with the same once more */
    bool second;   /* and the method of second order was tried too */
    bool whole;    /* no contact is enough by itself */
    bool sufficed; /* the last sweeps ended where each contact misses little by itself */
    struct mech_body_contacts *solver;
    struct mech_body_newton *newton;        /* of second order, where sweeps stall */
    double *inverse_mass, *inverse_inertia; /* [bodies × 3], [bodies × 9] */
    double *before, *twist, *forced;        /* [bodies × 6] at the start; now; h M⁻¹ f */
    double *f, *last;                       /* [nv + 1] h M⁻¹ f; of the last repeat */
    struct mech_body_contact *at;           /* [count] */
    int32_t *of;                            /* [count] in the list */
    struct mech_round *round;               /* [count] scratch */
    int32_t count, most;
    int32_t lasting;    /* of them, those that the last step had too */
    double second_cost; /* sweeps of a step of `newton` for them; 0: not known yet */
};

/* Contacts that are open and may close within the step: bodies_foretold.c. */
struct mech_foretold_pair {
    int32_t from, to; /* in open */
    int32_t of, ofs;  /* in the list: what acts while it waits, from and to */
};
enum mech_foretold_mark { MECH_FORETOLD_NEAR, MECH_FORETOLD_PUSHES, MECH_FORETOLD_OUT };
/* bodies_slide.c: what a contact does in the step, as far as its start shows that. */
enum mech_slide_stage { MECH_SLIDE_OPEN, MECH_SLIDE_LASTS, MECH_SLIDE_EVENT };
enum { MECH_SLIDES = 5 }; /* rows of a contact beside N: T1, T2, S, R1, R2 */
enum { MECH_SLIDES_ALONG = 1, MECH_SLIDES_SPINNING = 2, MECH_SLIDES_ROLLING = 4 };
/* What is known of a contact of the list: it is near; it pushes, as the solvers of impulses say; it
 * has been taken out. `of`: its number among the sets of rows, or the contacts of the sweeps. */
struct mech_foretold_of {
    enum mech_foretold_mark mark;
    int32_t of;
    /* bodies_turn.c */
    double turn[3];  /* m/s², global: the rate of its rows at the velocities of the start */
    double gap;      /* m, that its law reads */
    double drift[3]; /* m/s along n, t1, t2: by what its speeds change from the middle to the end */
    /* bodies_slide.c */
    enum mech_slide_stage stage;
    bool resists;              /* rolling or spinning */
    unsigned slides;           /* MECH_SLIDES_…: which of its parts do */
    double press;              /* N s: μ P_N of the last step */
    double arm;                /* m: the longer one, if it resists */
    double slip[MECH_SLIDES];  /* along T1, T2, m/s, and about S, R1, R2, rad/s, at the start */
    double slows[2];           /* rad/s: by what S and R may change in a step */
    double slide[MECH_SLIDES]; /* what its law adds to the drift of T1 to R2 where it slides */
};
struct mech_foretold {
    struct mech_contact_list open;             /* those that wait, by pairs */
    struct mech_contact_list near, known, met; /* scratch */
    struct mech_foretold_pair *pair;
    int32_t pairs, most, rounds;
    struct mech_foretold_of *of; /* [list.n] */
    int32_t ofs;                 /* that there is room for */
    double *turn;                /* [3 × ofs] scratch */
    double *v;                   /* [nv + 1] scratch */
};
/* What a look changes in the list: contacts at its end; whether some are marked as taken out. */
struct mech_foretold_change {
    int32_t added;
    bool out;
};
void mech_foretold_fini(struct mech_foretold *f);

/* bodies_slide.c: groups of bodies that touch each other, or that joints connect. */
struct mech_slides {
    bool on;         /* contacts that slide on are looked for in this step */
    bool any;        /* and there are some, until the impulses are found */
    int32_t *group;  /* [bodies] a smaller one of the same group, or itself */
    int32_t *joined; /* [bodies] the first of those that joints connect with it */
    double *press;   /* [bodies] N s: of all contacts of a body */
    bool *upset;     /* [bodies] of a group: some contact neither slides nor sticks */
    double *lambda;  /* [rows + 1] of the joints at the start of the step, for another try */
    double *rate;    /* [nv + 1] the mean v̇ of the last step */
};

/* The integrator whose operations are mech_moreau_jean_bodies (ops.h, bodies.c). */
struct mech_moreau_bodies {
    const struct mech_model *model;
    struct mech_arena arena;
    double theta, h; /* the saddle is formed for this h; 0: not yet */
    int32_t nv, nq, rows;
    struct mech_rates rates; /* the start, forces */
    struct mech_saddle saddle;
    double *q0, *v0;               /* [nq + 1], [nv + 1] start of the step */
    double *q_m, *v_m;             /* the same at θ */
    double *d;                     /* [nv + 1] motion */
    double *r, *x;                 /* [nv + rows + 1] residual, N s and m/s; scratch */
    double *outer, *force, *inert; /* [nv + 1] of the last residual: F, f, and r without P */
    struct mech_balance balance;
    double *gt, *bias; /* [rows + 1] */
    double *g;         /* [entries of G] */
    double *place, *u; /* [nv + 1] −q_ref by velocities; scratch */
    double *warm;      /* [rows + 1] impulses of one-sided rows in the last step, N s */
    double missed;     /* by rows that were left out, of what they may miss */
    int32_t missing;   /* the row that misses most */
    /* first-order states, by the trapezoidal rule weighted by θ */
    int32_t nx;
    struct mech_mat X, one; /* 1 − hθ A; 1 */
    struct mech_lsol *x_solver;
    double *rate; /* [nx + 1] */
    /* contacts */
    struct mech_impact_rows impacts;
    struct mech_contact_list list; /* between shapes, at q_m, that act in this step */
    struct mech_foretold foretold;
    struct mech_slides slides;
    struct mech_touch_rows touch; /* scratch */
    struct mech_sweeps sweeps;
    struct mech_acceptance *accept;         /* room for `most`; NULL: not yet */
    struct mech_mat N;                      /* [count × count] values [most × most] */
    double *c, *q, *trial, *best, *zero;    /* [most] */
    double *noise;                          /* [most] of each set, what rounding makes of q_N */
    int32_t most;                           /* rows that these have room for */
    void *solver[MECH_IMPACT_SOLVERS_MOST]; /* of mech_vi_types, NULL until it is needed */
    enum mech_friction friction;
    double acceptable; /* residual that is taken after that many iterations; 0: none */
    bool formed;       /* N belongs to the factors in saddle */
    bool accepted;     /* no solver came to its tolerance in this step, and that is accepted */
    double off;        /* the residual that is accepted then */
    const char *used;  /* complementarity solver */
};

/* bodies_newton.c: v_{k+1}, λ, P and q_{k+1} of a step from q0, v0 that ends at t. */
int mech_moreau_bodies_solve(struct mech_moreau_bodies *s, struct mech_state *state, double t,
                             struct mech_step_result *result);

/* bodies_rows.c. One-sided joints leave the saddle matrix for the contacts. */
void mech_moreau_bodies_open(struct mech_moreau_bodies *s, struct mech_state *state);
/* The rows that may act in this step; v are those of the free motion, the poses any. 0 or an
 * outcome with a reason. */
int mech_moreau_bodies_find(struct mech_moreau_bodies *s, const struct mech_state *state,
                            struct mech_step_result *result);
/* Rows as the velocities of the state have them; *changed: they are other ones. What was taken out
 * has left v and λ. The same. */
int mech_moreau_bodies_find_more(struct mech_moreau_bodies *s, struct mech_state *state,
                                 bool *changed, struct mech_step_result *result);
/* After the step: impulses, reactions and contacts into the state. 0; MECH_UNSUPPORTED: more
 * contacts than the state has room for. */
int mech_moreau_bodies_keep(struct mech_moreau_bodies *s, struct mech_state *state,
                            struct mech_step_result *result);
/* q_m = q_k ⊕ (1 − θ) h v_k into s->q_m; returns its time. */
double mech_moreau_bodies_middle(struct mech_moreau_bodies *s, const struct mech_state *state);
/* What gaps are judged by in this step. */
struct mech_gap_step mech_moreau_bodies_gap(const struct mech_moreau_bodies *s);

/* Contact i of the list has its impulse at `of`, which pushes or does not. */
static inline void mech_moreau_bodies_says(struct mech_moreau_bodies *s, int32_t i, int32_t of,
                                           bool pushes)
{
    s->foretold.of[i].mark = pushes ? MECH_FORETOLD_PUSHES : MECH_FORETOLD_NEAR;
    s->foretold.of[i].of = of;
}

/* v [nv + 1] without what the impulses of one pair have added, those of the list's contacts [from,
 * to) that are marked as pushing, which writes s->x and s->trial. 0; MECH_SINGULAR. */
typedef int mech_moreau_bodies_undo(struct mech_moreau_bodies *s, int32_t from, int32_t to,
                                    double *v);
mech_moreau_bodies_undo mech_moreau_bodies_undo_sweeps, mech_moreau_bodies_undo_rows;

/* bodies_foretold.c. What is near at q_m, the point of e, into s->list, ascending by
 * id. 0; MECH_NOT_FINITE; negative. */
int mech_moreau_bodies_foretell(struct mech_moreau_bodies *s, const struct mech_eval *e);
/* Looks through the motion at the state's velocities, where marks say what pushes: a contact that
 * bars more than its bodies do is marked as taken out, what the motion comes to touch goes after
 * the contacts of s->list. Writes s->q_m and s->d. Returns as above. */
int mech_moreau_bodies_look(struct mech_moreau_bodies *s, const struct mech_state *state,
                            mech_moreau_bodies_undo *undo, struct mech_foretold_change *change);

/* bodies_turn.c. How the rows of the list's contacts turn, from number `from` on, at
 * the poses of the middle. Writes the motions of the scene. 0; MECH_NOT_FINITE; negative. */
int mech_moreau_bodies_turn(struct mech_moreau_bodies *s, const struct mech_state *state,
                            int32_t from);
/* What contact i's law reads of that: `gap` and `drift` of s->foretold.of[i]; speed: of the
 * velocities at the start along its normal; rows: its frame and arms; kept: of the state, or
 * NULL. */
void mech_moreau_bodies_lasts(struct mech_moreau_bodies *s, int32_t i,
                              const struct mech_material *material,
                              const struct mech_touch_rows *rows, double speed,
                              const struct mech_touched *kept);

/* Whether impulses of a contact may do work by its drift; its drift without that, and by how much b
 * changes. */
bool mech_moreau_bodies_may_gain(const struct mech_foretold_of *of);
void mech_moreau_bodies_stop(struct mech_foretold_of *of, double change[3]);

/* bodies_slide.c. Memory, and which bodies joints connect; 0 or MECH_NO_MEMORY. */
int mech_moreau_bodies_slides_init(struct mech_moreau_bodies *s);
/* The stage of contact i, after mech_moreau_bodies_lasts, with the same arguments;
 * true: `slip` of s->foretold.of[i] is to be set. */
bool mech_moreau_bodies_may_slide(struct mech_moreau_bodies *s, int32_t i,
                                  const struct mech_material *material, double speed,
                                  const struct mech_touched *kept);
/* When all contacts of the list have their stages: which of them slide on; their b beside b_N are
 * to grow by `slide`. False: none. */
bool mech_moreau_bodies_slide(struct mech_moreau_bodies *s);
/* In the group of contact i no contact slides on. */
void mech_moreau_bodies_upset(struct mech_moreau_bodies *s, int32_t i);
/* The same if a part of contact i slides and has turned around, with these speeds at the end. */
void mech_moreau_bodies_look_back(struct mech_moreau_bodies *s, int32_t i,
                                  const double u[MECH_SLIDES]);
/* If contact i slides in an upset group, it no longer does, and its b [rows], beside that of N, are
 * changed. */
bool mech_moreau_bodies_stop_slide(struct mech_moreau_bodies *s, int32_t i, int32_t rows,
                                   double *b);

/* bodies_touch.c. Contacts between shapes that act, into s->list, with the velocities
 * of the free motion in the state. 0; MECH_NOT_FINITE with a reason; negative. */
int mech_moreau_bodies_detect(struct mech_moreau_bodies *s, const struct mech_state *state,
                              struct mech_step_result *result);
/* As mech_moreau_bodies_look, with a reason. */
int mech_moreau_bodies_detect_more(struct mech_moreau_bodies *s, const struct mech_state *state,
                                   mech_moreau_bodies_undo *undo,
                                   struct mech_foretold_change *change,
                                   struct mech_step_result *result);
/* The contacts that the state keeps, ascending by id again. */
void mech_moreau_bodies_sort(struct mech_touched *at, int32_t n);
/* Rows of the list's contacts from number `from` on. */
int mech_moreau_bodies_touch(struct mech_moreau_bodies *s, const struct mech_state *state,
                             int32_t from);
/* What the state keeps of a contact, or NULL, for ids in any order. `at` runs through it while they
 * ascend, from 0. */
const struct mech_touched *mech_moreau_bodies_kept(const struct mech_state *state, uint64_t id,
                                                   size_t *at);
/* Rows with impulses as contacts of the state. Returns as mech_moreau_bodies_keep. */
int mech_moreau_bodies_record(struct mech_moreau_bodies *s, struct mech_state *state,
                              struct mech_step_result *result);
/* Room in the state for n contacts; NULL with a reason: there is none. */
struct mech_touched *mech_moreau_bodies_room(const struct mech_moreau_bodies *s,
                                             struct mech_state *state, int32_t n,
                                             struct mech_step_result *result);

/* bodies_free.c: steps of free bodies by sweeps. */
/* Under what name of a complementarity solver they are known. */
const char *mech_moreau_bodies_sweeps_name(void);
bool mech_moreau_bodies_suits_sweeps(const struct mech_model *m);
int mech_moreau_bodies_sweeps_init(struct mech_moreau_bodies *s);
void mech_moreau_bodies_sweeps_fini(struct mech_moreau_bodies *s);
/* 0; MECH_VI_NOT_CONVERGED, MECH_NOT_CONVERGED: the step is for Newton's method, from q0 and v0. */
int mech_moreau_bodies_sweep(struct mech_moreau_bodies *s, struct mech_state *state,
                             struct mech_step_result *result);

/* bodies_sweeps.c: v := v_k + h M⁻¹ f, which the state has, with the impulses of the
 * contacts of s->sweeps, from those they have. 0, which may be accepted; MECH_VI_NOT_CONVERGED. */
int mech_moreau_bodies_impulses(struct mech_moreau_bodies *s, struct mech_state *state,
                                struct mech_step_result *result);

/* Whether sweeps may end where each contact misses little by itself. */
bool mech_moreau_bodies_own(const struct mech_moreau_bodies *s);

/* bodies_gather.c: contacts, masses and velocities for the sweeps. */
/* Velocity of the second body's point against the first's along n, from twists [bodies × 6]. */
double mech_moreau_bodies_approach(const struct mech_body_contact *c, const double *twist);
/* The same along t1 and t2, and of the bodies' turns along n, t1 and t2. */
void mech_moreau_bodies_slip(const struct mech_body_contact *c, const double *twist,
                             double u[MECH_SLIDES]);
/* Into s->sweeps: all contacts, inverse masses and velocities, at the poses of the middle. 0;
 * MECH_NO_MEMORY; what detecting returns. */
int mech_moreau_bodies_gather(struct mech_moreau_bodies *s, const struct mech_state *state,
                              struct mech_step_result *result);
/* The list's contacts from number `from` on, behind those that are there. 0; MECH_NO_MEMORY. */
int mech_moreau_bodies_take(struct mech_moreau_bodies *s, const struct mech_state *state,
                            int32_t from);

/* bodies_impact.c: P for the present v, which gets W_G⁻¹ Hᵀ ΔP added, and λ its part.
 * 0; MECH_VI_NOT_CONVERGED, with a reason … */
int mech_moreau_bodies_impact(struct mech_moreau_bodies *s, struct mech_state *state,
                              struct mech_step_result *result);
/* Rows of contacts that are marked as taken out, out of the rows, of v and of λ. The same. */
int mech_moreau_bodies_let_go(struct mech_moreau_bodies *s, struct mech_state *state,
                              struct mech_step_result *result);
/* c = N P + q of these rows, the problem of this step. */
struct mech_problem mech_moreau_bodies_problem(const struct mech_moreau_bodies *s);
/* bodies_solvers.c: P of that problem from s->impacts.guess, into s->best. Writes
 * s->trial and s->c. Returns as mech_moreau_bodies_impact. */
int mech_moreau_bodies_run(struct mech_moreau_bodies *s, struct mech_step_result *result);
/* ½ PᵀN P + P·q of P [rows], J, and what rounding leaves of it; 0: it is not positive. Writes
 * s->c. */
double mech_moreau_bodies_work(struct mech_moreau_bodies *s, const double *P);
/* Whether impulses that were accepted do no work at the velocities v that they have led to. */
bool mech_moreau_bodies_still(struct mech_moreau_bodies *s, const double *v);
/* Whether members that sweep get MECH_FEW_SWEEPS iterations at first: contacts that repeat each
 * other stall them, and fewer than MECH_ACCEPTABLE_FROM cost little to factor. */
bool mech_moreau_bodies_hurries(const struct mech_moreau_bodies *s, int32_t contacts);
/* What is left of the contacts at v, as sys/acceptance.h measures it, with the largest s:
 * impulses were accepted with that of theirs. In islands where nothing asks for an impulse, beside
 * the speeds that make c. NaN when something is. */
double mech_moreau_bodies_miss(struct mech_moreau_bodies *s, const double *v);
/* What the impulses add to kinetic energy (stepper.h) from v0 to the end of a step in which
 * contacts push, with what the impulses of joints add then: their rows are those of the end,
 * against which the start has a speed of order h. s->g and what is beside it, and the poses, are
 * those of q_θ afterwards. */
double mech_moreau_bodies_added(struct mech_moreau_bodies *s, const struct mech_state *state);
/* N for the factors that the saddle has now, where it is not formed yet. */
int mech_moreau_bodies_form(struct mech_moreau_bodies *s, struct mech_step_result *result);
/* Work of impulses, whose terms are `size`, if it is positive (stepper.h), without what the law
 * does not leave, `missed`: within the solvers' tolerance, or the residual that is
 * accepted, that is no gain. */
double mech_moreau_bodies_gain(const struct mech_moreau_bodies *s, double work, double missed,
                               double size);
/* After the impulses, at v of the state: where contacts have more kinetic energy than without
 * impulses, or without any forces than at the start, they lose what of their drifts may do that.
 * True: b has changed. */
bool mech_moreau_bodies_stop_turns(struct mech_moreau_bodies *s, const struct mech_state *state);
/* The same for what slides in groups that are upset, or turns around. */
bool mech_moreau_bodies_stop_slides(struct mech_moreau_bodies *s, const struct mech_state *state);

/* bodies_overlap.c: overlaps left at the end of the step are closed in state->q, at
 * most at recoverySpeed; v is as it was. After Newton's method. */
int mech_moreau_bodies_part(struct mech_moreau_bodies *s, struct mech_state *state, double t,
                            struct mech_step_result *result);
/* The same after sweeps, into s->d, the motion of the step. */
void mech_moreau_bodies_part_free(struct mech_moreau_bodies *s);

/* x [nv] += share HᵀP */
void mech_moreau_bodies_push(const struct mech_impact_rows *rows, double share, const double *P,
                             double *x);
