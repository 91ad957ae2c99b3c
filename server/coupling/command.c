/* Commands of couplings: capture all, work in slices, give all free.
 *
 * Only the thread that has captured the last instance, or that the pool gives the command's task,
 * touches it: from capture to capture it goes along with the ownership. */
#include "server/coupling/face.h"
#include "server/coupling/keep.h"
#include "server/coupling/outside.h"
#include "server/coupling/saved.h"
#include "server/coupling/share.h"
#include "server/coupling/turn.h"

#include "protocol/frame/frame.h"
#include "server/call/service.h"
#include "server/instance/durable.h"
#include "server/instance/stepping.h"
#include "server/os/ticks.h"
#include "solver/base/err.h"
#include "solver/base/text.h"
#include "solver/base/times.h"

#include <assert.h>
#include <math.h>
#include <stddef.h>
#include <stdlib.h>

/* What one slice takes about; and on the thread that carries the request, ns. */
static const uint64_t slice = MECHD_MS;
static const uint64_t direct = 200000;

/* From which states each state can be reached: bits 1 << enum mechd_coupling_state. */
#define AFTER(state) (1u << MECHD_COUPLING_##state)
static const unsigned reached_from[] = {[MECHD_COUPLING_WAITING] = AFTER(WAITING) | AFTER(OVER),
                                        [MECHD_COUPLING_CAPTURING] = AFTER(WAITING),
                                        [MECHD_COUPLING_WORKING] = AFTER(CAPTURING),
                                        [MECHD_COUPLING_OVER] = AFTER(CAPTURING) | AFTER(WORKING)};

/* The one change of where a command is. */
static void enter(struct mechd_coupling_command *k, enum mechd_coupling_state state)
{
    const bool may = (reached_from[state] & 1u << k->state) != 0;
    assert(may);
    (void)may;
    k->state = state;
}

static void start_next(struct mechd_coupling_command *k);

static struct mechd_part *part_at(const struct mechd_coupling_command *k, int n)
{
    return &k->coupling->parts[k->coupling->order[n]];
}

/* --- the end ---------------------------------------------------------------------------------- */

/* All participants are captured, and the face. */
static bool holds_all(const struct mechd_coupling_command *k)
{
    return k->captured == k->coupling->count + 1;
}

/* Give free what has been captured. */
static void release_all(struct mechd_coupling_command *k)
{
    if (holds_all(k)) {
        k->captured--;
        mechd_instance_release(k->coupling->face, &k->coupling->face_job);
    }
    while (k->captured > 0) {
        struct mechd_part *const p = part_at(k, --k->captured);
        p->captured = false;
        if (k->coupling->keep.group == NULL) {
            mechd_durable_sync(p->instance, NULL);
        }
        mechd_instance_release(p->instance, &p->job);
    }
}

/* All instances and the scheme go back to what they were, and as far as others have seen changes,
 * they see this one. */
static void go_back(struct mechd_coupling_command *k)
{
    struct mechd_coupling *const g = k->coupling;
    bool reproducible = true;
    int32_t part = -1;
    if (mechd_saved_return(k->before, g, &part, &reproducible) != 0 && k->code == MECHP_OK) {
        mechd_fail(k->call, MECHP_INTERNAL, "participant %s cannot return to its previous state",
                   g->parts[part < 0 ? 0 : part].name);
        mechd_trial_drop(g);
    }
    mechd_saved_descend(k->before, g);
    for (int32_t n = 0; n < g->count && k->kind != MECHD_COUPLING_TRIAL; n++) {
        mechd_instance_changed(g->parts[n].instance, MECHP_REWOUND);
    }
    if (k->kind != MECHD_COUPLING_TRIAL) {
        mechd_face_changed(g, MECHP_REWOUND);
    }
}

/* The state that the command leaves, and its answer. As the owner of all. */
static void settle(struct mechd_coupling_command *k)
{
    struct mechd_coupling *const g = k->coupling;
    const bool trial = k->kind == MECHD_COUPLING_TRIAL;
    (void)mechd_coupling_close(k);
    for (int32_t n = 0; n < g->count && g->varies && k->begun; n++) {
        mechd_part_hold(&g->parts[n], !trial);
    }
    if (trial && k->code == MECHP_OK) {
        mechd_trial_keep(k);
    }
    if (k->code == MECHP_STORAGE_FAILED && k->before == NULL) {
        // the answer is that what could not be stored is undone
        (void)mechd_keep_repair(g);
        const uint64_t all = mech_couple_windows(g->couple);
        const uint64_t left = all > k->before_it ? all - k->before_it : 0;
        k->done = left < k->done ? left : k->done;
    }
    const bool starts = k->kind == MECHD_COUPLING_START || k->kind == MECHD_COUPLING_RESET;
    if ((starts && k->code == MECHP_OK) || (g->varies && k->begun && !trial)) {
        mechd_face_changed(g, k->kind == MECHD_COUPLING_RESET ? MECHP_REWOUND : 0);
    }
    if (k->code != MECHP_OK && k->begun && g->outsides > 0) {
        mechd_outsides_name_ahead(k);
    }
    if (k->kind == MECHD_COUPLING_START && k->code == MECHP_OK) {
        (void)mechd_keep_join(k);
    }
    if (k->run != NULL) {
        mechd_turn_settle(k);
    } else {
        mechd_coupling_answer(k);
    }
    const bool refused = k->kind == MECHD_COUPLING_START && k->call->code != MECHP_OK;
    if (refused) {
        mechd_keep_close(g);
    }
    if (k->before != NULL && (trial || refused || k->code != MECHP_OK)) {
        go_back(k);
    }
    if (trial && k->code == MECHP_OK) {
        mechd_trial_offer(g);
    }
    mechd_saved_free(k->before, g, 0);
    k->before = NULL;
}

/* The answer and the state are known: what of it goes to the store. As the owner of all, if they
 * are held. */
static void keep(struct mechd_coupling_command *k, bool held)
{
    if (!held) {
        mechd_keep_refused(k);
        return;
    }
    if (mechd_coupling_asked(k)) {
        mechd_call_complete(k->call);
    }
    mechd_keep_command(k);
}

/* A command is over that no client waits for; or its answer goes out, as soon as what it has
 * changed is on the disk where that is asked for. */
static void finish(struct mechd_coupling_command *k, bool held, bool kept)
{
    if (k->run != NULL) {
        mechd_turn_over(k, held);
    } else if (k->kind == MECHD_COUPLING_KEEP) {
        mechd_keep_over(k);
    } else if (kept) {
        mechd_call_finish(k->call);
    } else {
        mechd_call_over(k->call);
    }
}

/* The command is over, with all instances held: answer, and let the next one begin. */
static void end(struct mechd_coupling_command *k)
{
    struct mechd_coupling *const g = k->coupling;
    const bool held = holds_all(k);
    enter(k, MECHD_COUPLING_OVER);
    if (held) {
        settle(k);
        mechd_coupling_note_time(g);
    } else if (k->run == NULL) {
        mechd_coupling_answer(k);
    }
    pthread_mutex_lock(&g->m);
    g->started = g->started || k->code == MECHP_OK;
    pthread_mutex_unlock(&g->m);
    const bool kept = g->keep.group != NULL;
    if (kept) {
        keep(k, held);
    }
    release_all(k);
    pthread_mutex_lock(&g->m);
    g->head = k->next;
    g->tail = g->head != NULL ? g->tail : NULL;
    g->queued--;
    struct mechd_coupling_command *const next = g->head;
    pthread_mutex_unlock(&g->m);
    if (next != NULL) {
        start_next(next);
    }
    finish(k, held, kept && held);
    mechd_coupling_unref(g);
}

/* --- work ------------------------------------------------------------------------------------- */

enum work { WORK_MORE, WORK_OVER, WORK_AWAY /* another thread has the command */ };

/* One task, or the batch after it. */
static enum work work_on(struct mechd_coupling_command *k)
{
    struct mechd_coupling *const g = k->coupling;
    if (k->at < k->batch.count) {
        return mechd_share_perform(k) ? WORK_MORE : WORK_AWAY;
    }
    k->at = 0;
    if (mech_couple_next(g->couple, &k->batch) != 0) {
        k->batch.count = 0;
        mechd_coupling_refuse(k, MECHP_INTERNAL, "the coupling cannot continue");
        k->window = false;
    } else if (k->batch.count == 0) {
        mechd_coupling_window_over(k);
    } else if (mechd_coupling_window_commits(k)) {
        mechd_share_begin(k);
        mechd_outsides_ask(k);
    }
    return WORK_MORE;
}

/* A step of a client whose windows are done: nothing ends it any more. */
static bool has_all(const struct mechd_coupling_command *k)
{
    return k->kind == MECHD_COUPLING_STEP && k->run == NULL && k->coupling->opened &&
           mechd_coupling_windows_done(k);
}

/* About so many ns of it. */
static enum work work(struct mechd_coupling_command *k, uint64_t most)
{
    const uint64_t start = mechd_now();
    mechd_share_end_early(k);
    do {
        if (k->confirms != MECHD_CONFIRMS_NOTHING) {
            mechd_outsides_confirm(k);
            continue;
        }
        if (!k->window && k->readers_wait) {
            return WORK_MORE;
        }
        if (!k->window) {
            mechd_keep_window(k);
            const enum mechp_code ends = has_all(k) ? MECHP_OK : mechd_coupling_ends(k);
            if (ends != MECHP_OK) {
                mechd_coupling_refuse_end(k, ends);
            }
            if (!mechd_coupling_window_begin(k)) {
                return WORK_OVER;
            }
        }
        if (work_on(k) == WORK_AWAY) {
            return WORK_AWAY;
        }
    } while (!k->sleeps && mechd_now() - start < most);
    return WORK_MORE;
}

void mechd_coupling_slice_over(struct mechd_coupling_command *k)
{
    struct mechd_coupling *const g = k->coupling;
    // where readers cannot be served within a window, the next slice ends with it
    k->readers_wait = k->window && g->in_pieces;
    for (int32_t n = 0; n < g->count; n++) {
        struct mechd_instance *const i = g->parts[n].instance;
        // the state within a trial is not for readers
        mechd_instance_serve(i, k->kind == MECHD_COUPLING_TRIAL || (g->in_pieces && k->window) ||
                                    !mechd_engine_readable(&i->engine));
    }
    // what is published is at the end of a window
    mechd_instance_serve(g->face, false);
    if (k->sleeps) {
        k->sleeps = false;
        if (mechd_nap(g)) {
            return; // another thread may have it by now
        }
        (void)mechd_stop_raise(&k->stop, MECHD_STOP_SHUTDOWN);
    }
    mechd_pool_push(&g->service->host.pool, &k->task);
}

/* A slice on the present thread, and on to the pool if there is more. */
static void slice_on(struct mechd_coupling_command *k, uint64_t most)
{
    k->direct = most < slice;
    switch (work(k, most)) {
    case WORK_MORE:
        mechd_coupling_slice_over(k);
        break;
    case WORK_OVER:
        end(k);
        break;
    case WORK_AWAY:
        break;
    }
}

static void run_task(struct mechd_task *task)
{
    slice_on((struct mechd_coupling_command *)((char *)task -
                                               offsetof(struct mechd_coupling_command, task)),
             slice);
}

/* All are held: may it begin? */
static bool check(struct mechd_coupling_command *k)
{
    struct mechd_coupling *const g = k->coupling;
    const double t = mechd_engine_time(&g->parts[0].instance->engine);
    const double scale = mechd_coupling_scale(g, t, g->step_size);
    char detail[sizeof k->detail];
    for (int32_t n = 0; n < g->count; n++) {
        const struct mechd_instance *const i = g->parts[n].instance;
        if (!mechd_instance_lives(i)) {
            mech_text_format(detail, sizeof detail, "participant %s: instance %s has been deleted",
                             g->parts[n].name, i->id);
            mechd_coupling_refuse(k, MECHP_NOT_FOUND, detail);
        }
    }
    const enum mechp_code ends = mechd_coupling_ends(k);
    if (ends != MECHP_OK) {
        mechd_coupling_refuse_end(k, ends);
    }
    if (mechd_turn_disturbed(k)) {
        mechd_coupling_refuse(k, MECHP_RUN_IN_PROGRESS,
                              "the coupling is stepped by a run; stop it first");
    }
    for (int32_t n = 0; n < g->count && k->code == MECHP_OK; n++) {
        struct mechd_instance *const i = g->parts[n].instance;
        const double other = mechd_engine_time(&i->engine);
        if (!mechd_leases_lasts(&i->leases, g->parts[n].lease)) {
            mech_text_format(detail, sizeof detail,
                             "participant %s: the coupling's lease of instance %s has been revoked",
                             g->parts[n].name, i->id);
            mechd_coupling_refuse(k, MECHP_FOREIGN_LEASE, detail);
        } else if (k->kind != MECHD_COUPLING_RESET && !mech_time_same(other, t, scale)) {
            mech_text_format(detail, sizeof detail, "%s is at %.17g s, %s at %.17g s",
                             g->parts[0].name, t, g->parts[n].name, other);
            mechd_coupling_refuse(k, MECHP_TIME_MISMATCH, detail);
        } else if (g->keep.group != NULL ? mechd_durable_lost(i) : mechd_durable_repair(i) != 0) {
            mechd_coupling_refuse(k, MECHP_STORAGE_FAILED,
                                  "a change before this one could not be stored");
        } else if (k->kind != MECHD_COUPLING_ONCE && k->run == NULL && i->account != NULL &&
                   !mechd_account_may_work(i->account, &k->call->excess)) {
            mechd_coupling_refuse(k, MECHP_QUOTA_EXCEEDED,
                                  mechd_excess_tell(&k->call->excess, detail, sizeof detail));
        }
    }
    return k->code == MECHP_OK;
}

static void reset_part(struct mechd_coupling_command *k, struct mechd_part *p)
{
    const int outcome = mechd_engine_reset(&p->instance->engine);
    if (outcome == MECH_MISMATCH) {
        mechd_coupling_refuse(
            k, mechp_code_of_outcome(MECH_INVALID),
            "the initial positions of a participant violate a joint that is active now");
    } else if (outcome != 0) {
        mechd_coupling_refuse(k, mechp_code_of_outcome(outcome), "a participant cannot be reset");
    } else {
        p->instance->base = 0;
        mechd_instance_changed(p->instance, MECHP_REWOUND);
    }
}

/* As the owner of all. */
static void begin(struct mechd_coupling_command *k, uint64_t most)
{
    struct mechd_coupling *const g = k->coupling;
    enter(k, MECHD_COUPLING_WORKING);
    if (mechd_keep_mend(k) != 0) {
        mechd_coupling_refuse(k, MECHP_STORAGE_FAILED,
                              "a change before this one could not be stored");
    }
    mechd_outsides_align(g);
    mechd_coupling_note_time(g);
    k->before_it = g->windows;
    if (k->kind == MECHD_COUPLING_KEEP || k->kind == MECHD_COUPLING_END) {
        end(k);
        return;
    }
    mechd_keep_begin(k);
    const bool may = check(k);
    if (may && k->kind == MECHD_COUPLING_START && !mechd_coupling_connect(g, k->call)) {
        mechd_coupling_refuse(k, k->call->code, "");
    }
    mechd_coupling_expect(k);
    if (k->code == MECHP_OK && g->outsides > 0 &&
        (k->kind == MECHD_COUPLING_TRIAL || (mechd_coupling_steps(k) && k->interface))) {
        mechd_coupling_refuse(k, MECHP_INVALID_REQUEST,
                              "with external programs there are no trials and no interface: they "
                              "do not undo a commit, and do not report the flows of their inputs");
    }
    if (k->code == MECHP_OK && g->outsides > 0 && k->kind == MECHD_COUPLING_RESET) {
        mechd_coupling_refuse(
            k, mechp_code_of_outcome(MECH_UNSUPPORTED),
            "a participant cannot be reset: external programs continue from their present state");
    }
    if (k->code == MECHP_OK && k->kind != MECHD_COUPLING_ONCE) {
        mechd_trial_drop(g);
        (void)((k->kind == MECHD_COUPLING_STEP && g->opened) || mechd_coupling_keep(k));
    }
    const int measured = k->code == MECHP_OK && mechd_coupling_steps(k) && g->opened
                             ? mech_couple_measure(g->couple, k->interface)
                             : 0;
    if (measured != 0) {
        mechd_coupling_refuse(k, MECHP_INVALID_REQUEST,
                              measured == MECH_UNSUPPORTED
                                  ? "the work of waveforms cannot be computed: with waveform, no "
                                    "interface is reported"
                                  : "the coupling has to be reset");
    }
    for (int32_t n = 0; n < g->count && k->kind == MECHD_COUPLING_RESET; n++) {
        if (k->code == MECHP_OK) {
            reset_part(k, &g->parts[n]);
        }
    }
    if (k->kind == MECHD_COUPLING_ONCE && mechd_coupling_close(k) && k->code == MECHP_OK) {
        k->once(k);
    }
    // programs say hello when the coupling is there: its first step asks them for their outputs
    const bool waits = k->kind == MECHD_COUPLING_START && g->outsides > 0;
    if (k->code != MECHP_OK || k->kind == MECHD_COUPLING_ONCE || waits) {
        end(k);
        return;
    }
    slice_on(k, most);
}

/* --- capture ---------------------------------------------------------------------------------- */

static void capture_rest(struct mechd_coupling_command *k, uint64_t most);

/* An instance is ours, on a thread of the pool. */
static enum mechd_progress captured(struct mechd_job *job)
{
    struct mechd_part *const p =
        (struct mechd_part *)((char *)job - offsetof(struct mechd_part, job));
    struct mechd_coupling_command *const k = p->coupling->head;
    p->captured = true;
    k->captured++;
    capture_rest(k, slice);
    return MECHD_HELD;
}

/* So is the face, which comes last. */
static enum mechd_progress captured_face(struct mechd_job *job)
{
    struct mechd_coupling *const g =
        (struct mechd_coupling *)((char *)job - offsetof(struct mechd_coupling, face_job));
    struct mechd_coupling_command *const k = g->head;
    k->captured++;
    begin(k, slice);
    return MECHD_HELD;
}

/* Capture it. True: it is ours, on this thread. */
static bool capture_face(struct mechd_coupling_command *k)
{
    struct mechd_coupling *const g = k->coupling;
    g->face_job = (struct mechd_job){
        .instance = g->face, .run = captured_face, .cost = MECHD_SHORT, .stoppable = true};
    const enum mechd_submitted submitted = mechd_instance_capture(g->face, &g->face_job);
    if (submitted == MECHD_FULL) {
        mechd_coupling_refuse(k, MECHP_QUEUE_FULL, "too many requests wait for this coupling");
        end(k);
        return false;
    }
    if (submitted == MECHD_RAN) {
        k->captured++;
    }
    return submitted == MECHD_RAN;
}

/* From the next instance on; the last thing that a thread does with the command. */
static void capture_rest(struct mechd_coupling_command *k, uint64_t most)
{
    struct mechd_coupling *const g = k->coupling;
    while (k->captured < g->count) {
        struct mechd_part *const p = part_at(k, k->captured);
        p->job = (struct mechd_job){
            .instance = p->instance, .run = captured, .cost = MECHD_SHORT, .stoppable = true};
        const enum mechd_submitted submitted = mechd_instance_capture(p->instance, &p->job);
        if (submitted == MECHD_QUEUED) {
            return;
        }
        if (submitted == MECHD_FULL) {
            char detail[sizeof k->detail];
            mech_text_format(detail, sizeof detail, "too many commands wait for instance %s",
                             p->instance->id);
            mechd_coupling_refuse(k, MECHP_QUEUE_FULL, detail);
            end(k);
            return;
        }
        p->captured = true;
        k->captured++;
    }
    if (capture_face(k)) {
        begin(k, most);
    }
}

static void start_on_pool(struct mechd_task *task)
{
    struct mechd_coupling_command *const k =
        (struct mechd_coupling_command *)((char *)task -
                                          offsetof(struct mechd_coupling_command, task));
    k->task.run = run_task;
    capture_rest(k, slice);
}

/* The command at the head begins in the pool: never nested in the end of the one before. */
static void start_next(struct mechd_coupling_command *k)
{
    enter(k, MECHD_COUPLING_CAPTURING);
    k->task.run = start_on_pool;
    mechd_pool_push(&k->coupling->service->host.pool, &k->task);
}

bool mechd_coupling_submit(struct mechd_coupling_command *k)
{
    struct mechd_coupling *const g = k->coupling;
    pthread_mutex_lock(&g->m);
    const bool fits = g->queued < MECHD_COUPLING_QUEUE || k->kind == MECHD_COUPLING_KEEP ||
                      k->kind == MECHD_COUPLING_END;
    const bool first = fits && g->head == NULL;
    if (fits) {
        enter(k, MECHD_COUPLING_WAITING);
        k->call->job.wait(&k->call->job);
        k->next = NULL;
        if (g->tail != NULL) {
            g->tail->next = k;
        } else {
            g->head = k;
        }
        g->tail = k;
        g->queued++;
        mechd_coupling_ref(g);
    }
    pthread_mutex_unlock(&g->m);
    if (first && k->slow) {
        start_next(k);
    } else if (first) {
        enter(k, MECHD_COUPLING_CAPTURING);
        k->task.run = run_task;
        capture_rest(k, direct);
    }
    return fits;
}
