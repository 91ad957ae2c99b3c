/* Bodies that touch inside: what touch_compile.c makes and touch.c reads. */
#pragma once

#include "solver/model/internal.h"
#include "solver/model/touch.h"

/* A moving body with shapes. */
struct mech_moving_body {
    int32_t object;
    struct mech_seat seat;
    double center[3]; /* of mass, in its frame */
    double extent;    /* m, how far from the frame's origin turning moves what touches */
    double mobility;  /* 1/m; HUGE_VAL: its type knows no mass */
    /* of a free body, in its frame */
    double inverse_mass, inverse_inertia[9];
    bool round; /* the inverse inertia is a multiple of 1 */
};

struct mech_collider_of {
    int32_t object, shape, body; /* body −1: the ground */
};

struct mech_touch {
    struct mech_moving_body *bodies; /* [count] */
    int32_t count;
    struct mech_collider_of *colliders; /* [collider_count] */
    int32_t collider_count;
    int32_t moving_shapes;            /* of them, on bodies */
    struct mech_collider *shapes;     /* [collider_count] what the scene was made of */
    struct mech_scene *scene;         /* NULL where no body moves */
    struct mech_pose *poses;          /* [count] at the last mech_model_touch_find */
    struct mech_placement *at;        /* [count] the same for the scene */
    double *reach;                    /* [count] m */
    struct mech_scene_motion *motion; /* [count] of the last mech_model_touch_set_out */
    bool free;
};

/* touch.c: the pose of a body's frame; J is not written where it follows (lean). */
void mech_touch_pose(const struct mech_moving_body *b, const struct mech_eval *e,
                     struct mech_pose *pose);

/* touch_output.c: force and torque of all contacts of an object. As mech_model_item_output. */
int mech_touch_output(const struct mech_model *m, const struct mech_state *s,
                      const struct mech_output_request *r, size_t capacity, double *values,
                      size_t *count);

/* touch_compile.c: the shapes of all bodies; then, with M, a scene of them where one that moves has
 * some, which finds no faults. */
int mech_touch_shapes(struct mech_model *m, struct mech_diag *diag);
int mech_touch_scene(struct mech_model *m, struct mech_diag *diag);
void mech_touch_fini(struct mech_touch *t); /* accepts NULL */
