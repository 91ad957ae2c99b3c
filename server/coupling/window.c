/* Windows of a command: how each begins, and what its end leaves in the command. */
#include "server/coupling/face.h"
#include "server/coupling/outside.h"
#include "server/coupling/saved.h"
#include "server/coupling/turn.h"

#include "solver/base/err.h"
#include "solver/base/text.h"
#include "solver/base/times.h"

#include <math.h>

bool mechd_coupling_steps(const struct mechd_coupling_command *k)
{
    return k->kind == MECHD_COUPLING_STEP || k->kind == MECHD_COUPLING_TRIAL ||
           k->kind == MECHD_COUPLING_POINT;
}

/* The start has given the instances their inputs, which no window has published yet; those that a
 * thread has alone are not published. */
static void publish_inputs(const struct mechd_coupling *g)
{
    for (int32_t n = 0; n < g->count && g->face != NULL; n++) {
        if (g->parts[n].outside == NULL && g->parts[n].in_count > 0) {
            mechd_instance_changed(g->parts[n].instance, 0);
        }
    }
}

void mechd_coupling_window_over(struct mechd_coupling_command *k)
{
    const struct mechd_coupling *const g = k->coupling;
    const struct mech_couple_report *const r = mech_couple_report(g->couple);
    char detail[sizeof k->detail];
    k->window = false;
    k->iterations += (uint64_t)r->iterations;
    k->evaluations += (uint64_t)r->evaluations;
    k->refused += (uint64_t)r->refused;
    k->residual = fmax(k->residual, r->residual);
    if (r->outcome == 0) {
        k->done += k->opening ? 0 : 1;
        if (k->opening) {
            // what follows fails by itself
            mechd_saved_free(k->before, k->coupling, 0);
            k->before = NULL;
        }
        k->coupling->opened = true;
        if (k->opening || !mechd_coupling_steps(k)) {
            publish_inputs(g);
        }
        if (k->opening) {
            mechd_face_changed(k->coupling, 0);
        } else if (k->kind == MECHD_COUPLING_STEP) {
            mechd_face_stepped(k->coupling);
            if (k->run != NULL && mechd_coupling_windows_done(k)) {
                mechd_turn_window(k);
            }
            mechd_outsides_store(k);
        }
        k->opening = false;
        return;
    }
    if (r->outcome == MECH_CANCELLED) {
        const enum mechp_code why = mechd_coupling_ends(k);
        mechd_coupling_refuse_end(k, why != MECHP_OK ? why : MECHP_CANCELLED);
        return;
    }
    mech_text_format(
        detail, sizeof detail, "%s%.63s%s%.110s", r->participant >= 0 ? "participant " : "",
        r->participant >= 0 ? g->parts[r->participant].name : "", r->participant >= 0 ? ": " : "",
        r->reason[0] != '\0' ? r->reason : mech_err_text(r->outcome));
    mechd_coupling_refuse(k,
                          r->outcome == MECH_NOT_CONVERGED && r->participant < 0
                              ? MECHP_COUPLING_NOT_CONVERGED
                              : mechp_code_of_outcome(r->outcome),
                          detail);
}

void mechd_coupling_expect(struct mechd_coupling_command *k)
{
    const struct mechd_coupling *const g = k->coupling;
    const double now = mechd_coupling_time(g);
    const uint64_t windows = g->opened ? mech_couple_windows(g->couple) : 0;
    if (!mechd_coupling_steps(k) || k->run != NULL || isnan(k->expect) ||
        mech_time_expected(now, k->expect, windows, k->size)) {
        return;
    }
    char detail[sizeof k->detail];
    mech_text_format(detail, sizeof detail,
                     "the coupling is at time %.17g, window %llu, %.3g s %s %.17g", now,
                     (unsigned long long)windows, fabs(now - k->expect),
                     now > k->expect ? "after" : "before", k->expect);
    mechd_coupling_refuse(k, MECHP_TIME_MISMATCH, detail);
}

bool mechd_coupling_windows_done(const struct mechd_coupling_command *k)
{
    if (isnan(k->until)) {
        return k->done >= k->windows;
    }
    const double now = mech_couple_time(k->coupling->couple);
    return !mech_time_before(now, k->until, mechd_coupling_scale(k->coupling, now, k->size));
}

bool mechd_coupling_window_commits(struct mechd_coupling_command *k)
{
    const struct mech_couple_task *const task = k->batch.tasks;
    const double end = task->time + task->size;
    const bool last =
        isnan(k->until)
            ? k->done + 1 >= k->windows
            : !mech_time_before(end, k->until, mechd_coupling_scale(k->coupling, end, k->size));
    if (task->action != MECH_COUPLE_COMMIT || k->kind != MECHD_COUPLING_STEP || !last ||
        mechd_coupling_close(k)) {
        return true;
    }
    (void)mech_couple_withdraw(k->coupling->couple, MECH_CANCELLED, "");
    k->batch.count = 0;
    return false;
}

bool mechd_coupling_window_begin(struct mechd_coupling_command *k)
{
    struct mech_couple *const c = k->coupling->couple;
    int code = 0;
    if (k->code != MECHP_OK || (!mechd_coupling_steps(k) && k->done > 0)) {
        return false;
    }
    if (!mechd_coupling_steps(k) || !k->coupling->opened) {
        k->opening = mechd_coupling_steps(k);
        code = mech_couple_start(c, mechd_engine_time(&k->coupling->parts[0].instance->engine));
    } else {
        const double now = mech_couple_time(c);
        mechd_outsides_give(k->coupling);
        if (mechd_coupling_windows_done(k) && (k->run == NULL || !mechd_turn_next(k))) {
            return false;
        }
        // the last one ends where it was asked to
        const double end = now + k->size;
        const bool cut =
            mech_time_before(k->until, end, mechd_coupling_scale(k->coupling, end, k->size));
        code = mech_couple_begin(c, cut ? k->until - now : k->size);
    }
    if (code != 0) {
        // after a commit that found no memory
        mechd_coupling_refuse(k, MECHP_INVALID_REQUEST, "the coupling has to be reset");
        return false;
    }
    k->window = k->begun = true;
    k->batch.count = k->at = 0;
    return true;
}
