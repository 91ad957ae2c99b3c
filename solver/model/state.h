/* The state of one instance: one contiguous block, so that save and restore are one memcpy and a
 * trial is a second block. Every vector has one more slot than its size says: the last is the
 * ground (coordinate 0, velocity 0; additions to it are ignored).
 *
 * Everything that the next step reads is in here. owner: the simulation.
 */
#pragma once

#include "solver/model/signal.h"

#include <stddef.h>
#include <stdint.h>

struct mech_state_sizes {
    int32_t q, v, x, lambda, z, impulse;
    int32_t input; /* channel values in all, packed */
    int32_t parameter;
    int32_t carry;   /* doubles that the integrator carries from step to step beyond these */
    int32_t contact; /* most contacts of a step between shapes */
};

/* One contact of the last step between two shapes; id as in contact/contact.h. */
struct mech_touched {
    uint64_t id;
    double p[3], n[3]; /* halfway between the surfaces, m; the normal */
    double gap;        /* m, where the step looked for contacts */
    double impulse[3]; /* N s, global, on the second body at p */
    double couple[3];  /* N m s, global, on the second body */
    double arm[2][3];  /* m, global: p from the bodies' centres of mass, there; 0 of the ground */
    /* of a penalty contact, whose impulse holds its force, N: points in the bodies' frames, of the
       ground global, which a spring along the surfaces joins; else 0 */
    double anchor[2][3];
};

/* Values of `open` other than 0, the row acts, and 1, it does not; see below. */
enum {
    MECH_SIDE_UNKNOWN = 2, /* one-sided: decided when a step starts from here */
    MECH_LET_GO = 3        /* of a deactivated object */
};

/* What has changed since the last step. Stored states of earlier versions have no second one. */
enum {
    MECH_CHANGED_RATES = 1,  /* inputs, forces or parameters */
    MECH_CHANGED_MOTION = 2, /* q or v have been set: no step has led to them */
    MECH_CHANGED_ALL = 3
};

/* Pointers into the block. */
struct mech_state {
    double *block;
    size_t size; /* bytes */
    struct mech_state_counters {
        double time;
        uint64_t steps;   /* internal steps since the start */
        uint32_t changed; /* not 0: v̇, a and λ must be computed anew before the next step; a sum of
                             MECH_CHANGED_… */
        uint32_t edits;   /* changes of the document's fields so far, which no state takes back */
        double last_step; /* h of the last internal step, 0 before the first */
        uint64_t touched; /* contacts between shapes of that step */
        double rest;      /* what `time` cannot hold of the time (base/times.h) */
        double size;      /* h of the step that a, λ, v at index 3, and what else a scheme takes
                             from step to step belong to; 0: to none, a start */
    } * at;
    double *q, *v;    /* [q], [v] total coordinates; velocities */
    double *vdot, *a; /* [v] accelerations; algorithmic accelerations of generalized-α */
    double *x, *lambda, *z;
    double *open;    /* [lambda] 0: a row that acts; 1: one that does not, one-sided or left out;
                        MECH_SIDE_UNKNOWN; MECH_LET_GO */
    double *impulse; /* [impulse] of the last step, N s; behind the rows of second order the
                        multipliers λ of first-order systems, in their own units */
    double *input;   /* [4 × input]: value, first, second derivative; time since which they hold */
    double *input_set;         /* [input] 1: set, 0: the model's own value acts */
    double *parameter;         /* [parameter] */
    double *carry;             /* [carry] */
    double *q_start, *v_start; /* [q], [v] at the start of the last communication step */
    /* [at->touched] of [contact], ascending by id, the end of the block; 0 behind them */
    struct mech_touched *touched;
    /* not in the block: generalized forces [v] that act during the running command, or NULL */
    const double *extra;
    /* the same for markers that move: [6 × markers] force and torque, or NULL */
    const double *wrench;
    /* the same: what packed inputs are over the running command, [input], those with n > 0; or
       NULL */
    const struct mech_signal *signals;
    /* not in the block: the share of loads on markers that move which is held back; 0: all act */
    double held;
};

/* Bytes of a block with these sizes. */
size_t mech_state_bytes(const struct mech_state_sizes *n);
/* Point *s into a block of mech_state_bytes. */
void mech_state_place(const struct mech_state_sizes *n, double *block, struct mech_state *s);
/* Bytes of the block up to the last contact that there is. */
size_t mech_state_used(const struct mech_state *s);
/* Copy what the block holds; both of the same sizes, `to` zeroed once or copied to before. `extra`
 * of `to` stays. */
void mech_state_copy(const struct mech_state *from, struct mech_state *to);
/* The same but for q_start and v_start, a third of most states: for callers that set them. */
void mech_state_copy_unstarted(const struct mech_state *from, struct mech_state *to);
/* The impulses of the last step, `rows` of them and those of contacts between shapes, as they are
 * over a step of h if forces stay: what an iteration starts from. 0 when h is more than 16 times as
 * long: impulses of so short a time are no guide. */
void mech_state_impulses_for(struct mech_state *s, int32_t rows, double h);
/* Room for `count` contacts, at most sizes.contact, whose contents are the caller's to write: those
 * behind it are 0. */
struct mech_touched *mech_state_touch(struct mech_state *s, size_t count);
