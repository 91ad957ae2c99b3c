/* Contacts between shapes as constraints of a model's descriptor; see to_sys.h, gap.h. Those that
 * push by penalty are forces, not constraints. They are detected where the bodies are in a step,
 * q ⊕ (1 − θ) h v. */
#include "solver/base/err.h"
#include "solver/model/to_sys_internal.h"
#include "solver/model/touch.h"

#include <math.h>
#include <string.h>

/* Impulse and couple of the last step along the rows of a contact. */
static void start_values(const struct mech_state *state, uint64_t id, const double *frame,
                         double l[MECH_SET_ROWS])
{
    for (uint64_t i = 0; i < state->at->touched; i++) {
        const struct mech_touched *const kept = &state->touched[i];

        for (int k = 0; k < 9 && kept->id == id; k++) {
            l[k / 3] += frame[k] * kept->impulse[k % 3];
            l[3 + k / 3] += frame[k] * kept->couple[k % 3];
        }
    }
}

static int add_touch(struct mech_system_build *b, const struct mech_gap_step *step,
                     const struct mech_contact *contact, int32_t number)
{
    const struct mech_material material = mech_model_touch_material(b->m, contact);
    const struct mech_arena_mark mark = mech_arena_mark(&b->scratch);
    struct mech_system_place places[MECH_SET_ROWS * 2 * MECH_MARKER_SLOTS];
    struct mech_system_group g = {.about = {.source = MECH_SOURCE_CONTACT,
                                            .row = number,
                                            .set = mech_gap_set(&material),
                                            .position = contact->gap},
                                  .at = places};
    struct mech_touch_rows rows;
    double bE[2], speed = 0.;
    int32_t shape;

    mech_model_touch_rows(b->m, contact, &rows);
    mech_model_touch_collider(b->m, contact->collider[0], &g.about.item, &shape);
    mech_model_touch_collider(b->m, contact->collider[1], &g.about.other, &shape);
    for (int32_t k = 0; k < rows.n; k++) {
        speed += rows.G[0][k] * b->e->v[rows.slot[k]];
        for (int32_t r = 0; r < g.about.set.rows; r++) {
            if (rows.G[r][k] != 0.) {
                places[g.count++] = (struct mech_system_place){r, rows.slot[k], rows.G[r][k]};
            }
        }
    }
    if (!mech_gap_contact(step, &material, contact->gap, speed, bE) && !b->request->all_contacts) {
        g.about.flags = MECH_CONSTRAINT_FREE;
    }
    g.b[0] = bE[0];
    g.about.cfm = bE[1];
    start_values(b->e->state, contact->id, rows.frame, g.l);
    MECH_TRY(mech_system_group(b, &g));
    mech_arena_release(&b->scratch, mark);
    return 0;
}

struct mech_gap_step mech_system_step(const struct mech_system_build *b)
{
    return (struct mech_gap_step){.h = b->request->h,
                                  .theta = b->request->theta,
                                  .gamma = b->m->document->solver.gamma,
                                  .contact = &b->m->document->contact};
}

int mech_system_middle(struct mech_system_build *b, struct mech_eval *out)
{
    const size_t nq = (size_t)b->m->sizes.q + 1, nv = (size_t)b->m->sizes.v + 1;
    const double ahead = (1. - b->request->theta) * b->request->h;
    double *const q = mech_arena_alloc(&b->scratch, nq + nv, sizeof *q);

    if (!q) {
        return MECH_NO_MEMORY;
    }
    for (size_t i = 0; i + 1 < nv; i++) {
        q[nq + i] = ahead * b->e->v[i];
    }
    mech_model_move(b->m, b->e->q, q + nq, q);
    *out = *b->e;
    out->q = q;
    out->t += ahead;
    out->posed = false;
    return 0;
}

int mech_system_find_touches(struct mech_system_build *b)
{
    struct mech_eval at;

    if (b->request->level != MECH_LEVEL_VELOCITY || mech_model_touch_bodies(b->m) == 0) {
        return 0;
    }
    MECH_TRY(mech_system_middle(b, &at));
    return mech_model_touch_find(b->m, &at, b->request->h, &b->touches);
}

int mech_system_touches(struct mech_system_build *b)
{
    const struct mech_gap_step step = mech_system_step(b);

    if (b->touches.n > 0) {
        /* rows of joints have moved the poses since: at the same ones they are the same */
        MECH_TRY(mech_system_find_touches(b));
    }
    for (int32_t i = 0; i < b->touches.n; i++) {
        MECH_TRY(add_touch(b, &step, &b->touches.at[i], i));
    }
    return 0;
}
