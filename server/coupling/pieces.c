/* Windows in pieces: inputs that a value and two derivatives do not describe (cubic polynomials,
 * splines) are given to each internal step by parabolas through their values at its start, middle
 * and end, which are what Runge–Kutta schemes of fourth order read; what the coupling makes of the
 * outputs at the ends of the pieces is its own. The pieces are done in the instance, and a trial
 * that is repeated or discarded goes back to the window's start. */
#include "server/coupling/coupling.h"

#include "solver/base/err.h"
#include "solver/base/times.h"

#include <stdlib.h>

bool mechd_pieces_prepare(struct mechd_part *p, double size)
{
    const struct mechd_engine *const e = &p->instance->engine;
    double h = 0.;
    const double count =
        mech_time_steps((struct mech_time_part){.to = size}, mechd_engine_step_size(e), 0., &h);
    if (!(count < MECHD_COUPLING_PIECES)) {
        return false;
    }
    p->pieces = (int32_t)count + 1;
    return true;
}

bool mechd_pieces_room(struct mechd_part *p)
{
    p->start = malloc(mechd_engine_snapshot_size(&p->instance->engine));
    return p->start != NULL;
}

int mechd_piece_begin(struct mechd_part *p, const struct mech_couple_task *task, double *until)
{
    const struct mechd_engine *const e = &p->instance->engine;
    const size_t n = (size_t)p->in_count;
    bool same = true;
    double h = 0.;
    if (p->piece == 0 && p->started) {
        MECH_TRY(mechd_engine_snapshot_read(e, p->start, p->start_size, &same));
    } else if (p->piece == 0) {
        p->start_size = mechd_engine_snapshot_write(e, p->start);
        p->started = true;
    }
    if (p->piece == 0) {
        const double count = mech_time_steps((struct mech_time_part){.to = task->size},
                                             mechd_engine_step_size(e), 0., &h);
        p->piece_count = count < p->pieces ? (int32_t)count : p->pieces;
    }
    const double from = task->size * p->piece / p->piece_count;
    const double to = task->size * (p->piece + 1) / p->piece_count;
    double *const u = p->taylor, *const v = u + n, *const w = v + n;
    const double d = to - from;
    mech_couple_input(task, from, 0, u);
    mech_couple_input(task, from + 0.5 * d, 0, v);
    mech_couple_input(task, to, 0, w);
    for (size_t i = 0; i < n; i++) {
        const double slope = (4. * v[i] - 3. * u[i] - w[i]) / d;
        w[i] = 4. * (u[i] - 2. * v[i] + w[i]) / (d * d);
        v[i] = slope;
    }
    *until = p->piece + 1 == p->piece_count ? task->time + task->size : task->time + to;
    return 0;
}

bool mechd_piece_end(struct mechd_part *p, struct mech_couple_task *task)
{
    const int32_t done = p->piece + 1;
    const bool last = done == p->piece_count;
    if (task->want_samples) {
        task->times[p->piece] = last ? task->size : task->size * done / p->piece_count;
        task->samples = done;
    }
    p->piece = last ? 0 : done;
    return last;
}

int mechd_pieces_discard(struct mechd_part *p)
{
    bool same = true;
    const bool started = p->started;
    p->started = false;
    p->piece = 0;
    return started
               ? mechd_engine_snapshot_read(&p->instance->engine, p->start, p->start_size, &same)
               : 0;
}
